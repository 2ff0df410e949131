//! What tests of several books share, here and in `tabiya-testing`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::missing_panics_doc, missing_docs)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Move};
use tabiya_base::error::Result;
use tabiya_base::findings::Findings;
use tabiya_base::progress::Progress;
use tabiya_book::traits::Book;
use tabiya_book::{BookSummary, Format, MoveFacts, Moves, PositionRecord, Scope, Variant, Visit, traverse};
use tabiya_chess::{Game, Position};

/// The position after moves in UCI notation from the start.
pub fn after(moves: &str) -> Position {
    let mut game = Game::start();
    moves.split_whitespace().for_each(|mv| assert!(game.push_uci(mv.as_bytes()), "{mv}"));
    game.position().clone()
}

pub fn fen(fen: &str) -> Position {
    Position::from_fen(fen.as_bytes(), CastlingMode::Standard).unwrap()
}

/// A move of a position from UCI notation.
pub fn mv(at: &Position, uci: &str) -> Move {
    uci.parse::<UciMove>().unwrap().to_move(at.chess()).unwrap()
}

/// A move in UCI notation.
pub fn uci(mv: Move) -> String {
    mv.to_uci(CastlingMode::Standard).to_string()
}

/// A file of the sample books, for tests that are ignored because they need `TABIYA_SAMPLES`.
pub fn sample(name: &str) -> PathBuf {
    let folder = std::env::var_os("TABIYA_SAMPLES").expect("TABIYA_SAMPLES names the folder of samples");
    let path = PathBuf::from(folder).join(name);
    assert!(path.is_file(), "TABIYA_SAMPLES has no {name}");
    path
}

/// The book's moves in a position.
pub fn moves(book: &dyn Moves, at: &Position) -> Vec<MoveFacts> {
    book.moves_in(at)
}

/// All positions of a book, by their keys.
pub fn every(book: &dyn Moves, scope: Scope) -> Vec<PositionRecord> {
    let mut every = Vec::new();
    book.each(scope, &Progress::none(), &mut |known| {
        every.push(known.clone());
        Ok(())
    })
    .unwrap();
    every.sort_by_key(|known| known.key);
    every
}

/// A book of lines in UCI notation, which counts its look-ups. In each position the move of the first line is the best.
#[derive(Default)]
pub struct LineBook {
    pub moves: BTreeMap<u64, Vec<Move>>,
    asked: AtomicU64,
    /// How many positions are followed at each depth, and how many beyond them wait, if fewer than otherwise.
    pub widest: Option<[usize; 2]>,
}

impl LineBook {
    /// Each move of each line whose ply `keep` accepts.
    pub fn new(lines: &[&str], keep: impl Fn(usize) -> bool) -> Self {
        let mut book = Self::default();
        for line in lines {
            let mut position = Position::start();
            for (ply, text) in line.split(' ').enumerate() {
                let mv = mv(&position, text);
                if keep(ply) {
                    book.add(&position, mv);
                }
                position.play(mv);
            }
        }
        book
    }

    pub fn add(&mut self, at: &Position, mv: Move) {
        let moves = self.moves.entry(at.key()).or_default();
        if !moves.contains(&mv) {
            moves.push(mv);
        }
    }

    /// Look-ups since the last call.
    pub fn asked(&self) -> u64 {
        self.asked.swap(0, Ordering::Relaxed)
    }
}

impl Moves for LineBook {
    fn variant(&self) -> Variant {
        Variant::Chess
    }

    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let moves = self.moves.get(&at.key()).into_iter().flatten();
        out.extend(moves.zip((0..1000).rev()).map(|(mv, weight)| MoveFacts::new(*mv, weight)));
    }

    fn each(&self, _: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        traverse::each_reachable(self, 0, progress, visit)
    }
}

impl Book for LineBook {
    fn path(&self) -> &Path {
        Path::new("lines")
    }

    fn format(&self) -> Format {
        tabiya_book::polyglot::FORMAT
    }

    fn survey(&self, _: &Progress, _: &mut Findings<'_>) -> BookSummary {
        BookSummary::default()
    }
}
