//! Making an index: all games are played through once, and what is found is sorted on the disk.
#![allow(clippy::cast_possible_truncation, reason = "lengths are cut before")]

use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crc32fast::Hasher;

use tabiya_base::bytes;
use tabiya_base::error::{Error, Result};
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_base::replace::Replacement;
use tabiya_base::resources::Resources;
use tabiya_base::scratch::Scratch;
use tabiya_base::sort::{Sorted, Sorter};
use tabiya_chess::{MoveCode, Speed, Variant, rating_number};
use tabiya_games::play::play;
use tabiya_games::{GameEnd, GameError, GameHeader, KeyedPly, Reason, Sources, Visitor};

use super::layout::{
    ENTRY_LEN, GAME_LEN, HEAD_LEN, IndexHead, IndexStamp, Section, date_bits, entry, put_text, result_bits,
    speed_bits,
};
use super::source::GameFiles;

/// Plies of each game whose positions are found, as in Lichess's explorer.
const PLIES: usize = 50;

/// Bytes of a position while it is sorted: key, rating, date, number and move. Ratings and dates are turned, so that the
/// highest come first.
const SORTED_LEN: usize = 8 + 4 + 4 + 8 + 2;

/// The end of a game in place of a move: after all moves, so that one is kept where both are in a position.
const END: u16 = u16::MAX;

/// Bytes of a game while it is sorted, before its text: its number, and what its record has between that and the text.
const GAME_HEAD: usize = GAME_LEN - 8;

/// Where the result is in it.
const RESULT_AT: usize = 20;

/// Bytes that a thread gathers before it hands them over.
const GATHERED: usize = 1 << 16;

/// The tag that says how fast a game was played.
const TIME_CONTROL: &str = "TimeControl";

/// What was found in the games.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Made {
    games: u64,
    /// Games of which moves are lost.
    damaged: u64,
    /// Games of other variants, which are left out.
    others: u64,
}

impl Made {
    /// What is to be said of it.
    pub(super) fn warnings(self, variant: Variant) -> impl Iterator<Item = String> {
        let Self { games, damaged, others } = self;
        let told = [
            (others, format!("are not of {variant}: they are left out")),
            (damaged, "cannot be read to their end: they are found up to the error".to_owned()),
        ];
        told.into_iter()
            .filter(|(count, _)| *count > 0)
            .map(move |(count, what)| format!("{count} of {games} games {what}"))
    }
}

/// Where what is found goes.
struct Sinks {
    positions: Mutex<Sorter>,
    games: Mutex<Sorter>,
}

/// Plays through games on one thread.
struct IndexPlayer<'a> {
    files: &'a GameFiles,
    sinks: &'a Sinks,
    tags: Vec<String>,
    made: Made,
    /// What is the same in all positions of the game: rating, date and number.
    same: [u8; 16],
    /// The key of the last position, if it is found.
    last: u64,
    game: Vec<u8>,
    /// Positions, one after another.
    positions: Vec<u8>,
    games: Vec<Vec<u8>>,
    failed: Option<Error>,
}

/// Begins the file of an index.
///
/// # Errors
/// When it cannot be written.
pub(super) fn begin(target: &Path, force: bool) -> Result<Replacement> {
    Replacement::new(target, force)
}

/// Makes the index of these sources at `target`.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted.
pub(super) fn make(
    sources: &mut Sources,
    files: &GameFiles,
    stamp: &IndexStamp,
    target: &Path,
    resources: &Resources,
    progress: &Progress,
) -> Result<Made> {
    let sorter = |part| Mutex::new(Sorter::new(&resources.temp, resources.memory / part));
    let sinks = Sinks { positions: sorter(2), games: sorter(8) };
    let player = || IndexPlayer {
        files,
        sinks: &sinks,
        tags: vec![TIME_CONTROL.to_owned()],
        made: Made::default(),
        same: [0; 16],
        last: 0,
        game: Vec::new(),
        positions: Vec::new(),
        games: Vec::new(),
        failed: None,
    };
    let made = play(sources, resources, progress, player, IndexPlayer::finish)?;
    let made = made.into_iter().fold(Made::default(), |sum, one| Made {
        games: sum.games + one.games,
        damaged: sum.damaged + one.damaged,
        others: sum.others + one.others,
    });
    let Sinks { positions, games } = sinks;
    let [positions, games] =
        [positions, games].map(|sorter| sorter.into_inner().unwrap_or_else(PoisonError::into_inner).finish());
    write(positions?, games?, stamp, target, resources)?;
    Ok(made)
}

impl IndexPlayer<'_> {
    /// Hands over what was gathered.
    fn hand_over(&mut self) {
        let lock = |sorter: &Mutex<Sorter>, push: &mut dyn FnMut(&mut Sorter) -> Result<()>| {
            push(&mut sorter.lock().unwrap_or_else(PoisonError::into_inner))
        };
        let (positions, games) = (&self.positions, &self.games);
        let handed = lock(&self.sinks.positions, &mut |sorter| {
            positions.as_chunks::<SORTED_LEN>().0.iter().try_for_each(|record| sorter.push(record))
        })
        .and_then(|()| {
            lock(&self.sinks.games, &mut |sorter| games.iter().try_for_each(|record| sorter.push(record)))
        });
        self.failed = self.failed.take().or(handed.err());
        self.positions.clear();
        self.games.clear();
    }

    /// What was found, after all of it is handed over.
    fn finish(mut self) -> Result<Made> {
        self.hand_over();
        self.failed.map_or(Ok(self.made), Err)
    }
}

impl Visitor for IndexPlayer<'_> {
    fn wanted_tags(&self) -> &[String] {
        &self.tags
    }

    fn begin(&mut self, game: &GameHeader) -> bool {
        self.made.games += 1;
        self.game.clear();
        let Some(number) = self.files.number(&game.place) else { return false };
        let date = date_bits(game.date);
        let [white_elo, black_elo] = [game.white_elo, game.black_elo].map(rating_number);
        let strength = u32::from(white_elo) + u32::from(black_elo);
        let mut same =
            (!strength).to_be_bytes().into_iter().chain((!date).to_be_bytes()).chain(number.to_be_bytes());
        self.same = [(); 16].map(|()| same.next().unwrap_or_default());
        let length = u32::try_from(game.place.length).unwrap_or(u32::MAX);
        let speed = game.tag(TIME_CONTROL).and_then(|time| Speed::from_pgn(&time));
        let out = &mut self.game;
        out.extend(number.to_be_bytes());
        out.extend(length.to_be_bytes());
        out.extend(white_elo.to_be_bytes());
        out.extend(black_elo.to_be_bytes());
        out.extend(date.to_be_bytes());
        out.extend([result_bits(game.result), speed_bits(speed), 0, 0]);
        [&game.white, &game.black, &game.event].into_iter().for_each(|text| put_text(out, text));
        true
    }

    fn keyed_plies(&self) -> Option<usize> {
        Some(PLIES)
    }

    fn keyed_last(&mut self, key: u64) {
        self.last = key;
    }

    fn keyed_line(&mut self, plies: &[KeyedPly]) {
        let found = plies.iter().map(|ply| (ply.key, ply.mv.0)).chain([(self.last, END)]);
        for (key, mv) in found {
            self.positions.extend(key.to_be_bytes());
            self.positions.extend(self.same);
            self.positions.extend(mv.to_be_bytes());
        }
    }

    fn end(&mut self, end: GameEnd) {
        self.made.damaged += u64::from(end.error.is_some());
        if let Some(result) = self.game.get_mut(RESULT_AT).filter(|_| end.result.is_some()) {
            *result = result_bits(end.result);
        }
        self.games.push(std::mem::take(&mut self.game));
        if self.positions.len() + self.games.len() * GAME_LEN > GATHERED {
            self.hand_over();
        }
    }

    fn unreadable(&mut self, error: GameError) {
        self.made.games += 1;
        let is_other = error.reason == Reason::OtherVariant;
        let counter = if is_other { &mut self.made.others } else { &mut self.made.damaged };
        *counter += 1;
    }

    fn has_failed(&self) -> bool {
        self.failed.is_some()
    }
}

/// Writes the index of what was sorted.
fn write(
    mut positions: Sorted,
    mut games: Sorted,
    stamp: &IndexStamp,
    target: &Path,
    resources: &Resources,
) -> Result<()> {
    let mut file = begin(target, true)?;
    let mut checksum = Hasher::new();
    macro_rules! put {
        ($bytes:expr) => {{
            let bytes: &[u8] = $bytes;
            checksum.update(bytes);
            file.write_all(bytes).map_err(|error| file.error(error))?
        }};
    }
    file.write_all(&[0; HEAD_LEN]).map_err(|error| file.error(error))?;
    let mut at = HEAD_LEN as u64;
    let mut sections = [Section::default(); 3];
    let [of_positions, of_games, of_texts] = &mut sections;
    of_positions.at = at;
    let mut last = None;
    while let Some(record) = positions.next()? {
        interrupt::check()?;
        let Some((key, number, mv)) = read_sorted(record) else { continue };
        // A position that recurs in a game is found once.
        if last.replace((key, number)) != Some((key, number)) {
            put!(&entry(key, number, mv));
            at += ENTRY_LEN as u64;
        }
    }
    *of_positions = Section { at: of_positions.at, len: at - of_positions.at };
    of_games.at = at;
    let mut texts = Scratch::new(&resources.temp, resources.memory / 8);
    let mut last = None;
    while let Some(game) = games.next()? {
        let number = bytes::u64_be(game, 0);
        // A file that was named twice.
        if number == last {
            continue;
        }
        last = number;
        let (head, text) = game.split_at_checked(GAME_HEAD).unwrap_or_default();
        put!(head);
        put!(&texts.size().to_be_bytes());
        texts.push(text)?;
        at += GAME_LEN as u64;
    }
    of_games.len = at - of_games.at;
    *of_texts = Section { at, len: texts.size() };
    let mut buffer = vec![0; GATHERED];
    let mut done = 0;
    while done < texts.size() {
        let len = usize::try_from(texts.size() - done).unwrap_or(GATHERED).min(GATHERED);
        let part = buffer.get_mut(..len).unwrap_or_default();
        texts.read(done, part)?;
        put!(part);
        done += len as u64;
    }
    let head = IndexHead { sections, stamp: stamp.clone(), checksum: checksum.finalize() };
    file.seek(SeekFrom::Start(0)).map_err(|error| file.error(error))?;
    file.write_all(&head.to_bytes()).map_err(|error| file.error(error))?;
    file.commit()
}

/// Key, number and move of a sorted position.
fn read_sorted(record: &[u8]) -> Option<(u64, u64, MoveCode)> {
    let mv = match bytes::u16_be(record, 24)? {
        END => MoveCode::NULL,
        mv => MoveCode(mv),
    };
    Some((bytes::u64_be(record, 0)?, bytes::u64_be(record, 16)?, mv))
}
