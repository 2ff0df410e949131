//! Child engines that search one position after another. What each search finds is in the store before its engine begins the next.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::interrupt;
use tabiya_base::parallel::{self, Sharing};
use tabiya_chess::Packed;
use tabiya_uci::engine::Failure;

use crate::evals::{Alternative, Appender, Evaluation, Waiting};
use crate::knowledge::{Knowledge, Pooled};
use crate::searcher::{PositionSearch, SearchResult, Searcher, Work};

/// How many positions in a row an engine may fail at before it counts as useless.
const MAX_FAILURES: u32 = 10;

/// What became of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The evaluation of the position that counts.
    Evaluation(Evaluation),
    /// The best move apart from those that the engine must not choose.
    Alternative(Alternative),
    /// No engine can search the position.
    Failed,
    /// The time was up before the search ended.
    Cut,
}

/// What the threads share.
struct Shared {
    appender: Appender,
    pooled: Pooled,
    /// What ends the work.
    error: Option<Error>,
}

/// Makes the searches that `next` returns, each by whichever engine is free first, and shows what became of them to `done`, with the
/// values that `next` returned beside them. `next` also learns whether the engines have stopped, because the time is up or one failed.
///
/// An engine that ends or hangs is started again and the search made once more; then it has failed.
///
/// # Errors
/// When an engine cannot be started or fails again and again, the store cannot be written, or the work is interrupted:
/// the store then has everything that was found before.
pub fn search_all<T: Send>(
    mut next: impl FnMut(&AtomicBool) -> Result<Option<(T, PositionSearch)>>,
    done: impl Fn(T, Outcome) + Sync,
    knowledge: &Knowledge,
    work: &Work<'_>,
) -> Result<Pooled> {
    let waiting = Waiting { until: work.until, tell: work.tell };
    let Some(appender) = Appender::open_within(knowledge.path(), waiting)? else {
        return Ok(Pooled::default());
    };
    let shared = Mutex::new(Shared { appender, pooled: Pooled::default(), error: None });
    let stopped = AtomicBool::new(false);
    let make = || Worker { work, known: knowledge, shared: &shared, searcher: None, failures: 0 };
    let each = |worker: &mut Worker<'_>, (which, search): (T, PositionSearch)| {
        let (outcome, goes_on) = worker.run(&search);
        if let Some(outcome) = outcome {
            done(which, outcome);
        }
        stopped.fetch_or(!goes_on, Ordering::Relaxed);
        goes_on
    };
    let searched = parallel::hand_out(work.jobs, Sharing::Evenly, || next(&stopped), make, each, |_| Ok(()));
    let Shared { mut appender, pooled, error } = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    appender.sync()?;
    if interrupt::asked() {
        return Err(Error::new(ErrorKind::Interrupted, "interrupted").advice(format!(
            "run the same command again to continue; {} has all evaluations so far",
            knowledge.path().display()
        )));
    }
    if let Some(error) = error {
        return Err(error);
    }
    searched?;
    Ok(pooled)
}

/// One engine and its thread.
struct Worker<'a> {
    work: &'a Work<'a>,
    known: &'a Knowledge,
    shared: &'a Mutex<Shared>,
    searcher: Option<Searcher<'a>>,
    /// Searches in a row that failed.
    failures: u32,
}

impl Worker<'_> {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a search. Returns what became of it, unless the work is interrupted, and whether to go on.
    fn run(&mut self, search: &PositionSearch) -> (Option<Outcome>, bool) {
        match self.search(search) {
            Ok(outcome) => (outcome, outcome.is_some_and(|outcome| outcome != Outcome::Cut)),
            Err(error) => {
                self.shared().error.get_or_insert(error);
                (None, false)
            }
        }
    }

    fn search(&mut self, search: &PositionSearch) -> Result<Option<Outcome>> {
        if self.work.is_over() {
            return Ok(Some(Outcome::Cut));
        }
        let mut why = String::new();
        for _ in 0..2 {
            if interrupt::asked() {
                return Ok(None);
            }
            let mut searcher = match self.searcher.take() {
                Some(searcher) => searcher,
                // Something may have killed it while it was starting.
                None => Searcher::start(self.work.setup, self.work.variant).or_else(|error| {
                    match error.kind() {
                        ErrorKind::Interrupted => Err(error),
                        _ => Searcher::start(self.work.setup, self.work.variant),
                    }
                })?,
            };
            if self.work.needs_wdl && !searcher.gives_wdl {
                let what =
                    format!("{} does not say how often it expects to win, draw and lose", searcher.name);
                return Err(Error::new(ErrorKind::Engine, what)
                    .advice("name an engine that has the option UCI_ShowWDL, such as Stockfish"));
            }
            match searcher.search(search, self.work.until) {
                Ok(found) => {
                    self.failures = 0;
                    let kept = self.keep(search, &searcher.name, found);
                    self.searcher = Some(searcher);
                    return kept.map(Some);
                }
                Err(Failure::Interrupted) => return Ok(None),
                // It may be in any state now: the next search has a new one.
                Err(Failure::Engine(what)) => why = what,
            }
        }
        self.failures += 1;
        if self.failures >= MAX_FAILURES {
            let what = format!("{MAX_FAILURES} positions in a row cannot be evaluated: {why}");
            return Err(Error::new(ErrorKind::Engine, what)
                .advice("try the engine in a GUI; all evaluations so far are in the store"));
        }
        self.shared().pooled.evaluated.skipped.push((search.at.clone(), why));
        Ok(Some(Outcome::Failed))
    }

    /// Puts what was found into the store.
    fn keep(&self, search: &PositionSearch, name: &str, found: SearchResult) -> Result<Outcome> {
        let Some(packed) = Packed::strict(&search.at) else { return Ok(Outcome::Failed) };
        let Shared { appender, pooled, .. } = &mut *self.shared();
        let SearchResult { score, depth, nodes, wdl, best, cut } = found;
        if !search.without.is_empty() {
            if cut {
                return Ok(Outcome::Cut);
            }
            let alternative = Alternative::new(&search.without, search.limit, score, best);
            if !appender.note_alternative(&packed, &alternative)? {
                return Ok(Outcome::Cut);
            }
            pooled.evaluated.done += 1;
            return Ok(Outcome::Alternative(alternative));
        }
        let engine = appender.engine(name);
        let evaluation = Evaluation { score, depth, nodes, wdl, engine, best };
        let held = self.known.find(&packed);
        let counts = held.is_none_or(|held| evaluation.outranks(&held, &packed));
        // One that does not count is kept for what only it says, until the store is compacted.
        let is_kept = counts || wdl.is_some() && self.known.wdl(&packed).is_none();
        if is_kept {
            if !appender.append(&[(packed, evaluation)])? {
                return Ok(Outcome::Cut);
            }
            pooled.fresh.push((packed, evaluation));
        }
        let counting = held.filter(|_| !counts).unwrap_or(evaluation);
        pooled.evaluated.done += 1;
        if cut {
            return Ok(Outcome::Cut);
        }
        if !search.limit.is_met(&counting) {
            appender.note_search(&packed, search.limit)?;
        }
        pooled.searched.push((packed, search.limit));
        Ok(Outcome::Evaluation(counting))
    }
}
