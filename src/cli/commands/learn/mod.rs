//! `tabiya learn`: exact results of games into a Polyglot book, and what it has learned.

mod collect;
mod recent;
mod spool;
mod tree;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ArgGroup;

use self::collect::{Collector, Sides};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::interrupt;
use crate::base::map::Map;
use crate::base::progress::Progress;
use crate::book::polyglot::Polyglot;
use crate::book::{self, Format};
use crate::bookmaker::report::many;
use crate::cli::output::exit::Exit;
use crate::cli::output::{self, Stop};
use crate::games::{self, PlayerName};
use crate::learn::{self, IdentifiedGame, Learner, Outcome};

/// Games that are learned in one go: enough that waiting for the disk costs little, few enough that others get their turn.
const BATCH: usize = 128;

/// Games that `--show` names.
const SHOWN_GAMES: usize = 10;

/// `tabiya learn`.
#[derive(clap::Args, Debug)]
#[command(group(ArgGroup::new("what").required(true).args(["games", "show", "reset", "undo", "spool"])))]
pub struct Args {
    /// The Polyglot book
    #[arg(value_name = "BOOK", required_unless_present = "spool", conflicts_with = "spool")]
    book: Option<PathBuf>,
    /// Learn the results of these games: a PGN file (also packed: .gz, .zst, .bz2, .xz, .zip), a folder of them, or - for standard
    /// input; repeatable
    #[arg(long, value_name = "FILE")]
    games: Vec<PathBuf>,
    /// Learn the moves of this player: a part of the name, in any letter case
    #[arg(long, value_name = "NAME", requires = "games")]
    player: Option<String>,
    /// Learn the moves of the player with this name, in any letter case
    #[arg(long, value_name = "NAME", requires = "games", conflicts_with = "player")]
    player_exact: Option<String>,
    /// Learn the moves of both sides
    #[arg(long, requires = "games")]
    both: bool,
    /// Learn games though they were learned before
    #[arg(long, requires = "games")]
    again: bool,
    /// Print a line for each game, once it is learned for good
    #[arg(long, requires = "games")]
    list: bool,
    /// Show what was learned, by line and position
    #[arg(long)]
    show: bool,
    /// Set every learn field of the book to nothing, and forget which games were learned
    #[arg(long)]
    reset: bool,
    /// Take back the last games that were learned
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    undo: Option<u32>,
    /// List the games that the adapter has kept because their books could not be learned into, and learn them now
    #[arg(long)]
    spool: bool,
    /// The adapter's log, beside which these games are kept; without it, those kept in your own folder
    // Clap asks for no partner of one that excludes others.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["games", "show", "reset", "undo"])]
    log: Option<PathBuf>,
}

/// Does what is asked for.
///
/// # Errors
/// When the book is no Polyglot book, cannot be learned into or is kept by others; when games cannot be read.
pub fn run(args: &Args) -> Result<Exit> {
    let Some(path) = &args.book else { return spool::learn(args.log.as_deref()) };
    learn::settle(path);
    let book = book::open(path)?;
    if book.format() != Format::Polyglot {
        let what =
            format!("results are kept in Polyglot books, and this is a book of the format {}", book.format());
        let advice = "make one of it with `tabiya convert`";
        return Err(Error::new(ErrorKind::Usage, what).at_path(path).advice(advice));
    }
    let mut learner = Learner::new(path)?;
    let name = path.display();
    if args.show {
        let history = learner.history(SHOWN_GAMES)?;
        let book = Polyglot::new(path, Map::open(path)?);
        return output::print(|out| tree::show(&book, &history, out));
    }
    // The map of a book must not hinder others while it is written.
    drop(book);
    if args.reset {
        learner.reset()?;
        return output::print(|out| {
            writeln!(out, "{name}: every learn field is set to nothing")?;
            Ok(Exit::Done)
        });
    }
    if let Some(count) = args.undo {
        let taken = learner.undo(count)?;
        return output::print(|out| {
            writeln!(out, "{name}: {} taken back", many(taken.into(), "game", "games"))?;
            Ok(if taken < count { Exit::Wanting } else { Exit::Done })
        });
    }
    learn_all(args, path, &mut learner)
}

/// What became of the games.
#[derive(Default)]
struct Totals {
    learned: u64,
    entries: u64,
    known: u64,
    absent: u64,
}

fn learn_all(args: &Args, book: &Path, learner: &mut Learner) -> Result<Exit> {
    let sides = match (PlayerName::given(args.player.as_deref(), args.player_exact.as_deref()), args.both) {
        (None, false) => {
            return Err(Error::new(ErrorKind::Usage, "whose moves are to be learned is not said")
                .advice("name a player with --player NAME or --player-exact NAME, or learn those of both sides with --both"));
        }
        (player, both) => Sides::new(player, both),
    };
    let mut source = games::open(&args.games)?;
    source.passed_over().iter().for_each(output::complain);
    interrupt::watch();
    let progress = Progress::terminal(book.to_string_lossy());
    progress.games(source.size());
    let mut collector = Collector::new(sides);
    let mut totals = Totals::default();
    let name = book.display().to_string();
    output::print(|out| {
        while let Some(batch) = source.next_batch()? {
            batch.play(&mut collector);
            for games in collector.take().chunks(BATCH) {
                if interrupt::asked() {
                    break;
                }
                learn_some(args, learner, games, &mut totals, &progress, out)?;
            }
            progress.games_at(source.done(), collector.games);
            if interrupt::asked() {
                break;
            }
        }
        summary(&name, &collector, &totals, out)?;
        if interrupt::asked() {
            let what = "interrupted: the games told of are learned, the others are not";
            return Err(Error::new(ErrorKind::Interrupted, what).into());
        }
        Ok(if collector.games == 0 || collector.unreadable > 0 { Exit::Wanting } else { Exit::Done })
    })
}

/// Learns some games and prints what became of each.
fn learn_some(
    args: &Args,
    learner: &mut Learner,
    games: &[IdentifiedGame],
    totals: &mut Totals,
    progress: &Progress,
    out: &mut dyn Write,
) -> std::result::Result<(), Stop> {
    let outcomes = learner.learn(games, args.again)?;
    for (IdentifiedGame { game, .. }, outcome) in games.iter().zip(&outcomes) {
        match outcome {
            Outcome::Learned(entries) => {
                totals.learned += 1;
                totals.entries += *entries as u64;
            }
            Outcome::Known => totals.known += 1,
            Outcome::Absent => totals.absent += 1,
        }
        if args.list {
            let what = match outcome {
                Outcome::Learned(entries) => {
                    format!("learned, {}", many(*entries as u64, "entry", "entries"))
                }
                Outcome::Known => "learned before".to_owned(),
                Outcome::Absent => "not in the book".to_owned(),
            };
            progress.aside(|| writeln!(out, "{}: {what}", game.note))?;
        }
    }
    if args.list {
        // Who waits for these lines must not wait for a full block.
        out.flush()?;
    }
    Ok(())
}

fn summary(name: &str, collector: &Collector, totals: &Totals, out: &mut dyn Write) -> std::io::Result<()> {
    let entries = many(totals.entries, "entry", "entries");
    writeln!(
        out,
        "{name}: {} read, {} learned into {entries}",
        many(collector.games, "game", "games"),
        totals.learned
    )?;
    for (count, what) in [
        (totals.known, "learned before"),
        (totals.absent, "without a move that is an entry of the book"),
        (collector.other_players, "of other players"),
        (collector.unfinished, "without a result"),
        (collector.unreadable, "that cannot be read to the end"),
    ] {
        if count > 0 {
            writeln!(out, "  not learned: {count} {what}")?;
        }
    }
    for problem in &collector.problems {
        writeln!(out, "  {problem}")?;
    }
    Ok(())
}
