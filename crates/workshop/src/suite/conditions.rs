//! What a position of a suite must be like.

use std::ops::RangeInclusive;
use std::sync::Arc;

use shakmaty::{Color, Position as _, Role};

use tabiya_chess::Position;
use tabiya_chess::openings::{ChosenOpenings, Opening};
use tabiya_uci::{Score, Wdl};

/// What the board must show.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// Its opening is one of these.
    pub openings: Option<Arc<ChosenOpenings>>,
    /// The side to move is not in check.
    pub quiet: bool,
    /// Both sides have a queen.
    pub queens: bool,
    /// Both sides may still castle.
    pub both_can_castle: bool,
}

impl Conditions {
    /// Whether there are any.
    pub fn any(&self) -> bool {
        self.openings.is_some() || self.quiet || self.queens || self.both_can_castle
    }

    /// Whether a position of this opening is like this.
    pub fn admit(&self, at: &Position, opening: Option<Opening>) -> bool {
        let is_chosen = |chosen: &Arc<ChosenOpenings>| opening.is_some_and(|opening| chosen.has(opening));
        let chess = at.chess();
        let both = |has: &dyn Fn(Color) -> bool| Color::ALL.into_iter().all(has);
        let has_queen = |color| (chess.board().by_role(Role::Queen) & chess.board().by_color(color)).any();
        let castles = |color: Color| chess.castles().has_color(color);
        self.openings.as_ref().is_none_or(is_chosen)
            && !(self.quiet && chess.is_check()
                || self.queens && !both(&has_queen)
                || self.both_can_castle && !both(&castles))
    }
}

/// The draws that an engine may expect of a position, in per cent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawRate(pub RangeInclusive<u16>);

impl DrawRate {
    /// Whether so many draws are among them.
    pub fn admits(&self, wdl: Wdl) -> bool {
        let per_cent = Wdl::WHOLE / 100;
        (self.0.start().saturating_mul(per_cent)..=self.0.end().saturating_mul(per_cent))
            .contains(&wdl.draws())
    }
}

/// The evaluations that a position may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Centipawns for the side that is better, or for `side`.
    pub centipawns: RangeInclusive<i64>,
    /// The side whose evaluation counts; `None`: that of the side which is better.
    pub side: Option<Color>,
}

impl Window {
    /// Whether a score for the side to move is in the window. A mate never is.
    pub fn admits(&self, score: Score, turn: Color) -> bool {
        let Score::Centipawns(score) = score else { return false };
        let score = match self.side {
            Some(side) if side == turn => score,
            Some(_) => -score,
            None => score.abs(),
        };
        self.centipawns.contains(&score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::CastlingMode;

    fn at(fen: &str) -> Position {
        Position::from_fen(fen.as_bytes(), CastlingMode::Standard).unwrap()
    }

    #[test]
    fn a_position_may_have_to_be_of_an_opening() {
        let conditions = |name| Conditions {
            openings: Some(ChosenOpenings::named(name).unwrap()),
            ..Conditions::default()
        };
        let e4 = at("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
        let opening = Opening::at(&e4);
        assert!(conditions("King's Pawn Game").admit(&e4, opening) && conditions("b00").admit(&e4, opening));
        assert!(!conditions("Sicilian Defense").admit(&e4, opening) && !conditions("B00").admit(&e4, None));
    }

    #[test]
    fn boards_are_looked_at() {
        let all = Conditions { quiet: true, queens: true, both_can_castle: true, ..Conditions::default() };
        assert!(all.admit(&Position::start(), None));
        for (fen, quiet, queens, castles) in [
            ("rnb1kbnr/pppp1ppp/8/4p3/4PP1q/8/PPPP2PP/RNBQKBNR w KQkq - 0 1", false, true, true),
            ("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", true, false, true),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w kq - 0 1", true, true, false),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w Kq - 0 1", true, true, true),
        ] {
            let at = at(fen);
            assert_eq!(Conditions { quiet: true, ..Conditions::default() }.admit(&at, None), quiet, "{fen}");
            assert_eq!(
                Conditions { queens: true, ..Conditions::default() }.admit(&at, None),
                queens,
                "{fen}"
            );
            let castling = Conditions { both_can_castle: true, ..Conditions::default() };
            assert_eq!(castling.admit(&at, None), castles, "{fen}");
            assert!(Conditions::default().admit(&at, None));
        }
    }

    #[test]
    fn draws_are_counted_in_per_cent() {
        let rate = DrawRate(35..=60);
        let of = |draws| rate.admits(Wdl::new(0, draws).unwrap());
        assert!(of(350) && of(600) && !of(349) && !of(601));
        assert!(DrawRate(0..=100).admits(Wdl::new(0, 1000).unwrap()));
    }

    #[test]
    fn a_window_is_for_the_better_side_unless_one_is_named() {
        let any = Window { centipawns: 60..=140, side: None };
        let of = |side| Window { side: Some(side), ..any.clone() };
        let scores = |window: &Window| {
            [(100, Color::White), (-100, Color::White), (100, Color::Black), (-100, Color::Black)]
                .map(|(score, turn)| window.admits(Score::Centipawns(score), turn))
        };
        assert_eq!(scores(&any), [true; 4]);
        assert_eq!(scores(&of(Color::White)), [true, false, false, true]);
        assert_eq!(scores(&of(Color::Black)), [false, true, true, false]);
        assert!(
            any.admits(Score::Centipawns(60), Color::White)
                && any.admits(Score::Centipawns(-140), Color::White)
        );
        assert!(
            !any.admits(Score::Centipawns(59), Color::White) && !any.admits(Score::Mate(3), Color::White)
        );
    }
}
