//! A book as if its moves had been judged, and as if moves had been added.

use std::collections::BTreeMap;

use shakmaty::Move;

use tabiya_base::bytes::Parts as _;
use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_base::visit::to_the_end;
use tabiya_book::traverse::Keys;
use tabiya_book::{
    Counts, Format, Heading, Keeps, MoveFacts, Moves, PositionRecord, Recommendation, Remarks, Scope, Visit,
};
use tabiya_chess::{MoveCode, Position};

use super::judge::apply;
use super::judged::JudgedBook;

/// A book whose moves are judged.
#[derive(Debug)]
pub struct Vetted<'a> {
    /// The book, and what its moves are judged by.
    pub judged: JudgedBook<'a>,
    /// The format of the book that is to be written.
    pub format: Format,
}

impl Vetted<'_> {
    /// Judges the moves of a position. Those of positions that are not in the graph stay as they are.
    fn judge(&self, at: &Position, moves: &mut Vec<MoveFacts>) {
        if let Some((_, fates)) = self.judged.fates(at, moves) {
            apply(moves, &fates, self.format);
        }
    }
}

impl Moves for Vetted<'_> {
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        let mut moves = self.judged.book.moves_in(at);
        self.judge(at, &mut moves);
        out.extend(moves);
    }

    fn each(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        let JudgedBook { book, graph, .. } = self.judged;
        book.each(scope, progress, &mut |record| {
            let at = || graph.position(graph.number(record.key)?);
            let Some(at) = at() else { return visit(record) };
            // A code that is not a legal move is unchanged.
            let (mut legal, mut rest) = (Vec::new(), Vec::new());
            for facts in &record.moves {
                match facts.at(&at) {
                    Some(facts) => legal.push(facts),
                    None => rest.push(*facts),
                }
            }
            self.judge(&at, &mut legal);
            let moves = legal.into_iter().map(MoveFacts::<MoveCode>::from).chain(rest).collect();
            visit(&PositionRecord { moves, ..record.clone() })
        })
    }

    fn holds_positions(&self) -> bool {
        self.judged.book.holds_positions()
    }

    fn heading(&self) -> Option<Heading> {
        self.judged.book.heading()
    }

    fn as_remarks(&self) -> Option<&dyn Remarks> {
        self.judged.book.as_remarks()
    }
}

/// A book with more moves: at most one for each position.
#[derive(Debug)]
pub struct Extended<'a> {
    book: &'a dyn Moves,
    format: Format,
    added: BTreeMap<u64, (Position, Move)>,
}

impl<'a> Extended<'a> {
    /// A book without more moves yet, for a new book of this format.
    pub fn new(book: &'a dyn Moves, format: Format) -> Self {
        Self { book, format, added: BTreeMap::new() }
    }

    /// Adds a legal move, unless the book has it. Returns whether it was added.
    pub fn add(&mut self, at: &Position, mv: Move) -> bool {
        let is_new = !self.added.contains_key(&at.key()) && !self.has(at, mv);
        if is_new {
            self.added.insert(at.key(), (at.clone(), mv));
        }
        is_new
    }

    /// How many moves were added.
    pub fn len(&self) -> usize {
        self.added.len()
    }

    /// Whether none was added.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty()
    }

    /// An added move as heavy as the heaviest of its position.
    fn facts<M>(&self, mv: Move, beside: &[MoveFacts<M>]) -> MoveFacts {
        let weight = beside.iter().map(|facts| facts.weight).max().unwrap_or(0).max(1);
        let plain = MoveFacts::new(mv, weight);
        match self.format.keeps() {
            // A move without results is played only if its author says so.
            Keeps::Verdicts => MoveFacts { recommended: Some(Recommendation::Green), ..plain },
            Keeps::Weights | Keeps::Priorities => plain,
            // The weight is what the results are, so there must be some.
            _ => {
                let counts =
                    Counts { games: weight.div_ceil(2), wins: weight / 2, draws: weight % 2, losses: 0 };
                MoveFacts { counts: Some(counts), ..plain }
            }
        }
    }
}

impl Moves for Extended<'_> {
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        let start = out.len();
        self.book.moves(at, out);
        if let Some((_, mv)) = self.added.get(&at.key()) {
            let facts = self.facts(*mv, out.part(start..));
            out.push(facts);
        }
    }

    fn each(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        let (mut met, mut whole) = (Keys::default(), true);
        let unreached = self.book.each(scope, progress, &mut |record| {
            let seen = match self.added.get(&record.key) {
                Some((_, mv)) if met.insert(record.key) => {
                    let mut record = record.clone();
                    record.moves.push(self.facts(*mv, &record.moves).into());
                    visit(&record)
                }
                _ => visit(record),
            };
            whole &= seen.is_ok();
            seen
        })?;
        let rest = self.added.iter().filter(|(key, _)| whole && !met.contains(key));
        for (_, (at, mv)) in rest {
            let facts = self.facts::<Move>(*mv, &[]);
            if to_the_end(visit(&PositionRecord::from_moves(at, &[facts])))?.is_none() {
                break;
            }
        }
        Ok(unreached)
    }

    fn holds_positions(&self) -> bool {
        self.book.holds_positions()
    }

    fn heading(&self) -> Option<Heading> {
        self.book.heading()
    }

    fn as_remarks(&self) -> Option<&dyn Remarks> {
        self.book.as_remarks()
    }
}
