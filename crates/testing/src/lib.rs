//! What tests of several crates share.
#![allow(clippy::indexing_slicing, reason = "only tests use it")]

/// Books in memory, and short names for positions and moves. The file is the one of `tabiya-book`'s own tests, which see
/// other types.
#[cfg(feature = "books")]
#[path = "../../book/src/tests.rs"]
pub mod books;

#[cfg(feature = "books")]
mod recorder;

#[cfg(feature = "books")]
pub use self::recorder::Recorder;

use proptest::sample::Index;
use shakmaty::{Chess, Position as _};

/// How often a test does a thing, or how much of it: `few` in each run, `many` where `TABIYA_FULL_TESTS` is set, as it is
/// before a release.
pub fn times<T>(few: T, many: T) -> T {
    if std::env::var_os("TABIYA_FULL_TESTS").is_some() { many } else { few }
}

/// The position after random legal moves; the game may end before the steps do.
pub fn played(mut chess: Chess, steps: &[Index]) -> Chess {
    for step in steps {
        let moves = chess.legal_moves();
        if moves.is_empty() {
            break;
        }
        chess.play_unchecked(*step.get(&moves));
    }
    chess
}

/// A name with each letter wrong, missing, doubled, or swapped with the next.
pub fn slips(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut all = Vec::new();
    for (at, &letter) in letters.iter().enumerate() {
        let with = |put: &[char], rest: usize| -> String {
            letters[..at].iter().chain(put).chain(&letters[rest..]).collect()
        };
        let other = if letter == 'x' { 'y' } else { 'x' };
        all.extend([with(&[], at + 1), with(&[letter; 2], at + 1), with(&[other], at + 1)]);
        if let Some(&next) = letters.get(at + 1) {
            all.push(with(&[next, letter], at + 2));
        }
    }
    all.sort_unstable();
    all.dedup();
    all.retain(|slip| !slip.is_empty() && slip != name);
    all
}
