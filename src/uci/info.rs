//! What an `info` line says of the best line of a search: how far it is, and its score.

use super::{number, words};

/// The parts of an `info` line that say how far a search is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// The depth in plies.
    pub depth: Option<u64>,
    /// The nodes.
    pub nodes: Option<u64>,
    /// The score, as [`Score::parse`] reads it.
    pub score: Option<Score>,
}

impl Info {
    /// Reads a line; nothing is known from one that is no `info` line.
    ///
    /// ```
    /// use tabiya::uci::{Info, Score};
    /// let info = Info::parse(b"info depth 9 seldepth 12 score cp -31 nodes 512 pv e2e4 nodes");
    /// assert_eq!(info, Info { depth: Some(9), nodes: Some(512), score: Some(Score::Centipawns(-31)) });
    /// ```
    pub fn parse(line: &[u8]) -> Self {
        let mut info = Self::default();
        let mut words = words(line);
        if words.next() != Some(b"info") {
            return info;
        }
        // Whether the score is exact, and that of the best line.
        let mut counts = true;
        while let Some(word) = words.next() {
            match word {
                b"depth" => info.depth = number(words.next()),
                b"nodes" => info.nodes = number(words.next()),
                b"score" => {
                    let (kind, value) = (words.next(), number(words.next()));
                    counts &= value.is_some();
                    info.score = match kind {
                        Some(b"cp") => value.map(Score::Centipawns),
                        Some(b"mate") => value.map(Score::Mate),
                        _ => None,
                    };
                }
                b"lowerbound" | b"upperbound" => counts = false,
                b"multipv" => counts &= words.next() == Some(b"1"),
                // Texts and moves may contain any words.
                b"string" | b"pv" | b"refutation" | b"currline" => break,
                _ => {}
            }
        }
        info.score = info.score.filter(|_| counts);
        info
    }
}

/// What an engine thinks of its position, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Hundredths of a pawn.
    Centipawns(i64),
    /// Moves to the mate: above 0 the side to move mates, else it is mated.
    Mate(i64),
}

/// What a decided game is worth in [`Score::value`], in centipawns: a hundred pawns.
const DECIDED: i64 = 10_000;

impl Score {
    /// The score in centipawns, to be compared with others: at most 10,000 either way. A mate is that much, however far
    /// it is.
    pub fn value(self) -> i64 {
        match self {
            Self::Centipawns(score) => score.clamp(-DECIDED, DECIDED),
            Self::Mate(moves) => {
                if moves > 0 {
                    DECIDED
                } else {
                    -DECIDED
                }
            }
        }
    }

    /// The score of an `info` line; `None` where there is none, or only a bound, or the score of another line than the
    /// best.
    ///
    /// ```
    /// use tabiya::uci::Score;
    /// assert_eq!(Score::parse(b"info depth 9 score cp -31 nodes 5 pv e2e4"), Some(Score::Centipawns(-31)));
    /// assert_eq!(Score::parse(b"info depth 9 score cp 20 lowerbound"), None);
    /// ```
    pub fn parse(line: &[u8]) -> Option<Self> {
        Info::parse(line).score
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
    fn all_mates_are_worth_the_same() {
        let values = [Score::Mate(1), Score::Mate(9), Score::Centipawns(i64::MAX)].map(Score::value);
        assert_eq!(values, [10_000; 3]);
        let values = [Score::Mate(0), Score::Mate(-4), Score::Centipawns(i64::MIN)].map(Score::value);
        assert_eq!(values, [-10_000; 3]);
        assert_eq!(Score::Centipawns(-31).value(), -31);
    }

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
