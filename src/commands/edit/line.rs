//! `--add-line`, `--delete-line`: a line of moves at once.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_book::edit::EditValue;
use tabiya_games::is_named;
use tabiya_games::text::{STDIN, text};
use tabiya_workshop::edit::{EditOutcome, Editor, Line, LineChange, LineCounts, LineWish, plan_line};

use super::{Args, in_words};
use crate::args::positions::game_at;
use crate::args::variant::open_book;
use crate::output::exit::Exit;
use crate::output::{self, complain, progress};

/// Bytes of the longest text that is read.
const MAX_TEXT: u64 = 16 << 20;

/// Adds or deletes the line of the arguments.
pub(super) fn make(args: &Args, editor: &mut Editor) -> Result<Exit> {
    let (option, written, change) = match (&args.add_line, &args.delete_line) {
        (Some(written), _) => {
            let (line, value) =
                match written.rsplit_once('=').map(|(line, word)| (line, EditValue::from_words(word.trim())))
                {
                    Some((line, Some(value))) => (line, Some(value)),
                    _ => (&**written, None),
                };
            ("--add-line", line, LineChange::Add { only: args.side, value })
        }
        (_, written) => ("--delete-line", written.as_deref().unwrap_or_default(), LineChange::Delete),
    };
    let variant = args.variant.variant();
    let (game, _) = game_at(args.fen.as_deref(), args.moves.as_deref(), variant)?;
    let line = Line::read(&content(written.trim())?, &game, args.fen.is_some())
        .map_err(|error| Error::new(ErrorKind::Usage, format!("{option}: {}", error.with_source())))?;
    let progress = progress::on_terminal(args.book.to_string_lossy());
    if args.dry_run {
        let book = open_book(&args.book, variant)?;
        let counts = plan_line(&*book, &line, change, &progress)?;
        drop(progress);
        return output::print_lines(
            &[format!("{}: it would be: {}", args.book.display(), done(counts))],
            Exit::Done,
        );
    }
    let outcome = editor.edit_line(&LineWish { line: &line, change, expected: None }, &progress)?;
    drop(progress);
    let EditOutcome::Made(made) = outcome else { return Ok(Exit::Findings) };
    let counts = if made.unread.is_some() { None } else { Some(made.counts()) };
    let text = format!(
        "{}, {}: {}",
        args.book.display(),
        in_words(&made.note, variant),
        done(counts.unwrap_or_default())
    );
    match &made.unread {
        None => output::print_lines(&[text], Exit::Done),
        Some(error) => {
            let text =
                format!("{}: the edit is made, but the book cannot be read again", args.book.display());
            let exit = output::print_lines(&[text], Exit::Findings)?;
            complain(error);
            Ok(exit)
        }
    }
}

/// What a line does, in words: "14 moves added, 2 changed".
pub(super) fn done(counts: LineCounts) -> String {
    let LineCounts { adds, changes, deletes, .. } = counts;
    let mut parts = Vec::new();
    for (count, what) in [(adds, "added"), (changes, "changed"), (deletes, "deleted")] {
        if count > 0 {
            let noun = match (parts.is_empty(), count) {
                (false, _) => "",
                (true, 1) => " move",
                (true, _) => " moves",
            };
            parts.push(format!("{count}{noun} {what}"));
        }
    }
    if parts.is_empty() { "nothing to change".to_owned() } else { parts.join(", ") }
}

/// The text of a line: that of a file of games or of standard input, if it is named.
fn content(written: &str) -> Result<String> {
    let path = Path::new(written);
    if written != STDIN && !is_named(path) {
        return Ok(written.to_owned());
    }
    let cannot = |error| Error::file(path, "cannot read the file", error);
    let mut bytes = Vec::new();
    text(path, Arc::default())?.take(MAX_TEXT + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > MAX_TEXT {
        let what = format!("longer than {} MiB", MAX_TEXT >> 20);
        return Err(Error::new(ErrorKind::Usage, what)
            .at_path(path)
            .advice("build a book of it, and merge the two"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
