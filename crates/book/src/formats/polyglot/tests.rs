//! Sound and broken books, and what the reader makes of them.

use proptest::prelude::*;
use shakmaty::{CastlingMode, Move, Position as _, Role, Square};

use tabiya_base::error::ErrorKind;
use tabiya_base::findings::summed;
use tabiya_base::interrupt::Interrupt;
use tabiya_chess::{Game, MoveCode};

use super::entry::PolyglotEntry;
use super::*;
use crate::sorted::SortedTable;
use crate::tests::{after, fen, moves, sample, uci};
use crate::{self as book, Learned, MoveFacts};

/// The position with the most legal moves known, 218.
const MANY: &str = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1";

/// A move code from its text.
pub fn raw(text: &str) -> MoveCode {
    let square = |at: usize| text[at..at + 2].parse::<Square>().unwrap();
    MoveCode::new(square(0), square(2), text[4..].chars().next().and_then(Role::from_char))
}

pub fn entry(at: &Position, mv: &str, weight: u16) -> PolyglotEntry {
    PolyglotEntry { key: at.key(), mv: raw(mv), weight, games: 0, halfpoints: 0 }
}

/// Entries as they are in a file, in this order.
pub fn bytes(entries: &[PolyglotEntry]) -> Vec<u8> {
    entries.iter().flat_map(PolyglotEntry::to_bytes).collect()
}

/// A book of lines from the start of a variant: each move of each line whose ply `keep` accepts, once, with the weight 1.
pub fn of_lines(variant: Variant, lines: &[&str], keep: impl Fn(usize) -> bool) -> Vec<PolyglotEntry> {
    let mut entries = Vec::new();
    for line in lines {
        let mut game = Game::start_of(variant);
        for (ply, uci) in line.split_whitespace().enumerate() {
            let key = game.position().key();
            assert!(game.push_uci(uci.as_bytes()), "{uci}");
            let mv = MoveCode::from_move(game.moves()[ply]);
            if keep(ply) {
                entries.push(PolyglotEntry { key, mv, weight: 1, games: 0, halfpoints: 0 });
            }
        }
    }
    entries.sort_by_key(|entry| (entry.key, entry.mv));
    entries.dedup();
    entries
}

/// Games that meet in positions of one key with other pieces in hand, or other checks given, and go on with moves that are legal in
/// one of them only.
pub const MEETING: [(Variant, [&str; 2]); 2] = [
    (
        Variant::Crazyhouse,
        [
            "e2e4 d7d5 e4d5 d8d5 d2d3 a7a5 c1d2 a8a6 d2e3 b8c6 e3f4 c6b8 P@a4 P@b6",
            "e2e4 d7d5 e4d5 d8d5 d2d3 a7a6 c1f4 a6a5 f4c7 a8a6 c7f4 P@c7 P@a4 d5d8 P@h3 e7e6",
        ],
    ),
    (
        Variant::ThreeCheck,
        [
            "e2e4 f7f6 d1h5 g7g6 h5d1 a7a6",
            "e2e4 g7g6 d1f3 f7f6 f3d1 a7a6 f1c4 e7e6 c4e6 g8h6 e6d7 b8d7 d1h5 a6a5 h5g6 h7g6",
        ],
    ),
];

pub fn polyglot(entries: &[PolyglotEntry]) -> Polyglot {
    Polyglot::new("test.bin", bytes(entries))
}

fn weights(book: &dyn Book, at: &Position) -> Vec<(String, u64)> {
    moves(book, at).into_iter().map(|known| (uci(known.mv), known.weight)).collect()
}

fn best(book: &dyn Book, at: &Position) -> Option<String> {
    book.best(at).map(uci)
}

#[test]
fn the_moves_of_a_position_are_found_among_others() {
    let (start, e4) = (Position::start(), after("e2e4"));
    let mut entries = vec![
        entry(&e4, "c7c5", 5),
        entry(&e4, "e7e5", 7),
        entry(&start, "d2d4", 3),
        entry(&start, "g1f3", 9),
    ];
    entries.sort_by_key(|entry| entry.key);
    let book = polyglot(&entries);
    assert_eq!(weights(&book, &start), [("d2d4".into(), 3), ("g1f3".into(), 9)]);
    assert_eq!(weights(&book, &e4), [("c7c5".into(), 5), ("e7e5".into(), 7)]);
    assert_eq!(weights(&book, &after("d2d4")), []);
    assert_eq!(best(&book, &start).as_deref(), Some("g1f3"));
    assert_eq!(best(&book, &after("d2d4")), None);
}

#[test]
fn a_move_is_there_as_often_as_it_is_listed() {
    let castling = fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    // Castling in both forms, a move that is not legal, and one of weight 0.
    for codes in [&["e1h1", "a1a8", "e8e7"][..], &["e1g1", "e1a1", "e1e2"], &["e1c1"], &["h1h3"], &[]] {
        let mut entries: Vec<_> = codes.iter().map(|mv| entry(&castling, mv, 0)).collect();
        entries.push(entry(&after("e2e4"), "e7e5", 1));
        entries.sort_by_key(|entry| entry.key);
        let book = polyglot(&entries);
        for at in [castling.clone(), after("e2e4"), Position::start()] {
            let listed = moves(&book, &at);
            for mv in at.chess().legal_moves() {
                assert_eq!(book.has(&at, mv), listed.iter().any(|known| known.mv == mv), "{codes:?} {mv:?}");
            }
        }
    }
}

#[test]
fn appending_moves_keeps_what_was_there() {
    let start = Position::start();
    let book = polyglot(&[PolyglotEntry { games: 1, halfpoints: 9, ..entry(&start, "e2e4", 1) }]);
    let learned = Some(Learned { games: 3, halfpoints: 3 });
    let mut out: Vec<_> = start
        .chess()
        .legal_moves()
        .iter()
        .map(|&mv| MoveFacts { learned, ..MoveFacts::new(mv, 7) })
        .collect();
    let before = out.clone();
    book.moves(&start, &mut out);
    assert_eq!(out.len(), before.len() + 1);
    assert_eq!(out[..before.len()], before);
}

#[test]
fn the_same_move_twice_counts_with_both_weights() {
    let at = fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    let twice = [
        entry(&at, "e1h1", u16::MAX),
        entry(&at, "e1d1", 65_000),
        entry(&at, "e1g1", u16::MAX),
        entry(&at, "e1d1", 65_000),
    ];
    let book = polyglot(&twice);
    assert_eq!(weights(&book, &at), [("e1g1".into(), 131_070), ("e1d1".into(), 130_000)]);
    assert_eq!(best(&book, &at).as_deref(), Some("e1g1"));
}

#[test]
fn illegal_and_null_moves_are_ignored() {
    let at = Position::start();
    let mut entries: Vec<_> =
        ["a1a1", "e2e5", "e7e5", "e1g1", "e2e4q", "e3e4", "h8h1"].map(|mv| entry(&at, mv, 900)).into();
    entries.push(PolyglotEntry { mv: MoveCode(0x8000 | raw("e2e4").0), ..entries[0] });
    entries.push(PolyglotEntry { mv: MoveCode(0x7000 | raw("e2e4").0), ..entries[0] });
    let book = polyglot(&entries);
    assert_eq!(weights(&book, &at), []);
    assert_eq!(best(&book, &at), None);
    entries.push(entry(&at, "e2e4", 1));
    assert_eq!(best(&polyglot(&entries), &at).as_deref(), Some("e2e4"));
}

#[test]
fn a_move_of_weight_0_is_given_but_is_never_the_best() {
    let at = Position::start();
    let book = polyglot(&[entry(&at, "e2e4", 0), entry(&at, "d2d4", 0)]);
    assert_eq!(weights(&book, &at), [("e2e4".into(), 0), ("d2d4".into(), 0)]);
    assert_eq!(best(&book, &at), None);
}

#[test]
fn the_first_of_equals_is_the_best() {
    let at = Position::start();
    let moves = ["e2e5", "c2c4", "e2e4", "d2d4"];
    let book = polyglot(&moves.map(|mv| entry(&at, mv, 8)));
    assert_eq!(best(&book, &at).as_deref(), Some("c2c4"));
}

#[test]
fn a_position_of_many_moves_has_its_best() {
    let at = fen(MANY);
    let legal = at.chess().legal_moves();
    assert_eq!(legal.len(), 218);
    let mut entries: Vec<_> = legal
        .iter()
        .map(|mv| PolyglotEntry {
            mv: MoveCode::new(mv.from().unwrap(), mv.to(), mv.promotion()),
            ..entry(&at, "a1a1", 5)
        })
        .collect();
    assert_eq!(polyglot(&entries).best(&at), Some(legal[0]));
    entries[100].weight = 6;
    assert_eq!(polyglot(&entries).best(&at), Some(legal[100]));
}

#[test]
fn a_book_of_one_key_is_read_up_to_a_bound() {
    let at = Position::start();
    let book = polyglot(&vec![entry(&at, "e2e4", 2); 100_000]);
    assert_eq!(weights(&book, &at), [("e2e4".into(), 2 * MAX_OF_ONE_KEY as u64)]);
    assert_eq!(best(&book, &at).as_deref(), Some("e2e4"));
}

#[test]
fn what_was_learned_is_given_if_it_can_be_trusted() {
    let at = Position::start();
    let learned = |mv, games, halfpoints| PolyglotEntry { games, halfpoints, ..entry(&at, mv, 1) };
    let both = [learned("e2e4", 10, 20), learned("d2d4", 0, 0), learned("e2e4", 60_000, 1)];
    let given = |entries: &[PolyglotEntry]| {
        let given = moves(&polyglot(entries), &at);
        given.iter().map(|known| known.learned.map(|l| (l.games, l.halfpoints))).collect::<Vec<_>>()
    };
    assert_eq!(given(&both), [Some((60_010, 21)), None]);
    // One entry with a score there, even of an illegal move, makes all entries of the position untrusted.
    let other = [both[0], learned("e2e5", 1, 3)];
    assert_eq!(given(&other), [None]);
}

#[test]
fn an_unsorted_book_is_played_as_far_as_look_ups_find() {
    let (start, e4, d4) = (Position::start(), after("e2e4"), after("d2d4"));
    let mut entries = [entry(&start, "e2e4", 1), entry(&e4, "e7e5", 1), entry(&d4, "d7d5", 1)];
    entries.sort_by_key(|entry| entry.key);
    let (low, middle, high) = (entries[0], entries[1], entries[2]);
    let book = polyglot(&[middle, high, low]);
    let found = |entry: &PolyglotEntry| {
        [&start, &e4, &d4].into_iter().filter(|at| at.key() == entry.key).any(|at| book.best(at).is_some())
    };
    assert!(found(&middle) && found(&high) && !found(&low));
    let (_, findings) = summed(|findings| book.inspect(&Progress::none(), findings));
    assert!(findings.iter().any(|finding| finding.to_string().contains("no look-up finds this position")));
}

#[test]
fn one_entry_out_of_place_hides_no_other() {
    let key = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut keys: Vec<u64> = (0..1000).map(key).collect();
    keys.sort_unstable();
    for place in [1, 250, 500, 750, 998] {
        let mut entries: Vec<_> = keys
            .iter()
            .map(|key| PolyglotEntry { key: *key, ..entry(&Position::start(), "e2e4", 1) })
            .collect();
        entries[place].key = 0;
        let data = bytes(&entries);
        let entries = PolyglotEntries::new(&data);
        let lost = keys.iter().enumerate().filter(|(at, key)| entries.lower_bound(**key) != *at);
        // A binary search that meets it loses all positions on its wrong side.
        assert!(lost.clone().count() < 20, "{place}: {}", lost.count());
    }
}

#[test]
fn bytes_after_the_last_entry_do_not_matter() {
    let at = Position::start();
    let mut data = bytes(&[entry(&at, "e2e4", 1)]);
    for _ in 0..15 {
        data.push(0x46);
        assert_eq!(weights(&Polyglot::new("odd.bin", data.clone()), &at), [("e2e4".into(), 1)]);
    }
}

#[test]
#[ignore = "needs TABIYA_SAMPLES"]
fn a_real_book_is_read() {
    let path = sample("polyglot/Perfect2021.bin");
    let book = book::open_book(path).unwrap();
    let start = moves(&*book, &Position::start());
    assert!(!start.is_empty() && start.iter().all(|known| known.weight > 0 && known.learned.is_none()));
    let summary = book.summary(&Progress::none());
    assert_eq!((summary.entries, summary.positions, summary.moves), (5387, Some(4065), Some(5387)));
    assert_eq!((summary.deepest, summary.reachable), (Some(30), Some(4065)));
    book.check(&Progress::none(), &mut |finding| assert!(!finding.is_error(), "{finding}"));
}

/// The moves of a position by reading the whole book.
fn model(entries: &[PolyglotEntry], at: &Position) -> Vec<(Move, u64)> {
    let mut moves: Vec<(Move, u64)> = Vec::new();
    for entry in entries.iter().filter(|entry| entry.key == at.key()) {
        let legal = at.chess().legal_moves().into_iter().find(|&mv| {
            MoveCode::new(mv.from().unwrap(), mv.to(), mv.promotion()) == entry.mv
                || matches!(mv, Move::Castle { .. })
                    && mv.to_uci(CastlingMode::Standard).to_string() == entry.mv.to_string()
        });
        if let Some(mv) = legal {
            match moves.iter_mut().find(|(known, _)| *known == mv) {
                Some((_, weight)) => *weight += u64::from(entry.weight),
                None => moves.push((mv, entry.weight.into())),
            }
        }
    }
    moves
}

/// Move codes that are often legal at the start, some of castling, and some garbage.
fn codes() -> impl Strategy<Value = MoveCode> {
    prop_oneof![
        (8..16_u16, prop_oneof![Just(8), Just(16)])
            .prop_map(|(from, step)| MoveCode(from << 6 | (from + step))),
        prop::sample::select(vec!["e1g1", "e1h1", "e1c1", "e1a1", "g1f3", "e8g8", "a7a8q"]).prop_map(raw),
        any::<u16>().prop_map(MoveCode),
    ]
}

proptest! {
    #[test]
    fn a_sorted_book_gives_what_reading_it_whole_gives(
        picks in prop::collection::vec((0..4_usize, codes(), 0..4_u16, 0..3_u16, 0..3_u16), 0..120),
    ) {
        let positions = [
            Position::start(),
            after("e2e4"),
            after("e2e4 e7e5 g1f3 g8f6 f1c4 f8c5"),
            fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"),
        ];
        let mut entries: Vec<_> = picks
            .into_iter()
            .map(|(place, mv, weight, games, halfpoints)| {
                PolyglotEntry { key: positions[place].key(), mv, weight, games, halfpoints }
            })
            .collect();
        entries.sort_by_key(|entry| entry.key);
        let book = polyglot(&entries);
        for at in &positions {
            let given = moves(&book, at);
            let model = model(&entries, at);
            prop_assert_eq!(given.iter().map(|known| (known.mv, known.weight)).collect::<Vec<_>>(), model.clone());
            let heaviest = model.iter().map(|(_, weight)| *weight).max().filter(|weight| *weight > 0);
            let first = model.iter().find(|(_, weight)| Some(*weight) == heaviest).map(|(mv, _)| *mv);
            prop_assert_eq!(book.best(at), first);
        }
    }

    #[test]
    fn no_bytes_make_a_book_fail(
        mut data in prop::collection::vec(any::<u8>(), 0..600),
        known in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let at = Position::start();
        for index in known {
            let (entries, _) = data.as_chunks_mut::<16>();
            if !entries.is_empty() {
                index.get_mut(entries)[..8].copy_from_slice(&at.key().to_be_bytes());
            }
        }
        let book = Polyglot::new("random.bin", data.clone());
        let given = moves(&book, &at);
        prop_assert!(given.iter().all(|known| at.chess().is_legal(known.mv)));
        prop_assert_eq!(book.best(&at).is_some(), given.iter().any(|known| known.weight > 0));
        let summary = book.summary(&Progress::none());
        prop_assert_eq!(summary.entries, data.len() as u64 / 16);
        book.check(&Progress::none(), &mut |finding| assert!(finding.offset.is_none_or(|offset| offset < data.len() as u64)));
    }
}

#[test]
fn every_position_of_a_key_is_followed() {
    for (variant, lines) in MEETING {
        // Books of both sides, and of one.
        for sides in [[true, true], [true, false], [false, true]] {
            let entries = of_lines(variant, &lines, |ply| sides[ply % 2]);
            let book = polyglot(&entries).of_variant(variant);
            let (summary, findings) = summed(|findings| book.survey(&Progress::none(), findings));
            assert_eq!(findings, [], "{variant} {sides:?}");
            let positions = book.entries().positions();
            assert_eq!((summary.reachable, summary.positions), (Some(positions), Some(positions)));
            let mut found = Vec::new();
            let left_out = book.each(Scope::Reachable, &Progress::none(), &mut |record| {
                let at = record.position.as_ref().unwrap();
                assert!(record.moves.iter().all(|facts| facts.at(at).is_some()), "{}", at.fen());
                found.extend(record.moves.iter().map(|facts| (record.key, facts.mv)));
                Ok(())
            });
            found.sort_unstable();
            let all: Vec<_> = entries.iter().map(|entry| (entry.key, entry.mv)).collect();
            assert_eq!((found, left_out.unwrap()), (all, 0), "{variant} {sides:?}");
            assert!(book.rules(&Progress::none()).contains(&variant));
        }
    }
}

#[test]
fn a_move_that_is_legal_in_no_position_of_its_key_is_damage() {
    for (variant, lines) in MEETING {
        let mut entries = of_lines(variant, &lines, |_| true);
        let shared = entries
            .chunk_by(|a, b| a.key == b.key)
            .find(|run| run.len() == 2 && run[0].key != Position::start_of(variant).key());
        let wrong = PolyglotEntry { mv: raw("a1h8"), ..shared.unwrap()[0] };
        entries.push(wrong);
        entries.sort_by_key(|entry| (entry.key, entry.mv));
        let book = polyglot(&entries).of_variant(variant);
        let damage: Vec<_> = book.damage(&Progress::none()).iter().map(ToString::to_string).collect();
        assert!(damage.len() == 1 && damage[0].starts_with("the move a1h8 is not legal in "), "{damage:?}");
    }
}

#[test]
fn castling_rights_in_the_keys_of_antichess_are_looked_up_too() {
    let line = "e2e3 b7b5 f1b5 c8a6 b5a6 b8a6 d1g4";
    let mut game = Game::start_of(Variant::Antichess);
    let mut entries = Vec::new();
    for uci in line.split(' ') {
        // The rights of the last positions: no piece but the rooks' and kings' own moves takes them away.
        let key = game.position().keys_with_castling().next().unwrap();
        assert!(game.push_uci(uci.as_bytes()), "{uci}");
        let mv = MoveCode::from_move(*game.moves().last().unwrap());
        entries.push(PolyglotEntry { key, mv, weight: 1, games: 0, halfpoints: 0 });
    }
    assert!(entries.iter().any(|entry| entry.key == Position::start().key()));
    for side in [0, 1, 2] {
        let mut entries: Vec<_> = entries
            .iter()
            .enumerate()
            .filter(|(ply, _)| side == 2 || ply % 2 == side)
            .map(|(_, entry)| *entry)
            .collect();
        entries.sort_by_key(|entry| entry.key);
        let book = polyglot(&entries).of_variant(Variant::Antichess);
        let (summary, findings) = summed(|findings| book.survey(&Progress::none(), findings));
        assert_eq!((findings, summary.reachable), (Vec::new(), Some(entries.len() as u64)));
        assert!(book.other_rules(Variant::Antichess, &Progress::none()).is_none());
        let mut at = Position::start_of(Variant::Antichess);
        for (ply, uci) in line.split(' ').enumerate() {
            let mv = uci.parse::<shakmaty::uci::UciMove>().unwrap().to_move(at.chess()).unwrap();
            let has = side == 2 || ply % 2 == side;
            assert_eq!((book.best(&at), book.has(&at, mv)), (has.then_some(mv), has), "{uci}");
            at.play(mv);
        }
    }
}

/// Castling of Black in one of two positions that have its code; in the other a rook goes to the corner.
const CASTLED: [&str; 2] = [
    "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1 e8g8",
    "a2a3 e7e6 a3a4 e8e7 b2b3 e7d6 b3b4 f8e7 c2c3 g8f6 d2d3 h8e8 h2h3 e8h8",
];

#[test]
fn what_only_looks_like_castling_is_told_apart() {
    let mut entries = of_lines(Variant::Chess, &CASTLED, |_| true);
    let castling = entries.iter().position(|entry| {
        entry.mv == raw("e8h8") && entry.key == after(CASTLED[0].rsplit_once(' ').unwrap().0).key()
    });
    let castling = entries[castling.unwrap()];
    assert_eq!(entries.iter().filter(|entry| entry.mv == raw("e8h8")).count(), 2);
    let white = entries.iter().find(|entry| entry.mv == raw("e1h1")).unwrap();
    let expected = [castling, *white].map(|entry| (entry.key, entry.mv)).into();
    assert_eq!(polyglot(&entries).castlings(&Progress::none()).unwrap(), expected);
    // In the old form, as the usual one.
    let old = entries.iter_mut().find(|entry| **entry == castling).unwrap();
    old.mv = raw("e8g8");
    let book = polyglot(&entries);
    assert_eq!(book.castlings(&Progress::none()).unwrap(), expected);
    let mut shown = std::collections::HashSet::new();
    let each = book.each(Scope::All, &Progress::none(), &mut |record| {
        shown.extend(record.moves.iter().map(|known| (record.key, known.mv)));
        Ok(())
    });
    assert!(each.is_ok() && shown.is_superset(&expected) && shown.len() == entries.len());
}

#[test]
fn what_was_read_before_changes_nothing_of_the_damage() {
    let line = "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1h1 e8h8";
    let sound = of_lines(Variant::Chess, &[line], |_| true);
    let with = |mv: &str, weight| [&sound[..], &[entry(&after("e2e4 e7e5"), mv, weight)]].concat();
    let unreached = PolyglotEntry { key: 5, ..sound[0] };
    let cases = [
        (sound.clone(), 0),
        (of_lines(Variant::Chess, &[line], |ply| ply % 2 == 0), 0),
        (with("e1e3", 1), 1),
        (with("g1f3", 1), 0),
        ([&sound[..], &[unreached]].concat(), 0),
        ([&sound[..], &[PolyglotEntry { mv: raw("a1b4"), ..unreached }]].concat(), 1),
    ];
    for (number, (mut entries, wrong)) in cases.into_iter().enumerate() {
        entries.sort_by_key(|entry| entry.key);
        let damage = |book: &Polyglot| book.damage(&Progress::none());
        let expected = damage(&polyglot(&entries));
        assert_eq!(expected.len(), wrong, "{number}: {expected:?}");
        for scope in [Scope::All, Scope::Reachable] {
            let book = polyglot(&entries);
            book.each(scope, &Progress::none(), &mut |_| Ok(())).unwrap();
            assert_eq!(damage(&book), expected, "{number}");
            book.castlings(&Progress::none()).unwrap();
            assert_eq!(damage(&book), expected, "{number}");
        }
    }
}

#[test]
fn a_walk_that_stops_early_is_forgotten() {
    // A rook's step that may be castling makes reading all of the book walk it, and a move is wrong at the end of its line.
    let mut entries = of_lines(Variant::Chess, &CASTLED, |_| true);
    entries.extend([
        entry(&after(CASTLED[0]), "e1e8", 1),
        PolyglotEntry { key: 5, mv: raw("e8g8"), ..entries[0] },
    ]);
    entries.sort_by_key(|entry| entry.key);
    let book = polyglot(&entries);
    let stopped = Interrupt::new();
    stopped.ask();
    let each = |scope| book.each(scope, &Progress::none(), &mut |_| Ok(()));
    for scope in [Scope::All, Scope::Reachable] {
        let failed = stopped.scope(|| each(scope)).unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::Interrupted);
    }
    assert!(stopped.scope(|| book.castlings(&Progress::none())).is_err());
    stopped.scope(|| book.damage(&Progress::none()));
    assert!(each(Scope::All).is_ok());
    assert_eq!(book.damage(&Progress::none()).len(), 1);
    assert_eq!(book.castlings(&Progress::none()).unwrap().len(), 2);
}
