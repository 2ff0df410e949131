//! Gathering one element from several positions and moves, by sorting records of them.
//!
//! A position comes to the writer as itself, perhaps twice (with colours swapped), and as the one that moves lead to. Sorting
//! brings the records of one key together.
#![allow(clippy::cast_possible_truncation, reason = "codes are cut to 255 before")]

use super::super::element::{Element, Extras, put_results, read_results};
use super::super::key::Key;
use super::super::layout::KEY_LEN;
use super::super::wire::{self, KvetkaReader, put_compact, put_unicode};
use crate::Counts;
use crate::verdict::Chosen;

/// Marks the record of a position itself, which sorts before that of a move to it.
const OWN: u8 = 0;

/// Marks the record of a move to a position.
const CHILD: u8 = 1;

/// Set in the flags of a position's record if its results are known apart from its moves.
const HAS_TOTAL: u8 = 1;

/// Set if it names a game.
const HAS_GAME: u8 = 2;

/// The most moves of which a record says that they are never played, or that they were chosen; a position has fewer.
const MAX_CODES: usize = u8::MAX as usize;

/// Set if it has a comment.
const HAS_COMMENT: u8 = 4;

/// The facts about a position itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KvetkaOwn {
    /// The codes of its moves.
    pub moves: Vec<u8>,
    /// Those of moves that are never played, at most 255.
    pub never: Vec<u8>,
    /// Those of moves that were chosen.
    pub chosen: Vec<u8>,
    /// Its results, if they are known apart from its moves.
    pub total: Option<Counts>,
    /// The results of its moves together.
    pub sum: Counts,
    /// The number of a game with the position.
    pub game: Option<u64>,
    pub comment: Option<String>,
}

impl KvetkaOwn {
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
        for codes in [&self.never, &self.chosen] {
            let codes = codes.get(..MAX_CODES).unwrap_or(codes);
            out.push(codes.len() as u8);
            out.extend(codes);
        }
        out.extend(&self.moves);
    }

    /// Appends the record of a move that leads to a position, with its results and those that are made up.
    pub(crate) fn write_child(key: &Key, results: Counts, made_up: Counts, out: &mut Vec<u8>) {
        out.extend(key.0);
        out.push(CHILD);
        put_results(results, out);
        put_results(made_up, out);
    }

    fn read(reader: &mut KvetkaReader<'_>) -> wire::Result<Self> {
        let flags = reader.u8()?;
        let mut own = Self { sum: read_results(reader)?, ..Self::default() };
        if flags & HAS_TOTAL != 0 {
            own.total = Some(read_results(reader)?);
        }
        if flags & HAS_GAME != 0 {
            own.game = Some(reader.compact()?);
        }
        if flags & HAS_COMMENT != 0 {
            own.comment = Some(reader.unicode()?);
        }
        let mut rest = reader.rest();
        for codes in [&mut own.never, &mut own.chosen] {
            let (count, after) = rest.split_first().unwrap_or((&0, &[]));
            let (found, after) = after.split_at_checked((*count).into()).unwrap_or((after, &[]));
            (*codes, rest) = (found.to_vec(), after);
        }
        own.moves = rest.to_vec();
        Ok(own)
    }
}

/// The records of one key together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    key: Option<Key>,
    own: KvetkaOwn,
    /// What was chosen of its moves.
    chosen: Chosen,
    /// The results of all moves that lead to the position.
    from_moves: Option<Counts>,
    /// Those that are made up, so that moves are played.
    made_up: Counts,
}

impl Gathered {
    /// Whether a record belongs to another position than those so far.
    pub(crate) fn is_other(&self, record: &[u8]) -> bool {
        self.key.is_some_and(|key| !record.starts_with(&key.0))
    }

    /// Takes in a record. Results that are known apart from moves are added up: a position and its mirror with colours
    /// swapped have different games.
    pub fn add(&mut self, record: &[u8]) {
        let Some((key, rest)) = record.split_first_chunk::<KEY_LEN>() else { return };
        self.key = Some(Key(*key));
        let mut reader = KvetkaReader::at(rest, 0);
        match reader.u8() {
            Ok(OWN) => {
                let Ok(own) = KvetkaOwn::read(&mut reader) else { return };
                for code in own.moves {
                    if !self.own.moves.contains(&code) {
                        self.own.moves.push(code);
                    }
                }
                self.own.never.extend(own.never);
                self.chosen.add(&own.chosen);
                self.own.sum = self.own.sum.plus(own.sum);
                self.own.total = self.own.total.into_iter().chain(own.total).reduce(Counts::plus);
                // The earliest game, whatever the order of the work.
                self.own.game = self.own.game.into_iter().chain(own.game).min();
                self.own.comment = self.own.comment.take().or(own.comment);
            }
            _ => {
                let results = read_results(&mut reader).unwrap_or_default();
                self.from_moves = Some(self.from_moves.unwrap_or_default().plus(results));
                self.made_up = self.made_up.plus(read_results(&mut reader).unwrap_or_default());
            }
        }
    }

    /// Returns their element, the number of its game, and how many moves it lacks because they are not to be played where
    /// colors are swapped; and starts again.
    pub fn take(&mut self) -> Option<(Element, Option<u64>, u64)> {
        let Self { key, mut own, chosen, from_moves, made_up } = std::mem::take(self);
        let all = own.moves.len();
        own.moves.retain(|code| !own.never.contains(code) && chosen.leaves(*code));
        let removed = (all - own.moves.len()) as u64;
        // Whichever record came first: books that are merged in any grouping have the same bytes.
        own.moves.sort_unstable();
        let results = own.total.or(from_moves).unwrap_or(own.sum).plus(made_up);
        let extras = Extras { comment: own.comment, ..Extras::default() };
        Some((Element { key: key?, results, moves: own.moves, extras }, own.game, removed))
    }
}
