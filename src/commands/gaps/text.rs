//! What games reach of a book, for people.

use std::io::{self, Write};

use tabiya_book::Moves;
use tabiya_chess::Position;
use tabiya_workshop::expected::ExpectedSources;
use tabiya_workshop::gaps::{Gaps, RarePosition, ReachedPosition, in_words, plays};
use tabiya_workshop::view::san;

use crate::output::report;
use crate::output::rows::{many, percent};

/// What was read of games.
pub(super) fn read(sources: &ExpectedSources, out: &mut dyn Write) -> io::Result<()> {
    for source in sources.counted() {
        for line in report::read_lines(&source.report) {
            writeln!(out, "{}: {line}", source.path.display())?;
        }
    }
    Ok(())
}

/// A row: how many games reach a position, and the line to it.
fn row(gaps: &Gaps, at: &ReachedPosition) -> String {
    let games = at.games.filter(|games| *games > 0).map_or_else(String::new, |games| format!(" ({games})"));
    format!("{}{games}: {}", in_words(at.share), line(gaps, at))
}

/// The line to a position.
fn line(gaps: &Gaps, at: &ReachedPosition) -> String {
    let text = gaps.line(at).text;
    if text.is_empty() { "the first position".to_owned() } else { text }
}

/// What is found for a side, which is named or not: a book for one side has gaps for the other that nobody wants to see.
pub(super) fn gaps(
    gaps: &Gaps,
    (name, book, is_named): (&str, &dyn Moves, bool),
    top: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let side = gaps.side.fold_wb("White", "Black");
    let (start, from) = (gaps.start(), gaps.start().position());
    let is_usual = start.moves().is_empty() && from.epd() == Position::start_of(from.variant()).epd();
    let place = if is_usual { String::new() } else { format!(", from {} on", from.fen()) };
    writeln!(out, "\n{name} for {side}{place}")?;
    if !gaps.has_answers() {
        writeln!(out, "  the book has no move of {side} that games reach")?;
        if !is_named {
            return Ok(());
        }
    }
    if gaps.knows_nothing() {
        let other = gaps.side.fold_wb("Black", "White");
        return writeln!(out, "  the sources have no move of {other} where the book leads");
    }
    if let Some(share) = gaps.answered() {
        writeln!(out, "  answers {} of the opponent's moves", percent(share))?;
    }
    if gaps.unknown > 0.0 {
        let share = percent(gaps.unknown / gaps.asked);
        writeln!(out, "  the sources know no move in {share} of the opponent's positions")?;
    }
    writeln!(out, "\n  No answer")?;
    rows(gaps.gaps.iter().map(|at| row(gaps, at)), top, out)?;
    let (count, share) = gaps.smaller;
    if count > 0 {
        let what = many(count, "less probable position");
        writeln!(out, "    {what}, together {}", in_words(share))?;
    }
    writeln!(out, "\n  Answered, by plies")?;
    let answers = gaps.answers.iter().filter(|of| of.reached > 0.0);
    for of in answers {
        let share = percent(of.answered / of.reached);
        writeln!(out, "  {:>5} {share:>7}, reached by {}", of.ply, percent(of.reached.min(1.0)))?;
    }
    if !gaps.choices.is_empty() {
        writeln!(out, "\n  More than one move of {side}")?;
        rows(gaps.choices.iter().map(|at| choice(gaps, at, book)), top, out)?;
    }
    if let Some(rare) = &gaps.rare {
        writeln!(out, "\n  Almost never reached: by less than {}", in_words(gaps.followed))?;
        rows(rare.iter().map(|rare| rarely(gaps, rare)), top, out)?;
    }
    Ok(())
}

/// The first rows, and how many there are besides.
fn rows(all: impl ExactSizeIterator<Item = String>, top: usize, out: &mut dyn Write) -> io::Result<()> {
    let more = all.len().saturating_sub(top);
    if all.len() == 0 {
        writeln!(out, "    none")?;
    }
    for row in all.take(top) {
        writeln!(out, "    {row}")?;
    }
    if more > 0 { writeln!(out, "    {more} more (--top)") } else { Ok(()) }
}

/// A position with its moves.
fn choice(gaps: &Gaps, at: &ReachedPosition, book: &dyn Moves) -> String {
    let position = gaps.line(at).at;
    let named = plays(book, &position).into_iter();
    let named: Vec<_> =
        named.map(|(mv, chance)| format!("{} {}", san(&position, mv), percent(chance))).collect();
    format!("{}: {}", row(gaps, at), named.join(", "))
}

/// A line that games almost never go.
fn rarely(gaps: &Gaps, RarePosition { at, positions }: &RarePosition) -> String {
    format!("{}: {} ({})", in_words(at.share), line(gaps, at), many(*positions, "position"))
}
