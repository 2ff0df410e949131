//! Which positions can come before another one on a line: pieces only become fewer, pawns only advance, and castling rights are only lost.

use shakmaty::{Bitboard, Chess, Color, Position as _, Rank};

/// Whether a line may lead from a position to another one of standard chess: never `false` where one does.
pub(super) fn may_lead(from: &Chess, to: &Chess) -> bool {
    let (before, after) = (from.board(), to.board());
    let is_capture = before.occupied().count() > after.occupied().count();
    to.castles().castling_rights().is_subset(from.castles().castling_rights())
        && Color::ALL.into_iter().all(|color| {
            let [had, has] = [before, after].map(|board| board.by_color(color));
            let [pawns, left] = [before, after].map(|board| board.pawns() & board.by_color(color));
            let home = Bitboard::from_rank(color.fold_wb(Rank::Second, Rank::Seventh));
            had.count() >= has.count()
                && pawns.count() >= left.count()
                && (left & home).is_subset(pawns)
                // Without captures each stays on its file.
                && (is_capture || left.is_subset(ahead(pawns, color)))
        })
}

/// The squares of pawns, and those before them on their files.
fn ahead(pawns: Bitboard, color: Color) -> Bitboard {
    let step = |squares: u64, by: u32| squares | color.fold_wb(squares << by, squares >> by);
    Bitboard([8, 16, 32].into_iter().fold(pawns.0, step))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tests::after;

    fn leads(from: &str, to: &str) -> bool {
        may_lead(after(from).standard().unwrap(), after(to).standard().unwrap())
    }

    #[test]
    fn what_cannot_come_back_comes_later() {
        for (from, to, expected) in [
            ("", "e2e4", true),
            ("e2e4", "", false),
            ("e2e4", "d2d4", false),
            ("g1f3", "b1c3", true),
            ("e2e4 d7d5", "e2e4 d7d5 e4d5", true),
            ("e2e4 d7d5 e4d5", "e2e4 d7d5", false),
            ("e2e4 e7e5 e1e2", "e2e4 e7e5 f1e2", false),
            ("e2e3", "e2e4", true),
            ("e2e4", "e2e3", false),
            ("g1f3 a7a6", "g1f3 a7a5", true),
            ("g1f3 a7a5", "g1f3 a7a6", false),
        ] {
            assert_eq!(leads(from, to), expected, "{from}: {to}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(64, 1024)))]

        #[test]
        fn each_position_of_a_line_may_lead_to_the_later_ones(choices in prop::collection::vec(0_usize..100, 1..80)) {
            let mut line = vec![Chess::default()];
            for choice in choices {
                let Some(last) = line.last() else { break };
                let legal = last.legal_moves();
                // Captures and moves of pawns are what matters.
                let (zeroing, quiet): (Vec<_>, Vec<_>) = legal.iter().copied().partition(|mv| mv.is_zeroing());
                let among = if choice % 2 == 0 && !zeroing.is_empty() { zeroing } else { quiet };
                let Some(mv) = among.get(choice % among.len().max(1)).copied() else { break };
                let mut next = last.clone();
                next.play_unchecked(mv);
                line.push(next);
            }
            for (number, from) in line.iter().enumerate() {
                prop_assert!(line.iter().skip(number).all(|to| may_lead(from, to)));
            }
        }
    }
}
