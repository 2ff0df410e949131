//! Which games count, and which of their moves.

use std::num::NonZeroU16;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};
use shakmaty::{ByColor, Color};

use wildmatch::WildMatch;

use tabiya_book::{Among, By, Slice};
use tabiya_chess::{RatingBand, Speed};
use tabiya_games::{Date, GameHeader, GameResult, PlayerName};

/// Which games count, and which of their moves. Its serialised form identifies it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Filter {
    /// Plies from the start of a game that count; `None`: all.
    pub max_ply: Option<u32>,
    /// The moves that count, of both sides where it is `None`.
    pub only: Option<CountedMoves>,
    /// The least rating of both players.
    pub min_elo: u16,
    /// The least rating of a player whose moves count.
    pub min_mover_elo: u16,
    /// The greatest difference of the ratings.
    pub max_elo_difference: Option<u16>,
    /// Speeds and bands of ratings.
    pub among: Among,
    /// What tags the game has.
    pub tags: Tags,
    /// The first day.
    pub from: Option<Date>,
    /// The last day; of a month or a year, its last day.
    pub to: Option<Date>,
    /// One of the players.
    pub player: Option<PlayerName>,
    /// The side of this player.
    #[serde(serialize_with = "letter")]
    pub side: Option<Color>,
    /// Games without a result do not count; otherwise they count as draws.
    pub finished: bool,
    /// A game with an error does not count at all; otherwise it counts up to the error.
    pub strict: bool,
    /// Variations count too.
    pub variations: bool,
    /// Moves with the glyphs ?, ?? and ?! do not count, and neither does what follows them.
    pub skip_mistakes: bool,
    /// The games are lines of a repertoire, whose results mean nothing: all count as draws.
    pub repertoire: bool,
    /// Plies of the main line that a game needs.
    pub min_plies: u32,
    /// Games with the same players, date and moves count once.
    pub unique: bool,
    /// How much a game counts by its age; `None`: once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recency: Option<Recency>,
}

/// How much games count by their age, in parts of [`Recency::WHOLE`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Recency {
    /// The date of those that count whole.
    pub newest: Date,
    /// Years after which a game counts half.
    pub half_life: f64,
}

impl Recency {
    /// What the newest games count.
    pub const WHOLE: u64 = 1024;

    /// Half-lives that games without a date are old.
    const UNDATED: f64 = 4.0;

    /// What a game of this date counts, at least 1.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to WHOLE")]
    pub(crate) fn units(&self, date: Date) -> u64 {
        let years = (self.newest.years() - date.years()).max(0.0);
        let halves = if date.is_unknown() { Self::UNDATED } else { years / self.half_life };
        ((Self::WHOLE as f64 * libm::exp2(-halves)).round() as u64).max(1)
    }
}

fn letter<S: Serializer>(side: &Option<Color>, serializer: S) -> Result<S::Ok, S::Error> {
    side.map(Color::char).serialize(serializer)
}

/// What tags a game must have, and must not have.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tags {
    /// The names of all tags that decide.
    names: Vec<String>,
    wanted: Vec<TagPattern>,
    unwanted: Vec<TagPattern>,
}

/// A tag and a pattern for its text, ignoring case: `*` matches any text, `?` any one character.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TagPattern {
    name: String,
    #[serde(serialize_with = "text")]
    pattern: WildMatch,
}

fn text<S: Serializer>(pattern: &WildMatch, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(pattern)
}

impl FromStr for TagPattern {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, pattern) = text.split_once('=').ok_or("write NAME=PATTERN")?;
        let name = name.trim();
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err("the name of a tag consists of letters, digits and underscores");
        }
        Ok(Self { name: name.to_owned(), pattern: WildMatch::new(&pattern.trim().to_lowercase()) })
    }
}

impl TagPattern {
    fn is_met(&self, game: &GameHeader) -> bool {
        game.tag(&self.name).is_some_and(|text| self.pattern.matches(&text.to_lowercase()))
    }
}

impl Tags {
    /// A game has a tag that meets each of the `wanted` patterns, and none that meets one of the `unwanted` ones.
    pub fn new(wanted: Vec<TagPattern>, unwanted: Vec<TagPattern>) -> Self {
        let names = wanted.iter().chain(&unwanted).map(|pattern| pattern.name.clone()).collect();
        Self { names, wanted, unwanted }
    }
}

/// The tag that names the time control.
const TIME_CONTROL: &str = "TimeControl";

/// Whose moves count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
#[non_exhaustive]
pub enum CountedMoves {
    /// Those of one side.
    Side(Color),
    /// Those of the player that the filter names.
    Player,
}

impl From<CountedMoves> for String {
    fn from(only: CountedMoves) -> Self {
        match only {
            CountedMoves::Side(side) => side.char().into(),
            CountedMoves::Player => "player".to_owned(),
        }
    }
}

/// Why a game does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Exclusion {
    /// A player's rating is too low or unknown.
    Elo,
    /// The ratings of the players whose moves count are too low or unknown.
    MoverElo,
    /// The ratings differ too much, or one is unknown.
    EloDifference,
    /// The speed is another one or unknown.
    Speed,
    /// The mean of the ratings is in another band, or one is unknown.
    Rating,
    /// It lacks a tag.
    Tag,
    /// It has a tag that it must not have.
    NotTag,
    /// It was played before or after the days that count, or its date is unknown.
    Date,
    /// The player did not take part, or had the other side.
    Player,
    /// It has no result.
    Unfinished,
    /// It is too short.
    Plies,
    /// It has the same players, date and moves as one before.
    Repeated,
}

/// Whether a value is among those that are wanted, if any are; an unknown one is not.
fn passes<T: PartialEq>(wanted: &[T], known: Option<T>) -> bool {
    wanted.is_empty() || known.is_some_and(|known| wanted.contains(&known))
}

/// The slice that a game belongs to.
pub(crate) fn slice_of(game: &GameHeader, by: By) -> Slice {
    let speed = || game.tag(TIME_CONTROL).and_then(|text| Speed::from_pgn(&text));
    let rating = || RatingBand::from_ratings(game.white_elo, game.black_elo);
    Slice::new(by.speed.then(speed).flatten(), by.rating.then(rating).flatten())
}

/// The sides whose moves of a game count.
pub(crate) type Sides = ByColor<bool>;

const BOTH: Sides = Sides { white: true, black: true };

impl Filter {
    /// The tags that headers must hold for [`admits`](Self::admits), and for telling games apart.
    pub(crate) fn wanted_tags(&self, by: By) -> Vec<String> {
        let speed = (by.speed || !self.among.speeds.is_empty()).then(|| TIME_CONTROL.to_owned());
        self.tags.names.iter().cloned().chain(speed).collect()
    }

    /// What count files must tell apart for [`admits_slice`](Self::admits_slice).
    pub fn slices(&self) -> By {
        self.among.by()
    }

    /// How often a game of this date counts.
    pub(crate) fn units(&self, date: Date) -> u64 {
        self.recency.map_or(1, |recency| recency.units(date))
    }

    /// Whether rows of a count file count.
    pub(crate) fn admits_slice(&self, slice: Slice) -> bool {
        self.among.has(slice)
    }

    /// Whether anything but speeds and ratings decides: count files know only those two.
    pub fn is_of_games(&self) -> bool {
        Self { among: Among::default(), ..self.clone() } != Self::default()
    }

    /// The sides whose moves of a game count.
    ///
    /// # Errors
    /// Why the game does not count.
    pub fn admits(&self, game: &GameHeader) -> Result<Sides, Exclusion> {
        // An unknown rating is below all others.
        if game.white_elo.min(game.black_elo) < NonZeroU16::new(self.min_elo) {
            return Err(Exclusion::Elo);
        }
        if let Some(most) = self.max_elo_difference
            && game
                .white_elo
                .zip(game.black_elo)
                .is_none_or(|(white, black)| white.get().abs_diff(black.get()) > most)
        {
            return Err(Exclusion::EloDifference);
        }
        if !game.date.is_within(self.from, self.to) {
            return Err(Exclusion::Date);
        }
        let slice = slice_of(game, self.slices());
        if !passes(&self.among.speeds, slice.speed()) {
            return Err(Exclusion::Speed);
        }
        if !passes(&self.among.ratings, slice.rating()) {
            return Err(Exclusion::Rating);
        }
        if !self.tags.wanted.iter().all(|pattern| pattern.is_met(game)) {
            return Err(Exclusion::Tag);
        }
        if self.tags.unwanted.iter().any(|pattern| pattern.is_met(game)) {
            return Err(Exclusion::NotTag);
        }
        let mut players = BOTH;
        if let Some(player) = &self.player {
            players.white = self.side != Some(Color::Black) && player.is(&game.white);
            players.black = self.side != Some(Color::White) && player.is(&game.black);
            if !players.white && !players.black {
                return Err(Exclusion::Player);
            }
        }
        let sides = match self.only {
            Some(CountedMoves::Side(side)) => Sides::new_with(|color| color == side),
            Some(CountedMoves::Player) => players,
            None => BOTH,
        };
        let min_mover_elo = NonZeroU16::new(self.min_mover_elo);
        let sides = Sides {
            white: sides.white && game.white_elo >= min_mover_elo,
            black: sides.black && game.black_elo >= min_mover_elo,
        };
        if sides.white || sides.black { Ok(sides) } else { Err(Exclusion::MoverElo) }
    }

    /// The result that a game counts with, given that of the source and the plies of its main line.
    ///
    /// # Errors
    /// Why it does not count.
    pub(crate) fn result(&self, result: Option<GameResult>, plies: usize) -> Result<GameResult, Exclusion> {
        if plies < self.min_plies as usize {
            return Err(Exclusion::Plies);
        }
        match result {
            Some(result) => Ok(result),
            None if self.finished => Err(Exclusion::Unfinished),
            None => Ok(GameResult::Draw),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game() -> GameHeader {
        GameHeader {
            white: "Carlsen, Magnus".to_owned(),
            black: "Müller".to_owned(),
            white_elo: NonZeroU16::new(2850),
            black_elo: NonZeroU16::new(2400),
            date: Date::from_pgn("2020.05.??"),
            ..GameHeader::default()
        }
    }

    #[test]
    fn ratings_and_days_are_filtered() {
        let left = |filter: Filter| filter.admits(&game()).err();
        assert_eq!(left(Filter { min_elo: 2400, ..Filter::default() }), None);
        assert_eq!(left(Filter { min_elo: 2401, ..Filter::default() }), Some(Exclusion::Elo));
        let day = |text| Some(Date::from_pgn(text));
        for (from, to, expected) in [
            (day("2020"), day("2020"), None),
            (day("2020.05.20"), None, None),
            (day("2020.06"), None, Some(Exclusion::Date)),
            (None, day("2020.05"), None),
            (None, day("2020.04.30"), Some(Exclusion::Date)),
            (None, day("2019"), Some(Exclusion::Date)),
        ] {
            assert_eq!(left(Filter { from, to, ..Filter::default() }), expected, "{from:?} {to:?}");
        }
        let nobody = GameHeader { date: Date::default(), ..game() };
        let filter = Filter { to: day("2030"), ..Filter::default() };
        assert_eq!(filter.admits(&nobody), Err(Exclusion::Date));
    }

    #[test]
    fn ratings_of_the_mover_and_their_difference_are_filtered() {
        let of = |filter: Filter| filter.admits(&game());
        let mover = |min_mover_elo| of(Filter { min_mover_elo, ..Filter::default() });
        assert_eq!(mover(2400), Ok(BOTH));
        assert_eq!(mover(2401), Ok(Sides { white: true, black: false }));
        assert_eq!(mover(2851), Err(Exclusion::MoverElo));
        let black = Some(CountedMoves::Side(Color::Black));
        assert_eq!(
            of(Filter { min_mover_elo: 2401, only: black, ..Filter::default() }),
            Err(Exclusion::MoverElo)
        );
        let difference = |most| of(Filter { max_elo_difference: Some(most), ..Filter::default() }).err();
        assert_eq!((difference(450), difference(449)), (None, Some(Exclusion::EloDifference)));
        let unrated = GameHeader { black_elo: None, ..game() };
        let any = Filter { max_elo_difference: Some(u16::MAX), ..Filter::default() };
        assert_eq!(any.admits(&unrated), Err(Exclusion::EloDifference));
    }

    #[test]
    fn tags_and_speeds_are_filtered() {
        let game = GameHeader {
            tags: vec![("WhiteTitle".into(), "BOT".into()), ("TimeControl".into(), "180+2".into())],
            event: "Rated Blitz game".into(),
            ..game()
        };
        let tags = |wanted: &[&str], unwanted: &[&str]| {
            let all = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
            let filter = Filter { tags: Tags::new(all(wanted), all(unwanted)), ..Filter::default() };
            filter.admits(&game).err()
        };
        for wanted in
            ["whitetitle=bot", "Event=*rated*", "Event=Rated ????? game", "WhiteElo=28*", "Date=2020.05.*"]
        {
            assert_eq!(tags(&[wanted], &[]), None, "{wanted}");
            assert_eq!(tags(&[], &[wanted]), Some(Exclusion::NotTag), "{wanted}");
        }
        for unmet in ["WhiteTitle=GM", "BlackTitle=*", "Event=rated", "Event=?"] {
            assert_eq!(tags(&[unmet], &[]), Some(Exclusion::Tag), "{unmet}");
            assert_eq!(tags(&["White=carl*"], &[unmet]), None, "{unmet}");
        }
        for wrong in ["WhiteTitle", "=x", "a b=x"] {
            assert!(wrong.parse::<TagPattern>().is_err(), "{wrong}");
        }
        let at = |speeds: &[Speed]| Filter {
            among: Among { speeds: speeds.to_vec(), ..Among::default() },
            ..Filter::default()
        };
        let speed = |speeds: &[Speed]| at(speeds).admits(&game).err();
        assert_eq!(speed(&[Speed::Rapid, Speed::Blitz]), None);
        assert_eq!(speed(&[Speed::Bullet]), Some(Exclusion::Speed));
        let unknown = GameHeader::default();
        let filter = at(&[Speed::Blitz]);
        assert_eq!(
            (filter.admits(&unknown), filter.wanted_tags(By::default()).len()),
            (Err(Exclusion::Speed), 1)
        );
    }

    #[test]
    fn a_player_is_found_by_a_part_of_the_name_and_side() {
        let of = |player: &str, side, only| {
            Filter { player: Some(PlayerName::part(player)), side, only, ..Filter::default() }.admits(&game())
        };
        assert_eq!(of("carlsen", None, None), Ok(Sides { white: true, black: true }));
        assert_eq!(of("MÜLLER", None, Some(CountedMoves::Player)), Ok(Sides { white: false, black: true }));
        assert_eq!(of("carlsen", Some(Color::Black), None), Err(Exclusion::Player));
        assert_eq!(of("Kasparov", None, None), Err(Exclusion::Player));
        let black = Filter { only: Some(CountedMoves::Side(Color::Black)), ..Filter::default() };
        assert_eq!(black.admits(&game()), Ok(Sides { white: false, black: true }));
    }

    #[test]
    fn a_game_counts_the_less_the_older_it_is() {
        let recency = Recency { newest: Date::from_pgn("2024.07.01"), half_life: 2.0 };
        let units = |text| recency.units(Date::from_pgn(text));
        assert_eq!(
            ["2024.07.01", "2022.07.01", "2020.07", "2026", "????.??.??"].map(units),
            [1024, 512, 256, 1024, 64]
        );
        assert_eq!([units("2023.01.01"), units("1924")], [609, 1]);
    }

    #[test]
    fn games_without_result_are_draws_unless_only_finished_ones_count() {
        let finished = Filter { finished: true, ..Filter::default() };
        assert_eq!(Filter::default().result(None, 0), Ok(GameResult::Draw));
        assert_eq!(finished.result(None, 9), Err(Exclusion::Unfinished));
        assert_eq!(finished.result(Some(GameResult::White), 9), Ok(GameResult::White));
        let long = Filter { min_plies: 9, ..Filter::default() };
        assert_eq!(long.result(Some(GameResult::White), 8), Err(Exclusion::Plies));
        assert_eq!(long.result(Some(GameResult::White), 9), Ok(GameResult::White));
    }
}
