//! The whole book read: its sums for `info`, its damages for `check`.

use super::entry::Statistics;
use super::files::EXTENSIONS;
use super::index::{Index, bit_offset, offset};
use super::layout::{
    CTB_HIGH, CTB_LOW, CTG_GAMES, CTG_PAGES, CTG_START, CTO_COUNT, CTO_LOW, MARK_BITS, PAGE_HEADER, PAGE_LEN,
    STATISTICS_LEN,
};
use super::moves::{is_known, legal};
use super::page::{self, EntryFault, Page, RawEntry, pages_in};
use super::read::Ctg;
use super::signature::{Signature, SignatureFault, decode, hash};
use super::walk::walk;
use crate::base::bytes;
use crate::base::map::Access;
use crate::base::progress::Progress;
use crate::book::groups::Groups;
use crate::book::{Damage, Summary};
use crate::chess::normal::Normal;
use shakmaty::{Chess, EnPassantMode, Position as _, fen::Fen};

/// Faults of one kind that are told one by one.
const TOLD: u64 = 20;

/// Pages, or nodes of the index, between two looks at the progress bar.
const STRIDE: u64 = 1 << 8;

/// What can be wrong, those that are told together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Header,
    Page,
    Entry,
    Position,
    Counts,
    Lost,
    Twice,
    Move,
    Mark,
    MoveTwice,
    Leaf,
    SharedPage,
    Split,
}

impl Kind {
    /// Whether it is damage, or merely odd.
    fn is_serious(self) -> bool {
        !matches!(self, Self::Twice | Self::Mark | Self::MoveTwice | Self::SharedPage | Self::Split)
    }
}

/// What the pass counted.
#[derive(Default)]
struct Totals {
    entries: u64,
    moves: u64,
    /// Moves to positions that the book does not have.
    open: u64,
}

/// A finding: its kind, its offset, and what is wrong, with the name of the file where that is not the pages.
type Found<'a> = &'a mut dyn FnMut(Kind, u64, String);

/// Sums the book up.
pub fn summary(book: &Ctg, progress: &Progress) -> Summary {
    let mut groups = Groups::new(0);
    let totals = pass(book, progress, &mut |kind, at, what| {
        groups.add(kind, at, format!("{what} (byte {at})"));
    });
    let mut oddities: Vec<String> = groups.others().map(|(_, _, what)| what).collect();
    oddities.extend(open(&totals));
    let walk = walk(book, totals.entries, progress);
    if walk.cut {
        oddities.push("too many positions at one depth to follow every line".to_owned());
    }
    Summary {
        notes: Vec::new(),
        entries: totals.entries,
        positions: Some(totals.entries),
        moves: Some(totals.moves),
        games: bytes::u32_be(book.pages(), CTG_GAMES).map(u64::from),
        deepest: Some(walk.plies),
        reachable: Some(walk.reached),
        learned: None,
        oddities,
    }
}

/// Reports each damage and oddity: those of the headers, of the pages and of the index; many of one kind in one line
/// at the end.
pub fn check(book: &Ctg, progress: &Progress, report: &mut dyn FnMut(Damage)) {
    let mut groups = Groups::new(TOLD);
    let totals = pass(book, progress, &mut |kind, at, what| {
        if let Some(what) = groups.add(kind, at, what) {
            report(Damage { offset: at, what, serious: kind.is_serious() });
        }
    });
    for (kind, offset, what) in groups.others() {
        report(Damage { offset, what, serious: kind.is_serious() });
    }
    if let Some(what) = open(&totals) {
        report(Damage { offset: PAGE_LEN, what, serious: false });
    }
}

fn open(totals: &Totals) -> Option<String> {
    (totals.open > 0).then(|| {
        let (moves, lead) = if totals.open == 1 { ("move", "leads") } else { ("moves", "lead") };
        format!("{} {moves} {lead} to positions that the book does not have", totals.open)
    })
}

/// Reads everything once.
fn pass(book: &Ctg, progress: &Progress, found: Found<'_>) -> Totals {
    let mut totals = Totals::default();
    let Some(index) = book.index() else { return totals };
    headers(book, index, found);
    let data = book.pages();
    data.expect(Access::Sequential);
    progress.bytes(data.len() as u64);
    let pages = pages_in(data.len() as u64);
    for number in 0..pages {
        if number.is_multiple_of(STRIDE) {
            progress.at(number * PAGE_LEN);
        }
        match u32::try_from(number).ok().and_then(|number| Page::of(data, number)) {
            Some(page) => read_page(book, index, number, &page, &mut totals, found),
            None => found(Kind::Page, page::offset(number), format!("page {number} is cut off")),
        }
    }
    data.expect(Access::Random);
    nodes(book, index, pages, progress, found);
    totals
}

/// What the headers say of the files.
fn headers(book: &Ctg, index: Index<'_>, found: Found<'_>) {
    let data = book.pages();
    let mut tell = |at, what| found(Kind::Header, at, what);
    if !data.starts_with(&CTG_START) {
        tell(0, "the header page begins otherwise than those of known books".to_owned());
    }
    let (said, has) = (bytes::u32_be(data, CTG_PAGES).unwrap_or_default(), pages_in(data.len() as u64));
    if u64::from(said) != has {
        tell(CTG_PAGES, format!("the header counts {said} pages, and the file has {has}"));
    }
    if index.held() < index.count() {
        let what =
            format!("the index is cut off: it holds {} of {} page numbers", index.held(), index.count());
        tell(CTO_COUNT, in_part(book, 1, what));
    }
    if index.bits() < index.high() {
        let what = format!("the bitmap has {} bits, and its upper bound is {}", index.bits(), index.high());
        tell(CTB_HIGH, in_part(book, 2, what));
    }
    if index.last_leaf() >= index.count() {
        let what = format!("the index ends before leaf {}, which the bitmap has", index.last_leaf());
        tell(CTO_COUNT, in_part(book, 1, what));
    }
    if index.low_copy() != Some(index.low()) {
        let what = format!("the lower bound is another than that of the bitmap, {}", index.low());
        tell(CTO_LOW, in_part(book, 1, what));
    }
    let whole =
        (0..index.bits()).step_by(8).take_while(|node| (0..8).all(|bit| index.split(node + bit))).count();
    if whole as u64 * 8 != u64::from(index.low()) {
        let what =
            format!("the lower bound is {}, and the first unsplit node is in {}", index.low(), whole * 8);
        tell(CTB_LOW, in_part(book, 2, what));
    }
}

/// A clause with the name of the file that it tells of: offsets are in the page file where none is named.
fn in_part(book: &Ctg, part: usize, what: String) -> String {
    let name = book.parts().get(part).and_then(|path| path.file_name());
    let name = name.map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_else(|| EXTENSIONS.get(part).copied().unwrap_or_default().to_owned());
    format!("{what}, in {name}")
}

fn read_page(
    book: &Ctg,
    index: Index<'_>,
    number: u64,
    page: &Page<'_>,
    totals: &mut Totals,
    found: Found<'_>,
) {
    let start = page::offset(number);
    let length = usize::from(page.length());
    if length as u64 > PAGE_LEN || length < PAGE_HEADER {
        let what = format!("page {number} says that it ends at {length} of its {PAGE_LEN} bytes");
        found(Kind::Page, start + 2, what);
    }
    if (page.held() as u64) < PAGE_LEN {
        found(Kind::Page, start + page.held() as u64, format!("page {number} is cut off"));
    }
    let (mut end, mut count) = (PAGE_HEADER, 0);
    for entry in page.entries() {
        end = entry.end;
        count += 1;
        totals.entries += 1;
        totals.moves += entry.moves.len() as u64;
        let leaf = index.leaf(hash(entry.signature));
        if index.page(leaf).map(u64::from) != Some(number) {
            let what = format!("the index does not lead to this entry: its leaf is {leaf}");
            found(Kind::Lost, entry.offset, what);
        }
        if page.find(entry.signature).is_some_and(|first| first.at != entry.at) {
            found(Kind::Twice, entry.offset, "this position stands in its page already".to_owned());
        }
        let Statistics { games, wins, losses, draws, .. } = Statistics::from_bytes(entry.statistics);
        // Unfinished games are counted, so that there may be more games than results, but not fewer.
        if u64::from(wins) + u64::from(losses) + u64::from(draws) > u64::from(games) {
            let what = format!("{games} games with {wins} won, {draws} drawn and {losses} lost cannot be");
            found(Kind::Counts, start + entry.end as u64 - STATISTICS_LEN as u64, what);
        }
        match position(&entry) {
            Ok((chess, normal)) => moves(book, &entry, &chess, &normal, totals, found),
            Err(what) => found(Kind::Position, entry.offset, what.to_owned()),
        }
    }
    if count < page.count() {
        let fault = match page.entry(end) {
            Err(EntryFault::Signature) => "has no position",
            Err(EntryFault::Moves) => "has half a move",
            Err(EntryFault::Length) => "ends behind its page",
            Ok(_) => "is more than a page can hold",
        };
        let what = format!("entry {} of {} in page {number} {fault}", count + 1, page.count());
        found(Kind::Entry, start + end as u64, what);
    } else if end != length {
        let what = format!("page {number} says that it ends at {length}, and its last entry ends at {end}");
        found(Kind::Page, start + 2, what);
    }
}

/// The position of an entry, in the normal form in which look-ups ask for it.
fn position(entry: &RawEntry<'_>) -> Result<(Chess, Normal), &'static str> {
    let chess = decode(entry.signature).map_err(|fault| match fault {
        SignatureFault::Bits => "these bits are no position",
        SignatureFault::Position => "this position cannot be played on",
    })?;
    let normal = Normal::of(&chess).ok_or("this position has no normal form")?;
    let same = Signature::of_normal(&normal).is_some_and(|signature| signature.bytes() == entry.signature);
    if same {
        Ok((chess, normal))
    } else {
        Err("this position is written otherwise than look-ups ask for it")
    }
}

fn moves(
    book: &Ctg,
    entry: &RawEntry<'_>,
    chess: &Chess,
    normal: &Normal,
    totals: &mut Totals,
    found: Found<'_>,
) {
    let fen = || Fen::from_position(chess, EnPassantMode::PseudoLegal).to_string();
    let mut seen = Vec::new();
    for (written, at) in entry.moves().zip((entry.offset + entry.signature.len() as u64 + 1..).step_by(2)) {
        let code = written.code;
        let Some(mv) = legal(code, normal, chess) else {
            let why = if is_known(code) { "is not legal" } else { "means nothing" };
            found(Kind::Move, at, format!("the move code 0x{code:02x} {why} in {}", fen()));
            continue;
        };
        if written.annotation_code & MARK_BITS != 0 && written.annotation().is_none() {
            let what = format!("the mark 0x{:02x} of {mv} means nothing known", written.annotation_code);
            found(Kind::Mark, at + 1, what);
        }
        if seen.contains(&mv) {
            found(Kind::MoveTwice, at, format!("the move {mv} stands in {} already", fen()));
        }
        seen.push(mv);
        let mut next = chess.clone();
        next.play_unchecked(mv);
        totals.open += u64::from(book.find(&next).is_none());
    }
}

/// Every node of the trie: each leaf names a page that there is, and nothing else does.
fn nodes(book: &Ctg, index: Index<'_>, pages: u64, progress: &Progress, found: Found<'_>) {
    progress.things(index.held(), "leaves");
    let mut named = vec![0_u64; usize::try_from(pages.div_ceil(64)).unwrap_or_default()];
    for node in 0..index.held() {
        if node.is_multiple_of(STRIDE * 64) {
            progress.at(node);
        }
        let Some(page) = index.page(node) else { continue };
        let mut tell = |kind, what| found(kind, offset(node), in_part(book, 1, what));
        if index.split(node) || Index::parent(node).is_some_and(|parent| !index.split(parent)) {
            tell(Kind::Leaf, format!("node {node} names page {page}, and is no leaf"));
            continue;
        }
        let word = usize::try_from(page / 64).ok().and_then(|at| named.get_mut(at));
        match word.filter(|_| u64::from(page) < pages) {
            None => tell(Kind::Leaf, format!("leaf {node} names page {page} of {pages}")),
            Some(word) if *word >> (page % 64) & 1 != 0 => {
                tell(
                    Kind::SharedPage,
                    format!("leaf {node} names page {page}, which another leaf names too"),
                );
            }
            Some(word) => *word |= 1 << (page % 64),
        }
    }
    for node in (0..index.bits()).filter(|&node| index.split(node)) {
        if Index::parent(node).is_some_and(|parent| !index.split(parent)) {
            let what = format!("node {node} was split, and the one that it hangs on was not");
            found(Kind::Split, bit_offset(node), in_part(book, 2, what));
        }
    }
}
