//! Writing a suite as EPD or PGN, and summing it up.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use shakmaty::{Color, Position as _};

use tabiya_chess::MoveCode;
use tabiya_chess::openings::Opening;
use tabiya_games::export::{PgnHead, PgnWriter, San};
use tabiya_uci::{Score, Wdl};

use super::starts::Start;
use crate::view::{PositionLine, san};

/// Draws in per cent between two bars of a histogram.
const DRAWS_BAR: u16 = 10;

/// Centipawns between two bars of a histogram.
const BAR: i64 = 20;

/// A position of a suite, as it is written.
#[derive(Clone, Debug)]
pub struct SuiteEntry {
    /// What its line begins with.
    pub start: Start,
    /// The moves of its line from there.
    pub line: Vec<MoveCode>,
    /// The opening.
    pub opening: Option<Opening>,
    /// What an engine thinks of it, for the side to move.
    pub score: Option<Score>,
    /// How an engine expects games from it to end, for the side to move.
    pub wdl: Option<Wdl>,
}

/// Writes a position as EPD: its four fields, the evaluation in centipawns (`ce`) and the wins, draws and losses in thousandths
/// (`wdl`) for the side to move as far as they are known, and the line as a comment (`c0`), or the name of the start (`id`).
///
/// # Errors
/// When `out` cannot be written.
pub fn epd(entry: &SuiteEntry, out: &mut dyn Write) -> io::Result<()> {
    let PositionLine { at, text } = PositionLine::after(&entry.start.position(), entry.line.iter().copied());
    write!(out, "{}", at.epd())?;
    if let Some(Score::Centipawns(score)) = entry.score {
        write!(out, " ce {score};")?;
    }
    if let Some(wdl) = entry.wdl {
        write!(out, " wdl \"{wdl}\";")?;
    }
    if entry.start.is_chess960() {
        write!(out, " id \"{}\";", entry.start)?;
    }
    if !entry.start.is_chess960() || !text.is_empty() {
        write!(out, " c0 \"{text}\";")?;
    }
    writeln!(out)
}

/// Writes the line to a position as a game of PGN without a result.
///
/// # Errors
/// When `out` cannot be written.
pub fn pgn(entry: &SuiteEntry, number: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = PgnWriter::default();
    let (round, event, start) = (number.to_string(), entry.start.to_string(), entry.start.position());
    let fen = entry.start.is_chess960().then(|| start.fen());
    writer.head(&PgnHead {
        event: &event,
        round: &round,
        start: fen.as_deref(),
        variant: entry.start.variant(),
        chess960: entry.start.is_chess960(),
        opening: entry.opening.map(Opening::parts),
        ..PgnHead::default()
    });
    writer.begin_moves();
    for (at, mv) in start.replay(entry.line.iter().copied()) {
        let black = at.chess().turn().is_black();
        if !black {
            writer.number(at.chess().fullmoves().into(), black);
        }
        writer.san(San::new(san(&at, mv).as_bytes()));
    }
    writer.end_moves("*");
    out.write_all(writer.text())
}

/// What a suite has.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SuiteSummary {
    /// Positions.
    pub positions: usize,
    /// Positions of each opening, by code and name.
    pub openings: BTreeMap<String, usize>,
    /// Positions after each number of plies.
    pub plies: BTreeMap<usize, usize>,
    /// Positions by their evaluation in centipawns for White: the least of each bar.
    pub evaluations: BTreeMap<i64, usize>,
    /// Positions by the draws that engines expect, in per cent: the least of each bar.
    pub draw_rates: BTreeMap<u16, usize>,
    /// Positions that are not evaluated.
    pub not_evaluated: usize,
}

impl SuiteSummary {
    /// Sums entries up.
    pub fn from_entries<'a>(entries: impl IntoIterator<Item = &'a SuiteEntry>) -> Self {
        let mut summary = Self::default();
        for entry in entries {
            summary.positions += 1;
            let opening = entry.opening.map_or_else(|| "none".to_owned(), |opening| opening.to_string());
            *summary.openings.entry(opening).or_default() += 1;
            *summary.plies.entry(entry.line.len()).or_default() += 1;
            let turn = if entry.line.len().is_multiple_of(2) { Color::White } else { Color::Black };
            match entry.score {
                Some(Score::Centipawns(score)) => {
                    let score = turn.fold_wb(score, -score);
                    *summary.evaluations.entry(score.div_euclid(BAR) * BAR).or_default() += 1;
                }
                _ => summary.not_evaluated += 1,
            }
            if let Some(wdl) = entry.wdl {
                let draws = wdl.draws() / (Wdl::WHOLE / 100);
                *summary.draw_rates.entry(draws / DRAWS_BAR * DRAWS_BAR).or_default() += 1;
            }
        }
        summary
    }
}

#[cfg(test)]
mod tests {
    use tabiya_chess::{Game, Variant};

    use super::*;

    fn entry(moves: &[&str], score: Option<i64>) -> SuiteEntry {
        let mut game = Game::start();
        moves.iter().for_each(|mv| assert!(game.push_uci(mv.as_bytes())));
        let line = game.moves().iter().map(|mv| MoveCode::from_move(*mv)).collect();
        SuiteEntry {
            start: Start::Usual(Variant::Chess),
            line,
            opening: Opening::from_game(&game),
            score: score.map(Score::Centipawns),
            wdl: None,
        }
    }

    #[test]
    fn a_position_is_a_line_of_epd_or_a_game() {
        let entry = entry(&["e2e4", "e7e5", "g1f3"], Some(-31));
        let mut out = Vec::new();
        epd(&entry, &mut out).unwrap();
        let fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq -";
        assert_eq!(String::from_utf8(out).unwrap(), format!("{fen} ce -31; c0 \"1. e4 e5 2. Nf3\";\n"));
        let mut out = Vec::new();
        pgn(&entry, 7, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("[Round \"7\"]") && text.contains("[ECO \"C40\"]"), "{text}");
        assert!(text.ends_with("\n\n1. e4 e5 2. Nf3 *\n\n"), "{text:?}");
    }

    #[test]
    fn draws_are_written_and_counted_by_ten_per_cent() {
        let with = |draws| SuiteEntry { wdl: Wdl::new(20, draws), ..entry(&["e2e4"], Some(5)) };
        let mut out = Vec::new();
        epd(&with(940), &mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().contains(" ce 5; wdl \"20 940 40\"; c0 "));
        let summary = SuiteSummary::from_entries(&[with(940), with(900), with(899), entry(&[], None)]);
        assert_eq!(summary.draw_rates, [(80, 1), (90, 2)].into());
    }

    #[test]
    fn evaluations_are_counted_for_white() {
        let entries = [entry(&["e2e4"], Some(-31)), entry(&["e2e4", "e7e5"], Some(-5)), entry(&[], None)];
        let summary = SuiteSummary::from_entries(&entries);
        assert_eq!(summary.evaluations, [(20, 1), (-20, 1)].into());
        assert_eq!((summary.positions, summary.not_evaluated), (3, 1));
        assert_eq!(summary.plies, [(0, 1), (1, 1), (2, 1)].into());
    }
}
