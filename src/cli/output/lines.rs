//! A book's lines: from a position on, move by move, each position once.

use shakmaty::san::SanPlus;
use shakmaty::{Color, Move, Position as _};

use crate::book::traverse::{Keys, own_lines};
use crate::book::{Annotation, Book, MoveFacts};
use crate::chess::Position;

/// The moves of a position, and which positions were seen before.
///
/// A book for one side has nothing where the other moves. So a reply that the book does not have is followed where it
/// leads to a position that the book's own moves do not reach.
pub struct Lines<'a> {
    book: &'a dyn Book,
    seen: Keys,
    most: u32,
    replies: Replies,
}

/// Which replies are followed.
pub enum Replies {
    /// None: the book's own moves reach everything, or more than is looked at.
    None,
    /// Found out when the first is met, with so many positions looked at.
    Within(usize),
    /// Those that lead elsewhere than to these positions.
    Beyond(Keys),
}

/// A move of a book's line.
#[derive(Clone, Debug)]
pub struct Step {
    /// What the book knows of it.
    pub known: MoveFacts,
    /// Whether it is a reply that the book does not have.
    pub reply: bool,
    /// Its part of the position's weight, 0 to 1.
    pub share: f64,
    /// The move with its number where that is `numbered`, and the mark.
    pub san: String,
    /// The position behind it.
    pub after: Position,
}

impl<'a> Lines<'a> {
    /// Lines of at most so many plies.
    pub fn new(book: &'a dyn Book, most: u32, replies: Replies) -> Self {
        Self { book, seen: Keys::default(), most, replies }
    }

    /// Whether lines went through a position.
    pub fn saw(&self, key: u64) -> bool {
        self.seen.contains(&key)
    }

    /// The moves that go on from a position that was reached in `plies`, the heaviest first and replies last; none where
    /// lines end, or where the position was seen before: then the flag is set.
    pub fn go_on(&mut self, at: &Position, plies: u32) -> (Vec<Step>, bool) {
        if plies >= self.most {
            return (Vec::new(), false);
        }
        if self.seen.contains(&at.key()) {
            return (Vec::new(), true);
        }
        let mut moves = Vec::new();
        self.book.moves(at, &mut moves);
        let replies = self.replies(at, &moves);
        if moves.is_empty() && replies.is_empty() {
            return (Vec::new(), false);
        }
        self.seen.insert(at.key());
        let all: f64 = moves.iter().map(|known| known.weight as f64).sum();
        let step = |known: MoveFacts, reply| Step {
            reply,
            share: if all > 0.0 { known.weight as f64 / all } else { 0.0 },
            san: SanPlus::from_move(at.chess().clone(), known.mv).to_string(),
            after: at.after(known.mv),
            known,
        };
        let own = moves.into_iter().map(|known| step(known, false));
        let mut steps: Vec<_> =
            own.chain(replies.into_iter().map(|mv| step(MoveFacts::new(mv, 0), true))).collect();
        steps.sort_by(|a, b| {
            let weight = b.known.weight.cmp(&a.known.weight);
            a.reply.cmp(&b.reply).then(weight).then_with(|| a.san.cmp(&b.san))
        });
        (steps, false)
    }

    /// The legal moves that the book does not have and that lead to its positions which its own moves do not reach. Where
    /// it has moves of its own, a position that was seen already is none of them.
    fn replies(&mut self, at: &Position, own: &[MoveFacts]) -> Vec<Move> {
        if matches!(self.replies, Replies::None) {
            return Vec::new();
        }
        let (mut replies, mut there) = (Vec::new(), Vec::new());
        for mv in at.chess().legal_moves() {
            let next = at.after(mv);
            let reached = matches!(&self.replies, Replies::Beyond(reached) if reached.contains(&next.key()));
            let again = !own.is_empty() && self.seen.contains(&next.key());
            if reached || again || own.iter().any(|known| known.mv == mv) {
                continue;
            }
            there.clear();
            self.book.moves(&next, &mut there);
            if !there.is_empty() && self.is_beyond(next.key()) {
                replies.push(mv);
            }
        }
        replies
    }

    /// Whether the book's own moves do not reach a position of it.
    fn is_beyond(&mut self, key: u64) -> bool {
        if let Replies::Within(most) = self.replies {
            self.replies = own_lines(self.book, most).map_or(Replies::None, Replies::Beyond);
        }
        matches!(&self.replies, Replies::Beyond(reached) if !reached.contains(&key))
    }
}

/// The number before a move in this position: `7.` or `7...`; nothing before Black's move where `short`.
pub fn number(at: &Position, short: bool) -> String {
    match at.chess().turn() {
        Color::White => format!("{}. ", at.chess().fullmoves()),
        Color::Black if short => String::new(),
        Color::Black => format!("{}... ", at.chess().fullmoves()),
    }
}

/// A mark as it stands behind a move: a sign, or the word in brackets.
pub fn mark(annotation: Option<Annotation>) -> String {
    match annotation {
        None => String::new(),
        Some(mark @ (Annotation::Only | Annotation::Zugzwang)) => format!(" [{}]", mark.as_str()),
        Some(mark) => mark.as_str().to_owned(),
    }
}
