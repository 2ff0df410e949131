//! What can be wrong with a book.

use tabiya_base::findings::kinds;

use super::layout::ENTRY_LEN;

kinds! {
    /// What can be wrong with a Polyglot book.
    pub enum PolyglotFindingKind {
        Trailing: Error "incomplete entries",
        Unsorted: Error "entries out of order",
        Move: Error "entries whose move is not possible in any position",
        Null: Warning "entries with the null move a1a1" => "they are never played",
        ZeroWeight: Warning "entries of weight 0, which are never played",
        Rising: Warning "entries heavier than the entry before of the same position" => "every move is found all the same",
        Duplicate: Warning "entries whose move the position already has" => "their weights are added up",
        Unread: Error "entries too far after the first of their key to be read",
        Lost: Error "positions that no look-up finds",
        Learn: Warning "entries whose learn field holds something other than games and half-points, and is ignored until it is reset",
        Illegal: Error "entries whose move is not legal in its position",
        OldCastling: Warning "entries whose castling is written as the king's step, which most programs no longer read",
        Giveaway: Warning "castlings of Giveaway and Suicide" => "antichess has none, so they are not played",
        Cut: Warning "depths with too many positions" => "deeper positions are not checked, and are played",
    }
}

/// The offset of an entry in bytes.
pub fn offset(index: usize) -> u64 {
    index as u64 * ENTRY_LEN as u64
}
