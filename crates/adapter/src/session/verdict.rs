//! How a game ended, as far as an engine can know it: UCI has no message for it.

use std::fmt;
use std::time::Duration;

use shakmaty::{Color, KnownOutcome, Position as _};

use super::lengths::Lengths;
use tabiya_chess::{Ending, Game};
use tabiya_search::evals::value;
use tabiya_uci::Score;

/// The fewest moves of ours in a game that is learned: a shorter game may be a test of a position, and only a fool's
/// mate ends a game sooner.
const MIN_MOVES: u32 = 2;

/// The number of our last scores that must agree on a win or a loss: programs that run matches mostly wait for as many
/// before they end a game.
const DECIDED_SCORES: usize = 3;

/// The number of our last scores that must be near zero in a draw.
pub(super) const DRAWN_SCORES: usize = 10;

/// The greatest distance of such a score from zero, in centipawns.
const DRAWN_MARGIN: i64 = 15;

/// The full move after which scores near zero mean a draw.
const DRAWN_MOVE: u32 = 40;

/// What must be left on a clock to be sure that it has not run out: we do not measure the same time as the GUI.
const CLOCK_SLACK: Duration = Duration::from_millis(200);

/// The divisor that gives the share of `movetime` by which a move may be late: engines use all of it, and GUIs allow
/// for the time that the answer takes to arrive.
const MOVETIME_PART: u32 = 10;

/// The least and the greatest value of that share.
const MOVETIME_SLACK: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// The reason for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Board(Ending),
    Scores,
    /// A request was for analysis.
    Analysis,
    /// The position jumped: moves were taken back, or a user steps through a game.
    Jumped,
    /// The position was not valid, or is not known.
    Lost,
    Died,
    /// Learning was switched off during the game.
    Unwanted,
    Short,
    Unanswered,
    OurClock,
    TheirClock,
    Mated,
    Drawn,
    Undecided,
    /// A limit of moves may have ended it.
    Limit,
}

/// The result of a game, if it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) outcome: Option<KnownOutcome>,
    pub(super) why: Why,
}

/// All that the verdict depends on.
#[derive(Clone)]
pub(super) struct Evidence {
    /// The game up to the last move that is known.
    pub(super) game: Game,
    /// The colour that we play.
    pub(super) color: Color,
    /// The number of our moves.
    pub(super) moves: u32,
    /// The scores of our last moves, in order; `None` for a move of the book.
    pub(super) scores: Vec<Option<Score>>,
    /// The full move of our last move.
    pub(super) fullmove: u32,
    /// Whether our last request was answered.
    pub(super) answered: bool,
    /// The time that our last move took, and the time limit.
    pub(super) ours: (Duration, Option<Duration>),
    /// The time since our last move, and the opponent's time limit; `None` if the opponent has moved.
    pub(super) theirs: Option<(Duration, Option<Duration>)>,
    /// Why it must not be learned, whatever its scores.
    pub(super) doubt: Option<Why>,
}

impl Evidence {
    /// A game that begins in the last position of `game`.
    pub(super) fn new(game: Game, color: Color, doubt: Option<Why>) -> Self {
        Self {
            game,
            color,
            moves: 0,
            scores: Vec::new(),
            fullmove: 0,
            answered: false,
            ours: (Duration::ZERO, None),
            theirs: None,
            doubt,
        }
    }

    /// The number of our moves, and of all moves from the start position on.
    pub(super) fn lengths(&self) -> [u32; 2] {
        let plies = u32::try_from(self.game.moves().len()).unwrap_or(u32::MAX);
        [self.moves, plies.div_ceil(2)]
    }

    /// The verdict, where games of these lengths came before.
    pub(super) fn verdict_after(&self, before: &mut Lengths, margin: u32) -> Verdict {
        let verdict = self.verdict(margin);
        // What is no game, or is not over, says nothing about the length of games.
        if self.doubt.is_some() || !self.answered {
            return verdict;
        }
        let unfinished = !matches!(verdict.why, Why::Board(_));
        let cut = before.may_have_ended(self.lengths(), unfinished);
        // At a limit, a game is drawn.
        if cut && verdict.outcome.is_some_and(|outcome| outcome != KnownOutcome::Draw) {
            return Verdict { outcome: None, why: Why::Limit };
        }
        verdict
    }

    /// The verdict; the surest evidence comes first. `margin` is in centipawns.
    pub(super) fn verdict(&self, margin: u32) -> Verdict {
        let unknown = |why| Verdict { outcome: None, why };
        if let Some(doubt) = self.doubt {
            return unknown(doubt);
        }
        if self.moves < MIN_MOVES {
            return unknown(Why::Short);
        }
        if !self.answered {
            return unknown(Why::Unanswered);
        }
        if let Some((ending, outcome)) = self.game.ending() {
            return Verdict { outcome: Some(outcome), why: Why::Board(ending) };
        }
        // The scores of a game that a clock has ended do not matter.
        if ran_out(self.ours.0, self.ours.1) {
            return unknown(Why::OurClock);
        }
        if self.theirs.is_some_and(|(waited, limit)| ran_out(waited, limit)) {
            return unknown(Why::TheirClock);
        }
        let Some(outcome) = self.by_scores(margin) else { return unknown(Why::Undecided) };
        match self.other_end(outcome) {
            Some(why) => unknown(why),
            None => Verdict { outcome: Some(outcome), why: Why::Scores },
        }
    }

    /// How an opponent's last move that the GUI did not send may have ended the game against the scores: a won game
    /// with a mate; a lost game with a draw, if no mate was possible.
    fn other_end(&self, outcome: KnownOutcome) -> Option<Why> {
        let winner = outcome.winner()?;
        let chess = self.game.position().chess();
        if chess.turn() == self.color {
            return None;
        }
        let mut draws = false;
        for mv in chess.legal_moves() {
            let mut game = self.game.clone();
            game.push(mv);
            match game.ending() {
                Some((_, KnownOutcome::Draw)) => draws = true,
                Some((_, outcome)) if outcome.winner() == Some(self.color.other()) => {
                    return (winner == self.color).then_some(Why::Mated);
                }
                // In some variants a side can end the game against itself.
                Some(_) | None => {}
            }
        }
        (draws && winner != self.color).then_some(Why::Drawn)
    }

    fn by_scores(&self, margin: u32) -> Option<KnownOutcome> {
        let last = |count: usize| {
            let scores = self.scores.len().checked_sub(count).and_then(|from| self.scores.get(from..))?;
            // A mate is more than any margin.
            scores.iter().map(|score| score.map(|score| value(score).into())).collect::<Option<Vec<i64>>>()
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

/// Whether a clock may have run out.
fn ran_out(used: Duration, limit: Option<Duration>) -> bool {
    limit.is_some_and(|limit| used >= limit)
}

/// The time that a move may take while its clock has certainly not run out; clocks are in milliseconds.
pub(super) fn limit(clock: Option<u64>, movetime: Option<u64>) -> Option<Duration> {
    let (least, most) = MOVETIME_SLACK;
    match (movetime.map(Duration::from_millis), clock.map(Duration::from_millis)) {
        (Some(time), _) => Some(time.saturating_add((time / MOVETIME_PART).clamp(least, most))),
        (None, Some(left)) => Some(left.saturating_sub(CLOCK_SLACK)),
        (None, None) => None,
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Board(Ending::Mate) => "mate on the board",
            Why::Board(Ending::Stalemate) => "stalemate on the board",
            Why::Board(Ending::DeadPosition) => "neither side can give mate",
            Why::Board(Ending::Repetition) => "the position occurred for the third time",
            Why::Board(Ending::FiftyMoves) => "fifty moves without a capture or a pawn move",
            Why::Board(Ending::Variant) => "by a rule of the variant",
            Why::Scores => "by the engine's last scores",
            Why::Analysis => "it was analysis",
            Why::Jumped => "moves were taken back or left out",
            Why::Lost => "a position was not valid",
            Why::Died => "the engine failed",
            Why::Unwanted => "Book Learn was switched off during the game",
            Why::Short => "it ended after our first move",
            Why::Unanswered => "it ended while it was our turn",
            Why::OurClock => "our clock may have run out",
            Why::TheirClock => "the opponent's clock may have run out",
            Why::Mated => "the opponent's last move may have been mate",
            Why::Drawn => "the opponent's last move may have drawn",
            Why::Undecided => "the engine's last scores are not decisive",
            Why::Limit => "a limit of moves may have ended it",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cp(scores: &[i64]) -> Vec<Option<Score>> {
        scores.iter().map(|score| Some(Score::Centipawns(*score))).collect()
    }

    fn evidence(game: &Game, scores: &[Option<Score>]) -> Evidence {
        Evidence {
            moves: 30,
            scores: scores.to_vec(),
            fullmove: 41,
            answered: true,
            theirs: Some((Duration::ZERO, None)),
            ..Evidence::new(game.clone(), Color::White, None)
        }
    }

    fn winner(scores: &[Option<Score>]) -> Option<Option<Color>> {
        evidence(&Game::start(), scores).verdict(600).outcome.map(KnownOutcome::winner)
    }

    #[test]
    fn the_last_three_scores_decide() {
        let (white, black) = (Some(Some(Color::White)), Some(Some(Color::Black)));
        assert_eq!(winner(&cp(&[0, 600, 601, 602])), white);
        assert_eq!(winner(&cp(&[900, 599, 700, 700])), None);
        assert_eq!(winner(&cp(&[900, 700, 700, 599])), None);
        assert_eq!(winner(&cp(&[-600, -600, -9000])), black);
        assert_eq!(winner(&cp(&[-600, -600])), None);
        assert_eq!(winner(&cp(&[-600, -600, 600])), None);
        assert_eq!(winner(&[None, Some(Score::Centipawns(900)), Some(Score::Centipawns(900))]), None);
        let mate = |first, last| winner(&[Some(first), Some(Score::Mate(last)), Some(Score::Mate(last))]);
        assert_eq!(mate(Score::Centipawns(700), 5), white);
        assert_eq!(mate(Score::Centipawns(700), -5), None);
        assert_eq!(mate(Score::Centipawns(500), 5), None);
        assert_eq!(mate(Score::Mate(-2), -1), black);
        assert_eq!(mate(Score::Mate(-2), 0), black);
        assert_eq!(winner(&[]), None);
        assert_eq!(winner(&cp(&[900])), None);
        assert_eq!(winner(&cp(&[i64::MIN; 3])), black);
    }

    #[test]
    fn at_a_limit_of_moves_scores_do_not_decide() {
        let mut lengths = Lengths::default();
        let mut why = |change: fn(&mut Evidence)| {
            let mut evidence = evidence(&Game::start(), &cp(&[900; 3]));
            evidence.moves = 33;
            change(&mut evidence);
            evidence.verdict_after(&mut lengths, 600).why
        };
        assert_eq!(why(|it| it.moves = 40), Why::Limit);
        assert_eq!(why(|_| {}), Why::Scores);
        // The second game of the greatest length; one that is not over has no length.
        assert_eq!(why(|it| it.moves = 45), Why::Scores);
        assert_eq!(why(|it| (it.moves, it.answered) = (50, false)), Why::Unanswered);
        assert_eq!(why(|it| (it.moves, it.doubt) = (60, Some(Why::Jumped))), Why::Jumped);
        assert_eq!(why(|it| it.moves = 45), Why::Limit);
        // A drawn game is drawn at a limit too.
        let level = |it: &mut Evidence| (it.moves, it.scores) = (45, cp(&[0; 10]));
        assert_eq!(why(level), Why::Scores);
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
        // Even if any score decides, a score of zero does not.
        assert_eq!(evidence(&game, &cp(&[0; 3])).verdict(0).outcome, None);
    }

    #[test]
    fn a_game_that_may_have_ended_otherwise_is_unknown() {
        let game = Game::start();
        let won = cp(&[900; 3]);
        let ms = Duration::from_millis;
        let why = |change: fn(&mut Evidence)| {
            let mut evidence = evidence(&game, &won);
            change(&mut evidence);
            let verdict = evidence.verdict(600);
            assert!(verdict.outcome.is_none() || verdict.why == Why::Scores);
            verdict.why
        };
        assert_eq!(why(|_| {}), Why::Scores);
        assert_eq!(why(|it| it.doubt = Some(Why::Jumped)), Why::Jumped);
        assert_eq!(why(|it| it.moves = 1), Why::Short);
        assert_eq!(why(|it| it.answered = false), Why::Unanswered);
        assert_eq!(why(|it| it.ours = (Duration::from_secs(5), Some(Duration::from_secs(5)))), Why::OurClock);
        assert_eq!(why(|it| it.ours = (Duration::from_secs(4), Some(Duration::from_secs(5)))), Why::Scores);
        let second = Duration::from_secs(1);
        assert_eq!(why(|it| it.theirs = None), Why::Scores);
        assert_eq!(why(|it| it.theirs = Some((Duration::ZERO, None))), Why::Scores);
        let theirs = |waited, limit| {
            let evidence = Evidence { theirs: Some((ms(waited), Some(limit))), ..evidence(&game, &won) };
            evidence.verdict(600).why
        };
        assert_eq!(theirs(1000, second), Why::TheirClock);
        assert_eq!(theirs(999, second), Why::Scores);
        assert_eq!(limit(None, None), None);
        for (left, may) in [(0, 0), (200, 0), (201, 1), (60_000, 59_800)] {
            assert_eq!(limit(Some(left), None), Some(ms(may)), "{left}");
        }
        for (time, may) in [(10, 110), (1000, 1100), (5000, 5500), (60_000, 61_000)] {
            assert_eq!(limit(Some(1), Some(time)), Some(ms(may)), "{time}");
        }
        assert!(limit(None, Some(u64::MAX)).is_some());
    }

    /// The verdict by scores in a game from this position that ends with our move.
    fn after(fen: &str, moves: &str, score: i64) -> (Option<Option<Color>>, Why) {
        let mut game = Game::from_fen(fen.as_bytes(), shakmaty::CastlingMode::Standard).unwrap();
        moves.split_whitespace().for_each(|mv| assert!(game.push_uci(mv.as_bytes()), "{mv}"));
        let scores = cp(&[score; 3]);
        let color = game.position().chess().turn().other();
        let verdict = Evidence { color, ..evidence(&game, &scores) }.verdict(600);
        (verdict.outcome.map(KnownOutcome::winner), verdict.why)
    }

    #[test]
    fn a_last_move_of_the_opponent_may_have_ended_the_game_otherwise() {
        let (white, black) = (Some(Some(Color::White)), Some(Some(Color::Black)));
        // Black's rook mates on the first rank, unless the king can escape.
        let (mated, safe) = ("3r2k1/8/8/8/8/Q7/5PPP/6K1 w - - 0 1", "3r2k1/8/8/8/8/Q6P/5PP1/6K1 w - - 0 1");
        assert_eq!(after(mated, "a3b2", 900), (None, Why::Mated));
        assert_eq!(after(safe, "a3b2", 900), (white, Why::Scores));
        // A game that looks lost and may end with mate is lost.
        assert_eq!(after(mated, "a3b2", -900), (black, Why::Scores));
        // Black's queen may stalemate; if it can mate too, it does.
        let stalemate = "7k/8/8/8/8/4q3/8/1K6 w - - 0 1";
        assert_eq!(after(stalemate, "b1a1", -900), (None, Why::Drawn));
        assert_eq!(after(stalemate, "b1a1", 900), (white, Why::Scores));
        assert_eq!(after("8/8/8/8/8/1k6/3q4/K7 w - - 0 1", "a1b1", -900), (black, Why::Scores));
        // A capture that leaves two kings, the fiftieth move, the third repetition.
        assert_eq!(after("8/8/8/8/3k4/8/8/K4Q2 w - - 0 1", "f1d3", -900), (None, Why::Drawn));
        assert_eq!(after("7k/7r/8/8/8/8/8/R3K3 w - - 98 80", "a1b1", -900), (None, Why::Drawn));
        assert_eq!(after("7k/7r/8/8/8/8/8/R3K3 w - - 97 80", "a1b1", -900), (black, Why::Scores));
        let round = "a1b1 h7h6 b1a1 h6h7 a1b1 h7h6 b1a1";
        assert_eq!(after("7k/7r/8/8/8/8/8/R3K3 w - - 0 1", round, -900), (None, Why::Drawn));
    }

    #[test]
    fn a_last_move_of_the_opponent_may_have_won_by_a_rule_of_the_variant() {
        let mut game = Game::start_of(tabiya_chess::Variant::KingOfTheHill);
        for mv in "a2a3 e7e6 a3a4 e8e7 a4a5 e7d6 b2b3".split(' ') {
            assert!(game.push_uci(mv.as_bytes()), "{mv}");
        }
        // Black's king may have gone to the hill.
        let why = |score| evidence(&game, &cp(&[score; 3])).verdict(600).why;
        assert_eq!(why(900), Why::Mated);
        assert_eq!(why(-900), Why::Scores);
    }

    #[test]
    fn the_board_decides_before_clocks_and_scores() {
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
