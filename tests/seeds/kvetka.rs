//! Any bytes as the files of a Kvetka book, and as the elements of a sound one: nothing panics or hangs, every move given
//! is legal and given once, and what is written is read back without a difference.

use std::collections::BTreeMap;

use shakmaty::Position as _;
use tabiya_base::progress::Progress;
use tabiya_base::visit::Break;
use tabiya_book::kvetka::{Element, Extras, Key, Kvetka, KvetkaHeader, Link, code};
use tabiya_book::traits::Book;
use tabiya_book::{Counts, Moves, Scope, open_bytes};
use tabiya_chess::Position;
use tabiya_chess::normal::Normal;

#[path = "../../crates/book/src/formats/kvetka/tests/packed.rs"]
mod packed;
use packed::Packed;

/// Plies of each line of the written book.
const PLIES: usize = 10;

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    let _ = open_bytes("fuzz.kob", data.to_vec()).map(|book| look(&*book));
    let elements = elements(data);
    written(data, &elements);

    // A sound book with bytes of the fuzzer's put over it: where, then what.
    let header = KvetkaHeader { caption: "Кветка".to_owned(), ..KvetkaHeader::default() };
    let Packed { kob, kin } = Packed::with_files_of(2 * 2048, &header, &elements);
    let mut files = [kob.concat(), kin, data.to_vec()];
    let (chunks, rest) = data.as_chunks::<4>();
    for [file, high, low, byte] in chunks {
        let at = usize::from(u16::from_be_bytes([*high, *low]));
        if let Some(place) = files[usize::from(file % 2)].get_mut(at) {
            *place = *byte;
        }
    }
    let [joined, kin, ksf] = files;
    let cut = joined.len() - joined.len().min(rest.len());
    let (first, second) = joined.split_at(cut);
    let kob = vec![first.to_vec(), second.to_vec()];
    if let Ok(book) = Kvetka::with_files("fuzz.kob", kob, Some(kin), Some(ksf)) {
        look(&book);
        book.check(&Progress::none(), &mut |_| ());
    }
}

/// Elements of the positions of lines chosen by the bytes, each with its legal moves that have a code.
fn elements(data: &[u8]) -> Vec<Element> {
    let mut elements = BTreeMap::new();
    for (number, line) in data.chunks(PLIES).take(64).enumerate() {
        let mut at = Position::start();
        for (ply, step) in line.iter().enumerate() {
            let legal = at.chess().legal_moves();
            let (Some(normal), Some(key)) =
                (at.standard().and_then(Normal::from_chess), at.standard().and_then(Key::from_chess))
            else {
                break;
            };
            let moves: Vec<u8> = legal.iter().filter_map(|mv| code(*mv, &normal)).collect();
            let extras = Extras {
                flags: if step % 7 == 0 { 2 } else { 0 },
                link: (step % 2 == 0).then_some(Link { source: u16::from(*step), game: ply as u32 }),
                comment: (step % 3 == 0).then(|| "B20|Sicilian|é".repeat(usize::from(*step) / 16)),
                rest: if step % 7 == 0 { line.to_vec() } else { Vec::new() },
            };
            let (wins, draws, losses) = (u64::from(*step), number as u64, u64::from(*step) << ply);
            let results = Counts { games: wins + draws + losses, wins, draws, losses };
            elements.insert(key, Element { key, results, moves, extras });
            let Some(mv) = legal.get(usize::from(*step) % legal.len().max(1)).copied() else { break };
            at = at.after(mv);
        }
    }
    elements.into_values().collect()
}

/// What is written is read back, in one file or many, with the index or without.
fn written(data: &[u8], elements: &[Element]) {
    // Of letters beyond these some texts read as well in the other byte order, of which the format says nothing.
    let header =
        KvetkaHeader { caption: data.iter().copied().map(char::from).collect(), ..KvetkaHeader::default() };
    let one = Packed::new(&header, elements);
    let many = Packed::with_files_of(2048, &header, elements);
    assert_eq!(one.kin, many.kin);
    for (kob, kin) in [(one.kob.clone(), None), (one.kob, Some(one.kin)), (many.kob, Some(many.kin))] {
        let Ok(book) = Kvetka::with_files("fuzz.kob", kob, kin, None) else {
            panic!("a written book is refused")
        };
        assert!(
            book.warnings().is_empty() && book.header().is_some_and(|read| read.caption == header.caption)
        );
        for element in elements {
            let Ok(chess) = element.key.position() else { panic!("{element:?}") };
            let at = Position::from_chess(chess);
            assert_eq!(book.results(&at), Some(element.results));
            let mut moves = Vec::new();
            book.moves(&at, &mut moves);
            assert_eq!(moves.len(), element.moves.len());
            let comment = element.extras.comment.clone().filter(|comment| !comment.is_empty());
            let extras = book.extras(&at).unwrap_or_default();
            // Long comments may be cut, and links left out for them.
            if comment.as_ref().is_none_or(|comment| comment.chars().count() < 200) {
                assert_eq!((extras.comment, extras.link), (comment, element.extras.link));
            }
        }
        book.check(&Progress::none(), &mut |finding| assert!(!finding.is_error(), "{finding}"));
    }
}

/// What holds of any book, at the start and one move on.
fn look(book: &dyn Book) {
    let start = Position::start();
    let mut places = vec![start.clone()];
    let mut moves = Vec::new();
    book.moves(&start, &mut moves);
    places.extend(moves.iter().map(|known| start.after(known.mv)));
    for place in &places {
        moves.clear();
        book.moves(place, &mut moves);
        for (index, known) in moves.iter().enumerate() {
            assert!(place.chess().is_legal(known.mv));
            assert!(moves.iter().skip(index + 1).all(|other| other.mv != known.mv));
        }
        assert_eq!(book.best(place).is_some(), moves.iter().any(|known| known.weight > 0));
        let remarks = book.as_remarks().unwrap();
        remarks.comment(place);
        remarks.game(place);
    }
    let mut games = 0;
    book.as_remarks()
        .unwrap()
        .games(&mut |_| {
            games += 1;
            if games < 1000 { Ok(()) } else { Err(Break::Enough) }
        })
        .unwrap();
    let mut positions = 0_u64;
    book.each(Scope::All, &Progress::none(), &mut |known| {
        positions += u64::from(known.total.is_some());
        Ok(())
    })
    .unwrap();
    let summary = book.summary(&Progress::none());
    assert!(positions <= summary.entries);
}
