//! The files of games: the numbers of the games in them, and their texts.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_chess::Variant;
use tabiya_games::database::Database;
use tabiya_games::database::export::{ExportOptions, ExportTotals, export};
use tabiya_games::databases;
use tabiya_games::{GameLocation, LineOrGame, Sources};

use super::super::fault::Fault;
use super::super::part::part_of;
use super::super::shelf::{FileStamp, stamp_of};
use super::super::words;
use super::index::IndexedGame;
use super::layout::IndexStamp;

/// Bytes of a game's text that are shown: more than any has.
const MAX_TEXT: u64 = 4 << 20;

/// The files of games. The numbers of their games are places in all of them together.
pub(super) struct GameFiles {
    files: Vec<File>,
    /// The place of each by the name that the places of its games have: folders may hold many thousands.
    by_name: HashMap<PathBuf, usize>,
}

/// A file of games.
struct File {
    path: PathBuf,
    /// The number before those of its games.
    base: u64,
    /// The file as it was.
    known: Option<FileStamp>,
    /// The database, if it is one.
    database: Option<Arc<dyn Database>>,
}

impl GameFiles {
    /// The files of these sources, and what distinguishes them from others.
    ///
    /// # Errors
    /// When one has disappeared, or its games cannot be found again: in pipes, archives and compressed files.
    pub(super) fn open(sources: &Sources) -> Result<(Self, IndexStamp)> {
        let again = |path: &Path| {
            Error::new(
                ErrorKind::Usage,
                "games are read again when they are shown, which is impossible with this file",
            )
            .at_path(path)
            .advice("name PGN files that are not compressed, or databases")
        };
        let (mut files, mut by_name) = (Vec::new(), HashMap::new());
        let mut base = 0_u64;
        for (name, path) in sources.rereadable() {
            let path = path.ok_or_else(|| again(name))?;
            // A file that is named twice has its games once.
            let Entry::Vacant(place) = by_name.entry(name.to_owned()) else { continue };
            place.insert(files.len());
            let cannot = |error| Error::file(path, "cannot open the file", error);
            let len = fs::metadata(path).map_err(cannot)?.len();
            let database = databases::is_named(path).then(|| databases::open(path)).transpose()?;
            let known = stamp_of(path);
            let games = database.as_ref().map_or(0, |database| database.count().into());
            files.push(File { path: path.to_owned(), base, known, database });
            base = base.saturating_add(len.max(games)).saturating_add(1);
        }
        let each = sources.each()?.ok_or_else(|| again(Path::new("-")))?;
        let variant = Some(sources.variant()).filter(|variant| *variant != Variant::Chess);
        let marks = each.iter().flat_map(|(_, stamp)| [&*stamp.name, &*stamp.state]);
        let stamp = IndexStamp::from_marks(marks.chain(variant.map(Variant::uci)));
        Ok((Self { files, by_name }, stamp))
    }

    /// The number of the game at a place.
    pub(super) fn number(&self, place: &GameLocation) -> Option<u64> {
        let file = self.files.get(*self.by_name.get(&*place.file)?)?;
        let within = match place.spot {
            LineOrGame::Game(number) => number,
            _ => place.offset,
        };
        file.base.checked_add(within)
    }

    /// The text of a game.
    ///
    /// # Errors
    /// When its file has changed, or cannot be read.
    pub(super) fn text(&self, game: &IndexedGame<'_>) -> std::result::Result<Vec<u8>, Fault> {
        let gone = || Fault::not_found("there is no such game");
        let last = self.files.partition_point(|file| file.base <= game.number);
        let file = last.checked_sub(1).and_then(|last| self.files.get(last)).ok_or_else(gone)?;
        if stamp_of(&file.path) != file.known {
            return Err(Fault::io(words::games_changed(&file.path)));
        }
        let within = game.number - file.base;
        let Some(database) = &file.database else {
            let length = u64::from(game.length).min(MAX_TEXT);
            let text = part_of(&file.path, within, length);
            return text.map_err(|error| Fault::io(format!("{}: {error}", file.path.display())));
        };
        let number = u32::try_from(within).map_err(|_| gone())?;
        let options = ExportOptions::new((number, number));
        let mut all = Vec::new();
        let ExportTotals { games, .. } = export(&**database, &options, &mut |text, _, _| {
            all.extend(text);
            Ok(())
        })?;
        if games == 0 { Err(gone()) } else { Ok(all) }
    }
}
