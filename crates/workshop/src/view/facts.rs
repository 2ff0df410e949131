//! What a book knows of a move, under the JSON keys that are promised.

use serde::ser::{Serialize, SerializeMap, Serializer};

use tabiya_book::{MoveFacts, Recommendation};

/// What a book knows of a move besides its weight; null where the format does not have it.
#[derive(Debug)]
pub struct Facts<'a, M>(pub &'a MoveFacts<M>);

impl<M> Serialize for Facts<'_, M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(MoveFacts { counts, annotation, recommended, learned, ratings, factor, .. }) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("games", &counts.map(|counts| counts.games))?;
        map.serialize_entry("wins", &counts.map(|counts| counts.wins))?;
        map.serialize_entry("draws", &counts.map(|counts| counts.draws))?;
        map.serialize_entry("losses", &counts.map(|counts| counts.losses))?;
        map.serialize_entry("annotation", &annotation.map(|mark| mark.as_str()))?;
        map.serialize_entry("recommended", &recommended.map(Recommendation::is_green))?;
        map.serialize_entry("learn", learned)?;
        // Left out if the format has none.
        if ratings.is_some() {
            map.serialize_entry("ratings", ratings)?;
        }
        if factor.is_some() {
            map.serialize_entry("factor", factor)?;
        }
        map.end()
    }
}
