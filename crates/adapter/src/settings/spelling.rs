//! Misspelt names: the known name that the user probably meant.

use super::options::Options;
use super::table;

/// What the name of an option means if it is not one.
pub(super) enum Meant {
    /// A key of the file, an argument of the command line.
    Key(&'static str),
    /// An option of tabiya.
    Option(&'static str),
}

impl Meant {
    /// What is meant by a name that is set as an option; `None` if it is an option of tabiya, or may be one of the engine.
    ///
    /// Keys that do not decide who plays are only meant by their exact names: an engine may have an option `Speed`.
    pub(super) fn by(name: &str) -> Option<Self> {
        if Options::is_ours(name.as_bytes()) {
            return None;
        }
        let decides = |key: &&'static str| table::decides(key);
        let exact = || table::keys().find(|key| *key == name);
        let near = || nearest(name, table::keys().filter(decides));
        exact()
            .map(Self::Key)
            .or_else(|| nearest(name, Options::names()).map(Self::Option))
            .or_else(|| near().map(Self::Key))
    }
}

/// The option of tabiya whose name is this one with `Book` before it, as the keys of `[[book]]` tables have it; `None` for others.
pub fn without_book(name: &str) -> Option<&'static str> {
    let short = |option: &&str| option.strip_prefix("Book ").is_some_and(|short| bare(short) == bare(name));
    Options::names().find(short)
}

/// The known name that differs from `name` by no more than one wrong, missing, superfluous or swapped letter, apart from
/// letter case, the separators of its words, and plurals; `None` if there is none.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (whole, singular) = (bare(name), singular(name));
    let is_near = |known: &&str| {
        strsim::osa_distance(&singular, &self::singular(known)) <= 1
            || strsim::osa_distance(&whole, &bare(known)) <= 1
    };
    let likeness = |known: &str| strsim::jaro_winkler(&whole, &bare(known));
    known.into_iter().filter(is_near).max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
}

/// A name in lower case without separators.
fn bare(name: &str) -> String {
    words(name).concat()
}

/// A name in lower case without separators and plural endings.
fn singular(name: &str) -> String {
    words(name).iter().map(|word| word.strip_suffix('s').unwrap_or(word)).collect()
}

/// The words of a name in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for letter in name.chars() {
        // A capital letter after a small one starts a word, as in `engineArgs`.
        if !letter.is_alphanumeric() || (lower && letter.is_uppercase()) {
            words.push(String::new());
        }
        lower = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_a_rule_leads_to_its_option() {
        let all = ["variety", "max-loss", "Fresh File", "THRESHOLD"].map(without_book);
        assert_eq!(
            all.map(Option::unwrap),
            ["Book Variety", "Book Max Loss", "Book Fresh File", "Book Threshold"]
        );
        assert_eq!((without_book("Hash"), without_book("")), (None, None));
    }

    #[test]
    fn a_misspelt_name_is_found_by_its_words() {
        let known = ["engine", "engine-arg", "book-white", "Book Learn Margin", "OwnBook"];
        for (name, known_name) in [
            ("Engine", Some("engine")),
            ("ENGINES", Some("engine")),
            ("engine-args", Some("engine-arg")),
            ("engine_arg", Some("engine-arg")),
            ("engineArgs", Some("engine-arg")),
            ("enginearg", Some("engine-arg")),
            ("books-white", Some("book-white")),
            ("book white", Some("book-white")),
            ("BookLearn-margins", Some("Book Learn Margin")),
            ("own_book", Some("OwnBook")),
            ("motor", None),
            ("enginee", Some("engine")),
            ("engin", Some("engine")),
            ("enigne", Some("engine")),
            ("EngineArgd", Some("engine-arg")),
            ("book-wihte", Some("book-white")),
            ("BookLernMargins", Some("Book Learn Margin")),
            ("nigne", None),
            ("arg", None),
            ("", None),
            ("-s", None),
        ] {
            assert_eq!(nearest(name, known), known_name, "{name}");
        }
        assert_eq!(
            (nearest("sed", ["set", "seed"]), nearest("seet", ["seed", "set"])),
            (Some("seed"), Some("set"))
        );
    }
}
