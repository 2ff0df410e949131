//! The report of a build: how many games counted, how many did not, and why.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use tabiya_games::{Date, GameError, OtherPlayers, Reason};

use super::filter::Exclusion;
use super::weigh::DroppedMoves;

/// How many games counted, and why others did not.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BuildReport {
    /// Games that were read, including those that did not count.
    pub games: u64,
    /// Games of which at least the beginning counted.
    pub used: u64,
    /// Plies that counted.
    pub plies: u64,
    /// Plies of these games that did not count, because they are those of the other side.
    pub other_side: u64,
    /// Plies of these games that did not count: mistakes, and what follows them.
    pub mistakes: u64,
    /// Plies of these games that did not count, because comments say that they are not in the book.
    #[serde(default)]
    pub unlisted: u64,
    /// Games that reached the last ply that counts.
    pub limited: u64,
    /// Rows of count files that did not count because of the filter.
    #[serde(skip)]
    pub rows_left: u64,
    /// Games without a result that counted as draws.
    pub unfinished: u64,
    /// Games that counted and begin with a position of their own.
    #[serde(skip)]
    pub set_up: u64,
    /// Games that did not count because of the filter.
    pub left: BTreeMap<Exclusion, u64>,
    /// The players of games that had not the player of the filter, while none had.
    #[serde(skip)]
    pub other_players: OtherPlayers,
    /// Games with an error.
    pub errors: BTreeMap<Reason, FailedGames>,
    /// Games whose positions have more pieces than the book's format can hold.
    pub crowded: u64,
    /// Games with a variation that an error cut short.
    pub cut: Option<FailedGames>,
    /// Marks of moves that were not kept, because there were too many.
    pub lost_marks: u64,
    /// Comments with a weight of a move that cannot be read.
    #[serde(default)]
    pub unread_weights: u64,
    /// The latest date of games that counted.
    #[serde(skip)]
    pub newest: Date,
    /// Moves that were counted and not kept.
    #[serde(skip)]
    pub dropped: DroppedMoves,
}

/// The games with an error of one kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FailedGames {
    /// How many they are.
    pub games: u64,
    /// How many of them counted up to the error.
    pub used: u64,
    /// The first of them, in the order of files and places.
    pub first: GameError,
}

impl FailedGames {
    fn and(self, other: Self) -> Self {
        let order = |failed: &Self| (failed.first.place.file.clone(), failed.first.place.offset);
        let first = if order(&other) < order(&self) { other.first } else { self.first };
        Self { games: self.games + other.games, used: self.used + other.used, first }
    }
}

impl BuildReport {
    /// Counts a game with an error; `used` if it counted up to the error.
    pub fn add(&mut self, error: GameError, used: bool) {
        self.add_many(FailedGames { games: 1, used: used.into(), first: error });
    }

    /// Counts a game with a variation that an error cut short.
    pub(crate) fn add_cut(&mut self, error: GameError) {
        let cut = FailedGames { games: 1, used: 1, first: error };
        self.cut = Some(match self.cut.take() {
            Some(known) => known.and(cut),
            None => cut,
        });
    }

    fn add_many(&mut self, failed: FailedGames) {
        let reason = failed.first.reason;
        let all = match self.errors.remove(&reason) {
            Some(known) => known.and(failed),
            None => failed,
        };
        self.errors.insert(reason, all);
    }

    /// Takes in the report of other games.
    pub fn merge(&mut self, other: Self) {
        let Self { games, used, plies, other_side, mistakes, unlisted, limited, rows_left, .. } = other;
        let Self {
            unfinished,
            set_up,
            left,
            errors,
            crowded,
            cut,
            lost_marks,
            unread_weights,
            dropped,
            other_players,
            newest,
            ..
        } = other;
        self.newest = self.newest.max(newest);
        self.set_up += set_up;
        self.drop_moves(dropped);
        self.other_side += other_side;
        self.mistakes += mistakes;
        self.unlisted += unlisted;
        self.limited += limited;
        self.rows_left += rows_left;
        self.games += games;
        self.used += used;
        self.plies += plies;
        self.unfinished += unfinished;
        self.crowded += crowded;
        for (why, count) in left {
            *self.left.entry(why).or_default() += count;
        }
        self.other_players.merge(other_players);
        self.lost_marks += lost_marks;
        self.unread_weights += unread_weights;
        self.cut = match (self.cut.take(), cut) {
            (Some(known), Some(cut)) => Some(known.and(cut)),
            (known, cut) => known.or(cut),
        };
        errors.into_values().for_each(|failed| self.add_many(failed));
    }

    /// Counts moves that are not kept.
    pub fn drop_moves(&mut self, moves: DroppedMoves) {
        for (why, count) in moves {
            *self.dropped.entry(why).or_default() += count;
        }
    }

    /// Whether a file or a game could not be read to its end, so that an unknown number of games or moves is missing.
    pub fn is_incomplete(&self) -> bool {
        self.errors.contains_key(&Reason::Unreadable) || self.errors.contains_key(&Reason::TooLarge)
    }
}
