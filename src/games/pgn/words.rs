//! The words of a game's moves: moves, results, and what is neither.
//!
//! A word that is no move, yet names a square, is a move of another language's notation, or a damaged one. It must not
//! be passed over as decoration such as `N` or `+-` is: it would turn the rest of the game into another one.

use memchr::memchr;
use pgn_reader::SanPlus;
use shakmaty::san::San;
use shakmaty::{CastlingSide, File, Rank, Role, Square};

use crate::games::GameResult;

/// A word of the main line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// A move, as the notation has it.
    Move(San),
    /// The end of the game, with its result where it has one.
    Result(Option<GameResult>),
    /// A word that names a square, but is no move.
    Strange,
    /// Anything else.
    Decoration,
}

/// The words of the main line, from the start of a game's moves to an empty line or the next head, as the PGN reader
/// takes them: without comments, variations, numbers and glyphs.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    text: &'a [u8],
    at: usize,
    start: usize,
    depth: u32,
    comment: Option<usize>,
}

impl<'a> Words<'a> {
    /// The words of a text, in which moves begin at this byte.
    pub fn new(text: &'a [u8], at: usize) -> Self {
        Self { text, at, start: at, depth: 0, comment: None }
    }

    /// Where the last word begins and ends, in bytes of the text.
    pub fn span(&self) -> (usize, usize) {
        (self.start, self.at)
    }

    /// Variations that are open.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Where a comment begins that has no end.
    pub fn open_comment(&self) -> Option<usize> {
        self.comment
    }

    /// Whether the next bytes are these: they are passed over then.
    fn eat(&mut self, bytes: &[u8]) -> bool {
        let eaten = self.text.get(self.at..).is_some_and(|rest| rest.starts_with(bytes));
        self.at += if eaten { bytes.len() } else { 0 };
        eaten
    }

    /// A hyphen, or a dash as word processors make it.
    fn eat_dash(&mut self) -> bool {
        [&b"-"[..], "–".as_bytes(), "—".as_bytes()].into_iter().any(|dash| self.eat(dash))
    }

    fn eat_digits(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
    }

    /// Passes over everything up to this byte; over the rest where it does not come, and then that is `false`.
    fn pass_to(&mut self, byte: u8) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let found = memchr(byte, rest);
        self.at += found.unwrap_or(rest.len());
        found.is_some()
    }

    /// Passes over the end of a line; `false` where the moves end with it.
    fn line_end(&mut self) -> bool {
        match self.text.get(self.at + 1..).unwrap_or_default() {
            [b'\n' | b'[', ..] | [b'\r', b'\n', ..] => return false,
            // A line for programs.
            [b'%', ..] => {
                self.at += 1;
                self.pass_to(b'\n');
            }
            _ => self.at += 1,
        }
        true
    }

    fn comment(&mut self) {
        let start = self.at;
        if self.pass_to(b'}') {
            self.at += 1;
        } else {
            self.comment = Some(start);
        }
    }

    /// A move's number, which is no word, a result, or castling written with zeros.
    fn number(&mut self, first: u8) -> Option<Word> {
        self.at += 1;
        let result = match first {
            b'0' if self.eat_dash() => {
                if self.eat(b"1") {
                    return Some(Word::Result(Some(GameResult::Black)));
                }
                let short = self.eat(b"0");
                let long = short && self.eat_dash() && self.eat(b"0");
                let _ = self.eat(b"+") || self.eat(b"#");
                let side = if long { CastlingSide::QueenSide } else { CastlingSide::KingSide };
                return short.then_some(Word::Move(San::Castle(side)));
            }
            b'1' if self.eat_dash() => self.eat(b"0").then_some(GameResult::White),
            b'1' if self.eat(b"/2") => (self.eat_dash() && self.eat(b"1/2")).then_some(GameResult::Draw),
            _ => None,
        };
        self.eat_digits();
        result.map(|result| Word::Result(Some(result)))
    }

    fn text(&mut self) -> &'a [u8] {
        while self.text.get(self.at).is_some_and(|&byte| !ENDS[usize::from(byte)]) {
            self.at += 1;
        }
        // A byte that ends words may begin none: go on behind it in any case.
        self.at = self.at.max(self.start + 1);
        self.text.get(self.start..self.at).unwrap_or_default()
    }
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        loop {
            let &byte = self.text.get(self.at)?;
            self.start = self.at;
            match CLASSES[usize::from(byte)] {
                Class::Space => self.at += 1,
                Class::LineEnd if self.line_end() => {}
                Class::LineEnd => return None,
                Class::Number => match self.number(byte) {
                    Some(word) if self.depth == 0 => return Some(word),
                    _ => {}
                },
                Class::Glyph => {
                    self.at += 1;
                    self.eat_digits();
                }
                Class::Open => {
                    self.at += 1;
                    self.depth += 1;
                }
                Class::Close => {
                    self.at += 1;
                    self.depth = self.depth.saturating_sub(1);
                }
                Class::Comment => self.comment(),
                Class::Line => drop(self.pass_to(b'\n')),
                Class::Star => {
                    self.at += 1;
                    if self.depth == 0 {
                        return Some(Word::Result(None));
                    }
                }
                Class::Word => {
                    let word = self.text();
                    if self.depth == 0 {
                        return Some(judge(word));
                    }
                }
            }
        }
    }
}

/// Whether a text has a strange word in its main line.
pub fn has_strange(text: &[u8]) -> bool {
    Words::new(text, 0).any(|word| word == Word::Strange)
}

/// Whether the first word is a move, as in a game without a head; prose begins otherwise.
pub fn begins_with_move(text: &[u8]) -> bool {
    matches!(Words::new(text, 0).next(), Some(Word::Move(_)))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    LineEnd,
    Number,
    Glyph,
    Open,
    Close,
    Comment,
    Line,
    Star,
    Word,
}

static CLASSES: [Class; 256] = {
    let mut classes = [Class::Word; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\r' | b'.' | b'}' => Class::Space,
            b'\n' => Class::LineEnd,
            b'*' => Class::Star,
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

fn judge(word: &[u8]) -> Word {
    if let Some(san) = plain_move(word) {
        Word::Move(san)
    } else if let Ok(move_and_check) = SanPlus::from_ascii(word) {
        Word::Move(move_and_check.san)
    } else if word == HALF_TO_HALF.as_bytes() {
        Word::Result(Some(GameResult::Draw))
    } else if names_a_square(word) {
        Word::Strange
    } else {
        Word::Decoration
    }
}

/// A draw in one more way of writing it.
const HALF_TO_HALF: &str = "½-½";

/// A move of the most frequent forms: `Nf3`, `Nbd2`, `R1xe1+`, `e4`, `exd5`.
fn plain_move(word: &[u8]) -> Option<San> {
    let word = match word {
        [word @ .., b'+' | b'#'] => word,
        word => word,
    };
    let [head @ .., to_file @ b'a'..=b'h', to_rank @ b'1'..=b'8'] = word else { return None };
    let to = Square::from_coords(file(*to_file)?, rank(*to_rank)?);
    let (head, capture) = match head {
        [head @ .., b'x'] => (head, true),
        head => (head, false),
    };
    let (role, from) = match head {
        [] if capture => return None,
        [] => (Role::Pawn, &[][..]),
        [_] if capture && file(head[0]).is_some() => (Role::Pawn, head),
        [b'K', from @ ..] => (Role::King, from),
        [b'Q', from @ ..] => (Role::Queen, from),
        [b'R', from @ ..] => (Role::Rook, from),
        [b'B', from @ ..] => (Role::Bishop, from),
        [b'N', from @ ..] => (Role::Knight, from),
        _ => return None,
    };
    let (file, rank) = match from {
        [] => (None, None),
        [one] => {
            let (file, rank) = (file(*one), rank(*one));
            (file.is_some() || rank.is_some()).then_some((file, rank))?
        }
        _ => return None,
    };
    Some(San::Normal { role, file, rank, capture, to, promotion: None })
}

fn file(byte: u8) -> Option<File> {
    matches!(byte, b'a'..=b'h').then(|| File::new(u32::from(byte - b'a')))
}

fn rank(byte: u8) -> Option<Rank> {
    matches!(byte, b'1'..=b'8').then(|| Rank::new(u32::from(byte - b'1')))
}

fn names_a_square(word: &[u8]) -> bool {
    word.windows(2).any(|pair| matches!(pair, [b'a'..=b'h', b'1'..=b'8']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn strange(text: &str) -> Option<(&str, usize)> {
        let mut words = Words::new(text.as_bytes(), 0);
        let mut moves = 0;
        while let Some(word) = words.next() {
            let (start, end) = words.span();
            match word {
                Word::Strange => return Some((&text[start..end], moves)),
                Word::Move(_) => moves += 1,
                _ => {}
            }
        }
        None
    }

    #[test]
    fn sound_games_have_no_strange_words() {
        for text in [
            "",
            "1. e4 e5 2. Nf3 $1 Nc6 {Sf3} (2... Sf6 (Lb5)) 3.Bb5+! a6?! 1/2-1/2",
            "1.e4 e5 2.Nf3 Nc6 3.Bb5 a6 4.O-O Nge7 5.Re1# axb5 6.e8=Q+ R1xe1 N +- = D 7.exd6 e.p. *\n%Sf3\n",
            "1. d4 d5 0-1 ;Sf3\n1-0",
            "1. d4 d5\n\nSf3",
            "1. d4 d5\r\n\r\nSf3",
            "1. d4 d5\n[White \"Sf3\"]",
            "12... --",
        ] {
            assert_eq!(strange(text), None, "{text}");
        }
    }

    #[test]
    fn moves_of_other_languages_and_damaged_ones_are_strange() {
        for (text, word, moves) in [
            ("1. e4 e5 2. Sf3 Sc6", "Sf3", 2),
            ("1. d4 Cf6 2. d5", "Cf6", 1),
            ("1. e4 e5 2. Nf3, Nc6", "Nf3,", 2),
            ("1. e4 e5 {x} (1... c5) 2. Nxxf3", "Nxxf3", 2),
            ("1. e4e5x", "e4e5x", 0),
            ("5. 0-0 0-0-0+ 6. Sf3", "Sf3", 2),
        ] {
            assert_eq!(strange(text), Some((word, moves)), "{text}");
        }
    }

    #[test]
    fn results_are_told_from_numbers_and_castling() {
        let ends = |text: &str| {
            let words = Words::new(text.as_bytes(), 0).filter(|word| *word != Word::Decoration);
            words.collect::<Vec<_>>()
        };
        let result = |result| vec![Word::Result(result)];
        assert_eq!(ends("1-0"), result(Some(GameResult::White)));
        assert_eq!(ends("0–1"), result(Some(GameResult::Black)));
        assert_eq!(ends("1/2-1/2"), result(Some(GameResult::Draw)));
        assert_eq!(ends("½-½"), result(Some(GameResult::Draw)));
        assert_eq!(ends("*"), result(None));
        assert_eq!(ends("0-0"), [Word::Move(San::Castle(CastlingSide::KingSide))]);
        assert_eq!(ends("0-0-0#"), [Word::Move(San::Castle(CastlingSide::QueenSide))]);
        assert_eq!(ends("10. 11... 1. 0."), []);
        assert_eq!(ends("(1-0 * e4) {1-0}"), []);
    }

    #[test]
    fn what_has_no_end_is_told() {
        let end = |text: &str| {
            let mut words = Words::new(text.as_bytes(), 0);
            words.by_ref().for_each(drop);
            (words.depth(), words.open_comment())
        };
        assert_eq!(end("1. e4 {x} (1. d4 (d5)) e5"), (0, None));
        assert_eq!(end("1. e4 (1. d4 ( d5)\n\n)"), (1, None));
        assert_eq!(end("1. e4 ({x} {"), (1, Some(11)));
    }

    proptest! {
        #[test]
        fn any_text_is_looked_over_to_its_end(text in prop::collection::vec(any::<u8>(), 0..400)) {
            let mut words = Words::new(&text, 0);
            let mut before = 0;
            while words.next().is_some() {
                let (start, end) = words.span();
                prop_assert!(before <= start && start < end && end <= text.len());
                before = end;
            }
        }

        #[test]
        fn the_short_way_reads_what_the_long_way_does(word in "[KQRBNa-h1-8x+#]{1,7}") {
            if let Some(san) = plain_move(word.as_bytes()) {
                let read = SanPlus::from_ascii(word.as_bytes()).map(|read| read.san);
                prop_assert_eq!(read.ok(), Some(san), "{}", word);
            }
        }
    }
}
