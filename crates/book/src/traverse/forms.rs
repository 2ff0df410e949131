//! Traverses books that store a position in its normal form: one entry serves up to four positions, with colours swapped,
//! and mirrored if neither side may castle.

use shakmaty::{Chess, Move, Position as _};

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_base::visit::{Seen, to_the_end};
use tabiya_chess::Position;
use tabiya_chess::normal::{Normal, forms};

use super::{Graph, depth_first};
use crate::{Annotation, MoveFacts, PositionRecord, Scope, Visit};

/// What a traversal asks of such a book.
pub(crate) trait Forms {
    /// An entry that was found.
    type Entry<'a>: Copy
    where
        Self: 'a;

    /// How many numbers entries may have: each is below this.
    fn numbers(&self) -> u64;

    /// The unique number of an entry.
    fn number(entry: &Self::Entry<'_>) -> u64;

    /// A position's normal form and entry.
    fn look_up(&self, chess: &Chess) -> Option<(Normal, Self::Entry<'_>)>;

    /// The moves of an entry: their codes, and the bytes of their marks.
    fn codes<'a>(entry: Self::Entry<'a>) -> impl Iterator<Item = (u8, u8)>
    where
        Self: 'a;

    /// The mark in such a byte.
    fn annotation(&self, mark: u8) -> Option<Annotation>;

    /// The legal move that a code means in a position with this normal form.
    fn legal(code: u8, normal: &Normal, chess: &Chess) -> Option<Move>;

    /// Adds what the entry of the position after a move knows of the move. It always sets the counts.
    fn describe_move(next: &Self::Entry<'_>, facts: &mut MoveFacts);

    /// Adds what an entry knows of its position itself: counts, comment and game.
    fn describe_position(&self, entry: &Self::Entry<'_>, record: &mut PositionRecord);

    /// The position of an entry with White to move; `None` if look-ups do not ask for this form, so its moves mean
    /// nothing.
    fn position(&self, entry: &Self::Entry<'_>) -> Option<Chess>;

    /// Shows the entries that look-ups find, in the order of the file, until `see` breaks off.
    fn scan<'a>(&'a self, progress: &Progress, see: &mut dyn FnMut(Self::Entry<'a>) -> Seen) -> Seen;

    /// Appends the legal moves of a position in the order of its entry, each once, with what the book knows of them.
    ///
    /// A move's weight is twice its wins plus its draws; if no move of the position has a result, all weigh 1.
    fn facts(&self, chess: &Chess, normal: &Normal, entry: &Self::Entry<'_>, out: &mut Vec<MoveFacts>) {
        let start = out.len();
        let mut results = false;
        for (code, mark) in Self::codes(*entry) {
            let Some(mv) = Self::legal(code, normal, chess) else { continue };
            if out.iter().skip(start).any(|known| known.mv == mv) {
                continue;
            }
            let mut facts = MoveFacts { annotation: self.annotation(mark), ..MoveFacts::new(mv, 0) };
            let mut next = chess.clone();
            next.play_unchecked(mv);
            if let Some((_, next)) = self.look_up(&next) {
                Self::describe_move(&next, &mut facts);
            }
            if let Some(counts) = facts.counts {
                facts.weight = counts.points();
                results |= counts.has_results();
            }
            out.push(facts);
        }
        if !results {
            out.iter_mut().skip(start).for_each(|facts| facts.weight = 1);
        }
    }

    /// Appends the book's moves in a position: see [`crate::Moves::moves`].
    fn moves_at(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        let Some(chess) = at.standard() else { return };
        if let Some((normal, entry)) = self.look_up(chess) {
            self.facts(chess, &normal, &entry, out);
        }
    }
}

impl<B: Forms> Graph for &B {
    fn numbers(&self) -> u64 {
        Forms::numbers(*self)
    }

    fn entry(&self, at: &Position) -> Option<u64> {
        self.look_up(at.standard()?).map(|(_, entry)| B::number(&entry))
    }

    fn moves(&mut self, at: &Position, _: u64, _: bool, out: &mut Vec<Move>) {
        let Some(chess) = at.standard() else { return };
        if let Some((normal, entry)) = self.look_up(chess) {
            out.extend(B::codes(entry).filter_map(|(code, _)| B::legal(code, &normal, chess)));
        }
    }
}

/// See [`crate::Moves::each`].
///
/// Shows each position that play reaches. The first of an entry has everything that the entry knows, the others have
/// just their moves, because games must not count twice. Positions without moves come once, for their counts. With
/// [`Scope::All`] the entries that play does not reach follow in the order of the file, White to move first, then in all
/// other forms, because the file does not say which of them occurred.
///
/// # Errors
/// What fails in `visit`.
pub(crate) fn each_form<B: Forms>(
    book: &B,
    scope: Scope,
    progress: &Progress,
    visit: Visit<'_>,
) -> Result<u64> {
    let mut reporter = Reporter { book, facts: Vec::new(), record: PositionRecord::default(), visit };
    // The forms in which each entry was reached, one bit each.
    let mut seen = vec![0_u8; usize::try_from(book.numbers()).unwrap_or_default()];
    let place = |entry: &B::Entry<'_>| usize::try_from(B::number(entry)).unwrap_or(usize::MAX);
    let mut met = 0_u64;
    progress.things(0, "positions");
    let reached = depth_first(Position::start(), |at, follow| {
        let Some((normal, entry)) = at.standard().and_then(|chess| book.look_up(chess)) else {
            return Ok(());
        };
        let Some(forms) = seen.get_mut(place(&entry)) else { return Ok(()) };
        let (first, form) = (*forms == 0, form(&normal));
        if *forms & form != 0 {
            return Ok(());
        }
        *forms |= form;
        met += 1;
        progress.pass(met);
        reporter.report(at, &normal, &entry, first)?;
        // A move without counts leads out of the book.
        follow.extend(reporter.facts.iter().filter(|facts| facts.counts.is_some()).map(|facts| facts.mv));
        Ok(())
    });
    if to_the_end(reached)?.is_none() {
        return Ok(0);
    }
    let mut unreached = 0;
    to_the_end(book.scan(progress, &mut |entry| {
        if seen.get(place(&entry)).is_some_and(|forms| *forms != 0) {
            return Ok(());
        }
        if scope == Scope::Reachable {
            unreached += 1;
            return Ok(());
        }
        let forms = book.position(&entry).map(forms).unwrap_or_default();
        forms.into_iter().enumerate().try_for_each(|(at, chess)| match Normal::from_chess(&chess) {
            Some(normal) => reporter.report(&Position::from_chess(chess), &normal, &entry, at == 0),
            None => Ok(()),
        })
    }))?;
    Ok(unreached)
}

/// The bit of the form that a position has. En passant counts, because some entries are written without their en-passant
/// file and serve both positions.
fn form(normal: &Normal) -> u8 {
    let frame = normal.frame;
    let en_passant = normal.en_passant.is_some();
    1 << (u8::from(frame.swapped) + 2 * u8::from(frame.mirrored) + 4 * u8::from(en_passant))
}

/// Shows positions to `visit`.
struct Reporter<'a, B> {
    book: &'a B,
    facts: Vec<MoveFacts>,
    record: PositionRecord,
    visit: Visit<'a>,
}

impl<B: Forms> Reporter<'_, B> {
    /// Shows a position of an entry, the `first` one with everything that the entry knows.
    fn report(&mut self, at: &Position, normal: &Normal, entry: &B::Entry<'_>, first: bool) -> Seen {
        self.facts.clear();
        let Some(chess) = at.standard() else { return Ok(()) };
        self.book.facts(chess, normal, entry, &mut self.facts);
        let record = &mut self.record;
        (record.total, record.comment, record.game) = (None, None, None);
        record.extras.clear();
        if first {
            self.book.describe_position(entry, record);
        }
        if self.facts.is_empty() && record.total.is_none() {
            return Ok(());
        }
        (record.key, record.position) = (at.key(), Some(at.clone()));
        record.moves.clear();
        record.moves.extend(self.facts.iter().map(|facts| MoveFacts::from(*facts)));
        (self.visit)(record)
    }
}
