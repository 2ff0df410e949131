//! A position and its entries as a line of JSON, in the names that `show --json` has.

use std::io::{self, Write};

use serde::Serialize;

use super::tsv;
use crate::book::Known;

#[derive(Serialize)]
struct Line<'a> {
    key: String,
    fen: Option<String>,
    comment: Option<&'a str>,
    moves: Vec<MoveLine>,
}

#[derive(Serialize)]
struct MoveLine {
    uci: String,
    weight: u64,
    games: Option<u64>,
    wins: Option<u64>,
    draws: Option<u64>,
    losses: Option<u64>,
    annotation: Option<&'static str>,
    recommended: Option<bool>,
    learn: Option<Learn>,
}

#[derive(Serialize)]
struct Learn {
    games: u32,
    halfpoints: u32,
}

/// Writes the line.
pub fn line(known: &Known, out: &mut dyn Write) -> io::Result<()> {
    let text = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut text = Vec::new();
        write(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    };
    let moves = known.moves.iter().map(|entry| MoveLine {
        uci: text(&|text| tsv::uci(entry.mv, text)),
        weight: entry.weight,
        games: entry.counts.map(|counts| counts.games),
        wins: entry.counts.map(|counts| counts.wins),
        draws: entry.counts.map(|counts| counts.draws),
        losses: entry.counts.map(|counts| counts.losses),
        annotation: entry.annotation.map(|mark| mark.as_str()),
        recommended: entry.recommended,
        learn: entry.learned.map(|learned| Learn { games: learned.games, halfpoints: learned.halfpoints }),
    });
    let line = Line {
        key: format!("{:016x}", known.key),
        fen: known.position.as_ref().map(|position| position.fen()),
        comment: known.comment.as_deref(),
        moves: moves.collect(),
    };
    serde_json::to_writer(&mut *out, &line)?;
    writeln!(out)
}
