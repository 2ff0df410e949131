//! A book's lines as one game in PGN, a tree of variations.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::ops::ControlFlow;

use crate::base::progress::Progress;
use crate::book::tour::{Keys, own_lines};
use crate::book::{Annotation, Book, Scope};
use crate::chess::Position;
use crate::chess::normal::forms;
use crate::cli::lines::{Lines, Replies, Step, number};

/// Characters of a line, as the standard's export format has them.
const WIDTH: usize = 80;

/// What is still to be written.
enum Task {
    /// A bracket.
    Bracket(&'static str),
    /// A move, with its number in any case or only where one must stand.
    Move { from: Position, step: Box<Step>, numbered: bool },
    /// The moves of a position.
    Moves { at: Position, plies: u32, numbered: bool },
}

/// Writes the tree. Each position is followed once; where a line comes to it again it ends, and says so. Gives how many
/// moves of the book are not in it, because no line reaches their positions.
pub fn tree(book: &dyn Book, out: &mut dyn Write) -> io::Result<u64> {
    let own = own_lines(book, usize::MAX).unwrap_or_default();
    let missing = Missing::of(book, &own);
    let replies = if missing.0.is_empty() { Replies::None } else { Replies::Beyond(own) };
    let name = book.path().file_name().unwrap_or_default().to_string_lossy().replace(['"', '\\'], "'");
    writeln!(out, "[Event \"{name}\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"?\"]")?;
    writeln!(out, "[White \"?\"]\n[Black \"?\"]\n[Result \"*\"]\n")?;
    let mut lines = Lines::new(book, u32::MAX, replies);
    let mut text = Words { out, column: 0, open: "" };
    let mut tasks = vec![Task::Moves { at: Position::start(), plies: 0, numbered: true }];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Bracket(bracket) => text.word(bracket)?,
            Task::Move { from, step, numbered } => {
                let number = number(&from, !numbered);
                if let Some(number) = number.split_whitespace().next() {
                    text.word(number)?;
                }
                text.word(&step.san)?;
                if let Some(nag) = step.known.annotation.map(nag) {
                    text.word(&format!("${nag}"))?;
                }
            }
            Task::Moves { at, plies, numbered } => {
                let (steps, seen) = lines.go_on(&at, plies);
                if seen {
                    text.word("{transposes}")?;
                }
                push(&mut tasks, &at, steps, plies, numbered);
            }
        }
    }
    text.word("*")?;
    writeln!(text.out)?;
    Ok(missing.without(&lines))
}

/// Positions of a book that its own moves do not reach, with the numbers of their moves. Those that a format does not tell
/// apart, mirrored or with colours swapped, are one.
struct Missing(HashMap<u64, (Vec<u64>, u64)>);

impl Missing {
    fn of(book: &dyn Book, reached: &Keys) -> Self {
        let mut missing = HashMap::new();
        let mut met = HashSet::new();
        book.each(Scope::All, &Progress::none(), &mut |known| {
            let forms = known.position.as_ref().map_or_else(
                || vec![known.key],
                |at| {
                    forms(at.chess().clone())
                        .into_iter()
                        .map(|chess| Position::from_chess(chess).key())
                        .collect()
                },
            );
            let Some(&one) = forms.iter().min() else { return ControlFlow::Continue(()) };
            if reached.contains(&known.key) {
                met.insert(one);
            } else if !known.moves.is_empty() {
                missing.entry(one).or_insert_with(|| (forms, known.moves.len() as u64));
            }
            ControlFlow::Continue(())
        });
        missing.retain(|one, _| !met.contains(one));
        Self(missing)
    }

    /// The moves of those that lines do not go through either.
    fn without(&self, lines: &Lines<'_>) -> u64 {
        let missing = self.0.values().filter(|(forms, _)| !forms.iter().any(|key| lines.saw(*key)));
        missing.map(|(_, moves)| moves).sum()
    }
}

/// Puts a position's moves on the pile, the last to be written first: the main move, the others as variations of it,
/// and what follows the main move.
fn push(tasks: &mut Vec<Task>, at: &Position, steps: Vec<Step>, plies: u32, numbered: bool) {
    let plies = plies + 1;
    let mut steps = steps.into_iter();
    let Some(main) = steps.next() else { return };
    let others: Vec<_> = steps.collect();
    tasks.push(Task::Moves { at: main.after.clone(), plies, numbered: !others.is_empty() });
    for step in others.into_iter().rev() {
        tasks.push(Task::Bracket(")"));
        tasks.push(Task::Moves { at: step.after.clone(), plies, numbered: false });
        tasks.push(Task::Move { from: at.clone(), step: Box::new(step), numbered: true });
        tasks.push(Task::Bracket("("));
    }
    tasks.push(Task::Move { from: at.clone(), step: Box::new(main), numbered });
}

/// The number that PGN has for a mark.
fn nag(mark: Annotation) -> u8 {
    match mark {
        Annotation::Good => 1,
        Annotation::Bad => 2,
        Annotation::Brilliant => 3,
        Annotation::Blunder => 4,
        Annotation::Interesting => 5,
        Annotation::Dubious => 6,
        Annotation::Only => 8,
        Annotation::Zugzwang => 22,
    }
}

/// Words in lines of bounded width; brackets cling to the words within them.
struct Words<'a> {
    out: &'a mut dyn Write,
    column: usize,
    open: &'static str,
}

impl Words<'_> {
    fn word(&mut self, word: &str) -> io::Result<()> {
        if word == "(" {
            self.open = "(";
            return Ok(());
        }
        if word == ")" {
            let fits = self.column < WIDTH;
            self.column = if fits { self.column + 1 } else { 1 };
            return self.out.write_all(if fits { b")" } else { b"\n)" });
        }
        let open = std::mem::take(&mut self.open);
        if self.column > 0 {
            let fits = self.column + 1 + open.len() + word.len() <= WIDTH;
            self.out.write_all(if fits { b" " } else { b"\n" })?;
            self.column = if fits { self.column + 1 } else { 0 };
        }
        self.column += open.len() + word.len();
        self.out.write_all(open.as_bytes())?;
        self.out.write_all(word.as_bytes())
    }
}
