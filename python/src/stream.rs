//! What of tabiya's crates is used for games; `library.rs` has what is used for books.

use std::collections::VecDeque;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use shakmaty::{ByColor, CastlingMode, Color, Move, Position as _, Square};
use tabiya_games::database::Database;
use tabiya_games::database::export::{ExportOptions, export};
use tabiya_games::databases;
use tabiya_games::pgn::Pgn;
use tabiya_games::{self as games, Batch, GameEnd, GameHeader, KeyedPly, Sources, Visitor, decode_text};
pub use tabiya_games::{GameError, GameResult, LineOrGame};

use crate::library::{Error, MoveCode, Position, Result, Variant, mode_of, variant_facts, variant_name};
use crate::moves;

/// Games of a database that are turned into text at once.
const RUN: u32 = 64;

/// Values of the tag `Variant` with which python-chess plays Chess960.
const CHESS960: [&str; 5] = ["chess960", "chess 960", "fischerandom", "fischerrandom", "fischer random"];

/// A game, or why there is none.
pub enum Item {
    Line(Box<Line>),
    Game(Box<Game>),
    Unreadable(GameError),
}

/// A main line, and what is known of its game.
pub struct Line {
    pub header: GameHeader,
    pub variant: Variant,
    pub mode: CastlingMode,
    pub moves: Vec<MoveCode>,
    pub result: Option<GameResult>,
    pub error: Option<GameError>,
}

/// A game with all that its source says.
pub struct Game {
    /// The tags, in the order of the source.
    pub tags: Vec<(String, String)>,
    pub events: Vec<Event>,
    pub result: Option<GameResult>,
    pub errors: Vec<GameError>,
}

/// What follows in a game.
pub enum Event {
    Move(MoveCode),
    Open,
    Close,
    Glyph(u8),
    Comment(String),
}

/// The result as PGN has it.
pub fn result_text(result: Option<GameResult>) -> &'static str {
    match result {
        Some(GameResult::White) => "1-0",
        Some(GameResult::Black) => "0-1",
        Some(GameResult::Draw) => "1/2-1/2",
        None => "*",
    }
}

/// The tags of a header that holds no others.
pub fn tags_of(line: &Line) -> Vec<(&'static str, String)> {
    let GameHeader { event, site, date, round, white, black, white_elo, black_elo, start, .. } = &line.header;
    let known = |text: &str| if text.is_empty() { "?".to_owned() } else { text.to_owned() };
    let mut tags = vec![
        ("Event", known(event)),
        ("Site", known(site)),
        ("Date", date.to_string()),
        ("Round", known(round)),
        ("White", known(white)),
        ("Black", known(black)),
        ("Result", result_text(line.result).to_owned()),
    ];
    for (name, elo) in [("WhiteElo", white_elo), ("BlackElo", black_elo)] {
        tags.extend(elo.map(|elo| (name, elo.to_string())));
    }
    if line.variant != Variant::Chess {
        tags.push(("Variant", variant_name(line.variant).to_owned()));
    }
    if let Some(start) = start {
        if line.mode.is_chess960() {
            tags.push(("Variant", "Chess960".to_owned()));
        }
        tags.extend([("SetUp", "1".to_owned()), ("FEN", start.fen())]);
    }
    tags
}

/// Games one after another.
pub struct Stream {
    parts: VecDeque<Part>,
    current: Option<Current>,
    found: VecDeque<Item>,
    lines_only: bool,
    variant: Variant,
    /// Why files in folders that look as if they held games cannot be read.
    passed_over: Vec<GameFailure>,
}

/// A file that was passed over: its error as text.
pub type GameFailure = String;

/// Files that are read next.
enum Part {
    Text(PathBuf),
    Database(PathBuf),
    All(Box<Sources>),
}

/// The file that is read.
enum Current {
    Sources(Box<Sources>),
    Database(Arc<dyn Database>, u32),
}

impl Stream {
    /// Opens the games of files and folders that are of a variant.
    ///
    /// # Errors
    /// When a file is missing, holds no games, or none of this variant.
    pub fn open(paths: &[PathBuf], lines_only: bool, variant: Variant) -> Result<Self> {
        let sources = games::open_files(paths)?.of_variant(variant)?;
        let passed_over = sources.passed_over().iter().map(Error::with_source).collect();
        let parts = match lines_only {
            true => VecDeque::from([Part::All(Box::new(sources))]),
            false => parts(&sources),
        };
        Ok(Self { parts, current: None, found: VecDeque::new(), lines_only, variant, passed_over })
    }

    /// Takes the errors of files that were passed over.
    pub fn passed_over(&mut self) -> Vec<GameFailure> {
        std::mem::take(&mut self.passed_over)
    }

    /// The next game, if one was read already.
    pub fn ready(&mut self) -> Option<Item> {
        self.found.pop_front()
    }

    /// Reads some more games; `false` at the end.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn read(&mut self) -> Result<bool> {
        match &mut self.current {
            Some(Current::Sources(sources)) => match sources.next_batch()? {
                Some(batch) => self.play(batch),
                None => self.current = None,
            },
            Some(Current::Database(db, next)) => {
                let (first, last) = (*next, next.saturating_add(RUN - 1).min(db.count()));
                if first > last {
                    self.current = None;
                } else {
                    *next = last + 1;
                    let text = text_of(&**db, (first, last))?;
                    let mut pgn = Pgn::new(Arc::from(db.path()), Cursor::new(text));
                    while let Some(batch) = pgn.next_batch() {
                        self.play(batch);
                    }
                }
            }
            None => match self.parts.pop_front() {
                None => return Ok(false),
                Some(Part::All(sources)) => self.current = Some(Current::Sources(sources)),
                Some(Part::Text(path)) => {
                    self.current = Some(Current::Sources(Box::new(
                        games::open_files(&[path])?.of_variant(self.variant)?,
                    )));
                }
                Some(Part::Database(path)) => {
                    self.current = Some(Current::Database(databases::open(&path)?, 1))
                }
            },
        }
        Ok(true)
    }

    fn play(&mut self, batch: Box<dyn Batch>) {
        if self.lines_only {
            batch.play(&mut Lines { found: &mut self.found, variant: self.variant, line: None });
        } else {
            batch.play(&mut Games {
                found: &mut self.found,
                game: None,
                mode: CastlingMode::Standard,
                left_out: 0,
            });
        }
    }
}

/// The files of sources, each once, and archives in place of what is in them: databases are read as text, so that they have
/// comments and all tags.
fn parts(sources: &Sources) -> VecDeque<Part> {
    let mut parts = VecDeque::new();
    let mut last = None;
    for name in sources.files() {
        // Standard input has no file.
        let file = name.ancestors().find(|path| path.is_file()).unwrap_or(&name).to_owned();
        if last.as_ref() == Some(&file) {
            continue;
        }
        parts.push_back(if databases::is_named(&file) {
            Part::Database(file.clone())
        } else {
            Part::Text(file.clone())
        });
        last = Some(file);
    }
    parts
}

/// Games of a database as text.
fn text_of(db: &dyn Database, games: (u32, u32)) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    let options = ExportOptions::new(games);
    export(db, &options, &mut |text, _, _| {
        all.extend_from_slice(text);
        Ok(())
    })?;
    Ok(all)
}

/// How python-chess writes castling in a game.
fn mode_in(variant: Option<&str>, start: Option<&Position>) -> CastlingMode {
    let named = variant.is_some_and(|variant| CHESS960.contains(&&*variant.to_ascii_lowercase()));
    if named { CastlingMode::Chess960 } else { start.map_or(CastlingMode::Standard, mode_of) }
}

/// Keeps main lines.
struct Lines<'a> {
    found: &'a mut VecDeque<Item>,
    variant: Variant,
    line: Option<Line>,
}

impl Visitor for Lines<'_> {
    fn begin(&mut self, header: &GameHeader) -> bool {
        let mode = mode_in(None, header.start.as_ref());
        let (header, variant) = (header.clone(), self.variant);
        self.line = Some(Line { header, variant, mode, moves: Vec::new(), result: None, error: None });
        true
    }

    fn ply(&mut self, _: &Position, mv: Move) -> ControlFlow<()> {
        if let Some(line) = &mut self.line {
            line.moves.push(moves::code(mv, line.mode));
        }
        ControlFlow::Continue(())
    }

    fn keyed_plies(&self) -> Option<usize> {
        Some(usize::MAX)
    }

    fn keyed_line(&mut self, plies: &[KeyedPly]) {
        if let Some(line) = &mut self.line {
            let ordinary = || Position::start_of(line.variant);
            let start = line.header.start.clone().unwrap_or_else(ordinary);
            let castles = !line.mode.is_chess960() && !variant_facts(line.variant).has_common_kings;
            let king = |color| start.chess().board().king_of(color).filter(|_| castles);
            let mut kings = Kings(ByColor { white: king(Color::White), black: king(Color::Black) });
            line.moves = plies.iter().map(|ply| kings.play(ply.side, ply.mv)).collect();
        }
    }

    fn end(&mut self, end: GameEnd) {
        if let Some(line) = self.line.take() {
            let line = Line { result: end.result, error: end.error, ..line };
            self.found.push_back(Item::Line(Box::new(line)));
        }
    }

    fn unreadable(&mut self, error: GameError) {
        self.found.push_back(Item::Unreadable(error));
    }
}

/// Where the kings that castle by their two steps are, which tells castling from other moves.
struct Kings(ByColor<Option<Square>>);

impl Kings {
    /// The code of a move in which the king castles by its two steps instead of taking its rook.
    fn play(&mut self, side: Color, code: MoveCode) -> MoveCode {
        let king = self.0.get_mut(side);
        let (from, to) = (code.from(), code.to());
        if *king != Some(from) {
            return code;
        }
        let code = if from.file().distance(to.file()) > 1 {
            let file = if to > from { shakmaty::File::G } else { shakmaty::File::C };
            MoveCode::new(from, Square::from_coords(file, from.rank()), None)
        } else {
            code
        };
        *king = Some(code.to());
        code
    }
}

/// Keeps all of each game.
struct Games<'a> {
    found: &'a mut VecDeque<Item>,
    game: Option<Game>,
    mode: CastlingMode,
    /// Open variations that are left out: those before the first move of a line, which python-chess does not have.
    left_out: u32,
}

impl Games<'_> {
    fn put(&mut self, event: Event) {
        let Some(game) = &mut self.game else { return };
        let mut before = game.events.iter().rev();
        let mut follows_move = || {
            let before = before.find(|event| !matches!(event, Event::Comment(_) | Event::Glyph(_)));
            matches!(before, Some(Event::Move(_) | Event::Close))
        };
        match event {
            Event::Open if self.left_out > 0 || !follows_move() => self.left_out += 1,
            Event::Close if self.left_out > 0 => self.left_out -= 1,
            _ if self.left_out > 0 => {}
            event => game.events.push(event),
        }
    }
}

impl Visitor for Games<'_> {
    fn wants_all_tags(&self) -> bool {
        true
    }

    fn begin(&mut self, header: &GameHeader) -> bool {
        let variant = header.tags.iter().find(|(name, _)| name == "Variant").map(|(_, text)| &**text);
        self.mode = mode_in(variant, header.start.as_ref());
        self.left_out = 0;
        self.game =
            Some(Game { tags: header.tags.clone(), events: Vec::new(), result: None, errors: Vec::new() });
        true
    }

    fn ply(&mut self, _: &Position, mv: Move) -> ControlFlow<()> {
        self.put(Event::Move(moves::code(mv, self.mode)));
        ControlFlow::Continue(())
    }

    fn pass(&mut self) -> bool {
        // python-chess codes it so too.
        self.put(Event::Move(MoveCode::NULL));
        true
    }

    fn wants_variations(&self) -> bool {
        true
    }

    fn begin_variation(&mut self) {
        self.put(Event::Open);
    }

    fn end_variation(&mut self) {
        self.put(Event::Close);
    }

    fn wants_remarks(&self) -> bool {
        true
    }

    fn glyph(&mut self, number: u8) {
        self.put(Event::Glyph(number));
    }

    fn comment(&mut self, text: &[u8]) {
        self.put(Event::Comment(decode_text(text).trim().to_owned()));
    }

    fn end(&mut self, end: GameEnd) {
        if let Some(game) = self.game.take() {
            let errors = end.error.into_iter().chain(end.cut).collect();
            self.found.push_back(Item::Game(Box::new(Game { result: end.result, errors, ..game })));
        }
    }

    fn unreadable(&mut self, error: GameError) {
        self.found.push_back(Item::Unreadable(error));
    }
}

/// The file of an error, as text.
pub fn file_of(error: &GameError) -> String {
    let file: &Path = &error.place.file;
    file.to_string_lossy().into_owned()
}
