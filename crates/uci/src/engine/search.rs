//! What every client asks of an engine: whether it is ready, and a search, each within a limit of time.

use std::time::{Duration, Instant};

use super::{Client, NoLine};
use crate::{Info, words};

/// How often what is shown the lines of a search is asked whether that goes on.
const POLL: Duration = Duration::from_millis(100);

/// Why an engine gives no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nobody wants it any more.
    Interrupted,
    /// What the engine did.
    Engine(String),
}

impl From<NoLine> for Failure {
    fn from(why: NoLine) -> Self {
        match why {
            NoLine::Late => Self::Engine("the engine does not answer".to_owned()),
            NoLine::Ended => Self::Engine("the engine has ended".to_owned()),
            NoLine::Interrupted => Self::Interrupted,
        }
    }
}

impl Client {
    /// Waits until the engine has handled all that it was sent.
    pub fn settle(&mut self, patience: Duration) -> Result<(), Failure> {
        self.demand("isready", "readyok", patience, |_| {})
    }

    /// As [`Client::ask`]. The failure names the word that did not come.
    ///
    /// # Errors
    /// When the answer does not come.
    pub fn demand(
        &mut self,
        line: &str,
        end: &str,
        patience: Duration,
        see: impl FnMut(String),
    ) -> Result<(), Failure> {
        self.ask(line, end, patience, see).map_err(|why| match why {
            NoLine::Late => Failure::Engine(format!("no {end} within {} s", patience.as_secs())),
            why => why.into(),
        })
    }

    /// Lets the engine search, and returns its move. `see` gets what its lines say, and now and then nothing; once it returns
    /// `false` the search is stopped.
    pub fn search(
        &mut self,
        go: &str,
        patience: Duration,
        mut see: impl FnMut(&Info<'_>) -> bool,
    ) -> Result<String, Failure> {
        let wrong = |what: &str| Err(Failure::Engine(what.to_owned()));
        let (mut watch, mut stopped) = (Watch::new(patience), None::<Instant>);
        self.send(go);
        loop {
            if stopped.is_some_and(|stopped| stopped.elapsed() > patience) {
                return wrong("the engine does not end its search after stop");
            }
            if watch.hangs(self) {
                return wrong("the engine hangs: it does not answer while it searches");
            }
            let line = match self.line(Instant::now() + POLL) {
                Ok(line) => line,
                Err(NoLine::Late) => String::new(),
                Err(why) => return Err(why.into()),
            };
            let info = Info::parse(line.as_bytes());
            watch.heard(line.as_bytes(), &info);
            let mut words = line.split_whitespace();
            if words.next() == Some("bestmove") {
                return Ok(words.next().unwrap_or_default().to_owned());
            }
            if !see(&info) && stopped.is_none() {
                self.send("stop");
                stopped = Some(Instant::now());
            }
        }
    }
}

/// Watches a search: an engine that makes no progress for a while is asked whether it is alive, and must answer.
struct Watch {
    patience: Duration,
    /// When it last made progress.
    progress: Instant,
    depth: u64,
    nodes: u64,
    /// When it was asked whether it is there.
    asked: Option<Instant>,
}

impl Watch {
    /// A search that begins now.
    fn new(patience: Duration) -> Self {
        Self { patience, progress: Instant::now(), depth: 0, nodes: 0, asked: None }
    }

    /// Takes a line of the engine. Repeated lines are not progress.
    fn heard(&mut self, line: &[u8], info: &Info<'_>) {
        let (depth, nodes) = (info.depth.unwrap_or_default(), info.nodes.unwrap_or_default());
        if depth > self.depth || nodes > self.nodes || words(line).next() == Some(b"readyok") {
            (self.progress, self.asked) = (Instant::now(), None);
            (self.depth, self.nodes) = (self.depth.max(depth), self.nodes.max(nodes));
        }
    }

    /// Asks an engine that makes no progress whether it is there, and returns whether it hangs.
    fn hangs(&mut self, client: &mut Client) -> bool {
        match self.asked {
            Some(asked) => asked.elapsed() > self.patience,
            // An engine answers this at once while it searches.
            None if self.progress.elapsed() > self.patience => {
                client.send("isready");
                self.asked = Some(Instant::now());
                false
            }
            None => false,
        }
    }
}
