//! The replies of an engine, and the replies that we send instead.
//!
//! Our own lines are written byte by byte, because a book move waits for them. The tests compare them with those of
//! vampirc-uci.

use shakmaty::uci::UciMove;

use super::{split_word, words};

first_words! {
    /// The reply of a line. Only replies that the adapter acts on have a name.
    pub enum Reply {
        Info b"info",
        BestMove b"bestmove",
        ReadyOk b"readyok",
        Option b"option",
        Id b"id",
        UciOk b"uciok",
    }
}

impl Reply {
    /// Parses the first word of a line.
    pub fn parse(line: &[u8]) -> Self {
        Self::from_word(split_word(line).0)
    }
}

/// The name in an `option` line: the words between `name` and `type`.
pub fn option_name(line: &[u8]) -> Vec<u8> {
    words(line)
        .skip_while(|word| *word != b"name")
        .skip(1)
        .take_while(|word| *word != b"type")
        .collect::<Vec<_>>()
        .join(&b' ')
}

/// The type in an `option` line: the word after `type`.
pub fn option_type(line: &[u8]) -> Option<&[u8]> {
    words(line).skip_while(|word| *word != b"type").nth(1)
}

/// How many switches of its own book an engine may list: no engine has more, and memory is bounded.
pub const MAX_OWN_BOOKS: usize = 8;

/// Names (letters only, in lower case) of options that switch an engine's own book on.
const OWN_BOOK_NAMES: [&[u8]; 2] = [b"ownbook", b"usebook"];

/// Whether an `option` line is that of a switch of the engine's own book.
pub fn is_own_book(line: &[u8]) -> bool {
    let mut letters = option_name(line);
    letters.retain(u8::is_ascii_alphabetic);
    letters.make_ascii_lowercase();
    option_type(line) == Some(b"check") && OWN_BOOK_NAMES.contains(&&*letters)
}

/// The default in an `option` line: the words between `default` and the next keyword.
pub fn option_default(line: &[u8]) -> Vec<u8> {
    words(line)
        .skip_while(|word| *word != b"type")
        .skip_while(|word| *word != b"default")
        .skip(1)
        .take_while(|word| ![&b"var"[..], b"min", b"max"].contains(word))
        .collect::<Vec<_>>()
        .join(&b' ')
}

/// The name in a line `id name NAME`; `None` for any other line.
pub fn id_name(line: &[u8]) -> Option<&[u8]> {
    let (id, rest) = split_word(line);
    let (word, name) = split_word(rest);
    (id == b"id" && word == b"name").then(|| name.trim_ascii_end())
}

/// Appends `info string TEXT`. Control characters in the text become spaces: a line end would start another line.
pub fn info_string(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(b"info string ");
    out.extend(text.bytes().map(|byte| if byte.is_ascii_control() { b' ' } else { byte }));
    out.push(b'\n');
}

/// The start of each message of the adapter: it shows the user of a GUI where the message comes from.
const NOTICE: &str = "tabiya: ";

/// A line with a message of the adapter for the GUI.
pub fn notice(message: &str) -> Vec<u8> {
    let mut line = Vec::new();
    info_string(&mut line, &format!("{NOTICE}{message}"));
    line
}

/// Appends the `info` line with a score that some clients expect before a move; depth 0 marks a book move.
pub fn book_info(out: &mut Vec<u8>, centipawns: i32, line: impl Iterator<Item = UciMove>) {
    out.extend_from_slice(b"info depth 0 seldepth 0 multipv 1 score cp ");
    out.extend_from_slice(itoa::Buffer::new().format(centipawns).as_bytes());
    out.extend_from_slice(b" nodes 0 nps 0 time 0 pv");
    for mv in line {
        out.push(b' ');
        mv.append_ascii_to(out);
    }
    out.push(b'\n');
}

/// Appends `bestmove`, with the expected reply if there is one.
pub fn bestmove(out: &mut Vec<u8>, best: UciMove, ponder: Option<UciMove>) {
    out.extend_from_slice(b"bestmove ");
    best.append_ascii_to(out);
    if let Some(ponder) = ponder {
        out.extend_from_slice(b" ponder ");
        ponder.append_ascii_to(out);
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use vampirc_uci::{UciInfoAttribute, UciMessage, UciPiece, UciSquare};

    fn mv(text: &str) -> UciMove {
        text.parse().unwrap()
    }

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn replies_are_recognised_by_their_first_word() {
        assert_eq!(Reply::parse(b"bestmove e2e4 ponder e7e5\r\n"), Reply::BestMove);
        assert_eq!(Reply::parse(b"  readyok\n"), Reply::ReadyOk);
        assert_eq!(Reply::parse(b"information\n"), Reply::Other);
        assert_eq!(Reply::parse(b"\n"), Reply::Other);
    }

    #[test]
    fn option_lines_have_a_name_and_a_kind() {
        let line = b"option name Clear  Hash type button\n";
        assert_eq!(option_name(line), b"Clear Hash");
        assert_eq!(option_type(line), Some(&b"button"[..]));
        assert_eq!(option_name(b"option\n"), b"");
        assert_eq!(option_type(b"option name x\n"), None);
        assert_eq!(
            option_default(b"option name default type combo default Very Risky var x\n"),
            b"Very Risky"
        );
        assert_eq!(option_default(b"option name default type button\n"), b"");
    }

    #[test]
    fn id_lines_have_a_name_or_something_else() {
        assert_eq!(id_name(b"id  name Fish  1 \r\n"), Some(&b"Fish  1"[..]));
        assert_eq!(id_name(b"id name\n"), Some(&b""[..]));
        assert_eq!(id_name(b"id author name\n"), None);
        assert_eq!(id_name(b"info name x\n"), None);
    }

    /// A move in vampirc-uci's words.
    fn spoken(text: &str) -> vampirc_uci::UciMove {
        let square = |at: usize| {
            let bytes = text.as_bytes();
            UciSquare::from(char::from(bytes[at]), bytes[at + 1] - b'0')
        };
        let mut mv = vampirc_uci::UciMove::from_to(square(0), square(2));
        mv.promotion = text.get(4..).and_then(|piece| piece.parse::<UciPiece>().ok());
        mv
    }

    #[test]
    fn a_book_move_is_announced_as_clients_expect() {
        let line = ["e2e4", "e7e5"];
        let info = |centipawns| {
            UciMessage::Info(vec![
                UciInfoAttribute::Depth(0),
                UciInfoAttribute::SelDepth(0),
                UciInfoAttribute::MultiPv(1),
                UciInfoAttribute::from_centipawns(centipawns),
                UciInfoAttribute::Nodes(0),
                UciInfoAttribute::Nps(0),
                UciInfoAttribute::Any("time".to_owned(), "0".to_owned()),
                UciInfoAttribute::Pv(line.iter().map(|mv| spoken(mv)).collect()),
            ])
        };
        let said = |centipawns| text(|out| book_info(out, centipawns, line.iter().map(|line| mv(line))));
        for centipawns in [0, 7, -300] {
            assert_eq!(said(centipawns), format!("{}\n", info(centipawns)));
        }
        assert_eq!(
            said(0),
            "info depth 0 seldepth 0 multipv 1 score cp 0 nodes 0 nps 0 time 0 pv e2e4 e7e5\n"
        );
    }

    #[test]
    fn a_bestmove_is_vampircs() {
        let both = UciMessage::best_move_with_ponder(spoken("e2e4"), spoken("e7e5"));
        assert_eq!(text(|out| bestmove(out, mv("e2e4"), Some(mv("e7e5")))), format!("{both}\n"));
        for one in ["a7a8n", "a2a1q", "e1h1"] {
            let message = UciMessage::best_move(spoken(one));
            assert_eq!(text(|out| bestmove(out, mv(one), None)), format!("{message}\n"));
        }
    }

    #[test]
    fn a_notice_is_known_again() {
        let line = text(|out| out.extend(notice("no such book")));
        assert_eq!(line, "info string tabiya: no such book\n");
    }

    #[test]
    fn a_text_cannot_start_another_line() {
        let said = text(|out| info_string(out, "a\r\nbestmove e2e4\n"));
        assert_eq!(said, "info string a  bestmove e2e4 \n");
        let message = UciMessage::info_string("a  bestmove e2e4 ".to_owned());
        assert_eq!(said, format!("{message}\n"));
    }
}
