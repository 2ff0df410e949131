//! Scid's databases as a kind of database.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::error::Result;
use tabiya_base::file_kind::FileKind;
use tabiya_base::findings::Findings;

use super::check;
use super::database::{self, Scid};
use super::export::ScidExporter;
use super::info;
use super::record::Version;
use super::source::ScidGames;
use crate::Batch;
use crate::database::export::ExportOptions;
use crate::database::{Database, DatabaseKind, Exporter, Progress, Summary};

/// Scid's databases of versions 4 and 5.
pub const KIND: DatabaseKind = DatabaseKind {
    files: &[FileKind::Scid],
    main: &["si4", "si5"],
    games: &[["sg4", "si4"], ["sg5", "si5"]],
    open: |path| Ok(Arc::new(Scid::open(path)?)),
    parts: database::parts,
};

impl Database for Scid {
    fn format(&self) -> &'static str {
        if self.version == Version::V5 { "si5" } else { "si4" }
    }

    fn path(&self) -> &Path {
        self.path()
    }

    fn games_path(&self) -> &Path {
        self.games_file.path()
    }

    fn files(&self) -> &[PathBuf] {
        self.files()
    }

    fn count(&self) -> u32 {
        self.count()
    }

    fn size(&self) -> u64 {
        self.index.len() + self.games.len()
    }

    fn findings(&self) -> &[String] {
        self.findings()
    }

    fn batch(self: Arc<Self>, games: (u32, u32)) -> Box<dyn Batch> {
        Box::new(ScidGames { db: self, games })
    }

    fn exporter<'a>(&'a self, options: &'a ExportOptions) -> Box<dyn Exporter + 'a> {
        Box::new(ScidExporter::new(self, options))
    }

    fn summary(&self, at: &Progress<'_>) -> Result<Summary> {
        info::summary(self, at)
    }

    fn check(&self, threads: usize, at: &Progress<'_>, findings: &mut Findings<'_>) -> Result<()> {
        check::check(self, threads, at, findings)
    }
}
