//! The work folder of a build that can be continued after a crash: the counts of each source that was read to its end.
//!
//! | file | contents |
//! |---|---|
//! | `lock` | locked while a build uses the folder |
//! | `build.json` | what decides about the counts: the version of tabiya, the columns, a digest of the filters |
//! | `NAME.parquet` | the counts of some sources, as a count file; none if nothing of them counted |
//! | `NAME.json` | written after that: the states of the sources, and what became of their games |
//!
//! Small sources are counted together: a file of one game takes less time than syncing two. NAME is a digest of the first one's
//! name. Each file is written beside its place, synced and renamed, so whatever is there is whole, and sources without their
//! second file are counted again.

mod record;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use record::{CountedGroup, CountedSource};
use tabiya_base::bytes::hex;
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::folder;
use tabiya_base::lock::{Locked, lock_named};
use tabiya_base::progress::Progress;
use tabiya_base::replace::Replacement;
use tabiya_book::By;
use tabiya_chess::Variant;
use tabiya_games::{Sources, Stamp};

use super::Resources;
use super::count::{CountedGames, count};
use super::count_rows::{EXTENSION, NewCounts, is_whole};
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

/// Bytes of sources that are counted together, which takes well under a second, and how many there may be.
const MAX_GROUP_LEN: u64 = 4 << 20;
const MAX_GROUP: usize = 1000;

/// A record that is longer was not written by us: this is enough for the longest paths of that many sources.
const MAX_RECORD_LEN: u64 = 1 << 23;

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
    fn new(filter: &Filter, (positions, by): (bool, By), variant: Variant) -> serde_json::Result<Self> {
        let digest = Sha256::digest(serde_json::to_vec(filter)?);
        Ok(Self {
            tabiya: env!("CARGO_PKG_VERSION").to_owned(),
            positions,
            by: by.columns().map(str::to_owned).collect(),
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
    pub(crate) fn folder_of(output: &Path) -> PathBuf {
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
        names.into_iter().any(|path| is_record(&path))
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
        let build = Build::new(filter, (R::PLACED, by), sources.variant())
            .map_err(|error| self.unwritable(error.into()))?;
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
        let known = self.known_groups::<R>(&all, &names, by);
        let mut is_known = vec![false; all.len()];
        for (group, members) in known {
            members
                .into_iter()
                .for_each(|at| is_known.get_mut(at).into_iter().for_each(|known| *known = true));
            self.known += group.sources.len();
            kept.shards.extend(self.shard_of(&group));
            kept.report.merge(group.games);
        }
        let mut waiting: Vec<Group> = Vec::new();
        for (((games, stamp), name), is_known) in all.into_iter().zip(names).zip(is_known) {
            if is_known {
                games.skip();
                continue;
            }
            let source = CountedSource { name, source: stamp.shown, state: stamp.state };
            match waiting.last_mut().filter(|group| group.has_room(&games)) {
                Some(group) => group.add(games, source),
                None => waiting.push(Group { games, sources: vec![source] }),
            }
        }
        for Group { mut games, sources: members } in waiting {
            let counted =
                count::<R>(&mut games, filter, by, &Repeated::default(), resources, None, progress)?;
            let CountedGames { runs, report, .. } = counted;
            let mut group = CountedGroup { sources: members, rows: 0, games: report };
            let shard = self.shard(group.name());
            let new = NewCounts::create(&shard, R::PLACED, by, sources.variant(), true)?;
            let (_, written) = new.write(runs.into(), resources, progress)?;
            group.rows = if written.plies > 0 { written.rows } else { 0 };
            // What could not be read to its end may be readable the next time.
            if !group.games.is_incomplete() {
                self.put(&group)?;
            }
            kept.shards.extend((group.rows > 0).then_some(shard));
            kept.report.merge(group.games);
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

    /// What is known of sources that have not changed since, each with the places of its sources in `all`, which have these
    /// `names`. No source is in two of them.
    fn known_groups<R: CountedRow>(
        &mut self,
        all: &[(Sources, Stamp)],
        names: &[String],
        by: By,
    ) -> Vec<(CountedGroup, Vec<usize>)> {
        let places: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
        let (mut groups, mut taken, mut changed) = (Vec::new(), HashSet::new(), BTreeMap::new());
        for group in self.groups() {
            let members = group.sources.iter().map(|source| places.get(&*source.name).copied());
            let Some(members) = members.collect::<Option<Vec<usize>>>() else { continue };
            let stamps = members.iter().filter_map(|at| all.get(*at).map(|(_, stamp)| (*at, stamp)));
            let others =
                stamps.zip(&group.sources).filter(|((_, stamp), source)| stamp.state != source.state);
            let others: Vec<_> = others.map(|((at, stamp), _)| (at, stamp.shown.clone())).collect();
            let is_same = others.is_empty();
            changed.extend(others);
            if is_same && members.iter().all(|at| !taken.contains(at)) && self.has_counts_of::<R>(&group, by)
            {
                taken.extend(members.iter().copied());
                groups.push((group, members));
            }
        }
        changed.retain(|at, _| !taken.contains(at));
        self.changed.extend(changed.into_values());
        groups
    }

    /// All that was counted: what holds most sources first, then by the names of the files.
    fn groups(&self) -> Vec<CountedGroup> {
        let paths = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut groups: Vec<_> = paths
            .filter(|path| is_record(path))
            .filter_map(|path| {
                let group = CountedGroup::read(&read_small(&path)?)?;
                path.file_stem().is_some_and(|stem| stem == group.name()).then_some(group)
            })
            .collect();
        groups.sort_by(|a, b| (b.sources.len(), a.name()).cmp(&(a.sources.len(), b.name())));
        groups
    }

    /// Whether the count file of a group is there, with all its rows.
    fn has_counts_of<R: CountedRow>(&self, group: &CountedGroup, by: By) -> bool {
        self.shard_of(group).is_none_or(|shard| is_whole::<R>(&shard, by, group.rows))
    }

    /// The count file of a group, if anything of it counted.
    fn shard_of(&self, group: &CountedGroup) -> Option<PathBuf> {
        (group.rows > 0).then(|| self.shard(group.name()))
    }

    fn unwritable(&self, error: std::io::Error) -> Error {
        Error::file(&self.folder, CANNOT_KEEP, error)
    }

    fn put(&self, group: &CountedGroup) -> Result<()> {
        self.write(&self.folder.join(format!("{}.{RECORD}", group.name())), group)
    }

    fn write(&self, path: &Path, what: &impl Serialize) -> Result<()> {
        Replacement::new(path, true)?.commit_json(what)
    }

    fn shard(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.{EXTENSION}"))
    }
}

/// Sources that are counted together.
struct Group {
    games: Sources,
    sources: Vec<CountedSource>,
}

impl Group {
    fn has_room(&self, more: &Sources) -> bool {
        self.sources.len() < MAX_GROUP && self.games.bytes().saturating_add(more.bytes()) <= MAX_GROUP_LEN
    }

    fn add(&mut self, more: Sources, source: CountedSource) {
        self.games.append(more);
        self.sources.push(source);
    }
}

/// Whether a path is that of a record of what was counted.
fn is_record(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == RECORD)
        && path.file_name().is_some_and(|name| name != BUILD)
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
