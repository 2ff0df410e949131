//! Any bytes as a CTG book: nothing panics or runs on, every move given is legal and given once, and an entry that is
//! put where the index leads is found again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shakmaty::{CastlingMode, Position as _};
use tabiya::base::progress::Progress;
use tabiya::book::ctg::layout::{CTB_START, CTG_START, CTO_START, PAGE_LEN};
use tabiya::book::ctg::{Ctg, Signature, decode};
use tabiya::book::{Book, open_bytes};
use tabiya::chess::Position;

/// Positions of which a book has entries: the start, castling, promotion, en passant, two queens on a mirrored board.
const PLACES: [&str; 6] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    "1n2k3/P7/8/8/8/8/7p/4K1N1 w - - 0 1",
    "4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
    "6k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
    "4k3/8/8/3Q4/8/Q7/8/1K6 w - - 0 1",
];

/// Bytes of a book's index and bitmap that the fuzzer chooses.
const INDEX: usize = 64;

fuzz_target!(|data: &[u8]| {
    let places: Vec<Position> = PLACES
        .iter()
        .filter_map(|fen| Position::from_fen(fen.as_bytes(), CastlingMode::Standard).ok())
        .collect();
    assert_eq!(places.len(), PLACES.len());
    let _ = open_bytes("fuzz.ctg", data.to_vec());
    if let Ok(chess) = decode(data) {
        assert!(Signature::of(&chess).is_some());
    }

    // Three files of any bytes, but for what tells them from other files.
    let (index, pages) = data.split_at(data.len().min(INDEX));
    let (cto, ctb) = index.split_at(index.len() / 2);
    let cto = [&CTO_START[..], cto].concat();
    let ctb = [&CTB_START[..], ctb].concat();
    if let Ok(book) = Ctg::new("fuzz.ctg", file(pages), cto, ctb) {
        look(&book, &places);
    }

    // One page, to which every hash leads: each place's entry holds what the fuzzer says.
    let mut page = vec![0; 4];
    let mut entries = Vec::new();
    for (place, rest) in places.iter().zip(data.chunks(1 + 2 * 8 + 33)) {
        let Some((&first, rest)) = rest.split_first() else { continue };
        let Some(signature) = Signature::of(place.chess()) else { continue };
        let moves = 2 * usize::from(first % 8);
        let mut bytes = rest.to_vec();
        bytes.resize(moves + 33, 0);
        let entry = [signature.bytes(), &[moves as u8 + 1], &bytes].concat();
        page.extend(&entry);
        entries.push((place, bytes, moves));
    }
    let (count, length) = (entries.len() as u16, page.len() as u16);
    page[..4].copy_from_slice(&[count.to_be_bytes(), length.to_be_bytes()].concat());
    let cto = [&CTO_START[..], &[0, 0, 0, 1], &[0; 12]].concat();
    let ctb = [&CTB_START[..], &[0; 8]].concat();
    let book = Ctg::new("fuzz.ctg", file(&page), cto, ctb).expect("a book of one page");
    for (place, bytes, moves) in entries {
        let entry = book.entry(place).expect("an entry that was written");
        assert_eq!(entry.moves.len() * 2, moves);
        let written: Vec<u8> = entry.moves.iter().flat_map(|mv| [mv.code, mv.annotation_code]).collect();
        assert_eq!(written, bytes[..moves]);
        assert_eq!(entry.statistics.comment_code, bytes[moves + 32]);
    }
    look(&book, &places);
});

/// A file of these pages behind a header page.
fn file(pages: &[u8]) -> Vec<u8> {
    let mut file = CTG_START.to_vec();
    file.resize(PAGE_LEN as usize, 0);
    file.extend(pages);
    file
}

/// What holds of any book.
fn look(book: &Ctg, places: &[Position]) {
    for place in places {
        let mut moves = Vec::new();
        book.moves(place, &mut moves);
        for (index, known) in moves.iter().enumerate() {
            assert!(place.chess().is_legal(known.mv));
            assert!(moves.iter().skip(index + 1).all(|other| other.mv != known.mv));
        }
        assert!(book.best(place).is_none_or(|best| moves.iter().any(|known| known.mv == best)));
    }
    let summary = book.summary(&Progress::none());
    assert!(summary.reachable <= summary.positions);
    book.check(&Progress::none(), &mut |damage| assert!(!damage.what.is_empty()));
}
