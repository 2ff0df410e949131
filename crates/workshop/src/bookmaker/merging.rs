//! What merging asks of the rows of moves.

use tabiya_book::PositionRecord;

use super::sort::Sortable;

/// A row of a move, with the facts that a book has about it.
pub(crate) trait Merging: Sortable {
    /// Appends the rows of a position of the book with this number, whose games are numbered from `games` on.
    fn append(record: &PositionRecord, book: u32, games: u64, rows: &mut Vec<Self>);

    /// The positions of sorted rows.
    fn positions(rows: &[Self]) -> Vec<PositionRecord>;
}
