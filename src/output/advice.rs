//! What helps against what is wrong, in the words of the command line: the only place that knows what options and commands do
//! about an error of a library.

use std::path::Path;

use tabiya_adapter::settings::advice;
use tabiya_base::error::{Error, ErrorKind, Remedy};
use tabiya_book::OtherRules;
use tabiya_workshop::source::Source;

use super::UNDER_DOCTOR;

/// An error with the options that help against it.
pub(crate) fn worded(error: &Error) -> String {
    advice::with_remedy(error, error.remedy().and_then(remedy))
}

/// The options and commands that help; what only commands meet is here, the rest is as the adapter says it to a GUI.
fn remedy(remedy: Remedy) -> Option<&'static str> {
    Some(match remedy {
        Remedy::Replace => "name another one, or replace it with --force",
        Remedy::TemporaryFiles => {
            "free some space, name another folder with --temp, or allow more memory with --memory"
        }
        Remedy::TemporaryFolder => "name another one with --temp",
        Remedy::SmallerBook => "build a smaller one, with --min-games or --max-ply",
        // Doctor is running already.
        Remedy::TryEngine if std::env::var_os(UNDER_DOCTOR).is_some() => return None,
        of_adapter => return advice::remedy(of_adapter),
    })
}

/// The rules that the moves of a book obey, and the argument by which it is read so.
pub(crate) fn with_variant(other: &OtherRules) -> String {
    format!("{other}; `--variant {}` reads it as such a book", other.likely)
}

/// What is said of a book on the command line whose moves obey other rules than those that it is read for.
pub(crate) fn other_rules(path: &Path, other: &OtherRules) -> String {
    format!("{}: {}", path.display(), with_variant(other))
}

/// The error of what is no book, with what to do where games are.
pub(crate) fn no_book(path: &Path, error: Error) -> Error {
    let is_games =
        error.kind() == ErrorKind::Format && Source::at(path).is_ok_and(|source| source.holds_games());
    if is_games { error.advice("name a book, or make one of games with `tabiya build`") } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_comes_with_the_option_that_helps() {
        let text = worded(&Error::exists("a.bin"));
        assert_eq!(text, "a.bin: this file exists already: name another one, or replace it with --force");
        let text = worded(&Error::temporary("/tmp", std::io::ErrorKind::StorageFull.into()));
        assert!(text.contains("--temp") && text.contains("--memory"), "{text}");
        assert_eq!(worded(&Error::format("a.bin", "it is empty")), "a.bin: it is empty");
        let error = Error::new(ErrorKind::Engine, "it hangs").remedied_by(Remedy::TryEngine);
        assert_eq!(worded(&error), "it hangs: try it with `tabiya doctor`");
    }
}
