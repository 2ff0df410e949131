//! Main lines are the same as plies and as lines of keys.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;
use shakmaty::san::SanPlus;
use shakmaty::{Move, Position as _};

use tabiya_chess::{MoveCode, Position};

use super::Pgn;
use crate::{GameEnd, GameError, GameHeader, KeyedPly, Visitor};

/// Notes what it receives, as text.
#[derive(Default)]
struct Listener {
    keyed: bool,
    most: usize,
    unwanted: bool,
    wanted_tags: Vec<String>,
    plies: Vec<KeyedPly>,
    notes: Vec<String>,
}

impl Visitor for Listener {
    fn wanted_tags(&self) -> &[String] {
        &self.wanted_tags
    }

    fn begin(&mut self, game: &GameHeader) -> bool {
        assert!(self.plies.is_empty());
        self.notes.push(format!("{game:?}"));
        !self.unwanted
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        assert!(self.plies.len() < self.most);
        self.plies.push(KeyedPly { key: at.key(), side: at.chess().turn(), mv: MoveCode::from_move(mv) });
        if self.plies.len() == self.most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn keyed_plies(&self) -> Option<usize> {
        self.keyed.then_some(self.most)
    }

    fn keyed_line(&mut self, plies: &[KeyedPly]) {
        assert!(self.plies.is_empty());
        self.plies.extend_from_slice(plies);
    }

    fn end(&mut self, end: GameEnd) {
        self.notes.push(format!("{:?} {end:?}", self.plies));
        self.plies.clear();
    }

    fn unreadable(&mut self, error: GameError) {
        self.notes.push(format!("{error:?}"));
    }
}

fn listen(text: &[u8], most: usize, unwanted: bool, keyed: bool) -> Listener {
    let wanted_tags = vec!["TimeControl".to_owned(), "event".to_owned()];
    let mut listener = Listener { keyed, most, unwanted, wanted_tags, ..Listener::default() };
    let mut pgn = Pgn::new(Arc::from(Path::new("a.pgn")), text);
    while let Some(batch) = pgn.next_batch() {
        batch.play(&mut listener);
    }
    listener
}

/// Reads a text in both ways, and returns how many games began.
fn compare(text: &[u8]) -> usize {
    for (most, unwanted) in [(1000, false), (3, false), (16, false)] {
        let (plies, keys) = (listen(text, most, unwanted, false), listen(text, most, unwanted, true));
        assert_eq!(plies.notes, keys.notes, "{}", String::from_utf8_lossy(text));
    }
    let (plies, keys) = (listen(text, 1000, true, false), listen(text, 1000, true, true));
    assert_eq!(plies.notes, keys.notes, "{}", String::from_utf8_lossy(text));
    keys.notes.iter().filter(|note| note.starts_with("GameHeader")).count()
}

const HEAD: &str = "[Event \"x\"]\n[White \"a\"]\n[Result \"1-0\"]\n\n";

#[test]
fn plain_games_are_the_same_in_both_ways() {
    for moves in [
        "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. O-O Nge7 5. Re1 axb5 1-0\n\n",
        "1.e4 {[%eval 0.17] [%clk 0:00:30]} 1... e5 { x\ny } 2.Nf3!? $14 Nc6?! 1-0",
        "1. e4\r\ne5\r\n2. d4 1/2-1/2\r\n\r\n",
        "1. e4 e5 *\n \n\n",
        "e4 e5 Nf3",
        "1. e4 d5 2. exd5 Qxd5 3. Nc3 Qd8+",
        "1. e4 a6 2. e5 f5 3. exf6 d5 1-0",
    ] {
        assert_eq!(compare(format!("{HEAD}{moves}").as_bytes()), 1, "{moves}");
    }
}

#[test]
fn odd_games_are_the_same_in_both_ways() {
    for text in [
        "[Event \"x\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Ke3 Nc6 1-0\n\n".to_owned(),
        format!("{HEAD}1. e4 (1. d4 d5) e5 1-0"),
        format!("{HEAD}1. e4 e5 2. Sf3 Nc6 1-0"),
        format!("{HEAD}1. e4 e5 2. g1f3 Nc6 1-0"),
        format!("{HEAD}1. e4 {{no end e5 1-0"),
        format!("{HEAD}1. e4 ; rest\ne5 1-0"),
        format!("{HEAD}1. e4\n%e5\ne5 1-0"),
        format!("{HEAD}1. e4 e5 2. 0-0 1-0"),
        format!("{HEAD}1. e4 -- 1-0"),
        HEAD.to_owned(),
        format!("{HEAD}1. e4 e5 1-0\n\n1. d4 d5 *\n"),
        format!("{HEAD}1. e4 e5 1-0\n[White \"b\"]\n\n1. d4 d5 *\n"),
        format!("{HEAD}1. e4 e5 1-0\n\n[White \"b\"]\n\n1. d4 d5 *\n"),
        format!("{HEAD}1. e4 e5\n\n2. Nf3 1-0\n"),
        "[Event \"x\"]\n[Result \"0-0\"]\n\n1. e4 e5 0-0".to_owned(),
        "[Event \"x\"]\n[Result \"*\"]\n\n1. e4 e5 1-0".to_owned(),
        "[Event \"x\"]\n[White \"a \\\"b\\\"\"]\n[Result \"1-0\"]\n\n1. e4 e5 1-0".to_owned(),
        "[Event \"x\"]\n[Variant \"Atomic\"]\n[Result \"1-0\"]\n\n1. e4 e5 1-0".to_owned(),
        "[Event \"x\"]\n[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n[Result \"1-0\"]\n\n1. O-O 1-0".to_owned(),
    ] {
        let games = compare(text.as_bytes());
        // Between others.
        let beside = format!("{HEAD}1. d4 1-0\n\n{text}\n\n{HEAD}1. c4 1-0\n");
        assert_eq!(compare(beside.as_bytes()), games + 2, "{text}");
    }
}

/// A game of random moves with comments and glyphs.
fn game(steps: &[Index], noise: &[Index]) -> String {
    let mut text = HEAD.to_owned();
    let mut at = shakmaty::Chess::default();
    let mut noise = noise.iter().cycle();
    for (ply, step) in steps.iter().enumerate() {
        let legal = at.legal_moves();
        if legal.is_empty() {
            break;
        }
        if ply % 2 == 0 {
            let _ = write!(text, "{}. ", ply / 2 + 1);
        }
        let mv = *step.get(&legal);
        let _ = write!(text, "{}", SanPlus::from_move_and_play_unchecked(&mut at, mv));
        let between = [" ", " ", "\n", " {a} ", "! ", "?! $3 ", " { [%clk 0:01:02] } ", " {\n[} "];
        text += noise.next().map_or(" ", |noise| *noise.get(&between));
    }
    text + "1-0\n\n"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn changed_games_are_the_same_in_both_ways(
        games in prop::collection::vec((
            prop::collection::vec(any::<Index>(), 0..60),
            prop::collection::vec(any::<Index>(), 1..9),
        ), 1..4),
        changes in prop::collection::vec((any::<Index>(), any::<Index>(), 0..3_u8), 0..4),
    ) {
        let mut text: Vec<u8> = games.iter().map(|(steps, noise)| game(steps, noise)).collect::<String>().into_bytes();
        let odd = b" \n\r\t{}()[]\"%;.!?$*0123456789-+=#xNBRQKOabcdefghZ\\\xe9\x0c";
        for (at, byte, how) in &changes {
            let at = at.index(text.len());
            let byte = *byte.get(odd);
            match how {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                _ => drop(text.remove(at)),
            }
        }
        compare(&text);
    }
}
