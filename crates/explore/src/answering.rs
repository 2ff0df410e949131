//! Which book answers the programs that ask about a position, and with which of its moves.

use shakmaty::{Move, Position as _};

use tabiya_book::{Among, CountsGames, Sliced};
use tabiya_workshop::view::View;

use super::Explorer;
use super::fault::Fault;
use super::place::ShownPlace;
use super::position::looked_up;
use super::request::Query;
use super::shelf::{Opened, Slot};
use super::words;

/// What answers a program.
pub(super) enum Answering<'a> {
    Book(&'a Slot),
    /// The games of the variant.
    Games,
}

/// The moves that a program may be answered with.
pub(super) enum Playable {
    /// All of the book.
    All,
    /// Those that the adapter would play.
    Only(Vec<Move>),
}

impl Playable {
    /// Whether this move is one of them.
    pub(super) fn takes(&self, mv: Move) -> bool {
        match self {
            Self::All => true,
            Self::Only(moves) => moves.contains(&mv),
        }
    }

    /// The moves of a view that the adapter would play.
    pub(super) fn from_view(view: &View<'_>) -> Self {
        let played = view.moves.iter().filter(|(_, chance)| *chance > 0.0);
        Self::Only(played.map(|(known, _)| known.mv).collect())
    }
}

impl Explorer {
    /// What answers a request for results: what it names; or the games, if it asks by what only these know, which is `asked`; or
    /// else the book that answers, unless that counts no games, or not the games that are meant, and there are games.
    ///
    /// # Errors
    /// When there is no such book, or there are no games where only these can answer.
    pub(super) fn results(
        &self,
        query: &Query,
        place: &ShownPlace,
        (asked, among): (Option<&str>, &Among),
    ) -> Result<Answering<'_>, Fault> {
        let games = self.games_book().filter(|(_, games)| games.variant() == place.variant());
        let named = query.number("book", usize::MAX)?;
        let are_named = named.is_some_and(|named| games.is_some_and(|(id, _)| id == named));
        match asked {
            Some(asked) if games.is_none() => return Err(Fault::bad(words::only_games(asked))),
            Some(asked) if named.is_some() && !are_named => {
                let what = format!("{asked}: books do not know it: leave out book, to ask the games");
                return Err(Fault::bad(what));
            }
            Some(_) => return Ok(Answering::Games),
            None if are_named => return Ok(Answering::Games),
            None => {}
        }
        let slot = self.answering(query, place)?;
        let counts = || {
            let open = slot.read();
            let book = open.book.as_ref().ok()?;
            let by = book.as_sliced().map(Sliced::by).unwrap_or_default();
            (book.format().games() != CountsGames::No && by.covers(among.by())).then_some(())
        };
        let goes_before = self.playable || named.is_some() || counts().is_some();
        Ok(if goes_before || games.is_none() { Answering::Book(slot) } else { Answering::Games })
    }

    /// The book of the variant that answers: the one that the request names; or where only playable moves are wanted, the first that the adapter
    /// would play from; or else the first of a format that counts games, or the first that is open.
    ///
    /// # Errors
    /// When there is no such book.
    pub(super) fn answering(&self, query: &Query, place: &ShownPlace) -> Result<&Slot, Fault> {
        let variant = place.variant();
        if query.get("book").is_some() {
            return self.book(query, variant);
        }
        let slots = || self.shelf.of(variant);
        if self.playable {
            let turn = place.game.position().chess().turn();
            let asked = || slots().filter(|slot| *slot.asked.get(turn));
            let plays = |slot: &&Slot| {
                let view = looked_up(slot, &slot.read(), place, &self.policy).map(|view| view.line.is_some());
                view.unwrap_or(false)
            };
            if let Some(slot) = asked().find(plays).or_else(|| asked().next()) {
                return Ok(slot);
            }
        }
        let format = |slot: &Slot| slot.read().book.as_ref().ok().map(|book| book.format());
        let counts = |slot: &&Slot| format(slot).is_some_and(|format| format.games() != CountsGames::No);
        let open = |slot: &&Slot| slot.error().is_none();
        let found = slots().find(counts).or_else(|| slots().find(open));
        // One that cannot be read says why.
        found.or_else(|| slots().next()).ok_or_else(|| self.none_of(variant))
    }

    /// Which moves programs are answered with.
    ///
    /// # Errors
    /// When there is no such book, or it is not open.
    pub(super) fn playable(&self, query: &Query, place: &ShownPlace) -> Result<Playable, Fault> {
        let slot = self.answering(query, place)?;
        self.playable_in(slot, &slot.read(), place)
    }

    /// Which moves of a book programs are answered with.
    ///
    /// # Errors
    /// When the book is not open.
    pub(super) fn playable_in(
        &self,
        slot: &Slot,
        open: &Opened,
        place: &ShownPlace,
    ) -> Result<Playable, Fault> {
        match self.playable {
            true => Ok(Playable::from_view(&looked_up(slot, open, place, &self.policy)?)),
            false => Ok(Playable::All),
        }
    }
}
