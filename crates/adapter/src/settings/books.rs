//! The books that the user names: one list for both colours, and one for each colour.

use tabiya_book::choose::Policy;
use tabiya_chess::Variant;

use super::rules::Rule;

/// Separates the files of an option that holds several.
pub(super) const SEPARATOR: char = ';';

/// The value that means no book.
pub(crate) const NO_BOOK: &str = "<none>";

/// A list of books, by priority.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BookList {
    /// Nothing is named: the configuration's list is used, or else the starter book if no list names a book.
    #[default]
    Unnamed,
    /// No book is used.
    None,
    Files(Vec<String>),
    /// Books with a policy each; only the configuration file can name them so.
    Rules(Vec<Rule>),
}

impl BookList {
    /// Parses the value of an option, with `;` between the files: an empty one names nothing, `<none>` means no book.
    pub fn parse(value: &str) -> Self {
        Self::from_names(value.split(SEPARATOR))
    }

    /// A list of whole paths, in which `;` has no special meaning.
    pub(crate) fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names = names.into_iter().map(str::trim).filter(|name| !name.is_empty());
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        let all = names.len();
        names.retain(|name| !name.eq_ignore_ascii_case(NO_BOOK));
        match (names.is_empty(), all) {
            (false, _) => BookList::Files(names),
            (true, 0) => BookList::Unnamed,
            (true, _) => BookList::None,
        }
    }

    /// The files named, without those of rules.
    pub fn files(&self) -> &[String] {
        match self {
            BookList::Files(files) => files,
            BookList::Unnamed | BookList::None | BookList::Rules(_) => &[],
        }
    }

    pub fn rules(&self) -> &[Rule] {
        match self {
            BookList::Rules(rules) => rules,
            BookList::Unnamed | BookList::None | BookList::Files(_) => &[],
        }
    }

    fn or(&self, other: &Self) -> Self {
        if *self == BookList::Unnamed { other.clone() } else { self.clone() }
    }
}

/// All lists of books.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BookFiles {
    /// The variant whose moves they have.
    pub variant: Variant,
    /// `Book File`: books for both colours.
    pub both: BookList,
    /// `Book White`: books for White, before the others.
    pub white: BookList,
    /// `Book Black`: books for Black, before the others.
    pub black: BookList,
}

impl BookFiles {
    /// These lists, with the other's in place of those that name nothing. If the list for both colours is "no book",
    /// the other's books for one colour are not used either.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let nothing = Self::default();
        let colours = if self.both == BookList::None { &nothing } else { other };
        Self {
            variant: self.variant,
            both: self.both.or(&other.both),
            white: self.white.or(&colours.white),
            black: self.black.or(&colours.black),
        }
    }

    /// The names of all books and folders.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let lists = [&self.white, &self.black, &self.both].into_iter().flat_map(|list| list.files());
        lists.chain(self.both.rules().iter().map(|rule| &rule.file)).map(String::as_str)
    }

    /// Whether a move of one of these books may be refused because of what it loses.
    pub fn need_evaluations(&self, options: &Policy) -> bool {
        let mut rules = self.both.rules().iter();
        options.max_loss > 0 || rules.any(|rule| rule.policy(options).max_loss > 0)
    }

    /// Whether no list names a book, so that in standard chess the starter book answers.
    pub fn are_unnamed(&self) -> bool {
        let lists = [&self.both, &self.white, &self.black];
        self.both == BookList::Unnamed && lists.iter().all(|list| list.files().is_empty())
    }

    /// Whether neither colour has a book.
    pub fn is_none(&self) -> bool {
        self.both == BookList::None && self.white.files().is_empty() && self.black.files().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &[&str]) -> BookList {
        BookList::Files(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn an_option_names_files_or_nothing_or_no_book() {
        assert_eq!(BookList::parse(" a.bin; b c.bin ;;"), files(&["a.bin", "b c.bin"]));
        for nothing in ["", " ", ";", " ; "] {
            assert_eq!(BookList::parse(nothing), BookList::Unnamed, "{nothing:?}");
        }
        for none in ["<none>", " <NONE> ", ";<none>"] {
            assert_eq!(BookList::parse(none), BookList::None, "{none:?}");
        }
        assert_eq!(BookList::parse("<none>;a.bin"), files(&["a.bin"]));
    }

    #[test]
    fn a_whole_path_may_contain_the_separator() {
        assert_eq!(BookList::from_names(["a;b.bin", "c.bin"]), files(&["a;b.bin", "c.bin"]));
        assert_eq!(BookList::from_names([]), BookList::Unnamed);
        assert_eq!(BookList::from_names([NO_BOOK]), BookList::None);
    }

    #[test]
    fn the_configuration_supplies_the_lists_that_are_not_named() {
        let configured = BookFiles { both: files(&["a"]), white: files(&["w"]), ..BookFiles::default() };
        assert_eq!(BookFiles::default().or(&configured), configured);
        let own = BookFiles { both: files(&["x"]), ..BookFiles::default() };
        assert_eq!(own.or(&configured), BookFiles { both: files(&["x"]), ..configured.clone() });
        let none = BookFiles { both: BookList::None, ..BookFiles::default() };
        assert_eq!(none.or(&configured), none);
        assert!(none.or(&configured).is_none());
        let one = BookFiles { black: files(&["b"]), ..none.clone() };
        assert_eq!(one.or(&configured), one);
        assert!(!one.is_none());
        assert!(BookFiles::default().are_unnamed());
        let white = BookFiles { white: files(&["w"]), ..BookFiles::default() };
        assert!(!white.are_unnamed() && !own.are_unnamed() && !none.are_unnamed());
    }

    #[test]
    fn a_list_that_is_named_replaces_the_rules() {
        let rule = Rule { file: "r".to_owned(), ..Rule::default() };
        let both = BookList::Rules(vec![rule.clone()]);
        let configured = BookFiles { both, white: files(&["w"]), ..BookFiles::default() };
        assert_eq!(BookFiles::default().or(&configured), configured);
        assert_eq!((configured.both.rules(), configured.both.files().len()), (&[rule][..], 0));
        assert!(!configured.is_none());
        for own in [files(&["x"]), BookList::None] {
            let named = BookFiles { both: own.clone(), ..BookFiles::default() }.or(&configured);
            assert_eq!((&named.both, named.both.rules().len()), (&own, 0));
        }
    }
}
