//! What is known of positions from a store and from searches.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tabiya_base::error::Result;
use tabiya_book::traverse::Keys;
use tabiya_chess::value::result;
use tabiya_chess::{MoveCode, Packed, Position};
use tabiya_uci::{Score, Wdl};

use crate::evals::{Alternative, Evaluation, Limit, Store};

/// What is known of positions: what the store has, and what was found since.
#[derive(Debug, Default)]
pub struct Knowledge {
    path: PathBuf,
    store: Option<Store>,
    fresh: HashMap<Packed, Evaluation>,
    /// What was found first of positions that were searched again since.
    replaced: HashMap<Packed, Evaluation>,
    /// The positions that were searched since, and the last limit of each.
    searched: HashMap<Packed, Limit>,
    /// The keys of positions at which engines failed.
    failed: Keys,
}

impl Knowledge {
    /// What a store holds; empty if the file does not exist.
    ///
    /// # Errors
    /// When it cannot be read, or is not a store.
    pub fn open(path: &Path) -> Result<Self> {
        let store = if path.exists() { Some(Store::open(path)?) } else { None };
        Ok(Self { path: path.to_owned(), store, ..Self::default() })
    }

    /// The file of the store.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes what searches found. Returns what became of them.
    pub fn take(&mut self, pooled: Pooled) -> Evaluated {
        let Pooled { fresh, searched, evaluated } = pooled;
        for (at, found) in fresh {
            if let Some(first) = self.fresh.insert(at, found) {
                self.replaced.entry(at).or_insert(first);
            }
        }
        self.searched.extend(searched);
        self.failed.extend(evaluated.skipped.iter().map(|(at, _)| at.strict_key()));
        evaluated
    }

    /// What a search of a position, packed by [`Packed::strict`], with at least this limit found that was not to choose these moves.
    pub fn alternative(&self, at: &Packed, without: &[MoveCode], limit: Limit) -> Option<Alternative> {
        self.store.as_ref().and_then(|store| store.alternative(at, without, limit))
    }

    /// Whether there is a store.
    pub fn has_store(&self) -> bool {
        self.store.is_some()
    }

    /// The evaluation of a position that was packed by [`Packed::strict`].
    pub fn find(&self, at: &Packed) -> Option<Evaluation> {
        let held = self.store.as_ref().and_then(|store| store.find(at));
        Evaluation::best(held.into_iter().chain(self.fresh.get(at).copied()), at)
    }

    /// All evaluations of a position, also those that do not count.
    fn all(&self, at: &Packed) -> impl Iterator<Item = Evaluation> {
        let stored = self.store.iter().flat_map(|store| store.all(at));
        stored.chain([&self.fresh, &self.replaced].into_iter().filter_map(|found| found.get(at).copied()))
    }

    /// What the first search with a limit says of a position that was packed by [`Packed::strict`], whatever longer ones say
    /// since: the least evaluation that meets the limit, or else the one that counts.
    pub fn first(&self, at: &Packed, limit: Limit) -> Option<Evaluation> {
        let met = self.all(at).filter(|known| limit.is_met(known));
        met.reduce(|one, other| if one.outranks(&other, at) { other } else { one }).or_else(|| self.find(at))
    }

    /// The score of a position that was packed by [`Packed::strict`].
    pub fn score(&self, at: &Packed) -> Option<Score> {
        self.find(at).map(|known| known.score)
    }

    /// How an engine expects the game to end from a position that was packed by [`Packed::strict`]: what the evaluation says
    /// that would count if only those that say it were there.
    pub fn wdl(&self, at: &Packed) -> Option<Wdl> {
        best_wdl(self.all(at), at)
    }

    /// Whether a position need not be searched with this limit.
    pub fn is_searched(&self, at: &Packed, limit: Limit) -> bool {
        let made = self.searched.get(at).is_some_and(|made| made.covers(limit));
        made || self.store.as_ref().is_some_and(|store| store.is_searched(at, limit))
    }

    /// The numbers of those of some positions that are to be searched, each position once; and how many need no search.
    pub fn wanted(
        &self,
        positions: impl IntoIterator<Item = (u32, Position)>,
        limit: Limit,
    ) -> (Vec<u32>, u64) {
        let (mut wanted, mut met, mut known) = (Vec::new(), Keys::default(), 0);
        for (number, at) in positions {
            let Some(packed) = Packed::strict(&at) else { continue };
            let key = at.strict_key();
            if result(&at).is_some() || self.failed.contains(&key) || !met.insert(key) {
                continue;
            }
            if self.is_searched(&packed, limit) {
                known += 1;
            } else {
                wanted.push(number);
            }
        }
        (wanted, known)
    }
}

/// What the evaluation of a position says that would count if only those with a [`Wdl`] were there.
pub fn best_wdl(all: impl Iterator<Item = Evaluation>, at: &Packed) -> Option<Wdl> {
    Evaluation::best(all.filter(|known| known.wdl.is_some()), at).and_then(|found| found.wdl)
}

/// What searches found.
#[derive(Debug, Default)]
pub struct Pooled {
    /// Evaluations that are new in the store.
    pub fresh: Vec<(Packed, Evaluation)>,
    /// Positions that were searched, and the limits.
    pub searched: Vec<(Packed, Limit)>,
    pub evaluated: Evaluated,
}

/// What became of the positions that were to be searched.
#[derive(Clone, Debug, Default)]
pub struct Evaluated {
    /// How many were evaluated.
    pub done: u64,
    /// Those that no engine could evaluate, and why.
    pub skipped: Vec<(Position, String)>,
    /// Whether the time was up before all were searched.
    pub cut: bool,
}

impl Evaluated {
    /// Takes in what became of other positions.
    pub fn add(&mut self, other: Self) {
        self.done += other.done;
        self.skipped.extend(other.skipped);
        self.cut |= other.cut;
    }
}
