//! The adapter's arguments, which `doctor` takes too.

use std::path::Path;

use clap::builder::RangedU64ValueParser;
use serde::Serialize;
use serde_json::Value;

use crate::base::error::Result;
use crate::settings::options::SEED_MAX;
use crate::settings::{Config, Given, LOG_LEVELS, TIMEOUTS};

/// How the adapter is set up. The configuration file has the same names.
#[derive(clap::Args, Clone, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
#[group(id = "adapter")]
pub struct Args {
    /// The engine: a path, or a name on PATH [default: stockfish]
    #[arg(long, value_name = "PROGRAM")]
    engine: Option<String>,
    /// An argument for the engine; repeatable
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    engine_arg: Vec<String>,
    /// The engine's working folder [default: tabiya's]
    #[arg(long, value_name = "DIR")]
    engine_dir: Option<String>,
    /// How long the engine may take to answer `uci`, in seconds [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(TIMEOUTS))]
    engine_timeout: Option<u64>,
    /// A book; repeatable, in order of priority [default: the starter book inside tabiya]
    #[arg(long, value_name = "FILE")]
    book: Vec<String>,
    /// A book for White, asked before the others; repeatable
    #[arg(long, value_name = "FILE")]
    book_white: Vec<String>,
    /// A book for Black, asked before the others; repeatable
    #[arg(long, value_name = "FILE")]
    book_black: Vec<String>,
    /// Play on when a book cannot be opened, with the other books or the engine alone
    #[arg(long)]
    book_optional: bool,
    /// The name that GUIs see [default: the engine's own and "(tabiya)"]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// An option of the engine or of tabiya; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// The configuration file [default: tabiya.toml in the working folder, else beside tabiya; a copy of tabiya that was
    /// renamed to NAME reads NAME.toml beside it first]
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
    /// Write a log to this file; %p in the name is the process ID, %d the day
    #[arg(long, value_name = "FILE")]
    log: Option<String>,
    /// The lowest level that is logged: error, warn, info, debug (the GUI's lines, and why the book is silent) or trace (the
    /// engine's lines) [default: info]
    #[arg(long, value_name = "LEVEL", value_parser = LOG_LEVELS)]
    log_level: Option<String>,
    /// The seed of random choices, to repeat them; 0 = a new one each time [default: 0]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u32>::new().range(..=u64::from(SEED_MAX)))]
    seed: Option<u32>,
}

impl Args {
    /// Only this configuration file.
    pub(crate) fn of_file(config: &Path) -> Self {
        Self { config: Some(config.display().to_string()), ..Self::default() }
    }

    /// The configuration, from the arguments and the configuration file.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn load(&self) -> Result<Config> {
        let given = Given {
            engine: self.engine.clone(),
            engine_args: self.engine_arg.clone(),
            engine_dir: self.engine_dir.clone(),
            engine_timeout: self.engine_timeout,
            books: self.book.clone(),
            white: self.book_white.clone(),
            black: self.book_black.clone(),
            rules: Vec::new(),
            book_optional: self.book_optional,
            name: self.name.clone(),
            set: self.set.clone(),
            log: self.log.clone(),
            log_level: self.log_level.clone(),
            seed: self.seed,
        };
        Config::load(given, self.config.as_deref())
    }

    /// The same arguments as a command line for another process.
    pub(crate) fn to_line(&self) -> Vec<String> {
        let option = |name: &str, value: &Value| match value {
            Value::Null | Value::Bool(false) => None,
            Value::Bool(true) => Some(format!("--{name}")),
            Value::String(text) => Some(format!("--{name}={text}")),
            number => Some(format!("--{name}={number}")),
        };
        // Fields have the names of their options.
        let Ok(Value::Object(fields)) = serde_json::to_value(self) else { return Vec::new() };
        let mut line = Vec::new();
        for (name, value) in &fields {
            match value {
                Value::Array(values) => line.extend(values.iter().filter_map(|value| option(name, value))),
                value => line.extend(option(name, value)),
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::slips::slips;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn an_argument_with_one_wrong_letter_is_refused() {
        use clap::CommandFactory;
        let mut tried = 0;
        for argument in Line::command().get_arguments().filter_map(|argument| argument.get_long()) {
            for slip in slips(argument) {
                assert!(Line::try_parse_from(["x", &format!("--{slip}=1")]).is_err(), "{slip}");
                tried += 1;
            }
        }
        assert!(tried > 300, "{tried}");
    }

    #[test]
    fn the_arguments_survive_being_passed_on() {
        let line = [
            "x",
            "--engine",
            "e",
            "--engine-arg",
            "-a",
            "--engine-arg=--b",
            "--engine-dir",
            "d",
            "--engine-timeout",
            "3",
            "--book",
            "a.bin",
            "--book",
            "b.bin",
            "--book-white",
            "w",
            "--book-black",
            "k",
            "--book-optional",
            "--name",
            "n",
            "--set",
            "Hash=1",
            "--config",
            "c",
            "--log-level",
            "debug",
            "--log",
            "l",
            "--seed",
            "9",
        ];
        let args = Line::try_parse_from(line).ok().unwrap().args;
        let again = [vec!["x".to_owned()], args.to_line()].concat();
        let again = Line::try_parse_from(again).ok().unwrap().args;
        assert_eq!(format!("{args:?}"), format!("{again:?}"));
        assert_eq!(args.engine_arg, ["-a", "--b"]);
    }
}
