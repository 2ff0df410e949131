//! A book as other programs see it: opened, asked, and gone through, in types of this crate and of shakmaty.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use shakmaty::Move;

use tabiya_base::truncated;
use tabiya_chess::{Game, Position, Variant};

use crate::choose::{Chances, Policy, chances_in, draw};
use crate::internal::{BookSet, open_bytes, starter_book};
use crate::positions::Positions;
use crate::{Format, MoveFacts, Result, open as opening, traits};

/// An open book. Clones are the same book, and any thread may ask it.
///
/// It never fails: look-ups do not find what is damaged.
#[derive(Clone)]
pub struct Book(Arc<dyn traits::Book>);

/// Opens a book, which takes the same time whatever its size.
///
/// The content decides about the format, then the name. Any of the files of a CTG or a Kvetka book, in any letter case, opens
/// the book; so does the name of a Kvetka book without number or extension. A count file, or a folder of nothing else, is a book too.
/// A Polyglot book has no mark: every other file that is long enough and whose keys ascend, apart from some breaks, may be one.
///
/// Nothing is written, and nothing else in the process changes, but that some formats read ahead on a thread of their own:
/// [`OpenOptions`] has what a program may want besides.
///
/// ```no_run
/// let book = tabiya_book::open("book.ctg")?;
/// for known in book.moves(&shakmaty::Chess::default()) {
///     println!("{}: {}", known.mv, known.weight);
/// }
/// # Ok::<_, tabiya_book::Error>(())
/// ```
///
/// # Errors
/// When the file cannot be opened, or is no book by its content or name.
pub fn open(path: impl AsRef<Path>) -> Result<Book> {
    OpenOptions::new().open(path)
}

/// The book that is part of the library.
///
/// # Errors
/// Never with the book that is shipped.
pub fn starter() -> Result<Book> {
    Ok(Book(starter_book()?))
}

/// How a book is opened.
///
/// ```no_run
/// use tabiya_book::{OpenOptions, Variant};
/// let book = OpenOptions::new().variant(Variant::Atomic).guard_truncation(true).open("atomic.bin")?;
/// # Ok::<_, tabiya_book::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    variant: Variant,
    guard_truncation: bool,
    put_back: bool,
}

impl OpenOptions {
    /// A book of standard chess, without an effect on anything else.
    pub fn new() -> Self {
        Self::default()
    }

    /// The variant of the book. A Polyglot book does not say its variant, so it is taken for one of this; a count file says it, and
    /// other formats hold standard chess only.
    #[must_use]
    pub fn variant(mut self, variant: Variant) -> Self {
        self.variant = variant;
        self
    }

    /// Whether the process is to outlive a file that another program truncates while it is open: what is missing reads as zeros
    /// then. On Unix this installs a handler of SIGBUS, for all books and databases that the process opens from now on; without it such a
    /// file ends the process. Other systems do not let files be truncated that are open.
    #[must_use]
    pub fn guard_truncation(mut self, guard: bool) -> Self {
        self.guard_truncation = guard;
        self
    }

    /// Whether files of a CTG or Kvetka book are put back first that a process had moved aside when it died, and what it had begun
    /// is removed from the folder. A process that is replacing the book is waited for, up to 0.2 s. This needs the feature `write`.
    #[must_use]
    pub fn put_back(mut self, put_back: bool) -> Self {
        self.put_back = put_back;
        self
    }

    /// Opens the book.
    ///
    /// # Errors
    /// When it is one of another variant, and as [`open()`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Book> {
        let path = path.as_ref();
        if self.guard_truncation {
            truncated::outlive();
        }
        if self.put_back {
            opening::put_back(path);
        }
        Ok(Book(opening::open_as_it_is(path, self.variant)?))
    }
}

impl Book {
    /// A book in memory, of one file and of standard chess; the name is for messages, and its ending may decide about the format.
    ///
    /// # Errors
    /// As [`open()`].
    pub fn from_bytes(name: impl AsRef<Path>, bytes: Vec<u8>) -> Result<Self> {
        Ok(Self(open_bytes(name, bytes)?))
    }

    /// The file that was opened.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Its format.
    pub fn format(&self) -> Format {
        self.0.format()
    }

    /// The variant whose moves these are.
    pub fn variant(&self) -> Variant {
        self.0.variant()
    }

    /// What was wrong when the book was opened, a line each. The book is played without its damaged parts.
    pub fn warnings(&self) -> Vec<String> {
        self.0.warnings()
    }

    /// What the book says of the moves in a position: legal ones only, each once, in the book's order.
    pub fn moves(&self, at: impl Into<Position>) -> Vec<MoveFacts> {
        self.0.moves_in(&at.into())
    }

    /// What the book says of a position in words: mostly the name of its opening.
    pub fn comment(&self, at: impl Into<Position>) -> Option<String> {
        self.0.as_remarks()?.comment(&at.into())
    }

    /// The moves in a position with the chance of each under a policy, in the book's order. The chances add up to 1, or are all 0 where
    /// no move may be played. `history`: the positions that were on the board before, which may not come for the third time;
    /// those before the last capture or move of a pawn do not matter.
    pub fn chances(
        &self,
        at: impl Into<Position>,
        policy: &Policy,
        history: &[Position],
    ) -> Vec<(MoveFacts, f64)> {
        let game = Game::continued(history, at.into());
        let mut alone = BookSet::new(&[], &[], std::slice::from_ref(&self.0));
        let Chances { moves, chances, .. } = chances_in(&*self.0, (&mut alone, 0), &game, policy);
        moves.into_iter().zip(chances).collect()
    }

    /// Draws a move by its [chance](Self::chances); `None` where no move may be played. `random` returns 64 random bits: the same
    /// bits draw the same move.
    ///
    /// ```
    /// use std::hash::{BuildHasher, RandomState};
    /// use tabiya_book::{Policy, starter};
    ///
    /// let book = starter()?;
    /// let mut random = || RandomState::new().hash_one(0); // or that of any generator
    /// let mv = book.pick(&shakmaty::Chess::default(), &Policy::default(), &[], &mut random);
    /// assert!(mv.is_some());
    /// # Ok::<_, tabiya_book::Error>(())
    /// ```
    pub fn pick(
        &self,
        at: impl Into<Position>,
        policy: &Policy,
        history: &[Position],
        random: &mut dyn FnMut() -> u64,
    ) -> Option<Move> {
        let known = self.chances(at, policy, history);
        let chances: Vec<f64> = known.iter().map(|(_, chance)| *chance).collect();
        let drawn = draw(&chances, random())?;
        known.get(drawn).map(|(facts, _)| facts.mv)
    }

    /// The positions that the book's moves reach from the starting position, each once, with what the book says of them.
    ///
    /// A thread of its own reads the book, at most some hundred positions ahead, and ends with the iterator.
    pub fn positions(&self) -> Positions {
        Positions::of(Arc::clone(&self.0))
    }

    /// The book as the other crates of tabiya know it.
    #[doc(hidden)]
    pub fn inner(&self) -> &Arc<dyn traits::Book> {
        &self.0
    }
}

#[doc(hidden)]
impl From<Arc<dyn traits::Book>> for Book {
    fn from(book: Arc<dyn traits::Book>) -> Self {
        Self(book)
    }
}

impl fmt::Debug for Book {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}
