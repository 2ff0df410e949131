//! Names of openings by position, from the list of the project lichess-org/chess-openings, which is in the public domain.
//!
//! A name belongs to a position, not to an order of moves, so transpositions get the names of what they lead to. The list
//! has each position once. A line of play has the name of the last of its positions that has one.
//!
//! Nothing is read or computed before the first look-up, which searches the executable's own bytes:
//!
//! | file | contents |
//! |---|---|
//! | `lines.tsv` | the list as it is published: code, name, moves; the search of `tabiya explore` and the tests read it |
//! | `names.txt` | each code and name once, sorted: lines such as `B90 Sicilian Defense: Najdorf Variation` |
//! | `positions.bin` | for each position, in ascending order of keys: its key, and the offset of its line in `names.txt` |
//!
//! `scripts/make-opening-names` makes them from a newer list.

mod chosen;

use std::fmt;

use crate::{Game, Position};

pub use self::chosen::{ChosenOpenings, UnknownOpening};

/// Whether a text is a code of the Encyclopaedia of Chess Openings: A00 to E99.
pub fn is_eco(code: &str) -> bool {
    matches!(code.as_bytes(), [b'A'..=b'E', b'0'..=b'9', b'0'..=b'9'])
}

/// The codes and names, a line each.
const NAMES: &str = include_str!("names.txt");

/// The list as it is published: a heading, then code, name and moves in SAN, with tabs between them.
const LINES: &str = include_str!("lines.tsv");

/// A position: its Polyglot key (u64, big endian), and the offset of its line in [`NAMES`] (u32, big endian).
const POSITION_LEN: usize = 12;

/// The positions, in ascending order of keys.
const POSITIONS: &[[u8; POSITION_LEN]] = include_bytes!("positions.bin").as_chunks().0;

/// First bits of a key that choose a bucket: there are about as many buckets as positions.
const BUCKET_BITS: u32 = 12;

/// For each value of these bits, the number of the first position whose key does not begin with a smaller one; and the count of
/// positions.
#[allow(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "computed, and checked, when the program is compiled"
)]
static BUCKETS: [u16; (1 << BUCKET_BITS) + 1] = {
    let mut buckets = [0; (1 << BUCKET_BITS) + 1];
    let (mut bucket, mut place) = (0, 0);
    while bucket < buckets.len() {
        while place < POSITIONS.len() && bucket_of(key_of(&POSITIONS[place])) < bucket {
            place += 1;
        }
        assert!(place <= u16::MAX as usize, "the list has more positions than buckets can number");
        buckets[bucket] = place as u16;
        bucket += 1;
    }
    buckets
};

/// Characters of a code of the Encyclopaedia of Chess Openings, such as `B90`.
const CODE_LEN: usize = 3;

/// An opening: its code and its name.
///
/// ```
/// use tabiya_chess::Game;
/// use tabiya_chess::openings::Opening;
/// let mut game = Game::start();
/// assert_eq!(Opening::from_game(&game), None);
/// for mv in ["g1f3", "d7d5", "d2d4", "g8f6", "a2a3"] {
///     game.push_uci(mv.as_bytes());
/// }
/// let opening = Opening::from_game(&game).expect("a named line");
/// assert_eq!((opening.eco(), opening.name()), ("D02", "Queen's Pawn Game: Symmetrical Variation"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Opening {
    /// Where its line begins in [`NAMES`].
    offset: u32,
}

impl Opening {
    /// The opening of the position with this Polyglot key.
    pub fn with_key(key: u64) -> Option<Self> {
        let &[first, end] = BUCKETS.get(bucket_of(key)..)?.first_chunk()?;
        let bucket = POSITIONS.get(usize::from(first)..usize::from(end))?;
        let &[.., a, b, c, d] = bucket.iter().find(|position| key_of(position) == key)?;
        Some(Self { offset: u32::from_be_bytes([a, b, c, d]) })
    }

    /// The opening of a position. An en-passant square counts only if the capture is legal, as in the list.
    pub fn at(position: &Position) -> Option<Self> {
        // Names are those of standard chess, and positions of variants have the same keys.
        position.standard().and_then(|_| Self::with_key(position.strict_key()))
    }

    /// The opening of the last position of a game that has one.
    #[doc(hidden)]
    pub fn from_game(game: &Game) -> Option<Self> {
        // No move has to be played again where the position itself has a name.
        if let Some(last) = Self::at(game.position()) {
            return Some(last);
        }
        let mut position = game.start_position().clone();
        let mut opening = Self::at(&position);
        for &mv in game.moves() {
            position.play(mv);
            opening = Self::at(&position).or(opening);
        }
        opening
    }

    /// The code and the name: `B90 Sicilian Defense: Najdorf Variation`.
    pub fn as_str(self) -> &'static str {
        NAMES.get(self.offset as usize..).and_then(|names| names.lines().next()).unwrap_or_default()
    }

    /// The code, A00 to E99.
    pub fn eco(self) -> &'static str {
        self.as_str().get(..CODE_LEN).unwrap_or_default()
    }

    /// The code and the name.
    pub fn parts(self) -> (&'static str, &'static str) {
        (self.eco(), self.name())
    }

    /// The name, mostly with a variation after a colon.
    pub fn name(self) -> &'static str {
        self.as_str().get(CODE_LEN + 1..).unwrap_or_default()
    }
}

/// The key of an entry of [`POSITIONS`].
const fn key_of(&[a, b, c, d, e, f, g, h, ..]: &[u8; POSITION_LEN]) -> u64 {
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// The bucket of a key.
const fn bucket_of(key: u64) -> usize {
    (key >> (u64::BITS - BUCKET_BITS)) as usize
}

/// All openings, by code and name.
#[doc(hidden)]
pub fn all() -> impl Iterator<Item = Opening> {
    let mut offset = 0;
    NAMES.lines().map(move |line| {
        let opening = Opening { offset };
        offset += u32::try_from(line.len()).unwrap_or(u32::MAX) + 1;
        opening
    })
}

/// The named lines: code, name, and the moves in SAN.
pub fn lines() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    LINES.lines().skip(1).filter_map(|line| {
        let (eco, rest) = line.split_once('\t')?;
        let (name, moves) = rest.split_once('\t')?;
        Some((eco, name, moves))
    })
}

impl fmt::Display for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Opening {
    /// An object with `eco` and `name`.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut object = serializer.serialize_struct("Opening", 2)?;
        object.serialize_field("eco", self.eco())?;
        object.serialize_field("name", self.name())?;
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;
    use shakmaty::zobrist::Zobrist64;
    use shakmaty::{CastlingMode, EnPassantMode, Position as _};
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::path::Path;

    /// The list: code and name as they are shown, and the game of the moves.
    fn lines() -> impl Iterator<Item = (String, Game)> {
        LINES.lines().skip(1).map(|line| {
            let fields: Vec<_> = line.split('\t').collect();
            let &[eco, name, moves] = &fields[..] else { panic!("{line}") };
            let mut game = Game::start();
            notation::play(moves, &mut game).unwrap_or_else(|wrong| panic!("{line}: {wrong}"));
            (format!("{eco} {name}"), game)
        })
    }

    /// The contents of `names.txt` and `positions.bin`.
    fn made() -> (String, Vec<u8>) {
        let mut names: BTreeMap<String, u32> = lines().map(|(name, _)| (name, 0)).collect();
        let mut text = String::new();
        for (name, offset) in &mut names {
            *offset = u32::try_from(text.len()).unwrap();
            text += name;
            text.push('\n');
        }
        let mut keys = BTreeMap::new();
        for (name, game) in lines() {
            let Zobrist64(key) = game.position().chess().zobrist_hash(EnPassantMode::Legal);
            assert_eq!(keys.insert(key, names[&name]), None, "two lines lead to one position: {name}");
        }
        let bytes = keys
            .into_iter()
            .flat_map(|(key, offset)| [&key.to_be_bytes()[..], &offset.to_be_bytes()].concat());
        (text, bytes.collect())
    }

    #[test]
    fn the_tables_are_those_of_the_list() {
        let (names, positions) = made();
        // scripts/make-opening-names sets this, and runs the test again with the new tables.
        if std::env::var_os("TABIYA_MAKE_OPENING_NAMES").is_some() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/openings");
            fs::write(folder.join("names.txt"), names).unwrap();
            return fs::write(folder.join("positions.bin"), positions).unwrap();
        }
        let hint = "scripts/make-opening-names makes the tables";
        assert!(names == NAMES && positions == POSITIONS.as_flattened(), "{hint}");
        assert_eq!(POSITIONS.len(), LINES.lines().count() - 1);
    }

    #[test]
    fn each_line_has_its_own_name() {
        let mut codes = BTreeSet::new();
        for (name, game) in lines() {
            let found = Opening::at(game.position()).unwrap_or_else(|| panic!("{name}"));
            assert_eq!((found.to_string(), Opening::from_game(&game)), (name.clone(), Some(found)));
            assert_eq!(format!("{} {}", found.eco(), found.name()), name);
            codes.insert(found.eco());
        }
        assert!(codes.len() > 400, "{codes:?}");
    }

    #[test]
    fn a_line_has_the_name_of_its_last_named_position() {
        let of = |moves: &str| {
            let mut game = Game::start();
            notation::play(moves, &mut game).unwrap();
            Opening::from_game(&game).map(|opening| opening.to_string())
        };
        assert_eq!(of(""), None);
        assert_eq!(of("e4").unwrap(), "B00 King's Pawn Game");
        assert_eq!(
            of("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6").unwrap(),
            "B90 Sicilian Defense: Najdorf Variation"
        );
        let late = of("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 a4 h5 h4 Rh6");
        assert_eq!(late, of("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 a4"));
        // By other moves, with the same position at the end.
        assert_eq!(of("Nf3 d5 d4 Nf6 c4 e6 Nc3 Be7"), of("d4 d5 c4 e6 Nc3 Nf6 Nf3 Be7"));
    }

    #[test]
    fn an_en_passant_square_counts_only_where_the_capture_is_legal() {
        let at = |fen: &str| Position::from_fen(fen.as_bytes(), CastlingMode::Standard).unwrap();
        let board = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq";
        let sicilian = Opening::at(&at(&format!("{board} - 0 2")));
        assert_eq!(sicilian.unwrap().to_string(), "B20 Sicilian Defense");
        assert_eq!(Opening::at(&at(&format!("{board} c6 0 2"))), sicilian);
        // The pawn on e5 is pinned: the key has the square, and the opening has not.
        let (pinned, plain) =
            (at("4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1"), at("4r1k1/8/8/3pP3/8/8/8/4K3 w - - 0 1"));
        assert_ne!(pinned.key(), plain.key());
        assert_eq!((Opening::at(&pinned), Opening::at(&plain)), (None, None));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn codes_are_those_of_the_list() {
        assert!(is_eco("E99") && !is_eco("e99") && !is_eco("E9"));
        assert!(super::lines().all(|(code, ..)| is_eco(code)));
    }

    #[test]
    fn json_has_code_and_name() {
        let mut game = Game::start();
        notation::play("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6", &mut game).unwrap();
        let json = serde_json::to_string(&Opening::from_game(&game)).unwrap();
        assert_eq!(json, r#"{"eco":"B90","name":"Sicilian Defense: Najdorf Variation"}"#);
    }
}
