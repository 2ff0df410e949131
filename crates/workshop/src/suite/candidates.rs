//! The positions that books reach after some plies.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::ops::RangeInclusive;
use std::sync::Arc;

use shakmaty::{Move, Position as _};

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::choose::Policy;
use tabiya_book::choose::by_chance;
use tabiya_book::traits::Book;
use tabiya_book::traverse::{ByPlies, KeyHasher, Tracks};
use tabiya_book::{CountsGames, MoveFacts};
use tabiya_chess::normal::forms;
use tabiya_chess::openings::Opening;
use tabiya_chess::{HeldPosition, MoveCode, Packed, Position, Variant};

use super::starts::{Start, Starts};
use crate::bookmaker::PositionCounts;

/// Which positions are looked for.
#[derive(Clone, Debug)]
pub struct Search {
    /// The variant of chess.
    pub variant: Variant,
    /// Plies from the starting position.
    pub plies: RangeInclusive<u32>,
    /// Games that went on from a position, or reached it after the most plies, and from each one on the way to it; 0 where
    /// books do not count games.
    pub min_games: u64,
    /// Whether positions that are the same when mirrored or with colours swapped count as one.
    pub unique_colours: bool,
}

/// A position that a suite may have.
#[derive(Clone, Debug)]
pub struct Candidate {
    place: Place,
    /// Plies from the starting position.
    pub plies: u32,
    /// Games that went on from it, or else reached it, where the sources count games.
    pub games: Option<u64>,
    /// The name of the last position of its line that has one.
    pub opening: Option<Opening>,
}

/// What shows a position.
#[derive(Clone, Debug)]
enum Place {
    /// The end of a line of the sources, with its number.
    End(HeldPosition),
    /// A start, of which there may be more than are asked for.
    Start(Start),
}

/// The positions that were found, those after fewer plies first.
#[derive(Debug, Default)]
pub struct Candidates {
    found: Vec<Candidate>,
    /// The most played line to each position on the way.
    tracks: Tracks,
}

/// How a position is reached from those after one ply less.
struct Arrival {
    /// The number of the position before, and the move, of the most played line.
    before: (u32, MoveCode),
    /// How improbable that line is: the negative logarithm of its chance.
    cost: f64,
    /// Games on all lines.
    games: Option<u64>,
}

/// What positions come from.
#[derive(Debug)]
pub enum SuiteSource {
    /// A book: the moves that it plays, or of a count file all moves.
    Book(Arc<dyn Book>),
    /// Games.
    Games(PositionCounts),
}

/// A move that is followed.
struct CandidateMove {
    mv: Move,
    /// The chance of the move, of all moves of the position.
    chance: f64,
    games: Option<u64>,
}

impl Candidate {
    /// The position. Its counters of moves are not those of a game.
    pub fn position(&self) -> Option<Position> {
        match &self.place {
            Place::End(held) => held.position(),
            Place::Start(start) => Some(start.position()),
        }
    }

    /// What its line begins with, of this variant.
    pub fn start(&self, variant: Variant) -> Start {
        match self.place {
            Place::End(_) => Start::Usual(variant),
            Place::Start(start) => start,
        }
    }

    /// The position, as stores of evaluations have it.
    pub fn packed(&self) -> Option<Packed> {
        match &self.place {
            Place::End(held) => held.packed().or_else(|| Packed::strict(&self.position()?)),
            Place::Start(start) => Packed::strict(&start.position()),
        }
    }
}

impl Candidates {
    /// The positions that books reach along moves that they play; games and count files, along all moves.
    ///
    /// Each position comes once, with the plies and the line that reach it first. Positions in which the game is over are left
    /// out, and lines that come back to one of their own positions end there.
    ///
    /// # Errors
    /// When the work is interrupted.
    pub fn find(sources: &[SuiteSource], search: &Search, progress: &Progress) -> Result<Self> {
        let mut candidates = Self::default();
        let (mut now, mut next) = (Arrivals::default(), Arrivals::default());
        let (mut keys, mut openings, mut ply): (Vec<u64>, Vec<Option<Opening>>, _) =
            (Vec::new(), Vec::new(), 0);
        let mut met = HashSet::new();
        let mut steps = Vec::new();
        progress.things(0, "positions");
        let from = ByPlies { again: true, ..ByPlies::of_variant(search.variant) };
        from.each(progress, |visited, follow| {
            let at = visited.at;
            if visited.plies > ply {
                ply = visited.plies;
                now = std::mem::take(&mut next);
            }
            let arrival = now.remove(&at.whole_key());
            let (before, cost, arrived) = arrival
                .map_or((None, 0.0, None), |arrival| (Some(arrival.before), arrival.cost, arrival.games));
            let inherited = before.and_then(|(before, _)| *openings.get(before as usize)?);
            let opening = Opening::at(at).or(inherited);
            candidates.tracks.push(before);
            keys.push(at.whole_key());
            openings.push(opening);
            steps.clear();
            steps_at(sources, at, &mut steps);
            let onward = steps.iter().filter_map(|step| step.games).reduce(u64::saturating_add);
            let games = onward.or(arrived);
            if games.is_some_and(|games| games < search.min_games) {
                return Ok(());
            }
            if search.plies.contains(&ply)
                && !at.chess().is_game_over()
                && met.insert(identity(at, search.unique_colours))
                && let Some(held) = HeldPosition::strict(at, visited.number)
            {
                candidates.found.push(Candidate { place: Place::End(held), plies: ply, games, opening });
            }
            if ply >= *search.plies.end() {
                return Ok(());
            }
            for step in &steps {
                let key = at.whole_key_after(step.mv);
                if candidates.is_on_line(visited.number, key, &keys) {
                    continue;
                }
                let cost = cost - step.chance.ln();
                let arrival = Arrival {
                    before: (visited.number, MoveCode::from_move(step.mv)),
                    cost,
                    games: step.games,
                };
                let known =
                    next.entry(key).or_insert(Arrival { cost: f64::INFINITY, games: None, ..arrival });
                known.games = match (known.games, step.games) {
                    (Some(one), Some(other)) => Some(one.saturating_add(other)),
                    (one, other) => one.or(other),
                };
                // Of equally probable lines the first counts.
                if cost < known.cost {
                    (known.before, known.cost) = (arrival.before, cost);
                }
                follow.push(step.mv);
            }
            Ok(())
        })?;
        Ok(candidates)
    }

    /// All starts of a kind.
    pub fn of_starts(starts: Starts) -> Self {
        let start = |start| Candidate { place: Place::Start(start), plies: 0, games: None, opening: None };
        Self { found: starts.all().map(start).collect(), tracks: Tracks::default() }
    }

    /// The positions that were found, which are then no longer here.
    pub fn take_found(&mut self) -> Vec<Candidate> {
        std::mem::take(&mut self.found)
    }

    /// The moves of the most played line to a position.
    pub fn line(&self, candidate: &Candidate) -> Vec<MoveCode> {
        match &candidate.place {
            Place::End(held) => self.tracks.line(held.number()),
            Place::Start(_) => Vec::new(),
        }
    }

    /// Whether the line to a position has the position of this key, itself included.
    fn is_on_line(&self, number: u32, key: u64, keys: &[u64]) -> bool {
        let is = |number: u32| keys.get(number as usize) == Some(&key);
        is(number) || self.tracks.back(number).any(|(number, _)| is(number))
    }
}

/// The positions after the next ply, by [`Position::whole_key`].
type Arrivals = HashMap<u64, Arrival, BuildHasherDefault<KeyHasher>>;

impl SuiteSource {
    /// The moves to follow from a position, with their chances and games.
    fn moves(&self, at: &Position) -> Vec<CandidateMove> {
        let played = |moves: Vec<(Move, u64)>| {
            let sum = moves.iter().map(|(_, games)| games).sum::<u64>().max(1) as f64;
            let step = |(mv, games): (Move, u64)| CandidateMove {
                mv,
                chance: games as f64 / sum,
                games: Some(games),
            };
            moves.into_iter().filter(|(_, games)| *games > 0).map(step).collect()
        };
        match self {
            Self::Games(counts) => {
                let legal = |(mv, games)| Some((MoveFacts::new(mv, 0).at(at)?.mv, games));
                played(counts.moves(at.key()).filter_map(legal).collect())
            }
            Self::Book(book) if book.format().games() == CountsGames::Only => {
                let moves = book.moves_in(at);
                let games = |facts: &MoveFacts| facts.counts.map_or(0, |counts| counts.games);
                played(moves.iter().map(|facts| (facts.mv, games(facts))).collect())
            }
            Self::Book(book) => {
                let moves = by_chance(&**book, at, &Policy::default(), |_| true);
                let step = |(facts, chance): (MoveFacts, f64)| {
                    let games = facts.counts.map(|counts| counts.games);
                    CandidateMove { mv: facts.mv, chance, games }
                };
                moves.into_iter().filter(|(_, chance)| *chance > 0.0).map(step).collect()
            }
        }
    }
}

/// The moves to follow from a position, each once.
fn steps_at(sources: &[SuiteSource], at: &Position, out: &mut Vec<CandidateMove>) {
    for CandidateMove { mv, chance, games } in sources.iter().flat_map(|source| source.moves(at)) {
        match out.iter_mut().find(|step| step.mv == mv) {
            Some(step) => {
                step.chance += chance;
                step.games = match (step.games, games) {
                    (Some(one), Some(other)) => Some(one.saturating_add(other)),
                    (one, other) => one.or(other),
                };
            }
            None => out.push(CandidateMove { mv, chance, games }),
        }
    }
    let all = sources.len().max(1) as f64;
    out.iter_mut().for_each(|step| step.chance /= all);
}

/// What distinguishes a position from others in a suite. An en-passant square counts only where the capture is legal.
fn identity(at: &Position, unique_colours: bool) -> u64 {
    match at.standard().filter(|_| unique_colours) {
        Some(chess) => {
            let keys = forms(chess.clone()).into_iter().map(|form| Position::from_chess(form).strict_key());
            keys.min().unwrap_or_default()
        }
        None => at.strict_key(),
    }
}

#[cfg(test)]
mod tests {
    use tabiya_book as book;

    use super::*;

    fn search(plies: RangeInclusive<u32>) -> Search {
        Search { variant: Variant::Chess, plies, min_games: 0, unique_colours: false }
    }

    fn starter(search: &Search) -> Candidates {
        Candidates::find(&[SuiteSource::Book(book::starter_book().unwrap())], search, &Progress::none())
            .unwrap()
    }

    /// The position after moves from the start.
    fn after(line: &[MoveCode]) -> Position {
        let mut at = Position::start();
        for mv in line {
            let mv = book::MoveFacts::new(*mv, 0).at(&at).unwrap().mv;
            at.play(mv);
        }
        at
    }

    #[test]
    fn each_position_comes_once_with_a_line_that_leads_there() {
        let found = starter(&search(2..=6));
        assert!(found.found.len() > 50);
        let mut met = HashSet::new();
        for candidate in &found.found {
            let line = found.line(candidate);
            assert_eq!(line.len(), candidate.plies as usize);
            assert_eq!(Packed::strict(&after(&line)), candidate.packed());
            assert!(met.insert(after(&line).epd()));
        }
        let plies: HashSet<u32> = found.found.iter().map(|candidate| candidate.plies).collect();
        assert_eq!(plies, (2..=6).collect());
        assert_eq!(starter(&search(0..=0)).found.len(), 1);
        assert!(starter(&search(900..=900)).found.is_empty());
    }

    /// A Polyglot book of lines, each move with the weight 1.
    fn polyglot(lines: &[&str]) -> SuiteSource {
        let mut entries = std::collections::BTreeSet::new();
        for line in lines {
            let mut game = tabiya_chess::Game::start();
            for mv in line.split(' ') {
                let key = game.position().key();
                assert!(game.push_uci(mv.as_bytes()));
                entries.insert((key, MoveCode::from_move(*game.moves().last().unwrap()).0));
            }
        }
        let bytes = entries
            .into_iter()
            .flat_map(|(key, mv)| [&key.to_be_bytes()[..], &mv.to_be_bytes(), &[0, 1], &[0; 4]].concat());
        SuiteSource::Book(book::open_bytes("lines.bin", bytes.collect::<Vec<_>>()).unwrap())
    }

    #[test]
    fn colours_that_are_swapped_are_one_position_only_if_that_is_asked_for() {
        // After two plies White is to move, after three plies Black, in the same position with colours swapped.
        let books = [polyglot(&["e2e4 e7e5", "e2e3 e7e5 e3e4"])];
        let count = |unique_colours| {
            let search = Search { unique_colours, ..search(2..=3) };
            Candidates::find(&books, &search, &Progress::none()).unwrap().found.len()
        };
        assert_eq!((count(false), count(true)), (3, 2));
    }

    #[test]
    fn a_line_that_comes_back_ends_there() {
        let books = [polyglot(&["g1f3 g8f6 f3g1 f6g8", "e2e4"])];
        let found = Candidates::find(&books, &search(0..=9), &Progress::none()).unwrap();
        assert_eq!(found.found.iter().map(|candidate| candidate.plies).max(), Some(3));
    }
}
