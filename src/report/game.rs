//! One game: where it left the books.

use std::ops::ControlFlow;
use std::sync::Arc;

use shakmaty::{ByColor, Color, Move, Position as _};

use super::remark::Remark;
use crate::book::Book;
use crate::chess::{MoveCode, Position};
use crate::choose::Policy;
use crate::choose::by_chance;
use crate::evals::{Store, value};
use crate::games::{End, GameError, GameResult, Header, Visitor};
use crate::openings::Opening;
use crate::uci::Score;

/// Centipawns that a mate counts as, as `vet` has it.
const MATE: i64 = 10_000;

/// Moves after the book whose time shows what a move of the book has saved.
const TIMED: u32 = 10;

/// Plies up to which openings are named; the longest named line has 36.
const NAMED: usize = 40;

/// Plies in the books that most games have at most.
const USUAL: usize = 32;

/// The number of look-ups that are remembered is 2 to the power of this: 128 KiB for each book, which the processor keeps near.
const SLOT_BITS: u32 = 14;

/// Games that could not be read of which the error is kept.
pub const ERRORS_KEPT: usize = 10;

/// Why a game left the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Left {
    /// This side played another move than the books have.
    Side(Color),
    /// No book has a move in the position.
    BookEnded,
    /// The game ended in the books.
    GameEnded,
}

/// A move of the books.
#[derive(Clone, Debug, PartialEq)]
pub struct BookMove {
    /// The move.
    pub mv: Move,
    /// The chance with which the first book that has moves here plays it, with its default options.
    pub chance: f64,
}

impl BookMove {
    /// What books have in a position, each move once, the most likely first.
    pub fn of(books: &[Arc<dyn Book>], at: &Position) -> Vec<Self> {
        let mut moves: Vec<Self> = Vec::new();
        for book in books {
            for (facts, chance) in by_chance(&**book, at, &Policy::default(), |_| true) {
                if !moves.iter().any(|known| known.mv == facts.mv) {
                    moves.push(Self { mv: facts.mv, chance });
                }
            }
        }
        moves.sort_by(|a, b| b.chance.total_cmp(&a.chance));
        moves
    }
}

/// Where a game left the books.
#[derive(Clone, Debug)]
pub struct Exit {
    /// The position.
    pub at: Position,
    /// The moves to it.
    pub line: Vec<MoveCode>,
    /// Why the game left the books here.
    pub left: Left,
    /// The move that was played.
    pub played: Option<Move>,
    /// What the books have here, the most likely first, where that is wanted.
    pub book_moves: Vec<BookMove>,
}

/// What is kept of each game besides.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// All its moves.
    pub line: bool,
    /// What the books have where it left them.
    pub book_moves: bool,
}

/// A game, and where it left the books.
#[derive(Clone, Debug)]
pub struct Game {
    /// Its number, from 1.
    pub number: u64,
    /// The players.
    pub players: ByColor<String>,
    /// Its round.
    pub round: String,
    /// The result.
    pub result: Option<GameResult>,
    /// The position that it starts from, if that is not the usual one.
    pub start: Option<Position>,
    /// Plies from the start of the game until the first move that no book has.
    pub book_plies: u32,
    /// The keys of the positions before these plies.
    pub keys: Vec<u64>,
    /// Where it left the books.
    pub exit: Exit,
    /// Centipawns for White there: as the game says, or else a store.
    pub eval: Option<i64>,
    /// Moves of each side that a book has.
    pub book_moves: ByColor<u32>,
    /// For each side, the book that had most of its moves.
    pub books: ByColor<Option<usize>>,
    /// Seconds that each side has saved by its moves of the book, if the game says how long moves took.
    pub saved: ByColor<Option<f64>>,
    /// The opening.
    pub opening: Option<Opening>,
    /// What distinguishes the moves of the game from those of others.
    pub moves: u64,
    /// All moves, where they are kept.
    pub line: Vec<MoveCode>,
}

/// Times of one side.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    /// Moves of the book that have a time, and their seconds.
    book: (u32, f64),
    /// The first moves after the book that have one.
    after: (u32, f64),
}

/// Whether a book has a move, of the look-ups that were last: games begin alike.
struct Recent {
    /// Each has a digest of position and move, and whether the book has it in the last bit.
    slots: Vec<u64>,
}

impl Recent {
    fn new() -> Self {
        Self { slots: vec![0; 1 << SLOT_BITS] }
    }

    fn has(&mut self, book: &dyn Book, at: &Position, mv: Move) -> bool {
        // The odd number spreads the bits of the move over the digest: 2^64 divided by the golden ratio.
        let code = u64::from(MoveCode::from_move(mv).0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let digest = (at.key() ^ code) & !1;
        let Some(slot) = self.slots.get_mut((digest >> (u64::BITS - SLOT_BITS)) as usize) else {
            return false;
        };
        if *slot & !1 != digest {
            *slot = digest | u64::from(book.has(at, mv));
        }
        *slot & 1 == 1
    }
}

/// A game that is being read.
struct Open {
    game: Game,
    in_book: bool,
    /// Whether a comment has said what the exit is worth.
    is_scored: bool,
    /// The side that moved last, and whether the move was one of the book.
    last: Option<(Color, bool)>,
    times: ByColor<Times>,
    plies: usize,
}

/// Reads games, and says of each where it left the books. Games are numbered from 1.
pub struct Reader<'a> {
    books: &'a [Arc<dyn Book>],
    stores: &'a [Store],
    /// Which games are wanted.
    admits: &'a (dyn Fn(&Header) -> bool + Sync),
    kept: Kept,
    /// The last look-ups in each book.
    recent: Vec<Recent>,
    /// For each book, whether it has the move that is looked at.
    known: Vec<bool>,
    /// For each book, the moves of each side in the current game that it has.
    counts: Vec<ByColor<u32>>,
    /// The moves of the current game as long as it is in the books or its opening may get a name.
    first: Vec<Move>,
    /// The games that were wanted.
    pub found: Vec<Game>,
    open: Option<Open>,
    /// Games so far, wanted or not.
    pub games: u64,
    /// The first games that could not be read, or not to their end.
    pub errors: Vec<GameError>,
    /// All such games.
    pub failed: u64,
}

impl<'a> Reader<'a> {
    /// A reader that has read nothing.
    pub fn new(
        books: &'a [Arc<dyn Book>],
        stores: &'a [Store],
        admits: &'a (dyn Fn(&Header) -> bool + Sync),
        kept: Kept,
    ) -> Self {
        Self {
            books,
            stores,
            admits,
            kept,
            recent: books.iter().map(|_| Recent::new()).collect(),
            known: Vec::new(),
            counts: Vec::new(),
            first: Vec::new(),
            found: Vec::new(),
            open: None,
            games: 0,
            errors: Vec::new(),
            failed: 0,
        }
    }

    /// Counts a game that could not be read to its end: there may be any number of them.
    fn fail(&mut self, error: GameError) {
        self.failed += 1;
        if self.errors.len() < ERRORS_KEPT {
            self.errors.push(error);
        }
    }

    /// The evaluation of a position in the stores, for White.
    fn stored(&self, at: &Position) -> Option<i64> {
        let found = self.stores.iter().find_map(|store| store.get(at))?;
        let score = centipawns(found.score);
        Some(at.chess().turn().fold_wb(score, -score))
    }

    /// Whether a book has moves in a position.
    fn knows(&self, at: &Position) -> bool {
        self.books.iter().any(|book| !book.moves_in(at).is_empty())
    }
}

impl Visitor for Reader<'_> {
    fn begin(&mut self, header: &Header) -> bool {
        self.games += 1;
        if !(self.admits)(header) {
            return false;
        }
        let at = header.start.clone().unwrap_or_else(Position::start);
        let (opening, moves) = (Opening::at(&at), at.key());
        let exit = Exit {
            at,
            line: Vec::with_capacity(USUAL),
            left: Left::GameEnded,
            played: None,
            book_moves: Vec::new(),
        };
        let game = Game {
            number: self.games,
            players: ByColor { white: header.white.clone(), black: header.black.clone() },
            round: header.round.clone(),
            result: None,
            start: header.start.clone(),
            book_plies: 0,
            keys: Vec::with_capacity(USUAL),
            exit,
            eval: None,
            book_moves: ByColor::default(),
            books: ByColor::default(),
            saved: ByColor::default(),
            opening,
            moves,
            line: Vec::new(),
        };
        self.first.clear();
        self.counts.clear();
        self.counts.resize(self.books.len(), ByColor::default());
        let (last, times) = (None, ByColor::default());
        self.open = Some(Open { game, in_book: true, is_scored: false, last, times, plies: 0 });
        true
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        let in_book = self.open.as_ref().is_some_and(|open| open.in_book);
        self.known.clear();
        if in_book {
            let look_ups = self.books.iter().zip(&mut self.recent);
            self.known.extend(look_ups.map(|(book, recent)| recent.has(&**book, at, mv)));
        }
        let is_known = self.known.contains(&true);
        let any = is_known || in_book && self.knows(at);
        // A book for both sides that has no move here has ended, wherever the game goes on.
        let turn = at.chess().turn();
        let has_moved = |open: &Open| *open.game.book_moves.get(turn) > 0;
        let is_others = !any && !self.open.as_ref().is_some_and(has_moved);
        let goes_on = in_book && (is_known || is_others && self.knows(&at.after(mv)));
        let leaves = in_book && !goes_on;
        let stored = if leaves { self.stored(at) } else { None };
        let moves = if leaves && self.kept.book_moves { BookMove::of(self.books, at) } else { Vec::new() };
        let Some(open) = &mut self.open else { return ControlFlow::Break(()) };
        let code = MoveCode::from_move(mv);
        open.plies += 1;
        // FNV-1a, over the codes of the moves.
        open.game.moves = (open.game.moves ^ u64::from(code.0)).wrapping_mul(0x0100_0000_01b3);
        if self.kept.line {
            open.game.line.push(code);
        }
        // The position before the first move was named when the game began.
        if (2..=NAMED + 1).contains(&open.plies) {
            open.game.opening = Opening::at(at).or(open.game.opening);
        }
        if in_book || open.plies <= NAMED {
            self.first.push(mv);
        }
        open.last = Some((turn, in_book && is_known));
        if goes_on {
            open.game.book_plies += 1;
            open.game.keys.push(at.key());
            open.game.exit.line.push(code);
            if is_known {
                *open.game.book_moves.get_mut(turn) += 1;
                let counts = self.counts.iter_mut().map(|counts| counts.get_mut(turn));
                counts.zip(&self.known).for_each(|(count, known)| *count += u32::from(*known));
            }
        } else if in_book {
            open.in_book = false;
            let left = if any { Left::Side(turn) } else { Left::BookEnded };
            let exit = &mut open.game.exit;
            (exit.at, exit.left, exit.played, exit.book_moves) = (at.clone(), left, Some(mv), moves);
            open.game.eval = stored;
        }
        ControlFlow::Continue(())
    }

    fn wants_remarks(&self) -> bool {
        true
    }

    fn comment(&mut self, text: &[u8]) {
        let Some(open) = &mut self.open else { return };
        let Some((mover, is_book)) = open.last else { return };
        let Remark { score, seconds } = Remark::read(text, mover);
        if let Some(seconds) = seconds {
            let times = open.times.get_mut(mover);
            let (count, sum) = if is_book { &mut times.book } else { &mut times.after };
            if is_book || *count < TIMED {
                (*count, *sum) = (*count + 1, *sum + seconds);
            }
        }
        // The first comment after the exit that has a score counts, and more than a store.
        if !open.in_book
            && !open.is_scored
            && let Some(score) = score
        {
            (open.is_scored, open.game.eval) = (true, Some(centipawns(score)));
        }
    }

    fn end(&mut self, end: End) {
        if let Some(error) = end.error {
            self.fail(error);
        }
        let Some(Open { mut game, in_book, times, plies, .. }) = self.open.take() else {
            return;
        };
        if plies > 0 && (in_book || plies <= NAMED) {
            let mut last = game.start.clone().unwrap_or_else(Position::start);
            self.first.iter().for_each(|mv| last.play(*mv));
            if plies <= NAMED {
                game.opening = Opening::at(&last).or(game.opening);
            }
            if in_book {
                game.exit.at = last;
            }
        }
        game.result = end.result;
        game.saved = times.zip(game.book_moves).map(|(times, moves)| {
            let ((timed, spent), (count, sum)) = (times.book, times.after);
            let mean = (count > 0).then(|| sum / f64::from(count))?;
            (moves > 0 && timed > 0).then(|| (mean * f64::from(timed) - spent).max(0.0))
        });
        game.books = ByColor::new_with(|side| {
            let counts = self.counts.iter().map(|counts| *counts.get(side)).enumerate();
            let best = counts.max_by_key(|(number, count)| (*count, std::cmp::Reverse(*number)));
            best.filter(|(_, count)| *count > 0).map(|(number, _)| number)
        });
        self.found.push(game);
    }

    fn unreadable(&mut self, error: GameError) {
        self.games += 1;
        self.fail(error);
    }
}

/// A score in centipawns.
fn centipawns(score: Score) -> i64 {
    i64::from(value(score)).clamp(-MATE, MATE)
}

impl Game {
    /// Points of a side, in halves; `None` without a result.
    pub fn halves(&self, side: Color) -> Option<u8> {
        Some(match self.result? {
            GameResult::Draw => 1,
            GameResult::White => side.fold_wb(2, 0),
            GameResult::Black => side.fold_wb(0, 2),
        })
    }
}
