//! What of tabiya's crates is used for books, promised or not; `stream.rs` has what is used for games. Nothing else names these crates.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use tabiya_base::error::{Error, ErrorKind, Result};
pub use tabiya_base::findings::Finding;
use tabiya_base::findings::{Severity, listed};
use tabiya_base::interrupt;
pub use tabiya_base::interrupt::Interrupt;
use tabiya_base::map::Map;
use tabiya_base::progress::Progress;
use tabiya_base::truncated;
pub use tabiya_base::truncated::outlive as outlive_truncated_files;
use tabiya_base::visit::Break;
use tabiya_book::choose::chances_in;
pub use tabiya_book::choose::{MAX_LOSS_LIMIT, Policy, Weights, draw};
use tabiya_book::counts::{CountFile, sum};
pub use tabiya_book::edit::EditValue;
use tabiya_book::polyglot::entry::PolyglotEntry as RawEntry;
use tabiya_book::polyglot::{self, Polyglot};
pub use tabiya_book::traits::Book;
use tabiya_book::{self as book, PositionRecord, Scope, in_any_case, parts, plain_weights, stated_variant};
pub use tabiya_book::{Annotation, BookSet, Counts, Learned, MoveFacts, Ratings, Recommendation, Written};
pub use tabiya_chess::openings::{ChosenOpenings, Opening};
use tabiya_chess::setup_leniently;
pub use tabiya_chess::{
    Game, MoveCode, Position, Variant, known_variants, named_variant, rules_of, variant_facts, variant_name,
};
use tabiya_games::databases;
pub use tabiya_games::{Date, PlayerName};
use tabiya_search::evals::open_beside;
pub use tabiya_workshop::bookmaker::{BuildReport, CountedMoves, Filter, NewBook, TagPattern, Tags, Weigh};
use tabiya_workshop::edit::{EditOutcome, Editor, LineWish, plan_line};
pub use tabiya_workshop::edit::{Line, LineChange, LineCounts};
use tabiya_workshop::source::Source;

use shakmaty::variant::VariantPosition;
use shakmaty::{CastlingMode, Position as _, Setup};

/// An open book. Of a Polyglot book the entries are known as they are in the file.
#[derive(Clone)]
pub struct OpenBook {
    pub book: Arc<dyn Book>,
    polyglot: Option<Arc<Polyglot>>,
    files: Arc<[OpenFile]>,
}

/// An entry of a book.
#[derive(Clone, Copy)]
pub struct Found {
    /// What the book says of the move.
    pub facts: MoveFacts,
    /// The move as the file has it.
    pub raw: MoveCode,
    /// The learn field of a Polyglot book as the file has it.
    pub learn: u32,
}

/// An entry as a file has it, of a position or just of a key.
pub struct Raw {
    pub key: u64,
    pub at: Option<Arc<Position>>,
    pub facts: MoveFacts<MoveCode>,
    pub learn: u32,
}

impl OpenBook {
    /// Opens a book. An empty file is a Polyglot book without entries, as it is in python-chess. A count file says its variant; a
    /// Polyglot book is one of whatever variant a board has, as in python-chess.
    ///
    /// # Errors
    /// As those of tabiya.
    pub fn open(path: &Path) -> Result<Self> {
        let opened = book::open_as(path, stated_variant(path).unwrap_or_default());
        if opened.is_err() && is_empty(path) {
            return Ok(Self::polyglot(Polyglot::new(path, Vec::new())));
        }
        let book = opened?;
        if book.format() == polyglot::FORMAT {
            return Ok(Self::polyglot(Polyglot::new(path, Map::open(path)?)));
        }
        Ok(Self { files: files_of(path), book, polyglot: None })
    }

    fn polyglot(polyglot: Polyglot) -> Self {
        let polyglot = Arc::new(polyglot.of_any_variant());
        let files = files_of(polyglot.path());
        Self { book: Arc::clone(&polyglot) as _, polyglot: Some(polyglot), files }
    }

    /// Checks that no file of the book was truncated since it was opened: what is missing reads as zeros.
    ///
    /// # Errors
    /// When one was.
    pub fn check_len(&self) -> Result<()> {
        self.files.iter().try_for_each(OpenFile::check_len)
    }

    /// As [`OpenBook::check_len`], at the price of one comparison while no book of the process has lost pages.
    ///
    /// # Errors
    /// When a file was truncated, and pages of it were missed.
    pub fn check_pages(&self) -> Result<()> {
        if truncated::any() { self.check_len() } else { Ok(()) }
    }

    /// The moves in a position. With `tournament` the weights are those that colours, marks and limits leave.
    pub fn find(&self, at: &Position, tournament: bool) -> Vec<Found> {
        let mut moves = Vec::new();
        self.book.moves(at, &mut moves);
        if tournament && self.polyglot.is_none() {
            let mut record = PositionRecord::from_moves(at, &moves);
            plain_weights(&mut record);
            moves.iter_mut().zip(record.moves).for_each(|(facts, left)| facts.weight = left.weight);
        }
        let found = |facts: MoveFacts| Found { facts, raw: MoveCode::from_move(facts.mv), learn: 0 };
        let mut found: Vec<Found> = moves.into_iter().map(found).collect();
        if let Some(polyglot) = self.polyglot.as_ref().filter(|_| !found.is_empty()) {
            let mut last = None;
            for entry in polyglot.entries().find(at.key()) {
                // Of entries in sequence that repeat a move the first counts.
                if last.replace(entry.mv) != Some(entry.mv) {
                    complete(&mut found, &entry, at);
                }
            }
        }
        found
    }

    /// The entries of a key, as the file has them; `None` if the book is not asked by keys.
    pub fn of_key(&self, key: u64) -> Option<Vec<Raw>> {
        Some(self.polyglot.as_ref()?.entries().find(key).map(raw).collect())
    }

    /// The entry of a number; `None` in the outer place if the entries of the book have no numbers.
    pub fn entry(&self, number: usize) -> Option<Option<Raw>> {
        Some(self.polyglot.as_ref()?.entries().get(number).map(raw))
    }

    /// The entries of these numbers that there are, all read before the file was truncated, if it was.
    ///
    /// # Errors
    /// When it was.
    pub fn part(&self, numbers: Range<usize>) -> Result<Vec<Raw>> {
        let raws = numbers.map_while(|number| self.entry(number).flatten()).collect();
        self.check_len().map(|()| raws)
    }

    /// How many entries there are, if that is known without reading all of the book.
    pub fn quick_len(&self) -> Option<usize> {
        Some(self.polyglot.as_ref()?.entries().len())
    }

    /// How many moves there are. Reads the whole book.
    ///
    /// # Errors
    /// When the work is interrupted.
    pub fn count(&self) -> Result<u64> {
        let mut count = 0;
        self.each(&mut |_| {
            count += 1;
            !interrupt::asked()
        })?;
        interrupt::check().map(|()| count)
    }

    /// Shows all moves of the book until `see` returns `false`.
    ///
    /// # Errors
    /// When the work is interrupted.
    pub fn each(&self, see: &mut dyn FnMut(Raw) -> bool) -> Result<()> {
        let show = &mut |record: &PositionRecord| {
            let at = record.position.clone().map(Arc::new);
            for facts in &record.moves {
                let learn = facts.learned.map_or(0, |learned| learned.games << 16 | learned.halfpoints);
                if !see(Raw { key: record.key, at: at.clone(), facts: *facts, learn }) {
                    return Err(Break::Enough);
                }
            }
            Ok(())
        };
        self.book.each(Scope::All, &Progress::none(), show)?;
        self.check_len()
    }

    /// What the book says of a position in words.
    pub fn comment(&self, at: &Position) -> Option<String> {
        self.book.as_remarks()?.comment(at)
    }
}

/// A file that was mapped, as it was then. Unix lets other programs truncate it meanwhile.
struct OpenFile {
    path: PathBuf,
    #[cfg(unix)]
    stamp: Option<(u64, u64, u64)>,
}

impl OpenFile {
    fn new(path: PathBuf) -> Self {
        Self {
            #[cfg(unix)]
            stamp: stamp_of(&path),
            path,
        }
    }

    /// A file that was replaced is another one: the old one is still mapped.
    fn check_len(&self) -> Result<()> {
        #[cfg(unix)]
        if let (Some((device, inode, len)), Some(now)) = (self.stamp, stamp_of(&self.path))
            && (device, inode) == (now.0, now.1)
            && now.2 < len
        {
            let what = format!("the file was truncated while it was read, from {len} bytes to {}", now.2);
            return Err(Error::format(&self.path, what)
                .advice("open it again; to replace a file that is open, rename the new one over it"));
        }
        Ok(())
    }
}

/// The device, the number and the length of a file.
#[cfg(unix)]
fn stamp_of(path: &Path) -> Option<(u64, u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino(), metadata.len()))
}

/// The files of a book, as they are now.
fn files_of(path: &Path) -> Arc<[OpenFile]> {
    let path = in_any_case(path).unwrap_or_else(|| path.to_owned());
    let counts = match Source::at(&path) {
        Ok(Source::Counts(found)) => found.files,
        _ => Vec::new(),
    };
    parts(&path).into_iter().chain(counts).map(OpenFile::new).collect()
}

/// Adds what the file has of an entry to its move.
fn complete(found: &mut [Found], entry: &RawEntry, at: &Position) {
    let found = match found.iter().position(|found| found.raw == entry.mv) {
        Some(place) => found.get_mut(place),
        // Castling in its old form.
        None => found.iter_mut().find(|found| MoveCode::codes(found.facts.mv, at.chess())[1] == entry.mv),
    };
    if let Some(found) = found {
        (found.raw, found.learn) = (entry.mv, learn(entry));
    }
}

fn learn(entry: &RawEntry) -> u32 {
    u32::from(entry.games) << 16 | u32::from(entry.halfpoints)
}

fn raw(entry: RawEntry) -> Raw {
    Raw { key: entry.key, at: None, facts: entry.facts(entry.mv), learn: learn(&entry) }
}

fn is_empty(path: &Path) -> bool {
    // A name of another format is never that of an empty Polyglot book.
    let other = book::Format::of_name(path).is_some_and(|format| format != polyglot::FORMAT);
    !other && fs::metadata(path).is_ok_and(|metadata| metadata.len() == 0 && !metadata.is_dir())
}

/// The book inside the executable.
///
/// # Errors
/// Never.
pub fn starter() -> Result<Arc<dyn Book>> {
    book::starter_book()
}

/// A position that can be played on, as leniently as tabiya reads a FEN.
pub fn position(setup: Setup, mode: CastlingMode, variant: Variant) -> Option<Position> {
    let chess = VariantPosition::from_setup(variant, setup, mode).or_else(setup_leniently);
    chess.ok().map(Position::from_chess)
}

/// How castling is written in a position: as the king's two steps, unless ordinary chess does not have its castling rights.
pub fn mode_of(at: &Position) -> CastlingMode {
    use shakmaty::{Color, File, Square};
    let rooks = at.chess().castles().castling_rights();
    let ordinary = |rook: Square| {
        let color = if rook.rank() == Color::White.backrank() { Color::White } else { Color::Black };
        let king = at.chess().board().king_of(color).map(Square::file);
        matches!(rook.file(), File::A | File::H) && king == Some(File::E)
    };
    CastlingMode::from_chess960(!rooks.into_iter().all(ordinary))
}

/// Several books as one, with the evaluations beside them where `evaluated`; and why some of these cannot be opened.
pub fn book_set(
    white: &[Arc<dyn Book>],
    black: &[Arc<dyn Book>],
    both: &[Arc<dyn Book>],
    evaluated: bool,
) -> Result<BookSet> {
    let set = BookSet::new(white, black, both);
    if !evaluated {
        return Ok(set);
    }
    let (opened, failed) = open_beside(&[white, black, both].concat());
    match failed.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(set.with_evaluations(opened)),
    }
}

/// A book that answers, its moves in its order, and the chance of each.
pub type Advice = (Arc<dyn Book>, Vec<MoveFacts>, Vec<f64>);

/// The first book with a playable move: its moves in the book's order, and the chance of each. This is the adapter's choice.
pub fn advice(set: &mut BookSet, game: &Game, policy: &Policy) -> Option<Advice> {
    let turn = game.position().chess().turn();
    for number in 0..set.books(turn).len() {
        let Some(book) = set.books(turn).get(number).cloned() else { break };
        let found = chances_in(&*book, (set, 0), game, policy);
        if found.chances.iter().any(|chance| *chance > 0.0) {
            return Some((book, found.moves, found.chances));
        }
    }
    None
}

/// Does work that reads books, and checks that none of them was truncated meanwhile.
///
/// # Errors
/// When one was, and those of the work.
pub fn reading<T>(books: &[PathBuf], work: impl FnOnce() -> Result<T>) -> Result<T> {
    let files: Vec<_> = books.iter().map(|path| files_of(path)).collect();
    let done = work()?;
    files.iter().flat_map(|files| files.iter()).try_for_each(OpenFile::check_len)?;
    Ok(done)
}

/// Reads a book, a count file, a folder of them or a database to its end, and reports what is wrong with it. A Polyglot book is
/// read as one of the variant; a count file says its own.
///
/// # Errors
/// When it cannot be opened, or the work is interrupted.
pub fn check(path: &Path, variant: Variant) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    let report = &mut |finding| found.push(finding);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    match Source::at(path)? {
        Source::Database => {
            let db = databases::open(path)?;
            let at = |_| interrupt::check();
            listed(report, |findings| db.check(threads, &at, findings))?;
        }
        Source::Counts(counts) => {
            let files = counts.whole()?;
            let files = files.iter().map(|path| CountFile::open(path)).collect::<Result<Vec<_>>>()?;
            listed(report, |findings| {
                files.iter().try_for_each(|file| sum(file, &Progress::none(), findings).map(drop))
            })?;
        }
        _ => {
            let book = book::open_as(path, variant)?;
            if let Some(other) = book.other_rules(variant, &Progress::none()) {
                let what = format!("{other}: pass variant=\"{}\"", other.likely);
                report(Finding {
                    severity: Severity::Error,
                    what,
                    count: 1,
                    offset: None,
                    file: None,
                    means: "",
                });
            }
            book.check(&Progress::none(), report);
        }
    }
    interrupt::check().map(|()| found)
}

/// Adds a line to a book or deletes it, or says what that would do.
///
/// # Errors
/// When the book cannot be opened, edited or written: it is unchanged then.
pub fn edit_line(
    path: &Path,
    variant: Variant,
    line: &Line,
    change: LineChange,
    dry: bool,
) -> Result<LineCounts> {
    if dry {
        return plan_line(&*book::open_as(path, variant)?, line, change, &Progress::none());
    }
    let wish = LineWish { line, change, expected: None };
    match Editor::new(path).of_variant(variant).edit_line(&wish, &Progress::none())? {
        EditOutcome::Made(made) => match made.unread {
            Some(error) => Err(error),
            None => Ok(made.counts()),
        },
        _ => Ok(LineCounts::default()),
    }
}
