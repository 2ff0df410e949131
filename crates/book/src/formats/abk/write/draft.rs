//! Collects a book, in temporary files if memory has no room: the moves of each position once, in the order of the
//! positions' keys.
//!
//! Arena's tree has a branch for each line. Then a position's moves would be in the file, and count, once for each path to
//! it, and there can be more paths than any file holds. So the moves of a position are written once, after the first of
//! the shortest paths from the start (the first in the order of weights). Any other line ends with the move that leads to
//! the position, and readers find the rest by position. So each move's counts are in the file once, and the file has
//! exactly as many records as the book has moves.
#![allow(
    clippy::cast_possible_truncation,
    reason = "counts are shifted until they fit, and a node is taken from 128 bits part by part"
)]

use std::borrow::Cow;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use bytemuck::{Pod, Zeroable};
use shakmaty::{Color, Move, Position as _};

use tabiya_base::error::Result;
use tabiya_base::scratch::Scratch;
use tabiya_base::table::Table;
use tabiya_chess::{MoveCode, PACKED_LEN, Packed, Position};

use super::super::extra::priority;
use super::super::layout::HIGHEST_PRIORITY;
use super::super::records::{AbkHeader, AbkRecord};
use crate::{Counts, PositionRecord, plain_weights};

/// The least memory that a draft uses, in bytes.
const MIN_MEMORY: usize = 1 << 20;

/// Bytes of a position: its key, the number of its first move, and how many it has.
const NODE_LEN: usize = size_of::<u128>();

/// Bytes of a move.
pub(crate) const DRAFT_MOVE_LEN: usize = size_of::<DraftMove>();

/// The content of an Arena book that is being written.
#[derive(Debug)]
pub struct AbkDraft {
    /// The folder for temporary files.
    pub(super) folder: PathBuf,
    /// Bytes that may be held in memory.
    pub(super) memory: usize,
    nodes: Table<NODE_LEN>,
    /// The board of each position, in the order of the positions.
    boards: Scratch,
    /// The moves of all positions, in the order of the positions.
    steps: Scratch,
    /// The header of the book that this one is made of.
    pub(super) header: Option<AbkHeader>,
    /// Whether all moves come from Arena books, so that they keep their priorities.
    pub(super) keeps_priorities: bool,
    /// Whether some moves were decided, so that the header must let them be played as their weights say.
    pub(super) decided: bool,
    pub(super) has_games: bool,
    pub(super) has_results: bool,
    pub(super) lost: AbkLeftOut,
    /// Reused to save allocations.
    fresh: Vec<DraftMove>,
}

/// A position's number, and where its moves are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DraftNode {
    /// Its number in the order of keys.
    pub number: u32,
    /// The number of its first move.
    pub first: u32,
    /// How many moves it has.
    pub len: u32,
}

/// A move: its record without priority and links, what the priority is made of, and the position that it leads to.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct DraftMove {
    /// The position that it leads to.
    pub next: u64,
    pub weight: u64,
    pub games: u32,
    /// Games that White won.
    pub white_wins: u32,
    /// Games that White lost.
    pub white_losses: u32,
    from: u8,
    to: u8,
    promotion: i8,
    flags: u8,
}

/// Set in the flags of a step that White makes.
const WHITE: u8 = 1;

/// Set if the weights of its position are proportional to results.
const BY_RESULTS: u8 = 2;

/// Set if it has a weight, but for the limits of its book's header.
const RULED_OUT: u8 = 4;

/// From this bit on, one more than the priority that the move has; 0 for none.
const PRIORITY_SHIFT: u32 = 4;

impl DraftMove {
    /// A legal move to the position of this key, of which nothing else is known.
    pub(crate) fn leading(position: &Position, mv: Move, next: u64) -> Self {
        let AbkRecord { from, to, promotion, .. } = AbkRecord::from_move(mv);
        let flags = if position.chess().turn() == Color::White { WHITE } else { 0 };
        Self { next, weight: 0, games: 0, white_wins: 0, white_losses: 0, from, to, promotion, flags }
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytemuck::try_pod_read_unaligned(bytes).ok()
    }

    /// Whether White makes it.
    pub fn white(&self) -> bool {
        self.flags & WHITE != 0
    }

    /// Whether the weights of its position are proportional to results.
    pub(crate) fn by_results(&self) -> bool {
        self.flags & BY_RESULTS != 0
    }

    /// Whether the limits of its book's header keep it from being played.
    pub(crate) fn ruled_out(&self) -> bool {
        self.flags & RULED_OUT != 0
    }

    /// The priority that it had in an Arena book.
    pub(crate) fn priority(&self) -> Option<u8> {
        (self.flags >> PRIORITY_SHIFT).checked_sub(1)
    }

    /// Its record, without priority and links.
    pub fn record(&self) -> AbkRecord {
        let Self { from, to, promotion, games, white_wins, white_losses, .. } = *self;
        let [games, white_wins, white_losses] = [games, white_wins, white_losses].map(u32::cast_signed);
        AbkRecord { from, to, promotion, games, white_wins, white_losses, ..AbkRecord::default() }
    }

    /// Its code in Polyglot's form.
    pub fn raw(&self) -> MoveCode {
        self.record().mv().unwrap_or(MoveCode::NULL)
    }
}

/// What the format has no place for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AbkLeftOut {
    pub(super) illegal: u64,
    pub(super) unknown: u64,
    pub(super) counts: u64,
    pub(super) marks: u64,
    pub(super) ratings: u64,
    pub(super) learned: u64,
    pub(super) comments: u64,
}

impl AbkDraft {
    /// An empty book, which holds about this many bytes in memory and the rest in temporary files in a folder.
    pub fn new(folder: &Path, memory: usize) -> Self {
        let memory = memory.max(MIN_MEMORY);
        Self {
            folder: folder.to_owned(),
            memory,
            nodes: Table::new(folder, memory / 8),
            boards: Scratch::new(folder, memory / 16),
            steps: Scratch::new(folder, memory / 8),
            header: None,
            keeps_priorities: false,
            decided: false,
            has_games: false,
            has_results: false,
            lost: AbkLeftOut::default(),
            fresh: Vec::new(),
        }
    }

    /// Takes the header of the first Arena book, and whether no book of another format is written.
    pub(super) fn describe(&mut self, header: AbkHeader, alone: bool) {
        (self.header, self.keeps_priorities) = (Some(header), alone);
    }

    /// Takes in a position. Keys must ascend; positions out of order are left out. What a decision, colours, marks and
    /// factors keep from being played in tournaments gets priority 0. Where moves were decided, no priority stays.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub fn add(&mut self, known: &PositionRecord) -> Result<()> {
        let original = known;
        let mut known = Cow::Borrowed(known);
        let decided = known.moves.iter().any(|known| known.decision.is_some());
        self.decided |= decided;
        let keeps = self.keeps_priorities && !decided;
        let priority = |mv| {
            let found = if keeps { priority(&known, mv) } else { None };
            found.map(|priority| priority.min(HIGHEST_PRIORITY))
        };
        let priorities: Vec<_> = known.moves.iter().map(|known| priority(known.mv)).collect();
        let keeps = priorities.iter().any(Option::is_some);
        if known.moves.iter().any(|known| known.has_verdict() || known.factor.is_some()) {
            plain_weights(known.to_mut());
        }
        let packed = known.position.as_ref().and_then(|position| Some((position, Packed::new(position)?)));
        let Some((position, packed)) = packed else {
            self.lost.unknown += 1;
            return Ok(());
        };
        let scored =
            || known.moves.iter().any(|known| known.counts.is_some_and(|counts| counts.points() > 0));
        let by_results = if !decided && scored() && known.weighs_by_results() { BY_RESULTS } else { 0 };
        let white = position.chess().turn() == Color::White;
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.clear();
        for ((known, original), priority) in known.moves.iter().zip(&original.moves).zip(priorities) {
            let Some(found) = known.at(position) else {
                self.lost.illegal += 1;
                continue;
            };
            let mut step = DraftMove::leading(position, found.mv, position.key_after(found.mv));
            let [games, wins, losses] = self.fitting(known.counts.unwrap_or_default());
            (step.weight, step.games) = (known.weight, games);
            (step.white_wins, step.white_losses) = if white { (wins, losses) } else { (losses, wins) };
            step.flags |= by_results | priority.map_or(0, |priority| (priority + 1) << PRIORITY_SHIFT);
            // Where the header is kept, its limits act again.
            if keeps && known.weight == 0 && original.weight > 0 {
                step.flags |= RULED_OUT;
            }
            self.lost.marks += u64::from(!keeps && known.is_marked());
            self.lost.ratings += u64::from(known.ratings.is_some());
            self.lost.learned += u64::from(known.learned.is_some());
            fresh.push(step);
        }
        self.lost.comments += u64::from(known.comment.is_some());
        // Sums of weights of several books depend on the order in which these are merged; their facts do not.
        let worth = |step: &DraftMove| match step.priority() {
            Some(priority) => u64::from(priority) * u64::from(step.games.max(1)),
            None => step.weight,
        };
        fresh.sort_by_key(|step| (Reverse(worth(step)), step.from, step.to, step.promotion));
        let pushed = self.push(known.key, Some(packed), &fresh);
        self.fresh = fresh;
        pushed
    }

    /// Games, wins and losses in 31 bits each, halved together until all fit.
    fn fitting(&mut self, counts: Counts) -> [u32; 3] {
        let games = counts.games.max(counts.wins.saturating_add(counts.losses));
        let shift = (u64::BITS - games.leading_zeros()).saturating_sub(i32::BITS - 1);
        self.lost.counts += u64::from(shift > 0);
        [games, counts.wins, counts.losses].map(|count| (count >> shift) as u32)
    }

    /// Appends a position if it has moves. It may come without its board if that is no longer needed.
    pub fn push(&mut self, key: u64, board: Option<Packed>, steps: &[DraftMove]) -> Result<()> {
        let (Ok(first), Ok(len)) = (u32::try_from(self.moves()), u32::try_from(steps.len())) else {
            return Ok(());
        };
        let node = u128::from(key) << 64 | u128::from(first) << 32 | u128::from(len);
        if len == 0 || !self.nodes.push(&node.to_be_bytes())? {
            return Ok(());
        }
        if let Some(board) = board {
            self.boards.push(&board.0)?;
        }
        for step in steps {
            self.has_games |= step.games != 0;
            self.has_results |= step.white_wins | step.white_losses != 0;
        }
        self.steps.push(bytemuck::cast_slice(steps))
    }

    /// An empty book that knows what this one has left out.
    pub(crate) fn emptied(&self) -> Self {
        let (header, keeps_priorities) = (self.header.clone(), self.keeps_priorities);
        let decided = self.decided;
        Self { lost: self.lost, header, keeps_priorities, decided, ..Self::new(&self.folder, self.memory) }
    }

    /// How many positions there are.
    pub fn positions(&self) -> u64 {
        self.nodes.len()
    }

    /// How many moves there are.
    pub fn moves(&self) -> u64 {
        self.steps.size() / DRAFT_MOVE_LEN as u64
    }

    /// The position of this key.
    pub fn find(&self, key: u64) -> Result<Option<DraftNode>> {
        Ok(self.nodes.find(key)?.map(|(number, node)| read_node(number, node).1))
    }

    /// The key of a position, and the position.
    pub(crate) fn node(&self, number: u32) -> Result<(u64, DraftNode)> {
        Ok(read_node(number.into(), self.nodes.get(number.into())?))
    }

    /// The board of a position.
    pub fn board(&self, number: u32) -> Result<Option<Position>> {
        let mut packed = [0; PACKED_LEN];
        self.boards.read(u64::from(number) * PACKED_LEN as u64, &mut packed)?;
        Ok(Packed(packed).unpack())
    }

    /// The moves of a position.
    pub fn steps(&self, node: DraftNode, out: &mut Vec<DraftMove>) -> Result<()> {
        out.resize(node.len as usize, DraftMove::zeroed());
        self.steps.read(u64::from(node.first) * DRAFT_MOVE_LEN as u64, bytemuck::cast_slice_mut(out))
    }
}

/// The key of a position, and the position, from its record.
fn read_node(number: u64, record: [u8; NODE_LEN]) -> (u64, DraftNode) {
    let node = u128::from_be_bytes(record);
    ((node >> 64) as u64, DraftNode { number: number as u32, first: (node >> 32) as u32, len: node as u32 })
}
