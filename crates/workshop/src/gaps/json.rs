//! What games reach of a book as JSON. Other programs rely on its keys.

use serde::Serialize;
use shakmaty::uci::UciMove;
use shakmaty::{Move, Position as _};

use tabiya_book::Moves;
use tabiya_chess::Position;

use super::{Gaps, RarePosition, ReachedPosition, plays};
use crate::view::{PositionLine, san};

/// What games reach of a book for one side.
#[derive(Debug, Serialize)]
pub struct GapsJson {
    book: String,
    side: String,
    /// Where games were followed from.
    from: String,
    /// Of the opponent's moves, in percent; null if none is known.
    percent: Option<f64>,
    /// The share of the opponent's positions that no source knows.
    unknown: f64,
    answered: Vec<AnsweredJson>,
    gaps: Vec<PositionJson>,
    smaller: SmallerJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    rare: Option<Vec<RareJson>>,
    choices: Vec<ChoiceJson>,
}

#[derive(Debug, Serialize)]
struct AnsweredJson {
    ply: u32,
    reached: f64,
    percent: f64,
}

#[derive(Debug, Serialize)]
struct PositionJson {
    fen: String,
    moves: String,
    share: f64,
    games: Option<u64>,
}

#[derive(Debug, Serialize)]
struct SmallerJson {
    count: u64,
    share: f64,
}

#[derive(Debug, Serialize)]
struct RareJson {
    #[serde(flatten)]
    at: PositionJson,
    positions: u64,
}

#[derive(Debug, Serialize)]
struct ChoiceJson {
    #[serde(flatten)]
    at: PositionJson,
    plays: Vec<PlayJson>,
}

#[derive(Debug, Serialize)]
struct PlayJson {
    uci: String,
    san: String,
    chance: f64,
}

impl PlayJson {
    fn new(at: &Position, (mv, chance): (Move, f64)) -> Self {
        let uci = UciMove::from_move(mv, at.chess().castles().mode()).to_string();
        Self { uci, san: san(at, mv), chance }
    }
}

impl GapsJson {
    /// Of the book of this name, at most this many rows of each list.
    pub fn new(gaps: &Gaps, name: &str, book: &dyn Moves, most: usize) -> Self {
        let percent = |part: f64, all: f64| if all > 0.0 { part / all * 100.0 } else { 0.0 };
        let position = |at: &ReachedPosition, PositionLine { at: shown, text }: PositionLine| PositionJson {
            fen: shown.fen(),
            moves: text,
            share: at.share.min(1.0),
            games: at.games,
        };
        let choice = |at: &ReachedPosition| {
            let line = gaps.line(at);
            let plays = plays(book, &line.at).into_iter().map(|play| PlayJson::new(&line.at, play)).collect();
            ChoiceJson { at: position(at, line), plays }
        };
        let rare = |RarePosition { at, positions }: &RarePosition| RareJson {
            at: position(at, gaps.line(at)),
            positions: *positions,
        };
        Self {
            book: name.to_owned(),
            side: gaps.side.to_string(),
            from: gaps.start().position().fen(),
            percent: gaps.answered().map(|share| share * 100.0),
            unknown: percent(gaps.unknown, gaps.asked) / 100.0,
            answered: gaps
                .answers
                .iter()
                .map(|of| AnsweredJson {
                    ply: of.ply,
                    reached: of.reached.min(1.0),
                    percent: percent(of.answered, of.reached),
                })
                .collect(),
            gaps: gaps.gaps.iter().take(most).map(|at| position(at, gaps.line(at))).collect(),
            smaller: SmallerJson { count: gaps.smaller.0, share: gaps.smaller.1 },
            rare: gaps.rare.as_ref().map(|found| found.iter().take(most).map(rare).collect()),
            choices: gaps.choices.iter().take(most).map(choice).collect(),
        }
    }
}
