//! The sample databases, where `TABIYA_SAMPLES` names their folder.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::database::Cbh;
use super::super::info::summary;
use super::{ALL, exported, found, lines};
use crate::Date;

/// A sample database, for tests that are ignored because they need `TABIYA_SAMPLES`.
fn sample(name: &str) -> Cbh {
    let folder = std::env::var_os("TABIYA_SAMPLES").expect("TABIYA_SAMPLES names the folder of samples");
    Cbh::open(PathBuf::from(folder).join("cbh").join(name)).unwrap()
}

#[test]
#[ignore = "needs TABIYA_SAMPLES"]
fn every_game_of_twic1134_is_legal_to_its_end() {
    let db = sample("twic1134/twic1134.cbh");
    let exported = exported(&db, &ALL);
    assert_eq!((exported.totals.games, exported.errors), (6117, Vec::new()));
    assert_eq!(lines(&exported.text).len(), 6117);
    assert_eq!(found(&db), Vec::<String>::new());
    assert!(exported.text.starts_with(
        "[Event \"49th Biel Masters Match\"]\n[Site \"Biel SUI\"]\n[Date \"2016.07.26\"]\n[Round \"2\"]\n\
         [White \"Vachier Lagrave, M.\"]\n[Black \"Svidler, P.\"]\n[Result \"1-0\"]\n"
    ));
    let threads = super::ExportOptions { threads: 3, ..ALL };
    assert!(super::exported(&db, &threads).text == exported.text);
}

#[test]
#[ignore = "needs TABIYA_SAMPLES"]
fn the_variations_and_texts_of_linares_are_read_from_old_headers() {
    let db = sample("linares/linares.cbh");
    let exported = exported(&db, &ALL);
    assert_eq!((exported.totals.games, exported.errors), (503, Vec::new()));
    let lines = lines(&exported.text);
    assert_eq!((lines.len(), lines.iter().filter(|line| has_variations(line)).count()), (503, 388));
    assert_eq!((exported.totals.notes_damaged, exported.totals.left_out), (0, BTreeMap::new()));
}

/// Whether there is a parenthesis outside of comments.
fn has_variations(line: &str) -> bool {
    line.split('{').any(|part| part.rsplit_once('}').map_or(part, |(_, moves)| moves).contains('('))
}

#[test]
#[ignore = "needs TABIYA_SAMPLES"]
fn the_others_are_sound_and_known() {
    for (name, games, modes) in [
        ("WithVariations/WithVariations.cbh", 28, vec![(0, 28)]),
        ("Chess960Biel/Chess960Biel.cbh", 188, vec![(0, 1), (10, 187)]),
        ("UnusualStart/UnusualStartBytes.cbh", 9, vec![(1, 2), (4, 3), (5, 4)]),
    ] {
        let db = sample(name);
        let summary = summary(&db, &|_| Ok(())).unwrap();
        assert_eq!((summary.games, summary.texts, summary.deleted), (games, 0, 0));
        assert_eq!(summary.modes, modes.into_iter().collect());
        assert_eq!(summary.findings, []);
        let damages: Vec<_> = found(&db).into_iter().filter(|line| line.starts_with("damaged")).collect();
        assert_eq!(damages, Vec::<String>::new(), "{name}");
        let exported = exported(&db, &ALL);
        assert_eq!((exported.totals.games, exported.errors), (games, Vec::new()));
    }
}

#[test]
#[ignore = "needs TABIYA_SAMPLES"]
fn info_knows_the_dates_and_names() {
    let db = sample("twic1134/twic1134.cbh");
    let summary = summary(&db, &|_| Ok(())).unwrap();
    assert_eq!((summary.players, summary.tournaments), (2737, 48));
    let (first, last) = summary.dates.unwrap();
    assert!(first >= Date::from_pgn("2016.01") && last <= Date::from_pgn("2016.12.31") && first < last);
}
