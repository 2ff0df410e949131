//! The sums of the rows of a position.

use tabiya_chess::MoveCode;

use super::CountsRow;
use crate::{Counts, MoveFacts};

/// The moves of a position, each once: rows that differ in what else they tell apart are added up.
#[derive(Default)]
pub(super) struct MoveSums(Vec<(MoveCode, Counts)>);

impl MoveSums {
    pub fn add(&mut self, line: &CountsRow) {
        let CountsRow { mv, wins, draws, losses, .. } = *line;
        let counts = Counts { games: wins + draws + losses, wins, draws, losses };
        match self.0.iter_mut().find(|(known, _)| *known == mv) {
            Some((_, sum)) => *sum = sum.plus(counts),
            None => self.0.push((mv, counts)),
        }
    }

    /// Games that reached the position, also those that ended there.
    pub fn total(&self) -> Counts {
        self.0.iter().fold(Counts::default(), |sum, (_, counts)| sum.plus(*counts))
    }

    pub fn facts(&self) -> impl Iterator<Item = MoveFacts<MoveCode>> {
        let moves = self.0.iter().filter(|(mv, _)| *mv != MoveCode::NULL);
        moves.map(|(mv, counts)| MoveFacts { counts: Some(*counts), ..MoveFacts::new(*mv, counts.points()) })
    }
}
