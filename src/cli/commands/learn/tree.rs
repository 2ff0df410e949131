//! What a book has learned, line by line, under the names of the openings.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;

use shakmaty::Position as _;

use super::recent;
use crate::book::polyglot::Polyglot;
use crate::book::{Book as _, Learned};
use crate::chess::Position;
use crate::choose::Policy;
use crate::cli::output::exit::Exit;
use crate::cli::output::facts::learned;
use crate::cli::output::rows::{self, many, percent};
use crate::cli::output::{Printed, columns, complain};
use crate::learn::History;
use crate::openings::Opening;
use crate::view::{by_chance, continued, san};

/// The columns, and whether they hold numbers.
const COLUMNS: [(&str, bool); 5] =
    [("line", false), ("move", false), ("weight", true), ("learned", true), ("chance", true)];

/// The fewest characters of a line that are shown.
const LINE_MIN: usize = 12;

/// The learned entries of positions, by key: the text of the move, its weight, and what it has learned.
type Entries = BTreeMap<u64, Vec<(String, u16, Learned)>>;

/// The heading of the lines whose opening has no name.
const UNNAMED: &str = "without a name";

/// A row: its opening, and its cells.
type Row = (Option<Opening>, [String; 5]);

/// Shows the games that were learned last, and every move that has learned, grouped by openings.
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
    let rows = grouped(table_rows(entries, book));
    let widest = |(column, (heading, _)): (usize, &(&str, bool))| {
        let cells = rows.iter().filter_map(|(_, row)| row.get(column)).map(|cell| cell.chars().count());
        // With a blank on each side.
        cells.max().unwrap_or_default().max(heading.len()) + 2
    };
    let others: usize = COLUMNS.iter().enumerate().skip(1).map(widest).sum();
    let room = columns.saturating_sub(others + 2);
    let openings: Vec<_> = rows.iter().map(|(opening, _)| *opening).collect();
    for (_, mut row) in rows {
        row[0] = end_of(&row[0], room.max(LINE_MIN));
        table.add_row(row);
    }
    let text = table.trim_fmt();
    let mut lines = text.lines();
    lines.by_ref().take(1).try_for_each(|heading| writeln!(out, "{heading}"))?;
    let mut last = None;
    for (line, opening) in lines.zip(openings) {
        if last.replace(opening) != Some(opening) {
            writeln!(out, "{}", opening.map_or(UNNAMED, Opening::as_str))?;
        }
        writeln!(out, "{line}")?;
    }
    Ok(exit)
}

/// The rows of each opening together, in the order in which the openings come first.
fn grouped(mut rows: Vec<Row>) -> Vec<Row> {
    let mut places = HashMap::new();
    for (opening, _) in &rows {
        let next = places.len();
        places.entry(*opening).or_insert(next);
    }
    // Stable: the rows of an opening stay in the order of play.
    rows.sort_by_key(|(opening, _)| places.get(opening).copied());
    rows
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
fn table_rows(mut entries: Entries, book: &Polyglot) -> Vec<Row> {
    let mut rows = Vec::new();
    let policy = Policy { learn: true, threshold: 0, ..Policy::default() };
    let mut seen = HashSet::new();
    let mut open = vec![(Position::start(), String::new(), None)];
    while let Some((position, line, before)) = open.pop() {
        if !seen.insert(position.key()) {
            continue;
        }
        let opening = Opening::at(&position).or(before);
        let mut next = Vec::new();
        if entries.remove(&position.key()).is_some() {
            for (known, chance) in by_chance(book, &position, &policy, |_| true) {
                let Some(has_learned) = known.learned else { continue };
                let cells = [
                    if line.is_empty() { "start".to_owned() } else { line.clone() },
                    san(&position, known.mv),
                    known.weight.to_string(),
                    learned(has_learned),
                    percent(chance),
                ];
                rows.push((opening, cells));
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
                let line = continued(&line, &position, &san(&position, mv));
                open.push((after, line, opening));
            }
        }
    }
    for (key, moves) in entries {
        for (mv, weight, has_learned) in moves {
            let position = format!("position {key:016x}");
            let cells = [position, mv, weight.to_string(), learned(has_learned), "-".to_owned()];
            rows.push((Opening::with_key(key), cells));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Game;

    #[test]
    fn rows_are_grouped_by_openings_in_the_order_of_play() {
        let opening = |mv: &str| {
            let mut game = Game::start();
            assert!(mv.is_empty() || game.push_uci(mv.as_bytes()));
            Opening::of(&game)
        };
        let row = |mv: &str, text: &str| (opening(mv), [text, "", "", "", ""].map(str::to_owned));
        let rows = vec![
            row("", "0"),
            row("e2e4", "1"),
            row("d2d4", "2"),
            row("e2e4", "3"),
            row("", "4"),
            row("d2d4", "5"),
        ];
        let lines: Vec<_> = grouped(rows).into_iter().map(|(opening, [text, ..])| (opening, text)).collect();
        let names = [None, None, Some("B00"), Some("B00"), Some("A40"), Some("A40")];
        assert_eq!(lines.iter().map(|(opening, _)| opening.map(Opening::eco)).collect::<Vec<_>>(), names);
        assert_eq!(lines.iter().map(|(_, text)| &**text).collect::<String>(), "041325");
    }

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
