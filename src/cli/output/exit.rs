//! Exit codes, which other programs rely on.

use std::process::ExitCode;

use crate::base::error::ErrorKind;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// The input was found wanting: a damaged book, a position that no book knows.
    Wanting = 1,
    /// The command line or the configuration asks for something that does not exist.
    Usage = 2,
    /// A file cannot be opened, read or written, or is not what it should be.
    File = 3,
    /// The engine cannot be started, is no UCI engine, hangs or died.
    Engine = 4,
    /// Stopped by Ctrl-C or its like: 128 and the number of that signal, as shells count.
    Interrupted = 130,
}

impl Exit {
    /// The graver of two ends: the one with the higher code.
    pub fn graver(self, other: Self) -> Self {
        if other as u8 > self as u8 { other } else { self }
    }

    /// The exit code of an error.
    pub fn of(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::File | ErrorKind::Format => Exit::File,
            ErrorKind::Engine => Exit::Engine,
            ErrorKind::Interrupted => Exit::Interrupted,
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
    fn the_graver_end_counts() {
        assert_eq!(Exit::Done.graver(Exit::Wanting), Exit::Wanting);
        assert_eq!(Exit::File.graver(Exit::Wanting), Exit::File);
        assert_eq!(Exit::Engine.graver(Exit::File).graver(Exit::Done), Exit::Engine);
    }

    #[test]
    fn the_codes_are_those_promised() {
        assert_eq!(
            [Exit::Done, Exit::Wanting, Exit::Usage, Exit::File, Exit::Engine].map(|exit| exit as u8),
            [0, 1, 2, 3, 4]
        );
        assert_eq!(Exit::of(ErrorKind::Usage), Exit::Usage);
        assert_eq!(Exit::of(ErrorKind::File), Exit::File);
        assert_eq!(Exit::of(ErrorKind::Format), Exit::File);
        assert_eq!(Exit::of(ErrorKind::Interrupted) as u8, 130);
        assert_eq!(Exit::of(ErrorKind::Engine), Exit::Engine);
    }
}
