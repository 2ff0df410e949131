//! What can be wrong with a book.

use tabiya_base::findings::kinds;

kinds! {
    /// What can be wrong with a Chessmaster book.
    pub enum ObkFindingKind {
        Missing: Error "moves that the header counts and the file does not have",
        Empty: Warning "books without moves" => "the engine plays every move",
        Illegal: Error "moves that are not legal in their position",
        Lost: Error "moves after one that is not legal",
        TooDeep: Error "lines that are too deep to be followed",
        Rest: Error "moves after the end of the tree",
        Unended: Warning "trees that end within a line" => "what is there is played",
        Cut: Error "books with too many moves",
        Never: Warning "moves of weight 0, which are never played",
        Texts: Warning "texts, which are not read",
        Trailing: Warning "bytes after the end" => "they are ignored",
    }
}
