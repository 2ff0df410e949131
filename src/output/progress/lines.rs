//! Progress without a terminal: each line is printed whole, and not often.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::TermLike;

/// Characters of a line: more than any has.
const WIDTH: u16 = 1000;

/// What a bar is drawn on where there is no terminal.
#[derive(Debug)]
pub(super) struct ProgressLines<W>(Mutex<ProgressState<W>>);

#[derive(Debug)]
struct ProgressState<W> {
    out: W,
    /// How much time passes between two lines.
    between: Duration,
    /// When the last line was printed, or the work began.
    last: Instant,
    /// What was drawn and not printed.
    line: String,
}

impl<W: Write> ProgressLines<W> {
    /// Prints a line into `out`, unless one was printed less than `between` before. The first comes after as much time.
    pub fn new(out: W, between: Duration) -> Self {
        Self(Mutex::new(ProgressState { out, between, last: Instant::now(), line: String::new() }))
    }

    fn with<T>(&self, work: impl FnOnce(&mut ProgressState<W>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<W: Write + std::fmt::Debug + Send> TermLike for ProgressLines<W> {
    fn width(&self) -> u16 {
        WIDTH
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.with(|state| state.line.push_str(text));
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.with(|state| state.line.clear());
        Ok(())
    }

    /// A line that cannot be printed is no reason to end the work.
    fn flush(&self) -> io::Result<()> {
        self.with(|state| {
            let line = state.line.trim();
            if !line.is_empty() && state.last.elapsed() >= state.between {
                let _ = writeln!(state.out, "tabiya: {line}").and_then(|()| state.out.flush());
                state.last = Instant::now();
            }
            state.line.clear();
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use indicatif::{ProgressBar, ProgressDrawTarget};

    use tabiya_base::progress::Progress;

    use super::super::{Bar, Look};
    use super::*;

    #[derive(Clone, Debug, Default)]
    struct Printed(Arc<Mutex<Vec<u8>>>);

    impl Write for Printed {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn printed(between: Duration) -> String {
        let out = Printed::default();
        let target = ProgressDrawTarget::term_like(Box::new(ProgressLines::new(out.clone(), between)));
        let bar = ProgressBar::with_draw_target(Some(0), target).with_message("games.pgn");
        let progress = Progress::shown_by(Bar { bar: bar.clone(), look: Look::Line });
        progress.games(Some(4 << 20));
        progress.games_at(1 << 20, 400);
        bar.force_draw();
        progress.games_at(2 << 20, 800);
        bar.force_draw();
        drop(progress);
        String::from_utf8(out.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn lines_are_whole_and_say_how_much_is_done() {
        let text = printed(Duration::ZERO);
        let line = text.lines().last().unwrap_or_default();
        assert!(line.starts_with("tabiya: games.pgn: 2.00 MiB/4.00 MiB, 800 games, "), "{line}");
        assert!(line.contains("/s, ") && line.contains(" left, ") && line.ends_with("iB"), "{line}");
        assert!(text.lines().all(|line| line.starts_with("tabiya: games.pgn: ")), "{text:?}");
    }

    #[test]
    fn short_work_prints_nothing() {
        assert_eq!(printed(Duration::from_secs(3600)), "");
    }
}
