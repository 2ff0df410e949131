//! What sides can force, on small graphs against a naive reference, in cycles that show the rule, and on large graphs.
#![allow(clippy::needless_range_loop, reason = "the numbers are those of positions")]

use std::time::Instant;

use proptest::prelude::*;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use tabiya_testing::times;

use super::super::links::tests::{any_graph, graph, leads};
use super::*;

fn backed(links: &Links, known: &KnownValues) -> Backed {
    Backed::new(links, &links.reversed(), &Components::new(links), known)
}

/// What is known of positions: whether White is to move, and White's view of an evaluation.
fn known(positions: &[(bool, Option<Value>)]) -> KnownValues {
    let own = |(white, own): &(bool, Option<Value>)| match own {
        Some(own) if *white => *own,
        Some(own) => -own,
        None => UNKNOWN,
    };
    KnownValues {
        white: positions.iter().map(|(white, _)| *white).collect(),
        own: positions.iter().map(own).collect(),
        chances: Vec::new(),
    }
}

/// What White can force and what Black lets it have at most, from White's point of view.
fn both(backed: &Backed, at: u32) -> (Option<Value>, Option<Value>) {
    (backed.get(true, at), backed.get(false, at).map(|value| -value))
}

const WHITE: bool = true;
const BLACK: bool = false;

/// The reference: for each component, and in it for each value, the positions from which a side forces at least that.
fn naive(links: &Links, known: &KnownValues, us: bool) -> Vec<Option<Value>> {
    let leads = leads(links);
    let all: Vec<usize> = (0..links.positions()).collect();
    let together = |a: usize, b: usize| a == b || leads[a][b] && leads[b][a];
    let own = |at: usize| {
        let own = known.own[at];
        (own != UNKNOWN).then(|| if known.white[at] == us { own } else { -own })
    };
    let mut values: Vec<Option<Value>> = vec![None; all.len()];
    let mut left = all.clone();
    while !left.is_empty() {
        let is_next = |at: &&usize| left.iter().all(|other| !leads[**at][*other] || together(**at, *other));
        let first = *left.iter().find(is_next).unwrap();
        let members: Vec<usize> = left.iter().copied().filter(|at| together(first, *at)).collect();
        left.retain(|at| !members.contains(at));
        let mut steps: Vec<Value> = all.iter().filter_map(|at| own(*at)).collect();
        steps.sort_unstable();
        let mut found = values.clone();
        for least in steps {
            // The least set that is closed: who is in it forces at least this.
            let mut sure = vec![false; all.len()];
            loop {
                let mut more = false;
                for at in &members {
                    let options: Vec<Option<bool>> = links
                        .from(*at as u32)
                        .iter()
                        .map(|to| *to as usize)
                        .map(|to| match members.contains(&to) {
                            true => Some(sure[to]),
                            false => values[to].map(|value| value >= least),
                        })
                        .collect();
                    let stop = own(*at).map(|value| value >= least);
                    let is_sure = if known.white[*at] == us {
                        stop == Some(true) || options.contains(&Some(true))
                    } else if own(*at).is_some() {
                        stop == Some(true) && !options.contains(&Some(false))
                    } else {
                        !options.is_empty() && options.iter().all(|option| *option == Some(true))
                    };
                    more |= is_sure && !std::mem::replace(&mut sure[*at], true);
                }
                if !more {
                    break;
                }
            }
            members.iter().filter(|at| sure[**at]).for_each(|at| found[*at] = Some(least));
        }
        let forced = found.clone();
        for at in members.iter().filter(|at| forced[**at].is_none() && own(**at).is_some()) {
            let moves = links.from(*at as u32).iter().filter_map(|to| forced[*to as usize]);
            found[*at] = moves.chain(own(*at)).min();
        }
        values = found;
    }
    values
}

fn any_known(positions: usize, evaluated: f64) -> impl Strategy<Value = KnownValues> {
    let one = (any::<bool>(), prop::option::weighted(evaluated, -9..9_i16));
    prop::collection::vec(one, positions).prop_map(|positions| known(&positions))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(200, 2000)))]

    #[test]
    fn values_are_those_of_the_reference(
        (links, known) in any_graph(11).prop_flat_map(|links| {
            let positions = links.positions();
            let known = prop_oneof![any_known(positions, 0.9999), any_known(positions, 0.6), any_known(positions, 0.2)];
            (Just(links), known)
        }),
    ) {
        let backed = backed(&links, &known);
        for us in [WHITE, BLACK] {
            let naive = naive(&links, &known, us);
            for at in 0..links.positions() {
                prop_assert_eq!(backed.get(us, at as u32), naive[at], "{:?} at {}, {:?}, {:?}", us, at, links, known);
            }
        }
    }

    #[test]
    fn no_value_is_better_than_the_ways_out(
        (links, known) in any_graph(14).prop_flat_map(|links| {
            let positions = links.positions();
            (Just(links), any_known(positions, 0.7))
        }),
    ) {
        let (backed, leads) = (backed(&links, &known), leads(&links));
        for at in 0..links.positions() {
            // All values that can be reached at all, from White's point of view.
            let reached = (0..links.positions()).filter(|to| at == *to || leads[at][*to]);
            let of = |at: usize| if known.white[at] { known.own[at] } else { -known.own[at] };
            let ends: Vec<Value> = reached.filter(|to| known.own[*to] != UNKNOWN).map(of).collect();
            let (low, high) = both(&backed, at as u32);
            for value in [low, high].into_iter().flatten() {
                prop_assert!(ends.contains(&value));
            }
            // Nobody has to stay in the book.
            if known.own[at] != UNKNOWN {
                prop_assert!(backed.get(known.white[at], at as u32) >= Some(known.own[at]));
            }
        }
    }

    #[test]
    fn black_lets_white_have_what_white_can_force(
        moves in prop::collection::vec((0..7_u32, 0..7_u32, any::<bool>()), 0..30),
        own in prop::collection::vec(-9..9_i16, 14),
    ) {
        // The sides take turns, and every position is evaluated.
        let moves: Vec<_> =
            moves.iter().map(|(a, b, white)| if *white { (2 * a, 2 * b + 1) } else { (2 * a + 1, 2 * b) }).collect();
        let positions: Vec<_> = own.iter().enumerate().map(|(at, own)| (at % 2 == 0, Some(*own))).collect();
        let backed = backed(&graph(14, &moves), &known(&positions));
        for at in 0..14 {
            let (low, high) = both(&backed, at);
            prop_assert!(low.is_some() && low <= high);
        }
    }
}

#[test]
fn values_come_from_the_ends_of_lines() {
    // 0 (White) leads to 1 and 2 (Black), those to 3, 4 and 5 (White); 4 is reached from both.
    let links = graph(6, &[(0, 1), (0, 2), (1, 3), (1, 4), (2, 4), (2, 5)]);
    let positions = [(WHITE, Some(10)), (BLACK, Some(30)), (BLACK, Some(5))];
    let ends = [(WHITE, Some(20)), (WHITE, Some(-40)), (WHITE, Some(7))];
    let backed = backed(&links, &known(&[&positions[..], &ends].concat()));
    // Black plays to -40 from both; so White's own evaluation is the best at 0.
    let values: Vec<_> = (0..6).map(|at| backed.get(WHITE, at).unwrap()).collect();
    assert_eq!(values, [10, -40, -40, 20, -40, 7]);
    assert!((0..6).all(|at| backed.get(BLACK, at) == Some(-values[at as usize])));
}

#[test]
fn two_interlocked_cycles_are_worth_no_more_than_their_exits() {
    // 0 and 1 are a circle, 1 and 2 with 0 another; White moves at 0 and 2, Black at 1 and 3.
    let links = graph(4, &[(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 0)]);
    // Both sides would rather go round than leave: White's exits are bad for White, Black's for Black.
    let backed = backed(
        &links,
        &known(&[(WHITE, Some(-50)), (BLACK, Some(80)), (WHITE, Some(-20)), (BLACK, Some(90))]),
    );
    for at in 0..4 {
        // White leaves by its better exit, at 2 where Black lets it come there; Black by 80.
        let (low, high) = both(&backed, at);
        assert!((-50..=-20).contains(&low.unwrap()), "{at}: {low:?}");
        assert!((80..=90).contains(&high.unwrap()), "{at}: {high:?}");
    }
    assert_eq!(both(&backed, 0).0, Some(-50));
    assert_eq!(both(&backed, 2).0, Some(-20));
    assert_eq!(both(&backed, 1).1, Some(80));
    // Where one side gains by leaving, it leaves, and there is one value.
    let backed = super::tests::backed(
        &links,
        &known(&[(WHITE, Some(30)), (BLACK, Some(80)), (WHITE, Some(-20)), (BLACK, Some(10))]),
    );
    assert_eq!(both(&backed, 0), (Some(30), Some(80)));
    let backed = super::tests::backed(
        &links,
        &known(&[(WHITE, Some(30)), (BLACK, Some(-80)), (WHITE, Some(-20)), (BLACK, Some(10))]),
    );
    assert_eq!((both(&backed, 0), both(&backed, 1)), ((Some(30), Some(30)), (Some(-80), Some(-80))));
}

#[test]
fn a_position_without_an_evaluation_gives_nobody_an_exit_that_the_other_side_avoids() {
    // Black at 1 may lose by going to 2, or go back to 0, where White has nothing else.
    let links = graph(3, &[(0, 1), (1, 0), (1, 2)]);
    let cycle = |own, other| known(&[(WHITE, own), (BLACK, other), (WHITE, Some(300))]);
    let backed = super::tests::backed(&links, &cycle(None, None));
    assert_eq!(both(&backed, 0), (None, Some(300)));
    assert_eq!(both(&backed, 1), (None, Some(300)));
    let backed = super::tests::backed(&links, &cycle(Some(10), None));
    assert_eq!((both(&backed, 0), both(&backed, 1)), ((Some(10), Some(300)), (Some(10), Some(300))));
    // An evaluation of 1 covers that Black goes back.
    let backed = super::tests::backed(&links, &cycle(None, Some(5)));
    assert_eq!((backed.get(WHITE, 1), backed.get(BLACK, 1)), (Some(5), Some(-5)));
}

#[test]
fn what_is_not_known_gives_nothing() {
    // 1 (Black) leads to 2, of which nothing is known, and to 3.
    let links = graph(4, &[(0, 1), (1, 2), (1, 3)]);
    let of = |own| known(&[(WHITE, Some(0)), (BLACK, own), (WHITE, None), (WHITE, Some(90))]);
    let backed = super::tests::backed(&links, &of(None));
    assert_eq!((both(&backed, 1), both(&backed, 0)), ((None, Some(90)), (Some(0), Some(90))));
    let backed = super::tests::backed(&links, &of(Some(40)));
    assert_eq!((both(&backed, 1), both(&backed, 0)), ((Some(40), Some(40)), (Some(40), Some(40))));
}

/// A graph of this many positions with as many random moves from each as `each`, every second one White's.
fn random(positions: u32, each: u32, evaluated: f64, seed: u64) -> (Links, KnownValues) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let first = (0..=positions).map(|at| at * each).collect();
    let to = (0..positions * each).map(|_| rng.random_range(0..positions)).collect();
    let known: Vec<_> = (0..positions)
        .map(|at| (at % 2 == 0, rng.random_bool(evaluated).then(|| rng.random_range(-300..300))))
        .collect();
    (Links::new(first, to).unwrap(), super::tests::known(&known))
}

#[test]
fn what_is_played_by_chance_is_worth_its_average() {
    // 0 (White) leads to 1 (Black), and that to 2, of which nothing is known, 3 and 4; 5 is another move of 0.
    let links = graph(6, &[(0, 1), (0, 5), (1, 2), (1, 3), (1, 4)]);
    let worth = |own: Option<Value>, ends: [Option<Value>; 3], chances: [f32; 3]| {
        let [two, three, four] = ends.map(|value| (WHITE, value));
        let mut known = known(&[(WHITE, None), (BLACK, own), two, three, four, (BLACK, Some(-500))]);
        known.chances = [&[0.0; 2], &chances[..]].concat();
        let backed = backed(&links, &known);
        // For Black it is what is best for Black, whatever is said of chances.
        (backed.get(WHITE, 1), backed.get(WHITE, 0))
    };
    let (half, third) = ([0.0, 0.5, 0.5], [0.5, 0.25, 0.25]);
    // 40 and -40 are as far from even; of 300 and 0 the chances are 0.5 and 0, so 0.25 is about 139.
    assert_eq!(worth(None, [None, Some(40), Some(-40)], half), (Some(0), Some(0)));
    assert_eq!(worth(None, [None, Some(300), Some(0)], half).0, Some(139));
    // A move after which nothing is known counts as the position's evaluation, or the average is not known.
    assert_eq!(worth(Some(60), [None, Some(60), Some(60)], third).0, Some(60));
    assert_eq!(worth(None, [None, Some(60), Some(60)], third).0, None);
    // A mate counts as ten pawns among other moves, and as a mate among its like.
    assert_eq!(worth(None, [None, Some(32_000), Some(-1000)], half).0, Some(0));
    assert_eq!(worth(None, [None, Some(32_000), Some(31_000)], half).0, Some(31_000));
    assert_eq!(worth(None, [None, Some(-32_000), Some(-1000)], half).0, Some(-32_000));
    // One move alone keeps its value; Black's own choice is not by chance.
    assert_eq!(worth(None, [None, Some(-137), Some(9)], [0.0, 1.0, 0.0]).0, Some(-137));
    // What the chances lack Black plays what is best for it, if that is known.
    assert_eq!(worth(None, [Some(300), Some(300), Some(0)], [0.25, 0.25, 0.0]).0, Some(139));
    assert_eq!(worth(None, [None, Some(300), Some(0)], [0.0, 0.5, 0.0]).0, None);
    assert_eq!(worth(Some(60), [None, Some(-40), Some(9)], [0.0; 3]), (Some(-40), Some(-40)));
}

#[test]
fn components_of_hundreds_of_positions() {
    let size = tabiya_testing::times(150, 400);
    for (seed, evaluated) in [(1, 1.0), (2, 0.9), (3, 0.5)] {
        let (links, known) = random(size, 2, evaluated, seed);
        let components = Components::new(&links);
        assert!((0..components.len()).any(|number| components.members(number).len() > size as usize / 2));
        let backed = backed(&links, &known);
        for us in [WHITE, BLACK] {
            let naive = naive(&links, &known, us);
            assert!((0..size).all(|at| backed.get(us, at) == naive[at as usize]));
        }
    }
}

#[test]
#[ignore = "measures: TABIYA_FULL_TESTS=1 cargo test --release --lib millions_of -- --ignored --nocapture"]
fn millions_of_moves() {
    let (links, known) = random(times(200_000, 2_000_000), 5, 1.0, 7);
    let begun = Instant::now();
    let backed = backed(&links, &known);
    println!("{} moves: {:.1} s", links.moves(), begun.elapsed().as_secs_f64());
    assert!(backed.get(WHITE, 0).is_some());
}
