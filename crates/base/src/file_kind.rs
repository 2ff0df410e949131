//! Kinds of files that are known by their names or their first bytes, apart from those of books: the only table of both.

use std::path::Path;

use super::error::Error;
use super::folder::has_extension;

/// The first bytes of a Parquet file: [Parquet](https://parquet.apache.org/docs/file-format/), File Format.
pub const PARQUET: [u8; 4] = *b"PAR1";

/// The first bytes of a store of evaluations (docs/formats/evals.md).
pub const STORE: [u8; 8] = *b"TabEvals";

/// The most bytes of a file that tell its kind.
pub const START_LEN: usize = 16;

/// The extensions of the files of a ChessBase database that are read: records, moves, annotations, players, tournaments,
/// annotators, sources, teams, second records, titles, media.
pub const DATABASE_PARTS: [&str; 11] =
    ["cbh", "cbg", "cba", "cbp", "cbt", "cbc", "cbs", "cbe", "cbj", "cbl", "cbm"];

/// What a kind is known by, and what is said of it.
#[derive(Clone, Copy)]
struct KindRow {
    /// The extensions of its names, in lower case.
    ends: &'static [&'static str],
    /// How its files begin: any of these, where one is known.
    starts: &'static [&'static [u8]],
    /// What it is, as a noun with its article.
    what: &'static str,
    /// What to do with it, as a clause, where it is not read.
    advice: Option<&'static str>,
    /// The extensions of the one file of a database that is reported among games in a folder.
    reported: &'static [&'static str],
    /// Whether it is a file of a database of games that is read.
    database: bool,
}

const ROW: KindRow =
    KindRow { ends: &[], starts: &[], what: "", advice: None, reported: &[], database: false };
const UNPACK: Option<&str> = Some("unpack it first");
const EXPORT: Option<&str> =
    Some("export its lines as PGN in the program that it is for, and make a book of them");

/// Makes the enum, the list of its variants, and the row of each.
macro_rules! file_kinds {
    ($($(#[$doc:meta])* $kind:ident { $($field:ident: $value:expr),* $(,)? })*) => {
        /// A kind of file that is no book.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum FileKind {
            $($(#[$doc])* $kind,)*
        }

        const KINDS: &[FileKind] = &[$(FileKind::$kind),*];

        impl FileKind {
            fn row(self) -> KindRow {
                match self {
                    $(Self::$kind => KindRow { $($field: $value,)* ..ROW },)*
                }
            }
        }
    };
}

file_kinds! {
    /// Compressed with gzip by its only method (RFC 1952).
    Gzip { starts: &[b"\x1f\x8b\x08"], what: "a gzip archive", advice: UNPACK }
    /// Compressed with Zstandard (RFC 8878); also a frame to be skipped.
    Zstandard { starts: &[b"\x28\xb5\x2f\xfd"], what: "a zstd archive", advice: UNPACK }
    /// Compressed with bzip2; see [`is_bzip2`].
    Bzip2 { starts: &[b"BZh"], what: "a bzip2 archive", advice: UNPACK }
    /// Compressed with xz.
    Xz { starts: &[b"\xfd7zXZ\0"], what: "an xz archive", advice: UNPACK }
    /// A ZIP archive: its first file, or its end if it has no files.
    Zip { starts: &[b"PK\x03\x04", b"PK\x05\x06"], what: "a zip archive", advice: UNPACK }
    /// A 7z archive.
    SevenZip { ends: &["7z"], starts: &[b"7z\xbc\xaf\x27\x1c"], what: "a 7z archive", advice: UNPACK }
    /// A rar archive.
    Rar { ends: &["rar"], starts: &[b"Rar!\x1a\x07"], what: "a rar archive", advice: UNPACK }
    /// Compressed with lz4.
    Lz4 { ends: &["lz4"], starts: &[b"\x04\x22\x4d\x18"], what: "an lz4 archive", advice: UNPACK }
    /// Compressed with `compress`.
    Compress { ends: &["z"], starts: &[b"\x1f\x9d"], what: "a compress archive", advice: UNPACK }
    /// A Parquet file.
    Parquet { starts: &[&PARQUET], what: "a Parquet file" }
    /// A store of evaluations.
    Store { starts: &[&STORE], what: "a store of evaluations" }
    /// A program of Linux or Windows.
    Program { starts: &[b"\x7fELF", b"MZ\x90\0"], what: "a program" }
    /// A file of a ChessBase database.
    Database { ends: &DATABASE_PARTS, what: "a ChessBase database", database: true }
    /// An archive of a ChessBase database.
    DatabaseArchive { ends: &["cbv"], what: "a ChessBase database", database: true }
    /// A database of ChessBase 17.
    NewDatabase {
        ends: &["2cbh", "2cbg"],
        what: "a database in the newer format of ChessBase 17 and later, which is not supported",
        advice: Some("save it as a CBH database in ChessBase, or export it as PGN"),
        reported: &["2cbh"],
    }
    /// An encrypted archive of a ChessBase database.
    LockedDatabase {
        ends: &["cbz"],
        what: "an encrypted archive of a ChessBase database",
        advice: Some("unpack it first: open it in ChessBase with its password"),
        reported: &["cbz"],
    }
    /// A database in ChessBase's format before CBH.
    OldDatabase {
        ends: &["cbf"],
        what: "a database in ChessBase's old format, which is not supported",
        advice: Some("convert it to a CBH database in ChessBase, or export it as PGN"),
        reported: &["cbf"],
    }
    /// A database of Scid.
    Scid {
        ends: &["si4", "sg4", "sn4", "si5", "sg5", "sn5"],
        what: "a database of Scid",
        database: true,
    }
    /// A database of Scid before version 4.
    OldScid {
        ends: &["si3", "sg3", "sn3"],
        what: "a database of an old Scid, which is not supported",
        advice: Some("open it in Scid, which makes one of version 4 of it, or export its games as PGN"),
        reported: &["si3"],
    }
    /// A book of Fritz before CTG.
    FritzBook {
        ends: &["fbk"],
        what: "an old opening book of Fritz, which is not supported",
        advice: EXPORT,
    }
    /// A book in another program's own format.
    OtherBook {
        ends: &["bkt"],
        what: "an opening book in another program's own format, which is not supported",
        advice: EXPORT,
    }
}

impl FileKind {
    /// The kind of a file, by its name.
    pub fn by_name(path: &Path) -> Option<Self> {
        Self::find(|row| row.ends.iter().any(|end| has_extension(path, end)))
    }

    /// The kind of a file, by its first bytes, of which [`START_LEN`] are enough.
    pub fn by_start(data: &[u8]) -> Option<Self> {
        match Self::find(|row| row.starts.iter().any(|start| data.starts_with(start))) {
            Some(Self::Bzip2) => is_bzip2(data).then_some(Self::Bzip2),
            None if is_skippable(data) => Some(Self::Zstandard),
            found => found,
        }
    }

    /// The kind of a file that is never read, by its name.
    pub fn unread_by_name(path: &Path) -> Option<Self> {
        Self::by_name(path).filter(|kind| kind.row().advice.is_some())
    }

    /// The kind of a database of games that is never read, by the name of its file that is reported.
    pub fn reported_by_name(path: &Path) -> Option<Self> {
        Self::find(|row| row.reported.iter().any(|end| has_extension(path, end)))
    }

    fn find(is: impl Fn(KindRow) -> bool) -> Option<Self> {
        KINDS.iter().copied().find(|kind| is(kind.row()))
    }

    /// Whether it is one file that is compressed in a way that is read.
    pub fn is_compressed(self) -> bool {
        matches!(self, Self::Gzip | Self::Zstandard | Self::Bzip2 | Self::Xz)
    }

    /// Whether it is a database of games that is read, or its archive.
    pub fn is_database(self) -> bool {
        self.row().database
    }

    /// Whether its content is known once it is unpacked.
    pub fn is_packed(self) -> bool {
        self.row().advice == UNPACK
    }

    /// What it is, as a noun with its article.
    pub fn what(self) -> &'static str {
        self.row().what
    }

    /// The error of such a file where something else is wanted, such as "a book". It says what to do with a file that has to be
    /// changed before it can be read.
    pub fn not(self, wanted: &str, path: impl AsRef<Path>) -> Error {
        let KindRow { what, advice, .. } = self.row();
        match advice {
            Some(advice) => Error::format(path, format!("this is {what}")).advice(advice),
            None => Error::format(path, format!("this is {what}, not {wanted}")),
        }
    }
}

/// Whether a Zstandard frame to be skipped begins with these bytes (RFC 8878): the first byte is 0x50 to 0x5F.
fn is_skippable(start: &[u8]) -> bool {
    matches!(start, [first, rest @ ..] if first & 0xf0 == 0x50 && rest.starts_with(b"\x2a\x4d\x18"))
}

/// Whether a bzip2 file begins with these bytes, and no text: after `BZh` and a digit comes the first block, or the end of an
/// empty file.
fn is_bzip2(start: &[u8]) -> bool {
    let block = start.get(4..).unwrap_or_default();
    [b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90"].iter().any(|sign| block.starts_with(*sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_their_names_and_first_bytes() {
        for (name, says) in [
            ("a.2CBH", "save it as a CBH database"),
            ("a.cbz", "with its password"),
            ("games.si3", "database of an old Scid"),
            ("x/a.fbk", "make a book of them"),
            ("a.bkt", "make a book of them"),
            ("a.tar.7z", "7z archive: unpack it first"),
            ("a.RAR", "rar archive: unpack it first"),
        ] {
            let error = FileKind::unread_by_name(Path::new(name)).unwrap().not("a book", name).to_string();
            assert!(error.starts_with(&format!("{name}: this is ")) && error.contains(says), "{error}");
        }
        for name in ["a.pgn", "a.cbh", "a.cbv", "7z", "a", "a.exp"] {
            assert_eq!(FileKind::unread_by_name(Path::new(name)), None);
        }
        for (name, kind) in [("a.CBA", Some(FileKind::Database)), ("b.cbv", Some(FileKind::DatabaseArchive))]
        {
            assert_eq!(FileKind::by_name(Path::new(name)), kind);
        }
        for (name, is_database) in [("a.SI3", true), ("a.sg3", false), ("a.2cbh", true), ("a.fbk", false)] {
            assert_eq!(FileKind::reported_by_name(Path::new(name)).is_some(), is_database, "{name}");
        }
        for (start, kind) in [
            (&b"Rar!\x1a\x07\0"[..], Some(FileKind::Rar)),
            (b"\x5e\x2a\x4d\x18", Some(FileKind::Zstandard)),
            (b"BZh9\x31\x41\x59\x26\x53\x59", Some(FileKind::Bzip2)),
            (b"BZh9 is no move", None),
            (b"[Event", None),
            (b"", None),
        ] {
            assert_eq!(FileKind::by_start(start), kind);
        }
    }

    #[test]
    fn no_two_kinds_have_the_same_name_or_the_same_start() {
        let mut ends: Vec<_> = KINDS.iter().flat_map(|kind| kind.row().ends).collect();
        let starts: Vec<_> = KINDS.iter().flat_map(|kind| kind.row().starts).collect();
        let all = ends.len();
        ends.sort();
        ends.dedup();
        assert_eq!(ends.len(), all);
        for (at, start) in starts.iter().enumerate() {
            assert!(
                start.len() <= START_LEN && !starts.iter().skip(at + 1).any(|other| other.starts_with(start))
            );
        }
    }
}
