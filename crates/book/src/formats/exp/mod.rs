//! Experience files (`.exp`) of Stockfish's derivatives, which keep what they found out about moves. The format is described
//! in `docs/formats/exp.md`.
//!
//! A record has the engine's own hash of a position, so a position is found if it is known already: on the way of a game, and
//! on the way from the starting position along the moves of the file. What no line reaches is counted, and left out wherever
//! positions have to be listed.
//!
//! A background thread turns the records into an index: opening returns immediately, and look-ups wait until the index is
//! ready. Engines append to the file while it is read; it is read as long as it was when it was opened.

mod check;
mod driver;
pub mod keys;
pub mod layout;
pub mod read;
pub mod records;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use shakmaty::Move;

use tabiya_base::background::Background;
use tabiya_base::error::{Error, Result};
use tabiya_base::findings::{Finding, Findings};
use tabiya_base::map::{Access, Map};
use tabiya_base::progress::Progress;
use tabiya_chess::{Position, Variant};

use crate::traits::Book;
use crate::traverse::each_reachable;
use crate::{BookSummary, Format, MoveFacts, Moves, Scope, Visit, errors};
pub(crate) use driver::ExpDriver;
pub use read::{ExpIndex, ExpMove};
pub use records::{ExpFamily, ExpRecord, ExpRecords};

/// The format.
pub const FORMAT: Format = Format::new(&driver::FACTS);

/// An experience file.
#[derive(Debug)]
pub struct Exp {
    path: PathBuf,
    data: Arc<Map>,
    family: ExpFamily,
    index: Background<ExpIndex>,
}

impl Exp {
    /// Opens a file over these bytes; its index is made in the background.
    ///
    /// # Errors
    /// When the bytes are of a family that is not read, or of none.
    pub fn new(path: impl Into<PathBuf>, data: impl Into<Map>) -> Result<Self> {
        let (path, data) = (path.into(), data.into());
        let family = records::family(&data, FORMAT.has_name(&path));
        let family = family.and_then(|family| family.ok_or("this is no experience file"));
        let family =
            family.map_err(|what| Error::format(&path, what).at_offset(0).advice(records::OTHER_FAMILY))?;
        let data = Arc::new(data);
        let bytes = Arc::clone(&data);
        let index = Background::new(move || {
            bytes.expect(Access::Sequential);
            ExpIndex::new(&bytes, family)
        });
        Ok(Self { path, data, family, index })
    }

    /// Who wrote it.
    pub fn family(&self) -> ExpFamily {
        self.family
    }

    /// Its records.
    pub fn records(&self) -> ExpRecords<'_> {
        ExpRecords::new(&self.data, self.family)
    }

    /// The index, as soon as it is ready.
    pub fn index(&self) -> &ExpIndex {
        self.index.get()
    }
}

impl Moves for Exp {
    fn variant(&self) -> Variant {
        Variant::Chess
    }

    /// Appends the moves as the engines rank them.
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        let Some(chess) = at.standard() else { return };
        let Some((_, moves, _)) = self.index().look_up(chess, self.family.keys()) else { return };
        let known = moves.iter().zip(read::weights(moves));
        out.extend(known.filter_map(|(known, weight)| Some(MoveFacts::new(known.legal(chess)?, weight))));
    }

    fn drop_absent(&self, at: &Position, moves: &mut Vec<Move>) {
        self.index().drop_absent(None, self.family.keys(), at, moves);
    }

    /// Shows what play reaches, whatever the scope, and returns how many positions it does not reach: these have no position.
    fn each(&self, _: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        each_reachable(self, self.index().positions, progress, visit)
    }
}

impl Book for Exp {
    fn path(&self) -> &Path {
        &self.path
    }

    fn format(&self) -> Format {
        FORMAT
    }

    fn warnings(&self) -> Vec<String> {
        let records = self.records();
        let cut = (records.len() > read::MAX_RECORDS).then(|| check::too_many(records.len()));
        cut.into_iter().map(|what| format!("{}: {what}", self.path.display())).collect()
    }

    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
        check::survey(self, progress, findings)
    }

    /// Look-ups need no walk, which finds only illegal moves.
    fn damage_to_look_ups(&self, progress: &Progress) -> Vec<Finding> {
        errors(|findings| check::records(self.records(), progress, findings))
    }
}
