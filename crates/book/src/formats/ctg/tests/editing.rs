//! Edits change what they are asked to change, and no other byte that a reader sees.

use std::collections::BTreeMap;
use std::path::Path;

use shakmaty::{Move, Position as _};

use tabiya_base::error::ErrorKind;
use tabiya_base::patch::Patch;
use tabiya_base::progress::Progress;
use tabiya_chess::Position;

use super::super::layout::STATISTICS_LEN;
use super::super::read::page::Page;
use super::super::signature::Signature;
use super::super::{Ctg, edit};
use super::{Fixture, Known};
use crate::edit::{Change, Edit, EditValue, PositionEdits};
use crate::tests::{after, fen, moves, mv, uci};
use crate::traits::Book;
use crate::{Annotation, Recommendation};

type Files = [Vec<u8>; 3];

const GREEN: EditValue = EditValue::Verdict { color: Some(Recommendation::Green), mark: None };

fn open(files: &Files) -> Ctg {
    let [ctg, cto, ctb] = files.clone();
    Ctg::new("made.ctg", ctg, cto, ctb).unwrap()
}

/// What every signature has after it.
fn entries(files: &Files) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let [ctg, ..] = files;
    Page::all(ctg)
        .flat_map(|page| page.entries())
        .map(|entry| (entry.signature.to_vec(), entry.rest()))
        .collect()
}

fn signature(at: &Position) -> Vec<u8> {
    Signature::from_chess(at.standard().unwrap()).unwrap().bytes().to_vec()
}

fn edited(at: &Position, mv: Move, change: fn(EditValue) -> Change, value: EditValue) -> Edit {
    let _ = at;
    Edit { mv, name: uci(mv), change: change(value) }
}

fn here(at: &Position, edits: &[Edit]) -> [PositionEdits; 1] {
    [PositionEdits { at: at.clone(), edits: edits.to_vec() }]
}

/// The files after an edit, and what takes it back.
fn after_edit(files: &Files, at: &Position, edits: &[Edit]) -> (Files, Vec<(usize, Patch)>) {
    let mut new = files.clone();
    let mut back = Vec::new();
    for (path, patch) in edit::patches(&open(files), &here(at, edits)).unwrap() {
        let part = super::super::part(&path).unwrap();
        assert!(patch.fits(&files[part]));
        new[part].clear();
        patch.write(&files[part], &mut new[part]).unwrap();
        back.push((part, patch.reversed()));
    }
    (new, back)
}

fn findings(book: &Ctg) -> Vec<String> {
    let mut found = Vec::new();
    book.check(&Progress::none(), &mut |finding| found.push(finding.to_string()));
    found
}

/// A book with every byte set: one ply and two plies from the start.
fn full() -> Fixture {
    let start = Position::start();
    let mut fixture = Fixture::new(3);
    let mut number = 0_u8;
    let mut add =
        |fixture: Fixture, at: &Position, known: &str| {
            number = number.wrapping_add(1);
            let mut rest = vec![1];
            let plain = Fixture::new(0).known(
                at,
                Known {
                    moves: known.split_whitespace().map(|mv| (mv.to_owned(), number | 1)).collect(),
                    ..Known::default()
                },
            );
            let moves = open(&plain.files()).entry(at).unwrap().moves.to_vec();
            rest[0] += 2 * moves.len() as u8;
            rest.extend(moves.as_flattened());
            // Games and results low enough, everything else of any value.
            rest.extend((0..STATISTICS_LEN as u8).map(|at| {
                if at < 12 { at % 3 / 2 * 9 } else { number.wrapping_mul(31).wrapping_add(at * 7) }
            }));
            fixture.raw(at, &rest)
        };
    fixture = add(fixture, &start, "e2e4 d2d4 g1f3");
    for mv in start.standard().unwrap().legal_moves() {
        let at = start.after(mv);
        fixture = add(fixture, &at, "e7e5 d7d5");
        for reply in at.standard().unwrap().legal_moves() {
            fixture = add(fixture, &at.after(reply), "");
        }
    }
    fixture
}

#[test]
fn an_edit_changes_a_colour_and_a_mark_and_nothing_else() {
    let (old, start) = (full().files(), Position::start());
    let e4 = mv(&start, "e2e4");
    let value = EditValue::Verdict { color: Some(Recommendation::Red), mark: Some(Annotation::Other(0x24)) };
    let (new, back) = after_edit(&old, &start, &[edited(&start, e4, Change::Set, value)]);
    let differing = old[0].iter().zip(&new[0]).filter(|(old, new)| old != new).count();
    assert_eq!((differing, &new[1..]), (2, &old[1..]));
    let (book, was) = (open(&new), open(&old));
    let said = moves(&book, &start)[0];
    assert_eq!(
        (said.recommended, said.annotation),
        (Some(Recommendation::Red), Some(Annotation::Other(0x24)))
    );
    let flags = |book: &Ctg| book.entry(&after("e2e4")).unwrap().statistics();
    assert_eq!(flags(&book).recommendation & 0x3f, flags(&was).recommendation & 0x3f);
    assert_eq!(
        (flags(&book).factor, flags(&book).comment_code),
        (flags(&was).factor, flags(&was).comment_code)
    );
    let [(part, back)] = &back[..] else { panic!() };
    let mut restored = Vec::new();
    back.write(&new[*part], &mut restored).unwrap();
    assert_eq!(restored, old[0]);
    // What is there already changes nothing.
    assert!(
        edit::patches(&book, &here(&start, &[edited(&start, e4, Change::Set, value)])).unwrap().is_empty()
    );
}

#[test]
fn pages_that_overflow_are_split_and_all_other_entries_stay_and_all_comes_back() {
    let old = full().files();
    let pages = open(&old).ctg.len();
    let mut files = old.clone();
    let mut wanted = entries(&old);
    let mut backs = Vec::new();
    let start = Position::start();
    for mv in start.standard().unwrap().legal_moves().iter().step_by(3) {
        let at = start.after(*mv);
        for reply in at.standard().unwrap().legal_moves().iter().step_by(4) {
            let at = at.after(*reply);
            let adds: Vec<_> = at
                .standard()
                .unwrap()
                .legal_moves()
                .iter()
                .take(8)
                .map(|mv| edited(&at, *mv, Change::Add, GREEN))
                .collect();
            let touched: Vec<_> =
                adds.iter().map(|edit| signature(&at.after(edit.mv))).chain([signature(&at)]).collect();
            let (new, back) = after_edit(&files, &at, &adds);
            let now = entries(&new);
            assert!(touched.iter().all(|signature| now.contains_key(signature)));
            for (signature, rest) in &wanted {
                if !touched.contains(signature) {
                    assert_eq!(now.get(signature), Some(rest));
                }
            }
            let book = open(&new);
            let known = moves(&book, &at);
            assert!(adds.iter().all(|edit| {
                known
                    .iter()
                    .any(|facts| facts.mv == edit.mv && facts.recommended == Some(Recommendation::Green))
            }));
            (wanted, files) = (now, new);
            backs.push(back);
        }
    }
    let book = open(&files);
    assert!(book.ctg.len() > pages + 2 * 4096, "{}", book.ctg.len());
    assert_eq!(wanted.len() as u64, book.summary(&Progress::none()).entries);
    let errors: Vec<_> = findings(&book)
        .into_iter()
        .filter(|finding| {
            !finding.contains("lead to positions")
                && !finding.contains("header")
                && !finding.contains("mark")
                && !finding.contains("impossible")
                && !finding.contains("leads to a position")
        })
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    for back in backs.into_iter().rev() {
        for (part, patch) in back {
            assert!(patch.fits(&files[part]));
            let mut restored = Vec::new();
            patch.write(&files[part], &mut restored).unwrap();
            files[part] = restored;
        }
    }
    assert!(files == old);
}

#[test]
fn deleting_a_move_leaves_the_other_entries_of_the_page() {
    let old = full().files();
    let start = Position::start();
    let delete = Edit { mv: mv(&start, "d2d4"), name: "d4".to_owned(), change: Change::Delete };
    let (new, _) = after_edit(&old, &start, &[delete]);
    let (mut was, mut now) = (entries(&old), entries(&new));
    let (own, left) = (was.remove(&signature(&start)).unwrap(), now.remove(&signature(&start)).unwrap());
    assert_eq!(
        (was, own[own.len() - STATISTICS_LEN..].to_vec()),
        (now, left[left.len() - STATISTICS_LEN..].to_vec())
    );
    assert_eq!(
        moves(&open(&new), &start).iter().map(|facts| uci(facts.mv)).collect::<Vec<_>>(),
        ["e2e4", "g1f3"]
    );
    let one = Fixture::new(0).with(&start, "e2e4", [0; 4], 0);
    let last = Edit { mv: mv(&start, "e2e4"), name: "e4".to_owned(), change: Change::Delete };
    assert!(
        edit::patches(&one.book(), &here(&start, &[last])).unwrap_err().to_string().contains("no moves left")
    );
}

#[test]
fn upper_bits_of_marks_count_unless_all_moves_have_them() {
    let start = Position::start();
    let marks = |fixture: &Fixture| {
        moves(&fixture.book(), &start).iter().map(|facts| facts.annotation).collect::<Vec<_>>()
    };
    let masked = Fixture::new(0).with(&start, "e2e4:225 d2d4:224", [0; 4], 0);
    assert_eq!(marks(&masked), [Some(Annotation::Good), None]);
    let whole = masked.clone().with(&after("e2e4"), "e7e5:36", [0; 4], 0);
    assert_eq!(marks(&whole), [Some(Annotation::Other(225)), Some(Annotation::Other(224))]);
    // Marks of a whole book that are neutral are no such bits.
    let attack = Fixture::new(0).with(&start, "e2e4:40 d2d4:40", [0; 4], 0);
    assert_eq!(marks(&attack), [Some(Annotation::Other(40)); 2]);
    // A masked book keeps the bits in an edit, and has no room for other marks.
    let set = |name, mark| {
        let value = EditValue::Verdict { color: None, mark: Some(mark) };
        [edited(&start, mv(&start, name), Change::Set, value)]
    };
    let (new, _) = after_edit(&masked.files(), &start, &set("d2d4", Annotation::Bad));
    assert_eq!(
        open(&new).entry(&start).unwrap().moves.iter().map(|[_, mark]| *mark).collect::<Vec<_>>(),
        [225, 226]
    );
    let (new, _) =
        after_edit(&masked.files(), &start, &[edited(&start, mv(&start, "g1f3"), Change::Add, GREEN)]);
    assert_eq!(open(&new).mark_mask(), 0x1f);
    let refused =
        edit::patches(&masked.book(), &here(&start, &set("d2d4", Annotation::Other(40)))).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Usage);
}

#[test]
fn what_a_damaged_book_or_the_format_cannot_take_is_refused() {
    let start = Position::start();
    let sound = full().files();
    let d5 = [edited(&start, mv(&start, "h2h4"), Change::Add, GREEN)];
    let [mut ctg, cto, ctb] = sound.clone();
    // Every page claims to end elsewhere.
    for page in ctg.chunks_exact_mut(4096).skip(1) {
        page[3] = page[3].wrapping_sub(1);
    }
    let book = Ctg::new("made.ctg", ctg, cto, ctb).unwrap();
    let refused = edit::patches(&book, &here(&start, &d5)).unwrap_err();
    assert_eq!((refused.kind(), refused.path()), (ErrorKind::Format, Some(Path::new("made.ctg"))));
    let promotion = fen("k7/7P/8/8/8/8/8/K7 w - - 0 1");
    let knight = [edited(&promotion, mv(&promotion, "h7h8n"), Change::Add, GREEN)];
    let text = edit::patches(&open(&sound), &here(&promotion, &knight)).unwrap_err().to_string();
    assert!(text.contains("promotions to other pieces"), "{text}");
    let weight = [edited(&start, mv(&start, "e2e4"), Change::Set, EditValue::Weight(5))];
    assert!(edit::patches(&open(&sound), &here(&start, &weight)).is_err());
}
