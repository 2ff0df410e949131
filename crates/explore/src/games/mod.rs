//! The games of a position: an index of files of games, made once beside a book.
//!
//! | step | module |
//! |---|---|
//! | the bytes of an index | [`layout`] |
//! | making one | [`mod@make`], [`mod@write`] |
//! | what is counted of games | [`tally`] |
//! | looking positions, games and players up in one | [`index`] |
//! | which games are wanted | [`wanted`] |
//! | what they tell of a position, as a book | [`table`] |
//! | the text of a game, from its file | [`source`] |

mod index;
mod layout;
mod make;
mod source;
mod table;
mod tally;
mod wanted;
mod write;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use axum::response::Response;
use serde::Serialize;
use serde_json::{Value, json};
use shakmaty::Move;
use tempfile::TempDir;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::folder;
use tabiya_base::progress::Progress;
use tabiya_base::resources::Resources;
use tabiya_book::MoveFacts;
use tabiya_chess::{MoveCode, Position, Variant};
use tabiya_workshop::source::open_games;

use self::index::GamesIndex;
pub(super) use self::index::{FoundGames, IndexedGame, Names};
use self::layout::MAGIC;
use self::make::make;
use self::source::GameFiles;
use self::table::ToldApart;
pub(super) use self::tally::{GameFacts, PlayedMove};
use self::wanted::NamedPlayers;
pub(super) use self::wanted::Wanted;
use self::write::begin;
use super::Explorer;
use super::fault::Fault;
use super::place::ShownPlace;
use super::reply::{json, text};
use super::request::Query;
use super::words;

/// What the name of an index adds to that of the book.
const ENDING: &str = ".games";

/// Bytes of memory that making an index takes.
const MEMORY: usize = 256 << 20;

/// Games of an answer if the request does not say, and at most.
const PAGE: usize = 30;
const MAX_PAGE: usize = 500;

/// The media type of PGN.
const PGN: &str = "application/x-chess-pgn";

/// The games, and where their texts are.
pub(super) struct GamesOfPosition {
    index: GamesIndex,
    files: GameFiles,
    variant: Variant,
    /// The files and folders as they were named.
    paths: Vec<PathBuf>,
    told: ToldApart,
    /// Players who were looked for.
    players: Mutex<Vec<Arc<NamedPlayers>>>,
    /// Where the index is, if it cannot be kept.
    _folder: Option<TempDir>,
}

/// The name of the index beside a file.
fn beside(file: &Path) -> PathBuf {
    folder::with_suffix(file, ENDING)
}

/// Whether a file is an index, of whatever version.
fn is_index(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == MAGIC
}

impl GamesOfPosition {
    /// Opens the index of the games of a variant in these files, which is beside the book, or makes it there if it is missing or the files have
    /// changed. Where it cannot be written, it is made for this time, and a warning says so.
    ///
    /// # Errors
    /// When a file cannot be read or holds no games, or a file with its name is not an index; or when the work is
    /// interrupted.
    pub(super) fn open(
        paths: &[PathBuf],
        (book, variant): (Option<&Path>, Variant),
        progress: &Progress,
        warnings: &mut Vec<String>,
    ) -> Result<Self> {
        let mut sources = open_games(paths)?.of_variant(variant)?;
        warnings.extend(sources.passed_over().iter().map(Error::with_source));
        let (files, stamp) = GameFiles::open(&sources)?;
        let Some(target) = book.or(paths.first().map(PathBuf::as_path)).map(beside) else {
            return Err(Error::new(ErrorKind::Usage, "there are no games"));
        };
        let is_old = is_index(&target);
        if is_old && GamesIndex::is_damaged(&target) {
            warnings
                .push(format!("{}: the index of the games was damaged, and is made anew", target.display()));
        }
        if let Some(index) = is_old.then(|| GamesIndex::open(&target, &stamp)).and_then(Result::ok).flatten()
        {
            return Ok(Self::of(index, files, variant, paths, None));
        }
        if !is_old && target.exists() {
            let what = "this is not an index of games, so it is not replaced by one";
            return Err(Error::new(ErrorKind::File, what).at_path(&target).advice("move it, or the book"));
        }
        let resources = Resources::new(None, Some(MEMORY), None)?;
        let (target, folder) = match begin(&target, is_old) {
            Ok(file) => {
                drop(file);
                (target, None)
            }
            Err(error) => {
                warnings.push(format!("the index of the games cannot be kept: {error:#}"));
                let folder = resources.temporary_folder()?;
                (folder.path().join("index"), Some(folder))
            }
        };
        let made = make(&mut sources, &files, &stamp, &target, &resources, progress)?;
        warnings.extend(made.warnings(variant));
        let index = GamesIndex::open(&target, &stamp)?.ok_or_else(|| {
            Error::new(ErrorKind::File, "the index of the games changed while it was made").at_path(&target)
        })?;
        Ok(Self::of(index, files, variant, paths, folder))
    }

    fn of(
        index: GamesIndex,
        files: GameFiles,
        variant: Variant,
        paths: &[PathBuf],
        folder: Option<TempDir>,
    ) -> Self {
        let (told, paths) = (ToldApart::new(&index), paths.to_owned());
        Self { index, files, variant, paths, told, players: Mutex::default(), _folder: folder }
    }

    /// Whose rules the games obey.
    pub(super) fn variant(&self) -> Variant {
        self.variant
    }

    /// The games in which a position of the variant occurred.
    pub(super) fn at(&self, at: &Position) -> FoundGames<'_> {
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
struct GamePlayer<'a> {
    name: &'a str,
    rating: Option<u16>,
}

/// A game, as the page shows it.
#[derive(Serialize)]
struct GameLine<'a> {
    id: String,
    /// The move that it went on with; none if it ended here.
    uci: Option<String>,
    san: Option<String>,
    white: GamePlayer<'a>,
    black: GamePlayer<'a>,
    result: &'static str,
    date: String,
    event: &'a str,
}

/// The move that a game went on with, if it is legal.
pub(super) fn move_of(at: &Position, game: &IndexedGame<'_>) -> Option<Move> {
    if game.mv == MoveCode::NULL {
        return None;
    }
    MoveFacts::new(game.mv, 0).at(at).map(|facts| facts.mv)
}

/// `/api/games`: the games of a position that are wanted, a page of them: those with the highest ratings first, or the latest.
pub(super) fn list(explorer: &Explorer, query: &Query) -> std::result::Result<Response, Fault> {
    let place = explorer.place(query)?;
    let Some(games) = &explorer.games else {
        return Err(Fault::not_found(words::GAMES));
    };
    if games.variant != place.variant() {
        return Err(Fault::bad(format!("variant: the games are of {} only", games.variant)));
    }
    let at = place.game.position();
    let found = games.at(at);
    let wanted = games.wanted_by(query)?;
    let (from, most) = (query.number("from", usize::MAX)?.unwrap_or(0), query.number("limit", MAX_PAGE)?);
    let most = most.unwrap_or(PAGE);
    let is_latest = match query.get("order") {
        None | Some("strongest") => false,
        Some("latest") => true,
        Some(_) => return Err(Fault::bad("order: write strongest or latest")),
    };
    let chosen = if is_latest { wanted.latest_of(&found) } else { wanted.of(&found) };
    let page: Vec<IndexedGame<'_>> = chosen.skip(from).take(most).collect();
    let count = wanted.count_of(&found);
    let games: Vec<Value> = page.iter().filter_map(|game| line(&place, game)).collect();
    Ok(json(&json!({ "total": found.total(), "listed": count, "games": games })))
}

/// A game of a position, as the page shows it.
fn line(place: &ShownPlace, game: &IndexedGame<'_>) -> Option<Value> {
    let at = place.game.position();
    let rating = |rating: u16| Some(rating).filter(|rating| *rating > 0);
    let mv = move_of(at, game);
    let Names { white, black, event } = game.names();
    serde_json::to_value(GameLine {
        id: game.id(),
        uci: mv.map(|mv| place.uci(mv)),
        san: mv.map(|mv| tabiya_workshop::view::san(at, mv)),
        white: GamePlayer { name: white, rating: rating(game.facts.elos.white) },
        black: GamePlayer { name: black, rating: rating(game.facts.elos.black) },
        result: game.result(),
        date: game.facts.date.to_string(),
        event,
    })
    .ok()
}

/// `/masters/pgn/ID`, and `/api/game?id=ID`: a game as PGN.
pub(super) fn pgn(explorer: &Explorer, id: &str) -> std::result::Result<Response, Fault> {
    let games = explorer.games.as_ref().ok_or_else(|| Fault::not_found("there is no such game"))?;
    Ok(text(PGN, games.text(id)?))
}
