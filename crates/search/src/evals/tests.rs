//! Stores: what is put in comes out, whoever appends at the same time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod damage;
mod rank;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use tabiya_base::findings::{Finding, summed};
use tabiya_base::progress::Progress;
use tabiya_base::resources::Resources;
use tabiya_chess::{MoveCode, Packed, Position};
use tabiya_uci::{Score, Wdl};

use super::record::{Engines, MAX_NODES, RECORD_LEN, StoreRecord, guarded, slot};
use super::{Alternative, Appender, Collector, EngineId, Evaluation, Limit, Put, Store, compact};

type Model = BTreeMap<Packed, Evaluation>;

fn resources(folder: &Path) -> Resources {
    Resources { threads: 2, memory: 1 << 20, temp: folder.to_owned() }
}

/// A position by its number: a store does not look into them.
fn place(number: u64) -> Packed {
    let mut bytes = [7; 24];
    bytes[..8].copy_from_slice(&(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 40).to_le_bytes());
    bytes[8..16].copy_from_slice(&number.to_le_bytes());
    Packed(bytes)
}

fn evaluation(score: i64, depth: u16) -> Evaluation {
    let engine = Engines::default().id("Stockfish 17.1");
    let best = MoveCode(0x031c);
    Evaluation { score: Score::Centipawns(score), depth, nodes: 1000, wdl: None, engine, best }
}

fn any_score() -> impl Strategy<Value = Score> {
    prop_oneof![
        (-1_000_000..=1_000_000_i64).prop_map(Score::Centipawns),
        (-32767..=32767_i64).prop_map(Score::Mate)
    ]
}

prop_compose! {
    fn any_evaluation()(
        score in any_score(),
        depth in prop_oneof![0..3_u16, any::<u16>()],
        nodes in prop_oneof![0..3_u64, 0..=MAX_NODES],
        wdl in proptest::option::of((0..=1000_u16, 0..=1000_u16)),
        engine in 0..3_u32,
        best: u16,
    ) -> Evaluation {
        let engine = Engines::default().id(&format!("engine {engine}"));
        let wdl = wdl.and_then(|(wins, draws)| Wdl::new(wins, draws.min(1000 - wins)));
        Evaluation { score, depth, nodes, wdl, engine, best: MoveCode(best) }
    }
}

fn add(model: &mut Model, batch: &[(Packed, Evaluation)]) {
    for (at, evaluation) in batch {
        let held = model.entry(*at).or_insert(*evaluation);
        if evaluation.outranks(held, at) {
            *held = *evaluation;
        }
    }
}

fn holds(path: &Path, model: &Model) {
    let store = Store::open(path).unwrap();
    assert!(store.iter().eq(model.iter().map(|(at, evaluation)| (*at, *evaluation))));
    for (at, evaluation) in model {
        assert_eq!(store.find(at), Some(*evaluation));
    }
    assert_eq!(store.find(&place(u64::MAX)), None);
    assert!(findings(&store).is_empty());
}

fn findings(store: &Store) -> Vec<Finding> {
    let (checked, found) = summed(|findings| store.check(&Progress::none(), findings));
    checked.unwrap();
    found
}

fn at(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("a.evals")
}

#[derive(Clone, Debug)]
enum Step {
    Append(Vec<(u64, Evaluation)>),
    Put(Vec<(u64, Evaluation)>),
    Compact,
}

fn any_step() -> impl Strategy<Value = Step> {
    let batch = || prop::collection::vec((0..40_u64, any_evaluation()), 0..30);
    prop_oneof![batch().prop_map(Step::Append), batch().prop_map(Step::Put), Just(Step::Compact)]
}

#[test]
fn alternatives_stay_whatever_becomes_of_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (at(&folder), folder.path().join("b.evals"));
    let (short, long) = (Limit::Nodes(1000), Limit::Nodes(3000));
    let moves = [MoveCode(3), MoveCode(1)];
    let found = |limit, score| Alternative::new(&moves, limit, Score::Centipawns(score), MoveCode(9));
    let note = |path: &Path, number, alternative: &Alternative| {
        Appender::open(path).unwrap().note_alternative(&place(number), alternative).unwrap();
    };
    note(&path, 1, &found(short, 5));
    note(&path, 1, &found(long, 7));
    note(&path, 1, &found(short, 6));
    note(&path, 2, &Alternative::new(&moves[..1], short, Score::Mate(-3), MoveCode(9)));
    Appender::open(&path).unwrap().append(&[(place(1), evaluation(1, 1))]).unwrap();
    note(&other, 3, &found(long, 8));
    let score = |path: &Path, number, without: &[MoveCode], limit| {
        Store::open(path).unwrap().alternative(&place(number), without, limit).map(|found| found.score)
    };
    let check = |path: &Path| {
        assert_eq!(score(path, 1, &moves, short), Some(Score::Centipawns(7)));
        assert_eq!(score(path, 1, &[moves[1], moves[0]], long), Some(Score::Centipawns(7)));
        assert_eq!(score(path, 1, &moves, Limit::Nodes(4000)), None);
        assert_eq!(score(path, 1, &moves, Limit::Depth(1)), None);
        assert_eq!(score(path, 1, &moves[..1], short), None);
        assert_eq!(score(path, 2, &moves[..1], short), Some(Score::Mate(-3)));
        let store = Store::open(path).unwrap();
        assert_eq!((store.iter().count(), findings(&store).len()), (1, 0));
    };
    check(&path);
    // Another store takes everything in, and this one what that has.
    for (from, to) in [(&path, &other), (&other, &path)] {
        let mut collector = Collector::new(&resources(folder.path()));
        collector.push_store(&Store::open(from).unwrap(), |_| true, &Progress::none()).unwrap();
        assert!(!collector.is_empty());
        collector.put(to, &Progress::none()).unwrap();
        check(to);
        assert_eq!(score(to, 3, &moves, long), Some(Score::Centipawns(8)));
    }
    compact(&path, &resources(folder.path()), &Progress::none()).unwrap();
    check(&path);
    assert_eq!(Store::open(&path).unwrap().sorted(), 1 + 3);
    let bytes = fs::metadata(&path).unwrap().len();
    let mut collector = Collector::new(&resources(folder.path()));
    collector.push_store(&Store::open(&other).unwrap(), |_| true, &Progress::none()).unwrap();
    assert_eq!(collector.put(&path, &Progress::none()).unwrap(), Put::default());
    assert_eq!(fs::metadata(&path).unwrap().len(), bytes);
}

#[test]
fn evaluations_that_do_not_count_are_there_until_the_store_is_compacted() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder);
    let append = |depths: &[(u64, u16)]| {
        let mut appender = Appender::open(&path).unwrap();
        for (number, depth) in depths {
            appender.append(&[(place(*number), evaluation(0, *depth))]).unwrap();
        }
    };
    let depths = |number: u64| {
        let store = Store::open(&path).unwrap();
        let mut depths: Vec<_> = store.all(&place(number)).map(|evaluation| evaluation.depth).collect();
        depths.sort_unstable();
        depths
    };
    append(&[(2, 7)]);
    compact(&path, &resources(folder.path()), &Progress::none()).unwrap();
    append(&[(1, 3), (2, 9), (1, 9), (3, 1), (2, 8), (1, 5), (2, 12)]);
    assert_eq!([1, 2, 3, 4].map(depths), [vec![3, 5, 9], vec![7, 8, 9, 12], vec![1], vec![]]);
    compact(&path, &resources(folder.path()), &Progress::none()).unwrap();
    assert_eq!([1, 2, 3, 4].map(depths), [vec![9], vec![12], vec![1], vec![]]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_record_comes_back(number: u64, evaluation in any_evaluation(), bit in 0..RECORD_LEN * 8) {
        let mut bytes = slot(&guarded(&place(number), &evaluation));
        prop_assert_eq!(StoreRecord::parse(&bytes), Some(StoreRecord::Evaluation(place(number), evaluation)));
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert_eq!(StoreRecord::parse(&bytes), None);
    }

    #[test]
    fn a_store_holds_the_deepest_whatever_is_done(steps in prop::collection::vec(any_step(), 1..12)) {
        let folder = tempfile::tempdir().unwrap();
        let path = at(&folder);
        let mut appender = Appender::open(&path).unwrap();
        let mut model = Model::new();
        for step in steps {
            let places = |batch: Vec<(u64, Evaluation)>| {
                batch.into_iter().map(|(number, evaluation)| (place(number), evaluation)).collect::<Vec<_>>()
            };
            match step {
                Step::Append(batch) => {
                    let batch = places(batch);
                    appender.append(&batch).unwrap();
                    add(&mut model, &batch);
                }
                Step::Put(batch) => {
                    let batch = places(batch);
                    let mut collector = Collector::new(&resources(folder.path()));
                    batch.iter().for_each(|(at, evaluation)| collector.push(at, evaluation).unwrap());
                    let before = model.clone();
                    add(&mut model, &batch);
                    let put = collector.put(&path, &Progress::none()).unwrap();
                    let new = model.len() - before.len();
                    let better = model.iter().filter(|(at, now)| before.get(at).is_some_and(|old| old != *now));
                    prop_assert_eq!(put, Put { new: new as u64, better: better.count() as u64 });
                }
                Step::Compact => {
                    let positions = compact(&path, &resources(folder.path()), &Progress::none()).unwrap();
                    prop_assert_eq!(positions, model.len() as u64);
                }
            }
            holds(&path, &model);
        }
    }

    #[test]
    fn the_order_does_not_matter(
        batch in prop::collection::vec((0..10_u64, any_evaluation()), 1..40),
        shuffled in any::<prop::sample::Index>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let written = |name: &str, batch: &[(u64, Evaluation)]| {
            let path = folder.path().join(name);
            let batch: Vec<_> = batch.iter().map(|(number, evaluation)| (place(*number), *evaluation)).collect();
            Appender::open(&path).unwrap().append(&batch).unwrap();
            compact(&path, &resources(folder.path()), &Progress::none()).unwrap();
            fs::read(path).unwrap()
        };
        let mut other = batch.clone();
        other.rotate_left(shuffled.index(batch.len()));
        other.reverse();
        prop_assert_eq!(written("one", &batch), written("other", &other));
    }

    #[test]
    fn names_come_back(names in prop::collection::vec("\\PC{1,300}", 1..5)) {
        let folder = tempfile::tempdir().unwrap();
        let mut appender = Appender::open(at(&folder)).unwrap();
        let ids: Vec<_> = names.iter().map(|name| appender.engine(name)).collect();
        appender.append(&[]).unwrap();
        let store = Store::open(at(&folder)).unwrap();
        for (id, name) in ids.iter().zip(&names) {
            let found = store.engine(*id);
            prop_assert!(name.starts_with(&found) && (found.len() == name.len() || found.len() > 240));
        }
        prop_assert_eq!(store.engine(EngineId(7)), "unknown engine 00000007");
    }
}

/// A store of a few records after `sorted` ones in order, and what it holds.
fn small(path: &Path, sorted: u64, appended: u64) -> Model {
    let mut model = Model::new();
    let mut appender = Appender::open(path).unwrap();
    appender.engine("Stockfish 17.1");
    let batch = |from: u64, to: u64| {
        (from..to).map(|number| (place(number), evaluation(number as i64, 20))).collect::<Vec<_>>()
    };
    let (first, second) = (batch(0, sorted), batch(sorted, sorted + appended));
    appender.append(&first).unwrap();
    if sorted > 0 {
        compact(path, &resources(path.parent().unwrap()), &Progress::none()).unwrap();
    }
    appender.append(&second).unwrap();
    appender.sync().unwrap();
    add(&mut model, &first);
    add(&mut model, &second);
    model
}

#[test]
fn many_evaluations_put_the_store_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder);
    small(&path, 0, 3);
    let mut collector = Collector::new(&resources(folder.path()));
    let engine = collector.engine("another");
    for number in 0..70_000 {
        collector.push(&place(number), &Evaluation { engine, ..evaluation(1, 30) }).unwrap();
    }
    let put = collector.put(&path, &Progress::none()).unwrap();
    assert_eq!(put, Put { new: 69_997, better: 3 });
    let store = Store::open(&path).unwrap();
    assert_eq!((store.sorted(), store.appended(), store.iter().count()), (70_002, 0, 70_000));
    assert_eq!(store.engine(engine), "another");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn several_append_and_compact_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder);
    let mut model = Model::new();
    let batches = |writer: u64| {
        let batch = move |round: u64| {
            (0..5)
                .map(|number| {
                    (
                        place((writer + round + number) % 37),
                        evaluation(round as i64, (writer * 50 + round) as u16),
                    )
                })
                .collect::<Vec<_>>()
        };
        (0..40).map(batch).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || {
                let mut appender = Appender::open(path).unwrap();
                appender.engine(&format!("engine {writer}"));
                batches(writer).iter().for_each(|batch| assert!(appender.append(batch).unwrap()));
            });
        }
        let (path, folder) = (&path, &folder);
        scope.spawn(move || {
            for _ in 0..10 {
                let _ = Appender::open(path).unwrap();
                compact(path, &resources(folder.path()), &Progress::none()).unwrap();
            }
        });
    });
    (0..4).flat_map(batches).for_each(|batch| add(&mut model, &batch));
    holds(&path, &model);
    let store = Store::open(&path).unwrap();
    let names: Vec<_> = store.engines().ids().map(|id| store.engine(id)).collect();
    assert_eq!(names.len(), 4, "{names:?}");
}

#[test]
fn a_position_is_found_whether_or_not_a_pinned_pawn_may_pass() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder);
    let fen =
        |passed| Position::from_any_fen(format!("4r1k1/8/8/3pP3/8/8/8/4K3 w - {passed} 0 1").as_bytes());
    let (with, without) = (fen("d6").unwrap(), fen("-").unwrap());
    let mut appender = Appender::open(&path).unwrap();
    appender.append(&[(Packed::strict(&with).unwrap(), evaluation(7, 7))]).unwrap();
    let store = Store::open(&path).unwrap();
    assert_eq!(store.get(&with), Some(evaluation(7, 7)));
    assert_eq!(store.get(&without), Some(evaluation(7, 7)));
    assert_eq!(store.get(&Position::start()), None);
}
