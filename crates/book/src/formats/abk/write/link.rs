//! Links: moves that the book does not have, but that lead to its positions.
//!
//! A book for one side has none of the other side's moves, so nothing would lead to its positions. Therefore a legal move
//! from a position of the book to one that is not reached otherwise becomes a record of priority 0 without games: it is
//! never played, but followed if somebody else plays it. The same happens after moves that lead out of the book, and at
//! the start if the book does not have it.
#![allow(clippy::cast_possible_truncation, reason = "a draft has fewer than 2^32 positions")]

use shakmaty::{Move, Position as _};

use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::scratch::{Cursor, Scratch};
use tabiya_base::sort::Sorter;
use tabiya_chess::Position;

use super::draft::{AbkDraft, DRAFT_MOVE_LEN, DraftMove};
use super::tree::{NUMBER_LEN, number};
use crate::traverse::{Bits, KeyFilter};

/// Bytes before the move in the record of a link: the position's key, and the number of the link.
const HEAD: usize = 2 * size_of::<u64>();

/// The same book with links; `None` if it needs none.
///
/// # Errors
/// When a temporary file fails, or the work is interrupted.
pub fn link(draft: &AbkDraft) -> Result<Option<AbkDraft>> {
    let mut linker = Linker {
        draft,
        reached: Bits::new(draft.positions()),
        missing: draft.positions(),
        unreached: KeyFilter::default(),
        queue: Scratch::new(&draft.folder, draft.memory / 8),
        spreading: ListReader::default(),
        walking: ListReader::default(),
        links: Sorter::new(&draft.folder, draft.memory / 4),
        count: 0,
    };
    linker.run()?;
    if linker.count == 0 { Ok(None) } else { merge(draft, linker.links).map(Some) }
}

/// Merges links into the moves of their positions, and new positions between the others.
fn merge(draft: &AbkDraft, links: Sorter) -> Result<AbkDraft> {
    let mut merged = draft.emptied();
    let mut links = links.finish()?;
    let mut next = || -> Result<Option<(u64, DraftMove)>> {
        Ok(links.next()?.and_then(|record| {
            let (key, rest) = record.split_first_chunk()?;
            Some((u64::from_be_bytes(*key), DraftMove::from_bytes(rest.get(HEAD - size_of::<u64>()..)?)?))
        }))
    };
    let (mut own, mut link, mut steps) = (0, next()?, Vec::new());
    loop {
        let node = if own < draft.positions() { Some(draft.node(own as u32)?) } else { None };
        let keys = [node.map(|(key, _)| key), link.map(|(key, _)| key)];
        let Some(key) = keys.into_iter().flatten().min() else { return Ok(merged) };
        steps.clear();
        if let Some((_, node)) = node.filter(|(own, _)| *own == key) {
            draft.steps(node, &mut steps)?;
            own += 1;
        }
        while let Some((_, step)) = link.filter(|(of, _)| *of == key) {
            steps.push(step);
            link = next()?;
        }
        merged.push(key, None, &steps)?;
    }
}

struct Linker<'a> {
    draft: &'a AbkDraft,
    /// Positions that are reached from the start.
    reached: Bits,
    /// How many are not.
    missing: u64,
    /// What may be one of those.
    unreached: KeyFilter,
    /// The numbers of the positions that are reached, in the order in which they were.
    queue: Scratch,
    /// Up to where their moves were followed.
    spreading: ListReader,
    /// Up to where their legal moves were searched.
    walking: ListReader,
    links: Sorter,
    /// How many links there are.
    count: u64,
}

impl Linker<'_> {
    fn run(&mut self) -> Result<()> {
        let start = Position::start();
        let found = self.draft.find(start.key())?;
        if let Some(node) = found {
            self.spread(node.number)?;
        }
        self.unreached = KeyFilter::with_room(self.missing, self.draft.memory / 4);
        for number in 0..self.draft.positions() {
            if !self.reached.contains(number) {
                self.unreached.add(self.draft.node(number as u32)?.0);
            }
        }
        if found.is_none() {
            self.replies(&start)?;
        }
        let mut steps = Vec::new();
        while self.missing > 0
            && let Some(number) = self.walking.next(&self.queue)?
        {
            interrupt::check()?;
            let Some(position) = self.draft.board(number)? else { continue };
            self.draft.steps(self.draft.node(number)?.1, &mut steps)?;
            for step in &steps {
                if self.draft.find(step.next)?.is_none()
                    && let Some(mv) = step.raw().resolve(position.chess())
                {
                    self.replies(&position.after(mv))?;
                }
            }
            self.replies(&position)?;
        }
        Ok(())
    }

    /// Links every legal move of a position to a position of the book that is not reached yet.
    fn replies(&mut self, position: &Position) -> Result<()> {
        for mv in position.chess().legal_moves() {
            let next = position.key_after(mv);
            if !self.unreached.may_have(next) {
                continue;
            }
            let found = self.draft.find(next)?;
            if let Some(node) = found.filter(|node| !self.reached.contains(node.number.into())) {
                self.link(position, mv, next, node.number)?;
            }
        }
        Ok(())
    }

    fn link(&mut self, position: &Position, mv: Move, next: u64, number: u32) -> Result<()> {
        let step = DraftMove::leading(position, mv, next);
        let mut record = Vec::with_capacity(HEAD + DRAFT_MOVE_LEN);
        record.extend(position.key().to_be_bytes());
        record.extend(self.count.to_be_bytes());
        record.extend(bytemuck::bytes_of(&step));
        self.links.push(&record)?;
        self.count += 1;
        self.spread(number)
    }

    /// Marks a position as reached, with all that the book's own moves reach from it.
    fn spread(&mut self, number: u32) -> Result<()> {
        self.reach(number)?;
        let mut steps = Vec::new();
        while let Some(number) = self.spreading.next(&self.queue)? {
            self.draft.steps(self.draft.node(number)?.1, &mut steps)?;
            for step in &steps {
                if let Some(node) = self.draft.find(step.next)? {
                    self.reach(node.number)?;
                }
            }
        }
        Ok(())
    }

    fn reach(&mut self, number: u32) -> Result<()> {
        if !self.reached.insert(number.into()) {
            return Ok(());
        }
        self.missing -= 1;
        self.queue.push(&number.to_le_bytes())
    }
}

/// The place up to which a list of numbers is read, while others are appended to it.
#[derive(Debug, Default)]
struct ListReader {
    cursor: Cursor,
    at: u64,
}

impl ListReader {
    fn next(&mut self, numbers: &Scratch) -> Result<Option<u32>> {
        if self.at * NUMBER_LEN as u64 >= numbers.size() {
            return Ok(None);
        }
        self.at += 1;
        number(&mut self.cursor, numbers, self.at - 1).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::path::Path;

    proptest! {
        #[test]
        fn numbers_are_read_while_others_are_appended(
            pushes in prop::collection::vec(prop_oneof![3 => any::<u32>().prop_map(Some), 2 => Just(None)], 0..500),
            memory in 0..100_usize,
        ) {
            let (mut numbers, mut reader) = (Scratch::new(Path::new("."), memory), ListReader::default());
            let mut model = VecDeque::new();
            for push in pushes.into_iter().chain(vec![None; 500]) {
                match push {
                    Some(number) => {
                        numbers.push(&number.to_le_bytes()).unwrap();
                        model.push_back(number);
                    }
                    None => prop_assert_eq!(reader.next(&numbers).unwrap(), model.pop_front()),
                }
            }
        }
    }
}
