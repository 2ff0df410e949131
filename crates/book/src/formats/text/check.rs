//! Sums up a whole book and finds what is wrong with it.

use shakmaty::Move;

use tabiya_base::findings::{Findings, kinds};
use tabiya_base::progress::Progress;
use tabiya_chess::{Position, Variant};

use super::TextBook;
use super::line::{LONGEST, LineError, lines, with_line};
use super::read::MAX_LINES;
use crate::BookSummary;
use crate::traverse::{Graph, with_replies};

kinds! {
    /// What can be wrong with a book as text.
    pub enum TextFindingKind {
        Line: Error "lines that are no position" => "their moves are not played",
        Illegal: Error "moves that are not legal in their position",
        Bare: Warning "positions without moves",
        Never: Warning "moves of weight 0, which are never played",
        Twice: Warning "positions on several lines" => "their weights are added up",
        Cut: Error "books with too many lines",
    }
}

/// Reports what is wrong with each line, in the order of the file. Returns the lines of positions.
fn inspect(book: &TextBook, progress: &Progress, findings: &mut Findings<'_>) -> u64 {
    let (mut entries, mut moves) = (0, Vec::new());
    progress.bytes(book.data.len() as u64);
    for (number, (start, line)) in (1_u64..).zip(lines(&book.data)) {
        let at = start as u64;
        progress.pass(at);
        let read = with_line(line, |line| {
            let Some(position) = line.position(book.variant) else { return false };
            entries += 1;
            if !line.has_moves() {
                findings.add(TextFindingKind::Bare, at, format_args!("line {number} has no moves"));
            }
            moves.clear();
            line.add_moves(&position, &mut moves, &mut |word| {
                let word: String = word.chars().take(20).collect();
                let what = format_args!("line {number}: {word:?} is not a legal move");
                findings.add(TextFindingKind::Illegal, at, what);
            });
            for _ in moves.iter().filter(|(_, weight)| *weight == 0) {
                findings.count(TextFindingKind::Never, at, "a move of weight 0 is never played");
            }
            true
        });
        let wrong = match read {
            Ok(Some(true) | None) => continue,
            Ok(Some(false)) => format!("line {number}: the position is not legal"),
            Err(LineError::NoPosition) => format!("line {number} does not begin with a position"),
            Err(LineError::TooLong) => {
                format!("line {number} has {} bytes, and at most {LONGEST} are read", line.len())
            }
        };
        findings.add(TextFindingKind::Line, at, wrong);
    }
    entries
}

/// Sums up the book, and reports what is wrong with it.
pub(super) fn survey(book: &TextBook, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
    let entries = inspect(book, progress, findings);
    let (index, mut moves) = (book.index(), 0);
    for first in index.positions() {
        if let Some(again) = index.lines(first).nth(1) {
            findings.add(TextFindingKind::Twice, again as u64, "a position is on several lines");
        }
        moves += book.position(first).map_or(0, |at| book.moves_of(first, &at).len() as u64);
    }
    if index.len() == MAX_LINES {
        findings.add(
            TextFindingKind::Cut,
            0,
            format_args!("only the first {MAX_LINES} lines with moves are read"),
        );
    }
    let walk = with_replies(&mut Walk(book), index.positions, progress);
    BookSummary {
        entries,
        positions: Some(index.positions),
        moves: Some(moves),
        deepest: (!walk.cut).then_some(walk.plies),
        reachable: (!walk.cut).then_some(walk.reached),
        ..BookSummary::default()
    }
}

/// A walk along the moves of a book.
struct Walk<'a>(&'a TextBook);

impl Graph for Walk<'_> {
    fn variant(&self) -> Variant {
        self.0.variant
    }

    fn numbers(&self) -> u64 {
        self.0.index().len() as u64
    }

    fn entry(&self, at: &Position) -> Option<u64> {
        self.0.find(at).map(|first| first as u64)
    }

    fn moves(&mut self, at: &Position, entry: u64, _: bool, out: &mut Vec<Move>) {
        let first = usize::try_from(entry).unwrap_or(usize::MAX);
        out.extend(self.0.moves_of(first, at).into_iter().map(|(mv, _)| mv));
    }
}
