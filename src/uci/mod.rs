//! The protocol's text: lines, words, commands of a GUI, replies of an engine, and our own replies.
//!
//! vampirc-uci is the vocabulary for what tabiya says itself: it writes what is said once, and its words are the
//! measure of what is written here because a move waits for it. What others say is read word by word, because lines
//! are forwarded as they came and a reader may neither fail on them nor cost much.

mod command;
mod lines;
mod option_line;
mod reply;
mod score;

pub use command::{Clock, Command, Go, SetOption, position_moves, same_name};
pub use lines::{Lines, Piece};
pub use option_line::option_with_default;
pub use reply::{
    Reply, bestmove, book_info, id_name, info_string, notice, noticed, option_name, option_type,
};
pub use score::Score;

/// The words of a line, whatever white space separates them.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// A line without white space and line ends around it.
pub fn trim(line: &[u8]) -> &[u8] {
    line.trim_ascii()
}

/// Cuts the first word off a text: the word, and what follows it without white space before it.
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
