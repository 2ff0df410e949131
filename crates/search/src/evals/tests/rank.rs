//! Which evaluation counts, and which searches are still needed.

use tabiya_base::progress::Progress;
use tabiya_uci::Score;

use super::super::Limit;
use super::super::{Appender, Evaluation, Store, compact};
use super::{at, evaluation, findings, holds, place, resources, small};

#[test]
fn a_limit_for_longer_searches_is_greater() {
    let of = |limit: Limit| limit.times(8);
    assert_eq!(of(Limit::Nodes(20_000)), Limit::Nodes(160_000));
    assert_eq!((of(Limit::Depth(10)), Limit::Depth(10).times(2)), (Limit::Depth(14), Limit::Depth(12)));
    assert_eq!(of(Limit::Movetime(100)), Limit::Movetime(800));
    assert_eq!(of(Limit::Nodes(u64::MAX)), Limit::Nodes(u64::MAX));
}

#[test]
fn what_a_search_needs_depends_on_its_limit() {
    let of = |depth, nodes| Evaluation { nodes, ..evaluation(0, depth) };
    for (limit, depth, nodes, met) in [
        (Limit::Nodes(1_000_000), 9, 1_000_000, true),
        (Limit::Nodes(1_000_000), 60, 999_999, false),
        (Limit::Nodes(1_000_000), 23, 0, true),
        (Limit::Nodes(1_000_000), 22, 0, false),
        (Limit::Nodes(1_000_000), 0, 0, false),
        (Limit::Depth(20), 20, 0, true),
        (Limit::Depth(20), 19, u64::MAX, false),
        (Limit::Movetime(5), 1, 0, true),
        (Limit::Movetime(5), 0, 0, false),
    ] {
        assert_eq!(limit.is_met(&of(depth, nodes)), met, "{limit:?} {depth} {nodes}");
    }
}

#[test]
fn a_search_that_the_evaluation_does_not_show_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder);
    let model = small(&path, 2, 2);
    let mut appender = Appender::open(&path).unwrap();
    // What counts is deeper, but has fewer nodes.
    let limit = Limit::Nodes(model[&place(1)].nodes + 1);
    assert!(!Store::open(&path).unwrap().is_searched(&place(1), limit));
    appender.note_search(&place(1), limit).unwrap();
    let store = Store::open(&path).unwrap();
    assert!(store.is_searched(&place(1), limit) && !store.is_searched(&place(2), limit));
    assert!(!store.is_searched(&place(1), Limit::Nodes(u64::MAX)));
    assert!(!store.is_searched(&place(1), Limit::Depth(u64::from(u16::MAX) + 1)));
    assert!(findings(&store).is_empty());
    holds(&path, &model);
    drop(store);
    compact(&path, &resources(folder.path()), &Progress::none()).unwrap();
    let store = Store::open(&path).unwrap();
    assert!(store.is_searched(&place(1), limit) && findings(&store).is_empty());
    holds(&path, &model);
}

#[test]
fn a_deeper_evaluation_counts_and_the_best_of_equals() {
    let at = place(1);
    let of = |depth, nodes, score| Evaluation { nodes, ..evaluation(score, depth) };
    assert!(of(21, 0, -9).outranks(&of(20, 9, 9), &at) && !of(20, 9, 9).outranks(&of(21, 0, -9), &at));
    assert!(of(20, 2, -9).outranks(&of(20, 1, 9), &at));
    assert!(of(20, 2, 9).outranks(&of(20, 2, 8), &at));
    assert!(!of(20, 2, 9).outranks(&of(20, 2, 9), &at));
    // Of evaluations of unknown depth neither the better nor the worse one is preferred.
    let higher = (0..400).filter(|number| {
        let (one, other) = (of(0, 0, 30), of(0, 0, -30));
        assert_ne!(one.outranks(&other, &place(*number)), other.outranks(&one, &place(*number)));
        one.outranks(&other, &place(*number))
    });
    assert!((120..280).contains(&higher.count()));
    let mate = |moves| Evaluation { score: Score::Mate(moves), ..of(20, 2, 0) };
    let falling =
        [mate(1), mate(9), of(20, 2, 1_000_000), of(20, 2, -1_000_000), mate(-9), mate(-1), mate(0)];
    assert!(falling.windows(2).all(|pair| pair[0].outranks(&pair[1], &at)));
}
