//! Archives that the tests write, a real one, and broken ones.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::rngs::SmallRng;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use shakmaty::Move;
use tabiya_base::blob::Pieces as _;
use tabiya_base::error::Result;
use tabiya_base::findings::summed;

use tabiya_chess::Position;

use super::check::check;
use super::layout::{BLOCK, MAX_HELD, MAX_MEMBER};
use super::unpack::checksum;
use super::*;
use crate::cbh::Cbh;
use crate::cbh::tests::fixtures::TestDatabase;
use crate::database::DatabaseSource;
use crate::database::export::{ExportOptions, export};
use crate::{GameEnd, GameError, GameHeader, Visitor, open_files as open};

/// Packs bytes as a block of a mode: as they are, as literals, by a code, by a code of literals.
fn block(mode: u8, bytes: &[u8]) -> Vec<u8> {
    let payload = match mode {
        0 => bytes.to_vec(),
        1 => literals(bytes),
        2 => coded(bytes),
        _ => coded(&literals(bytes)),
    };
    with_head(&[&[mode], &payload[..]].concat())
}

fn with_head(content: &[u8]) -> Vec<u8> {
    [&(content.len() as u16).to_le_bytes()[..], &checksum(content).to_le_bytes(), content].concat()
}

fn literals(bytes: &[u8]) -> Vec<u8> {
    bytes.chunks(16).flat_map(|some| [&[0, 0], some].concat()).collect()
}

/// A code of 16 values of 1 to 15 bits where these are enough, else of all values of 8 bits.
fn coded(bytes: &[u8]) -> Vec<u8> {
    let small = bytes.iter().all(|byte| *byte < 16);
    let code = |value: u8| match (small, value) {
        (false, _) => (8, u32::from(value)),
        (true, 0..15) => (u32::from(value) + 1, (1 << (value + 1)) - 2),
        (true, 15) => (15, (1 << 15) - 1),
        (true, _) => (0, 0),
    };
    let mut bits: Vec<bool> = Vec::new();
    let mut put = |count: u32, number: u32| bits.extend((0..count).rev().map(|bit| number >> bit & 1 != 0));
    put(16, bytes.len() as u32);
    for value in 0..=u8::MAX {
        put(4, code(value).0);
        put(code(value).0, code(value).1);
    }
    bytes.iter().for_each(|byte| put(code(*byte).0, code(*byte).1));
    bits.chunks(8)
        .map(|byte| byte.iter().enumerate().map(|(at, bit)| u8::from(*bit) << (7 - at)).sum())
        .collect()
}

/// A member: its name, packed bytes, and the length that the directory has.
type Made = (String, Vec<u8>, u64);

fn archive(entry_len: u16, members: &[Made]) -> Vec<u8> {
    let mut file = [[8, 0], (members.len() as u16).to_le_bytes(), entry_len.to_le_bytes(), [3, 0]].concat();
    let mut offset = 8 + members.len() as u64 * u64::from(entry_len);
    for (name, packed, len) in members {
        let mut entry = name.as_bytes().to_vec();
        entry.push(0);
        // Rubbish after the name, as in real archives.
        entry.resize(128, 0xcc);
        let numbers = [offset, packed.len() as u64, *len];
        entry.extend(numbers.iter().flat_map(|number| (*number as u32).to_le_bytes()));
        entry.extend([1, 0x78, 0x98, 0x33, 1, 2, 3, 4, 5]);
        entry.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        file.extend(&entry[..entry_len.into()]);
        offset += packed.len() as u64;
    }
    members.iter().for_each(|(_, packed, _)| file.extend(packed));
    file
}

/// A file as a member of blocks of `size`, each of another mode.
fn member(name: &str, bytes: &[u8], size: usize) -> Made {
    let packed = bytes.chunks(size).zip([0, 1, 2, 3].into_iter().cycle());
    (name.to_owned(), packed.flat_map(|(bytes, mode)| block(mode, bytes)).collect(), bytes.len() as u64)
}

/// The files of a small database.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut database = TestDatabase::default();
    for _ in 0..30 {
        database.play("e4 e5 Nf3 Nc6 Bb5", &[]);
        database.play("d4 d5 c4", &[]);
    }
    let folder = tempfile::tempdir().unwrap();
    database.write(&folder.path().join("Games.cbh"));
    let mut files: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// A small database as an archive.
fn packed(size: usize) -> Vec<u8> {
    let mut members: Vec<Made> = files().iter().map(|(name, bytes)| member(name, bytes, size)).collect();
    members.push(member("Games.html\\picture.jpg", b"jpg", size));
    archive(173, &members)
}

/// The database as PGN.
fn pgn(db: &Cbh) -> Vec<u8> {
    let options =
        ExportOptions { games: (1, u32::MAX), main_line: false, bare: false, deleted: false, threads: 2 };
    let mut all = Vec::new();
    export(db, &options, &mut |text, errors, _| {
        assert!(errors.is_empty(), "{errors:?}");
        all.extend(text);
        Ok(())
    })
    .unwrap();
    all
}

fn opened(bytes: Vec<u8>) -> Result<Cbh> {
    Cbh::from_archive(&Cbv::from_bytes("a.cbv", bytes)?)
}

fn refusal(bytes: Vec<u8>) -> String {
    opened(bytes).unwrap_err().to_string()
}

/// What is wrong with the files in an archive, with the offsets.
fn findings(bytes: Vec<u8>) -> Vec<(u64, String)> {
    let mut found = Vec::new();
    let archive = Cbv::from_bytes("a.cbv", bytes).unwrap();
    check(&archive, &mut |at, what| found.push((at, what.to_owned()))).unwrap();
    found
}

#[test]
fn a_database_in_an_archive_is_the_same_as_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files() {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let expected = pgn(&Cbh::open(folder.path().join("Games.cbh")).unwrap());
    assert!(expected.len() > 1000);
    for size in [100, 1000, BLOCK as usize] {
        let path = folder.path().join("Other.CBV");
        fs::write(&path, packed(size)).unwrap();
        let db = Cbh::open(&path).unwrap();
        assert!(pgn(&db) == expected && db.findings().is_empty());
        assert_eq!((db.path(), db.files()), (&*path, &[path.clone()][..]));
        assert_eq!(findings(packed(size)), []);
        // The games come with the archive's name, which other programs cannot look them up in.
        let sources = open(std::slice::from_ref(&path)).unwrap();
        assert_eq!(sources.files(), [path.join("Games.cbg")]);
        assert_eq!(sources.linked().next().unwrap().1, None);
        assert_eq!(sources.rereadable().next().unwrap().1, Some(&*path));
        assert!(sources.parts().contains(&path) && sources.each().unwrap().is_some());
    }
    // In a folder both are found.
    assert_eq!(open(&[folder.path().to_owned()]).unwrap().files().len(), 2);
}

#[test]
fn every_mode_and_both_lengths_of_entries_are_read() {
    let small: Vec<u8> = (0..200).map(|at| (at * at % 16) as u8).collect();
    let wide: Vec<u8> = (0..=255).collect();
    for entry_len in [149, 173] {
        let mut packed: Vec<u8> =
            (0..4).flat_map(|mode| [block(mode, &small), block(mode, &wide)].concat()).collect();
        let len = 4 * (small.len() + wide.len()) as u64;
        let file = archive(entry_len, &[("x".to_owned(), packed.clone(), len)]);
        let archive_of = |bytes: Vec<u8>| Cbv::from_bytes("a.cbv", bytes).unwrap();
        let read = |file: Vec<u8>| {
            let archive = archive_of(file);
            let member = archive.members()[0].clone();
            archive.unpacked(&member).and_then(|unpacked| unpacked.whole()).map_err(|error| error.to_string())
        };
        let expected: Vec<u8> = (0..4).flat_map(|_| [&small[..], &wide].concat()).collect();
        assert_eq!(read(file.clone()).unwrap(), expected);
        let pieces = archive_of(file);
        let unpacked = pieces.unpacked(&pieces.members()[0]).unwrap();
        for at in (0..len).step_by(37) {
            let mut out = [0; 300];
            let read = unpacked.read(at, &mut out).unwrap();
            let rest = &expected[at as usize..];
            assert_eq!(&out[..read], &rest[..rest.len().min(300)]);
        }
        // Every byte but those of a head's length belongs to a checksum or is one.
        let head = packed.len() - block(3, &wide).len();
        packed[head + 6] ^= 1;
        let error = read(archive(entry_len, &[("x".to_owned(), packed.clone(), len)])).unwrap_err();
        let at = 8 + usize::from(entry_len) + head;
        let what = "a.cbv: this archive is damaged: the file x has a block with a wrong checksum";
        assert_eq!(error, format!("{what} (byte {at}): copy or download it again"));
        for (wrong, says) in [(len - 1, "more bytes than it says"), (len + 1, "fewer bytes than it says")] {
            packed[head + 6] ^= u8::from(wrong < len);
            let error = read(archive(entry_len, &[("x".to_owned(), packed.clone(), wrong)])).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}

#[test]
fn a_damaged_directory_is_refused_with_its_offset() {
    let sound = packed(1000);
    let first = 8;
    let set = |at: usize, bytes: &[u8]| {
        let mut changed = sound.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        refusal(changed)
    };
    let far = u64::MAX.to_le_bytes();
    let both = |at: usize, number: u64| {
        let mut changed = sound.clone();
        changed[first + at..][..4].copy_from_slice(&(number as u32).to_le_bytes());
        changed[first + at + 21 + (at - 128)..][..8].copy_from_slice(&number.to_le_bytes());
        refusal(changed)
    };
    for (error, says) in [
        (set(0, &[9]), "locked with a password (.cbz) (byte 0): unlock it in ChessBase first"),
        (set(4, &[0xae]), "locked with a password"),
        (set(2, &[0xff, 0xff]), "directory of 65535 files is cut off"),
        (set(first, &[0]), "a file has no name (byte 8)"),
        (set(first + 128, &[0; 4]), "two numbers of a file do not agree (byte 8)"),
        (both(128, 8), "begins within another one (byte 8)"),
        (both(132, u64::from_le_bytes(far)), "ends outside of the archive"),
        (both(136, MAX_MEMBER + 1), "unpacks to more than 4 GiB"),
        (refusal(archive(173, &[])), "no database (.cbh)"),
        (refusal(archive(173, &[member("a.cbh", &[0; 92], 92)])), "holds no moves of the database a (.cbg)"),
        (
            refusal(archive(173, &[member("a.cbh", &[0; 92], 92), member("b.CBH", &[0; 92], 92)])),
            "more than one database",
        ),
    ] {
        assert!(error.starts_with("a.cbv: ") && error.contains(says), "{error}: {says}");
    }
    let mut files: Vec<_> = files().iter().map(|(name, bytes)| member(name, bytes, 1000)).collect();
    files.push(member("GAMES.CBP", b"again", 1000));
    assert!(refusal(archive(173, &files)).contains("two files of the name Games.cbp"));
}

#[test]
fn a_file_beside_the_database_that_is_damaged_is_reported_and_the_database_is_read() {
    let mut members: Vec<Made> = files().iter().map(|(name, bytes)| member(name, bytes, 1000)).collect();
    let mut picture = member("Games.html\\picture.jpg", b"jpg", 10);
    picture.1[5] ^= 1;
    members.push(picture);
    let sound = packed(1000);
    let bytes = [archive(173, &members), vec![0; 9]].concat();
    let db = opened(bytes.clone()).unwrap();
    assert!(pgn(&db) == pgn(&opened(sound.clone()).unwrap()));
    let (_, found) = summed(|findings| crate::cbh::check::check(&db, 1, &|_| Ok(()), findings).unwrap());
    let lines: Vec<_> = found.iter().map(ToString::to_string).collect();
    let at = sound.len() - 8;
    let what = "this archive is damaged: the file Games.html_picture.jpg has a block with a wrong checksum";
    let trailing = format!("9 bytes follow the last file (byte {} of a.cbv)", sound.len());
    assert_eq!(lines, [format!("{what} (byte {at} of a.cbv)"), trailing]);
}

#[test]
fn bombs_are_refused_within_memory() {
    // Runs of zeros in a code: a megabyte from few bytes, and lengths that are only claimed.
    let runs = with_head(&[&[1, 0xff, 0xff][..], &[0x1f, 0xff, 0].repeat(14), &[0x1f, 0xfd, 0]].concat());
    let zeros = runs.repeat(40);
    let claims = [MAX_HELD + 1, MAX_MEMBER];
    for claim in claims {
        let mut all: Vec<_> = files().iter().map(|(name, bytes)| member(name, bytes, 1000)).collect();
        let players = all.iter_mut().find(|(name, ..)| name == "Games.cbp").unwrap();
        (players.1, players.2) = (zeros.clone(), claim);
        let error = refusal(archive(173, &all));
        assert!(error.contains("the file Games.cbp unpacks to fewer bytes"), "{error}");
    }
    let found = findings(archive(173, &[("a.txt".to_owned(), block(0, b"abc").repeat(200_000), 600_000)]));
    assert!(found[0].1.contains("too many blocks"), "{found:?}");
    let over = with_head(&[&[1, 0xff, 0xff][..], &[0x1f, 0xff, 0].repeat(16)].concat());
    let found = findings(archive(173, &[("a.txt".to_owned(), over, 1)]));
    assert!(found[0].0 == 181 && found[0].1.contains("a block unpacks to too many bytes"), "{found:?}");
}

struct Silent;

impl Visitor for Silent {
    fn begin(&mut self, _: &GameHeader) -> bool {
        true
    }

    fn ply(&mut self, _: &Position, _: Move) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn end(&mut self, _: GameEnd) {}

    fn unreadable(&mut self, error: GameError) {
        assert!(!error.why.is_empty());
    }
}

/// What holds of any bytes: they are refused or read, within the archive.
fn look(bytes: Vec<u8>) {
    let len = bytes.len() as u64;
    let Ok(archive) = Cbv::from_bytes("a.cbv", bytes) else { return };
    check(&archive, &mut |at, _| assert!(at < len)).unwrap();
    let Ok(db) = Cbh::from_archive(&archive) else { return };
    let mut source = DatabaseSource::new(Arc::new(db));
    while let Some(batch) = source.next_batch() {
        batch.play(&mut Silent);
    }
}

#[test]
fn archives_cut_off_anywhere_and_random_bytes_are_refused_or_read() {
    let begun = Instant::now();
    let (sound, files) = (packed(1000), files());
    for len in 0..sound.len() {
        assert!(Cbv::from_bytes("a.cbv", sound[..len].to_vec()).is_err(), "{len}");
    }
    let mut random = SmallRng::seed_from_u64(49);
    for _ in 0..tabiya_testing::times(1000, 10_000) {
        let mut bytes = sound.clone();
        for _ in 0..random.random_range(1..20) {
            let at = random.random_range(0..bytes.len());
            bytes[at] = random.random();
        }
        look(bytes);
        // Any content under a right checksum.
        let mut content = vec![random.random_range(0..4); random.random_range(1..300)];
        random.fill_bytes(&mut content[1..]);
        let len = random.random_range(1..400);
        let mut files: Vec<_> = files.iter().map(|(name, bytes)| member(name, bytes, 1000)).collect();
        let which = random.random_range(0..files.len());
        (files[which].1, files[which].2) = (with_head(&content), len);
        look(archive(173, &files));
        let mut bytes = vec![0; random.random_range(0..600)];
        random.fill_bytes(&mut bytes);
        look([&[8, 0, 1, 0, 173, 0][..], &bytes].concat());
    }
    assert!(begun.elapsed() < Duration::from_secs(600));
}

fn sample(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("TABIYA_SAMPLES").expect("TABIYA_SAMPLES names the folder of samples"))
        .join(name)
}

#[test]
#[ignore = "needs TABIYA_SAMPLES"]
fn a_real_archive_holds_the_files_of_the_database() {
    let archive = Cbv::open(sample("cbv/twic1134.cbv")).unwrap();
    assert_eq!(archive.members().len(), 13);
    for member in archive.members().iter().filter(|member| !member.name.ends_with(".ini")) {
        let expected = fs::read(sample("cbh/twic1134").join(&member.name)).unwrap();
        assert!(archive.unpacked(member).unwrap().whole().unwrap() == expected, "{}", member.name);
    }
    let error = Cbv::open(sample("cbv/locked.cbz")).unwrap_err().to_string();
    assert!(error.contains("locked with a password"), "{error}");
    let db = Cbh::from_archive(&archive).unwrap();
    assert!(pgn(&db) == pgn(&Cbh::open(sample("cbh/twic1134/twic1134.cbh")).unwrap()));
}
