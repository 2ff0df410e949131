//! A gap as a game of PGN, with what a player wants to know of it as comments.

use std::io::{self, Write};

use shakmaty::{CastlingMode, Position as _};

use tabiya_book::Moves;
use tabiya_chess::Position;
use tabiya_chess::openings::Opening;
use tabiya_games::export::{PgnHead, PgnWriter, San};

use super::{Gaps, ReachedPosition, in_words, plays};
use crate::expected::Expected;
use crate::view::san;

/// Moves that are named in a comment.
const NAMED: usize = 4;

/// Writes the line to a gap as a game, which ends there. `name` is that of the book, and `number` that of the gap.
///
/// # Errors
/// When `out` cannot be written.
pub fn pgn(
    gaps: &Gaps,
    gap: &ReachedPosition,
    (name, number): (&str, usize),
    (book, expected): (&dyn Moves, &Expected<'_>),
    out: &mut dyn Write,
) -> io::Result<()> {
    let start = gaps.start.start_position();
    let usual = Position::start_of(start.variant());
    let fen = (start.epd() != usual.epd()).then(|| start.fen());
    let (event, round) = (in_words(gap.share), number.to_string());
    let moves = gaps.moves(gap);
    let steps: Vec<_> = start.clone().replay(moves).collect();
    let end = steps.last().map_or_else(|| start.clone(), |(at, mv)| at.after(*mv));
    let opening = steps.iter().rev().find_map(|(at, mv)| Opening::at(&at.after(*mv)));
    let (white, black) = gaps.side.fold_wb((name, ""), ("", name));
    let mut writer = PgnWriter::default();
    writer.head(&PgnHead {
        event: &event,
        round: &round,
        white,
        black,
        start: fen.as_deref(),
        variant: start.variant(),
        chess960: fen.is_some() && start.chess().castles().mode() == CastlingMode::Chess960,
        opening: opening.map(Opening::parts),
        ..PgnHead::default()
    });
    writer.begin_moves();
    let (begun, mut numbered, mut expects) = (gaps.start.moves().len(), true, Vec::new());
    for (ply, (at, mv)) in steps.iter().enumerate() {
        let black = at.chess().turn().is_black();
        if numbered || !black {
            writer.number(at.chess().fullmoves().into(), black);
        }
        writer.san(San::new(san(at, *mv).as_bytes()));
        numbered = false;
        if ply < begun {
            continue;
        }
        let chance = if at.chess().turn() == gaps.side {
            plays(book, at).into_iter().find(|(known, _)| known == mv).map(|(_, chance)| chance)
        } else {
            expected.moves(at, &mut expects);
            expects.iter().find(|reply| reply.mv == *mv).map(|reply| reply.chance)
        };
        let chance = chance.filter(|chance| *chance < 0.9995);
        let chance = chance.map_or_else(String::new, |chance| format!("{:.1}%", chance * 100.0));
        let between = if chance.is_empty() { "" } else { ", " };
        numbered = match ply + 1 == steps.len() {
            true => writer.comment(&(chance + between + &last_words(gap, name, &end, expected))),
            false => writer.comment(&chance),
        };
    }
    if steps.len() <= begun {
        writer.comment(&last_words(gap, name, &end, expected));
    }
    writer.end_moves("*");
    out.write_all(writer.text())
}

/// What is said where the book has no answer.
fn last_words(gap: &ReachedPosition, name: &str, end: &Position, expected: &Expected<'_>) -> String {
    let mut expects = Vec::new();
    expected.moves(end, &mut expects);
    let named = expects.iter().take(NAMED);
    let named: Vec<_> =
        named.map(|reply| format!("{} {:.0}%", san(end, reply.mv), reply.chance * 100.0)).collect();
    let games = gap.games.filter(|games| *games > 0).map_or_else(String::new, |games| format!(" ({games})"));
    let played =
        if named.is_empty() { String::new() } else { format!(" Played here: {}.", named.join(", ")) };
    format!("{}{games}: {name} has no answer.{played}", in_words(gap.share))
}
