//! Opens the books that the user named.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use shakmaty::Color;

use tabiya_base::progress::Progress;
use tabiya_book::traits::Book;
use tabiya_book::{self as book, BookSet};
use tabiya_chess::Variant;
use tabiya_search::evals;

use crate::session::BookProblem;
use crate::settings::advice::{other_rules, worded};
use crate::settings::books::{BookFiles, BookList};
use crate::settings::rules::{Rule, rule_name};
use crate::settings::search_paths::SearchPaths;

/// What the books of a list are to be.
#[derive(Clone, Copy)]
struct Kind {
    variant: Variant,
    /// Whether they are to be played now.
    is_played: bool,
}

/// Opens books for the session, which does no I/O itself.
pub struct BookLoader {
    /// Where relative paths are looked up.
    pub search_paths: SearchPaths,
}

impl BookLoader {
    /// Opens the books of these lists, and if asked to the stores of evaluations beside them; returns those that could be
    /// opened, and the problems with books. A book of a variant whose moves obey other rules is not opened.
    pub fn open(&self, files: &BookFiles, with_evaluations: bool) -> (BookSet, Vec<BookProblem>) {
        let (mut set, mut problems) = self.opened(files, true);
        if with_evaluations {
            let (opened, failed) = evals::open_beside(&set.distinct());
            opened.iter().for_each(|(book, _)| log::info!("evaluations beside {}", book.path().display()));
            problems.extend(failed.iter().map(|error| BookProblem { what: worded(error), unopened: false }));
            set = set.with_evaluations(opened);
        }
        (set, problems)
    }

    /// Why books that are not played yet cannot be opened. What is in them is not looked at: that takes longer than the adapter's
    /// start.
    pub fn try_open(&self, files: &BookFiles) -> Vec<BookProblem> {
        self.opened(files, false).1
    }

    /// Opens the books of these lists.
    fn opened(&self, files: &BookFiles, is_played: bool) -> (BookSet, Vec<BookProblem>) {
        let mut problems = Vec::new();
        let kind = Kind { variant: files.variant, is_played };
        let white = self.open_list(&files.white, kind, &mut problems);
        let black = self.open_list(&files.black, kind, &mut problems);
        let both = match &files.both {
            BookList::Unnamed if files.are_unnamed() && files.variant == Variant::Chess => {
                book::starter_book()
                    .map_err(|error| problems.push(BookProblem { what: worded(&error), unopened: true }))
                    .into_iter()
                    .collect()
            }
            list => self.open_list(list, kind, &mut problems),
        };
        let rules = self.open_rules(files.both.rules(), kind, &mut problems);
        (BookSet::new(&white, &black, &both).with_rules(rules), problems)
    }

    /// Opens the books of rules, each file once; returns them with the numbers and the colours of their rules.
    fn open_rules(
        &self,
        rules: &[Rule],
        kind: Kind,
        problems: &mut Vec<BookProblem>,
    ) -> Vec<(usize, Option<Color>, Arc<dyn Book>)> {
        let mut opened = HashMap::new();
        let mut books = Vec::new();
        for (number, rule) in (1..).zip(rules) {
            let name = rule.file.as_str();
            let required = rules.iter().any(|other| other.file == name && !other.is_optional());
            let of_rule =
                opened.entry(name).or_insert_with(|| self.open_reported((name, kind), required, problems));
            for book in of_rule {
                log::info!("{}: {rule}", rule_name(number, book.path()));
                books.push((number, rule.color(), Arc::clone(book)));
            }
        }
        books
    }

    fn open_list(&self, list: &BookList, kind: Kind, problems: &mut Vec<BookProblem>) -> Vec<Arc<dyn Book>> {
        let opened = |name: &String| self.open_reported((name, kind), true, &mut *problems);
        list.files().iter().flat_map(opened).collect()
    }

    /// Opens a book, or those of a folder, and reports what cannot be opened.
    fn open_reported(
        &self,
        (name, kind): (&str, Kind),
        required: bool,
        problems: &mut Vec<BookProblem>,
    ) -> Vec<Arc<dyn Book>> {
        let found = match self.search_paths.find_books(name) {
            Ok(found) => found,
            Err(what) => {
                problems.push(BookProblem { what, unopened: required });
                return Vec::new();
            }
        };
        found.described().into_iter().for_each(|what| log::info!("books in {what}"));
        let mut books = Vec::new();
        for path in &found.paths {
            match open_one(path, kind) {
                Ok(book) if kind.is_played => {
                    log::info!("book: {} ({})", book.path().display(), book.format());
                    let warnings = book.warnings().into_iter();
                    problems.extend(warnings.map(|what| BookProblem { what, unopened: false }));
                    books.push(book);
                }
                Ok(book) => books.push(book),
                Err(what) => {
                    problems.push(BookProblem { what, unopened: required && !found.is_folder() });
                }
            }
        }
        let lack = found.lack_books().filter(|_| books.is_empty());
        problems.extend(lack.map(|what| BookProblem { what, unopened: required }));
        books
    }
}

/// Opens a book of this kind.
fn open_one(path: &Path, kind: Kind) -> Result<Arc<dyn Book>, String> {
    let book = book::open_as(path, kind.variant).map_err(|error| worded(&error))?;
    let is_seen = kind.is_played && kind.variant != Variant::Chess;
    let other = if is_seen { of_other_rules(&*book, kind.variant) } else { None };
    other.map_or(Ok(book), Err)
}

/// What is said where the moves of a book that is named as one of a variant obey other rules. A Polyglot book does not say for
/// which it is, so its moves are looked at, which may take a second.
pub fn of_other_rules(book: &dyn Book, variant: Variant) -> Option<String> {
    Some(other_rules(book.path(), &book.other_rules(variant, &Progress::none())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_book_may_be_missing_if_each_of_its_rules_says_so() {
        let loader = BookLoader { search_paths: SearchPaths::from_folders([std::env::temp_dir()]) };
        let rule = |file: &str, optional| {
            Rule { file: file.to_owned(), ..Rule::default() }.with("optional", optional)
        };
        let missing = |rules: Vec<Rule>| -> Vec<bool> {
            let files = BookFiles { both: BookList::Rules(rules), ..BookFiles::default() };
            loader.open(&files, false).1.iter().map(|problem| problem.unopened).collect()
        };
        let (a, b) = ("no-such-a.bin", "no-such-b.bin");
        assert_eq!(missing(vec![rule(a, "true"), rule(b, "false")]), [false, true]);
        assert_eq!(missing(vec![rule(a, "true"), rule(a, "false"), rule(b, "true")]), [true, false]);
    }
}
