//! Reading records and games by their numbers; each thread has its own reader.

use tabiya_base::blob::Window;
use tabiya_base::error;
use tabiya_chess::{Position, Variant, named_variant, variant_name};

use shakmaty::CastlingMode;

use super::board::Board;
use super::database::Scid;
use super::decode::{Ended, Kept, decode};
use super::layout::{MAX_GAME, MAX_RECORD_LEN};
use super::names::text;
use super::record::ScidRecord;
use super::stored::Stored;
use crate::database::{DecodeError, Sink};
use crate::{GameError, Reason};

/// Reads a database. It is fastest in the order of the games in their file, but any order is allowed.
#[derive(Debug)]
pub struct ScidReader<'a> {
    db: &'a Scid,
    index: Window,
    games: Window,
    ordinary: Board,
}

/// A game, found but not yet decoded.
#[derive(Debug)]
pub struct ScidGame<'a> {
    pub number: u32,
    /// Where it is in the file of games, and its bytes there.
    pub offset: u64,
    pub len: u64,
    pub stored: Stored<'a>,
    /// Where it starts; `None` for the ordinary position.
    pub start: Option<Position>,
    /// Its start with the pieces numbered.
    board: Board,
}

impl<'a> ScidReader<'a> {
    pub fn new(db: &'a Scid) -> Self {
        Self { db, index: Window::default(), games: Window::default(), ordinary: Board::ordinary() }
    }

    pub fn db(&self) -> &'a Scid {
        self.db
    }

    /// The record of a game, by its number from 1. Bytes beyond the end of the index read as 0.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn record(&mut self, number: u32) -> error::Result<ScidRecord> {
        let (at, len) = (self.db.record_at(number), self.db.version.record_len());
        let found = self.index.get(&self.db.index, at, len)?;
        let mut bytes = [0; MAX_RECORD_LEN];
        bytes.iter_mut().zip(found).for_each(|(place, byte)| *place = *byte);
        let bytes = bytes.get(..usize::try_from(len).unwrap_or_default()).unwrap_or_default();
        Ok(ScidRecord::read(self.db.version, bytes).unwrap_or_default())
    }

    /// Finds a game and where it starts.
    ///
    /// # Errors
    /// When its parts do not fit together, or it does not start from a legal position of chess.
    pub fn find(&mut self, number: u32, record: &ScidRecord) -> Result<ScidGame<'_>, GameError> {
        let db = self.db;
        let ScidRecord { offset, len, chess960, .. } = *record;
        let refuse =
            |at: u64, why: &str| db.games_file.error(number, offset.saturating_add(at), Reason::Damaged, why);
        let end = offset.checked_add(len).filter(|end| *end <= db.games.len());
        if end.is_none() || len > MAX_GAME {
            return Err(refuse(0, "the index puts it outside the file of games"));
        }
        let data = self.games.get(&db.games, offset, len);
        let data = data.map_err(|error| refuse(0, &error.with_source()))?;
        if (data.len() as u64) < len {
            return Err(refuse(0, "the file of games ends before it"));
        }
        let stored = Stored::read(data).map_err(|(at, why)| refuse(at, why))?;
        let bad = |(reason, why): (Reason, String)| db.games_file.error(number, offset, reason, why);
        let start = start(&stored, chess960).map_err(bad)?;
        let board = match &start {
            Some(start) => Board::new(start.clone()).ok_or_else(|| {
                bad((Reason::BadPosition, "a side has more than 16 pieces where it starts".to_owned()))
            })?,
            None => self.ordinary.clone(),
        };
        Ok(ScidGame { number, offset, len, stored, start, board })
    }
}

/// The position that a game starts from; `None` for the ordinary one.
fn start(stored: &Stored<'_>, is_chess960: bool) -> Result<Option<Position>, (Reason, String)> {
    let named = stored.tags().find(|(name, _)| name.eq_ignore_ascii_case(b"Variant"));
    let named = named.map(|(_, value)| text(value)).filter(|name| name.contains(char::is_alphanumeric));
    let found = named.as_deref().and_then(named_variant);
    match found {
        Some(named) if named.variant != Variant::Chess => {
            let why = format!("the game is {}", variant_name(named.variant));
            return Err((Reason::OtherVariant, why));
        }
        _ => {}
    }
    let Some(fen) = stored.fen else { return Ok(None) };
    let is_chess960 = is_chess960 || found.is_some_and(|named| named.is_chess960);
    let position = if is_chess960 {
        Position::from_fen(fen, CastlingMode::Chess960)
    } else {
        Position::from_any_fen(fen)
    };
    let illegal = |error| {
        let why = format!("the position {:?} is illegal: {error}", text(fen));
        (Reason::BadPosition, why)
    };
    position.map(Some).map_err(illegal)
}

impl ScidGame<'_> {
    /// Decodes its moves; `kept` is memory for positions to go back to.
    pub fn decode<S: Sink<Board>>(&self, kept: &mut Kept, sink: &mut S) -> Ended {
        decode(&self.stored, &mut self.board.clone(), kept, sink)
    }

    /// What is wrong with it where its moves cannot be decoded.
    pub fn error(&self, db: &Scid, error: DecodeError) -> GameError {
        let at = self.offset + self.stored.moves_at + error.at;
        db.games_file.error(self.number, at, error.reason(), error.to_string())
    }
}
