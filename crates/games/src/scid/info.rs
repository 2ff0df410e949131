//! A summary of a database.

use tabiya_base::error::Result;
use tabiya_base::findings::{Findings, summed};

use super::check;
use super::database::Scid;
use super::reader::ScidReader;
use crate::database::{Fact, Progress, Summary};

/// Games between two reports of progress.
const STRIDE: u32 = 1 << 12;

/// Sums a database up; `at` receives the progress.
///
/// # Errors
/// When `at` fails, or the index cannot be read.
pub fn summary(db: &Scid, at: &Progress<'_>) -> Result<Summary> {
    let (summary, findings) = summed(|findings| sum(db, at, findings));
    Ok(Summary { findings, ..summary? })
}

fn sum(db: &Scid, at: &Progress<'_>, findings: &mut Findings<'_>) -> Result<Summary> {
    check::files(db, findings);
    let mut reader = ScidReader::new(db);
    let (mut games, mut deleted, mut annotated, mut set_up, mut dates) = (0, 0, 0, 0, None);
    for number in 1..=db.count() {
        if number.is_multiple_of(STRIDE) {
            at(number)?;
        }
        let record = reader.record(number)?;
        if record.is_deleted() {
            deleted += 1;
            continue;
        }
        games += 1;
        dates = Summary::with(dates, record.date);
        match reader.find(number, &record) {
            Ok(game) => {
                annotated += u64::from(game.stored.is_annotated);
                set_up += u64::from(game.start.is_some());
            }
            Err(error) => check::unread(db, findings, &error),
        }
    }
    let names = |list| Fact::Count(db.names.count(list) as u64);
    let facts = vec![
        ("games", "games", Fact::Count(games)),
        ("deleted", "deleted", Fact::Count(deleted)),
        ("annotated", "annotated", Fact::Count(annotated)),
        ("set_up", "set-up starts", Fact::Count(set_up)),
        ("players", "players", names(0)),
        ("tournaments", "tournaments", names(1)),
        ("sites", "sites", names(2)),
        ("date", "dates", Fact::Dates(dates)),
        ("description", "description", Fact::Text(db.description.clone())),
    ];
    Ok(Summary { records: db.count().into(), facts, findings: Vec::new() })
}
