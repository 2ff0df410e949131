//! The greeting: what the engine and we answer to `uci`, and the messages that wait for it.

use log::Level;

use super::options::ANALYSE_MODE;
use super::{Output, Session, lossy};
use crate::uci::{Command, id_name, notice};

/// The addition to an engine's name that distinguishes it from the engine without books.
pub(crate) const NAME_ADDITION: &str = "(tabiya)";

/// The state of the greeting.
#[derive(Default)]
pub(super) struct Greeting {
    /// The name that the user gave us.
    name: Option<String>,
    /// Whether the engine has sent its own name.
    is_named: bool,
    /// Whether the GUI can get messages: after `uciok`, or once it asks for moves without it.
    pub(super) done: bool,
    /// Messages that wait for that.
    pub(super) notices: Vec<String>,
}

impl Session {
    /// The session with the name that GUIs see; without one it is the engine's own with an addition.
    #[must_use]
    pub fn with_name(mut self, name: Option<String>) -> Self {
        self.greeting.name = name;
        self
    }

    /// Forwards `id`, with our name in place of the engine's.
    pub(super) fn engine_id(&mut self, line: &[u8], out: &mut Output) {
        let Some(own) = id_name(line) else { return self.say(line, out) };
        out.notes.push((Level::Info, format!("the engine is {}", lossy(own))));
        self.greeting.is_named = true;
        let addition = NAME_ADDITION.as_bytes();
        let name = match &self.greeting.name {
            Some(name) => name.clone().into_bytes(),
            None if own.ends_with(addition) => own.to_vec(),
            None => [own, addition].join(&b' ').trim_ascii().to_vec(),
        };
        let end = line.get(line.trim_ascii_end().len()..).unwrap_or_default();
        self.say(&[b"id name ", &name[..], end].concat(), out);
    }

    /// Forwards `uciok` after our own options. The engine gets its settings.
    pub(super) fn engine_uciok(&mut self, line: &[u8], out: &mut Output) {
        self.child.proofs += 1;
        if self.child.uci_owed > 0 {
            self.child.uci_owed -= 1;
            self.engine_options.are_complete();
            self.disable_own_books(out);
            self.send_settings(out);
            let mut ours = Vec::new();
            if let Some(name) = self.greeting.name.as_deref().filter(|_| !self.greeting.is_named) {
                ours.extend(format!("id name {name}\n").into_bytes());
            }
            if self.engine_options.lack_analyse_mode() {
                let default = self.modes.analysing;
                ours.extend(
                    format!("option name {ANALYSE_MODE} type check default {default}\n").into_bytes(),
                );
            }
            self.options.declare(&mut ours);
            self.say(&ours, out);
        }
        self.say(line, out);
        self.greet(out);
    }

    /// Sends the GUI the messages that have waited for its greeting.
    pub(super) fn greet(&mut self, out: &mut Output) {
        self.greeting.done = true;
        for message in std::mem::take(&mut self.greeting.notices) {
            self.say(&notice(&message), out);
        }
    }

    /// Greets a GUI that sends other commands without `uci`.
    pub(super) fn greet_without_uci(&mut self, command: Command, out: &mut Output) {
        let early = matches!(command, Command::Uci | Command::Debug | Command::Register | Command::Other);
        if early || self.child.uci_owed > 0 {
            return;
        }
        // Before `uciok` the engine may still list options for its own books.
        self.send_settings(out);
        if !self.greeting.done {
            self.greet(out);
        }
    }
}
