//! ChessBase's databases as a kind of database.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::error::Result;
use tabiya_base::file_kind::FileKind;
use tabiya_base::findings::Findings;

use super::check;
use super::database::{self, Cbh};
use super::export::CbhExporter;
use super::info;
use super::reader::CbhReader;
use super::record::CbhRecordKind;
use super::source::CbhGames;
use crate::Batch;
use crate::database::export::ExportOptions;
use crate::database::{Database, DatabaseKind, Exporter, Progress, Summary, Text, Texts};

/// ChessBase's databases, and archives of them.
pub const KIND: DatabaseKind = DatabaseKind {
    files: &[FileKind::Database, FileKind::DatabaseArchive],
    main: &["cbh", "cbv"],
    games: &[["cbg", "cbh"]],
    open: |path| Ok(Arc::new(Cbh::open(path)?)),
    parts: database::parts,
};

impl Database for Cbh {
    fn format(&self) -> &'static str {
        "cbh"
    }

    fn path(&self) -> &Path {
        self.path()
    }

    fn games_path(&self) -> &Path {
        self.games_file.path()
    }

    fn linked(&self) -> Option<&Path> {
        self.archive().is_none().then(|| self.path())
    }

    fn files(&self) -> &[PathBuf] {
        self.files()
    }

    fn count(&self) -> u32 {
        self.count()
    }

    fn size(&self) -> u64 {
        self.size()
    }

    fn findings(&self) -> &[String] {
        self.findings()
    }

    fn batch(self: Arc<Self>, games: (u32, u32)) -> Box<dyn Batch> {
        Box::new(CbhGames { db: self, games })
    }

    fn exporter<'a>(&'a self, options: &'a ExportOptions) -> Box<dyn Exporter + 'a> {
        Box::new(CbhExporter::new(self, options))
    }

    fn summary(&self, at: &Progress<'_>) -> Result<Summary> {
        info::summary(self, at).map(Summary::from)
    }

    fn check(&self, threads: usize, at: &Progress<'_>, findings: &mut Findings<'_>) -> Result<()> {
        check::check(self, threads, at, findings)
    }

    fn texts(&self) -> Option<Box<dyn Texts + '_>> {
        Some(Box::new(CbhReader::new(self)))
    }
}

impl Texts for CbhReader<'_> {
    fn text(&mut self, number: u32) -> Result<Option<Text>> {
        let record = self.record(number)?;
        if record.kind() != CbhRecordKind::Text {
            return Ok(None);
        }
        let is_deleted = record.is_deleted();
        let (guide, error) = match self.guide(&record) {
            Ok(found) => found,
            Err(error) => return Ok(Some(Text { is_deleted, pages: Vec::new(), error: Some(error) })),
        };
        let page = |content: &super::guide::Content| {
            let title = guide.title(content.language);
            (content.file_name(number, title, guide.contents.len() > 1), content.page(title))
        };
        let pages = guide.contents.iter().map(page).collect();
        Ok(Some(Text { is_deleted, pages, error }))
    }
}
