//! Stores: what is put in comes out, whatever is torn or broken, and whoever appends at the same time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::record::{Engines, RECORD_LEN, Record, guarded, header, slot};
use super::{Appender, Collector, EngineId, Evaluation, Put, Store, compact};
use crate::base::error::ErrorKind;
use crate::base::findings::{Finding, summed};
use crate::base::progress::Progress;
use crate::base::resources::Resources;
use crate::chess::{MoveCode, Packed, Position};
use crate::uci::Score;

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
    Evaluation { score: Score::Centipawns(score), depth, nodes: 1000, engine, best: MoveCode(0x031c) }
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
        nodes in prop_oneof![0..3_u64, any::<u64>()],
        engine in 0..3_u32,
        best: u16,
    ) -> Evaluation {
        let engine = Engines::default().id(&format!("engine {engine}"));
        Evaluation { score, depth, nodes, engine, best: MoveCode(best) }
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_record_comes_back(number: u64, evaluation in any_evaluation(), bit in 0..RECORD_LEN * 8) {
        let mut bytes = slot(&guarded(&place(number), &evaluation));
        prop_assert_eq!(Record::parse(&bytes), Some(Record::Evaluation(place(number), evaluation)));
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert_eq!(Record::parse(&bytes), None);
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
    fn any_bytes_are_a_store_or_none(mut bytes: Vec<u8>, sorted: u64, has_header: bool) {
        if has_header {
            bytes.splice(..0, header(sorted));
        }
        if let Ok(store) = Store::from_bytes("made", bytes) {
            prop_assert_eq!(store.iter().count(), 0);
            prop_assert_eq!(store.find(&place(3)), None);
            findings(&store);
        }
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
fn a_tail_torn_at_any_byte_is_cut_off() {
    for sorted in [0, 3] {
        let folder = tempfile::tempdir().unwrap();
        let path = at(&folder);
        let model = small(&path, sorted, 4);
        let whole = fs::read(&path).unwrap();
        let start = if sorted > 0 { RECORD_LEN * (1 + 1 + sorted as usize) } else { 0 };
        for len in start..=whole.len() {
            // Either the file ends there, or the power failed and zeros are left.
            for zeros in [0, whole.len() - len] {
                let torn = [&whole[..len], &vec![0; zeros]].concat();
                if len < RECORD_LEN && zeros > 0 {
                    // The header is synced before anything else is written.
                    continue;
                }
                fs::write(&path, &torn).unwrap();
                let kept = len.saturating_sub(RECORD_LEN) / RECORD_LEN;
                let slots = whole[RECORD_LEN..].as_chunks::<RECORD_LEN>().0.iter().take(kept);
                let mut left = Model::new();
                for slot in slots {
                    if let Some(Record::Evaluation(at, evaluation)) = Record::parse(slot) {
                        left.insert(at, evaluation);
                    }
                }
                let read: Model = Store::open(&path).unwrap().iter().collect();
                assert_eq!(read, left, "{len}");
                let mut appender = Appender::open(&path).unwrap();
                assert_eq!(fs::metadata(&path).unwrap().len() as usize, RECORD_LEN * (kept + 1), "{len}");
                let batch: Vec<_> = model.iter().map(|(at, evaluation)| (*at, *evaluation)).collect();
                appender.append(&batch).unwrap();
                holds(&path, &model);
            }
        }
    }
}

#[test]
fn what_was_torn_while_another_was_appending_is_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder);
    let mut model = small(&path, 0, 3);
    let mut appender = Appender::open(&path).unwrap();
    // Another process dies while it appends.
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend(slot(&guarded(&place(50), &evaluation(5, 5))).iter().take(30));
    fs::write(&path, bytes).unwrap();
    let batch = [(place(60), evaluation(6, 6))];
    appender.append(&batch).unwrap();
    add(&mut model, &batch);
    holds(&path, &model);
}

#[test]
fn a_flipped_bit_costs_one_record_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder);
    let model = small(&path, 5, 5);
    let whole = fs::read(&path).unwrap();
    for byte in 0..whole.len() {
        let mut broken = whole.clone();
        broken[byte] ^= 0x10;
        let opened = Store::from_bytes("made", broken.clone());
        if byte < RECORD_LEN {
            assert_eq!(opened.unwrap_err().kind(), ErrorKind::Format);
            continue;
        }
        let store = opened.unwrap();
        let left: Vec<_> = store.iter().collect();
        // A name costs no evaluation.
        assert!(left.len() + 1 >= model.len(), "{byte}");
        assert!(left.iter().all(|(at, evaluation)| model.get(at) == Some(evaluation)));
        assert!(model.keys().all(|at| store.find(at).is_none_or(|found| model[at] == found)));
        let found = findings(&store);
        assert!(
            found.iter().any(|finding| finding.is_error() && finding.what.contains("damaged")),
            "{found:?}"
        );
        fs::write(&path, broken).unwrap();
        compact(&path, &resources(folder.path()), &Progress::none()).unwrap();
        holds(&path, &left.into_iter().collect());
    }
}

#[test]
fn records_that_are_not_in_order_are_found_and_put_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder);
    let model = small(&path, 0, 6);
    // A header that is wrong about the order.
    let bytes = fs::read(&path).unwrap();
    let records = bytes[RECORD_LEN..].as_chunks::<RECORD_LEN>().0;
    let reversed: Vec<u8> = records.iter().rev().flatten().copied().collect();
    fs::write(&path, [&header(7)[..], &reversed].concat()).unwrap();
    let found = findings(&Store::open(&path).unwrap());
    assert!(found.iter().any(|finding| finding.what.contains("not in order")), "{found:?}");
    compact(&path, &resources(folder.path()), &Progress::none()).unwrap();
    holds(&path, &model);
}

#[test]
fn what_is_no_store_is_refused_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder);
    let newer = {
        let mut bytes = header(0).to_vec();
        bytes[15] = 2;
        bytes
    };
    for (bytes, what) in [
        (b"my notes".to_vec(), "not a store"),
        (vec![b'x'; 200], "not a store"),
        (vec![0; 200], "not a store"),
        (newer, "newer version"),
        ([&header(0)[..47], b"x"].concat(), "header of this store is damaged"),
    ] {
        fs::write(&path, &bytes).unwrap();
        for error in [
            Store::open(&path).unwrap_err(),
            Appender::open(&path).unwrap_err(),
            compact(&path, &resources(folder.path()), &Progress::none()).unwrap_err(),
        ] {
            assert!(error.to_string().contains(what), "{error}");
        }
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
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
                batches(writer).iter().for_each(|batch| appender.append(batch).unwrap());
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
