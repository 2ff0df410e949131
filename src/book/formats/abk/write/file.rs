//! The bytes of a book: its header, and its moves in the order of the tree.

use super::super::layout::NO_LAST_PLY;
use super::super::records::Header;
use super::draft::{Draft, Lost};
use super::link::link;
use super::tree::Tree;
use crate::base::error::Result;
use crate::book::left_out;

/// What the header of a written book says.
const COMMENT: &str = "written by tabiya";

/// What was written.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Positions in the book.
    pub positions: u64,
    /// Moves in the book.
    pub moves: u64,
    /// What the book does not hold, and how often.
    pub left_out: Vec<(String, u64)>,
}

/// Writes the file, by what takes its bytes one after the other.
///
/// # Errors
/// When a temporary file fails, when the work is interrupted, and what `put` returns.
pub fn write(draft: Draft, mut put: impl FnMut(&[u8]) -> Result<()>) -> Result<Contents> {
    let own = draft.positions();
    let mut draft = draft;
    let mut tree = Tree::new(&draft)?;
    if tree.positions < own
        && let Some(linked) = link(&draft)?
    {
        draft = linked;
        tree = Tree::new(&draft)?;
    }
    let header = Header {
        comment: COMMENT.to_owned(),
        live_records: tree.records as i32,
        by_priority: 1,
        by_games: i32::from(draft.has_games),
        by_score: i32::from(draft.has_results),
        last_ply: NO_LAST_PLY,
        ..Header::default()
    };
    put(&header.to_bytes())?;
    let Tree { positions, records: moves, beyond, .. } = tree;
    // Positions between those of the book were added, and all of them are reached.
    let (all, between) = (draft.positions(), draft.positions() - own);
    let (lost, has_results, memory) = (draft.lost, draft.has_results, draft.memory());
    // What the tree holds is all that is needed.
    let folder = draft.folder().to_owned();
    drop(draft);
    tree.records(&folder, memory, has_results, &mut put)?;
    let unreached = all - positions - beyond;
    let Lost { illegal, unknown, counts, marks, ratings, learned, comments } = lost;
    let left_out = left_out([
        ("positions that no line from the start reaches", unreached),
        ("positions that came without their boards", unknown),
        ("positions after more moves than a book is read to, or too deep", beyond),
        ("moves that are not legal in their position", illegal),
        ("moves with more games than the format can count, all counts halved until they fit", counts),
        ("marks or colours of moves, which act only through the priorities", marks),
        ("ratings of moves", ratings),
        ("learned results of moves", learned),
        ("comments", comments),
    ]);
    Ok(Contents { positions: positions - between.min(positions), moves, left_out })
}
