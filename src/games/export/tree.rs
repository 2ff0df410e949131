//! A game's moves with all its variations.
#![allow(clippy::indexing_slicing, reason = "the index was that of the last element when it was taken")]

use shakmaty::Color;

/// A move in standard algebraic notation, or another short word: no move has more than seven characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct San {
    /// The characters from the lowest byte on, and in the highest byte how many there are: a word like this is put
    /// together without going through memory.
    word: u64,
}

impl San {
    /// Nothing.
    pub const EMPTY: Self = Self { word: 0 };

    /// The move that this text is, cut after its seventh character.
    ///
    /// ```
    /// use tabiya::games::export::San;
    /// assert_eq!(San::new(b"Qa1xb2+").to_text(), "Qa1xb2+");
    /// ```
    pub fn new(text: &[u8]) -> Self {
        let mut san = Self::default();
        text.iter().for_each(|&character| san.push(character));
        san
    }

    /// Adds a character of ASCII; an eighth one has no place.
    #[inline]
    pub const fn push(&mut self, character: u8) {
        let len = self.word >> 56;
        if len < 7 {
            self.word = (self.word | (character as u64 & 0x7f) << (8 * len)) + (1 << 56);
        }
    }

    /// The characters from the lowest byte on, of which there are no more than seven.
    #[inline]
    pub const fn from_word(characters: u64, len: u32) -> Self {
        Self { word: (characters & ((1 << 56) - 1)) | (len as u64 & 7) << 56 }
    }

    /// Its characters from the lowest byte on.
    #[inline]
    pub(super) const fn characters(self) -> u64 {
        self.word & ((1 << 56) - 1)
    }

    /// How many characters there are.
    #[inline]
    pub fn len(self) -> usize {
        (self.word >> 56) as usize
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Its characters.
    pub fn to_text(self) -> String {
        self.padded().iter().take(self.len()).copied().map(char::from).collect()
    }

    /// Its characters, followed by bytes that do not belong to it.
    #[inline]
    pub(super) fn padded(self) -> [u8; 8] {
        self.word.to_le_bytes()
    }
}

/// A move of a tree: itself and the nodes around it, each by its number.
#[derive(Clone, Copy, Debug)]
pub struct Node<M = San> {
    /// The move.
    pub mv: M,
    /// Plies from the start of the game, this one included.
    pub ply: u32,
    /// The first move that continues; 0 where there is none.
    pub next: u32,
    /// Another move that is played instead of this one; 0 where there is none.
    pub other: u32,
}

/// The moves of a game, kept in the order in which they were added: node 0 is the start, node n the n-th move.
#[derive(Clone, Debug)]
pub struct Tree<M = San> {
    /// What stands for the start means nothing.
    moves: Vec<M>,
    /// How the nodes hang together; empty while the game is one line.
    links: Vec<Links>,
    /// Where the next move is added.
    at: u32,
    /// Where earlier moves are to be replaced.
    kept: Vec<u32>,
    /// Who moves first.
    pub first: Color,
    /// The number of the first move.
    pub number: u32,
}

/// How a node hangs together with the others.
#[derive(Clone, Copy, Debug)]
struct Links {
    ply: u32,
    /// The first and the last move that continue; 0 where there are none.
    next: u32,
    last: u32,
    other: u32,
}

impl<M: Copy + Default> Default for Tree<M> {
    fn default() -> Self {
        let moves = vec![M::default()];
        Self { moves, links: Vec::new(), at: 0, kept: Vec::new(), first: Color::White, number: 1 }
    }
}

impl<M: Copy + Default> Tree<M> {
    /// Forgets everything but the memory it is kept in.
    pub fn clear(&mut self) {
        self.moves.truncate(1);
        self.links.clear();
        self.kept.clear();
        (self.at, self.first, self.number) = (0, Color::White, 1);
    }

    /// Adds a move after the last one.
    #[inline]
    pub fn add(&mut self, mv: M) {
        let number = self.moves.len() as u32;
        if !self.links.is_empty() {
            self.link(number);
        }
        self.moves.push(mv);
        self.at = number;
    }

    fn link(&mut self, number: u32) {
        let Some(parent) = self.links.get_mut(self.at as usize) else { return };
        let ply = parent.ply + 1;
        let older = std::mem::replace(&mut parent.last, number);
        if parent.next == 0 {
            parent.next = number;
        } else if let Some(older) = self.links.get_mut(older as usize) {
            older.other = number;
        }
        self.links.push(Links { ply, next: 0, last: 0, other: 0 });
    }

    /// Remembers that the next move gets another one beside it.
    pub fn push(&mut self) {
        if self.links.is_empty() {
            let last = self.len();
            let next = |ply| if ply < last { ply + 1 } else { 0 };
            let link = |ply| Links { ply, next: next(ply), last: next(ply), other: 0 };
            self.links.extend((0..=last).map(link));
        }
        self.kept.push(self.at);
    }

    /// Goes back to where the last [`push`](Tree::push) was.
    pub fn pop(&mut self) {
        self.at = self.kept.pop().unwrap_or_default();
    }

    /// A node.
    #[inline]
    pub fn node(&self, number: u32) -> Option<Node<M>> {
        let mv = *self.moves.get(number as usize)?;
        if self.links.is_empty() {
            let next = if number < self.len() { number + 1 } else { 0 };
            return Some(Node { mv, ply: number, next, other: 0 });
        }
        let links = self.links.get(number as usize)?;
        Some(Node { mv, ply: links.ply, next: links.next, other: links.other })
    }

    /// Its moves where it is one line.
    #[inline]
    pub fn line(&self) -> Option<&[M]> {
        self.moves.get(1..).filter(|_| self.links.is_empty())
    }

    /// How many moves it has, those of variations included.
    #[inline]
    pub fn len(&self) -> u32 {
        (self.moves.len() - 1) as u32
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What is said of one move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remark {
    /// The node of the move; 0 is the game as a whole.
    pub node: u32,
    /// A text before the move.
    pub before: String,
    /// Its numeric annotation glyphs.
    pub glyphs: Vec<u8>,
    /// A text after it.
    pub after: String,
}

impl Remark {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.glyphs.is_empty() && self.after.is_empty()
    }
}

/// What is said of a game's moves.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// In the order of their nodes, each once.
    remarks: Vec<Remark>,
}

impl Notes {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.remarks.clear();
    }

    /// What is said of a node, to be filled in.
    pub fn entry(&mut self, node: u32) -> &mut Remark {
        let at = self.remarks.partition_point(|remark| remark.node < node);
        if self.remarks.get(at).is_none_or(|remark| remark.node != node) {
            self.remarks.insert(at, Remark { node, ..Remark::default() });
        }
        &mut self.remarks[at]
    }

    /// What is said of a node.
    pub fn of(&self, node: u32) -> Option<&Remark> {
        let at = self.remarks.partition_point(|remark| remark.node < node);
        self.remarks.get(at).filter(|remark| remark.node == node)
    }

    /// All that is said.
    pub fn all(&self) -> &[Remark] {
        &self.remarks
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.remarks.is_empty()
    }
}
