//! What the PGN reader reports of a game.

use std::ops::ControlFlow;

use pgn_reader::{Nag, Outcome, RawComment, RawTag, SanPlus, Skip};

use super::{GameReader, State};
use crate::games::GameResult;

impl pgn_reader::Visitor for GameReader<'_> {
    type Tags = ();
    type Movetext = ();
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<(), ()> {
        self.in_head = true;
        if self.fresh {
            self.prepare();
        }
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        self.take_tag(name, value.as_bytes(), &|| value.decode());
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<(), ()> {
        self.in_head = false;
        if self.fresh && self.game.tags > 0 {
            if self.is_cut_in_head() { self.refuse_cut() } else { self.begin() }
        }
        match self.state {
            State::Unwanted => ControlFlow::Break(()),
            State::Over if self.header.result.is_some() => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn san(&mut self, (): &mut (), san: SanPlus) -> ControlFlow<()> {
        if self.state == State::Waiting {
            // No game begins with a variation.
            if self.variations.is_some() && self.game.open > 0 {
                return ControlFlow::Continue(());
            }
            self.begin();
        }
        match self.state {
            State::Moves => self.take(san.san),
            State::Unwanted => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn begin_variation(&mut self, (): &mut ()) -> ControlFlow<(), Skip> {
        self.game.open += 1;
        self.open_variation();
        ControlFlow::Continue(Skip(self.variations.is_none()))
    }

    fn end_variation(&mut self, (): &mut ()) -> ControlFlow<()> {
        self.close_variation();
        self.game.open = self.game.open.saturating_sub(1);
        ControlFlow::Continue(())
    }

    fn nag(&mut self, (): &mut (), nag: Nag) -> ControlFlow<()> {
        if self.wants_remarks && self.takes_moves() {
            self.visitor.glyph(nag.0);
        }
        ControlFlow::Continue(())
    }

    fn comment(&mut self, (): &mut (), comment: RawComment<'_>) -> ControlFlow<()> {
        if self.wants_remarks && self.takes_moves() {
            self.visitor.comment(comment.as_bytes());
        }
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, (): &mut (), outcome: Outcome) -> ControlFlow<()> {
        if self.variations.is_some() && self.game.open > 0 {
            return ControlFlow::Continue(());
        }
        if self.state == State::Waiting {
            self.begin();
        }
        self.game.ended = true;
        self.game.result = GameResult::from_pgn(outcome.as_str().as_bytes());
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, (): ()) {}
}
