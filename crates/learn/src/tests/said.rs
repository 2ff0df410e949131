//! Sequences of edits, learning, correcting, undoing and replacing, on good and on full disks, with processes that are killed and
//! power that fails: at each step the book is what was said.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;

use shakmaty::{Color, Position as _};
use tabiya_base::error::Result;
use tabiya_book::edit::Change::Delete;
use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_chess::{Game, MoveCode};

use super::corrected::{LINES, in_file, played};
use super::disk::{Files, SimDisk};
use super::edited::{add, change, learner, set};
use super::faults::FINISHED_LATER;
use super::{RESULTS, book, compacting_to, finished};
use crate::{EntryEdit, IdentifiedGame, Learner, halfpoints};

/// The moves that are edited.
const MOVES: [&str; 3] = ["e2e4", "d2d4", "e2e4 e7e5"];

#[derive(Clone, Debug)]
enum Step {
    Edit(Vec<(usize, bool, u16)>),
    UndoEdit,
    RedoEdit,
    Learn(Vec<Learn>),
    Undo(u32),
    Reset,
    /// Another book takes the place of the book: with its journal moved away, or with the old one beside it, which is then
    /// moved away or reset.
    Replace(u16, u8),
}

/// A game that is learned: on this line, with White's half-points.
#[derive(Clone, Copy, Debug)]
enum Learn {
    /// While it is played, by one side.
    Played { line: usize, side: usize, white: usize, guess: bool },
    /// From a file, which has it under this number, for one side or both.
    Read { line: usize, number: usize, sides: usize, white: Option<usize> },
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    None,
    /// The journal can grow by so many bytes.
    Room(u64),
    /// A write to the book fails after so many, or all do; and journals cannot be cut.
    Write(u64, bool, bool),
    /// The book can be opened so often.
    Opens(u64),
    /// The process is killed somewhere within the step; or the power fails, and the number chooses what is left.
    Kill(u8, Option<u64>),
}

/// Some games that are learned together: while they are played, or from a file.
fn any_games() -> impl Strategy<Value = Vec<Learn>> {
    let played = (0..LINES.len(), 0..2_usize, 0..3_usize, any::<bool>())
        .prop_map(|(line, side, white, guess)| Learn::Played { line, side, white, guess });
    let read = (0..LINES.len(), 0..3_usize, 0..3_usize, prop::option::weighted(0.8, 0..3_usize))
        .prop_map(|(line, number, sides, white)| Learn::Read { line, number, sides, white });
    prop_oneof![prop::collection::vec(played, 1..3), prop::collection::vec(read, 1..3)]
}

fn any_step() -> impl Strategy<Value = Step> {
    let edits = prop::collection::vec((0..MOVES.len(), prop::bool::weighted(0.6), 1..4_u16), 1..4);
    prop_oneof![
        6 => edits.prop_map(Step::Edit),
        4 => Just(Step::UndoEdit),
        2 => Just(Step::RedoEdit),
        6 => any_games().prop_map(Step::Learn),
        4 => (1..4_u32).prop_map(Step::Undo),
        1 => Just(Step::Reset),
        1 => (1..50_u16, 0..3_u8).prop_map(|(weight, way)| Step::Replace(weight, way)),
    ]
}

fn any_fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        8 => Just(Fault::None),
        2 => (0..400_u64).prop_map(Fault::Room),
        3 => (0..5_u64, any::<bool>(), prop::bool::weighted(0.3)).prop_map(|(n, all, stuck)| Fault::Write(n, all, stuck)),
        1 => (1..6_u64).prop_map(Fault::Opens),
        3 => (any::<u8>(), prop::option::of(any::<u64>())).prop_map(|(at, power)| Fault::Kill(at, power)),
    ]
}

/// Steps of all kinds and faults; or of one move, which comes and goes while games learn into it.
fn any_steps() -> impl Strategy<Value = Vec<(Step, Fault, bool)>> {
    let narrow = prop::sample::select(vec![
        Step::Edit(vec![(2, true, 7)]),
        Step::UndoEdit,
        Step::RedoEdit,
        Step::Learn(vec![Learn::Played { line: 0, side: 0, white: 2, guess: true }]),
        Step::Learn(vec![Learn::Played { line: 0, side: 1, white: 0, guess: false }]),
        Step::Learn(vec![Learn::Read { line: 0, number: 0, sides: 0, white: Some(1) }]),
        Step::Learn(vec![Learn::Read { line: 0, number: 1, sides: 2, white: Some(0) }]),
        Step::Learn(vec![Learn::Read { line: 0, number: 2, sides: 2, white: None }]),
        Step::Undo(1),
        Step::Undo(2),
    ]);
    let rare = prop_oneof![7 => Just(Fault::None), 1 => any_fault()];
    let compact = || prop::bool::weighted(0.15);
    prop_oneof![
        prop::collection::vec((any_step(), any_fault(), compact()), 3..=7),
        prop::collection::vec((narrow, rare, compact()), 3..=7),
    ]
}

/// An entry by its key and move.
type At = (u64, u16);

/// An entry that an edit changes: its weight and its number, before and after.
type Diff = BTreeMap<At, [Option<(u16, usize)>; 2]>;

/// What files say of a game: its line, its number and its result.
type File = (usize, usize, Option<usize>);

/// A game that was learned.
#[derive(Clone, Debug, PartialEq)]
struct Played {
    line: usize,
    /// 1 White, 2 Black.
    sides: u8,
    white: Option<usize>,
    guess: bool,
    /// Whether it was learned while it was played, and no file has had it.
    open: bool,
    /// Whether it was learned while it was played.
    live: bool,
    file: Option<File>,
    /// Whether the journal has no record of it any more.
    dropped: bool,
    /// The entries that it changed, whether White made the move, and the half-points.
    changes: Vec<(usize, Color, Option<u16>)>,
}

/// What the book and the journal should know.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    /// The weight of each entry, and its number, which one that is added gets anew.
    entries: BTreeMap<At, (u16, usize)>,
    /// What the entries of these numbers have learned, in or out of the book.
    learned: HashMap<usize, (u16, u16)>,
    games: Vec<Played>,
    edits: Vec<Diff>,
    undone: Vec<Diff>,
    next: usize,
}

/// The weight, games and half-points of each entry.
fn content(book: &[u8]) -> BTreeMap<At, (u16, u16, u16)> {
    let all: Vec<_> = book.as_chunks().0.iter().map(PolyglotEntry::from_bytes).collect();
    assert!(all.is_sorted_by_key(|entry| entry.key));
    let known: BTreeMap<_, _> =
        all.iter().map(|e| ((e.key, e.mv.0), (e.weight, e.games, e.halfpoints))).collect();
    assert_eq!(known.len(), all.len());
    known
}

impl Model {
    fn of(book: &[u8]) -> Self {
        let entries = content(book).into_iter().enumerate();
        let entries: BTreeMap<At, (u16, usize)> =
            entries.map(|(number, (at, (weight, ..)))| (at, (weight, number))).collect();
        Self { next: entries.len(), entries, ..Self::default() }
    }

    fn content(&self) -> BTreeMap<At, (u16, u16, u16)> {
        let of = |(at, (weight, number)): (&At, &(u16, usize))| {
            let (games, points) = self.learned.get(number).copied().unwrap_or_default();
            (*at, (*weight, games, points))
        };
        self.entries.iter().map(of).collect()
    }

    fn apply(&mut self, diff: &Diff, way: usize) {
        for (at, sides) in diff {
            match sides[way] {
                Some(entry) => self.entries.insert(*at, entry),
                None => self.entries.remove(at),
            };
        }
    }

    /// The edits of a step, as the entries are now; none where they would leave no move.
    fn edits(&mut self, wanted: &[(usize, bool, u16)]) -> Vec<EntryEdit> {
        let (mut diff, mut edits) = (Diff::new(), Vec::new());
        for (place, delete, weight) in wanted {
            let EntryEdit { key, codes, .. } = change(MOVES[*place], Delete);
            let at = (key, codes[0].0);
            if diff.contains_key(&at) {
                continue;
            }
            let now = self.entries.get(&at).copied();
            let (what, new) = match now {
                Some(_) if *delete => (Delete, None),
                Some((_, number)) => (set((*weight).into()), Some((*weight, number))),
                None => {
                    self.next += 1;
                    (add((*weight).into()), Some((*weight, self.next)))
                }
            };
            edits.push(change(MOVES[*place], what));
            diff.insert(at, [now, new]);
        }
        diff.retain(|_, [old, new]| old != new);
        if !diff.is_empty() {
            self.apply(&diff, 1);
            let weights = |diff: &Diff| -> Vec<_> {
                diff.iter()
                    .map(|(at, sides)| (*at, sides.map(|side| side.map(|(weight, _)| weight))))
                    .collect()
            };
            if self.undone.pop().is_none_or(|undone| weights(&undone) != weights(&diff)) {
                self.undone.clear();
            }
            self.edits.push(diff);
        }
        edits
    }

    /// The half-points of a side.
    fn points(white: Option<usize>, color: Color) -> Option<u16> {
        white.map(|white| halfpoints(RESULTS[white], color))
    }

    /// Adds the half-points of a game to what an entry has learned, and takes others away.
    fn shift(&mut self, number: usize, from: Option<u16>, to: Option<u16>) {
        let (games, all) = self.learned.entry(number).or_default();
        *games = *games + u16::from(to.is_some()) - u16::from(from.is_some());
        *all = *all + to.unwrap_or_default() - from.unwrap_or_default();
    }

    /// Learns a game for the sides that it has, unless no move of theirs is in the book.
    fn learn(&mut self, mut game: Played, unseen: usize) {
        let mut at = Game::start();
        let plies: Vec<&str> = LINES[game.line].split(' ').collect();
        for text in &plies[..plies.len() - unseen] {
            let before = at.position().clone();
            assert!(at.push_uci(text.as_bytes()));
            let [code, _] = MoveCode::codes(*at.moves().last().unwrap(), before.chess());
            let color = before.chess().turn();
            let entry = self.entries.get(&(before.key(), code.0));
            if let Some((_, number)) = entry.filter(|_| game.sides & color.fold_wb(1, 2) != 0) {
                game.changes.push((*number, color, Self::points(game.white, color)));
            }
        }
        for (number, _, points) in &game.changes {
            self.shift(*number, None, *points);
        }
        self.games.extend((!game.changes.is_empty()).then_some(game));
    }

    /// Learns a game of a file, for the sides that have not learned it, or corrects it.
    fn read(&mut self, (line, number, white): File, sides: u8) {
        let file = Some((line, number, white));
        let mut new = 0;
        for side in [1, 2].into_iter().filter(|side| sides & side != 0) {
            if self.games.iter().any(|game| game.sides & side != 0 && game.file == file) {
                continue;
            }
            let is_its = |game: &&Played| (game.line, game.sides) == (line, side);
            let open: Vec<usize> = (0..self.games.len())
                .filter(|at| {
                    let game = &self.games[*at];
                    is_its(&game) && game.open && !game.dropped && (white.is_some() || game.guess)
                })
                .collect();
            let right = open.iter().find(|at| self.games[**at].white == white);
            if let Some(at) = right.or(open.first()).copied() {
                self.correct(at, white);
                (self.games[at].open, self.games[at].file) = (false, file);
            } else if white.is_some()
                && !self.games.iter().any(|game| is_its(&game) && game.live && game.dropped)
            {
                new |= side;
            }
        }
        if new != 0 {
            let (guess, open, live, dropped) = (false, false, false, false);
            self.learn(
                Played { line, sides: new, white, guess, open, live, file, dropped, changes: Vec::new() },
                0,
            );
        }
    }

    /// Gives a game another result, where its entries are in the book.
    fn correct(&mut self, at: usize, white: Option<usize>) {
        let mut changes = std::mem::take(&mut self.games[at].changes);
        for (number, color, points) in &mut changes {
            if self.entries.values().any(|(_, known)| known == number) {
                let new = Self::points(white, *color);
                self.shift(*number, *points, new);
                *points = new;
            }
        }
        (self.games[at].white, self.games[at].changes) = (white, changes);
    }

    fn undo(&mut self, mut count: u32) {
        while count > 0
            && let Some(game) = self.games.pop_if(|game| !game.dropped)
        {
            count -= u32::from(game.white.is_some());
            for (number, _, points) in game.changes {
                self.shift(number, points, None);
            }
        }
    }

    /// The games that count, and those of them whose results are guesses.
    fn counts(&self) -> [u64; 2] {
        let known = || self.games.iter().filter(|game| game.white.is_some());
        [
            known().count() as u64,
            known().filter(|game| game.guess && game.open && !game.dropped).count() as u64,
        ]
    }

    /// Learns a game; returns it as a learner takes it.
    fn take(&mut self, game: Learn) -> IdentifiedGame {
        match game {
            Learn::Played { line, side, white, guess } => {
                // On one line the engine is not told the last move.
                let (unseen, file, changes) = (usize::from(line == 0), None, Vec::new());
                let (sides, open, live, dropped) = (1 << side, true, true, false);
                self.learn(
                    Played { line, sides, white: Some(white), guess, open, live, file, dropped, changes },
                    unseen,
                );
                played(line, ["w", "b"][side], white, guess, unseen)
            }
            Learn::Read { line, number, sides, white } => {
                self.read((line, number, white), [1, 2, 3][sides]);
                in_file(line, number, ["w", "b", "wb"][sides], white)
            }
        }
    }
}

/// A disk, and what should be on it.
struct Session {
    disk: SimDisk,
    model: Model,
    live: Learner,
    /// A journal may have been compacted: what was long ago cannot be taken back.
    compacted: bool,
    faults: HashMap<&'static str, u32>,
}

impl Session {
    fn new(weight: u16) -> Self {
        let disk = SimDisk::from_files(Files { book: other_book(weight), journal: None });
        let model = Model::of(&disk.files().book);
        let live = learner(&disk);
        Self { disk, model, live, compacted: false, faults: HashMap::new() }
    }

    /// Does a step; `None` where what it takes back was forgotten. `models` gets what should be known after each part of it.
    fn work(&mut self, step: &Step, models: &mut Vec<Model>, compact: bool) -> Result<Option<()>> {
        let mut model = self.model.clone();
        let done = self.work_on(step, &mut model, models, compact);
        models.push(model);
        done
    }

    fn work_on(
        &mut self,
        step: &Step,
        model: &mut Model,
        parts: &mut Vec<Model>,
        compact: bool,
    ) -> Result<Option<()>> {
        let mut other = compacting_to(&self.disk, 3);
        let learner = if compact { &mut other } else { &mut self.live };
        match step {
            Step::Edit(wanted) => {
                let edits = model.edits(wanted);
                learner.edit(&edits, &[], "some").map(|_| Some(()))
            }
            Step::UndoEdit | Step::RedoEdit => {
                let back = matches!(step, Step::UndoEdit);
                let made = if back { learner.undo_edit() } else { learner.redo_edit() };
                let known = if back { model.edits.pop() } else { model.undone.pop() };
                let was_known = known.is_some();
                if let Some(diff) = known {
                    model.apply(&diff, usize::from(!back));
                    if back { model.undone.push(diff) } else { model.edits.push(diff) }
                }
                if made.as_ref().is_ok_and(Option::is_none) && was_known && self.compacted {
                    return Ok(None);
                }
                assert!(made.as_ref().map_or(true, |made| made.is_some() == was_known), "{made:?}");
                made.map(|_| Some(()))
            }
            Step::Learn(games) => {
                let take = |game: &Learn| {
                    parts.push(model.clone());
                    model.take(*game)
                };
                let all: Vec<IdentifiedGame> = games.iter().map(take).collect();
                learner.learn(&all, false).map(|_| Some(()))
            }
            Step::Undo(count) => {
                model.undo(*count);
                match learner.undo(*count) {
                    Err(error) if self.compacted && error.to_string().contains("only the last") => Ok(None),
                    undone => undone.map(|_| Some(())),
                }
            }
            Step::Reset => {
                (model.games, model.learned) = (Vec::new(), HashMap::new());
                learner.reset().map(|()| Some(()))
            }
            Step::Replace(..) => Ok(Some(())),
        }
    }

    fn step(&mut self, step: &Step, fault: Fault, compact: bool) {
        if let Step::Replace(weight, way) = step {
            return self.replace(*weight, *way);
        }
        self.compacted |= compact;
        let before = self.model.clone();
        let mut models = vec![before.clone()];
        let disk = self.disk.clone();
        match fault {
            Fault::Room(room) => disk.room(Some(room)),
            Fault::Write(writes, all, stuck) => {
                if all {
                    disk.book_writes(Some(writes))
                } else {
                    disk.book_write_fails_after(writes)
                }
                disk.stick(stuck && before != Model::of(&disk.files().book));
            }
            Fault::Opens(opens) => disk.opens(Some(opens)),
            Fault::None | Fault::Kill(..) => {}
        }
        let first = disk.ops();
        let done = self.work(step, &mut models, compact);
        disk.room(None);
        disk.book_writes(None);
        disk.opens(None);
        disk.stick(false);
        assert!(done.is_ok() || !matches!(fault, Fault::None), "refused: {:?}", done.err());
        if let Ok(None) = done {
            assert_eq!(content(&disk.files().book), before.content());
            return self.forget();
        }
        if let Fault::Kill(at, power) = fault {
            return self.kill(first, (at, power), models, done.is_ok());
        }
        let after = models.pop().unwrap();
        let said = match done {
            Ok(_) => "made",
            Err(error) if error.to_string().contains(FINISHED_LATER) => "later",
            Err(_) => "not made",
        };
        *self.faults.entry(said).or_default() += 1;
        let now = content(&disk.files().book);
        match said {
            "made" => assert_eq!(now, after.content(), "said to be made"),
            "not made" => assert_eq!(now, before.content(), "said not to be made"),
            _ => {}
        }
        self.model = if said == "not made" { before } else { after };
        learner(&disk).recover().unwrap();
        self.note_dropped();
        self.check(said);
    }

    /// The book, the games and the edits are those of the model.
    fn check(&self, said: &str) {
        assert_eq!(content(&self.disk.files().book), self.model.content(), "{said}");
        let history = learner(&self.disk).history(0).unwrap();
        assert!(history.doubt.is_none(), "{:?}", history.doubt);
        assert_eq!([history.count, history.guesses], self.model.counts(), "{said}");
    }

    /// Notes which games the journal has no records of any more.
    fn note_dropped(&mut self) {
        let kept = learner(&self.disk).comparison().unwrap().left();
        let dropped = self.model.games.len().saturating_sub(kept);
        self.model.games[..dropped].iter_mut().for_each(|game| game.dropped = true);
    }

    /// The process died within the step, which began with the operation `first`.
    fn kill(&mut self, first: usize, (at, power): (u8, Option<u64>), models: Vec<Model>, is_ok: bool) {
        *self.faults.entry("killed").or_default() += 1;
        let all = self.disk.ops();
        let len = first + usize::from(at) % (all - first + 1);
        self.disk = power.map_or_else(|| self.disk.killed(len).0, |seed| self.disk.lost(len, seed));
        self.live = learner(&self.disk);
        self.live.recover().unwrap();
        let now = content(&self.disk.files().book);
        let count = learner(&self.disk).history(0).unwrap().count;
        let is = |model: &&Model| now == model.content() && count == model.counts()[0];
        let last = models.iter().rev().find(is).expect("before or after a part of the step").clone();
        assert!(last == models[models.len() - 1] || !is_ok || len < all, "it was reported");
        // Where several are the same, what can be taken back may differ.
        let is_certain = models.iter().filter(is).all(|model| *model == last);
        self.model = last;
        if !is_certain {
            return self.forget();
        }
        self.note_dropped();
        self.check("killed");
    }

    /// Forgets what can be taken back: the journal goes.
    fn forget(&mut self) {
        self.disk.set(Files { book: self.disk.files().book, journal: None });
        self.live = learner(&self.disk);
        let learned = content(&self.disk.files().book);
        self.model = Model::of(&self.disk.files().book);
        let numbers: Vec<_> = self.model.entries.iter().map(|(at, (_, number))| (*at, *number)).collect();
        self.model.learned =
            numbers.into_iter().map(|(at, number)| (number, (learned[&at].1, learned[&at].2))).collect();
        self.compacted = false;
    }

    fn replace(&mut self, weight: u16, way: u8) {
        let journal = self.disk.files().journal.filter(|_| way > 0);
        self.disk.set(Files { book: other_book(100 + weight), journal });
        let files = self.disk.files();
        let refused = [
            learner(&self.disk).edit(&[change("e2e4", set(9))], &[], "").map(drop),
            learner(&self.disk).learn(&[finished("x", LINES[0], "wb", 2)], false).map(drop),
            learner(&self.disk).undo_edit().map(drop),
            learner(&self.disk).undo(1).map(drop),
        ];
        // With the old journal nothing is done, unless that has nothing in it; what was done before is undone here.
        if way > 0 && self.disk.files() == files {
            assert!(
                refused.iter().all(|refused| refused
                    .as_ref()
                    .is_err_and(|error| error.to_string().contains("journal")))
            );
        }
        self.disk.set(files);
        self.live = learner(&self.disk);
        match way {
            1 => self.disk.set(Files { journal: None, ..self.disk.files() }),
            2 => self.live.reset().unwrap(),
            _ => {}
        }
        self.live = learner(&self.disk);
        self.model = Model::of(&self.disk.files().book);
        self.compacted = false;
        self.check("replaced");
    }
}

/// A book of all moves of the lines, which have this weight.
fn other_book(weight: u16) -> Vec<u8> {
    let mut bytes = book(&LINES);
    bytes
        .as_chunks_mut::<16>()
        .0
        .iter_mut()
        .for_each(|entry| entry[10..12].copy_from_slice(&weight.to_be_bytes()));
    bytes
}

thread_local! {
    static SEEN: Cell<[u32; 5]> = const { Cell::new([0; 5]) };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(300, 10_000)))]

    #[test]
    fn at_each_step_the_book_is_what_was_said(
        steps in any_steps(),
    ) {
        let mut session = Session::new(10);
        for (step, fault, compact) in &steps {
            session.step(step, *fault, *compact);
        }
        let mut seen = SEEN.get();
        for (place, what) in ["made", "not made", "later", "killed"].iter().enumerate() {
            seen[place] += session.faults.get(what).unwrap_or(&0);
        }
        seen[4] += 1;
        SEEN.set(seen);
        if seen[4].is_multiple_of(2500) {
            println!("{} sequences: {seen:?} steps made, not made, to be finished later, killed", seen[4]);
        }
    }
}
