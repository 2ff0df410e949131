//! How to tell whether a source of games is the same as before.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest as _, Sha256};

use tabiya_base::bytes::hex;
use tabiya_base::error::{Error, Result};

/// Bytes of a digest that are kept: enough to tell any files apart.
const DIGEST_LEN: usize = 16;

/// What distinguishes a source from others, and from itself before it was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Its name, as the user gave it.
    pub shown: String,
    /// A digest of its name and of the folder that the name is relative to, in hexadecimal.
    pub name: String,
    /// A digest of the names, lengths and times of change of its files, in hexadecimal.
    pub state: String,
}

impl Stamp {
    /// The stamp of a source of these `files`; `within` is what an archive says of its member.
    ///
    /// # Errors
    /// When a file has disappeared.
    pub fn new(name: &Path, mut files: Vec<PathBuf>, within: Option<[u64; 3]>) -> Result<Self> {
        let absolute = std::path::absolute(name).unwrap_or_else(|_| name.to_owned());
        let mut digest = Sha256::new();
        add_path(&mut digest, name);
        add_path(&mut digest, &absolute);
        let hex_name = hex(digest.finalize_reset().iter().take(DIGEST_LEN));
        files.sort();
        files.dedup();
        for file in files {
            let cannot = |error| Error::file(&file, "cannot open the file", error);
            let metadata = fs::metadata(&file).map_err(cannot)?;
            // Where the system has no times of change, the lengths decide.
            let changed = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            add_path(&mut digest, &file);
            digest.update(metadata.len().to_le_bytes());
            digest.update(changed.map_or(0, |at| at.as_nanos()).to_le_bytes());
        }
        within.into_iter().flatten().for_each(|number| digest.update(number.to_le_bytes()));
        let state = hex(digest.finalize().iter().take(DIGEST_LEN));
        let shown = name.display().to_string();
        Ok(Self { shown, name: hex_name, state })
    }
}

/// A path and its end.
fn add_path(digest: &mut Sha256, path: &Path) {
    digest.update(path.as_os_str().as_encoded_bytes());
    digest.update([0]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open_files as open;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_changed_file_has_another_state_and_the_same_name() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a.pgn"), folder.path().join("b.pgn"));
        fs::write(&a, "1. e4 *").unwrap();
        fs::write(&b, "1. e4 *").unwrap();
        let stamps = || {
            let all = open(&[a.clone(), b.clone()]).unwrap().each().unwrap().unwrap();
            all.into_iter().map(|(_, stamp)| stamp).collect::<Vec<_>>()
        };
        let before = stamps();
        assert_eq!(before, stamps());
        assert_ne!(before[0].name, before[1].name);
        let at = SystemTime::now() - Duration::from_secs(1000);
        fs::File::options().write(true).open(&a).unwrap().set_modified(at).unwrap();
        fs::write(&b, "1. e4 e5 *").unwrap();
        let after = stamps();
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before.name, after.name);
            assert_ne!(before.state, after.state);
        }
    }
}
