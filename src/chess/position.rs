//! A position and the key under which books store it.

use std::fmt;

use shakmaty::fen::Fen;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position as _, PositionError};

/// Why a FEN gives no position: its text, or what it describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FenError(String);

impl fmt::Display for FenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FenError {}

/// A legal position and its Polyglot key.
///
/// The key includes an en-passant file when a pawn of the side to move is beside the pushed pawn, whether or not it may
/// legally capture: that is Polyglot's rule.
///
/// ```
/// use tabiya::chess::Position;
/// assert_eq!(Position::start().key(), 0x463b_9618_1691_fc9c);
/// ```
#[derive(Clone, Debug)]
pub struct Position {
    chess: Chess,
    key: u64,
}

impl Position {
    /// The starting position of ordinary chess.
    pub fn start() -> Self {
        Self::from_chess(Chess::default())
    }

    /// Any position of shakmaty.
    pub fn from_chess(chess: Chess) -> Self {
        let Zobrist64(key) = chess.zobrist_hash(EnPassantMode::PseudoLegal);
        Self { chess, key }
    }

    /// Reads a FEN leniently: missing counters, too much material, an impossible check, a bad en-passant square and bad
    /// castling rights are accepted; a position that cannot be played on is not.
    ///
    /// # Errors
    /// When the text is not a FEN, or a king is missing, the side not to move is in check, and the like.
    ///
    /// ```
    /// use shakmaty::CastlingMode;
    /// use tabiya::chess::Position;
    /// let fen = b"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";
    /// assert_eq!(Position::from_fen(fen, CastlingMode::Standard)?.key(), 0x823c_9b50_fd11_4196);
    /// # Ok::<_, tabiya::chess::FenError>(())
    /// ```
    pub fn from_fen(fen: &[u8], mode: CastlingMode) -> Result<Self, FenError> {
        let fen = Fen::from_ascii(fen).map_err(|error| FenError(error.to_string()))?;
        fen.into_position::<Chess>(mode)
            .or_else(lenient)
            .map(Self::from_chess)
            .map_err(|error| FenError(error.to_string()))
    }

    /// As [`Position::from_fen`]; the castling rights tell whether it is a position of Chess960: they then name files.
    ///
    /// # Errors
    /// As [`Position::from_fen`].
    pub fn from_any_fen(fen: &[u8]) -> Result<Self, FenError> {
        Self::from_fen(fen, CastlingMode::from_chess960(names_files(fen)))
    }

    /// shakmaty's view of the position.
    pub fn chess(&self) -> &Chess {
        &self.chess
    }

    /// The Polyglot key.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The key in which en passant counts only where it is legal: positions with the same moves have the same.
    pub(crate) fn strict_key(&self) -> u64 {
        let passed = |mode| self.chess.ep_square(mode);
        if passed(EnPassantMode::PseudoLegal) == passed(EnPassantMode::Legal) {
            return self.key;
        }
        let Zobrist64(key) = self.chess.zobrist_hash(EnPassantMode::Legal);
        key
    }

    /// Plays a move that is legal here.
    pub fn play(&mut self, mv: Move) {
        let mode = EnPassantMode::PseudoLegal;
        // For most moves the change of the key is known without looking at the whole board.
        let updated = self.chess.update_zobrist_hash(Zobrist64(self.key), mv, mode);
        self.chess.play_unchecked(mv);
        let Zobrist64(key) = updated.unwrap_or_else(|| self.chess.zobrist_hash(mode));
        self.key = key;
    }

    /// The position after a move that is legal here.
    #[must_use]
    pub fn after(&self, mv: Move) -> Self {
        let mut next = self.clone();
        next.play(mv);
        next
    }

    /// The full FEN, with castling rights in the form of Chess960 where the position needs that.
    pub fn fen(&self) -> String {
        Fen::from_position(&self.chess, EnPassantMode::PseudoLegal).to_string()
    }
}

/// Whether the castling rights of a FEN name the files of rooks, as those of Chess960 do.
pub(crate) fn names_files(fen: &[u8]) -> bool {
    let rights = fen.split(|&byte| byte == b' ').nth(2).unwrap_or_default();
    rights.iter().any(|right| matches!(right.to_ascii_lowercase(), b'a'..=b'h'))
}

/// Accepts positions that no game reaches but that can be played on, as `or_else` of a setup: with too much material,
/// or an impossible check. En passant and castling must fit the board.
///
/// # Errors
/// What else is wrong with the position.
#[allow(clippy::result_large_err, reason = "shakmaty's own methods return it")]
pub fn odd(error: PositionError<Chess>) -> Result<Chess, PositionError<Chess>> {
    error.ignore_too_much_material().or_else(PositionError::ignore_impossible_check)
}

/// As [`odd()`], and leaves out castling and en passant where they do not fit the board.
///
/// # Errors
/// What else is wrong with the position.
#[allow(clippy::result_large_err, reason = "shakmaty's own methods return it")]
pub(crate) fn lenient(error: PositionError<Chess>) -> Result<Chess, PositionError<Chess>> {
    odd(error)
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

    proptest::proptest! {
        #[test]
        fn the_key_is_kept_through_any_game(
            steps in proptest::collection::vec(proptest::prelude::any::<proptest::sample::Index>(), 0..200),
        ) {
            let mut position = Position::start();
            for step in steps {
                let legal = position.chess().legal_moves();
                if legal.is_empty() {
                    break;
                }
                position.play(*step.get(&legal));
                proptest::prop_assert_eq!(position.key(), Position::from_chess(position.chess().clone()).key());
            }
        }
    }
}
