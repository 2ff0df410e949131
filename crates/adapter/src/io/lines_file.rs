//! The file through which processes share the lines that they have played, and the thread that reads and writes it: a disk
//! may hang.
//!
//! [formats/lines.md](../../../../docs/formats/lines.md) has the layout of the file, which is text.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use tabiya_base::lock::{is_at, may_create};

use super::appended::is_pipe;
use crate::session::{NodeKind, PlayedNode};
use crate::settings::search_paths::SearchPaths;

const HEAD: &str = "# lines that tabiya has played from books\n";

/// Bytes of the file that are read at once.
const BLOCK: u64 = 1 << 20;

/// The longest line that is read: longer than that of a position with all moves that one can have.
const MAX_LINE: usize = 8 << 10;

/// Positions that are shown at once: those who are shown them must not be kept waiting.
const SHOWN: usize = 128;

/// What stands behind a position, by how much is known of it.
const MARKS: [(char, NodeKind); 3] = [(':', NodeKind::Known), ('?', NodeKind::Cut), ('~', NodeKind::Replies)];

/// What the thread is sent.
pub(super) enum Task {
    /// The name of the file for what follows; empty for none.
    To(String),
    /// What is to be written. What others have written is read first.
    Add(Vec<PlayedNode>),
    /// What to do once all before this is done.
    Then(Box<dyn FnOnce() + Send>),
}

/// What the thread has to say.
pub(super) enum LinesFileEvent {
    /// The user must know this.
    Wrong(String),
    /// The user may want to know this.
    Known(String),
}

struct LinesFile {
    path: PathBuf,
    file: File,
    /// Whether this process writes to it.
    writes: bool,
    /// Up to where it was read.
    read: u64,
    /// The beginning of a line whose end was not there yet.
    rest: Vec<u8>,
    /// Lines that could not be read since that was last said.
    damaged: u64,
}

impl LinesFile {
    /// Opens the file; one to write to is created if it is missing.
    ///
    /// # Errors
    /// When it cannot be opened, or is not such a file.
    fn open(path: &Path, writes: bool) -> Result<Self, String> {
        let cannot = |error: io::Error| unshared(path, &error);
        if is_pipe(path) {
            return Err(format!("{}: this is a pipe, but the played lines need a file", path.display()));
        }
        let mut options = OpenOptions::new();
        // Who only tries it opens it as play does.
        options.read(true).append(true).create(writes);
        let mut file = options.open(path).map_err(cannot)?;
        let mut head = Vec::new();
        (&mut file).take(MAX_LINE as u64).read_to_end(&mut head).map_err(cannot)?;
        // A process may have written lines before it noticed that the file was emptied.
        let first = head.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
        if !HEAD.as_bytes().starts_with(first) && node(first).is_none() {
            return Err(format!(
                "{}: this is not a file of played lines, and is left alone: delete it, or name another one for Book Fresh \
                 File; lines of other processes may be played again",
                path.display()
            ));
        }
        let (path, rest) = (path.to_owned(), Vec::new());
        Ok(Self { path, file, writes, read: 0, rest, damaged: 0 })
    }

    /// Shows what was appended since the last time, by any process, this one included; appends in one write, so that the lines of
    /// several processes do not mix.
    fn exchange(&mut self, nodes: &[PlayedNode], see: &mut dyn FnMut(&[PlayedNode])) -> io::Result<()> {
        // A file that was deleted or replaced belongs to another match.
        if self.writes && !is_at(&self.file, &self.path) {
            let file = OpenOptions::new().read(true).append(true).create(true).open(&self.path)?;
            (self.file, self.read) = (file, 0);
            self.rest.clear();
        }
        // So does one that was emptied.
        if self.file.metadata()?.len() < self.read {
            self.read = 0;
            self.rest.clear();
        }
        self.read_on(see)?;
        if nodes.is_empty() || !self.writes {
            return Ok(());
        }
        let mut text = String::new();
        if self.read == 0 {
            text.push_str(HEAD);
        } else if !self.rest.is_empty() {
            // Another process was killed while it wrote.
            text.push('\n');
        }
        for PlayedNode { scope, at, kind, after } in nodes {
            let mark = MARKS.iter().find(|(_, of)| of == kind).map_or(':', |(mark, _)| *mark);
            let _ = write!(text, "{at:016x}{mark} {scope:016x}");
            after.iter().for_each(|key| _ = write!(text, " {key:016x}"));
            text.push('\n');
        }
        self.file.write_all(text.as_bytes())?;
        // Others may have written in between; those who know their own lines lose nothing by seeing them.
        self.read_on(see)
    }

    /// Reads to the end.
    fn read_on(&mut self, see: &mut dyn FnMut(&[PlayedNode])) -> io::Result<()> {
        loop {
            self.file.seek(SeekFrom::Start(self.read))?;
            let read = (&mut self.file).take(BLOCK).read_to_end(&mut self.rest)?;
            if read == 0 {
                return Ok(());
            }
            self.read += read as u64;
            let end = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            let whole: Vec<u8> = self.rest.drain(..end).collect();
            let mut shown = Vec::with_capacity(SHOWN);
            for line in whole.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end) {
                match node(line) {
                    Some(node) => shown.push(node),
                    None => self.damaged += u64::from(!line.is_empty() && !line.starts_with(b"#")),
                }
                if shown.len() == SHOWN {
                    see(&shown);
                    shown.clear();
                }
            }
            see(&shown);
            if self.rest.len() > MAX_LINE {
                // What follows up to its end is damaged too.
                self.rest.truncate(1);
            }
        }
    }

    /// Says once what could not be read.
    fn damage(&mut self) -> Option<String> {
        let damaged = std::mem::take(&mut self.damaged);
        let lines = if damaged == 1 { "1 line is".to_owned() } else { format!("{damaged} lines are") };
        let what = "damaged and passed over: what they held may be played again";
        (damaged > 0).then(|| format!("{}: {lines} {what}", self.path.display()))
    }
}

/// What is said where lines cannot be shared.
fn unshared(path: &Path, error: &io::Error) -> String {
    format!("{}: cannot share the played lines: {error}", path.display())
}

/// The position of a line, and those that may follow it.
fn node(line: &[u8]) -> Option<PlayedNode> {
    let text = std::str::from_utf8(line).ok()?.trim_end();
    let end = text.find(MARKS.map(|(mark, _)| mark))?;
    let (head, rest) = (text.get(..end)?, text.get(end..)?);
    let (_, kind) = MARKS.into_iter().find(|(mark, _)| rest.starts_with(*mark))?;
    let key = |word: &str| {
        let digits = word.len() == 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        if digits { u64::from_str_radix(word, 16).ok() } else { None }
    };
    let mut keys = rest.get(1..)?.split_ascii_whitespace().map(key);
    let (at, scope) = (key(head)?, keys.next()??);
    Some(PlayedNode { scope, at, kind, after: keys.collect::<Option<_>>()? })
}

/// What the thread does with what it is sent: lines of others go to `see`, and what the user is to know to `say`.
pub(super) fn exchange(
    tasks: &Receiver<Task>,
    search_paths: &SearchPaths,
    writes: bool,
    see: &mut dyn FnMut(&[PlayedNode]),
    say: &dyn Fn(LinesFileEvent),
) {
    let mut open: Option<LinesFile> = None;
    for task in tasks {
        match task {
            Task::To(name) if name.is_empty() => open = None,
            Task::To(name) => {
                let path = search_paths.shared(&name);
                if !writes && !path.exists() {
                    open = None;
                    if let Err(error) = may_create(&path) {
                        say(LinesFileEvent::Wrong(unshared(&path, &error)));
                    }
                    continue;
                }
                open = LinesFile::open(&path, writes).map_err(|what| say(LinesFileEvent::Wrong(what))).ok();
                // Each process must find the same file.
                if open.is_some() && Path::new(&name).is_relative() {
                    say(LinesFileEvent::Known(format!("Book Fresh File is {}", path.display())));
                }
            }
            Task::Then(work) => work(),
            Task::Add(nodes) => {
                let Some(file) = &mut open else { continue };
                let exchanged = file.exchange(&nodes, see);
                file.damage().into_iter().for_each(|what| say(LinesFileEvent::Wrong(what)));
                if let Err(error) = exchanged {
                    let path = file.path.display();
                    say(LinesFileEvent::Wrong(format!(
                        "{path}: {error}: lines of other processes may be played again"
                    )));
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

    fn exchanged(file: &mut LinesFile, nodes: &[PlayedNode]) -> Vec<PlayedNode> {
        let mut seen = Vec::new();
        file.exchange(nodes, &mut |nodes| seen.extend(nodes.to_vec())).unwrap();
        seen
    }

    fn nodes(at: &[u64]) -> Vec<PlayedNode> {
        at.iter()
            .map(|at| PlayedNode {
                scope: u64::MAX,
                at: *at,
                kind: [NodeKind::Known, NodeKind::Cut, NodeKind::Replies][(at % 3) as usize],
                after: vec![*at, 9],
            })
            .collect()
    }

    #[test]
    fn each_reads_what_others_have_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let open = || LinesFile::open(&path, true).unwrap();
        let (mut one, mut other) = (open(), open());
        assert_eq!(exchanged(&mut one, &nodes(&[1, 2])), nodes(&[1, 2]));
        assert_eq!(exchanged(&mut other, &nodes(&[3])), nodes(&[1, 2, 3]));
        assert_eq!(exchanged(&mut one, &[]), nodes(&[3]));
        assert!(exchanged(&mut one, &[]).is_empty() && exchanged(&mut other, &[]).is_empty());
        assert_eq!(exchanged(&mut open(), &[]), nodes(&[1, 2, 3]));
        // Who only tries the adapter reads, and writes nothing.
        let before = fs::read(&path).unwrap();
        assert_eq!(exchanged(&mut LinesFile::open(&path, false).unwrap(), &nodes(&[4])), nodes(&[1, 2, 3]));
        assert_eq!(fs::read(&path).unwrap(), before);
        assert!(LinesFile::open(&folder.path().join("none"), false).is_err());
    }

    #[test]
    fn who_only_tries_learns_that_the_file_cannot_be_made_and_makes_none() {
        let folder = tempfile::tempdir().unwrap();
        let (sender, tasks) = std::sync::mpsc::channel();
        let name = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        ["lines", "none/lines"].iter().for_each(|file| sender.send(Task::To(name(file))).unwrap());
        drop(sender);
        let said = std::cell::RefCell::new(Vec::new());
        let say = |event| match event {
            LinesFileEvent::Wrong(what) | LinesFileEvent::Known(what) => said.borrow_mut().push(what),
        };
        exchange(&tasks, &SearchPaths::new(None), false, &mut |_| (), &say);
        let said = said.into_inner();
        assert!(said.len() == 1 && said[0].starts_with(&name("none")), "{said:?}");
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
    }

    #[test]
    fn a_file_that_is_emptied_or_deleted_in_use_goes_on_as_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let mut one = LinesFile::open(&path, true).unwrap();
        exchanged(&mut one, &nodes(&[1, 2]));
        fs::write(&path, "").unwrap();
        exchanged(&mut one, &nodes(&[3]));
        assert!(fs::read_to_string(&path).unwrap().starts_with(HEAD));
        assert_eq!(exchanged(&mut LinesFile::open(&path, true).unwrap(), &[]), nodes(&[3]));
        // On Windows a file that is open keeps its name after it was removed.
        if cfg!(unix) {
            fs::remove_file(&path).unwrap();
            exchanged(&mut one, &nodes(&[4]));
            assert_eq!(exchanged(&mut LinesFile::open(&path, true).unwrap(), &[]), nodes(&[4]));
        }
        // A process has written before it noticed that.
        fs::write(&path, format!("{:016x}~ {:016x} {:016x} {:016x}\n", 2, u64::MAX, 2, 9)).unwrap();
        assert_eq!(exchanged(&mut LinesFile::open(&path, true).unwrap(), &[]), nodes(&[2]));
    }

    #[test]
    fn damaged_lines_are_passed_over_and_said_and_other_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let (scope, long) = ("ffffffffffffffff", "f".repeat(3 << 20));
        let text = format!(
            "{HEAD}0000000000000001: {scope} 000000000000000x\n0000000000000002:\n2: 3\n\u{ff}\n\
             0000000000000002~ {scope} 0000000000000002 0000000000000009\r\n{long}\n# a remark\n\n\
             +000000000000007: {scope}\n0000000000000008: {scope} 00000"
        );
        fs::write(&path, text).unwrap();
        let mut file = LinesFile::open(&path, true).unwrap();
        assert_eq!(exchanged(&mut file, &[]), nodes(&[2]));
        let said = file.damage().unwrap();
        assert!(said.contains("6 lines are damaged") && file.damage().is_none(), "{said}");
        // What another process has written in part takes nothing with it.
        exchanged(&mut file, &nodes(&[4]));
        assert_eq!(exchanged(&mut LinesFile::open(&path, true).unwrap(), &[]), nodes(&[2, 4]));
        assert!(file.damage().unwrap().contains("1 line is damaged"));
        drop(file);
        fs::write(&path, "[Event \"?\"]\n").unwrap();
        let problem = LinesFile::open(&path, true).err().unwrap();
        assert!(problem.contains("Book Fresh File"), "{problem}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "[Event \"?\"]\n");
    }
}
