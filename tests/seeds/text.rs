//! Any bytes as a book of text: nothing panics, every move given is legal and given once, and each position is
//! written and read again with the same moves.

use shakmaty::Position as _;
use tabiya_base::progress::Progress;
use tabiya_book::{PositionRecord, Scope, WriteOptions, create_book, open_bytes};
use tabiya_chess::Position;

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    let Ok(book) = open_bytes("fuzz.epd", data.to_vec()) else { return };
    let start = Position::start();
    for known in book.moves_in(&start) {
        assert!(start.chess().is_legal(known.mv));
    }
    let summary = book.summary(&Progress::none());
    let mut all: Vec<PositionRecord> = Vec::new();
    let see = &mut |known: &PositionRecord| {
        all.push(known.clone());
        Ok(())
    };
    book.each(Scope::All, &Progress::none(), see).expect("a visit that goes on");
    let moves: usize = all.iter().map(|known| known.moves.len()).sum();
    assert_eq!(summary.moves, Some(moves as u64));
    assert!(all.len() as u64 <= summary.positions.unwrap_or(0));
    if !matches!(book.format().name(), "epd" | "fen") || all.is_empty() {
        return;
    }
    all.sort_by_key(|known| known.key);
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.epd", "a.fen"] {
        let path = folder.path().join(name);
        let mut writer = create_book(&path, &WriteOptions::default()).expect("a book");
        all.iter().for_each(|known| writer.add(known).expect("a position"));
        writer.finish().expect("a book");
        let again = tabiya_book::open_book(&path).expect("what was written");
        for known in &all {
            let at = known.position.as_ref().expect("a position");
            let mut read: Vec<_> =
                again.moves_in(at).into_iter().map(|known| (known.mv, known.weight)).collect();
            let mut held: Vec<_> =
                book.moves_in(at).into_iter().map(|known| (known.mv, known.weight)).collect();
            read.sort_by_key(|(mv, _)| mv.to_string());
            held.sort_by_key(|(mv, _)| mv.to_string());
            assert_eq!(read, held);
        }
    }
}
