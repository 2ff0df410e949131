//! Books that are written and read back.

use tabiya_chess::MoveCode;

use super::*;
use crate::choose::{Policy, chances};
use crate::ctg::Ctg;
use crate::tests::{every, mv};
use crate::{
    Annotation, MoveFacts, PositionRecord, Recommendation, Scope, WriteOptions, Written, plain_weights,
};

fn write(book: &[PositionRecord]) -> (Abk, Written) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ABK");
    let mut writer = book::create_book(&path, &WriteOptions::default()).unwrap();
    assert!(writer.needs_positions() && writer.holds_verdicts());
    let mut book: Vec<&PositionRecord> = book.iter().collect();
    book.sort_by_key(|known| known.key);
    for known in book {
        writer.add(known).unwrap();
    }
    let written = writer.finish().unwrap();
    assert_eq!(written.files, std::slice::from_ref(&path));
    (Abk::new(&path, std::fs::read(&path).unwrap()).unwrap(), written)
}

/// A move of a position with its weight and its counts: games, wins, draws, losses of the mover.
fn facts(
    at: &Position,
    uci: &str,
    weight: u64,
    [games, wins, draws, losses]: [u64; 4],
) -> MoveFacts<MoveCode> {
    let counts = Some(Counts { games, wins, draws, losses });
    MoveFacts { counts, ..MoveFacts::new(MoveCode::from_move(mv(at, uci)), weight) }
}

fn record_of(line: &str, moves: impl Fn(&Position) -> Vec<MoveFacts<MoveCode>>) -> PositionRecord {
    let at = after(line);
    PositionRecord { key: at.key(), moves: moves(&at), position: Some(at), ..PositionRecord::default() }
}

/// Positions with moves of these weights, without counts.
fn plain(line: &str, moves: &[(&str, u64)]) -> PositionRecord {
    record_of(line, |at| {
        moves
            .iter()
            .map(|(uci, weight)| MoveFacts { counts: None, ..facts(at, uci, *weight, [0; 4]) })
            .collect()
    })
}

fn priorities(book: &Abk) -> Vec<u8> {
    Records::new(&book.data).iter().map(|(_, record)| record.priority).collect()
}

#[test]
fn a_tree_is_in_the_order_of_its_lines() {
    let known = [
        record_of("", |at| vec![facts(at, "e2e4", 5, [4, 2, 1, 1]), facts(at, "d2d4", 8, [5, 3, 2, 0])]),
        record_of("e2e4", |at| vec![facts(at, "e7e5", 3, [4, 1, 1, 2])]),
        record_of("d2d4", |at| vec![facts(at, "d7d5", 2, [3, 0, 2, 1]), facts(at, "g8f6", 0, [2, 0, 0, 2])]),
    ];
    let (book, written) = write(&known);
    assert_eq!(findings(&book), []);
    assert_eq!((written.positions, written.moves, written.left_out), (3, 5, vec![]));
    let records: Vec<_> = Records::new(&book.data)
        .iter()
        .map(|(number, record)| {
            let AbkRecord { games, white_wins, white_losses, child, sibling, priority, .. } = record;
            let mv = record.mv().unwrap().to_string();
            (number, mv, [games, white_wins, white_losses], child, sibling, priority)
        })
        .collect();
    let expected = [
        (900, "d2d4", [5, 3, 0], 901, 903, 5),
        (901, "d7d5", [3, 1, 0], -1, 902, 5),
        (902, "g8f6", [2, 2, 0], -1, -1, 0),
        (903, "e2e4", [4, 2, 1], 904, -1, 5),
        (904, "e7e5", [4, 2, 1], -1, -1, 5),
    ];
    assert_eq!(records, expected.map(|(a, mv, b, c, d, e)| (a, mv.to_owned(), b, c, d, e)));
    let header = AbkHeader::read(&book.data);
    assert_eq!((header.comment.as_str(), header.live_records), ("written by tabiya", 5));
    let counts = |line: &str| moves(&book, &after(line)).into_iter().map(|known| known.counts.unwrap());
    assert_eq!(counts("e2e4").next(), Some(Counts { games: 4, wins: 1, draws: 1, losses: 2 }));
    // Weights follow from results: the heavier move stays first.
    assert_eq!(names(&book, ""), ["d2d4", "e2e4"]);
    assert_eq!(weights(&book, "d2d4")[1], ("g8f6".to_owned(), 0));
}

#[test]
fn a_position_on_several_paths_is_written_once() {
    let known = [
        plain("", &[("g1f3", 9), ("c2c4", 8)]),
        plain("g1f3", &[("g8f6", 1)]),
        plain("c2c4", &[("g8f6", 1)]),
        plain("g1f3 g8f6", &[("c2c4", 1), ("f3g1", 1)]),
        plain("c2c4 g8f6", &[("g1f3", 1)]),
        plain("g1f3 g8f6 f3g1", &[("f6g8", 1)]),
        plain("g1f3 g8f6 c2c4", &[("e7e6", 3), ("b7b6", 1)]),
    ];
    let (book, written) = write(&known);
    // The knights go back: a cycle in the book is none in the file.
    assert_eq!((findings(&book), written.moves, written.positions), (vec![], 10, 7));
    for line in ["g1f3 g8f6 c2c4", "c2c4 g8f6 g1f3"] {
        assert_eq!(names(&book, line), ["b7b6", "e7e6"]);
    }
    assert_eq!(names(&book, "g1f3 g8f6 f3g1 f6g8"), ["c2c4", "g1f3"]);
    let back = every(&book, Scope::All);
    assert_eq!(back.len(), known.len());
}

#[test]
fn links_connect_the_book() {
    // White's moves alone, and a position after a move that the book does not have.
    let known = [
        plain("", &[("e2e4", 3), ("d2d4", 1)]),
        plain("e2e4 e7e5", &[("g1f3", 1)]),
        plain("e2e4 c7c5", &[("g1f3", 1)]),
        plain("e2e4 c7c5 g1f3 d7d6", &[("d2d4", 1)]),
        plain("g2g4", &[("d7d5", 1)]),
    ];
    let (book, written) = write(&known);
    assert_eq!((findings(&book), written.left_out), (vec![], vec![]));
    assert_eq!((written.positions, written.moves), (5, 10));
    assert_eq!(names(&book, ""), ["d2d4", "e2e4", "g2g4"]);
    assert_eq!(names(&book, "e2e4"), ["c7c5", "e7e5"]);
    assert_eq!(names(&book, "e2e4 c7c5 g1f3"), ["d7d6"]);
    assert!(book.best(&after("e2e4")).is_none());
    assert_eq!(priorities(&book).iter().filter(|priority| **priority == 0).count(), 4);
    for known in &known {
        let at = known.position.as_ref().unwrap();
        let playable = moves(&book, at).iter().filter(|known| known.weight > 0).count();
        assert_eq!(playable, known.moves.len());
    }
    // Black's moves alone: the book does not have the start.
    let known = [plain("e2e4", &[("e7e5", 1)]), plain("e2e4 e7e5 g1f3", &[("b8c6", 1)])];
    let (book, written) = write(&known);
    assert_eq!((written.positions, written.moves, written.left_out), (2, 4, vec![]));
    assert_eq!(names(&book, "e2e4 e7e5 g1f3"), ["b8c6"]);
    // Links bridge one ply, not two.
    let (_, written) = write(&[plain("", &[("e2e4", 1)]), plain("d2d4 d7d5", &[("c2c4", 1)])]);
    assert_eq!((written.moves, written.left_out[0].1), (1, 1));
}

#[test]
fn the_priority_is_what_games_and_results_do_not_explain() {
    let of = |moves: &[(&str, u64)]| priorities(&write(&[plain("", moves)]).0);
    assert_eq!(of(&[("e2e4", 100), ("d2d4", 100), ("c2c4", 0)]), [5, 5, 0]);
    assert_eq!(of(&[("e2e4", 65_535), ("d2d4", 32_768), ("c2c4", 7_000), ("h2h3", 1)]), [9, 5, 1, 1]);
    assert_eq!(of(&[("e2e4", u64::MAX), ("d2d4", 0)]), [5, 0]);
    let counted = |weights: [u64; 3]| {
        let known = record_of("", |at| {
            vec![
                facts(at, "e2e4", weights[0], [40, 10, 20, 10]),
                facts(at, "d2d4", weights[1], [20, 5, 10, 5]),
                facts(at, "c2c4", weights[2], [10, 0, 0, 10]),
            ]
        });
        let (book, _) = write(&[known]);
        (priorities(&book), weights_of(&book))
    };
    fn weights_of(book: &Abk) -> Vec<u64> {
        moves(book, &Position::start()).iter().map(|known| known.weight).collect()
    }
    assert_eq!(counted([40, 20, 0]).0, [5, 5, 0]);
    assert_eq!(counted([80, 40, 0]).0, [5, 5, 0]);
    // A third of the weight by its results.
    assert_eq!(counted([120, 20, 0]).0, [9, 3, 0]);
    let (_, weights) = counted([120, 20, 0]);
    assert!((weights[0] as f64 / weights[1] as f64 - 6.0).abs() < 0.4, "{weights:?}");
}

#[test]
fn moves_ruled_out_by_verdicts_have_priority_0() {
    let mut known = plain("", &[("e2e4", 3), ("d2d4", 9), ("c2c4", 3), ("g1f3", 3)]);
    known.moves[0].recommended = Some(Recommendation::Green);
    known.moves[2].recommended = Some(Recommendation::Green);
    known.moves[2].annotation = Some(Annotation::Dubious);
    known.moves[3].recommended = Some(Recommendation::Red);
    let (book, _) = write(&[known]);
    let played: Vec<_> = weights(&book, "").into_iter().filter(|(_, weight)| *weight > 0).collect();
    assert_eq!((played.len(), played[0].0.as_str(), book.index().all().len()), (1, "e2e4", 4));
}

#[test]
fn factors_act_without_any_colour_or_mark() {
    let mut known = plain("", &[("a2a3", 40), ("e2e4", 40), ("d2d4", 40)]);
    known.moves[0].factor = Some(-125);
    known.moves[1].factor = Some(125);
    let (book, _) = write(&[known]);
    // Twice as often, and not 9 to 5.
    assert_eq!(priorities(&book), [8, 4, 0]);
    assert_eq!(weights(&book, "").last(), Some(&("a2a3".to_owned(), 0)));
}

#[test]
fn every_mark_and_colour_is_counted() {
    let mut known = plain("", &[("e2e4", 3), ("d2d4", 9), ("c2c4", 3), ("g1f3", 3)]);
    known.moves[0].annotation = Some(Annotation::Other(0x24));
    known.moves[1].annotation = Some(Annotation::Good);
    known.moves[2].recommended = Some(Recommendation::Red);
    let (_, written) = write(&[known]);
    let what = "marks or colors of moves, which act only through the priorities";
    assert_eq!(written.left_out, [(what.to_owned(), 3)]);
}

#[test]
fn what_the_format_cannot_hold_is_counted() {
    let mut start = plain("", &[("e2e4", 1)]);
    start.comment = Some("=".to_owned());
    start.moves[0].annotation = Some(Annotation::Good);
    start.moves[0].learned = Some(crate::Learned { games: 1, halfpoints: 1 });
    start.moves[0].ratings = Some(crate::Ratings { average: Some(2500), performance: None });
    start.moves[0].counts = Some(Counts { games: 1 << 33, wins: 1 << 32, draws: 1 << 31, losses: 1 << 30 });
    start.moves.push(MoveFacts::new(MoveCode::new(shakmaty::Square::E2, shakmaty::Square::E5, None), 1));
    let known =
        [start, plain("d2d4 e7e5", &[("d4e5", 1)]), PositionRecord { key: 1, ..PositionRecord::default() }];
    let (book, written) = write(&known);
    let expected = [
        "positions that no line from the start reaches",
        "positions known only by their keys",
        "moves that are not legal in their position",
        "marks or colors of moves, which act only through the priorities",
        "ratings of moves",
        "learned results of moves",
        "comments",
    ];
    assert_eq!(written.left_out, expected.map(|what| (what.to_owned(), 1)));
    let halved = "moves with more games than the format can count (all counts are halved until they fit)";
    assert_eq!(written.changed, [(halved.to_owned(), 1)]);
    let counts = moves(&book, &Position::start())[0].counts.unwrap();
    assert_eq!((counts.games, counts.wins, counts.losses), (1 << 30, 1 << 29, 1 << 27));
    let (empty, written) = write(&[plain("d2d4 d7d5", &[("c2c4", 1)])]);
    assert_eq!((empty.index().all().len(), written.moves), (0, 0));
}

#[test]
fn castling_and_every_promotion_come_back() {
    let promotions =
        "e2e4 b7b5 f1b5 a7a6 b5a6 b8c6 g1f3 h7h5 a6b7 h5h4 a2a4 h4h3 a4a5 h3g2 a5a6 c8b7 a6b7 c6d4";
    let castling = "e2e4 e7e5 g1f3 d8h4 f1c4 b8c6 d2d3 d7d6 c1d2 c8g4 b1c3";
    for (line, expected) in [
        (promotions, vec!["b7a8b", "b7a8n", "b7a8q", "b7a8r"]),
        (castling, vec!["e8c8"]),
        (&castling[..castling.len() - 5], vec!["e1g1"]),
    ] {
        let plies: Vec<&str> = line.split(' ').collect();
        let mut known: Vec<PositionRecord> =
            (0..plies.len()).map(|ply| plain(&plies[..ply].join(" "), &[(plies[ply], 1)])).collect();
        known.push(plain(line, &expected.iter().map(|uci| (*uci, 1)).collect::<Vec<_>>()));
        let (book, _) = write(&known);
        assert_eq!(
            (findings(&book), names(&book, line)),
            (vec![], expected.into_iter().map(str::to_owned).collect())
        );
    }
}

#[test]
#[ignore = "needs TABIYA_SAMPLES"]
fn perfect2021_comes_back_as_it_was() {
    let path = sample("abk/Perfect2021.abk");
    let theirs = Abk::new(&path, std::fs::read(&path).unwrap()).unwrap();
    let live = |book: &Abk| Records::new(&book.data).iter().filter(|(_, record)| !record.deleted()).count();
    assert_eq!(live(&theirs) as i32, AbkHeader::read(&theirs.data).live_records);
    let known = every(&theirs, Scope::All);
    let (ours, written) = write(&known);
    assert_eq!(live(&ours) as i32, AbkHeader::read(&ours.data).live_records);
    assert_eq!((findings(&ours), &written.left_out), (vec![], &vec![]));
    let back = every(&ours, Scope::All);
    assert_eq!(back.len(), known.len());
    let policy = Policy { threshold: 0, ..Policy::default() };
    let mut most: f64 = 0.0;
    for (ours, theirs) in back.iter().zip(&known) {
        assert_eq!(ours.key, theirs.key);
        let chances_of = |known: &PositionRecord| {
            let at = known.position.as_ref().unwrap();
            let moves: Vec<_> = known.moves.iter().filter_map(|known| known.at(at)).collect();
            let mut out = Vec::new();
            chances(&moves, &policy, |_| true, &mut out);
            let mut all: Vec<_> =
                known.moves.iter().zip(out).map(|(known, chance)| (known.mv, known.counts, chance)).collect();
            all.sort_by_key(|(mv, ..)| mv.0);
            all
        };
        for (ours, theirs) in chances_of(ours).into_iter().zip(chances_of(theirs)) {
            assert_eq!((ours.0, ours.1), (theirs.0, theirs.1));
            assert_eq!(ours.2 > 0.0, theirs.2 > 0.0);
            most = most.max((ours.2 - theirs.2).abs());
        }
    }
    println!(
        "Perfect2021.abk again: {} moves of {} positions, chances off by at most {most:.3}",
        written.moves, written.positions
    );
    // A priority is a whole number from 1 to 9.
    assert!(most < 0.05, "{most}");
}

#[test]
#[ignore = "needs TABIYA_SAMPLES"]
fn a_ctg_book_becomes_a_tree_with_its_counts() {
    let path = sample("ctg/perfect2021/Perfect2021.ctg");
    let theirs = Ctg::open(&path).unwrap();
    let mut known = every(&theirs, Scope::Reachable);
    let (ours, written) = write(&known);
    assert_eq!(findings(&ours), []);
    println!("Perfect2021.ctg as .abk: {written:?}");
    known.iter_mut().for_each(plain_weights);
    let policy = Policy { threshold: 0, ..Policy::default() };
    let mut places = 0;
    for theirs in known.iter().filter(|known| !known.moves.is_empty()) {
        let at = theirs.position.as_ref().unwrap();
        let ours = moves(&ours, at);
        assert_eq!(ours.len(), theirs.moves.len());
        let mut out = Vec::new();
        chances(&ours, &policy, |_| true, &mut out);
        for (ours, chance) in ours.iter().zip(out) {
            let raw = MoveCode::from_move(ours.mv);
            let theirs = theirs.moves.iter().find(|known| known.mv == raw).unwrap();
            let (ours, counts) = (ours.counts.unwrap(), theirs.counts.unwrap());
            assert_eq!((ours.games, ours.wins, ours.losses), (counts.games, counts.wins, counts.losses));
            assert_eq!(chance > 0.0, theirs.weight > 0, "{}", at.fen());
        }
        places += 1;
    }
    assert_eq!(written.positions, places);
    assert_eq!(written.left_out.len(), 3, "{:?}", written.left_out);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(64, 256)))]

    #[test]
    fn random_books_come_back(
        lines in prop::collection::vec(prop::collection::vec(prop_oneof![0..3_u8, any::<u8>()], 0..40), 0..20),
        weights in prop::collection::vec(prop_oneof![Just(0_u64), 1..20_u64, any::<u64>()], 1..20),
    ) {
        let mut book: BTreeMap<u64, PositionRecord> = BTreeMap::new();
        let mut weights = weights.iter().cycle();
        for line in &lines {
            let mut position = Position::start();
            for step in line {
                let mut legal: Vec<_> = position.chess().legal_moves().into_iter().collect();
                legal.sort_by_key(|mv| (mv.role() != Role::Knight, mv.to_string()));
                let Some(&mv) = legal.get(usize::from(*step) % legal.len().max(1)) else { break };
                let known = book.entry(position.key()).or_insert_with(|| PositionRecord {
                    key: position.key(),
                    position: Some(position.clone()),
                    ..PositionRecord::default()
                });
                let raw = MoveCode::from_move(mv);
                let weight = *weights.next().unwrap();
                let counts = Counts { games: 3, wins: 1, draws: 1, losses: 1 };
                if known.moves.iter().all(|known| known.mv != raw) {
                    known.moves.push(MoveFacts { counts: Some(counts), ..MoveFacts::new(raw, weight) });
                }
                position.play(mv);
            }
        }
        // Positions after one that is taken out are not reached, or on another path.
        let out: Vec<u64> = book.keys().copied().filter(|key| key % 16 == 0 && *key != Position::start().key()).collect();
        out.iter().for_each(|key| drop(book.remove(key)));
        let known: Vec<PositionRecord> = book.values().cloned().collect();
        let (written_book, written) = write(&known);
        let damages: Vec<_> = findings(&written_book).into_iter().filter(|(.., serious)| *serious).collect();
        prop_assert_eq!(damages, vec![]);
        let mut reached = std::collections::HashSet::new();
        let mut waiting = vec![Position::start()];
        let mut between = std::collections::HashSet::new();
        while let Some(position) = waiting.pop() {
            let ours: Vec<_> = moves(&written_book, &position).into_iter().map(MoveFacts::from).collect();
            if ours.is_empty() || !reached.insert(position.key()) {
                continue;
            }
            let Some(theirs) = book.get(&position.key()) else {
                // A position of links.
                prop_assert!(ours.iter().all(|known| known.weight == 0));
                between.insert(position.key());
                waiting.extend(ours.iter().map(|known| position.after(known.at(&position).unwrap().mv)));
                continue;
            };
            for theirs in &theirs.moves {
                let ours = ours.iter().find(|ours| ours.mv == theirs.mv).unwrap();
                prop_assert_eq!(ours.counts, theirs.counts);
                prop_assert_eq!(ours.weight > 0, theirs.weight > 0);
            }
            for more in ours.iter().filter(|ours| theirs.moves.iter().all(|theirs| theirs.mv != ours.mv)) {
                prop_assert_eq!((more.weight, more.counts.unwrap().games), (0, 0));
                let next = position.after(more.at(&position).unwrap().mv);
                prop_assert!(book.contains_key(&next.key()));
            }
            // Positions after legal moves are reached.
            for mv in position.chess().legal_moves() {
                let next = position.after(mv);
                prop_assert!(!book.contains_key(&next.key()) || !written_book.index().of_key(next.key()).is_empty());
            }
            waiting.extend(ours.iter().map(|known| position.after(known.at(&position).unwrap().mv)));
        }
        prop_assert_eq!(written.positions as usize, reached.len() - between.len());
        prop_assert_eq!(written_book.index().all().len() as u64, written.moves);
        let left = known.len() - (reached.len() - between.len());
        let reported = written.left_out.first().map_or(0, |(_, count)| *count);
        prop_assert_eq!(reported as usize, left);
    }
}
