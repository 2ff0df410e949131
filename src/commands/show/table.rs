//! A position and its book moves as a table for people.

use std::io::{self, Write};

use comfy_table::{Cell, Color};

use tabiya_book::{MoveFacts, Recommendation, Weights};
use tabiya_chess::Game;
use tabiya_chess::openings::Opening;
use tabiya_chess::value::in_words;
use tabiya_workshop::view::{View, san};

use super::board;
use crate::output::rows::learned;
use crate::output::rows::{self, many, percent};
use crate::output::{Look, columns_of_reader, shortened};

/// What is printed if a book has nothing to say, and as the chance of moves that are not playable.
const NOTHING: &str = "-";

/// A column: its heading, whether it holds numbers, and its text for a move.
type Column = (&'static str, bool, fn(&View<'_>, &MoveFacts, f64) -> Option<String>);

/// What a move loses: by values that are backed up, or else by those of the positions after the moves.
fn loss(view: &View<'_>, known: &MoveFacts) -> Option<u32> {
    view.worth.as_ref().unwrap_or(&view.losses).loss(known.mv)
}

/// The width of a line if neither the environment nor a terminal limits it.
const WIDTH: usize = 80;

/// Columns that are left out, in this order, until the table fits into a line.
const OPTIONAL: [&str; 5] = ["perf", "rating", "uci", "draws", "losses"];

/// The columns; one that is empty for all moves is left out.
const COLUMNS: [Column; 16] = [
    ("move", false, |view, known, _| Some(san(view.game.position(), known.mv))),
    ("uci", false, |view, known, _| Some(known.mv.to_uci(view.mode).to_string())),
    ("weight", true, |_, known, _| Some(known.weight.to_string())),
    ("chance", true, |_, _, chance| Some(if chance > 0.0 { percent(chance) } else { NOTHING.to_owned() })),
    ("value", true, |view, known, _| view.worth.as_ref()?.get(known.mv).map(in_words)),
    ("loss", true, |view, known, _| loss(view, known).map(|loss| loss.to_string())),
    ("games", true, |_, known, _| known.counts.map(|counts| counts.games.to_string())),
    ("wins", true, |_, known, _| known.counts.map(|counts| counts.wins.to_string())),
    ("draws", true, |_, known, _| known.counts.map(|counts| counts.draws.to_string())),
    ("losses", true, |_, known, _| known.counts.map(|counts| counts.losses.to_string())),
    ("score", true, |_, known, _| score(known)),
    ("rating", true, |_, known, _| known.ratings?.average.map(|rating| rating.to_string())),
    ("perf", true, |_, known, _| known.ratings?.performance.map(|rating| rating.to_string())),
    ("mark", false, |_, known, _| mark(known)),
    ("factor", true, |_, known, _| known.factor.map(|factor| format!("{factor:+}"))),
    ("learned", true, |_, known, _| known.learned.map(learned)),
];

/// Columns whose text is in the book's color of the move.
const COLOURED: [&str; 2] = ["move", "mark"];

/// The fewest characters of a name that are worth a column.
const MIN_NAME: usize = 16;

/// Writes the position with the name of its opening, and with a picture on a terminal.
pub fn place(game: &Game, look: Look, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", game.position().fen())?;
    if let Some(opening) = Opening::from_game(game) {
        writeln!(out, "{opening}")?;
    }
    if look.terminal {
        board::picture(game.position().chess(), look, out)?;
    }
    Ok(())
}

/// Writes what a book has in the position, and a blank line.
pub fn book(view: &View<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let all = many(view.moves.len() as u64, "move");
    let playable = view.moves.iter().filter(|(_, chance)| *chance > 0.0).count();
    let by_games = if view.weights == Weights::Games { ", by games" } else { "" };
    let summary = match view.line {
        Some(plies) => format!("{playable} of {all}{by_games}, line ends in {}", many(plies.into(), "ply")),
        None if !view.moves.is_empty() => format!("none of {all} may be played: {}", view.refused),
        None if view.comment.is_some() || view.reference.is_some() => "has no moves here".to_owned(),
        None => "does not know this position".to_owned(),
    };
    if let Some(number) = view.asked.and_then(|asked| asked.rule) {
        write!(out, "rule {number}: ")?;
    }
    writeln!(out, "{} ({}): {summary}", view.book.path().display(), view.book.format())?;
    if view.line.is_some() && !view.refused.is_empty() {
        writeln!(out, " not played: {}", view.refused)?;
    }
    let game = view.reference.as_ref().map(ToString::to_string);
    // The name of the opening stands above already.
    let comment =
        view.comment.as_ref().filter(|text| view.opening.is_none_or(|known| known.as_str() != **text));
    for text in comment.into_iter().chain(&game) {
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
    let width = columns_of_reader().unwrap_or(WIDTH);
    let widest = |used: &[&Column], more| {
        let plain = Look { colour: false, ..look };
        table(view, used, &[], plain, more).lines().map(|line| line.chars().count()).max().unwrap_or_default()
    };
    let more = u16::from(widest(&used, 1) <= width);
    for name in OPTIONAL {
        if widest(&used, more) <= width {
            break;
        }
        used.retain(|(other, ..)| *other != name);
    }
    let room = width.saturating_sub(widest(&used, more) + 1 + usize::from(more));
    let names = if room < MIN_NAME { Vec::new() } else { names(view, room) };
    writeln!(out, "{}\n", table(view, &used, &names, look, more))
}

/// The names of the openings that the moves lead to, in no more than `room` characters; none if no move changes the name. If
/// one is too long, the opening that the position has already is left out of all, before they are shortened.
fn names(view: &View<'_>, room: usize) -> Vec<String> {
    let here = view.opening.map(Opening::name);
    let named = |(known, _): &(MoveFacts, f64)| {
        let name = Opening::at(&view.game.position().after(known.mv)).map(Opening::name);
        name.filter(|_| name != here)
    };
    let mut named: Vec<_> = view.moves.iter().map(named).collect();
    if named.iter().all(Option::is_none) {
        return Vec::new();
    }
    if named.iter().flatten().any(|name| name.chars().count() > room) {
        let family = here.and_then(|name| name.split(": ").next());
        for name in named.iter_mut().flatten() {
            *name = name
                .split_once(": ")
                .filter(|(start, _)| family == Some(start))
                .map_or(*name, |(_, rest)| rest);
        }
    }
    named.into_iter().map(|name| shortened(name.unwrap_or(NOTHING), room)).collect()
}

/// A table of these columns, and of the moves' openings if there are any, with `more` than one blank between them.
fn table(view: &View<'_>, used: &[&Column], names: &[String], look: Look, more: u16) -> String {
    let last = (!names.is_empty()).then_some(("opening", false));
    let mut table = rows::table(used.iter().map(|(name, is_number, _)| (*name, *is_number)).chain(last));
    if look.colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    for column in table.column_iter_mut() {
        column.set_padding((1, more));
    }
    for (index, (known, chance)) in view.moves.iter().enumerate() {
        let colour = known.recommended.filter(|_| look.colour);
        let cells = used.iter().map(|(name, _, text)| {
            let cell = Cell::new(text(view, known, *chance).unwrap_or_else(|| NOTHING.to_owned()));
            match colour.filter(|_| COLOURED.contains(name)) {
                Some(Recommendation::Green) => cell.fg(Color::Green),
                Some(Recommendation::Red) => cell.fg(Color::Red),
                None => cell,
            }
        });
        table.add_row(cells.chain(names.get(index).map(Cell::new)));
    }
    table.trim_fmt()
}

/// The mover's score in the games that have a result.
fn score(known: &MoveFacts) -> Option<String> {
    let counts = known.counts?;
    let ended = counts.wins.checked_add(counts.draws)?.checked_add(counts.losses)?;
    (ended > 0).then(|| percent((counts.wins as f64 + counts.draws as f64 / 2.0) / ended as f64))
}

/// The author's mark and the color.
fn mark(known: &MoveFacts) -> Option<String> {
    match (known.annotation.map(|mark| mark.as_str()), known.recommended.map(Recommendation::as_str)) {
        (Some(mark), Some(colour)) => Some(format!("{mark} {colour}")),
        (mark, colour) => mark.or(colour).map(str::to_owned),
    }
}
