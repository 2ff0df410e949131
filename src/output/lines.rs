//! A book's moves and lines, in the order in which they are printed.

use shakmaty::Move;

use tabiya_book::traits::Book;
use tabiya_book::traverse::{Met, Replies};
use tabiya_book::{Annotation, MoveFacts};
use tabiya_chess::Position;
use tabiya_workshop::view::san;

/// Follows a book's lines move by move, each position once.
///
/// A book for one side has no moves for the other side. So a reply that the book does not have is followed if it leads to
/// a position of the book that the book's own moves do not reach.
pub struct BookLines<'a> {
    book: &'a dyn Book,
    seen: Met,
    replies: Replies,
}

/// A move of a book's line.
#[derive(Clone, Debug)]
pub struct LineStep {
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

impl<'a> BookLines<'a> {
    /// The lines of a book.
    pub fn new(book: &'a dyn Book, replies: Replies) -> Self {
        Self { book, seen: Met::default(), replies }
    }

    /// Whether a line went through a position.
    pub fn saw(&self, key: u64) -> bool {
        self.seen.keys().contains(&key)
    }

    /// The moves from a position, the heaviest first and replies last. There are none if the line ends, or if the position was
    /// seen before: then the flag is set.
    pub(crate) fn moves_from(&mut self, at: &Position) -> (Vec<LineStep>, bool) {
        if self.seen.contains(at) {
            return (Vec::new(), true);
        }
        let moves = self.book.moves_in(at);
        let replies = self.replies(at, &moves);
        if moves.is_empty() && replies.is_empty() {
            return (Vec::new(), false);
        }
        self.seen.insert(at);
        let all: f64 = moves.iter().map(|known| known.weight as f64).sum();
        let step = |known: MoveFacts, reply| LineStep {
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

    /// The replies from a position. Where the book has moves, those to positions that were seen before do not count.
    fn replies(&self, at: &Position, own: &[MoveFacts]) -> Vec<Move> {
        let mut moves: Vec<_> = own.iter().map(|known| known.mv).collect();
        self.replies.append(self.book, at, &mut moves);
        let mut replies = moves.split_off(own.len());
        replies.retain(|mv| own.is_empty() || self.seen.may_be_new(at, *mv));
        replies
    }
}

/// A mark as it is written after a move: a symbol, or the word in brackets.
pub fn mark(annotation: Option<Annotation>) -> String {
    match annotation {
        None => String::new(),
        Some(mark @ (Annotation::Only | Annotation::Zugzwang | Annotation::Other(_))) => {
            format!("[{}]", mark.as_str())
        }
        Some(mark) => mark.as_str().to_owned(),
    }
}
