//! The bytes of a file, mapped into memory: opening costs the same whatever the size.

use std::borrow::Cow;
use std::fs::File;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::error::{Error, Result};
use super::file;
use super::truncated::Guard;

/// Bytes to read from: a mapped file, bytes in memory, or bytes inside the executable.
///
/// ```
/// use tabiya_base::map::Map;
/// assert_eq!(&*Map::from(vec![1, 2]), [1, 2]);
/// assert_eq!(&*Map::from(&b"book"[..]), b"book");
/// ```
#[derive(Debug)]
pub enum Map {
    File(Mapped),
    /// Bytes in memory or inside the executable.
    Bytes(Cow<'static, [u8]>),
}

/// A mapped file's bytes.
#[derive(Debug)]
pub struct Mapped {
    /// Before the map, which it guards: fields are dropped in their order.
    _guard: Option<Guard>,
    map: Mmap,
    /// The file, with links followed before it was opened; `None` where that was not possible.
    file: Option<PathBuf>,
}

/// How the bytes of a map will be read: advice to the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Here and there: nothing around a read byte is worth loading.
    Random,
    /// From the start to the end.
    Sequential,
}

impl Map {
    /// Maps a regular file in its current length, for reading at random places.
    ///
    /// A file that is replaced by renaming keeps its old content in the map. Of one that is truncated while it is mapped, what is
    /// missing reads as zeros and is reported, if the process asked for it: see [`truncated`](super::truncated).
    ///
    /// # Errors
    /// When the path is not a regular file (a folder, a pipe, a device), or cannot be opened or mapped.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        // A link that leads elsewhere a moment later does not change which file this is.
        let real = dunce::canonicalize(path).ok();
        let opened = real.and_then(|real| Some((file::open(&real).ok()?, Some(real))));
        let ((file, metadata), real) = opened.map_or_else(|| Ok((file::open(path)?, None)), Ok)?;
        if metadata.len() == 0 {
            return Ok(Self::from(Vec::new()));
        }
        let map = map(&file).map_err(|error| Error::file(path, "cannot map the file into memory", error))?;
        let map = Self::File(Mapped { _guard: Guard::new(&map, path), map, file: real });
        map.expect(Access::Random);
        Ok(map)
    }

    /// The file that is mapped, wherever links lead by now; `None` for other bytes, or where links cannot be followed.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(map) => map.file.as_deref(),
            Self::Bytes(_) => None,
        }
    }

    /// Advises the operating system how the bytes will be read.
    pub fn expect(&self, access: Access) {
        #[cfg(unix)]
        if let Self::File(map) = self {
            let advice = match access {
                Access::Random => memmap2::Advice::Random,
                Access::Sequential => memmap2::Advice::Sequential,
            };
            // Without it reading is only slower.
            let _ = map.map.advise(advice);
        }
        #[cfg(not(unix))]
        let _ = access;
    }
}

/// Maps an open file, not empty, in its current length.
///
/// # Safety
/// Safe to call, though the bytes of a map must not change while they are borrowed and another process can change
/// the file. We never write through a map, but learning writes into a Polyglot book that others have mapped; other books are
/// replaced by renaming, which leaves the mapped file unchanged. So no reader relies on a byte being the same when it is
/// read twice: every number is checked where it is used.
#[allow(unsafe_code)]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: as above; the length is the file's own at this moment, not a number from elsewhere.
    unsafe { Mmap::map(file) }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::File(map) => &map.map,
            Self::Bytes(bytes) => bytes,
        }
    }
}

impl From<Vec<u8>> for Map {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<&'static [u8]> for Map {
    fn from(bytes: &'static [u8]) -> Self {
        Self::Bytes(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::ErrorKind;
    use super::*;
    use std::fs;
    #[cfg(unix)]
    use std::os::unix::fs::FileExt;

    #[test]
    fn a_file_is_mapped_in_full() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, b"0123456789").unwrap();
        let map = Map::open(&path).unwrap();
        map.expect(Access::Sequential);
        assert_eq!(&*map, b"0123456789");
        assert!(matches!(map, Map::File(_)));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_the_one_that_its_link_led_to() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other, link] = ["one", "other", "link"].map(|name| folder.path().join(name));
        fs::write(&one, b"1").unwrap();
        fs::write(&other, b"2").unwrap();
        std::os::unix::fs::symlink(&one, &link).unwrap();
        let map = Map::open(&link).unwrap();
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();
        assert_eq!((&*map, map.file()), (&b"1"[..], dunce::canonicalize(&one).ok().as_deref()));
        let error = Map::open(folder.path().join("none")).unwrap_err();
        assert!(error.to_string().contains("none"), "{error}");
    }

    #[test]
    fn an_empty_file_is_an_empty_slice() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(&*Map::open(file.path()).unwrap(), b"");
    }

    #[test]
    fn a_folder_and_a_missing_file_are_refused_with_their_name() {
        let folder = tempfile::tempdir().unwrap();
        let error = Map::open(folder.path()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::File);
        assert!(error.to_string().ends_with("this is a folder: name a file in it"), "{error}");
        let path = folder.path().join("none.bin");
        let error = Map::open(&path).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::File, Some(&*path)));
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_and_a_device_are_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        for path in [&*path, Path::new("/dev/zero")] {
            let error = Map::open(path).unwrap_err();
            assert!(error.to_string().contains("not a file: save it to a file first"), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_replaced_by_renaming_keeps_its_content_in_the_map() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        fs::write(&old, [1; 5000]).unwrap();
        fs::write(&new, [2; 10]).unwrap();
        let map = Map::open(&old).unwrap();
        fs::rename(&new, &old).unwrap();
        assert_eq!(&*map, [1; 5000]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_grows_keeps_its_length_in_the_map() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), b"0123456789").unwrap();
        let map = Map::open(file.path()).unwrap();
        file.as_file().write_all_at(b"more", 10).unwrap();
        assert_eq!(&*map, b"0123456789");
    }
}
