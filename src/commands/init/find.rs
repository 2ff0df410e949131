//! Engines and books that may already be on the machine.

use std::collections::HashSet;
use std::env;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use tabiya_adapter::session::NAME_ADDITION;
use tabiya_adapter::settings::advice;
use tabiya_adapter::settings::search_paths::SearchPaths;
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::folder::has_extension;
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_book as book;
use tabiya_chess::Variant;
use tabiya_uci::engine::Client;

use super::cutechess;
use crate::output::UNDER_DOCTOR;

/// The starts of the names of UCI engines, in the order in which they are offered.
const ENGINES: [&str; 28] = [
    "stockfish",
    "lc0",
    "komodo",
    "dragon",
    "berserk",
    "obsidian",
    "plentychess",
    "ethereal",
    "caissa",
    "rubichess",
    "koivisto",
    "viridithas",
    "clover",
    "seer",
    "igel",
    "minic",
    "arasan",
    "rofchade",
    "houdini",
    "rybka",
    "texel",
    "fairy-stockfish",
    "critter",
    "rodent",
    "fruit",
    "toga",
    "glaurung",
    "ct800",
];

/// Folders of books in Debian's packages.
const BOOK_FOLDERS: [&str; 2] = ["/usr/share/games/gnuchess", "/usr/share/scid/books"];

/// The most engines or books that are offered: each has a number of one digit.
pub(super) const MAX: usize = 9;

/// The most that are searched for. One more than [`MAX`] shows that not all are offered.
const MAX_FOUND: usize = MAX + 1;

/// How deep folders are searched: an engine is often in its own folder.
const DEEPEST: u32 = 2;

/// The most files and folders that are looked at: users may run it in a folder with all their files.
const MAX_SEEN: usize = 20_000;

/// Bytes of a program that are looked at at once.
const BLOCK: u64 = 1 << 20;

/// How many programs are tried at a time.
const AT_ONCE: usize = 8;

/// How long a program that is tried has to answer `uci`.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// The most programs that are tried.
const MAX_TRIED: usize = 40;

/// The starts of the names of programs that change the machine when they are started.
const INSTALLERS: [&str; 5] = ["unins", "setup", "install", "update", "vcredist"];

/// The engines of the machine, by their paths: those on `PATH`, those that Cute Chess knows, those in the usual folders, and
/// the programs in Arena's folder of engines that answer `uci`. No other program is started to find out.
pub(super) fn engines() -> Vec<PathBuf> {
    let paths = SearchPaths::new(None);
    let on_path = ENGINES.iter().filter_map(|name| paths.find_program(name).ok());
    let known = cutechess::Engines::load().map(|engines| engines.programs()).unwrap_or_default();
    let mut near = files(&folders(&["engines", "Engines"]), DEEPEST);
    near.retain(|path| rank(path) < ENGINES.len() && is_program(path));
    near.sort_by_key(|path| rank(path));
    let named = distinct(on_path.chain(known).chain(near), |path| !is_tabiya(path));
    let arena: Vec<_> = arena().iter().map(|folder| folder.join("Engines")).collect();
    let mut others = files(&arena, DEEPEST);
    others.retain(|path| rank(path) == ENGINES.len() && is_program(path) && !is_installer(path));
    let answering = answering(&others, MAX_FOUND.saturating_sub(named.len()));
    distinct(named.into_iter().chain(answering), |_| true)
}

/// Whether a program is tabiya, under whatever name and of whatever version: it holds a name that no other has.
fn is_tabiya(program: &Path) -> bool {
    let Ok(mut file) = File::open(program) else { return false };
    let mark = UNDER_DOCTOR.as_bytes();
    let mut block = Vec::new();
    loop {
        // The mark may lie across the end of a block.
        let kept = block.len().saturating_sub(mark.len());
        block.drain(..kept);
        match (&mut file).take(BLOCK).read_to_end(&mut block) {
            Ok(1..) if memchr::memmem::find(&block, mark).is_some() => return true,
            Ok(1..) => {}
            _ => return false,
        }
    }
}

/// The first of these programs that answer `uci`.
fn answering(programs: &[PathBuf], most: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for some in programs.chunks(AT_ONCE).take(MAX_TRIED / AT_ONCE) {
        if found.len() >= most {
            break;
        }
        let answers: Vec<bool> = thread::scope(|scope| {
            let tried: Vec<_> =
                some.iter().map(|program| scope.spawn(interrupt::inherited(|| answers(program)))).collect();
            tried.into_iter().map(|answer| answer.join().unwrap_or(false)).collect()
        });
        found.extend(some.iter().zip(answers).filter(|(_, answers)| *answers).map(|(path, _)| path.clone()));
    }
    found.truncate(most);
    found
}

/// Whether a program is an engine, and not a copy of tabiya.
fn answers(program: &Path) -> bool {
    let Ok(mut client) = Client::start(program, &[], program.parent()) else { return false };
    let mut is_tabiya = false;
    let see = |line: String| is_tabiya |= line.starts_with("id name ") && line.ends_with(NAME_ADDITION);
    client.ask("uci", "uciok", PATIENCE, see).is_ok() && !is_tabiya
}

fn is_installer(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_ascii_lowercase();
    INSTALLERS.iter().any(|start| name.as_encoded_bytes().starts_with(start.as_bytes()))
}

/// The books of the machine, by their paths: those near, then those of other programs; and why those near that cannot be opened
/// are left out.
pub(super) fn books() -> (Vec<PathBuf>, Vec<Error>) {
    let mut folders = folders(&["books", "Books"]);
    let near = folders.len();
    folders.extend(BOOK_FOLDERS.map(PathBuf::from));
    let ends: Vec<_> = book::Format::all().filter_map(book::Format::found_by).collect();
    let mut left_out = Vec::new();
    let near: HashSet<_> =
        folders.iter().take(near).filter_map(|folder| dunce::canonicalize(folder).ok()).collect();
    let is_named = |path: &Path| ends.iter().any(|end| has_extension(path, end));
    let is_book = |path: &Path| match is_named(path).then(|| of_chess(path)) {
        None => false,
        Some(Ok(())) => true,
        Some(Err(error)) => {
            let is_near = path.parent().is_some_and(|folder| near.contains(folder));
            // Any file may be named as a Polyglot book.
            let is_marked = book::Format::of_name(path).is_some_and(|format| !format.learns());
            left_out.extend(Some(error).filter(|_| is_near && is_marked));
            false
        }
    };
    let books = distinct(files(&folders, DEEPEST - 1).into_iter(), is_book);
    (books, left_out)
}

/// Opens a book of standard chess.
///
/// # Errors
/// When it cannot be opened, or its moves obey the rules of a variant only.
pub(super) fn of_chess(path: &Path) -> Result<()> {
    match book::open_book(path)?.other_rules(Variant::Chess, &Progress::none()) {
        Some(other) => Err(Error::new(ErrorKind::Usage, advice::other_rules(path, &other))),
        None => Ok(()),
    }
}

/// Opens a book of standard chess, or one of those in a folder.
///
/// # Errors
/// As [`of_chess`], for the first book of a folder of which none can be opened; and when that has none.
pub(super) fn books_of_chess(path: &Path) -> Result<()> {
    let Some(folder) = book::books_in(path)? else { return of_chess(path) };
    let mut failed = None;
    for book in &folder.books {
        match of_chess(book) {
            Ok(()) => return Ok(()),
            Err(error) => drop(failed.get_or_insert(error)),
        }
    }
    Err(failed.unwrap_or_else(|| Error::format(path, "this folder has no book")))
}

/// The working folder, the executable's and Arena's, each followed by its subfolders of these names.
fn folders(below: &[&str]) -> Vec<PathBuf> {
    let below = |folder: PathBuf| {
        let inner: Vec<_> = below.iter().map(|name| folder.join(name)).collect();
        std::iter::once(folder).chain(inner)
    };
    let near = SearchPaths::new(None);
    let mut folders: Vec<PathBuf> = near.folders().iter().cloned().flat_map(below).collect();
    if let Some(home) = env::home_dir() {
        folders.extend(["engines", "chess", "Chess"].map(|name| home.join(name)));
    }
    folders.extend(arena().into_iter().flat_map(below));
    folders
}

/// The folders into which Arena is installed.
fn arena() -> Vec<PathBuf> {
    if !cfg!(windows) {
        return Vec::new();
    }
    let variables = ["ProgramFiles", "ProgramFiles(x86)", "LOCALAPPDATA", "SystemDrive"];
    let parents = variables.iter().filter_map(env::var_os).map(|mut parent| {
        parent.push("\\");
        PathBuf::from(parent)
    });
    let is_arena = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_ascii_lowercase();
        name.as_encoded_bytes().starts_with(b"arena") && path.is_dir()
    };
    parents.flat_map(|parent| entries(&parent)).filter(is_arena).collect()
}

/// The entries of a folder in the order of their names; none where it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_SEEN);
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The files of these folders and, `deep` levels down, of their subfolders. Hidden ones are left out.
fn files(folders: &[PathBuf], deep: u32) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), MAX_SEEN);
    folders.iter().for_each(|folder| add_files(folder, deep, &mut left, &mut found));
    found
}

fn add_files(folder: &Path, deep: u32, left: &mut usize, found: &mut Vec<PathBuf>) {
    let is_hidden =
        |path: &PathBuf| path.file_name().unwrap_or_default().as_encoded_bytes().starts_with(b".");
    for path in entries(folder).into_iter().filter(|path| !is_hidden(path)) {
        let Some(rest) = left.checked_sub(1) else { return };
        *left = rest;
        match path.metadata() {
            Ok(data) if data.is_file() => found.push(path),
            Ok(data) if data.is_dir() && deep > 0 => add_files(&path, deep - 1, left, found),
            _ => {}
        }
    }
}

/// The place of an engine's name in [`ENGINES`]; their number for other names.
fn rank(path: &Path) -> usize {
    let name = path.file_name().unwrap_or_default().to_ascii_lowercase();
    let is = |known: &&str| name.as_encoded_bytes().starts_with(known.as_bytes());
    ENGINES.iter().position(is).unwrap_or(ENGINES.len())
}

/// Whether the system may start a file, as far as its mode or its name says.
#[cfg(unix)]
pub(super) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|data| data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(super) fn is_program(path: &Path) -> bool {
    ["exe", "com", "bat", "cmd"].iter().any(|end| has_extension(path, end))
}

/// The first paths that lead to different files and pass.
fn distinct(paths: impl Iterator<Item = PathBuf>, mut passes: impl FnMut(&Path) -> bool) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    let new = paths.filter(|path| {
        let whole = dunce::canonicalize(path).unwrap_or_else(|_| path.clone());
        passes(&whole) && seen.insert(whole)
    });
    new.take(MAX_FOUND).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_down_to_a_depth_and_hidden_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a/x/deep", "b", ".c", ".d/e", "a/f"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = |deep| -> Vec<PathBuf> {
            let found = files(&[folder.path().to_owned()], deep);
            found.iter().map(|path| path.strip_prefix(folder.path()).unwrap().to_owned()).collect()
        };
        assert_eq!(found(0), ["b"].map(PathBuf::from));
        assert_eq!(found(1), ["a/f", "b"].map(PathBuf::from));
        assert_eq!(found(2), ["a/f", "a/x/deep", "b"].map(PathBuf::from));
    }

    #[cfg(unix)]
    #[test]
    fn programs_that_answer_are_engines_unless_they_are_tabiya() {
        let folder = tempfile::tempdir().unwrap();
        let program = |name: &str, text: &str| {
            let path = folder.path().join(name);
            // Another process writes it: while this one has it open, a test beside it may start a process that has it open too.
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", r#"printf %s "$1" > "$0" && chmod +x "$0""#]).arg(&path).arg(text);
            assert!(shell.status().unwrap().success());
            path
        };
        let script = |says: &str| format!("#!/bin/sh\nread line\nprintf '{says}'\nread line\n");
        let programs = [
            program("silent.exe", "#!/bin/sh\nexit 0\n"),
            program("Prodeo.exe", &script("id name Prodeo\\nuciok\\n")),
            program("Solid.exe", &script("id name Prodeo (tabiya)\\nuciok\\n")),
            program("text.exe", "not a program"),
            program("xboard.exe", "#!/bin/sh\nread line\necho 'Illegal move: uci'\n"),
            program("Thinker.exe", &script("uciok\\n")),
        ];
        assert_eq!(answering(&programs, 9), [programs[1].clone(), programs[5].clone()]);
        assert_eq!(answering(&programs, 1), programs[1..2]);
        assert!(is_installer(Path::new("Engines/unins000.exe")) && !is_installer(&programs[1]));
        assert!(is_program(&programs[0]) && !is_program(folder.path().join("none").as_path()));
    }

    #[test]
    fn a_copy_of_tabiya_is_known_by_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stockfish");
        // Across the end of a block, in one, and not at all.
        for (before, is_copy) in [(BLOCK as usize - 3, true), (5, true), (BLOCK as usize, false)] {
            let mark = if is_copy { UNDER_DOCTOR } else { "TABIYA_UNDER" };
            fs::write(&path, [vec![0; before], mark.into(), vec![0; 9]].concat()).unwrap();
            assert_eq!(is_tabiya(&path), is_copy, "{before}");
        }
        assert!(is_tabiya(&env::current_exe().unwrap()) && !is_tabiya(folder.path()));
    }

    #[test]
    fn engines_are_known_by_the_start_of_their_names() {
        let place = |name: &str| rank(Path::new("engines").join(name).as_path());
        assert!(place("stockfish-17") == 0 && place("Lc0.exe") == 1);
        assert_eq!(place("notepad.exe"), ENGINES.len());
    }

    #[test]
    fn each_file_is_found_once_and_few_are() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..20).map(|number| folder.path().join(number.to_string())).collect();
        let twice = paths.iter().chain(&paths).cloned();
        assert_eq!(distinct(twice.clone(), |_| true), paths[..MAX_FOUND]);
        assert_eq!(distinct(twice, |path| path.ends_with("7")), paths[7..8]);
    }
}
