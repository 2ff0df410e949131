//! Records of the positions of a book that is being written: a position has several, until they are sorted and merged.
//!
//! A move's counts are in the entry of the position that it leads to, so there is a record from the position itself, one
//! from each move that leads to it, and the same again for its mirrored form and the one with swapped colours.
#![allow(
    clippy::cast_possible_truncation,
    reason = "counts are shifted until they fit, and a position has at most 218 moves"
)]

use std::cmp::Ordering;

use bytemuck::{Pod, Zeroable};

use super::super::entry::{Rating, Statistics};
use super::super::layout::{GREEN, LENGTH_BITS, MAX_MOVES, RED, UNKNOWN_OF_A_GAME};
use super::super::signature::Signature;
use super::kept::{
    CtgEntry, Differences, KeptEntries, SAID_FREE, SAID_GREEN, SAID_NONE, SAID_PLAYED, SAID_RED,
};
use super::words::Unless;
use crate::verdict::Chosen;
use crate::{Annotation, Counts, Recommendation};

/// The most games that an entry can hold: 24 bits.
pub(crate) const MAX_GAMES: u32 = (1 << 24) - 1;

/// Bytes of the hash at the start of a record, before the signature. Its lowest bit comes first, because that is the order
/// of the pages.
const ORDER_LEN: usize = size_of::<u32>();

/// Follows the signature in a position's own record, which sorts before those of moves.
const OWN: u8 = 0;

/// Follows the signature in the record of a move to a position.
const REACHED: u8 = 1;

/// Where a position's counts come from. Counts from the best source are added up, the others are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[non_exhaustive]
pub enum CountSource {
    #[default]
    None,
    /// The moves that are made in it.
    Moves,
    /// The moves that lead to it.
    Reached,
    Itself,
}

/// Counts of the side to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Tally {
    games: u32,
    wins: u32,
    losses: u32,
    draws: u32,
}

impl Tally {
    /// The same in 32 bits.
    pub fn from_counts(counts: Counts) -> Self {
        let Counts { games, wins, draws, losses } = counts;
        let [games, wins, losses, draws] =
            [games, wins, losses, draws].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        Self { games, wins, losses, draws }
    }

    fn read(record: &[u8]) -> Option<Self> {
        bytemuck::try_pod_read_unaligned(record.get(..TALLY_LEN)?).ok()
    }

    fn add(&mut self, other: Self) {
        self.games = self.games.saturating_add(other.games);
        self.wins = self.wins.saturating_add(other.wins);
        self.losses = self.losses.saturating_add(other.losses);
        self.draws = self.draws.saturating_add(other.draws);
    }

    /// Halved until all fit into 24 bits. The greatest number may stand for more, so there are at least as many games as
    /// results then.
    fn fitting(self) -> Self {
        let Self { games, wins, losses, draws } = self;
        let ended = [wins, losses, draws].map(u64::from).iter().sum::<u64>();
        let cut = [games, wins, losses, draws].contains(&u32::MAX);
        let games = u64::from(games).max(if cut { ended } else { 0 });
        let most = games.max(wins.max(losses).max(draws).into());
        let shift = (u64::BITS - most.leading_zeros()).saturating_sub(MAX_GAMES.ilog2() + 1);
        Self {
            games: (games >> shift) as u32,
            wins: wins >> shift,
            losses: losses >> shift,
            draws: draws >> shift,
        }
    }
}

/// Bytes of a tally in a record.
const TALLY_LEN: usize = size_of::<Tally>();

/// What a position says of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct CtgOwn {
    /// Where its counts come from.
    pub source: CountSource,
    pub counts: Tally,
    /// The code of its comment.
    pub comment: u8,
    /// The codes of its moves and of their marks, at most [`MAX_MOVES`].
    pub moves: Vec<[u8; 2]>,
    /// Whether their marks are those that were decided.
    pub decided: bool,
    /// The codes of the moves that were chosen.
    pub chosen: Vec<u8>,
    /// The entries of CTG books.
    pub entries: Vec<CtgEntry>,
}

/// What a move says of the position that it leads to.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct MoveRecord {
    pub counts: Tally,
    /// Average ratings of the side to move and of the other; 0 for none.
    pub ratings: [u16; 2],
    /// What it says of the colour.
    pub said: u8,
    /// Whether it has counts.
    pub counted: u8,
    /// The layout has no gaps.
    pub unused: [u8; 2],
}

fn put_head(signature: &Signature, out: &mut Vec<u8>) {
    out.extend(signature.hash().reverse_bits().to_be_bytes());
    out.extend(signature.bytes());
}

impl CtgOwn {
    /// Appends the record of the position, which keeps the `number` order among those of the same position.
    pub fn write(&self, signature: &Signature, number: u64, out: &mut Vec<u8>) {
        put_head(signature, out);
        out.push(OWN);
        out.extend(number.to_be_bytes());
        out.extend([self.source as u8, self.comment, self.decided.into()]);
        out.extend(bytemuck::bytes_of(&self.counts));
        let moves = self.moves.get(..MAX_MOVES).unwrap_or(&self.moves);
        out.push(moves.len() as u8);
        out.extend(moves.as_flattened());
        let chosen = self.chosen.get(..MAX_MOVES).unwrap_or(&self.chosen);
        out.push(chosen.len() as u8);
        out.extend(chosen);
        for CtgEntry { book, bytes } in &self.entries {
            out.extend(book.to_be_bytes());
            out.extend((bytes.len() as u16).to_be_bytes());
            out.extend(bytes);
        }
    }

    fn read(record: &[u8]) -> Option<Self> {
        let (&[source, comment, decided], rest) = record.get(size_of::<u64>()..)?.split_first_chunk()?;
        let sources = [CountSource::Moves, CountSource::Reached, CountSource::Itself];
        let source = sources.into_iter().find(|known| *known as u8 == source).unwrap_or_default();
        let (count, after) = rest.get(TALLY_LEN..)?.split_first()?;
        let (moves, after) = after.split_at_checked(2 * usize::from(*count))?;
        let (count, after) = after.split_first()?;
        let (chosen, mut after) = after.split_at_checked(usize::from(*count))?;
        let mut entries = Vec::new();
        while let Some((book, more)) = after.split_first_chunk() {
            let (len, more) = more.split_first_chunk()?;
            let (bytes, more) = more.split_at_checked(u16::from_be_bytes(*len).into())?;
            entries.push(CtgEntry { book: u32::from_be_bytes(*book), bytes: bytes.to_vec() });
            after = more;
        }
        let moves = moves.as_chunks().0.to_vec();
        let (counts, decided) = (Tally::read(rest)?, decided != 0);
        Some(Self { source, comment, counts, moves, decided, chosen: chosen.to_vec(), entries })
    }
}

impl MoveRecord {
    /// Appends the record of the move to this position; `marked` says which move of which position may need a mark, and when.
    pub fn write(&self, signature: &Signature, marked: Option<(Unless, u8, &Signature)>, out: &mut Vec<u8>) {
        put_head(signature, out);
        out.push(REACHED);
        out.extend(bytemuck::bytes_of(self));
        if let Some((unless, code, from)) = marked {
            out.push(unless as u8);
            put_head(from, out);
            out.push(code);
        }
    }
}

/// The merged records of one position.
#[derive(Clone, Debug, Default)]
pub struct PositionRow {
    /// The hash of the signature, its lowest bit first: the order of the pages.
    pub order: u32,
    /// The signature of the position.
    pub signature: Vec<u8>,
    source: CountSource,
    counts: Tally,
    /// What moves to it say of its colour.
    said: u8,
    /// What entries of CTG books say of it.
    entries_said: u8,
    comment: u8,
    /// The codes of its moves and of their marks.
    pub moves: Vec<[u8; 2]>,
    /// Whether the marks were decided.
    decided: bool,
    /// What was chosen of its moves.
    chosen: Chosen,
    /// Moves to it that need a mark if its colour is another than they say: the heads of their positions, and their codes.
    marked: Vec<(Unless, Vec<u8>)>,
    /// Moves for which there was no room.
    pub left_out: u64,
    /// Ratings of the side to move and of the other: their sum, weighted by games, and the games.
    ratings: [(u64, u64); 2],
    /// What CTG books hold of it.
    kept: KeptEntries,
}

impl PositionRow {
    /// Whether a record belongs to another position than those so far.
    pub(crate) fn is_other(&self, record: &[u8]) -> bool {
        !self.signature.is_empty()
            && !record.get(ORDER_LEN..).is_some_and(|rest| rest.starts_with(&self.signature))
    }

    /// Whether it has no record yet.
    pub fn is_empty(&self) -> bool {
        self.signature.is_empty()
    }

    pub fn clear(&mut self) {
        let Self { mut signature, mut moves, .. } = std::mem::take(self);
        signature.clear();
        moves.clear();
        *self = Self { signature, moves, ..Self::default() };
    }

    /// Adds a record of the position.
    pub fn add(&mut self, record: &[u8]) {
        let Some((order, rest)) = record.split_first_chunk() else { return };
        let len = rest.first().map_or(0, |head| usize::from(head & LENGTH_BITS));
        let Some((signature, rest)) = rest.split_at_checked(len) else { return };
        if self.is_empty() {
            self.order = u32::from_be_bytes(*order);
            self.signature.extend(signature);
        }
        match rest.split_first() {
            Some((&OWN, rest)) => self.add_own(CtgOwn::read(rest)),
            Some((_, rest)) => {
                let (reached, marked) = rest.split_at_checked(size_of::<MoveRecord>()).unwrap_or_default();
                self.add_reached(bytemuck::try_pod_read_unaligned(reached).unwrap_or_default());
                let marked = marked.split_first();
                let marked = marked.and_then(|(unless, at)| Some((Unless::of_byte(*unless)?, at.to_vec())));
                self.marked.extend(marked);
            }
            None => {}
        }
    }

    fn add_own(&mut self, own: Option<CtgOwn>) {
        let Some(CtgOwn { source, counts, comment, moves, decided, chosen, entries }) = own else { return };
        self.kept.add(entries);
        self.decided |= decided;
        self.chosen.add(&chosen);
        self.count(source, counts);
        if self.comment == 0 {
            self.comment = comment;
        }
        for [code, mark] in moves {
            if let Some([_, known]) = self.moves.iter_mut().find(|[known, _]| *known == code) {
                if *known == 0 {
                    *known = mark;
                }
            } else if self.moves.len() < MAX_MOVES {
                self.moves.push([code, mark]);
            } else {
                self.left_out += 1;
            }
        }
    }

    fn add_reached(&mut self, reached: MoveRecord) {
        let MoveRecord { counts, said, counted, ratings, .. } = reached;
        if counted != 0 {
            self.count(CountSource::Reached, counts);
        }
        self.said |= said;
        let games = u64::from(counts.games.max(1));
        for ((sum, all), average) in self.ratings.iter_mut().zip(ratings) {
            if average > 0 {
                *sum = sum.saturating_add(u64::from(average) * games);
                *all = all.saturating_add(games);
            }
        }
    }

    fn count(&mut self, source: CountSource, counts: Tally) {
        match self.source.cmp(&source) {
            Ordering::Less => (self.source, self.counts) = (source, counts),
            Ordering::Equal => self.counts.add(counts),
            Ordering::Greater => {}
        }
    }

    /// Brings what CTG books hold of it into its moves, once all records are added. Returns how it differs between them.
    pub fn complete(&mut self) -> Differences {
        for [_, mark] in self.moves.iter_mut().filter(|[code, _]| !self.chosen.leaves(*code)) {
            *mark = Annotation::Bad.nag();
        }
        let differences = self.kept.complete(&mut self.moves, self.decided);
        self.entries_said = differences.said;
        self.left_out += differences.left_out;
        differences
    }

    /// Whether its moves have the upper bits of marks in the book that they are from.
    pub fn upper_bits(&self) -> u8 {
        self.kept.upper
    }

    /// Its colour: red if all moves to it are, because what is red on one path only can have a mark there, and green if one is.
    /// What books say of it counts where no move leads to it.
    fn color(&self) -> Option<Recommendation> {
        let (said, others) = match self.said {
            0 => (self.entries_said, 0),
            said => (said, SAID_NONE | SAID_GREEN),
        };
        if said & SAID_RED != 0 && said & others == 0 {
            return Some(Recommendation::Red);
        }
        (said & SAID_GREEN != 0).then_some(Recommendation::Green)
    }

    /// Whether a factor that means never is not kept, because a move to it is played.
    fn frees(&self) -> bool {
        self.said & SAID_FREE != 0
    }

    /// The moves to it that need a mark, because they are not to be played and its colour does not say so: the heads of their
    /// positions, and their codes.
    pub(crate) fn marked(&self) -> impl Iterator<Item = &[u8]> {
        let color = self.color();
        let is_never = !self.marked.is_empty() && self.statistics().is_never();
        let needs = move |unless: Unless| match unless {
            Unless::Red => color != Some(Recommendation::Red),
            Unless::NotGreen => color == Some(Recommendation::Green),
            Unless::Factor => !is_never,
            Unless::Scored => self.counts.losses | self.counts.draws != 0,
        };
        self.marked.iter().filter(move |(unless, _)| needs(*unless)).map(|(_, at)| at.as_slice())
    }

    /// Whether moves to it, or books, say of it what neither its colour nor marks of these moves say.
    pub(crate) fn is_torn(&self) -> bool {
        let plays = (self.said | self.entries_said) & (SAID_NONE | SAID_GREEN);
        if self.color() == Some(Recommendation::Red) {
            return plays != 0;
        }
        let is_red = self.entries_said & SAID_RED != 0 && self.said & (SAID_RED | SAID_PLAYED) == 0;
        is_red || plays.count_ones() > 1
    }

    /// Whether its counts do not fit.
    pub(crate) fn is_too_great(&self) -> bool {
        self.counts.fitting() != self.counts
    }

    /// Games that went through it.
    pub fn games(&self) -> u32 {
        self.counts.fitting().games
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend(&self.signature);
        out.push(1 + 2 * self.moves.len() as u8);
        out.extend(self.moves.as_flattened());
        self.statistics().write(out);
    }

    /// What its entry says of it, without the moves.
    fn statistics(&self) -> Statistics {
        let Tally { games, wins, losses, draws } = self.counts.fitting();
        let rating = |(sum, all): (u64, u64)| {
            let average = (sum + all / 2).checked_div(all).unwrap_or_default().min(u16::MAX.into()) as u32;
            let games = games.max(1).min(u32::MAX / average.max(1));
            let games = if average == 0 { 0 } else { games };
            Rating { games, sum: games * average }
        };
        let [own, other] = self.ratings.map(rating);
        let colour = match self.color() {
            Some(Recommendation::Red) => RED,
            Some(Recommendation::Green) => GREEN,
            None => 0,
        };
        let Some(kept) = self.kept.statistics() else {
            let (unknown, comment_code) = (games * UNKNOWN_OF_A_GAME, self.comment);
            let counts = Statistics { games, wins, losses, draws, ..Statistics::default() };
            return Statistics { unknown, own, other, recommendation: colour, comment_code, ..counts };
        };
        // Games of other books are added to those of CTG books.
        let more = games.saturating_sub(kept.games).saturating_mul(UNKNOWN_OF_A_GAME);
        let is_same = Statistics { recommendation: colour, ..Statistics::default() }.recommended()
            == kept.recommended();
        let colours = if is_same { kept.recommendation & (GREEN | RED) } else { colour };
        Statistics {
            games,
            wins,
            losses,
            draws,
            unknown: kept.unknown.saturating_add(more),
            own: if kept.own == Rating::default() { own } else { kept.own },
            other: if kept.other == Rating::default() { other } else { kept.other },
            recommendation: kept.recommendation & !(GREEN | RED) | colours,
            factor: if self.frees() && kept.is_never() { 0 } else { kept.factor },
            comment_code: if kept.comment_code == 0 { self.comment } else { kept.comment_code },
        }
    }
}
