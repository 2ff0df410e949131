//! A book's lines as a tree in JSON, with the keys of `show --json` and of `export`.

use std::io::{self, Write};

use serde::Serialize;

use tabiya_book::Scope;
use tabiya_book::traits::Book;
use tabiya_book::traverse::HeldKeys;
use tabiya_chess::Position;
use tabiya_chess::openings::Opening;
use tabiya_workshop::view::{Facts, uci};

use super::Entries;
use super::pgn::Coverage;
use crate::output::Printed;
use crate::output::lines::{BookLines, LineStep};

/// Plies of a tree; longer lines go on in a tree of their own. A ply is two levels of JSON, and readers of other programs take 128.
const DEEPEST: usize = 50;

/// What is said of a position.
#[derive(Serialize)]
struct Node<'a> {
    #[serde(flatten)]
    by: Option<By<'a>>,
    key: String,
    fen: String,
    opening: Option<Opening>,
    comment: Option<String>,
    transposes: bool,
}

/// The move that leads to it.
#[derive(Serialize)]
struct By<'a> {
    uci: String,
    san: &'a str,
    in_book: bool,
    weight: Option<u64>,
    share: Option<f64>,
    #[serde(flatten)]
    facts: Facts<'a, shakmaty::Move>,
}

/// What is still to be written.
enum Task {
    /// A position after a move, at this depth; whether others were written before it.
    Move { from: Position, step: Box<LineStep>, depth: usize, is_first: bool },
    /// The end of the moves of a position.
    End,
}

/// A tree that begins where another one ended.
type Later = Vec<(Position, Vec<LineStep>)>;

/// Writes one object with all trees: that of the starting position, those of lines that are longer, and with [`Scope::All`] those of the
/// positions that it does not reach. The moves of each position are written once.
///
/// # Errors
/// When `out` cannot be written, or the work is interrupted.
pub fn trees(book: &dyn Book, scope: Scope, out: &mut dyn Write) -> Printed<Entries> {
    let coverage = Coverage::from_book(book)?;
    let name = book.path().file_name().unwrap_or_default().to_string_lossy();
    let head = serde_json::json!({
        "book": name, "format": book.format().name(), "variant": book.variant().uci(),
    });
    write!(out, "{},\"trees\":[", open(&head)?)?;
    let (mut count, mut written) = (0, 0);
    let (_, left_out) = coverage.each_tree(book, scope, |lines, at, within| {
        let (steps, _) = lines.moves_from(at);
        let mut later: Later = vec![(at.clone(), steps)];
        while let Some((at, steps)) = later.pop() {
            out.write_all(if count > 0 { b",\n" } else { b"\n" })?;
            count += 1;
            let mut tree = Tree { book, within, later: &mut later, written: &mut written };
            tree.write(lines, &at, steps, out)?;
        }
        Ok(())
    })?;
    writeln!(out, "\n]}}")?;
    Ok(Entries { count: written, kind: "position", left_out })
}

/// A value as an object that is not ended.
fn open(value: &impl Serialize) -> io::Result<String> {
    let mut text = serde_json::to_string(value)?;
    text.pop();
    Ok(text)
}

/// A tree that is being written.
struct Tree<'a> {
    book: &'a dyn Book,
    within: Option<&'a HeldKeys>,
    later: &'a mut Later,
    written: &'a mut u64,
}

impl Tree<'_> {
    fn write(
        &mut self,
        lines: &mut BookLines<'_>,
        at: &Position,
        steps: Vec<LineStep>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut tasks = Vec::new();
        self.open(at, None, false, out)?;
        push(&mut tasks, at, steps, 1);
        while let Some(task) = tasks.pop() {
            let Task::Move { from, step, depth, is_first } = task else {
                out.write_all(b"]}")?;
                continue;
            };
            if !is_first {
                out.write_all(b",")?;
            }
            let after = step.after.clone();
            let (steps, seen) = match self.within {
                Some(keys) if !keys.contains(after.key()) => (Vec::new(), lines.saw(after.key())),
                _ => lines.moves_from(&after),
            };
            let is_later = depth >= DEEPEST && !steps.is_empty();
            self.open(&after, Some((&from, &step)), seen || is_later, out)?;
            if is_later {
                self.later.push((after, steps));
                out.write_all(b"]}")?;
            } else {
                push(&mut tasks, &after, steps, depth + 1);
            }
        }
        Ok(())
    }

    /// Writes what is said of a position, up to its moves.
    fn open(
        &mut self,
        at: &Position,
        by: Option<(&Position, &LineStep)>,
        transposes: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        *self.written += 1;
        let by = by.map(|(from, step)| By {
            uci: uci(from, step.known.mv),
            san: &step.san,
            in_book: !step.reply,
            weight: (!step.reply).then_some(step.known.weight),
            share: (!step.reply).then_some(step.share),
            facts: Facts(&step.known),
        });
        let comment = self.book.as_remarks().and_then(|remarks| remarks.comment(at));
        let (key, fen) = (format!("{:016x}", at.whole_key()), at.fen());
        let node = Node { by, key, fen, opening: Opening::at(at), comment, transposes };
        write!(out, "{},\"moves\":[", open(&node)?)
    }
}

/// Pushes a position's moves and their end, the last to be written first.
fn push(tasks: &mut Vec<Task>, at: &Position, steps: Vec<LineStep>, depth: usize) {
    tasks.push(Task::End);
    for (number, step) in steps.into_iter().enumerate().rev() {
        tasks.push(Task::Move { from: at.clone(), step: Box::new(step), depth, is_first: number == 0 });
    }
}
