//! Any bytes as an Arena book, as a whole file and as the records behind a good header: nothing panics or walks for
//! ever, every move given is legal and given once, of a tree written from the bytes every
//! move is found again, and what the writer writes of any moves is a sound book with all that the start reaches.

use std::collections::{BTreeMap, BTreeSet};

use shakmaty::{CastlingMode, Position as _, Role};
use tabiya_base::progress::Progress;
use tabiya_book::abk::layout::{HEADER_LEN, RECORD_LEN, ROOT};
use tabiya_book::abk::records::AbkRecord;
use tabiya_book::abk::{Abk, AbkDraft};
use tabiya_book::traits::Book;
use tabiya_book::{Counts, MoveFacts, Moves, PositionRecord, Recommendation, Scope, open_bytes};
use tabiya_chess::MoveCode;
use tabiya_chess::Position;

/// Plies of each line of the written tree.
const PLIES: usize = 8;

/// Bytes of memory that the writer has: more than any of these books needs.
const MEMORY: usize = 64 << 20;

/// Offset of the first header field that the fuzzer may set: what stands before it tells the format.
const FIELDS: usize = 0x0c;

/// Bytes of header fields that the fuzzer sets.
const FIELDS_LEN: usize = 0x100 - FIELDS;

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    let _ = open_bytes("fuzz.abk", data.to_vec()).map(|book| look(&*book));

    // Any fields and any records, with links that mostly lie inside.
    let (fields, records) = data.split_at(data.len().min(FIELDS_LEN));
    let mut file = header(fields);
    let (chunks, rest) = records.as_chunks::<{ RECORD_LEN as usize }>();
    let last = chunks.len() as i32 + ROOT as i32 + 1;
    for chunk in chunks {
        let mut record = AbkRecord::from_bytes(chunk);
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
        book.check(&Progress::none(), &mut |finding| {
            assert!(finding.offset.is_none_or(|offset| offset < file.len() as u64))
        });
    }

    written(fields, records);
    drafted(data);
    if let Ok(book) = Abk::new("fuzz.abk", file) {
        // What is read of a damaged book is written as a sound one.
        rewritten(&every(&book), &book);
    }
}

/// Any moves of any positions, written by the writer.
fn drafted(data: &[u8]) {
    let mut known: BTreeMap<u64, PositionRecord> = BTreeMap::new();
    for line in data.chunks(4 * PLIES).take(64) {
        let mut position = Position::start();
        for &[step, weight, games, results] in line.as_chunks().0 {
            let legal = position.chess().legal_moves();
            let Some(&mv) = legal.get(usize::from(step) % legal.len().max(1)) else { break };
            let raw = MoveCode::from_move(mv);
            // Some positions are left out, so that what stands behind them may be lost.
            if step % 16 != 15 {
                let at = known.entry(position.key()).or_insert_with(|| PositionRecord {
                    key: position.key(),
                    position: Some(position.clone()),
                    ..PositionRecord::default()
                });
                let games = u64::from(games);
                let wins = games * u64::from(results & 15) / 16;
                let losses = (games - wins) * u64::from(results >> 4) / 15;
                let counts = Counts { games, wins, losses, draws: games - wins - losses };
                if at.moves.iter().all(|known| known.mv != raw) {
                    at.moves.push(MoveFacts { counts: Some(counts), ..MoveFacts::new(raw, weight.into()) });
                }
            }
            position.play(mv);
        }
    }
    let known: Vec<PositionRecord> = known.into_values().collect();
    let book = draft(&known);
    rewritten(&known, &book);
}

/// Writes positions: what stands in the book has the moves and games of this other one.
fn rewritten(known: &[PositionRecord], other: &Abk) {
    let book = draft(known);
    let written = every(&book);
    assert_eq!(written.len(), every(other).len());
    for found in &written {
        let known = known.iter().find(|known| known.key == found.key);
        for found in &found.moves {
            let Some(known) = known.and_then(|known| known.moves.iter().find(|known| known.mv == found.mv))
            else {
                // It only leads on.
                assert!(found.weight == 0 && found.counts.is_none_or(|counts| counts.games == 0));
                continue;
            };
            // What the header keeps from tournaments gets the priority 0.
            assert_eq!(known.weight > 0 && known.recommended != Some(Recommendation::Red), found.weight > 0);
            if let (Some(known), Some(found)) = (known.counts, found.counts) {
                let games = known.games.max(known.wins + known.losses);
                // Greater ones are halved.
                if games <= i32::MAX as u64 {
                    assert_eq!((known.wins, known.losses, games), (found.wins, found.losses, found.games));
                }
            }
        }
    }
}

fn draft(known: &[PositionRecord]) -> Abk {
    let mut draft = AbkDraft::new(&std::env::temp_dir(), MEMORY);
    let mut known: Vec<&PositionRecord> = known.iter().collect();
    known.sort_by_key(|known| known.key);
    known.iter().try_for_each(|known| draft.add(known)).expect("memory takes everything");
    let mut file = Vec::new();
    let put = |bytes: &[u8]| {
        file.extend(bytes);
        Ok(())
    };
    let told = tabiya_book::abk::write_draft(draft, put).expect("memory takes everything");
    assert_eq!(file.len() as u64, u64::from(HEADER_LEN) + told.moves * u64::from(RECORD_LEN));
    let book = Abk::new("fuzz.abk", file).expect("a book that was written");
    book.check(&Progress::none(), &mut |finding| assert!(!finding.is_error(), "{finding}"));
    book
}

fn every(book: &Abk) -> Vec<PositionRecord> {
    let mut every = Vec::new();
    book.each(Scope::All, &Progress::none(), &mut |known| {
        every.push(known.clone());
        Ok(())
    })
    .unwrap();
    every
}

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
        assert_eq!(book.heaviest(place).is_some(), moves.iter().any(|known| known.weight > 0));
    }
    let summary = book.summary(&Progress::none());
    assert!(summary.moves <= Some(summary.entries) && summary.positions <= summary.moves);
}

/// A sound tree: lines chosen by the bytes, each a chain of first replies from a move of the start.
fn written(fields: &[u8], steps: &[u8]) {
    let mut records: Vec<AbkRecord> = Vec::new();
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
            records.push(AbkRecord {
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
    file.extend(records.iter().flat_map(AbkRecord::to_bytes));
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
    book.check(&Progress::none(), &mut |finding| assert!(!finding.is_error(), "{finding}"));
}

fn moves(book: &dyn Book, place: &Position) -> Vec<MoveFacts> {
    let mut moves = Vec::new();
    book.moves(place, &mut moves);
    moves
}
