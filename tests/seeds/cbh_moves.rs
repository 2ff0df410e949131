//! Any bytes as the moves of a game, in any mode and from any start: nothing panics or runs on, every move is legal for
//! shakmaty, and a game always decodes to the same moves.

use std::ops::ControlFlow;

use shakmaty::{Chess, Move, Position as _};
use tabiya_chess::Position;
use tabiya_games::cbh::{Board, Mode, Start, decode};
use tabiya_games::database::Sink;

/// Keeps the moves, and checks each.
#[derive(Default)]
struct Checked {
    moves: Vec<Option<Move>>,
    depth: usize,
}

impl Sink<Board> for Checked {
    fn wants_variations(&self) -> bool {
        true
    }

    fn play(&mut self, board: &mut Board, mv: Move) -> ControlFlow<()> {
        // Checking all of them would make the fuzzer slow.
        if self.moves.len() < 64 {
            assert!(board.chess().is_legal(mv), "{mv:?}");
        }
        board.play(mv);
        self.moves.push(Some(mv));
        ControlFlow::Continue(())
    }

    fn pass(&mut self) -> ControlFlow<()> {
        self.moves.push(None);
        ControlFlow::Continue(())
    }

    fn push(&mut self) {
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth = self.depth.checked_sub(1).expect("a position that was kept");
    }
}

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    let Some((&first, rest)) = data.split_first() else { return };
    let Some(mode) = Mode::from_number(first & 0x3f) else { return };
    let (chess, moves) = if first & 0x40 != 0 {
        let Ok(start) = Start::read(rest, mode.chess960) else { return };
        (start.chess, rest.get(start.len as usize..).unwrap_or_default())
    } else {
        (Chess::default(), rest)
    };
    let mut played = [Checked::default(), Checked::default()];
    let ended = played.each_mut().map(|checked| {
        let mut board = Board::new(Position::from_chess(chess.clone()), mode.reversed);
        decode(moves, mode, &mut board, &mut Vec::new(), checked)
    });
    assert_eq!(ended[0], ended[1]);
    assert_eq!(played[0].moves, played[1].moves);
}
