//! A child engine as arguments, for commands that search positions themselves.

use std::time::Duration;

use crate::base::error::Result;
use crate::evals::Limit;
use crate::settings::{Config, Given, TIMEOUTS};
use crate::vet::Setup;

/// Which engine searches. The arguments are those of the adapter.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "The engine")]
pub(crate) struct EngineArgs {
    /// The engine: a path, or a name on PATH [default: that of tabiya.toml, else stockfish]
    #[arg(long, value_name = "PROGRAM")]
    engine: Option<String>,
    /// An argument for the engine; repeatable
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    engine_arg: Vec<String>,
    /// The engine's working folder [default: tabiya's]
    #[arg(long, value_name = "DIR")]
    engine_dir: Option<String>,
    /// How long the engine may take to answer `uci`, and be silent while it searches before it is asked whether it is there,
    /// in seconds [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(TIMEOUTS))]
    engine_timeout: Option<u64>,
    /// An option of the engine; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// The configuration file whose engine is used [default: as the adapter's]
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
}

impl EngineArgs {
    /// How the engine is started, with this limit for each position.
    ///
    /// # Errors
    /// As [`Config::load`], and when there is no such engine.
    pub fn setup(&self, limit: Limit) -> Result<Setup> {
        let given = Given {
            engine: self.engine.clone(),
            engine_args: self.engine_arg.clone(),
            engine_dir: self.engine_dir.clone(),
            engine_timeout: self.engine_timeout,
            set: self.set.clone(),
            ..Given::default()
        };
        let config = Config::load(given, self.config.as_deref())?;
        Ok(Setup {
            program: config.find_engine()?,
            folder: config.find_engine_dir()?,
            args: config.engine_args,
            options: config.settings,
            patience: config.engine_timeout.max(Duration::from_secs(1)),
            limit,
        })
    }
}
