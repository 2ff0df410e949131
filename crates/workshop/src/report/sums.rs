//! Sums over games: by opening, by the move that left the books, by the line that was played from them.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use shakmaty::{Color, Position as _};

use tabiya_book::traits::Book;
use tabiya_book::traverse::{KeyHasher, Keys};
use tabiya_book::{Counts, MoveFacts};
use tabiya_chess::openings::Opening;
use tabiya_chess::{HeldPosition, MoveCode, Position, Variant};

use super::elo::mean;
use super::game::{BookMove, Exit, LeaveReason, ReportGame};
use super::shelf::Own;

/// Games that a move needs to be called bad.
const MIN: u64 = 4;

/// Plies of the longest line that is shown.
const MAX_LEN: usize = 200;

/// Games that have something in common.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportGroup {
    /// The games, counted for one side: White, or the player who is looked at.
    pub counts: Counts,
    /// Plies in the books, of all together.
    pub plies: u64,
    /// Games with an evaluation, and the sum of those in centipawns for the same side.
    pub evals: (u64, i64),
}

/// A move that left the books, or the end of a line, with its games. The score is that of the side which left, or else of the
/// one to move. There may be as many as games, so what the line and the books tell is not kept.
#[derive(Clone, Debug)]
pub struct Leave {
    /// The position that the line starts from, if that is not the usual one.
    start: Option<HeldPosition>,
    /// The variant of chess.
    pub variant: Variant,
    /// The moves to the position, in the first of the games.
    pub line: Box<[MoveCode]>,
    /// Why the games left the books.
    pub left: LeaveReason,
    /// The move that was played; no move where the game ended there.
    played: MoveCode,
    /// The books of the side to move.
    own: Own,
    /// Whether the side to move is the one that is looked at; `None` where it is sometimes this one, sometimes the other.
    pub by_player: Option<bool>,
    /// Its games.
    pub group: ReportGroup,
}

impl Leave {
    /// The position, the move and what the books have there; `None` only for what no game can have.
    pub fn exit(&self, books: &[Arc<dyn Book>]) -> Option<Exit> {
        let start = match &self.start {
            Some(start) => start.position()?,
            None => Position::start_of(self.variant),
        };
        let next = |at: Position, mv: &MoveCode| Some(at.after(MoveFacts::new(*mv, 0).at(&at)?.mv));
        let at = self.line.iter().try_fold(start, next)?;
        let played = MoveFacts::new(self.played, 0).at(&at).map(|facts| facts.mv);
        let own = self.own.books.iter().filter_map(|number| books.get(*number));
        let book_moves = if played.is_some() { BookMove::find_all(own, &at) } else { Vec::new() };
        let own = self.own.clone();
        Some(Exit { at, line: self.line.to_vec(), left: self.left, played, own, book_moves })
    }

    /// Whether the line starts from the usual position.
    pub fn is_from_start(&self) -> bool {
        self.start.is_none()
    }
}

/// A move of the books that was played.
#[derive(Clone, Debug)]
pub struct ReportMove {
    /// The side that played it.
    pub side: Color,
    /// The games that ended, counted for that side.
    pub counts: Counts,
    /// The books that it can have come from in the first of the games.
    pub books: Vec<usize>,
    /// The step before, in the first of the games.
    before: Option<(u64, MoveCode)>,
}

/// What the games come to.
#[derive(Debug, Default)]
pub struct Sums {
    /// All games.
    pub all: ReportGroup,
    /// Games by opening; `None` where it has no name.
    openings: HashMap<Option<Opening>, ReportGroup>,
    /// Games by the position in which they left the books, and the move.
    leaves: Places<Leave>,
    /// The moves of the books that were played in games from the usual start, by the key of their position.
    steps: Places<ReportMove>,
    /// Games that repeat another one move by move.
    pub repeated: u64,
    /// Games in which White, and Black, left the books, in which they ended, that ended in them, and in which it is not known whose
    /// books were left, and in which a side's own limit has silenced its books.
    pub left: [u64; 6],
    /// Games of which it is not known which player had which book.
    pub unattributed: u64,
    /// Games and seconds that the books saved on the clock of one side.
    pub saved: (u64, f64),
    known: Keys,
}

/// Something of each move, by the key of its position.
type Places<T> = HashMap<(u64, MoveCode), T, BuildHasherDefault<KeyHasher>>;

impl ReportGroup {
    fn add(&mut self, game: &ReportGame, side: Color) {
        self.counts.add(game.points(side));
        self.plies += u64::from(game.own_plies());
        if let Some(eval) = game.eval {
            self.evals = (self.evals.0 + 1, self.evals.1 + side.fold_wb(eval, -eval));
        }
    }

    /// Takes in the games of another group.
    pub fn merge(&mut self, other: &Self) {
        self.counts = self.counts.plus(other.counts);
        self.plies += other.plies;
        self.evals = (self.evals.0 + other.evals.0, self.evals.1 + other.evals.1);
    }

    /// Plies in the books, for each game.
    pub fn mean_plies(&self) -> f64 {
        self.plies as f64 / self.counts.games.max(1) as f64
    }

    /// The evaluation in centipawns, of the games that have one.
    pub fn mean_eval(&self) -> Option<f64> {
        let (games, sum) = self.evals;
        (games > 0).then(|| sum as f64 / games as f64)
    }
}

impl Sums {
    /// Takes in a game. Scores and evaluations of all games and of openings are those of `side`.
    pub fn add(&mut self, game: &ReportGame, side: Color) {
        self.all.add(game, side);
        self.openings.entry(game.opening).or_default().add(game, side);
        self.repeated += u64::from(!self.known.insert(game.moves));
        let place = match game.exit.left {
            LeaveReason::Side(color) => color.fold_wb(0, 1),
            LeaveReason::BookEnded => 2,
            LeaveReason::GameEnded => 3,
            LeaveReason::Unknown => 4,
            LeaveReason::Limit(_) => 5,
        };
        if let Some(count) = self.left.get_mut(place) {
            *count += 1;
        }
        for saved in [game.saved.white, game.saved.black].into_iter().flatten() {
            self.saved = (self.saved.0 + 1, self.saved.1 + saved);
        }
        self.unattributed += u64::from(game.own.iter().any(|own| !own.is_known));
        self.add_steps(game);
        let exit = &game.exit;
        let mover = exit.at.chess().turn();
        let played = exit.played.map_or(MoveCode::NULL, MoveCode::from_move);
        let leave =
            self.leaves.entry((exit.at.whole_key() ^ exit.own.digest, played)).or_insert_with(|| Leave {
                start: game.start.as_ref().and_then(|at| HeldPosition::new(at, 0)),
                variant: exit.at.variant(),
                line: exit.line.clone().into(),
                left: exit.left,
                played,
                own: exit.own.clone(),
                by_player: Some(mover == side),
                group: ReportGroup::default(),
            });
        leave.by_player = leave.by_player.filter(|own| *own == (mover == side));
        leave.group.add(game, mover);
    }

    fn add_steps(&mut self, game: &ReportGame) {
        if game.start.is_some() {
            return;
        }
        let mut before = None;
        let movers = [Color::White, Color::Black].into_iter().cycle();
        for (((key, mv), mover), ply) in game.keys.iter().zip(&game.exit.line).zip(movers).zip(0..) {
            let place = (*key ^ game.own.get(mover).digest, *mv);
            let fresh = || ReportMove {
                side: mover,
                counts: Counts::default(),
                books: game.books.get(mover).clone(),
                before,
            };
            let step = self.steps.entry(place).or_insert_with(fresh);
            // A side without books plays none of their moves.
            let is_own = ply >= game.given && !game.own.get(mover).books.is_empty();
            if let points @ Some(_) = game.points(mover).filter(|_| is_own) {
                // The runner may have played it in the games before.
                if step.counts.games == 0 {
                    step.books.clone_from(game.books.get(mover));
                }
                step.counts.add(points);
            }
            before = Some(place);
        }
    }

    /// The moves of the books that lost most: the points that each lost against an even score, less one standard error, with the
    /// line that ends with it. Only those that lost some.
    pub fn worst(&self, most: usize) -> Vec<(f64, ReportMove, Vec<MoveCode>)> {
        let lost = |step: &ReportMove| {
            let (mean, error) = mean(&step.counts.by_points())?;
            let lost = (0.5 - mean - error) * step.counts.games as f64;
            Some(lost).filter(|lost| *lost > 0.0 && step.counts.games >= MIN)
        };
        let mut steps: Vec<_> =
            self.steps.iter().filter_map(|(place, step)| Some((lost(step)?, *place, step.clone()))).collect();
        // Of moves that were played in the same games the last one counts.
        let earlier = |step: &ReportMove| {
            let place = self.steps.get(&step.before?)?.before?;
            self.steps.get(&place).filter(|earlier| earlier.counts == step.counts).map(|_| place)
        };
        let same: HashSet<_> = steps.iter().filter_map(|(.., step)| earlier(step)).collect();
        steps.retain(|(_, place, _)| !same.contains(place));
        steps.sort_by(|(a, one, _), (b, other, _)| b.total_cmp(a).then(one.cmp(other)));
        steps.truncate(most);
        steps.into_iter().map(|(lost, place, step)| (lost, step, self.line(place))).collect()
    }

    /// The line that ends with a step.
    fn line(&self, place: (u64, MoveCode)) -> Vec<MoveCode> {
        let before = |place: &(u64, MoveCode)| self.steps.get(place)?.before;
        // Steps may lead in a circle where games transpose.
        let mut line: Vec<_> =
            std::iter::successors(Some(place), before).map(|(_, mv)| mv).take(MAX_LEN).collect();
        line.reverse();
        line
    }

    /// The openings in the order of their codes and names, first what has none.
    pub fn openings(&self) -> Vec<(Option<Opening>, &ReportGroup)> {
        let mut openings: Vec<_> = self.openings.iter().map(|(opening, group)| (*opening, group)).collect();
        openings.sort_by_key(|(opening, _)| opening.map(Opening::as_str));
        openings
    }

    /// The moves that left the books, or the ends of lines, that a condition admits, the most frequent first.
    pub fn most(&self, admits: impl Fn(&Leave) -> bool) -> Vec<&Leave> {
        let mut leaves: Vec<_> = self.leaves.iter().filter(|(_, leave)| admits(leave)).collect();
        leaves.sort_by_key(|(place, leave)| (Reverse(leave.group.counts.games), leave.line.len(), **place));
        leaves.into_iter().map(|(_, leave)| leave).collect()
    }
}
