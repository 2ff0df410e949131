//! Who scored what against whom, in games and in pairs of games with reversed colours.

use std::collections::{BTreeMap, HashMap};

use shakmaty::{ByColor, Color};

use tabiya_book::{Counts, Points};
use tabiya_games::is_known_round;

use super::elo::{Elo, elo};
use super::game::ReportGame;
use crate::pairs::{Pairing, Pairs};

/// The games of two players.
#[derive(Clone, Debug, Default)]
pub struct Match {
    /// The games that ended, counted for the first player.
    pub counts: Counts,
    /// Pairs of games by the first player's points in them, from none to both.
    pub pairs: [u64; 5],
    /// Games that ended and belong to no pair in which both did.
    pub alone: u64,
}

/// All players.
#[derive(Debug, Default)]
pub struct Players {
    /// The number of each player.
    numbers: HashMap<String, usize>,
    /// The matches, by the numbers of both players: first the one whose name comes first in the alphabet.
    matches: HashMap<(usize, usize), Match>,
    /// The score of each player with each book, or one of several.
    books: HashMap<(usize, Vec<usize>), Counts>,
    /// Games with a result, by the first player's points in them, whose other game has not come.
    waiting: Pairs<Points>,
}

impl Match {
    /// Whether the games come in pairs. A match may have some without the other one, which did not end or was not played; games
    /// of people in rounds mostly have none.
    pub fn has_pairs(&self) -> bool {
        self.pairs.iter().sum::<u64>() >= self.alone
    }

    /// Whether pairs decide about the difference of strength: the games come in pairs, and neither player has all points, which
    /// pairs say no better than games.
    pub fn is_paired(&self) -> bool {
        let Counts { wins, losses, games, .. } = self.counts;
        self.has_pairs() && wins < games && losses < games
    }

    /// The difference of strength, by pairs or by games; nothing of it is known without a game.
    pub fn elo(&self) -> Elo {
        let found = if self.is_paired() { elo(&self.pairs) } else { elo(&self.counts.by_points()) };
        found.unwrap_or_default()
    }
}

impl Players {
    /// Takes in a game; one without a result does not count.
    pub fn add(&mut self, game: &ReportGame) {
        let numbers = game.players.as_ref().map(|name| self.number(name));
        for side in Color::ALL {
            let Some(points) = game.points(side) else { return };
            self.books
                .entry((*numbers.get(side), game.books.get(side).clone()))
                .or_default()
                .add(Some(points));
        }
        if numbers.white == numbers.black {
            return;
        }
        let side = if game.players.white < game.players.black { Color::White } else { Color::Black };
        let (first, second) = (*numbers.get(side), *numbers.get(side.other()));
        let Some(points) = game.points(side) else { return };
        let entry = self.matches.entry((first, second)).or_default();
        entry.counts.add(Some(points));
        entry.alone += 1;
        // Runners number rounds; games of people mostly have none.
        if !is_known_round(&game.round) {
            return;
        }
        let ByColor { white, black } = &game.players;
        let pairing = Pairing { white, black, round: &game.round };
        if let Some((other, points, ())) = self.waiting.add(pairing, points, |_, _| Some(())) {
            if let Some(count) = entry.pairs.get_mut(usize::from(points.halves() + other.halves())) {
                *count += 1;
            }
            entry.alone -= 2;
        }
    }

    fn number(&mut self, name: &str) -> usize {
        let next = self.numbers.len();
        self.numbers
            .get(name)
            .copied()
            .unwrap_or_else(|| *self.numbers.entry(name.to_owned()).or_insert(next))
    }

    /// The names of all players, by their numbers.
    fn names(&self) -> HashMap<usize, &str> {
        self.numbers.iter().map(|(name, number)| (*number, name.as_str())).collect()
    }

    /// The matches and their players, in the order of their names.
    pub fn matches(&self) -> Vec<(&str, &str, &Match)> {
        let names = self.names();
        let name = |number| names.get(number).copied().unwrap_or_default();
        let mut matches: Vec<_> =
            self.matches.iter().map(|((first, second), games)| (name(first), name(second), games)).collect();
        matches.sort_by_key(|(first, second, _)| (*first, *second));
        matches
    }

    /// The score of each player with each book, by its number, in the order of the players' names. No book: games in which none
    /// had a move of the player. Several: it was one of them; where other games of the player show which, it counts as that one.
    pub fn books(&self) -> Vec<(&str, Vec<usize>, Counts)> {
        let names = self.names();
        let shown = |player: usize, one_of: &[usize]| {
            let mut shown = one_of.iter().filter(|book| self.books.contains_key(&(player, vec![**book])));
            shown.next().filter(|_| shown.next().is_none()).copied()
        };
        let mut books: BTreeMap<(&str, Vec<usize>), Counts> = BTreeMap::new();
        for ((player, one_of), counts) in &self.books {
            let book = shown(*player, one_of).map_or_else(|| one_of.clone(), |book| vec![book]);
            let sum = books.entry((names.get(player).copied().unwrap_or_default(), book)).or_default();
            *sum = sum.plus(*counts);
        }
        books.into_iter().map(|((player, book), counts)| (player, book, counts)).collect()
    }
}
