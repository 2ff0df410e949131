//! What a book knows of one position, whatever its format: readers make these records, and writers take them.

use tabiya_chess::{MoveCode, Position};

use super::{Counts, Format, MoveFacts};

/// What only books of one format keep of a position, for other books of that format: what the bytes mean is known in its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extra {
    /// The format.
    pub format: Format,
    /// The place of its book among those that are merged.
    pub book: u32,
    /// What is kept.
    pub bytes: Vec<u8>,
}

/// A number that a book keeps of a position, and that only its own format has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in JSON.
    pub key: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// The number.
    pub value: u32,
}

/// A position with its moves.
#[derive(Clone, Debug, Default)]
pub struct PositionRecord {
    /// The Polyglot key.
    pub key: u64,
    /// The position itself, if it is known: Polyglot's files hold only the key.
    pub position: Option<Position>,
    /// The moves, each once.
    pub moves: Vec<MoveFacts<MoveCode>>,
    /// Games that reached the position, counted for the side to move, if they are known apart from the moves.
    pub total: Option<Counts>,
    /// What the book says of the position in words.
    pub comment: Option<String>,
    /// A game with the position, by the number that the build gave it.
    pub game: Option<u64>,
    /// What only books of single formats keep, in the order of the books.
    pub extras: Vec<Extra>,
}

impl PositionRecord {
    /// Whether the weights are proportional to the moves' results: two for a win of the mover, one for a draw.
    #[cfg(any(test, feature = "write"))]
    pub(crate) fn weighs_by_results(&self) -> bool {
        let points = |known: &MoveFacts<MoveCode>| known.counts.map_or(0, Counts::points);
        let Some(heaviest) = self.moves.iter().max_by_key(|known| known.weight) else { return true };
        let whole = points(heaviest);
        self.moves.iter().all(|known| {
            u128::from(known.weight) * u128::from(whole)
                == u128::from(heaviest.weight) * u128::from(points(known))
                // If no move has a result, all should weigh the same.
                && (whole > 0 || known.weight == heaviest.weight)
        })
    }

    /// A position with these moves, of which nothing else is known.
    pub fn from_moves(at: &Position, moves: &[MoveFacts]) -> Self {
        Self {
            key: at.key(),
            position: Some(at.clone()),
            moves: moves.iter().map(|facts| MoveFacts::from(*facts)).collect(),
            ..Self::default()
        }
    }
}

/// Which positions of a book to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scope {
    /// Those that the book's own moves reach from the starting position.
    Reachable,
    /// Everything that the file holds, in its order; records have no position if the format does not hold positions.
    All,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_by_results_are_recognised() {
        let known = |moves: &[(u64, u64, u64)]| PositionRecord {
            moves: moves
                .iter()
                .map(|&(weight, wins, draws)| MoveFacts {
                    counts: Some(Counts { games: wins + draws + 1, wins, draws, losses: 1 }),
                    ..MoveFacts::new(MoveCode(1), weight)
                })
                .collect(),
            ..PositionRecord::default()
        };
        assert!(known(&[]).weighs_by_results());
        assert!(known(&[(5, 2, 1), (0, 0, 0), (2, 0, 2)]).weighs_by_results());
        assert!(known(&[(500, 2, 1), (200, 1, 0)]).weighs_by_results());
        assert!(known(&[(1, 0, 0), (1, 0, 0)]).weighs_by_results());
        assert!(!known(&[(1, 0, 0), (2, 0, 0)]).weighs_by_results());
        assert!(!known(&[(5, 2, 1), (3, 1, 0)]).weighs_by_results());
        assert!(!known(&[(5, 2, 1), (0, 1, 0)]).weighs_by_results());
        assert!(!known(&[(5, 0, 0), (0, 1, 0)]).weighs_by_results());
    }
}
