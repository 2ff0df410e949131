//! Games of files.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::PathBuf;

use shakmaty::{Chess, Move};

use tabiya_base::error::Result;
use tabiya_chess::Position;
use tabiya_games::{self as games, End, GameError, GameResult, Header, Sources, Visitor};

/// The games of PGN files, also compressed, of folders, and of ChessBase databases.
///
/// ```
/// use tabiya_workshop::library::Games;
///
/// let folder = tempfile::tempdir().expect("a folder");
/// let path = folder.path().join("one.pgn");
/// std::fs::write(&path, "[White \"Anderssen\"]\n\n1. e4 e5 (1... c5 2. Nf3) 2. f4 exf4 1-0\n").expect("a file");
/// for game in Games::open([&path])?.main_lines() {
///     let game = game?;
///     println!("{}: {} plies", game.header.white, game.moves.len());
///     # assert_eq!((&*game.header.white, game.moves.len()), ("Anderssen", 4));
/// }
/// # Ok::<_, tabiya_workshop::library::Error>(())
/// ```
pub struct Games(Sources);

/// A game without its variations.
#[derive(Debug)]
pub struct MainLine {
    /// What is known of it before its moves.
    pub header: Header,
    /// The position that it starts from.
    pub start: Chess,
    /// Its moves, as far as they can be read; none if only headers are asked for.
    pub moves: Vec<Move>,
    /// Its result.
    pub result: Option<GameResult>,
    /// Why the game, or the rest of it, cannot be read.
    pub error: Option<GameError>,
}

impl Games {
    /// Opens the games of files and folders; `-` is standard input.
    ///
    /// # Errors
    /// When a file is missing or does not hold games, also one in a folder.
    pub fn open(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Result<Self> {
        let paths: Vec<PathBuf> = paths.into_iter().map(Into::into).collect();
        games::open(&paths)?.whole().map(Self)
    }

    /// The main lines of all games, in their order. A game that cannot be read is one of them, with its
    /// [error](MainLine::error).
    ///
    /// # Errors
    /// When a file cannot be read: then that is the last item.
    pub fn main_lines(self) -> impl Iterator<Item = Result<MainLine>> {
        Lines { sources: Some(self.0), listener: Listener { wants_moves: true, ..Listener::default() } }
    }

    /// As [`Games::main_lines`], without moves, which are not decoded.
    ///
    /// # Errors
    /// When a file cannot be read: then that is the last item.
    pub fn headers(self) -> impl Iterator<Item = Result<MainLine>> {
        Lines { sources: Some(self.0), listener: Listener::default() }
    }

    /// Shows all games to a visitor, as far as it wants them: variations, glyphs and comments too.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn visit(mut self, visitor: &mut dyn Visitor) -> Result<()> {
        while let Some(batch) = self.0.next_batch()? {
            batch.play(visitor);
        }
        Ok(())
    }
}

/// Hands out main lines, batch by batch.
struct Lines {
    /// `None` after an error.
    sources: Option<Sources>,
    listener: Listener,
}

impl Iterator for Lines {
    type Item = Result<MainLine>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(game) = self.listener.read.pop_front() {
                return Some(Ok(game));
            }
            match self.sources.as_mut()?.next_batch() {
                Ok(batch) => {
                    batch?.play(&mut self.listener);
                }
                Err(error) => {
                    self.sources = None;
                    return Some(Err(error));
                }
            }
        }
    }
}

/// Gathers the games of a batch.
#[derive(Default)]
struct Listener {
    wants_moves: bool,
    read: VecDeque<MainLine>,
}

impl Listener {
    fn push(&mut self, header: Header, error: Option<GameError>) {
        let start = header.start.as_ref().map_or_else(Chess::default, |start| start.chess().clone());
        let result = header.result;
        self.read.push_back(MainLine { header, start, moves: Vec::new(), result, error });
    }
}

impl Visitor for Listener {
    fn begin(&mut self, header: &Header) -> bool {
        self.push(header.clone(), None);
        self.wants_moves
    }

    fn ply(&mut self, _: &Position, mv: Move) -> ControlFlow<()> {
        self.read.back_mut().into_iter().for_each(|game| game.moves.push(mv));
        ControlFlow::Continue(())
    }

    fn end(&mut self, End { result, error, .. }: End) {
        if let Some(game) = self.read.back_mut() {
            (game.result, game.error) = (result, error);
        }
    }

    fn unreadable(&mut self, error: GameError) {
        self.push(Header::default(), Some(error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_that_cannot_be_read_come_in_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.pgn");
        let text = "[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n[FEN \"8/8\"]\n\n1. e4 *\n\n1. d4 Ke4 *\n\n1. c4 c5 (1... e5) 1/2-1/2\n";
        std::fs::write(&path, text).unwrap();
        let games: Vec<_> = Games::open([&path]).unwrap().main_lines().map(Result::unwrap).collect();
        let shown: Vec<_> =
            games.iter().map(|game| (game.moves.len(), game.result, game.error.is_some())).collect();
        let (white, draw) = (Some(GameResult::White), Some(GameResult::Draw));
        assert_eq!(shown, [(2, white, false), (0, None, true), (1, None, true), (2, draw, false)]);
        let headers: Vec<_> = Games::open([&path]).unwrap().headers().map(Result::unwrap).collect();
        assert!(headers.len() == 4 && headers.iter().all(|game| game.moves.is_empty()));
        assert!(Games::open([folder.path().join("none.pgn")]).is_err());
    }
}
