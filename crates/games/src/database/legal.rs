//! Legal moves from what databases store of them: squares, castling to a side, passes.

use shakmaty::attacks::{attacks, between, pawn_attacks};
use shakmaty::{Bitboard, CastlingSide, Chess, Move, Position as _, Rank, Role, Square};
use tabiya_chess::{Position, allow_unusual, is_safe};

use super::error::MoveError;

/// The move of a piece of the side to move that is there, if it is legal; not castling. A pawn that reaches the last rank becomes a
/// queen unless `promotion` names another piece.
///
/// # Errors
/// When it is not legal.
#[inline]
pub(crate) fn stepped(
    position: &Position,
    role: Role,
    from: Square,
    to: Square,
    promotion: Option<Role>,
) -> Result<Move, MoveError> {
    // Databases hold standard chess only.
    let chess = position.standard().filter(|chess| reaches(chess, role, from, to));
    let (chess, pawn) = (chess.ok_or(MoveError::Unreachable)?, role == Role::Pawn);
    let capture = chess.board().role_at(to);
    let (mv, safe) = if pawn && capture.is_none() && from.file() != to.file() {
        let mv = Move::EnPassant { from, to };
        (mv, chess.is_legal(mv))
    } else {
        let last = pawn && Bitboard::BACKRANKS.contains(to);
        let promotion = last.then(|| promotion.unwrap_or(Role::Queen));
        (Move::Normal { role, from, capture, to, promotion }, is_safe(chess, from, to))
    };
    if safe { Ok(mv) } else { Err(MoveError::King) }
}

/// The legal castling to the g file or to the c file.
///
/// # Errors
/// When it is not legal.
pub(crate) fn castling(position: &Position, short: bool) -> Result<Move, MoveError> {
    let chess = position.chess();
    let color = chess.turn();
    let rook = chess.castles().rook(color, CastlingSide::from_king_side(short));
    let castling = rook.zip(chess.board().king_of(color)).map(|(rook, king)| Move::Castle { king, rook });
    let mv = castling.ok_or(MoveError::NoRight { color, short })?;
    if chess.is_legal(mv) { Ok(mv) } else { Err(MoveError::Castling) }
}

/// The position after the side to move has passed.
///
/// # Errors
/// When it is in check.
pub(crate) fn passed(position: &Position) -> Result<Position, MoveError> {
    let passed = position.standard().cloned().ok_or(MoveError::Pass)?.swap_turn().or_else(allow_unusual);
    Ok(Position::from_chess(passed.map_err(|_| MoveError::Pass)?))
}

/// Whether a piece goes from one square to another, whatever that does to its king.
#[inline]
fn reaches(chess: &Chess, role: Role, from: Square, to: Square) -> bool {
    let color = chess.turn();
    let occupied = chess.board().occupied();
    if role == Role::Pawn {
        let aside = pawn_attacks(color, from).contains(to);
        if aside {
            return chess.them().contains(to) || chess.pseudo_legal_ep_square() == Some(to);
        }
        let second = from.rank() == color.fold_wb(Rank::Second, Rank::Seventh);
        let steps = (i32::from(to) - i32::from(from)) * color.fold_wb(1, -1);
        if occupied.contains(to) || steps != 8 && !(steps == 16 && second) {
            return false;
        }
    } else if !(attacks(from, role.of(color), Bitboard::EMPTY) & !chess.us()).contains(to) {
        return false;
    }
    (between(from, to) & occupied).is_empty()
}
