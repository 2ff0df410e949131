//! The greeting: what the engine and we answer to `uci`, and the messages that wait for it.

use tabiya_base::bytes::Parts as _;

use log::Level;

use tabiya_uci::{Command, id_name};

use super::{Output, Session, lossy};

/// The addition to an engine's name that distinguishes it from the engine without books.
pub const NAME_ADDITION: &str = "(tabiya)";

/// The engine's name, as the GUI gets it.
#[derive(Default)]
pub(super) struct Name {
    /// The name that the user gave us.
    given: Option<String>,
    /// The engine's own name, once it has sent it.
    own: Vec<u8>,
    /// Whether the engine has sent its own name.
    is_sent: bool,
}

impl Name {
    /// What tells this player from others: the name that it was given, and the engine's own.
    pub(super) fn player(&self) -> (Option<&str>, &[u8]) {
        (self.given.as_deref(), &self.own)
    }

    /// An `id name` line of the engine, which calls itself `own`, with our name instead.
    fn replace(&mut self, line: &[u8], own: &[u8]) -> Vec<u8> {
        self.is_sent = true;
        self.own = own.to_vec();
        let addition = NAME_ADDITION.as_bytes();
        let name = match &self.given {
            Some(name) => name.clone().into_bytes(),
            None if own.ends_with(addition) => own.to_vec(),
            None => [own, addition].join(&b' ').trim_ascii().to_vec(),
        };
        let end = line.part(line.trim_ascii_end().len()..);
        [b"id name ", &name[..], end].concat()
    }
}

impl Session {
    /// The session with the name that GUIs see; without one it is the engine's own with an addition.
    #[must_use]
    pub fn with_name(mut self, name: Option<String>) -> Self {
        self.name.given = name;
        self
    }

    /// Forwards `id`, with our name in place of the engine's.
    pub(super) fn engine_id(&mut self, line: &[u8], out: &mut Output) {
        let Some(own) = id_name(line) else { return self.gui.send(line, out) };
        out.note(Level::Info, format!("the engine is {}", lossy(own)));
        let line = self.name.replace(line, own);
        self.gui.send(&line, out);
    }

    /// Forwards `uciok` after our own options. The engine gets its settings.
    pub(super) fn engine_uciok(&mut self, line: &[u8], out: &mut Output) {
        if self.child.answered_uci() {
            self.engine_options.are_complete();
            self.engine_options.disable_own_books(&mut self.child, out);
            self.send_settings(out);
            let mut ours = Vec::new();
            if let Some(name) = self.name.given.as_deref().filter(|_| !self.name.is_sent) {
                ours.extend(format!("id name {name}\n").into_bytes());
            }
            ours.extend(self.lent_options().into_bytes());
            self.options.declare(&mut ours);
            self.gui.send(&ours, out);
        }
        self.say_modes(out);
        self.gui.send(line, out);
        self.gui.greet(out);
    }

    /// Greets a GUI that sends other commands without `uci`.
    pub(super) fn greet_without_uci(&mut self, command: Command, out: &mut Output) {
        let early = matches!(command, Command::Uci | Command::Debug | Command::Register | Command::Other);
        if !early && self.child.uci_owed == 0 {
            // Before `uciok` the engine may still list options for its own books.
            self.send_settings(out);
            self.say_modes(out);
            self.gui.greet(out);
        }
    }
}
