//! What preparing for an opponent found out, for people to read: what he plays, where he is in new positions, where he goes wrong, and
//! the answers.
#![allow(clippy::indexing_slicing, reason = "numbers of positions come from the tree itself")]

mod pgn;

use shakmaty::{Color, Position as _};

use tabiya_book::Moves as _;
use tabiya_chess::{MoveCode, Position, Value, Variant};

use super::book::Grown;
use super::play::{Play, ReplyChoice};
use crate::expected::ExpectedMove;
use crate::values::winning_chances;

pub use pgn::Opponent;

/// The most lines of a dossier.
const MAX_LINES: usize = 100;

/// Plies that a line goes on after the answer to the error.
const MORE_PLIES: usize = 6;

/// What an error costs in winning chances, at least, on the way from certain loss to certain win.
const LEAST_LOSS: f64 = 0.02;

/// Games that are few.
const FEW: u64 = 5;

/// What is known of an opponent, for one side of the book.
#[derive(Clone, Debug, PartialEq)]
pub struct Dossier {
    /// The side of the book.
    pub side: Color,
    /// Its variant.
    pub variant: Variant,
    /// The opponent's games that the first source knows with the other side from the start.
    pub games: Option<u64>,
    /// How probable it is that he has been in the position before each of his moves, as far as the book goes.
    pub been: Vec<f64>,
    /// How much of what he is expected to play in positions where he has been rests on fewer than five of his games.
    pub few: f64,
    /// The errors to hope for: those first that are the most probable and cost the most.
    pub lines: Vec<DossierLine>,
}

/// An error that an opponent is expected to make.
#[derive(Clone, Debug, PartialEq)]
pub struct DossierLine {
    /// The moves to the error, the error, and what the book answers and expects after it.
    pub moves: Vec<MoveCode>,
    /// The place of the error among them.
    pub error: usize,
    /// How probable it is that a game comes to the position and he makes it.
    pub chance: f64,
    /// How often he made it in his games, and his games in the position; `None` if others say so, or a book without games.
    pub games: Option<(u64, u64)>,
    /// What it costs him, in centipawns.
    pub loss: u32,
    /// The same in winning chances, from 0 to 1.
    pub chances_lost: f64,
    /// What the position after it is worth for the book's side.
    pub value: Value,
    /// What he should have played instead.
    pub better: Option<MoveCode>,
}

impl Dossier {
    /// What the growth of a book knows for one of its sides.
    pub fn new(grown: &Grown<'_>, play: &Play<'_>) -> Self {
        let look = Look { grown, play };
        let (been, few) = look.been();
        let lines = errors(grown, play, MAX_LINES);
        Self { side: play.side(), variant: grown.variant(), games: look.games(), been, few, lines }
    }
}

/// The errors to hope for, at most `most`: those first that are the most probable and cost the most.
pub(super) fn errors(grown: &Grown<'_>, play: &Play<'_>, most: usize) -> Vec<DossierLine> {
    let (look, mut found) = (Look { grown, play }, Vec::new());
    for number in play.searched() {
        look.add_errors(number, &mut found);
    }
    // Of equal ones the first that was found.
    found.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
    found.truncate(most);
    for (line, number) in found.iter_mut().map(|error| (&mut error.line, error.to)) {
        look.go_on(number, &mut line.moves);
    }
    found.into_iter().map(|error| error.line).collect()
}

/// An error with the position after it.
struct FoundError {
    line: DossierLine,
    to: u32,
}

impl FoundError {
    /// What it gives in all games together.
    fn weight(&self) -> f64 {
        self.line.chance * self.line.chances_lost
    }
}

/// The moves of a position after which something is known.
struct Look<'a> {
    grown: &'a Grown<'a>,
    play: &'a Play<'a>,
}

impl Look<'_> {
    fn at(&self, number: u32) -> Option<Position> {
        self.grown.growth().tree.positions.get(number)
    }

    /// Where a move leads to.
    fn after(&self, number: u32, mv: MoveCode) -> Option<u32> {
        self.play.after(number, mv)
    }

    /// What he is expected to play, if his own games say so, and their number.
    fn his(&self, at: &Position, out: &mut Vec<ExpectedMove>) -> Option<Option<u64>> {
        let speaker = self.grown.growth().opponent().moves(at, out)?;
        (speaker.source == 0).then_some(speaker.games)
    }

    /// His games from the start.
    fn games(&self) -> Option<u64> {
        let (start, mut out) = (Position::start_of(self.grown.variant()), Vec::new());
        if start.chess().turn() != self.play.side() {
            return self.his(&start, &mut out)?;
        }
        let after = start.chess().legal_moves().into_iter().map(|mv| start.after(mv));
        let games: Vec<u64> = after.filter_map(|at| self.his(&at, &mut out)?).collect();
        (!games.is_empty()).then(|| games.iter().sum())
    }

    /// How probable it is that he has been in the position before each of his moves, and how much of it rests on few games.
    fn been(&self) -> (Vec<f64>, f64) {
        let (mut all, mut known, mut few, mut out) = (Vec::new(), Vec::new(), 0.0, Vec::new());
        for number in self.play.searched() {
            let (reach, Some(at)) = (self.play.reach(number), self.at(number)) else { continue };
            if at.chess().turn() == self.play.side() || reach <= 0.0 {
                continue;
            }
            let place = self.play.line(number).len() / 2;
            for sums in [&mut all, &mut known] {
                sums.resize(sums.len().max(place + 1), 0.0);
            }
            all[place] += reach;
            if let Some(games) = self.his(&at, &mut out) {
                known[place] += reach;
                few += if games.is_some_and(|games| games < FEW) { reach } else { 0.0 };
            }
        }
        let sum: f64 = known.iter().sum();
        // Where hardly any game comes, nothing is said.
        let been = known.iter().zip(&all).take_while(|(_, all)| **all > 0.01);
        (been.map(|(known, all)| known / all).collect(), if sum > 0.0 { few / sum } else { 0.0 })
    }

    /// Adds his errors in a position.
    fn add_errors(&self, number: u32, out: &mut Vec<FoundError>) {
        let (reach, Some(at)) = (self.play.reach(number), self.at(number)) else { return };
        if at.chess().turn() == self.play.side() || reach <= 0.0 {
            return;
        }
        let (mut moves, mut his) = (Vec::new(), Vec::new());
        self.play.moves(number, &mut moves);
        let last = self.play.last(number);
        let known = moves.iter().filter_map(|(mv, value, _)| Some((*mv, (*value)?)));
        let found = last.map(|last| (last.best, last.value));
        let Some((better, best)) = known.chain(found).max_by_key(|(_, value)| *value) else { return };
        let wrong = moves.iter().filter_map(|(mv, value, chance)| {
            let (value, to) = ((*value)?, self.after(number, *mv)?);
            let chances_lost = (winning_chances(best) - winning_chances(value)) / 2.0;
            (*chance > 0.0 && chances_lost >= LEAST_LOSS).then_some((mv, value, chance, to, chances_lost))
        });
        let wrong: Vec<_> = wrong.collect();
        if wrong.is_empty() {
            return;
        }
        let speaker = self.his(&at, &mut his);
        for (mv, value, chance, to, chances_lost) in wrong {
            let played = his.iter().find(|known| MoveCode::from_move(known.mv) == *mv);
            let games =
                played.and_then(|known| known.games).filter(|games| *games > 0).zip(speaker.flatten());
            let mut line = self.play.line(number);
            let error = line.len();
            line.push(*mv);
            let loss = u32::from(best.abs_diff(value));
            let better = (better != *mv).then_some(better);
            let chance = reach * chance;
            let line =
                DossierLine { moves: line, error, chance, games, loss, chances_lost, value: -value, better };
            out.push(FoundError { line, to });
        }
    }

    /// The best move of the book in a position.
    fn answer(&self, number: u32) -> Option<ReplyChoice> {
        let mut choices = Vec::new();
        self.play.choose(number, &mut choices);
        choices.into_iter().rev().max_by_key(|choice| choice.weight)
    }

    /// Adds what the book answers, and what is most probable after that.
    fn go_on(&self, number: u32, moves: &mut Vec<MoveCode>) {
        let (mut next, mut replies) = (Some(number), Vec::new());
        for _ in 0..=MORE_PLIES {
            let Some(number) = next else { return };
            let mv = match self.answer(number) {
                Some(answer) => answer.mv,
                None => {
                    self.play.moves(number, &mut replies);
                    let likely = replies.iter().rev().filter(|(.., chance)| *chance > 0.0);
                    match likely.max_by(|(.., a), (.., b)| a.total_cmp(b)) {
                        Some((mv, ..)) => *mv,
                        None => return,
                    }
                }
            };
            moves.push(mv);
            next = self.after(number, mv);
        }
    }
}
