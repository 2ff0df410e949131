//! `/lichess`, `/masters`, `/player`: the interface of Lichess's opening explorer, answered from one book.
//!
//! The names and meanings of parameters and fields are those that Lichess documents publicly (<https://lichess.org/api>,
//! Opening Explorer), so that its clients can ask tabiya. What is not known is empty, null or (ratings) 0. Players and years are
//! known of games only: a request that names them is answered from these, or refused.

use std::cmp::Reverse;

use axum::response::Response;
use serde::Serialize;
use shakmaty::{CastlingMode, Color, Move, Position as _};

use tabiya_book::{Among, Counts, MoveFacts};
use tabiya_chess::openings::Opening;
use tabiya_chess::{Position, Speed, Variant};
use tabiya_games::{Date, GameResult, PlayerName};
use tabiya_workshop::view::san;

use super::Explorer;
use super::answering::{Answering, Playable};
use super::fault::Fault;
use super::games::{self, FoundGames, GameFacts, IndexedGame, Names, PlayedMove, Wanted};
use super::place::ShownPlace;
use super::reply::text;
use super::request::Query;
use super::results::split;
use super::shelf::Slot;

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

/// A move, and what is known of it.
struct Row {
    mv: Move,
    results: Results,
    ratings: RatingsOf,
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
    // Of masters' games, speeds and ratings are not asked for.
    let among = if kind == LichessInterface::Masters { Among::default() } else { query.among()? };
    let by = match kind {
        LichessInterface::Player => {
            // Lichess needs both, and a client that forgets them is to notice it here already.
            let player =
                query.get("player").ok_or_else(|| Fault::bad("player: write the name of a player"))?;
            let color = query.color("color")?.ok_or_else(|| Fault::bad("color: write white or black"))?;
            Some((PlayerName::whole(player), color))
        }
        LichessInterface::Lichess | LichessInterface::Masters => None,
    };
    let dated = ["since", "until"].into_iter().find(|name| query.get(name).is_some());
    let asked = by.as_ref().map(|_| "player").or(dated);
    let at = place.game.position();
    let (player, color) = by.unzip();
    let games = explorer.games.as_ref().filter(|games| games.variant() == variant);
    let wanted = games.map(|games| games.wanted(query, among.clone(), (player, color))).transpose()?;
    let asked_games = games.map(|games| games.at(at)).zip(wanted.as_ref());
    let (rows, source) = match explorer.results(query, &place, (asked, &among))? {
        Answering::Games => {
            let played = asked_games.iter().flat_map(|(found, wanted)| wanted.played_in(found));
            (played.filter_map(|played| Row::of_games(at, &played, color)).collect(), "games")
        }
        Answering::Book(slot) => Row::of_book(slot, at, &among, kind)?,
    };
    let playable = match explorer.playable {
        true => explorer.playable(query, &place)?,
        false => Playable::All,
    };
    let mut line = Answer::new(&place, rows, |mv| playable.takes(mv), most, (kind, source));
    if let Some((found, wanted)) = asked_games {
        line.add_games(at, &found, wanted, query, kind)?;
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
    /// The moves of a place that `takes` accepts, and the games of all.
    fn new(
        place: &ShownPlace,
        mut rows: Vec<Row>,
        takes: impl Fn(Move) -> bool,
        most: usize,
        (kind, source): (LichessInterface, &'static str),
    ) -> Self {
        let at = place.game.position();
        let sum = rows.iter().fold(Results::default(), |sum, row| sum.plus(row.results));
        rows.retain(|row| row.results.games() > 0 && takes(row.mv));
        rows.sort_by_key(|row| Reverse(row.results.games()));
        Self {
            results: sum,
            moves: rows.into_iter().take(most).map(|row| row.line(at)).collect(),
            recent_games: (kind != LichessInterface::Masters).then(Vec::new),
            top_games: (kind != LichessInterface::Player).then(Vec::new),
            opening: Opening::from_game(&place.game),
            queue_position: (kind == LichessInterface::Player).then_some(0),
            history: None,
            source,
        }
    }
}

impl Row {
    /// The moves of a book, and what their numbers are made of.
    ///
    /// # Errors
    /// When the book is not open.
    fn of_book(
        slot: &Slot,
        at: &Position,
        among: &Among,
        kind: LichessInterface,
    ) -> Result<(Vec<Self>, &'static str), Fault> {
        let open = slot.read();
        let book = open.book.as_ref().map_err(Fault::io)?;
        let mut known = Vec::new();
        // Where the book does not count games separately, all of them count.
        if !book.as_sliced().is_some_and(|book| book.moves_among(at, among, &mut known)) {
            book.moves(at, &mut known);
        }
        Ok(Self::of_moves(&known, at.chess().turn(), kind))
    }

    fn of_moves(known: &[MoveFacts], turn: Color, kind: LichessInterface) -> (Vec<Self>, &'static str) {
        let counted = known.iter().any(|known| known.counts.is_some_and(Counts::has_results));
        let row = |known: &MoveFacts| Self {
            mv: known.mv,
            results: if counted { of_counts(known.counts, turn) } else { of_weight(known.weight) },
            ratings: match kind {
                LichessInterface::Player => RatingsOf::Player { average_opponent_rating: 0, performance: 0 },
                LichessInterface::Lichess | LichessInterface::Masters => {
                    let average = known.ratings.and_then(|ratings| ratings.average);
                    RatingsOf::All { average_rating: average.unwrap_or(0) }
                }
            },
        };
        (known.iter().map(row).collect(), if counted { "games" } else { "weights" })
    }

    /// A move of games; of a player's, who has this color, with how strong the opponents were.
    fn of_games(at: &Position, played: &PlayedMove, player: Option<Color>) -> Option<Self> {
        let (facts, tally) = (played.facts(at)?, &played.tally);
        Some(Self {
            mv: facts.mv,
            results: Results {
                white: tally.won.white.into(),
                draws: tally.draws.into(),
                black: tally.won.black.into(),
            },
            ratings: match player {
                Some(color) => RatingsOf::Player {
                    average_opponent_rating: tally.average(!color).unwrap_or(0),
                    performance: tally.performance(color).unwrap_or(0),
                },
                None => RatingsOf::All { average_rating: tally.average(at.chess().turn()).unwrap_or(0) },
            },
        })
    }

    fn line(self, at: &Position) -> LichessMove {
        let Self { mv, ratings, results } = self;
        let opening = Opening::at(&at.after(mv));
        LichessMove { uci: uci(mv), san: san(at, mv), ratings, results, game: None, opening }
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
        wanted: &Wanted,
        query: &Query,
        kind: LichessInterface,
    ) -> Result<(), Fault> {
        let of_move = |game: &IndexedGame<'_>| Some(uci(games::move_of(at, game)?));
        if found.total() <= SHOWN_BY_MOVE {
            for mv in self.moves.iter_mut().filter(|mv| mv.results.games() == 1) {
                let mut with = wanted.of(found).filter(|game| of_move(game).as_deref() == Some(&*mv.uci));
                mv.game =
                    with.next().filter(|_| with.next().is_none()).map(|game| GameLine::from_game(&game));
            }
        }
        // A game that ended here has no move to show.
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
            *top = wanted.of(found).filter(IndexedGame::goes_on).take(most).filter_map(with).collect();
        }
        if let Some(recent) = &mut self.recent_games {
            let default = if kind == LichessInterface::Player { RECENT_PLAYER } else { SHOWN };
            let most = most("recentGames", default, TOP_MASTERS)?;
            let latest = wanted.latest_of(found).filter(IndexedGame::goes_on);
            *recent = latest.take(most).filter_map(with).collect();
        }
        Ok(())
    }
}

impl GameLine {
    fn from_game(game: &IndexedGame<'_>) -> Self {
        let player = |name: &str, rating| LichessPlayer { name: name.to_owned(), rating };
        let GameFacts { elos, outcome, date: Date { year, month, .. } } = game.facts;
        let Names { white, black, .. } = game.names();
        Self {
            id: game.id(),
            winner: match outcome {
                Some(GameResult::White) => Some("white"),
                Some(GameResult::Black) => Some("black"),
                Some(GameResult::Draw) | None => None,
            },
            speed: game
                .speed
                .map(|speed| if speed == Speed::UltraBullet { "ultraBullet" } else { speed.name() }),
            white: player(white, elos.white),
            black: player(black, elos.black),
            year,
            month: (month > 0).then(|| format!("{year:04}-{month:02}")),
        }
    }
}

impl Results {
    fn games(self) -> u64 {
        self.white.saturating_add(self.draws).saturating_add(self.black)
    }

    fn plus(self, other: Self) -> Self {
        Self {
            white: self.white.saturating_add(other.white),
            draws: self.draws.saturating_add(other.draws),
            black: self.black.saturating_add(other.black),
        }
    }
}

/// A move as Lichess writes it: castling is the king taking its rook.
fn uci(mv: Move) -> String {
    mv.to_uci(CastlingMode::Chess960).to_string()
}

fn of_counts(counts: Option<Counts>, turn: Color) -> Results {
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
        let (rows, source) = Row::of_moves(&known, place.game.position().chess().turn(), kind);
        serde_json::to_value(Answer::new(&place, rows, |_| true, most, (kind, source))).unwrap()
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
