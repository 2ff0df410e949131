//! Writing a book: a line for each position, in the order of their keys, its heaviest moves first.

use std::cmp::Reverse;
use std::io::Write as _;
use std::path::Path;

use tabiya_base::error::Result;
use tabiya_base::replace::Replacement;
use tabiya_chess::MoveCode;

use super::line::{Form, fields, written};
use crate::write::{BesidesWeights, Needs};
use crate::{BookWriter, PositionRecord, WriteOptions, Written, left_out};

/// A book that is being written.
#[derive(Debug)]
pub(super) struct TextWriter {
    file: Replacement,
    form: Form,
    needs: Needs,
    written: Written,
    lost: TextLeftOut,
}

/// What the form has no place for.
#[derive(Debug, Default)]
struct TextLeftOut {
    besides: BesidesWeights,
    comments: u64,
    learned: u64,
    other_pockets: u64,
}

impl TextWriter {
    /// Begins a book at `path`.
    ///
    /// # Errors
    /// As [`Replacement::new`].
    pub(super) fn new(path: &Path, options: &WriteOptions, form: Form) -> Result<Self> {
        let file = Replacement::new(path, options.force)?;
        let written = Written { files: vec![path.to_owned()], ..Written::default() };
        Ok(Self { file, form, needs: options.needs(), written, lost: TextLeftOut::default() })
    }
}

/// Words on a position as an operation: in quotation marks, so without any, and on one line.
fn comment(words: &str) -> String {
    let plain = |letter: char| match letter {
        '"' => '\'',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    format!("c1 \"{}\"", words.chars().map(plain).collect::<String>())
}

impl BookWriter for TextWriter {
    fn needs_positions(&self) -> bool {
        true
    }

    fn holds_comments(&self) -> bool {
        self.form == Form::Epd
    }

    fn held_weights(&self, known: &PositionRecord) -> Option<Vec<u64>> {
        Some(known.moves.iter().map(|known| known.weight).collect())
    }

    fn add(&mut self, known: &PositionRecord) -> Result<()> {
        let Some(at) = &known.position else { return Ok(()) };
        let kept = || known.moves.iter().filter(|found| !found.is_struck_out());
        let mut moves: Vec<_> =
            kept().filter_map(|found| found.at(at).map(|facts| (facts.mv, facts.weight))).collect();
        if moves.is_empty() {
            return Ok(());
        }
        self.lost.other_pockets += (kept().count() - moves.len()) as u64;
        moves.sort_by_key(|(mv, weight)| (Reverse(*weight), MoveCode::from_move(*mv).0));
        let remark = known.comment.as_deref().filter(|_| self.holds_comments()).map(comment);
        let mut line = written(self.form, &fields(self.form, at), at, &moves, remark.as_deref());
        line.push('\n');
        self.file.write_all(line.as_bytes()).map_err(|error| self.file.error(error))?;
        self.written.positions += 1;
        self.written.moves += moves.len() as u64;
        self.lost.besides.add(kept());
        self.lost.learned += kept().filter(|known| known.learned.is_some()).count() as u64;
        self.lost.comments += u64::from(known.comment.is_some() && !self.holds_comments());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let Self { file, needs, mut written, lost, .. } = *self;
        written.left_out = left_out(lost.besides.named().into_iter().chain([
            ("learned results of moves", lost.learned),
            ("comments", lost.comments),
            ("moves that are legal only with other pieces in hand", lost.other_pockets),
        ]));
        needs.commit(file, written)
    }
}
