//! What an engine wrote last: it may say why it ends.

use tabiya_base::bytes::Parts as _;

use crate::{Reply, split_word};

/// Bytes that are kept.
const KEPT: usize = 16 << 10;

/// Lines that are quoted.
const QUOTED: usize = 5;

/// Characters of a line that are quoted.
const QUOTED_CHARS: usize = 200;

/// The end of what an engine has written, to standard output or to standard error.
#[derive(Default)]
pub struct LastWords(Vec<u8>);

impl LastWords {
    /// Takes the next bytes.
    pub fn hear(&mut self, bytes: &[u8]) {
        let end = bytes.get(bytes.len().saturating_sub(KEPT)..).unwrap_or(bytes);
        // Room for twice as much: old bytes are moved away once for many new ones.
        if self.0.len() + end.len() > 2 * KEPT {
            self.0.drain(..self.0.len().saturating_sub(KEPT));
        }
        self.0.extend_from_slice(end);
    }

    /// All lines that are kept; the first one may lack its start.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let lines = self.0.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        lines.filter(|line| !line.is_empty()).map(|line| String::from_utf8_lossy(line).into_owned())
    }
}

/// The last lines among these that are not replies of UCI, as the end of a message; empty if there are none.
pub fn quoted(lines: impl Iterator<Item = String>) -> String {
    let said: Vec<String> =
        lines.filter(|line| is_said(line.as_bytes())).map(|line| shortened(&line)).collect();
    let last = said.part(said.len().saturating_sub(QUOTED)..);
    if last.is_empty() { String::new() } else { format!("; it wrote: {}", last.join(" | ")) }
}

/// Whether a line is meant for people.
fn is_said(line: &[u8]) -> bool {
    match Reply::parse(line) {
        Reply::Other => true,
        Reply::Info => split_word(split_word(line).1).0 == b"string",
        _ => false,
    }
}

fn shortened(line: &str) -> String {
    let line = line.strip_prefix("info string ").unwrap_or(line);
    let shown = line.chars().take(QUOTED_CHARS);
    shown.map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_and_those_for_people_quoted() {
        let mut words = LastWords::default();
        words.hear(b"id name X\nUnable to open");
        words.hear(b" weights\x07 file\r\n\ninfo depth 3\ninfo string sorry\nuciok");
        assert_eq!(words.lines().count(), 5);
        assert_eq!(quoted(words.lines()), "; it wrote: Unable to open weights  file | sorry");
        assert_eq!(quoted(["bestmove e2e4".to_owned()].into_iter()), "");
        for _ in 0..10_000 {
            words.hear(b"0123456789\n");
            assert!(words.0.len() <= 2 * KEPT);
        }
        words.hear(&[b'x'; 5 * KEPT]);
        assert!(words.0.len() <= 2 * KEPT && words.0.ends_with(b"xx"));
        let quote = quoted(words.lines());
        assert_eq!(quote.len(), "; it wrote: ".len() + 4 * "0123456789 | ".len() + QUOTED_CHARS, "{quote}");
    }
}
