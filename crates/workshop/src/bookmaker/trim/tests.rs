//! What stays of small books.

use shakmaty::{Color, Move};

use tabiya_base::progress::Progress;
use tabiya_book::Scope;
use tabiya_testing::books::{LineBook, after, every, moves, uci};

use super::*;

const LINES: [&str; 4] = ["e2e4 e7e5 g1f3 b8c6", "e2e4 c7c5", "d2d4 d7d5 c2c4", "g1f3 d7d5 d2d4 g8f6"];

fn line(moves: &str) -> Vec<Move> {
    let mut game = tabiya_chess::Game::start();
    moves.split_whitespace().for_each(|mv| assert!(game.push_uci(mv.as_bytes()), "{mv}"));
    game.moves().to_vec()
}

/// The moves that stay, by the lines that lead to their positions.
fn left(book: &LineBook, trim: &Trim, lines: &[&str]) -> Vec<Vec<String>> {
    let trimmed = Trimmed::new(book, trim, &Progress::none()).unwrap();
    let shown = every(&trimmed, Scope::All);
    let tally = trimmed.tally();
    assert_eq!(tally.kept_moves, shown.iter().map(|record| record.moves.len() as u64).sum::<u64>());
    assert_eq!(tally.moves, tally.kept_moves + tally.cut.values().sum::<u64>());
    let of = |line: &&str| {
        let at = after(line);
        let mut left: Vec<_> = moves(&trimmed, &at).iter().map(|facts| uci(facts.mv)).collect();
        left.sort();
        let record = shown.iter().find(|record| record.key == at.key());
        assert_eq!(record.map_or(0, |record| record.moves.len()), left.len(), "{line}");
        left
    };
    lines.iter().map(of).collect()
}

#[test]
fn what_is_cut_is_not_reached_unless_another_way_leads_there() {
    let book = LineBook::new(&LINES, |_| true);
    let at = ["", "e2e4", "e2e4 e7e5", "d2d4", "d2d4 d7d5"];
    let trim = Trim { without: vec![line("e2e4 e7e5"), line("d2d4")], ..Trim::default() };
    assert_eq!(left(&book, &trim, &at), [vec!["e2e4", "g1f3"], vec!["c7c5"], vec![], vec![], vec![]]);
    // After 1. Nf3 d5 2. d4 the knight is on f3: another position than after 1. d4 d5.
    let trim = Trim { max_ply: Some(2), ..Trim::default() };
    assert_eq!(left(&book, &trim, &at)[2..], [vec![], vec!["d7d5"], vec![]]);
    let trim = Trim { reachable: true, top: Some(1), ..Trim::default() };
    assert_eq!(left(&book, &trim, &at), [vec!["e2e4"], vec!["e7e5"], vec!["g1f3"], vec![], vec![]]);
}

#[test]
fn the_moves_of_a_line_that_stays_stay_too() {
    let book = LineBook::new(&LINES, |_| true);
    let at = ["", "e2e4", "e2e4 e7e5", "d2d4", "d2d4 d7d5"];
    let below = vec![line("d2d4 d7d5"), line("e2e4")];
    let trim = Trim { below: below.clone(), ..Trim::default() };
    let whole = [vec!["d2d4", "e2e4"], vec!["c7c5", "e7e5"], vec!["g1f3"], vec!["d7d5"], vec!["c2c4"]];
    assert_eq!(left(&book, &trim, &at), whole);
    let trim = Trim { below, without: vec![line("e2e4")], max_ply: Some(2), ..Trim::default() };
    assert_eq!(left(&book, &trim, &at), [vec!["d2d4"], vec![], vec![], vec!["d7d5"], vec![]]);
    assert!(Trimmed::new(&book, &trim, &Progress::none()).unwrap().missing().is_empty());
    let trim = Trim { without: vec![line("e2e4"), line("a2a3")], ..Trim::default() };
    assert_eq!(Trimmed::new(&book, &trim, &Progress::none()).unwrap().missing(), [1]);
}

#[test]
fn limits_are_for_the_side_that_stays() {
    let book = LineBook::new(&LINES, |_| true);
    let trim = Trim { only: Some(Color::White), top: Some(1), reachable: true, ..Trim::default() };
    let at = ["", "e2e4", "e2e4 e7e5", "d2d4"];
    assert_eq!(left(&book, &trim, &at), [vec!["e2e4"], vec![], vec!["g1f3"], vec![]]);
}

#[test]
fn only_what_leads_to_an_opening_or_stays_in_it_stays() {
    let lines = [&LINES[..], &["e2e4 c7c5 a2a3 a7a6 h2h3", "d2d4 c7c5 e2e4"]].concat();
    let book = LineBook::new(&lines, |_| true);
    let of = |name: &str| Some(tabiya_chess::openings::ChosenOpenings::named(name).unwrap());
    let at = ["", "e2e4", "e2e4 c7c5", "e2e4 c7c5 a2a3 a7a6", "d2d4", "d2d4 d7d5", "g1f3"];
    let trim = Trim { openings: of("Sicilian"), ..Trim::default() };
    let sicilian = [vec!["e2e4"], vec!["c7c5"], vec!["a2a3"], vec!["h2h3"], vec![], vec![], vec![]];
    assert_eq!(left(&book, &trim, &at), sicilian);
    // All moves of the other side are followed, and it may transpose.
    let trim = Trim { only: Some(Color::Black), ..trim };
    let black = [vec![], vec!["c7c5"], vec![], vec![], vec!["c7c5"], vec![], vec![]];
    assert_eq!(left(&book, &trim, &at), black);
    // The heaviest of those that lead there.
    let trim = Trim { openings: of("Queen's Gambit; C2*"), top: Some(1), reachable: true, ..Trim::default() };
    assert_eq!(left(&book, &trim, &["", "d2d4", "d2d4 d7d5"]).concat().len(), 1);
    let trim = Trim { openings: of("Queen's Gambit"), below: vec![line("d2d4 d7d5")], ..Trim::default() };
    assert_eq!(left(&book, &trim, &["", "d2d4", "d2d4 d7d5"]), [["d2d4"], ["d7d5"], ["c2c4"]]);
}
