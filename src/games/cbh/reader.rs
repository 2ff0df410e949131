//! One thread's way through a database: records, moves and annotations by the numbers of games.
#![allow(clippy::indexing_slicing, reason = "an array of two has an element for each bool")]

use std::fmt;

use shakmaty::{Chess, Move, Position as _};
use std::ops::ControlFlow;

use super::board::{Board, Fault};
use super::database::Cbh;
use super::decode::{Damage, Sink, Wrong, decode};
use super::guide::Guide;
use super::layout::{
    CBJ_MOVES, CBJ_NOTES, CBJ_TEAMS, CBJ_TITLE, GAME_HEAD_LEN, NOTES_HEAD_LEN, NOTES_MOST, NOTES_SIZE,
    RECORD_LEN, SET_UP,
};
use super::mode::{MODE_BITS, Mode};
use super::notes::Items;
use super::record::Record;
use super::start::Start;
use crate::base::blob::{Blob, Window};
use crate::base::bytes;
use crate::base::error;
use crate::games::{Place, Problem, Reason, Spot};

/// The shortest header of a `.cbg` file: no game begins before its end (docs/formats/cbh.md, Game).
const SHORTEST_HEADER: u64 = 10;

/// Reads a database. Made for going through it in order, but any order is right.
#[derive(Debug)]
pub struct Reader<'a> {
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

/// The bytes of a record.
pub type Found = [u8; RECORD_LEN as usize];

/// The moves of a game, found but not yet decoded.
#[derive(Clone, Debug)]
pub struct Game {
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

/// Why a game cannot be read at all.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// The kind of reason.
    pub reason: Reason,
    /// Where in `.cbg` it shows.
    pub offset: u64,
    /// What is wrong there, as a clause.
    pub why: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

/// Counts moves.
#[derive(Debug, Default)]
pub(super) struct Counting {
    /// Half-moves of the main line.
    pub main: u32,
    /// All moves.
    pub all: u32,
    /// Whether the main line is over.
    over: bool,
    /// Whether a side passes.
    pub passes: bool,
}

impl Sink for Counting {
    const VARIATIONS: bool = true;
    type Before = ();

    fn before(&mut self, _: &Board, _: Move) {}

    fn after(&mut self, _: &Board, _: Move, (): ()) -> ControlFlow<()> {
        self.all += 1;
        self.main += u32::from(!self.over);
        ControlFlow::Continue(())
    }

    fn pass(&mut self) -> ControlFlow<()> {
        self.passes = true;
        self.all += 1;
        self.main += u32::from(!self.over);
        ControlFlow::Continue(())
    }

    fn push(&mut self) {}

    fn pop(&mut self) {
        self.over = true;
    }
}

impl<'a> Reader<'a> {
    /// A reader of a database.
    pub fn new(db: &'a Cbh) -> Self {
        let ordinary = [false, true].map(|reversed| Board::new(&Chess::default(), reversed));
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

    /// The record of a game or text, by its number from 1. What the file does not have reads as 0.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn record(&mut self, number: u32) -> error::Result<Found> {
        let bytes = self.records.get(&self.db.records, u64::from(number) * RECORD_LEN, RECORD_LEN)?;
        let mut record = [0; RECORD_LEN as usize];
        record.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
        Ok(record)
    }

    fn second(&mut self, number: u32, at: u64, len: u64) -> Option<&[u8]> {
        let db = self.db;
        let blob = db.second.as_ref().filter(|_| at + len <= db.second_len)?;
        let bytes = self.second.get(blob, db.second_at(number), db.second_len).ok()?;
        bytes::slice(bytes, at, len)
    }

    /// The 64-bit offset that the `.cbj` record has, where the file needs one; else the one of the record.
    fn offset(&mut self, number: u32, file: &Blob, short: u64, at: u64) -> u64 {
        if !self.db.is_wide(file) {
            return short;
        }
        self.second(number, at, 8).and_then(|wide| bytes::u64_be(wide, 0)).unwrap_or(short)
    }

    /// The numbers of the teams of White and Black.
    pub fn teams(&mut self, number: u32) -> [Option<u32>; 2] {
        let teams = self.second(number, CBJ_TEAMS, 8);
        [0, 4].map(|at| teams.and_then(|teams| bytes::u32_be(teams, at)).filter(|&team| team != u32::MAX))
    }

    /// The number of the game's title.
    pub fn title(&mut self, number: u32) -> Option<u32> {
        let title = self.second(number, CBJ_TITLE, 4).and_then(|title| bytes::u32_be(title, 0));
        title.filter(|&title| title != u32::MAX)
    }

    /// The offset of a game's moves, and the four bytes of their head.
    pub(super) fn first_bytes(&mut self, number: u32, record: Record<'_>) -> Option<(u64, [u8; 4])> {
        let db = self.db;
        let offset = self.offset(number, &db.moves, record.moves(), CBJ_MOVES);
        if offset < SHORTEST_HEADER {
            return None;
        }
        let head = self.moves.get(&db.moves, offset, GAME_HEAD_LEN).ok()?;
        Some((offset, bytes::array(head, 0)?))
    }

    /// Finds the moves of a game, and where it starts.
    ///
    /// # Errors
    /// When the game cannot be read at all.
    pub fn find(&mut self, number: u32, record: Record<'_>) -> Result<Game, Unreadable> {
        let db = self.db;
        let offset = self.offset(number, &db.moves, record.moves(), CBJ_MOVES);
        let refuse = |reason, why: String| Err(Unreadable { reason, offset, why });
        let damaged = |why: &str| refuse(Reason::Damaged, why.to_owned());
        if offset < SHORTEST_HEADER || offset >= db.moves.len() {
            return damaged("the record puts its moves outside the file of moves");
        }
        let head = match self.moves.get(&db.moves, offset, GAME_HEAD_LEN) {
            Ok(head) => bytes::u32_be(head, 0),
            Err(error) => return refuse(Reason::Damaged, error.to_string()),
        };
        let Some(head) = head else { return damaged("its moves are cut off by the end of the file") };
        let (flags, size) = ((head >> 24) as u8, u64::from(head & 0xff_ffff));
        let Some(mode) = Mode::of(flags & MODE_BITS) else {
            return match flags & MODE_BITS {
                63 => refuse(Reason::BadPosition, "it starts from an illegal position".to_owned()),
                other => refuse(
                    Reason::OtherVariant,
                    format!("its moves are in mode {other}, which is no kind of chess that can be read"),
                ),
            };
        };
        if size < GAME_HEAD_LEN {
            return damaged("its moves are said to have no bytes");
        }
        let data = match self.moves.get(&db.moves, offset, size) {
            Ok(data) => data,
            Err(error) => return refuse(Reason::Damaged, error.to_string()),
        };
        let len = data.len() as u64;
        let behind = data.get(GAME_HEAD_LEN as usize..).unwrap_or_default();
        let start = if flags & SET_UP != 0 {
            match Start::read(behind, mode.chess960) {
                Ok(start) => Some(start),
                Err(why) => return refuse(Reason::BadPosition, why.to_owned()),
            }
        } else if mode.chess960 {
            match record.chess960().and_then(Start::chess960) {
                Some(start) => Some(start),
                None => {
                    return refuse(Reason::BadPosition, "its Chess960 position is not known".to_owned());
                }
            }
        } else {
            None
        };
        let head = GAME_HEAD_LEN + start.as_ref().map_or(0, |start| start.len);
        let mut game = Game { number, offset, len, head, mode, start, cut: len < size };
        self.grant(&mut game);
        Ok(game)
    }

    /// Gives a set-up position the rights to castle that its game makes use of without having them.
    fn grant(&mut self, game: &mut Game) {
        // Each side has two.
        for _ in 0..4 {
            let Some(start) = game.start.as_ref().filter(|_| !game.mode.chess960) else { return };
            let Err(Damage { what: Wrong::Illegal(Fault::NoRight { color, short }), .. }) =
                self.decode(game, &mut Counting::default())
            else {
                return;
            };
            let Some(granted) = start.with_right(color, short) else { return };
            game.start = Some(granted);
        }
    }

    /// The board that a game starts on.
    pub fn board_of(&self, game: &Game) -> Board {
        match &game.start {
            None => self.ordinary[usize::from(game.mode.reversed)].clone(),
            Some(start) => Board::new(&start.chess, game.mode.reversed),
        }
    }

    /// Decodes the moves of a game that was found.
    ///
    /// # Errors
    /// When they are damaged: those before the damage were handed over.
    pub fn decode<S: Sink>(&mut self, game: &Game, sink: &mut S) -> Result<(), Damage> {
        self.board = self.board_of(game);
        let data = self.moves.get(&self.db.moves, game.offset, game.len).unwrap_or_default();
        let data = usize::try_from(game.head).ok().and_then(|head| data.get(head..)).unwrap_or_default();
        decode(data, game.mode, &mut self.board, &mut self.kept, sink)
    }

    /// The annotations of a game; `None` where it has none.
    ///
    /// # Errors
    /// With their offset in `.cba` and what is wrong, as a clause, when they cannot be read.
    pub fn notes(
        &mut self,
        number: u32,
        record: Record<'_>,
    ) -> Result<Option<(u64, Items<'_>)>, (u64, &'static str)> {
        let db = self.db;
        let Some(blob) = db.notes.as_ref().filter(|_| record.notes() != 0) else { return Ok(None) };
        let offset = self.offset(number, blob, record.notes(), CBJ_NOTES);
        let outside = (offset, "the record puts its annotations outside their file");
        if offset >= blob.len() {
            return Err(outside);
        }
        let unread = (offset, "its annotations cannot be read");
        let head = self.notes.get(blob, offset, NOTES_HEAD_LEN).map_err(|_| unread)?;
        let size = bytes::u32_be(head, NOTES_SIZE).map(u64::from).filter(|&size| size >= NOTES_HEAD_LEN);
        let size = size.ok_or((offset, "its annotations have no length"))?;
        if size > NOTES_MOST {
            return Err((offset, "its annotations are said to be longer than any are"));
        }
        let data = self.notes.get(blob, offset, size).map_err(|_| unread)?;
        Ok(Some((offset, Items::new(data))))
    }

    /// The guiding text of a record, and its offset in `.cbg`.
    ///
    /// # Errors
    /// When it cannot be read at all.
    pub fn guide(&mut self, number: u32, record: Record<'_>) -> Result<(u64, Guide), Unreadable> {
        let db = self.db;
        let offset = self.offset(number, &db.moves, record.moves(), CBJ_MOVES);
        let refuse = |why: String| Unreadable { reason: Reason::Damaged, offset, why };
        if offset < SHORTEST_HEADER || offset >= db.moves.len() {
            return Err(refuse("the text is said to be outside its file".to_owned()));
        }
        let head =
            self.moves.get(&db.moves, offset, GAME_HEAD_LEN).map_err(|error| refuse(error.to_string()))?;
        let size = bytes::u32_be(head, 0).map_or(0, |head| u64::from(head & 0xff_ffff));
        let data = self.moves.get(&db.moves, offset, size).map_err(|error| refuse(error.to_string()))?;
        Ok((offset, Guide::read(data)))
    }

    /// Where a game is, for reports.
    pub fn place(&self, number: u32, offset: u64, length: u64) -> Place {
        Place { file: self.db.moves_path().clone(), spot: Spot::Game(number.into()), offset, length }
    }

    /// The problem that damage is to a game.
    pub fn problem(&self, game: &Game, damage: &Damage) -> Problem {
        Problem {
            reason: damage.reason(),
            place: self.place(game.number, game.offset + game.head + damage.at, 0),
            why: damage.to_string(),
        }
    }
}

impl Game {
    /// Half-moves before the first one, and its full move's number.
    pub fn number_of_first(&self) -> u32 {
        self.start.as_ref().map_or(1, |start| start.chess.fullmoves().get())
    }
}
