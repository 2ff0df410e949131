//! Small books, and what the reader makes of them.

mod broken;
mod rules;
mod writing;

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use shakmaty::uci::UciMove;
use shakmaty::{Color, Position as _, Role};

use super::read::MAX_LEN;
use super::records::{AbkHeader, AbkRecord, Records, offset};
use super::*;
use crate::tests::{after, fen, moves, sample, uci};
use crate::{self as book, Counts};

/// A tree on its way into a file: records in the order in which lines first name their moves.
#[derive(Clone)]
struct Tree {
    header: Vec<u8>,
    records: Vec<AbkRecord>,
    known: HashMap<Vec<String>, usize>,
    last: HashMap<Vec<String>, usize>,
}

/// What one record says of its move.
#[derive(Clone, Copy, Debug)]
struct Said {
    priority: u8,
    games: i32,
    wins: i32,
    losses: i32,
}

const PLAIN: Said = Said { priority: 5, games: 0, wins: 0, losses: 0 };

impl Tree {
    fn new() -> Self {
        let mut header = vec![b'x'; HEADER_LEN as usize];
        header[..4].copy_from_slice(b"\x03AB2");
        let mut tree = Self { header, records: vec![], known: HashMap::new(), last: HashMap::new() };
        for (at, number) in [(4, 25_200), (8, 28), (0xee, 1), (0xf2, 1), (0xf6, 0), (0xfa, 9999)] {
            tree.set(at, number);
        }
        for at in [0xde, 0xe2, 0xe6, 0xea] {
            tree.set(at, 0);
        }
        tree.header[0x0c..0x12].copy_from_slice(b"\x05a\tb\xfcc");
        tree.header[0x85..0x8a].copy_from_slice(b"\x04Ada ");
        tree
    }

    fn set(&mut self, at: usize, number: i32) {
        self.header[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }

    /// The record of a line's last move; missing moves are added.
    fn line(&mut self, line: &str) -> &mut AbkRecord {
        let mut path: Vec<String> = Vec::new();
        let mut number = usize::MAX;
        for uci in line.split_whitespace() {
            let before = path.clone();
            path.push(uci.to_owned());
            number = match self.known.get(&path) {
                Some(known) => *known,
                None => self.add(&before, uci, number),
            };
            self.known.insert(path.clone(), number);
        }
        &mut self.records[number]
    }

    fn add(&mut self, before: &[String], uci: &str, parent: usize) -> usize {
        let uci: UciMove = uci.parse().unwrap();
        let UciMove::Normal { from, to, promotion } = uci else { panic!("{uci}") };
        let role = promotion.map_or(0, |role| match role {
            Role::Rook => -1,
            Role::Knight => 2,
            Role::Bishop => -3,
            _ => 4,
        });
        let number = self.records.len();
        let record = AbkRecord {
            from: from.into(),
            to: to.into(),
            promotion: role,
            priority: 5,
            ..AbkRecord::default()
        };
        self.records.push(record);
        let link = number as i32 + 900;
        match self.last.insert(before.to_vec(), number) {
            Some(sibling) => self.records[sibling].sibling = link,
            None if parent != usize::MAX => self.records[parent].child = link,
            None => {}
        }
        number
    }

    fn say(&mut self, line: &str, said: Said) {
        let record = self.line(line);
        record.priority = said.priority;
        (record.games, record.white_wins, record.white_losses) = (said.games, said.wins, said.losses);
    }

    fn bytes(&self) -> Vec<u8> {
        self.header.iter().copied().chain(self.records.iter().flat_map(AbkRecord::to_bytes)).collect()
    }

    fn book(&self) -> Abk {
        Abk::new("test.abk", self.bytes()).unwrap()
    }
}

/// The moves after a line, with their weights, by descending weight.
fn weights(book: &Abk, line: &str) -> Vec<(String, u64)> {
    moves(book, &after(line)).iter().map(|known| (uci(known.mv), known.weight)).collect()
}

fn names(book: &Abk, line: &str) -> Vec<String> {
    let mut names: Vec<String> = moves(book, &after(line)).iter().map(|known| uci(known.mv)).collect();
    names.sort();
    names
}

fn findings(book: &Abk) -> Vec<(u64, String, bool)> {
    let mut reported = Vec::new();
    book.check(&Progress::none(), &mut |finding| {
        reported.push((finding.offset.unwrap(), finding.what.clone(), finding.is_error()));
    });
    reported
}

/// The offset of the record of this number, the first being 0.
fn at(number: u32) -> u64 {
    offset(number + layout::ROOT)
}

#[test]
fn counts_are_the_movers() {
    let mut tree = Tree::new();
    tree.say("e2e4", Said { priority: 9, games: 10, wins: 5, losses: 2 });
    tree.say("e2e4 e7e5", Said { priority: 5, games: 6, wins: 4, losses: 1 });
    tree.say("d2d4", Said { priority: 2, games: 4, wins: 4, losses: 4 });
    let book = tree.book();
    let counts = |line: &str| moves(&book, &after(line)).iter().filter_map(|m| m.counts).collect::<Vec<_>>();
    let expected = [
        Counts { games: 10, wins: 5, draws: 3, losses: 2 },
        // More results than games: no draws, rather than fewer than none.
        Counts { games: 4, wins: 4, draws: 0, losses: 4 },
    ];
    assert_eq!(counts(""), expected);
    assert_eq!(counts("e2e4"), [Counts { games: 6, wins: 1, draws: 1, losses: 4 }]);
    assert_eq!(weights(&book, ""), [("e2e4".to_owned(), 9000), ("d2d4".to_owned(), 800)]);
    assert_eq!(book.best(&after("")).map(|mv| mv.to()), Some(shakmaty::Square::E4));
    assert_eq!(book.best(&after("a2a3")), None);
}

#[test]
fn a_book_without_results_has_no_draws_and_one_without_games_no_counts() {
    let mut tree = Tree::new();
    tree.line("e2e4");
    assert_eq!(moves(&tree.book(), &after(""))[0].counts, None);
    tree.line("e2e4").games = 7;
    let counts = moves(&tree.book(), &after(""))[0].counts;
    assert_eq!(counts, Some(Counts { games: 7, wins: 0, draws: 0, losses: 0 }));
}

#[test]
fn transpositions_are_joined_and_added_up() {
    let mut tree = Tree::new();
    tree.say("g1f3 g8f6 c2c4 e7e6", Said { priority: 9, games: 3, wins: 2, losses: 0 });
    tree.say("c2c4 g8f6 g1f3 e7e6", Said { priority: 5, games: 5, wins: 0, losses: 1 });
    tree.say("c2c4 g8f6 g1f3 g7g6", Said { priority: 5, games: 1, wins: 0, losses: 0 });
    let book = tree.book();
    for line in ["g1f3 g8f6 c2c4", "c2c4 g8f6 g1f3"] {
        let found = moves(&book, &after(line));
        assert_eq!(found.iter().map(|known| uci(known.mv)).collect::<Vec<_>>(), ["e7e6", "g7g6"]);
        assert_eq!(found[0].counts, Some(Counts { games: 8, wins: 1, draws: 5, losses: 2 }));
        // 100 * (9 * 3 + 5 * 5), and 100 * (5 * 1).
        assert_eq!((found[0].weight, found[1].weight), (5200, 500));
    }
    let placed = fen("rnbqkb1r/pppppppp/5n2/8/2P5/5N2/PP1PPPPP/RNBQKB1R b KQkq - 9 40");
    assert_eq!(moves(&book, &placed).len(), 2);
    let summary = book.summary(&Progress::none());
    // The moves before have no games: 0 at the start.
    assert_eq!((summary.entries, summary.positions, summary.moves), (9, Some(6), Some(8)));
    assert_eq!((summary.deepest, summary.games), (Some(4), Some(0)));
}

#[test]
fn castling_and_promotions_are_read() {
    let mut tree = Tree::new();
    let castling = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5";
    tree.line(&format!("{castling} e1g1"));
    let promoting = "h2h4 g7g5 h4g5 h7h6 g5h6 g8f6 h6h7 f6g8";
    for role in ["q", "r", "b", "n"] {
        tree.line(&format!("{promoting} h7g8{role}"));
    }
    let book = tree.book();
    assert_eq!(names(&book, castling), ["e1g1"]);
    assert!(moves(&book, &after(castling))[0].mv.is_castle());
    assert_eq!(names(&book, promoting), ["h7g8b", "h7g8n", "h7g8q", "h7g8r"]);
    assert_eq!(findings(&book), []);
    // The king taking its rook is the same move.
    tree.line(&format!("{castling} e1g1")).to = 7;
    assert_eq!(names(&tree.book(), castling), ["e1g1"]);
}

#[test]
fn the_headers_texts_are_shown() {
    let header = AbkHeader::read(&Tree::new().header);
    // The tab is a space, the byte a letter of Windows-1252.
    assert_eq!((header.comment.as_str(), header.author.as_str()), ("a b\u{fc}c", "Ada"));
    let mut tree = Tree::new();
    tree.line("e2e4");
    tree.set(0xde, 3);
    let notes = tree.book().summary(&Progress::none()).notes;
    assert_eq!(
        notes[2..],
        [
            ("weighed by", "priority 1, games 1, score 0".to_owned()),
            ("limits", "at least 3 games, up to ply 9999".to_owned())
        ]
    );
}

#[test]
#[ignore = "needs TABIYA_SAMPLES"]
fn a_real_book_is_read_and_agrees_with_its_authors_other_one() {
    let path = sample("abk/Perfect2021.abk");
    let other = sample("polyglot/Perfect2021.bin");
    let book = book::open_book(path).unwrap();
    let summary = book.summary(&Progress::none());
    assert_eq!((summary.entries, summary.positions), (9571, Some(4126)));
    assert_eq!(
        (summary.notes[0].1.as_str(), summary.notes[1].1.as_str()),
        ("Happy testings !)", "Sedat Canbaz")
    );
    book.check(&Progress::none(), &mut |finding| assert!(!finding.is_error(), "{finding}"));
    let other = book::open_book(other).unwrap();
    let playable = |book: &dyn Book, at: &Position| {
        let moves = moves(book, at);
        let mut playable: Vec<_> =
            moves.iter().filter(|known| known.weight > 0).map(|known| uci(known.mv)).collect();
        playable.sort();
        playable
    };
    // Every position that the .bin reaches from the start.
    let mut positions = vec![Position::start()];
    let mut keys = std::collections::HashSet::from([Position::start().key()]);
    let (mut same, mut all, mut index) = (0, 0, 0);
    while let Some(position) = positions.get(index).cloned() {
        index += 1;
        let moves = moves(&*other, &position);
        if !moves.is_empty() {
            all += 1;
            same += usize::from(playable(&*book, &position) == playable(&*other, &position));
        }
        let next = moves.iter().map(|known| position.after(known.mv));
        positions.extend(next.filter(|next| keys.insert(next.key())));
    }
    println!("of {all} positions of Perfect2021.bin {same} have the same playable moves in Perfect2021.abk");
    assert!(same * 100 >= all * 95, "{same} of {all}");
}

/// A tree of random lines: steps as indices into the legal moves of each position.
fn trees() -> impl Strategy<Value = Vec<(Vec<u8>, Said)>> {
    let said = (0..10_u8, 0..50_i32, 0..20_i32, 0..20_i32).prop_map(|(priority, games, wins, losses)| Said {
        priority,
        games: games + wins + losses,
        wins,
        losses,
    });
    // Few different steps, because lines should meet again.
    prop::collection::vec((prop::collection::vec(0..3_u8, 1..10), said), 0..25)
}

/// Each move of each position by a walk over the lines: games, White's wins and losses.
type Model = BTreeMap<(u64, String), (u64, u64, u64)>;

proptest! {
    #[test]
    fn every_line_of_a_written_tree_is_found(lines in trees()) {
        let mut tree = Tree::new();
        for (steps, said) in &lines {
            let mut position = Position::start();
            let mut line = Vec::new();
            for step in steps {
                // Knights first, because they transpose.
                let mut legal: Vec<_> = position.chess().legal_moves().into_iter().collect();
                legal.sort_by_key(|mv| (mv.role() != Role::Knight, mv.to_string()));
                let Some(&mv) = legal.get(usize::from(*step)) else { break };
                line.push(uci(mv));
                position.play(mv);
            }
            tree.say(&line.join(" "), *said);
        }
        let mut model = Model::new();
        let mut positions = Vec::new();
        for (path, number) in &tree.known {
            let (mv, before) = path.split_last().unwrap();
            let position = after(&before.join(" "));
            let record = tree.records[*number];
            let sum = model.entry((position.key(), mv.clone())).or_default();
            sum.0 += record.games as u64;
            sum.1 += record.white_wins as u64;
            sum.2 += record.white_losses as u64;
            positions.push(position);
        }
        let book = tree.book();
        let mut found = Model::new();
        for position in &positions {
            for known in moves(&book, position) {
                let counts = known.counts.unwrap_or_default();
                let white = position.chess().turn() == Color::White;
                let (wins, losses) =
                    if white { (counts.wins, counts.losses) } else { (counts.losses, counts.wins) };
                found.insert((position.key(), uci(known.mv)), (counts.games, wins, losses));
            }
        }
        prop_assert_eq!(&found, &model);
        prop_assert_eq!(book.index().all().len(), model.len());
        prop_assert_eq!(findings(&book).len(), usize::from(tree.records.is_empty()));
        for position in &positions {
            let moves = moves(&book, position);
            prop_assert!(moves.is_sorted_by_key(|known| std::cmp::Reverse(known.weight)));
            let heaviest = moves.first().filter(|known| known.weight > 0).map(|known| known.mv);
            prop_assert_eq!(book.heaviest(position), heaviest);
        }
    }
}
