//! The protocol's text: lines, words, commands of a GUI, replies of an engine, and our own replies.
//!
//! Our own lines are tested against those of vampirc-uci. Lines of others are read word by word: they are forwarded
//! unchanged, and reading them must neither fail nor be expensive.

mod command;
mod lines;
mod option_line;
mod reply;
mod score;

pub use command::{Clock, Command, Go, SetOption, position_moves, same_name};
pub use lines::{Lines, Part, Piece};
pub use option_line::option_with_default;
pub use reply::{
    Reply, bestmove, book_info, id_name, info_string, notice, noticed, option_name, option_type,
};
pub use score::Score;

/// The words of a line, separated by any white space.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// A line without the white space and line ends around it.
pub fn trim(line: &[u8]) -> &[u8] {
    line.trim_ascii()
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
