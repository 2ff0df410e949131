//! `/chessdb`: the interface of the chess cloud database (<https://www.chessdb.cn>), answered from one book.
//!
//! Scores are those of the evaluations beside the book, for the side to move, in centipawns; where there are none, they are
//! `??` or left out. What is played is what the adapter would play.

use std::cmp::Ordering;

use axum::response::Response;
use serde_json::{Map, Value, json};
use shakmaty::{Move, Position as _};

use tabiya_book::Counts;
use tabiya_book::choose::{Policy, draw};
use tabiya_search::evals::Store;
use tabiya_uci::Score;
use tabiya_workshop::view::{self, View};

use super::Explorer;
use super::answering::Playable;
use super::evaluated;
use super::fault::Fault;
use super::place::ShownPlace;
use super::position::looked_up;
use super::reply::{self, text};
use super::request::Query;
use super::shelf::{Opened, Slot};

/// Plies of a line that are answered at most.
const MAX_LINE: usize = 100;

/// The score of a mate at once; one ply later it is one less.
const MATE: i64 = 30_000;

/// Centipawns that raise the odds of winning by a factor of e.
const SCALE: f64 = 330.0;

/// What is answered: as JSON or as text.
#[derive(Debug)]
enum ChessdbAnswer {
    /// A word alone: the position is unknown, or the like.
    Word(&'static str),
    /// A move to play.
    Move(String),
    /// The score of the position.
    Score(i64),
    Line {
        score: i64,
        moves: Vec<String>,
        sans: Vec<String>,
    },
    Moves(Vec<ChessdbMove>),
}

#[derive(Debug)]
struct ChessdbMove {
    uci: String,
    san: String,
    score: Option<i64>,
    /// 2 the best, 1 one that the adapter would play, 0 one that it would not.
    rank: u8,
    /// The moves that the book has after it, and those of them that the adapter would play; `None` for a move that it does
    /// not have.
    after: Option<(usize, usize)>,
    /// What the side that moves scores, in per cent.
    winrate: Option<f64>,
}

pub(super) fn chessdb(explorer: &Explorer, query: &Query) -> Result<Response, Fault> {
    let said = said(explorer, query)?;
    let is_true = |word: &str| ["1", "true", "on", "yes"].contains(&&*word.to_ascii_lowercase());
    Ok(match query.get("json").is_some_and(is_true) {
        true => reply::json(&said.json()),
        false => text("text/plain; charset=utf-8", said.text()),
    })
}

fn said(explorer: &Explorer, query: &Query) -> Result<ChessdbAnswer, Fault> {
    let Some(board) = query.get("board") else { return Ok(ChessdbAnswer::Word("invalid parameters")) };
    let variant = query.variant()?.unwrap_or_default();
    let Ok(place) = ShownPlace::start(variant, Some(board)) else {
        return Ok(ChessdbAnswer::Word("invalid board"));
    };
    let slot = explorer.answering(query, &place)?;
    let open = slot.read();
    let asked = ChessdbBook { slot, open: &open, policy: &explorer.policy };
    let view = looked_up(slot, &open, &place, &explorer.policy)?;
    let store = open.evals.as_deref();
    Ok(match query.get("action").unwrap_or_default() {
        "queryall" => {
            let playable = if explorer.playable { Playable::from_view(&view) } else { Playable::All };
            let whole = query.get("showall").is_some_and(|word| word != "0") && !explorer.playable;
            asked.all(&view, &place, &playable, whole)
        }
        "query" | "querybest" => {
            let chances: Vec<f64> = view.moves.iter().map(|(_, chance)| *chance).collect();
            let drawn = draw(&chances, rand::random()).and_then(|index| view.moves.get(index));
            drawn.map_or(ChessdbAnswer::Word("nobestmove"), |(known, _)| {
                ChessdbAnswer::Move(place.uci(known.mv))
            })
        }
        "queryscore" => best(&view, store)
            .and_then(|(_, score)| score)
            .map_or(ChessdbAnswer::Word("unknown"), ChessdbAnswer::Score),
        "querypv" => asked.line(&place),
        _ => ChessdbAnswer::Word("invalid parameters"),
    })
}

/// The book that is asked.
struct ChessdbBook<'a> {
    slot: &'a Slot,
    open: &'a Opened,
    policy: &'a Policy,
}

impl ChessdbBook<'_> {
    /// The line of the best moves, for as long as the book knows what to play; unknown where its first move has no score.
    fn line(&self, place: &ShownPlace) -> ChessdbAnswer {
        let (mut at, mut seen) = (place.clone(), Vec::new());
        let (mut moves, mut sans, mut first) = (Vec::new(), Vec::new(), None);
        while moves.len() < MAX_LINE && !seen.contains(&at.game.position().whole_key()) {
            seen.push(at.game.position().whole_key());
            let view = looked_up(self.slot, self.open, &at, self.policy);
            let Some((mv, score)) = view.ok().and_then(|view| best(&view, self.open.evals.as_deref())) else {
                break;
            };
            if moves.is_empty() {
                first = score;
            }
            moves.push(at.uci(mv));
            sans.push(view::san(at.game.position(), mv));
            at.game.push(mv);
        }
        first.map_or(ChessdbAnswer::Word("unknown"), |score| ChessdbAnswer::Line { score, moves, sans })
    }

    /// All moves of the book that are `playable`, the best first, and all others that are legal if the `whole` is wanted.
    fn all(&self, view: &View<'_>, place: &ShownPlace, playable: &Playable, whole: bool) -> ChessdbAnswer {
        let at = place.game.position();
        let store = self.open.evals.as_deref();
        let mut known: Vec<_> = view.moves.iter().filter(|(known, _)| playable.takes(known.mv)).collect();
        known.sort_by(|(a, chance_a), (b, chance_b)| {
            let better = (chance_b > &0.0).cmp(&(chance_a > &0.0));
            better.then_with(|| by_worth(store, view, (b.mv, *chance_b), (a.mv, *chance_a)))
        });
        let mut lines = Vec::new();
        for (index, (facts, chance)) in known.into_iter().enumerate() {
            let score = score_of(store, view, facts.mv);
            let mut next = place.clone();
            next.game.push(facts.mv);
            let after = looked_up(self.slot, self.open, &next, self.policy).ok().map(|after| {
                (after.moves.len(), after.moves.iter().filter(|(_, chance)| *chance > 0.0).count())
            });
            let results = facts.counts.filter(|counts| counts.has_results()).and_then(Counts::results);
            let scored = || score.filter(|score| score.abs() < MATE / 3).map(odds);
            lines.push(ChessdbMove {
                uci: place.uci(facts.mv),
                san: view::san(at, facts.mv),
                score,
                rank: if *chance <= 0.0 { 0 } else { 1 + u8::from(index == 0) },
                after,
                winrate: results.map(|(points, games)| 100.0 * points / games).or_else(scored),
            });
        }
        let is_new = |mv: &Move| !view.moves.iter().any(|(known, _)| known.mv == *mv);
        let legal = at.chess().legal_moves();
        for mv in legal.iter().copied().filter(|mv| whole && is_new(mv)) {
            let (uci, san) = (place.uci(mv), view::san(at, mv));
            lines.push(ChessdbMove { uci, san, score: None, rank: 0, after: None, winrate: None });
        }
        match (lines.is_empty(), legal.is_empty(), at.chess().is_check()) {
            (false, ..) => ChessdbAnswer::Moves(lines),
            (_, true, true) => ChessdbAnswer::Word("checkmate"),
            (_, true, false) => ChessdbAnswer::Word("stalemate"),
            _ => ChessdbAnswer::Word("unknown"),
        }
    }
}

/// The best move that the adapter would play, and its score: the one with the highest score, or else the likeliest.
fn best(view: &View<'_>, store: Option<&Store>) -> Option<(Move, Option<i64>)> {
    let played = view.moves.iter().filter(|(_, chance)| *chance > 0.0);
    // Of equal ones the first, which is the likeliest.
    let best = played
        .rev()
        .max_by(|(a, chance_a), (b, chance_b)| by_worth(store, view, (a.mv, *chance_a), (b.mv, *chance_b)))?;
    Some((best.0.mv, score_of(store, view, best.0.mv)))
}

/// Compares moves by their scores, of which none is the worst, and then by their chances.
fn by_worth(store: Option<&Store>, view: &View<'_>, one: (Move, f64), other: (Move, f64)) -> Ordering {
    let score = |mv| score_of(store, view, mv);
    score(one.0).cmp(&score(other.0)).then_with(|| one.1.total_cmp(&other.1))
}

fn score_of(store: Option<&Store>, view: &View<'_>, mv: Move) -> Option<i64> {
    evaluated::of_move(store?, view.game.position(), mv).map(number)
}

/// A score as a number: that of a mate says after how many plies it is.
fn number(score: Score) -> i64 {
    match score {
        Score::Centipawns(score) => score.clamp(1 - MATE / 3, MATE / 3 - 1),
        Score::Mate(moves) if moves > 0 => MATE - moves.saturating_mul(2).saturating_sub(1).min(MATE / 3),
        Score::Mate(moves) => moves.saturating_mul(-2).min(MATE / 3) - MATE,
    }
}

/// What a score means in per cent of the points.
fn odds(score: i64) -> f64 {
    100.0 / (1.0 + (-(score as f64) / SCALE).exp())
}

impl ChessdbMove {
    fn note(&self) -> String {
        let sign = match self.rank {
            2 => '!',
            1 => '*',
            _ => '?',
        };
        match self.after {
            Some((all, good)) => format!("{sign} ({all:02}-{good:02})"),
            None => format!("{sign} (??-??)"),
        }
    }

    fn json(&self) -> Value {
        let score = self.score.map_or_else(|| json!("??"), |score| json!(score));
        let mut line = json!({ "uci": self.uci, "san": self.san, "score": score, "rank": self.rank, "note": self.note() });
        if let Some((winrate, line)) = self.winrate.zip(line.as_object_mut()) {
            line.insert("winrate".to_owned(), json!(format!("{winrate:.2}")));
        }
        line
    }

    fn text(&self) -> String {
        // Of a move that it knows the database always knows the score, and clients read a number.
        let score = match (self.score, self.after) {
            (Some(score), _) => format!("score:{score},"),
            (None, Some(_)) => String::new(),
            (None, None) => "score:??,".to_owned(),
        };
        let winrate = self.winrate.map_or_else(String::new, |winrate| format!(",winrate:{winrate:.2}"));
        format!("move:{},{score}rank:{},note:{}{winrate}", self.uci, self.rank, self.note())
    }
}

impl ChessdbAnswer {
    fn json(&self) -> Value {
        let mut fields = Map::new();
        let status = if let Self::Word(word) = self { word } else { "ok" };
        fields.insert("status".to_owned(), json!(status));
        let more = match self {
            Self::Word(_) => json!({}),
            Self::Move(mv) => json!({ "move": mv }),
            Self::Score(score) => json!({ "eval": score }),
            Self::Line { score, moves, sans } => {
                json!({ "score": score, "depth": moves.len(), "pv": moves, "pvSAN": sans })
            }
            Self::Moves(moves) => json!({ "moves": moves.iter().map(ChessdbMove::json).collect::<Vec<_>>() }),
        };
        if let Value::Object(more) = more {
            fields.extend(more);
        }
        Value::Object(fields)
    }

    fn text(&self) -> String {
        match self {
            Self::Word(word) => (*word).to_owned(),
            Self::Move(mv) => format!("move:{mv}"),
            Self::Score(score) => format!("eval:{score}"),
            Self::Line { score, moves, .. } => {
                format!("score:{score},depth:{},pv:{}", moves.len(), moves.join("|"))
            }
            Self::Moves(moves) => moves.iter().map(ChessdbMove::text).collect::<Vec<_>>().join("|"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mate_is_a_score_near_the_highest() {
        // As clients read it: the moves to the mate.
        let moves = |score: i64| (MATE - score.abs() + 1) / 2;
        for mate in [1, 2, 3, 17] {
            assert_eq!(
                (number(Score::Mate(mate)), moves(number(Score::Mate(mate)))),
                (MATE + 1 - 2 * mate, mate)
            );
            assert_eq!((number(Score::Mate(-mate)) < 0, moves(number(Score::Mate(-mate)))), (true, mate));
        }
        assert_eq!((number(Score::Centipawns(35)), number(Score::Centipawns(-i64::MAX))), (35, 1 - MATE / 3));
        assert_eq!(
            (format!("{:.2}", odds(0)), format!("{:.2}", odds(330))),
            ("50.00".to_owned(), "73.11".to_owned())
        );
    }

    #[test]
    fn moves_are_written_as_clients_read_them() {
        let line = |score, rank, after, winrate| {
            ChessdbAnswer::Moves(vec![ChessdbMove {
                uci: "e2e4".into(),
                san: "e4".into(),
                score,
                rank,
                after,
                winrate,
            }])
        };
        let known = line(Some(15), 2, Some((20, 3)), Some(51.136));
        assert_eq!(known.text(), "move:e2e4,score:15,rank:2,note:! (20-03),winrate:51.14");
        assert_eq!(
            known.json().to_string(),
            r#"{"status":"ok","moves":[{"uci":"e2e4","san":"e4","score":15,"rank":2,"note":"! (20-03)","winrate":"51.14"}]}"#
        );
        assert_eq!(line(None, 1, Some((2, 1)), None).text(), "move:e2e4,rank:1,note:* (02-01)");
        let unknown = line(None, 0, None, None);
        assert_eq!(unknown.text(), "move:e2e4,score:??,rank:0,note:? (??-??)");
        assert_eq!(unknown.json()["moves"][0]["score"], "??");
        assert_eq!(ChessdbAnswer::Word("unknown").json().to_string(), r#"{"status":"unknown"}"#);
    }
}
