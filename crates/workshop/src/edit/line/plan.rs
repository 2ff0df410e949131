//! What a line changes in a book.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use shakmaty::{Color, Move, Position as _};

use tabiya_base::error::{Error, ErrorKind, Remedy, Result};
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_book::edit::{Change, Edit, EditValue, PositionEdits};
use tabiya_book::traits::Book;
use tabiya_book::traverse::{ByPlies, Keys, Replies, Search, Visited, has_form};
use tabiya_book::{Edits, MoveFacts, Moves};
use tabiya_chess::{MoveCode, Position};

use super::super::{MoveState, kept};
use super::{Line, LineChange, LineMove, MOST};
use crate::view::san;

/// The number of a new move in a position that has no others.
const ALONE: u64 = 1;

/// The same, where numbers are priorities.
const ALONE_PRIORITY: u64 = 5;

/// What a line does to a book: how many moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineCounts {
    /// They come into the book.
    pub adds: u64,
    /// They get another value.
    pub changes: u64,
    /// They leave the book.
    pub deletes: u64,
    /// The book has them, and they stay as they are.
    pub stays: u64,
}

/// The edits of a line.
#[derive(Debug, Default)]
pub(in super::super) struct LinePlan {
    pub edits: Vec<PositionEdits>,
    /// Where the first of them is, as [`kept`] writes it.
    pub note: String,
    pub counts: LineCounts,
    /// What the book says of the move of each edit, in the order of `edits`.
    pub before: Vec<Vec<Option<MoveState>>>,
    /// The place of each position among them.
    places: HashMap<u64, usize>,
}

impl LinePlan {
    fn push(&mut self, at: &Position, before: Option<MoveState>, (mv, change): (Move, Change)) {
        let place = match self.places.entry(at.whole_key()) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.edits.push(PositionEdits { at: at.clone(), edits: Vec::new() });
                self.before.push(Vec::new());
                *new.insert(self.edits.len() - 1)
            }
        };
        let (Some(of), Some(said)) = (self.edits.get_mut(place), self.before.get_mut(place)) else { return };
        of.edits.push(Edit { mv, name: san(at, mv), change });
        said.push(before);
        let counts = &mut self.counts;
        *match change {
            Change::Add(_) => &mut counts.adds,
            Change::Set(_) => &mut counts.changes,
            Change::Delete => &mut counts.deletes,
        } += 1;
    }
}

/// Plans what a change of a line does to a book.
///
/// # Errors
/// When the book does not have the move to delete, more than [`MOST`] would go, or the work is interrupted.
pub(in super::super) fn plan(
    book: &dyn Book,
    line: &Line,
    change: LineChange,
    progress: &Progress,
) -> Result<LinePlan> {
    match change {
        LineChange::Add { only, value } => Ok(added(book, line, only, value)),
        LineChange::Delete => deleted(book, line, progress),
    }
}

fn added(book: &dyn Book, line: &Line, only: Option<Color>, value: Option<EditValue>) -> LinePlan {
    let is_tree = book.as_patchable().is_some_and(|book| book.is_tree());
    let (mut plan, mut met, mut first) = (LinePlan::default(), HashSet::new(), None);
    let mut rows: HashMap<u64, Vec<MoveFacts>> = HashMap::new();
    for (place, LineMove { at, mv, .. }) in line.moves.iter().enumerate() {
        let is_other = only.is_some_and(|side| side != at.chess().turn());
        if is_other && !is_tree || !met.insert((at.key(), MoveCode::from_move(*mv))) {
            continue;
        }
        let row = rows.entry(at.whole_key()).or_insert_with(|| book.moves_in(at));
        let known = row.iter().find(|facts| facts.mv == *mv);
        let known = known.map(|facts| MoveState::from_facts(book, at, facts));
        let value = value.filter(|_| !is_other);
        let change = match (known, value) {
            (Some(now), Some(value)) if !now.has(value) => Change::Set(value),
            (Some(_), _) => {
                plan.counts.stays += 1;
                continue;
            }
            // Only what leads on.
            (None, None) if is_other => Change::Add(EditValue::Weight(0)),
            (None, value) => Change::Add(value.unwrap_or_else(|| usual(book, at, *mv, row))),
        };
        first.get_or_insert(place);
        plan.push(at, known, (*mv, change));
    }
    let (game, is_set_up) = line.game_before(first.unwrap_or_default());
    plan.note = kept(&game, is_set_up);
    plan
}

/// What lets a new move be played about as often as the others of its position: the median of their numbers.
fn usual(book: &dyn Book, at: &Position, mv: Move, row: &[MoveFacts]) -> EditValue {
    let format = book.format();
    let Edits::Number { most, .. } = format.edits() else {
        return EditValue::Verdict { color: None, mark: None };
    };
    let target = book.as_patchable().and_then(|book| book.weight_of_target(&at.after(mv)));
    let numbers = row.iter().map(|facts| MoveState::from_facts(book, at, facts).number());
    let mut numbers: Vec<u64> = numbers.filter(|number| *number > 0).collect();
    numbers.sort_unstable();
    let alone = if format.has_own_numbers() { ALONE_PRIORITY } else { ALONE };
    let median = numbers.get(numbers.len() / 2).copied().unwrap_or(alone);
    EditValue::Weight(target.unwrap_or(median).min(most))
}

fn deleted(book: &dyn Book, line: &Line, progress: &Progress) -> Result<LinePlan> {
    let last = line.last()?;
    let (game, is_set_up) = line.game_before(last);
    let mut plan = LinePlan { note: kept(&game, is_set_up), ..LinePlan::default() };
    let Some(LineMove { at, mv, .. }) = line.moves.get(last) else { return Ok(plan) };
    let state = |at: &Position, facts: &MoveFacts| Some(MoveState::from_facts(book, at, facts));
    let known = book.moves_in(at).into_iter().find(|facts| facts.mv == *mv);
    // A reply that leads back into a book for one side counts as one of its moves.
    if known.is_none() && book.moves_in(&at.after(*mv)).is_empty() {
        let what = format!("the book does not have the move {} at the end of this line", san(at, *mv));
        return Err(Error::new(ErrorKind::Usage, what).remedied_by(Remedy::ShowMoves));
    }
    if let Some(facts) = known {
        plan.push(at, state(at, &facts), (*mv, Change::Delete));
    }
    let starts = vec![Position::start_of(book.variant()), game.start_position().clone()];
    let mut see = |at: &Position, moves: &[MoveFacts]| {
        moves.iter().for_each(|facts| plan.push(at, state(at, facts), (facts.mv, Change::Delete)));
        if plan.counts.deletes <= MOST as u64 {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Usage, format!("more than {MOST} moves would be deleted"))
            .advice("write another book without this line")
            .remedied_by(Remedy::Trim))
    };
    each_cut_off(book, starts, (at, *mv), progress, &mut see)?;
    Ok(plan)
}

/// Shows the positions of a book that nothing but a move of a position leads to, with their moves.
fn each_cut_off(
    book: &dyn Book,
    starts: Vec<Position>,
    (from, mv): (&Position, Move),
    progress: &Progress,
    see: &mut dyn FnMut(&Position, &[MoveFacts]) -> Result<()>,
) -> Result<()> {
    let all: &dyn Moves = book;
    progress.things(0, "positions");
    let replies = Replies::find(all)?;
    let without = (from.key(), MoveCode::from_move(mv));
    let follow = |at: &Position, moves: &[MoveFacts], out: &mut Vec<Move>| {
        out.extend(moves.iter().map(|facts| facts.mv));
        replies.append(all, at, out);
        out.retain(|mv| (at.key(), MoveCode::from_move(*mv)) != without);
    };
    let walk = |starts: Vec<Position>| ByPlies {
        starts: starts.into_iter().map(|at| (0, at)).collect(),
        ..ByPlies::of_variant(book.variant())
    };
    let merges = book.as_patchable().is_some_and(|book| book.merges_forms());
    let (mut search, mut kept) = (Search::from_starts(starts.clone()), None::<Keys>);
    // Single positions are looked for; where these are many, all that is kept is read.
    let mut is_kept = |at: &Position| -> Result<bool> {
        let follow = |at: &Position, out: &mut Vec<Move>| follow(at, &book.moves_in(at), out);
        if kept.is_none() {
            interrupt::check()?;
            if let Some(is_kept) = search.reaches(at, merges, follow) {
                return Ok(is_kept);
            }
            let all = walk(starts.clone()).each(progress, |Visited { at, .. }, out| {
                follow(at, out);
                Ok(())
            })?;
            kept = Some(all);
        }
        Ok(kept.as_ref().is_some_and(|kept| has_form(at.key(), Some(at).filter(|_| merges), kept)))
    };
    walk(vec![from.after(mv)]).each(&Progress::none(), |Visited { at, .. }, out| {
        let moves = book.moves_in(at);
        if is_kept(at)? {
            return Ok(());
        }
        follow(at, &moves, out);
        if moves.is_empty() {
            return Ok(());
        }
        Ok(see(at, &moves)?)
    })?;
    Ok(())
}
