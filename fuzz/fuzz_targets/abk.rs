//! Any bytes as an Arena book, as a whole file and as the records behind a good header: nothing panics or walks for
//! ever, every move given is legal and given once, and of a tree written from the bytes every move is found again.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use shakmaty::{CastlingMode, Position as _, Role};
use tabiya::base::progress::Progress;
use tabiya::book::abk::Abk;
use tabiya::book::abk::layout::{HEADER_LEN, RECORD_LEN, ROOT, Record};
use tabiya::book::{Book, BookMove, open_bytes};
use tabiya::chess::Position;

/// Plies of each line of the written tree.
const PLIES: usize = 8;

/// Offset of the first header field that the fuzzer may set: what stands before it tells the format.
const FIELDS: usize = 0x0c;

/// Bytes of header fields that the fuzzer sets.
const FIELDS_LEN: usize = 0x100 - FIELDS;

fuzz_target!(|data: &[u8]| {
    let _ = open_bytes("fuzz.abk", data.to_vec()).map(|book| look(&*book));

    // Any fields and any records, with links that mostly lie inside.
    let (fields, records) = data.split_at(data.len().min(FIELDS_LEN));
    let mut file = header(fields);
    let (chunks, rest) = records.as_chunks::<{ RECORD_LEN as usize }>();
    let last = chunks.len() as i32 + ROOT as i32 + 1;
    for chunk in chunks {
        let mut record = Record::from_bytes(chunk);
        for link in [&mut record.child, &mut record.sibling] {
            if *link % 8 != 0 {
                *link = ROOT as i32 - 1 + link.rem_euclid(last - ROOT as i32 + 1);
            }
        }
        if record.flags.is_multiple_of(4) {
            // A pawn's step, so that the walk gets somewhere.
            (record.from, record.to, record.promotion) = (8 + record.from % 8, 16 + record.from % 8, 0);
        }
        file.extend(record.to_bytes());
    }
    file.extend(rest);
    if let Ok(book) = Abk::new("fuzz.abk", file.clone()) {
        look(&book);
        assert!(book.index().all().len() <= chunks.len());
        book.check(&Progress::none(), &mut |damage| assert!(damage.offset < file.len() as u64));
    }

    written(fields, records);
});

fn header(fields: &[u8]) -> Vec<u8> {
    let mut header = b"\x03ABK".to_vec();
    header.extend(HEADER_LEN.to_le_bytes());
    header.extend(RECORD_LEN.to_le_bytes());
    header.extend(fields);
    header.resize(HEADER_LEN as usize, b'x');
    header
}

/// What holds of any book, at the start and one move on.
fn look(book: &dyn Book) {
    let start = Position::start();
    let first = moves(book, &start);
    let places: Vec<Position> = first.iter().map(|known| start.after(known.mv)).collect();
    for place in places.iter().chain([&start]) {
        let moves = moves(book, place);
        for (index, known) in moves.iter().enumerate() {
            assert!(place.chess().is_legal(known.mv));
            assert!(moves.iter().skip(index + 1).all(|other| other.mv != known.mv));
        }
        assert_eq!(book.best(place).is_some(), moves.iter().any(|known| known.weight > 0));
    }
    let summary = book.summary(&Progress::none());
    assert!(summary.moves <= Some(summary.entries) && summary.positions <= summary.moves);
}

/// A sound tree: lines chosen by the bytes, each a chain of first replies from a move of the start.
fn written(fields: &[u8], steps: &[u8]) {
    let mut records: Vec<Record> = Vec::new();
    let mut known = BTreeSet::new();
    let mut places = Vec::new();
    for line in steps.chunks(PLIES).take(64) {
        let first = records.len();
        let mut position = Position::start();
        for (ply, step) in line.iter().enumerate() {
            let legal = position.chess().legal_moves();
            let Some(mv) = legal.get(usize::from(*step) % legal.len().max(1)).copied() else { break };
            let number = records.len() as i32 + ROOT as i32;
            if let Some(before) = records.last_mut().filter(|_| ply > 0) {
                before.child = number;
            }
            let uci = mv.to_uci(CastlingMode::Standard).to_string();
            let square = |at: usize| uci.as_bytes()[at] - b'a' + 8 * (uci.as_bytes()[at + 1] - b'1');
            records.push(Record {
                from: square(0),
                to: square(2),
                promotion: match mv.promotion() {
                    None => 0,
                    Some(Role::Rook) => 1,
                    Some(Role::Knight) => -2,
                    Some(Role::Bishop) => 3,
                    Some(_) => -4,
                },
                priority: step % 10,
                games: i32::from(*step),
                white_wins: i32::from(*step / 3),
                white_losses: i32::from(*step / 4),
                flags: 0,
                child: -1,
                sibling: -1,
            });
            known.insert((position.key(), uci));
            places.push(position.clone());
            position.play(mv);
        }
        // The lines before are siblings of this one.
        if first > 0 && records.len() > first {
            let mut last = 0;
            while let Ok(next) = usize::try_from(records[last].sibling - ROOT as i32) {
                last = next;
            }
            records[last].sibling = (first + ROOT as usize) as i32;
        }
    }
    let mut file = header(fields);
    file.extend(records.iter().flat_map(Record::to_bytes));
    let Ok(book) = Abk::new("fuzz.abk", file) else { panic!("a written book is refused") };
    assert_eq!(book.index().all().len(), known.len());
    for place in &places {
        let given: BTreeSet<_> = moves(&book, place)
            .iter()
            .map(|given| (place.key(), given.mv.to_uci(CastlingMode::Standard).to_string()))
            .collect();
        let expected: BTreeSet<_> = known.iter().filter(|(key, _)| *key == place.key()).cloned().collect();
        assert_eq!(given, expected);
    }
    book.check(&Progress::none(), &mut |damage| assert!(!damage.serious, "{}", damage.what));
}

fn moves(book: &dyn Book, place: &Position) -> Vec<BookMove> {
    let mut moves = Vec::new();
    book.moves(place, &mut moves);
    moves
}
