//! What a book says of moves, as whatever serde writes. Names and marks are those of `tabiya show --json`.

use serde::ser::{Serialize, SerializeStruct as _, Serializer};
use shakmaty::{CastlingMode, File, Move};

use crate::{Annotation, MoveFacts, Recommendation};

impl Serialize for Annotation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Serialize for Recommendation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Serialize for MoveFacts {
    /// The move is written as UCI has it. Castling is two steps of the king, unless only Chess960 has king and rook there.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { mv, weight, counts, annotation, recommended, learned, ratings, factor, decision: _ } =
            self;
        let mut all = serializer.serialize_struct("MoveFacts", 8)?;
        all.serialize_field("uci", &mv.to_uci(mode_of(*mv)).to_string())?;
        all.serialize_field("weight", weight)?;
        all.serialize_field("counts", counts)?;
        all.serialize_field("annotation", annotation)?;
        all.serialize_field("recommended", recommended)?;
        all.serialize_field("learned", learned)?;
        all.serialize_field("ratings", ratings)?;
        all.serialize_field("factor", factor)?;
        all.end()
    }
}

/// How a move is written.
fn mode_of(mv: Move) -> CastlingMode {
    let other = match mv {
        Move::Castle { king, rook } => king.file() != File::E || !matches!(rook.file(), File::A | File::H),
        _ => false,
    };
    CastlingMode::from_chess960(other)
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;
    use crate::{Counts, Learned, Ratings};

    #[test]
    fn what_is_known_of_a_move_has_one_form() {
        let mv = Move::Castle { king: Square::E1, rook: Square::H1 };
        let facts = MoveFacts {
            counts: Some(Counts { games: 4, wins: 2, draws: 1, losses: 0 }),
            annotation: Some(Annotation::Interesting),
            recommended: Some(Recommendation::Green),
            learned: Some(Learned { games: 1, halfpoints: 2 }),
            ratings: Some(Ratings { average: Some(2400), performance: None }),
            factor: Some(-3),
            ..MoveFacts::new(mv, 7)
        };
        let json = r#"{"uci":"e1g1","weight":7,"counts":{"games":4,"wins":2,"draws":1,"losses":0},"annotation":"!?","recommended":"green","learned":{"games":1,"halfpoints":2},"ratings":{"average":2400,"performance":null},"factor":-3}"#;
        assert_eq!(serde_json::to_string(&facts).unwrap(), json);
        let other = MoveFacts::new(Move::Castle { king: Square::B1, rook: Square::C1 }, 1);
        assert!(
            serde_json::to_string(&other).unwrap().starts_with(r#"{"uci":"b1c1","weight":1,"counts":null"#)
        );
    }
}
