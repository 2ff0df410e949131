//! The report of a match, for people.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use tabiya_base::command::quoted;
use tabiya_base::error::Remedy;
use tabiya_book::traits::Book;
use tabiya_book::{Counts, Edits, Variant};
use tabiya_chess::MoveCode;
use tabiya_chess::openings::Opening;
use tabiya_workshop::report::elo::{self, Elo, Share, WinLimits};
use tabiya_workshop::report::{Exit, Leave, LeaveReason, ReportGroup};
use tabiya_workshop::view::{PositionLine, number, san};

use super::ReportTotals;
use crate::output::rows::{self, many};

/// In the place of limits that are not known.
const TOO_FEW: &str = "too few games";

pub(super) fn report(found: &ReportTotals, top: usize, out: &mut dyn Write) -> io::Result<()> {
    let sums = &found.sums;
    let all = &sums.all;
    let Counts { wins, draws, losses, .. } = all.counts;
    writeln!(out, "{}: White won {wins}, Black won {losses}, {draws} drawn", many(found.games, "game"))?;
    let [white, black, ended, within, unknown, limited] = sums.left;
    let some = |count: u64, what| if count > 0 { format!(", {what} {count}") } else { String::new() };
    let (unknown, limited) = (some(unknown, "by one of them"), some(limited, "silent by a limit of its own"));
    writeln!(
        out,
        "in the book for {:.1} plies a game; left by White {white}, by Black {black}{unknown}, at the end of a line {ended}{limited}; {within} \
         ended in the book",
        all.mean_plies()
    )?;
    if sums.unattributed > 0 {
        let games = many(sums.unattributed, "game");
        writeln!(
            out,
            "which player had which book is not known in {games}: name them with --book NAME=FILE"
        )?;
    }
    if let Some(eval) = all.mean_eval() {
        writeln!(out, "evaluation there: {:+.2} on average, of {}", eval / 100.0, many(all.evals.0, "game"))?;
    }
    let (sides, seconds) = sums.saved;
    if seconds > 0.0 {
        writeln!(out, "clock saved by the book: {:.1} s for each player and game", seconds / sides as f64)?;
    }
    if sums.repeated > 0 {
        let (games, verb) =
            (many(sums.repeated, "game"), if sums.repeated == 1 { "repeats" } else { "repeat" });
        writeln!(out, "{games} {verb} another one move by move")?;
    }
    players(found, top, out)?;
    openings(found, top, out)?;
    leaves(found, top, out)?;
    worst(found, top, out)
}

/// Who scored what, and with which book.
fn players(found: &ReportTotals, top: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut matches = found.players.matches();
    if matches.is_empty() {
        return Ok(());
    }
    let columns = [
        ("player", false),
        ("opponent", false),
        ("+", true),
        ("=", true),
        ("-", true),
        ("score", true),
        ("Elo", true),
        ("LOS", true),
        ("from", false),
    ];
    let mut table = rows::table(columns);
    // Stable: of equally long ones in the order of the names.
    matches.sort_by_key(|(.., games)| Reverse(games.counts.games));
    for (first, second, games) in matches.iter().take(top) {
        let Counts { wins, draws, losses, .. } = games.counts;
        let elo = games.elo();
        let los = elo.los.map_or_else(String::new, |los| format!("{:.1}%", los * 100.0));
        let from = if games.is_paired() {
            many(games.pairs.iter().sum(), "pair")
        } else {
            many(games.counts.games, "game")
        };
        table.add_row([
            (*first).to_owned(),
            (*second).to_owned(),
            wins.to_string(),
            draws.to_string(),
            losses.to_string(),
            share(games.counts),
            difference(elo),
            los,
            from,
        ]);
    }
    let all = many(matches.len() as u64, "pair");
    writeln!(out, "\nPlayers (Elo with its 95 % interval; {all} of players in all)\n{table}")?;
    let mut table = rows::table([("player", false), ("book", false), ("games", true), ("score", true)]);
    let mut books = found.players.books();
    books.sort_by_key(|(.., counts)| Reverse(counts.games));
    for (player, one_of, counts) in books.into_iter().take(top) {
        let books = one_of.iter().filter_map(|book| found.books.get(*book));
        let names: Vec<_> = books
            .map(|book| book.path().file_name().unwrap_or_default().to_string_lossy().into_owned())
            .collect();
        let name = if names.is_empty() { "none".to_owned() } else { names.join(" or ") };
        table.add_row([player.to_owned(), name, counts.games.to_string(), share(counts)]);
    }
    writeln!(out, "\nBooks that had most of a player's moves\n{table}")
}

fn openings(found: &ReportTotals, top: usize, out: &mut dyn Write) -> io::Result<()> {
    // The variations of an opening together.
    let mut families: BTreeMap<&str, ReportGroup> = BTreeMap::new();
    for (opening, group) in found.sums.openings() {
        let name = opening.map_or("", Opening::name);
        families.entry(name.split(':').next().unwrap_or_default()).or_default().merge(group);
    }
    let mut openings: Vec<(&str, ReportGroup)> = families.into_iter().collect();
    // Stable: of equally frequent ones in the order of their names.
    openings.sort_by_key(|(_, group)| Reverse(group.counts.games));
    let columns =
        [("opening", false), ("games", true), ("White", true), ("book plies", true), ("eval", true)];
    let mut table = rows::table(columns);
    for (name, group) in openings.iter().take(top) {
        let name = if name.is_empty() { "without a name" } else { name };
        table.add_row([
            name.to_owned(),
            group.counts.games.to_string(),
            with_limits(group.counts),
            format!("{:.1}", group.mean_plies()),
            pawns(group),
        ]);
    }
    writeln!(out, "\nOpenings ({} in all)\n{table}", openings.len())
}

/// Where the games left the books.
fn leaves(found: &ReportTotals, top: usize, out: &mut dyn Write) -> io::Result<()> {
    for (heading, is_ended) in [("Played against the book", false), ("Where the book ends", true)] {
        let all = found.sums.most(|leave| match leave.left {
            LeaveReason::Side(_) | LeaveReason::Unknown => !is_ended,
            LeaveReason::BookEnded => is_ended,
            _ => false,
        });
        if all.is_empty() {
            continue;
        }
        writeln!(out, "\n{heading} ({} in all)", many(all.len() as u64, "place"))?;
        for leave in all.iter().take(top) {
            writeln!(out, "  {}", described(leave, &found.books))?;
        }
    }
    Ok(())
}

/// A place in words: its games, its line, what was played and what the book has.
fn described(leave: &Leave, books: &[Arc<dyn Book>]) -> String {
    let counts = leave.group.counts;
    let Some(exit) = leave.exit(books) else { return String::new() };
    let eval = leave.group.mean_eval().map(|eval| format!(", eval {:+.2}", eval / 100.0)).unwrap_or_default();
    let played = exit.played.map(|mv| format!(", then {}{}", number(&exit.at, false), san(&exit.at, mv)));
    let (line, played) = (line_to(leave, &exit), played.unwrap_or_default());
    // Two sides with books of their own leave them at the same place.
    let name =
        |book: &Arc<dyn Book>| book.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let own = exit.own.books.iter().filter_map(|number| books.get(*number)).map(name);
    let own = own.collect::<Vec<_>>().join(" or ");
    let whose = if books.len() > 1 && !own.is_empty() { format!(", {own}") } else { String::new() };
    format!(
        "{}x {line}{played}: {} for the side to move{whose}{eval}{}",
        counts.games,
        share(counts),
        book_moves(&exit)
    )
}

/// What the books have at a place; nothing if that is nothing.
pub(super) fn book_moves(exit: &Exit) -> String {
    let known = exit.book_moves.iter().take(3);
    let known = known.map(|known| format!("{} {:.0}%", san(&exit.at, known.mv), known.chance * 100.0));
    let known = known.collect::<Vec<_>>().join(", ");
    if known.is_empty() { known } else { format!("; the book: {known}") }
}

/// The line to a place in words.
pub(super) fn line_to(leave: &Leave, exit: &Exit) -> String {
    if !leave.is_from_start() {
        exit.at.fen()
    } else if leave.line.is_empty() {
        "start".to_owned()
    } else {
        PositionLine::of_variant(leave.variant, leave.line.iter().copied()).text
    }
}

/// The moves of the books that lost most points, and what to do.
fn worst(found: &ReportTotals, top: usize, out: &mut dyn Write) -> io::Result<()> {
    let steps = found.sums.worst(top);
    if steps.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nBook moves that lost most, for the side that played them")?;
    for (_, step, line) in &steps {
        let Some((_, before)) = line.split_last() else { continue };
        let text = |moves: &[MoveCode]| PositionLine::of_variant(found.variant, moves.iter().copied()).text;
        let (whole, rest) = (text(line), text(before));
        let Counts { wins, draws, losses, .. } = step.counts;
        writeln!(out, "  +{wins} ={draws} -{losses}, {}: {whole}", share(step.counts))?;
        let last = whole.rsplit(' ').next().unwrap_or_default();
        for book in step.books.iter().filter_map(|book| found.books.get(*book)) {
            writeln!(out, "      {}", never(&**book, found.variant, &rest, last))?;
        }
    }
    let mut books = steps.iter().flat_map(|(_, step, _)| &step.books);
    let Some(book) = books.find_map(|book| found.books.get(*book)) else { return Ok(()) };
    let path = book.path().to_string_lossy();
    let variant = on_line(found.variant);
    writeln!(out, "  `tabiya vet {}{variant} -o vetted.bin` lets an engine judge all moves.", quoted(&path))
}

/// The command after which a book no longer plays a move after a line, or what comes before it.
fn never(book: &dyn Book, variant: Variant, line: &str, mv: &str) -> String {
    let (path, format) = (book.path(), book.format());
    let (name, variant) = (path.to_string_lossy(), on_line(variant));
    if let Edits::Not { remedy, .. } = format.edits() {
        let command = if remedy == Remedy::Build { "build" } else { "convert" };
        let made = path.with_extension("bin");
        let made = made.to_string_lossy();
        return format!(
            "tabiya {command} {}{variant} -o {} makes a book that can be edited",
            quoted(&name),
            quoted(&made)
        );
    }
    let value = if format.edits() == Edits::Verdicts { "red" } else { "0" };
    let at = if line.is_empty() { String::new() } else { format!(" --moves \"{line}\"") };
    format!("tabiya edit {}{variant}{at} --set {mv}={value}", quoted(&name))
}

/// The variant as an argument of a command; nothing for standard chess.
fn on_line(variant: Variant) -> String {
    if variant == Variant::Chess { String::new() } else { format!(" --variant {}", variant.uci()) }
}

pub(super) fn share(counts: Counts) -> String {
    let share = |(points, games)| format!("{:.1}%", points / games * 100.0);
    counts.results().map_or_else(|| "-".to_owned(), share)
}

/// A difference of strength, and its limits of 95 %.
fn difference(elo: Elo) -> String {
    match (elo.difference, elo.error, elo.low, elo.high) {
        (Some(elo), Some(error), ..) => format!("{elo:+.1} ± {error:.1}"),
        (Some(elo), None, Some(low), Some(high)) => format!("{elo:+.1} ({low:+.1} to {high:+.1})"),
        (None, _, Some(low), _) => format!("above {low:+.1}"),
        (None, _, _, Some(high)) => format!("below {high:+.1}"),
        _ => TOO_FEW.to_owned(),
    }
}

/// The share of the points, and its limits of 95 %.
fn with_limits(counts: Counts) -> String {
    let Some(Share { mean, limits }) = elo::share(&counts.by_points()) else { return "-".to_owned() };
    let mean = mean * 100.0;
    match limits.map(|WinLimits { low, high, is_even, .. }| (low * 100.0, high * 100.0, is_even)) {
        Some((low, high, true)) => format!("{mean:.1}% ± {:.1}", (high - low) / 2.0),
        Some((low, high, false)) => format!("{mean:.1}% ({low:.1} to {high:.1})"),
        None => format!("{mean:.1}%, {TOO_FEW}"),
    }
}

fn pawns(group: &ReportGroup) -> String {
    group.mean_eval().map_or_else(|| "-".to_owned(), |eval| format!("{:+.2}", eval / 100.0))
}
