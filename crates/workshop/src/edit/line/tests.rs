//! Lines go into books of each format that can be edited and leave them, and taking that back leaves the same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use shakmaty::{Color, Position as _};

use tabiya_base::progress::Progress;
use tabiya_book::edit::EditValue;
use tabiya_book::{self as book, Edits, Format, MoveFacts, PositionRecord, WriteOptions};
use tabiya_chess::{Game, Position, notation};

use super::super::{EditOutcome, Editor, LineWish, NamedEdit, NamedMoves, Way, plan_line};
use super::{Line, LineChange, LineCounts};

const ADD: LineChange = LineChange::Add { only: None, value: None };

/// What a book has: by the fields of a position that moves depend on, its moves in UCI notation.
type Known = BTreeMap<String, BTreeSet<String>>;

fn formats() -> Vec<Format> {
    Format::all().filter(|format| format.is_writable() && format.is_editable()).collect()
}

fn read(text: &str) -> Line {
    Line::read(text, &Game::start(), false).unwrap()
}

fn game(text: &str) -> Game {
    let mut game = Game::start();
    notation::play(text, &mut game).unwrap();
    game
}

/// The moves of a line, by their positions.
fn known(line: &Line) -> Known {
    let mut known = Known::new();
    for of in &line.moves {
        let mv = of.mv.to_uci(shakmaty::CastlingMode::Standard).to_string();
        known.entry(of.at.key().to_string()).or_default().insert(mv);
    }
    known
}

/// Writes a book that has these lines, every move with another weight.
fn write(path: &Path, lines: &[&str]) {
    let mut options = WriteOptions::default();
    options.force = true;
    let mut writer = book::create_book(path, &options).unwrap();
    let mut positions: BTreeMap<u64, (Position, Vec<MoveFacts>)> = BTreeMap::new();
    for line in lines {
        for of in &read(line).moves {
            let (_, moves) = positions.entry(of.at.key()).or_insert((of.at.clone(), Vec::new()));
            if moves.iter().all(|known| known.mv != of.mv) {
                moves.push(MoveFacts::new(of.mv, 2 + moves.len() as u64));
            }
        }
    }
    for (at, moves) in positions.values() {
        writer.add(&PositionRecord::from_moves(at, moves)).unwrap();
    }
    writer.finish().unwrap();
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of_book = |path: &PathBuf| path.extension().is_some_and(|end| end != "learn");
    paths.filter(of_book).map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// The moves that a book has in the positions of lines.
fn in_book(path: &Path, lines: &[&str]) -> Known {
    let book = book::open_book(path).unwrap();
    let mut has = Known::new();
    for of in lines.iter().flat_map(|line| read(line).moves) {
        let moves = book.moves_in(&of.at).into_iter();
        let moves: BTreeSet<_> =
            moves.map(|facts| facts.mv.to_uci(shakmaty::CastlingMode::Standard).to_string()).collect();
        if !moves.is_empty() {
            has.insert(of.at.key().to_string(), moves);
        }
    }
    has
}

/// What each of these moves weighs in a book, in the order of the line.
fn weights(path: &Path, line: &Line) -> Vec<Option<u64>> {
    let book = book::open_book(path).unwrap();
    let of = |at: &Position, mv| book.moves_in(at).into_iter().find(|facts| facts.mv == mv);
    line.moves.iter().map(|known| of(&known.at, known.mv).map(|facts| facts.weight)).collect()
}

fn edited(editor: &mut Editor, line: &Line, change: LineChange) -> (LineCounts, NamedEdit<'static>) {
    let wish = LineWish { line, change, expected: None };
    match editor.edit_line(&wish, &Progress::none()).unwrap() {
        EditOutcome::Made(made) => {
            assert!(made.unread.is_none());
            let counts = made.counts();
            let note: &str = Box::leak(made.note.clone().into_boxed_str());
            (counts, NamedEdit { note, moves: NamedMoves::Several(made.digest()) })
        }
        other => panic!("{other:?}"),
    }
}

/// A study of many moves that a seed makes: random games with variations, which come back to the same positions now and then.
fn study(moves: usize, mut seed: u64) -> String {
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut text = String::from("{a study} ");
    let (mut at, mut count) = (Position::start(), 0);
    let named = |at: &Position, mv| format!("{} ", crate::view::san(at, mv));
    // Not all formats have codes for all promotions, or for moves of third pieces of a kind.
    let moves_of = |at: &Position| {
        let mut moves = at.chess().legal_moves();
        moves.retain(|mv| !mv.is_promotion());
        moves
    };
    while count < moves {
        let legal = moves_of(&at);
        if legal.is_empty() || count > 0 && count.is_multiple_of(60) {
            text += "*\n\n[Event \"next\"]\n\n";
            at = Position::start();
            count += 1;
            continue;
        }
        let mv = legal[random(legal.len().min(8))];
        text += &named(&at, mv);
        count += 1;
        if random(3) == 0 {
            text += "({instead} ";
            let mut side = at.clone();
            for _ in 0..=random(4) {
                let legal = moves_of(&side);
                if legal.is_empty() {
                    break;
                }
                let mv = legal[random(legal.len())];
                text += &named(&side, mv);
                side.play(mv);
                count += 1;
            }
            text += ") ";
        }
        at.play(mv);
    }
    text + "*"
}

#[test]
fn lines_are_read_as_people_write_them() {
    let plain = read("1. e4 c5 2. Nf3 d6");
    let variation = known(&read("1. e4 c5 (1... e5 2. Nf3 (2. f4) 2... Nc6) 2. Nf3 d6"));
    for text in
        ["e2e4 c7c5 g1f3 d7d6", "1.e4! {best} c5 $6 2.Nf3 d6 *", "[Event \"x\"]\n\n1. e4 c5 2. Nf3 d6 1-0"]
    {
        assert_eq!(known(&read(text)), known(&plain), "{text}");
    }
    let all = known(&read(
        "[Event \"a\"]\n\n1. e4 c5 2. Nf3 d6 *\n\n[Event \"b\"]\n\n1. e4 e5 2. f4 *\n\n[Event \"c\"]\n\n1. e4 e5 2. Nf3 Nc6 *",
    ));
    assert_eq!(variation, all);
    // From here, or from the start where it begins with the number 1.
    let here = game("1. e4 c5");
    for text in ["2. Nf3 d6", "Nf3 d6", "2. Nf3 {here} d6", "2. Nf3 (2. Nc3) 2... d6"] {
        let line = Line::read(text, &here, false).unwrap();
        let (before, _) = line.game_before(0);
        assert_eq!((before.moves().len(), line.moves[0].at.key()), (2, here.position().key()), "{text}");
    }
    assert_eq!(Line::read("1. d4 d5", &here, false).unwrap().game_before(0).0.moves().len(), 0);
    for (text, why) in [
        ("", "no moves"),
        ("1. e4 Qh9", "\"Qh9\", number 2, is not a legal move"),
        ("1. e4 {x} e5 2. Ke3 d6 *", "Ke3"),
        ("1. e4 (1. d4 d5 2. Ke3) 1... e5 *", "Ke3"),
        ("1. e4 {x e5", ""),
    ] {
        let error = Line::read(text, &Game::start(), false).unwrap_err();
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
    assert!(Line::of_game(&game("1. e4 c5"), false, 2).is_empty());
}

#[test]
fn in_each_format_a_line_and_a_study_come_in_leave_and_come_back_as_one_edit() {
    let twenty = "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Be2 e5 7. Nb3 Be7 8. O-O O-O 9. Be3 Be6 10. f4 exf4";
    let old = ["1. e4 c5 2. Nf3 d6 3. d4 cxd4", "1. d4 d5 2. c4", "1. Nf3 d5 2. d4", "1. c4 e5"];
    let study = study(200, 7);
    for format in formats() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").with_extension(format.extension());
        write(&path, &old);
        let mut states = vec![files(folder.path())];
        let (mut editor, mut named) = (Editor::new(&path), Vec::new());
        let had = weights(&path, &read(twenty));
        for text in [twenty, &study] {
            let (line, all) = (read(text), [&old[..], &[twenty, text]].concat());
            let before = in_book(&path, &all);
            let planned =
                plan_line(&*book::open_book(&path).unwrap(), &line, ADD, &Progress::none()).unwrap();
            let (counts, edit) = edited(&mut editor, &line, ADD);
            let mut model = before.clone();
            let mut adds = 0;
            for (at, moves) in known(&line) {
                let of = model.entry(at).or_default();
                adds += moves.into_iter().filter(|mv| of.insert(mv.clone())).count() as u64;
            }
            assert_eq!(
                (counts.adds, planned.adds, counts.changes, planned.changes),
                (adds, adds, 0, 0),
                "{format}"
            );
            let now = in_book(&path, &all);
            assert!(model.iter().all(|(at, moves)| now.get(at) == Some(moves)), "{format}");
            named.push(edit);
            states.push(files(folder.path()));
            // Again it changes nothing, and is no edit.
            assert_eq!(edited(&mut editor, &line, ADD).0.adds, 0);
            assert_eq!(files(folder.path()), states[states.len() - 1], "{format}");
        }
        // What the book had weighs the same.
        let weighs = weights(&path, &read(twenty));
        assert!(had.iter().zip(&weighs).all(|(had, has)| had.is_none() || had == has), "{format}");
        // The seventh move of the line goes, and all that follows it alone.
        let gone = read("1. e4 c5 2. Nf3 d6");
        let (counts, edit) = edited(&mut editor, &gone, LineChange::Delete);
        assert!(counts.deletes >= 17 && counts.adds + counts.changes == 0, "{format}: {counts:?}");
        let left = weights(&path, &read(twenty));
        assert!(left[..3].iter().all(Option::is_some) && left[3..].iter().all(Option::is_none), "{format}");
        named.push(edit);
        states.push(files(folder.path()));
        // Undone, redone and undone, each by its name, and by no other.
        for (place, edit) in named.iter().enumerate().rev() {
            let other = NamedEdit { note: edit.note, moves: NamedMoves::Several(1) };
            assert!(matches!(editor.reverse(Way::Back, Some(&other)).unwrap(), EditOutcome::Other(_)));
            let EditOutcome::Made(back) = editor.reverse(Way::Back, Some(edit)).unwrap() else {
                panic!("{format}")
            };
            assert_eq!(files(folder.path()), states[place], "{format}");
            let back = NamedEdit { note: edit.note, moves: NamedMoves::Several(back.digest()) };
            assert!(
                matches!(editor.reverse(Way::Again, Some(&back)).unwrap(), EditOutcome::Made(_)),
                "{format}"
            );
            assert_eq!(files(folder.path()), states[place + 1], "{format}");
            assert!(matches!(editor.reverse(Way::Back, None).unwrap(), EditOutcome::Made(_)));
        }
        assert_eq!(files(folder.path()), states[0], "{format}");
    }
}

#[test]
fn what_other_moves_reach_stays() {
    let old = ["1. d4 d5 2. c4 e6 3. Nc3 Nf6", "1. c4 e6 2. d4 d5", "1. d4 d5 2. Nf3 Nf6 3. c4"];
    for format in formats() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").with_extension(format.extension());
        write(&path, &old);
        let before = files(folder.path());
        let mut editor = Editor::new(&path);
        let (counts, _) = edited(&mut editor, &read("1. d4"), LineChange::Delete);
        // 1. d4 itself, d5, c4, e6 after it, Nf3, Nf6, c4.
        assert_eq!(counts, LineCounts { deletes: 7, ..LineCounts::default() }, "{format}");
        let kept = read("1. c4 e6 2. d4 d5 3. Nc3 Nf6");
        assert!(weights(&path, &kept).iter().all(Option::is_some), "{format}");
        assert!(weights(&path, &read(old[2])).iter().all(Option::is_none), "{format}");
        editor.reverse(Way::Back, None).unwrap();
        assert_eq!(files(folder.path()), before, "{format}");
        let wrong = LineWish { line: &read("1. e4"), change: LineChange::Delete, expected: None };
        let error = editor.edit_line(&wrong, &Progress::none()).unwrap_err();
        assert!(error.to_string().contains("does not have the move e4"), "{error}");
        let all = [read("1. c4"), read("1. d4")];
        edited(&mut editor, &all[0], LineChange::Delete);
        let wish = LineWish { line: &all[1], change: LineChange::Delete, expected: None };
        let error = editor.edit_line(&wish, &Progress::none()).unwrap_err();
        assert!(error.to_string().contains("no moves left"), "{format}: {error}");
    }
}

#[test]
fn a_study_that_comes_back_to_a_position_sets_what_the_book_has_there() {
    for format in formats().into_iter().filter(|format| format.edits() != Edits::Verdicts) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").with_extension(format.extension());
        write(&path, &["1. c4 e5", "1. e4 e5"]);
        let line = read("1. Nc3 (1. Na3 b6) (1. c4 c5) 1... b5 (1... d5 2. e4) 2. e4 (2. d4)");
        let change = LineChange::Add { only: None, value: Some(EditValue::Weight(7)) };
        let before = files(folder.path());
        let mut editor = Editor::new(&path);
        let (counts, _) = edited(&mut editor, &line, change);
        assert_eq!((counts.adds, counts.changes), (9, 1), "{format}");
        assert!(weights(&path, &read("1. c4 c5")).iter().all(Option::is_some), "{format}");
        editor.reverse(Way::Back, None).unwrap();
        assert_eq!(files(folder.path()), before, "{format}");
    }
}

#[test]
fn one_side_and_one_weight() {
    for format in formats() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").with_extension(format.extension());
        write(&path, &["1. e4 c5 2. Nf3", "1. d4 d5"]);
        let mut editor = Editor::new(&path);
        let line = read("1. e4 c5 2. c3 d5 3. exd5 Qxd5");
        let value = (format.edits() != Edits::Verdicts).then_some(EditValue::Weight(9));
        let white = LineChange::Add { only: Some(Color::White), value };
        let (counts, _) = edited(&mut editor, &line, white);
        let is_tree = book::open_book(&path).unwrap().as_patchable().is_some_and(|book| book.is_tree());
        let has = weights(&path, &line);
        let others = if is_tree { 2 } else { 0 };
        // Of White's three moves e4 is known, and gets the weight where there is one.
        assert_eq!((counts.adds, counts.changes), (2 + others, u64::from(value.is_some())), "{format}");
        assert_eq!((has[2].is_some(), has[4].is_some(), has[5].is_some()), (true, true, is_tree), "{format}");
        if value.is_some() && !is_tree {
            assert_eq!(
                (has[0], has[1].is_some(), has[2], has[4]),
                (Some(9), true, Some(9), Some(9)),
                "{format}"
            );
        }
        // What was expected is compared.
        let wish = LineWish { line: &line, change: ADD, expected: Some(LineCounts::default()) };
        let before = files(folder.path());
        let outcome = editor.edit_line(&wish, &Progress::none()).unwrap();
        assert!(matches!(outcome, EditOutcome::OtherCounts(_)), "{format}");
        assert_eq!(files(folder.path()), before);
    }
}
