//! A book's lines as one PGN game with variations.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use shakmaty::Position as _;

use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_base::visit::Break;
use tabiya_book::traits::Book;
use tabiya_book::traverse::{self, HeldKeys, Keys, Met, has_one_key, own_lines};
use tabiya_book::{Moves, Scope};
use tabiya_chess::normal::forms;
use tabiya_chess::openings::Opening;
use tabiya_chess::{Position, is_known_by_key};
use tabiya_games::export::{PgnHead, PgnWriter, San, UNLISTED};

use super::Entries;
use crate::output::Printed;
use crate::output::lines::{BookLines, LineStep};

/// What is still to be written.
enum Task {
    /// The start of a variation.
    Open,
    /// The end of a variation.
    Close,
    /// A move; `numbered`: with its number even where PGN does not require it.
    Move { from: Position, step: Box<LineStep>, numbered: bool },
    /// The moves of a position.
    Moves { at: Position, numbered: bool },
}

/// Writes the tree, and with [`Scope::All`] one more for each position that it does not reach. Each position is followed once;
/// a line that reaches it again ends there with a comment. Returns how many games these are.
///
/// # Errors
/// When `out` cannot be written, or the work is interrupted.
pub fn tree(book: &dyn Book, scope: Scope, out: &mut dyn Write) -> Printed<Entries> {
    let coverage = Coverage::from_book(book)?;
    let (mut writer, variant) = (PgnWriter::default(), book.variant());
    let name = book.path().file_name().unwrap_or_default().to_string_lossy();
    let opening = common(book, &coverage).map(Opening::parts);
    let (count, left_out) = coverage.each_tree(book, scope, |lines, at, within| {
        let fen = within.map(|_| at.fen());
        let opening = if within.is_some() { Opening::at(at).map(Opening::parts) } else { opening };
        let head = PgnHead { event: &name, start: fen.as_deref(), variant, opening, ..PgnHead::default() };
        write_game(lines, at.clone(), within, &head, &mut writer, out)
    })?;
    Ok(Entries { count, kind: "game", left_out })
}

/// Writes a game: all lines from a position, as long as they stay `within` some positions.
fn write_game(
    lines: &mut BookLines<'_>,
    start: Position,
    within: Option<&HeldKeys>,
    head: &PgnHead<'_>,
    writer: &mut PgnWriter,
    out: &mut dyn Write,
) -> io::Result<()> {
    writer.head(head);
    writer.begin_moves();
    let mut tasks = vec![Task::Moves { at: start, numbered: true }];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Open => writer.parenthesis(),
            Task::Close => writer.close(),
            Task::Move { from, step, numbered } => {
                let black = from.chess().turn().is_black();
                if numbered || !black {
                    writer.number(from.chess().fullmoves().into(), black);
                }
                writer.san(San::new(step.san.as_bytes()));
                if let Some(mark) = step.known.annotation {
                    writer.glyph(mark.nag());
                }
                if let Some(comment) = noted(&step) {
                    writer.comment(&comment);
                }
            }
            Task::Moves { at, .. } if within.is_some_and(|keys| !keys.contains(at.key())) => {}
            Task::Moves { at, numbered } => {
                let (steps, seen) = lines.moves_from(&at);
                if seen {
                    writer.comment("transposes");
                }
                push(&mut tasks, &at, steps, numbered);
            }
        }
        writer.write_lines(out)?;
    }
    writer.end_moves("*");
    writer.write_lines(out)
}

/// The opening of the moves that all lines begin with.
fn common(book: &dyn Book, coverage: &Coverage) -> Option<Opening> {
    let mut lines = BookLines::new(book, coverage.replies());
    let (mut at, mut opening) = (Position::start_of(book.variant()), None);
    while let Ok([only]) = <[LineStep; 1]>::try_from(lines.moves_from(&at).0) {
        at = only.after;
        opening = Opening::at(&at).or(opening);
    }
    opening
}

/// What a book's own moves reach, and what they do not.
pub struct Coverage {
    own: Met,
    /// The keys of each other position, and how many moves it has.
    unreached: Vec<(Vec<u64>, u64)>,
    /// All keys of positions with moves beside the own ones, of a book that shows them all.
    held: Option<HeldKeys>,
}

impl Coverage {
    /// Looks at the whole book.
    ///
    /// # Errors
    /// When the work is interrupted.
    pub fn from_book(book: &dyn Book) -> Result<Self> {
        let own = own_lines(book, usize::MAX).unwrap_or_default();
        interrupt::check()?;
        // Where keys do not tell positions apart, or a position has several, only looking it up shows whether a book has it.
        let of_keys = is_known_by_key(book.variant()) && has_one_key(book.variant());
        let has_all = book.format().lists_all() && (book.holds_positions() || of_keys);
        let mut held = has_all.then(Vec::new);
        let unreached = unreached(book, own.keys(), held.as_mut())?;
        Ok(Self { own, unreached, held: held.map(HeldKeys::from) })
    }

    /// The replies that lines follow: none if the book's own moves reach everything.
    pub fn replies(&self) -> traverse::Replies {
        match &self.held {
            _ if self.unreached.is_empty() => traverse::Replies::default(),
            Some(held) => traverse::Replies::among(self.own.clone(), held.clone()),
            None => Some(self.own.clone()).into(),
        }
    }

    /// Shows the positions that are known and not reached, each with the keys of all of them, until `see` fails.
    ///
    /// # Errors
    /// What fails in `see`, and when the work is interrupted.
    pub fn each_other(
        &self,
        book: &dyn Moves,
        mut see: impl FnMut(&Position, &HeldKeys) -> io::Result<()>,
    ) -> Printed<()> {
        let others: Vec<u64> = self.unreached.iter().flat_map(|(keys, _)| keys).copied().collect();
        let others = HeldKeys::from(others);
        let mut result = Ok(());
        if !others.is_empty() {
            book.each(Scope::All, &Progress::none(), &mut |known| {
                let Some(at) = known.position.as_ref().filter(|_| !known.moves.is_empty()) else {
                    return Ok(());
                };
                if others.contains(known.key) {
                    result = see(at, &others);
                }
                if result.is_ok() { Ok(()) } else { Err(Break::Enough) }
            })?;
        }
        Ok(result?)
    }

    /// Shows the starting position, with [`Scope::All`] then each position that lines have not gone through yet, with the keys that
    /// those from there stay within. Returns how many these are, and how many moves are left out.
    ///
    /// # Errors
    /// What fails in `write`, and when the work is interrupted.
    pub fn each_tree(
        &self,
        book: &dyn Book,
        scope: Scope,
        mut write: impl FnMut(&mut BookLines<'_>, &Position, Option<&HeldKeys>) -> io::Result<()>,
    ) -> Printed<(u64, u64)> {
        let mut lines = BookLines::new(book, self.replies());
        write(&mut lines, &Position::start_of(book.variant()), None)?;
        let mut trees = 1;
        if scope == Scope::All {
            self.each_other(book, |at, others| {
                if lines.saw(at.key()) {
                    return Ok(());
                }
                trees += 1;
                write(&mut lines, at, Some(others))
            })?;
        }
        Ok((trees, self.left_out(&lines)))
    }

    /// How many moves the lines have left out. Replies may have reached some of what the own moves do not.
    pub fn left_out(&self, lines: &BookLines<'_>) -> u64 {
        let left_out = self.unreached.iter().filter(|(keys, _)| !keys.iter().any(|key| lines.saw(*key)));
        left_out.map(|(_, moves)| moves).sum()
    }
}

/// The positions of a book that its own moves do not reach: the keys of each and how many moves it has. Positions that a
/// format does not distinguish, mirrored or with colors swapped, count as one. Notes in `held` the keys of all positions with moves
/// that are not reached.
fn unreached(
    book: &dyn Moves,
    reached: &Keys,
    mut held: Option<&mut Vec<u64>>,
) -> Result<Vec<(Vec<u64>, u64)>> {
    let mut unreached = HashMap::new();
    let mut met = HashSet::new();
    book.each(Scope::All, &Progress::none(), &mut |known| {
        let key = |chess| Position::from_chess(chess).key();
        let keys: Vec<u64> = match known.position.as_ref().and_then(Position::standard) {
            Some(chess) => forms(chess.clone()).into_iter().map(key).collect(),
            None => vec![known.key],
        };
        let Some(&least) = keys.iter().min() else { return Ok(()) };
        if let Some(held) = held.as_mut().filter(|_| !known.moves.is_empty()) {
            held.extend(keys.iter().filter(|key| !reached.contains(key)));
        }
        if reached.contains(&known.key) {
            met.insert(least);
        } else if !known.moves.is_empty() {
            unreached.entry(least).or_insert_with(|| (keys, known.moves.len() as u64));
        }
        Ok(())
    })?;
    unreached.retain(|least, _| !met.contains(least));
    Ok(unreached.into_values().collect())
}

/// Pushes a position's moves, the last to be written first: the main move, the others as variations of it, and what follows
/// the main move.
fn push(tasks: &mut Vec<Task>, at: &Position, steps: Vec<LineStep>, numbered: bool) {
    let mut steps = steps.into_iter();
    let Some(main) = steps.next() else { return };
    let others: Vec<_> = steps.collect();
    let interrupted = !others.is_empty() || noted(&main).is_some();
    tasks.push(Task::Moves { at: main.after.clone(), numbered: interrupted });
    for step in others.into_iter().rev() {
        tasks.push(Task::Close);
        tasks.push(Task::Moves { at: step.after.clone(), numbered: noted(&step).is_some() });
        tasks.push(Task::Move { from: at.clone(), step: Box::new(step), numbered: true });
        tasks.push(Task::Open);
    }
    tasks.push(Task::Move { from: at.clone(), step: Box::new(main), numbered });
}

/// The comment of a move in the tree: none where the book knows no more than the move.
fn noted(step: &LineStep) -> Option<String> {
    let known = step.reply || step.known.weight != 1 || step.known.counts.is_some();
    known.then(|| comment(step))
}

/// What the book knows of a move.
pub fn comment(step: &LineStep) -> String {
    if step.reply {
        return UNLISTED.to_owned();
    }
    let weight = format!("weight {}", step.known.weight);
    match step.known.counts {
        Some(counts) => {
            format!("{weight}, games {} +{} ={} -{}", counts.games, counts.wins, counts.draws, counts.losses)
        }
        None => weight,
    }
}
