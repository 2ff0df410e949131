//! A summary of a database.

use std::collections::BTreeMap;

use tabiya_base::error::Result;
use tabiya_base::findings::{Finding, Findings, summed};

use super::check;
use super::database::Cbh;
use super::layout::{MODE_BITS, RECORD_LEN, SET_UP};
use super::mode::Mode;
use super::reader::{CbhHead, CbhReader};
use super::record::CbhRecordKind;
use crate::Date;
use crate::database::{self, Fact, Progress, Summary};

/// Records between two reports of progress.
const STRIDE: u32 = 1 << 12;

/// What a database holds. Deleted games count as deleted and nothing else.
#[derive(Clone, Debug, Default)]
pub struct CbhSummary {
    /// Records: games and texts together.
    pub records: u64,
    /// Games that are not deleted.
    pub games: u64,
    /// Texts that are not deleted.
    pub texts: u64,
    /// Games and texts that are marked as deleted.
    pub deleted: u64,
    /// Games with annotations.
    pub annotated: u64,
    /// Games that start from a set-up position.
    pub set_up: u64,
    /// Players.
    pub players: u64,
    /// Tournaments.
    pub tournaments: u64,
    /// Annotators.
    pub annotators: u64,
    /// Sources.
    pub sources: u64,
    /// Teams.
    pub teams: u64,
    /// Bytes of the media in texts.
    pub media: u64,
    /// The earliest and the latest known date of a game.
    pub dates: Option<(Date, Date)>,
    /// How many games are written in each mode.
    pub modes: BTreeMap<u8, u64>,
    /// What is wrong, summed up by kind.
    pub findings: Vec<Finding>,
}

impl From<CbhSummary> for Summary {
    fn from(summary: CbhSummary) -> Self {
        let counts = [
            ("games", "games", summary.games),
            ("texts", "texts", summary.texts),
            ("deleted", "deleted", summary.deleted),
            ("annotated", "annotated", summary.annotated),
            ("set_up", "set-up starts", summary.set_up),
            ("players", "players", summary.players),
            ("tournaments", "tournaments", summary.tournaments),
            ("annotators", "annotators", summary.annotators),
            ("sources", "sources", summary.sources),
            ("teams", "teams", summary.teams),
        ];
        let mode = |(number, games)| {
            let means = match Mode::from_number(number) {
                None => "not read",
                Some(mode) if mode.chess960 => "Chess960",
                Some(_) => "",
            };
            database::Mode { number, games, means }
        };
        let modes = summary.modes.into_iter().map(mode).collect();
        let others = [
            ("media_bytes", "media", Fact::Bytes(summary.media)),
            ("date", "dates", Fact::Dates(summary.dates)),
            ("modes", "mode", Fact::Modes(modes)),
        ];
        let counts = counts.into_iter().map(|(key, name, count)| (key, name, Fact::Count(count)));
        let facts = counts.chain(others).collect();
        Self { records: summary.records, facts, findings: summary.findings }
    }
}

/// Sums a database up; `at` receives the progress.
///
/// # Errors
/// When `at` fails, or the records cannot be read.
pub fn summary(db: &Cbh, at: &Progress<'_>) -> Result<CbhSummary> {
    let (summary, findings) = summed(|findings| sum(db, at, findings));
    Ok(CbhSummary { findings, ..summary? })
}

fn sum(db: &Cbh, at: &Progress<'_>, findings: &mut Findings<'_>) -> Result<CbhSummary> {
    check::files(db, findings);
    let mut reader = CbhReader::new(db);
    let mut summary = CbhSummary {
        records: db.count().into(),
        players: db.players.live_count(),
        tournaments: db.tournaments.live_count(),
        annotators: db.annotators.live_count(),
        sources: db.sources.live_count(),
        teams: db.teams.live_count(),
        media: db.media(),
        ..CbhSummary::default()
    };
    let mut before = 0;
    for number in 1..=db.count() {
        if number.is_multiple_of(STRIDE) {
            at(number)?;
        }
        let place = (db.path(), u64::from(number) * RECORD_LEN);
        let record = reader.record(number)?;
        match record.kind() {
            _ if record.is_deleted() => summary.deleted += 1,
            CbhRecordKind::Text => summary.texts += 1,
            CbhRecordKind::Game => summary.games += 1,
            CbhRecordKind::Unknown => {
                let what = format_args!("record {number} is neither a game nor a text");
                findings.add(check::CbhFindingKind::Neither, place, what);
            }
        }
        if record.kind() != CbhRecordKind::Game || record.is_deleted() {
            continue;
        }
        summary.annotated += u64::from(record.notes() != 0);
        summary.dates = Summary::with(summary.dates, record.date());
        match reader.head(&record, "moves") {
            Ok(CbhHead { offset, flags: Some(flags), .. }) => {
                *summary.modes.entry(flags & MODE_BITS).or_default() += 1;
                summary.set_up += u64::from(flags & SET_UP != 0);
                if offset < before {
                    let what =
                        format_args!("the moves of game {number} are stored before those of the game before");
                    findings.add(check::CbhFindingKind::Unsorted, place, what);
                }
                before = offset;
            }
            _ => {
                let what = format_args!("the moves of game {number} are outside the file of moves");
                findings.add(check::CbhFindingKind::Outside, place, what);
            }
        }
    }
    Ok(summary)
}
