//! Every position of the book, one by one.

use std::ops::ControlFlow;

use super::element::RawElement;
use super::key::Key;
use super::layout::{BLOCK_LEN, SHORTEST_ELEMENT};
use super::read::{Found, Kvetka, counts};
use crate::base::map::Access;
use crate::base::progress::Progress;
use crate::book::{Known, KnownMove, Scope};
use crate::chess::Position;
use crate::chess::normal::{Normal, forms};

/// Positions between two looks at the progress bar.
const STRIDE: u64 = 1 << 10;

/// See [`crate::book::Book::each`].
///
/// An element stands for up to four positions: with colours swapped, and mirrored where nobody may castle. Each of them
/// that play reaches is handed over; the first has the element's results, comment and game, the others their moves alone,
/// so that games are not counted twice. Positions without moves come once, for the sake of their results. In
/// [`Scope::All`] what play does not reach follows in the order of the blocks, White to move first, then in its other
/// forms: which of them was meant, the book does not say.
pub fn each(
    book: &Kvetka,
    scope: Scope,
    progress: &Progress,
    visit: &mut dyn FnMut(&Known) -> ControlFlow<()>,
) -> u64 {
    let places = book.blocks() * BLOCK_LEN / SHORTEST_ELEMENT + 1;
    let mut seen = Seen(vec![0; usize::try_from(places).unwrap_or_default()]);
    let mut teller = Teller { book, known: Known::default(), moves: Vec::new(), visit };
    let reached = reachable(book, &mut seen, &mut teller, progress);
    if reached.is_break() {
        return 0;
    }
    book.parts().expect(Access::Sequential);
    progress.bytes(book.blocks() * BLOCK_LEN);
    let mut unreached = 0;
    let rest = elements(book, progress, &mut |found| {
        if seen.has(&found) {
            return ControlFlow::Continue(());
        }
        if scope == Scope::Reachable {
            unreached += 1;
            return ControlFlow::Continue(());
        }
        // What is written otherwise than look-ups ask for it has moves that mean nothing.
        let Ok(chess) = Key(*found.element.key).position() else { return ControlFlow::Continue(()) };
        let mut forms = forms(chess).into_iter().enumerate();
        forms.try_for_each(|(at, chess)| teller.tell(&Position::from_chess(chess), &found.element, at == 0))
    });
    book.parts().expect(Access::Random);
    if rest.is_break() { 0 } else { unreached }
}

/// Everything that play reaches from the starting position.
fn reachable(
    book: &Kvetka,
    seen: &mut Seen,
    teller: &mut Teller<'_, '_>,
    progress: &Progress,
) -> ControlFlow<()> {
    progress.things(0, "positions");
    let (mut waiting, mut met) = (vec![Position::start()], 0_u64);
    while let Some(position) = waiting.pop() {
        let Some(normal) = Normal::of(position.chess()) else { continue };
        let Some(found) = Key::of_normal(&normal).and_then(|key| book.find(&key)) else { continue };
        let Some(first) = seen.is_new(&found, &normal) else { continue };
        met += 1;
        if met.is_multiple_of(STRIDE) {
            progress.at(met);
        }
        teller.tell(&position, &found.element, first)?;
        // Backwards, so that the first move's line comes first; a move without counts leads out of the book.
        let inside = teller.moves.iter().rev().filter(|known| known.counts.is_some());
        waiting.extend(inside.map(|known| position.after(known.mv)));
    }
    ControlFlow::Continue(())
}

/// Every element, block by block.
fn elements(
    book: &Kvetka,
    progress: &Progress,
    see: &mut dyn FnMut(Found<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    for number in 0..book.blocks() {
        if number.is_multiple_of(STRIDE) {
            progress.at(number * BLOCK_LEN);
        }
        let Some(block) = book.parts().block(number) else { continue };
        for element in block.elements().map_while(Result::ok) {
            see(Found { block: number, element })?;
        }
    }
    ControlFlow::Continue(())
}

/// In which forms each element was met, by its place in the files.
struct Seen(Vec<u8>);

impl Seen {
    fn place(found: &Found<'_>) -> usize {
        usize::try_from(Kvetka::offset(found) / SHORTEST_ELEMENT).unwrap_or(usize::MAX)
    }

    /// Whether an element is met for the first time at all; `None` where it was met in this form.
    fn is_new(&mut self, found: &Found<'_>, normal: &Normal) -> Option<bool> {
        let frame = normal.frame();
        let form = 1 << (u8::from(frame.swapped) + 2 * u8::from(frame.mirrored));
        let forms = self.0.get_mut(Self::place(found))?;
        let first = *forms == 0;
        let new = *forms & form == 0;
        *forms |= form;
        new.then_some(first)
    }

    fn has(&self, found: &Found<'_>) -> bool {
        self.0.get(Self::place(found)).is_some_and(|forms| *forms != 0)
    }
}

/// Hands positions over.
struct Teller<'a, 'b> {
    book: &'a Kvetka,
    known: Known,
    moves: Vec<crate::book::BookMove>,
    visit: &'b mut dyn FnMut(&Known) -> ControlFlow<()>,
}

impl Teller<'_, '_> {
    /// Tells of a position in one form of its element; `first`: with all that the element knows.
    fn tell(&mut self, at: &Position, element: &RawElement<'_>, first: bool) -> ControlFlow<()> {
        self.moves.clear();
        let Ok(body) = element.body() else { return ControlFlow::Continue(()) };
        self.book.append(at.chess(), &mut self.moves);
        if self.moves.is_empty() && !first {
            return ControlFlow::Continue(());
        }
        let extras =
            if first { body.extras(self.book.has_links()).unwrap_or_default() } else { Default::default() };
        let known = &mut self.known;
        known.key = at.key();
        known.position = Some(at.clone());
        known.moves.clear();
        known.moves.extend(self.moves.iter().map(|found| KnownMove::from(*found)));
        known.total = first.then(|| counts(body.results));
        known.comment = extras.comment;
        known.game = extras.link.map(|link| link.number());
        (self.visit)(known)
    }
}
