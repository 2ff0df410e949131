//! Evaluating positions with several child engines. Each evaluation is in the store before the next position of its engine.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::interrupt;
use tabiya_base::parallel;
use tabiya_base::progress::Progress;
use tabiya_book::traverse::Keys;
use tabiya_chess::value::result;
use tabiya_chess::{Packed, Position};
use tabiya_learn::evals::{Appender, Evaluation, Limit, Store};
use tabiya_uci::engine::{Failure, Setup};
use tabiya_uci::{Score, Wdl};

use super::graph::Graph;
use super::search::Searcher;

/// How many positions in a row an engine may fail at before it counts as useless.
const MAX_FAILURES: u32 = 10;

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

    /// Those of some positions of a graph, in the order of their numbers, that are to be searched, the most probable first; and
    /// how many need no search.
    pub fn wanted(
        &self,
        graph: &Graph,
        numbers: impl IntoIterator<Item = u32>,
        limit: Limit,
    ) -> (Vec<u32>, u64) {
        let reach = graph.reach();
        let (mut wanted, mut met, mut known) = (Vec::new(), Keys::default(), 0);
        for number in numbers {
            let Some(at) = graph.position(number) else { continue };
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
        let chance = |number: &u32| reach.get(*number as usize).copied().unwrap_or_default();
        // Stable: of equally probable positions those after fewer plies come first.
        wanted.sort_by(|a, b| chance(b).total_cmp(&chance(a)));
        (wanted, known)
    }
}

/// What the evaluation of a position says that would count if only those with a [`Wdl`] were there.
pub fn best_wdl(all: impl Iterator<Item = Evaluation>, at: &Packed) -> Option<Wdl> {
    Evaluation::best(all.filter(|known| known.wdl.is_some()), at).and_then(|found| found.wdl)
}

/// The engines, and how long they work.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// How an engine is started.
    pub setup: &'a Setup,
    /// How long each search lasts.
    pub limit: Limit,
    /// How many engines search at the same time.
    pub jobs: usize,
    /// When evaluating ends, whatever is left.
    pub until: Option<Instant>,
    /// Whether an evaluation is of use only with how the engine expects the game to end.
    pub needs_wdl: bool,
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

/// What the threads share.
struct Shared {
    appender: Appender,
    fresh: Vec<(Packed, Evaluation)>,
    searched: Vec<Packed>,
    evaluated: Evaluated,
    /// What ends the work.
    error: Option<Error>,
}

/// Evaluates positions in this order, and puts what is found into the store and into what is known.
///
/// An engine that ends or hangs is started again and the position searched once more; then it is skipped.
///
/// # Errors
/// When an engine cannot be started or fails again and again, the store cannot be written, or the work is interrupted:
/// the store then has everything that was found before.
pub fn evaluate(
    positions: &mut dyn Iterator<Item = Position>,
    knowledge: &mut Knowledge,
    work: &Work<'_>,
    progress: &Progress,
) -> Result<Evaluated> {
    let appender = Appender::open(&knowledge.path)?;
    let (fresh, searched, evaluated) = (Vec::new(), Vec::new(), Evaluated::default());
    let shared = Mutex::new(Shared { appender, fresh, searched, evaluated, error: None });
    let known: &Knowledge = knowledge;
    let mut handed = 0_u64;
    let is_over = || work.until.is_some_and(|until| Instant::now() >= until);
    let next = || {
        // Those that were handed out are about to be done.
        progress.at(handed);
        handed += 1;
        Ok(if is_over() { None } else { positions.next() })
    };
    let make = || Worker { work, known, shared: &shared, searcher: None, failures: 0 };
    let searched = parallel::hand_out(work.jobs, next, make, |worker, at| worker.evaluate(&at), |_| Ok(()));
    let over = is_over();
    let Shared { mut appender, fresh, searched: made, mut evaluated, error } =
        shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (at, found) in fresh {
        if let Some(first) = knowledge.fresh.insert(at, found) {
            knowledge.replaced.entry(at).or_insert(first);
        }
    }
    knowledge.searched.extend(made.into_iter().map(|at| (at, work.limit)));
    knowledge.failed.extend(evaluated.skipped.iter().map(|(at, _)| at.strict_key()));
    appender.sync()?;
    if interrupt::asked() {
        return Err(Error::new(ErrorKind::Interrupted, "interrupted").advice(format!(
            "run the same command again to continue; {} has all evaluations so far",
            knowledge.path.display()
        )));
    }
    if let Some(error) = error {
        return Err(error);
    }
    searched?;
    evaluated.cut = over && positions.next().is_some();
    Ok(evaluated)
}

/// One engine and its thread.
struct Worker<'a> {
    work: &'a Work<'a>,
    known: &'a Knowledge,
    shared: &'a Mutex<Shared>,
    searcher: Option<Searcher<'a>>,
    /// Positions in a row that failed.
    failures: u32,
}

impl Worker<'_> {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Evaluates a position. Returns whether to go on.
    fn evaluate(&mut self, at: &Position) -> bool {
        let done = self.search(at);
        match done {
            Ok(goes_on) => goes_on,
            Err(error) => {
                self.shared().error.get_or_insert(error);
                false
            }
        }
    }

    fn search(&mut self, at: &Position) -> Result<bool> {
        let mut why = String::new();
        for _ in 0..2 {
            if interrupt::asked() {
                return Ok(false);
            }
            let mut searcher = match self.searcher.take() {
                Some(searcher) => searcher,
                // Something may have killed it while it was starting.
                None => {
                    Searcher::start(self.work.setup, self.work.limit).or_else(|error| match error.kind() {
                        ErrorKind::Interrupted => Err(error),
                        _ => Searcher::start(self.work.setup, self.work.limit),
                    })?
                }
            };
            if self.work.needs_wdl && !searcher.gives_wdl {
                let what =
                    format!("{} does not say how often it expects to win, draw and lose", searcher.name);
                return Err(Error::new(ErrorKind::Engine, what)
                    .advice("name an engine that has the option UCI_ShowWDL, such as Stockfish"));
            }
            match searcher.search(at, self.work.until) {
                Ok(found) => {
                    self.failures = 0;
                    let kept = self.keep(at, &searcher.name, found);
                    self.searcher = Some(searcher);
                    return kept.map(|()| !found.cut);
                }
                Err(Failure::Interrupted) => return Ok(false),
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
        self.shared().evaluated.skipped.push((at.clone(), why));
        Ok(true)
    }

    /// Puts what was found into the store.
    fn keep(&self, at: &Position, name: &str, found: super::search::SearchResult) -> Result<()> {
        let Some(packed) = Packed::strict(at) else { return Ok(()) };
        let shared = &mut *self.shared();
        let super::search::SearchResult { score, depth, nodes, wdl, best, cut } = found;
        let engine = shared.appender.engine(name);
        let evaluation = Evaluation { score, depth, nodes, wdl, engine, best };
        let held = self.known.find(&packed);
        let counts = held.is_none_or(|held| evaluation.outranks(&held, &packed));
        // One that does not count is kept for what only it says, until the store is compacted.
        let is_kept = counts || wdl.is_some() && self.known.wdl(&packed).is_none();
        if is_kept {
            shared.appender.append(&[(packed, evaluation)])?;
        }
        let limit = self.work.limit;
        let shown =
            if counts { limit.is_met(&evaluation) } else { held.is_some_and(|held| limit.is_met(&held)) };
        if !shown && !cut {
            shared.appender.note_search(&packed, limit)?;
        }
        if is_kept {
            shared.fresh.push((packed, evaluation));
        }
        if !cut {
            shared.searched.push(packed);
        }
        shared.evaluated.done += 1;
        Ok(())
    }
}
