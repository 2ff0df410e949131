//! A position and the key under which books store it.

use std::borrow::Cow;
use std::fmt;

use shakmaty::fen::{Epd, Fen};
use shakmaty::variant::VariantPosition;
use shakmaty::zobrist::{Zobrist64, ZobristValue as _};
use shakmaty::{
    Bitboard, Board, CastlingMode, CastlingSide, Chess, Color, EnPassantMode, File, Move, Piece,
    Position as _, PositionError, Rank, Setup, Square,
};

use super::variant::{BookKey, is_known_by_key, variant_facts};
use super::zobrist::key_after;
use super::{AnyChess, MoveCode, Variant};

/// The number of the field of castling rights in a FEN and in EPD.
const CASTLING_FIELD: usize = 2;

/// How many starts Chess960 has, numbered from 0 as Scharnagl does.
#[doc(hidden)]
pub const CHESS960_STARTS: u32 = 960;

/// Why a FEN gives no position: its text, or what it describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FenError(String);

impl fmt::Display for FenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FenError {}

/// A legal position of any variant, and its Polyglot key.
///
/// The key includes an en-passant file when a pawn of the side to move is beside the pushed pawn, whether or not it may
/// legally capture: that is Polyglot's rule.
///
/// ```
/// use tabiya_chess::Position;
/// assert_eq!(Position::start().key(), 0x463b_9618_1691_fc9c);
/// ```
#[derive(Clone, Debug)]
pub struct Position {
    chess: AnyChess,
    key: u64,
}

impl Position {
    /// The starting position of ordinary chess.
    pub fn start() -> Self {
        Self::from_chess(Chess::default())
    }

    /// The starting position of a variant.
    pub fn start_of(variant: Variant) -> Self {
        Self::from_chess(AnyChess::start(variant))
    }

    /// The start of double Chess960 in which each side has the pieces of a start of Chess960, by its number as Scharnagl counts;
    /// with the same number twice, that start. `None` for numbers that are not below [`CHESS960_STARTS`].
    ///
    /// ```
    /// use tabiya_chess::Position;
    /// assert_eq!(Position::start_of_chess960(518, 518).unwrap().fen(), Position::start().fen());
    /// let double = Position::start_of_chess960(518, 0).unwrap();
    /// assert_eq!(double.epd(), "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAhf -");
    /// ```
    #[doc(hidden)]
    pub fn start_of_chess960(white: u32, black: u32) -> Option<Self> {
        if white.max(black) >= CHESS960_STARTS {
            return None;
        }
        let (mut setup, other) = (Setup::initial(), Board::chess960(black));
        setup.board = Board::chess960(white);
        for square in Bitboard::from_rank(Rank::Eighth) {
            other.piece_at(square).into_iter().for_each(|piece| setup.board.set_piece_at(square, piece));
        }
        setup.castling_rights = setup.board.rooks();
        let mode = CastlingMode::detect(&setup);
        setup.position::<Chess>(mode).ok().map(Self::from_chess)
    }

    /// Any position of shakmaty.
    #[doc(hidden)]
    pub fn from_chess(chess: impl Into<AnyChess>) -> Self {
        let chess = chess.into();
        let BookKey(key) = chess.zobrist_hash(EnPassantMode::PseudoLegal);
        Self { chess, key }
    }

    /// Reads a FEN leniently: missing counters, too much material, an impossible check, a bad en-passant square and bad
    /// castling rights are accepted; an illegal position is not.
    ///
    /// # Errors
    /// When the text is not a FEN, or a king is missing, the side not to move is in check, and the like; and when it has
    /// pieces in hand or counts checks, as other variants of chess do.
    ///
    /// ```
    /// use shakmaty::CastlingMode;
    /// use tabiya_chess::Position;
    /// let fen = b"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";
    /// assert_eq!(Position::from_fen(fen, CastlingMode::Standard)?.key(), 0x823c_9b50_fd11_4196);
    /// # Ok::<_, tabiya_chess::FenError>(())
    /// ```
    #[doc(hidden)]
    pub fn from_fen(fen: &[u8], mode: CastlingMode) -> Result<Self, FenError> {
        Self::from_fen_of(Variant::Chess, fen, mode)
    }

    /// As [`Position::from_fen`], under the rules of a variant. The pieces in hand of crazyhouse may be `[]`, `[-]` or a ninth
    /// rank, and the checks of three-check may be those that are left, `3+3`, or those that were given, `+0+0`
    /// (docs/formats/polyglot.md, Variants).
    ///
    /// # Errors
    /// As [`Position::from_fen`].
    ///
    /// ```
    /// use shakmaty::CastlingMode;
    /// use tabiya_chess::{Position, Variant};
    /// let fen = b"rnb1kbnr/ppp1pppp/8/q7/8/2N5/PPPP1PPP/R1BQKBNR[Pp] w KQkq - 2 4";
    /// let at = Position::from_fen_of(Variant::Crazyhouse, fen, CastlingMode::Standard)?;
    /// assert_eq!(at.key(), 0xa145_bdee_0e3a_0300);
    /// # Ok::<_, tabiya_chess::FenError>(())
    /// ```
    #[doc(hidden)]
    pub fn from_fen_of(variant: Variant, fen: &[u8], mode: CastlingMode) -> Result<Self, FenError> {
        let text = without_dash(fen);
        let fen = Fen::from_ascii(&text).map_err(|error| FenError(error.to_string()))?;
        if variant != Variant::Chess {
            let setup = fen.into_setup();
            return VariantPosition::from_setup(variant, setup, mode)
                .or_else(setup_leniently)
                .map(Self::from_chess)
                .map_err(|error| FenError(error.to_string()));
        }
        let setup = fen.as_setup();
        let in_hand =
            setup.pockets.is_some_and(|sides| sides.iter().any(|side| side.iter().any(|count| *count > 0)));
        if in_hand || setup.remaining_checks.is_some() {
            return Err(FenError(
                "pieces in hand and counted checks belong to other variants of chess".to_owned(),
            ));
        }
        fen.into_position::<Chess>(mode)
            .or_else(setup_leniently)
            .map(Self::from_chess)
            .map_err(|error| FenError(error.to_string()))
    }

    /// As [`Position::from_fen`]; the castling rights show whether it is a position of Chess960: they then name files, or they
    /// are those of X-FEN, which fit the kings and rooks only there.
    ///
    /// # Errors
    /// As [`Position::from_fen`].
    ///
    /// ```
    /// use tabiya_chess::Position;
    /// let fen = "bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1";
    /// assert!(Position::from_any_fen(fen.as_bytes())?.epd().ends_with("w GDgd -"));
    /// # Ok::<_, tabiya_chess::FenError>(())
    /// ```
    pub fn from_any_fen(fen: &[u8]) -> Result<Self, FenError> {
        Self::from_any_fen_of(Variant::Chess, fen)
    }

    /// As [`Position::from_any_fen`], under the rules of a variant.
    ///
    /// # Errors
    /// As [`Position::from_fen`].
    pub fn from_any_fen_of(variant: Variant, fen: &[u8]) -> Result<Self, FenError> {
        if names_files(fen) {
            return Self::from_fen_of(variant, fen, CastlingMode::Chess960);
        }
        let ordinary = Self::from_fen_of(variant, fen, CastlingMode::Standard)?;
        let rights =
            Fen::from_ascii(&without_dash(fen)).map(|fen| fen.as_setup().castling_rights).unwrap_or_default();
        if ordinary.rights() == rights {
            return Ok(ordinary);
        }
        let other = Self::from_fen_of(variant, fen, CastlingMode::Chess960)?;
        Ok(if other.rights() == rights { other } else { ordinary })
    }

    /// The rooks with which castling is allowed.
    fn rights(&self) -> Bitboard {
        self.chess.castles().castling_rights()
    }

    /// shakmaty's view of the position.
    #[doc(hidden)]
    pub fn chess(&self) -> &AnyChess {
        &self.chess
    }

    /// shakmaty's view of it, if it is a position of standard chess or Chess960.
    pub fn standard(&self) -> Option<&Chess> {
        self.chess.standard()
    }

    /// Whose rules hold.
    pub fn variant(&self) -> Variant {
        self.chess.variant()
    }

    /// Its Polyglot key.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The key of the position as rules count repetitions: as [`Position::whole_key`], but en passant counts only where it is
    /// legal, so that positions with the same moves have the same.
    #[doc(hidden)]
    pub fn strict_key(&self) -> u64 {
        let passed = self.chess.ep_square(EnPassantMode::PseudoLegal);
        if passed.is_none() || passed == self.chess.ep_square(EnPassantMode::Legal) {
            return self.whole_key();
        }
        let BookKey(key) = self.chess.zobrist_hash(EnPassantMode::Legal);
        key ^ self.beside_key()
    }

    /// A key of all that decides about what may be played: also the pieces in hand, the promoted pieces and the checks that are
    /// left, which [`Position::key`] leaves out. In standard chess both are the same.
    ///
    /// ```
    /// use tabiya_chess::{Position, Variant};
    /// let at = |hand| {
    ///     let fen = format!("rnbqkbnr/ppp1pppp/8/8/8/8/PPPP1PPP/RNBQKBNR{hand} w KQkq - 0 3");
    ///     Position::from_any_fen_of(Variant::Crazyhouse, fen.as_bytes())
    /// };
    /// let (one, other) = (at("[Pp]")?, at("[PP]")?);
    /// assert_eq!(one.key(), other.key());
    /// assert_ne!(one.whole_key(), other.whole_key());
    /// # Ok::<_, tabiya_chess::FenError>(())
    /// ```
    #[doc(hidden)]
    pub fn whole_key(&self) -> u64 {
        if self.is_known_by_key() { self.key } else { self.key ^ self.beside_key() }
    }

    /// [`Position::whole_key`] after a move that is legal here.
    #[doc(hidden)]
    pub fn whole_key_after(&self, mv: Move) -> u64 {
        if self.is_known_by_key() { self.key_after(mv) } else { self.after(mv).whole_key() }
    }

    /// Whether [`Position::key`] tells positions of this variant apart: not in crazyhouse and three-check.
    #[doc(hidden)]
    pub fn is_known_by_key(&self) -> bool {
        is_known_by_key(self.variant())
    }

    /// What decides about the moves besides the key, as a number.
    fn beside_key(&self) -> u64 {
        if self.is_known_by_key() {
            return 0;
        }
        let in_hand = self.chess.pockets().into_iter().flat_map(|pockets| {
            let of = move |color: Color| {
                pockets.get(color).zip_role().map(move |(role, count)| (color, role, count))
            };
            Color::ALL.into_iter().flat_map(of)
        });
        let in_hand = in_hand.map(|(color, role, count)| Zobrist64::zobrist_for_pocket(color, role, count).0);
        let promoted =
            self.chess.promoted().into_iter().map(|square| Zobrist64::zobrist_for_promoted(square).0);
        let checks = self.chess.remaining_checks().into_iter().flat_map(|left| {
            Color::ALL.map(|color| Zobrist64::zobrist_for_remaining_checks(color, *left.get(color)).0)
        });
        in_hand.chain(promoted).chain(checks).fold(0, std::ops::BitXor::bitxor)
    }

    /// The keys that this position of antichess has in books of python-chess's Giveaway and Suicide, whose kings and rooks may
    /// castle until they move: with every set of rights that their squares allow, the most first. None in other variants.
    #[doc(hidden)]
    pub fn keys_with_castling(&self) -> impl Iterator<Item = u64> + use<> {
        let board = self.chess.board();
        let stands = |square: Square, piece: Piece| board.piece_at(square) == Some(piece);
        let right = |color: Color, side: CastlingSide| {
            let on = |file: File| Square::from_coords(file, color.backrank());
            let corner = if side == CastlingSide::KingSide { File::H } else { File::A };
            let may = stands(on(File::E), color.king()) && stands(on(corner), color.rook());
            may.then(|| Zobrist64::zobrist_for_castling_right(color, side).0)
        };
        let rights = Color::ALL.into_iter().flat_map(|color| CastlingSide::ALL.map(|side| (color, side)));
        let rights: Vec<u64> = if variant_facts(self.variant()).has_common_kings {
            rights.filter_map(|(color, side)| right(color, side)).collect()
        } else {
            Vec::new()
        };
        let key = self.key;
        (1..1_u32 << rights.len()).rev().map(move |set| {
            let of = |(bit, right): (usize, &u64)| if set >> bit & 1 == 1 { *right } else { 0 };
            rights.iter().enumerate().map(of).fold(key, std::ops::BitXor::bitxor)
        })
    }

    /// The key after a move that is legal here: that of [`Position::after`], for a quarter of its cost.
    ///
    /// ```
    /// use shakmaty::{Position as _, uci::UciMove};
    /// use tabiya_chess::Position;
    /// let start = Position::start();
    /// let e4 = UciMove::from_ascii(b"e2e4")?.to_move(start.chess())?;
    /// assert_eq!(start.key_after(e4), 0x823c_9b50_fd11_4196);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[doc(hidden)]
    pub fn key_after(&self, mv: Move) -> u64 {
        self.next_key(mv).unwrap_or_else(|| self.after(mv).key)
    }

    /// The key after a move, where it does not have to be played for that.
    fn next_key(&self, mv: Move) -> Option<u64> {
        match &self.chess {
            AnyChess::Standard(chess) => Some(key_after(chess, self.key, mv)),
            AnyChess::Other(other) => {
                let explodes = mv.is_capture() && variant_facts(other.variant()).has_explosions;
                (!explodes).then(|| key_after(&**other, self.key, mv))
            }
        }
    }

    /// Plays a move that is legal here.
    pub fn play(&mut self, mv: Move) {
        if let AnyChess::Standard(chess) = &mut self.chess {
            self.key = key_after(chess, self.key, mv);
            chess.play_unchecked(mv);
        } else {
            self.play_other(mv);
        }
    }

    /// Plays a move of a variant.
    #[inline(never)]
    fn play_other(&mut self, mv: Move) {
        let key = self.next_key(mv);
        self.chess.play_unchecked(mv);
        self.key = key.unwrap_or_else(|| {
            let BookKey(key) = self.chess.zobrist_hash(EnPassantMode::PseudoLegal);
            key
        });
    }

    /// The position after a move that is legal here.
    #[must_use]
    pub fn after(&self, mv: Move) -> Self {
        let mut next = self.clone();
        next.play(mv);
        next
    }

    /// The moves that codes stand for from here on, each with the position before it, up to one that is not legal.
    #[doc(hidden)]
    pub fn replay(mut self, moves: impl IntoIterator<Item = MoveCode>) -> impl Iterator<Item = (Self, Move)> {
        moves.into_iter().map_while(move |code| {
            let mv = code.resolve(&self.chess).filter(|mv| self.chess.is_legal(*mv))?;
            let at = self.clone();
            self.play(mv);
            Some((at, mv))
        })
    }

    /// The full FEN, with castling rights in the form of Chess960 where the position needs that.
    pub fn fen(&self) -> String {
        Fen::from_position(&self.chess, EnPassantMode::PseudoLegal).to_string()
    }

    /// The four fields of EPD, with en passant where it is legal. Castling rights that ordinary chess does not have name
    /// files, so that [`Position::from_any_fen`] reads the same position.
    ///
    /// ```
    /// use tabiya_chess::Position;
    /// let epd = "1r2k1r1/8/8/8/8/8/8/R3K2R w HAgb -";
    /// assert_eq!(Position::from_any_fen(epd.as_bytes())?.epd(), epd);
    /// # Ok::<_, tabiya_chess::FenError>(())
    /// ```
    pub fn epd(&self) -> String {
        let epd = Epd::from_position(&self.chess, EnPassantMode::Legal).to_string();
        let rooks = self.chess.castles().castling_rights();
        let of = |color: Color| rooks & color.backrank();
        let is_ordinary = Color::ALL.into_iter().all(|color| {
            let [king, corners @ ..] =
                [File::E, File::A, File::H].map(|file| Square::from_coords(file, color.backrank()));
            let outside = of(color) & !corners.into_iter().collect::<Bitboard>();
            of(color).is_empty() || self.chess.board().king_of(color) == Some(king) && outside.is_empty()
        });
        if is_ordinary {
            return epd;
        }
        let letters = |color: Color| {
            of(color).into_iter().rev().map(move |rook| {
                let file = rook.file().char();
                color.fold_wb(file.to_ascii_uppercase(), file)
            })
        };
        let rights: String = Color::ALL.into_iter().flat_map(letters).collect();
        let mut fields: Vec<&str> = epd.split(' ').collect();
        if let Some(field) = fields.get_mut(CASTLING_FIELD) {
            *field = &rights;
        }
        fields.join(" ")
    }
}

impl From<Chess> for Position {
    fn from(chess: Chess) -> Self {
        Self::from_chess(chess)
    }
}

impl From<&Chess> for Position {
    fn from(chess: &Chess) -> Self {
        Self::from_chess(chess.clone())
    }
}

impl From<VariantPosition> for Position {
    fn from(other: VariantPosition) -> Self {
        Self::from_chess(other)
    }
}

impl From<&VariantPosition> for Position {
    fn from(other: &VariantPosition) -> Self {
        Self::from_chess(other.clone())
    }
}

impl From<&Self> for Position {
    fn from(at: &Self) -> Self {
        at.clone()
    }
}

/// A FEN in which no piece in hand is `[]`, where Cute Chess writes `[-]`.
fn without_dash(fen: &[u8]) -> Cow<'_, [u8]> {
    match fen.windows(3).position(|three| three == b"[-]") {
        Some(at) => {
            let mut text = fen.to_vec();
            text.remove(at + 1);
            Cow::Owned(text)
        }
        None => Cow::Borrowed(fen),
    }
}

/// Whether the castling rights of a FEN name the files of rooks, as those of Chess960 do.
pub(crate) fn names_files(fen: &[u8]) -> bool {
    let rights = fen.split(|&byte| byte == b' ').nth(CASTLING_FIELD).unwrap_or_default();
    rights.iter().any(|right| matches!(right.to_ascii_lowercase(), b'a'..=b'h'))
}

/// Accepts positions that no game reaches but that can be played on, as `or_else` of a setup: with too much material,
/// or an impossible check. En passant and castling must fit the board.
///
/// # Errors
/// What else is wrong with the position.
#[allow(clippy::result_large_err, reason = "shakmaty's own methods return it")]
pub fn allow_unusual<P>(error: PositionError<P>) -> Result<P, PositionError<P>> {
    error.ignore_too_much_material().or_else(PositionError::ignore_impossible_check)
}

/// As [`allow_unusual()`], and leaves out castling and en passant where they do not fit the board.
///
/// # Errors
/// What else is wrong with the position.
#[allow(clippy::result_large_err, reason = "shakmaty's own methods return it")]
pub fn setup_leniently<P>(error: PositionError<P>) -> Result<P, PositionError<P>> {
    allow_unusual(error)
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_invalid_castling_rights)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FEN and key: the nine published ones, and one that distinguishes pseudo-legal from legal en passant
    /// (docs/formats/polyglot.md, Key).
    const KEYS: [(&str, u64); 10] = [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0x463b_9618_1691_fc9c),
        ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", 0x823c_9b50_fd11_4196),
        ("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 2", 0x0756_b944_61c5_0fb0),
        ("rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR b KQkq - 0 2", 0x662f_afb9_65db_29d4),
        ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3", 0x22a4_8b5a_8e47_ff78),
        ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR b kq - 0 3", 0x652a_607c_a3f2_42c1),
        ("rnbq1bnr/ppp1pkpp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR w - - 0 4", 0x00fd_d303_c946_bdd9),
        ("rnbqkbnr/p1pppppp/8/8/PpP4P/8/1P1PPPP1/RNBQKBNR b KQkq c3 0 3", 0x3c81_23ea_7b06_7637),
        ("rnbqkbnr/p1pppppp/8/8/P6P/R1p5/1P1PPPP1/1NBQKBNR b Kkq - 0 4", 0x5c3f_9b82_9b27_9560),
        ("4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1", 0x7ddd_0eef_bfc8_435a),
    ];

    #[test]
    fn keys_are_polyglots() {
        for (fen, key) in KEYS {
            let position = Position::from_fen(fen.as_bytes(), CastlingMode::Standard).unwrap();
            assert_eq!(position.key(), key, "{fen}");
        }
    }

    #[test]
    fn a_lenient_fen_is_read() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e6 0 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
            "4k3/8/8/8/8/8/8/QQQQKQQQ w KQkq - 0 1",
            "4k3/8/8/8/8/QQQQQQQQ/QQQQ1QQQ/4K3 b - - 0 1",
        ] {
            assert!(Position::from_fen(fen.as_bytes(), CastlingMode::Standard).is_ok(), "{fen}");
        }
    }

    #[test]
    fn epd_keeps_the_castling_rights_of_chess960() {
        for (read, written) in [
            (
                "rnbqbnkr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAa -",
                "rnbqbnkr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAa -",
            ),
            (
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha -",
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
            ),
            ("r3k2r/8/8/8/8/8/8/1R2K1R1 b Gkq - 3 9", "r3k2r/8/8/8/8/8/8/1R2K1R1 b Gha -"),
            (
                "rnbqbnkr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQcq -",
                "rnbqbnkr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAa -",
            ),
        ] {
            let epd = |fen: &str| Position::from_any_fen(fen.as_bytes()).unwrap().epd();
            assert_eq!(epd(read), written);
            assert_eq!(epd(written), written);
        }
    }

    #[test]
    fn what_cannot_be_played_on_is_refused() {
        for fen in [
            "",
            "8/8/8/8/8/8/8/8 w - - 0 1",
            "k7/8/8/8/8/8/8/8 w - - 0 1",
            "kK6/8/8/8/8/8/8/8 w - - 0 1",
            "\0\u{ff}",
        ] {
            assert!(Position::from_fen(fen.as_bytes(), CastlingMode::Standard).is_err(), "{fen}");
        }
    }

    #[test]
    fn playing_a_move_gives_the_key_of_the_position_it_leads_to() {
        let mut position = Position::start();
        let e4 = shakmaty::uci::UciMove::from_ascii(b"e2e4").unwrap().to_move(position.chess()).unwrap();
        assert_eq!(position.after(e4).key(), KEYS[1].1);
        position.play(e4);
        assert_eq!(position.key(), KEYS[1].1);
    }

    #[test]
    fn moves_are_replayed_up_to_one_that_is_not_legal() {
        let codes = [(Square::E2, Square::E4), (Square::E7, Square::E5), (Square::E4, Square::E5)];
        let codes = codes.map(|(from, to)| MoveCode::new(from, to, None));
        let played: Vec<_> = Position::start().replay(codes).collect();
        assert_eq!(played.iter().map(|(_, mv)| MoveCode::from_move(*mv)).collect::<Vec<_>>(), codes[..2]);
        assert_eq!(played[0].0.key(), KEYS[0].1);
        assert_eq!(played[1].0.key(), KEYS[1].1);
        assert_eq!(played[0].0.after(played[0].1).key(), KEYS[1].1);
    }
}
