//! Mapped files that others truncate: in a process that asks for it ([`outlive`]), the missing part reads as zeros instead of
//! ending the process.
//!
//! The system sends SIGBUS to a process that reads a page of a map that its file no longer has. A handler puts a page
//! of zeros in its place, and marks the map. Readers check every number, so zeros are an error like any other. Reading
//! at an offset instead would cost 1 to 2.5 µs more for each look-up in a Polyglot book (0.2 to 1.0 µs through the
//! map), and several times that in formats whose look-ups read more places. Windows does not let anyone truncate a
//! mapped file.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maps that are guarded at a time: a Kvetka book has two for each 20 MB, all other books have fewer.
const MAX: usize = 1024;

/// A map as the signal handler sees it; unused while its length is 0.
struct WatchedMap {
    /// Odd while start and length change.
    version: AtomicUsize,
    start: AtomicUsize,
    len: AtomicUsize,
    cut: AtomicBool,
}

impl WatchedMap {
    const fn new() -> Self {
        Self {
            version: AtomicUsize::new(0),
            start: AtomicUsize::new(0),
            len: AtomicUsize::new(0),
            cut: AtomicBool::new(false),
        }
    }

    /// Sets start and length together; one thread at a time.
    fn set(&self, start: usize, len: usize) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        self.start.store(start, Ordering::Relaxed);
        self.len.store(len, Ordering::Relaxed);
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// Start and length as they were set together; `None` while they change. A map that is being read is guarded, so its
    /// place does not change.
    #[cfg(unix)]
    fn get(&self) -> Option<(usize, usize)> {
        let version = self.version.load(Ordering::Acquire);
        let (start, len) = (self.start.load(Ordering::Relaxed), self.len.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        let is_whole = version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version;
        is_whole.then_some((start, len))
    }
}

static PLACES: [WatchedMap; MAX] = [const { WatchedMap::new() }; MAX];

/// Whether this process asked to outlive truncated files.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Whether any map has lost bytes since the last [`take`].
static ANY_CUT: AtomicBool = AtomicBool::new(false);

/// The files of the places in use, by their numbers; and the truncated files whose maps were dropped.
static FILES: Mutex<(Vec<Option<PathBuf>>, Vec<PathBuf>)> = Mutex::new((Vec::new(), Vec::new()));

fn files() -> MutexGuard<'static, (Vec<Option<PathBuf>>, Vec<PathBuf>)> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, files that are mapped and then truncated do not end this process. On Unix this installs a handler of SIGBUS with the
/// first map; a signal at any other address goes to the handler before it.
pub fn outlive() {
    ASKED.store(true, Ordering::Relaxed);
}

/// Whether any map has lost bytes since the last [`take`].
pub fn any() -> bool {
    ANY_CUT.load(Ordering::Relaxed)
}

/// Guards a map while it exists: drop it before the map.
#[derive(Debug)]
pub(super) struct Guard {
    number: usize,
}

impl Guard {
    /// Guards the map of a file; `None` where nobody asked for it, too many are guarded, or the system needs no guard.
    pub(super) fn new(bytes: &[u8], path: &Path) -> Option<Self> {
        if !ASKED.load(Ordering::Relaxed) || !imp::watch() {
            return None;
        }
        let (names, _) = &mut *files();
        let number = names.iter().position(Option::is_none).unwrap_or(names.len());
        let place = PLACES.get(number)?;
        if number == names.len() {
            names.push(None);
        }
        *names.get_mut(number)? = Some(path.to_owned());
        place.set(bytes.as_ptr() as usize, bytes.len());
        Some(Self { number })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let (names, gone) = &mut *files();
        let name = names.get_mut(self.number).and_then(Option::take);
        if let Some(place) = PLACES.get(self.number) {
            place.set(0, 0);
            if place.cut.swap(false, Ordering::AcqRel) {
                gone.extend(name);
            }
        }
    }
}

/// The mapped files that were found truncated since the last call. It costs next to nothing where there are none.
pub fn take() -> Vec<PathBuf> {
    if !any() || !ANY_CUT.swap(false, Ordering::AcqRel) {
        return Vec::new();
    }
    let (names, gone) = &mut *files();
    let mut cut = std::mem::take(gone);
    for (name, place) in names.iter().zip(&PLACES) {
        if place.cut.swap(false, Ordering::AcqRel) {
            cut.extend(name.clone());
        }
    }
    cut.sort();
    cut.dedup();
    cut
}

#[cfg(unix)]
mod imp {
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering;

    use nix::libc::{self, c_int, c_void, siginfo_t};
    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

    /// What SIGBUS did before; `None` where our handler could not be installed.
    static BEFORE: OnceLock<Option<SigAction>> = OnceLock::new();

    /// Installs the handler, once; returns whether it is installed.
    ///
    /// # Safety
    /// Safe to call: the handler is [`on_fault`], which keeps to what a handler may do.
    #[allow(unsafe_code)]
    pub(super) fn watch() -> bool {
        let install = || {
            // A stack overflow sends a signal too, and needs the alternative stack.
            let flags = SaFlags::SA_SIGINFO | SaFlags::SA_ONSTACK;
            let action = SigAction::new(SigHandler::SigAction(on_fault), flags, SigSet::empty());
            // SAFETY: as above.
            unsafe { sigaction(Signal::SIGBUS, &action) }.ok()
        };
        BEFORE.get_or_init(install).is_some()
    }

    /// Puts zeros where a guarded map has lost its file. Other faults are left to the previous handler: the faulting
    /// instruction runs again.
    ///
    /// # Safety
    /// Called by the system alone, with a valid `info`. It reads atomics, and makes system calls that are safe in a handler
    /// (`sysconf`, `mmap`, `sigaction`). The pages that it replaces, from the missing one to the end of the map, belong to
    /// a guarded map, so it exists and nothing else uses the addresses; they stay readable.
    #[allow(unsafe_code)]
    extern "C" fn on_fault(_: c_int, info: *mut siginfo_t, _: *mut c_void) {
        // SAFETY: the system gives a valid pointer.
        let at = unsafe { (*info).si_addr() } as usize;
        for place in &super::PLACES {
            let Some((start, len)) = place.get() else { continue };
            if !(start..start.saturating_add(len)).contains(&at) {
                continue;
            }
            // SAFETY: a plain question.
            let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
            let from = at - at % page;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            // SAFETY: as above; a map starts at a page, so `from` is not before it.
            let put =
                unsafe { libc::mmap(from as *mut c_void, start + len - from, libc::PROT_READ, flags, -1, 0) };
            if put != libc::MAP_FAILED {
                place.cut.store(true, Ordering::Release);
                super::ANY_CUT.store(true, Ordering::Release);
                return;
            }
        }
        if let Some(Some(before)) = BEFORE.get() {
            // SAFETY: it was the action before.
            let _ = unsafe { sigaction(Signal::SIGBUS, before) };
        }
    }
}

#[cfg(not(unix))]
mod imp {
    /// Does nothing: there is no such signal.
    pub(super) fn watch() -> bool {
        false
    }
}

#[cfg(all(test, unix))]
mod tests {
    use crate::map::Map;
    use std::fs::File;

    #[test]
    fn start_and_length_of_a_map_are_never_those_of_two() {
        let (place, over) = (super::WatchedMap::new(), std::sync::atomic::AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in (1..=100_000).cycle() {
                    place.set(number, number);
                    if over.load(std::sync::atomic::Ordering::Relaxed) {
                        break;
                    }
                }
            });
            let mut seen = 0;
            while seen < 200_000 {
                if let Some((start, len)) = place.get() {
                    seen += 1;
                    if start != len {
                        over.store(true, std::sync::atomic::Ordering::Relaxed);
                        panic!("{start} {len}");
                    }
                }
            }
            over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }

    #[test]
    fn a_map_whose_file_is_truncated_ends_with_zeros_and_is_reported_once() {
        super::outlive();
        let folder = tempfile::tempdir().unwrap();
        let (path, whole) = (folder.path().join("cut"), folder.path().join("whole"));
        std::fs::write(&path, vec![7; 1 << 20]).unwrap();
        std::fs::write(&whole, vec![7; 1 << 20]).unwrap();
        let (map, other) = (Map::open(&path).unwrap(), Map::open(&whole).unwrap());
        assert!(map.iter().all(|byte| *byte == 7));
        File::options().write(true).open(&path).unwrap().set_len(100_000).unwrap();
        // From the middle first: what is before it is missing too.
        assert_eq!(map[500_000], 0);
        assert!(map[..100_000].iter().all(|byte| *byte == 7));
        assert!(map[100_000..].iter().all(|byte| *byte == 0));
        assert!(other.iter().all(|byte| *byte == 7));
        let ours = |cut: Vec<std::path::PathBuf>| {
            cut.into_iter().filter(|cut| cut.starts_with(folder.path())).collect::<Vec<_>>()
        };
        assert_eq!(ours(super::take()), std::slice::from_ref(&path));
        assert!(ours(super::take()).is_empty());
        // A map that was dropped meanwhile is still reported.
        let map = Map::open(&whole).unwrap();
        File::options().write(true).open(&whole).unwrap().set_len(0).unwrap();
        assert_eq!(map[0], 0);
        drop(map);
        assert_eq!(ours(super::take()), [whole]);
    }
}
