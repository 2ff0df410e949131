//! The results and ratings of a move, as the page shows them.

use serde_json::{Map, Value, json};
use shakmaty::Color;

use tabiya_book::{Counts, MoveFacts};

/// Adds the results as seen from White, the score, and the ratings. The keys `wins`, `draws` and `losses` are the mover's.
pub(super) fn extend(object: &mut Map<String, Value>, known: &MoveFacts, turn: Color) {
    let results = known.counts.filter(|counts| counts.has_results());
    let (white, black) = split(results, turn);
    let score = results.and_then(Counts::results).map(|(points, games)| points / games);
    object.insert("white".to_owned(), json!(white));
    object.insert("black".to_owned(), json!(black));
    object.insert("score".to_owned(), json!(score));
    object.insert("average".to_owned(), json!(known.ratings.and_then(|ratings| ratings.average)));
    object.insert("factor".to_owned(), json!(known.factor));
    object.insert("performance".to_owned(), json!(known.ratings.and_then(|ratings| ratings.performance)));
}

/// The games that White and Black won.
pub(super) fn split(counts: Option<Counts>, turn: Color) -> (Option<u64>, Option<u64>) {
    let Some(counts) = counts else { return (None, None) };
    let (white, black) = turn.fold_wb((counts.wins, counts.losses), (counts.losses, counts.wins));
    (Some(white), Some(black))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_seen_from_white() {
        let counts = Some(Counts { games: 10, wins: 5, draws: 3, losses: 2 });
        assert_eq!(split(counts, Color::White), (Some(5), Some(2)));
        assert_eq!(split(counts, Color::Black), (Some(2), Some(5)));
        assert_eq!(split(None, Color::Black), (None, None));
    }
}
