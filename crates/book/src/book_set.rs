//! Several books as one: by priority and by colour, with the length of the line after a move.
#![allow(
    clippy::cast_possible_truncation,
    reason = "a line has at most MAX_LINE moves, and a slot is below SLOTS"
)]
#![allow(
    clippy::indexing_slicing,
    reason = "slots are below SLOTS, and `walk` begins with a memory of that size"
)]

use std::fmt;
use std::sync::Arc;

use shakmaty::{ByColor, Color, Move, Position as _};

use tabiya_chess::Position;

use super::{CountsGames, Evaluations, Policy, Weights, verdict};
use crate::traits::Book;

/// Plies after which a line is followed no further.
const MAX_LINE: u32 = 200;

/// Slots of the memory of walked lines; a power of two, 64 KiB in total.
const SLOTS: usize = 2048;

/// How the books of a set are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    pub(crate) color: Color,
    /// Whether the moves are those that the books' own recommendations allow, or the heaviest ones.
    pub(crate) tournament: bool,
    /// Whether the factors of CTG books count for the former.
    pub(crate) factor: bool,
    /// Of what the weights are made.
    pub(crate) weights: Weights,
    /// The first of the colour's books that is read; those before it are not.
    pub(crate) from: usize,
}

/// A walked position: its best move, and how many plies its line has.
#[derive(Clone, Copy)]
struct Walked {
    key: u64,
    mv: Move,
    plies: u32,
}

/// Books by priority, those for one colour before those for both.
///
/// Books do not mix: the first one with a playable move answers.
#[derive(Default)]
pub struct BookSet {
    white: Vec<Arc<dyn Book>>,
    black: Vec<Arc<dyn Book>>,
    /// The numbers of the rules of the last books for White and for Black.
    rules: ByColor<Vec<usize>>,
    /// Books with the evaluations beside them.
    evaluated: Vec<(Arc<dyn Book>, Arc<dyn Evaluations>)>,
    walked: Vec<Option<Walked>>,
    path: Vec<(u64, Move)>,
}

impl fmt::Debug for BookSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { white, black, .. } = self;
        f.debug_struct("BookSet").field("white", white).field("black", black).finish_non_exhaustive()
    }
}

impl BookSet {
    /// A set of books for White, for Black and for both, each list by priority.
    pub fn new(white: &[Arc<dyn Book>], black: &[Arc<dyn Book>], both: &[Arc<dyn Book>]) -> Self {
        Self {
            white: [white, both].concat(),
            black: [black, both].concat(),
            rules: ByColor::default(),
            evaluated: Vec::new(),
            walked: Vec::new(),
            path: Vec::new(),
        }
    }

    /// The set with more books, which are asked after the others and each under a rule: the rule's number, the colour for
    /// which it holds (`None` for both), and its book. A book may come under several rules.
    #[must_use]
    pub fn with_rules(
        mut self,
        rules: impl IntoIterator<Item = (usize, Option<Color>, Arc<dyn Book>)>,
    ) -> Self {
        for (number, color, book) in rules {
            for side in Color::ALL.into_iter().filter(|side| color.is_none_or(|color| color == *side)) {
                side.fold_wb(&mut self.white, &mut self.black).push(Arc::clone(&book));
                self.rules.get_mut(side).push(number);
            }
        }
        self
    }

    /// The set with evaluations that are known of positions of these of its books.
    #[must_use]
    pub fn with_evaluations(
        mut self,
        evaluated: impl IntoIterator<Item = (Arc<dyn Book>, Arc<dyn Evaluations>)>,
    ) -> Self {
        self.evaluated.extend(evaluated);
        self
    }

    /// The evaluations beside a book of the set.
    pub fn evaluations(&self, book: &dyn Book) -> Option<&dyn Evaluations> {
        let mut evaluated = self.evaluated.iter();
        evaluated.find(|(of, _)| of.path() == book.path()).map(|(_, known)| &**known)
    }

    /// All books, each file once.
    pub fn distinct(&self) -> Vec<Arc<dyn Book>> {
        let mut books: Vec<Arc<dyn Book>> = Vec::new();
        for book in self.white.iter().chain(&self.black) {
            if !books.iter().any(|other| other.path() == book.path()) {
                books.push(Arc::clone(book));
            }
        }
        books
    }

    /// The number of the rule under which a colour's book is asked, if there is one.
    pub fn rule(&self, color: Color, index: usize) -> Option<usize> {
        let rules = self.rules.get(color);
        let before = self.books(color).len().saturating_sub(rules.len());
        rules.get(index.checked_sub(before)?).copied()
    }

    /// Whether it has no book.
    pub fn is_empty(&self) -> bool {
        self.white.is_empty() && self.black.is_empty()
    }

    /// The books that advise `color`, by priority.
    pub fn books(&self, color: Color) -> &[Arc<dyn Book>] {
        color.fold_wb(&self.white, &self.black)
    }

    /// How many plies the line has that begins with a move that is legal at `at`, that one counted; up to `keep` of
    /// the moves after it are appended to `line`. A line that comes back to `at` ends there. See [`BookSet::line`].
    pub fn line_of(
        &mut self,
        reading: Reading,
        at: &Position,
        mv: Move,
        keep: usize,
        line: &mut Vec<Move>,
    ) -> u32 {
        let before = (!mv.is_zeroing()).then(|| slot_key(reading, at));
        1 + self.walk(reading, &at.after(mv), before, keep, line)
    }

    /// How many plies the line from `at` has when each side plays the book's best move, up to 200. A line that repeats a
    /// position ends there. Its first `keep` moves are appended to `line`.
    ///
    /// Both sides' moves come from the books of `color`.
    pub fn line(&mut self, color: Color, at: &Position, keep: usize, line: &mut Vec<Move>) -> u32 {
        self.walk(Policy::default().reading(color, 0), at, None, keep, line)
    }

    /// [`BookSet::line`], if the position of the key `before` is on the line already and may come again.
    fn walk(
        &mut self,
        reading: Reading,
        at: &Position,
        mut before: Option<u64>,
        keep: usize,
        line: &mut Vec<Move>,
    ) -> u32 {
        self.walked.resize(SLOTS, None);
        let mut position = at.clone();
        let end = line.len() + keep;
        let mut remembered = 0;
        // Only whole lines are remembered: one that is cut off here might be longer from elsewhere.
        let mut whole = false;
        self.path.clear();
        while (self.path.len() as u32) < MAX_LINE {
            let key = slot_key(reading, &position);
            // A line ends where it repeats a position.
            if before == Some(key) || self.path.iter().any(|(earlier, _)| *earlier == key) {
                break;
            }
            let known = self.remembered(key);
            // A remembered line may lead through `before`.
            if let Some(walked) = known.filter(|_| before.is_none()) {
                remembered = walked.plies;
                whole = true;
                break;
            }
            let known = known.map(|walked| walked.mv).filter(|mv| position.chess().is_legal(*mv));
            let best = known.or_else(|| self.best(reading, &position));
            let Some(mv) = best else {
                whole = true;
                break;
            };
            self.path.push((key, mv));
            // No position comes again after a capture or a move of a pawn.
            if mv.is_zeroing() {
                before = None;
            }
            position.play(mv);
        }
        let plies = (remembered + self.path.len() as u32).min(MAX_LINE);
        for (index, &(key, mv)) in self.path.iter().enumerate() {
            if whole {
                self.walked[slot(key)] = Some(Walked { key, mv, plies: plies - index as u32 });
            }
            if line.len() < end {
                line.push(mv);
            }
        }
        // The rest of the line is remembered from an earlier walk.
        while whole && line.len() < end {
            let Some(walked) = self.remembered(slot_key(reading, &position)) else { break };
            if !position.chess().is_legal(walked.mv) {
                break;
            }
            line.push(walked.mv);
            position.play(walked.mv);
        }
        plies
    }

    /// The first book's best move in a position.
    fn best(&self, reading: Reading, at: &Position) -> Option<Move> {
        let books = self.books(reading.color).iter().skip(reading.from);
        books.into_iter().find_map(|book| match reading {
            Reading { weights: Weights::Games, tournament, factor, .. }
                if book.format().games() != CountsGames::No =>
            {
                let moves = book.moves_in(at);
                let moves = verdict::by_games(&moves).unwrap_or(moves);
                if tournament { verdict::best_of(&moves, factor) } else { verdict::heaviest_of(&moves) }
            }
            Reading { tournament: false, .. } => book.heaviest(at),
            Reading { factor: false, .. } if book.format().has_factors() => verdict::best(&**book, at, false),
            _ => book.best(at),
        })
    }

    fn remembered(&self, key: u64) -> Option<Walked> {
        self.walked[slot(key)].filter(|walked| walked.key == key)
    }
}

/// The key of a remembered position. It depends on the colour, because the other colour may have other books, on
/// whether the books' recommendations and factors count, on what the weights are made of, and on the first book.
fn slot_key(Reading { color, tournament, factor, weights, from }: Reading, position: &Position) -> u64 {
    let key = position.whole_key() ^ color.fold_wb(0, 0x9e37_79b9_7f4a_7c15);
    let key = key ^ (from as u64).wrapping_mul(0xa24b_aed4_963e_e407);
    let key = if weights == Weights::Points { key } else { key ^ 0xc2b2_ae3d_27d4_eb4f };
    let key = if factor { key } else { key ^ 0x8cb9_2ba7_2f3d_8dd7 };
    if tournament { key } else { key ^ 0xd1b5_4a32_d192_ed03 }
}

fn slot(key: u64) -> usize {
    key as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::starter_book;
    use crate::tests::{LineBook, after, mv, uci};

    fn book(lines: &[&str]) -> Arc<dyn Book> {
        Arc::new(LineBook::new(lines, |_| true))
    }

    fn line(book_set: &mut BookSet, color: Color, moves: &str, keep: usize) -> (u32, String) {
        let mut line = Vec::new();
        let plies = book_set.line(color, &after(moves), keep, &mut line);
        let text: Vec<String> = line.into_iter().map(uci).collect();
        (plies, text.join(" "))
    }

    #[test]
    fn a_line_is_followed_to_its_end_and_remembered() {
        let mut book_set = BookSet::new(&[], &[], &[book(&["e2e4 e7e5 g1f3 b8c6", "d2d4 d7d5"])]);
        for _ in 0..2 {
            assert_eq!(line(&mut book_set, Color::White, "", 3), (4, "e2e4 e7e5 g1f3".to_owned()));
            assert_eq!(line(&mut book_set, Color::White, "e2e4 e7e5", 9), (2, "g1f3 b8c6".to_owned()));
            assert_eq!(line(&mut book_set, Color::White, "d2d4", 9), (1, "d7d5".to_owned()));
            assert_eq!(line(&mut book_set, Color::White, "a2a3", 9), (0, String::new()));
        }
    }

    #[test]
    fn a_line_in_a_cycle_ends_where_it_began() {
        let mut book_set = BookSet::new(&[], &[], &[book(&["g1f3 g8f6 f3g1 f6g8"])]);
        for _ in 0..3 {
            for start in ["", "g1f3", "g1f3 g8f6", "g1f3 g8f6 f3g1"] {
                assert_eq!(line(&mut book_set, Color::White, start, 9).0, 4, "{start}");
            }
        }
    }

    fn line_of(book_set: &mut BookSet, moves: &str, keep: usize) -> (u32, usize) {
        let (before, last) = moves.rsplit_once(' ').unwrap_or(("", moves));
        let position = after(before);
        let mut line = Vec::new();
        let reading = Reading {
            color: Color::White,
            tournament: true,
            factor: true,
            weights: Weights::Points,
            from: 0,
        };
        let plies = book_set.line_of(reading, &position, mv(&position, last), keep, &mut line);
        (plies, line.len())
    }

    #[test]
    fn a_cycle_that_returns_to_before_its_first_move_ends_there() {
        let mut book_set = BookSet::new(&[], &[], &[book(&["g1f3 g8f6 f3g1 f6g8"])]);
        for _ in 0..3 {
            for start in ["g1f3", "g1f3 g8f6", "g1f3 g8f6 f3g1", "g1f3 g8f6 f3g1 f6g8"] {
                assert_eq!(line_of(&mut book_set, start, 9), (4, 3), "{start}");
            }
        }
    }

    #[test]
    fn remembered_lines_do_not_lead_through_the_position_before_a_line() {
        let cycle = || book(&["e2e4 e7e5 b1c3", "g1f3 g8f6 f3g1 f6g8"]);
        // The line after 1. Nf3 passes the start, where the best move leads out of the cycle.
        let mut book_set = BookSet::new(&[], &[], &[cycle()]);
        for _ in 0..3 {
            assert_eq!(line_of(&mut book_set, "g1f3", 9), (4, 3));
            assert_eq!(line(&mut book_set, Color::White, "g1f3", 9).0, 6);
            assert_eq!(line_of(&mut book_set, "g1f3", 1), (4, 1));
            assert_eq!(line_of(&mut book_set, "g1f3 g8f6", 9), (6, 5));
        }
        // A capture or a move of a pawn ends what could come again.
        let zeroing = book(&["g1f3 g8f6 e2e4 f6e4 f3g1 e4f6"]);
        let mut book_set = BookSet::new(&[], &[], &[zeroing]);
        assert_eq!(line_of(&mut book_set, "g1f3 g8f6 e2e4 f6e4", 9), (3, 2));
        for _ in 0..2 {
            assert_eq!(line_of(&mut book_set, "g1f3", 9), (6, 5));
        }
    }

    #[test]
    fn each_colour_has_its_books_before_the_others() {
        let (white, black, both) = (book(&["e2e4"]), book(&["d2d4"]), book(&["c2c4"]));
        let mut book_set = BookSet::new(&[white], &[black], &[both]);
        assert_eq!(book_set.books(Color::White).len(), 2);
        assert_eq!(line(&mut book_set, Color::White, "", 9), (1, "e2e4".to_owned()));
        assert_eq!(line(&mut book_set, Color::Black, "", 9), (1, "d2d4".to_owned()));
        assert!(BookSet::default().is_empty());
    }

    #[test]
    fn books_under_rules_come_after_the_others() {
        let (white, first, last) = (book(&["e2e4"]), book(&["d2d4 d7d5"]), book(&["d2d4"]));
        let rules = [
            (1, None, Arc::clone(&first)),
            (2, Some(Color::Black), Arc::clone(&first)),
            (4, None, Arc::clone(&last)),
        ];
        let mut book_set = BookSet::new(&[white], &[], &[]).with_rules(rules);
        let numbers = |book_set: &BookSet, color| {
            (0..=book_set.books(color).len()).map(|index| book_set.rule(color, index)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(&book_set, Color::White), [None, Some(1), Some(4), None]);
        assert_eq!(numbers(&book_set, Color::Black), [Some(1), Some(2), Some(4), None]);
        assert!(Arc::ptr_eq(&book_set.books(Color::Black)[1], &first));
        // The line after a move of the last book does not continue in the books before it.
        let position = after("");
        for (from, plies) in [(1, 2), (2, 1), (9, 1), (1, 2)] {
            let reading = Reading {
                color: Color::White,
                tournament: true,
                factor: true,
                weights: Weights::Points,
                from,
            };
            let d4 = mv(&position, "d2d4");
            assert_eq!(book_set.line_of(reading, &position, d4, 9, &mut Vec::new()), plies, "{from}");
        }
    }

    #[test]
    fn the_starter_book_has_lines() {
        let mut book_set = BookSet::new(&[], &[], &[starter_book().unwrap()]);
        let (plies, line) = line(&mut book_set, Color::White, "", 200);
        assert!((4..=24).contains(&plies), "{plies}");
        assert_eq!(line.split(' ').count(), plies as usize);
    }
}
