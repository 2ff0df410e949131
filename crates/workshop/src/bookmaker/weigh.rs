//! Turning counts into weights: which moves of a position are kept, and how much each weighs.

use std::collections::BTreeMap;

use shakmaty::{ByColor, Color, Position as _};

use tabiya_book::Slice;
use tabiya_book::{Counts, MoveFacts, PositionRecord, Weights};
use tabiya_chess::MoveCode;

use super::row::{CountedRow, GameOutcome};

/// Which moves are kept, and how much each weighs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Weigh {
    /// Games that a move needs.
    pub min_games: u64,
    /// Per cent of the points that a move needs.
    pub min_score: f64,
    /// Every move weighs the same.
    pub uniform: bool,
    /// Of what the weights are made otherwise.
    pub weights: Weights,
    /// The share of the games of a position's moves that a move needs, in thousandths.
    pub min_share: u16,
    /// The same by the side to move.
    pub min_side_share: ByColor<u16>,
}

impl Default for Weigh {
    /// PolyGlot's: three games, any score above zero, weights by results.
    fn default() -> Self {
        Self {
            min_games: 3,
            min_score: 0.0,
            uniform: false,
            weights: Weights::Points,
            min_share: 0,
            min_side_share: ByColor::default(),
        }
    }
}

/// Why a move is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DropReason {
    /// Too few games.
    Games,
    /// No game was won or drawn.
    Lost,
    /// Too few of the points.
    Score,
    /// Too small a share of the position's games.
    Share,
}

/// How many moves were dropped, and why.
pub type DroppedMoves = BTreeMap<DropReason, u64>;

impl Weigh {
    /// Whether the side to move decides.
    pub(crate) fn needs_sides(&self) -> bool {
        self.min_side_share != ByColor::default()
    }

    /// The share that a move needs where this side moves.
    fn share(&self, side: Option<Color>) -> u16 {
        self.min_share.max(side.map_or(0, |side| *self.min_side_share.get(side)))
    }

    /// Half-points: two for a win and one for a draw, as PolyGlot weighs moves (docs/formats/polyglot.md, Weight). A move
    /// that only lost weighs 0 and is never played: it is kept where games are `counted`, for its results and for the
    /// positions that it leads to. Of equal weights every move has one, as in a study whose result says nothing of its moves.
    /// By games it weighs how often it was played.
    ///
    /// # Errors
    /// Why the move is not kept.
    fn weight(&self, counts: &Counts, counted: bool) -> Result<u64, DropReason> {
        let points = counts.wins * 2 + counts.draws;
        let score = points as f64 / counts.games as f64 / 2.0;
        if counts.games < self.min_games {
            Err(DropReason::Games)
        } else if points == 0 && !counted && !self.uniform && self.weights == Weights::Points {
            Err(DropReason::Lost)
        } else if score < self.min_score / 100.0 {
            Err(DropReason::Score)
        } else {
            Ok(match self.weights {
                _ if self.uniform => 1,
                Weights::Points => points,
                Weights::Games => counts.games,
            })
        }
    }
}

/// The positions of sorted rows that keep a move; if games are `counted`, also those that enough games reached, for the
/// sake of their results.
///
/// Counts are kept if they are `counted`. `drops` counts the moves that are not kept.
pub fn positions<R: CountedRow>(
    rows: &[R],
    weigh: &Weigh,
    counted: bool,
    drops: &mut DroppedMoves,
) -> Vec<PositionRecord> {
    let (mut found, mut all) = (Vec::new(), Vec::new());
    // Moves with too few games: most of all, so they are added to the map in one step.
    let mut rare = 0;
    let has_shares = weigh.min_share > 0 || weigh.needs_sides();
    for rows in rows.chunk_by(|a, b| a.key() == b.key()) {
        // So are most positions: one move of one game.
        if let [row] = rows
            && !has_shares
            && let count = row.count()
            && count.games < weigh.min_games
        {
            rare += u64::from(count.mv != MoveCode::NULL);
            continue;
        }
        let mut total = Counts { games: 0, wins: 0, draws: 0, losses: 0 };
        all.clear();
        for_each_move(rows, |mv, _, counts| {
            total.games += counts.games;
            total.wins += counts.wins;
            total.draws += counts.draws;
            total.losses += counts.losses;
            if mv != MoveCode::NULL {
                all.push((mv, counts));
            }
        });
        let position = || rows.first().and_then(CountedRow::packed).and_then(|packed| packed.unpack());
        let side =
            if weigh.needs_sides() { position().map(|position| position.chess().turn()) } else { None };
        let share = u128::from(weigh.share(side));
        let games: u64 = all.iter().map(|(_, counts)| counts.games).sum();
        let mut moves = Vec::new();
        for &(mv, counts) in &all {
            if u128::from(counts.games) * 1000 < u128::from(games) * share {
                *drops.entry(DropReason::Share).or_default() += 1;
                continue;
            }
            match weigh.weight(&counts, counted) {
                Ok(weight) => {
                    let counts = counted.then_some(counts);
                    // Most positions have one move: a vector that grows by itself takes room for four.
                    if moves.is_empty() {
                        moves.reserve_exact(all.len());
                    }
                    moves.push(MoveFacts { counts, ..MoveFacts::new(mv, weight) });
                }
                Err(DropReason::Games) => rare += 1,
                Err(why) => *drops.entry(why).or_default() += 1,
            }
        }
        let reached = counted && total.games >= weigh.min_games;
        let (Some(first), true) = (rows.first(), reached || !moves.is_empty()) else { continue };
        let total = counted.then_some(total);
        found.push(PositionRecord {
            key: first.key(),
            position: position(),
            moves,
            total,
            comment: None,
            game: first.game(),
            extras: Vec::new(),
        });
    }
    if rare > 0 {
        *drops.entry(DropReason::Games).or_default() += rare;
    }
    found
}

/// Adds up the outcomes of each move of one position in each slice of games.
pub(crate) fn for_each_move<R: CountedRow>(rows: &[R], mut see: impl FnMut(MoveCode, Slice, Counts)) {
    let mut rows = rows.iter().map(CountedRow::count).peekable();
    while let Some(first) = rows.next() {
        let mut counts = Counts { games: 0, wins: 0, draws: 0, losses: 0 };
        let mut count = Some(first);
        while let Some(some) = count {
            counts.games += some.games;
            match some.outcome {
                GameOutcome::Win => counts.wins += some.games,
                GameOutcome::Draw => counts.draws += some.games,
                GameOutcome::Loss => counts.losses += some.games,
            }
            count = rows.next_if(|next| (next.mv, next.slice) == (first.mv, first.slice));
        }
        see(first.mv, first.slice, counts);
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::{Count, CountRow};
    use super::*;

    fn kept(weigh: Weigh, counts: &[(u64, u16, [u64; 3])]) -> Vec<(u64, Vec<(u16, u64)>)> {
        kept_in(weigh, false, counts)
    }

    fn kept_in(weigh: Weigh, counted: bool, counts: &[(u64, u16, [u64; 3])]) -> Vec<(u64, Vec<(u16, u64)>)> {
        let mut rows = Vec::new();
        for &(key, mv, games) in counts {
            for (outcome, games) in
                [GameOutcome::Loss, GameOutcome::Draw, GameOutcome::Win].into_iter().zip(games)
            {
                if games > 0 {
                    let slice = Slice::default();
                    rows.push(CountRow::new(Count { key, mv: MoveCode(mv), slice, outcome, games }));
                }
            }
        }
        rows.sort();
        positions(&rows, &weigh, counted, &mut DroppedMoves::new())
            .into_iter()
            .map(|known| (known.key, known.moves.iter().map(|known| (known.mv.0, known.weight)).collect()))
            .collect()
    }

    const COUNTS: [(u64, u16, [u64; 3]); 5] =
        [(1, 1, [1, 1, 1]), (1, 2, [0, 1, 1]), (1, 3, [9, 0, 0]), (2, 1, [0, 2, 0]), (3, 1, [6, 0, 2])];

    #[test]
    fn a_move_weighs_two_for_a_win_and_one_for_a_draw() {
        let kept = kept(Weigh { min_games: 1, ..Weigh::default() }, &COUNTS);
        assert_eq!(kept, [(1, vec![(1, 3), (2, 3)]), (2, vec![(1, 2)]), (3, vec![(1, 4)])]);
    }

    #[test]
    fn by_games_a_move_weighs_how_often_it_was_played() {
        let by_games = Weigh { min_games: 1, weights: Weights::Games, ..Weigh::default() };
        assert_eq!(kept(by_games, &COUNTS)[..2], [(1, vec![(1, 3), (2, 2), (3, 9)]), (2, vec![(1, 2)])]);
    }

    #[test]
    fn where_games_are_counted_a_move_that_only_lost_is_kept_and_weighs_nothing() {
        let of = |weigh| kept_in(weigh, true, &COUNTS);
        let all = of(Weigh { min_games: 1, ..Weigh::default() });
        assert_eq!(all, [(1, vec![(1, 3), (2, 3), (3, 0)]), (2, vec![(1, 2)]), (3, vec![(1, 4)])]);
        // The filters act on it as on any other.
        let many = of(Weigh { min_games: 10, ..Weigh::default() });
        assert_eq!(many, [(1, vec![])]);
        let scored = of(Weigh { min_games: 1, min_score: 1.0, ..Weigh::default() });
        assert_eq!(scored[0], (1, vec![(1, 3), (2, 3)]));
        let uniform = of(Weigh { min_games: 1, uniform: true, ..Weigh::default() });
        assert_eq!(uniform[0], (1, vec![(1, 1), (2, 1), (3, 1)]));
    }

    #[test]
    fn where_games_are_counted_a_position_that_enough_reached_comes_without_moves() {
        let slice = Slice::default();
        let row = |key, mv, games| {
            CountRow::new(Count { key, mv: MoveCode(mv), slice, outcome: GameOutcome::Draw, games })
        };
        let rows = [row(1, 0, 1), row(1, 2, 3), row(1, 3, 2), row(2, 0, 3), row(3, 0, 2), row(4, 5, 2)];
        let of = |counted| positions(&rows, &Weigh::default(), counted, &mut DroppedMoves::new());
        let seen: Vec<_> = of(true)
            .iter()
            .map(|known| (known.key, known.moves.len(), known.total.map(|total| total.games)))
            .collect();
        assert_eq!(seen, [(1, 1, Some(6)), (2, 0, Some(3))]);
        assert_eq!(of(false).iter().map(|known| (known.key, known.total)).collect::<Vec<_>>(), [(1, None)]);
    }

    #[test]
    fn few_games_and_low_scores_are_left_out() {
        assert_eq!(kept(Weigh::default(), &COUNTS), [(1, vec![(1, 3)]), (3, vec![(1, 4)])]);
        let scored = Weigh { min_score: 25.0, ..Weigh::default() };
        assert_eq!(kept(scored, &COUNTS), [(1, vec![(1, 3)]), (3, vec![(1, 4)])]);
        let scored = Weigh { min_score: 25.1, ..Weigh::default() };
        assert_eq!(kept(scored, &COUNTS), [(1, vec![(1, 3)])]);
        let uniform = Weigh { uniform: true, ..Weigh::default() };
        assert_eq!(kept(uniform, &COUNTS), [(1, vec![(1, 1), (3, 1)]), (3, vec![(1, 1)])]);
        let scored = Weigh { min_score: 1.0, ..uniform };
        assert_eq!(kept(scored, &COUNTS), [(1, vec![(1, 1)]), (3, vec![(1, 1)])]);
    }
}
