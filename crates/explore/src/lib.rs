//! The server of `tabiya explore`: a page that shows what books say of a position and edits them, the interface of that
//! page, and Lichess's interface to opening explorers.
//!
//! | step | module |
//! |---|---|
//! | connections, and the threads that live as long as the server | [`server`] |
//! | who may ask | [`guard`] |
//! | which request goes where | [`router`] |
//! | what a request says | [`request`] |
//! | the open books | [`shelf`] |
//! | answers | [`position`], [`mod@line`], [`lichess`], [`chessdb`], [`edits`], [`engine`], [`gaps`] |
//!
//! Requests come from outside: what they may be is bounded in [`server`] and [`request`], and books never learn of one that
//! [`guard`] refuses. While a thread reads a file, another one takes over the connections; how many read at once is bounded.
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "tests know their numbers"))]

mod answering;
mod chessdb;
mod edits;
mod engine;
mod evaluated;
mod events;
mod fault;
mod games;
mod gaps;
mod guard;
#[cfg(any(test, feature = "in-process"))]
mod in_process;
mod kept;
mod lichess;
mod line;
mod narrowed;
mod page;
mod part;
mod paste;
mod place;
mod plain;
mod position;
mod reasons;
mod reply;
mod request;
mod results;
mod router;
mod server;
mod settings;
mod shelf;
mod token;
mod variants;
mod words;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

use shakmaty::{ByColor, Color};

use tabiya_adapter::settings::advice;
use tabiya_adapter::settings::books::{BookFiles, BookList};
use tabiya_adapter::settings::rules::Rule;
use tabiya_adapter::settings::table::ENGINE;
use tabiya_adapter::settings::{Config, FILE_NAME, Given};
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::progress::Progress;
use tabiya_book::Among;
use tabiya_book::choose::Policy;
use tabiya_book::traits::Book;
use tabiya_book::{self as book, Format, OtherRules, Variant};
use tabiya_learn as learn;
use tabiya_search::set_chess;
use tabiya_uci::engine::Setup;

use self::engine::{Engines, Start};
use self::events::Feeds;
use self::fault::Fault;
use self::games::GamesOfPosition;
use self::guard::Guard;
#[cfg(any(test, feature = "in-process"))]
pub use self::in_process::InProcess;
use self::kept::PageMemory;
pub use self::server::{is_local, serve};
use self::settings::Settings;
use self::shelf::{Shelf, Slot};

/// What the command line asks for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The books; none: those of the configuration, and the starter book.
    pub books: Vec<PathBuf>,
    /// The variant of named books that do not say it.
    pub variant: Variant,
    /// The address to listen on.
    pub listen: SocketAddr,
    /// Where the token of programs is kept; without it they may not ask.
    pub token_file: Option<PathBuf>,
    /// Whether books may be edited.
    pub edit: bool,
    /// Whether the configuration may be seen, changed and tried.
    pub settings: bool,
    /// Whether programs on this machine, and pages in its browsers, may ask about positions without a token.
    pub open_api: bool,
    /// Whether programs are answered only with moves that the adapter would play.
    pub playable: bool,
    /// Files with games, which are found by their positions.
    pub games: Vec<PathBuf>,
    pub engine: Option<String>,
    /// The configuration file; `None`: the one that is found.
    pub config: Option<String>,
    /// The games that count, where the sources are count files.
    pub among: Among,
    /// Says of a book in `books` that its moves obey other rules.
    pub other_rules: fn(&Path, &OtherRules) -> String,
}

/// All that requests are answered from.
pub struct Explorer {
    guard: Guard,
    shelf: Shelf,
    /// The variant of requests of the page that name none.
    variant: Variant,
    policy: Policy,
    edit: bool,
    /// Whether programs are answered only with moves that the adapter would play.
    playable: bool,
    engines: Engines,
    feeds: Feeds,
    games: Option<GamesOfPosition>,
    kept: PageMemory,
    /// The configuration file, or why requests have nothing to do with it.
    settings: Result<Settings, Fault>,
}

/// What was wrong when the server was set up, and does not keep it from working.
pub type Warnings = Vec<String>;

impl Options {
    /// # Errors
    /// When what is for this machine alone could be reached by others, or the books do not fit the slices asked for.
    fn fit(&self, address: &SocketAddr) -> Result<()> {
        let refused = |what: String, advice| Err(Error::new(ErrorKind::Usage, what).advice(advice));
        if self.settings && !is_local(address) {
            let what = format!(
                "settings name programs to run, so they are shown to this machine only, but others can \
                 connect to {address}"
            );
            return refused(what, words::NO_SETTINGS);
        }
        if self.open_api && !is_local(address) {
            let what = format!(
                "answers without a token are for this machine only, but others can connect to {address}"
            );
            return refused(what, words::NO_OPEN_API);
        }
        if self.books.is_empty() && self.among.by().any() {
            let what = format!(
                "only {} count games separately by speed or rating, but none is named",
                Format::sliced()
            );
            return Err(Error::new(ErrorKind::Usage, what));
        }
        Ok(())
    }

    /// The configuration; `None`, with a warning, if it is not valid and nothing of it is asked for.
    ///
    /// # Errors
    /// When it is not valid, and its books are asked for or it is named.
    fn load(&self, given: &Given, warnings: &mut Warnings) -> Result<Option<Config>> {
        match Config::load(given.clone(), self.config.as_deref()) {
            Ok(config) => Ok(Some(config)),
            Err(error) if self.books.is_empty() || self.config.is_some() => Err(error),
            Err(error) => {
                warnings.push(error.with_source());
                Ok(None)
            }
        }
    }

    /// The page of settings, of the configuration's file or of a new one in the working folder.
    fn settings_of(&self, config: Option<&Config>) -> Result<Settings, Fault> {
        if !self.settings {
            return Err(Settings::not_allowed());
        }
        let beside = || std::env::current_dir().ok().map(|folder| folder.join(FILE_NAME));
        let path = config.and_then(|config| config.file.clone().or_else(beside));
        let unread =
            || Fault::not_found("the configuration cannot be read: see what was printed at the start");
        path.map(Settings::new).ok_or_else(unread)
    }

    fn open_books(&self) -> Vec<Slot> {
        let open = |path: &PathBuf| {
            let variant = book::stated_variant(path).unwrap_or(self.variant);
            Slot::open(path, variant, &self.among, Vec::new())
        };
        self.books.iter().map(open).collect()
    }

    /// The engine that is named, or that of the configuration's file if it is found.
    ///
    /// # Errors
    /// When the engine that is named is not found.
    fn program(
        &self,
        config: Option<Config>,
        given: Given,
        warnings: &mut Warnings,
    ) -> Result<Option<Setup>> {
        let is_configured = config.as_ref().is_some_and(|config| config.file.is_some());
        let (program, mut config) = match (&self.engine, config) {
            (Some(_), config) => {
                let config = config.map_or_else(|| Config::merged(given, None), Ok)?;
                (config.find_engine()?, config)
            }
            (None, Some(config)) if is_configured => match config.find_engine() {
                Ok(program) => (program, config),
                Err(_) => return Ok(None),
            },
            (None, _) => return Ok(None),
        };
        warnings.extend(set_chess(&mut config.settings));
        let folder = config.find_engine_dir().ok().flatten();
        let (args, options, patience) = (config.engine_args, config.settings, config.engine_timeout);
        Ok(Some(Setup { program, args, folder, options, patience }))
    }
}

impl Explorer {
    /// Opens the books, and indexes the games; `address` is the one that is listened on. When the address of the page has
    /// been used, a new one is sent to `addresses`.
    ///
    /// # Errors
    /// When no book can be opened, the configuration is not valid where its books are asked for, the engine is not found, or
    /// settings are asked for where other machines can connect; or when the games cannot be read.
    pub fn new(
        options: &Options,
        address: SocketAddr,
        addresses: SyncSender<String>,
        progress: &Progress,
    ) -> Result<(Self, Receiver<Start>, Warnings)> {
        options.fit(&address)?;
        let mut warnings = Vec::new();
        let given = Given::default().with(ENGINE, options.engine.clone());
        let config = options.load(&given, &mut warnings)?;
        let settings = options.settings_of(config.as_ref());
        let (slots, policy) = match &config {
            Some(config) if options.books.is_empty() => {
                (configured(config, &mut warnings)?, config.options.policy.clone())
            }
            _ => (options.open_books(), Policy::default()),
        };
        if slots.iter().all(|slot| slot.error().is_some()) {
            let what = slots.first().and_then(Slot::error).unwrap_or_else(|| "there is no book".to_owned());
            return Err(Error::new(ErrorKind::File, what));
        }
        warnings.extend(slots.iter().filter_map(Slot::error));
        warnings.extend(slots.iter().filter_map(Slot::unread_store));
        let worded = if options.books.is_empty() { advice::other_rules } else { options.other_rules };
        let others = slots.iter().filter_map(|slot| slot.other_rules(progress));
        warnings.extend(others.map(|(path, other)| worded(&path, &other)));
        let shelf = Shelf::new(slots);
        let variant = variants::usual(options.variant, &shelf.variants());
        let beside = || shelf.of(variant).find_map(Slot::path);
        let games = (!options.games.is_empty())
            .then(|| GamesOfPosition::open(&options.games, (beside(), variant), progress, &mut warnings))
            .transpose()?;
        let program = options.program(config, given, &mut warnings)?;
        let token = options.token_file.as_deref().map(token::kept).transpose()?;
        warnings.extend(options.token_file.as_deref().and_then(token::exposed));
        let (starts, receiver) = channel();
        let explorer = Self {
            settings,
            guard: Guard::new(address, token, addresses)?.opened(options.open_api),
            shelf,
            variant,
            policy,
            edit: options.edit,
            playable: options.playable,
            engines: Engines::new(program, starts),
            feeds: Feeds::default(),
            games,
            kept: PageMemory::of_user(),
        };
        Ok((explorer, receiver, warnings))
    }

    /// Answers requests with the token from one book in memory, without a network: for tests and fuzzing.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn of_book(book: Arc<dyn Book>, token: String) -> Result<Self> {
        let ((starts, _), (addresses, _)) = (channel(), sync_channel(1));
        Ok(Self {
            guard: Guard::new(SocketAddr::from(([127, 0, 0, 1], 80)), Some(token), addresses)?,
            variant: book.variant(),
            shelf: Shelf::new(vec![Slot::of_book(book)]),
            policy: Policy::default(),
            edit: false,
            playable: false,
            engines: Engines::new(None, starts),
            feeds: Feeds::default(),
            games: None,
            kept: PageMemory::at(None),
            settings: Err(Settings::not_allowed()),
        })
    }

    /// The address of the page, with the code that opens it once.
    pub fn address(&self) -> String {
        self.guard.address()
    }
}

/// A book of the configuration.
struct Named {
    path: PathBuf,
    variant: Variant,
    /// The rules under which it is asked, with their numbers.
    rules: Vec<(usize, Rule)>,
    /// Whether it is asked when White and when Black is to move.
    asked: ByColor<bool>,
}

/// The books of the configuration, each once, with the rules that use it; and the starter book.
fn configured(config: &Config, warnings: &mut Warnings) -> Result<Vec<Slot>> {
    warnings.extend(config.warnings.iter().cloned());
    let mut named: Vec<Named> = Vec::new();
    for files in std::iter::once(&config.options.books).chain(&config.options.variants) {
        add_files(files, config, &mut named, warnings);
    }
    let open = |known: Named| {
        let slot = Slot::open(&known.path, known.variant, &Among::default(), known.rules);
        slot.asked_by(known.asked)
    };
    let mut slots: Vec<Slot> = named.into_iter().map(open).collect();
    // The adapter asks it only where no other book of standard chess is named.
    let alone = slots.iter().all(|slot| slot.variant != Variant::Chess);
    slots.push(Slot::of_book(book::starter_book()?).asked_by(ByColor::new_with(|_| alone)));
    Ok(slots)
}

/// Adds the books of a variant to those that are named already.
fn add_files(files: &BookFiles, config: &Config, named: &mut Vec<Named>, warnings: &mut Warnings) {
    let variant = files.variant;
    let mut add = |path: PathBuf, rule: Option<(usize, Rule)>, [white, black]: [bool; 2]| match named
        .iter_mut()
        .find(|known| known.path == path && known.variant == variant)
    {
        Some(known) => {
            known.rules.extend(rule);
            let ByColor { white: for_white, black: for_black } = known.asked;
            known.asked = ByColor { white: for_white || white, black: for_black || black };
        }
        None => {
            named.push(Named {
                path,
                variant,
                rules: rule.into_iter().collect(),
                asked: ByColor { white, black },
            });
        }
    };
    let mut add = |name: &str, rule: Option<(usize, Rule)>, asked: [bool; 2]| {
        match config.search_paths.find_books(name) {
            Ok(found) => {
                warnings.extend(found.lack_books().filter(|_| found.paths.is_empty()));
                found.paths.into_iter().for_each(|path| add(path, rule.clone(), asked));
            }
            // Opening it says what is wrong.
            Err(_) => add(Path::new(name).to_owned(), rule, asked),
        }
    };
    let lists: [(&BookList, [bool; 2]); 3] =
        [(&files.white, [true, false]), (&files.black, [false, true]), (&files.both, [true, true])];
    for (list, asked) in lists {
        list.files().iter().for_each(|name| add(name, None, asked));
    }
    for (number, rule) in (1..).zip(files.both.rules()) {
        let asked = |color| rule.color().is_none_or(|known| known == color);
        add(&rule.file, Some((number, rule.clone())), [asked(Color::White), asked(Color::Black)]);
    }
}

/// Opens a book after what a process that died has begun in it is finished; only these games count in it.
fn opened(path: &Path, variant: Variant, among: &Among) -> Result<Arc<dyn Book>> {
    if among.by().any() { book::open_among(path, among) } else { learn::open_settled_as(path, variant) }
}
