//! Tests of learning as a whole.

mod compacted;
mod corrected;
pub mod disk;
mod edited;
mod faults;
mod power;
mod redone;
mod replaced;
mod rules;
mod said;
mod spooled;

use shakmaty::{ByColor, Color, KnownOutcome};

use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_chess::{Game, MoveCode, Position};

use self::disk::SimDisk;
use super::learner::compact::CompactLimits;
use super::{FinishedGame, IdentifiedGame, Learner, identity};

/// The results by White's half-points.
pub const RESULTS: [KnownOutcome; 3] = [
    KnownOutcome::Decisive { winner: Color::Black },
    KnownOutcome::Draw,
    KnownOutcome::Decisive { winner: Color::White },
];

/// The game of these moves, learned for the sides in `sides` (`w`, `b`), with `white` half-points for White.
pub fn finished(name: &str, moves: &str, sides: &str, white: usize) -> IdentifiedGame {
    let mut game = Game::start();
    moves.split_whitespace().for_each(|mv| assert!(game.push_uci(mv.as_bytes()), "{moves}: {mv}"));
    let finished = FinishedGame {
        start: Position::start(),
        moves: game.moves().to_vec(),
        first: 0,
        sides: ByColor { white: sides.contains('w'), black: sides.contains('b') },
        result: RESULTS[white],
        note: name.to_owned(),
    };
    finished.identified(identity::of_parts([name.as_bytes()]))
}

/// A learner that compacts the journal when half of its records can be dropped, and keeps only that of the last game.
pub fn compacting(disk: &SimDisk) -> Learner {
    compacting_to(disk, 1)
}

/// A learner that compacts the journal when half of its records can be dropped, and keeps those of `games` games.
pub fn compacting_to(disk: &SimDisk, games: usize) -> Learner {
    let mut learner = Learner::over(Box::new(disk.clone()), "a.bin");
    // A *done* always stays.
    learner.limits = CompactLimits { games, dropped: 26, failed: 0 };
    learner
}

/// A book of every move of these lines.
pub fn book(lines: &[&str]) -> Vec<u8> {
    let mut entries: Vec<PolyglotEntry> = Vec::new();
    for line in lines {
        let mut game = Game::start();
        for text in line.split_whitespace() {
            let before = game.position().clone();
            assert!(game.push_uci(text.as_bytes()), "{line}: {text}");
            let mv = *game.moves().last().unwrap();
            let [code, _] = MoveCode::codes(mv, before.chess());
            if !entries.iter().any(|entry| (entry.key, entry.mv) == (before.key(), code)) {
                entries.push(PolyglotEntry {
                    key: before.key(),
                    mv: code,
                    weight: 10,
                    games: 0,
                    halfpoints: 0,
                });
            }
        }
    }
    entries.sort_by_key(|entry| entry.key);
    entries.iter().flat_map(PolyglotEntry::to_bytes).collect()
}

/// The field of the last of these moves in a book, played after the others.
pub fn field(book: &[u8], moves: &str) -> (u16, u16) {
    let mut game = Game::start();
    let mut last = None;
    for text in moves.split_whitespace() {
        let before = game.position().clone();
        assert!(game.push_uci(text.as_bytes()));
        last = Some((before.key(), MoveCode::codes(*game.moves().last().unwrap(), before.chess())));
    }
    let (key, codes) = last.unwrap();
    let entries = tabiya_book::polyglot::PolyglotEntries::new(book);
    let entry = entries.find(key).find(|entry| codes.contains(&entry.mv)).unwrap();
    (entry.games, entry.halfpoints)
}
