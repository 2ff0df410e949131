//! Edits change what they are asked to change, and no other byte that a reader sees.

use std::collections::BTreeMap;

use shakmaty::{Move, Position as _};

use tabiya_base::patch::Patch;
use tabiya_chess::Position;

use super::super::{Key, Kvetka, edit};
use super::Packed;
use super::fixtures::{damages, findings, many};
use crate::edit::{Change, Edit, EditValue, PositionEdits};
use crate::tests::{moves, uci};
use crate::{Counts, Moves};

fn open(Packed { kob, kin }: &Packed) -> Kvetka {
    Kvetka::with_files("fixture.kob", kob.clone(), Some(kin.clone()), None).unwrap()
}

fn elements(book: &Kvetka) -> BTreeMap<[u8; 22], Vec<u8>> {
    let blocks = (0..book.blocks()).filter_map(|number| book.parts.block(number));
    let elements = blocks.flat_map(|block| block.elements().map(Result::unwrap));
    elements.map(|element| (*element.key, element.bytes())).collect()
}

fn edited(mv: Move, change: Change) -> Edit {
    Edit { mv, name: uci(mv), change }
}

fn here(at: &Position, edits: &[Edit]) -> [PositionEdits; 1] {
    [PositionEdits { at: at.clone(), edits: edits.to_vec() }]
}

/// The files after patches that fit them.
fn patched(files: &Packed, patches: &[(std::path::PathBuf, Patch)]) -> Packed {
    let mut new = files.clone();
    for (path, patch) in patches {
        let name = path.file_name().unwrap().to_str().unwrap();
        let place = match name.strip_prefix("fixture_").and_then(|rest| rest.strip_suffix(".kob")) {
            Some(number) => &mut new.kob[number.parse::<usize>().unwrap()],
            None => &mut new.kin,
        };
        assert!(patch.fits(place), "{name}");
        let mut bytes = Vec::new();
        patch.write(place, &mut bytes).unwrap();
        *place = bytes;
    }
    new
}

#[test]
fn blocks_that_overflow_are_divided_and_all_other_elements_stay_and_all_comes_back() {
    let old = many(300).in_small_files();
    assert!(old.kob.len() > 3 && findings(&open(&old), true).is_empty());
    let (mut files, mut backs) = (old.clone(), Vec::new());
    let start = Position::start();
    for mv in start.standard().unwrap().legal_moves() {
        for reply in start.after(mv).standard().unwrap().legal_moves() {
            let at = start.after(mv).after(reply);
            let book = open(&files);
            let was = elements(&book);
            let known = moves(&book, &at);
            let mut edits: Vec<Edit> = known
                .iter()
                .map(|facts| edited(facts.mv, Change::Set(EditValue::Weight(facts.weight + 1001))))
                .collect();
            let new = at
                .standard()
                .unwrap()
                .legal_moves()
                .into_iter()
                .filter(|mv| !known.iter().any(|facts| facts.mv == *mv));
            edits.extend(new.take(2).map(|mv| edited(mv, Change::Add(EditValue::Weight(7)))));
            let touched: Vec<_> = edits.iter().map(|edit| at.after(edit.mv)).chain([at.clone()]).collect();
            let touched: Vec<_> =
                touched.iter().map(|at| Key::from_chess(at.standard().unwrap()).unwrap().0).collect();
            let patches = edit::patches(&book, &here(&at, &edits)).unwrap();
            files = patched(&files, &patches);
            let book = open(&files);
            assert!(book.warnings.is_empty() && book.index.is_some(), "{:?}", book.warnings);
            let now = elements(&book);
            assert!(was.iter().all(|(key, element)| touched.contains(key) || now.get(key) == Some(element)));
            assert!(now.keys().all(|key| touched.contains(key) || was.contains_key(key)));
            for facts in moves(&book, &at) {
                let before = known.iter().find(|known| known.mv == facts.mv);
                let wanted = before.map_or(7, |known| known.weight + 1001);
                assert!(
                    facts.weight == wanted || !edits.iter().any(|edit| edit.mv == facts.mv),
                    "{}",
                    uci(facts.mv)
                );
            }
            backs.push(patches);
        }
    }
    assert!(files.kin.len() > old.kin.len() && damages(&open(&files)).is_empty());
    for patches in backs.into_iter().rev() {
        let back: Vec<_> = patches.into_iter().map(|(file, patch)| (file, patch.reversed())).collect();
        files = patched(&files, &back);
    }
    // No element is left over.
    assert!(files == old);
}

#[test]
fn a_book_without_positions_gets_its_first_block() {
    let empty = Packed::new(&super::Fixture::default().header, &[]);
    let start = Position::start();
    let mv = start.standard().unwrap().legal_moves()[0];
    let patches =
        edit::patches(&open(&empty), &here(&start, &[edited(mv, Change::Add(EditValue::Weight(3)))]))
            .unwrap();
    let files = patched(&empty, &patches);
    let book = open(&files);
    assert_eq!(damages(&book), Vec::<String>::new());
    assert_eq!(moves(&book, &start)[0].counts, Some(Counts::ended(1, 1, 0)));
    let delete = [edited(mv, Change::Delete)];
    assert!(edit::patches(&book, &here(&start, &delete)).unwrap_err().to_string().contains("no moves left"));
    assert!(book.has(&start, mv));
}
