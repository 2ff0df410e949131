//! How traversals see a book: all its positions.

use shakmaty::{Chess, Move, Position as _};

use tabiya_base::progress::Progress;
use tabiya_base::visit::Seen;
use tabiya_chess::normal::Normal;

use super::FORMAT;
use super::entry::annotation;
use super::moves::legal;
use super::read::Ctg;
use super::read::page::{CtgPageEntry, Page, offset, pages_in};
use super::signature::Signature;
use crate::traverse::Forms;
use crate::{Annotation, Extra, MoveFacts, PositionRecord, Ratings};

/// Bytes of the file for one number. No two entries begin in so few, because the shortest has 35.
const APART: u64 = 32;

impl Forms for Ctg {
    type Entry<'a> = CtgPageEntry<'a>;

    fn numbers(&self) -> u64 {
        self.ctg.len() as u64 / APART + 1
    }

    fn number(entry: &CtgPageEntry<'_>) -> u64 {
        entry.offset / APART
    }

    /// An en-passant file that only an illegal capture gives is left out if the position is not found with it: some books
    /// are written so.
    fn look_up(&self, chess: &Chess) -> Option<(Normal, CtgPageEntry<'_>)> {
        let normal = Normal::from_chess(chess)?;
        let entry = self.raw(&Signature::of_normal(&normal)?);
        let entry = entry.or_else(|| {
            let again = normal.en_passant.is_some() && chess.legal_ep_square().is_none();
            again.then(|| self.raw(&Signature::of_normal(&Normal { en_passant: None, ..normal })?))?
        })?;
        Some((normal, entry))
    }

    fn codes<'a>(entry: CtgPageEntry<'a>) -> impl Iterator<Item = (u8, u8)>
    where
        Self: 'a,
    {
        entry.moves.iter().map(|&[code, mark]| (code, mark))
    }

    fn annotation(&self, mark: u8) -> Option<Annotation> {
        annotation(mark, self.mark_mask())
    }

    fn legal(code: u8, normal: &Normal, chess: &Chess) -> Option<Move> {
        legal(code, normal, chess)
    }

    fn describe_move(next: &CtgPageEntry<'_>, facts: &mut MoveFacts) {
        let next = next.statistics();
        let counts = next.counts().swapped();
        // The side to move there is the mover's opponent.
        let average = next.other.average();
        let performance = next.own.average().and_then(|opponents| counts.performance(opponents));
        facts.counts = Some(counts);
        facts.recommended = next.recommended();
        facts.factor = (next.factor != 0).then_some(next.factor);
        facts.ratings =
            (average.is_some() || performance.is_some()).then_some(Ratings { average, performance });
    }

    fn describe_position(&self, entry: &CtgPageEntry<'_>, record: &mut PositionRecord) {
        let known = entry.statistics();
        record.total = Some(known.counts());
        record.comment = known.comment().map(str::to_owned);
        record.extras.push(Extra { format: FORMAT, book: 0, bytes: entry.kept(self.mark_mask()) });
    }

    fn position(&self, entry: &CtgPageEntry<'_>) -> Option<Chess> {
        entry.position().ok().map(|(chess, _)| chess)
    }

    fn scan<'a>(&'a self, progress: &Progress, see: &mut dyn FnMut(CtgPageEntry<'a>) -> Seen) -> Seen {
        let data = &self.ctg;
        let pages = pages_in(data.len() as u64);
        progress.bytes(data.len() as u64);
        for number in 0..pages {
            progress.pass(offset(number));
            let page = u32::try_from(number).ok().and_then(|number| Page::get(data, number));
            let Some(page) = page else { continue };
            // Of two entries of one position in a page look-ups find only the first.
            let first = |entry: &CtgPageEntry<'_>| {
                page.find(entry.signature).is_none_or(|first| first.at == entry.at)
            };
            page.entries().filter(first).try_for_each(&mut *see)?;
        }
        Ok(())
    }
}
