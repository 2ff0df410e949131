//! Checking a whole database: what is wrong with it, with game and offset.

use std::ops::ControlFlow;
use std::path::Path;

use shakmaty::Move;

use tabiya_base::error::Result;
use tabiya_base::findings::{Findings, kinds};

use super::board::Board;
use super::database::Scid;
use super::decode::{Ended, Kept};
use super::reader::ScidReader;
use super::record::ScidRecord;
use super::tags;
use crate::database::{DecodeError, NumberedBoard as _, Progress, Sink, in_order};
use crate::{GameError, Reason};

kinds! {
    /// What can be wrong with a database.
    pub enum ScidFindingKind {
        Files: Error "damaged files",
        Record: Error "records that cannot be read",
        NoName: Error "missing names",
        Unread: Error "games that cannot be read",
        Start: Error "games that start from no legal position",
        Variant: Warning "games of an unsupported chess variant",
        Illegal: Error "games with an illegal move",
        Variation: Error "games with an illegal move in a variation",
    }
}

/// A finding of a thread: its kind, whether it is in the file of games, the offset there, and what is wrong.
type ScidFinding = (ScidFindingKind, bool, u64, String);

/// Reads everything and adds what is wrong to `findings`: the files first, then the games in their order. `at`
/// receives the progress.
///
/// # Errors
/// When `at` fails, because the work is to stop.
pub fn check(db: &Scid, threads: usize, at: &Progress<'_>, findings: &mut Findings<'_>) -> Result<()> {
    files(db, findings);
    in_order(
        (1, db.count()),
        threads,
        || (ScidReader::new(db), Kept::new()),
        |(reader, kept), (from, to), found: &mut Vec<ScidFinding>| {
            found.clear();
            (from..=to).for_each(|number| one(reader, kept, number, found));
        },
        |last, found| {
            for (kind, in_games, offset, what) in found.drain(..) {
                let path: &Path = if in_games { db.games_file.path() } else { db.path() };
                findings.add(kind, (path, offset), what);
            }
            at(last)
        },
    )
}

/// Adds what is wrong with the files of a database.
pub fn files(db: &Scid, findings: &mut Findings<'_>) {
    for what in db.findings() {
        findings.add(ScidFindingKind::Files, (db.path(), 0), what);
    }
}

/// Adds what is wrong with a game that cannot be read.
pub fn unread(db: &Scid, findings: &mut Findings<'_>, error: &GameError) {
    let place: &Path = db.games_file.path();
    findings.add(
        kind_of(error),
        (place, error.place.offset),
        format_args!("{}: {}", error.place.spot, error.why),
    );
}

fn kind_of(error: &GameError) -> ScidFindingKind {
    match error.reason {
        Reason::OtherVariant => ScidFindingKind::Variant,
        Reason::BadPosition => ScidFindingKind::Start,
        _ => ScidFindingKind::Unread,
    }
}

/// Plays all moves, and keeps none.
struct Played;

impl Sink<Board> for Played {
    fn wants_variations(&self) -> bool {
        true
    }

    fn play(&mut self, board: &mut Board, mv: Move) -> ControlFlow<()> {
        board.play(mv);
        ControlFlow::Continue(())
    }

    fn pass(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Checks a game.
fn one(reader: &mut ScidReader<'_>, kept: &mut Kept, number: u32, found: &mut Vec<ScidFinding>) {
    let db = reader.db();
    let at = db.record_at(number);
    let mut add = |kind, in_games, offset, what: String| {
        found.push((kind, in_games, offset, format!("game {number}: {what}")));
    };
    let record = match reader.record(number) {
        Ok(record) => record,
        Err(error) => return add(ScidFindingKind::Record, false, at, error.with_source()),
    };
    names(db, &record, |what| add(ScidFindingKind::NoName, false, at, what));
    match reader.find(number, &record) {
        Ok(game) => {
            let Ended { error, cut } = game.decode(kept, &mut Played);
            let mut illegal = |kind, error: DecodeError| {
                let GameError { place, why, .. } = game.error(db, error);
                add(kind, true, place.offset, why);
            };
            error.into_iter().for_each(|error| illegal(ScidFindingKind::Illegal, error));
            cut.into_iter().for_each(|cut| illegal(ScidFindingKind::Variation, cut));
        }
        Err(error) => add(kind_of(&error), true, error.place.offset, error.why),
    }
}

/// Reports the names that a record refers to and that do not exist.
fn names(db: &Scid, record: &ScidRecord, mut add: impl FnMut(String)) {
    const WHAT: [&str; 5] = ["player of White", "player of Black", "event", "site", "round"];
    for ((what, list), number) in WHAT.into_iter().zip(tags::LISTS).zip(record.names) {
        if db.names.get(list, number).is_none() {
            add(format!("its {what} has the number {number}, but there are {}", db.names.count(list)));
        }
    }
}
