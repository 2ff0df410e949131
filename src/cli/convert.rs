//! `tabiya convert`: a book in another format.

use std::path::PathBuf;

use super::exit::Exit;
use super::means_args::MeansArgs;
use super::merge;
use crate::base::error::Result;

/// `tabiya convert`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The book to read
    #[arg(value_name = "IN")]
    input: PathBuf,
    #[command(flatten)]
    to: merge::To,
    #[command(flatten)]
    means: MeansArgs,
}

/// Writes the book in the format that the new name ends with.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted: the new book is then not there.
pub fn run(args: &Args) -> Result<Exit> {
    merge::make(std::slice::from_ref(&args.input), &args.to, &args.means)
}
