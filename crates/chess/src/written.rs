//! Moves as people and programs write them: standard notation, and every other form that fits only one legal move.

use std::fmt;

use shakmaty::san::SanPlus;
use shakmaty::{CastlingSide, File, Move, MoveList, Position as _, Rank, Role, Square};

use super::variant::variant_facts;
use super::{Position, Variant, plain_move};

/// Why a word is not a move in its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMoveError {
    /// It does not have the form of a move.
    NoMove,
    Null,
    /// No legal move fits.
    Illegal,
    /// Several legal moves fit.
    Ambiguous,
}

impl fmt::Display for ReadMoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoMove => "this is not a move in standard notation",
            Self::Null => "a side passes",
            Self::Illegal => "the move is not legal",
            Self::Ambiguous => "the move is ambiguous",
        })
    }
}

/// The one legal move that a word describes.
///
/// Besides standard notation it reads coordinates (`g1f3`, `e2-e4`, `Ng1-f3`, castling as `e1g1` too), figurines of
/// both colours, castling with letters or zeros, promotions with or without a sign (`a8Q`, `a8=Q`, `a8/Q`, `a8(Q)`),
/// captures with or without a sign (`exd5`, `e:d5`, `ed5`, `ed`), and evaluations, checks and `e.p.` after the move.
///
/// # Errors
/// When the word fits no legal move or several: `a8` of a pawn does not say which piece it becomes.
///
/// ```
/// use tabiya_chess::{Position, read_move};
/// let start = Position::start();
/// assert_eq!(read_move("Ng1-f3!?", &start), read_move("♘f3", &start));
/// assert!(read_move("Sf3", &start).is_err());
/// ```
pub fn read_move(word: &str, at: &Position) -> Result<Move, ReadMoveError> {
    if let Some(mv) = at.standard().and_then(|chess| plain_move(word.as_bytes(), chess)) {
        return Ok(mv);
    }
    if is_null(word) {
        return Err(ReadMoveError::Null);
    }
    if let Some((side, rest)) = castling(word) {
        let found = at.chess().castling_moves(side).first().copied();
        return if is_decoration(rest) {
            found.ok_or(ReadMoveError::Illegal)
        } else {
            Err(ReadMoveError::NoMove)
        };
    }
    let (mut normal, mut castles) = (None, None);
    for mv in meant(word, at).ok_or(ReadMoveError::NoMove)? {
        let found = if mv.is_castle() { &mut castles } else { &mut normal };
        if found.replace(mv).is_some() {
            return Err(ReadMoveError::Ambiguous);
        }
    }
    // In Chess960 a king may also step to the square where castling would put it: then it is only a step.
    normal.or(castles).ok_or(ReadMoveError::Illegal)
}

/// The legal moves that a word may mean, unless it castles or passes; `None` if it does not have the form of a move.
pub(super) fn meant(word: &str, at: &Position) -> Option<MoveList> {
    if at.chess().pockets().is_some() && word.contains('@') {
        let (role, to) = dropped(word)?;
        let mut legal = at.chess().legal_moves();
        legal.retain(|mv| *mv == Move::Put { role, to });
        return Some(legal);
    }
    let written = Written::parse(word, at.variant())?;
    let mut legal = at.chess().legal_moves();
    legal.retain(|mv| written.fits(*mv));
    Some(legal)
}

/// Whether a word among moves may be one, and not decoration: it names a square, castles, passes, or is a capture that names
/// only files.
pub fn may_be_move(word: &[u8]) -> bool {
    word.windows(2).any(|pair| matches!(pair, [b'a'..=b'h', b'1'..=b'8']))
        || names_square_in_capitals(word)
        || word.starts_with(b"0-0")
        || is_move_without_square(&String::from_utf8_lossy(word))
}

/// Whether a word ends in a square in capitals, as in `NF3` or `B-B4`, and is no code of an opening.
fn names_square_in_capitals(word: &[u8]) -> bool {
    let word = word.trim_ascii_end();
    let len = word.iter().rposition(|byte| !matches!(byte, b'+' | b'#' | b',')).map_or(0, |last| last + 1);
    matches!(word.get(..len), Some([.., b'A'..=b'Z' | b'a'..=b'z' | b'-' | b':', b'A'..=b'H', b'1'..=b'8']))
}

/// Whether a word has the form of a move in standard notation, castling with zeros included.
pub fn is_san(word: &[u8]) -> bool {
    SanPlus::from_ascii(word).is_ok() || word.starts_with(b"0-0")
}

/// Whether a word is a move without a square: castling, with letters or zeros and with any dash or none, a null move,
/// or a capture that names only files.
fn is_move_without_square(word: &str) -> bool {
    is_null(word) || castling(word).is_some_and(|(_, rest)| is_decoration(rest)) || {
        let word = word.trim_end_matches(['+', '#']).as_bytes();
        matches!(word, [b'a'..=b'h', b'x' | b':', b'a'..=b'h'])
            || matches!(word, [from @ b'a'..=b'h', to @ b'a'..=b'h'] if from.abs_diff(*to) == 1)
    }
}

fn is_null(word: &str) -> bool {
    let word = word.trim_end_matches(['+', '#']);
    ["--", "Z0", "0000", "@@@@", "null", "pass"].iter().any(|null| word.eq_ignore_ascii_case(null))
}

/// Dashes that people and programs write between the squares of a move, the parts of castling, and those of a result.
pub const DASHES: [char; 11] = [
    '-', '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2015}', '\u{2043}', '\u{2212}',
    '\u{fe63}', '\u{ff0d}',
];
const CAPTURES: [char; 4] = ['x', 'X', '×', ':'];

/// The piece that a word drops, and its square: `N@f3`, and `P@e4` or `@e4` for a pawn.
fn dropped(word: &str) -> Option<(Role, Square)> {
    let mut rest = word;
    let role = take_piece(&mut rest, |_| true).unwrap_or(Role::Pawn);
    rest = rest.strip_prefix('@')?;
    let (file, rank) = take_square(&mut rest);
    is_decoration(rest).then_some((role, Square::from_coords(file?, rank?)))
}

/// The side of castling at the start of a word, and what follows.
fn castling(word: &str) -> Option<(CastlingSide, &str)> {
    let mut rest = word;
    let mut count = 0;
    while let Some(next) = rest.strip_prefix(['O', '0', 'o']) {
        count += 1;
        rest = next.strip_prefix(DASHES).filter(|next| next.starts_with(['O', '0', 'o'])).unwrap_or(next);
    }
    match count {
        2 => Some((CastlingSide::KingSide, rest)),
        3 => Some((CastlingSide::QueenSide, rest)),
        _ => None,
    }
}

/// Whether the text after a move only comments on it.
fn is_decoration(rest: &str) -> bool {
    let letters: String = rest.chars().filter(|c| c.is_alphanumeric()).collect();
    ["", "ep", "e", "ch", "mate", "N", "TN"].contains(&letters.as_str())
}

/// A piece by its letter or its figurine.
fn piece(letter: char) -> Option<Role> {
    match letter {
        'K' | 'k' | '♔' | '♚' => Some(Role::King),
        'Q' | 'q' | '♕' | '♛' => Some(Role::Queen),
        'R' | 'r' | '♖' | '♜' => Some(Role::Rook),
        'B' | 'b' | '♗' | '♝' => Some(Role::Bishop),
        'N' | 'n' | '♘' | '♞' => Some(Role::Knight),
        'P' | 'p' | '♙' | '♟' => Some(Role::Pawn),
        _ => None,
    }
}

/// Takes the first letter off the text if it has a meaning.
fn take<T>(rest: &mut &str, meaning: impl Fn(char) -> Option<T>) -> Option<T> {
    let letter = rest.chars().next()?;
    let found = meaning(letter)?;
    *rest = rest.get(letter.len_utf8()..)?;
    Some(found)
}

/// Takes a piece off the text, and the variation selector that some programs put after a figurine.
fn take_piece(rest: &mut &str, is_wanted: impl Fn(char) -> bool) -> Option<Role> {
    let role = take(rest, |letter| piece(letter).filter(|_| is_wanted(letter)))?;
    *rest = rest.trim_start_matches(['\u{fe0e}', '\u{fe0f}']);
    Some(role)
}

/// Takes a file, a rank, both or neither off the text.
fn take_square(rest: &mut &str) -> (Option<File>, Option<Rank>) {
    (take(rest, File::from_char), take(rest, Rank::from_char))
}

/// What a word says about a move.
#[derive(Debug)]
struct Written {
    /// `None`: any piece on the square.
    role: Option<Role>,
    from: (Option<File>, Option<Rank>),
    to: (File, Option<Rank>),
    capture: bool,
    promotion: Option<Role>,
}

impl Written {
    fn parse(word: &str, variant: Variant) -> Option<Self> {
        let mut rest = word;
        // A small b is a file.
        let role = take_piece(&mut rest, |letter| letter != 'b');
        let mut from = take_square(&mut rest);
        let mut capture = rest.starts_with(CAPTURES);
        let before = rest;
        rest = rest.strip_prefix(DASHES).or_else(|| rest.strip_prefix(CAPTURES)).unwrap_or(rest);
        let mut to = take_square(&mut rest);
        if to == (None, None) {
            // The only square is the one that the piece goes to.
            (to, from, rest) = (from, (None, None), before);
            capture = false;
        }
        let to = (to.0?, to.1);
        let role = match (role, from) {
            (None, (Some(_), Some(_))) => None,
            (role, _) => role.or(Some(Role::Pawn)),
        };
        // Only pawns that capture may leave the rank out, as in "exd".
        if to.1.is_none() && (role != Some(Role::Pawn) || from.0.is_none_or(|from| from == to.0)) {
            return None;
        }
        let mut promotion = None;
        if matches!(to.1, Some(Rank::First | Rank::Eighth)) && role.is_none_or(|role| role == Role::Pawn) {
            let mut signed = rest.strip_prefix(['=', '/', ':']).unwrap_or(rest);
            signed = signed.strip_prefix('(').unwrap_or(signed);
            promotion = take_piece(&mut signed, |letter| match piece(letter) {
                Some(Role::King) => variant_facts(variant).has_common_kings,
                promoted => promoted != Some(Role::Pawn),
            });
            if promotion.is_some() {
                rest = signed;
            }
        }
        is_decoration(rest).then_some(Self { role, from, to, capture, promotion })
    }

    /// Whether a legal move fits.
    fn fits(&self, mv: Move) -> bool {
        let Some(from) = mv.from() else { return false };
        let is_from = |square: Square| {
            self.from.0.is_none_or(|file| file == square.file())
                && self.from.1.is_none_or(|rank| rank == square.rank())
        };
        let is_to =
            |square: Square| self.to.0 == square.file() && self.to.1.is_none_or(|rank| rank == square.rank());
        if self.role.is_some_and(|role| role != mv.role())
            || !is_from(from)
            || (self.promotion.is_some() && self.promotion != mv.promotion())
        {
            return false;
        }
        if let Move::Castle { king, rook } = mv {
            let target = CastlingSide::from_king_side(king.file() < rook.file()).king_to_file();
            return matches!(self.from, (Some(_), Some(_)))
                && (is_to(rook) || is_to(Square::from_coords(target, king.rank())));
        }
        // A pawn captures to another file, which a single square does not show.
        let pushed = mv.role() != Role::Pawn || self.from.0.is_some() || self.capture == mv.is_capture();
        is_to(mv.to()) && pushed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use shakmaty::CastlingMode;
    use shakmaty::san::SanPlus;
    use shakmaty::uci::UciMove;

    fn read(fen: &str, word: &str) -> Result<String, ReadMoveError> {
        let rights = fen.split(' ').nth(2).unwrap();
        let mode = CastlingMode::from_chess960(rights.contains(|c: char| matches!(c, 'A'..='H' | 'a'..='h')));
        let at = Position::from_fen(fen.as_bytes(), mode).unwrap();
        read_move(word, &at).map(|mv| UciMove::from_move(mv, CastlingMode::Chess960).to_string())
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const PROMOTING: &str = "3r4/P1P3k1/8/8/8/8/8/4K3 w - - 0 1";
    const CASTLING: &str = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1";
    const CAPTURES: &str = "4k3/8/8/2ppp3/1B1P4/8/4N3/4K3 w - c6 0 1";

    #[test]
    fn a_word_that_fits_one_move_is_that_move() {
        for (fen, words, uci) in [
            (
                START,
                "Nf3 g1f3 Ng1f3 Ng1-f3 Ngf3 N1f3 ♘f3 ♞f3 ♘\u{fe0e}f3 nf3 Nf3+- Nf3± Nf3!? Nf3, Nf3N Nf3∞ g1-f3 N-f3",
                "g1f3",
            ),
            (START, "e4 e2e4 e2-e4 e2–e4 Pe4 ♙e4 ♟e4 ♙e2-e4 e4= e4N Pe2-e4", "e2e4"),
            (
                PROMOTING,
                "a8=Q a8Q a8(Q) a8/Q a7a8Q a7a8q a7-a8Q a7-a8=Q a8=(Q) a8=q a8♕ a8=♛ a8Q+- a8:Q",
                "a7a8q",
            ),
            (PROMOTING, "cxd8=R cxd8R cxd8/R c7d8R c7xd8=R cd8R c7d8r cd8(R) c7:d8R c7×d8♖", "c7d8r"),
            (PROMOTING, "c8N c8=N+ c7c8n", "c7c8n"),
            (
                CASTLING,
                "O-O 0-0 o-o OO 00 O–O O\u{2012}O 0\u{2212}0 O\u{ff0d}O O\u{2015}O 0-0+ e1g1 e1h1 Ke1-g1 O-O!",
                "e1h1",
            ),
            (CASTLING, "O-O-O 0-0-0 o-o-o OOO 000 e1c1 e1a1 Ke1c1 0-0-0++", "e1a1"),
            (CAPTURES, "dxc5 dc5 d4c5 d4xc5 d:c5 d4:c5 dxc5= dxc dc d×c5", "d4c5"),
            (CAPTURES, "dxe5 de d4-e5", "d4e5"),
            (CAPTURES, "Bxc5 Bc5 B:c5 b4c5 Bb4xc5 ♗xc5 ♗:c5", "b4c5"),
            (
                "4k3/8/8/2pP4/8/8/8/4K3 w - c6 0 1",
                "dxc6 dxc6e.p. dxc6ep dc6 d5c6 d5xc6e.p. dxc6e dxc",
                "d5c6",
            ),
        ] {
            for word in words.split(' ') {
                assert_eq!(read(fen, word), Ok(uci.to_owned()), "{word} in {fen}");
            }
        }
    }

    #[test]
    fn a_word_that_fits_none_or_several_is_not_guessed() {
        use ReadMoveError::{Ambiguous, Illegal, NoMove, Null};
        for (fen, words, why) in [
            (START, "Sf3 Cf6 Nf3e5x Nxxf3 Nf3,Nc6 e9 N f rook e4e5x O-O-O-O 0-0Nf3 Nf exe ½ ♘", NoMove),
            (START, "e5 Ng1-h4 e2e5 Ke1-g1 O-O e1g1 dxe3 d4e5 xe4", Illegal),
            (START, "-- Z0 0000 @@@@ null", Null),
            (PROMOTING, "a8 a7a8 a7-a8 a8=", Ambiguous),
            (PROMOTING, "a8K a8P", NoMove),
            ("4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1", "Nd2 ♘d2 N-d2", Ambiguous),
            ("4k3/8/3ppp2/4P3/8/8/8/4K3 w - - 0 1", "e6 e5e6 ef5", Illegal),
            ("4k3/8/8/2p1p3/1P1P4/8/8/4K3 w - - 0 1", "xc5", Ambiguous),
        ] {
            for word in words.split(' ') {
                assert_eq!(read(fen, word), Err(why), "{word} in {fen}");
            }
        }
    }

    #[test]
    fn a_king_of_chess960_castles_where_the_word_says_so() {
        let fen = "4k3/8/8/8/8/8/8/5K1R w H - 0 1";
        assert_eq!(read(fen, "f1g1").as_deref(), Ok("f1g1"));
        assert_eq!(read(fen, "Kg1").as_deref(), Ok("f1g1"));
        assert_eq!(read(fen, "f1h1").as_deref(), Ok("f1h1"));
        assert_eq!(read(fen, "0-0").as_deref(), Ok("f1h1"));
    }

    #[test]
    fn words_that_name_no_square_are_still_moves() {
        for word in
            ["--+", "Z0#", "o-o", "O–O", "OO", "000", "Z0", "@@@@", "null", "exd", "ed", "e:d", "exd+"]
        {
            assert!(is_move_without_square(word), "{word}");
        }
        for word in ["N", "D", "=", "+-", "e", "ep", "ad", "axx", "bad", "0", "good"] {
            assert!(!is_move_without_square(word), "{word}");
        }
    }

    proptest! {
        #[test]
        fn every_legal_move_is_read_in_each_of_its_forms(
            steps in prop::collection::vec(any::<prop::sample::Index>(), 1..80),
        ) {
            let mut at = Position::start();
            for step in steps {
                let legal = at.chess().legal_moves();
                if legal.is_empty() {
                    break;
                }
                let mv = *step.get(&legal);
                for word in [
                    SanPlus::from_move(at.chess().clone(), mv).to_string(),
                    UciMove::from_move(mv, CastlingMode::Standard).to_string(),
                    UciMove::from_move(mv, CastlingMode::Chess960).to_string(),
                ] {
                    prop_assert_eq!(read_move(&word, &at), Ok(mv), "{} in {}", word, at.fen());
                }
                at.play(mv);
            }
        }

        #[test]
        fn any_word_is_survived(word in "[KQRBNOPa-h1-8x0:=()+#.–♘♛-]{0,9}") {
            if let Ok(mv) = read_move(&word, &Position::start()) {
                prop_assert!(Position::start().chess().is_legal(mv));
            }
        }
    }
}
