//! A database as a source of games.
#![allow(clippy::cast_possible_truncation, reason = "what is done is not more than all")]

use std::mem::replace;
use std::num::NonZeroU16;
use std::ops::ControlFlow;
use std::sync::Arc;

use shakmaty::Move;

use tabiya_chess::MoveCode;
use tabiya_chess::Position;

use super::board::Board;
use super::database::Cbh;
use super::decode::{Collector, Sink};
use super::layout::tournament;
use super::reader::{CbhGame, CbhReader};
use super::record::{CbhRecord, CbhRecordKind};
use crate::export::{MoveTree, TreeStep};
use crate::{Batch, GameEnd, GameHeader, KeyedPly, Reason, Visitor};

/// Games of a batch: enough that the cost of handing it over does not matter.
const BATCH: u32 = 512;

/// The games of a database in the order of their numbers, without deleted ones and texts.
#[derive(Debug)]
pub struct CbhSource {
    db: Arc<Cbh>,
    next: u32,
}

impl CbhSource {
    /// All games of a database.
    pub fn new(db: Arc<Cbh>) -> Self {
        Self { db, next: 1 }
    }

    /// The next batch; `None` at the end.
    pub fn next_batch(&mut self) -> Option<Box<dyn Batch>> {
        if self.next > self.db.count() {
            return None;
        }
        let first = self.next;
        let last = first.saturating_add(BATCH - 1).min(self.db.count());
        self.next = last.saturating_add(1);
        Some(Box::new(CbhGames { db: self.db.clone(), first, last }))
    }

    /// Bytes of the database that were read so far.
    pub fn done(&self) -> u64 {
        let (read, all) = (u64::from(self.next - 1), u64::from(self.db.count()).max(1));
        (self.db.size() as u128 * u128::from(read.min(all)) / u128::from(all)) as u64
    }
}

/// Games by their numbers.
struct CbhGames {
    db: Arc<Cbh>,
    first: u32,
    last: u32,
}

impl Batch for CbhGames {
    fn play(self: Box<Self>, visitor: &mut dyn Visitor) -> u64 {
        let mut player = CbhPlayer {
            games: 0,
            reader: CbhReader::new(&self.db),
            header: GameHeader::default(),
            tournament: None,
            tree: MoveTree::default(),
            plies: Vec::new(),
        };
        for number in self.first..=self.last {
            match player.reader.record(number) {
                Ok(record) => player.one(&record, visitor),
                Err(error) => {
                    visitor.unreadable(self.db.error(number, 0, Reason::Unreadable, error.with_source()));
                }
            }
        }
        player.games
    }
}

struct CbhPlayer<'a> {
    /// The games that were shown to the visitor.
    games: u64,
    reader: CbhReader<'a>,
    header: GameHeader,
    /// The tournament of the header.
    tournament: Option<u32>,
    tree: MoveTree<Option<Move>>,
    plies: Vec<KeyedPly>,
}

impl CbhPlayer<'_> {
    fn one(&mut self, record: &CbhRecord, visitor: &mut dyn Visitor) {
        if record.kind() != CbhRecordKind::Game || record.is_deleted() {
            return;
        }
        let game = match self.reader.find(record) {
            Ok(game) => game,
            Err(error) => {
                self.games += error.games();
                return visitor.unreadable(error);
            }
        };
        self.games += 1;
        self.fill_header(&game, record);
        if !visitor.begin(&self.header) {
            return;
        }
        let (ended, passed) = if visitor.wants_variations() {
            self.tree.clear();
            let play = |board: &mut Board, mv: Move| {
                board.play(mv);
                Some(mv)
            };
            let mut collector = Collector { tree: &mut self.tree, variations: true, play, pass: None };
            let ended = self.reader.decode(&game, &mut collector);
            let start = self.header.start.clone().unwrap_or_else(Position::start);
            (ended, variations(&self.tree, start, visitor))
        } else if let Some(most) = visitor.keyed_plies() {
            self.plies.clear();
            let key = self.header.start.as_ref().map_or_else(|| Position::start().key(), Position::key);
            let mut line = KeyedLine { key, plies: &mut self.plies, most, passed: false };
            let ended = self.reader.decode(&game, &mut line);
            let passed = line.passed;
            visitor.keyed_last(line.key);
            visitor.keyed_line(&self.plies);
            (ended, passed)
        } else {
            let mut line = MainLine { visitor, passed: false };
            let ended = self.reader.decode(&game, &mut line);
            (ended, line.passed)
        };
        let error = if passed && ended.is_ok() {
            Some(self.reader.db().error(game.number, game.offset, Reason::NullMove, "a side passes"))
        } else {
            self.reader.error(&game, ended)
        };
        visitor.end(GameEnd { result: self.header.result, error, cut: None });
    }

    /// Copies the header of a game from its records.
    fn fill_header(&mut self, game: &CbhGame, record: &CbhRecord) {
        let Self { reader, header, .. } = self;
        let db = reader.db();
        let player = |number, out: &mut String| {
            out.clear();
            if let Some(player) = db.players.live(number) {
                player.push_player(out);
            }
        };
        player(record.white(), &mut header.white);
        player(record.black(), &mut header.black);
        // Games of one tournament are usually next to each other.
        let number = record.tournament();
        if self.tournament.replace(number) != Some(number) {
            let found = db.tournaments.live(number);
            let text = |field| found.map(|found| found.text(field).into_owned()).unwrap_or_default();
            (header.event, header.site) = (text(tournament::TITLE), text(tournament::PLACE));
        }
        header.round.clear();
        record.push_round(&mut header.round);
        header.date = record.date();
        [header.white_elo, header.black_elo] = <[u16; 2]>::from(record.elos()).map(NonZeroU16::new);
        header.result = record.outcome().result();
        header.start = game.start.as_ref().map(|start| Position::from_chess(start.chess.clone()));
        header.place = db.place(game.number, game.offset, game.len);
    }
}

/// Hands the main line over as it is decoded.
struct MainLine<'a> {
    visitor: &'a mut dyn Visitor,
    passed: bool,
}

impl Sink for MainLine<'_> {
    #[inline(always)]
    fn play(&mut self, board: &mut Board, mv: Move) -> ControlFlow<()> {
        self.visitor.ply(board.position(), mv)?;
        board.play(mv);
        ControlFlow::Continue(())
    }

    fn pass(&mut self) -> ControlFlow<()> {
        self.passed = true;
        ControlFlow::Break(())
    }
}

/// Keeps the main line with the keys of its positions.
struct KeyedLine<'a> {
    /// That of the position after the last move.
    key: u64,
    plies: &'a mut Vec<KeyedPly>,
    /// Plies that are wanted.
    most: usize,
    passed: bool,
}

impl Sink for KeyedLine<'_> {
    #[inline(always)]
    fn play(&mut self, board: &mut Board, mv: Move) -> ControlFlow<()> {
        if self.plies.len() < self.most {
            self.plies.push(KeyedPly { key: self.key, side: board.turn(), mv: MoveCode::from_move(mv) });
        }
        board.play(mv);
        self.key = board.position().key();
        if self.plies.len() < self.most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn pass(&mut self) -> ControlFlow<()> {
        self.passed = true;
        ControlFlow::Break(())
    }
}

/// Hands over moves with their variations, and returns whether a pass ended the main line.
///
/// What follows a pass is left out, in variations too: visitors do not know such a move.
fn variations(tree: &MoveTree<Option<Move>>, start: Position, visitor: &mut dyn Visitor) -> bool {
    let mut passed = false;
    // The positions before and after the last move of the line, and of those around it.
    let (mut before, mut at) = (start.clone(), start);
    let mut around = Vec::new();
    let mut walk = tree.walk();
    while let Some(step) = walk.next() {
        match step {
            TreeStep::Move(_, node) => {
                let Some(mv) = node.mv else {
                    passed |= around.is_empty();
                    walk.end_line();
                    continue;
                };
                if visitor.ply(&at, mv).is_break() {
                    return passed;
                }
                let after = at.after(mv);
                before = replace(&mut at, after);
            }
            TreeStep::Open => {
                visitor.begin_variation();
                let after = replace(&mut at, before.clone());
                around.push((before.clone(), after));
            }
            TreeStep::Close => {
                visitor.end_variation();
                if let Some(line) = around.pop() {
                    (before, at) = line;
                }
            }
        }
    }
    passed
}
