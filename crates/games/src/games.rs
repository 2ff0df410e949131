//! Games one after another, as other programs read them: in types of this crate and of shakmaty.

use std::collections::VecDeque;
use std::fmt;
use std::iter::FusedIterator;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use shakmaty::Move;

use tabiya_base::error::Error as BaseError;
use tabiya_chess::{Position, Variant};

use super::open::open as open_files;
use super::{Error, GameEnd, GameError, GameHeader, GameResult, Result, Sources, Visitor};

/// Opens the games of a file or of the files in a folder: PGN, ChessBase databases, and compressed files of PGN.
///
/// ```no_run
/// for game in tabiya_games::open("games.pgn")? {
///     let game = game?;
///     println!("{} - {}: {} moves", game.header.white, game.header.black, game.moves.len());
/// }
/// # Ok::<_, tabiya_games::Error>(())
/// ```
///
/// # Errors
/// When the file is missing or does not hold games, or when the folder has no file of games.
pub fn open(path: impl AsRef<Path>) -> Result<Games> {
    open_all([path.as_ref()])
}

/// Opens the games of several files and folders, one after another; `-` is standard input. In a folder and the folders within it, all
/// PGN files, ZIP archives and ChessBase databases are read in the order of their names. Any file of a database means the whole database.
///
/// # Errors
/// As [`open()`], for any of them.
pub fn open_all(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Games> {
    let paths: Vec<PathBuf> = paths.into_iter().map(|path| path.as_ref().to_owned()).collect();
    let mut sources = open_files(&paths)?;
    let ready = sources.take_passed_over().into_iter().map(|error| Err(error.into())).collect();
    Ok(Games { sources, tags: Vec::new(), ready, ended: false })
}

/// A game as its source has it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Game {
    /// What is known of it before its moves.
    pub header: GameHeader,
    /// The position that it starts from.
    pub start: Position,
    /// The legal moves of its main line.
    pub moves: Vec<Move>,
    /// The result of the header or after the moves, if either has one.
    pub result: Option<GameResult>,
    /// What cut the game short: moves after it are lost.
    pub cut: Option<GameError>,
}

/// The games of some files, or what is wrong with those that cannot be read.
///
/// A game that cannot be read is an error, and the next one follows; so does a file in a folder that is no file of games. After an
/// error of a file that is read the games end. Some hundred kilobytes of a file are read ahead, on the thread that asks.
pub struct Games {
    sources: Sources,
    tags: Vec<String>,
    ready: VecDeque<Result<Game>>,
    ended: bool,
}

impl Games {
    /// The same, of which the games of this variant are read instead of those of standard chess and Chess960.
    ///
    /// # Errors
    /// When one is a database: those hold no other variant.
    pub fn of_variant(self, variant: Variant) -> Result<Self> {
        Ok(Self { sources: self.sources.of_variant(variant)?, ..self })
    }

    /// The same with more tags in the headers than those that have a field, by their names.
    #[must_use]
    pub fn with_tags(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tags.extend(names.into_iter().map(Into::into));
        self
    }
}

impl Iterator for Games {
    type Item = Result<Game>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.ready.front().is_some() || self.ended {
                return self.ready.pop_front();
            }
            let variant = self.sources.variant();
            match self.sources.next_batch() {
                Ok(Some(batch)) => {
                    let found = &mut self.ready;
                    batch.play(&mut Collector { found, tags: &self.tags, variant, game: None });
                }
                Ok(None) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    self.ready.push_back(Err(error.into()));
                }
            }
        }
    }
}

impl FusedIterator for Games {}

impl fmt::Debug for Games {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.sources, f)
    }
}

/// Keeps the games of a batch.
struct Collector<'a> {
    found: &'a mut VecDeque<Result<Game>>,
    tags: &'a [String],
    variant: Variant,
    game: Option<Game>,
}

impl Visitor for Collector<'_> {
    fn wanted_tags(&self) -> &[String] {
        self.tags
    }

    fn begin(&mut self, header: &GameHeader) -> bool {
        let start = header.start.clone().unwrap_or_else(|| Position::start_of(self.variant));
        let header = header.clone();
        self.game = Some(Game { header, start, moves: Vec::new(), result: None, cut: None });
        true
    }

    fn ply(&mut self, _: &Position, mv: Move) -> ControlFlow<()> {
        if let Some(game) = &mut self.game {
            game.moves.push(mv);
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self, end: GameEnd) {
        if let Some(game) = self.game.take() {
            self.found.push_back(Ok(Game { result: end.result, cut: end.error, ..game }));
        }
    }

    fn unreadable(&mut self, error: GameError) {
        self.found.push_back(Err(Error::from(error)));
    }
}

impl From<GameError> for Error {
    fn from(error: GameError) -> Self {
        let GameError { place, why, .. } = error;
        let what = format!("{}: {why}", place.spot);
        BaseError::format(&*place.file, what).at_offset(place.offset).into()
    }
}
