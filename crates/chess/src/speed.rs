//! How fast a game was played.

/// How fast a game was played, by the rule of Lichess (<https://lichess.org/faq#time-controls>): the seconds that a player
/// has for 40 moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Speed {
    /// Less than 30 s.
    UltraBullet,
    /// Less than 180 s.
    Bullet,
    /// Less than 480 s.
    Blitz,
    /// Less than 1500 s.
    Rapid,
    /// 1500 s or more.
    Classical,
    /// Days for each move, or no clock.
    Correspondence,
}

/// Moves of a game for which the time is computed.
const MOVES: u64 = 40;

/// Seconds for a move from which on a game is not played at the board: six hours.
const CORRESPONDENCE: u64 = 6 * 3600;

impl Speed {
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, speed)| *speed == self).map_or("", |(name, _)| name)
    }

    /// The speed with this name.
    ///
    /// ```
    /// use tabiya_chess::Speed;
    /// assert_eq!(Speed::named("blitz"), Some(Speed::Blitz));
    /// assert_eq!(Speed::named("fast"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, speed)| speed)
    }

    /// All speeds with their names, as options take them.
    pub const NAMES: [(&'static str, Self); 6] = [
        ("ultrabullet", Self::UltraBullet),
        ("bullet", Self::Bullet),
        ("blitz", Self::Blitz),
        ("rapid", Self::Rapid),
        ("classical", Self::Classical),
        ("correspondence", Self::Correspondence),
    ];

    /// The speed that a PGN tag `TimeControl` means; `None` if it is unknown. Its forms are `300`, `180+2`, `40/7200`,
    /// several of these with `:` between them (the first decides), `*60` (an hourglass), and `-` (no clock).
    ///
    /// ```
    /// use tabiya_chess::Speed;
    /// assert_eq!(Speed::from_pgn("180+2"), Some(Speed::Blitz));
    /// assert_eq!(Speed::from_pgn("40/7200:3600"), Some(Speed::Classical));
    /// assert_eq!(Speed::from_pgn("-"), Some(Speed::Correspondence));
    /// assert_eq!(Speed::from_pgn("?"), None);
    /// ```
    pub fn from_pgn(text: &str) -> Option<Self> {
        let text = text.trim();
        if text == "-" {
            return Some(Self::Correspondence);
        }
        let first = text.split(':').next()?.trim_start_matches('*');
        let (moves, time) = match first.split_once('/') {
            Some((moves, time)) => (Some(moves.trim().parse::<u64>().ok().filter(|&moves| moves > 0)?), time),
            None => (None, first),
        };
        let (base, increment) = time.split_once('+').unwrap_or((time, "0"));
        // Some programs write fractions of seconds.
        let seconds = |text: &str| text.trim().parse::<f64>().ok().filter(|&seconds| seconds >= 0.0);
        let (base, increment) = (seconds(base)?, seconds(increment)?);
        let base = match moves {
            Some(moves) if base / moves as f64 >= CORRESPONDENCE as f64 => return Some(Self::Correspondence),
            Some(moves) => base * MOVES as f64 / moves as f64,
            None => base,
        };
        let total = base + increment * MOVES as f64;
        Some(match total {
            total if total < 30.0 => Self::UltraBullet,
            total if total < 180.0 => Self::Bullet,
            total if total < 480.0 => Self::Blitz,
            total if total < 1500.0 => Self::Rapid,
            _ => Self::Classical,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_those_of_lichess() {
        for (text, speed) in [
            ("15+0", Some(Speed::UltraBullet)),
            ("29", Some(Speed::UltraBullet)),
            ("30+0", Some(Speed::Bullet)),
            ("60+0", Some(Speed::Bullet)),
            ("120+1", Some(Speed::Bullet)),
            ("139+1", Some(Speed::Bullet)),
            ("140+1", Some(Speed::Blitz)),
            ("180", Some(Speed::Blitz)),
            ("300+3", Some(Speed::Blitz)),
            ("300+5", Some(Speed::Rapid)),
            ("480+0", Some(Speed::Rapid)),
            ("1500+0", Some(Speed::Classical)),
            ("1800+20", Some(Speed::Classical)),
            ("0.5+0.005", Some(Speed::UltraBullet)),
            ("40/60", Some(Speed::Bullet)),
            ("20/60:30", Some(Speed::Bullet)),
            ("40/7200:20/3600:900+30", Some(Speed::Classical)),
            ("*300", Some(Speed::Blitz)),
            ("1/86400", Some(Speed::Correspondence)),
            ("10/2592000", Some(Speed::Correspondence)),
            (" - ", Some(Speed::Correspondence)),
            ("?", None),
            ("", None),
            ("0/60", None),
            ("five minutes", None),
            ("-5", None),
            ("nan", None),
            ("99999999999999999999999+1", Some(Speed::Classical)),
        ] {
            assert_eq!(Speed::from_pgn(text), speed, "{text:?}");
        }
    }
}
