//! What an engine says, and what we say in its place.

use shakmaty::uci::UciMove;
use shakmaty::{Role, Square};
use vampirc_uci::{Serializable, UciInfoAttribute, UciMessage, UciPiece, UciSquare};

use super::{split_word, words};

/// The replies of an engine that the adapter must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// `id`
    Id,
    /// `option`
    Option,
    /// `uciok`
    UciOk,
    /// `readyok`
    ReadyOk,
    /// `bestmove`
    BestMove,
    /// `info`
    Info,
    /// Anything else, which is passed on.
    Other,
}

impl Reply {
    /// What a line's first word makes of it.
    pub fn of(line: &[u8]) -> Self {
        match split_word(line).0 {
            b"info" => Reply::Info,
            b"bestmove" => Reply::BestMove,
            b"readyok" => Reply::ReadyOk,
            b"option" => Reply::Option,
            b"id" => Reply::Id,
            b"uciok" => Reply::UciOk,
            _ => Reply::Other,
        }
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

/// The kind in an `option` line: the word behind `type`.
pub fn option_type(line: &[u8]) -> Option<&[u8]> {
    words(line).skip_while(|word| *word != b"type").nth(1)
}

/// Appends a message of our own and its line end.
fn say(out: &mut Vec<u8>, message: &UciMessage) {
    out.extend_from_slice(message.serialize().as_bytes());
    out.push(b'\n');
}

/// Appends `info string TEXT`. Line ends in the text, which would begin another line, become blanks.
pub fn info_string(out: &mut Vec<u8>, text: &str) {
    let text = text.replace(['\n', '\r'], " ");
    say(out, &UciMessage::Info(vec![UciInfoAttribute::String(text)]));
}

/// Appends the scored `info` line that some clients want before a book move: depth 0 marks it as one.
pub fn book_info(out: &mut Vec<u8>, line: &[UciMove]) {
    say(
        out,
        &UciMessage::Info(vec![
            UciInfoAttribute::Depth(0),
            UciInfoAttribute::SelDepth(0),
            UciInfoAttribute::MultiPv(1),
            UciInfoAttribute::from_centipawns(0),
            UciInfoAttribute::Nodes(0),
            UciInfoAttribute::Nps(0),
            UciInfoAttribute::Any("time".to_owned(), "0".to_owned()),
            UciInfoAttribute::Pv(line.iter().filter_map(|mv| spoken(*mv)).collect()),
        ]),
    );
}

/// Appends `bestmove`, with the move expected in reply where there is one.
pub fn bestmove(out: &mut Vec<u8>, best: UciMove, ponder: Option<UciMove>) {
    if let Some(best) = spoken(best) {
        let message = match ponder.and_then(spoken) {
            Some(ponder) => UciMessage::best_move_with_ponder(best, ponder),
            None => UciMessage::best_move(best),
        };
        say(out, &message);
    }
}

/// A move in vampirc-uci's words; `None` for the null move and drops, which no book move is.
fn spoken(mv: UciMove) -> Option<vampirc_uci::UciMove> {
    let UciMove::Normal { from, to, promotion } = mv else { return None };
    let square = |square: Square| UciSquare::from(square.file().char(), u32::from(square.rank()) as u8 + 1);
    let mut spoken = vampirc_uci::UciMove::from_to(square(from), square(to));
    spoken.promotion = promotion.map(|role| match role {
        Role::Pawn => UciPiece::Pawn,
        Role::Knight => UciPiece::Knight,
        Role::Bishop => UciPiece::Bishop,
        Role::Rook => UciPiece::Rook,
        Role::Queen => UciPiece::Queen,
        Role::King => UciPiece::King,
    });
    Some(spoken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mv(text: &str) -> UciMove {
        text.parse().unwrap()
    }

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn replies_are_told_by_their_first_word() {
        assert_eq!(Reply::of(b"bestmove e2e4 ponder e7e5\r\n"), Reply::BestMove);
        assert_eq!(Reply::of(b"  readyok\n"), Reply::ReadyOk);
        assert_eq!(Reply::of(b"information\n"), Reply::Other);
        assert_eq!(Reply::of(b"\n"), Reply::Other);
    }

    #[test]
    fn option_lines_have_a_name_and_a_kind() {
        let line = b"option name Clear  Hash type button\n";
        assert_eq!(option_name(line), b"Clear Hash");
        assert_eq!(option_type(line), Some(&b"button"[..]));
        assert_eq!(option_name(b"option\n"), b"");
        assert_eq!(option_type(b"option name x\n"), None);
    }

    #[test]
    fn a_book_move_is_said_as_clients_want_it() {
        assert_eq!(
            text(|out| book_info(out, &[mv("e2e4"), mv("e7e5")])),
            "info depth 0 seldepth 0 multipv 1 score cp 0 nodes 0 nps 0 time 0 pv e2e4 e7e5\n"
        );
        assert_eq!(text(|out| bestmove(out, mv("e2e4"), Some(mv("e7e5")))), "bestmove e2e4 ponder e7e5\n");
        assert_eq!(text(|out| bestmove(out, mv("a7a8n"), None)), "bestmove a7a8n\n");
    }

    #[test]
    fn a_text_cannot_begin_a_line_of_its_own() {
        assert_eq!(text(|out| info_string(out, "a\r\nbestmove e2e4\n")), "info string a  bestmove e2e4 \n");
    }
}
