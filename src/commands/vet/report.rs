//! What `vet` reports: the worst moves, where play leaves the book, and every move as JSON.

use std::io::Write;

use serde::Serialize;
use serde_json::json;
use shakmaty::CastlingMode;

use tabiya_base::error::Result;
use tabiya_base::replace::Replacement;
use tabiya_chess::value::in_words;
use tabiya_chess::{MoveCode, Value};
use tabiya_workshop::vet::{Exits, JudgedBook, Leaving};
use tabiya_workshop::view::{PositionLine, continued, san};

use crate::output::rows::{self, many, percent};
use crate::output::{end_of, screen};

/// How many of the worst moves are listed.
const WORST: usize = 20;

/// Lines that `vet` prints beside them, and columns of a row beside the moves.
const OTHER_LINES: usize = 12;
const OTHER_COLUMNS: usize = 26;

pub(super) struct Report<'a> {
    pub judged: JudgedBook<'a>,
    pub exits: [Exits; 2],
}

/// One of the worst moves.
struct Bad {
    /// Its probability times its loss.
    cost: f64,
    chance: f64,
    loss: u32,
    value: Value,
    number: u32,
    mv: MoveCode,
}

/// What became of the moves.
#[derive(Default)]
pub(super) struct Summary {
    worst: Vec<Bad>,
    moves: u64,
    /// Moves that are no longer played.
    gone: u64,
    /// Moves of which nothing is known.
    unknown: u64,
    /// Positions in which no move is left.
    ended: u64,
}

#[derive(Serialize)]
struct MoveLine<'a> {
    fen: &'a str,
    uci: String,
    san: String,
    loss: Option<u32>,
    value: Option<Value>,
    best: Option<Value>,
    reach: f64,
    chance: f32,
    plays: bool,
    line: String,
}

impl Report<'_> {
    /// The chance of a move in its position.
    fn chance(&self, at: u32, mv: MoveCode) -> f32 {
        let graph = self.judged.graph;
        let mut steps = graph.moves(at).filter_map(|mv| graph.step(at, mv));
        steps.find(|(other, ..)| *other == mv).map_or(0.0, |(_, _, chance, _)| chance)
    }

    /// Sums up what became of the moves.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        let reach = self.judged.graph.reach();
        // An interrupt is noticed when the book is written.
        let _ = self.judged.each(|judged| {
            summary.moves += judged.moves.len() as u64;
            let reach = reach.get(judged.number as usize).copied().unwrap_or_default();
            for (place, facts) in judged.moves.iter().enumerate() {
                let mv = MoveCode::from_move(facts.mv);
                let goes = judged.fates.get(place).is_some_and(|fate| fate.dropped);
                summary.gone += u64::from(goes);
                let (Some(loss), Some(value)) = (judged.worth.loss(facts.mv), judged.worth.get(facts.mv))
                else {
                    summary.unknown += 1;
                    continue;
                };
                let chance = reach * f64::from(self.chance(judged.number, mv));
                let cost = chance * f64::from(loss);
                if cost > 0.0 {
                    summary.worst.push(Bad { cost, chance, loss, value, number: judged.number, mv });
                }
            }
            summary.ended +=
                u64::from(!judged.fates.is_empty() && judged.fates.iter().all(|fate| fate.dropped));
            if summary.worst.len() > WORST * 64 {
                summary.cut();
            }
            Ok(())
        });
        summary.cut();
        summary
    }

    /// The report in lines for people.
    pub fn lines(&self, summary: &Summary) -> Vec<String> {
        let Summary { worst, moves, gone, unknown, ended } = summary;
        let mut lines = vec![format!("{gone} of {} are no longer played", many(*moves, "move"))];
        if *ended > 0 {
            lines.push(format!("the book ends in {} where it had moves", many(*ended, "position")));
        }
        if *unknown > 0 {
            lines.push(format!("kept without an evaluation: {}", many(*unknown, "move")));
        }
        if !worst.is_empty() {
            // What is long is read in the file.
            let screen = screen();
            let rows =
                screen.map_or(WORST, |screen| screen.lines.saturating_sub(OTHER_LINES).clamp(3, WORST));
            let width = screen.map_or(usize::MAX, |screen| screen.columns.saturating_sub(OTHER_COLUMNS));
            let all = if screen.is_some() { " (--report FILE.json has all)" } else { "" };
            lines.push(format!("the worst moves, by chance times loss{all}:"));
            let mut table = rows::table([("chance", true), ("loss", true), ("value", true), ("line", false)]);
            for Bad { chance, loss, value, number, mv, .. } in worst.iter().take(rows) {
                let PositionLine { at, text } = self.line(*number);
                let san = mv.resolve(at.chess()).map(|mv| san(&at, mv)).unwrap_or_default();
                let cells = [percent(*chance), loss.to_string(), in_words(*value)];
                table.add_row(cells.into_iter().chain([end_of(&continued(&text, &at, &san), width)]));
            }
            lines.extend(table.to_string().lines().map(|line| line.trim_end().to_owned()));
        }
        lines.push("where play leaves the book, for the side to move:".to_owned());
        let [before, after] = &self.exits;
        for (side, before, after) in
            [("White", &before.white, &after.white), ("Black", &before.black, &after.black)]
        {
            let words = |leaving: &Leaving| match (leaving.mean, leaving.worst) {
                (Some(mean), Some(worst)) => format!("mean {:+.2}, worst {}", mean / 100.0, in_words(worst)),
                _ => "nothing known".to_owned(),
            };
            lines.push(format!("  {side}: {}; before: {}", words(after), words(before)));
        }
        lines
    }

    /// The line to a position.
    fn line(&self, at: u32) -> PositionLine {
        let positions = self.judged.graph.positions();
        PositionLine::of_variant(positions.variant(), positions.line(at))
    }

    /// Writes every move as JSON.
    ///
    /// # Errors
    /// When the file cannot be written, or the work is interrupted.
    pub fn write(&self, mut file: Replacement) -> Result<()> {
        let (mut out, mut failed) = (Vec::new(), None);
        let side = |leaving: &Leaving| {
            let line = leaving
                .at
                .and_then(|key| self.judged.graph.positions().number(key))
                .map(|at| self.line(at).text);
            json!({
                "positions": leaving.positions, "mean": leaving.mean, "worst": leaving.worst, "line": line,
            })
        };
        let exits = |exits: &Exits| json!({ "white": side(&exits.white), "black": side(&exits.black) });
        let [before, after] = &self.exits;
        let head = json!({ "before": exits(before), "after": exits(after) });
        let _ = write!(out, "{{\"exits\":{head},\"moves\":[");
        let mut first = true;
        let reach = self.judged.graph.reach();
        self.judged.each(|judged| {
            let PositionLine { at, text } = self.line(judged.number);
            for (place, facts) in judged.moves.iter().enumerate() {
                let san = san(&at, facts.mv);
                let line = MoveLine {
                    fen: &at.fen(),
                    uci: facts.mv.to_uci(CastlingMode::Standard).to_string(),
                    line: continued(&text, &at, &san),
                    san,
                    loss: judged.worth.loss(facts.mv),
                    value: judged.worth.get(facts.mv),
                    best: judged.worth.best(),
                    reach: reach.get(judged.number as usize).copied().unwrap_or_default(),
                    chance: self.chance(judged.number, MoveCode::from_move(facts.mv)),
                    plays: judged.fates.get(place).is_some_and(|fate| !fate.dropped),
                };
                let _ = writeln!(out, "{}", if first { "" } else { "," });
                let _ = serde_json::to_writer(&mut out, &line);
                first = false;
            }
            if let Err(error) = file.write_all(&out) {
                failed.get_or_insert(error);
            }
            out.clear();
            Ok(())
        })?;
        let _ = writeln!(out, "\n]}}");
        let written = file.write_all(&out);
        if let Some(error) = failed.or(written.err()) {
            return Err(file.error(error));
        }
        file.commit()
    }
}

impl Summary {
    /// Keeps the worst moves, the worst of them first.
    fn cut(&mut self) {
        self.worst.sort_by(|a, b| b.cost.total_cmp(&a.cost));
        self.worst.truncate(WORST);
    }
}
