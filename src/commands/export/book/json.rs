//! A position and its entries as a line of JSON, with the keys of `show --json`.

use std::io::{self, Write};

use serde::Serialize;

use tabiya_book::PositionRecord;
use tabiya_chess::openings::Opening;
use tabiya_chess::{MoveCode, Variant};
use tabiya_workshop::view::Facts;

use super::tsv::Castlings;
use crate::output::rows;

#[derive(Serialize)]
struct Line<'a> {
    key: String,
    fen: Option<String>,
    opening: Option<Opening>,
    comment: Option<&'a str>,
    moves: Vec<MoveLine<'a>>,
}

#[derive(Serialize)]
struct MoveLine<'a> {
    uci: String,
    weight: u64,
    #[serde(flatten)]
    facts: Facts<'a, MoveCode>,
}

pub fn line(
    known: &PositionRecord,
    variant: Variant,
    castlings: &Castlings,
    out: &mut dyn Write,
) -> io::Result<()> {
    let with_key = || Opening::with_key(known.key).filter(|_| variant == Variant::Chess);
    let moves = known.moves.iter().map(|entry| MoveLine {
        uci: castlings.uci(known, entry.mv).to_string(),
        weight: entry.weight,
        facts: Facts(entry),
    });
    let line = Line {
        key: format!("{:016x}", known.key),
        fen: known.position.as_ref().map(|position| position.fen()),
        opening: known.position.as_ref().map_or_else(with_key, Opening::at),
        comment: known.comment.as_deref(),
        moves: moves.collect(),
    };
    rows::json(&line, out)
}
