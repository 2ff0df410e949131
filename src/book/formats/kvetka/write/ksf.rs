//! Writing a `.ksf` file: sources and games one behind the other; the contents before them when all are known.

use std::io::{self, Read, Seek, SeekFrom, Write};

use super::super::element::Link;
use super::super::read::sources::{Game, Sources};
use super::super::wire::{put_ansi, put_unicode};

/// The most sources that links can name.
const MOST_SOURCES: usize = 1 << 16;

/// The last offset of a source behind the contents, which have 260 KB at most: the whole has 32 bits.
const LAST: u64 = u32::MAX as u64 - (1 << 19);

/// The sources of a `.ksf` file on their way into a temporary file.
#[derive(Debug)]
pub struct KsfWriter<W> {
    body: W,
    /// Offset of each source begun, behind the contents.
    starts: Vec<u32>,
    /// Bytes so far.
    at: u64,
    /// Offset of the present source's number of games.
    count_at: u64,
    games: u32,
    buffer: Vec<u8>,
}

impl<W: Read + Write + Seek> KsfWriter<W> {
    /// Begins with an empty file for what stands behind the contents.
    pub fn new(body: W) -> Self {
        Self { body, starts: Vec::new(), at: 0, count_at: 0, games: 0, buffer: Vec::new() }
    }

    /// Begins the next source: its kind, whether it is gone, and where it is; `false` where no more have room.
    ///
    /// # Errors
    /// When it cannot be written; so for the others.
    pub fn source(&mut self, kind: u8, gone: bool, address: &str) -> io::Result<bool> {
        self.end_source()?;
        let start = u32::try_from(self.at).ok().filter(|start| u64::from(*start) <= LAST);
        let Some(start) = start.filter(|_| self.starts.len() < MOST_SOURCES) else { return Ok(false) };
        self.starts.push(start);
        self.buffer.clear();
        self.buffer.extend([kind, u8::from(gone)]);
        put_unicode(address, &mut self.buffer);
        self.count_at = self.at + self.buffer.len() as u64;
        self.buffer.extend([0; 4]);
        self.put()?;
        Ok(true)
    }

    /// Adds a game to the present source; the link that leads to it. `None` before the first source, and where no
    /// more have room in it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn game(&mut self, game: &Game) -> io::Result<Option<Link>> {
        let source = self.starts.len().checked_sub(1).and_then(|source| u16::try_from(source).ok());
        let (Some(source), Some(next)) = (source, self.games.checked_add(1)) else { return Ok(None) };
        let link = Link { source, game: self.games };
        self.buffer.clear();
        self.buffer.extend(game.address.to_be_bytes());
        self.buffer.extend(game.length.to_be_bytes());
        put_ansi(&game.white, &mut self.buffer);
        put_ansi(&game.black, &mut self.buffer);
        self.buffer.extend(game.white_elo.to_be_bytes());
        self.buffer.extend(game.black_elo.to_be_bytes());
        self.buffer.push(game.result);
        self.put()?;
        self.games = next;
        Ok(Some(link))
    }

    /// Writes the whole file: the contents, then the sources.
    ///
    /// # Errors
    /// When it cannot be written, or the temporary file cannot be read.
    pub fn finish(mut self, out: &mut impl Write) -> io::Result<()> {
        self.end_source()?;
        let len = Sources::contents_len(self.starts.len() as u64);
        let mut contents = (self.starts.len() as u32).to_be_bytes().to_vec();
        contents.extend(self.starts.iter().flat_map(|start| (start + len as u32).to_be_bytes()));
        contents.resize(len as usize, 0);
        out.write_all(&contents)?;
        self.body.seek(SeekFrom::Start(0))?;
        io::copy(&mut self.body, out)?;
        Ok(())
    }

    fn end_source(&mut self) -> io::Result<()> {
        if self.games > 0 {
            self.body.seek(SeekFrom::Start(self.count_at))?;
            self.body.write_all(&self.games.to_be_bytes())?;
            self.body.seek(SeekFrom::Start(self.at))?;
        }
        self.games = 0;
        Ok(())
    }

    fn put(&mut self) -> io::Result<()> {
        self.body.write_all(&self.buffer)?;
        self.at += self.buffer.len() as u64;
        Ok(())
    }
}
