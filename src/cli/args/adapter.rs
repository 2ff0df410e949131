//! The adapter's arguments, which `doctor` takes too.

use clap::builder::RangedU64ValueParser;

use crate::adapter::config::options::SEED_MAX;
use crate::adapter::config::{Config, Given, LOG_LEVELS, TIMEOUTS};
use crate::base::error::Result;

/// How the adapter is set up. The configuration file knows the same names.
#[derive(clap::Args, Clone, Debug)]
#[group(id = "adapter")]
pub struct Args {
    /// The engine: a path, or a name on PATH [default: the configuration's, else stockfish]
    #[arg(long, value_name = "PROGRAM")]
    engine: Option<String>,
    /// An argument for the engine (repeatable)
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    engine_arg: Vec<String>,
    /// The engine's working folder [default: the adapter's]
    #[arg(long, value_name = "DIR")]
    engine_dir: Option<String>,
    /// Seconds that the engine may take to answer `uci` [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(TIMEOUTS))]
    engine_timeout: Option<u64>,
    /// A book (repeatable: the first that knows the position answers) [default: the starter book inside tabiya]
    #[arg(long, value_name = "FILE")]
    book: Vec<String>,
    /// A book for White only, asked before the others (repeatable)
    #[arg(long, value_name = "FILE")]
    book_white: Vec<String>,
    /// A book for Black only, asked before the others (repeatable)
    #[arg(long, value_name = "FILE")]
    book_black: Vec<String>,
    /// If a book cannot be opened, play with the other books or the engine alone
    #[arg(long)]
    book_optional: bool,
    /// The name that GUIs see [default: the engine's own and "(tabiya)"]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// An option of the engine or of the adapter (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// The configuration file [default: tabiya.toml in the working folder, else beside tabiya]
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
    /// Write a log to this file
    #[arg(long, value_name = "FILE")]
    log: Option<String>,
    /// How much to log: error, warn, info, debug (the GUI's lines, decisions) or trace (the engine's lines)
    /// [default: info]
    #[arg(long, value_name = "LEVEL", value_parser = LOG_LEVELS)]
    log_level: Option<String>,
    /// The seed of random choices, to repeat them; 0 = a new one each time [default: 0]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u32>::new().range(..=u64::from(SEED_MAX)))]
    seed: Option<u32>,
}

impl Args {
    /// The configuration: the arguments and the configuration file together.
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
            book_optional: self.book_optional,
            name: self.name.clone(),
            set: self.set.clone(),
            log: self.log.clone(),
            log_level: self.log_level.clone(),
            seed: self.seed,
        };
        Config::load(given, self.config.as_deref())
    }

    /// The same arguments as a command line, for another process.
    pub fn to_line(&self) -> Vec<String> {
        let mut line = Vec::new();
        let mut put = |name: &str, values: &[String]| {
            line.extend(values.iter().map(|value| format!("--{name}={value}")));
        };
        let one = |value: &Option<String>| value.iter().cloned().collect::<Vec<_>>();
        let number = |value: Option<u64>| value.iter().map(u64::to_string).collect::<Vec<_>>();
        put("engine", &one(&self.engine));
        put("engine-arg", &self.engine_arg);
        put("engine-dir", &one(&self.engine_dir));
        put("engine-timeout", &number(self.engine_timeout));
        put("book", &self.book);
        put("book-white", &self.book_white);
        put("book-black", &self.book_black);
        put("name", &one(&self.name));
        put("set", &self.set);
        put("config", &one(&self.config));
        put("log", &one(&self.log));
        put("log-level", &one(&self.log_level));
        put("seed", &number(self.seed.map(u64::from)));
        if self.book_optional {
            line.push("--book-optional".to_owned());
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
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
