//! What games tell of the moves of a position, as a book among the books of the page.

use serde_json::{Value, json};
use shakmaty::Position as _;

use tabiya_book::Among;
use tabiya_chess::openings::Opening;
use tabiya_chess::{RatingBand, Speed, Variant};
use tabiya_workshop::view::san;

use super::super::place::ShownPlace;
use super::super::results::extend;
use super::{GamesOfPosition, Wanted};

/// Speeds, and the lowest ratings of bands, that games have.
#[derive(Default)]
pub(super) struct ToldApart {
    speeds: Vec<&'static str>,
    ratings: Vec<u16>,
}

impl ToldApart {
    /// Those of all games of an index.
    pub(super) fn new(index: &super::GamesIndex) -> Self {
        let (mut speeds, mut ratings) = ([false; Speed::NAMES.len()], Vec::new());
        for game in index.all() {
            let known =
                Speed::NAMES.iter().zip(&mut speeds).find(|((_, speed), _)| game.speed == Some(*speed));
            if let Some((_, is)) = known {
                *is = true;
            }
            let band = game.facts.band();
            if let Some(band) = band.filter(|band| !ratings.contains(band)) {
                ratings.push(band);
            }
        }
        let named = Speed::NAMES.iter().zip(speeds);
        let bands = RatingBand::all().filter(|band| ratings.contains(band));
        Self {
            speeds: named.filter_map(|((name, _), is)| is.then_some(*name)).collect(),
            ratings: bands.map(RatingBand::lowest).collect(),
        }
    }

    /// Leaves out speeds, or ratings, where no game has any.
    pub(super) fn drop_untold(&self, among: &mut Among) {
        if self.speeds.is_empty() {
            among.speeds.clear();
        }
        if self.ratings.is_empty() {
            among.ratings.clear();
        }
    }
}

impl GamesOfPosition {
    /// What `/api/books` says of them.
    pub(in super::super) fn describe(&self, id: usize) -> Value {
        let paths = self.paths.iter().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
        let paths: Vec<String> = paths.map(|path| path.display().to_string()).collect();
        let mut said = json!({
            "id": id,
            "name": self.name(),
            "path": paths.join("\n"),
            "format": null,
            "edit": null,
            "evals": false,
            "growth": null,
            "speeds": self.told.speeds,
            "ratings": self.told.ratings,
            "warnings": [],
            "error": null,
            "games": true,
        });
        if let Some(said) = said.as_object_mut().filter(|_| self.variant != Variant::Chess) {
            said.insert("variant".to_owned(), json!(self.variant.uci()));
        }
        said
    }

    /// The name of the file, or of what is in several.
    fn name(&self) -> String {
        match &self.paths[..] {
            [path] => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            paths => format!("games of {} files", paths.len()),
        }
    }

    /// What those that are wanted tell of a position, for the page.
    pub(in super::super) fn book(&self, id: usize, place: &ShownPlace, wanted: &Wanted) -> Value {
        let at = place.game.position();
        let played = wanted.played_in(&self.at(at));
        let games: u64 = played.iter().map(|played| u64::from(played.tally.games)).sum();
        let mut moves = Vec::new();
        for (played, known) in played.iter().filter_map(|played| Some((played, played.facts(at)?))) {
            let mut said = json!({
                "uci": place.uci(known.mv),
                "san": san(at, known.mv),
                "weight": known.weight,
                "playable": false,
                "games": played.tally.games,
                "draws": known.counts.map(|counts| counts.draws),
                "annotation": null,
                "recommended": null,
                "learn": null,
                "chance": 0.0,
                "why": null,
                "eval": null,
                "loss": null,
                "last": Some(played.tally.last.year).filter(|year| *year > 0),
                "opening": Opening::at(&at.after(known.mv)),
            });
            if let Some(said) = said.as_object_mut() {
                extend(said, &known, at.chess().turn());
            }
            moves.push(said);
        }
        json!({
            "id": id,
            "name": self.name(),
            "found": !moves.is_empty(),
            "games": games,
            "here": null,
            "elsewhere": null,
            "reserve": null,
            "growth": null,
            "comment": null,
            "game": null,
            "rule": null,
            "moves": moves,
        })
    }
}
