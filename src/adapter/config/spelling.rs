//! Misspelt names: the known name that the user probably meant.

/// The known name that differs from `name` only by letter case, by the separators of its words, or by plurals; `None`
/// if there is none.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let bare = bare(name);
    known.into_iter().find(|known| self::bare(known) == bare)
}

/// The words of a name in lower case, without plural endings and separators.
fn bare(name: &str) -> String {
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
    words.iter().map(|word| word.strip_suffix('s').unwrap_or(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("enginee", None),
            ("arg", None),
            ("", None),
            ("-s", None),
        ] {
            assert_eq!(nearest(name, known), known_name, "{name}");
        }
    }
}
