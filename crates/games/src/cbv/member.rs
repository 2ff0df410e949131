//! A member, and its bytes at any place.
#![allow(clippy::cast_possible_truncation, reason = "a block has at most 65,536 bytes")]

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tabiya_base::blob::{Blob, Pieces, Window};
use tabiya_base::error::{Error, Result};
use tabiya_base::interrupt;

use super::layout::{BLOCK, HEAD_LEN, MAX_BLOCK, MAX_BLOCKS, MAX_HELD, MAX_MEMBER};
use super::unpack::{checksum, head, unpack};

/// What to do with an archive that is damaged.
pub(super) const DAMAGED: &str = "copy or download it again";

/// Unpacked blocks of a member that are kept: some for each thread, 4 MB in all.
const MAX_KEPT: usize = 64;

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CbvMember {
    /// Its name, with folders before it separated by `\`.
    pub name: String,
    /// Where its packed bytes begin in the archive.
    pub offset: u64,
    /// How many packed bytes it has.
    pub packed: u64,
    /// How many bytes they unpack to.
    pub len: u64,
}

impl CbvMember {
    /// Whether it is the file of the database with this extension.
    pub(super) fn is_part(&self, stem: Option<&str>, extension: &str) -> bool {
        let Some((name, end)) = self.name.rsplit_once('.') else { return false };
        end.eq_ignore_ascii_case(extension)
            && !name.contains(['\\', '/'])
            && stem.is_none_or(|stem| name.to_lowercase() == stem.to_lowercase())
    }
}

/// A name without characters that would garble messages or mean a folder.
pub(super) fn shown(name: &str) -> String {
    name.chars()
        .map(|letter| if letter.is_control() || "\\/:".contains(letter) { '_' } else { letter })
        .collect()
}

/// A block: where its head is in the archive, the length of its content, and where its bytes begin in the member.
#[derive(Clone, Copy, Debug)]
struct Block {
    offset: u64,
    len: u16,
    start: u64,
}

/// A member that is unpacked where it is read. Several threads may read at the same time.
pub(crate) struct Unpacked {
    blob: Arc<Blob>,
    name: String,
    len: u64,
    blocks: Vec<Block>,
    /// The blocks that were read last, by their numbers.
    kept: Mutex<VecDeque<(usize, Arc<Vec<u8>>)>>,
}

impl fmt::Debug for Unpacked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unpacked").field("name", &self.name).field("len", &self.len).finish_non_exhaustive()
    }
}

impl Unpacked {
    /// Finds the blocks of a member, and compares their checksums.
    pub(super) fn new(blob: Arc<Blob>, member: &CbvMember) -> Result<Self> {
        let name = shown(&member.name);
        let mut all =
            Self { blob, name, len: member.len, blocks: Vec::new(), kept: Mutex::new(VecDeque::new()) };
        if member.len > MAX_MEMBER {
            return Err(all.damaged(member.offset, "unpacks to more than 4 GiB"));
        }
        let mut window = Window::default();
        let (mut at, end) = (member.offset, member.offset + member.packed);
        while at < end {
            interrupt::check()?;
            let head = head(window.get(&all.blob, at, HEAD_LEN)?);
            let (len, sum) = head.ok_or_else(|| all.damaged(at, "is cut off"))?;
            let content = window.get(&all.blob, at + HEAD_LEN, len.into())?;
            let next = at + HEAD_LEN + u64::from(len);
            if len == 0 || next > end || content.len() < usize::from(len) {
                return Err(all.damaged(at, "has a block of a wrong length"));
            }
            if checksum(content) != sum {
                return Err(all.damaged(at, "has a block with a wrong checksum"));
            }
            if all.blocks.len() == MAX_BLOCKS {
                return Err(all.damaged(at, "has too many blocks"));
            }
            let start = all.blocks.len() as u64 * BLOCK;
            all.blocks.push(Block { offset: at, len, start });
            at = next;
        }
        if all.blocks.len() as u64 != member.len.div_ceil(BLOCK) {
            all.measure()?;
        }
        Ok(all)
    }

    /// Unpacks the blocks to find where they begin: they are shorter than those of real archives.
    fn measure(&mut self) -> Result<()> {
        let mut start = 0;
        for number in 0..self.blocks.len() {
            interrupt::check()?;
            let Some(block) = self.blocks.get(number).copied() else { break };
            let len = self.content(block)?.len() as u64;
            if let Some(block) = self.blocks.get_mut(number) {
                block.start = start;
            }
            start += len;
            if start > self.len {
                return Err(self.damaged(block.offset, "unpacks to more bytes than it says"));
            }
        }
        let end = self.blocks.last().map_or(0, |block| block.offset);
        if start == self.len { Ok(()) } else { Err(self.damaged(end, "unpacks to fewer bytes than it says")) }
    }

    /// What is wrong with the member.
    fn damaged(&self, at: u64, what: &str) -> Error {
        let what = format!("this archive is damaged: the file {} {what}", self.name);
        Error::format(self.blob.path(), what).at_offset(at).advice(DAMAGED)
    }

    fn content(&self, block: Block) -> Result<Vec<u8>> {
        let mut packed = vec![0; block.len.into()];
        let read = self.blob.read(block.offset + HEAD_LEN, &mut packed)?;
        if read < packed.len() {
            return Err(self.damaged(block.offset, "is cut off"));
        }
        let mut out = Vec::with_capacity(MAX_BLOCK);
        unpack(&packed, &mut out)
            .map_err(|what| self.damaged(block.offset, &format!("cannot be unpacked: {what}")))?;
        Ok(out)
    }

    /// The bytes of a block.
    fn get(&self, number: usize) -> Result<Option<Arc<Vec<u8>>>> {
        let Some(block) = self.blocks.get(number).copied() else { return Ok(None) };
        {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(place) = kept.iter().rposition(|(known, _)| *known == number)
                && let Some(found) = kept.remove(place)
            {
                let bytes = Arc::clone(&found.1);
                kept.push_back(found);
                return Ok(Some(bytes));
            }
        }
        let bytes = self.content(block)?;
        let end = self.blocks.get(number + 1).map_or(self.len, |next| next.start);
        if bytes.len() as u64 != end - block.start {
            return Err(self.damaged(block.offset, "has a block that unpacks to another length than others"));
        }
        let bytes = Arc::new(bytes);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((number, Arc::clone(&bytes)));
        if kept.len() > MAX_KEPT {
            kept.pop_front();
        }
        Ok(Some(bytes))
    }

    /// Unpacks every block.
    ///
    /// # Errors
    /// When one is damaged.
    pub(super) fn check(&self) -> Result<()> {
        for number in 0..self.blocks.len() {
            interrupt::check()?;
            self.get(number)?;
        }
        Ok(())
    }

    /// All bytes.
    ///
    /// # Errors
    /// When a block is damaged, or they are more than are held in memory.
    pub(super) fn whole(&self) -> Result<Vec<u8>> {
        if self.len > MAX_HELD {
            let at = self.blocks.first().map_or(0, |block| block.offset);
            return Err(self.damaged(at, "is longer than any such file"));
        }
        let mut all = Vec::new();
        for number in 0..self.blocks.len() {
            if let Some(bytes) = self.get(number)? {
                all.extend_from_slice(&bytes);
            }
        }
        Ok(all)
    }
}

impl Pieces for Unpacked {
    fn read(&self, at: u64, out: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        let mut number = self.blocks.partition_point(|block| block.start <= at).saturating_sub(1);
        while done < out.len() {
            let Some(block) = self.blocks.get(number) else { break };
            let Some(bytes) = self.get(number)? else { break };
            let within =
                usize::try_from((at + done as u64).saturating_sub(block.start)).unwrap_or(usize::MAX);
            let from = bytes.get(within..).unwrap_or_default();
            let into = out.get_mut(done..).unwrap_or_default();
            into.iter_mut().zip(from).for_each(|(into, from)| *into = *from);
            done += from.len().min(into.len());
            number += 1;
        }
        Ok(done)
    }
}
