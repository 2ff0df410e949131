//! A book's moves and lines, in the order in which they are printed.

use shakmaty::{Move, Position as _};

use crate::book::traverse::{Keys, own_lines};
use crate::book::{Annotation, Book, MoveFacts};
use crate::chess::Position;
use crate::view::san;

/// Follows a book's lines move by move, each position once.
///
/// A book for one side has no moves for the other side. So a reply that the book does not have is followed if it leads to
/// a position of the book that the book's own moves do not reach.
pub struct Lines<'a> {
    book: &'a dyn Book,
    seen: Keys,
    replies: Replies,
}

/// Which replies are followed.
pub(crate) enum Replies {
    /// None: the book's own moves reach everything, or more positions than may be looked at.
    None,
    /// To be decided at the first candidate, by looking at no more than this number of positions.
    Within(usize),
    /// Those that lead to a position outside this set, which the book's own moves reach.
    Beyond(Keys),
}

/// A move of a book's line.
#[derive(Clone, Debug)]
pub struct Step {
    /// What the book knows of it.
    pub known: MoveFacts,
    /// Whether it is a reply that the book does not have.
    pub reply: bool,
    /// Its share of the position's weight, 0 to 1.
    pub share: f64,
    /// The move in standard algebraic notation.
    pub san: String,
    /// The position after it.
    pub after: Position,
}

impl<'a> Lines<'a> {
    /// The lines of a book.
    pub fn new(book: &'a dyn Book, replies: Replies) -> Self {
        Self { book, seen: Keys::default(), replies }
    }

    /// Whether a line went through a position.
    pub fn saw(&self, key: u64) -> bool {
        self.seen.contains(&key)
    }

    /// The moves from a position, the heaviest first and replies last. There are none if the line ends, or if the position was
    /// seen before: then the flag is set.
    pub(crate) fn moves_from(&mut self, at: &Position) -> (Vec<Step>, bool) {
        if self.seen.contains(&at.key()) {
            return (Vec::new(), true);
        }
        let moves = self.book.moves_in(at);
        let replies = self.replies(at, &moves);
        if moves.is_empty() && replies.is_empty() {
            return (Vec::new(), false);
        }
        self.seen.insert(at.key());
        let all: f64 = moves.iter().map(|known| known.weight as f64).sum();
        let step = |known: MoveFacts, reply| Step {
            reply,
            share: if all > 0.0 { known.weight as f64 / all } else { 0.0 },
            san: san(at, known.mv),
            after: at.after(known.mv),
            known,
        };
        let own = moves.into_iter().map(|known| step(known, false));
        let replies = replies.into_iter().map(|mv| step(MoveFacts::new(mv, 0), true));
        let mut steps: Vec<_> = own.chain(replies).collect();
        steps.sort_by(|a, b| {
            let weight = b.known.weight.cmp(&a.known.weight);
            a.reply.cmp(&b.reply).then(weight).then_with(|| a.san.cmp(&b.san))
        });
        (steps, false)
    }

    /// The legal moves that the book does not have, and that lead to positions of the book that its own moves do not reach.
    /// Where the book has moves, positions that were seen before do not count.
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

    /// Whether the book's own moves do not reach this position.
    fn is_beyond(&mut self, key: u64) -> bool {
        if let Replies::Within(most) = self.replies {
            self.replies = own_lines(self.book, most).map_or(Replies::None, Replies::Beyond);
        }
        matches!(&self.replies, Replies::Beyond(reached) if !reached.contains(&key))
    }
}

/// A mark as it is written after a move: a symbol, or the word in brackets.
pub fn mark(annotation: Option<Annotation>) -> String {
    match annotation {
        None => String::new(),
        Some(mark @ (Annotation::Only | Annotation::Zugzwang)) => format!(" [{}]", mark.as_str()),
        Some(mark) => mark.as_str().to_owned(),
    }
}
