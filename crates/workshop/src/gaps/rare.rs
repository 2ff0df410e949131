//! What of a book games almost never reach: where its lines leave what is followed, and how many of its positions are beyond that.

use std::cmp::Reverse;

use shakmaty::{Color, Position as _};

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::Moves;
use tabiya_book::traverse::{ByPlies, Keys};
use tabiya_chess::{HeldPosition, MoveCode, Position};

use super::merge::{ByKey, add};
use super::{RarePosition, ReachedPosition, plays};
use crate::expected::ExpectedMove;

/// No line.
const NONE: u32 = u32::MAX;

/// What is found while games are followed.
#[derive(Debug, Default)]
pub(super) struct RareSearch {
    /// The positions with an answer that are followed.
    followed: Keys,
    /// Those with an answer that are not, as far as they were seen.
    seen: ByKey<ReachedPosition>,
    /// These positions themselves, in the order in which they were seen.
    held: Vec<(u64, HeldPosition)>,
}

impl RareSearch {
    /// Notes a position with an answer.
    pub fn meet(&mut self, key: u64, at: &Position, reached: &ReachedPosition, is_followed: bool) {
        if is_followed {
            self.followed.insert(key);
            return;
        }
        if !self.seen.contains_key(&key) {
            let Some(held) = HeldPosition::new(at, 0) else { return };
            self.held.push((key, held));
        }
        add(&mut self.seen, key, reached.clone());
    }

    /// Notes the positions after moves of the opponent that are not expected, and that have an answer.
    pub fn add_never_played(
        &mut self,
        book: &dyn Moves,
        at: &Position,
        (number, ply): (u32, u32),
        expected: &[ExpectedMove],
    ) {
        let is_expected = |mv| expected.iter().any(|reply| reply.mv == mv);
        let mut others = at.chess().legal_moves().to_vec();
        others.retain(|mv| !is_expected(*mv));
        book.drop_absent(at, &mut others);
        for mv in others {
            let after = at.after(mv);
            if plays(book, &after).is_empty() {
                continue;
            }
            let before = Some((number, MoveCode::from_move(mv)));
            let reached =
                ReachedPosition { before, best: 0.0, ply: ply.saturating_add(1), share: 0.0, games: Some(0) };
            self.meet(after.whole_key(), &after, &reached, false);
        }
    }

    /// The positions that games reach with less than this share, each with what the book has beyond it: the lines with most
    /// positions first. A position beyond several of them belongs to the first that comes to it.
    pub fn finish(
        self,
        book: &dyn Moves,
        side: Color,
        least: f64,
        progress: &Progress,
    ) -> Result<Vec<RarePosition>> {
        let Self { followed, mut seen, held } = self;
        seen.retain(|key, at| !followed.contains(key) && at.share < least);
        let numbered =
            held.iter().filter_map(|(key, held)| Some((*key, held.position()?, seen.remove(key)?)));
        let mut rare: Vec<(u64, Position, RarePosition)> = numbered
            .map(|(key, at, reached)| (key, at, RarePosition { at: reached, positions: 0 }))
            .collect();
        let starts: ByKey<u32> = (0..).zip(&rare).map(|(number, (key, ..))| (*key, number)).collect();
        let begin = rare.iter().map(|(_, at, rare)| (rare.at.ply, at.clone())).collect();
        // The line that comes to each visited position.
        let mut lines: Vec<u32> = Vec::new();
        let from = ByPlies { starts: begin, ..ByPlies::default() };
        from.each(progress, |visited, follow| {
            let at = visited.at;
            let before = visited.tracks.before(visited.number);
            let line = before.and_then(|(before, _)| lines.get(before as usize));
            let line = line.or_else(|| starts.get(&at.whole_key())).copied().unwrap_or(NONE);
            lines.push(line);
            if at.chess().turn() != side {
                follow.extend(at.chess().legal_moves());
                book.drop_absent(at, follow);
            } else if !followed.contains(&at.whole_key()) {
                let plays = plays(book, at);
                if let Some((.., rare)) = rare.get_mut(line as usize).filter(|_| !plays.is_empty()) {
                    rare.positions += 1;
                }
                follow.extend(plays.into_iter().map(|(mv, _)| mv));
            }
            Ok(())
        })?;
        let mut rare: Vec<_> = rare.into_iter().map(|(.., rare)| rare).collect();
        // Stable: of equal lines those after fewer plies come first.
        rare.sort_by_key(|rare| Reverse(rare.positions));
        rare.retain(|rare| rare.positions > 0);
        Ok(rare)
    }
}
