//! Where two books have different bytes, found by reading both once and in order.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::polyglot::{MAX_OF_ONE_KEY, PolyglotEntries};
use tabiya_book::traits::Book;
use tabiya_book::traverse::Keys;
use tabiya_book::{Learnable, Variant};

/// Bytes that are read at once of each of two files.
const BUFFER: usize = 1 << 18;

/// The keys of the positions in which two books may say different things: in all others both have the same entries. `None` if
/// these are more than `most`, or books do not have all that they say of a position at one place, in the order of keys; books of any
/// format may be copies of each other.
///
/// # Errors
/// When the work is interrupted.
pub(super) fn unlike(books: [&dyn Book; 2], most: usize, progress: &Progress) -> Result<Option<Keys>> {
    // Other rules may find a position by several keys.
    let entries = books.map(|book| book.as_learnable().filter(|_| book.variant() == Variant::Chess));
    let [Some(a), Some(b)] = entries.map(|book| book.map(Learnable::entries)) else {
        return Ok(are_copies(books, progress)?.then(Keys::default));
    };
    progress.things(a.len().max(b.len()) as u64, "entries");
    let key = |run: &PolyglotEntries<'_>| run.get(0).map_or(0, |entry| entry.key);
    let (mut runs_of_a, mut runs_of_b) = (a.runs().peekable(), b.runs().peekable());
    let (mut found, mut last, mut read) = (Keys::default(), None, 0);
    while let Some(next) = runs_of_a.peek().map(key).into_iter().chain(runs_of_b.peek().map(key)).min() {
        if last.is_some_and(|last| last >= next) {
            return Ok(None);
        }
        last = Some(next);
        let a = runs_of_a.next_if(|run| key(run) == next);
        let b = runs_of_b.next_if(|run| key(run) == next);
        read += a.or(b).map_or(0, PolyglotEntries::len);
        progress.step(read as u64)?;
        if a.zip(b).is_some_and(|(a, b)| say_the_same(a, b)) {
            continue;
        }
        if found.len() >= most {
            return Ok(None);
        }
        found.insert(next);
    }
    Ok(Some(found))
}

/// Whether all files of two books have the same bytes, which then say the same.
fn are_copies([a, b]: [&dyn Book; 2], progress: &Progress) -> Result<bool> {
    let (of_a, of_b) = (a.files(), b.files());
    if a.format() != b.format() || a.variant() != b.variant() || of_a.len() != of_b.len() {
        return Ok(false);
    }
    let mut read = 0;
    progress.bytes(of_a.iter().filter_map(|path| path.metadata().ok()).map(|file| file.len()).sum());
    for pair in of_a.iter().zip(&of_b) {
        // What cannot be read is no copy: looking positions up shows what books say then.
        let Ok(mut files) = Files::open(pair.0, pair.1) else { return Ok(false) };
        loop {
            match files.next() {
                Ok(Some(0)) => break,
                Ok(Some(more)) => read += more as u64,
                Ok(None) | Err(_) => return Ok(false),
            }
            progress.step(read)?;
        }
    }
    Ok(true)
}

/// Two files that are read side by side.
struct Files(BufReader<File>, BufReader<File>);

impl Files {
    fn open(a: &Path, b: &Path) -> io::Result<Self> {
        let open = |path| Ok::<_, io::Error>(BufReader::with_capacity(BUFFER, File::open(path)?));
        Ok(Self(open(a)?, open(b)?))
    }

    /// Reads on while both files have the same bytes. Returns how many these were, 0 at the end of both; `None` where the files differ.
    fn next(&mut self) -> io::Result<Option<usize>> {
        let (of_a, of_b) = (self.0.fill_buf()?, self.1.fill_buf()?);
        let both = of_a.len().min(of_b.len());
        if of_a.get(..both) != of_b.get(..both) || both == 0 && of_a.len() != of_b.len() {
            return Ok(None);
        }
        self.0.consume(both);
        self.1.consume(both);
        Ok(Some(both))
    }
}

/// Whether entries of one position are the same, in any order: what several say of one move is added up.
fn say_the_same(a: PolyglotEntries<'_>, b: PolyglotEntries<'_>) -> bool {
    let sorted = |run: PolyglotEntries<'_>| {
        let mut entries: Vec<_> = run.iter().collect();
        entries.sort_unstable_by_key(|entry| (entry.mv, entry.weight, entry.games, entry.halfpoints));
        entries
    };
    // Of more, look-ups read those that come first.
    let is_read_whole = a.len() <= MAX_OF_ONE_KEY;
    a.len() == b.len() && (a.iter().eq(b.iter()) || is_read_whole && sorted(a) == sorted(b))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tabiya_book as book;

    use super::*;

    #[test]
    fn keys_are_those_of_positions_whose_entries_differ() {
        let folder = tempfile::tempdir().unwrap();
        // Key, move, weight.
        let book = |name: &str, entries: &[(u64, u16, u16)]| {
            let bytes = |(key, mv, weight): &(u64, u16, u16)| {
                [&key.to_be_bytes()[..], &mv.to_be_bytes(), &weight.to_be_bytes(), &[0; 4]].concat()
            };
            let path = folder.path().join(name);
            std::fs::write(&path, entries.iter().flat_map(bytes).collect::<Vec<_>>()).unwrap();
            book::open_book(path).unwrap()
        };
        let a = [(1, 796, 5), (1, 731, 5), (2, 796, 1), (4, 796, 1), (5, 796, 3), (5, 796, 4)];
        let b = [(1, 731, 5), (1, 796, 5), (3, 796, 1), (4, 796, 2), (5, 796, 4), (5, 796, 3)];
        let (a, b) = (book("a.bin", &a), book("b.bin", &b));
        let keys = |a: &Arc<dyn Book>, b: &Arc<dyn Book>, most| {
            let found = unlike([&**a, &**b], most, &Progress::none()).unwrap()?;
            let mut found: Vec<u64> = found.into_iter().collect();
            found.sort_unstable();
            Some(found)
        };
        assert_eq!(keys(&a, &b, 3), Some(vec![2, 3, 4]));
        assert_eq!(keys(&b, &a, 3), Some(vec![2, 3, 4]));
        assert_eq!((keys(&a, &b, 2), keys(&a, &a, 0)), (None, Some(vec![])));
        let copies =
            |a: &Arc<dyn Book>, b: &Arc<dyn Book>| are_copies([&**a, &**b], &Progress::none()).unwrap();
        assert!(copies(&a, &a) && !copies(&a, &b));
        let unordered = book("c.bin", &[(2, 796, 1), (1, 796, 1)]);
        assert_eq!((keys(&unordered, &unordered, 9), keys(&a, &unordered, 9)), (None, None));
    }
}
