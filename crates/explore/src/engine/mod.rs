//! `/api/engine`: what an engine thinks of a position, for as long as a page listens.
//!
//! Each connection has its own engine, which is started for it and ends with it.

mod search;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use axum::response::Response;
use shakmaty::Position as _;

use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::parallel::processors;
use tabiya_uci::engine::{Client, Engine, Setup};

use self::search::LiveSearch;
use super::Explorer;
use super::fault::Fault;
use super::reply::events;
use super::request::Query;

/// Engines that may run at once.
const MAX_ENGINES: usize = 4;

/// The most lines that are shown.
const MAX_LINES: usize = 10;

/// Lines that are shown if the request does not say.
const LINES: usize = 3;

/// Bytes of the name of a page.
const MAX_PAGE: usize = 64;

/// How long a connection may be silent.
const SILENCE: Duration = Duration::from_secs(1);

/// How long an engine may take to be started.
const START_TIME: Duration = Duration::from_secs(30);

/// Starts an engine, on the thread that lives as long as the server.
pub struct Start(Box<dyn FnOnce() + Send>);

impl Start {
    pub(super) fn run(self) {
        (self.0)();
    }
}

/// Who asks for a search: a page, and which of its searches it is. Requests may overtake one another.
#[derive(Clone, Copy)]
struct Asker<'a> {
    page: &'a str,
    search: u32,
}

/// An engine that runs, or is about to.
struct Running {
    page: Option<String>,
    search: u32,
    engine: Option<Engine>,
    stop: Arc<AtomicBool>,
}

pub(super) struct Engines {
    program: Option<Setup>,
    starts: Mutex<Sender<Start>>,
    running: Arc<Mutex<Vec<Running>>>,
}

/// Leave for one engine to run; dropped, another one may.
struct Permit {
    running: Arc<Mutex<Vec<Running>>>,
    stop: Arc<AtomicBool>,
}

impl Engines {
    /// The engines of a program, if there is one; `starts` leads to the thread that starts them.
    pub(super) fn new(program: Option<Setup>, starts: Sender<Start>) -> Self {
        Self { program, starts: Mutex::new(starts), running: Arc::default() }
    }

    pub(super) fn name(&self) -> Option<String> {
        let path = &self.program.as_ref()?.program;
        Some(path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned())
    }

    pub(super) fn end(&self) {
        for running in self.running.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            running.stop.store(true, Ordering::Relaxed);
            running.engine.iter().for_each(Engine::kill);
        }
    }

    /// Leave for one more engine; the one that the page already has is stopped, unless it is for a later search.
    fn permit(&self, asker: Option<Asker<'_>>) -> Result<Permit, Fault> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Asker { page, search }) = asker {
            let own = || running.iter().filter(|other| other.page.as_deref() == Some(page));
            if own().any(|other| other.search > search) {
                return Err(Fault::busy("the page asks for another search by now"));
            }
            own().for_each(|other| other.stop.store(true, Ordering::Relaxed));
        }
        if running.iter().filter(|other| !other.stop.load(Ordering::Relaxed)).count() >= MAX_ENGINES
            || running.len() >= 2 * MAX_ENGINES
        {
            return Err(Fault::busy("too many engines run: close another page"));
        }
        let stop = Arc::new(AtomicBool::new(false));
        running.push(Running {
            page: asker.map(|asker| asker.page.to_owned()),
            search: asker.map_or(0, |asker| asker.search),
            engine: None,
            stop: Arc::clone(&stop),
        });
        Ok(Permit { running: Arc::clone(&self.running), stop })
    }
}

impl Permit {
    /// Names the engine, so that it is killed when the server ends.
    fn take(&self, engine: &Engine) {
        for other in self.running.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            if Arc::ptr_eq(&other.stop, &self.stop) {
                other.engine = Some(engine.clone());
            }
        }
        if self.stop.load(Ordering::Relaxed) {
            engine.kill();
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|other| !Arc::ptr_eq(&other.stop, &self.stop));
    }
}

pub(super) fn watch(explorer: &Explorer, query: &Query) -> Result<Response, Fault> {
    let place = explorer.place(query)?;
    let lines = query.number("lines", MAX_LINES)?.unwrap_or(LINES).max(1);
    let threads = query.number("threads", processors())?.map(|threads| threads.max(1));
    let search = query.number("search", u32::MAX)?.unwrap_or(0);
    let page = query.get("page").filter(|page| page.len() <= MAX_PAGE);
    let asker = page.map(|page| Asker { page, search });
    let engines = &explorer.engines;
    let Some(program) = engines.program.clone() else { return Err(Fault::no_engine()) };
    if place.game.position().chess().legal_moves().is_empty() {
        return Err(Fault::bad("the game is over: there is nothing to think about"));
    }
    let permit = engines.permit(asker)?;
    let (sender, response) = events(SILENCE);
    let (reply, started) = sync_channel::<Result<Client>>(1);
    let setup = program.clone();
    let start = Start(Box::new(move || {
        // An engine that no page waits for any more is dropped, and ends.
        let _ = reply.send(Client::start(&program.program, &program.args, program.folder.as_deref()));
    }));
    let starts = engines.starts.lock().unwrap_or_else(PoisonError::into_inner).clone();
    starts.send(start).map_err(|_| Fault::no_engine())?;
    let client = started.recv_timeout(START_TIME).map_err(|_| Fault::busy("the engine does not start"))??;
    permit.take(client.engine());
    let search = LiveSearch { place, lines, threads, setup, sender, stop: Arc::clone(&permit.stop) };
    let thread = thread::Builder::new().name("engine".to_owned());
    // If the thread does not start, the client is dropped, and its engine ends.
    thread
        .spawn(interrupt::inherited(move || {
            search.run(client);
            drop(permit);
        }))
        .map_err(|error| Fault::io(format!("cannot start a thread for the engine: {error}")))?;
    Ok(response)
}
