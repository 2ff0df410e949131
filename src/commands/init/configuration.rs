//! The configuration that is written.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tabiya_adapter::settings::template;
use tabiya_base::error::Result;
use tabiya_base::replace::Replacement;

/// The configuration for an engine and books: the template with their keys.
pub(super) fn configuration(engine: &Path, books: &[PathBuf]) -> String {
    let text = |path: &Path| toml::Value::String(path.display().to_string()).to_string();
    let books: Vec<String> = books.iter().map(|book| text(&whole(book))).collect();
    let engine = format!("engine = {}", text(&whole(engine)));
    let books = (!books.is_empty()).then(|| format!("book = [{}]", books.join(", ")));
    let line = |line: &str| match line {
        line if line.starts_with("#engine = ") => engine.clone(),
        line if line.starts_with("#book = ") => books.clone().unwrap_or_else(|| line.to_owned()),
        line => line.to_owned(),
    };
    template().lines().map(|known| line(known) + "\n").collect()
}

/// Whether the file is the template as it comes with tabiya, in which nothing is set.
pub(super) fn is_template(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.lines().eq(template().lines()))
}

/// A path that leads to its file from every folder.
fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Writes the configuration.
///
/// # Errors
/// When the file cannot be written, or exists and `force` is not given.
pub(super) fn write(path: &Path, text: &str, force: bool) -> Result<()> {
    let mut file = Replacement::new(path, force)?;
    file.write_all(text.as_bytes()).map_err(|error| file.error(error))?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use tabiya_adapter::settings::{Config, FILE_NAME, Given};

    use super::*;

    #[test]
    fn the_configuration_names_the_engine_and_the_books() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE_NAME);
        for name in ["sf", "it's \"new\"", r"C:\new\tabs", "Größe \\'"] {
            let (engine, book) = (folder.path().join(name), folder.path().join(format!("{name}.bin")));
            fs::write(&file, configuration(&engine, std::slice::from_ref(&book))).unwrap();
            let config = Config::load(Given::default(), file.to_str()).unwrap();
            assert_eq!((config.engine.as_str(), &config.warnings[..]), (engine.to_str().unwrap(), &[][..]));
            assert_eq!(config.options.books.both.files(), [book.to_str().unwrap()]);
        }
        assert!(configuration(Path::new("sf"), &[]).contains("\n#book = "));
    }

    #[test]
    fn the_template_is_replaced_and_anything_else_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE_NAME);
        assert!(!is_template(&file), "there is none");
        for (text, replaced) in [
            (template(), true),
            (template().replace('\n', "\r\n"), true),
            (template().replace("#seed", "seed"), false),
            (String::new(), false),
        ] {
            fs::write(&file, &text).unwrap();
            assert_eq!(is_template(&file), replaced);
        }
    }
}
