//! The positions of a book as an iterator: formats show them one by one on a thread of their own.

use std::fmt;
use std::iter::FusedIterator;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use tabiya_base::error::{Error as BaseError, ErrorKind};
use tabiya_base::interrupt::{Interrupt, inherited};
use tabiya_base::progress::Progress;
use tabiya_base::visit::Break;
use tabiya_chess::Position;

use crate::internal::{PositionRecord, Scope};
use crate::{Counts, MoveFacts, Result, traits};

/// Positions that are read ahead.
const AHEAD: usize = 256;

/// A position of a book with everything that the book says of it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PositionFacts {
    /// The position. Its counters of moves are not those of a game.
    #[cfg_attr(feature = "serde", serde(rename = "fen", serialize_with = "fen"))]
    pub position: Position,
    /// The legal moves, each once.
    pub moves: Vec<MoveFacts>,
    /// Games that reached the position, counted for the side to move, if the format counts them apart from the moves.
    pub total: Option<Counts>,
    /// What the book says of the position in words.
    pub comment: Option<String>,
}

#[cfg(feature = "serde")]
fn fen<S: serde::Serializer>(at: &Position, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.fen())
}

impl PositionFacts {
    /// What a record says, if its position is known.
    fn new(record: &PositionRecord) -> Option<Self> {
        let position = record.position.clone()?;
        let moves = record.moves.iter().filter_map(|facts| facts.at(&position)).collect();
        Some(Self { moves, total: record.total, comment: record.comment.clone(), position })
    }
}

/// The positions of a book, or why they end early: [`Book::positions`](crate::Book::positions).
pub struct Positions {
    found: Receiver<Option<Result<PositionFacts>>>,
    stop: Interrupt,
    ended: bool,
}

impl Positions {
    pub(crate) fn of(book: Arc<dyn traits::Book>) -> Self {
        let (send, found) = sync_channel(AHEAD);
        let stop = Interrupt::new();
        let (inside, sender) = (stop.clone(), send.clone());
        let work = move || inside.scope(|| read(&*book, &send));
        if let Err(error) = thread::Builder::new().name("positions".to_owned()).spawn(inherited(work)) {
            let what = format!("cannot start a thread: {error}");
            let _ = sender.send(Some(Err(BaseError::new(ErrorKind::File, what).into())));
            let _ = sender.send(None);
        }
        Self { found, stop, ended: false }
    }
}

/// Sends what is found, then why it ends early, if it does, and `None`.
fn read(book: &dyn traits::Book, to: &SyncSender<Option<Result<PositionFacts>>>) {
    let done = book.each(Scope::Reachable, &Progress::none(), &mut |record| {
        let Some(facts) = PositionFacts::new(record) else { return Ok(()) };
        if to.send(Some(Ok(facts))).is_ok() { Ok(()) } else { Err(Break::Enough) }
    });
    if let Err(error) = done {
        let _ = to.send(Some(Err(error.into())));
    }
    let _ = to.send(None);
}

impl Iterator for Positions {
    type Item = Result<PositionFacts>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let found = self.found.recv().unwrap_or_else(|_| {
            self.ended = true;
            // A thread that does not say so has panicked.
            Some(Err(BaseError::new(ErrorKind::Format, "reading the book stopped early").into()))
        });
        self.ended |= found.is_none();
        found
    }
}

impl FusedIterator for Positions {}

impl Drop for Positions {
    fn drop(&mut self) {
        self.stop.ask();
    }
}

impl fmt::Debug for Positions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Positions").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_positions_come_with_the_moves_that_look_ups_find() {
        let book = crate::starter().unwrap();
        let mut records = 0;
        let count = &mut |_: &PositionRecord| {
            records += 1;
            Ok(())
        };
        book.inner().each(Scope::Reachable, &Progress::none(), count).unwrap();
        let mut seen = 0;
        for known in book.positions() {
            let known = known.unwrap();
            let sorted = |mut moves: Vec<MoveFacts>| {
                moves.sort_by_key(|facts| facts.mv.to_string());
                moves
            };
            assert_eq!(sorted(known.moves), sorted(book.moves(&known.position)));
            seen += 1;
        }
        assert_eq!(seen, records);
        assert!(seen > AHEAD);
    }

    #[test]
    fn an_iterator_that_is_dropped_ends_its_thread_and_an_interrupt_is_an_item() {
        let book = crate::starter().unwrap();
        let weak = Arc::downgrade(book.inner());
        let mut positions = book.positions();
        assert!(positions.next().is_some_and(|first| first.is_ok()));
        drop((book, positions));
        // The thread has the book as long as it lives.
        while weak.strong_count() > 0 {
            thread::yield_now();
        }
        let stop = Interrupt::new();
        stop.ask();
        let book = crate::starter().unwrap();
        let found: Vec<_> = stop.scope(|| book.positions()).collect();
        assert_eq!(found.last().unwrap().as_ref().unwrap_err().kind(), crate::ErrorKind::Interrupted);
    }
}
