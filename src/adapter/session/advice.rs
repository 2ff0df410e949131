//! The book's answer in a position: which book, which move, and the lines for the GUI.
#![allow(clippy::indexing_slicing, reason = "the order has indices below the lengths of both lists")]

use std::sync::Arc;

use rand::rngs::Xoshiro256PlusPlus;
use shakmaty::{CastlingMode, Move, Position as _};

use super::score;
use crate::adapter::config::options::Options;
use crate::book::{Book, BookSet, MoveFacts};
use crate::chess::Game;
use crate::choose::{Policy, chances, draw};
use crate::uci::{Go, bestmove, book_info, info_string};

/// Moves of the book's line that are sent as its `pv`.
const SHOWN_LINE: usize = 8;

/// Moves of a book that are listed before one is played: the documentation promises this number.
const SHOWN_MOVES: usize = 5;

/// The moves of a book in a position, with buffers that are kept between moves.
#[derive(Default)]
pub(super) struct Advice {
    book: Option<Arc<dyn Book>>,
    moves: Vec<MoveFacts>,
    chances: Vec<f64>,
    line: Vec<Move>,
    order: Vec<usize>,
    text: String,
}

impl Advice {
    /// Asks the books by priority until one has a playable move; `false` if none has.
    pub(super) fn ask(&mut self, book_set: &mut BookSet, game: &Game, go: &Go, policy: &Policy) -> bool {
        self.book = None;
        if !policy.covers(game.fullmove()) {
            return false;
        }
        let position = game.position();
        let color = position.chess().turn();
        let asked: Option<Vec<Move>> = go
            .searchmoves
            .as_ref()
            .map(|moves| moves.iter().filter_map(|mv| mv.to_move(position.chess()).ok()).collect());
        for index in 0..book_set.books(color).len() {
            let Some(book) = book_set.books(color).get(index).cloned() else { break };
            self.moves.clear();
            book.moves(position, &mut self.moves);
            if self.moves.is_empty() {
                continue;
            }
            let allowed = |mv: Move| {
                asked.as_ref().is_none_or(|asked| asked.contains(&mv)) && policy.admits(book_set, game, mv)
            };
            chances(&self.moves, policy, allowed, &mut self.chances);
            if self.chances.iter().any(|chance| *chance > 0.0) {
                self.book = Some(book);
                return true;
            }
        }
        false
    }

    /// Chooses one of the moves that [`Advice::ask`] found and appends the lines that answer a `go` with it; `None` if
    /// there are none.
    pub(super) fn answer(
        &mut self,
        book_set: &mut BookSet,
        game: &Game,
        mode: CastlingMode,
        options: &Options,
        rng: &mut Xoshiro256PlusPlus,
        out: &mut Vec<u8>,
    ) -> Option<Move> {
        let position = game.position();
        let color = position.chess().turn();
        let drawn = self.moves.get(draw(&self.chances, rng)?)?;
        let (mv, centipawns) = (drawn.mv, score::centipawns(options.score, drawn));
        self.line.clear();
        self.line.push(mv);
        let tournament = options.policy.tournament;
        let mut plies = book_set.line_of(color, position, mv, tournament, SHOWN_LINE - 1, &mut self.line);
        let lasting = game.plies_of(&self.line);
        if lasting < self.line.len() {
            self.line.truncate(lasting);
            plies = lasting as u32;
        }
        self.list(mode, Some((mv, plies)), out);
        book_info(out, centipawns, self.line.iter().map(|mv| mv.to_uci(mode)));
        bestmove(out, mv.to_uci(mode), self.line.get(1).map(|mv| mv.to_uci(mode)));
        Some(mv)
    }

    /// A line for the log about the last answer.
    pub(super) fn note(&self) -> String {
        let mv =
            self.line.first().map(|mv| mv.to_uci(CastlingMode::Standard).to_string()).unwrap_or_default();
        let book = self.book.as_ref().map(|book| book.path().display().to_string()).unwrap_or_default();
        format!("book move {mv} from {book}")
    }

    /// Appends `info string` lines about the best moves, and the one that is played with the length of its line.
    pub(super) fn list(&mut self, mode: CastlingMode, played: Option<(Move, u32)>, out: &mut Vec<u8>) {
        let Some(book) = &self.book else { return };
        let (moves, chances) = (&self.moves, &self.chances);
        self.order.clear();
        self.order.extend(0..moves.len().min(chances.len()));
        self.order
            .sort_by(|&a, &b| chances[b].total_cmp(&chances[a]).then(moves[b].weight.cmp(&moves[a].weight)));
        let place = played.and_then(|(mv, _)| self.order.iter().position(|&index| moves[index].mv == mv));
        if let Some(place) = place.filter(|place| *place >= SHOWN_MOVES) {
            self.order.swap(SHOWN_MOVES - 1, place);
        }
        for &index in self.order.iter().take(SHOWN_MOVES) {
            self.text.clear();
            describe(&mut self.text, &moves[index], chances[index], mode);
            info_string(out, &self.text);
        }
        let playable = chances.iter().filter(|chance| **chance > 0.0).count();
        let text = &mut self.text;
        text.clear();
        text.push_str("book ");
        text.push_str(&book.path().to_string_lossy());
        text.push_str(": ");
        put_number(text, playable as u64);
        text.push_str(" of ");
        put_number(text, moves.len() as u64);
        text.push_str(" moves");
        if let Some((_, plies)) = played {
            text.push_str(", line ends in ");
            put_number(text, u64::from(plies));
            text.push_str(if plies == 1 { " ply" } else { " plies" });
        }
        info_string(out, &self.text);
    }
}

/// Describes a move of a book: `e2e4 54.2% weight 6520 games 120 score 56.3% learned 3.5/6`.
fn describe(text: &mut String, m: &MoveFacts, chance: f64, mode: CastlingMode) {
    m.mv.to_uci(mode).append_to_string(text);
    text.push(' ');
    put_share(text, chance);
    text.push_str(" weight ");
    put_number(text, m.weight);
    if let Some(counts) = m.counts {
        text.push_str(" games ");
        put_number(text, counts.games);
        let finished = counts.wins + counts.draws + counts.losses;
        if finished > 0 {
            text.push_str(" score ");
            put_share(text, (counts.wins as f64 + counts.draws as f64 / 2.0) / finished as f64);
        }
    }
    if let Some(learned) = m.learned {
        text.push_str(" learned ");
        put_number(text, u64::from(learned.halfpoints / 2));
        text.push_str(if learned.halfpoints % 2 == 1 { ".5/" } else { "/" });
        put_number(text, u64::from(learned.games));
    }
}

/// A share as a percentage with one decimal.
fn put_share(text: &mut String, share: f64) {
    // Without `round`, which is a function call; shares are never negative.
    let tenths = (share * 1000.0 + 0.5) as u64;
    put_number(text, tenths / 10);
    text.push('.');
    put_number(text, tenths % 10);
    text.push('%');
}

/// A number in decimal digits. std's formatter takes several times as long, and a move waits.
fn put_number(text: &mut String, number: u64) {
    text.push_str(itoa::Buffer::new().format(number));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::{Counts, Learned};

    #[test]
    fn numbers_are_written_as_std_writes_them() {
        for number in [0, 1, 9, 10, 99, 100, 12_135, u64::MAX] {
            let mut text = String::new();
            put_number(&mut text, number);
            assert_eq!(text, number.to_string());
        }
        for (share, expected) in [(0.0, "0.0%"), (0.5421, "54.2%"), (0.9996, "100.0%"), (0.0004, "0.0%")] {
            let mut text = String::new();
            put_share(&mut text, share);
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn a_move_is_described_with_all_that_the_book_has() {
        let mv = shakmaty::Chess::default().legal_moves()[0];
        let uci = mv.to_uci(CastlingMode::Standard);
        let mut m = MoveFacts::new(mv, 6520);
        let mut text = String::new();
        describe(&mut text, &m, 0.5421, CastlingMode::Standard);
        assert_eq!(text, format!("{uci} 54.2% weight 6520"));
        m.counts = Some(Counts { games: 10, wins: 5, draws: 1, losses: 2 });
        m.learned = Some(Learned { games: 4, halfpoints: 7 });
        text.clear();
        describe(&mut text, &m, 1.0, CastlingMode::Standard);
        assert_eq!(text, format!("{uci} 100.0% weight 6520 games 10 score 68.8% learned 3.5/4"));
    }
}
