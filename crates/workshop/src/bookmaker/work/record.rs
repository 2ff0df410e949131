//! What is kept of some sources besides their counts: which state they were in, and what became of their games.

use serde::{Deserialize, Serialize};

use super::super::report::BuildReport;

/// No count of games, plies or bytes is larger: sums of these do not overflow.
const MAX: u64 = 1 << 48;

/// A source that was counted.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CountedSource {
    /// The digest of its name, and which time it was named.
    pub name: String,
    /// Its name, for people.
    pub source: String,
    /// The digest of its state.
    pub state: String,
}

/// Sources that were counted together.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CountedGroup {
    /// The sources.
    pub sources: Vec<CountedSource>,
    /// Rows of their counts. There is no count file if there are none.
    pub rows: u64,
    /// What became of their games.
    pub games: BuildReport,
}

impl CountedGroup {
    /// The name of its files.
    pub fn name(&self) -> &str {
        self.sources.first().map_or("", |source| &source.name)
    }

    /// The record in these bytes; `None` if they hold none, or one with impossible numbers.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let record: Self = serde_json::from_slice(bytes).ok()?;
        let BuildReport { games, used, plies, other_side, mistakes, unlisted, limited, .. } = &record.games;
        let BuildReport { unfinished, left, errors, crowded, cut, lost_marks, unread_weights, .. } =
            &record.games;
        let failed = errors.values().chain(cut).flat_map(|failed| [failed.games, failed.used]);
        let plies = [*plies, *other_side, *mistakes, *unlisted, *unread_weights];
        let mut numbers = [*games, *used, *limited, *unfinished, *crowded, *lost_marks, record.rows]
            .into_iter()
            .chain(plies)
            .chain(left.values().copied())
            .chain(failed);
        let consistent = errors.values().chain(cut).all(|failed| failed.used <= failed.games);
        (!record.sources.is_empty() && consistent && numbers.all(|number| number <= MAX)).then_some(record)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use tabiya_games::{GameError, GameLocation, LineOrGame, Reason};

    use super::super::super::filter::Exclusion;
    use super::*;

    fn record() -> CountedGroup {
        let error = |spot, reason| GameError {
            reason,
            place: GameLocation { file: Arc::from(Path::new("ä b.pgn")), spot, offset: 7, length: 9 },
            why: "9. \"Ke9\": no".to_owned(),
        };
        let mut report = BuildReport {
            games: 9,
            used: 7,
            plies: 300,
            unfinished: 1,
            crowded: 2,
            ..BuildReport::default()
        };
        report.left = [(Exclusion::Elo, 3), (Exclusion::NotTag, 1)].into();
        report.add(error(LineOrGame::Line(3), Reason::IllegalMove), true);
        report.add(error(LineOrGame::Line(5), Reason::IllegalMove), false);
        report.add(error(LineOrGame::Game(4), Reason::Damaged), false);
        report.add_cut(error(LineOrGame::Line(6), Reason::NullMove));
        let source = CountedSource { name: "0a".to_owned(), source: "a".to_owned(), state: "b".to_owned() };
        CountedGroup { sources: vec![source], rows: 3, games: report }
    }

    #[test]
    fn a_report_comes_back() {
        let record = record();
        let bytes = serde_json::to_vec(&record).unwrap();
        let back = CountedGroup::read(&bytes).unwrap();
        assert_eq!(format!("{back:?}"), format!("{record:?}"));
    }

    #[test]
    fn what_is_no_record_is_none() {
        let text = serde_json::to_string(&record()).unwrap();
        assert!(CountedGroup::read(text.as_bytes()).is_some());
        for (from, to) in [
            ("\"rows\":3", "\"rows\":18446744073709551615"),
            ("\"games\":2,\"used\":1", "\"games\":2,\"used\":5"),
            ("IllegalMove", "Boredom"),
            ("{", ""),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text);
            assert!(CountedGroup::read(changed.as_bytes()).is_none(), "{changed}");
        }
        for len in 0..text.len() {
            assert!(CountedGroup::read(&text.as_bytes()[..len]).is_none());
        }
    }
}
