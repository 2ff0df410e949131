//! Games of a database as PGN.

use shakmaty::Position as _;

use super::board::Board;
use super::database::Cbh;
use super::decode::Collector;
use super::notes::{self, Facts};
use super::reader::{CbhGame, CbhReader};
use super::record::{CbhRecord, CbhRecordKind};
use super::tags::Tags;
use crate::database::Exporter;
use crate::database::export::{ExportOptions, ExportTotals, Written, played};
use crate::export::{MoveTree, Notes, San};
use crate::{GameResult, Reason};

/// Writes games on one thread.
pub(super) struct CbhExporter<'a> {
    reader: CbhReader<'a>,
    options: &'a ExportOptions,
    tree: MoveTree,
    notes: Notes,
    facts: Facts,
    tags: Tags,
    /// A move under construction.
    word: Vec<u8>,
}

impl<'a> CbhExporter<'a> {
    pub fn new(db: &'a Cbh, options: &'a ExportOptions) -> Self {
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

    fn game(&mut self, record: &CbhRecord, written: &mut Written) {
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
            play: |board: &mut Board, mv| played(board, mv, &mut self.word),
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
                    let kind = (*kind, notes::name(*kind).unwrap_or("unknown"));
                    *totals.left_out.entry(kind).or_default() += count;
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

impl Exporter for CbhExporter<'_> {
    fn one(&mut self, number: u32, written: &mut Written) {
        match self.reader.record(number) {
            Ok(record) => self.game(&record, written),
            Err(error) => {
                let db = self.reader.db();
                written.lost(db.games_file.error(number, 0, Reason::Damaged, error.with_source()));
            }
        }
    }
}
