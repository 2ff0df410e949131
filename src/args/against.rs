//! What an opponent plays from, as arguments: games, books and count files.

use std::path::{Path, PathBuf};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::progress::Progress;
use tabiya_chess::Variant;
use tabiya_games::PlayerName;
use tabiya_workshop::bookmaker::{Resources, Weigh};
use tabiya_workshop::expected::{CountedSource, ExpectedSources, Wanted};

use super::player::PlayerArg;
use super::variant::open_of;
use crate::output::exit::Exit;
use crate::output::{self, report};

/// `--against` and `--player`.
#[derive(clap::Args, Debug)]
pub(crate) struct AgainstArgs {
    /// What the opponent plays from: games, a book or a count file; may be repeated
    ///
    /// The first that knows a position speaks; of n games there, the next stands behind with the weight of 3.
    #[arg(long, value_name = "SOURCE")]
    against: Vec<PathBuf>,
    /// Of the games of the first --against, only the moves of players with this in their name, of =NAME or of the names in @FILE
    #[arg(long, value_name = "NAME", value_parser = PlayerArg::parse, requires = "against")]
    player: Option<PlayerArg>,
    /// Games of --against count half for every YEARS that they are older than the newest [default: all count the same]
    #[arg(long, value_name = "YEARS", requires = "against", value_parser = years)]
    half_life: Option<f64>,
}

/// Reads years after which games count half.
fn years(text: &str) -> std::result::Result<f64, String> {
    let years = text.parse().ok().filter(|years| (0.01..=1000.0).contains(years));
    years.ok_or_else(|| "must be years from 0.01 to 1000, such as 3 or 0.5".to_owned())
}

impl AgainstArgs {
    /// The opponent's name: the player, or what the first source is called.
    pub fn opponent(&self) -> String {
        let source = || self.against.first()?.file_stem().map(|name| name.to_string_lossy().into_owned());
        self.player.as_ref().map(PlayerArg::shown).or_else(source).unwrap_or_default()
    }

    /// Opens books and count files, and counts the first plies of games. What cannot be read of them is reported; returns also how a
    /// command ends because of it.
    ///
    /// # Errors
    /// When a source cannot be read or has no games that count, a temporary file cannot be written, or the work is interrupted.
    pub fn open(
        &self,
        variant: Variant,
        plies: Option<u32>,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<(ExpectedSources, Exit)> {
        let player = self.player.as_ref().map(PlayerArg::names).transpose()?;
        let open = |path: &Path| open_of(path, variant);
        let wanted =
            Wanted { variant, player: player.as_ref(), plies, half_life: self.half_life, open: &open };
        let sources = ExpectedSources::open(&self.against, &wanted, resources, progress)?;
        let mut exit = Exit::Done;
        for (number, source) in sources.counted().iter().enumerate() {
            let passed_over = output::sources_passed_over(&source.games);
            exit = exit.max(passed_over).max(output::passed_over(&source.unopened));
            if source.report.is_incomplete() {
                exit = exit.max(Exit::Findings);
            }
            if source.is_empty {
                let player = player.as_ref().filter(|_| number == 0);
                return Err(nothing(source, player));
            }
        }
        Ok((sources, exit))
    }
}

/// The error of games that say nothing of what the opponent plays.
fn nothing(source: &CountedSource, player: Option<&PlayerName>) -> Error {
    let (what, advice) = report::why_nothing(&source.report, &Weigh::default(), player, false);
    let error = Error::new(ErrorKind::File, what).at_path(&source.path);
    match advice {
        Some(advice) => error.advice(advice),
        None => error,
    }
}
