//! Evaluations, the limits of searches, and scores as the numbers that a store holds.
#![allow(clippy::cast_possible_truncation, reason = "scores are clamped before")]

use tabiya_chess::MoveCode;
use tabiya_uci::{Score, Wdl};

/// A mate in no moves, as a number; each further move is one less (docs/formats/evals.md, Scores).
const MATE: i64 = 1 << 30;

/// The longest mate whose length is stored; longer ones are stored as this one.
const MAX_MATE: i64 = (1 << 15) - 1;

/// The greatest score in centipawns; greater ones become it.
const MAX_CENTIPAWNS: i64 = 1_000_000;

/// An engine, or another source of evaluations: the first bytes of the SHA-256 of its name, so that processes need not
/// agree on numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EngineId(pub u32);

/// What an engine thinks of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The score for the side to move. A mate in 0 means that it is checkmated.
    pub score: Score,
    /// The depth in plies, as the engine counts it; 0 if it is not known.
    pub depth: u16,
    /// The nodes that were searched, at most [`MAX_NODES`](super::record::MAX_NODES); 0 if they are not known.
    pub nodes: u64,
    /// How the engine expects the game to end, if it says so.
    pub wdl: Option<Wdl>,
    pub engine: EngineId,
    /// The best move; [`MoveCode::NULL`] if it is not known.
    pub best: MoveCode,
}

/// How long an engine searches a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Nodes(u64),
    /// This depth in plies.
    Depth(u64),
    Movetime(u64),
}

impl Limit {
    /// Whether an evaluation is at least as deep as a search with this limit.
    ///
    /// Where nodes are asked for and the evaluation's are not known, its depth must be four more than the nodes could be
    /// doubled. Time is not kept: any evaluation that comes from a search will do.
    pub fn is_met(self, by: &Evaluation) -> bool {
        match self {
            Self::Nodes(nodes) if by.nodes > 0 => by.nodes >= nodes,
            Self::Nodes(nodes) => by.depth > 0 && u32::from(by.depth) >= nodes.max(1).ilog2() + 4,
            Self::Depth(depth) => u64::from(by.depth) >= depth,
            Self::Movetime(_) => by.depth > 0 || by.nodes > 0,
        }
    }

    /// The limit of a search that takes about `factor` times as long. A depth grows by one ply for each doubling, and by one
    /// more.
    pub fn times(self, factor: u64) -> Self {
        match self {
            Self::Nodes(nodes) => Self::Nodes(nodes.saturating_mul(factor)),
            Self::Depth(depth) => Self::Depth(depth.saturating_add(u64::from(factor.max(1).ilog2()) + 1)),
            Self::Movetime(time) => Self::Movetime(time.saturating_mul(factor)),
        }
    }

    /// Whether a search with this limit goes at least as far as one with another of the same kind.
    pub fn covers(self, other: Self) -> bool {
        self.parts().0 == other.parts().0 && self.parts().1 >= other.parts().1
    }

    /// The number of its kind, and the limit.
    pub(crate) fn parts(self) -> (u8, u64) {
        match self {
            Self::Nodes(nodes) => (1, nodes),
            Self::Depth(depth) => (2, depth),
            Self::Movetime(time) => (3, time),
        }
    }

    pub(super) fn of_parts(kind: u8, limit: u64) -> Option<Self> {
        match kind {
            1 => Some(Self::Nodes(limit)),
            2 => Some(Self::Depth(limit)),
            3 => Some(Self::Movetime(limit)),
            _ => None,
        }
    }
}

/// A score as the number that a record holds: greater ones are better for the side to move.
pub(crate) fn number(score: Score) -> i32 {
    let number = match score {
        Score::Centipawns(score) => score.clamp(-MAX_CENTIPAWNS, MAX_CENTIPAWNS),
        Score::Mate(moves) if moves > 0 => MATE - moves.min(MAX_MATE),
        Score::Mate(moves) => -MATE - moves.max(-MAX_MATE),
    };
    number as i32
}

/// The score that a record holds as this number; `None` if no score is held so.
pub(super) fn score(number: i32) -> Option<Score> {
    let number = i64::from(number);
    if number.abs() <= MAX_CENTIPAWNS {
        Some(Score::Centipawns(number))
    } else if (MATE - MAX_MATE..MATE).contains(&number) {
        Some(Score::Mate(MATE - number))
    } else if (-MATE..=MAX_MATE - MATE).contains(&number) {
        Some(Score::Mate(-MATE - number))
    } else {
        None
    }
}
