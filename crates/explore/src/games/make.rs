//! Making an index: all games are played through once, and what is found is sorted on the disk. Games get their ranks first;
//! then the games of each position are known by these.
#![allow(
    clippy::cast_possible_truncation,
    reason = "lengths are cut before, and games are counted in 31 bits"
)]

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::progress::Progress;
use tabiya_base::resources::Resources;
use tabiya_base::sort::Sorter;
use tabiya_chess::{Speed, Variant, rating_number};
use tabiya_games::play::play;
use tabiya_games::{GameEnd, GameError, GameHeader, KeyedPly, Reason, Sources, Visitor};

use super::layout::{IndexStamp, RESULT_AT, date_bits, put_text, result_bits, speed_bits};
use super::source::GameFiles;
use super::write::write;

/// Plies of each game whose positions are found, as in Lichess's explorer.
const PLIES: usize = 50;

/// Bytes of a position while it is sorted: the key, when the game arrived, the ply and the move. The first of several in a game
/// is kept.
const SORTED_LEN: usize = 8 + 4 + 1 + 2;

/// The most games of an index.
const MAX_GAMES: u32 = 1 << 31;

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
    /// How many games have arrived.
    arrived: AtomicU32,
}

/// Plays through games on one thread.
struct IndexPlayer<'a> {
    files: &'a GameFiles,
    sinks: &'a Sinks,
    tags: Vec<String>,
    made: Made,
    /// When the game arrived.
    arrival: u32,
    /// The key of the last position, if it is found.
    last: u64,
    game: Vec<u8>,
    /// Positions, one after another.
    positions: Vec<u8>,
    games: Vec<Vec<u8>>,
    failed: Option<Error>,
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
    let sinks = Sinks { positions: sorter(2), games: sorter(8), arrived: AtomicU32::new(0) };
    let player = || IndexPlayer {
        files,
        sinks: &sinks,
        tags: vec![TIME_CONTROL.to_owned()],
        made: Made::default(),
        arrival: 0,
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
    let Sinks { positions, games, arrived } = sinks;
    let [positions, games] =
        [positions, games].map(|sorter| sorter.into_inner().unwrap_or_else(PoisonError::into_inner).finish());
    write((positions?, games?, arrived.into_inner()), stamp, target, resources)?;
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
        self.arrival = self.sinks.arrived.fetch_add(1, Ordering::Relaxed);
        if self.arrival >= MAX_GAMES {
            let error = Error::new(ErrorKind::File, "there are too many games for an index");
            self.failed = self.failed.take().or(Some(error));
            return false;
        }
        let date = date_bits(game.date);
        let [white_elo, black_elo] = [game.white_elo, game.black_elo].map(rating_number);
        let strength = u32::from(white_elo) + u32::from(black_elo);
        let length = u32::try_from(game.place.length).unwrap_or(u32::MAX);
        let speed = game.tag(TIME_CONTROL).and_then(|time| Speed::from_pgn(&time));
        let out = &mut self.game;
        out.extend((!strength).to_be_bytes());
        out.extend((!date).to_be_bytes());
        out.extend(number.to_be_bytes());
        out.extend(self.arrival.to_be_bytes());
        out.extend(length.to_be_bytes());
        out.extend(white_elo.to_be_bytes());
        out.extend(black_elo.to_be_bytes());
        out.extend(date.to_be_bytes());
        out.extend([result_bits(game.result), speed_bits(speed)]);
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
        // A position in which the game ended has no move.
        let found = plies.iter().map(|ply| (ply.key, ply.mv.0)).chain([(self.last, 0)]);
        for ((key, mv), ply) in found.zip(0_u8..=u8::MAX) {
            self.positions.extend(key.to_be_bytes());
            self.positions.extend(self.arrival.to_be_bytes());
            self.positions.push(ply);
            self.positions.extend(mv.to_be_bytes());
        }
    }

    fn end(&mut self, end: GameEnd) {
        self.made.damaged += u64::from(end.error.is_some());
        if let Some(result) = self.game.get_mut(RESULT_AT).filter(|_| end.result.is_some()) {
            *result = result_bits(end.result);
        }
        self.games.push(std::mem::take(&mut self.game));
        if self.positions.len() > GATHERED || self.games.len() > GATHERED / RESULT_AT {
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
