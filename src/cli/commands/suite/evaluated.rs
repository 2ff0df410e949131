//! What stores and an engine say of positions.

use std::path::PathBuf;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::progress::Progress;
use crate::evals::{Evaluation, Store};
use crate::suite::Candidate;
use crate::uci::Score;
use crate::vet::{Evaluated, Knowledge, Work, evaluate};

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
    /// When one is missing, cannot be read or is no store.
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
            return Err(Error::new(ErrorKind::File, "there is no store of evaluations")
                .at_path(path)
                .advice(
                    "name another one with --store, or make one with `tabiya evals import` or --engine",
                ));
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
        let at = candidate.packed();
        let all =
            self.first.find(&at).into_iter().chain(self.others.iter().filter_map(|store| store.find(&at)));
        let better = |one: Evaluation, other: Evaluation| if other.outranks(&one, &at) { other } else { one };
        all.reduce(better).map(|found| found.score)
    }

    /// What is known of some positions, after the engine has evaluated those of which nothing is.
    ///
    /// # Errors
    /// As [`evaluate`].
    pub fn scores(&mut self, candidates: &[&Candidate]) -> Result<Vec<Option<Score>>> {
        if let Some(work) = &self.work {
            let unknown: Vec<_> = candidates
                .iter()
                .filter(|candidate| self.score(candidate).is_none())
                .filter_map(|candidate| candidate.position())
                .collect();
            if !unknown.is_empty() {
                self.progress.slow_things(unknown.len() as u64, "positions");
                let done = evaluate(&mut unknown.into_iter(), &mut self.first, work, self.progress)?;
                self.evaluated.add(done);
            }
        }
        Ok(candidates.iter().map(|candidate| self.score(candidate)).collect())
    }
}
