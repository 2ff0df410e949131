//! The games that a book names.

use tabiya_base::visit::Break;
use tabiya_chess::Position;

use super::super::Kvetka;
use super::fixtures::{damages, findings, ksf};
use super::{Fixture, after};
use crate::{GameReference, ReferenceKind, Remarks};

fn fixture() -> Fixture {
    Fixture::default().games("e2e4 e7e5", [1, 1, 0]).link(&after("e2e4"), 0, 1).link(
        &after("e2e4 e7e5"),
        1,
        0,
    )
}

fn with(fixture: &Fixture, ksf: Vec<u8>) -> Kvetka {
    Kvetka::with_files("books/fixture.kob", fixture.packed().kob, None, Some(ksf)).unwrap()
}

#[test]
fn a_position_names_its_game() {
    let book = with(&fixture(), ksf());
    assert_eq!(book.game(&Position::start()), None);
    let game = book.game(&after("e2e4")).unwrap();
    let expected = GameReference {
        number: 1,
        kind: ReferenceKind::Pgn,
        source: ["books", "pgn", "base.pgn"].join(std::path::MAIN_SEPARATOR_STR),
        gone: false,
        address: 1700,
        length: 700,
        white: "Hübner, R".to_owned(),
        black: "Карпов".to_owned(),
        white_elo: std::num::NonZeroU16::new(2600),
        black_elo: None,
        points: Some(crate::Points::Win),
    };
    assert_eq!(game, expected);
    let text = format!("Hübner, R (2600) - Карпов  1-0  {}, byte 1700, 700 bytes", game.source);
    assert_eq!(game.to_string(), text);
    assert_eq!(book.game(&after("e2e4 e7e5")).unwrap().place(), "chesspro.ru, game 5");
    assert_eq!(damages(&book), [""; 0]);
}

#[test]
fn all_games_of_all_kinds_of_sources_are_listed() {
    let book = with(&fixture(), ksf());
    let mut seen = Vec::new();
    book.games(&mut |game| {
        seen.push((game.kind.to_string(), game.place(), game.result()));
        Ok(())
    })
    .unwrap();
    let expected = [
        ("pgn", "byte 1000, 700 bytes", "1/2-1/2"),
        ("pgn", "byte 1700, 700 bytes", "1-0"),
        ("web", "chesspro.ru, game 5", "*"),
        ("web", "chessgames.com, byte 4, 9 bytes", "*"),
        ("cbh", "game 2, byte 92", "0-1"),
    ];
    assert_eq!(seen, expected.map(|(kind, place, result)| (kind.to_owned(), place.to_owned(), result)));
    let mut first = 0;
    book.games(&mut |_| {
        first += 1;
        Err(Break::Enough)
    })
    .unwrap();
    assert_eq!(first, 1);
    let sources = book.sources().unwrap();
    assert_eq!(sources.count(), 3);
    // A page's address is left as it is.
    assert_eq!(sources.source(1).unwrap().address, "http://example.org/%currentdir%");
}

#[test]
fn the_contents_fill_a_multiple_of_512_bytes() {
    let bytes = ksf();
    assert_eq!(bytes[..8], [0, 0, 0, 3, 0, 0, 2, 0]);
    assert!(bytes[16..512].iter().all(|&byte| byte == 0));
    assert_eq!(super::super::KvetkaSources::contents_len(127), 512);
    assert_eq!(super::super::KvetkaSources::contents_len(128), 1024);
}

#[test]
fn a_ksf_file_that_points_past_its_end_is_reported_and_its_other_games_are_named() {
    // The second source's address.
    let mut bytes = ksf();
    bytes[8..12].copy_from_slice(&[0xff; 4]);
    let book = with(&fixture(), bytes);
    assert!(book.game(&after("e2e4")).is_some() && book.game(&after("e2e4 e7e5")).is_none());
    let findings = damages(&book);
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert_eq!(findings[0], "source 1 is after the end of the file (byte 8 of fixture.ksf)");
    assert!(
        findings[1].starts_with("a link leads to game 0 of source 1, which the .ksf file does not have"),
        "{findings:?}"
    );
    // A name of four billion letters.
    let mut bytes = ksf();
    let at = bytes.windows(4).position(|window| window == [0, 0, 0, 9]).unwrap();
    bytes[at..at + 4].copy_from_slice(&[0xff; 4]);
    let book = with(&fixture(), bytes);
    assert!(book.game(&after("e2e4")).is_none());
    let findings = damages(&book);
    let expected = "game 0 of 2 of source 0 has a text that is longer than the rest of the file (byte ";
    assert!(findings[0].starts_with(expected), "{findings:?}");
    // An address, and a number of games, of four billion.
    for (offset, what) in [(514, "source 0 has a text"), (518 + 2 * 24, "game 2 of 4294967295 of source 0")] {
        let mut bytes = ksf();
        bytes[offset..offset + 4].copy_from_slice(&[0xff; 4]);
        let findings = damages(&with(&fixture(), bytes));
        assert!(findings.iter().any(|line| line.starts_with(what)), "{findings:?}");
    }
    // As many sources.
    let mut bytes = ksf();
    bytes[..4].copy_from_slice(&[0xff; 4]);
    let book = with(&fixture(), bytes);
    assert!(book.game(&after("e2e4")).is_some());
    assert!(damages(&book)[0].starts_with("the contents name 4294967295 sources"));
    // Cut anywhere.
    let whole = ksf();
    for len in 0..whole.len() {
        let book = with(&fixture(), whole[..len].to_vec());
        assert!(!damages(&book).is_empty(), "{len}");
        book.game(&after("e2e4"));
    }
}

#[test]
fn games_that_all_sources_share_are_read_once() {
    // As many sources as links can name, all of them the first one.
    let count = 1_u32 << 16;
    let sources = ksf();
    let start = 4 + 4 * count;
    let mut bytes = count.to_be_bytes().to_vec();
    (0..count).for_each(|_| bytes.extend(start.to_be_bytes()));
    bytes.extend(&sources[512..]);
    let most = bytes.len();
    let book = with(&fixture(), bytes);
    let mut seen = 0;
    book.games(&mut |_| {
        seen += 1;
        Ok(())
    })
    .unwrap();
    // A game takes 17 bytes at least.
    assert!(seen > 0 && seen <= most / 17 + 2, "{seen} of {most} bytes");
    let found = damages(&book);
    assert!(found.iter().any(|line| line.contains("have the same games")), "{found:?}");
}

#[test]
fn links_without_a_ksf_file_are_a_warning() {
    let book = fixture().book();
    assert_eq!(damages(&book), [""; 0]);
    assert_eq!(
        findings(&book, false),
        ["2 links to games, but no .ksf file with these games (first at byte 22 of fixture_0.kob)"]
    );
    // Without the header's leave there are none.
    let mut fixture = fixture();
    fixture.header.element_type = 0;
    assert_eq!(findings(&fixture.book(), false), [""; 0]);
}
