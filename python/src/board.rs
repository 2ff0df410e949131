//! What Python names a position by: a board of python-chess, a FEN, or a key.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};
use shakmaty::{Bitboard, Board, ByColor, ByRole, CastlingMode, Color, RemainingChecks, Role, Setup, Square};

use crate::library::{Game, MoveCode, Position, mode_of, named_variant, position, variant_facts};

/// A position, and how castling is written in its moves.
#[derive(Clone)]
pub struct Place {
    pub at: Position,
    pub mode: CastlingMode,
}

/// What a book is asked for.
pub enum Asked {
    Place(Box<Place>),
    /// A Polyglot key; `None` for a number that no key can be.
    Key(Option<u64>),
    /// A board of a variant that is not known here, or one without a legal position: no book knows it.
    Nothing,
}

impl Asked {
    /// Reads a board of python-chess, a FEN or a key.
    ///
    /// # Errors
    /// `ValueError` for a text that is no FEN, `TypeError` for anything else.
    pub fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(fen) = given.cast::<PyString>() {
            return Ok(Self::Place(Box::new(of_fen(&fen.to_cow()?)?)));
        }
        let py = given.py();
        if given.is_instance_of::<PyInt>() {
            return Ok(Self::Key(given.extract().ok()));
        }
        // As python-chess, which takes what has a whole number in it.
        if !given.hasattr(intern!(py, "uci_variant"))?
            && let Ok(key) = py.get_type::<PyInt>().call1((given,))
        {
            return Ok(Self::Key(key.extract().ok()));
        }
        Ok(match of_board(given)? {
            Some(place) => Self::Place(Box::new(place)),
            None => Self::Nothing,
        })
    }
}

/// A position from a FEN.
///
/// # Errors
/// `ValueError` for what is no FEN, or a position that cannot be played on.
pub fn of_fen(fen: &str) -> PyResult<Place> {
    let at = Position::from_any_fen(fen.as_bytes())
        .map_err(|error| PyValueError::new_err(format!("{fen:?} is no position: {error}")))?;
    let mode = mode_of(&at);
    Ok(Place { at, mode })
}

/// A position from a board of python-chess; `None` for a variant that is not known here, and for what is no legal position.
fn of_board(board: &Bound<'_, PyAny>) -> PyResult<Option<Place>> {
    let py = board.py();
    let Ok(variant) = board.getattr(intern!(py, "uci_variant")) else {
        let kind = board.get_type().name()?;
        let what = format!("a position is a chess.Board, a FEN or a key, not {kind}");
        return Err(PyTypeError::new_err(what));
    };
    let name = variant.extract::<String>().unwrap_or_default();
    let Some(variant) = named_variant(&name).map(|named| named.variant) else { return Ok(None) };
    let bits = |name: &Bound<'_, PyString>| Ok::<_, PyErr>(Bitboard(board.getattr(name)?.extract()?));
    let roles = ByRole {
        pawn: bits(intern!(py, "pawns"))?,
        knight: bits(intern!(py, "knights"))?,
        bishop: bits(intern!(py, "bishops"))?,
        rook: bits(intern!(py, "rooks"))?,
        queen: bits(intern!(py, "queens"))?,
        king: bits(intern!(py, "kings"))?,
    };
    // By colour, Black first.
    let colors = board.getattr(intern!(py, "occupied_co"))?;
    let color = |number: usize| Ok::<_, PyErr>(Bitboard(colors.get_item(number)?.extract()?));
    let colors = ByColor { black: color(0)?, white: color(1)? };
    let Ok(pieces) = Board::try_from_bitboards(roles, colors) else { return Ok(None) };
    let mut setup = Setup::empty();
    setup.board = pieces;
    setup.turn = Color::from_white(board.getattr(intern!(py, "turn"))?.is_truthy()?);
    setup.castling_rights = bits(intern!(py, "castling_rights"))?;
    setup.ep_square = match board.getattr(intern!(py, "ep_square"))?.extract::<Option<u32>>()? {
        Some(square) => Square::try_from(square).ok(),
        None => None,
    };
    setup.halfmoves = number(board, intern!(py, "halfmove_clock"))?;
    setup.fullmoves = number(board, intern!(py, "fullmove_number"))?.try_into().unwrap_or(setup.fullmoves);
    let facts = variant_facts(variant);
    if facts.has_common_kings && setup.castling_rights.any() {
        // The boards of giveaway and suicide castle.
        return Ok(None);
    }
    if facts.has_drops {
        setup.promoted = bits(intern!(py, "promoted"))?;
        setup.pockets = Some(pockets(board)?);
    }
    if facts.counts_checks {
        // Black first.
        let left = board.getattr(intern!(py, "remaining_checks"))?;
        let left = |number: usize| {
            Ok::<_, PyErr>(RemainingChecks::try_from(left.get_item(number)?.extract::<u32>()?).ok())
        };
        setup.remaining_checks = left(1)?.zip(left(0)?).map(|(white, black)| ByColor { white, black });
    }
    let mode = CastlingMode::from_chess960(board.getattr(intern!(py, "chess960"))?.is_truthy()?);
    Ok(position(setup, mode, variant).map(|at| Place { at, mode }))
}

/// The pieces in hand of a board of crazyhouse.
fn pockets(board: &Bound<'_, PyAny>) -> PyResult<ByColor<ByRole<u8>>> {
    let py = board.py();
    let mut all = ByColor::<ByRole<u8>>::default();
    // Black first.
    let sides = board.getattr(intern!(py, "pockets"))?;
    for (number, color) in [(0, Color::Black), (1, Color::White)] {
        let side = sides.get_item(number)?;
        for role in Role::ALL {
            // python-chess counts pieces from the pawn, 1, as shakmaty does.
            let count = side.call_method1(intern!(py, "count"), (u8::from(role),))?;
            *all.get_mut(color).get_mut(role) = count.extract().unwrap_or(u8::MAX);
        }
    }
    Ok(all)
}

/// A counter of a board; those that nobody plays to are as good as 0.
fn number(board: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<u32> {
    Ok(board.getattr(name)?.extract().unwrap_or_default())
}

/// The game that led to a board, as far as the board knows it: a position alone where it is a FEN. `None` as in [`Asked`].
///
/// # Errors
/// As [`Asked::of`].
pub fn game_of(given: &Bound<'_, PyAny>) -> PyResult<Option<(Game, CastlingMode)>> {
    let py = given.py();
    let place = match Asked::of(given)? {
        Asked::Place(place) => place,
        Asked::Nothing => return Ok(None),
        Asked::Key(_) => return Err(PyTypeError::new_err("a move is chosen for a chess.Board or a FEN")),
    };
    let alone = |place: &Place| Some((Game::from_position(place.at.clone()), place.mode));
    let Ok(stack) = given.getattr(intern!(py, "move_stack")) else { return Ok(alone(&place)) };
    if stack.is_empty()? {
        return Ok(alone(&place));
    }
    let Some(root) = of_board(&given.call_method0(intern!(py, "root"))?)? else { return Ok(alone(&place)) };
    let mut game = Game::from_position(root.at);
    for mv in stack.try_iter()? {
        let Some(legal) = legal(&mv?, game.position())? else { return Ok(alone(&place)) };
        game.push(legal);
    }
    // A board that was changed by hand is not where its moves lead.
    Ok(if game.position().whole_key() == place.at.whole_key() {
        Some((game, place.mode))
    } else {
        alone(&place)
    })
}

/// A move of python-chess, if it is legal in a position.
fn legal(mv: &Bound<'_, PyAny>, at: &Position) -> PyResult<Option<shakmaty::Move>> {
    use crate::library::MoveFacts;
    let py = mv.py();
    let square = |name: &Bound<'_, PyString>| {
        Ok::<_, PyErr>(Square::try_from(mv.getattr(name)?.extract::<u32>()?).ok())
    };
    let (from, to) = (square(intern!(py, "from_square"))?, square(intern!(py, "to_square"))?);
    let promotion: Option<u8> = mv.getattr(intern!(py, "promotion"))?.extract()?;
    let drop: Option<u8> = mv.getattr(intern!(py, "drop"))?.extract()?;
    let role = promotion.or(drop).and_then(|number| shakmaty::Role::try_from(number).ok());
    let Some((from, to)) = from.zip(to) else { return Ok(None) };
    let code = MoveCode::new(from, to, role);
    Ok(MoveFacts::new(code, 0).at(at).map(|facts| facts.mv))
}
