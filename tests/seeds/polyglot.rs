//! Any bytes as a Polyglot book: nothing panics, every move given is legal, and of a sorted book exactly the entries
//! that stand in it are found again.

use shakmaty::{CastlingMode, Move, Position as _};
use tabiya_base::progress::Progress;
use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_book::polyglot::layout::ENTRY_LEN;
use tabiya_book::polyglot::{MAX_OF_ONE_KEY, Polyglot};
use tabiya_book::traits::Book;
use tabiya_book::{MoveFacts, Moves, open_bytes};
use tabiya_chess::MoveCode;
use tabiya_chess::Position;

/// Positions of which a book has entries: the start, castling in both kinds of chess, promotion, en passant.
const PLACES: [(&str, CastlingMode); 5] = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", CastlingMode::Standard),
    ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", CastlingMode::Standard),
    ("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1", CastlingMode::Chess960),
    ("1n2k3/P7/8/8/8/8/7p/4K1N1 w - - 0 1", CastlingMode::Standard),
    ("4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1", CastlingMode::Standard),
];

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    let places: Vec<Position> =
        PLACES.iter().filter_map(|(fen, mode)| Position::from_fen(fen.as_bytes(), *mode).ok()).collect();
    assert_eq!(places.len(), PLACES.len());
    let _ = open_bytes("fuzz.bin", data.to_vec());
    look(&Polyglot::new("fuzz.bin", data.to_vec()), data.len() as u64, &places);

    // The same entries with keys that are asked for, unsorted and sorted.
    let (chunks, rest) = data.as_chunks::<ENTRY_LEN>();
    let mut entries: Vec<PolyglotEntry> = chunks.iter().map(PolyglotEntry::from_bytes).collect();
    for entry in &mut entries {
        if let Some(place) = places.get(entry.key as usize % 8) {
            entry.key = place.key();
        }
    }
    let bytes = |entries: &[PolyglotEntry]| {
        let mut bytes: Vec<u8> = entries.iter().flat_map(PolyglotEntry::to_bytes).collect();
        bytes.extend(rest);
        bytes
    };
    look(&Polyglot::new("fuzz.bin", bytes(&entries)), data.len() as u64, &places);
    entries.sort_by_key(|entry| entry.key);
    let book = Polyglot::new("fuzz.bin", bytes(&entries));
    look(&book, data.len() as u64, &places);
    for place in &places {
        let of_place: Vec<&PolyglotEntry> =
            entries.iter().filter(|entry| entry.key == place.key()).take(MAX_OF_ONE_KEY).collect();
        found_again(&book, place, &of_place);
    }
}

/// What holds of any book.
fn look(book: &Polyglot, len: u64, places: &[Position]) {
    for place in places {
        let moves = moves(book, place);
        for (index, known) in moves.iter().enumerate() {
            assert!(place.chess().is_legal(known.mv));
            assert!(moves.iter().skip(index + 1).all(|other| other.mv != known.mv));
        }
        let heaviest = moves.iter().map(|known| known.weight).max().filter(|weight| *weight > 0);
        let first = moves.iter().find(|known| Some(known.weight) == heaviest).map(|known| known.mv);
        assert_eq!(book.best(place), first);
    }
    let summary = book.summary(&Progress::none());
    assert_eq!(summary.entries, len / ENTRY_LEN as u64);
    assert!(summary.positions <= Some(summary.entries) && summary.moves <= Some(summary.entries));
    assert!(summary.reachable <= summary.positions);
    book.check(&Progress::none(), &mut |finding| {
        assert!(finding.offset.is_none_or(|offset| offset < len.max(1)))
    });
}

/// What holds of a sorted one: each legal entry is given, with all its weight, and nothing else is.
fn found_again(book: &Polyglot, place: &Position, entries: &[&PolyglotEntry]) {
    let legal = place.chess().legal_moves();
    let moves = moves(book, place);
    let weight: u64 = moves.iter().map(|known| known.weight).sum();
    let written: u64 = entries
        .iter()
        .filter(|entry| legal.iter().any(|&mv| writes(entry.mv, mv)))
        .map(|entry| u64::from(entry.weight))
        .sum();
    assert_eq!(weight, written);
    for known in &moves {
        assert!(entries.iter().any(|entry| writes(entry.mv, known.mv)));
    }
}

/// Whether a code is one of the forms in which a legal move is written.
fn writes(raw: MoveCode, mv: Move) -> bool {
    let Some(from) = mv.from() else { return false };
    MoveCode::new(from, mv.to(), mv.promotion()) == raw
        || mv.is_castle()
            && from.to_string().starts_with('e')
            && mv.to_uci(CastlingMode::Standard).to_string() == raw.to_string()
            // In Chess960 a rook may stand where the king goes: then the code means that rook.
            && mv.to() != raw.to()
}

fn moves(book: &Polyglot, place: &Position) -> Vec<MoveFacts> {
    let mut moves = Vec::new();
    book.moves(place, &mut moves);
    moves
}
