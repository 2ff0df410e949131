//! The moves of the book that answers, and the lines that describe them to the GUI.
#![allow(clippy::cast_possible_truncation, reason = "a shown line has few moves, and a share is from 0 to 1")]
#![allow(clippy::indexing_slicing, reason = "the order has indices below the lengths of both lists")]

use std::sync::Arc;

use shakmaty::{CastlingMode, Move};

use tabiya_book::MoveFacts;
use tabiya_book::choose::{Loss, Policy, Worth};
use tabiya_book::traits::Book;
use tabiya_chess::openings::Opening;
use tabiya_uci::info_string;

use super::rules::{Objection, skipped};

/// Moves of a book that are listed before one is played: the documentation promises this number.
const SHOWN_MOVES: usize = 5;

/// The moves of the book that answers, in buffers that are kept between moves.
#[derive(Default)]
pub(super) struct Advice {
    pub(super) book: Option<Arc<dyn Book>>,
    /// The number of the rule under which it answers, if there is one.
    pub(super) rule: Option<usize>,
    /// The policy under which it answers.
    pub(super) policy: Policy,
    /// Rules that did not let their books answer, and why.
    pub(super) skipped: Vec<(usize, Objection)>,
    /// Whether the books were not asked for all moves that they may play there at another time.
    pub(super) is_cut: bool,
    /// The first book of the mover in which its lines are looked up.
    pub(super) from: usize,
    pub(super) moves: Vec<MoveFacts>,
    pub(super) chances: Vec<f64>,
    /// What the moves lose, if that matters.
    pub(super) losses: Worth,
    /// Moves that are not played because of that.
    pub(super) refused: Vec<(Move, Loss)>,
    pub(super) line: Vec<Move>,
    order: Vec<usize>,
    text: String,
}

impl Advice {
    /// Forgets what was asked before.
    pub(super) fn clear(&mut self) {
        self.book = None;
        self.skipped.clear();
        self.refused.clear();
    }

    /// Whether a move is to be checked: the policy asks for it, and no evaluation says what the move loses.
    pub(super) fn guards(&self, mv: Move) -> bool {
        self.policy.guards() && self.losses.loss_of(mv).is_none()
    }

    /// Appends an `info string` line about each move that is not played because of what it loses.
    pub(super) fn list_refused(&mut self, mode: CastlingMode, out: &mut Vec<u8>) {
        list_refused(&self.refused, &mut self.text, mode, out);
    }

    /// A line for the log about the rules that did not let their books answer; `None` if all did.
    pub(super) fn objections(&self) -> Option<String> {
        let said: Vec<String> = self.skipped.iter().map(|(number, why)| skipped(*number, *why)).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }

    /// Appends `info string` lines about the best moves, the opening if its name is to be announced, and the move that is
    /// played with the length of its line.
    pub(super) fn list(
        &mut self,
        mode: CastlingMode,
        played: Option<(Move, u32)>,
        opening: Option<Opening>,
        out: &mut Vec<u8>,
    ) {
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
        list_refused(&self.refused, &mut self.text, mode, out);
        if let Some(opening) = opening {
            self.text.clear();
            self.text.push_str("opening ");
            self.text.push_str(opening.as_str());
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
        if let Some(number) = self.rule {
            text.push_str(", rule ");
            put_number(text, number as u64);
        }
        info_string(out, &self.text);
    }
}

fn list_refused(refused: &[(Move, Loss)], text: &mut String, mode: CastlingMode, out: &mut Vec<u8>) {
    for &(mv, loss) in refused.iter().take(SHOWN_MOVES) {
        refusal(text, mv, loss, mode);
        info_string(out, text);
    }
}

/// Says that a move is not played, and why: `e2e4 is passed over: it loses 110 centipawns (-30 instead of 80)`.
pub(super) fn refusal(text: &mut String, mv: Move, loss: Loss, mode: CastlingMode) {
    text.clear();
    mv.to_uci(mode).append_to_string(text);
    text.push_str(" is passed over: it loses ");
    put_number(text, loss.centipawns().into());
    text.push_str(" centipawns (");
    text.push_str(itoa::Buffer::new().format(loss.value));
    text.push_str(" instead of ");
    text.push_str(itoa::Buffer::new().format(loss.best));
    text.push(')');
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
        if let Some((points, ended)) = counts.results() {
            text.push_str(" score ");
            put_share(text, points / ended);
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

/// A number in decimal digits. std's formatter takes several times as long, and a move waits for it.
fn put_number(text: &mut String, number: u64) {
    text.push_str(itoa::Buffer::new().format(number));
}

#[cfg(test)]
mod tests {
    use shakmaty::Position as _;
    use tabiya_book::{Counts, Learned};

    use super::*;

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
