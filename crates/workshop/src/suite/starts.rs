//! The positions that lines of a suite begin with: the usual one, or the starts of Chess960.

use std::fmt;

use tabiya_chess::{CHESS960_STARTS, Position, Variant};

/// What a line of a suite begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The starting position of a variant.
    Usual(Variant),
    /// The start of Chess960 of this number.
    Chess960(u32),
    /// The start of double Chess960 with White's and Black's number.
    Double(u32, u32),
}

/// All starts of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Starts {
    /// Chess960: 960 starts.
    Chess960,
    /// Double Chess960, in which each side has the pieces of a start of its own: 921,600 starts.
    Double,
}

impl Start {
    /// The position.
    pub fn position(self) -> Position {
        let (variant, start) = match self {
            Self::Usual(variant) => (variant, None),
            Self::Chess960(number) => (Variant::Chess, Position::start_of_chess960(number, number)),
            Self::Double(white, black) => (Variant::Chess, Position::start_of_chess960(white, black)),
        };
        start.unwrap_or_else(|| Position::start_of(variant))
    }

    /// The variant whose rules hold.
    pub fn variant(self) -> Variant {
        match self {
            Self::Usual(variant) => variant,
            Self::Chess960(_) | Self::Double(..) => Variant::Chess,
        }
    }

    /// Whether it is one of Chess960, the usual one among them.
    pub fn is_chess960(self) -> bool {
        !matches!(self, Self::Usual(_))
    }
}

/// The name: `Chess960 518`, or `DFRC 518-0` with White's number first; nothing for the start of a variant.
impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usual(_) => Ok(()),
            Self::Chess960(number) => write!(f, "Chess960 {number}"),
            Self::Double(white, black) => write!(f, "DFRC {white}-{black}"),
        }
    }
}

impl Starts {
    /// All of them, in the order of their numbers.
    pub fn all(self) -> impl Iterator<Item = Start> {
        let blacks = if self == Self::Double { CHESS960_STARTS } else { 1 };
        (0..CHESS960_STARTS).flat_map(move |white| {
            (0..blacks).map(move |black| match self {
                Self::Chess960 => Start::Chess960(white),
                Self::Double => Start::Double(white, black),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use shakmaty::Position as _;

    use super::*;

    #[test]
    fn each_start_of_chess960_is_there_once_with_its_castling_rights() {
        let positions: Vec<Position> = Starts::Chess960.all().map(Start::position).collect();
        let distinct: HashSet<String> = positions.iter().map(Position::epd).collect();
        assert_eq!((positions.len(), distinct.len()), (960, 960));
        for at in &positions {
            assert_eq!(at.chess().castles().castling_rights(), at.chess().board().rooks());
            assert_eq!(Position::from_any_fen(at.epd().as_bytes()).map(|at| at.epd()), Ok(at.epd()));
            assert_eq!(Position::from_any_fen(at.fen().as_bytes()).map(|at| at.epd()), Ok(at.epd()));
        }
    }

    #[test]
    fn double_starts_are_numbered_by_white_first() {
        let all: Vec<Start> = Starts::Double.all().collect();
        assert_eq!(all.len(), 921_600);
        for (white, black) in [(0, 0), (0, 959), (959, 0), (518, 519), (959, 959)] {
            let start = Start::Double(white, black);
            assert_eq!(all[(white * CHESS960_STARTS + black) as usize], start);
            let [own, other] = [white, black].map(|number| Start::Chess960(number).position().epd());
            let rows: Vec<_> =
                other.split('/').take(1).chain(own.split(['/', ' ']).skip(1).take(7)).collect();
            assert_eq!(start.position().epd().split(' ').next(), Some(rows.join("/").as_str()));
        }
        assert_eq!(Start::Double(518, 0).to_string(), "DFRC 518-0");
        let beyond = [(CHESS960_STARTS, 0), (0, CHESS960_STARTS)];
        assert!(beyond.iter().all(|(white, black)| Position::start_of_chess960(*white, *black).is_none()));
    }
}
