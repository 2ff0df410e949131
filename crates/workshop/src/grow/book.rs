//! The grown book as a book: the one that it grew from, with the moves of positions that were searched replaced.

use shakmaty::{Move, Position as _};

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_base::visit::to_the_end;
use tabiya_book::traverse::Keys;
use tabiya_book::{Decision, Heading, MoveFacts, Moves, PositionRecord, Remarks, Scope, Variant, Visit};
use tabiya_chess::{MoveCode, Position};

use crate::changed::changed;

use super::growth::{Growth, Task};
use super::play::Play;
use super::tree::Shape;

/// A book that has grown.
#[derive(Debug)]
pub struct Grown<'a> {
    growth: &'a Growth<'a>,
    plays: Vec<Play<'a>>,
}

impl<'a> Grown<'a> {
    /// The book with the moves that lose at most `max_loss` centipawns. `shape` is the growth's.
    pub fn new(growth: &'a Growth<'a>, shape: &'a Shape, max_loss: u32) -> Self {
        let plays = growth.sides.iter().map(|side| Play::new(&growth.tree, shape, *side, max_loss)).collect();
        Self { growth, plays }
    }

    /// What it plays, for each side that it is for.
    pub fn plays(&self) -> &[Play<'a>] {
        &self.plays
    }

    /// The growth.
    pub(crate) fn growth(&self) -> &'a Growth<'a> {
        self.growth
    }

    /// The moves to the position of a search.
    pub(crate) fn line(&self, task: &Task) -> Vec<MoveCode> {
        let number = self.growth.tree.positions.number(task.at.whole_key());
        number.map_or_else(Vec::new, |number| self.growth.tree.positions.line(number))
    }

    /// Decides what is played of the moves of a position: those that the book chose. Those of positions that were not searched
    /// stay as they are, and so do moves that are legal in `others`, which were settled before.
    fn settle(&self, at: &Position, others: &[Position], moves: &mut Vec<MoveFacts>) {
        let Some(number) = self.growth.tree.positions.number(at.whole_key()) else { return };
        let mut choices = Vec::new();
        if let Some(play) = self.plays.iter().find(|play| play.side() == at.chess().turn()) {
            play.choose(number, &mut choices);
        }
        if choices.is_empty() {
            return;
        }
        let decision = Some(Decision::Chosen);
        let is_open = |mv: Move| {
            others.iter().all(|other| MoveFacts::new(MoveCode::from_move(mv), 0).at(other).is_none())
        };
        for facts in moves.iter_mut().filter(|facts| is_open(facts.mv)) {
            let chosen = choices.iter().find(|choice| choice.mv == MoveCode::from_move(facts.mv));
            (facts.weight, facts.decision) = (chosen.map_or(0, |choice| choice.weight), decision);
        }
        for choice in &choices {
            let mv = choice.mv.resolve(at.chess()).filter(|mv| at.chess().is_legal(*mv));
            let is_new = |mv: &Move| is_open(*mv) && moves.iter().all(|facts| facts.mv != *mv);
            let Some(mv) = mv.filter(is_new) else { continue };
            moves.push(MoveFacts { decision, ..MoveFacts::new(mv, choice.weight) });
        }
    }
}

impl Grown<'_> {
    /// How probable it is that a game reaches a position, in all that the book is for.
    fn reach(&self, number: u32) -> f64 {
        self.plays.iter().map(|play| play.reach(number)).sum()
    }

    /// The positions of a key that are at least so probable, the most probable first: it decides about moves that are legal in
    /// several.
    fn with_key(&self, key: u64, least: f64) -> Vec<Position> {
        let positions = &self.growth.tree.positions;
        let mut numbers: Vec<u32> =
            positions.with_key(key).filter(|number| self.reach(*number) >= least).collect();
        numbers.sort_by(|a, b| self.reach(*b).total_cmp(&self.reach(*a)));
        numbers.into_iter().filter_map(|number| positions.get(number)).collect()
    }

    /// A record of positions of one key with what is played in them.
    fn settled(&self, record: &PositionRecord, all: &[Position]) -> Option<PositionRecord> {
        (0..).zip(all).fold(None, |before, (number, at)| {
            let others = all.get(..number).unwrap_or_default();
            Some(changed(before.as_ref().unwrap_or(record), at, |moves| self.settle(at, others, moves)))
        })
    }
}

impl Moves for Grown<'_> {
    fn variant(&self) -> Variant {
        self.growth.variant()
    }

    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        let mut moves = self.growth.seed().map_or_else(Vec::new, |seed| seed.moves_in(at));
        self.settle(at, &[], &mut moves);
        out.extend(moves);
    }

    fn each(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        let (mut met, mut whole, mut unreached) = (Keys::default(), true, 0);
        let tree = &self.growth.tree;
        if let Some(seed) = self.growth.seed() {
            unreached = seed.each(scope, progress, &mut |record| {
                let all = self.with_key(record.key, 0.0);
                let settled = self.settled(record, &all).filter(|_| met.insert(record.key));
                let Some(settled) = settled else { return visit(record) };
                let seen = visit(&settled);
                whole &= seen.is_ok();
                seen
            })?;
        }
        for number in (0..tree.len()).filter_map(|number| u32::try_from(number).ok()) {
            if !whole || self.reach(number) <= 0.0 {
                continue;
            }
            let Some(at) = tree.positions.get(number).filter(|at| met.insert(at.key())) else { continue };
            let all = self.with_key(at.key(), f64::MIN_POSITIVE);
            let record = self.settled(&PositionRecord::from_moves(&at, &[]), &all);
            let record = record.filter(|record| !record.moves.is_empty());
            if let Some(record) = record
                && to_the_end(visit(&record))?.is_none()
            {
                break;
            }
        }
        Ok(unreached)
    }

    fn holds_positions(&self) -> bool {
        self.growth.seed().is_none_or(Moves::holds_positions)
    }

    fn heading(&self) -> Option<Heading> {
        self.growth.seed().and_then(Moves::heading)
    }

    fn as_remarks(&self) -> Option<&dyn Remarks> {
        self.growth.seed().and_then(Moves::as_remarks)
    }
}
