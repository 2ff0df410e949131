//! Which moves and lines stay.

use std::sync::Arc;

use shakmaty::{Color, Move};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_book::Weights;
use tabiya_chess::Variant;
use tabiya_chess::openings::ChosenOpenings;
use tabiya_workshop::bookmaker::trim::{Cut, Tally, Trim};

use crate::args::positions::game_after;
use crate::args::{opening, share, side, weights};
use crate::output::rows::many;

/// The limits of a book that is written from others.
#[derive(clap::Args, Debug)]
pub(super) struct TrimLimits {
    #[command(flatten)]
    moves: Moves,
    #[command(flatten)]
    lines: Lines,
}

/// What moves need.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Moves")]
struct Moves {
    /// Only moves with at least this many games, where the book counts them
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    min_games: u64,
    /// Only moves with at least this share of their position's weight, in percent
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value_t = 0, hide_default_value = true)]
    min_share: u16,
    /// Only moves of at least this weight
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    min_weight: u64,
    /// Only the N heaviest moves of each position; in a CTG book, moves that colors and marks allow come first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Only this side's moves, prepared for every reply in the book
    ///
    /// The options above then apply only to this side's moves, and lines go on after every move of the other side. A
    /// Polyglot book does not say who is to move, so it is followed from the starting position, as with --reachable.
    #[arg(long, value_name = "SIDE", value_parser = side())]
    only: Option<Color>,
    /// What weights are made of where the books count the games of each move: points or games (how often it was played)
    /// [default: points]
    #[arg(long, value_name = "points|games", value_parser = weights())]
    weights: Option<Weights>,
}

/// Which lines stay. With one of these, only positions that the remaining moves reach from the starting position stay.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Lines, followed from the starting position")]
struct Lines {
    /// Only positions that the remaining moves reach from the starting position
    #[arg(long)]
    reachable: bool,
    /// Only the first N plies of each line, counted on the shortest path to each position; 0 = all [default: 0]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    max_ply: u32,
    /// Only the part of the book after this line, such as "e4 c5"; repeatable
    ///
    /// The moves of the line itself stay, so that the book can still be followed from the starting position.
    #[arg(long, value_name = "MOVES")]
    below: Vec<String>,
    /// Only moves that lead to this opening or stay in it, by name or code ("Najdorf Variation", "C4*"); several with ; between them
    #[arg(long, value_name = "NAME", value_parser = opening)]
    opening: Option<Arc<ChosenOpenings>>,
    /// Remove the last move of this line, such as "e4 f5", and all positions that only it leads to; repeatable
    #[arg(long, value_name = "MOVES")]
    without: Vec<String>,
}

impl TrimLimits {
    /// Of what the weights of the new book are made, if that is given.
    pub fn weights(&self) -> Option<Weights> {
        self.moves.weights
    }

    /// Whether only what moves reach is asked for.
    pub fn reachable(&self) -> bool {
        self.lines.reachable
    }

    /// The first of these options that is given.
    pub fn given(&self) -> Option<&'static str> {
        let (moves, lines) = (&self.moves, &self.lines);
        let options = [
            ("--min-games", moves.min_games > 0),
            ("--min-share", moves.min_share > 0),
            ("--min-weight", moves.min_weight > 0),
            ("--top", moves.top.is_some()),
            ("--only", moves.only.is_some()),
            ("--max-ply", lines.max_ply > 0),
            ("--below", !lines.below.is_empty()),
            ("--opening", lines.opening.is_some()),
            ("--without", !lines.without.is_empty()),
            ("--reachable", lines.reachable),
            ("--weights", moves.weights.is_some()),
        ];
        options.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// The lines of `--without` at these places, which the book does not have, for people.
    pub fn missing<'a>(&'a self, places: &'a [usize]) -> impl Iterator<Item = String> + 'a {
        let lines = places.iter().filter_map(|place| self.lines.without.get(*place));
        lines.map(|line| format!("--without \"{line}\": the book does not have this move"))
    }

    /// What stays; `None` if no move is left out, but for those that no line reaches.
    ///
    /// # Errors
    /// When the moves of a line are not legal.
    pub fn trim(&self, variant: Variant) -> Result<Option<Trim>> {
        if self.given().is_none_or(|option| ["--reachable", "--weights"].contains(&option)) {
            return Ok(None);
        }
        let moves = |option: &str, texts: &[String]| -> Result<Vec<Vec<Move>>> {
            texts.iter().map(|text| Ok(game_after(option, text, variant)?.moves().to_vec())).collect()
        };
        let without = moves("--without", &self.lines.without)?;
        if without.iter().any(Vec::is_empty) {
            let what = "--without: there is no move to remove";
            return Err(Error::new(ErrorKind::Usage, what)
                .advice("write the moves from the starting position, such as \"e4 f5\""));
        }
        Ok(Some(Trim {
            reachable: self.lines.reachable,
            max_ply: Some(self.lines.max_ply).filter(|plies| *plies > 0),
            min_games: self.moves.min_games,
            min_share: self.moves.min_share.into(),
            min_weight: self.moves.min_weight,
            top: self.moves.top.and_then(|top| usize::try_from(top).ok()),
            only: self.moves.only,
            below: moves("--below", &self.lines.below)?,
            openings: self.lines.opening.clone(),
            without,
        }))
    }
}

/// What stays, and what does not, in lines for people.
pub(super) fn lines(tally: &Tally, trim: &Trim) -> Vec<String> {
    let Tally { positions, moves, kept_positions, kept_moves, .. } = *tally;
    let mut lines = vec![format!(
        "kept: {kept_moves} of {}, in {kept_positions} of {}",
        many(moves, "move"),
        many(positions, "position")
    )];
    lines.extend(tally.cut.iter().map(|(why, &count)| {
        let why = match why {
            Cut::Unreached => "in positions that the remaining moves do not reach".to_owned(),
            Cut::Ply => format!(
                "after more than {} (--max-ply)",
                many(trim.max_ply.unwrap_or_default().into(), "ply")
            ),
            Cut::Side => "of the other side (--only)".to_owned(),
            Cut::Without => "named by --without".to_owned(),
            Cut::Below => "outside the lines of --below".to_owned(),
            Cut::Opening => match &trim.openings {
                Some(openings) => format!("that lead elsewhere than to {openings} (--opening)"),
                None => "that lead elsewhere".to_owned(),
            },
            Cut::Weight => format!("that weigh less than {} (--min-weight)", trim.min_weight),
            Cut::Games => format!("with fewer than {} games (--min-games)", trim.min_games),
            Cut::Share => {
                let percent = f64::from(trim.min_share) / 10.0;
                format!("with less than {percent} % of their position's weight (--min-share)")
            }
            Cut::Top => "not among the heaviest (--top)".to_owned(),
            _ => "for another reason".to_owned(),
        };
        format!("left out: {} {why}", many(count, "move"))
    }));
    if tally.uncounted > 0 {
        let moves = many(tally.uncounted, "move");
        lines.push(format!("--min-games does not apply to {moves} whose games the book does not count"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_names_each_reason_with_its_option() {
        let all = [
            Cut::Ply,
            Cut::Side,
            Cut::Without,
            Cut::Below,
            Cut::Opening,
            Cut::Weight,
            Cut::Games,
            Cut::Share,
            Cut::Top,
        ];
        let tally = Tally {
            moves: 10,
            cut: all.into_iter().map(|why| (why, 1)).collect(),
            uncounted: 2,
            ..Tally::default()
        };
        let openings = Some(opening("C4*").unwrap());
        let trim = Trim { max_ply: Some(1), min_games: 5, openings, ..Trim::default() };
        let lines = lines(&tally, &trim);
        assert_eq!(lines[0], "kept: 0 of 10 moves, in 0 of 0 positions");
        assert_eq!(lines[1], "left out: 1 move after more than 1 ply (--max-ply)");
        let options = [
            "max-ply",
            "only",
            "without",
            "below",
            "opening",
            "min-weight",
            "min-games",
            "min-share",
            "top",
            "min-games",
        ];
        for (line, option) in lines.iter().skip(1).zip(options) {
            assert!(line.contains(&format!("--{option}")), "{line}");
        }
    }
}
