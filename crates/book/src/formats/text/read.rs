//! Where the lines of each position are.

use tabiya_chess::Variant;

use super::line::{lines, with_line};

/// Lines that are found; the rest of a larger file is ignored. It bounds the index to 256 MB.
pub(super) const MAX_LINES: usize = 1 << 24;

/// The places of lines by their positions.
#[derive(Debug, Default)]
pub(super) struct TextIndex {
    /// Keys and offsets, ascending.
    known: Vec<(u64, u64)>,
    /// Different positions.
    pub positions: u64,
}

impl TextIndex {
    /// Finds the lines of positions with moves.
    pub(super) fn new(data: &[u8], variant: Variant) -> Self {
        let found = lines(data).filter_map(|(at, line)| {
            let key = with_line(line, |line| {
                line.has_moves().then(|| line.position(variant)).flatten().map(|at| at.whole_key())
            });
            Some((key.ok().flatten().flatten()?, at as u64))
        });
        let mut known: Vec<(u64, u64)> = found.take(MAX_LINES).collect();
        known.sort_unstable();
        known.shrink_to_fit();
        let positions = known.chunk_by(|a, b| a.0 == b.0).count() as u64;
        Self { known, positions }
    }

    /// Lines that are found.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// The number of the first line of a position.
    pub(super) fn first(&self, key: u64) -> Option<usize> {
        let first = self.known.partition_point(|(known, _)| *known < key);
        self.known.get(first).filter(|(known, _)| *known == key).map(|_| first)
    }

    /// Where the lines of the position are that has this line as its first.
    pub(super) fn lines(&self, first: usize) -> impl Iterator<Item = usize> {
        let lines = self.known.get(first..).unwrap_or_default();
        let key = lines.first().map(|(key, _)| *key);
        let of = lines.iter().take_while(move |(other, _)| Some(*other) == key);
        of.filter_map(|(_, at)| usize::try_from(*at).ok())
    }

    /// The number of the first line of each position.
    pub(super) fn positions(&self) -> impl Iterator<Item = usize> {
        let mut next = 0;
        self.known.chunk_by(|a, b| a.0 == b.0).map(move |of| {
            let first = next;
            next += of.len();
            first
        })
    }
}
