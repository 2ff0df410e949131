//! How the chances of moves change where the format of a new book cannot hold their weights.

use shakmaty::{CastlingMode, Position as _};

use tabiya_base::bytes;
use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::scratch::{Cursor, Scratch};
use tabiya_book::{Moves, PositionRecord, plain_weights};
use tabiya_chess::{MoveCode, PACKED_LEN, Packed, Position};

/// Chances that differ by more than this are different: what is less is a rounding.
pub(super) const SHARE: f64 = 0.001;

/// Bytes of positions that stay in memory.
const MEMORY: usize = 1 << 20;

/// Bytes of a position: its board, and how many moves it has.
const NODE_LEN: usize = PACKED_LEN + size_of::<u64>();

/// Bytes of a move: its code, and its weight.
const MOVE_LEN: usize = 2 * size_of::<u64>();

/// The chances of moves under the default policy, as the books that are read have them and as a new book has them.
#[derive(Debug)]
pub(super) struct Chances {
    /// What is compared when the new book is written.
    later: Scratch,
    changed: u64,
    /// Positions whose weights the new book cannot hold as they are.
    scaled: u64,
    largest: Option<Largest>,
}

/// The change of a chance.
#[derive(Debug)]
struct Largest {
    at: Option<Position>,
    mv: MoveCode,
    was: f64,
    is: f64,
}

impl Chances {
    /// Nothing is known yet; positions wait in a temporary file in this folder.
    pub fn new(folder: &std::path::Path) -> Self {
        Self { later: Scratch::new(folder, MEMORY), changed: 0, scaled: 0, largest: None }
    }

    /// Compares a position whose moves will have these weights in the new book.
    pub fn compare(&mut self, record: &PositionRecord, held: &[u64]) {
        let moves = record.moves.iter().zip(held).map(|(facts, held)| (facts.mv, [facts.weight, *held]));
        let moves: Vec<_> = moves.collect();
        self.scaled += u64::from(moves.iter().any(|(_, [was, is])| was != is));
        self.note(record.position.as_ref(), &moves);
    }

    /// Positions whose sums of weights are scaled to fit.
    pub fn scaled(&self) -> u64 {
        self.scaled
    }

    /// Remembers a position with the weights that its moves have in tournaments, to look it up in the new book.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub fn remember(&mut self, record: &PositionRecord) -> Result<()> {
        let Some(packed) = record.position.as_ref().and_then(Packed::new) else { return Ok(()) };
        let mut plain = PositionRecord { moves: record.moves.clone(), ..PositionRecord::default() };
        plain_weights(&mut plain);
        self.later.push(&packed.0)?;
        self.later.push(&(plain.moves.len() as u64).to_be_bytes())?;
        plain.moves.iter().try_for_each(|facts| {
            self.later.push(&u64::from(facts.mv.0).to_be_bytes())?;
            self.later.push(&facts.weight.to_be_bytes())
        })
    }

    /// Looks the positions up in the new book that were remembered.
    ///
    /// # Errors
    /// When a temporary file cannot be read, or the work is interrupted.
    pub fn look_up(&mut self, book: &dyn Moves) -> Result<()> {
        let later = std::mem::replace(&mut self.later, Scratch::new(std::path::Path::new("."), MEMORY));
        let (mut cursor, mut from) = (Cursor::default(), 0);
        while from < later.size() {
            interrupt::check()?;
            let node = cursor.get(&later, from, NODE_LEN)?;
            let len = bytes::u64_be(node, PACKED_LEN as u64).unwrap_or_default();
            let at = node.first_chunk().and_then(|packed| Packed(*packed).unpack());
            from += NODE_LEN as u64;
            let len = usize::try_from(len).unwrap_or_default() * MOVE_LEN;
            let moves = cursor.get(&later, from, len)?;
            from += len as u64;
            let Some(at) = at else { continue };
            let mut held = PositionRecord::from_moves(&at, &book.moves_in(&at));
            // Positions that the new book does not have are counted as such.
            if held.moves.is_empty() {
                continue;
            }
            plain_weights(&mut held);
            let pair = |bytes: &[u8]| {
                let mv = MoveCode(u16::try_from(bytes::u64_be(bytes, 0)?).ok()?);
                let place = held.moves.iter().position(|facts| facts.mv == mv);
                let held = place.map_or(0, |place| held.moves.swap_remove(place).weight);
                Some((mv, [bytes::u64_be(bytes, size_of::<u64>() as u64)?, held]))
            };
            let mut moves: Vec<_> = moves.chunks_exact(MOVE_LEN).filter_map(pair).collect();
            // Moves that the format shares between positions are new here.
            moves.extend(held.moves.iter().map(|facts| (facts.mv, [0, facts.weight])));
            self.note(Some(&at), &moves);
        }
        Ok(())
    }

    /// Compares the weights of moves in a position; a book that does not have a move has the weight 0.
    fn note(&mut self, at: Option<&Position>, moves: &[(MoveCode, [u64; 2])]) {
        let sum =
            |which: fn(&[u64; 2]) -> u64| moves.iter().map(|(_, weights)| which(weights) as f64).sum::<f64>();
        let sums = [sum(|[was, _]| *was), sum(|[_, is]| *is)];
        for (mv, weights) in moves {
            let [was, is] = shares(*weights, sums);
            if !differ(was, is) {
                continue;
            }
            self.changed += 1;
            let largest = self.largest.as_ref().map_or(0.0, |largest| (largest.was - largest.is).abs());
            if (was - is).abs() > largest {
                self.largest = Some(Largest { at: at.cloned(), mv: *mv, was, is });
            }
        }
    }

    /// How many chances have changed, with the largest change in words; `None` if none has.
    pub fn clause(&self) -> Option<(String, u64)> {
        let Largest { at, mv, was, is } = self.largest.as_ref()?;
        let legal = at.as_ref().and_then(|at| mv.resolve(at.chess()).filter(|&mv| at.chess().is_legal(mv)));
        let name = legal.map_or_else(|| mv.to_string(), |mv| mv.to_uci(CastlingMode::Standard).to_string());
        let place = at.as_ref().map_or_else(String::new, |at| format!(" in {}", at.fen()));
        let [was, is] = [was, is].map(|chance| chance * 100.0);
        let what = format!(
            "moves whose chance changes by more than 0.1 %, largest: {name} from {was:.1} % to {is:.1} %{place}"
        );
        Some((what, self.changed))
    }
}

/// The shares that two weights have of these sums.
pub(super) fn shares([a, b]: [u64; 2], [sum_a, sum_b]: [f64; 2]) -> [f64; 2] {
    let share = |weight: u64, sum: f64| if sum > 0.0 { weight as f64 / sum } else { 0.0 };
    [share(a, sum_a), share(b, sum_b)]
}

/// Whether shares differ by more than a rounding, or one of them is none.
pub(super) fn differ(a: f64, b: f64) -> bool {
    (a - b).abs() > SHARE || (a == 0.0) != (b == 0.0)
}
