//! Whether a limit of moves may have ended a game: programs that run matches call such a game drawn, whatever the scores,
//! and tell no engine.

/// The least number of moves that is suspected to be a limit.
const LEAST: u32 = 10;

/// Most limits are a multiple of this number of moves.
const ROUND: u32 = 10;

/// The longest games of this run, in our moves and in moves from the start position: programs count one or the other.
#[derive(Default)]
pub(super) struct Lengths([Longest; 2]);

#[derive(Clone, Copy, Default)]
struct Longest {
    moves: u32,
    /// Whether such a game has ended without an end on the board.
    unfinished: bool,
}

impl Lengths {
    /// Notes a game of these lengths. Returns whether a limit may have ended it: it is unfinished, no game was longer, and
    /// another one was unfinished at the same length, or the length is a round number.
    pub(super) fn may_have_ended(&mut self, lengths: [u32; 2], unfinished: bool) -> bool {
        let mut suspected = false;
        for (longest, moves) in self.0.iter_mut().zip(lengths) {
            let again = moves == longest.moves && longest.unfinished;
            suspected |= moves >= longest.moves.max(LEAST) && (again || moves.is_multiple_of(ROUND));
            if moves > longest.moves {
                *longest = Longest { moves, unfinished };
            } else if moves == longest.moves {
                longest.unfinished |= unfinished;
            }
        }
        suspected && unfinished
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of these games may have been cut; those of negative length have ended on the board.
    fn cut(games: &[i32]) -> Vec<bool> {
        let mut lengths = Lengths::default();
        games.iter().map(|moves| lengths.may_have_ended([moves.unsigned_abs(); 2], *moves > 0)).collect()
    }

    #[test]
    fn games_that_end_unfinished_where_none_was_longer_may_be_cut() {
        // At a round number the first one is.
        assert_eq!(cut(&[30, 30, 24, -30]), [true, true, false, false]);
        assert_eq!(cut(&[33, 33, 32, 33]), [false, true, false, true]);
        // A longer game shows that there is no limit.
        assert_eq!(cut(&[33, -34, 33, 30]), [false; 4]);
        assert_eq!(cut(&[-33, 33, 33]), [false, false, true]);
        assert_eq!(cut(&[5, 5, 9, 9, 10]), [false, false, false, false, true]);
    }

    #[test]
    fn a_limit_counts_our_moves_or_those_from_the_start() {
        let mut lengths = Lengths::default();
        // Openings of 4 and 2 moves.
        assert!(!lengths.may_have_ended([33, 37], true));
        assert!(lengths.may_have_ended([33, 35], true));
        assert!(lengths.may_have_ended([35, 37], true));
        assert!(!lengths.may_have_ended([34, 36], true));
    }
}
