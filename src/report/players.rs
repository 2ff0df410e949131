//! Who scored what against whom, in games and in pairs of games with reversed colours.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use shakmaty::Color;

use super::Score;
use super::game::Game;

/// The games of two players.
#[derive(Clone, Debug, Default)]
pub struct Match {
    /// The first player's score.
    pub score: Score,
    /// Pairs of games by the first player's points in them, from none to both.
    pub pairs: [u64; 5],
    /// Games that belong to no pair.
    pub alone: u64,
}

/// All players.
#[derive(Debug, Default)]
pub struct Players {
    /// The matches, by the names of both players in the order of the alphabet.
    pub matches: BTreeMap<(String, String), Match>,
    /// The score of each player with each book, by its number; `None`: games in which no book had a move of the player.
    pub books: BTreeMap<(String, Option<usize>), Score>,
    /// First games of pairs whose second has not come, by a digest of both players and the round: whether the first player had
    /// White, and that player's points.
    waiting: HashMap<u64, Vec<(bool, u8)>>,
}

impl Match {
    /// The counts that decide about the difference of strength, by points: pairs if all games belong to one, else games.
    pub fn counts(&self) -> Vec<u64> {
        if self.alone == 0 { self.pairs.to_vec() } else { self.score.by_points().to_vec() }
    }
}

impl Players {
    /// Takes in a game; one without a result does not count.
    pub fn add(&mut self, game: &Game) {
        let (white, black) = (&game.players.white, &game.players.black);
        for side in Color::ALL {
            let Some(halves) = game.halves(side) else { return };
            let key = (game.players.get(side).clone(), *game.books.get(side));
            self.books.entry(key).or_default().add(halves);
        }
        if white == black {
            return;
        }
        let (first, side) = if white < black { (white, Color::White) } else { (black, Color::Black) };
        let second = if white < black { black } else { white };
        let Some(halves) = game.halves(side) else { return };
        let entry = self.matches.entry((first.clone(), second.clone())).or_default();
        entry.score.add(halves);
        entry.alone += 1;
        // Runners number rounds; games of people mostly have none.
        if game.round.is_empty() || game.round == "?" || game.round == "-" {
            return;
        }
        let mut digest = DefaultHasher::new();
        (first, second, &game.round).hash(&mut digest);
        let waiting = self.waiting.entry(digest.finish()).or_default();
        let is_white = side == Color::White;
        match waiting.iter().position(|(other, _)| *other != is_white) {
            Some(at) => {
                let (_, other) = waiting.swap_remove(at);
                if let Some(count) = entry.pairs.get_mut(usize::from(halves + other)) {
                    *count += 1;
                }
                entry.alone -= 2;
            }
            None => waiting.push((is_white, halves)),
        }
    }
}
