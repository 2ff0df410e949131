//! What count files say of a position, and all their positions.

use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_base::visit::{Seen, to_the_end};
use tabiya_chess::{MoveCode, Position, Variant};

use super::book::CountBook;
use super::sums::MoveSums;
use super::{CountsRow, Shape, damage};
use crate::traverse::each_reachable;
use crate::{Among, MoveFacts, Moves, PositionRecord, Scope, Visit};

/// See [`crate::Moves::each`].
///
/// # Errors
/// What fails in `visit`, and when the work is interrupted.
fn each(book: &CountBook, scope: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
    if scope == Scope::Reachable {
        let mut positions = 0;
        let wanted = Shape { positions: false, by: book.among.by() };
        to_the_end(book.each_key(wanted, &Progress::none(), &mut |lines| {
            positions += u64::from(lines.iter().any(|line| line.mv != MoveCode::NULL));
            Ok(())
        }))?;
        return each_reachable(book, positions, progress, visit);
    }
    let wanted = Shape { positions: book.has_positions(), by: book.among.by() };
    to_the_end(book.each_key(wanted, progress, &mut |lines| {
        let mut moves = MoveSums::default();
        lines.iter().for_each(|line| moves.add(line));
        let Some(first) = lines.first() else { return Ok(()) };
        let record = PositionRecord {
            key: first.key,
            position: first.packed.and_then(|packed| packed.unpack()),
            total: wanted.positions.then(|| moves.total()),
            moves: moves.facts().collect(),
            ..PositionRecord::default()
        };
        if record.moves.is_empty() { Ok(()) } else { visit(&record) }
    }))?;
    Ok(0)
}

impl Moves for CountBook {
    /// That of the first file: those of a folder hold one variant, or the book is not opened.
    fn variant(&self) -> Variant {
        self.files.first().map_or(Variant::Chess, |(file, _)| file.variant())
    }

    /// Appends the moves in the order of the first file that has the position.
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        out.extend(self.moves_of(at, &Among::default()).facts().filter_map(|facts| facts.at(at)));
    }

    fn each(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        each(self, scope, progress, visit)
    }

    fn holds_positions(&self) -> bool {
        self.has_positions()
    }
}

impl CountBook {
    /// Shows the rows of each position, in the order of the files, until `see` breaks off. A damaged row group is left out
    /// from there on, and remembered.
    fn each_key(
        &self,
        wanted: Shape,
        progress: &Progress,
        see: &mut dyn FnMut(&[CountsRow]) -> Seen,
    ) -> Seen {
        progress.things(self.files.iter().map(|(file, _)| file.rows()).sum(), "rows");
        let (mut lines, mut at) = (Vec::<CountsRow>::new(), 0_u64);
        let mut damaged = Vec::new();
        let groups =
            self.files.iter().flat_map(|(file, _)| (0..file.groups()).map(move |group| (file, group)));
        for (file, group) in groups {
            let mut seen = Ok(());
            let read = file.group(group, wanted, |line| {
                if !self.among.has(line.slice) {
                    return Ok(());
                }
                progress.step(at)?;
                at += 1;
                if lines.last().is_some_and(|last| last.key != line.key) {
                    seen = see(&lines);
                    lines.clear();
                    if seen.is_err() {
                        return Err(interrupt::stopped());
                    }
                }
                lines.push(*line);
                Ok(())
            });
            seen?;
            interrupt::check()?;
            damaged.extend(read.err().map(|error| (file, group, error)));
        }
        if !lines.is_empty() {
            see(&lines)?;
        }
        // Without the positions, their damage is not known yet.
        if wanted.positions == self.has_positions() {
            self.damage.get_or_init(|| {
                let groups = damaged.iter().map(|(file, group, error)| (*file, *group, error));
                [self.unopened(), damage(groups)].concat()
            });
        }
        Ok(())
    }
}
