//! A tree as it is put together in memory: the moves of each position once, behind the shortest way to it.
//!
//! Arena's tree has a branch for each line, but a position's moves would then stand, and count, once for each way to it,
//! and there can be more ways than any file holds. So the moves of a position are written once, behind the first of the
//! shortest ways from the start (the first in the order of weights); on any other way the line ends with the move that
//! leads to it, and goes on by position, as readers find it. So each move's counts stand in the file once, and it has
//! exactly as many records as the book has moves.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};

use shakmaty::{Color, Move, Position as _};

use super::super::layout::{DEFAULT_PRIORITY, HIGHEST_PRIORITY, Header, NO_LAST_PLY, NONE, ROOT, Record};
use super::link::link;
use super::tree::{NOWHERE, Tree};
use crate::book::polyglot::layout::RawMove;
use crate::book::{Counts, Known};
use crate::chess::Position;
use crate::choose::plain_weights;

/// What stands in the header of a written book.
const COMMENT: &str = "written by tabiya";

/// An Arena book on its way into its file.
#[derive(Debug, Default)]
pub struct Draft {
    /// Ascending by key once [`Draft::write`] begins.
    places: Vec<Place>,
    moves: Vec<Step>,
    lost: Lost,
}

/// A position: its moves are those from one number on, up to those of the next.
#[derive(Clone, Copy, Debug)]
struct Place {
    key: u64,
    first: u32,
    len: u32,
}

/// A move: its record but for priority and links, what the priority is made of, and the position that it leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The position that it leads to.
    pub next: u64,
    weight: u64,
    games: u32,
    white_wins: u32,
    white_losses: u32,
    from: u8,
    to: u8,
    promotion: i8,
    white: bool,
    /// Whether the weights of its position are in proportion to results.
    by_results: bool,
}

impl Step {
    /// A legal move that says nothing, but leads to the position of this key.
    pub fn leading(position: &Position, mv: Move, next: u64) -> Self {
        let Record { from, to, promotion, .. } = Record::of(mv);
        Self {
            next,
            weight: 0,
            games: 0,
            white_wins: 0,
            white_losses: 0,
            from,
            to,
            promotion,
            white: position.chess().turn() == Color::White,
            by_results: false,
        }
    }

    /// Its code in Polyglot's form.
    pub fn raw(&self) -> RawMove {
        let Self { from, to, promotion, .. } = *self;
        Record { from, to, promotion, ..Record::EMPTY }.mv().unwrap_or(RawMove::NULL)
    }
}

/// What the format has no place for.
#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    illegal: u64,
    unknown: u64,
    counts: u64,
    marks: u64,
    ratings: u64,
    learned: u64,
    comments: u64,
}

/// What was written.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Positions in the book.
    pub positions: u64,
    /// Moves in the book.
    pub moves: u64,
    /// What the book does not hold, and how often.
    pub left_out: Vec<(String, u64)>,
}

impl Draft {
    /// Takes in a position; of one that comes again the first is kept. What colours and marks keep from being played in
    /// tournaments gets the priority 0.
    pub fn add(&mut self, known: &Known) {
        let judged =
            known.moves.iter().any(|known| known.annotation.is_some() || known.recommended.is_some());
        if judged {
            let mut plain = known.clone();
            plain_weights(&mut plain);
            self.add_plain(&plain);
        } else {
            self.add_plain(known);
        }
    }

    fn add_plain(&mut self, known: &Known) {
        let Some(position) = &known.position else {
            self.lost.unknown += 1;
            return;
        };
        let by_results = known.weighs_by_results();
        let first = self.moves.len();
        let white = position.chess().turn() == Color::White;
        for known in &known.moves {
            let Some(found) = known.at(position) else {
                self.lost.illegal += 1;
                continue;
            };
            let step = Step::leading(position, found.mv, position.after(found.mv).key());
            let counts = known.counts.unwrap_or(Counts { games: 0, wins: 0, draws: 0, losses: 0 });
            let [games, wins, losses] = self.fitting(counts);
            let (white_wins, white_losses) = if white { (wins, losses) } else { (losses, wins) };
            self.lost.marks += u64::from(known.annotation.is_some() || known.recommended.is_some());
            self.lost.ratings += u64::from(known.ratings.is_some());
            self.lost.learned += u64::from(known.learned.is_some());
            let step = Step { weight: known.weight, games, white_wins, white_losses, by_results, ..step };
            self.moves.push(step);
        }
        self.lost.comments += u64::from(known.comment.is_some());
        let of = self.moves.get_mut(first..).unwrap_or_default();
        of.sort_by_key(|step| (Reverse(step.weight), step.from, step.to, step.promotion));
        self.close(known.key, first);
    }

    /// Games, wins and losses in 31 bits each, halved together until all fit.
    fn fitting(&mut self, counts: Counts) -> [u32; 3] {
        let games = counts.games.max(counts.wins.saturating_add(counts.losses));
        let shift = (u64::BITS - games.leading_zeros()).saturating_sub(i32::BITS - 1);
        self.lost.counts += u64::from(shift > 0);
        [games, counts.wins, counts.losses].map(|count| (count >> shift) as u32)
    }

    /// How many positions there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// How many moves there are.
    pub(super) fn moves(&self) -> usize {
        self.moves.len()
    }

    /// Takes in moves by the keys of their positions, new ones among them.
    pub(super) fn extend(&mut self, mut more: HashMap<u64, Vec<Step>>) {
        if more.is_empty() {
            return;
        }
        let (places, moves) = (std::mem::take(&mut self.places), std::mem::take(&mut self.moves));
        self.moves.reserve_exact(moves.len() + more.values().map(Vec::len).sum::<usize>());
        for place in places {
            let from = place.first as usize;
            let steps = moves.get(from..from + place.len as usize).unwrap_or_default();
            let added = more.remove(&place.key).unwrap_or_default();
            self.push(place.key, steps.iter().copied().chain(added));
        }
        for (key, steps) in more {
            self.push(key, steps.into_iter());
        }
        self.places.sort_by_key(|place| place.key);
    }

    fn push(&mut self, key: u64, steps: impl Iterator<Item = Step>) {
        let first = self.moves.len();
        self.moves.extend(steps);
        self.close(key, first);
    }

    /// Makes a position of the moves from this number on.
    fn close(&mut self, key: u64, first: usize) {
        let len = (self.moves.len() - first) as u32;
        if let (Ok(first), true) = (u32::try_from(first), len > 0) {
            self.places.push(Place { key, first, len });
        }
    }

    /// The number of the position of this key.
    pub(super) fn find(&self, key: u64) -> Option<u32> {
        self.places.binary_search_by_key(&key, |place| place.key).ok().map(|at| at as u32)
    }

    /// The number of a position's first move, and its moves.
    pub(super) fn steps(&self, place: u32) -> (u32, &[Step]) {
        let place = self.places.get(place as usize);
        let steps = place.and_then(|place| self.moves.get(place.first as usize..)?.get(..place.len as usize));
        (place.map_or(0, |place| place.first), steps.unwrap_or_default())
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(mut self, file: &mut impl Write) -> io::Result<Told> {
        self.places.sort_by_key(|place| place.key);
        self.places.dedup_by_key(|place| place.key);
        let own = self.places.len();
        link(&mut self);
        let tree = Tree::new(&self);
        let has_results = self.moves.iter().any(|step| step.white_wins | step.white_losses != 0);
        let has_games = self.moves.iter().any(|step| step.games != 0);
        let header = Header {
            comment: COMMENT.to_owned(),
            by_priority: 1,
            by_games: i32::from(has_games),
            by_score: i32::from(has_results),
            last_ply: NO_LAST_PLY,
            ..Header::default()
        };
        file.write_all(&header.to_bytes())?;
        let mut told = Told { moves: tree.order.len() as u64, ..Told::default() };
        let mut priorities = Vec::new();
        let mut of = NOWHERE;
        for &(place, at) in &tree.order {
            let (first, steps) = self.steps(place);
            // Records of one position are not side by side where its first moves have replies.
            if at == 0 {
                told.positions += 1;
            }
            if of != place {
                priorities_of(steps, has_results, &mut priorities);
                of = place;
            }
            let Some(step) = steps.get(at as usize) else { continue };
            let link = |number: Option<u32>| {
                number.and_then(|number| i32::try_from(number + ROOT).ok()).unwrap_or(NONE)
            };
            let number = (first + at) as usize;
            let sibling =
                (at as usize + 1 < steps.len()).then(|| tree.numbers.get(number + 1).copied()).flatten();
            let child = tree.children.get(number).copied().filter(|child| *child != NOWHERE);
            let child = child.and_then(|child| tree.numbers.get(self.steps(child).0 as usize).copied());
            let record = Record {
                from: step.from,
                to: step.to,
                promotion: step.promotion,
                priority: priorities.get(at as usize).copied().unwrap_or(DEFAULT_PRIORITY),
                games: step.games.cast_signed(),
                white_wins: step.white_wins.cast_signed(),
                white_losses: step.white_losses.cast_signed(),
                flags: 0,
                child: link(child),
                sibling: link(sibling),
            };
            file.write_all(&record.to_bytes())?;
        }
        // Positions between those of the book were added, and all of them are reached.
        let between = (self.places.len() - own) as u64;
        let lost = self.places.len() as u64 - told.positions - tree.beyond;
        told.positions -= between.min(told.positions);
        let Lost { illegal, unknown, counts, marks, ratings, learned, comments } = self.lost;
        told.left_out = [
            ("positions that no line from the start reaches", lost),
            ("positions that came without their boards", unknown),
            ("positions behind more moves than a book is read to, or too deep", tree.beyond),
            ("moves that are not legal in their position", illegal),
            ("moves with more games than the format can count, all counts halved until they fit", counts),
            ("marks or colours of moves, which act only through the priorities", marks),
            ("ratings of moves", ratings),
            ("learned results of moves", learned),
            ("comments", comments),
        ]
        .map(|(what, count)| (what.to_owned(), count))
        .into();
        told.left_out.retain(|(_, count)| *count > 0);
        Ok(told)
    }
}

/// The priorities of a position's moves: 0 for what weighs nothing. The rest has the default where its weights follow
/// from games and results, or are all alike beside them; else what they are beyond that, the most of it being 9.
fn priorities_of(steps: &[Step], has_results: bool, out: &mut Vec<u8>) {
    // What the reader makes of games and results; what is left of the weight is the priority's part.
    let part = |step: &Step| {
        let games = f64::from(step.games.max(1));
        let (wins, losses) = if step.white {
            (step.white_wins, step.white_losses)
        } else {
            (step.white_losses, step.white_wins)
        };
        let draws = f64::from(step.games) - f64::from(wins) - f64::from(losses);
        let score = if has_results {
            (f64::from(wins) + draws / 2.0 + 0.5) / (f64::from(step.games) + 1.0)
        } else {
            1.0
        };
        step.weight as f64 / (games * score)
    };
    let playable = || steps.iter().filter(|step| step.weight > 0);
    let most = playable().map(part).fold(0.0, f64::max);
    let least = playable().map(part).fold(f64::INFINITY, f64::min);
    let alike = least * f64::from(HIGHEST_PRIORITY) > most * (f64::from(HIGHEST_PRIORITY) - 0.5);
    out.clear();
    out.extend(steps.iter().map(|step| match step.weight {
        0 => 0,
        _ if alike || step.by_results => DEFAULT_PRIORITY,
        _ => {
            (part(step) / most * f64::from(HIGHEST_PRIORITY)).round().clamp(1.0, f64::from(HIGHEST_PRIORITY))
                as u8
        }
    }));
}
