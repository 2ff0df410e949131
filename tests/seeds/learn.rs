//! Any bytes as a journal, and any records in a journal that is well formed: nothing panics, the book keeps its length
//! and every byte outside its learn fields, a field becomes only what a record says of this entry, and what is learned
//! afterwards is learned once.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use shakmaty::{ByColor, Chess, Color, KnownOutcome, Position as _};
use tabiya_base::error::Result;
use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_chess::MoveCode;
use tabiya_chess::Position;
use tabiya_learn::book::BookEntries;
use tabiya_learn::journal::{
    Change, Check, CorrectionRecord, EditRecord, EntryChange, GameRecord, JournalHeader, JournalRecord,
};
use tabiya_learn::{Claim, Field, FinishedGame, LearnOutcome, Learner, NewJournal, Storage, StoredBytes};

/// Bytes of one change in the fuzzer's input.
const CHANGE_LEN: usize = 8;

#[derive(Clone, Default)]
struct File(Arc<Mutex<Vec<u8>>>);

impl File {
    fn of(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(bytes)))
    }

    fn now(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl StoredBytes for File {
    fn size(&mut self) -> io::Result<u64> {
        Ok(self.now().len() as u64)
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        let data = self.now();
        let rest = usize::try_from(at).ok().and_then(|at| data.get(at..)).unwrap_or_default();
        let len = rest.len().min(into.len());
        into[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut data = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let end = at as usize + bytes.len();
        if end > data.len() {
            data.resize(end, 0);
        }
        data[at as usize..end].copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).resize(len as usize, 0);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Clone)]
struct Memory {
    book: File,
    journal: File,
}

impl Storage for Memory {
    fn claim(&mut self, _: Duration, _: bool) -> io::Result<Claim> {
        Ok(Claim::Ours(Box::new(self.journal.clone())))
    }

    fn book(&mut self) -> io::Result<Box<dyn StoredBytes>> {
        Ok(Box::new(self.book.clone()))
    }

    fn replace_book(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> Result<()>) -> Result<()> {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        *self.book.0.lock().unwrap_or_else(PoisonError::into_inner) = bytes;
        Ok(())
    }

    fn new_journal(&mut self) -> io::Result<Box<dyn NewJournal>> {
        Ok(Box::new(New { file: File::default(), journal: self.journal.clone() }))
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file that is to take the journal's place.
struct New {
    file: File,
    journal: File,
}

impl NewJournal for New {
    fn bytes(&mut self) -> &mut dyn StoredBytes {
        &mut self.file
    }

    fn replace(self: Box<Self>) -> io::Result<Box<dyn StoredBytes>> {
        *self.journal.0.lock().unwrap_or_else(PoisonError::into_inner) = self.file.now();
        Ok(Box::new(self.journal))
    }
}

/// All first moves of White's, as a book.
fn book() -> Vec<PolyglotEntry> {
    let chess = Chess::default();
    let key = Position::start().key();
    let moves = chess.legal_moves();
    moves
        .iter()
        .map(|mv| PolyglotEntry {
            key,
            mv: MoveCode::codes(*mv, &chess)[0],
            weight: 3,
            games: 1,
            halfpoints: 1,
        })
        .collect()
}

/// Records out of the fuzzer's bytes: a kind, a number of changes, and these.
fn records(mut data: &[u8], entries: &[PolyglotEntry]) -> Vec<JournalRecord> {
    let mut records = Vec::new();
    while let [kind, count, rest @ ..] = data {
        let len = usize::from(count % 8) * CHANGE_LEN;
        let (bytes, more) = rest.split_at(len.min(rest.len()));
        data = more;
        let changes: Vec<Change> =
            bytes.chunks_exact(CHANGE_LEN).map(|bytes| change(bytes, entries)).collect();
        records.push(match kind % 7 {
            0 | 1 => JournalRecord::Game(GameRecord {
                guess: false,
                id: [*kind; 16],
                sides: 1 + kind / 5 % 3,
                result: kind / 15 % 3,
                time: 0,
                note: String::new(),
                changes,
            }),
            2 => JournalRecord::Undo { games: u32::from(kind / 5), changes },
            3 => JournalRecord::Reset,
            4 => JournalRecord::Done,
            // Of a game with that kind, if there is one.
            6 => JournalRecord::Correction(CorrectionRecord {
                id: [kind - 6; 16],
                file: [*kind; 16],
                result: Some(kind / 7 % 4).filter(|result| *result < 3),
                time: 0,
                changes,
            }),
            // The journal knows what the book is after each edit: none of these fits, and none may be made.
            _ => JournalRecord::Edit(edit(*kind, &changes, entries)),
        });
    }
    records
}

/// An edit that is not one of this book.
fn edit(kind: u8, changes: &[Change], entries: &[PolyglotEntry]) -> EditRecord {
    let entry = |change: &Change| PolyglotEntry {
        key: change.key,
        mv: change.mv,
        weight: 9,
        games: 0,
        halfpoints: 0,
    };
    let change = |change: &Change| EntryChange {
        index: change.index,
        old: entries.get(change.index as usize).copied().filter(|_| change.old.games > 0),
        new: Some(entry(change)).filter(|_| change.old.games < 2),
    };
    let mut changes: Vec<_> = changes.iter().map(change).filter(|change| change.old != change.new).collect();
    changes.sort_by_key(|change| change.index);
    changes.dedup_by_key(|change| change.index);
    let bytes = Box::new(File::of(vec![kind; 16]));
    let other = BookEntries::new(bytes, Path::new("other.bin")).and_then(|mut other| other.owner());
    let Ok(after) = other else { panic!("a book in memory can be read") };
    EditRecord { undo: kind / 6 % 2 == 1, time: 0, note: String::new(), after, changes }
}

/// A change of an entry of the book, or of none.
fn change(bytes: &[u8], entries: &[PolyglotEntry]) -> Change {
    let [index, place, games, points, more, other, large, odd] = bytes else {
        return Change { index: 0, key: 0, mv: MoveCode(0), old: Field::default(), new: Field::default() };
    };
    let entry = entries[usize::from(*place) % entries.len()];
    let index = if *large == 255 { u32::MAX } else { u32::from(*index) };
    let key = if *odd == 255 { 7 } else { entry.key };
    Change {
        index,
        key,
        mv: entry.mv,
        old: Field { games: u16::from(*games % 3), halfpoints: u16::from(*points % 3) },
        new: Field { games: u16::from(*more), halfpoints: u16::from(*other) },
    }
}

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    let entries = book();
    let bytes: Vec<u8> = entries.iter().flat_map(PolyglotEntry::to_bytes).collect();
    // As they come.
    check(&entries, &bytes, data.to_vec(), &[]);
    // As records after a header that fits, with the bytes as their torn tail.
    let file = Box::new(File::of(bytes.clone()));
    let Ok(owner) = BookEntries::new(file, Path::new("fuzz.bin")).and_then(|mut entries| entries.owner())
    else {
        return;
    };
    let mut journal = JournalHeader::new(owner, 0).to_bytes();
    let Ok((_, mut check_of)) = JournalHeader::parse(&journal) else { panic!("our own header") };
    let records = records(data, &entries);
    for record in &records {
        let Some((bytes, next)) = record.to_bytes(check_of) else { continue };
        check_of = next;
        let parsed: Option<(JournalRecord, Check, Check, usize)> = JournalRecord::parse(&bytes);
        assert_eq!(parsed.map(|(parsed, ..)| parsed).as_ref(), Some(record));
        journal.extend(bytes);
    }
    check(&entries, &bytes, journal.clone(), &records);
    journal.extend(&data[..data.len().min(40)]);
    check(&entries, &bytes, journal, &records);
}

fn check(entries: &[PolyglotEntry], bytes: &[u8], journal: Vec<u8>, records: &[JournalRecord]) {
    let memory = Memory { book: File::of(bytes.to_vec()), journal: File::of(journal) };
    let learner = || Learner::over(Box::new(memory.clone()), "fuzz.bin");
    let _ = learner().history(3);
    let recovered = learner().recover();
    let after = memory.book.now();
    assert_eq!(after.len(), bytes.len());
    let said: HashSet<(usize, [u8; 4])> = records
        .iter()
        .flat_map(JournalRecord::changes)
        .filter(|change| {
            entries
                .get(change.index as usize)
                .is_some_and(|entry| (entry.key, entry.mv) == (change.key, change.mv))
        })
        .map(|change| (change.index as usize, change.new.to_bytes()))
        .collect();
    for (index, (now, then)) in after.chunks(16).zip(bytes.chunks(16)).enumerate() {
        assert_eq!(now[..12], then[..12]);
        let field = [now[12], now[13], now[14], now[15]];
        assert!(
            field == then[12..] || field == [0; 4] || said.contains(&(index, field)),
            "{index} {field:?}"
        );
    }
    if recovered.is_err() {
        assert_eq!(after, bytes);
        return;
    }
    let Some(mv) = Chess::default().legal_moves().first().copied() else { return };
    let game = FinishedGame {
        start: Position::start(),
        moves: vec![mv],
        first: 0,
        sides: ByColor { white: true, black: false },
        result: KnownOutcome::Decisive { winner: Color::White },
        note: String::new(),
    };
    let game = game.identified([0xee; 16]);
    let Ok(first) = learner().learn(std::slice::from_ref(&game), false) else { return };
    assert_eq!(first, [LearnOutcome::Learned(1)]);
    let once = memory.book.now();
    assert_eq!(learner().learn(&[game], false).ok(), Some(vec![LearnOutcome::Known]));
    assert_eq!(memory.book.now(), once);
    // Taken back, the field is what it was, unless the records before it tell of another book.
    if learner().undo(1).is_ok() {
        assert_eq!(memory.book.now(), after);
    }
}
