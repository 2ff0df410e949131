//! Exit codes, which other programs rely on.

use std::process::ExitCode;

use tabiya_base::error::ErrorKind;

/// How a command ended; a later one is more serious.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    Done = 0,
    /// The input has problems: a damaged book, or a position that no book knows.
    Findings = 1,
    /// The command line or the configuration asks for something that does not exist.
    Usage = 2,
    /// A file cannot be opened, read or written, or is not in the expected format.
    File = 3,
    /// The engine cannot be started, does not speak UCI, hangs, or ended.
    Engine = 4,
    /// Stopped by Ctrl-C or a similar signal: 128 plus the number of SIGINT, as in shells.
    Interrupted = 130,
}

impl From<ErrorKind> for Exit {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::Engine => Exit::Engine,
            ErrorKind::Interrupted => Exit::Interrupted,
            _ => Exit::File,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_codes() {
        let all = [Exit::Done, Exit::Findings, Exit::Usage, Exit::File, Exit::Engine, Exit::Interrupted];
        assert!(all.is_sorted() && all.is_sorted_by_key(|exit| *exit as u8));
    }

    #[test]
    fn the_codes_are_those_promised() {
        assert_eq!(
            [Exit::Done, Exit::Findings, Exit::Usage, Exit::File, Exit::Engine].map(|exit| exit as u8),
            [0, 1, 2, 3, 4]
        );
        assert_eq!(Exit::from(ErrorKind::Usage), Exit::Usage);
        assert_eq!(Exit::from(ErrorKind::File), Exit::File);
        assert_eq!(Exit::from(ErrorKind::Format), Exit::File);
        assert_eq!(Exit::from(ErrorKind::Interrupted) as u8, 130);
        assert_eq!(Exit::from(ErrorKind::Engine), Exit::Engine);
    }
}
