//! A record of a position with other moves.

use tabiya_book::{MoveFacts, PositionRecord};
use tabiya_chess::{MoveCode, Position};

/// A position with other moves. A code that is not a legal move is unchanged.
pub(crate) fn changed(
    record: &PositionRecord,
    at: &Position,
    change: impl FnOnce(&mut Vec<MoveFacts>),
) -> PositionRecord {
    let (mut legal, mut rest) = (Vec::new(), Vec::new());
    for facts in &record.moves {
        match facts.at(at) {
            Some(facts) => legal.push(facts),
            None => rest.push(*facts),
        }
    }
    change(&mut legal);
    let moves = legal.into_iter().map(MoveFacts::<MoveCode>::from).chain(rest).collect();
    PositionRecord { moves, ..record.clone() }
}
