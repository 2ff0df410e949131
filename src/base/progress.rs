//! A progress bar on the terminal for long work; nothing where standard error is not a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The progress of some work. Dropped, it removes its bar from the terminal.
#[derive(Debug)]
pub struct Progress(Option<ProgressBar>);

impl Progress {
    /// A bar on standard error if that is a terminal, else the same as [`Progress::none`].
    ///
    /// `what` is shown before the bar, for example the name of the file.
    pub(crate) fn terminal(what: impl Into<String>) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::none();
        }
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
        Self(Some(bar.with_message(what.into())))
    }

    /// Progress that is not shown.
    pub fn none() -> Self {
        Self(None)
    }

    /// Begins work on this many bytes; the bar shows bytes a second.
    pub fn bytes(&self, total: u64) {
        self.begin(total, "{msg} {wide_bar} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec}");
    }

    /// Begins work on this many things of a kind, such as positions.
    pub(crate) fn things(&self, total: u64, kind: &str) {
        self.begin(total, &format!("{{msg}} {{wide_bar}} {{pos}}/{{len}} {kind} {{per_sec}}"));
    }

    /// Begins work on games in this many bytes of files, if that is known: the bar shows bytes, games a second and the
    /// remaining time.
    pub fn games(&self, total: Option<u64>) {
        match total {
            Some(total) => {
                self.begin(total, "{msg} {wide_bar} {binary_bytes}/{binary_total_bytes} {prefix} {eta} left");
            }
            None => self.begin(0, "{msg} {spinner} {binary_bytes} {prefix} {elapsed}"),
        }
    }

    /// Reports that this many bytes were read, and this many games in them.
    pub(crate) fn games_at(&self, bytes: u64, games: u64) {
        self.many_at(bytes, games, "games");
    }

    /// As [`Progress::games_at`], for other things of a kind.
    pub(crate) fn many_at(&self, bytes: u64, count: u64, kind: &str) {
        if let Some(bar) = &self.0 {
            let seconds = bar.elapsed().as_secs_f64().max(0.001);
            bar.set_prefix(format!("{count} {kind}, {:.0}/s", count as f64 / seconds));
            bar.set_position(bytes);
        }
    }

    fn begin(&self, total: u64, template: &str) {
        if let Some(bar) = &self.0 {
            bar.set_style(
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
            bar.reset();
            bar.set_length(total);
        }
    }

    /// Reports how much of the work is done.
    pub fn at(&self, done: u64) {
        if let Some(bar) = &self.0 {
            bar.set_position(done);
        }
    }

    /// Hides the bar while something is printed, because both may go to one terminal.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
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
        let progress = Progress(Some(bar.clone()));
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
