//! Polyglot books (`.bin`): sorted entries of 16 bytes, found by binary search. The format is described in
//! `docs/formats/polyglot.md`.
//!
//! A damaged book is played as far as it can be trusted: bytes behind the last whole entry are passed over, a move
//! that is not legal in its position is not given, the same move twice counts with both weights, and where the order
//! is broken the positions that binary search still reaches are given.

mod check;
mod each;
pub mod entry;
mod fingerprint;
pub mod layout;
mod read;
mod scan;
#[cfg(test)]
mod tests;
mod walk;
mod write;

use std::convert::Infallible;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use shakmaty::{Move, Position as _};

pub use fingerprint::fingerprint;
pub use read::{Entries, MOST_OF_ONE_KEY};
pub use write::Writer;

use crate::base::findings::Findings;
use crate::base::map::Map;
use crate::base::progress::Progress;
use crate::book::{Book, Fingerprint, Format, Learned, MoveFacts, PositionRecord, Scope, Summary};
use crate::chess::Position;

/// Different moves that [`Polyglot::best`] compares without allocating; a position of a real book has fewer.
const FEW: usize = 32;

/// A Polyglot book.
#[derive(Debug)]
pub struct Polyglot {
    path: PathBuf,
    /// The file that was opened, links followed; nothing where the bytes are not a file's.
    file: Option<PathBuf>,
    data: Map,
}

impl Polyglot {
    /// A book over these bytes, whatever they hold: see [`crate::book::open()`], which finds out whether they are one.
    pub fn new(path: impl Into<PathBuf>, data: impl Into<Map>) -> Self {
        let (path, data) = (path.into(), data.into());
        let file = if matches!(data, Map::File(_)) { fs::canonicalize(&path).ok() } else { None };
        Self { path, file, data }
    }

    /// The entries.
    pub fn entries(&self) -> Entries<'_> {
        Entries::new(&self.data)
    }

    /// [`Book::best`] for a position with more moves than it compares in place.
    fn best_of_many(&self, at: &Position) -> Option<Move> {
        let mut moves = Vec::new();
        self.moves(at, &mut moves);
        let playable = moves.iter().rev().filter(|known| known.weight > 0);
        playable.max_by_key(|known| known.weight).map(|known| known.mv)
    }
}

/// What two entries of one move learned, together.
fn sum(a: Option<Learned>, b: Option<Learned>) -> Option<Learned> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Learned {
            games: a.games.saturating_add(b.games),
            halfpoints: a.halfpoints.saturating_add(b.halfpoints),
        }),
        (one, other) => one.or(other),
    }
}

impl Book for Polyglot {
    fn path(&self) -> &Path {
        &self.path
    }

    fn format(&self) -> Format {
        Format::Polyglot
    }

    fn learns_at(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        let entry =
            |index| Ok::<_, Infallible>(self.entries().get(usize::try_from(index).unwrap_or(usize::MAX)));
        fingerprint(self.data.len() as u64, entry).ok()
    }

    /// Appends the moves in the order of the file. What was learned is given where no entry of the position has more
    /// half-points than its games allow: such an entry keeps something else in those bytes.
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        let start = out.len();
        let mut trusted = true;
        for entry in self.entries().of(at.key()) {
            trusted &= entry.learn_is_plausible();
            let Some(mv) = entry.mv.resolve(at.chess()) else { continue };
            let learned = Learned { games: entry.games.into(), halfpoints: entry.halfpoints.into() };
            let learned = (learned.games > 0).then_some(learned);
            if let Some(known) = out.iter_mut().skip(start).find(|known| known.mv == mv) {
                known.weight += u64::from(entry.weight);
                known.learned = sum(known.learned, learned);
            } else if at.chess().is_legal(mv) {
                out.push(MoveFacts { learned, ..MoveFacts::new(mv, entry.weight.into()) });
            }
        }
        if !trusted {
            out.iter_mut().skip(start).for_each(|known| known.learned = None);
        }
    }

    fn best(&self, at: &Position) -> Option<Move> {
        let mut known = [None::<(Move, u64)>; FEW];
        for entry in self.entries().of(at.key()) {
            let Some(mv) = entry.mv.resolve(at.chess()) else { continue };
            match known.iter_mut().find(|slot| slot.is_none_or(|(other, _)| other == mv)) {
                Some(Some((_, weight))) => *weight += u64::from(entry.weight),
                Some(slot) => *slot = Some((mv, entry.weight.into())),
                None => return self.best_of_many(at),
            }
        }
        loop {
            // Backwards, because of equal ones the last is taken.
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

    fn each(
        &self,
        scope: Scope,
        progress: &Progress,
        visit: &mut dyn FnMut(&PositionRecord) -> ControlFlow<()>,
    ) -> u64 {
        each::each(self, scope, progress, visit)
    }

    fn holds_positions(&self) -> bool {
        false
    }

    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> Summary {
        check::survey(&self.data, progress, findings)
    }
}
