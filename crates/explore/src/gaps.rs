//! `/api/gaps`: what games reach from a position on, and a book has no answer to.

use axum::response::Response;
use serde_json::{Value, json};
use shakmaty::Position as _;

use tabiya_base::progress::Progress;
use tabiya_book::{Counts, MoveFacts, Moves};
use tabiya_chess::Position;
use tabiya_workshop::expected::Expected;
use tabiya_workshop::gaps::{GapSearch, Gaps, ReachedPosition, in_words, plays};
use tabiya_workshop::view::{PositionLine, san};

use super::Explorer;
use super::fault::Fault;
use super::games::{GamesOfPosition, Wanted};
use super::narrowed::Narrowed;
use super::place::ShownPlace;
use super::reply::json;
use super::request::Query;
use super::words;

/// The source that means the games of the page; others are numbers of books.
const GAMES: &str = "games";

/// Plies that are followed from the position on.
const PLIES: u32 = 40;

/// The least share of a position that is listed.
const MIN_SHARE: f64 = 0.001;

/// Rows of a list.
const ROWS: usize = 50;

/// What games reach of a book for a side; `against` has the sources in order, each behind the one before.
pub(super) fn gaps(explorer: &Explorer, query: &Query) -> Result<Response, Fault> {
    let place = explorer.place(query)?;
    let open = |id: Option<usize>| {
        let slot = match id {
            Some(id) => explorer.book_of(id, place.variant())?,
            None => explorer.book(query, place.variant())?,
        };
        // The book may be edited while it is followed.
        slot.read().book.as_ref().map(std::sync::Arc::clone).map_err(Fault::io)
    };
    let book = open(None)?;
    let side = query.color("side")?.ok_or_else(|| Fault::bad("side: write white or black"))?;
    let named: Vec<&str> = query.list("against").collect();
    let numbers = named.iter().filter(|name| **name != GAMES);
    let number = |name: &&str| {
        name.parse().map_err(|_| Fault::bad(format!("against: write {GAMES}, or numbers of books")))
    };
    let others = numbers.map(|name| open(Some(number(name)?))).collect::<Result<Vec<_>, _>>()?;
    let among = query.among()?;
    let narrowed: Vec<_> = others.iter().map(|book| (book, Narrowed::new(&**book, &among))).collect();
    let others = narrowed
        .iter()
        .map(|(book, narrowed)| -> &dyn Moves { narrowed.as_ref().map_or(&***book, |narrowed| narrowed) });
    let wants_games = named.is_empty() || named.contains(&GAMES);
    let games = explorer.games.as_ref().filter(|games| wants_games && games.variant() == place.variant());
    if named.is_empty() && games.is_none() {
        return Err(Fault::not_found(words::GAMES));
    }
    let games = games.map(|games| Ok::<_, Fault>((games, games.wanted_by(query)?))).transpose()?;
    let played = |at: &Position, out: &mut Vec<MoveFacts>| {
        if let Some((games, wanted)) = &games {
            add_played(games, wanted, at, out);
        }
    };
    let expected = Expected::new(others).behind(&played);
    let plies = u32::try_from(place.game.moves().len()).unwrap_or(u32::MAX).saturating_add(PLIES);
    let rare = query.get("rare").is_some();
    let search = GapSearch { start: place.game.clone(), side, plies, min_share: MIN_SHARE, rare };
    let found = Gaps::find(&*book, &expected, &search, &Progress::none())?;
    Ok(json(&answer(&found, &place, &*book)))
}

/// Adds the moves that were played in the games that are wanted, with how often; of a player who is wanted, his own.
fn add_played(games: &GamesOfPosition, wanted: &Wanted, at: &Position, out: &mut Vec<MoveFacts>) {
    let (turn, found) = (at.chess().turn(), games.at(at));
    // Games that ended here have a move that is none.
    let facts = wanted.with(turn).played_in(&found).into_iter().filter_map(|played| played.facts(at));
    out.extend(facts.map(|facts| MoveFacts {
        counts: facts.counts.map(|counts| Counts { games: counts.games, ..Counts::default() }),
        weight: 0,
        ratings: None,
        ..facts
    }));
}

/// What the page shows of it.
fn answer(found: &Gaps, place: &ShownPlace, book: &dyn Moves) -> Value {
    let row = |at: &ReachedPosition, line: &PositionLine| {
        let start = place.game.start_position().clone();
        let play: Vec<String> = start.replay(found.moves(at)).map(|(_, mv)| place.uci(mv)).collect();
        let words = in_words(at.share);
        json!({ "play": play, "line": line.text, "share": at.share.min(1.0), "games": at.games, "words": words })
    };
    let with = |mut row: Value, name: &str, value: Value| {
        if let Some(row) = row.as_object_mut() {
            row.insert(name.to_owned(), value);
        }
        row
    };
    let gaps = found.gaps.iter().take(ROWS).map(|at| row(at, &found.line(at)));
    let choices = found.choices.iter().take(ROWS).map(|at| {
        let line = found.line(at);
        let moves: Vec<Value> = plays(book, &line.at)
            .into_iter()
            .map(|(mv, chance)| json!({ "san": san(&line.at, mv), "chance": chance }))
            .collect();
        with(row(at, &line), "plays", json!(moves))
    });
    let rare = found.rare.as_ref().map(|rare| {
        let rows = rare.iter().take(ROWS);
        rows.map(|rare| with(row(&rare.at, &found.line(&rare.at)), "positions", json!(rare.positions)))
            .collect::<Vec<_>>()
    });
    let plies = found.answers.iter().filter(|of| of.reached > 0.0);
    json!({
        "side": found.side.to_string(),
        "answered": found.answered(),
        "known": !found.knows_nothing(),
        "plies": plies
            .map(|of| json!({ "ply": of.ply, "reached": of.reached.min(1.0), "answered": of.answered / of.reached }))
            .collect::<Vec<_>>(),
        "gaps": gaps.collect::<Vec<_>>(),
        "more": found.gaps.len().saturating_sub(ROWS),
        "smaller": { "count": found.smaller.0, "words": in_words(found.smaller.1) },
        "choices": choices.collect::<Vec<_>>(),
        "rare": rare,
    })
}
