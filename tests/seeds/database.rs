//! What holds of any database, whatever its bytes: nothing panics or runs on, what is written is text, and each game that the
//! records name is either told or accounted for; keys tell the same as positions.

use std::ops::ControlFlow;
use std::sync::Arc;

use shakmaty::{Move, Position as _};
use tabiya_base::findings::{Finding, listed};
use tabiya_chess::MoveCode;
use tabiya_chess::Position;
use tabiya_games::database::export::{ExportOptions, export};
use tabiya_games::database::{Database, DatabaseSource, Fact};
use tabiya_games::{GameEnd, GameError, GameHeader, KeyedPly, Visitor};

/// Checks that what a source tells hangs together.
#[derive(Default)]
struct Listener {
    variations: bool,
    by_keys: bool,
    plies: Vec<KeyedPly>,
    depth: u32,
    begun: u64,
    ended: u64,
}

impl Visitor for Listener {
    fn begin(&mut self, _: &GameHeader) -> bool {
        self.begun += 1;
        true
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        assert!(at.chess().is_legal(mv) && !self.by_keys);
        self.plies.push(KeyedPly { key: at.key(), side: at.chess().turn(), mv: MoveCode::from_move(mv) });
        ControlFlow::Continue(())
    }

    fn end(&mut self, _: GameEnd) {
        assert_eq!(self.depth, 0);
        self.ended += 1;
    }

    fn unreadable(&mut self, _: GameError) {}

    fn wants_variations(&self) -> bool {
        self.variations
    }

    fn begin_variation(&mut self) {
        self.depth += 1;
    }

    fn end_variation(&mut self) {
        self.depth = self.depth.checked_sub(1).expect("a variation that began");
    }

    fn keyed_plies(&self) -> Option<usize> {
        self.by_keys.then_some(usize::MAX)
    }

    fn keyed_line(&mut self, plies: &[KeyedPly]) {
        self.plies.extend(plies);
    }
}

/// Reads a database in every way.
pub fn read(db: Arc<dyn Database>) {
    let mut options = ExportOptions::new((1, u32::MAX));
    options.deleted = true;
    let mut written = Vec::new();
    let totals = export(&*db, &options, &mut |text, errors, _| {
        written.extend_from_slice(text);
        assert!(errors.iter().all(|error| !error.why.is_empty()));
        Ok(())
    })
    .expect("nothing fails in memory");
    assert_eq!(totals.games + totals.texts + totals.unknown, u64::from(db.count()));
    assert!(std::str::from_utf8(&written).is_ok());
    let summary = db.summary(&|_| Ok(())).expect("nothing fails in memory");
    let count = |(key, _, fact): &(&str, &str, Fact)| match fact {
        Fact::Count(count) if ["games", "texts", "deleted"].contains(key) => *count,
        _ => 0,
    };
    assert!(summary.facts.iter().map(count).sum::<u64>() <= summary.records);
    let mut named = |finding: Finding| assert!(!finding.what.is_empty());
    listed(&mut named, |findings| db.check(1, &|_| Ok(()), findings)).expect("as above");
    let listen = |variations, by_keys| {
        let mut source = DatabaseSource::new(db.clone());
        let mut listener = Listener { variations, by_keys, ..Listener::default() };
        while let Some(batch) = source.next_batch() {
            batch.play(&mut listener);
        }
        assert_eq!(listener.begun, listener.ended);
        listener.plies
    };
    listen(true, false);
    assert_eq!(listen(false, false), listen(false, true));
}
