//! What games that began with the positions of a suite say of them.

use std::collections::HashMap;

use crate::base::error::Result;
use crate::base::progress::Progress;
use crate::base::resources::Resources;
use crate::chess::Position;
use crate::games::play::play_in_order;
use crate::games::{End, GameError, GameResult, Header, KeyedPly, Sources, Visitor};

/// Which openings stay, of those that were played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
pub enum Verdict {
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
struct Game {
    white: String,
    black: String,
    result: GameResult,
}

/// The games that began with each position, by its number.
#[derive(Debug, Default)]
pub struct Played {
    games: HashMap<usize, Vec<Game>>,
    /// Games that began with none of the positions.
    pub elsewhere: u64,
    /// Games without a result, or that could not be read.
    pub unfinished: u64,
}

impl Keep {
    /// Whether an opening stays.
    pub fn admits(self, verdict: Verdict) -> bool {
        match (self, verdict) {
            (_, Verdict::NotPlayed) => true,
            (Self::Pairs, verdict) => verdict == Verdict::DecisivePair,
            (Self::Fair | Self::Decisive, Verdict::Drawn) => false,
            (Self::Fair | Self::Drawn, Verdict::OneColour) => false,
            _ => true,
        }
    }
}

impl Played {
    /// Reads the games of a match. `positions` are those of the suite with their numbers, by their keys; a game belongs to the
    /// last of them that it reaches within `plies`.
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
        let reader = || Reader { positions, plies, played: Self::default(), game: None };
        let mut all = Self::default();
        play_in_order(games, resources, progress, reader, |Reader { played, .. }| {
            all.elsewhere += played.elsewhere;
            all.unfinished += played.unfinished;
            played
                .games
                .into_iter()
                .for_each(|(number, games)| all.games.entry(number).or_default().extend(games));
            Ok(())
        })?;
        Ok(all)
    }

    /// What became of the games of a position.
    pub fn verdict(&self, number: usize) -> Verdict {
        let Some(games) = self.games.get(&number) else { return Verdict::NotPlayed };
        if games.iter().all(|game| game.result == GameResult::Draw) {
            return Verdict::Drawn;
        }
        let pairs = pairs(games);
        let same =
            |(one, other): &(&Game, &Game)| one.result == other.result && one.result != GameResult::Draw;
        // The second game has the colours reversed: the first player's points are White's in the first, Black's in the second.
        let points = |result, wins| match result {
            GameResult::Draw => 1,
            result if result == wins => 2,
            _ => 0,
        };
        let decisive = |(one, other): &(&Game, &Game)| {
            points(one.result, GameResult::White) + points(other.result, GameResult::Black) != 2
        };
        if pairs.is_empty() {
            Verdict::Other
        } else if pairs.iter().all(same) {
            Verdict::OneColour
        } else if pairs.iter().any(decisive) {
            Verdict::DecisivePair
        } else {
            Verdict::Other
        }
    }
}

/// The games as pairs with reversed colours, each game in one pair at most.
fn pairs(games: &[Game]) -> Vec<(&Game, &Game)> {
    let (mut pairs, mut alone): (Vec<(&Game, &Game)>, Vec<&Game>) = (Vec::new(), Vec::new());
    for game in games {
        let fits = |other: &&Game| other.white == game.black && other.black == game.white;
        match alone.iter().position(fits) {
            Some(at) => pairs.push((alone.remove(at), game)),
            None => alone.push(game),
        }
    }
    pairs
}

/// Finds the position that each game began with.
struct Reader<'a> {
    positions: &'a HashMap<u64, usize>,
    plies: usize,
    played: Played,
    /// The players of the current game, and the number of the last position of the suite that it reached.
    game: Option<(String, String, Option<usize>)>,
}

impl Visitor for Reader<'_> {
    fn begin(&mut self, game: &Header) -> bool {
        let start = game.start.as_ref().map_or_else(|| Position::start().key(), Position::key);
        let found = self.positions.get(&start).copied();
        self.game = Some((game.white.clone(), game.black.clone(), found));
        true
    }

    fn keyed_plies(&self) -> Option<usize> {
        Some(self.plies + 1)
    }

    fn keyed_line(&mut self, plies: &[KeyedPly]) {
        let found = plies.iter().rev().find_map(|ply| self.positions.get(&ply.key).copied());
        if let Some((.., number)) = &mut self.game {
            *number = found.or(*number);
        }
    }

    fn end(&mut self, end: End) {
        let Some((white, black, number)) = self.game.take() else { return };
        match (number, end.result) {
            (_, None) => self.played.unfinished += 1,
            (None, _) => self.played.elsewhere += 1,
            (Some(number), Some(result)) => {
                self.played.games.entry(number).or_default().push(Game { white, black, result });
            }
        }
    }

    fn unreadable(&mut self, _: GameError) {
        self.played.unfinished += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games;
    use shakmaty::Position as _;
    use std::fmt::Write as _;

    fn verdict(results: &[(&str, &str, &str)]) -> Verdict {
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
        let mut games = games::open(&[path]).unwrap();
        let resources = Resources { threads: 2, memory: 1 << 20, temp: folder.path().to_owned() };
        let played = Played::read(&mut games, &positions, 8, &resources, &Progress::none()).unwrap();
        assert_eq!(played.elsewhere, 0);
        played.verdict(7)
    }

    #[test]
    fn pairs_of_games_decide() {
        let (a, b) = ("A", "B");
        assert_eq!(verdict(&[(a, b, "1/2-1/2"), (b, a, "1/2-1/2")]), Verdict::Drawn);
        assert_eq!(verdict(&[(a, b, "1-0"), (b, a, "1-0")]), Verdict::OneColour);
        assert_eq!(verdict(&[(a, b, "1-0"), (b, a, "0-1")]), Verdict::DecisivePair);
        assert_eq!(verdict(&[(a, b, "1-0"), (b, a, "1/2-1/2")]), Verdict::DecisivePair);
        assert_eq!(
            verdict(&[(a, b, "1-0"), (b, a, "1-0"), (a, b, "1/2-1/2"), (b, a, "1/2-1/2")]),
            Verdict::Other
        );
        assert_eq!(verdict(&[(a, b, "1-0")]), Verdict::Other);
        assert_eq!(verdict(&[(a, b, "*")]), Verdict::NotPlayed);
    }

    #[test]
    fn what_is_kept_is_a_choice() {
        let verdicts =
            [Verdict::NotPlayed, Verdict::Drawn, Verdict::OneColour, Verdict::DecisivePair, Verdict::Other];
        let kept = |keep: Keep| verdicts.map(|verdict| keep.admits(verdict));
        assert_eq!(kept(Keep::Fair), [true, false, false, true, true]);
        assert_eq!(kept(Keep::Decisive), [true, false, true, true, true]);
        assert_eq!(kept(Keep::Drawn), [true, true, false, true, true]);
        assert_eq!(kept(Keep::Pairs), [true, false, false, true, false]);
    }
}
