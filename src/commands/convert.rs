//! `tabiya convert`: a book in another format.

use std::path::PathBuf;

use tabiya_base::error::Result;

use super::merge;
use crate::args::resources::ResourcesArgs;
use crate::output::exit::Exit;

/// `tabiya convert`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The book to read
    #[arg(value_name = "IN")]
    input: PathBuf,
    #[command(flatten)]
    to: merge::To,
    #[command(flatten)]
    resources: ResourcesArgs,
}

/// Writes the book in the format that the new name selects.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted: then no book is written.
pub fn run(args: &Args) -> Result<Exit> {
    merge::make(std::slice::from_ref(&args.input), &args.to, &args.resources)
}
