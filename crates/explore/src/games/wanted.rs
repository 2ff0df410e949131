//! Which games of a position are wanted: of which speeds, ratings, years and players.

use std::sync::{Arc, PoisonError};

use shakmaty::Color;

use tabiya_book::{Among, Slice};
use tabiya_games::{Date, PlayerName};

use super::super::fault::Fault;
use super::super::request::Query;
use super::GamesOfPosition;
use super::index::{FoundGames, GamesIndex, IndexedGame, tallied};
use super::tally::PlayedMove;

/// Players that were looked for and are remembered.
const REMEMBERED: usize = 8;

/// Games of these players up to which they are remembered one by one.
const MAX_GAMES: u64 = 1 << 16;

/// Games of a position for each game of a player from which on those of the player are looked for among them, and not all seen.
const MANY: usize = 16;

/// The players that a name means.
pub(super) struct NamedPlayers {
    name: PlayerName,
    /// Whether each of the index is one.
    is: Vec<bool>,
    /// The ranks of their games in order, and the color of one of them; `None` if there are too many.
    games: Option<Vec<(u32, Color)>>,
}

/// Which games of a position are wanted.
#[derive(Clone)]
pub(in super::super) struct Wanted {
    among: Among,
    since: Option<Date>,
    until: Option<Date>,
    players: Option<Arc<NamedPlayers>>,
    /// The color that one of the players has.
    color: Option<Color>,
}

impl NamedPlayers {
    fn find(index: &GamesIndex, name: &PlayerName) -> Self {
        let is: Vec<bool> = (0..index.players()).map(|player| name.is(index.name(player))).collect();
        let all = || (0..).zip(&is).filter_map(|(player, is)| is.then_some(player));
        let count: u64 = all().map(|player| u64::from(index.count_of(player))).sum();
        let games = (count <= MAX_GAMES).then(|| {
            let mut games: Vec<_> = all().flat_map(|player| index.games_of(player)).collect();
            games.sort_unstable_by_key(|(rank, _)| *rank);
            games
        });
        Self { name: name.clone(), is, games }
    }

    fn has(&self, player: u32) -> bool {
        usize::try_from(player).ok().and_then(|player| self.is.get(player)).is_some_and(|is| *is)
    }
}

impl GamesOfPosition {
    /// The games of these speeds and ratings, of the period that a request names, and of these players with this color.
    ///
    /// # Errors
    /// When `since` or `until` is not a date.
    pub(in super::super) fn wanted(
        &self,
        query: &Query,
        mut among: Among,
        (player, color): (Option<PlayerName>, Option<Color>),
    ) -> Result<Wanted, Fault> {
        // Where no game tells its speed, or its ratings, all of them count, as in books.
        self.told.drop_untold(&mut among);
        let (since, until) = (query.date("since")?, query.date("until")?);
        Ok(Wanted { among, since, until, players: player.map(|name| self.players(&name)), color })
    }

    /// The games that a request of the page names: `player` is a part of a name, and `color` the color of the player.
    ///
    /// # Errors
    /// As [`wanted`](Self::wanted), and when a speed, a rating or `color` is none.
    pub(in super::super) fn wanted_by(&self, query: &Query) -> Result<Wanted, Fault> {
        let player = query.get("player").map(PlayerName::part);
        let color = query.color("color")?.filter(|_| player.is_some());
        self.wanted(query, query.among()?, (player, color))
    }

    /// The players that a name means.
    fn players(&self, name: &PlayerName) -> Arc<NamedPlayers> {
        let known = || self.players.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().iter().find(|found| found.name == *name) {
            return Arc::clone(found);
        }
        let found = Arc::new(NamedPlayers::find(&self.index, name));
        let mut known = known();
        known.truncate(REMEMBERED - 1);
        known.insert(0, Arc::clone(&found));
        found
    }
}

impl Wanted {
    /// Whether all games are.
    fn is_all(&self) -> bool {
        let is_dated = self.since.is_some() || self.until.is_some();
        !self.among.by().any() && !is_dated && self.players.is_none()
    }

    /// The same games, where the players that are wanted, if any are, have this color.
    pub(in super::super) fn with(&self, color: Color) -> Self {
        Self { color: Some(color), ..self.clone() }
    }

    /// Whether a game is one of them.
    fn has(&self, game: &IndexedGame<'_>) -> bool {
        let is_dated = || game.facts.date.is_within(self.since, self.until);
        let is_meant = || self.among.has(Slice::new(game.speed, game.facts.band()));
        let is_played = |players: &Arc<NamedPlayers>| {
            let mut sides =
                Color::ALL.into_iter().filter(|color| self.color.is_none_or(|only| only == *color));
            sides.any(|color| players.has(*game.players.get(color)))
        };
        self.players.as_ref().is_none_or(is_played) && is_dated() && is_meant()
    }

    /// The places of the games of the players among those of a position, if these are few.
    fn places(&self, found: &FoundGames<'_>) -> Option<Vec<usize>> {
        let games = self.players.as_ref()?.games.as_ref()?;
        if games.len().saturating_mul(MANY) > found.len() {
            return None;
        }
        let is_meant = |color: Color| self.color.is_none_or(|only| only == color);
        let mut ranks: Vec<u32> =
            games.iter().filter(|(_, color)| is_meant(*color)).map(|game| game.0).collect();
        // Both players may be meant.
        ranks.dedup();
        Some(found.places_of(&ranks).collect())
    }

    /// Those of the games of a position that are wanted, the highest ratings first.
    pub(in super::super) fn of<'b>(
        &'b self,
        found: &FoundGames<'b>,
    ) -> Box<dyn Iterator<Item = IndexedGame<'b>> + 'b> {
        match self.places(found) {
            Some(places) => Box::new(found.at(places.into_iter()).filter(|game| self.has(game))),
            None => Box::new(found.games().filter(|game| self.has(game))),
        }
    }

    /// The same, the latest first.
    pub(in super::super) fn latest_of<'b>(
        &'b self,
        found: &FoundGames<'b>,
    ) -> Box<dyn Iterator<Item = IndexedGame<'b>> + 'b> {
        let places: Box<dyn Iterator<Item = usize>> = match self.places(found) {
            Some(places) => Box::new(found.latest_first(places).into_iter()),
            None => found.by_date(),
        };
        Box::new(found.at(places).filter(|game| self.has(game)))
    }

    /// How many of the games of a position are wanted.
    pub(super) fn count_of(&self, found: &FoundGames<'_>) -> u64 {
        if self.is_all() { found.total() } else { self.of(found).map(|_| 1).sum() }
    }

    /// The moves that those of the games of a position went on with that are wanted, the most played first.
    pub(in super::super) fn played_in(&self, found: &FoundGames<'_>) -> Vec<PlayedMove> {
        if self.is_all() { found.played() } else { tallied(self.of(found)) }
    }
}
