//! What CTG books hold of a position, kept exactly if it comes from one of them, and added up if it comes from several.

use super::super::FORMAT;
use super::super::entry::{Rating, Statistics};
use super::super::layout::{GREEN, MAX_MOVES, RED, STATISTICS_LEN};
use crate::{Extra, PositionRecord, Recommendation};

/// The most games of a rating that an entry can hold: 24 bits.
const MAX_RATED: u64 = (1 << 24) - 1;

/// What a move says of the colour of the position that it leads to: a set of these.
pub(crate) const SAID_NONE: u8 = 1;
pub(crate) const SAID_GREEN: u8 = 2;
pub(crate) const SAID_RED: u8 = 4;
/// That the move is played, as was decided.
pub(crate) const SAID_PLAYED: u8 = 8;
/// That it is not, because others are.
pub(crate) const SAID_REJECTED: u8 = 16;
/// That no factor keeps it from being played.
pub(crate) const SAID_FREE: u8 = 32;

/// How the entries of a position differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    /// What they say of the colour, as moves do.
    pub said: u8,
    /// Moves with different marks.
    pub marks: u64,
    /// Whether they have different factors, flags or comments.
    pub others: bool,
    /// Moves for which there is no room.
    pub left_out: u64,
}

/// The entries of a position.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptEntries {
    entries: Vec<CtgEntry>,
    /// The upper bits of marks that mean nothing; 0 if some book has none.
    pub upper: u8,
}

/// The entry of a book, as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CtgEntry {
    /// The place of its book among those that are merged.
    pub book: u32,
    /// The bits of its marks that mean nothing, then its bytes after the signature, without these bits.
    pub bytes: Vec<u8>,
}

/// The entries that a record has of CTG books.
pub(crate) fn own_entries(known: &PositionRecord) -> Vec<CtgEntry> {
    let own = known.extras.iter().filter(|extra| extra.format == FORMAT);
    own.map(|Extra { book, bytes, .. }| CtgEntry { book: *book, bytes: bytes.clone() }).collect()
}

/// The moves and the statistics of an entry.
fn parts(entry: &CtgEntry) -> Option<(&[[u8; 2]], Statistics)> {
    let (moves, statistics) = entry.bytes.split_last_chunk::<STATISTICS_LEN>()?;
    Some((moves.get(2..)?.as_chunks().0, Statistics::from_bytes(statistics)))
}

impl KeptEntries {
    pub fn add(&mut self, entries: Vec<CtgEntry>) {
        self.entries.extend(entries);
    }

    /// Puts the entries into the order of their books, and gives the moves of a position their order, and their marks unless
    /// these were `decided`.
    pub fn complete(&mut self, moves: &mut Vec<[u8; 2]>, decided: bool) -> Differences {
        let mut found = Differences::default();
        self.entries.sort_by_key(|entry| entry.book);
        let upper = self.entries.iter().map(|entry| entry.bytes.first().copied().unwrap_or_default());
        self.upper = upper.reduce(|all, upper| all & upper).unwrap_or_default();
        let mut known: Vec<[u8; 2]> = Vec::new();
        let mut first = Statistics::default();
        for (of_entry, statistics) in self.entries.iter().filter_map(parts) {
            for &[code, mark] in of_entry {
                match known.iter_mut().find(|[known, _]| *known == code) {
                    Some([_, known]) if *known == 0 => *known = mark,
                    Some([_, known]) => found.marks += u64::from(mark != 0 && *known != mark),
                    None => known.push([code, mark]),
                }
            }
            found.said |= match statistics.recommended() {
                None => 0,
                Some(Recommendation::Green) => SAID_GREEN,
                Some(Recommendation::Red) => SAID_RED,
            };
            let differs = |one: u16, other: u16| one != 0 && other != 0 && one != other;
            found.others |= differs(judged(&first), judged(&statistics))
                || differs(first.comment_code.into(), statistics.comment_code.into());
            take_first(&mut first, &statistics);
        }
        // Only moves that stay, in the order of the entries; their marks are those that the entries have.
        let is_left = |code: u8| moves.iter().any(|[left, _]| *left == code);
        known.retain(|[code, _]| is_left(*code));
        if decided {
            for [code, mark] in &mut known {
                *mark = moves.iter().find(|[own, _]| own == code).map_or(0, |[_, mark]| *mark);
            }
        }
        let more = moves.iter().filter(|[code, _]| !known.iter().any(|[known, _]| known == code)).copied();
        *moves = known.iter().copied().chain(more).collect();
        found.left_out = moves.len().saturating_sub(MAX_MOVES) as u64;
        moves.truncate(MAX_MOVES);
        found
    }

    /// What they hold together; `None` without entries.
    pub fn statistics(&self) -> Option<Statistics> {
        let (mut sum, mut unknown, mut ratings) = (Statistics::default(), 0_u32, [(0_u64, 0_u64); 2]);
        let mut entries = self.entries.iter().filter_map(parts).peekable();
        entries.peek()?;
        for (_, statistics) in entries {
            sum.games = sum.games.saturating_add(statistics.games);
            unknown = unknown.saturating_add(statistics.unknown);
            for ((games, all), rating) in ratings.iter_mut().zip([statistics.own, statistics.other]) {
                *games += u64::from(rating.games);
                *all += u64::from(rating.sum);
            }
            take_first(&mut sum, &statistics);
        }
        let [own, other] = ratings.map(fitting);
        Some(Statistics { unknown, own, other, ..sum })
    }
}

/// Flags besides the colours, and the factor.
fn judged(statistics: &Statistics) -> u16 {
    u16::from_be_bytes([statistics.recommendation & !(GREEN | RED), statistics.factor.cast_unsigned()])
}

/// Takes what cannot be added up from other statistics, unless it is known.
fn take_first(known: &mut Statistics, other: &Statistics) {
    let colours = GREEN | RED;
    if known.recommendation & colours == 0 {
        known.recommendation |= other.recommendation & colours;
    }
    if judged(known) == 0 {
        known.recommendation |= other.recommendation & !colours;
        known.factor = other.factor;
    }
    if known.comment_code == 0 {
        known.comment_code = other.comment_code;
    }
}

/// Ratings halved until they fit.
fn fitting((mut games, mut sum): (u64, u64)) -> Rating {
    loop {
        match (u32::try_from(games), u32::try_from(sum)) {
            (Ok(games), Ok(sum)) if u64::from(games) <= MAX_RATED => return Rating { games, sum },
            _ => (games, sum) = (games / 2, sum / 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_without_room_are_counted() {
        let mut bytes = vec![0, 0];
        (0..=200).for_each(|code| bytes.extend([code, 0]));
        bytes.extend([0; STATISTICS_LEN]);
        let mut kept = KeptEntries::default();
        kept.add(vec![CtgEntry { book: 0, bytes }]);
        let mut moves: Vec<[u8; 2]> = (50..=210).map(|code| [code, 0]).collect();
        let found = kept.complete(&mut moves, false);
        assert_eq!((moves.len(), found.left_out), (MAX_MOVES, 161 - MAX_MOVES as u64));
    }
}
