//! `tabiya learn`: learns exact results of games into a Polyglot book, and shows what the book has learned.

mod against;
mod collect;
mod recent;
mod spool;
mod tree;

use std::io::Write;
use std::path::PathBuf;

use clap::Subcommand;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_book::Format;
use tabiya_book::traits::Book;
use tabiya_chess::Variant;
use tabiya_learn::{IdentifiedGame, LearnOutcome, Learner, MovesOfKeys, Source};
use tabiya_workshop::source::open_games;

use self::collect::GameCollector;
use crate::args::player::PlayerArg;
use crate::args::screens::{Screen, VARIANT};
use crate::args::variant::{VariantArgs, open_book, open_warned};
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::rows::many;
use crate::output::{self, Printed, Stop, progress};

/// Games that are learned at a time: enough that waiting for the disk costs little, and that each page of a book of hundreds of
/// thousands of positions is read and written for several games; few enough that other processes get their turn within a second.
const BATCH: usize = 1024;

/// Games that `learn show` lists.
const SHOWN_GAMES: usize = 10;

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[
    Screen {
        command: "learn",
        shown: &[],
        examples: &["tabiya learn games book.bin match.pgn --both"],
        pages: &[("learning.md", "")],
    },
    Screen {
        command: "learn games",
        shown: &[
            ("book", ""),
            ("files", "PGN files (also .gz, .zst, .zip), folders of them, or -"),
            ("player", "Learn the moves of players with this in their name"),
            ("both", ""),
            ("again", ""),
            ("list", ""),
            ("variant", VARIANT),
        ],
        examples: &["tabiya learn games book.bin match.pgn --player Stockfish"],
        pages: &[("learning.md", "")],
    },
    Screen {
        command: "learn show",
        shown: &[
            ("book", ""),
            ("sort", "By line, games or score"),
            ("against", "Compare what was learned with these games, instead"),
            ("player", "Compare games of players with this in their name"),
            ("json", ""),
        ],
        examples: &["tabiya learn show book.bin --sort score"],
        pages: &[("learning.md", "")],
    },
    Screen {
        command: "learn undo",
        shown: &[("book", ""), ("games", ""), ("all", "Clear everything that the book has learned")],
        examples: &["tabiya learn undo book.bin 1"],
        pages: &[("learning.md", "")],
    },
    Screen {
        command: "learn spool",
        shown: &[
            ("log", "The log beside which the games are kept"),
            ("drop", "Drop the games that wait for this missing book"),
        ],
        examples: &["tabiya learn spool"],
        pages: &[("learning.md", "")],
    },
];

/// Teach a Polyglot book the results of games, show what it has learned, or undo that
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Learn the results of games
    Games(GamesArgs),
    /// Show what a book has learned, by line and position
    Show(ShowArgs),
    /// Undo the last games that a book has learned, or all
    Undo(UndoArgs),
    /// List the games that were kept because a book could not be written, and learn or drop them now
    Spool(SpoolArgs),
}

#[derive(clap::Args, Debug)]
struct OneBook {
    /// The Polyglot book
    #[arg(value_name = "BOOK")]
    book: PathBuf,
}

#[derive(clap::Args, Debug)]
struct GamesArgs {
    #[command(flatten)]
    of: OneBook,
    /// The games: PGN files (also compressed: .gz, .zst, .bz2, .xz, .zip), folders of them, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    variant: VariantArgs,
    /// Learn the moves of players with this in their name, of =NAME (the whole name), or of the names in @FILE
    ///
    /// The file has a whole name on each line. Case does not matter.
    #[arg(long, value_name = "NAME", value_parser = PlayerArg::parse)]
    player: Option<PlayerArg>,
    /// Learn the moves of both sides
    #[arg(long)]
    both: bool,
    /// Learn games even if they were learned before
    #[arg(long)]
    again: bool,
    /// Print a line for each game once it is safely on the disk
    #[arg(long)]
    list: bool,
}

#[derive(clap::Args, Debug)]
struct ShowArgs {
    #[command(flatten)]
    of: OneBook,
    /// The order of the moves within their openings, and of the openings
    #[arg(long, value_enum, default_value_t = Sort::Line)]
    sort: Sort,
    /// Compare the results that were learned with those in these games, instead
    #[arg(long, value_name = "FILE")]
    against: Vec<PathBuf>,
    /// Compare games of players with this in their name, of =NAME (the whole name), or of the names in @FILE
    #[arg(long, value_name = "NAME", value_parser = PlayerArg::parse, requires = "against")]
    player: Option<PlayerArg>,
    #[command(flatten)]
    variant: VariantArgs,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
}

/// The order of what was learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Sort {
    /// As lines are played
    Line,
    /// The most games first
    Games,
    /// The worst score first
    Score,
}

#[derive(clap::Args, Debug)]
struct UndoArgs {
    #[command(flatten)]
    of: OneBook,
    /// How many games to undo
    #[arg(value_name = "N", required_unless_present = "all", value_parser = clap::value_parser!(u32).range(1..))]
    games: Option<u32>,
    /// Clear everything that the book has learned, also from other programs, and forget the games
    #[arg(long, conflicts_with = "games")]
    all: bool,
}

#[derive(clap::Args, Debug)]
struct SpoolArgs {
    /// The log beside which the games are kept; without this, only games kept in your own folder
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Drop the games that wait for this book, if the book that they were played from is not there any more
    ///
    /// Games that can be learned are learned, and games that wait for something else, as for a full disk, are kept.
    #[arg(long, value_name = "BOOK")]
    drop: Option<PathBuf>,
}

/// Learns games, or shows or takes back what was learned.
///
/// # Errors
/// When the book is not a Polyglot book, cannot be written or is locked by another process; when games cannot be read.
pub fn run(args: &Args) -> Result<Exit> {
    match &args.command {
        Command::Games(args) => {
            let mut learner = learner_of(&*open_warned(&args.of.book, args.variant.variant())?)?;
            learn_all(args, &mut learner)
        }
        Command::Show(args) if !args.against.is_empty() => {
            let mut learner = learner(&args.of, args.variant.variant())?;
            output::print(|out| against::show(args, &mut learner, out))
        }
        Command::Show(ShowArgs { of, sort, variant, json, .. }) => {
            let variant = variant.variant();
            let history = learner(of, variant)?.history(SHOWN_GAMES)?;
            let book = tree::open(&of.book, variant)?;
            output::print(|out| match json {
                true => tree::json(&book, &history, *sort, out),
                false => tree::show(&book, &history, *sort, out),
            })
        }
        Command::Undo(UndoArgs { of, games: Some(games), .. }) => {
            let taken = learner(of, Variant::Chess)?.undo(*games)?;
            let line = format!("{}: {} undone", of.book.display(), many(taken.into(), "game"));
            let (more, exit) = match taken < *games {
                true => (": its journal has no more that can be", Exit::Findings),
                false => ("", Exit::Done),
            };
            output::print_lines(&[line + more], exit)
        }
        Command::Undo(UndoArgs { of, games: None, .. }) => {
            learner(of, Variant::Chess)?.reset()?;
            let line = format!("{}: everything that it had learned is cleared", of.book.display());
            output::print_lines(&[line], Exit::Done)
        }
        Command::Spool(args) => spool::learn(args.log.as_deref(), args.drop.as_deref()),
    }
}

/// Opens a book to learn into it.
fn learner(of: &OneBook, variant: Variant) -> Result<Learner> {
    learner_of(&*open_book(&of.book, variant)?)
}

/// What learns into an open book. It keeps no map of it, which could get in the way while it is written.
fn learner_of(book: &dyn Book) -> Result<Learner> {
    let path = book.path();
    book.warnings().iter().for_each(|warning| output::warn(warning));
    let format = book.format();
    if !format.learns() {
        let learning = Format::learning().map(Format::plural).unwrap_or_default();
        let what = format!("only {learning} can keep results, and this is a book of the format {format}");
        let advice = "convert it with `tabiya convert`";
        return Err(Error::new(ErrorKind::Usage, what).at_path(path).advice(advice));
    }
    Learner::new(path)
}

/// What became of the games.
#[derive(Default)]
struct Totals {
    games: u64,
    learned: u64,
    entries: MovesOfKeys,
    known: u64,
    absent: u64,
    /// Games without a result.
    unfinished: u64,
    /// Learned while they were played, with the right result, another one, or one that the file does not have.
    confirmed: u64,
    corrected: u64,
    withdrawn: u64,
}

impl Totals {
    fn add(&mut self, source: Source, outcome: LearnOutcome) {
        match outcome {
            LearnOutcome::Learned(_) => self.learned += 1,
            LearnOutcome::Confirmed => self.confirmed += 1,
            LearnOutcome::Corrected(_) => self.corrected += 1,
            LearnOutcome::Withdrawn(_) => self.withdrawn += 1,
            LearnOutcome::Known | LearnOutcome::Absent if source == Source::Unfinished => {
                self.unfinished += 1
            }
            LearnOutcome::Known => self.known += 1,
            LearnOutcome::Absent => self.absent += 1,
        }
    }
}

fn learn_all(args: &GamesArgs, learner: &mut Learner) -> Result<Exit> {
    let player = args.player.as_ref().map(PlayerArg::names).transpose()?;
    if player.is_none() && !args.both {
        return Err(Error::new(ErrorKind::Usage, "no player is named")
            .advice("name one with --player NAME, or learn the moves of both sides with --both"));
    }
    let mut source = open_games(&args.files)?.of_variant(args.variant.variant())?;
    let passed_over = output::sources_passed_over(&source);
    interrupts::watch();
    let progress = progress::on_terminal(args.of.book.to_string_lossy());
    progress.games(source.size());
    let mut collector = GameCollector::new(player, args.both);
    let mut totals = Totals::default();
    output::print_work(|out| {
        while !interrupt::asked()
            && let Some(batch) = source.next_batch()?
        {
            totals.games += batch.play(&mut collector);
            for games in collector.take().chunks(BATCH).take_while(|_| !interrupt::asked()) {
                match learn_some(args, learner, games, &mut totals, &progress, out) {
                    // What is learned is counted below.
                    Err(Stop::Error(error)) if error.kind() == ErrorKind::Interrupted => break,
                    learned => learned?,
                }
            }
            progress.games_at(source.done(), totals.games);
        }
        summary(args, (&collector, &totals), out)?;
        if interrupt::asked() {
            let what = "interrupted: the games counted above are learned, the others are not";
            return Err(Error::new(ErrorKind::Interrupted, what).into());
        }
        let found = totals.games == 0 || !collector.errors.is_empty();
        Ok(if found { Exit::Findings } else { passed_over })
    })
}

/// What became of a game, in words.
fn describe(outcome: LearnOutcome) -> String {
    match outcome {
        LearnOutcome::Learned(entries) => format!("learned, {}", many(entries as u64, "entry")),
        LearnOutcome::Known => "learned before".to_owned(),
        LearnOutcome::Absent => "not in the book".to_owned(),
        LearnOutcome::Confirmed => "learned while it was played".to_owned(),
        LearnOutcome::Corrected(entries) => format!("corrected, {}", many(entries as u64, "entry")),
        LearnOutcome::Withdrawn(entries) => {
            format!("taken back, because it has no result, {}", many(entries as u64, "entry"))
        }
    }
}

/// Learns some games and prints what became of each.
fn learn_some(
    args: &GamesArgs,
    learner: &mut Learner,
    games: &[IdentifiedGame],
    totals: &mut Totals,
    progress: &Progress,
    out: &mut dyn Write,
) -> Printed<()> {
    let outcomes = learner.learn_counting(games, args.again, &mut totals.entries)?;
    for (IdentifiedGame { game, source, .. }, outcome) in games.iter().zip(&outcomes) {
        totals.add(*source, *outcome);
        if args.list && (*source == Source::File || matches!(outcome, LearnOutcome::Withdrawn(_))) {
            progress.aside(|| writeln!(out, "{}: {}", game.note, describe(*outcome)))?;
        }
    }
    if args.list {
        // Programs may wait for these lines.
        out.flush()?;
    }
    Ok(())
}

fn summary(
    args: &GamesArgs,
    (collector, totals): (&GameCollector, &Totals),
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let name = args.of.book.display();
    let others = match args.variant.named() {
        Some(_) => "of other variants of chess",
        None => "of other variants of chess: --variant names one",
    };
    let (games, entries) = (many(totals.games, "game"), many(totals.entries.len() as u64, "entry"));
    writeln!(out, "{name}: {games} read, {} learned into {entries}", totals.learned)?;
    let Totals { confirmed, corrected, withdrawn, .. } = totals;
    if confirmed + corrected + withdrawn > 0 {
        write!(
            out,
            "  learned while they were played: {confirmed} with this result, {corrected} with another: corrected"
        )?;
        match withdrawn {
            0 => writeln!(out)?,
            _ => writeln!(out, ", {withdrawn} that have no result: taken back")?,
        }
    }
    let near = collector.near().map_or_else(String::new, |near| format!(": {near}"));
    for (count, what) in [
        (totals.known, "learned before"),
        (totals.absent, "without a move of the book"),
        (collector.other_players, &*format!("of other players{near}")),
        (collector.other_variants, others),
        (totals.unfinished, "without a result"),
        (collector.unreadable, "that cannot be read to the end"),
    ] {
        if count > 0 {
            writeln!(out, "  not learned: {count} {what}")?;
        }
    }
    collector.errors.iter().try_for_each(|error| writeln!(out, "  {error}"))
}
