//! Words of commands that are advised, as a shell takes them.

use std::borrow::Cow;

/// A word in quotes if a shell would not take it as one word otherwise: in single ones where shells know these.
pub fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./\\:=+,@%-".contains(&byte) || byte >= 0x80;
    let is_safe = !word.is_empty() && word.bytes().all(is_plain) && (cfg!(windows) || !word.contains('\\'));
    if is_safe {
        Cow::Borrowed(word)
    } else if cfg!(windows) {
        Cow::Owned(format!("\"{word}\""))
    } else {
        Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_a_shell_would_change_are_in_quotes() {
        assert_eq!(quoted("games/a-b_1.bin"), "games/a-b_1.bin");
        assert_eq!(quoted("M\u{fc}ller.bin"), "M\u{fc}ller.bin");
        for (word, unix) in
            [("My book.bin", "'My book.bin'"), ("it's", r"'it'\''s'"), ("", "''"), ("$a", "'$a'")]
        {
            let expected = if cfg!(windows) { format!("\"{word}\"") } else { unix.to_owned() };
            assert_eq!(quoted(word), expected);
        }
    }
}
