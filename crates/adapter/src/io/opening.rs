//! Opening books on another thread: a disk may hang.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tabiya_book::BookSet;

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
        self.clock.notify_all();
        let (shared, request) = (Arc::clone(self), state.requests);
        let open = move || {
            let (book_set, mut problems) = shared.loader.open(&files, with_evaluations);
            problems.extend(others.iter().flat_map(|files| shared.loader.open(files, false).1));
            shared.books_opened(request, book_set, problems);
        };
        if let Err(error) = thread::Builder::new().name("books".to_owned()).spawn(open) {
            let what = format!("cannot open the books: cannot start a thread: {error}");
            let problem = BookProblem { what, unopened: true };
            state.update(|session, out| session.books_opened(BookSet::default(), vec![problem], out));
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
