//! A game's moves with all its variations.
#![allow(clippy::cast_possible_truncation, reason = "a game has fewer than 2^32 moves")]

use std::collections::BTreeMap;

use shakmaty::Color;

/// A move in standard algebraic notation, which has at most seven characters, or another short word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct San {
    /// The characters from the lowest byte up, and their number in the highest byte: building such a word needs no
    /// memory access.
    word: u64,
}

impl San {
    pub(crate) const EMPTY: Self = Self { word: 0 };

    /// The first seven characters of a text.
    ///
    /// ```
    /// use tabiya_games::export::San;
    /// assert_eq!(San::new(b"Qa1xb2+").to_text(), "Qa1xb2+");
    /// ```
    pub fn new(text: &[u8]) -> Self {
        let mut san = Self::default();
        text.iter().for_each(|&character| san.push(character));
        san
    }

    /// Adds an ASCII character; an eighth one is dropped.
    #[inline]
    pub const fn push(&mut self, character: u8) {
        let len = self.word >> 56;
        if len < 7 {
            self.word = (self.word | (character as u64 & 0x7f) << (8 * len)) + (1 << 56);
        }
    }

    /// Its characters from the lowest byte up.
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

/// A move of a tree, and its neighbours by their numbers.
#[derive(Clone, Copy, Debug)]
pub struct TreeNode<M = San> {
    /// The move.
    pub mv: M,
    /// Plies from the start of the game, this one included.
    pub ply: u32,
    /// The first move that continues; 0 where there is none.
    pub next: u32,
    /// The next alternative to this move; 0 where there is none.
    pub other: u32,
}

/// The moves of a game in the order in which they were added: node 0 is the start, node n the n-th move.
#[derive(Clone, Debug)]
pub struct MoveTree<M = San> {
    /// By node; that of the start means nothing.
    moves: Vec<M>,
    /// By node; empty while the game is one line.
    links: Vec<Links>,
    /// The node that the next move follows.
    at: u32,
    /// The nodes to go back to.
    kept: Vec<u32>,
    /// Who moves first.
    pub first: Color,
    /// The number of the first move.
    pub number: u32,
}

/// The neighbours of a node.
#[derive(Clone, Copy, Debug)]
struct Links {
    ply: u32,
    /// The first and the last move that continue; 0 where there are none.
    next: u32,
    last: u32,
    other: u32,
}

impl Links {
    /// Those of a node in a game of one line with so many moves.
    fn in_line(ply: u32, count: u32) -> Self {
        let next = if ply < count { ply + 1 } else { 0 };
        Self { ply, next, last: next, other: 0 }
    }
}

impl<M: Copy + Default> Default for MoveTree<M> {
    fn default() -> Self {
        let moves = vec![M::default()];
        Self { moves, links: Vec::new(), at: 0, kept: Vec::new(), first: Color::White, number: 1 }
    }
}

impl<M: Copy + Default> MoveTree<M> {
    /// Removes all moves, and keeps the memory.
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

    /// Remembers this place: an alternative to the next move follows later.
    pub fn push(&mut self) {
        self.branch(self.at);
    }

    /// Remembers this place, and goes to that of a node, which the next move follows.
    pub fn branch(&mut self, node: u32) {
        if self.links.is_empty() {
            let count = self.count();
            self.links.extend((0..=count).map(|ply| Links::in_line(ply, count)));
        }
        self.kept.push(self.at);
        self.at = node;
    }

    /// Goes back to where the last [`push`](MoveTree::push) or [`branch`](MoveTree::branch) was, or to the start of the game if there was none.
    pub fn pop(&mut self) {
        self.at = self.kept.pop().unwrap_or(0);
    }

    #[inline]
    pub(crate) fn node(&self, number: u32) -> Option<TreeNode<M>> {
        let mv = *self.moves.get(number as usize)?;
        let Links { ply, next, other, .. } = match self.links.get(number as usize) {
            Some(links) => *links,
            None => Links::in_line(number, self.count()),
        };
        Some(TreeNode { mv, ply, next, other })
    }

    /// Its moves, unless it has variations.
    #[inline]
    pub fn line(&self) -> Option<&[M]> {
        self.moves.get(1..).filter(|_| self.links.is_empty())
    }

    /// The steps through the tree in the order of PGN.
    pub fn walk(&self) -> TreeWalk<'_, M> {
        let at = self.node(0).map_or(0, |start| start.next);
        TreeWalk { tree: self, at, main: true, branches: false, open: Vec::new() }
    }

    /// The number of moves, those of variations included.
    #[inline]
    pub fn count(&self) -> u32 {
        (self.moves.len() - 1) as u32
    }
}

/// A step through a tree.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum TreeStep<M> {
    /// A move: its number and node.
    Move(u32, TreeNode<M>),
    /// A variation begins: its first move replaces the last one of the line.
    Open,
    /// The variation ends, and the line around it continues.
    Close,
}

/// The steps through a tree in the order of PGN: a move, the variations that replace it, and what follows it.
#[derive(Clone, Debug)]
pub struct TreeWalk<'a, M> {
    tree: &'a MoveTree<M>,
    /// The next move of the line; 0 at its end.
    at: u32,
    /// Whether that is the main continuation of its position, and not an alternative to it.
    main: bool,
    /// Whether the variations on the top of `open` come next.
    branches: bool,
    /// For each open variation: the alternative that comes after it, and the move that follows all of them.
    open: Vec<(u32, u32)>,
}

impl<M> TreeWalk<'_, M> {
    /// Leaves out the rest of the line, and the variations that would replace its last move.
    pub(crate) fn end_line(&mut self) {
        if std::mem::take(&mut self.branches) {
            self.open.pop();
        }
        self.at = 0;
    }
}

impl<M: Copy + Default> Iterator for TreeWalk<'_, M> {
    type Item = TreeStep<M>;

    fn next(&mut self) -> Option<TreeStep<M>> {
        if std::mem::take(&mut self.branches) {
            let (other, next) = self.open.pop()?;
            if let Some(node) = self.tree.node(other).filter(|_| other != 0) {
                self.open.push((node.other, next));
                (self.at, self.main) = (other, false);
                return Some(TreeStep::Open);
            }
            (self.at, self.main) = (next, true);
        }
        let number = self.at;
        if let Some(node) = self.tree.node(number).filter(|_| number != 0) {
            self.branches = self.main && node.other != 0;
            if self.branches {
                self.open.push((node.other, node.next));
            }
            (self.at, self.main) = (node.next, true);
            return Some(TreeStep::Move(number, node));
        }
        self.branches = !self.open.is_empty();
        self.branches.then_some(TreeStep::Close)
    }
}

/// The annotations of one move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remark {
    /// The comment before the move.
    pub before: String,
    /// Its numeric annotation glyphs.
    pub glyphs: Vec<u8>,
    /// The comment after it.
    pub after: String,
}

/// The annotations of a game, by the node of the move; 0 is the game as a whole.
pub type Notes = BTreeMap<u32, Remark>;
