//! `POST /api/read`: games as PGN, which a person pastes or the server sends.

use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::Path;

use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shakmaty::Move;

use tabiya_base::error::Error;
use tabiya_chess::{Position, Variant, variant_name};
use tabiya_games::text::checked;
use tabiya_games::{GameEnd, GameError, GameHeader, GameResult, Reason, Visitor, open_text_of};
use tabiya_workshop::view::san;

use super::Explorer;
use super::fault::Fault;
use super::place::{MAX_PLIES, ShownPlace};
use super::plain::plain;
use super::reply;
use super::request::{read, variant_of};

/// Games that are read at most.
const MAX_GAMES: usize = 1000;

/// Variations of a game that are read at most.
const MAX_VARIATIONS: usize = 200;

/// The name of the text in errors.
const NAME: &str = "the text";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PasteQuery<'a> {
    text: std::borrow::Cow<'a, str>,
    /// A position as a FEN: where it occurs in each game is answered too.
    at: Option<std::borrow::Cow<'a, str>>,
    /// The variant of the games; those that do not say theirs are of it too.
    variant: Option<std::borrow::Cow<'a, str>>,
}

/// A game that was read.
#[derive(Serialize)]
struct GameRead {
    white: String,
    black: String,
    event: String,
    /// As in PGN; what is not known of it is `?`.
    date: String,
    result: &'static str,
    start: String,
    play: Vec<String>,
    san: Vec<String>,
    /// Its variations in the order in which they begin.
    variations: Vec<Variation>,
    /// The ply at which the position that was asked for occurs first in the main line.
    ply: Option<usize>,
    /// Why the rest of it is missing.
    error: Option<String>,
    /// Why moves of its variations are missing, of the first such variation.
    cut: Option<String>,
    /// Variations that are left out, or end early, because there are too many or they are too long.
    left_out: usize,
}

/// A line beside another one of its game.
#[derive(Serialize)]
struct Variation {
    /// The variation that it branches off from, by its place among them; `None`: the main line.
    of: Option<usize>,
    /// How many plies of the game come before it.
    ply: usize,
    play: Vec<String>,
    san: Vec<String>,
}

/// A line while it is read.
#[derive(Clone, Copy)]
enum PastedLine {
    Main,
    Variation(usize),
    Unread,
}

/// Takes games as they are read.
struct PasteReader {
    variant: Variant,
    wanted: Option<u64>,
    open: Option<(GameRead, ShownPlace)>,
    /// The present line, and before it those around it.
    lines: Vec<PastedLine>,
    games: Vec<GameRead>,
    /// All games, with those that are too many.
    total: usize,
    /// The games, or other parts of the text, that cannot be read: how many they are, and the first.
    unread: usize,
    error: Option<GameError>,
}

/// What was read of a text.
#[derive(Serialize)]
struct Pasted {
    games: Vec<GameRead>,
    total: usize,
    /// Games, or other parts of the text, that cannot be read.
    unread: usize,
    /// The place of the first of them, and what is wrong there.
    why: Option<String>,
}

pub(super) fn games(explorer: &Explorer, body: &[u8]) -> Result<Response, Fault> {
    let asked: PasteQuery<'_> = read(body)?;
    let variant = asked.variant.as_deref().map(variant_of).transpose()?.unwrap_or(explorer.variant);
    let at = asked.at.as_deref().map(|fen| ShownPlace::start(variant, Some(fen))).transpose()?;
    let wanted = at.map(|place| place.game.position().whole_key());
    Ok(reply::json(&games_in(&asked.text, variant, wanted)?))
}

/// The main line of a game in one line of text, with its comments and variations left out, as `/api/read` answers it.
///
/// # Errors
/// When it is none, or not all of its moves can be read.
pub(super) fn main_line(text: &str, variant: Variant) -> Result<Value, Fault> {
    let games = games_in(text, variant, None)?.games;
    let game = games.into_iter().next().ok_or_else(|| Fault::bad("there is no game in this text"))?;
    match game.error {
        Some(error) => Err(Fault::illegal(error)),
        None => Ok(json!({ "start": game.start, "play": game.play })),
    }
}

/// The first games in a text, how many there are, and what cannot be read of it; `wanted` is the whole key of the position that is looked for in each.
///
/// # Errors
/// When the text is none of games, or no game has a move that can be read.
fn games_in(text: &str, variant: Variant, wanted: Option<u64>) -> Result<Pasted, Fault> {
    // There is no file that could fail: whatever is wrong is wrong with the text.
    let wrong = |error: Error| Fault::bad(error.with_source());
    let path = Path::new(NAME);
    let text = checked(path, Box::new(Cursor::new(plain(text).into_bytes()))).map_err(wrong)?;
    let (lines, games) = (Vec::new(), Vec::new());
    let mut reader =
        PasteReader { variant, wanted, open: None, lines, games, total: 0, unread: 0, error: None };
    let mut sources = open_text_of(path, text, variant);
    while let Some(batch) = sources.next_batch().map_err(wrong)? {
        batch.play(&mut reader);
    }
    let PasteReader { games, total, unread, error, .. } = reader;
    let played = games.iter().any(|game| !game.play.is_empty());
    match error {
        Some(error) if played => {
            let why = Some(format!("{}: {}", error.place.spot, error.why));
            Ok(Pasted { games, total, unread, why })
        }
        Some(error) if error.reason == Reason::OtherVariant && variant != Variant::Chess => {
            Err(Fault::illegal(format!("{}, not {}", error.why, variant_name(variant))))
        }
        Some(error) => Err(Fault::illegal(error.why)),
        None => Ok(Pasted { games, total, unread, why: None }),
    }
}

impl Visitor for PasteReader {
    fn begin(&mut self, game: &GameHeader) -> bool {
        self.total += 1;
        if self.games.len() >= MAX_GAMES {
            return false;
        }
        let start = game.start.as_ref().map(Position::fen);
        let Ok(place) = ShownPlace::start(self.variant, start.as_deref()) else { return false };
        let result = game.result.map_or("*", GameResult::as_pgn);
        let (white, black, event) = (game.white.clone(), game.black.clone(), game.event.clone());
        let date = game.date.to_string();
        let (start, ply) = (place.start_fen(), self.occurs(place.game.position()).then_some(0));
        let (play, san, variations) = (Vec::new(), Vec::new(), Vec::new());
        let (error, cut, left_out) = (None, None, 0);
        let read = GameRead {
            white,
            black,
            event,
            date,
            result,
            start,
            play,
            san,
            variations,
            ply,
            error,
            cut,
            left_out,
        };
        self.open = Some((read, place));
        self.lines = vec![PastedLine::Main];
        true
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        let wanted = self.wanted;
        let Some((game, place)) = &mut self.open else { return ControlFlow::Break(()) };
        match self.lines.last_mut() {
            Some(PastedLine::Main) if game.play.len() < MAX_PLIES => {
                game.play.push(place.uci(mv));
                game.san.push(san(at, mv));
                if game.ply.is_none() && wanted.is_some() && wanted == Some(at.whole_key_after(mv)) {
                    game.ply = Some(game.play.len());
                }
                ControlFlow::Continue(())
            }
            Some(PastedLine::Main) => {
                game.error = Some(format!("it has more than {MAX_PLIES} plies"));
                ControlFlow::Break(())
            }
            None => ControlFlow::Break(()),
            Some(line @ &mut PastedLine::Variation(number)) => {
                match game.variations.get_mut(number).filter(|line| line.ply + line.play.len() < MAX_PLIES) {
                    Some(line) => {
                        line.play.push(place.uci(mv));
                        line.san.push(san(at, mv));
                    }
                    None => {
                        *line = PastedLine::Unread;
                        game.left_out += 1;
                    }
                }
                ControlFlow::Continue(())
            }
            Some(PastedLine::Unread) => ControlFlow::Continue(()),
        }
    }

    fn wants_variations(&self) -> bool {
        true
    }

    fn begin_variation(&mut self) {
        let Some((game, _)) = &mut self.open else { return };
        let around = match self.lines.last() {
            Some(PastedLine::Main) => Some((None, game.play.len())),
            Some(&PastedLine::Variation(of)) => {
                // Before its first move it has none whose place another takes.
                game.variations.get(of).map(|line| (Some(of), line.ply + line.play.len().max(1)))
            }
            Some(PastedLine::Unread) | None => None,
        };
        let around = around.filter(|_| game.variations.len() < MAX_VARIATIONS);
        game.left_out += usize::from(around.is_none());
        self.lines.push(around.map_or(PastedLine::Unread, |(of, plies)| {
            // It takes the place of the last move.
            let ply = plies.saturating_sub(1);
            game.variations.push(Variation { of, ply, play: Vec::new(), san: Vec::new() });
            PastedLine::Variation(game.variations.len() - 1)
        }));
    }

    fn end_variation(&mut self) {
        let ended = self.lines.pop();
        let Some((game, _)) = &mut self.open else { return };
        // One of words alone, or whose first move is a null move, is no line.
        if let Some(PastedLine::Variation(number)) = ended
            && number + 1 == game.variations.len()
        {
            game.variations.pop_if(|line| line.play.is_empty());
        }
    }

    fn end(&mut self, end: GameEnd) {
        let Some((game, _)) = self.open.take() else { return };
        let (error, cut) = (end.error.map(|error| error.why).or(game.error), end.cut.map(|cut| cut.why));
        let result = end.result.map_or(game.result, GameResult::as_pgn);
        self.games.push(GameRead { result, error, cut, ..game });
    }

    fn unreadable(&mut self, error: GameError) {
        self.unread += 1;
        self.error.get_or_insert(error);
    }
}

impl PasteReader {
    fn occurs(&self, at: &Position) -> bool {
        self.wanted == Some(at.whole_key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variations_know_where_they_branch_off() {
        let text = "1. e4 e5 (1... c5 2. Nf3 (2. Nc3 Nc6 (2... d6)) 2... d6) (1... e6) 2. Nf3 *";
        let games = games_in(text, Variant::Chess, None).unwrap().games;
        let [game] = &*games else { panic!("there is one") };
        assert_eq!(game.san, ["e4", "e5", "Nf3"]);
        let lines: Vec<_> =
            game.variations.iter().map(|line| (line.of, line.ply, line.san.join(" "))).collect();
        let line = |of, ply, san: &str| (of, ply, san.to_owned());
        let wanted = [
            line(None, 1, "c5 Nf3 d6"),
            line(Some(0), 2, "Nc3 Nc6"),
            line(Some(1), 3, "d6"),
            line(None, 1, "e6"),
        ];
        assert_eq!(lines, wanted);
    }

    #[test]
    fn variations_without_a_move_are_left_out() {
        let text = "1. e4 e5 (1... -- 2. d4) ({words}) (1... c5 () 2. Nf3 (2. -- d6)) 2. Nf3 (2. Z0 d5) *";
        let games = games_in(text, Variant::Chess, None).unwrap().games;
        let lines: Vec<_> = games[0].variations.iter().map(|line| (line.of, line.san.join(" "))).collect();
        assert_eq!(lines, [(None, "c5 Nf3".to_owned())]);
        assert_eq!(games[0].cut.as_deref(), Some("1... \"--\": a side passes"));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let read = |text| games_in(text, Variant::Chess, None).unwrap();
        let text = "1. e4 e5 (1... c5 2. Nf3 d6 3. d4 cxd4 4. Qxd5 Nf6) 2. Nf3 *";
        let cut = Some("4. \"Qxd5\": the move is not legal");
        assert_eq!((read(text).games[0].cut.as_deref(), read(text).unread), (cut, 0));
        // By its number, the variation goes on from the move before it.
        let read_one = read("1. e4 e5 2. Nf3 (2... Nc6 3. Bb5) *");
        assert_eq!((&read_one.games[0].cut, read_one.games[0].left_out), (&None, 0));
        let line = &read_one.games[0].variations[0];
        assert_eq!((line.ply, line.san.join(" ")), (2, "Nf3 Nc6 Bb5".to_owned()));
        let two = read("[Event \"a\"]\n[Variant \"Atomic\"]\n\n1. d4 *\n\n[Event \"b\"]\n\n1. e4 *\n");
        assert_eq!((two.games.len(), two.unread), (1, 1));
        assert_eq!(two.why.as_deref(), Some("line 1: the game is \"Atomic\""));
    }

    #[test]
    fn a_position_is_found_in_the_main_line_alone() {
        let text = "1. e4 e5 (1... c5) 2. Nf3 *";
        let key = |play: &str| {
            ShownPlace::read(Variant::Chess, None, play.split(',')).unwrap().game.position().whole_key()
        };
        let found = |play| games_in(text, Variant::Chess, Some(key(play))).unwrap().games[0].ply;
        assert_eq!((found(""), found("e2e4,e7e5"), found("e2e4,c7c5")), (Some(0), Some(2), None));
    }

    #[test]
    fn what_is_too_much_is_left_out() {
        let many = format!("1. e4 e5 {} 2. Nf3 *", "(1... c5) ".repeat(MAX_VARIATIONS + 5));
        let games = games_in(&many, Variant::Chess, None).unwrap().games;
        assert_eq!((games[0].variations.len(), games[0].san.len()), (MAX_VARIATIONS, 3));
        assert_eq!(games[0].left_out, 5);
        let round = "Nf3 Nf6 Ng1 Ng8 ".repeat(MAX_PLIES / 4 + 1);
        let text = format!("1. e4 (1. d4 d5 {round}) 1... e5 {round} *");
        let games = games_in(&text, Variant::Chess, None).unwrap().games;
        assert_eq!((games[0].error.as_deref(), games[0].left_out), (Some("it has more than 1000 plies"), 1));
        assert_eq!((games[0].san.len(), games[0].variations[0].ply), (MAX_PLIES, 0));
        assert_eq!(games[0].variations[0].san.len(), MAX_PLIES);
    }
}
