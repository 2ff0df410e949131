//! What a sound book gives.

use shakmaty::{CastlingMode, Position as _};

use tabiya_base::progress::Progress;
use tabiya_chess::Position;

use super::super::Kvetka;
use super::fixtures::{damages, findings, many};
use super::{Fixture, Packed, after, fen};
use crate::traits::Book;
use crate::{Counts, MoveFacts, Moves, Remarks};

fn fixture() -> Fixture {
    Fixture::default()
        .games("e2e4 e7e5 g1f3", [5, 3, 2])
        .games("e2e4 c7c5", [1, 0, 4])
        .games("d2d4 g8f6", [2, 2, 2])
}

fn moves(book: &Kvetka, at: &Position) -> Vec<(String, MoveFacts)> {
    let mut moves = Vec::new();
    book.moves(at, &mut moves);
    moves.iter().map(|known| (known.mv.to_uci(CastlingMode::Standard).to_string(), *known)).collect()
}

#[test]
fn a_moves_statistics_are_those_of_the_position_after_it() {
    let book = fixture().book();
    let at_start = moves(&book, &Position::start());
    let [(e4, known_e4), (d4, known_d4)] = &at_start[..] else { panic!("{at_start:?}") };
    assert_eq!((&**e4, &**d4), ("e2e4", "d2d4"));
    assert_eq!(known_e4.counts, Some(Counts { games: 15, wins: 6, draws: 3, losses: 6 }));
    // Twice the mover's wins and once the draws.
    assert_eq!((known_e4.weight, known_d4.weight), (15, 6));
    let black = moves(&book, &after("e2e4"));
    let c5 = &black.iter().find(|(mv, _)| mv == "c7c5").unwrap().1;
    assert_eq!(c5.counts, Some(Counts { games: 5, wins: 4, draws: 0, losses: 1 }));
    assert_eq!(book.results(&Position::start()), Some(Counts::ended(8, 5, 8)));
    assert_eq!(book.best(&Position::start()).unwrap().to_uci(CastlingMode::Standard).to_string(), "e2e4");
    assert_eq!(damages(&book), [""; 0]);
    assert_eq!(findings(&book, false), [""; 0]);
}

#[test]
fn moves_come_back_in_every_orientation() {
    // White and Black to move, castling and without it with the king on either wing; en passant; a promotion.
    let lines = [
        "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6 d2d3 e8g8",
        "d2d4 d7d5 b1c3 b8c6 c1f4 c8f5 d1d2 d8d7 e1c1 e8c8 h2h3 h7h6 c1b1 c8b8 a2a3",
        "e2e4 g8f6 e4e5 d7d5 e5d6 e7d6",
        "g2g4 a7a6 g4g5 h7h5 g5h6 b8c6 h6g7 a8b8 g7h8q",
    ];
    let fixture = lines.iter().fold(Fixture::default(), |fixture, line| fixture.games(line, [2, 1, 0]));
    let book = fixture.book();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        for (ply, word) in words.iter().enumerate() {
            let at = after(&words[..ply].join(" "));
            let found = moves(&book, &at);
            let known =
                &found.iter().find(|(mv, _)| mv == word).unwrap_or_else(|| panic!("{line}: {word}")).1;
            let counts = known.counts.unwrap();
            let white = ply % 2 == 0;
            assert_eq!(counts.wins > counts.losses, white, "{line}: {word}");
        }
    }
    assert_eq!(damages(&book), [""; 0]);
}

#[test]
fn a_mirrored_position_has_the_mirrored_moves() {
    let at = fen("8/2k5/8/pP6/8/8/8/1K6 w - a6 0 1");
    let mirrored = fen("6k1/8/8/8/6pP/8/5K2/8 b - h3 0 1");
    let normal = tabiya_chess::normal::Normal::from_chess(at.standard().unwrap()).unwrap();
    let ep = at.standard().unwrap().legal_ep_square();
    assert!(ep.is_some());
    let codes: Vec<u8> = {
        at.standard()
            .unwrap()
            .legal_moves()
            .into_iter()
            .filter_map(|mv| super::super::code(mv, &normal))
            .collect()
    };
    let book = Fixture::default().change(&at, |element| element.moves = codes).book();
    let here: Vec<String> = moves(&book, &at).into_iter().map(|(mv, _)| mv).collect();
    let there: Vec<String> = moves(&book, &mirrored).into_iter().map(|(mv, _)| mv).collect();
    assert_eq!(here.len(), there.len());
    for (a, b) in here.iter().zip(&there) {
        let flipped: String = a
            .chars()
            .map(|letter| match letter {
                'a'..='h' => char::from(b'a' + b'h' - letter as u8),
                digit => char::from(b'1' + b'8' - digit as u8),
            })
            .collect();
        assert_eq!(flipped, *b);
    }
    // Without a result anywhere all weigh the same.
    assert!(moves(&book, &at).iter().all(|(_, known)| known.weight == 1 && known.counts.is_none()));
    assert!(here.contains(&"b5a6".to_owned()));
}

#[test]
fn openings_are_named() {
    let e4 = after("e2e4");
    let book = fixture().comment(&e4, "B00|King's Pawn|Открытие").comment(&after("d2d4"), "a note").book();
    assert_eq!(book.comment(&e4).as_deref(), Some("B00 King's Pawn: Открытие"));
    assert_eq!(book.comment(&after("d2d4")).as_deref(), Some("a note"));
    assert_eq!(book.comment(&Position::start()), None);
}

#[test]
fn the_number_of_files_and_the_index_do_not_change_the_book() {
    let fixture = many(tabiya_testing::times(350, 600));
    let (one, small) = (fixture.packed(), fixture.in_small_files());
    assert!(one.kob.len() == 1 && small.kob.len() > 5 && one.kin == small.kin);
    assert!(small.kob.iter().all(|file| file.len() <= 2 * 2048 + 20));
    let mut joined = small.kob.clone();
    let fourth = joined.remove(3);
    joined[2].extend(fourth);
    let open = |kob: &[Vec<u8>], kin: Option<&[u8]>| {
        let book = Kvetka::with_files("a.kob", kob.to_vec(), kin.map(<[u8]>::to_vec), None).unwrap();
        assert_eq!(book.warnings(), [""; 0]);
        book
    };
    let books = [
        open(&one.kob, None),
        open(&one.kob, Some(&one.kin)),
        open(&small.kob, None),
        open(&small.kob, Some(&small.kin)),
        open(&joined, None),
        open(&joined, Some(&small.kin)),
    ];
    for element in fixture.elements() {
        let at = Position::from_chess(element.key.position().unwrap());
        let first = moves(&books[0], &at);
        for book in &books {
            assert_eq!(book.results(&at), Some(element.results));
            assert_eq!(moves(book, &at), first);
        }
        assert_eq!(first.len(), element.moves.len());
    }
    let absent = fen("4k3/8/8/8/8/8/8/4K2R w K - 0 1");
    for book in &books {
        assert_eq!(book.results(&absent), None);
        assert_eq!(damages(book), [""; 0]);
        let summary = book.summary(&Progress::none());
        assert_eq!(summary.entries, fixture.elements().len() as u64);
        assert_eq!((summary.reachable, summary.deepest), (Some(summary.entries), Some(12)));
        assert_eq!(summary.games, Some(book.results(&Position::start()).unwrap().games));
        assert_eq!(summary.findings, []);
    }
}

#[test]
fn blocks_are_full_and_unused_bytes_are_zero() {
    let fixture = many(300);
    let Packed { kob, .. } = fixture.packed();
    let start = fixture.header.to_bytes().len();
    let blocks: Vec<&[u8]> = kob[0][start..].chunks(2048).collect();
    for (number, block) in blocks.iter().enumerate() {
        let used = usize::from(u16::from_be_bytes([block[0], block[1]]));
        assert!(block[used..].iter().all(|&byte| byte == 0));
        assert!(number + 1 == blocks.len() || used > 2048 - 682, "{used}");
    }
    let book = fixture.book();
    assert_eq!(book.blocks(), blocks.len() as u64);
    assert_eq!(u64::from(book.header().unwrap().blocks), book.blocks());
}
