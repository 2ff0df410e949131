//! Any bytes as an experience file of each family: nothing panics or walks for ever, every move given is legal and given
//! once, what the walk reaches and what it leaves out add up, and each record of a line is found again.

use shakmaty::Position as _;
use tabiya_base::progress::Progress;
use tabiya_book::exp::Exp;
use tabiya_book::exp::keys::{KeySet, keys};
use tabiya_book::exp::layout::{RECORD_LEN, SUGAR_V1, SUGAR_V2};
use tabiya_book::traits::Book;
use tabiya_book::{Moves as _, Scope, exp, open_bytes};
use tabiya_chess::{MoveCode, Position};

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    for name in ["fuzz.exp", "fuzz.bin"] {
        // Other names are those of Polyglot books too.
        let _ =
            open_bytes(name, data.to_vec()).map(|book| (book.format() == exp::FORMAT).then(|| look(&*book)));
    }
    for start in [&b""[..], &SUGAR_V1, &SUGAR_V2] {
        let _ = Exp::new("fuzz.exp", [start, data].concat()).map(|book| look(&book));
    }
    lines(data);
}

/// What holds of any file.
fn look(book: &dyn Book) {
    let start = Position::start();
    let first = book.moves_in(&start);
    let places: Vec<Position> = first.iter().map(|known| start.after(known.mv)).collect();
    for place in places.iter().chain([&start]) {
        let moves = book.moves_in(place);
        for (index, known) in moves.iter().enumerate() {
            assert!(place.chess().is_legal(known.mv) && known.weight > 0);
            assert!(moves.iter().skip(index + 1).all(|other| other.mv != known.mv));
        }
    }
    let summary = book.summary(&Progress::none());
    assert!(summary.moves <= Some(summary.entries) && summary.reachable <= summary.positions);
    let mut reached = 0;
    let visit = &mut |_: &tabiya_book::PositionRecord| {
        reached += 1;
        Ok(())
    };
    let left_out = book.each(Scope::All, &Progress::none(), visit).expect("memory is read");
    assert!(Some(reached + left_out) >= summary.positions);
}

/// A file of lines that the bytes choose.
fn lines(data: &[u8]) {
    let mut file = SUGAR_V2.to_vec();
    let mut places = Vec::new();
    for line in data.chunks(16).take(32) {
        let mut at = Position::start();
        for &step in line {
            let legal = at.chess().legal_moves();
            let Some(&mv) = legal.get(usize::from(step) % legal.len().max(1)) else { break };
            // No promotions, whose code is another one.
            if mv.is_promotion() {
                break;
            }
            let key = keys(at.standard().expect("standard chess"), KeySet::Old).next().expect("a key");
            file.extend(key.to_le_bytes());
            file.extend(u32::from(MoveCode::from_move(mv).0).to_le_bytes());
            file.extend((i32::from(step) - 128).to_le_bytes());
            file.extend(i32::from(step % 64).to_le_bytes());
            file.extend(1_u32.to_le_bytes());
            places.push((at.clone(), mv));
            at.play(mv);
        }
    }
    assert_eq!(file.len(), SUGAR_V2.len() + places.len() * RECORD_LEN);
    let book = Exp::new("fuzz.exp", file).expect("a file that was written");
    assert!(places.iter().all(|(at, mv)| book.has(at, *mv)));
    let errors = book.summary(&Progress::none()).findings.into_iter().filter(|finding| finding.is_error());
    assert_eq!(errors.count(), 0);
}
