//! The lines that the books have played, so that *Book Fresh* can prefer others.
//!
//! Each player, with its colour and its books, has a graph of its own: from each position that its games went through to those that
//! may follow it there. Where the books were asked, these are the positions after all moves that they may play; where the opponent
//! was to move, those after the replies that the books answer. A line is a way through the graph, and ends where the books have
//! nothing more: after a move to no reply of which they have an answer, or after a reply that they do not know.
//!
//! A position is done when all that may follow it is done, or when the books' end was seen there: a game that was cut short leaves its
//! last position open. What only a reply leads to that the opponent has not played yet is left too, but comes after all that the
//! player can choose on its own.
//!
//! Every position knows how fresh the best that can be reached from it is. An answer changes that of the positions before it, so
//! a look-up takes as long whatever was played. A position is its key and its ply: no line comes back to one.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use shakmaty::{ByColor, Move, Position as _};

use tabiya_book::MoveFacts;
use tabiya_chess::{Position, Variant, variant_name};

/// How many positions are remembered, those included that no game went through: in some 80 MB.
const MAX_POSITIONS: usize = 1 << 20;

/// How many sets of player, colour and books are distinguished.
const MAX_SCOPES: usize = 256;

/// No position has more legal moves.
const MAX_MOVES: usize = 256;

const NONE: u32 = u32::MAX;

/// A player with a colour and books; see [`scope`].
pub type Scope = u64;

/// A position that a player's game went through, and those that may follow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedNode {
    pub scope: Scope,
    pub at: u64,
    /// How much is known of it.
    pub kind: NodeKind,
    /// The positions that may follow.
    pub after: Vec<u64>,
}

/// How much is known of what follows a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// What the books may play there; or a reply of the opponent. Without any, the line ends there.
    Known,
    /// The books were silent there for once, or not asked for all of their moves: there may be more to play.
    Cut,
    /// The opponent is to move, and the books answer these replies. None of them has come yet.
    Replies,
}

/// What can be reached from a position, from the least to the most wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Freshness {
    /// Only what the player has played.
    Played,
    /// What the opponent's reply decides, which has not come yet.
    Awaited,
    /// A line of the player that was cut short.
    Cut,
    /// What the player has not played, but others.
    Elsewhere,
    /// What nobody has played.
    Fresh,
}

/// A position in a player's graph.
struct PlayedPosition {
    at: u64,
    scope: u32,
    /// The same position in the graph of another player.
    same: u32,
    /// The first of the edges to those that may follow, and of the edges from those before.
    after: u32,
    before: u32,
    is_visited: bool,
    /// Whether a game of this process went through it.
    is_own: bool,
    is_cut: bool,
    freshness: Freshness,
}

/// A step from one position to another, in the list of each.
struct Edge {
    from: u32,
    next_of_from: u32,
    to: u32,
    next_of_to: u32,
    /// Whether it is a reply of the opponent that has not come yet.
    is_awaited: bool,
}

/// The move of the books that is played, as it is remembered.
pub(super) struct Choice {
    scope: Scope,
    /// The positions after all moves that might have been played.
    pub(super) choices: Vec<u64>,
    kind: NodeKind,
    /// How many of them lead to lines that are left.
    pub(super) left: usize,
}

/// The lines that were played.
#[derive(Default)]
pub(super) struct PlayedLines {
    known: Vec<PlayedPosition>,
    edges: Vec<Edge>,
    /// The first of the graphs' entries for each position.
    index: HashMap<u64, u32>,
    scopes: HashMap<Scope, u32>,
    changed: Vec<u32>,
    /// The position after the last move of the books in this game, for each colour, and whose move it was.
    last: ByColor<Option<(Scope, Position)>>,
    /// Whether other processes are to know of these lines.
    shared: bool,
    /// What they do not know yet.
    unsaid: Vec<PlayedNode>,
    /// Whether something could not be remembered.
    pub(super) is_full: bool,
}

/// The scope of a player with all that decides which moves its books may play.
pub(super) fn scope(of: impl Hash) -> Scope {
    hash(of)
}

/// The same number in every process.
fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// A position, its ply and its variant as a number; in standard chess that of the starting position is its key.
fn place(position: &Position) -> u64 {
    let chess = position.chess();
    let ply = u64::from(chess.fullmoves().get() - 1) * 2 + u64::from(chess.turn().is_black());
    // The keys of variants are those of standard chess.
    let variant = match position.variant() {
        Variant::Chess => 0,
        variant => hash(variant_name(variant)),
    };
    position.whole_key() ^ ply.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ variant
}

impl PlayedLines {
    pub(super) fn new_game(&mut self) {
        self.last = ByColor::default();
    }

    /// Whether other processes are to know of these lines; if so, they learn of all that this one has played so far.
    pub(super) fn share(&mut self, shared: bool) {
        self.shared = shared;
        self.unsaid.clear();
        if shared {
            let scopes: HashMap<u32, Scope> =
                self.scopes.iter().map(|(scope, index)| (*index, *scope)).collect();
            let own = self.known.iter().filter(|known| known.is_own);
            self.unsaid =
                own.flat_map(|known| self.nodes(known, scopes.get(&known.scope).copied())).collect();
        }
    }

    /// All that is known of what follows a position.
    fn nodes(&self, known: &PlayedPosition, scope: Option<Scope>) -> Vec<PlayedNode> {
        let Some(scope) = scope else { return Vec::new() };
        let node = |kind, is_awaited| {
            let edges = self.edges_of(known).filter(|edge| edge.is_awaited == is_awaited);
            let after = edges.filter_map(|edge| Some(self.get(edge.to)?.at)).collect();
            PlayedNode { scope, at: known.at, kind, after }
        };
        let awaited = node(NodeKind::Replies, true);
        let kind = if known.is_cut { NodeKind::Cut } else { NodeKind::Known };
        let known = node(kind, false);
        let says_more = awaited.after.is_empty() || kind == NodeKind::Known || !known.after.is_empty();
        let nodes = [(!awaited.after.is_empty()).then_some(awaited), says_more.then_some(known)];
        nodes.into_iter().flatten().collect()
    }

    /// What other processes do not know yet.
    pub(super) fn take_unsaid(&mut self) -> Vec<PlayedNode> {
        std::mem::take(&mut self.unsaid)
    }

    /// Takes what other processes have played.
    pub(super) fn played_elsewhere(&mut self, nodes: &[PlayedNode]) {
        nodes.iter().for_each(|node| _ = self.add(node, false));
    }

    /// Of the moves with a chance leaves one only to those that lead to the freshest lines, if any leads to a fresh one. Returns
    /// what [`PlayedLines::answered`] needs; `is_cut` says whether the books were not asked for all of their moves.
    pub(super) fn prefer(
        &self,
        scope: Scope,
        position: &Position,
        is_cut: bool,
        moves: &[MoveFacts],
        chances: &mut [f64],
    ) -> Choice {
        let after = moves.iter().zip(chances.iter()).map(|(facts, chance)| {
            let after = (*chance > 0.0).then(|| place(&position.after(facts.mv)))?;
            Some((after, self.freshness(scope, after)))
        });
        let after: Vec<Option<(u64, Freshness)>> = after.collect();
        let best = after.iter().flatten().map(|(_, freshness)| *freshness).max();
        if let Some(best) = best.filter(|best| *best > Freshness::Played) {
            let is_best =
                |after: &Option<(u64, Freshness)>| after.is_some_and(|(_, freshness)| freshness == best);
            let kept = chances.iter().zip(&after).filter(|(_, after)| is_best(after));
            let kept: f64 = kept.map(|(chance, _)| *chance).sum();
            for (chance, after) in chances.iter_mut().zip(&after) {
                *chance = if is_best(after) { *chance / kept } else { 0.0 };
            }
        }
        let kind = if is_cut { NodeKind::Cut } else { NodeKind::Known };
        let left = after.iter().flatten().filter(|(_, freshness)| *freshness > Freshness::Played).count();
        Choice { scope, choices: after.into_iter().flatten().map(|(after, _)| after).collect(), kind, left }
    }

    /// The books have answered with this move, one of those of the choice; they answer these positions after it.
    pub(super) fn answered(&mut self, choice: &Choice, position: &Position, mv: Move, replies: &[Position]) {
        let Choice { scope, kind, .. } = *choice;
        self.reached(scope, position);
        self.note(scope, place(position), &choice.choices, kind);
        let next = position.after(mv);
        let replies: Vec<u64> = replies.iter().map(place).collect();
        let kind = if replies.is_empty() { NodeKind::Known } else { NodeKind::Replies };
        self.note(scope, place(&next), &replies, kind);
        *self.last.get_mut(position.chess().turn()) = Some((scope, next));
    }

    /// The engine's check has refused this move: it is no line that is left.
    pub(super) fn refused(&mut self, scope: Scope, position: &Position, mv: Move) {
        self.note(scope, place(&position.after(mv)), &[], NodeKind::Known);
    }

    /// The books are silent: the line ends here, or is cut short if that is only for once.
    pub(super) fn silent(&mut self, scope: Scope, position: &Position, for_once: bool) {
        if self.reached(scope, position) {
            let kind = if for_once { NodeKind::Cut } else { NodeKind::Known };
            self.note(scope, place(position), &[], kind);
            // They may be asked again.
            if !for_once {
                *self.last.get_mut(position.chess().turn()) = None;
            }
        }
    }

    /// Notes the opponent's answer to the last move of the books; returns whether there is one.
    fn reached(&mut self, scope: Scope, position: &Position) -> bool {
        let Some((by, before)) = self.last.get(position.chess().turn()) else { return false };
        let follows = |mv: Move| before.key_after(mv) == position.key();
        let is_reached = *by == scope && before.chess().legal_moves().into_iter().any(follows);
        if is_reached {
            let before = place(before);
            self.note(scope, before, &[place(position)], NodeKind::Known);
        }
        is_reached
    }

    /// Notes what may follow a position, and that other processes do not know it.
    fn note(&mut self, scope: Scope, at: u64, after: &[u64], kind: NodeKind) {
        let node = PlayedNode { scope, at, kind, after: after.to_vec() };
        if self.add(&node, true) && self.shared {
            self.unsaid.push(node);
        }
    }

    /// Adds what may follow a position, which a game of this process (`is_own`) or of another went through; returns whether that
    /// is new.
    fn add(&mut self, node: &PlayedNode, is_own: bool) -> bool {
        let Some(scope) = self.scope_index(node.scope) else { return false };
        let Some(index) = self.entry(scope, node.at) else { return false };
        let mut is_new = false;
        for at in node.after.iter().take(MAX_MOVES) {
            if let Some(to) = self.entry(scope, *at) {
                is_new |= self.link(index, to, node.kind == NodeKind::Replies);
            }
        }
        let Some(known) = self.known.get_mut(index as usize) else { return false };
        let is_cut = node.kind != NodeKind::Known && (known.is_cut || !known.is_visited);
        is_new |= !known.is_visited || known.is_cut != is_cut;
        (known.is_visited, known.is_cut) = (true, is_cut);
        known.is_own |= is_own;
        self.refresh(index);
        is_new
    }

    fn scope_index(&mut self, scope: Scope) -> Option<u32> {
        let count = u32::try_from(self.scopes.len()).ok()?;
        if self.scopes.len() >= MAX_SCOPES && !self.scopes.contains_key(&scope) {
            self.is_full = true;
            return None;
        }
        Some(*self.scopes.entry(scope).or_insert(count))
    }

    /// The entry of a position, which is added if it is missing; `None` if there is no room.
    fn entry(&mut self, scope: u32, at: u64) -> Option<u32> {
        if let Some(index) = self.find(scope, at) {
            return Some(index);
        }
        if self.known.len() >= MAX_POSITIONS {
            self.is_full = true;
            return None;
        }
        let index = u32::try_from(self.known.len()).ok()?;
        let freshness = self.freshness_elsewhere(at);
        let same = self.index.insert(at, index).unwrap_or(NONE);
        let (after, before) = (NONE, NONE);
        self.known.push(PlayedPosition {
            at,
            scope,
            same,
            after,
            before,
            is_visited: false,
            is_own: false,
            is_cut: false,
            freshness,
        });
        Some(index)
    }

    /// Adds a step, unless it is known; returns whether that is new.
    fn link(&mut self, from: u32, to: u32, is_awaited: bool) -> bool {
        let Some(mut at) = self.get(from).map(|known| known.after) else { return false };
        for _ in 1..MAX_MOVES {
            let Some(edge) = self.edges.get_mut(at as usize) else { break };
            if edge.to == to {
                // A reply has come.
                let is_new = edge.is_awaited && !is_awaited;
                edge.is_awaited &= is_awaited;
                return is_new;
            }
            at = edge.next_of_from;
        }
        if at != NONE {
            return false;
        }
        let Ok(edge) = u32::try_from(self.edges.len()) else { return false };
        let next_of_from =
            self.known.get_mut(from as usize).map(|known| std::mem::replace(&mut known.after, edge));
        let next_of_to =
            self.known.get_mut(to as usize).map(|known| std::mem::replace(&mut known.before, edge));
        let (next_of_from, next_of_to) = (next_of_from.unwrap_or(NONE), next_of_to.unwrap_or(NONE));
        self.edges.push(Edge { from, next_of_from, to, next_of_to, is_awaited });
        true
    }

    fn get(&self, index: u32) -> Option<&PlayedPosition> {
        self.known.get(index as usize)
    }

    /// The entries of a position, one for each player.
    fn entries(&self, at: u64) -> impl Iterator<Item = (u32, &PlayedPosition)> {
        let first = self.index.get(&at).copied();
        std::iter::successors(first, |index| Some(self.get(*index)?.same))
            .map_while(|index| Some((index, self.get(index)?)))
    }

    fn find(&self, scope: u32, at: u64) -> Option<u32> {
        self.entries(at).find(|(_, known)| known.scope == scope).map(|(index, _)| index)
    }

    /// The steps to what may follow a position.
    fn edges_of(&self, known: &PlayedPosition) -> impl Iterator<Item = &Edge> {
        let edge = |edge: u32| self.edges.get(edge as usize);
        std::iter::successors(edge(known.after), move |last| edge(last.next_of_from))
    }

    /// How fresh a position is for a player.
    fn freshness(&self, scope: Scope, at: u64) -> Freshness {
        let own = self.scopes.get(&scope).and_then(|scope| self.get(self.find(*scope, at)?));
        own.map_or_else(|| self.freshness_elsewhere(at), |own| own.freshness)
    }

    /// How fresh a position is that the player has not gone through: others know whether they have played all of it.
    fn freshness_elsewhere(&self, at: u64) -> Freshness {
        let visited = self.entries(at).filter(|(_, known)| known.is_visited);
        match visited.map(|(_, known)| known.freshness).max() {
            None | Some(Freshness::Fresh) => Freshness::Fresh,
            Some(_) => Freshness::Elsewhere,
        }
    }

    /// Computes the freshness of a position, and of those before it that this changes.
    fn refresh(&mut self, index: u32) {
        self.changed.clear();
        self.changed.push(index);
        // A file that was tampered with may have circles.
        for _ in 0..2 * self.known.len() {
            let Some(index) = self.changed.pop() else { return };
            let Some(known) = self.get(index) else { continue };
            let freshness = if known.is_visited {
                let least = if known.is_cut { Freshness::Cut } else { Freshness::Played };
                let most = |edge: &Edge| if edge.is_awaited { Freshness::Awaited } else { Freshness::Fresh };
                let after = self
                    .edges_of(known)
                    .filter_map(|edge| Some(self.get(edge.to)?.freshness.min(most(edge))));
                after.fold(least, Freshness::max)
            } else {
                self.freshness_elsewhere(known.at)
            };
            if freshness == known.freshness {
                continue;
            }
            let (at, is_visited, mut before) = (known.at, known.is_visited, known.before);
            if let Some(known) = self.known.get_mut(index as usize) {
                known.freshness = freshness;
            }
            while let Some(edge) = self.edges.get(before as usize) {
                self.changed.push(edge.from);
                before = edge.next_of_to;
            }
            if is_visited {
                let others = self.entries(at).filter(|(_, known)| !known.is_visited);
                let others: Vec<u32> = others.map(|(index, _)| index).collect();
                self.changed.extend(others);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn node(scope: Scope, at: u64, after: &[u64]) -> PlayedNode {
        PlayedNode { scope, at, kind: NodeKind::Known, after: after.to_vec() }
    }

    fn cut(scope: Scope, at: u64) -> PlayedNode {
        PlayedNode { kind: NodeKind::Cut, ..node(scope, at, &[]) }
    }

    fn replies(scope: Scope, at: u64, after: &[u64]) -> PlayedNode {
        PlayedNode { kind: NodeKind::Replies, ..node(scope, at, after) }
    }

    #[test]
    fn a_position_of_a_variant_is_another_place() {
        let places: HashSet<u64> =
            Variant::ALL.into_iter().map(|variant| place(&Position::start_of(variant))).collect();
        assert_eq!(places.len(), Variant::ALL.len());
        // The file of lines names places of standard chess.
        assert_eq!(place(&Position::start()), Position::start().key());
    }

    #[test]
    fn what_others_have_played_comes_after_what_nobody_has_and_before_what_was_played() {
        let mut lines = PlayedLines::default();
        lines.played_elsewhere(&[node(1, 10, &[20, 21]), node(1, 20, &[])]);
        assert_eq!((lines.freshness(1, 10), lines.freshness(1, 20)), (Freshness::Fresh, Freshness::Played));
        // The other one has not played all after 10, and all after 20.
        assert_eq!(
            (lines.freshness(2, 10), lines.freshness(2, 20)),
            (Freshness::Fresh, Freshness::Elsewhere)
        );
        lines.played_elsewhere(&[node(2, 5, &[10, 20])]);
        assert_eq!(lines.freshness(2, 5), Freshness::Fresh);
        lines.played_elsewhere(&[node(1, 21, &[])]);
        assert_eq!(
            (lines.freshness(1, 10), lines.freshness(2, 10)),
            (Freshness::Played, Freshness::Elsewhere)
        );
        assert_eq!(lines.freshness(2, 5), Freshness::Elsewhere);
        lines.played_elsewhere(&[node(2, 10, &[]), node(2, 20, &[])]);
        assert_eq!(lines.freshness(2, 5), Freshness::Played);
        // Another answer of the opponent, after which there is more to play.
        lines.played_elsewhere(&[node(2, 20, &[30]), node(2, 30, &[40])]);
        assert_eq!(lines.freshness(2, 5), Freshness::Fresh);
    }

    #[test]
    fn a_line_that_was_cut_short_is_left_when_no_other_is() {
        let mut lines = PlayedLines::default();
        lines.played_elsewhere(&[node(1, 1, &[2, 3]), node(1, 3, &[])]);
        lines.played_elsewhere(&[cut(1, 2)]);
        assert_eq!((lines.freshness(1, 1), lines.freshness(1, 2)), (Freshness::Cut, Freshness::Cut));
        lines.played_elsewhere(&[node(1, 2, &[])]);
        assert_eq!(lines.freshness(1, 1), Freshness::Played);
        // What was once known whole stays so.
        lines.played_elsewhere(&[cut(1, 2)]);
        assert_eq!(lines.freshness(1, 1), Freshness::Played);
    }

    #[test]
    fn replies_that_have_not_come_are_left_after_all_else() {
        let mut lines = PlayedLines::default();
        // Move 2 was played, and two replies to it are in the books; the game ended there.
        lines.played_elsewhere(&[node(1, 1, &[2, 3]), replies(1, 2, &[4, 5])]);
        assert_eq!((lines.freshness(1, 2), lines.freshness(1, 3)), (Freshness::Cut, Freshness::Fresh));
        // One of them came, and the books had one move, their last.
        lines.played_elsewhere(&[node(1, 2, &[4]), node(1, 4, &[6])]);
        assert_eq!(lines.freshness(1, 2), Freshness::Fresh);
        lines.played_elsewhere(&[node(1, 6, &[])]);
        assert_eq!((lines.freshness(1, 2), lines.freshness(1, 4)), (Freshness::Awaited, Freshness::Played));
        // Another order of moves leads to the other reply, which has not come after this one.
        lines.played_elsewhere(&[node(1, 3, &[5]), node(1, 5, &[7])]);
        assert_eq!((lines.freshness(1, 2), lines.freshness(1, 3)), (Freshness::Awaited, Freshness::Fresh));
        lines.played_elsewhere(&[node(1, 7, &[])]);
        assert_eq!(lines.freshness(1, 1), Freshness::Played);
        // In any order the same is known.
        let all = lines.known.iter().flat_map(|known| lines.nodes(known, Some(1)));
        let all: Vec<PlayedNode> = all.filter(|node| !node.after.is_empty()).collect();
        let mut other = PlayedLines::default();
        all.iter().rev().for_each(|node| other.played_elsewhere(std::slice::from_ref(node)));
        other.played_elsewhere(&[node(1, 6, &[])]);
        assert_eq!((other.freshness(1, 1), other.freshness(1, 2)), (Freshness::Fresh, Freshness::Awaited));
    }

    #[test]
    fn other_processes_learn_what_is_new_once() {
        let mut lines = PlayedLines::default();
        lines.note(7, 1, &[2, 3], NodeKind::Known);
        assert!(lines.take_unsaid().is_empty());
        lines.share(true);
        assert_eq!(
            lines.take_unsaid().iter().map(|node| (node.at, node.after.len())).collect::<Vec<_>>(),
            [(1, 2)]
        );
        lines.note(7, 1, &[3, 2], NodeKind::Known);
        assert!(lines.take_unsaid().is_empty());
        lines.note(7, 1, &[4], NodeKind::Known);
        assert_eq!(lines.take_unsaid(), [node(7, 1, &[4])]);
        // Another file gets what this process has played, and nothing of what others have.
        lines.played_elsewhere(&[node(7, 2, &[5]), node(8, 6, &[])]);
        lines.share(true);
        assert_eq!(
            lines.take_unsaid().iter().map(|node| (node.scope, node.at)).collect::<Vec<_>>(),
            [(7, 1)]
        );
    }

    #[test]
    fn circles_end_and_memory_is_bounded() {
        let mut lines = PlayedLines::default();
        lines.played_elsewhere(&[node(1, 1, &[2]), node(1, 2, &[3]), node(1, 3, &[1])]);
        let many: Vec<u64> = (100..1000).collect();
        lines.played_elsewhere(&[node(1, 4, &many)]);
        assert_eq!(lines.known.iter().filter(|known| known.at >= 100).count(), MAX_MOVES);
        for scope in 0..2 * MAX_SCOPES as u64 {
            lines.played_elsewhere(&[node(scope, 5, &[])]);
        }
        assert!(lines.is_full && lines.scopes.len() == MAX_SCOPES);
        // A chain as long as there is room is followed without recursion.
        let mut lines = PlayedLines::default();
        for at in (0..=MAX_POSITIONS as u64).rev() {
            lines.played_elsewhere(&[node(1, at, &[at + 1])]);
        }
        assert!(lines.is_full && lines.known.len() == MAX_POSITIONS);
        assert_eq!(lines.freshness(1, 1), Freshness::Fresh);
    }

    proptest! {
        /// What is kept up to date is what a walk through all that was played finds.
        #[test]
        fn freshness_is_what_can_be_reached(
            nodes in prop::collection::vec((0..40_u64, prop::collection::vec(1..6_u64, 0..4), 0..3), 0..60),
        ) {
            let (mut lines, mut after) = (PlayedLines::default(), HashMap::<u64, HashMap<u64, bool>>::new());
            let mut cut = HashMap::<u64, bool>::new();
            for (at, steps, kind) in nodes {
                let kind = [NodeKind::Known, NodeKind::Cut, NodeKind::Replies][usize::try_from(kind).unwrap()];
                let next: Vec<u64> = steps.iter().map(|step| at + step).collect();
                lines.played_elsewhere(&[PlayedNode { kind, ..node(1, at, &next) }]);
                let (awaited, known) = (kind == NodeKind::Replies, after.entry(at).or_default());
                next.iter().for_each(|at| *known.entry(*at).or_insert(true) &= awaited);
                *cut.entry(at).or_insert(true) &= kind != NodeKind::Known;
            }
            // Steps lead to greater numbers.
            let mut expected = HashMap::new();
            for from in (0..50).rev() {
                let Some(after) = after.get(&from) else {
                    expected.insert(from, Freshness::Fresh);
                    continue;
                };
                let least = if cut[&from] { Freshness::Cut } else { Freshness::Played };
                let best = |(at, awaited): (&u64, &bool)| {
                    expected[at].min(if *awaited { Freshness::Awaited } else { Freshness::Fresh })
                };
                expected.insert(from, after.iter().map(best).fold(least, Freshness::max));
            }
            for from in 0..45 {
                prop_assert_eq!(lines.freshness(1, from), expected[&from], "{}", from);
            }
        }
    }
}
