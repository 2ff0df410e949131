//! Names of openings for books that have comments: those that tabiya knows, or lines with names, read from `.eco` files as
//! Scid has them, or from PGN files.
//!
//! An `.eco` file has entries of a code, a name in quotation marks, and moves up to an asterisk: `A00b "Barnes Opening"
//! 1.f3 *`. In a PGN file the tags `ECO`, `Opening` and `Variation` name the position after the last move.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use shakmaty::Move;

use tabiya_base::error::{Error, Result};
use tabiya_chess::Position;
use tabiya_chess::openings::Opening;
use tabiya_chess::openings::is_eco;
use tabiya_games::pgn::Pgn;
use tabiya_games::{GameEnd, GameError, GameHeader, Visitor, decode_text};

/// The longest file that is read, in bytes: files are kept in memory, and real ones have less than one megabyte.
const MAX_LEN: u64 = 1 << 28;

/// The names of positions as Kvetka's books write them: `E98|King's Indian|Classical`. By default they are those that tabiya
/// knows ([`Opening`]); names from files take the place of all of these.
#[derive(Clone, Debug, Default)]
pub struct Names(Option<HashMap<u64, String>>);

impl Names {
    /// Reads files of named lines; without any, the names are those that tabiya knows. If two lines lead to one position, the
    /// first names it.
    ///
    /// # Errors
    /// When a file cannot be read, or names no opening.
    pub fn read(files: &[impl AsRef<Path>]) -> Result<Self> {
        let mut names = HashMap::new();
        for path in files {
            let path = path.as_ref();
            let cannot = |error| Error::file(path, "cannot read the file of openings", error);
            if fs::metadata(path).map_err(cannot)?.len() > MAX_LEN {
                return Err(Error::format(path, "this is too long for a file of openings")
                    .at_offset(MAX_LEN)
                    .advice("name an .eco file, or a PGN file of named lines"));
            }
            let before = names.len();
            add(&fs::read(path).map_err(cannot)?, &mut names);
            if names.len() == before {
                return Err(Error::format(path, "the file has no openings")
                    .advice("name an .eco file, or a PGN file whose games have the tags ECO and Opening"));
            }
        }
        Ok(Self((!files.is_empty()).then_some(names)))
    }

    /// Whether they were read from files.
    pub(crate) fn are_given(&self) -> bool {
        self.0.is_some()
    }

    /// The name of the position with a key.
    pub fn get(&self, key: u64) -> Option<String> {
        match &self.0 {
            Some(names) => names.get(&key).cloned(),
            None => Opening::with_key(key)
                .map(|known| format!("{}|{}", known.eco(), known.name().replacen(": ", "|", 1))),
        }
    }
}

/// Takes in the lines of a file.
fn add(text: &[u8], names: &mut HashMap<u64, String>) {
    let is_tag = |line: &[u8]| line.trim_ascii_start().starts_with(b"[");
    let is_pgn = text.split(|byte| *byte == b'\n').any(is_tag);
    let text = if is_pgn { text.into() } else { Cow::from(eco_to_pgn(&decode_text(text)).into_bytes()) };
    let tags = ["ECO", "Opening", "Variation"].map(str::to_owned);
    let mut lines = NamedLines { tags, names, line: None };
    let mut pgn = Pgn::new(Arc::from(Path::new("")), &*text);
    while let Some(batch) = pgn.next_batch() {
        batch.play(&mut lines);
    }
}

/// The entries of an `.eco` file as PGN.
fn eco_to_pgn(text: &str) -> String {
    let mut pgn = String::with_capacity(2 * text.len());
    let lines = text.lines().map(|line| if line.trim_start().starts_with('#') { "" } else { line });
    for entry in lines.collect::<Vec<_>>().join("\n").split_inclusive('*') {
        let Some((code, rest)) = entry.trim_start().split_once(char::is_whitespace) else { continue };
        // Scid adds letters to the three characters of the code.
        let Some(code) = code.get(..3) else { continue };
        let Some(rest) = rest.trim_start().strip_prefix('"') else { continue };
        let Some((name, moves)) = rest.split_once('"') else { continue };
        let (name, variation) = name.split_once(':').unwrap_or((name, ""));
        for (tag, value) in [("ECO", code), ("Opening", name), ("Variation", variation)] {
            if !value.trim().is_empty() {
                pgn += &format!("[{tag} \"{}\"]\n", value.trim().replace('\\', ""));
            }
        }
        pgn += &format!("\n{moves}\n\n");
    }
    pgn
}

/// Takes in named lines; what cannot be read has no name.
struct NamedLines<'a> {
    tags: [String; 3],
    names: &'a mut HashMap<u64, String>,
    /// The name of the present line, and the position before its next move.
    line: Option<(String, Position)>,
}

impl Visitor for NamedLines<'_> {
    fn wanted_tags(&self) -> &[String] {
        &self.tags
    }

    fn begin(&mut self, game: &GameHeader) -> bool {
        // The bar separates the parts of a name.
        let [code, name, variation] =
            self.tags.each_ref().map(|tag| game.tag(tag).unwrap_or_default().replace('|', "/"));
        let code: String = code.chars().take(3).collect();
        // A line from another position is no opening.
        let is_named = is_eco(&code) && !name.is_empty() && game.start.is_none();
        // Without a variation nothing follows the second bar.
        let text = format!("{code}|{name}|{variation}").trim_end_matches('|').to_owned();
        self.line = is_named.then(|| (text, Position::start()));
        is_named
    }

    fn ply(&mut self, _: &Position, mv: Move) -> ControlFlow<()> {
        if let Some((_, at)) = &mut self.line {
            at.play(mv);
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self, end: GameEnd) {
        if let Some((name, at)) = self.line.take().filter(|_| end.error.is_none()) {
            self.names.entry(at.key()).or_insert(name);
        }
    }

    fn unreadable(&mut self, _: GameError) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> HashMap<u64, String> {
        let mut names = HashMap::new();
        add(text.as_bytes(), &mut names);
        names
    }

    fn key(moves: &str) -> u64 {
        let mut game = tabiya_chess::Game::start();
        moves.split_whitespace().for_each(|mv| assert!(game.push_uci(mv.as_bytes())));
        game.position().key()
    }

    #[test]
    fn scids_files_are_read() {
        let text = "# Names\nA00a \"Start position\" *\nA00b \"Barnes Opening\"  1.f3 *\n\
                    A00b \"Barnes: Fool's Mate\"  1.f3 e5 2.g4\n  Qh4# *\nB90k3 \"Sicilian: Najdorf\" 1.e4 c5 2.Nf3 d6 \
                    3.d4 cxd4 4.Nxd4 Nf6 5.Nc3 a6 *\nX99 \"None\" 1.a3 *\nA01 \"Broken\" 1.Qh9 *\n";
        let names = Names(Some(names(text)));
        assert_eq!(names.0.as_ref().unwrap().len(), 4, "{names:?}");
        assert_eq!(names.get(key("")).as_deref(), Some("A00|Start position"));
        assert_eq!(names.get(key("f2f3")).as_deref(), Some("A00|Barnes Opening"));
        assert_eq!(names.get(key("f2f3 e7e5 g2g4 d8h4")).as_deref(), Some("A00|Barnes|Fool's Mate"));
        let najdorf = key("e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6");
        assert_eq!(names.get(najdorf).as_deref(), Some("B90|Sicilian|Najdorf"));
        assert_eq!(names.get(key("a2a3")), None);
    }

    #[test]
    fn pgn_files_are_read_and_the_first_name_stays() {
        let text = "[ECO \"B20\"]\n[Opening \"Sicilian\"]\n[Variation \"a|b\"]\n\n1. e4 (1. d4 d5) 1... c5 *\n\n\
                    [ECO \"C20\"]\n[Opening \"Other\"]\n\n1. e4 c5 *\n\n[Event \"x\"]\n\n1. d4 *\n";
        let names = Names(Some(names(text)));
        assert_eq!(names.0.as_ref().unwrap().len(), 1, "{names:?}");
        assert_eq!(names.get(key("e2e4 c7c5")).as_deref(), Some("B20|Sicilian|a/b"));
    }

    #[test]
    fn a_file_without_names_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.eco");
        fs::write(&path, "nothing here").unwrap();
        let error = Names::read(&[&path]).unwrap_err().to_string();
        assert!(error.contains("the file has no openings: name an .eco file"), "{error}");
        assert!(Names::read(&[folder.path().join("none.eco")]).is_err());
    }

    #[test]
    fn without_files_the_names_are_those_that_tabiya_knows() {
        let names = Names::read(&[] as &[&Path]).unwrap();
        assert!(!names.are_given());
        assert_eq!(names.get(key("")), None);
        assert_eq!(names.get(key("e2e4")).unwrap(), "B00|King's Pawn Game");
        let najdorf = key("e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6");
        assert_eq!(names.get(najdorf).unwrap(), "B90|Sicilian Defense|Najdorf Variation");
        assert_eq!(
            tabiya_book::kvetka::opening_name(&names.get(najdorf).unwrap()),
            "B90 Sicilian Defense: Najdorf Variation"
        );
    }
}
