//! How traversals see a book: all its positions.

use shakmaty::{Chess, Move};

use tabiya_base::map::Access;
use tabiya_base::progress::Progress;
use tabiya_base::visit::Seen;
use tabiya_chess::normal::Normal;

use super::key::Key;
use super::layout::{BLOCK_LEN, SHORTEST_ELEMENT};
use super::moves::legal;
use super::read::{FoundElement, Kvetka};
use crate::traverse::Forms;
use crate::{Annotation, MoveFacts, PositionRecord};

impl Forms for Kvetka {
    type Entry<'a> = FoundElement<'a>;

    fn numbers(&self) -> u64 {
        self.blocks() * BLOCK_LEN / SHORTEST_ELEMENT + 1
    }

    /// By the offset in all blocks: no two elements begin within the bytes of the shortest.
    fn number(found: &FoundElement<'_>) -> u64 {
        (found.block * BLOCK_LEN + found.element.at as u64) / SHORTEST_ELEMENT
    }

    fn look_up(&self, chess: &Chess) -> Option<(Normal, FoundElement<'_>)> {
        let normal = Normal::from_chess(chess)?;
        let found = self.find(&Key::of_normal(&normal)?)?;
        Some((normal, found))
    }

    fn codes<'a>(found: FoundElement<'a>) -> impl Iterator<Item = (u8, u8)>
    where
        Self: 'a,
    {
        let moves = found.element.body().map_or(&[][..], |body| body.moves);
        moves.iter().map(|code| (*code, 0))
    }

    fn annotation(&self, _: u8) -> Option<Annotation> {
        None
    }

    fn legal(code: u8, normal: &Normal, chess: &Chess) -> Option<Move> {
        legal(code, normal, chess)
    }

    fn describe_move(next: &FoundElement<'_>, facts: &mut MoveFacts) {
        facts.counts = next.element.body().ok().map(|body| body.results.swapped());
    }

    fn describe_position(&self, found: &FoundElement<'_>, record: &mut PositionRecord) {
        let Ok(body) = found.element.body() else { return };
        record.total = Some(body.results);
        let extras = body.extras(self.has_links()).unwrap_or_default();
        (record.comment, record.game) = (extras.comment, extras.link.map(|link| link.number()));
    }

    fn position(&self, found: &FoundElement<'_>) -> Option<Chess> {
        Key(*found.element.key).position().ok()
    }

    fn scan<'a>(&'a self, progress: &Progress, see: &mut dyn FnMut(FoundElement<'a>) -> Seen) -> Seen {
        self.parts.expect(Access::Sequential);
        progress.bytes(self.blocks() * BLOCK_LEN);
        let scanned = (0..self.blocks()).try_for_each(|number| {
            progress.pass(number * BLOCK_LEN);
            let elements = self.parts.block(number).map(|block| block.elements()).into_iter().flatten();
            elements
                .map_while(Result::ok)
                .try_for_each(|element| see(FoundElement { block: number, element }))
        });
        self.parts.expect(Access::Random);
        scanned
    }
}
