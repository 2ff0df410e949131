//! Which variant of chess a request is about, and which books answer it: a book of another variant is never asked.

use serde_json::{Value, json};
use shakmaty::{KnownOutcome, Position as _};

use tabiya_chess::{Position, Variant, variant_name};

use super::Explorer;
use super::fault::Fault;
use super::games::GamesOfPosition;
use super::place::ShownPlace;
use super::request::Query;
use super::shelf::Slot;

/// The variant of requests of the page that name none: the one that was `wanted` if a book is of it, else standard chess, else that
/// of the first book.
pub(super) fn usual(wanted: Variant, all: &[Variant]) -> Variant {
    let known = [wanted, Variant::Chess].into_iter().find(|variant| all.contains(variant));
    known.or(all.first().copied()).unwrap_or_default()
}

impl Explorer {
    /// The variant of a request of the page.
    ///
    /// # Errors
    /// When no variant has the name.
    pub(super) fn variant_of(&self, query: &Query) -> Result<Variant, Fault> {
        Ok(query.variant()?.unwrap_or(self.variant))
    }

    /// The place of a request of the page.
    ///
    /// # Errors
    /// As [`ShownPlace::from_query`], and when no variant has the name.
    pub(super) fn place(&self, query: &Query) -> Result<ShownPlace, Fault> {
        ShownPlace::from_query(query, self.variant_of(query)?)
    }

    /// The numbers of the books that a request asks: those that it names, or all of the variant.
    ///
    /// # Errors
    /// When no book is of the variant, or one that is named is of another.
    pub(super) fn books_of(&self, query: &Query, variant: Variant) -> Result<Vec<usize>, Fault> {
        let slots = self.shelf.slots();
        let games = self.games_book();
        if self.shelf.of(variant).next().is_none() {
            return Err(self.none_of(variant));
        }
        let of_games = |id: usize| games.filter(|(book, games)| *book == id && games.variant() == variant);
        let Some(named) = query.books("books", slots.len() + usize::from(games.is_some()))? else {
            let all = slots.iter().enumerate().filter(|(_, slot)| slot.variant == variant);
            let last = of_games(slots.len()).map(|(id, _)| id);
            return Ok(all.map(|(id, _)| id).chain(last).collect());
        };
        let books = named.iter().filter(|id| of_games(**id).is_none());
        books.map(|id| self.book_of(*id, variant)).try_for_each(|book| book.map(drop))?;
        Ok(named)
    }

    /// The games as a book: its number, after those of the books, and the games.
    pub(super) fn games_book(&self) -> Option<(usize, &GamesOfPosition)> {
        Some((self.shelf.slots().len(), self.games.as_ref()?))
    }

    /// The place of the book that a request names, by default the first of the variant.
    ///
    /// # Errors
    /// When there is no such book, or it is of another variant.
    pub(super) fn book(&self, query: &Query, variant: Variant) -> Result<&Slot, Fault> {
        match query.number("book", usize::MAX)? {
            Some(id) => self.book_of(id, variant),
            None => self.shelf.of(variant).next().ok_or_else(|| self.none_of(variant)),
        }
    }

    pub(super) fn book_of(&self, id: usize, variant: Variant) -> Result<&Slot, Fault> {
        let slot = self.shelf.get(id).ok_or_else(|| Fault::not_found(format!("there is no book {id}")))?;
        if slot.variant == variant {
            return Ok(slot);
        }
        Err(Fault::bad(format!("variant: book {id} is of {}, not of {variant}", slot.variant)))
    }

    /// What is said where no book is of a variant.
    pub(super) fn none_of(&self, variant: Variant) -> Fault {
        let others: Vec<_> = self.shelf.variants().into_iter().map(Variant::uci).collect();
        Fault::bad(format!("variant: no book is of {variant}: the books are of {}", others.join(", ")))
    }

    /// The variants of the books, for the page: their names, and where their games start; `None` if all are of standard chess.
    pub(super) fn shown_variants(&self) -> Option<Value> {
        let all = self.shelf.variants();
        let one = |variant: &Variant| {
            let start = Position::start_of(*variant).fen();
            let games = self.games.as_ref().is_some_and(|games| games.variant() == *variant);
            json!({ "name": variant.uci(), "title": variant_name(*variant), "start": start, "games": games })
        };
        let is_shown = all.iter().any(|variant| *variant != Variant::Chess);
        is_shown.then(|| all.iter().map(one).collect())
    }
}

/// How a game has ended by a rule that its variant alone has: which rule, and who has won, `None` where nobody has.
pub(super) fn end_of(at: &Position) -> Option<(&'static str, Option<String>)> {
    let outcome = at.chess().variant_end()?;
    let has_pieces = at.chess().board().by_color(at.chess().turn()).any();
    let rule = match (at.variant(), outcome) {
        (Variant::Atomic, _) => "a king has exploded",
        (Variant::Antichess, _) if has_pieces => "no move is left",
        (Variant::Antichess, _) => "no piece is left",
        (Variant::KingOfTheHill, _) => "the king is on the hill",
        (Variant::ThreeCheck, _) => "the third check",
        (Variant::RacingKings, KnownOutcome::Draw) => "both kings are on the last rank",
        (Variant::RacingKings, _) => "the king is on the last rank",
        (Variant::Horde, _) => "the horde is gone",
        (Variant::Chess | Variant::Crazyhouse, _) => "by the rules of the variant",
    };
    Some((rule, outcome.winner().map(|color| color.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_variant_is_one_of_a_book() {
        use Variant::{Atomic, Chess, Horde};
        for (wanted, all, is) in [
            (Chess, &[Chess, Atomic][..], Chess),
            (Chess, &[Atomic, Chess], Chess),
            (Chess, &[Atomic, Horde], Atomic),
            (Horde, &[Atomic, Horde, Chess], Horde),
            (Horde, &[Atomic, Chess], Chess),
            (Horde, &[Atomic], Atomic),
            (Horde, &[], Chess),
        ] {
            assert_eq!(usual(wanted, all), is, "{wanted} {all:?}");
        }
    }

    #[test]
    fn the_rule_that_ends_a_game_is_named() {
        let ended = |variant, start: Option<&str>, play: &str| {
            let place = ShownPlace::read(variant, start, play.split(',')).unwrap();
            assert!(place.game.position().chess().legal_moves().is_empty(), "{play}");
            end_of(place.game.position())
                .map(|(rule, winner)| format!("{rule}: {}", winner.unwrap_or_default()))
        };
        for (variant, start, play, says) in [
            (Variant::Atomic, None, "g1f3,a7a6,f3g5,b7b6,g5f7", "a king has exploded: white"),
            (
                Variant::KingOfTheHill,
                None,
                "e2e4,a7a6,e1e2,b7b6,e2e3,c7c6,e3d4",
                "the king is on the hill: white",
            ),
            (
                Variant::ThreeCheck,
                Some("4k3/8/8/8/8/8/8/R3K3 w - - 1+3 0 1"),
                "a1a8",
                "the third check: white",
            ),
            (Variant::Antichess, Some("8/8/8/8/8/p7/1P6/8 w - - 0 1"), "b2a3", "no piece is left: black"),
            (Variant::Antichess, Some("8/8/8/8/p7/8/P7/8 w - - 0 1"), "a2a3", "no move is left: black"),
            (
                Variant::RacingKings,
                Some("8/1K5k/8/8/8/8/8/8 w - - 0 1"),
                "b7b8,h7h8",
                "both kings are on the last rank: ",
            ),
            (
                Variant::RacingKings,
                Some("8/1K6/8/8/8/8/8/7k w - - 0 1"),
                "b7b8",
                "the king is on the last rank: white",
            ),
            (Variant::Horde, Some("4k3/8/8/8/8/8/3q4/3P4 b - - 0 1"), "d2d1", "the horde is gone: black"),
        ] {
            assert_eq!(ended(variant, start, play).as_deref(), Some(says), "{variant} {play}");
        }
        let mated = ShownPlace::read(Variant::Crazyhouse, None, ["f2f3", "e7e5", "g2g4", "d8h4"]).unwrap();
        assert_eq!(end_of(mated.game.position()), None);
    }
}
