//! A progress bar on the terminal for long work; a line now and then where standard error is not a terminal.

mod lines;

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use self::lines::Lines;
use super::resources::resident;

/// How much time passes between two lines where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// How a bar, or a line without one, looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Bar,
    Line,
}

/// The progress of some work. Dropped, it removes its bar from the terminal.
#[derive(Debug)]
pub struct Progress(Option<(ProgressBar, Look)>);

impl Progress {
    /// A bar on standard error if that is a terminal, else a line every ten seconds.
    ///
    /// `what` is shown before the bar, for example the name of the file.
    pub(crate) fn terminal(what: impl Into<String>) -> Self {
        let (target, look) = if std::io::stderr().is_terminal() {
            (ProgressDrawTarget::stderr_with_hz(10), Look::Bar)
        } else {
            let lines = Lines::new(std::io::stderr(), BETWEEN_LINES);
            (ProgressDrawTarget::term_like_with_hz(Box::new(lines), 1), Look::Line)
        };
        Self::shown(ProgressBar::with_draw_target(Some(0), target).with_message(what.into()), look)
    }

    fn shown(bar: ProgressBar, look: Look) -> Self {
        Self(Some((bar, look)))
    }

    /// Progress that is not shown.
    pub fn none() -> Self {
        Self(None)
    }

    /// Begins work on this many bytes; the bar shows bytes a second.
    pub fn bytes(&self, total: u64) {
        self.begin(total, "{binary_bytes}/{binary_total_bytes}", "{binary_bytes_per_sec}");
    }

    /// Begins work on this many things of a kind, such as positions.
    pub(crate) fn things(&self, total: u64, kind: &str) {
        self.begin(total, &format!("{{pos}}/{{len}} {kind}"), "{per_sec}");
    }

    /// As [`Progress::things`], where each takes long: the bar shows the remaining time.
    pub(crate) fn slow_things(&self, total: u64, kind: &str) {
        self.begin(total, &format!("{{pos}}/{{len}} {kind}"), "{per_sec}, {eta} left");
    }

    /// Begins work on games in this many bytes of files, if that is known: the bar shows bytes, games a second, the
    /// remaining time and the memory in use.
    pub fn games(&self, total: Option<u64>) {
        match total {
            Some(total) => {
                self.begin(total, "{binary_bytes}/{binary_total_bytes}, {prefix}", "{eta} left, {memory}");
            }
            None => self.begin(0, "{binary_bytes}, {prefix}", "{elapsed}, {memory}"),
        }
    }

    /// Reports that this many bytes were read, and this many games in them.
    pub(crate) fn games_at(&self, bytes: u64, games: u64) {
        self.many_at(bytes, games, "games");
    }

    /// As [`Progress::games_at`], for other things of a kind.
    pub(crate) fn many_at(&self, bytes: u64, count: u64, kind: &str) {
        if let Some((bar, _)) = &self.0 {
            let seconds = bar.elapsed().as_secs_f64().max(0.001);
            bar.set_prefix(format!("{count} {kind}, {:.0}/s", count as f64 / seconds));
            bar.set_position(bytes);
        }
    }

    /// Begins work that is shown as how much is done, and how fast.
    fn begin(&self, total: u64, done: &str, speed: &str) {
        if let Some((bar, look)) = &self.0 {
            let bar_part = match look {
                Look::Bar if total == 0 => " {spinner} ",
                Look::Bar => " {wide_bar} ",
                Look::Line => ": ",
            };
            let style = ProgressStyle::with_template(&format!("{{msg}}{bar_part}{done}, {speed}"));
            let memory = |_: &ProgressState, out: &mut dyn std::fmt::Write| {
                let memory = resident().map_or_else(String::new, |bytes| HumanBytes(bytes).to_string());
                let _ = write!(out, "{memory}");
            };
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style.with_key("memory", memory));
            bar.reset();
            bar.set_length(total);
        }
    }

    /// Reports how much of the work is done.
    pub fn at(&self, done: u64) {
        if let Some((bar, _)) = &self.0 {
            bar.set_position(done);
        }
    }

    /// Hides the bar while something is printed, because both may go to one terminal.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some((bar, _)) => bar.suspend(print),
            None => print(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((bar, _)) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::TermLike;
    use std::io::Result;
    use std::sync::{Arc, Mutex};

    /// A terminal of one line that remembers it.
    #[derive(Clone, Debug, Default)]
    struct Line(Arc<Mutex<String>>);

    impl Line {
        fn text(&self) -> String {
            self.0.lock().unwrap().trim().to_owned()
        }

        fn add(&self, text: &str) -> Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
    }

    impl TermLike for Line {
        fn width(&self) -> u16 {
            100
        }
        fn move_cursor_up(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> Result<()> {
            self.add(text)
        }
        fn write_str(&self, text: &str) -> Result<()> {
            self.add(text)
        }
        fn clear_line(&self) -> Result<()> {
            self.0.lock().unwrap().clear();
            Ok(())
        }
        fn flush(&self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_bar_shows_the_progress_and_disappears() {
        let line = Line::default();
        let target = ProgressDrawTarget::term_like(Box::new(line.clone()));
        let bar = ProgressBar::with_draw_target(Some(0), target).with_message("book.bin");
        let progress = Progress::shown(bar.clone(), Look::Bar);
        progress.bytes(4096);
        progress.at(2048);
        bar.force_draw();
        assert!(line.text().starts_with("book.bin "), "{}", line.text());
        assert!(line.text().contains("2.00 KiB/4.00 KiB"), "{}", line.text());
        progress.things(10, "positions");
        progress.at(3);
        bar.force_draw();
        assert!(line.text().contains("3/10 positions"), "{}", line.text());
        assert_eq!(progress.aside(|| line.text()), "");
        drop(progress);
        assert_eq!(line.text(), "");
    }

    #[test]
    fn nothing_is_shown_without_a_terminal() {
        let progress = Progress::none();
        progress.bytes(1);
        progress.at(1);
        assert_eq!(progress.aside(|| 7), 7);
    }
}
