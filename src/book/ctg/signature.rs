//! A position becomes the bits under which a CTG book knows it, and back.

use shakmaty::{
    Bitboard, CastlingMode, CastlingSide, Chess, Color, EnPassantMode, File, Piece, Position as _,
    PositionError, Rank, Role, Setup, Square,
};

use super::layout::{CASTLING, EN_PASSANT, HASH, LENGTH_BITS, LONGEST_SIGNATURE, PIECES};

/// The corners in the order of the castling bits: k, q, K, Q of the normal form.
const CASTLES: [(Color, CastlingSide, Square); 4] = [
    (Color::Black, CastlingSide::KingSide, Square::H8),
    (Color::Black, CastlingSide::QueenSide, Square::A8),
    (Color::White, CastlingSide::KingSide, Square::H1),
    (Color::White, CastlingSide::QueenSide, Square::A1),
];

/// How a position was turned into the normal form: as if White were to move, and with the king of the side to move on
/// the right half where nobody may castle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Black is to move: colours and ranks are swapped.
    pub swapped: bool,
    /// Files are mirrored.
    pub mirrored: bool,
}

impl Frame {
    /// The square of the board for coordinates in the normal form, each 0 to 7; larger ones count modulo 8.
    pub fn square(self, file: u32, rank: u32) -> Square {
        let file = if self.mirrored { 7 - file % 8 } else { file % 8 };
        let rank = if self.swapped { 7 - rank % 8 } else { rank % 8 };
        Square::from_coords(File::new(file), Rank::new(rank))
    }

    /// File and rank, 0 to 7, of a square of the board in the normal form.
    pub fn coords(self, square: Square) -> (u8, u8) {
        let (file, rank) = (u8::from(square.file()), u8::from(square.rank()));
        (if self.mirrored { 7 - file } else { file }, if self.swapped { 7 - rank } else { rank })
    }
}

/// A position in the normal form. Bit `8 * file + rank` of a set stands for a square, so that the order of the bits is
/// the order in which the format counts squares: a1 to a8, b1 to b8, and so on.
#[derive(Clone, Copy, Debug)]
pub struct Normal {
    roles: [u64; 6],
    us: u64,
    castles: u8,
    en_passant: Option<u32>,
    frame: Frame,
}

impl Normal {
    /// The normal form of a position; `None` where the format has none, because somebody may castle with a king or a
    /// rook that did not start where ordinary chess has it.
    pub fn of(chess: &Chess) -> Option<Self> {
        let board = chess.board();
        let turn = chess.turn();
        let mut castles = 0;
        if !chess.castles().is_empty() {
            for (bit, (color, side, corner)) in CASTLES.into_iter().enumerate() {
                let (color, corner) =
                    if turn == Color::Black { (!color, corner.flip_vertical()) } else { (color, corner) };
                let Some(rook) = chess.castles().rook(color, side) else { continue };
                if rook != corner || board.king_of(color)?.file() != File::E {
                    return None;
                }
                castles |= 8 >> bit;
            }
        }
        let king = board.king_of(turn)?;
        let frame = Frame { swapped: turn == Color::Black, mirrored: castles == 0 && king.file() <= File::D };
        let turned = |set: Bitboard| {
            let set = if frame.swapped { set.flip_vertical() } else { set };
            let set = if frame.mirrored { set.flip_horizontal() } else { set };
            set.flip_diagonal().0
        };
        let roles = Role::ALL.map(|role| turned(board.by_role(role)));
        let en_passant = chess.ep_square(EnPassantMode::PseudoLegal).map(|square| {
            let file = u32::from(square.file());
            if frame.mirrored { 7 - file } else { file }
        });
        Some(Self { roles, us: turned(board.by_color(turn)), castles, en_passant, frame })
    }

    /// How it was turned.
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// Whether a pawn stands beside one that was just pushed by two.
    pub fn has_en_passant(&self) -> bool {
        self.en_passant.is_some()
    }

    /// The same without en passant.
    #[must_use]
    pub fn without_en_passant(self) -> Self {
        Self { en_passant: None, ..self }
    }

    /// File and rank, 0 to 7, of the piece of this number, from 0, among those of its kind that the side to move has.
    pub fn nth(&self, role: Role, number: u8) -> Option<(u32, u32)> {
        let mut set = self.us & self.roles.get(usize::from(role) - 1)?;
        for _ in 0..number {
            set &= set.wrapping_sub(1);
        }
        (set != 0).then(|| (set.trailing_zeros() / 8, set.trailing_zeros() % 8))
    }

    /// The number of the piece of the side to move on a square, from 0, among those of its kind.
    pub fn number(&self, role: Role, file: u8, rank: u8) -> u8 {
        let set = self.us & self.roles.get(usize::from(role) - 1).copied().unwrap_or_default();
        let before = (1_u64 << ((file % 8) * 8 + rank % 8)) - 1;
        (set & before).count_ones() as u8
    }

    /// Its signature; `None` where it has more pieces than one can hold.
    pub fn signature(&self) -> Option<Signature> {
        let [pawns, knights, bishops, rooks, queens, kings] = self.roles;
        let mut bits = Bits::default();
        let mut next = 0;
        let mut rest = pawns | knights | bishops | rooks | queens | kings;
        while rest != 0 {
            let square = rest.trailing_zeros();
            rest &= rest - 1;
            bits.zeros(square - next);
            next = square + 1;
            let has = |set: u64| (set >> square & 1) as usize;
            let kind = has(knights) + 2 * has(bishops) + 3 * has(rooks) + 4 * has(queens) + 5 * has(kings);
            let (code, len) = PIECES.get(kind)?;
            bits.push(code | u32::from(has(self.us) == 0), *len);
        }
        bits.zeros(64 - next);
        let mut head = 0;
        let mut tail = 0;
        if self.en_passant.is_some() {
            head |= EN_PASSANT;
            tail += 3;
        }
        if self.castles != 0 {
            head |= CASTLING;
            tail += 4;
        }
        if tail == 0 {
            bits.push(0, 1);
        }
        bits.zeros((8 - bits.count % 8 + 8 - tail) % 8);
        if let Some(file) = self.en_passant {
            bits.push(file, 3);
        }
        if self.castles != 0 {
            bits.push(self.castles.into(), 4);
        }
        bits.finish(head)
    }
}

/// Bits in the order of the format: the highest of a byte first.
#[derive(Default)]
struct Bits {
    words: [u64; 4],
    /// Bits so far, those that found no room among them.
    count: u32,
}

impl Bits {
    /// Appends the last `len` bits of `value`, 1 to 32, the others being zero.
    fn push(&mut self, value: u32, len: u32) {
        let (at, used) = ((self.count / 64) as usize, self.count % 64);
        // Shifted so that it ends where it should in the 128 bits of two words.
        let wide = u128::from(value) << (128 - used - len);
        if let Some(word) = self.words.get_mut(at) {
            *word |= (wide >> 64) as u64;
        }
        if let Some(word) = self.words.get_mut(at + 1) {
            *word |= wide as u64;
        }
        self.count += len;
    }

    fn zeros(&mut self, count: u32) {
        self.count += count;
    }

    /// The signature with these bits behind its first byte.
    fn finish(self, head: u8) -> Option<Signature> {
        let len = 1 + self.count.div_ceil(8) as usize;
        if len > LONGEST_SIGNATURE {
            return None;
        }
        let mut bytes = [0; 1 + 32];
        let (first, rest) = bytes.split_first_mut()?;
        *first = head | len as u8;
        for (place, word) in rest.as_chunks_mut::<8>().0.iter_mut().zip(self.words) {
            *place = word.to_be_bytes();
        }
        Some(Signature { bytes, len })
    }
}

/// The bits under which a book knows a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    bytes: [u8; 1 + 32],
    len: usize,
}

impl Signature {
    /// The signature of a position in the description's form: with the en-passant file where a pawn stands beside the
    /// pushed one, whether or not it may capture. `None` where the format has none for it.
    ///
    /// ```
    /// use tabiya::book::ctg::Signature;
    /// use tabiya::chess::Position;
    /// let start = Signature::of(Position::start().chess()).unwrap();
    /// assert_eq!((start.bytes().len(), start.bytes()[0]), (22, 0x56));
    /// ```
    pub fn of(chess: &Chess) -> Option<Self> {
        Normal::of(chess)?.signature()
    }

    /// The bytes as they stand in a page.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// The hash by which the index knows it.
    pub fn hash(&self) -> u32 {
        hash(self.bytes())
    }
}

/// The hash of a signature: the sum of table words, each chosen by the sum of the half-bytes so far.
pub fn hash(signature: &[u8]) -> u32 {
    let (mut hash, mut sum) = (0_u32, 0_u32);
    for byte in signature {
        for step in [0x0f - (byte & 0x0f), 0x0f - (byte >> 4)] {
            sum = sum.wrapping_add(u32::from(step) * 4 + 1);
            hash = hash.wrapping_add(HASH.get(sum as usize % HASH.len()).copied().unwrap_or_default());
        }
    }
    hash
}

/// Why a signature stands for no position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureFault {
    /// Its bits end before the board does, or name no piece.
    Bits,
    /// The board is none that can be played on, or the castling or en passant does not fit it.
    Position,
}

/// The position that a signature stands for, with White to move.
///
/// # Errors
/// When it stands for none.
pub fn decode(signature: &[u8]) -> Result<Chess, SignatureFault> {
    let (head, rest) = signature.split_first().ok_or(SignatureFault::Bits)?;
    let mut taken = 0_usize;
    let mut bit = || {
        let byte = rest.get(taken / 8)?;
        let bit = byte >> (7 - taken % 8) & 1;
        taken += 1;
        Some(bit != 0)
    };
    let mut setup = Setup::empty();
    for at in 0..64 {
        let square = Square::from_coords(File::new(at / 8), Rank::new(at % 8));
        if let Some(piece) = piece(&mut bit).ok_or(SignatureFault::Bits)? {
            setup.board.set_piece_at(square, piece);
        }
    }
    // What follows stands at the end of the last byte.
    let last = rest.last().copied().unwrap_or_default();
    let mut tail = 0;
    if head & CASTLING != 0 {
        tail += 4;
        for (bit, (_, _, corner)) in CASTLES.into_iter().enumerate() {
            if last & (8 >> bit) != 0 {
                setup.castling_rights.add(corner);
            }
        }
    }
    if head & EN_PASSANT != 0 {
        setup.ep_square = Some(Square::from_coords(File::new(u32::from(last >> tail) & 7), Rank::Sixth));
        tail += 3;
    }
    // Where neither follows, one bit of padding does.
    if usize::from(head & LENGTH_BITS) != signature.len() || taken + tail.max(1) > rest.len() * 8 {
        return Err(SignatureFault::Bits);
    }
    setup
        .position::<Chess>(CastlingMode::Standard)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .map_err(|_| SignatureFault::Position)
}

/// One square: a piece, or none; `None` at the end of the bits.
fn piece(bit: &mut impl FnMut() -> Option<bool>) -> Option<Option<Piece>> {
    let (mut code, mut len) = (0, 0);
    loop {
        code = code << 1 | u32::from(bit()?);
        len += 1;
        if (code, len) == (0, 1) {
            return Some(None);
        }
        let kind = PIECES.iter().position(|&piece| (code & !1, len) == piece);
        if let Some(role) = kind.and_then(|kind| Role::ALL.get(kind)) {
            return Some(Some(role.of(Color::from_white(code & 1 == 0))));
        }
        // No code is longer than six bits.
        if len >= 6 {
            return None;
        }
    }
}
