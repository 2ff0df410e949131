//! The whole book read: its sums for `info`, its damages for `check`.

use shakmaty::Move;

use super::index::{Index, Known};
use super::layout::{HEADER_LEN, Header, RECORD_LEN, Record, Records, offset};
use super::walk::{Fault, LONGEST, MOST, Visitor, Walked, walk};
use crate::base::map::Map;
use crate::base::progress::Progress;
use crate::book::{Damage, Summary};
use crate::chess::Position;

/// All faults with what they say of so many records, in the order in which `info` tells them.
const FAULTS: [(Fault, &str); 9] = [
    (Fault::ChildOutside, "whose first reply lies outside of the file"),
    (Fault::SiblingOutside, "whose next move lies outside of the file"),
    (Fault::ChildAgain, "whose first reply stands elsewhere in the tree already"),
    (Fault::SiblingAgain, "whose next move stands elsewhere in the tree already"),
    (Fault::Code, "whose move means nothing"),
    (Fault::Illegal, "whose move is not legal in its position"),
    (Fault::Counts, "whose counts cannot be"),
    (Fault::Priority, "of a priority above 9"),
    (Fault::TooDeep, "whose replies lie too deep to be followed"),
];

/// Sums the book up.
pub fn summary(data: &Map, index: &Index, progress: &Progress) -> Summary {
    let records = Records::new(data);
    let mut tally = Tally([0; FAULTS.len()]);
    let walked = walk(records, progress, &mut tally);
    let start = Position::start();
    let deleted = records.iter().filter(|(_, record)| record.deleted()).count() as u64;
    let limited = index.all().iter().filter(|known| known.limited).count() as u64;
    let never = index.all().iter().filter(|known| known.weight == 0).count() as u64;
    let mut oddities = Vec::new();
    oddities.extend(trailing(records).map(|(_, what)| what));
    for ((_, what), count) in FAULTS.into_iter().zip(tally.0) {
        if count > 0 {
            oddities.push(format!("{} {what}", many(count, "record")));
        }
    }
    for (count, what) in [
        (never, "move", "of priority 0, never played"),
        (limited, "move", "that the header's limits keep out of tournaments"),
        (deleted, "record", "deleted"),
    ]
    .map(|(count, noun, what)| (count, format!("{} {what}", many(count, noun))))
    {
        if count > 0 {
            oddities.push(what);
        }
    }
    oddities.extend(lost(records, &walked).map(|(_, what)| what));
    oddities.extend(cut(&walked));
    let positions = index.all().chunk_by(|a, b| a.key == b.key).count() as u64;
    let games = |known: &Known| u64::from(known.games);
    Summary {
        entries: records.len() as u64,
        positions: Some(positions),
        moves: Some(index.all().len() as u64),
        games: index.has_games.then(|| index.of_key(start.key()).iter().map(games).sum()),
        deepest: Some(index.all().iter().map(|known| u32::from(known.ply)).max().unwrap_or_default()),
        reachable: Some(positions),
        learned: None,
        oddities,
        notes: notes(&Header::read(data)),
    }
}

/// The header's texts and settings, as lines with names.
fn notes(header: &Header) -> Vec<(&'static str, String)> {
    let mut notes = Vec::new();
    for (name, text) in [("comment", &header.comment), ("author", &header.author)] {
        if !text.is_empty() {
            notes.push((name, text.clone()));
        }
    }
    let Header { by_priority, by_games, by_score, .. } = header;
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
        limits.push(format!("up to half-move {}", header.last_ply));
    }
    if !limits.is_empty() {
        notes.push(("limits", limits.join(", ")));
    }
    notes
}

/// Reports each damage and oddity: bytes behind the last record, then what the walk through the tree meets, in the
/// order in which play does, then what no line reaches.
pub fn check(data: &Map, progress: &Progress, report: &mut dyn FnMut(Damage)) {
    let records = Records::new(data);
    if let Some((offset, what)) = trailing(records) {
        report(Damage { offset, what, serious: true });
    }
    if records.is_empty() {
        let what = "no move stands behind the header".to_owned();
        report(Damage { offset: u64::from(HEADER_LEN).min(data.len() as u64 - 1), what, serious: false });
    }
    let walked = walk(records, progress, &mut Reporter(report));
    if let Some((offset, what)) = lost(records, &walked) {
        report(Damage { offset, what, serious: false });
    }
    if let Some(what) = cut(&walked) {
        report(Damage { offset: 0, what, serious: false });
    }
}

/// Counts the faults, by their place in [`FAULTS`].
struct Tally([u64; FAULTS.len()]);

impl Visitor for Tally {
    fn legal(&mut self, _: u32, _: &Record, _: &Position, _: Move, _: u32) {}

    fn fault(&mut self, _: u32, _: &Record, _: &Position, fault: Fault) {
        for ((known, _), count) in FAULTS.iter().zip(&mut self.0) {
            *count += u64::from(*known == fault);
        }
    }
}

/// Reports the faults.
struct Reporter<'a>(&'a mut dyn FnMut(Damage));

impl Visitor for Reporter<'_> {
    fn legal(&mut self, _: u32, _: &Record, _: &Position, _: Move, _: u32) {}

    fn fault(&mut self, number: u32, record: &Record, at: &Position, fault: Fault) {
        let Record { from, to, promotion, child, sibling, .. } = record;
        let mv = record.mv().map(|mv| mv.to_string()).unwrap_or_default();
        let what = match fault {
            Fault::ChildOutside => format!("the first reply, record {child}, lies outside of the file"),
            Fault::SiblingOutside => format!("the next move, record {sibling}, lies outside of the file"),
            Fault::ChildAgain => {
                format!("the first reply, record {child}, stands elsewhere in the tree already")
            }
            Fault::SiblingAgain => {
                format!("the next move, record {sibling}, stands elsewhere in the tree already")
            }
            Fault::Code => {
                format!("the move from square {from} to {to} with promotion {promotion} means nothing")
            }
            Fault::Illegal => format!("the move {mv} is not legal in {}", at.fen()),
            Fault::Counts => {
                let Record { games, white_wins, white_losses, .. } = record;
                format!("{games} games with {white_wins} won and {white_losses} lost by White cannot be")
            }
            Fault::Priority => {
                format!("the priority {} of the move {mv} is above 9, and counts as 9", record.priority)
            }
            Fault::TooDeep => {
                format!("the replies to {mv} lie more than {LONGEST} plies deep and are not followed")
            }
        };
        (self.0)(Damage { offset: offset(number), what, serious: fault != Fault::Priority });
    }
}

fn trailing(records: Records<'_>) -> Option<(u64, String)> {
    let (bytes, len) = (records.trailing() as u64, records.len() as u64);
    let at = u64::from(HEADER_LEN) + len * u64::from(RECORD_LEN);
    (bytes > 0).then(|| (at, format!("{} behind the last whole record of {RECORD_LEN}", many(bytes, "byte"))))
}

/// Records that no line reaches and that are not deleted; none where not all were looked for.
fn lost(records: Records<'_>, walked: &Walked) -> Option<(u64, String)> {
    if walked.cut {
        return None;
    }
    let mut lost = records.iter().filter(|(number, record)| !record.deleted() && !walked.contains(*number));
    let (first, _) = lost.next()?;
    let count = 1 + lost.count() as u64;
    let at = offset(first);
    Some((at, format!("{} that no line from the starting position reaches", many(count, "record"))))
}

fn cut(walked: &Walked) -> Option<String> {
    walked.cut.then(|| format!("more than {MOST} records: the rest is not read"))
}

fn many(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
