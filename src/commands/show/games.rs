//! The games that a book refers to: all of them, or those for a position and for the positions after its moves.

use std::io::Write;

use tabiya_base::visit::Break;
use tabiya_book::traits::Book;
use tabiya_book::{GameReference, Remarks};
use tabiya_chess::Position;
use tabiya_workshop::view::game_line;

use crate::output::{self, rows};

/// Writes the games of a book, or with a position those for it and for the positions after its moves; returns whether there
/// are any.
///
/// # Errors
/// When `out` cannot be written.
pub fn list(
    book: &dyn Book,
    at: Option<&Position>,
    json: bool,
    out: &mut dyn Write,
) -> output::Printed<bool> {
    if !json {
        writeln!(out, "{} ({}):", book.path().display(), book.format())?;
    }
    let mut any = false;
    let mut write = |game: &GameReference| {
        any = true;
        if json {
            rows::json(&game_line(game), out)
        } else {
            // The names come from files.
            writeln!(out, " {}", game.to_string().replace(char::is_control, " "))
        }
    };
    match (book.as_remarks(), at) {
        (None, _) => {}
        (Some(remarks), Some(at)) => near(book, remarks, at).iter().try_for_each(write)?,
        (Some(remarks), None) => {
            let mut written = Ok(());
            remarks.games(&mut |game| {
                written = write(&game);
                if written.is_ok() { Ok(()) } else { Err(Break::Enough) }
            })?;
            written?;
        }
    }
    if !json {
        if !any {
            writeln!(out, "names no games{}", if at.is_some() { " here" } else { "" })?;
        }
        writeln!(out)?;
    }
    Ok(any)
}

/// The games of a position and of the positions after its moves, each once.
fn near(book: &dyn Book, remarks: &dyn Remarks, at: &Position) -> Vec<GameReference> {
    let moves = book.moves_in(at);
    let next = moves.iter().map(|known| at.after(known.mv));
    let mut games: Vec<GameReference> = Vec::new();
    for game in std::iter::once(at.clone()).chain(next).filter_map(|at| remarks.game(&at)) {
        if games.iter().all(|known| known.number != game.number) {
            games.push(game);
        }
    }
    games
}
