//! Which position stands behind which move, and the records in their order.
//!
//! The tree is made breadth first, and written down in that order: the moves of each position, and for each move
//! whether a position stands behind it. So the n-th move with a position behind it has the n-th position there, the
//! start counted as the first but behind none, and sizes and numbers of whole branches come from reading forwards and
//! backwards.

use std::path::Path;

use super::super::layout::{DEFAULT_PRIORITY, HIGHEST_PRIORITY, NONE, ROOT};
use super::super::records::Record;
use super::super::walk::{LONGEST, MOST};
use super::draft::{Draft, Place, STEP_LEN, Step};
use crate::base::bytes;
use crate::base::error::Result;
use crate::base::interrupt;
use crate::base::scratch::{Cursor, Scratch};
use crate::base::sort::Sorter;
use crate::chess::Position;

/// Positions between two looks whether the work is to stop.
const STRIDE: u64 = 1 << 14;

/// Bytes of a position in the order of the tree: the number of its first move among all, and how many they are.
const ENTRY_LEN: usize = 2 * size_of::<u32>();

/// Bytes of a number of records.
const NUMBER_LEN: usize = size_of::<u32>();

/// A bit for each of many things.
#[derive(Clone, Debug, Default)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// Whether a bit is set.
    pub fn get(&self, at: u64) -> bool {
        let word = usize::try_from(at / 64).ok().and_then(|word| self.0.get(word));
        word.is_some_and(|word| word >> (at % 64) & 1 != 0)
    }

    /// Sets a bit; whether it was not yet.
    pub fn set(&mut self, at: u64) -> bool {
        let Ok(word) = usize::try_from(at / 64) else { return false };
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let Some(word) = self.0.get_mut(word) else { return false };
        let new = *word >> (at % 64) & 1 == 0;
        *word |= 1 << (at % 64);
        new
    }
}

/// The positions of a book in the order of the tree: all that the start reaches, the shortest way to each first.
#[derive(Debug)]
pub struct Tree {
    entries: Scratch,
    /// Their moves.
    steps: Scratch,
    /// For each of these whether a position stands behind it.
    leads: Bits,
    /// How many positions there are.
    pub positions: u64,
    /// How many moves.
    pub records: u64,
    /// Positions for which there was no room.
    pub beyond: u64,
}

impl Tree {
    /// Of a whole book, as far as it is read again.
    ///
    /// # Errors
    /// When a temporary file fails, or the work is interrupted.
    pub fn new(draft: &Draft) -> Result<Self> {
        Self::within(draft, MOST as u64, LONGEST)
    }

    /// Of at most this many records and plies.
    fn within(draft: &Draft, most: u64, longest: usize) -> Result<Self> {
        let mut tree = Self {
            entries: Scratch::new(draft.folder(), draft.memory() / 16),
            steps: Scratch::new(draft.folder(), draft.memory() / 8),
            leads: Bits::default(),
            positions: 0,
            records: 0,
            beyond: 0,
        };
        let Some(start) = draft.find(Position::start().key())? else { return Ok(tree) };
        let mut reached = Bits::default();
        reached.set(start.number.into());
        if !tree.append(start, most)? {
            return Ok(tree);
        }
        let (mut cursor, mut steps) = (Cursor::default(), Vec::new());
        // Positions that were looked at and their moves; where this ply of the tree ends, and its number.
        let (mut at, mut moves, mut end, mut plies) = (0, 0, 1, 1);
        while at < tree.positions {
            if at == end {
                (end, plies) = (tree.positions, plies + 1);
            }
            if at.is_multiple_of(STRIDE) {
                interrupt::check()?;
            }
            let (first, len) = tree.entry(&mut cursor, at)?;
            draft.steps(Place { number: 0, first, len }, &mut steps)?;
            tree.steps.push(bytemuck::cast_slice(&steps))?;
            for step in &steps {
                let place = draft.find(step.next)?.filter(|place| reached.set(place.number.into()));
                if let Some(place) = place
                    && plies < longest
                    && tree.append(place, most)?
                {
                    tree.leads.set(moves);
                } else {
                    tree.beyond += u64::from(place.is_some_and(|_| plies >= longest));
                }
                moves += 1;
            }
            at += 1;
        }
        Ok(tree)
    }

    /// Appends a position, where there is room for its moves.
    fn append(&mut self, place: Place, most: u64) -> Result<bool> {
        if self.records + u64::from(place.len) > most {
            self.beyond += 1;
            return Ok(false);
        }
        self.records += u64::from(place.len);
        self.positions += 1;
        let mut entry = [0; ENTRY_LEN];
        let fields = place.first.to_le_bytes().into_iter().chain(place.len.to_le_bytes());
        entry.iter_mut().zip(fields).for_each(|(entry, byte)| *entry = byte);
        self.entries.push(&entry)?;
        Ok(true)
    }

    /// The first move of a position, and how many they are.
    fn entry(&self, cursor: &mut Cursor, at: u64) -> Result<(u32, u32)> {
        let entry = cursor.get(&self.entries, at * ENTRY_LEN as u64, ENTRY_LEN)?;
        Ok((bytes::u32_le(entry, 0).unwrap_or_default(), bytes::u32_le(entry, 4).unwrap_or_default()))
    }

    /// The records of each position with all that stand behind them, the last position first.
    fn sizes(&self, folder: &Path, memory: usize) -> Result<Scratch> {
        let mut sizes = Scratch::new(folder, memory / 16);
        let (mut cursor, mut behind) = (Cursor::default(), Cursor::default());
        let (mut moves, mut child) = (self.records, 0);
        for at in (0..self.positions).rev() {
            let (_, len) = self.entry(&mut cursor, at)?;
            let mut size = len;
            for _ in 0..len {
                moves -= 1;
                if self.leads.get(moves) {
                    size += number(&mut behind, &sizes, child)?;
                    child += 1;
                }
            }
            sizes.push(&size.to_le_bytes())?;
        }
        Ok(sizes)
    }

    /// Hands the records over in their order: a line to its end before the next.
    ///
    /// # Errors
    /// When a temporary file fails, when the work is interrupted, and what `put` returns.
    pub fn records(
        self,
        folder: &Path,
        memory: usize,
        has_results: bool,
        put: &mut impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let sizes = self.sizes(folder, memory)?;
        // For each position the number of its first record.
        let mut starts = Scratch::new(folder, memory / 16);
        starts.push(&0_u32.to_le_bytes())?;
        let mut sorter = Sorter::new(folder, memory / 4);
        let [mut entries, mut steps, mut size_of, mut start_of] = std::array::from_fn(|_| Cursor::default());
        let (mut of_position, mut priorities) = (Vec::new(), Vec::new());
        let (mut moves, mut child) = (0, 0);
        for at in 0..self.positions {
            if at.is_multiple_of(STRIDE) {
                interrupt::check()?;
            }
            let (_, len) = self.entry(&mut entries, at)?;
            let here = steps.get(&self.steps, moves * STEP_LEN as u64, len as usize * STEP_LEN)?;
            of_position.clear();
            of_position.extend(here.chunks_exact(STEP_LEN).filter_map(Step::from_bytes));
            priorities_of(&of_position, has_results, &mut priorities);
            let mut next = number(&mut start_of, &starts, at)?;
            for (place, (step, &priority)) in (1..).zip(of_position.iter().zip(&priorities)) {
                let present = next;
                next += 1;
                let mut record = Record { priority, child: NONE, sibling: NONE, ..step.record() };
                if self.leads.get(moves) {
                    child += 1;
                    record.child = link(next);
                    starts.push(&next.to_le_bytes())?;
                    next += number(&mut size_of, &sizes, self.positions - 1 - child)?;
                }
                if place < len {
                    record.sibling = link(next);
                }
                let mut bytes = Vec::with_capacity(NUMBER_LEN + STEP_LEN);
                bytes.extend(present.to_be_bytes());
                bytes.extend(record.to_bytes());
                sorter.push(&bytes)?;
                moves += 1;
            }
        }
        drop((self, sizes, starts));
        let mut sorted = sorter.finish()?;
        while let Some(record) = sorted.next()? {
            put(record.get(NUMBER_LEN..).unwrap_or_default())?;
        }
        Ok(())
    }
}

/// One of many numbers.
fn number(cursor: &mut Cursor, numbers: &Scratch, at: u64) -> Result<u32> {
    let bytes = cursor.get(numbers, at * NUMBER_LEN as u64, NUMBER_LEN)?;
    Ok(bytes::u32_le(bytes, 0).unwrap_or_default())
}

/// The link to a record, whose number is counted from 0.
fn link(number: u32) -> i32 {
    i32::try_from(number + ROOT).unwrap_or(NONE)
}

/// The priorities of a position's moves: 0 for what weighs nothing. The rest has the default where its weights follow
/// from games and results, or are all alike beside them; else what they are beyond that, the most of it being 9.
fn priorities_of(steps: &[Step], has_results: bool, out: &mut Vec<u8>) {
    // What the reader makes of games and results; what is left of the weight is the priority's part.
    let part = |step: &Step| {
        let games = f64::from(step.games.max(1));
        let (wins, losses) = if step.white() {
            (step.white_wins, step.white_losses)
        } else {
            (step.white_losses, step.white_wins)
        };
        let draws = f64::from(step.games) - f64::from(wins) - f64::from(losses);
        let score = if has_results {
            (f64::from(wins) + draws / 2.0 + 0.5) / (f64::from(step.games) + 1.0)
        } else {
            1.0
        };
        step.weight as f64 / (games * score)
    };
    let playable = || steps.iter().filter(|step| step.weight > 0);
    let most = playable().map(part).fold(0.0, f64::max);
    let least = playable().map(part).fold(f64::INFINITY, f64::min);
    let alike = least * f64::from(HIGHEST_PRIORITY) > most * (f64::from(HIGHEST_PRIORITY) - 0.5);
    out.clear();
    out.extend(steps.iter().map(|step| match step.weight {
        0 => 0,
        _ if alike || step.by_results() => DEFAULT_PRIORITY,
        _ => {
            (part(step) / most * f64::from(HIGHEST_PRIORITY)).round().clamp(1.0, f64::from(HIGHEST_PRIORITY))
                as u8
        }
    }));
}
