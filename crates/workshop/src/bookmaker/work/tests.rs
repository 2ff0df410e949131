use shakmaty::Color;
use tabiya_book::Among;
use tabiya_chess::{RatingBand, Speed};
use tabiya_games::{self as games, PlayerName};

use super::*;
use crate::bookmaker::row::{CountRow, CountedRow, PlacedRow};
use crate::bookmaker::{CountedMoves, Tags};

const GAME: &str = "[Event \"x\"]\n[White \"a\"]\n[Black \"b\"]\n[WhiteElo \"2000\"]\n[Result \"1-0\"]\n\n";

fn kept<R: CountedRow>(output: &Path, sources: &[PathBuf], filter: &Filter) -> Result<(Work, KeptCounts)> {
    let mut work = Work::open(output)?;
    let temp = tabiya_base::folder::parent_of(output).to_owned();
    let resources = Resources { threads: 2, memory: 1 << 20, temp };
    let sources = games::open_files(sources)?;
    let kept = work.count::<R>(&sources, filter, By::default(), &resources, &Progress::none())?;
    Ok((work, kept))
}

#[test]
fn what_was_counted_is_known_until_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a.pgn"), format!("{GAME}1. e4 e5 2. Ke3 1-0\n\n")).unwrap();
    fs::write(at("b.pgn"), format!("{GAME}1. d4 d5 1-0\n\n")).unwrap();
    // Twice the same, and one of which nothing counts.
    fs::write(at("c.pgn"), format!("{GAME}1-0\n\n")).unwrap();
    let sources = ["a.pgn", "b.pgn", "b.pgn", "c.pgn"].map(at);
    let output = at("book.bin");
    let filter = Filter::default();
    let (work, first) = kept::<CountRow>(&output, &sources, &filter).unwrap();
    assert_eq!((work.known(), work.changed().len(), first.shards.len()), (0, 0, 1));
    assert!(work.has_counts());
    // While it is in use nobody else gets it.
    assert!(Work::open(&output).is_err_and(|error| error.to_string().contains("another tabiya")));
    drop(work);
    let (work, second) = kept::<CountRow>(&output, &sources, &filter).unwrap();
    assert_eq!(work.known(), 4);
    assert_eq!(format!("{:?}", first.report), format!("{:?}", second.report));
    assert_eq!(first.shards, second.shards);
    drop(work);
    fs::write(at("a.pgn"), format!("{GAME}1. e4 e5 1-0\n\n")).unwrap();
    let (work, third) = kept::<CountRow>(&output, &sources, &filter).unwrap();
    // Those that were counted together with it are counted again.
    assert_eq!((work.known(), work.changed()), (0, &[at("a.pgn").display().to_string()][..]));
    assert!(third.report.errors.is_empty());
    drop(work);
    // Another list of sources: those that are left are counted anew, each once, and then known in another group.
    for known in [0, 3] {
        let (work, rest) = kept::<CountRow>(&output, &sources[1..], &filter).unwrap();
        assert_eq!((work.known(), work.changed().len(), rest.shards.len()), (known, 0, 1));
        assert_eq!(rest.report.games, 3);
    }
    let (work, whole) = kept::<CountRow>(&output, &sources, &filter).unwrap();
    assert_eq!((work.known(), whole.report.games), (4, 4));
    work.remove();
    assert!(!Work::folder_of(&output).exists());
}

#[test]
fn small_sources_are_counted_together_and_large_ones_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let game = format!("{GAME}1. e4 e5 1-0\n\n");
    let large = game.repeat(2 + usize::try_from(MAX_GROUP_LEN).unwrap() / game.len());
    for (name, text) in [("a.pgn", &game), ("b.pgn", &game), ("c.pgn", &large), ("d.pgn", &game)] {
        fs::write(at(name), text).unwrap();
    }
    let sources = ["a.pgn", "b.pgn", "c.pgn", "d.pgn"].map(at);
    let (work, first) = kept::<CountRow>(&at("book.bin"), &sources, &Filter::default()).unwrap();
    assert_eq!(first.shards.len(), 3);
    drop(work);
    fs::write(at("d.pgn"), format!("{game}{game}")).unwrap();
    let (work, second) = kept::<CountRow>(&at("book.bin"), &sources, &Filter::default()).unwrap();
    assert_eq!((work.known(), second.report.games), (3, first.report.games + 1));
}

#[test]
fn damaged_work_is_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a.pgn"), format!("{GAME}1. e4 e5 1-0\n\n")).unwrap();
    let output = at("book.bin");
    let (sources, filter) = ([at("a.pgn")], Filter::default());
    let count = || kept::<PlacedRow>(&output, &sources, &filter).unwrap();
    let (work, first) = count();
    let shard = first.shards[0].clone();
    drop(work);
    let sound = fs::read(&shard).unwrap();
    for extension in [EXTENSION, RECORD] {
        let path = shard.with_extension(extension);
        for len in [0, 20] {
            let bytes = fs::read(&path).unwrap();
            fs::write(&path, &bytes[..len]).unwrap();
            let (work, _) = count();
            assert_eq!(work.known(), 0, "{extension} {len}");
            assert_eq!(fs::read(&shard).unwrap(), sound);
        }
    }
    let (work, _) = count();
    assert_eq!(work.known(), 1);
}

#[test]
fn the_work_of_another_build_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a.pgn"), format!("{GAME}1. e4 e5 1-0\n\n")).unwrap();
    let output = at("book.bin");
    let sources = [at("a.pgn")];
    drop(kept::<CountRow>(&output, &sources, &Filter::default()).unwrap());
    let other = Filter { min_elo: 1, ..Filter::default() };
    let error = kept::<CountRow>(&output, &sources, &other).err().unwrap();
    assert!(error.to_string().contains("other filters"), "{error}");
    let error = kept::<PlacedRow>(&output, &sources, &Filter::default()).err().unwrap();
    assert!(error.to_string().contains("needs other counts"), "{error}");
    let build = Work::folder_of(&output).join(BUILD);
    let text = fs::read_to_string(&build).unwrap();
    fs::write(&build, text.replace(env!("CARGO_PKG_VERSION"), "0.0.1")).unwrap();
    let error = kept::<CountRow>(&output, &sources, &Filter::default()).err().unwrap();
    assert!(error.to_string().contains("another version"), "{error}");
    fs::write(&build, "{").unwrap();
    assert!(kept::<CountRow>(&output, &sources, &Filter::default()).is_err());
    assert_eq!(kept::<CountRow>(&at("other.bin"), &sources, &other).unwrap().0.known(), 0);
}

#[test]
fn a_filter_is_known_again_by_its_values() {
    let date = |year| Some(games::Date::from_pgn(year));
    let all = Filter {
        max_ply: Some(20),
        only: Some(CountedMoves::Side(Color::White)),
        min_elo: 1,
        min_mover_elo: 2,
        max_elo_difference: Some(3),
        among: Among {
            speeds: vec![Speed::Blitz],
            ratings: RatingBand::from_lowest(2500).into_iter().collect(),
        },
        tags: Tags::new(vec!["Event=*blitz*".parse().unwrap()], vec!["Site=x".parse().unwrap()]),
        from: date("2020"),
        to: date("2021.05"),
        player: Some(PlayerName::part("Carlsen")),
        side: Some(Color::Black),
        finished: true,
        strict: false,
        variations: true,
        skip_mistakes: false,
        repertoire: true,
        min_plies: 4,
        unique: false,
        recency: None,
    };
    let text = serde_json::to_string(&all).unwrap();
    // A change of this text means that builds that were begun cannot be continued.
    let expected = concat!(
        r#"{"max_ply":20,"only":"w","min_elo":1,"min_mover_elo":2,"max_elo_difference":3,"#,
        r#""among":{"speeds":["Blitz"],"ratings":[8]},"#,
        r#""tags":{"names":["Event","Site"],"wanted":[{"name":"Event","pattern":"*blitz*"}],"#,
        r#""unwanted":[{"name":"Site","pattern":"x"}]},"#,
        r#""from":{"year":2020,"month":0,"day":0},"to":{"year":2021,"month":5,"day":0},"#,
        r#""player":{"Part":"carlsen"},"side":"b","finished":true,"strict":false,"variations":true,"#,
        r#""skip_mistakes":false,"repertoire":true,"min_plies":4,"unique":false}"#
    );
    assert_eq!(text, expected);
    let digest =
        |filter: &Filter| Build::new(filter, Default::default(), tabiya_book::Variant::Chess).unwrap().games;
    let others = [
        Filter { only: Some(CountedMoves::Side(Color::Black)), ..all.clone() },
        Filter { only: Some(CountedMoves::Player), ..all.clone() },
        Filter { only: None, ..all.clone() },
        Filter { side: None, ..all.clone() },
        Filter { player: PlayerName::given(None, Some("Carlsen")), ..all.clone() },
        Filter { tags: Tags::new(vec!["Event=*blitz?".parse().unwrap()], Vec::new()), ..all.clone() },
        Filter { max_ply: None, ..all.clone() },
    ];
    let digests: std::collections::HashSet<_> = others.iter().chain([&all]).map(digest).collect();
    assert_eq!(digests.len(), 8);
}

#[test]
fn what_others_put_into_a_folder_stays() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("book.bin");
    let partial = Work::folder_of(&output);
    fs::create_dir(&partial).unwrap();
    fs::write(partial.join("mine.txt"), "x").unwrap();
    assert!(
        Work::open(&output)
            .is_err_and(|error| error.to_string().contains("not the unfinished work of a build"))
    );
    fs::remove_file(partial.join("mine.txt")).unwrap();
    let work = Work::open(&output).unwrap();
    fs::write(partial.join("mine.txt"), "x").unwrap();
    work.remove();
    assert_eq!(fs::read_dir(&partial).unwrap().count(), 1);
}
