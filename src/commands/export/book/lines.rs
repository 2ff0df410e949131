//! A book's lines as PGN games, one for each line.

use std::collections::HashMap;
use std::io::{self, Write};
use std::vec;

use shakmaty::Position as _;

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::traits::Book;
use tabiya_book::traverse::{ByPlies, HeldKeys, Replies, Visited};
use tabiya_book::{Annotation, Scope};
use tabiya_chess::openings::Opening;
use tabiya_chess::{Position, Variant};
use tabiya_games::export::{PgnHead, PgnWriter, San};

use super::Entries;
use super::pgn::{Coverage, comment};
use crate::output::Printed;
use crate::output::lines::{BookLines, LineStep};

/// A position of the current line, and its moves that are still to be followed.
struct Branch {
    at: Position,
    steps: vec::IntoIter<LineStep>,
}

/// Writes a game for each line. A position is followed where it is reached after the fewest plies; other lines that reach it
/// end there with a comment. With [`Scope::All`] lines from other positions follow. Returns how many games these are.
///
/// # Errors
/// When `out` cannot be written, or the work is interrupted.
pub fn games(book: &dyn Book, scope: Scope, out: &mut dyn Write) -> Printed<Entries> {
    let coverage = Coverage::from_book(book)?;
    let plies = plies(book, &coverage.replies())?;
    let mut lines = BookLines::new(book, coverage.replies());
    let mut game = Game::new(book);
    write_lines(book, Position::start_of(book.variant()), None, &plies, &mut lines, &mut game, out)?;
    if scope == Scope::All {
        coverage.each_other(book, |at, others| {
            game.start = Some(at.fen());
            write_lines(book, at.clone(), Some(others), &plies, &mut lines, &mut game, out)
        })?;
    }
    Ok(Entries { count: game.written, kind: "game", left_out: coverage.left_out(&lines) })
}

/// Writes the lines from a position, as long as they stay `within` some positions.
fn write_lines(
    book: &dyn Book,
    start: Position,
    within: Option<&HeldKeys>,
    plies: &HashMap<u64, usize>,
    lines: &mut BookLines<'_>,
    game: &mut Game,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (steps, _) = lines.moves_from(&start);
    let mut branches = vec![Branch { at: start, steps: steps.into_iter() }];
    while let Some(branch) = branches.last_mut() {
        let Some(step) = branch.steps.next() else {
            branches.pop();
            game.line.pop();
            continue;
        };
        let after = step.after.clone();
        game.line.push(Ply::new(&branch.at, step));
        let follows = within.is_none_or(|keys| keys.contains(after.key()))
            && plies.get(&after.whole_key()).is_none_or(|plies| *plies >= game.line.len());
        let (steps, seen) = if follows { lines.moves_from(&after) } else { (Vec::new(), true) };
        if !steps.is_empty() {
            branches.push(Branch { at: after, steps: steps.into_iter() });
            continue;
        }
        game.write(seen && !book.moves_in(&after).is_empty(), out)?;
        game.line.pop();
    }
    Ok(())
}

/// The fewest plies after which each position is reached.
fn plies(book: &dyn Book, replies: &Replies) -> Result<HashMap<u64, usize>> {
    let (mut plies, mut moves) = (HashMap::new(), Vec::new());
    ByPlies::of_variant(book.variant()).each(&Progress::none(), |visited, follow| {
        let Visited { at, plies: here, .. } = *visited;
        plies.insert(at.whole_key(), usize::try_from(here).unwrap_or(usize::MAX));
        moves.clear();
        book.moves(at, &mut moves);
        follow.extend(moves.iter().map(|facts| facts.mv));
        replies.append(book, at, follow);
        Ok(())
    })?;
    Ok(plies)
}

/// A move of the current line.
struct Ply {
    number: u32,
    black: bool,
    san: San,
    glyph: Option<u8>,
    comment: String,
    /// The opening of the position after the move.
    opening: Option<Opening>,
}

impl Ply {
    fn new(from: &Position, step: LineStep) -> Self {
        Self {
            number: from.chess().fullmoves().into(),
            black: from.chess().turn().is_black(),
            san: San::new(step.san.as_bytes()),
            glyph: step.known.annotation.map(Annotation::nag),
            comment: comment(&step),
            opening: Opening::at(&step.after),
        }
    }
}

struct Game {
    name: String,
    variant: Variant,
    /// The position that the lines begin with, if it is not the starting position.
    start: Option<String>,
    line: Vec<Ply>,
    written: u64,
    writer: PgnWriter,
}

impl Game {
    fn new(book: &dyn Book) -> Self {
        let name = book.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self {
            name,
            variant: book.variant(),
            start: None,
            line: Vec::new(),
            written: 0,
            writer: PgnWriter::default(),
        }
    }

    fn write(&mut self, transposes: bool, out: &mut dyn Write) -> io::Result<()> {
        self.written += 1;
        let writer = &mut self.writer;
        let opening = self.line.iter().rev().find_map(|ply| ply.opening);
        let (round, opening) = (self.written.to_string(), opening.map(Opening::parts));
        writer.head(&PgnHead {
            event: &self.name,
            round: &round,
            start: self.start.as_deref(),
            variant: self.variant,
            opening,
            ..PgnHead::default()
        });
        writer.begin_moves();
        let mut numbered = true;
        for ply in &self.line {
            if numbered || !ply.black {
                writer.number(ply.number, ply.black);
            }
            writer.san(ply.san);
            if let Some(glyph) = ply.glyph {
                writer.glyph(glyph);
            }
            numbered = writer.comment(&ply.comment);
        }
        if transposes {
            writer.comment("transposes");
        }
        writer.end_moves("*");
        out.write_all(writer.text())?;
        writer.clear();
        Ok(())
    }
}
