//! What long work may use of the machine.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::error::{Error, ErrorKind, Remedy, Result};
use super::parallel;

/// Threads, memory and disk that long work may use.
#[derive(Clone, Debug)]
pub struct Resources {
    /// Threads that read games and sort.
    pub threads: usize,
    /// Bytes of rows that are held in memory.
    pub memory: usize,
    /// The folder for the rest.
    pub temp: PathBuf,
}

impl Resources {
    /// These, and by default what the machine has: all its processors, and a quarter of its memory.
    ///
    /// # Errors
    /// When there is no folder for temporary files.
    pub fn new(threads: Option<usize>, memory: Option<usize>, temp: Option<&Path>) -> Result<Self> {
        let threads = threads.unwrap_or_else(parallel::processors);
        let memory = memory.unwrap_or_else(quarter_of_memory);
        let temp = temp.map_or_else(std::env::temp_dir, Path::to_owned);
        if !temp.is_dir() {
            return Err(Error::new(ErrorKind::File, "there is no such folder for temporary files")
                .at_path(temp)
                .remedied_by(Remedy::TemporaryFolder));
        }
        Ok(Self { threads, memory, temp })
    }

    /// A new folder for temporary files, which goes away with what is returned.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn temporary_folder(&self) -> Result<TempDir> {
        let folder = tempfile::Builder::new().prefix("tabiya-").tempdir_in(&self.temp);
        folder.map_err(|error| Error::temporary(&self.temp, error))
    }

    /// Bytes that the writer of a book may hold: a quarter.
    pub fn of_writer(&self) -> usize {
        self.memory / 4
    }

    /// These with this many fewer bytes of memory, but at least half of them.
    #[must_use]
    pub fn without(&self, bytes: usize) -> Self {
        Self { memory: self.memory.saturating_sub(bytes).max(self.memory / 2), ..self.clone() }
    }
}

/// A quarter of the memory that this process may use.
fn quarter_of_memory() -> usize {
    // If the system does not say, as much as any machine can spare.
    memory().map_or(1 << 28, |memory| usize::try_from(memory / 4).unwrap_or(usize::MAX))
}

/// Files and connections that this process may have open at once, if the system sets a limit.
pub fn file_handles() -> Option<usize> {
    #[cfg(unix)]
    {
        use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
        let (most, _) = getrlimit(Resource::RLIMIT_NOFILE).ok().filter(|(most, _)| *most != RLIM_INFINITY)?;
        Some(usize::try_from(most).unwrap_or(usize::MAX))
    }
    #[cfg(not(unix))]
    None
}

/// The memory that this process has now, in bytes, if the system says.
pub fn resident() -> Option<u64> {
    #[cfg(windows)]
    return crate::windows::resident();
    #[cfg(not(windows))]
    {
        use sysinfo::{ProcessRefreshKind, ProcessesToUpdate};
        let pid = sysinfo::get_current_pid().ok()?;
        let mut system = sysinfo::System::new().ok()?;
        let what = ProcessRefreshKind::nothing().with_memory();
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, what);
        system.process(pid).map(sysinfo::Process::memory)
    }
}

/// The memory that this process may use, in bytes, if the system says.
fn memory() -> Option<u64> {
    #[cfg(windows)]
    return crate::windows::memory();
    #[cfg(not(windows))]
    {
        let mut system = sysinfo::System::new().ok()?;
        system.refresh_memory();
        Some(system.cgroup_limits().map_or(system.total_memory(), |limits| limits.total_memory))
    }
}
