//! `/api/read`, `/api/openings`, `/api/pgn`, `/api/game`: lines as people write them.

use std::cmp::Reverse;
use std::path::Path;

use axum::response::Response;
use serde_json::{Value, json};
use shakmaty::{Move, Position as _};

use tabiya_base::folder::has_extension;
use tabiya_book::ReferenceKind;
use tabiya_chess::openings::{self, Opening};
use tabiya_chess::{Game, Position, Variant, notation};
use tabiya_games::export::{MoveTree, Notes, PgnHead, PgnWriter, San};
use tabiya_workshop::view::san;

use super::Explorer;
use super::fault::Fault;
use super::part::part_of;
use super::place::{MAX_PLIES, ShownPlace};
use super::plain::plain;
use super::reply::{json, text};
use super::request::Query;
use super::{games, paste};

/// Bytes of a text that is read as moves.
const MAX_TEXT: usize = 8 << 10;

/// What moves with comments and variations have, and neither a FEN nor moves alone.
const REMARKS: [char; 4] = ['{', '(', ';', '$'];

/// Openings that are found at most.
const MAX_OPENINGS: usize = 100;

/// Openings that are found if the request does not say.
const OPENINGS: usize = 20;

/// Variations of a line that are written at most.
const MAX_VARIATIONS: usize = 50;

/// Bytes of a game's text.
const MAX_GAME: u64 = 64 << 10;

/// `/api/read`: what a person typed, a FEN or moves. With `maybe` it need not be either: `null` is no failure of a request.
pub(super) fn read(explorer: &Explorer, query: &Query) -> Result<Response, Fault> {
    let is_maybe = query.get("maybe").is_some();
    typed(explorer, query).or_else(|fault| if is_maybe { Ok(json(&Value::Null)) } else { Err(fault) })
}

/// The place that a person typed.
///
/// # Errors
/// When it is none.
fn typed(explorer: &Explorer, query: &Query) -> Result<Response, Fault> {
    let typed = query.get("text").unwrap_or_default();
    if typed.is_empty() || typed.len() > MAX_TEXT {
        return Err(Fault::bad("write moves, such as 1. e4 c5, or a FEN"));
    }
    let here = explorer.place(query)?;
    let typed = &*plain(typed);
    if typed.is_empty() {
        return Err(Fault::bad("this link names no position: paste the game itself, as PGN"));
    }
    if let Some((start, moves)) = of_uci(typed) {
        return Ok(place_of(&ShownPlace::read(here.variant(), start, moves.split_whitespace())?));
    }
    let mut words = typed.split(|letter: char| letter.is_whitespace() || letter == ',');
    match ShownPlace::start(here.variant(), Some(typed.trim())) {
        Ok(place) => return Ok(place_of(&place)),
        // Moves have no strokes, except in their result.
        Err(wrong) if words.any(|word| word.contains('/') && word != "1/2-1/2") => return Err(wrong),
        Err(_) => {}
    }
    if typed.contains(REMARKS) {
        return Ok(json(&paste::main_line(typed, here.variant())?));
    }
    let from = |mut place: ShownPlace| match notation::play(typed, &mut place.game) {
        Ok(()) if place.game.moves().len() <= MAX_PLIES => Ok(place),
        Ok(()) => Err(format!("the line would have more than {MAX_PLIES} plies")),
        Err(wrong) => Err(wrong.to_string()),
    };
    let start = here.up_to(0);
    let is_at_start = here.game.moves().is_empty();
    // A line that begins with its number is meant from the start.
    let numbered = typed.starts_with("1.") || typed.starts_with("1 ");
    let orders = if numbered { [&start, &here] } else { [&here, &start] };
    // Where another position was set up, it may still be meant from where games start.
    let usual = ShownPlace::start(here.variant(), None)?;
    let usual = Some(&usual).filter(|_| numbered && here.is_set_up);
    let mut wrong = String::new();
    for place in orders.into_iter().take(if is_at_start { 1 } else { 2 }).chain(usual) {
        match from(place.clone()) {
            Ok(place) => return Ok(place_of(&place)),
            Err(why) if wrong.is_empty() => wrong = why,
            Err(_) => {}
        }
    }
    Err(Fault::illegal(wrong))
}

/// What UCI's command for a position says: a FEN, if it names one, and the moves.
fn of_uci(typed: &str) -> Option<(Option<&str>, &str)> {
    let rest = typed.strip_prefix("position ")?;
    let (start, moves) = rest.split_once("moves").unwrap_or((rest, ""));
    let start = start.trim();
    let fen = start.strip_prefix("fen ").map(str::trim);
    (fen.is_some() || start == "startpos").then_some((fen, moves))
}

fn place_of(place: &ShownPlace) -> Response {
    json(&json!({ "start": place.start_fen(), "play": place.play() }))
}

/// `/api/openings`: the openings whose code or name has all words.
pub(super) fn openings(explorer: &Explorer, query: &Query) -> Result<Response, Fault> {
    let limit = query.number("limit", MAX_OPENINGS)?.unwrap_or(OPENINGS);
    // Names are those of standard chess.
    let is_named = explorer.variant_of(query)? == Variant::Chess;
    let typed = query.get("q").filter(|_| is_named).unwrap_or_default().to_lowercase();
    let typed: Vec<&str> = typed.split_whitespace().take(20).collect();
    let mut found = Vec::new();
    for (eco, name, moves) in openings::lines() {
        let full = format!("{eco} {name}").to_lowercase();
        if !typed.is_empty() && typed.iter().all(|word| full.contains(word)) {
            let words = || full.split(|letter: char| !letter.is_alphanumeric());
            let whole = typed.iter().filter(|word| words().any(|other| other == **word)).count();
            found.push(((Reverse(whole), name.len(), eco, name), moves));
        }
    }
    found.sort();
    let rows = found.into_iter().take(limit).filter_map(|((_, _, eco, name), moves)| {
        let mut game = Game::start();
        notation::play(moves, &mut game).ok()?;
        let place = ShownPlace { game, ..ShownPlace::start(Variant::Chess, None).ok()? };
        Some(json!({ "eco": eco, "name": name, "play": place.play(), "line": moves }))
    });
    Ok(json(&json!({ "openings": rows.collect::<Vec<_>>() })))
}

/// `/api/pgn`: the line as a game, with `variations`: other lines from the same start, with `;` between them.
pub(super) fn pgn(explorer: &Explorer, query: &Query) -> Result<Response, Fault> {
    let variant = explorer.variant_of(query)?;
    let mut lines = vec![ShownPlace::from_query(query, variant)?];
    let others = query.get("variations").unwrap_or_default().split(';').filter(|line| !line.is_empty());
    for line in others.take(MAX_VARIATIONS) {
        lines.push(ShownPlace::read(variant, query.get("start"), line.split(','))?);
    }
    Ok(text("text/plain; charset=utf-8", pgn_of(&lines)))
}

/// Lines as a game; the first one is the main line.
fn pgn_of(lines: &[ShownPlace]) -> String {
    let Some(place) = lines.first() else { return String::new() };
    let mut writer = PgnWriter::default();
    let start = place.is_set_up.then(|| place.start_fen());
    writer.head(&PgnHead {
        start: start.as_deref(),
        variant: place.variant(),
        chess960: place.mode == shakmaty::CastlingMode::Chess960 && place.variant() == Variant::Chess,
        opening: Opening::from_game(&place.game).map(Opening::parts),
        ..PgnHead::default()
    });
    let at = place.game.start_position();
    let mut tree = MoveTree::default();
    (tree.first, tree.number) = (at.chess().turn(), at.chess().fullmoves().into());
    grow(&mut tree, at.clone(), 0, &lines.iter().map(|place| place.game.moves()).collect::<Vec<_>>());
    writer.moves(&tree, &Notes::default(), "*");
    format!("{}\n", String::from_utf8_lossy(writer.text()).trim_end())
}

/// Adds what lines that are alike up to this ply go on with.
fn grow(tree: &mut MoveTree, mut at: Position, mut ply: usize, lines: &[&[Move]]) {
    let mut lines = lines.to_vec();
    loop {
        let mut ways: Vec<(Move, Vec<&[Move]>)> = Vec::new();
        for line in lines {
            let Some(mv) = line.get(ply) else { continue };
            match ways.iter_mut().find(|(known, _)| known == mv) {
                Some((_, same)) => same.push(line),
                None => ways.push((*mv, vec![line])),
            }
        }
        let Some((last, rest)) = ways.pop() else { return };
        for (mv, same) in ways {
            tree.push();
            tree.add(San::new(san(&at, mv).as_bytes()));
            grow(tree, at.after(mv), ply + 1, &same);
            tree.pop();
        }
        tree.add(San::new(san(&at, last).as_bytes()));
        at.play(last);
        (ply, lines) = (ply + 1, rest);
    }
}

/// `/api/game`: the sample game of a position as PGN, or with `id` one of the indexed games.
pub(super) fn game(explorer: &Explorer, query: &Query) -> Result<Response, Fault> {
    if let Some(id) = query.get("id") {
        return games::pgn(explorer, id);
    }
    let place = explorer.place(query)?;
    let slot = explorer.book(query, place.variant())?;
    let open = slot.read();
    let book = open.book.as_ref().map_err(Fault::io)?;
    let game = book
        .as_remarks()
        .and_then(|book| book.game(place.game.position()))
        .ok_or_else(|| Fault::not_found("the book names no game with this position"))?;
    let gone =
        |why: &str| Fault::not_found(format!("the game is in {:?}, {}: {why}", game.source, game.place()));
    if game.kind != ReferenceKind::Pgn || game.length == 0 {
        return Err(gone("only games in PGN files can be shown"));
    }
    // The source is a name in a file from elsewhere: only its last part counts, and only beside the book.
    let name = game.source.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_pgn = has_extension(Path::new(name), "pgn");
    let Some(path) = slot.path().filter(|_| is_pgn).map(|book| book.with_file_name(name)) else {
        return Err(gone("this is not the name of a PGN file"));
    };
    let bytes = part_of(&path, game.address, game.length.min(MAX_GAME))
        .map_err(|_| gone("there is no such file beside the book"))?;
    let text_of = String::from_utf8_lossy(&bytes);
    // Tags begin every game; whatever else the file holds there is private.
    if !text_of.trim_start_matches(['\u{feff}', ' ', '\r', '\n']).starts_with('[') {
        return Err(gone("the file beside the book has changed"));
    }
    Ok(text("text/plain; charset=utf-8", text_of.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_game_that_others_read() {
        let place = ShownPlace::read(Variant::Chess, None, "e2e4,c7c5,g1f3".split(',')).unwrap();
        let pgn = pgn_of(&[place]);
        assert!(pgn.ends_with("\n\n1. e4 c5 2. Nf3 *\n"), "{pgn}");
        assert!(pgn.contains("[ECO \"B27\"]") && !pgn.contains("SetUp"), "{pgn}");
        let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
        let place = ShownPlace::read(Variant::Chess, Some(fen), ["c7c5", "g1f3"]).unwrap();
        let pgn = pgn_of(&[place]);
        assert!(pgn.contains(&format!("[FEN \"{fen}\"]")) && pgn.ends_with("\n1... c5 2. Nf3 *\n"), "{pgn}");
    }

    #[test]
    fn lines_with_the_same_beginning_are_variations() {
        let lines =
            ["e2e4,c7c5,g1f3,d7d6", "e2e4,c7c5,b1c3", "d2d4,d7d5", "e2e4,e7e5", "e2e4,c7c5,g1f3,b8c6,d2d4"];
        let lines = lines.map(|line| ShownPlace::read(Variant::Chess, None, line.split(',')).unwrap());
        let pgn = pgn_of(&lines);
        let moves = "1. e4 (1. d4 d5) 1... c5 (1... e5) 2. Nf3 (2. Nc3) 2... d6 (2... Nc6 3. d4) *";
        assert!(pgn.replace('\n', " ").ends_with(&format!("{moves} ")), "{pgn}");
    }

    #[test]
    fn long_lines_are_broken() {
        let round = "g1f3,g8f6,f3g1,f6g8,".repeat(50);
        let place = ShownPlace::read(Variant::Chess, None, round.split(',')).unwrap();
        let pgn = pgn_of(&[place]);
        assert!(pgn.lines().all(|line| line.len() <= 79) && pgn.lines().count() > 20);
    }
}
