//! One search of an engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::response::sse::Event;
use serde::Serialize;
use serde_json::{Value, json};
use shakmaty::CastlingMode;
use shakmaty::uci::UciMove;
use tokio::sync::mpsc::Sender;

use super::super::evaluated::json_of;
use super::super::place::Place;
use super::super::stream::event;
use crate::chess::Position;
use crate::engine::{Client, Failure, Setup};
use crate::uci::{Info, option_name, same_name, words};
use crate::view::san;

/// How long a search lasts at most.
const SEARCH_TIME: Duration = Duration::from_secs(300);

/// How long an engine may take to end by itself.
const QUIT_TIME: Duration = Duration::from_secs(1);

/// How much time passes between two events.
const PAUSE: Duration = Duration::from_millis(100);

/// The most moves of a line that are shown.
const PLIES_MAX: usize = 24;

/// What to search, and who listens.
pub(super) struct Search {
    pub(super) place: Place,
    /// How many lines.
    pub(super) lines: usize,
    /// With how many threads; `None`: as the engine is set up.
    pub(super) threads: Option<usize>,
    /// The engine.
    pub(super) setup: Setup,
    pub(super) sender: Sender<Event>,
    /// Set when nobody wants the search any more.
    pub(super) stop: Arc<AtomicBool>,
}

/// What an engine says of one line of play.
#[derive(Debug, PartialEq, Serialize)]
struct Line {
    #[serde(flatten)]
    score: Value,
    /// The moves in UCI, and in SAN.
    uci: Vec<String>,
    san: Vec<String>,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct Progress {
    depth: u64,
    seldepth: Option<u64>,
    nodes: Option<u64>,
    nps: Option<u64>,
    time: Option<u64>,
}

impl Search {
    /// Searches until the engine has answered or no page listens, and ends the engine.
    pub(super) fn run(self, mut client: Client) {
        let (sender, stop) = (self.sender.clone(), Arc::clone(&self.stop));
        client.stop_when(move || sender.is_closed() || stop.load(Ordering::Relaxed));
        if let Err(Failure::Engine(what)) = self.search(&mut client) {
            let what = format!("{what}{}", client.last_words());
            let _ = self.sender.try_send(event("error", &json!({ "error": what, "code": "no-engine" })));
            return;
        }
        drop(self.sender);
        client.stop_when(|| false);
        client.send("stop");
        let _ = client.quit(QUIT_TIME);
    }

    fn search(&self, client: &mut Client) -> Result<(), Failure> {
        let mut offered = Vec::new();
        client.greet(&self.setup.options, self.setup.patience, |line| {
            offered.push(option_name(line.as_bytes()))
        })?;
        let offers = |name: &str| offered.iter().any(|other| same_name(other, name.as_bytes()));
        client.send(&format!("setoption name MultiPV value {}", self.lines));
        if let Some(threads) = self.threads.filter(|_| offers("Threads")) {
            client.send(&format!("setoption name Threads value {threads}"));
        }
        if self.place.mode == CastlingMode::Chess960 && offers("UCI_Chess960") {
            client.send("setoption name UCI_Chess960 value true");
        }
        client.settle(self.setup.patience)?;
        let moves = self.place.play().join(" ");
        let moves = if moves.is_empty() { moves } else { format!(" moves {moves}") };
        client.send(&format!("position fen {}{moves}", self.place.start_fen()));
        self.listen(client)
    }

    /// Passes on what the engine thinks, until its answer.
    fn listen(&self, client: &mut Client) -> Result<(), Failure> {
        let at = self.place.game.position();
        let begun = Instant::now();
        let mut best: Vec<Option<(Progress, Line)>> = (0..self.lines).map(|_| None).collect();
        let mut is_fresh = false;
        let mut sent = begun;
        let go = format!("go movetime {}", SEARCH_TIME.as_millis());
        let answer = client.search(&go, self.setup.patience, |info| {
            if let (Some(line), Some(place)) =
                (read(info, at), info.place.and_then(|place| best.get_mut(place)))
            {
                *place = Some(line);
                is_fresh = true;
            }
            if is_fresh && sent.elapsed() >= PAUSE {
                // A page that does not keep up gets the next one.
                is_fresh = self.sender.try_send(event("info", &shown(&best))).is_err();
                sent = Instant::now();
            }
            begun.elapsed() < SEARCH_TIME + self.setup.patience
        })?;
        if is_fresh {
            let _ = self.sender.try_send(event("info", &shown(&best)));
        }
        let word = Some(answer).filter(|word| !word.is_empty());
        let _ = self.sender.try_send(event("done", &json!({ "bestmove": word })));
        Ok(())
    }
}

/// What a line says of a position; `None` unless it has a score and legal moves.
fn read(info: &Info<'_>, at: &Position) -> Option<(Progress, Line)> {
    let Info { seldepth, nodes, nps, time, .. } = *info;
    let progress = Progress { depth: info.depth.unwrap_or_default(), seldepth, nodes, nps, time };
    let mut line = Line { score: json_of(info.score?), uci: Vec::new(), san: Vec::new() };
    let mut position = at.clone();
    for word in words(info.pv).take(PLIES_MAX) {
        let mv = UciMove::from_ascii(word).ok().and_then(|uci| uci.to_move(position.chess()).ok());
        let Some(mv) = mv else { break };
        line.uci.push(String::from_utf8_lossy(word).into_owned());
        line.san.push(san(&position, mv));
        position.play(mv);
    }
    (!line.uci.is_empty()).then_some((progress, line))
}

/// What the page shows of the lines.
fn shown(best: &[Option<(Progress, Line)>]) -> impl Serialize {
    #[derive(Serialize)]
    struct Shown<'a> {
        #[serde(flatten)]
        progress: Progress,
        lines: Vec<&'a Line>,
    }
    let known = best.iter().flatten();
    let progress = known.clone().next().map(|(progress, _)| *progress).unwrap_or_default();
    Shown { progress, lines: known.map(|(_, line)| line).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_a_score_and_moves_are_read() {
        let read = |line: &str| {
            let info = Info::parse(line.as_bytes());
            read(&info, &Position::start()).map(|(progress, line)| (info.place, progress, line))
        };
        let (place, progress, line) =
            read("info depth 20 seldepth 31 multipv 2 score cp 31 nodes 5 nps 6 hashfull 7 time 8 pv e2e4 e7e5 e1e3")
                .unwrap();
        let expected =
            Progress { depth: 20, seldepth: Some(31), nodes: Some(5), nps: Some(6), time: Some(8) };
        assert_eq!((place, progress), (Some(1), expected));
        let line = serde_json::to_string(&line).unwrap();
        assert_eq!(line, r#"{"cp":31,"uci":["e2e4","e7e5"],"san":["e4","e5"]}"#);
        let (place, progress, _) = read("info depth x multipv 0 score cp 3 pv e2e4").unwrap();
        assert_eq!((place, progress.depth), (None, 0));
        for line in [
            "info depth 3 score cp 3 lowerbound pv e2e4",
            "info depth 3 currmove e2e4",
            "info string score cp 3 pv e2e4",
            "info depth 3 score cp 3 pv e7e5",
            "info depth 3 score cp",
            "bestmove e2e4",
            "",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
