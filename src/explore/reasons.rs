//! Why a move of a book is not played, in words.

use std::borrow::Cow;

use shakmaty::Move;

use crate::book::{Annotation, MoveFacts, Recommendation};
use crate::choose::{Judge, Policy, Refusal};
use crate::view::View;

/// Why each move of a view is not played; `None` where it is.
pub(super) fn of_moves(view: &View<'_>, policy: &Policy) -> Vec<Option<Cow<'static, str>>> {
    let facts: Vec<MoveFacts> = view.moves.iter().map(|(known, _)| *known).collect();
    let judge = Judge::new(&facts, policy);
    let covered = policy.covers(view.game.fullmove());
    let why = |known: &MoveFacts| -> Cow<'static, str> {
        match judge.refuses(known) {
            Some(Refusal::Verdict) => verdict(known).into(),
            Some(Refusal::Weight) => "weight 0".into(),
            Some(Refusal::Threshold) => {
                format!("played too rarely (below {} %)", f64::from(policy.threshold) / 10.0).into()
            }
            Some(Refusal::Games) => format!("played in too few games (below {})", policy.games).into(),
            None if !covered => "after the last move played from the book".into(),
            None => later(view, policy, known.mv).into(),
        }
    };
    view.moves.iter().map(|(known, chance)| (*chance <= 0.0).then(|| why(known))).collect()
}

/// What the book's colours and marks have against a move.
fn verdict(known: &MoveFacts) -> &'static str {
    match (known.recommended, known.annotation) {
        (Some(Recommendation::Red), _) => "red in the book",
        (_, Some(Annotation::Bad)) => "marked ? in the book",
        (_, Some(Annotation::Blunder)) => "marked ?? in the book",
        (_, Some(Annotation::Dubious)) => "marked ?! in the book",
        _ => "the book recommends other moves",
    }
}

/// What the positions after a move have against it.
fn later(view: &View<'_>, policy: &Policy, mv: Move) -> &'static str {
    if view.losses.loss_of(mv).is_some_and(|loss| policy.refuses(loss)) {
        "loses too much"
    } else if !policy.threefold && view.game.repeats(mv) {
        "repeats the position"
    } else if policy.variety == 0 && view.moves.iter().any(|(_, chance)| *chance > 0.0) {
        "not the best move"
    } else {
        "line too short"
    }
}
