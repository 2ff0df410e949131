//! What a book has learned, line by line.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;

use shakmaty::{Move, Position as _};

use super::recent;
use crate::book::polyglot::Polyglot;
use crate::book::{Book as _, Learned};
use crate::chess::Position;
use crate::choose::Policy;
use crate::cli::output::exit::Exit;
use crate::cli::output::facts::learned;
use crate::cli::output::lines::{by_chance, number, san};
use crate::cli::output::rows::{self, many, percent};
use crate::cli::output::{Printed, columns, complain};
use crate::learn::History;

/// The columns, and whether they hold numbers.
const COLUMNS: [(&str, bool); 5] =
    [("line", false), ("move", false), ("weight", true), ("learned", true), ("chance", true)];

/// The fewest characters of a line that are shown.
const LINE_MIN: usize = 12;

/// The learned entries of positions, by key: the text of the move, its weight, and what it has learned.
type Entries = BTreeMap<u64, Vec<(String, u16, Learned)>>;

/// Shows the games that were learned last, and every move that has learned.
pub fn show(book: &Polyglot, history: &History, out: &mut dyn Write) -> Printed<Exit> {
    let History { games, count, doubt } = history;
    let entries = entries(book);
    let moves = entries.values().map(Vec::len).sum::<usize>() as u64;
    let have = if moves == 1 { "has" } else { "have" };
    writeln!(
        out,
        "{}: {} {have} learned; the journal knows {}",
        book.path().display(),
        many(moves, "entry"),
        many(*count, "game")
    )?;
    let columns = columns();
    recent::list(games, columns, out)?;
    if *count > games.len() as u64 {
        writeln!(out, "  and {} before", count - games.len() as u64)?;
    }
    let exit = match doubt {
        Some(doubt) => {
            out.flush()?;
            complain(doubt);
            Exit::Findings
        }
        None => Exit::Done,
    };
    if moves == 0 {
        return Ok(exit);
    }
    let mut table = rows::table(COLUMNS);
    let rows = table_rows(entries, book);
    let widest = |(column, (heading, _)): (usize, &(&str, bool))| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        // With a blank on each side.
        cells.max().unwrap_or_default().max(heading.len()) + 2
    };
    let others: usize = COLUMNS.iter().enumerate().skip(1).map(widest).sum();
    let room = columns.saturating_sub(others + 2);
    for mut row in rows {
        row[0] = end_of(&row[0], room.max(LINE_MIN));
        table.add_row(row);
    }
    writeln!(out, "{}", table.trim_fmt())?;
    Ok(exit)
}

/// The end of a line that has more than `most` characters: whole moves.
fn end_of(line: &str, most: usize) -> String {
    let excess = line.chars().count().saturating_sub(most);
    if excess == 0 {
        return line.to_owned();
    }
    let from = line.char_indices().nth(excess + 4).map_or(line.len(), |(at, _)| at);
    let rest = line.get(from..).unwrap_or_default();
    format!("... {}", rest.split_once(' ').map_or(rest, |(_, rest)| rest))
}

fn entries(book: &Polyglot) -> Entries {
    let mut entries = Entries::new();
    for entry in book.entries().iter().filter(|entry| entry.games > 0 && entry.learn_is_plausible()) {
        let learned = Learned { games: entry.games.into(), halfpoints: entry.halfpoints.into() };
        entries.entry(entry.key).or_default().push((entry.mv.to_string(), entry.weight, learned));
    }
    entries
}

/// The rows of the table: moves that can be reached from the start, in the order of play, then the others.
fn table_rows(mut entries: Entries, book: &Polyglot) -> Vec<[String; 5]> {
    let mut rows = Vec::new();
    let policy = Policy { learn: true, threshold: 0, ..Policy::default() };
    let mut seen = HashSet::new();
    let mut open = vec![(Position::start(), String::new())];
    while let Some((position, line)) = open.pop() {
        if !seen.insert(position.key()) {
            continue;
        }
        let mut next = Vec::new();
        if entries.remove(&position.key()).is_some() {
            for (known, chance) in by_chance(book, &position, &policy, |_| true) {
                let Some(has_learned) = known.learned else { continue };
                rows.push([
                    if line.is_empty() { "start".to_owned() } else { line.clone() },
                    san(&position, known.mv),
                    known.weight.to_string(),
                    learned(has_learned),
                    percent(chance),
                ]);
                next.push(known.mv);
            }
        }
        let replies = position.chess().legal_moves();
        let into_book = replies.iter().filter(|mv| entries.contains_key(&position.after(**mv).key()));
        next.extend(into_book.copied());
        // The last one pushed is popped first.
        for mv in next.into_iter().rev() {
            let after = position.after(mv);
            if !seen.contains(&after.key()) {
                let line = continued(&line, &position, mv);
                open.push((after, line));
            }
        }
    }
    for (key, moves) in entries {
        for (mv, weight, has_learned) in moves {
            let position = format!("position {key:016x}");
            rows.push([position, mv, weight.to_string(), learned(has_learned), "-".to_owned()]);
        }
    }
    rows
}

/// A line with one more move.
pub(super) fn continued(line: &str, position: &Position, mv: Move) -> String {
    let blank = if line.is_empty() { "" } else { " " };
    format!("{line}{blank}{}{}", number(position, !line.is_empty()), san(position, mv))
}

#[cfg(test)]
mod tests {
    use super::end_of;

    #[test]
    fn the_end_of_a_long_line_is_shown() {
        let line = "1. e4 e5 2. Nf3 Nc6 3. Bb5";
        assert_eq!(end_of(line, 26), line);
        assert_eq!(end_of(line, 20), "... Nf3 Nc6 3. Bb5");
        assert_eq!(end_of(line, 12), "... 3. Bb5");
        for most in 12..30 {
            assert!(end_of(line, most).len() <= most, "{most}");
        }
        assert_eq!(end_of("", 12), "");
    }
}
