//! What a book says of a position: its moves with the chance of each under a policy, and the promised line of JSON for that.

pub mod json;

use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Color, Move, Position as _};

use tabiya_book::choose::{Chances, Policy, Refused, Weights, Worth, chances_in, likeliest_first};
use tabiya_book::traits::Book;
use tabiya_book::{BookSet, GameReference, MoveFacts, verdict};
use tabiya_chess::openings::Opening;
use tabiya_chess::{Game, MoveCode, Position, Variant};

pub use self::json::{Facts, game_line};

/// A book's moves in a position, the most likely first.
#[derive(Debug)]
pub struct View<'a> {
    /// The book.
    pub book: &'a dyn Book,
    /// The game with the position.
    pub game: &'a Game,
    /// How castling is written.
    pub mode: CastlingMode,
    /// The moves with the chance of each.
    pub moves: Vec<(MoveFacts, f64)>,
    /// Why those that may not be played are not.
    pub refused: Refused,
    /// What the moves lose, if that matters.
    pub losses: Worth,
    /// The name of the opening.
    pub opening: Option<Opening>,
    /// What the book says in words.
    pub comment: Option<String>,
    /// A game with the position.
    pub reference: Option<GameReference>,
    /// Plies of the line that begins with the most likely move; `None` if no move is playable.
    pub line: Option<u32>,
    /// How it is asked, if it is a book of the configuration.
    pub asked: Option<AskedBook>,
    /// Of what the chances are made.
    pub weights: Weights,
    /// What the position and its moves are worth, if a store of evaluations says so.
    pub worth: Option<Worth>,
}

/// How a book of the configuration is asked.
#[derive(Clone, Copy, Debug)]
pub struct AskedBook {
    /// The number of its rule, if it has one.
    pub rule: Option<usize>,
    /// Whether it is the one that answers.
    pub chosen: bool,
    /// Why its rule is not asked, if that is known.
    pub skipped: Option<&'static str>,
}

impl<'a> View<'a> {
    /// Looks a position up in a book; the books of its set, from this one on, decide how long its lines are.
    pub fn look_up(
        book: &'a dyn Book,
        (book_set, from): (&mut BookSet, usize),
        game: &'a Game,
        mode: CastlingMode,
        policy: &Policy,
    ) -> Self {
        let position = game.position();
        let color = position.chess().turn();
        let Chances { moves, chances, losses } = chances_in(book, (book_set, from), game, policy);
        let by_games = policy.weights == Weights::Games && verdict::by_games(&moves).is_some();
        let weights = if by_games { Weights::Games } else { Weights::Points };
        let moves = likeliest_first(moves, chances);
        let refused = Refused::new(&moves, &losses, (book_set, from), game, policy);
        let first = moves.first().filter(|(_, chance)| *chance > 0.0);
        let line = first.map(|(first, _)| {
            book_set.line_of(policy.reading(color, from), position, first.mv, 0, &mut Vec::new())
        });
        let (opening, remarks) = (Opening::from_game(game), book.as_remarks());
        let comment = remarks.and_then(|book| book.comment(position));
        let reference = remarks.and_then(|book| book.game(position));
        let (asked, worth) = (None, None);
        Self {
            book,
            game,
            mode,
            moves,
            refused,
            losses,
            opening,
            comment,
            reference,
            line,
            asked,
            weights,
            worth,
        }
    }
}

/// A move in standard algebraic notation.
pub fn san(at: &Position, mv: Move) -> String {
    SanPlus::from_move(at.chess().clone(), mv).to_string()
}

/// A move in UCI, with castling by the rules of the position.
pub fn uci(at: &Position, mv: Move) -> String {
    UciMove::from_move(mv, at.chess().castles().mode()).to_string()
}

/// A position after moves from the start, and the line to it as people write it.
#[derive(Debug)]
pub struct PositionLine {
    /// The position.
    pub at: Position,
    /// The line.
    pub text: String,
}

impl PositionLine {
    /// The line of these moves in standard chess, up to one that is not legal.
    pub fn from_moves(moves: impl IntoIterator<Item = MoveCode>) -> Self {
        Self::of_variant(Variant::Chess, moves)
    }

    /// As [`PositionLine::from_moves`], in a variant.
    pub fn of_variant(variant: Variant, moves: impl IntoIterator<Item = MoveCode>) -> Self {
        Self::after(&Position::start_of(variant), moves)
    }

    /// As [`PositionLine::from_moves`], from any position.
    pub fn after(start: &Position, moves: impl IntoIterator<Item = MoveCode>) -> Self {
        let mut line = Self { at: start.clone(), text: String::new() };
        for (at, mv) in start.clone().replay(moves) {
            line.text = continued(&line.text, &at, &san(&at, mv));
            line.at = at.after(mv);
        }
        line
    }
}

/// The position of a game from the usual start in words.
pub fn place_in_words(game: &Game) -> String {
    let moves = game.moves().iter().map(|mv| MoveCode::from_move(*mv));
    let PositionLine { text, .. } = PositionLine::of_variant(game.position().variant(), moves);
    if text.is_empty() { "in the starting position".to_owned() } else { format!("after {text}") }
}

/// A line to this position with one more move in words.
pub fn continued(line: &str, at: &Position, mv: &str) -> String {
    let blank = if line.is_empty() { "" } else { " " };
    format!("{line}{blank}{}{mv}", number(at, !line.is_empty()))
}

/// The number before a move in this position: `7. ` or `7... `; nothing before Black's move if `short`.
pub fn number(at: &Position, short: bool) -> String {
    match at.chess().turn() {
        Color::White => format!("{}. ", at.chess().fullmoves()),
        Color::Black if short => String::new(),
        Color::Black => format!("{}... ", at.chess().fullmoves()),
    }
}
