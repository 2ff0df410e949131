//! `/lichess`, `/masters`, `/player`: the interface of Lichess's opening explorer, answered from one book.
//!
//! The names and meanings of parameters and fields are those that Lichess documents publicly (<https://lichess.org/api>,
//! Opening Explorer), so that its clients can ask tabiya. What the books do not know is empty, null or (ratings) 0; filters by
//! speed and rating act on count files that count games separately by them; those by date act on the games that are listed; those by player are accepted and have no effect.

use std::cmp::Reverse;

use axum::response::Response;
use serde::Serialize;
use shakmaty::{CastlingMode, Color, Move, Position as _};

use tabiya_book::{Among, Counts, MoveFacts};
use tabiya_chess::openings::Opening;
use tabiya_chess::{Position, Speed, Variant};
use tabiya_games::{Date, GameResult};
use tabiya_workshop::view::san;

use super::Explorer;
use super::fault::Fault;
use super::games::{self, FoundGames, IndexedGame, Names, Wanted};
use super::place::ShownPlace;
use super::position::split;
use super::reply::text;
use super::request::Query;

/// Moves that are answered if the request does not say.
const MOVES: usize = 12;

/// The most moves that may be asked for: more than any position has.
const MAX_MOVES: usize = 1000;

/// Games that are answered if the request does not say, and those of masters, which are the most that are answered.
const SHOWN: usize = 4;
const TOP_MASTERS: usize = 15;

/// Games of a position up to which the only game of each move is looked for.
const SHOWN_BY_MOVE: u64 = 30;

/// Recent games of `/player` if the request does not say.
const RECENT_PLAYER: usize = 8;

/// Which of the three interfaces is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LichessInterface {
    Lichess,
    Masters,
    Player,
}

/// Games that White won, that were drawn, and that Black won.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct Results {
    white: u64,
    draws: u64,
    black: u64,
}

/// A move, with Lichess's names.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LichessMove {
    uci: String,
    san: String,
    #[serde(flatten)]
    ratings: RatingsOf,
    #[serde(flatten)]
    results: Results,
    /// A game with the move, if it is the only one, and known.
    game: Option<GameLine>,
    opening: Option<Opening>,
}

/// The ratings of a move: what the three interfaces call them. Clients expect numbers: 0 is unknown.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum RatingsOf {
    #[serde(rename_all = "camelCase")]
    All { average_rating: u32 },
    #[serde(rename_all = "camelCase")]
    Player { average_opponent_rating: u32, performance: u32 },
}

/// A player, with Lichess's names.
#[derive(Clone, Debug, Serialize)]
struct LichessPlayer {
    name: String,
    rating: u16,
}

/// A game, with Lichess's names.
#[derive(Clone, Debug, Serialize)]
struct GameLine {
    id: String,
    winner: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed: Option<&'static str>,
    white: LichessPlayer,
    black: LichessPlayer,
    year: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    month: Option<String>,
}

/// A game, and the move that it went on with.
#[derive(Clone, Debug, Serialize)]
struct GameWithMove {
    uci: String,
    #[serde(flatten)]
    game: GameLine,
}

/// An answer, with Lichess's names.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(flatten)]
    results: Results,
    moves: Vec<LichessMove>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recent_games: Option<Vec<GameWithMove>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_games: Option<Vec<GameWithMove>>,
    opening: Option<Opening>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_position: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<[u8; 0]>,
    /// Not Lichess's: what the numbers are made of, `games` or `weights`.
    source: &'static str,
}

pub(super) fn lichess(explorer: &Explorer, query: &Query) -> Result<Response, Fault> {
    answer(explorer, query, LichessInterface::Lichess)
}

pub(super) fn masters(explorer: &Explorer, query: &Query) -> Result<Response, Fault> {
    answer(explorer, query, LichessInterface::Masters)
}

/// `/player`: one line of NDJSON, because nothing is indexed while it is answered.
pub(super) fn player(explorer: &Explorer, query: &Query) -> Result<Response, Fault> {
    answer(explorer, query, LichessInterface::Player)
}

fn answer(explorer: &Explorer, query: &Query, kind: LichessInterface) -> Result<Response, Fault> {
    let variant = query.variant()?.unwrap_or_default();
    if kind == LichessInterface::Masters && variant != Variant::Chess {
        return Err(Fault::bad("variant: masters play standard chess only: ask /lichess"));
    }
    let moves = query.get("play").unwrap_or_default().split(',');
    let place = ShownPlace::read(variant, query.get("fen"), moves)?;
    let default = if kind == LichessInterface::Player { MAX_MOVES } else { MOVES };
    let most = query.number("moves", MAX_MOVES)?.unwrap_or(default);
    if kind == LichessInterface::Player {
        // Lichess needs both, and a client that forgets them is to notice it here already.
        query.get("player").ok_or_else(|| Fault::bad("player: write the name of a player"))?;
        let color = query.get("color").filter(|color| ["white", "black"].contains(color));
        color.ok_or_else(|| Fault::bad("color: write white or black"))?;
    }
    let slot = explorer.answering(query, &place)?;
    let open = slot.read();
    let book = open.book.as_ref().map_err(Fault::io)?;
    let (mut known, at) = (Vec::new(), place.game.position());
    // Where the book does not count games separately, all of them count.
    let among = if kind == LichessInterface::Masters { Among::default() } else { query.among()? };
    if !book.as_sliced().is_some_and(|book| book.moves_among(at, &among, &mut known)) {
        book.moves(at, &mut known);
    }
    let playable = explorer.playable_in(slot, &open, &place)?;
    let mut line = Answer::new(&place, &known, |mv| playable.takes(mv), most, kind);
    if let Some(games) = explorer.games.as_ref().filter(|games| games.variant() == variant) {
        line.add_games(at, &games.at(at), query, &among, kind)?;
    }
    // Clients in Python write True.
    let history = query.get("history").is_some_and(|word| word.eq_ignore_ascii_case("true"));
    line.history = history.then_some([]);
    let mut bytes = serde_json::to_vec(&line).map_err(|error| Fault::io(error.to_string()))?;
    bytes.push(b'\n');
    Ok(text(
        if kind == LichessInterface::Player { "application/x-ndjson" } else { "application/json" },
        bytes,
    ))
}

impl Answer {
    /// What a book says of a place: its moves that `takes` accepts, and the games of all.
    fn new(
        place: &ShownPlace,
        known: &[MoveFacts],
        takes: impl Fn(Move) -> bool,
        most: usize,
        kind: LichessInterface,
    ) -> Self {
        let at = place.game.position();
        let turn = at.chess().turn();
        let counted = known.iter().any(|known| known.counts.is_some_and(Counts::has_results));
        let results =
            |known: &MoveFacts| if counted { of_games(known.counts, turn) } else { of_weight(known.weight) };
        let mut sum = Results::default();
        let mut rows: Vec<(u64, Results, &MoveFacts)> = Vec::new();
        for known in known {
            let results = results(known);
            sum = Results {
                white: sum.white.saturating_add(results.white),
                draws: sum.draws.saturating_add(results.draws),
                black: sum.black.saturating_add(results.black),
            };
            let games = results.games();
            if games > 0 && takes(known.mv) {
                rows.push((games, results, known));
            }
        }
        rows.sort_by_key(|(games, ..)| Reverse(*games));
        let moves = rows.into_iter().take(most).map(|(_, results, known)| line(at, known, results, kind));
        Self {
            results: sum,
            moves: moves.collect(),
            recent_games: (kind != LichessInterface::Masters).then(Vec::new),
            top_games: (kind != LichessInterface::Player).then(Vec::new),
            opening: Opening::from_game(&place.game),
            queue_position: (kind == LichessInterface::Player).then_some(0),
            history: None,
            source: if counted { "games" } else { "weights" },
        }
    }
}

impl Answer {
    /// Adds the games of the position.
    ///
    /// # Errors
    /// When the request does not say properly which games it wants.
    fn add_games(
        &mut self,
        at: &Position,
        found: &FoundGames<'_>,
        query: &Query,
        among: &Among,
        kind: LichessInterface,
    ) -> Result<(), Fault> {
        let wanted = Wanted::from_query(query, among)?;
        let of_move = |game: &IndexedGame<'_>| Some(uci(games::move_of(at, game)?));
        if found.total() <= SHOWN_BY_MOVE {
            for mv in self.moves.iter_mut().filter(|mv| mv.results.games() == 1) {
                let mut with = found.games().filter(|game| of_move(game).as_deref() == Some(&*mv.uci));
                mv.game =
                    with.next().filter(|_| with.next().is_none()).map(|game| GameLine::from_game(&game));
            }
        }
        // A game that ended here has no move to show.
        let games = || found.games().filter(|game| game.goes_on() && wanted.has(game));
        let most = |name, default: usize, most: usize| {
            Ok::<_, Fault>(query.number(name, usize::MAX)?.unwrap_or(default).min(most))
        };
        let with = |game: IndexedGame<'_>| {
            let mut game_line = GameLine::from_game(&game);
            game_line.speed = game_line.speed.filter(|_| kind != LichessInterface::Masters);
            Some(GameWithMove { uci: of_move(&game)?, game: game_line })
        };
        if let Some(top) = &mut self.top_games {
            let of_masters = kind == LichessInterface::Masters;
            let most = most("topGames", if of_masters { TOP_MASTERS } else { SHOWN }, TOP_MASTERS)?;
            *top = games().take(most).filter_map(with).collect();
        }
        if let Some(recent) = &mut self.recent_games {
            let default = if kind == LichessInterface::Player { RECENT_PLAYER } else { SHOWN };
            let most = most("recentGames", default, TOP_MASTERS)?;
            *recent = games::latest(games(), most).into_iter().filter_map(with).collect();
        }
        Ok(())
    }
}

impl GameLine {
    fn from_game(game: &IndexedGame<'_>) -> Self {
        let player = |name: &str, rating| LichessPlayer { name: name.to_owned(), rating };
        let Date { year, month, .. } = game.date;
        let Names { white, black, .. } = game.names();
        Self {
            id: game.id(),
            winner: match game.outcome {
                Some(GameResult::White) => Some("white"),
                Some(GameResult::Black) => Some("black"),
                Some(GameResult::Draw) | None => None,
            },
            speed: game
                .speed
                .map(|speed| if speed == Speed::UltraBullet { "ultraBullet" } else { speed.name() }),
            white: player(white, game.white_elo),
            black: player(black, game.black_elo),
            year,
            month: (month > 0).then(|| format!("{year:04}-{month:02}")),
        }
    }
}

impl Results {
    fn games(self) -> u64 {
        self.white.saturating_add(self.draws).saturating_add(self.black)
    }
}

fn line(at: &Position, known: &MoveFacts, results: Results, kind: LichessInterface) -> LichessMove {
    let average = known.ratings.and_then(|ratings| ratings.average);
    LichessMove {
        uci: uci(known.mv),
        san: san(at, known.mv),
        ratings: match kind {
            LichessInterface::Player => RatingsOf::Player {
                average_opponent_rating: 0,
                performance: known.ratings.and_then(|ratings| ratings.performance).unwrap_or(0),
            },
            LichessInterface::Lichess | LichessInterface::Masters => {
                RatingsOf::All { average_rating: average.unwrap_or(0) }
            }
        },
        results,
        game: None,
        opening: Opening::at(&at.after(known.mv)),
    }
}

/// A move as Lichess writes it: castling is the king taking its rook.
fn uci(mv: Move) -> String {
    mv.to_uci(CastlingMode::Chess960).to_string()
}

fn of_games(counts: Option<Counts>, turn: Color) -> Results {
    let (white, black) = split(counts, turn);
    Results {
        white: white.unwrap_or(0),
        draws: counts.map_or(0, |counts| counts.draws),
        black: black.unwrap_or(0),
    }
}

/// Numbers of a book without results. Clients choose by the sum, which is the weight; both sides have the same share, so that
/// no client takes it for a score.
fn of_weight(weight: u64) -> Results {
    Results { white: weight / 2, draws: weight % 2, black: weight / 2 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn answered(
        moves: &str,
        known: &[(&str, u64, Option<Counts>)],
        most: usize,
        kind: LichessInterface,
    ) -> Value {
        let place = ShownPlace::read(Variant::Chess, None, moves.split(',')).unwrap();
        let facts = |(word, weight, counts): &(&str, u64, Option<Counts>)| {
            let mv = tabiya_chess::notation::read(word, place.game.position()).unwrap();
            MoveFacts { counts: *counts, ..MoveFacts::new(mv, *weight) }
        };
        let known: Vec<_> = known.iter().map(facts).collect();
        serde_json::to_value(Answer::new(&place, &known, |_| true, most, kind)).unwrap()
    }

    #[test]
    fn results_are_those_of_white_and_black_and_the_most_played_comes_first() {
        let counts = |wins, draws, losses| Some(Counts { games: wins + draws + losses, wins, draws, losses });
        let known = [("c5", 9, counts(4, 3, 2)), ("e5", 1, counts(6, 3, 1)), ("a6", 0, counts(0, 0, 0))];
        let answer = answered("e2e4", &known, 12, LichessInterface::Lichess);
        assert_eq!(
            (&answer["white"], &answer["draws"], &answer["black"]),
            (&json!(3), &json!(6), &json!(10))
        );
        let moves = answer["moves"].as_array().unwrap();
        assert_eq!(moves.len(), 2);
        assert_eq!(moves[0]["san"], "e5");
        assert_eq!(
            (&moves[0]["white"], &moves[0]["draws"], &moves[0]["black"]),
            (&json!(1), &json!(3), &json!(6))
        );
        assert_eq!(answer["opening"]["eco"], "B00");
        assert_eq!(moves[1]["opening"]["name"], "Sicilian Defense");
        assert_eq!(answer["source"], "games");
        assert_eq!(
            answered("e2e4", &known, 1, LichessInterface::Lichess)["moves"].as_array().unwrap().len(),
            1
        );
    }

    #[test]
    fn the_three_interfaces_have_their_own_fields() {
        let known = [("e4", 3, None)];
        let keys = |kind| {
            let answer = answered("", &known, 12, kind);
            let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
            (keys(&answer), keys(&answer["moves"][0]))
        };
        let (lichess, masters, player) = (
            keys(LichessInterface::Lichess),
            keys(LichessInterface::Masters),
            keys(LichessInterface::Player),
        );
        assert_eq!(
            lichess.0,
            ["white", "draws", "black", "moves", "recentGames", "topGames", "opening", "source"]
        );
        assert_eq!(masters.0, ["white", "draws", "black", "moves", "topGames", "opening", "source"]);
        assert_eq!(
            player.0,
            ["white", "draws", "black", "moves", "recentGames", "opening", "queuePosition", "source"]
        );
        assert_eq!(lichess.1, ["uci", "san", "averageRating", "white", "draws", "black", "game", "opening"]);
        assert_eq!(lichess.1, masters.1);
        assert!(
            player.1.contains(&"averageOpponentRating".to_owned())
                && player.1.contains(&"performance".to_owned())
        );
    }

    #[test]
    fn weights_are_sums_without_a_score() {
        let answer = answered(
            "",
            &[("e4", 61, None), ("d4", 7, None), ("a3", 0, None)],
            12,
            LichessInterface::Masters,
        );
        assert_eq!(answer["source"], "weights");
        let moves = answer["moves"].as_array().unwrap();
        assert_eq!(moves.len(), 2);
        assert_eq!(
            (&moves[0]["white"], &moves[0]["draws"], &moves[0]["black"]),
            (&json!(30), &json!(1), &json!(30))
        );
    }

    #[test]
    fn castling_is_the_king_taking_its_rook() {
        let line = "e2e4,e7e5,g1f3,b8c6,f1c4,f8c5";
        assert_eq!(
            answered(line, &[("O-O", 1, None)], 12, LichessInterface::Lichess)["moves"][0]["uci"],
            "e1h1"
        );
        answered(&format!("{line},e1h1"), &[("Nf6", 1, None)], 12, LichessInterface::Lichess);
    }
}
