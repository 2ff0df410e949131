//! What stores and an engine say of positions.

use std::path::PathBuf;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::progress::Progress;
use tabiya_search::evals::{Evaluation, Store};
use tabiya_search::{Evaluated, Knowledge, Work, best_wdl, evaluate};
use tabiya_uci::{Score, Wdl};
use tabiya_workshop::suite::Candidate;

use crate::output::store::no_store;

/// Stores, and an engine for what they do not know.
pub(super) struct Evaluations<'a> {
    /// The first store, into which the engine's evaluations go.
    first: Knowledge,
    others: Vec<Store>,
    work: Option<Work<'a>>,
    progress: &'a Progress,
    /// What the engine has done.
    pub evaluated: Evaluated,
}

impl<'a> Evaluations<'a> {
    /// Opens stores. Those that are `named` must exist, except for the first where an engine fills it.
    ///
    /// # Errors
    /// When one is missing, cannot be read or is not a store.
    pub fn open(
        paths: &[PathBuf],
        named: bool,
        work: Option<Work<'a>>,
        progress: &'a Progress,
    ) -> Result<Self> {
        let is_made = |number: usize| number == 0 && work.is_some();
        if let Some((_, path)) =
            paths.iter().enumerate().find(|(number, path)| named && !is_made(*number) && !path.exists())
        {
            let advice = "name another one with --store, or make one with `tabiya import` or --engine";
            return Err(no_store(path, advice));
        }
        let first = Knowledge::open(
            paths.first().ok_or_else(|| Error::new(ErrorKind::Usage, "there is no source"))?,
        )?;
        let others =
            paths.iter().skip(1).filter(|path| path.exists()).map(Store::open).collect::<Result<_>>()?;
        Ok(Self { first, others, work, progress, evaluated: Evaluated::default() })
    }

    /// What is known of a position: the evaluation that counts of all stores.
    pub fn score(&self, candidate: &Candidate) -> Option<Score> {
        let at = candidate.packed()?;
        let all =
            self.first.find(&at).into_iter().chain(self.others.iter().filter_map(|store| store.find(&at)));
        Evaluation::best(all, &at).map(|found| found.score)
    }

    /// How engines expect games from a position to end.
    pub fn wdl(&self, candidate: &Candidate) -> Option<Wdl> {
        let at = candidate.packed()?;
        let others = self.others.iter().flat_map(|store| store.all(&at));
        self.first.wdl(&at).or_else(|| best_wdl(others, &at))
    }

    /// Lets the engine evaluate those of some positions of which not all that is needed is known.
    ///
    /// # Errors
    /// As [`evaluate`].
    pub fn complete(&mut self, candidates: &[&Candidate]) -> Result<()> {
        if let Some(work) = &self.work {
            let lacks = |of: &Candidate| self.score(of).is_none() || work.needs_wdl && self.wdl(of).is_none();
            let unknown: Vec<_> = candidates
                .iter()
                .filter(|candidate| lacks(candidate))
                .filter_map(|candidate| candidate.position())
                .collect();
            if !unknown.is_empty() {
                self.progress.slow_things(unknown.len() as u64, "positions");
                let done = evaluate(&mut unknown.into_iter(), &mut self.first, work, self.progress)?;
                self.evaluated.add(done);
            }
        }
        Ok(())
    }
}
