//! Which games `tabiya build` counts, as arguments.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use shakmaty::Color;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_games::Date;
use tabiya_workshop::bookmaker::{CountedMoves, Filter, TagPattern, Tags};

use crate::args::player::PlayerArg;
use crate::args::side;
use crate::args::slices::SliceArgs;

/// Which games count, and which of their moves.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Games")]
pub(super) struct Games {
    /// Only the first N plies of each game; 0 = all [default: 0]
    #[arg(long, value_name = "N")]
    max_ply: Option<u32>,
    /// Only moves of White, of Black, or of the players named by --player
    #[arg(long, value_name = "SIDE", value_parser = only())]
    only: Option<CountedMoves>,
    /// Only games in which both players have at least this rating
    #[arg(long, value_name = "ELO", default_value_t = 0, hide_default_value = true)]
    min_elo: u16,
    /// Only moves of players who have at least this rating
    #[arg(long, value_name = "ELO", default_value_t = 0, hide_default_value = true)]
    min_mover_elo: u16,
    /// Only games in which the ratings differ by at most this much
    #[arg(long, value_name = "ELO")]
    max_elo_difference: Option<u16>,
    #[command(flatten)]
    slices: SliceArgs,
    /// Only games whose tag matches a pattern, ignoring case: * matches any text, ? any one character; with NAME!=PATTERN,
    /// games whose tag does not match; repeatable, then all must hold
    #[arg(long, value_name = "NAME=PATTERN", value_parser = tag)]
    tag: Vec<TagArg>,
    /// Only games of at least N plies
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    min_plies: u32,
    /// Count games with the same players, date and moves only once; reads all games twice
    #[arg(long)]
    pub unique: bool,
    /// Only games of these dates, such as 2021, 2021.03..2022, 2021.. or ..2021.03.14
    #[arg(long, value_name = "A..B", value_parser = dates)]
    date: Option<Dates>,
    /// Only games of players with this in their name, of =NAME (the whole name), or of the names in @FILE
    ///
    /// The file has a whole name on each line. Case does not matter.
    #[arg(long, value_name = "NAME", value_parser = PlayerArg::parse)]
    player: Option<PlayerArg>,
    /// Only games in which that player has this color
    #[arg(long, value_name = "SIDE", requires = "player", value_parser = side())]
    player_side: Option<Color>,
    /// Only games with a result; by default, games without one count as drawn
    #[arg(long)]
    finished: bool,
    /// Leave out games with an illegal move instead of using them up to that move
    #[arg(long)]
    strict: bool,
    /// Also count the moves of variations, each move of a position once per game
    #[arg(long)]
    pub variations: bool,
    /// Leave out moves marked ?, ?? or ?!, and the moves after them
    #[arg(long)]
    pub skip_mistakes: bool,
    /// Read the games as a repertoire for this side: keep all its moves, also those of variations, whatever the results.
    /// The same as --only SIDE --variations --uniform --min-games 1
    #[arg(long, value_name = "SIDE", value_parser = side(), conflicts_with = "only")]
    pub repertoire: Option<Color>,
}

fn only() -> impl TypedValueParser<Value = CountedMoves> {
    PossibleValuesParser::new(["white", "black", "player"]).map(|only| match &*only {
        "white" => CountedMoves::Side(Color::White),
        "black" => CountedMoves::Side(Color::Black),
        _ => CountedMoves::Player,
    })
}

/// A tag that a game must have, `NAME=PATTERN`, or must not have, `NAME!=PATTERN`.
#[derive(Clone, Debug, PartialEq)]
struct TagArg {
    pattern: TagPattern,
    wanted: bool,
}

fn tag(text: &str) -> std::result::Result<TagArg, &'static str> {
    let (name, pattern) = text.split_once('=').ok_or("write NAME=PATTERN or NAME!=PATTERN")?;
    let bare = name.strip_suffix('!');
    let pattern = format!("{}={pattern}", bare.unwrap_or(name)).parse()?;
    Ok(TagArg { pattern, wanted: bare.is_none() })
}

/// The first and the last date, as in `2021`, `2021.03..2022`, `2021..` or `..2021`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Dates {
    from: Option<Date>,
    to: Option<Date>,
}

fn dates(text: &str) -> std::result::Result<Dates, String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let read = |text: &str| Some(text.parse::<Date>()).filter(|_| !text.trim().is_empty()).transpose();
    let dates = Dates { from: read(from)?, to: read(to)? };
    match dates {
        Dates { from: None, to: None } => Err("write dates such as 2021, 2021.03..2022 or 2021..".to_owned()),
        Dates { from: Some(from), to: Some(to) } if to.last_day() < from => {
            Err(format!("{to} is before {from}: no game can pass"))
        }
        _ => Ok(dates),
    }
}

impl Games {
    /// The filter that the arguments describe.
    ///
    /// # Errors
    /// When they contradict each other, or a file of names cannot be read.
    pub fn filter(&self) -> Result<Filter> {
        let player = self.player.as_ref().map(PlayerArg::names).transpose()?;
        if self.only == Some(CountedMoves::Player) && player.is_none() {
            return Err(Error::new(ErrorKind::Usage, "--only player needs the name of a player")
                .advice("name one with --player"));
        }
        let (wanted, unwanted): (Vec<_>, Vec<_>) = self.tag.iter().cloned().partition(|tag| tag.wanted);
        let patterns = |tags: Vec<TagArg>| tags.into_iter().map(|tag| tag.pattern).collect();
        let Dates { from, to } = self.date.unwrap_or_default();
        let mut filter = self.slices.filter();
        filter.max_ply = self.max_ply.filter(|&plies| plies > 0);
        filter.only = self.repertoire.map(CountedMoves::Side).or(self.only);
        filter.min_elo = self.min_elo;
        filter.min_mover_elo = self.min_mover_elo;
        filter.max_elo_difference = self.max_elo_difference;
        filter.tags = Tags::new(patterns(wanted), patterns(unwanted));
        filter.min_plies = self.min_plies;
        filter.unique = self.unique;
        filter.from = from;
        filter.to = to;
        filter.player = player;
        filter.side = self.player_side;
        filter.finished = self.finished;
        filter.strict = self.strict;
        filter.variations = self.variations || self.repertoire.is_some();
        filter.skip_mistakes = self.skip_mistakes;
        filter.repertoire = self.repertoire.is_some();
        Ok(filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_people_write_them() {
        let date = |text: &str| Some(text.parse::<Date>().unwrap());
        for (text, from, to) in [
            ("2021", date("2021"), date("2021")),
            ("2021.03..2022", date("2021.03"), date("2022")),
            ("2021-03-14..", date("2021.03.14"), None),
            (" .. 2021", None, date("2021")),
            ("2021.06..2021.06.02", date("2021.06"), date("2021.06.02")),
        ] {
            assert_eq!(dates(text), Ok(Dates { from, to }), "{text}");
        }
        for text in ["", "..", "2021...2022", "2022..2021", "2021.06..2021.05", "2021-13", "x"] {
            assert!(dates(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_tag_is_wanted_or_not() {
        let wanted = |text| tag(text).map(|tag| tag.wanted);
        assert_eq!(
            (wanted("Event=*a!=b*"), wanted("Event!=a"), wanted("Event=!a")),
            (Ok(true), Ok(false), Ok(true))
        );
        assert_eq!(tag("Event!=A").unwrap().pattern, "Event=A".parse().unwrap());
        assert!(["", "Event", "!=a", "=a", "A b!=c"].into_iter().all(|text| tag(text).is_err()));
    }
}
