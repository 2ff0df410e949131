//! Lines that are too long to keep: their first word, too, decides what happens to them.

use log::Level;

use tabiya_uci::{Command, LinePart, Reply};

use super::{Output, Session, lossy};

/// Bytes of such a line that are examined or kept.
const KEPT: usize = 4096;

/// Bytes of such a line that are logged.
const LOGGED: usize = 80;

/// The lines of which only parts are known, up to the latest part.
#[derive(Default)]
pub(super) struct LongLines {
    /// Whether the rest of the GUI's line is dropped.
    drops_gui_line: bool,
    engine: Option<Long>,
}

/// An engine's line that comes in parts.
enum Long {
    /// Its start, as long as that may not contain the whole first word.
    Head(Vec<u8>),
    /// The session must act on it: its first words.
    Words(Vec<u8>),
    /// It is forwarded to the GUI part by part.
    Forwarded,
    Dropped,
}

impl Session {
    /// Takes a part of a GUI line that is too long to be kept.
    pub fn gui_part(&mut self, part: LinePart, bytes: &[u8], out: &mut Output) {
        if part == LinePart::First {
            if Command::parse(bytes.get(..KEPT).unwrap_or(bytes)).0 == Command::Position {
                self.board.set_unknown();
            }
            // While lines wait, this one, which cannot be kept, would overtake them.
            let waits = self.books.are_awaited() || !self.backlog.is_empty();
            self.long.drops_gui_line = waits || !self.child.is_idle() || self.request.is_some();
            let what = if self.long.drops_gui_line { "dropped" } else { "forwarded unread" };
            self.gui.notify(format!("the GUI sent a line that is too long to read; it is {what}"), out);
        }
        if !self.long.drops_gui_line {
            out.engine.extend_from_slice(bytes);
            self.child.mid_line = part != LinePart::Last;
        }
    }

    /// Takes a part of an engine line that is too long to be kept.
    pub fn engine_part(&mut self, part: LinePart, bytes: &[u8], out: &mut Output) {
        let ends = part == LinePart::Last;
        let mut long = match self.long.engine.take().unwrap_or(Long::Head(Vec::new())) {
            Long::Head(mut head) => {
                head.extend_from_slice(if head.is_empty() { bytes.trim_ascii_start() } else { bytes });
                let sure = ends || head.len() >= KEPT || head.iter().any(u8::is_ascii_whitespace);
                if sure { self.long_line(&head, out) } else { Long::Head(head) }
            }
            Long::Words(mut words) => {
                add_words(&mut words, bytes);
                Long::Words(words)
            }
            // If one of our lines has cut it off, the GUI would read the rest as another line.
            Long::Forwarded if self.gui.mid_line => {
                out.gui.extend_from_slice(bytes);
                Long::Forwarded
            }
            Long::Forwarded | Long::Dropped => Long::Dropped,
        };
        if !ends {
            self.gui.mid_line |= matches!(long, Long::Forwarded);
            self.long.engine = Some(long);
            return;
        }
        match &mut long {
            Long::Words(words) => {
                words.truncate(words.trim_ascii_end().len());
                words.push(b'\n');
                self.engine_line(words, out);
            }
            Long::Forwarded => self.gui.mid_line = false,
            Long::Head(_) | Long::Dropped => {}
        }
    }

    /// Decides about a line by its start, and acts on the decision.
    fn long_line(&mut self, head: &[u8], out: &mut Output) -> Long {
        let start = head.get(..KEPT).unwrap_or(head);
        let logged = lossy(start.get(..LOGGED).unwrap_or(start));
        out.note(Level::Warn, format!("the engine sent a line that is too long to keep: {logged}..."));
        match Reply::parse(start) {
            Reply::Info if self.child.is_abandoned() || self.check().is_some() => Long::Dropped,
            reply @ (Reply::Info | Reply::Other) => {
                if reply == Reply::Info && self.needs_scores() {
                    self.read_scores(&[start, b"\n"].concat());
                }
                self.gui.send(head, out);
                self.gui.mid_line = true;
                Long::Forwarded
            }
            _ => {
                let mut words = Vec::new();
                add_words(&mut words, head);
                Long::Words(words)
            }
        }
    }
}

/// Appends text to words that are kept: white space becomes one space, and no more than [`KEPT`] bytes are kept.
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
