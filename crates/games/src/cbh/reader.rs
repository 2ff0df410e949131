//! Reading records, moves and annotations by the numbers of games; each thread has its own reader.
#![allow(clippy::cast_possible_truncation, reason = "records and heads have few bytes")]
#![allow(clippy::indexing_slicing, reason = "an array of two has an element for each bool")]

use std::ops::ControlFlow;

use shakmaty::{Move, Position as _};

use tabiya_base::blob::{Blob, Window};
use tabiya_base::bytes;
use tabiya_base::error;
use tabiya_chess::Position;

use super::board::Board;
use super::database::{Cbh, WIDE};
use super::decode::decode;
use super::guide::Guide;
use super::layout::{
    CBJ_HEADER, CBJ_MOVES, CBJ_NONE, CBJ_NOTES, CBJ_TEAMS, CBJ_TITLE, GAME_HEAD_LEN, GAME_SIZE_BITS,
    MAX_NOTES, MIN_CBG_HEADER, MODE_BITS, MODE_ILLEGAL_START, NOTES_HEAD_LEN, NOTES_SIZE, RECORD_LEN, SET_UP,
};
use super::mode::Mode;
use super::notes::Items;
use super::record::CbhRecord;
use super::start::Start;
use crate::database::{DecodeError, MoveError, Sink};
use crate::{GameError, Reason};

/// What is wrong with a game that the file ends in.
pub(super) const CUT_OFF: &str = "its moves are cut off by the end of the file";

/// Reads a database. It is fastest in order, but any order is allowed.
#[derive(Debug)]
pub struct CbhReader<'a> {
    db: &'a Cbh,
    records: Window,
    second: Window,
    moves: Window,
    notes: Window,
    /// Positions to go back to, while a game is decoded.
    kept: Vec<Board>,
    board: Board,
    /// The position that ordinary games start from, in both orders of pieces.
    ordinary: [Board; 2],
}

/// The head of a game or text in `.cbg`.
#[derive(Clone, Copy, Debug)]
pub struct CbhHead {
    pub offset: u64,
    /// Its flags; `None` where the file ends within it.
    pub flags: Option<u8>,
    /// The bytes of the game or text, head included.
    pub size: u64,
}

/// The moves of a game, found but not yet decoded.
#[derive(Clone, Debug)]
pub struct CbhGame {
    /// Its number.
    pub number: u32,
    /// Offset of its head in `.cbg`.
    pub offset: u64,
    /// Its bytes there, head included, as far as the file has them.
    pub len: u64,
    /// Bytes before its moves.
    pub head: u64,
    /// How its moves are written.
    pub mode: Mode,
    /// Where it starts; `None` for the ordinary position.
    pub start: Option<Start>,
    /// Whether the file ends before the game does.
    pub cut: bool,
}

#[derive(Debug, Default)]
pub(super) struct Counter {
    /// Plies of the main line.
    pub main: u32,
    pub all: u32,
    /// Whether the main line is over.
    over: bool,
}

impl Sink<Board> for Counter {
    fn wants_variations(&self) -> bool {
        true
    }

    #[inline(always)]
    fn play(&mut self, board: &mut Board, mv: Move) -> ControlFlow<()> {
        board.play(mv);
        self.pass()
    }

    fn pass(&mut self) -> ControlFlow<()> {
        self.all += 1;
        self.main += u32::from(!self.over);
        ControlFlow::Continue(())
    }

    fn pop(&mut self) {
        self.over = true;
    }
}

impl<'a> CbhReader<'a> {
    /// A reader of a database.
    pub fn new(db: &'a Cbh) -> Self {
        let ordinary = [false, true].map(|reversed| Board::new(Position::start(), reversed));
        Self {
            db,
            records: Window::default(),
            second: Window::default(),
            moves: Window::default(),
            notes: Window::default(),
            kept: Vec::new(),
            board: ordinary[0].clone(),
            ordinary,
        }
    }

    /// The database.
    pub fn db(&self) -> &'a Cbh {
        self.db
    }

    /// The record of a game or text, by its number from 1. Bytes beyond the end of the file read as 0.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn record(&mut self, number: u32) -> error::Result<CbhRecord> {
        let found = self.records.get(&self.db.records, u64::from(number) * RECORD_LEN, RECORD_LEN)?;
        let mut bytes = [0; RECORD_LEN as usize];
        bytes.iter_mut().zip(found).for_each(|(place, byte)| *place = *byte);
        Ok(CbhRecord { number, bytes })
    }

    fn second(&mut self, record: &CbhRecord, at: u64, len: u64) -> Option<&[u8]> {
        let db = self.db;
        let blob = db.second.as_ref().filter(|_| at + len <= db.second_len)?;
        let at_record = CBJ_HEADER + u64::from(record.number.saturating_sub(1)) * db.second_len;
        let bytes = self.second.get(blob, at_record, db.second_len).ok()?;
        bytes::slice(bytes, at, len)
    }

    /// The 64-bit offset of the `.cbj` record if the file needs one, or else that of the `.cbh` record; `None` if the
    /// `.cbj` record cannot be read: the short offset would lead to another game.
    fn offset(&mut self, record: &CbhRecord, file: &Blob, short: u64, at: u64) -> Option<u64> {
        if file.len() <= WIDE || self.db.second_len < CBJ_MOVES + 8 {
            return Some(short);
        }
        self.second(record, at, 8).and_then(|wide| bytes::u64_be(wide, 0))
    }

    /// The numbers of the teams of White and Black.
    pub(crate) fn teams(&mut self, record: &CbhRecord) -> [Option<u32>; 2] {
        CBJ_TEAMS.map(|at| self.reference(record, at))
    }

    /// The number of the game's title.
    pub(crate) fn title(&mut self, record: &CbhRecord) -> Option<u32> {
        self.reference(record, CBJ_TITLE)
    }

    /// A number of an entity in the `.cbj` record.
    fn reference(&mut self, record: &CbhRecord, at: u64) -> Option<u32> {
        let found = self.second(record, at, 4).and_then(|found| bytes::u32_be(found, 0));
        found.filter(|&found| found != CBJ_NONE)
    }

    /// Finds the moves or the text of a record; `noun` names them in the error.
    pub(super) fn head(&mut self, record: &CbhRecord, noun: &str) -> Result<CbhHead, GameError> {
        let db = self.db;
        let short = record.moves();
        let offset = self.offset(record, &db.moves, short, CBJ_MOVES).ok_or_else(|| {
            let why = format!("the .cbj file does not say where its {noun} are");
            db.games_file.error(record.number, short, Reason::Damaged, why)
        })?;
        let refuse = |why: String| db.games_file.error(record.number, offset, Reason::Damaged, why);
        if !(MIN_CBG_HEADER..db.moves.len()).contains(&offset) {
            return Err(refuse(format!("the record puts its {noun} outside the file of moves")));
        }
        let head = self.moves.get(&db.moves, offset, GAME_HEAD_LEN);
        let head = bytes::u32_be(head.map_err(|error| refuse(error.with_source()))?, 0);
        let flags = head.map(|head| (head >> 24) as u8);
        Ok(CbhHead { offset, flags, size: head.map_or(0, |head| u64::from(head & GAME_SIZE_BITS)) })
    }

    /// Finds the moves of a game, and where it starts.
    ///
    /// # Errors
    /// When the game cannot be read at all.
    pub fn find(&mut self, record: &CbhRecord) -> Result<CbhGame, GameError> {
        let db = self.db;
        let head = self.head(record, "moves")?;
        let refuse =
            |(reason, why): (Reason, String)| db.games_file.error(record.number, head.offset, reason, why);
        let mut game = self.game(record, head).map_err(refuse)?;
        self.grant(&mut game);
        Ok(game)
    }

    fn game(&mut self, record: &CbhRecord, head: CbhHead) -> Result<CbhGame, (Reason, String)> {
        let CbhHead { offset, flags, size } = head;
        let damaged = |why: &str| (Reason::Damaged, why.to_owned());
        let bad_start = |why: &str| (Reason::BadPosition, why.to_owned());
        let flags = flags.ok_or_else(|| damaged(CUT_OFF))?;
        let mode = match flags & MODE_BITS {
            MODE_ILLEGAL_START => return Err(bad_start("it starts from an illegal position")),
            number => Mode::from_number(number).ok_or_else(|| {
                let why = format!("its moves are in mode {number}, an unsupported chess variant");
                (Reason::OtherVariant, why)
            })?,
        };
        if size < GAME_HEAD_LEN {
            return Err(damaged("its size is too small"));
        }
        let data = self.moves.get(&self.db.moves, offset, size);
        let data = data.map_err(|error| damaged(&error.with_source()))?;
        let start = if flags & SET_UP != 0 {
            let data = data.get(GAME_HEAD_LEN as usize..).unwrap_or_default();
            Some(Start::read(data, mode.chess960).map_err(bad_start)?)
        } else if mode.chess960 {
            let start = record.chess960().and_then(Start::chess960);
            Some(start.ok_or_else(|| bad_start("its Chess960 position has an unknown number"))?)
        } else {
            None
        };
        let len = data.len() as u64;
        let head = GAME_HEAD_LEN + start.as_ref().map_or(0, |start| start.len);
        Ok(CbhGame { number: record.number, offset, len, head, mode, start, cut: len < size })
    }

    /// Gives a set-up position the castling rights that its game uses without having them.
    fn grant(&mut self, game: &mut CbhGame) {
        // Each side has two.
        for _ in 0..4 {
            let Some(start) = game.start.as_ref().filter(|_| !game.mode.chess960) else { return };
            let ended = self.decode(game, &mut Counter::default()).map_err(|error| error.kind);
            let Err(MoveError::NoRight { color, short }) = ended else { return };
            let Some(granted) = start.with_right(color, short) else { return };
            game.start = Some(granted);
        }
    }

    /// Decodes the moves of a game that was found.
    ///
    /// # Errors
    /// When they are damaged. The sink has received the moves before the damage.
    pub fn decode<S: Sink<Board>>(&mut self, game: &CbhGame, sink: &mut S) -> Result<(), DecodeError> {
        self.board = match &game.start {
            None => self.ordinary[usize::from(game.mode.reversed)].clone(),
            Some(start) => Board::new(Position::from_chess(start.chess.clone()), game.mode.reversed),
        };
        let unread = || DecodeError { at: 0, moves: 0, kind: MoveError::Unread };
        let data = self.moves.get(&self.db.moves, game.offset, game.len).map_err(|_| unread())?;
        let whole = Some(data).filter(|data| data.len() as u64 >= game.len);
        let data = whole.and_then(|data| data.get(usize::try_from(game.head).ok()?..)).ok_or_else(unread)?;
        decode(data, game.mode, &mut self.board, &mut self.kept, sink)
    }

    /// The annotations of a game; `None` where it has none.
    ///
    /// # Errors
    /// With their offset in `.cba` and what is wrong, as a clause, when they cannot be read.
    pub fn notes(&mut self, record: &CbhRecord) -> Result<Option<(u64, Items<'_>)>, (u64, &'static str)> {
        let db = self.db;
        let Some(blob) = db.notes.as_ref().filter(|_| record.notes() != 0) else { return Ok(None) };
        let offset = self.offset(record, blob, record.notes(), CBJ_NOTES);
        let offset =
            offset.ok_or((record.notes(), "the .cbj file does not say where its annotations are"))?;
        let outside = (offset, "the record puts its annotations outside their file");
        if offset >= blob.len() {
            return Err(outside);
        }
        let unread = (offset, "its annotations cannot be read");
        let head = self.notes.get(blob, offset, NOTES_HEAD_LEN).map_err(|_| unread)?;
        let size = bytes::u32_be(head, NOTES_SIZE).map(u64::from).filter(|&size| size >= NOTES_HEAD_LEN);
        let size = size.ok_or((offset, "its annotations have no length"))?;
        if size > MAX_NOTES {
            return Err((offset, "its annotations are too long"));
        }
        let data = self.notes.get(blob, offset, size).map_err(|_| unread)?;
        Ok(Some((offset, Items::new(data))))
    }

    /// The guiding text of a record, and what cuts it short, if anything does.
    ///
    /// # Errors
    /// When it cannot be read at all.
    pub fn guide(&mut self, record: &CbhRecord) -> Result<(Guide, Option<GameError>), GameError> {
        let db = self.db;
        let CbhHead { offset, size, .. } = self.head(record, "text")?;
        let data = self.moves.get(&db.moves, offset, size);
        let refuse = |at, why| db.games_file.error(record.number, at, Reason::Damaged, why);
        let data = data.map_err(|error| refuse(offset, error.with_source()))?;
        let guide = Guide::read(data);
        let error = guide.error.map(|(at, what)| refuse(offset + at, what.to_owned()));
        Ok((guide, error))
    }

    /// What is wrong with a game whose decoding ended so, if anything is.
    pub fn error(&self, game: &CbhGame, ended: Result<(), DecodeError>) -> Option<GameError> {
        let (number, offset) = (game.number, game.offset);
        match ended {
            Err(error) => {
                let at = offset + game.head + error.at;
                Some(self.db.games_file.error(number, at, error.reason(), error.to_string()))
            }
            Ok(()) if game.cut => Some(self.db.games_file.error(number, offset, Reason::Damaged, CUT_OFF)),
            Ok(()) => None,
        }
    }
}

impl CbhGame {
    /// The number of its first move.
    pub(crate) fn number_of_first(&self) -> u32 {
        self.start.as_ref().map_or(1, |start| start.chess.fullmoves().get())
    }
}
