//! Games of a database as PGN.

use std::ops::ControlFlow;

use shakmaty::{Move, Position as _};

use super::board::Board;
use super::database::Scid;
use super::decode::Kept;
use super::names::text;
use super::reader::{ScidGame, ScidReader};
use super::record::ScidRecord;
use super::stored::Stored;
use super::tags;
use crate::database::export::{ExportOptions, Written, played};
use crate::database::{Exporter, Sink};
use crate::export::{MoveTree, Notes, PgnWriter, San};
use crate::{GameResult, Reason};

/// Writes games on one thread.
pub struct ScidExporter<'a> {
    reader: ScidReader<'a>,
    options: &'a ExportOptions,
    kept: Kept,
    moves: Moves,
}

/// The moves of a game with what is said of them.
#[derive(Default)]
struct Moves {
    tree: MoveTree,
    notes: Notes,
    /// The nodes before and after the move that each open variation replaces.
    around: Vec<[u32; 2]>,
    /// The node before the last move.
    before: u32,
    /// The node of the last move, or the start.
    at: u32,
    /// Whether the variation has no move yet.
    is_fresh: bool,
    /// The comment before its first move.
    pending: String,
    main_line: bool,
    bare: bool,
    /// A move under construction.
    word: Vec<u8>,
}

impl<'a> ScidExporter<'a> {
    pub fn new(db: &'a Scid, options: &'a ExportOptions) -> Self {
        let moves = Moves { main_line: options.main_line, bare: options.bare, ..Moves::default() };
        Self { reader: ScidReader::new(db), options, kept: Vec::new(), moves }
    }

    fn game(&mut self, number: u32, record: &ScidRecord, written: &mut Written) {
        written.totals.games += 1;
        let db = self.reader.db();
        self.moves.clear();
        match self.reader.find(number, record) {
            Ok(game) => {
                self.moves.start(&game);
                let ended = game.decode(&mut self.kept, &mut self.moves);
                if let Some(error) = ended.error.or(ended.cut) {
                    written.lost(game.error(db, error));
                }
                head(&mut written.writer, db, record, Some(&game.stored));
            }
            Err(error) => {
                written.lost(error);
                head(&mut written.writer, db, record, None);
            }
        }
        let result = record.result().map_or("*", GameResult::as_pgn);
        written.writer.moves(&self.moves.tree, &self.moves.notes, result);
    }
}

impl Exporter for ScidExporter<'_> {
    fn one(&mut self, number: u32, written: &mut Written) {
        match self.reader.record(number) {
            Ok(record) if record.is_deleted() && !self.options.deleted => written.totals.deleted += 1,
            Ok(record) => self.game(number, &record, written),
            Err(error) => {
                written.lost(self.reader.db().games_file.error(
                    number,
                    0,
                    Reason::Damaged,
                    error.with_source(),
                ));
            }
        }
    }
}

/// Writes the seven tags that every game has, then the others in alphabetical order.
fn head(out: &mut PgnWriter, db: &Scid, record: &ScidRecord, stored: Option<&Stored<'_>>) {
    for (name, value) in tags::seven(db, record) {
        out.tag(name, &value);
    }
    let mut others = tags::others(record, stored);
    others.sort();
    others.iter().for_each(|(name, value)| out.tag(name, value));
}

impl Moves {
    fn clear(&mut self) {
        self.tree.clear();
        self.notes.clear();
        self.around.clear();
        self.pending.clear();
        (self.before, self.at, self.is_fresh) = (0, 0, false);
    }

    fn start(&mut self, game: &ScidGame<'_>) {
        if let Some(start) = &game.start {
            self.tree.first = start.chess().turn();
            self.tree.number = start.chess().fullmoves().get();
        }
    }

    fn add(&mut self, san: San) -> ControlFlow<()> {
        self.tree.add(san);
        (self.before, self.at, self.is_fresh) = (self.at, self.tree.count(), false);
        if !self.pending.is_empty() {
            self.notes.entry(self.at).or_default().before = std::mem::take(&mut self.pending);
        }
        ControlFlow::Continue(())
    }
}

/// Appends a comment after a space.
fn append(to: &mut String, comment: &str) {
    if !to.is_empty() && !comment.is_empty() {
        to.push(' ');
    }
    to.push_str(comment);
}

impl Sink<Board> for Moves {
    fn wants_variations(&self) -> bool {
        !self.main_line
    }

    fn play(&mut self, board: &mut Board, mv: Move) -> ControlFlow<()> {
        let san = played(board, mv, &mut self.word);
        self.add(san)
    }

    fn pass(&mut self) -> ControlFlow<()> {
        self.add(San::new(b"--"))
    }

    fn open(&mut self) {
        self.around.push([self.before, self.at]);
        self.tree.branch(self.before);
        (self.at, self.is_fresh) = (self.before, true);
    }

    fn close(&mut self) {
        let Some([before, at]) = self.around.pop() else { return };
        self.tree.pop();
        (self.before, self.at, self.is_fresh) = (before, at, false);
        // PGN has no variation without moves: what it says belongs to the move that it would replace.
        if !self.pending.is_empty() {
            append(&mut self.notes.entry(at).or_default().after, &std::mem::take(&mut self.pending));
        }
    }

    fn glyph(&mut self, number: u8) {
        if !self.bare && !self.is_fresh {
            self.notes.entry(self.at).or_default().glyphs.push(number);
        }
    }

    fn comment(&mut self, comment: &[u8]) {
        if self.bare {
            return;
        }
        let comment = text(comment);
        let place =
            if self.is_fresh { &mut self.pending } else { &mut self.notes.entry(self.at).or_default().after };
        append(place, comment.trim());
    }
}
