//! `tabiya completions`: what a shell needs to complete tabiya's commands and options.

use clap_complete::Shell;
use tabiya_base::error::Result;

use crate::output::exit::Exit;
use crate::output::print;

/// `tabiya completions`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The shell: bash, zsh, fish, powershell or elvish
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

/// Prints the completions of `cli`.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &Args, mut cli: clap::Command) -> Result<Exit> {
    // Into memory: the generator does not survive a reader that ends early.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli, "tabiya", &mut script);
    print(|out| {
        out.write_all(&script)?;
        Ok(Exit::Done)
    })
}
