//! What a book knows of a move.
#![allow(clippy::cast_possible_truncation, reason = "a float that does not fit becomes the nearest number")]

use shakmaty::{Move, Position as _};

use tabiya_chess::{MoveCode, Position};

/// Games that went through a move, counted for the side that makes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Counts {
    /// All games, unfinished ones too.
    pub games: u64,
    /// Games that the mover won.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that the mover lost.
    pub losses: u64,
}

/// What a side made of a game.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Points {
    /// None.
    Loss,
    /// Half a point.
    Draw,
    /// A point.
    Win,
}

impl Points {
    /// The points in halves.
    pub fn halves(self) -> u8 {
        match self {
            Self::Loss => 0,
            Self::Draw => 1,
            Self::Win => 2,
        }
    }

    /// The points that are so many halves.
    pub fn from_halves(halves: u8) -> Option<Self> {
        [Self::Loss, Self::Draw, Self::Win].into_iter().find(|points| points.halves() == halves)
    }
}

impl Counts {
    /// Games that all ended.
    pub(crate) fn ended(wins: u64, draws: u64, losses: u64) -> Self {
        Self { games: wins.saturating_add(draws).saturating_add(losses), wins, draws, losses }
    }

    /// Counts a game by the mover's points; `None` for a game without a result.
    #[doc(hidden)]
    pub fn add(&mut self, points: Option<Points>) {
        self.games += 1;
        match points {
            Some(Points::Loss) => self.losses += 1,
            Some(Points::Draw) => self.draws += 1,
            Some(Points::Win) => self.wins += 1,
            None => {}
        }
    }

    /// The games that ended by the mover's points, the fewest points first.
    #[doc(hidden)]
    pub fn by_points(self) -> [u64; 3] {
        [self.losses, self.draws, self.wins]
    }

    /// The same games counted for the other side.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { wins: self.losses, losses: self.wins, ..self }
    }

    /// Half-points of the mover: two for a win, one for a draw.
    pub fn points(self) -> u64 {
        self.wins.saturating_mul(2).saturating_add(self.draws)
    }

    /// Whether any game has a result.
    #[doc(hidden)]
    pub fn has_results(self) -> bool {
        self.wins | self.draws | self.losses != 0
    }

    /// These games and others.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            games: self.games.saturating_add(other.games),
            wins: self.wins.saturating_add(other.wins),
            draws: self.draws.saturating_add(other.draws),
            losses: self.losses.saturating_add(other.losses),
        }
    }

    /// The points that the mover scored, and the games that ended; `None` if none did.
    #[doc(hidden)]
    pub fn results(self) -> Option<(f64, f64)> {
        let points = self.wins as f64 + self.draws as f64 / 2.0;
        let ended = self.wins as f64 + self.draws as f64 + self.losses as f64;
        (ended > 0.0).then_some((points, ended))
    }

    /// The rating that the mover performed at against opponents of this average: theirs plus the difference at which
    /// its score is expected, at most 800 points; `None` if no game ended.
    ///
    /// ```
    /// use tabiya_book::Counts;
    /// let counts = Counts { games: 4, wins: 3, draws: 0, losses: 1 };
    /// assert_eq!(counts.performance(2500), Some(2691));
    /// ```
    pub fn performance(self, opponents: u32) -> Option<u32> {
        let (points, ended) = self.results()?;
        let difference = rating_difference(points, ended).clamp(-800.0, 800.0);
        Some((f64::from(opponents) + difference).max(0.0).round() as u32)
    }
}

/// The rating difference at which `points` of `games` (more than 0) are expected; infinite if all or
/// none were won.
///
/// This is the logistic curve of chess ratings: ten times the odds are 400 points.
pub fn rating_difference(points: f64, games: f64) -> f64 {
    400.0 * (points / (games - points).max(0.0)).log10()
}

/// How strong the players of a move were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Ratings {
    /// The average rating of the side that makes the move.
    pub average: Option<u32>,
    /// The rating that it performed at.
    pub performance: Option<u32>,
}

/// The mark that an author gave a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Annotation {
    /// `!`
    Good,
    /// `?`
    Bad,
    /// `!!`
    Brilliant,
    /// `??`
    Blunder,
    /// `!?`
    Interesting,
    /// `?!`
    Dubious,
    /// The only move.
    Only,
    /// Zugzwang.
    Zugzwang,
    /// Another glyph of PGN, by its number. It says nothing of whether the move is to be played.
    Other(u8),
}

/// What glyphs of PGN mean that are no marks of good or bad moves: by their numbers.
const GLYPHS: [(u8, &str); 24] = [
    (7, "forced"),
    (9, "worst"),
    (10, "drawish"),
    (11, "equal"),
    (12, "equal, active"),
    (13, "unclear"),
    (23, "zugzwang of Black"),
    (24, "space advantage"),
    (32, "development advantage"),
    (33, "development advantage of Black"),
    (36, "initiative"),
    (37, "initiative of Black"),
    (40, "attack"),
    (41, "attack of Black"),
    (44, "compensation"),
    (45, "compensation of Black"),
    (132, "counterplay"),
    (133, "counterplay of Black"),
    (138, "time trouble"),
    (139, "time trouble of Black"),
    (140, "with the idea"),
    (142, "better is"),
    (145, "editorial comment"),
    (146, "novelty"),
];

/// Every glyph as PGN writes it, one after the other in four bytes each.
#[allow(clippy::indexing_slicing, reason = "it is computed when tabiya is compiled")]
const NUMBERED: [[u8; 4]; 256] = {
    let mut all = [*b"$   "; 256];
    let mut number = 0;
    while number < all.len() {
        let digits = [number / 100, number / 10 % 10, number % 10];
        let (mut digit, mut at) = (
            if number < 10 {
                2
            } else if number < 100 {
                1
            } else {
                0
            },
            1,
        );
        while digit < digits.len() {
            all[number][at] = b'0' + digits[digit] as u8;
            digit += 1;
            at += 1;
        }
        number += 1;
    }
    all
};

impl Annotation {
    /// All that have a sign or act in play.
    const ALL: [Self; 8] = [
        Self::Good,
        Self::Bad,
        Self::Brilliant,
        Self::Blunder,
        Self::Interesting,
        Self::Dubious,
        Self::Only,
        Self::Zugzwang,
    ];

    /// Its name in `show --json`: a sign, a word, or its number as PGN writes it, such as `$99`.
    pub fn as_str(self) -> &'static str {
        match self {
            Annotation::Good => "!",
            Annotation::Bad => "?",
            Annotation::Brilliant => "!!",
            Annotation::Blunder => "??",
            Annotation::Interesting => "!?",
            Annotation::Dubious => "?!",
            Annotation::Only => "only",
            Annotation::Zugzwang => "zugzwang",
            Annotation::Other(nag) => {
                let known = GLYPHS.iter().find(|(known, _)| *known == nag).map(|(_, name)| *name);
                let number = NUMBERED.get(usize::from(nag)).and_then(|text| str::from_utf8(text).ok());
                known.or(number.map(str::trim_ascii_end)).unwrap_or("$")
            }
        }
    }

    /// Whether its meaning is known.
    pub(crate) fn is_known(self) -> bool {
        !self.as_str().starts_with('$')
    }

    /// The mark of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        let glyph = || GLYPHS.iter().find(|(_, known)| *known == name).map(|(nag, _)| *nag);
        let mark = Self::ALL.into_iter().find(|mark| mark.as_str() == name);
        mark.or_else(|| glyph().map(Self::Other))
            .or_else(|| Self::of_nag(name.strip_prefix('$')?.parse().ok()?))
    }

    /// Its numeric annotation glyph in PGN.
    pub fn nag(self) -> u8 {
        match self {
            Annotation::Good => 1,
            Annotation::Bad => 2,
            Annotation::Brilliant => 3,
            Annotation::Blunder => 4,
            Annotation::Interesting => 5,
            Annotation::Dubious => 6,
            Annotation::Only => 8,
            Annotation::Zugzwang => 22,
            Annotation::Other(nag) => nag,
        }
    }

    /// The mark with this glyph; 0 is none.
    pub fn of_nag(nag: u8) -> Option<Self> {
        let mark = Self::ALL.into_iter().find(|mark| mark.nag() == nag);
        mark.or((nag > 0).then_some(Self::Other(nag)))
    }
}

/// The colour of a move: what an author, or a format's limits, say of playing it in tournaments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Recommendation {
    /// It is to be avoided.
    Red,
    /// It is recommended.
    Green,
}

impl Recommendation {
    /// The name of the colour.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Red => "red",
            Self::Green => "green",
        }
    }

    /// The colour of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Red, Self::Green].into_iter().find(|color| color.as_str() == name)
    }

    /// Whether the move is recommended.
    pub fn is_green(self) -> bool {
        self == Self::Green
    }
}

/// What the book learned from results of its own games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Learned {
    /// Games in which the move was played and the result learned.
    pub games: u32,
    /// Half-points of the side that moved: 2 a win, 1 a draw.
    pub halfpoints: u32,
}

impl Learned {
    /// These results and others.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            games: self.games.saturating_add(other.games),
            halfpoints: self.halfpoints.saturating_add(other.halfpoints),
        }
    }
}

/// A move with everything that a book knows of it: a legal move of some position, or just its code from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveFacts<M = Move> {
    /// The move. Castling is the king taking its own rook in either form.
    pub mv: M,
    /// The book's own weight; 0 means never play.
    pub weight: u64,
    /// Games, counted for the mover, if the format counts them.
    pub counts: Option<Counts>,
    /// The author's mark, if the format has marks.
    pub annotation: Option<Annotation>,
    /// Its colour, if the format has colours or limits and they say something of the move.
    pub recommended: Option<Recommendation>,
    /// What was learned, if the format keeps it and it can be trusted.
    pub learned: Option<Learned>,
    /// How strong the players were, if the format says so.
    pub ratings: Option<Ratings>,
    /// By how much the move is to be played more or less than its results say, from -125 (never) to 125, if the book says so.
    /// That a CTG book means this by the number is inferred.
    pub factor: Option<i8>,
    /// What was decided of it, if anything was: the weight alone says how often it is played then.
    #[doc(hidden)]
    pub decision: Option<Decision>,
}

/// A decision about playing a move. Its weight is its share of the position, 0 for never; its colour, mark, priority and
/// factor are what others said before, and counts are what was played. Each writer makes of the weights of a position what its
/// format has for them.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It was judged: what is said of it stays where it agrees.
    Judged,
    /// The moves to be played were chosen from all: that they are recommended is said of these alone.
    Chosen,
}

impl<M> MoveFacts<M> {
    /// A move of which only the weight is known.
    pub fn new(mv: M, weight: u64) -> Self {
        let (counts, annotation, recommended) = (None, None, None);
        let (learned, ratings, factor, decision) = (None, None, None, None);
        Self { mv, weight, counts, annotation, recommended, learned, ratings, factor, decision }
    }

    /// The same facts of the same move in another form.
    fn with<N>(self, mv: N) -> MoveFacts<N> {
        let Self { mv: _, weight, counts, annotation, recommended, learned, ratings, factor, decision } =
            self;
        MoveFacts { mv, weight, counts, annotation, recommended, learned, ratings, factor, decision }
    }
}

#[doc(hidden)]
impl MoveFacts<MoveCode> {
    /// The move in its position; `None` if it is not legal there.
    pub fn at(self, at: &Position) -> Option<MoveFacts> {
        let mv = self.mv.resolve(at.chess()).filter(|&mv| at.chess().is_legal(mv))?;
        Some(self.with(mv))
    }
}

#[doc(hidden)]
impl From<MoveFacts> for MoveFacts<MoveCode> {
    fn from(facts: MoveFacts) -> Self {
        facts.with(MoveCode::from_move(facts.mv))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_glyph_has_a_name_that_leads_back_to_it() {
        assert_eq!(Annotation::of_nag(0), None);
        for nag in 1..=u8::MAX {
            let mark = Annotation::of_nag(nag).unwrap();
            assert_eq!((mark.nag(), Annotation::of_name(mark.as_str())), (nag, Some(mark)));
        }
        let names = [1, 8, 32, 36, 40, 99, 132, 200].map(|nag| Annotation::of_nag(nag).unwrap().as_str());
        let expected =
            ["!", "only", "development advantage", "initiative", "attack", "$99", "counterplay", "$200"];
        assert_eq!(names, expected);
        assert_eq!(
            Annotation::of_name("$0").or(Annotation::of_name("$256")).or(Annotation::of_name("$")),
            None
        );
    }
}
