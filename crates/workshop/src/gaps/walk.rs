//! Follows games in order of their plies, and adds up the shares of those that meet in a position.

use shakmaty::{Move, Position as _};

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::Moves;
use tabiya_book::traverse::{ByPlies, Tracks};
use tabiya_chess::{MoveCode, Position};

use super::merge::{ByKey, add};
use super::rare::RareSearch;
use super::{FOLLOWED, GapSearch, Gaps, LEAST_SHARE, PlyAnswers, ReachedPosition, plays};
use crate::expected::{Expected, ExpectedMove};

/// The positions of at least this share, the most probable first, and then those after fewer plies; and the number and share of the rest.
fn listed(all: ByKey<ReachedPosition>, least: f64) -> (Vec<ReachedPosition>, (u64, f64)) {
    let (mut listed, smaller): (Vec<_>, Vec<_>) = all.into_values().partition(|at| at.share >= least);
    let order = |at: &ReachedPosition| (at.ply, at.before.map(|(number, mv)| (number, mv.0)));
    listed.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| order(a).cmp(&order(b))));
    let mut shares: Vec<_> = smaller.iter().map(|at| at.share).collect();
    // The sum must not depend on the order of a table.
    shares.sort_by(f64::total_cmp);
    (listed, (shares.len() as u64, shares.iter().sum()))
}

/// What is found on the way.
struct Walk<'a> {
    book: &'a dyn Moves,
    expected: &'a Expected<'a>,
    search: &'a GapSearch,
    /// The share below which positions are not followed.
    followed: f64,
    tracks: Tracks,
    /// What reaches the positions after the next ply.
    next: ByKey<ReachedPosition>,
    gaps: ByKey<ReachedPosition>,
    choices: ByKey<ReachedPosition>,
    answers: Vec<PlyAnswers>,
    asked: f64,
    unknown: f64,
    rare: Option<RareSearch>,
    replies: Vec<ExpectedMove>,
}

/// A position that is visited.
struct Here<'a> {
    at: &'a Position,
    /// Its number.
    number: u32,
    reached: ReachedPosition,
}

impl Walk<'_> {
    /// Visits a position of the side of the book.
    fn ours(&mut self, here: &Here<'_>, follow: &mut Vec<Move>) {
        let Here { at, reached, .. } = here;
        let plays = plays(self.book, at);
        let is_answered = !plays.is_empty();
        if self.answers.last().is_none_or(|last| last.ply != reached.ply) {
            self.answers.push(PlyAnswers { ply: reached.ply, reached: 0.0, answered: 0.0 });
        }
        if let Some(of) = self.answers.last_mut() {
            of.reached += reached.share;
            of.answered += if is_answered { reached.share } else { 0.0 };
        }
        let key = at.whole_key();
        if !is_answered {
            return add(&mut self.gaps, key, reached.clone());
        }
        let is_followed = reached.share >= self.followed;
        if let Some(rare) = &mut self.rare {
            rare.meet(key, at, reached, is_followed);
        }
        if plays.len() > 1 {
            add(&mut self.choices, key, reached.clone());
        }
        if is_followed && reached.ply < self.search.plies {
            plays.into_iter().for_each(|(mv, chance)| self.go_on(here, (mv, chance, None), follow));
        }
    }

    /// Visits a position of the opponent.
    fn theirs(&mut self, here: &Here<'_>, follow: &mut Vec<Move>) {
        let Here { at, number, reached } = here;
        if reached.share < self.followed || reached.ply >= self.search.plies {
            return;
        }
        self.asked += reached.share;
        let mut replies = std::mem::take(&mut self.replies);
        if self.expected.moves(at, &mut replies).is_none() {
            self.unknown += reached.share;
        }
        for reply in &replies {
            self.go_on(here, (reply.mv, reply.chance, reply.games), follow);
        }
        if let Some(rare) = self.rare.as_mut().filter(|_| !replies.is_empty()) {
            rare.add_never_played(self.book, at, (*number, reached.ply), &replies);
        }
        self.replies = replies;
    }

    /// Follows a move with its chance and its games.
    fn go_on(
        &mut self,
        Here { at, number, reached }: &Here<'_>,
        (mv, chance, games): (Move, f64, Option<u64>),
        follow: &mut Vec<Move>,
    ) {
        let before = Some((*number, MoveCode::from_move(mv)));
        let (share, best) = (reached.share * chance, reached.best * chance);
        let after = ReachedPosition { before, best, ply: reached.ply.saturating_add(1), share, games };
        add(&mut self.next, at.whole_key_after(mv), after);
        follow.push(mv);
    }
}

pub(super) fn find(
    book: &dyn Moves,
    expected: &Expected<'_>,
    search: &GapSearch,
    progress: &Progress,
) -> Result<Gaps> {
    let start = search.start.position();
    let ply = u32::try_from(search.start.moves().len()).unwrap_or(u32::MAX);
    let least = search.min_share.max(LEAST_SHARE);
    let mut walk = Walk {
        book,
        expected,
        search,
        followed: least * FOLLOWED,
        tracks: Tracks::default(),
        next: ByKey::default(),
        gaps: ByKey::default(),
        choices: ByKey::default(),
        answers: Vec::new(),
        asked: 0.0,
        unknown: 0.0,
        rare: search.rare.then(RareSearch::default),
        replies: Vec::new(),
    };
    let first = ReachedPosition { before: None, best: 1.0, ply, share: 1.0, games: None };
    walk.next.insert(start.whole_key(), first);
    let (mut now, mut plies) = (ByKey::default(), None);
    let from = ByPlies { starts: vec![(0, start.clone())], again: true, ..ByPlies::default() };
    progress.things(0, "positions");
    from.each(progress, |visited, follow| {
        if plies != Some(visited.plies) {
            plies = Some(visited.plies);
            now = std::mem::take(&mut walk.next);
        }
        let (at, number) = (visited.at, visited.number);
        let reached = now.remove(&at.whole_key());
        walk.tracks.push(reached.as_ref().and_then(|reached| reached.before));
        let Some(reached) = reached.filter(|_| !at.chess().is_game_over()) else { return Ok(()) };
        let here = Here { at, number, reached };
        match at.chess().turn() == search.side {
            true => walk.ours(&here, follow),
            false => walk.theirs(&here, follow),
        }
        Ok(())
    })?;
    let Walk { followed, tracks, gaps, choices, answers, asked, unknown, rare, .. } = walk;
    let (gaps, smaller) = listed(gaps, least);
    let rare = rare.map(|rare| rare.finish(book, search.side, followed, progress)).transpose()?;
    Ok(Gaps {
        side: search.side,
        start: search.start.clone(),
        tracks,
        gaps,
        smaller,
        choices: listed(choices, least).0,
        rare,
        followed,
        answers,
        asked,
        unknown,
    })
}
