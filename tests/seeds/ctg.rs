//! Any bytes as a CTG book: nothing panics or runs on, every move given is legal and given once, an entry that is put
//! where the index leads is found again, and a book that is written comes back.

use std::collections::BTreeMap;

use shakmaty::{CastlingMode, Position as _};
use tabiya_base::progress::Progress;
use tabiya_book::ctg::layout::{CTB_START, CTG_START, CTO_START, PAGE_LEN};
use tabiya_book::ctg::{Ctg, CtgDraft, Signature, decode};
use tabiya_book::traits::Book;
use tabiya_book::{
    Annotation, Counts, MoveFacts, Moves, PositionRecord, Ratings, Recommendation, Scope, open_bytes,
};
use tabiya_chess::MoveCode;
use tabiya_chess::Position;

/// Positions of which a book has entries: the start, castling, promotion, en passant, two queens on a mirrored board.
const PLACES: [&str; 6] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    "1n2k3/P7/8/8/8/8/7p/4K1N1 w - - 0 1",
    "4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
    "6k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
    "4k3/8/8/3Q4/8/Q7/8/1K6 w - - 0 1",
];

/// Bytes of memory that the writer has: more than any of these books needs.
const MEMORY: usize = 64 << 20;

/// Bytes of a book's index and bitmap that the fuzzer chooses.
const INDEX: usize = 64;

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    let places: Vec<Position> = PLACES
        .iter()
        .filter_map(|fen| Position::from_fen(fen.as_bytes(), CastlingMode::Standard).ok())
        .collect();
    assert_eq!(places.len(), PLACES.len());
    let _ = open_bytes("fuzz.ctg", data.to_vec());
    if let Ok(chess) = decode(data) {
        assert!(Signature::from_chess(&chess).is_some());
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
        let Some(signature) = place.standard().and_then(Signature::from_chess) else { continue };
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
        assert_eq!(*entry.moves.as_flattened(), bytes[..moves]);
        assert_eq!(entry.statistics().comment_code, bytes[moves + 32]);
    }
    look(&book, &places);

    written(data, &places);
}

/// Plies of each line of a book that is written.
const PLIES: usize = 12;

/// Bytes that a move is made of: which one, and what is known of it.
const STEP: usize = 6;

/// Positions and moves of all kinds are written, and read back; what comes of that is written again, and is the same.
fn written(data: &[u8], places: &[Position]) {
    let mut known: BTreeMap<u64, PositionRecord> = BTreeMap::new();
    for (number, line) in data.chunks(PLIES * STEP).take(64).enumerate() {
        // Every other line begins at one of the places.
        let mut position = match places.get(number / 2 % places.len()) {
            Some(place) if number % 2 == 1 => place.clone(),
            _ => Position::start(),
        };
        for step in line.as_chunks::<STEP>().0 {
            let legal = position.chess().legal_moves();
            let Some(&mv) = legal.get(usize::from(step[0]) % legal.len().max(1)) else { break };
            let at = known.entry(position.key()).or_insert_with(|| PositionRecord {
                key: position.key(),
                position: Some(position.clone()),
                total: (step[1] & 64 != 0).then(|| counts(step[2], step[1])),
                comment: (step[1] & 128 != 0).then(|| "=".to_owned()),
                ..PositionRecord::default()
            });
            let raw = MoveCode::from_move(mv);
            if at.moves.iter().all(|known| known.mv != raw) {
                at.moves.push(of(raw, step));
            }
            position.play(mv);
        }
    }
    let known: Vec<PositionRecord> = known.into_values().collect();
    let once = write(&known, u32::from(data.first().copied().unwrap_or_default()));
    for known in &known {
        let Some(place) = &known.position else { continue };
        let entry = once.entry(place).expect("a position that was written");
        assert!(entry.statistics().comment() == known.comment.as_deref() || known.comment.is_none());
        let mut moves = Vec::new();
        once.moves(place, &mut moves);
        for known in &known.moves {
            let found = known.at(place).and_then(|known| moves.iter().find(|found| found.mv == known.mv));
            let Some(found) = found else {
                // Promotions to other pieces, third pieces, and a code with two meanings.
                assert!(
                    known.mv.promotion() != Ok(None) || place.chess().board().queens().count() > 1 || {
                        let at = place.chess().board();
                        (at.knights() | at.bishops() | at.rooks()).count() > 8
                    }
                );
                continue;
            };
            assert!(found.counts.is_some());
            // What is red on one path only has a mark instead.
            let is_red = known.recommended == Some(Recommendation::Red);
            let has_mark = is_red && found.annotation.is_some();
            assert!(found.recommended == known.recommended || found.recommended.is_some() || has_mark);
            assert!(known.annotation.is_none() || found.annotation.is_some());
        }
    }
    look(&once, places);
    let twice = write(&every(&once), 0);
    let (a, b) = (every(&once), every(&twice));
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(&b) {
        assert_eq!((a.key, a.total, &a.comment), (b.key, b.total, &b.comment));
        assert_eq!(a.moves, b.moves);
    }
}

/// Small numbers, so that they add up without end.
fn counts(games: u8, results: u8) -> Counts {
    let games = u64::from(games);
    let wins = games * u64::from(results & 3) / 4;
    let draws = (games - wins) * u64::from(results >> 2 & 3) / 4;
    let losses = (games - wins - draws) * u64::from(results >> 4 & 3) / 3;
    Counts { games, wins, draws, losses }
}

/// A move of which this much is known.
fn of(raw: MoveCode, &[_, results, games, weight, verdict, rating]: &[u8; STEP]) -> MoveFacts<MoveCode> {
    let marks = [None, Some(Annotation::Good), Some(Annotation::Dubious), Some(Annotation::Only)];
    MoveFacts {
        counts: (verdict & 16 == 0).then(|| counts(games, results)),
        annotation: marks.get(usize::from(verdict) % 8).copied().flatten(),
        recommended: [None, Some(Recommendation::Green), Some(Recommendation::Red)]
            .get(usize::from(verdict >> 5))
            .copied()
            .flatten(),
        ratings: (rating > 0).then(|| Ratings {
            average: Some(1000 + 8 * u32::from(rating)),
            performance: (rating % 2 == 0).then(|| 1000 + 10 * u32::from(rating)),
        }),
        ..MoveFacts::new(raw, weight.into())
    }
}

fn write(known: &[PositionRecord], green: u32) -> Ctg {
    let mut draft = CtgDraft::new(tabiya_book::Green::PerMille(green), &std::env::temp_dir(), MEMORY);
    known.iter().try_for_each(|known| draft.add(known)).expect("memory takes everything");
    let mut pages = vec![0; PAGE_LEN as usize];
    let put = |page: &[u8]| {
        pages.extend(page);
        Ok(())
    };
    let beside = draft.write(put).expect("memory takes everything");
    pages.splice(..PAGE_LEN as usize, beside.header);
    let book = Ctg::new("fuzz.ctg", pages, beside.cto, beside.ctb).expect("a book that was written");
    book.check(&Progress::none(), &mut |finding| assert!(!finding.is_error(), "{finding}"));
    book
}

fn every(book: &Ctg) -> Vec<PositionRecord> {
    let mut every = Vec::new();
    book.each(Scope::All, &Progress::none(), &mut |known| {
        every.push(known.clone());
        Ok(())
    })
    .unwrap();
    every.sort_by_key(|known| known.key);
    every
}

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
    book.check(&Progress::none(), &mut |finding| assert!(!finding.what.is_empty()));
}
