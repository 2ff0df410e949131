//! How long an answer takes when as much was played as is remembered: `cargo test --release --test session figures -- --ignored
//! --nocapture` prints it. `GNUCHESS_BOOK` names the book.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use shakmaty::Position as _;
use tabiya_adapter::session::{NodeKind, Output, PlayedNode, Session};
use tabiya_adapter::settings::books::BookList;
use tabiya_adapter::settings::options::Options;
use tabiya_book::open_book as open;
use tabiya_chess::Position;

use super::library::{OneBook, serve};

/// How many positions were played.
const PLAYED: usize = 262_144;

/// Positions in which an answer is timed.
const ASKED: usize = 2_000;

fn place(at: &Position) -> u64 {
    let ply = u64::from(at.chess().fullmoves().get() - 1) * 2 + u64::from(at.chess().turn().is_black());
    at.key() ^ ply.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A session that plays from the book.
fn begin(library: &OneBook, fresh: bool) -> (Session, Output) {
    let mut options = Options { seed: 1, fresh, fresh_file: "match.lines".to_owned(), ..Options::default() };
    options.books.both = BookList::parse("test.bin");
    options.policy.threshold = 0;
    let mut out = Output::default();
    let mut session = Session::new(options, Vec::new(), &mut out);
    serve(library, &mut session, &mut out);
    (session, out)
}

#[test]
#[ignore = "measures, and needs GNU Chess's book"]
fn an_answer_takes_as_long_whatever_was_played() {
    let book = open(std::env::var_os("GNUCHESS_BOOK").expect("GNUCHESS_BOOK names a book")).unwrap();
    let library = OneBook { name: "test.bin", book: book.clone(), values: &[] };
    let (mut session, mut out) = begin(&library, true);
    session.gui_line(b"go\n", &mut out);
    let scope = out.lines.first().expect("what was played is for others too").scope;
    // All of the book from the start, each position by the first line that leads to it.
    let (mut nodes, mut asked) = (Vec::new(), Vec::new());
    let mut open = VecDeque::from([(Position::start(), String::new())]);
    let mut met = HashMap::from([(place(&Position::start()), ())]);
    while let Some((at, line)) = open.pop_front() {
        let mut after = Vec::new();
        for known in book.moves_in(&at) {
            let next = at.after(known.mv);
            after.push(place(&next));
            if nodes.len() + open.len() < PLAYED && met.insert(place(&next), ()).is_none() {
                let mv = known.mv.to_uci(shakmaty::CastlingMode::Standard);
                open.push_back((next, format!("{line} {mv}")));
            }
        }
        if at.chess().turn().is_white() && !after.is_empty() && asked.len() < ASKED {
            asked.push(line);
        }
        nodes.push(PlayedNode { scope, at: place(&at), kind: NodeKind::Known, after });
    }
    let of_book = nodes.len();
    // The rest is one long line.
    nodes.extend((of_book..PLAYED).map(|at| PlayedNode {
        scope,
        at: at as u64,
        kind: NodeKind::Known,
        after: vec![at as u64 + 1],
    }));
    // Other programs take time too: of three rounds, which do the same, the least counts for each answer.
    for fresh in [false, true] {
        let (mut times, mut taken) = (vec![Duration::MAX; asked.len()], Duration::MAX);
        for _ in 0..3 {
            let (mut session, mut out) = begin(&library, fresh);
            let begun = Instant::now();
            nodes.chunks(128).for_each(|nodes| session.played_elsewhere(nodes));
            taken = taken.min(begun.elapsed());
            for (line, time) in asked.iter().zip(&mut times) {
                session.gui_line(format!("position startpos moves{line}\n").as_bytes(), &mut out);
                let begun = Instant::now();
                session.gui_line(b"go wtime 1000 btime 1000\n", &mut out);
                *time = begun.elapsed().min(*time);
            }
            assert_eq!(String::from_utf8_lossy(&out.gui).matches("bestmove ").count(), asked.len());
        }
        times.sort();
        println!(
            "Book Fresh {fresh}: {PLAYED} positions played, {of_book} of them the book's, read in {taken:?}; {} answers: median \
             {:?}, worst {:?}",
            times.len(),
            times[times.len() / 2],
            times[times.len() - 1]
        );
    }
}
