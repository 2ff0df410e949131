//! Sound books: signatures, statistics, colours, the order of preference.

use std::sync::Arc;

use proptest::prelude::*;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Position as _, Setup};

use tabiya_chess::Position;
use tabiya_chess::normal::Normal;
use tabiya_testing::played;

use super::super::signature::{Signature, decode};
use super::{Fixture, Known};
use crate::tests::{after, fen, moves, mv, uci};
use crate::traits::Book;
use crate::{Annotation, BookSet, Counts, Ratings, Recommendation, verdict};

fn signature(chess: &Chess) -> Vec<u8> {
    Signature::from_chess(chess).unwrap().bytes().to_vec()
}

fn setup(chess: &Chess) -> Setup {
    chess.to_setup(EnPassantMode::PseudoLegal)
}

fn position(setup: Setup) -> Chess {
    setup.position(CastlingMode::Standard).unwrap()
}

proptest! {
    #[test]
    fn a_signature_is_read_back_as_the_normal_form(
        steps in prop::collection::vec(any::<prop::sample::Index>(), 0..200),
    ) {
        let chess = played(Chess::default(), &steps);
        let bytes = signature(&chess);
        let back = decode(&bytes).unwrap();
        prop_assert!(back.turn().is_white());
        prop_assert_eq!(signature(&back), bytes);
        let normal = Normal::from_chess(&back).unwrap();
        prop_assert!(!normal.frame.swapped && !normal.frame.mirrored);
        prop_assert_eq!(back.legal_moves().len(), chess.legal_moves().len());
        // The same board in another form.
        let mut expected = setup(&chess);
        let frame = Normal::from_chess(&chess).unwrap().frame;
        if frame.swapped {
            expected.mirror();
        }
        if frame.mirrored {
            expected.board.flip_horizontal();
        }
        prop_assert_eq!(setup(&back).board, expected.board);
        prop_assert_eq!(setup(&back).castling_rights, expected.castling_rights);
    }

    #[test]
    fn mirrored_positions_have_one_signature(
        steps in prop::collection::vec(any::<prop::sample::Index>(), 0..200),
    ) {
        let chess = played(Chess::default(), &steps);
        let mut swapped = setup(&chess);
        swapped.mirror();
        prop_assert_eq!(signature(&position(swapped)), signature(&chess));
        let mut flipped = setup(&chess);
        if flipped.castling_rights.is_empty() {
            flipped.board.flip_horizontal();
            flipped.ep_square = flipped.ep_square.map(|square| square.flip_horizontal());
            prop_assert_eq!(signature(&position(flipped)), signature(&chess));
        }
    }

    #[test]
    fn any_bytes_are_a_position_or_none(mut bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        if let Some(head) = bytes.first().copied() {
            bytes.truncate(usize::from(head & 0x1f));
        }
        if let Ok(chess) = decode(&bytes) {
            prop_assert!(Signature::from_chess(&chess).is_some());
        }
    }
}

#[test]
fn what_the_format_cannot_hold_has_no_signature() {
    let many = "QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQ2/8/k1K5 b - - 0 1";
    assert!(Signature::from_chess(fen(many).standard().unwrap()).is_none());
    let other =
        Position::from_fen(b"1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1", CastlingMode::Chess960).unwrap();
    assert!(Signature::from_chess(other.standard().unwrap()).is_none());
    let none = Position::from_fen(b"1r2k1r1/8/8/8/8/8/8/1R2K1R1 w - - 0 1", CastlingMode::Chess960).unwrap();
    assert!(Signature::from_chess(none.standard().unwrap()).is_some());
    let as_ever =
        Position::from_fen(b"r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", CastlingMode::Chess960).unwrap();
    let standard = fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    assert_eq!(signature(as_ever.standard().unwrap()), signature(standard.standard().unwrap()));
    assert!(Fixture::new(0).book().best(&other).is_none());
}

#[test]
fn a_moves_statistics_are_those_of_the_position_after_it() {
    let start = Position::start();
    let ratings = [10, 25_000, 5, 13_500];
    let next = Known { counts: [10, 2, 5, 3], ratings, recommendation: 0xa4, moves: vec![] };
    let book = Fixture::new(3)
        .with(&start, "e2e4:1 d2d4 a2a3:6", [99, 1, 1, 1], 0)
        .known(&after("e2e4"), next)
        .with(&after("d2d4"), "", [4, 1, 1, 1], 0x40)
        .book();
    assert_eq!((book.format(), book.files().len()), (crate::ctg::FORMAT, 3));
    let [e4, d4, a3] = moves(&book, &start)[..] else { panic!() };
    assert_eq!([&e4, &d4, &a3].map(|known| uci(known.mv)), ["e2e4", "d2d4", "a2a3"]);
    assert_eq!(e4.counts, Some(Counts { games: 10, wins: 5, draws: 3, losses: 2 }));
    assert_eq!(
        (e4.weight, e4.annotation, e4.recommended),
        (13, Some(Annotation::Good), Some(Recommendation::Green))
    );
    // 65 % of the points against opponents of 2500.
    assert_eq!(e4.ratings, Some(Ratings { average: Some(2700), performance: Some(2608) }));
    assert_eq!((d4.weight, d4.annotation, d4.recommended), (3, None, Some(Recommendation::Red)));
    assert_eq!((a3.weight, a3.counts, a3.annotation), (0, None, Some(Annotation::Dubious)));
    assert_eq!((a3.recommended, a3.ratings), (None, None));
    let own = book.entry(&start).unwrap();
    assert_eq!((own.statistics().games, own.moves.len()), (99, 3));
    assert!(book.entry(&after("e2e4 e7e5")).is_none());
}

#[test]
fn a_repeated_move_is_given_once_also_in_a_mirrored_position() {
    let start = fen("4k3/8/8/8/8/8/8/2K4R b - - 0 1");
    let book = Fixture::new(1).with(&start, "e8d7 e8d7:6 e8f7", [0; 4], 0).book();
    let shown = |at: &str| moves(&book, &fen(at)).iter().map(|known| uci(known.mv)).collect::<Vec<_>>();
    assert_eq!(shown("4k3/8/8/8/8/8/8/2K4R b - - 0 1"), ["e8d7", "e8f7"]);
    assert_eq!(shown("3k4/8/8/8/8/8/8/R4K2 b - - 0 1"), ["d8e7", "d8c7"]);
    assert_eq!(shown("2k4r/8/8/8/8/8/8/4K3 w - - 0 1"), ["e1d2", "e1f2"]);
    assert_eq!(shown("r4k2/8/8/8/8/8/8/3K4 w - - 0 1"), ["d1e2", "d1c2"]);
    assert_eq!(shown("r4k2/8/8/8/8/8/8/3K4 b - - 0 1"), [""; 0]);
}

#[test]
fn illegal_en_passant_may_be_left_out() {
    let pinned = "4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1";
    let without = "4r1k1/8/8/3pP3/8/8/8/4K3 w - - 0 1";
    let free = "6k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1";
    let free_without = "6k1/8/8/3pP3/8/8/8/4K3 w - - 0 1";
    let of = |written: &str, asked: &str| {
        let book = Fixture::new(2).with(&fen(written), "e1d2", [0; 4], 0).book();
        book.entry(&fen(asked)).is_some()
    };
    assert!(of(pinned, pinned) && of(without, pinned) && !of(pinned, without));
    assert!(of(free, free) && !of(free_without, free) && !of(free, free_without));
    let book = Fixture::new(0).with(&fen(free), "e5d6 e5e6", [0; 4], 0).book();
    assert_eq!(
        moves(&book, &fen(free)).iter().map(|known| uci(known.mv)).collect::<Vec<_>>(),
        ["e5d6", "e5e6"]
    );
}

#[test]
fn without_results_all_moves_weigh_one() {
    let start = Position::start();
    let weights = |book: &dyn Book| moves(book, &start).iter().map(|known| known.weight).collect::<Vec<_>>();
    let bare = Fixture::new(0).with(&start, "e2e4 d2d4:6 c2c4", [0; 4], 0);
    assert_eq!(weights(&bare.book()), [1, 1, 1]);
    let unfinished = bare.clone().with(&after("e2e4"), "", [7, 0, 0, 0], 0);
    assert_eq!(weights(&unfinished.book()), [1, 1, 1]);
    let lost = bare.with(&after("c2c4"), "", [7, 7, 0, 0], 0);
    assert_eq!(weights(&lost.book()), [0, 0, 0]);
    assert_eq!(lost.book().best(&start), None);
}

#[test]
fn the_best_move_is_the_heaviest_that_tournaments_play() {
    let start = Position::start();
    let best = |moves: &str, next: &[(&str, [u32; 4], u8)]| {
        let fixture = Fixture::new(2).with(&start, moves, [0; 4], 0);
        let add = |fixture: Fixture, (mv, counts, colour): &(&str, [u32; 4], u8)| {
            fixture.with(&after(mv), "", *counts, *colour)
        };
        let book = next.iter().fold(fixture, add).book();
        book.best(&start).map(|mv| mv.to_uci(CastlingMode::Standard).to_string()).unwrap_or_default()
    };
    let (e4, d4) = (("e2e4", [9, 0, 9, 0], 0), ("d2d4", [5, 0, 5, 0], 0));
    assert_eq!(best("d2d4 e2e4", &[e4, d4]), "e2e4");
    assert_eq!(best("d2d4 e2e4:6", &[e4, d4]), "d2d4");
    assert_eq!(best("d2d4 e2e4", &[("e2e4", [9, 0, 9, 0], 0x40), d4]), "d2d4");
    assert_eq!(best("d2d4 e2e4", &[e4, ("d2d4", [0; 4], 0x80)]), "d2d4");
    assert_eq!(best("d2d4 e2e4 a2a3:8", &[e4, ("d2d4", [0; 4], 0x80)]), "a2a3");
    assert_eq!(best("d2d4:2 e2e4:4 a2a3:6", &[e4]), "");
    assert_eq!(best("d2d4 e2e4", &[]), "d2d4");
    assert_eq!(best("", &[]), "");
}

#[test]
fn the_best_move_and_its_line_follow_factors_unless_they_are_switched_off() {
    let book = Fixture::new(2)
        .with(&Position::start(), "e2e4", [0; 4], 0)
        .with(&after("e2e4"), "e7e5 c7c5", [1, 0, 1, 0], 0)
        .with(&after("e2e4 e7e5"), "g1f3", [9, 0, 9, 0], 0)
        .factor(-125)
        .with(&after("e2e4 c7c5"), "", [5, 0, 5, 0], 0)
        .with(&after("e2e4 e7e5 g1f3"), "", [5, 0, 5, 0], 0)
        .book();
    let at = after("e2e4");
    assert_eq!(book.best(&at).map(uci).as_deref(), Some("c7c5"));
    assert_eq!(verdict::best(&book, &at, false).map(uci).as_deref(), Some("e7e5"));
    let mut set = BookSet::new(&[], &[], &[Arc::new(book)]);
    // What is remembered of one policy does not serve another.
    for (factor, plies) in [(true, 2), (false, 3), (true, 2)] {
        let policy = crate::Policy { factor, ..crate::Policy::default() };
        let reading = policy.reading(Color::White, 0);
        let first = mv(&Position::start(), "e2e4");
        assert_eq!(set.line_of(reading, &Position::start(), first, 9, &mut Vec::new()), plies);
    }
}

#[test]
fn lines_follow_the_most_played_moves_where_the_policy_plays_them() {
    let (black_won, white_won) = ([9, 9, 0, 0], [4, 0, 4, 0]);
    let book = Fixture::new(2)
        .with(&Position::start(), "e2e4", [0; 4], 0)
        .with(&after("e2e4"), "e7e5 c7c5", [1, 0, 1, 0], 0)
        .with(&after("e2e4 e7e5"), "g1f3", white_won, 0)
        .with(&after("e2e4 e7e5 g1f3"), "", white_won, 0)
        .with(&after("e2e4 c7c5"), "", black_won, 0)
        .book();
    let mut set = BookSet::new(&[], &[], &[Arc::new(book)]);
    let mut plies = |weights| {
        let policy = crate::Policy { weights, ..crate::Policy::default() };
        let first = mv(&Position::start(), "e2e4");
        set.line_of(policy.reading(Color::White, 0), &Position::start(), first, 9, &mut Vec::new())
    };
    // What is remembered of one policy does not serve another.
    for _ in 0..2 {
        assert_eq!((plies(crate::Weights::Points), plies(crate::Weights::Games)), (3, 2));
    }
}

#[test]
fn a_summary_counts_what_is_reached() {
    let book = Fixture::new(2)
        .with(&Position::start(), "e2e4 d2d4", [0; 4], 0)
        .with(&after("e2e4"), "e7e5", [0; 4], 0)
        .with(&after("e2e4 e7e5"), "", [0; 4], 0)
        .with(&after("c2c4"), "e7e5", [0; 4], 0)
        .book();
    let summary = book.summary(&tabiya_base::progress::Progress::none());
    assert_eq!((summary.entries, summary.positions, summary.moves), (4, Some(4), Some(4)));
    assert_eq!((summary.games, summary.deepest, summary.reachable), (Some(77), Some(2), Some(3)));
    let found = &summary.findings[..];
    assert!(found.len() == 1 && !found[0].is_error(), "{found:?}");
    assert_eq!(found[0].what, "2 moves that lead to positions that the book does not have");
}
