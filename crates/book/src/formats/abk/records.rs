//! The header and the records of a book, read and written (docs/formats/abk.md, Header; docs/formats/abk.md, Record).
#![allow(
    clippy::cast_possible_truncation,
    reason = "a text is cut to its room before, and there are few kinds of pieces"
)]

use shakmaty::{File, Move, Square};

use tabiya_base::bytes;
use tabiya_base::encoding::{decode_western, encode_western};
use tabiya_chess::MoveCode;

use super::layout::{
    AUTHOR, AUTHOR_ROOM, BY_GAMES, BY_PRIORITY, BY_SCORE, COMMENT, COMMENT_ROOM, DELETED, FILLER, HEADER_LEN,
    HEADER_LEN_AT, LAST_PLY, LIVE_RECORDS, MIN_GAMES, MIN_PERCENT_BLACK, MIN_PERCENT_WHITE, MIN_WINS, NONE,
    PROMOTIONS, RECORD_LEN, RECORD_LEN_AT, ROOT, START, UNSET, WRITTEN,
};
use crate::Heading;

/// What the header says of the book.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AbkHeader {
    /// The comment.
    pub comment: String,
    /// The author.
    pub author: String,
    /// Records that are not deleted.
    pub live_records: i32,
    /// The fewest games that a move needs.
    pub min_games: i32,
    /// The fewest games that the mover must have won.
    pub min_wins: i32,
    /// The least percentage of won games that a move needs, White's and Black's.
    pub min_percent: [i32; 2],
    /// How much the priority counts, 0 to 15.
    pub by_priority: i32,
    /// How much the number of games counts, 0 to 15.
    pub by_games: i32,
    /// How much the score counts, 0 to 15.
    pub by_score: i32,
    /// The last ply to be played, 1 being White's first move.
    pub last_ply: i32,
}

impl AbkHeader {
    /// The numbers with their offsets.
    fn numbers(&mut self) -> [(u64, &mut i32); 9] {
        let [white, black] = &mut self.min_percent;
        [
            (LIVE_RECORDS, &mut self.live_records),
            (MIN_GAMES, &mut self.min_games),
            (MIN_WINS, &mut self.min_wins),
            (MIN_PERCENT_WHITE, white),
            (MIN_PERCENT_BLACK, black),
            (BY_PRIORITY, &mut self.by_priority),
            (BY_GAMES, &mut self.by_games),
            (BY_SCORE, &mut self.by_score),
            (LAST_PLY, &mut self.last_ply),
        ]
    }

    /// Reads the header; what is outside of `data`, or was never written, is empty or 0.
    pub fn read(data: &[u8]) -> Self {
        let mut header = Self {
            comment: text(data, COMMENT, COMMENT_ROOM),
            author: text(data, AUTHOR, AUTHOR_ROOM),
            ..Self::default()
        };
        for (at, number) in header.numbers() {
            let written = bytes::u32_le(data, at).filter(|number| *number != UNSET);
            *number = written.unwrap_or_default().cast_signed();
        }
        header
    }

    /// What it says of the book.
    pub(crate) fn heading(&self) -> Heading {
        let is_commented = !self.comment.is_empty() && self.comment != WRITTEN;
        Heading {
            format: crate::abk::FORMAT,
            texts: vec![self.comment.clone(), self.author.clone()],
            settings: self.settings().to_vec(),
            weighs: true,
            says_anything: is_commented || !self.author.is_empty(),
        }
    }

    /// The header of a book of which this is said.
    #[cfg(feature = "write")]
    pub(super) fn of_heading(heading: &Heading) -> Self {
        let text = |at| heading.texts.get(at).cloned().unwrap_or_default();
        let number = |at| heading.settings.get(at).copied().unwrap_or_default();
        Self {
            comment: text(0),
            author: text(1),
            live_records: 0,
            min_games: number(0),
            min_wins: number(1),
            min_percent: [number(2), number(3)],
            by_priority: number(4),
            by_games: number(5),
            by_score: number(6),
            last_ply: number(7),
        }
    }

    /// Whether priority, games and score count alike.
    #[cfg(feature = "write")]
    pub(super) fn weighs_alike(&self) -> bool {
        self.by_priority > 0 && self.by_priority == self.by_games && self.by_games == self.by_score
    }

    /// What makes and limits the weights of moves: the sliders, and what a move needs.
    fn settings(&self) -> [i32; 8] {
        let Self { min_games, min_wins, min_percent: [white, black], last_ply, .. } = *self;
        let Self { by_priority, by_games, by_score, .. } = *self;
        [min_games, min_wins, white, black, by_priority, by_games, by_score, last_ply]
    }

    /// The bytes of the header. Texts are cut to their room, and characters outside Windows-1252 become `?`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut header = vec![FILLER; HEADER_LEN as usize];
        let mut put = |at: u64, bytes: &[u8]| {
            header.iter_mut().skip(at as usize).zip(bytes).for_each(|(place, byte)| *place = *byte);
        };
        put(0, &START);
        put(START.len() as u64, b"K");
        put(HEADER_LEN_AT, &HEADER_LEN.to_le_bytes());
        put(RECORD_LEN_AT, &RECORD_LEN.to_le_bytes());
        for (at, number) in self.clone().numbers() {
            put(at, &number.to_le_bytes());
        }
        for (at, room, text) in [(COMMENT, COMMENT_ROOM, &self.comment), (AUTHOR, AUTHOR_ROOM, &self.author)]
        {
            let text = encode_western(text);
            let text = text.get(..room).unwrap_or(&text);
            let mut field = vec![text.len() as u8];
            field.extend_from_slice(text);
            field.resize(1 + room, 0);
            put(at, &field);
        }
        header
    }
}

/// A text after the byte with its length, at most `room` bytes of it, in Windows-1252; control characters become spaces.
fn text(data: &[u8], at: u64, room: usize) -> String {
    let len = bytes::array::<1>(data, at).map_or(0, |[len]| usize::from(len).min(room));
    let bytes = bytes::slice(data, at + 1, len as u64).unwrap_or_default();
    decode_western(bytes).replace(char::is_control, " ").trim().to_owned()
}

/// One record: a move of the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AbkRecord {
    /// The square that the move comes from, 0 (a1) to 63 (h8).
    pub from: u8,
    /// The square that it goes to.
    pub to: u8,
    /// What the pawn becomes: 0 nothing, 1 rook, 2 knight, 3 bishop, 4 queen, of either sign.
    pub promotion: i8,
    /// 0 never to be played, else 1 to 9.
    pub priority: u8,
    /// Games.
    pub games: i32,
    /// Games that White won.
    pub white_wins: i32,
    /// Games that White lost.
    pub white_losses: i32,
    /// A count of plies; its top byte marks a deleted record.
    pub flags: u32,
    /// The number of the first reply's record, negative if there is none.
    pub child: i32,
    /// The number of the record of the next move of the same position, negative if there is none.
    pub sibling: i32,
}

impl AbkRecord {
    /// Reads a record.
    pub fn from_bytes(bytes: &[u8; RECORD_LEN as usize]) -> Self {
        let [from, to, promotion, priority, ..] = *bytes;
        let number = |at| bytes::u32_le(bytes, at).unwrap_or_default();
        Self {
            from,
            to,
            promotion: promotion.cast_signed(),
            priority,
            games: number(4).cast_signed(),
            white_wins: number(8).cast_signed(),
            white_losses: number(12).cast_signed(),
            flags: number(16),
            child: number(20).cast_signed(),
            sibling: number(24).cast_signed(),
        }
    }

    /// The record as it is in the file.
    pub fn to_bytes(&self) -> [u8; RECORD_LEN as usize] {
        let mut bytes = [0; RECORD_LEN as usize];
        let (head, rest) = bytes.split_at_mut(4);
        head.copy_from_slice(&[self.from, self.to, self.promotion.cast_unsigned(), self.priority]);
        let Self { games, white_wins, white_losses, flags, child, sibling, .. } = *self;
        let fields = [games, white_wins, white_losses, flags.cast_signed(), child, sibling];
        for (into, field) in rest.chunks_exact_mut(4).zip(fields) {
            into.copy_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    /// A record with just a legal move of ordinary chess. Castling is the king's own step.
    pub fn from_move(mv: Move) -> Self {
        let to = match mv {
            Move::Castle { king, rook } if rook > king => Square::from_coords(File::G, king.rank()),
            Move::Castle { king, .. } => Square::from_coords(File::C, king.rank()),
            _ => mv.to(),
        };
        let promotion = PROMOTIONS.iter().position(|role| *role == mv.promotion()).unwrap_or_default();
        let from = mv.from().unwrap_or(to);
        let (from, to, promotion) = (from.into(), to.into(), promotion as i8);
        Self { from, to, promotion, child: NONE, sibling: NONE, ..Self::default() }
    }

    /// Whether it was deleted: then neither its move nor its replies count, but its siblings do.
    pub fn deleted(&self) -> bool {
        self.flags >> 24 == DELETED
    }

    /// Its move; `None` if a square or the promotion is invalid.
    pub fn mv(&self) -> Option<MoveCode> {
        let square = |number: u8| Square::try_from(u32::from(number)).ok();
        let promotion = PROMOTIONS.get(usize::from(self.promotion.unsigned_abs()))?;
        Some(MoveCode::new(square(self.from)?, square(self.to)?, *promotion))
    }
}

/// The records of a file after its header, by the numbers that links use.
#[derive(Clone, Copy, Debug)]
pub struct Records<'a> {
    records: &'a [[u8; RECORD_LEN as usize]],
    /// Bytes after the last whole record.
    pub trailing: usize,
}

impl<'a> Records<'a> {
    /// As many whole records as follow the header.
    pub fn new(data: &'a [u8]) -> Self {
        let (records, rest) = data.get(HEADER_LEN as usize..).unwrap_or_default().as_chunks();
        Self { records, trailing: rest.len() }
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.records.is_empty()
    }

    /// The record of this number; the first is [`ROOT`].
    pub fn get(self, number: u32) -> Option<AbkRecord> {
        let index = usize::try_from(number.checked_sub(ROOT)?).ok()?;
        self.records.get(index).map(AbkRecord::from_bytes)
    }

    /// All records with their numbers, in the order of the file.
    pub fn iter(self) -> impl Iterator<Item = (u32, AbkRecord)> + 'a {
        (ROOT..).zip(self.records.iter().map(AbkRecord::from_bytes))
    }
}

/// Where a record begins, in bytes from the start of the file.
pub fn offset(number: u32) -> u64 {
    u64::from(number) * u64::from(RECORD_LEN)
}

#[cfg(test)]
mod tests {
    use super::super::layout::NO_LAST_PLY;
    use super::*;
    use shakmaty::Role;

    #[test]
    fn a_header_comes_back() {
        let header = AbkHeader {
            comment: "Für später \u{2013} \u{160}ari\u{161}".to_owned(),
            author: "A".repeat(AUTHOR_ROOM),
            live_records: 9542,
            min_games: 1,
            min_wins: 2,
            min_percent: [3, 4],
            by_priority: 5,
            by_games: 6,
            by_score: 7,
            last_ply: NO_LAST_PLY,
        };
        let bytes = header.to_bytes();
        assert_eq!((bytes.len(), AbkHeader::read(&bytes)), (HEADER_LEN as usize, header.clone()));
        let long = AbkHeader { comment: "b".repeat(200), author: "\u{416}".to_owned(), ..header };
        let back = AbkHeader::read(&long.to_bytes());
        assert_eq!((back.comment, back.author), ("b".repeat(COMMENT_ROOM), "?".to_owned()));
    }

    #[test]
    fn moves_are_written_as_their_squares() {
        let normal =
            |from, to, promotion| Move::Normal { role: Role::Pawn, from, capture: None, to, promotion };
        for (mv, from, to, promotion) in [
            (normal(Square::E2, Square::E4, None), Square::E2, Square::E4, None),
            (normal(Square::A7, Square::A8, Some(Role::Knight)), Square::A7, Square::A8, Some(Role::Knight)),
            (normal(Square::A7, Square::A8, Some(Role::Queen)), Square::A7, Square::A8, Some(Role::Queen)),
            (Move::Castle { king: Square::E1, rook: Square::H1 }, Square::E1, Square::G1, None),
            (Move::Castle { king: Square::E8, rook: Square::A8 }, Square::E8, Square::C8, None),
        ] {
            let record = AbkRecord::from_bytes(&AbkRecord::from_move(mv).to_bytes());
            assert_eq!(record.mv(), Some(MoveCode::new(from, to, promotion)));
        }
    }
}
