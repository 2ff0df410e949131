//! The members of an archive.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::blob::Blob;
use tabiya_base::bytes;
use tabiya_base::encoding::decode_text;
use tabiya_base::error::{Error, ErrorKind, Result};

use super::layout::{COUNT_AT, ENTRY_LEN_AT, ENTRY_LENS, HEADER_LEN, NAME_LEN, NUMBERS_AT, START, WIDE_AT};
use super::member::{CbvMember, DAMAGED, Unpacked, shown};

/// The files of a database whose names are looked up in any order: they are held in memory.
const HELD: [&str; 6] = ["cbp", "cbt", "cbc", "cbs", "cbe", "cbl"];

/// An open archive.
#[derive(Clone, Debug)]
pub struct Cbv {
    blob: Arc<Blob>,
    members: Vec<CbvMember>,
}

impl Cbv {
    /// Opens an archive and reads its directory.
    ///
    /// # Errors
    /// When it cannot be opened, is no archive or is locked with a password; and when the directory is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::new(Blob::open(path)?)
    }

    /// Opens an archive whose bytes are in memory; `name` is only what messages call it.
    ///
    /// # Errors
    /// As [`Cbv::open`].
    pub fn from_bytes(name: impl Into<PathBuf>, bytes: Vec<u8>) -> Result<Self> {
        Self::new(Blob::new(name, bytes))
    }

    fn new(blob: Blob) -> Result<Self> {
        let mut header = [0; 8];
        let read = blob.read(0, &mut header)?;
        let count = bytes::u16_le(&header, COUNT_AT).unwrap_or(0);
        let entry_len = bytes::u16_le(&header, ENTRY_LEN_AT).filter(|len| ENTRY_LENS.contains(len));
        let Some(entry_len) = entry_len.filter(|_| read == header.len() && header.starts_with(&START)) else {
            let what = "this is not a ChessBase archive, or one that is locked with a password (.cbz)";
            return Err(Error::format(blob.path(), what)
                .at_offset(0)
                .advice("unlock it in ChessBase first, and save it without a password"));
        };
        let damaged = |what: String, at| {
            Error::format(blob.path(), format!("this archive is damaged: {what}"))
                .at_offset(at)
                .advice(DAMAGED)
        };
        let end = HEADER_LEN + u64::from(count) * u64::from(entry_len);
        let mut directory =
            vec![0; usize::try_from(end.min(blob.len()).saturating_sub(HEADER_LEN)).unwrap_or(0)];
        let read = blob.read(HEADER_LEN, &mut directory)?;
        if end > blob.len() || read < directory.len() {
            return Err(damaged(format!("its directory of {count} files is cut off"), blob.len()));
        }
        let mut members: Vec<CbvMember> = Vec::new();
        for (at, entry) in (HEADER_LEN..).step_by(entry_len.into()).zip(directory.chunks(entry_len.into())) {
            members.push(member(entry).map_err(|what| damaged(what.to_owned(), at))?);
        }
        let mut order: Vec<&CbvMember> = members.iter().collect();
        order.sort_by_key(|member| (member.offset, member.packed));
        let mut before = end;
        for CbvMember { name, offset, packed, .. } in order {
            let name = shown(name);
            if *offset < before {
                return Err(damaged(format!("the file {name} begins within another one"), *offset));
            }
            before = offset
                .checked_add(*packed)
                .filter(|end| *end <= blob.len())
                .ok_or_else(|| damaged(format!("the file {name} ends outside of the archive"), *offset))?;
        }
        Ok(Self { blob: Arc::new(blob), members })
    }

    /// The archive.
    pub fn path(&self) -> &Path {
        self.blob.path()
    }

    /// Its members, in its order.
    pub fn members(&self) -> &[CbvMember] {
        &self.members
    }

    /// The stem of the names of the database in the archive.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub(crate) fn stem(&self) -> Result<String> {
        let stem = |member: &CbvMember| member.name.rsplit_once('.').map(|(stem, _)| stem.to_owned());
        let mut stems = self.members.iter().filter(|member| member.is_part(None, "cbh")).filter_map(stem);
        let error = |what| Err(Error::new(ErrorKind::Format, what).at_path(self.path()));
        match (stems.next(), stems.next()) {
            (Some(stem), None) => Ok(stem),
            (Some(_), Some(_)) => error("this archive holds more than one database")
                .map_err(|error: Error| error.advice("unpack it in ChessBase, and name one of them")),
            (None, _) => error("this archive holds no database (.cbh)")
                .map_err(|error: Error| error.advice("save the database in ChessBase as CBH, or as PGN")),
        }
    }

    /// The file of the database with this extension, unpacked where it is read or, if it is one of [`HELD`], at once; `None` if
    /// there is none.
    pub(crate) fn part(&self, stem: &str, extension: &str) -> Option<Result<Blob>> {
        let mut found = self.members.iter().filter(|member| member.is_part(Some(stem), extension));
        let member = found.next()?;
        if found.next().is_some() {
            let what = format!("this archive holds two files of the name {}", shown(&member.name));
            return Some(Err(Error::format(self.path(), what).at_offset(member.offset).advice(DAMAGED)));
        }
        let name = self.path().join(shown(&member.name));
        let is_held = HELD.iter().any(|held| held.eq_ignore_ascii_case(extension));
        Some(self.unpacked(member).and_then(|unpacked| match is_held {
            true => Ok(Blob::new(name, unpacked.whole()?)),
            false => Ok(Blob::from_pieces(name, member.len, Box::new(unpacked))),
        }))
    }

    /// A member, unpacked where it is read.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged.
    pub(super) fn unpacked(&self, member: &CbvMember) -> Result<Unpacked> {
        Unpacked::new(Arc::clone(&self.blob), member)
    }

    /// The offset after the last member.
    pub(super) fn end(&self) -> u64 {
        self.members.iter().map(|member| member.offset + member.packed).max().unwrap_or(HEADER_LEN)
    }

    /// Bytes of the archive.
    pub(crate) fn len(&self) -> u64 {
        self.blob.len()
    }
}

/// Reads an entry. Bytes after the end of a name are rubbish, and are not looked at.
fn member(entry: &[u8]) -> Result<CbvMember, &'static str> {
    const CUT: &str = "an entry of its directory is cut off";
    let name = bytes::slice(entry, 0, NAME_LEN).ok_or(CUT)?;
    let name = name.split(|byte| *byte == 0).next().unwrap_or(name);
    if name.is_empty() {
        return Err("a file has no name");
    }
    let mut numbers = [0; 3];
    for ((number, at), wide) in numbers.iter_mut().zip(NUMBERS_AT).zip(WIDE_AT) {
        let low = u64::from(bytes::u32_le(entry, at).ok_or(CUT)?);
        *number = bytes::array(entry, wide).map_or(low, u64::from_le_bytes);
        if *number & u64::from(u32::MAX) != low {
            return Err("two numbers of a file do not agree");
        }
    }
    let [offset, packed, len] = numbers;
    Ok(CbvMember { name: decode_text(name).into_owned(), offset, packed, len })
}
