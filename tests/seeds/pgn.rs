//! Any bytes as PGN: every game that begins ends, every move told is legal in its position and follows from the one
//! before, and what is told depends neither on how the bytes come nor on where the text is cut.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use shakmaty::{Move, Position as _};
use tabiya_chess::Position;
use tabiya_games::pgn::Pgn;
use tabiya_games::pgn::split::{PIECE_LEN, Pieces};
use tabiya_games::{GameEnd, GameError, GameHeader, GameLocation, Visitor};

/// What bytes stand for in a text that is made of words, so that games get somewhere.
const WORDS: &[&str] = &[
    "\n",
    "\n\n",
    "\r\n",
    " ",
    "[Event \"a\"]\n",
    "[White \"b\"]\n",
    "[Result \"1-0\"]\n",
    "[Result \"*\"]\n",
    "[FEN \"7k/p7/8/8/8/8/8/1R3KR1 w GB - 0 1\"]\n",
    "[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n",
    "[Variant \"chess960\"]\n",
    "[Variant \"atomic\"]\n",
    "[",
    "]",
    "\"",
    "\\",
    "{",
    "}",
    "(",
    ")",
    ";",
    "%",
    "$1",
    "!",
    "?",
    ".",
    "1.",
    "1-0",
    "0-1",
    "1/2-1/2",
    "*",
    "--",
    "0-0",
    "0-0-0",
    "O-O",
    "O-O-O",
    "Sf3",
    "e4",
    "e5",
    "d4",
    "d5",
    "Nf3",
    "Nf6",
    "Ng1",
    "Ng8",
    "Nc3",
    "Nc6",
    "Bc4",
    "Bc5",
    "Qh5",
    "Ke2",
    "exd5",
    "e8=Q",
    "R1e1",
    "\u{feff}",
    "\u{e9}",
    "2... ",
    "e.p.",
    "\r",
    "\t",
    "N",
    "=",
    "+-",
    "Z0",
];

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    let words: Vec<u8> = data.iter().filter_map(|byte| WORDS.get(usize::from(*byte) % WORDS.len())).fold(
        Vec::new(),
        |mut text, word| {
            text.extend_from_slice(word.as_bytes());
            // A quarter of the words stand alone.
            if text.len() % 4 != 0 {
                text.push(b' ');
            }
            text
        },
    );
    for text in [data, &words] {
        let told = listen(text, |text| text, usize::MAX).told;
        for most in [1, 7] {
            assert_eq!(listen(text, |text| Drops(text, most), usize::MAX).told, told);
        }
        // Who asks for less is told the same games, and of each the same moves as far as they were wanted.
        let few = listen(text, |text| text, 3);
        assert_eq!(few.begun, told.iter().filter(|line| line.starts_with("begin")).count());
        whole(text);
        variations(text, &told);
    }
    // A piece's length is much text: not every input needs it.
    if data.first().is_some_and(|byte| byte % 32 == 0) && data.len() < 256 {
        repeated(&words);
    }
}

/// Variations begin and end, and each move follows from those before it. Without parentheses, the same games are received.
fn variations(text: &[u8], told: &[String]) {
    let mut tree = Tree::default();
    let mut pgn = Pgn::new(Arc::from(Path::new("f")), text);
    while let Some(batch) = pgn.next_batch() {
        batch.play(&mut tree);
        assert!(tree.lines.is_empty());
    }
    if text.iter().any(|byte| b"()".contains(byte)) {
        return;
    }
    let mut lines: Vec<Vec<&str>> = Vec::new();
    for line in told {
        match line.split(' ').next() {
            Some("begin") => lines.push(Vec::new()),
            Some("end" | "unreadable") => {}
            _ => lines.last_mut().unwrap().push(line),
        }
    }
    assert_eq!(tree.main_lines, lines);
}

/// Checks that each move of a variation follows from those before it.
#[derive(Default)]
struct Tree {
    /// The positions before and after the last move, of the present line and those around it.
    lines: Vec<(Option<Position>, Position)>,
    main_lines: Vec<Vec<String>>,
}

impl Visitor for Tree {
    fn begin(&mut self, game: &GameHeader) -> bool {
        assert!(self.lines.is_empty());
        self.lines.push((None, game.start.clone().unwrap_or_else(Position::start)));
        self.main_lines.push(Vec::new());
        true
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        let is_main = self.lines.len() == 1;
        let (before, after) = self.lines.last_mut().unwrap();
        assert!(at.key() == after.key() && at.chess() == after.chess() && at.chess().is_legal(mv));
        *before = Some(after.clone());
        after.play(mv);
        if is_main {
            self.main_lines.last_mut().unwrap().push(mv.to_string());
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self, _: GameEnd) {
        assert_eq!(self.lines.drain(..).count(), 1);
    }

    fn unreadable(&mut self, _: GameError) {}

    fn wants_variations(&self) -> bool {
        true
    }

    fn begin_variation(&mut self) {
        let before = self.lines.last().unwrap().0.clone().expect("a variation replaces a move");
        self.lines.push((None, before));
    }

    fn end_variation(&mut self) {
        self.lines.pop();
        assert!(!self.lines.is_empty());
    }

    fn wants_remarks(&self) -> bool {
        true
    }

    fn glyph(&mut self, _: u8) {
        assert!(!self.lines.is_empty());
    }

    fn comment(&mut self, _: &[u8]) {
        assert!(!self.lines.is_empty());
    }
}

/// The pieces of a text are the text.
fn whole(text: &[u8]) {
    let mut pieces = Pieces::new(text);
    let (mut at, mut line) = (0, 1);
    while let (Some(piece), Ok(())) = pieces.next_piece() {
        assert_eq!((piece.offset, piece.line), (at as u64, line));
        let there = text.get(at..at + piece.text.len()).unwrap();
        // Line ends of old Macintosh files become today's.
        let is_kept = |(byte, now): (&u8, &u8)| byte == now || (*byte, *now) == (b'\r', b'\n');
        assert!(there.iter().zip(&*piece.text).all(is_kept));
        line += piece.text.iter().filter(|byte| **byte == b'\n').count() as u64;
        at += piece.text.len();
    }
    assert_eq!(at, text.len());
}

/// Many times the same text that begins with a first tag: many times the same games, wherever the pieces end.
fn repeated(text: &[u8]) {
    // A long game behind it, or there would be too many to tell.
    let unit = [b"[Event \"x\"]\n", text, b"\n[Event \"y\"]\n\n{", &[b'.'; 50_000], b"} *\n\n"].concat();
    let times = PIECE_LEN * 3 / 2 / unit.len() + 1;
    let once = listen(&unit, |text| text, usize::MAX).told_anywhere();
    let often = listen(&unit.repeat(times), |text| text, usize::MAX).told_anywhere();
    assert_eq!(often.len(), once.len() * times);
    assert!(often.chunks(once.len()).all(|told| told == once));
}

/// A reader that gives few bytes at a time.
struct Drops<'a>(&'a [u8], usize);

impl Read for Drops<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let some = self.1.min(into.len());
        self.0.read(into.get_mut(..some).unwrap_or_default())
    }
}

/// What was told, in lines; those of errors end with the place and the words, after a tab.
struct Listener {
    told: Vec<String>,
    begun: usize,
    most: usize,
    open: Option<(Position, usize)>,
    len: u64,
}

fn listen<'a, R: Read>(text: &'a [u8], from: impl Fn(&'a [u8]) -> R, most: usize) -> Listener {
    let len = text.len() as u64;
    let mut listener = Listener { told: Vec::new(), begun: 0, most, open: None, len };
    let mut pgn = Pgn::new(Arc::from(Path::new("f")), from(text));
    while let Some(batch) = pgn.next_batch() {
        batch.play(&mut listener);
        assert!(listener.open.is_none());
    }
    listener
}

impl Listener {
    /// What was told, without places.
    fn told_anywhere(self) -> Vec<String> {
        self.told.iter().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
    }

    fn stands(&self, place: &GameLocation) {
        assert!(place.offset <= self.len && place.offset + place.length <= self.len);
    }

    fn error(&self, error: &GameError) -> String {
        self.stands(&error.place);
        format!("{}\t{error}", error.reason)
    }
}

impl Visitor for Listener {
    fn begin(&mut self, game: &GameHeader) -> bool {
        assert!(self.open.is_none());
        self.stands(&game.place);
        self.begun += 1;
        let start = game.start.clone().unwrap_or_else(Position::start);
        self.told.push(format!(
            "begin {} - {} {} {}\t{}",
            game.white,
            game.black,
            game.date,
            start.fen(),
            game.place
        ));
        self.open = Some((start, 0));
        true
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        let (expected, plies) = self.open.as_mut().unwrap();
        assert!(*plies < self.most);
        assert!(at.key() == expected.key() && at.chess() == expected.chess());
        assert_eq!(at.key(), Position::from_chess(at.chess().clone()).key());
        assert!(at.chess().is_legal(mv));
        expected.play(mv);
        *plies += 1;
        self.told.push(mv.to_string());
        if *plies < self.most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn end(&mut self, end: GameEnd) {
        assert!(self.open.take().is_some());
        let error = end.error.map(|error| self.error(&error));
        self.told.push(format!("end {:?} {}", end.result, error.unwrap_or_default()));
    }

    fn unreadable(&mut self, error: GameError) {
        assert!(self.open.is_none());
        self.told.push(format!("unreadable {}", self.error(&error)));
    }
}
