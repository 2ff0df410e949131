//! The rules under which books are asked: the limits that depend on the clock and on the game so far.

use std::time::Duration;

use shakmaty::{Color, Position as _};

use tabiya_chess::{Game, Position};
use tabiya_uci::Go;

use crate::settings::opponent::{Mismatch, Opponent};
use crate::settings::rules::Rule;

/// The rules of the books that are open, and how often each has answered.
#[derive(Default)]
pub(super) struct Rules {
    list: Vec<Rule>,
    opponent: Opponent,
    /// Why each is not for that opponent.
    mismatches: Vec<Option<Mismatch>>,
    /// The game after the last answer that counts.
    game: Option<Game>,
    answers: Vec<RuleAnswer>,
}

/// Why a rule does not let its book answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Objection {
    Missing,
    Opponent(Mismatch),
    Clock,
    Uses,
}

impl Objection {
    /// The reason in words.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "it does not exist",
            Self::Opponent(why) => why.as_str(),
            Self::Clock => "the clock is below its min-clock",
            Self::Uses => "its max-uses are used up",
        }
    }
}

/// That a rule does not let its book answer, and why.
pub(super) fn skipped(number: usize, why: Objection) -> String {
    format!("rule {number} is skipped: {}", why.as_str())
}

/// An answer of a rule.
struct RuleAnswer {
    rule: usize,
    /// Its place in the game: see [`place`].
    place: u64,
}

impl Rules {
    /// Takes the rules of the books that are being opened. The same rules keep their answers: a GUI may set options
    /// during a game.
    pub(super) fn set(&mut self, list: &[Rule]) {
        if self.list != list {
            let opponent = std::mem::take(&mut self.opponent);
            *self = Self { list: list.to_vec(), ..Self::default() };
            self.meet(opponent);
        }
    }

    /// From now on this is the opponent.
    pub(super) fn meet(&mut self, opponent: Opponent) {
        self.mismatches = self.list.iter().map(|rule| rule.mismatch(&opponent)).collect();
        self.opponent = opponent;
    }

    /// Which of the rules that are for some opponents only are for this one, in words; `None` if there are no such rules.
    pub(super) fn met(&self) -> Option<String> {
        let asked = self.list.iter().zip(&self.mismatches).zip(1..);
        let asked = asked.filter(|((rule, _), _)| rule.opponents().is_some());
        let said: Vec<_> = asked
            .map(|((_, mismatch), number)| match mismatch {
                Some(why) => skipped(number, Objection::Opponent(*why)),
                None => format!("rule {number} is asked"),
            })
            .collect();
        (!said.is_empty()).then(|| format!("the opponent is {}: {}", self.opponent, said.join("; ")))
    }

    /// The rules that are for the opponent.
    pub(super) fn list(&self) -> Vec<&Rule> {
        let rules = self.list.iter().zip(&self.mismatches);
        rules.filter(|(_, mismatch)| mismatch.is_none()).map(|(rule, _)| rule).collect()
    }

    /// The rule of this number, from 1.
    pub(super) fn get(&self, number: usize) -> Option<&Rule> {
        self.list.get(number.checked_sub(1)?)
    }

    /// Why a rule does not let its book answer this request about the game; `None` if it does.
    pub(super) fn objection(&self, number: usize, game: &Game, go: &Go) -> Option<Objection> {
        let Some(rule) = self.get(number) else { return Some(Objection::Missing) };
        let mismatch = self.mismatches.get(number - 1).copied().flatten();
        if let Some(why) = mismatch {
            Some(Objection::Opponent(why))
        } else if !rule.has_time(time_left(go, game.position().chess().turn())) {
            Some(Objection::Clock)
        } else if rule.max_uses().is_some() && !rule.has_uses(self.uses(number, game)) {
            Some(Objection::Uses)
        } else {
            None
        }
    }

    /// Notes a question about a game. One that begins anew forgets the game before, which a GUI may not have ended.
    pub(super) fn asked(&mut self, game: &Game) {
        if game.moves().len() <= 1 && !self.answers.is_empty() {
            let kept = self.kept(game);
            self.answers.retain(|answer| answer.place < kept);
        }
    }

    /// How often a rule has answered for the side to move in this game.
    ///
    /// An answer counts as long as its move is part of the game, so that a move that was taken back may be answered
    /// again.
    fn uses(&self, number: usize, game: &Game) -> usize {
        let (kept, now) = (self.kept(game), place(game.position()));
        let counts = |answer: &&RuleAnswer| {
            // Places of the same side differ by an even number.
            answer.rule == number && answer.place < kept && (now - answer.place.min(now)) % 2 == 0
        };
        self.answers.iter().filter(counts).count()
    }

    /// Counts an answer in this game with a move that is legal in it.
    pub(super) fn answered(&mut self, number: usize, game: &Game, mv: shakmaty::Move) {
        if self.get(number).is_none_or(|rule| rule.max_uses().is_none()) {
            return;
        }
        let kept = self.kept(game);
        self.answers.retain(|answer| answer.place < kept);
        self.answers.push(RuleAnswer { rule: number, place: place(game.position()) });
        let mut after = game.clone();
        after.push(mv);
        self.game = Some(after);
    }

    pub(super) fn new_game(&mut self) {
        self.game = None;
        self.answers.clear();
    }

    /// The place in a game before which the answers that were counted are part of it.
    ///
    /// These are the moves that it shares with the game that they were given in. Where a GUI sends each
    /// position as a FEN, the moves are unknown: then all answers to earlier positions count, until it announces a new game.
    fn kept(&self, game: &Game) -> u64 {
        match &self.game {
            Some(known) if known.start_position().chess() == game.start_position().chess() => {
                let both = known.moves().iter().zip(game.moves());
                let shared = both.take_while(|(known, now)| known == now).count();
                place(game.start_position()) + shared as u64
            }
            Some(_) => place(game.position()),
            None => 0,
        }
    }
}

/// The number of the ply that is played in a position, computed from its move number.
fn place(position: &Position) -> u64 {
    let chess = position.chess();
    u64::from(chess.fullmoves().get()) * 2 + u64::from(chess.turn().is_black())
}

/// What is left on a side's clock; `None` where the clock does not limit the move.
fn time_left(go: &Go, color: Color) -> Option<Duration> {
    let left = color.fold_wb(go.clock.white, go.clock.black);
    left.filter(|_| go.clock.movetime.is_none() && !go.infinite).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::CastlingMode;

    fn game(moves: &str) -> Game {
        let mut game = Game::start();
        moves.split_whitespace().for_each(|mv| assert!(game.push_uci(mv.as_bytes()), "{mv}"));
        game
    }

    fn from_fen(fen: &str) -> Game {
        Game::from_fen(fen.as_bytes(), CastlingMode::Standard).unwrap()
    }

    /// Two rules: the first may answer twice in a game, the second three times.
    fn rules() -> Rules {
        let rule = |max_uses| Rule::default().with("max-uses", max_uses);
        let mut rules = Rules::default();
        rules.set(&[rule("2"), rule("3"), Rule::default()]);
        rules
    }

    fn allows(rules: &Rules, number: usize, game: &Game) -> bool {
        rules.objection(number, game, &Go::default()).is_none()
    }

    fn answer(rules: &mut Rules, number: usize, moves: &str) {
        let (before, last) = moves.rsplit_once(' ').unwrap_or(("", moves));
        let (before, after) = (game(before), game(moves));
        assert!(allows(rules, number, &before), "before {last}");
        rules.answered(number, &before, *after.moves().last().unwrap());
    }

    #[test]
    fn answers_count_as_long_as_their_moves_are_played() {
        let mut rules = rules();
        let may = |rules: &Rules, moves: &str| allows(rules, 1, &game(moves));
        answer(&mut rules, 1, "e2e4");
        // GoRequest again, for whatever reason, in the same position.
        answer(&mut rules, 1, "e2e4");
        answer(&mut rules, 1, "e2e4 e7e5 g1f3");
        assert!(!may(&rules, "e2e4 e7e5 g1f3 b8c6"));
        assert!(!may(&rules, "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6"), "another book answered in between");
        // Moves are taken back, or the user played another one than the answer.
        assert!(may(&rules, "e2e4 e7e5"));
        assert!(may(&rules, "e2e4 c7c5"));
        assert!(may(&rules, "e2e4 e7e5 b1c3 b8c6"));
        assert!(may(&rules, "d2d4 d7d5 c2c4 e7e6"));
        assert!(!may(&rules, "e2e4 e7e5 g1f3 g8f6"), "the line that was taken back again");
        answer(&mut rules, 1, "e2e4 c7c5 g1f3");
        assert!(!may(&rules, "e2e4 c7c5 g1f3 d7d6"));
        assert!(may(&rules, ""), "another game without an announcement");
        rules.new_game();
        assert!(may(&rules, "e2e4 c7c5 g1f3 d7d6"));
    }

    #[test]
    fn a_game_that_begins_unannounced_does_not_count_the_game_before() {
        let mut rules = rules();
        for moves in ["e2e4 e7e5 g1f3", "e2e4 e7e5 g1f3 b8c6 f1b5"] {
            answer(&mut rules, 1, moves);
        }
        let next = game("e2e4 e7e5 g1f3 b8c6");
        rules.asked(&next);
        assert!(!allows(&rules, 1, &game("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6")));
        // Another book plays the same first moves again.
        rules.asked(&game(""));
        assert!(allows(&rules, 1, &next));
        // So it may with Black, whose first question has a move before it.
        for moves in ["e2e4 e7e5", "e2e4 e7e5 g1f3 b8c6"] {
            answer(&mut rules, 1, moves);
        }
        rules.asked(&game("e2e4"));
        assert!(allows(&rules, 1, &game("e2e4 e7e5 g1f3 b8c6 f1b5")));
    }

    #[test]
    fn each_rule_and_each_side_has_its_own_count() {
        let mut rules = rules();
        answer(&mut rules, 1, "e2e4");
        answer(&mut rules, 1, "e2e4 e7e5");
        answer(&mut rules, 2, "e2e4 e7e5 g1f3");
        answer(&mut rules, 1, "e2e4 e7e5 g1f3 b8c6");
        let moves = "e2e4 e7e5 g1f3 b8c6";
        for (moves, white) in [(moves.to_owned(), true), (format!("{moves} f1b5"), false)] {
            assert_eq!(allows(&rules, 1, &game(&moves)), white, "{moves}");
            assert!(allows(&rules, 2, &game(&moves)));
            assert!(allows(&rules, 3, &game(&moves)));
        }
        assert!(!allows(&rules, 0, &game("")) && !allows(&rules, 4, &game("")));
    }

    #[test]
    fn positions_without_their_moves_are_followed_by_their_numbers() {
        let mut rules = rules();
        let fens = [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
            "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
        ];
        for fen in fens.iter().take(2) {
            let game = from_fen(fen);
            let mv = game.position().chess().legal_moves()[0];
            assert!(allows(&rules, 1, &game));
            rules.answered(1, &game, mv);
        }
        assert!(!allows(&rules, 1, &from_fen(fens[2])));
        assert!(allows(&rules, 1, &from_fen(fens[1])), "taken back");
        assert!(allows(&rules, 1, &from_fen(fens[0])));
    }

    #[test]
    fn only_a_clock_that_limits_the_move_counts() {
        let left = |rest: &str, color| time_left(&Go::parse(rest.as_bytes()), color);
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(left("wtime 3000 btime 5000", Color::White), seconds(3));
        assert_eq!(left("ponder wtime 3000 btime 5000", Color::Black), seconds(5));
        assert_eq!(left("wtime -7 btime 5000", Color::White), seconds(0));
        for unlimited in
            ["", "movetime 5", "wtime 3000 movetime 5", "infinite wtime 3000", "depth 9", "btime 1"]
        {
            assert_eq!(left(unlimited, Color::White), None, "{unlimited}");
        }
    }
}
