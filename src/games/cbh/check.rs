//! The whole database read: each damage and oddity, with its game and offset.

use std::collections::BTreeMap;
use std::path::Path;

use super::database::Cbh;
use super::entities::Entities;
use super::notes::{self, Facts, Items};
use super::parallel::in_order;
use super::reader::{Counting, Reader};
use super::record::{Kind, Record};
use crate::base::error::Result;
use crate::games::Reason;
use crate::games::export::Notes;

/// Findings of one sort that are told one by one.
const TOLD: u64 = 20;

/// One damage or oddity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The game or text, from 1; 0 for the database as a whole.
    pub game: u32,
    /// Where, in bytes from the start of the file that `part` names.
    pub offset: u64,
    /// The last part of that file's name.
    pub part: &'static str,
    /// What is wrong, as a clause.
    pub what: String,
    /// Whether something is lost, or it is merely odd.
    pub serious: bool,
}

/// Reads everything and reports what is found: the files first, then the games in their order; many findings of one
/// sort in one line at the end. `at` is told how far the work is.
///
/// # Errors
/// When `at` fails: the work is to stop.
pub fn check(
    db: &Cbh,
    threads: usize,
    at: &dyn Fn(u32) -> Result<()>,
    report: &mut dyn FnMut(Finding),
) -> Result<()> {
    for what in db.oddities() {
        report(Finding { game: 0, offset: 0, part: "cbh", what: what.clone(), serious: true });
    }
    let mut more: BTreeMap<(&'static str, bool), (u64, Finding)> = BTreeMap::new();
    in_order(
        (1, db.count()),
        threads,
        || Checker { reader: Reader::new(db), notes: Notes::default(), facts: Facts::default() },
        |checker, (from, to), found: &mut Vec<(&'static str, Finding)>| {
            found.clear();
            (from..=to).for_each(|number| checker.one(number, found));
        },
        |last, found| {
            for (sort, finding) in found.drain(..) {
                let (count, _) = &mut *more
                    .entry((sort, finding.serious))
                    .and_modify(|(count, _)| *count += 1)
                    .or_insert_with(|| (1, finding.clone()));
                if *count <= TOLD {
                    report(finding);
                }
            }
            at(last)
        },
    )?;
    for ((sort, serious), (count, first)) in more {
        if count > TOLD {
            let what = format!("{} more games of which {sort}", count - TOLD);
            report(Finding { game: 0, what, serious, ..first });
        }
    }
    Ok(())
}

/// One thread's way of checking games.
struct Checker<'a> {
    reader: Reader<'a>,
    notes: Notes,
    facts: Facts,
}

impl Checker<'_> {
    fn one(&mut self, number: u32, found: &mut Vec<(&'static str, Finding)>) {
        let at = u64::from(number) * super::layout::RECORD_LEN;
        let mut tell = |sort, part, offset, what: String, serious| {
            found.push((sort, Finding { game: number, offset, part, what, serious }));
        };
        let record = match self.reader.record(number) {
            Ok(record) => record,
            Err(error) => return tell("the record cannot be read", "cbh", at, error.to_string(), true),
        };
        let record = Record(&record);
        match record.kind() {
            Kind::Text => return,
            Kind::Unknown => {
                let what = "the record is neither of a game nor of a text";
                return tell("the record is of no kind", "cbh", at, what.to_owned(), false);
            }
            Kind::Game => {}
        }
        self.names(record, at, &mut tell);
        let moves = match self.reader.find(number, record) {
            Ok(game) => {
                let mut count = Counting::default();
                let ended = self.reader.decode(&game, &mut count);
                let start = game.offset + game.head;
                if let Err(damage) = ended {
                    let sort = match damage.reason() {
                        Reason::IllegalMove => "a move is not legal",
                        _ => "the moves are damaged",
                    };
                    tell(sort, "cbg", start + damage.at, damage.to_string(), true);
                } else if game.cut {
                    let what = "its moves are cut off by the end of the file".to_owned();
                    tell("the moves are cut off", "cbg", game.offset + game.len, what, true);
                } else {
                    let first_black = game.start.as_ref().is_some_and(|start| {
                        use shakmaty::Position as _;
                        start.chess.turn().is_black()
                    });
                    let full = (count.main + u32::from(first_black)).div_ceil(2).min(255);
                    let said = u32::from(record.full_moves());
                    if full.abs_diff(said) > 1 {
                        let what = format!("the record counts {said} moves, and the main line has {full}");
                        tell("the record counts moves otherwise", "cbh", at + 45, what, false);
                    }
                }
                Some(count.all)
            }
            Err(unreadable) => {
                let serious = unreadable.reason != Reason::OtherVariant;
                tell("the moves cannot be read", "cbg", unreadable.offset, unreadable.why, serious);
                None
            }
        };
        let (base, items) = match self.reader.notes(number, record) {
            Ok(None) => return,
            Ok(Some(found)) => found,
            Err((offset, what)) => {
                return tell("the annotations cannot be read", "cba", offset, what.to_owned(), true);
            }
        };
        annotations(number, moves, base, items, (&mut self.notes, &mut self.facts), &mut tell);
    }

    /// Whether the names that a record refers to are there.
    fn names(
        &mut self,
        record: Record<'_>,
        at: u64,
        tell: &mut impl FnMut(&'static str, &'static str, u64, String, bool),
    ) {
        let db = self.reader.db();
        let mut look = |entities: &Entities, number: u32, offset: u64, what: &'static str| {
            if entities.count() == 0 {
                return;
            }
            if entities.get(number).is_none() {
                let why = format!("its {what} has the number {number}, and there are {}", entities.count());
                tell("a name is missing", "cbh", at + offset, why, true);
            } else if entities.is_deleted(number) {
                tell(
                    "a name is deleted",
                    "cbh",
                    at + offset,
                    format!("its {what} {number} is deleted"),
                    false,
                );
            }
        };
        look(&db.players, record.white(), 9, "player of White");
        look(&db.players, record.black(), 12, "player of Black");
        look(&db.tournaments, record.tournament(), 15, "tournament");
        look(&db.annotators, record.annotator(), 18, "annotator");
        look(&db.sources, record.source(), 21, "source");
    }
}

fn annotations(
    number: u32,
    moves: Option<u32>,
    base: u64,
    items: Items<'_>,
    (notes, facts): (&mut Notes, &mut Facts),
    tell: &mut impl FnMut(&'static str, &'static str, u64, String, bool),
) {
    if items.game() != number & 0xff_ffff {
        let what = format!("its annotations say that they are for game {}", items.game());
        tell("the annotations name another game", "cba", base, what, false);
    }
    notes.clear();
    facts.clear();
    notes::read(items, moves.unwrap_or(u32::MAX - 1), notes, facts);
    if let Some((at, what)) = facts.damage {
        tell("an annotation is damaged", "cba", base + at, what.to_owned(), true);
    }
    for (kind, count) in facts.left_out.iter().filter(|(kind, _)| notes::name(**kind).is_none()) {
        let what = format!("{count} annotations of type {kind:#04x}, which is not known");
        tell("annotations are of unknown types", "cba", base, what, false);
    }
}

/// The file of a database that a finding is in.
pub fn file<'a>(db: &'a Cbh, part: &str) -> Option<&'a Path> {
    let named = |path: &&std::path::PathBuf| {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(part))
    };
    db.files().iter().find(named).map(std::path::PathBuf::as_path)
}
