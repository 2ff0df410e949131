//! Counting games, on all cores.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use shakmaty::{ByColor, Move, Position as _};

use tabiya_base::error::{Error, Result};
use tabiya_base::progress::Progress;
use tabiya_book::{By, Slice};
use tabiya_chess::MoveCode;
use tabiya_chess::{Packed, Position};
use tabiya_games::play::play;
use tabiya_games::{
    Date, GameEnd, GameError, GameHeader, GameLocation, GameResult, KeyedPly, Reason, Sources, Visitor,
};

use super::Resources;
use super::files::BuildFiles;
use super::filter::{Exclusion, Filter, Sides, slice_of};
use super::game_index::GameIndex;
use super::marks::Marks;
use super::repeated::Repeated;
use super::report::BuildReport;
use super::row::{Count, CountedRow, GameOutcome};
use super::sort::{RadixSorter, SortedRuns};

/// Plies of one line that count; the rest is left out. The longest game that the rules allow has fewer.
const MAX_PLIES: usize = 1 << 14;

/// The first moves of games, which many games have in common.
const COMMON_PLIES: usize = 16;

/// Bytes of a move that waits for the end of its game, with what is known of it: its position, and its place in a set, which
/// may be half empty and be copied when it grows.
const WAITING_LEN: usize =
    size_of::<KeyedPly>() + size_of::<Option<Packed>>() + 3 * size_of::<(u64, MoveCode)>();

/// What was counted.
#[derive(Debug)]
pub struct CountedGames<R> {
    /// The rows of each thread.
    pub runs: Vec<SortedRuns<R>>,
    /// What became of the games.
    pub report: BuildReport,
    pub(crate) marks: Marks,
}

/// Counts the games of a source on all threads, except those that are repeated, and adds them to the index if there is one.
/// Games are counted separately `by` speed and rating.
///
/// Rows that hold their position also count the games that ended in it, or left it with a move that does not count: such
/// a row has [`MoveCode::NULL`], so that the rows of a position add up to all its games.
///
/// # Errors
/// When a file cannot be read, a temporary one cannot be written, or the work is interrupted.
pub fn count<R: CountedRow>(
    source: &mut Sources,
    filter: &Filter,
    by: By,
    repeated: &Repeated,
    resources: &Resources,
    index: Option<&GameIndex>,
    progress: &Progress,
) -> Result<CountedGames<R>> {
    let share = resources.memory / resources.threads.max(1);
    let files = BuildFiles::new(source);
    let most = filter.max_ply.map_or(MAX_PLIES, |most| (most as usize).min(MAX_PLIES));
    let room = (share / WAITING_LEN).max(MAX_PLIES);
    let counter = || Counter {
        filter,
        wanted_tags: filter.wanted_tags(by),
        by,
        slice: Slice::default(),
        date: Date::default(),
        files: &files,
        repeated,
        index,
        sorter: RadixSorter::<R>::new(share, &resources.temp),
        report: BuildReport::default(),
        sides: Sides::default(),
        game: 0,
        entry: Vec::new(),
        waiting: Vec::new(),
        seen: HashSet::new(),
        packed: Vec::new(),
        last: None,
        before_last: None,
        newest: None,
        marks: Marks::default(),
        refuted: false,
        refuted_before: false,
        ply: 0,
        first: 0,
        plies: 0,
        lines: Vec::new(),
        most,
        room,
        place: GameLocation::default(),
        is_set_up: false,
        other_side: 0,
        mistakes: 0,
        unlisted: 0,
        not_listed: Vec::new(),
        is_limited: false,
        crowded: false,
        failed: None,
    };
    let finish = |counter: Counter<'_, R>| match counter.failed {
        Some(error) => Err(error),
        None => Ok((counter.sorter.finish()?, counter.report, counter.marks)),
    };
    let counted = play(source, resources, progress, counter, finish)?;
    let mut all = CountedGames { runs: Vec::new(), report: BuildReport::default(), marks: Marks::default() };
    for (runs, report, marks) in counted {
        all.runs.push(runs);
        all.report.merge(report);
        all.marks.merge(marks);
    }
    all.report.lost_marks = all.marks.lost();
    all.report.unread_weights = all.marks.unreadable();
    Ok(all)
}

/// What one thread counts.
struct Counter<'a, R> {
    filter: &'a Filter,
    wanted_tags: Vec<String>,
    by: By,
    slice: Slice,
    date: Date,
    files: &'a BuildFiles,
    repeated: &'a Repeated,
    index: Option<&'a GameIndex>,
    sorter: RadixSorter<R>,
    report: BuildReport,
    sides: Sides,
    game: u64,
    /// The game's entry in the index.
    entry: Vec<u8>,
    /// The moves that wait for the result of their game.
    waiting: Vec<KeyedPly>,
    /// Positions and moves of this game that wait, if variations may repeat them.
    seen: HashSet<(u64, MoveCode)>,
    /// Their positions, if rows hold them.
    packed: Vec<Option<Packed>>,
    /// The last move of the present line if it counts and nothing follows it yet, where rows hold positions.
    last: Option<(Position, Move)>,
    /// The same before the last move.
    before_last: Option<(Position, Move)>,
    /// The last move of the present line, if it was the first of its kind to count.
    newest: Option<Newest>,
    marks: Marks,
    /// Whether a mistake was made in the present line, so that nothing that follows counts.
    refuted: bool,
    /// The same before the last move.
    refuted_before: bool,
    /// Plies from the start of the game in the present line.
    ply: usize,
    /// Plies before the first move of the present line.
    first: usize,
    /// The lines around the present one.
    lines: Vec<VariationPoint>,
    /// Plies of the main line.
    plies: usize,
    most: usize,
    /// Moves of one game for which there is memory.
    room: usize,
    /// Where the game is.
    place: GameLocation,
    /// The game begins with a position of its own.
    is_set_up: bool,
    /// Plies of the game that are those of the other side.
    other_side: u64,
    /// Mistakes of the game, and what follows them.
    mistakes: u64,
    /// Moves of the game that are not in the book that it is of.
    unlisted: u64,
    /// The places of such moves in the line that comes next.
    not_listed: Vec<usize>,
    /// The game reached the last ply that counts.
    is_limited: bool,
    /// A position of the game has too many pieces for a row.
    crowded: bool,
    failed: Option<Error>,
}

/// A move that glyphs and comments may follow.
#[derive(Clone, Copy)]
struct Newest {
    /// The position's key and the move.
    at: (u64, MoveCode),
    /// Its place among the moves that wait for the result.
    index: usize,
}

/// A line, as it is when a variation of its last move begins.
struct VariationPoint {
    ply: usize,
    first: usize,
    last: Option<(Position, Move)>,
    newest: Option<Newest>,
    refuted: bool,
    refuted_before: bool,
}

impl<R: CountedRow> Counter<'_, R> {
    /// Takes the last move of the present line back: it is a mistake, and what follows does not count either.
    fn refute(&mut self) {
        self.refuted = true;
        self.mistakes += u64::from(self.take_back());
    }

    /// Takes the last move of the present line back, if it counts, and returns whether it does.
    fn take_back(&mut self) -> bool {
        let Some(Newest { at, index }) = self.newest.take() else { return false };
        self.seen.remove(&at);
        let counts = index < self.waiting.len();
        if counts {
            self.waiting.remove(index);
        }
        if index < self.packed.len() {
            self.packed.remove(index);
        }
        // The line ends before the move.
        self.last = self.before_last.take();
        self.wait_last();
        counts
    }

    /// Leaves the moves of a line that are not in the book that it is of out of those that wait.
    fn leave_unlisted(&mut self, plies: &[KeyedPly]) {
        if self.not_listed.is_empty() {
            return;
        }
        let is_of_side = |place: &usize| plies.get(*place).is_some_and(|ply| *self.sides.get(ply.side));
        let places: HashSet<_> = self.not_listed.drain(..).filter(|place| *place < self.most).collect();
        self.unlisted = places.iter().filter(|place| is_of_side(place)).count() as u64;
        let listed = plies.iter().take(self.most).enumerate().filter(|(place, _)| !places.contains(place));
        let counted = listed.map(|(_, ply)| ply).filter(|ply| *self.sides.get(ply.side));
        self.waiting.clear();
        self.waiting.extend(counted);
    }

    /// Counts the moves of a game with this result, which is the known one unless there is none.
    fn settle(&mut self, result: GameResult, known: Option<GameResult>) -> Result<()> {
        let outcomes = match result {
            _ if self.filter.repertoire => ByColor::new_with(|_| GameOutcome::Draw),
            GameResult::White => ByColor { white: GameOutcome::Win, black: GameOutcome::Loss },
            GameResult::Black => ByColor { white: GameOutcome::Loss, black: GameOutcome::Win },
            GameResult::Draw => ByColor::new_with(|_| GameOutcome::Draw),
        };
        let games = self.filter.units(self.date);
        let mut packed = self.packed.iter().copied();
        for (place, &KeyedPly { key, mv, side }) in self.waiting.iter().enumerate() {
            let outcome = *outcomes.get(side);
            let count = Count { key, mv, slice: self.slice, outcome, games };
            if let Some(row) = R::make(count, packed.next().flatten(), self.game) {
                if place < COMMON_PLIES {
                    self.sorter.push_common(row, key.wrapping_add(u64::from(mv.0) * 3 + outcome as u64))?
                } else {
                    self.sorter.push(row)?
                }
            }
        }
        self.report.plies +=
            self.waiting.iter().filter(|waiting| waiting.mv != MoveCode::NULL).count() as u64;
        self.index.map_or(Ok(()), |index| index.add(&mut self.entry, known))
    }

    /// Takes a move that is within the plies that count.
    fn take(&mut self, at: &Position, mv: Move) {
        let code = MoveCode::from_move(mv);
        self.newest = None;
        self.refuted_before = self.refuted;
        let counts = *self.sides.get(at.chess().turn());
        if self.refuted || !counts {
            self.other_side += u64::from(!counts);
            self.mistakes += u64::from(counts);
            self.wait_last();
            return;
        }
        self.before_last = self.last.take();
        // What another line of the same game had counts once.
        if self.filter.variations && !self.seen.insert((at.key(), code)) {
            self.last = None;
            return;
        }
        self.newest = Some(Newest { at: (at.key(), code), index: self.waiting.len() });
        self.wait(at, code);
        self.last = R::PLACED.then(|| (at.clone(), mv));
    }

    /// Notes a move, or that the line ended.
    fn wait(&mut self, at: &Position, mv: MoveCode) {
        if R::PLACED {
            let packed = Packed::new(at);
            self.crowded |= packed.is_none();
            self.packed.push(packed);
        }
        self.waiting.push(KeyedPly { key: at.key(), mv, side: at.chess().turn() });
        if self.waiting.len() > self.room {
            let what = format!(
                "the game at {} has more than {} moves with its variations, ",
                self.place.spot, self.room
            );
            let error = Error::format(&self.place.file, what + "and there is no memory for more");
            self.failed.get_or_insert(error.advice("allow more memory, or split the game"));
        }
    }

    /// Notes that the main line is longer than any game may be.
    fn is_endless(&self) -> Option<GameError> {
        let is_endless = self.is_limited && self.filter.max_ply.is_none_or(|most| most as usize > MAX_PLIES);
        let why = format!("the game has more than {MAX_PLIES} plies");
        is_endless.then(|| GameError { reason: Reason::TooLong, place: self.place.clone(), why })
    }

    /// Notes the position that the line ended in.
    fn wait_last(&mut self) {
        if let Some((at, mv)) = self.last.take() {
            self.wait(&at.after(mv), MoveCode::NULL);
        }
    }
}

impl<R: CountedRow> Visitor for Counter<'_, R> {
    fn wanted_tags(&self) -> &[String] {
        &self.wanted_tags
    }

    fn begin(&mut self, game: &GameHeader) -> bool {
        self.report.games += 1;
        if self.failed.is_some() {
            return false;
        }
        match self.filter.admits(game) {
            Ok(sides) => self.sides = sides,
            Err(left) => {
                *self.report.left.entry(left).or_default() += 1;
                if left == Exclusion::Player && self.report.used == 0 {
                    self.report.other_players.add(&game.white, &game.black);
                }
                return false;
            }
        }
        if !Arc::ptr_eq(&self.place.file, &game.place.file) {
            self.place.file = game.place.file.clone();
        }
        (self.place.spot, self.place.offset) = (game.place.spot, game.place.offset);
        if R::PLACED || !self.repeated.is_empty() {
            self.game = self.files.number(&game.place.file, game.place.offset);
            match self.repeated.contains(self.game) {
                Ok(false) => {}
                Ok(true) => {
                    *self.report.left.entry(Exclusion::Repeated).or_default() += 1;
                    return false;
                }
                Err(error) => {
                    self.failed = Some(error);
                    return false;
                }
            }
            if self.index.is_some() {
                GameIndex::write_entry(self.game, game, &mut self.entry);
            }
        }
        self.slice = slice_of(game, self.by);
        self.date = game.date;
        self.is_set_up = game.start.is_some();
        self.waiting.clear();
        self.packed.clear();
        self.lines.clear();
        (self.last, self.before_last, self.newest) = (None, None, None);
        (self.refuted, self.refuted_before) = (false, false);
        self.seen.clear();
        (self.ply, self.first, self.plies, self.crowded) = (0, 0, 0, false);
        (self.other_side, self.mistakes, self.unlisted, self.is_limited) = (0, 0, 0, false);
        true
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        if self.failed.is_some() {
            return ControlFlow::Break(());
        }
        let counts = self.ply < self.most;
        self.ply += 1;
        let in_main_line = self.lines.is_empty();
        if in_main_line {
            self.plies += 1;
        }
        if counts {
            self.take(at, mv);
        } else {
            self.newest = None;
        }
        // Variations of the last move that counts may follow it.
        let enough = if self.filter.variations { self.ply > self.most } else { self.ply >= self.most };
        self.is_limited |= enough && (in_main_line || self.most == MAX_PLIES);
        if in_main_line && enough && self.plies >= self.filter.min_plies as usize {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self, end: GameEnd) {
        self.wait_last();
        let result = self.filter.result(end.result, self.plies);
        if let Some(cut) = end.cut {
            self.report.add_cut(cut);
        }
        let endless = self.is_endless();
        self.is_limited &= endless.is_none();
        if let Some(error) = end.error.or(endless) {
            let used = !self.filter.strict && !self.crowded && result.is_ok() && !self.waiting.is_empty();
            self.report.add(error, used);
            if self.filter.strict || self.waiting.is_empty() {
                return;
            }
        }
        if self.crowded {
            self.report.crowded += 1;
            return;
        }
        match result {
            Err(left) => *self.report.left.entry(left).or_default() += 1,
            Ok(result) => {
                self.report.used += 1;
                self.report.newest = self.report.newest.max(self.date);
                self.report.set_up += u64::from(self.is_set_up);
                self.report.other_side += self.other_side;
                self.report.mistakes += self.mistakes;
                self.report.unlisted += self.unlisted;
                self.report.limited += u64::from(self.is_limited);
                let has_no_result = end.result.is_none() && !self.filter.repertoire;
                self.report.unfinished += u64::from(has_no_result);
                if let Err(error) = self.settle(result, end.result) {
                    self.failed = Some(error);
                }
            }
        }
    }

    fn unreadable(&mut self, error: GameError) {
        self.report.games += error.games();
        self.report.add(error, false);
    }

    fn wants_variations(&self) -> bool {
        self.filter.variations
    }

    fn begin_variation(&mut self) {
        let (ply, refuted, refuted_before) = (self.ply, self.refuted, self.refuted_before);
        let (last, newest) = (self.last.take(), self.newest.take());
        self.lines.push(VariationPoint { ply, first: self.first, last, newest, refuted, refuted_before });
        // Before its first move a line has none whose place another takes.
        self.first = self.ply.saturating_sub(1).max(self.first);
        self.ply = self.first;
        self.refuted = refuted_before;
    }

    fn end_variation(&mut self) {
        self.wait_last();
        if let Some(VariationPoint { ply, first, last, newest, refuted, refuted_before }) = self.lines.pop() {
            (self.ply, self.first, self.last, self.newest) = (ply, first, last, newest);
            (self.refuted, self.refuted_before) = (refuted, refuted_before);
        }
    }

    fn wants_remarks(&self) -> bool {
        self.filter.variations || self.filter.skip_mistakes
    }

    fn glyph(&mut self, number: u8) {
        match (number, self.newest) {
            // ?, ?? and ?!
            (2 | 4 | 6, _) if self.filter.skip_mistakes => self.refute(),
            (_, Some(newest)) => self.marks.glyph(newest.at, number),
            _ => {}
        }
    }

    fn comment(&mut self, text: &[u8]) {
        if let Some(newest) = self.newest {
            self.marks.comment(newest.at, text);
        }
    }

    fn unlisted(&mut self) {
        self.unlisted += u64::from(self.take_back());
    }

    fn keyed_unlisted(&mut self, place: usize) {
        self.not_listed.push(place);
    }

    fn keyed_plies(&self) -> Option<usize> {
        let plies = self.most.max(self.filter.min_plies as usize);
        if R::PLACED || self.filter.variations { None } else { Some(plies) }
    }

    fn keyed_line(&mut self, plies: &[KeyedPly]) {
        self.plies = plies.len();
        self.is_limited = self.plies >= self.most;
        let before = self.waiting.len();
        self.waiting.extend(plies.iter().take(self.most).filter(|ply| *self.sides.get(ply.side)));
        self.other_side = (self.plies.min(self.most) - (self.waiting.len() - before)) as u64;
        self.leave_unlisted(plies);
    }

    fn has_failed(&self) -> bool {
        self.failed.is_some()
    }
}
