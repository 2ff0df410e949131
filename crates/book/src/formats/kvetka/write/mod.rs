//! Writing a book: positions come in any order, and their elements are sorted by their keys.

mod gather;
pub(super) mod ksf;
mod output;

use std::io::Write;
use std::path::Path;

use gather::{Gathered, KvetkaOwn};
use ksf::KsfWriter;
use output::Output;
use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::sort::Sorter;
use tabiya_chess::normal::Normal;
use tabiya_chess::{MoveCode, Position};

use super::header::KvetkaHeader;
use super::key::Key;
use super::layout::{ALL_PLIES, MAX_COMMENT};
use super::moves::code;
use crate::verdict::Chosen;
use crate::write::Needs;
use crate::{
    About, BookWriter, Counts, GameReference, Heading, MoveFacts, PositionRecord, WriteOptions, Written,
    left_out,
};

/// The least memory that a writer uses, in bytes.
const MIN_MEMORY: usize = 1 << 20;

/// A Kvetka book that is being written.
#[derive(Debug)]
pub struct KvetkaWriter {
    output: Output,
    needs: Needs,
    records: Sorter,
    record: Vec<u8>,
    games: KsfWriter,
    lost: KvetkaLeftOut,
    memory: usize,
}

/// Counts of the facts that the format cannot hold.
#[derive(Debug, Default)]
struct KvetkaLeftOut {
    keys: u64,
    codes: u64,
    unfinished: u64,
    weights: u64,
    made_up: u64,
    never: u64,
    swapped: u64,
    marks: u64,
    learned: u64,
    ratings: u64,
    links: u64,
    comments: u64,
    games: u64,
}

impl KvetkaWriter {
    /// Begins a book whose files are named after `path`: for `NAME.kob`, `NAME_0.kob` and so on, `NAME.kin`, `NAME.ksf`.
    ///
    /// # Errors
    /// When a file of such a book exists and may not be replaced; and as
    /// [`Replacement::new`](tabiya_base::replace::Replacement::new).
    pub fn new(path: &Path, options: &WriteOptions) -> Result<Self> {
        let header = KvetkaHeader {
            caption: options.caption.clone(),
            least_elo: options.least_elo.numbers(),
            plies: options.plies.and_then(|plies| u8::try_from(plies).ok()).unwrap_or(ALL_PLIES),
            ..KvetkaHeader::default()
        };
        let output = Output::new(path, options.force, header)?;
        let (temp, memory) = (options.temp(), options.memory.max(MIN_MEMORY));
        let records = Sorter::new(&temp, memory / 4 * 3);
        let games = KsfWriter::new(&temp, memory / 8);
        let (needs, memory) = (options.needs(), options.memory);
        Ok(Self { output, needs, records, record: Vec::new(), games, lost: KvetkaLeftOut::default(), memory })
    }

    /// The results that a move gives to the position that it leads to.
    fn results(known: &MoveFacts<MoveCode>, by_counts: bool) -> Counts {
        match known.counts.filter(|_| by_counts) {
            Some(counts) => finished(counts),
            None if by_counts => Counts::default(),
            None => with_points(known.weight),
        }
    }

    /// Results that are made up for a move that is to be played, but scored nothing: in proportion to those of the others.
    fn made_up(known: &MoveFacts<MoveCode>, [points, weights]: [u128; 2]) -> Counts {
        let points = match weights {
            0 => known.weight,
            _ => u64::try_from(u128::from(known.weight) * points / weights).unwrap_or(u64::MAX),
        };
        with_points(points.max(1))
    }
}

/// Results of these half-points: twice the wins and once the draws are the weight again.
fn with_points(points: u64) -> Counts {
    Counts::ended(points / 2, points % 2, 0)
}

/// The half-points of moves that scored, and the weights of these.
fn scored(moves: &[&MoveFacts<MoveCode>]) -> [u128; 2] {
    let points = |known: &MoveFacts<MoveCode>| u128::from(known.counts.map_or(0, Counts::points));
    let moves = moves.iter().filter(|known| points(known) > 0 && known.weight > 0);
    moves.fold([0, 0], |[sum, weights], known| [sum + points(known), weights + u128::from(known.weight)])
}

/// Whether some game of a move ended.
fn ended(known: &MoveFacts<MoveCode>) -> bool {
    known.counts.is_some_and(Counts::has_results)
}

/// The games that have a result.
fn finished(Counts { wins, draws, losses, .. }: Counts) -> Counts {
    Counts::ended(wins, draws, losses)
}

/// Whether some games have no result.
fn has_unfinished(counts: Counts) -> bool {
    counts.games > finished(counts).games
}

impl BookWriter for KvetkaWriter {
    fn needs_positions(&self) -> bool {
        true
    }

    fn holds_comments(&self) -> bool {
        true
    }

    fn wants_games(&self) -> bool {
        true
    }

    fn memory(&self) -> usize {
        self.memory
    }

    fn takes(&self, heading: &Heading) -> bool {
        heading.format == crate::kvetka::FORMAT
    }

    fn describe(&mut self, about: &About) {
        self.output.describe(&about.heading);
    }

    fn game(&mut self, game: &GameReference) -> Result<()> {
        self.games.add(game)
    }

    fn add(&mut self, known: &PositionRecord) -> Result<()> {
        let with_key = |at| {
            let normal = Normal::from_chess(Position::standard(at)?)?;
            Some((at, Key::of_normal(&normal)?, normal))
        };
        let Some((at, key, normal)) = known.position.as_ref().and_then(with_key) else {
            self.lost.keys += 1;
            return Ok(());
        };
        // What is never played must not be in the book: its weight would be that of the position that it leads to.
        let (never, moves): (Vec<&MoveFacts<MoveCode>>, Vec<_>) =
            known.moves.iter().partition(|found| found.is_rejected());
        self.lost.never += never.iter().filter(|found| !found.is_struck_out()).count() as u64;
        // Without any result all moves of a position weigh 1.
        let flat = moves.iter().all(|found| found.weight == 1 && !ended(found));
        let by_counts = flat || moves.iter().any(|found| ended(found));
        let scored = scored(&moves);
        let mut own = KvetkaOwn { game: known.game, comment: known.comment.clone(), ..KvetkaOwn::default() };
        for found in moves {
            let Some(mv) = found.at(at).map(|found| found.mv) else { continue };
            let Some(code) = code(mv, &normal) else {
                self.lost.codes += 1;
                continue;
            };
            let results = Self::results(found, by_counts);
            let lacks_points = by_counts && !flat && found.weight > 0 && results.points() == 0;
            let made_up = if lacks_points { Self::made_up(found, scored) } else { Counts::default() };
            self.note_losses(found, results.plus(made_up), flat);
            own.moves.push(code);
            own.chosen.extend(Chosen::code(found, code));
            own.sum = own.sum.plus(results);
            self.child(&at.after(mv), results.swapped(), made_up.swapped())?;
        }
        let never = never.iter().filter_map(|found| code(found.at(at)?.mv, &normal));
        own.never.extend(never);
        own.total = known.total.map(finished);
        self.lost.unfinished += u64::from(known.total.is_some_and(has_unfinished));
        self.record.clear();
        own.write(&key, &mut self.record);
        self.records.push(&self.record)
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let Self { mut output, needs, records, games, mut lost, .. } = *self;
        lost.games = games.lost;
        let mut written = Written::default();
        let mut sorted = records.finish()?;
        let mut gathered = Gathered::default();
        loop {
            let record = sorted.next()?;
            let is_complete = record.is_none_or(|record| gathered.is_other(record));
            if let Some((mut element, game, removed)) = is_complete.then(|| gathered.take()).flatten() {
                element.extras.link = game.map(|number| games.link(number)).transpose()?.flatten();
                written.positions += 1;
                lost.swapped += removed;
                interrupt::check()?;
                written.moves += element.moves.len() as u64;
                let left_out = output.element(&element)?;
                lost.links += u64::from(left_out.link || left_out.rest);
                lost.comments += u64::from(left_out.comment);
            }
            let Some(record) = record else { break };
            gathered.add(record);
        }
        (written.left_out, written.changed) = (lost.clauses(), lost.changes());
        if !needs.are_met(&written) {
            return Ok(written);
        }
        let mut ksf = None;
        if !games.is_empty() {
            let mut file = output.ksf()?;
            games.finish(|bytes| file.write_all(bytes).map_err(|error| file.error(error)))?;
            ksf = Some(file);
        }
        written.files = output.finish(ksf)?;
        Ok(written)
    }
}

impl KvetkaWriter {
    /// Takes in the position that a move leads to, with the results of the move seen from there, and those that are made up.
    fn child(&mut self, at: &Position, results: Counts, made_up: Counts) -> Result<()> {
        let Some(key) = at.standard().and_then(Key::from_chess) else { return Ok(()) };
        self.record.clear();
        KvetkaOwn::write_child(&key, results, made_up, &mut self.record);
        self.records.push(&self.record)
    }

    /// Notes what is lost of a move that is written with these results.
    fn note_losses(&mut self, known: &MoveFacts<MoveCode>, written: Counts, flat: bool) {
        let MoveFacts { weight, counts, learned, ratings, .. } = *known;
        let made_up = written.games > counts.map_or(0, |counts| finished(counts).games);
        self.lost.made_up += u64::from(made_up);
        let by_results = if flat { 1 } else { written.points() };
        self.lost.weights += u64::from(!made_up && by_results != weight);
        self.lost.unfinished += u64::from(counts.is_some_and(has_unfinished));
        self.lost.marks += u64::from(known.is_marked());
        self.lost.learned += u64::from(learned.is_some());
        self.lost.ratings += u64::from(ratings.is_some());
    }
}

impl KvetkaLeftOut {
    fn changes(&self) -> Vec<(String, u64)> {
        let long = format!("comments, cut to {MAX_COMMENT} letters or to what an element has room for");
        left_out([
            ("moves without results: their weight is written as games won and drawn", self.made_up),
            (&*long, self.comments),
        ])
    }

    fn clauses(&self) -> Vec<(String, u64)> {
        left_out([
            ("positions without a key: too many pieces, or castling of Chess960", self.keys),
            (
                "moves without a code: promotions to other pieces than queens, third rooks, bishops and knights",
                self.codes,
            ),
            (
                "positions and moves with games that have no result: the format counts only results",
                self.unfinished,
            ),
            (
                "moves whose weight does not follow from their results: the format has only results",
                self.weights,
            ),
            ("moves that are never played", self.never),
            ("moves that are not to be played in the same position with colors swapped", self.swapped),
            ("marks or colors of moves", self.marks),
            ("learned results of moves", self.learned),
            ("ratings of moves", self.ratings),
            ("links to games, in elements that would be longer than 682 bytes", self.links),
            ("games that no link can reach: beyond 4 GB of their file, or in too many files", self.games),
        ])
    }
}
