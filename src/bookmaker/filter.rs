//! Which games count, and which of their moves.

use shakmaty::{ByColor, Color};

use crate::games::{Date, GameResult, Header, PlayerName};

/// Which games count, and which of their moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Plies from the start of a game that count; `None`: all.
    pub max_ply: Option<u32>,
    /// The moves that count, of both sides where it is `None`.
    pub only: Option<Only>,
    /// The least rating of both players.
    pub min_elo: u16,
    /// The first day.
    pub from: Option<Date>,
    /// The last day; of a month or a year, its last day.
    pub to: Option<Date>,
    /// One of the players.
    pub player: Option<PlayerName>,
    /// The side of this player.
    pub side: Option<Color>,
    /// Games without a result do not count; otherwise they count as draws.
    pub finished: bool,
    /// A game with an error does not count at all; otherwise it counts up to the error.
    pub strict: bool,
    /// Variations count too.
    pub variations: bool,
}

/// Whose moves count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// Those of one side.
    Side(Color),
    /// Those of the player that the filter names.
    Player,
}

/// Why a game does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    /// A player's rating is too low or unknown.
    Elo,
    /// It was played before or after the days that count, or its date is unknown.
    Date,
    /// The player did not take part, or had the other side.
    Player,
    /// It has no result.
    Unfinished,
}

/// The sides whose moves of a game count.
pub(crate) type Sides = ByColor<bool>;

const BOTH: Sides = Sides { white: true, black: true };

impl Filter {
    /// The sides whose moves of a game count.
    ///
    /// # Errors
    /// Why the game does not count.
    pub(crate) fn admits(&self, game: &Header) -> Result<Sides, Left> {
        if self.min_elo > 0 && game.white_elo.min(game.black_elo) < self.min_elo {
            return Err(Left::Elo);
        }
        if self.from.is_some_and(|from| game.date.last_day() < from || game.date.is_unknown())
            || self.to.is_some_and(|to| game.date > to.last_day() || game.date.is_unknown())
        {
            return Err(Left::Date);
        }
        let mut players = BOTH;
        if let Some(player) = &self.player {
            players.white = self.side != Some(Color::Black) && player.is(&game.white);
            players.black = self.side != Some(Color::White) && player.is(&game.black);
            if !players.white && !players.black {
                return Err(Left::Player);
            }
        }
        Ok(match self.only {
            Some(Only::Side(side)) => Sides::new_with(|color| color == side),
            Some(Only::Player) => players,
            None => BOTH,
        })
    }

    /// The result that a game counts with.
    ///
    /// # Errors
    /// Why it does not count.
    pub fn result(&self, result: Option<GameResult>) -> Result<GameResult, Left> {
        match result {
            Some(result) => Ok(result),
            None if self.finished => Err(Left::Unfinished),
            None => Ok(GameResult::Draw),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game() -> Header {
        Header {
            white: "Carlsen, Magnus".to_owned(),
            black: "Müller".to_owned(),
            white_elo: 2850,
            black_elo: 2400,
            date: Date::from_pgn("2020.05.??"),
            ..Header::default()
        }
    }

    #[test]
    fn ratings_and_days_are_filtered() {
        let left = |filter: Filter| filter.admits(&game()).err();
        assert_eq!(left(Filter { min_elo: 2400, ..Filter::default() }), None);
        assert_eq!(left(Filter { min_elo: 2401, ..Filter::default() }), Some(Left::Elo));
        let day = |text| Some(Date::from_pgn(text));
        for (from, to, expected) in [
            (day("2020"), day("2020"), None),
            (day("2020.05.20"), None, None),
            (day("2020.06"), None, Some(Left::Date)),
            (None, day("2020.05"), None),
            (None, day("2020.04.30"), Some(Left::Date)),
            (None, day("2019"), Some(Left::Date)),
        ] {
            assert_eq!(left(Filter { from, to, ..Filter::default() }), expected, "{from:?} {to:?}");
        }
        let nobody = Header { date: Date::default(), ..game() };
        let filter = Filter { to: day("2030"), ..Filter::default() };
        assert_eq!(filter.admits(&nobody), Err(Left::Date));
    }

    #[test]
    fn a_player_is_found_by_a_part_of_the_name_and_side() {
        let of = |player: &str, side, only| {
            Filter { player: Some(PlayerName::part(player)), side, only, ..Filter::default() }.admits(&game())
        };
        assert_eq!(of("carlsen", None, None), Ok(Sides { white: true, black: true }));
        assert_eq!(of("MÜLLER", None, Some(Only::Player)), Ok(Sides { white: false, black: true }));
        assert_eq!(of("carlsen", Some(Color::Black), None), Err(Left::Player));
        assert_eq!(of("Kasparov", None, None), Err(Left::Player));
        let black = Filter { only: Some(Only::Side(Color::Black)), ..Filter::default() };
        assert_eq!(black.admits(&game()), Ok(Sides { white: false, black: true }));
    }

    #[test]
    fn games_without_result_are_draws_unless_only_finished_ones_count() {
        let finished = Filter { finished: true, ..Filter::default() };
        assert_eq!(Filter::default().result(None), Ok(GameResult::Draw));
        assert_eq!(finished.result(None), Err(Left::Unfinished));
        assert_eq!(finished.result(Some(GameResult::White)), Ok(GameResult::White));
    }
}
