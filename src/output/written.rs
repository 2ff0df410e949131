//! What commands that write a book have in common.

use std::path::Path;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::interrupt;
use tabiya_book::{OldJournal, Written};
use tabiya_search::Evaluated;
use tabiya_workshop::bookmaker::Merged;

use super::exit::Exit;
use super::rows::{agreed, many};
use super::warn;

/// How many positions that could not be evaluated are listed.
const MAX_LISTED: usize = 10;

/// Why positions that no line reaches are left out of a book that needs positions.
pub const KEYS_ONLY: &str = "the book holds only their keys";

/// How work ends that gives its files their names at its end: one that is interrupted says that nothing was written.
///
/// # Errors
/// As the work.
pub(crate) fn whole(done: Result<Exit>) -> Result<Exit> {
    done.map_err(|error| interrupt::after("nothing was written", error))
}

/// What was left out, in lines for people.
pub fn left_out(written: &Written) -> Vec<String> {
    let counted = |verb: &str, counts: &[(String, u64)]| -> Vec<String> {
        counts.iter().map(|(what, count)| format!("{verb}: {}", agreed(*count, what))).collect()
    };
    [counted("left out", &written.left_out), counted("changed", &written.changed)].concat()
}

/// What was written and what was left out, in lines for people.
pub fn lines(written: &Written) -> Vec<String> {
    let mut lines = left_out(written);
    if written.moves == 0 {
        return lines;
    }
    if written.lost_weights > 0 {
        let moves = many(written.lost_weights, "move");
        lines.push(format!(
            "left out: weights of {moves} that do not follow from the results (--green turns them into colors)"
        ));
    }
    if written.greens > 0 {
        let (moves, are) = (many(written.greens, "move"), if written.greens == 1 { "is" } else { "are" });
        lines.push(format!(
            "{moves} {are} marked green: those with at least half the weight of the heaviest in the position \
             (--green changes that)"
        ));
    }
    let names: Vec<_> = written.files.iter().map(|file| file.display().to_string()).collect();
    lines.extend(written.old_journal.as_ref().map(old_journal));
    let (positions, moves) = (many(written.positions, "position"), many(written.moves, "move"));
    lines.push(format!("{}: {positions}, {moves}", names.join(", ")));
    lines
}

/// What becomes of the journal of the book that was replaced.
fn old_journal(old: &OldJournal) -> String {
    let knows = format!("{} and {}", many(old.games, "learned game"), many(old.edits, "edit"));
    let file = old.file.display();
    if old.is_moved {
        format!(
            "{file}: the journal of the book that was replaced, with {knows}; the new book begins another"
        )
    } else {
        format!(
            "{file}: this journal belongs to the book that was replaced, and could not be renamed: move it away \
             before you edit the new book or it learns"
        )
    }
}

/// What merging left out, in lines for people; `why` says it of positions that no line reaches.
pub(crate) fn merged_lines(merged: &Merged, why: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if merged.unreached > 0 {
        lines.push(format!(
            "left out: {} of {}, which no line from the starting position reaches ({why})",
            many(merged.unreached, "position"),
            merged.read + merged.unreached,
        ));
    }
    if merged.unplaced > 0 {
        let positions = many(merged.unplaced, "position");
        lines.push(format!("left out: {positions} with more pieces than a game can have"));
    }
    if merged.ruled_out > 0 {
        let moves = many(merged.ruled_out, "move");
        lines.push(format!("left out: {moves} that colors or marks rule out: the format has neither"));
    }
    if merged.never > 0 {
        let moves = many(merged.never, "move");
        let whose = if merged.never == 1 { "its factor rules" } else { "their factors rule" };
        lines.push(format!("left out: {moves} that {whose} out: the format has none"));
    }
    if merged.factors > 0 {
        let moves = many(merged.factors, "move");
        lines.push(format!("left out: factors of {moves}: the format has none"));
    }
    if merged.remarks > 0 {
        let positions = many(merged.remarks, "position");
        lines.push(format!("left out: comments, flags and ratings of {positions}: the format has none"));
    }
    lines
}

/// Reports that a command has written this file before the error with which it ends.
pub(crate) fn before_error(path: &Path) {
    warn(&format!("{}: written before the error", path.display()));
}

/// The error of a command that has written `path` before it: an interrupt says what is written in these words, and before any other
/// error a line does.
pub(crate) fn in_part(path: &Path, words: &str, error: Error) -> Error {
    if error.kind() == ErrorKind::Interrupted {
        return interrupt::after(words, error);
    }
    before_error(path);
    error
}

/// Reports that nothing was written, why, and what to do. A file that existed before is unchanged.
pub fn nothing(output: &Path, what: &str, advice: Option<&str>) -> Exit {
    let advice = advice.map_or_else(String::new, |advice| format!(": {advice}"));
    warn(&format!("{}: not written: {what}{advice}", output.display()));
    Exit::Findings
}

/// That some positions were not evaluated yet, if so.
pub fn cut(evaluated: &Evaluated) -> Option<String> {
    let what = "the time was up before all positions were evaluated; the next run goes on";
    evaluated.cut.then(|| what.to_owned())
}

/// Reports what could not be evaluated.
pub fn not_evaluated(evaluated: &Evaluated) {
    for (at, why) in evaluated.skipped.iter().take(MAX_LISTED) {
        warn(&format!("{}: not evaluated: {why}", at.fen()));
    }
    if let Some(more) = evaluated.skipped.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
        warn(&format!("{} more not evaluated", many(more as u64, "position")));
    }
}
