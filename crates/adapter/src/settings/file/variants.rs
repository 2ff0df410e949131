//! The tables of variants in the configuration file: `[variant.NAME]`, each with the books of a variant.

use tabiya_chess::{NamedVariant, Variant, known_variants, named_variant};
use toml::de::{DeTable, DeValue};

use super::{CONTROL, QUOTES, Wrong, book_tables, has_control, in_order, texts};
use crate::settings::books::{BookFiles, BookList};
use crate::settings::table::{self, BOOK, SettingKind};

/// The key of all these tables.
pub(super) const KEY: &str = "variant";

/// The keys of a table: those of books at the top of the file.
const KEYS: [&str; 3] = [BOOK, "book-white", "book-black"];

/// Reads the value of `variant`; `start` is the offset of the key.
///
/// # Errors
/// When it is not made of tables, when no variant has the name of one, when two have the same, and when a table names its books
/// in a wrong way.
pub(super) fn read(value: &DeValue<'_>, start: usize) -> Result<Vec<BookFiles>, Wrong> {
    let DeValue::Table(tables) = value else {
        let what = format!("'{KEY}' is no table");
        let advice = "write the books of each variant below a line such as [variant.atomic]";
        return Err(Wrong { offset: start, what, advice: Some(advice.to_owned()) });
    };
    let mut all: Vec<BookFiles> = Vec::new();
    for (key, value) in in_order(tables) {
        let (name, offset) = (key.get_ref().as_ref(), key.span().start);
        let wrong = |what: String, advice: String| Wrong { offset, what, advice: Some(advice) };
        let variant = match named_variant(name) {
            Some(NamedVariant { variant, is_chess960: false }) if variant != Variant::Chess => variant,
            Some(_) => {
                let advice = "write the books before the first table: they serve Chess960 too";
                return Err(wrong(format!("[{KEY}.{name}] is standard chess"), advice.to_owned()));
            }
            None => {
                return Err(wrong(
                    format!("[{KEY}.{name}]: unknown variant"),
                    format!("write one of {}", known_variants()),
                ));
            }
        };
        if all.iter().any(|files| files.variant == variant) {
            return Err(wrong(format!("{variant} has two tables"), "write its books in one".to_owned()));
        }
        let DeValue::Table(table) = value.get_ref() else {
            return Err(wrong(
                format!("'{KEY}.{name}' is no table"),
                format!("write book = 'book.bin' below a line [{KEY}.{name}]"),
            ));
        };
        all.push(books(variant, table)?);
    }
    Ok(all)
}

/// Reads the table of a variant.
fn books(variant: Variant, table: &DeTable<'_>) -> Result<BookFiles, Wrong> {
    let mut files = BookFiles { variant, ..BookFiles::default() };
    for (key, value) in in_order(table) {
        let (name, offset) = (key.get_ref().as_ref(), key.span().start);
        let wrong = |what: String, advice: Option<String>| Wrong {
            offset,
            what: format!("[{KEY}.{variant}]: {what}"),
            advice,
        };
        let Some(place) = KEYS.iter().position(|known| *known == name) else {
            let advice = format!("its keys are {}; others belong at the top of the file", KEYS.join(", "));
            return Err(wrong(format!("unknown key '{name}'"), Some(advice)));
        };
        if let Some(rules) = (name == BOOK).then(|| book_tables::read_all(value.get_ref(), offset)).flatten()
        {
            files.both = BookList::Rules(rules?);
            continue;
        }
        if has_control(value.get_ref()) {
            return Err(wrong(format!("'{name}' {CONTROL}"), Some(QUOTES.to_owned())));
        }
        let names = texts(SettingKind::Files, value.get_ref());
        let names = names
            .ok_or_else(|| wrong(format!("'{name}' must be {}", table::SettingKind::Files.needs()), None))?;
        let list = BookList::from_names(names.iter().map(String::as_str));
        match place {
            0 => files.both = list,
            1 => files.white = list,
            _ => files.black = list,
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<BookFiles>, String> {
        let table = DeTable::parse(text).unwrap();
        let value = table.get_ref().get(KEY).unwrap();
        super::read(value.get_ref(), 0)
            .map_err(|Wrong { what, advice, .. }| format!("{what}: {}", advice.unwrap_or_default()))
    }

    #[test]
    fn each_variant_has_its_books() {
        let text = "[variant.atomic]\nbook = 'a.bin'\nbook-white = ['w.bin', 'x.bin']\n[[variant.kingOfTheHill.book]]\nfile = 'k.bin'\n\
                    variety = 0\n[variant.'3check']\nbook-black = 'b.bin'\n";
        let all = read(text).unwrap();
        let variants: Vec<_> = all.iter().map(|files| files.variant).collect();
        assert_eq!(variants, [Variant::Atomic, Variant::KingOfTheHill, Variant::ThreeCheck]);
        assert_eq!(
            (all[0].both.files(), all[0].white.files()),
            (&["a.bin".to_owned()][..], &["w.bin".to_owned(), "x.bin".to_owned()][..])
        );
        assert_eq!(all[1].both.rules()[0].file, "k.bin");
        assert_eq!(all[2].black.files(), ["b.bin"]);
    }

    #[test]
    fn slips_are_errors() {
        for (text, says) in [
            ("variant = 'atomic'\n", "'variant' is no table"),
            ("[variant.chess960]\nbook = 'a.bin'\n", "is standard chess: write the books before"),
            ("[variant.xiangqi]\nbook = 'a.bin'\n", "unknown variant: write one of atomic, antichess"),
            ("[variant.koth]\nbook = 'a.bin'\n[variant.kingofthehill]\nbook = 'b.bin'\n", "has two tables"),
            ("[variant.atomic]\nbooks = 'a.bin'\n", "[variant.atomic]: unknown key 'books'"),
            ("[variant.atomic]\nbook = 7\n", "'book' must be the path of a book"),
            ("[[variant.atomic.book]]\nvariety = 7\n", "'file' is missing"),
            ("[variant]\natomic = 'a.bin'\n", "'variant.atomic' is no table"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.contains(says), "{text}: {said}");
        }
    }
}
