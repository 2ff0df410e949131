//! Why a move of a book is not played.

use serde::Serialize;

use tabiya_book::choose::{Policy, Refusal};
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
    /// What the page has no word of its own for.
    Other,
}

/// Why each move of a view is not played; `None` where it is.
pub(super) fn of_moves(view: &View<'_>, policy: &Policy) -> Vec<Option<Reason>> {
    let code = |known: &MoveFacts, refusal| match refusal {
        Refusal::Verdict => verdict(known),
        Refusal::Threshold => Code::Threshold,
        Refusal::Games => Code::Games,
        Refusal::Depth => Code::Late,
        Refusal::Loss => Code::Loss,
        Refusal::Repeats => Code::Repeats,
        Refusal::NotBest => Code::NotBest,
        Refusal::Reserve { .. } => Code::Short,
        Refusal::Weight => Code::Weight,
        _ => Code::Other,
    };
    let reason = |known, refusal: Refusal| {
        let code = code(known, refusal);
        Reason { code, text: code.text(policy).unwrap_or_else(|| refusal.words(policy)) }
    };
    let all = view.moves.iter().zip(&view.refused.each);
    all.map(|((known, _), refusal)| refusal.map(|refusal| reason(known, refusal))).collect()
}

impl Code {
    /// The words of the page; `None` where it has none.
    fn text(self, policy: &Policy) -> Option<String> {
        let text = match self {
            Self::Other => return None,
            Self::Threshold => {
                return Some(format!("played too rarely (below {} %)", f64::from(policy.threshold) / 10.0));
            }
            Self::Games => return Some(format!("played in too few games (below {})", policy.games)),
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
        Some(text.to_owned())
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
