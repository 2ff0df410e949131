//! The order of searches against that of any number of engines, and values against a reference.

use std::cell::Cell;
use std::collections::HashMap;

use proptest::prelude::*;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use shakmaty::{Color, Position as _};

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;

use tabiya_book::{Counts, MoveFacts, Moves, Scope, Variant, Visit};
use tabiya_chess::{MoveCode, Position, Value};

use crate::expected::Expected;

use super::drop_out::View;
use super::tree::State;
use super::*;

/// A number that looks random.
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 31).wrapping_mul(0x7fb5_d329_728e_a185);
    (number ^ number >> 27).wrapping_mul(0x81da_def4_bc2d_d44d)
}

/// Up to three moves in each position; whether it counts games.
#[derive(Debug)]
struct Invented(u64, bool);

impl Moves for Invented {
    fn variant(&self) -> Variant {
        Variant::Chess
    }

    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        let count = mixed(at.key() ^ self.0) % 4;
        let mut legal: Vec<_> = at.chess().legal_moves().into_iter().collect();
        legal.sort_by_key(|mv| mixed(at.after(*mv).key() ^ self.0));
        let facts = |mv| {
            let mut facts = MoveFacts::new(mv, 1 + mixed(at.after(mv).key()) % 9);
            facts.counts = self.1.then(|| Counts { games: facts.weight, ..Counts::default() });
            facts
        };
        out.extend(legal.into_iter().take(count as usize).map(facts));
    }

    fn each(&self, _: Scope, _: &Progress, _: Visit<'_>) -> Result<u64> {
        Ok(0)
    }
}

/// What an engine says: always the same of the same search.
fn answer(task: &Task) -> Answer {
    let mut legal: Vec<_> = task.at.chess().legal_moves().into_iter().collect();
    legal.retain(|mv| !task.without.contains(&MoveCode::from_move(*mv)));
    let best = legal.into_iter().min_by_key(|mv| mixed(task.at.after(*mv).key()));
    let worse = 5 * task.without.len() as i64;
    let value = (mixed(task.at.key()) % 41) as i64 - 20 - worse;
    Answer { value: value as Value, best: best.map_or(MoveCode::NULL, MoveCode::from_move) }
}

fn opponent(book: Option<&dyn Moves>) -> Expected<'_> {
    Expected::new(book)
}

/// Lets a book grow with as many engines; those that are done come in any order. Returns the searches that were made too.
fn grown<'a>(
    growth: Growth<'a>,
    most: u64,
    engines: usize,
    chance: &mut impl RngExt,
) -> (Growth<'a>, Vec<u64>) {
    let mut rounds = Rounds::new(growth, most);
    let (mut busy, mut made) = (Vec::new(), Vec::new());
    loop {
        let step = if busy.len() < engines { rounds.next(&|_| None) } else { Step::Wait };
        match step {
            Step::Search(number, task) => busy.push((number, task)),
            Step::Done if busy.is_empty() => return (rounds.finish(&|_| None).growth, made),
            Step::Wait | Step::Done => {
                let (number, task) = busy.swap_remove(chance.random_range(0..busy.len()));
                made.push(number);
                rounds.found(number, Some(answer(&task)));
            }
        }
    }
}

/// Everything that a growth knows, as one number.
fn everything(growth: &Growth<'_>) -> u64 {
    let text = format!("{:?} {:?}", growth.tree.nodes, growth.tree.edges);
    text.bytes().fold(0, |sum, byte| mixed(sum ^ u64::from(byte)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(8, 200)))]

    #[test]
    fn the_book_does_not_depend_on_how_many_engines_there_are(
        seed in any::<u64>(),
        most in 1..400_u64,
        both in any::<bool>(),
        model in prop::option::of(any::<bool>()),
    ) {
        let (start, theirs) = (Invented(seed, false), Invented(!seed, model == Some(true)));
        let sides: &[Color] = if both { &[Color::White, Color::Black] } else { &[Color::Black] };
        let mut chance = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut texts = Vec::new();
        for engines in [1, 2, 8, 40] {
            let book: Option<&dyn Moves> = if model.is_some() { Some(&theirs) } else { None };
            let growth = Growth::new(Variant::Chess, Some(&start), opponent(book), sides);
            let (growth, mut made) = grown(growth, most, engines, &mut chance);
            made.sort_unstable();
            prop_assert_eq!(made, (0..most).collect::<Vec<_>>());
            texts.push(everything(&growth));
        }
        prop_assert!(texts.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn what_was_cut_off_goes_on_to_the_same_book(seed in any::<u64>(), most in 100..400_u64, cut in 0..100_u64) {
        let theirs = Invented(seed, false);
        let growth = || Growth::new(Variant::Chess, None, opponent(Some(&theirs)), &[Color::White]);
        let mut chance = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (whole, _) = grown(growth(), most, 3, &mut chance);
        // The store has some of the searches, as when a run was killed.
        let mut rounds = Rounds::new(growth(), most);
        let has = |task: &Task| mixed(task.at.key() ^ task.without.len() as u64) % 100 < cut;
        while let Step::Search(number, task) = rounds.next(&|task| has(task).then(|| answer(task))) {
            prop_assert!(!has(&task));
            rounds.found(number, Some(answer(&task)));
        }
        prop_assert_eq!(everything(&rounds.finish(&|_| None).growth), everything(&whole));
    }

    #[test]
    fn what_is_missing_depends_on_what_is_known_alone(seed in any::<u64>(), most in 100..400_u64, cut in 0..100_u64) {
        let theirs = Invented(seed, false);
        let growth = || Growth::new(Variant::Chess, None, opponent(Some(&theirs)), &[Color::White]);
        let has = |task: &Task| mixed(task.at.key() ^ task.without.len() as u64) % 100 < cut;
        let known = |task: &Task| has(task).then(|| answer(task));
        // Some engines make the searches that are known at last, and then the time is up.
        let mut ends = Vec::new();
        for in_store in [true, false] {
            let mut rounds = Rounds::new(growth(), most);
            let taken = Cell::new(0);
            let take = |found: Option<Answer>| {
                taken.set(taken.get() + u64::from(found.is_some()));
                found
            };
            let before = |task: &Task| take(known(task).filter(|_| in_store || task.at.key().is_multiple_of(3)));
            while let Step::Search(number, task) = rounds.next(&before) {
                if let Some(answer) = take(known(&task)) {
                    rounds.found(number, Some(answer));
                }
            }
            let Finished { growth, missing, searches } = rounds.finish(&|task| take(known(task)));
            prop_assert!(missing.iter().all(|task| !has(task)));
            prop_assert_eq!(searches, taken.get());
            ends.push((everything(&growth), missing.len(), searches));
        }
        prop_assert_eq!(ends[0], ends[1]);
    }

    #[test]
    fn values_are_those_of_a_reference(seed in any::<u64>(), most in 1..300_u64, model in prop::option::of(any::<bool>())) {
        let (start, theirs) = (Invented(seed, false), Invented(!seed, model == Some(true)));
        let book: Option<&dyn Moves> = if model.is_some() { Some(&theirs) } else { None };
        let growth = Growth::new(Variant::Chess, Some(&start), opponent(book), &[Color::White]);
        let (growth, _) = grown(growth, most, 2, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        let shape = growth.shape().unwrap();
        let view = View::new(&growth.tree, &shape, Color::White);
        let mut reference = Reference { growth: &growth, known: HashMap::new() };
        for number in 0..growth.len() as u32 {
            if let Some(value) = reference.value(number) {
                prop_assert_eq!(view.value(number), value, "{}", number);
            }
        }
    }
}

/// Plain minimax for White, and averages where Black plays from its book, as far as that knows.
struct Reference<'a, 'b> {
    growth: &'a Growth<'b>,
    known: HashMap<u32, Option<Option<Value>>>,
}

impl Reference<'_, '_> {
    /// What White can reach from a position, if that is known; `None` outside if it lies on or before a cycle.
    fn value(&mut self, number: u32) -> Option<Option<Value>> {
        if let Some(value) = self.known.get(&number) {
            return *value;
        }
        self.known.insert(number, None);
        let tree = &self.growth.tree;
        let node = tree.nodes[number as usize];
        let sign = |white: bool| if white { 1 } else { -1 };
        let own = |number: u32| {
            let node = tree.nodes[number as usize];
            matches!(node.state, State::Searched | State::Ended).then(|| sign(node.white) * node.own)
        };
        let moves: Vec<_> = tree.edges.iter().filter(|edge| edge.from == number).collect();
        let first = |number: u32| {
            own(number).map(|_| sign(tree.nodes[number as usize].white) * tree.nodes[number as usize].first)
        };
        let followed = tree.edges.get(node.best as usize).and_then(|edge| first(edge.to));
        let own = match (node.white, followed) {
            (false, _) if node.left == 0.0 => own(number),
            (true, Some(_)) => None,
            // They may have a move that loses 20 centipawns against the one that was found.
            (false, Some(value)) => Some(value.min(own(number)? + 20)),
            (_, None) => own(number),
        };
        let mut values = Vec::new();
        for edge in &moves {
            values.push(self.value(edge.to)?);
        }
        let all_known = values.iter().all(Option::is_some);
        let average = |forced: Option<Value>| {
            let played = moves.iter().zip(&values);
            let played = played.map(|(edge, value)| (f64::from(edge.reason.chance), value.or(own)));
            let parts = played.chain([(f64::from(node.left), forced)]).filter(|(chance, _)| *chance > 0.0);
            let parts: Vec<(f64, Value)> = parts.map(|(chance, value)| (chance, value.unwrap())).collect();
            let (least, most) =
                (parts.iter().map(|(_, value)| *value).min(), parts.iter().map(|(_, value)| *value).max());
            let (least, most) = (least.unwrap(), most.unwrap());
            if least == most || least >= 1000 || most <= -1000 {
                return least;
            }
            let score = |value: Value| (0.003_682_08 / 2.0 * f64::from(value.clamp(-1000, 1000))).tanh();
            let sums = parts
                .iter()
                .fold((0.0, 0.0), |sums, (chance, value)| (sums.0 + chance, sums.1 + chance * score(*value)));
            ((sums.1 / sums.0).atanh() * 2.0 / 0.003_682_08).round() as Value
        };
        let known = values.iter().copied().flatten().chain(own);
        let forced = match node.white {
            true => known.max(),
            false if own.is_some() || all_known => known.min(),
            false => None,
        };
        let value = if !node.white && node.left < 1.0 { Some(average(forced)) } else { forced };
        self.known.insert(number, Some(value));
        Some(value)
    }
}

#[test]
fn the_most_probable_replies_are_searched_first() {
    let growth = Growth::new(Variant::Chess, None, opponent(None), &[Color::White]);
    let (growth, _) = grown(growth, 400, 1, &mut Xoshiro256PlusPlus::seed_from_u64(1));
    let shape = growth.shape().unwrap();
    let book = Grown::new(&growth, &shape, 10);
    let figures = book.plays()[0].figures();
    assert!(figures.positions > 10 && figures.plies > 3.5 && figures.covered > 0.3, "{figures:?}");
    // Each position that the book has is one in which White is to move, with a legal move that loses little.
    let mut count = 0;
    let mut visit = |record: &tabiya_book::PositionRecord| {
        count += 1;
        let at = record.position.as_ref().unwrap();
        assert!(at.chess().turn().is_white() && !record.moves.is_empty());
        assert_eq!(book.moves_in(at).len(), record.moves.len());
        Ok(())
    };
    book.each(Scope::All, &Progress::none(), &mut visit).unwrap();
    assert_eq!(count, figures.positions);
}

/// How long this many engines take for all searches, if each lasts as long as its limit.
fn time_with(engines: usize, most: u64) -> u64 {
    let theirs = Invented(7, false);
    let mut rounds =
        Rounds::new(Growth::new(Variant::Chess, None, opponent(Some(&theirs)), &[Color::White]), most);
    let (mut now, mut busy) = (0, Vec::<(u64, u64, Task)>::new());
    loop {
        let step = if busy.len() < engines { rounds.next(&|_| None) } else { Step::Wait };
        match step {
            Step::Search(number, task) => busy.push((now + task.times, number, task)),
            Step::Done if busy.is_empty() => return now,
            Step::Wait | Step::Done => {
                let first = (0..busy.len()).min_by_key(|place| (busy[*place].0, busy[*place].1)).unwrap();
                let (end, number, task) = busy.swap_remove(first);
                now = end;
                rounds.found(number, Some(answer(&task)));
            }
        }
    }
}

#[test]
fn eight_engines_are_seven_times_as_fast_as_one() {
    // At the beginning a line has to be searched one position after the other.
    let (one, eight) = (time_with(1, 20_000), time_with(8, 20_000));
    assert!(one >= 7 * eight, "{one} {eight}");
}

#[test]
#[ignore = "measures: TABIYA_FULL_TESTS=1 cargo test --release --lib a_million_positions -- --ignored --nocapture"]
fn a_million_positions_take_less_than_a_gigabyte() {
    let theirs = Invented(3, false);
    for most in tabiya_testing::times(&[10_000][..], &[10_000, 100_000, 1_000_000]).iter().copied() {
        let begun = std::time::Instant::now();
        let growth = Growth::new(Variant::Chess, None, opponent(Some(&theirs)), &[Color::White]);
        let (growth, _) = grown(growth, most, 1, &mut Xoshiro256PlusPlus::seed_from_u64(3));
        let bytes = tabiya_base::resources::resident().unwrap();
        eprintln!("{most} searches, {} positions: {} MB, {:?}", growth.len(), bytes >> 20, begun.elapsed());
        assert!(bytes < 1 << 30);
    }
}
