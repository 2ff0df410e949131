//! A book as if it had only the moves that stay, so that whatever takes a book takes a trimmed one.

use std::collections::HashMap;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::{Mutex, PoisonError};

use shakmaty::{Color, Move, Position as _};

use tabiya_base::error::Result;
use tabiya_base::findings::{Finding, Findings, summed};
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_base::visit::{Seen, to_the_end};
use tabiya_book::traverse::{ByPlies, Keys, Replies, Visited, has_form};
use tabiya_book::{Heading, MoveFacts, Moves, PositionRecord, Remarks, Scope, Variant, Visit};
use tabiya_chess::openings::Opening;
use tabiya_chess::{MoveCode, Position, is_known_by_key};

use super::{Cut, Tally, Trim};

/// Where a position is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Region {
    /// Its moves may stay.
    Inside,
    /// On a line that stays: the moves of the lines stay.
    OnLine,
    /// It is reached, and its moves come after too many plies.
    TooDeep,
    /// It is not reached.
    Outside,
}

/// What a traversal has found, as keys.
struct Walk {
    reached: Keys,
    deep: Keys,
    /// See [`Trimmed`].
    in_openings: Keys,
}

/// A book of which only some moves are shown.
#[derive(Debug)]
pub struct Trimmed<'a> {
    book: &'a dyn Moves,
    trim: &'a Trim,
    /// The moves that were named.
    without: Vec<(u64, MoveCode)>,
    /// The moves of the lines that stay, by their positions.
    lines: HashMap<u64, Vec<MoveCode>>,
    /// Where the traversal begins.
    starts: Vec<(u32, Position)>,
    /// The openings of games that get to the positions where it begins, by [`Position::whole_key`].
    begun: HashMap<u64, Option<Opening>>,
    /// The positions on whose shortest line the opening is one of [`Trim::openings`].
    in_openings: Keys,
    replies: Replies,
    /// What is reached, and what of that is too deep, once that is known.
    reached: Option<(Keys, Keys)>,
    /// Without a traversal: the positions that moves lead to that stay.
    targets: Keys,
    tally: Mutex<Tally>,
    /// What is wrong with the moves of the positions that were visited, where only these show it.
    illegal: Mutex<Vec<Finding>>,
}

impl<'a> Trimmed<'a> {
    /// Finds out what stays.
    ///
    /// # Errors
    /// When the work is interrupted.
    pub fn new(book: &'a dyn Moves, trim: &'a Trim, progress: &Progress) -> Result<Self> {
        let mut trimmed = Self {
            book,
            trim,
            without: Vec::new(),
            lines: HashMap::new(),
            starts: Vec::new(),
            begun: HashMap::new(),
            in_openings: Keys::default(),
            replies: Replies::default(),
            reached: None,
            targets: Keys::default(),
            tally: Mutex::default(),
            illegal: Mutex::default(),
        };
        trimmed.note_lines();
        if trimmed.traverses() {
            progress.things(0, "positions");
            trimmed.replies = Replies::find(book)?;
            // Whether a game is in an opening is known of each position only after a traversal.
            if book.holds_positions() || trim.openings.is_some() {
                let Walk { reached, deep, in_openings } = trimmed.walk(progress, |_, _, _| Ok(()))?;
                trimmed.in_openings = in_openings;
                trimmed.reached = book.holds_positions().then_some((reached, deep));
            }
        } else if book.holds_positions() {
            trimmed.targets = trimmed.targets(progress)?;
        }
        Ok(trimmed)
    }

    /// Whether the book is traversed from the starting position. Where only keys are known, nothing else shows which side is
    /// to move.
    fn traverses(&self) -> bool {
        self.trim.traverses() || self.trim.only.is_some() && !self.book.holds_positions()
    }

    /// Whether positions come with their boards, although the book holds only keys.
    fn finds_positions(&self) -> bool {
        self.traverses() && !self.book.holds_positions()
    }

    /// What became of the moves, after [`Moves::each`].
    pub fn tally(&self) -> Tally {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// After [`Moves::each`]: what is wrong with the moves of the positions that were read, apart from what keeps look-ups from
    /// finding them. `None` where the whole book was read, or decides it.
    pub fn damage(&self) -> Option<Vec<Finding>> {
        let is_known = self.finds_positions() && is_known_by_key(self.book.variant());
        is_known.then(|| {
            let mut found = self.illegal.lock().unwrap_or_else(PoisonError::into_inner).clone();
            found.retain(Finding::is_error);
            found
        })
    }

    /// The lines of [`Trim::without`] whose last move the book does not have, by their places. A reply that leads back into
    /// the book counts as one.
    pub fn missing(&self) -> Vec<usize> {
        let has = |line: &Vec<Move>| {
            let Some((last, before)) = line.split_last() else { return true };
            let at = played(self.start(), before);
            self.book.has(&at, *last) || !self.book.moves_in(&at.after(*last)).is_empty()
        };
        let lines = self.trim.without.iter().enumerate();
        lines.filter(|(_, line)| !has(line)).map(|(index, _)| index).collect()
    }

    fn note_lines(&mut self) {
        for line in &self.trim.without {
            if let Some((last, before)) = line.split_last() {
                self.without.push((played(self.start(), before).key(), MoveCode::from_move(*last)));
            }
        }
        if self.trim.below.is_empty() {
            self.starts.push((0, self.start()));
        }
        for line in &self.trim.below {
            let (mut at, mut plies, mut opening) = (self.start(), 0, None);
            let goes_on = line.iter().all(|&mv| {
                let code = MoveCode::from_move(mv);
                if self.is_without(at.key(), code) || self.trim.max_ply.is_some_and(|most| plies >= most) {
                    return false;
                }
                self.lines.entry(at.key()).or_default().push(code);
                at.play(mv);
                plies += 1;
                opening = Opening::at(&at).or(opening);
                true
            });
            if goes_on {
                self.begun.insert(at.whole_key(), opening);
                self.starts.push((plies, at));
            }
        }
    }

    /// The starting position of the book's variant.
    fn start(&self) -> Position {
        Position::start_of(self.book.variant())
    }

    fn is_without(&self, key: u64, mv: MoveCode) -> bool {
        self.without.contains(&(key, mv))
    }

    /// Whether a move at this position is one of the side whose moves do not stay.
    fn is_other_side(&self, turn: Option<Color>) -> bool {
        self.trim.only.zip(turn).is_some_and(|(only, turn)| only != turn)
    }

    /// Which moves of a position are on course for the openings that stay; empty for all.
    fn on_course(&self, at: &Position, moves: impl IntoIterator<Item = Move>, is_in: bool) -> Vec<bool> {
        let chosen = self.trim.openings.as_ref();
        chosen.map(|chosen| chosen.on_course(at, moves, || is_in)).unwrap_or_default()
    }

    /// The same of a record, whose moves that are not legal are on no course.
    fn on_course_of(&self, record: &PositionRecord) -> Vec<bool> {
        let (Some(_), Some(at)) = (&self.trim.openings, &record.position) else { return Vec::new() };
        let legal: Vec<_> = record.moves.iter().map(|facts| Some(facts.at(at)?.mv)).collect();
        let is_in = self.in_openings.contains(&record.key);
        let mut on = self.on_course(at, legal.iter().copied().flatten(), is_in).into_iter();
        legal.iter().map(|mv| mv.is_some() && on.next() == Some(true)).collect()
    }

    /// The moves that lead on from a position that is reached: those that stay and replies; all moves of the other side. `is_in`:
    /// whether the line to it is in one of the openings that stay.
    fn follow(&self, at: &Position, is_in: bool, moves: &[MoveFacts], out: &mut Vec<Move>) {
        let is_other = self.is_other_side(Some(at.chess().turn()));
        let on = self.on_course(at, moves.iter().map(|facts| facts.mv), is_in);
        let stays = if is_other { vec![None; moves.len()] } else { self.trim.judge(moves, &on) };
        let left = moves.iter().zip(stays).filter(|(_, cut)| cut.is_none());
        out.extend(left.map(|(facts, _)| facts.mv));
        // The side whose moves stay plays no others. Removed moves of the book are no replies either.
        if is_other || self.trim.only.is_none() {
            let mut all: Vec<_> = moves.iter().map(|facts| facts.mv).collect();
            let own = all.len();
            self.replies.append(self.book, at, &mut all);
            out.extend(all.into_iter().skip(own));
        }
        out.retain(|mv| !self.is_without(at.key(), MoveCode::from_move(*mv)));
    }

    /// Visits what is reached.
    fn walk(
        &self,
        progress: &Progress,
        mut see: impl FnMut(&Position, Region, &[MoveFacts]) -> Seen,
    ) -> Result<Walk> {
        let (mut deep, mut in_openings, mut openings) =
            (Keys::default(), Keys::default(), self.begun.clone());
        let mut moves = Vec::new();
        let from = ByPlies { starts: self.starts.clone(), ..ByPlies::of_variant(self.book.variant()) };
        let reached = from.each(progress, |&Visited { at, plies, .. }, follow| {
            moves.clear();
            self.book.moves(at, &mut moves);
            if self.trim.max_ply.is_some_and(|most| plies >= most) {
                deep.insert(at.key());
                let on_line = self.lines.contains_key(&at.key());
                return see(at, if on_line { Region::OnLine } else { Region::TooDeep }, &moves);
            }
            let Some(chosen) = &self.trim.openings else {
                self.follow(at, false, &moves, follow);
                return see(at, Region::Inside, &moves);
            };
            let opening = Opening::at(at).or(openings.remove(&at.whole_key()).flatten());
            let is_in = opening.is_some_and(|opening| chosen.has(opening));
            self.follow(at, is_in, &moves, follow);
            for mv in follow.iter() {
                openings.entry(at.whole_key_after(*mv)).or_insert(opening);
            }
            if is_in {
                in_openings.insert(at.key());
            }
            see(at, Region::Inside, &moves)
        })?;
        Ok(Walk { reached, deep, in_openings })
    }

    /// The keys of the positions after moves that stay, of a book that holds its positions.
    fn targets(&self, progress: &Progress) -> Result<Keys> {
        let mut targets = Keys::default();
        self.book.each(Scope::All, progress, &mut |record| {
            interrupt::check()?;
            if let Some(at) = &record.position {
                let cuts = self.cuts(record, Region::Inside);
                let left = record.moves.iter().zip(cuts).filter(|(_, cut)| cut.is_none());
                targets.extend(left.filter_map(|(facts, _)| Some(at.after(facts.at(at)?.mv).key())));
            }
            Ok(())
        })?;
        Ok(targets)
    }

    fn region(&self, key: u64) -> Region {
        match &self.reached {
            None => Region::Inside,
            Some((reached, deep)) if reached.contains(&key) && !deep.contains(&key) => Region::Inside,
            Some(_) if self.lines.contains_key(&key) => Region::OnLine,
            Some((_, deep)) if deep.contains(&key) => Region::TooDeep,
            Some(_) => Region::Outside,
        }
    }

    /// For each move of a position the reason why it is removed; `None` if it stays.
    fn cuts(&self, record: &PositionRecord, region: Region) -> Vec<Option<Cut>> {
        let turn = record.position.as_ref().map(|at| at.chess().turn());
        let on_lines = self.lines.get(&record.key).map_or(&[][..], Vec::as_slice);
        let whole = match region {
            Region::Outside => Some(Cut::Unreached),
            Region::TooDeep => Some(Cut::Ply),
            _ if self.is_other_side(turn) => Some(Cut::Side),
            _ => None,
        };
        if whole.is_some() {
            return vec![whole; record.moves.len()];
        }
        let judged = self.trim.judge(&record.moves, &self.on_course_of(record)).into_iter();
        let cut = |(facts, judged): (&MoveFacts<MoveCode>, Option<Cut>)| {
            if self.is_without(record.key, facts.mv) {
                Some(Cut::Without)
            } else if on_lines.contains(&facts.mv) {
                None
            } else if region == Region::OnLine {
                Some(Cut::Below)
            } else {
                judged
            }
        };
        record.moves.iter().zip(judged).map(cut).collect()
    }

    /// Whether what the book says of a position itself stays, although no move does: if the position is reached, or another
    /// that the format does not distinguish from it.
    fn keeps_words(&self, record: &PositionRecord) -> bool {
        let says = record.total.is_some() || record.comment.is_some() || record.game.is_some();
        let at = record.position.as_ref();
        says && match &self.reached {
            Some((reached, _)) => self.lines.contains_key(&record.key) || has_form(record.key, at, reached),
            None => has_form(record.key, at, &self.targets),
        }
    }

    /// What stays of a position, if anything does.
    fn trimmed(&self, record: &PositionRecord, region: Region, tally: &mut Tally) -> Option<PositionRecord> {
        let mut kept = Vec::with_capacity(record.moves.len());
        for (facts, cut) in record.moves.iter().zip(self.cuts(record, region)) {
            match cut {
                Some(why) => tally.cut(why, 1),
                None => {
                    tally.uncounted += u64::from(self.trim.min_games > 0 && facts.counts.is_none());
                    kept.push(*facts);
                }
            }
        }
        tally.positions += u64::from(!record.moves.is_empty());
        tally.moves += record.moves.len() as u64;
        tally.kept_positions += u64::from(!kept.is_empty());
        tally.kept_moves += kept.len() as u64;
        let stays = !kept.is_empty() || self.keeps_words(record);
        stays.then(|| PositionRecord { moves: kept, ..record.clone() })
    }

    /// Shows what stays of a book that holds only keys, with the positions that the traversal finds.
    fn each_found(
        &self,
        progress: &Progress,
        findings: &mut Findings<'_>,
        visit: Visit<'_>,
    ) -> Result<Tally> {
        let (mut tally, mut of_keys) = (Tally::default(), OfKeys::default());
        let mut see = |at: &Position, region, moves: &[MoveFacts]| {
            self.book.add_illegal(at, findings);
            if moves.is_empty() {
                return Ok(());
            }
            let record = PositionRecord::from_moves(at, moves);
            let kept = if at.is_known_by_key() {
                self.trimmed(&record, region, &mut tally)
            } else {
                of_keys.add(record, |record| self.cuts(record, region))
            };
            match kept {
                Some(kept) => visit(&kept),
                None => Ok(()),
            }
        };
        // The lines that stay come first, unless the traversal comes back to them.
        let mut on_lines = Vec::new();
        let Walk { reached, .. } = self.walk(progress, &mut see)?;
        for line in &self.trim.below {
            let mut at = self.start();
            for &mv in line {
                if !(at.is_known_by_key() && reached.contains(&at.key()))
                    && self.lines.contains_key(&at.key())
                {
                    on_lines.push(at.clone());
                }
                at.play(mv);
            }
        }
        on_lines.sort_by_key(Position::whole_key);
        on_lines.dedup_by_key(|at| at.whole_key());
        for at in &on_lines {
            if to_the_end(see(at, Region::OnLine, &self.book.moves_in(at)))?.is_none() {
                break;
            }
        }
        of_keys.count(self.trim.min_games > 0, &mut tally);
        // What the traversal did not visit is only counted.
        let (positions, moves) = self.book.count()?;
        tally.cut(Cut::Unreached, moves.saturating_sub(tally.moves));
        (tally.positions, tally.moves) = (positions.max(tally.positions), moves.max(tally.moves));
        Ok(tally)
    }
}

/// What becomes of the moves of each key, where keys do not tell positions apart: a move stays if it does in any of the positions.
#[derive(Default)]
struct OfKeys(BTreeMap<(u64, u16), (Option<Cut>, bool)>);

impl OfKeys {
    /// Takes in one of the positions of a key, and what becomes of its moves. Returns those that stay in no other one.
    fn add(
        &mut self,
        mut record: PositionRecord,
        cuts: impl FnOnce(&PositionRecord) -> Vec<Option<Cut>>,
    ) -> Option<PositionRecord> {
        let mut cuts = cuts(&record).into_iter();
        record.moves.retain(|facts| {
            let Some(cut) = cuts.next() else { return false };
            match self.0.entry((record.key, facts.mv.0)) {
                Entry::Vacant(new) => {
                    new.insert((cut, facts.counts.is_some()));
                    cut.is_none()
                }
                Entry::Occupied(mut known) if known.get().0.is_some() && cut.is_none() => {
                    known.get_mut().0 = None;
                    true
                }
                Entry::Occupied(_) => false,
            }
        });
        Some(record).filter(|record| !record.moves.is_empty())
    }

    /// Counts all moves; `by_games` where those without counts are noted.
    fn count(&self, by_games: bool, tally: &mut Tally) {
        let moves: Vec<_> = self.0.iter().collect();
        for moves in moves.chunk_by(|((a, _), _), ((b, _), _)| a == b) {
            let mut kept = 0;
            for (_, (cut, is_counted)) in moves {
                match cut {
                    Some(why) => tally.cut(*why, 1),
                    None => {
                        kept += 1;
                        tally.uncounted += u64::from(by_games && !is_counted);
                    }
                }
            }
            tally.positions += 1;
            tally.moves += moves.len() as u64;
            tally.kept_positions += u64::from(kept > 0);
            tally.kept_moves += kept;
        }
    }
}

/// The position after legal moves.
fn played(mut at: Position, moves: &[Move]) -> Position {
    moves.iter().for_each(|&mv| at.play(mv));
    at
}

impl Moves for Trimmed<'_> {
    fn variant(&self) -> Variant {
        self.book.variant()
    }

    /// Appends the moves that stay, if the position is known to be reached.
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        let moves = self.book.moves_in(at);
        let cuts = self.cuts(&PositionRecord::from_moves(at, &moves), self.region(at.key()));
        out.extend(moves.into_iter().zip(cuts).filter(|(_, cut)| cut.is_none()).map(|(facts, _)| facts));
    }

    /// Shows what stays. A traversal decides what is shown whatever the scope.
    fn each(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        if self.finds_positions() {
            let (tally, illegal) = summed(|findings| self.each_found(progress, findings, visit));
            *self.tally.lock().unwrap_or_else(PoisonError::into_inner) = tally?;
            *self.illegal.lock().unwrap_or_else(PoisonError::into_inner) = illegal;
            return Ok(0);
        }
        let scope = if self.traverses() { Scope::All } else { scope };
        let mut tally = Tally::default();
        let unreached = self.book.each(scope, progress, &mut |record| match self.trimmed(
            record,
            self.region(record.key),
            &mut tally,
        ) {
            Some(kept) => visit(&kept),
            None => Ok(()),
        })?;
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner) = tally;
        Ok(unreached)
    }

    fn holds_positions(&self) -> bool {
        self.book.holds_positions()
    }

    fn heading(&self) -> Option<Heading> {
        self.book.heading()
    }

    fn as_remarks(&self) -> Option<&dyn Remarks> {
        self.book.as_remarks()
    }
}
