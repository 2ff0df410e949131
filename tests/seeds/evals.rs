//! Any bytes as a store of evaluations, as its records, and as a file to import: nothing panics, what a store shows is found,
//! putting it in order loses nothing, and what is exported is imported again.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use tabiya_base::findings::summed;
use tabiya_base::progress::Progress;
use tabiya_base::resources::Resources;
use tabiya_chess::{MoveCode, Packed};
use tabiya_search::evals::{Appender, EngineId, Evaluation, Store, compact};
use tabiya_uci::{Score, Wdl};
use tabiya_workshop::evals::export;
use tabiya_workshop::evals::import::{Import, ImportPlan};

/// Bytes of a record in the fuzzer's input.
const RECORD_LEN: usize = 40;

/// A folder for the store; there is one process for each.
static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    if let Ok(store) = Store::from_bytes("fuzz.evals", data.to_vec()) {
        look(&store);
    }
    let path = FOLDER.path().join("fuzz.evals");
    let _ = fs::remove_file(&path);
    records(data, &path);
    import(data, &path);
}

/// What holds of any store.
fn look(store: &Store) {
    let (checked, findings) = summed(|findings| store.check(&Progress::none(), findings));
    assert!(checked.is_ok());
    let mut last = None;
    for (at, evaluation) in store.iter() {
        let in_order = last.is_none_or(|last| last < at);
        assert!(in_order || findings.iter().any(|finding| finding.is_error()));
        assert!(findings.iter().any(|finding| finding.is_error()) || store.find(&at) == Some(evaluation));
        if let Some(position) = at.unpack() {
            let mut text = Vec::new();
            assert!(export::epd(&position, &evaluation, &mut text).is_ok() && text.ends_with(b";\n"));
        }
        last = Some(at);
    }
}

/// The bytes as records, in a store that is appended to and put in order.
fn records(data: &[u8], path: &Path) {
    let batch: Vec<(Packed, Evaluation)> = data.as_chunks::<RECORD_LEN>().0.iter().map(record).collect();
    let Ok(mut appender) = Appender::open(path) else { panic!("a new store") };
    assert!(appender.append(&batch).is_ok());
    let appended: Vec<_> = Store::open(path).expect("our store").iter().collect();
    for (at, evaluation) in &batch {
        let held = appended.iter().find(|(held, _)| held == at).map(|(_, held)| *held);
        assert!(held.is_some_and(|held| held == *evaluation || !evaluation.outranks(&held, at)));
    }
    assert_eq!(compact(path, &resources(), &Progress::none()).ok(), Some(appended.len() as u64));
    let store = Store::open(path).expect("our store");
    assert!(store.iter().eq(appended));
    look(&store);
}

fn record(bytes: &[u8; RECORD_LEN]) -> (Packed, Evaluation) {
    let mut at = [1; 24];
    at.iter_mut().zip(bytes.iter().take(4)).for_each(|(place, byte)| *place = byte | 1);
    let number = i64::from(i16::from_be_bytes([bytes[4], bytes[5]]));
    let evaluation = Evaluation {
        score: if bytes[6].is_multiple_of(4) {
            Score::Mate(number.max(-32767))
        } else {
            Score::Centipawns(number * 30)
        },
        depth: u16::from(bytes[7]),
        nodes: u64::from(bytes[8] / 64),
        wdl: Wdl::new(u16::from(bytes[11]) * 3, u16::from(bytes[12])),
        engine: EngineId(u32::from(bytes[9])),
        best: MoveCode(u16::from_be_bytes([bytes[10], bytes[11]])),
    };
    (Packed(at), evaluation)
}

/// The bytes as a file to import, whose export is imported into another store.
fn import(data: &[u8], path: &Path) {
    let (file, other) = (FOLDER.path().join("fuzz.txt"), FOLDER.path().join("other.evals"));
    let (resources, progress) = (resources(), Progress::none());
    let read = |file: &Path, store: &Path| {
        let _ = fs::remove_file(store);
        let plan =
            ImportPlan { wanted: None, source: Some("fuzz"), resources: &resources, progress: &progress };
        let mut import = Import::new(plan);
        let read = import.read(file, &mut |_| {});
        assert!(import.finish(store).is_ok());
        read.is_ok() && store.exists()
    };
    assert!(fs::write(&file, data).is_ok());
    if !read(&file, path) {
        return;
    }
    let store = Store::open(path).expect("our store");
    look(&store);
    let mut text = Vec::new();
    for (at, evaluation) in store.iter() {
        let position = at.unpack().expect("a position that was read");
        assert!(export::epd(&position, &evaluation, &mut text).is_ok());
    }
    assert!(fs::write(&file, text).is_ok() && read(&file, &other));
    let again = Store::open(&other).expect("our store");
    assert!(again.iter().map(|(at, _)| at).eq(store.iter().map(|(at, _)| at)));
}

fn resources() -> Resources {
    Resources { threads: 1, memory: 1 << 20, temp: FOLDER.path().to_owned() }
}
