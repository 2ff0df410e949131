//! A child engine as arguments, for commands that search positions themselves.

use std::time::Duration;

use clap::Arg;

use tabiya_adapter::settings::table::{self, ENGINE, ENGINE_TIMEOUT, SET, SettingRow};
use tabiya_base::error::Result;
use tabiya_chess::Variant;
use tabiya_search::{set_chess, spoils_scores};
use tabiya_uci::engine::Setup;

use super::settings::{Arguments, SettingArgs};
use crate::output::warn;

/// Which engine searches. The arguments are those of the adapter.
pub(crate) type EngineArgs = Arguments<Searcher>;

/// The settings of an engine that searches for us.
#[derive(Clone, Debug, Default)]
pub struct Searcher;

impl SettingArgs for Searcher {
    const HEADING: Option<&'static str> = Some("The engine");
    const CONFIG: Option<&'static str> =
        Some("The configuration file [default: the tabiya.toml that a game would use]");

    fn rows() -> impl Iterator<Item = &'static SettingRow> {
        table::start().filter(|row| row.key.starts_with(ENGINE) || row.key == SET)
    }

    fn shaped(row: &SettingRow, argument: Arg) -> Arg {
        let default = row.default();
        match row.key {
            ENGINE => argument.help(format!(
                "The engine: a path, or a name on PATH [default: that of tabiya.toml, else {default}]"
            )),
            ENGINE_TIMEOUT => argument.help(format!(
                "Seconds to wait for the engine to answer `uci`, and for a silent search before checking \
                 that the engine is alive [default: {default}]"
            )),
            SET => argument.help("Set an option of the engine; repeatable"),
            _ => argument,
        }
    }
}

impl EngineArgs {
    /// Whether an engine is named.
    pub fn names_engine(&self) -> bool {
        self.given.text(ENGINE).is_some()
    }

    /// How the engine is started to evaluate positions of a variant. Options that spoil scores are not set, which is said.
    ///
    /// # Errors
    /// As [`Arguments::load`], and when there is no such engine.
    pub fn setup(&self, variant: Variant) -> Result<Setup> {
        let mut config = self.load()?;
        let said = set_chess(&mut config.settings);
        said.filter(|_| variant == Variant::Chess).iter().for_each(|said| warn(said));
        for (name, value) in config.settings.extract_if(.., |(name, _)| spoils_scores(name)) {
            warn(&format!(
                "the engine evaluates without {name}={value}, which is for play and spoils its scores"
            ));
        }
        Ok(Setup {
            program: config.find_engine()?,
            folder: config.find_engine_dir()?,
            args: config.engine_args,
            options: config.settings,
            patience: config.engine_timeout.max(Duration::from_secs(1)),
        })
    }
}
