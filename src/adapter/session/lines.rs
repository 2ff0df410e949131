//! The lines that the books have played, so that *Book Fresh* can prefer others.
//!
//! A map leads from each position that a game went through to those that may follow it there: where the books were asked, the
//! positions after all moves that they may play; where the opponent was to move, those after the moves that it has played. A
//! move leads to a line that was not played if a position that no game went through can be reached from it.

use std::collections::{HashMap, HashSet};

use shakmaty::Move;

use crate::book::MoveFacts;
use crate::chess::{Game, Position};

/// How many positions are remembered: those of about 20,000 games, in some 40 MB.
const MOST: usize = 1 << 18;

/// A position by its key, and those that may follow it.
pub type Node = (u64, Vec<u64>);

/// The lines that were played.
#[derive(Default)]
pub(super) struct Lines {
    followers: HashMap<u64, Vec<u64>>,
    /// The position after the last move of the books in this game, and its ply.
    last: Option<(u64, usize)>,
    /// The positions after the moves among which the last one was drawn.
    choices: Vec<u64>,
    /// Whether other processes are to know of these lines.
    shared: bool,
    /// What they do not know yet.
    unsaid: Vec<Node>,
}

impl Lines {
    /// Another game begins.
    pub(super) fn new_game(&mut self) {
        self.last = None;
    }

    /// Whether other processes are to know of these lines; if so, they learn of all so far.
    pub(super) fn share(&mut self, shared: bool) {
        self.shared = shared;
        self.unsaid.clear();
        if shared {
            self.unsaid.extend(self.followers.iter().map(|(at, after)| (*at, after.clone())));
        }
    }

    /// What other processes do not know yet.
    pub(super) fn take_unsaid(&mut self) -> Vec<Node> {
        std::mem::take(&mut self.unsaid)
    }

    /// Takes what other processes have played.
    pub(super) fn played_elsewhere(&mut self, nodes: Vec<Node>) {
        nodes.into_iter().for_each(|(at, after)| {
            self.add(at, &after);
        });
    }

    /// Of the moves with a chance leaves one only to those that lead to lines that were not played, if there are such.
    pub(super) fn prefer(&mut self, position: &Position, moves: &[MoveFacts], chances: &mut [f64]) {
        self.choices.clear();
        let mut fresh = 0.0;
        let keys: Vec<Option<u64>> = moves
            .iter()
            .zip(chances.iter())
            .map(|(facts, chance)| (*chance > 0.0).then(|| position.after(facts.mv).key()))
            .collect();
        self.choices.extend(keys.iter().flatten());
        let is_fresh: Vec<bool> = keys.iter().map(|key| key.is_some_and(|key| self.is_fresh(key))).collect();
        let of_fresh = || is_fresh.iter().copied();
        chances
            .iter()
            .zip(of_fresh())
            .filter(|(_, is_fresh)| *is_fresh)
            .for_each(|(chance, _)| fresh += chance);
        if fresh > 0.0 {
            for (chance, is_fresh) in chances.iter_mut().zip(of_fresh()) {
                *chance = if is_fresh { *chance / fresh } else { 0.0 };
            }
        }
    }

    /// The books answer with one of the moves that were looked at last.
    pub(super) fn answered(&mut self, game: &Game, mv: Move) {
        self.reached(game);
        let choices = std::mem::take(&mut self.choices);
        self.note(game.position().key(), &choices);
        self.choices = choices;
        let next = game.position().after(mv).key();
        self.note(next, &[]);
        self.last = Some((next, game.moves().len() + 1));
    }

    /// The books have no answer: the line ends here.
    pub(super) fn ended(&mut self, game: &Game) {
        if self.reached(game) {
            self.note(game.position().key(), &[]);
        }
    }

    /// Notes the opponent's answer to the last move of the books, and returns whether there is one.
    fn reached(&mut self, game: &Game) -> bool {
        let before = self.last.take().filter(|(_, ply)| ply + 1 == game.moves().len());
        if let Some((before, _)) = before {
            self.note(before, &[game.position().key()]);
        }
        before.is_some()
    }

    /// Notes what may follow a position, and that other processes do not know it.
    fn note(&mut self, at: u64, after: &[u64]) {
        if self.add(at, after) && self.shared {
            self.unsaid.push((at, after.to_owned()));
        }
    }

    /// Adds what may follow a position; returns whether that is new.
    fn add(&mut self, at: u64, after: &[u64]) -> bool {
        if self.followers.len() >= MOST && !self.followers.contains_key(&at) {
            return false;
        }
        let is_new = !self.followers.contains_key(&at);
        let known = self.followers.entry(at).or_default();
        let before = known.len();
        // No position has more legal moves.
        for key in after.iter().take(256usize.saturating_sub(before)) {
            if !known.contains(key) {
                known.push(*key);
            }
        }
        is_new || known.len() > before
    }

    /// Whether a position that no game went through can be reached from one.
    fn is_fresh(&self, from: u64) -> bool {
        let (mut met, mut open) = (HashSet::from([from]), vec![from]);
        while let Some(at) = open.pop() {
            let Some(after) = self.followers.get(&at) else { return true };
            open.extend(after.iter().filter(|key| met.insert(**key)));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::MoveFacts;
    use crate::chess::MoveCode;

    /// A book: after these moves it plays one of those.
    type Book<'a> = &'a [(&'a str, &'a [&'a str])];

    /// A small book for White, and Black's answers to it.
    const BOOK: Book<'_> =
        &[("", &["e2e4", "d2d4"]), ("e2e4 e7e5", &["g1f3", "b1c3"]), ("e2e4 c7c5", &["g1f3"])];

    fn facts(at: &Position, mv: &str) -> MoveFacts {
        let uci: shakmaty::uci::UciMove = mv.parse().unwrap();
        MoveFacts::new(MoveCode::from_move(uci.to_move(at.chess()).unwrap()), 1).at(at).unwrap()
    }

    /// Plays the game in which the opponent answers like this and the first of the moves with a chance is played; returns its
    /// moves and how many could have been played at each.
    fn play(lines: &mut Lines, book: Book<'_>, reply: impl Fn(&str) -> Option<&'static str>) -> Vec<String> {
        lines.new_game();
        let (mut game, mut text, mut played) = (Game::start(), String::new(), Vec::new());
        loop {
            let Some((_, moves)) = book.iter().find(|(at, _)| *at == text) else {
                lines.ended(&game);
                return played;
            };
            let moves: Vec<_> = moves.iter().map(|mv| facts(game.position(), mv)).collect();
            let mut chances = vec![1.0 / moves.len() as f64; moves.len()];
            lines.prefer(game.position(), &moves, &mut chances);
            assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{chances:?}");
            let chosen = chances.iter().position(|chance| *chance > 0.0).unwrap();
            let mv = moves[chosen].mv;
            lines.answered(&game, mv);
            let uci = mv.to_uci(shakmaty::CastlingMode::Standard).to_string();
            game.push(mv);
            text = format!("{text} {uci}").trim().to_owned();
            played.push(uci);
            let Some(reply) = reply(&text) else { return played };
            assert!(game.push_uci(reply.as_bytes()));
            text = format!("{text} {reply}");
        }
    }

    fn e5(text: &str) -> Option<&'static str> {
        Some(match text {
            "e2e4" => "e7e5",
            "d2d4" => "d7d5",
            _ => "g8f6",
        })
    }

    #[test]
    fn no_line_is_played_twice_while_there_are_others() {
        let mut lines = Lines::default();
        assert_eq!(play(&mut lines, BOOK, e5), ["e2e4", "g1f3"]);
        assert_eq!(play(&mut lines, BOOK, e5), ["e2e4", "b1c3"]);
        assert_eq!(play(&mut lines, BOOK, e5), ["d2d4"]);
        // Another answer of the opponent is a line of its own only once it comes.
        assert_eq!(play(&mut lines, BOOK, e5), ["e2e4", "g1f3"]);
        let c5 = |text: &str| Some(if text == "e2e4" { "c7c5" } else { "g8f6" });
        assert_eq!(play(&mut lines, BOOK, c5), ["e2e4", "g1f3"]);
    }

    #[test]
    fn a_game_that_ends_early_counts_as_played() {
        let mut lines = Lines::default();
        assert_eq!(play(&mut lines, BOOK, |_| None), ["e2e4"]);
        assert_eq!(play(&mut lines, BOOK, |_| None), ["d2d4"]);
        assert_eq!(play(&mut lines, BOOK, e5), ["e2e4", "g1f3"]);
    }

    #[test]
    fn other_processes_learn_what_is_new_once() {
        let (mut one, mut other) = (Lines::default(), Lines::default());
        play(&mut one, BOOK, e5);
        assert!(one.take_unsaid().is_empty());
        one.share(true);
        let said = one.take_unsaid();
        // Start, after e4, after e5, after Nf3, after the answer to that.
        assert_eq!(said.len(), 5);
        other.played_elsewhere(said);
        assert_eq!(play(&mut other, BOOK, e5), ["e2e4", "b1c3"]);
        play(&mut one, BOOK, e5);
        let said: HashSet<_> = one.take_unsaid().into_iter().map(|(at, _)| at).collect();
        assert_eq!(said.len(), 2, "after Nc3, and after the answer to it");
        assert!(one.take_unsaid().is_empty());
    }

    #[test]
    fn circles_end_and_memory_is_bounded() {
        let mut lines = Lines::default();
        lines.add(1, &[2]);
        lines.add(2, &[1]);
        assert!(!lines.is_fresh(1) && lines.is_fresh(3));
        for at in 0..=MOST as u64 {
            lines.add(at + 10, &[at + 11]);
        }
        assert_eq!(lines.followers.len(), MOST);
        // A chain as long as that is followed without recursion.
        assert!(lines.is_fresh(10));
        lines.add(1, &(100..1000).collect::<Vec<_>>());
        assert_eq!(lines.followers[&1].len(), 256);
    }
}
