//! Reading a store: a map of the file, and the order of the records that were appended since it was last compacted.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::iter;
use std::path::{Path, PathBuf};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::file_kind::STORE;
use tabiya_base::findings::{self, kinds};
use tabiya_base::interrupt;
use tabiya_base::map::{Access, Map};
use tabiya_base::progress::Progress;
use tabiya_chess::{MoveCode, PACKED_LEN, Packed, Position};

use super::alternative::{self, Alternative};
use super::evaluation::{EngineId, Evaluation, Limit};
use super::record::{Engines, RECORD_LEN, Slot, StoreRecord, parse_header};

kinds! {
    /// What can be wrong with a store.
    pub enum StoreFinding {
        Damaged: Error "damaged records",
        Order: Error "records that are not in order",
        Cut: Warning "bytes of an incomplete record",
    }
}

/// Searches that evaluations do not show: the limits of each position.
#[derive(Debug, Default)]
pub(crate) struct Searches(BTreeMap<Packed, Vec<Limit>>);

impl Searches {
    /// Notes a search, unless one that goes as far is known.
    pub fn put(&mut self, position: Packed, limit: Limit) {
        let limits = self.0.entry(position).or_default();
        if !limits.iter().any(|known| known.covers(limit)) {
            limits.retain(|known| !limit.covers(*known));
            limits.push(limit);
        }
    }

    /// Whether a search of a position went at least as far as this limit.
    fn cover(&self, position: &Packed, limit: Limit) -> bool {
        self.0.get(position).is_some_and(|made| made.iter().any(|made| made.covers(limit)))
    }

    /// All of them, in the order of the positions.
    pub fn each(&self) -> impl Iterator<Item = (Packed, Limit)> + '_ {
        self.0.iter().flat_map(|(position, limits)| limits.iter().map(|limit| (*position, *limit)))
    }
}

/// An open store.
///
/// Look-ups search the file itself, so memory does not grow with it, except for the records that were appended since the
/// store was compacted: each takes four bytes.
///
/// What other processes append or compact after it was opened is not seen.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    map: Map,
    /// Records that are in order, the names first.
    sorted: usize,
    /// How many of those are names.
    names: usize,
    /// The numbers of the evaluations after those, in the order of their positions, each position once.
    tail: Vec<u32>,
    /// The numbers of the other evaluations after those, in the order of their positions.
    outranked: Vec<u32>,
    /// Searches that the evaluations do not show.
    searches: Searches,
    /// What was found apart from some moves, by the position and these moves.
    alternatives: BTreeMap<(Packed, u32), Alternative>,
    engines: Engines,
}

impl Store {
    /// Whether a file says of itself that it is a store; false if it cannot be read.
    pub fn is_at(path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        let mut start = [0; STORE.len()];
        // What is no file, such as a pipe, might never end.
        let mut read = || File::open(path).and_then(|mut file| file.read_exact(&mut start));
        path.is_file() && read().is_ok() && start == STORE
    }

    /// Opens a store.
    ///
    /// # Errors
    /// When it cannot be read, or is not a store.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::new(path, Map::open(path)?)
    }

    /// Opens a store in memory; `path` is only its name.
    ///
    /// # Errors
    /// When the bytes are not those of a store.
    pub fn from_bytes(path: impl AsRef<Path>, bytes: Vec<u8>) -> Result<Self> {
        Self::new(path.as_ref(), Map::from(bytes))
    }

    fn new(path: &Path, map: Map) -> Result<Self> {
        let sorted = parse_header(map.get(..RECORD_LEN).unwrap_or(&map))
            .map_err(|(what, advice)| Error::format(path, what).advice(advice))?;
        let mut store = Self {
            path: path.to_owned(),
            map,
            sorted: 0,
            names: 0,
            tail: Vec::new(),
            outranked: Vec::new(),
            searches: Searches::default(),
            alternatives: BTreeMap::new(),
            engines: Engines::default(),
        };
        let Some(sorted) = sorted else { return Ok(store) };
        let sorted = usize::try_from(sorted).unwrap_or(usize::MAX).min(store.slots().len());
        if u32::try_from(store.slots().len() - sorted).is_err() {
            return Err(Error::new(ErrorKind::File, "too many evaluations in this store are not sorted")
                .at_path(path)
                .advice("make a new one from its sources"));
        }
        store.sorted = sorted;
        store.index()?;
        Ok(store)
    }

    /// Finds the names, and the order of the records after those in order.
    fn index(&mut self) -> Result<()> {
        let (slots, _) = self.map.get(RECORD_LEN..).unwrap_or_default().as_chunks::<RECORD_LEN>();
        let (sorted, rest) = slots.split_at_checked(self.sorted).unwrap_or((slots, &[]));
        self.names = sorted.iter().take_while(|slot| slot.starts_with(&[0; 8])).count();
        let names = sorted.iter().take(self.names).filter_map(StoreRecord::parse);
        let (mut engines, mut searches) = (Engines::default(), Searches::default());
        let mut alternatives = BTreeMap::new();
        let mut note = |record| match record {
            StoreRecord::Searched(position, limit) => {
                searches.put(position, limit);
                false
            }
            StoreRecord::Name(id, number, text) => {
                engines.add(id, number, text);
                false
            }
            StoreRecord::Alternative(position, alternative) => {
                alternative.put(position, &mut alternatives);
                false
            }
            StoreRecord::Evaluation(..) => true,
        };
        names.for_each(|name| {
            note(name);
        });
        let mut tail = Vec::new();
        for (at, slot) in (0_u32..).zip(rest) {
            interrupt::check()?;
            if StoreRecord::parse(slot).is_some_and(&mut note) {
                tail.push(at);
            }
        }
        let of = |at: &u32| rest.get(*at as usize).map(position_of).unwrap_or_default();
        let best = |at: &u32| rest.get(*at as usize).and_then(StoreRecord::parse);
        tail.sort_unstable_by(|a, b| of(a).cmp(of(b)).then(a.cmp(b)));
        let mut outranked = Vec::new();
        tail.dedup_by(|next, kept| {
            let same = of(next) == of(kept);
            if let (
                true,
                Some(StoreRecord::Evaluation(at, next_one)),
                Some(StoreRecord::Evaluation(_, kept_one)),
            ) = (same, best(next), best(kept))
                && next_one.outranks(&kept_one, &at)
            {
                std::mem::swap(kept, next);
            }
            if same {
                outranked.push(*next);
            }
            same
        });
        tail.shrink_to_fit();
        outranked.shrink_to_fit();
        (self.tail, self.outranked) = (tail, outranked);
        (self.searches, self.alternatives, self.engines) = (searches, alternatives, engines);
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All records, whole ones and damaged ones.
    fn slots(&self) -> &[Slot] {
        self.map.get(RECORD_LEN..).unwrap_or_default().as_chunks::<RECORD_LEN>().0
    }

    /// How many records are in order.
    pub fn sorted(&self) -> u64 {
        self.sorted as u64
    }

    /// How many positions were appended since the store was compacted, or changed.
    pub fn appended(&self) -> u64 {
        self.tail.len() as u64
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.map.len() as u64
    }

    pub fn engines(&self) -> &Engines {
        &self.engines
    }

    /// The name of an engine.
    pub fn engine(&self, id: EngineId) -> String {
        self.engines.name(id)
    }

    /// The evaluation of a position.
    pub fn get(&self, position: &Position) -> Option<Evaluation> {
        self.find(&Packed::strict(position)?)
    }

    /// The evaluation of a position that was packed by [`Packed::strict`].
    pub fn find(&self, position: &Packed) -> Option<Evaluation> {
        let (held, added) = self.records(position);
        better(held, added).map(|(_, evaluation)| evaluation)
    }

    /// The evaluation of a position among the records in order, and the one that counts of those after them.
    fn records(&self, position: &Packed) -> (Option<StoredPosition>, Option<StoredPosition>) {
        let (sorted, tail) = self.slots().split_at_checked(self.sorted).unwrap_or_default();
        let held = sorted.binary_search_by(|slot| position_of(slot).cmp(&position.0)).ok();
        let of = |at: &u32| tail.get(*at as usize).map(position_of).unwrap_or_default();
        let added = self.tail.binary_search_by(|at| of(at).cmp(&position.0)).ok();
        let held = held.and_then(|at| evaluation(sorted.get(at)?));
        let added = added.and_then(|at| evaluation(tail.get(*self.tail.get(at)? as usize)?));
        (held, added)
    }

    /// The evaluations of a position that was packed by [`Packed::strict`] that the file still has. Those that do not count
    /// are dropped when it is compacted.
    pub fn all(&self, position: &Packed) -> impl Iterator<Item = Evaluation> + '_ {
        let tail = self.slots().get(self.sorted..).unwrap_or_default();
        let of = |at: &u32| tail.get(*at as usize).map(position_of).unwrap_or_default();
        let first = self.outranked.partition_point(|at| of(at) < position.0.as_slice());
        let end = self.outranked.partition_point(|at| of(at) <= position.0.as_slice());
        let outranked = self.outranked.get(first..end).unwrap_or_default().iter();
        let (held, added) = self.records(position);
        let outranked = outranked.filter_map(move |at| evaluation(tail.get(*at as usize)?));
        held.into_iter().chain(added).chain(outranked).map(|(_, evaluation)| evaluation)
    }

    /// Whether a search of a position with this limit needs not be made: it was, or what is known is at least as deep.
    pub fn is_searched(&self, position: &Packed, limit: Limit) -> bool {
        let made = self.searches.cover(position, limit);
        made || self.find(position).is_some_and(|known| limit.is_met(&known))
    }

    /// What a search of a position, packed by [`Packed::strict`], with at least this limit found that was not to choose these moves.
    pub fn alternative(&self, position: &Packed, without: &[MoveCode], limit: Limit) -> Option<Alternative> {
        let key = (*position, alternative::without(without, limit));
        self.alternatives.get(&key).copied().filter(|known| known.meets(limit))
    }

    /// Whether it has the same of a position, or what a longer search found.
    pub(crate) fn has_alternative(&self, position: &Packed, alternative: &Alternative) -> bool {
        let known = self.alternatives.get(&(*position, alternative.without));
        known.is_some_and(|known| known.effort >= alternative.effort)
    }

    /// Searches that the evaluations do not show, in the order of the positions.
    pub(crate) fn searches(&self) -> impl Iterator<Item = (Packed, Limit)> + '_ {
        self.searches.each()
    }

    /// All that was found of positions apart from some moves, in the order of the positions.
    pub fn alternatives(&self) -> impl Iterator<Item = (Packed, Alternative)> + '_ {
        self.alternatives.iter().map(|((position, _), alternative)| (*position, *alternative))
    }

    /// The positions with the evaluations that count, in the order of their bytes. Damaged records are left out.
    pub fn iter(&self) -> impl Iterator<Item = (Packed, Evaluation)> + '_ {
        self.map.expect(Access::Sequential);
        let (sorted, tail) = self.slots().split_at_checked(self.sorted).unwrap_or_default();
        let mut held = sorted.iter().skip(self.names).filter_map(evaluation).peekable();
        let mut added = self.tail.iter().filter_map(|at| evaluation(tail.get(*at as usize)?)).peekable();
        iter::from_fn(move || {
            let order = match (held.peek(), added.peek()) {
                (Some((a, _)), Some((b, _))) => a.cmp(b),
                (Some(_), None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            match order {
                Ordering::Less => held.next(),
                Ordering::Greater => added.next(),
                Ordering::Equal => better(held.next(), added.next()),
            }
        })
    }

    /// Reads the whole file, and adds what is wrong with it to `findings`.
    ///
    /// # Errors
    /// When the work is interrupted.
    pub fn check(&self, progress: &Progress, findings: &mut findings::Findings<'_>) -> Result<()> {
        self.map.expect(Access::Sequential);
        progress.bytes(self.bytes());
        let mut last: &[u8] = &[];
        for (number, slot) in self.slots().iter().enumerate() {
            let offset = (RECORD_LEN * (number + 1)) as u64;
            progress.step(offset)?;
            if StoreRecord::parse(slot).is_none() {
                findings.count(StoreFinding::Damaged, offset, "the record is damaged");
            } else if number < self.sorted && !slot.starts_with(&[0; 8]) {
                if position_of(slot) <= last {
                    findings.count(StoreFinding::Order, offset, "the record is not in order");
                }
                last = position_of(slot);
            }
        }
        let rest = self.map.len() % RECORD_LEN;
        if rest > 0 {
            let what = format!("the last {rest} bytes are an incomplete record");
            findings.add(StoreFinding::Cut, (self.map.len() - rest) as u64, what);
        }
        Ok(())
    }
}

/// The position of a record.
fn position_of(slot: &Slot) -> &[u8] {
    slot.get(..PACKED_LEN).unwrap_or_default()
}

/// A position, and what is known of it.
type StoredPosition = (Packed, Evaluation);

fn evaluation(slot: &Slot) -> Option<StoredPosition> {
    match StoreRecord::parse(slot)? {
        StoreRecord::Evaluation(position, evaluation) => Some((position, evaluation)),
        StoreRecord::Name(..) | StoreRecord::Searched(..) | StoreRecord::Alternative(..) => None,
    }
}

/// Of two evaluations of one position the one that counts.
fn better(one: Option<StoredPosition>, other: Option<StoredPosition>) -> Option<StoredPosition> {
    match (one, other) {
        (Some(one), Some(other)) if other.1.outranks(&one.1, &one.0) => Some(other),
        (one, other) => one.or(other),
    }
}
