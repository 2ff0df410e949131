//! What authors say of moves in glyphs and comments: `!`, `!!`, and weights.

use tabiya_base::bytes::Parts as _;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use memchr::memmem;

use tabiya_book::{Annotation, PositionRecord};
use tabiya_chess::{MoveCode, is_blank};

/// The most moves whose marks are held, about 32 MB for each thread: more than any repertoire has.
const MAX: usize = 1 << 20;

/// Marks of moves, by the position's key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    known: HashMap<(u64, MoveCode), Mark>,
    lost: u64,
    /// Comments with a weight that cannot be read.
    unreadable: u64,
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
        match weight_in(comment) {
            CommentWeight::Weight(weight) => self.note(at, Mark { praise: 0, weight: Some(weight) }),
            CommentWeight::Unreadable => self.unreadable += 1,
            CommentWeight::Nothing => {}
        }
    }

    fn note(&mut self, at: (u64, MoveCode), mark: Mark) {
        let room = self.known.len() < MAX;
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
        self.unreadable += other.unreadable;
        other.known.into_iter().for_each(|(at, mark)| self.note(at, mark));
    }

    /// How many marks there was no room for.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// How many comments have a weight that cannot be read.
    pub fn unreadable(&self) -> u64 {
        self.unreadable
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

/// What a comment says of the weight of its move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommentWeight {
    Nothing,
    Weight(u32),
    /// It names a weight that is no whole number from 0 to 2^32 - 1.
    Unreadable,
}

/// The weight in a comment, in any letter case: `[%prc 60]` or `[%weight 60]`, the word `prc:60`, or `weight 60` at the start
/// of the text, as `export` writes it.
fn weight_in(comment: &[u8]) -> CommentWeight {
    let lower = comment.to_ascii_lowercase();
    if memmem::find(&lower, b"prc").or_else(|| memmem::find(&lower, b"weight")).is_none() {
        return CommentWeight::Nothing;
    }
    let text = String::from_utf8_lossy(&lower);
    for command in ["[%prc", "[%weight"] {
        if let Some((_, after)) = text.split_once(command) {
            let value = after.split(']').next().unwrap_or_default();
            return number(value).map_or(CommentWeight::Unreadable, CommentWeight::Weight);
        }
    }
    // A line may end wherever there is a space.
    let is_word = |at: usize| text.get(..at).is_some_and(|before| !before.ends_with(|c| !is_blank(c)));
    let word = text.match_indices("prc:").find(|(at, _)| is_word(*at));
    let (value, is_certain) = match (word, without_commands(&text).strip_prefix("weight")) {
        (Some((at, word)), _) => (text.part(at + word.len()..), true),
        (None, Some(value)) => (value, false),
        (None, None) => return CommentWeight::Nothing,
    };
    match number(value) {
        Some(weight) => CommentWeight::Weight(weight),
        // Texts may well begin with this word.
        None if is_certain || is_numeric(value) => CommentWeight::Unreadable,
        None => CommentWeight::Nothing,
    }
}

/// A text without the space and the commands such as `[%csl Ge4]` at its start.
fn without_commands(text: &str) -> &str {
    let mut rest = text.trim_start_matches(is_blank);
    while let Some((_, after)) = rest.strip_prefix("[%").and_then(|rest| rest.split_once(']')) {
        rest = after.trim_start_matches(is_blank);
    }
    rest
}

/// The text after the sign that may follow a name.
fn value(text: &str) -> &str {
    text.trim_start_matches(is_blank).trim_start_matches([':', '=']).trim_start_matches(is_blank)
}

fn is_numeric(text: &str) -> bool {
    value(text).trim_start_matches(['-', '+', '.']).starts_with(|c: char| c.is_ascii_digit())
}

/// The whole number at the start of a value.
fn number(text: &str) -> Option<u32> {
    let value = value(text);
    let digits = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let (number, after) = value.split_at_checked(digits)?;
    let is_fraction =
        after.strip_prefix(['.', ',']).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    number.parse().ok().filter(|_| !is_fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_found_in_comments() {
        use CommentWeight::{Nothing, Unreadable, Weight};
        for (comment, said) in [
            ("[%prc 60]", Weight(60)),
            ("the main line [%csl Ge4][%prc  7] and more", Weight(7)),
            ("prc:40", Weight(40)),
            ("good, prc: 5%", Weight(5)),
            ("[%prc 0]", Weight(0)),
            ("weight 7, games 5 +3 =1 -1", Weight(7)),
            ("weight\r\n7", Weight(7)),
            // Lichess writes a space after each brace.
            (" weight 60 ", Weight(60)),
            ("\n\tweight 60", Weight(60)),
            ("\u{a0}weight\u{a0}60", Weight(60)),
            (" prc:60 ", Weight(60)),
            ("\u{a0}prc:60", Weight(60)),
            ("mprc:40 prc:30", Weight(30)),
            (" [%prc 60] ", Weight(60)),
            ("[%prc:60]", Weight(60)),
            ("[%PRC 60]", Weight(60)),
            ("[%weight 60]", Weight(60)),
            ("Weight 60 good move", Weight(60)),
            ("weight: 60.", Weight(60)),
            ("WEIGHT=60%", Weight(60)),
            ("PRC:60", Weight(60)),
            (" [%csl Ge4,Rd5] [%cal Ge2e4] weight 60 ", Weight(60)),
            ("its weight 7", Nothing),
            ("weight x", Nothing),
            ("weighty", Nothing),
            ("mprc:40", Nothing),
            ("60", Nothing),
            ("", Nothing),
            ("[%prc x]", Unreadable),
            ("[%prc]", Unreadable),
            ("[%prc 99999999999]", Unreadable),
            ("[%prc -1]", Unreadable),
            ("[%prc 0.5]", Unreadable),
            ("[%prc", Unreadable),
            ("prc:", Unreadable),
            (" weight 4294967296", Unreadable),
            ("weight -5", Unreadable),
            ("weight 0,5", Unreadable),
        ] {
            assert_eq!(weight_in(comment.as_bytes()), said, "{comment:?}");
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
