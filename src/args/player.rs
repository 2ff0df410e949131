//! Players as arguments.

use std::fs;
use std::path::{Path, PathBuf};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_games::{PlayerName, decode_text};

/// A player: `NAME` (a part of the name), `=NAME` (the whole name), or `@FILE` (whole names, one on each line).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlayerArg {
    Part(String),
    Whole(String),
    File(PathBuf),
}

impl PlayerArg {
    /// Reads the argument.
    ///
    /// # Errors
    /// When there is no name.
    pub fn parse(text: &str) -> std::result::Result<Self, &'static str> {
        let (player, name) = match (text.strip_prefix('='), text.strip_prefix('@')) {
            (Some(name), _) => (Self::Whole(name.to_owned()), name),
            (_, Some(file)) => (Self::File(file.into()), file),
            _ => (Self::Part(text.to_owned()), text),
        };
        if name.trim().is_empty() { Err("write NAME, =NAME or @FILE") } else { Ok(player) }
    }

    /// The name or the file, as people call it.
    pub fn shown(&self) -> String {
        match self {
            Self::Part(name) | Self::Whole(name) => name.clone(),
            Self::File(path) => format!("the players in {}", path.display()),
        }
    }

    /// The names.
    ///
    /// # Errors
    /// When the file of names cannot be read, or has none.
    pub fn names(&self) -> Result<PlayerName> {
        match self {
            Self::Part(name) => Ok(PlayerName::part(name)),
            Self::Whole(name) => Ok(PlayerName::whole(name)),
            Self::File(path) => read(path),
        }
    }
}

/// The names in a file, one on each line.
fn read(path: &Path) -> Result<PlayerName> {
    let bytes =
        fs::read(path).map_err(|error| Error::file(path, "cannot read the names of players", error))?;
    let text = decode_text(&bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut names = text.lines().map(str::trim).filter(|name| !name.is_empty()).peekable();
    if names.peek().is_none() {
        return Err(Error::new(ErrorKind::File, "the file has no names").at_path(path));
    }
    Ok(PlayerName::one_of(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_player_is_a_part_of_a_name_a_whole_name_or_a_file() {
        assert_eq!(PlayerArg::parse("Carlsen"), Ok(PlayerArg::Part("Carlsen".into())));
        assert_eq!(PlayerArg::parse("=Carlsen, Magnus"), Ok(PlayerArg::Whole("Carlsen, Magnus".into())));
        assert_eq!(PlayerArg::parse("@names.txt"), Ok(PlayerArg::File("names.txt".into())));
        assert_eq!(PlayerArg::parse("a=b@c"), Ok(PlayerArg::Part("a=b@c".into())));
        for text in ["", " ", "=", "@", "= "] {
            assert!(PlayerArg::parse(text).is_err(), "{text:?}");
        }
    }
}
