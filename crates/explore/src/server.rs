//! Connections, and the threads that live as long as the server.

use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_base::resources::file_handles;
use tabiya_base::truncated;
use tabiya_uci::engine::join_job;

use super::engine::Start;
use super::router::{KnownConnection, WORKERS, router};
use super::{Explorer, Options, Warnings, words};

/// Connections that may wait without having sent a request with the token; of more the oldest is closed.
const STRANGERS: usize = 256;

/// Connections in all; of more the one that was idle for longest is closed.
const CONNECTIONS: usize = 1024;

/// Connections that are kept however few file handles there are: several pages and their engines.
const MIN: usize = 32;

/// File handles that connections leave to books, engines, and what is written.
const HANDLES_LEFT: usize = 128;

/// How long the headers of a request may take to arrive, and a connection may be idle.
const HEADER_TIME: Duration = Duration::from_secs(10);

/// Bytes of the headers of a request.
const HEADERS_LEN: usize = 32 << 10;

/// Headers of a request.
const HEADERS: usize = 64;

/// How often the server looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// How long work that has begun may take when the server ends.
const END_TIME: Duration = Duration::from_secs(10);

/// Listens, calls `announce` with the address of the page and what is wrong with the books, and answers requests until the
/// process is asked to end. `progress` shows how games are indexed before that. An address opens the page once: then `renew` is called with another, on a thread of its own.
///
/// # Errors
/// When the address cannot be listened on; and as [`Explorer::new`].
pub fn serve(
    options: &Options,
    progress: Progress,
    announce: impl FnOnce(&str, Warnings) -> Result<()>,
    renew: impl Fn(&str) + Send + 'static,
) -> Result<()> {
    let cannot = |error: std::io::Error| {
        Error::new(ErrorKind::File, format!("cannot listen on {}: {error}", options.listen))
            .advice(words::OTHER_ADDRESS)
    };
    let listener = StdListener::bind(options.listen).map_err(cannot)?;
    listener.set_nonblocking(true).map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    // On Windows engines end with us only if they belong to our job.
    if let Err(error) = join_job() {
        log::warn!("an engine may outlive this process: {error}");
    }
    // One waits at most: a terminal that takes no more lines holds up nobody.
    let (addresses, used) = sync_channel(1);
    let (explorer, starts, warnings) = Explorer::new(options, address, addresses, &progress)?;
    drop(progress);
    let explorer = Arc::new(explorer);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(WORKERS)
        .on_thread_start(interrupt::entering())
        .enable_io()
        .enable_time()
        .build()
        .map_err(cannot)?;
    {
        let _context = runtime.enter();
        let listener = TcpListener::from_std(listener).map_err(cannot)?;
        runtime.spawn(accept(listener, router(Arc::clone(&explorer))));
        runtime.spawn(tend(Arc::clone(&explorer)));
    }
    let announced = announce(&explorer.address(), warnings);
    if announced.is_ok() {
        std::thread::spawn(move || used.into_iter().for_each(|address: String| renew(&address)));
        wait(starts);
    }
    // Engines first: whatever else hangs, they are gone.
    explorer.engines.end();
    explorer.feeds.end();
    runtime.shutdown_timeout(END_TIME);
    announced
}

/// Starts engines until the process is asked to end. They end with the thread that starts them: this one, which lives longest.
fn wait(starts: Receiver<Start>) {
    // Dropped at the end: whoever waits for an engine then hears that none will come.
    let starts = starts;
    while !interrupt::asked() {
        match starts.recv_timeout(LOOK) {
            Ok(start) => start.run(),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(LOOK),
        }
    }
}

/// Reports books that were changed by others.
async fn tend(explorer: Arc<Explorer>) {
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if explorer.feeds.any() {
            let explorer = Arc::clone(&explorer);
            let _ = tokio::task::spawn_blocking(move || explorer.refresh()).await;
        }
    }
}

impl Explorer {
    /// Opens books again that were changed by others, and reports them to the pages; looks at most once a second.
    pub(super) fn refresh(&self) {
        for (id, slot) in self.shelf.slots().iter().enumerate() {
            if slot.refresh() {
                self.feeds.changed(id);
                // A file that was cut short, and is opened again, does not fail the command at its end.
                truncated::take();
            }
        }
    }
}

/// A connection that is open.
struct Open {
    known: KnownConnection,
    task: JoinHandle<()>,
}

/// The connections that are open.
struct Crowd {
    open: Vec<Open>,
    /// How many there may be of strangers, and in all.
    strangers: usize,
    most: usize,
}

async fn accept(listener: TcpListener, router: Router) {
    let mut crowd = Crowd::new(file_handles());
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // No file handle is left, mostly.
            crowd.shrink().await;
            continue;
        };
        crowd.make_room();
        let known = KnownConnection::new();
        let task = tokio::spawn(connection(stream, router.clone(), known.clone()));
        crowd.open.push(Open { known, task });
    }
}

impl Crowd {
    /// No connection yet. The file handles of the process bound how many there may be; `None` for no bound.
    fn new(handles: Option<usize>) -> Self {
        let most =
            handles.map_or(CONNECTIONS, |handles| handles.saturating_sub(HANDLES_LEFT).max(handles / 4));
        let most = most.clamp(1, CONNECTIONS);
        Self { open: Vec::new(), strangers: STRANGERS.min(most.div_ceil(2)), most }
    }

    /// Closes connections until one more may be open: the oldest stranger, or the one that was idle for longest.
    fn make_room(&mut self) {
        let Self { open, strangers, most } = self;
        if open.len() < *strangers {
            return;
        }
        open.retain(|other| !other.task.is_finished());
        let is_stranger = |other: &Open| !other.known.is_admitted();
        let least = if open.iter().filter(|other| is_stranger(other)).count() >= *strangers {
            open.iter().position(is_stranger)
        } else if open.len() >= *most {
            self.longest_idle()
        } else {
            None
        };
        if let Some(place) = least {
            self.open.remove(place).task.abort();
        }
    }

    /// Fewer connections from now on, which leaves file handles to what is read and written: those that were idle for longest
    /// are closed. Returns when their handles are free; or after a while, where each connection is in use.
    async fn shrink(&mut self) {
        self.open.retain(|other| !other.task.is_finished());
        self.most = self.most.min(self.open.len() / 4 * 3).max(MIN);
        self.strangers = self.strangers.min(self.most.div_ceil(2));
        let before = self.open.len();
        while self.open.len() > self.most
            && let Some(place) = self.longest_idle()
            && self.open.get(place).is_some_and(|one| one.known.is_idle())
        {
            let Open { task, .. } = self.open.remove(place);
            task.abort();
            let _ = tokio::time::timeout(LOOK, task).await;
        }
        if self.open.len() == before {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// The place of the connection that is missed least.
    fn longest_idle(&self) -> Option<usize> {
        let places = self.open.iter().enumerate();
        places.min_by_key(|(_, other)| other.known.worth()).map(|(place, _)| place)
    }
}

async fn connection(stream: TcpStream, router: Router, known: KnownConnection) {
    // Answers are small, and wait for nothing.
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router.layer(Extension(known)));
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(HEADERS_LEN)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// Whether only this machine can connect to an address.
pub fn is_local(address: &SocketAddr) -> bool {
    address.ip().is_loopback()
}
