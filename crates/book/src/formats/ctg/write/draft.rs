//! Makes a book: positions become records, sorted records become entries, and entries become pages.
#![allow(
    clippy::cast_possible_truncation,
    reason = "ratings are limited before, and offsets and lengths are within a page"
)]

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use bytemuck::{Pod, Zeroable};
use shakmaty::Position as _;

use tabiya_base::bytes::Parts as _;
use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::scratch::{Cursor, Scratch};
use tabiya_base::sort::{Sorted, Sorter};
use tabiya_chess::normal::Normal;
use tabiya_chess::{MoveCode, Position};

use super::super::entry::comment_code;
use super::super::layout::{
    CTG_FIXED, CTG_GAMES, CTG_PAGES, CTG_POSITIONS, LENGTH_BITS, MAX_MOVES, PAGE_HEADER, PAGE_LEN,
};
use super::super::moves::code;
use super::super::signature::Signature;
use super::kept::own_entries;
use super::rows::{CountSource, CtgOwn, MoveRecord, PositionRow, Tally};
use super::trie::{ROOM, Trie, TrieEntry};
use super::words::{Word, is_green, words};
use crate::verdict::Chosen;
use crate::{Annotation, Counts, Decision, Green, MoveFacts, PositionRecord, Written, left_out};

/// The least memory that a draft uses, in bytes.
const MIN_MEMORY: usize = 1 << 20;

/// The content of a CTG book that is being written.
#[derive(Debug)]
pub struct CtgDraft {
    green: Green,
    folder: PathBuf,
    /// Bytes that may be held in memory.
    pub(super) memory: usize,
    records: Sorter,
    positions: u64,
    /// Moves that became green because only their weights are known.
    greens: u64,
    /// Reused to save allocations.
    record: Vec<u8>,
    lost: CtgLeftOut,
}

/// The position that a move is made in.
struct From<'a> {
    position: &'a Position,
    normal: &'a Normal,
    signature: &'a Signature,
}

/// What the format cannot hold, or holds differently.
#[derive(Clone, Copy, Debug, Default)]
struct CtgLeftOut {
    positions: u64,
    illegal: u64,
    codes: u64,
    learned: u64,
    comments: u64,
    weights: u64,
}

/// What belongs to a written book beside its pages.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// The first page of the `.ctg` file, before the others.
    pub header: Vec<u8>,
    /// The `.cto` file.
    pub cto: Vec<u8>,
    /// The `.ctb` file.
    pub ctb: Vec<u8>,
    /// What the book holds. It names no file.
    pub written: Written,
}

impl CtgDraft {
    /// An empty book, which holds about this many bytes in memory and the rest in temporary files in a folder. `green` says
    /// which moves become green in positions without colours.
    pub fn new(green: Green, folder: &Path, memory: usize) -> Self {
        let memory = memory.max(MIN_MEMORY);
        Self {
            green,
            folder: folder.to_owned(),
            memory,
            records: Sorter::new(folder, memory / 4 * 3),
            positions: 0,
            greens: 0,
            record: Vec::new(),
            lost: CtgLeftOut::default(),
        }
    }

    /// Takes in a position. To the format, a mirrored position or one with swapped colours is the same: their moves are
    /// merged, and their counts are added up.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub fn add(&mut self, known: &PositionRecord) -> Result<()> {
        let form = known.position.as_ref().and_then(|position| {
            let normal = Normal::from_chess(position.standard()?)?;
            Some((position, normal, Signature::of_normal(&normal)?))
        });
        let Some((position, normal, signature)) = form else {
            self.lost.positions += 1;
            return Ok(());
        };
        let decided = known.moves.iter().any(|known| known.decision.is_some());
        let mut own = CtgOwn { entries: own_entries(known), decided, ..CtgOwn::default() };
        if let Some(words) = &known.comment {
            own.comment = comment_code(words).unwrap_or_default();
            self.lost.comments += u64::from(own.comment == 0 && own.entries.is_empty());
        }
        let of_moves = || known.moves.iter().filter_map(|known| known.counts).reduce(Counts::plus);
        if let Some(total) = known.total {
            (own.source, own.counts) = (CountSource::Itself, Tally::from_counts(total));
        } else if let Some(total) = of_moves() {
            (own.source, own.counts) = (CountSource::Moves, Tally::from_counts(total));
        }
        let words = words(known, self.least_green(known));
        let from = From { position, normal: &normal, signature: &signature };
        for (at, (known, word)) in known.moves.iter().zip(words).enumerate() {
            let added = self.add_move(known, &from, word, at < MAX_MOVES)?;
            own.chosen.extend(added.and_then(|[code, _]| Chosen::code(known, code)));
            own.moves.extend(added);
        }
        self.record.clear();
        own.write(&signature, self.positions, &mut self.record);
        self.positions += 1;
        self.records.push(&self.record)
    }

    /// A thousand times the least weight of a green move, if weights decide that.
    fn least_green(&mut self, known: &PositionRecord) -> Option<u128> {
        let is_chosen = |known: &MoveFacts<MoveCode>| known.decision == Some(Decision::Chosen);
        if known.moves.iter().any(|known| known.recommended.is_some() || is_chosen(known)) {
            return None;
        }
        let weights = known.moves.iter().map(|known| u128::from(known.weight));
        let only_weights = known.moves.iter().all(|known| known.counts.is_none());
        let least = match self.green {
            Green::PerMille(1..) if known.moves.is_empty() => None,
            Green::PerMille(share @ 1..) => Some(weights.sum::<u128>() * u128::from(share)),
            Green::Weights if only_weights => weights.max().map(|heaviest| heaviest * 500),
            _ => None,
        };
        match least {
            None if known.weighs_by_results() => {}
            None => self.lost.weights += known.moves.len() as u64,
            Some(least) if self.green == Green::Weights => {
                self.greens += known.moves.iter().filter(|known| is_green(known, least)).count() as u64;
            }
            Some(_) => {}
        }
        least
    }

    /// Adds what a move says of the position that it leads to. Returns its code and mark.
    fn add_move(
        &mut self,
        known: &MoveFacts<MoveCode>,
        from: &From<'_>,
        word: Word,
        room: bool,
    ) -> Result<Option<[u8; 2]>> {
        let From { position, normal, .. } = *from;
        let Some(found) = known.at(position) else {
            self.lost.illegal += 1;
            return Ok(None);
        };
        let Some(chess) = position.standard() else { return Ok(None) };
        let mut next = chess.clone();
        next.play_unchecked(found.mv);
        let code = code(found.mv, normal, chess).filter(|_| room);
        let Some((code, signature)) = code.zip(Signature::from_chess(&next)) else {
            self.lost.codes += 1;
            return Ok(None);
        };
        self.lost.learned += u64::from(known.learned.is_some());
        let ratings = known.ratings.map_or([None; 2], |ratings| [opponents(known), ratings.average]);
        let reached = MoveRecord {
            counts: known.counts.map(|counts| Tally::from_counts(counts.swapped())).unwrap_or_default(),
            ratings: ratings.map(|rating| rating.unwrap_or_default().min(u16::MAX.into()) as u16),
            said: word.said,
            counted: known.counts.is_some().into(),
            unused: [0; 2],
        };
        self.record.clear();
        reached.write(&signature, word.unless.map(|unless| (unless, code, from.signature)), &mut self.record);
        self.records.push(&self.record)?;
        Ok(Some([code, word.mark.map_or(0, Annotation::nag)]))
    }

    /// Gives the pages to `put`, one after the other, and returns what else belongs to the book.
    ///
    /// # Errors
    /// When a temporary file fails, when the work is interrupted, and what `put` returns.
    pub fn write(self, mut put: impl FnMut(&[u8]) -> Result<()>) -> Result<Beside> {
        let Self { folder, memory, records, greens, lost, .. } = self;
        let marks = Sorter::new(&folder, memory / 8);
        let (entries, marks) = CtgEntries::new(records, Scratch::new(&folder, memory / 8), marks)?;
        let mut written = Written { greens, lost_weights: lost.weights, ..Written::default() };
        let (mut torn, mut scaled, mut alike) = (0, 0, 0);
        let mut trie = Trie::new(entries.bytes);
        let scratch = &entries.scratch;
        let mut reader = EntryReader {
            scratch,
            cursor: Cursor::default(),
            at: 0,
            waiting: VecDeque::new(),
            held: 0,
            marks: Marks::new(marks)?,
        };
        let mut page = Vec::with_capacity(PAGE_LEN as usize);
        while reader.fill()? {
            interrupt::check()?;
            let waiting = reader.waiting.iter();
            let leaf =
                trie.page(waiting.map(|(head, _)| TrieEntry { order: head.order, len: head.len.into() }));
            page.clear();
            page.resize(PAGE_HEADER, 0);
            for (head, bytes) in reader.waiting.drain(..leaf.entries) {
                page.extend(&bytes);
                if entries.plain == 0 && head.upper != 0 {
                    let start = page.len() - bytes.len();
                    set_upper_bits(page.part_mut(start..), head.upper as u8);
                }
                written.positions += 1;
                written.moves += u64::from(head.moves);
                torn += u64::from(head.torn);
                scaled += u64::from(head.scaled);
            }
            reader.held -= page.len() - PAGE_HEADER;
            let numbers = [leaf.entries as u16, page.len() as u16].map(u16::to_be_bytes);
            page.splice(..PAGE_HEADER, numbers.into_iter().flatten());
            page.resize(PAGE_LEN as usize, 0);
            if leaf.entries > 0 {
                put(&page)?;
            }
            // The rest under the same node has no room anywhere.
            while reader.fill()?
                && let Some((head, _)) = reader.waiting.pop_front_if(|(head, _)| leaf.has(head.order))
            {
                reader.held -= usize::from(head.len);
                alike += 1;
            }
        }
        written.left_out = entries.clauses(&lost, alike);
        written.changed = entries.changes(torn, scaled);
        let header = header(trie.pages, u32::try_from(written.positions).unwrap_or(u32::MAX), entries.games);
        Ok(Beside { header, cto: trie.cto(), ctb: trie.ctb(), written })
    }
}

/// The entries of all positions, in the order of the pages.
struct CtgEntries {
    scratch: Scratch,
    /// Bytes of the entries, without their heads.
    bytes: u64,
    /// Games of the book: those of the start or, if it does not have the start, the most of any position.
    games: u32,
    /// Moves for which there was no room in their entry.
    left_out: u64,
    /// Positions with moves whose marks have no upper bits.
    plain: u64,
    /// Moves with different marks in several books.
    marks: u64,
    /// Positions with different factors, flags or comments in several books.
    others: u64,
    /// Moves that need a mark.
    marked: u64,
}

impl CtgEntries {
    /// What the book does not hold of what came, with positions whose hashes are too similar.
    fn clauses(&self, lost: &CtgLeftOut, alike: u64) -> Vec<(String, u64)> {
        left_out([
            ("positions that the format cannot write", lost.positions),
            ("positions whose hashes are too similar", alike),
            ("moves that are not legal in their position", lost.illegal),
            ("moves that the format cannot write", lost.codes + self.left_out),
            ("comments that the format has no symbol for", lost.comments),
            ("learned results of moves", lost.learned),
            ("moves with different marks in several books, of which the first counts", self.marks),
            (
                "positions with different factors, flags or comments in several books, of which the first counts",
                self.others,
            ),
        ])
    }

    /// What the book holds differently.
    fn changes(&self, torn: u64, scaled: u64) -> Vec<(String, u64)> {
        left_out([
            (
                "positions with different colors on different paths or in several books: a color acts on all paths",
                torn,
            ),
            (
                "moves marked ?, because other paths lead to their positions, where another color is needed",
                self.marked,
            ),
            (
                "positions with more games than the format can count (all counts are halved until they fit)",
                scaled,
            ),
        ])
    }

    /// Merges the records of each position, and sorts which moves need a mark.
    fn new(records: Sorter, scratch: Scratch, mut marks: Sorter) -> Result<(Self, Sorted)> {
        let mut entries =
            Self { scratch, bytes: 0, games: 0, left_out: 0, plain: 0, marks: 0, others: 0, marked: 0 };
        let start = Position::start().standard().and_then(Signature::from_chess);
        let (mut row, mut bytes, mut of_start) = (PositionRow::default(), Vec::new(), None);
        let mut put = |row: &mut PositionRow, entries: &mut Self| -> Result<()> {
            if row.is_empty() {
                return Ok(());
            }
            let differences = row.complete();
            entries.marks += differences.marks;
            entries.others += u64::from(differences.others);
            row.marked().try_for_each(|at| {
                entries.marked += 1;
                marks.push(at)
            })?;
            entries.plain += u64::from(row.upper_bits() == 0 && !row.moves.is_empty());
            bytes.clear();
            row.write(&mut bytes);
            let head = CtgEntryHead {
                order: row.order,
                len: bytes.len() as u16,
                moves: row.moves.len() as u16,
                torn: row.is_torn().into(),
                scaled: row.is_too_great().into(),
                upper: row.upper_bits().into(),
                unused: 0,
            };
            entries.bytes += bytes.len() as u64;
            entries.games = entries.games.max(row.games());
            entries.left_out += row.left_out;
            if start.as_ref().is_some_and(|start| start.bytes() == row.signature) {
                of_start = Some(row.games());
            }
            row.clear();
            entries.scratch.push(bytemuck::bytes_of(&head))?;
            entries.scratch.push(&bytes)
        };
        let mut sorted = records.finish()?;
        while let Some(record) = sorted.next()? {
            if row.is_other(record) {
                put(&mut row, &mut entries)?;
            }
            row.add(record);
            interrupt::check()?;
        }
        put(&mut row, &mut entries)?;
        entries.games = of_start.unwrap_or(entries.games);
        Ok((entries, marks.finish()?))
    }
}

/// What is known of an entry that waits for its page, besides its bytes.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct CtgEntryHead {
    order: u32,
    len: u16,
    moves: u16,
    /// 1 if moves to the position have different colours.
    torn: u16,
    /// 1 if its counts did not fit.
    scaled: u16,
    /// The upper bits of its marks.
    upper: u16,
    /// The layout has no gaps.
    unused: u16,
}

/// Reads ahead as many entries as a page may need.
struct EntryReader<'a> {
    scratch: &'a Scratch,
    cursor: Cursor,
    at: u64,
    waiting: VecDeque<(CtgEntryHead, Vec<u8>)>,
    /// Bytes of the waiting entries.
    held: usize,
    marks: Marks,
}

impl EntryReader<'_> {
    /// Reads until more waits than a page has room for. Returns whether anything waits.
    fn fill(&mut self) -> Result<bool> {
        while self.held <= ROOM && self.at < self.scratch.size() {
            let head = self.cursor.get(self.scratch, self.at, size_of::<CtgEntryHead>())?;
            let head: CtgEntryHead =
                bytemuck::try_pod_read_unaligned(head).unwrap_or_else(|_| CtgEntryHead::zeroed());
            self.at += size_of::<CtgEntryHead>() as u64;
            let mut bytes = self.cursor.get(self.scratch, self.at, head.len.into())?.to_vec();
            self.marks.put(head.order, &mut bytes)?;
            self.at += u64::from(head.len);
            self.held += usize::from(head.len);
            self.waiting.push_back((head, bytes));
        }
        Ok(!self.waiting.is_empty())
    }
}

/// The moves that need a mark, in the order of the entries.
struct Marks {
    sorted: Sorted,
    /// The head of a position and the code of a move, the first that is not before the last entry.
    next: Option<Vec<u8>>,
}

impl Marks {
    fn new(mut sorted: Sorted) -> Result<Self> {
        let next = sorted.next()?.map(<[u8]>::to_vec);
        Ok(Self { sorted, next })
    }

    /// Marks the moves of the next entry.
    fn put(&mut self, order: u32, entry: &mut [u8]) -> Result<()> {
        let len = signature_len(entry);
        let head = [&order.to_be_bytes()[..], entry.part(..len)].concat();
        while let Some((at, code)) = self.next.as_deref().and_then(<[u8]>::split_last_chunk) {
            if at > head.as_slice() {
                break;
            }
            let [code] = *code;
            if at == head {
                let found = moves_of(entry).find(|mv| mv.first() == Some(&code));
                found.and_then(<[u8]>::last_mut).into_iter().for_each(|mark| *mark = Annotation::Bad.nag());
            }
            self.next = self.sorted.next()?.map(<[u8]>::to_vec);
        }
        Ok(())
    }
}

/// The length of the signature at the start of an entry.
fn signature_len(entry: &[u8]) -> usize {
    entry.first().map_or(0, |head| usize::from(head & LENGTH_BITS))
}

/// The moves of an entry: a code and a mark each.
fn moves_of(entry: &mut [u8]) -> impl Iterator<Item = &mut [u8]> {
    let moves_at = signature_len(entry);
    let count = entry.get(moves_at).map_or(0, |len| usize::from(len / 2));
    entry.part_mut(moves_at + 1..).chunks_exact_mut(2).take(count)
}

/// Sets bits in the marks of an entry.
fn set_upper_bits(entry: &mut [u8], bits: u8) {
    moves_of(entry).filter_map(<[u8]>::last_mut).for_each(|mark| *mark |= bits);
}

/// The average rating of the mover's opponents, by what the mover performed at against them.
fn opponents(known: &MoveFacts<MoveCode>) -> Option<u32> {
    /// Any average far enough from the lower bound of a performance.
    const BASE: u32 = 10_000;
    let performance = known.ratings?.performance?;
    let difference = i64::from(known.counts?.performance(BASE)?) - i64::from(BASE);
    u32::try_from(i64::from(performance) - difference).ok()
}

fn header(pages: u32, positions: u32, games: u32) -> Vec<u8> {
    let mut page = vec![0; PAGE_LEN as usize];
    let mut put = |at: u64, bytes: &[u8]| {
        page.iter_mut().skip(at as usize).zip(bytes).for_each(|(place, byte)| *place = *byte);
    };
    CTG_FIXED.iter().for_each(|(at, bytes)| put(*at, bytes));
    put(CTG_PAGES, &pages.to_be_bytes());
    put(CTG_POSITIONS, &positions.to_be_bytes());
    put(CTG_GAMES, &games.to_be_bytes());
    page
}
