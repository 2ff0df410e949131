//! What a book has learned, line by line.

use std::collections::{HashMap, HashSet};
use std::io::Write;

use comfy_table::{CellAlignment, Table, presets};
use shakmaty::san::SanPlus;
use shakmaty::{Move, Position as _};

use super::recent;
use crate::book::polyglot::Polyglot;
use crate::book::{Book as _, Learned, MoveFacts};
use crate::bookmaker::report::many;
use crate::chess::Position;
use crate::choose::{Policy, chances};
use crate::cli::output::exit::Exit;
use crate::cli::output::{Stop, columns, complain};
use crate::learn::History;

/// The columns.
const HEADINGS: [&str; 5] = ["line", "move", "weight", "learned", "chance"];

/// Characters of a line that are shown at least.
const LINE_MIN: usize = 12;

/// Shows the games that were learned last, of so many, and every move that has learned.
pub fn show(book: &Polyglot, history: &History, out: &mut dyn Write) -> Result<Exit, Stop> {
    let History { games, count, doubt } = history;
    let name = book.path().display();
    let tree = Tree::of(book);
    let moves = many(tree.moves, "entry has", "entries have");
    writeln!(out, "{name}: {moves} learned; the journal knows {}", many(*count, "game", "games"))?;
    let columns = columns();
    recent::list(games, columns, out)?;
    if *count > games.len() as u64 {
        writeln!(out, "  and {} before", count - games.len() as u64)?;
    }
    let exit = match doubt {
        Some(doubt) => {
            out.flush()?;
            complain(doubt);
            Exit::Wanting
        }
        None => Exit::Done,
    };
    if tree.moves == 0 {
        return Ok(exit);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(HEADINGS);
    table.force_no_tty();
    for index in [2, 3, 4] {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let rows = tree.rows(book);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        // With a blank on each side.
        cells.max().unwrap_or_default().max(HEADINGS.get(column).map_or(0, |heading| heading.len())) + 2
    };
    let room = columns.saturating_sub((1..HEADINGS.len()).map(widest).sum::<usize>() + 2);
    for mut row in rows {
        row[0] = end_of(&row[0], room.max(LINE_MIN));
        table.add_row(row);
    }
    writeln!(out, "{}", table.trim_fmt())?;
    Ok(exit)
}

/// The end of a line, where it has more characters than that: whole moves.
fn end_of(line: &str, most: usize) -> String {
    let excess = line.chars().count().saturating_sub(most);
    if excess == 0 {
        return line.to_owned();
    }
    let from = line.char_indices().nth(excess + 4).map_or(line.len(), |(at, _)| at);
    let rest = line.get(from..).unwrap_or_default();
    format!("... {}", rest.split_once(' ').map_or(rest, |(_, rest)| rest))
}

/// The positions that have learned.
struct Tree {
    learned: HashSet<u64>,
    /// What each has learned, as the file has it: the move's text, its weight, and what it learned.
    raw: HashMap<u64, Vec<(String, u16, Learned)>>,
    moves: u64,
}

impl Tree {
    fn of(book: &Polyglot) -> Self {
        let mut tree = Self { learned: HashSet::new(), raw: HashMap::new(), moves: 0 };
        for entry in book.entries().iter().filter(|entry| entry.games > 0 && entry.learn_is_plausible()) {
            let learned = Learned { games: entry.games.into(), halfpoints: entry.halfpoints.into() };
            tree.learned.insert(entry.key);
            tree.raw.entry(entry.key).or_default().push((entry.mv.to_string(), entry.weight, learned));
            tree.moves += 1;
        }
        tree
    }

    /// The moves that have learned: those that play reaches from the start in the order of play, then the others.
    fn rows(mut self, book: &Polyglot) -> Vec<[String; 5]> {
        let mut rows = Vec::new();
        let policy = Policy { learn: true, threshold: 0, ..Policy::default() };
        let mut seen = HashSet::new();
        let mut open = vec![(Position::start(), String::new())];
        while let Some((position, text)) = open.pop() {
            if !seen.insert(position.key()) {
                continue;
            }
            let mut next = Vec::new();
            if self.learned.contains(&position.key()) {
                let (mut moves, mut shares) = (Vec::new(), Vec::new());
                book.moves(&position, &mut moves);
                chances(&moves, &policy, |_| true, &mut shares);
                let mut known: Vec<(MoveFacts, f64)> = moves.into_iter().zip(shares).collect();
                known
                    .sort_by(|(a, first), (b, second)| second.total_cmp(first).then(b.weight.cmp(&a.weight)));
                for (known, chance) in known {
                    let Some(learned) = known.learned else { continue };
                    let san = san(&position, known.mv);
                    rows.push([
                        if text.is_empty() { "start".to_owned() } else { text.clone() },
                        san,
                        known.weight.to_string(),
                        score(learned),
                        format!("{:.1}%", chance * 100.0),
                    ]);
                    next.push(known.mv);
                }
                self.raw.remove(&position.key());
            }
            let replies = position.chess().legal_moves();
            let reach = replies.iter().filter(|mv| self.learned.contains(&position.after(**mv).key()));
            next.extend(reach.copied());
            // The last one put down is taken up first.
            for mv in next.into_iter().rev() {
                let after = position.after(mv);
                if !seen.contains(&after.key()) {
                    let text = numbered(&text, &position, mv);
                    open.push((after, text));
                }
            }
        }
        let mut rest: Vec<_> = self.raw.into_iter().collect();
        rest.sort_by_key(|(key, _)| *key);
        for (key, moves) in rest {
            for (mv, weight, learned) in moves {
                let place = format!("position {key:016x}");
                rows.push([place, mv, weight.to_string(), score(learned), "-".to_owned()]);
            }
        }
        rows
    }
}

fn san(position: &Position, mv: Move) -> String {
    SanPlus::from_move(position.chess().clone(), mv).to_string()
}

/// A line with one more move.
pub(super) fn numbered(line: &str, position: &Position, mv: Move) -> String {
    let san = san(position, mv);
    let number = position.chess().fullmoves();
    match (line.is_empty(), position.chess().turn().is_white()) {
        (true, true) => format!("{number}. {san}"),
        (true, false) => format!("{number}... {san}"),
        (false, true) => format!("{line} {number}. {san}"),
        (false, false) => format!("{line} {san}"),
    }
}

fn score(learned: Learned) -> String {
    format!("{}/{}", f64::from(learned.halfpoints) / 2.0, learned.games)
}

#[cfg(test)]
mod tests {
    use super::end_of;

    #[test]
    fn of_a_line_that_is_too_long_the_last_moves_are_shown() {
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
