//! What is kept of a source besides its counts: which state it was in, and what became of its games.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::filter::Left;
use super::super::report::{FailedGames, Report};
use crate::games::{GameError, Place, Reason, Spot};

/// No count of games, plies or bytes is larger: sums of these do not overflow.
const MOST: u64 = 1 << 48;

/// A source that was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// Its name, for people.
    pub source: String,
    /// The digest of its state.
    pub state: String,
    /// Rows of its counts. There is no count file if there are none.
    pub rows: u64,
    /// What became of its games.
    games: Games,
}

/// What became of the games of a source: the fields of [`Report`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Games {
    games: u64,
    used: u64,
    plies: u64,
    other_side: u64,
    mistakes: u64,
    limited: u64,
    unfinished: u64,
    left: BTreeMap<Left, u64>,
    errors: Vec<Failed>,
    crowded: u64,
    cut: Option<Failed>,
    lost_marks: u64,
}

/// Games with an error of one kind, and the first of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Failed {
    games: u64,
    used: u64,
    reason: Reason,
    file: String,
    /// The line of a text, or else the number of a game in a database.
    line: Option<u64>,
    game: Option<u64>,
    offset: u64,
    length: u64,
    why: String,
}

impl Failed {
    fn new(failed: &FailedGames) -> Self {
        let FailedGames { games, used, first: GameError { reason, place, why } } = failed;
        let (line, game) = match place.spot {
            Spot::Line(line) => (Some(line), None),
            Spot::Game(game) => (None, Some(game)),
        };
        Self {
            games: *games,
            used: *used,
            reason: *reason,
            file: place.file.to_string_lossy().into_owned(),
            line,
            game,
            offset: place.offset,
            length: place.length,
            why: why.clone(),
        }
    }

    fn failed(self) -> FailedGames {
        let spot = match (self.line, self.game) {
            (_, Some(game)) => Spot::Game(game),
            (line, None) => Spot::Line(line.unwrap_or(1)),
        };
        let file = Arc::from(Path::new(&self.file));
        let place = Place { file, spot, offset: self.offset, length: self.length };
        let first = GameError { reason: self.reason, place, why: self.why };
        FailedGames { games: self.games, used: self.used, first }
    }
}

impl Record {
    pub fn new(source: String, state: String, rows: u64, report: &Report) -> Self {
        let games = Games {
            games: report.games,
            used: report.used,
            plies: report.plies,
            other_side: report.other_side,
            mistakes: report.mistakes,
            limited: report.limited,
            unfinished: report.unfinished,
            left: report.left.clone(),
            errors: report.errors.values().map(Failed::new).collect(),
            crowded: report.crowded,
            cut: report.cut.as_ref().map(Failed::new),
            lost_marks: report.lost_marks,
        };
        Self { source, state, rows, games }
    }

    /// The record in these bytes; `None` if they hold none, or one with impossible numbers.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let record: Self = serde_json::from_slice(bytes).ok()?;
        let Games { games, used, plies, other_side, mistakes, limited, unfinished, .. } = &record.games;
        let Games { left, errors, crowded, cut, lost_marks, .. } = &record.games;
        let failed = errors.iter().chain(cut).flat_map(|failed| [failed.games, failed.used]);
        let plies = [*plies, *other_side, *mistakes];
        let mut numbers = [*games, *used, *limited, *unfinished, *crowded, *lost_marks, record.rows]
            .into_iter()
            .chain(plies)
            .chain(left.values().copied())
            .chain(failed);
        let consistent = errors.iter().chain(cut).all(|failed| failed.used <= failed.games);
        (consistent && numbers.all(|number| number <= MOST)).then_some(record)
    }

    /// The report of its games.
    pub fn report(self) -> Report {
        let Games { games, used, plies, other_side, mistakes, limited, unfinished, .. } = self.games;
        let Games { left, errors, crowded, cut, lost_marks, .. } = self.games;
        let by_reason = |failed: Failed| (failed.reason, failed.failed());
        Report {
            games,
            used,
            plies,
            other_side,
            mistakes,
            limited,
            unfinished,
            left,
            errors: errors.into_iter().map(by_reason).collect(),
            crowded,
            cut: cut.map(Failed::failed),
            lost_marks,
            ..Report::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let error = |spot, reason| GameError {
            reason,
            place: Place { file: Arc::from(Path::new("ä b.pgn")), spot, offset: 7, length: 9 },
            why: "9. \"Ke9\": no".to_owned(),
        };
        let mut report =
            Report { games: 9, used: 7, plies: 300, unfinished: 1, crowded: 2, ..Report::default() };
        report.left = [(Left::Elo, 3), (Left::NotTag, 1)].into();
        report.add(error(Spot::Line(3), Reason::IllegalMove), true);
        report.add(error(Spot::Line(5), Reason::IllegalMove), false);
        report.add(error(Spot::Game(4), Reason::Damaged), false);
        report.add_cut(error(Spot::Line(6), Reason::NullMove));
        report
    }

    #[test]
    fn a_report_comes_back() {
        let record = Record::new("a".to_owned(), "b".to_owned(), 3, &report());
        let bytes = serde_json::to_vec(&record).unwrap();
        let back = Record::read(&bytes).unwrap();
        assert_eq!(back, record);
        assert_eq!(format!("{:?}", back.report()), format!("{:?}", report()));
    }

    #[test]
    fn what_is_no_record_is_none() {
        let text = serde_json::to_string(&Record::new("a".to_owned(), "b".to_owned(), 3, &report())).unwrap();
        assert!(Record::read(text.as_bytes()).is_some());
        for (from, to) in [
            ("\"rows\":3", "\"rows\":18446744073709551615"),
            ("\"games\":2,\"used\":1", "\"games\":2,\"used\":5"),
            ("IllegalMove", "Boredom"),
            ("{", ""),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text);
            assert_eq!(Record::read(changed.as_bytes()), None, "{changed}");
        }
        for len in 0..text.len() {
            assert_eq!(Record::read(&text.as_bytes()[..len]), None);
        }
    }
}
