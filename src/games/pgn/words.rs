//! Finding words that the PGN reader ignores although they name a square or castle: moves in another notation or
//! language, or damaged ones.
//!
//! The PGN reader ignores every word that it does not understand, as is right for decoration such as `N` or `+-`. But
//! without an ignored move, the rest of the game would be another game. So this second lexer reads the text as well, unless
//! the game is [plain](super::plain).
#![allow(clippy::indexing_slicing, reason = "a table of 256 elements has one for each byte")]

use memchr::memchr;
use pgn_reader::SanPlus;

use crate::chess::{Position, is_move_without_square, read_move};
use crate::games::decode_text;

/// A word that the PGN reader ignores and that may be a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strange {
    /// Its offset, in bytes from the start of the text.
    pub at: usize,
    /// Its length in bytes.
    pub len: usize,
    /// Moves before it, without strange words.
    pub plies: u32,
    /// Parentheses before it.
    pub brackets: u32,
}

/// A walk along a game's text, with or without its head: along its main line, or also through its variations as they come.
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    words: Words<'a>,
    /// Whether variations belong to it.
    deep: bool,
    /// Variations that are open.
    depth: u32,
    /// Parentheses so far.
    brackets: u32,
    /// Moves so far.
    moves: u32,
}

impl<'a> Walk<'a> {
    /// A walk along the main line, from the start of a game's text.
    pub fn new(text: &'a [u8]) -> Self {
        let words = Words { text, at: 0, line_start: true };
        Self { words, deep: false, depth: 0, brackets: 0, moves: 0 }
    }

    /// A walk through all variations as well.
    pub(crate) fn deep(text: &'a [u8]) -> Self {
        Self { deep: true, ..Self::new(text) }
    }

    /// The next word that is not decoration.
    #[inline]
    fn next(&mut self) -> Option<(usize, &'a [u8], Verdict)> {
        loop {
            match self.words.next()? {
                Word::Open => {
                    self.depth += 1;
                    self.brackets += 1;
                }
                Word::Close => {
                    self.depth = self.depth.saturating_sub(1);
                    self.brackets += 1;
                }
                Word::Text { .. } if self.depth > 0 && !self.deep => {}
                Word::Text { at, word } => match judge(word) {
                    Verdict::Decoration => {}
                    verdict => return Some((at, word, verdict)),
                },
            }
        }
    }

    /// The next strange word before the move of this number, counted from 0 without strange words.
    pub(crate) fn next_strange(&mut self, before: u32) -> Option<Strange> {
        while self.moves < before {
            match self.next()? {
                (at, word, Verdict::Strange) => {
                    let (plies, brackets) = (self.moves, self.brackets);
                    return Some(Strange { at, len: word.len(), plies, brackets });
                }
                _ => self.moves += 1,
            }
        }
        None
    }

    /// Moves so far, without strange words.
    pub fn moves(&self) -> u32 {
        self.moves
    }

    /// Whether the walk has reached this byte.
    pub(crate) fn is_past(&self, at: usize) -> bool {
        self.words.at >= at
    }

    /// The offset and length in bytes of the move of this number, counted from 0 without strange words; `None` if there
    /// are fewer moves, or if the walk is beyond it.
    pub(crate) fn find_move(&mut self, number: u32) -> Option<(usize, usize)> {
        while self.moves <= number {
            let (at, word, verdict) = self.next()?;
            if verdict == Verdict::Move {
                self.moves += 1;
                if self.moves > number {
                    return Some((at, word.len()));
                }
            }
        }
        None
    }
}

/// The first strange word of the main line in the text of a game, with or without its head.
pub fn first_strange(text: &[u8]) -> Option<Strange> {
    Walk::new(text).next_strange(u32::MAX)
}

/// The whole of a word of which the PGN reader sees `len` bytes: with a promotion in brackets, or the rest of "e.p.".
pub fn whole(text: &[u8], at: usize, len: usize) -> &[u8] {
    let rest = text.get(at + len..).unwrap_or_default();
    let more = match rest {
        [b'(', b'Q' | b'R' | b'B' | b'N' | b'q' | b'r' | b'b' | b'n', b')', ..] => 3,
        [b'.', b'p', b'.', ..] if text.get(..at + len).is_some_and(|text| text.ends_with(b"e")) => 3,
        _ => 0,
    };
    text.get(at..at + len + more).unwrap_or_default()
}

/// The start of a text, up to an empty line or a head, where moves end at the latest.
pub(crate) fn rest_of_moves(text: &[u8]) -> &[u8] {
    let end = memchr::memchr_iter(b'\n', text)
        .find(|&at| matches!(text.get(at + 1..), Some([b'\n' | b'[', ..] | [b'\r', b'\n', ..])));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// Whether the first word is a move, as in a game without a head; prose begins with another word.
pub(crate) fn begins_with_move(text: &[u8]) -> bool {
    let mut words = Words { text, at: 0, line_start: true };
    let Some(Word::Text { at, word }) = words.next() else { return false };
    match judge(word) {
        Verdict::Move => true,
        Verdict::Strange => read_move(&decode_text(whole(text, at, word.len())), &Position::start()).is_ok(),
        Verdict::Decoration => false,
    }
}

enum Word<'a> {
    Open,
    Close,
    Text { at: usize, word: &'a [u8] },
}

/// The words of a text, without its head, comments, numbers and glyphs.
#[derive(Clone, Debug)]
struct Words<'a> {
    text: &'a [u8],
    at: usize,
    line_start: bool,
}

impl<'a> Words<'a> {
    /// Skips everything up to this byte and the byte itself, or to the end.
    fn skip(&mut self, byte: u8) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at += memchr(byte, rest).map_or(rest.len(), |at| at + 1);
    }

    fn next(&mut self) -> Option<Word<'a>> {
        loop {
            let &byte = self.text.get(self.at)?;
            let line_start = std::mem::replace(&mut self.line_start, byte == b'\n');
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b'.' | b'*' | b'}' => self.at += 1,
                b'0' if castles(self.text.get(self.at..).unwrap_or_default()) => return Some(self.word()),
                // A move's number or a result, or a glyph.
                b'0'..=b'9' | b'$' | b'!' | b'?' => {
                    self.at += 1;
                    while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
                        self.at += 1;
                    }
                }
                b'(' => {
                    self.at += 1;
                    return Some(Word::Open);
                }
                b')' => {
                    self.at += 1;
                    return Some(Word::Close);
                }
                b'{' => self.skip(b'}'),
                b';' => self.line(),
                // The head, and lines for programs.
                b'[' | b'%' if line_start => self.line(),
                _ => return Some(self.word()),
            }
        }
    }

    fn line(&mut self) {
        self.skip(b'\n');
        self.line_start = true;
    }

    fn word(&mut self) -> Word<'a> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(|&byte| !ENDS[usize::from(byte)]) {
            self.at += 1;
        }
        // The first byte may be one that ends words: continue after it in any case.
        self.at = self.at.max(start + 1);
        Word::Text { at: start, word: self.text.get(start..self.at).unwrap_or_default() }
    }
}

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
    } else if names_a_square(word) || str::from_utf8(word).is_ok_and(is_move_without_square) {
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

/// Whether a text begins with castling written with zeros in any way.
fn castles(text: &[u8]) -> bool {
    // No move has the number 0 or 00.
    castles_with_zeros(text) || text.starts_with(b"00")
}

/// Whether a text begins with castling written with zeros and dashes, which the PGN reader reads as a move.
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
    fn moves_in_other_notations_are_strange_and_so_are_those_without_a_square() {
        let text =
            b"1. e2-e4 e5 2. o-o 00 (x e2-e3) 3. exd Nf3+- {a8Q} \xe2\x99\x98f3 N 4. Z0 a8(Q) dxe6e.p. +-";
        let mut walk = Walk::new(text);
        let mut found = Vec::new();
        while let Some(strange) = walk.next_strange(u32::MAX) {
            found.push((String::from_utf8_lossy(whole(text, strange.at, strange.len)), strange.plies));
        }
        let expected =
            [("e2-e4", 0), ("o-o", 1), ("00", 1), ("exd", 1), ("Nf3+-", 1), ("♘f3", 1), ("dxe6e.p.", 3)];
        assert_eq!(found, expected.map(|(word, plies)| (word.into(), plies)));
        assert_eq!(whole(b"a8(Q) x", 0, 2), b"a8(Q)");
        assert_eq!(whole(b"a8(Qx)", 0, 2), b"a8");
    }

    #[test]
    fn moves_are_found_by_their_numbers() {
        let text = b"[White \"e4\"]\n\n1. e4 (1. d4 d5) e5 e2-e4 2. Nf3 N";
        let mut walk = Walk::new(text);
        assert_eq!(walk.find_move(1), Some((31, 2)));
        assert_eq!(walk.find_move(2), Some((43, 3)));
        assert_eq!(walk.find_move(3), None);
        assert_eq!(Walk::new(b"4. 0-0 d6 0-1").find_move(1), Some((7, 2)));
    }

    #[test]
    fn moves_end_at_an_empty_line_or_a_head() {
        for (text, rest) in
            [("a\nb\n\nc", "a\nb"), ("a\r\n\r\nc", "a\r"), ("a\n[b", "a"), ("a\n", "a\n"), ("", "")]
        {
            assert_eq!(rest_of_moves(text.as_bytes()), rest.as_bytes());
        }
    }

    #[test]
    fn a_text_that_begins_with_a_move_is_distinguished_from_prose() {
        for (text, expected) in [
            ("1. e4", true),
            ("e2-e4", true),
            ("1.♘f3", true),
            ("1. e4x", false),
            ("A c4", false),
            ("", false),
        ] {
            assert_eq!(begins_with_move(text.as_bytes()), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Some(found) = first_strange(&text) {
                prop_assert!(found.at + found.len <= text.len());
            }
        }

        #[test]
        fn plain_moves_are_moves_for_the_pgn_reader(word in "[KQRBNa-h1-8x+#]{1,7}") {
            if is_plain_move(word.as_bytes()) {
                prop_assert!(SanPlus::from_ascii(word.as_bytes()).is_ok(), "{}", word);
            }
        }
    }
}
