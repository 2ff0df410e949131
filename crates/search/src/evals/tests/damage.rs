//! Stores that are torn, broken, or none at all.

use std::fs;

use proptest::prelude::*;

use tabiya_base::error::ErrorKind;
use tabiya_base::progress::Progress;

use super::super::record::{RECORD_LEN, StoreRecord, guarded, header, slot};
use super::super::{Appender, Store, compact};
use super::{Model, add, at, evaluation, findings, holds, place, resources, small};

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
                    if let Some(StoreRecord::Evaluation(at, evaluation)) = StoreRecord::parse(slot) {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

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
}
