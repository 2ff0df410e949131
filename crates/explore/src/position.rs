//! `/api/books`, `/api/view`, `/api/position`: what the books say of a position.

use axum::response::Response;
use serde_json::{Value, json};
use shakmaty::{Move, Position as _};

use tabiya_adapter::settings::form;
use tabiya_base::parallel::processors;
use tabiya_book::choose::{Policy, Worth};
use tabiya_book::traits::Book;
use tabiya_book::{Among, Evaluations as _};
use tabiya_chess::openings::Opening;
use tabiya_workshop::edit;
use tabiya_workshop::view::{self, View, game_line};

use super::fault::Fault;
use super::narrowed::Narrowed;
use super::place::ShownPlace;
use super::reply::{json, text};
use super::request::Query;
use super::results::extend;
use super::shelf::{Opened, Slot, lines_of};
use super::variants::end_of;
use super::{Explorer, Variant, evaluated, reasons};

/// Plies of a reserve that are reported at most.
const MAX_RESERVE: u32 = 60;

/// Plies back to which a position with a choice is looked for.
const MAX_BACK: usize = 200;

pub(super) fn books(explorer: &Explorer, _: &Query) -> Result<Response, Fault> {
    Ok(json(&all_books(explorer)))
}

/// The books, and what the server does with them.
pub(super) fn all_books(explorer: &Explorer) -> Value {
    let books = explorer.shelf.slots().iter().enumerate();
    let books = books.map(|(id, slot)| slot.describe(id, explorer.edit));
    let games = explorer.games_book().map(|(id, games)| games.describe(id));
    let books: Vec<Value> = books.chain(games).collect();
    let mut all = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "edit": explorer.edit,
        "engine": explorer.engines.name(),
        "threads": processors(),
        "settings": explorer.settings.is_ok(),
        "games": explorer.games.is_some(),
        "sliders": form::sliders(&explorer.policy),
        "books": books,
    });
    if let Some((all, variants)) = all.as_object_mut().zip(explorer.shown_variants()) {
        all.insert("variant".to_owned(), json!(explorer.variant.uci()));
        all.insert("variants".to_owned(), variants);
    }
    all
}

/// `/api/position`: the line of `show --json`.
pub(super) fn position(explorer: &Explorer, query: &Query) -> Result<Response, Fault> {
    let place = match query.get("fen") {
        Some(fen) => ShownPlace::start(explorer.variant_of(query)?, Some(fen))?,
        None => explorer.place(query)?,
    };
    let policy = query.policy(&explorer.policy)?;
    let slot = explorer.book(query, place.variant())?;
    let open = slot.read();
    let view = looked_up(slot, &open, &place, &policy)?;
    let mut line = Vec::new();
    view::json::line(&view, &mut line).map_err(|error| Fault::io(error.to_string()))?;
    Ok(text("application/json", line))
}

pub(super) fn view(explorer: &Explorer, query: &Query) -> Result<Response, Fault> {
    Ok(json(&viewed(explorer, query)?))
}

/// What the books say of the position of a request.
///
/// # Errors
/// When the request is wrong.
pub(super) fn viewed(explorer: &Explorer, query: &Query) -> Result<Value, Fault> {
    let place = explorer.place(query)?;
    let policy = query.policy(&explorer.policy)?;
    let among = query.among()?;
    let ids = explorer.books_of(query, place.variant())?;
    let chess = place.game.position().chess();
    let by_rule = end_of(place.game.position());
    let end = if let Some((rule, _)) = by_rule {
        Some(rule)
    } else if chess.is_checkmate() {
        Some("checkmate")
    } else if chess.is_stalemate() {
        Some("stalemate")
    } else {
        chess.is_insufficient_material().then_some("insufficient material")
    };
    let mut books = Vec::new();
    for id in &ids {
        if let Some(slot) = explorer.shelf.get(*id) {
            books.push(book(slot, *id, &place, &policy, &among));
        }
    }
    let found = books.iter().any(|book| book.get("found") == Some(&Value::Bool(true)));
    let past = Past::new(explorer, &ids, &place, &policy, found);
    if let Some((id, games)) = explorer.games_book().filter(|(id, _)| ids.contains(id)) {
        books.push(games.book(id, &place, &games.wanted_by(query)?));
    }
    let mut said = json!({
        "start": place.start_fen(),
        "fen": place.game.position().fen(),
        "turn": chess.turn().to_string(),
        "check": chess.is_check(),
        "end": end,
        "line": line(&place),
        "opening": Opening::from_game(&place.game),
        "legal": legal(&place),
        "books": books,
        "ancestor": past.ancestor.map(|ply| json!({ "ply": ply })),
        "choice": past.choice.map(|ply| json!({ "ply": ply })),
        "book_end": past.end,
    });
    if let Some(said) = said.as_object_mut().filter(|_| place.variant() != Variant::Chess) {
        said.insert("variant".to_owned(), json!(place.variant().uci()));
        // What ended it, `end` says; a mate is for the side that mates, as ever.
        said.extend(by_rule.map(|(_, winner)| ("winner".to_owned(), json!(winner))));
    }
    Ok(said)
}

/// Looks a position up in a book under the rule that acts there, if the configuration has rules for it.
///
/// # Errors
/// When the book is not open.
pub(super) fn looked_up<'a>(
    slot: &Slot,
    open: &'a Opened,
    place: &'a ShownPlace,
    policy: &Policy,
) -> Result<View<'a>, Fault> {
    let book = open.book.as_ref().map_err(Fault::io)?;
    Ok(looked_up_under(&policy_of(slot, open, place, policy), &**book, open, place))
}

/// The policy of the rule that acts in a position.
fn policy_of(slot: &Slot, open: &Opened, place: &ShownPlace, policy: &Policy) -> Policy {
    rule_of(slot, open, place, policy).map_or_else(|| policy.clone(), |(_, policy)| policy)
}

/// Looks a position up under a policy, in the open book or a part of it.
fn looked_up_under<'a>(
    policy: &Policy,
    book: &'a dyn Book,
    open: &'a Opened,
    place: &'a ShownPlace,
) -> View<'a> {
    let mut view = View::look_up(book, (&mut lines_of(open), 0), &place.game, place.mode, policy);
    let moves = view.moves.iter().map(|(known, _)| known.mv);
    view.worth =
        open.evals.as_ref().map(|store| Worth::at(place.game.position(), moves, |at| store.value(at)));
    view
}

/// The first rule for the side to move under which the book plays a move here, else the first for that side: its words, and
/// its policy.
fn rule_of(slot: &Slot, open: &Opened, place: &ShownPlace, policy: &Policy) -> Option<(String, Policy)> {
    let turn = place.game.position().chess().turn();
    let rules = slot.rules.iter().filter(|(_, rule)| rule.color().is_none_or(|color| color == turn));
    let mut rules = rules.map(|(number, rule)| (format!("rule {number}: {rule}"), rule.policy(policy)));
    let first = rules.next()?;
    let Ok(book) = &open.book else { return Some(first) };
    let plays = |policy: &Policy| {
        View::look_up(&**book, (&mut lines_of(open), 0), &place.game, place.mode, policy).line.is_some()
    };
    if plays(&first.1) { Some(first) } else { rules.find(|(_, policy)| plays(policy)).or(Some(first)) }
}

/// What a book says, for the page.
fn book(slot: &Slot, id: usize, place: &ShownPlace, policy: &Policy, among: &Among) -> Value {
    let open = slot.read();
    let unread =
        |why: &str| json!({ "id": id, "name": slot.name(), "found": false, "error": why, "moves": [] });
    let known = match &open.book {
        Ok(book) => book,
        Err(why) => return unread(why),
    };
    let rule = rule_of(slot, &open, place, policy);
    let policy = rule.as_ref().map_or(policy, |(_, policy)| policy);
    let narrowed = Narrowed::new(&**known, among);
    let known = narrowed.as_ref().map_or(&**known, |narrowed| -> &dyn Book { narrowed });
    let view = looked_up_under(policy, known, &open, place);
    let games = sum(&view);
    let here = here(known, place);
    json!({
        "id": id,
        "name": slot.name(),
        "found": !view.moves.is_empty(),
        "games": games,
        "here": here,
        "elsewhere": games.zip(here).map(|(games, here)| games.saturating_sub(here)),
        "reserve": view.line.map(|plies| plies.min(MAX_RESERVE)),
        "growth": open.growth.as_ref().map(|growth| growth.find(place.game.position()).collect::<Vec<_>>()),
        "comment": view.comment,
        "game": view.reference.as_ref().map(game_line),
        "rule": rule.as_ref().map(|(rule, _)| rule),
        "moves": moves(&view, &open, policy),
    })
}

/// The games of all moves, where the format counts them.
fn sum(view: &View<'_>) -> Option<u64> {
    let mut counts = view.moves.iter().filter_map(|(known, _)| known.counts).peekable();
    counts.peek()?;
    Some(counts.map(|counts| counts.games).fold(0, u64::saturating_add))
}

/// The games that came by the line's last move.
fn here(book: &dyn Book, place: &ShownPlace) -> Option<u64> {
    let last = *place.game.moves().last()?;
    let before = place.up_to(place.game.moves().len().saturating_sub(1));
    let moves = book.moves_in(before.game.position());
    moves.iter().find(|known| known.mv == last)?.counts.map(|counts| counts.games)
}

/// The moves of a view: what `show --json` says of each, and what the page needs besides.
fn moves(view: &View<'_>, open: &Opened, policy: &Policy) -> Vec<Value> {
    let at = view.game.position();
    let turn = at.chess().turn();
    let why = reasons::of_moves(view, policy);
    let mut out = Vec::with_capacity(view.moves.len());
    for ((known, chance), why) in view.moves.iter().zip(why) {
        let line = serde_json::to_value(view::json::MoveJson::new(view, known, *chance));
        let Ok(Value::Object(mut object)) = line else { continue };
        let eval = open.evals.as_ref().and_then(|store| evaluated::of_move(store, at, known.mv));
        let loss = view.worth.as_ref().and_then(|worth| worth.loss(known.mv));
        extend(&mut object, known, turn);
        if let Some((name, number)) = edit::own_number(view.book, at, known.mv) {
            object.insert(name.to_owned(), json!(number));
        }
        object.insert("why".to_owned(), json!(why));
        object.insert("eval".to_owned(), eval.map_or(Value::Null, evaluated::json_of));
        object.insert("loss".to_owned(), json!(loss));
        object.insert("opening".to_owned(), json!(Opening::at(&at.after(known.mv))));
        out.push(Value::Object(object));
    }
    out
}

/// The moves of the line, each with the position after it.
fn line(place: &ShownPlace) -> Vec<Value> {
    let mut at = place.game.start_position().clone();
    let step = |mv: &Move| {
        let (uci, san) = (place.uci(*mv), view::san(&at, *mv));
        at.play(*mv);
        json!({ "uci": uci, "san": san, "fen": at.fen(), "opening": Opening::at(&at) })
    };
    place.game.moves().iter().map(step).collect()
}

fn legal(place: &ShownPlace) -> Vec<Value> {
    let at = place.game.position();
    let one = |mv: Move| {
        let uci = place.uci(mv);
        let square = |from: usize| uci.get(from..from + 2);
        json!({
            "uci": uci,
            "san": view::san(at, mv),
            "from": square(0),
            "to": square(2),
            "promotion": mv.promotion().map(|role| role.char().to_string()),
        })
    };
    at.chess().legal_moves().into_iter().map(one).collect()
}

/// What the earlier positions of a line say.
#[derive(Default)]
struct Past {
    /// The nearest earlier ply that some book knows, where none knows the position.
    ancestor: Option<usize>,
    /// The last earlier ply with more than one playable move.
    choice: Option<usize>,
    /// The plies in the book, where it ended with the last of them.
    end: Option<usize>,
}

impl Past {
    fn new(explorer: &Explorer, ids: &[usize], place: &ShownPlace, policy: &Policy, found: bool) -> Self {
        let mut past = Self::default();
        let plies = place.game.moves().len();
        for ply in (plies.saturating_sub(MAX_BACK)..plies).rev() {
            let earlier = place.up_to(ply);
            for slot in ids.iter().filter_map(|id| explorer.shelf.get(*id)) {
                let open = slot.read();
                let Ok(book) = &open.book else { continue };
                let moves = book.moves_in(earlier.game.position());
                if moves.is_empty() {
                    continue;
                }
                if !found && past.ancestor.is_none() {
                    past.ancestor = Some(ply);
                    if ply + 1 == plies {
                        let is_known = |mv: Option<&Move>| moves.iter().any(|known| Some(&known.mv) == mv);
                        past.end = Some(if is_known(place.game.moves().last()) { plies } else { ply });
                    }
                }
                if past.choice.is_none() && moves.len() > 1 {
                    let playable = looked_up(slot, &open, &earlier, policy);
                    let many =
                        |view: View<'_>| view.moves.iter().filter(|(_, chance)| *chance > 0.0).count() > 1;
                    past.choice = playable.is_ok_and(many).then_some(ply);
                }
            }
            if past.choice.is_some() && (found || past.ancestor.is_some()) {
                break;
            }
        }
        past
    }
}

/// The next position along the likeliest moves at which some book has more than one playable move: the moves to it, none if
/// there is no such position.
pub(super) fn next(explorer: &Explorer, query: &Query) -> Result<Response, Fault> {
    let place = explorer.place(query)?;
    let policy = query.policy(&explorer.policy)?;
    let among = query.among()?;
    let ids = explorer.books_of(query, place.variant())?;
    let mut at = place.clone();
    let mut play = Vec::new();
    let mut seen: Vec<u64> = Vec::new();
    while play.len() < MAX_BACK && !seen.contains(&at.game.position().whole_key()) {
        seen.push(at.game.position().whole_key());
        let mut best: Option<(f64, Move)> = None;
        let mut many = false;
        for slot in ids.iter().filter_map(|id| explorer.shelf.get(*id)) {
            let open = slot.read();
            let Ok(book) = &open.book else { continue };
            let narrowed = Narrowed::new(&**book, &among);
            let book = narrowed.as_ref().map_or(&**book, |narrowed| -> &dyn Book { narrowed });
            let view = looked_up_under(&policy_of(slot, &open, &at, &policy), book, &open, &at);
            let playable = || view.moves.iter().filter(|(_, chance)| *chance > 0.0);
            many |= playable().count() > 1;
            if let Some((known, chance)) = playable().next()
                && best.is_none_or(|(most, _)| *chance > most)
            {
                best = Some((*chance, known.mv));
            }
        }
        if many && !play.is_empty() {
            return Ok(json(&json!({ "play": play })));
        }
        let Some((_, mv)) = best else { break };
        play.push(at.uci(mv));
        at.game.push(mv);
    }
    Ok(json(&json!({ "play": [] })))
}
