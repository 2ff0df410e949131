//! A child engine that searches one position after another.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{EnPassantMode, Position as _};

use crate::base::error::{Error, ErrorKind, Remedy, Result};
use crate::base::interrupt;
use crate::chess::{MoveCode, Position};
use crate::engine::{Client, NoLine, Watch};
use crate::evals::Limit;
use crate::uci::{Info, Score, id_name, words};

/// How often it is checked whether a search has to be stopped.
const POLL: Duration = Duration::from_millis(100);

/// How long the engine may take to end after `quit`.
const QUIT_TIME: Duration = Duration::from_secs(2);

/// An engine that searches more nodes than this many times the limit does not heed it, and is stopped.
const TOO_FAR: u64 = 4;

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
        match why {
            NoLine::Late => Self::Engine("the engine does not answer".to_owned()),
            NoLine::Ended => Self::Engine("the engine ended".to_owned()),
            NoLine::Interrupted => Self::Interrupted,
        }
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
            Failure::Engine(what) => {
                // It may have said why.
                let words = searcher.client.take().map(|mut client| client.last_words());
                let what = what + &words.unwrap_or_default();
                Error::new(ErrorKind::Engine, format!("{}: {what}", program())).remedied_by(Remedy::TryEngine)
            }
        })?;
        Ok(searcher)
    }

    fn greet(&mut self) -> Result<(), Failure> {
        let Some(client) = &mut self.client else { return Err(NoLine::Ended.into()) };
        let mut name = None;
        let found = |line: String| {
            if let Some(found) = id_name(line.as_bytes()) {
                name = Some(String::from_utf8_lossy(found).trim().to_owned());
            }
        };
        ask(client, "uci", "uciok", self.setup.patience, found)?;
        self.name = name.filter(|name| !name.is_empty()).unwrap_or(std::mem::take(&mut self.name));
        for (name, value) in &self.setup.options {
            client.send(&format!("setoption name {name} value {value}"));
        }
        ask(client, "isready", "readyok", self.setup.patience, |_| {})
    }

    /// Searches a position as if it were the first one: what was searched before does not count. After `until` the search is
    /// stopped.
    pub fn search(&mut self, at: &Position, until: Option<Instant>) -> Result<Found, Failure> {
        let Some(client) = &mut self.client else { return Err(NoLine::Ended.into()) };
        client.send("ucinewgame");
        ask(client, "isready", "readyok", self.setup.patience, |_| {})?;
        client.send(&format!("position fen {}", Fen::from_position(at.chess(), EnPassantMode::Legal)));
        let limit = self.setup.limit;
        client.send(&match limit {
            Limit::Nodes(nodes) => format!("go nodes {nodes}"),
            Limit::Depth(depth) => format!("go depth {depth}"),
            Limit::Movetime(time) => format!("go movetime {time}"),
        });
        let begun = Instant::now();
        let (mut watch, mut stopped) = (Watch::new(self.setup.patience), None::<Instant>);
        let (mut last, mut depth, mut nodes, mut cut) = (None, 0, 0, false);
        let answer = loop {
            let too_long = match limit {
                Limit::Nodes(limit) => nodes / TOO_FAR > limit,
                Limit::Movetime(limit) => {
                    begun.elapsed() > Duration::from_millis(limit) + self.setup.patience
                }
                Limit::Depth(_) => false,
            };
            let late = until.is_some_and(|until| Instant::now() >= until);
            if (too_long || late) && stopped.is_none() {
                cut |= late;
                client.send("stop");
                stopped = Some(Instant::now());
            }
            if stopped.is_some_and(|stopped| stopped.elapsed() > self.setup.patience) {
                return Err(Failure::Engine("the engine does not end its search after stop".to_owned()));
            }
            if watch.hangs(client) {
                let what = "the engine hangs: it answers nothing while it searches";
                return Err(Failure::Engine(what.to_owned()));
            }
            let line = match client.line(Instant::now() + POLL) {
                Ok(line) => line,
                Err(NoLine::Late) => continue,
                Err(why) => return Err(why.into()),
            };
            let info = Info::parse(line.as_bytes());
            watch.heard(line.as_bytes(), &info);
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

/// Sends a line and shows those that follow to `see`, up to and including the one that begins with the word `end`.
fn ask(
    client: &mut Client,
    line: &str,
    end: &str,
    patience: Duration,
    see: impl FnMut(String),
) -> Result<(), Failure> {
    client.ask(line, end, patience, see).map_err(|why| match why {
        NoLine::Late => Failure::Engine(format!("no {end} within {} s", patience.as_secs())),
        why => why.into(),
    })
}
