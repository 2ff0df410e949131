//! What an `info` line says of the best line of a search.

use super::{Score, words};

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
        let mut info = Self { score: Score::parse(line), ..Self::default() };
        let mut words = words(line);
        if words.next() != Some(b"info") {
            return info;
        }
        let number = |word: Option<&[u8]>| std::str::from_utf8(word?).ok()?.parse().ok();
        while let Some(word) = words.next() {
            match word {
                b"depth" => info.depth = number(words.next()),
                b"nodes" => info.nodes = number(words.next()),
                // Texts and moves may contain any words.
                b"string" | b"pv" | b"refutation" | b"currline" => break,
                _ => {}
            }
        }
        info
    }
}
