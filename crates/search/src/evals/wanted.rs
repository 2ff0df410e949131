//! The positions that a book reaches.

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::Moves;
use tabiya_book::traverse::{ByPlies, Keys, Replies};
use tabiya_chess::Position;

/// The positions that a book reaches from the starting position, and those after each of its moves.
///
/// They are known by their keys, 16 to 32 bytes each.
#[derive(Clone, Debug)]
pub struct Wanted(Keys);

impl Wanted {
    /// Follows all moves of a book, and replies that lead back into it.
    ///
    /// # Errors
    /// When the work is interrupted.
    pub fn from_book(book: &dyn Moves, progress: &Progress) -> Result<Self> {
        let replies = Replies::find(book)?;
        let (mut keys, mut moves) = (Keys::default(), Vec::new());
        ByPlies::of_variant(book.variant()).each(progress, |visited, follow| {
            moves.clear();
            book.moves(visited.at, &mut moves);
            if !moves.is_empty() {
                keys.insert(visited.at.strict_key());
            }
            keys.extend(moves.iter().map(|facts| visited.at.after(facts.mv).strict_key()));
            follow.extend(moves.iter().map(|facts| facts.mv));
            replies.append(book, visited.at, follow);
            Ok(())
        })?;
        Ok(Self(keys))
    }

    /// How many positions these are.
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a position is one of them.
    pub fn contains(&self, position: &Position) -> bool {
        self.0.contains(&position.strict_key())
    }
}
