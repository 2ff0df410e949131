//! Merging books into one, and converting one into another format.

use std::sync::Arc;

use tabiya_base::bytes;
use tabiya_base::bytes::Parts as _;
use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_base::sort::{self, Sorter};
use tabiya_book::traits::Book;
use tabiya_book::verdict::{Rest, by_games};
use tabiya_book::{
    self as book, About, BookWriter, Decision, Extra, Format, Heading, MoveFacts, Moves, PositionRecord,
    Scope, Weights, Written, left_out, plain_weights,
};

use super::chances::Chances;
use super::facts_row::FactsRow;
use super::finished::finished;
use super::key_row::KeyRow;
use super::merging::Merging;
use super::sort::{RadixSorter, Sorted};
use super::{Names, Resources};

/// Bits of a game's number, after the number of its book.
const BOOK_SHIFT: u32 = 48;

/// Positions in which it matters which books are merged first.
const SCALED: &str = "positions whose sums of weights exceed 65535 and are scaled: merge all books at once, because these \
                      weights count less in another merge";

/// What was read, and what the new book leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// Positions that were read.
    pub read: u64,
    /// Positions that play does not reach, in books whose reachable positions alone are read.
    pub unreached: u64,
    /// Positions left out because only their key is known and the new format needs more.
    pub unplaced: u64,
    /// Moves left out because colours or marks rule them out and the new format has neither.
    pub ruled_out: u64,
    /// Moves left out because their factor means never and the new format has no factors.
    pub never: u64,
    /// Moves in the new book with a factor, which it has only in their weights.
    pub factors: u64,
    /// Positions whose comments, flags or ratings in a CTG book the new format does not have.
    pub remarks: u64,
}

/// Decides what colours, marks and factors leave to be played, and counts what they rule out.
fn rule_out(record: &mut PositionRecord, merged: &mut Merged) {
    let is_silent = |facts: &&MoveFacts<_>| {
        facts.weight == 0 && facts.annotation.is_none() && facts.recommended.is_none()
    };
    let never: Vec<_> = record.moves.iter().filter(is_silent).map(|facts| facts.mv).collect();
    let verdicts = Rest::from_moves(&record.moves, false);
    let factors: Vec<_> =
        record.moves.iter().filter(|facts| verdicts.leaves(facts)).map(|facts| facts.mv).collect();
    plain_weights(record);
    // Moves that weighed nothing before, of which nothing is said, are not ruled out, and may have learned something.
    let is_decided = |facts: &&mut MoveFacts<_>| facts.weight > 0 || !never.contains(&facts.mv);
    for facts in record.moves.iter_mut().filter(is_decided) {
        if facts.weight == 0 {
            let by_factor = facts.is_never_by_factor() && factors.contains(&facts.mv);
            *(if by_factor { &mut merged.never } else { &mut merged.ruled_out }) += 1;
        }
        facts.decision = facts.decision.or(Some(Decision::Judged));
    }
}

/// Writes the contents of all books into one. Weights, games and results are added up; marks and other facts that cannot
/// be added come from the first book that has them. For a format without colours and marks the weights become those that
/// colours and marks leave in tournaments.
///
/// Each book is read in its scope. `weights` says of what the weights are made where all moves of a position have games.
///
/// # Errors
/// When a file cannot be written, or the work is interrupted: no book is written then.
pub fn merge(
    books: &[(&dyn Moves, Scope)],
    weights: Weights,
    resources: &Resources,
    writer: Box<dyn BookWriter>,
    progress: &Progress,
) -> Result<(Merged, Written)> {
    let keys_only = !writer.needs_positions() && books.iter().all(|(book, _)| !book.holds_positions());
    if keys_only {
        merge_rows::<KeyRow>(books, weights, resources, writer, progress)
    } else {
        merge_rows::<FactsRow>(books, weights, resources, writer, progress)
    }
}

/// As [`merge`]: each book as far as the writer can take it, or only what its moves reach from the starting position.
///
/// # Errors
/// As [`merge`].
pub fn merge_books(
    books: &[Arc<dyn Book>],
    reachable: bool,
    weights: Weights,
    resources: &Resources,
    writer: Box<dyn BookWriter>,
    progress: &Progress,
) -> Result<(Merged, Written)> {
    let scope = |book: &dyn Moves| if reachable { Scope::Reachable } else { widest(book, &*writer) };
    let scoped: Vec<_> = books.iter().map(|book| (&**book as &dyn Moves, scope(&**book))).collect();
    merge(&scoped, weights, resources, writer, progress)
}

/// All positions of a book, or those that play reaches if only their keys are known and the writer needs more.
pub fn widest(book: &dyn Moves, writer: &dyn BookWriter) -> Scope {
    if writer.needs_positions() && !book.holds_positions() { Scope::Reachable } else { Scope::All }
}

fn merge_rows<R: Merging>(
    books: &[(&dyn Moves, Scope)],
    weights: Weights,
    resources: &Resources,
    mut writer: Box<dyn BookWriter>,
    progress: &Progress,
) -> Result<(Merged, Written)> {
    let resources = &resources.without(writer.memory());
    let mut headings = Headings::new(books.iter().map(|(book, _)| book.heading()).collect());
    headings.describe(&mut *writer);
    // Where it is defined how books add up, the sums of weights are not.
    let chances = (books.len() == 1 || !headings.decide_weights()).then(|| Chances::new(&resources.temp));
    // A book that can have comments is copied as it is, and one that has none gets the names of openings.
    let have_comments = books.iter().any(|(book, _)| book.as_remarks().is_some());
    let takes: Vec<_> = Format::all().filter(|format| writer.takes_extras(*format)).collect();
    let aside = if have_comments || !takes.is_empty() { resources.memory / 8 } else { 0 };
    let resources = &resources.without(aside);
    let mut reading = MergeReading {
        sorter: RadixSorter::new(resources.memory, &resources.temp),
        asides: Sorter::new(&resources.temp, aside),
        rows: Vec::<R>::new(),
        takes: &takes,
        merged: Merged::default(),
    };
    for (number, (book, scope)) in (0..).zip(books) {
        reading.book(number, *book, *scope, &mut *writer, progress)?;
    }
    let MergeReading { sorter, asides, merged, .. } = reading;
    let mut sorted = Sorted::new(vec![sorter.finish()?]);
    progress.things(sorted.total(), "moves");
    let names = (writer.holds_comments() && !have_comments).then(Names::default);
    let asides = Asides { sorted: asides.finish()?, next: None, takes };
    let mut writing = MergeWriting { writer, weights, asides, names, chances, merged, links: 0 };
    sorted.each(resources, progress, R::positions, |found| {
        found.into_iter().try_for_each(|record| writing.position(record))
    })?;
    writing.finish(&headings)
}

/// Reads books: their moves, sorted, and what is kept aside.
struct MergeReading<'a, R: Merging> {
    sorter: RadixSorter<R>,
    asides: Sorter,
    /// The rows of one position.
    rows: Vec<R>,
    /// The formats of whose books the new one takes what only they keep.
    takes: &'a [Format],
    merged: Merged,
}

impl<R: Merging> MergeReading<'_, R> {
    /// Reads a book; its games go to the writer.
    fn book(
        &mut self,
        number: u32,
        book: &dyn Moves,
        scope: Scope,
        writer: &mut dyn BookWriter,
        progress: &Progress,
    ) -> Result<()> {
        let first_game = u64::from(number) << BOOK_SHIFT;
        if let Some(remarks) = book.as_remarks().filter(|_| writer.wants_games()) {
            remarks.games(&mut |mut game| {
                game.number |= first_game;
                Ok(writer.game(&game)?)
            })?;
        }
        self.merged.unreached += book.each(scope, progress, &mut |record| {
            interrupt::check()?;
            Ok(self.position(record, number, first_game)?)
        })?;
        Ok(())
    }

    fn position(&mut self, record: &PositionRecord, number: u32, first_game: u64) -> Result<()> {
        let Self { sorter, asides, rows, merged, .. } = self;
        merged.read += 1;
        if let Some(comment) = &record.comment {
            // Of a position's comments the first counts.
            asides.push(&Aside::encode(record.key, merged.read, COMMENT, comment.as_bytes()))?;
        }
        for extra in &record.extras {
            let place = self.takes.iter().position(|format| *format == extra.format);
            if let Some(kind) = place.and_then(|place| u8::try_from(place + 1).ok()) {
                let bytes = [&number.to_be_bytes()[..], &extra.bytes].concat();
                asides.push(&Aside::encode(record.key, merged.read, kind, &bytes))?;
            } else {
                merged.remarks += u64::from(extra.is_missed());
            }
        }
        rows.clear();
        R::append(record, number, first_game, rows);
        rows.iter().try_for_each(|row| sorter.push(*row))
    }
}

/// Writes the positions of the new book.
struct MergeWriting {
    writer: Box<dyn BookWriter>,
    /// Of what the weights are made.
    weights: Weights,
    asides: Asides,
    /// The names of openings, where they are the comments.
    names: Option<Names>,
    /// Compares the chances of moves before and after.
    chances: Option<Chances>,
    merged: Merged,
    /// Links to games that the new book does not have.
    links: u64,
}

impl MergeWriting {
    fn position(&mut self, mut record: PositionRecord) -> Result<()> {
        let Self { writer, weights, asides, names, chances, merged, links } = self;
        if record.position.is_none() && writer.needs_positions() {
            merged.unplaced += 1;
            return Ok(());
        }
        let aside = asides.get(record.key)?;
        record.extras = aside.extras;
        record.comment = match names {
            Some(names) => names.get(record.key),
            None => aside.comment,
        };
        if *weights == Weights::Games {
            record.moves = by_games(&record.moves).unwrap_or(record.moves);
        }
        if !writer.holds_verdicts() {
            rule_out(&mut record, merged);
        }
        if !writer.holds_factors() {
            let acts = |facts: &&MoveFacts<_>| facts.factor.is_some() && !facts.is_struck_out();
            merged.factors += record.moves.iter().filter(acts).count() as u64;
        }
        *links += u64::from(record.game.is_some() && !writer.wants_games());
        if let Some(chances) = chances {
            match writer.held_weights(&record) {
                Some(held) => chances.compare(&record, &held),
                None => chances.remember(&record)?,
            }
        }
        writer.add(&record)
    }

    /// Ends the book, and says what it does not have of those with these headings.
    fn finish(self, headings: &Headings) -> Result<(Merged, Written)> {
        let mut written = finished(self.writer)?;
        let headers = left_out(headings.lost());
        (if headings.kept.is_some() { &mut written.changed } else { &mut written.left_out }).extend(headers);
        written.left_out.extend(left_out([("links from positions to games", self.links)]));
        if let (Some(mut chances), Some(file)) = (self.chances, written.files.first()) {
            if headings.all.len() > 1 {
                written.changed.extend(left_out([(SCALED, chances.scaled())]));
            }
            chances.look_up(&*book::open_book(file)?)?;
            written.changed.extend(chances.clause());
        }
        Ok((self.merged, written))
    }
}

/// Whether a book says of itself what a new book does not say that has the heading of another.
fn is_lost(heading: &Heading, kept: &Heading) -> bool {
    if heading.format == kept.format { heading != kept } else { heading.says_anything }
}

/// What the books that are read say of themselves, and which of it the new book says.
struct Headings {
    all: Vec<Option<Heading>>,
    kept: Option<Heading>,
}

impl Headings {
    fn new(all: Vec<Option<Heading>>) -> Self {
        Self { all, kept: None }
    }

    /// Gives the writer what the first book of its format says.
    fn describe(&mut self, writer: &mut dyn BookWriter) {
        let heading = self.all.iter().flatten().find(|heading| writer.takes(heading));
        if let Some(heading) = heading.cloned() {
            let alone = self
                .all
                .iter()
                .all(|other| other.as_ref().is_some_and(|other| other.format == heading.format));
            writer.describe(&About { heading: heading.clone(), alone });
            self.kept = Some(heading);
        }
    }

    /// Whether the new book gives moves weights as all books that are read do.
    fn decide_weights(&self) -> bool {
        let alike = |kept: &Heading| {
            self.all.iter().all(|other| {
                other
                    .as_ref()
                    .is_some_and(|other| (other.format, &other.settings) == (kept.format, &kept.settings))
            })
        };
        self.kept.as_ref().is_some_and(|kept| kept.weighs && alike(kept))
    }

    /// How many books say of themselves what the new book does not say.
    fn lost(&self) -> Vec<(&'static str, u64)> {
        let said = self.all.iter().flatten();
        match &self.kept {
            Some(kept) => vec![(
                "books with other texts or settings in their headers: the new book has those of the first",
                said.filter(|heading| is_lost(heading, kept)).count() as u64,
            )],
            None => vec![(
                "headers of books, with what they say of themselves: the format has no place for that",
                said.filter(|heading| heading.says_anything).count() as u64,
            )],
        }
    }
}

/// The kind of a comment that is kept aside. What only books of a format keep has one more than the place of the format among
/// those whose books are taken.
const COMMENT: u8 = 0;

/// What is kept of a position aside, because few books have it and it has any length.
#[derive(Default)]
struct Aside {
    comment: Option<String>,
    extras: Vec<Extra>,
}

impl Aside {
    /// A record: the key of the position, the number of the record that has it, its kind, the bytes.
    fn encode(key: u64, read: u64, kind: u8, bytes: &[u8]) -> Vec<u8> {
        [&key.to_be_bytes()[..], &read.to_be_bytes(), &[kind], bytes].concat()
    }

    fn add(&mut self, rest: &[u8], takes: &[Format]) {
        match rest.split_first() {
            Some((&COMMENT, text)) if self.comment.is_none() => {
                self.comment = Some(String::from_utf8_lossy(text).into_owned());
            }
            Some((&kind, rest)) => {
                let format = usize::from(kind).checked_sub(1).and_then(|place| takes.get(place));
                if let (Some(format), Some((book, bytes))) = (format, rest.split_first_chunk()) {
                    let book = u32::from_be_bytes(*book);
                    self.extras.push(Extra { format: *format, book, bytes: bytes.to_vec() });
                }
            }
            None => {}
        }
    }
}

/// What is kept aside, in the order of the positions' keys.
struct Asides {
    sorted: sort::Sorted,
    /// The first record that is not before the last key.
    next: Option<(u64, Vec<u8>)>,
    /// The formats of whose books something is kept.
    takes: Vec<Format>,
}

impl Asides {
    /// What is kept of a position; their keys ascend.
    ///
    /// # Errors
    /// When a temporary file cannot be read.
    fn get(&mut self, key: u64) -> Result<Aside> {
        let mut aside = Aside::default();
        loop {
            match &self.next {
                Some((next, _)) if *next > key => return Ok(aside),
                Some((next, rest)) if *next == key => aside.add(rest, &self.takes),
                _ => {}
            }
            let Some(record) = self.sorted.next()? else {
                self.next = None;
                return Ok(aside);
            };
            let rest = record.part(16..).to_vec();
            self.next = Some((bytes::u64_be(record, 0).unwrap_or_default(), rest));
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Position as _;
    use std::path::Path;
    use std::sync::Arc;
    use tabiya_book::traits::Book;
    use tabiya_book::{self as book, WriteOptions};
    use tabiya_chess::Position;

    use super::*;

    fn comment(word: &str, at: &Position) -> String {
        format!("{word} {:x} {}", at.key(), "x".repeat(80))
    }

    /// Writes a book of these positions, each with a comment that begins with a word.
    fn write(path: &Path, positions: &[Position], word: &str) -> Arc<dyn Book> {
        let mut writer = book::create_book(path, &WriteOptions::default()).unwrap();
        for at in positions {
            let moves: Vec<_> = at.chess().legal_moves().iter().map(|mv| MoveFacts::new(*mv, 2)).collect();
            let comment = Some(comment(word, at));
            writer.add(&PositionRecord { comment, ..PositionRecord::from_moves(at, &moves) }).unwrap();
        }
        writer.finish().unwrap();
        book::open_book(path).unwrap()
    }

    #[test]
    fn comments_that_memory_does_not_hold_come_back_and_the_first_of_a_position_counts() {
        let folder = tempfile::tempdir().unwrap();
        let (mut positions, mut at) = (vec![Position::start()], 0);
        while positions.len() < tabiya_testing::times(800, 1500) {
            let found = positions[at].chess().legal_moves();
            let after: Vec<_> = found.iter().step_by(3).map(|mv| positions[at].after(*mv)).collect();
            positions.extend(after);
            at += 1;
        }
        positions.sort_by_key(Position::key);
        positions.dedup_by_key(|at| at.key());
        // Black's positions are those of White with other colours, in this format.
        positions.retain(|at| at.chess().turn().is_white());
        let path = |name: &str| folder.path().join(name);
        let (one, other) = positions.split_at(positions.len() / 2);
        let books = [write(&path("a.kob"), one, "a"), write(&path("b.kob"), &positions, "b")];
        // An eighth of this holds a part of the comments.
        let resources = Resources { threads: 2, memory: 1 << 19, temp: folder.path().to_owned() };
        let mut options = WriteOptions::default();
        options.memory = 1;
        let writer = book::create_book(path("c.kob"), &options).unwrap();
        let scoped = books.each_ref().map(|book| (&**book as &dyn Moves, Scope::All));
        merge(&scoped, Weights::Points, &resources, writer, &Progress::none()).unwrap();
        let merged = book::open_book(path("c.kob")).unwrap();
        for (word, positions) in [("a", one), ("b", other)] {
            for at in positions {
                assert_eq!(merged.as_remarks().unwrap().comment(at), Some(comment(word, at)));
            }
        }
    }
}
