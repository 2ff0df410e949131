//! Texts as people have them: what editors, browsers, programs and losses of power make of games. No move may be counted in
//! a position in which it was not played.

use std::io::Read as _;

use tabiya_chess::MoveCode;

use super::*;
use crate::pgn::Room;

const AFTER_E4_E5: &str = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
const MOVES: &str = "g1f3 b8c6";

/// A game from the position after 1. e4 e5, with this in place of its tag FEN.
fn set_up(tags: &str) -> String {
    format!(
        "[Event \"x\"]\n{tags}\n[White \"A\"]\n[Result \"1-0\"]\n\n2. Nf3 Nc6 1-0\n\n[Event \"y\"]\n\n1. d4 *\n"
    )
}

fn starts(text: &str) -> Vec<(Option<String>, String)> {
    for text in [text.to_owned(), text.replace('\n', "\r\n"), text.replace('\n', "\r")] {
        assert_eq!(games(&text).len(), 2, "{text:?}");
    }
    games(text).into_iter().map(|game| (game.start, game.moves)).collect()
}

#[test]
fn a_game_starts_where_its_tags_say_however_they_are_written() {
    let fen = AFTER_E4_E5;
    for tags in [
        format!("[FEN \"{fen}\"]"),
        format!("[FEN {fen}]"),
        format!("[Fen \"{fen}\"]\n[setup \"1\"]"),
        format!("[FEN '{fen}']"),
        format!("[FEN \"{fen}\""),
        format!("[FEN {fen}\"]"),
        format!("[\"FEN\" \"{fen}\"]"),
        format!("[FEN \\\"{fen}\\\"]"),
        format!("[FEN \"\"{fen}\"\"]"),
        format!("[ FEN: \u{201c}{fen}\u{201d} ]"),
        format!("[FEN \"{}\"]", fen.replace(' ', "\u{a0}")),
        format!("[FEN \" {} \"]", fen.replace(' ', "_")),
        format!("[FEN \"\u{feff}{fen}\"]"),
        format!("  [SetUp \"1\"]\n\t[FEN \"{fen}\"]"),
        // What is between tags.
        format!("[FEN \"{fen}\"] ; after e4 e5"),
        format!("[FEN \"{fen}\"]\n; after e4 e5"),
        format!("[FEN \"{fen}\"] {{ after e4 e5 }}"),
        format!("[FEN \"{fen}\"]\n{{after\n\n1. e4 e5}}\n"),
        format!("[FEN \"{fen}\"]\n% e4\n"),
        format!("[FEN \"{fen}\"]\nannotated by B"),
        format!("[FEN \"{fen}\"]\n\nannotated by B\n"),
        format!("[]\n[ ]\n[FEN \"{fen}\"]\n[\"\"]\n[FEN \"{fen}\"]"),
    ] {
        let text = set_up(&tags);
        let found = starts(&text);
        assert_eq!(found[0], (Some(fen.to_owned()), MOVES.to_owned()), "{text}");
        assert_eq!(games(&text)[0].names, "A - ", "{text}");
        assert_eq!(found[1], (None, "d2d4".to_owned()), "{text}");
    }
}

#[test]
fn a_game_whose_start_is_in_doubt_is_left_out() {
    let fen = AFTER_E4_E5;
    for tags in [
        "[SetUp \"1\"]".to_owned(),
        "[SetUp \"1\"]\n[FEN \"\"]".to_owned(),
        "[SetUp 1]\n[FEN]".to_owned(),
        "[SetUp \"true\"]".to_owned(),
        "[SetUp \"Yes\"]".to_owned(),
        "[SetUp \"1]".to_owned(),
        "[Variant \"Chess960\"]".to_owned(),
        "[Variant \"From Position\"]".to_owned(),
        format!("[FEN \"{fen}\"]\n[FEN \"{}\"]", fen.replace(" w ", " b ")),
        format!("[FEN \"{}\"]", fen.split(' ').next().unwrap()),
        format!("[FEN \"{}\"]", fen.get(..30).unwrap()),
        format!("FEN \"{fen}\"]"),
        "after 1. e4 e5".to_owned(),
        format!("[FEN \"{fen}\"] {{ no end"),
        format!("[FEN \"{fen}\"]\nthe line\n1. e4 e5"),
        format!("[FEN \"{fen}\"]\n\n2. -- "),
    ] {
        let text = set_up(&tags).replace("2. Nf3 Nc6", "2. Nf3 {a} Nc6 {b}");
        let found = games(&text);
        assert!(found[0].error.is_some(), "{text}");
        assert!(found.iter().all(|game| game.moves.is_empty() || game.moves == "d2d4"), "{text} {found:?}");
        assert_eq!(found.last().unwrap().moves, "d2d4", "{text}");
    }
    // Without a position a tag says nothing.
    assert_eq!(starts(&set_up("[FEN \"\"]").replace("2. Nf3", "1. Nf3"))[0].0, None);
}

#[test]
fn the_start_of_a_game_without_moves_is_not_that_of_the_next() {
    let text = format!("[White \"A\"]\n[FEN \"{AFTER_E4_E5}\"]\n\n[White \"B\"]\n\n1. d4 *\n");
    assert_eq!(starts(&text), [(Some(AFTER_E4_E5.to_owned()), String::new()), (None, "d2d4".to_owned())]);
    let text =
        format!("[White \"A\"]\n[FEN \"{AFTER_E4_E5}\"]\n\n{{White is ill}}\n\n[White \"B\"]\n\n1. d4 *\n");
    assert_eq!(starts(&text), [(Some(AFTER_E4_E5.to_owned()), String::new()), (None, "d2d4".to_owned())]);
}

#[test]
fn a_position_of_chess960_has_the_castling_rights_of_x_fen() {
    let text = "[FEN \"bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1\"]\n\n1. b3 c5 2. Nf3 d5 3. d4 b6 4. O-O Nf6 1-0\n";
    let [game] = &games(text)[..] else { panic!() };
    assert_eq!((game.moves.as_str(), game.result), ("b2b3 c7c5 e1f3 d7d5 d2d4 b7b6 f1g1 e8f6", Some("1-0")));
    // A king or rook that is not where the rights say has none; those of ordinary chess stay.
    for (fen, start) in [
        ("r3k2r/8/8/8/8/8/8/R4K1R w KQkq - 0 1", "r3k2r/8/8/8/8/8/8/R4K1R w HAha - 0 1"),
        ("r3k2r/8/8/8/8/8/4K3/R6R w KQkq - 0 1", "r3k2r/8/8/8/8/8/4K3/R6R w kq - 0 1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"),
        ("4k3/8/8/8/8/8/8/1R2K3 w Q - 0 1", "4k3/8/8/8/8/8/8/1R2K3 w Q - 0 1"),
    ] {
        let found = games(format!("[FEN \"{fen}\"]\n\n*\n"));
        let read = Position::from_any_fen(found[0].start.as_ref().unwrap().as_bytes()).unwrap();
        assert_eq!(read.key(), Position::from_any_fen(start.as_bytes()).unwrap().key(), "{fen}");
    }
}

#[test]
fn games_are_found_wherever_they_are_on_their_lines() {
    let two = [("e2e4 e7e5", "1-0"), ("d2d4 d7d5", "0-1")];
    for text in [
        "[Event \"a\"]\n[Result \"1-0\"] 1. e4 e5 1-0\n\n[Event \"x\"]\n[Result \"0-1\"] 1. d4 d5 0-1\n",
        "[Event \"a\"]\n[Result \"1-0\"] 1. e4 e5 1-0\n[Event \"x\"]\n[Result \"0-1\"] 1. d4 d5 0-1",
        "[Event \"a\"] [Result \"1-0\"] 1. e4 e5 1-0 [Event \"x\"] [Result \"0-1\"] 1. d4 d5 0-1",
        "  [Event \"x\"]\n  [Result \"1-0\"]\n  \n  1. e4 e5 1-0\n  \n  [Event \"y\"]\n  [Result \"0-1\"]\n  \n  1. d4 d5 0-1\n",
        "\t[White \"x\"]\n\t[Result \"1-0\"]\n\n\t1. e4 e5 1-0\n\t[White \"y\"]\n\t[Result \"0-1\"]\n\n\t1. d4 d5 0-1\n",
        "\u{a0}[White \"x\"]\n\u{a0}\n\u{a0}1. e4 e5 1-0\n\u{a0}\n\u{a0}[White \"y\"]\n\u{a0}\n\u{a0}1. d4 d5 0-1\n",
        "  1. e4 e5 1-0\n  \n  1. d4 d5 0-1\n",
        "\u{feff}[Event \"x\"]\n\n1. e4 e5 1-0\n\n\u{feff}[Event \"y\"]\n\n1. d4 d5 0-1\n\u{1a}",
        "[Event \"x\"]\u{2028}[White \"y\"]\u{2028}\u{2028}1. e4 e5 1-0\u{2028}\u{2028}[Event \"y\"]\u{2028}\u{2028}1. d4 d5 0-1",
        "[Event \"x\"]\r\r1. e4 e5 1-0\r\r[Event \"y\"]\n\n1. d4 d5 0-1\n",
        "[Event \"x\"]\r\r\n\r\r\n1. e4\r\r\ne5 1-0\r\r\n\r\r\n[Event \"y\"]\r\r\n\r\r\n1. d4 d5 0-1\r\r\n",
    ] {
        assert_eq!(short(text), two.map(|(moves, result)| (moves.to_owned(), result.to_owned())), "{text:?}");
        let unwanted = listen(text.as_bytes(), Listener { most: Some(1), ..Listener::default() }).games;
        let moves: Vec<_> = unwanted.iter().map(|game| game.moves.as_str()).collect();
        assert_eq!(moves, ["e2e4", "d2d4"], "{text:?}");
    }
}

#[test]
fn moves_between_any_blanks_are_played() {
    for blank in
        ["\u{a0}", " \u{a0}", "\u{200b}", "\u{2028}", "\u{85}", "\u{feff}", "\u{3000}", "\u{b}", "\u{2026}"]
    {
        let moves = format!("1.{blank}e4 e5{blank}2.{blank}Nf3 N\u{200b}c6 3.{blank}Bb5{blank}1-0\n");
        for text in [moves.clone(), format!("[White{blank}\"A\"]\n\n{moves}")] {
            assert_eq!(short(&text), [("e2e4 e7e5 g1f3 b8c6 f1b5".to_owned(), "1-0".to_owned())], "{text:?}");
        }
    }
    let castling = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O - O Nf6 5. d3 0 - 0 *";
    let played = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1h1 g8f6 d2d3 e8h8";
    assert_eq!(short(castling), [(played.to_owned(), "*".to_owned())]);
}

#[test]
fn a_comment_may_quote_games_and_a_comment_without_end_may_not() {
    let next = "\n\n[Event \"B\"]\n\n1. d4 {x} *\n";
    let quoting =
        format!("[Event \"A\"]\n\n1. e4 {{see\n\n[Event \"C\"]\n[White \"c\"]\n\n1. c4 *\n}} e5 1-0{next}");
    let expected = [("e2e4 e7e5".to_owned(), "1-0".to_owned()), ("d2d4".to_owned(), "*".to_owned())];
    assert_eq!(short(&quoting), expected);
    let unwanted = listen(quoting.as_bytes(), Listener { most: Some(1), ..Listener::default() });
    assert_eq!(unwanted.games.len(), 2);
    let unterminated = format!("[Event \"A\"]\n\n1. e4 {{see e5 1-0{next}");
    let reasons: Vec<_> =
        games(&unterminated).iter().map(|game| game.error.as_ref().map(|error| error.0)).collect();
    assert_eq!(reasons, [Some(Reason::Unterminated), None]);
    // Even where the first tag is another: the moves of the next game are not of this one.
    let unterminated = "[White \"A\"]\n\n1. e4 {see\n\n[White \"B\"]\n\n1. d4 {x} e5 *\n";
    assert_eq!(short(unterminated)[0], ("e2e4".to_owned(), "unterminated comment or variation".to_owned()));
    let long = format!("[Event \"A\"]\n\n1. e4 {{{}}} e5 *{next}", "no end\n[%clk 0]\n".repeat(9 << 17));
    let found = games(&long);
    assert_eq!(found[0].error.as_ref().unwrap().0, Reason::TooLarge);
    assert_eq!((found.len(), found[1].moves.as_str()), (2, "d2d4"));
    // Where there is room, a game of any length is read whole, and so is one that has to wait for it.
    let mut listener = Listener::default();
    let mut pgn = Pgn::new(Arc::from(Path::new("a.pgn")), long.as_bytes().chain(long.as_bytes()))
        .within(Room::new(long.len()));
    while let Some(batch) = pgn.next_batch() {
        batch.play(&mut listener);
    }
    let moves: Vec<_> = listener.games.iter().map(|game| (&*game.moves, game.error.is_none())).collect();
    assert_eq!(moves, [("e2e4 e7e5", true), ("d2d4", true)].repeat(2));
}

#[test]
fn zero_bytes_end_what_can_be_read() {
    let game = "[Event \"t\"]\n[White \"A\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0\n\n";
    let zeros = "\0".repeat(64);
    let whole = ("e2e4 e7e5 g1f3 b8c6 f1b5", "1-0");
    let (lost, few) = (("", "truncated file"), ("", "zero bytes"));
    for (text, expected) in [
        (format!("{game}{game}{zeros}"), &[whole, whole, lost][..]),
        (format!("{game}{zeros}{game}\0{game}"), &[few, whole, lost, whole, whole]),
        (format!("{}{zeros}{game}", game.trim_end()), &[whole, lost, whole]),
        // What may be the start of a longer word is no move.
        (
            format!("[Event \"t\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O{zeros}-O\n\n{game}"),
            &[("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5", "damaged"), lost, whole],
        ),
        (format!("[Event \"t\"]\n[FEN \"4k3{zeros}\n\n1. e4 *\n\n{game}"), &[("", "damaged"), lost, whole]),
        (format!("{game}[Event \"t\"]\n[White{zeros}"), &[whole, ("", "damaged"), lost]),
        (format!("{game}1. d4 {{x{zeros}}} d5 *\n\n{game}"), &[whole, ("d2d4", "damaged"), lost, whole]),
    ] {
        let expected: Vec<_> = expected.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect();
        assert_eq!(short(&text), expected, "{text:?}");
    }
    let found = games(format!("{game}{zeros}"));
    let said = "a.pgn: line 7: 64 zero bytes are in place of text, as after a loss of power: what comes before is used (byte 72)";
    assert_eq!(found[1].error.as_ref().unwrap().1, said);
    let found = games(format!("{game}{zeros}{game}"));
    assert_eq!(found[1].error.as_ref().unwrap().1, said.replace("before is", "before and after is"));
}

#[test]
fn a_few_zero_bytes_end_a_game_only_among_its_moves() {
    let next = "[Event \"t\"]\n\n1. d4 d5 *\n";
    let played = "e2e4 e7e5 g1f3";
    for (game, moves, result) in [
        ("1. e4 {x\0y} e5 2. Nf3 1-0", played, "1-0"),
        ("1. e4 e5 2. Nf3 1-0\0\0", played, "1-0"),
        ("1. e4 e5 2. Nf3 \0 Nc6 1-0", played, "damaged"),
        // What touches one is no move.
        ("1. e4 e5 2. Nf3 N\0c6 3. Bb5 1-0", played, "damaged"),
        ("1. e4 e5 2. Nf3 Nc6\0 3. Bb5 1-0", played, "damaged"),
        ("1. e4 e5 2. Nf3 (2. d4 \0 d5) Nc6 1-0", played, "damaged"),
    ] {
        let text = format!("[White \"A\0\"]\n[Result \"*\"]\n\n{game}\n\n{next}").repeat(2);
        let found = games(&text);
        assert!(found[0].error.as_ref().is_some_and(|(reason, _)| *reason == Reason::Zeros), "{text:?}");
        assert_eq!(found[1].names, "A - ");
        let game = (moves.to_owned(), result.to_owned());
        let two = vec![[game, ("d2d4 d7d5".to_owned(), "*".to_owned())]; 2].concat();
        assert_eq!(short(&text)[1..], two, "{text:?}");
    }
    let said = &games("1. e4 {\0} e5 *\n")[0].error.clone().unwrap().1;
    assert!(said.starts_with("a.pgn: line 1: 1 zero byte is within the text: all games are read"), "{said}");
}

#[test]
fn a_tag_that_cannot_be_read_loses_no_game() {
    for tag in [
        "[] \"x\"]",
        "[]",
        "[\"x\"]",
        "[White]",
        "[White \"a",
        "[White a\"]",
        "[[White \"a\"]]",
        "[Wh?te \"a\"]",
        "[White \"a\"]]",
        "] \"x\"]",
        "[] x]",
        "[",
        &format!("[Site \"{}\"]", "x".repeat(9000)),
        &format!("[Site \"{}", "x".repeat(9000)),
    ] {
        let text = format!(
            "[Event \"x\"]\n{tag}\n[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n[Event \"y\"]\n[Result \"1-0\"]\n\n1. d4 d5 1-0\n"
        );
        let two = ["e2e4 e7e5", "d2d4 d7d5"].map(|moves| (moves.to_owned(), "1-0".to_owned()));
        assert_eq!(short(&text), two, "{text}");
    }
    // Unless it may say where the game starts.
    let text = format!("[Event \"x\"]\n[FEN \"{}\"]\n\n1. e4 e5 1-0\n", "x".repeat(9000));
    assert_eq!(short(&text), [(String::new(), "no legal starting position".to_owned())]);
}

#[test]
fn results_are_read_with_space_and_in_points() {
    for (written, result) in [
        ("1 - 0", "1-0"),
        ("0 \u{2013} 1", "0-1"),
        ("0.5-0.5", "1/2-1/2"),
        ("0.5 - 0.5", "1/2-1/2"),
        ("1/2 - 1/2", "1/2-1/2"),
        ("\u{bd} - \u{bd}", "1/2-1/2"),
        ("1 : 0", "1-0"),
        ("0 : 1", "0-1"),
    ] {
        for text in [
            format!("[Result \"{written}\"]\n\n1. e4 e5\n"),
            format!("[Result \"*\"]\n\n1. e4 e5 {written} {{resigns}}\n"),
            format!("[Result \"?\"]\n\n1. e4 e5\n\n{written}\n"),
            format!("1. e4 e5 {written}\n\n"),
        ] {
            assert_eq!(short(&text), [("e2e4 e7e5".to_owned(), result.to_owned())], "{text}");
        }
    }
    for (written, result) in
        [("+/-", "1-0"), ("-:+", "0-1"), ("=", "1/2-1/2"), ("1-0 (time)", "1-0"), ("+:-", "1-0")]
    {
        assert_eq!(short(format!("[Result \"{written}\"]\n\n1. e4 e5\n"))[0].1, result, "{written}");
    }
    for written in ["*", "?", "", "0-0", "1-1", "1-00", "11-0", "0.5-0", "white", "+-+"] {
        assert_eq!(short(format!("[Result \"{written}\"]\n\n1. e4 e5\n"))[0].1, "*", "{written}");
    }
}

/// Moves with the keys before them, and where variations begin and end.
#[derive(Default)]
struct Tree(Vec<String>);

impl Visitor for Tree {
    fn begin(&mut self, _: &GameHeader) -> bool {
        true
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        assert!(MoveCode::from_move(mv).resolve(at.chess()).is_some());
        self.0.push(UciMove::from_move(mv, CastlingMode::Standard).to_string());
        ControlFlow::Continue(())
    }

    fn wants_variations(&self) -> bool {
        true
    }

    fn begin_variation(&mut self) {
        self.0.push("(".to_owned());
    }

    fn end_variation(&mut self) {
        self.0.push(")".to_owned());
    }

    fn end(&mut self, _: GameEnd) {}

    fn unreadable(&mut self, error: GameError) {
        panic!("{error}");
    }
}

#[test]
fn a_variation_may_come_before_the_first_move() {
    for (text, tree) in [
        ("(1. d4 d5) 1. e4 e5 (1... c5) *", "( d2d4 d7d5 ) e2e4 e7e5 ( c7c5 )"),
        ("1. e4 ( (1. c4) 1. d4 d5) e5 *", "e2e4 ( ( c2c4 ) d2d4 d7d5 ) e7e5"),
        ("(1. d4) (1. c4 (1. b4)) 1. e4 *", "( d2d4 ) ( c2c4 ( b2b4 ) ) e2e4"),
        // By its number it goes on from the last move.
        ("1. e4 e5 2. Nf3 (2... Nc6 3. Bb5) *", "e2e4 e7e5 g1f3 ( g1f3 b8c6 f1b5 )"),
        (
            "1. e4 e5 (2. Nf3 Nc6 (3. Bb5) 3. d4) 2. d4 *",
            "e2e4 e7e5 ( e7e5 g1f3 b8c6 ( b8c6 f1b5 ) d2d4 ) d2d4",
        ),
        ("1. e4 (1... e5) (1. d4) (1... d5 2. exd5) *", "e2e4 ( e2e4 e7e5 ) ( d2d4 ) ( e2e4 d7d5 e4d5 )"),
        // An empty line does not end it.
        ("1. e4 e5 2. Nf3 ({a}\n\n2. Bc4 Nf6) 2... Nc6 *", "e2e4 e7e5 g1f3 ( f1c4 g8f6 ) b8c6"),
        ("1. e4 ({a}\n\n1. d4 d5)\n\n1... e5 *", "e2e4 ( d2d4 d7d5 ) e7e5"),
    ] {
        let text = format!("[Event \"x\"]\n\n{text}\n");
        let mut found = Tree::default();
        let mut pgn = Pgn::new(Arc::from(Path::new("a.pgn")), text.as_bytes());
        while let Some(batch) = pgn.next_batch() {
            batch.play(&mut found);
        }
        assert_eq!(found.0.join(" "), tree);
    }
}
