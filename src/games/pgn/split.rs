//! Cutting a text of games into pieces between games.

use std::io::{self, Read};
use std::sync::{Arc, Mutex};

use memchr::memmem;

/// Bytes of a piece, unless a game is longer.
pub const PIECE_LEN: usize = 1 << 20;

/// Bytes after which a piece is cut at a weaker sign of a new game than its first tag, or anywhere: no real game is this
/// long.
pub(crate) const MOST_LEN: usize = 1 << 24;

/// The start of a game, even after a comment without end: the first of the seven tags that the PGN standard requires,
/// at the start of a line.
pub(crate) const FIRST_TAG: &[u8] = b"\n[Event ";

/// The memory of pieces that are no longer needed, for those to come: a new allocation for each piece would be cleared by
/// the system, and again before it is read into.
type Spare = Arc<Mutex<Vec<Vec<u8>>>>;

/// Pieces whose memory is kept.
const MOST_SPARE: usize = 8;

/// A piece of a text of games.
#[derive(Debug)]
pub struct Piece {
    /// Its bytes.
    pub text: Vec<u8>,
    /// Its offset, in bytes from the start of the text.
    pub offset: u64,
    /// Its first line, from 1.
    pub line: u64,
    /// Whether it begins within a game, because the piece before was cut.
    pub begins_inside: bool,
    /// Whether it was cut within a game, because none ended for [`MOST_LEN`] bytes.
    pub cut: bool,
    /// Whether it is the last piece of a text that was read to its end.
    pub last: bool,
    spare: Spare,
}

impl Drop for Piece {
    fn drop(&mut self) {
        let text = std::mem::take(&mut self.text);
        if text.capacity() <= 4 * PIECE_LEN
            && let Ok(mut spare) = self.spare.lock()
            && spare.len() < MOST_SPARE
        {
            spare.push(text);
        }
    }
}

/// The pieces of a text. They depend on the text alone, not on how it is read.
pub struct Pieces<R> {
    from: R,
    rest: Vec<u8>,
    offset: u64,
    line: u64,
    /// Whether lines end as in old Macintosh files, and are converted.
    carriage_returns: Option<bool>,
    ended: bool,
    was_cut: bool,
    spare: Spare,
}

impl<R: Read> Pieces<R> {
    /// Cuts the text that `from` reads.
    pub fn new(from: R) -> Self {
        Self {
            from,
            rest: Vec::new(),
            offset: 0,
            line: 1,
            carriage_returns: None,
            ended: false,
            was_cut: false,
            spare: Spare::default(),
        }
    }

    /// The end of the last piece: its offset in bytes, and its line.
    pub fn end(&self) -> (u64, u64) {
        (self.offset, self.line)
    }

    /// The next piece; `None` at the end. If reading fails, the error comes with what was read before it, and the end
    /// follows.
    pub fn next_piece(&mut self) -> (Option<Piece>, io::Result<()>) {
        let mut room = self.spare.lock().ok().and_then(|mut spare| spare.pop()).unwrap_or_default();
        // What the room holds beyond this length was in another piece.
        let mut len = self.rest.len();
        if room.len() < len {
            room.resize(len, 0);
        }
        if let Some(start) = room.get_mut(..len) {
            start.copy_from_slice(&self.rest);
        }
        let mut failed = Ok(());
        let mut looked = 0;
        let end = loop {
            if !self.ended {
                let (read, result) = self.fill(&mut room, len);
                if let Err(error) = result {
                    (failed, self.ended) = (Err(error), true);
                }
                self.ended |= read == 0;
                len += read;
            }
            if self.ended {
                break len;
            }
            let from = len.saturating_sub(PIECE_LEN + FIRST_TAG.len()).max(looked);
            looked = len.saturating_sub(FIRST_TAG.len());
            if let Some(at) = memmem::rfind(room.get(from..len).unwrap_or_default(), FIRST_TAG) {
                break from + at + 1;
            }
            if len >= MOST_LEN {
                break room.get(..len).and_then(weaker_end).unwrap_or(len);
            }
        };
        self.rest.clear();
        self.rest.extend_from_slice(room.get(end..len).unwrap_or_default());
        room.truncate(end);
        let text = room;
        if text.is_empty() {
            return (None, failed);
        }
        let (offset, line) = (self.offset, self.line);
        self.offset += text.len() as u64;
        self.line += lines(&text);
        let cut = self.rest.is_empty() && !self.ended;
        let last = self.rest.is_empty() && self.ended && failed.is_ok();
        let begins_inside = std::mem::replace(&mut self.was_cut, cut);
        (Some(Piece { text, offset, line, begins_inside, cut, last, spare: self.spare.clone() }), failed)
    }

    /// Reads at most the length of a piece, to this place, and returns how much, even after an error.
    fn fill(&mut self, room: &mut Vec<u8>, start: usize) -> (usize, io::Result<()>) {
        let end = start + PIECE_LEN;
        if room.len() < end {
            room.resize(end, 0);
        }
        let mut at = start;
        let result = loop {
            // A decompressor that is given no room reports damage.
            if at == end {
                break Ok(());
            }
            match self.from.read(room.get_mut(at..end).unwrap_or_default()) {
                Ok(0) => break Ok(()),
                Ok(read) => at += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        let new = room.get_mut(start..at).unwrap_or_default();
        let turn =
            *self.carriage_returns.get_or_insert_with(|| new.contains(&b'\r') && !new.contains(&b'\n'));
        if turn {
            new.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
        (at - start, result)
    }
}

/// Where a game may begin in a text without first tags: after an empty line, at a tag or else at any text.
fn weaker_end(text: &[u8]) -> Option<usize> {
    for (sign, from_end) in [(&b"\n\n["[..], 1), (b"\n\r\n[", 1), (b"\n\n", 0), (b"\n\r\n", 0)] {
        // Far back, it is more likely the end of the head of the one game that fills the piece.
        if let Some(at) = memmem::rfind(text, sign).filter(|at| *at >= MOST_LEN / 2) {
            return Some(at + sign.len() - from_end);
        }
    }
    None
}

/// The number of line ends in a text.
pub(super) fn lines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A reader that returns few bytes at a time, and then fails or ends.
    struct Drops<'a>(&'a [u8], usize, bool);

    impl Read for Drops<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            assert!(!into.is_empty());
            if self.0.is_empty() && self.2 {
                return Err(io::ErrorKind::Other.into());
            }
            let some = self.1.min(into.len());
            self.0.read(&mut into[..some])
        }
    }

    fn pieces(mut from: Pieces<impl Read>) -> (Vec<Piece>, bool) {
        let (mut pieces, mut failed) = (Vec::new(), false);
        loop {
            let (piece, result) = from.next_piece();
            failed |= result.is_err();
            match piece {
                Some(piece) => pieces.push(piece),
                None => return (pieces, failed),
            }
        }
    }

    fn game(len: usize) -> Vec<u8> {
        let mut game = b"[Event \"x\"]\n\n1. e4 {".to_vec();
        game.resize(len - 5, b' ');
        game.extend(b"} *\n\n");
        game
    }

    #[test]
    fn pieces_begin_at_games_and_make_up_the_text() {
        let text: Vec<u8> = (0..5000).flat_map(|number| game(400 + number % 300)).collect();
        let (whole, _) = pieces(Pieces::new(&text[..]));
        assert!(whole.len() > 1);
        for (index, piece) in whole.iter().enumerate() {
            assert!(piece.text.starts_with(b"[Event "));
            assert!(!piece.cut && !piece.begins_inside);
            assert_eq!(piece.last, index + 1 == whole.len());
            let before: Vec<_> = whole[..index].iter().flat_map(|piece| piece.text.clone()).collect();
            assert_eq!(piece.offset, before.len() as u64);
            assert_eq!(piece.line, 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64);
        }
        assert!(whole.iter().flat_map(|piece| piece.text.clone()).eq(text.iter().copied()));
        let texts = |pieces: &[Piece]| pieces.iter().map(|piece| piece.text.clone()).collect::<Vec<_>>();
        let (drops, failed) = pieces(Pieces::new(Drops(&text, 777, false)));
        assert!(!failed && texts(&drops) == texts(&whole));
        let (drops, failed) = pieces(Pieces::new(Drops(&text, 777, true)));
        assert!(failed && texts(&drops).concat() == text);
        assert!(!drops.iter().any(|piece| piece.last));
    }

    #[test]
    fn a_text_without_end_is_cut_in_bounded_memory() {
        let text = io::repeat(b'(').take(3 * MOST_LEN as u64 + 5);
        let (pieces, _) = pieces(Pieces::new(text));
        assert!(pieces.iter().all(|piece| piece.text.len() <= MOST_LEN + PIECE_LEN));
        let cuts: Vec<_> = pieces.iter().map(|piece| (piece.begins_inside, piece.cut)).collect();
        assert_eq!(cuts, [(false, true), (true, true), (true, true), (true, false)]);
    }

    #[test]
    fn games_without_first_tag_are_cut_at_weaker_signs() {
        for (game, start) in
            [(&b"[White \"x\"]\n\n1. e4 *\n\n"[..], &b"[White"[..]), (b"1. e4 e5 *\r\n\r\n", b"1.")]
        {
            let text = game.repeat(MOST_LEN / game.len() + 20);
            let (pieces, _) = pieces(Pieces::new(&text[..]));
            assert!(pieces.len() > 1);
            assert!(pieces.iter().all(|piece| piece.text.starts_with(start) && !piece.cut));
        }
    }

    #[test]
    fn old_macintosh_line_ends_are_converted() {
        let (pieces, _) = pieces(Pieces::new(&b"[Event \"x\"]\r\r1. e4 *\r"[..]));
        assert_eq!(pieces[0].text, b"[Event \"x\"]\n\n1. e4 *\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::base::times(64, 256)))]

        #[test]
        fn no_text_is_lost(text in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b'[')], 0..3000)) {
            let (pieces, _) = pieces(Pieces::new(&text[..]));
            let whole: Vec<_> = pieces.iter().flat_map(|piece| piece.text.clone()).collect();
            if text.contains(&b'\n') || !text.contains(&b'\r') {
                prop_assert_eq!(whole, text);
            } else {
                prop_assert_eq!(whole.len(), text.len());
            }
        }
    }
}
