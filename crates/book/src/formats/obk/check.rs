//! Sums up a whole book and finds what is wrong with it.

use tabiya_base::findings::{FindingPlace, Findings};
use tabiya_base::progress::Progress;
use tabiya_chess::Position;

use super::Obk;
use super::kinds::ObkFindingKind;
use super::layout::COUNT_AT;
use super::read::{MAX_DEPTH, MAX_MOVES, walk};
use super::records::{ObkHeader, ObkRecord};
use crate::BookSummary;

/// What is said of moves that the file does not have.
pub(super) fn missing(data: &[u8], header: ObkHeader) -> Option<String> {
    let held = header.records(data).len();
    let what = || format!("the header counts {} moves, but the file ends after {held}", header.moves);
    (u64::from(header.moves) > held as u64).then(what)
}

/// Reports what is wrong with a book, in the order of the file.
pub(super) fn inspect(data: &[u8], header: ObkHeader, progress: &Progress, findings: &mut Findings<'_>) {
    let records = header.records(data);
    progress.things(records.len() as u64, "moves");
    let mut never = 0_u64;
    let legal = &mut |_: &Position, record: ObkRecord, _, _| never += u64::from(record.weight == 0);
    walk(data, header, progress, legal, &mut |number, record, kind| {
        findings.add(kind, header.offset(number), described(kind, record, records.len() - number));
    });
    for _ in 0..never {
        findings.count(ObkFindingKind::Never, FindingPlace::default(), "a move of weight 0 is never played");
    }
    if let Some(what) = missing(data, header) {
        findings.add(ObkFindingKind::Missing, COUNT_AT, what);
    } else if records.is_empty() {
        findings.add(ObkFindingKind::Empty, COUNT_AT, "the book has no moves");
    }
    let end = header.offset(records.len());
    if header.texts > 0 {
        let what = format!("names and remarks ({} bytes) are not read", header.texts);
        findings.add(ObkFindingKind::Texts, end.min(data.len() as u64 - 1), what);
    }
    let all = end + u64::from(header.texts);
    if all < data.len() as u64 {
        findings.add(
            ObkFindingKind::Trailing,
            all,
            format_args!("{} bytes follow the book", data.len() as u64 - all),
        );
    }
}

/// What is wrong with a record, after which so many follow, itself among them.
fn described(kind: ObkFindingKind, record: ObkRecord, left: usize) -> String {
    let ObkRecord { from, to, .. } = record;
    match kind {
        ObkFindingKind::Illegal => {
            format!("the move from square {from} to {to} is not legal in its position")
        }
        ObkFindingKind::Lost => "this move follows one that is not legal".to_owned(),
        ObkFindingKind::TooDeep => {
            format!("a line is longer than {MAX_DEPTH} plies: the last {left} moves are not read")
        }
        ObkFindingKind::Rest => format!("{left} moves follow the end of the tree"),
        ObkFindingKind::Cut => {
            format!("the book has more than {MAX_MOVES} moves: the last {left} are not read")
        }
        _ => "the tree ends within a line".to_owned(),
    }
}

/// Sums up the book, and reports what is wrong with it.
pub(super) fn survey(book: &Obk, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
    let (header, index) = (book.header(), book.index());
    inspect(book.bytes(), header, progress, findings);
    let positions = index.all().chunk_by(|a, b| a.key == b.key).count() as u64;
    BookSummary {
        entries: header.records(book.bytes()).len() as u64,
        positions: Some(positions),
        moves: Some(index.all().len() as u64),
        deepest: Some(index.all().iter().map(|known| u32::from(known.ply)).max().unwrap_or(0)),
        reachable: Some(positions),
        notes: vec![("version", header.version.to_string())],
        ..BookSummary::default()
    }
}
