//! Sums up a whole book and finds what is wrong with it.

use shakmaty::Move;

use tabiya_base::findings::{Findings, kinds};
use tabiya_base::progress::Progress;
use tabiya_chess::{Position, Variant};

use super::TextBook;
use super::line::{LONGEST, LineError, lines, with_line};
use super::read::{MAX_LINES, may_be_passed};
use crate::BookSummary;
use crate::traverse::{Bits, Graph, KeyFilter, with_replies};

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

/// Lines and moves of a book.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TextTotals {
    /// Lines of positions.
    entries: u64,
    /// Different legal moves of each position.
    moves: u64,
}

/// Reports what is wrong with each line, in the order of the file, and then with positions.
pub(super) fn inspect(book: &TextBook, progress: &Progress, findings: &mut Findings<'_>) -> TextTotals {
    let mut totals = lines_of(book, progress, findings);
    let index = book.index();
    for first in index.positions() {
        let Some(again) = index.lines(first).nth(1) else { continue };
        findings.add(TextFindingKind::Twice, again as u64, "a position is on several lines");
        // The lines may have moves in common.
        if let Some(at) = book.position(first) {
            let mut each = 0;
            book.each_line(first, |line| {
                let mut moves = Vec::new();
                line.add_moves(&at, &mut moves, &mut |_| ());
                each += moves.len() as u64;
            });
            totals.moves = totals.moves.saturating_sub(each) + book.moves_of(first, &at).len() as u64;
        }
    }
    if index.len() == MAX_LINES {
        findings.add(
            TextFindingKind::Cut,
            0,
            format_args!("only the first {MAX_LINES} lines with moves are read"),
        );
    }
    totals
}

/// Reports what is wrong with each line. Each counts with its moves.
fn lines_of(book: &TextBook, progress: &Progress, findings: &mut Findings<'_>) -> TextTotals {
    let (mut totals, mut found, mut moves) = (TextTotals::default(), 0, Vec::new());
    progress.bytes(book.data.len() as u64);
    for (number, (start, line)) in (1_u64..).zip(lines(&book.data)) {
        let at = start as u64;
        progress.pass(at);
        let read = with_line(line, |line| {
            let Some(position) = line.position(book.variant) else { return false };
            totals.entries += 1;
            found += usize::from(line.has_moves());
            if !line.has_moves() {
                findings.add(TextFindingKind::Bare, at, format_args!("line {number} has no moves"));
            }
            moves.clear();
            line.add_moves(&position, &mut moves, &mut |word| {
                let word: String = word.chars().take(20).collect();
                let what = format_args!("line {number}: {word:?} is not a legal move");
                findings.add(TextFindingKind::Illegal, at, what);
            });
            if found <= MAX_LINES {
                totals.moves += moves.len() as u64;
            }
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
    totals
}

/// Sums up the book, and reports what is wrong with it.
pub(super) fn survey(book: &TextBook, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
    let (TextTotals { entries, moves }, index) = (inspect(book, progress, findings), book.index());
    let walk = with_replies(&mut Walk { book, missing: None }, index.positions, progress);
    BookSummary {
        entries,
        positions: Some(index.positions),
        moves: Some(moves),
        deepest: walk.deepest(),
        reachable: (!walk.cut).then_some(walk.reached),
        ..BookSummary::default()
    }
}

/// A walk along the moves of a book.
struct Walk<'a> {
    book: &'a TextBook,
    /// The keys of the lines that the book's own moves do not reach, once replies to them are looked for.
    missing: Option<KeyFilter>,
}

impl Graph for Walk<'_> {
    fn variant(&self) -> Variant {
        self.book.variant
    }

    fn numbers(&self) -> u64 {
        self.book.index().len() as u64
    }

    fn entry(&self, at: &Position) -> Option<u64> {
        self.book.find(at).map(|first| first as u64)
    }

    fn entries_after(&self, at: &Position, moves: &[Move], out: &mut Vec<Option<u64>>) {
        let index = self.book.index();
        out.extend(moves.iter().map(|mv| {
            if self.variant() != Variant::Chess || may_be_passed(*mv) {
                return self.entry(&at.after(*mv));
            }
            index.first(at.key_after(*mv)).map(|first| first as u64)
        }));
    }

    fn leave_out(&mut self, own: &Bits) {
        self.missing = Some(self.book.index().others(own));
    }

    fn drop_replies(&self, at: &Position, replies: &mut Vec<Move>) {
        if let Some(missing) = &self.missing {
            self.book.index().drop_absent(Some(missing), at, replies);
        }
    }

    fn moves(&mut self, at: &Position, entry: u64, _: bool, out: &mut Vec<Move>) {
        let first = usize::try_from(entry).unwrap_or(usize::MAX);
        out.extend(self.book.moves_of(first, at).into_iter().map(|(mv, _)| mv));
    }
}
