//! An open book.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rand::Rng;
use shakmaty::{Chess, Move};

use tabiya_base::error::Result;
use tabiya_base::findings::Finding;
use tabiya_base::progress::Progress;
use tabiya_base::visit::Break;
use tabiya_book::choose::{Chances, Policy, chances_in, draw};
use tabiya_book::{self as book, BookSet, Format, MoveFacts, Scope};
use tabiya_chess::{Game, Position};

/// An open book of any format. Opening takes the same time whatever its size; look-ups read the file through a map, and may
/// come from any number of threads.
///
/// ```
/// use tabiya_workshop::library::{Book, Policy, shakmaty::Chess};
///
/// let book = Book::open("../book/books/starter.bin")?;
/// for known in book.moves(&Chess::default()) {
///     println!("{} {}", known.mv, known.weight);
/// }
/// # assert!(!book.moves(&Chess::default()).is_empty());
/// # Ok::<_, tabiya_workshop::library::Error>(())
/// ```
#[derive(Clone)]
pub struct Book(pub(super) Arc<dyn book::Book>);

impl Book {
    /// Opens a book. Any of the files of a CTG or Kvetka book opens it.
    ///
    /// # Errors
    /// When the file cannot be opened, is too short, or is not a book.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        book::open(path).map(Self)
    }

    /// A book in memory; `name` is what messages call it. Books of several files cannot be opened so.
    ///
    /// ```
    /// let book = tabiya_workshop::library::Book::from_bytes("empty.bin", vec![0; 16])?;
    /// assert!(book.moves(&Default::default()).is_empty());
    /// # Ok::<_, tabiya_workshop::library::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Book::open`].
    pub fn from_bytes(name: impl AsRef<Path>, bytes: Vec<u8>) -> Result<Self> {
        book::open_bytes(name, bytes).map(Self)
    }

    /// The book inside the library, with the main lines of all openings.
    ///
    /// ```
    /// assert!(!tabiya_workshop::library::Book::starter()?.moves(&Default::default()).is_empty());
    /// # Ok::<_, tabiya_workshop::library::Error>(())
    /// ```
    ///
    /// # Errors
    /// Never with the book that is shipped.
    pub fn starter() -> Result<Self> {
        book::starter().map(Self)
    }

    /// The file that was opened.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Its format.
    ///
    /// ```
    /// assert_eq!(tabiya_workshop::library::Book::starter()?.format(), tabiya_workshop::library::Format::Polyglot);
    /// # Ok::<_, tabiya_workshop::library::Error>(())
    /// ```
    pub fn format(&self) -> Format {
        self.0.format()
    }

    /// The moves in a position, in the book's order, with all that the book knows of each: legal ones only, each once.
    pub fn moves(&self, at: &Chess) -> Vec<MoveFacts> {
        self.0.moves_in(&Position::from_chess(at.clone()))
    }

    /// The moves in a position with the chance of each, by the rules of the adapter; all 0 where no move may be played.
    /// [`Policy::max_loss`] and [`Policy::guard`] have no effect here, nor has it a position's earlier repetitions.
    ///
    /// ```
    /// use tabiya_workshop::library::{Book, Policy, shakmaty::Chess};
    ///
    /// let best = Policy { variety: 0, ..Policy::default() };
    /// let chances = Book::starter()?.chances(&Chess::default(), &best);
    /// assert_eq!(chances.iter().map(|(_, chance)| chance).sum::<f64>(), 1.0);
    /// # Ok::<_, tabiya_workshop::library::Error>(())
    /// ```
    pub fn chances(&self, at: &Chess, policy: &Policy) -> Vec<(MoveFacts, f64)> {
        let Chances { moves, chances, .. } = self.known(at, policy);
        moves.into_iter().zip(chances).collect()
    }

    /// Draws a move by its chance; `None` where no move may be played. The same seed draws the same moves: exactly one random
    /// number is used for each.
    ///
    /// ```
    /// use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
    /// use tabiya_workshop::library::{Book, Policy, shakmaty::Chess};
    ///
    /// let (book, at) = (Book::starter()?, Chess::default());
    /// let drawn = |seed| book.choose(&at, &Policy::default(), &mut Xoshiro256PlusPlus::seed_from_u64(seed));
    /// assert!(drawn(7).is_some() && drawn(7) == drawn(7));
    /// # Ok::<_, tabiya_workshop::library::Error>(())
    /// ```
    pub fn choose(&self, at: &Chess, policy: &Policy, rng: &mut impl Rng) -> Option<Move> {
        let Chances { moves, chances, .. } = self.known(at, policy);
        moves.get(draw(&chances, rng.next_u64())?).map(|drawn| drawn.mv)
    }

    fn known(&self, at: &Chess, policy: &Policy) -> Chances {
        let game = Game::from_position(Position::from_chess(at.clone()));
        let mut set = BookSet::new(&[], &[], &[Arc::clone(&self.0)]);
        chances_in(&*self.0, (&mut set, 0), &game, policy)
    }

    /// Shows each position once that the book's moves reach from the starting position, with its moves, until `see` breaks
    /// off.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use tabiya_workshop::library::Book;
    ///
    /// let mut positions = 0;
    /// Book::starter()?.each(|_, moves| {
    ///     assert!(!moves.is_empty());
    ///     positions += 1;
    ///     if positions < 100 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    /// })?;
    /// assert_eq!(positions, 100);
    /// # Ok::<_, tabiya_workshop::library::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a part of a count file is damaged.
    pub fn each(&self, mut see: impl FnMut(&Chess, &[MoveFacts]) -> ControlFlow<()>) -> Result<()> {
        let mut moves = Vec::new();
        let mut visit = |record: &book::PositionRecord| {
            let Some(at) = &record.position else { return Ok(()) };
            moves.clear();
            moves.extend(record.moves.iter().filter_map(|facts| facts.at(at)));
            match see(at.chess(), &moves) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(Break::Enough),
            }
        };
        self.0.each(Scope::Reachable, &Progress::none(), &mut visit).map(drop)
    }

    /// Reads the whole book, and returns what is wrong with it: look-ups pass over damage.
    ///
    /// ```
    /// assert!(tabiya_workshop::library::Book::starter()?.check().is_empty());
    /// # Ok::<_, tabiya_workshop::library::Error>(())
    /// ```
    pub fn check(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        self.0.check(&Progress::none(), &mut |finding| found.push(finding));
        found
    }
}
