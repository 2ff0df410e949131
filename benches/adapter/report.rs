//! The table of figures with their targets.

use std::time::Duration;

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};

use crate::lab::Who;

/// A figure for each process, its target, and whether it was reached.
pub struct Row {
    figure: String,
    cells: [String; 4],
    ratio: String,
    target: String,
    verdict: Option<bool>,
}

impl Row {
    /// A figure without values yet.
    pub fn new(figure: impl Into<String>) -> Self {
        let nothing = || "-".to_owned();
        Self {
            figure: figure.into(),
            cells: [nothing(), nothing(), nothing(), nothing()],
            ratio: nothing(),
            target: nothing(),
            verdict: None,
        }
    }

    /// Sets the figure of a process.
    pub fn cell(&mut self, who: Who, text: impl Into<String>) {
        self.cells[who as usize] = text.into();
    }

    /// Sets the value that is compared, its target, and whether it was reached.
    pub fn verdict(&mut self, ratio: impl Into<String>, target: impl Into<String>, reached: bool) {
        self.ratio = ratio.into();
        self.target = target.into();
        self.verdict = Some(reached);
    }
}

/// Prints the table.
pub fn print(rows: &[Row]) {
    let mut table = Table::new();
    table
        .load_style(ASCII_MARKDOWN)
        .set_header(["figure", "bare", "copying", "tabiya", "PolyGlot", "ratio", "target", ""]);
    for row in rows {
        let verdict = match row.verdict {
            Some(true) => "ok",
            Some(false) => "missed",
            None => "",
        };
        let [bare, relay, tabiya, polyglot] = &row.cells;
        table.add_row([&row.figure, bare, relay, tabiya, polyglot, &row.ratio, &row.target, verdict]);
    }
    for column in table.column_iter_mut().skip(1).take(5) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!("{table}");
}

/// Times that were measured.
#[derive(Default)]
pub struct Samples(Vec<Duration>);

impl Samples {
    /// Adds a time.
    pub fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// The percentile: the time that this many in a hundred do not exceed.
    pub fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() * percent / 100).copied().unwrap_or_default()
    }

    /// The median.
    pub fn median(&self) -> Duration {
        self.percentile(50)
    }

    /// Median and spread in microseconds.
    pub fn micros(&self) -> String {
        let at = |percent| self.percentile(percent).as_secs_f64() * 1e6;
        format!("{:.1} ({:.1}-{:.1})", at(50), at(10), at(90))
    }

    /// Median and spread in milliseconds.
    pub fn millis(&self) -> String {
        let at = |percent| self.percentile(percent).as_secs_f64() * 1e3;
        format!("{:.2} ({:.2}-{:.2})", at(50), at(10), at(90))
    }
}
