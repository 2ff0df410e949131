//! Engines that make the searches of rounds, and the store that has what was found before.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_chess::{MoveCode, Packed};
use tabiya_search::evals::{Limit, value};
use tabiya_search::{Evaluated, Knowledge, Outcome, Work, search_all};

use super::growth::{Answer, Task};
use super::rounds::{Finished, Rounds, Step};

/// How long to wait for the end of a search before it is checked whether to stop.
const POLL: Duration = Duration::from_millis(50);

/// What is known of a search before it is made.
fn known(knowledge: &Knowledge, task: &Task, limit: Limit) -> Option<Answer> {
    let (at, limit) = (Packed::strict(&task.at)?, task.limit(limit));
    let (score, best) = if task.without.is_empty() {
        let found = knowledge.find(&at).filter(|_| knowledge.is_searched(&at, limit))?;
        (found.score, found.best)
    } else {
        let found = knowledge.alternative(&at, &task.without, limit)?;
        (found.score, found.best)
    };
    (best != MoveCode::NULL).then(|| Answer { value: value(score), best })
}

/// Lets a book grow with engines until all rounds are over, or the time is up, and shows it to `see` after each round. Without
/// engines it grows as far as the store allows.
///
/// # Errors
/// As [`search_all`], and that of `see`.
pub fn grow(
    rounds: &mut Rounds<'_>,
    knowledge: &mut Knowledge,
    limit: Limit,
    work: Option<&Work<'_>>,
    mut see: impl FnMut(&Rounds<'_>) -> Result<()>,
) -> Result<Evaluated> {
    let Some(work) = work else {
        while let Step::Search(..) = rounds.next(&|task| known(knowledge, task, limit)) {
            interrupt::check()?;
        }
        return Ok(Evaluated::default());
    };
    let (give, found) = mpsc::channel();
    let looked: &Knowledge = knowledge;
    let mut over = 0;
    let next = |stopped: &AtomicBool| {
        loop {
            for (number, outcome) in found.try_iter() {
                take(rounds, number, outcome);
            }
            if work.is_over() || stopped.load(Ordering::Relaxed) {
                return Ok(None);
            }
            interrupt::check()?;
            let step = rounds.next(&|task| known(looked, task, limit));
            if std::mem::replace(&mut over, rounds.over()) != rounds.over() {
                see(rounds)?;
            }
            match step {
                Step::Search(number, task) => return Ok(Some((number, task.search(limit)))),
                Step::Done => return Ok(None),
                Step::Wait => match found.recv_timeout(POLL) {
                    Ok((number, outcome)) => take(rounds, number, outcome),
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
                },
            }
        }
    };
    // A thread that sends nothing more was stopped, and so is this one.
    let done = |number, outcome| {
        let _ = give.send((number, outcome));
    };
    let pooled = search_all(next, done, looked, work)?;
    for (number, outcome) in found.try_iter() {
        take(rounds, number, outcome);
    }
    Ok(knowledge.take(pooled))
}

/// The book as far as a store knows it: see [`Rounds::finish`].
pub fn finish<'a>(rounds: Rounds<'a>, knowledge: &Knowledge, limit: Limit) -> Finished<'a> {
    rounds.finish(&|task| known(knowledge, task, limit))
}

/// Makes searches that the store does not know. Returns what became of them, and how many it knew.
///
/// # Errors
/// As [`search_all`].
pub fn search(
    tasks: &mut dyn Iterator<Item = Task>,
    knowledge: &mut Knowledge,
    work: &Work<'_>,
    progress: &Progress,
) -> Result<(Evaluated, u64)> {
    let (looked, limit): (&Knowledge, _) = (knowledge, work.limit);
    let (mut handed, mut met) = (0, 0);
    let next = |_: &AtomicBool| {
        progress.at(handed);
        handed += 1;
        let mut open = tasks.filter(|task| {
            let is_known = known(looked, task, limit).is_some();
            met += u64::from(is_known);
            !is_known
        });
        let task = if work.is_over() { None } else { open.next() };
        Ok(task.map(|task| ((), task.search(limit))))
    };
    let pooled = search_all(next, |(), _| {}, looked, work)?;
    let mut evaluated = knowledge.take(pooled);
    evaluated.cut = tasks.next().is_some();
    Ok((evaluated, met))
}

/// Passes on what became of a search.
fn take(rounds: &mut Rounds<'_>, number: u64, outcome: Outcome) {
    let answer = match outcome {
        Outcome::Evaluation(found) => Some(Answer { value: value(found.score), best: found.best }),
        Outcome::Alternative(found) => Some(Answer { value: value(found.score), best: found.best }),
        Outcome::Failed => None,
        Outcome::Cut => return,
    };
    rounds.found(number, answer);
}
