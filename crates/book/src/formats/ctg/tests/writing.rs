//! Books that are written, and read back by the reader and by a look-up of the test's own.

mod rules;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use proptest::prelude::*;
use shakmaty::Position as _;

use tabiya_base::progress::Progress;
use tabiya_chess::MoveCode;
use tabiya_chess::Position;
use tabiya_chess::normal::Normal;
use tabiya_testing::times;

use super::super::layout::{PAGE_LEN, STATISTICS_LEN};
use super::super::read::page::pages_in;
use super::super::signature::Signature;
use super::super::{Ctg, CtgWriter, Statistics, moves};
use crate::tests::{every, mv, sample};
use crate::traits::Book;
use crate::{
    self as book, Annotation, BookWriter, Counts, Green, MoveFacts, Moves, PositionRecord, Scope,
    WriteOptions, Written,
};

/// The look-up of the published text, without the reader: the hash with every n of ones, and those of the index entries
/// between the bounds that name a page.
fn described<'a>([ctg, cto, ctb]: &'a [Vec<u8>; 3], signature: &[u8]) -> Vec<&'a [u8]> {
    let number = |file: &[u8], at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap());
    let (low, high) = (number(ctb, 4), number(ctb, 8));
    let hash = Signature::from_chess(&decoded(signature)).unwrap().hash();
    let mut found = Vec::new();
    let mut n = 0_u32;
    while n < 0x7fff_ffff {
        let c = (hash & n).wrapping_add(n);
        if c >= low {
            let at = 16 + c as usize * 4;
            let page = if at + 4 <= cto.len() { number(cto, at) } else { u32::MAX };
            if page != u32::MAX {
                let page = &ctg[(page as usize + 1) * 4096..][..4096];
                found.extend(
                    entries(page).into_iter().filter(|entry| entry.0 == signature).map(|entry| entry.1),
                );
            }
            if c >= high {
                break;
            }
        }
        n = 2 * n + 1;
    }
    found
}

fn decoded(signature: &[u8]) -> shakmaty::Chess {
    super::super::decode(signature).unwrap()
}

/// The entries of a page: the signature, and what follows it.
fn entries(page: &[u8]) -> Vec<(&[u8], &[u8])> {
    let short = |at: usize| usize::from(page[at]) << 8 | usize::from(page[at + 1]);
    let (count, length) = (short(0), short(2));
    let mut found = Vec::new();
    let mut at = 4;
    for _ in 0..count {
        let head = usize::from(page[at] & 0x1f);
        let rest = usize::from(page[at + head]) + 33;
        found.push((&page[at..at + head], &page[at + head..at + head + rest]));
        at += head + rest;
    }
    assert_eq!(at, length);
    found
}

/// All entries of a page file.
fn all(ctg: &[u8]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let pages = ctg.chunks(PAGE_LEN as usize).skip(1);
    pages.flat_map(|page| entries(page)).map(|(head, rest)| (head.to_vec(), rest.to_vec())).collect()
}

struct Done {
    _folder: tempfile::TempDir,
    path: PathBuf,
    files: [Vec<u8>; 3],
    written: Written,
}

/// Writes a book, and reads its files.
fn write(book: &[PositionRecord], green: u32) -> Done {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ctg");
    let green = Green::PerMille(green);
    let mut writer = book::create_book(&path, &WriteOptions { green, ..WriteOptions::default() }).unwrap();
    assert!(writer.needs_positions() && writer.holds_verdicts());
    for known in book {
        writer.add(known).unwrap();
    }
    let written = writer.finish().unwrap();
    let files = ["ctg", "cto", "ctb"].map(|end| std::fs::read(path.with_extension(end)).unwrap());
    Done { _folder: folder, path, files, written }
}

/// What `check` reports, except for moves that lead out of the book.
fn errors(book: &Ctg) -> Vec<String> {
    let mut reported = Vec::new();
    book.check(&Progress::none(), &mut |finding| {
        if finding.is_error() || !finding.what.contains(" that the book does not have") {
            reported.push(finding.to_string());
        }
    });
    reported
}

/// What an entry says that the writer knows: everything except the number of rated games and the bytes of unknown meaning.
fn said(rest: &[u8]) -> (Vec<[u8; 2]>, Statistics, [Option<u32>; 2]) {
    let (moves, statistics) = rest.split_at(usize::from(rest[0]));
    let statistics = Statistics::from_bytes(statistics.try_into().unwrap());
    let averages = [statistics.own, statistics.other].map(|rating| rating.average());
    let plain = Statistics {
        own: Default::default(),
        other: Default::default(),
        unknown: 0,
        factor: 0,
        ..statistics
    };
    (moves[1..].as_chunks().0.to_vec(), plain, averages)
}

#[test]
#[ignore = "needs TABIYA_SAMPLES"]
fn perfect2021_comes_back_as_it_was() {
    let path = sample("ctg/perfect2021/Perfect2021.ctg");
    let theirs = Ctg::open(&path).unwrap();
    let whole = all(&std::fs::read(&path).unwrap());
    for (scope, positions) in
        [(Scope::All, 104_224), (Scope::Reachable, 103_969)].into_iter().take(times(1, 2))
    {
        let theirs = every(&theirs, scope);
        let Done { _folder, path, files, written } = write(&theirs, 0);
        let ours = Ctg::open(&path).unwrap();
        assert_eq!(errors(&ours), Vec::<String>::new());
        assert_eq!((written.positions, written.left_out), (positions, vec![]));
        let back = all(&files[0]);
        assert_eq!(back.len() as u64, positions);
        let (mut orphans, mut same) = (0, 0);
        for (signature, rest) in &back {
            let (moves, statistics, averages) = said(rest);
            let (their_moves, their_statistics, their_averages) = said(&whole[signature]);
            assert_eq!(moves, their_moves);
            assert_eq!(described(&files, signature), [rest]);
            // A position that no move leads to has no colour and no ratings.
            if (statistics, averages) == (their_statistics, their_averages) {
                same += 1;
            } else {
                orphans += 1;
                let colourless = Statistics { recommendation: 0, ..their_statistics };
                assert_eq!((statistics, averages), (colourless, [None; 2]));
            }
        }
        println!(
            "perfect2021 again, {scope:?}: {} positions given, {} entries, {} moves, {} pages, {same} the same, \
             {orphans} that no move leads to without colour and ratings",
            theirs.len(),
            written.positions,
            written.moves,
            pages_in(files[0].len() as u64),
        );
        // As books they are the same in every position, in each of its forms.
        let again = every(&ours, scope);
        assert_eq!(again.len(), theirs.len());
        for (ours, theirs) in again.iter().zip(&theirs) {
            assert_eq!((ours.key, ours.total, &ours.comment), (theirs.key, theirs.total, &theirs.comment));
            assert_eq!(ours.moves, theirs.moves);
        }
    }
}

fn counts(games: u64, wins: u64, draws: u64, losses: u64) -> Option<Counts> {
    Some(Counts { games, wins, draws, losses })
}

/// A move of a position with its weight and its counts.
fn facts(at: &Position, uci: &str, weight: u64, counts: Option<Counts>) -> MoveFacts<MoveCode> {
    MoveFacts { counts, ..MoveFacts::new(MoveCode::from_move(mv(at, uci)), weight) }
}

fn record_of(at: &Position, moves: Vec<MoveFacts<MoveCode>>) -> PositionRecord {
    PositionRecord { key: at.key(), position: Some(at.clone()), moves, ..PositionRecord::default() }
}

fn opened(done: &Done) -> Ctg {
    let book = Ctg::open(&done.path).unwrap();
    assert_eq!(errors(&book), Vec::<String>::new());
    book
}

/// The book's moves in a position by their names.
fn given(book: &Ctg, at: &Position) -> BTreeMap<String, book::MoveFacts> {
    let mut moves = Vec::new();
    book.moves(at, &mut moves);
    let name = |known: &book::MoveFacts| known.mv.to_uci(shakmaty::CastlingMode::Standard).to_string();
    moves.into_iter().map(|known| (name(&known), known)).collect()
}

/// Positions by their signatures, each with its moves by code.
type Model = HashMap<Vec<u8>, HashMap<u8, (u8, u64)>>;

/// The positions of random games with these steps, each once, with all its moves.
fn games(lines: &[Vec<u8>], marks: &[u8]) -> BTreeMap<u64, PositionRecord> {
    let mut book: BTreeMap<u64, PositionRecord> = BTreeMap::new();
    for line in lines {
        let mut position = Position::start();
        for (step, mark) in line.iter().zip(marks.iter().cycle()) {
            let mut legal = position.standard().unwrap().legal_moves();
            legal.sort_by_key(|mv| (mv.is_capture(), mv.to_string()));
            let Some(&mv) = legal.get(usize::from(*step) % legal.len().max(1)) else { break };
            let known = book.entry(position.key()).or_insert_with(|| record_of(&position, vec![]));
            let raw = MoveCode::from_move(mv);
            let at = known.moves.iter().position(|known| known.mv == raw).unwrap_or_else(|| {
                let mark = [None, Some(Annotation::Good), Some(Annotation::Only)][usize::from(*mark) % 3];
                known.moves.push(MoveFacts {
                    annotation: mark,
                    counts: counts(0, 0, 0, 0),
                    ..MoveFacts::new(raw, 1)
                });
                known.moves.len() - 1
            });
            let counts = known.moves[at].counts.as_mut().unwrap();
            counts.games += 1;
            *[&mut counts.wins, &mut counts.draws, &mut counts.losses][usize::from(*mark) % 3] += 1;
            position.play(mv);
        }
    }
    book
}

/// What the format should hold of these positions, independently of the writer.
fn model(book: &BTreeMap<u64, PositionRecord>) -> (Model, HashMap<Vec<u8>, Counts>) {
    let mut model = Model::new();
    let mut reached: HashMap<Vec<u8>, Counts> = HashMap::new();
    for known in book.values() {
        let position = known.position.as_ref().unwrap();
        let normal = Normal::from_chess(position.standard().unwrap()).unwrap();
        let of = model.entry(Signature::of_normal(&normal).unwrap().bytes().to_vec()).or_default();
        for known in &known.moves {
            let mv = known.at(position).unwrap().mv;
            let Some(code) = moves::code(mv, &normal, position.standard().unwrap()) else { continue };
            let seen = of.entry(code).or_default();
            seen.0 = if seen.0 == 0 { known.annotation.map_or(0, Annotation::nag) } else { seen.0 };
            seen.1 += known.counts.unwrap().games;
            let next = position.after(mv);
            let next = Signature::from_chess(next.standard().unwrap()).unwrap().bytes().to_vec();
            let counts = known.counts.unwrap();
            let sum = reached.entry(next).or_insert(Counts { games: 0, wins: 0, draws: 0, losses: 0 });
            sum.games += counts.games;
            sum.wins += counts.wins;
            sum.draws += counts.draws;
            sum.losses += counts.losses;
        }
    }
    (model, reached)
}

fn comes_back(book: &BTreeMap<u64, PositionRecord>) -> Result<(), TestCaseError> {
    let known: Vec<PositionRecord> = book.values().cloned().collect();
    let done = write(&known, 0);
    let ours = Ctg::open(&done.path).unwrap();
    prop_assert_eq!(errors(&ours), Vec::<String>::new());
    let (model, reached) = model(book);
    let entries = all(&done.files[0]);
    let positions = model.keys().chain(reached.keys()).collect::<std::collections::HashSet<_>>();
    prop_assert_eq!(entries.len(), positions.len());
    prop_assert_eq!(done.written.positions as usize, positions.len());
    for (signature, rest) in &entries {
        prop_assert_eq!(described(&done.files, signature), [rest]);
        prop_assert_eq!(rest.len(), usize::from(rest[0]) + STATISTICS_LEN);
        let (moves, statistics, _) = said(rest);
        let of: HashMap<u8, u8> = moves.iter().map(|[code, mark]| (*code, *mark)).collect();
        prop_assert_eq!(of.len(), moves.len());
        let expected = model.get(signature).cloned().unwrap_or_default();
        prop_assert_eq!(
            of,
            expected.into_iter().map(|(code, (mark, _))| (code, mark)).collect::<HashMap<_, _>>()
        );
        if let Some(counts) = reached.get(signature) {
            prop_assert_eq!(statistics.counts().swapped(), *counts);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(24, 64)))]

    #[test]
    fn random_books_come_back(
        lines in prop::collection::vec(prop::collection::vec(prop_oneof![0..3_u8, any::<u8>()], 0..60), 0..20),
        marks in prop::collection::vec(any::<u8>(), 1..20),
    ) {
        comes_back(&games(&lines, &marks))?;
    }
}

#[test]
fn pages_split_under_many_positions() {
    // A few thousand random games make some thousand pages, and rows that are merged early.
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 56) as u8
    };
    let games_made = tabiya_testing::times(150, 2000);
    let lines: Vec<Vec<u8>> = (0..games_made).map(|_| (0..50).map(|_| random()).collect()).collect();
    let book = games(&lines, &[0, 1, 2, 3, 5]);
    comes_back(&book).unwrap();
    let done = write(&book.into_values().collect::<Vec<_>>(), 0);
    let (pages, bytes) = (pages_in(done.files[0].len() as u64), all(&done.files[0]));
    let used: usize = bytes.iter().map(|(head, rest)| head.len() + rest.len()).sum();
    println!("{} positions in {pages} pages, {} bytes a page", bytes.len(), used / pages as usize);
    assert!(pages > games_made / 2 && bytes.len() as u64 > games_made * 45);
    // Hashes spread well enough to fill more than half of each page.
    assert!(used as u64 > pages * PAGE_LEN / 2, "{used}");
    assert!(done.files[1].len() < done.files[0].len() / 100);
}
