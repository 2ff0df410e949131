//! What the two forms are. A line is their mark: a position with moves.

use std::path::Path;
use std::sync::Arc;

use tabiya_base::error::{Error, Result};

use super::line::{Form, is_book};
use super::{TextBook, advice};
use crate::driver::{Certainty, Driver, Opening};
use crate::format::{Edits, Facts, Format, Variants};
use crate::traits::Book;
#[cfg(feature = "write")]
use crate::{driver::Create, write::boxed};

/// The greatest weight that an edit gives: a program in whatever language reads it back.
pub(super) const MOST: u64 = u32::MAX as u64;

/// What both have in common.
const FACTS: Facts = Facts { variants: Variants::Any, edits: Edits::weight(MOST), ..Facts::READ_ONLY };

/// What is known of books as EPD.
pub(super) const EPD: Facts =
    Facts { name: "epd", title: "EPD", noun: "an EPD book", extensions: &["epd"], ..FACTS };

/// What is known of books as lines of a FEN and moves.
pub(super) const FEN: Facts =
    Facts { name: "fen", title: "FEN", noun: "a FEN book", extensions: &["fen"], ..FACTS };

/// What opens and writes books of one form.
pub(crate) struct TextDriver(Form);

impl TextDriver {
    /// Of books as EPD.
    pub(crate) const EPD: Self = Self(Form::Epd);

    /// Of books as lines of a FEN and moves.
    pub(crate) const FEN: Self = Self(Form::Fen);
}

impl Driver for TextDriver {
    fn format(&self) -> Format {
        self.0.format()
    }

    fn sniff(&self, path: &Path, bytes: &[u8]) -> Certainty {
        let is_named = Form::ALL.iter().any(|form| form.format().has_name(path));
        if is_book(bytes, is_named) == Some(self.0) { Certainty::Marked } else { Certainty::No }
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Book>> {
        let Opening { path, bytes, variant, .. } = opening;
        if is_book(&bytes, true) != Some(self.0) {
            return Err(Error::format(path, "no line is a position with moves").advice(advice()));
        }
        Ok(Arc::new(TextBook::new(path, bytes, self.0, variant)))
    }

    #[cfg(feature = "write")]
    fn writer(&self) -> Option<Create> {
        Some(match self.0 {
            Form::Epd => |path, options| boxed(super::write::TextWriter::new(path, options, Form::Epd)),
            Form::Fen => |path, options| boxed(super::write::TextWriter::new(path, options, Form::Fen)),
        })
    }
}
