//! Polyglot books (`.bin`): sorted entries of 16 bytes, found by their keys. The format is described in
//! `docs/formats/polyglot.md`.
//!
//! A damaged book is played as far as it can be trusted: bytes after the last whole entry and moves that are not legal
//! in their position are ignored, the weights of a repeated move are added up, and if the order is broken, the
//! positions that a search by keys still reaches are found.

mod check;
mod driver;
mod each;
pub mod entry;
mod kinds;
pub mod layout;
mod read;
mod recognize;
mod rules;
mod scan;
#[cfg(test)]
#[cfg(feature = "write")]
mod tests;
mod walk;
#[cfg(feature = "write")]
mod write;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use shakmaty::{Move, Position as _};

pub use read::{MAX_OF_ONE_KEY, PolyglotEntries};
#[cfg(feature = "write")]
pub use write::PolyglotWriter;

use tabiya_base::bytes::Parts as _;
use tabiya_base::error::Result;
use tabiya_base::findings::{Finding, Findings};
use tabiya_base::interrupt;
use tabiya_base::map::Map;
use tabiya_base::progress::Progress;
use tabiya_chess::{MoveCode, Position, Variant};

use crate::sorted::SortedTable;
use crate::traits::{Book, damage_of};
use crate::traverse::has_one_key;
use crate::verdict::best;
use crate::{BookSummary, Format, MoveFacts, Moves, OtherRules, Scope, Visit, errors};
pub(crate) use driver::PolyglotDriver;
use walk::{EntryFinding, Walked};

/// The format.
pub const FORMAT: Format = Format::new(&driver::FACTS);

/// Different moves that [`Polyglot::best`] compares without allocating. Positions of real books have fewer.
const FEW: usize = 32;

/// A book that can take results of games.
pub trait Learnable {
    /// The file that takes them, with the links followed that existed when the book was opened.
    fn file(&self) -> &Path;

    /// Whether that file may only be read.
    fn is_read_only(&self) -> bool;

    /// The entries that take them.
    fn entries(&self) -> PolyglotEntries<'_>;
}

/// A Polyglot book.
#[derive(Debug)]
pub struct Polyglot {
    path: PathBuf,
    /// The file that was opened, with links followed; `None` if the bytes are not those of a file.
    file: Option<PathBuf>,
    /// Whether that file may only be read.
    is_read_only: bool,
    data: Map,
    variant: Variant,
    /// Whether positions of any variant are looked up.
    is_of_any: bool,
    /// What a walk of the whole book found, once there was one.
    walked: OnceLock<Arc<Walked>>,
    /// Set once reading the book has shown that all moves of the positions that play reaches are legal.
    moves_are_legal: AtomicBool,
}

impl Polyglot {
    /// A book over any bytes: [`crate::open_book()`] decides whether they are one.
    pub fn new(path: impl Into<PathBuf>, data: impl Into<Map>) -> Self {
        let (path, data) = (path.into(), data.into());
        let file = data.file().map(Path::to_owned);
        let is_read_only = file
            .as_ref()
            .is_some_and(|file| fs::metadata(file).is_ok_and(|data| data.permissions().readonly()));
        let (walked, moves_are_legal) = (OnceLock::new(), AtomicBool::new(false));
        let variant = Variant::Chess;
        Self { path, file, is_read_only, data, variant, is_of_any: false, walked, moves_are_legal }
    }

    /// The book as one of a variant, whose rules decide which of its moves are legal: the file does not say for which it is.
    #[must_use]
    pub fn of_variant(self, variant: Variant) -> Self {
        Self { variant, walked: OnceLock::new(), moves_are_legal: AtomicBool::new(false), ..self }
    }

    /// The book as one of whatever variant a position is of that it is asked for. Read as a whole it stays one of its variant.
    #[must_use]
    pub fn of_any_variant(self) -> Self {
        Self { is_of_any: true, ..self }
    }

    /// The entries that may be moves of a position: none where it is one of another variant, in which the same key is another
    /// position.
    fn entries_for(&self, at: &Position) -> PolyglotEntries<'_> {
        let is_ours = self.is_of_any || at.variant() == self.variant;
        if is_ours { self.entries() } else { PolyglotEntries::new(&[]) }
    }

    /// The entries.
    pub fn entries(&self) -> PolyglotEntries<'_> {
        PolyglotEntries::new(&self.data)
    }

    /// Walks the book, as [`walk::walk`] does, and keeps what it finds unless the work must stop.
    fn walk(
        &self,
        positions: u64,
        progress: &Progress,
        found: &mut dyn FnMut(EntryFinding<'_>),
    ) -> Arc<Walked> {
        let mut are_legal = true;
        let walked = walk::walk(self.entries(), self.variant, positions, progress, &mut |finding| {
            are_legal &= finding.old_castling.is_some();
            found(finding);
        });
        let walked = Arc::new(walked);
        if !interrupt::asked() {
            self.moves_are_legal.fetch_or(are_legal, Ordering::Relaxed);
            self.walked.get_or_init(|| Arc::clone(&walked));
        }
        walked
    }

    /// What a walk of the book finds, which is made only once.
    ///
    /// # Errors
    /// When the work is interrupted.
    fn walked(&self, progress: &Progress) -> Result<Arc<Walked>> {
        if let Some(walked) = self.walked.get() {
            return Ok(Arc::clone(walked));
        }
        let walked = self.walk(self.entries().positions(), progress, &mut |_| ());
        interrupt::check().map(|()| walked)
    }
}

impl Moves for Polyglot {
    fn variant(&self) -> Variant {
        self.variant
    }

    /// Appends the moves in the order of the file. What was learned is left out if any entry of the position has more
    /// half-points than its games allow, because such an entry keeps something else in those bytes.
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        let start = out.len();
        let mut trusted = true;
        for entry in self.entries_for(at).find_at(at) {
            trusted &= entry.learn_is_plausible();
            let Some(mv) = entry.mv.resolve(at.chess()) else { continue };
            let known = out.part_mut(start..);
            if !entry.add_to(known, mv) && at.chess().is_legal(mv) {
                out.push(entry.facts(mv));
            }
        }
        if !trusted {
            out.iter_mut().skip(start).for_each(|known| known.learned = None);
        }
    }

    fn has(&self, at: &Position, mv: Move) -> bool {
        let codes = MoveCode::codes(mv, at.chess());
        self.entries_for(at).find_at(at).any(|entry| codes.contains(&entry.mv))
    }

    /// Antichess may be found under other keys.
    fn drop_absent(&self, at: &Position, moves: &mut Vec<Move>) {
        if has_one_key(self.variant) && !self.is_of_any {
            let keys: Vec<u64> = moves.iter().map(|mv| at.key_after(*mv)).collect();
            let mut found = Vec::with_capacity(keys.len());
            self.entries().first_of_keys(&keys, &mut found);
            let mut found = found.into_iter();
            moves.retain(|_| found.next().flatten().is_some());
        }
    }

    fn add_illegal(&self, at: &Position, findings: &mut Findings<'_>) {
        let entries = self.entries_for(at);
        walk::of_position(entries, self.variant, at, &mut |found| check::add(&found, self.variant, findings));
    }

    fn count(&self) -> Result<(u64, u64)> {
        Ok(each::count(self))
    }

    fn each_key(&self, visit: &mut dyn FnMut(u64)) -> Result<()> {
        each::each_run(self, |key, _| visit(key));
        Ok(())
    }

    fn each(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        each::each(self, scope, progress, visit)
    }

    fn holds_positions(&self) -> bool {
        false
    }
}

impl Learnable for Polyglot {
    fn file(&self) -> &Path {
        self.file.as_deref().unwrap_or(&self.path)
    }

    fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    fn entries(&self) -> PolyglotEntries<'_> {
        Polyglot::entries(self)
    }
}

impl Book for Polyglot {
    fn path(&self) -> &Path {
        &self.path
    }

    fn format(&self) -> Format {
        FORMAT
    }

    /// Of entries out of order only what a look at some pages shows: a whole book is not read to open it.
    fn warnings(&self) -> Vec<String> {
        let entries = self.entries();
        let cut = (entries.trailing > 0).then(|| (check::cut_off(entries), entries.len()));
        let fall = recognize::first_fall(entries).map(|index| {
            let what =
                "its keys are out of order, so that look-ups miss some positions; converting the book sorts it";
            (what.to_owned(), index)
        });
        let warning =
            |(what, index)| format!("{}: {what} (byte {})", self.path.display(), kinds::offset(index));
        cut.into_iter().chain(fall).map(warning).collect()
    }

    fn rules(&self, progress: &Progress) -> Vec<Variant> {
        rules::rules(self.entries(), progress)
    }

    fn other_rules(&self, variant: Variant, progress: &Progress) -> Option<OtherRules> {
        rules::other_rules(self.entries(), variant, progress)
    }

    fn as_learnable(&self) -> Option<&dyn Learnable> {
        self.file.as_ref().map(|_| self as _)
    }

    fn best(&self, at: &Position) -> Option<Move> {
        let mut slots = [None::<(Move, u64)>; FEW];
        let mut count = 0;
        for entry in self.entries_for(at).find_at(at) {
            let Some(mv) = entry.mv.resolve(at.chess()) else { continue };
            match slots.iter_mut().take(count + 1).find(|slot| slot.is_none_or(|(other, _)| other == mv)) {
                Some(Some((_, weight))) => *weight += u64::from(entry.weight),
                Some(slot) => {
                    *slot = Some((mv, entry.weight.into()));
                    count += 1;
                }
                None => return best(self, at, true),
            }
        }
        let known = slots.part_mut(..count);
        loop {
            // Backwards, because `max_by_key` takes the last of equal ones.
            let heaviest = known.iter_mut().rev().max_by_key(|slot| slot.map_or(0, |(_, weight)| weight))?;
            let (mv, _) = heaviest.take().filter(|(_, weight)| *weight > 0)?;
            if at.chess().is_legal(mv) {
                return Some(mv);
            }
        }
    }

    /// Polyglot books have neither colours nor marks.
    fn heaviest(&self, at: &Position) -> Option<Move> {
        self.best(at)
    }

    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
        check::survey(self, progress, findings)
    }

    fn castlings(&self, progress: &Progress) -> Result<HashSet<(u64, MoveCode)>> {
        let walked = self.walked(progress)?;
        let Walked { castlings, traversal } = &*walked;
        let mut all: HashSet<_> = castlings.iter(self.entries()).collect();
        // Deeper positions have others.
        if traversal.cut {
            self.each(Scope::Reachable, progress, &mut |record| {
                let Some(at) = &record.position else { return Ok(()) };
                let codes = record.moves.iter().map(|known| known.mv);
                let castles = |mv: &MoveCode| mv.resolve(at.chess()).is_some_and(|mv| mv.is_castle());
                all.extend(codes.filter(castles).map(|mv| (record.key, mv)));
                Ok(())
            })?;
        }
        Ok(all)
    }

    fn damage(&self, progress: &Progress) -> Vec<Finding> {
        let is_known =
            self.moves_are_legal.load(Ordering::Relaxed) && scan::is_sound(self.entries(), self.variant);
        if is_known { Vec::new() } else { damage_of(self, progress) }
    }

    /// Look-ups miss nothing because of an illegal move, so the book is not searched for them.
    fn damage_to_look_ups(&self, progress: &Progress) -> Vec<Finding> {
        if scan::is_sound(self.entries(), self.variant) {
            return Vec::new();
        }
        errors(|findings| {
            check::entries(&self.data, self.variant, progress, findings);
        })
    }
}
