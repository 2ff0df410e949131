//! The opening of the game, which is announced when its name changes.

use shakmaty::Move;

use tabiya_chess::openings::Opening;
use tabiya_chess::{Game, Position};

/// Plies of a game that has just begun: the first request to either side comes after no more.
const FIRST_PLIES: usize = 1;

/// The game up to the last request that a book answered, and its name. Only the positions since then are looked up.
pub(super) struct OpeningNames {
    start: Position,
    moves: Vec<Move>,
    position: Position,
    /// The opening of the last named position.
    opening: Option<Opening>,
    /// The one that was announced last in this game.
    said: Option<Opening>,
}

impl Default for OpeningNames {
    fn default() -> Self {
        Self::before(&Position::start())
    }
}

impl OpeningNames {
    /// A game that begins in this position.
    fn before(start: &Position) -> Self {
        let (start, position) = (start.clone(), start.clone());
        Self { opening: Opening::at(&position), start, moves: Vec::new(), position, said: None }
    }

    pub(super) fn new_game(&mut self) {
        self.said = None;
    }

    /// The opening of a game that a book continues with this move, if it differs from the last that was announced.
    pub(super) fn changed(&mut self, game: &Game, mv: Move) -> Option<Opening> {
        let same_start = self.start.chess() == game.start_position().chess();
        if !same_start || !game.moves().starts_with(&self.moves) {
            // Where moves were taken back, the game is the same.
            let begins = !same_start || game.moves().len() <= FIRST_PLIES;
            let said = self.said.filter(|_| !begins);
            *self = Self { said, ..Self::before(game.start_position()) };
        }
        for &played in game.moves().iter().skip(self.moves.len()) {
            self.moves.push(played);
            self.position.play(played);
            self.opening = Opening::at(&self.position).or(self.opening);
        }
        let opening = Opening::at(&self.position.after(mv)).or(self.opening)?;
        (self.said != Some(opening)).then_some(opening)
    }

    /// The move was played, and this opening announced with it.
    pub(super) fn announced(&mut self, opening: Opening) {
        self.said = Some(opening);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::{CastlingMode, Position as _};

    /// The openings that are announced while a book plays the last move of each line.
    fn announced(named: &mut OpeningNames, lines: &[&str]) -> Vec<String> {
        let said = lines.iter().filter_map(|line| {
            let mut game = Game::start();
            line.split_whitespace().for_each(|mv| assert!(game.push_uci(mv.as_bytes()), "{mv}"));
            let (last, before) = game.moves().split_last().unwrap();
            let mut game = Game::start();
            before.iter().for_each(|mv| game.push(*mv));
            let opening = named.changed(&game, *last)?;
            named.announced(opening);
            Some(opening.to_string())
        });
        said.collect()
    }

    const NAJDORF: &str = "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6";

    /// The first moves of a line.
    fn first(plies: usize) -> String {
        NAJDORF.split_whitespace().take(plies).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_name_is_announced_once() {
        let mut lines: Vec<_> = (1..=10).step_by(2).map(first).collect();
        lines.extend([NAJDORF.to_owned(), format!("{NAJDORF} h2h3 h7h5")]);
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        let mut named = OpeningNames::default();
        let once = announced(&mut named, &lines);
        assert_eq!(once[0], "B00 King's Pawn Game");
        assert_eq!(once.last().unwrap(), "B90 Sicilian Defense: Najdorf Variation, Adams Attack");
        assert!(once.windows(2).all(|two| two[0] != two[1]), "{once:?}");
        // GoRequest again, and after moves without a name.
        assert!(announced(&mut named, &lines[lines.len() - 1..]).is_empty());
        let late = format!("{NAJDORF} h2h3 h7h5 h3h4 h8h6");
        assert!(announced(&mut named, &[&late]).is_empty());
    }

    #[test]
    fn a_new_game_begins_anew_and_moves_taken_back_do_not() {
        let mut named = OpeningNames::default();
        let sicilian = ["B20 Sicilian Defense"];
        assert_eq!(announced(&mut named, &["e2e4 c7c5"]), sicilian);
        assert!(announced(&mut named, &["e2e4 c7c5"]).is_empty());
        named.new_game();
        assert_eq!(announced(&mut named, &["e2e4 c7c5"]), sicilian);
        let longer = format!("{} a7a6", first(3));
        assert_eq!(announced(&mut named, &[&longer]), ["B28 Sicilian Defense: O'Kelly Variation"]);
        // Without the announcement of a new game its first request shows that it is one.
        assert_eq!(announced(&mut named, &["e2e4 c7c5"]), sicilian);
        let deep = format!("{NAJDORF} f2f3 e7e5");
        let once = announced(&mut named, &[NAJDORF, &deep]);
        assert_eq!(once.len(), 1, "{once:?}");
        // Two moves are taken back, and others played; the name is still the same.
        assert!(announced(&mut named, &[&format!("{NAJDORF} a2a3 h7h6")]).is_empty());
    }

    #[test]
    fn positions_without_a_name_announce_nothing() {
        let mut named = OpeningNames::default();
        let fen = b"8/5k2/8/8/8/8/5K2/7R w - - 0 1";
        let game = Game::from_fen(fen, CastlingMode::Standard).unwrap();
        assert_eq!(named.changed(&game, game.position().chess().legal_moves()[0]), None);
        // A game from a named position has its name from the start.
        let mut e4 = Game::start();
        assert!(e4.push_uci(b"e2e4"));
        let game = Game::from_fen(e4.position().fen().as_bytes(), CastlingMode::Standard).unwrap();
        let mv = *game.position().chess().legal_moves().iter().find(|mv| mv.to_string() == "h7-h6").unwrap();
        assert_eq!(named.changed(&game, mv).map(|opening| opening.eco()), Some("B00"));
    }
}
