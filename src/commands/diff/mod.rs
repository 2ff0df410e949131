//! `tabiya diff`: what differs between two books.

mod json;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use shakmaty::CastlingMode;

use tabiya_base::error::Result;
use tabiya_base::visit::Break;
use tabiya_book::Field;
use tabiya_chess::{Position, Variant};
use tabiya_workshop::bookmaker::diff::{Changed, Difference, Facts, What, Which, diff};
use tabiya_workshop::view::{PositionLine, continued, san};

use crate::args::resources::ResourcesArgs;
use crate::args::screens::Screen;
use crate::args::variant::{VariantArgs, open_book};
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::rows::learned;
use crate::output::rows::{many, percent};
use crate::output::{self, Printed, damage, progress};

/// Differences of one kind that are listed without `--all`.
const LISTED: u64 = 20;

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "diff",
    shown: &[("a", ""), ("b", ""), ("all", "List all, not only the first 20 of each kind"), ("json", "")],
    examples: &["tabiya diff old.bin new.bin"],
    pages: &[("look-into-a-book.md", "")],
}];

/// Show what differs between two books of any format
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The first book
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The second book
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Print one line of JSON for each difference
    #[arg(long)]
    json: bool,
    /// List all differences, not only the first 20 of each kind
    #[arg(long, conflicts_with = "json")]
    all: bool,
    #[command(flatten)]
    variant: VariantArgs,
    #[command(flatten)]
    resources: ResourcesArgs,
}

/// Prints what differs.
///
/// # Errors
/// When a book cannot be read, or the work is interrupted.
pub fn run(args: &Args) -> Result<Exit> {
    let variant = args.variant.variant();
    let (a, b) = (open_book(&args.a, variant)?, open_book(&args.b, variant)?);
    let resources = args.resources.resolve()?;
    interrupts::watch();
    let names = [&*a, &*b].map(|book| book.path().display().to_string());
    let exit = output::print(|out| {
        let books = [&*a, &*b];
        let progress = progress::on_terminal(names.join(", "));
        let most = if args.all { u64::MAX } else { LISTED };
        let mut listing =
            Listing { names: &names, most, json: args.json, counts: BTreeMap::new(), moves: [0; 2] };
        let mut printed = Ok(());
        diff(books, &resources, &progress, &mut |difference| {
            printed = progress.aside(|| listing.print(difference, out));
            if printed.is_ok() { Ok(()) } else { Err(Break::Enough) }
        })?;
        drop(progress);
        printed?;
        listing.end(out)
    })?;
    damage::report([&a, &b], exit)
}

/// The kinds of differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Position(Which),
    Move(Which),
    Changed,
    Fields,
}

impl Kind {
    fn from_what(what: &What) -> Self {
        match what {
            What::Position(which, _) => Self::Position(*which),
            What::Move(which, _) => Self::Move(*which),
            What::Changed(_) => Self::Changed,
            What::Fields(_) => Self::Fields,
        }
    }
}

/// Prints differences, and counts them.
struct Listing<'a> {
    names: &'a [String; 2],
    most: u64,
    json: bool,
    counts: BTreeMap<Kind, u64>,
    /// The moves of positions that only one book has.
    moves: [u64; 2],
}

impl Listing<'_> {
    fn print(&mut self, difference: &Difference<'_>, out: &mut dyn Write) -> io::Result<()> {
        let count = self.counts.entry(Kind::from_what(&difference.what)).or_default();
        *count += 1;
        if let What::Position(which, moves) = &difference.what {
            let [a, b] = &mut self.moves;
            *(if *which == Which::A { a } else { b }) += moves.len() as u64;
        }
        if self.json {
            json::line(difference, &Place::from_difference(difference), out)
        } else if *count <= self.most {
            writeln!(out, "{}", self.text(difference))
        } else {
            Ok(())
        }
    }

    fn name(&self, which: Which) -> &str {
        let [a, b] = self.names;
        if which == Which::A { a } else { b }
    }

    fn text(&self, difference: &Difference<'_>) -> String {
        let place = Place::from_difference(difference);
        match &difference.what {
            What::Position(which, moves) => {
                let list: Vec<_> = moves.iter().map(|facts| place.mv(facts)).collect();
                format!("only in {}: {}: {}", self.name(*which), place.name(), list.join(", "))
            }
            What::Move(which, facts) => {
                format!("only in {}: {} ({})", self.name(*which), place.line_with(facts), known(facts))
            }
            What::Changed(changed) => {
                format!("changed: {}: {}", place.line_with(&changed.a), changes(changed))
            }
            What::Fields([a, b]) => format!("changed: {}: {}", place.name(), field_changes(a, b)),
        }
    }

    /// Prints the totals, for people.
    fn end(&self, out: &mut dyn Write) -> Printed<Exit> {
        let exit = if self.counts.is_empty() { Exit::Done } else { Exit::Findings };
        if self.json {
            return Ok(exit);
        }
        let count = |kind| self.counts.get(&kind).copied().unwrap_or_default();
        let hidden = |kind| count(kind).saturating_sub(self.most);
        for (kind, &all) in &self.counts {
            if all > self.most {
                let what = match kind {
                    Kind::Position(which) => {
                        format!("{} only in {}", many(hidden(*kind), "more position"), self.name(*which))
                    }
                    Kind::Move(which) => {
                        format!("{} only in {}", many(hidden(*kind), "more move"), self.name(*which))
                    }
                    Kind::Changed => format!("{} changed", many(hidden(*kind), "more move")),
                    Kind::Fields => {
                        format!("{} with changed flags or comments", many(hidden(*kind), "more position"))
                    }
                };
                writeln!(out, "... and {what} (--all lists them)")?;
            }
        }
        if self.counts.is_empty() {
            writeln!(out, "no difference")?;
            return Ok(exit);
        }
        for (which, moves) in [Which::A, Which::B].into_iter().zip(self.moves) {
            let positions = many(count(Kind::Position(which)), "position");
            let moves_there = many(moves, "move");
            let more = many(count(Kind::Move(which)), "move");
            writeln!(
                out,
                "only in {}: {positions} with {moves_there}, and {more} in other positions",
                self.name(which)
            )?;
        }
        writeln!(out, "changed: {}", many(count(Kind::Changed), "move"))?;
        if count(Kind::Fields) > 0 {
            let positions = many(count(Kind::Fields), "position");
            writeln!(out, "changed: flags or comments of {positions}")?;
        }
        Ok(exit)
    }
}

/// Where a difference is: a position with its line, if they are known.
struct Place {
    key: u64,
    position: Option<Position>,
    line: Option<String>,
}

impl Place {
    fn from_difference(difference: &Difference<'_>) -> Self {
        let Some(moves) = difference.line else {
            return Self { key: difference.key, position: difference.position.cloned(), line: None };
        };
        let variant = difference.position.map_or(Variant::Chess, Position::variant);
        let PositionLine { at, text } = PositionLine::of_variant(variant, moves.iter().copied());
        Self { key: difference.key, position: Some(at), line: Some(text) }
    }

    /// The position in words.
    fn name(&self) -> String {
        match (&self.line, &self.position) {
            (Some(line), _) if line.is_empty() => "the starting position".to_owned(),
            (Some(line), _) => format!("the position after {line}"),
            (None, Some(at)) => format!("the position {}", at.fen()),
            (None, None) => format!("the position with key {:016x}", self.key),
        }
    }

    /// A move with what leads to it.
    fn line_with(&self, facts: &Facts) -> String {
        match (&self.line, &self.position) {
            (Some(line), Some(at)) => continued(line, at, &self.mv(facts)),
            _ => format!("{}: {}", self.name(), self.mv(facts)),
        }
    }

    /// A move: in SAN, if the position is known.
    fn mv(&self, facts: &Facts) -> String {
        self.san(facts).unwrap_or_else(|| self.uci(facts))
    }

    fn san(&self, facts: &Facts) -> Option<String> {
        let at = self.position.as_ref()?;
        Some(san(at, facts.at(at)?.mv))
    }

    fn uci(&self, facts: &Facts) -> String {
        let legal = self.position.as_ref().and_then(|at| facts.at(at));
        legal
            .map_or_else(|| facts.mv.to_string(), |facts| facts.mv.to_uci(CastlingMode::Standard).to_string())
    }
}

/// What a book knows of a move.
fn known(facts: &Facts) -> String {
    let games = facts.counts.map_or(String::new(), |counts| format!(", {}", many(counts.games, "game")));
    format!("weight {}{games}", facts.weight)
}

fn changes(changed: &Changed) -> String {
    let Changed { a, b, shares } = changed;
    let mut changes = Vec::new();
    let mut change = |name: &str, a: String, b: String| {
        if a != b {
            changes.push(format!("{name} {a} -> {b}"));
        }
    };
    if let Some([a, b]) = shares {
        change("share", percent(*a), percent(*b));
    }
    // Between formats weights are on different scales.
    let same_format = shares.is_none();
    if same_format {
        change("weight", a.weight.to_string(), b.weight.to_string());
    }
    if same_format && a.counts.is_some() != b.counts.is_some() {
        change("counts", yes_or_no(a), yes_or_no(b));
    } else if let (Some(a), Some(b)) = (a.counts, b.counts) {
        change("games", a.games.to_string(), b.games.to_string());
        change("wins", a.wins.to_string(), b.wins.to_string());
        change("draws", a.draws.to_string(), b.draws.to_string());
        change("losses", a.losses.to_string(), b.losses.to_string());
    }
    if same_format {
        let none = || "none".to_owned();
        let mark = |facts: &Facts| facts.annotation.map_or_else(none, |mark| mark.as_str().to_owned());
        change("mark", mark(a), mark(b));
        let colour = |facts: &Facts| facts.recommended.map_or_else(none, |colour| colour.as_str().to_owned());
        change("color", colour(a), colour(b));
        let factor = |facts: &Facts| facts.factor.map_or_else(none, |factor| format!("{factor:+}"));
        change("factor", factor(a), factor(b));
        let rating = |facts: &Facts| {
            facts.ratings.and_then(|known| known.average).map_or_else(none, |elo| elo.to_string())
        };
        change("rating", rating(a), rating(b));
        let performance = |facts: &Facts| {
            facts.ratings.and_then(|known| known.performance).map_or_else(none, |elo| elo.to_string())
        };
        change("performance", performance(a), performance(b));
        let results = |facts: &Facts| facts.learned.map_or_else(none, learned);
        change("learned", results(a), results(b));
    }
    changes.join(", ")
}

/// What differs between what two books of one format say of a position itself.
fn field_changes(a: &[Field], b: &[Field]) -> String {
    let changes = a.iter().zip(b).filter(|(a, b)| a.value != b.value);
    let words = changes.map(|(a, b)| format!("{} {:#04x} -> {:#04x}", a.name, a.value, b.value));
    words.collect::<Vec<_>>().join(", ")
}

/// Whether a book counts the games of a move.
fn yes_or_no(facts: &Facts) -> String {
    if facts.counts.is_some() { "yes" } else { "no" }.to_owned()
}
