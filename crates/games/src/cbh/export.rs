//! Exporting a database as PGN.

use std::collections::BTreeMap;

use shakmaty::san::{self, SanPlus, Suffix};
use shakmaty::{Move, Position as _};

use tabiya_base::error::Result;

use super::board::Board;
use super::database::Cbh;
use super::decode::Collector;
use super::notes::{self, Facts};
use super::parallel::in_order;
use super::reader::{CbhGame, CbhReader};
use super::record::{CbhRecord, CbhRecordKind};
use super::tags::Tags;
use crate::export::{MoveTree, Notes, PgnWriter, San};
use crate::{GameError, GameResult, Reason};

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
    /// Annotations that PGN cannot express, by their type.
    pub left_out: BTreeMap<u8, u64>,
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
#[derive(Default)]
struct Written {
    writer: PgnWriter,
    totals: ExportTotals,
    errors: Vec<GameError>,
}

impl Written {
    /// Reports a game of which moves are lost.
    fn lost(&mut self, error: GameError) {
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
pub fn export(db: &Cbh, options: &ExportOptions, take: &mut Take<'_>) -> Result<ExportTotals> {
    let mut totals = ExportTotals::default();
    let (first, last) = options.games;
    in_order(
        (first.max(1), last.min(db.count())),
        options.threads,
        || Exporter::new(db, options),
        |exporter, games, written: &mut Written| exporter.run(games, written),
        |last, written| {
            totals.add(&written.totals);
            take(written.writer.text(), &written.errors, last)
        },
    )?;
    Ok(totals)
}

/// Writes games on one thread.
struct Exporter<'a> {
    reader: CbhReader<'a>,
    options: &'a ExportOptions,
    tree: MoveTree,
    notes: Notes,
    facts: Facts,
    tags: Tags,
    /// A move under construction.
    word: Vec<u8>,
}

impl<'a> Exporter<'a> {
    fn new(db: &'a Cbh, options: &'a ExportOptions) -> Self {
        Self {
            reader: CbhReader::new(db),
            options,
            tree: MoveTree::default(),
            notes: Notes::default(),
            facts: Facts::default(),
            tags: Tags::default(),
            word: Vec::new(),
        }
    }

    fn run(&mut self, (from, to): (u32, u32), written: &mut Written) {
        written.writer.clear();
        written.totals = ExportTotals::default();
        written.errors.clear();
        for number in from..=to {
            match self.reader.record(number) {
                Ok(record) => self.one(&record, written),
                Err(error) => {
                    let db = self.reader.db();
                    written.lost(db.error(number, 0, Reason::Damaged, error.with_source()));
                }
            }
        }
    }

    fn one(&mut self, record: &CbhRecord, written: &mut Written) {
        let totals = &mut written.totals;
        match record.kind() {
            CbhRecordKind::Game if record.is_deleted() && !self.options.deleted => {
                return totals.deleted += 1;
            }
            CbhRecordKind::Game => totals.games += 1,
            CbhRecordKind::Text => return totals.texts += 1,
            CbhRecordKind::Unknown => return totals.unknown += 1,
        }
        self.tree.clear();
        self.notes.clear();
        self.facts.clear();
        let game = match self.reader.find(record) {
            Ok(game) => {
                self.decode(&game, written);
                Some(game)
            }
            Err(error) => {
                written.lost(error);
                None
            }
        };
        if !self.options.bare {
            self.annotate(record, &mut written.totals);
        }
        let out = &mut written.writer;
        self.tags.write(out, &mut self.reader, record, game.as_ref(), &self.facts);
        let result = record.outcome().result().map_or("*", GameResult::as_pgn);
        out.moves(&self.tree, &self.notes, result);
    }

    fn decode(&mut self, game: &CbhGame, written: &mut Written) {
        if let Some(start) = &game.start {
            self.tree.first = start.chess.turn();
        }
        self.tree.number = game.number_of_first();
        let mut collector = Collector {
            tree: &mut self.tree,
            variations: !self.options.main_line,
            play: |board: &mut Board, mv| play(board, mv, &mut self.word),
            pass: San::new(b"--"),
        };
        let ended = self.reader.decode(game, &mut collector);
        if let Some(error) = self.reader.error(game, ended) {
            written.lost(error);
        }
    }

    fn annotate(&mut self, record: &CbhRecord, totals: &mut ExportTotals) {
        match self.reader.notes(record) {
            Ok(None) => {}
            Ok(Some((_, items))) => {
                // Without variations the tree ends before the first variation, and the annotations with it.
                notes::read(items, self.tree.count(), &mut self.notes, &mut self.facts);
                let lost = self.facts.error.is_some() && !self.options.main_line;
                totals.notes_damaged += u64::from(lost);
                for (kind, count) in &self.facts.left_out {
                    *totals.left_out.entry(*kind).or_default() += count;
                }
            }
            Err(_) => totals.notes_damaged += 1,
        }
        let evaluation = record.line_evaluation();
        if evaluation != 0 {
            // A line has no result. Its evaluation follows its last move.
            let mut last = 0;
            while let Some(next) = self.tree.node(last).map(|node| node.next).filter(|&next| next != 0) {
                last = next;
            }
            self.notes.entry(last).or_default().glyphs.push(evaluation);
        }
    }
}

/// Plays a legal move, and returns it as PGN writes it.
fn play(board: &mut Board, mv: Move, word: &mut Vec<u8>) -> San {
    let san = san::San::from_move(board.chess(), mv);
    board.play(mv);
    let chess = board.chess();
    // shakmaty's `Suffix::from_position` lists the legal moves of every position, not only of those in check.
    let suffix =
        chess.is_check().then(|| if chess.is_checkmate() { Suffix::Checkmate } else { Suffix::Check });
    word.clear();
    SanPlus { san, suffix }.append_ascii_to(word);
    San::new(word)
}
