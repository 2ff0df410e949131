//! Pairs of games with reversed colours: two games of the same players in the same round.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Who played a game with which colour, and in which round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairing<'a> {
    pub(crate) white: &'a str,
    pub(crate) black: &'a str,
    /// The same for both games of a pair.
    pub(crate) round: &'a str,
}

/// Games whose other one has not come.
#[derive(Debug)]
pub(crate) struct Pairs<T> {
    /// By a digest of both players and the round: whether White is the first of them in the alphabet, and the game.
    waiting: HashMap<u64, Vec<(bool, T)>>,
}

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Self { waiting: HashMap::new() }
    }
}

impl Pairing<'_> {
    fn digest(self) -> u64 {
        let mut digest = DefaultHasher::new();
        (self.white.min(self.black), self.white.max(self.black), self.round).hash(&mut digest);
        digest.finish()
    }
}

impl<T> Pairs<T> {
    /// Finds the other game of a pair, of several that `fits` the one that does best, and of these the first; else the game waits
    /// for it. Returns the other game, this one, and how they fit.
    pub(crate) fn add<R: Ord>(
        &mut self,
        pairing: Pairing<'_>,
        game: T,
        fits: impl Fn(&T, &T) -> Option<R>,
    ) -> Option<(T, T, R)> {
        let waiting = self.waiting.entry(pairing.digest()).or_default();
        let (is_first, is_same) = (pairing.white < pairing.black, pairing.white == pairing.black);
        let others = waiting.iter().enumerate().filter(|(_, (first, _))| is_same || *first != is_first);
        let fitting = others.filter_map(|(place, (_, other))| Some((fits(other, &game)?, Reverse(place))));
        let Some((fit, Reverse(place))) = fitting.max() else {
            waiting.push((is_first, game));
            return None;
        };
        let (_, other) = waiting.remove(place);
        Some((other, game, fit))
    }

    /// Takes out the games of these players and this round but the last one.
    pub(crate) fn take_earlier(&mut self, pairing: Pairing<'_>) -> Vec<T> {
        let Some(waiting) = self.waiting.get_mut(&pairing.digest()) else { return Vec::new() };
        let earlier = waiting.len().saturating_sub(1);
        waiting.drain(..earlier).map(|(_, game)| game).collect()
    }

    /// The games whose other one has not come, in no order.
    pub(crate) fn rest(self) -> impl Iterator<Item = T> {
        self.waiting.into_values().flatten().map(|(_, game)| game)
    }
}
