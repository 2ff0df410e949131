//! The adapter's arguments, which `doctor` takes too.

use tabiya_adapter::settings::table::{self, SettingRow};

use super::settings::{Arguments, SettingArgs};

/// How the adapter is set up: an argument for each setting that is given at the start, and the configuration file.
pub type Args = Arguments<Adapter>;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adapter;

impl SettingArgs for Adapter {
    const CONFIG: Option<&'static str> = Some(
        "The configuration file [default: tabiya.toml in the working folder, else beside tabiya; a copy of \
         tabiya renamed to NAME first reads NAME.toml beside it]",
    );

    fn rows() -> impl Iterator<Item = &'static SettingRow> {
        table::start()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use tabiya_testing::slips;

    use super::*;

    #[derive(Parser)]
    struct AdapterLine {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn an_argument_with_one_wrong_letter_is_refused() {
        use clap::CommandFactory;
        let mut tried = 0;
        for argument in AdapterLine::command().get_arguments().filter_map(|argument| argument.get_long()) {
            for slip in slips(argument) {
                assert!(AdapterLine::try_parse_from(["x", &format!("--{slip}=1")]).is_err(), "{slip}");
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
        let args = AdapterLine::try_parse_from(line).ok().unwrap().args;
        let again = [vec!["x".to_owned()], args.to_line()].concat();
        let again = AdapterLine::try_parse_from(again).ok().unwrap().args;
        assert_eq!(args, again);
        assert_eq!(args.given.texts("engine-arg"), ["-a", "--b"]);
        assert!(table::start().all(|row| !args.given.texts(row.key).is_empty()));
    }
}
