//! A book as it is put together, in temporary files where memory has no room: the moves of each position once, in the
//! order of the positions' keys.
//!
//! Arena's tree has a branch for each line, but a position's moves would then be in the file, and count, once for each
//! way to it, and there can be more ways than any file holds. So the moves of a position are written once, after the
//! first of the shortest ways from the start (the first in the order of weights); on any other way the line ends with
//! the move that leads to it, and goes on by position, as readers find it. So each move's counts are in the file once,
//! and it has exactly as many records as the book has moves.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use bytemuck::{Pod, Zeroable};
use shakmaty::{Color, Move, Position as _};

use super::super::records::Record;
use crate::base::error::Result;
use crate::base::scratch::Scratch;
use crate::base::table::Table;
use crate::book::plain_weights;
use crate::book::{Counts, PositionRecord};
use crate::chess::MoveCode;
use crate::chess::{PACKED_LEN, Packed, Position};

/// The least memory that a draft makes use of, in bytes.
const LEAST_MEMORY: usize = 1 << 20;

/// Bytes of a position among all: its key, and where its moves begin and how many they are.
const PLACE_LEN: usize = size_of::<u64>() + 2 * size_of::<u32>();

/// Bytes of a move among all.
pub const STEP_LEN: usize = size_of::<Step>();

/// An Arena book on its way into its file.
#[derive(Debug)]
pub struct Draft {
    folder: PathBuf,
    memory: usize,
    places: Table<PLACE_LEN>,
    /// For each place its position.
    boards: Scratch,
    /// The moves of all places, in their order.
    steps: Scratch,
    pub(super) has_games: bool,
    pub(super) has_results: bool,
    pub(super) lost: Lost,
    /// Kept to save allocations.
    fresh: Vec<Step>,
}

/// The number of a position among all, and where its moves are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its number, in the order of keys.
    pub number: u32,
    /// The number of its first move.
    pub first: u32,
    /// How many moves it has.
    pub len: u32,
}

/// A move: its record but for priority and links, what the priority is made of, and the position that it leads to.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Step {
    /// The position that it leads to.
    pub next: u64,
    /// The weight.
    pub weight: u64,
    /// Games.
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

/// Set where the weights of its position are in proportion to results.
const BY_RESULTS: u8 = 2;

impl Step {
    /// A legal move that says nothing, but leads to the position of this key.
    pub fn leading(position: &Position, mv: Move, next: u64) -> Self {
        let Record { from, to, promotion, .. } = Record::of(mv);
        let flags = if position.chess().turn() == Color::White { WHITE } else { 0 };
        Self { next, weight: 0, games: 0, white_wins: 0, white_losses: 0, from, to, promotion, flags }
    }

    /// Reads it.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytemuck::try_pod_read_unaligned(bytes).ok()
    }

    /// Whether White makes it.
    pub fn white(&self) -> bool {
        self.flags & WHITE != 0
    }

    /// Whether the weights of its position are in proportion to results.
    pub fn by_results(&self) -> bool {
        self.flags & BY_RESULTS != 0
    }

    /// Its record, with neither priority nor links.
    pub fn record(&self) -> Record {
        let Self { from, to, promotion, games, white_wins, white_losses, .. } = *self;
        let [games, white_wins, white_losses] = [games, white_wins, white_losses].map(u32::cast_signed);
        Record { from, to, promotion, games, white_wins, white_losses, ..Record::EMPTY }
    }

    /// Its code in Polyglot's form.
    pub fn raw(&self) -> MoveCode {
        self.record().mv().unwrap_or(MoveCode::NULL)
    }
}

/// What the format has no place for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lost {
    pub(super) illegal: u64,
    pub(super) unknown: u64,
    pub(super) counts: u64,
    pub(super) marks: u64,
    pub(super) ratings: u64,
    pub(super) learned: u64,
    pub(super) comments: u64,
}

impl Draft {
    /// An empty book, which holds about this many bytes in memory and puts the rest into temporary files in a folder.
    pub fn new(folder: &Path, memory: usize) -> Self {
        let memory = memory.max(LEAST_MEMORY);
        Self {
            folder: folder.to_owned(),
            memory,
            places: Table::new(folder, memory / 8),
            boards: Scratch::new(folder, memory / 16),
            steps: Scratch::new(folder, memory / 8),
            has_games: false,
            has_results: false,
            lost: Lost::default(),
            fresh: Vec::new(),
        }
    }

    /// Takes in a position, in the ascending order of keys; what does not ascend is left out. What colours and marks
    /// keep from being played in tournaments gets the priority 0.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub fn add(&mut self, known: &PositionRecord) -> Result<()> {
        let judged =
            known.moves.iter().any(|known| known.annotation.is_some() || known.recommended.is_some());
        if judged {
            let mut plain = known.clone();
            plain_weights(&mut plain);
            self.add_plain(&plain)
        } else {
            self.add_plain(known)
        }
    }

    fn add_plain(&mut self, known: &PositionRecord) -> Result<()> {
        let packed = known.position.as_ref().and_then(|position| Some((position, Packed::new(position)?)));
        let Some((position, packed)) = packed else {
            self.lost.unknown += 1;
            return Ok(());
        };
        let by_results = if known.weighs_by_results() { BY_RESULTS } else { 0 };
        let white = position.chess().turn() == Color::White;
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.clear();
        for known in &known.moves {
            let Some(found) = known.at(position) else {
                self.lost.illegal += 1;
                continue;
            };
            let mut step = Step::leading(position, found.mv, position.after(found.mv).key());
            let counts = known.counts.unwrap_or(Counts { games: 0, wins: 0, draws: 0, losses: 0 });
            let [games, wins, losses] = self.fitting(counts);
            (step.weight, step.games) = (known.weight, games);
            (step.white_wins, step.white_losses) = if white { (wins, losses) } else { (losses, wins) };
            step.flags |= by_results;
            self.lost.marks += u64::from(known.annotation.is_some() || known.recommended.is_some());
            self.lost.ratings += u64::from(known.ratings.is_some());
            self.lost.learned += u64::from(known.learned.is_some());
            fresh.push(step);
        }
        self.lost.comments += u64::from(known.comment.is_some());
        fresh.sort_by_key(|step| (Reverse(step.weight), step.from, step.to, step.promotion));
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

    /// Appends a position that has moves; where it is not looked at again, without its board.
    pub fn push(&mut self, key: u64, board: Option<Packed>, steps: &[Step]) -> Result<()> {
        let first = self.steps.size() / STEP_LEN as u64;
        let (Ok(first), Ok(len)) = (u32::try_from(first), u32::try_from(steps.len())) else { return Ok(()) };
        let mut place = [0; PLACE_LEN];
        let fields = key.to_be_bytes().into_iter().chain(first.to_le_bytes()).chain(len.to_le_bytes());
        place.iter_mut().zip(fields).for_each(|(place, byte)| *place = byte);
        if len == 0 || !self.places.push(&place)? {
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

    /// The folder for temporary files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Bytes that may be held in memory.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// A book with nothing in it, and this one's notes on what is left out.
    pub fn emptied(&self) -> Self {
        Self { lost: self.lost, ..Self::new(&self.folder, self.memory) }
    }

    /// How many positions there are.
    pub fn positions(&self) -> u64 {
        self.places.len()
    }

    /// The position of this key.
    pub fn find(&self, key: u64) -> Result<Option<Place>> {
        Ok(self.places.find(key)?.map(|(number, place)| read_place(number, &place).1))
    }

    /// The position of this number, and its key.
    pub fn place(&self, number: u32) -> Result<(u64, Place)> {
        Ok(read_place(number.into(), &self.places.get(number.into())?))
    }

    /// The board of a position.
    pub fn board(&self, number: u32) -> Result<Option<Position>> {
        let mut packed = [0; PACKED_LEN];
        self.boards.read(u64::from(number) * PACKED_LEN as u64, &mut packed)?;
        Ok(Packed(packed).unpack())
    }

    /// The moves of a position.
    pub fn steps(&self, place: Place, out: &mut Vec<Step>) -> Result<()> {
        out.resize(place.len as usize, Step::zeroed());
        self.steps.read(u64::from(place.first) * STEP_LEN as u64, bytemuck::cast_slice_mut(out))
    }
}

/// A position's key and place out of its record.
fn read_place(number: u64, record: &[u8; PLACE_LEN]) -> (u64, Place) {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *record;
    let (first, len) = (u32::from_le_bytes([i, j, k, l]), u32::from_le_bytes([m, n, o, p]));
    (u64::from_be_bytes([a, b, c, d, e, f, g, h]), Place { number: number as u32, first, len })
}
