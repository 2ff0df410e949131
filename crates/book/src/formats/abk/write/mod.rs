//! Writing a book: a tree from the starting position.
//!
//! Memory holds what [`WriteOptions::memory`] says and a few bits for each position; the rest is in temporary files.

mod draft;
mod link;
mod tree;

use std::io::Write as _;
use std::path::{Path, PathBuf};

pub use draft::AbkDraft;

use draft::AbkLeftOut;
use link::link;
use tabiya_base::error::{Error, ErrorKind, Remedy, Result};
use tabiya_base::replace::Replacement;
use tree::{AbkTree, Keep};

use super::FORMAT;
use super::layout::{NO_LAST_PLY, WRITTEN};
use super::records::AbkHeader;
use crate::write::Needs;
use crate::{About, BookWriter, Format, Heading, PositionRecord, WriteOptions, Written, left_out};

/// An Arena book that is being written.
#[derive(Debug)]
pub struct AbkWriter {
    draft: AbkDraft,
    path: PathBuf,
    file: Replacement,
    needs: Needs,
}

impl AbkWriter {
    /// Begins a book at `path`.
    ///
    /// # Errors
    /// As [`Replacement::new`].
    pub fn new(path: &Path, options: &WriteOptions) -> Result<Self> {
        let file = Replacement::new(path, options.force)?;
        let draft = AbkDraft::new(&options.temp(), options.memory);
        Ok(Self { draft, path: path.to_owned(), file, needs: options.needs() })
    }
}

impl BookWriter for AbkWriter {
    fn needs_positions(&self) -> bool {
        true
    }

    fn holds_verdicts(&self) -> bool {
        true
    }

    fn takes_extras(&self, of: Format) -> bool {
        of == FORMAT
    }

    fn memory(&self) -> usize {
        self.draft.memory
    }

    fn takes(&self, heading: &Heading) -> bool {
        heading.format == crate::abk::FORMAT
    }

    fn describe(&mut self, about: &About) {
        self.draft.describe(AbkHeader::of_heading(&about.heading), about.alone);
    }

    fn add(&mut self, known: &PositionRecord) -> Result<()> {
        self.draft.add(known)
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let Self { draft, path, mut file, needs, .. } = *self;
        let written = write(draft, |bytes| file.write_all(bytes).map_err(|error| file.error(error)))?;
        if !needs.are_met(&written) {
            return Ok(written);
        }
        file.commit()?;
        Ok(Written { files: vec![path], ..written })
    }
}

/// That the limits and sliders of the header are not kept.
const RESETTLED: &str =
    "headers whose limits and sliders would keep moves from being played as decided: the new book has none";

/// Writes the bytes of the file, which `put` takes piece by piece. The result names no file.
///
/// # Errors
/// When a temporary file fails, when the work is interrupted, and what `put` returns.
pub fn write(mut draft: AbkDraft, mut put: impl FnMut(&[u8]) -> Result<()>) -> Result<Written> {
    let own = draft.positions();
    let mut tree = AbkTree::new(&draft)?;
    if tree.positions < own
        && let Some(linked) = link(&draft)?
    {
        draft = linked;
        tree = AbkTree::new(&draft)?;
    }
    let AbkTree { positions, records: moves, beyond, .. } = tree;
    let live_records = i32::try_from(moves).map_err(|_| {
        Error::new(ErrorKind::Usage, "an Arena book has room for 2,147,483,647 moves")
            .remedied_by(Remedy::SmallerBook)
    })?;
    let texts = draft
        .header
        .take()
        .unwrap_or_else(|| AbkHeader { comment: WRITTEN.to_owned(), ..AbkHeader::default() });
    let keep = match (draft.keeps_priorities, draft.decided) {
        (false, _) => Keep::None,
        (true, false) => Keep::WithHeader,
        (true, true) if texts.weighs_alike() => Keep::Playable,
        (true, true) => Keep::None,
    };
    let kept_settings = texts.heading().settings;
    let header = if keep == Keep::WithHeader {
        AbkHeader { live_records, ..texts }
    } else {
        AbkHeader {
            comment: texts.comment,
            author: texts.author,
            live_records,
            by_priority: 1,
            by_games: i32::from(draft.has_games),
            by_score: i32::from(draft.has_results),
            last_ply: NO_LAST_PLY,
            ..AbkHeader::default()
        }
    };
    put(&header.to_bytes())?;
    let resettled = draft.keeps_priorities && header.heading().settings != kept_settings;
    // Linking adds positions between those of the book, and reaches all of them.
    let between = draft.positions() - own;
    let unreached = draft.positions() - positions - beyond;
    let (folder, memory, has_results, lost) =
        (draft.folder.clone(), draft.memory, draft.has_results, draft.lost);
    // The tree has all that the rest needs.
    drop(draft);
    tree.records(&folder, memory, (has_results, keep), &mut put)?;
    let AbkLeftOut { illegal, unknown, counts, marks, ratings, learned, comments } = lost;
    let missing = left_out([
        ("positions that no line from the start reaches", unreached),
        ("positions known only by their keys", unknown),
        ("positions beyond the size or depth to which books are read", beyond),
        ("moves that are not legal in their position", illegal),
        ("marks or colors of moves, which act only through the priorities", marks),
        ("ratings of moves", ratings),
        ("learned results of moves", learned),
        ("comments", comments),
    ]);
    let halved = "moves with more games than the format can count (all counts are halved until they fit)";
    Ok(Written {
        positions: positions - between.min(positions),
        moves,
        left_out: missing,
        changed: left_out([(halved, counts), (RESETTLED, resettled.into())]),
        ..Written::default()
    })
}
