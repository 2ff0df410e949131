//! Moves and FENs on the command line that are not in quotes: a shell makes several words of them.

use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;

/// The options whose value has spaces.
const MOVES: &str = "--moves";
const FEN: &str = "--fen";

/// What is to be written where this command line has moves or a FEN in several words; `None` where it has none.
pub(crate) fn advice(line: &[OsString], command: impl FnOnce() -> Command) -> Option<String> {
    let words: Vec<&str> = line.iter().skip(1).map(|word| word.to_str().unwrap_or_default()).collect();
    let (name, words) = words.split_first()?;
    if !words.iter().any(|word| is_move(word) || is_board(word)) {
        return None;
    }
    let command = command();
    let named = command.get_subcommands().find(|known| known.get_name() == *name)?;
    if !named.get_arguments().any(|argument| argument.get_long() == Some("moves")) {
        return None;
    }
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let (option, value) =
            word.split_once('=').map_or((*word, None), |(option, value)| (option, Some(value)));
        let fits: fn(&str) -> bool = match option {
            MOVES => is_move,
            FEN => is_field,
            _ if word.starts_with('-') => {
                if value.is_none() && takes_value(named, option) {
                    rest = after.get(1..).unwrap_or_default();
                }
                continue;
            }
            _ => {
                let (option, fits): (_, fn(&str) -> bool) =
                    if is_board(word) { (FEN, is_field) } else { (MOVES, is_move) };
                let is_meant = option == FEN || is_move(word);
                if !is_meant || Path::new(word).exists() {
                    continue;
                }
                return Some(format!("{word} is no file: write {}", quoted(option, word, after, fits)));
            }
        };
        let (first, after) = match value {
            Some(value) => (value, after),
            None => after.split_first().map(|(first, after)| (*first, after))?,
        };
        rest = after;
        if after.first().is_some_and(|next| fits(next) && !Path::new(next).exists()) {
            return Some(format!(
                "{option} takes one text in quotes: write {}",
                quoted(option, first, after, fits)
            ));
        }
    }
    None
}

/// Whether the word after an option of a command, in its long or its short form, is its value.
fn takes_value(command: &Command, option: &str) -> bool {
    let long = option.strip_prefix("--");
    let short = option.strip_prefix('-').and_then(|name| name.parse().ok());
    let known = command.get_arguments().find(|known| match long {
        Some(long) => known.get_long() == Some(long),
        None => short.is_some() && known.get_short() == short,
    });
    known.is_some_and(|known| known.get_action().takes_values())
}

/// An option with all that belongs to its value.
fn quoted(option: &str, first: &str, after: &[&str], fits: fn(&str) -> bool) -> String {
    let rest = after.iter().take_while(|word| fits(word)).copied();
    format!("{option} \"{}\"", [first].into_iter().chain(rest).collect::<Vec<_>>().join(" "))
}

/// Whether a word is a move, or the number of one.
fn is_move(word: &str) -> bool {
    let plain = word.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start_matches('.');
    let is_number = plain.is_empty() && word.contains('.');
    is_number || plain.parse::<SanPlus>().is_ok() || plain.parse::<UciMove>().is_ok()
}

/// Whether a word is the first field of a FEN.
fn is_board(word: &str) -> bool {
    word.matches('/').count() == 7 && word.bytes().all(|byte| b"pnbrqkPNBRQK12345678/[]~".contains(&byte))
}

/// Whether a word is a later field of a FEN.
fn is_field(word: &str) -> bool {
    let is_square = word.len() == 2 && word.starts_with(|file| ('a'..='h').contains(&file));
    let is_castling = !word.is_empty() && word.bytes().all(|byte| b"KQkqABCDEFGHabcdefgh".contains(&byte));
    ["w", "b", "-"].contains(&word) || is_square || is_castling || word.parse::<u32>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advised(line: &str) -> Option<String> {
        let words: Vec<OsString> =
            ["tabiya"].into_iter().chain(line.split(' ')).map(OsString::from).collect();
        advice(&words, crate::commands::whole_command)
    }

    #[test]
    fn moves_and_fens_in_several_words_are_told_about_quotes() {
        let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        for (line, right) in [
            ("show b.bin --moves e2e4 e7e5 g1f3", "--moves \"e2e4 e7e5 g1f3\""),
            ("show b.bin --moves 1. e4 e5 2. Nf3 --json", "--moves \"1. e4 e5 2. Nf3\""),
            ("show b.bin --moves=1.e4 e5", "--moves \"1.e4 e5\""),
            ("edit b.bin --moves e2e4 e7e5 --set g1f3=3", "--moves \"e2e4 e7e5\""),
            ("show b.bin e2e4 e7e5", "--moves \"e2e4 e7e5\""),
            ("show --json b.bin 1. O-O", "--moves \"1. O-O\""),
            (&*format!("show b.bin --fen {fen}"), &*format!("--fen \"{fen}\"")),
            (&*format!("show b.bin {fen} --json"), &*format!("--fen \"{fen}\"")),
        ] {
            let said = advised(line).unwrap_or_default();
            assert!(said.ends_with(&format!(": write {right}")), "{line}: {said}");
        }
    }

    #[test]
    fn what_is_right_is_left_alone() {
        for line in [
            "show b.bin",
            "show b.bin c.bin --moves e2e4",
            "show --moves e2e4 Cargo.toml",
            "edit b.bin --delete e2e4",
            "edit b.bin --undo --delete e2e4",
            "show b.bin --json --moves e2e4",
            "edit b.bin --add e2e4=3",
            "check e2e4",
            "--book e4",
            "show",
            "show b.bin --moves",
        ] {
            assert_eq!(advised(line), None, "{line}");
        }
    }
}
