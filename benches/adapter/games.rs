//! The questions of the bench's GUI: games inside and outside a Polyglot book, and the books.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position, Role};

use crate::peer::Result;

/// Size of an entry: key, move, weight, learning.
const ENTRY: usize = 16;

/// The most plies of a game inside the book.
const DEEPEST: usize = 40;

/// Plies of a game outside the book.
const OUTSIDE: usize = 60;

/// The answer of each engine of the bench: a position where the book plays it too would prove nothing.
pub const ENGINE_MOVE: &str = "a2a3";

/// A `position` and a `go`, and the moves that the book has there.
pub struct Ask {
    pub text: Vec<u8>,
    pub moves: Vec<String>,
}

/// A Polyglot book in memory, read by separate code and not by the code that is measured.
pub struct Polyglot {
    bytes: Vec<u8>,
}

impl Polyglot {
    /// Reads a book file.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { bytes })
    }

    /// The book's moves with a weight above 0.
    fn moves(&self, chess: &Chess) -> Vec<(Move, u16)> {
        let Zobrist64(key) = chess.zobrist_hash(EnPassantMode::PseudoLegal);
        let (entries, _) = self.bytes.as_chunks::<ENTRY>();
        let key_of = |entry: &[u8; ENTRY]| u64::from_be_bytes(*entry.first_chunk().unwrap_or(&[0; 8]));
        let first = entries.partition_point(|entry| key_of(entry) < key);
        let legal = chess.legal_moves();
        let mut found = Vec::new();
        for entry in entries[first..].iter().take_while(|entry| key_of(entry) == key) {
            let code = u16::from_be_bytes([entry[8], entry[9]]);
            let weight = u16::from_be_bytes([entry[10], entry[11]]);
            if weight > 0
                && let Some(&mv) = legal.iter().find(|mv| encode(**mv) == code)
            {
                found.push((mv, weight));
            }
        }
        found
    }

    /// Games along the book's lines, each an [`Ask`] for every move of one side, longer by two plies each time.
    pub fn games(&self, count: usize) -> Vec<Vec<Ask>> {
        let mut random = Random(1);
        (0..count).map(|index| self.game(index % 2, &mut random)).collect()
    }

    fn game(&self, side: usize, random: &mut Random) -> Vec<Ask> {
        let mut chess = Chess::default();
        let mut line = Vec::new();
        let (mut asks, mut seen) = (Vec::new(), Vec::new());
        for ply in 0..DEEPEST {
            // A move that repeats a position may be left to the engine.
            let key: Zobrist64 = chess.zobrist_hash(EnPassantMode::Legal);
            if seen.contains(&key) {
                break;
            }
            seen.push(key);
            let moves = self.moves(&chess);
            let total: u64 = moves.iter().map(|(_, weight)| u64::from(*weight)).sum();
            if total == 0 {
                break;
            }
            let mut point = random.below(total);
            let chosen = moves.iter().find(|(_, weight)| {
                let here = point < u64::from(*weight);
                point = point.saturating_sub(u64::from(*weight));
                here
            });
            let names: Vec<_> = moves.iter().map(|(mv, _)| name(*mv)).collect();
            if ply % 2 == side && !names.iter().any(|name| name == ENGINE_MOVE) {
                asks.push(Ask { text: text(&line), moves: names });
            }
            let Some((mv, _)) = chosen else { break };
            line.push(name(*mv));
            chess.play_unchecked(*mv);
        }
        asks
    }

    /// A game of moves that leave the book at once and never return, with an [`Ask`] for each move of White.
    pub fn outside(&self, seed: u64) -> Vec<Ask> {
        let mut random = Random(seed);
        let mut chess = Chess::default();
        let mut line = Vec::new();
        let mut asks = Vec::new();
        while line.len() < OUTSIDE {
            let legal = chess.legal_moves();
            let strange: Vec<_> = legal
                .iter()
                .filter(|mv| {
                    let mut next = chess.clone();
                    next.play_unchecked(**mv);
                    // The games must not end early.
                    self.moves(&next).is_empty() && !next.is_game_over() && !mv.is_capture()
                })
                .collect();
            if strange.is_empty() {
                break;
            }
            let mv = *strange[random.below(strange.len() as u64) as usize];
            line.push(name(mv));
            chess.play_unchecked(mv);
            if line.len() % 2 == 0 {
                asks.push(Ask { text: text(&line), moves: Vec::new() });
            }
        }
        asks
    }

    /// Writes a book of `size` bytes that takes hardly any room on the disk: holes, which are entries of key 0, then
    /// the book's entries. So it is sorted, and answers.
    pub fn write_sparse(&self, path: &Path, size: u64) -> Result<()> {
        let mut file = File::create(path)?;
        file.set_len(size)?;
        let whole = self.bytes.len() / ENTRY * ENTRY;
        file.seek(SeekFrom::Start(size - whole as u64))?;
        file.write_all(&self.bytes[..whole])?;
        Ok(())
    }
}

/// Polyglot's 16 bits of a move: to and from square, promotion, castling as king takes rook.
fn encode(mv: Move) -> u16 {
    let promotion = match mv.promotion() {
        Some(Role::Knight) => 1,
        Some(Role::Bishop) => 2,
        Some(Role::Rook) => 3,
        Some(Role::Queen) => 4,
        _ => 0,
    };
    let from = mv.from().map_or(0, u16::from);
    promotion << 12 | from << 6 | u16::from(mv.to())
}

fn name(mv: Move) -> String {
    UciMove::from_move(mv, CastlingMode::Standard).to_string()
}

fn text(line: &[String]) -> Vec<u8> {
    let moves = if line.is_empty() { String::new() } else { format!(" moves {}", line.join(" ")) };
    format!("position startpos{moves}\ngo wtime 300000 btime 300000 winc 2000 binc 2000\n").into_bytes()
}

/// splitmix64: enough to choose lines, and the same lines in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}
