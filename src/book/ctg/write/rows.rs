//! What is known of each position on its way into a book: rows of a fixed size, several to a position until they are
//! put together.
//!
//! A move's counts stand in the entry of the position that it leads to, so a position is heard of more than once: from
//! its own moves, from each move that leads to it, and again where it comes mirrored or with colours swapped.

use std::cmp::Ordering;

use super::super::entry::{Rating, Statistics};
use super::super::layout::{GREEN, LONGEST_SIGNATURE, RED, STATISTICS_LEN, UNKNOWN_OF_A_GAME};
use super::super::signature::Signature;
use crate::book::Counts;

/// The greatest number of games that an entry can hold: 24 bits.
pub const MOST_GAMES: u32 = (1 << 24) - 1;

/// The most moves that an entry can hold: their length is one byte.
pub const MOST_MOVES: usize = 127;

/// Rows below which none are put together early.
const FEW: usize = 1 << 16;

/// Where a position's counts are known from; of several the best is believed, and what it says is added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Nothing is known.
    #[default]
    None,
    /// The moves that are made in it.
    Moves,
    /// The moves that lead to it.
    Reached,
    /// The position itself.
    Itself,
}

/// What a move says of the colour of the position that it leads to: a set of these.
pub const SAID_NONE: u8 = 1;
/// Green.
pub const SAID_GREEN: u8 = 2;
/// Red.
pub const SAID_RED: u8 = 4;

/// Counts of the side to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    games: u32,
    wins: u32,
    losses: u32,
    draws: u32,
}

impl Tally {
    /// Of the side to move.
    pub fn of(counts: Counts) -> Self {
        let Counts { games, wins, draws, losses } = counts;
        let [games, wins, losses, draws] =
            [games, wins, losses, draws].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        Self { games, wins, losses, draws }
    }

    /// Of the side that moved to the position, turned round.
    pub fn of_mover(counts: Counts) -> Self {
        Self::of(Counts { wins: counts.losses, losses: counts.wins, ..counts })
    }

    fn add(&mut self, other: Self) {
        self.games = self.games.saturating_add(other.games);
        self.wins = self.wins.saturating_add(other.wins);
        self.losses = self.losses.saturating_add(other.losses);
        self.draws = self.draws.saturating_add(other.draws);
    }

    /// Halved until all fit into 24 bits.
    fn fitting(self) -> Self {
        let Self { games, wins, losses, draws } = self;
        let most = games.max(wins).max(losses).max(draws);
        let shift = (u32::BITS - most.leading_zeros()).saturating_sub(MOST_GAMES.ilog2() + 1);
        Self { games: games >> shift, wins: wins >> shift, losses: losses >> shift, draws: draws >> shift }
    }
}

/// What is known of a position from one place, or from all of them.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The hash of the signature, its lowest bit first: the order of the pages.
    pub order: u32,
    len: u8,
    signature: [u8; LONGEST_SIGNATURE],
    source: Source,
    /// What moves to it say of its colour.
    pub said: u8,
    /// The code of the comment.
    pub comment: u8,
    /// How many moves it has.
    moves: u8,
    counts: Tally,
    /// Average ratings of the side to move and of the other, 0 where unknown, and the games that they are weighed with.
    ratings: [u16; 2],
    rated: u32,
    /// Where its moves begin among all.
    first: usize,
}

impl Row {
    /// A row that says nothing yet.
    pub fn new(signature: &Signature) -> Self {
        let bytes = signature.bytes();
        let mut padded = [0; LONGEST_SIGNATURE];
        padded.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
        Self {
            order: signature.hash().reverse_bits(),
            len: bytes.len() as u8,
            signature: padded,
            source: Source::None,
            said: 0,
            comment: 0,
            moves: 0,
            counts: Tally::default(),
            ratings: [0; 2],
            rated: 0,
            first: usize::MAX,
        }
    }

    /// Says what the position's counts are.
    pub fn count(&mut self, source: Source, counts: Tally) {
        (self.source, self.counts) = (source, counts);
    }

    /// Says what the averages of the side to move and of the other are.
    pub fn rate(&mut self, own: Option<u32>, other: Option<u32>) {
        let rating = |rating: Option<u32>| rating.map_or(0, |rating| rating.min(u16::MAX.into()) as u16);
        self.ratings = [rating(own), rating(other)];
        self.rated = self.counts.games.max(1);
    }

    /// The bytes under which the position is known.
    pub fn signature(&self) -> &[u8] {
        self.signature.get(..self.len.into()).unwrap_or_default()
    }

    /// Bytes of its entry.
    pub fn entry_len(&self) -> usize {
        usize::from(self.len) + 1 + 2 * usize::from(self.moves) + STATISTICS_LEN
    }

    /// Whether moves to it speak of different colours.
    pub fn is_torn(&self) -> bool {
        self.said.count_ones() > 1
    }

    /// Whether its counts do not fit.
    pub fn is_too_great(&self) -> bool {
        self.counts.fitting() != self.counts
    }

    /// Games that went through it.
    pub fn games(&self) -> u32 {
        self.counts.fitting().games
    }

    /// All that its entry says of it but the moves. What is red from anywhere is red, for what is not to be played must
    /// not be.
    pub fn statistics(&self) -> Statistics {
        let Tally { games, wins, losses, draws } = self.counts.fitting();
        let rating = |average: u16| {
            let games = games.max(1).min(u32::MAX / u32::from(average.max(1)));
            let games = if average == 0 { 0 } else { games };
            Rating { games, sum: games * u32::from(average) }
        };
        let [own, other] = self.ratings.map(rating);
        Statistics {
            games,
            wins,
            losses,
            draws,
            unknown: games * UNKNOWN_OF_A_GAME,
            own,
            other,
            recommendation: match self.said {
                said if said & SAID_RED != 0 => RED,
                said if said & SAID_GREEN != 0 => GREEN,
                _ => 0,
            },
            reserved: 0,
            comment_code: self.comment,
        }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        (self.order, &self.signature, self.first).cmp(&(other.order, &other.signature, other.first))
    }

    fn is_of(&self, other: &Self) -> bool {
        (self.order, &self.signature) == (other.order, &other.signature)
    }

    /// Adds what another row says of the same position, but for its moves.
    fn add(&mut self, other: &Self) {
        match self.source.cmp(&other.source) {
            Ordering::Less => (self.source, self.counts) = (other.source, other.counts),
            Ordering::Equal => self.counts.add(other.counts),
            Ordering::Greater => {}
        }
        self.said |= other.said;
        if self.comment == 0 {
            self.comment = other.comment;
        }
        for (rating, added) in self.ratings.iter_mut().zip(other.ratings) {
            let known = [(*rating, self.rated), (added, other.rated)];
            let known = known.map(|(rating, games)| (u64::from(rating), u64::from(games)));
            let known = known.iter().filter(|(rating, _)| *rating > 0);
            let (sum, games) =
                known.fold((0, 0), |(sum, games), (rating, rated)| (sum + rating * rated, games + rated));
            *rating = (sum + games / 2).checked_div(games).unwrap_or_default().min(u16::MAX.into()) as u16;
        }
        self.rated = self.rated.saturating_add(other.rated);
    }
}

/// All rows and all moves. Rows of one position are put together each time that their number has doubled, so there
/// are at most twice as many of them as positions.
#[derive(Debug)]
pub struct Rows {
    rows: Vec<Row>,
    /// Codes of moves and of their marks.
    moves: Vec<[u8; 2]>,
    limit: usize,
    /// Moves for which there was no room in their entry.
    left_out: u64,
}

impl Default for Rows {
    fn default() -> Self {
        Self { rows: Vec::new(), moves: Vec::new(), limit: FEW, left_out: 0 }
    }
}

impl Rows {
    /// Takes in a row that has no moves.
    pub fn push(&mut self, row: Row) {
        if self.rows.len() >= self.limit {
            self.join();
            self.limit = (self.rows.len() * 2).max(FEW);
        }
        self.rows.push(row);
    }

    /// Takes in a row with the codes of its moves and of their marks, at most [`MOST_MOVES`].
    pub fn push_with(&mut self, mut row: Row, moves: &[[u8; 2]]) {
        let moves = moves.get(..MOST_MOVES).unwrap_or(moves);
        row.first = self.moves.len();
        row.moves = moves.len() as u8;
        self.moves.extend(moves);
        self.push(row);
    }

    /// The rows in the order of the pages, one to a position.
    pub fn sorted(mut self) -> Sorted {
        self.join();
        let Self { rows, moves, left_out, .. } = self;
        Sorted { rows, moves, left_out }
    }

    /// Sorts, and puts the rows of each position together.
    fn join(&mut self) {
        self.rows.sort_unstable_by(Row::cmp);
        let mut rows = std::mem::take(&mut self.rows);
        rows.dedup_by(|next, kept| {
            let same = next.is_of(kept);
            if same {
                kept.add(next);
                self.join_moves(kept, next);
            }
            same
        });
        self.rows = rows;
    }

    /// Gives a row the moves of another that it does not have yet.
    fn join_moves(&mut self, kept: &mut Row, next: &Row) {
        if next.moves == 0 {
            return;
        }
        if kept.moves == 0 {
            (kept.first, kept.moves) = (next.first, next.moves);
            return;
        }
        let mut all = moves_of(&self.moves, kept).to_vec();
        let before = all.len();
        for &[code, mark] in moves_of(&self.moves, next) {
            if let Some([_, known]) = all.iter_mut().find(|[known, _]| *known == code) {
                if *known == 0 {
                    *known = mark;
                }
            } else if all.len() < MOST_MOVES {
                all.push([code, mark]);
            } else {
                self.left_out += 1;
            }
        }
        if all.len() > before {
            kept.first = self.moves.len();
            kept.moves = all.len() as u8;
            self.moves.extend(&all);
        } else if let Some(places) = self.moves.get_mut(kept.first..kept.first + before) {
            places.copy_from_slice(&all);
        }
    }
}

fn moves_of<'a>(moves: &'a [[u8; 2]], row: &Row) -> &'a [[u8; 2]] {
    moves.get(row.first..).and_then(|moves| moves.get(..row.moves.into())).unwrap_or_default()
}

/// All positions, one row to each, in the order of the pages.
#[derive(Debug)]
pub struct Sorted {
    /// The rows.
    pub rows: Vec<Row>,
    moves: Vec<[u8; 2]>,
    /// Moves for which there was no room in their entry.
    pub left_out: u64,
}

impl Sorted {
    /// The codes of a row's moves and of their marks.
    pub fn moves_of(&self, row: &Row) -> &[[u8; 2]] {
        moves_of(&self.moves, row)
    }

    /// The row of a position.
    pub fn find(&self, signature: &Signature) -> Option<&Row> {
        let wanted = Row::new(signature);
        let from =
            self.rows.partition_point(|row| (row.order, &row.signature) < (wanted.order, &wanted.signature));
        self.rows.get(from).filter(|row| row.is_of(&wanted))
    }
}
