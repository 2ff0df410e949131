//! Files of other programs that are not read, and what to do with each: the only table of them.

use std::path::Path;

use super::error::Error;
use super::folder::has_extension;

/// A kind of file that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The extensions of its names, in lower case.
    ends: &'static [&'static str],
    /// Its first bytes, where they are known.
    start: &'static [u8],
    /// What it is, as a clause.
    what: &'static str,
    /// What to do with it, as a clause.
    advice: &'static str,
    /// The extensions of the one file of a database that is reported among games in a folder.
    databases: &'static [&'static str],
}

const UNPACK: &str = "unpack it first";

/// The kinds of files. Signatures are those of the descriptions of their formats.
const UNREAD: [Unread; 10] = [
    Unread {
        ends: &["2cbh", "2cbg"],
        start: b"",
        what: "this is a database in the newer format of ChessBase 17 and later, which is not supported",
        advice: "save it as a CBH database in ChessBase, or export it as PGN",
        databases: &["2cbh"],
    },
    Unread {
        ends: &["cbz"],
        start: b"",
        what: "this is an encrypted archive of a ChessBase database",
        advice: "unpack it first: open it in ChessBase with its password",
        databases: &["cbz"],
    },
    Unread {
        ends: &["cbf"],
        start: b"",
        what: "this is a database in ChessBase's old format, which is not supported",
        advice: "convert it to a CBH database in ChessBase, or export it as PGN",
        databases: &["cbf"],
    },
    Unread {
        ends: &["si4", "sg4", "sn4", "si5", "sg5", "sn5"],
        start: b"",
        what: "this is a database of Scid, which is not supported",
        advice: "open it in Scid, and export its games as PGN",
        databases: &["si4", "si5"],
    },
    Unread {
        ends: &["fbk"],
        start: b"",
        what: "this is an old opening book of Fritz, which is not supported",
        advice: "export its lines as PGN in the program that it is for, and make a book of them",
        databases: &[],
    },
    Unread {
        ends: &["bkt"],
        start: b"",
        what: "this is an opening book in another program's own format, which is not supported",
        advice: "export its lines as PGN in the program that it is for, and make a book of them",
        databases: &[],
    },
    Unread {
        ends: &["7z"],
        start: b"7z\xbc\xaf\x27\x1c",
        what: "this is a 7z archive",
        advice: UNPACK,
        databases: &[],
    },
    Unread {
        ends: &["rar"],
        start: b"Rar!\x1a\x07",
        what: "this is a rar archive",
        advice: UNPACK,
        databases: &[],
    },
    Unread {
        ends: &["lz4"],
        start: b"\x04\x22\x4d\x18",
        what: "this is an lz4 archive",
        advice: UNPACK,
        databases: &[],
    },
    Unread {
        ends: &["z"],
        start: b"\x1f\x9d",
        what: "this is a compress archive",
        advice: UNPACK,
        databases: &[],
    },
];

impl Unread {
    /// The kind of a file, by its name.
    pub fn by_name(path: &Path) -> Option<&'static Self> {
        let end = path.extension()?.to_string_lossy().to_ascii_lowercase();
        UNREAD.iter().find(|kind| kind.ends.contains(&&*end))
    }

    /// The kind of a file, by its first bytes.
    pub fn by_start(data: &[u8]) -> Option<&'static Self> {
        UNREAD.iter().find(|kind| !kind.start.is_empty() && data.starts_with(kind.start))
    }

    /// The kind of a database of games, by the name of its file that is reported.
    pub fn database_by_name(path: &Path) -> Option<&'static Self> {
        UNREAD.iter().find(|kind| kind.databases.iter().any(|end| has_extension(path, end)))
    }

    /// Whether it is an archive of any files.
    pub fn is_archive(&self) -> bool {
        !self.start.is_empty()
    }

    /// The error of such a file.
    pub fn error(&self, path: impl AsRef<Path>) -> Error {
        Error::format(path, self.what).advice(self.advice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_their_names_and_first_bytes() {
        for (name, says) in [
            ("a.2CBH", "save it as a CBH database"),
            ("a.cbz", "with its password"),
            ("games.si4", "database of Scid"),
            ("x/a.fbk", "make a book of them"),
            ("a.bkt", "make a book of them"),
            ("a.tar.7z", "7z archive: unpack it first"),
            ("a.RAR", "rar archive: unpack it first"),
        ] {
            let error = Unread::by_name(Path::new(name)).unwrap().error(name).to_string();
            assert!(error.starts_with(&format!("{name}: this is ")) && error.contains(says), "{error}");
        }
        for name in ["a.pgn", "a.cbh", "7z", "a", "a.exp"] {
            assert_eq!(Unread::by_name(Path::new(name)), None);
        }
        for (name, is_database) in [("a.SI4", true), ("a.sg4", false), ("a.2cbh", true), ("a.fbk", false)] {
            assert_eq!(Unread::database_by_name(Path::new(name)).is_some(), is_database, "{name}");
        }
        assert_eq!(Unread::by_start(b"Rar!\x1a\x07\0").map(Unread::is_archive), Some(true));
        assert_eq!(Unread::by_start(b"").or(Unread::by_start(b"[Event")), None);
        let mut ends: Vec<_> = UNREAD.iter().flat_map(|kind| kind.ends).collect();
        let all = ends.len();
        ends.sort();
        ends.dedup();
        assert_eq!(ends.len(), all);
    }
}
