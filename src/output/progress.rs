//! A progress bar on the terminal for long work.

use std::io::IsTerminal;

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use tabiya_base::progress::{Progress, Show, Unit};
use tabiya_base::resources::resident;

/// A bar. Dropped, it is removed from the terminal.
struct Bar(ProgressBar);

/// Where nobody looks at a bar: only what the user is to know is said.
struct NoBar;

impl Show for NoBar {
    fn begin(&self, _: Option<u64>, _: Unit<'_>) {}

    fn at(&self, _: u64) {}

    fn tell(&self, what: &str) {
        super::warn(what);
    }
}

/// A bar on standard error if that is a terminal.
///
/// `what` is shown before the bar, for example the name of the file.
pub(crate) fn on_terminal(what: impl Into<String>) -> Progress {
    if !std::io::stderr().is_terminal() {
        return Progress::shown_by(NoBar);
    }
    let target = ProgressDrawTarget::stderr_with_hz(10);
    Progress::shown_by(Bar(ProgressBar::with_draw_target(Some(0), target).with_message(what.into())))
}

impl Show for Bar {
    /// Bytes and items are shown with their speed, slow items with the remaining time, and games with the memory in use
    /// too.
    fn begin(&self, total: Option<u64>, unit: Unit<'_>) {
        let total = total.unwrap_or(0);
        let text = match unit {
            Unit::Bytes => "{binary_bytes}/{binary_total_bytes}, {binary_bytes_per_sec}".to_owned(),
            Unit::Things(kind) if total == 0 => format!("{{pos}} {kind}, {{rate}}"),
            Unit::Things(kind) => format!("{{pos}}/{{len}} {kind}, {{rate}}"),
            Unit::SlowThings(kind) if total == 0 => {
                format!("{{pos}} {kind}, {{rate}}, {{elapsed}}{{prefix}}")
            }
            Unit::SlowThings(kind) => format!("{{pos}}/{{len}} {kind}, {{rate}}, {{eta}} left{{prefix}}"),
            Unit::Found if total == 0 => "{binary_bytes}, {prefix}, {elapsed}, {memory}".to_owned(),
            Unit::Found => "{binary_bytes}/{binary_total_bytes}, {prefix}, {eta} left, {memory}".to_owned(),
        };
        let bar = if total == 0 { " {spinner} " } else { " {wide_bar} " };
        let style = ProgressStyle::with_template(&format!("{{msg}}{bar}{text}"));
        let memory = |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            let memory = resident().map_or_else(String::new, |bytes| HumanBytes(bytes).to_string());
            let _ = write!(out, "{memory}");
        };
        let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let (speed, places) = (state.per_sec(), usize::from(state.per_sec() < 10.0));
            let _ = write!(out, "{speed:.places$}/s");
        };
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        self.0.set_style(style.with_key("memory", memory).with_key("rate", rate));
        self.0.reset();
        self.0.set_prefix("");
        self.0.set_length(total);
    }

    fn at(&self, done: u64) {
        self.0.set_position(done);
    }

    fn found(&self, count: u64, kind: &str) {
        let seconds = self.0.elapsed().as_secs_f64().max(0.001);
        self.0.set_prefix(format!("{count} {kind}, {:.0}/s", count as f64 / seconds));
    }

    fn details(&self, numbers: &[(f64, &str)]) {
        let words: Vec<_> = numbers.iter().map(|(number, what)| format!(", {number:.1} {what}")).collect();
        self.0.set_prefix(words.concat());
    }

    fn tell(&self, what: &str) {
        self.0.suspend(|| super::warn(what));
    }

    fn aside(&self, print: &mut dyn FnMut()) {
        self.0.suspend(print);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
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
    struct ProgressLine(Arc<Mutex<String>>);

    impl ProgressLine {
        fn text(&self) -> String {
            self.0.lock().unwrap().trim().to_owned()
        }

        fn add(&self, text: &str) -> Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
    }

    impl TermLike for ProgressLine {
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
        let line = ProgressLine::default();
        let target = ProgressDrawTarget::term_like(Box::new(line.clone()));
        let bar = ProgressBar::with_draw_target(Some(0), target).with_message("book.bin");
        let progress = Progress::shown_by(Bar(bar.clone()));
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
}
