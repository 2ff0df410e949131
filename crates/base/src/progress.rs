//! How far long work is, for whoever shows it.

use std::fmt;

use super::error::Result;
use super::interrupt;

/// Things between two reports of [`Progress::pass`].
const STRIDE: u64 = 1 << 10;

/// What a part of the work is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit<'a> {
    /// Bytes of a file.
    Bytes,
    /// Things of a kind, such as positions.
    Things(&'a str),
    /// Things of a kind, each of which takes long.
    SlowThings(&'a str),
    /// Bytes of files, in which games or other things of a kind are [found](Show::found).
    Found,
}

/// Shows how far work is. Any thread may report it.
pub trait Show: Send + Sync {
    /// A part of the work begins; `total` is its size, if that is known.
    fn begin(&self, total: Option<u64>, unit: Unit<'_>);

    /// This much of the part is done.
    fn at(&self, done: u64);

    /// This many things of a kind were found in what is done.
    fn found(&self, _count: u64, _kind: &str) {}

    /// More is to be shown beside how much is done: numbers, and what each counts.
    fn details(&self, _numbers: &[(f64, &str)]) {}

    /// The user is to know this meanwhile, such as what the work waits for.
    fn tell(&self, _what: &str) {}

    /// Hides what is shown while something is printed.
    fn aside(&self, print: &mut dyn FnMut()) {
        print();
    }
}

/// The progress of some work.
pub struct Progress(Option<Box<dyn Show>>);

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Progress").field(&self.0.is_some()).finish()
    }
}

impl Progress {
    /// Progress that somebody shows.
    pub fn shown_by(show: impl Show + 'static) -> Self {
        Self(Some(Box::new(show)))
    }

    /// Progress that is not shown.
    pub fn none() -> Self {
        Self(None)
    }

    /// Begins work on this many bytes.
    pub fn bytes(&self, total: u64) {
        self.begin(Some(total), Unit::Bytes);
    }

    /// Begins work on this many things of a kind, such as positions.
    pub fn things(&self, total: u64, kind: &str) {
        self.begin(Some(total), Unit::Things(kind));
    }

    /// As [`Progress::things`], where each takes long.
    pub fn slow_things(&self, total: u64, kind: &str) {
        self.begin(Some(total), Unit::SlowThings(kind));
    }

    /// Begins work on games in this many bytes of files, if that is known.
    pub fn games(&self, total: Option<u64>) {
        self.begin(total, Unit::Found);
    }

    fn begin(&self, total: Option<u64>, unit: Unit<'_>) {
        if let Some(show) = &self.0 {
            show.begin(total, unit);
        }
    }

    /// Reports that this many bytes were read, and this many games in them.
    pub fn games_at(&self, bytes: u64, games: u64) {
        self.many_at(bytes, games, "games");
    }

    /// As [`Progress::games_at`], for other things of a kind.
    pub fn many_at(&self, bytes: u64, count: u64, kind: &str) {
        if let Some(show) = &self.0 {
            show.found(count, kind);
            show.at(bytes);
        }
    }

    /// Reports more than how much is done: numbers, and what each counts.
    pub fn details(&self, numbers: &[(f64, &str)]) {
        if let Some(show) = &self.0 {
            show.details(numbers);
        }
    }

    /// Tells the user something meanwhile, such as what the work waits for.
    pub fn tell(&self, what: &str) {
        if let Some(show) = &self.0 {
            show.tell(what);
        }
    }

    /// Reports how much of the work is done.
    pub fn at(&self, done: u64) {
        if let Some(show) = &self.0 {
            show.at(done);
        }
    }

    /// Reports now and then how much is done of work that gets through many things.
    pub fn pass(&self, done: u64) {
        if done.is_multiple_of(STRIDE) {
            self.at(done);
        }
    }

    /// As [`Progress::pass`], for work that can be interrupted.
    ///
    /// # Errors
    /// When the work must stop.
    pub fn step(&self, done: u64) -> Result<()> {
        self.pass(done);
        interrupt::check()
    }

    /// Hides what is shown while something is printed, because both may go to one terminal.
    pub fn aside<T>(&self, mut print: impl FnMut() -> T) -> T {
        let mut printed = None;
        if let Some(show) = &self.0 {
            show.aside(&mut || printed = Some(print()));
        }
        printed.unwrap_or_else(print)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Keeps what is reported.
    #[derive(Clone, Default)]
    struct Recorder(Arc<Mutex<Vec<String>>>);

    impl Recorder {
        fn add(&self, what: String) {
            self.0.lock().unwrap().push(what);
        }
    }

    impl Show for Recorder {
        fn begin(&self, total: Option<u64>, unit: Unit<'_>) {
            self.add(format!("{total:?} {unit:?}"));
        }

        fn at(&self, done: u64) {
            self.add(done.to_string());
        }
    }

    #[test]
    fn everything_is_reported() {
        let recorder = Recorder::default();
        let progress = Progress::shown_by(recorder.clone());
        progress.bytes(4096);
        progress.at(7);
        progress.things(10, "positions");
        progress.games(None);
        progress.games_at(100, 3);
        assert_eq!(progress.aside(|| 7), 7);
        let recorded = recorder.0.lock().unwrap().join(", ");
        assert_eq!(recorded, "Some(4096) Bytes, 7, Some(10) Things(\"positions\"), None Found, 100");
    }

    #[test]
    fn nothing_is_shown_where_nobody_asks() {
        let progress = Progress::none();
        progress.bytes(1);
        progress.at(1);
        assert_eq!(progress.aside(|| 7), 7);
    }
}
