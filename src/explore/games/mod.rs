//! The games of a position: an index of files of games, made once beside a book.
//!
//! | step | module |
//! |---|---|
//! | the bytes of an index | [`layout`] |
//! | making one | [`mod@make`] |
//! | looking positions and games up in one | [`index`] |
//! | the text of a game, from its file | [`source`] |

mod index;
mod layout;
mod make;
mod source;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use axum::response::Response;
use serde::Serialize;
use serde_json::{Value, json};
use shakmaty::Move;
use tempfile::TempDir;

use self::index::Index;
pub(super) use self::index::{Found, Game};
use self::layout::MAGIC;
use self::make::make;
use self::source::Files;
use super::Explorer;
use super::fault::Fault;
use super::place::Place;
use super::reply::{json, text};
use super::request::Query;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::progress::Progress;
use crate::base::resources::Resources;
use crate::book::{Among, MoveFacts, Slice};
use crate::chess::{Position, RatingBand};
use crate::games::{self, Date};

/// What the name of an index adds to that of the book.
const ENDING: &str = ".games";

/// Bytes of memory that making an index takes.
const MEMORY: usize = 256 << 20;

/// The media type of PGN.
const PGN: &str = "application/x-chess-pgn";

/// The games, and where their texts are.
pub(super) struct Games {
    index: Index,
    files: Files,
    /// Where the index is, if it cannot be kept.
    _folder: Option<TempDir>,
}

/// The name of the index beside a file.
fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ENDING);
    name.into()
}

/// Whether a file is an index, of whatever version.
fn is_index(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == MAGIC
}

impl Games {
    /// Opens the index of the games in these files, which is beside the book, or makes it there if it is missing or the files have
    /// changed. Where it cannot be written, it is made for this time, and a warning says so.
    ///
    /// # Errors
    /// When a file cannot be read or holds no games, or a file with its name is not an index; or when the work is
    /// interrupted.
    pub(super) fn open(
        paths: &[PathBuf],
        book: Option<&Path>,
        progress: &Progress,
        warnings: &mut Vec<String>,
    ) -> Result<Self> {
        let mut sources = games::open(paths)?;
        warnings.extend(sources.passed_over().iter().map(Error::to_string));
        let (files, stamp) = Files::of(&sources)?;
        let Some(target) = book.or(paths.first().map(PathBuf::as_path)).map(beside) else {
            return Err(Error::new(ErrorKind::Usage, "there are no games"));
        };
        let is_old = is_index(&target);
        if let Some(index) = is_old.then(|| Index::open(&target, &stamp)).and_then(Result::ok).flatten() {
            return Ok(Self { index, files, _folder: None });
        }
        if !is_old && target.exists() {
            let what = "this is not an index of games, so it is not replaced by one";
            return Err(Error::new(ErrorKind::File, what).at_path(&target).advice("move it, or the book"));
        }
        let resources = Resources::new(None, Some(MEMORY), None)?;
        let (target, folder) = match make::begin(&target, is_old) {
            Ok(file) => {
                drop(file);
                (target, None)
            }
            Err(error) => {
                warnings.push(format!("the index of the games cannot be kept: {error}"));
                let folder = tempfile::tempdir_in(&resources.temp)
                    .map_err(|error| Error::temporary(&resources.temp, error))?;
                (folder.path().join("index"), Some(folder))
            }
        };
        let made = make(&mut sources, &files, &stamp, &target, &resources, progress)?;
        warnings.extend(made.warning());
        let index = Index::open(&target, &stamp)?.ok_or_else(|| {
            Error::new(ErrorKind::File, "the index of the games changed while it was made").at_path(&target)
        })?;
        Ok(Self { index, files, _folder: folder })
    }

    /// The games in which a position occurred.
    pub(super) fn at(&self, at: &Position) -> Found<'_> {
        self.index.at(at.key())
    }

    /// The text of the game with this name.
    ///
    /// # Errors
    /// When there is none, or its file cannot be read any more.
    fn text(&self, id: &str) -> std::result::Result<Vec<u8>, Fault> {
        let unknown = || Fault::not_found("there is no such game");
        let game = layout::number(id).and_then(|number| self.index.game(number)).ok_or_else(unknown)?;
        self.files.text(&game)
    }
}

/// A player, with Lichess's names.
#[derive(Serialize)]
struct Player<'a> {
    name: &'a str,
    rating: Option<u16>,
}

/// A game, as the page shows it.
#[derive(Serialize)]
struct GameLine<'a> {
    id: String,
    uci: String,
    san: String,
    white: Player<'a>,
    black: Player<'a>,
    result: &'static str,
    date: String,
    event: &'a str,
}

/// The move that a game went on with, if it is legal.
pub(super) fn move_of(at: &Position, game: &Game<'_>) -> Option<Move> {
    MoveFacts::new(game.mv, 0).at(at).map(|facts| facts.mv)
}

/// Which games are wanted of those that are listed.
pub(super) struct Wanted<'a> {
    among: &'a Among,
    since: Option<Date>,
    until: Option<Date>,
}

impl<'a> Wanted<'a> {
    /// These games, of the period that a request names.
    ///
    /// # Errors
    /// When `since` or `until` is not a date.
    pub(super) fn of(query: &Query, among: &'a Among) -> std::result::Result<Self, Fault> {
        Ok(Self { among, since: query.date("since")?, until: query.date("until")?.map(Date::last_day) })
    }

    /// Whether a game is one of them.
    pub(super) fn has(&self, game: &Game<'_>) -> bool {
        let slice = Slice::new(game.speed, RatingBand::of(game.white_elo, game.black_elo));
        let in_time = self.since.is_none_or(|since| since <= game.date)
            && self.until.is_none_or(|until| game.date <= until);
        in_time && self.among.has(slice)
    }
}

/// `/api/games`: the games of a position with the highest ratings, and the latest; of these the ones that are wanted.
pub(super) fn list(explorer: &Explorer, query: &Query) -> std::result::Result<Response, Fault> {
    let place = Place::of(query)?;
    let Some(games) = &explorer.games else {
        return Err(Fault::not_found("there are no games: name files of them with --games"));
    };
    let at = place.game.position();
    let found = games.at(at);
    let rating = |rating: u16| Some(rating).filter(|rating| *rating > 0);
    let line = |game: &Game<'_>| {
        let mv = move_of(at, game)?;
        serde_json::to_value(GameLine {
            id: game.id(),
            uci: place.uci(mv),
            san: crate::view::san(at, mv),
            white: Player { name: game.white, rating: rating(game.white_elo) },
            black: Player { name: game.black, rating: rating(game.black_elo) },
            result: game.result(),
            date: game.date.to_string(),
            event: game.event,
        })
        .ok()
    };
    let among = query.among()?;
    let wanted = Wanted::of(query, &among)?;
    let games: Vec<Value> = found.games.iter().filter(|game| wanted.has(game)).filter_map(line).collect();
    Ok(json(&json!({ "total": found.total, "listed": found.games.len(), "games": games })))
}

/// `/masters/pgn/ID`, and `/api/game?id=ID`: a game as PGN.
pub(super) fn pgn(explorer: &Explorer, id: &str) -> std::result::Result<Response, Fault> {
    let games = explorer.games.as_ref().ok_or_else(|| Fault::not_found("there is no such game"))?;
    Ok(text(PGN, games.text(id)?))
}
