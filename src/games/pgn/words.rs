//! A look over a game's text for words that can be no move of the notation, yet name a square: moves of another
//! language's notation, or damaged ones.
//!
//! The PGN reader passes over every word that it does not understand, as it should over decoration such as `N` or
//! `+-`. A passed-over move, however, would turn the rest of the game into another one.

use memchr::memchr;
use pgn_reader::SanPlus;

/// A word that is no move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strange {
    /// Where it begins, in bytes from the start of the text.
    pub at: usize,
    /// Its length in bytes.
    pub len: usize,
    /// Moves of the main line that stand before it.
    pub plies: u32,
}

/// The first strange word of the main line, in the text of one game with or without its head.
pub fn first_strange(text: &[u8]) -> Option<Strange> {
    let mut words = Words { text, at: 0, line_start: true };
    let (mut plies, mut depth) = (0_u32, 0_u32);
    while let Some(word) = words.next() {
        match word {
            Word::Open => depth += 1,
            Word::Close => depth = depth.saturating_sub(1),
            Word::Text { .. } if depth > 0 => {}
            Word::Text { at, word } => match judge(word) {
                Verdict::Move => plies += 1,
                Verdict::Decoration => {}
                Verdict::Strange => return Some(Strange { at, len: word.len(), plies }),
            },
        }
    }
    None
}

/// Whether the first word is a move, as in a game without a head; prose begins otherwise.
pub fn begins_with_move(text: &[u8]) -> bool {
    let mut words = Words { text, at: 0, line_start: true };
    matches!(words.next(), Some(Word::Text { word, .. }) if judge(word) == Verdict::Move)
}

/// Where the move of this number, counted from 0 along the main line, stands; `None` where there are fewer.
pub fn find_move(text: &[u8], number: u32) -> Option<(usize, &[u8])> {
    let mut words = Words { text, at: 0, line_start: true };
    let (mut plies, mut depth) = (0_u32, 0_u32);
    while let Some(word) = words.next() {
        match word {
            Word::Open => depth += 1,
            Word::Close => depth = depth.saturating_sub(1),
            Word::Text { at, word } if depth == 0 && judge(word) == Verdict::Move => {
                if plies == number {
                    return Some((at, word));
                }
                plies += 1;
            }
            Word::Text { .. } => {}
        }
    }
    None
}

enum Word<'a> {
    Open,
    Close,
    Text { at: usize, word: &'a [u8] },
}

/// The words of a text, without its head, comments, numbers and glyphs.
struct Words<'a> {
    text: &'a [u8],
    at: usize,
    line_start: bool,
}

impl<'a> Words<'a> {
    /// Passes over everything up to this byte, and over it; over the rest where it does not come.
    fn pass(&mut self, byte: u8) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at += memchr(byte, rest).map_or(rest.len(), |at| at + 1);
    }

    fn next(&mut self) -> Option<Word<'a>> {
        loop {
            let &byte = self.text.get(self.at)?;
            let line_start = std::mem::replace(&mut self.line_start, byte == b'\n');
            match CLASSES[usize::from(byte)] {
                Class::Space => self.at += 1,
                Class::Number if castles_with_zeros(self.text.get(self.at..).unwrap_or_default()) => {
                    return Some(self.word());
                }
                Class::Number => self.number(),
                Class::Glyph => {
                    self.at += 1;
                    while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
                        self.at += 1;
                    }
                }
                Class::Open => {
                    self.at += 1;
                    return Some(Word::Open);
                }
                Class::Close => {
                    self.at += 1;
                    return Some(Word::Close);
                }
                Class::Comment => self.pass(b'}'),
                Class::Line => self.line(),
                // The head, and lines for programs.
                Class::Word if line_start && matches!(byte, b'[' | b'%') => self.line(),
                Class::Word => return Some(self.word()),
            }
        }
    }

    fn line(&mut self) {
        self.pass(b'\n');
        self.line_start = true;
    }

    fn word(&mut self) -> Word<'a> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(|&byte| !ENDS[usize::from(byte)]) {
            self.at += 1;
        }
        // A byte that ends words may begin none: go on behind it in any case.
        self.at = self.at.max(start + 1);
        Word::Text { at: start, word: self.text.get(start..self.at).unwrap_or_default() }
    }

    /// A move's number, or a result.
    fn number(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Number,
    Glyph,
    Open,
    Close,
    Comment,
    Line,
    Word,
}

static CLASSES: [Class; 256] = {
    let mut classes = [Class::Word; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\r' | b'\n' | b'.' | b'*' | b'}' => Class::Space,
            b'0'..=b'9' => Class::Number,
            b'$' | b'!' | b'?' => Class::Glyph,
            b'(' => Class::Open,
            b')' => Class::Close,
            b'{' => Class::Comment,
            b';' => Class::Line,
            _ => Class::Word,
        };
        byte += 1;
    }
    classes
};

/// The bytes that end a word, as for the PGN reader.
static ENDS: [bool; 256] = {
    let mut ends = [false; 256];
    let bytes = b" \t\n\r{}()!?$;.*";
    let mut at = 0;
    while at < bytes.len() {
        ends[bytes[at] as usize] = true;
        at += 1;
    }
    ends
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Move,
    Decoration,
    Strange,
}

fn judge(word: &[u8]) -> Verdict {
    if is_plain_move(word) || castles_with_zeros(word) || SanPlus::from_ascii(word).is_ok() {
        Verdict::Move
    } else if names_a_square(word) {
        Verdict::Strange
    } else {
        Verdict::Decoration
    }
}

/// Whether a word is a move of the most frequent forms: `Nf3`, `Nbd2`, `R1xe1+`, `e4`, `exd5`.
fn is_plain_move(word: &[u8]) -> bool {
    let word = match word {
        [word @ .., b'+' | b'#'] => word,
        word => word,
    };
    let ([head @ .., b'a'..=b'h', b'1'..=b'8'], true) = (word, word.len() <= 6) else { return false };
    match head {
        [] => true,
        [b'a'..=b'h', b'x'] => true,
        [b'K' | b'Q' | b'R' | b'B' | b'N', middle @ ..] => {
            matches!(
                middle,
                [] | [b'x'] | [b'a'..=b'h' | b'1'..=b'8'] | [b'a'..=b'h' | b'1'..=b'8', b'x']
            )
        }
        _ => false,
    }
}

/// Whether a text begins with castling written with zeros, which the PGN reader takes for a move.
fn castles_with_zeros(text: &[u8]) -> bool {
    [&b"0-0"[..], "0–0".as_bytes(), "0—0".as_bytes()].iter().any(|castling| text.starts_with(castling))
}

fn names_a_square(word: &[u8]) -> bool {
    word.windows(2).any(|pair| matches!(pair, [b'a'..=b'h', b'1'..=b'8']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn strange(text: &str) -> Option<(&str, u32)> {
        let found = first_strange(text.as_bytes())?;
        Some((&text[found.at..found.at + found.len], found.plies))
    }

    #[test]
    fn sound_games_have_no_strange_words() {
        for text in [
            "",
            "[Event \"Sf3 Lb5\"]\n\n1. e4 e5 2. Nf3 $1 Nc6 {Sf3} (2... Sf6 (Lb5)) 3.Bb5+! a6?! 1/2-1/2",
            "1.e4 e5 2.Nf3 Nc6 3.Bb5 a6 4.O-O Nge7 5.Re1# axb5 6.e8=Q+ R1xe1 N +- = D 7.exd6 e.p. *\n%Sf3\n",
            "1. d4 d5 0-1 ;Sf3\n1-0",
            "12... --",
        ] {
            assert_eq!(strange(text), None, "{text}");
        }
    }

    #[test]
    fn moves_of_other_languages_and_damaged_ones_are_strange() {
        for (text, word, plies) in [
            ("1. e4 e5 2. Sf3 Sc6", "Sf3", 2),
            ("1. d4 Cf6 2. d5", "Cf6", 1),
            ("1. e4 e5 2. Nf3, Nc6", "Nf3,", 2),
            ("1. e4 e5 {x} (1... c5) 2. Nxxf3", "Nxxf3", 2),
            ("1. e4e5x", "e4e5x", 0),
            ("4. 0-0 Nf6 5. Sf3", "Sf3", 2),
            ("4. 0-0-0+ Nf6 5. Sf3", "Sf3", 2),
        ] {
            assert_eq!(strange(text), Some((word, plies)), "{text}");
        }
    }

    #[test]
    fn a_move_is_found_by_its_number() {
        let text = b"[White \"e4\"]\n\n1. e4 (1. d4 d5) e5 2. Nf3 N";
        assert_eq!(find_move(text, 1), Some((31, &b"e5"[..])));
        assert_eq!(find_move(text, 3), None);
        assert_eq!(find_move(b"4. 0-0 d6 0-1", 1), Some((7, &b"d6"[..])));
    }

    proptest! {
        #[test]
        fn any_text_is_looked_over_to_its_end(text in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Some(found) = first_strange(&text) {
                prop_assert!(found.at + found.len <= text.len());
            }
        }

        #[test]
        fn the_short_way_accepts_only_what_the_long_way_does(word in "[KQRBNa-h1-8x+#]{1,7}") {
            if is_plain_move(word.as_bytes()) {
                prop_assert!(SanPlus::from_ascii(word.as_bytes()).is_ok(), "{}", word);
            }
        }
    }
}
