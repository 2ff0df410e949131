//! The tree: which position follows which move, and the records in their order.
//!
//! The tree is made breadth first, and stored in that order: the moves of each position, and for each move whether a
//! position follows it. So the n-th move with a position after it leads to position n, the start being position 0, and the
//! sizes and numbers of whole branches result from reading forwards and backwards.
#![allow(clippy::cast_possible_truncation, reason = "a priority is limited before")]

use std::path::Path;

use tabiya_base::bytes;
use tabiya_base::bytes::Parts as _;
use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::scratch::{Cursor, Scratch};
use tabiya_base::sort::Sorter;
use tabiya_chess::Position;

use super::super::layout::{DEFAULT_PRIORITY, HIGHEST_PRIORITY, NONE, ROOT};
use super::super::read::weigh::score;
use super::super::read::{MAX, MAX_LEN};
use super::super::records::AbkRecord;
use super::draft::{AbkDraft, DRAFT_MOVE_LEN, DraftMove, DraftNode};
use crate::traverse::Bits;

/// Bytes of a position in the order of the tree: the number of its first move in the draft, and how many it has.
const ENTRY_LEN: usize = 2 * size_of::<u32>();

/// Bytes of a record's number.
pub(super) const NUMBER_LEN: usize = size_of::<u32>();

/// The positions of a book in the order of the tree: all that the start reaches, each after its shortest path.
#[derive(Debug)]
pub struct AbkTree {
    entries: Scratch,
    steps: Scratch,
    /// The numbers of the moves that a position follows.
    leads: Bits,
    /// How many positions there are.
    pub positions: u64,
    pub records: u64,
    pub beyond: u64,
}

impl AbkTree {
    /// The tree of a book, as far as readers follow it.
    ///
    /// # Errors
    /// When a temporary file fails, or the work is interrupted.
    pub fn new(draft: &AbkDraft) -> Result<Self> {
        let mut tree = Self {
            entries: Scratch::new(&draft.folder, draft.memory / 16),
            steps: Scratch::new(&draft.folder, draft.memory / 8),
            leads: Bits::new(draft.moves().min(MAX as u64)),
            positions: 0,
            records: 0,
            beyond: 0,
        };
        let Some(start) = draft.find(Position::start().key())? else { return Ok(tree) };
        let mut reached = Bits::new(draft.positions());
        reached.insert(start.number.into());
        if !tree.append(start)? {
            return Ok(tree);
        }
        let (mut cursor, mut steps) = (Cursor::default(), Vec::new());
        // The next position and move; where this ply of the tree ends, and its number.
        let (mut at, mut moves, mut end, mut plies) = (0, 0, 1, 1);
        while at < tree.positions {
            if at == end {
                (end, plies) = (tree.positions, plies + 1);
            }
            interrupt::check()?;
            let [first, len] = tree.entry(&mut cursor, at)?;
            draft.steps(DraftNode { number: 0, first, len }, &mut steps)?;
            tree.steps.push(bytemuck::cast_slice(&steps))?;
            for step in &steps {
                match draft.find(step.next)?.filter(|node| reached.insert(node.number.into())) {
                    Some(_) if plies >= MAX_LEN => tree.beyond += 1,
                    Some(node) if tree.append(node)? => _ = tree.leads.insert(moves),
                    _ => {}
                }
                moves += 1;
            }
            at += 1;
        }
        Ok(tree)
    }

    /// Appends a position, if there is room for its moves.
    fn append(&mut self, node: DraftNode) -> Result<bool> {
        if self.records + u64::from(node.len) > MAX as u64 {
            self.beyond += 1;
            return Ok(false);
        }
        self.records += u64::from(node.len);
        self.positions += 1;
        self.entries.push(bytemuck::bytes_of(&[node.first, node.len]))?;
        Ok(true)
    }

    /// The first move of a position, and how many it has.
    fn entry(&self, cursor: &mut Cursor, at: u64) -> Result<[u32; 2]> {
        let entry = cursor.get(&self.entries, at * ENTRY_LEN as u64, ENTRY_LEN)?;
        Ok(bytemuck::try_pod_read_unaligned(entry).unwrap_or_default())
    }

    /// How many records each position has, with all that follow them; the last position first.
    fn sizes(&self, folder: &Path, memory: usize) -> Result<Scratch> {
        let mut sizes = Scratch::new(folder, memory / 16);
        let (mut cursor, mut children) = (Cursor::default(), Cursor::default());
        let (mut moves, mut child) = (self.records, 0);
        for at in (0..self.positions).rev() {
            let [_, len] = self.entry(&mut cursor, at)?;
            let mut size = len;
            for _ in 0..len {
                moves -= 1;
                if self.leads.contains(moves) {
                    size += number(&mut children, &sizes, child)?;
                    child += 1;
                }
            }
            sizes.push(&size.to_le_bytes())?;
        }
        Ok(sizes)
    }

    /// Gives the records to `put` in their order: each line to its end before the next.
    ///
    /// # Errors
    /// When a temporary file fails, when the work is interrupted, and what `put` returns.
    pub fn records(
        self,
        folder: &Path,
        memory: usize,
        (has_results, keep): (bool, Keep),
        put: &mut impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let sizes = self.sizes(folder, memory)?;
        // The number of each position's first record.
        let mut starts = Scratch::new(folder, memory / 16);
        starts.push(&0_u32.to_le_bytes())?;
        let mut sorter = Sorter::new(folder, memory / 4);
        let [mut entries, mut steps, mut size_of, mut start_of] = std::array::from_fn(|_| Cursor::default());
        let (mut of_position, mut priorities) = (Vec::new(), Vec::new());
        let (mut moves, mut child) = (0, 0);
        for at in 0..self.positions {
            interrupt::check()?;
            let [_, len] = self.entry(&mut entries, at)?;
            let here =
                steps.get(&self.steps, moves * DRAFT_MOVE_LEN as u64, len as usize * DRAFT_MOVE_LEN)?;
            of_position.clear();
            of_position.extend(here.chunks_exact(DRAFT_MOVE_LEN).filter_map(DraftMove::from_bytes));
            priorities_of(&of_position, (has_results, keep), &mut priorities);
            let mut next = number(&mut start_of, &starts, at)?;
            for (place, (step, &priority)) in (1..).zip(of_position.iter().zip(&priorities)) {
                let present = next;
                next += 1;
                let mut record = AbkRecord { priority, child: NONE, sibling: NONE, ..step.record() };
                if self.leads.contains(moves) {
                    child += 1;
                    record.child = link(next);
                    starts.push(&next.to_le_bytes())?;
                    next += number(&mut size_of, &sizes, self.positions - 1 - child)?;
                }
                if place < len {
                    record.sibling = link(next);
                }
                let mut bytes = Vec::with_capacity(NUMBER_LEN + DRAFT_MOVE_LEN);
                bytes.extend(present.to_be_bytes());
                bytes.extend(record.to_bytes());
                sorter.push(&bytes)?;
                moves += 1;
            }
        }
        drop((self, sizes, starts));
        let mut sorted = sorter.finish()?;
        while let Some(record) = sorted.next()? {
            put(record.part(NUMBER_LEN..))?;
        }
        Ok(())
    }
}

/// A number of a list.
pub(super) fn number(cursor: &mut Cursor, numbers: &Scratch, at: u64) -> Result<u32> {
    let bytes = cursor.get(numbers, at * NUMBER_LEN as u64, NUMBER_LEN)?;
    Ok(bytes::u32_le(bytes, 0).unwrap_or_default())
}

/// The link to a record, whose number counts from 0.
fn link(number: u32) -> i32 {
    i32::try_from(number + ROOT).unwrap_or(NONE)
}

/// Which priorities moves keep from Arena books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// None.
    None,
    /// Those of moves that the limits of the header do not keep from being played: the header is another.
    Playable,
    /// All that were not ruled out since: the header, with its limits, is kept too.
    WithHeader,
}

/// The priorities of a position's moves: those that they keep. Without them 0 for moves that weigh nothing. The others have the
/// default if their weights follow from games and results, or are a nearly constant multiple of them; otherwise that factor is the
/// priority, in proportion to the greatest, from 1 to 9, with which chances change least.
fn priorities_of(steps: &[DraftMove], (has_results, keep): (bool, Keep), out: &mut Vec<u8>) {
    // What readers make of games and results: the rest of the weight is the priority's part.
    let base = |step: &DraftMove| {
        let score = || score(step.white(), step.games, step.white_wins, step.white_losses);
        let score = if has_results { score() } else { 1.0 };
        f64::from(step.games.max(1)) * score
    };
    let part = |step: &DraftMove| step.weight as f64 / base(step);
    let playable = || steps.iter().filter(|step| step.weight > 0);
    let most = playable().map(part).fold(0.0, f64::max);
    let least = playable().map(part).fold(f64::INFINITY, f64::min);
    let alike = least * f64::from(HIGHEST_PRIORITY) > most * (f64::from(HIGHEST_PRIORITY) - 0.5);
    let of = |step: &DraftMove, greatest: u8| {
        let greatest = f64::from(greatest);
        (part(step) / most * greatest).round().clamp(1.0, greatest)
    };
    let sum: f64 = playable().map(|step| step.weight as f64).sum();
    // By how much chances change at most.
    let change = |greatest: u8| {
        let all: f64 = playable().map(|step| of(step, greatest) * base(step)).sum();
        let changes =
            playable().map(|step| (of(step, greatest) * base(step) / all - step.weight as f64 / sum).abs());
        changes.fold(0.0, f64::max)
    };
    let kept = |step: &DraftMove| match (step.priority(), keep) {
        (Some(_), Keep::WithHeader | Keep::Playable) if step.weight == 0 => {
            step.priority().filter(|_| step.ruled_out() && keep == Keep::WithHeader).or(Some(0))
        }
        (priority, Keep::WithHeader | Keep::Playable) => priority,
        (_, Keep::None) => None,
    };
    let greatest = if alike || steps.iter().all(|step| kept(step).is_some() || step.by_results()) {
        DEFAULT_PRIORITY
    } else {
        let better = |best, greatest| if change(greatest) + NEARLY < change(best) { greatest } else { best };
        (1..HIGHEST_PRIORITY).rev().fold(HIGHEST_PRIORITY, better)
    };
    out.clear();
    out.extend(steps.iter().map(|step| match kept(step) {
        Some(priority) => priority,
        None if step.weight == 0 => 0,
        None if alike || step.by_results() => DEFAULT_PRIORITY,
        None => of(step, greatest) as u8,
    }));
}

/// Changes of chances that differ by less than this are the same: what is less is a rounding.
const NEARLY: f64 = 1e-9;
