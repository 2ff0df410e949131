//! What an `info` line says of one line of a search.

use super::{Score, split_word};

/// The parts of an `info` line that say how far a search is, and what it found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info<'a> {
    /// The number of the line of play, from 0: the best one is the first. `None` if it is not a number from 1.
    pub place: Option<usize>,
    /// The depth in plies.
    pub depth: Option<u64>,
    /// The depth of the deepest line.
    pub seldepth: Option<u64>,
    /// The nodes.
    pub nodes: Option<u64>,
    /// Nodes a second.
    pub nps: Option<u64>,
    /// Milliseconds since the search began.
    pub time: Option<u64>,
    /// The score of this line; `None` where it is only a bound.
    pub score: Option<Score>,
    /// The text with the moves.
    pub pv: &'a [u8],
}

impl<'a> Info<'a> {
    /// Reads a line; nothing is known from one that is no `info` line.
    ///
    /// ```
    /// use tabiya::uci::{Info, Score};
    /// let info = Info::parse(b"info depth 9 seldepth 12 score cp -31 nodes 512 pv e2e4 nodes");
    /// assert_eq!((info.depth, info.nodes, info.best()), (Some(9), Some(512), Some(Score::Centipawns(-31))));
    /// assert_eq!(info.pv, b"e2e4 nodes");
    /// ```
    pub fn parse(line: &'a [u8]) -> Self {
        let mut info = Self::default();
        let mut rest = line;
        let mut next = || {
            let (word, after) = split_word(rest);
            rest = after;
            word
        };
        if next() != b"info" {
            return info;
        }
        info.place = Some(0);
        let mut is_bound = false;
        loop {
            match next() {
                b"depth" => info.depth = number(next()),
                b"seldepth" => info.seldepth = number(next()),
                b"nodes" => info.nodes = number(next()),
                b"nps" => info.nps = number(next()),
                b"time" => info.time = number(next()),
                b"multipv" => info.place = number::<usize>(next()).and_then(|place| place.checked_sub(1)),
                b"score" => info.score = Score::of_words(next(), next()),
                b"lowerbound" | b"upperbound" => is_bound = true,
                b"pv" => {
                    info.pv = rest;
                    break;
                }
                // Texts and moves may contain any words.
                b"string" | b"refutation" | b"currline" | b"" => break,
                _ => {}
            }
        }
        info.score = info.score.filter(|_| !is_bound);
        info
    }

    /// The score, if this is the best line of the search.
    pub fn best(&self) -> Option<Score> {
        self.score.filter(|_| self.place == Some(0))
    }
}

fn number<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}
