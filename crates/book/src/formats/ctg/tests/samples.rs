//! The sample books, if `TABIYA_SAMPLES` names their folder.

use std::collections::{BTreeMap, HashSet};

use tabiya_chess::Position;
use tabiya_testing::times;

use super::super::{Ctg, Signature};
use crate::choose::{Policy, chances};
use crate::polyglot::Polyglot;
use crate::tests::{moves, sample, uci};
use crate::traits::Book;
use crate::{self as book, Annotation, MoveFacts, Recommendation};

/// The positions that a book's own moves reach from the start, each once, those after fewer plies first: at most `most` of them.
fn reached(book: &dyn Book, most: usize, mut see: impl FnMut(&Position, &[MoveFacts])) -> usize {
    let mut known = HashSet::from([Position::start().key()]);
    let mut positions = vec![Position::start()];
    let mut at = 0;
    while let Some(position) = positions.get(at).filter(|_| at < most).cloned() {
        let moves = moves(book, &position);
        see(&position, &moves);
        for next in moves.iter().map(|known| position.after(known.mv)) {
            if known.insert(next.key()) {
                positions.push(next);
            }
        }
        at += 1;
    }
    at
}

#[test]
#[ignore = "needs TABIYA_SAMPLES"]
fn a_walk_of_perfect2021_finds_every_successor() {
    let path = sample("ctg/perfect2021/Perfect2021.ctg");
    let book = Ctg::open(path).unwrap();
    let (mut edges, mut illegal, mut missing) = (0, 0, 0);
    let mut known = HashSet::new();
    let reached = reached(&book, times(20_000, usize::MAX), |position, moves| {
        // Positions that are mirrored, or have their colours swapped, share one entry.
        known.insert(Signature::from_chess(position.standard().unwrap()).unwrap().bytes().to_vec());
        let entry = book.entry(position).unwrap();
        edges += moves.len();
        illegal += entry.moves.len() - moves.len();
        missing += moves.iter().filter(|known| known.counts.is_none()).count();
    });
    let positions = known.len();
    println!(
        "perfect2021: {positions} positions in {reached} forms, {edges} moves, {illegal} illegal, {missing} without an entry"
    );
    assert_eq!((positions, illegal, missing), (times(16_317, 103_969), 0, 0));
}

#[test]
#[ignore = "needs TABIYA_SAMPLES"]
fn the_ratings_of_the_side_to_move_come_first() {
    let path = sample("ctg/perfect2021/Perfect2021.ctg");
    let book = Ctg::open(path).unwrap();
    let (mut swapped, mut same) = (0, 0);
    reached(&book, times(20_000, usize::MAX), |position, moves| {
        let [only] = moves else { return };
        let (here, next) = (book.entry(position), book.entry(&position.after(only.mv)));
        let (Some(here), Some(next)) = (here, next) else { return };
        let (here, next) = (here.statistics(), next.statistics());
        if here.own.games > 0 && here.games == next.games && here.own != here.other {
            swapped += u32::from(here.own == next.other && here.other == next.own);
            same += u32::from(here.own == next.own && here.other == next.other);
        }
    });
    println!("ratings change places with the side to move in {swapped} positions, and do not in {same}");
    assert!(swapped > 100 * same.max(1));
}

#[test]
#[ignore = "needs TABIYA_SAMPLES"]
fn simple_opens_and_answers() {
    let path = sample("ctg/simple/simple.ctg");
    let book = book::open_book(path).unwrap();
    let mut edges = Vec::new();
    let positions = reached(&*book, usize::MAX, |position, moves| {
        for known in moves {
            edges.push((position.fen(), uci(known.mv), known.weight, known.annotation));
        }
        let mut chance = Vec::new();
        chances(moves, &Policy::default(), |_| true, &mut chance);
        assert!(chance.iter().all(|&chance| chance * moves.len() as f64 == 1.0));
    });
    assert_eq!((positions, edges.len()), (4, 3));
    assert!(edges.iter().all(|(_, _, weight, mark)| (*weight, *mark) == (1, None)), "{edges:?}");
    assert!(book.best(&Position::start()).is_some());
}

#[test]
#[ignore = "needs TABIYA_SAMPLES"]
fn the_authors_own_polyglot_book_has_the_same_playable_moves() {
    let ctg = sample("ctg/perfect2021/Perfect2021.ctg");
    let bin = sample("polyglot/Perfect2021.bin");
    let ctg = Ctg::open(ctg).unwrap();
    let bin = Polyglot::new(&bin, tabiya_base::map::Map::open(&bin).unwrap());
    let keys: HashSet<u64> = bin.entries().iter().map(|entry| entry.key).collect();
    let (mut all, mut same) = (0, 0);
    let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
    // What the .bin has, the .ctg reaches; its other positions count as different.
    reached(&ctg, usize::MAX, |position, known| {
        if !keys.contains(&position.key()) {
            return;
        }
        all += 1;
        let mut chance = Vec::new();
        chances(known, &Policy::default(), |_| true, &mut chance);
        let playable = known.iter().zip(&chance).filter(|(_, chance)| **chance > 0.0).map(|(known, _)| known);
        let ours: Vec<&MoveFacts> = playable.collect();
        let theirs = moves(&bin, position);
        let more = ours.iter().filter(|known| theirs.iter().all(|other| other.mv != known.mv));
        let more: Vec<_> = more.collect();
        let less: Vec<_> =
            theirs.iter().filter(|other| ours.iter().all(|known| known.mv != other.mv)).collect();
        if more.is_empty() && less.is_empty() {
            same += 1;
            return;
        }
        for known in more {
            let green = known.recommended == Some(Recommendation::Green);
            *kinds
                .entry(if green {
                    "only the .ctg plays a green move"
                } else {
                    "only the .ctg plays a move without color"
                })
                .or_default() += 1;
        }
        for other in less {
            let kind = match known.iter().find(|known| known.mv == other.mv) {
                None => "only the .bin has the move",
                Some(MoveFacts { recommended: Some(Recommendation::Red), .. }) => {
                    "only the .bin plays a red move"
                }
                Some(MoveFacts {
                    annotation: Some(Annotation::Dubious | Annotation::Bad | Annotation::Blunder),
                    ..
                }) => "only the .bin plays a move marked ?, ?? or ?!",
                Some(MoveFacts { recommended: Some(Recommendation::Green), .. }) => {
                    "only the .bin plays a green move"
                }
                Some(_) => "only the .bin plays a move without color beside green ones",
            };
            *kinds.entry(kind).or_default() += 1;
        }
    });
    let total = keys.len();
    println!("{same} of {total} positions of Perfect2021.bin have the same playable moves in the .ctg");
    println!("({} of them are not reached in the .ctg)", total - all);
    kinds.iter().for_each(|(kind, count)| println!("{count:>6} {kind}"));
    assert!(same * 100 >= total * 95, "{same} of {total}");
}
