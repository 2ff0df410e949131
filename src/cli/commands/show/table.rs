//! A position and its book moves for people.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, Color, Table, presets};
use shakmaty::san::SanPlus;

use super::{View, board};
use crate::book::MoveFacts;
use crate::bookmaker::report::many;
use crate::chess::Game;
use crate::cli::output::Look;

/// What stands where a book says nothing, and before moves that may not be played.
const NOTHING: &str = "-";

/// A column: its heading, whether numbers stand in it, and its text for a move.
type Column = (&'static str, bool, fn(&View<'_>, &MoveFacts, f64) -> Option<String>);

/// Columns that a line holds where nobody says how wide it is.
const WIDTH: usize = 80;

/// Columns that are left out, one after the other, where a line is too narrow for all.
const LEAST: [&str; 5] = ["perf", "rating", "uci", "draws", "losses"];

/// The columns; one that no move has anything for is left out.
const COLUMNS: [Column; 13] = [
    ("move", false, |view, known, _| {
        Some(SanPlus::from_move(view.game.position().chess().clone(), known.mv).to_string())
    }),
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
    ("learned", true, |_, known, _| {
        known.learned.map(|learned| format!("{}/{}", f64::from(learned.halfpoints) / 2.0, learned.games))
    }),
];

/// Writes the position, with its picture where somebody looks.
pub fn place(game: &Game, look: Look, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", game.position().fen())?;
    if look.terminal {
        board::picture(game.position().chess(), look, out)?;
    }
    Ok(())
}

/// Columns whose text is written in the book's colour of the move.
const COLOURED: [&str; 2] = ["move", "mark"];

/// Writes what one book has there, and a blank line behind it; a move's colour is shown where colours may be used.
pub fn book(view: &View<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let (path, format) = (view.book.path().display(), view.book.format());
    let playable = view.moves.iter().filter(|(_, chance)| *chance > 0.0).count();
    match (view.moves.len(), view.line) {
        (0, _) => {
            let known = view.opening.is_some() || view.linked.is_some();
            let what = if known { "has no moves here" } else { "does not know this position" };
            writeln!(out, "{path} ({format}): {what}")?;
            words(view, out)?;
            return writeln!(out);
        }
        (all, None) => {
            writeln!(out, "{path} ({format}): none of {} may be played", many(all as u64, "move", "moves"))?
        }
        (all, Some(plies)) => {
            let line = many(plies as u64, "ply", "plies");
            writeln!(
                out,
                "{path} ({format}): {playable} of {}, line ends in {line}",
                many(all as u64, "move", "moves")
            )?;
        }
    }
    words(view, out)?;
    let used = COLUMNS
        .iter()
        .filter(|(_, _, text)| view.moves.iter().any(|(known, chance)| text(view, known, *chance).is_some()));
    let mut used: Vec<&Column> = used.collect();
    let width = Table::new().width().map_or(WIDTH, usize::from);
    let mut text = table(view, &used, look, 1);
    if !fits(&text, width) {
        text = table(view, &used, look, 0);
    }
    for least in LEAST {
        if fits(&text, width) {
            break;
        }
        used.retain(|(name, ..)| *name != least);
        text = table(view, &used, look, 0);
    }
    writeln!(out, "{text}\n")
}

/// Whether no line of a table is wider than this; what colours it has no width.
fn fits(text: &str, width: usize) -> bool {
    let plain = |line: &str| {
        let mut inside = false;
        let shown = line.chars().filter(|&c| {
            let hidden = inside || c == '\x1b';
            inside = hidden && c != 'm';
            !hidden
        });
        shown.count()
    };
    text.lines().all(|line| plain(line) <= width)
}

/// A table of these columns, with so many blanks more than one between them.
fn table(view: &View<'_>, used: &[&Column], look: Look, more: u16) -> String {
    let mut table = Table::new();
    if look.colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table.load_style(presets::NOTHING).set_header(used.iter().map(|(name, ..)| *name));
    for (known, chance) in &view.moves {
        let colour = known.recommended.filter(|_| look.colour);
        let colour = colour.map(|green| if green { Color::Green } else { Color::Red });
        let cells = used.iter().map(|(name, _, text)| {
            let cell = Cell::new(text(view, known, *chance).unwrap_or_else(|| NOTHING.to_owned()));
            match colour.filter(|_| COLOURED.contains(name)) {
                Some(colour) => cell.fg(colour),
                None => cell,
            }
        });
        table.add_row(cells);
    }
    for (column, (_, number, _)) in table.column_iter_mut().zip(used) {
        column.set_padding((1, more));
        if *number {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// What the book says of the position besides its moves.
fn words(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    if let Some(opening) = &view.opening {
        writeln!(out, " {}", opening.replace(char::is_control, " "))?;
    }
    match &view.linked {
        Some(game) => writeln!(out, " {}", game.to_string().replace(char::is_control, " ")),
        None => Ok(()),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// The mover's score over the games that ended.
fn score(known: &MoveFacts) -> Option<String> {
    let counts = known.counts?;
    let ended = counts.wins.checked_add(counts.draws)?.checked_add(counts.losses)?;
    (ended > 0).then(|| percent((counts.wins as f64 + counts.draws as f64 / 2.0) / ended as f64))
}

/// The author's mark and the colour.
fn mark(known: &MoveFacts) -> Option<String> {
    let colour = known.recommended.map(|green| if green { "green" } else { "red" });
    match (known.annotation.map(|mark| mark.as_str()), colour) {
        (Some(mark), Some(colour)) => Some(format!("{mark} {colour}")),
        (mark, colour) => mark.or(colour).map(str::to_owned),
    }
}
