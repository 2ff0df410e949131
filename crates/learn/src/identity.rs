//! The identity of a game: it makes sure that the game is learned once (docs/formats/learn.md, Learned games).
//!
//! Journals and spools keep identities for good, so this computation must never change.

use sha2::{Digest as _, Sha256};
use shakmaty::Move;
use shakmaty::uci::UciMove;

use tabiya_chess::Position;

/// The identity of a game.
pub type Id = [u8; 16];

/// The identity of a game from a file: the same tags, start and moves give the same identity, whatever file they are
/// in. The tags are event, site, date with unknown parts as question marks, round, white, black and result, as PGN writes
/// them, empty where the file says nothing.
pub fn of_file(tags: [&str; 7], start: &Position, moves: &[Move]) -> Id {
    let fen = start.fen();
    of_parts(tags.into_iter().chain([&*fen]).map(str::as_bytes).chain([&*text_of(moves)]))
}

/// Moves in UCI notation, castling as the king taking its rook, with a space after each.
fn text_of(moves: &[Move]) -> Vec<u8> {
    let mut text = Vec::new();
    for mv in moves {
        UciMove::from_chess960(*mv).append_ascii_to(&mut text);
        text.push(b' ');
    }
    text
}

/// The bytes of a line.
const LINE_LEN: usize = 8;

/// A line: where it begins and its moves, in one number. The identity of a game that was played begins with that of the
/// game, by which it is recognised in a file.
pub type Line = [u8; LINE_LEN];

/// The identity of a game that is played through tabiya: its line, and a random number, because the same moves are played
/// in several games.
pub fn of_played(start: &Position, moves: &[Move]) -> Id {
    let mut id: Id = rand::random();
    id.iter_mut().zip(line_of(start, moves)).for_each(|(byte, of_line)| *byte = of_line);
    id
}

/// The line of these moves.
pub fn line_of(start: &Position, moves: &[Move]) -> Line {
    let id = of_parts([&start.key().to_be_bytes()[..], &text_of(moves)]);
    id.first_chunk().copied().unwrap_or_default()
}

/// The lines under which a game of a file may have been learned while it was played: a GUI need not tell an engine the
/// opponent's last move.
pub(crate) fn lines_of(start: &Position, moves: &[Move]) -> Vec<Line> {
    let shorter = moves.split_last().map(|(_, moves)| line_of(start, moves));
    [line_of(start, moves)].into_iter().chain(shorter).collect()
}

/// The first 16 bytes of the SHA-256 of these parts, each after its length in 8 bytes: two lists of parts never give
/// the same input.
pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Id {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().first_chunk().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tabiya_base::bytes::hex;
    use tabiya_chess::Game;

    use super::*;

    /// Computed with Python's `hashlib` from docs/formats/learn.md: no release may change these.
    #[test]
    fn the_identities_of_these_games_never_change() {
        let mut game = Game::start();
        for mv in "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1".split(' ') {
            assert!(game.push_uci(mv.as_bytes()));
        }
        let tags = [
            "World Championship",
            "Reykjavík",
            "1972.07.??",
            "6",
            "Fischer, Robert J.",
            "Spassky, Boris V.",
            "1-0",
        ];
        let start = Position::start();
        assert_eq!(hex(&of_file(tags, &start, game.moves())), "adea65c711c9b1f8004714e6d70f7e64");
        assert_eq!(hex(&of_file([""; 7], &start, &[])), "13c61f3284a77af56f6d825810ecc5f0");
        assert_eq!(hex(&of_parts([])), "e3b0c44298fc1c149afbf4c8996fb924");
    }

    #[test]
    fn each_played_game_has_its_own_identity_which_begins_with_its_line() {
        let mut game = Game::start();
        assert!(game.push_uci(b"e2e4") && game.push_uci(b"e7e5"));
        let start = Position::start();
        let played = || of_played(&start, game.moves());
        assert_ne!(played(), played());
        let lines = lines_of(&start, game.moves());
        assert_eq!(
            lines.iter().map(|line| hex(&line[..])).collect::<Vec<_>>(),
            ["af716737a81f021c", "52fe5a01a858ec2e"]
        );
        assert!(played().starts_with(&lines[0]) && lines[1] == line_of(&start, &game.moves()[..1]));
        assert_eq!(lines_of(&start, &[]).len(), 1);
    }
}
