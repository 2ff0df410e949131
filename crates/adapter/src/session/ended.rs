//! The end of a game: its result, in words and as a game to learn.

use std::sync::Arc;

use log::Level;
use shakmaty::{ByColor, Color, KnownOutcome};

use tabiya_book::Format;
use tabiya_learn::{FinishedGame, Source};

use super::gui::Gui;
use super::lengths::Lengths;
use super::output::Output;
use super::played::{LearnableBook, PlayedGame};
use super::verdict::{Evidence, Why};

/// A game that has ended.
pub(super) struct Ended {
    pub(super) number: u32,
    /// The number of its moves before the first request.
    pub(super) first: usize,
    /// The books that it was played from.
    pub(super) sources: Arc<[LearnableBook]>,
    /// The name of the opponent, if one was announced.
    pub(super) opponent: String,
    pub(super) evidence: Evidence,
}

impl Ended {
    /// Reports the result, and asks for the game to be learned. `margin` is in centipawns; games of these lengths came
    /// `before`.
    pub(super) fn conclude(self, margin: u32, before: &mut Lengths, gui: &mut Gui, out: &mut Output) {
        let Self { number, first, sources, opponent, evidence } = self;
        let verdict = evidence.verdict_after(before, margin);
        let Evidence { game, color, .. } = evidence;
        let side = color.fold_wb("White", "Black");
        let result = match verdict.outcome {
            Some(KnownOutcome::Draw) => "drawn",
            Some(KnownOutcome::Decisive { winner }) if winner == color => "won",
            Some(KnownOutcome::Decisive { .. }) => "lost",
            None => "of unknown result",
        };
        let against = if opponent.is_empty() { opponent } else { format!(" against {opponent}") };
        let plies = game.moves().len();
        let mut message = format!("game {number} as {side}, {plies} plies, is {result}: {}", verdict.why);
        let Some(outcome) = verdict.outcome else {
            message.push_str("; it is not learned");
            // In analysis there would be a message for each position.
            return match verdict.why {
                Why::Short | Why::Analysis | Why::Jumped => out.note(Level::Info, message),
                _ => gui.report(Level::Info, message, out),
            };
        };
        if sources.is_empty() {
            let learning = Format::learning().map_or("book", Format::singular);
            message = format!("{message}; there is no {learning} to learn it into");
            return gui.report(Level::Info, message, out);
        }
        let game = FinishedGame {
            start: game.start_position().clone(),
            moves: game.moves().to_vec(),
            first,
            sides: ByColor { white: color == Color::White, black: color == Color::Black },
            result: outcome,
            note: format!("game {number} as {side}, {result}{against}: {}", verdict.why),
        };
        let source = if verdict.why == Why::Scores { Source::Scores } else { Source::Board };
        out.finished.push(PlayedGame { sources, game, source, verdict: message });
    }
}
