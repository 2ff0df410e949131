//! The token of programs, which is kept in a file; and other secrets, which end with the server.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use rand::TryRng;
use rand::rngs::SysRng;

use tabiya_base::bytes::hex;
use tabiya_base::error::{Error, ErrorKind, Result};

/// Bytes of a token: 128 bits, as many as cannot be guessed.
const TOKEN_LEN: usize = 16;

/// The most letters of a token that a file may hold.
const MAX_LETTERS: usize = 256;

/// A new secret, such as a token: hexadecimal digits.
///
/// # Errors
/// When the system has no random numbers.
pub(super) fn random() -> Result<String> {
    let mut bytes = [0; TOKEN_LEN];
    SysRng
        .try_fill_bytes(&mut bytes)
        .map_err(|error| Error::new(ErrorKind::File, format!("the system has no random numbers: {error}")))?;
    Ok(hex(&bytes))
}

/// The token in a file. If there is no file, a new token is written into one that only its owner can read.
///
/// # Errors
/// When the file cannot be read or written, or does not hold one word that can be a token.
pub(super) fn kept(path: &Path) -> Result<String> {
    match File::open(path) {
        Ok(file) => read(file, path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => create(path),
        Err(error) => Err(Error::file(path, "cannot read the token", error)),
    }
}

/// Who else can read the file of a token, and what to do; `None` if no one can, or the system does not say.
pub(super) fn exposed(path: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;

        let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
        let who = if mode & 0o007 != 0 { "anyone" } else { "anyone in its group" };
        let path = path.display();
        let what = format!(
            "{path}: {who} on this machine can read the token (mode {mode:o}): delete the file, and a new \
             token is written"
        );
        (mode & 0o077 != 0).then_some(what)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

fn read(file: File, path: &Path) -> Result<String> {
    let mut text = String::new();
    file.take(MAX_LETTERS as u64 + 2)
        .read_to_string(&mut text)
        .map_err(|error| Error::file(path, "cannot read the token", error))?;
    let token = text.trim();
    // It is part of addresses.
    let fits = token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte));
    if fits && (2 * TOKEN_LEN..=MAX_LETTERS).contains(&token.len()) {
        return Ok(token.to_owned());
    }
    let what =
        format!("this is not a token: a token has {} to {MAX_LETTERS} letters and digits", 2 * TOKEN_LEN);
    Err(Error::format(path, what)
        .advice("name a file that does not exist, and a new token is written into it"))
}

fn create(path: &Path) -> Result<String> {
    let token = random()?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| {
        file.write_all(format!("{token}\n").as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| Error::file(path, "cannot write the token", error))?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn tokens_differ_and_are_long() {
        let tokens = [(); 2].map(|()| random().unwrap());
        assert_ne!(tokens[0], tokens[1]);
        assert_eq!(tokens[0].len(), 2 * TOKEN_LEN);
    }

    #[test]
    fn a_token_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let token = kept(&path).unwrap();
        assert_eq!(kept(&path).unwrap(), token);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        fs::write(&path, "  My-own_token.of~32.letters.and.more \r\n").unwrap();
        assert_eq!(kept(&path).unwrap(), "My-own_token.of~32.letters.and.more");
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let long = "a".repeat(MAX_LETTERS + 1);
        for text in [
            "",
            "short",
            "0123456789abcdef 0123456789abcdef",
            "0123456789abcdef0123456789abcde;",
            "0123456789abcdef\n0123456789abcdef",
            "0123456789abcdef0123456789abcdé",
            &long,
        ] {
            fs::write(&path, text).unwrap();
            assert!(kept(&path).unwrap_err().to_string().contains("not a token"), "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        fs::write(&path, b"\xff\xff").unwrap();
        assert!(kept(&path).is_err());
        assert!(kept(&folder.path().join("missing").join("token")).is_err());
        assert!(kept(folder.path()).is_err());
    }
}
