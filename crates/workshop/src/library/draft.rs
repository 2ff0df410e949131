//! Moves that are to become a book.

use std::collections::BTreeMap;
use std::path::Path;

use shakmaty::Chess;

use tabiya_base::error::Result;
use tabiya_book::{self as book, MoveFacts, PositionRecord, WriteOptions, Written};
use tabiya_chess::{MoveCode, Position};

/// Moves of positions in memory, which are written as a book of any format.
///
/// ```
/// use tabiya_workshop::library::shakmaty::{Chess, Position as _, san::San};
/// use tabiya_workshop::library::{Book, Draft, MoveFacts, WriteOptions};
///
/// let start = Chess::default();
/// let e4 = "e4".parse::<San>().expect("a move").to_move(&start).expect("a legal move");
/// let mut draft = Draft::new();
/// draft.put(&start, MoveFacts::new(e4, 5));
/// let folder = tempfile::tempdir().expect("a folder");
/// let path = folder.path().join("mine.ctg");
/// draft.write(&path, &WriteOptions::default())?;
/// assert_eq!(Book::open(&path)?.moves(&start)[0].mv, e4);
/// # Ok::<_, tabiya_workshop::library::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// By key: writers take positions in that order.
    positions: BTreeMap<u64, PositionRecord>,
}

impl Draft {
    /// Without moves.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a move into a position, in place of what is known of it there.
    pub fn put(&mut self, at: &Chess, known: MoveFacts) {
        let at = Position::from_chess(at.clone());
        let record = self.positions.entry(at.key()).or_insert_with(|| PositionRecord::of(&at, &[]));
        let known: MoveFacts<MoveCode> = known.into();
        match record.moves.iter_mut().find(|other| other.mv == known.mv) {
            Some(other) => *other = known,
            None => record.moves.push(known),
        }
    }

    /// Writes the book in the format of the extension: `.bin`, `.ctg`, `.kob` or `.abk`. Its files are written beside, synced and
    /// renamed.
    ///
    /// # Errors
    /// When the extension is of no such format, a file exists and [`WriteOptions::force`] is not set, or the disk fails: no file
    /// remains then.
    pub fn write(&self, path: impl AsRef<Path>, options: &WriteOptions) -> Result<Written> {
        let mut writer = book::create(path, options)?;
        self.positions.values().try_for_each(|record| writer.add(record))?;
        writer.finish()
    }
}
