//! The whole book read: its sums for `info`, its damages for `check`.

use super::layout::{ENTRY_LEN, MoveFault};
use super::read::Entries;
use super::scan::{FAULTS, Fault, Group, Tally, Totals, scan};
use super::walk::{Finding, Walk, walk};
use crate::base::map::{Access, Map};
use crate::base::progress::Progress;
use crate::book::{Damage, Summary};

/// Sums the book up.
pub fn summary(data: &Map, progress: &Progress) -> Summary {
    let entries = Entries::new(data);
    let totals = pass(data, progress, |_| ());
    let (mut illegal, mut old_castling) = (0, 0);
    let walk = walk(entries, totals.positions, progress, &mut |finding| {
        if finding.old_castling { old_castling += 1 } else { illegal += 1 }
    });
    let mut oddities = Vec::new();
    oddities.extend(trailing(entries));
    for fault in FAULTS {
        let Tally { count, first } = totals.tally(fault);
        if count > 0 {
            oddities.push(format!("{} (first at byte {})", all(fault, count), offset(first)));
        }
    }
    oddities.extend(lost(&totals));
    for (count, what) in [
        (illegal, "whose move is not legal in its position"),
        (old_castling, "whose castling is written as the king's step, which most programs no longer read"),
    ] {
        if count > 0 {
            oddities.push(format!("{} {what}", many(count, "entry", "entries")));
        }
    }
    oddities.extend(cut(&walk));
    Summary {
        entries: entries.len() as u64,
        positions: Some(totals.positions),
        moves: Some(totals.moves),
        games: None,
        deepest: Some(walk.plies),
        reachable: Some(walk.reached),
        learned: totals.learned,
        oddities,
        notes: vec![],
    }
}

/// Reports each damage and oddity: first those of the entries in the order of the file, then those that only the
/// position shows, in the order in which play reaches it.
pub fn check(data: &Map, progress: &Progress, report: &mut dyn FnMut(Damage)) {
    let entries = Entries::new(data);
    let totals = pass(data, progress, |group| {
        for fault in group.faults.iter() {
            let what = match group.count - 1 {
                0 => one(fault, group),
                1 => format!("{}, and so does the next entry", one(fault, group)),
                more => format!("{}, and so do the next {more} entries", one(fault, group)),
            };
            report(Damage { offset: offset(group.index), what, serious: fault.is_serious() });
        }
    });
    if let Some(what) = trailing(entries) {
        report(Damage { offset: offset(entries.len()), what, serious: true });
    }
    if let Some(what) = lost(&totals) {
        report(Damage { offset: offset(totals.lost.first), what, serious: true });
    }
    let learn = totals.tally(Fault::Learn);
    if learn.count > 0 {
        let what = all(Fault::Learn, learn.count);
        report(Damage { offset: offset(learn.first), what, serious: Fault::Learn.is_serious() });
    }
    let walk = walk(entries, totals.positions, progress, &mut |finding| report(damage(&finding)));
    if let Some(what) = cut(&walk) {
        report(Damage { offset: 0, what, serious: false });
    }
}

/// The pass over the file, which then is to be read here and there again.
fn pass(data: &Map, progress: &Progress, found: impl FnMut(&Group)) -> Totals {
    data.expect(Access::Sequential);
    let totals = scan(Entries::new(data), progress, found);
    data.expect(Access::Random);
    totals
}

/// What is wrong with one entry, as a clause that "and so does" can follow.
fn one(fault: Fault, group: &Group) -> String {
    let entry = group.entry;
    let before = group.before;
    match fault {
        Fault::Unsorted => {
            let before = before.map_or(0, |before| before.key);
            format!("the key {:016x} stands behind the higher {before:016x}", entry.key)
        }
        Fault::Move(MoveFault::Code) => format!("the move code {} means nothing", entry.mv),
        Fault::Move(MoveFault::Still) => format!("the move {} ends where it starts", entry.mv),
        Fault::Move(MoveFault::Geometry) => format!("the move {} fits no piece", entry.mv),
        Fault::Move(MoveFault::Promotion) => format!("the move {} promotes where no pawn can", entry.mv),
        Fault::Move(MoveFault::Null) => "the move a1a1 means no move".to_owned(),
        Fault::ZeroWeight => format!("the move {} weighs 0 and is never played", entry.mv),
        Fault::Rising => {
            let before = before.map_or(0, |before| before.weight);
            format!("the weight {} stands behind the lower {before} of the same position", entry.weight)
        }
        Fault::Duplicate => format!("the move {} stands in this position already", entry.mv),
        Fault::Unread => {
            format!("the entry of {:016x} stands too far behind the first of its key to be read", entry.key)
        }
        Fault::Learn => all(fault, 1),
    }
}

/// What is wrong with so many entries, as a noun phrase.
fn all(fault: Fault, count: u64) -> String {
    let entries = many(count, "entry", "entries");
    match fault {
        Fault::Unsorted => format!("{entries} out of order"),
        Fault::Move(MoveFault::Code) => format!("{entries} whose move code means nothing"),
        Fault::Move(MoveFault::Still) => format!("{entries} whose move ends where it starts"),
        Fault::Move(MoveFault::Geometry) => format!("{entries} whose move fits no piece"),
        Fault::Move(MoveFault::Promotion) => format!("{entries} whose move promotes where no pawn can"),
        Fault::Move(MoveFault::Null) => format!("{entries} without a move (a1a1)"),
        Fault::ZeroWeight => format!("{entries} of weight 0, never played"),
        Fault::Rising => format!("{entries} heavier than the one before of the same position"),
        Fault::Duplicate => format!("{entries} whose move stands in the position already"),
        Fault::Unread => format!("{entries} too far behind the first of their key to be read"),
        Fault::Learn => format!(
            "{entries} whose learn field holds something other than games and half-points: \
             not to be trusted before it is reset"
        ),
    }
}

fn trailing(entries: Entries<'_>) -> Option<String> {
    let bytes = entries.trailing() as u64;
    (bytes > 0)
        .then(|| format!("{} behind the last whole entry of {ENTRY_LEN}", many(bytes, "byte", "bytes")))
}

fn lost(totals: &Totals) -> Option<String> {
    let Tally { count, .. } = totals.lost;
    (count > 0).then(|| {
        let positions = many(count, "position", "positions");
        format!("{positions} of {} out of the reach of binary search", totals.positions)
    })
}

fn cut(walk: &Walk) -> Option<String> {
    walk.cut.then(|| "too many positions at one depth to follow every line".to_owned())
}

fn damage(finding: &Finding<'_>) -> Damage {
    let (mv, fen) = (finding.entry.mv, finding.position.fen());
    let what = if finding.old_castling {
        format!("the castling {mv} is written as the king's step in {fen}")
    } else {
        format!("the move {mv} is not legal in {fen}")
    };
    Damage { offset: offset(finding.index), what, serious: !finding.old_castling }
}

fn offset(index: usize) -> u64 {
    index as u64 * ENTRY_LEN as u64
}

fn many(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

#[cfg(test)]
mod tests {
    use super::super::layout::Entry;
    use super::super::tests::{after, bytes, entry};
    use super::*;
    use crate::chess::Position;

    fn damages(data: Vec<u8>) -> Vec<(u64, String, bool)> {
        let mut told = Vec::new();
        check(&data.into(), &Progress::none(), &mut |damage| {
            told.push((damage.offset, damage.what, damage.serious));
        });
        told
    }

    fn sorted(mut entries: Vec<Entry>) -> Vec<u8> {
        entries.sort_by_key(|entry| entry.key);
        bytes(&entries)
    }

    #[test]
    fn a_sound_book_has_nothing_to_tell() {
        let data = sorted(vec![entry(&Position::start(), "e2e4", 2), entry(&after("e2e4"), "e7e5", 1)]);
        assert_eq!(damages(data.clone()), []);
        let summary = summary(&data.into(), &Progress::none());
        let expected = Summary {
            entries: 2,
            positions: Some(2),
            moves: Some(2),
            games: None,
            deepest: Some(2),
            reachable: Some(2),
            learned: Some(0),
            oddities: vec![],
            notes: vec![],
        };
        assert_eq!(summary, expected);
    }

    #[test]
    fn a_damage_is_told_with_its_place() {
        let start = Position::start();
        let mut data = bytes(&[
            entry(&start, "e2e5", 2),
            entry(&start, "e2e4", 0),
            Entry { key: 0, games: 1, halfpoints: 9, ..entry(&start, "b1c3", 1) },
        ]);
        data.extend([1, 2, 3]);
        let expected = [
            (16, "the move e2e4 weighs 0 and is never played", false),
            (32, "the key 0000000000000000 stands behind the higher 463b96181691fc9c", true),
            (48, "3 bytes behind the last whole entry of 16", true),
            (32, "1 position of 2 out of the reach of binary search", true),
            (
                32,
                "1 entry whose learn field holds something other than games and half-points: \
                 not to be trusted before it is reset",
                false,
            ),
            (
                0,
                "the move e2e5 is not legal in rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                true,
            ),
        ];
        assert_eq!(damages(data.clone()), expected.map(|(at, what, serious)| (at, what.to_owned(), serious)));
        let summary = summary(&data.into(), &Progress::none());
        assert_eq!((summary.learned, summary.oddities.len()), (None, 6));
        assert_eq!(summary.oddities[1], "1 entry out of order (first at byte 32)");
    }

    #[test]
    fn a_file_full_of_one_fault_is_told_in_few_lines() {
        let told = damages(vec![0; 16 * 100_000]);
        assert!(told.len() < 20, "{told:?}");
        assert_eq!(told[0], (0, "the move a1a1 means no move".to_owned(), false));
        assert!(told.iter().any(|(_, what, _)| what.ends_with(", and so do the next 1022 entries")));
        // Null moves and weights of 0 are odd; what no look-up reaches is lost.
        let lost = |what: &str| what.contains("too far behind the first of its key");
        assert!(told.iter().all(|(_, what, serious)| *serious == lost(what)), "{told:?}");
        assert!(told.iter().any(|(_, what, _)| lost(what)));
    }

    #[test]
    fn the_old_form_of_castling_is_odd_only() {
        let line = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5", "e1g1"];
        let entries = (0..line.len()).map(|ply| entry(&after(&line[..ply].join(" ")), line[ply], 1));
        let told = damages(sorted(entries.collect()));
        assert_eq!(told.len(), 1);
        assert!(told[0].1.starts_with("the castling e1g1 is written as the king's step in "), "{told:?}");
        assert!(!told[0].2);
    }
}
