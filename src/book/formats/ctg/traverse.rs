//! What going through a whole book asks of it.

use std::ops::ControlFlow;

use shakmaty::{Chess, Move};

use super::moves::legal;
use super::page::{Page, RawEntry, offset, pages_in};
use super::read::Ctg;
use super::signature::{Signature, decode};
use crate::base::progress::Progress;
use crate::book::traverse::{Forms, STRIDE};
use crate::book::{Annotation, Counts, MoveFacts, PositionRecord, Ratings};
use crate::chess::normal::Normal;

/// Bytes of the file for one number: no two entries begin in so few, for the shortest has 35.
const APART: u64 = 32;

impl Forms for Ctg {
    type Entry<'a> = RawEntry<'a>;

    fn numbers(&self) -> u64 {
        self.pages().len() as u64 / APART + 1
    }

    fn number(entry: &RawEntry<'_>) -> u64 {
        entry.offset / APART
    }

    fn look_up(&self, chess: &Chess) -> Option<(Normal, RawEntry<'_>)> {
        self.find(chess)
    }

    fn codes<'a>(entry: RawEntry<'a>) -> impl Iterator<Item = (u8, Option<Annotation>)>
    where
        Self: 'a,
    {
        entry.moves().map(|written| (written.code, written.annotation()))
    }

    fn legal(code: u8, normal: &Normal, chess: &Chess) -> Option<Move> {
        legal(code, normal, chess)
    }

    fn describe_move(next: &RawEntry<'_>, facts: &mut MoveFacts) {
        let next = next.statistics();
        let counts = next.of_mover();
        // The side to move there is the mover's opponent.
        let average = next.other.average();
        let performance = next.own.average().and_then(|opponents| counts.performance(opponents));
        facts.counts = Some(counts);
        facts.recommended = next.recommended();
        facts.ratings =
            (average.is_some() || performance.is_some()).then_some(Ratings { average, performance });
    }

    fn describe_position(&self, entry: &RawEntry<'_>, record: &mut PositionRecord) {
        let known = entry.statistics();
        record.total = Some(Counts {
            games: known.games.into(),
            wins: known.wins.into(),
            draws: known.draws.into(),
            losses: known.losses.into(),
        });
        record.comment = known.comment().map(str::to_owned);
    }

    fn position(&self, entry: &RawEntry<'_>) -> Option<Chess> {
        let chess = decode(entry.signature).ok()?;
        (Signature::of(&chess)?.bytes() == entry.signature).then_some(chess)
    }

    fn scan<'a>(
        &'a self,
        progress: &Progress,
        see: &mut dyn FnMut(RawEntry<'a>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let data = self.pages();
        let pages = pages_in(data.len() as u64);
        progress.bytes(data.len() as u64);
        for number in 0..pages {
            if number.is_multiple_of(STRIDE) {
                progress.at(offset(number));
            }
            let page = u32::try_from(number).ok().and_then(|number| Page::of(data, number));
            let Some(page) = page else { continue };
            // Of two entries of one position in a page only the first is ever found.
            let first =
                |entry: &RawEntry<'_>| page.find(entry.signature).is_none_or(|first| first.at == entry.at);
            page.entries().filter(first).try_for_each(&mut *see)?;
        }
        ControlFlow::Continue(())
    }
}
