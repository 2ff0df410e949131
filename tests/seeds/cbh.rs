//! Any bytes as the files of a database: nothing panics or runs on, what is written is text, and each game that the
//! records name is either told or accounted for; keys tell the same as positions.

use std::ops::ControlFlow;
use std::sync::Arc;

use shakmaty::{Move, Position as _};
use tabiya_base::findings::{Finding, listed};
use tabiya_chess::MoveCode;
use tabiya_chess::Position;
use tabiya_games::database::export::{ExportOptions, export};
use tabiya_games::cbh::{Cbh, check, info};
use tabiya_games::database::DatabaseSource;
use tabiya_games::{GameEnd, GameError, GameHeader, KeyedPly, Visitor};

/// The files that the fuzzer fills, and the first bytes that tell them from other files.
const PARTS: [(&str, &[u8]); 8] = [
    ("cbh", &[0, 0, 0x2c, 0, 0x2e, 1, 0, 0, 0, 4]),
    ("cbg", &[0, 26]),
    ("cba", &[0, 26]),
    ("cbp", &[3, 0, 0, 0, 0, 0, 0, 0, 0xd2, 2, 0x96, 0x49, 58, 0, 0, 0]),
    ("cbt", &[3, 0, 0, 0, 0, 0, 0, 0, 0xd2, 2, 0x96, 0x49, 90, 0, 0, 0]),
    ("cbj", &[11, 0, 0, 0, 120, 0, 0, 0]),
    ("cbe", &[3, 0, 0, 0, 0, 0, 0, 0, 0xd2, 2, 0x96, 0x49, 63, 0, 0, 0]),
    ("cbs", &[3, 0, 0, 0, 0, 0, 0, 0, 0xd2, 2, 0x96, 0x49, 59, 0, 0, 0]),
];

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

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    // The lengths of the files come first, two bytes each.
    let Some((lengths, mut rest)) = data.split_at_checked(2 * PARTS.len()) else { return };
    let mut files = Vec::new();
    for ((name, start), length) in PARTS.iter().zip(lengths.chunks(2)) {
        let length = usize::from(u16::from_be_bytes([length[0], length[1]])) % 2048;
        let (file, behind) = rest.split_at(length.min(rest.len()));
        rest = behind;
        files.push((*name, [start, file].concat()));
    }
    let part = |name: &str| files.iter().find(|(known, _)| *known == name).map(|(_, bytes)| bytes.clone());
    let Ok(db) = Cbh::from_bytes("fuzz.cbh", &part) else { return };
    let mut options = ExportOptions::new((1, u32::MAX));
    options.deleted = true;
    let mut written = Vec::new();
    let totals = export(&db, &options, &mut |text, errors, _| {
        written.extend_from_slice(text);
        assert!(errors.iter().all(|error| !error.why.is_empty()));
        Ok(())
    })
    .expect("nothing fails in memory");
    assert_eq!(totals.games + totals.texts + totals.unknown, u64::from(db.count()));
    assert!(std::str::from_utf8(&written).is_ok());
    let summary = info::summary(&db, &|_| Ok(())).expect("nothing fails in memory");
    assert!(summary.games + summary.texts + summary.deleted <= summary.records);
    let mut named = |finding: Finding| assert!(!finding.what.is_empty());
    listed(&mut named, |findings| check::check(&db, 1, &|_| Ok(()), findings)).expect("as above");
    let db = Arc::new(db);
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
