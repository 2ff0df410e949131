//! What an `info` line says of one line of a search, and its score.

use std::fmt;

use super::split_word;

/// The parts of an `info` line that say how far a search is, and what it found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info<'a> {
    /// The number of the line of play, from 0: the best one is the first. `None` if it is not a number from 1.
    pub place: Option<usize>,
    /// The depth in plies.
    pub depth: Option<u64>,
    /// The depth of the deepest line.
    pub seldepth: Option<u64>,
    pub nodes: Option<u64>,
    pub nps: Option<u64>,
    /// Milliseconds since the search began.
    pub time: Option<u64>,
    /// The score of this line; `None` where it is only a bound.
    pub score: Option<Score>,
    /// How the engine expects the game to end; `None` unless it comes with a score that is not a bound.
    pub wdl: Option<Wdl>,
    /// The text with the moves.
    pub pv: &'a [u8],
}

impl<'a> Info<'a> {
    /// Reads a line; nothing is known from one that is no `info` line.
    ///
    /// ```
    /// use tabiya_uci::{Info, Score};
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
                b"wdl" => info.wdl = Wdl::of_words([next(), next(), next()]),
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
        info.wdl = info.wdl.filter(|_| info.score.is_some());
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

/// What an engine thinks of its position, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Hundredths of a pawn.
    Centipawns(i64),
    /// Moves to the mate: above 0 the side to move mates, else it is mated.
    Mate(i64),
}

/// How an engine expects the game to end, for the side to move, in thousandths; the losses are the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wdl {
    wins: u16,
    draws: u16,
}

impl Wdl {
    /// The whole, in thousandths.
    pub const WHOLE: u16 = 1000;

    /// These wins and draws in thousandths; `None` if they are more than the whole.
    pub fn new(wins: u16, draws: u16) -> Option<Self> {
        Some(Self { wins, draws }).filter(|_| wins.checked_add(draws).is_some_and(|sum| sum <= Self::WHOLE))
    }

    /// The three numbers after `wdl`, which add up to a thousand in most engines.
    ///
    /// ```
    /// use tabiya_uci::{Info, Wdl};
    /// let info = Info::parse(b"info depth 9 score cp 31 wdl 90 860 50 nodes 512 pv e2e4");
    /// assert_eq!(info.wdl, Wdl::new(90, 860));
    /// ```
    fn of_words(words: [&[u8]; 3]) -> Option<Self> {
        let [wins, draws, losses] = words.map(number::<u16>);
        let (wins, draws, losses) = (u32::from(wins?), u32::from(draws?), u32::from(losses?));
        let whole = wins + draws + losses;
        let share = |part: u32| u16::try_from((part * 1000).checked_div(whole)?).ok();
        Self::new(share(wins)?, share(draws)?)
    }

    /// Reads what [`fmt::Display`] writes, such as `90 860 50`.
    pub fn of_text(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace().map(str::as_bytes);
        Self::of_words([words.next()?, words.next()?, words.next()?])
    }

    /// Wins of the side to move.
    pub fn wins(self) -> u16 {
        self.wins
    }

    pub fn draws(self) -> u16 {
        self.draws
    }

    /// Losses of the side to move.
    pub fn losses(self) -> u16 {
        Self::WHOLE - self.wins - self.draws
    }
}

/// Wins, draws and losses in thousandths, as in `info` lines.
impl fmt::Display for Wdl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.wins, self.draws, self.losses())
    }
}

impl Score {
    /// The score of an `info` line; `None` where there is none, or only a bound, or a score of a line that is not the best.
    ///
    /// ```
    /// use tabiya_uci::Score;
    /// assert_eq!(Score::parse(b"info depth 9 score cp -31 nodes 5 pv e2e4"), Some(Score::Centipawns(-31)));
    /// assert_eq!(Score::parse(b"info depth 9 score cp 20 lowerbound"), None);
    /// ```
    pub fn parse(line: &[u8]) -> Option<Self> {
        Info::parse(line).best()
    }

    /// The score for the other side.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Centipawns(score) => Self::Centipawns(score.saturating_neg()),
            Self::Mate(moves) => Self::Mate(moves.saturating_neg()),
        }
    }

    /// The score of the two words after `score`.
    fn of_words(kind: &[u8], number: &[u8]) -> Option<Self> {
        let number = std::str::from_utf8(number).ok()?.parse().ok()?;
        match kind {
            b"cp" => Some(Self::Centipawns(number)),
            b"mate" => Some(Self::Mate(number)),
            _ => None,
        }
    }

    /// The last score in a block of whole lines.
    pub fn parse_last(block: &[u8]) -> Option<Self> {
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
        for (line, wdl) in [
            ("info score cp 5 wdl 40 940 20 nodes 9", Wdl::new(40, 940)),
            ("info wdl 1 1 0 score mate 3", Wdl::new(500, 500)),
            ("info score cp 5 wdl 40 940 20 lowerbound", None),
            ("info wdl 40 940 20", None),
            ("info score cp 5 wdl 40 940", None),
            ("info score cp 5 wdl 0 0 0", None),
            ("info score cp 5 wdl -1 2 3", None),
            ("info score cp 5 wdl 65535 65535 65535", Wdl::new(333, 333)),
        ] {
            assert_eq!(Info::parse(line.as_bytes()).wdl, wdl, "{line}");
        }
        let block = b"info score cp 1\ninfo score mate 2\ninfo depth 3 currmove e2e4\n";
        assert_eq!(Score::parse_last(block), Some(Score::Mate(2)));
        assert_eq!(Score::parse_last(b"\n"), None);
    }
}
