//! What can be wrong with a book.

use tabiya_base::findings::kinds;

kinds! {
    /// What can be wrong with an Arena book.
    pub enum AbkFindingKind {
        Trailing: Error "incomplete records",
        Empty: Warning "books without moves" => "the engine plays every move",
        ChildOutside: Error "records whose first reply is outside the file",
        SiblingOutside: Error "records whose next move is outside the file",
        ChildAgain: Error "records whose first reply is already elsewhere in the tree",
        SiblingAgain: Error "records whose next move is already elsewhere in the tree",
        Code: Error "records whose move is impossible",
        Illegal: Error "records whose move is not legal in its position",
        Counts: Error "records with impossible counts",
        Priority: Warning "records of a priority above 9" => "they count as 9",
        TooDeep: Error "records whose replies are too deep to be followed",
        Never: Warning "records of priority 0, which are never played",
        Limited: Warning "moves that the header's limits keep out of tournaments" => "they are played with Book Tournament off",
        Deleted: Warning "deleted records" => "they are not played",
        Unreached: Warning "records that no line from the starting position reaches" => "they are not played",
        Cut: Warning "books with too many records" => "the rest is not played",
    }
}
