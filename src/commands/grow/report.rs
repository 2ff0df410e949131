//! What `grow` reports: how far games go in the book, and every position that was searched as JSON.

use std::io::Write;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use shakmaty::CastlingMode;

use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::replace::Replacement;
use tabiya_book::Moves as _;
use tabiya_chess::value::in_words;
use tabiya_chess::{MoveCode, Value};
use tabiya_workshop::grow::{Figures, Grown, Play};
use tabiya_workshop::view::{PositionLine, san};

use crate::output::rows::{many, percent};

/// How much time passes between two entries of the history, at least, and as a share of the time before.
const BETWEEN: (Duration, u32) = (Duration::from_secs(1), 50);

/// How the book has grown.
#[derive(Debug, Default)]
pub(super) struct History {
    entries: Vec<serde_json::Value>,
    last: Option<Duration>,
}

impl History {
    /// Whether it is time for an entry.
    pub fn is_due(&self, now: Duration) -> bool {
        self.last.is_none_or(|last| now >= last + BETWEEN.0.max(last / BETWEEN.1))
    }

    /// Adds an entry.
    pub fn add(&mut self, now: Duration, searches: u64, grown: &Grown<'_>) {
        self.last = Some(now);
        let sides: Vec<_> = grown.plays().iter().map(Play::figures).collect();
        self.entries.push(json!({ "seconds": now.as_secs(), "searches": searches, "sides": sides }));
    }
}

/// What is reported.
pub(super) struct Report<'a> {
    pub grown: &'a Grown<'a>,
    /// Searches that were made.
    pub searched: u64,
    /// Searches that were known.
    pub known: u64,
    pub history: History,
}

/// A move of a position.
#[derive(Serialize)]
struct MoveJson {
    uci: String,
    san: String,
    value: Option<Value>,
    chance: f64,
}

impl Report<'_> {
    /// The report in lines for people.
    pub fn lines(&self) -> Vec<String> {
        let line = |play: &Play<'_>| {
            let Figures { side, positions, covered, plies, value } = play.figures();
            let side = if side.is_white() { "White" } else { "Black" };
            let worth = value
                .map_or_else(String::new, |value| format!(" is worth {} at the start,", in_words(value)));
            format!(
                "{side}{worth} has a move in {}, and answers {} of what the opponent plays; a game leaves the book after {plies:.1} plies",
                many(positions, "position"),
                percent(covered),
            )
        };
        self.grown.plays().iter().map(line).collect()
    }

    /// Writes every position that was searched as JSON.
    ///
    /// # Errors
    /// When the file cannot be written, or the work is interrupted.
    pub fn write(&self, mut file: Replacement) -> Result<()> {
        let sides: Vec<_> = self.grown.plays().iter().map(Play::figures).collect();
        let (searched, known, history) = (self.searched, self.known, &self.history.entries);
        let mut out = Vec::new();
        let _ = write!(
            out,
            "{{\"searched\":{searched},\"known\":{known},\"sides\":{},\"history\":{},\"positions\":[",
            json!(sides),
            json!(history)
        );
        let (mut first, mut moves, variant) = (true, Vec::new(), self.grown.variant());
        for play in self.grown.plays() {
            for number in play.searched() {
                interrupt::check()?;
                let PositionLine { at, text } = PositionLine::of_variant(variant, play.line(number));
                let uci =
                    |mv: MoveCode| Some(mv.resolve(at.chess())?.to_uci(CastlingMode::Standard).to_string());
                play.moves(number, &mut moves);
                let mv = |(mv, value, chance): &(MoveCode, Option<Value>, f64)| {
                    let san = san(&at, mv.resolve(at.chess())?);
                    Some(MoveJson { uci: uci(*mv)?, san, value: *value, chance: *chance })
                };
                let moves: Vec<_> = moves.iter().filter_map(mv).collect();
                let last = play.last(number);
                let position = json!({
                    "fen": at.fen(), "side": play.side().to_string(), "value": play.value(number), "reach": play.reach(number),
                    "from_book": play.is_from_book(number),
                    "search": last.map(|last| json!({ "uci": uci(last.best), "value": last.value })),
                    "moves": moves, "line": text,
                });
                let _ = write!(out, "{}{position}", if first { "\n" } else { ",\n" });
                first = false;
                file.write_all(&out).map_err(|error| file.error(error))?;
                out.clear();
            }
        }
        let _ = writeln!(out, "\n]}}");
        file.write_all(&out).map_err(|error| file.error(error))?;
        file.commit()
    }
}
