//! What authors say of moves in glyphs and comments: `!`, `!!`, and weights.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use memchr::memmem;

use crate::book::{Annotation, PositionRecord};
use crate::chess::MoveCode;

/// The most moves whose marks are held, about 32 MB for each thread: more than any repertoire has.
const MOST: usize = 1 << 20;

/// Marks of moves, by the position's key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    known: HashMap<(u64, MoveCode), Mark>,
    /// Marks beyond [`MOST`].
    lost: u64,
}

/// What is said of a move. Of several, the greatest counts, so that the order of the games does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Mark {
    /// The glyph of `!` or `!!`, the greater number; 0 for neither.
    praise: u8,
    /// The weight, if there is one.
    weight: Option<u32>,
}

impl Mark {
    fn or(self, other: Self) -> Self {
        Self { praise: self.praise.max(other.praise), weight: self.weight.max(other.weight) }
    }
}

impl Marks {
    /// Notes a glyph of a move, by its number in the PGN standard, if it is praise.
    pub fn glyph(&mut self, at: (u64, MoveCode), glyph: u8) {
        if let Some(Annotation::Good | Annotation::Brilliant) = Annotation::of_nag(glyph) {
            self.note(at, Mark { praise: glyph, weight: None });
        }
    }

    /// Notes the weight of a move, if the comment after it names one.
    pub fn comment(&mut self, at: (u64, MoveCode), comment: &[u8]) {
        if let weight @ Some(_) = weight_in(comment) {
            self.note(at, Mark { praise: 0, weight });
        }
    }

    fn note(&mut self, at: (u64, MoveCode), mark: Mark) {
        let room = self.known.len() < MOST;
        match self.known.entry(at) {
            Entry::Occupied(mut known) => {
                let both = known.get().or(mark);
                known.insert(both);
            }
            Entry::Vacant(place) if room => {
                place.insert(mark);
            }
            Entry::Vacant(_) => self.lost += 1,
        }
    }

    /// Takes in the marks of other games.
    pub fn merge(&mut self, other: Self) {
        self.lost += other.lost;
        other.known.into_iter().for_each(|(at, mark)| self.note(at, mark));
    }

    /// How many marks there was no room for.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Writes the marks of a position's moves into its record; with `weighs` also their weights.
    pub fn apply(&self, record: &mut PositionRecord, weighs: bool) {
        if self.known.is_empty() {
            return;
        }
        for facts in &mut record.moves {
            let Some(mark) = self.known.get(&(record.key, facts.mv)) else { continue };
            facts.annotation = Annotation::of_nag(mark.praise).or(facts.annotation);
            if let (true, Some(weight)) = (weighs, mark.weight) {
                facts.weight = weight.into();
            }
        }
    }
}

/// The weight in a comment: `[%prc 60]`, the word `prc:60`, or `weight 60` at its start, as `dump` writes it.
fn weight_in(comment: &[u8]) -> Option<u32> {
    let is_word = |at: usize| {
        at.checked_sub(1).and_then(|before| comment.get(before)).is_none_or(u8::is_ascii_whitespace)
    };
    let after = |start: &str, may_be_at: &dyn Fn(usize) -> bool| {
        let at = memmem::find(comment, start.as_bytes()).filter(|&at| may_be_at(at))?;
        let text = comment.get(at + start.len()..)?.trim_ascii_start();
        let digits = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
        str::from_utf8(text.get(..digits)?).ok()?.parse().ok()
    };
    // A line may end wherever there is a space.
    after("[%prc", &|_| true).or_else(|| after("prc:", &is_word)).or_else(|| after("weight", &|at| at == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_found_in_comments() {
        for (comment, weight) in [
            ("[%prc 60]", Some(60)),
            ("the main line [%csl Ge4][%prc  7] and more", Some(7)),
            ("prc:40", Some(40)),
            ("good, prc: 5%", Some(5)),
            ("[%prc 0]", Some(0)),
            ("weight 7, games 5 +3 =1 -1", Some(7)),
            ("weight\r\n7", Some(7)),
            ("its weight 7", None),
            ("weight x", None),
            ("[%prc x]", None),
            ("[%prc 99999999999]", None),
            ("mprc:40", None),
            ("[%prc", None),
            ("60", None),
            ("", None),
        ] {
            assert_eq!(weight_in(comment.as_bytes()), weight, "{comment}");
        }
    }

    #[test]
    fn the_greatest_mark_counts_whatever_the_order() {
        let at = (1, MoveCode(2));
        let (mut one, mut other) = (Marks::default(), Marks::default());
        one.glyph(at, 1);
        one.comment(at, b"[%prc 3]");
        other.glyph(at, 3);
        other.glyph(at, 2);
        other.comment(at, b"[%prc 5]");
        for (mut first, second) in [(one.clone(), other.clone()), (other, one)] {
            first.merge(second);
            assert_eq!(first.known, HashMap::from([(at, Mark { praise: 3, weight: Some(5) })]));
        }
    }
}
