//! `tabiya learn`: learns exact results of games into a Polyglot book, and shows what the book has learned.

mod collect;
mod recent;
mod spool;
mod tree;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ArgGroup;

use self::collect::Collector;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::interrupt;
use crate::base::map::Map;
use crate::base::progress::Progress;
use crate::book::polyglot::Polyglot;
use crate::cli::output::exit::Exit;
use crate::cli::output::rows::many;
use crate::cli::output::{self, Printed};
use crate::games::{self, PlayerName};
use crate::learn::{self, IdentifiedGame, Learner, Outcome};

/// Games that are learned at a time: enough that waiting for the disk costs little, few enough that other processes get their
/// turn.
const BATCH: usize = 128;

/// Games that `--show` lists.
const SHOWN_GAMES: usize = 10;

/// `tabiya learn`.
#[derive(clap::Args, Debug)]
#[command(group(ArgGroup::new("what").required(true).args(["games", "show", "reset", "undo", "spool"])))]
pub struct Args {
    /// The Polyglot book
    #[arg(value_name = "BOOK", required_unless_present = "spool", conflicts_with = "spool")]
    book: Option<PathBuf>,
    /// Learn the results of these games: a PGN file (also compressed: .gz, .zst, .bz2, .xz, .zip), a folder of them, or - for
    /// standard input; repeatable
    #[arg(long, value_name = "FILE")]
    games: Vec<PathBuf>,
    /// Learn the moves of players whose name contains this text, in any letter case
    #[arg(long, value_name = "NAME", requires = "games")]
    player: Option<String>,
    /// Learn the moves of the player with exactly this name, in any letter case
    #[arg(long, value_name = "NAME", requires = "games", conflicts_with = "player")]
    player_exact: Option<String>,
    /// Learn the moves of both sides
    #[arg(long, requires = "games")]
    both: bool,
    /// Learn games even if they were learned before
    #[arg(long, requires = "games")]
    again: bool,
    /// Print a line for each game once it is permanently learned
    #[arg(long, requires = "games")]
    list: bool,
    /// Show what was learned, by line and position
    #[arg(long)]
    show: bool,
    /// Clear every learn field of the book, and forget which games were learned
    #[arg(long)]
    reset: bool,
    /// Take back the last games that were learned
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    undo: Option<u32>,
    /// List the games that the adapter has kept because their books could not be written, and learn them now
    #[arg(long)]
    spool: bool,
    /// The adapter's log, beside which these games are kept; without this, only those kept in your own folder
    // `requires = "spool"` is not enough: clap does not ask for an argument that conflicts with one that is given.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["games", "show", "reset", "undo"])]
    log: Option<PathBuf>,
}

/// Learns games, or shows or takes back what was learned.
///
/// # Errors
/// When the book is not a Polyglot book, cannot be written or is locked by another process; when games cannot be read.
pub fn run(args: &Args) -> Result<Exit> {
    let Some(path) = &args.book else { return spool::learn(args.log.as_deref()) };
    let book = learn::open_settled(path)?;
    if !book.format().learns() {
        let what = format!(
            "only Polyglot books can keep results, and this is a book of the format {}",
            book.format()
        );
        let advice = "convert it with `tabiya convert`";
        return Err(Error::new(ErrorKind::Usage, what).at_path(path).advice(advice));
    }
    let mut learner = Learner::new(path)?;
    let name = path.display();
    if args.show {
        let history = learner.history(SHOWN_GAMES)?;
        let book = Polyglot::new(path, Map::open(path)?);
        return output::print(|out| tree::show(&book, &history, out));
    }
    // While the book is written, a map of it could get in the way.
    drop(book);
    if args.reset {
        learner.reset()?;
        return output::print_lines(&[format!("{name}: every learn field is set to nothing")], Exit::Done);
    }
    if let Some(count) = args.undo {
        let taken = learner.undo(count)?;
        let line = format!("{name}: {} taken back", many(taken.into(), "game"));
        return output::print_lines(&[line], if taken < count { Exit::Findings } else { Exit::Done });
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
    let player = PlayerName::given(args.player.as_deref(), args.player_exact.as_deref());
    if player.is_none() && !args.both {
        return Err(Error::new(ErrorKind::Usage, "it is not said whose moves to learn").advice(
            "name a player with --player NAME or --player-exact NAME, or learn the moves of both sides with --both",
        ));
    }
    let mut source = games::open(&args.games)?;
    source.passed_over().iter().for_each(output::complain);
    interrupt::watch();
    let progress = Progress::terminal(book.to_string_lossy());
    progress.games(source.size());
    let mut collector = Collector::new(player, args.both);
    let mut totals = Totals::default();
    let name = book.display().to_string();
    output::print(|out| {
        while !interrupt::asked()
            && let Some(batch) = source.next_batch()?
        {
            batch.play(&mut collector);
            for games in collector.take().chunks(BATCH).take_while(|_| !interrupt::asked()) {
                learn_some(args, learner, games, &mut totals, &progress, out)?;
            }
            progress.games_at(source.done(), collector.games);
        }
        summary(&name, &collector, &totals, out)?;
        if interrupt::asked() {
            let what = "interrupted: the games counted above are learned, the others are not";
            return Err(Error::new(ErrorKind::Interrupted, what).into());
        }
        Ok(if collector.games == 0 || collector.unreadable > 0 { Exit::Findings } else { Exit::Done })
    })
}

/// What became of a game, in words.
fn describe(outcome: Outcome) -> String {
    match outcome {
        Outcome::Learned(entries) => format!("learned, {}", many(entries as u64, "entry")),
        Outcome::Known => "learned before".to_owned(),
        Outcome::Absent => "not in the book".to_owned(),
    }
}

/// Learns some games and prints what became of each.
fn learn_some(
    args: &Args,
    learner: &mut Learner,
    games: &[IdentifiedGame],
    totals: &mut Totals,
    progress: &Progress,
    out: &mut dyn Write,
) -> Printed<()> {
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
            progress.aside(|| writeln!(out, "{}: {}", game.note, describe(*outcome)))?;
        }
    }
    if args.list {
        // Programs may wait for these lines.
        out.flush()?;
    }
    Ok(())
}

fn summary(name: &str, collector: &Collector, totals: &Totals, out: &mut dyn Write) -> std::io::Result<()> {
    let (games, entries) = (many(collector.games, "game"), many(totals.entries, "entry"));
    writeln!(out, "{name}: {games} read, {} learned into {entries}", totals.learned)?;
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
    collector.errors.iter().try_for_each(|error| writeln!(out, "  {error}"))
}
