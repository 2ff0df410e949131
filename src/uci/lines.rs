//! Bytes as they are read become lines, with a bound on what one line may hold.

/// A piece of a stream of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A whole line with its line end.
    Line(&'a [u8]),
    /// A part of a line that is longer than the bound; `ends` tells whether its line end is in it.
    Part {
        /// The bytes.
        bytes: &'a [u8],
        /// Whether the line ends with them.
        ends: bool,
    },
}

/// Splits a stream into lines, however it is cut into blocks.
///
/// Whole lines inside a block are given as they lie there; only a line that a block's end cuts is copied.
#[derive(Debug)]
pub struct Lines {
    /// The beginning of a line whose end has not come yet.
    begun: Vec<u8>,
    /// Whether parts of the present line have been given already.
    in_part: bool,
    longest: usize,
}

impl Lines {
    /// `longest` bounds a line in bytes: a longer one comes in parts.
    pub fn new(longest: usize) -> Self {
        Self { begun: Vec::new(), in_part: false, longest }
    }

    /// Takes a block and gives each piece that it completes.
    pub fn feed(&mut self, mut block: &[u8], mut take: impl FnMut(Piece<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', block) {
            let (line, rest) = block.split_at(end + 1);
            block = rest;
            if self.in_part {
                self.in_part = false;
                take(Piece::Part { bytes: line, ends: true });
            } else if self.begun.is_empty() {
                take(Piece::Line(line));
            } else {
                self.begun.extend_from_slice(line);
                take(Piece::Line(&self.begun));
                self.forget();
            }
        }
        if block.is_empty() {
            return;
        }
        if self.in_part {
            take(Piece::Part { bytes: block, ends: false });
            return;
        }
        self.begun.extend_from_slice(block);
        if self.begun.len() > self.longest {
            self.in_part = true;
            take(Piece::Part { bytes: &self.begun, ends: false });
            self.forget();
        }
    }

    /// Whether the stream stands between two lines.
    pub fn is_between(&self) -> bool {
        self.begun.is_empty() && !self.in_part
    }

    /// The end of the stream: gives what is left of a line without an end, with a line end added.
    pub fn finish(&mut self, take: impl FnOnce(Piece<'_>)) {
        if !self.begun.is_empty() {
            self.begun.push(b'\n');
            take(Piece::Line(&self.begun));
            self.forget();
        } else if self.in_part {
            self.in_part = false;
            take(Piece::Part { bytes: b"\n", ends: true });
        }
    }

    /// Empties the beginning, and gives memory back that a huge line took.
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
        let mut lines = Lines::new(longest);
        let mut out = Vec::new();
        let mut take = |piece: Piece<'_>| {
            out.push(match piece {
                Piece::Line(line) => (line.to_vec(), true, true),
                Piece::Part { bytes, ends } => (bytes.to_vec(), false, ends),
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
    fn a_line_over_the_bound_comes_in_parts() {
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
