//! One search of an engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use serde_json::{Value, json};
use shakmaty::CastlingMode;
use tokio::sync::mpsc::Sender;

use super::super::evaluated::json_of;
use super::super::place::Place;
use super::super::stream::{COMMENT, event};
use super::info::Info;
use crate::engine::{Client, NoLine, Watch};
use crate::uci::{Info as Progress, option_name, same_name, words};

/// How long a search lasts at most.
const SEARCH_TIME: Duration = Duration::from_secs(300);

/// How long an engine may take to end by itself.
const QUIT_TIME: Duration = Duration::from_secs(1);

/// How much time passes between two events.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a connection may be silent: what is written to one that was closed shows that nobody listens.
const SILENCE: Duration = Duration::from_secs(1);

/// What to search, and who listens.
pub(super) struct Search {
    pub(super) place: Place,
    /// How many lines.
    pub(super) lines: usize,
    /// The engine's options.
    pub(super) settings: Vec<(String, String)>,
    /// How long it may take to answer `uci` and `isready`, and to make progress.
    pub(super) patience: Duration,
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

impl Search {
    /// Searches until the engine has answered or nobody listens, and ends the engine.
    pub(super) fn run(self, mut client: Client) {
        match self.search(&mut client) {
            Ok(()) | Err(Gone::Listener) => {}
            Err(Gone::Engine(what)) => {
                let what = format!("{what}{}", client.last_words());
                let _ = self.sender.try_send(event("error", &json!({ "error": what, "code": "no-engine" })));
                return;
            }
        }
        drop(self.sender);
        client.send("stop");
        let _ = client.quit(QUIT_TIME);
    }

    fn search(&self, client: &mut Client) -> Result<(), Gone> {
        let mut offered = Vec::new();
        self.ask(client, "uci", "uciok", |line| offered.push(option_name(line)))?;
        let offers = |name: &str| offered.iter().any(|other| same_name(other, name.as_bytes()));
        for (name, value) in &self.settings {
            client.send(&format!("setoption name {name} value {value}"));
        }
        client.send(&format!("setoption name MultiPV value {}", self.lines));
        if self.place.mode == CastlingMode::Chess960 && offers("UCI_Chess960") {
            client.send("setoption name UCI_Chess960 value true");
        }
        self.ask(client, "isready", "readyok", |_| {})?;
        let moves = self.place.play().join(" ");
        let moves = if moves.is_empty() { moves } else { format!(" moves {moves}") };
        client.send(&format!("position fen {}{moves}", self.place.start_fen()));
        client.send(&format!("go movetime {}", SEARCH_TIME.as_millis()));
        self.listen(client)
    }

    /// Passes on what the engine thinks, until its answer.
    fn listen(&self, client: &mut Client) -> Result<(), Gone> {
        let at = self.place.game.position();
        let end = Instant::now() + SEARCH_TIME + self.patience;
        let mut watch = Watch::new(self.patience);
        let (mut best, mut fresh): (Vec<Option<Info>>, bool) = (vec![None; self.lines], false);
        let (mut sent, mut heard) = (Instant::now(), Instant::now());
        loop {
            if Instant::now() >= end || watch.hangs(client) {
                return Err(Gone::Engine("the engine does not answer"));
            }
            let line = self.next(client, PAUSE)?;
            let line = line.as_deref().map(str::as_bytes);
            if let Some(line) = line {
                watch.heard(line, &Progress::parse(line));
            }
            let bestmove = line.filter(|line| words(line).next() == Some(b"bestmove"));
            if let Some(info) = line.and_then(|line| Info::parse(line, at))
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

    /// Asks, and reads lines up to one that begins with `word`.
    fn ask(
        &self,
        client: &mut Client,
        line: &str,
        word: &str,
        mut see: impl FnMut(&[u8]),
    ) -> Result<(), Gone> {
        client.send(line);
        let end = Instant::now() + self.patience;
        while Instant::now() < end {
            let Some(line) = self.next(client, PAUSE)? else { continue };
            if words(line.as_bytes()).next() == Some(word.as_bytes()) {
                return Ok(());
            }
            see(line.as_bytes());
        }
        Err(Gone::Engine("the engine does not answer"))
    }

    /// The next line, if one comes soon.
    fn next(&self, client: &mut Client, patience: Duration) -> Result<Option<String>, Gone> {
        if self.sender.is_closed() || self.stop.load(Ordering::Relaxed) {
            return Err(Gone::Listener);
        }
        match client.line(Instant::now() + patience) {
            Ok(line) => Ok(Some(line)),
            Err(NoLine::Late) => Ok(None),
            Err(NoLine::Interrupted) => Err(Gone::Listener),
            Err(NoLine::Ended) => Err(Gone::Engine("the engine has ended")),
        }
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
