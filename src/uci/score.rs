//! The score in an `info` line.

use super::Info;

/// What an engine thinks of its position, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Hundredths of a pawn.
    Centipawns(i64),
    /// Moves to the mate: above 0 the side to move mates, else it is mated.
    Mate(i64),
}

impl Score {
    /// The score of an `info` line; `None` where there is none, or only a bound, or the score of another line than the
    /// best.
    ///
    /// ```
    /// use tabiya::uci::Score;
    /// assert_eq!(Score::parse(b"info depth 9 score cp -31 nodes 5 pv e2e4"), Some(Score::Centipawns(-31)));
    /// assert_eq!(Score::parse(b"info depth 9 score cp 20 lowerbound"), None);
    /// ```
    pub fn parse(line: &[u8]) -> Option<Self> {
        Info::parse(line).best()
    }

    /// The score of the two words after `score`.
    pub(super) fn of_words(kind: &[u8], number: &[u8]) -> Option<Self> {
        let number = std::str::from_utf8(number).ok()?.parse().ok()?;
        match kind {
            b"cp" => Some(Self::Centipawns(number)),
            b"mate" => Some(Self::Mate(number)),
            _ => None,
        }
    }

    /// The last score in a block of whole lines.
    pub(crate) fn parse_last(block: &[u8]) -> Option<Self> {
        block.rsplit(|byte| *byte == b'\n').find_map(Self::parse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_scores_of_the_best_line_count() {
        for (line, score) in [
            ("info depth 1 seldepth 2 multipv 1 score cp 13 nodes 20 pv e2e4", Some(Score::Centipawns(13))),
            ("info score mate -3 depth 5\r\n", Some(Score::Mate(-3))),
            ("info score cp 13 upperbound nodes 1", None),
            ("info multipv 2 score cp 13", None),
            ("info string score cp 13", None),
            ("info depth 3 score cp 7 string lowerbound", Some(Score::Centipawns(7))),
            ("info depth 3 score", None),
            ("info depth 3 score cp x", None),
            ("info depth 3 score wdl 3", None),
            ("bestmove e2e4", None),
            ("", None),
        ] {
            assert_eq!(Score::parse(line.as_bytes()), score, "{line}");
        }
        let block = b"info score cp 1\ninfo score mate 2\ninfo depth 3 currmove e2e4\n";
        assert_eq!(Score::parse_last(block), Some(Score::Mate(2)));
        assert_eq!(Score::parse_last(b"\n"), None);
    }
}
