//! Where words begin and end, as other lenient programs see it, and what is not a word.

use proptest::prelude::*;

use super::*;

/// The tags of a text, and its words up to the end of each game, in one line.
fn words(text: impl AsRef<[u8]>) -> String {
    let mut lexer = Lexer::new(text.as_ref(), 0);
    let mut told = Vec::new();
    let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    while lexer.find_game() {
        while let Some(tag) = lexer.tag() {
            told.push(match tag {
                Ok((name, value)) => format!("[{}={}]", show(name), show(&value)),
                Err(Unterminated) => {
                    lexer.skip_all();
                    "[!".to_owned()
                }
            });
        }
        loop {
            told.push(match lexer.next_word().1 {
                Token::Word(word) => show(word),
                Token::Comment(text) => format!("{{{}}}", show(text)),
                Token::Glyph(number) => format!("${number}"),
                Token::Open => "(".to_owned(),
                Token::Close => ")".to_owned(),
                Token::Result(result) => format!("<{}>", result.map_or("*", GameResult::as_pgn)),
                Token::End => break,
                Token::Unterminated => "{!".to_owned(),
                Token::Zero => "0!".to_owned(),
            });
        }
        told.push("|".to_owned());
    }
    told.join(" ")
}

#[test]
fn a_game_is_its_tags_and_words() {
    let text = "[Event \"Sf3 Lb5\"]\n[Site \"?\"]\n\n1. e4 e5 2. Nf3 $1 Nc6 {Sf3} (2... Sf6 (Lb5)) 3.Bb5+! a6?! 1/2-1/2\n";
    assert_eq!(
        words(text),
        "[Event=Sf3 Lb5] [Site=?] e4 e5 Nf3 $1 Nc6 {Sf3} ( Sf6 ( Lb5 ) ) Bb5+ $1 a6 $6 <1/2-1/2> |"
    );
    let mut lexer = Lexer::new(b"x\n1. e4\n{a} e5", 2);
    let offsets: Vec<_> = std::iter::repeat_with(|| lexer.next_word().0).take(4).collect();
    assert_eq!(offsets, [5, 8, 12, 14]);
}

#[test]
fn words_end_at_space_and_signs() {
    for (text, expected) in [
        ("1.e4 e5,2.Nf3+- N +- = D", "e4 e5,2 Nf3+- N +- = D |"),
        (
            "1. e4! e5? 2. d4!! d5?? 3. c4!? c5?! 4. a3!!! e6",
            "e4 $1 e5 $2 d4 $3 d5 $4 c4 $5 c5 $6 a3 $3 $1 e6 |",
        ),
        ("e4$3 e5$300 d4$ d5$x c4$03c5", "e4 $3 e5 d4 d5 x c4 $3 c5 |"),
        ("e4{a}e5(d4)c5;x\nd5*c4}b4", "e4 {a} e5 ( d4 ) c5 d5 <*> c4 b4 |"),
        ("12... exd6 e.p. a8(Q)", "exd6 e p a8 ( Q ) |"),
        ("1 e4 2.. e5 3 . d4", "e4 e5 d4 |"),
        ("\u{2658}f3 [e4] o-o", "\u{2658}f3 o-o |"),
        ("{a (b} e4 {;} e5", "{a (b} e4 {;} e5 |"),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
}

#[test]
fn blanks_of_all_kinds_are_between_words() {
    let blanks = "\u{a0}\u{200b}\u{2028}\u{2029}\u{85}\u{feff}\u{2007}\u{202f}\u{3000}\u{2009}\t\u{b}\u{c}\u{1a}\u{2026}\u{180e}\u{2060}";
    for blank in blanks.chars() {
        let text =
            format!("{blank}1.{blank}e4{blank}e5{blank}2.{blank}Nf3{blank}Nc6{blank}$1{blank}1-0{blank}");
        assert_eq!(words(&text), "e4 e5 Nf3 Nc6 $1 <1-0> |", "{blank:?}");
        let blank = if blank == '\u{2026}' { ' ' } else { blank };
        assert_eq!(words(format!("[A{blank}\"b\"]{blank}\n[C \"d\"]\ne4")), "[A=b] [C=d] e4 |", "{blank:?}");
    }
    // In the character set of Windows.
    assert_eq!(words(b"1.\xa0e4 1\x85e5\xa02. \xe0\xa0d4"), "e4 e5 \u{fffd} d4 |");
    // Within a word an invisible character is none.
    assert_eq!(
        words("N\u{200b}f3 O-O\u{ad}-O e8\u{200b}=Q e4\u{200b}e5"),
        "N\u{200b}f3 O-O\u{ad}-O e8\u{200b}=Q e4 e5 |"
    );
    // However many there are, each is looked at once.
    for text in
        ["a\u{200b}".repeat(1 << 16), "a".to_owned() + &"\u{200b}".repeat(1 << 20)].map(|text| text + "b")
    {
        assert_eq!(words(&text), format!("{text} |"));
    }
}

#[test]
fn zeros_are_castling_or_a_result() {
    for (text, expected) in [
        ("4. 0-0 0-0-0+ 00 000 0\u{2013}0 0-0!", "0-0 0-0-0+ 00 000 0\u{2013}0 0-0 $1 |"),
        (
            "1-0 0-1 1/2-1/2 * \u{bd}-\u{bd} 1\u{2013}0 0\u{2014}1",
            "<1-0> <0-1> <1/2-1/2> <*> <1/2-1/2> <1-0> <0-1> |",
        ),
        // Other forms are no words of their own.
        ("1/2 10-0 \u{bd} 1:05 0.5-0.55", "/2 -0 \u{bd} :05 -0 |"),
        (
            "1 - 0 0 \u{2013} 1 1/2 - 1/2 0.5-0.5 0,5 - 0,5 1:0 0 : 1 \u{bd} \u{2212}\u{a0}\u{bd}",
            "<1-0> <0-1> <1/2-1/2> <1/2-1/2> <1/2-1/2> <1-0> <0-1> <1/2-1/2> |",
        ),
        ("0 - 0 O - O - O+ O -o 1 - 0-0", "0 - 0 O - O - O + O -o - 0-0 |"),
        ("1-0e4 1-e4", "<1-0> e4 -e4 |"),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
}

#[test]
fn an_empty_line_or_a_head_ends_a_game() {
    for (text, expected) in [
        ("e4\ne5\n\nd4", "e4 e5 | d4 |"),
        ("e4\r\ne5\r\n\r\nd4", "e4 e5 | d4 |"),
        // Space makes no line.
        ("e4\n \n e5", "e4 | e5 |"),
        ("e4\n\u{a0}\t\ne5", "e4 | e5 |"),
        ("e4\n  [White \"x\"]\n\t[Black y]\n  d4", "e4 | [White=x] [Black=y] d4 |"),
        ("e4 [White \"x\"] d4\u{2028}[White \"y\"]\u{2028}c4", "e4 | [White=x] d4 | [White=y] c4 |"),
        ("e4\n [d4] c5\n[Chess x]\nc6", "e4 c5 c6 |"),
        ("e4\n[White \"x\"]\nd4", "e4 | [White=x] d4 |"),
        ("e4 [White \"x]", "e4 |"),
        ("{\n\n} e4 ; x\n\n% y\nd4", "{\n\n} e4 | d4 |"),
        // Lines for programs are no lines.
        ("% x\ne4\n%e5\nd4 %d5\n% \n\n c4", "e4 d4 %d5 | c4 |"),
        // Files with marks of their byte order, one after another.
        ("\u{feff}e4\n\n\u{feff}\n[White \"x\"]\nd4", "e4 | [White=x] d4 |"),
        ("e4 {no end\n\n", "e4 {! |"),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
}

#[test]
fn tags_are_read_however_they_are_written() {
    for (text, expected) in [
        ("[A \"b\"] [C \"d\"]\n\n[E \"f\"]\n\ne4", "[A=b] [C=d] [E=f] e4 |"),
        ("[A\"b\"]\r\n[C  \"d\" ]\r\ne4", "[A=b] [C=d] e4 |"),
        (r#"[A "b\"c\\d\e\\"]"#, r#"[A=b"c\d\e\] |"#),
        ("[A \"b \"c\" d\"]\n[E \"f\" [G \"h\"]", "[A=b \"c\" d] [E=f] [G=h] |"),
        // Without its end a value ends with the line.
        ("[A \"b\n[C \"d\"\n[E \"f", "[A=b] [C=d] [! |"),
        // In other forms, where their meaning is certain.
        ("[FEN x y/z]\n[A 'b']\n[\"C\" \"d\"]\n[ E  \u{201c}f\u{201d} ]", "[FEN=x y/z] [A=b] [C=d] [E=f] |"),
        ("[A b\"]\n[C: d]\n[E = \"f\"]\n[G \\\"h\\\"]\n", "[A=b] [C=d] [E=f] [G=h] |"),
        ("[A\u{a0}\"b\"]\n[C x [y] z] [E f] e4", "[A=b] [C=x [y] z] [E=f] e4 |"),
        ("[]\n[ ]\n[\"\"]\n[A \"\"]\ne4", "[A=] e4 |"),
        // Without a value it is no tag.
        ("[A]\n[B\n[C \"d\"]\ne4", "[C=d] e4 |"),
        ("[] \"x\"]\n[C \"d\"]\n[] x] [E \"f\"]\n[] e4", "[C=d] [E=f] e4 |"),
        ("[A \"b\"]x\n[C \"d\"y]\n", "[A=b] x |"),
        ("[A \"b\"]\n% [C \"d\"]\n[E \"f\"]", "[A=b] [E=f] |"),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
    let tag = |len: usize| format!("[A \"{}\"]\ne4", "x".repeat(len));
    assert!(words(tag(MAX_TAG_LEN - 4)).ends_with("] e4 |"));
    assert_eq!(words(tag(MAX_TAG_LEN - 3)), "[A=?] e4 |");
    assert_eq!(
        words("x".repeat(MAX_TAG_LEN) + "\n\n[" + &"x".repeat(MAX_TAG_LEN) + "\ne4").split(' ').next_back(),
        Some("|")
    );
}

/// Where the second game of a text is found, after this many words of the first.
fn skipped(text: &str, words: usize) -> Option<&str> {
    let mut lexer = Lexer::new(text.as_bytes(), 0);
    lexer.find_game();
    std::iter::repeat_with(|| lexer.next_word()).take(words).for_each(drop);
    lexer.skip_moves();
    lexer.find_game().then(|| str::from_utf8(lexer.rest()).unwrap())
}

#[test]
fn moves_are_skipped_up_to_where_they_end() {
    for (text, next) in [
        ("e4 e5 d4", None),
        ("e4 e5 {\n\nx} d4\n\n \n", None),
        ("e4 e5 {\n\nx} ;{\nd4\n%{\n\nx", Some("x")),
        ("e4 e5\n[White", None),
        ("e4 e5\n[White x", Some("[White x")),
        ("e4 e5 {no end\n\n[White", None),
        ("e4 e5 {\n\n}\r\n\r\nx", Some("x")),
    ] {
        assert_eq!(skipped(text, 2), next, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_to_its_end(text in prop::collection::vec(any::<u8>(), 0..400)) {
        words(&text);
    }

    #[test]
    fn skipped_moves_end_where_those_that_are_read_do(text in "[e4 \n\r{};%\\[x1.*-]{0,40}", at in 0..3_usize) {
        let mut lexer = Lexer::new(text.as_bytes(), 0);
        lexer.find_game();
        // Not where moves have ended already.
        for _ in 0..at {
            prop_assume!(!matches!(lexer.next_word().1, Token::End | Token::Unterminated));
        }
        let mut skipping = lexer.clone();
        skipping.skip_moves();
        loop {
            match lexer.next_word().1 {
                Token::End => break,
                Token::Unterminated => break lexer.skip_moves(),
                _ => {}
            }
        }
        prop_assert_eq!(lexer.find_game(), skipping.find_game());
        prop_assert_eq!(lexer.at(), skipping.at());
    }
}

/// A text made of pieces of games.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "1",
        "12",
        "0",
        "1.0",
        ".",
        "...",
        " ",
        "\n",
        "\r\n",
        "\t",
        "e4",
        "Nf3",
        "O-O",
        "o-o",
        "O - O",
        "Qxe5+",
        "b8=Q",
        "a",
        "N",
        "!",
        "$3",
        "{x}",
        "(",
        ")",
        "*",
        "1-0",
        "½",
        "\u{a0}",
        ";",
        "[",
        "]",
        "\"",
        "\\",
        "[A \"b\"]",
        "[White \"B C\"]\n[",
        "[A  \"b\"]",
        "_",
        "%",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(2000, 20_000)))]

    #[test]
    fn usual_words_and_tags_are_those_that_are_read_without_haste(text in pieces()) {
        let state = |lexer: &Lexer<'_>| (lexer.at, lexer.apart, lexer.number, lexer.dotted, lexer.close);
        for at in 0..=text.len() {
            let (mut quick, mut whole) = (Lexer::new(&text, at), Lexer::new(&text, at));
            match quick.usual_word() {
                Some((at, word)) => prop_assert_eq!((at, Token::Word(word)), whole.next_word()),
                None => prop_assert_eq!(quick.at, at),
            }
            if quick.at > at {
                prop_assert_eq!(state(&quick), state(&whole));
            }
            let (mut quick, mut whole) = (Lexer::new(&text, at), Lexer::new(&text, at));
            match quick.usual_tag() {
                Some((name, value)) => prop_assert_eq!(Some(Ok((name, value.into()))), whole.tag()),
                None => prop_assert_eq!(quick.at, at),
            }
            if quick.at > at {
                prop_assert_eq!(state(&quick), state(&whole));
            }
        }
    }
}
