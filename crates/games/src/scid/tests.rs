//! Databases that Scid and libscid wrote, beside what they themselves export of them; and broken ones.
//! `tests/SOURCES.md` says how they were made.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Move, Position as _};

use tabiya_base::findings::{Finding, listed};
use tabiya_chess::{MoveCode, Position};

use super::database::{Scid, parts};
use super::layout::MAX_NESTING;
use crate::database::export::{ExportOptions, ExportTotals, export};
use crate::database::{Database, DatabaseSource, Fact};
use crate::pgn::Pgn;
use crate::{GameEnd, GameError, GameHeader, KeyedPly, Visitor};

/// Index, names and games.
type Files = [Vec<u8>; 3];

macro_rules! files {
    ($index:literal, $names:literal, $games:literal) => {
        [
            include_bytes!(concat!("tests/", $index)).to_vec(),
            include_bytes!(concat!("tests/", $names)).to_vec(),
            include_bytes!(concat!("tests/", $games)).to_vec(),
        ]
    };
}

fn features4() -> Files {
    files!("features.si4", "features.sn4", "features.sg4")
}

fn features5() -> Files {
    // The games are the same bytes as those of version 4.
    files!("features.si5", "features.sn5", "features.sg4")
}

fn open(name: &str, files: Files) -> Scid {
    Scid::from_bytes(name, files).unwrap()
}

/// All that is told of games, a line for each.
#[derive(Default)]
struct Told {
    tags: bool,
    variations: bool,
    remarks: bool,
    keyed: bool,
    games: Vec<String>,
    errors: Vec<String>,
    at: Vec<Position>,
}

impl Told {
    fn all() -> Self {
        Self { tags: true, variations: true, remarks: true, ..Self::default() }
    }

    fn put(&mut self, word: impl AsRef<str>) {
        let game = self.games.last_mut().unwrap();
        game.push(' ');
        game.push_str(word.as_ref());
    }
}

impl Visitor for Told {
    fn wants_all_tags(&self) -> bool {
        self.tags
    }

    fn begin(&mut self, header: &GameHeader) -> bool {
        let GameHeader { event, site, date, round, white, black, white_elo, black_elo, result, tags, .. } =
            header;
        let mut tags = tags.clone();
        tags.sort();
        let head = format!(
            "{event}|{site}|{date}|{round}|{white}|{black}|{white_elo:?}|{black_elo:?}|{result:?}|{tags:?}"
        );
        self.games.push(head);
        self.at = vec![header.start.clone().unwrap_or_else(Position::start)];
        true
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        let chess: &Chess = at.standard().unwrap();
        assert!(chess.is_legal(mv));
        let mut chess = chess.clone();
        let san = SanPlus::from_move_and_play_unchecked(&mut chess, mv).to_string();
        self.put(format!("{}{san}", at.chess().fullmoves()));
        ControlFlow::Continue(())
    }

    fn keyed_plies(&self) -> Option<usize> {
        self.keyed.then_some(usize::MAX)
    }

    fn keyed_line(&mut self, plies: &[KeyedPly]) {
        let mut at = self.at.pop().unwrap();
        for ply in plies {
            assert_eq!(ply.key, at.key());
            let legal = at.chess().legal_moves();
            let mv = *legal.iter().find(|mv| MoveCode::from_move(**mv) == ply.mv).unwrap();
            let _ = self.ply(&at, mv);
            at.play(mv);
        }
    }

    fn wants_variations(&self) -> bool {
        self.variations
    }

    fn begin_variation(&mut self) {
        self.put("(");
    }

    fn end_variation(&mut self) {
        self.put(")");
    }

    fn wants_remarks(&self) -> bool {
        self.remarks
    }

    fn glyph(&mut self, number: u8) {
        self.put(format!("${number}"));
    }

    fn comment(&mut self, text: &[u8]) {
        let text = std::str::from_utf8(text).unwrap();
        self.put(format!("{{{}}}", text.split_whitespace().collect::<Vec<_>>().join(" ")));
    }

    fn end(&mut self, end: GameEnd) {
        self.errors.extend(end.error.into_iter().chain(end.cut).map(|error| error.to_string()));
    }

    fn unreadable(&mut self, error: GameError) {
        self.errors.push(error.to_string());
    }
}

fn told(db: &Arc<Scid>, mut visitor: Told) -> Told {
    let mut source = DatabaseSource::new(db.clone());
    while let Some(batch) = source.next_batch() {
        batch.play(&mut visitor);
    }
    visitor
}

fn told_text(text: &[u8], mut visitor: Told) -> Told {
    let mut pgn = Pgn::new(Arc::from(Path::new("text")), std::io::Cursor::new(text.to_vec()));
    while let Some(batch) = pgn.next_batch() {
        batch.play(&mut visitor);
    }
    visitor
}

fn exported(db: &Scid, options: &ExportOptions) -> (Vec<u8>, ExportTotals, Vec<String>) {
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    let totals = export(db, options, &mut |text, damaged, _| {
        all.extend(text);
        errors.extend(damaged.iter().map(ToString::to_string));
        Ok(())
    });
    (all, totals.unwrap(), errors)
}

fn whole() -> ExportOptions {
    let mut options = ExportOptions::new((1, u32::MAX));
    options.deleted = true;
    options
}

/// What `check` finds, each as a line.
fn found(db: &Scid) -> Vec<String> {
    let mut found = Vec::new();
    let mut report = |finding: Finding| found.push(format!("{}: {finding}", finding.severity));
    listed(&mut report, |findings| db.check(1, &|_| Ok(()), findings)).unwrap();
    found
}

#[test]
fn games_equal_the_exports_of_scid_itself() {
    let version300 = files!("version300.si4", "features.sn4", "features.sg4");
    for (name, files, pgn) in [
        ("a.si4", features4(), &include_bytes!("tests/features.si4.pgn")[..]),
        ("a.SI4", version300, include_bytes!("tests/features.si4.pgn")),
        ("a.si5", features5(), include_bytes!("tests/features.si5.pgn")),
        (
            "a.si5",
            files!("chess960.si5", "chess960.sn5", "chess960.sg5"),
            include_bytes!("tests/chess960.pgn"),
        ),
        ("a.si4", files!("ratings.si4", "ratings.sn4", "ratings.sg4"), include_bytes!("tests/ratings.pgn")),
    ] {
        let db = open(name, files);
        let (text, totals, errors) = exported(&db, &whole());
        assert_eq!((errors, totals.games), (vec![], db.count().into()));
        // Scid writes an empty name as it is, and libscid stores castling rights as X-FEN.
        let pgn = String::from_utf8(pgn.to_vec()).unwrap();
        let pgn = pgn
            .replace("[Site \"\"]", "[Site \"?\"]")
            .replace("[Round \"\"]", "[Round \"?\"]")
            .replace("GEge", "KQkq");
        let (ours, scids) = (told_text(&text, Told::all()), told_text(pgn.as_bytes(), Told::all()));
        assert_eq!(ours.games.len() as u64, totals.games);
        for (ours, scids) in ours.games.iter().zip(&scids.games) {
            assert_eq!(ours, scids);
        }
        assert_eq!((ours.games.len(), ours.errors.len()), (scids.games.len(), scids.errors.len()));
        assert_eq!(found(&db), Vec::<String>::new());
    }
}

/// The games as a visitor hears them of the database itself, and of the text of the database. A text says more: what follows a pass
/// in a variation, and in which order variations of a variation's first move are nested.
#[test]
fn visitors_hear_the_same_of_a_database_and_of_its_text() {
    for (name, files) in [("a.si4", features4()), ("a.si5", features5())] {
        let db = Arc::new(open(name, files));
        let (text, ..) = exported(&db, &ExportOptions::new((1, u32::MAX)));
        for (keyed, remarks) in [(false, false), (true, false), (false, true)] {
            let visitor = || Told { keyed, remarks, tags: true, ..Told::default() };
            let (base, text) = (told(&db, visitor()), told_text(&text, visitor()));
            assert_eq!((base.games, base.errors), (text.games, text.errors));
        }
        let all = told(&db, Told::all());
        let (first, second) = (&all.games[0], &all.games[1]);
        for part in [
            "{Vor der Partie: äöü ÄÖÜ ß} 1e4 $1 {first} 1e5 $2 ( 1c5 {inside} 2Nf3 ( 2Nc3 $5 2Nc6 ( 2a6 {deep} ) ( 2b6 ) 3g3 ) 2d6 $10 )",
            "( {before the variation} 1e6 $14 $146 ) 2Nf3",
            "\"UnknownTag\", \"Wert mit ß\"",
        ] {
            assert!(first.contains(part), "{first}");
        }
        assert!(second.ends_with("6f3 ( ) 6f6"), "{second}");
    }
}

#[test]
fn what_is_not_wanted_is_left_out() {
    let db = open("a.si4", features4());
    let mut options = ExportOptions::new((1, 2));
    (options.main_line, options.bare) = (true, true);
    let (text, totals, _) = exported(&db, &options);
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("1. e4 e5 2. Nf3 Nc6 3. Bc4") && !text.contains(['(', '{', '$']), "{text}");
    assert_eq!(totals.games, 2);
    let (_, totals, _) = exported(&db, &ExportOptions::new((1, u32::MAX)));
    assert_eq!((totals.games, totals.deleted), (12, 1));
    let Fact::Count(annotated) = fact(&db, "annotated") else { unreachable!() };
    assert_eq!((fact(&db, "games"), fact(&db, "deleted")), (Fact::Count(12), Fact::Count(1)));
    assert_eq!(fact(&db, "description"), Fact::Text("Own test games,".trim_end_matches(',').to_owned()));
    assert!((3..8).contains(&annotated), "{annotated}");
}

fn fact(db: &Scid, key: &str) -> Fact {
    let summary = db.summary(&|_| Ok(())).unwrap();
    summary.facts.into_iter().find(|(known, ..)| *known == key).unwrap().2
}

#[test]
fn an_empty_database_has_no_games() {
    for (name, files) in [
        (
            "a.si4",
            [
                include_bytes!("tests/empty.si4").to_vec(),
                include_bytes!("tests/empty.sn4").to_vec(),
                Vec::new(),
            ],
        ),
        ("a.si5", Default::default()),
    ] {
        let db = open(name, files);
        assert_eq!((db.count(), db.findings().len(), found(&db).len()), (0, 0, 0));
        assert!(exported(&db, &whole()).0.is_empty());
    }
}

#[test]
fn missing_files_are_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let [index, names, games] = features4();
    for (name, bytes) in [("A.SI4", &index), ("a.sn4", &names), ("A.sg4", &games)] {
        fs::write(at(name), bytes).unwrap();
    }
    for name in ["A.SI4", "a.sn4", "A.sg4", "a.si4"] {
        assert_eq!(Scid::open(at(name)).unwrap().count(), 13, "{name}");
    }
    assert_eq!(parts(&at("A.SI4")).len(), 3);
    for (name, says) in [
        ("a.sn4", "the names of the database"),
        ("A.sg4", "the games of the database"),
        ("A.SI4", "name its .si4 file; the others (.sn4, .sg4)"),
    ] {
        fs::rename(at(name), at("kept")).unwrap();
        let error = Scid::open(at("a.sn4")).unwrap_err().to_string();
        assert!(error.contains(says) && error.to_lowercase().contains(&name.to_lowercase()), "{error}");
        fs::rename(at("kept"), at(name)).unwrap();
    }
    for (from, bytes, says) in
        [(0, &b"x"[..], "not a database of Scid"), (8, &[2, 0], "version 512"), (9, &[0], "version 256")]
    {
        let [mut index, names, games] = features4();
        index[from..from + bytes.len()].copy_from_slice(bytes);
        let error = Scid::from_bytes("a.si4", [index, names, games]).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("(byte 0)"), "{error}");
    }
}

/// Looks at a database of which one game is damaged: it is named with its place, and the others are read.
fn damaged(files: Files, number: u32, offset: u64, what: &str) {
    let db = Arc::new(open("a.si4", files));
    let sound = told(&Arc::new(open("a.si4", features4())), Told::all());
    let heard = told(&db, Told::all());
    assert_eq!(heard.errors.len(), 1, "{:?}", heard.errors);
    let error = format!("a.sg4: game {number}: {what}");
    assert!(
        heard.errors[0].starts_with(&error) && heard.errors[0].ends_with(&format!("(byte {offset})")),
        "{:?}",
        heard.errors
    );
    let others = |told: &Told| {
        let is_other = |game: &&String| !game.starts_with("Long castling");
        told.games.iter().filter(is_other).cloned().collect::<Vec<_>>()
    };
    assert_eq!(others(&heard), others(&sound), "{what}");
    let (_, totals, errors) = exported(&db, &whole());
    assert_eq!((totals.games, errors), (13, heard.errors));
    let lines = found(&db);
    assert!(lines.len() == 1 && lines[0].contains(&format!("game {number}: {what}")), "{lines:?}");
    assert!(lines[0].ends_with(&format!("(byte {offset} of a.sg4)")), "{lines:?}");
}

/// Game 2 is at byte 255: `00 00 bf bf 28 22 35 3d 49 4e 09 09 d1 0d 00 cf 00 0c 0e d1 0f`, and a comment.
#[test]
fn a_damaged_game_is_left_out_from_its_damage_on_and_the_others_are_read() {
    let with = |at: usize, byte: u8| {
        let [index, names, mut games] = features4();
        games[255 + at] = byte;
        [index, names, games]
    };
    for (at, byte, offset, what) in [
        // A move of another piece, whereupon castling is barred.
        (4, 0xff, 265, "castling is barred after 8 stored moves"),
        (4, 0x09, 259, "castling is barred after 2 stored moves"),
        (14, 0xb9, 269, "the piece cannot go there after 11 stored moves"),
        (2, 0x0d, 257, "a variation begins before the first move"),
        (13, 0x0c, 273, "a variation ends that has not begun"),
        (18, 0x0d, 275, "it ends within a variation"),
        (19, 0x0c, 281, "a comment has no end"),
        (17, 0xbe, 276, "bytes follow its last comment"),
    ] {
        damaged(with(at, byte), 2, offset, what);
    }
}

#[test]
fn games_outside_the_file_of_games_and_unknown_names_are_reported() {
    let [index, names, games] = features4();
    let record = 182 + 47;
    let mut outside = index.clone();
    outside[record..record + 4].copy_from_slice(&0x7fff_0000_u32.to_be_bytes());
    damaged(
        [outside, names.clone(), games.clone()],
        2,
        0x7fff_0000,
        "the index puts it outside the file of games",
    );
    let mut nameless = index.clone();
    nameless[record + 10..record + 12].copy_from_slice(&[0xff, 0xff]);
    let db = open("a.si4", [nameless, names.clone(), games.clone()]);
    let lines = found(&db);
    assert!(
        lines.len() == 1 && lines[0].starts_with("error: game 2: its player of White has the number 65535"),
        "{lines:?}"
    );
    assert!(lines[0].ends_with(&format!("(byte {record} of a.si4)")), "{lines:?}");
    assert!(String::from_utf8(exported(&db, &whole()).0).unwrap().contains("[White \"?\"]\n[Black \"B\"]"));
    for (count, left, says) in [(12_u8, 12, "counts 12 games, but it holds 13"), (99, 13, "counts 99 games")]
    {
        let mut index = index.clone();
        index[16] = count;
        let db = open("a.si4", [index, names.clone(), games.clone()]);
        assert_eq!(db.count(), left);
        assert!(found(&db)[0].contains(says), "{:?}", found(&db));
    }
}

/// A game of one move and so many variations in each other.
fn nested(depth: usize) -> Files {
    let [mut index, names, _] = features4();
    let mut game = vec![0, 0, 0xbf];
    for _ in 0..depth {
        game.extend([0x0d, 0xbe]);
    }
    game.extend(vec![0x0e; depth]);
    game.push(0x0f);
    index.truncate(182 + 47);
    index[16] = 1;
    index[182 + 4..182 + 6].copy_from_slice(&(game.len() as u16).to_be_bytes());
    index[182 + 6] = ((game.len() >> 16) as u8) << 7;
    [index, names, game]
}

#[test]
fn variations_that_are_nested_too_deep_are_refused() {
    for (depth, refused) in [(MAX_NESTING, false), (MAX_NESTING + 1, true), (40_000, true)] {
        let db = Arc::new(open("a.si4", nested(depth)));
        let heard = told(&db, Told::all());
        assert_eq!(heard.errors.iter().any(|error| error.contains("nested too deep")), refused);
        assert_eq!(exported(&db, &whole()).2, heard.errors);
    }
}

#[test]
fn no_damage_makes_a_reader_panic_or_an_export_unreadable() {
    let seed = 0x5c1d;
    let mut random = SmallRng::seed_from_u64(seed);
    let rounds = if std::env::var_os("TABIYA_FULL_TESTS").is_some() { 20_000 } else { 300 };
    for round in 0..rounds {
        let (name, mut files) = if round % 2 == 0 { ("a.si4", features4()) } else { ("a.si5", features5()) };
        for _ in 0..random.random_range(1..6) {
            let part = random.random_range(0..3);
            let file = &mut files[part];
            let at = random.random_range(0..file.len().max(1));
            match random.random_range(0..4) {
                0 => file.truncate(at),
                1 => {
                    let byte = random.random();
                    file.insert(at.min(file.len()), byte);
                }
                _ => {
                    let byte: u8 = random.random();
                    if let Some(place) = file.get_mut(at) {
                        *place = byte;
                    }
                }
            }
        }
        let Ok(db) = Scid::from_bytes(name, files) else { continue };
        let db = Arc::new(db);
        let (text, totals, errors) = exported(&db, &whole());
        assert!(std::str::from_utf8(&text).is_ok() && totals.games == u64::from(db.count()), "round {round}");
        let lost: u64 = totals.damaged.values().sum();
        assert_eq!(errors.len() as u64, lost, "round {round}");
        let heard = told(&db, Told::all());
        let plain = told(&db, Told::default());
        let keyed = told(&db, Told { keyed: true, ..Told::default() });
        assert_eq!(plain.games, keyed.games, "round {round}");
        assert_eq!(
            (heard.games.len(), plain.errors.len()),
            (plain.games.len(), keyed.errors.len()),
            "round {round}"
        );
        db.summary(&|_| Ok(())).unwrap();
        let lines = found(&db);
        assert!(lost == 0 || !lines.is_empty(), "round {round}: {errors:?}");
    }
}
