//! How a game ended, as far as an engine can know it: nobody tells it.

use std::fmt;
use std::time::Duration;

use shakmaty::{Color, KnownOutcome};

use crate::chess::{Ending, Game};
use crate::uci::Score;

/// Moves of ours from which a game is one: fewer may be a test of a position, and no game ends sooner but by a fool's
/// mate.
const FEWEST_MOVES: u32 = 2;

/// Last scores of ours that must agree on a win or a loss.
const DECIDED_SCORES: usize = 2;

/// Last scores of ours that must lie near zero in a draw.
pub(super) const DRAWN_SCORES: usize = 10;

/// How near, in centipawns.
const DRAWN_MARGIN: i64 = 15;

/// The full move from which on scores near zero mean a draw.
const DRAWN_MOVE: u32 = 40;

/// How near the end of a clock a move may come before the clock may have ended the game: what we measure is not what
/// the GUI measures.
const CLOCK_SLACK: Duration = Duration::from_millis(100);

/// Why a game was over for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// `ucinewgame`.
    NewGame,
    /// Another start position, or the same one again.
    OtherStart,
    /// The position jumped within the game.
    Jump,
    /// `quit`, the end of input, or a signal.
    Quit,
    /// The engine failed.
    Died,
    /// The board says so, and it cannot be played on.
    Board,
}

/// Why nothing is to be learned from a game, whatever its scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// A question was one of analysis.
    Analysis,
    /// The position jumped: moves were taken back, or somebody looks through a game.
    Jumped,
    /// The position was broken, or not known.
    Lost,
    /// The engine failed.
    Died,
}

/// Why a verdict is what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Board(Ending),
    Scores,
    Doubt(Doubt),
    Short,
    Unanswered,
    OurClock,
    TheirClock,
    Undecided,
}

/// What became of a game: who has won, where that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) outcome: Option<KnownOutcome>,
    pub(super) why: Why,
}

/// All that the verdict hangs on.
pub(super) struct Evidence<'a> {
    /// The game with the last move that is known.
    pub(super) game: &'a Game,
    /// Whose engine we are.
    pub(super) color: Color,
    /// How many moves we made.
    pub(super) moves: u32,
    /// The scores of our last moves, the last one last; `None` for a move of the book's.
    pub(super) scores: &'a [Option<Score>],
    /// The full move that our last one was.
    pub(super) fullmove: u32,
    /// Whether our last question was answered.
    pub(super) answered: bool,
    /// What our last move took, and what it might have taken.
    pub(super) ours: (Duration, Option<Duration>),
    /// How long the game has waited for the opponent's move, and how long it might have; nothing where that move came.
    pub(super) theirs: Option<(Duration, Option<Duration>)>,
    pub(super) doubt: Option<Doubt>,
}

impl Evidence<'_> {
    /// The rule, from the surest sign to the weakest. `margin` is in centipawns.
    pub(super) fn verdict(&self, margin: u32) -> Verdict {
        let unknown = |why| Verdict { outcome: None, why };
        if let Some(doubt) = self.doubt {
            return unknown(Why::Doubt(doubt));
        }
        if self.moves < FEWEST_MOVES {
            return unknown(Why::Short);
        }
        if !self.answered {
            return unknown(Why::Unanswered);
        }
        if let Some((ending, outcome)) = self.game.ending() {
            return Verdict { outcome: Some(outcome), why: Why::Board(ending) };
        }
        // A game that a clock ended tells nothing by its scores.
        if ran_out(self.ours.0, self.ours.1) {
            return unknown(Why::OurClock);
        }
        if self.theirs.is_some_and(|(waited, limit)| ran_out(waited + CLOCK_SLACK, limit)) {
            return unknown(Why::TheirClock);
        }
        match self.by_scores(margin) {
            Some(outcome) => Verdict { outcome: Some(outcome), why: Why::Scores },
            None => unknown(Why::Undecided),
        }
    }

    fn by_scores(&self, margin: u32) -> Option<KnownOutcome> {
        let last = |count: usize| {
            let scores = self.scores.len().checked_sub(count).and_then(|from| self.scores.get(from..))?;
            scores.iter().map(|score| score.map(centipawns)).collect::<Option<Vec<i64>>>()
        };
        let margin = i64::from(margin.max(1));
        let decided = last(DECIDED_SCORES)?;
        if decided.iter().all(|score| *score >= margin) {
            return Some(KnownOutcome::Decisive { winner: self.color });
        }
        if decided.iter().all(|score| *score <= -margin) {
            return Some(KnownOutcome::Decisive { winner: self.color.other() });
        }
        let level = last(DRAWN_SCORES)?.iter().all(|score| score.abs() <= DRAWN_MARGIN);
        (level && self.fullmove > DRAWN_MOVE).then_some(KnownOutcome::Draw)
    }
}

/// A score as a number: a mate is more than any margin.
fn centipawns(score: Score) -> i64 {
    match score {
        Score::Centipawns(score) => score.clamp(-i64::from(i32::MAX), i64::from(i32::MAX)),
        Score::Mate(moves) if moves > 0 => i64::MAX,
        Score::Mate(_) => -i64::MAX,
    }
}

/// Whether a clock may have run out.
fn ran_out(used: Duration, limit: Option<Duration>) -> bool {
    limit.is_some_and(|limit| used >= limit)
}

/// What our own move may take, so that its clock has surely not run out.
pub(super) fn own_limit(clock: Option<u64>, movetime: Option<u64>) -> Option<Duration> {
    match (movetime, clock) {
        (Some(time), _) => Some(Duration::from_millis(time)),
        (None, Some(left)) => Some(Duration::from_millis(left).saturating_sub(CLOCK_SLACK)),
        (None, None) => None,
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Board(Ending::Mate) => "mate on the board",
            Why::Board(Ending::Stalemate) => "stalemate on the board",
            Why::Board(Ending::DeadPosition) => "nobody can be mated any more",
            Why::Board(Ending::Repetition) => "the position stood for the third time",
            Why::Board(Ending::FiftyMoves) => "fifty moves without a capture or a pawn move",
            Why::Scores => "by the engine's last scores",
            Why::Doubt(Doubt::Analysis) => "it was analysis",
            Why::Doubt(Doubt::Jumped) => "moves were taken back or left out",
            Why::Doubt(Doubt::Lost) => "a position was broken",
            Why::Doubt(Doubt::Died) => "the engine failed",
            Why::Short => "it was over after one move of ours",
            Why::Unanswered => "it was over while our move was awaited",
            Why::OurClock => "our clock may have run out",
            Why::TheirClock => "the opponent's clock may have run out",
            Why::Undecided => "the engine's last scores decide nothing",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cp(scores: &[i64]) -> Vec<Option<Score>> {
        scores.iter().map(|score| Some(Score::Centipawns(*score))).collect()
    }

    fn evidence<'a>(game: &'a Game, scores: &'a [Option<Score>]) -> Evidence<'a> {
        Evidence {
            game,
            color: Color::White,
            moves: 30,
            scores,
            fullmove: 41,
            answered: true,
            ours: (Duration::ZERO, None),
            theirs: Some((Duration::ZERO, None)),
            doubt: None,
        }
    }

    fn winner(scores: &[Option<Score>]) -> Option<Option<Color>> {
        evidence(&Game::start(), scores).verdict(600).outcome.map(KnownOutcome::winner)
    }

    #[test]
    fn the_last_two_scores_decide() {
        let (white, black) = (Some(Some(Color::White)), Some(Some(Color::Black)));
        assert_eq!(winner(&cp(&[0, 600, 601])), white);
        assert_eq!(winner(&cp(&[900, 599, 700])), None);
        assert_eq!(winner(&cp(&[900, 700, 599])), None);
        assert_eq!(winner(&cp(&[-600, -9000])), black);
        assert_eq!(winner(&cp(&[-600, 600])), None);
        assert_eq!(winner(&[None, Some(Score::Centipawns(900))]), None);
        let mate = |first, last| winner(&[Some(first), Some(Score::Mate(last))]);
        assert_eq!(mate(Score::Centipawns(700), 5), white);
        assert_eq!(mate(Score::Centipawns(700), -5), None);
        assert_eq!(mate(Score::Centipawns(500), 5), None);
        assert_eq!(mate(Score::Mate(-2), -1), black);
        assert_eq!(mate(Score::Mate(-2), 0), black);
        assert_eq!(winner(&[]), None);
        assert_eq!(winner(&cp(&[900])), None);
        assert_eq!(winner(&cp(&[i64::MIN, i64::MIN])), black);
    }

    #[test]
    fn ten_scores_near_zero_after_move_forty_are_a_draw() {
        let level = cp(&[15, -15, 0, 0, 0, 3, 3, 3, 0, -15]);
        assert_eq!(winner(&level), Some(None));
        assert_eq!(winner(&level[1..]), None);
        assert_eq!(winner(&cp(&[16, -15, 0, 0, 0, 3, 3, 3, 0, -15])), None);
        let game = Game::start();
        let early = Evidence { fullmove: 40, ..evidence(&game, &level) };
        assert_eq!(early.verdict(600), Verdict { outcome: None, why: Why::Undecided });
        // Where any score at all decides, one of nothing still does not.
        assert_eq!(evidence(&game, &cp(&[0, 0])).verdict(0).outcome, None);
    }

    #[test]
    fn what_may_have_ended_otherwise_is_unknown() {
        let game = Game::start();
        let won = cp(&[900, 900]);
        let ms = Duration::from_millis;
        let why = |change: fn(&mut Evidence<'_>)| {
            let mut evidence = evidence(&game, &won);
            change(&mut evidence);
            let verdict = evidence.verdict(600);
            assert!(verdict.outcome.is_none() || verdict.why == Why::Scores);
            verdict.why
        };
        assert_eq!(why(|_| {}), Why::Scores);
        assert_eq!(why(|it| it.doubt = Some(Doubt::Jumped)), Why::Doubt(Doubt::Jumped));
        assert_eq!(why(|it| it.moves = 1), Why::Short);
        assert_eq!(why(|it| it.answered = false), Why::Unanswered);
        assert_eq!(why(|it| it.ours = (Duration::from_secs(5), Some(Duration::from_secs(5)))), Why::OurClock);
        assert_eq!(why(|it| it.ours = (Duration::from_secs(4), Some(Duration::from_secs(5)))), Why::Scores);
        let second = Duration::from_secs(1);
        assert_eq!(why(|it| it.theirs = None), Why::Scores);
        assert_eq!((ms(900), second), (second - CLOCK_SLACK, second));
        assert_eq!(
            why(|it| it.theirs = Some((Duration::from_millis(900), Some(Duration::from_secs(1))))),
            Why::TheirClock
        );
        assert_eq!(
            why(|it| it.theirs = Some((Duration::from_millis(899), Some(Duration::from_secs(1))))),
            Why::Scores
        );
        assert_eq!(own_limit(Some(1000), None), Some(ms(900)));
        assert_eq!(own_limit(Some(50), None), Some(Duration::ZERO));
        assert_eq!(own_limit(Some(1000), Some(70)), Some(ms(70)));
        assert_eq!(own_limit(None, None), None);
    }

    #[test]
    fn the_board_is_surer_than_clocks_and_scores() {
        let mut game = Game::start();
        for mv in ["f2f3", "e7e5", "g2g4", "d8h4"] {
            assert!(game.push_uci(mv.as_bytes()));
        }
        let won = cp(&[900, 900]);
        let mut evidence = evidence(&game, &won);
        evidence.theirs = Some((Duration::from_secs(9), Some(Duration::ZERO)));
        let verdict = evidence.verdict(600);
        assert_eq!(verdict.outcome, Some(KnownOutcome::Decisive { winner: Color::Black }));
        assert_eq!(verdict.why, Why::Board(Ending::Mate));
    }
}
