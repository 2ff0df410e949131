//! Why a move of a book is not played.

use serde::Serialize;
use shakmaty::Move;

use tabiya_book::choose::{Judge, Policy, Refusal};
use tabiya_book::{Annotation, MoveFacts, Recommendation};
use tabiya_workshop::view::View;

/// Why a move is not played: a code for programs, and words for people.
#[derive(Serialize)]
pub(super) struct Reason {
    code: Code,
    text: String,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Code {
    Weight,
    Threshold,
    Games,
    Late,
    Red,
    Bad,
    Blunder,
    Dubious,
    NotRecommended,
    Loss,
    Repeats,
    NotBest,
    Short,
}

/// Why each move of a view is not played; `None` where it is.
pub(super) fn of_moves(view: &View<'_>, policy: &Policy) -> Vec<Option<Reason>> {
    let facts: Vec<MoveFacts> = view.moves.iter().map(|(known, _)| *known).collect();
    let judge = Judge::new(&facts, policy);
    let covered = policy.covers(view.game.fullmove());
    let why = |known: &MoveFacts| {
        let code = match judge.refuses(known) {
            Some(Refusal::Verdict) => verdict(known),
            Some(Refusal::Threshold) => Code::Threshold,
            Some(Refusal::Games) => Code::Games,
            Some(_) => Code::Weight,
            None if !covered => Code::Late,
            None => later(view, policy, known.mv),
        };
        Reason { code, text: code.text(policy) }
    };
    view.moves.iter().map(|(known, chance)| (*chance <= 0.0).then(|| why(known))).collect()
}

impl Code {
    fn text(self, policy: &Policy) -> String {
        let text = match self {
            Self::Threshold => {
                return format!("played too rarely (below {} %)", f64::from(policy.threshold) / 10.0);
            }
            Self::Games => return format!("played in too few games (below {})", policy.games),
            Self::Weight => "weight 0",
            Self::Late => "after the last move played from the book",
            Self::Red => "red in the book",
            Self::Bad => "marked ? in the book",
            Self::Blunder => "marked ?? in the book",
            Self::Dubious => "marked ?! in the book",
            Self::NotRecommended => "the book recommends other moves",
            Self::Loss => "loses too much",
            Self::Repeats => "repeats the position",
            Self::NotBest => "not the best move",
            Self::Short => "line too short",
        };
        text.to_owned()
    }
}

/// What the book's colours and marks have against a move.
fn verdict(known: &MoveFacts) -> Code {
    match (known.recommended, known.annotation) {
        (Some(Recommendation::Red), _) => Code::Red,
        (_, Some(Annotation::Bad)) => Code::Bad,
        (_, Some(Annotation::Blunder)) => Code::Blunder,
        (_, Some(Annotation::Dubious)) => Code::Dubious,
        _ => Code::NotRecommended,
    }
}

/// What the positions after a move have against it.
fn later(view: &View<'_>, policy: &Policy, mv: Move) -> Code {
    if view.losses.loss_of(mv).is_some_and(|loss| policy.refuses(loss)) {
        Code::Loss
    } else if !policy.threefold && view.game.repeats(mv) {
        Code::Repeats
    } else if policy.variety == 0 && view.moves.iter().any(|(_, chance)| *chance > 0.0) {
        Code::NotBest
    } else {
        Code::Short
    }
}
