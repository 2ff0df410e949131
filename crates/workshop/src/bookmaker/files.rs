//! The files of a build, and the numbers of the games in them.

use std::path::{Path, PathBuf};

use tabiya_games::Sources;

/// Most bits of a game's number that hold its offset in its file: those of the largest file systems.
const MAX_BITS: u32 = 48;

/// The files of a build. A game's number holds the place of its file in the order of names, and its offset in the file. The
/// more files there are, the fewer bits are left for offsets: a million files leave 16 TB of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct BuildFiles {
    /// By name, with the file in which other programs find the games, if there is one.
    known: Vec<(PathBuf, Option<PathBuf>)>,
    /// Bits of the offset.
    bits: u32,
}

impl BuildFiles {
    /// The files of these sources.
    pub fn new(sources: &Sources) -> Self {
        Self::from_names(sources.linked().map(|(name, linked)| (name.to_owned(), linked.map(Path::to_owned))))
    }

    /// Files in the order of their names.
    pub(super) fn from_names(files: impl IntoIterator<Item = (PathBuf, Option<PathBuf>)>) -> Self {
        let mut known: Vec<_> = files.into_iter().collect();
        known.sort();
        known.dedup();
        // The number after that of the last file means none.
        let bits = MAX_BITS.min((known.len() as u64).leading_zeros());
        Self { known, bits }
    }

    /// The number of the game at an offset of a file.
    pub(super) fn number(&self, file: &Path, offset: u64) -> u64 {
        let found = self.known.binary_search_by(|(known, _)| known.as_path().cmp(file));
        (found.unwrap_or(self.known.len()) as u64) << self.bits | offset & self.offsets()
    }

    /// The file in which other programs find the game with this number, if there is one, and the game's offset.
    pub fn place(&self, number: u64) -> Option<(&Path, u64)> {
        let (_, linked) = self.known.get(usize::try_from(number >> self.bits).ok()?)?;
        Some((linked.as_deref()?, number & self.offsets()))
    }

    fn offsets(&self) -> u64 {
        (1 << self.bits) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn games_of_any_number_of_files_have_different_numbers() {
        for files in [1_usize, 2, 65_535, 65_536, 65_537, 131_072, 200_000] {
            let name = |number: usize| PathBuf::from(format!("{number:06}.pgn"));
            let all = BuildFiles::from_names((0..files).map(|number| (name(number), Some(name(number)))));
            let mut met = HashSet::new();
            for number in (0..files).step_by(files.div_ceil(4)) {
                for offset in [0, 1, 1 << 40] {
                    let game = all.number(&name(number), offset);
                    met.insert(game);
                    assert_eq!(all.place(game), Some((&*name(number), offset)), "{files} {number}");
                }
            }
            let tried = (0..files).step_by(files.div_ceil(4)).count();
            assert_eq!(met.len(), 3 * tried);
            assert_eq!(all.place(all.number(Path::new("other.pgn"), 7)), None);
        }
    }

    #[test]
    fn games_that_no_other_program_finds_have_no_place() {
        let files =
            BuildFiles::from_names([("a.pgn.gz".into(), None), ("b.cbg".into(), Some("b.cbh".into()))]);
        assert_eq!(files.place(files.number(Path::new("a.pgn.gz"), 7)), None);
        let number = files.number(Path::new("b.cbg"), 9);
        assert_eq!(files.place(number), Some((Path::new("b.cbh"), 9)));
    }
}
