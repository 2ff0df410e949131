//! Books as the user names them: one list for both colours, one for each.

/// Separates the files in an option that holds several.
const SEPARATOR: char = ';';

/// Stands for no book where a book could be named.
pub const NO_BOOK: &str = "<none>";

/// A list of books, by priority.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BookList {
    /// Nothing is named: the configuration's list stands for it, else the starter book.
    #[default]
    Unnamed,
    /// No book is wanted.
    None,
    /// Files as named.
    Files(Vec<String>),
}

impl BookList {
    /// The value of an option, with `;` between the files: empty names nothing, `<none>` wants no book.
    pub fn parse(value: &str) -> Self {
        Self::of(value.split(SEPARATOR))
    }

    /// Names that are whole paths: a `;` is a character like others.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
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

    /// The files named.
    pub fn files(&self) -> &[String] {
        match self {
            BookList::Files(files) => files,
            BookList::Unnamed | BookList::None => &[],
        }
    }

    fn or(&self, other: &Self) -> Self {
        if *self == BookList::Unnamed { other.clone() } else { self.clone() }
    }
}

/// The lists of books.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BookFiles {
    /// `Book File`: books for both colours.
    pub both: BookList,
    /// `Book White`: books for White, before the others.
    pub white: BookList,
    /// `Book Black`: books for Black, before the others.
    pub black: BookList,
}

impl BookFiles {
    /// These lists, and for each that names nothing the other's. Where no book is wanted for both colours, the other's
    /// books for one colour are not wanted either.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let nothing = Self::default();
        let colours = if self.both == BookList::None { &nothing } else { other };
        Self {
            both: self.both.or(&other.both),
            white: self.white.or(&colours.white),
            black: self.black.or(&colours.black),
        }
    }

    /// Whether no book is wanted for either colour.
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
    fn an_option_names_files_or_nothing_or_wants_none() {
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
    fn a_path_given_whole_may_hold_the_separator() {
        assert_eq!(BookList::of(["a;b.bin", "c.bin"]), files(&["a;b.bin", "c.bin"]));
        assert_eq!(BookList::of([]), BookList::Unnamed);
        assert_eq!(BookList::of([NO_BOOK]), BookList::None);
    }

    #[test]
    fn what_is_not_named_is_the_configurations() {
        let configured = BookFiles { both: files(&["a"]), white: files(&["w"]), black: BookList::Unnamed };
        assert_eq!(BookFiles::default().or(&configured), configured);
        let own = BookFiles { both: files(&["x"]), ..BookFiles::default() };
        assert_eq!(own.or(&configured), BookFiles { both: files(&["x"]), ..configured.clone() });
        let none = BookFiles { both: BookList::None, ..BookFiles::default() };
        assert_eq!(none.or(&configured), none);
        assert!(none.or(&configured).is_none());
        let one = BookFiles { black: files(&["b"]), ..none.clone() };
        assert_eq!(one.or(&configured), one);
        assert!(!one.is_none());
    }
}
