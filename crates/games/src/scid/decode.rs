//! The moves of a game: bytes become legal moves, in the order of PGN.

use std::mem::replace;
use std::ops::ControlFlow;

use shakmaty::{Move, Role, Square};

use super::board::Board;
use super::layout::mark;
use super::stored::Stored;
use crate::database::{DecodeError, MoveError, Sink};

/// How the decoding of a game ended. Places are in bytes from the start of its moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// What is wrong in the main line, which ended it.
    pub error: Option<DecodeError>,
    /// What is wrong in the first variation that was cut short.
    pub cut: Option<DecodeError>,
}

/// The positions before and after a move that variations replace.
pub type Kept = Vec<(Board, Board)>;

/// Plays the moves of a game from the position of `board`; `kept` is memory for positions to go back to.
///
/// The sink has received all moves before an illegal one. After one in a variation the line around it goes on.
pub fn decode<S: Sink<Board>>(
    stored: &Stored<'_>,
    board: &mut Board,
    kept: &mut Kept,
    sink: &mut S,
) -> Ended {
    kept.clear();
    let before = board.clone();
    let variations = sink.wants_variations();
    let (moves, comments) = (stored.moves, stored.comments);
    let mut decoder = Decoder {
        moves,
        comments,
        at: 0,
        count: 0,
        variations,
        kept,
        before,
        board,
        ended: Ended::default(),
    };
    decoder.run(sink);
    decoder.ended
}

struct Decoder<'a> {
    moves: &'a [u8],
    comments: &'a [u8],
    at: usize,
    /// Moves read so far.
    count: u32,
    variations: bool,
    kept: &'a mut Kept,
    /// The position before the last move, where a variation replaces it.
    before: Board,
    board: &'a mut Board,
    ended: Ended,
}

/// What a byte says.
enum Code {
    Move(Move),
    Pass,
}

impl Decoder<'_> {
    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.moves.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn comment(&mut self) -> &[u8] {
        let end = memchr::memchr(0, self.comments).unwrap_or(self.comments.len());
        let (text, rest) = self.comments.split_at_checked(end).unwrap_or_default();
        self.comments = rest.get(1..).unwrap_or_default();
        text
    }

    fn run<S: Sink<Board>>(&mut self, sink: &mut S) {
        while let Some(byte) = self.byte() {
            match byte {
                mark::GLYPH => {
                    let number = self.byte();
                    number.into_iter().for_each(|number| sink.glyph(number));
                }
                mark::COMMENT => {
                    let text = self.comment();
                    sink.comment(text);
                }
                mark::OPEN if !self.variations => self.skip(),
                mark::OPEN => {
                    let after = replace(self.board, self.before.clone());
                    self.kept.push((self.before.clone(), after));
                    sink.open();
                }
                mark::CLOSE => self.close(sink),
                mark::END => return,
                code => {
                    if self.one(code, sink).is_break() {
                        return;
                    }
                }
            }
        }
    }

    fn close<S: Sink<Board>>(&mut self, sink: &mut S) {
        if let Some((before, after)) = self.kept.pop() {
            (self.before, *self.board) = (before, after);
            sink.close();
        }
    }

    /// Goes past the rest of the line; in a variation that also ends it for the position.
    fn skip(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.byte() {
            match byte {
                mark::GLYPH => {
                    self.byte();
                }
                mark::COMMENT => {
                    self.comment();
                }
                mark::OPEN => depth += 1,
                mark::CLOSE if depth == 0 => return,
                mark::CLOSE => depth -= 1,
                mark::END => return,
                _ => {}
            }
        }
    }

    /// Leaves out the rest of the line, with the variations that replace its last move. Breaks off if it is the main line.
    fn end_line<S: Sink<Board>>(&mut self, sink: &mut S) -> ControlFlow<()> {
        if self.kept.is_empty() {
            return ControlFlow::Break(());
        }
        self.skip();
        self.close(sink);
        ControlFlow::Continue(())
    }

    /// Plays a move.
    fn one<S: Sink<Board>>(&mut self, code: u8, sink: &mut S) -> ControlFlow<()> {
        let at = self.at.saturating_sub(1);
        let read = self.read(code);
        if self.variations && self.is_replaced() {
            self.before.clone_from(self.board);
        }
        let failed = match read {
            Ok(Code::Move(mv)) => {
                self.count += 1;
                return sink.play(self.board, mv);
            }
            Ok(Code::Pass) => match self.board.pass() {
                Ok(()) => {
                    self.count += 1;
                    return if sink.pass().is_break() {
                        self.end_line(sink)
                    } else {
                        ControlFlow::Continue(())
                    };
                }
                Err(failed) => failed,
            },
            Err(failed) => failed,
        };
        let error = Some(DecodeError { at: at as u64, moves: self.count, kind: failed });
        // A second byte that is none may be a mark.
        self.at = at + 1;
        if self.kept.is_empty() {
            self.ended.error = error;
        } else {
            self.ended.cut = self.ended.cut.or(error);
        }
        self.end_line(sink)
    }

    /// Whether a variation follows the move that was just read.
    fn is_replaced(&self) -> bool {
        let mut rest = self.moves.get(self.at..).unwrap_or_default();
        loop {
            rest = match rest {
                [mark::GLYPH, _, rest @ ..] | [mark::COMMENT, rest @ ..] => rest,
                [mark::OPEN, ..] => return true,
                _ => return false,
            };
        }
    }

    /// The move of a byte, of which a queen's may have a second one.
    #[inline]
    fn read(&mut self, byte: u8) -> Result<Code, MoveError> {
        let (number, code) = (byte >> 4, byte & 15);
        let (from, role) = self.board.find(number)?;
        let (file, rank) = (u32::from(from.file()), u32::from(from.rank()));
        let (mut promotion, code) = (None, u32::from(code));
        let to = match role {
            Role::King => match code {
                0 if number == 0 => return Ok(Code::Pass),
                9 | 10 => return self.board.castling(code == 10).map(Code::Move),
                _ => shifted(from, code, &[-9, -8, -7, -1, 1, 7, 8, 9]),
            },
            Role::Knight => shifted(from, code, &[-17, -15, -10, -6, 6, 10, 15, 17]),
            Role::Queen if code == file => self
                .byte()
                .and_then(|to| to.checked_sub(64))
                .filter(|to| *to < 64)
                .map(|to| Square::new(to.into())),
            Role::Queen | Role::Rook => {
                Some(if code < 8 { Square::new(8 * rank + code) } else { Square::new(8 * (code - 8) + file) })
            }
            Role::Bishop => {
                let to = code & 7;
                let right = i64::from(to) - i64::from(file);
                let rank = i64::from(rank) + if code < 8 { right } else { -right };
                u32::try_from(rank).ok().filter(|rank| *rank < 8).map(|rank| Square::new(8 * rank + to))
            }
            Role::Pawn => {
                const ROLES: [Option<Role>; 5] =
                    [None, Some(Role::Queen), Some(Role::Rook), Some(Role::Bishop), Some(Role::Knight)];
                promotion = ROLES.get(code as usize / 3).copied().flatten();
                let steps = if code == 15 { 16 } else { 7 + code as i32 % 3 };
                from.offset(steps * self.board.turn().fold_wb(1, -1))
            }
        };
        self.board.step((from, role), to.ok_or(MoveError::Unreachable)?, promotion).map(Code::Move)
    }
}

/// The square so many squares further, by a code from 1 on.
#[inline]
fn shifted(from: Square, code: u32, by: &[i32; 8]) -> Option<Square> {
    from.offset(*by.get(usize::try_from(code).ok()?.checked_sub(1)?)?)
}
