//! Which games `tabiya build` counts, as arguments.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ArgGroup;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use shakmaty::Color;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_games::{Date, PlayerName, decode_text};
use tabiya_workshop::bookmaker::{CountedMoves, Filter, TagPattern, Tags};

use crate::args::side;
use crate::args::slices::SliceArgs;

/// Which games count, and which of their moves.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Games", group(ArgGroup::new("named").args(["player", "player_exact", "players_file"])))]
pub(super) struct Games {
    /// Only the first N plies of each game; 0 = all [default: 0]
    #[arg(long, value_name = "N")]
    max_ply: Option<u32>,
    /// Only moves of White, of Black, or of the players named by --player, --player-exact or --players-file
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
    /// Only games whose tag matches a pattern, ignoring case: * matches any text, ? any one character; repeatable, then all
    /// must match
    #[arg(long, value_name = "NAME=PATTERN")]
    tag: Vec<TagPattern>,
    /// Only games without a tag that matches this pattern; repeatable, then none may match
    #[arg(long, value_name = "NAME=PATTERN")]
    not_tag: Vec<TagPattern>,
    /// Only games of at least N plies
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    min_plies: u32,
    /// Count games with the same players, date and moves only once; reads all games twice
    #[arg(long)]
    pub unique: bool,
    /// Only games from this date on, such as 2021, 2021.03 or 2021.03.14
    #[arg(long, value_name = "DATE")]
    from: Option<Date>,
    /// Only games up to and including this date
    #[arg(long, value_name = "DATE")]
    to: Option<Date>,
    /// Only games of players whose name contains this text
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// Only games of the player with exactly this name, ignoring case
    #[arg(long, value_name = "NAME", conflicts_with = "player")]
    player_exact: Option<String>,
    /// Only games of players whose names are in this file, one per line, ignoring case
    #[arg(long, value_name = "FILE", conflicts_with_all = ["player", "player_exact"])]
    players_file: Option<PathBuf>,
    /// Only games in which that player has this colour
    #[arg(long, value_name = "SIDE", alias = "side", requires = "named", value_parser = side())]
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
    #[arg(long, value_name = "SIDE", value_parser = side(), conflicts_with_all = ["only", "counts"])]
    pub repertoire: Option<Color>,
}

fn only() -> impl TypedValueParser<Value = CountedMoves> {
    PossibleValuesParser::new(["white", "black", "player"]).map(|only| match &*only {
        "white" => CountedMoves::Side(Color::White),
        "black" => CountedMoves::Side(Color::Black),
        _ => CountedMoves::Player,
    })
}

/// The names in a file, one on each line.
fn names(path: &Path) -> Result<PlayerName> {
    let bytes =
        fs::read(path).map_err(|error| Error::file(path, "cannot read the names of players", error))?;
    let text = decode_text(&bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut names = text.lines().map(str::trim).filter(|name| !name.is_empty()).peekable();
    if names.peek().is_none() {
        return Err(Error::new(ErrorKind::File, "the file has no names").at_path(path));
    }
    Ok(PlayerName::one_of(names))
}

impl Games {
    /// The filter that the arguments describe.
    ///
    /// # Errors
    /// When they contradict each other, or a file of names cannot be read.
    pub fn filter(&self) -> Result<Filter> {
        let player = match &self.players_file {
            Some(file) => Some(names(file)?),
            None => PlayerName::given(self.player.as_deref(), self.player_exact.as_deref()),
        };
        if self.only == Some(CountedMoves::Player) && player.is_none() {
            return Err(Error::new(ErrorKind::Usage, "--only player needs the name of a player")
                .advice("name one with --player, --player-exact or --players-file"));
        }
        if let (Some(from), Some(to)) = (self.from, self.to)
            && to.last_day() < from
        {
            let what = format!("--to {to} is before --from {from}: no game can pass");
            return Err(Error::new(ErrorKind::Usage, what));
        }
        let mut filter = self.slices.filter();
        filter.max_ply = self.max_ply.filter(|&plies| plies > 0);
        filter.only = self.repertoire.map(CountedMoves::Side).or(self.only);
        filter.min_elo = self.min_elo;
        filter.min_mover_elo = self.min_mover_elo;
        filter.max_elo_difference = self.max_elo_difference;
        filter.tags = Tags::new(self.tag.clone(), self.not_tag.clone());
        filter.min_plies = self.min_plies;
        filter.unique = self.unique;
        filter.from = self.from;
        filter.to = self.to;
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
