//! Opening books on another thread: a disk may hang. And looking at them on yet another: that takes longer than a move may.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use tabiya_base::task_thread::TaskThread;
use tabiya_book::BookSet;
use tabiya_book::traits::Book;
use tabiya_chess::Variant;

use super::book_loader::of_other_rules;
use super::shared::Shared;
use super::state::{AdapterState, End, Side};
use crate::session::BookProblem;

/// How long lines may wait for books: clients that wait for a `readyok` give up after ten seconds at the earliest.
const BOOKS_TIME: Duration = Duration::from_secs(8);

impl Shared {
    /// Starts to open the books that the session asks for.
    pub(super) fn open_books(self: &Arc<Self>, state: &mut AdapterState) {
        let Some(files) = state.out.open_books.take() else { return };
        let with_evaluations = state.out.with_evaluations;
        let others = std::mem::take(&mut state.out.try_books);
        state.requests += 1;
        state.due.books = Some(self.now() + BOOKS_TIME);
        self.wake_clock(state);
        let (shared, request) = (Arc::clone(self), state.requests);
        let open = move || {
            let (book_set, mut problems) = shared.loader.open(&files, with_evaluations);
            problems.extend(others.iter().flat_map(|files| shared.loader.try_open(files)));
            shared.books_opened(request, book_set, problems);
        };
        if let Err(error) = thread::Builder::new().name("books".to_owned()).spawn(open) {
            let what = format!("cannot open the books: cannot start a thread: {error}");
            let problem = BookProblem { what, unopened: true };
            state.update(|session, out| session.books_opened(BookSet::default(), vec![problem], out));
        }
    }

    /// Looks at the books of standard chess that are played, each once, whether they are of another variant. Legality is checked
    /// before each move anyway: the user is told.
    pub(super) fn look_at_books(self: &Arc<Self>, state: &mut AdapterState) {
        let AdapterState { out, looking, .. } = state;
        let books = std::mem::take(&mut out.look_at);
        // Doctor looks for itself.
        if books.is_empty() || self.is_tried() {
            return;
        }
        let shared = Arc::clone(self);
        let look = move |books: Receiver<Arc<dyn Book>>| {
            let mut seen = HashSet::new();
            for book in books {
                let is_new = seen.insert(book.path().to_owned());
                let wrong = if is_new { of_other_rules(&*book, Variant::Chess) } else { None };
                wrong.into_iter().for_each(|what| shared.notify(what));
            }
        };
        match TaskThread::started(looking, "rules", look) {
            Ok(thread) => books.into_iter().for_each(|book| thread.send(book)),
            Err(error) => log::warn!("cannot look at the books: cannot start a thread: {error}"),
        }
    }

    fn books_opened(self: &Arc<Self>, request: u64, book_set: BookSet, problems: Vec<BookProblem>) {
        let mut state = self.lock();
        if state.requests != request {
            return;
        }
        let in_time = state.due.books.take().is_some();
        // The first request is for the books of the configuration. A game that began without them continues.
        if request == 1 && in_time && self.books_required {
            let unopened = problems.iter().filter(|problem| problem.unopened);
            let unopened: Vec<String> = unopened.map(|problem| problem.what.clone()).collect();
            if !unopened.is_empty() {
                // Even a GUI that has already sent `quit` gets the error.
                if matches!(state.end, Some(End::Asked)) {
                    state.end = Some(End::Books(unopened));
                    self.changed.notify_all();
                    return;
                }
                drop(state);
                return self.end(End::Books(unopened));
            }
        }
        self.wake(&state);
        state.session.at(self.now());
        let before = state.update(|session, out| session.books_opened(book_set, problems, out));
        drop(self.settle(state, Side::Engine));
        drop(before);
    }
}
