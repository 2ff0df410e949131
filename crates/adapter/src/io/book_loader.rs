//! Opens the books that the user named.

use std::collections::HashMap;
use std::sync::Arc;

use shakmaty::Color;

use tabiya_base::progress::Progress;
use tabiya_book::{self as book, Book, BookSet};
use tabiya_chess::Variant;
use tabiya_learn::evals;

use crate::session::BookProblem;
use crate::settings::advice::{other_rules, several, worded};
use crate::settings::books::{BookFiles, BookList};
use crate::settings::rules::{Rule, rule_name};
use crate::settings::search_paths::{SearchPaths, listed};

/// Opens books for the session, which does no I/O itself.
pub struct BookLoader {
    /// Where relative paths are looked up.
    pub search_paths: SearchPaths,
}

impl BookLoader {
    /// Opens the books of these lists, and if asked to the stores of evaluations beside them; returns those that could be
    /// opened, and the problems with books.
    pub fn open(&self, files: &BookFiles, with_evaluations: bool) -> (BookSet, Vec<BookProblem>) {
        let mut problems = Vec::new();
        let white = self.open_list(&files.white, files.variant, &mut problems);
        let black = self.open_list(&files.black, files.variant, &mut problems);
        let both = match &files.both {
            BookList::Unnamed if files.are_unnamed() && files.variant == Variant::Chess => book::starter()
                .map_err(|error| problems.push(BookProblem { what: worded(&error), unopened: true }))
                .into_iter()
                .collect(),
            list => self.open_list(list, files.variant, &mut problems),
        };
        let rules = self.open_rules(files.both.rules(), files.variant, &mut problems);
        let mut set = BookSet::new(&white, &black, &both).with_rules(rules);
        if with_evaluations {
            let (opened, failed) = evals::open_beside(&set.distinct());
            opened.iter().for_each(|(book, _)| log::info!("evaluations beside {}", book.path().display()));
            problems.extend(failed.iter().map(|error| BookProblem { what: worded(error), unopened: false }));
            set = set.with_evaluations(opened);
        }
        (set, problems)
    }

    /// Opens the books of rules, each file once; returns them with the numbers and the colours of their rules.
    fn open_rules(
        &self,
        rules: &[Rule],
        variant: Variant,
        problems: &mut Vec<BookProblem>,
    ) -> Vec<(usize, Option<Color>, Arc<dyn Book>)> {
        let mut opened = HashMap::new();
        let mut books = Vec::new();
        for (number, rule) in (1..).zip(rules) {
            let name = rule.file.as_str();
            let required = rules.iter().any(|other| other.file == name && !other.is_optional());
            let book =
                opened.entry(name).or_insert_with(|| self.open_reported((name, variant), required, problems));
            if let Some(book) = book {
                log::info!("{}: {rule}", rule_name(number, book.path()));
                books.push((number, rule.color(), Arc::clone(book)));
            }
        }
        books
    }

    fn open_list(
        &self,
        list: &BookList,
        variant: Variant,
        problems: &mut Vec<BookProblem>,
    ) -> Vec<Arc<dyn Book>> {
        let opened = |name: &String| self.open_reported((name, variant), true, &mut *problems);
        list.files().iter().filter_map(opened).collect()
    }

    /// Opens a book, or reports why it cannot be opened.
    fn open_reported(
        &self,
        (name, variant): (&str, Variant),
        required: bool,
        problems: &mut Vec<BookProblem>,
    ) -> Option<Arc<dyn Book>> {
        match self.open_one(name, variant) {
            Ok(book) => {
                log::info!("book: {} ({})", book.path().display(), book.format());
                let warnings = book.warnings().into_iter();
                problems.extend(warnings.map(|what| BookProblem { what, unopened: false }));
                Some(book)
            }
            Err(what) => {
                problems.push(BookProblem { what, unopened: required });
                None
            }
        }
    }

    /// Opens a book of a variant. A Polyglot book does not say for which it is, so its moves are looked at.
    fn open_one(&self, name: &str, variant: Variant) -> Result<Arc<dyn Book>, String> {
        let found = self.search_paths.find(name);
        let found = found.or_else(|tried| tried.iter().find_map(|path| book::in_any_case(path)).ok_or(tried));
        let path = found.map_err(|tried| {
            format!("{name}: no such book; looked for it at {}{}", listed(&tried), several(name))
        })?;
        let book = book::open_as(&path, variant).map_err(|error| worded(&error))?;
        let other =
            if variant == Variant::Chess { None } else { book.other_rules(variant, &Progress::none()) };
        other.map_or(Ok(book), |other| Err(other_rules(&path, &other)))
    }
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
