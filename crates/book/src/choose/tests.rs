//! Chances, draws, and which moves are played.

use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};
use std::path::Path;
use std::sync::Arc;
use tabiya_base::findings::Findings;
use tabiya_base::progress::Progress;
use tabiya_chess::Position as At;

use super::*;
use crate::traits::Book;
use crate::{
    Annotation, BookSummary, Format, MoveFacts, Moves, PositionRecord, Recommendation, Scope, Visit,
    plain_weights,
};

fn book(weights: &[u64]) -> Vec<MoveFacts> {
    let legal = Chess::default().legal_moves();
    weights.iter().zip(&legal).map(|(&weight, &mv)| MoveFacts::new(mv, weight)).collect()
}

fn chances_of(moves: &[MoveFacts], policy: &Policy) -> Vec<f64> {
    let mut out = Vec::new();
    chances(moves, policy, |_| true, &mut out);
    out
}

fn free() -> Policy {
    Policy { threshold: 0, ..Policy::default() }
}

#[test]
fn variety_50_gives_the_chances_of_the_book() {
    assert_eq!(chances_of(&book(&[3, 1, 0]), &free()), [0.75, 0.25, 0.0]);
}

#[test]
fn variety_0_gives_the_best_and_shares_among_equals() {
    let policy = Policy { variety: 0, ..free() };
    assert_eq!(chances_of(&book(&[3, 1]), &policy), [1.0, 0.0]);
    assert_eq!(chances_of(&book(&[3, 3, 1]), &policy), [0.5, 0.5, 0.0]);
}

#[test]
fn variety_100_gives_all_playable_moves_alike() {
    let policy = Policy { variety: 100, ..free() };
    assert_eq!(chances_of(&book(&[60_000, 1, 0]), &policy), [0.5, 0.5, 0.0]);
}

#[test]
fn a_move_below_the_threshold_is_not_played() {
    let policy = Policy { threshold: 250, ..free() };
    assert_eq!(chances_of(&book(&[75, 25]), &policy), [0.75, 0.25]);
    assert_eq!(chances_of(&book(&[76, 24]), &policy), [1.0, 0.0]);
}

#[test]
fn games_count_only_where_the_format_counts_them() {
    let mut moves = book(&[10, 10]);
    moves[0].counts = Some(crate::Counts { games: 4, wins: 4, draws: 0, losses: 0 });
    assert_eq!(chances_of(&moves, &Policy { games: 5, ..free() }), [0.0, 1.0]);
    assert_eq!(chances_of(&moves, &Policy { games: 4, ..free() }), [0.5, 0.5]);
}

#[test]
fn by_games_a_move_is_played_as_often_as_it_was() {
    let counted = |(known, games): (MoveFacts, u64)| {
        let wins = known.weight / 2;
        MoveFacts { counts: Some(crate::Counts { games, wins, draws: 0, losses: games - wins }), ..known }
    };
    let by_games = |moves: &[MoveFacts], variety| {
        chances_of(moves, &Policy { weights: Weights::Games, variety, ..free() })
    };
    let moves: Vec<_> = book(&[6, 2, 0]).into_iter().zip([3, 1, 4]).map(counted).collect();
    assert_eq!(chances_of(&moves, &free()), [0.75, 0.25, 0.0]);
    // The last move only lost.
    assert_eq!(by_games(&moves, 50), [0.375, 0.125, 0.5]);
    assert_eq!(by_games(&moves, 0), [0.0, 0.0, 1.0]);
    // A threshold is a share of the games.
    let policy = Policy { weights: Weights::Games, threshold: 200, ..free() };
    assert_eq!(chances_of(&moves, &policy)[1], 0.0);
    let one = |change: fn(&mut MoveFacts)| {
        let mut moves = moves.clone();
        change(&mut moves[2]);
        moves
    };
    // What an author ruled out stays so: it would weigh something by its results.
    let ruled_out =
        one(|known| known.counts = known.counts.map(|counts| crate::Counts { wins: 1, losses: 3, ..counts }));
    assert_eq!(by_games(&ruled_out, 50), [0.75, 0.25, 0.0]);
    // Games of some moves are no weights beside those of others, and a decision has its own.
    for kept in
        [one(|known| known.counts = None), one(|known| known.decision = Some(crate::Decision::Judged))]
    {
        assert_eq!(by_games(&kept, 50), [0.75, 0.25, 0.0]);
    }
    assert_eq!(by_games(&book(&[3, 1]), 50), [0.75, 0.25]);
}

#[test]
fn verdicts_count_only_in_tournaments() {
    let mut moves = book(&[10, 10, 10, 10]);
    moves[0].recommended = Some(Recommendation::Red);
    moves[1].recommended = Some(Recommendation::Green);
    moves[2].annotation = Some(Annotation::Dubious);
    assert_eq!(chances_of(&moves, &free()), [0.0, 1.0, 0.0, 0.0]);
    let third = 1.0 / 3.0;
    assert_eq!(chances_of(&moves, &Policy { tournament: false, ..free() }), [third, third, 0.0, third]);
    moves[3].annotation = Some(Annotation::Only);
    assert_eq!(chances_of(&moves, &free()), [0.0, 0.0, 0.0, 1.0]);
    moves[1].annotation = Some(Annotation::Blunder);
    moves[3].annotation = None;
    assert_eq!(chances_of(&moves, &free()), [0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn a_move_that_the_author_chose_is_played_whatever_its_statistics() {
    let mut moves = book(&[999_999, 0, 0, 1]);
    moves[1].recommended = Some(Recommendation::Green);
    assert_eq!(chances_of(&moves, &Policy::default()), [0.0, 1.0, 0.0, 0.0]);
    moves[3].recommended = Some(Recommendation::Green);
    assert_eq!(chances_of(&moves, &Policy::default()), [0.0, 0.5, 0.0, 0.5]);
    moves[2].annotation = Some(Annotation::Only);
    assert_eq!(chances_of(&moves, &Policy::default()), [0.0, 0.0, 1.0, 0.0]);
    let off = Policy { tournament: false, ..Policy::default() };
    assert_eq!(chances_of(&moves, &off), [1.0, 0.0, 0.0, 0.0]);
    moves[2].annotation = Some(Annotation::Dubious);
    moves[2].recommended = Some(Recommendation::Green);
    assert_eq!(chances_of(&moves, &Policy::default()), [0.0, 0.5, 0.0, 0.5]);
}

#[test]
fn out_of_tournaments_marks_are_factors_and_colours_do_not_count() {
    let marks = [
        (None, 1.0),
        (Some(Annotation::Good), 1.23),
        (Some(Annotation::Brilliant), 1.46),
        (Some(Annotation::Interesting), 1.0),
        (Some(Annotation::Only), 1.0),
        (Some(Annotation::Zugzwang), 1.0),
        (Some(Annotation::Bad), 0.0),
        (Some(Annotation::Blunder), 0.0),
        (Some(Annotation::Dubious), 0.0),
    ];
    let mut moves = book(&[100; 9]);
    for (index, (m, (mark, _))) in moves.iter_mut().zip(marks).enumerate() {
        m.annotation = mark;
        m.recommended = [None, Some(Recommendation::Green), Some(Recommendation::Red)][index % 3];
    }
    let sum: f64 = marks.iter().map(|(_, factor)| factor).sum();
    let chances = chances_of(&moves, &Policy { tournament: false, ..free() });
    for (chance, (mark, factor)) in chances.iter().zip(marks) {
        assert!((chance - factor / sum).abs() < 1e-12, "{mark:?}: {chance}");
    }
}

#[test]
fn learned_results_count_where_the_policy_says_so() {
    let mut moves = book(&[10, 10, 0]);
    moves[0].learned = Some(Learned { games: 4, halfpoints: 8 });
    moves[2].learned = Some(Learned { games: 9, halfpoints: 18 });
    assert_eq!(chances_of(&moves, &free()), [0.5, 0.5, 0.0]);
    let policy = Policy { learn: true, ..free() };
    // Three times as heavy: (8 + 4) / (0 + 4).
    assert_eq!(chances_of(&moves, &policy), [0.75, 0.25, 0.0]);
    moves[0].learned = Some(Learned { games: 4, halfpoints: 0 });
    assert_eq!(chances_of(&moves, &policy), [0.25, 0.75, 0.0]);
    moves[0].learned = Some(Learned { games: 4, halfpoints: 4 });
    assert_eq!(chances_of(&moves, &policy), [0.5, 0.5, 0.0]);
}

/// A book of one line; what it says of the moves after the first is for the test to choose.
struct OneLine(MoveFacts);

impl Moves for OneLine {
    fn variant(&self) -> tabiya_chess::Variant {
        tabiya_chess::Variant::Chess
    }

    fn moves(&self, at: &At, out: &mut Vec<MoveFacts>) {
        let played =
            at.chess().fullmoves().get() as usize * 2 - 2 + usize::from(at.chess().turn().is_black());
        let Some(mv) = ["e2e4", "e7e5", "g1f3"].get(played).and_then(|mv| mv.parse::<UciMove>().ok()) else {
            return;
        };
        let Ok(mv) = mv.to_move(at.chess()) else { return };
        out.push(if played == 0 { MoveFacts::new(mv, 1) } else { MoveFacts { mv, ..self.0 } });
    }

    fn each(&self, _: Scope, _: &Progress, _: Visit<'_>) -> tabiya_base::error::Result<u64> {
        Ok(0)
    }
}

impl Book for OneLine {
    fn path(&self) -> &Path {
        Path::new("line")
    }

    fn format(&self) -> Format {
        crate::ctg::FORMAT
    }

    fn survey(&self, _: &Progress, _: &mut Findings<'_>) -> BookSummary {
        BookSummary::default()
    }
}

#[test]
fn the_reserve_counts_the_plies_that_the_policy_plays() {
    let game = Game::start();
    let e4 = "e2e4".parse::<UciMove>().unwrap().to_move(game.position().chess()).unwrap();
    let plain = MoveFacts::new(e4, 1);
    let red = MoveFacts { recommended: Some(Recommendation::Red), ..plain };
    let bad = MoveFacts { annotation: Some(Annotation::Bad), ..plain };
    for (rest, in_tournaments, otherwise) in [(plain, true, true), (red, false, true), (bad, false, false)] {
        let mut book_set = BookSet::new(&[], &[], &[Arc::new(OneLine(rest))]);
        // What one reading of the book has walked is not remembered for the other.
        for _ in 0..2 {
            for (tournament, admitted) in [(true, in_tournaments), (false, otherwise)] {
                let policy = Policy { reserve: 3, tournament, ..free() };
                assert_eq!(policy.admits(&mut book_set, 0, &game, e4), admitted, "{rest:?} {tournament}");
            }
        }
    }
}

#[test]
fn what_is_not_allowed_has_no_chance() {
    let moves = book(&[1, 3]);
    let mut out = Vec::new();
    chances(&moves, &free(), |mv| mv != moves[1].mv, &mut out);
    assert_eq!(out, [1.0, 0.0]);
    chances(&moves, &free(), |_| false, &mut out);
    assert_eq!(out, [0.0, 0.0]);
}

#[test]
fn seeds_draw_as_their_generator_does() {
    for seed in 0..1000 {
        let rng = || Xoshiro256PlusPlus::seed_from_u64(seed);
        let share: f64 = rng().random();
        assert_eq!(draw(&[share, 1.0], rng().next_u64()), Some(1));
        assert_eq!(draw(&[share.next_up(), 1.0], rng().next_u64()), Some(0));
    }
}

#[test]
fn nothing_is_drawn_from_nothing() {
    assert_eq!(draw(&[], 1), None);
    assert_eq!(draw(&[0.0, 0.0], 1), None);
}

proptest! {
    #[test]
    fn chances_are_a_distribution(
        weights in prop::collection::vec(prop_oneof![Just(0), 1..100_u64, Just(u64::MAX)], 0..20),
        variety in 0..=100_u32,
        threshold in 0..=1000_u32,
        seed: u64,
    ) {
        let moves = book(&weights);
        let out = chances_of(&moves, &Policy { variety, threshold, ..Policy::default() });
        prop_assert_eq!(out.len(), moves.len());
        let sum: f64 = out.iter().sum();
        prop_assert!(sum == 0.0 || (sum - 1.0).abs() < 1e-9);
        let drawn = draw(&out, Xoshiro256PlusPlus::seed_from_u64(seed).next_u64());
        prop_assert_eq!(drawn.is_some(), sum > 0.0);
        if let Some(index) = drawn {
            prop_assert!(out[index] > 0.0 && moves[index].weight > 0);
        }
    }

    #[test]
    fn learning_neither_overflows_nor_makes_a_playable_move_unplayable(
        weight in 1..=u64::MAX,
        games: u32,
        share: u32,
    ) {
        let mut moves = book(&[weight, 0]);
        for m in &mut moves {
            m.learned = Some(Learned { games, halfpoints: share.min(games.saturating_mul(2)) });
        }
        prop_assert_eq!(chances_of(&moves, &Policy { learn: true, ..free() }), [1.0, 0.0]);
    }

    #[test]
    fn the_heavier_move_is_never_the_rarer(a in 1..10_000_u64, b in 1..10_000_u64, variety in 0..=100_u32) {
        let out = chances_of(&book(&[a.max(b), a.min(b)]), &Policy { variety, ..free() });
        prop_assert!(out[0] >= out[1]);
    }

    #[test]
    fn less_variety_favours_the_best_more(a in 1..1000_u64, b in 1..1000_u64, variety in 0..100_u32) {
        let moves = book(&[a.max(b), a.min(b)]);
        let less = chances_of(&moves, &Policy { variety, ..free() });
        let more = chances_of(&moves, &Policy { variety: variety + 1, ..free() });
        prop_assert!(less[0] >= more[0] - 1e-12);
    }
}

#[test]
fn plain_weights_are_what_tournaments_play() {
    let marks = [None, Some(Annotation::Good), Some(Annotation::Dubious), Some(Annotation::Only)];
    let colours = [None, Some(Recommendation::Green), Some(Recommendation::Red)];
    // Every pair of verdicts, with and without weight.
    let kinds: Vec<_> = marks
        .iter()
        .flat_map(|mark| colours.iter().flat_map(move |colour| [0, 7].map(|weight| (*mark, *colour, weight))))
        .collect();
    for first in &kinds {
        for second in &kinds {
            let mut moves = book(&[first.2, second.2]);
            for (m, (mark, colour, _)) in moves.iter_mut().zip([first, second]) {
                (m.annotation, m.recommended) = (*mark, *colour);
            }
            let expected = chances_of(&moves, &free());
            let known = moves.iter().map(|&m| MoveFacts::from(m)).collect();
            let mut known = PositionRecord { moves: known, ..PositionRecord::default() };
            plain_weights(&mut known);
            let plain: Vec<u64> = known.moves.iter().map(|known| known.weight).collect();
            // Without any verdict the same moves are played as often.
            assert_eq!(chances_of(&book(&plain), &free()), expected, "{first:?} {second:?}");
            assert!(plain.iter().zip(&moves).all(|(&plain, m)| plain <= m.weight.max(1)));
        }
    }
}

#[test]
fn factors_multiply_the_weight_in_tournaments_unless_they_are_switched_off() {
    let mut moves = book(&[100; 3]);
    let off = Policy { factor: false, ..free() };
    let third = 1.0 / 3.0;
    moves.iter_mut().zip([Some(125), None, Some(-125)]).for_each(|(facts, factor)| facts.factor = factor);
    assert_eq!(chances_of(&moves, &free()), [2.0 / 3.0, third, 0.0]);
    assert_eq!(chances_of(&moves, &off), [third; 3]);
    assert_eq!(chances_of(&moves, &Policy { tournament: false, ..free() }), [third; 3]);
    // Weights for formats without factors follow.
    let mut record = PositionRecord::from_moves(&At::start(), &moves);
    crate::plain_weights(&mut record);
    assert_eq!(record.moves.iter().map(|facts| facts.weight).collect::<Vec<_>>(), [200, 100, 0]);
    // Small ones are scaled up, so that chances stay.
    let mut small = book(&[1, 1, 7]);
    small.iter_mut().zip([Some(88), None, Some(-125)]).for_each(|(facts, factor)| facts.factor = factor);
    let mut record = PositionRecord::from_moves(&At::start(), &small);
    crate::plain_weights(&mut record);
    assert_eq!(record.moves.iter().map(|facts| facts.weight).collect::<Vec<_>>(), [213, 125, 0]);
    // Never is never, and a green move that is never played leaves the others to be played.
    moves[0].factor = Some(-128);
    moves[0].recommended = Some(Recommendation::Green);
    assert_eq!(chances_of(&moves, &free()), [0.0, 1.0, 0.0]);
    assert_eq!(chances_of(&moves, &off), [1.0, 0.0, 0.0]);
}

#[test]
fn neutral_glyphs_of_pgn_change_nothing() {
    let mut moves = book(&[10, 30]);
    for nag in [0x20, 0x24, 0x28, 0x84] {
        moves[0].annotation = Some(Annotation::Other(nag));
        for policy in [free(), Policy { tournament: false, ..free() }] {
            assert_eq!(chances_of(&moves, &policy), [0.25, 0.75], "{nag}");
        }
    }
}

#[test]
fn only_moves_on_course_for_chosen_openings_count_as_if_the_book_had_no_others() {
    let mut game = Game::start();
    let known = |game: &Game| -> Vec<MoveFacts> {
        let weights = [("e2e4", 900), ("d2d4", 1), ("g1f3", 90), ("c7c5", 1), ("g8f6", 900)];
        let legal = |mv: &str| mv.parse::<UciMove>().unwrap().to_move(game.position().chess()).ok();
        weights.iter().filter_map(|(mv, weight)| Some(MoveFacts::new(legal(mv)?, *weight))).collect()
    };
    let policy = |names: &str| Policy {
        openings: Some(tabiya_chess::openings::ChosenOpenings::named(names).unwrap()),
        ..Policy::default()
    };
    let left = |names: &str, game: &Game| {
        let mut moves = known(game);
        let off = policy(names).take_off_course(game, &mut moves);
        assert_eq!(off.len() + moves.len(), known(game).len());
        // Below the threshold among all moves, but not among these.
        assert_eq!(moves.is_empty(), chances_of(&moves, &policy(names)).is_empty());
        moves.iter().map(|m| m.mv.to_uci(shakmaty::CastlingMode::Standard).to_string()).collect::<Vec<_>>()
    };
    assert_eq!(left("Queen's Gambit", &game), ["d2d4"]);
    assert_eq!(left("Queen's Gambit; Ruy Lopez", &game), ["e2e4", "d2d4"]);
    assert_eq!(chances_of(&[known(&game)[1]], &policy("Queen's Gambit")), [1.0]);
    assert!(game.push_uci(b"d2d4"));
    assert_eq!(left("Dutch Defense", &game), [""; 0]);
    assert_eq!(left("King's Indian Defense", &game), ["g8f6"]);
    let (mut moves, all) = (known(&game), known(&game));
    assert!(Policy::default().take_off_course(&game, &mut moves).is_empty() && moves == all);
    // Other variants have other openings.
    let atomic = Game::start_of(tabiya_chess::Variant::Atomic);
    let mut moves = known(&atomic);
    assert!(policy("Dutch Defense").take_off_course(&atomic, &mut moves).is_empty() && !moves.is_empty());
}
