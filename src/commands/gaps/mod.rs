//! `tabiya gaps`: what games reach and a book has no answer to.

mod text;

use std::io::Write;
use std::path::PathBuf;

use shakmaty::Color;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::replace::{Replacement, keep_inputs};
use tabiya_book::Moves;
use tabiya_book::traits::Book;
use tabiya_chess::Game;
use tabiya_learn as learn;
use tabiya_workshop::expected::Expected;
use tabiya_workshop::gaps::{GapSearch, Gaps, GapsJson, LEAST_SHARE, pgn};

use crate::args::against::AgainstArgs;
use crate::args::positions::{Positions, each_position};
use crate::args::resources::ResourcesArgs;
use crate::args::screens::{MOVES, Screen, VARIANT};
use crate::args::variant::{VariantArgs, open_of};
use crate::args::{Sides, sides};
use crate::output::exit::Exit;
use crate::output::rows::{json, many};
use crate::output::{self, Printed, damage, interrupts, progress};

/// The sides if none is named.
const BOTH: &[Color] = &[Color::White, Color::Black];

/// Rows of each list if no number is named.
const TOP: usize = 20;

/// The least share of games if none is named.
const MIN_SHARE: f64 = 0.001;

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "gaps",
    shown: &[
        ("book", ""),
        ("against", "Games or a book; repeatable"),
        ("side", "white, black or both"),
        ("player", "Of the first --against, this player's moves"),
        ("moves", MOVES),
        ("max_ply", ""),
        ("min_share", "Only positions that so many games reach"),
        ("rare", ""),
        ("top", ""),
        ("json", ""),
        ("pgn", "Also write each gap as a game"),
        ("force", "Replace the file of --pgn if it exists"),
        ("variant", VARIANT),
    ],
    examples: &["tabiya gaps white.bin --against games.pgn --side white"],
    pages: &[("repertoire.md", ""), ("look-into-a-book.md", "## In the command prompt")],
}];

/// List what games reach and a book has no answer to
#[derive(clap::Args, Debug)]
#[command(mut_arg("against", |against| against.required(true)))]
pub struct Args {
    /// The book
    #[arg(value_name = "BOOK")]
    book: PathBuf,
    #[command(flatten)]
    against: AgainstArgs,
    /// The side that the book is for: white, black or both
    #[arg(long, value_name = "SIDE", value_parser = sides())]
    side: Option<Sides>,
    #[command(flatten)]
    positions: Positions,
    #[command(flatten)]
    variant: VariantArgs,
    /// Plies that are followed
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_ply: u32,
    /// Only positions that at least this part of all games reaches, such as 1/200, or in percent, such as 0.5 [default: 1/1000]
    #[arg(long, value_name = "PART", value_parser = part)]
    min_share: Option<f64>,
    /// Also list where games almost never go, though the book has answers: less than a tenth of --min-share
    #[arg(long)]
    rare: bool,
    /// Rows in each list [default: 20, or all with --json]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Print one line of JSON for each position and side
    #[arg(long)]
    json: bool,
    /// Also write each gap into this file, as a game with comments
    #[arg(long, value_name = "FILE.pgn")]
    pgn: Option<PathBuf>,
    /// Replace the file of --pgn if it exists
    #[arg(long, requires = "pgn")]
    force: bool,
    #[command(flatten)]
    resources: ResourcesArgs,
}

/// Reads a part of all games, `1/200`, or percent.
fn part(text: &str) -> std::result::Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let share = match text.split_once('/') {
        Some((part, all)) => number(part).zip(number(all)).map(|(part, all)| part / all),
        None => number(text.trim().trim_end_matches('%')).map(|percent| percent / 100.0),
    };
    share
        .filter(|share| (LEAST_SHARE..=1.0).contains(share))
        .ok_or_else(|| "write a part of all games, from 1/100000 to 1/1, or percent such as 0.5".to_owned())
}

/// What is asked of each position.
struct Question<'a> {
    args: &'a Args,
    book: &'a dyn Book,
    name: String,
    expected: Expected<'a>,
    /// Gaps that were written as PGN.
    written: usize,
}

/// Follows the book against what the opponent plays, and lists the gaps.
///
/// # Errors
/// When a file cannot be read or written, no source has a move of the opponent, or the work is interrupted.
pub fn run(args: &Args) -> Result<Exit> {
    let variant = args.variant.variant();
    let resources = args.resources.resolve()?;
    let book = open_of(&args.book, variant)?;
    interrupts::watch();
    let counting = progress::on_terminal("games");
    let plies = Some(args.max_ply).filter(|_| !args.positions.is_given());
    let (sources, exit) = args.against.open(variant, plies, &resources, &counting)?;
    drop(counting);
    keep_inputs(args.pgn.as_slice(), &[learn::files_of([&*book]), sources.files().to_vec()].concat())?;
    let mut file = args.pgn.as_ref().map(|path| Replacement::new(path, args.force)).transpose()?;
    let name = args.book.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut question = Question { args, book: &*book, name, expected: sources.expected(), written: 0 };
    let print = |out: &mut dyn Write| {
        if !args.json {
            text::read(&sources, out)?;
        }
        let mut known = None;
        each_position(&args.positions, variant, |game, _| {
            known = known.max(question.answer(game, file.as_mut(), out)?);
            Ok(())
        })?;
        if known == Some(false) {
            return Err(question.nothing().into());
        }
        if let Some(file) = file.take() {
            file.commit()?;
            if let Some(path) = args.pgn.as_ref().filter(|_| !args.json) {
                writeln!(out, "{}: {}", path.display(), many(question.written as u64, "game"))?;
            }
        }
        Ok(Exit::Done)
    };
    let printed = if args.pgn.is_some() { output::print_work(print) } else { output::print(print) };
    let exit = exit.max(printed?);
    damage::of_look_ups(std::iter::once(&book).chain(sources.opened()), exit)
}

impl Question<'_> {
    /// Answers it for a position, for each side. Returns whether a source knows the opponent's moves; `None` if no side asks for any.
    fn answer(
        &mut self,
        game: &Game,
        mut file: Option<&mut Replacement>,
        out: &mut dyn Write,
    ) -> Printed<Option<bool>> {
        let args = self.args;
        let progress = progress::on_terminal(self.name.clone());
        let mut known = None;
        for &side in args.side.map_or(BOTH, |sides| sides.0) {
            let search = GapSearch {
                start: game.clone(),
                side,
                plies: u32::try_from(game.moves().len()).unwrap_or(u32::MAX).max(args.max_ply),
                min_share: args.min_share.unwrap_or(MIN_SHARE),
                rare: args.rare,
            };
            let gaps = Gaps::find(self.book as &dyn Moves, &self.expected, &search, &progress)?;
            let is_of_side = args.side.is_some() || gaps.has_answers();
            known = known.max(is_of_side.then(|| !gaps.knows_nothing()));
            if args.json {
                json(&GapsJson::new(&gaps, &self.name, self.book, args.top.unwrap_or(usize::MAX)), out)?;
            } else {
                let of = (self.name.as_str(), self.book as &dyn Moves, args.side.is_some());
                text::gaps(&gaps, of, args.top.unwrap_or(TOP), out)?;
            }
            if let Some(file) = file.as_mut().filter(|_| is_of_side) {
                for gap in &gaps.gaps {
                    self.written += 1;
                    let of = (self.name.as_str(), self.written);
                    pgn(&gaps, gap, of, (self.book, &self.expected), file)
                        .map_err(|error| file.error(error))?;
                }
            }
        }
        Ok(known)
    }

    fn nothing(&self) -> Error {
        let theirs = match self.args.side {
            Some(Sides([side])) => side.fold_wb("Black", "White"),
            _ => "the opponent",
        };
        let what = format!("the sources have no move of {theirs} where {} leads", self.name);
        Error::new(ErrorKind::Usage, what).advice("name games of the book's openings, or another --side")
    }
}
