//! What an engine says in its `info` lines.

use shakmaty::uci::UciMove;

use crate::chess::Position;
use crate::uci::{Score, words};
use crate::view::san;

/// The most moves of a line that are shown.
const PLIES_MAX: usize = 24;

/// One `info` line with a score and a line of play.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Info {
    /// The number of the line, from 0.
    pub(super) place: usize,
    /// The score for the side to move.
    pub(super) score: Option<Score>,
    /// The depth in plies.
    pub(super) depth: u64,
    /// The depth of the deepest line.
    pub(super) seldepth: Option<u64>,
    /// The nodes searched.
    pub(super) nodes: Option<u64>,
    /// Nodes a second.
    pub(super) nps: Option<u64>,
    /// Milliseconds since the search began.
    pub(super) time: Option<u64>,
    /// The moves in UCI, and in SAN.
    pub(super) line: Vec<(String, String)>,
}

impl Info {
    /// Reads a line; `None` unless it has a score and legal moves from this position.
    pub(super) fn parse(line: &[u8], at: &Position) -> Option<Self> {
        let mut words = words(line);
        if words.next() != Some(b"info") {
            return None;
        }
        let mut info = Self::default();
        while let Some(word) = words.next() {
            let mut number =
                || words.next().and_then(|word| std::str::from_utf8(word).ok()?.parse::<u64>().ok());
            match word {
                b"depth" => info.depth = number()?,
                b"seldepth" => info.seldepth = number(),
                b"nodes" => info.nodes = number(),
                b"nps" => info.nps = number(),
                b"time" => info.time = number(),
                b"multipv" => info.place = usize::try_from(number()?).ok()?.checked_sub(1)?,
                b"score" => {
                    let kind = words.next()?;
                    let value = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
                    info.score = match kind {
                        b"cp" => Some(Score::Centipawns(value)),
                        b"mate" => Some(Score::Mate(value)),
                        _ => None,
                    };
                }
                // Only a bound: the line is not searched to its end.
                b"lowerbound" | b"upperbound" | b"string" => return None,
                b"pv" => break,
                _ => {}
            }
        }
        info.score?;
        let mut position = at.clone();
        for word in words.take(PLIES_MAX) {
            let Some(mv) = UciMove::from_ascii(word).ok().and_then(|uci| uci.to_move(position.chess()).ok())
            else {
                break;
            };
            info.line.push((String::from_utf8_lossy(word).into_owned(), san(&position, mv)));
            position.play(mv);
        }
        (!info.line.is_empty()).then_some(info)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_a_score_and_moves_are_read() {
        let read = |line: &str| Info::parse(line.as_bytes(), &Position::start());
        let info = read("info depth 20 seldepth 31 multipv 2 score cp 31 nodes 5 nps 6 hashfull 7 time 8 pv e2e4 e7e5 e1e3")
            .unwrap();
        assert_eq!((info.place, info.score, info.depth), (1, Some(Score::Centipawns(31)), 20));
        assert_eq!((info.seldepth, info.nodes, info.nps, info.time), (Some(31), Some(5), Some(6), Some(8)));
        let sans: Vec<_> = info.line.iter().map(|(_, san)| san.as_str()).collect();
        assert_eq!(sans, ["e4", "e5"]);
        for line in [
            "info depth 3 score cp 3 lowerbound pv e2e4",
            "info depth 3 currmove e2e4",
            "info string score cp 3 pv e2e4",
            "info depth x score cp 3 pv e2e4",
            "info depth 3 multipv 0 score cp 3 pv e2e4",
            "info depth 3 score cp 3 pv e7e5",
            "info depth 3 score cp",
            "bestmove e2e4",
            "",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
