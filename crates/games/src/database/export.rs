//! Games of a database as PGN.

use std::collections::BTreeMap;

use shakmaty::san::{self, SanPlus, Suffix};
use shakmaty::{Move, Position as _};

use tabiya_base::error::Result;

use super::sink::NumberedBoard;
use super::{Database, in_order};
use crate::export::{PgnWriter, San};
use crate::{GameError, Reason};

/// What to export.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ExportOptions {
    /// The first and the last game.
    pub games: (u32, u32),
    /// Whether variations are left out.
    pub main_line: bool,
    /// Whether annotations are left out.
    pub bare: bool,
    /// Whether deleted games are written too.
    pub deleted: bool,
    /// The number of threads.
    pub threads: usize,
}

impl ExportOptions {
    /// These games, from the first to the last, with all that they have and on one thread.
    pub fn new(games: (u32, u32)) -> Self {
        Self { games, main_line: false, bare: false, deleted: false, threads: 1 }
    }
}

/// What became of the games.
#[derive(Clone, Debug, Default)]
pub struct ExportTotals {
    /// Games that were written.
    pub games: u64,
    /// Texts, which PGN cannot hold.
    pub texts: u64,
    /// Deleted games that were left out.
    pub deleted: u64,
    /// Records that are neither games nor texts.
    pub unknown: u64,
    /// Games of which moves were lost, by the kind of reason.
    pub damaged: BTreeMap<Reason, u64>,
    /// Games of which annotations were lost.
    pub notes_damaged: u64,
    /// Annotations that PGN cannot express, by the number of their type and its name.
    pub left_out: BTreeMap<(u8, &'static str), u64>,
}

impl ExportTotals {
    fn add(&mut self, other: &Self) {
        self.games += other.games;
        self.texts += other.texts;
        self.deleted += other.deleted;
        self.unknown += other.unknown;
        self.notes_damaged += other.notes_damaged;
        other.damaged.iter().for_each(|(reason, count)| *self.damaged.entry(*reason).or_default() += count);
        other.left_out.iter().for_each(|(kind, count)| *self.left_out.entry(*kind).or_default() += count);
    }
}

/// The result of one run of games.
#[derive(Debug, Default)]
pub struct Written {
    pub(crate) writer: PgnWriter,
    pub(crate) totals: ExportTotals,
    errors: Vec<GameError>,
}

impl Written {
    /// Reports a game of which moves are lost.
    pub(crate) fn lost(&mut self, error: GameError) {
        *self.totals.damaged.entry(error.reason).or_default() += 1;
        self.errors.push(error);
    }
}

/// Receives some more text, what is wrong with the games in it that are damaged, of which the moves before the damage were
/// written, and the number of the game up to which all are done.
pub type Take<'a> = dyn FnMut(&[u8], &[GameError], u32) -> Result<()> + 'a;

/// Writes the games of a database.
///
/// # Errors
/// When `take` fails.
pub fn export(db: &dyn Database, options: &ExportOptions, take: &mut Take<'_>) -> Result<ExportTotals> {
    let mut totals = ExportTotals::default();
    let (first, last) = options.games;
    in_order(
        (first.max(1), last.min(db.count())),
        options.threads,
        || db.exporter(options),
        |exporter, (from, to), written: &mut Written| {
            written.writer.clear();
            written.totals = ExportTotals::default();
            written.errors.clear();
            (from..=to).for_each(|number| exporter.one(number, written));
        },
        |last, written| {
            totals.add(&written.totals);
            take(written.writer.text(), &written.errors, last)
        },
    )?;
    Ok(totals)
}

/// Plays a legal move, and returns it as PGN writes it.
pub(crate) fn played(board: &mut impl NumberedBoard, mv: Move, word: &mut Vec<u8>) -> San {
    let san = san::San::from_move(board.position().chess(), mv);
    board.play(mv);
    let chess = board.position().chess();
    // shakmaty's `Suffix::from_position` lists the legal moves of every position, not only of those in check.
    let suffix =
        chess.is_check().then(|| if chess.is_checkmate() { Suffix::Checkmate } else { Suffix::Check });
    word.clear();
    SanPlus { san, suffix }.append_ascii_to(word);
    San::new(word)
}
