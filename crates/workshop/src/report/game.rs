//! One game: where it left the books.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use shakmaty::{ByColor, Color, Move, Position as _};

use tabiya_book::Points;
use tabiya_book::choose::Policy;
use tabiya_book::choose::by_chance;
use tabiya_book::traits::Book;
use tabiya_chess::openings::Opening;
use tabiya_chess::{MoveCode, Position};
use tabiya_games::{GameEnd, GameError, GameHeader, GameResult, Visitor, decode_text};
use tabiya_search::evals::{Store, value};
use tabiya_uci::Score;

use super::remark::Remark;
use super::shelf::{Own, Shelf};

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

/// Why a game left the books: as soon as the books of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LeaveReason {
    /// This side played another move than its books have.
    Side(Color),
    /// A side played another move than the books have, which may be those of the other side.
    Unknown,
    /// This side searched for its move, though its books have moves here: their own limit, such as a depth, has silenced them.
    Limit(Color),
    /// No book of the side to move has a move in the position.
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
    pub fn find_all<'a>(books: impl IntoIterator<Item = &'a Arc<dyn Book>>, at: &Position) -> Vec<Self> {
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
    pub left: LeaveReason,
    /// The move that was played.
    pub played: Option<Move>,
    /// The books of the side to move.
    pub own: Own,
    /// What these have here, the most likely first, where that is wanted.
    pub book_moves: Vec<BookMove>,
}

/// What is kept of each game besides.
#[derive(Clone, Copy, Debug)]
pub struct GameFacts {
    /// All its moves, and what its header says.
    pub line: bool,
    /// What the books have where it left them.
    pub book_moves: bool,
}

/// A game, and where it left the books.
#[derive(Clone, Debug)]
pub struct ReportGame {
    /// Its number, from 1.
    pub number: u64,
    /// The players.
    pub players: ByColor<String>,
    /// Its round.
    pub round: String,
    /// Its header, where that is kept.
    pub header: Option<GameHeader>,
    /// The result.
    pub result: Option<GameResult>,
    /// The position that it starts from, if that is not the usual one.
    pub start: Option<Position>,
    /// Plies from the start of the game until the first move that no book of its side has.
    pub book_plies: u32,
    /// Those of them with which the runner has begun the game: they are no moves of the players' books.
    pub given: u32,
    /// The keys of the positions before these plies.
    pub keys: Vec<u64>,
    /// Where it left the books.
    pub exit: Exit,
    /// Centipawns for White there: as the game says, or else a store.
    pub eval: Option<i64>,
    /// The books of each side.
    pub own: ByColor<Own>,
    /// Moves of each side that its books have, until the first of its moves that they do not have.
    pub book_moves: ByColor<u32>,
    /// For each side, the book that had most of its moves: none, or several where the games do not say which of them.
    pub books: ByColor<Vec<usize>>,
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
        let digest = (at.whole_key() ^ code) & !1;
        let Some(slot) = self.slots.get_mut((digest >> (u64::BITS - SLOT_BITS)) as usize) else {
            return false;
        };
        if *slot & !1 != digest {
            *slot = digest | u64::from(book.has(at, mv));
        }
        *slot & 1 == 1
    }
}

/// What the comments after a move say.
#[derive(Clone, Copy, Debug)]
struct Note {
    /// The ply of the move, from 0.
    ply: usize,
    score: Option<Score>,
    seconds: Option<f64>,
    /// Whether the engine moved without a search.
    is_unsearched: bool,
    /// Whether the runner has played it.
    is_given: bool,
    /// Whether it names the book of the move.
    names_book: bool,
}

/// The first moves of a side, which it played without a search, and the books that have them.
#[derive(Clone, Debug, Default)]
struct Unsearched {
    /// Moves without a search so far.
    moves: u32,
    /// The books that have all of them.
    all: Vec<usize>,
    /// For each of them, the books that have it.
    some: Vec<usize>,
    /// Whether some book has each of them.
    is_explained: bool,
    /// Whether a move with a search has come.
    is_over: bool,
}

/// A side on the way through its books.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Whether its books have had its moves so far, or nothing to say.
    is_in: bool,
    /// Its moves that they have.
    moves: u32,
}

/// Reads games, and says of each where it left the books. Games are numbered from 1.
pub struct ReportReader<'a> {
    shelf: &'a Shelf,
    stores: &'a [Store],
    /// Which games are wanted.
    admits: &'a (dyn Fn(&GameHeader) -> bool + Sync),
    kept: GameFacts,
    /// The last look-ups in each book.
    recent: Vec<Recent>,
    /// The books that have the move that is looked at.
    known: Vec<usize>,
    /// For each book, the moves of each side in the current game that it has.
    counts: Vec<ByColor<u32>>,
    /// The moves of the current game.
    plies: Vec<Move>,
    /// The comments of the current game.
    notes: Vec<Note>,
    /// The books that they name for each side.
    named: ByColor<Vec<usize>>,
    /// The side that moved last.
    last: Option<Color>,
    /// Of the first moves of the current game, whether they are of the side's books.
    is_book: Vec<bool>,
    /// The games that were wanted.
    pub found: Vec<ReportGame>,
    open: Option<ReportGame>,
    /// Games so far, wanted or not.
    pub games: u64,
    /// The first games that could not be read, or not to their end.
    pub errors: Vec<GameError>,
    /// All such games.
    pub failed: u64,
}

impl fmt::Debug for ReportReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReportReader").field("found", &self.found).finish_non_exhaustive()
    }
}

impl<'a> ReportReader<'a> {
    /// A reader that has read nothing.
    pub fn new(
        shelf: &'a Shelf,
        stores: &'a [Store],
        admits: &'a (dyn Fn(&GameHeader) -> bool + Sync),
        kept: GameFacts,
    ) -> Self {
        Self {
            shelf,
            stores,
            admits,
            kept,
            recent: shelf.books().iter().map(|_| Recent::new()).collect(),
            known: Vec::new(),
            counts: Vec::new(),
            plies: Vec::new(),
            notes: Vec::new(),
            named: ByColor::default(),
            last: None,
            is_book: Vec::new(),
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

    /// The books of a side.
    fn books(&self, own: &Own) -> impl Iterator<Item = &'a Arc<dyn Book>> {
        let shelf = self.shelf;
        own.books.iter().copied().filter_map(|number| shelf.books().get(number))
    }

    /// Whether a book of a side has moves in a position.
    fn knows(&self, own: &Own, at: &Position) -> bool {
        self.books(own).any(|book| !book.moves_in(at).is_empty())
    }

    /// Finds the books of a side that have a move.
    fn look_up(&mut self, own: &Own, at: &Position, mv: Move) {
        self.known.clear();
        for number in own.books.iter().copied() {
            let (book, recent) = (self.shelf.books().get(number), self.recent.get_mut(number));
            if book.zip(recent).is_some_and(|(book, recent)| recent.has(&**book, at, mv)) {
                self.known.push(number);
            }
        }
    }

    /// Follows the game through the books of both sides, as far as either is in them.
    fn follow(&mut self, game: &mut ReportGame) {
        let searched = self.searched(game);
        let plies = std::mem::take(&mut self.plies);
        let mut at = game.begin();
        let mut ways = ByColor { white: Way { is_in: true, moves: 0 }, black: Way { is_in: true, moves: 0 } };
        let mut in_book = true;
        self.is_book.clear();
        for (ply, mv) in plies.iter().copied().enumerate() {
            if ply < game.given as usize {
                self.is_book.push(false);
                game.step(&at, mv);
                at.play(mv);
                continue;
            }
            // Once the game has left the books of one side, the other goes on in those that it has used.
            let goes = |way: &Way| way.is_in && (in_book || way.moves > 0);
            if !in_book && !ways.iter().any(goes) {
                break;
            }
            let turn = at.chess().turn();
            let way = *ways.get(turn);
            let own = game.own.get(turn).clone();
            self.known.clear();
            let goes = goes(&way);
            if goes {
                self.look_up(&own, &at, mv);
            }
            let is_limited = searched.get(ply) == Some(&true);
            if is_limited {
                self.known.clear();
            }
            let is_known = !self.known.is_empty();
            let any = is_known || goes && self.knows(&own, &at);
            // A side whose books have had no move yet may have none at all: the other side's say whether the game goes on.
            let is_others = in_book && !any && way.moves == 0;
            let others = game.own.get(turn.other());
            let goes_on = is_known || is_others && self.knows(others, &at.after(mv));
            self.is_book.push(is_known);
            if is_known {
                ways.get_mut(turn).moves += 1;
                for number in &self.known {
                    if let Some(counts) = self.counts.get_mut(*number) {
                        *counts.get_mut(turn) += 1;
                    }
                }
            } else if any || way.moves > 0 {
                ways.get_mut(turn).is_in = false;
            }
            if in_book && goes_on {
                game.step(&at, mv);
            } else if in_book {
                in_book = false;
                game.eval = self.stored(&at);
                let exit = &mut game.exit;
                exit.at = at.clone();
                exit.left = match any {
                    true if is_limited => LeaveReason::Limit(turn),
                    true if own.is_known => LeaveReason::Side(turn),
                    true => LeaveReason::Unknown,
                    false => LeaveReason::BookEnded,
                };
                exit.played = Some(mv);
                exit.book_moves =
                    if self.kept.book_moves { BookMove::find_all(self.books(&own), &at) } else { Vec::new() };
            }
            at.play(mv);
        }
        if in_book {
            game.exit.at = at;
        }
        game.exit.own = game.own.get(game.exit.at.chess().turn()).clone();
        game.book_moves = ways.map(|way| way.moves);
        self.plies = plies;
    }

    /// Of each ply whether the mover searched for it, although the comments show that this player's books answer without a search;
    /// nothing where all books are compared with all players, whichever they played from.
    fn searched(&self, game: &ReportGame) -> Vec<bool> {
        let first = game.start.as_ref().map_or(Color::White, |at| at.chess().turn());
        let side = |ply: usize| if ply.is_multiple_of(2) { first } else { first.other() };
        let mut answers = ByColor::<bool>::default();
        for note in self.notes.iter().filter(|note| note.is_unsearched || note.names_book) {
            *answers.get_mut(side(note.ply)) = true;
        }
        let mut searched = vec![false; if self.shelf.compares_all() { 0 } else { self.plies.len() }];
        for note in self.notes.iter().filter(|note| note.score.is_some() && !note.names_book) {
            if let Some(searched) = searched.get_mut(note.ply) {
                *searched = *answers.get(side(note.ply));
            }
        }
        searched
    }

    /// The books that each side's first moves without a search came from; none of a side that searched from its first move.
    /// `None` if the comments do not say what was searched, or the books do not explain the moves.
    fn unsearched(&mut self, game: &ReportGame) -> Option<ByColor<Vec<usize>>> {
        let is_unsearched = self.notes.iter().any(|note| note.is_unsearched);
        if !is_unsearched || self.notes.iter().all(|note| note.score.is_none()) {
            return None;
        }
        let shared: Arc<[usize]> = self.shelf.shared().collect();
        let first = Unsearched { all: shared.to_vec(), is_explained: true, ..Unsearched::default() };
        let mut sides = ByColor { white: first.clone(), black: first };
        let everybodys = Own { books: shared, ..Own::default() };
        let mut at = game.begin();
        let (plies, notes) = (std::mem::take(&mut self.plies), std::mem::take(&mut self.notes));
        let mut rest = notes.iter().peekable();
        for (ply, mv) in plies.iter().copied().enumerate() {
            let note = rest.next_if(|note| note.ply == ply);
            let side = sides.get_mut(at.chess().turn());
            if note.is_some_and(|note| note.is_unsearched) && !side.is_over {
                self.look_up(&everybodys, &at, mv);
                side.moves += 1;
                side.is_explained &= !self.known.is_empty();
                side.all.retain(|number| self.known.contains(number));
                side.some.extend(&self.known);
            } else if note.is_some_and(|note| note.score.is_some()) && !side.is_over {
                side.is_over = true;
                // A book with a move here would have been asked for it.
                let ended = |number: &usize| {
                    self.shelf.books().get(*number).is_some_and(|book| book.moves_in(&at).is_empty())
                };
                let ended: Vec<usize> = side.all.iter().copied().filter(ended).collect();
                if !ended.is_empty() {
                    side.all = ended;
                }
                if sides.iter().all(|side| side.is_over) {
                    break;
                }
            }
            at.play(mv);
        }
        (self.plies, self.notes) = (plies, notes);
        if !sides.iter().all(|side| side.is_explained) {
            return None;
        }
        Some(sides.map(|side| {
            let mut books = match side {
                Unsearched { moves: 0, .. } => Vec::new(),
                Unsearched { all, some, .. } if all.is_empty() => some,
                Unsearched { all, .. } => all,
            };
            books.sort_unstable();
            books.dedup();
            books
        }))
    }

    /// The seconds that each side has saved.
    fn saved(&self, game: &ReportGame) -> ByColor<Option<f64>> {
        let first = game.start.as_ref().map_or(Color::White, |at| at.chess().turn());
        let mut times = ByColor::<Times>::default();
        for Note { ply, seconds, .. } in &self.notes {
            let Some(seconds) = seconds else { continue };
            let times = times.get_mut(if ply.is_multiple_of(2) { first } else { first.other() });
            if *ply < game.given as usize {
                continue;
            }
            let is_book = self.is_book.get(*ply) == Some(&true);
            let (count, sum) = if is_book { &mut times.book } else { &mut times.after };
            if is_book || *count < TIMED {
                (*count, *sum) = (*count + 1, *sum + seconds);
            }
        }
        let saved = times.map(|Times { book: (timed, spent), after: (count, sum) }| {
            let mean = (count > 0).then(|| sum / f64::from(count))?;
            (timed > 0).then(|| (mean * f64::from(timed) - spent).max(0.0))
        });
        // Of books that may be the other side's it is not known what they saved.
        saved.zip(game.own.as_ref()).map(|(saved, own)| saved.filter(|_| own.is_known))
    }
}

impl Visitor for ReportReader<'_> {
    fn begin(&mut self, header: &GameHeader) -> bool {
        self.games += 1;
        if !(self.admits)(header) {
            return false;
        }
        let at = header.start.clone().unwrap_or_else(|| Position::start_of(self.shelf.variant()));
        let (opening, moves) = (Opening::at(&at), at.whole_key());
        let exit = Exit {
            at,
            line: Vec::with_capacity(USUAL),
            left: LeaveReason::GameEnded,
            played: None,
            own: Own::default(),
            book_moves: Vec::new(),
        };
        let game = ReportGame {
            number: self.games,
            players: ByColor { white: header.white.clone(), black: header.black.clone() },
            round: header.round.clone(),
            header: self.kept.line.then(|| header.clone()),
            result: None,
            start: header.start.clone(),
            book_plies: 0,
            given: 0,
            keys: Vec::with_capacity(USUAL),
            exit,
            eval: None,
            own: ByColor::default(),
            book_moves: ByColor::default(),
            books: ByColor::default(),
            saved: ByColor::default(),
            opening,
            moves,
            line: Vec::new(),
        };
        self.counts.clear();
        self.counts.resize(self.shelf.books().len(), ByColor::default());
        self.plies.clear();
        self.notes.clear();
        self.named.iter_mut().for_each(Vec::clear);
        self.last = None;
        self.open = Some(game);
        true
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        let Some(game) = &mut self.open else { return ControlFlow::Break(()) };
        let code = MoveCode::from_move(mv);
        self.plies.push(mv);
        self.last = Some(at.chess().turn());
        // FNV-1a, over the codes of the moves.
        game.moves = (game.moves ^ u64::from(code.0)).wrapping_mul(0x0100_0000_01b3);
        if self.kept.line {
            game.line.push(code);
        }
        // The position before the first move was named when the game began.
        if (2..=NAMED + 1).contains(&self.plies.len()) {
            game.opening = Opening::at(at).or(game.opening);
        }
        ControlFlow::Continue(())
    }

    fn wants_remarks(&self) -> bool {
        true
    }

    fn wants_all_tags(&self) -> bool {
        self.kept.line
    }

    fn comment(&mut self, text: &[u8]) {
        let (Some(mover), Some(ply)) = (self.last, self.plies.len().checked_sub(1)) else { return };
        let text = decode_text(text);
        let Remark { score, seconds, book, is_unsearched, is_given } = Remark::read(&text, mover);
        let names_book = book.is_some();
        if let Some(number) = book.and_then(|path| self.shelf.find(path)) {
            let named = self.named.get_mut(mover);
            if !named.contains(&number) {
                named.push(number);
            }
        }
        match self.notes.last_mut().filter(|note| note.ply == ply) {
            Some(note) => {
                (note.score, note.seconds) = (note.score.or(score), note.seconds.or(seconds));
                note.is_unsearched = (note.is_unsearched || is_unsearched) && note.score.is_none();
                (note.is_given, note.names_book) = (note.is_given || is_given, note.names_book || names_book);
            }
            None if score.is_some() || seconds.is_some() || names_book => {
                self.notes.push(Note { ply, score, seconds, is_unsearched, is_given, names_book });
            }
            None => {}
        }
    }

    fn end(&mut self, end: GameEnd) {
        if let Some(error) = end.error {
            self.fail(error);
        }
        let Some(mut game) = self.open.take() else { return };
        let given = (0..).zip(&self.notes).take_while(|(ply, note)| note.ply == *ply && note.is_given);
        game.given = u32::try_from(given.count()).unwrap_or(u32::MAX);
        // Comments that name books say more than those that tell which moves were searched.
        let is_named = self.named.iter().any(|named| !named.is_empty());
        let unsearched = if is_named { None } else { self.unsearched(&game) };
        game.own = self.shelf.of_sides(&game.players, unsearched.as_ref().unwrap_or(&self.named));
        self.follow(&mut game);
        if !self.plies.is_empty() && self.plies.len() <= NAMED {
            let mut last = game.begin();
            self.plies.iter().for_each(|mv| last.play(*mv));
            game.opening = Opening::at(&last).or(game.opening);
        }
        // The first comment after the exit that has a score counts, and more than a store.
        let exit = game.book_plies as usize;
        let score = self.notes.iter().filter(|note| note.ply >= exit).find_map(|note| note.score);
        game.eval = score.map(centipawns).or(game.eval);
        game.result = end.result;
        game.saved = self.saved(&game);
        game.books = ByColor::new_with(|side| {
            let count = |number: usize| self.counts.get(number).map_or(0, |counts| *counts.get(side));
            let numbers = 0..self.counts.len();
            let most = numbers.clone().map(count).max().filter(|most| *most > 0);
            let mut best = numbers.filter(|number| most == Some(count(*number)));
            let is_one = game.own.get(side).is_known && unsearched.is_none();
            if is_one { best.next().into_iter().collect() } else { best.collect() }
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

impl ReportGame {
    /// The position that it starts from.
    pub fn begin(&self) -> Position {
        self.start.clone().unwrap_or_else(|| Position::start_of(self.exit.at.variant()))
    }

    /// Goes on in the books with a move.
    fn step(&mut self, at: &Position, mv: Move) {
        self.book_plies += 1;
        self.keys.push(at.whole_key());
        self.exit.line.push(MoveCode::from_move(mv));
    }

    /// Plies that the players' books have played.
    pub fn own_plies(&self) -> u32 {
        self.book_plies - self.given.min(self.book_plies)
    }

    /// Points of a side; `None` without a result.
    pub fn points(&self, side: Color) -> Option<Points> {
        Some(match self.result? {
            GameResult::Draw => Points::Draw,
            GameResult::White => side.fold_wb(Points::Win, Points::Loss),
            GameResult::Black => side.fold_wb(Points::Loss, Points::Win),
        })
    }
}
