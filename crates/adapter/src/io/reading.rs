//! Reading both sides and the engine's standard error.

use tabiya_base::bytes::Parts as _;

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use log::Level;

use tabiya_uci::{LinePiece, LineSplitter};

use super::shared::{Shared, log_notes};
use super::state::{AdapterState, End, Side};
use crate::session::{Output, Session};

/// Bytes read at once: more than a pipe holds on Linux, and enough for the allocator to map fresh pages, which cost
/// nothing until something is read into them.
const BLOCK: usize = 256 << 10;

/// The longest GUI line that is kept whole: 64 MiB, a game of millions of moves.
const MAX_GUI_LINE: usize = 64 << 20;

/// The longest engine line that is kept whole: 4 MiB.
const MAX_ENGINE_LINE: usize = 4 << 20;

/// How long `quit` waits for books that earlier lines of the GUI wait for.
const BOOKS_AT_QUIT_TIME: Duration = Duration::from_secs(2);

/// How long the engine may run after it has closed its output.
const OUTPUT_CLOSED_TIME: Duration = Duration::from_millis(500);

/// Reads a block. It is empty at the end, and after an error, which is treated as the end.
fn read_block<'a>(from: &mut impl Read, block: &'a mut [u8]) -> &'a [u8] {
    loop {
        match from.read(block) {
            Ok(count) => return block.part(..count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return &[],
        }
    }
}

/// Reads the GUI until its output ends or it sends `quit`.
pub(super) fn read_gui(shared: &Arc<Shared>, mut input: File) {
    let mut block = vec![0; BLOCK];
    let mut lines = LineSplitter::new(MAX_GUI_LINE);
    loop {
        let read = read_block(&mut input, &mut block);
        let now = shared.now();
        let mut state = shared.lock();
        let AdapterState { session, out, .. } = &mut *state;
        session.at(now);
        let mut take = |piece: LinePiece<'_>| match piece {
            LinePiece::Line(line) => {
                log_lines(Level::Debug, "gui", line, out);
                session.gui_line(line, out);
            }
            LinePiece::Part(part, bytes) => session.gui_part(part, bytes, out),
        };
        if read.is_empty() {
            lines.finish(&mut take);
            session.gui_gone(out);
        } else {
            lines.feed(read, &mut take);
        }
        state = shared.settle(state, Side::Gui);
        if state.session.is_leaving(&state.out) {
            let left = |state: &AdapterState| state.end.is_some() || !state.session.is_leaving(&state.out);
            state = shared.wait_for(state, BOOKS_AT_QUIT_TIME, left);
            state.update(Session::gui_gone);
            state = shared.settle(state, Side::Gui);
        }
        if state.out.quit {
            drop(state);
            return shared.end(End::Asked);
        }
        shared.pause_gui_reader(state);
    }
}

/// Reads the engine until it closes its output.
pub(super) fn read_engine(shared: &Arc<Shared>, mut output: impl Read) {
    let mut block = vec![0; BLOCK];
    let mut lines = LineSplitter::new(MAX_ENGINE_LINE);
    loop {
        let read = read_block(&mut output, &mut block);
        if read.is_empty() {
            break;
        }
        let now = shared.now();
        let mut state = shared.lock();
        state.engine.last_stdout.hear(read);
        state.session.at(now);
        // The end of a line that an earlier block began, the whole lines, and the start of the next line.
        let begun = if lines.is_between() { 0 } else { after(memchr::memchr(b'\n', read), read.len()) };
        let (begun, rest) = read.split_at(begun);
        let (whole, next) = rest.split_at(after(memchr::memrchr(b'\n', rest), 0));
        if !begun.is_empty() {
            lines.feed(begun, |piece| take_engine_piece(&mut state, piece));
            state = shared.settle(state, Side::Engine);
        }
        if !whole.is_empty() {
            // The lock is held until the write begins: lines that may pass now might not pass a moment later.
            if state.session.passes() && all_pass(whole) {
                if state.session.needs_scores() {
                    state.session.read_scores(whole);
                }
                log_lines(Level::Trace, "engine", whole, &mut state.out);
                state = shared.pass(state, whole);
            } else {
                lines.feed(whole, |piece| take_engine_piece(&mut state, piece));
            }
        }
        lines.feed(next, |piece| take_engine_piece(&mut state, piece));
        state = shared.settle(state, Side::Engine);
        drop(shared.pause_engine_reader(state));
    }
    let mut state = shared.lock();
    lines.finish(|piece| take_engine_piece(&mut state, piece));
    let mut state = shared.settle(state, Side::Engine);
    state.engine.output = true;
    shared.wake(&state);
    shared.give_up_after(&mut state, OUTPUT_CLOSED_TIME, "the engine closed its output");
}

/// One past a position, or else `none`.
fn after(position: Option<usize>, none: usize) -> usize {
    position.map_or(none, |position| position + 1)
}

fn take_engine_piece(state: &mut AdapterState, piece: LinePiece<'_>) {
    let AdapterState { session, out, .. } = state;
    match piece {
        LinePiece::Line(line) => {
            log_lines(Level::Trace, "engine", line, out);
            session.engine_line(line, out);
        }
        LinePiece::Part(part, bytes) => session.engine_part(part, bytes, out),
    }
}

/// Logs each line of a block, after what the session has noted before it.
fn log_lines(level: Level, sender: &str, block: &[u8], out: &mut Output) {
    if log::log_enabled!(level) {
        log_notes(out);
        for line in block.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            log::log!(level, "{sender}: {}", String::from_utf8_lossy(line).trim_end());
        }
    }
}

/// Whether a block of whole lines has no line that the session must see.
fn all_pass(block: &[u8]) -> bool {
    let mut start = 0;
    memchr::memchr_iter(b'\n', block).all(|end| {
        let line = block.part(start..end);
        start = end + 1;
        match line {
            [b'i', b'n', ..] | [] => true,
            [b'b' | b'i' | b'o' | b'r' | b'u', ..] => false,
            [first, ..] => !first.is_ascii_whitespace(),
        }
    })
}

/// Forwards the engine's standard error to the log, or to our own standard error if there is no log.
pub(super) fn read_stderr(shared: &Arc<Shared>, mut stderr: impl Read, mut own: File) {
    let mut block = vec![0; BLOCK];
    loop {
        let read = read_block(&mut stderr, &mut block);
        if read.is_empty() {
            break;
        }
        if log::log_enabled!(Level::Info) {
            let mut state = shared.lock();
            state.engine.last_stderr.hear(read);
            log_lines(Level::Info, "engine's stderr", read, &mut state.out);
        } else {
            let mut state = shared.lock();
            state.engine.last_stderr.hear(read);
            state.writing.stderr = true;
            drop(state);
            let _ = own.write_all(read);
            let mut state = shared.lock();
            state.writing.stderr = false;
            state.writing.count += 1;
        }
    }
    let mut state = shared.lock();
    state.engine.stderr = true;
    shared.wake(&state);
}
