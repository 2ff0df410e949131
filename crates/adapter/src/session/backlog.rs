//! Lines that wait for an answer or for books.

use tabiya_base::bytes::Parts as _;

use std::mem;

use tabiya_uci::Command;

/// Lines in order, in one buffer: a line takes no more memory than its text.
#[derive(Default)]
pub(super) struct Backlog {
    bytes: Vec<u8>,
    /// Where the first line starts; lines before it have been taken.
    start: usize,
    /// How many of the lines are `stop`.
    stops: usize,
}

impl Backlog {
    /// Adds a line, with its line end.
    pub(super) fn push(&mut self, line: &[u8]) {
        self.stops += usize::from(is_stop(line));
        self.bytes.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            self.bytes.push(b'\n');
        }
    }

    pub(super) fn front(&self) -> Option<&[u8]> {
        let left = self.bytes.get(self.start..).filter(|left| !left.is_empty())?;
        let end = memchr::memchr(b'\n', left).map_or(left.len(), |end| end + 1);
        left.get(..end)
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.part(self.start..).split_inclusive(|byte| *byte == b'\n')
    }

    /// Removes the first line.
    pub(super) fn pop(&mut self) -> Option<Vec<u8>> {
        let line = self.front()?.to_vec();
        self.stops -= usize::from(is_stop(&line));
        self.start += line.len();
        if self.start == self.bytes.len() {
            *self = Self::default();
        } else if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..mem::take(&mut self.start));
            self.bytes.shrink_to(2 * self.bytes.len());
        }
        Some(line)
    }

    /// The bytes of all lines.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Whether one of the lines is `stop`.
    pub(super) fn stops(&self) -> bool {
        self.stops > 0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Whether a line is `stop`.
pub(super) fn is_stop(line: &[u8]) -> bool {
    Command::parse(line).0 == Command::Stop
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn lines_are_taken_in_the_order_in_which_they_were_added(
            steps in prop::collection::vec(prop::option::of("(stop|[a-z]{0,9})"), 0..200),
        ) {
            let (mut backlog, mut model) = (Backlog::default(), VecDeque::new());
            for step in steps {
                match step {
                    Some(text) => {
                        backlog.push(format!("{text}\n").as_bytes());
                        model.push_back(format!("{text}\n").into_bytes());
                    }
                    None => prop_assert_eq!(backlog.pop(), model.pop_front()),
                }
                prop_assert_eq!(backlog.front(), model.front().map(Vec::as_slice));
                prop_assert_eq!(backlog.len(), model.iter().map(Vec::len).sum::<usize>());
                prop_assert_eq!(backlog.is_empty(), model.is_empty());
                prop_assert_eq!(backlog.stops(), model.contains(&b"stop\n".to_vec()));
            }
        }
    }
}
