//! Writes a book: entries in the order of their keys, those of one position by descending weight.
#![allow(clippy::cast_possible_truncation, reason = "both numbers are halved until they fit")]

use std::io::Write as _;
use std::path::Path;

use tabiya_base::error::Result;
use tabiya_base::replace::Replacement;
use tabiya_chess::MoveCode;

use super::entry::PolyglotEntry;
use crate::write::{BesidesWeights, Needs};
use crate::{BookWriter, Learned, MoveFacts, PositionRecord, WriteOptions, Written, left_out};

/// The greatest weight that an entry can hold.
const MAX: u64 = u16::MAX as u64;

/// A Polyglot book that is being written.
#[derive(Debug)]
pub struct PolyglotWriter {
    file: Replacement,
    needs: Needs,
    entries: Vec<PolyglotEntry>,
    written: Written,
    lost: PolyglotLeftOut,
}

/// What the format has no place for.
#[derive(Debug, Default)]
struct PolyglotLeftOut {
    besides: BesidesWeights,
    comments: u64,
    only_lost: u64,
}

impl PolyglotWriter {
    /// Begins a book at `path`.
    ///
    /// # Errors
    /// As [`Replacement::new`].
    pub fn new(path: &Path, options: &WriteOptions) -> Result<Self> {
        let file = Replacement::new(path, options.force)?;
        let written = Written { files: vec![path.to_owned()], ..Written::default() };
        let needs = options.needs();
        Ok(Self { file, needs, entries: Vec::new(), written, lost: PolyglotLeftOut::default() })
    }
}

impl BookWriter for PolyglotWriter {
    fn needs_positions(&self) -> bool {
        false
    }

    fn held_weights(&self, known: &PositionRecord) -> Option<Vec<u64>> {
        let heaviest = known.moves.iter().map(|known| known.weight).max().unwrap_or(0);
        Some(known.moves.iter().map(|known| scaled(known.weight, heaviest).into()).collect())
    }

    fn add(&mut self, known: &PositionRecord) -> Result<()> {
        let heaviest = known.moves.iter().map(|known| known.weight).max().unwrap_or(0);
        self.entries.clear();
        let written = || known.moves.iter().filter(|found| !found.is_struck_out());
        let kept = written().filter(|found| !only_lost(found));
        self.entries.extend(kept.map(|found| entry(known.key, found, heaviest)));
        self.entries.sort_unstable_by_key(|entry| (std::cmp::Reverse(entry.weight), entry.mv.0));
        for entry in &self.entries {
            let written = self.file.write_all(&entry.to_bytes());
            written.map_err(|error| self.file.error(error))?;
        }
        self.written.positions += u64::from(!self.entries.is_empty());
        self.written.moves += self.entries.len() as u64;
        self.lost.besides.add(written());
        self.lost.only_lost += written().filter(|known| only_lost(known)).count() as u64;
        self.lost.comments += u64::from(known.comment.is_some());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let Self { file, needs, mut written, lost, .. } = *self;
        written.left_out = left_out(
            lost.besides
                .named()
                .into_iter()
                .chain([("comments", lost.comments), ("moves that only lost", lost.only_lost)]),
        );
        needs.commit(file, written)
    }
}

/// Whether a move is in its book only because that counts games, and it lost them all: this format leaves such moves out.
fn only_lost<M>(known: &MoveFacts<M>) -> bool {
    let lost = known.counts.is_some_and(|counts| counts.losses > 0 && counts.wins | counts.draws == 0);
    lost && known.weight == 0 && known.learned.is_none()
}

/// A move as an entry, in a position whose heaviest move weighs `heaviest`.
fn entry(key: u64, known: &MoveFacts<MoveCode>, heaviest: u64) -> PolyglotEntry {
    let (games, halfpoints) = learned(known.learned);
    PolyglotEntry { key, mv: known.mv, weight: scaled(known.weight, heaviest), games, halfpoints }
}

/// A weight in 16 bits: unchanged if the position's heaviest fits, otherwise in proportion to that, which becomes 65535.
/// A weight above 0 stays above 0.
fn scaled(weight: u64, heaviest: u64) -> u16 {
    if heaviest <= MAX {
        return u16::try_from(weight).unwrap_or(u16::MAX);
    }
    let heaviest = u128::from(heaviest);
    let share = (u128::from(weight) * u128::from(MAX) + heaviest / 2) / heaviest;
    u16::try_from(share).unwrap_or(u16::MAX).max(u16::from(weight > 0))
}

/// Games and half-points in 16 bits each, halved together until both fit.
fn learned(learned: Option<Learned>) -> (u16, u16) {
    let Learned { mut games, mut halfpoints } = learned.unwrap_or_default();
    while games.max(halfpoints) > u32::from(u16::MAX) {
        games /= 2;
        halfpoints /= 2;
    }
    (games as u16, halfpoints as u16)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tabiya_base::progress::Progress;

    use super::super::{Polyglot, PolyglotEntries};
    use super::*;
    use crate::{Moves, Scope};

    fn written(book: &[PositionRecord]) -> (Vec<u8>, Written) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let mut writer = Box::new(PolyglotWriter::new(&path, &WriteOptions::default()).unwrap());
        for known in book {
            writer.add(known).unwrap();
        }
        let written = writer.finish().unwrap();
        (std::fs::read(&path).unwrap(), written)
    }

    #[test]
    fn a_position_that_does_not_fit_is_scaled_as_a_whole() {
        let moves = [(1, 0), (2, 1), (3, 65_536), (4, 131_072), (5, u64::MAX / 2)];
        let known = |moves: &[(u16, u64)]| PositionRecord {
            key: 7,
            moves: moves.iter().map(|&(mv, weight)| MoveFacts::new(MoveCode(mv), weight)).collect(),
            ..PositionRecord::default()
        };
        let weights = |moves: &[(u16, u64)]| {
            let (bytes, _) = written(&[known(moves)]);
            PolyglotEntries::new(&bytes).iter().map(|entry| (entry.mv.0, entry.weight)).collect::<Vec<_>>()
        };
        assert_eq!(weights(&moves[..4]), [(4, 65535), (3, 32768), (2, 1), (1, 0)]);
        assert_eq!(weights(&moves), [(5, 65535), (2, 1), (3, 1), (4, 1), (1, 0)]);
        assert_eq!(weights(&[(1, 65535), (2, 3)]), [(1, 65535), (2, 3)]);
    }

    #[test]
    fn moves_that_only_lost_are_left_out() {
        let of = |mv, weight, [wins, draws, losses]: [u64; 3]| MoveFacts {
            counts: Some(crate::Counts { games: wins + draws + losses, wins, draws, losses }),
            ..MoveFacts::new(MoveCode(mv), weight)
        };
        let learned = MoveFacts { learned: Some(Learned { games: 2, halfpoints: 1 }), ..of(4, 0, [0, 0, 3]) };
        let moves =
            vec![of(1, 3, [1, 1, 1]), of(2, 0, [0, 0, 3]), of(3, 0, [0, 0, 0]), learned, of(5, 7, [0, 0, 2])];
        let lost = vec![of(1, 0, [0, 0, 1])];
        let known = [
            PositionRecord { key: 7, moves, ..PositionRecord::default() },
            PositionRecord { key: 8, moves: lost, ..PositionRecord::default() },
        ];
        let (bytes, written) = written(&known);
        let kept: Vec<_> =
            PolyglotEntries::new(&bytes).iter().map(|entry| (entry.mv.0, entry.weight)).collect();
        assert_eq!(kept, [(5, 7), (1, 3), (3, 0), (4, 0)]);
        assert_eq!((written.positions, written.moves), (1, 4));
        assert!(written.left_out.contains(&("moves that only lost".to_owned(), 2)));
    }

    #[test]
    fn every_mark_and_colour_is_counted() {
        use crate::{Annotation, Recommendation};
        let marked = |mv, annotation| MoveFacts { annotation, ..MoveFacts::new(MoveCode(mv), 1) };
        let green = MoveFacts { recommended: Some(Recommendation::Green), ..MoveFacts::new(MoveCode(3), 1) };
        let moves = vec![
            marked(1, Some(Annotation::Good)),
            marked(2, Some(Annotation::Other(0x24))),
            green,
            marked(4, None),
        ];
        let (_, written) = written(&[PositionRecord { key: 7, moves, ..PositionRecord::default() }]);
        let what = "marks or colors of moves, which act only through the weights";
        assert_eq!(written.left_out, [(what.to_owned(), 3)]);
    }

    #[test]
    fn what_was_learned_is_halved_until_it_fits() {
        let of = |games, halfpoints| learned(Some(Learned { games, halfpoints }));
        assert_eq!(of(65_535, 65_535), (65_535, 65_535));
        assert_eq!(of(65_535, 131_070), (32_767, 65_535));
        assert_eq!(of(u32::MAX, 0), (65_535, 0));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            book in prop::collection::btree_map(
                any::<u64>(),
                prop::collection::btree_map(1..0x4fff_u16, (0..=65_535_u64, 0..30_000_u32, 0..=2_u32), 1..9),
                0..40,
            ),
        ) {
            let known: Vec<_> = book.iter().map(|(&key, moves)| PositionRecord {
                key,
                moves: moves.iter().filter(|(code, _)| MoveCode(**code).error(tabiya_chess::Variant::Chess).is_none())
                    .map(|(&code, &(weight, games, points))| MoveFacts {
                        learned: (games > 0).then_some(Learned { games, halfpoints: games * points }),
                        ..MoveFacts::new(MoveCode(code), weight)
                    }).collect(),
                ..PositionRecord::default()
            }).filter(|known| !known.moves.is_empty()).collect();
            let (bytes, total) = written(&known);
            prop_assert_eq!(total.moves, bytes.len() as u64 / 16);
            let mut read = Vec::new();
            Polyglot::new("a.bin", bytes).each(Scope::All, &Progress::none(), &mut |known| {
                let mut known = known.clone();
                known.moves.sort_by_key(|known| known.mv.0);
                read.push((known.key, known.moves));
                Ok(())
            })
            .unwrap();
            prop_assert_eq!(read, known.into_iter().map(|known| (known.key, known.moves)).collect::<Vec<_>>());
        }
    }
}
