//! Sums up a whole book and finds what is wrong with it.

use std::ops::ControlFlow;

use tabiya_base::findings::{FindingPlace, Findings};
use tabiya_base::map::Map;
use tabiya_base::progress::Progress;
use tabiya_chess::Position;

use super::kinds::AbkFindingKind;
use super::layout::{HEADER_LEN, MIN_GAMES, RECORD_LEN};
use super::read::{AbkIndex, IndexedMove, MAX, MAX_LEN, walk};
use super::records::{AbkHeader, AbkRecord, Records, offset};
use crate::BookSummary;

/// Sums up the book, and reports what is wrong with it and what keeps moves from being played.
pub(crate) fn survey(
    data: &Map,
    index: &AbkIndex,
    progress: &Progress,
    findings: &mut Findings<'_>,
) -> BookSummary {
    inspect(data, progress, findings);
    let records = Records::new(data);
    for (number, record) in records.iter() {
        if record.deleted() {
            findings.count(AbkFindingKind::Deleted, offset(number), "this record is deleted");
        } else if record.priority == 0 {
            findings.count(
                AbkFindingKind::Never,
                offset(number),
                "this move has priority 0 and is never played",
            );
        }
    }
    for _ in index.all().iter().filter(|known| known.limited) {
        findings.count(
            AbkFindingKind::Limited,
            MIN_GAMES,
            "the header's limits keep a move out of tournaments",
        );
    }
    let positions = index.all().chunk_by(|a, b| a.key == b.key).count() as u64;
    let games = |known: &IndexedMove| u64::from(known.games);
    BookSummary {
        entries: records.len() as u64,
        positions: Some(positions),
        moves: Some(index.all().len() as u64),
        games: index.has_games.then(|| index.of_key(Position::start().key()).iter().map(games).sum()),
        deepest: Some(index.all().iter().map(|known| u32::from(known.ply)).max().unwrap_or_default()),
        reachable: Some(positions),
        notes: notes(&AbkHeader::read(data)),
        ..BookSummary::default()
    }
}

/// The message for a last record that has only `trailing` bytes.
pub(super) fn cut_off(trailing: usize) -> String {
    format!("the last record is cut off: it has {trailing} of {RECORD_LEN} bytes")
}

/// Reports what is wrong with the book: first the findings of the walk through the tree, then what no line reaches.
pub(crate) fn inspect(data: &Map, progress: &Progress, findings: &mut Findings<'_>) {
    let records = Records::new(data);
    let end = u64::from(HEADER_LEN) + records.len() as u64 * u64::from(RECORD_LEN);
    if records.trailing > 0 {
        findings.add(AbkFindingKind::Trailing, end, format_args!("{}", cut_off(records.trailing)));
    }
    if records.is_empty() {
        findings.add(AbkFindingKind::Empty, end.min(data.len() as u64 - 1), "no move follows the header");
    }
    let found = |number, record: &AbkRecord, at: &Position, kind| add(findings, number, record, at, kind);
    progress.things(records.len() as u64, "records");
    let go_on = |done| {
        progress.at(done);
        ControlFlow::Continue(())
    };
    let walked = walk(records, MAX, go_on, |_, _, _, _, _| (), found);
    if walked.cut {
        findings.add(
            AbkFindingKind::Cut,
            FindingPlace::default(),
            format_args!("more than {MAX} records: the rest is not read"),
        );
        return;
    }
    for (number, record) in records.iter() {
        if !record.deleted() && !walked.contains(number) {
            let what = "no line from the starting position reaches this record";
            findings.count(AbkFindingKind::Unreached, offset(number), what);
        }
    }
}

/// The header's texts and settings, as named lines.
fn notes(header: &AbkHeader) -> Vec<(&'static str, String)> {
    let mut notes = vec![("comment", header.comment.clone()), ("author", header.author.clone())];
    notes.retain(|(_, text)| !text.is_empty());
    let AbkHeader { by_priority, by_games, by_score, .. } = header;
    notes.push(("weighed by", format!("priority {by_priority}, games {by_games}, score {by_score}")));
    let [white, black] = header.min_percent;
    let limits = [
        (header.min_games, " games"),
        (header.min_wins, " won games"),
        (white, "% won by White"),
        (black, "% won by Black"),
    ];
    let mut limits: Vec<String> = limits
        .into_iter()
        .filter(|(least, _)| *least > 0)
        .map(|(least, what)| {
            format!("at least {least}{}", if least == 1 { what.trim_end_matches('s') } else { what })
        })
        .collect();
    if header.last_ply > 0 {
        limits.push(format!("up to ply {}", header.last_ply));
    }
    if !limits.is_empty() {
        notes.push(("limits", limits.join(", ")));
    }
    notes
}

/// Adds a finding of the walk.
fn add(findings: &mut Findings<'_>, number: u32, record: &AbkRecord, at: &Position, kind: AbkFindingKind) {
    let AbkRecord { from, to, promotion, child, sibling, priority, games, white_wins, white_losses, .. } =
        record;
    let mv = record.mv().map(|mv| mv.to_string()).unwrap_or_default();
    let what = match kind {
        AbkFindingKind::ChildOutside => format!("the first reply, record {child}, is outside the file"),
        AbkFindingKind::SiblingOutside => format!("the next move, record {sibling}, is outside the file"),
        AbkFindingKind::ChildAgain => {
            format!("the first reply, record {child}, is already elsewhere in the tree")
        }
        AbkFindingKind::SiblingAgain => {
            format!("the next move, record {sibling}, is already elsewhere in the tree")
        }
        AbkFindingKind::Code => {
            format!("the move from square {from} to {to} with promotion {promotion} is impossible")
        }
        AbkFindingKind::Illegal => format!("the move {mv} is not legal in {}", at.fen()),
        AbkFindingKind::Counts => {
            format!("{games} games with {white_wins} won and {white_losses} lost by White are impossible")
        }
        AbkFindingKind::Priority => {
            format!("the priority {priority} of the move {mv} is above 9, and counts as 9")
        }
        _ => format!("the replies to {mv} are more than {MAX_LEN} plies deep and are not followed"),
    };
    findings.add(kind, offset(number), what);
}
