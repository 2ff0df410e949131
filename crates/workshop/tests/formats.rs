//! One collection of games as a book of each format: the same moves and the same counts.
//!
//! For random games, and for real ones: those that `TABIYA_GAMES` names, or a database of the samples.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use rand::{Rng, SeedableRng as _, rngs::Xoshiro256PlusPlus};
use shakmaty::san::SanPlus;
use shakmaty::{Position as _, Role};
use tabiya_base::progress::Progress;
use tabiya_book::abk;
use tabiya_book::choose::{Policy, Weights, chances};
use tabiya_book::ctg::{Ctg, Signature};
use tabiya_book::kvetka::{Key, Kvetka};
use tabiya_book::traits::Book;
use tabiya_book::{
    self as book, Annotation, BookWriter, Counts, Learned, MoveFacts, Moves, PositionRecord, Recommendation,
    Remarks, Scope, WriteOptions, Written,
};
use tabiya_chess::MoveCode;
use tabiya_chess::Position;
use tabiya_testing::Recorder;
use tabiya_workshop::bookmaker::{self, Filter, Input, Names, OpenCounts, Plan, Weigh};

fn build(games: &Path, writer: Box<dyn BookWriter>) -> Written {
    built(&[games.to_owned()], &Weigh::default(), writer)
}

fn built(games: &[PathBuf], weigh: &Weigh, writer: Box<dyn BookWriter>) -> Written {
    let resources = &bookmaker::Resources::new(Some(1), Some(1 << 28), None).unwrap();
    let input = Input {
        games: &mut tabiya_games::open_files(games).unwrap(),
        repeated: &tabiya_workshop::bookmaker::Repeated::default(),
        counts: &OpenCounts::default(),
        work: None,
    };
    let (filter, names, progress) = (&Filter::default(), &Names::default(), &Progress::none());
    bookmaker::build(input, &Plan { filter, weigh, names, resources, progress }, writer).unwrap().1
}

fn every(book: &dyn Book, scope: Scope) -> BTreeMap<u64, PositionRecord> {
    let mut every = BTreeMap::new();
    book.each(scope, &Progress::none(), &mut |known| {
        every.insert(known.key, known.clone());
        Ok(())
    })
    .unwrap();
    every
}

fn add(sum: &mut Counts, more: Counts) {
    *sum = sum.plus(more);
}

/// Builds a book of each format and compares it with the counts.
fn compare(games: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let kept = Arc::<Mutex<Vec<PositionRecord>>>::default();
    build(games, Box::new(Recorder { records: Arc::clone(&kept), as_decided: false }));
    let all: BTreeMap<u64, PositionRecord> =
        std::mem::take(&mut *kept.lock().unwrap()).into_iter().map(|known| (known.key, known)).collect();
    // Positions without moves have the games that ended there.
    let truth: BTreeMap<u64, &PositionRecord> =
        all.iter().filter(|(_, known)| !known.moves.is_empty()).map(|(key, known)| (*key, known)).collect();
    let moves: usize = truth.values().map(|known| known.moves.len()).sum();
    // Moves that only lost are in books that count games, and not in a .bin.
    let played = |known: &PositionRecord| {
        let mut moves: Vec<_> = known.moves.iter().map(|known| (known.mv, known.weight)).collect();
        moves.retain(|(_, weight)| *weight > 0);
        moves.sort();
        moves
    };
    let weighed: Vec<_> = truth
        .iter()
        .map(|(key, known)| (*key, played(known)))
        .filter(|(_, moves)| !moves.is_empty())
        .collect();
    let make = |name: &str| {
        let written = build(games, book::create_book(path(name), &WriteOptions::default()).unwrap());
        println!("{name}: {} positions, {} moves; {:?}", written.positions, written.moves, written.left_out);
        (book::open_book(path(name)).unwrap(), written)
    };
    println!("{}: {} positions, {moves} moves", games.display(), truth.len());

    let (bin, written) = make("a.bin");
    let weights: usize = weighed.iter().map(|(_, moves)| moves.len()).sum();
    assert!(weights < moves);
    assert_eq!((written.positions as usize, written.moves as usize), (weighed.len(), weights));
    let held = every(&*bin, Scope::All);
    assert_eq!(held.len(), weighed.len());
    for (bin, (key, truth)) in held.values().zip(&weighed) {
        assert_eq!(bin.key, *key);
        let heaviest = truth.iter().map(|(_, weight)| *weight).max().unwrap();
        assert_eq!(bin.moves.len(), truth.len());
        for (bin, truth) in played(bin).iter().zip(truth) {
            let expected =
                if heaviest > 65_535 { truth.1 as f64 * 65_535.0 / heaviest as f64 } else { truth.1 as f64 };
            assert_eq!(bin.0, truth.0);
            assert!((bin.1 as f64 - expected).abs() < 1.0);
        }
    }

    let (abk, written) = make("a.abk");
    let reached = every(&*bin, Scope::Reachable);
    let tree = every(&*abk, Scope::All);
    assert!(reached.keys().all(|key| tree.contains_key(key)));
    let left = written.left_out.first().map_or(0, |(_, count)| *count as usize);
    let held = truth.keys().filter(|key| tree.contains_key(key)).count();
    assert_eq!((written.positions as usize, held + left), (held, truth.len()));
    for known in tree.values() {
        let truth = truth.get(&known.key).map_or(&[][..], |truth| &truth.moves);
        let found = known.moves.iter().filter(|known| truth.iter().any(|truth| truth.mv == known.mv)).count();
        assert_eq!(found, truth.len());
        for known in &known.moves {
            let Some(truth) = truth.iter().find(|truth| truth.mv == known.mv) else {
                // It is a link.
                assert_eq!((known.weight, known.counts.unwrap().games), (0, 0));
                continue;
            };
            assert_eq!(known.counts, truth.counts);
            // The weights are those of the .bin, except for the drawn game that is added to each score.
            assert_eq!(known.weight > 0, truth.weight > 0);
        }
    }

    let (_, written) = make("a.ctg");
    let ctg = Ctg::open(path("a.ctg")).unwrap();
    let mut errors: Vec<String> = Vec::new();
    ctg.check(&Progress::none(), &mut |finding| {
        errors.extend(finding.is_error().then(|| finding.to_string()))
    });
    assert_eq!(errors, [""; 0]);
    // A position's counts are those of all games that reached it or its mirror image or, if they are too few to be kept,
    // those of all moves that lead to it.
    let signature = |at: &Position| Signature::from_chess(at.standard().unwrap()).unwrap().bytes().to_vec();
    let (mut led, mut reached, mut edges) = (HashMap::new(), HashMap::new(), HashMap::new());
    for known in all.values() {
        let at = known.position.as_ref().unwrap();
        if let Some(total) = known.total {
            add(reached.entry(signature(at)).or_default(), total);
        }
        *edges.entry(signature(at)).or_insert(0) += known.moves.len();
        for known in &known.moves {
            let next = at.after(known.at(at).unwrap().mv);
            add(led.entry(signature(&next)).or_default(), known.counts.unwrap());
        }
    }
    let (mut same, mut missing, mut transposed) = (0, 0, 0);
    for known in truth.values() {
        let at = known.position.as_ref().unwrap();
        let mut ours = Vec::new();
        ctg.moves(at, &mut ours);
        assert!(ours.len() <= edges[&signature(at)]);
        for known in &known.moves {
            let mv = known.at(at).unwrap().mv;
            let Some(MoveFacts { counts, .. }) = ours.iter().find(|ours| ours.mv == mv) else {
                missing += 1;
                continue;
            };
            let next = signature(&at.after(mv));
            let expected = reached.get(&next).map_or(led[&next], |counts: &Counts| counts.swapped());
            assert_eq!(*counts, Some(expected), "{} {mv}", at.fen());
            assert!(expected.games >= known.counts.unwrap().games);
            same += 1;
            transposed += u64::from(Some(expected) != known.counts);
        }
    }
    println!(
        "a.ctg: {same} moves with the same counts, {transposed} of them reached otherwise too, {missing} missing"
    );
    let unwritable: u64 = written
        .left_out
        .iter()
        .filter(|(what, _)| what.contains("cannot write"))
        .map(|(_, count)| count)
        .sum();
    assert_eq!(unwritable, missing);

    let (_, written) = make("a.kob");
    for way in ["as it is", "joined", "without .kin"] {
        compare_kvetka(&path("a"), way, &all, &written);
    }
}

/// Checks that a Kvetka book has every position with its results, every move, and a game: as it is, with two of its files
/// joined, or without its index.
fn compare_kvetka(stem: &Path, way: &str, reached: &BTreeMap<u64, PositionRecord>, written: &Written) {
    let part = |number: usize| PathBuf::from(format!("{}_{number}.kob", stem.display()));
    match way {
        "joined" if part(1).exists() => {
            let both = [std::fs::read(part(0)).unwrap(), std::fs::read(part(1)).unwrap()].concat();
            std::fs::write(part(0), both).unwrap();
            std::fs::remove_file(part(1)).unwrap();
            // The others move up.
            for number in (2..).take_while(|number| part(*number).exists()) {
                std::fs::rename(part(number), part(number - 1)).unwrap();
            }
        }
        "without .kin" => std::fs::remove_file(stem.with_extension("kin")).unwrap(),
        _ => {}
    }
    let book = Kvetka::open(stem.with_extension("kob")).unwrap();
    assert_eq!(book.warnings(), Vec::<String>::new(), "{way}");
    if way == "as it is" {
        let mut errors: Vec<String> = Vec::new();
        book.check(&Progress::none(), &mut |finding| {
            errors.extend(finding.is_error().then(|| finding.to_string()))
        });
        assert_eq!(errors, [""; 0]);
    }
    let (mut totals, mut edges) = (HashMap::new(), HashMap::new());
    for known in reached.values() {
        let at = known.position.as_ref().unwrap();
        let key = Key::from_chess(at.standard().unwrap()).unwrap();
        add(totals.entry(key).or_default(), known.total.unwrap());
        *edges.entry(key).or_insert(0) += known.moves.len();
    }
    let (mut moves, mut missing, mut games) = (0, 0, 0);
    for known in reached.values() {
        let at = known.position.as_ref().unwrap();
        let key = Key::from_chess(at.standard().unwrap()).unwrap();
        let Counts { wins, draws, losses, .. } = totals[&key];
        assert_eq!(
            book.results(at),
            Some(Counts { games: wins + draws + losses, wins, draws, losses }),
            "{way}: {}",
            at.fen()
        );
        games += u64::from(book.game(at).is_some_and(|game| game.length > 0));
        let mut ours = Vec::new();
        book.moves(at, &mut ours);
        assert!(ours.len() <= edges[&key]);
        for known in &known.moves {
            let mv = known.at(at).unwrap().mv;
            let Some(MoveFacts { counts, weight, .. }) = ours.iter().find(|ours| ours.mv == mv) else {
                missing += 1;
                continue;
            };
            moves += 1;
            let Some(Counts { games, wins, draws, losses }) = *counts else {
                panic!("{way}: {} {mv}", at.fen())
            };
            assert_eq!((games, *weight), (wins + draws + losses, 2 * wins + draws));
            let next = Key::from_chess(at.after(mv).standard().unwrap()).unwrap();
            let turned = totals[&next];
            assert_eq!(
                (turned.losses, turned.draws, turned.wins),
                (wins, draws, losses),
                "{way}: {}",
                at.fen()
            );
        }
    }
    assert_eq!(games, reached.len() as u64);
    let unwritable = written.left_out.iter().filter(|(what, _)| what.starts_with("moves without a code"));
    assert_eq!(unwritable.map(|(_, count)| count).sum::<u64>(), missing);
    println!(
        "a.kob {way}: {} positions, {moves} moves with the same results, {missing} missing",
        reached.len()
    );
}

/// A random game as text. It chooses from few moves, mostly the knights', because lines should meet again. Its moves are
/// added to `made`, by the keys of their positions. CTG books have no code for promotions to less than a queen.
fn random_game(
    mut random: impl FnMut() -> usize,
    underpromotes: bool,
    made: &mut BTreeSet<(u64, u16)>,
) -> String {
    let mut chess = shakmaty::Chess::default();
    let mut text = String::new();
    for ply in 0..24 {
        let mut legal = chess.legal_moves();
        legal.retain(|mv| underpromotes || mv.promotion().is_none_or(|role| role == Role::Queen));
        legal.sort_by_key(|mv| (mv.role() as u8 != 2, mv.to_string()));
        if legal.is_empty() {
            break;
        }
        let mv = legal[random() % legal.len().min(if ply < 10 { 2 } else { 4 })];
        made.insert((Position::from_chess(chess.clone()).key(), MoveCode::from_move(mv).0));
        text += &SanPlus::from_move_and_play_unchecked(&mut chess, mv).to_string();
        text.push(' ');
    }
    let result = ["1-0", "0-1", "1/2-1/2"][random() % 3];
    format!("[White \"A\"]\n[Black \"B\"]\n[Result \"{result}\"]\n\n{text}{result}\n\n")
}

/// A book of random lines in the format of a name's extension: weights, counts, colours, marks and what was learned, as far as
/// the format holds them.
fn random_book(path: PathBuf, rng: &mut dyn Rng) -> Arc<dyn Book> {
    let mut positions: BTreeMap<u64, (Position, BTreeMap<u16, MoveFacts>)> = BTreeMap::new();
    for _ in 0..12 {
        let mut at = Position::start();
        for _ in 0..5 {
            let legal = at.chess().legal_moves();
            let mv = legal[rng.random_range(0..6) * 3 % legal.len()];
            let (_, moves) = positions.entry(at.key()).or_insert_with(|| (at.clone(), BTreeMap::new()));
            let facts = moves.entry(MoveCode::from_move(mv).0).or_insert_with(|| {
                let mut count = || rng.random_range(0..9_u64);
                let (wins, draws, losses) = (count(), count(), count());
                let counts = Counts { games: wins + draws + losses, wins, draws, losses };
                MoveFacts { counts: Some(counts), ..MoveFacts::new(mv, counts.points()) }
            });
            if path.extension().is_some_and(|end| end == "bin") {
                facts.weight = rng.random_range(0..9000);
                facts.learned = rng.random_bool(0.3).then_some(Learned { games: 7, halfpoints: 5 });
            } else if path.extension().is_some_and(|end| end == "ctg") {
                let colours = [None, None, Some(Recommendation::Red), Some(Recommendation::Green)];
                facts.recommended = colours[rng.random_range(0..4)];
                facts.annotation = rng.random_bool(0.2).then_some(Annotation::Good);
            }
            at.play(mv);
        }
    }
    let mut writer = book::create_book(&path, &WriteOptions::default()).unwrap();
    for (at, moves) in positions.values() {
        let moves: Vec<_> = moves.values().copied().collect();
        writer.add(&PositionRecord::from_moves(at, &moves)).unwrap();
    }
    writer.finish().unwrap();
    if path.extension().is_some_and(|end| end == "abk") {
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[0x0d] = rng.random_range(b'a'..=b'z');
        for slider in [0xee, 0xf2, 0xf6] {
            bytes[slider] = rng.random_range(0..=15);
        }
        bytes[0xde] = rng.random_range(0..3);
        bytes[25_200..].chunks_mut(28).for_each(|record| record[3] = rng.random_range(0..=9));
        std::fs::write(&path, bytes).unwrap();
    }
    book::open_book(path).unwrap()
}

/// The bytes of all files of a book.
fn bytes(book: &dyn Book) -> Vec<Vec<u8>> {
    book.files().iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// A move of one game suffices.
fn any_game() -> Weigh {
    let mut weigh = Weigh::default();
    weigh.min_games = 1;
    weigh
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(times(3, 100)))]
    #[test]
    fn books_of_a_format_are_merged_in_any_grouping_to_the_same_book(seed: u64) {
        for end in ["bin", "ctg", "abk", "kob", "epd", "fen"] {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let folder = tempfile::tempdir().unwrap();
            let mut number = 0;
            let mut path = || {
                number += 1;
                let within = folder.path().join(number.to_string());
                std::fs::create_dir(&within).unwrap();
                within.join("a").with_extension(end)
            };
            let [a, b, c] = std::array::from_fn(|_| random_book(path(), &mut rng));
            let mut sum = |books: &[&Arc<dyn Book>]| {
                merged(&books.iter().map(|book| &***book).collect::<Vec<_>>(), path())
            };
            let (ab, bc) = (sum(&[&a, &b]), sum(&[&b, &c]));
            let all = sum(&[&a, &b, &c]);
            prop_assert!(bytes(&*all) == bytes(&*sum(&[&ab, &c])), "{} (a+b)+c", end);
            prop_assert!(bytes(&*all) == bytes(&*sum(&[&a, &bc])), "{} a+(b+c)", end);
            prop_assert!(bytes(&*sum(&[&a, &b, &a])) == bytes(&*sum(&[&ab, &a])), "{} (a+b)+a", end);
            if end != "abk" {
                continue;
            }
            for (key, both) in every(&*ab, Scope::All) {
                for mv in both.moves.iter().map(|known| known.mv) {
                    let given = [&a, &b].map(|book| {
                        let found = every(&**book, Scope::All).remove(&key);
                        found.and_then(|known| abk::priority(&known, mv))
                    });
                    prop_assert_eq!(given.into_iter().flatten().max(), abk::priority(&both, mv));
                }
            }
        }
    }
}

#[test]
fn random_games_make_the_same_book_in_every_format() {
    let mut state = 5_u64;
    let mut random = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) as usize
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.pgn");
    std::fs::write(
        &path,
        (0..times(600, 3000))
            .map(|_| random_game(&mut random, true, &mut BTreeSet::new()))
            .collect::<String>(),
    )
    .unwrap();
    compare(&path);
}

/// The formats that count games.
const COUNTING: [&str; 3] = ["ctg", "abk", "kob"];

/// A book of games that keeps every move.
fn whole(games: &[&Path], path: PathBuf) -> Arc<dyn Book> {
    let games: Vec<_> = games.iter().map(|path| path.to_path_buf()).collect();
    let writer = book::create_book(&path, &WriteOptions::default()).unwrap();
    built(&games, &any_game(), writer);
    book::open_book(&path).unwrap()
}

/// Several books as one, or one in another format.
fn merged(books: &[&dyn Book], path: PathBuf) -> Arc<dyn Book> {
    let resources = bookmaker::Resources::new(Some(1), Some(1 << 25), None).unwrap();
    let writer = book::create_book(&path, &WriteOptions::default()).unwrap();
    let books: Vec<_> = books.iter().map(|book| (*book as &dyn Moves, Scope::All)).collect();
    bookmaker::merge(&books, Weights::Points, &resources, writer, &Progress::none()).unwrap();
    book::open_book(&path).unwrap()
}

/// The moves of each position of a book, with their counts and whether they may be played.
fn said(book: &dyn Book, scope: Scope) -> BTreeMap<u64, BTreeMap<u16, (Option<Counts>, bool)>> {
    let said = |known: &PositionRecord| {
        known.moves.iter().map(|known| (known.mv.0, (known.counts, known.weight > 0))).collect()
    };
    let mut every = every(book, scope);
    every.retain(|_, known| !known.moves.is_empty());
    every.into_iter().map(|(key, known)| (key, said(&known))).collect()
}

/// The same for positions that differ in colours only.
fn normal_form(known: &PositionRecord) -> Key {
    Key::from_chess(known.position.as_ref().unwrap().standard().unwrap()).unwrap()
}

/// Checks that no move without weight is played, whatever the options are.
fn never_played(book: &dyn Book) -> std::result::Result<(), TestCaseError> {
    for known in every(book, Scope::All).values() {
        let at = known.position.as_ref().unwrap();
        let mut moves = Vec::new();
        book.moves(at, &mut moves);
        for (tournament, variety) in [(true, 50), (true, 100), (false, 0), (false, 100)] {
            let mut policy = Policy::default();
            (policy.tournament, policy.variety, policy.threshold) = (tournament, variety, 0);
            let mut out = Vec::new();
            chances(&moves, &policy, |_| true, &mut out);
            for (known, chance) in moves.iter().zip(&out) {
                prop_assert!(*chance == 0.0 || known.weight > 0);
            }
        }
        let best = book.best(at);
        prop_assert!(moves.iter().all(|known| known.weight > 0 || best != Some(known.mv)));
    }
    Ok(())
}

/// `many` before a release, where `TABIYA_FULL_TESTS` is set.
fn times(few: u32, many: u32) -> u32 {
    if std::env::var_os("TABIYA_FULL_TESTS").is_some() { many } else { few }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(times(4, 12)))]
    #[test]
    fn built_merged_and_converted_books_hold_every_move_of_the_games(
        games in prop::collection::vec((prop::collection::vec(any::<u16>(), 25), any::<bool>()), 1..40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: String| folder.path().join(name);
        // A tree of moves knows drawn games only if others were won.
        let decided = "[Result \"1-0\"]\n\n1. a4 1-0\n\n";
        let [mut one, mut other] = [decided.to_owned(), decided.to_owned()];
        let first = Position::start().chess().legal_moves().into_iter().find(|mv| mv.to_string() == "a2-a4");
        let mut made = BTreeSet::from([(Position::start().key(), MoveCode::from_move(first.unwrap()).0)]);
        for (numbers, first) in games {
            let mut numbers = numbers.into_iter().cycle();
            let game = random_game(|| numbers.next().unwrap_or_default().into(), false, &mut made);
            if first { one += &game } else { other += &game }
        }
        let [one, other] = [("one.pgn", one), ("other.pgn", other)].map(|(name, games)| {
            std::fs::write(path(name.to_owned()), games).unwrap();
            path(name.to_owned())
        });
        let kept = Arc::<Mutex<Vec<PositionRecord>>>::default();
        let weigh = any_game();
        built(&[one.clone(), other.clone()], &weigh, Box::new(Recorder { records: Arc::clone(&kept), as_decided: false }));
        let mut truth: BTreeMap<u64, PositionRecord> =
            std::mem::take(&mut *kept.lock().unwrap()).into_iter().map(|known| (known.key, known)).collect();
        truth.retain(|_, known| !known.moves.is_empty());
        let kept = truth.iter().flat_map(|(key, known)| known.moves.iter().map(|known| (*key, known.mv.0)));
        prop_assert_eq!(kept.collect::<BTreeSet<_>>(), made);

        let mut shared: HashMap<Key, HashSet<Key>> = HashMap::new();
        for known in truth.values() {
            let at = known.position.as_ref().unwrap();
            let after = known.moves.iter().map(|mv| at.after(mv.at(at).unwrap().mv));
            shared.entry(normal_form(known)).or_default().extend(after.map(|at| Key::from_chess(at.standard().unwrap()).unwrap()));
        }

        let bin = whole(&[&one, &other], path("both.bin".to_owned()));
        let mut of_formats = Vec::new();
        for format in COUNTING {
            let both = whole(&[&one, &other], path(format!("both.{format}")));
            let parts = [("one", &one), ("other", &other)]
                .map(|(name, games)| whole(&[games], path(format!("{name}.{format}"))));
            let sum = merged(&[&*parts[0], &*parts[1]], path(format!("sum.{format}")));
            let held = said(&*both, Scope::All);
            // The book has every move of the games, and all its positions are reached.
            for (key, known) in &truth {
                let ours = held.get(key);
                let count = ours.map_or(0, BTreeMap::len);
                // Other formats than a tree of moves share moves between positions that differ in colours only.
                let least = known.moves.len();
                let most = if format == "abk" { least } else { shared[&normal_form(known)].len() };
                prop_assert!((least..=most).contains(&count), "{} {} {:?}", format, count, known.position);
                for known in &known.moves {
                    let (counts, playable) = ours.and_then(|ours| ours.get(&known.mv.0)).copied().unwrap();
                    let (counts, expected) = (counts.unwrap(), known.counts.unwrap());
                    prop_assert_eq!(playable, counts.wins + counts.draws > 0);
                    // A move's counts are those of the position that it leads to, but in a tree of moves.
                    prop_assert!(format != "abk" || counts == expected);
                    prop_assert!(counts.games >= expected.games);
                }
            }
            prop_assert_eq!(&held, &said(&*both, Scope::Reachable), "{}", format);
            prop_assert_eq!(&held, &said(&*sum, Scope::All), "{}", format);
            prop_assert_eq!(&held, &said(&*sum, Scope::Reachable), "{}", format);
            never_played(&*both)?;
            never_played(&*sum)?;
            of_formats.push((format, both, held));
        }
        let weighed = said(&*bin, Scope::All);
        for (format, book, held) in &of_formats {
            for other in COUNTING {
                let converted = said(&*merged(&[&**book], path(format!("{format}-{other}.{other}"))), Scope::All);
                // Others count the games of positions, and one with swapped colours is the same.
                if *format == "abk" && other != "abk" {
                    let kept = held.iter().all(|(key, moves)| {
                        converted.get(key).is_some_and(|kept| moves.keys().all(|mv| kept.contains_key(mv)))
                    });
                    prop_assert!(kept, "{} to {}", format, other);
                } else {
                    prop_assert_eq!(&converted, held, "{} to {}", format, other);
                }
            }
            let back = said(&*merged(&[&**book], path(format!("{format}.bin"))), Scope::All);
            if *format == "abk" {
                prop_assert_eq!(back, weighed.clone());
            } else {
                // A move that only lost leads to a position with better results on another path, or is left out.
                let kept = weighed.iter().all(|(key, moves)| {
                    let back = back.get(key);
                    moves.keys().all(|mv| back.is_some_and(|back| back.contains_key(mv)))
                });
                prop_assert!(kept && back.values().flat_map(BTreeMap::values).all(|(_, playable)| *playable));
            }
        }
    }
}

#[test]
#[ignore = "needs TABIYA_SAMPLES"]
fn real_games_make_the_same_book_in_every_format() {
    let sample =
        std::env::var_os("TABIYA_SAMPLES").map(|folder| Path::new(&folder).join("cbh/linares/linares.cbh"));
    let games = std::env::var_os("TABIYA_GAMES").map(PathBuf::from).or(sample);
    compare(&games.expect("TABIYA_GAMES names a file of games, or TABIYA_SAMPLES the folder of samples"));
}
