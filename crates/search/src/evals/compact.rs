//! Gathering evaluations, sorting them beyond memory, and putting a store in order: the records of a new file beside it are
//! sorted by position, each position once, and the file takes the place of the old one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::findings::summed;
use tabiya_base::folder;
use tabiya_base::interrupt;
use tabiya_base::lock::Successor;
use tabiya_base::progress::Progress;
use tabiya_base::resources::Resources;
use tabiya_base::sort::{Sorted, Sorter};
use tabiya_chess::Packed;

use super::alternative::Alternative;
use super::append::{Appender, claim};
use super::evaluation::{EngineId, Evaluation};
use super::read::{Searches, Store};
use super::record::{
    Engines, GUARDED_LEN, RECORD_LEN, StoreRecord, guarded, guarded_alternative, guarded_search, header,
    parse_guarded, slot,
};

/// Records that may be appended to a store of any size before it is put in order.
const FEW: u64 = 1 << 16;

/// The same as a share of the records that are in order: each record that is not takes memory and time when the store is
/// opened.
const SHARE: u64 = 64;

/// Records of a batch.
const BATCH: usize = 1 << 12;

/// Bytes that are gathered before they are written.
const BUFFER_LEN: usize = 1 << 18;

/// Evaluations that are to be put into a store.
#[derive(Debug)]
pub struct Collector {
    sorter: Sorter,
    pushed: u64,
    alternatives: BTreeMap<(Packed, u32), Alternative>,
    searches: Searches,
    engines: Engines,
}

/// What was put into a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Put {
    /// Positions that the store did not have.
    pub new: u64,
    /// Positions whose evaluation counts more than the one that the store had.
    pub better: u64,
}

impl Collector {
    /// Holds about half of the memory, and puts the rest into temporary files.
    pub fn new(resources: &Resources) -> Self {
        let sorter = Sorter::new(&resources.temp, resources.memory / 2);
        Self {
            sorter,
            pushed: 0,
            alternatives: BTreeMap::new(),
            searches: Searches::default(),
            engines: Engines::default(),
        }
    }

    /// The number of the engine with this name.
    pub fn engine(&mut self, name: &str) -> EngineId {
        self.engines.id(name)
    }

    /// Takes in an evaluation of a position that was packed by [`Packed::strict`].
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub fn push(&mut self, position: &Packed, evaluation: &Evaluation) -> Result<()> {
        self.pushed += 1;
        self.sorter.push(&guarded(position, evaluation))
    }

    /// Takes in everything that another store has. `wanted` says of which positions. Returns how many evaluations and
    /// alternatives that are.
    ///
    /// # Errors
    /// When a temporary file cannot be written, or the work is interrupted.
    pub fn push_store(
        &mut self,
        store: &Store,
        wanted: impl Fn(&Packed) -> bool,
        progress: &Progress,
    ) -> Result<u64> {
        let before = self.pushed;
        self.engines.merge(store.engines());
        for (number, (position, evaluation)) in (0..).zip(store.iter()) {
            progress.step(number)?;
            if wanted(&position) {
                self.push(&position, &evaluation)?;
            }
        }
        let mut taken = self.pushed - before;
        for (position, alternative) in store.alternatives().filter(|(position, _)| wanted(position)) {
            alternative.put(position, &mut self.alternatives);
            taken += 1;
        }
        store
            .searches()
            .filter(|(position, _)| wanted(position))
            .for_each(|(at, limit)| self.searches.put(at, limit));
        Ok(taken)
    }

    /// How many were taken in.
    pub fn len(&self) -> u64 {
        self.pushed
    }

    /// Whether none was taken in.
    pub fn is_empty(&self) -> bool {
        self.pushed == 0 && self.alternatives.is_empty()
    }

    /// Puts everything into a store, which is created if it is missing. What it already has is unchanged. Few evaluations
    /// are appended; with many the store is put in order.
    ///
    /// # Errors
    /// When a file cannot be read or written, or the work is interrupted: what was appended before stays.
    pub fn put(self, path: &Path, progress: &Progress) -> Result<Put> {
        let is_new = !path.exists();
        let mut appended = 0;
        self.put_counting(path, progress, &mut appended).map_err(|error| {
            if appended > 0 {
                return interrupt::after(&format!("{appended} evaluations were added to the store"), error)
                    .at_path(path);
            }
            if is_new {
                remove_empty(path);
            }
            error
        })
    }

    /// As [`Collector::put`]; also counts what is appended.
    fn put_counting(self, path: &Path, progress: &Progress, appended: &mut usize) -> Result<Put> {
        // What it has decides how. Others may append meanwhile, which does no harm.
        drop(claim(path, |what| progress.tell(what))?);
        let mut appender = Appender::open(path)?;
        let store = Store::open(path)?;
        if store.appended() + self.pushed > FEW.max(store.sorted() / SHARE) {
            drop(store);
            return Ok(self.rewrite(path, progress)?.0);
        }
        appender.name(&self.engines);
        let (mut put, mut batch) = (Put::default(), Vec::new());
        progress.things(self.pushed, "evaluations");
        let sorted = self.sorter.finish()?;
        each_best(sorted, progress, |position, evaluation| {
            let known = store.find(&position);
            if put.count(&position, &evaluation, known.as_ref()) {
                batch.push((position, evaluation));
            }
            if batch.len() >= BATCH {
                appender.append(&batch)?;
                *appended += batch.len();
                batch.clear();
            }
            Ok(())
        })?;
        if !batch.is_empty() {
            appender.append(&batch)?;
            *appended += batch.len();
        }
        for ((position, _), alternative) in &self.alternatives {
            if !store.has_alternative(position, alternative) {
                appender.note_alternative(position, alternative)?;
                *appended += 1;
            }
        }
        for (position, limit) in self.searches.each().filter(|(at, limit)| !store.is_searched(at, *limit)) {
            appender.note_search(&position, limit)?;
            *appended += 1;
        }
        appender.sync()?;
        Ok(put)
    }

    /// Rewrites a store, with everything in order. Returns also how many positions it has.
    fn rewrite(mut self, path: &Path, progress: &Progress) -> Result<(Put, u64)> {
        let old = claim(path, |what| progress.tell(what))?;
        let store = Store::open(path)?;
        self.engines.merge(store.engines());
        for (position, alternative) in store.alternatives() {
            alternative.put(position, &mut self.alternatives);
        }
        store.searches().for_each(|(position, limit)| self.searches.put(position, limit));
        let known = store.sorted() + store.appended();
        progress.things(known, "evaluations");
        for (number, (position, evaluation)) in (0..).zip(store.iter()) {
            progress.step(number)?;
            self.sorter.push(&guarded(&position, &evaluation))?;
        }
        let error = |error| Error::file(path, "cannot write the store of evaluations", error);
        let sorted = self.sorter.finish()?;
        progress.things(known + self.pushed, "evaluations");
        let mut new = Successor::new(path).map_err(error)?;
        let mut out = BufWriter::with_capacity(BUFFER_LEN, &mut new.file);
        // How many records there will be is written at the end.
        out.write_all(&header(0)).map_err(error)?;
        let mut names = self.engines.slots(|_| true);
        let alternatives = self.alternatives.iter();
        names.extend(alternatives.map(|((position, _), one)| slot(&guarded_alternative(position, one))));
        names.extend(self.searches.each().map(|(position, limit)| slot(&guarded_search(&position, limit))));
        names.iter().try_for_each(|name| out.write_all(name)).map_err(error)?;
        let (mut put, mut positions) = (Put::default(), 0);
        let mut had = store.iter().peekable();
        each_best(sorted, progress, |position, evaluation| {
            let known = had.next_if(|(at, _)| *at == position);
            put.count(&position, &evaluation, known.map(|(_, known)| known).as_ref());
            positions += 1;
            out.write_all(&slot(&guarded(&position, &evaluation))).map_err(error)
        })?;
        drop(had);
        let finish = |mut out: BufWriter<&mut File>| {
            out.seek(SeekFrom::Start(0))?;
            out.write_all(&header(names.len() as u64 + positions))?;
            out.flush()
        };
        finish(out).map_err(error)?;
        // Windows does not replace a file that is mapped.
        drop(store);
        new.replace().map_err(error)?;
        let _ = folder::sync(folder::parent_of(path));
        drop(old);
        Ok((put, positions))
    }
}

impl Put {
    /// Counts a position and its evaluation; returns whether the store is to have it.
    fn count(&mut self, position: &Packed, evaluation: &Evaluation, known: Option<&Evaluation>) -> bool {
        let better = known.is_some_and(|known| evaluation.outranks(known, position));
        self.new += u64::from(known.is_none());
        self.better += u64::from(better);
        better || known.is_none()
    }
}

/// Puts a store in order: each position once, sorted, and without damaged records. Returns how many positions it has.
///
/// # Errors
/// When there is none, a file cannot be read or written, or the work is interrupted: the store is unchanged then.
pub fn compact(path: &Path, resources: &Resources, progress: &Progress) -> Result<u64> {
    if !path.exists() {
        let error = io::Error::from(io::ErrorKind::NotFound);
        return Err(Error::file(path, "cannot open the store of evaluations", error));
    }
    Ok(Collector::new(resources).rewrite(path, progress)?.1)
}

/// Puts a store in order if something in it is damaged. Returns how many records were damaged, not in order or incomplete.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted: the store is unchanged then.
pub fn repair(path: &Path, resources: &Resources, progress: &Progress) -> Result<u64> {
    let (checked, findings) = summed(|findings| Store::open(path)?.check(progress, findings));
    checked?;
    let damaged = findings.iter().map(|finding| finding.count).sum();
    if damaged > 0 {
        compact(path, resources, progress)?;
    }
    Ok(damaged)
}

/// Removes a store that was created for evaluations that did not come.
fn remove_empty(path: &Path) {
    // Others may have put something into it.
    if let Ok(store) = claim(path, |_| ())
        && store.metadata().is_ok_and(|store| store.len() <= RECORD_LEN as u64)
    {
        let _ = fs::remove_file(path);
    }
}

/// Shows each position once, with the evaluation that counts.
fn each_best(
    mut sorted: Sorted,
    progress: &Progress,
    mut see: impl FnMut(Packed, Evaluation) -> Result<()>,
) -> Result<()> {
    let mut best: Option<(Packed, Evaluation)> = None;
    let mut number = 0;
    while let Some(record) = sorted.next()? {
        progress.step(number)?;
        number += 1;
        let parsed = record.first_chunk::<GUARDED_LEN>().and_then(|record| parse_guarded(record));
        let Some(StoreRecord::Evaluation(position, evaluation)) = parsed else {
            return Err(Error::new(ErrorKind::File, "a temporary file is damaged"));
        };
        match &mut best {
            Some((at, held)) if *at == position => {
                if evaluation.outranks(held, at) {
                    *held = evaluation;
                }
            }
            best => {
                if let Some((at, held)) = best.replace((position, evaluation)) {
                    see(at, held)?;
                }
            }
        }
    }
    best.map_or(Ok(()), |(at, held)| see(at, held))
}
