//! Variants of chess: their own books answer there, and no others.

use std::path::PathBuf;
use std::sync::Arc;

use tabiya_adapter::session::{BookProblem, Output, Session};
use tabiya_adapter::settings::books::{BookFiles, BookList};
use tabiya_adapter::settings::options::Options;
use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_book::traits::Book;
use tabiya_book::{BookSet, Variant, open_as};
use tabiya_chess::{Game, MoveCode};
use tempfile::TempDir;

use super::dialogues::{play, session};
use super::library::{BookLoader, polyglot, serve};

const BOOK: [&str; 3] = ["e2e4 = 1", "e2e4 e7e5 = 1", "e2e4 e7e5 g1f3 = 1"];

fn dialogue(settings: &[(&str, &str)], script: &str) {
    play(session(polyglot(&BOOK), settings), script);
}

/// The message about another kind of chess.
fn told(variant: &str) -> String {
    let name = variant.to_lowercase();
    format!(
        "G info string tabiya: UCI_Variant is {variant}: no book is named for it: name one in tabiya.toml below a line [variant.{name}]"
    )
}

/// The engine answers this question.
const ENGINE: &str = "E go
                      < bestmove a2a3
                      G bestmove a2a3";

#[test]
fn the_book_is_silent_in_another_variant_and_says_so_once() {
    let script = format!(
        "> setoption name UCI_Variant value Horde
         E setoption name UCI_Variant value Horde
         {}
         > position startpos
         > go
         E position startpos
         {ENGINE}
         > setoption name uci_variant value atomic
         E setoption name uci_variant value atomic
         > position startpos
         > go
         E position startpos
         {ENGINE}
         > setoption name UCI_Variant value chess
         E setoption name UCI_Variant value chess
         > go
         G bestmove e2e4 ponder e7e5",
        told("Horde")
    );
    dialogue(&[], &script);
    // A guard would ask the engine twice.
    dialogue(&[("Book Max Loss", "50"), ("Book Guard", "400")], &script);
}

#[test]
fn a_session_without_books_does_not_mention_variants() {
    dialogue(
        &[("OwnBook", "false")],
        "> setoption name UCI_Variant value horde
         E setoption name UCI_Variant value horde",
    );
}

#[test]
fn these_are_names_of_the_chess_of_the_books() {
    for name in ["chess", "Chess", "normal", "STANDARD", "chess960", "FischeRandom", "<empty>"] {
        let script = format!(
            "> setoption name UCI_Variant value {name}
             E setoption name UCI_Variant value {name}
             > go
             G bestmove e2e4 ponder e7e5"
        );
        dialogue(&[], &script);
    }
}

#[test]
fn a_variant_that_is_configured_or_is_the_engines_own_counts_too() {
    let greeting = |default: &str, shown: &str, rest: &str| {
        format!(
            "> uci
             E uci
             < option name UCI_Variant type combo default {default} var chess var horde
             G option name UCI_Variant type combo default {shown} var chess var horde
             < uciok
             {rest}"
        )
    };
    let silent = format!("G uciok\n{}\n> go\n{ENGINE}", told("horde"));
    let set = |name: &str| format!("E setoption name UCI_Variant value {name}\n");
    dialogue(&[("UCI_Variant", "horde")], &greeting("chess", "horde", &format!("{}{silent}", set("horde"))));
    dialogue(&[], &greeting("horde", "horde", &silent));
    let answers = "G uciok\n> go\nG bestmove e2e4 ponder e7e5";
    dialogue(&[("UCI_Variant", "chess")], &greeting("horde", "chess", &format!("{}{answers}", set("chess"))));
    dialogue(&[], &greeting("chess", "chess", answers));
}

#[test]
fn a_variant_that_is_set_while_the_book_ponders_silences_it() {
    let script = format!(
        "> position startpos moves e2e4 e7e5
         > go ponder
         E position startpos moves e2e4 e7e5
         E go ponder
         > setoption name UCI_Variant value horde
         E setoption name UCI_Variant value horde
         {}
         > ponderhit
         E ponderhit
         < bestmove a2a3
         G bestmove a2a3",
        told("horde")
    );
    dialogue(&[], &script);
}

#[test]
fn pieces_in_hand_and_counted_checks_are_no_standard_chess() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
    for fen in [
        format!("{start}[Qp] w KQkq - 0 1"),
        format!("{start}/n w KQkq - 0 1"),
        format!("{start} w KQkq - 3+3 0 1"),
        format!("{start} w KQkq - 0 1 +0+2"),
    ] {
        dialogue(&[], &format!("> position fen {fen}\n> go\nE position fen {fen}\n{ENGINE}"));
    }
    dialogue(&[], &format!("> position fen {start}[] w KQkq - 0 1\n> go\nG bestmove e2e4 ponder e7e5"));
}

/// Books of one line each, by variant.
struct Shelf {
    folder: TempDir,
}

impl Shelf {
    fn new(lines: &[(Variant, &str)]) -> Self {
        let shelf = Self { folder: tempfile::tempdir().unwrap() };
        for (variant, line) in lines {
            let mut game = Game::start_of(*variant);
            let mut entries = Vec::new();
            for uci in line.split_whitespace() {
                let key = game.position().key();
                assert!(game.push_uci(uci.as_bytes()), "{uci}");
                let mv = MoveCode::from_move(*game.moves().last().unwrap());
                let entry = PolyglotEntry { key, mv, weight: 1, games: 0, halfpoints: 0 };
                entries.push((key, entry.to_bytes()));
            }
            entries.sort_unstable();
            let bytes = entries.into_iter().flat_map(|(_, bytes)| bytes).collect::<Vec<u8>>();
            std::fs::write(shelf.path(*variant), bytes).unwrap();
        }
        shelf
    }

    fn path(&self, variant: Variant) -> PathBuf {
        self.folder.path().join(name_of(variant))
    }

    /// A session that has a book of each of these variants and of standard chess.
    fn session(&self, variants: &[Variant], change: impl FnOnce(&mut Options)) -> (Session, Output) {
        let files =
            |variant| BookFiles { variant, both: BookList::parse(&name_of(variant)), ..BookFiles::default() };
        let mut options = Options { seed: 1, books: files(Variant::Chess), ..Options::default() };
        options.variants = variants.iter().copied().map(files).collect();
        change(&mut options);
        let mut out = Output::default();
        let mut session = Session::new(options, Vec::new(), &mut out);
        serve(self, &mut session, &mut out);
        (session, out)
    }

    /// What the GUI gets after a line, the book's talk left out.
    fn say(&self, session: &mut Session, out: &mut Output, line: &str) -> Vec<String> {
        session.gui_line(format!("{line}\n").as_bytes(), out);
        serve(self, session, out);
        out.engine.clear();
        let said = String::from_utf8(std::mem::take(&mut out.gui)).unwrap();
        let is_told = |line: &&str| line.starts_with("bestmove") || line.starts_with("info string tabiya");
        said.lines().filter(is_told).map(str::to_owned).collect()
    }

    /// What is answered after these moves from the start.
    fn answer(&self, session: &mut Session, out: &mut Output, moves: &[&str]) -> String {
        let moves = if moves.is_empty() { String::new() } else { format!(" moves {}", moves.join(" ")) };
        self.say(session, out, &format!("position startpos{moves}"));
        self.say(session, out, "go").join("\n")
    }
}

impl BookLoader for Shelf {
    fn open(&self, files: &BookFiles) -> (BookSet, Vec<BookProblem>) {
        let open = |name: &String| open_as(self.folder.path().join(name), files.variant).unwrap();
        let books: Vec<Arc<dyn Book>> = files.both.files().iter().map(open).collect();
        (BookSet::new(&[], &[], &books), Vec::new())
    }
}

fn name_of(variant: Variant) -> String {
    format!("{variant}.bin")
}

#[test]
fn each_game_is_played_from_the_books_of_its_variant() {
    let shelf = Shelf::new(&[
        (Variant::Chess, "e2e4 e7e5"),
        (Variant::Atomic, "g1f3 f7f6"),
        (Variant::Crazyhouse, "d2d4 e7e5 d4e5 a7a6 P@e6 f7e6"),
        (Variant::Antichess, "e2e3 b7b5"),
    ]);
    let own = [Variant::Atomic, Variant::Crazyhouse, Variant::Antichess];
    let (mut session, mut out) = shelf.session(&own, |_| {});
    for (name, moves, best) in [
        ("chess", "", "bestmove e2e4 ponder e7e5"),
        ("atomic", "", "bestmove g1f3 ponder f7f6"),
        ("Crazyhouse", "", "bestmove d2d4 ponder e7e5"),
        ("giveaway", "", "bestmove e2e3 ponder b7b5"),
        ("suicide", "e2e3", "bestmove b7b5"),
        ("chess", "e2e4", "bestmove e7e5"),
        ("atomic", "g1f3", "bestmove f7f6"),
    ] {
        assert_eq!(
            shelf.say(&mut session, &mut out, &format!("setoption name UCI_Variant value {name}")),
            [""; 0]
        );
        shelf.say(&mut session, &mut out, "ucinewgame");
        let moves: Vec<&str> = moves.split_whitespace().collect();
        assert_eq!(shelf.answer(&mut session, &mut out, &moves), best, "{name}");
    }
    // The same line goes on under other rules, though the key is that of the other book.
    shelf.say(&mut session, &mut out, "position startpos");
    shelf.say(&mut session, &mut out, "setoption name UCI_Variant value chess");
    assert_eq!(shelf.say(&mut session, &mut out, "go"), ["bestmove e2e4 ponder e7e5"]);
}

/// What the engine gets when it answers `uci` with these variants.
fn greeted(shelf: &Shelf, session: &mut Session, out: &mut Output, offered: &[&str]) -> String {
    let vars = offered.iter().map(|name| format!(" var {name}")).collect::<String>();
    session.engine_line(format!("option name UCI_Variant type combo default chess{vars}\n").as_bytes(), out);
    out.engine.clear();
    session.engine_line(b"uciok\n", out);
    serve(shelf, session, out);
    String::from_utf8(std::mem::take(&mut out.engine)).unwrap()
}

/// A shelf whose books begin with different moves from the same position.
fn first_moves() -> Shelf {
    Shelf::new(&[
        (Variant::Chess, "e2e4"),
        (Variant::Atomic, "g1f3"),
        (Variant::ThreeCheck, "d2d4"),
        (Variant::KingOfTheHill, "c2c4"),
    ])
}

const THREE: [Variant; 3] = [Variant::Atomic, Variant::ThreeCheck, Variant::KingOfTheHill];

#[test]
fn a_variant_is_played_from_its_books_however_the_engine_names_it_or_not() {
    let shelf = first_moves();
    let (mut session, mut out) = shelf.session(&THREE, |_| {});
    session.gui_line(b"uci\n", &mut out);
    greeted(&shelf, &mut session, &mut out, &["chess", "3check", "kingofthehill"]);
    out.gui.clear();
    for (name, spelled, told, best) in [
        ("threeCheck", "3check", "", "d2d4"),
        ("koth", "kingofthehill", "", "c2c4"),
        ("KingOfTheHill", "kingofthehill", "", "c2c4"),
        (
            "atomic",
            "atomic",
            "UCI_Variant is atomic: the engine does not offer it; the books of atomic answer",
            "g1f3",
        ),
        ("3check", "3check", "", "d2d4"),
        ("duck", "duck", "UCI_Variant is duck: books do not know its rules, and are silent", ""),
        ("normal", "chess", "", "e2e4"),
    ] {
        session.gui_line(format!("setoption name UCI_Variant value {name}\n").as_bytes(), &mut out);
        serve(&shelf, &mut session, &mut out);
        let said = String::from_utf8(std::mem::take(&mut out.gui)).unwrap();
        let heard = String::from_utf8(std::mem::take(&mut out.engine)).unwrap();
        assert!(heard.ends_with(&format!("setoption name UCI_Variant value {spelled}\n")), "{heard}");
        assert_eq!(said.trim_end().trim_start_matches("info string tabiya: "), told, "{name}");
        let answer = shelf.answer(&mut session, &mut out, &[]);
        let expected = if best.is_empty() { String::new() } else { format!("bestmove {best}") };
        assert_eq!(answer, expected, "{name}");
        if best.is_empty() {
            session.engine_line(b"bestmove a2a3\n", &mut out);
            out.gui.clear();
        }
    }
}

#[test]
fn a_variant_that_is_set_in_advance_is_spelled_as_the_engine_does() {
    let shelf = first_moves();
    let (_, mut out) = shelf.session(&THREE, |_| {});
    let files =
        |variant| BookFiles { variant, both: BookList::parse(&name_of(variant)), ..BookFiles::default() };
    let mut options = Options { books: files(Variant::Chess), ..Options::default() };
    options.variants = vec![files(Variant::ThreeCheck)];
    let set = vec![("UCI_Variant".to_owned(), "threecheck".to_owned())];
    let mut session = Session::new(options, set, &mut out);
    serve(&shelf, &mut session, &mut out);
    session.gui_line(b"uci\n", &mut out);
    let heard = greeted(&shelf, &mut session, &mut out, &["chess", "3check"]);
    assert_eq!(heard, "setoption name UCI_Variant value 3check\n");
    assert!(!String::from_utf8_lossy(&out.gui).contains("does not"), "{}", String::from_utf8_lossy(&out.gui));
    out.gui.clear();
    assert_eq!(shelf.answer(&mut session, &mut out, &[]), "bestmove d2d4");
}

#[test]
fn what_is_asked_before_the_engine_has_listed_its_options_is_answered_by_the_right_book() {
    let shelf = first_moves();
    for (named, spelled, best) in
        [("threecheck", "3check", "d2d4"), ("atomic", "", "g1f3"), ("chess", "", "e2e4"), ("", "", "c2c4")]
    {
        for quits in [false, true] {
            let (mut session, mut out) = shelf.session(&THREE, |_| {});
            let set = format!("setoption name UCI_Variant value {named}");
            let lines = ["uci", &set, "position startpos", "go movetime 50", "position startpos moves a2a3"];
            for line in lines.into_iter().filter(|line| !line.ends_with("value ")) {
                assert_eq!(shelf.say(&mut session, &mut out, line), [""; 0], "{line}");
            }
            if quits {
                shelf.say(&mut session, &mut out, "quit");
                assert!(!out.quit && session.is_leaving(&out));
            }
            let mut offered = vec!["chess", "3check"];
            if named.is_empty() {
                // The engine plays what nobody has named.
                session.engine_line(
                    b"option name UCI_Variant type combo default koth var koth var chess\n",
                    &mut out,
                );
                offered.clear();
            }
            let heard = if named.is_empty() {
                session.engine_line(b"uciok\n", &mut out);
                serve(&shelf, &mut session, &mut out);
                String::new()
            } else {
                greeted(&shelf, &mut session, &mut out, &offered)
            };
            let expected = if spelled.is_empty() {
                String::new()
            } else {
                format!("setoption name UCI_Variant value {spelled}\n")
            };
            assert_eq!(heard, expected, "{named}");
            let said = String::from_utf8(std::mem::take(&mut out.gui)).unwrap();
            assert!(
                said.contains("uciok") && said.contains(&format!("bestmove {best}\n")),
                "{named}: {said}"
            );
            assert_eq!(out.quit, quits);
        }
    }
}

#[test]
fn pieces_are_dropped_as_engines_write_it() {
    let line = "e2e4 d7d5 e4d5 d8d5 b1c3 P@d4 c3d5 a7a6 Q@e4";
    let shelf = Shelf::new(&[(Variant::Chess, "e2e4"), (Variant::Crazyhouse, line)]);
    let (mut session, mut out) = shelf.session(&[Variant::Crazyhouse], |_| {});
    shelf.say(&mut session, &mut out, "setoption name UCI_Variant value crazyhouse");
    let moves: Vec<&str> = line.split(' ').collect();
    for ply in [5, 8] {
        let said = shelf.answer(&mut session, &mut out, &moves[..ply]);
        assert_eq!(said.split(' ').nth(1), Some(moves[ply]), "{said}");
    }
}

#[test]
fn a_file_that_the_gui_names_is_of_the_variant_that_is_set() {
    let shelf = Shelf::new(&[(Variant::Chess, "e2e4"), (Variant::Horde, "e4e5 d7d6")]);
    let (mut session, mut out) = shelf.session(&[], |_| {});
    let told = shelf.say(&mut session, &mut out, "setoption name UCI_Variant value horde");
    assert!(told[0].ends_with("below a line [variant.horde]"), "{told:?}");
    shelf.say(&mut session, &mut out, "setoption name Book File value horde.bin");
    assert_eq!(shelf.say(&mut session, &mut out, "go"), ["bestmove e4e5 ponder d7d6"]);
    shelf.say(&mut session, &mut out, "setoption name UCI_Variant value chess");
    assert_eq!(shelf.say(&mut session, &mut out, "go"), ["bestmove e2e4"]);
    shelf.say(&mut session, &mut out, "setoption name UCI_Variant value horde");
    assert_eq!(shelf.say(&mut session, &mut out, "go"), ["bestmove e4e5 ponder d7d6"]);
}

#[test]
fn a_result_is_for_the_book_of_its_variant() {
    let line = "e2e4 e7e5 e1e2 e8e7 e2d3 e7e8 d3c4 e8e7 c4d5";
    let shelf = Shelf::new(&[(Variant::Chess, "e2e4 e7e5"), (Variant::KingOfTheHill, line)]);
    let (mut session, mut out) =
        shelf.session(&[Variant::KingOfTheHill], |options| options.policy.learn = true);
    shelf.say(&mut session, &mut out, "setoption name UCI_Variant value kingofthehill");
    let moves: Vec<&str> = line.split(' ').collect();
    for ply in (0..moves.len()).step_by(2) {
        assert!(shelf.answer(&mut session, &mut out, &moves[..ply]).contains(moves[ply]), "{ply}");
    }
    shelf.say(&mut session, &mut out, "setoption name UCI_Variant value chess");
    let [ended] = <[_; 1]>::try_from(std::mem::take(&mut out.finished)).map_err(|_| ()).unwrap();
    assert_eq!(ended.game.start.variant(), Variant::KingOfTheHill);
    assert_eq!(ended.game.result.winner(), Some(shakmaty::Color::White));
    let files: Vec<_> = ended.sources.iter().map(|source| source.file().to_owned()).collect();
    assert_eq!(files, [shelf.path(Variant::KingOfTheHill)]);
}
