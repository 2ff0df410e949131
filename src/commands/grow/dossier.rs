//! The dossier of an opponent as a file.

use std::io::Write as _;

use tabiya_base::error::Result;
use tabiya_base::replace::Replacement;
use tabiya_workshop::grow::{Dossier, Grown, Opponent};

use super::Args;
use crate::output::rows::many;

/// Writes what is known of the opponent, for each side that the book is for; returns what is said of it.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn write(grown: &Grown<'_>, args: &Args, mut file: Replacement) -> Result<Vec<String>> {
    let name = args.against.opponent();
    let book = args.to.output.file_name().unwrap_or_default().to_string_lossy();
    let (mut text, mut lines) = (Vec::new(), Vec::new());
    for play in grown.plays() {
        let dossier = Dossier::new(grown, play);
        let written = dossier.write_pgn(grown, play, Opponent { name: &name, book: &book }, &mut text);
        written.and_then(|()| file.write_all(&text)).map_err(|error| file.error(error))?;
        text.clear();
        let path = args.dossier.iter().map(|path| path.display().to_string()).collect::<String>();
        lines.push(format!(
            "{path}: {} of {name} as {}",
            many(dossier.lines.len() as u64, "error"),
            !dossier.side
        ));
    }
    file.commit()?;
    Ok(lines)
}
