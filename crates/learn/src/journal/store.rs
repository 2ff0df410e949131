//! The store: the ids of the learned games whose records the journal no longer has, sorted, in pages that are read one
//! by one when an id is looked up (docs/formats/learn.md, Store).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, BufWriter, Write as _};
use std::ops::Range;

use tabiya_base::bytes;

use super::{CHECK_LEN, Check, check};
use crate::error::LearnError;
use crate::identity::{Id, Line};
use crate::storage::{AtOffset, StoredBytes, written_from};

/// Bytes of a page.
pub const PAGE_LEN: usize = 4096;

/// Bytes of an id and its sides.
const STORED_LEN: usize = size_of::<Id>() + 1;

pub(crate) const PAGE_IDS: u64 = ((PAGE_LEN - CHECK_LEN) / STORED_LEN) as u64;

/// An id with the sides that were learned: 1 White, 2 Black, 3 both.
pub(crate) type StoredGame = (Id, u8);

/// Pages that are kept once they were read: 4 MiB of them. The games that are learned at a time ask for fewer.
const MAX_KEPT: usize = 1024;

/// Pages of a store that were read and found sound. They are kept only while the journal is locked: no other tabiya changes or replaces
/// it until then, and what the disk damages afterwards is found when it is next read.
#[derive(Default)]
pub(crate) struct SoundPages(HashMap<u64, Vec<StoredGame>>);

/// The place of the store in a journal, and how many ids it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Store {
    /// The offset of its first page.
    pub at: u64,
    pub ids: u64,
}

impl Store {
    pub fn pages(&self) -> u64 {
        self.ids.div_ceil(PAGE_IDS)
    }

    /// The offset of what follows it; `None` where no file is that long.
    pub fn end(&self) -> Option<u64> {
        self.pages().checked_mul(PAGE_LEN as u64)?.checked_add(self.at)
    }

    /// The sides of a game that were learned; 0 where it is not in the store.
    ///
    /// # Errors
    /// When the journal cannot be read, or a page is damaged.
    pub(crate) fn sides_of(
        &self,
        journal: &mut dyn StoredBytes,
        pages: &mut SoundPages,
        id: &Id,
    ) -> Result<u8, LearnError> {
        let (mut low, mut high) = (0, self.pages());
        let mut guesses = 0_u32;
        while low < high {
            let middle = self.guess(id, low..high, &mut guesses);
            let page = pages.get(self, journal, middle)?;
            let (Some(first), Some(last)) = (page.first(), page.last()) else { return Ok(0) };
            if *id < first.0 {
                high = middle;
            } else if *id > last.0 {
                low = middle + 1;
            } else {
                let found = page.binary_search_by(|game| game.0.cmp(id)).ok();
                return Ok(found.and_then(|place| page.get(place)).map_or(0, |game| game.1));
            }
        }
        Ok(0)
    }

    /// A page of these where an id is likely, which begins so. Digests are evenly spread, so the first guess is rarely far off;
    /// halving ends the search where they are not.
    fn guess(&self, id: &[u8], among: Range<u64>, guesses: &mut u32) -> u64 {
        let is_guess = guesses.is_multiple_of(2);
        *guesses += 1;
        if !is_guess {
            return among.start + (among.end - among.start) / 2;
        }
        let share = id.first_chunk().map_or(0, |start| u128::from(u64::from_be_bytes(*start)));
        let guess = (share * u128::from(self.pages())) >> 64;
        (guess as u64).clamp(among.start, among.end - 1)
    }

    /// The sides of all games whose ids begin with this.
    ///
    /// # Errors
    /// As [`Store::sides_of`].
    pub(crate) fn sides_of_line(
        &self,
        journal: &mut dyn StoredBytes,
        pages: &mut SoundPages,
        line: &Line,
    ) -> Result<u8, LearnError> {
        let (mut low, mut high) = (0, self.pages());
        let mut guesses = 0_u32;
        // The first page that does not end before such ids.
        while low < high {
            let middle = self.guess(line, low..high, &mut guesses);
            let page = pages.get(self, journal, middle)?;
            if page.first().is_some_and(|(id, _)| id[..] < line[..])
                && page.last().is_some_and(|(id, _)| id[..] >= line[..])
            {
                // It begins before them and does not end before them.
                low = middle;
                break;
            }
            if page.last().is_some_and(|(id, _)| id[..] < line[..]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let mut sides = 0;
        for index in low..self.pages() {
            let page = pages.get(self, journal, index)?;
            let from = page.partition_point(|(id, _)| id[..] < line[..]);
            let own = page.iter().skip(from).take_while(|(id, _)| id.starts_with(line));
            sides = own.fold(sides, |sides, game| sides | game.1);
            if page.last().is_some_and(|(id, _)| !id.starts_with(line)) {
                break;
            }
        }
        Ok(sides)
    }

    /// The ids of a page.
    fn page(&self, journal: &mut dyn StoredBytes, index: u64) -> Result<Vec<StoredGame>, LearnError> {
        let at = self.at + index * PAGE_LEN as u64;
        let data = journal.bytes_at(at, PAGE_LEN)?;
        let (guarded, found) = data.split_last_chunk::<CHECK_LEN>().ok_or(LearnError::Damaged(at))?;
        if data.len() < PAGE_LEN || *found != page_check(index, guarded) {
            return Err(LearnError::Damaged(at));
        }
        let count = (self.ids - index * PAGE_IDS).min(PAGE_IDS) as usize;
        let games = guarded.as_chunks::<STORED_LEN>().0.iter().take(count);
        let parse = |game: &[u8; STORED_LEN]| Some((bytes::array(game, 0)?, *game.last()?));
        Ok(games.filter_map(parse).collect())
    }

    /// Writes a store at `at` that has this one's ids and others: sorted, each id once. Returns it.
    ///
    /// # Errors
    /// When this one cannot be read or is damaged, or `out` cannot be written.
    pub fn merge(
        self,
        journal: &mut dyn StoredBytes,
        others: &[StoredGame],
        at: u64,
        out: &mut dyn StoredBytes,
    ) -> Result<Self, LearnError> {
        let (store, out) = (Self { at, ids: 0 }, written_from(out, at));
        let mut writer = PageWriter { store, out, page: Vec::with_capacity(PAGE_LEN) };
        let mut others = others.iter().copied().peekable();
        for index in 0..self.pages() {
            for (id, mut sides) in self.page(journal, index)? {
                while let Some(other) = others.next_if(|other| other.0 < id) {
                    writer.push(other)?;
                }
                while let Some(other) = others.next_if(|other| other.0 == id) {
                    sides |= other.1;
                }
                writer.push((id, sides))?;
            }
        }
        for other in others {
            writer.push(other)?;
        }
        Ok(writer.end()?)
    }
}

impl SoundPages {
    /// A page of the store, of which all of these are.
    fn get(
        &mut self,
        store: &Store,
        journal: &mut dyn StoredBytes,
        index: u64,
    ) -> Result<&[StoredGame], LearnError> {
        if self.0.len() >= MAX_KEPT && !self.0.contains_key(&index) {
            self.0.clear();
        }
        Ok(match self.0.entry(index) {
            Entry::Occupied(kept) => kept.into_mut(),
            Entry::Vacant(place) => place.insert(store.page(journal, index)?),
        })
    }
}

/// The check of a page. It includes the number of the page, so pages that were swapped are found.
fn page_check(index: u64, guarded: &[u8]) -> Check {
    check(&[&index.to_be_bytes()[..], guarded].concat())
}

/// Writes pages one after the other.
struct PageWriter<'a> {
    store: Store,
    out: BufWriter<AtOffset<'a>>,
    /// The ids of the page that is not full yet.
    page: Vec<u8>,
}

impl PageWriter<'_> {
    fn push(&mut self, (id, sides): StoredGame) -> io::Result<()> {
        self.page.extend(id);
        self.page.push(sides);
        self.store.ids += 1;
        if self.store.ids.is_multiple_of(PAGE_IDS) { self.finish_page() } else { Ok(()) }
    }

    fn finish_page(&mut self) -> io::Result<()> {
        self.page.resize(PAGE_LEN - CHECK_LEN, 0);
        let check = page_check(self.store.pages() - 1, &self.page);
        self.page.extend(check);
        self.out.write_all(&self.page)?;
        self.page.clear();
        Ok(())
    }

    fn end(mut self) -> io::Result<Store> {
        if !self.page.is_empty() {
            self.finish_page()?;
        }
        self.out.flush()?;
        Ok(self.store)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::tests::disk::Memory;

    fn stored(games: &BTreeMap<Id, u8>) -> (Store, Memory) {
        let mut memory = Memory::from_bytes(vec![9; 128]);
        let games: Vec<StoredGame> = games.iter().map(|(id, sides)| (*id, *sides)).collect();
        let store = Store { at: 0, ids: 0 }
            .merge(&mut Memory::from_bytes(Vec::new()), &games, 128, &mut memory)
            .unwrap();
        (store, memory)
    }

    fn ids() -> impl Strategy<Value = BTreeMap<Id, u8>> {
        // Evenly spread as digests are, and close together as real games never make them.
        let id = prop_oneof![any::<Id>(), any::<u16>().prop_map(|low| u128::from(low).to_be_bytes())];
        prop::collection::btree_map(id, 1..=3_u8, 0..1200)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(12, 48)))]

        #[test]
        fn each_id_is_found_with_its_sides_and_no_other(known in ids(), strange in ids()) {
            let (store, mut memory) = stored(&known);
            let mut pages = SoundPages::default();
            prop_assert_eq!(store.ids, known.len() as u64);
            prop_assert_eq!(store.end(), Some(memory.now().len() as u64));
            for (id, sides) in &known {
                prop_assert_eq!(store.sides_of(&mut memory, &mut pages, id).unwrap(), *sides);
            }
            for id in strange.keys().filter(|id| !known.contains_key(*id)) {
                prop_assert_eq!(store.sides_of(&mut memory, &mut pages, id).unwrap(), 0);
            }
            for line in known.keys().step_by(97).chain(strange.keys().take(9)).filter_map(|id| id.first_chunk()) {
                let own = known.iter().filter(|(id, _)| id.starts_with(line));
                let sides = own.fold(0, |sides, game| sides | game.1);
                prop_assert_eq!(store.sides_of_line(&mut memory, &mut pages, line).unwrap(), sides);
            }
        }

        #[test]
        fn merged_stores_have_the_ids_and_sides_of_both(old in ids(), new in ids(), again in 0..40_usize) {
            let (store, mut memory) = stored(&old);
            let mut new = new;
            new.extend(old.keys().take(again).map(|id| (*id, 2)));
            let games: Vec<StoredGame> = new.into_iter().collect();
            let mut both = old.clone();
            for (id, sides) in &games {
                *both.entry(*id).or_default() |= sides;
            }
            let mut out = Memory::from_bytes(Vec::new());
            let merged = store.merge(&mut memory, &games, 0, &mut out).unwrap();
            let (same, expected) = stored(&both);
            prop_assert_eq!(merged.ids, same.ids);
            prop_assert_eq!(out.now(), &expected.now()[128..]);
        }
    }

    #[test]
    fn many_games_are_looked_up_with_one_reading_of_each_page_and_few_pages_are_kept() {
        let game = |number: u64| (u128::from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)) << 64).to_be_bytes();
        let count = PAGE_IDS * (MAX_KEPT as u64 + 30);
        let (store, mut memory) = stored(&(0..count).map(|number| (game(number), 1)).collect());
        assert_eq!(store.pages(), MAX_KEPT as u64 + 30);
        let mut pages = SoundPages::default();
        let few = 0..20_u64;
        for id in few.clone().cycle().take(2000).map(game) {
            assert_eq!(store.sides_of(&mut memory, &mut pages, &id).unwrap(), 1);
            assert_eq!(store.sides_of_line(&mut memory, &mut pages, id.first_chunk().unwrap()).unwrap(), 1);
        }
        let most = 4 * few.end as usize;
        assert!(memory.reads() <= most && pages.0.len() == memory.reads(), "{}", memory.reads());
        for id in (0..count).step_by(97).map(game) {
            assert_eq!(store.sides_of(&mut memory, &mut pages, &id).unwrap(), 1);
            assert!(pages.0.len() <= MAX_KEPT);
        }
    }

    #[test]
    fn a_page_that_was_changed_cut_or_moved_is_detected() {
        let known = (0..600_u128).map(|number| ((number << 100).to_be_bytes(), 1)).collect();
        let (store, memory) = stored(&known);
        assert_eq!(store.pages(), 3);
        let look = |bytes: Vec<u8>| {
            let (mut memory, mut pages) = (Memory::from_bytes(bytes), SoundPages::default());
            let found: Vec<_> = known.keys().map(|id| store.sides_of(&mut memory, &mut pages, id)).collect();
            found.into_iter().find_map(Result::err)
        };
        let sound = memory.now().to_vec();
        assert!(look(sound.clone()).is_none());
        for at in (128..sound.len()).step_by(tabiya_testing::times(607, 61)) {
            let mut bytes = sound.clone();
            bytes[at] ^= 1;
            let page = 128 + (at - 128) / PAGE_LEN * PAGE_LEN;
            assert!(matches!(look(bytes), Some(LearnError::Damaged(found)) if found == page as u64), "{at}");
        }
        assert!(look(sound[..sound.len() - 1].to_vec()).is_some());
        let moved = [
            &sound[..128],
            &sound[128 + PAGE_LEN..128 + 2 * PAGE_LEN],
            &sound[128..128 + PAGE_LEN],
            &sound[128 + 2 * PAGE_LEN..],
        ];
        assert!(look(moved.concat()).is_some());
    }

    #[test]
    fn a_store_that_no_file_can_hold_has_no_end() {
        assert_eq!(Store { at: 128, ids: u64::MAX }.end(), None);
    }
}
