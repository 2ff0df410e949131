//! Checking a whole database: what is wrong with it, with game and offset.

use std::path::PathBuf;

use shakmaty::Position as _;

use tabiya_base::error::Result;
use tabiya_base::findings::{Findings, kinds};
use tabiya_base::folder::has_extension;

use super::database::Cbh;
use super::entities::Entities;
use super::layout::{self, NOTES_GAME_BITS, RECORD_LEN};
use super::notes::{self, Facts};
use super::reader::{CUT_OFF, CbhReader, Counter};
use super::record::{self, CbhRecord};
use crate::Reason;
use crate::cbv::check::{check as check_archive, trailing};
use crate::database::{Progress, in_order};
use crate::export::Notes;

kinds! {
    /// What can be wrong with a database.
    pub enum CbhFindingKind {
        Files: Error "missing or damaged files",
        Packed: Error "files that cannot be unpacked",
        Trailing: Warning "bytes after the last file of an archive",
        Record: Error "records that cannot be read",
        Neither: Warning "records of neither games nor texts",
        NoName: Error "missing names",
        DeletedName: Warning "deleted names",
        Outside: Error "games whose moves are outside the file of moves",
        Unsorted: Warning "games whose moves are stored before those of the game before",
        Unread: Error "games whose moves cannot be read",
        Variant: Warning "games of an unsupported chess variant",
        Illegal: Error "games with an illegal move",
        Moves: Error "games whose moves are damaged",
        CutOff: Error "games whose moves are cut off",
        Count: Warning "games whose record has a wrong number of moves",
        Notes: Error "games whose annotations cannot be read",
        OtherNotes: Warning "games with the annotations of another game",
        Note: Error "games with a damaged annotation",
        UnknownNotes: Warning "games with annotations of an unknown type",
    }
}

/// A finding of a thread: its kind, the extension of the file, the offset there, and what is wrong.
type CbhFinding = (CbhFindingKind, &'static str, u64, String);

/// Reads everything and adds what is wrong to `findings`: the files first, then the games in their order. `at`
/// receives the progress.
///
/// # Errors
/// When `at` fails, because the work is to stop.
pub fn check(db: &Cbh, threads: usize, at: &Progress<'_>, findings: &mut Findings<'_>) -> Result<()> {
    files(db, findings);
    if let Some(archive) = db.archive() {
        check_archive(archive, &mut |at, what| findings.add(CbhFindingKind::Packed, (db.path(), at), what))?;
    }
    let named = |part: &str| {
        let part = |path: &&PathBuf| has_extension(path, part);
        db.parts().iter().find(part).map_or(db.path(), PathBuf::as_path)
    };
    in_order(
        (1, db.count()),
        threads,
        || Checker { reader: CbhReader::new(db), notes: Notes::default(), facts: Facts::default() },
        |checker, (from, to), found: &mut Vec<CbhFinding>| {
            found.clear();
            (from..=to).for_each(|number| checker.one(number, found));
        },
        |last, found| {
            for (kind, part, offset, what) in found.drain(..) {
                findings.add(kind, (named(part), offset), what);
            }
            at(last)
        },
    )
}

/// Adds what is wrong with the files of a database.
pub fn files(db: &Cbh, findings: &mut Findings<'_>) {
    for what in db.findings() {
        findings.add(CbhFindingKind::Files, (db.path(), 0), what);
    }
    if let Some((at, count)) = db.archive().and_then(trailing) {
        findings.add(
            CbhFindingKind::Trailing,
            (db.path(), at),
            format_args!("{count} bytes follow the last file"),
        );
    }
}

/// Checks games on one thread.
struct Checker<'a> {
    reader: CbhReader<'a>,
    notes: Notes,
    facts: Facts,
}

impl Checker<'_> {
    fn one(&mut self, number: u32, found: &mut Vec<CbhFinding>) {
        let at = u64::from(number) * RECORD_LEN;
        let mut add = |kind, part, offset, what: String| {
            found.push((kind, part, offset, format!("game {number}: {what}")));
        };
        let record = match self.reader.record(number) {
            Ok(record) => record,
            Err(error) => return add(CbhFindingKind::Record, "cbh", at, error.with_source()),
        };
        match record.kind() {
            record::CbhRecordKind::Text => return,
            record::CbhRecordKind::Unknown => {
                let what = "the record is neither of a game nor of a text";
                return add(CbhFindingKind::Neither, "cbh", at, what.to_owned());
            }
            record::CbhRecordKind::Game => {}
        }
        self.names(&record, at, &mut add);
        let moves = match self.reader.find(&record) {
            Ok(game) => {
                let mut count = Counter::default();
                if let Err(error) = self.reader.decode(&game, &mut count) {
                    let illegal = error.reason() == Reason::IllegalMove;
                    let kind = if illegal { CbhFindingKind::Illegal } else { CbhFindingKind::Moves };
                    add(kind, "cbg", game.offset + game.head + error.at, error.to_string());
                } else if game.cut {
                    add(CbhFindingKind::CutOff, "cbg", game.offset + game.len, CUT_OFF.to_owned());
                } else {
                    let first_black = game.start.as_ref().is_some_and(|start| start.chess.turn().is_black());
                    let full = (count.main + u32::from(first_black)).div_ceil(2).min(255);
                    let said = u32::from(record.full_moves());
                    if full.abs_diff(said) > 1 {
                        let what = format!("the record counts {said} moves, but the main line has {full}");
                        add(CbhFindingKind::Count, "cbh", at + layout::record::FULL_MOVES, what);
                    }
                }
                Some(count.all)
            }
            Err(error) => {
                let variant = error.reason == Reason::OtherVariant;
                let kind = if variant { CbhFindingKind::Variant } else { CbhFindingKind::Unread };
                add(kind, "cbg", error.place.offset, error.why);
                None
            }
        };
        self.annotations(&record, moves, &mut add);
    }

    /// Checks that the names exist that a record refers to.
    fn names(
        &mut self,
        record: &CbhRecord,
        at: u64,
        add: &mut impl FnMut(CbhFindingKind, &'static str, u64, String),
    ) {
        let db = self.reader.db();
        let mut look = |entities: &Entities, number: u32, offset: u64, what: &'static str| {
            if entities.count() == 0 {
                return;
            }
            if entities.get(number).is_none() {
                let why = format!("its {what} has the number {number}, but there are {}", entities.count());
                add(CbhFindingKind::NoName, "cbh", at + offset, why);
            } else if entities.is_deleted(number) {
                add(
                    CbhFindingKind::DeletedName,
                    "cbh",
                    at + offset,
                    format!("its {what} {number} is deleted"),
                );
            }
        };
        look(&db.players, record.white(), layout::record::WHITE, "player of White");
        look(&db.players, record.black(), layout::record::BLACK, "player of Black");
        look(&db.tournaments, record.tournament(), layout::record::TOURNAMENT, "tournament");
        look(&db.annotators, record.annotator(), layout::record::ANNOTATOR, "annotator");
        look(&db.sources, record.source(), layout::record::SOURCE, "source");
    }
    /// Checks the annotations of a game of so many moves.
    fn annotations(
        &mut self,
        record: &CbhRecord,
        moves: Option<u32>,
        add: &mut impl FnMut(CbhFindingKind, &'static str, u64, String),
    ) {
        let Self { reader, notes, facts } = self;
        let (base, items) = match reader.notes(record) {
            Ok(Some(found)) => found,
            Ok(None) => return,
            Err((offset, what)) => return add(CbhFindingKind::Notes, "cba", offset, what.to_owned()),
        };
        if items.game() != record.number & NOTES_GAME_BITS {
            let what = format!("its annotations say that they are for game {}", items.game());
            add(CbhFindingKind::OtherNotes, "cba", base, what);
        }
        notes.clear();
        facts.clear();
        notes::read(items, moves.unwrap_or(u32::MAX - 1), notes, facts);
        if let Some((at, what)) = facts.error {
            add(CbhFindingKind::Note, "cba", base + at, what.to_owned());
        }
        for (kind, count) in facts.left_out.iter().filter(|(kind, _)| notes::name(**kind).is_none()) {
            let what = format!("{count} annotations of the unknown type {kind:#04x}");
            add(CbhFindingKind::UnknownNotes, "cba", base, what);
        }
    }
}
