//! Which variants a book can be for: the file does not say it, but its moves obey the rules of few.

use std::collections::HashSet;

use shakmaty::{Move, Position as _};

use tabiya_base::progress::Progress;
use tabiya_base::visit::Break;
use tabiya_chess::{Position, Variant, variant_facts};

use super::read::PolyglotEntries;
use crate::OtherRules;
use crate::traverse::{Meeting, Met, depth_first};

/// Positions that are looked at for each variant at most.
const MOST: usize = 30_000;

/// Entries that are not legal in a hundred that are looked at, from which on a book does not obey the rules: a book may be
/// damaged in a few places.
const MOST_ILLEGAL: usize = 5;

/// Of a hundred positions that the rules which reach most positions reach, those that other rules have to reach. After the first
/// capture atomic chess reaches other positions than chess does, and a book knows its own only.
const LEAST_REACHED: usize = 90;

/// The variants whose rules the entries obey, those that reach more of the book first. None where no starting position leads into
/// the book.
///
/// A book of standard chess mostly obeys king of the hill and three-check too, and what crazyhouse allows.
pub(super) fn rules(entries: PolyglotEntries<'_>, progress: &Progress) -> Vec<Variant> {
    let all = |replies| {
        let reached = |variant| Some((variant, reached(entries, variant, replies, progress)?.known));
        Variant::ALL.into_iter().filter_map(reached).collect::<Vec<(Variant, usize)>>()
    };
    let mut reached = all(false);
    if reached.iter().all(|(_, count)| *count <= 1) {
        // A book for one side is followed along what its moves answer.
        reached = all(true);
    }
    reached.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let most = reached.first().map_or(0, |(_, count)| *count);
    reached.retain(|(_, count)| count * 100 >= most * LEAST_REACHED);
    reached.into_iter().map(|(variant, _)| variant).collect()
}

/// The variants whose rules the entries obey, if they do not obey those of this one.
pub(super) fn other_rules(
    entries: PolyglotEntries<'_>,
    variant: Variant,
    progress: &Progress,
) -> Option<OtherRules> {
    // No rules reach much more than all that is looked at.
    if reached(entries, variant, false, progress).is_some_and(|reached| reached.is_nearly_all(entries)) {
        return None;
    }
    OtherRules::new(rules(entries, progress), variant)
}

/// What play reaches of a book under the rules of a variant.
struct Reached {
    /// Positions of the book.
    known: usize,
    /// Their entries.
    entries: usize,
    /// Whether there are more positions than are looked at.
    cut: bool,
}

impl Reached {
    fn is_nearly_all(&self, all: PolyglotEntries<'_>) -> bool {
        self.cut || self.entries * 100 >= all.len() * LEAST_REACHED
    }
}

/// What play reaches of the book under the rules of a variant; `None` where they do not fit its moves.
fn reached(
    entries: PolyglotEntries<'_>,
    variant: Variant,
    with_replies: bool,
    progress: &Progress,
) -> Option<Reached> {
    let mut seen = Met::default();
    let (mut known, mut legal) = (0, 0);
    // The entries that are legal in no position of their key so far.
    let mut illegal = HashSet::new();
    let walked = depth_first(Position::start_of(variant), |at, follow| {
        let meeting = seen.meet(at);
        if meeting == Meeting::Again {
            return Ok(());
        }
        progress.step(seen.len() as u64)?;
        let is_first = meeting == Meeting::First;
        let Some((first, key)) = entries.first_of(at) else {
            if with_replies {
                follow.extend(replies(entries, at));
            }
            return if seen.len() >= MOST { Err(Break::Enough) } else { Ok(()) };
        };
        known += usize::from(is_first);
        for (index, entry) in (first..).zip(entries.find_from(first, key)) {
            match entry.mv.resolve(at.chess()).filter(|mv| at.chess().is_legal(*mv)) {
                Some(mv) => {
                    legal += usize::from(is_first || illegal.remove(&index));
                    follow.push(mv);
                }
                None if is_first => _ = illegal.insert(index),
                None => {}
            }
        }
        if seen.len() >= MOST { Err(Break::Enough) } else { Ok(()) }
    });
    let illegal = illegal.len();
    let entries = legal + illegal;
    // Where the walk breaks off, enough was seen.
    let reached = Reached { known, entries, cut: walked.is_err() };
    (legal > 0 && illegal * 100 <= entries * MOST_ILLEGAL).then_some(reached)
}

/// The moves from a position that lead into the book.
fn replies(entries: PolyglotEntries<'_>, at: &Position) -> Vec<Move> {
    let mut moves: Vec<Move> = at.chess().legal_moves().into_iter().collect();
    let keys_may_castle = variant_facts(at.variant()).has_common_kings;
    moves.retain(|mv| {
        if keys_may_castle {
            entries.first_of(&at.after(*mv)).is_some()
        } else {
            entries.find(at.key_after(*mv)).next().is_some()
        }
    });
    moves
}

#[cfg(test)]
mod tests {
    use tabiya_chess::MoveCode;

    use super::super::entry::PolyglotEntry;
    use super::super::tests::{bytes, of_lines};
    use super::*;

    fn book(variant: Variant, lines: &[&str], keep: impl Fn(usize) -> bool) -> Vec<u8> {
        bytes(&of_lines(variant, lines, keep))
    }

    fn told(book: &[u8]) -> Vec<Variant> {
        rules(PolyglotEntries::new(book), &Progress::none())
    }

    #[test]
    fn moves_tell_a_variant() {
        use Variant::{Antichess, Atomic, Crazyhouse, Horde, RacingKings};
        for (variant, line) in [
            (Antichess, "e2e3 b7b5 f1b5 c8a6"),
            (Atomic, "g1f3 f7f6 b1c3 d7d5 c3d5 c7c6 f3g5 f6g5 e2e4 e7e5 d1h5"),
            (Crazyhouse, "e2e4 d7d5 e4d5 d8d5 b1c3 P@d4 c3d5"),
            (Horde, "e4e5 d7d6 e5d6"),
            (RacingKings, "h2h3 a2a3"),
        ] {
            assert_eq!(told(&book(variant, &[line], |_| true))[0], variant, "{line}");
            // Books for one side.
            for side in [0, 1] {
                assert!(told(&book(variant, &[line], |ply| ply % 2 == side)).contains(&variant), "{line}");
            }
        }
    }

    #[test]
    fn what_standard_chess_allows_others_allow_too() {
        let told = told(&book(Variant::Chess, &["e2e4 e7e5 g1f3 b8c6 f1b5"], |_| true));
        assert!(told.starts_with(&[Variant::Chess]) && told.contains(&Variant::KingOfTheHill), "{told:?}");
        assert!(!told.contains(&Variant::Horde));
    }

    #[test]
    fn a_book_without_a_start_tells_nothing() {
        let entry = PolyglotEntry { key: 7, mv: MoveCode(796), weight: 1, games: 0, halfpoints: 0 };
        assert_eq!(told(&bytes(&[entry])), []);
        assert_eq!(told(&[]), []);
    }

    #[test]
    #[ignore = "needs TABIYA_SAMPLES"]
    fn real_books_are_told() {
        let samples = std::env::var("TABIYA_SAMPLES").expect("TABIYA_SAMPLES names the folder of samples");
        for (name, variants) in [
            ("variants/antichess.bin", &[Variant::Antichess][..]),
            ("variants/atomic.bin", &[Variant::Atomic]),
            ("variants/horde.bin", &[Variant::Horde]),
            (
                "polyglot/Perfect2021.bin",
                &[Variant::Chess, Variant::KingOfTheHill, Variant::ThreeCheck, Variant::Crazyhouse],
            ),
        ] {
            let data = std::fs::read(std::path::Path::new(&samples).join(name)).unwrap();
            assert_eq!(told(&data), variants, "{name}");
        }
    }
}
