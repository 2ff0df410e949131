//! Sums up a whole book and finds what is wrong with it.

use std::fmt;

use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position as _, fen::Fen};
use tabiya_base::bytes;
use tabiya_base::findings::{FindingPlace, Findings, kinds};
use tabiya_base::map::Access;
use tabiya_base::progress::Progress;
use tabiya_chess::normal::Normal;

use super::entry::{Statistics, annotation};
use super::layout::{
    CTB_HIGH, CTB_LOW, CTG_GAMES, CTG_PAGES, CTG_START, CTO_COUNT, CTO_LOW, PAGE_HEADER, PAGE_LEN,
    STATISTICS_LEN,
};
use super::moves::{CODES, legal};
use super::read::Ctg;
use super::read::index::{CtgIndex, bit_offset, offset};
use super::read::page::{self, CtgPageEntry, Page, pages_in};
use super::signature::hash;
use crate::BookSummary;
use crate::traverse::{Bits, Forms as _, breadth_first};

kinds! {
    /// What can be wrong with a CTG book.
    enum CtgFindingKind {
        Header: Error "wrong values in the headers",
        Page: Error "pages that are cut off or have a wrong length",
        Entry: Error "pages with fewer entries than they count",
        Position: Error "entries whose position cannot be found",
        Counts: Error "entries with impossible counts",
        Lost: Error "entries that the index does not lead to",
        Twice: Warning "entries whose position the page already has" => "the first one counts",
        Move: Error "move codes that are not legal in their position",
        Mark: Warning "unknown marks" => "they are ignored",
        MoveTwice: Warning "moves that their position already has" => "the first one counts",
        Leaf: Error "wrong page numbers in the index",
        SharedPage: Warning "leaves whose page another leaf names too" => "positions are found all the same",
        Split: Warning "split nodes whose parent is not split" => "positions are found all the same",
        Open: Warning "moves that lead to positions that the book does not have" => "they are played only where no move has a game",
        Cut: Warning "depths with too many positions" => "deeper positions are not checked, and are played",
    }
}

/// Sums up the book and reports what is wrong with it.
pub(crate) fn survey(book: &Ctg, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
    let summary = inspect(book, progress, findings);
    let walk = breadth_first(book, summary.entries, progress);
    walk.add_cut(CtgFindingKind::Cut, findings);
    BookSummary { deepest: walk.deepest(), reachable: Some(walk.reached), ..summary }
}

/// Reads everything once, reports what is wrong with the headers, the pages and the index, and counts entries and moves.
pub(crate) fn inspect(book: &Ctg, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
    let Some(index) = book.index() else { return BookSummary::default() };
    let data = &book.ctg;
    let pages = pages_in(data.len() as u64);
    let mut pass = Pass { book, index, pages, entries: 0, moves: 0, findings };
    pass.headers();
    data.expect(Access::Sequential);
    progress.bytes(data.len() as u64);
    for number in 0..pages {
        progress.pass(number * PAGE_LEN);
        match u32::try_from(number).ok().and_then(|number| Page::get(data, number)) {
            Some(page) => pass.page(number, &page),
            None => pass.cut_off(number, page::offset(number)),
        }
    }
    data.expect(Access::Random);
    pass.nodes(progress);
    BookSummary {
        entries: pass.entries,
        positions: Some(pass.entries),
        moves: Some(pass.moves),
        games: bytes::u32_be(data, CTG_GAMES).map(u64::from),
        ..BookSummary::default()
    }
}

impl Ctg {
    /// Which of its files are cut off, as far as their lengths show it.
    pub(super) fn cut_off(&self) -> Vec<String> {
        let [ctg, cto, ctb] = &self.files;
        let Some(index) = self.index() else { return Vec::new() };
        let len = self.ctg.len() as u64;
        let page = (!len.is_multiple_of(PAGE_LEN)).then(|| {
            format!(
                "{}: the last page is cut off: it has {} of {PAGE_LEN} bytes (byte {})",
                ctg.display(),
                len % PAGE_LEN,
                len - len % PAGE_LEN
            )
        });
        let (held, count) = (index.held(), index.count);
        let numbers = (held < count).then(|| {
            format!(
                "{}: the index is cut off: it holds {held} of {count} page numbers (byte {CTO_COUNT})",
                cto.display()
            )
        });
        let (bits, high) = (index.bits(), index.high);
        let bitmap = (bits < high)
            .then(|| format!("{}: the bitmap is cut off: it has {bits} bits, and its upper bound is {high} (byte {CTB_HIGH})", ctb.display()));
        [page, numbers, bitmap].into_iter().flatten().collect()
    }
}

/// A pass over the whole book.
struct Pass<'a, 'b> {
    book: &'a Ctg,
    index: CtgIndex<'a>,
    pages: u64,
    entries: u64,
    moves: u64,
    findings: &'a mut Findings<'b>,
}

impl Pass<'_, '_> {
    /// Compares the headers with the files.
    fn headers(&mut self) {
        let Self { book, index, pages, .. } = *self;
        let [_, cto, ctb] = &book.files;
        let data = &book.ctg;
        let mut add = |place: FindingPlace<'_>, what: fmt::Arguments<'_>| {
            self.findings.add(CtgFindingKind::Header, place, what)
        };
        if !data.starts_with(&CTG_START) {
            add(0.into(), format_args!("the header page does not start like those of known books"));
        }
        let said = bytes::u32_be(data, CTG_PAGES).unwrap_or_default();
        if u64::from(said) != pages {
            add(CTG_PAGES.into(), format_args!("the header counts {said} pages, but the file has {pages}"));
        }
        let (held, count) = (index.held(), index.count);
        if held < count {
            let what = format_args!("the index is cut off: it holds {held} of {count} page numbers");
            add((cto, CTO_COUNT).into(), what);
        }
        let (bits, high) = (index.bits(), index.high);
        if bits < high {
            let what = format_args!("the bitmap has {bits} bits, but its upper bound is {high}");
            add((ctb, CTB_HIGH).into(), what);
        }
        let last = index.last_leaf();
        if last >= count {
            let what = format_args!("the index ends before leaf {last}, which the bitmap has");
            add((cto, CTO_COUNT).into(), what);
        }
        let low = index.low;
        if index.low_copy() != Some(low) {
            add(
                (cto, CTO_LOW).into(),
                format_args!("the lower bound differs from that of the bitmap, {low}"),
            );
        }
        let whole = (0..bits).step_by(8).take_while(|node| (0..8).all(|bit| index.split(node + bit))).count();
        if whole as u64 * 8 != u64::from(low) {
            let first = whole * 8;
            let what = format_args!("the lower bound is {low}, but the first unsplit node is in {first}");
            add((ctb, CTB_LOW).into(), what);
        }
    }

    fn cut_off(&mut self, page: u64, at: u64) {
        self.findings.add(CtgFindingKind::Page, at, format_args!("page {page} is cut off"));
    }

    fn page(&mut self, number: u64, page: &Page<'_>) {
        let start = page::offset(number);
        let length = usize::from(page.length);
        if length as u64 > PAGE_LEN || length < PAGE_HEADER {
            let what = format_args!("page {number} claims to end at {length} of its {PAGE_LEN} bytes");
            self.findings.add(CtgFindingKind::Page, start + 2, what);
        }
        let held = page.data.len() as u64;
        if held < PAGE_LEN {
            self.cut_off(number, start + held);
        }
        let (mut end, mut count) = (PAGE_HEADER, 0);
        for entry in page.entries() {
            end = entry.end;
            count += 1;
            self.entry(number, page, &entry);
        }
        if count < page.count {
            let reason = page.entry(end).err().unwrap_or("is more than a page can hold");
            let what = format_args!("entry {} of {} in page {number} {reason}", count + 1, page.count);
            self.findings.add(CtgFindingKind::Entry, start + end as u64, what);
        } else if end != length {
            let what =
                format_args!("page {number} claims to end at {length}, but its last entry ends at {end}");
            self.findings.add(CtgFindingKind::Page, start + 2, what);
        }
    }

    fn entry(&mut self, number: u64, page: &Page<'_>, entry: &CtgPageEntry<'_>) {
        let Self { book, index, findings, .. } = self;
        let at = entry.offset;
        self.entries += 1;
        let leaf = index.leaf(hash(entry.signature));
        if index.page(leaf).map(u64::from) != Some(number) {
            let what = format_args!("the index does not lead to this entry: its leaf is {leaf}");
            findings.add(CtgFindingKind::Lost, at, what);
        }
        if page.find(entry.signature).is_some_and(|first| first.at != entry.at) {
            findings.add(CtgFindingKind::Twice, at, "the page already has this position");
        }
        let Statistics { games, wins, losses, draws, .. } = entry.statistics();
        // Unfinished games count, so there may be more games than results, but not fewer.
        if u64::from(wins) + u64::from(losses) + u64::from(draws) > u64::from(games) {
            let what =
                format_args!("{games} games with {wins} won, {draws} drawn and {losses} lost are impossible");
            findings.add(
                CtgFindingKind::Counts,
                page::offset(number) + (entry.end - STATISTICS_LEN) as u64,
                what,
            );
        }
        match entry.position() {
            Ok((chess, normal)) => self.moves += moves(book, entry, &chess, &normal, findings),
            Err(what) => findings.add(CtgFindingKind::Position, at, what),
        }
    }

    /// Checks every node of the trie: leaves, and only leaves, name pages of the file.
    fn nodes(&mut self, progress: &Progress) {
        let Self { book, index, pages, .. } = *self;
        let [_, cto, ctb] = &book.files;
        progress.things(index.held(), "leaves");
        let mut named = Bits::new(pages);
        for node in 0..index.held() {
            progress.pass(node);
            let Some(page) = index.page(node) else { continue };
            let at = (cto, offset(node));
            if index.split(node) || CtgIndex::parent(node).is_some_and(|parent| !index.split(parent)) {
                let what = format_args!("node {node} names page {page}, but is not a leaf");
                self.findings.add(CtgFindingKind::Leaf, at, what);
                continue;
            }
            if u64::from(page) >= pages {
                self.findings.add(
                    CtgFindingKind::Leaf,
                    at,
                    format_args!("leaf {node} names page {page}, but the file has only {pages}"),
                );
            } else if !named.insert(page.into()) {
                let what = format_args!("leaf {node} names page {page}, which another leaf names too");
                self.findings.add(CtgFindingKind::SharedPage, at, what);
            }
        }
        for node in (0..index.bits()).filter(|&node| index.split(node)) {
            if CtgIndex::parent(node).is_some_and(|parent| !index.split(parent)) {
                let what = format_args!("node {node} is split, but its parent is not");
                self.findings.add(CtgFindingKind::Split, (ctb, bit_offset(node)), what);
            }
        }
    }
}

/// Checks the moves of an entry; how many different legal ones it has.
fn moves(
    book: &Ctg,
    entry: &CtgPageEntry<'_>,
    chess: &Chess,
    normal: &Normal,
    findings: &mut Findings<'_>,
) -> u64 {
    let fen = || Fen::from_position(chess, EnPassantMode::PseudoLegal);
    let uci = |mv: Move| mv.to_uci(CastlingMode::Standard);
    let mut seen = Vec::new();
    let first = entry.offset + entry.signature.len() as u64 + 1;
    for (&[code, mark], at) in entry.moves.iter().zip((first..).step_by(2)) {
        let Some(mv) = legal(code, normal, chess) else {
            let why = if CODES.is_known(code) { "is not legal" } else { "is unknown" };
            findings.add(
                CtgFindingKind::Move,
                at,
                format_args!("the move code 0x{code:02x} {why} in {}", fen()),
            );
            continue;
        };
        if annotation(mark, book.mark_mask()).is_some_and(|mark| !mark.is_known()) {
            let what = format_args!("the mark 0x{mark:02x} of {} has no known meaning", uci(mv));
            findings.add(CtgFindingKind::Mark, at + 1, what);
        }
        if seen.contains(&mv) {
            findings.add(
                CtgFindingKind::MoveTwice,
                at,
                format_args!("{} already has the move {}", fen(), uci(mv)),
            );
        } else {
            seen.push(mv);
        }
        let mut next = chess.clone();
        next.play_unchecked(mv);
        if book.look_up(&next).is_none() {
            let what = format_args!("the move {} leads to a position that the book does not have", uci(mv));
            findings.count(CtgFindingKind::Open, at, what);
        }
    }
    seen.len() as u64
}
