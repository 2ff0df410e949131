//! The tags of a game: those of the index, and those that are stored with it.

use std::borrow::Cow;

use super::database::Scid;
use super::names::text;
use super::record::ScidRecord;
use super::stored::Stored;
use crate::{Date, GameResult};

/// A name and its value.
pub type Tag<'a> = (Cow<'a, str>, Cow<'a, str>);

/// The list of each name of a record: White, Black, event, site, round.
pub const LISTS: [usize; 5] = [0, 0, 1, 2, 3];

/// A name of a record by its place there: `?` where the database has none.
pub fn name<'a>(db: &'a Scid, record: &ScidRecord, place: usize) -> Cow<'a, str> {
    let name = record.names.get(place).zip(LISTS.get(place));
    let name = name.and_then(|(number, list)| db.names.get(*list, *number));
    name.filter(|name| !name.trim().is_empty()).unwrap_or("?".into())
}

/// The seven tags that every game has.
pub fn seven<'a>(db: &'a Scid, record: &ScidRecord) -> [(&'static str, Cow<'a, str>); 7] {
    let name = |place| name(db, record, place);
    [
        ("Event", name(2)),
        ("Site", name(3)),
        ("Date", record.date.to_string().into()),
        ("Round", name(4)),
        ("White", name(0)),
        ("Black", name(1)),
        ("Result", record.result().map_or("*", GameResult::as_pgn).into()),
    ]
}

/// All others, each name once: those of the index, those that are stored with the game in their order, and its start.
pub fn others<'a>(record: &ScidRecord, stored: Option<&Stored<'a>>) -> Vec<Tag<'a>> {
    const SEVEN: [&str; 8] = ["Event", "Site", "Date", "Round", "White", "Black", "Result", "FEN"];
    let mut tags: Vec<Tag<'a>> = Vec::new();
    for (side, black) in [("White", false), ("Black", true)] {
        let rating = record.rating(black);
        tags.extend(rating.map(|(kind, rating)| (format!("{side}{kind}").into(), rating.to_string().into())));
    }
    let eco = record.eco();
    let dates = Some(record.event_date).filter(|date| *date != Date::default());
    tags.extend(Some(("ECO".into(), eco.into())).filter(|(_, eco): &Tag<'_>| !eco.is_empty()));
    tags.extend(dates.map(|date| ("EventDate".into(), date.to_string().into())));
    for (name, value) in stored.into_iter().flat_map(Stored::tags) {
        // PGN has no other characters in names.
        let name: String = text(name).chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let is_known =
            name.is_empty() || SEVEN.contains(&&*name) || tags.iter().any(|(known, _)| *known == name);
        if !is_known {
            tags.push((name.into(), text(value)));
        }
    }
    if let Some(fen) = stored.and_then(|stored| stored.fen) {
        let is_known = |tags: &[Tag<'_>], name: &str| tags.iter().any(|(known, _)| known == name);
        if record.chess960 && !is_known(&tags, "Variant") {
            tags.push(("Variant".into(), "Chess960".into()));
        }
        if !is_known(&tags, "SetUp") {
            tags.push(("SetUp".into(), "1".into()));
        }
        tags.push(("FEN".into(), text(fen)));
    }
    tags
}
