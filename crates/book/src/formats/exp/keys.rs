//! The engines' own hashes of positions (docs/formats/exp.md, Keys).
#![allow(
    clippy::indexing_slicing,
    reason = "the tables have an element for each piece, square, file and right"
)]

use shakmaty::{
    Bitboard, CastlingSide, Chess, Color, EnPassantMode, Move, Piece, Position as _, Rank, Role, Square,
    attacks,
};

/// The state that the engines' random numbers begin with.
const SEED: u64 = 1_070_372;

/// Plies without a capture or a pawn's move from which the key depends on them.
const FIRST_CLOCK: u32 = 14;
/// Plies that have the same key.
const CLOCK_STEP: u32 = 8;

/// Squares between those of a pawn that goes two steps.
const DOUBLE_STEP: i32 = 16;

/// Which numbers castling and the side to move have in keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySet {
    /// Those of Stockfish since 2020: `BrainLearn`, `ShashChess`.
    New,
    /// Those of Stockfish before: `SugaR`, `HypnoS`, `Eman`.
    Old,
}

impl KeySet {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::New => Self::Old,
            Self::Old => Self::New,
        }
    }

    /// A name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::New => "as Stockfish's since 2020",
            Self::Old => "as Stockfish's before 2020",
        }
    }
}

/// Random numbers of everything that makes a key.
struct Numbers {
    /// White's pawn, knight, bishop, rook, queen and king, then Black's, on each square.
    pieces: [[u64; 64]; 12],
    files: [u64; 8],
    /// By rights: 1 White's short castling, 2 White's long, 4 and 8 Black's.
    castling: [[u64; 16]; 2],
    black: [u64; 2],
}

static NUMBERS: Numbers = numbers();

/// The next state and its number.
const fn draw(mut state: u64) -> (u64, u64) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    (state, state.wrapping_mul(2_685_821_657_736_338_717))
}

const fn numbers() -> Numbers {
    let mut all = Numbers { pieces: [[0; 64]; 12], files: [0; 8], castling: [[0; 16]; 2], black: [0; 2] };
    let mut state = SEED;
    let mut at = 0;
    while at < 12 * 64 {
        (state, all.pieces[at / 64][at % 64]) = draw(state);
        at += 1;
    }
    at = 0;
    while at < 8 {
        (state, all.files[at]) = draw(state);
        at += 1;
    }
    // The new set draws a number for each set of rights, the old one only for each right.
    let mut old = state;
    at = 0;
    while at < 16 {
        (state, all.castling[0][at]) = draw(state);
        at += 1;
    }
    (_, all.black[0]) = draw(state);
    let mut right = 1;
    while right < 16 {
        let number;
        (old, number) = draw(old);
        at = 0;
        while at < 16 {
            if at & right != 0 {
                all.castling[1][at] ^= number;
            }
            at += 1;
        }
        right *= 2;
    }
    (_, all.black[1]) = draw(old);
    all
}

/// Rights to castle in the order of their bits.
const RIGHTS: [(Color, CastlingSide); 4] = [
    (Color::White, CastlingSide::KingSide),
    (Color::White, CastlingSide::QueenSide),
    (Color::Black, CastlingSide::KingSide),
    (Color::Black, CastlingSide::QueenSide),
];

/// What engines since about 2021 change of a key after so many plies without a capture or a pawn's move.
fn clock_mask(clock: u32) -> Option<u64> {
    let step = u64::from(clock.checked_sub(FIRST_CLOCK)? / CLOCK_STEP);
    Some(step.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
}

/// The number of a piece on a square.
fn number(piece: Piece, square: Square) -> u64 {
    let first = piece.color.fold_wb(0, 6);
    NUMBERS.pieces[first + usize::from(u8::from(piece.role)) - 1][usize::from(square)]
}

/// The rights to castle with rooks on these squares, one bit each.
fn rights_with(chess: &Chess, rooks: Bitboard) -> usize {
    let has = |(bit, (color, side)): (usize, (Color, CastlingSide))| {
        usize::from(chess.castles().rook(color, side).is_some_and(|rook| rooks.contains(rook))) << bit
    };
    RIGHTS.into_iter().enumerate().map(has).sum()
}

/// What of a position its keys are made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyParts {
    pieces: u64,
    /// The part for en passant where a pawn attacks the square, and where it may legally capture.
    passed: [u64; 2],
    /// The rights to castle, one bit each.
    rights: usize,
    is_black: bool,
    /// What the clock changes, if it counts.
    mask: Option<u64>,
}

impl KeyParts {
    pub fn new(chess: &Chess) -> Self {
        let board = chess.board();
        let mut pieces = 0;
        for piece in Color::ALL.into_iter().flat_map(|color| Role::ALL.map(|role| role.of(color))) {
            for square in board.by_piece(piece) {
                pieces ^= number(piece, square);
            }
        }
        let passed = [EnPassantMode::PseudoLegal, EnPassantMode::Legal]
            .map(|mode| chess.ep_square(mode).map_or(0, |square| NUMBERS.files[usize::from(square.file())]));
        Self {
            pieces,
            passed,
            rights: rights_with(chess, Bitboard::FULL),
            is_black: chess.turn().is_black(),
            mask: clock_mask(chess.halfmoves()),
        }
    }

    /// The parts after a legal move of the position that has these; `None` of the few moves that have to be played for that: castling,
    /// en passant, and two steps past a pawn that may take.
    pub fn after(self, chess: &Chess, mv: Move) -> Option<Self> {
        let Move::Normal { role, from, capture, to, promotion } = mv else { return None };
        let us = chess.turn();
        if role == Role::Pawn && (to - from).abs() == DOUBLE_STEP {
            let passed = Square::from_coords(from.file(), us.fold_wb(Rank::Third, Rank::Sixth));
            if (attacks::pawn_attacks(us, passed) & chess.their(Role::Pawn)).any() {
                return None;
            }
        }
        let mut pieces =
            self.pieces ^ number(role.of(us), from) ^ number(promotion.unwrap_or(role).of(us), to);
        if let Some(capture) = capture {
            pieces ^= number(capture.of(us.other()), to);
        }
        let left = if role == Role::King { us.backrank().into() } else { from.into() };
        let lost = Bitboard::with(left, to) & chess.castles().castling_rights();
        let rights = if lost.any() { self.rights & !rights_with(chess, lost) } else { self.rights };
        let clock = if mv.is_zeroing() { 0 } else { chess.halfmoves().saturating_add(1) };
        Some(Self { pieces, passed: [0; 2], rights, is_black: !self.is_black, mask: clock_mask(clock) })
    }

    /// The keys under which an engine with this set may have stored the position, the likeliest first.
    pub fn keys(self, set: KeySet) -> impl Iterator<Item = u64> {
        let set = usize::from(set == KeySet::Old);
        let black = if self.is_black { NUMBERS.black[set] } else { 0 };
        let plain = self.pieces ^ NUMBERS.castling[set][self.rights] ^ black;
        // Numbers 0 and 1 are the keys with the clock, if it counts, 2 and 3 those without. The second of each two differs only where
        // en passant is pseudo-legal, but not legal. Each reply is asked for these, so this is one iterator, not several in one.
        let (first, are_two) = (if self.mask.is_some() { 0 } else { 2 }, self.passed[0] != self.passed[1]);
        let masks = [self.mask.unwrap_or(0), 0];
        let numbers = (first..4_usize).filter(move |number| number % 2 == 0 || are_two);
        numbers.map(move |number| plain ^ masks[number / 2] ^ self.passed[number % 2])
    }
}

/// The keys under which an engine with this set may have stored a position, the likeliest first: with the clock, if it counts,
/// and without it; with en passant where a pawn attacks the square, and where it may legally capture.
pub fn keys(chess: &Chess, set: KeySet) -> impl Iterator<Item = u64> {
    KeyParts::new(chess).keys(set)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::CastlingMode;
    use tabiya_chess::Position;

    use super::*;

    /// The vectors of docs/formats/exp.md, Keys: the key of each set, and with the clock where it counts.
    const KEYS: [(&str, [u64; 2], [u64; 2]); 7] = [
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            [0x8f8f_01d4_562f_59fb, 0xb4d3_0cd1_5a43_432d],
            [0; 2],
        ),
        (
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
            [0xb460_2246_9e3d_d31b, 0x6bdf_f9fe_4592_e7a4],
            [0; 2],
        ),
        (
            "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
            [0x3baf_5ded_1001_95cd, 0xe410_8655_cbae_a172],
            [0; 2],
        ),
        ("r3k2r/8/8/8/8/8/8/R3K2R w Kq - 0 1", [0xb991_9af5_87ee_db00, 0x407f_bbac_b87f_fa71], [0; 2]),
        (
            "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 14 20",
            [0xb5c2_8fb5_2aad_1e21, 0x6a7d_540d_f102_2a9e],
            [0xa1c7_f4cb_ddca_9f6e, 0x7e78_2f73_0665_abd1],
        ),
        ("8/P7/8/8/8/8/k6K/8 w - - 0 1", [0x663a_4344_e53c_0423, 0x01d2_1d00_45f4_0bba], [0; 2]),
        (
            "8/8/8/8/8/8/k6K/7R w - - 30 60",
            [0x6756_7956_1a60_c48d, 0x00be_2712_baa8_cb14],
            [0xa3ff_1a8f_8af2_bb24, 0xc417_44cb_2a3a_b4bd],
        ),
    ];

    #[test]
    fn keys_are_the_engines() {
        for (fen, plain, clocked) in KEYS {
            let position = Position::from_fen(fen.as_bytes(), CastlingMode::Standard).unwrap();
            for (set, (plain, clocked)) in
                [KeySet::New, KeySet::Old].into_iter().zip(plain.into_iter().zip(clocked))
            {
                let expected = if clocked == 0 { vec![plain] } else { vec![clocked, plain] };
                assert_eq!(keys(position.standard().unwrap(), set).collect::<Vec<_>>(), expected, "{fen}");
            }
        }
    }

    proptest! {
        #[test]
        fn parts_after_a_move_are_those_of_the_position_after_it(
            start in prop::sample::select(vec![
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 11 30",
                "8/P1p4k/3p4/KP5r/1R3p2/8/4P1P1/8 w - - 12 40",
            ]),
            steps in prop::collection::vec(any::<prop::sample::Index>(), 0..100),
        ) {
            let mut at = Position::from_fen(start.as_bytes(), CastlingMode::Standard).unwrap();
            let mut foretold = 0;
            for step in steps {
                let legal = at.chess().legal_moves();
                for mv in &legal {
                    let (chess, next) = (at.standard().unwrap(), at.after(*mv));
                    let Some(parts) = KeyParts::new(chess).after(chess, *mv) else { continue };
                    foretold += 1;
                    for set in [KeySet::New, KeySet::Old] {
                        let expected: Vec<_> = keys(next.standard().unwrap(), set).collect();
                        prop_assert_eq!(parts.keys(set).collect::<Vec<_>>(), expected, "{:?} in {}", mv, at.fen());
                    }
                }
                if legal.is_empty() {
                    break;
                }
                at.play(*step.get(&legal));
            }
            prop_assert!(foretold > 0 || at.fen().starts_with(start));
        }
    }

    #[test]
    fn en_passant_that_is_not_legal_has_a_key_with_and_one_without_it() {
        let fen = b"4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1";
        let position = Position::from_fen(fen, CastlingMode::Standard).unwrap();
        for set in [KeySet::New, KeySet::Old] {
            let [with, without] = keys(position.standard().unwrap(), set).collect::<Vec<_>>()[..] else {
                panic!("two keys")
            };
            assert_eq!(with ^ without, NUMBERS.files[3]);
        }
    }

    #[test]
    fn the_numbers_are_those_of_the_page() {
        let known = [
            (NUMBERS.pieces[0][0], 0x0836_10fb_1cd7_c6a5),
            (NUMBERS.pieces[11][63], 0x2fe9_a4d5_aa8d_43f6),
            (NUMBERS.files[0], 0x7d56_d658_294a_9988),
            (NUMBERS.files[7], 0x586c_dac1_8fc1_4df7),
            (NUMBERS.castling[0][0], 0x67e8_5e44_a0c8_0f99),
            (NUMBERS.castling[0][1], 0x8cb3_b497_3dd5_d7fe),
            (NUMBERS.castling[0][15], 0x6cef_81b4_3505_35c6),
            (NUMBERS.castling[1][0], 0),
            (NUMBERS.castling[1][15], 0x57b3_8cb1_3969_2f10),
            (NUMBERS.black[0], 0xa0f5_20a4_c9fa_5bcc),
            (NUMBERS.black[1], 0x4416_f619_1e39_75a5),
        ];
        assert!(known.into_iter().all(|(number, expected)| number == expected));
    }
}
