//! What reaches the child, and when: nothing that an engine may not be told in its state.

use log::Level;

use super::{Child, Held, LINE_ROOM, Output, Question, Session, Until, is_stop, lossy};

impl Session {
    pub(super) fn engine_moves(&mut self, line: &[u8], out: &mut Output) {
        match self.child {
            Child::InVain => {
                self.child = Child::Idle;
                while let Some(held) = self.held.pop_front() {
                    match held {
                        Held::Line(line) => {
                            self.held_room = self.held_room.saturating_sub(line.len() + LINE_ROOM);
                            if is_stop(&line) {
                                self.stop_child(&line, out);
                            } else {
                                self.write(&line, out);
                            }
                        }
                        Held::Go(line) => {
                            self.held_room = self.held_room.saturating_sub(line.len() + LINE_ROOM);
                            self.write(&line, out);
                            self.child = Child::Searching { stopped: false };
                        }
                    }
                }
            }
            // An engine that does not know `go perft` takes it for a search.
            Child::Idle if std::mem::take(&mut self.counting) => self.say(line, out),
            Child::Idle => {
                out.notes.push((Level::Warn, format!("swallowed, not asked for: {}", lossy(line))))
            }
            Child::Searching { .. } => {
                self.child = Child::Idle;
                match &mut self.question {
                    Some(Question::Child { until: Until::Now, .. }) => {
                        self.question = None;
                        self.answer(line, false, out);
                    }
                    Some(Question::Child { early, .. } | Question::Pondering { early, .. }) => {
                        *early = Some(line.to_vec());
                        out.notes.push((Level::Warn, format!("kept back, came too early: {}", lossy(line))));
                    }
                    Some(Question::Due(_)) | None => {}
                }
            }
        }
    }

    /// Sends `stop` to the child, once a search.
    pub(super) fn stop_child(&mut self, line: &[u8], out: &mut Output) {
        match &mut self.child {
            Child::Searching { stopped } if !*stopped => {
                *stopped = true;
                self.write(line, out);
            }
            Child::Searching { .. } | Child::Idle => {}
            Child::InVain => self.hold(Held::Line(line.to_vec())),
        }
    }

    /// Passes a line on, after the position that the child must hear first.
    pub(super) fn forward(&mut self, line: &[u8], out: &mut Output) {
        let searches = matches!(self.child, Child::Searching { .. })
            || self.held.iter().any(|held| matches!(held, Held::Go(_)));
        // A position is nothing to be told in the middle of a search; the next go brings it.
        if !searches {
            self.send_position(out);
        }
        self.send(line, out);
    }

    pub(super) fn forward_go(&mut self, line: &[u8], out: &mut Output) {
        self.send_position(out);
        if self.child == Child::InVain {
            self.hold(Held::Go(line.to_vec()));
        } else {
            self.write(line, out);
            self.child = Child::Searching { stopped: false };
            self.counting = false;
        }
    }

    pub(super) fn send_position(&mut self, out: &mut Output) {
        if !self.board.sent {
            self.board.sent = true;
            let line = self.board.line().to_vec();
            self.send(&line, out);
        }
    }

    pub(super) fn send(&mut self, line: &[u8], out: &mut Output) {
        if self.child == Child::InVain {
            self.hold(Held::Line(line.to_vec()));
        } else {
            self.write(line, out);
        }
    }

    pub(super) fn write(&mut self, line: &[u8], out: &mut Output) {
        if std::mem::take(&mut self.engine_mid_line) {
            out.engine.push(b'\n');
        }
        out.engine.extend_from_slice(line);
    }

    pub(super) fn hold(&mut self, held: Held) {
        let (Held::Line(line) | Held::Go(line)) = &held;
        self.held_room += line.len() + LINE_ROOM;
        self.held.push_back(held);
    }

    /// Takes back a `go` that the child has not been given yet.
    pub(super) fn unhold_go(&mut self) {
        let place = self.held.iter().position(|held| matches!(held, Held::Go(_)));
        if let Some(Held::Go(line)) = place.and_then(|place| self.held.remove(place)) {
            self.held_room = self.held_room.saturating_sub(line.len() + LINE_ROOM);
        }
    }
}
