//! Sums up a whole book and finds what is wrong with it.

use shakmaty::{Position as _, Role};

use tabiya_base::findings::Findings;
use tabiya_base::map::{Access, Map};
use tabiya_base::progress::Progress;
use tabiya_chess::{Position, Variant};

use super::Polyglot;
use super::entry::PolyglotEntry;
use super::kinds::{PolyglotFindingKind, offset};
use super::layout::ENTRY_LEN;
use super::read::PolyglotEntries;
use super::scan::{PolyglotTotals, scan};
use super::walk::{EntryFinding, Walked};
use crate::BookSummary;

/// Counts the entries and reports what they show without their positions, in the order of the file.
pub(crate) fn entries(
    data: &Map,
    variant: Variant,
    progress: &Progress,
    findings: &mut Findings<'_>,
) -> PolyglotTotals {
    let entries = PolyglotEntries::new(data);
    data.expect(Access::Sequential);
    let totals = scan(entries, variant, progress, findings);
    data.expect(Access::Random);
    if entries.trailing > 0 {
        findings.add(
            PolyglotFindingKind::Trailing,
            offset(entries.len()),
            format_args!("{}", cut_off(entries)),
        );
    }
    totals
}

/// What is wrong with a book that has bytes after its last whole entry.
pub(super) fn cut_off(entries: PolyglotEntries<'_>) -> String {
    format!("the last entry is cut off: it has {} of {ENTRY_LEN} bytes", entries.trailing)
}

/// Sums up the book and reports what is wrong with it: first what the entries show, in the order of the file, then what
/// only the positions show, in the order in which play reaches them.
pub(crate) fn survey(book: &Polyglot, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
    let variant = book.variant;
    let totals = entries(&book.data, variant, progress, findings);
    let walked = book.walk(totals.positions, progress, &mut |found| add(&found, variant, findings));
    let Walked { traversal, .. } = &*walked;
    traversal.add_cut(PolyglotFindingKind::Cut, findings);
    BookSummary {
        entries: book.entries().len() as u64,
        positions: Some(totals.positions),
        moves: Some(totals.moves),
        deepest: traversal.deepest(),
        reachable: Some(traversal.reached),
        learned: totals.learned,
        ..BookSummary::default()
    }
}

/// Reports what only its position shows of an entry.
pub(super) fn add(found: &EntryFinding<'_>, variant: Variant, findings: &mut Findings<'_>) {
    let (mv, fen) = (found.entry.mv.worded(variant), found.position.fen());
    let (kind, what) = match found.old_castling {
        // What reads books of variants reads both.
        Some(_) if variant != Variant::Chess => return,
        Some(_) => (
            PolyglotFindingKind::OldCastling,
            format!("the castling {mv} is written as the king's step in {fen}"),
        ),
        None if is_of_giveaway(found.entry, found.position) => {
            (PolyglotFindingKind::Giveaway, format!("the castling {mv} is one of Giveaway in {fen}"))
        }
        None => (PolyglotFindingKind::Illegal, format!("the move {mv} is not legal in {fen}")),
    };
    findings.add(kind, offset(found.index), what);
}

/// Whether the move of an entry is castling, in a position of antichess whose key has rights to castle.
fn is_of_giveaway(entry: PolyglotEntry, at: &Position) -> bool {
    let (from, to) = (entry.mv.from(), entry.mv.to());
    // A king's own moves go one square.
    let is_far = from.distance(to) > 1 && from.rank() == to.rank();
    entry.key != at.key() && is_far && at.chess().board().role_at(from) == Some(Role::King)
}

#[cfg(test)]
mod tests {
    use tabiya_base::findings::Finding;

    use super::super::tests::{bytes, entry, polyglot};
    use super::*;
    use crate::polyglot::Polyglot;
    use crate::tests::after;
    use crate::traits::Book;

    /// What a check reports, with whether it is an error.
    fn reported(data: Vec<u8>) -> Vec<(String, bool)> {
        let mut reported = Vec::new();
        Polyglot::new("a.bin", data).check(&Progress::none(), &mut |finding| {
            reported.push((finding.to_string(), finding.is_error()));
        });
        reported
    }

    fn sorted(mut entries: Vec<PolyglotEntry>) -> Vec<u8> {
        entries.sort_by_key(|entry| entry.key);
        bytes(&entries)
    }

    #[test]
    fn a_sound_book_has_no_findings() {
        let data = sorted(vec![entry(&Position::start(), "e2e4", 2), entry(&after("e2e4"), "e7e5", 1)]);
        assert_eq!(reported(data.clone()), []);
        let expected = BookSummary {
            entries: 2,
            positions: Some(2),
            moves: Some(2),
            deepest: Some(2),
            reachable: Some(2),
            learned: Some(0),
            ..BookSummary::default()
        };
        assert_eq!(Polyglot::new("a.bin", data).summary(&Progress::none()), expected);
    }

    #[test]
    fn each_finding_has_its_offset() {
        let start = Position::start();
        let mut data = bytes(&[
            entry(&start, "e2e5", 2),
            entry(&start, "e2e4", 0),
            PolyglotEntry { key: 0, games: 1, halfpoints: 9, ..entry(&start, "b1c3", 1) },
        ]);
        data.extend([1, 2, 3]);
        let expected = [
            ("key 0000000000000000 follows the higher key 463b96181691fc9c (byte 32)", true),
            ("the last entry is cut off: it has 3 of 16 bytes (byte 48)", true),
            (
                "the move e2e5 is not legal in rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 (byte 0)",
                true,
            ),
            ("the move e2e4 has weight 0 and is never played (byte 16)", false),
            ("no look-up finds this position (byte 32)", true),
            (
                "the learn field holds something other than games and half-points, and is ignored until it is reset \
                 (byte 32)",
                false,
            ),
        ];
        assert_eq!(reported(data.clone()), expected.map(|(what, error)| (what.to_owned(), error)));
        let summary = Polyglot::new("a.bin", data).summary(&Progress::none());
        assert_eq!((summary.learned, summary.findings.len()), (None, 6));
    }

    #[test]
    fn a_summary_counts_the_findings_of_each_kind() {
        let start = Position::start();
        let entries = ["e2e4", "d2d4", "c2c4"].map(|mv| entry(&start, mv, 0));
        let summary = polyglot(&entries).summary(&Progress::none());
        let lines: Vec<_> = summary.findings.iter().map(Finding::to_string).collect();
        assert_eq!(lines, ["3 entries of weight 0, which are never played (first at byte 0)"]);
    }

    #[test]
    fn many_findings_of_one_kind_are_few_lines() {
        let reported = reported(vec![0; 16 * 100_000]);
        assert!(reported.len() < 100, "{}", reported.len());
        assert!(
            reported
                .contains(&("100000 entries with the null move a1a1 (first at byte 0)".to_owned(), false))
        );
        // Null moves and weights of 0 are warnings; entries that no look-up reaches are errors.
        let lost = |what: &str| what.contains("too far after the first of ");
        assert!(reported.iter().all(|(what, error)| *error == lost(what)), "{reported:?}");
        assert!(reported.iter().any(|(what, _)| lost(what)));
    }

    #[test]
    fn the_old_form_of_castling_is_a_warning() {
        let line = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5", "e1g1"];
        let entries = (0..line.len()).map(|ply| entry(&after(&line[..ply].join(" ")), line[ply], 1));
        let reported = reported(sorted(entries.collect()));
        assert_eq!(reported.len(), 1);
        assert!(
            reported[0].0.starts_with("the castling e1g1 is written as the king's step in "),
            "{reported:?}"
        );
        assert!(!reported[0].1);
    }
}
