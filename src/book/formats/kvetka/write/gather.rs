//! What several positions and moves say of one element: records between the sorting and the writing.
//!
//! A position comes to the writer as itself, perhaps twice (with colours swapped), and as the one that moves lead to. The
//! records of one key stand together once they are sorted.

use super::super::element::{Element, Extras, Results};
use super::super::key::Key;
use super::super::layout::KEY_LEN;
use super::super::wire::{Reader, put_compact, put_unicode};

/// The record of a position itself; sorts before that of a move to it.
const OWN: u8 = 0;

/// The record of a move to a position.
const CHILD: u8 = 1;

/// Set in the flags of a position's record where its results are known apart from its moves.
const HAS_TOTAL: u8 = 1;

/// Set where it names a game.
const HAS_GAME: u8 = 2;

/// Set where it has a comment.
const HAS_COMMENT: u8 = 4;

/// What is known of a position itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// The codes of its moves.
    pub moves: Vec<u8>,
    /// Its results, where they are known apart from its moves.
    pub total: Option<Results>,
    /// The results of its moves together.
    pub sum: Results,
    /// The number of a game with the position.
    pub game: Option<u64>,
    /// What is said of it in words.
    pub comment: Option<String>,
}

fn put_results(results: Results, out: &mut Vec<u8>) {
    for count in [results.wins, results.draws, results.losses] {
        put_compact(count, out);
    }
}

fn results(reader: &mut Reader<'_>) -> Option<Results> {
    let mut count = || reader.compact().ok();
    Some(Results { wins: count()?, draws: count()?, losses: count()? })
}

impl Own {
    /// Appends its record.
    pub fn write(&self, key: &Key, out: &mut Vec<u8>) {
        out.extend(key.0);
        out.push(OWN);
        let flag = |has: bool, flag: u8| if has { flag } else { 0 };
        out.push(
            flag(self.total.is_some(), HAS_TOTAL)
                | flag(self.game.is_some(), HAS_GAME)
                | flag(self.comment.is_some(), HAS_COMMENT),
        );
        put_results(self.sum, out);
        if let Some(total) = self.total {
            put_results(total, out);
        }
        if let Some(game) = self.game {
            put_compact(game, out);
        }
        if let Some(comment) = &self.comment {
            put_unicode(comment, out);
        }
        out.extend(&self.moves);
    }

    /// Appends the record of a move that leads to a position.
    pub fn write_child(key: &Key, results: Results, out: &mut Vec<u8>) {
        out.extend(key.0);
        out.push(CHILD);
        put_results(results, out);
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let flags = reader.u8().ok()?;
        let mut own = Self { sum: results(reader)?, ..Self::default() };
        if flags & HAS_TOTAL != 0 {
            own.total = Some(results(reader)?);
        }
        if flags & HAS_GAME != 0 {
            own.game = Some(reader.compact().ok()?);
        }
        if flags & HAS_COMMENT != 0 {
            own.comment = Some(reader.unicode().ok()?);
        }
        own.moves = reader.rest().to_vec();
        Some(own)
    }
}

/// The records of one key, put together.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    key: Option<Key>,
    own: Own,
    /// The results of all moves that lead to the position.
    from_moves: Option<Results>,
}

impl Gathered {
    /// Whether a record is of another position than those so far.
    pub fn is_other(&self, record: &[u8]) -> bool {
        self.key.is_some_and(|key| !record.starts_with(&key.0))
    }

    /// Takes in a record. Results that are known apart from moves are added up: those of a position and of the same with
    /// colours swapped are of different games.
    pub fn add(&mut self, record: &[u8]) {
        let Some((key, rest)) = record.split_first_chunk::<KEY_LEN>() else { return };
        self.key = Some(Key(*key));
        let mut reader = Reader::at(rest, 0);
        match reader.u8() {
            Ok(OWN) => {
                let Some(own) = Own::read(&mut reader) else { return };
                for code in own.moves {
                    if !self.own.moves.contains(&code) {
                        self.own.moves.push(code);
                    }
                }
                self.own.sum = self.own.sum.plus(own.sum);
                self.own.total = match (self.own.total, own.total) {
                    (Some(one), Some(other)) => Some(one.plus(other)),
                    (one, other) => one.or(other),
                };
                // The earliest game, so that the order of the work does not matter.
                self.own.game = self.own.game.into_iter().chain(own.game).min();
                self.own.comment = self.own.comment.take().or(own.comment);
            }
            _ => {
                let results = results(&mut reader).unwrap_or_default();
                self.from_moves = Some(self.from_moves.unwrap_or_default().plus(results));
            }
        }
    }

    /// The element that they make, and nothing is left; the number of its game with it.
    pub fn take(&mut self) -> Option<(Element, Option<u64>)> {
        let Self { key, own, from_moves } = std::mem::take(self);
        let results = own.total.or(from_moves).unwrap_or(own.sum);
        let extras = Extras { comment: own.comment, ..Extras::default() };
        Some((Element { key: key?, results, moves: own.moves, extras }, own.game))
    }
}
