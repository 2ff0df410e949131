//! `tabiya show`: the moves that each book has in a position, and how likely each is.

mod board;
mod configured;
mod games;
mod table;

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use shakmaty::CastlingMode;

use tabiya_base::error::Result;
use tabiya_book::BookSet;
use tabiya_book::traits::Book;
use tabiya_chess::{Game, Variant};
use tabiya_search::evals;
use tabiya_workshop::values::Look as Evals;
use tabiya_workshop::view::{View, json};

use crate::args::policy::PolicyArgs;
use crate::args::positions::{Positions, each_position};
use crate::args::screens::{MOVES, Screen};
use crate::args::variant::{VariantArgs, open_book};
use crate::output::exit::Exit;
use crate::output::store::backed_up;
use crate::output::{self, Look, Printed};

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "show",
    shown: &[
        ("books", ""),
        ("moves", MOVES),
        ("fen", ""),
        ("fen_file", "A file with one FEN per line"),
        ("set", "An option that decides, such as \"Book Variety=0\""),
        ("store", "Show what moves lose, by the evaluations in this store"),
        ("json", ""),
    ],
    examples: &["tabiya show book.bin --moves \"1. e4 c5\"", "tabiya show book.bin other.ctg"],
    pages: &[("look-into-a-book.md", "")],
}];

/// Show the moves that each book has in a position, and how likely each is
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The books [default: those of tabiya.toml]
    #[arg(value_name = "BOOK")]
    books: Vec<PathBuf>,
    /// Show the books of this configuration file with its options and rules, and say which book answers [default, without
    /// BOOK: the tabiya.toml that a game would use]
    #[arg(long, value_name = "FILE", conflicts_with = "books")]
    config: Option<String>,
    /// Show what rules answer against this opponent, written as for UCI_Opponent: "GM 2800 human Gary Kasparov"
    #[arg(long, value_name = "OPPONENT", conflicts_with = "books")]
    opponent: Option<String>,
    #[command(flatten)]
    positions: Positions,
    #[command(flatten)]
    variant: VariantArgs,
    /// Show what each move is worth and what it loses, by minimax over the book from the evaluations in this store
    #[arg(long, value_name = "FILE", requires = "books")]
    store: Option<PathBuf>,
    /// List the games that the books refer to
    ///
    /// For each game, the list has the players with their Elo, the result, and the file and offset where it is. Without a
    /// position, it has all games of the book. With one, it has the game that the book names for it, and those for the
    /// positions after its moves.
    #[arg(long)]
    list_games: bool,
    /// Print one line of JSON per position and book
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    policy: PolicyArgs,
}

/// Shows the positions, or lists games.
///
/// # Errors
/// When a position or a move is not valid, or the file of positions cannot be read; without books, when there is no
/// configuration or it is not valid.
pub fn run(args: &Args) -> Result<Exit> {
    if args.books.is_empty() {
        return configured::run(args);
    }
    let policy = args.policy.policy();
    let mut books = Vec::new();
    let mut exit = Exit::Done;
    for path in &args.books {
        match open_book(path, args.variant.variant()) {
            Ok(book) => {
                book.warnings().iter().for_each(|warning| output::warn(warning));
                let evals = evals_of(args, &*book)?;
                let mut set = BookSet::new(&[], &[], &[Arc::clone(&book)]);
                if policy.max_loss > 0 {
                    let (opened, failed) = evals::open_beside(&set.distinct());
                    set = set.with_evaluations(opened);
                    failed.iter().for_each(|error| output::warn(&error.with_source()));
                }
                books.push((book, set, evals));
            }
            Err(error) => {
                output::complain(&error);
                exit = Exit::File;
            }
        }
    }
    let listed: Vec<_> = books.iter().map(|(book, ..)| Arc::clone(book)).collect();
    output::print(|out| {
        let known = each(args, (&listed, args.variant.variant()), out, |game, mode, look, out| {
            let mut known = false;
            for (book, book_set, evals) in &mut books {
                let mut view = View::look_up(&**book, (book_set, 0), game, mode, &policy);
                let moves: Vec<_> = view.moves.iter().map(|(known, _)| *known).collect();
                view.worth = evals.as_ref().map(|evals| evals.worth(game.position(), &moves));
                known |= !view.moves.is_empty();
                print(&view, look, out)?;
            }
            Ok(known)
        })?;
        Ok(if known { exit } else { exit.max(Exit::Findings) })
    })
}

/// Lists the games of books, or shows the positions that the arguments name: `show` gets each, and says whether the books know
/// it. Returns whether they know everything.
fn each(
    args: &Args,
    (books, variant): (&[Arc<dyn Book>], Variant),
    out: &mut dyn Write,
    mut show: impl FnMut(&Game, CastlingMode, Option<Look>, &mut dyn Write) -> io::Result<bool>,
) -> Printed<bool> {
    let mut known = true;
    if args.list_games && !args.positions.is_given() {
        for book in books {
            known &= games::list(&**book, None, args.json, out)?;
        }
        return Ok(known);
    }
    let look = (!args.json).then(Look::of_stdout);
    each_position(&args.positions, variant, |game, mode| {
        if let Some(look) = look {
            table::place(game, look, out)?;
        }
        if args.list_games {
            let mut any = false;
            for book in books {
                any |= games::list(&**book, Some(game.position()), args.json, out)?;
            }
            known &= any;
        } else {
            known &= show(game, mode, look, out)?;
        }
        Ok(())
    })?;
    Ok(known)
}

/// Prints what a book says, as a table or (without a look) as JSON.
fn print(view: &View<'_>, look: Option<Look>, out: &mut dyn Write) -> io::Result<()> {
    match look {
        Some(look) => table::book(view, look, out),
        None => json::line(view, out),
    }
}

/// The store of evaluations, if it is of use: for programs those beside the book alone, and with `--store` the values that are
/// backed up through the book.
fn evals_of(args: &Args, book: &dyn Book) -> Result<Option<Evals>> {
    match (&args.store, args.json) {
        (Some(store), _) => backed_up(store, book).map(Some),
        // Without a request for values, the moves are shown without them.
        (None, true) => Ok(Evals::open(&evals::beside(book.path())).unwrap_or_else(|error| {
            output::warn(&error.with_source());
            None
        })),
        (None, false) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Move;
    use std::path::Path;
    use tabiya_base::findings::Findings;
    use tabiya_base::progress::Progress;
    use tabiya_book::choose::{Policy, Refused, Weights, Worth};
    use tabiya_book::{Annotation, BookSummary, Counts, Format, Learned, Ratings, ReferenceKind, Scope};
    use tabiya_book::{GameReference, MoveFacts, Moves, Recommendation, Visit};
    use tabiya_chess::Position;

    use super::*;

    /// A book that knows everything: the moves listed, in every position where they are legal.
    struct Knowing(Vec<(&'static str, MoveFacts)>);

    impl Moves for Knowing {
        fn variant(&self) -> tabiya_chess::Variant {
            tabiya_chess::Variant::Chess
        }

        fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
            for (uci, known) in &self.0 {
                if let Some(mv) = legal(at, uci) {
                    out.push(MoveFacts { mv, ..*known });
                }
            }
        }

        fn each(&self, _: Scope, _: &Progress, _: Visit<'_>) -> Result<u64> {
            Ok(0)
        }
    }

    impl Book for Knowing {
        fn path(&self) -> &Path {
            Path::new("all.book")
        }

        fn format(&self) -> Format {
            tabiya_book::polyglot::FORMAT
        }

        fn survey(&self, _: &Progress, _: &mut Findings<'_>) -> BookSummary {
            BookSummary::default()
        }
    }

    fn legal(at: &Position, uci: &str) -> Option<Move> {
        uci.parse::<shakmaty::uci::UciMove>().ok()?.to_move(at.chess()).ok()
    }

    fn known(uci: &'static str, weight: u64) -> (&'static str, MoveFacts) {
        (uci, MoveFacts::new(legal(&Position::start(), "e2e4").unwrap(), weight))
    }

    fn full() -> Knowing {
        let mut e4 = known("e2e4", 30);
        e4.1.counts = Some(Counts { games: 10, wins: 4, draws: 3, losses: 1 });
        e4.1.annotation = Some(Annotation::Good);
        e4.1.recommended = Some(Recommendation::Green);
        let mut d4 = known("d2d4", 60);
        d4.1.recommended = Some(Recommendation::Red);
        d4.1.learned = Some(Learned { games: 3, halfpoints: 5 });
        Knowing(vec![known("b1c3", 0), d4, e4])
    }

    fn shown(book: Knowing, moves: &str, policy: &Policy) -> (String, String) {
        shown_as(book, moves, policy, Look::default())
    }

    fn shown_as(book: Knowing, moves: &str, policy: &Policy, look: Look) -> (String, String) {
        let mut game = Game::start();
        moves.split_whitespace().for_each(|mv| assert!(game.push_uci(mv.as_bytes())));
        let book: Arc<dyn Book> = Arc::new(book);
        let mut book_set = BookSet::new(&[], &[], &[Arc::clone(&book)]);
        let view = View::look_up(&*book, (&mut book_set, 0), &game, CastlingMode::Standard, policy);
        let (mut text, mut line) = (Vec::new(), Vec::new());
        table::book(&view, look, &mut text).unwrap();
        json::line(&view, &mut line).unwrap();
        (String::from_utf8(text).unwrap(), String::from_utf8(line).unwrap())
    }

    #[test]
    fn all_that_a_book_knows_is_shown() {
        let (text, json) = shown(full(), "", &Policy::default());
        let expected = "\
all.book (polyglot): 1 of 3 moves, line ends in 1 ply
 not played: 1 ruled out by the book's colors, marks or limits, 1 of weight 0
 move  uci   weight  chance  games  wins  draws  losses  score  mark     learned
 e4    e2e4      30  100.0%     10     4      3       1  68.8%  ! green        -
 d4    d2d4      60       -      -     -      -       -      -  red        2.5/3
 Nc3   b1c3       0       -      -     -      -       -      -  -              -

";
        assert_eq!(text, expected);
        let expected = concat!(
            r#"{"fen":"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1","book":"all.book","#,
            r#""format":"polyglot","found":true,"moves":["#,
            r#"{"uci":"e2e4","san":"e4","weight":30,"chance":1.0,"playable":true,"games":10,"wins":4,"#,
            r#""draws":3,"losses":1,"annotation":"!","recommended":true,"learn":null},"#,
            r#"{"uci":"d2d4","san":"d4","weight":60,"chance":0.0,"playable":false,"games":null,"wins":null,"#,
            r#""draws":null,"losses":null,"annotation":null,"recommended":false,"learn":{"games":3,"halfpoints":5}},"#,
            r#"{"uci":"b1c3","san":"Nc3","weight":0,"chance":0.0,"playable":false,"games":null,"wins":null,"#,
            r#""draws":null,"losses":null,"annotation":null,"recommended":null,"learn":null}],"opening":null}"#,
            "\n"
        );
        assert_eq!(json, expected);
    }

    #[test]
    fn an_opening_and_a_game_are_shown_where_a_book_names_them() {
        let game = GameReference {
            number: 7,
            kind: ReferenceKind::Pgn,
            source: "a.pgn".to_owned(),
            gone: false,
            address: 50,
            length: 9,
            white: "A\x1b[31m".to_owned(),
            black: "B".to_owned(),
            white_elo: std::num::NonZeroU16::new(2700),
            black_elo: None,
            points: Some(tabiya_book::Points::Draw),
        };
        let (book, start) = (Knowing(Vec::new()), Game::start());
        let view = |moves| View {
            book: &book,
            game: &start,
            mode: CastlingMode::Standard,
            moves,
            weights: Weights::Points,
            refused: Refused::default(),
            losses: Worth::default(),
            opening: None,
            comment: Some("A00 Start".to_owned()),
            reference: Some(game.clone()),
            line: None,
            asked: None,
            worth: None,
        };
        let mut text = Vec::new();
        table::book(&view(Vec::new()), Look::default(), &mut text).unwrap();
        let expected = "all.book (polyglot): has no moves here\n A00 Start\n \
                        A [31m (2700) - B  1/2-1/2  a.pgn, byte 50, 9 bytes\n\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
        let mut line = Vec::new();
        json::line(&view(vec![(known("e2e4", 1).1, 1.0)]), &mut line).unwrap();
        let line = String::from_utf8(line).unwrap();
        let expected = concat!(
            r#"],"opening":null,"comment":"A00 Start","game":{"white":"A\u001b[31m","black":"B","white_elo":2700,"black_elo":null,"#,
            r#""result":"1/2-1/2","kind":"pgn","source":"a.pgn","gone":false,"place":"byte 50, 9 bytes"}}"#,
            "\n"
        );
        assert!(line.ends_with(expected), "{line}");
    }

    #[test]
    fn ratings_are_shown_where_a_book_has_them() {
        let mut e4 = known("e2e4", 1);
        e4.1.ratings = Some(Ratings { average: Some(2700), performance: None });
        let (text, json) = shown(Knowing(vec![e4]), "", &Policy::default());
        assert!(text.contains(" move  uci   weight  chance  rating  opening\n"), "{text}");
        assert!(text.contains("  2700  King's Pawn Game\n"), "{text}");
        assert!(json.contains(r#""ratings":{"average":2700,"performance":null}"#), "{json}");
    }

    #[test]
    fn rows_fit_into_a_line() {
        let mut book = full();
        for (_, known) in &mut book.0 {
            known.ratings = Some(Ratings { average: Some(3594), performance: Some(3637) });
            known.learned = None;
        }
        let widest = |book| shown(book, "", &Policy::default()).0.lines().map(str::len).max().unwrap();
        let rows = shown(Knowing(book.0.clone()), "", &Policy::default()).0;
        assert!(rows.contains(" perf "), "{rows}");
        assert!(widest(Knowing(book.0.clone())) <= 80, "{rows}");
        let counts = Counts { games: 12_345_678, wins: 2_345_678, draws: 9_000_000, losses: 1_000_000 };
        for (_, known) in &mut book.0 {
            known.counts = Some(counts);
            known.weight = 13_691_356;
        }
        let rows = shown(Knowing(book.0.clone()), "", &Policy::default()).0;
        assert!(rows.contains("12345678") && !rows.contains("perf"), "{rows}");
        assert!(widest(book) <= 80, "{rows}");
    }

    #[test]
    fn openings_are_named_where_there_is_room() {
        let moves = || Knowing(vec![known("e7e5", 5), known("c7c5", 3), known("h7h5", 1)]);
        let (text, json) = shown(moves(), "e2e4", &Policy::default());
        let expected = "
 move  uci   weight  chance  opening
 e5    e7e5       5   55.6%  -
 c5    c7c5       3   33.3%  Sicilian Defense
 h5    h7h5       1   11.1%  Goldsmith Defense
";
        assert!(text.contains(" h5 ") && text.lines().all(|line| line.len() <= 80), "{text}");
        assert!(text.ends_with(&format!("{expected}\n")), "{text}");
        assert!(json.ends_with("\"opening\":{\"eco\":\"B00\",\"name\":\"King's Pawn Game\"}}\n"), "{json}");
        // In less room the opening that the position has is left out.
        let counted = |uci| {
            let (uci, mut facts) = known(uci, 12_345);
            facts.counts = Some(Counts { games: 12_345, wins: 1, draws: 1, losses: 1 });
            (uci, facts)
        };
        let (text, _) =
            shown(Knowing(vec![counted("d7d6"), counted("b8c6")]), "e2e4 c7c5 g1f3", &Policy::default());
        assert!(text.contains("  Modern Variat...\n") && text.contains("  Old Sicilian\n"), "{text}");
        // A name that stays the same is not repeated, and without a name there is no column.
        let quiet = || Knowing(vec![known("b1c3", 5), known("d2d3", 3)]);
        let (text, _) = shown(quiet(), "e2e4 c7c5 a2a4 h7h6 h2h4 a7a6 h1h3 a8a7", &Policy::default());
        assert!(text.contains(" Nc3 ") && !text.contains("opening"), "{text}");
    }

    #[test]
    fn a_comment_that_names_the_opening_is_shown_once() {
        let (book, mut game) = (Knowing(Vec::new()), Game::start());
        assert!(game.push_uci(b"e2e4"));
        let shown = |comment: &str| {
            let mut view = View::look_up(
                &book,
                (&mut BookSet::default(), 0),
                &game,
                CastlingMode::Standard,
                &Policy::default(),
            );
            view.comment = Some(comment.to_owned());
            let mut text = Vec::new();
            table::book(&view, Look::default(), &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        assert_eq!(shown("B00 King's Pawn Game"), "all.book (polyglot): has no moves here\n\n");
        assert_eq!(shown("B00 King's Pawn"), "all.book (polyglot): has no moves here\n B00 King's Pawn\n\n");
    }

    #[test]
    fn a_moves_colour_is_shown_where_colours_may_be() {
        let look = Look { terminal: true, colour: true, unicode: false };
        let (text, _) = shown_as(full(), "", &Policy::default(), look);
        let line = |mv: &str| text.lines().find(|line| line.contains(mv)).unwrap().to_owned();
        // The numbers of the terminal's own green and red among its 256 colours.
        assert_eq!(line("e2e4").matches("\x1b[38;5;10m").count(), 2, "{text:?}");
        assert_eq!(line("d2d4").matches("\x1b[38;5;9m").count(), 2, "{text:?}");
        assert!(!line("b1c3").contains('\x1b'), "{text:?}");
    }

    #[test]
    fn a_position_that_the_book_does_not_know_says_so() {
        let (text, json) = shown(full(), "e2e4", &Policy::default());
        assert_eq!(text, "all.book (polyglot): does not know this position\n\n");
        assert!(
            json.ends_with(
                "\"found\":false,\"moves\":[],\"opening\":{\"eco\":\"B00\",\"name\":\"King's Pawn Game\"}}\n"
            ),
            "{json}"
        );
    }

    #[test]
    fn depth_reserve_and_repetitions_act() {
        let knights = || {
            let moves = ["g1f3", "g8f6", "f3g1", "f6g8", "b1c3"];
            Knowing(moves.map(|mv| known(mv, 1)).into())
        };
        let chance = |moves: &str, policy: &Policy| {
            let (text, _) = shown(knights(), moves, policy);
            text.lines().next().unwrap().to_owned()
        };
        let default = Policy::default();
        assert_eq!(chance("", &default), "all.book (polyglot): 2 of 2 moves, line ends in 4 plies");
        let mut early = default.clone();
        early.depth = 1;
        assert_eq!(chance("e2e4", &early), "all.book (polyglot): 1 of 1 move, line ends in 4 plies");
        assert_eq!(
            chance("e2e4 e7e5", &early),
            "all.book (polyglot): none of 2 moves may be played: 2 after Depth (move 1)"
        );
        let round = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1";
        assert_eq!(
            chance(round, &default),
            "all.book (polyglot): none of 1 move may be played: 1 repeating the position"
        );
        let mut again = default.clone();
        again.threefold = true;
        assert!(chance(round, &again).starts_with("all.book (polyglot): 1 of 1 move, "));
        let mut reserve = default;
        reserve.reserve = 2;
        assert!(shown(full(), "", &reserve).0.starts_with(
            "all.book (polyglot): none of 3 moves may be played: 1 ruled out by the book's colors, marks or limits, 1 with a line \
             of 1 of 2 plies, 1 of weight 0\n"
        ));
    }
}
