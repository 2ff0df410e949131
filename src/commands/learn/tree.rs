//! What a book has learned, line by line, under the names of the openings.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use serde::{Serialize, Serializer};
use shakmaty::{Move, Position as _};

use tabiya_base::error::{Error, Result};
use tabiya_base::map::Map;
use tabiya_book::choose::Policy;
use tabiya_book::choose::by_chance;
use tabiya_book::polyglot::Polyglot;
use tabiya_book::traits::Book as _;
use tabiya_book::traverse::{HeldKeys, Met};
use tabiya_book::{Learned, Moves as _};
use tabiya_chess::openings::Opening;
use tabiya_chess::{MoveCode, Position, Variant};
use tabiya_learn::{self as learn, History};
use tabiya_workshop::view::{number, san};

use super::{Sort, recent};
use crate::output::exit::Exit;
use crate::output::rows::learned;
use crate::output::rows::{self, LongTable, many, percent};
use crate::output::{Printed, columns_of_reader, complain, shortened};

/// The columns, and whether they hold numbers.
const COLUMNS: [(&str, bool); 5] =
    [("line", false), ("move", false), ("weight", true), ("learned", true), ("chance", true)];

/// The fewest characters of a line that are shown.
const MIN_LINE: usize = 12;

/// An entry that has learned.
struct LearnedEntry {
    key: u64,
    mv: MoveCode,
    weight: u16,
    learned: Learned,
    /// Whether it needs no other row: one shows it, or its position was met, and the move is not legal there.
    is_done: bool,
}

/// The entries that have learned, in the order of their keys.
struct Entries {
    all: Vec<LearnedEntry>,
    /// Their keys, and where the entries of each begin.
    keys: HeldKeys,
    starts: Vec<usize>,
}

impl Entries {
    fn new(book: &Polyglot) -> Self {
        let has_learned = book.entries().iter().filter(|entry| entry.games > 0 && entry.learn_is_plausible());
        let mut all: Vec<LearnedEntry> = has_learned
            .map(|entry| LearnedEntry {
                key: entry.key,
                mv: entry.mv,
                weight: entry.weight,
                learned: Learned { games: entry.games.into(), halfpoints: entry.halfpoints.into() },
                is_done: false,
            })
            .collect();
        // A book may be out of order.
        all.sort_by_key(|entry| entry.key);
        let (mut keys, mut starts) = (Vec::new(), Vec::new());
        for (number, entry) in all.iter().enumerate() {
            if keys.last() != Some(&entry.key) {
                keys.push(entry.key);
                starts.push(number);
            }
        }
        Self { keys: keys.into(), starts, all }
    }

    /// Those of a key that are not done.
    fn of_key(&mut self, key: u64) -> impl Iterator<Item = &mut LearnedEntry> {
        let first = self.keys.number(key).and_then(|number| self.starts.get(number).copied());
        let entries = self.all.iter_mut().skip(first.unwrap_or(usize::MAX));
        entries.take_while(move |entry| entry.key == key).filter(|entry| !entry.is_done)
    }
}

/// The heading of the lines whose opening has no name.
const UNNAMED: &str = "without a name";

/// The lines to positions, each as the line before it and the move that this goes on with: of thousands of long games each line
/// as a text of its own would fill the memory. The first line is empty.
#[derive(Default)]
struct Lines {
    /// Where each has its line before it, and where its move begins in `text`.
    steps: Vec<(usize, usize)>,
    text: String,
}

impl Lines {
    /// The number of the line that goes on with a move of its last position.
    fn follow(&mut self, line: usize, at: &Position, mv: Move) -> usize {
        self.steps.push((line, self.text.len()));
        self.text += &number(at, line > 0);
        self.text += &san(at, mv);
        self.steps.len()
    }

    /// A line in words.
    fn words(&self, mut line: usize) -> String {
        let mut moves = Vec::new();
        while let Some(&(before, from)) = line.checked_sub(1).and_then(|at| self.steps.get(at)) {
            let end = self.steps.get(line).map_or(self.text.len(), |(_, end)| *end);
            moves.extend(self.text.get(from..end));
            line = before;
        }
        moves.reverse();
        if moves.is_empty() { "start".to_owned() } else { moves.join(" ") }
    }
}

/// A move that has learned.
#[derive(Clone, Debug)]
struct Row {
    opening: Option<Opening>,
    key: u64,
    /// The number of the line to its position; `None` if no line of the book reaches that.
    line: Option<usize>,
    /// The move in SAN; in UCI if its position is not known.
    mv: String,
    weight: u64,
    learned: Learned,
    /// How likely it is played; `None` if its position is not known.
    chance: Option<f64>,
}

/// The moves of an opening.
struct Group {
    opening: Option<Opening>,
    rows: Vec<Row>,
    sum: Learned,
}

/// Opens a book to show what it has learned.
///
/// # Errors
/// When it cannot be read, or holds something else in place of results.
pub fn open(path: &Path, variant: Variant) -> Result<Polyglot> {
    let book = Polyglot::new(path, Map::open(path)?).of_variant(variant);
    let other = book.entries().iter().position(|entry| !entry.learn_is_plausible());
    other.map_or(Ok(book), |index| Err(learn::other_fields(path, index as u64)))
}

/// Shows the games that were learned last, and every move that has learned, grouped by openings.
pub fn show(book: &Polyglot, history: &History, sort: Sort, out: &mut dyn Write) -> Printed<Exit> {
    let History { games, count, guesses, doubt } = history;
    let (rows, lines) = table_rows(book);
    let groups = grouped(rows, sort);
    let moves: u64 = groups.iter().map(|group| group.rows.len() as u64).sum();
    let have = if moves == 1 { "has" } else { "have" };
    writeln!(
        out,
        "{}: {} {have} learned; the journal knows {}{}",
        book.path().display(),
        many(moves, "entry"),
        many(*count, "game"),
        if *guesses > 0 { format!(", {guesses} of them by a guess") } else { String::new() }
    )?;
    let columns = columns_of_reader().unwrap_or(usize::MAX);
    recent::list(games, columns, out)?;
    if *count > games.len() as u64 {
        writeln!(out, "  and {} before", count - games.len() as u64)?;
    }
    let exit = end(doubt, out)?;
    if moves == 0 {
        return Ok(exit);
    }
    writeln!(out, "all moves: {}", summed(all(&groups)))?;
    let mut table = LongTable::new(COLUMNS);
    for row in groups.iter().flat_map(|group| &group.rows) {
        table.measure(&row.cells(String::new()));
    }
    let room = columns.saturating_sub(table.width() - table.widths[0]).max(MIN_LINE);
    let cells = |row: &Row| row.cells(end_of(&row.line(&lines), room));
    for row in groups.iter().flat_map(|group| &group.rows) {
        table.measure(&cells(row));
    }
    writeln!(out, "{}", table.line(&COLUMNS.map(|(heading, _)| heading)))?;
    for group in &groups {
        let (name, sum) = (group.opening.map_or(UNNAMED, Opening::as_str), summed(group.sum));
        writeln!(out, "{}: {sum}", shortened(name, columns.saturating_sub(sum.chars().count() + 2)))?;
        group.rows.iter().try_for_each(|row| writeln!(out, "{}", table.line(&cells(row))))?;
    }
    Ok(exit)
}

/// The same as one line of JSON.
pub fn json(book: &Polyglot, history: &History, sort: Sort, out: &mut dyn Write) -> Printed<Exit> {
    let (rows, lines) = table_rows(book);
    let groups = grouped(rows, sort);
    let sum = all(&groups);
    let openings = Each::new(&groups, |group| OpeningLine {
        opening: group.opening,
        games: group.sum.games,
        points: points(group.sum),
        moves: Each::new(&group.rows, |row| row.json(&lines)),
    });
    let line = BookLine {
        book: &book.path().to_string_lossy(),
        journal: history.count,
        guesses: history.guesses,
        games: sum.games,
        points: points(sum),
        openings,
    };
    rows::json(&line, out)?;
    end(&history.doubt, out)
}

#[derive(Serialize)]
struct BookLine<'a, L> {
    book: &'a str,
    journal: u64,
    guesses: u64,
    games: u32,
    points: f64,
    openings: L,
}

#[derive(Serialize)]
struct OpeningLine<L> {
    opening: Option<Opening>,
    games: u32,
    points: f64,
    moves: L,
}

#[derive(Serialize)]
struct MoveLine<'a> {
    key: String,
    line: Option<String>,
    #[serde(rename = "move")]
    mv: &'a str,
    weight: u64,
    games: u32,
    points: f64,
    chance: Option<f64>,
}

/// A list whose elements are made one after the other as they are written.
struct Each<'a, T, F>(&'a [T], F);

impl<'a, T, S, F: Fn(&'a T) -> S> Each<'a, T, F> {
    fn new(all: &'a [T], make: F) -> Self {
        Self(all, make)
    }
}

impl<'a, T, S: Serialize, F: Fn(&'a T) -> S> Serialize for Each<'a, T, F> {
    fn serialize<W: Serializer>(&self, to: W) -> Result<W::Ok, W::Error> {
        to.collect_seq(self.0.iter().map(&self.1))
    }
}

/// Reports what is in doubt.
fn end(doubt: &Option<Error>, out: &mut dyn Write) -> Printed<Exit> {
    let Some(doubt) = doubt else { return Ok(Exit::Done) };
    out.flush()?;
    complain(doubt);
    Ok(Exit::Findings)
}

fn points(of: Learned) -> f64 {
    f64::from(of.halfpoints) / 2.0
}

/// A sum in words: each result counts once for each of its moves.
fn summed(of: Learned) -> String {
    let share = points(of) / f64::from(of.games.max(1));
    format!("{} points of {}, {}", points(of), of.games, percent(share))
}

fn all(groups: &[Group]) -> Learned {
    groups.iter().map(|group| group.sum).reduce(Learned::plus).unwrap_or_default()
}

impl Row {
    /// The line to its position.
    fn line(&self, lines: &Lines) -> String {
        self.line.map_or_else(|| format!("position {:016x}", self.key), |line| lines.words(line))
    }

    fn json(&self, lines: &Lines) -> MoveLine<'_> {
        MoveLine {
            key: format!("{:016x}", self.key),
            line: self.line.map(|line| lines.words(line)),
            mv: &self.mv,
            weight: self.weight,
            games: self.learned.games,
            points: points(self.learned),
            chance: self.chance,
        }
    }

    fn cells(&self, line: String) -> [String; 5] {
        [
            line,
            self.mv.clone(),
            self.weight.to_string(),
            learned(self.learned),
            self.chance.map_or_else(|| "-".to_owned(), percent),
        ]
    }

    fn score(&self) -> f64 {
        points(self.learned) / f64::from(self.learned.games.max(1))
    }
}

/// The rows of each opening together: in the order in which the openings come first, or by games or scores.
fn grouped(rows: Vec<Row>, sort: Sort) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places = HashMap::new();
    for row in rows {
        let place = *places.entry(row.opening).or_insert_with(|| {
            groups.push(Group { opening: row.opening, rows: Vec::new(), sum: Learned::default() });
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(place) {
            group.sum = group.sum.plus(row.learned);
            group.rows.push(row);
        }
    }
    // Stable: what is equal stays in the order of play.
    match sort {
        Sort::Line => {}
        Sort::Games => {
            groups.iter_mut().for_each(|group| group.rows.sort_by_key(|row| Reverse(row.learned.games)));
            groups.sort_by_key(|group| Reverse(group.sum.games));
        }
        Sort::Score => {
            groups.iter_mut().for_each(|group| group.rows.sort_by(|a, b| a.score().total_cmp(&b.score())));
            let score = |group: &Group| points(group.sum) / f64::from(group.sum.games.max(1));
            groups.sort_by(|a, b| score(a).total_cmp(&score(b)));
        }
    }
    groups
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

/// The rows of the table: moves that can be reached from the start, in the order of play, then the others.
fn table_rows(book: &Polyglot) -> (Vec<Row>, Lines) {
    let mut entries = Entries::new(book);
    let (mut rows, mut lines) = (Vec::new(), Lines::default());
    let mut policy = Policy::default();
    (policy.learn, policy.threshold) = (true, 0);
    let mut seen = Met::default();
    let mut open = vec![(Position::start_of(book.variant()), 0, None)];
    while let Some((position, line, before)) = open.pop() {
        if !seen.insert(&position) {
            continue;
        }
        let opening = Opening::at(&position).or(before);
        let mut next = Vec::new();
        if entries.of_key(position.key()).next().is_some() {
            for (known, chance) in by_chance(book, &position, &policy, |_| true) {
                let Some(has_learned) = known.learned else { continue };
                let codes = MoveCode::codes(known.mv, position.chess());
                next.push(known.mv);
                let of_move = entries.of_key(position.key()).filter(|entry| codes.contains(&entry.mv));
                let found = of_move.map(|entry| entry.is_done = true).count();
                // Another position of this key may have shown it.
                if found == 0 && !position.is_known_by_key() {
                    continue;
                }
                rows.push(Row {
                    opening,
                    key: position.key(),
                    line: Some(line),
                    mv: san(&position, known.mv),
                    weight: known.weight,
                    learned: has_learned,
                    chance: Some(chance),
                });
            }
            // And another one may have the others.
            if position.is_known_by_key() {
                entries.of_key(position.key()).for_each(|entry| entry.is_done = true);
            }
        }
        let replies = position.chess().legal_moves();
        let into_book = replies.iter().filter(|mv| entries.of_key(position.key_after(**mv)).next().is_some());
        next.extend(into_book.copied());
        // The last one pushed is popped first.
        for mv in next.into_iter().rev() {
            let after = position.after(mv);
            if !seen.contains(&after) {
                open.push((after, lines.follow(line, &position, mv), opening));
            }
        }
    }
    let named = book.variant() == Variant::Chess;
    for entry in entries.all.into_iter().filter(|entry| !entry.is_done) {
        rows.push(Row {
            opening: named.then(|| Opening::with_key(entry.key)).flatten(),
            key: entry.key,
            line: None,
            mv: entry.mv.to_string(),
            weight: entry.weight.into(),
            learned: entry.learned,
            chance: None,
        });
    }
    (rows, lines)
}

#[cfg(test)]
mod tests {
    use tabiya_chess::Game;

    use super::*;

    #[test]
    fn rows_are_grouped_by_openings_in_the_order_of_play() {
        let opening = |mv: &str| {
            let mut game = Game::start();
            assert!(mv.is_empty() || game.push_uci(mv.as_bytes()));
            Opening::from_game(&game)
        };
        let row = |mv: &str, text: &str, halfpoints: u32| Row {
            opening: opening(mv),
            key: 0,
            line: None,
            mv: text.to_owned(),
            weight: 0,
            learned: Learned { games: 2 + halfpoints % 2, halfpoints },
            chance: None,
        };
        let rows = || {
            let moves = [
                ("", "0", 4),
                ("e2e4", "1", 1),
                ("d2d4", "2", 2),
                ("e2e4", "3", 0),
                ("", "4", 3),
                ("d2d4", "5", 2),
            ];
            moves.map(|(mv, text, halfpoints)| row(mv, text, halfpoints)).to_vec()
        };
        let order = |sort| {
            let groups = grouped(rows(), sort);
            let moves =
                groups.iter().flat_map(|group| &group.rows).map(|row| row.mv.as_str()).collect::<String>();
            (groups.iter().map(|group| group.opening.map(Opening::eco)).collect::<Vec<_>>(), moves)
        };
        assert_eq!(order(Sort::Line), (vec![None, Some("B00"), Some("A40")], "041325".to_owned()));
        assert_eq!(order(Sort::Games), (vec![None, Some("B00"), Some("A40")], "401325".to_owned()));
        assert_eq!(order(Sort::Score), (vec![Some("B00"), Some("A40"), None], "312540".to_owned()));
        assert_eq!(all(&grouped(rows(), Sort::Line)), Learned { games: 14, halfpoints: 12 });
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
