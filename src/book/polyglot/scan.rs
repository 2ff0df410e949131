//! One pass over all entries: counts, and what is wrong with each.

use super::layout::{ENTRY_LEN, Entry, MoveFault};
use super::read::{Entries, MOST_OF_ONE_KEY};
use crate::base::progress::Progress;

/// Entries between two looks at the progress bar.
const STRIDE: usize = 1 << 16;

/// What can be wrong with one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Its key is below that of the entry before it.
    Unsorted,
    /// Its move can be no legal move of any position, for one of these reasons.
    Move(MoveFault),
    /// It says never to play its move.
    ZeroWeight,
    /// It weighs more than the entry before it, of the same position.
    Rising,
    /// Its move stands in this position already.
    Duplicate,
    /// So many entries of its position stand before it that it is never read.
    Unread,
    /// Its learn field holds something other than games and half-points.
    Learn,
}

/// All of them, in the order in which one entry's are told.
pub const FAULTS: [Fault; 11] = [
    Fault::Unsorted,
    Fault::Move(MoveFault::Code),
    Fault::Move(MoveFault::Still),
    Fault::Move(MoveFault::Geometry),
    Fault::Move(MoveFault::Promotion),
    Fault::Move(MoveFault::Null),
    Fault::ZeroWeight,
    Fault::Rising,
    Fault::Duplicate,
    Fault::Unread,
    Fault::Learn,
];

impl Fault {
    /// Whether it is damage, or merely odd.
    pub fn is_serious(self) -> bool {
        match self {
            Self::Unsorted | Self::Unread => true,
            Self::Move(fault) => fault != MoveFault::Null,
            _ => false,
        }
    }

    /// Its place among [`FAULTS`], as a bit.
    fn bit(self) -> u16 {
        1 << match self {
            Self::Unsorted => 0,
            Self::Move(MoveFault::Code) => 1,
            Self::Move(MoveFault::Still) => 2,
            Self::Move(MoveFault::Geometry) => 3,
            Self::Move(MoveFault::Promotion) => 4,
            Self::Move(MoveFault::Null) => 5,
            Self::ZeroWeight => 6,
            Self::Rising => 7,
            Self::Duplicate => 8,
            Self::Unread => 9,
            Self::Learn => 10,
        }
    }
}

/// The faults of one entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults(u16);

impl Faults {
    fn add(&mut self, fault: Fault) {
        self.0 |= fault.bit();
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = Fault> {
        FAULTS.into_iter().filter(move |fault| self.0 & fault.bit() != 0)
    }
}

/// Neighbouring entries with the same faults: a file full of one fault is told in one line.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The number of the first entry.
    pub index: usize,
    /// How many entries.
    pub count: usize,
    /// Their faults.
    pub faults: Faults,
    /// The first entry.
    pub entry: Entry,
    /// The entry before the first one.
    pub before: Option<Entry>,
}

/// How many entries have a fault, and which is the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub count: u64,
    /// The number of the first one.
    pub first: usize,
}

/// What the pass counted.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Runs of one key.
    pub positions: u64,
    /// Different moves of each run, those that can never be legal left out.
    pub moves: u64,
    /// Entries that learned something, where all learn fields can be trusted.
    pub learned: Option<u64>,
    /// Runs that binary search does not find, and the first of them.
    pub lost: Tally,
    tallies: [Tally; FAULTS.len()],
}

impl Totals {
    /// How many entries have this fault, and which is the first.
    pub fn tally(&self, fault: Fault) -> Tally {
        let mut tallies = FAULTS.iter().zip(&self.tallies);
        tallies.find(|(other, _)| **other == fault).map(|(_, tally)| *tally).unwrap_or_default()
    }

    fn count(&mut self, index: usize, faults: Faults) {
        for (tally, fault) in self.tallies.iter_mut().zip(FAULTS) {
            if faults.0 & fault.bit() != 0 {
                tally.add(index);
            }
        }
    }
}

impl Tally {
    fn add(&mut self, index: usize) {
        if self.count == 0 {
            self.first = index;
        }
        self.count += 1;
    }
}

/// Reads all entries in the order of the file; `found` hears of each group of faulty ones, those of the learn field
/// alone left out, for they are told together.
pub fn scan(entries: Entries<'_>, progress: &Progress, mut found: impl FnMut(&Group)) -> Totals {
    progress.bytes(entries.len() as u64 * ENTRY_LEN as u64);
    let mut totals = Totals::default();
    let mut learned = 0;
    let mut run = Run::new();
    let mut before: Option<Entry> = None;
    let mut group: Option<Group> = None;
    for (index, entry) in entries.iter().enumerate() {
        if index.is_multiple_of(STRIDE) {
            progress.at(index as u64 * ENTRY_LEN as u64);
        }
        if before.is_none_or(|before| before.key != entry.key) {
            totals.positions += 1;
            run.clear();
        }
        let mut faults = run.add(&entry, before.as_ref());
        totals.moves += u64::from(run.is_new);
        learned += u64::from(entry.games > 0);
        if faults.0 != 0 {
            totals.count(index, faults);
            faults.0 &= !Fault::Learn.bit();
        }
        match &mut group {
            Some(group) if group.faults == faults => group.count += 1,
            _ => {
                if let Some(group) = group.take() {
                    found(&group);
                }
                group = (faults.0 != 0).then_some(Group { index, count: 1, faults, entry, before });
            }
        }
        before = Some(entry);
    }
    if let Some(group) = group {
        found(&group);
    }
    totals.learned = (totals.tally(Fault::Learn).count == 0).then_some(learned);
    if totals.tally(Fault::Unsorted).count > 0 {
        totals.lost = lost(entries);
    }
    totals
}

/// The runs that binary search does not find.
fn lost(entries: Entries<'_>) -> Tally {
    let mut lost = Tally::default();
    let mut before = None;
    for (index, entry) in entries.iter().enumerate() {
        if before != Some(entry.key) && entries.lower_bound(entry.key) != index {
            lost.add(index);
        }
        before = Some(entry.key);
    }
    lost
}

/// The entries of one position so far.
struct Run {
    /// One bit a move code.
    seen: Vec<u64>,
    /// The codes whose bit is set.
    codes: Vec<u16>,
    entries: usize,
    /// Whether the last entry's move may be legal and was not seen before.
    is_new: bool,
}

impl Run {
    fn new() -> Self {
        Self { seen: vec![0; (u16::MAX as usize + 1) / 64], codes: Vec::new(), entries: 0, is_new: false }
    }

    fn clear(&mut self) {
        for code in self.codes.drain(..) {
            if let Some(word) = self.seen.get_mut(usize::from(code) / 64) {
                *word = 0;
            }
        }
        self.entries = 0;
    }

    /// Takes in one more entry and says what is wrong with it.
    fn add(&mut self, entry: &Entry, before: Option<&Entry>) -> Faults {
        let mut faults = Faults::default();
        let code = entry.mv.0;
        let fault = entry.mv.fault();
        let mut seen = false;
        if let Some(word) = self.seen.get_mut(usize::from(code) / 64) {
            let bit = 1 << (code % 64);
            seen = *word & bit != 0;
            *word |= bit;
        }
        self.is_new = !seen && fault.is_none();
        if let Some(fault) = fault {
            faults.add(Fault::Move(fault));
        }
        if seen {
            faults.add(Fault::Duplicate);
        } else {
            self.codes.push(code);
        }
        if let Some(before) = before {
            if entry.key < before.key {
                faults.add(Fault::Unsorted);
            }
            if entry.key == before.key && entry.weight > before.weight {
                faults.add(Fault::Rising);
            }
        }
        if entry.weight == 0 {
            faults.add(Fault::ZeroWeight);
        }
        if self.entries >= MOST_OF_ONE_KEY {
            faults.add(Fault::Unread);
        }
        if !entry.learn_is_plausible() {
            faults.add(Fault::Learn);
        }
        self.entries += 1;
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::RawMove;
    use super::super::tests::{bytes, raw};
    use super::*;

    fn entry(key: u64, mv: &str, weight: u16) -> Entry {
        Entry { key, mv: raw(mv), weight, games: 0, halfpoints: 0 }
    }

    fn faults(entries: &[Entry]) -> (Totals, Vec<(usize, usize, Vec<Fault>)>) {
        let mut told = Vec::new();
        let totals = scan(Entries::new(&bytes(entries)), &Progress::none(), |group| {
            told.push((group.index, group.count, group.faults.iter().collect()));
        });
        (totals, told)
    }

    #[test]
    fn a_sound_book_is_counted_and_nothing_is_told() {
        let (totals, told) = faults(&[
            entry(1, "e2e4", 9),
            Entry { games: 1, halfpoints: 2, ..entry(1, "d2d4", 9) },
            entry(2, "e7e5", 1),
            entry(u64::MAX, "e7e5", 1),
        ]);
        assert_eq!((totals.positions, totals.moves, totals.learned, totals.lost.count), (3, 4, Some(1), 0));
        assert_eq!(told, []);
    }

    #[test]
    fn each_fault_is_told_where_it_stands() {
        let (totals, told) = faults(&[
            entry(5, "e2e4", 1),
            entry(5, "d2d4", 2),
            entry(5, "e2e4", 0),
            entry(4, "a1a1", 1),
            entry(6, "a1b4", 1),
            Entry { mv: RawMove(0x8000), games: 1, halfpoints: 3, ..entry(7, "a1a1", 1) },
            entry(8, "e4e4", 1),
            entry(9, "e2e4q", 1),
        ]);
        let expected = [
            (1, vec![Fault::Rising]),
            (2, vec![Fault::ZeroWeight, Fault::Duplicate]),
            (3, vec![Fault::Unsorted, Fault::Move(MoveFault::Null)]),
            (4, vec![Fault::Move(MoveFault::Geometry)]),
            (5, vec![Fault::Move(MoveFault::Code)]),
            (6, vec![Fault::Move(MoveFault::Still)]),
            (7, vec![Fault::Move(MoveFault::Promotion)]),
        ];
        assert_eq!(told, expected.map(|(index, faults)| (index, 1, faults)));
        assert_eq!((totals.positions, totals.moves, totals.learned), (6, 2, None));
        assert_eq!(totals.tally(Fault::Learn), Tally { count: 1, first: 5 });
        assert_eq!(totals.tally(Fault::Unread), Tally::default());
        assert_eq!(totals.lost, Tally { count: 1, first: 3 });
    }

    #[test]
    fn neighbours_with_the_same_faults_are_told_together() {
        let (totals, told) = faults(&vec![entry(0, "a1a1", 0); 100_000]);
        let same = vec![Fault::Move(MoveFault::Null), Fault::ZeroWeight];
        let more = [&same[..], &[Fault::Duplicate]].concat();
        let unread = [&more[..], &[Fault::Unread]].concat();
        let most = MOST_OF_ONE_KEY;
        assert_eq!(told, [(0, 1, same), (1, most - 1, more), (most, 100_000 - most, unread)]);
        assert_eq!((totals.positions, totals.moves), (1, 0));
    }

    #[test]
    fn each_fault_has_its_own_place() {
        for (index, fault) in FAULTS.into_iter().enumerate() {
            assert_eq!(fault.bit(), 1 << index);
        }
    }

    #[test]
    fn the_same_move_in_another_position_is_no_duplicate() {
        let (totals, told) = faults(&[entry(1, "e2e4", 1), entry(2, "e2e4", 1), entry(3, "e2e4", 1)]);
        assert_eq!((totals.moves, told.len()), (3, 0));
    }
}
