//! A board that is quick to play a stored game on: it knows its pieces by their numbers, as the compact encoding names
//! them, and tells whether a move is legal without making a list of all.

use shakmaty::attacks::{
    between, bishop_attacks, king_attacks, knight_attacks, pawn_attacks, queen_attacks, ray, rook_attacks,
};
use shakmaty::{
    Bitboard, CastlingMode, Chess, Color, Move, Position as _, PositionError, Rank, Role, Setup, Square,
};

/// No square, in a list of pieces.
const NONE: u8 = 64;

/// Pieces of a kind and side that have a number. Those beyond, which only a made-up position has, can be named by
/// their squares alone, as from the fourth on all are.
const LISTED: u8 = 15;

/// The number of a piece that has none.
const UNLISTED: u8 = 15;

/// Why a move cannot be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The side to move has no such piece.
    NoPiece,
    /// The piece does not go there.
    Way,
    /// The king would be left in check.
    King,
    /// King or rook have moved, or cannot castle from where they stand.
    NoRight {
        /// The side.
        color: Color,
        /// Whether it is the castling to the g file.
        short: bool,
    },
    /// Something stands in the way of castling, or attacks it.
    Castling,
    /// The side is in check and cannot pass.
    Pass,
}

/// A position with its pieces numbered.
#[derive(Clone, Debug)]
pub struct Board {
    /// By [`Role`] as a number, from 1.
    roles: [Bitboard; 8],
    /// By [`Color`] as a number.
    colors: [Bitboard; 2],
    /// By square: 0, or kind | side << 3 | number << 4.
    squares: [u8; 64],
    /// The squares of the pieces, by side, kind and number.
    lists: [[[u8; 16]; 8]; 2],
    /// How many of `lists` are in use; of pawns also those that are gone.
    counts: [[u8; 8]; 2],
    turn: Color,
    check: bool,
    en_passant: Option<Square>,
    /// The rooks that may castle, by side: to the g file, to the c file.
    castles: [[Option<Square>; 2]; 2],
    /// The same together.
    castling: Bitboard,
    mode: CastlingMode,
}

/// The squares on one line with each square.
static LINES: [Bitboard; 64] = {
    let mut lines = [Bitboard::EMPTY; 64];
    let mut at = 0;
    while at < 64 {
        lines[at] = queen_attacks(Square::new(at as u32), Bitboard::EMPTY);
        at += 1;
    }
    lines
};

/// Whether two squares are on one line.
#[inline]
fn aligned(one: Square, other: Square) -> bool {
    LINES[one as usize].contains(other)
}

/// The square of a number below 64.
#[inline]
fn square(number: u8) -> Square {
    Square::new(u32::from(number & 63))
}

impl Board {
    /// Numbers the pieces of a position from a1 up, file by file, or from h8 down.
    pub fn new(chess: &Chess, reversed: bool) -> Self {
        let from = chess.board();
        let mode = chess.castles().mode();
        let mut board = Self {
            roles: [Bitboard::EMPTY; 8],
            colors: [Bitboard::EMPTY; 2],
            squares: [0; 64],
            lists: [[[NONE; 16]; 8]; 2],
            counts: [[0; 8]; 2],
            turn: chess.turn(),
            check: chess.is_check(),
            en_passant: chess.pseudo_legal_ep_square(),
            castles: [[None; 2]; 2],
            castling: chess.castles().castling_rights(),
            mode,
        };
        for color in Color::ALL {
            for (side, place) in [shakmaty::CastlingSide::KingSide, shakmaty::CastlingSide::QueenSide]
                .into_iter()
                .zip(&mut board.castles[color as usize])
            {
                *place = chess.castles().rook(color, side);
            }
        }
        for step in 0..64 {
            let at = super::start::square(if reversed { 63 - step } else { step });
            if let Some(piece) = from.piece_at(at) {
                board.add(at, piece.color, piece.role as usize);
            }
        }
        board
    }

    /// The side to move.
    #[inline]
    pub fn turn(&self) -> Color {
        self.turn
    }

    /// The same position for shakmaty; `None` where it is none to it.
    pub fn to_chess(&self) -> Option<Chess> {
        let mut setup = Setup::empty();
        for (number, &piece) in (0_u8..).zip(&self.squares) {
            let color = if piece & 8 == 0 { Color::Black } else { Color::White };
            if let Some(role) = role_of(piece) {
                setup.board.set_piece_at(square(number), shakmaty::Piece { color, role });
            }
        }
        setup.turn = self.turn;
        setup.ep_square = self.en_passant;
        setup.castling_rights = self.castling;
        setup
            .position::<Chess>(self.mode)
            .or_else(PositionError::ignore_too_much_material)
            .or_else(PositionError::ignore_impossible_check)
            .or_else(PositionError::ignore_invalid_ep_square)
            .or_else(PositionError::ignore_invalid_castling_rights)
            .ok()
    }

    #[inline]
    fn occupied(&self) -> Bitboard {
        self.colors[0] | self.colors[1]
    }

    #[inline]
    fn own(&self) -> Bitboard {
        self.colors[self.turn as usize]
    }

    #[inline]
    fn enemy(&self) -> Bitboard {
        self.colors[!self.turn as usize]
    }

    #[inline]
    fn king(&self, color: Color) -> Square {
        square(self.lists[color as usize][Role::King as usize][0])
    }

    /// Whether `by` attacks a square, with these squares occupied and those of `gone` captured.
    #[inline]
    fn attacked(&self, at: Square, by: Color, occupied: Bitboard, gone: Bitboard) -> bool {
        let them = self.colors[by as usize] & !gone;
        let of = |role: Role| self.roles[role as usize] & them;
        let queens = of(Role::Queen);
        (rook_attacks(at, occupied) & (of(Role::Rook) | queens)
            | bishop_attacks(at, occupied) & (of(Role::Bishop) | queens)
            | knight_attacks(at) & of(Role::Knight)
            | pawn_attacks(!by, at) & of(Role::Pawn)
            | king_attacks(at) & of(Role::King))
        .any()
    }

    /// The queens, rooks and bishops of both sides.
    #[inline]
    fn sliders(&self) -> Bitboard {
        self.roles[Role::Queen as usize] | self.roles[Role::Rook as usize] | self.roles[Role::Bishop as usize]
    }

    /// Whether a queen, rook or bishop of `by` attacks a square.
    #[inline]
    fn seen(&self, at: Square, by: Color, occupied: Bitboard, gone: Bitboard) -> bool {
        let them = self.colors[by as usize] & !gone;
        let queens = self.roles[Role::Queen as usize];
        (rook_attacks(at, occupied) & them & (self.roles[Role::Rook as usize] | queens)
            | bishop_attacks(at, occupied) & them & (self.roles[Role::Bishop as usize] | queens))
            .any()
    }

    /// Whether the king of the side to move is safe after a piece of its own other than the king went from one square
    /// to another, and captured on a third.
    #[inline]
    fn is_safe(&self, from: Square, to: Square, captured: Bitboard) -> bool {
        let king = self.king(self.turn);
        if self.check || captured.without(to).any() {
            let occupied = self.occupied().without(from) & !captured | Bitboard::from(to);
            return !self.attacked(king, !self.turn, occupied, captured);
        }
        if (ray(king, from) & self.enemy() & self.sliders()).is_empty() {
            return true;
        }
        !self.seen(king, !self.turn, self.occupied().without(from) | Bitboard::from(to), captured)
    }

    /// Where a piece of the side to move stands, by its kind and number from 0.
    #[inline]
    pub fn find(&self, role: Role, number: u8) -> Result<Square, Fault> {
        match self.lists[self.turn as usize][role as usize][usize::from(number & 15)] {
            NONE => Err(Fault::NoPiece),
            at => Ok(square(at)),
        }
    }

    /// The legal move of a piece of the side to move that is no pawn, by its kind, number and way; no castling.
    ///
    /// # Errors
    /// When it is not legal.
    #[inline(always)]
    pub fn piece(&self, role: Role, number: u8, right: u8, up: u8) -> Result<Move, Fault> {
        let from = self.find(role, number)?;
        let (file, rank) = (((from as u8 & 7) + right) & 7, ((from as u8 >> 3) + up) & 7);
        let to = square(rank << 3 | file);
        let goes = match role {
            Role::Knight => knight_attacks(from).contains(to),
            Role::King => king_attacks(from).contains(to),
            // The way is one of this kind's, or leads over the edge to a square that is on no line with the first.
            _ => aligned(from, to) && (between(from, to) & self.occupied()).is_empty(),
        };
        if !goes || self.own().contains(to) {
            return Err(Fault::Way);
        }
        self.settled(role, from, to)
    }

    /// The move of a piece that goes this way, if it leaves no check.
    #[inline(always)]
    fn settled(&self, role: Role, from: Square, to: Square) -> Result<Move, Fault> {
        let captured = self.enemy() & Bitboard::from(to);
        let safe = if role == Role::King {
            !self.attacked(to, !self.turn, self.occupied().without(from), captured)
        } else {
            self.is_safe(from, to, captured)
        };
        if !safe {
            return Err(Fault::King);
        }
        Ok(Move::Normal { role, from, capture: role_of(self.squares[to as usize]), to, promotion: None })
    }

    /// The legal move between two squares that is no castling. A pawn that reaches the last rank becomes a queen where
    /// nothing else is asked for.
    ///
    /// # Errors
    /// When it is not legal.
    #[inline]
    pub fn between(&self, from: Square, to: Square, promotion: Option<Role>) -> Result<Move, Fault> {
        if !self.own().contains(from) {
            return Err(Fault::NoPiece);
        }
        if self.own().contains(to) {
            return Err(Fault::Way);
        }
        let Some(role) = role_of(self.squares[from as usize]) else { return Err(Fault::NoPiece) };
        let occupied = self.occupied();
        let reached = match role {
            Role::Pawn => return self.pawn(from, to, promotion),
            Role::Knight => knight_attacks(from),
            Role::Bishop => bishop_attacks(from, occupied),
            Role::Rook => rook_attacks(from, occupied),
            Role::Queen => queen_attacks(from, occupied),
            Role::King => king_attacks(from),
        };
        if !reached.contains(to) {
            return Err(Fault::Way);
        }
        self.settled(role, from, to)
    }

    #[inline]
    fn role_at(&self, at: Square) -> Option<Role> {
        role_of(self.squares[at as usize])
    }

    #[inline]
    fn pawn(&self, from: Square, to: Square, promotion: Option<Role>) -> Result<Move, Fault> {
        let occupied = self.occupied();
        let (forward, second, last) = match self.turn {
            Color::White => (8, Rank::Second, Rank::Eighth),
            Color::Black => (-8, Rank::Seventh, Rank::First),
        };
        let mut captured = Bitboard::EMPTY;
        let mut capture = None;
        if pawn_attacks(self.turn, from).contains(to) {
            if self.enemy().contains(to) {
                captured = Bitboard::from(to);
                capture = self.role_at(to);
            } else if self.en_passant == Some(to) {
                captured = to.offset(-forward).map_or(Bitboard::EMPTY, Bitboard::from);
            } else {
                return Err(Fault::Way);
            }
        } else {
            let one = from.offset(forward).filter(|&one| !occupied.contains(one));
            let two = one.filter(|_| from.rank() == second).and_then(|one| one.offset(forward));
            if one != Some(to) && two.filter(|&two| !occupied.contains(two)) != Some(to) {
                return Err(Fault::Way);
            }
        }
        if !self.is_safe(from, to, captured) {
            return Err(Fault::King);
        }
        if captured.any() && capture.is_none() {
            return Ok(Move::EnPassant { from, to });
        }
        let promotion = (to.rank() == last).then(|| promotion.unwrap_or(Role::Queen));
        Ok(Move::Normal { role: Role::Pawn, from, capture, to, promotion })
    }

    /// The legal castling to the g file or to the c file.
    ///
    /// # Errors
    /// When it is not legal.
    pub fn castling(&self, short: bool) -> Result<Move, Fault> {
        let no_right = Fault::NoRight { color: self.turn, short };
        let Some(rook) = self.castles[self.turn as usize][usize::from(!short)] else { return Err(no_right) };
        let king = self.king(self.turn);
        let (king_to, rook_to) = castled(king, short);
        let occupied = self.occupied().without(king).without(rook);
        let way = between(king, king_to).with(king_to) | between(rook, rook_to).with(rook_to);
        let passed = between(king, king_to).with(king);
        let enemy = !self.turn;
        let stopped = (way & occupied).any()
            || passed.into_iter().any(|at| self.attacked(at, enemy, occupied.with(rook), Bitboard::EMPTY))
            || self.attacked(king_to, enemy, occupied.with(king_to).with(rook_to), Bitboard::EMPTY);
        if stopped { Err(Fault::Castling) } else { Ok(Move::Castle { king, rook }) }
    }

    /// Lets the side to move pass.
    ///
    /// # Errors
    /// When it is in check.
    pub fn pass(&mut self) -> Result<(), Fault> {
        if self.check {
            return Err(Fault::Pass);
        }
        self.turn = !self.turn;
        self.en_passant = None;
        Ok(())
    }

    /// Plays a move that is legal here.
    #[inline(always)]
    pub fn play(&mut self, mv: Move) {
        self.en_passant = None;
        let enemy_king = self.king(!self.turn);
        // Whether the move itself may give a check, or uncover one.
        let mut near = true;
        match mv {
            Move::Normal { from, to, capture, promotion, role } => {
                if capture.is_some() {
                    self.take(to);
                }
                if (self.castling & (Bitboard::from(from) | Bitboard::from(to))).any() || role == Role::King {
                    self.lose_rights(from, to, role);
                }
                self.shift(role, from, to);
                if let Some(promotion) = promotion {
                    self.take(to);
                    self.add(to, self.turn, promotion as usize);
                } else {
                    if role == Role::Pawn && from.distance(to) == 2 {
                        self.en_passant = from.offset(if self.turn.is_white() { 8 } else { -8 });
                    }
                    near = (ray(enemy_king, from) & self.own() & self.sliders()).any()
                        || match role {
                            Role::Pawn => pawn_attacks(!self.turn, enemy_king).contains(to),
                            Role::Knight => knight_attacks(enemy_king).contains(to),
                            Role::King => false,
                            Role::Bishop | Role::Rook | Role::Queen => {
                                aligned(enemy_king, to)
                                    && (between(enemy_king, to) & self.occupied()).is_empty()
                            }
                        };
                }
            }
            Move::EnPassant { from, to } => {
                if let Some(pawn) = to.offset(if self.turn.is_white() { -8 } else { 8 }) {
                    self.take(pawn);
                }
                self.shift(Role::Pawn, from, to);
            }
            Move::Castle { king, rook } => {
                let (king_to, rook_to) = castled(king, king < rook);
                self.lose_rights(king, king, Role::King);
                let (king_piece, rook_piece) = (self.lift(king), self.lift(rook));
                self.put(king_to, king_piece);
                self.put(rook_to, rook_piece);
            }
            Move::Put { .. } => {}
        }
        self.turn = !self.turn;
        self.check = near && self.attacked(enemy_king, !self.turn, self.occupied(), Bitboard::EMPTY);
    }

    fn lose_rights(&mut self, from: Square, to: Square, role: Role) {
        if role == Role::King {
            self.castles[self.turn as usize] = [None; 2];
        }
        for place in self.castles.as_flattened_mut() {
            *place = place.filter(|&rook| rook != from && rook != to);
        }
        self.castling = self.castles.as_flattened().iter().flatten().copied().collect();
    }

    /// Moves a piece of the side to move to an empty square.
    #[inline]
    fn shift(&mut self, role: Role, from: Square, to: Square) {
        let both = Bitboard::from(from) | Bitboard::from(to);
        let (role, color) = (role as usize, self.turn as usize);
        self.roles[role] ^= both;
        self.colors[color] ^= both;
        let piece = std::mem::take(&mut self.squares[from as usize]);
        self.squares[to as usize] = piece;
        let number = piece >> 4;
        if number != UNLISTED {
            self.lists[color][role][usize::from(number)] = to as u8;
        }
    }

    #[inline]
    fn lift(&mut self, from: Square) -> u8 {
        let piece = std::mem::take(&mut self.squares[from as usize]);
        self.roles[usize::from(piece & 7)].discard(from);
        self.colors[usize::from(piece >> 3 & 1)].discard(from);
        piece
    }

    #[inline]
    fn put(&mut self, to: Square, piece: u8) {
        let (role, color, number) = (usize::from(piece & 7), usize::from(piece >> 3 & 1), piece >> 4);
        self.squares[to as usize] = piece;
        self.roles[role].add(to);
        self.colors[color].add(to);
        if number != UNLISTED {
            self.lists[color][role][usize::from(number)] = to as u8;
        }
    }

    /// Takes a piece off the board. Later ones of its kind move down by one, but pawns keep their numbers.
    fn take(&mut self, at: Square) {
        let piece = self.lift(at);
        let (role, color, number) = (usize::from(piece & 7), usize::from(piece >> 3 & 1), piece >> 4);
        if number == UNLISTED {
            return;
        }
        let list = &mut self.lists[color][role];
        if role == Role::Pawn as usize {
            list[usize::from(number)] = NONE;
            return;
        }
        let count = self.counts[color][role];
        for later in usize::from(number) + 1..usize::from(count).min(16) {
            list[later - 1] = list[later];
            if let Some(piece) = self.squares.get_mut(usize::from(list[later])) {
                *piece = piece.wrapping_sub(0x10);
            }
        }
        self.counts[color][role] = count.saturating_sub(1);
        list[usize::from(self.counts[color][role] & 15)] = NONE;
    }

    /// Puts a new piece on an empty square: it gets the next number.
    fn add(&mut self, at: Square, color: Color, role: usize) {
        let count = &mut self.counts[color as usize][role & 7];
        let number = if *count < LISTED { *count } else { UNLISTED };
        if number != UNLISTED {
            *count += 1;
        }
        self.put(at, role as u8 | (color as u8) << 3 | number << 4);
    }

    /// Whether the side to move is in check.
    #[inline]
    pub fn is_check(&self) -> bool {
        self.check
    }

    /// Whether the side to move, which is in check, is mated.
    pub fn is_mate(&self) -> bool {
        let king = self.king(self.turn);
        let occupied = self.occupied().without(king);
        // Mostly the king can go away, and that is quickly seen.
        let flees = (king_attacks(king) & !self.own())
            .into_iter()
            .any(|to| !self.attacked(to, !self.turn, occupied, Bitboard::from(to)));
        !flees && self.to_chess().is_some_and(|chess| chess.is_checkmate())
    }

    /// Other pieces of the same kind that could make a move of a piece of the side to move.
    #[inline]
    pub fn others(&self, role: Role, from: Square, to: Square) -> Bitboard {
        let mut others = (self.roles[role as usize] & self.own()).without(from);
        if role != Role::Knight {
            others &= LINES[to as usize];
        }
        if others.is_empty() {
            return others;
        }
        let near = match role {
            Role::Pawn | Role::King => Bitboard::EMPTY,
            Role::Knight => knight_attacks(to),
            Role::Bishop => bishop_attacks(to, self.occupied()),
            Role::Rook => rook_attacks(to, self.occupied()),
            Role::Queen => queen_attacks(to, self.occupied()),
        };
        let captured = self.enemy() & Bitboard::from(to);
        let mut others = others & near;
        for other in others {
            if !self.is_safe(other, to, captured) {
                others.discard(other);
            }
        }
        others
    }
}

/// The kind of a piece as it stands on a square.
#[inline]
fn role_of(piece: u8) -> Option<Role> {
    const ROLES: [Option<Role>; 8] = [
        None,
        Some(Role::Pawn),
        Some(Role::Knight),
        Some(Role::Bishop),
        Some(Role::Rook),
        Some(Role::Queen),
        Some(Role::King),
        None,
    ];
    ROLES[usize::from(piece & 7)]
}

/// Where king and rook stand after castling.
#[inline]
fn castled(king: Square, short: bool) -> (Square, Square) {
    use shakmaty::File;
    let rank = king.rank();
    let (king, rook) = if short { (File::G, File::F) } else { (File::C, File::D) };
    (Square::from_coords(king, rank), Square::from_coords(rook, rank))
}

#[cfg(test)]
mod tests;
