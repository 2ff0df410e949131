//! The work folder of a build that can be continued after a crash: the counts of each source that was read to its end.
//!
//! | file | contents |
//! |---|---|
//! | `lock` | locked while a build uses the folder |
//! | `build.json` | what decides about the counts: the version of tabiya, the columns, a digest of the filters |
//! | `NAME.parquet` | the counts of a source, as a count file; none if nothing of it counted |
//! | `NAME.json` | written after that: the state of the source, and what became of its games |
//!
//! NAME is a digest of the source's name. Each file is written beside its place, synced and renamed, so whatever is there
//! is whole, and a source without its second file is counted again.

mod record;

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use record::CountedSource;
use tabiya_base::bytes::hex;
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::folder;
use tabiya_base::lock::{Locked, lock_named};
use tabiya_base::progress::Progress;
use tabiya_base::replace::Replacement;
use tabiya_book::By;
use tabiya_book::counts::{CountFile, CountWriter, EXTENSION, Shape};
use tabiya_chess::Variant;
use tabiya_games::{Sources, Stamp};

use super::Resources;
use super::count::{CountedGames, count};
use super::count_rows::write_rows;
use super::filter::Filter;
use super::repeated::Repeated;
use super::report::BuildReport;
use super::row::CountedRow;

/// What is added to the name of the output.
const SUFFIX: &str = ".partial";
const LOCK: &str = "lock";
const BUILD: &str = "build.json";
const RECORD: &str = "json";

const CANNOT_KEEP: &str = "cannot keep unfinished work in this folder";

/// A record that is longer was not written by us.
const MAX_RECORD_LEN: u64 = 1 << 20;

/// How long a lock may last that another process holds only to look.
const PATIENCE: Duration = Duration::from_millis(500);

/// What decides about the counts of a source.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Build {
    tabiya: String,
    positions: bool,
    by: Vec<String>,
    games: String,
    /// As UCI has it; empty for standard chess.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    variant: String,
}

impl Build {
    fn new(filter: &Filter, shape: Shape, variant: Variant) -> serde_json::Result<Self> {
        let digest = Sha256::digest(serde_json::to_vec(filter)?);
        Ok(Self {
            tabiya: env!("CARGO_PKG_VERSION").to_owned(),
            positions: shape.positions,
            by: shape.by.columns().map(str::to_owned).collect(),
            games: hex(&digest),
            variant: if variant == Variant::Chess { String::new() } else { variant.uci().to_owned() },
        })
    }

    /// How it differs from another build.
    fn difference(&self, other: &Self) -> Option<&'static str> {
        if self.tabiya != other.tabiya {
            Some("it was started by another version of tabiya")
        } else if self.games != other.games {
            Some("it was started with other filters of games or moves")
        } else if self.variant != other.variant {
            Some("it was started for another variant of chess")
        } else if self != other {
            Some("it was started for an output that needs other counts")
        } else {
            None
        }
    }
}

/// The work folder of a build, locked.
#[derive(Debug)]
pub struct Work {
    folder: PathBuf,
    /// Held until the folder is removed.
    _lock: File,
    known: usize,
    changed: Vec<String>,
}

/// What was counted, now or before.
pub(super) struct KeptCounts {
    /// What became of the games.
    pub report: BuildReport,
    /// The count files of the sources.
    pub shards: Vec<PathBuf>,
}

impl Work {
    /// The work folder that belongs to an output.
    pub fn folder_of(output: &Path) -> PathBuf {
        folder::with_suffix(output, SUFFIX)
    }

    /// Begins or continues the work on an output.
    ///
    /// # Errors
    /// When the folder cannot be created or locked, is in use, or holds something else.
    pub fn open(output: &Path) -> Result<Self> {
        let folder = Self::folder_of(output);
        let cannot = |error| Error::file(&folder, CANNOT_KEEP, error);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(cannot(error)),
            _ => {}
        }
        let mut names = fs::read_dir(&folder).map_err(cannot)?.flatten().map(|entry| entry.file_name());
        if !folder.join(BUILD).exists() && names.any(|name| name != LOCK && !is_unfinished(&name)) {
            return Err(Error::new(ErrorKind::File, "this folder is not the unfinished work of a build")
                .at_path(&folder)
                .advice("move it away, or name another output"));
        }
        match lock_named(&folder.join(LOCK), PATIENCE, true).map_err(cannot)? {
            Locked::Ours(lock) => Ok(Self { folder, _lock: lock, known: 0, changed: Vec::new() }),
            Locked::Busy | Locked::Missing => {
                Err(Error::new(ErrorKind::File, "another tabiya is building with this folder")
                    .at_path(&folder)
                    .advice("wait until it is done"))
            }
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether there is anything in it that took work.
    pub fn has_counts(&self) -> bool {
        let names = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        names.into_iter().any(|path| {
            path.extension().is_some_and(|extension| extension == RECORD)
                && path.file_name().is_some_and(|name| name != BUILD)
        })
    }

    /// Sources that were changed after they were counted, and are counted again.
    pub fn changed(&self) -> &[String] {
        &self.changed
    }

    /// How many sources had been counted before.
    pub fn known(&self) -> usize {
        self.known
    }

    /// Counts each source that is not known yet, and keeps its counts.
    ///
    /// # Errors
    /// When the folder holds the work of another build, a file cannot be read or written, or the work is interrupted. What
    /// was finished is kept.
    pub(super) fn count<R: CountedRow>(
        &mut self,
        sources: &Sources,
        filter: &Filter,
        by: By,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<KeptCounts> {
        let shape = Shape { positions: R::PLACED, by };
        let build =
            Build::new(filter, shape, sources.variant()).map_err(|error| self.unwritable(error.into()))?;
        self.begin(&build)?;
        let all = sources.each()?.ok_or_else(|| {
            Error::new(ErrorKind::Usage, "a pipe can be read only once, so the build cannot be continued")
                .advice("write the games to a file, which may be compressed")
        })?;
        let mut kept = KeptCounts { report: BuildReport::default(), shards: Vec::new() };
        let mut times = HashMap::new();
        let mut names = Vec::with_capacity(all.len());
        for (_, stamp) in &all {
            // A source that is named twice counts twice.
            let time: &mut u32 = times.entry(stamp.name.clone()).or_default();
            *time += 1;
            names.push(if *time == 1 { stamp.name.clone() } else { format!("{}-{time}", stamp.name) });
        }
        let mut waiting = Vec::new();
        for ((games, stamp), name) in all.into_iter().zip(names) {
            if let Some((report, shard)) = self.known_as(&name, &stamp, shape) {
                self.known += 1;
                games.skip();
                kept.report.merge(report);
                kept.shards.extend(shard);
            } else {
                waiting.push((games, stamp, name));
            }
        }
        for (mut games, stamp, name) in waiting {
            let counted =
                count::<R>(&mut games, filter, by, &Repeated::default(), resources, None, progress)?;
            let CountedGames { runs, report, .. } = counted;
            let shard = self.shard(&name);
            let writer = CountWriter::create(&shard, shape, true)
                .map(|writer| writer.of_variant(sources.variant()))?;
            let written = write_rows(runs, resources, writer, progress)?;
            let rows = if written.plies > 0 { written.rows } else { 0 };
            let record = CountedSource { source: stamp.shown, state: stamp.state, rows, games: report };
            // What could not be read to its end may be readable the next time.
            if !record.games.is_incomplete() {
                self.put(&name, &record)?;
            }
            kept.report.merge(record.games);
            kept.shards.extend((rows > 0).then_some(shard));
        }
        Ok(kept)
    }

    /// Removes the folder, after the output is in place.
    pub fn remove(self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let is_ours = |path: &Path| {
            let extension = path.extension().unwrap_or_default();
            extension == EXTENSION || extension == RECORD || path.file_name().is_some_and(is_unfinished)
        };
        // First what says that a source is known, and last what says that the folder is ours.
        let order = |path: &PathBuf| {
            let is_record = path.extension().is_some_and(|extension| extension == RECORD);
            if path.file_name().is_some_and(|name| name == BUILD) { 2 } else { u8::from(!is_record) }
        };
        let mut paths: Vec<_> =
            entries.flatten().map(|entry| entry.path()).filter(|path| is_ours(path)).collect();
        paths.sort_by_key(order);
        for path in paths.into_iter().chain([self.folder.join(LOCK)]) {
            let _ = fs::remove_file(path);
        }
        // Where another file is in it, it stays.
        let Self { folder, _lock: lock, .. } = self;
        drop(lock);
        let _ = fs::remove_file(folder.join(LOCK));
        let _ = fs::remove_dir(folder);
    }

    /// Notes what decides about the counts, or refuses to go on with another build's.
    fn begin(&self, build: &Build) -> Result<()> {
        let path = self.folder.join(BUILD);
        let Some(bytes) = read_small(&path) else { return self.write(&path, build) };
        let difference = match serde_json::from_slice::<Build>(&bytes) {
            Ok(begun) => build.difference(&begun),
            Err(_) => Some("its description is damaged"),
        };
        let Some(difference) = difference else { return Ok(()) };
        let what = format!("the work in this folder cannot be continued: {difference}");
        Err(Error::new(ErrorKind::Usage, what)
            .at_path(&self.folder)
            .advice("run the same command as before, or remove the folder to start over"))
    }

    /// What is known of a source under this name, if it has not changed since.
    fn known_as(
        &mut self,
        name: &str,
        stamp: &Stamp,
        shape: Shape,
    ) -> Option<(BuildReport, Option<PathBuf>)> {
        let record = CountedSource::read(&read_small(&self.record(name))?)?;
        if record.state != stamp.state {
            self.changed.push(stamp.shown.clone());
            return None;
        }
        let shard = (record.rows > 0).then(|| self.shard(name));
        if let Some(shard) = &shard {
            let file = CountFile::open(shard).ok()?;
            if file.rows() != record.rows || file.require(shape).is_err() {
                return None;
            }
        }
        Some((record.games, shard))
    }

    fn unwritable(&self, error: std::io::Error) -> Error {
        Error::file(&self.folder, CANNOT_KEEP, error)
    }

    fn put(&self, name: &str, record: &CountedSource) -> Result<()> {
        self.write(&self.record(name), record)
    }

    fn write(&self, path: &Path, what: &impl Serialize) -> Result<()> {
        Replacement::new(path, true)?.commit_json(what)
    }

    fn shard(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.{EXTENSION}"))
    }

    fn record(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.{RECORD}"))
    }
}

/// Whether a name is that of an unfinished file, which the next one to write into the folder removes.
fn is_unfinished(name: &std::ffi::OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with(".tabiya-") && name.ends_with(".part")
}

/// The bytes of a file that ours are never longer than; `None` if it is missing or longer.
fn read_small(path: &Path) -> Option<Vec<u8>> {
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_RECORD_LEN {
        return None;
    }
    fs::read(path).ok()
}

#[cfg(all(test, feature = "counts"))]
mod tests;
