//! `tabiya report`: where games left the books, and how they ended.

mod json;
mod person;
mod pgn;
mod text;

use std::path::PathBuf;
use std::sync::Arc;

use shakmaty::Color;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::parallel;
use tabiya_base::replace::{Replacement, keep_inputs};
use tabiya_base::resources::Resources;
use tabiya_book::Book;
use tabiya_games::play::play_in_order;
use tabiya_games::{self as games, Header, PlayerName};
use tabiya_learn as learn;
use tabiya_learn::evals::{self, Store};
use tabiya_workshop::report::{ERRORS_KEPT, Game, Kept, Players, Reader, Shelf, Sums};

use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::{self, Printed, Stop, damage, progress};

/// Rows of each list if no number is named.
const TOP: usize = 10;

/// Bytes for games that are unusually long.
const MEMORY: usize = 64 << 20;

/// `tabiya report`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The games: PGN files (also compressed: .gz, .zst, .bz2, .xz, .zip), folders of them, ChessBase databases (.cbh), - for
    /// standard input
    #[arg(required = true, value_name = "GAMES")]
    games: Vec<PathBuf>,
    /// A book that was used, or should have been; with NAME= only by the player of this name (the whole name, ignoring case);
    /// repeatable
    #[arg(long, required = true, value_name = "[NAME=]FILE", value_parser = OwnedBook::read)]
    book: Vec<OwnedBook>,
    /// Only games of this player, seen from the player's side: part of the name, ignoring case
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// A file of evaluations (a store), for games without any; repeatable [default: those beside the books]
    #[arg(long, value_name = "FILE")]
    store: Vec<PathBuf>,
    /// Rows in each list
    #[arg(long, value_name = "N", default_value_t = TOP)]
    top: usize,
    /// Print one line of JSON, with every game
    #[arg(long)]
    json: bool,
    /// Also write the games into this file, with the book's moves as variations where they left the books
    #[arg(long, value_name = "FILE.pgn")]
    pgn: Option<PathBuf>,
    /// Replace the file of --pgn if it exists
    #[arg(long, requires = "pgn")]
    force: bool,
}

/// A book, and the player that it belongs to.
#[derive(Clone, Debug)]
struct OwnedBook {
    /// The whole name; `None`: it is every player's.
    player: Option<String>,
    path: PathBuf,
}

impl OwnedBook {
    /// Reads `FILE` or `NAME=FILE`. A file whose name has a `=` itself is a file.
    fn read(text: &str) -> std::result::Result<Self, String> {
        let whole = Self { player: None, path: text.into() };
        match text.split_once('=') {
            Some((player, file)) if !player.trim().is_empty() && !whole.path.exists() => {
                if file.is_empty() {
                    return Err(format!("the book of {player} has no name: write {player}=FILE"));
                }
                Ok(Self { player: Some(player.trim().to_owned()), path: file.into() })
            }
            _ => Ok(whole),
        }
    }
}

/// What is found in the games.
struct Found {
    books: Vec<Arc<dyn Book>>,
    sums: Sums,
    players: Players,
    /// Games that were wanted.
    games: u64,
    exit: Exit,
}

/// Reads the games, and reports.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted.
pub fn run(args: &Args) -> Result<Exit> {
    let open = |book: &OwnedBook| {
        let owner = book.player.as_deref().map(PlayerName::whole);
        Ok((owner, learn::open_settled(&book.path)?))
    };
    // With --player the books are what the player should know, whichever were played from.
    let shelf = Shelf::new(args.book.iter().map(open).collect::<Result<Vec<_>>>()?, args.player.is_some());
    let books = shelf.books().to_vec();
    let mut absent: Vec<&str> = args.book.iter().filter_map(|book| book.player.as_deref()).collect();
    let paths: Vec<PathBuf> = if args.store.is_empty() {
        args.book.iter().map(|book| evals::beside(&book.path)).filter(|path| path.exists()).collect()
    } else {
        args.store.clone()
    };
    let stores = paths.iter().map(Store::open).collect::<Result<Vec<_>>>()?;
    let mut source = games::open(&args.games)?;
    let passed_over = output::sources_passed_over(&source);
    let mut inputs = learn::files_of(books.iter().map(|book| &**book));
    inputs.extend(source.parts().into_iter().chain(paths));
    keep_inputs(args.pgn.as_slice(), &inputs)?;
    interrupts::watch();
    let mut file = args.pgn.as_ref().map(|path| Replacement::new(path, args.force)).transpose()?;
    let player = args.player.as_deref().map(PlayerName::part);
    let name = args.games.first().map(|path| path.to_string_lossy().into_owned());
    let progress = progress::on_terminal(name.unwrap_or_default());
    let resources = Resources { threads: parallel::processors(), memory: MEMORY, temp: std::env::temp_dir() };
    let mut found =
        Found { books, sums: Sums::default(), players: Players::default(), games: 0, exit: passed_over };
    let exit = output::print(|out| {
        if args.json {
            write!(out, "{{\"games\":[")?;
        }
        let mut failed = None;
        let mut see = |game: Game, found: &mut Found| -> Printed<()> {
            let is_black = player.as_ref().is_some_and(|player| !player.is(&game.players.white));
            let side = if is_black { Color::Black } else { Color::White };
            found.sums.add(&game, side);
            found.players.add(&game);
            found.games += 1;
            absent.retain(|name| !game.players.iter().any(|player| PlayerName::whole(name).is(player)));
            if args.json {
                json::game(&game, found.games == 1, out)?;
            }
            if let Some(file) = &mut file {
                pgn::game(&game, file).map_err(|error| file.error(error))?;
            }
            Ok(())
        };
        let (mut before, mut errors, mut failures) = (0, Vec::new(), 0);
        let admits = |header: &Header| {
            player.as_ref().is_none_or(|player| player.is(&header.white) || player.is(&header.black))
        };
        let kept = Kept { line: args.pgn.is_some(), book_moves: args.json || args.pgn.is_some() };
        let reader = || Reader::new(&shelf, &stores, &admits, kept);
        let played = play_in_order(&mut source, &resources, &progress, reader, |reader| {
            for mut game in reader.found {
                game.number += before;
                if let Err(stop) = see(game, &mut found) {
                    failed = Some(stop);
                    return Err(Error::new(ErrorKind::File, "the games cannot be shown"));
                }
            }
            before += reader.games;
            failures += reader.failed;
            errors.extend(reader.errors.into_iter().take(ERRORS_KEPT.saturating_sub(errors.len())));
            Ok(())
        });
        if let Some(stop) = failed {
            return Err(stop);
        }
        played?;
        drop(progress);
        for error in &errors {
            output::warn(&error.to_string());
        }
        if failures > 0 {
            found.exit = Exit::Findings;
        }
        for name in &absent {
            output::warn(&format!("no game has the player {name:?}, who is named with --book"));
        }
        if let Some(more) = failures.checked_sub(errors.len() as u64).filter(|more| *more > 0) {
            output::warn(&format!("{more} more games could not be read to their end"));
        }
        if !absent.is_empty() {
            found.exit = Exit::Findings;
        }
        if found.games == 0 && !args.json {
            return Err(Stop::Error(nothing(args)));
        }
        match (args.json, &args.player) {
            (true, _) => json::rest(&found, out)?,
            (false, Some(name)) => person::report(&found, name, args.top, out)?,
            (false, None) => text::report(&found, args.top, out)?,
        }
        Ok(found.exit)
    })?;
    if let Some(file) = file {
        file.commit()?;
    }
    damage::of_look_ups(&found.books, exit)
}

fn nothing(args: &Args) -> Error {
    match &args.player {
        Some(name) => {
            Error::new(ErrorKind::Usage, format!("no game has a player whose name contains {name:?}"))
                .advice("write a part of the name as the games have it")
        }
        None => Error::new(ErrorKind::Format, "there are no games").advice("name a file of games"),
    }
}
