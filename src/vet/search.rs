//! A child engine that searches one position after another.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{EnPassantMode, Position as _};

use crate::base::error::{Error, ErrorKind, Remedy, Result};
use crate::base::interrupt;
use crate::chess::{MoveCode, Position};
use crate::engine::{Client, NoLine};
use crate::evals::Limit;
use crate::uci::{Info, Score, id_name, words};

/// How long to wait for a line before it is checked whether to stop.
const POLL: Duration = Duration::from_millis(100);

/// How long the engine may take to end after `quit`.
const QUIT_TIME: Duration = Duration::from_secs(2);

/// An engine that searches more nodes than this many times the limit does not heed it, and is stopped.
const TOO_FAR: u64 = 4;

/// What an engine did that closed its output.
const ENDED: &str = "the engine ended";

/// How an engine is started and set up.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working folder; `None` for ours.
    pub folder: Option<PathBuf>,
    /// Options that are set: name and value.
    pub options: Vec<(String, String)>,
    /// How long it may take to answer `uci` and `isready`, and be silent before it is asked whether it is there.
    pub patience: Duration,
    /// How long it searches.
    pub limit: Limit,
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub score: Score,
    pub depth: u16,
    pub nodes: u64,
    pub best: MoveCode,
    /// Whether it was stopped before it was done.
    pub cut: bool,
}

/// Why a search found nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The user asked the work to stop.
    Interrupted,
    /// What the engine did.
    Engine(String),
}

impl From<NoLine> for Failure {
    fn from(why: NoLine) -> Self {
        Self::Engine(match why {
            NoLine::Late => "the engine does not answer".to_owned(),
            NoLine::Ended => ENDED.to_owned(),
        })
    }
}

/// A running engine. Dropped, it is ended.
pub(crate) struct Searcher<'a> {
    setup: &'a Setup,
    client: Option<Client>,
    /// Its name.
    pub name: String,
}

impl<'a> Searcher<'a> {
    /// Starts an engine. Call it from the thread that uses it.
    ///
    /// # Errors
    /// When it does not start, or does not speak UCI.
    pub fn start(setup: &'a Setup) -> Result<Self> {
        let client = Client::start(&setup.program, &setup.args, setup.folder.as_deref())?;
        let program = || setup.program.display().to_string();
        let mut searcher = Self { setup, client: Some(client), name: program() };
        searcher.greet().map_err(|failure| match failure {
            Failure::Interrupted => Error::new(ErrorKind::Interrupted, "interrupted"),
            Failure::Engine(mut what) => {
                // An engine that has ended may have said why.
                let last = searcher
                    .client
                    .as_ref()
                    .filter(|_| what == ENDED)
                    .and_then(|client| client.errors().pop());
                if let Some(last) = last {
                    what.push_str(&format!(", and wrote: {last}"));
                }
                Error::new(ErrorKind::Engine, format!("{}: {what}", program())).remedied_by(Remedy::TryEngine)
            }
        })?;
        Ok(searcher)
    }

    fn greet(&mut self) -> Result<(), Failure> {
        let Some(client) = &mut self.client else { return Err(NoLine::Ended.into()) };
        client.send("uci");
        let mut name = None;
        let found = |line: &str| {
            if let Some(found) = id_name(line.as_bytes()) {
                name = Some(String::from_utf8_lossy(found).trim().to_owned());
            }
        };
        hear(client, "uciok", self.setup.patience, found)?;
        self.name = name.filter(|name| !name.is_empty()).unwrap_or(std::mem::take(&mut self.name));
        for (name, value) in &self.setup.options {
            client.send(&format!("setoption name {name} value {value}"));
        }
        client.send("isready");
        hear(client, "readyok", self.setup.patience, |_| {})
    }

    /// Searches a position as if it were the first one: what was searched before does not count. After `until` the search is
    /// stopped.
    pub fn search(&mut self, at: &Position, until: Option<Instant>) -> Result<Found, Failure> {
        let Some(client) = &mut self.client else { return Err(NoLine::Ended.into()) };
        client.send("ucinewgame");
        client.send("isready");
        hear(client, "readyok", self.setup.patience, |_| {})?;
        client.send(&format!("position fen {}", Fen::from_position(at.chess(), EnPassantMode::Legal)));
        let limit = self.setup.limit;
        client.send(&match limit {
            Limit::Nodes(nodes) => format!("go nodes {nodes}"),
            Limit::Depth(depth) => format!("go depth {depth}"),
            Limit::Movetime(time) => format!("go movetime {time}"),
        });
        let begun = Instant::now();
        let mut watch = Watch { patience: self.setup.patience, heard: begun, asked: None, stopped: None };
        let (mut last, mut depth, mut nodes, mut cut) = (None, 0, 0, false);
        let answer = loop {
            if interrupt::asked() {
                return Err(Failure::Interrupted);
            }
            let too_long = match limit {
                Limit::Nodes(limit) => nodes / TOO_FAR > limit,
                Limit::Movetime(limit) => {
                    begun.elapsed() > Duration::from_millis(limit) + self.setup.patience
                }
                Limit::Depth(_) => false,
            };
            let late = until.is_some_and(|until| Instant::now() >= until);
            if (too_long || late) && watch.stopped.is_none() {
                cut |= late;
                client.send("stop");
                watch.stopped = Some(Instant::now());
            }
            let line = match client.line(Instant::now() + POLL) {
                Ok(line) => line,
                Err(NoLine::Late) => {
                    watch.silent(client)?;
                    continue;
                }
                Err(why) => return Err(why.into()),
            };
            (watch.heard, watch.asked) = (Instant::now(), None);
            watch.check_stopped()?;
            let info = Info::parse(line.as_bytes());
            nodes = nodes.max(info.nodes.unwrap_or_default());
            if let Some(score) = info.score.filter(|score| *score != Score::Mate(0)) {
                last = Some(score);
                depth = info.depth.unwrap_or_default();
            }
            let mut words = words(line.as_bytes());
            if words.next() == Some(b"bestmove") {
                break words
                    .next()
                    .map(|word| String::from_utf8_lossy(word).into_owned())
                    .unwrap_or_default();
            }
        };
        let mv = answer.parse::<UciMove>().ok().and_then(|uci| uci.to_move(at.chess()).ok());
        let Some(mv) = mv.filter(|mv| at.chess().is_legal(*mv)) else {
            return Err(Failure::Engine(format!("the engine answers '{answer}', which is no legal move")));
        };
        let Some(score) = last else {
            return Err(Failure::Engine("the engine gives no score".to_owned()));
        };
        let depth = u16::try_from(depth).unwrap_or(u16::MAX);
        Ok(Found { score, depth, nodes, best: MoveCode::from_move(mv), cut })
    }
}

impl Drop for Searcher<'_> {
    fn drop(&mut self) {
        if let Some(client) = self.client.take().filter(|_| !interrupt::asked()) {
            let _ = client.quit(QUIT_TIME);
        }
    }
}

/// Waits for a line that begins with this word, and shows the lines before it.
fn hear(client: &Client, end: &str, patience: Duration, mut see: impl FnMut(&str)) -> Result<(), Failure> {
    let until = Instant::now() + patience;
    loop {
        if interrupt::asked() {
            return Err(Failure::Interrupted);
        }
        match client.line(until.min(Instant::now() + POLL)) {
            Ok(line) if line.split_whitespace().next() == Some(end) => return Ok(()),
            Ok(line) => see(&line),
            Err(NoLine::Late) if Instant::now() < until => {}
            Err(NoLine::Late) => {
                return Err(Failure::Engine(format!("no {end} within {} s", patience.as_secs())));
            }
            Err(why) => return Err(why.into()),
        }
    }
}

/// Notices that an engine hangs.
struct Watch {
    patience: Duration,
    /// When it wrote its last line.
    heard: Instant,
    /// When it was asked whether it is there.
    asked: Option<Instant>,
    /// When it was asked to stop.
    stopped: Option<Instant>,
}

impl Watch {
    fn silent(&mut self, client: &mut Client) -> Result<(), Failure> {
        self.check_stopped()?;
        let hangs = || Failure::Engine("the engine hangs: it answers nothing while it searches".to_owned());
        match self.asked {
            Some(asked) if asked.elapsed() > self.patience => Err(hangs()),
            // An engine answers this at once while it searches.
            None if self.heard.elapsed() > self.patience => {
                client.send("isready");
                self.asked = Some(Instant::now());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn check_stopped(&self) -> Result<(), Failure> {
        match self.stopped {
            Some(stopped) if stopped.elapsed() > self.patience => {
                Err(Failure::Engine("the engine does not end its search after stop".to_owned()))
            }
            _ => Ok(()),
        }
    }
}
