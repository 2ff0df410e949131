//! A database's texts as HTML files.

use std::fs;
use std::io::Write;
use std::path::Path;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::interrupt;
use tabiya_base::replace::FileSet;
use tabiya_games::GameError;
use tabiya_games::database::export::ExportOptions;
use tabiya_games::database::{Database, Text};

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
/// When its kind has no texts, the folder or a file in it cannot be written, or a file exists and `force` is not set.
pub fn write(db: &dyn Database, options: &ExportOptions, folder: &Path, force: bool) -> Result<Texts> {
    let mut reader = db.texts().ok_or_else(|| {
        let what = "--texts is for databases with texts, which this kind has not";
        Error::new(ErrorKind::Usage, what).at_path(db.path()).advice("leave it out")
    })?;
    fs::create_dir_all(folder).map_err(|error| Error::file(folder, "cannot create the folder", error))?;
    let mut texts = Texts::default();
    let (from, to) = options.games;
    for number in from.max(1)..=to.min(db.count()) {
        interrupt::check()?;
        match reader.text(number)? {
            Some(text) if text.is_deleted && !options.deleted => texts.deleted += 1,
            Some(text) => texts.one(&text, folder, force)?,
            None => {}
        }
    }
    Ok(texts)
}

impl Texts {
    fn one(&mut self, text: &Text, folder: &Path, force: bool) -> Result<()> {
        self.texts += 1;
        if let Some(error) = &text.error {
            self.damage(error);
        }
        let mut names = Vec::new();
        for (name, page) in &text.pages {
            let mut name = name.clone();
            // A language may occur twice.
            while names.contains(&name) {
                name.push_str("-2");
            }
            let mut file = self.set.begin(folder.join(format!("{name}.html")), force)?;
            let written = file.write_all(page.as_bytes());
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
