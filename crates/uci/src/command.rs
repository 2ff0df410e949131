//! The commands of a GUI.
#![allow(clippy::indexing_slicing, reason = "the rest of a text is not longer than the text")]

use shakmaty::uci::UciMove;

use super::{split_word, words};

first_words! {
    /// The command of a line. Only commands that the adapter acts on have a name.
    pub enum Command {
        Uci b"uci",
        Debug b"debug",
        IsReady b"isready",
        SetOption b"setoption",
        NewGame b"ucinewgame",
        Position b"position",
        Go b"go",
        Stop b"stop",
        PonderHit b"ponderhit",
        Quit b"quit",
        // Forwarded like any other; it has a name because the words before it are skipped.
        Register b"register",
    }
}

impl Command {
    /// Parses a line: its command, the line from the word of the command on, and the rest after that word.
    ///
    /// Unknown words before a command are skipped, as the protocol requires: `joho debug on` is `debug on`. A line
    /// without a command is [`Command::Other`] as a whole.
    pub fn parse(line: &[u8]) -> (Self, &[u8], &[u8]) {
        for (before, word, rest) in split_words(line) {
            let command = Self::from_word(word);
            if command != Command::Other {
                return (command, &line[before.len()..], rest);
            }
        }
        (Command::Other, line, b"")
    }
}

/// A `setoption` line's name and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetOption<'a> {
    /// The name as written.
    pub name: &'a [u8],
    /// The text after the first ` value `; empty if there is none, and for `<empty>`.
    pub value: &'a [u8],
}

impl<'a> SetOption<'a> {
    /// Parses what follows the word `setoption`; `None` if there is no name.
    ///
    /// ```
    /// use tabiya_uci::SetOption;
    /// let option = SetOption::parse(b"name Book File value C:\\my  books\\a.bin\r\n").unwrap();
    /// assert_eq!((option.name, option.value), (&b"Book File"[..], &b"C:\\my  books\\a.bin"[..]));
    /// ```
    pub fn parse(rest: &'a [u8]) -> Option<Self> {
        let (word, text) = split_word(rest.trim_ascii());
        if word != b"name" {
            return None;
        }
        let (name, value) = split_at_word(text, b"value").unwrap_or((text, b""));
        let name = name.trim_ascii();
        let value = if value == b"<empty>" { b"" } else { value };
        (!name.is_empty()).then_some(Self { name, value })
    }

    /// Whether the option has this name, ignoring letter case and repeated spaces.
    pub fn is(&self, name: &str) -> bool {
        same_name(self.name, name.as_bytes())
    }
}

/// Whether two option names are equal, ignoring letter case and repeated spaces.
pub fn same_name(a: &[u8], b: &[u8]) -> bool {
    let mut words_of_b = words(b);
    words(a).all(|word| words_of_b.next().is_some_and(|other| word.eq_ignore_ascii_case(other)))
        && words_of_b.next().is_none()
}

/// The arguments of `go` that decide whether the book may answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// `ponder`: the answer must wait for `ponderhit` or `stop`.
    pub ponder: bool,
    /// `infinite`: the answer must wait for `stop`.
    pub infinite: bool,
    /// `mate`: a search for a mate.
    pub mate: bool,
    /// `perft`: a count of moves that some engines offer, which ends without a bestmove.
    pub perft: bool,
    /// The moves after `searchmoves`, if that argument is given.
    pub searchmoves: Option<Vec<UciMove>>,
    pub clock: Clock,
}

/// The time limits of a `go` line, in milliseconds; `None` if one is missing or is not a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// `wtime`: White's remaining time.
    pub white: Option<u64>,
    /// `btime`: Black's remaining time.
    pub black: Option<u64>,
    /// `movetime`: the time for this move.
    pub movetime: Option<u64>,
}

impl Go {
    /// Parses what follows the word `go`. Unknown words are skipped.
    pub fn parse(rest: &[u8]) -> Self {
        let mut go = Go::default();
        let mut words = words(rest).peekable();
        while let Some(word) = words.next() {
            let read = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<i64>().ok();
            // Some clients send a negative number for a clock that has run out.
            let mut time = || {
                let number = read(words.next_if(|word| read(word).is_some())?)?;
                Some(u64::try_from(number).unwrap_or(0))
            };
            match word {
                b"wtime" => go.clock.white = time(),
                b"btime" => go.clock.black = time(),
                b"movetime" => go.clock.movetime = time(),
                b"ponder" => go.ponder = true,
                b"infinite" => go.infinite = true,
                b"mate" => go.mate = true,
                b"perft" => go.perft = true,
                b"searchmoves" => go.searchmoves = Some(Vec::new()),
                _ => {
                    // No other argument of go looks like a move, so the moves end with the first other word.
                    if let (Some(moves), Ok(mv)) = (&mut go.searchmoves, UciMove::from_ascii(word)) {
                        moves.push(mv);
                    }
                }
            }
        }
        go
    }
}

/// Parses what follows the word `position`: the start (`None` for `startpos`, else a FEN) and the text of the moves.
///
/// `None` if there is neither `startpos` nor `fen`.
pub fn position_moves(rest: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let (_, word, rest) = split_words(rest).find(|(_, word, _)| matches!(*word, b"startpos" | b"fen"))?;
    let (fen, moves) = split_at_word(rest, b"moves").unwrap_or((rest, b""));
    Some(((word == b"fen").then(|| fen.trim_ascii()), moves))
}

/// Splits a text at the first such word: the text before it, and the text after it.
fn split_at_word<'a>(text: &'a [u8], wanted: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let (before, _, rest) = split_words(text).find(|(_, word, _)| *word == wanted)?;
    Some((before, rest))
}

/// Each word of a text: the text before it, the word, and the text after it.
fn split_words(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8], &[u8])> {
    let mut left = text;
    std::iter::from_fn(move || {
        let before = &text[..text.len() - left.len()];
        let (word, rest) = split_word(left);
        left = rest;
        (!word.is_empty()).then_some((before, word, rest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(text: &str) -> Option<(&str, &str)> {
        SetOption::parse(text.as_bytes())
            .map(|o| (std::str::from_utf8(o.name).unwrap(), std::str::from_utf8(o.value).unwrap()))
    }

    #[test]
    fn words_before_a_command_are_skipped() {
        assert_eq!(Command::parse(b"joho debug on\n"), (Command::Debug, &b"debug on\n"[..], &b"on\n"[..]));
        assert_eq!(Command::parse(b"\t isready\r\n").0, Command::IsReady);
        assert_eq!(Command::parse(b"go").0, Command::Go);
        assert_eq!(Command::parse(b"joho\n"), (Command::Other, &b"joho\n"[..], &b""[..]));
        assert_eq!(Command::parse(b"\xff\0\n").0, Command::Other);
        assert_eq!(Command::parse(b"").0, Command::Other);
        assert_eq!(Command::parse(b"GO").0, Command::Other);
    }

    #[test]
    fn an_option_has_a_name_and_a_value() {
        assert_eq!(option("name Hash value 64\n"), Some(("Hash", "64")));
        assert_eq!(option("name  Book   File  value a  b.bin \r\n"), Some(("Book   File", "a  b.bin")));
        assert_eq!(option("name Piece Values value 3 value 4"), Some(("Piece Values", "3 value 4")));
        assert_eq!(option("name Clear Hash"), Some(("Clear Hash", "")));
        assert_eq!(option("name A value"), Some(("A", "")));
        assert_eq!(option("name A value <empty>"), Some(("A", "")));
        assert_eq!(option("name"), None);
        assert_eq!(option("name value 3"), None);
        assert_eq!(option("Hash value 3"), None);
        assert_eq!(option(""), None);
    }

    #[test]
    fn option_names_are_compared_by_their_words() {
        let option = SetOption::parse(b"name BOOK   file value x").unwrap();
        assert!(option.is("Book File"));
        assert!(!option.is("Book"));
        assert!(!option.is("Book File White"));
    }

    #[test]
    fn the_arguments_of_go_come_in_any_order() {
        let clock = Clock { white: Some(1000), black: Some(2000), movetime: None };
        assert_eq!(Go::parse(b"wtime 1000 btime 2000 ponder "), Go { ponder: true, clock, ..Go::default() });
        assert_eq!(Go::parse(b"wtime -3 movetime x").clock, Clock { white: Some(0), ..Clock::default() });
        assert_eq!(Go::parse(b"movetime ponder"), Go { ponder: true, ..Go::default() });
        assert_eq!(Go::parse(b"infinite\n"), Go { infinite: true, ..Go::default() });
        assert_eq!(Go::parse(b"mate 256"), Go { mate: true, ..Go::default() });
        assert_eq!(Go::parse(b"perft 5"), Go { perft: true, ..Go::default() });
        assert_eq!(Go::parse(b" depth 300 nodes 5 movestogo 256 "), Go::default());
        let moves = Go::parse(b"searchmoves e2e4 e7e8q infinite depth 3").searchmoves.unwrap();
        assert_eq!(moves.len(), 2);
        assert_eq!(Go::parse(b"searchmoves").searchmoves, Some(Vec::new()));
    }

    #[test]
    fn a_position_has_a_start_and_moves() {
        assert_eq!(position_moves(b"startpos\n"), Some((None, &b""[..])));
        assert_eq!(position_moves(b"startpos moves  e2e4 e7e5\n"), Some((None, &b"e2e4 e7e5\n"[..])));
        assert_eq!(
            position_moves(b"x fen 8/8 w - - moves e2e4"),
            Some((Some(&b"8/8 w - -"[..]), &b"e2e4"[..]))
        );
        assert_eq!(position_moves(b"fen"), Some((Some(&b""[..]), &b""[..])));
        assert_eq!(position_moves(b"moves e2e4"), None);
        assert_eq!(position_moves(b""), None);
    }
}
