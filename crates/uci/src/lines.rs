//! Splits a stream of bytes into lines, with a limit on the length of a line.

/// A piece of a stream of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinePiece<'a> {
    /// A whole line with its line end.
    Line(&'a [u8]),
    /// A part of a line that is longer than the limit.
    Part(LinePart, &'a [u8]),
}

/// The place of a part in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinePart {
    /// The line starts with it.
    First,
    /// Other parts come before and after it.
    Middle,
    /// The line ends with it; the line end is in it.
    Last,
}

/// Splits a stream into lines, whatever blocks it comes in.
///
/// Lines that are whole in a block are not copied; only lines that extend over several blocks are.
#[derive(Debug)]
pub struct LineSplitter {
    /// The start of a line whose end has not arrived yet.
    begun: Vec<u8>,
    /// Whether parts of the current line were passed on already.
    in_part: bool,
    longest: usize,
}

impl LineSplitter {
    /// `longest` is the limit in bytes: a longer line comes in parts.
    pub fn new(longest: usize) -> Self {
        Self { begun: Vec::new(), in_part: false, longest }
    }

    /// Reads a block, and calls `take` with each piece that it completes.
    pub fn feed(&mut self, mut block: &[u8], mut take: impl FnMut(LinePiece<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', block) {
            let (line, rest) = block.split_at(end + 1);
            block = rest;
            if self.in_part {
                self.in_part = false;
                take(LinePiece::Part(LinePart::Last, line));
            } else if self.begun.is_empty() {
                take(LinePiece::Line(line));
            } else {
                self.begun.extend_from_slice(line);
                take(LinePiece::Line(&self.begun));
                self.forget();
            }
        }
        if block.is_empty() {
            return;
        }
        if self.in_part {
            take(LinePiece::Part(LinePart::Middle, block));
            return;
        }
        self.begun.extend_from_slice(block);
        if self.begun.len() > self.longest {
            self.in_part = true;
            take(LinePiece::Part(LinePart::First, &self.begun));
            self.forget();
        }
    }

    /// Whether the stream is between two lines.
    pub fn is_between(&self) -> bool {
        self.begun.is_empty() && !self.in_part
    }

    /// Ends the stream: calls `take` with the rest of a line that has no end, and adds a line end to it.
    pub fn finish(&mut self, take: impl FnOnce(LinePiece<'_>)) {
        if !self.begun.is_empty() {
            self.begun.push(b'\n');
            take(LinePiece::Line(&self.begun));
            self.forget();
        } else if self.in_part {
            self.in_part = false;
            take(LinePiece::Part(LinePart::Last, b"\n"));
        }
    }

    /// Clears the start of the line, and frees memory that a huge line took.
    fn forget(&mut self) {
        self.begun.clear();
        self.begun.shrink_to(1 << 16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(blocks: &[&[u8]], longest: usize) -> Vec<(Vec<u8>, bool, bool)> {
        let mut lines = LineSplitter::new(longest);
        let mut out = Vec::new();
        let mut take = |piece: LinePiece<'_>| {
            out.push(match piece {
                LinePiece::Line(line) => (line.to_vec(), true, true),
                LinePiece::Part(part, bytes) => (bytes.to_vec(), false, part == LinePart::Last),
            });
        };
        for block in blocks {
            lines.feed(block, &mut take);
        }
        lines.finish(&mut take);
        out
    }

    #[test]
    fn a_line_may_be_cut_anywhere() {
        assert_eq!(
            split(&[b"uci\nis", b"rea", b"dy\r\nquit"], 100),
            [
                (b"uci\n".to_vec(), true, true),
                (b"isready\r\n".to_vec(), true, true),
                (b"quit\n".to_vec(), true, true)
            ]
        );
    }

    #[test]
    fn a_line_over_the_limit_comes_in_parts() {
        assert_eq!(
            split(&[b"abc", b"def", b"g\nx\n"], 4),
            [
                (b"abcdef".to_vec(), false, false),
                (b"g\n".to_vec(), false, true),
                (b"x\n".to_vec(), true, true)
            ]
        );
    }

    proptest! {
        #[test]
        fn no_byte_is_lost_and_every_piece_has_one_line_end(
            blocks in prop::collection::vec(prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..20), 0..20),
            longest in 1..30_usize,
        ) {
            let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
            let mut all = blocks.concat();
            if all.last().is_some_and(|last| *last != b'\n') {
                all.push(b'\n');
            }
            let pieces = split(&blocks, longest);
            prop_assert_eq!(pieces.iter().flat_map(|piece| piece.0.clone()).collect::<Vec<_>>(), all);
            for (bytes, line, ends) in pieces {
                prop_assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), usize::from(ends));
                prop_assert!(!line || bytes.ends_with(b"\n"));
            }
        }
    }
}
