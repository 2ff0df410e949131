//! The file through which processes share the lines that they have played, and the thread that reads and writes it: a disk
//! may hang.
//!
//! The file is text: a first line that says what it is, then a line for each position, its key in sixteen hexadecimal digits,
//! a colon, and the keys of the positions that may follow it. Lines that are anything else are passed over.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::appended;
use crate::adapter::session::Node;
use crate::base::task_thread::TaskThread;
use crate::settings::search_paths::SearchPaths;

/// The first line.
const HEAD: &str = "# lines that tabiya has played from books\n";

/// Bytes of the file that are read at once.
const BLOCK: u64 = 1 << 20;

/// The longest line that is read: longer than that of a position with all moves that one can have.
const LINE_MAX: usize = 8 << 10;

/// What the thread is sent.
pub(super) enum Task {
    /// The name of the file for what follows; empty for none.
    To(String),
    /// What is to be written. What others have written is read.
    Add(Vec<Node>),
    /// Whom to tell that all before this is done.
    Tell(Sender<()>),
}

/// Receives something, or finds that no one will send it, once the thread has done all that it was sent before.
pub(super) fn when_done(thread: &TaskThread<Task>) -> Receiver<()> {
    let (tell, told) = channel();
    thread.send(Task::Tell(tell));
    told
}

/// The open file.
struct LinesFile {
    path: PathBuf,
    file: File,
    /// Up to where it was read.
    read: u64,
    /// The beginning of a line whose end was not there yet.
    rest: Vec<u8>,
}

impl LinesFile {
    /// Opens the file of this name, which is created if it is missing.
    ///
    /// # Errors
    /// When it cannot be opened for writing, or is not such a file.
    fn open(name: &str, search_paths: &SearchPaths) -> Result<Self, String> {
        let (path, mut file) =
            appended::open(name, "the played lines", search_paths, File::options().read(true))?;
        let mut head = Vec::new();
        let begun = (&mut file).take(HEAD.len() as u64).read_to_end(&mut head);
        let written =
            begun.and_then(|_| if head.is_empty() { file.write_all(HEAD.as_bytes()) } else { Ok(()) });
        match written {
            Err(error) => Err(format!("{}: cannot write the played lines: {error}", path.display())),
            Ok(()) if !HEAD.as_bytes().starts_with(&head) => Err(format!(
                "{}: this is not a file of played lines: name another one for Book Fresh File",
                path.display()
            )),
            Ok(()) => Ok(Self { path, file, read: 0, rest: Vec::new() }),
        }
    }

    /// Appends in one write, so that the lines of several processes do not mix; then shows what was appended since the last
    /// time, by any process.
    fn exchange(&mut self, nodes: &[Node], see: &mut dyn FnMut(Vec<Node>)) -> io::Result<()> {
        if !nodes.is_empty() {
            let mut text = String::new();
            for (at, after) in nodes {
                let _ = write!(text, "{at:016x}:");
                after.iter().for_each(|key| _ = write!(text, " {key:016x}"));
                text.push('\n');
            }
            self.file.write_all(text.as_bytes())?;
        }
        loop {
            self.file.seek(SeekFrom::Start(self.read))?;
            let read = (&mut self.file).take(BLOCK).read_to_end(&mut self.rest)?;
            if read == 0 {
                return Ok(());
            }
            self.read += read as u64;
            let end = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            let whole: Vec<u8> = self.rest.drain(..end).collect();
            see(whole.split(|byte| *byte == b'\n').filter_map(node).collect());
            if self.rest.len() > LINE_MAX {
                self.rest.clear();
            }
        }
    }
}

/// The position of a line, and those that may follow it.
fn node(line: &[u8]) -> Option<Node> {
    let (at, after) = std::str::from_utf8(line).ok()?.trim_end().split_once(':')?;
    let key = |word: &str| {
        let digits = word.len() == 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        if digits { u64::from_str_radix(word, 16).ok() } else { None }
    };
    Some((key(at)?, after.split_ascii_whitespace().map(key).collect::<Option<_>>()?))
}

/// What the thread does with what it is sent: lines of others go to `see`, and what is wrong to `report`.
pub(super) fn exchange(
    tasks: &Receiver<Task>,
    search_paths: &SearchPaths,
    see: &mut dyn FnMut(Vec<Node>),
    report: &dyn Fn(String),
) {
    let mut open: Option<LinesFile> = None;
    for task in tasks {
        match task {
            Task::To(name) if name.is_empty() => open = None,
            Task::To(name) => open = LinesFile::open(&name, search_paths).map_err(report).ok(),
            Task::Tell(waiting) => _ = waiting.send(()),
            Task::Add(nodes) => {
                let Some(file) = &mut open else { continue };
                if let Err(error) = file.exchange(&nodes, see) {
                    let path = file.path.display();
                    report(format!("{path}: {error}: lines of other processes may be played again"));
                    open = None;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn open(folder: &std::path::Path) -> Result<LinesFile, String> {
        LinesFile::open("lines", &SearchPaths::from_folders([folder.to_owned()]))
    }

    fn exchanged(file: &mut LinesFile, nodes: &[Node]) -> Vec<Node> {
        let mut seen = Vec::new();
        file.exchange(nodes, &mut |nodes| seen.extend(nodes)).unwrap();
        seen
    }

    #[test]
    fn each_reads_what_all_have_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let (mut one, mut other) = (open(folder.path()).unwrap(), open(folder.path()).unwrap());
        let first: Vec<Node> = vec![(1, vec![2, u64::MAX]), (2, vec![])];
        assert_eq!(exchanged(&mut one, &first), first);
        let second: Vec<Node> = vec![(3, vec![1])];
        assert_eq!(exchanged(&mut other, &second), [first.clone(), second.clone()].concat());
        assert_eq!(exchanged(&mut one, &[]), second);
        assert!(exchanged(&mut one, &[]).is_empty() && exchanged(&mut other, &[]).is_empty());
        let text = fs::read_to_string(folder.path().join("lines")).unwrap();
        assert_eq!(text.lines().count(), 4, "{text}");
        assert_eq!(exchanged(&mut open(folder.path()).unwrap(), &[]), [first, second].concat());
    }

    #[test]
    fn broken_lines_are_passed_over_and_other_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let long = "f".repeat(3 << 20);
        let text = format!(
            "{HEAD}0000000000000001: 000000000000000x\n0000000000000002\n2: 3\n\u{ff}\n0000000000000004: 0000000000000005\r\n{long}\n\
             0000000000000006:\n+000000000000007:\n0000000000000008: 00000"
        );
        fs::write(&path, text).unwrap();
        let mut file = open(folder.path()).unwrap();
        assert_eq!(exchanged(&mut file, &[]), [(4, vec![5]), (6, vec![])]);
        // On Windows a file that is open keeps its name after it was removed.
        drop(file);
        fs::write(&path, "[Event \"?\"]\n").unwrap();
        let problem = open(folder.path()).err().unwrap();
        assert!(problem.contains("Book Fresh File"), "{problem}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "[Event \"?\"]\n");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(open(folder.path()).is_err());
    }
}
