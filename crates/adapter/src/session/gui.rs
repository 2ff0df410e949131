//! What is sent to the GUI, and when.

use log::Level;

use tabiya_uci::notice;

use super::event::{About, Event};
use super::output::Output;

/// The messages that wait for the right moment, and what the GUI has been sent last.
#[derive(Default)]
pub struct Gui {
    /// Whether it can get messages: after `uciok`, or once it asks for moves without it.
    greeted: bool,
    /// Messages that wait for that.
    notices: Vec<String>,
    /// Messages that it gets at its next `go`.
    reports: Vec<String>,
    /// Whether the last bytes for it are a line that the engine has not ended.
    pub(super) mid_line: bool,
    /// Whether it has sent `debug on`.
    pub(super) debug: bool,
}

impl Gui {
    /// Sends lines, after the end of a line that was cut off.
    pub(super) fn send(&mut self, lines: &[u8], out: &mut Output) {
        if std::mem::take(&mut self.mid_line) {
            out.gui.push(b'\n');
        }
        out.gui.extend_from_slice(lines);
    }

    /// Sends a message of the adapter, at once if the GUI has been greeted. The message also goes to standard error,
    /// because many clients do not show messages to their users.
    pub fn notify(&mut self, message: String, out: &mut Output) {
        self.notify_about(About::Other, message, out);
    }

    /// The same, about this.
    pub fn notify_about(&mut self, about: About, message: String, out: &mut Output) {
        out.note(Level::Warn, &*message);
        out.events.push(Event::Notice { about, text: message.clone() });
        out.messages.push(message.clone());
        if self.greeted {
            self.send(&notice(&message), out);
        } else {
            self.notices.push(message);
        }
    }

    /// Reports something at the next `go`, or at the end: some clients expect no lines at other times.
    pub fn report(&mut self, level: Level, message: String, out: &mut Output) {
        out.note(level, &*message);
        if level <= Level::Warn {
            out.events.push(Event::Notice { about: About::Other, text: message.clone() });
        }
        self.reports.push(message);
    }

    /// Sends the reports that have waited for the next `go`.
    pub(crate) fn send_reports(&mut self, out: &mut Output) {
        if self.greeted {
            for message in std::mem::take(&mut self.reports) {
                self.send(&notice(&message), out);
            }
        }
    }

    /// Whether anybody wants decisions to be explained.
    pub(super) fn is_traced(&self) -> bool {
        self.debug && self.greeted || log::log_enabled!(Level::Debug)
    }

    /// Explains a decision to a GUI that has sent `debug on`, and to a detailed log.
    pub(super) fn trace(&mut self, what: &str, out: &mut Output) {
        if self.debug && self.greeted {
            self.send(&notice(what), out);
        }
        if log::log_enabled!(Level::Debug) {
            out.note(Level::Debug, what);
        }
    }

    /// The GUI can get messages from now on: sends those that have waited.
    pub(super) fn greet(&mut self, out: &mut Output) {
        self.greeted = true;
        for message in std::mem::take(&mut self.notices) {
            self.send(&notice(&message), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_wait_for_the_greeting_and_reports_for_the_next_go() {
        let (mut gui, mut out) = (Gui::default(), Output::default());
        gui.notify("one".to_owned(), &mut out);
        gui.report(Level::Info, "two".to_owned(), &mut out);
        gui.send_reports(&mut out);
        assert!(out.gui.is_empty());
        assert_eq!(out.messages, ["one"]);
        gui.greet(&mut out);
        assert_eq!(out.gui, b"info string tabiya: one\n");
        gui.send_reports(&mut out);
        gui.notify("three".to_owned(), &mut out);
        let said = String::from_utf8(out.gui).unwrap();
        assert_eq!(said.replace("info string tabiya: ", ""), "one\ntwo\nthree\n");
        let notes: Vec<_> = out.notes.iter().map(|(_, note)| note.as_str()).collect();
        assert_eq!(notes, ["one", "two", "three"]);
    }

    #[test]
    fn a_line_that_was_cut_off_is_ended_first_and_decisions_are_explained_to_who_debugs() {
        let (mut gui, mut out) = (Gui { mid_line: true, ..Gui::default() }, Output::default());
        gui.greet(&mut out);
        gui.trace("not sent", &mut out);
        gui.debug = true;
        gui.trace("sent", &mut out);
        gui.send(b"bestmove a2a3\n", &mut out);
        assert_eq!(out.gui, b"\ninfo string tabiya: sent\nbestmove a2a3\n");
    }
}
