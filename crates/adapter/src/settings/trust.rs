//! Whether a configuration file that the user did not name may be used: it names a program that is run.
//!
//! GUIs start engines in a folder of their choice, Cute Chess in the system's temporary folder, to which everybody can
//! write. On Windows nothing is checked: the temporary folder belongs to the user, and other folders are closed to
//! other users by default.

use std::path::Path;

use tabiya_base::error::{Error, ErrorKind, Remedy, Result};

/// Checks a configuration file that was found, not named.
///
/// # Errors
/// When users other than this one and the administrator may have written it.
pub fn check(path: &Path) -> Result<()> {
    match objection(path) {
        None => Ok(()),
        Some(why) => Err(Error::new(ErrorKind::File, format!("{why}, so it is not used"))
            .at_path(path)
            .remedied_by(Remedy::TrustConfiguration)),
    }
}

/// Why a file cannot be trusted; `None` if it can.
#[cfg(unix)]
fn objection(path: &Path) -> Option<&'static str> {
    let us = nix::unistd::geteuid().as_raw();
    // A link in our own folder may lead to a folder that everybody can write to.
    [path.to_owned(), dunce::canonicalize(path).ok()?].iter().find_map(|path| {
        let file = Owned::read(path)?;
        let folder = Owned::read(path.parent()?)?;
        judge(us, file, folder)
    })
}

#[cfg(not(unix))]
fn objection(_path: &Path) -> Option<&'static str> {
    None
}

/// The bit of a mode that lets everybody write.
#[cfg(unix)]
const EVERYBODY_WRITES: u32 = 0o002;

/// The owner and the mode of a file or folder.
#[cfg(unix)]
#[derive(Clone, Copy)]
struct Owned {
    user: u32,
    mode: u32,
}

#[cfg(unix)]
impl Owned {
    fn read(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let data = path.metadata().ok()?;
        Some(Self { user: data.uid(), mode: data.mode() })
    }
}

#[cfg(unix)]
fn judge(us: u32, file: Owned, folder: Owned) -> Option<&'static str> {
    const ROOT: u32 = 0;
    if folder.mode & EVERYBODY_WRITES != 0 {
        Some("anyone can write to the folder of this configuration")
    } else if file.mode & EVERYBODY_WRITES != 0 {
        Some("anyone can write to this configuration")
    } else if file.user != us && file.user != ROOT {
        Some("this configuration belongs to another user")
    } else {
        None
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn only_our_own_files_and_those_of_the_administrator_are_trusted() {
        let owned = |user, mode| Owned { user, mode };
        let (ours, open) = (owned(1000, 0o40755), owned(0, 0o41777));
        let refused = |file, folder| judge(1000, file, folder).is_some();
        assert!(!refused(owned(1000, 0o100_644), ours));
        assert!(!refused(owned(0, 0o100_644), ours));
        assert!(refused(owned(1001, 0o100_644), ours), "another user's file");
        assert!(refused(owned(1000, 0o100_644), open), "the sticky bit does not prevent adding a file");
        assert!(refused(owned(0, 0o100_644), open));
        assert!(refused(owned(1000, 0o100_666), ours));
        assert!(!refused(owned(1000, 0o100_664), owned(1001, 0o40775)));
        assert!(
            judge(0, owned(1000, 0o100_644), ours).is_some(),
            "the administrator does not trust users' files"
        );
    }

    #[test]
    fn a_file_in_a_folder_that_everybody_can_write_to_is_refused_with_advice() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tabiya.toml");
        fs::write(&file, "").unwrap();
        assert!(check(&file).is_ok());
        let open = tempfile::tempdir().unwrap();
        fs::set_permissions(open.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        let target = open.path().join("real.toml");
        fs::write(&target, "").unwrap();
        let error = check(&target).unwrap_err();
        assert!(error.to_string().contains("real.toml"), "{error}");
        assert_eq!(error.remedy(), Some(Remedy::TrustConfiguration));
        let link = folder.path().join("link.toml");
        symlink(&target, &link).unwrap();
        assert!(check(&link).is_err());
    }
}
