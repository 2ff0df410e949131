//! A position and its book moves as a table for people.

use std::io::{self, Write};

use comfy_table::{Cell, Color, Table};

use super::{View, board};
use crate::book::MoveFacts;
use crate::chess::Game;
use crate::cli::output::Look;
use crate::cli::output::facts::{colour, learned};
use crate::cli::output::lines::san;
use crate::cli::output::rows::{self, many, percent};

/// What is printed if a book has nothing to say, and as the chance of moves that are not playable.
const NOTHING: &str = "-";

/// A column: its heading, whether it holds numbers, and its text for a move.
type Column = (&'static str, bool, fn(&View<'_>, &MoveFacts, f64) -> Option<String>);

/// The width of a line if standard output is not a terminal.
const WIDTH: usize = 80;

/// Columns that are left out, in this order, until the table fits into a line.
const OPTIONAL: [&str; 5] = ["perf", "rating", "uci", "draws", "losses"];

/// The columns; one that is empty for all moves is left out.
const COLUMNS: [Column; 13] = [
    ("move", false, |view, known, _| Some(san(view.game.position(), known.mv))),
    ("uci", false, |view, known, _| Some(known.mv.to_uci(view.mode).to_string())),
    ("weight", true, |_, known, _| Some(known.weight.to_string())),
    ("chance", true, |_, _, chance| Some(if chance > 0.0 { percent(chance) } else { NOTHING.to_owned() })),
    ("games", true, |_, known, _| known.counts.map(|counts| counts.games.to_string())),
    ("wins", true, |_, known, _| known.counts.map(|counts| counts.wins.to_string())),
    ("draws", true, |_, known, _| known.counts.map(|counts| counts.draws.to_string())),
    ("losses", true, |_, known, _| known.counts.map(|counts| counts.losses.to_string())),
    ("score", true, |_, known, _| score(known)),
    ("rating", true, |_, known, _| known.ratings?.average.map(|rating| rating.to_string())),
    ("perf", true, |_, known, _| known.ratings?.performance.map(|rating| rating.to_string())),
    ("mark", false, |_, known, _| mark(known)),
    ("learned", true, |_, known, _| known.learned.map(learned)),
];

/// Columns whose text is in the book's colour of the move.
const COLOURED: [&str; 2] = ["move", "mark"];

/// Writes the position, with a picture on a terminal.
pub fn place(game: &Game, look: Look, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", game.position().fen())?;
    if look.terminal {
        board::picture(game.position().chess(), look, out)?;
    }
    Ok(())
}

/// Writes what a book has in the position, and a blank line.
pub fn book(view: &View<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let all = many(view.moves.len() as u64, "move");
    let playable = view.moves.iter().filter(|(_, chance)| *chance > 0.0).count();
    let summary = match view.line {
        Some(plies) => format!("{playable} of {all}, line ends in {}", many(plies.into(), "ply")),
        None if !view.moves.is_empty() => format!("none of {all} may be played"),
        None if view.opening.is_some() || view.reference.is_some() => "has no moves here".to_owned(),
        None => "does not know this position".to_owned(),
    };
    if let Some(number) = view.asked.and_then(|asked| asked.rule) {
        write!(out, "rule {number}: ")?;
    }
    writeln!(out, "{} ({}): {summary}", view.book.path().display(), view.book.format())?;
    let game = view.reference.as_ref().map(ToString::to_string);
    for text in view.opening.iter().chain(&game) {
        // It comes from a file.
        writeln!(out, " {}", text.replace(char::is_control, " "))?;
    }
    if view.moves.is_empty() {
        return writeln!(out);
    }
    let is_used = |(_, _, text): &&Column| {
        view.moves.iter().any(|(known, chance)| text(view, known, *chance).is_some())
    };
    let mut used: Vec<&Column> = COLUMNS.iter().filter(is_used).collect();
    let width = Table::new().width().map_or(WIDTH, usize::from);
    let fits = |used: &[&Column], more| {
        let plain = Look { colour: false, ..look };
        table(view, used, plain, more).lines().all(|line| line.chars().count() <= width)
    };
    let more = u16::from(fits(&used, 1));
    for name in OPTIONAL {
        if fits(&used, more) {
            break;
        }
        used.retain(|(other, ..)| *other != name);
    }
    writeln!(out, "{}\n", table(view, &used, look, more))
}

/// A table of these columns, with `more` than one blank between them.
fn table(view: &View<'_>, used: &[&Column], look: Look, more: u16) -> String {
    let mut table = rows::table(used.iter().map(|(name, is_number, _)| (*name, *is_number)));
    if look.colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    for column in table.column_iter_mut() {
        column.set_padding((1, more));
    }
    for (known, chance) in &view.moves {
        let green = known.recommended.filter(|_| look.colour);
        table.add_row(used.iter().map(|(name, _, text)| {
            let cell = Cell::new(text(view, known, *chance).unwrap_or_else(|| NOTHING.to_owned()));
            match green.filter(|_| COLOURED.contains(name)) {
                Some(green) => cell.fg(if green { Color::Green } else { Color::Red }),
                None => cell,
            }
        }));
    }
    table.trim_fmt()
}

/// The mover's score in the games that have a result.
fn score(known: &MoveFacts) -> Option<String> {
    let counts = known.counts?;
    let ended = counts.wins.checked_add(counts.draws)?.checked_add(counts.losses)?;
    (ended > 0).then(|| percent((counts.wins as f64 + counts.draws as f64 / 2.0) / ended as f64))
}

/// The author's mark and the colour.
fn mark(known: &MoveFacts) -> Option<String> {
    match (known.annotation.map(|mark| mark.as_str()), known.recommended.map(colour)) {
        (Some(mark), Some(colour)) => Some(format!("{mark} {colour}")),
        (mark, colour) => mark.or(colour).map(str::to_owned),
    }
}
