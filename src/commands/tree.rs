//! `tabiya tree`: a book's lines as a tree.

use std::io::{self, Write};
use std::path::PathBuf;

use tabiya_base::error::Result;
use tabiya_book::Recommendation;
use tabiya_book::traverse::Replies;
use tabiya_chess::openings::Opening;
use tabiya_chess::value::in_words;
use tabiya_chess::{Game, Position};
use tabiya_workshop::values::Look as Evals;
use tabiya_workshop::view::number;

use crate::args::positions::{Positions, each_position};
use crate::args::screens::{MOVES, Screen, VARIANT};
use crate::args::variant::{VariantArgs, open_book};
use crate::output::exit::Exit;
use crate::output::lines::{BookLines, LineStep, mark};
use crate::output::store::backed_up;
use crate::output::{self, Look, pager};

/// If the book's own moves reach more positions than this, replies that it does not have are not followed: a book for both
/// sides has few of them, and they are not worth reading a huge book for.
const MAX_OWN: usize = 1 << 18;

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "tree",
    shown: &[
        ("book", ""),
        ("moves", MOVES),
        ("fen", ""),
        ("plies", ""),
        ("store", "Show what moves lose, by the evaluations in this store"),
        ("variant", VARIANT),
    ],
    examples: &["tabiya tree book.bin --moves \"1. d4 Nf6\" --plies 8"],
    pages: &[("look-into-a-book.md", "")],
}];

/// Show a book's lines as a tree
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The book
    #[arg(value_name = "BOOK")]
    book: PathBuf,
    #[command(flatten)]
    positions: Positions,
    #[command(flatten)]
    variant: VariantArgs,
    /// How many plies to follow
    #[arg(long, value_name = "N", default_value_t = 6)]
    plies: u32,
    /// Show what each move is worth and what it loses, by minimax over the book from the evaluations in this store
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

/// Prints the lines from the position, each with the name of its opening where that changes. A reply that is not in the book but leads back into it is marked.
///
/// # Errors
/// When the book cannot be read, or the position is not valid.
pub fn run(args: &Args) -> Result<Exit> {
    let book = open_book(&args.book, args.variant.variant())?;
    book.warnings().iter().for_each(|warning| output::warn(warning));
    let look = Look::of_stdout();
    let evals = args.store.as_ref().map(|store| backed_up(store, &*book)).transpose()?;
    pager::print_paged(|out| {
        let mut known = true;
        each_position(&args.positions, args.variant.variant(), |game, _| {
            let lines = BookLines::new(&*book, Replies::within(MAX_OWN));
            known &= tree(lines, args.plies, game, (look, evals.as_ref()), out)?;
            Ok(())
        })?;
        Ok(if known { Exit::Done } else { Exit::Findings })
    })
}

/// The signs of a tree: before a branch, before the last branch, and before the branches under each of the two.
const UNICODE: [&str; 4] = ["├─ ", "└─ ", "│  ", "   "];
const ASCII: [&str; 4] = ["|- ", "`- ", "|  ", "   "];

/// A branch that is still to be drawn.
struct Branch {
    before: String,
    last: bool,
    from: Position,
    step: LineStep,
    plies: u32,
    /// The opening of the line before the branch.
    opening: Option<Opening>,
}

/// Draws the tree; `false` if the book does not know the position.
fn tree(
    mut lines: BookLines<'_>,
    depth: u32,
    game: &Game,
    (look, evals): (Look, Option<&Evals>),
    out: &mut dyn Write,
) -> io::Result<bool> {
    let (at, opening) = (game.position(), Opening::from_game(game));
    let mut moves_from =
        |at: &Position, plies| if plies < depth { lines.moves_from(at) } else { (Vec::new(), false) };
    writeln!(out, "{}", at.fen())?;
    if let Some(opening) = opening {
        writeln!(out, "{opening}")?;
    }
    let [branch, last, under, under_last] = if look.unicode { UNICODE } else { ASCII };
    let (steps, _) = moves_from(at, 0);
    if steps.is_empty() {
        writeln!(out, "the book does not know this position, or --plies 0 follows no move")?;
        return Ok(false);
    }
    let mut waiting = Vec::new();
    push(&mut waiting, "", at, opening, steps, 1);
    while let Some(Branch { before, last: is_last, from, step, plies, opening }) = waiting.pop() {
        write!(out, "{before}{}", if is_last { last } else { branch })?;
        let worth = of_worth(evals, &from, &step);
        write!(out, "{}{}{}{worth}", number(&from, false), label(&step, look), statistics(&step))?;
        // Moves without alternatives continue the line.
        let mut named = Opening::at(&step.after).or(opening);
        let (mut at, mut plies) = (step.after, plies);
        let steps = loop {
            let (mut steps, seen) = moves_from(&at, plies);
            if seen {
                write!(out, "  (see above)")?;
            }
            if steps.len() != 1 {
                break steps;
            }
            let Some(only) = steps.pop() else { break steps };
            let worth = of_worth(evals, &at, &only);
            write!(out, "  {}{}{worth}", number(&at, true), label(&only, look))?;
            at = only.after;
            named = Opening::at(&at).or(named);
            plies += 1;
        };
        if let Some(name) = named.filter(|_| named != opening) {
            write!(out, "  ({name})")?;
        }
        writeln!(out)?;
        let before = before + if is_last { under_last } else { under };
        push(&mut waiting, &before, &at, named, steps, plies + 1);
    }
    Ok(true)
}

/// Pushes branches so that the first is drawn first.
fn push(
    waiting: &mut Vec<Branch>,
    before: &str,
    from: &Position,
    opening: Option<Opening>,
    steps: Vec<LineStep>,
    plies: u32,
) {
    let count = steps.len();
    for (index, step) in steps.into_iter().enumerate().rev() {
        let last = index + 1 == count;
        waiting.push(Branch { before: before.to_owned(), last, from: from.clone(), step, plies, opening });
    }
}

/// A move with its mark, in its color.
fn label(step: &LineStep, look: Look) -> String {
    let reply = if step.reply { " (reply)" } else { "" };
    let mark = mark(step.known.annotation);
    let space = if mark.starts_with('[') { " " } else { "" };
    let text = format!("{}{space}{mark}{reply}", step.san);
    match step.known.recommended.filter(|_| look.colour) {
        // ANSI's codes for green and red.
        Some(Recommendation::Green) => format!("\x1b[32m{text}\x1b[0m"),
        Some(Recommendation::Red) => format!("\x1b[31m{text}\x1b[0m"),
        None => text,
    }
}

/// The share and the games of a move that the book has.
fn statistics(step: &LineStep) -> String {
    if step.reply {
        return String::new();
    }
    let games = step.known.counts.map_or(String::new(), |counts| format!(", {} games", counts.games));
    match step.known.weight {
        0 => format!(" never{games}"),
        _ => format!(" {:.1} %{games}", step.share * 100.0),
    }
}

/// What a move is worth, and what it loses against the best.
fn of_worth(evals: Option<&Evals>, from: &Position, step: &LineStep) -> String {
    let Some(evals) = evals else { return String::new() };
    let worth = evals.worth(from, &[step.known]);
    match (worth.get(step.known.mv).map(in_words), worth.loss(step.known.mv)) {
        (Some(value), Some(0)) => format!(" {value}"),
        (Some(value), Some(loss)) => format!(" {value} (-{loss})"),
        _ => " ?".to_owned(),
    }
}
