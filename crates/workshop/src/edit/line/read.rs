//! Reads lines as people write them: moves, or games as PGN with comments and variations.

use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::Path;

use shakmaty::Move;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_chess::{Game, Position, notation};
use tabiya_games::text::checked;
use tabiya_games::{GameEnd, GameError, GameHeader, Visitor, open_text_of};

use super::{Line, LineMove, MOST};

/// The name of the text in errors.
const NAME: &str = "the line";

impl Line {
    /// Reads a line that goes on from the end of a game, or that begins where the text says; one that begins with the number 1
    /// is meant from the start. Moves are in SAN or UCI notation, with or without numbers, or games are as in PGN.
    ///
    /// # Errors
    /// When a move is not legal or cannot be read, or there are more than [`MOST`].
    pub fn read(text: &str, here: &Game, is_set_up: bool) -> Result<Self> {
        let text = text.trim();
        let start = Game::from_position(here.start_position().clone());
        let numbered = text.starts_with("1.") || text.starts_with("1 ");
        let games = if numbered { [&start, here] } else { [here, &start] };
        let games = games.into_iter().take(if here.moves().is_empty() { 1 } else { 2 });
        let mut wrong = None;
        for game in games {
            match one(text, game, is_set_up) {
                Ok(line) if line.is_empty() => {
                    return Err(Error::new(ErrorKind::Usage, "there are no moves")
                        .advice("write moves, such as 1. e4 c5, or a game as PGN"));
                }
                Ok(line) if line.moves.len() > MOST => return Err(too_many()),
                Ok(line) => return Ok(line),
                Err(error) => wrong = wrong.or(Some(error)),
            }
        }
        Err(wrong.unwrap_or_else(too_many))
    }
}

fn too_many() -> Error {
    Error::new(ErrorKind::Usage, format!("a line has at most {MOST} moves"))
        .advice("build a book of the games, and merge the two")
}

/// Reads a line from the end of this game.
fn one(text: &str, here: &Game, is_set_up: bool) -> Result<Line> {
    let mut game = here.clone();
    let wrong = match notation::play(text, &mut game) {
        Ok(()) => return Ok(Line::of_game(&game, is_set_up, here.moves().len())),
        Err(wrong) => wrong,
    };
    if !text.contains(['[', '(', '{', ';', '$']) {
        return Err(Error::new(ErrorKind::Usage, wrong.to_string()));
    }
    let at = here.position();
    let is_elsewhere = !text.starts_with('[') && (is_set_up || !here.moves().is_empty());
    let tags =
        if is_elsewhere { format!("[SetUp \"1\"]\n[FEN \"{}\"]\n\n", at.fen()) } else { String::new() };
    let path = Path::new(NAME);
    let text = checked(path, Box::new(Cursor::new([tags.as_bytes(), text.as_bytes()].concat())))?;
    let mut reader = LineReader {
        here: (here, is_set_up),
        is_elsewhere,
        line: Line::default(),
        open: Vec::new(),
        error: None,
    };
    let mut sources = open_text_of(path, text, at.variant());
    while let Some(batch) = sources.next_batch()? {
        batch.play(&mut reader);
    }
    match reader.error {
        Some(GameError { place, why, .. }) => {
            Err(Error::new(ErrorKind::Usage, format!("{}: {why}", place.spot)))
        }
        None => Ok(reader.line),
    }
}

/// Takes games as they are read.
struct LineReader<'a> {
    /// Where the text begins, unless it says where.
    here: (&'a Game, bool),
    is_elsewhere: bool,
    line: Line,
    /// The last move of the present line, and before it those of the lines around it.
    open: Vec<Result<usize, usize>>,
    /// What cannot be read first: nothing is left out.
    error: Option<GameError>,
}

impl Visitor for LineReader<'_> {
    fn begin(&mut self, game: &GameHeader) -> bool {
        let (here, is_set_up) = self.here;
        let start = match &game.start {
            _ if self.is_elsewhere => (here.clone(), is_set_up),
            Some(start) => (Game::from_position(start.clone()), true),
            None => (Game::start_of(here.position().variant()), false),
        };
        self.open = vec![Err(self.line.starts.len())];
        self.line.starts.push(start);
        true
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        let Some(last) = self.open.last_mut() else { return ControlFlow::Break(()) };
        if self.line.moves.len() > MOST {
            return ControlFlow::Break(());
        }
        self.line.moves.push(LineMove { at: at.clone(), mv, before: *last });
        *last = Ok(self.line.moves.len() - 1);
        ControlFlow::Continue(())
    }

    fn wants_variations(&self) -> bool {
        true
    }

    fn begin_variation(&mut self) {
        // Its first move takes the place of the last one.
        let last = self.open.last().copied().unwrap_or(Err(0));
        let before = last.ok().and_then(|last| self.line.moves.get(last)).map_or(last, |last| last.before);
        self.open.push(before);
    }

    fn end_variation(&mut self) {
        self.open.pop();
    }

    fn end(&mut self, end: GameEnd) {
        self.error = self.error.take().or(end.error).or(end.cut);
    }

    fn unreadable(&mut self, error: GameError) {
        self.error.get_or_insert(error);
    }
}
