//! What the compiler does not hold between the crates, and between the modules of one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// All source files below a folder, without those that only tests compile.
fn sources(folder: &Path, out: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") {
            sources(&path, out);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            out.push(path);
        }
    }
}

/// The folders of sources, by the names of the crates; the executable's is `tabiya`.
fn crates() -> Vec<(String, std::path::PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap());
    let crates = folders.map(|entry| (entry.file_name().into_string().unwrap(), entry.path().join("src")));
    let crates: Vec<_> = crates.chain([("tabiya".to_owned(), root.join("src"))]).collect();
    assert!(crates.len() > 10, "{crates:?}");
    crates
}

/// The source files of the crates below the executable, as `base/file.rs`, with their texts.
fn lower() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (name, folder) in crates().into_iter().filter(|(name, _)| !PROGRAM.contains(&&**name)) {
        let mut files = Vec::new();
        sources(&folder, &mut files);
        all.extend(files.into_iter().map(|file| {
            let rest = file.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
            (format!("{name}/{rest}"), fs::read_to_string(&file).unwrap())
        }));
    }
    assert!(all.len() > 100);
    all
}

/// The executable, and what only tests use.
const PROGRAM: [&str; 2] = ["tabiya", "testing"];

/// Where the adapter says what to do to a GUI, and the explorer to its page: they are parts of the program. Elsewhere they name no
/// command and no option, nor do the libraries, which other programs use.
const WORDS: [&str; 2] = ["adapter/settings/advice.rs", "explore/words.rs"];

/// The names of the commands: each is a file or a folder.
fn commands() -> Vec<String> {
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/commands")).unwrap();
    let names = files.map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned());
    let names: Vec<_> =
        names.filter(|name| name != "mod").chain(["merge", "trim"].map(str::to_owned)).collect();
    assert!(names.len() > 20, "{names:?}");
    names
}

/// The lines of the production code of a file whose texts name a command or an option: `--force`, `tabiya show`, or a command alone
/// in marks of code.
fn usage(source: &str, commands: &[String]) -> Vec<String> {
    let names = |line: &str| {
        let is_option = |(at, _)| line[at + 2..].starts_with(|letter: char| letter.is_ascii_lowercase());
        let is_command = |command: &String| {
            let alone =
                [format!("`{command} "), format!("`{command}`")].iter().any(|text| line.contains(text));
            alone
                || line.match_indices(&format!("tabiya {command}")).any(|(at, found)| {
                    !line[at + found.len()..].starts_with(|letter: char| letter.is_alphanumeric())
                })
        };
        line.match_indices("--").any(is_option) || commands.iter().any(is_command)
    };
    // The rest of a line that begins within a text has no quotation mark before its end.
    let code = production(source);
    code.lines()
        .map(str::trim)
        .filter(|line| line.contains('"') || line.ends_with('\\'))
        .filter(|line| names(line))
        .map(str::to_owned)
        .collect()
}

#[test]
fn one_file_of_the_program_words_what_a_library_says() {
    let commands = commands();
    let lower = lower();
    let words =
        |file: &&str| lower.iter().any(|(name, source)| name == file && !usage(source, &commands).is_empty());
    assert!(WORDS.iter().all(words), "{WORDS:?}");
    let found: Vec<_> = lower
        .iter()
        .filter(|(name, _)| !WORDS.contains(&&**name))
        .flat_map(|(name, source)| {
            usage(source, &commands).into_iter().map(move |line| format!("{name}: {line}"))
        })
        .collect();
    assert!(found.is_empty(), "give the error a `Remedy`, which the program words: {found:#?}");
}

#[test]
fn a_planted_command_or_option_is_found() {
    let commands = commands();
    let found = |source: &str| usage(source, &commands).len();
    for planted in [
        "write `tabiya show`",
        "with tabiya build",
        "pass --force",
        "`learn games` does",
        "(see `check`)",
        "--a {x} \\",
    ] {
        // Also after tests, where a file has more code.
        for before in ["", "#[cfg(test)]\nuse x;\n", "#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n"] {
            assert_eq!(
                found(&format!("{before}fn f() {{\n    error(\"{planted}\");\n}}\n")),
                1,
                "{before}{planted}"
            );
        }
        let test = format!("#[cfg(test)]\nmod tests {{\n    fn t() {{ error(\"{planted}\") }}\n}}\n");
        assert_eq!(found(&test) + found(&format!("// \"{planted}\"\n")), 0, "{planted}");
    }
    for plain in ["another tabiya works", "tabiya checks it", "a - -1", "---", "a -- b", "the book's `moves`"]
    {
        assert_eq!(found(&format!("error(\"{plain}\");\n")), 0, "{plain}");
    }
}

/// The names in a path, as `crate`, `chess`, `Game`.
type Names = Vec<String>;

/// A file of the production code: where it is in the tree of modules, and its code.
struct Module {
    path: Vec<String>,
    code: String,
}

/// The code of a file without comments and without what only tests compile.
fn production(source: &str) -> String {
    let mut lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut code = String::new();
    while let Some(line) = lines.next() {
        if !["#[cfg(test)]", "#[cfg(all(test,"].iter().any(|start| line.trim_start().starts_with(start)) {
            code.push_str(line);
            code.push('\n');
            continue;
        }
        // The item after it: up to its closing brace, or one line.
        let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
        let item = lines.by_ref().find(|line| !line.trim_start().starts_with("#["));
        if item.is_some_and(|item| item.ends_with('{')) {
            lines.by_ref().find(|line| *line == end);
        }
    }
    code
}

/// The paths that a `use` statement names, each with the name that it gets.
fn expand(tree: &str, before: &[&str], out: &mut Vec<(String, Vec<String>)>) {
    let (tree, name) =
        tree.trim().split_once(" as ").filter(|(path, _)| !path.contains('{')).unwrap_or((tree.trim(), ""));
    let (path, group) =
        tree.split_once('{').map_or((tree, None), |(path, group)| (path, group.strip_suffix('}')));
    let segments = path.split("::").map(str::trim).filter(|segment| !segment.is_empty());
    let mut path: Vec<&str> = before.iter().copied().chain(segments).collect();
    let Some(group) = group else {
        // `{self}` names the module before it.
        if path.len() > 1 {
            path.pop_if(|last| *last == "self");
        }
        let last = path.last().map_or(name, |last| if name.is_empty() { last } else { name }).to_owned();
        return out.push((last, path.into_iter().map(str::to_owned).collect()));
    };
    let (mut depth, mut start) = (0, 0);
    for (at, letter) in group.char_indices().chain([(group.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !group[start..at].trim().is_empty() {
                    expand(&group[start..at], &path, out);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// What a file names: the `use` statements, and the other paths that begin with `crate`, `self` or `super`.
fn named(code: &str) -> (Vec<(String, Names)>, Vec<Names>) {
    let (mut uses, mut rest) = (Vec::new(), String::new());
    let mut left = code;
    while let Some(at) =
        left.match_indices("use ").map(|(at, _)| at).find(|at| starts_statement(&left[..*at]))
    {
        let (statement, after) = left[at + 4..].split_once(';').unwrap();
        expand(&statement.replace('\n', " "), &[], &mut uses);
        rest.push_str(&left[..at]);
        left = after;
    }
    rest.push_str(left);
    let starts = ["crate::", "self::", "super::"].into_iter().flat_map(|start| {
        rest.match_indices(start).map(|(at, _)| at).filter(|at| {
            let before = rest[..*at].chars().next_back().unwrap_or(' ');
            !before.is_alphanumeric() && before != '_' && before != ':' && !rest[..*at].ends_with("pub(in ")
        })
    });
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let path = |at: usize| {
        let path = rest[at..].split(|letter| !is_part(letter)).next().unwrap_or_default();
        path.split("::").filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
    };
    let paths = starts.map(path).collect();
    (uses, paths)
}

/// Whether a text ends where a statement begins, perhaps with its visibility.
fn starts_statement(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default().trim();
    line.is_empty() || line == "pub" || line.starts_with("pub(") && line.ends_with(')')
}

/// The modules of a crate: what each names, and by which names its `use` statements bind what others define.
struct Modules {
    named: Vec<(Vec<String>, Vec<Vec<String>>)>,
    bound: BTreeMap<Vec<String>, BTreeMap<String, Vec<String>>>,
}

impl Modules {
    fn new(modules: &[Module]) -> Self {
        let mut bound: BTreeMap<_, BTreeMap<_, _>> =
            modules.iter().map(|module| (module.path.clone(), BTreeMap::new())).collect();
        let known: Vec<_> = bound.keys().cloned().collect();
        let mut all = Vec::new();
        for Module { path, code } in modules {
            let (uses, mut paths) = named(code);
            for (name, used) in uses {
                let child = [&path[..], &used[..1]].concat();
                let used =
                    if known.contains(&child) { [vec!["self".to_owned()], used].concat() } else { used };
                if let Some(at) = absolute(path, &used) {
                    bound.get_mut(path).unwrap().insert(name, at);
                    paths.push(used);
                }
            }
            let paths = paths.iter().filter_map(|used| absolute(path, used)).collect();
            all.push((path.clone(), paths));
        }
        Self { named: all, bound }
    }

    /// The module that defines what a path names.
    fn home(&self, path: &[String], depth: usize) -> Vec<String> {
        let mut at = Vec::new();
        for (index, segment) in path.iter().enumerate() {
            let inner = [&at[..], std::slice::from_ref(segment)].concat();
            if self.bound.contains_key(&inner) {
                at = inner;
            } else if let Some(other) =
                self.bound.get(&at).and_then(|names| names.get(segment)).filter(|_| depth < 9)
            {
                return self.home(&[other, &path[index + 1..]].concat(), depth + 1);
            } else {
                break;
            }
        }
        at
    }

    /// For each folder, which of its modules use which of their siblings.
    fn edges(&self) -> BTreeMap<String, BTreeMap<&str, BTreeSet<String>>> {
        let mut edges: BTreeMap<String, BTreeMap<&str, BTreeSet<String>>> = BTreeMap::new();
        for (user, paths) in &self.named {
            for used in paths.iter().map(|path| self.home(path, 0)) {
                let shared = user.iter().zip(&used).take_while(|(a, b)| a == b).count();
                if let (Some(from), Some(to)) = (user.get(shared), used.get(shared)) {
                    let folder = edges.entry(user[..shared].join("/")).or_default();
                    folder.entry(from).or_default().insert(to.clone());
                }
            }
        }
        edges
    }

    /// The cycles: for each, the folder with its modules that use each other, and which uses which.
    fn cycles(&self) -> BTreeMap<String, Vec<String>> {
        let mut cycles = BTreeMap::new();
        for (folder, uses) in self.edges() {
            let reached = |from: &str| {
                let (mut seen, mut left) = (BTreeSet::new(), vec![from.to_owned()]);
                while let Some(next) = left.pop() {
                    let used = uses.get(next.as_str()).into_iter().flatten();
                    left.extend(used.filter(|used| seen.insert((*used).clone())).cloned());
                }
                seen
            };
            let reached: BTreeMap<&str, BTreeSet<String>> =
                uses.keys().map(|from| (*from, reached(from))).collect();
            for (from, to) in reached.iter().filter(|(from, to)| to.contains(**from)) {
                let back =
                    |other: &&String| reached.get(other.as_str()).is_some_and(|used| used.contains(*from));
                let ring: Vec<&str> = to.iter().filter(back).map(String::as_str).collect();
                let used = ring.iter().flat_map(|from| uses[from].iter().map(move |to| (*from, to.as_str())));
                let used =
                    used.filter(|(_, to)| ring.contains(to)).map(|(from, to)| format!("{from} -> {to}"));
                cycles.insert(format!("{folder}: {}", ring.join(" ")), used.collect());
            }
        }
        cycles
    }
}

/// The path from the root of the crate; `None` for what another crate defines.
fn absolute(module: &[String], path: &[String]) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    let mut at = match first.as_str() {
        "crate" => Vec::new(),
        "self" => module.to_vec(),
        "super" => module.split_last()?.1.to_vec(),
        _ => return None,
    };
    let mut rest = rest.iter().peekable();
    while rest.next_if(|segment| *segment == "super").is_some() {
        at.pop();
    }
    at.extend(rest.cloned());
    Some(at)
}

/// The modules of the files below a folder.
fn modules(root: &Path) -> Vec<Module> {
    let mut files = Vec::new();
    sources(root, &mut files);
    let module = |file: &std::path::PathBuf| {
        let path = file.strip_prefix(root).unwrap().with_extension("");
        let mut path: Vec<String> = path.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        path.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
        Module { path, code: production(&fs::read_to_string(file).unwrap()) }
    };
    files.iter().map(module).collect()
}

#[test]
fn no_module_uses_a_sibling_that_uses_it() {
    let cycles = |folder: &Path| Modules::new(&modules(folder)).cycles();
    let found: BTreeMap<_, _> = crates()
        .into_iter()
        .map(|(name, folder)| (name, cycles(&folder)))
        .filter(|(_, cycles)| !cycles.is_empty())
        .collect();
    assert!(found.is_empty(), "these modules use each other: {found:#?}");
}

#[test]
fn a_planted_cycle_is_found() {
    let module = |path: &str, code: &str| Module {
        path: path.split('/').map(str::to_owned).collect(),
        code: production(code),
    };
    let cycles = |files: &[(&str, &str)]| {
        let files: Vec<_> = files.iter().map(|(path, code)| module(path, code)).collect();
        Modules::new(&files).cycles().into_keys().collect::<Vec<_>>()
    };
    let two =
        [("f", "mod a;\nmod b;\n"), ("f/a", "use super::b::It;\n"), ("f/b", "let it = crate::f::a::it();\n")];
    assert_eq!(cycles(&two), ["f: a b"]);
    // Through what the parent exports, round a longer way, and from a folder below.
    let long = [
        ("f", "mod a;\nmod b;\npub(crate) use self::{\n    a::It,\n    b::{self, Other as That},\n};\n"),
        ("f/a", "use super::{That, c::inner};\n"),
        ("f/b", "use super::c;\n"),
        ("f/c", "mod inner;\n"),
        ("f/c/inner", "use crate::f::It;\n"),
    ];
    assert_eq!(cycles(&long), ["f: a b c"]);
    // What the parent defines, tests, comments, and children that a parent uses are no cycle.
    let none = [
        ("f", "mod a;\nmod b;\nuse a::It;\npub struct Own(It);\n"),
        ("f/a", "use super::Own;\nuse super::b::{self, That};\npub(in crate::f) struct It;\n"),
        (
            "f/b",
            "// use super::a;\nuse super::Own;\n#[cfg(test)]\nuse super::a;\n#[cfg(test)]\nmod tests {\n    use super::super::a;\n}\n",
        ),
    ];
    assert_eq!(cycles(&none), [""; 0]);
}

/// Crates whose threads end with what they serve: a GUI, an engine, a page.
const SERVERS: [&str; 2] = ["adapter/", "explore/"];

#[test]
fn two_files_of_the_python_package_name_the_crates() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("python/src"), &mut files);
    files.retain(|file| production(&fs::read_to_string(file).unwrap()).contains("tabiya_"));
    let mut names: Vec<_> = files.iter().map(|file| file.file_name().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["library.rs", "stream.rs"]);
}

/// Files that start threads which do no work that somebody may stop: they read and write pipes, or make a value that is kept.
const OWN_THREADS: [&str; 2] = ["uci/engine/client.rs", "base/background.rs"];

/// The threads that a file starts without handing them the request to stop.
fn deaf_threads(source: &str) -> Vec<String> {
    let code = production(source);
    let starts = ["thread::spawn(", "scope.spawn(", ").spawn("];
    let started = starts.iter().flat_map(|start| code.match_indices(start));
    let rests = started.map(|(at, start)| &code[at + start.len()..]);
    let heads = rests.map(|rest| rest.split('\n').next().unwrap_or_default());
    // Programs are started without arguments.
    heads.filter(|head| !head.starts_with(')') && !head.contains("inherited(")).map(str::to_owned).collect()
}

#[test]
fn work_on_other_threads_hears_the_request_to_stop() {
    let mut found = Vec::new();
    for (name, source) in lower() {
        if !OWN_THREADS.contains(&&*name) && !SERVERS.iter().any(|start| name.starts_with(start)) {
            found.extend(deaf_threads(&source).iter().map(|start| format!("{name}: {start}")));
        }
    }
    assert!(found.is_empty(), "hand it over by `interrupt::inherited`: {found:#?}");
    assert_eq!(deaf_threads("thread::Builder::new().spawn(run)?;\nscope.spawn(&work);\n").len(), 2);
    assert_eq!(deaf_threads("scope.spawn(inherited(&work));\ncommand.stdin(null()).spawn()?;\n").len(), 0);
}
