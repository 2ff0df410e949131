//! The games that a book names: all of them, or those of a position and of those that its moves lead to.

use std::io::{self, Write};
use std::ops::ControlFlow;

use serde::Serialize;

use crate::book::{Book, LinkedGame};
use crate::chess::Position;

/// A game as other programs read it: names and order are promised to them.
#[derive(Serialize)]
pub struct GameLine<'a> {
    white: &'a str,
    black: &'a str,
    white_elo: Option<u16>,
    black_elo: Option<u16>,
    result: &'static str,
    kind: String,
    source: &'a str,
    gone: bool,
    place: String,
}

impl<'a> From<&'a LinkedGame> for GameLine<'a> {
    fn from(game: &'a LinkedGame) -> Self {
        let elo = |elo: u16| (elo > 0).then_some(elo);
        Self {
            white: &game.white,
            black: &game.black,
            white_elo: elo(game.white_elo),
            black_elo: elo(game.black_elo),
            result: game.result(),
            kind: game.kind.to_string(),
            source: &game.source,
            gone: game.gone,
            place: game.place(),
        }
    }
}

/// Writes all games of a book, one a line, as JSON where that is asked for; whether there are any.
pub fn all(book: &dyn Book, json: bool, out: &mut dyn Write) -> io::Result<bool> {
    let (mut count, mut written) = (0_u64, Ok(()));
    if !json {
        writeln!(out, "{} ({}):", book.path().display(), book.format())?;
    }
    book.games(&mut |game| {
        count += 1;
        written = one(&game, json, out);
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    written?;
    match (json, count) {
        (true, _) => {}
        (false, 0) => writeln!(out, "names no games\n")?,
        (false, _) => writeln!(out)?,
    }
    Ok(count > 0)
}

/// Writes the games that a book names for a position and for those that its moves lead to, each once.
pub fn near(book: &dyn Book, at: &Position, json: bool, out: &mut dyn Write) -> io::Result<bool> {
    let mut moves = Vec::new();
    book.moves(at, &mut moves);
    let next = moves.iter().map(|known| at.after(known.mv));
    let mut games: Vec<LinkedGame> = Vec::new();
    for game in std::iter::once(at.clone()).chain(next).filter_map(|at| book.game(&at)) {
        if games.iter().all(|known| known.number != game.number) {
            games.push(game);
        }
    }
    if !json {
        writeln!(out, "{} ({}):", book.path().display(), book.format())?;
        if games.is_empty() {
            writeln!(out, "names no games here")?;
        }
    }
    games.iter().try_for_each(|game| one(game, json, out))?;
    if !json {
        writeln!(out)?;
    }
    Ok(!games.is_empty())
}

fn one(game: &LinkedGame, json: bool, out: &mut dyn Write) -> io::Result<()> {
    if json {
        serde_json::to_writer(&mut *out, &GameLine::from(game))?;
        writeln!(out)
    } else {
        // Names come out of files.
        writeln!(out, " {}", game.to_string().replace(char::is_control, " "))
    }
}
