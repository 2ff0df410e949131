//! A book in which each game has an entry of its own, games as PGN, and what the book must hold after them.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use shakmaty::san::SanPlus;
use shakmaty::{Color, Move, Position as _};
use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_chess::MoveCode;
use tabiya_chess::{Game, Position};
use tempfile::TempDir;

/// Results by White's half-points.
const RESULTS: [&str; 3] = ["0-1", "1/2-1/2", "1-0"];

/// A game of White's: five plies, the last of which is an entry that no other game has.
#[derive(Clone, Debug)]
pub struct Play {
    pub number: usize,
    pub moves: Vec<Move>,
    /// Half-points of White.
    pub points: u16,
}

/// A folder with a book, and the games that can be learned into it.
pub struct World {
    folder: TempDir,
    pub plays: Vec<Play>,
    before: Vec<u8>,
}

/// The learn field of an entry, by key and move.
pub type Fields = BTreeMap<(u64, u16), (u32, u32)>;

impl World {
    /// A world of so many games.
    pub fn new(games: usize) -> Self {
        let mut plays = Vec::with_capacity(games);
        let mut seen = HashSet::new();
        grow(&Position::start(), &mut Vec::new(), &mut seen, &mut plays, games);
        assert_eq!(plays.len(), games);
        let mut entries = BTreeMap::new();
        for play in &plays {
            for (key, mv) in learnable(play) {
                entries.insert((key, mv.0), PolyglotEntry { key, mv, weight: 7, games: 0, halfpoints: 0 });
            }
        }
        let before: Vec<u8> = entries.values().flat_map(PolyglotEntry::to_bytes).collect();
        let folder = tempfile::tempdir().unwrap();
        let world = Self { folder, plays, before };
        world.restore();
        world
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn book(&self) -> PathBuf {
        self.path("crowd.bin")
    }

    /// How many entries of the book these games change.
    pub fn entries(plays: &[Play]) -> usize {
        plays.iter().flat_map(learnable).collect::<HashSet<_>>().len()
    }

    /// Puts the book back as it was, without its journal.
    pub fn restore(&self) {
        fs::write(self.book(), &self.before).unwrap();
        let _ = fs::remove_file(self.path("crowd.bin.learn"));
    }

    /// Whether the journal has the change of the entry that is this game's own.
    pub fn is_in_journal(&self, play: &Play) -> bool {
        let (key, mv) = *learnable(play).last().unwrap();
        let change: Vec<u8> = key.to_be_bytes().into_iter().chain(mv.0.to_be_bytes()).collect();
        match fs::read(self.path("crowd.bin.learn")) {
            Ok(journal) => memchr::memmem::find(&journal, &change).is_some(),
            // Nobody has begun it yet.
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            Err(error) => panic!("{error}"),
        }
    }

    /// Writes games as PGN; the round is the game's number.
    pub fn pgn(&self, name: &str, plays: &[Play]) -> PathBuf {
        let mut text = String::new();
        for play in plays {
            let result = RESULTS[usize::from(play.points)];
            writeln!(
                text,
                "[Event \"Crowd\"]\n[Round \"{}\"]\n[White \"Us\"]\n[Black \"Them\"]\n[Result \"{result}\"]\n",
                play.number
            )
            .unwrap();
            let mut game = Game::start();
            for (ply, mv) in play.moves.iter().enumerate() {
                if ply % 2 == 0 {
                    write!(text, "{}. ", ply / 2 + 1).unwrap();
                }
                write!(text, "{} ", SanPlus::from_move(game.position().chess().clone(), *mv)).unwrap();
                game.push(*mv);
            }
            writeln!(text, "{result}\n").unwrap();
        }
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Asserts that the book has learned exactly these games, each once, and that nothing else has changed.
    pub fn check<'a>(&self, learned: impl IntoIterator<Item = &'a Play>) {
        self.check_moves(learned.into_iter().map(|play| (learnable(play), play.points)));
    }

    /// As [`World::check`], where all but the last move of each game was an opening that nobody chose.
    pub fn check_last<'a>(&self, learned: impl IntoIterator<Item = &'a Play>) {
        let last = |play: &Play| learnable(play).split_off(2);
        self.check_moves(learned.into_iter().map(|play| (last(play), play.points)));
    }

    fn check_moves(&self, games: impl IntoIterator<Item = (Vec<(u64, MoveCode)>, u16)>) {
        let mut expected = Fields::new();
        for (moves, half_points) in games {
            for (key, mv) in moves {
                let (games, points) = expected.entry((key, mv.0)).or_default();
                (*games, *points) = (*games + 1, *points + u32::from(half_points));
            }
        }
        assert_eq!(fields(&self.book()), expected);
        self.check_rest();
    }

    /// Asserts that nothing but learn fields has changed.
    pub fn check_rest(&self) {
        let after = fs::read(self.book()).unwrap();
        assert_eq!(after.len(), self.before.len());
        for (after, before) in after.chunks(16).zip(self.before.chunks(16)) {
            assert_eq!(after[..12], before[..12]);
        }
    }

    /// The games whose own entry has learned: each must have done so once.
    pub fn learned(&self) -> HashSet<usize> {
        let fields = fields(&self.book());
        let mut learned = HashSet::new();
        for play in &self.plays {
            let (key, mv) = *learnable(play).last().unwrap();
            if let Some(field) = fields.get(&(key, mv.0)) {
                assert_eq!(*field, (1, u32::from(play.points)), "game {}", play.number);
                learned.insert(play.number);
            }
        }
        learned
    }
}

/// The entries that have learned.
pub fn fields(book: &Path) -> Fields {
    let bytes = fs::read(book).unwrap();
    let (entries, _) = bytes.as_chunks();
    let entries = entries.iter().map(PolyglotEntry::from_bytes);
    entries
        .filter(|entry| (entry.games, entry.halfpoints) != (0, 0))
        .map(|entry| ((entry.key, entry.mv.0), (entry.games.into(), entry.halfpoints.into())))
        .collect()
}

/// White's moves of a game.
pub fn learnable(play: &Play) -> Vec<(u64, MoveCode)> {
    let mut game = Game::start();
    let mut entries = Vec::new();
    for mv in &play.moves {
        let position = game.position();
        if position.chess().turn() == Color::White {
            entries.push((position.key(), MoveCode::codes(*mv, position.chess())[0]));
        }
        game.push(*mv);
    }
    entries
}

/// Plays on from a position until there are enough games, each of five plies and a fourth position of its own.
fn grow(at: &Position, line: &mut Vec<Move>, seen: &mut HashSet<u64>, plays: &mut Vec<Play>, games: usize) {
    if plays.len() == games || line.len() == 4 && !seen.insert(at.key()) {
        return;
    }
    let legal = at.chess().legal_moves();
    if line.len() == 4 {
        let Some(last) = legal.first() else { return };
        let moves = line.iter().copied().chain([*last]).collect();
        plays.push(Play { number: plays.len(), moves, points: (plays.len() % 3) as u16 });
        return;
    }
    for mv in &legal {
        line.push(*mv);
        grow(&at.after(*mv), line, seen, plays, games);
        line.pop();
    }
}
