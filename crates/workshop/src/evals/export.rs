//! Writing evaluations as EPD (docs/formats/evals.md, EPD).

use std::io::{self, Write};

use shakmaty::san::SanPlus;

use tabiya_book::MoveFacts;
use tabiya_chess::{MoveCode, Position};
use tabiya_search::evals::Evaluation;
use tabiya_uci::Score;

/// The score of a mate in no plies in the operation `ce`; each ply is one less (the PGN standard, 16.2.5.5).
pub(crate) const MATED: i64 = 32767;

/// Greater scores mean mates.
pub(crate) const MIN_MATE: i64 = 32000;

/// Writes a position with its evaluation: `ce`, `dm` of a mate, and `acd`, `acn`, `wdl`, `pm` as far as they are known.
///
/// # Errors
/// When `out` cannot be written.
pub fn epd(at: &Position, evaluation: &Evaluation, out: &mut dyn Write) -> io::Result<()> {
    let &Evaluation { score, depth, nodes, wdl, best, .. } = evaluation;
    out.write_all(at.epd().as_bytes())?;
    match score {
        Score::Centipawns(score) => write!(out, " ce {};", score.clamp(-MIN_MATE, MIN_MATE))?,
        Score::Mate(moves) if moves > 0 => {
            write!(out, " ce {}; dm {moves};", (MATED + 1 - moves * 2).max(MIN_MATE + 1))?;
        }
        Score::Mate(moves) => write!(out, " ce {};", (-MATED - moves * 2).min(-MIN_MATE - 1))?,
    }
    if depth > 0 {
        write!(out, " acd {depth};")?;
    }
    if nodes > 0 {
        write!(out, " acn {nodes};")?;
    }
    if let Some(wdl) = wdl {
        write!(out, " wdl \"{wdl}\";")?;
    }
    // A move of a damaged store may not be legal.
    if best != MoveCode::NULL
        && let Some(facts) = MoveFacts::new(best, 0).at(at)
    {
        write!(out, " pm {};", SanPlus::from_move(at.chess().clone(), facts.mv))?;
    }
    writeln!(out)
}
