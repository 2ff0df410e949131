use super::*;
use crate::tests::{LineBook, after};
use proptest::prelude::*;

/// The positions that [`each_reachable`] shows, and how many of all it says that it leaves out.
fn each(book: &LineBook, all: u64) -> (Vec<String>, u64) {
    let mut seen = Vec::new();
    let left_out = each_reachable(book, all, &Progress::none(), &mut |record| {
        let at = record.position.as_ref().unwrap();
        assert_eq!((record.key, record.moves.len()), (at.key(), book.moves[&at.key()].len()));
        seen.push(at.fen());
        Ok(())
    });
    (seen, left_out.unwrap())
}

impl Graph for &LineBook {
    fn numbers(&self) -> u64 {
        self.moves.len() as u64
    }

    fn entry(&self, at: &Position) -> Option<u64> {
        self.moves.keys().position(|key| *key == at.key()).map(|number| number as u64)
    }

    fn moves(&mut self, at: &Position, _: u64, _: bool, out: &mut Vec<Move>) {
        out.extend(&self.moves[&at.key()]);
    }

    fn widest(&self) -> [usize; 2] {
        self.widest.unwrap_or([WIDEST; 2])
    }
}

fn fen(line: &str) -> String {
    after(line).fen()
}

const LINES: [&str; 3] = ["e2e4 e7e5 g1f3 b8c6", "e2e4 c7c5", "d2d4 d7d5 c2c4"];

#[test]
fn breadth_first_counts_the_plies_of_the_deepest_line() {
    let traversal = |lines: &[&str]| {
        let traversal = breadth_first(&LineBook::new(lines, |_| true), 0, &Progress::none());
        (traversal.deepest().unwrap(), traversal.reached, traversal.cut)
    };
    assert_eq!(traversal(&LINES), (4, 6, false));
    // f6g8 leads back to the start: the cycle is walked once.
    assert_eq!(traversal(&["g1f3 g8f6 f3g1 f6g8 e2e4", "g1f3 g8f6"]), (4, 4, false));
}

#[test]
fn the_widest_depth_has_its_bound_in_memory() {
    assert!(WIDEST * size_of::<PendingPosition>() <= 80 << 20, "{}", size_of::<PendingPosition>());
    let traversal = |lines: &[&str]| {
        let mut book = LineBook::new(lines, |_| true);
        book.widest = Some([1; 2]);
        breadth_first(&book, 0, &Progress::none())
    };
    // d2d4 waits until the replies to e2e4 were followed, each to its end: so the deepest line is not known.
    let followed = traversal(&LINES);
    assert_eq!((followed.reached, followed.cut, followed.deepest()), (6, false, None));
    // And there is no room for a third.
    let cut = traversal(&[&LINES[..], &["c2c4 c7c5 g2g3"]].concat());
    assert!(cut.cut && cut.reached < 8 && cut.deepest().is_none(), "{cut:?}");
}

#[test]
fn depth_first_goes_to_the_end_of_a_line_before_the_next() {
    let (seen, left_out) = each(&LineBook::new(&LINES, |_| true), 6);
    let expected = ["", "e2e4", "e2e4 e7e5", "e2e4 e7e5 g1f3", "d2d4", "d2d4 d7d5"].map(fen);
    assert_eq!((seen, left_out), (expected.to_vec(), 0));
    // A cycle ends where it began.
    let (seen, _) = each(&LineBook::new(&["g1f3 g8f6 f3g1 f6g8 e2e4", "g1f3 g8f6"], |_| true), 0);
    assert_eq!(seen, ["", "g1f3", "g1f3 g8f6", "g1f3 g8f6 f3g1"].map(fen));
}

#[test]
fn a_book_for_one_side_is_traversed_along_the_replies() {
    let white = LineBook::new(&LINES, |ply| ply % 2 == 0);
    assert_eq!(each(&white, 3), (["", "e2e4 e7e5", "d2d4 d7d5"].map(fen).to_vec(), 0));
    assert_eq!(own_lines(&white, usize::MAX).map(|keys| keys.len()), Some(3));
    // Replies are not searched if the number of positions is unknown.
    assert_eq!(each(&white, 0).0.len(), 1);
    let black = LineBook::new(&LINES, |ply| ply % 2 == 1);
    let (mut seen, left_out) = each(&black, 3);
    // Replies come in no promised order.
    seen.sort();
    let mut expected = ["e2e4", "e2e4 e7e5 g1f3", "d2d4"].map(fen).to_vec();
    expected.sort();
    assert_eq!((seen, left_out), (expected, 0));
}

#[test]
fn a_book_that_its_own_moves_reach_is_traversed_once() {
    let book = LineBook::new(&LINES, |_| true);
    assert_eq!(each(&book, 6).1, 0);
    assert!(book.asked() <= 10, "six positions and the ends of the lines");
    // One position that is not reached costs a search for it.
    assert_eq!(each(&book, 7).1, 1);
    assert!(book.asked() > 100);
}

#[test]
fn no_more_positions_are_looked_at_than_asked_for() {
    let book = LineBook::new(&LINES, |_| true);
    assert!(own_lines(&book, 5).is_none());
    // Six with moves, and three at the ends of lines.
    assert_eq!(own_lines(&book, 6).map(|keys| keys.len()), Some(9));
    let mut seen = 0;
    each_reachable(&book, 6, &Progress::none(), &mut |_| {
        seen += 1;
        if seen == 2 { Err(Break::Enough) } else { Ok(()) }
    })
    .unwrap();
    assert_eq!(seen, 2);
}

#[test]
fn a_set_has_room_for_the_numbers_below_its_end() {
    let mut bits = Bits::new(65);
    assert!([0, 63, 64].iter().all(|number| bits.insert(*number) && !bits.insert(*number)));
    assert!(bits.contains(64) && !bits.contains(1));
    assert!(!bits.insert(128) && !bits.insert(u64::MAX) && !bits.contains(u64::MAX));
}

#[test]
fn a_filter_has_the_keys_whose_runs_begin_elsewhere_and_few_others() {
    let key = |number: u64| {
        (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    let keys: Vec<_> = (0..1000).flat_map(|number| [key(number); 2]).collect();
    let mut own = Bits::new(2000);
    (0..500).for_each(|number| _ = own.insert(number * 2));
    let filter = KeyFilter::of_others(keys.iter().copied(), &own);
    assert!((500..1000).all(|number| filter.may_have(key(number))));
    let passed = (0..500).chain(1000..10_000).filter(|number| filter.may_have(key(*number))).count();
    assert!(passed < 200, "{passed}");
    assert!(!KeyFilter::default().may_have(0) && !KeyFilter::new([].into_iter()).may_have(0));
    assert!(KeyFilter::new([u64::MAX].into_iter()).may_have(u64::MAX));
    for memory in [0, 100, 1 << 20] {
        let mut filter = KeyFilter::with_room(1000, memory);
        assert!(filter.words.len() * size_of::<u64>() <= memory.max(8));
        (0..1000).for_each(|number| filter.add(key(number)));
        assert!((0..1000).all(|number| filter.may_have(key(number))));
    }
}

proptest! {
    /// Both traversals reach all positions of a random book.
    #[test]
    fn both_ways_reach_the_same(
        games in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..30), 1..8),
        few in 1..6_usize,
        widest in prop::option::of((1..5_usize).prop_map(|few| [few, WIDEST])),
    ) {
        let mut book = LineBook::default();
        book.widest = widest;
        for game in games {
            let mut position = Position::start();
            for step in game {
                let legal = position.chess().legal_moves();
                let Some(mv) = legal.get(step.index(few).min(legal.len().saturating_sub(1))) else { break };
                book.add(&position, *mv);
                position.play(*mv);
            }
        }
        let all = book.moves.len() as u64;
        let traversal = breadth_first(&book, all, &Progress::none());
        let (seen, left_out) = each(&book, all);
        prop_assert_eq!((traversal.reached, left_out, seen.len() as u64), (all, 0, all));
        prop_assert!((0..all).all(|number| traversal.entries.contains(number)));
    }
}
