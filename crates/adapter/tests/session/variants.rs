//! Variants of chess: their own books answer there, and no others.

use super::dialogues::{play, session};
use super::library::polyglot;

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
