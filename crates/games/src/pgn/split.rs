//! Cutting a text of games into pieces between games.

use tabiya_base::bytes::Parts as _;

use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::lex::heads::{FIRST_TAG, begins_line};
use super::lex::tags;
use super::look::{self, memchr, memchr2, memmem, memrchr, memrchr_iter, memrchr2};

/// Bytes of a piece, unless a game is longer.
pub const PIECE_LEN: usize = 1 << 20;

/// Bytes after which a piece is cut at a weaker sign of a new game than its first tag, and beyond which it needs [`Room`]:
/// only a whole book in one game is this long.
pub(crate) const MAX_LEN: usize = 1 << 24;

/// The memory of pieces that are no longer needed, for those to come: a new allocation for each piece would be cleared by
/// the system, and again before it is read into.
type Spare = Arc<Mutex<Vec<Vec<u8>>>>;

/// Pieces whose memory is kept.
const MAX_SPARE: usize = 8;

/// The memory for a piece that is longer than [`MAX_LEN`]. There is one such piece at a time, of all that share the room.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    /// Bytes that a piece may have.
    most: usize,
    taken: Arc<(Mutex<bool>, Condvar)>,
}

impl Default for Room {
    fn default() -> Self {
        Self::new(MAX_LEN)
    }
}

impl Room {
    /// Room for this many bytes, at least [`MAX_LEN`]. With more than that, each piece must be dropped by another thread than
    /// the one that reads, or before the next is read.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(MAX_LEN), taken: Arc::default() }
    }

    /// Waits until the long piece before is dropped.
    fn take(&self) -> Taken {
        let (taken, free) = &*self.taken;
        let taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        *free.wait_while(taken, |taken| *taken).unwrap_or_else(PoisonError::into_inner) = true;
        Taken(self.taken.clone())
    }
}

/// The room, while a piece has it.
#[derive(Debug)]
struct Taken(Arc<(Mutex<bool>, Condvar)>);

impl Drop for Taken {
    fn drop(&mut self) {
        let (taken, free) = &*self.0;
        *taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        free.notify_one();
    }
}

/// A piece of a text of games.
#[derive(Debug)]
pub struct PgnPiece {
    /// Its bytes.
    pub text: Vec<u8>,
    /// Its offset, in bytes from the start of the text.
    pub offset: u64,
    /// Its first line, from 1.
    pub line: u64,
    /// Whether it begins within a game, because the piece before was cut.
    pub begins_inside: bool,
    /// Whether it was cut within a game, because there is no room for more of it.
    pub cut: bool,
    /// Whether it is the last piece of a text that was read to its end.
    pub last: bool,
    spare: Spare,
    _room: Option<Taken>,
}

impl Drop for PgnPiece {
    fn drop(&mut self) {
        let text = std::mem::take(&mut self.text);
        if text.capacity() <= 4 * PIECE_LEN
            && let Ok(mut spare) = self.spare.lock()
            && spare.len() < MAX_SPARE
        {
            spare.push(text);
        }
    }
}

/// The pieces of a text. They depend on the text alone, not on how it is read.
#[derive(Debug)]
pub struct Pieces<R> {
    from: R,
    rest: Vec<u8>,
    offset: u64,
    line: u64,
    ended: bool,
    was_cut: bool,
    /// Carriage returns at the end of what was read, of which the next byte decides.
    returns: usize,
    spare: Spare,
    room: Room,
}

impl<R: Read> Pieces<R> {
    /// Cuts the text that `from` reads.
    pub fn new(from: R) -> Self {
        Self {
            from,
            rest: Vec::new(),
            offset: 0,
            line: 1,
            ended: false,
            was_cut: false,
            returns: 0,
            spare: Spare::default(),
            room: Room::default(),
        }
    }

    /// The same with room for longer games.
    pub(crate) fn within(self, room: Room) -> Self {
        Self { room, ..self }
    }

    /// The end of the last piece: its offset in bytes, and its line.
    pub fn end(&self) -> (u64, u64) {
        (self.offset, self.line)
    }

    /// The next piece; `None` at the end. If reading fails, the error comes with what was read before it, and the end
    /// follows.
    pub fn next_piece(&mut self) -> (Option<PgnPiece>, io::Result<()>) {
        let mut room = self.spare.lock().ok().and_then(|mut spare| spare.pop()).unwrap_or_default();
        // What the room holds beyond this length was in another piece.
        let mut len = self.rest.len();
        if room.len() < len {
            room.resize(len, 0);
        }
        if let Some(start) = room.get_mut(..len) {
            start.copy_from_slice(&self.rest);
        }
        let (mut failed, mut taken) = (Ok(()), None);
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
            // Not before what was looked at, apart from a tag or a comment that ended after it.
            let from = len.saturating_sub(2 * PIECE_LEN);
            if let Some(end) = last_head(room.part(..len), from) {
                break end;
            }
            if len < MAX_LEN {
                continue;
            }
            // Far back, it is more likely the end of the head of the one game that fills the piece.
            let from = if taken.is_none() { MAX_LEN / 2 } else { from };
            if let Some(end) = room.get(..len).and_then(|text| weaker_end(text, from)) {
                break end;
            }
            if len >= self.room.most {
                break len;
            }
            taken = taken.or_else(|| Some(self.room.take()));
        };
        self.rest.clear();
        self.rest.extend_from_slice(room.part(end..len));
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
        let spare = self.spare.clone();
        (Some(PgnPiece { text, offset, line, begins_inside, cut, last, spare, _room: taken }), failed)
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
            match self.from.read(room.part_mut(at..end)) {
                Ok(0) => break Ok(()),
                Ok(read) => at += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        // The last line end of the text before may be only half read.
        let before = self.returns.min(start);
        let returns = ending(room.part(start..at), b'\r');
        if returns < at - start || at == start {
            turn_carriage_returns(room.part_mut(start - before..at), at == start);
            self.returns = returns;
        } else {
            self.returns = before + returns;
        }
        (at - start, result)
    }
}

/// Turns carriage returns that end lines, as in old Macintosh files, into line ends. Those at the end of the text may be
/// followed by a line end, unless it `is_over`.
fn turn_carriage_returns(text: &mut [u8], is_over: bool) {
    let mut at = 0;
    while let Some(found) = memchr(b'\r', text.part(at..)) {
        let rest = text.part_mut(at + found..);
        let len = rest.iter().position(|byte| *byte != b'\r').unwrap_or(rest.len());
        let (returns, after) = rest.split_at_mut(len);
        match after.first() {
            Some(b'\n') => {}
            None if !is_over => {}
            _ => returns.fill(b'\n'),
        }
        at += found + len;
    }
}

/// How many of these bytes end a text.
fn ending(text: &[u8], byte: u8) -> usize {
    text.iter().rev().take_while(|last| **last == byte).count()
}

/// Where the last game begins from this byte on, if anything precedes it: not within a comment, and not where the comment
/// before it may still end.
fn last_head(text: &[u8], from: usize) -> Option<usize> {
    let before = |end: usize| {
        let mut end = end;
        loop {
            let at = from + memmem::rfind(text.get(from..end)?, FIRST_TAG)?;
            if begins_line(text, at) {
                return Some(at);
            }
            end = at + FIRST_TAG.len() - 1;
        }
    };
    let last_brace = |end: usize| {
        let before = text.get(from..end)?;
        memrchr2(b'{', b'}', before).map(|at| from + at)
    };
    let mut head = before(text.len())?;
    let mut brace = last_brace(head);
    let mut is_certain = None;
    loop {
        if brace.is_some_and(|at| at >= head) {
            (brace, is_certain) = (last_brace(head), None);
        }
        let is_open = brace.and_then(|at| text.get(at)) == Some(&b'{');
        let rest = text.get(head..)?;
        let is_cut = || memchr2(b'{', b'}', rest).and_then(|at| rest.get(at)) == Some(&b'{');
        if is_open && !*is_certain.get_or_insert_with(is_cut) {
            // So are all heads since that brace.
            head = before(brace?)?;
            continue;
        }
        let first = first_tag(text, from, head);
        let Some(tag) = tag_of_the_same_game(text.get(from..first)?) else {
            return Some(first).filter(|first| *first > 0);
        };
        // So are all heads since that tag.
        head = before(from + tag + FIRST_TAG.len())?;
    }
}

/// Where the head begins that has a tag here: at the first of the lines before it that are tags, if there are any.
fn first_tag(text: &[u8], from: usize, tag: usize) -> usize {
    let mut first = tag;
    while let Some(before) = text.get(from..first).and_then(|before| before.strip_suffix(b"\n")) {
        let line = memrchr(b'\n', before).map_or(0, |line| line + 1);
        if !tags::is_whole_tag(before.part(line..)) {
            break;
        }
        first = from + line;
    }
    first
}

/// The last tag in the text before a head, if it is of the same game: no moves and no result come between.
fn tag_of_the_same_game(before: &[u8]) -> Option<usize> {
    let at = memrchr_iter(b'[', before).find(|at| tags::is_whole_tag(before.part(*at..)))?;
    let tag = before.part(at..);
    let line_len = memchr(b'\n', tag).unwrap_or(tag.len());
    (!tags::has_moves(tag.part(line_len..))).then_some(at)
}

/// Where a game may begin from this byte on in a text without first tags: after an empty line, at a tag or else, unless the
/// game before has a first tag, at any text.
fn weaker_end(text: &[u8], from: usize) -> Option<usize> {
    let signs = [(&b"\n\n["[..], 1), (b"\n\r\n[", 1), (b"\n\n", 0), (b"\n\r\n", 0)];
    let weakest = if text.starts_with(FIRST_TAG) { 1 } else { 0 };
    signs.into_iter().filter(|(_, from_end)| *from_end >= weakest).find_map(|(sign, from_end)| {
        memmem::rfind(text.get(from..)?, sign).map(|at| from + at + sign.len() - from_end)
    })
}

/// The number of line ends in a text.
pub(super) fn lines(text: &[u8]) -> u64 {
    look::memchr_iter(b'\n', text).count() as u64
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

    fn pieces(mut from: Pieces<impl Read>) -> (Vec<PgnPiece>, bool) {
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
        let texts = |pieces: &[PgnPiece]| pieces.iter().map(|piece| piece.text.clone()).collect::<Vec<_>>();
        let (drops, failed) = pieces(Pieces::new(Drops(&text, 777, false)));
        assert!(!failed && texts(&drops) == texts(&whole));
        let (drops, failed) = pieces(Pieces::new(Drops(&text, 777, true)));
        assert!(failed && texts(&drops).concat() == text);
        assert!(!drops.iter().any(|piece| piece.last));
    }

    #[test]
    fn a_text_without_end_is_cut_in_bounded_memory() {
        let text = io::repeat(b'(').take(3 * MAX_LEN as u64 + 5);
        let (pieces, _) = pieces(Pieces::new(text));
        assert!(pieces.iter().all(|piece| piece.text.len() <= MAX_LEN + PIECE_LEN));
        let cuts: Vec<_> = pieces.iter().map(|piece| (piece.begins_inside, piece.cut)).collect();
        assert_eq!(cuts, [(false, true), (true, true), (true, true), (true, false)]);
    }

    #[test]
    fn games_without_first_tag_are_cut_at_weaker_signs() {
        for (game, start) in
            [(&b"[White \"x\"]\n\n1. e4 *\n\n"[..], &b"[White"[..]), (b"1. e4 e5 *\r\n\r\n", b"1.")]
        {
            let text = game.repeat(MAX_LEN / game.len() + 20);
            let (pieces, _) = pieces(Pieces::new(&text[..]));
            assert!(pieces.len() > 1);
            assert!(pieces.iter().all(|piece| piece.text.starts_with(start) && !piece.cut));
        }
    }

    #[test]
    fn carriage_returns_end_lines_where_no_line_end_follows() {
        for (text, turned) in [
            ("[Event \"x\"]\r\r1. e4 *\r", "[Event \"x\"]\n\n1. e4 *\n"),
            ("a\r\nb\r\rc\nd\r\r\n\re\r", "a\r\nb\n\nc\nd\r\r\n\ne\n"),
        ] {
            for some in [1, 2, 100] {
                let (pieces, _) = pieces(Pieces::new(Drops(text.as_bytes(), some, false)));
                assert_eq!(pieces[0].text, turned.as_bytes(), "{text:?} {some}");
            }
        }
        // Half a line end at the end of what was read.
        let mut text = vec![b'x'; PIECE_LEN - 1];
        text.extend(b"\r\n\ry");
        let (pieces, _) = pieces(Pieces::new(&text[..]));
        assert!(pieces[0].text.ends_with(b"x\r\n\ny"));
    }

    #[test]
    fn a_piece_does_not_end_within_a_comment() {
        let quoted = b"[Event \"x\"]\n\n1. e4 {quotes\n[Event \"y\"]\n\n1. d4 *\n} *\n\n";
        for filler in [0, PIECE_LEN - 60, PIECE_LEN - 30, PIECE_LEN - 8] {
            let mut text = if filler > 0 { game(filler) } else { Vec::new() };
            (0..200).for_each(|_| text.extend(quoted));
            (0..3).for_each(|_| text.extend(game(PIECE_LEN / 2)));
            let (pieces, _) = pieces(Pieces::new(&text[..]));
            assert!(pieces.len() > 1);
            assert!(pieces.iter().all(|piece| piece.text.starts_with(b"[Event \"x\"]")), "{filler}");
        }
        let unterminated = [b"[Event \"x\"]\n\n1. e4 {\n\n".repeat(1 << 16), game(100)].concat();
        let (pieces, _) = pieces(Pieces::new(&unterminated[..]));
        assert!(pieces.iter().all(|piece| piece.text.len() <= 4 * PIECE_LEN && !piece.cut));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(64, 256)))]

        #[test]
        fn no_text_is_lost(text in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b'[')], 0..3000)) {
            let (pieces, _) = pieces(Pieces::new(&text[..]));
            let whole: Vec<_> = pieces.iter().flat_map(|piece| piece.text.clone()).collect();
            let turned = |text: &[u8]| text.iter().map(|byte| if *byte == b'\r' { b'\n' } else { *byte }).collect::<Vec<_>>();
            prop_assert_eq!(turned(&whole), turned(&text));
        }
    }
}
