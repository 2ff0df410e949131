//! What colours and marks mean where they act: in tournaments.

use crate::book::{Annotation, BookMove, Known, KnownMove};

/// Turns a position's weights into those that colours and marks leave in tournaments: 0 for what is not played, at
/// least 1 for what the author chose, and as they were for the rest. For formats that have neither.
///
/// ```
/// use tabiya::book::polyglot::layout::RawMove;
/// use tabiya::book::{Known, KnownMove};
/// use tabiya::choose::plain_weights;
/// let green = KnownMove { recommended: Some(true), ..KnownMove::new(RawMove(1), 0) };
/// let mut known = Known { moves: vec![green, KnownMove::new(RawMove(2), 40)], ..Known::default() };
/// plain_weights(&mut known);
/// assert_eq!(known.moves.iter().map(|known| known.weight).collect::<Vec<_>>(), [1, 0]);
/// ```
pub fn plain_weights(known: &mut Known) {
    let rest = Rest::of(known.moves.iter().map(Verdict::from));
    for known in &mut known.moves {
        let verdict = Verdict::from(&*known);
        known.weight = match rest.leaves(verdict) {
            true if verdict.is_chosen() => known.weight.max(1),
            true => known.weight,
            false => 0,
        };
    }
}

/// What a book thinks of a move.
#[derive(Clone, Copy)]
pub struct Verdict {
    /// Its weight.
    pub weight: u64,
    /// The author's mark.
    pub annotation: Option<Annotation>,
    recommended: Option<bool>,
}

impl From<&BookMove> for Verdict {
    fn from(&BookMove { weight, annotation, recommended, .. }: &BookMove) -> Self {
        Self { weight, annotation, recommended }
    }
}

impl From<&KnownMove> for Verdict {
    fn from(&KnownMove { weight, annotation, recommended, .. }: &KnownMove) -> Self {
        Self { weight, annotation, recommended }
    }
}

impl Verdict {
    fn is_only(self) -> bool {
        self.annotation == Some(Annotation::Only)
    }

    /// Whether the author wants the move played in tournaments whatever its statistics: it is green, or the only one.
    pub fn is_chosen(self) -> bool {
        self.recommended == Some(true) || self.is_only()
    }

    /// Whether a format's own verdicts let it be played in tournaments at all.
    fn is_sound(self) -> bool {
        let marked =
            matches!(self.annotation, Some(Annotation::Bad | Annotation::Blunder | Annotation::Dubious));
        (self.weight > 0 || self.is_chosen()) && self.recommended != Some(false) && !marked
    }
}

/// What the sound moves of a position leave of the others in tournaments.
#[derive(Clone, Copy)]
pub struct Rest {
    only: bool,
    green: bool,
}

impl Rest {
    /// Looks at all of them.
    pub fn of(verdicts: impl Iterator<Item = Verdict>) -> Self {
        verdicts.filter(|verdict| verdict.is_sound()).fold(
            Self { only: false, green: false },
            |rest, verdict| Self {
                only: rest.only || verdict.is_only(),
                green: rest.green || verdict.recommended == Some(true),
            },
        )
    }

    /// Whether a move is played: beside an only move only such ones, else beside a green move only green ones.
    pub fn leaves(self, verdict: Verdict) -> bool {
        verdict.is_sound()
            && match self {
                Self { only: true, .. } => verdict.is_only(),
                Self { green: true, .. } => verdict.recommended == Some(true),
                _ => true,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::{Policy, chances};
    use shakmaty::{Chess, Position as _};

    /// The chances of the first two moves of the game.
    fn of(moves: &[BookMove]) -> Vec<f64> {
        let mut out = Vec::new();
        chances(moves, &Policy { threshold: 0, ..Policy::default() }, |_| true, &mut out);
        out
    }

    fn book(weights: [u64; 2]) -> Vec<BookMove> {
        let legal = Chess::default().legal_moves();
        weights.iter().zip(&legal).map(|(&weight, &mv)| BookMove::new(mv, weight)).collect()
    }

    #[test]
    fn plain_weights_are_what_tournaments_play() {
        let marks = [None, Some(Annotation::Good), Some(Annotation::Dubious), Some(Annotation::Only)];
        let colours = [None, Some(true), Some(false)];
        // Every pair of verdicts, with and without weight.
        let kinds: Vec<_> = marks
            .iter()
            .flat_map(|mark| {
                colours.iter().flat_map(move |colour| [0, 7].map(|weight| (*mark, *colour, weight)))
            })
            .collect();
        for first in &kinds {
            for second in &kinds {
                let mut moves = book([first.2, second.2]);
                for (m, (mark, colour, _)) in moves.iter_mut().zip([first, second]) {
                    (m.annotation, m.recommended) = (*mark, *colour);
                }
                let expected = of(&moves);
                let known = moves.iter().map(|&m| KnownMove::from(m)).collect();
                let mut known = Known { moves: known, ..Known::default() };
                plain_weights(&mut known);
                let plain: Vec<u64> = known.moves.iter().map(|known| known.weight).collect();
                // Without any verdict the same moves are played as often.
                assert_eq!(of(&book([plain[0], plain[1]])), expected, "{first:?} {second:?}");
                assert!(plain.iter().zip(&moves).all(|(&plain, m)| plain <= m.weight.max(1)));
            }
        }
    }
}
