//! No text takes more than its share of work: what is looked at grows as the text does.

use super::*;
use crate::pgn::look::looked;

/// What is read: the moves, also those of variations with remarks, or two plies of each game.
#[derive(Clone, Copy, Debug)]
enum Reader {
    All,
    Variations,
    Keyed,
}

struct Passing(Reader);

impl Visitor for Passing {
    fn begin(&mut self, _: &GameHeader) -> bool {
        true
    }

    fn ply(&mut self, _: &Position, _: Move) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn end(&mut self, _: GameEnd) {}

    fn unreadable(&mut self, _: GameError) {}

    fn wants_variations(&self) -> bool {
        matches!(self.0, Reader::Variations)
    }

    fn wants_remarks(&self) -> bool {
        matches!(self.0, Reader::Variations)
    }

    fn keyed_plies(&self) -> Option<usize> {
        matches!(self.0, Reader::Keyed).then_some(2)
    }
}

/// The bytes that reading a text looks at, and one for each search in it.
fn work(text: &[u8], reader: Reader) -> u64 {
    let before = looked();
    let mut pgn = Pgn::new(Arc::from(Path::new("a.pgn")), text);
    while let Some(batch) = pgn.next_batch() {
        batch.play(&mut Passing(reader));
    }
    looked() - before
}

/// Texts of each construct, hostile to whoever looks for its end: what precedes it, what is repeated, and what follows.
const HOSTILE: &[(&str, &str, &str)] = &[
    // Positions in a line of text between tags.
    ("[Event \"x\"]\nx [current ", "8/8/8/8/8/8/8/8 ", "\n[Site \"y\"]\n\n1. e4 *\n"),
    ("[Event \"x\"]\nx ", "8/8/8/8/8/8/8/8 [current ", "\n[Site \"y\"]\n\n1. e4 *\n"),
    ("[Event \"x\"]\n", "[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n", ""),
    ("[Event \"x\"]\nx ", "/", ""),
    ("", "e4 8/8/ *\n\n", ""),
    // Comments without end.
    ("", "[White \"a\"]\n\n1. e4 {\n", "}\n"),
    ("", "[White \"a\"]\n\n1. e4 e5 2. d4 {\n", ""),
    ("", "[Event \"a\"]\n\n1. e4 {\n", "}\n"),
    ("", "[White \"a\"]\n\n1. e4\n\n1. {\n", ""),
    ("", "[White \"a\"]\n\n1. e4 *\n\n1. {\n", "}"),
    ("[Event \"x\"]\n\n1. e4 {see\n", "[Event \"q\"]\n{ x\n", ""),
    ("[White \"x\"]\n\n1. e4 {", "\n[", "}"),
    ("[Event \"x\"]\n\n1. e4 ", "{", ""),
    ("[Event \"x\"]\n\n1. e4 ", "{x} ", ""),
    ("", "[ECO \"a\"]\n{x}\n", ""),
    ("", "[ECO \"a\"]\n{\n", ""),
    // Variations.
    ("1. e4 ", "(", ""),
    ("1. e4 ", "( 5. e4 ", ""),
    ("1. e4 ", "(5. d4 {x}) ", ""),
    ("1. e4 e5 ", "(2. d4 ", ""),
    ("", "1. e4 (1. d4\n\n", ""),
    ("[White \"x\"]\n\n", "1. e4 (\n\n1. d4 ", ""),
    ("", "[White \"x\"]\n\n1. e4 (1. Ke5\n\n", ""),
    // Tags.
    ("", "[White \"a\n", ""),
    ("", "[White \"a", ""),
    ("[White \"a\"]\n\n1. e4 e5 *\n\n[White \"b\"]\n", "[Event x]\n", ""),
    ("[White \"b\"]\n", "[Event x]\nfoo\n", ""),
    ("[Event \"x\"]\n", "[", ""),
    ("[Event \"x\"]\n", "[]", ""),
    ("[Event \"x\"]\n\n1. e4 ", "[]", ""),
    ("", "[Event \"x\"]\n", ""),
    ("[Event \"", "a", "\"]\n\n1. e4 *\n"),
    ("[Event \"", "\\\"", "\"]\n\n1. e4 *\n"),
    ("[Event \"x\"]\n\n1. e4\n[White ", "]   ", ""),
    ("[Event \"x\"]\n\n", " 1. e4 e5 1-0 [White \"a\"] [Result \"1-0\"]\n", ""),
    ("", "[White \"a\"]\nfoo e4\n", ""),
    ("", "[White \"a\"]\n\n", "\n\n\n\n\n\n\n\n"),
    ("[Event \"x\"]\n\n1. e4 ", "[2. d4 ", ""),
    ("[Event \"x\"]\n\n1. e4 e5 *\n\n1. d4 ", "[a \"", ""),
    // Numbers, glyphs, results, words.
    ("1. e4 ", "1", ""),
    ("1. e4 ", "12. ", ""),
    ("1. d4 d5 ", "9. e4 ", ""),
    ("1. e4 2", ". ", ""),
    ("1. e4 ", "0-", ""),
    ("1. e4 ", "O - ", ""),
    ("[Result \"0-0\"]\n\n1. e4 e5 ", "0-0 ", ""),
    ("1. e4 $", "1", ""),
    ("1. e4 ", "$1 ", ""),
    ("1. e4 ", "!", ""),
    ("1. e4 ", "1-0 ", ""),
    ("", "1-0 1. e4 e5 ", ""),
    ("1. e4 ", "*", ""),
    ("", "e4 *\n\n", ""),
    ("1. e4 ", "x", ""),
    ("1. e4 ", "e4\u{200b}", ""),
    ("1. e4 ", "\u{bd}", ""),
    ("", "Nf3 Nf6 Ng1 Ng8 ", ""),
    ("", "lorem ipsum\n\n", ""),
    // Lines, blanks, zeros.
    ("1. e4\n", "%x\n", ""),
    ("1. e4\n", ";{\n", ""),
    ("1. e4\n", "\n", "1. d4\n"),
    ("1. e4", " ", "e5"),
    ("1. e4 ", "(  ", ""),
    ("1. e4\n", "   \n", "e5"),
    ("1. e4\r\r", "\r", ""),
    ("1. e4", "\r\r\n", "e5"),
    ("", "[Event \"x\"]\r\r1. e4 e5 *\r\r", ""),
    ("", "\u{feff}[Event \"x\"]\n\n1. e4 e5 *\n\n", ""),
    ("1. e4 e5\n", "\0", ""),
    ("[Event \"x\"]\n\n1. e4 e5\n", "a\0", ""),
    ("", "[White \"a\"]\n\0\n", ""),
    ("", "[White \"a\"]\n\n1. e4 e5 *\n\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", ""),
    ("[White \"a\"]\n\n", "1. e4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", ""),
];

/// The most bytes that are looked at for each of a text.
const MOST: u64 = 40;

#[test]
fn what_is_looked_at_grows_as_the_text_does() {
    let readers = [Reader::All, Reader::Variations, Reader::Keyed];
    let len = tabiya_testing::times(1 << 12, 1 << 18);
    for (before, unit, after) in HOSTILE {
        let text = |len: usize| [*before, &unit.repeat(len / unit.len()), *after].concat();
        let (short, long) = (text(len), text(3 * len));
        for reader in readers {
            let (some, more) = (work(short.as_bytes(), reader), work(long.as_bytes(), reader));
            assert!(
                more <= 4 * some && more < MOST * long.len() as u64,
                "{before:?} {unit:?} {reader:?}: {some} for {len} bytes, {more} for three times as many"
            );
        }
    }
}
