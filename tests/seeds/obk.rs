//! Any bytes as a Chessmaster book, as a whole file and as the moves after a good header: nothing panics or walks for ever,
//! every move given is legal and given once, and each move of a tree that the bytes choose is found again.

use shakmaty::{CastlingSide, Move, Position as _, Square};
use tabiya_base::progress::Progress;
use tabiya_book::obk::layout::{RECORD_LEN, START_V1, START_V2};
use tabiya_book::obk::{Obk, ObkRecord};
use tabiya_book::traits::Book;
use tabiya_book::{Moves as _, open_bytes};
use tabiya_chess::Position;

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    let _ = open_bytes("fuzz.obk", data.to_vec()).map(|book| look(&*book));
    let count = (data.len() / RECORD_LEN) as u32;
    for start in [&START_V1[..], &START_V2] {
        let header =
            [start, &count.to_le_bytes(), &[0; 4][..start.len() * usize::from(start == START_V2)]].concat();
        look(&Obk::new("fuzz.obk", [&header, data].concat()).expect("a whole header"));
    }
    tree(data);
}

/// What holds of any book, at the start and one move on.
fn look(book: &dyn Book) {
    let start = Position::start();
    let first = book.moves_in(&start);
    let places: Vec<Position> = first.iter().map(|known| start.after(known.mv)).collect();
    for place in places.iter().chain([&start]) {
        let moves = book.moves_in(place);
        for (index, known) in moves.iter().enumerate() {
            assert!(place.chess().is_legal(known.mv));
            assert!(moves.iter().skip(index + 1).all(|other| other.mv != known.mv));
        }
    }
    let summary = book.summary(&Progress::none());
    assert!(summary.moves <= Some(summary.entries) && summary.positions <= summary.moves);
}

/// A sound tree: lines from the start, each a sibling of the one before.
fn tree(data: &[u8]) {
    let (mut records, mut places) = (Vec::new(), Vec::new());
    let mut ends = Vec::new();
    for line in data.chunks(8).take(64) {
        let mut at = Position::start();
        for (ply, &step) in line.iter().enumerate() {
            let legal = at.chess().legal_moves();
            let Some(&mv) = legal.get(usize::from(step) % legal.len().max(1)) else { break };
            if mv.promotion().is_some_and(|role| role != shakmaty::Role::Queen) {
                break;
            }
            let (from, to) = squares(mv);
            let weight = step >> 6;
            records.push(ObkRecord { from, to, weight, is_last: ply > 0, is_leaf: false });
            places.push((at.clone(), mv));
            at.play(mv);
        }
        ends.push(records.len());
    }
    for end in ends {
        if let Some(record) = end.checked_sub(1).and_then(|last| records.get_mut(last)) {
            record.is_leaf = true;
        }
    }
    // The last line's first move has no sibling after it.
    if let Some(record) = records.iter_mut().rev().find(|record| !record.is_last) {
        record.is_last = true;
    }
    let moves: Vec<u8> = records.iter().flat_map(|record| record.to_bytes()).collect();
    let file = [&START_V1[..], &(records.len() as u32).to_le_bytes(), &moves].concat();
    let book = Obk::new("fuzz.obk", file).expect("a book that was written");
    assert!(places.iter().all(|(at, mv)| book.has(at, *mv)));
    book.check(&Progress::none(), &mut |finding| assert!(!finding.is_error(), "{finding}"));
}

fn squares(mv: Move) -> (u8, u8) {
    let from = mv.from().expect("no drop");
    let to = match mv {
        Move::Castle { king, rook } => {
            Square::from_coords(CastlingSide::from_king_side(rook > king).king_to_file(), king.rank())
        }
        _ => mv.to(),
    };
    (from.into(), to.into())
}
