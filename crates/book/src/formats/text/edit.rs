//! Edits of a book: the line of a position is written anew, and other lines stay as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use shakmaty::Move;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::patch::Patch;
use tabiya_chess::{Position, variant_name};

use super::TextBook;
use super::driver::MOST;
use super::line::{fields, lines, with_line, written};
use crate::edit::{Change, Edit, EditValue, PositionEdits, no_moves_left};

/// A position as edited so far.
struct TextEdit {
    at: Position,
    moves: Vec<(Move, u64)>,
    /// The number of its first line; `None` if the book does not have it.
    first: Option<usize>,
}

impl TextEdit {
    fn new(book: &TextBook, at: &Position) -> Self {
        let first = book.find(at);
        let moves = first.map(|first| book.moves_of(first, at)).unwrap_or_default();
        Self { at: at.clone(), moves, first }
    }

    fn edit(&mut self, edit: &Edit, format: &str) -> Result<()> {
        let weight = |value: EditValue| {
            let weight = value.weight(format)?;
            let most = format!("an edit gives a weight of at most {MOST}");
            if weight <= MOST { Ok(weight) } else { Err(Error::new(ErrorKind::Usage, most)) }
        };
        let place = self.moves.iter().position(|(mv, _)| *mv == edit.mv);
        edit.expect_known(place.is_some())?;
        match (edit.change, place.and_then(|place| self.moves.get_mut(place))) {
            (Change::Set(value), Some((_, known))) => *known = weight(value)?,
            (Change::Set(value) | Change::Add(value), _) => self.moves.push((edit.mv, weight(value)?)),
            (Change::Delete, _) => self.moves.retain(|(mv, _)| *mv != edit.mv),
        }
        Ok(())
    }

    /// The lines of the position, and what becomes of each: the first has all its moves.
    fn lines(&self, book: &TextBook) -> Vec<(Range<usize>, Vec<u8>)> {
        let mut changes: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
        for place in self.first.into_iter().flat_map(|first| book.index().lines(first)) {
            let range = book.line_at(place);
            let old = book.data.get(range.clone()).unwrap_or_default();
            let is_first = changes.is_empty() && !self.moves.is_empty();
            let anew =
                with_line(old, |line| written(line.form, line.fen, &self.at, &self.moves, line.others()));
            let new = anew.ok().flatten().filter(|_| is_first).unwrap_or_default();
            let end = if is_first { range.start + old.trim_ascii_end().len() } else { range.end };
            changes.push((range.start..end, new.into_bytes()));
        }
        changes
    }
}

/// What edits change in a book. New positions come after its last line.
///
/// # Errors
/// When an edit does not fit the moves, the book would have none left, or a position is one of another variant.
pub(super) fn patch(book: &TextBook, all: &[PositionEdits]) -> Result<Patch> {
    let mut edited: BTreeMap<u64, TextEdit> = BTreeMap::new();
    for PositionEdits { at, edits } in all {
        if at.variant() != book.variant {
            let what = format!("the book is read as one of {}", variant_name(book.variant));
            return Err(Error::new(ErrorKind::Usage, what));
        }
        let draft = edited.entry(at.whole_key()).or_insert_with(|| TextEdit::new(book, at));
        edits.iter().try_for_each(|edit| draft.edit(edit, book.form.format().name()))?;
    }
    if PositionEdits::any_deletes(all) && edited.values().all(|draft| draft.moves.is_empty()) {
        let emptied: BTreeSet<_> = edited.values().filter_map(|draft| draft.first).collect();
        let has_moves = |first| book.position(first).is_some_and(|at| !book.moves_of(first, &at).is_empty());
        if !book.index().positions().any(|first| !emptied.contains(&first) && has_moves(first)) {
            return Err(no_moves_left());
        }
    }
    let mut changes: Vec<_> = edited.values().flat_map(|draft| draft.lines(book)).collect();
    changes.sort_by_key(|(range, _)| range.start);
    let end = book.data.len();
    changes.push((end..end, new_lines(book, edited.values())));
    Patch::new(&book.data, changes)
        .ok_or_else(|| Error::new(ErrorKind::Format, "the file has changed while it was edited"))
}

/// The lines of positions that the book does not have.
fn new_lines<'a>(book: &TextBook, edited: impl Iterator<Item = &'a TextEdit>) -> Vec<u8> {
    let new = edited.filter(|draft| draft.first.is_none() && !draft.moves.is_empty());
    let ending = match lines(&book.data).next() {
        Some((_, line)) if line.ends_with(b"\r\n") => "\r\n",
        _ => "\n",
    };
    let mut text = String::new();
    for TextEdit { at, moves, .. } in new {
        if text.is_empty() && !book.data.is_empty() && !book.data.ends_with(b"\n") {
            text += ending;
        }
        text += &written(book.form, &fields(book.form, at), at, moves, []);
        text += ending;
    }
    text.into_bytes()
}
