//! Small books for tests: a trie that is split equally everywhere, and any entries.

use std::collections::BTreeMap;

use tabiya_base::error::Result;
use tabiya_chess::Position;
use tabiya_chess::normal::Normal;

use super::super::Ctg;
use super::super::layout::{CTG_START, NO_PAGE, PAGE_LEN, STATISTICS_LEN};
use super::super::moves::legal;
use super::super::signature::Signature;
use crate::tests::mv;

pub fn ctb(bitmap: &[u8]) -> Vec<u8> {
    let low = bitmap.iter().take_while(|&&byte| byte == 0xff).count() as u32 * 8;
    let mut file = vec![0, 0x0c, 0, 1];
    file.extend(low.to_be_bytes());
    file.extend((bitmap.len() as u32 * 8).to_be_bytes());
    file.extend(bitmap);
    file
}

pub fn cto(numbers: &[u32], low: u32) -> Vec<u8> {
    let mut file = vec![0, 0x10, 0, 1];
    file.extend((numbers.len() as u32).to_be_bytes());
    file.extend([0; 4]);
    file.extend(low.to_be_bytes());
    file.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
    file
}

/// What a test says of a position: its moves with their marks, its counts (games, wins, losses, draws) and its colour.
#[derive(Clone, Default)]
pub struct Known {
    pub moves: Vec<(String, u8)>,
    pub counts: [u32; 4],
    pub recommendation: u8,
    pub ratings: [u32; 4],
}

/// A book that a test makes.
#[derive(Clone, Default)]
pub struct Fixture {
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    /// Splits of the trie from its root to each leaf.
    depth: u32,
}

impl Fixture {
    pub fn new(depth: u32) -> Self {
        Self { depth, ..Self::default() }
    }

    /// The same in a trie of this depth.
    pub fn split(self, depth: u32) -> Self {
        Self { depth, ..self }
    }

    /// Adds a position. Its moves are written as `e2e4`, or with the number of a mark: `e2e4:6`.
    #[must_use]
    pub fn with(self, at: &Position, moves: &str, counts: [u32; 4], recommendation: u8) -> Self {
        let moves = moves.split_whitespace().map(|word| match word.split_once(':') {
            Some((mv, mark)) => (mv.to_owned(), mark.parse().unwrap()),
            None => (word.to_owned(), 0),
        });
        self.known(at, Known { moves: moves.collect(), counts, recommendation, ratings: [0; 4] })
    }

    #[must_use]
    pub fn known(mut self, at: &Position, known: Known) -> Self {
        let normal = Normal::from_chess(at.standard().unwrap()).unwrap();
        let mut moves = Vec::new();
        for (uci, mark) in &known.moves {
            let code =
                (0..=255).find(|&code| legal(code, &normal, at.standard().unwrap()) == Some(mv(at, uci)));
            moves.extend([code.unwrap(), *mark]);
        }
        let signature = Signature::from_chess(at.standard().unwrap()).unwrap();
        self.entries.push((signature.bytes().to_vec(), entry(&moves, &known)));
        self
    }

    /// Gives the last position a factor.
    #[must_use]
    pub fn factor(mut self, factor: i8) -> Self {
        let (_, entry) = self.entries.last_mut().unwrap();
        let flags = entry.len() - 3;
        entry[flags] |= 0x04;
        entry[flags + 1] = factor.to_ne_bytes()[0];
        self
    }

    /// Adds a position with an entry of any bytes.
    #[must_use]
    pub fn raw(mut self, at: &Position, rest: &[u8]) -> Self {
        let signature = Signature::from_chess(at.standard().unwrap()).unwrap();
        self.entries.push((signature.bytes().to_vec(), rest.to_vec()));
        self
    }

    pub fn files(&self) -> [Vec<u8>; 3] {
        let mask = (1_u64 << self.depth) - 1;
        let mut leaves: BTreeMap<u64, Vec<Vec<u8>>> = BTreeMap::new();
        for (signature, rest) in &self.entries {
            let leaf = (u64::from(super::super::signature::hash(signature)) & mask) + mask;
            leaves.entry(leaf).or_default().push([&signature[..], rest].concat());
        }
        // The greatest leaf has its number even if it names no page.
        let mut numbers = vec![NO_PAGE; 2 * mask as usize + 1];
        let mut ctg = vec![0; PAGE_LEN as usize];
        ctg[..8].copy_from_slice(&CTG_START);
        ctg[16..20].copy_from_slice(&(leaves.len() as u32).to_be_bytes());
        ctg[28..32].copy_from_slice(&77_u32.to_be_bytes());
        for (page, (leaf, entries)) in leaves.into_iter().enumerate() {
            numbers[leaf as usize] = page as u32;
            let start = ctg.len();
            ctg.extend((entries.len() as u16).to_be_bytes());
            ctg.extend((4 + entries.concat().len() as u16).to_be_bytes());
            ctg.extend(entries.concat());
            assert!(ctg.len() <= start + PAGE_LEN as usize);
            ctg.resize(start + PAGE_LEN as usize, 0xaa);
        }
        let mut bitmap = vec![0_u8; (mask as usize).div_ceil(8)];
        (0..mask as usize).for_each(|node| bitmap[node / 8] |= 1 << (node % 8));
        let ctb = ctb(&bitmap);
        let low = u32::from_be_bytes(ctb[4..8].try_into().unwrap());
        [ctg, cto(&numbers, low), ctb]
    }

    pub fn open(&self) -> Result<Ctg> {
        let [ctg, cto, ctb] = self.files();
        Ctg::new("made.ctg", ctg, cto, ctb)
    }

    pub fn book(&self) -> Ctg {
        self.open().unwrap()
    }
}

/// What follows a signature.
pub fn entry(moves: &[u8], known: &Known) -> Vec<u8> {
    let mut bytes = vec![moves.len() as u8 + 1];
    bytes.extend(moves);
    let three = |number: u32| number.to_be_bytes()[1..].to_vec();
    known.counts.iter().for_each(|&count| bytes.extend(three(count)));
    bytes.extend([0; 4]);
    let [own_games, own_sum, other_games, other_sum] = known.ratings;
    bytes.extend(three(own_games));
    bytes.extend(own_sum.to_be_bytes());
    bytes.extend(three(other_games));
    bytes.extend(other_sum.to_be_bytes());
    bytes.extend([known.recommendation, 0, 0]);
    assert_eq!(bytes.len(), 1 + moves.len() + STATISTICS_LEN);
    bytes
}
