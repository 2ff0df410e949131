//! Texts in which it is not plain which moves belong to which game, or where a game starts. No move may be counted in a
//! position in which it was not played, and what is left out is said.

use super::*;

const FEN: &str = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";

fn moves_and_starts(text: &str) -> Vec<(bool, String)> {
    games(text).into_iter().map(|game| (game.start.is_some(), game.moves)).collect()
}

#[test]
fn the_first_tag_of_the_standard_may_be_anywhere_in_a_head() {
    let fen = format!("[FEN \"{FEN}\"]");
    for head in [
        format!("{fen}\n[SetUp \"1\"]\n[Event \"x\"]\n[Result \"1-0\"]\n"),
        format!("[Result \"1-0\"]\n\n{fen}\n[Event \"x\"]\n"),
        format!("[White \"A\"]\n{fen}\n\n[Event \"x\"]\n[Result \"1-0\"]\n"),
        format!("{fen}\n; a remark\n{{ another }}\n[Event \"x\"]\n"),
        format!("{fen}\nAnnotated by B\n[Event \"x\"]\n"),
        format!("[Event \"x\"]\n{fen}\n[Event \"y\"]\n"),
        format!("[Event \"x\"]\n[Event \"y\"]\n{fen}\n"),
        format!("[Event \"x\"]\n[Event Date \"2020\"]\n{fen}\n"),
    ] {
        let text = format!("{head}\n2. Nf3 Nc6 1-0\n\n");
        for count in [1, 3] {
            assert_eq!(
                moves_and_starts(&text.repeat(count)),
                vec![(true, "g1f3 b8c6".to_owned()); count],
                "{text}"
            );
        }
    }
    let atomic = "[Variant \"Atomic\"]\n[Event \"x\"]\n\n1. Nf3 Nc6 1-0\n\n".repeat(2);
    let reasons: Vec<_> = games(&atomic).iter().map(|game| game.error.as_ref().unwrap().0).collect();
    assert_eq!(reasons, [Reason::OtherVariant; 2]);
    // Wherever the pieces of a text are cut.
    let game = "[Black \"B\"]\n[BlackElo \"2500\"]\n[Event \"x\"]\n[White \"A\"]\n\n1. e4 e5 1-0\n\n";
    let found = games(game.repeat(30_000));
    assert_eq!(found.len(), 30_000);
    assert!(found.iter().all(|game| game.names == "A - B" && game.moves == "e2e4 e7e5"));
    // Nor where the tags before are indented.
    let game = "[Event \"x\"]\n\n1. e4 e5 1-0\n\n [White \"A\"]\n \n[Event \"y\"]\n[Round \"1\"]\n\n1. d4 d5 1-0\n\n";
    for times in [1, 20_000] {
        let found = games(game.repeat(times));
        assert!(found.len() == 2 * times && found.iter().skip(1).step_by(2).all(|game| game.names == "A - "));
    }
    // A game without moves keeps its start to itself, whatever tag the next begins with.
    for first in ["Event", "Site"] {
        let text = format!("[White \"A\"]\n{fen}\n\n[{first} \"y\"]\n[White \"B\"]\n\n1. d4 *\n");
        assert_eq!(moves_and_starts(&text), [(true, String::new()), (false, "d2d4".to_owned())], "{text}");
    }
}

#[test]
fn a_comment_may_quote_heads_wherever_pieces_are_cut() {
    let quoted = "[Event \"q\"]\n\n1. c4 *\n\n[Event \"r\"]\n\n1. b3 *\n";
    let text = format!("[Event \"x\"]\n\n1. e4 {{see\n{quoted}}} e5 1-0\n\n").repeat(20_000);
    let found = games(&text);
    assert_eq!(found.len(), 20_000);
    assert!(found.iter().all(|game| game.moves == "e2e4 e7e5"));
}

#[test]
fn remarks_in_brackets_are_no_heads() {
    for remark in [
        "[some annotation]",
        "[diagram]",
        "[2. d4 is better]",
        "[2. d4\nexd4]",
        "[%clk 0:01:00]",
        "[%csl Ga1][%cal Gb1b2]",
        "[#]",
        "[D]",
        "  [D]",
        "\t[see 2. d4 d5]",
        "[#] {x}",
        "\n[#]\n",
        "\n[2. d4 is better]\n",
    ] {
        let text = format!("[Event \"x\"]\n\n1. e4 e5\n{remark}\n2. Nf3 Nc6 *\n\n[White \"y\"]\n\n1. d4 *\n");
        for text in [text.clone(), text.replace('\n', "\r\n")] {
            let expected = [(false, "e2e4 e7e5 g1f3 b8c6".to_owned()), (false, "d2d4".to_owned())];
            assert_eq!(moves_and_starts(&text), expected, "{text}");
        }
    }
    // Without a second bracket.
    let text = "[Event \"x\"]\n\n1. e4 e5 [2. d4\n\n2. Nf3 *\n\n[White \"y\"]\n\n1. d4 *\n";
    assert_eq!(short(text)[0], ("e2e4 e7e5".to_owned(), "unterminated comment or variation".to_owned()));
    assert_eq!(moves_and_starts(text)[1].1, "d2d4");
    // A head in another form than that of the standard is one.
    let text = format!("[White A]\n\n1. e4 e5\n\n[White B]\n[FEN {FEN}]\n\n2. Nf3 *\n");
    assert_eq!(moves_and_starts(&text), [(false, "e2e4 e7e5".to_owned()), (true, "g1f3".to_owned())]);
}

#[test]
fn text_between_a_head_and_its_moves_does_not_end_the_game() {
    for between in [
        "{ comment }",
        "Annotated by X",
        "$13",
        "; comment",
        "{a}\n\n{b}",
        "{1. d4}",
        "(see below)",
        "?\n\n$1",
    ] {
        let game =
            format!("[Event \"x\"]\n[White \"A\"]\n[FEN \"{FEN}\"]\n\n{between}\n\n1. Nf3 Nc6 1-0\n\n");
        for text in [game.repeat(2), game.replace("FEN", "Fen").repeat(2)] {
            assert_eq!(moves_and_starts(&text), vec![(true, "g1f3 b8c6".to_owned()); 2], "{text}");
            let unwanted = listen(text.as_bytes(), Listener { unwanted: true, ..Listener::default() });
            assert!(unwanted.games.is_empty(), "{text}");
        }
    }
}

#[test]
fn the_second_move_may_follow_an_empty_line_with_its_number() {
    for number in ["1...", "1. ...", "1.. ", "1\u{2026}", "1... {x}"] {
        for head in ["", "[Event \"x\"]\n\n"] {
            let text = format!("{head}1. e4 {{x}}\n\n{number} e5 2. Nf3 *\n\n1. d4 *\n");
            assert_eq!(
                moves_and_starts(&text),
                [(false, "e2e4 e7e5 g1f3".to_owned()), (false, "d2d4".to_owned())],
                "{text}"
            );
        }
    }
}

#[test]
fn castling_is_read_with_any_dash() {
    for dash in "-\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2043}\u{2212}\u{fe63}\u{ff0d}".chars() {
        let text = format!("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O{dash}O Nf6 5. d3 0{dash}0 6. Nc3 *");
        let played = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1h1 g8f6 d2d3 e8h8 b1c3";
        assert_eq!(moves_and_starts(&text), [(false, played.to_owned())], "{text}");
    }
}

#[test]
fn a_comment_without_end_loses_only_its_game() {
    for first in ["White", "Event"] {
        let text = format!("[{first} \"A\"]\n\n1. e4 {{see\n\n[{first} \"B\"]\n\n1. d4 *\n\n").repeat(3);
        let found = short(&text);
        let cut = ("e2e4".to_owned(), "unterminated comment or variation".to_owned());
        assert_eq!(found, vec![[cut, ("d2d4".to_owned(), "*".to_owned())]; 3].concat(), "{text}");
    }
    // Not even where one brace follows after many games.
    let game = "[Event \"B\"]\n\n1. d4 d5 1-0\n\n";
    let text =
        format!("[Event \"A\"]\n\n1. e4 {{ oops\n\n{}[Event \"z\"]\n\n1. c4 }} c5 *\n", game.repeat(3));
    assert_eq!((games(&text).len(), games(&text)[4].moves.as_str()), (5, "c2c4 c7c5"));
    let found = moves_and_starts("  [Event \"x\"]\n\n  1. e4\n  % 1... c5\n  e5 *\n");
    assert_eq!(found, [(false, "e2e4 e7e5".to_owned())]);
}

#[test]
fn moves_after_the_result_are_of_another_game() {
    let two = [("e2e4 e7e5", "1-0"), ("d2d4 d7d5", "0-1")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    for head in ["", "[Event \"x\"]\n\n", "[Event \"x\"]\n[Result \"1-0\"]\n\n"] {
        for between in [" ", "\n", " {x} ", "\n{x}\n", " ; x\n", "\n\n"] {
            let text = format!("{head}1. e4 e5 1-0{between}1. d4 d5 0-1\n");
            assert_eq!(short(&text), two, "{text}");
        }
    }
    for text in
        ["1. e4 e5 1-0 {x} 2. Nf3 Nc6", "1. e4 e5 1-0 2. Nf3", "1. e4 e5 *\nNf3 Nc6", "1. e4 e5 * 1... c5"]
    {
        let expected = ("e2e4 e7e5".to_owned(), "move out of order".to_owned());
        assert_eq!(short(text), [expected], "{text}");
    }
    assert_eq!(short("1. e4 e5 1-0 (time) Black resigns")[0], ("e2e4 e7e5".to_owned(), "1-0".to_owned()));
}

#[test]
fn a_game_ends_where_a_number_shows_that_moves_are_missing() {
    for (text, moves) in [
        ("20. Nf3 Nc6 *", ""),
        ("1. e4 e5 1. e4 e5 2. Nf3 *", "e2e4 e7e5"),
        ("1. e4 e5 2. ??? ??? 3. Nf3 Nc6 *", "e2e4 e7e5"),
        ("1. e4 e5 2. castles 3. Nf3 *", "e2e4 e7e5"),
        ("1. e4 e5 ; 2. d4 d5\n3. Nf3 Nc6 *", "e2e4 e7e5"),
        ("1. e 4 e 5 2. Nf3 Nc6 *", ""),
        ("1. e4 e5 2... Nc3 Nc6 *", "e2e4 e7e5"),
        ("1. e4 2. Nf3 *", "e2e4"),
        ("1. e4 e5 3. Nf3 Nc6 4. Bb5 *", "e2e4 e7e5"),
        ("1. e4 e5 3. Nf3 (2. d4) Nc6 4. Bb5 *", "e2e4 e7e5"),
        ("1 e4 e5 3 Nf3 *", "e2e4 e7e5"),
        ("1. e4 e5 2. NF3 NC6 3. Bb5 *", "e2e4 e7e5"),
        ("1. e4 e5 2. B-B4 B-B4 3. Nf3 *", "e2e4 e7e5"),
        ("1. e4 e5 2. KtB3 KtB3 3. d3 *", "e2e4 e7e5"),
        ("1. e4 e5 2. ... 3. Nf3 Nc6 5. Bb5 *", "e2e4 e7e5 g1f3 b8c6"),
    ] {
        for head in ["", "[Event \"x\"]\n\n"] {
            let text = format!("{head}{text}\n\n[Event \"y\"]\n\n1. d4 *\n");
            let found = games(&text);
            assert_eq!(found[0].moves, moves, "{text}");
            assert!(found[0].error.is_some(), "{text}");
            assert_eq!((found.len(), found[1].moves.as_str()), (2, "d2d4"), "{text}");
        }
    }
}

#[test]
fn a_number_that_goes_back_is_named_so() {
    let says = |text: &str| games(text)[0].error.clone().unwrap().1;
    let said = says("[Event \"x\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 2. Nf3 Nc6 1-0\n");
    assert!(said.contains("3... \"Nf3\": the number goes back"), "{said}");
    assert!(says("1. e4 e5 3. Nf3 Nc6 *").contains("moves before it are missing"));
}

#[test]
fn numbers_may_be_written_in_many_ways() {
    for text in [
        "1. e4 e5 2. Nf3 Nc6",
        "1 e4 e5 2 Nf3 Nc6",
        "1.e4 1...e5 2.Nf3 2...Nc6",
        "1. e4 1. e5 2. Nf3 2. Nc6",
        "1. e4 {x} 1. ... e5 2. Nf3 Nc6",
        "1.. e4 e5 2\u{2026} Nf3 Nc6",
        "e4 e5 Nf3 Nc6",
        "1. e4 +0.32/15 30 s e5 -1.5 2. Nf3 (2. d4 exd4 3. c3) 2... Nc6",
        "1. e4 e5 [12] 2. Nf3 7 Nc6",
        "1. e4 e5 2. Nf3 N Nc6",
        // An error of writing, as the next number shows.
        "1. e4 e5 12. Nf3 2... Nc6",
        "11. e4 e5 (1... c5 2. Nf3) 2. Nf3 Nc6",
        "1. e4 2... e5 2. Nf3 Nc6",
        // Arena's words where a player did not move in time, and went on.
        "1. e4 ... {1-0 Black loses on time} e5 2. ... {0-1 White loses on time} 3. Nf3 Nc6",
        "1. e4 e5 2... 3. Nf3 3... Nc6",
        // A variation that an empty line parts.
        "1. e4 e5 ({a}\n\n1... c5 2. Nf3) 2. Nf3 (2. d4\n\n2... exd4) Nc6",
        "1. e4 ({a}\n\n1. d4 d5) 1... e5 2. Nf3 Nc6",
    ] {
        assert_eq!(short(text), [("e2e4 e7e5 g1f3 b8c6".to_owned(), "*".to_owned())], "{text}");
    }
    // From a set-up position, numbers count in their own way.
    for first in [1, 2, 15] {
        let text = format!("[FEN \"{FEN}\"]\n\n{first}. Nf3 Nc6 {}. Bb5 *", first + 1);
        assert_eq!(moves_and_starts(&text), [(true, "g1f3 b8c6 f1b5".to_owned())], "{text}");
        let text = format!("[FEN \"{FEN}\"]\n\n{first}. Nf3 Nc6 {}. Bb5 *", first + 2);
        assert_eq!(moves_and_starts(&text), [(true, "g1f3 b8c6".to_owned())], "{text}");
    }
    // Both players lost.
    let text = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 0-0";
    assert_eq!(moves_and_starts(text), [(false, "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5".to_owned())]);
}

#[test]
fn a_position_outside_of_its_tag_leaves_the_game_out() {
    let heads = [
        "[White \"A\"]\nFEN \"{}\"\n",
        "[White \"A\"]\n[FEN\n\"{}\"]\n",
        "[White \"A\"]\n[[FEN \"{}\"]]\n",
        "[White \"A\"]\n[F\u{200b}EN \"{}\"]\n",
        "[White \"A\"]\n&#91;FEN \"{}\"&#93;\n",
        "[White \"A\"]\n<FEN \"{}\">\n",
        "[White \"A\"]\n{FEN {}}\n",
        "[White \"A\"]\n(FEN {})\n",
        "[White \"A\"]\n\u{ff3b}FEN \"{}\"\u{ff3d}\n",
        "[StartFEN \"{}\"]\n",
        "[Position \"{}\"]\n[White \"A\"]\n",
        "[White \"A\"]\n\n; {}\n",
        "[Site \"C:\\games\\\"] [FEN \"{}\"]\n",
    ];
    for head in heads {
        let head = head.replace("{}", FEN);
        let text = format!("{head}\n2. Nf3 Nc6 *\n\n[Event \"y\"]\n\n1. d4 *\n");
        let found = games(&text);
        let moves: Vec<_> =
            found.iter().filter(|game| game.start.is_none()).map(|game| game.moves.as_str()).collect();
        assert!(moves == ["", "d2d4"] || moves == ["d2d4"], "{text}: {moves:?}");
    }
    // A position after the moves, the ordinary one, one of a diagram, or one that is where the tag says too.
    for head in [
        format!(
            "[Event \"x\"]\n\n{{ See @@StartFEN@@{FEN}@@EndFEN@@, and\n@@StartFEN@@ {FEN} @@EndFEN@@. }}"
        ),
        format!("[CurrentPosition \"{FEN}\"]"),
        format!("[FinalFEN \"{FEN}\"]"),
        "[StartFEN \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\"]".to_owned(),
    ] {
        assert_eq!(
            moves_and_starts(&format!("{head}\n\n1. e4 e5 *\n")),
            [(false, "e2e4 e7e5".to_owned())],
            "{head}"
        );
    }
    let text = format!("[FEN \"{FEN}\"]\n[Position \"{FEN}\"]\n\n{{{FEN}}} 2. Nf3 *\n");
    assert_eq!(moves_and_starts(&text), [(true, "g1f3".to_owned())]);
}

#[test]
fn a_game_without_moves_does_not_start_from_the_position_of_the_next() {
    let text = format!(
        "[Event \"x\"]\n[Result \"*\"]\n\n*\n\n[Event \"y\"]\n[SetUp \"1\"]\n[FEN \"{FEN}\"]\n\n2. Nf3 *\n"
    );
    assert_eq!(moves_and_starts(&text), [(false, String::new()), (true, "g1f3".to_owned())]);
}

#[test]
fn a_piece_apart_from_its_square_ends_the_game() {
    for text in ["1. e4 e5 2. N f3 N c6 3. Bb5 *", "1. e4 e5 2. N\nf3 Nc6 *"] {
        assert_eq!(short(text), [("e2e4 e7e5".to_owned(), "unreadable move".to_owned())], "{text}");
    }
}

#[test]
fn results_are_read_as_people_write_them() {
    for (text, result) in [
        ("(1-0)", "1-0"),
        ("( 0-1 )", "0-1"),
        ("\"1-0\"", "1-0"),
        ("1.0-0.0", "1-0"),
        ("0.0-1.0", "0-1"),
        ("1,0-0,0", "1-0"),
        ("0,0 - 1,0", "0-1"),
        ("[0-1]", "0-1"),
        ("1-0.", "1-0"),
        ("0-1#", "0-1"),
    ] {
        let tag = text.replace('"', "\\\"");
        for text in [
            format!("1. e4 e5 {text}\n\n1. d4 *\n"),
            format!("[Result \"{tag}\"]\n\n1. e4 e5\n\n[Result \"*\"]\n\n1. d4\n"),
        ] {
            let expected = [("e2e4 e7e5".to_owned(), result.to_owned()), ("d2d4".to_owned(), "*".to_owned())];
            assert_eq!(short(&text), expected, "{text}");
        }
    }
    // After the number 1 this is castling.
    let text = "[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n\n1.0-0 Ke7 *\n";
    assert_eq!(moves_and_starts(text), [(true, "e1h1 e8e7".to_owned())]);
}
