//! `tabiya tree`: a book's lines as a tree.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::base::error::Result;
use crate::book;
use crate::chess::Position;
use crate::cli::args::positions::{Positions, each_position};
use crate::cli::output::exit::Exit;
use crate::cli::output::lines::{Lines, Replies, Step, mark, number};
use crate::cli::output::{self, Look, Stop};

/// Positions that the book's own moves may reach where replies that it does not have are to be followed: a book for both
/// sides has few such replies, and none is worth reading a huge book for.
const MOST_OWN: usize = 1 << 18;

/// `tabiya tree`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The book
    #[arg(value_name = "BOOK")]
    book: PathBuf,
    #[command(flatten)]
    positions: Positions,
    /// Half-moves that are followed
    #[arg(long, value_name = "N", default_value_t = 6)]
    depth: u32,
}

/// Prints the lines that go on from the position. A reply that the book does not have, and that leads back into it, is
/// marked as one.
///
/// # Errors
/// When the book cannot be read, or the position is none.
pub fn run(args: &Args) -> Result<Exit> {
    let book = book::open(&args.book)?;
    let look = Look::of_stdout();
    output::print(|out| {
        let mut known = true;
        each_position(&args.positions, &mut |game, _| {
            let mut lines = Lines::new(&*book, args.depth, Replies::Within(MOST_OWN));
            known &= tree(&mut lines, game.position(), look, out)?;
            Ok::<_, Stop>(())
        })?;
        Ok(if known { Exit::Done } else { Exit::Wanting })
    })
}

/// What draws the branches: a branch, the last one, and what stands before the branches behind each.
struct Branches([&'static str; 4]);

const UNICODE: Branches = Branches(["├─ ", "└─ ", "│  ", "   "]);
const ASCII: Branches = Branches(["|- ", "`- ", "|  ", "   "]);

/// A branch that waits to be drawn.
struct Branch {
    before: String,
    last: bool,
    from: Position,
    step: Step,
    plies: u32,
}

/// Draws the tree; `false` where the book does not know the position.
fn tree(lines: &mut Lines<'_>, at: &Position, look: Look, out: &mut dyn Write) -> io::Result<bool> {
    writeln!(out, "{}", at.fen())?;
    let Branches([branch, last, under, under_last]) = if look.unicode { UNICODE } else { ASCII };
    let (steps, _) = lines.go_on(at, 0);
    if steps.is_empty() {
        writeln!(out, "the book does not know this position, or no move of it is to be followed")?;
        return Ok(false);
    }
    let mut waiting = Vec::new();
    wait(&mut waiting, "", at, steps, 1);
    while let Some(Branch { before, last: is_last, from, step, plies }) = waiting.pop() {
        write!(out, "{before}{}", if is_last { last } else { branch })?;
        write!(out, "{}{}", number(&from, false), label(&step, look))?;
        // A line without a choice stays on its line.
        let (mut at, mut plies) = (step.after, plies);
        let steps = loop {
            let (mut steps, seen) = lines.go_on(&at, plies);
            if seen {
                write!(out, "  (see above)")?;
            }
            if steps.len() != 1 {
                break steps;
            }
            let Some(only) = steps.pop() else { break steps };
            write!(out, "  {}{}", number(&at, true), label_of_only(&only, look))?;
            at = only.after;
            plies += 1;
        };
        writeln!(out)?;
        let before = before + if is_last { under_last } else { under };
        wait(&mut waiting, &before, &at, steps, plies + 1);
    }
    Ok(true)
}

/// Puts branches aside, so that the first is drawn first.
fn wait(waiting: &mut Vec<Branch>, before: &str, from: &Position, steps: Vec<Step>, plies: u32) {
    let count = steps.len();
    for (index, step) in steps.into_iter().enumerate().rev() {
        let last = index + 1 == count;
        waiting.push(Branch { before: before.to_owned(), last, from: from.clone(), step, plies });
    }
}

/// A move with its share and its games.
fn label(step: &Step, look: Look) -> String {
    if step.reply {
        return label_of_only(step, look);
    }
    let games = step.known.counts.map_or(String::new(), |counts| format!(", {} games", counts.games));
    let share =
        if step.known.weight == 0 { "never".to_owned() } else { format!("{:.1} %", step.share * 100.0) };
    format!("{} {share}{games}", label_of_only(step, look))
}

/// A move with its mark, in its colour.
fn label_of_only(step: &Step, look: Look) -> String {
    let reply = if step.reply { " (reply)" } else { "" };
    let text = format!("{}{}{reply}", step.san, mark(step.known.annotation));
    match step.known.recommended.filter(|_| look.colour) {
        // Green and red as ANSI terminals write them.
        Some(true) => format!("\x1b[32m{text}\x1b[0m"),
        Some(false) => format!("\x1b[31m{text}\x1b[0m"),
        None => text,
    }
}
