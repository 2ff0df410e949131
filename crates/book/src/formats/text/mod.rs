//! Books as text, one position a line: as EPD (`.epd`) whose operation `bm` names the moves, or as a FEN with its moves after a
//! semicolon (`.fen`). The format is described in `docs/formats/text.md`.
//!
//! A background thread finds the line of each position: opening returns immediately, and look-ups wait until the index is ready. The
//! moves are read where they are asked for, so memory holds 16 bytes for each line.

mod check;
mod driver;
mod edit;
mod line;
mod read;
#[cfg(test)]
mod tests;
#[cfg(feature = "write")]
mod write;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use shakmaty::Move;

use tabiya_base::background::Background;
use tabiya_base::error::Result;
use tabiya_base::findings::Findings;
use tabiya_base::map::Map;
use tabiya_base::patch::Patch;
use tabiya_base::progress::Progress;
use tabiya_base::visit::{Seen, to_the_end};
use tabiya_chess::{Position, Variant};

pub(crate) use driver::TextDriver;
use line::{Form, lines, with_line};
use read::TextIndex;

use crate::edit::PositionEdits;
use crate::game::GameReference;
use crate::traits::Book;
use crate::traverse::each_reachable;
use crate::{BookSummary, Format, MoveFacts, Moves, Patchable, PositionRecord, Remarks, Scope, Visit};

impl Form {
    /// The format whose lines have this form.
    fn format(self) -> Format {
        Format::new(match self {
            Self::Epd => &driver::EPD,
            Self::Fen => &driver::FEN,
        })
    }
}

/// A book as text.
#[derive(Debug)]
pub struct TextBook {
    path: PathBuf,
    data: Arc<Map>,
    form: Form,
    variant: Variant,
    index: Background<TextIndex>,
}

/// What to do with a text that is no book.
fn advice() -> &'static str {
    "a line is a FEN with `bm` and moves, or with a semicolon and moves"
}

impl TextBook {
    fn new(path: &Path, data: Map, form: Form, variant: Variant) -> Self {
        let data = Arc::new(data);
        let bytes = Arc::clone(&data);
        let index = Background::new(move || TextIndex::new(&bytes, variant));
        Self { path: path.to_owned(), data, form, variant, index }
    }

    fn index(&self) -> &TextIndex {
        self.index.get()
    }

    /// The number of the first line of a position. Where a file has en passant only if it is legal, its line has another key.
    fn find(&self, at: &Position) -> Option<usize> {
        if at.variant() != self.variant {
            return None;
        }
        let index = self.index();
        let (key, strict) = (at.whole_key(), at.strict_key());
        index.first(key).or_else(|| if strict == key { None } else { index.first(strict) })
    }

    /// The line that begins at an offset.
    fn line_at(&self, start: usize) -> Range<usize> {
        let line = lines(self.data.get(start..).unwrap_or_default()).next();
        start..start + line.map_or(0, |(_, line)| line.len())
    }

    /// What is read of the lines of the position that has this line as its first.
    fn each_line(&self, first: usize, mut see: impl FnMut(line::Line<'_>)) {
        for at in self.index().lines(first) {
            let line = self.data.get(self.line_at(at)).unwrap_or_default();
            let _ = with_line(line, &mut see);
        }
    }

    /// The position of a line.
    fn position(&self, first: usize) -> Option<Position> {
        let mut at = None;
        self.each_line(first, |line| at = at.take().or_else(|| line.position(self.variant)));
        at
    }

    /// The moves of a position's lines.
    fn moves_of(&self, first: usize, at: &Position) -> Vec<(Move, u64)> {
        let mut moves = Vec::new();
        self.each_line(first, |line| line.add_moves(at, &mut moves, &mut |_| ()));
        moves
    }

    /// What is known of the position that has this line as its first; `None` without moves.
    fn record(&self, first: usize) -> Option<PositionRecord> {
        let (mut at, mut moves, mut comment) = (None, Vec::new(), None);
        self.each_line(first, |line| {
            at = at.take().or_else(|| line.position(self.variant));
            if let Some(at) = &at {
                line.add_moves(at, &mut moves, &mut |_| ());
            }
            comment = comment.take().or_else(|| line.comment());
        });
        let moves: Vec<_> = moves.into_iter().map(|(mv, weight)| MoveFacts::new(mv, weight)).collect();
        let at = at.filter(|_| !moves.is_empty())?;
        Some(PositionRecord { comment, ..PositionRecord::from_moves(&at, &moves) })
    }

    fn comment_of(&self, first: usize) -> Option<String> {
        let mut comment = None;
        self.each_line(first, |line| comment = comment.take().or_else(|| line.comment()));
        comment
    }
}

impl Moves for TextBook {
    fn variant(&self) -> Variant {
        self.variant
    }

    /// Appends the moves in the order of the line.
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        let Some(first) = self.find(at) else { return };
        out.extend(self.moves_of(first, at).into_iter().map(|(mv, weight)| MoveFacts::new(mv, weight)));
    }

    fn drop_absent(&self, at: &Position, moves: &mut Vec<Move>) {
        self.index().drop_absent(None, at, moves);
    }

    fn each(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        let index = self.index();
        if scope == Scope::Reachable {
            return each_reachable(self, index.positions, progress, &mut |known| {
                let comment = known.position.as_ref().and_then(|at| self.comment(at));
                match comment {
                    Some(_) => visit(&PositionRecord { comment, ..known.clone() }),
                    None => visit(known),
                }
            });
        }
        progress.things(index.positions, "positions");
        let mut show = || -> Seen {
            for (number, first) in (0..).zip(index.positions()) {
                progress.step(number)?;
                if let Some(record) = self.record(first) {
                    visit(&record)?;
                }
            }
            Ok(())
        };
        to_the_end(show()).map(|_| 0)
    }

    fn as_remarks(&self) -> Option<&dyn Remarks> {
        Some(self)
    }
}

impl Remarks for TextBook {
    fn comment(&self, at: &Position) -> Option<String> {
        self.comment_of(self.find(at)?)
    }

    fn game(&self, _: &Position) -> Option<GameReference> {
        None
    }

    fn games(&self, _: &mut dyn FnMut(GameReference) -> Seen) -> Result<()> {
        Ok(())
    }
}

impl Patchable for TextBook {
    fn patches(&self, edits: &[PositionEdits], _: &Progress) -> Result<Vec<(PathBuf, Patch)>> {
        Ok(vec![(self.path.clone(), edit::patch(self, edits)?)])
    }
}

impl Book for TextBook {
    fn path(&self) -> &Path {
        &self.path
    }

    fn format(&self) -> Format {
        self.form.format()
    }

    fn as_patchable(&self) -> Option<&dyn Patchable> {
        Some(self)
    }

    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
        check::survey(self, progress, findings)
    }

    fn inspect(&self, progress: &Progress, findings: &mut Findings<'_>) {
        check::inspect(self, progress, findings);
    }
}
