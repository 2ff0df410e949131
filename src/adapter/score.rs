//! The score that is announced with a book move.

use crate::book::{BookMove, rating_difference};

/// The score that is announced with a book move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BookScore {
    /// Always 0.
    #[default]
    Zero,
    /// What the book's results of the move say.
    Statistics,
}

impl BookScore {
    /// All of them, in the order in which a GUI sees them.
    pub const ALL: [Self; 2] = [BookScore::Zero, BookScore::Statistics];

    /// The greatest score, in centipawns: less than any runner resigns a game for, however few games say so.
    pub const MOST: i32 = 300;

    /// Its word in the option.
    pub fn as_str(self) -> &'static str {
        match self {
            BookScore::Zero => "zero",
            BookScore::Statistics => "statistics",
        }
    }

    /// The score of this word, in any letter case.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|score| score.as_str().eq_ignore_ascii_case(word))
    }

    /// The score of a move in centipawns, for the side that makes it.
    ///
    /// With p as the share of the points that its results brought, from the book's counts or else from what it has
    /// learned, it is 400 log10(p / (1 - p)), no more than [`BookScore::MOST`] either way; 0 without a result.
    pub fn centipawns(self, mv: &BookMove) -> i32 {
        if self == BookScore::Zero {
            return 0;
        }
        let counted = mv.counts.map(|counts| {
            let ended = counts.wins as f64 + counts.draws as f64 + counts.losses as f64;
            (counts.wins as f64 + counts.draws as f64 / 2.0, ended)
        });
        let learned =
            mv.learned.map(|learned| (f64::from(learned.halfpoints) / 2.0, f64::from(learned.games)));
        let most = f64::from(Self::MOST);
        [counted, learned]
            .into_iter()
            .flatten()
            .find(|(_, games)| *games > 0.0)
            .map_or(0, |(points, games)| rating_difference(points, games).clamp(-most, most).round() as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::{Counts, Learned};
    use shakmaty::{Chess, Position as _};

    #[test]
    fn results_become_centipawns() {
        let mut mv = BookMove::new(Chess::default().legal_moves()[0], 7);
        let score = BookScore::Statistics;
        assert_eq!(score.centipawns(&mv), 0);
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
            assert_eq!(score.centipawns(&mv), expected, "{wins} {draws} {losses}");
            assert_eq!(BookScore::Zero.centipawns(&mv), 0);
        }
        mv.learned = Some(Learned { games: 2, halfpoints: 3 });
        assert_eq!(score.centipawns(&mv), 0, "counts come first");
        mv.counts = Some(Counts { games: 5, wins: 0, draws: 0, losses: 0 });
        assert_eq!(score.centipawns(&mv), 191);
        mv.learned = Some(Learned { games: 0, halfpoints: 0 });
        assert_eq!(score.centipawns(&mv), 0);
        // Half-points above twice the games, as a damaged file can have them.
        mv.learned = Some(Learned { games: 1, halfpoints: 9 });
        assert_eq!(score.centipawns(&mv), 300);
    }
}
