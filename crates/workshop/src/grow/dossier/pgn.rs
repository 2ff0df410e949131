//! A dossier as games of PGN, with comments that any viewer shows: first what he plays, then each error in a game of its own.

use std::io::{self, Write};

use shakmaty::{Color, Position as _};

use tabiya_chess::value::{in_words, is_mate};
use tabiya_chess::{MoveCode, Position};
use tabiya_games::export::{MoveTree, Notes, PgnHead, PgnWriter, Remark, San};

use super::super::book::Grown;
use super::super::play::Play;
use super::{Dossier, DossierLine, FEW, Look};
use crate::expected::ExpectedMove;
use crate::gaps::in_words as in_games;
use crate::view::san;

/// Plies of the repertoire that is shown.
const PLIES: usize = 16;

/// Moves of ours that are shown in a position.
const OURS: usize = 3;

/// His games that make a move one of his repertoire.
const LEAST_GAMES: u64 = 2;

/// The least share of a move of his that is shown.
const LEAST_SHARE: f64 = 0.02;

/// What errors are marked with, by what they cost in winning chances: as on Lichess.
const GLYPHS: [(f64, u8); 3] = [(0.15, 4), (0.10, 2), (0.05, 6)];

/// Who plays: the names of the games of a dossier.
#[derive(Clone, Copy, Debug)]
pub struct Opponent<'a> {
    /// The opponent.
    pub name: &'a str,
    /// Whoever plays the book.
    pub book: &'a str,
}

impl Dossier {
    /// Writes it: a game with what he plays, and a game for each error.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_pgn(
        &self,
        grown: &Grown<'_>,
        play: &Play<'_>,
        opponent: Opponent<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut writer = PgnWriter::default();
        let event = format!("Preparation against {}", opponent.name);
        let (white, black) = match self.side {
            Color::White => (opponent.book, opponent.name),
            Color::Black => (opponent.name, opponent.book),
        };
        let head = PgnHead { event: &event, white, black, variant: self.variant, ..PgnHead::default() };
        writer.head(&PgnHead { round: "0", ..head });
        let mut repertoire =
            Repertoire { look: Look { grown, play }, tree: MoveTree::default(), notes: Notes::new() };
        repertoire.tree.first = Position::start_of(self.variant).chess().turn();
        repertoire.add(0, PLIES, &mut Vec::new());
        let Repertoire { tree, mut notes, .. } = repertoire;
        notes.entry(0).or_default().after = self.summary(opponent.name);
        writer.moves(&tree, &notes, "*");
        for (number, line) in (1..).zip(&self.lines) {
            let round = u32::to_string(&number);
            writer.head(&PgnHead { round: &round, ..head });
            let (tree, notes) = self.line(line);
            writer.moves(&tree, &notes, "*");
            out.write_all(writer.text())?;
            writer.clear();
        }
        out.write_all(writer.text())
    }

    /// What is known of him, in words.
    fn summary(&self, name: &str) -> String {
        let color = if self.side.is_white() { "Black" } else { "White" };
        let games = match self.games {
            Some(1) => format!("1 game of {name} with {color}."),
            Some(games) => format!("{games} games of {name} with {color}."),
            None => format!("What {name} plays with {color} is not counted in games."),
        };
        let been = self.been.iter().enumerate();
        let been = been.map(|(place, been)| format!("{} before move {}", percent(*been), place + 1));
        let been: Vec<_> = been.collect();
        let been = match been.split_last() {
            Some((last, [])) => format!(" Positions that these games know: {last}."),
            Some((last, first)) => {
                format!(" Positions that these games know: {} and {last}.", first.join(", "))
            }
            None => String::new(),
        };
        let few = match self.few {
            few if few >= 0.005 => {
                format!(" Of what is expected there, {} rests on fewer than {FEW} games.", percent(few))
            }
            _ => String::new(),
        };
        let (all, lines) = (self.lines.iter().map(|line| line.chance).sum::<f64>(), self.lines.len());
        let errors = match lines {
            0 => " No error was found.".to_owned(),
            1 => format!(" One error follows; {} have it.", percent(all)),
            _ => format!(" {lines} errors follow; a game has {all:.1} of them."),
        };
        format!("{games}{been}{few}{errors}")
    }

    /// A line as a game.
    fn line(&self, line: &DossierLine) -> (MoveTree, Notes) {
        let (mut tree, mut notes) = (MoveTree::default(), Notes::new());
        let start = Position::start_of(self.variant);
        tree.first = start.chess().turn();
        for (place, (at, mv)) in start.replay(line.moves.iter().copied()).enumerate() {
            tree.add(San::new(san(&at, mv).as_bytes()));
            let remark = match place {
                place if place == line.error => {
                    Remark { glyphs: glyph(line), after: error(line, &at), ..Remark::default() }
                }
                place if place == line.error + 1 => {
                    Remark { after: in_words(line.value), ..Remark::default() }
                }
                _ => continue,
            };
            notes.insert(tree.count(), remark);
        }
        let lost = percent(line.chances_lost);
        let whole = format!("{}, and {lost} of the winning chances are lost", in_games(line.chance));
        notes.insert(0, Remark { after: whole, ..Remark::default() });
        (tree, notes)
    }
}

/// What is said of an error.
fn error(line: &DossierLine, at: &Position) -> String {
    let loss = f64::from(line.loss) / 100.0;
    let better = line.better.and_then(|mv| Some(format!("; {} is better", san(at, mv.resolve(at.chess())?))));
    let played = match line.games {
        Some((played, games)) => format!("played in {played} of {games} games"),
        None => "not played yet".to_owned(),
    };
    let loss = if is_mate(line.value) { "loses the game".to_owned() } else { format!("loses {loss:.2}") };
    format!("{played}, {loss}{}", better.unwrap_or_default())
}

fn glyph(line: &DossierLine) -> Vec<u8> {
    GLYPHS.iter().find(|(lost, _)| line.chances_lost >= *lost).map(|(_, glyph)| *glyph).into_iter().collect()
}

/// A share in whole percent.
fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// What he plays, as a tree.
struct Repertoire<'a> {
    look: Look<'a>,
    tree: MoveTree,
    notes: Notes,
}

impl Repertoire<'_> {
    /// Adds what is played in a position, and after that; `seen` has the positions that stand somewhere before.
    fn add(&mut self, number: u32, plies: usize, seen: &mut Vec<u32>) {
        let Some(at) = self.look.at(number).filter(|_| plies > 0 && !seen.contains(&number)) else { return };
        seen.push(number);
        let ours = at.chess().turn() == self.look.play.side();
        let moves = if ours { self.ours(number) } else { self.theirs(&at) };
        let count = moves.len();
        for (place, (mv, note)) in moves.into_iter().enumerate() {
            let Some(legal) = mv.resolve(at.chess()) else { continue };
            let is_last = place + 1 == count;
            if !is_last {
                self.tree.push();
            }
            self.tree.add(San::new(san(&at, legal).as_bytes()));
            if !note.is_empty() {
                self.notes.insert(self.tree.count(), Remark { after: note, ..Remark::default() });
            }
            if let Some(to) = self.look.after(number, mv) {
                self.add(to, plies - 1, seen);
            }
            if !is_last {
                self.tree.pop();
            }
        }
    }

    /// Our moves with what they are worth.
    fn ours(&self, number: u32) -> Vec<(MoveCode, String)> {
        let mut choices = Vec::new();
        self.look.play.choose(number, &mut choices);
        choices.sort_by_key(|choice| std::cmp::Reverse(choice.weight));
        choices.truncate(OURS);
        choices.into_iter().map(|choice| (choice.mv, in_words(choice.value))).collect()
    }

    /// His moves with their shares.
    fn theirs(&self, at: &Position) -> Vec<(MoveCode, String)> {
        let mut out = Vec::new();
        let Some(games) = self.look.his(at, &mut out) else { return Vec::new() };
        let is_shown = |known: &&ExpectedMove| {
            known.chance >= LEAST_SHARE && known.games.is_none_or(|games| games >= LEAST_GAMES)
        };
        let note = |known: &ExpectedMove| match (known.games, games) {
            (Some(played), Some(games)) => format!("{played} of {games} games"),
            _ => percent(known.chance),
        };
        out.iter().filter(is_shown).map(|known| (MoveCode::from_move(known.mv), note(known))).collect()
    }
}
