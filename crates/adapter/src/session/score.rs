//! The score that is announced with a book move.
#![allow(clippy::cast_possible_truncation, reason = "the number was limited before")]

use tabiya_book::{Counts, MoveFacts, rating_difference};

use crate::settings::options::BookScore;

/// The greatest score, in centipawns: less than the score at which clients adjudicate a game, however few games it
/// comes from.
const MAX: f64 = 300.0;

/// The score of a move in centipawns, from the point of view of the side that makes it.
///
/// With p as the share of the points that the move scored, in the book's counts or else in what the book has learned,
/// it is 400 log10(p / (1 - p)), at most 300 either way; 0 if there are no results.
pub(super) fn centipawns(score: BookScore, mv: &MoveFacts) -> i32 {
    if score == BookScore::Zero {
        return 0;
    }
    let learned = mv.learned.filter(|learned| learned.games > 0);
    let learned = learned.map(|learned| (f64::from(learned.halfpoints) / 2.0, f64::from(learned.games)));
    let results = mv.counts.and_then(Counts::results).or(learned);
    results.map_or(0, |(points, games)| rating_difference(points, games).clamp(-MAX, MAX).round() as i32)
}

#[cfg(test)]
mod tests {
    use shakmaty::{Chess, Position as _};
    use tabiya_book::Learned;

    use super::*;

    #[test]
    fn results_become_centipawns() {
        let mut mv = MoveFacts::new(Chess::default().legal_moves()[0], 7);
        let score = |mv: &MoveFacts| centipawns(BookScore::Statistics, mv);
        assert_eq!(score(&mv), 0);
        for (wins, draws, losses, expected) in [
            (0, 0, 0, 0),
            (5, 10, 5, 0),
            (3, 0, 1, 191),
            (1, 0, 3, -191),
            (2, 6, 2, 0),
            (4, 4, 2, 70),
            (1, 0, 0, 300),
            (0, 0, 9, -300),
            (u64::MAX, u64::MAX, u64::MAX, 0),
        ] {
            mv.counts = Some(Counts { games: 1000, wins, draws, losses });
            assert_eq!(score(&mv), expected, "{wins} {draws} {losses}");
            assert_eq!(centipawns(BookScore::Zero, &mv), 0);
        }
        mv.learned = Some(Learned { games: 2, halfpoints: 3 });
        assert_eq!(score(&mv), 0, "counts come first");
        mv.counts = Some(Counts { games: 5, wins: 0, draws: 0, losses: 0 });
        assert_eq!(score(&mv), 191);
        mv.learned = Some(Learned { games: 0, halfpoints: 0 });
        assert_eq!(score(&mv), 0);
        // More half-points than twice the games, as a damaged file can have.
        mv.learned = Some(Learned { games: 1, halfpoints: 9 });
        assert_eq!(score(&mv), 300);
    }
}
