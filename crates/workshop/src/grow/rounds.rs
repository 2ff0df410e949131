//! Searches in rounds. Which ones a round has depends only on what was found in the rounds before the last one. So the book does not
//! depend on which engine is faster, nor on how many there are; and while the last searches of a round go on, engines work on the next.

use std::collections::VecDeque;

use super::growth::{Answer, Growth, Task};

/// Searches in a round, at least.
const MIN_ROUND: u64 = 32;

/// A round has this share of all searches so far.
const SHARE: u64 = 32;

/// Rounds that are under way at the same time.
const FLYING: usize = 2;

/// What is known of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// It has to be made.
    Open,
    /// It is being made.
    Given,
    /// What it found; `None` if no engine could make it.
    Found(Option<Answer>),
}

/// Some searches that are made at the same time.
#[derive(Debug)]
struct Round {
    /// The number of the first search.
    first: u64,
    tasks: Vec<(Task, Known)>,
    /// Searches that are not known.
    left: usize,
    /// Searches before this one were given away.
    given: usize,
}

/// The rounds.
#[derive(Debug)]
pub struct Rounds<'a> {
    growth: Growth<'a>,
    flying: VecDeque<Round>,
    /// Searches that were planned.
    planned: u64,
    /// Searches that are planned at most.
    most: u64,
    /// Searches that were known before they were to be made.
    known: u64,
    /// Rounds that are over.
    over: u64,
    /// Whether something was found since rounds were planned.
    is_changed: bool,
}

/// What comes next.
#[derive(Debug)]
pub enum Step {
    /// This search, by its number.
    Search(u64, Task),
    /// Nothing, until a search that is under way has ended.
    Wait,
    /// Nothing more.
    Done,
}

/// A book whose growth has ended.
#[derive(Debug)]
pub struct Finished<'a> {
    /// The book.
    pub growth: Growth<'a>,
    /// Searches that are missing.
    pub missing: Vec<Task>,
    /// How many searches it has.
    pub searches: u64,
}

impl<'a> Rounds<'a> {
    /// The rounds of a book that grows by at most `most` searches.
    pub fn new(growth: Growth<'a>, most: u64) -> Self {
        Self { growth, flying: VecDeque::new(), planned: 0, most, known: 0, over: 0, is_changed: true }
    }

    /// The book as it is after the rounds that are over.
    pub fn growth(&self) -> &Growth<'a> {
        &self.growth
    }

    /// How many rounds are over.
    pub fn over(&self) -> u64 {
        self.over
    }

    /// How many searches were known before they were to be made.
    pub fn known(&self) -> u64 {
        self.known
    }

    /// How many searches were planned.
    pub fn planned(&self) -> u64 {
        self.planned
    }

    /// Searches that were planned and whose results are not known yet.
    pub fn under_way(&self) -> impl Iterator<Item = &Task> {
        let tasks = self.flying.iter().flat_map(|round| &round.tasks);
        tasks.filter(|(_, known)| !matches!(known, Known::Found(_))).map(|(task, _)| task)
    }

    /// What comes next. `known` says what is known of a search already.
    pub fn next(&mut self, known: &dyn Fn(&Task) -> Option<Answer>) -> Step {
        loop {
            // After each round and not after several, however many are over: so it does not matter when this is called.
            if std::mem::take(&mut self.is_changed) {
                self.plan(known);
            }
            let Some(round) = self.flying.pop_front_if(|round| round.left == 0) else { break };
            self.take(&round);
            self.over += 1;
            self.is_changed = true;
        }
        for round in &mut self.flying {
            let first = round.given;
            for (number, (task, known)) in round.tasks.iter_mut().enumerate().skip(first) {
                round.given = number + 1;
                if *known == Known::Open {
                    *known = Known::Given;
                    return Step::Search(round.first + number as u64, task.clone());
                }
            }
        }
        if self.flying.is_empty() { Step::Done } else { Step::Wait }
    }

    /// Takes what a search found; `None` if no engine could make it.
    pub fn found(&mut self, number: u64, answer: Option<Answer>) {
        for round in &mut self.flying {
            let task = number
                .checked_sub(round.first)
                .and_then(|place| round.tasks.get_mut(usize::try_from(place).ok()?));
            if let Some((_, known)) = task.filter(|(_, known)| *known == Known::Given) {
                *known = Known::Found(answer);
                round.left -= 1;
            }
        }
    }

    /// The book with everything that was found, and that `known` says of later rounds.
    ///
    /// Rounds go on without what is missing for as long as something of them is known. So the book depends only on what is known,
    /// not on where a run ended.
    pub fn finish(mut self, known: &dyn Fn(&Task) -> Option<Answer>) -> Finished<'a> {
        let mut missing = Vec::new();
        while let Some(round) = self.flying.pop_front() {
            self.take(&round);
            let is_known = |(_, known): &&(Task, Known)| matches!(known, Known::Found(_));
            if round.tasks.iter().any(|task| is_known(&task)) {
                self.plan(known);
            }
            missing.extend(round.tasks.into_iter().filter(|task| !is_known(&task)).map(|(task, _)| task));
        }
        // Later rounds were planned here too.
        let searches = self.planned - missing.len() as u64;
        Finished { growth: self.growth, missing, searches }
    }

    fn take(&mut self, round: &Round) {
        for (task, known) in &round.tasks {
            if let Known::Found(answer) = known {
                self.growth.apply(task, *answer);
            }
        }
    }

    /// Plans rounds, if there are too few.
    fn plan(&mut self, known: &dyn Fn(&Task) -> Option<Answer>) {
        while self.flying.len() < FLYING {
            let count = MIN_ROUND.max(self.planned / SHARE).min(self.most - self.planned);
            let tasks = self.growth.plan(usize::try_from(count).unwrap_or(usize::MAX));
            if tasks.is_empty() {
                break;
            }
            let first = self.planned;
            self.planned += tasks.len() as u64;
            let look = |task: Task| match known(&task) {
                Some(answer) => (task, Known::Found(Some(answer))),
                None => (task, Known::Open),
            };
            let mut tasks: Vec<_> = tasks.into_iter().map(look).collect();
            // Long searches first, so that a round does not end with one of them.
            tasks.sort_by_key(|(task, _)| std::cmp::Reverse(task.times));
            let left = tasks.iter().filter(|(_, known)| *known == Known::Open).count();
            self.known += (tasks.len() - left) as u64;
            self.flying.push_back(Round { first, tasks, left, given: 0 });
        }
    }
}
