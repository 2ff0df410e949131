//! Count files as a book: a position is found in place, by the keys that the file is sorted by.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tabiya_base::error::{Error, Remedy, Result};
use tabiya_base::findings::{Finding, Findings};
use tabiya_base::progress::Progress;
use tabiya_chess::Position;

use super::check::{add_unopened, unopened};
use super::kept::KeptRows;
use super::seek::Keys;
use super::sums::MoveSums;
use super::{CountFile, CountsRow, Shape, Sum, damage, sum};
use crate::traits::Book;
use crate::{Among, BookSummary, By, Format, MoveFacts, Moves as _, Sliced, errors};

/// A count file, or a folder of them. A move weighs two for each win of the side that makes it and one for each draw, as in a
/// book that is built of the same games.
pub(super) struct CountBook {
    path: PathBuf,
    pub(super) files: Vec<(CountFile, Keys)>,
    /// What is kept of them while many positions are looked up.
    kept: KeptRows,
    /// The games that count.
    pub(super) among: Among,
    /// Why other files of its folder cannot be read.
    failed: Vec<Error>,
    /// What is damaged, once the book was read to its end.
    pub(super) damage: OnceLock<Vec<Finding>>,
    /// What look-ups could not read, by the numbers of files and their row groups.
    unread: Mutex<BTreeMap<(usize, usize), Error>>,
}

/// Opens the count files that `path` means as a book in which only these games count: their footers are read, their rows
/// are not. Files of a folder that cannot be opened are damage of the book.
///
/// # Errors
/// As [`CountFile::open`] if that is the only file or all fail, when the rows of a file are not sorted by keys, and when it does
/// not count these games separately.
pub fn open(path: &Path, names: &[PathBuf], among: &Among) -> Result<Arc<dyn Book>> {
    let (mut files, mut failed) = (Vec::with_capacity(names.len()), Vec::new());
    for name in names {
        match CountFile::open(name) {
            Ok(file) => files.push(Ok(file)),
            Err(error) => failed.push(error.or_at_path(name)),
        }
    }
    if files.is_empty() {
        files.extend(failed.pop().map(Err));
    }
    let book = CountBook { failed, ..CountBook::new(path, files)? };
    let wanted = Shape { positions: false, by: among.by() };
    book.files.iter().try_for_each(|(file, _)| file.require(wanted))?;
    Ok(Arc::new(CountBook { among: among.clone(), ..book }))
}

/// A book of a count file in memory; `path` is only its name.
///
/// # Errors
/// As [`open`].
pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Arc<dyn Book>> {
    Ok(Arc::new(CountBook::new(path, [CountFile::from_bytes(path, bytes)])?))
}

impl CountBook {
    fn new(path: &Path, files: impl IntoIterator<Item = Result<CountFile>>) -> Result<Self> {
        let sorted = |file: Result<CountFile>| {
            let file = file?;
            let keys = file.keys().ok_or_else(|| {
                Error::format(
                    file.path(),
                    "cannot look up positions in this count file: it is not sorted by key",
                )
                .advice("sort it")
                .remedied_by(Remedy::SortCounts)
            })?;
            Ok((file, keys))
        };
        let mut files = files.into_iter().map(sorted).collect::<Result<Vec<_>>>()?;
        let variants = || files.iter().map(|(file, _)| file.variant());
        if let Some((other, _)) =
            files.iter().find(|(file, _)| variants().next().is_some_and(|first| first != file.variant()))
        {
            let what =
                format!("this count file holds {}, the others beside it another variant", other.variant());
            return Err(Error::format(other.path(), what).advice("keep them in different folders"));
        }
        // Programs that write folders number their files in the order of the rows, but not all of them.
        files.sort_by_key(|(_, keys)| keys.bounds());
        let (among, kept) = (Among::default(), KeptRows::default());
        let (failed, damage, unread) = (Vec::new(), OnceLock::new(), Mutex::default());
        Ok(Self { path: path.to_owned(), files, kept, among, failed, damage, unread })
    }

    /// The moves in a position, of games that count and of these.
    pub(super) fn moves_of(&self, at: &Position, among: &Among) -> MoveSums {
        let mut moves = MoveSums::default();
        if at.variant() != self.variant() {
            return moves;
        }
        let by = self.among.by().or(among.by());
        for (number, (file, keys)) in self.files.iter().enumerate() {
            let mut add = |line: &CountsRow| {
                if self.among.has(line.slice) && among.has(line.slice) {
                    moves.add(line);
                }
            };
            if self.kept.of_key((number, file, keys), at.key(), by, &mut add) {
                continue;
            }
            if let Some((group, error)) = file.of_key(keys, at.key(), by, add) {
                let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
                unread.entry((number, group)).or_insert(error);
            }
        }
        moves
    }

    /// The files that cannot be opened, as findings.
    pub(super) fn unopened(&self) -> Vec<Finding> {
        unopened(&self.failed)
    }

    pub(super) fn has_positions(&self) -> bool {
        self.files.iter().all(|(file, _)| file.has_positions())
    }
}

impl Sliced for CountBook {
    fn by(&self) -> By {
        let all = By { speed: true, rating: true };
        self.files.iter().fold(all, |by, (file, _)| by.and(file.shape().by))
    }

    fn moves_among(&self, at: &Position, among: &Among, out: &mut Vec<MoveFacts>) -> bool {
        let knows = self.by().covers(among.by());
        if knows {
            out.extend(self.moves_of(at, among).facts().filter_map(|facts| facts.at(at)));
        }
        knows
    }
}

impl Book for CountBook {
    fn path(&self) -> &Path {
        &self.path
    }

    fn files(&self) -> Vec<PathBuf> {
        self.files.iter().map(|(file, _)| file.path().to_owned()).collect()
    }

    fn format(&self) -> Format {
        crate::counts::FORMAT
    }

    fn as_sliced(&self) -> Option<&dyn Sliced> {
        Some(self)
    }

    fn warnings(&self) -> Vec<String> {
        self.failed.iter().map(Error::with_source).collect()
    }

    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
        add_unopened(&self.failed, findings);
        self.sum(progress, findings)
    }

    fn damage(&self, progress: &Progress) -> Vec<Finding> {
        let groups = || errors(|findings| drop(self.sum(progress, findings)));
        self.damage.get_or_init(|| [self.unopened(), groups()].concat()).clone()
    }

    /// What look-ups could not read: the rest of the file is not read for that.
    fn damage_to_look_ups(&self, _: &Progress) -> Vec<Finding> {
        if let Some(known) = self.damage.get() {
            return known.clone();
        }
        let unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        let of_files = unread.iter().filter_map(|((number, group), error)| {
            self.files.get(*number).map(|(file, _)| (file, *group, error))
        });
        [self.unopened(), damage(of_files)].concat()
    }
}

impl CountBook {
    /// Reads the files that could be opened, and sums them up.
    fn sum(&self, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
        let mut sums = self.files.iter().map_while(|(file, _)| sum(file, progress, findings).ok());
        let mut whole = sums.next().unwrap_or_default();
        sums.for_each(|other| whole.add(&other));
        let Sum { rows, games, positions, .. } = whole;
        BookSummary { entries: rows, positions, games: Some(games), ..BookSummary::default() }
    }
}
