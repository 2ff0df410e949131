//! `tabiya show`: the moves that each book has in a position, and the chance of each.

mod board;
mod json;
mod places;
mod table;

use std::path::PathBuf;
use std::sync::Arc;

use shakmaty::{CastlingMode, Position as _};

use super::exit::Exit;
use super::out::{self, Look, Stop};
use super::policy_args::PolicyArgs;
use crate::base::error::Result;
use crate::book::{self, Book, BookMove, Shelf};
use crate::chess::Game;
use crate::choose::{Policy, chances};
use places::{Places, each_place};

/// `tabiya show`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The books
    #[arg(required = true, value_name = "BOOK")]
    books: Vec<PathBuf>,
    #[command(flatten)]
    places: Places,
    /// Print one line of JSON for each position and book
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    policy: PolicyArgs,
}

/// A book's moves in one position, by falling chance.
struct View<'a> {
    book: &'a dyn Book,
    game: &'a Game,
    mode: CastlingMode,
    moves: Vec<(BookMove, f64)>,
    /// Plies that the line of the most likely move goes on, that move counted; `None` where nothing may be played.
    line: Option<u32>,
}

/// Shows what is asked for.
///
/// # Errors
/// When a position or a move is none, or the file of positions cannot be read.
pub fn run(args: &Args) -> Result<Exit> {
    let policy = args.policy.policy();
    let mut books = Vec::new();
    let mut unreadable = false;
    for path in &args.books {
        match book::open(path) {
            Ok(book) => books.push((Arc::clone(&book), Shelf::new(&[], &[], &[book]))),
            Err(error) => {
                out::complain(&error);
                unreadable = true;
            }
        }
    }
    let look = Look::of_stdout();
    out::print(|out| {
        let mut unknown = false;
        each_place(&args.places, &mut |game, mode| {
            let mut known = false;
            if !args.json {
                table::place(game, look, out)?;
            }
            for (book, shelf) in &mut books {
                let view = view(&**book, shelf, game, mode, &policy);
                known |= !view.moves.is_empty();
                if args.json {
                    json::line(&view, out)?;
                } else {
                    table::book(&view, out)?;
                }
            }
            unknown |= !known;
            Ok::<_, Stop>(())
        })?;
        Ok(match (unreadable, unknown) {
            (true, _) => Exit::File,
            (_, true) => Exit::Wanting,
            _ => Exit::Done,
        })
    })
}

/// Asks a book, whose own shelf tells how long its lines are.
fn view<'a>(
    book: &'a dyn Book,
    shelf: &mut Shelf,
    game: &'a Game,
    mode: CastlingMode,
    policy: &Policy,
) -> View<'a> {
    let position = game.position();
    let color = position.chess().turn();
    let mut plies_of = |mv| 1 + shelf.line(color, &position.after(mv), 0, &mut Vec::new());
    let (mut moves, mut chance) = (Vec::new(), Vec::new());
    book.moves(position, &mut moves);
    let covered = policy.covers(game.fullmove());
    let allowed = |mv| {
        covered
            && (policy.repeats || !game.repeats(mv))
            && (policy.reserve <= 1 || plies_of(mv) >= policy.reserve)
    };
    chances(&moves, policy, allowed, &mut chance);
    let mut moves: Vec<_> = moves.into_iter().zip(chance).collect();
    moves.sort_by(|(a, chance_a), (b, chance_b)| chance_b.total_cmp(chance_a).then(b.weight.cmp(&a.weight)));
    let first = moves.first().filter(|(_, chance)| *chance > 0.0);
    let line = first.map(|(first, _)| plies_of(first.mv));
    View { book, game, mode, moves, line }
}
