//! Engine lines that are too long to be kept whole: the first word decides about them, as it does about all others.

use log::Level;

use super::{Child, Output, Session};
use crate::uci::Reply;

/// Bytes of such a line that are looked at, or kept.
const KEPT: usize = 4096;

/// An engine line of which only parts are known, up to the part that came last.
pub(super) enum Long {
    /// Its beginning, as long as that may not hold the first word.
    Head(Vec<u8>),
    /// The session must know it: its first words.
    Words(Vec<u8>),
    /// It goes to the GUI as it comes.
    Passes,
    /// It is left out.
    Dropped,
}

impl Session {
    /// Takes a part of an engine line that is too long to be kept.
    pub fn engine_part(&mut self, bytes: &[u8], ends: bool, out: &mut Output) {
        let mut long = match self.long.take().unwrap_or(Long::Head(Vec::new())) {
            Long::Head(mut head) => {
                head.extend_from_slice(if head.is_empty() { bytes.trim_ascii_start() } else { bytes });
                let sure = ends || head.len() >= KEPT || head.iter().any(u8::is_ascii_whitespace);
                if sure { self.long_line(&head, out) } else { Long::Head(head) }
            }
            Long::Words(mut words) => {
                add_words(&mut words, bytes);
                Long::Words(words)
            }
            // Where a line of our own has cut it off, its rest would be a line of its own.
            Long::Passes if self.gui_mid_line => {
                out.gui.extend_from_slice(bytes);
                Long::Passes
            }
            Long::Passes | Long::Dropped => Long::Dropped,
        };
        if !ends {
            self.gui_mid_line |= matches!(long, Long::Passes);
            self.long = Some(long);
            return;
        }
        match &mut long {
            Long::Words(words) => {
                words.truncate(words.trim_ascii_end().len());
                words.push(b'\n');
                self.engine_line(words, out);
            }
            Long::Passes => self.gui_mid_line = false,
            Long::Head(_) | Long::Dropped => {}
        }
    }

    /// Decides about a line by what it begins with, and carries out what is decided.
    fn long_line(&mut self, head: &[u8], out: &mut Output) -> Long {
        let begin = head.get(..KEPT).unwrap_or(head);
        out.notes.push((
            Level::Warn,
            format!(
                "a line of the engine is too long to be kept: {}...",
                super::lossy(begin.get(..80).unwrap_or(begin))
            ),
        ));
        match Reply::of(begin) {
            Reply::Info if self.child == Child::InVain => Long::Dropped,
            reply @ (Reply::Info | Reply::Other) => {
                if reply == Reply::Info && self.listens() {
                    self.hear(&[begin, b"\n"].concat());
                }
                self.say(head, out);
                self.gui_mid_line = true;
                Long::Passes
            }
            _ => {
                let mut words = Vec::new();
                add_words(&mut words, head);
                Long::Words(words)
            }
        }
    }
}

/// Adds text to words that are kept: any white space as one blank, and no more than is kept.
fn add_words(words: &mut Vec<u8>, text: &[u8]) {
    for byte in text {
        if words.len() == KEPT {
            break;
        }
        match (byte.is_ascii_whitespace(), words.last()) {
            (true, Some(b' ') | None) => {}
            (true, Some(_)) => words.push(b' '),
            (false, _) => words.push(*byte),
        }
    }
}
