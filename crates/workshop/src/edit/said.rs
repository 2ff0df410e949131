//! Sequences of edits, undone and redone, in each format that can be edited, where replacing the files fails at any step: the book
//! is what was said.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use tabiya_base::progress::Progress;
use tabiya_base::replace::{faults, leftovers};
use tabiya_book::edit::{Change, Edit, EditValue};
use tabiya_book::{self as book, Annotation, Edits, Format, Recommendation};
use tabiya_chess::Position;
use tabiya_testing::books::mv;

use super::tests::write;
use super::{EditOutcome, Editor, MoveState, Way, Wish};

const MOVES: [&str; 5] = ["a2a3", "d2d4", "e2e4", "c2c4", "b2b3"];

#[derive(Clone, Debug)]
enum Step {
    Edit(Vec<(usize, bool, u8)>),
    Reverse(bool),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => prop::collection::vec((0..MOVES.len(), any::<bool>(), 0..4_u8), 1..3).prop_map(Step::Edit),
        2 => any::<bool>().prop_map(Step::Reverse),
    ]
}

/// The formats that are written and edited.
fn formats() -> Vec<Format> {
    Format::all().filter(|format| format.is_writable() && format.is_editable()).collect()
}

/// The files of a folder, but for journals and what dead processes leave.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_book = |path: &PathBuf| {
        !path.file_name().unwrap().to_string_lossy().starts_with('.') && path.extension().unwrap() != "learn"
    };
    paths.filter(is_book).map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// What the book says of each move.
fn said(path: &Path) -> Vec<Option<MoveState>> {
    let (known, at) = (book::open_book(path).unwrap(), Position::start());
    let moves: Vec<_> = MOVES.iter().map(|uci| mv(&at, uci)).collect();
    super::said(&known, &[(at, moves)]).unwrap().unwrap()
}

/// The edits of a step that fit what the book has.
fn edits(path: &Path, wanted: &[(usize, bool, u8)]) -> Vec<Edit> {
    let (now, at) = (said(path), Position::start());
    let value = |number: u8| match Format::of_name(path).map(Format::edits) {
        Some(Edits::Verdicts) => EditValue::Verdict {
            color: (number > 1).then_some(Recommendation::Green),
            mark: Some([Annotation::Good, Annotation::Interesting][usize::from(number % 2)]),
        },
        _ => EditValue::Weight(u64::from(number) + 1),
    };
    let mut edits: Vec<Edit> = Vec::new();
    for (place, delete, number) in wanted {
        let change = match now[*place] {
            None => Change::Add(value(*number)),
            Some(_) if *delete => Change::Delete,
            Some(_) => Change::Set(value(*number)),
        };
        let edit = Edit { mv: mv(&at, MOVES[*place]), name: MOVES[*place].to_owned(), change };
        if edits.iter().all(|other| other.mv != edit.mv) {
            edits.push(edit);
        }
    }
    edits
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(40, 10_000)))]

    #[test]
    fn at_each_step_a_book_of_any_format_is_what_was_said(
        format in prop::sample::select(formats()),
        steps in prop::collection::vec((any_step(), prop::option::weighted(0.6, 0..14_u64), any::<bool>()), 3..=7),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").with_extension(format.extension());
        write(&path, [1, 2, 3]);
        let (mut done, mut undone) = (vec![files(folder.path())], Vec::new());
        let mut editor = Editor::new(&path);
        for (step, fault, all) in steps {
            let before = done.last().unwrap().clone();
            prop_assert_eq!(&files(folder.path()), &before);
            let at = Position::start();
            let edits = if let Step::Edit(wanted) = &step { edits(&path, wanted) } else { Vec::new() };
            faults::fail_after(fault, all);
            let outcome = match step {
                Step::Edit(_) => {
                    editor.edit(&Wish { at: &at, edits: &edits, note: "startpos", expected: None }, Progress::none)
                }
                Step::Reverse(back) => editor.reverse(if back { Way::Back } else { Way::Again }, None),
            };
            faults::fail_after(None, false);
            // As the next process does after one that died.
            leftovers::put_back(folder.path());
            let now = files(folder.path());
            let is_back = matches!(step, Step::Reverse(true));
            let made = match outcome {
                Ok(EditOutcome::Made(made)) => made,
                Ok(EditOutcome::Nothing) => {
                    let is_none = if is_back { done.len() == 1 } else { undone.is_empty() };
                    prop_assert!(is_none);
                    prop_assert_eq!(now, before);
                    continue;
                }
                Ok(EditOutcome::Unexpected(_) | EditOutcome::OtherCounts(_) | EditOutcome::Other(_)) => return Err(TestCaseError::fail("nobody else edits")),
                Err(error) => {
                    // Not made: also no other process makes it later.
                    tabiya_learn::settle(&path);
                    prop_assert_eq!(files(folder.path()), before, "{:#}", error);
                    continue;
                }
            };
            prop_assert!(made.unread.is_none());
            let known = said(&path);
            for made in &made.moves {
                let place = MOVES.iter().position(|uci| *uci == made.uci).unwrap();
                let weight = |said: Option<MoveState>| said.map(|said| (said.weight, said.recommended, said.annotation));
                prop_assert_eq!(weight(known[place]), weight(made.said[1]), "{}", made.uci);
            }
            match step {
                Step::Edit(_) if now == before => {}
                Step::Edit(_) => {
                    // The edit that was taken back last, made anew, leaves those before it to be redone, where a journal tells.
                    if undone.pop() != Some(now.clone()) || !format.learns() {
                        undone.clear();
                    }
                    done.push(now);
                }
                Step::Reverse(true) => {
                    undone.extend(done.pop());
                    prop_assert_eq!(Some(&now), done.last());
                }
                Step::Reverse(false) => {
                    prop_assert_eq!(Some(&now), undone.last());
                    done.extend(undone.pop());
                }
            }
        }
    }
}
