//! A database's texts as HTML files.

use std::fs;
use std::io::Write;
use std::path::Path;

use tabiya_base::error::{Error, Result};
use tabiya_base::interrupt;
use tabiya_base::replace::FileSet;
use tabiya_games::GameError;
use tabiya_games::cbh::export::ExportOptions;
use tabiya_games::cbh::{Cbh, CbhReader, CbhRecord, CbhRecordKind};

use super::MAX_ERRORS;
use crate::output::exit::Exit;
use crate::output::rows::many;
use crate::output::warn;

/// What became of the texts.
#[derive(Default)]
pub(crate) struct Texts {
    texts: u64,
    files: u64,
    deleted: u64,
    damaged: u64,
    /// Where the files begin; each gets its name as soon as it is whole.
    set: FileSet,
}

/// Writes the texts of a database into a folder, each in one file per language.
///
/// # Errors
/// When the folder or a file in it cannot be written, or a file exists and `force` is not set.
pub fn write(db: &Cbh, options: &ExportOptions, folder: &Path, force: bool) -> Result<Texts> {
    fs::create_dir_all(folder).map_err(|error| Error::file(folder, "cannot create the folder", error))?;
    let mut reader = CbhReader::new(db);
    let mut texts = Texts::default();
    let (from, to) = options.games;
    for number in from.max(1)..=to.min(db.count()) {
        interrupt::check()?;
        let record = reader.record(number)?;
        match record.kind() {
            CbhRecordKind::Text if record.is_deleted() && !options.deleted => texts.deleted += 1,
            CbhRecordKind::Text => texts.one(&mut reader, &record, folder, force)?,
            _ => {}
        }
    }
    Ok(texts)
}

impl Texts {
    fn one(
        &mut self,
        reader: &mut CbhReader<'_>,
        record: &CbhRecord,
        folder: &Path,
        force: bool,
    ) -> Result<()> {
        self.texts += 1;
        let (guide, error) = match reader.guide(record) {
            Ok(found) => found,
            Err(error) => {
                self.damage(&error);
                return Ok(());
            }
        };
        if let Some(error) = error {
            self.damage(&error);
        }
        let mut names = Vec::new();
        for content in &guide.contents {
            let title = guide.title(content.language);
            let mut name = content.file_name(record.number, title, guide.contents.len() > 1);
            // A language may occur twice.
            while names.contains(&name) {
                name.push_str("-2");
            }
            let mut file = self.set.begin(folder.join(format!("{name}.html")), force)?;
            let written = file.write_all(content.page(title).as_bytes());
            written.map_err(|error| file.error(error))?;
            file.commit()?;
            self.files += 1;
            names.push(name);
        }
        Ok(())
    }

    fn damage(&mut self, error: &GameError) {
        self.damaged += 1;
        if self.damaged <= MAX_ERRORS {
            warn(&error.to_string());
        }
    }

    /// What became of them, in lines for people.
    pub fn lines(&self, folder: &Path) -> Vec<String> {
        let deleted = match self.deleted {
            0 => String::new(),
            count => format!(", {} left out", many(count, "deleted text")),
        };
        let (texts, files) = (many(self.texts, "text"), many(self.files, "file"));
        let mut lines = vec![format!("{}: {texts} written as {files}{deleted}", folder.display())];
        if self.damaged > 0 {
            lines.push(format!("{} damaged", many(self.damaged, "text")));
        }
        lines
    }

    /// The exit code: findings if something was lost.
    pub fn exit(&self) -> Exit {
        if self.damaged == 0 { Exit::Done } else { Exit::Findings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_the_texts_is_reported() {
        let texts = Texts { texts: 3, files: 4, deleted: 1, damaged: 0, ..Texts::default() };
        assert_eq!(texts.lines("t".as_ref()), ["t: 3 texts written as 4 files, 1 deleted text left out"]);
        assert_eq!(texts.exit(), Exit::Done);
        let texts = Texts { texts: 1, files: 0, deleted: 0, damaged: 1, ..Texts::default() };
        assert_eq!(texts.lines("t".as_ref()), ["t: 1 text written as 0 files", "1 text damaged"]);
        assert_eq!(texts.exit(), Exit::Findings);
    }
}
