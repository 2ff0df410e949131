//! One line of JSON for a difference. Other programs rely on its keys and their order.

use std::io::{self, Write};

use serde::{Serialize, Serializer};

use tabiya_book::Field;
use tabiya_chess::MoveCode;
use tabiya_workshop::bookmaker::diff::{Difference, Facts, What, Which};
use tabiya_workshop::view;

use super::Place;
use crate::output::rows;

#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    only_in: Option<&'static str>,
    key: String,
    fen: Option<String>,
    line: Option<&'a str>,
    #[serde(flatten)]
    of: Of<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Of<'a> {
    Position { moves: Vec<Known<'a>> },
    Move { uci: String, san: Option<String>, a: Option<Said<'a>>, b: Option<Said<'a>> },
    Fields { a: Fields<'a>, b: Fields<'a> },
}

/// What only one format says of a position, by the names that it has there.
struct Fields<'a>(&'a [Field]);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|field| (field.key, field.value)))
    }
}

/// A move of a position that only one book has.
#[derive(Serialize)]
struct Known<'a> {
    uci: String,
    san: Option<String>,
    #[serde(flatten)]
    said: Said<'a>,
}

/// What a book says of a move.
#[derive(Serialize)]
struct Said<'a> {
    weight: u64,
    #[serde(flatten)]
    facts: view::Facts<'a, MoveCode>,
}

impl<'a> Said<'a> {
    fn from_facts(facts: &'a Facts) -> Self {
        Self { weight: facts.weight, facts: view::Facts(facts) }
    }
}

pub fn line(difference: &Difference<'_>, place: &Place, out: &mut dyn Write) -> io::Result<()> {
    let name = |which| if which == Which::A { "a" } else { "b" };
    let of_move = |facts: &Facts, a, b| Of::Move { uci: place.uci(facts), san: place.san(facts), a, b };
    let known = |facts| Known { uci: place.uci(facts), san: place.san(facts), said: Said::from_facts(facts) };
    let (kind, only_in, of) = match &difference.what {
        What::Position(which, moves) => {
            ("position", Some(name(*which)), Of::Position { moves: moves.iter().map(known).collect() })
        }
        What::Move(Which::A, facts) => {
            ("move", Some("a"), of_move(facts, Some(Said::from_facts(facts)), None))
        }
        What::Move(Which::B, facts) => {
            ("move", Some("b"), of_move(facts, None, Some(Said::from_facts(facts))))
        }
        What::Changed(changed) => (
            "changed",
            None,
            of_move(&changed.a, Some(Said::from_facts(&changed.a)), Some(Said::from_facts(&changed.b))),
        ),
        What::Fields([a, b]) => ("flags", None, Of::Fields { a: Fields(a), b: Fields(b) }),
    };
    let line = Line {
        kind,
        only_in,
        key: format!("{:016x}", difference.key),
        fen: place.position.as_ref().map(|at| at.fen()),
        line: place.line.as_deref(),
        of,
    };
    rows::json(&line, out)
}
