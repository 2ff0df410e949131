//! The `info` lines of a flood: the scripted engine prints them, the bench and the tests know them to the byte.

/// A line as engines print it while they search; the digits after `nodes` number it.
const LINE: &[u8] =
    b"info depth 22 seldepth 31 multipv 1 score cp 27 nodes 00000000 nps 1204512 hashfull 91 time 1843 \
                      pv e2e4 e7e5 g1f3 b8c6\n";

/// Where the number stands in [`LINE`].
const NUMBER: std::ops::Range<usize> = 54..62;

/// An endless supply of numbered lines, 1 first; after 99,999,999 comes 0.
pub struct Flood {
    line: Vec<u8>,
}

impl Flood {
    /// Lines that end with `\r\n` where `crlf` is set, else with `\n`.
    pub fn new(crlf: bool) -> Self {
        let mut line = LINE.to_vec();
        if crlf {
            line.pop();
            line.extend_from_slice(b"\r\n");
        }
        Self { line }
    }

    /// The next line, with its end.
    pub fn next_line(&mut self) -> &[u8] {
        for digit in self.line[NUMBER].iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                break;
            }
            *digit = b'0';
        }
        &self.line
    }
}
