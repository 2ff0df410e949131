//! Options that several commands share: they mean the same everywhere, and `tabiya help shared` describes them once.

use std::path::PathBuf;

use clap::{Arg, Args as _, Command};

use super::engine::EngineArgs;
use super::resources::ResourcesArgs;
use super::search::SearchArgs;
use super::variant::VariantArgs;

/// The name of their page.
pub(crate) const PAGE: &str = "shared";

/// What else commands share.
#[derive(clap::Args)]
struct Common {
    /// Replace files that exist
    #[arg(long)]
    force: bool,
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
    /// A file of evaluations (a store), such as book.bin.evals; build writes it; repeatable where several are read
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

/// The page of the options that commands share.
pub(crate) fn page() -> Command {
    let page = Command::new(PAGE).disable_help_flag(true);
    let page = SearchArgs::augment_args(Common::augment_args(page));
    let page = VariantArgs::augment_args(ResourcesArgs::augment_args(EngineArgs::augment_args(page)));
    page.about("Options of several commands; --help of a command names its own")
        .override_usage("tabiya <COMMAND> [OPTIONS]")
}

/// A command whose help names the options that it shares with others, and describes only its own and those `kept`; `within`:
/// the words between tabiya and its name.
pub(crate) fn named_only(command: Command, within: &str, kept: &[&str]) -> Command {
    let page = page();
    // What has a default of its own is described in place.
    let is_shared = |argument: &Arg| {
        argument.get_default_values().is_empty()
            && !kept.contains(&argument.get_id().as_str())
            && page
                .get_arguments()
                .any(|other| other.get_long() == argument.get_long() && !argument.is_positional())
    };
    let names: Vec<_> = command.get_arguments().filter(|argument| is_shared(argument)).collect();
    if names.is_empty() {
        return command;
    }
    let names: Vec<_> =
        names.iter().filter_map(|argument| argument.get_long()).map(|long| format!("--{long}")).collect();
    let long_note = format!("Also: {} (see `tabiya help {PAGE}`)", names.join(", "));
    let note = format!("All options: `tabiya {within}{} --help`", command.get_name());
    let shared: Vec<_> = command
        .get_arguments()
        .filter(|argument| is_shared(argument))
        .map(|argument| argument.get_id().clone())
        .collect();
    let command = command
        .mut_args(|argument| if shared.contains(argument.get_id()) { argument.hide(true) } else { argument });
    command.after_help(note).after_long_help(long_note)
}
