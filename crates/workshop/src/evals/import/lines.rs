//! Cutting a text into blocks of whole lines, for several threads.

use tabiya_base::bytes::Parts as _;

use std::io::Read;

use super::problems::{Problem, Wrong};

/// Bytes of a block, about.
const BLOCK_LEN: usize = 1 << 18;

/// The longest line that is read. Lines of Lichess's dump have up to some ten thousand bytes.
pub(crate) const MAX_LINE: usize = 1 << 24;

#[derive(Debug)]
pub(crate) struct Block {
    /// Where they begin in the text.
    at: u64,
    text: Vec<u8>,
}

impl Block {
    /// Shows each line without its end and the mark of UTF-8 that some programs begin files with, and where it begins.
    pub fn each(&self, mut see: impl FnMut(u64, &[u8])) {
        let mut start = 0;
        while let Some(rest) = self.text.get(start..).filter(|rest| !rest.is_empty()) {
            let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let line = rest.part(..len).trim_ascii();
            see(self.at + start as u64, line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line));
            start += len + 1;
        }
    }
}

/// The lines of a text.
pub(crate) struct TextLines<R> {
    from: Option<R>,
    /// Where `rest` begins in the text.
    at: u64,
    /// The beginning of a line.
    rest: Vec<u8>,
    /// Whether `rest` belongs to a line that is too long.
    too_long: bool,
}

impl<R: Read> TextLines<R> {
    /// The lines of what `from` reads.
    pub fn new(from: R) -> Self {
        Self { from: Some(from), at: 0, rest: Vec::new(), too_long: false }
    }

    /// The next block; `None` at the end. Reports a line that is too long, and why the text cannot be read any further: what
    /// comes before is used.
    pub(crate) fn next_block(&mut self, mut report: impl FnMut(Problem)) -> Option<Block> {
        loop {
            let Some(from) = &mut self.from else {
                let last = std::mem::take(&mut self.rest);
                return (!last.is_empty() && !self.too_long).then_some(Block { at: self.at, text: last });
            };
            let before = self.rest.len();
            let read = from.take(BLOCK_LEN as u64).read_to_end(&mut self.rest);
            if let Err(error) = &read {
                let at = self.at + self.rest.len() as u64;
                let what = format!("cannot read the rest of the file ({error}): what comes before is used");
                report(Problem::new(Wrong::File, at, what));
                // The last line may be cut off.
                let whole = memchr::memrchr(b'\n', &self.rest).map_or(0, |end| end + 1);
                self.rest.truncate(whole);
            }
            let new = self.rest.part(before..);
            if read.is_err() || new.is_empty() {
                self.from = None;
            }
            if new.is_empty() {
                continue;
            }
            let Some(end) = memchr::memrchr(b'\n', new).map(|end| before + end + 1) else {
                if self.rest.len() > MAX_LINE {
                    if !self.too_long {
                        report(Problem::new(Wrong::Unreadable, self.at, "the line is longer than 16 MiB"));
                    }
                    self.too_long = true;
                    self.skip(self.rest.len());
                }
                continue;
            };
            if std::mem::take(&mut self.too_long) {
                let line = memchr::memchr(b'\n', &self.rest).map_or(end, |at| at + 1);
                self.skip(line);
                if line == end {
                    continue;
                }
                return Some(self.cut(end - line));
            }
            return Some(self.cut(end));
        }
    }

    /// Leaves out the first bytes of the rest.
    fn skip(&mut self, len: usize) {
        self.rest.drain(..len);
        self.at += len as u64;
    }

    /// The first bytes of the rest as a block.
    fn cut(&mut self, len: usize) -> Block {
        let rest = self.rest.split_off(len.min(self.rest.len()));
        let text = std::mem::replace(&mut self.rest, rest);
        let block = Block { at: self.at, text };
        self.at += block.text.len() as u64;
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Placed<T> = Vec<(u64, T)>;

    fn lines(mut from: TextLines<impl Read>) -> (Placed<Vec<u8>>, Placed<String>) {
        let (mut found, mut wrong) = (Vec::new(), Vec::new());
        while let Some(block) = from.next_block(|problem| wrong.push((problem.at, problem.what))) {
            block.each(|at, line| found.push((at, line.to_vec())));
        }
        (found, wrong)
    }

    proptest! {
        #[test]
        fn each_line_comes_once_with_its_place(
            texts in prop::collection::vec((0..40_usize, 1..3000_usize), 0..200),
            ends: bool,
        ) {
            let mut text = Vec::new();
            let mut expected = Vec::new();
            for (number, (letter, len)) in texts.iter().enumerate() {
                let line = vec![b'A' + *letter as u8; *len];
                expected.push((text.len() as u64, line.clone()));
                text.extend(line);
                if ends || number + 1 < texts.len() {
                    text.push(b'\n');
                }
            }
            let (found, wrong) = lines(TextLines::new(&text[..]));
            prop_assert_eq!(found, expected);
            prop_assert!(wrong.is_empty());
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out() {
        let long = vec![b'x'; MAX_LINE + 3 * BLOCK_LEN];
        let text = [b"one\n", &long[..], b"\ntwo\nthree"].concat();
        let (found, wrong) = lines(TextLines::new(&text[..]));
        let after = (4 + long.len() + 1) as u64;
        assert_eq!(found, [(0, b"one".to_vec()), (after, b"two".to_vec()), (after + 4, b"three".to_vec())]);
        assert_eq!(wrong, [(4, "the line is longer than 16 MiB".to_owned())]);
    }

    #[test]
    fn what_comes_before_an_error_is_used_but_for_a_line_that_is_cut_off() {
        struct Broken(usize);
        impl Read for Broken {
            fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
                self.0 += 1;
                let text: &[u8] = match self.0 {
                    1 => b"one\ntwo\n",
                    2 => b"thr",
                    _ => return Err(std::io::Error::other("it is cut off")),
                };
                into[..text.len()].copy_from_slice(text);
                Ok(text.len())
            }
        }
        let (found, wrong) = lines(TextLines::new(Broken(0)));
        assert_eq!(found, [(0, b"one".to_vec()), (4, b"two".to_vec())]);
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].1.contains("it is cut off"), "{wrong:?}");
        // Lines after the end of one that is too long are whole too.
        let long = [vec![b'x'; MAX_LINE + 3 * BLOCK_LEN], b"\n".to_vec()].concat();
        let (found, wrong) = lines(TextLines::new(long.as_slice().chain(Broken(0))));
        let after = long.len() as u64;
        assert_eq!(found, [(after, b"one".to_vec()), (after + 4, b"two".to_vec())]);
        assert_eq!(wrong.len(), 2);
    }

    #[test]
    fn the_mark_of_utf_8_is_left_out() {
        let (found, _) = lines(TextLines::new("\u{feff}# one\ntwo".as_bytes()));
        assert_eq!(found, [(0, b"# one".to_vec()), (9, b"two".to_vec())]);
    }
}
