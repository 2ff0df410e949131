//! The games of a database for visitors.

use std::mem::replace;
use std::num::NonZeroU16;
use std::sync::Arc;

use shakmaty::Move;

use tabiya_chess::Position;

use super::board::Board;
use super::database::Cbh;
use super::decode::Collector;
use super::layout::tournament;
use super::reader::{CbhGame, CbhReader};
use super::record::{CbhRecord, CbhRecordKind};
use crate::database::{KeyedLine, MainLine};
use crate::export::{MoveTree, TreeStep};
use crate::{Batch, GameEnd, GameHeader, KeyedPly, Reason, Visitor};

/// Games by their numbers.
pub(super) struct CbhGames {
    pub db: Arc<Cbh>,
    pub games: (u32, u32),
}

impl Batch for CbhGames {
    fn play(self: Box<Self>, visitor: &mut dyn Visitor) -> u64 {
        let (first, last) = self.games;
        let mut player = CbhPlayer {
            games: 0,
            reader: CbhReader::new(&self.db),
            header: GameHeader::default(),
            tournament: None,
            tree: MoveTree::default(),
            plies: Vec::new(),
        };
        for number in first..=last {
            match player.reader.record(number) {
                Ok(record) => player.one(&record, visitor),
                Err(error) => {
                    visitor.unreadable(self.db.games_file.error(
                        number,
                        0,
                        Reason::Unreadable,
                        error.with_source(),
                    ));
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
            Some(self.reader.db().games_file.error(
                game.number,
                game.offset,
                Reason::NullMove,
                "a side passes",
            ))
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
        header.place = db.games_file.place(game.number, game.offset, game.len);
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
