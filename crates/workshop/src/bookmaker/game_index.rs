//! The index of a build's games, for books that name games.
#![allow(clippy::cast_possible_truncation, reason = "the name is cut before")]

use std::num::NonZeroU16;
use std::sync::Mutex;

use tabiya_base::bytes;
use tabiya_base::bytes::Parts as _;
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::sort::Sorter;
use tabiya_book::{BookWriter, CBH_RECORD, GameReference, Points, ReferenceKind};
use tabiya_chess::rating_number;
use tabiya_games::{GameHeader, GameResult, LineOrGame};

use super::Resources;
use super::files::BuildFiles;

/// Bytes of an entry before the names.
const HEAD: usize = 8 + 8 + 1 + 1 + 2 + 2 + 2;

/// Offset of the result in an entry.
const RESULT: usize = 17;

/// The games that count. They come in any order, and the writer gets them in the order of their numbers.
#[derive(Debug)]
pub struct GameIndex(Mutex<Sorter>);

impl GameIndex {
    /// An empty index, which takes an eighth of the memory.
    pub fn new(resources: &Resources) -> Self {
        Self(Mutex::new(Sorter::new(&resources.temp, resources.memory / 8)))
    }

    /// Writes the entry of a game whose result is not known yet: number, length or record, which of the two, result,
    /// ratings, length of White's name, names.
    pub(crate) fn write_entry(number: u64, game: &GameHeader, entry: &mut Vec<u8>) {
        entry.clear();
        entry.extend(number.to_be_bytes());
        // A database finds a game by its record.
        let (length, is_record) = match game.place.spot {
            LineOrGame::Game(number) => (number, 1),
            _ => (game.place.length, 0),
        };
        entry.extend(length.to_be_bytes());
        entry.extend([is_record, u8::MAX]);
        entry.extend(rating_number(game.white_elo).to_be_bytes());
        entry.extend(rating_number(game.black_elo).to_be_bytes());
        let white = game.white.as_bytes();
        let white = white.part(..white.len().min(usize::from(u16::MAX)));
        entry.extend((white.len() as u16).to_be_bytes());
        entry.extend(white);
        entry.extend(game.black.as_bytes());
    }

    /// Sets the result of an entry, and takes it in.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub fn add(&self, entry: &mut [u8], result: Option<GameResult>) -> Result<()> {
        if let Some(place) = entry.get_mut(RESULT) {
            *place = match result {
                Some(GameResult::Black) => 0,
                Some(GameResult::Draw) => 1,
                Some(GameResult::White) => 2,
                None => u8::MAX,
            };
        }
        let poisoned = |_| Error::new(ErrorKind::Interrupted, "another thread has failed");
        self.0.lock().map_err(poisoned)?.push(entry)
    }

    /// Hands the games over in the order of their numbers. Returns how many no other program could find: they are left out.
    ///
    /// # Errors
    /// When a temporary file cannot be read, or the book cannot be written.
    pub(crate) fn hand_over(self, files: &BuildFiles, writer: &mut dyn BookWriter) -> Result<u64> {
        let Ok(sorter) = self.0.into_inner() else { return Ok(0) };
        let mut lost = 0;
        let mut sorted = sorter.finish()?;
        while let Some(entry) = sorted.next()? {
            match read(entry, files) {
                Some(game) => writer.game(&game)?,
                None => lost += 1,
            }
        }
        Ok(lost)
    }
}

fn read(entry: &[u8], files: &BuildFiles) -> Option<GameReference> {
    let number = bytes::u64_be(entry, 0)?;
    let (file, address) = files.place(number)?;
    // With an absolute path the book can be moved.
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let names = entry.get(HEAD..)?;
    let (white, black) = names.split_at_checked(bytes::u16_be(entry, 22)?.into())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let length = bytes::u64_be(entry, 8)?;
    let (kind, address, length) = match entry.get(16) == Some(&1) {
        true => (ReferenceKind::Cbh, length.checked_mul(CBH_RECORD.into())?, CBH_RECORD.into()),
        false => (ReferenceKind::Pgn, address, length),
    };
    Some(GameReference {
        number,
        kind,
        source: whole.to_string_lossy().into_owned(),
        gone: false,
        address,
        length,
        white: text(white),
        black: text(black),
        white_elo: NonZeroU16::new(bytes::u16_be(entry, 18)?),
        black_elo: NonZeroU16::new(bytes::u16_be(entry, 20)?),
        points: entry.get(RESULT).copied().and_then(Points::from_halves),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use tabiya_games::GameLocation;

    use super::*;

    #[test]
    fn a_game_is_found_again_in_a_text_and_in_a_database() {
        let files = [("/g/b.cbg", "/g/b.cbh"), ("/g/a.pgn", "/g/a.pgn")];
        let files = BuildFiles::from_names(files.map(|(name, linked)| (name.into(), Some(linked.into()))));
        let found = |file: &str, spot, offset| {
            let file: Arc<Path> = Arc::from(Path::new(file));
            let place = GameLocation { file: Arc::clone(&file), spot, offset, length: 700 };
            let game = GameHeader {
                white: "W".to_owned(),
                black: "B".to_owned(),
                black_elo: NonZeroU16::new(9),
                place,
                ..GameHeader::default()
            };
            let mut entry = Vec::new();
            GameIndex::write_entry(files.number(&file, offset), &game, &mut entry);
            read(&entry, &files).unwrap()
        };
        let pgn = found("/g/a.pgn", LineOrGame::Line(9), 5000);
        assert_eq!((pgn.kind, pgn.address, pgn.length), (ReferenceKind::Pgn, 5000, 700));
        assert!(pgn.source.ends_with("a.pgn") && (&*pgn.white, &*pgn.black) == ("W", "B"));
        assert_eq!((pgn.white_elo, pgn.black_elo), (None, NonZeroU16::new(9)));
        let cbh = found("/g/b.cbg", LineOrGame::Game(3), 5000);
        assert_eq!((cbh.kind, cbh.address, cbh.length), (ReferenceKind::Cbh, 138, 46));
        assert!(cbh.source.ends_with("b.cbh") && cbh.number > pgn.number && cbh.points.is_none());
    }
}
