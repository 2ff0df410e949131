//! `tabiya report`: where games left the books, and how they ended.

mod json;
mod person;
mod pgn;
mod text;

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use shakmaty::Color;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::parallel;
use tabiya_base::replace::{Replacement, keep_inputs};
use tabiya_base::resources::Resources;
use tabiya_book::Variant;
use tabiya_book::traits::Book;
use tabiya_games::play::play_in_order;
use tabiya_games::{GameError, GameHeader, OtherPlayers, PlayerName, Sources};
use tabiya_learn as learn;
use tabiya_search::evals::{self, Store};
use tabiya_workshop::report::{ERRORS_KEPT, GameFacts, Players, ReportGame, ReportReader, Shelf, Sums};
use tabiya_workshop::source::open_games;

use crate::args::player::PlayerArg;
use crate::args::screens::{GAMES, PLAYER, Screen};
use crate::args::variant::{VariantArgs, open_of};
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::rows::many;
use crate::output::{self, Printed, Stop, damage, progress};

/// Rows of each list if no number is named.
const TOP: usize = 10;

/// Bytes for games that are unusually long.
const MEMORY: usize = 64 << 20;

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "report",
    shown: &[
        ("games", GAMES),
        ("book", "A book, or one of this player alone; repeatable"),
        ("player", PLAYER),
        ("store", "A file of evaluations; repeatable"),
        ("top", ""),
        ("json", ""),
        ("pgn", "Also write the games, with the book's moves"),
        ("force", "Replace the file of --pgn if it exists"),
    ],
    examples: &["tabiya report match.pgn --book A=a.bin --book B=b.bin"],
    pages: &[("tournaments.md", "")],
}];

/// Report where games left the books, and how they ended
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The games: PGN files (also compressed: .gz, .zst, .bz2, .xz, .zip), folders of them, databases (.cbh, .cbv, .si4, .si5), - for
    /// standard input
    #[arg(required = true, value_name = "GAMES")]
    games: Vec<PathBuf>,
    /// A book that was used, or should have been; with NAME= only by the player of this name (the whole name, ignoring case);
    /// repeatable
    #[arg(long, required = true, value_name = "[NAME=]FILE", value_parser = OwnedBook::read)]
    book: Vec<OwnedBook>,
    /// Only games of the player with this in the name, of =NAME (the whole name), or of the names in @FILE, seen from the player's
    /// side
    #[arg(long, value_name = "NAME", value_parser = PlayerArg::parse)]
    player: Option<PlayerArg>,
    /// A file of evaluations (a store), for games without any; repeatable [default: those beside the books]
    #[arg(long, value_name = "FILE")]
    store: Vec<PathBuf>,
    #[command(flatten)]
    variant: VariantArgs,
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
struct ReportTotals {
    variant: Variant,
    books: Vec<Arc<dyn Book>>,
    sums: Sums,
    players: Players,
    /// Games that were wanted.
    games: u64,
    exit: Exit,
}

/// Where the games go one by one.
struct Sink<'a> {
    args: &'a Args,
    player: Option<PlayerName>,
    found: ReportTotals,
    /// Players of books that no game has had yet.
    absent: Vec<&'a str>,
    /// The players of all other games, while one of them or that of `--player` has no game.
    others: OtherPlayers,
    /// The file of `--pgn`.
    file: Option<Replacement>,
}

impl Sink<'_> {
    fn see(&mut self, game: &ReportGame, out: &mut dyn Write) -> Printed<()> {
        let is_black = self.player.as_ref().is_some_and(|player| !player.is(&game.players.white));
        self.found.sums.add(game, if is_black { Color::Black } else { Color::White });
        self.found.players.add(game);
        self.found.games += 1;
        self.absent.retain(|name| !game.players.iter().any(|player| PlayerName::whole(name).is(player)));
        if !self.absent.is_empty() {
            self.others.add(&game.players.white, &game.players.black);
        }
        if self.args.json {
            json::game(game, self.found.games == 1, out)?;
        }
        if let Some(file) = &mut self.file {
            pgn::game(game, file).map_err(|error| file.error(error))?;
        }
        Ok(())
    }

    /// Reports the players that are named and have no game.
    fn warn_of_absent(&mut self) {
        for name in &self.absent {
            let near = output::report::near(&self.others, &PlayerName::whole(name));
            let near = near.map_or_else(String::new, |near| format!(": {near}"));
            output::warn(&format!("no game has the player {name:?}, who is named with --book{near}"));
            self.found.exit = Exit::Findings;
        }
    }
}

/// The games that could not be read to their end.
#[derive(Default)]
struct Failed {
    first: Vec<GameError>,
    all: u64,
}

impl Failed {
    fn add(&mut self, reader: &mut ReportReader<'_>) {
        self.all += reader.failed;
        let room = ERRORS_KEPT.saturating_sub(self.first.len());
        self.first.extend(reader.errors.drain(..).take(room));
    }

    fn warn(&self) {
        for error in &self.first {
            output::warn(&error.to_string());
        }
    }

    fn warn_of_others(&self) {
        if let Some(more) = self.all.checked_sub(self.first.len() as u64).filter(|more| *more > 0) {
            output::warn(&format!("{more} more games could not be read to their end"));
        }
    }
}

/// Reads the games, and reports.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted.
pub fn run(args: &Args) -> Result<Exit> {
    let variant = args.variant.variant();
    let open = |book: &OwnedBook| {
        let owner = book.player.as_deref().map(PlayerName::whole);
        Ok((owner, open_of(&book.path, variant)?))
    };
    // With --player the books are what the player should know, whichever were played from.
    let shelf = Shelf::new(args.book.iter().map(open).collect::<Result<Vec<_>>>()?, args.player.is_some());
    let books = shelf.books().to_vec();
    let paths: Vec<PathBuf> = if args.store.is_empty() {
        args.book.iter().map(|book| evals::beside(&book.path)).filter(|path| path.exists()).collect()
    } else {
        args.store.clone()
    };
    let stores = paths.iter().map(Store::open).collect::<Result<Vec<_>>>()?;
    let mut source = open_games(&args.games)?.of_variant(variant)?;
    let passed_over = output::sources_passed_over(&source);
    let mut inputs = learn::files_of(books.iter().map(|book| &**book));
    inputs.extend(source.parts().into_iter().chain(paths));
    keep_inputs(args.pgn.as_slice(), &inputs)?;
    interrupts::watch();
    let mut sink = Sink {
        args,
        player: args.player.as_ref().map(PlayerArg::names).transpose()?,
        found: ReportTotals {
            variant,
            books,
            sums: Sums::default(),
            players: Players::default(),
            games: 0,
            exit: passed_over,
        },
        absent: args.book.iter().filter_map(|book| book.player.as_deref()).collect(),
        others: OtherPlayers::default(),
        file: args.pgn.as_ref().map(|path| Replacement::new(path, args.force)).transpose()?,
    };
    let print = |out: &mut dyn Write| {
        if args.json {
            write!(out, "{{\"games\":[")?;
        }
        read(&mut source, &shelf, &stores, &mut sink, out)?;
        let found = &sink.found;
        if found.games == 0 && !args.json {
            return Err(Stop::Error(nothing(args, sink.player.as_ref(), &sink.others)));
        }
        match (args.json, &args.player) {
            (true, _) => json::rest(found, out)?,
            (false, Some(name)) => person::report(found, &name.shown(), args.top, out)?,
            (false, None) => text::report(found, args.top, out)?,
        }
        let (exit, games) = (found.exit, found.games);
        if let Some(file) = sink.file.take() {
            file.commit()?;
            if let Some(path) = args.pgn.as_ref().filter(|_| !args.json) {
                writeln!(out, "{}: {}", path.display(), many(games, "game"))?;
            }
        }
        Ok(exit)
    };
    // The PGN is written to its end whoever reads the rest.
    let exit = if args.pgn.is_some() { output::print_work(print) } else { output::print(print) }?;
    damage::of_look_ups(&sink.found.books, exit)
}

/// Shows every game that is wanted to the sink, and reports what could not be read and who did not play.
fn read(
    source: &mut Sources,
    shelf: &Shelf,
    stores: &[Store],
    sink: &mut Sink<'_>,
    out: &mut dyn Write,
) -> Printed<()> {
    let name = sink.args.games.first().map(|path| path.to_string_lossy().into_owned());
    let progress = progress::on_terminal(name.unwrap_or_default());
    let resources = Resources { threads: parallel::processors(), memory: MEMORY, temp: std::env::temp_dir() };
    let player = sink.player.clone();
    let (others, is_absent) = (Mutex::new(OtherPlayers::default()), AtomicBool::new(true));
    let admits = |header: &GameHeader| {
        let GameHeader { white, black, .. } = header;
        let is_his = player.as_ref().is_none_or(|player| player.is(white) || player.is(black));
        if is_his {
            is_absent.store(false, Relaxed);
        } else if is_absent.load(Relaxed) {
            others.lock().unwrap_or_else(PoisonError::into_inner).add(white, black);
        }
        is_his
    };
    let kept =
        GameFacts { line: sink.args.pgn.is_some(), book_moves: sink.args.json || sink.args.pgn.is_some() };
    let reader = || ReportReader::new(shelf, stores, &admits, kept);
    let (mut before, mut failed, mut stopped) = (0, Failed::default(), None);
    let played = play_in_order(source, &resources, &progress, reader, |mut reader| {
        for mut game in reader.found.drain(..) {
            game.number += before;
            if let Err(stop) = sink.see(&game, out) {
                stopped = Some(stop);
                return Err(Error::new(ErrorKind::File, "the games cannot be shown"));
            }
        }
        before += reader.games;
        failed.add(&mut reader);
        Ok(())
    });
    stopped.map_or(Ok(()), Err)?;
    played?;
    drop(progress);
    sink.others.merge(others.into_inner().unwrap_or_else(PoisonError::into_inner));
    failed.warn();
    if failed.all > 0 {
        sink.found.exit = Exit::Findings;
    }
    sink.warn_of_absent();
    failed.warn_of_others();
    Ok(())
}

fn nothing(args: &Args, player: Option<&PlayerName>, others: &OtherPlayers) -> Error {
    let Some((given, player)) = args.player.as_ref().zip(player) else {
        return Error::new(ErrorKind::Format, "there are no games").advice("name a file of games");
    };
    let (what, advice) = match given {
        PlayerArg::Part(name) => {
            (format!("no game has a player whose name contains {name:?}"), "write a part of the name")
        }
        _ => (format!("no game has {}", given.shown()), "write the whole name"),
    };
    let near = output::report::near(others, player).map_or_else(String::new, |near| format!("; {near}"));
    Error::new(ErrorKind::Usage, what).advice(format!("{advice} as the games have it{near}"))
}
