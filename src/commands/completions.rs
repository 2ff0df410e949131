//! `tabiya completions`: what a shell needs to complete tabiya's commands and options.

use clap_complete::Shell;
use tabiya_base::error::Result;

use crate::args::screens::Screen;
use crate::output::exit::Exit;
use crate::output::print;

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "completions",
    shown: &[("shell", "")],
    examples: &[
        "tabiya completions bash > ~/.local/share/bash-completion/completions/tabiya",
        "tabiya completions fish > ~/.config/fish/completions/tabiya.fish",
    ],
    pages: &[("install.md", "## Completions")],
}];

/// Print a shell's completions of tabiya's commands and options
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The shell: bash, zsh, fish, powershell or elvish
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

/// Prints the completions of the whole command line.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    let mut cli = super::whole_command();
    // Into memory: the generator does not survive a reader that ends early.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli, "tabiya", &mut script);
    print(|out| {
        out.write_all(&script)?;
        Ok(Exit::Done)
    })
}
