//! What colours and marks mean where they act: in tournaments.

use super::{Annotation, MoveFacts, PositionRecord};

/// Turns a position's weights into those that colours and marks leave in tournaments: 0 for what is not played, at
/// least 1 for what the author chose, and as they were for the rest. For formats that have neither.
///
/// ```
/// use tabiya::book::{MoveFacts, PositionRecord, plain_weights};
/// use tabiya::chess::MoveCode;
/// let green = MoveFacts { recommended: Some(true), ..MoveFacts::new(MoveCode(1), 0) };
/// let moves = vec![green, MoveFacts::new(MoveCode(2), 40)];
/// let mut known = PositionRecord { moves, ..PositionRecord::default() };
/// plain_weights(&mut known);
/// assert_eq!(known.moves.iter().map(|known| known.weight).collect::<Vec<_>>(), [1, 0]);
/// ```
pub fn plain_weights(known: &mut PositionRecord) {
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

impl<M> From<&MoveFacts<M>> for Verdict {
    fn from(&MoveFacts { weight, annotation, recommended, .. }: &MoveFacts<M>) -> Self {
        Self { weight, annotation, recommended }
    }
}

impl Verdict {
    /// What the author's mark multiplies the weight by outside tournaments: the factors that readers of CTG books publish.
    pub fn mark_factor(self) -> f64 {
        match self.annotation {
            Some(Annotation::Good) => 1.23,
            Some(Annotation::Brilliant) => 1.46,
            Some(Annotation::Bad | Annotation::Blunder | Annotation::Dubious) => 0.0,
            Some(Annotation::Interesting | Annotation::Only | Annotation::Zugzwang) | None => 1.0,
        }
    }

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
