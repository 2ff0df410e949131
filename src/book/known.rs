//! What a book knows of one position, apart from the file that it stands in: what is read out of one book and written
//! into another.

use shakmaty::Position as _;

use super::polyglot::decode::meant;
use super::polyglot::layout::RawMove;
use super::{Annotation, Book, BookMove, Counts, Learned, Ratings};
use crate::chess::Position;

/// A position with its moves.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The Polyglot key.
    pub key: u64,
    /// The position itself, where it is known: Polyglot's files hold only the key.
    pub position: Option<Position>,
    /// The moves, each once.
    pub moves: Vec<KnownMove>,
    /// Games that reached the position, counted for the side to move, where that is known apart from its moves.
    pub total: Option<Counts>,
    /// What the book says of the position in words.
    pub comment: Option<String>,
    /// The game that the position is known from, by the number that the build gave it.
    pub game: Option<u64>,
}

/// A move with all that a book can know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownMove {
    /// The move in Polyglot's code; castling is the king taking its own rook.
    pub mv: RawMove,
    /// The weight; 0 means never play.
    pub weight: u64,
    /// Games, counted for the mover, where they are known.
    pub counts: Option<Counts>,
    /// The author's mark.
    pub annotation: Option<Annotation>,
    /// Green (`true`) or red (`false`).
    pub recommended: Option<bool>,
    /// What was learned.
    pub learned: Option<Learned>,
    /// How strong the players were.
    pub ratings: Option<Ratings>,
}

impl KnownMove {
    /// A move with nothing but its weight.
    pub fn new(mv: RawMove, weight: u64) -> Self {
        Self { mv, weight, counts: None, annotation: None, recommended: None, learned: None, ratings: None }
    }

    /// The move in the position that it is made in; `None` where it is not legal there.
    pub fn at(&self, at: &Position) -> Option<BookMove> {
        let mv = meant(self.mv, at.chess()).filter(|&mv| at.chess().is_legal(mv))?;
        let Self { mv: _, weight, counts, annotation, recommended, learned, ratings } = *self;
        Some(BookMove { mv, weight, counts, annotation, recommended, learned, ratings })
    }
}

impl From<BookMove> for KnownMove {
    fn from(known: BookMove) -> Self {
        let BookMove { mv, weight, counts, annotation, recommended, learned, ratings } = known;
        Self { mv: RawMove::from_move(mv), weight, counts, annotation, recommended, learned, ratings }
    }
}

impl Known {
    /// Whether the weights are in proportion to the moves' results: two for a win of the mover, one for a draw.
    pub fn weighs_by_results(&self) -> bool {
        let points = |known: &KnownMove| {
            known.counts.map_or(0, |counts| counts.wins.saturating_mul(2).saturating_add(counts.draws))
        };
        let Some(heaviest) = self.moves.iter().max_by_key(|known| known.weight) else { return true };
        let whole = points(heaviest);
        self.moves.iter().all(|known| {
            u128::from(known.weight) * u128::from(whole)
                == u128::from(heaviest.weight) * u128::from(points(known))
                // Where nothing has a result, all should weigh the same.
                && (whole > 0 || known.weight == heaviest.weight)
        })
    }

    /// What a book knows of a position; `None` where it has no moves there.
    pub fn of<B: Book + ?Sized>(book: &B, at: &Position) -> Option<Self> {
        let mut moves = Vec::new();
        book.moves(at, &mut moves);
        if moves.is_empty() {
            return None;
        }
        Some(Self {
            key: at.key(),
            position: Some(at.clone()),
            moves: moves.into_iter().map(KnownMove::from).collect(),
            ..Self::default()
        })
    }
}

/// Which of a book's positions are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those that the book's own moves reach from the starting position: each comes with its position.
    Reachable,
    /// Everything that the file holds, in its order: positions come where the format holds them.
    All,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_by_results_are_told_from_others() {
        let known = |moves: &[(u64, u64, u64)]| Known {
            moves: moves
                .iter()
                .map(|&(weight, wins, draws)| KnownMove {
                    counts: Some(Counts { games: wins + draws + 1, wins, draws, losses: 1 }),
                    ..KnownMove::new(RawMove(1), weight)
                })
                .collect(),
            ..Known::default()
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
