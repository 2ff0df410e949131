//! One pass over all entries: counts, and what is wrong with each.

use tabiya_base::findings::Findings;
use tabiya_base::progress::Progress;
use tabiya_chess::{MoveCode, Variant};

use super::entry::PolyglotEntry;
use super::kinds::{PolyglotFindingKind, offset};
use super::layout::ENTRY_LEN;
use super::read::{MAX_OF_ONE_KEY, PolyglotEntries};
use crate::sorted::SortedTable;

/// What the pass counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolyglotTotals {
    /// Runs of one key.
    pub positions: u64,
    /// Different moves of each run, without those that cannot be legal.
    pub moves: u64,
    /// Entries that learned something; `None` if some learn field cannot be trusted.
    pub learned: Option<u64>,
}

/// Reads all entries in the order of the file.
pub(crate) fn scan(
    entries: PolyglotEntries<'_>,
    variant: Variant,
    progress: &Progress,
    findings: &mut Findings<'_>,
) -> PolyglotTotals {
    progress.bytes(entries.len() as u64 * ENTRY_LEN as u64);
    let mut totals = PolyglotTotals { positions: 0, moves: 0, learned: Some(0) };
    // The number of the last position that has each move code.
    let mut last = vec![0; usize::from(u16::MAX) + 1];
    let (mut before, mut first, mut sorted) = (None::<PolyglotEntry>, 0, true);
    for (index, entry) in entries.iter().enumerate() {
        progress.pass(index as u64 * ENTRY_LEN as u64);
        if let Some(before) = before.filter(|before| before.key > entry.key) {
            let what = format_args!("key {:016x} follows the higher key {:016x}", entry.key, before.key);
            findings.add(PolyglotFindingKind::Unsorted, offset(index), what);
            sorted = false;
        }
        let before = before.replace(entry).filter(|before| before.key == entry.key);
        if before.is_none() {
            totals.positions += 1;
            first = index;
        }
        let last = last.get_mut(usize::from(entry.mv.0));
        let seen = last.is_some_and(|last| std::mem::replace(last, totals.positions) == totals.positions);
        let possible = check(&entry, variant, before, seen, offset(index), findings);
        totals.moves += u64::from(possible && !seen);
        if index - first >= MAX_OF_ONE_KEY {
            let what =
                format_args!("the entry is too far after the first of key {:016x} to be read", entry.key);
            findings.add(PolyglotFindingKind::Unread, offset(index), what);
        }
        if entry.learn_is_plausible() {
            totals.learned = totals.learned.map(|learned| learned + u64::from(entry.games > 0));
        } else {
            totals.learned = None;
            let what = "the learn field holds something other than games and half-points, and is ignored until it is reset";
            findings.count(PolyglotFindingKind::Learn, offset(index), what);
        }
    }
    if !sorted {
        lost(entries, findings);
    }
    totals
}

/// Whether [`scan`] would find no error, and no part of an entry is left over: this takes a fraction of its time.
pub(super) fn is_sound(entries: PolyglotEntries<'_>, variant: Variant) -> bool {
    let is_move = |mv: MoveCode| mv == MoveCode::NULL || mv.error(variant).is_none();
    // Those that promote have higher codes.
    let plain: Vec<bool> = (0..1 << 12).map(|code| is_move(MoveCode(code))).collect();
    let is_possible = |mv: MoveCode| plain.get(usize::from(mv.0)).copied().unwrap_or_else(|| is_move(mv));
    let far = entries.iter().zip(entries.iter().skip(MAX_OF_ONE_KEY));
    entries.trailing == 0
        && entries.iter().is_sorted_by_key(|entry| entry.key)
        && entries.iter().all(|entry| is_possible(entry.mv))
        && far.into_iter().all(|(first, later)| first.key != later.key)
}

/// Finds the runs that no look-up finds.
fn lost(entries: PolyglotEntries<'_>, findings: &mut Findings<'_>) {
    let mut before = None;
    for (index, entry) in entries.iter().enumerate() {
        if before.replace(entry.key) != Some(entry.key) && entries.lower_bound(entry.key) != index {
            findings.count(PolyglotFindingKind::Lost, offset(index), "no look-up finds this position");
        }
    }
}

/// Checks the entry at an offset, with the one `before` it of the same position; `seen` says whether the position
/// already has its move. Returns whether the move may be legal.
fn check(
    entry: &PolyglotEntry,
    variant: Variant,
    before: Option<PolyglotEntry>,
    seen: bool,
    at: u64,
    findings: &mut Findings<'_>,
) -> bool {
    let PolyglotEntry { mv, weight, .. } = *entry;
    let fault = mv.error(variant);
    if let Some(why) = fault {
        let kind = if mv == MoveCode::NULL { PolyglotFindingKind::Null } else { PolyglotFindingKind::Move };
        findings.add(kind, at, format_args!("the move {} {why}", mv.worded(variant)));
    }
    if weight == 0 {
        let what = format_args!("the move {} has weight 0 and is never played", mv.worded(variant));
        findings.add(PolyglotFindingKind::ZeroWeight, at, what);
    }
    if let Some(before) = before.filter(|before| weight > before.weight) {
        let before = before.weight;
        let what = format_args!("weight {weight} follows the lower weight {before} of the same position");
        findings.add(PolyglotFindingKind::Rising, at, what);
    }
    if seen {
        findings.add(
            PolyglotFindingKind::Duplicate,
            at,
            format_args!("the position already has the move {}", mv.worded(variant)),
        );
    }
    fault.is_none()
}

#[cfg(test)]
mod tests {
    use tabiya_base::findings::{Finding, summed};

    use super::super::tests::{bytes, raw};
    use super::*;

    fn entry(key: u64, mv: &str, weight: u16) -> PolyglotEntry {
        PolyglotEntry { key, mv: raw(mv), weight, games: 0, halfpoints: 0 }
    }

    fn scanned(entries: &[PolyglotEntry]) -> (PolyglotTotals, Vec<String>) {
        let data = bytes(entries);
        let (totals, found) =
            summed(|findings| scan(PolyglotEntries::new(&data), Variant::Chess, &Progress::none(), findings));
        assert_eq!(
            is_sound(PolyglotEntries::new(&data), Variant::Chess),
            !found.iter().any(Finding::is_error)
        );
        assert!(!is_sound(PolyglotEntries::new(&[&data[..], &[0]].concat()), Variant::Chess));
        (totals, found.iter().map(Finding::to_string).collect())
    }

    #[test]
    fn a_sound_book_is_counted_without_findings() {
        let (totals, found) = scanned(&[
            entry(1, "e2e4", 9),
            PolyglotEntry { games: 1, halfpoints: 2, ..entry(1, "d2d4", 9) },
            entry(2, "e7e5", 1),
            entry(u64::MAX, "e7e5", 1),
        ]);
        assert_eq!(totals, PolyglotTotals { positions: 3, moves: 4, learned: Some(1) });
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn each_kind_of_finding_is_found() {
        let (totals, found) = scanned(&[
            entry(5, "e2e4", 1),
            entry(5, "d2d4", 2),
            entry(5, "e2e4", 0),
            entry(4, "a1a1", 1),
            entry(6, "a1b4", 1),
            PolyglotEntry { mv: MoveCode(0x8000), games: 1, halfpoints: 3, ..entry(7, "a1a1", 1) },
            entry(8, "e4e4", 1),
            entry(9, "e2e4q", 1),
        ]);
        let expected = [
            "key 0000000000000004 follows the higher key 0000000000000005 (byte 48)",
            "4 entries whose move is not possible in any position (first at byte 64)",
            "the move a1a1 means no move (byte 48)",
            "the move e2e4 has weight 0 and is never played (byte 32)",
            "weight 2 follows the lower weight 1 of the same position (byte 16)",
            "the position already has the move e2e4 (byte 32)",
            "no look-up finds this position (byte 48)",
            "the learn field holds something other than games and half-points, and is ignored until it is reset \
             (byte 80)",
        ];
        assert_eq!(found, expected);
        assert_eq!(totals, PolyglotTotals { positions: 6, moves: 2, learned: None });
    }

    #[test]
    fn each_reason_why_a_move_is_not_possible_is_named() {
        for (mv, why) in [
            (MoveCode(0x8000), "0x8000 means nothing"),
            (raw("e4e4"), "e4e4 ends where it starts"),
            (raw("a1b4"), "a1b4 fits no piece"),
            (raw("e2e4q"), "e2e4q promotes where no pawn can"),
        ] {
            let (_, found) = scanned(&[PolyglotEntry { mv, ..entry(7, "e2e4", 1) }]);
            assert_eq!(found, [format!("the move {why} (byte 0)")]);
        }
    }

    #[test]
    fn entries_that_no_look_up_reads_are_counted() {
        let (totals, found) = scanned(&vec![entry(0, "e2e4", 1); 100_000]);
        let expected = [
            "99999 entries whose move the position already has (first at byte 16)".to_owned(),
            format!(
                "{} entries too far after the first of their key to be read (first at byte {})",
                100_000 - MAX_OF_ONE_KEY,
                16 * MAX_OF_ONE_KEY
            ),
        ];
        assert_eq!(found, expected);
        assert_eq!((totals.positions, totals.moves), (1, 1));
    }

    #[test]
    fn the_same_move_in_another_position_is_no_duplicate() {
        let (totals, found) = scanned(&[entry(1, "e2e4", 1), entry(2, "e2e4", 1), entry(3, "e2e4", 1)]);
        assert_eq!((totals.moves, found.len()), (3, 0));
    }
}
