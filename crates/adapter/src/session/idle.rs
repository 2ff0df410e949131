//! Settings that have no effect are noted in the log, and reported to a program that tries the adapter.

use log::Level;

use super::event::{About, Event};
use super::{Output, Session};
use crate::settings::effect;

/// What was noted of settings without effect.
#[derive(Default)]
pub(super) struct Idle {
    noted: Vec<String>,
    /// Whether options have changed since.
    pub(super) is_due: bool,
}

impl Session {
    /// Notes each setting that has no effect since the books were opened or options changed: at the start, and when a move is
    /// asked for, because GUIs set one option after another.
    pub(super) fn note_idle(&mut self, out: &mut Output) {
        if self.books.are_awaited() || !std::mem::take(&mut self.idle.is_due) {
            return;
        }
        let idle = effect::idle(&self.options, &self.books.files(&self.options), &self.books.set);
        for text in idle.iter().filter(|text| !self.idle.noted.contains(text)) {
            out.note(Level::Warn, text.as_str());
            out.events.push(Event::Notice { about: About::Option, text: text.clone() });
        }
        self.idle.noted = idle;
    }
}
