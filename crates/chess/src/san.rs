//! Moves in plain notation, such as `Nf3`, `Nbxd2+` and `exd8=Q`: read and found in a position faster than shakmaty does it.
//!
//! shakmaty lists the legal moves of the pieces that may be meant, and keeps the one that fits. Here the pieces of one kind
//! that attack the square are looked up, and each is tried by looking out from the king; what both find is always the same.
//! Castling and en passant go to shakmaty, and whatever is not plain is not found here.

#![allow(clippy::indexing_slicing, reason = "the table has an element for each role and each square")]

use shakmaty::san::San;
use shakmaty::{
    Bitboard, Chess, Color, EnPassantMode, File, Move, Piece, Position, Rank, Role, Square, attacks,
};

/// The squares that a piece attacks from each square of an empty board, by its role; none for a pawn. The tables of attacks on a full
/// board are larger than a processor's caches.
static REACHED: [[Bitboard; 64]; Role::ALL.len() + 1] = reached();

const fn reached() -> [[Bitboard; 64]; Role::ALL.len() + 1] {
    let mut all = [[Bitboard::EMPTY; 64]; Role::ALL.len() + 1];
    let mut role = Role::Knight as usize;
    while role < all.len() {
        let mut at = 0;
        while at < 64 {
            let piece = Piece { color: Color::White, role: Role::ALL[role - 1] };
            all[role][at] = attacks::attacks(Square::ALL[at], piece, Bitboard::EMPTY);
            at += 1;
        }
        role += 1;
    }
    all
}

/// The squares that a piece of this role attacks from a square of an empty board.
fn reach(role: Role, from: Square) -> Bitboard {
    REACHED[role as usize][usize::from(from)]
}

/// The move that a word means in a position, with or without a sign of check; `None` if it is not plain, illegal or
/// ambiguous.
pub fn plain_move(word: &[u8], at: &Chess) -> Option<Move> {
    let word = match word {
        [word @ .., b'+' | b'#'] => word,
        word => word,
    };
    match *word {
        [file, rank] => push(square(file, rank)?, None, at),
        [from, b'x', file, rank] if from.is_ascii_lowercase() => {
            let (from, to) = (self::file(from)?, square(file, rank)?);
            if at.ep_square(EnPassantMode::Always) == Some(to) {
                return San::from_ascii(word).ok()?.to_move(at).ok();
            }
            capture(from, to, None, at)
        }
        [file, rank, b'=', promotion] => push(square(file, rank)?, Some(officer(promotion)?), at),
        [from, b'x', file, rank, b'=', promotion] => {
            capture(self::file(from)?, square(file, rank)?, Some(officer(promotion)?), at)
        }
        [b'O', b'-', b'O', ..] => {
            let san @ San::Castle(_) = San::from_ascii(word).ok()? else { return None };
            san.to_move(at).ok()
        }
        [role, ref middle @ .., file, rank] => {
            let role = if role == b'K' { Role::King } else { officer(role)? };
            let (middle, captures) = match middle {
                [middle @ .., b'x'] => (middle, true),
                middle => (middle, false),
            };
            let from = match *middle {
                [] => Bitboard::FULL,
                [from @ b'a'..=b'h'] => Bitboard::from_file(self::file(from)?),
                [from @ b'1'..=b'8'] => Bitboard::from_rank(self::rank(from)?),
                [file, rank] => Bitboard::from_square(square(file, rank)?),
                _ => return None,
            };
            piece(role, from, captures, square(file, rank)?, at)
        }
        _ => None,
    }
}

fn file(byte: u8) -> Option<File> {
    File::from_char(char::from(byte))
}

fn rank(byte: u8) -> Option<Rank> {
    Rank::from_char(char::from(byte))
}

fn square(file: u8, rank: u8) -> Option<Square> {
    Some(Square::from_coords(self::file(file)?, self::rank(rank)?))
}

/// A piece that a pawn may become.
fn officer(letter: u8) -> Option<Role> {
    match letter {
        b'N' => Some(Role::Knight),
        b'B' => Some(Role::Bishop),
        b'R' => Some(Role::Rook),
        b'Q' => Some(Role::Queen),
        _ => None,
    }
}

/// A pawn's move along its file.
fn push(to: Square, promotion: Option<Role>, at: &Chess) -> Option<Move> {
    let (board, us) = (at.board(), at.turn());
    let pawns = board.by_piece(Piece { color: us, role: Role::Pawn });
    if board.occupied().contains(to) || promotion.is_some() != is_last(to, us) {
        return None;
    }
    let one = to.offset(us.fold_wb(-8, 8))?;
    let from = if pawns.contains(one) {
        one
    } else {
        let two = one.offset(us.fold_wb(-8, 8))?;
        let double = to.rank() == us.fold_wb(Rank::Fourth, Rank::Fifth);
        if !double || board.occupied().contains(one) || !pawns.contains(two) {
            return None;
        }
        two
    };
    is_safe(at, from, to).then_some(Move::Normal { role: Role::Pawn, from, capture: None, to, promotion })
}

/// A pawn's capture, except en passant.
fn capture(from: File, to: Square, promotion: Option<Role>, at: &Chess) -> Option<Move> {
    let (board, us) = (at.board(), at.turn());
    if promotion.is_some() != is_last(to, us) {
        return None;
    }
    let pawns = board.by_piece(Piece { color: us, role: Role::Pawn });
    let beside = attacks::pawn_attacks(us.other(), to) & pawns & Bitboard::from_file(from);
    let from = beside.single_square()?;
    if !board.by_color(us.other()).contains(to) {
        return None;
    }
    let capture = board.role_at(to);
    is_safe(at, from, to).then_some(Move::Normal { role: Role::Pawn, from, capture, to, promotion })
}

fn is_last(to: Square, us: Color) -> bool {
    to.rank() == us.fold_wb(Rank::Eighth, Rank::First)
}

/// The move of a piece from one of these squares.
fn piece(role: Role, from: Bitboard, captures: bool, to: Square, at: &Chess) -> Option<Move> {
    let (board, us) = (at.board(), at.turn());
    if board.by_color(us).contains(to) || board.by_color(us.other()).contains(to) != captures {
        return None;
    }
    let mine = Piece { color: us, role };
    // Pieces attack each other's squares alike.
    let able = reach(role, to) & board.by_piece(mine) & from;
    let reaches = |from: &Square| (attacks::between(*from, to) & board.occupied()).is_empty();
    let mut legal = able.into_iter().filter(reaches).filter(|&from| is_safe(at, from, to));
    let from = legal.next()?;
    if legal.next().is_some() {
        return None;
    }
    Some(Move::Normal { role, from, capture: board.role_at(to), to, promotion: None })
}

/// Whether nothing attacks the king of the side to move after a piece of its side went from one square to another, neither
/// en passant nor castling.
pub fn is_safe(at: &impl Position, from: Square, to: Square) -> bool {
    let (board, us) = (at.board(), at.turn());
    let Some(king) = board.king_of(us) else { return false };
    let king = if from == king { to } else { king };
    let occupied = board.occupied().without(from).with(to);
    let them = board.by_color(us.other()).without(to);
    let near = attacks::knight_attacks(king) & board.by_role(Role::Knight)
        | attacks::pawn_attacks(us, king) & board.by_role(Role::Pawn)
        | attacks::king_attacks(king) & board.by_role(Role::King);
    // Few pieces are on a line with the king.
    let far = reach(Role::Rook, king) & board.rooks_and_queens()
        | reach(Role::Bishop, king) & board.bishops_and_queens();
    (near & them).is_empty()
        && (far & them).into_iter().all(|from| (attacks::between(king, from) & occupied).any())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use shakmaty::san::SanPlus;
    use shakmaty::{CastlingMode, fen::Fen};

    /// What shakmaty makes of a word.
    fn slow(word: &[u8], at: &Chess) -> Option<Move> {
        SanPlus::from_ascii(word).ok()?.san.to_move(at).ok()
    }

    /// All words of the plain form that a position may be asked for, and some that are not.
    fn words() -> Vec<Vec<u8>> {
        let mut words: Vec<Vec<u8>> =
            ["O-O", "O-O-O", "O-O+", "O-O-O#", "", "e", "--", "N", "O-O-O-O", "Z0", "P@e4"]
                .map(|word| word.as_bytes().to_vec())
                .into();
        for to in Square::ALL.map(|square| square.to_string()) {
            let mut starts = vec![String::new()];
            for role in ["N", "B", "R", "Q", "K", "P"] {
                starts.extend(
                    ["", "x", "a", "e", "h", "1", "4", "8", "bx", "gx", "2x", "7x", "e4", "a1x"]
                        .map(|from| format!("{role}{from}")),
                );
            }
            starts.extend("abcdefgh".chars().flat_map(|file| [format!("{file}x"), file.to_string()]));
            for start in starts {
                for end in ["", "=Q", "=N", "=K", "+", "=R#"] {
                    words.push(format!("{start}{to}{end}").into_bytes());
                }
            }
        }
        words
    }

    fn agree(at: &Chess, word: &[u8]) {
        let found = plain_move(word, at);
        let slow = slow(word, at);
        if let Some(found) = found {
            assert_eq!(
                slow,
                Some(found),
                "{} {}",
                Fen::from_position(at, shakmaty::EnPassantMode::Legal),
                String::from_utf8_lossy(word)
            );
        }
    }

    #[test]
    fn what_is_found_is_what_shakmaty_finds_in_hard_positions() {
        let words = words();
        for (fen, mode) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", CastlingMode::Standard),
            // Castling, pins, checks, promotions with and without captures, en passant that uncovers the king.
            ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", CastlingMode::Standard),
            ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", CastlingMode::Standard),
            ("8/8/8/K2pP2r/8/8/8/7k w - d6 0 1", CastlingMode::Standard),
            ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", CastlingMode::Standard),
            ("r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1", CastlingMode::Standard),
            ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", CastlingMode::Standard),
            ("4k3/8/4r3/8/1b6/8/3NN3/R3K2R w KQ - 0 1", CastlingMode::Standard),
            ("6k1/8/8/8/1Q6/8/8/1Q2Q2K w - - 0 1", CastlingMode::Standard),
            ("6k1/8/8/R6R/8/8/8/R3K2R w KQ - 0 1", CastlingMode::Standard),
            ("4k3/8/8/8/7b/8/5n2/4K3 w - - 0 1", CastlingMode::Standard),
            ("1rk4r/8/8/8/8/8/8/1RK4R w BHbh - 0 1", CastlingMode::Chess960),
            ("rk5r/8/8/8/8/8/8/RK5R b AHah - 0 1", CastlingMode::Chess960),
        ] {
            let at: Chess = fen.parse::<Fen>().unwrap().into_position(mode).unwrap();
            words.iter().for_each(|word| agree(&at, word));
            // And the other way: every legal move is found.
            for mv in at.legal_moves() {
                let word = San::from_move(&at, mv).to_string();
                assert_eq!(plain_move(word.as_bytes(), &at), Some(mv), "{fen} {word}");
            }
        }
    }

    /// One of the starting positions of Chess960: the number of the square of each pair of pieces among those that are free.
    fn chess960(numbers: [usize; 5]) -> Chess {
        let mut line = [' '; 8];
        let [light, dark, queen, first, second] = numbers;
        line[light % 4 * 2 + 1] = 'b';
        line[dark % 4 * 2] = 'b';
        for (piece, number) in [('q', queen), ('n', first), ('n', second)] {
            let free: Vec<_> = (0..8).filter(|&at| line[at] == ' ').collect();
            line[free[number % free.len()]] = piece;
        }
        let mut rest = "rkr".chars();
        let line: String =
            line.map(|piece| if piece == ' ' { rest.next().unwrap() } else { piece }).iter().collect();
        let fen = format!("{line}/pppppppp/8/8/8/8/PPPPPPPP/{} w KQkq - 0 1", line.to_uppercase());
        fen.parse::<Fen>().unwrap().into_position(CastlingMode::Chess960).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn what_is_found_is_what_shakmaty_finds_in_any_game(
            start in prop::option::of(prop::array::uniform5(0..100_usize)),
            steps in prop::collection::vec(any::<prop::sample::Index>(), 0..160),
            drawn in prop::collection::vec(any::<prop::sample::Index>(), 40),
        ) {
            let words: Vec<Vec<u8>> = words();
            let mut at = start.map_or_else(Chess::default, chess960);
            for step in steps {
                drawn.iter().for_each(|word| agree(&at, word.get::<Vec<u8>>(&words)));
                let legal = at.legal_moves();
                for &mv in &legal {
                    let word = SanPlus::from_move(at.clone(), mv).to_string();
                    let found = plain_move(word.as_bytes(), &at);
                    // The word need not be read as this move, but both readers must read the same.
                    prop_assert_eq!(found, slow(word.as_bytes(), &at), "{}", word);
                }
                if legal.is_empty() {
                    break;
                }
                at.play_unchecked(*step.get(&legal));
            }
        }
    }
}
