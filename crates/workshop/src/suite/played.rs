//! What games that began with the positions of a suite say of them.

use std::collections::HashMap;

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_base::resources::Resources;
use tabiya_chess::MoveCode;
use tabiya_games::play::play_in_order;
use tabiya_games::{GameEnd, GameError, GameHeader, GameResult, KeyedPly, Sources, Visitor, is_known_round};

use crate::pairs::{Pairing, Pairs};

/// Which openings stay, of those that were played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keep {
    /// Those in which neither all games were drawn nor the same colour won all pairs.
    #[default]
    Fair,
    /// Those in which a game was won.
    Decisive,
    /// Those in which the same colour did not win all pairs, drawn ones too.
    Drawn,
    /// Those in which one player scored more than the other in a pair of games.
    Pairs,
}

/// What became of the games that began with a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PairVerdict {
    /// None was played, or none has a result.
    NotPlayed,
    /// All games were drawn.
    Drawn,
    /// The same colour won both games of each pair.
    OneColour,
    /// One player scored more than the other in a pair.
    DecisivePair,
    /// None of these: pairs were divided evenly, or there are none.
    Other,
}

/// A game with a result.
#[derive(Clone, Debug)]
struct MatchGame {
    white: String,
    black: String,
    round: String,
    result: GameResult,
}

/// What a game shows of the position that it began with.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Began {
    /// It is none of the suite.
    Elsewhere,
    /// It has this number.
    With(usize),
    /// It is one on the line of the game, which began with the usual position.
    On(OpeningLine),
}

/// The first moves of a game, and the positions of the suite that they reach: the plies to each, and its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct OpeningLine {
    moves: Box<[MoveCode]>,
    reached: Box<[(usize, usize)]>,
}

/// The games that began with each position, by its number.
#[derive(Debug, Default)]
pub struct Played {
    games: HashMap<usize, Vec<MatchGame>>,
    /// Games of which only the other one of their pair shows with which position they began.
    waiting: Pairs<(MatchGame, OpeningLine)>,
    /// Games that began with none of the positions, or do not show with which.
    pub elsewhere: u64,
    /// Games without a result, or that could not be read.
    pub unfinished: u64,
}

impl Keep {
    /// Whether an opening stays.
    pub fn admits(self, verdict: PairVerdict) -> bool {
        match (self, verdict) {
            (_, PairVerdict::NotPlayed) => true,
            (Self::Pairs, verdict) => verdict == PairVerdict::DecisivePair,
            (Self::Fair | Self::Decisive, PairVerdict::Drawn) => false,
            (Self::Fair | Self::Drawn, PairVerdict::OneColour) => false,
            _ => true,
        }
    }
}

impl Played {
    /// Reads the games of a match. `positions` are those of the suite with their numbers, by their keys.
    ///
    /// A game belongs to the position that it begins with. Where the moves of the suite are part of it, that is the last one within
    /// `plies` on the line that both games of its pair have: what follows is the players' own choice.
    ///
    /// # Errors
    /// When a file cannot be read, or the work is interrupted.
    pub fn read(
        games: &mut Sources,
        positions: &HashMap<u64, usize>,
        plies: usize,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<Self> {
        let reader = || MatchReader { positions, plies, found: Vec::new(), unfinished: 0, game: None };
        let mut all = Self::default();
        play_in_order(games, resources, progress, reader, |reader| {
            all.unfinished += reader.unfinished;
            reader.found.into_iter().for_each(|(game, began)| all.add(game, began));
            Ok(())
        })?;
        std::mem::take(&mut all.waiting).rest().for_each(|(game, line)| all.alone(game, &line));
        Ok(all)
    }

    fn add(&mut self, game: MatchGame, began: Began) {
        match began {
            Began::Elsewhere => self.elsewhere += 1,
            Began::With(number) => self.games.entry(number).or_default().push(game),
            Began::On(line) => self.pair(game, line),
        }
    }

    /// Finds the other game of a pair, or lets this one wait for it.
    fn pair(&mut self, game: MatchGame, line: OpeningLine) {
        let round = game.round.clone();
        let pairing = Pairing { white: &game.white.clone(), black: &game.black.clone(), round: &round };
        // Without rounds only the game before can be the other one.
        let earlier = if is_known_round(&round) { Vec::new() } else { self.waiting.take_earlier(pairing) };
        let shared = |(_, one): &(_, OpeningLine), (_, other): &(_, OpeningLine)| one.shared(other);
        if let Some(((one, _), (other, _), (_, number))) = self.waiting.add(pairing, (game, line), shared) {
            self.games.entry(number).or_default().extend([one, other]);
        }
        earlier.into_iter().for_each(|(game, line)| self.alone(game, &line));
    }

    /// Takes a game that no other makes a pair with: it shows where it began if it reaches only one position.
    fn alone(&mut self, game: MatchGame, line: &OpeningLine) {
        match &*line.reached {
            [(_, number)] => self.games.entry(*number).or_default().push(game),
            _ => self.elsewhere += 1,
        }
    }

    /// What became of the games of a position.
    pub fn verdict(&self, number: usize) -> PairVerdict {
        let Some(games) = self.games.get(&number) else { return PairVerdict::NotPlayed };
        if games.iter().all(|game| game.result == GameResult::Draw) {
            return PairVerdict::Drawn;
        }
        let pairs = pairs(games);
        let same = |(one, other): &(&MatchGame, &MatchGame)| {
            one.result == other.result && one.result != GameResult::Draw
        };
        // The second game has the colours reversed: the first player's points are White's in the first, Black's in the second.
        let points = |result, wins| match result {
            GameResult::Draw => 1,
            result if result == wins => 2,
            _ => 0,
        };
        let decisive = |(one, other): &(&MatchGame, &MatchGame)| {
            points(one.result, GameResult::White) + points(other.result, GameResult::Black) != 2
        };
        if pairs.is_empty() {
            PairVerdict::Other
        } else if pairs.iter().all(same) {
            PairVerdict::OneColour
        } else if pairs.iter().any(decisive) {
            PairVerdict::DecisivePair
        } else {
            PairVerdict::Other
        }
    }
}

impl MatchGame {
    fn pairing<'a>(&'a self, round: &'a str) -> Pairing<'a> {
        Pairing { white: &self.white, black: &self.black, round }
    }
}

impl OpeningLine {
    /// The last position of the suite on the line that both games have: the plies to it, and its number.
    fn shared(&self, other: &Self) -> Option<(usize, usize)> {
        let plies = self.moves.iter().zip(&other.moves).take_while(|(one, other)| one == other).count();
        self.reached.iter().rev().find(|(reached, _)| *reached <= plies).copied()
    }
}

/// The games of a position as pairs with reversed colours, each game in one pair at most.
fn pairs(games: &[MatchGame]) -> Vec<(&MatchGame, &MatchGame)> {
    let mut waiting = Pairs::default();
    let found = games.iter().filter_map(|game| waiting.add(game.pairing(""), game, |_, _| Some(())));
    found.map(|(one, other, ())| (one, other)).collect()
}

/// Finds the position that each game began with.
struct MatchReader<'a> {
    positions: &'a HashMap<u64, usize>,
    plies: usize,
    /// The games with a result.
    found: Vec<(MatchGame, Began)>,
    /// Games without one, or that could not be read.
    unfinished: u64,
    /// The current game, whose result is not known yet.
    game: Option<(MatchGame, Began)>,
}

impl Visitor for MatchReader<'_> {
    fn begin(&mut self, header: &GameHeader) -> bool {
        let (white, black, round) = (header.white.clone(), header.black.clone(), header.round.clone());
        let game = MatchGame { white, black, round, result: GameResult::Draw };
        let began = match &header.start {
            // En passant counts in a suite only where it is legal.
            Some(start) => {
                self.positions.get(&start.strict_key()).map_or(Began::Elsewhere, |at| Began::With(*at))
            }
            None => Began::On(OpeningLine::default()),
        };
        self.game = Some((game, began));
        true
    }

    fn keyed_plies(&self) -> Option<usize> {
        Some(self.plies + 1)
    }

    fn keyed_line(&mut self, plies: &[KeyedPly]) {
        let Some((_, Began::On(line))) = &mut self.game else { return };
        let number = |(ply, keyed): (usize, &KeyedPly)| Some((ply, *self.positions.get(&keyed.key)?));
        line.reached = plies.iter().enumerate().filter_map(number).collect();
        // The moves before the last position decide.
        let last = line.reached.last().map_or(0, |(ply, _)| *ply);
        line.moves = plies.iter().take(last).map(|keyed| keyed.mv).collect();
    }

    fn end(&mut self, end: GameEnd) {
        let Some((game, began)) = self.game.take() else { return };
        let Some(result) = end.result else {
            self.unfinished += 1;
            return;
        };
        let began = match began {
            Began::On(line) if line.reached.is_empty() => Began::Elsewhere,
            began => began,
        };
        self.found.push((MatchGame { result, ..game }, began));
    }

    fn unreadable(&mut self, _: GameError) {
        self.unfinished += 1;
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Position as _;
    use std::fmt::Write as _;
    use tabiya_chess::Position;
    use tabiya_games as games;

    use super::*;

    fn verdict(results: &[(&str, &str, &str)]) -> PairVerdict {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("match.pgn");
        let mut text = String::new();
        for (white, black, result) in results {
            let tags = format!("[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]");
            writeln!(text, "[Event \"?\"]\n{tags}\n\n1. e4 e5 2. Nf3 {result}\n").unwrap();
        }
        std::fs::write(&path, text).unwrap();
        let mut at = Position::start();
        at.play(at.chess().legal_moves().into_iter().find(|mv| mv.to() == shakmaty::Square::E4).unwrap());
        let positions = [(at.key(), 7)].into_iter().collect();
        let mut games = games::open_files(&[path]).unwrap();
        let resources = Resources { threads: 2, memory: 1 << 20, temp: folder.path().to_owned() };
        let played = Played::read(&mut games, &positions, 8, &resources, &Progress::none()).unwrap();
        assert_eq!(played.elsewhere, 0);
        played.verdict(7)
    }

    #[test]
    fn pairs_of_games_decide() {
        let (a, b) = ("A", "B");
        assert_eq!(verdict(&[(a, b, "1/2-1/2"), (b, a, "1/2-1/2")]), PairVerdict::Drawn);
        assert_eq!(verdict(&[(a, b, "1-0"), (b, a, "1-0")]), PairVerdict::OneColour);
        assert_eq!(verdict(&[(a, b, "1-0"), (b, a, "0-1")]), PairVerdict::DecisivePair);
        assert_eq!(verdict(&[(a, b, "1-0"), (b, a, "1/2-1/2")]), PairVerdict::DecisivePair);
        assert_eq!(
            verdict(&[(a, b, "1-0"), (b, a, "1-0"), (a, b, "1/2-1/2"), (b, a, "1/2-1/2")]),
            PairVerdict::Other
        );
        assert_eq!(verdict(&[(a, b, "1-0")]), PairVerdict::Other);
        assert_eq!(verdict(&[(a, b, "*")]), PairVerdict::NotPlayed);
    }

    #[test]
    fn what_is_kept_is_a_choice() {
        let verdicts = [
            PairVerdict::NotPlayed,
            PairVerdict::Drawn,
            PairVerdict::OneColour,
            PairVerdict::DecisivePair,
            PairVerdict::Other,
        ];
        let kept = |keep: Keep| verdicts.map(|verdict| keep.admits(verdict));
        assert_eq!(kept(Keep::Fair), [true, false, false, true, true]);
        assert_eq!(kept(Keep::Decisive), [true, false, true, true, true]);
        assert_eq!(kept(Keep::Drawn), [true, true, false, true, true]);
        assert_eq!(kept(Keep::Pairs), [true, false, false, true, false]);
    }
}
