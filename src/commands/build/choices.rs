//! What a repertoire leaves open: the positions in which it has several moves of its own side.

use std::path::Path;

use shakmaty::{Color, Position as _};

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book as book;
use tabiya_book::traverse::each_reachable;
use tabiya_chess::Variant;
use tabiya_workshop::view::san;

use crate::output::rows::agreed;

/// The most positions that are listed.
const LISTED: u64 = 5;

/// Lines for people about the positions of a book in which this side has a choice; none if it has none.
///
/// # Errors
/// When the book cannot be read, or the work is interrupted.
pub(super) fn lines(path: &Path, variant: Variant, side: Color, positions: u64) -> Result<Vec<String>> {
    let book = book::open_as(path, variant)?;
    let (mut count, mut lines) = (0, Vec::new());
    each_reachable(&*book, positions, &Progress::none(), &mut |record| {
        let Some(at) = record.position.as_ref().filter(|at| at.chess().turn() == side) else { return Ok(()) };
        let played = record.moves.iter().filter(|known| known.weight > 0);
        let moves: Vec<String> =
            played.filter_map(|known| Some(san(at, known.mv.resolve(at.chess())?))).collect();
        if moves.len() > 1 {
            count += 1;
            if count <= LISTED {
                lines.push(format!("  {}: {}", at.fen(), moves.join(", ")));
            }
        }
        Ok(())
    })?;
    if count > 0 {
        let side = side.fold_wb("White", "Black");
        let what = format!("positions with several moves of {side}, among which play chooses:");
        lines.insert(0, agreed(count, &what));
    }
    if count > LISTED {
        lines.push(format!("  {} more", count - LISTED));
    }
    Ok(lines)
}
