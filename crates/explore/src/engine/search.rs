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

use tabiya_chess::Position;
use tabiya_search::{Preparation, Unprepared, greet};
use tabiya_uci::engine::{Client, Failure, Setup};
use tabiya_uci::{Info, words};
use tabiya_workshop::view::san;

use super::super::evaluated::json_of;
use super::super::place::ShownPlace;
use super::super::reply::event;
use super::super::words;

/// How long a search lasts at most.
const SEARCH_TIME: Duration = Duration::from_secs(300);

/// How long an engine may take to end by itself.
const QUIT_TIME: Duration = Duration::from_secs(1);

/// How much time passes between two events.
const PAUSE: Duration = Duration::from_millis(100);

/// The most moves of a line that are shown.
const MAX_PLIES: usize = 24;

/// What to search, and who listens.
pub(super) struct LiveSearch {
    pub(super) place: ShownPlace,
    pub(super) lines: usize,
    /// With how many threads; `None`: as the engine is set up.
    pub(super) threads: Option<usize>,
    pub(super) setup: Setup,
    pub(super) sender: Sender<Event>,
    /// Set when nobody wants the search any more.
    pub(super) stop: Arc<AtomicBool>,
}

/// What an engine says of one line of play.
#[derive(Debug, Default, PartialEq, Serialize)]
struct EngineLine {
    /// None is known where the engine gives none, or bounds only.
    #[serde(flatten)]
    score: Option<Value>,
    /// The depth to which the engine has searched this line, which may be less than that of the best line.
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u64>,
    /// The moves in UCI, and in SAN.
    uci: Vec<String>,
    san: Vec<String>,
}

/// How far a search is, as far as the engine says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct Progress {
    /// Of the best line.
    depth: Option<u64>,
    seldepth: Option<u64>,
    nodes: Option<u64>,
    nps: Option<u64>,
    time: Option<u64>,
}

impl LiveSearch {
    /// Searches until the engine has answered or no page listens, and ends the engine.
    pub(super) fn run(self, mut client: Client) {
        let (sender, stop) = (self.sender.clone(), Arc::clone(&self.stop));
        client.stop_when(move || sender.is_closed() || stop.load(Ordering::Relaxed));
        if let Err(Failure::Engine(what)) = self.search(&mut client) {
            self.failed(&format!("{what}{}", client.last_words()));
            return;
        }
        drop(self.sender);
        client.stop_when(|| false);
        client.send("stop");
        let _ = client.quit(QUIT_TIME);
    }

    /// Says why nothing is searched any more.
    fn failed(&self, what: &str) {
        let _ = self.sender.try_send(event("error", &json!({ "error": what, "code": "no-engine" })));
    }

    fn search(&self, client: &mut Client) -> Result<(), Failure> {
        let variant = self.place.variant();
        let wanted = Preparation {
            variant,
            lines: Some(self.lines),
            threads: self.threads,
            is_chess960: self.place.mode == CastlingMode::Chess960,
            ..Preparation::default()
        };
        match greet(client, &self.setup, &wanted) {
            Ok(_) => {}
            Err(Unprepared::Failure(failure)) => return Err(failure),
            Err(Unprepared::LacksVariant(_)) => {
                self.failed(&words::lacks_variant(&variant.to_string()));
                return Ok(());
            }
        }
        let moves = self.place.play().join(" ");
        let moves = if moves.is_empty() { moves } else { format!(" moves {moves}") };
        client.send(&format!("position fen {}{moves}", self.place.start_fen()));
        self.listen(client)
    }

    /// Passes on what the engine thinks, until its answer.
    fn listen(&self, client: &mut Client) -> Result<(), Failure> {
        let at = self.place.game.position();
        let begun = Instant::now();
        let mut known = KnownSearch { progress: Progress::default(), lines: Vec::new() };
        known.lines.resize_with(self.lines, EngineLine::default);
        let mut is_fresh = false;
        let mut sent = begun;
        let go = format!("go movetime {}", SEARCH_TIME.as_millis());
        let answer = client.search(&go, self.setup.patience, |info| {
            is_fresh |= known.take(info, at);
            if is_fresh && sent.elapsed() >= PAUSE {
                // A page that does not keep up gets the next one.
                is_fresh = self.sender.try_send(event("info", &known.shown())).is_err();
                sent = Instant::now();
            }
            begun.elapsed() < SEARCH_TIME + self.setup.patience
        })?;
        if is_fresh {
            let _ = self.sender.try_send(event("info", &known.shown()));
        }
        let word = Some(answer).filter(|word| !word.is_empty());
        let _ = self.sender.try_send(event("done", &json!({ "bestmove": word })));
        Ok(())
    }
}

/// What is known of a search.
struct KnownSearch {
    progress: Progress,
    /// The best first; one without a score and without moves is not known yet.
    lines: Vec<EngineLine>,
}

impl KnownSearch {
    /// Takes what a line of the engine says, and returns whether it says anything of a line of play. Each part may be missing.
    fn take(&mut self, info: &Info<'_>, at: &Position) -> bool {
        let Progress { nodes, nps, time, .. } = &mut self.progress;
        for (known, new) in [(nodes, info.nodes), (nps, info.nps), (time, info.time)] {
            *known = new.or(*known);
        }
        let Some(known) = info.place.and_then(|place| self.lines.get_mut(place)) else { return false };
        let (moves, score) = (moves_of(info.pv, at), info.score.map(json_of));
        let is_of_other_position = moves.uci.is_empty() && words(info.pv).next().is_some();
        let is_bound = score.is_none() && known.score.is_some();
        if is_of_other_position || is_bound || (moves.uci.is_empty() && score.is_none()) {
            return false;
        }
        if moves.uci.is_empty() {
            known.score = score;
            known.depth = info.depth.or(known.depth);
        } else {
            *known = EngineLine { score, depth: info.depth, ..moves };
        }
        if info.place == Some(0) {
            self.progress.depth = info.depth.or(self.progress.depth);
            self.progress.seldepth = info.seldepth.or(self.progress.seldepth);
        }
        true
    }

    /// What the page shows.
    fn shown(&self) -> impl Serialize {
        #[derive(Serialize)]
        struct Shown<'a> {
            #[serde(flatten)]
            progress: Progress,
            lines: Vec<&'a EngineLine>,
        }
        let lines = self.lines.iter().filter(|line| !line.uci.is_empty() || line.score.is_some()).collect();
        Shown { progress: self.progress, lines }
    }
}

/// The legal moves that a text begins with, as a line without a score.
fn moves_of(text: &[u8], at: &Position) -> EngineLine {
    let mut line = EngineLine::default();
    let mut position = at.clone();
    for word in words(text).take(MAX_PLIES) {
        let mv = UciMove::from_ascii(word).ok().and_then(|uci| uci.to_move(position.chess()).ok());
        let Some(mv) = mv else { break };
        line.uci.push(String::from_utf8_lossy(word).into_owned());
        line.san.push(san(&position, mv));
        position.play(mv);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown after these lines.
    fn shown(lines: &[&str]) -> String {
        let mut known = KnownSearch { progress: Progress::default(), lines: Vec::new() };
        known.lines.resize_with(3, EngineLine::default);
        for line in lines {
            known.take(&Info::parse(line.as_bytes()), &Position::start());
        }
        serde_json::to_string(&known.shown()).unwrap()
    }

    #[test]
    fn each_part_of_an_info_may_be_missing() {
        let nothing = r#"{"depth":null,"seldepth":null,"nodes":null,"nps":null,"time":null,"lines":[]}"#;
        let ends = |lines: &[&str], end: &str| {
            let shown = shown(lines);
            assert!(shown.ends_with(end), "{shown}");
        };
        for line in
            ["", "info depth 3 currmove e2e4", "info string score cp 3 pv e2e4", "info depth 3 score cp"]
        {
            assert_eq!(shown(&[line]), nothing, "{line}");
        }
        let whole = "info depth 20 seldepth 31 score cp 31 nodes 5 nps 6 hashfull 7 time 8 pv e2e4 e7e5 e1e3";
        let line = r#"{"cp":31,"depth":20,"uci":["e2e4","e7e5"],"san":["e4","e5"]}]}"#;
        assert_eq!(
            shown(&[whole]),
            format!(r#"{{"depth":20,"seldepth":31,"nodes":5,"nps":6,"time":8,"lines":[{line}"#)
        );
        // Other lines of the engine add what this one does not say, and take nothing away.
        let plain = line.replace(r#""depth":20,"#, "");
        let counted = format!(r#""nodes":9,"nps":null,"time":null,"lines":[{plain}"#);
        ends(&["info score cp 31 pv e2e4 e7e5", "info nodes 9", "info depth 7"], &counted);
        ends(&[whole, "info depth 21 score cp 40 lowerbound pv d2d4"], line);
        ends(&[whole, "info depth 3 score cp 3 pv e7e5"], line);
        ends(&[whole, "info score cp 7"], r#"{"cp":7,"depth":20,"uci":["e2e4","e7e5"],"san":["e4","e5"]}]}"#);
        ends(
            &["info depth 9 multipv 2 score cp 5 pv d2d4"],
            r#"[{"cp":5,"depth":9,"uci":["d2d4"],"san":["d4"]}]}"#,
        );
        ends(&["info pv d2d4"], r#"[{"uci":["d2d4"],"san":["d4"]}]}"#);
        ends(&["info multipv 2 score mate 3"], r#"[{"mate":3,"uci":[],"san":[]}]}"#);
        ends(&["info multipv 0 score cp 3 pv e2e4", "info multipv 9 score cp 3 pv e2e4"], r#""lines":[]}"#);
    }
}
