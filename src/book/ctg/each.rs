//! Every position of the book, one by one.

use std::ops::ControlFlow;

use super::layout::EN_PASSANT;
use super::page::{Page, RawEntry, offset, pages_in};
use super::read::Ctg;
use super::signature::{Signature, decode};
use crate::base::progress::Progress;
use crate::book::{Counts, Known, KnownMove, Scope};
use crate::chess::Position;
use crate::chess::normal::{Normal, forms};

/// Bytes of the file for one byte of memory: no two entries begin in so few, for the shortest has 35.
const APART: u64 = 32;

/// Positions between two looks at the progress bar.
const STRIDE: u64 = 1 << 10;

/// See [`crate::book::Book::each`].
///
/// An entry stands for up to four positions: with colours swapped, and mirrored where nobody may castle. Each of them
/// that play reaches is handed over; the first of an entry has its counts and comment, the others have their moves
/// alone, so that games are not counted twice. Positions without moves come too, once, for the sake of their counts.
/// In [`Scope::All`] what play does not reach follows in the order of the pages, White to move first, then in its other
/// forms: which of them was meant, the file does not say.
pub fn each(
    book: &Ctg,
    scope: Scope,
    progress: &Progress,
    visit: &mut dyn FnMut(&Known) -> ControlFlow<()>,
) -> u64 {
    let mut seen = Seen::new(book);
    if reachable(book, &mut seen, progress, visit).is_break() {
        return 0;
    }
    let mut unreached = 0;
    let _ = rest(book, &seen, progress, &mut |entry| match scope {
        Scope::All => tell_forms(book, entry, visit),
        Scope::Reachable => {
            unreached += 1;
            ControlFlow::Continue(())
        }
    });
    unreached
}

/// In which forms each entry was met, by its place in the file.
struct Seen(Vec<u8>);

impl Seen {
    fn new(book: &Ctg) -> Self {
        let places = book.pages().len() as u64 / APART + 1;
        Self(vec![0; usize::try_from(places).unwrap_or_default()])
    }

    /// The forms in which the entry at an offset was met, one bit each.
    fn at(&mut self, offset: u64) -> Option<&mut u8> {
        self.0.get_mut(usize::try_from(offset / APART).ok()?)
    }

    fn has(&self, offset: u64) -> bool {
        let place = usize::try_from(offset / APART).ok();
        place.and_then(|place| self.0.get(place)).is_some_and(|forms| *forms != 0)
    }
}

/// The bit of the form in which a position stands for an entry.
fn form(normal: &Normal, entry: &RawEntry<'_>) -> u8 {
    let frame = normal.frame();
    let with_file = entry.signature.first().is_some_and(|head| head & EN_PASSANT != 0);
    let without = normal.en_passant().is_some() && !with_file;
    1 << (u8::from(frame.swapped) + 2 * u8::from(frame.mirrored) + 4 * u8::from(without))
}

fn reachable(
    book: &Ctg,
    seen: &mut Seen,
    progress: &Progress,
    visit: &mut dyn FnMut(&Known) -> ControlFlow<()>,
) -> ControlFlow<()> {
    progress.things(pages_in(book.pages().len() as u64), "pages at least");
    let mut waiting = vec![Position::start()];
    let mut met = 0_u64;
    let (mut known, mut moves) = (Known::default(), Vec::new());
    while let Some(position) = waiting.pop() {
        let Some((normal, entry)) = book.find(position.chess()) else { continue };
        let form = form(&normal, &entry);
        let Some(forms) = seen.at(entry.offset) else { continue };
        if *forms & form != 0 {
            continue;
        }
        let first = *forms == 0;
        *forms |= form;
        met += 1;
        if met.is_multiple_of(STRIDE) {
            progress.at(met);
        }
        moves.clear();
        book.append_of(position.chess(), &normal, &entry, &mut moves);
        // Backwards, so that the first move's line comes first; a move without counts leads out of the book.
        let inside = moves.iter().rev().filter(|found| found.counts.is_some());
        waiting.extend(inside.map(|found| position.after(found.mv)));
        known.moves.clear();
        known.moves.extend(moves.iter().map(|found| KnownMove::from(*found)));
        if first || !known.moves.is_empty() {
            tell(&mut known, position, &entry, first, visit)?;
        }
    }
    ControlFlow::Continue(())
}

/// Everything that was not met, page by page.
fn rest(
    book: &Ctg,
    seen: &Seen,
    progress: &Progress,
    see: &mut dyn FnMut(&RawEntry<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let data = book.pages();
    let pages = pages_in(data.len() as u64);
    progress.bytes(data.len() as u64);
    for number in 0..pages {
        if number.is_multiple_of(STRIDE) {
            progress.at(offset(number));
        }
        let Some(page) = u32::try_from(number).ok().and_then(|number| Page::of(data, number)) else {
            continue;
        };
        for entry in page.entries() {
            let again = || page.find(entry.signature).is_some_and(|first| first.at != entry.at);
            if !seen.has(entry.offset) && !again() {
                see(&entry)?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// Hands over all positions that an entry stands for.
fn tell_forms(
    book: &Ctg,
    entry: &RawEntry<'_>,
    visit: &mut dyn FnMut(&Known) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Ok(chess) = decode(entry.signature) else { return ControlFlow::Continue(()) };
    let (mut known, mut moves) = (Known::default(), Vec::new());
    for (at, chess) in forms(chess).into_iter().enumerate() {
        let normal = Normal::of(&chess);
        let form = normal.and_then(|normal| Some((normal, Signature::of_normal(&normal)?)));
        // What is written otherwise than look-ups ask for it has moves that mean nothing.
        let Some((normal, _)) = form.filter(|(_, form)| form.bytes() == entry.signature) else {
            continue;
        };
        moves.clear();
        book.append_of(&chess, &normal, entry, &mut moves);
        known.moves.clear();
        known.moves.extend(moves.iter().map(|found| KnownMove::from(*found)));
        if at == 0 || !known.moves.is_empty() {
            tell(&mut known, Position::from_chess(chess), entry, at == 0, visit)?;
        }
    }
    ControlFlow::Continue(())
}

/// Hands a position over, whose moves are in `known`.
fn tell(
    known: &mut Known,
    position: Position,
    entry: &RawEntry<'_>,
    first: bool,
    visit: &mut dyn FnMut(&Known) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let statistics = first.then(|| entry.statistics());
    known.total = statistics.map(|known| Counts {
        games: known.games.into(),
        wins: known.wins.into(),
        draws: known.draws.into(),
        losses: known.losses.into(),
    });
    known.comment = statistics.and_then(|known| known.comment()).map(str::to_owned);
    known.key = position.key();
    known.position = Some(position);
    visit(known)
}
