//! Games of files that were learned while they were played: they are recognised by their moves, and their results are
//! corrected.

use std::collections::HashMap;

use shakmaty::Color;

use super::transact::Transaction;
use super::undo::{deleted_by, events_since};
use super::{Learner, now_in_seconds};
use crate::error::LearnError;
use crate::field::{Field, halfpoints};
use crate::finished::{IdentifiedGame, Source};
use crate::identity::{Id, Line, lines_of};
use crate::journal::{
    Change, CorrectionRecord, JournalRecord, JournalState, LearnedGame, SoundPages, record_of,
};

/// The numbers of the games that a journal has the records of, by their lines.
pub(super) struct ByLine(HashMap<Line, Vec<usize>>);

impl ByLine {
    pub(super) fn new(games: &[LearnedGame]) -> Self {
        Self::of(games.iter().enumerate())
    }

    /// Of the games that a file can correct.
    pub(super) fn correctable(games: &[LearnedGame]) -> Self {
        Self::of(games.iter().enumerate().filter(|(_, known)| color_of(known).is_some()))
    }

    fn of<'a>(games: impl Iterator<Item = (usize, &'a LearnedGame)>) -> Self {
        let mut numbers: HashMap<Line, Vec<usize>> = HashMap::new();
        for (number, known) in games {
            let line = known.id.first_chunk().copied().unwrap_or_default();
            numbers.entry(line).or_default().push(number);
        }
        Self(numbers)
    }

    /// The game that was played on one of these lines, the first of which is likelier. Of several that were, one with the
    /// right result: which of them is which is not known.
    pub(super) fn find<'a>(
        &self,
        games: &'a [LearnedGame],
        lines: &[Line],
        result: Option<u8>,
        is_open: impl Fn(usize, &LearnedGame) -> bool,
    ) -> Option<(usize, &'a LearnedGame)> {
        let numbers = lines.iter().filter_map(|line| self.0.get(line)).flatten();
        let known = numbers.filter_map(|number| Some((*number, games.get(*number)?)));
        let open = known.filter(|(number, known)| known.correction.is_none() && is_open(*number, known));
        let mut first = None;
        for found in open {
            if Some(found.1.result) == result {
                return Some(found);
            }
            first = first.or(Some(found));
        }
        first
    }
}

/// What became of the games that were learned while this one was played, one for each side that learned.
#[derive(Default)]
pub(super) struct Corrected {
    /// The sides: 1 White, 2 Black.
    pub sides: u8,
    /// Whether one had another result.
    pub is_wrong: bool,
    /// The entries that changed.
    pub entries: usize,
}

/// The half-points of White, as a file says; `None` if the game has no result.
pub(super) fn result_of(known: &IdentifiedGame) -> Option<u8> {
    let has_result = known.source != Source::Unfinished;
    has_result.then(|| halfpoints(known.game.result, Color::White) as u8)
}

/// The lines on which a game of a file may have been learned.
pub(super) fn lines(known: &IdentifiedGame) -> Vec<Line> {
    lines_of(&known.game.start, &known.game.moves)
}

impl Learner {
    /// Corrects what was learned of these sides of a game while it was played; `now` has the fields that are changed but
    /// not written yet.
    pub(super) fn correct(
        transaction: &mut Transaction,
        games: &ByLine,
        known: &IdentifiedGame,
        sides: u8,
        now: &mut HashMap<u32, Field>,
    ) -> Result<Corrected, LearnError> {
        let (lines, result) = (lines(known), result_of(known));
        let mut corrected = Corrected::default();
        loop {
            let left = sides & !corrected.sides;
            // What the board has shown is taken back by no file that only lacks a result.
            let is_open = |_: usize, played: &LearnedGame| {
                color_of(played).is_some() && played.sides & left != 0 && (result.is_some() || played.guess)
            };
            let Some((_, played)) = games.find(&transaction.state.games, &lines, result, is_open) else {
                return Ok(corrected);
            };
            let played = *played;
            let changes = match result == Some(played.result) {
                true => Vec::new(),
                false => corrections(transaction, &played, result, now)?,
            };
            corrected.sides |= played.sides;
            corrected.is_wrong |= result != Some(played.result);
            corrected.entries += changes.len();
            let (id, file, time) = (played.id, known.id, now_in_seconds());
            transaction.add(JournalRecord::Correction(CorrectionRecord {
                id,
                file,
                result,
                time,
                changes,
            }))?;
        }
    }
}

/// What the true result of a learned game changes in the book.
fn corrections(
    transaction: &mut Transaction,
    played: &LearnedGame,
    result: Option<u8>,
    now: &mut HashMap<u32, Field>,
) -> Result<Vec<Change>, LearnError> {
    let color = color_of(played).unwrap_or(Color::White);
    let field =
        |result: Option<u8>| Field::of_game(result.map(|white| color.fold_wb(white, 2 - white.min(2))));
    let mut changes = Vec::new();
    let events = events_since(transaction, played.at)?;
    for mut change in record_of(&mut *transaction.journal, played)?.changes {
        // A move that was deleted since has nothing to correct, and one that was added in its place never had the game.
        if deleted_by(&transaction.state, events.get(&(change.key, change.mv)), played.at).is_some() {
            continue;
        }
        let Some((index, entry)) = transaction.entry_of(&change, played.at)? else { continue };
        change.index = index;
        change.old = now.get(&index).copied().unwrap_or(Field::from(entry));
        change.new = change.old.shifted(field(Some(played.result)), field(result));
        if change.new != change.old {
            now.insert(index, change.new);
            changes.push(change);
        }
    }
    Ok(changes)
}

/// The color whose moves were learned; a game that was played has one.
fn color_of(played: &LearnedGame) -> Option<Color> {
    match played.sides {
        1 => Some(Color::White),
        2 => Some(Color::Black),
        _ => None,
    }
}

/// What the journal says of a game of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// It was not learned.
    Missing,
    /// It was learned with the result that the file has.
    Right {
        /// Whether that was a guess, which nothing has confirmed.
        guess: bool,
    },
    /// It was learned with another result.
    Wrong {
        /// Half-points of White; `None` if it was taken back because another file has no result.
        learned: Option<u8>,
        /// The name under which it was learned.
        title: String,
    },
}

/// The comparison of what a book has learned with what files say.
pub struct Comparison {
    state: JournalState,
    titles: Vec<String>,
    /// The games that were found in the files.
    found: Vec<bool>,
    lines: ByLine,
    ids: HashMap<Id, Vec<usize>>,
    /// The games of the files that the journal has no record of.
    missing: Vec<(Id, Vec<Line>)>,
}

impl Comparison {
    /// Compares a game of a file; each learned game is that of one game of a file.
    pub fn compare(&mut self, game: &IdentifiedGame) -> Compared {
        let (lines, result) = (lines(game), result_of(game));
        let mut compared = Compared::Missing;
        for side in [1, 2].into_iter().filter(|side| game.game.sides_bits() & side != 0) {
            let is_open = |number: usize, known: &LearnedGame| {
                known.sides & side != 0 && self.found.get(number) == Some(&false)
            };
            let games = &self.state.games;
            let own = self.ids.get(&game.id).into_iter().flatten();
            let mut own = own.filter_map(|number| Some((*number, games.get(*number)?)));
            let known = own
                .find(|(number, known)| known.sides & side != 0 && is_open(*number, known))
                .or_else(|| self.lines.find(games, &lines, result, is_open));
            let Some((number, known)) = known else { continue };
            let is_right = known.known_result() == result;
            match &compared {
                Compared::Wrong { .. } => {}
                _ if !is_right => {
                    let title = self.titles.get(number).cloned().unwrap_or_default();
                    compared = Compared::Wrong { learned: known.known_result(), title };
                }
                _ => compared = Compared::Right { guess: known.is_guess() },
            }
            if let Some(found) = self.found.get_mut(number) {
                *found = true;
            }
        }
        if compared == Compared::Missing && result.is_some() {
            self.missing.push((game.id, lines));
        }
        compared
    }

    /// The learned games that no file has had.
    pub fn left(&self) -> usize {
        self.found.iter().filter(|found| !**found).count()
    }
}

impl Learner {
    /// Begins to compare what the journal knows with what files say. Nothing is written.
    ///
    /// # Errors
    /// As [`Learner::history`].
    pub fn comparison(&mut self) -> tabiya_base::error::Result<Comparison> {
        let read = self.claim(false)?.map(|mut journal| {
            let state = super::transact::read(None, &mut *journal, None)?.unwrap_or_default();
            let record = |known| Ok(record_of(&mut *journal, known)?.title().to_owned());
            let titles = state.games.iter().map(record).collect::<Result<Vec<String>, LearnError>>()?;
            Ok((state, titles))
        });
        let (state, titles) = read.transpose().map_err(|error| self.worded(error))?.unwrap_or_default();
        let mut ids: HashMap<Id, Vec<usize>> = HashMap::new();
        for (number, known) in state.games.iter().enumerate() {
            known.ids().for_each(|id| ids.entry(id).or_default().push(number));
        }
        let (found, lines) = (vec![false; titles.len()], ByLine::new(&state.games));
        Ok(Comparison { state, titles, found, lines, ids, missing: Vec::new() })
    }

    /// How many of the games that were missing were learned so long ago that the journal no longer has their results.
    ///
    /// # Errors
    /// As [`Learner::history`].
    pub fn dropped(&mut self, comparison: &Comparison) -> tabiya_base::error::Result<u64> {
        let state = &comparison.state;
        if state.compacted() == 0 || comparison.missing.is_empty() {
            return Ok(0);
        }
        let Some(mut journal) = self.claim(false)? else { return Ok(0) };
        let mut stored = || {
            // Another process may have compacted it since.
            let Some(state) = super::transact::read(None, &mut *journal, None)? else { return Ok(0) };
            let (mut count, mut pages) = (0, SoundPages::default());
            for (id, lines) in &comparison.missing {
                let sides = state.sides_of(&mut *journal, &mut pages, *id)?
                    | state.stored_sides(&mut *journal, &mut pages, lines)?;
                count += u64::from(sides != 0);
            }
            Ok(count)
        };
        let stored = stored();
        stored.map_err(|error| self.worded(error))
    }
}
