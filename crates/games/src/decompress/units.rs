//! Zstandard files, decompressed ahead of their reader. Short frames, as `pzstd` and `tabiya export` write them, are
//! decompressed on several threads in parallel. A long frame, or anything that is not a frame, goes to one thread together
//! with the rest of the file.
//!
//! The bytes and the errors are those of one decoder that reads the whole file.
//!
//! This needs processors to spare. With two, the threads compete with those that read the games: 300,000 games
//! (`benches/lichess_games.py`) take 2.2 s instead of 1.8 s for 16 plies. Only where nearly all games are left out is it
//! faster, 1.6 s instead of 1.8 s.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use super::frames::Frames;
use super::{Failing, ReadAhead, ZSTD, is_skippable};
use crate::pipe::{self, BLOCK_LEN, Pipe};

/// Compressed bytes that are worth a thread.
const WORTH: usize = 1 << 19;

/// The most compressed bytes that a thread is given at a time; a frame of `pzstd -19` has 5 MB.
const MOST: usize = 1 << 24;

/// Bytes of text for a byte of a compressed file of games, about.
const RATIO: usize = 7;

impl ReadAhead {
    /// The most compressed bytes for a thread.
    fn most(self) -> usize {
        (self.memory / (RATIO + 1)).min(MOST)
    }

    /// The decompressed bytes of one thread that may wait.
    fn waiting(self) -> usize {
        (self.memory - self.most()).min(MOST * RATIO)
    }
}

/// A Zstandard file whose parts are decompressed by threads.
pub(super) struct Units<R> {
    /// The file, until a thread has the rest of it.
    file: Option<R>,
    /// What was read of the file, and no thread has yet.
    read: Vec<u8>,
    /// Where the frame begins that is being read.
    frame_at: usize,
    /// The parts in their order.
    running: VecDeque<Pipe>,
    ahead: ReadAhead,
}

/// Why no frame was read whole.
enum Stop {
    /// It is too long, cut off or damaged, or it is not a frame.
    Other,
    /// The file cannot be read.
    Failed(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl<R: BufRead + Send + 'static> Units<R> {
    /// Decompresses a file with this much room.
    pub fn new(file: R, ahead: ReadAhead) -> Self {
        Self { file: Some(file), read: Vec::new(), frame_at: 0, running: VecDeque::new(), ahead }
    }

    /// Gives the next part of the file to a thread.
    fn start(&mut self) {
        let next = loop {
            self.frame_at = self.read.len();
            match self.frame() {
                Ok(true) if self.read.len() < WORTH => {}
                next => break next,
            }
        };
        let whole = if next.is_ok() { self.read.len() } else { self.frame_at };
        let rest = Cursor::new(self.read.split_off(whole));
        let frames = std::mem::take(&mut self.read);
        if !frames.is_empty() {
            self.run(self.ahead.waiting() / BLOCK_LEN, Cursor::new(frames));
        }
        match (next, self.file.take()) {
            (Ok(true), file) => self.file = file,
            (Err(Stop::Other), Some(file)) => self.run(pipe::AHEAD, rest.chain(file)),
            (Err(Stop::Failed(error)), _) => {
                self.run(pipe::AHEAD, rest.chain(BufReader::new(Failing(Some(error)))))
            }
            (Ok(false) | Err(Stop::Other), _) => {}
        }
    }

    fn run(&mut self, blocks: usize, part: impl BufRead + Send + 'static) {
        self.running.push_back(Pipe::new(blocks, move || Frames::new(part)));
    }

    /// Reads a frame (RFC 8878, section 3.1); `false` at the end of the file.
    fn frame(&mut self) -> Result<bool, Stop> {
        let Some(file) = &mut self.file else { return Ok(false) };
        if file.fill_buf()?.is_empty() {
            return Ok(false);
        }
        let sign = self.number(4)?.to_le_bytes();
        if is_skippable(&sign) {
            let len = self.number(4)?;
            self.more(len)?;
            return Ok(true);
        }
        if !sign.starts_with(&ZSTD) {
            return Err(Stop::Other);
        }
        let descriptor = self.number(1)?;
        let (has_window, has_checksum) = (descriptor & 0x20 == 0, descriptor & 4 != 0);
        let window = if has_window { Some(window_len(self.number(1)?)) } else { None };
        // The number of a dictionary, which is of no use here.
        self.more((1 << (descriptor & 3)) >> 1)?;
        let content = self.number(match descriptor >> 6 {
            0 => u64::from(!has_window),
            size => 1 << size,
        })?;
        // Without a window, the decoder holds all of the content.
        if window.unwrap_or(content) > self.ahead.waiting() as u64 {
            return Err(Stop::Other);
        }
        loop {
            let block = self.number(3)?;
            match block >> 1 & 3 {
                // One byte that is repeated.
                1 => self.more(1)?,
                3 => return Err(Stop::Other),
                _ => self.more(block >> 3)?,
            }
            if block & 1 == 1 {
                break;
            }
        }
        self.more(if has_checksum { 4 } else { 0 })?;
        Ok(true)
    }

    /// Reads a little-endian number of `len` bytes, as the next part of the frame.
    fn number(&mut self, len: u64) -> Result<u64, Stop> {
        let at = self.read.len();
        self.more(len)?;
        let bytes = self.read.get(at..).unwrap_or_default();
        Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Reads the next `len` bytes of the frame.
    fn more(&mut self, len: u64) -> Result<(), Stop> {
        let so_far = (self.read.len() - self.frame_at) as u64;
        let Some(file) = self.file.as_mut().filter(|_| so_far + len <= self.ahead.most() as u64) else {
            return Err(Stop::Other);
        };
        if (file.take(len).read_to_end(&mut self.read)? as u64) < len { Err(Stop::Other) } else { Ok(()) }
    }
}

/// The bytes of a window (RFC 8878, section 3.1.1.1.2).
fn window_len(byte: u64) -> u64 {
    let base = 1 << (10 + (byte >> 3));
    base + base / 8 * (byte & 7)
}

impl<R: BufRead + Send + 'static> Read for Units<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while !into.is_empty() {
            while self.file.is_some() && self.running.len() < self.ahead.threads {
                self.start();
            }
            let Some(first) = self.running.front_mut() else { break };
            match first.read(into) {
                Ok(0) => drop(self.running.pop_front()),
                Ok(read) => return Ok(read),
                Err(error) => {
                    self.file = None;
                    self.running.clear();
                    return Err(error);
                }
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::decompressed;
    use super::*;
    use proptest::prelude::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use tabiya_base::resources::Resources;

    fn read(bytes: &[u8], ahead: ReadAhead) -> (Vec<u8>, Option<String>) {
        let mut text = Vec::new();
        let read =
            decompressed(Cursor::new(bytes.to_vec()), ahead).and_then(|mut from| from.read_to_end(&mut text));
        (text, read.err().map(|error| error.to_string()))
    }

    /// Frames of texts of these lengths, each after one to be skipped, as `pzstd` writes them.
    fn frames(lens: &[usize]) -> (Vec<u8>, Vec<u8>) {
        let (mut text, mut packed) = (Vec::new(), Vec::new());
        for (number, len) in lens.iter().enumerate() {
            let part: Vec<u8> =
                (0..).flat_map(|at: usize| (at * (number + 3)).to_string().into_bytes()).take(*len).collect();
            let frame = compress_to_vec(&part[..], CompressionLevel::Fastest);
            packed.extend(b"\x50\x2a\x4d\x18\x04\0\0\0");
            packed.extend(u32::try_from(frame.len()).unwrap().to_le_bytes());
            packed.extend(frame);
            text.extend(part);
        }
        (text, packed)
    }

    #[test]
    fn few_threads_are_left_to_the_games() {
        for (threads, expected) in [(1, 0), (3, 0), (4, 2), (8, 4)] {
            let resources = Resources { threads, memory: 1 << 30, temp: std::path::PathBuf::new() };
            let ahead = ReadAhead::of(&resources);
            assert_eq!((ahead.threads, ahead.is_wanted()), (expected, expected > 0));
            let left = if expected > 0 { (1 << 30) / 8 * 7 } else { 1 << 30 };
            assert_eq!(ahead.left(&resources), left);
        }
    }

    #[test]
    fn frames_are_decompressed_by_several_threads() {
        let (text, packed) = frames(&[tabiya_testing::times(1_000_000, 3_000_000); 8]);
        let mut units =
            Units::new(BufReader::new(Cursor::new(packed)), ReadAhead { threads: 3, memory: 1 << 25 });
        let mut first = [0];
        assert_eq!(units.read(&mut first).unwrap(), 1);
        assert!(units.file.is_some() && units.running.len() == 3);
        let mut rest = Vec::new();
        units.read_to_end(&mut rest).unwrap();
        assert_eq!([&first[..], &rest].concat(), text);
    }

    #[test]
    fn a_frame_that_needs_more_memory_is_left_to_one_thread() {
        let (text, packed) = frames(&[100_000, 100_000, 3_000_000, 100]);
        let mut units = Units::new(Cursor::new(packed), ReadAhead { threads: 4, memory: 1 << 20 });
        let mut read = vec![0; 1];
        units.read_exact(&mut read).unwrap();
        assert!(units.file.is_none() && units.running.len() == 2);
        units.read_to_end(&mut read).unwrap();
        assert_eq!(read, text);
        for (byte, len) in [(0, 1 << 10), (7, (1 << 10) * 15 / 8), (0xff, 15 << 38)] {
            assert_eq!(window_len(byte), len);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn whatever_the_bytes_it_is_as_without_threads(
            lens in prop::collection::vec(0..3000_usize, 0..12),
            cut in prop::option::of(any::<prop::sample::Index>()),
            changed in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
            threads in 1..4_usize,
            memory in prop::sample::select(vec![0, 1 << 10, 1 << 13, 1 << 20]),
        ) {
            let (_, mut packed) = frames(&lens);
            if let Some(cut) = cut.filter(|_| !packed.is_empty()) {
                packed.truncate(cut.index(packed.len()));
            }
            for (at, byte) in changed {
                if !packed.is_empty() {
                    let at = at.index(packed.len());
                    packed[at] = byte;
                }
            }
            let (text, error) = read(&packed, ReadAhead { threads, memory });
            let (expected, expected_error) = read(&packed, ReadAhead::default());
            prop_assert_eq!(&error, &expected_error);
            // How much comes before an error depends on how much is asked for at a time.
            let less = text.len().min(expected.len());
            prop_assert!(text[..less] == expected[..less] && (error.is_some() || text.len() == expected.len()));
        }
    }
}
