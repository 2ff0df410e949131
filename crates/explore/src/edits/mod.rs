//! `/api/edit`, `/api/line`, `/api/undo`, `/api/redo`: each change is on the disk before it is answered.
//!
//! What a page showed before comes with each change, and is compared with the book at the moment of writing: an edit made
//! in between, elsewhere, is reported, never overwritten. Edits of Polyglot books are in their journals, and can be taken
//! back whenever; those of other books only while this server runs.

mod line;
mod value;

use std::sync::PoisonError;
use std::time::Instant;

use axum::response::Response;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use shakmaty::Move;
use shakmaty::uci::UciMove;

use tabiya_base::error::Result as Done;
use tabiya_base::progress::Progress;
use tabiya_book::{Edits, Variant};
use tabiya_chess::Position;
use tabiya_workshop::edit::{self, EditOutcome, Editor, KeptPlace, Made, NamedEdit, NamedMoves, Way, Wish};
use tabiya_workshop::view::{place_in_words, san};

use self::value::{expected, shown, wanted};
use super::Explorer;
use super::fault::Fault;
use super::place::ShownPlace;
use super::reply::json;
use super::request::read;
use super::shelf::Slot;
use super::words;

pub(super) use line::line;

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
    /// The edit that is meant; without it, the last one.
    #[serde(default)]
    edit: Option<Named>,
}

/// An edit as its answer named it: where it is, the move, and what the book said of it before and says since; of several moves
/// what stands for them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    #[serde(default)]
    start: Option<String>,
    #[serde(default)]
    play: Vec<String>,
    #[serde(default, rename = "move")]
    mv: Option<String>,
    #[serde(default)]
    before: Value,
    #[serde(default)]
    after: Value,
    #[serde(default)]
    moves: Option<String>,
}

pub(super) fn edit(explorer: &Explorer, body: &[u8]) -> Result<Response, Fault> {
    let request: Request = read(body)?;
    let (slot, format) = writable(explorer, request.book)?;
    // The book says whose rules hold.
    let (place, mv) = read_move(slot.variant, request.start.as_deref(), &request.play, &request.mv)?;
    let at = place.game.position();
    if request.op != Op::Add && request.expect.is_null() {
        return Err(Fault::bad("expect: write what the book has now, so that nobody's edit is lost"));
    }
    if request.op == Op::Add && !request.expect.is_null() {
        return Err(Fault::bad("expect: a move to add must not be in the book yet: write null"));
    }
    let edits = wanted(format, request.op, &request.value, mv, &san(at, mv))?;
    let expected = Some(expected(format, &request.expect)?);
    let wish = Wish { at, edits: &edits, note: &edit::kept(&place.game, place.is_set_up), expected };
    written(explorer, request.book, slot, None, |editor| editor.edit(&wish, Progress::none))
}

pub(super) fn undo(explorer: &Explorer, body: &[u8]) -> Result<Response, Fault> {
    reverse(explorer, body, Way::Back)
}

pub(super) fn redo(explorer: &Explorer, body: &[u8]) -> Result<Response, Fault> {
    reverse(explorer, body, Way::Again)
}

fn reverse(explorer: &Explorer, body: &[u8], way: Way) -> Result<Response, Fault> {
    let Which { book, edit } = read(body)?;
    let (slot, format) = writable(explorer, book)?;
    let Some(edit) = edit else {
        return written(explorer, book, slot, Some(way), |editor| editor.reverse(way, None));
    };
    let (start, play) = (edit.start.as_deref(), &edit.play);
    let (place, moves) = match (&edit.mv, edit.moves.as_deref().map(|moves| u64::from_str_radix(moves, 16))) {
        (Some(mv), _) => {
            let (place, mv) = read_move(slot.variant, start, play, mv)?;
            let said = [expected(format, &edit.before)?, expected(format, &edit.after)?];
            (place, NamedMoves::One(mv, said))
        }
        (None, Some(Ok(digest))) => {
            let place = ShownPlace::read(slot.variant, start, play.iter().map(String::as_str))?;
            (place, NamedMoves::Several(digest))
        }
        (None, _) => return Err(Fault::bad("edit: write its move, or moves as they were answered")),
    };
    let note = edit::kept(&place.game, place.is_set_up);
    let named = NamedEdit { note: &note, moves };
    written(explorer, book, slot, Some(way), |editor| editor.reverse(way, Some(&named)))
}

/// A place and a legal move there.
fn read_move(
    variant: Variant,
    start: Option<&str>,
    play: &[String],
    mv: &str,
) -> Result<(ShownPlace, Move), Fault> {
    let place = ShownPlace::read(variant, start, play.iter().map(String::as_str))?;
    let at = place.game.position();
    let legal = move_of(at, mv);
    let illegal = || Fault::illegal(format!("{mv:?} is not a legal move in {}", at.fen()));
    let legal = legal.ok_or_else(illegal)?;
    Ok((place, legal))
}

fn move_of(at: &Position, mv: &str) -> Option<Move> {
    UciMove::from_ascii(mv.as_bytes()).ok()?.to_move(at.chess()).ok()
}

/// Writes a book, and answers with what became of it.
fn written(
    explorer: &Explorer,
    book: usize,
    slot: &Slot,
    way: Option<Way>,
    work: impl FnOnce(&mut Editor) -> Done<EditOutcome>,
) -> Result<Response, Fault> {
    let began = Instant::now();
    let mut editor = slot.editor.lock().unwrap_or_else(PoisonError::into_inner);
    // Meanwhile, and for whatever another process lets it wait, the book is looked up as it was.
    let outcome = work(&mut editor);
    slot.reopen_plain();
    drop(editor);
    let made = match outcome? {
        EditOutcome::Made(made) => made,
        EditOutcome::Unexpected(now) => {
            let now = shown(edits_of(slot)?, now);
            return Err(match (way, &now) {
                (Some(_), _) => {
                    Fault::conflict("the book has changed since: edit the move as it is now", now)
                }
                (None, Value::Null) => Fault::conflict("deleted elsewhere", now),
                (None, _) => Fault::conflict(format!("changed elsewhere to {}", value::words(&now)), now),
            });
        }
        EditOutcome::OtherCounts(counts) => {
            return Err(Fault::conflict("the book has changed since", json!(counts)));
        }
        EditOutcome::Other(next) => {
            let now = Value::Object(answer(edits_of(slot)?, &next, slot.variant));
            return Err(Fault::conflict("another edit was made since", now));
        }
        EditOutcome::Nothing => {
            let what = if way == Some(Way::Again) { "redo" } else { "undo" };
            return Err(Fault::not_found(format!("there is no edit to {what}")));
        }
    };
    explorer.feeds.changed(book);
    if let Some(error) = &made.unread {
        let why = error.with_source();
        return Err(Fault::io(format!("the edit is made, but the book cannot be read again: {why}")));
    }
    let mut answer = answer(edits_of(slot)?, &made, slot.variant);
    let ms = (began.elapsed().as_secs_f64() * 10_000.0).round() / 10.0;
    answer.insert("ms".to_owned(), json!(ms));
    Ok(json(&answer))
}

/// An edit as the page names it: its place, in words too; where it is of one move, this move, and what the book said of it
/// before and says since; how many moves came, changed and left, and what stands for them.
fn answer(edits: Edits, made: &Made, variant: Variant) -> Map<String, Value> {
    let (start, play, words) = place_of(&made.note, variant);
    let one = if let [one] = &*made.moves { Some(one) } else { None };
    let at = edit::place_of(&made.note, variant).position(variant);
    let name = one.zip(at).and_then(|(one, at)| Some(san(&at, move_of(&at, &one.uci)?)));
    let [before, after] = one.map_or([None; 2], |one| one.said).map(|said| shown(edits, said));
    let parts = [
        ("note", json!(words)),
        ("start", json!(start)),
        ("play", json!(play)),
        ("move", json!(one.map(|one| &one.uci))),
        ("san", json!(name)),
        ("before", before),
        ("after", after),
        ("counts", json!(made.counts())),
        ("moves", json!(format!("{:016x}", made.digest()))),
    ];
    parts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The place of a book that may be edited, and how its moves are.
fn writable(explorer: &Explorer, book: usize) -> Result<(&Slot, Edits), Fault> {
    if !explorer.edit {
        return Err(Fault::read_only(words::EDIT));
    }
    let slot =
        explorer.shelf.get(book).ok_or_else(|| Fault::not_found(format!("there is no book {book}")))?;
    slot.path().ok_or_else(|| Fault::read_only("the starter book is inside tabiya"))?;
    let open = slot.read();
    let known = open.book.as_ref().map_err(Fault::io)?;
    let format = known.format();
    if !format.is_editable() {
        return Err(Fault::read_only(format!("a book of the format {format} cannot be edited")));
    }
    edit::refuse_read_only(&**known).map_err(|error| Fault::read_only(error.with_source()))?;
    Ok((slot, format.edits()))
}

fn edits_of(slot: &Slot) -> Result<Edits, Fault> {
    slot.read().book.as_ref().map(|book| book.format().edits()).map_err(Fault::io)
}

/// The place of an edit: its start and the moves from there, as far as they are known, and words for it.
fn place_of(note: &str, variant: Variant) -> (Option<String>, Option<Vec<String>>, String) {
    match edit::place_of(note, variant) {
        KeptPlace::Line(game) => {
            let (words, place) = (place_in_words(&game), ShownPlace::start(variant, None).ok());
            (None, place.map(|start| ShownPlace { game, ..start }.play()), words)
        }
        KeptPlace::Fen(fen) => match ShownPlace::start(variant, Some(fen)) {
            Ok(place) => (Some(place.start_fen()), Some(Vec::new()), fen.to_owned()),
            Err(_) => (None, None, fen.to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use tabiya_book as book;

    use super::*;
    use crate::position::viewed;
    use crate::request::Query;
    use crate::shelf::Shelf;

    #[test]
    fn a_book_is_looked_up_while_an_edit_of_it_waits_and_while_another_look_up_lasts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        // 1. e4 with weight 1.
        fs::write(&path, [0x46, 0x3b, 0x96, 0x18, 0x16, 0x91, 0xfc, 0x9c, 3, 0x1c, 0, 1, 0, 0, 0, 0])
            .unwrap();
        let slot = Slot::open(&path, Variant::Chess, &book::Among::default(), Vec::new());
        let mut explorer = Explorer::of_book(book::starter_book().unwrap(), String::new()).unwrap();
        explorer.shelf = Shelf::new(vec![slot]);
        explorer.edit = true;
        let slot = explorer.shelf.get(0).unwrap();
        let found = || {
            thread::scope(|scope| {
                let look = || viewed(&explorer, &Query::default()).unwrap()["books"][0]["found"].clone();
                scope.spawn(look).join().unwrap()
            })
        };
        // One that is slow has the book as long as it takes.
        let slow = slot.read();
        let answer = written(&explorer, 0, slot, None, |_| {
            assert_eq!(found(), true);
            Ok(EditOutcome::Nothing)
        });
        assert!(answer.is_err(), "there is no edit to undo");
        assert_eq!(found(), true);
        drop(slow);
    }

    #[test]
    fn a_note_leads_back_to_its_place() {
        let of = |variant: Variant, start: Option<&str>, moves: &str| {
            let place = ShownPlace::read(variant, start, moves.split(',')).unwrap();
            let note = edit::kept(&place.game, place.is_set_up);
            assert!(note.len() <= edit::MAX_NOTE, "{note}");
            let (start, play, words) = place_of(&note, variant);
            let play = play.unwrap();
            let back = ShownPlace::read(variant, start.as_deref(), play.iter().map(String::as_str)).unwrap();
            assert_eq!(back.game.position().fen(), place.game.position().fen());
            (note, words)
        };
        let there_and_back = |start: Option<&str>, moves: &str| of(Variant::Chess, start, moves);
        let kept = |note: &str, words: &str| (note.to_owned(), words.to_owned());
        assert_eq!(there_and_back(None, ""), kept("startpos", "in the starting position"));
        let moves = kept("startpos moves e2e4 c7c5 g1f3", "after 1. e4 c5 2. Nf3");
        assert_eq!(there_and_back(None, "e2e4,c7c5,g1f3"), moves);
        there_and_back(None, &"g1f3,g8f6,f3g1,f6g8,".repeat(20));
        there_and_back(Some("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"), "c7c5");
        let drops = kept("startpos moves e2e4 d7d5 e4d5 d8d5 P@e4", "after 1. e4 d5 2. exd5 Qxd5 3. @e4");
        assert_eq!(of(Variant::Crazyhouse, None, "e2e4,d7d5,e4d5,d8d5,P@e4"), drops);
        of(Variant::Crazyhouse, Some("4k3/8/8/8/8/8/8/4K2Q~[Nn] w - - 0 1"), "h1h8");
        // Words are no place, whatever they say.
        for words in ["whatever", "after 1. e4", "in the starting position", "startpos moves e2e5"] {
            assert_eq!(place_of(words, Variant::Chess), (None, None, words.to_owned()));
        }
    }
}
