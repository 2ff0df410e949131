//! Books written by the writer and read back.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use tabiya_base::error::Remedy;
use tabiya_base::progress::Progress;
use tabiya_chess::MoveCode;
use tabiya_chess::Position;

use super::super::{Key, Kvetka, KvetkaWriter};
use super::fixtures::{damages, many};
use super::keys::reached;
use super::{Fixture, after, fen};
use crate::traits::Book;
use crate::{
    self as book, BookWriter, Counts, GameReference, MoveFacts, Moves, PositionRecord, Recommendation,
    ReferenceKind, Remarks, Scope, WriteOptions, Written,
};

fn write(
    path: &Path,
    options: &WriteOptions,
    games: &[GameReference],
    positions: &[PositionRecord],
) -> Written {
    let mut writer = Box::new(KvetkaWriter::new(path, options).unwrap());
    games.iter().for_each(|game| writer.game(game).unwrap());
    positions.iter().for_each(|known| writer.add(known).unwrap());
    writer.finish().unwrap()
}

fn all(book: &dyn Book, scope: Scope) -> Vec<PositionRecord> {
    let mut all = Vec::new();
    book.each(scope, &Progress::none(), &mut |known| {
        all.push(known.clone());
        Ok(())
    })
    .unwrap();
    all
}

fn game(number: u64, source: &str) -> GameReference {
    GameReference {
        number,
        kind: ReferenceKind::Pgn,
        source: source.to_owned(),
        gone: false,
        address: number & 0xffff,
        length: 10,
        white: format!("White {number}"),
        black: String::new(),
        white_elo: None,
        black_elo: std::num::NonZeroU16::new(2500),
        points: crate::Points::from_halves((number % 3) as u8),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_book_goes_through_the_writer_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = many(400).games("e2e4 e7e5", [1, 2, 3]).comment(&after("e2e4"), "B00|King's Pawn").link(
        &after("e2e4"),
        0,
        1,
    );
    let first = fixture.book();
    for (scope, backwards) in [(Scope::Reachable, false), (Scope::All, true)] {
        let mut positions = all(&first, scope);
        if backwards {
            positions.reverse();
        }
        let games: Vec<_> = (0..3).map(|number| game(number, "a.pgn")).collect();
        let path = folder.path().join("copy.kob");
        let written =
            write(&path, &WriteOptions { force: true, ..WriteOptions::default() }, &games, &positions);
        assert_eq!(written.left_out, [], "{scope:?}");
        assert_eq!(names(folder.path()), ["copy.kin", "copy.ksf", "copy_0.kob"]);
        let copy = Kvetka::open(&path).unwrap();
        assert_eq!((copy.warnings(), damages(&copy)), (vec![], vec![]));
        let mut elements = 0;
        for element in fixture.elements() {
            let at = Position::from_chess(element.key.position().unwrap());
            assert_eq!(copy.results(&at), Some(element.results), "{}", at.fen());
            let mut moves = [Vec::new(), Vec::new()];
            first.moves(&at, &mut moves[0]);
            copy.moves(&at, &mut moves[1]);
            moves.iter_mut().for_each(|moves| moves.sort_by_key(|known| known.mv.to_string()));
            assert_eq!(moves[0], moves[1]);
            assert_eq!(copy.extras(&at).unwrap().comment, element.extras.comment);
            elements += 1;
        }
        assert_eq!((written.positions, copy.summary(&Progress::none()).entries), (elements, elements));
        assert_eq!(copy.game(&after("e2e4")).unwrap().white, "White 1");
        assert_eq!(copy.comment(&after("e2e4")).as_deref(), Some("B00 King's Pawn"));
    }
}

fn counted(mv: &str, at: &Position, [wins, draws, losses]: [u64; 3], weight: u64) -> MoveFacts<MoveCode> {
    let mv = mv.parse::<shakmaty::uci::UciMove>().unwrap().to_move(at.standard().unwrap()).unwrap();
    let counts = Counts { games: wins + draws + losses, wins, draws, losses };
    MoveFacts { counts: Some(counts), ..MoveFacts::new(MoveCode::from_move(mv), weight) }
}

fn known(at: &Position, moves: Vec<MoveFacts<MoveCode>>) -> PositionRecord {
    PositionRecord { key: at.key(), position: Some(at.clone()), moves, ..PositionRecord::default() }
}

#[test]
fn positions_get_the_results_of_the_moves_that_lead_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let start = Position::start();
    let line =
        known(&start, vec![counted("e2e4", &start, [3, 2, 1], 8), counted("d2d4", &start, [1, 0, 0], 2)]);
    let written = write(&folder.path().join("a.kob"), &WriteOptions::default(), &[], &[line]);
    assert_eq!((written.positions, written.moves, written.left_out), (3, 2, vec![]));
    assert_eq!(names(folder.path()), ["a.kin", "a_0.kob"]);
    let book = Kvetka::open(folder.path().join("a.kob")).unwrap();
    assert_eq!(book.results(&start), Some(Counts::ended(4, 2, 1)));
    assert_eq!(book.results(&after("e2e4")), Some(Counts::ended(1, 2, 3)));
    assert_eq!(damages(&book), [""; 0]);
}

#[test]
fn weights_without_results_are_read_back_as_weights() {
    let folder = tempfile::tempdir().unwrap();
    let start = Position::start();
    let weighed = |mv, weight| MoveFacts { counts: None, ..counted(mv, &start, [0; 3], weight) };
    let line = known(&start, vec![weighed("e2e4", 65_535), weighed("d2d4", 12), weighed("a2a3", 0)]);
    let written = write(&folder.path().join("a.kob"), &WriteOptions::default(), &[], &[line]);
    assert_eq!(written.changed.len(), 1);
    assert!(written.changed[0].0.contains("their weight is written as games won and drawn"));
    assert_eq!(written.changed[0].1, 2);
    let book = Kvetka::open(folder.path().join("a_0.kob")).unwrap();
    let mut moves = Vec::new();
    book.moves(&start, &mut moves);
    // What is never played would be, as soon as another move leads to the same position.
    let mut weights: Vec<_> = moves.iter().map(|known| known.weight).collect();
    weights.sort_unstable();
    assert_eq!(weights, [12, 65_535]);
    assert_eq!(written.left_out, [("moves that are never played".to_owned(), 1)]);
}

#[test]
fn facts_that_do_not_fit_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let at = fen("8/P5k1/8/8/8/8/8/K7 w - - 0 1");
    let moves = ["a7a8q", "a7a8n", "a7a8r", "a1b1"].map(|mv| counted(mv, &at, [1, 0, 0], 2));
    let rooks = fen("rrrrkrrr/rrrrrrrr/8/8/8/8/RRRRRRRR/RRRRKRRR w - - 0 1");
    let mut other = counted("e1f2", &fen("4k3/8/8/8/8/8/8/4K3 w - - 0 1"), [1, 0, 0], 5);
    other.counts = Some(Counts { games: 3, wins: 1, draws: 0, losses: 0 });
    other.recommended = Some(Recommendation::Green);
    let positions = [
        known(&at, moves.to_vec()),
        known(&rooks, vec![]),
        known(&fen("4k3/8/8/8/8/8/8/4K3 w - - 0 1"), vec![other]),
        PositionRecord { key: 7, ..PositionRecord::default() },
    ];
    let written = write(&folder.path().join("a.kob"), &WriteOptions::default(), &[], &positions);
    let counts: Vec<u64> = written.left_out.iter().map(|(_, count)| *count).collect();
    assert_eq!(counts, [2, 2, 1, 1, 1], "{:?}", written.left_out);
}

#[test]
fn the_header_has_the_given_options() {
    let folder = tempfile::tempdir().unwrap();
    let elo = std::num::NonZeroU16::new;
    let options = WriteOptions {
        caption: "Мои партии".to_owned(),
        plies: Some(40),
        least_elo: crate::LeastElo { white: elo(1), black: elo(2), stronger: elo(3), weaker: elo(2400) },
        ..WriteOptions::default()
    };
    write(&folder.path().join("a.kob"), &options, &[], &[]);
    let book = Kvetka::open(folder.path().join("a.kob")).unwrap();
    let header = book.header().unwrap();
    assert_eq!((&*header.caption, header.plies, header.least_elo), ("Мои партии", 40, [1, 2, 3, 2400]));
    assert_eq!((header.blocks, header.has_links()), (0, true));
    let notes = book.summary(&Progress::none()).notes;
    assert!(notes.contains(&("least Elo", "White 1, Black 2, the stronger 3, the weaker 2400".to_owned())));
    assert!(notes.contains(&("plies of a game", "the first 40".to_owned())));
    // More than a byte holds is all.
    let options = WriteOptions { plies: Some(400), force: true, ..WriteOptions::default() };
    write(&folder.path().join("a.kob"), &options, &[], &[]);
    assert_eq!(Kvetka::open(folder.path().join("a.kob")).unwrap().header().unwrap().plies, 255);
}

#[test]
fn an_existing_book_is_replaced_as_a_whole_and_only_by_force() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["A_0.kob", "a_1.kob", "a_7.kob", "a.ksf", "a.kob", "a_b_0.kob", "a_x.kob"] {
        fs::write(folder.path().join(name), b"old").unwrap();
    }
    let path = folder.path().join("a.kob");
    let error = KvetkaWriter::new(&path, &WriteOptions::default()).unwrap_err();
    assert_eq!(error.remedy(), Some(Remedy::Replace), "{error}");
    let old = names(folder.path());
    // Dropped, it changes nothing.
    drop(KvetkaWriter::new(&path, &WriteOptions { force: true, ..WriteOptions::default() }).unwrap());
    assert_eq!(names(folder.path()), old);
    let line = known(&Position::start(), vec![counted("e2e4", &Position::start(), [3, 2, 1], 8)]);
    write(&path, &WriteOptions { force: true, ..WriteOptions::default() }, &[], &[line]);
    let expected = ["a.kin", "a_0.kob", "a_b_0.kob", "a_x.kob"];
    // A file system that does not tell cases apart keeps the old name.
    let mut now: Vec<_> = names(folder.path()).iter().map(|name| name.to_lowercase()).collect();
    now.sort();
    assert_eq!(now, expected);
    assert_eq!(book::open_book(&path).unwrap().warnings(), [""; 0]);
}

#[test]
fn one_file_that_cannot_be_replaced_keeps_the_others_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let all = ["a.kin", "a.ksf", "a_0.kob", "a_1.kob"];
    all.iter().for_each(|name| fs::write(folder.path().join(name), b"old").unwrap());
    let force = WriteOptions { force: true, ..WriteOptions::default() };
    for held in ["a.kin", "a_0.kob"] {
        let mut writer = Box::new(KvetkaWriter::new(&folder.path().join("a.kob"), &force).unwrap());
        writer.game(&game(1, "a.pgn")).unwrap();
        let total = Some(Counts { games: 1, wins: 1, draws: 0, losses: 0 });
        writer.add(&PositionRecord { game: Some(1), total, ..known(&after("e2e4"), vec![]) }).unwrap();
        let held = folder.path().join(held);
        fs::remove_file(&held).unwrap();
        fs::create_dir(&held).unwrap();
        let error = writer.finish().unwrap_err().to_string();
        assert!(error.ends_with("the old files are unchanged"), "{error}");
        fs::remove_dir(&held).unwrap();
        fs::write(&held, b"old").unwrap();
        assert_eq!(names(folder.path()), all);
        assert!(all.iter().all(|name| fs::read(folder.path().join(name)).unwrap() == b"old"));
    }
}

#[test]
fn games_of_several_sources_are_named_by_their_positions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kob");
    let mut games: Vec<_> = [(1, "a.pgn"), (5, "a.pgn"), (1 << 48, "b.cbh"), (2 << 48, "a.pgn")]
        .map(|(number, source)| game(number, source))
        .into();
    games[2].kind = ReferenceKind::Cbh;
    // Beyond 4 GB of its file.
    games.push(GameReference { address: 1 << 32, ..game(3 << 48, "c.pgn") });
    let lines = ["e2e4", "d2d4", "c2c4", "g1f3", "b1c3", "a2a3"].map(after);
    let numbers = [5, 1 << 48, 2 << 48, 1, 3 << 48, 77].map(Some);
    let total = Some(Counts { games: 1, wins: 1, draws: 0, losses: 0 });
    let positions: Vec<_> = lines
        .iter()
        .zip(numbers)
        .map(|(at, game)| PositionRecord { game, total, ..known(at, vec![]) })
        .collect();
    let written = write(&path, &WriteOptions::default(), &games, &positions);
    assert_eq!(written.left_out.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [1]);
    let book = Kvetka::open(&path).unwrap();
    for (at, number) in lines.iter().zip(numbers) {
        let expected = games[..4].iter().find(|game| Some(game.number) == number);
        let found = book.game(at);
        assert_eq!(found.as_ref().map(|game| &game.white), expected.map(|game| &game.white));
        assert_eq!(
            found.map(|game| (game.kind, game.source)),
            expected.map(|game| (game.kind, game.source.clone()))
        );
    }
    assert_eq!(damages(&book), [""; 0]);
    let mut listed = Vec::new();
    book.games(&mut |game| {
        listed.push(game.white);
        Ok(())
    })
    .unwrap();
    assert_eq!(listed, games[..4].iter().map(|game| game.white.clone()).collect::<Vec<_>>());
}

#[test]
fn games_are_counted_once_for_a_position_and_its_mirror() {
    // Black has lost a move in the second line: the position is the first one's with colours swapped.
    let fixture =
        Fixture::default().games("e2e4 e7e5 g1f3", [3, 1, 0]).games("e2e3 e7e5 e3e4 g8f6", [2, 0, 5]);
    let (one, other) = (after("e2e4 e7e5"), after("e2e3 e7e5 e3e4"));
    assert_eq!(Key::from_chess(one.standard().unwrap()), Key::from_chess(other.standard().unwrap()));
    let book = fixture.book();
    let results = Counts::ended(3 + 5, 1, 2);
    assert_eq!(book.results(&one), Some(results));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kob");
    write(&path, &WriteOptions::default(), &[], &all(&book, Scope::Reachable));
    let copy = Kvetka::open(&path).unwrap();
    for element in fixture.elements() {
        let at = Position::from_chess(element.key.position().unwrap());
        assert_eq!(copy.results(&at), Some(element.results), "{}", at.fen());
    }
    // As builds tell: each of the two has its own games.
    let total = |wins, draws, losses| Some(Counts { games: wins + draws + losses, wins, draws, losses });
    let positions = [
        PositionRecord { total: total(3, 1, 0), ..known(&one, vec![]) },
        PositionRecord { total: total(5, 0, 2), ..known(&other, vec![]) },
    ];
    write(&path, &WriteOptions { force: true, ..WriteOptions::default() }, &[], &positions);
    assert_eq!(Kvetka::open(&path).unwrap().results(&other), Some(results));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn positions_of_any_play_are_read_back(
        lines in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..100), 1..20),
        eager: bool,
        counts: [u8; 3],
    ) {
        let [wins, draws, losses] = counts.map(u64::from);
        let results = Counts::ended(wins, draws, losses);
        let mut positions = BTreeMap::new();
        for line in &lines {
            let at = reached(line, eager);
            let Some(key) = Key::from_chess(at.standard().unwrap()) else { continue };
            use shakmaty::Position as _;
            let moves = at.standard().unwrap().legal_moves();
            let moves = moves.iter().map(|mv| MoveFacts::new(MoveCode::from_move(*mv), 2)).collect();
            let total = Some(Counts { games: results.games, wins, draws, losses });
            positions.insert(key, PositionRecord { total, ..known(&at, moves) });
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kob");
        let all: Vec<PositionRecord> = positions.values().cloned().collect();
        write(&path, &WriteOptions::default(), &[], &all);
        let book = Kvetka::open(&path).unwrap();
        prop_assert_eq!(damages(&book), Vec::<String>::new());
        for known in positions.values() {
            let at = known.position.as_ref().unwrap();
            prop_assert_eq!(book.results(at), Some(results));
            let mut moves = Vec::new();
            book.moves(at, &mut moves);
            let normal = tabiya_chess::normal::Normal::from_chess(at.standard().unwrap()).unwrap();
            use shakmaty::Position as _;
            let coded = at.standard().unwrap().legal_moves().into_iter();
            let coded = coded.filter(|&mv| super::super::code(mv, &normal).is_some()).count();
            prop_assert_eq!(moves.len(), coded);
        }
    }
}
