//! What a visitor receives from texts of games, sound and broken.

mod keyed;
mod linear;
mod order;
mod people;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Move, Position as _};

use tabiya_chess::{Position, Variant};

use super::Pgn;
use crate::{GameEnd, GameError, GameHeader, Reason, Visitor};

/// What a visitor received of one game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Received {
    names: String,
    start: Option<String>,
    moves: String,
    result: Option<&'static str>,
    error: Option<(Reason, String)>,
    unreadable: bool,
    line: u64,
    /// Bytes of its text.
    length: u64,
}

#[derive(Default)]
struct Listener {
    games: Vec<Received>,
    /// Plies after which a game is broken off.
    most: Option<usize>,
    unwanted: bool,
    open: bool,
    /// A side may pass.
    passes: bool,
    /// The tags of the last game, if all are wanted.
    tags: Option<Vec<(String, String)>>,
}

impl Visitor for Listener {
    fn wants_all_tags(&self) -> bool {
        self.tags.is_some()
    }

    fn begin(&mut self, game: &GameHeader) -> bool {
        assert!(!self.open, "a game begins within another");
        self.tags.iter_mut().for_each(|tags| tags.clone_from(&game.tags));
        if self.unwanted {
            return false;
        }
        self.open = true;
        let crate::LineOrGame::Line(line) = game.place.spot else { panic!() };
        self.games.push(Received {
            names: format!("{} - {}", game.white, game.black),
            start: game.start.as_ref().map(Position::fen),
            line,
            length: game.place.length,
            ..Received::default()
        });
        true
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        assert!(self.open && at.chess().is_legal(mv));
        let game = self.games.last_mut().unwrap();
        if !game.moves.is_empty() {
            game.moves.push(' ');
        }
        game.moves += &UciMove::from_move(mv, CastlingMode::Chess960).to_string();
        match self.most {
            Some(most) if game.moves.split(' ').count() >= most => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn pass(&mut self) -> bool {
        let game = self.games.last_mut().unwrap();
        if self.passes {
            game.moves.push_str(" --");
        }
        self.passes
    }

    fn end(&mut self, end: GameEnd) {
        assert!(std::mem::take(&mut self.open));
        let game = self.games.last_mut().unwrap();
        game.result = end.result.map(crate::GameResult::as_pgn);
        game.error = end.error.map(|error| (error.reason, error.to_string()));
    }

    fn unreadable(&mut self, error: GameError) {
        assert!(!self.open);
        let error = Some((error.reason, error.to_string()));
        self.games.push(Received { error, unreadable: true, ..Received::default() });
    }
}

#[test]
fn a_side_passes_where_the_visitor_goes_on_and_it_is_not_in_check() {
    for (text, passes, moves, has_error) in [
        ("1. e4 -- 2. d4 e5 *", true, "e2e4 -- d2d4 e7e5", false),
        ("1. e4 -- 2. d4 e5 *", false, "e2e4", true),
        // A pawn that was pushed before cannot be taken any more.
        ("1. e4 a6 2. e5 d5 3. -- -- 4. exd6 *", true, "e2e4 a7a6 e4e5 d7d5 -- --", true),
        ("1. e4 f5 2. Qh5+ -- *", true, "e2e4 f7f5 d1h5", true),
    ] {
        let mut listener = Listener { passes, ..Listener::default() };
        let mut pgn = Pgn::new(Arc::from(Path::new("a.pgn")), text.as_bytes());
        while let Some(batch) = pgn.next_batch() {
            batch.play(&mut listener);
        }
        let [game] = &listener.games[..] else { panic!("{text}") };
        assert_eq!((&*game.moves, game.error.is_some()), (moves, has_error), "{text}");
    }
}

#[test]
fn a_visitor_may_want_all_tags() {
    let text: &[u8] = b"[White \"A\"]\n\n1. e4 *\n\n[Event \"?\"]\n[X_1 \"H\xfcbner, \\\"R\\\"\"]\n[White \" B \"]\n\n1. d4 *\n";
    for (tags, expected) in [
        (None, None),
        (Some(Vec::new()), Some(vec![("Event", "?"), ("X_1", "H\u{fc}bner, \"R\""), ("White", "B")])),
    ] {
        let mut listener = Listener { tags, ..Listener::default() };
        let mut pgn = Pgn::new(Arc::from(Path::new("a.pgn")), text);
        while let Some(batch) = pgn.next_batch() {
            batch.play(&mut listener);
        }
        assert_eq!(listener.games.len(), 2);
        let known = |tags: Vec<(&str, &str)>| -> Vec<(String, String)> {
            tags.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
        };
        assert_eq!(listener.tags, expected.map(known));
    }
}

#[test]
fn a_game_is_as_long_as_its_text_whatever_its_first_tag_is() {
    let texts = [
        "[White \"A\"]\n[Result \"1-0\"]\n\n1. e4 {odd\n[%clk 1] [x]} 1-0\n\n",
        "[Black \"B\"]\n\n1. d4 *\n\n",
        "[Event \"?\"]\n[Black \"C\"]\n\n1. c4 *\n",
        "[Event \"?\"]\n\n1. c4 *\n",
    ];
    let lengths: Vec<_> = games(texts.concat()).iter().map(|game| game.length).collect();
    assert_eq!(lengths, texts.map(|text| text.len() as u64));
}

fn listen(text: &[u8], mut listener: Listener) -> Listener {
    let mut pgn = Pgn::new(Arc::from(Path::new("a.pgn")), text);
    let mut shown = 0;
    while let Some(batch) = pgn.next_batch() {
        shown += batch.play(&mut listener);
    }
    assert!(!listener.open);
    // The rest of a file is no game.
    let is_game = |game: &&Received| !matches!(game.error, Some((reason, _)) if reason.is_of_file());
    assert!(listener.unwanted || shown as usize == listener.games.iter().filter(is_game).count());
    listener
}

fn games(text: impl AsRef<[u8]>) -> Vec<Received> {
    listen(text.as_ref(), Listener::default()).games
}

/// Moves and result of each game; what went wrong instead of the result.
fn short(text: impl AsRef<[u8]>) -> Vec<(String, String)> {
    let what = |game: &Received| match &game.error {
        Some((reason, _)) => reason.to_string(),
        None => game.result.unwrap_or("*").to_owned(),
    };
    games(text).iter().map(|game| (game.moves.clone(), what(game))).collect()
}

fn expect(text: &str, expected: &[(&str, &str)]) {
    let expected: Vec<_> = expected.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect();
    assert_eq!(short(text), expected, "{text}");
    // Windows' line ends change nothing.
    assert_eq!(short(text.replace('\n', "\r\n")), expected, "{text}");
}

#[test]
fn games_have_their_heads_moves_and_results() {
    let text = b"\xef\xbb\xbf[Event \"A\"]\n[White \"H\xfcbner\"]\n[Black \"O\\\"Kelly\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n\n\
        [Event \"B\"]\n[White \"?\"]\n[Black \"L\xc3\xa9ko\"]\n[Result \"1/2-1/2\"]\n\n1. d4 {x} (1. c4) d5 $1 1/2-1/2\n";
    let received = games(text);
    let names: Vec<_> = received.iter().map(|game| (game.names.as_str(), game.line)).collect();
    assert_eq!(names, [("Hübner - O\"Kelly", 1), (" - Léko", 8)]);
    assert_eq!(
        short(text),
        [("e2e4 e7e5 g1f3".to_owned(), "1-0".to_owned()), ("d2d4 d7d5".to_owned(), "1/2-1/2".to_owned())]
    );
}

#[test]
fn the_result_of_the_header_goes_before_that_after_the_moves() {
    expect("[Result \"1-0\"]\n\n1. e4 0-1\n", &[("e2e4", "1-0")]);
    expect("[Result \"*\"]\n\n1. e4 0-1\n", &[("e2e4", "0-1")]);
    expect("[Result \"*\"]\n\n1. e4 *\n", &[("e2e4", "*")]);
    expect("[White \"a\"]\n\n1. e4", &[("e2e4", "*")]);
}

#[test]
fn games_without_heads_are_separated() {
    expect(
        "1. e4 e5 *\n\n1. d4 d5 1-0\n\n1. c4\n\n1. b4",
        &[("e2e4 e7e5", "*"), ("d2d4 d7d5", "1-0"), ("c2c4", "*"), ("b2b4", "*")],
    );
    expect("; a list of lines\n\n% more\n\n1. e4 *", &[("e2e4", "*")]);
}

#[test]
fn an_empty_line_within_the_moves_does_not_end_the_game() {
    expect(
        "[Event \"A\"]\n[Result \"1-0\"]\n\n1. e4 e5\n\n2. Nf3 Nc6\n\n{x\n\n}\n3. Bb5 1-0\n\n[Event \"B\"]\n\n1. d4 *\n",
        &[("e2e4 e7e5 g1f3 b8c6 f1b5", "1-0"), ("d2d4", "*")],
    );
}

#[test]
fn a_broken_game_gives_the_moves_before_and_the_next_one_comes() {
    let next = "\n\n[Event \"B\"]\n\n1. d4 *\n";
    for (moves, before, reason) in [
        ("1. e4 e5 2. Ke3 Nc6", "e2e4 e7e5", "illegal move"),
        ("1. Nf3 d5 2. Nc3 d4 3. Nb1 a6 4. Nd2", "g1f3 d7d5 b1c3 d5d4 c3b1 a7a6", "illegal move"),
        ("1. e4 e5 2. Sf3 Sc6", "e2e4 e7e5", "unreadable move"),
        ("1. d4 Cf6 2. d5", "d2d4", "unreadable move"),
        ("1. d4 d5 2. Lf4", "d2d4 d7d5", "unreadable move"),
        ("1. e4 -- 2. d4", "e2e4", "null move"),
        ("1. e4 {no end", "e2e4", "unterminated comment or variation"),
        ("1. e4 (1. d4\n\nd5", "e2e4", "unterminated comment or variation"),
    ] {
        let text = format!("[Event \"A\"]\n[Result \"*\"]\n\n{moves}{next}");
        expect(&text, &[(before, reason), ("d2d4", "*")]);
    }
}

#[test]
fn a_problem_names_its_line_and_the_move() {
    let received = games("[Event \"A\"]\n[Result \"*\"]\n\n1. e4 e5\n2. Nf3 {x}\nKe5 *\n");
    let (_, error) = received[0].error.clone().unwrap();
    assert_eq!(error, "a.pgn: line 6: 2... \"Ke5\": the move is not legal (byte 46)");
    let received = games("[Event \"A\"]\n\n1. e4 e5\n\n2. Sf3 *\n");
    let (_, error) = received[0].error.clone().unwrap();
    assert_eq!(error, "a.pgn: line 5: 2. \"Sf3\": this is not a move in standard notation (byte 26)");
}

#[test]
fn moves_in_other_notations_are_played_where_they_mean_one() {
    let moves = "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 e1h1 f6e4 f1e1 e4f6";
    for text in [
        "1. e2e4 e7e5 2. g1f3 b8c6 3. f1c4 g8f6 4. e1g1 f6e4 5. f1e1 e4f6",
        "1. e2-e4 e7-e5 2. Ng1-f3 Nb8-c6 3. Bf1-c4 Ng8-f6 4. 0-0 Nf6xe4 5. Rf1-e1 Ne4-f6",
        "1. e4 e5 2. Nf3+- Nc6?! 3. Bc4∞ Nf6 (3... o-o) 4. O-O N:e4 $1 5. Re1 {e2-e4} Nf6",
        "1.♙e4 ♟e5 2.♘f3 ♞c6 3.♗c4 ♘f6 4.o-o ♘xe4 5.♖e1 ♞f6",
        "1. e4 e5 2. Nf3, Nc6, 3. Bc4 Nf6 4. 00 Ne4 5. Re1 Nf6N",
    ] {
        expect(&format!("[Event \"A\"]\n\n{text} 1-0\n"), &[(moves, "1-0")]);
        expect(&format!("{text}\n\n{text} 1/2-1/2\n"), &[(moves, "*"), (moves, "1/2-1/2")]);
    }
    let fen = "3r4/P1P3k1/8/2Pp4/8/8/8/4K3 w - d6 0 1";
    for (moves, played) in [
        ("a8Q d8c8", "a7a8q d8c8"),
        ("a8(Q) Rd8-c8", "a7a8q d8c8"),
        ("a8=(Q) (a8(R) Rc8) Rc8", "a7a8q d8c8"),
        ("c7d8R Kf6", "c7d8r g7f6"),
        ("cxd8/Q d4", "c7d8q d5d4"),
        ("c5xd6e.p. R:d6", "c5d6 d8d6"),
        ("cxd6 e.p. Rxd6", "c5d6 d8d6"),
    ] {
        expect(&format!("[FEN \"{fen}\"]\n\n1. {moves} *\n"), &[(played, "*")]);
    }
    // Of several the rest of the game is lost, and not more.
    let received = games(format!("[FEN \"{fen}\"]\n\n1. a8 Rc8 *\n\n[Event \"B\"]\n\n1. d4 *\n"));
    let error = received[0].error.as_ref().unwrap();
    assert_eq!(error.1, "a.pgn: line 3: 1. \"a8\": the move is ambiguous (byte 51)");
    assert_eq!((received[0].moves.as_str(), received[1].moves.as_str()), ("", "d2d4"));
}

#[test]
fn strange_words_are_played_wherever_they_are_in_a_long_game() {
    let plain = ["Nf3", "Nf6", "Ng1", "Ng8"];
    let strange = ["Ng1-f3", "g8f6", "♘g1", "Nf6-g8"];
    let expected =
        ["g1f3", "g8f6", "f3g1", "f6g8"].iter().cycle().take(300).copied().collect::<Vec<_>>().join(" ");
    for places in [&[0][..], &[63, 64, 65], &[62, 63], &[64], &[127, 128, 191, 299], &[298, 299], &[]] {
        let word = |ply: usize| if places.contains(&ply) { strange[ply % 4] } else { plain[ply % 4] };
        let moves: Vec<_> = (0..300).map(word).collect();
        let text = format!("{}\n\n{}\n\n1. d2-d4 *\n", moves.join(" "), moves.join(" "));
        let text = format!("[White \"x\"]\n\n{text}");
        // Without the number of a first move the second text goes on with the first.
        let received = short(&text);
        assert_eq!(received.len(), 2, "{places:?}");
        assert_eq!(received[0].0, format!("{expected} {expected}"), "{places:?}");
        assert_eq!(received[1].0, "d2d4");
    }
}

#[test]
fn a_strange_word_of_the_next_game_does_not_touch_this_one() {
    expect("1. e4 e5\n\n1. Sf3 d5 *\n", &[("e2e4 e7e5", "*"), ("", "damaged")]);
    expect("1. e4 e5 *\n\n1. d2-d4 d7-d5 0-1\n", &[("e2e4 e7e5", "*"), ("d2d4 d7d5", "0-1")]);
    expect("1. e4 e5 *\n\n1. d2-d4 Sf6 0-1\n", &[("e2e4 e7e5", "*"), ("d2d4", "unreadable move")]);
}

#[test]
fn results_are_read_in_every_form() {
    for (written, result) in [
        ("1:0", "1-0"),
        ("0:1", "0-1"),
        ("½-½", "1/2-1/2"),
        ("½:½", "1/2-1/2"),
        ("1/2", "1/2-1/2"),
        ("1/2:1/2", "1/2-1/2"),
    ] {
        expect(&format!("[Result \"{written}\"]\n\n1. e4 e5\n"), &[("e2e4 e7e5", result)]);
        expect(&format!("[Result \"*\"]\n\n1. e4 e5 {written}\n\n"), &[("e2e4 e7e5", result)]);
        let two = format!("1. e4 e5 {written}\n\n1. d4 *\n");
        expect(&two, &[("e2e4 e7e5", result), ("d2d4", "*")]);
    }
}

#[test]
fn a_game_that_both_lost_does_not_end_with_castling() {
    let castling = "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6";
    let text = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6";
    for both in ["0-0", "0:0"] {
        expect(&format!("[Result \"{both}\"]\n\n{text} 0-0\n"), &[(castling, "*")]);
        expect(&format!("[Result \"{both}\"]\n\n1. e4 e5 {both}\n"), &[("e2e4 e7e5", "*")]);
    }
    expect("1. e4 e5 0-0\n\n1. d4 *\n", &[("e2e4 e7e5", "*"), ("d2d4", "*")]);
    // Without that head, and where it is legal or more follows, it is castling.
    let castled = format!("{castling} e1h1");
    expect(&format!("[Result \"*\"]\n\n{text} 4. 0-0\n"), &[(&castled, "*")]);
    expect(&format!("[Result \"*\"]\n\n{text} 0-0\n"), &[(castling, "*")]);
    expect(&format!("[Result \"0-0\"]\n\n{text} 0-0 0-0\n"), &[(&castled, "*")]);
    expect(&format!("[Result \"0-0\"]\n\n{text} 0-0 0-0 d6\n"), &[(&castled, "illegal move")]);
    expect("1. e4 0-0 2. d4 *", &[("e2e4", "illegal move")]);
}

#[test]
fn a_file_that_ends_in_a_head_says_so() {
    let game = "[Event \"A\"]\n\n1. e4 *\n\n";
    for cut in [
        "[",
        "[Ev",
        "[Event \"B",
        "[Event \"B\"",
        "[Event \"B\"]",
        "[Event \"B\"]\n",
        "[Event \"B\"]\n[White \"x",
    ] {
        let text = format!("{game}{cut}");
        expect(&text, &[("e2e4", "*"), ("", "truncated file")]);
        assert_eq!(
            games(&text)[1].error.as_ref().unwrap().1,
            "a.pgn: line 5: the file ends inside the tags of this game: the games before it are used (byte 22)"
        );
    }
    expect(&format!("{game}[Event \"B\"]\n\n"), &[("e2e4", "*"), ("", "*")]);
    expect("[Event \"B\"", &[("", "truncated file")]);
}

#[test]
fn set_up_positions_and_chess960_are_played_from_their_start() {
    let fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    let received = games(format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n\n1. O-O *\n"));
    assert_eq!((received[0].start.as_deref(), received[0].moves.as_str()), (Some(fen), "e1h1"));
    let text = "[Variant \"chess 960\"]\n[FEN \"7k/p7/8/8/8/8/8/1R3KR1 w GB - 0 1\"]\n\n1. O-O a5 2. Rbe1\n";
    assert_eq!(games(text)[0].moves, "f1g1 a7a5 b1e1");
    // Without the tag, the files of the rooks show it.
    assert_eq!(games(text.replace("[Variant \"chess 960\"]\n", ""))[0].moves, "f1g1 a7a5 b1e1");
    for (head, reason) in [
        ("[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]", Reason::BadPosition),
        ("[FEN \"what\"]", Reason::BadPosition),
        ("[Variant \"Crazyhouse\"]", Reason::OtherVariant),
    ] {
        let received = games(format!("[Event \"A\"]\n{head}\n\n1. e4 *\n\n[Event \"B\"]\n\n1. d4 *\n"));
        assert!(received[0].unreadable);
        assert_eq!(received[0].error.as_ref().unwrap().0, reason);
        assert_eq!(received[1].moves, "d2d4");
    }
}

/// The games of a variant, and why the others are left out.
fn of_variant(text: &str, variant: Variant) -> Vec<(String, Option<Reason>)> {
    let mut listener = Listener::default();
    let mut pgn = Pgn::new(Arc::from(Path::new("a.pgn")), text.as_bytes()).of_variant(variant);
    while let Some(batch) = pgn.next_batch() {
        batch.play(&mut listener);
    }
    let received = listener.games.into_iter();
    received.map(|game| (game.moves, game.error.map(|(reason, _)| reason))).collect()
}

#[test]
fn games_of_one_variant_are_read_by_its_rules_and_others_left_out() {
    let game = |variant: &str, moves: &str| format!("[Event \"A\"]\n{variant}\n{moves} *\n\n");
    let tag = |name: &str| format!("[Variant \"{name}\"]\n");
    let left_out = (String::new(), Some(Reason::OtherVariant));
    let read = |moves: &str| (moves.to_owned(), None);
    // What the start is, each variant knows.
    let horde = game(&tag("horde"), "1. e5 d6 2. exd6 exd6");
    let kings = game(&tag("Racing Kings"), "1. Bc5 Bd3");
    let plain = game("", "1. e4 e5");
    let text = format!("{horde}{kings}{plain}1. d4 d5 *\n");
    assert_eq!(
        of_variant(&text, Variant::Horde),
        [read("e4e5 d7d6 e5d6 e7d6"), left_out.clone(), left_out.clone(), left_out.clone()]
    );
    let kings = [left_out.clone(), read("f2c5 c2d3"), left_out.clone(), left_out.clone()];
    assert_eq!(of_variant(&text, Variant::RacingKings), kings);
    let plain = [left_out.clone(), left_out.clone(), read("e2e4 e7e5"), read("d2d4 d7d5")];
    assert_eq!(of_variant(&text, Variant::Chess), plain);
    // Drops, and a king that a pawn becomes. No sign of a check is asked for.
    let fen = "[FEN \"4k3/P7/8/8/8/8/8/4K3[NPp] w - - 0 1\"]\n[SetUp \"1\"]\n";
    let drops = game(&(tag("Crazyhouse") + fen), "1. N@f3 @d5 2. P@e4 dxe4");
    assert_eq!(of_variant(&drops, Variant::Crazyhouse), [read("N@f3 P@d5 P@e4 d5e4")]);
    let fen = "[FEN \"8/P6k/8/8/8/8/8/8 w - - 0 1\"]\n";
    for mv in ["a8=K", "a8K", "a8(K)"] {
        let king = game(&(tag("Giveaway") + fen), &format!("1. {mv} Kg8"));
        assert_eq!(of_variant(&king, Variant::Antichess), [read("a7a8k h7g8")], "{mv}");
    }
    // Antichess has no castling: the game is cut there.
    let castles = game(&tag("suicide"), "1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-O O-O");
    let cut = of_variant(&castles, Variant::Antichess);
    assert_eq!(cut, [("g1f3 g8f6 g2g3 g7g6 f1g2 f8g7".to_owned(), Some(Reason::IllegalMove))]);
    // Nobody passes where capturing or being checked may decide.
    assert_eq!(of_variant(&game(&tag("Atomic"), "1. e4 --"), Variant::Atomic)[0].0, "e2e4");
}

#[test]
fn an_ordinary_start_that_a_tag_names_is_no_set_up_position() {
    let fen = Position::start_of(Variant::Horde).fen();
    let text = format!("[Variant \"Horde\"]\n[FEN \"{fen}\"]\n[SetUp \"1\"]\n\n1. e5 *\n");
    let mut listener = Listener::default();
    let mut pgn = Pgn::new(Arc::from(Path::new("a.pgn")), text.as_bytes()).of_variant(Variant::Horde);
    pgn.next_batch().unwrap().play(&mut listener);
    assert_eq!((listener.games[0].start.clone(), listener.games[0].moves.as_str()), (None, "e4e5"));
}

#[test]
fn unwanted_games_and_moves_are_left_out() {
    let text = "[Event \"A\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3\n\n2... Nc6 1-0\n\n".repeat(3);
    let listener = listen(text.as_bytes(), Listener { most: Some(2), ..Listener::default() });
    assert!(listener.games.iter().all(|game| game.moves == "e2e4 e7e5" && game.result == Some("1-0")));
    assert_eq!(listener.games.len(), 3);
    // The result is still found where only the end of the moves has it.
    let text = text.replace("[Result \"1-0\"]\n", "");
    let listener = listen(text.as_bytes(), Listener { most: Some(2), ..Listener::default() });
    assert!(listener.games.iter().all(|game| game.moves == "e2e4 e7e5" && game.result == Some("1-0")));
    assert_eq!(listener.games.len(), 3);
    let listener = listen(text.as_bytes(), Listener { unwanted: true, ..Listener::default() });
    assert_eq!(listener.games, []);
}

#[test]
fn giants_are_skipped_and_what_follows_comes() {
    let next = "\n\n[Event \"B\"]\n\n1. d4 *\n";
    let tag = format!("[Event \"A\"]\n[White \"{}\"]\n\n1. e4 *{next}", "x".repeat(1 << 20));
    let received = games(tag);
    let moves: Vec<_> = received.iter().map(|game| (game.moves.as_str(), game.error.is_some())).collect();
    assert_eq!(moves, [("e2e4", false), ("d2d4", false)]);
    let parentheses = format!("[Event \"A\"]\n\n1. e4 {} e5{next}", "(".repeat(200_000));
    let received = games(parentheses);
    assert_eq!(received[0].error.as_ref().unwrap().0, Reason::Unterminated);
    assert_eq!((received[0].moves.as_str(), received[1].moves.as_str()), ("e2e4", "d2d4"));
    let knights = "Nf3 Nf6 Ng1 Ng8 ".repeat(1250);
    let received = games(format!("[Event \"A\"]\n\n{knights}*{next}"));
    assert_eq!(received[0].moves.split(' ').count(), 5000);
    assert_eq!(received.len(), 2);
    let endless = format!("[Event \"A\"]\n\n1. e4 {}{next}", "no-move ".repeat(9 << 18));
    let received = games(endless);
    assert_eq!(received[0].error.as_ref().unwrap().0, Reason::TooLarge);
    assert_eq!((received.len(), received[1].moves.as_str()), (2, "d2d4"));
}

#[test]
fn decoration_is_passed_over_and_words_that_may_be_moves_are_not() {
    let moves = "e2e4 e7e5";
    for decoration in
        ["N", "+-", "=", "D", "\u{b1}", "e.p.", "O-O-x", "}", ")", "1.", "1...", "[x]", "$7", "?!", "rook"]
    {
        expect(&format!("[Event \"A\"]\n\n1. e4 {decoration} e5 1-0\n"), &[(moves, "1-0")]);
    }
    for (word, reason) in [
        ("Sf3", "unreadable move"),
        ("Nxxf3", "unreadable move"),
        ("e4Nf3", "unreadable move"),
        ("0-0Nf3", "unreadable move"),
        ("0-0-1", "unreadable move"),
        ("exd", "illegal move"),
        ("O-O", "illegal move"),
        ("Z0+", "null move"),
        ("00", "illegal move"),
        ("000", "illegal move"),
        ("0000", "null move"),
    ] {
        expect(&format!("[Event \"A\"]\n\n1. e4 {word} e5 1-0\n"), &[("e2e4", reason)]);
        // In a variation, the main line goes on.
        expect(&format!("[Event \"A\"]\n\n1. e4 (1. d4 {word} d5) e5 1-0\n"), &[(moves, "1-0")]);
    }
    // The word is named as it is written, with what follows it.
    let received = games("[Event \"A\"]\n\n1. e4 exd6e.p. *\n");
    let (_, error) = received[0].error.clone().unwrap();
    assert_eq!(error, "a.pgn: line 3: 1... \"exd6e.p.\": the move is not legal (byte 19)");
}

#[test]
fn what_has_no_end_is_named_where_it_begins() {
    for (moves, byte) in [("1. e4 {a {b", 19), ("1. e4 (1. d4 {a {b} e5", 0), ("1. e4 (1. d4 {a", 26)] {
        let received = games(format!("[Event \"A\"]\n\n{moves}"));
        let (reason, error) = received[0].error.clone().unwrap();
        assert_eq!(reason, Reason::Unterminated);
        assert!(error.ends_with(&format!("(byte {byte})")), "{moves}: {error}");
        assert_eq!(received[0].moves, "e2e4");
    }
}

#[test]
fn a_text_that_begins_with_a_move_is_distinguished_from_prose() {
    let damaged = [("", "damaged")];
    for (text, expected) in [
        ("1. e4", &[("e2e4", "*")][..]),
        ("e2-e4", &[("e2e4", "*")]),
        ("1.\u{2658}f3", &[("g1f3", "*")]),
        ("{a} $1 1. Ke5", &[("", "illegal move")]),
        ("1. e4x", &damaged),
        ("A c4", &damaged),
        ("(1. d4) e4", &damaged),
        ("*", &damaged),
        ("a letter", &[]),
        ("1. (e4)", &[]),
    ] {
        expect(text, expected);
    }
}

#[test]
fn text_that_is_no_game_is_counted_once() {
    let received = games("This is a letter about c4 and Sf3.\nIt goes on.\n");
    assert_eq!(received.len(), 1);
    assert!(received[0].unreadable);
    assert_eq!(games(""), []);
    assert_eq!(games("\n\n \n"), []);
}

proptest! {
    /// Random games written out come back, whatever surrounds their moves.
    #[test]
    fn written_games_come_back(
        steps in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..60), 1..6),
        extras in prop::collection::vec(0..8_usize, 1..40),
    ) {
        let mut text = String::new();
        let mut expected = Vec::new();
        let mut extra = extras.iter().cycle();
        for steps in steps {
            let mut position = Position::start();
            let mut moves = Vec::new();
            text += "[Event \"x\"]\n[Result \"0-1\"]\n\n";
            for step in steps {
                let legal = position.chess().legal_moves();
                if legal.is_empty() {
                    break;
                }
                let mv = *step.get(&legal);
                let mut after = position.chess().clone();
                text += &shakmaty::san::SanPlus::from_move_and_play_unchecked(&mut after, mv).to_string();
                moves.push(UciMove::from_move(mv, CastlingMode::Chess960).to_string());
                position.play(mv);
                let dots = position.chess().turn().fold_wb(".", "...");
                let number = format!("{}{dots} ", position.chess().fullmoves());
                let (after, before) = (format!(" {number}"), format!("\n\n{number}"));
                text += [" ", "! ", " {a (b} ", " (Nf3 (e4) {)}) ", "\n", " $3 ", &after, &before][*extra.next().unwrap()];
            }
            text += " 0-1\n\n";
            expected.push((moves.join(" "), "0-1".to_owned()));
        }
        prop_assert_eq!(short(&text), expected);
    }

    /// Any text at all: every game that begins ends, and every move is legal.
    #[test]
    fn no_text_panics(parts in prop::collection::vec(prop::sample::select(vec![
        "[Event \"A\"]\n", "[", "]", "\"", "\n", "\n\n", "{", "}", "(", ")", ";", "%", "1. e4 ", "e5 ", "Nf3 ", "1-0 ", "* ",
        "--", "0-0 ", "O-O", "Sf3 ", "$", "\\", "\u{e9}", "[FEN \"x\"]\n", "[Result \"1-0\"]\n", "1.", "12... ",
    ]), 0..60)) {
        let _ = games(parts.concat());
    }
}
