//! One search of an engine.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::ChildStdin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use serde_json::{Value, json};
use shakmaty::CastlingMode;
use tokio::sync::mpsc::Sender;

use super::super::evaluated::json_of;
use super::super::place::Place;
use super::super::stream::{COMMENT, event};
use super::info::Info;
use crate::engine::{Engine, Pipes};
use crate::uci::{option_name, same_name, words};

/// How long a search lasts at most.
const SEARCH_TIME: Duration = Duration::from_secs(300);

/// How long an engine may take to answer `uci` and `isready`.
const READY_TIME: Duration = Duration::from_secs(30);

/// How long an engine may take to end by itself.
const QUIT_TIME: Duration = Duration::from_secs(1);

/// How much time passes between two events.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a connection may be silent: what is written to one that was closed shows that nobody listens.
const SILENCE: Duration = Duration::from_secs(1);

/// Bytes of the longest line that is read.
const LINE_MAX: u64 = 1 << 16;

/// Lines that may wait to be read before the engine has to wait.
const LINES_UNREAD: usize = 256;

/// What to search, and who listens.
pub(super) struct Search {
    pub(super) place: Place,
    /// How many lines.
    pub(super) lines: usize,
    /// The engine's options.
    pub(super) settings: Vec<(String, String)>,
    pub(super) sender: Sender<Bytes>,
    /// Set when nobody wants the search any more.
    pub(super) stop: Arc<AtomicBool>,
}

/// Why a search ends before the engine has answered.
enum Gone {
    /// Nobody listens.
    Listener,
    /// The engine ended, or does not answer.
    Engine(&'static str),
}

/// An engine's pipes, with its output line by line.
struct Talk {
    input: ChildStdin,
    lines: Receiver<Vec<u8>>,
}

impl Search {
    /// Searches until the engine has answered or nobody listens, and ends the engine.
    pub(super) fn run(self, engine: &Engine, pipes: Pipes) {
        let Pipes { stdin, stdout, mut stderr } = pipes;
        let (sender, lines) = sync_channel(LINES_UNREAD);
        thread::spawn(move || each_line(stdout, |line| sender.send(line).is_ok()));
        // Nobody is to wait to write there.
        thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let mut talk = Talk { input: stdin, lines };
        match self.search(&mut talk) {
            Ok(()) | Err(Gone::Listener) => {}
            Err(Gone::Engine(what)) => {
                let _ = self.sender.try_send(event("error", &json!({ "error": what, "code": "no-engine" })));
            }
        }
        drop(self.sender);
        talk.end(engine);
    }

    fn search(&self, talk: &mut Talk) -> Result<(), Gone> {
        talk.say("uci");
        let mut offered = Vec::new();
        self.until(talk, b"uciok", |line| offered.push(option_name(line)))?;
        let offers = |name: &str| offered.iter().any(|other| same_name(other, name.as_bytes()));
        for (name, value) in &self.settings {
            talk.say(&format!("setoption name {name} value {value}"));
        }
        talk.say(&format!("setoption name MultiPV value {}", self.lines));
        if self.place.mode == CastlingMode::Chess960 && offers("UCI_Chess960") {
            talk.say("setoption name UCI_Chess960 value true");
        }
        talk.say("isready");
        self.until(talk, b"readyok", |_| {})?;
        let moves = self.place.play().join(" ");
        let moves = if moves.is_empty() { moves } else { format!(" moves {moves}") };
        talk.say(&format!("position fen {}{moves}", self.place.start_fen()));
        talk.say(&format!("go movetime {}", SEARCH_TIME.as_millis()));
        self.listen(talk)
    }

    /// Passes on what the engine thinks, until its answer.
    fn listen(&self, talk: &mut Talk) -> Result<(), Gone> {
        let at = self.place.game.position();
        let end = Instant::now() + SEARCH_TIME + READY_TIME;
        let (mut best, mut fresh): (Vec<Option<Info>>, bool) = (vec![None; self.lines], false);
        let (mut sent, mut heard) = (Instant::now(), Instant::now());
        loop {
            if Instant::now() >= end {
                return Err(Gone::Engine("the engine does not answer"));
            }
            let line = self.next(talk, PAUSE)?;
            let bestmove = line.as_deref().filter(|line| words(line).next() == Some(b"bestmove"));
            if let Some(info) = line.as_deref().and_then(|line| Info::parse(line, at))
                && let Some(place) = best.get_mut(info.place)
            {
                *place = Some(info);
                fresh = true;
            }
            if fresh && (sent.elapsed() >= PAUSE || bestmove.is_some()) {
                // A page that does not keep up gets the next one.
                fresh = self.sender.try_send(event("info", &shown(&best))).is_err();
                (sent, heard) = (Instant::now(), Instant::now());
            }
            if let Some(line) = bestmove {
                let word = words(line).nth(1).map(|word| String::from_utf8_lossy(word).into_owned());
                let _ = self.sender.try_send(event("done", &json!({ "bestmove": word })));
                return Ok(());
            }
            if heard.elapsed() >= SILENCE {
                let _ = self.sender.try_send(COMMENT);
                heard = Instant::now();
            }
        }
    }

    /// Reads lines up to one that begins with `word`.
    fn until(&self, talk: &mut Talk, word: &[u8], mut see: impl FnMut(&[u8])) -> Result<(), Gone> {
        let end = Instant::now() + READY_TIME;
        while Instant::now() < end {
            let Some(line) = self.next(talk, PAUSE)? else { continue };
            if words(&line).next() == Some(word) {
                return Ok(());
            }
            see(&line);
        }
        Err(Gone::Engine("the engine does not answer"))
    }

    /// The next line, if one comes soon.
    fn next(&self, talk: &Talk, patience: Duration) -> Result<Option<Vec<u8>>, Gone> {
        if self.sender.is_closed() || self.stop.load(Ordering::Relaxed) {
            return Err(Gone::Listener);
        }
        match talk.lines.recv_timeout(patience) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Gone::Engine("the engine has ended")),
        }
    }
}

impl Talk {
    fn say(&mut self, line: &str) {
        // That the engine is gone shows when it does not answer.
        let _ = writeln!(self.input, "{line}").and_then(|()| self.input.flush());
    }

    /// Ends the engine, with force if it does not end by itself.
    fn end(mut self, engine: &Engine) {
        self.say("stop");
        self.say("quit");
        drop(self.input);
        let end = Instant::now() + QUIT_TIME;
        while let Ok(_) | Err(RecvTimeoutError::Timeout) =
            self.lines.recv_timeout(end.saturating_duration_since(Instant::now()))
            && Instant::now() < end
        {}
        drop(self.lines);
        engine.kill();
        let _ = engine.wait();
    }
}

/// What the page shows of the lines.
fn shown(best: &[Option<Info>]) -> Value {
    let first = best.iter().flatten().next().cloned().unwrap_or_default();
    let line = |info: &Info| {
        let mut line = info.score.map_or_else(|| json!({}), json_of);
        let (uci, san): (Vec<_>, Vec<_>) = info.line.iter().cloned().unzip();
        if let Value::Object(line) = &mut line {
            line.insert("uci".to_owned(), json!(uci));
            line.insert("san".to_owned(), json!(san));
        }
        line
    };
    json!({
        "depth": first.depth,
        "seldepth": first.seldepth,
        "nodes": first.nodes,
        "nps": first.nps,
        "time": first.time,
        "lines": best.iter().flatten().map(line).collect::<Vec<_>>(),
    })
}

/// Passes each line of a pipe to `take` until that returns `false`; an endless line comes in pieces.
fn each_line(pipe: impl Read, mut take: impl FnMut(Vec<u8>) -> bool) {
    let mut reader = BufReader::new(pipe);
    loop {
        let mut line = Vec::new();
        let read = reader.by_ref().take(LINE_MAX).read_until(b'\n', &mut line);
        if !read.is_ok_and(|count| count > 0) || !take(line) {
            return;
        }
    }
}
