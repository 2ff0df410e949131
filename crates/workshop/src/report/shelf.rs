//! The books that games were played from, and whose they are.

use std::sync::Arc;

use shakmaty::ByColor;

use tabiya_book::Variant;
use tabiya_book::traits::Book;
use tabiya_games::PlayerName;

/// The books, by their numbers, and the players that they belong to.
#[derive(Debug)]
pub struct Shelf {
    books: Vec<Arc<dyn Book>>,
    /// The players of each book; none: it is everybody's.
    owners: Vec<Vec<PlayerName>>,
    /// Whether all players are compared with all books, whichever they have played from.
    compares_all: bool,
    /// Whether several books without an owner are every player's, although the games do not say so.
    are_shared: bool,
}

/// The books of one side in a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// Their numbers.
    pub books: Arc<[usize]>,
    /// Distinguishes them from those of other sides; 0 for all books.
    pub(super) digest: u64,
    /// Whether they are known to be this side's: otherwise they are those of all players.
    pub(super) is_known: bool,
}

impl Shelf {
    /// These books, each of the player that it comes with, or else of all players; one that comes twice is of both. Whose they
    /// are is known if it is one, if the games say so, or if all players are compared with all books.
    pub fn new(
        given: impl IntoIterator<Item = (Option<PlayerName>, Arc<dyn Book>)>,
        compares_all: bool,
    ) -> Self {
        let (mut books, mut owners): (Vec<Arc<dyn Book>>, Vec<Vec<PlayerName>>) = (Vec::new(), Vec::new());
        for (owner, book) in given {
            match books.iter().position(|known| is_same(&**known, &*book)).and_then(|at| owners.get_mut(at)) {
                Some(owners) if owners.is_empty() || owner.is_none() => owners.clear(),
                Some(owners) => owners.extend(owner),
                None => {
                    books.push(book);
                    owners.push(owner.into_iter().collect());
                }
            }
        }
        let are_shared = compares_all || owners.iter().filter(|owners| owners.is_empty()).count() < 2;
        Self { books, owners, compares_all, are_shared }
    }

    /// Whether all players are compared with all books, whichever they have played from.
    pub(super) fn compares_all(&self) -> bool {
        self.compares_all
    }

    /// The variant of chess, which is that of all books.
    pub fn variant(&self) -> Variant {
        self.books.first().map(|book| book.variant()).unwrap_or_default()
    }

    /// All books.
    pub fn books(&self) -> &[Arc<dyn Book>] {
        &self.books
    }

    /// The books of both sides of a game, whose comments name these books for each side.
    ///
    /// A player's own books and those of all players are the player's. Of a player without own books they are those that the
    /// comments name, if they name any for either side: then a side of which they name none has played without a book.
    pub(crate) fn of_sides(&self, players: &ByColor<String>, named: &ByColor<Vec<usize>>) -> ByColor<Own> {
        let is_named = !(named.white.is_empty() && named.black.is_empty());
        players.as_ref().zip(named.as_ref()).map(|(player, named)| {
            let is_own = |owners: &Vec<PlayerName>| owners.iter().any(|name| name.is(player));
            let has_own = self.owners.iter().any(is_own);
            let is_known = has_own || is_named || self.are_shared;
            let mut books: Vec<usize> = if is_named && !has_own {
                named.clone()
            } else {
                let numbered = self.owners.iter().enumerate();
                numbered
                    .filter(|(_, owners)| owners.is_empty() || is_own(owners))
                    .map(|(number, _)| number)
                    .collect()
            };
            books.sort_unstable();
            self.own(books, is_known)
        })
    }

    fn own(&self, books: Vec<usize>, is_known: bool) -> Own {
        // FNV-1a, over the numbers.
        let mix = |digest: u64, number: &usize| (digest ^ *number as u64).wrapping_mul(0x0100_0000_01b3);
        let is_all = books.len() == self.books.len();
        let digest = if is_all { 0 } else { books.iter().fold(0xcbf2_9ce4_8422_2325, mix) };
        Own { books: books.into(), digest, is_known }
    }

    /// The numbers of the books of all players.
    pub(super) fn shared(&self) -> impl Iterator<Item = usize> {
        self.owners.iter().enumerate().filter(|(_, owners)| owners.is_empty()).map(|(number, _)| number)
    }

    /// The number of the book of all players that a path means, perhaps on another machine: the one whose path ends with as
    /// many of the same names as possible, at least with that of the file. `None` if there is none, or more than one.
    pub fn find(&self, path: &str) -> Option<usize> {
        let names = |path: &str| path.rsplit(['/', '\\']).map(str::to_owned).collect::<Vec<_>>();
        let wanted = names(path);
        let common = |book: &Arc<dyn Book>| {
            let known = names(&book.path().to_string_lossy());
            known.iter().zip(&wanted).take_while(|(one, other)| one == other).count()
        };
        let alike: Vec<(usize, usize)> = self
            .shared()
            .filter_map(|number| Some((common(self.books.get(number)?), number)))
            .filter(|(common, _)| *common > 0)
            .collect();
        let most = alike.iter().map(|(common, _)| *common).max()?;
        let mut best = alike.iter().filter(|(common, _)| *common == most);
        let (_, number) = best.next()?;
        best.next().is_none().then_some(*number)
    }
}

/// Whether two books are one file.
fn is_same(one: &dyn Book, other: &dyn Book) -> bool {
    let real = |book: &dyn Book| dunce::canonicalize(book.path()).unwrap_or_else(|_| book.path().to_owned());
    one.path() == other.path() || real(one) == real(other)
}

#[cfg(test)]
mod tests {
    use tabiya_book::open_bytes;

    use super::*;

    fn shelf(books: &[(Option<&str>, &str)]) -> Shelf {
        let open = |path: &str| open_bytes(path, vec![0; 16]).unwrap();
        Shelf::new(books.iter().map(|(owner, path)| (owner.map(PlayerName::whole), open(path))), false)
    }

    fn sides(shelf: &Shelf, named: [&[usize]; 2]) -> [Vec<usize>; 2] {
        let players = ByColor { white: "A".to_owned(), black: "b".to_owned() };
        let named = ByColor { white: named[0].to_vec(), black: named[1].to_vec() };
        let ByColor { white, black } = shelf.of_sides(&players, &named);
        [white.books.to_vec(), black.books.to_vec()]
    }

    #[test]
    fn a_player_has_own_books_or_those_that_comments_name_or_all() {
        let shared = shelf(&[(None, "a.bin"), (None, "b.bin")]);
        let nobody = ByColor { white: "A".to_owned(), black: "b".to_owned() };
        let is_known = |shelf: &Shelf, named| {
            shelf.of_sides(&nobody, &named).map(|own| own.is_known).into_iter().all(|own| own)
        };
        assert!(!is_known(&shared, ByColor::default()));
        assert!(is_known(&shared, ByColor { white: vec![0], black: vec![] }));
        assert!(is_known(&shelf(&[(None, "a.bin")]), ByColor::default()));
        assert_eq!(sides(&shared, [&[], &[]]), [vec![0, 1], vec![0, 1]]);
        assert_eq!(sides(&shared, [&[0], &[1]]), [vec![0], vec![1]]);
        assert_eq!(sides(&shared, [&[], &[1]]), [vec![], vec![1]]);
        let own = shelf(&[(Some("a"), "a.bin"), (Some("B"), "b.bin"), (None, "c.bin"), (Some("x"), "x.bin")]);
        assert_eq!(sides(&own, [&[], &[2]]), [vec![0, 2], vec![1, 2]]);
        assert_eq!(sides(&shelf(&[(Some("a"), "a.bin")]), [&[], &[]]), [vec![0], vec![]]);
    }

    #[test]
    fn a_path_of_another_machine_is_found_by_its_last_names() {
        let books =
            shelf(&[(None, "one/book.bin"), (None, "two/book.bin"), (None, "a.bin"), (Some("x"), "x.bin")]);
        assert_eq!(books.find(r"C:\games\two\book.bin"), Some(1));
        assert_eq!(books.find("/home/x/a.bin"), Some(2));
        for unknown in ["book.bin", "b.bin", "x.bin", ""] {
            assert_eq!(books.find(unknown), None, "{unknown}");
        }
    }
}
