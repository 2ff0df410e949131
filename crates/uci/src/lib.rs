//! The text of the protocol: lines, words, commands of a GUI, replies of an engine, and our own replies.
//!
//! vampirc-uci writes the `option` lines. The others of our own are written here, and tested against it. Lines
//! of others are read word by word: they are forwarded unchanged, and reading them must neither fail nor be expensive.
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "tests know their numbers"))]

/// An enum of the words that lines begin with.
macro_rules! first_words {
    ($(#[$doc:meta])* pub enum $name:ident { $($variant:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $(#[doc = stringify!($word)] $variant,)*
            /// Any other word: the line is forwarded.
            Other,
        }

        impl $name {
            fn from_word(word: &[u8]) -> Self {
                match word {
                    $($word => Self::$variant,)*
                    _ => Self::Other,
                }
            }
        }
    };
}

mod command;
pub mod engine;
mod info;
mod lines;
mod option_line;
mod reply;

pub use command::{Clock, Command, Go, SetOption};
pub use info::{Info, Score, Wdl};

pub use command::{position_moves, same_name};
pub use lines::{LinePart, LinePiece, LineSplitter};
pub use option_line::{VARIANT, offered_variants, option_with_default};
pub use reply::{
    MAX_OWN_BOOKS, book_info, id_name, info_string, is_own_book, notice, option_default, option_name,
    option_type,
};
pub use reply::{Reply, bestmove};

/// The words of a line, separated by any white space.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Splits a text after its first word: the word, and the rest without leading white space.
pub fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii_start();
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (word, rest.trim_ascii_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_white_space_separates_words() {
        let line = b" go\t wtime  1000 \r\n";
        assert_eq!(words(line).collect::<Vec<_>>(), [&b"go"[..], b"wtime", b"1000"]);
        assert_eq!(split_word(line), (&b"go"[..], &b"wtime  1000 \r\n"[..]));
        assert_eq!(split_word(b"  "), (&b""[..], &b""[..]));
    }
}
