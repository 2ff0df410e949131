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

use std::cmp::Reverse;
use std::fs;
use std::io::Read as _;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use axum::response::Response;
use serde::Serialize;
use serde_json::{Value, json};
use shakmaty::{Color, Move};
use tempfile::TempDir;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::folder;
use tabiya_base::progress::Progress;
use tabiya_base::resources::Resources;
use tabiya_book::{Among, MoveFacts, Slice};
use tabiya_chess::{MoveCode, Position, RatingBand, Variant};
use tabiya_games::Date;
use tabiya_workshop::source::open_games;

use self::index::GamesIndex;
pub(super) use self::index::{FoundGames, IndexedGame, Names};
use self::layout::MAGIC;
use self::make::make;
use self::source::GameFiles;
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
            return Ok(Self { index, files, variant, _folder: None });
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
                warnings.push(format!("the index of the games cannot be kept: {error:#}"));
                let folder = tempfile::tempdir_in(&resources.temp)
                    .map_err(|error| Error::temporary(&resources.temp, error))?;
                (folder.path().join("index"), Some(folder))
            }
        };
        let made = make(&mut sources, &files, &stamp, &target, &resources, progress)?;
        warnings.extend(made.warnings(variant));
        let index = GamesIndex::open(&target, &stamp)?.ok_or_else(|| {
            Error::new(ErrorKind::File, "the index of the games changed while it was made").at_path(&target)
        })?;
        Ok(Self { index, files, variant, _folder: folder })
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

/// Which games of a position are wanted.
pub(super) struct Wanted<'a> {
    among: &'a Among,
    since: Option<Date>,
    until: Option<Date>,
    /// A part of a player's name, in lower case.
    player: Option<String>,
}

impl<'a> Wanted<'a> {
    /// These games, of the period and the player that a request names.
    ///
    /// # Errors
    /// When `since` or `until` is not a date.
    pub(super) fn from_query(query: &Query, among: &'a Among) -> std::result::Result<Self, Fault> {
        let (since, until) = (query.date("since")?, query.date("until")?.map(Date::last_day));
        Ok(Self { among, since, until, player: None })
    }

    /// The same, of this player only.
    pub(super) fn by(self, player: Option<&str>) -> Self {
        Self { player: player.map(str::to_lowercase), ..self }
    }

    /// Whether all games are.
    pub(super) fn is_all(&self) -> bool {
        !self.among.by().any() && self.since.is_none() && self.until.is_none() && self.player.is_none()
    }

    /// Whether a game is one of them, and the player, if one is wanted, is this side.
    pub(super) fn has_mover(&self, game: &IndexedGame<'_>, side: Color) -> bool {
        let is_his = |player: &String| {
            let Names { white, black, .. } = game.names();
            has_lowercase(side.fold_wb(white, black), player)
        };
        self.player.as_ref().is_none_or(is_his) && self.has(game)
    }

    /// Whether a game is one of them.
    pub(super) fn has(&self, game: &IndexedGame<'_>) -> bool {
        let [white, black] = [game.white_elo, game.black_elo].map(NonZeroU16::new);
        let slice = Slice::new(game.speed, RatingBand::from_ratings(white, black));
        let in_time = self.since.is_none_or(|since| since <= game.date)
            && self.until.is_none_or(|until| game.date <= until);
        let named = |player: &String| {
            let Names { white, black, .. } = game.names();
            [white, black].into_iter().any(|name| has_lowercase(name, player))
        };
        in_time && self.among.has(slice) && self.player.as_ref().is_none_or(named)
    }
}

/// Whether a name has a part that is in lower case.
fn has_lowercase(name: &str, part: &str) -> bool {
    if !name.is_ascii() {
        return name.to_lowercase().contains(part);
    }
    let Some(first) = part.bytes().next() else { return true };
    let name = name.as_bytes();
    memchr::memchr2_iter(first, first.to_ascii_uppercase(), name)
        .filter_map(|at| name.get(at..at + part.len()))
        .any(|found| found.eq_ignore_ascii_case(part.as_bytes()))
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
    let among = query.among()?;
    let wanted = Wanted::from_query(query, &among)?.by(query.get("player"));
    let (from, most) = (query.number("from", usize::MAX)?.unwrap_or(0), query.number("limit", MAX_PAGE)?);
    let most = most.unwrap_or(PAGE);
    let is_latest = match query.get("order") {
        None | Some("strongest") => false,
        Some("latest") => true,
        Some(_) => return Err(Fault::bad("order: write strongest or latest")),
    };
    let (count, page): (u64, Vec<IndexedGame<'_>>) = if wanted.is_all() && !is_latest {
        (found.total(), found.skip(from).games().take(most).collect())
    } else {
        let mut count = 0;
        let chosen = found.games().filter(|game| wanted.has(game)).inspect(|_| count += 1);
        let page = if is_latest {
            latest(chosen, from.saturating_add(most)).into_iter().skip(from).collect()
        } else {
            let mut chosen = chosen.skip(from);
            let page = chosen.by_ref().take(most).collect();
            chosen.for_each(drop);
            page
        };
        (count, page)
    };
    let games: Vec<Value> = page.iter().filter_map(|game| line(&place, game)).collect();
    Ok(json(&json!({ "total": found.total(), "listed": count, "games": games })))
}

/// The latest of these games, at most so many.
pub(super) fn latest<'a>(games: impl Iterator<Item = IndexedGame<'a>>, most: usize) -> Vec<IndexedGame<'a>> {
    /// Games beyond twice those wanted that are kept before they are sorted.
    const MORE: usize = 1000;
    let mut kept: Vec<IndexedGame<'_>> = Vec::new();
    let sort = |kept: &mut Vec<IndexedGame<'_>>| {
        kept.sort_by_key(|game| Reverse((game.date, game.strength())));
        kept.truncate(most);
    };
    for game in games {
        kept.push(game);
        if kept.len() >= most.saturating_mul(2).saturating_add(MORE) {
            sort(&mut kept);
        }
    }
    sort(&mut kept);
    kept
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
        white: GamePlayer { name: white, rating: rating(game.white_elo) },
        black: GamePlayer { name: black, rating: rating(game.black_elo) },
        result: game.result(),
        date: game.date.to_string(),
        event,
    })
    .ok()
}

/// `/masters/pgn/ID`, and `/api/game?id=ID`: a game as PGN.
pub(super) fn pgn(explorer: &Explorer, id: &str) -> std::result::Result<Response, Fault> {
    let games = explorer.games.as_ref().ok_or_else(|| Fault::not_found("there is no such game"))?;
    Ok(text(PGN, games.text(id)?))
}
