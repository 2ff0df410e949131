//! What a book knows of a move, in the names of JSON that are promised.

use serde::Serialize;

use crate::book::KnownMove;

/// What a book knows of a move besides its weight; null where the format does not say.
#[derive(Serialize)]
pub struct Facts {
    games: Option<u64>,
    wins: Option<u64>,
    draws: Option<u64>,
    losses: Option<u64>,
    annotation: Option<&'static str>,
    recommended: Option<bool>,
    learn: Option<Learn>,
    /// Left out where the format has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratings: Option<Elo>,
}

/// How strong those were who made the move.
#[derive(Serialize)]
struct Elo {
    average: Option<u32>,
    performance: Option<u32>,
}

#[derive(Serialize)]
struct Learn {
    games: u32,
    halfpoints: u32,
}

impl From<&KnownMove> for Facts {
    fn from(known: &KnownMove) -> Self {
        Self {
            games: known.counts.map(|counts| counts.games),
            wins: known.counts.map(|counts| counts.wins),
            draws: known.counts.map(|counts| counts.draws),
            losses: known.counts.map(|counts| counts.losses),
            annotation: known.annotation.map(|mark| mark.as_str()),
            recommended: known.recommended,
            learn: known
                .learned
                .map(|learned| Learn { games: learned.games, halfpoints: learned.halfpoints }),
            ratings: known
                .ratings
                .map(|ratings| Elo { average: ratings.average, performance: ratings.performance }),
        }
    }
}
