//! Settings as arguments: each row of their table as clap sees it.

use std::marker::PhantomData;
use std::path::Path;

use clap::builder::{PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};

use tabiya_adapter::settings::table::{SettingKind, SettingRow};
use tabiya_adapter::settings::{Config, Given};
use tabiya_base::error::Result;

/// The argument that names the configuration file.
const CONFIG: &str = "config";

/// Which settings are arguments.
pub(crate) trait SettingArgs: Clone + Default + Send + Sync + 'static {
    /// The heading in the help.
    const HEADING: Option<&'static str> = None;

    /// The help of the argument that names the configuration file, if there is one.
    const CONFIG: Option<&'static str> = None;

    /// The rows of the settings.
    fn rows() -> impl Iterator<Item = &'static SettingRow>;

    /// The argument of a row, where it differs from what the table says.
    fn shaped(_: &SettingRow, argument: Arg) -> Arg {
        argument
    }
}

/// An argument for each setting of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments<G> {
    pub(super) given: Given,
    pub(super) group: PhantomData<G>,
}

impl<G: SettingArgs> clap::Args for Arguments<G> {
    fn augment_args(command: Command) -> Command {
        let config = G::CONFIG.map(|help| Arg::new(CONFIG).long(CONFIG).value_name("FILE").help(help));
        let arguments = G::rows().map(|row| G::shaped(row, argument(row))).chain(config);
        command.args(arguments.map(|argument| argument.help_heading(G::HEADING)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<G: SettingArgs> clap::FromArgMatches for Arguments<G> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut arguments = Self::default();
        arguments.update_from_arg_matches(matches).map(|()| arguments)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for row in G::rows() {
            if is_flag(row) {
                self.given
                    .put(row.key, matches.get_flag(row.key).then(|| "true".to_owned()).into_iter().collect());
            } else if let Some(values) = matches.get_many::<String>(row.key) {
                // Without a value it is given as empty.
                let none = (values.len() == 0).then(String::new);
                self.given.put(row.key, values.cloned().chain(none).collect());
            }
        }
        let config = G::CONFIG.and_then(|_| matches.get_one::<String>(CONFIG));
        self.given.put(CONFIG, config.into_iter().cloned().collect());
        Ok(())
    }
}

impl<G: SettingArgs> Arguments<G> {
    /// The configuration, from the arguments and the configuration file.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn load(&self) -> Result<Config> {
        Config::load(self.given.clone(), self.given.text(CONFIG))
    }

    /// Adds arguments that come before these: lists begin with them, and of single values these count.
    pub(crate) fn add_before(&mut self, earlier: &Self) {
        for (key, values) in earlier.given.iter() {
            let is_list = G::rows().any(|row| row.key == key && row.kind.is_list());
            let own = self.given.texts(key).to_vec();
            if is_list || own.is_empty() {
                self.given.put(key, [values.to_vec(), own].concat());
            }
        }
    }

    /// Whether none is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.given.iter().next().is_none()
    }

    /// Only this configuration file.
    pub(crate) fn of_file(config: &Path) -> Self {
        let given = Given::default().with(CONFIG, [config.display().to_string()]);
        Self { given, ..Self::default() }
    }

    /// The same arguments as a command line for another process.
    pub(crate) fn to_line(&self) -> Vec<String> {
        let word = |key: &str, value: &String| match G::rows().find(|row| row.key == key) {
            Some(row) if is_flag(row) => format!("--{key}"),
            _ => format!("--{key}={value}"),
        };
        let words = |(key, values): (&'static str, &'_ [String])| {
            values.iter().map(|value| word(key, value)).collect::<Vec<_>>()
        };
        self.given.iter().flat_map(words).collect()
    }
}

/// Whether the argument has no value: what is false without it.
fn is_flag(row: &SettingRow) -> bool {
    row.kind == SettingKind::Check && row.default() == "false"
}

/// The argument of a setting.
fn argument(row: &'static SettingRow) -> Arg {
    let argument = Arg::new(row.key).long(row.key);
    if is_flag(row) {
        return argument.action(ArgAction::SetTrue).help(row.help);
    }
    let default = Some(row.default()).filter(|default| !default.is_empty());
    let default = default.map(|default| format!(" [default: {default}]")).unwrap_or_default();
    let (action, more) =
        if row.kind.is_list() { (ArgAction::Append, "; repeatable") } else { (ArgAction::Set, "") };
    let kind = row.kind;
    let parser = match kind {
        SettingKind::Check => PossibleValuesParser::new(["true", "false"]).into(),
        SettingKind::Choice { choices } => PossibleValuesParser::new(choices).into(),
        SettingKind::Spin { .. } => ValueParser::new(move |text: &str| {
            let number = Some(text.to_owned()).filter(|text| kind.takes(text));
            number.ok_or_else(|| format!("must be {}", kind.needs()))
        }),
        // What a list holds is checked with what the file has.
        _ => ValueParser::string(),
    };
    argument
        .action(action)
        .help(format!("{}{more}{default}", row.help))
        .value_name(row.value_name)
        .value_parser(parser)
        .allow_hyphen_values(kind == SettingKind::Texts)
}
