//! `/api/edit`, `/api/undo`, `/api/redo`: each change is on the disk before it is answered.
//!
//! What a page showed before comes with each change, and is compared with the book at the moment of writing: an edit that
//! somebody else has made in between is reported, never overwritten. Edits of Polyglot books are in their journals, and can be
//! taken back whenever; those of other books only while this server runs.

mod history;
mod value;

use std::path::Path;
use std::sync::PoisonError;
use std::time::Instant;

use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use shakmaty::uci::UciMove;
use shakmaty::{Move, Position as _};

pub(super) use self::history::History;
use self::history::{Made, Way};
use self::value::{Wanted, shown};
use super::Explorer;
use super::fault::Fault;
use super::place::Place;
use super::router::json;
use super::shelf::Slot;
use crate::book::edit::Change;
use crate::book::{self, Format};
use crate::chess::{Game, notation};
use crate::edit;
use crate::learn::{Attempt, Learner, MadeEdit};
use crate::view::san;

/// What is done to a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Op {
    Set,
    Add,
    Delete,
}

/// The body of `/api/edit`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    book: usize,
    #[serde(default)]
    start: Option<String>,
    #[serde(default)]
    play: Vec<String>,
    #[serde(rename = "move")]
    mv: String,
    op: Op,
    #[serde(default)]
    value: Value,
    #[serde(default)]
    expect: Value,
}

/// The body of `/api/undo` and `/api/redo`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    book: usize,
}

/// A move that is edited, and where.
struct Target<'a> {
    place: &'a Place,
    mv: Move,
    note: String,
}

/// How books of a format can be edited: what a number may be, or that moves have colours and marks.
pub(super) fn editable(format: &str) -> Option<Value> {
    let (weight, priority, looks) = match format {
        "polyglot" => (json!({ "min": 0, "max": u16::MAX }), Value::Null, Value::Null),
        "kvetka" => (json!({ "min": 0, "max": u32::MAX }), Value::Null, Value::Null),
        "abk" => (Value::Null, json!({ "min": 0, "max": 9 }), Value::Null),
        "ctg" => (Value::Null, Value::Null, json!(true)),
        _ => return None,
    };
    let whole = format != "polyglot";
    Some(json!({ "weight": weight, "priority": priority, "looks": looks, "undo": true, "whole": whole }))
}

/// `/api/edit`.
pub(super) fn edit(explorer: &Explorer, body: &[u8]) -> Result<Response, Fault> {
    let began = Instant::now();
    let request: Request = read(body)?;
    let (slot, path) = writable(explorer, request.book)?;
    let place = Place::read(request.start.as_deref(), request.play.iter().map(String::as_str))?;
    let at = place.game.position();
    let mv = UciMove::from_ascii(request.mv.as_bytes()).ok().and_then(|uci| uci.to_move(at.chess()).ok());
    let mv =
        mv.ok_or_else(|| Fault::illegal(format!("{:?} is not a legal move in {}", request.mv, at.fen())))?;
    if request.op != Op::Add && request.expect.is_null() {
        return Err(Fault::bad("expect: write what the book has before, so that nobody's edit is lost"));
    }
    if request.op == Op::Add && !request.expect.is_null() {
        return Err(Fault::bad("expect: a move that is added is expected not to be in the book: write null"));
    }
    let target = Target { place: &place, mv, note: note_of(&place) };
    let mut history = slot.editing.lock().unwrap_or_else(PoisonError::into_inner);
    let (before, after) = match format_of(slot)? {
        Format::Polyglot => {
            let wanted = Wanted::of(Format::Polyglot, request.op, &request.value)?;
            let made = in_place(slot, path, &target, &wanted, &request.expect);
            slot.reopen_plain();
            let weights = sums(&made?);
            weights.map_or((request.expect.clone(), request.expect.clone()), |(old, new)| (old, new))
        }
        format => {
            let wanted = Wanted::of(format, request.op, &request.value)?;
            let made =
                closed_on_windows(slot, || anew(path, &target, &wanted, &request.expect, &mut history));
            slot.reopen_plain();
            made?
        }
    };
    let number = history.count();
    drop(history);
    explorer.feeds.changed(request.book);
    Ok(json(&json!({ "before": before, "after": after, "undo": number, "ms": ms(began) })))
}

/// `/api/undo`.
pub(super) fn undo(explorer: &Explorer, body: &[u8]) -> Result<Response, Fault> {
    back_or_again(explorer, body, Way::Back)
}

/// `/api/redo`.
pub(super) fn redo(explorer: &Explorer, body: &[u8]) -> Result<Response, Fault> {
    back_or_again(explorer, body, Way::Again)
}

fn back_or_again(explorer: &Explorer, body: &[u8], way: Way) -> Result<Response, Fault> {
    let began = Instant::now();
    let Which { book } = read(body)?;
    let (slot, path) = writable(explorer, book)?;
    let nothing = || {
        Fault::not_found(match way {
            Way::Back => "there is no edit to take back",
            Way::Again => "there is no edit to make again",
        })
    };
    let mut history = slot.editing.lock().unwrap_or_else(PoisonError::into_inner);
    let answer = match format_of(slot)? {
        Format::Polyglot => {
            let made = closed_on_windows(slot, || {
                let mut learner = Learner::new(path)?;
                match way {
                    Way::Back => learner.undo_edit(),
                    Way::Again => learner.redo_edit(),
                }
            });
            slot.reopen_plain();
            let made = made?.ok_or_else(nothing)?;
            let (before, after) = sums(&made).unwrap_or_default();
            let (start, play) = place_of(&made.note);
            json!({ "before": before, "after": after, "note": made.note, "start": start, "play": play })
        }
        _ => {
            let made = history.next(way).ok_or_else(nothing)?.clone();
            let done = closed_on_windows(slot, || made.apply(path, way));
            slot.reopen_plain();
            let (before, after) = done?;
            history.moved(way);
            json!({ "before": before, "after": after, "note": made.note, "start": made.start, "play": made.play })
        }
    };
    drop(history);
    explorer.feeds.changed(book);
    let mut answer = answer;
    if let Value::Object(answer) = &mut answer {
        answer.insert("undo".to_owned(), Value::Null);
        answer.insert("ms".to_owned(), json!(ms(began)));
    }
    Ok(json(&answer))
}

pub(super) fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Fault> {
    serde_json::from_slice(body)
        .map_err(|error| Fault::bad(format!("the body is not what is expected: {error}")))
}

fn ms(began: Instant) -> f64 {
    (began.elapsed().as_secs_f64() * 10_000.0).round() / 10.0
}

/// The place and the file of a book that may be edited.
fn writable(explorer: &Explorer, book: usize) -> Result<(&Slot, &Path), Fault> {
    if !explorer.edit {
        return Err(Fault::read_only("start `tabiya explore` with --edit to change books"));
    }
    let slot =
        explorer.shelf.get(book).ok_or_else(|| Fault::not_found(format!("there is no book {book}")))?;
    let path = slot.path().ok_or_else(|| Fault::read_only("the starter book is inside tabiya"))?;
    let open = slot.read();
    let known = open.book.as_ref().map_err(Fault::io)?;
    if editable(&known.format().to_string()).is_none() {
        return Err(Fault::read_only(format!("a book of the format {} cannot be edited", known.format())));
    }
    edit::refuse_read_only(&**known).map_err(|error| Fault::read_only(error.to_string()))?;
    drop(open);
    Ok((slot, path))
}

fn format_of(slot: &Slot) -> Result<Format, Fault> {
    slot.read().book.as_ref().map(|book| book.format()).map_err(Fault::io)
}

/// Does something with a book's file. On Windows a file that is mapped into memory cannot be replaced: there nobody reads the
/// book meanwhile.
fn closed_on_windows<T>(slot: &Slot, work: impl FnOnce() -> T) -> T {
    if cfg!(windows) {
        let mut open = slot.write();
        open.close();
        let done = work();
        drop(open);
        return done;
    }
    work()
}

/// Edits a Polyglot book. What is expected is compared under the journal's lock, which all processes respect.
fn in_place(
    slot: &Slot,
    path: &Path,
    target: &Target<'_>,
    wanted: &Wanted,
    expect: &Value,
) -> Result<MadeEdit, Fault> {
    let edits = wanted.edits(target.mv, &target.name());
    let entries = edit::of_entries(target.place.game.position(), &edits);
    let Some(entry) = entries.first() else { return Err(Fault::bad("value: there is nothing to change")) };
    let expected = match expect {
        Value::Null => None,
        other => Some(value::number(other, "weight")?),
    };
    let tried =
        closed_on_windows(slot, || Learner::new(path)?.edit_expecting(entry, expected, &target.note))?;
    match tried {
        Attempt::Made(made) => Ok(made),
        Attempt::Unexpected(now) => {
            Err(conflict(now.map_or(Value::Null, |weight| json!({ "weight": weight }))))
        }
    }
}

/// Edits a book that is written anew. Returns what the move had and has.
fn anew(
    path: &Path,
    target: &Target<'_>,
    wanted: &Wanted,
    expect: &Value,
    history: &mut History,
) -> Result<(Value, Value), Fault> {
    let known = book::open(path)?;
    let at = target.place.game.position();
    let before = shown(&*known, at, target.mv);
    if !value::is_expected(known.format(), &before, expect)? {
        return Err(conflict(before));
    }
    let edits = wanted.edits(target.mv, &target.name());
    let made = Made::make(known, target.place, target.mv, &edits, &target.note)?;
    let after = shown(&*book::open(path)?, at, target.mv);
    history.add(made);
    Ok((before, after))
}

/// What the book has now is not what the page showed.
fn conflict(now: Value) -> Fault {
    let what = match &now {
        Value::Null => "deleted elsewhere".to_owned(),
        now => format!("changed elsewhere to {}", value::words(now)),
    };
    Fault::conflict(what, now)
}

impl Target<'_> {
    /// The move in messages.
    fn name(&self) -> String {
        san(self.place.game.position(), self.mv)
    }
}

/// The position in words, which the journal keeps.
fn note_of(place: &Place) -> String {
    let fen = || place.game.position().fen();
    if place.is_set_up {
        return fen();
    }
    let mut at = place.game.start_position().clone();
    let mut note = String::new();
    for mv in place.game.moves() {
        let number = at.chess().fullmoves();
        let number = if at.chess().turn().is_white() { format!(" {number}.") } else { String::new() };
        note.push_str(&format!("{number} {}", san(&at, *mv)));
        at.play(*mv);
    }
    match note.len() {
        0 => "in the starting position".to_owned(),
        len if len + 5 > edit::NOTE_MAX => fen(),
        _ => format!("after{note}"),
    }
}

/// The place that a note means, as far as it is known: the start, and the moves from there.
fn place_of(note: &str) -> (Option<String>, Option<Vec<String>>) {
    if note == "in the starting position" {
        return (None, Some(Vec::new()));
    }
    if let Some(moves) = note.strip_prefix("after ") {
        let mut game = Game::start();
        let play = notation::play(moves, &mut game).ok();
        let place = play.and_then(|()| Some(Place { game, ..Place::start(None).ok()? }));
        return (None, place.map(|place| place.play()));
    }
    match Place::start(Some(note)) {
        Ok(place) => (Some(place.start_fen()), Some(Vec::new())),
        Err(_) => (None, None),
    }
}

/// What the entries of a move had and have together; `None` if nothing changed.
fn sums(made: &MadeEdit) -> Option<(Value, Value)> {
    let sum = |weights: Vec<Option<u16>>| {
        let known: Vec<u64> = weights.into_iter().flatten().map(u64::from).collect();
        if known.is_empty() { Value::Null } else { json!({ "weight": known.iter().sum::<u64>() }) }
    };
    let before = sum(made.weights.iter().map(|(_, old, _)| *old).collect());
    let after = sum(made.weights.iter().map(|(_, _, new)| *new).collect());
    (!made.weights.is_empty()).then_some((before, after))
}

/// The change of an operation.
fn change_of(op: Op, value: book::edit::Value) -> Change {
    match op {
        Op::Set => Change::Set(value),
        Op::Add => Change::Add(value),
        Op::Delete => Change::Delete,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_leads_back_to_its_place() {
        let there_and_back = |start: Option<&str>, moves: &str| {
            let place = Place::read(start, moves.split(',')).unwrap();
            let note = note_of(&place);
            assert!(note.len() <= edit::NOTE_MAX, "{note}");
            let (start, play) = place_of(&note);
            let play = play.unwrap();
            let back = Place::read(start.as_deref(), play.iter().map(String::as_str)).unwrap();
            assert_eq!(back.game.position().fen(), place.game.position().fen());
            note
        };
        assert_eq!(there_and_back(None, ""), "in the starting position");
        assert_eq!(there_and_back(None, "e2e4,c7c5,g1f3"), "after 1. e4 c5 2. Nf3");
        there_and_back(None, &"g1f3,g8f6,f3g1,f6g8,".repeat(20));
        there_and_back(Some("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"), "c7c5");
        assert_eq!(place_of("whatever"), (None, None));
    }
}
