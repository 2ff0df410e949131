//! Sources of a command that takes books and games by the same argument.

use std::path::{Path, PathBuf};

use tabiya_games::{cbh, cbv};

/// Whether a path is named like games: PGN, also compressed, a database of ChessBase or its archive.
pub(crate) fn named_like_games(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.ends_with(".pgn") || name.contains(".pgn.") || cbh::is_named(path) || cbv::is_named(path)
}

/// The books, and the games: files with their names, and folders that hold no count files.
pub(crate) fn books_and_games(sources: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let is_book = |path: &&PathBuf| {
        let is_counts = || tabiya_book::counts::named(path).is_ok_and(|files| files.is_some());
        !named_like_games(path) && (!path.is_dir() || is_counts())
    };
    let (books, games): (Vec<&PathBuf>, Vec<&PathBuf>) = sources.iter().partition(is_book);
    (books.into_iter().cloned().collect(), games.into_iter().cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_like_games_is_a_book() {
        let folder = tempfile::tempdir().unwrap();
        let games =
            ["a.pgn", "B.PGN", "c.pgn.zst", "d.cbh", "e.CBV", "games"].map(|name| folder.path().join(name));
        let books =
            ["a.bin", "pgn", "c.pgnx", "d.ctg", "e.parquet", "counts"].map(|name| folder.path().join(name));
        for (name, file) in [("games", "a.pgn"), ("counts", "a.parquet")] {
            let within = folder.path().join(name);
            std::fs::create_dir(&within).unwrap();
            std::fs::write(within.join(file), "").unwrap();
        }
        let all: Vec<PathBuf> =
            games.iter().zip(&books).flat_map(|(game, book)| [game.clone(), book.clone()]).collect();
        assert_eq!(books_and_games(&all), (books.to_vec(), games.to_vec()));
    }
}
