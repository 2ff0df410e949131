//! What games tell of a move: results, ratings, and when it was played last.
#![allow(clippy::cast_possible_truncation, reason = "averages of ratings have 16 bits")]

use std::cmp::Reverse;
use std::num::NonZeroU16;

use shakmaty::{ByColor, Color, Position as _};

use tabiya_base::bytes;
use tabiya_book::{Counts, MoveFacts, Ratings};
use tabiya_chess::{MoveCode, Position, RatingBand};
use tabiya_games::{Date, GameResult};

use super::layout::{date_bits, date_of};

/// Bytes of a tally in an index: games and results (4 each), the last date (4), and for White and Black: ratings (4), their sum (8),
/// opponents (4), the sum of theirs (8), half-points against them (8).
const TALLY_LEN: usize = 20 + 2 * SIDE_LEN;

/// Bytes of a move and its tally.
pub(super) const MOVE_LEN: usize = 2 + TALLY_LEN;

/// Bytes of what is known of a side.
const SIDE_LEN: usize = 32;

/// What is counted of a game.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct GameFacts {
    /// The players' ratings; 0 if unknown.
    pub(in super::super) elos: ByColor<u16>,
    pub(in super::super) outcome: Option<GameResult>,
    /// When it was played.
    pub(in super::super) date: Date,
}

/// Games counted together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Tally {
    /// All of them, also those without a result.
    pub(in super::super) games: u32,
    pub(in super::super) won: ByColor<u32>,
    pub(in super::super) draws: u32,
    /// The latest date; unknown if none is known.
    pub(in super::super) last: Date,
    sides: ByColor<SideTally>,
}

/// A move and the games that went on with it; [`MoveCode::NULL`] for those that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct PlayedMove {
    pub(super) mv: MoveCode,
    pub(in super::super) tally: Tally,
}

/// The moves of a position, while games are counted.
#[derive(Default)]
pub(super) struct Tallies(Vec<PlayedMove>);

/// The ratings of a side, where they are known, and how it scored against opponents whose ratings are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SideTally {
    rated: u32,
    ratings: u64,
    faced: u32,
    opponents: u64,
    half_points: u64,
}

impl GameFacts {
    /// The band of the ratings; `None` if one is unknown.
    pub(super) fn band(self) -> Option<RatingBand> {
        let [white, black] = [self.elos.white, self.elos.black].map(NonZeroU16::new);
        RatingBand::from_ratings(white, black)
    }
}

impl Tally {
    /// Counts a game.
    pub(super) fn add(&mut self, game: &GameFacts) {
        self.games = self.games.saturating_add(1);
        self.last = self.last.max(game.date);
        let winner = match game.outcome {
            Some(GameResult::White) => Some(Color::White),
            Some(GameResult::Black) => Some(Color::Black),
            Some(GameResult::Draw) | None => None,
        };
        if let Some(winner) = winner {
            *self.won.get_mut(winner) += 1;
        }
        self.draws += u32::from(game.outcome == Some(GameResult::Draw));
        for color in Color::ALL {
            let (own, other) = (*game.elos.get(color), *game.elos.get(!color));
            let side = self.sides.get_mut(color);
            if own > 0 {
                side.rated += 1;
                side.ratings += u64::from(own);
            }
            if other > 0 && game.outcome.is_some() {
                side.faced += 1;
                side.opponents += u64::from(other);
                side.half_points += winner.map_or(1, |winner| if winner == color { 2 } else { 0 });
            }
        }
    }

    /// The average rating of a side; `None` if no rating is known.
    pub(in super::super) fn average(&self, color: Color) -> Option<u32> {
        let SideTally { rated, ratings, .. } = *self.sides.get(color);
        mean(ratings, rated)
    }

    /// The rating that a side performed at in the games with a result and a rating of the opponent.
    pub(in super::super) fn performance(&self, color: Color) -> Option<u32> {
        let SideTally { faced, opponents, half_points, .. } = *self.sides.get(color);
        let (games, wins, draws) = (u64::from(faced), half_points / 2, half_points % 2);
        let scored = Counts { games, wins, draws, losses: games.saturating_sub(wins + draws) };
        scored.performance(mean(opponents, faced)?)
    }

    /// The ratings of the side that makes the move.
    pub(in super::super) fn ratings(&self, mover: Color) -> Ratings {
        Ratings { average: self.average(mover), performance: self.performance(mover) }
    }

    /// The results of the side that makes the move.
    pub(in super::super) fn counts(&self, mover: Color) -> Counts {
        Counts {
            games: self.games.into(),
            wins: (*self.won.get(mover)).into(),
            draws: self.draws.into(),
            losses: (*self.won.get(!mover)).into(),
        }
    }

    fn put(self, out: &mut Vec<u8>) {
        for number in [self.games, self.won.white, self.draws, self.won.black, date_bits(self.last)] {
            out.extend(number.to_be_bytes());
        }
        for SideTally { rated, ratings, faced, opponents, half_points } in self.sides {
            out.extend(rated.to_be_bytes());
            out.extend(ratings.to_be_bytes());
            out.extend(faced.to_be_bytes());
            out.extend(opponents.to_be_bytes());
            out.extend(half_points.to_be_bytes());
        }
    }

    fn from_bytes(data: &[u8]) -> Option<Self> {
        let number = |at| bytes::u32_be(data, at);
        let side = |at: u64| {
            Some(SideTally {
                rated: number(at)?,
                ratings: bytes::u64_be(data, at + 4)?,
                faced: number(at + 12)?,
                opponents: bytes::u64_be(data, at + 16)?,
                half_points: bytes::u64_be(data, at + 24)?,
            })
        };
        Some(Self {
            games: number(0)?,
            won: ByColor { white: number(4)?, black: number(12)? },
            draws: number(8)?,
            last: date_of(number(16)?),
            sides: ByColor { white: side(20)?, black: side(20 + SIDE_LEN as u64)? },
        })
    }
}

impl PlayedMove {
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut out = self.mv.0.to_be_bytes().to_vec();
        self.tally.put(&mut out);
        out
    }

    pub(super) fn from_bytes(data: &[u8]) -> Option<Self> {
        let (mv, tally) = data.split_first_chunk()?;
        Some(Self { mv: MoveCode(u16::from_be_bytes(*mv)), tally: Tally::from_bytes(tally)? })
    }

    /// The move in this position, if it is legal there, with what a book would say of it.
    pub(in super::super) fn facts(&self, at: &Position) -> Option<MoveFacts> {
        if self.mv == MoveCode::NULL {
            return None;
        }
        let (tally, mover) = (&self.tally, at.chess().turn());
        let facts = MoveFacts::new(self.mv, tally.games.into()).at(at)?;
        Some(MoveFacts { counts: Some(tally.counts(mover)), ratings: Some(tally.ratings(mover)), ..facts })
    }
}

impl Tallies {
    /// Counts a game that went on with this move.
    pub(super) fn add(&mut self, mv: MoveCode, game: &GameFacts) {
        let known = self.0.iter().position(|played| played.mv == mv);
        let place = known.unwrap_or(self.0.len());
        if known.is_none() {
            self.0.push(PlayedMove { mv, tally: Tally::default() });
        }
        if let Some(played) = self.0.get_mut(place) {
            played.tally.add(game);
        }
    }

    /// The moves, the most played first.
    pub(super) fn most_first(mut self) -> Vec<PlayedMove> {
        self.0.sort_unstable_by_key(|played| (Reverse(played.tally.games), played.mv.0));
        self.0
    }
}

/// The mean of `count` ratings, rounded to the nearest number; `None` if there are none.
fn mean(sum: u64, count: u32) -> Option<u32> {
    let count = u64::from(count);
    let mean = sum.saturating_add(count / 2).checked_div(count)?;
    Some(mean.min(u16::MAX.into()) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(games: &[(u16, u16, Option<GameResult>, &str)]) -> Tally {
        let mut tally = Tally::default();
        for (white, black, outcome, date) in games {
            let elos = ByColor { white: *white, black: *black };
            tally.add(&GameFacts { elos, outcome: *outcome, date: Date::from_pgn(date) });
        }
        tally
    }

    #[test]
    fn games_are_counted_for_both_sides() {
        use GameResult::{Black, Draw, White};
        let all = tally(&[
            (2000, 2100, Some(White), "2019.??.??"),
            (0, 2200, Some(Draw), "2021.03.??"),
            (2400, 0, Some(Black), "????.??.??"),
            (1000, 1000, None, "2020.12.31"),
        ]);
        assert_eq!((all.games, all.won, all.draws), (4, ByColor { white: 1, black: 1 }, 1));
        assert_eq!(all.last, Date::from_pgn("2021.03.??"));
        assert_eq!((all.average(Color::White), all.average(Color::Black)), (Some(1800), Some(1767)));
        // White scored 1.5 of 2 against 2150 on average, Black 1 of 2 against 2200.
        assert_eq!(all.performance(Color::White), Some(2341));
        assert_eq!(all.performance(Color::Black), Some(2200));
        assert_eq!(all.counts(Color::Black), Counts { games: 4, wins: 1, draws: 1, losses: 1 });
        let played = PlayedMove { mv: MoveCode(7), tally: all };
        assert_eq!(PlayedMove::from_bytes(&played.to_bytes()), Some(played));
        let (len, short) = (played.to_bytes().len(), PlayedMove::from_bytes(&[0; MOVE_LEN - 1]));
        assert_eq!((len, short), (MOVE_LEN, None));
        let none = tally(&[(0, 0, None, "?")]);
        assert_eq!(none.ratings(Color::White), Ratings { average: None, performance: None });
    }
}
