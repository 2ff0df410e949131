//! The annotations of a game (`.cba`): items, each for one move, become what PGN can say.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::layout::{NOTE_HEAD_LEN, NOTES_HEAD_LEN, WHOLE_GAME};
use super::start::square;
use super::text::comment;
use crate::base::bytes;
use crate::games::export::Notes;

/// The types of annotations (docs/formats/cbh.md, Annotations).
pub mod kind {
    /// A text after the move.
    pub const TEXT_AFTER: u8 = 0x02;
    /// Up to three glyphs: the move, the position, a prefix.
    pub const SYMBOLS: u8 = 0x03;
    /// Coloured squares.
    pub const SQUARES: u8 = 0x04;
    /// Coloured arrows.
    pub const ARROWS: u8 = 0x05;
    /// The time spent on the move.
    pub const TIME_SPENT: u8 = 0x07;
    /// A training question.
    pub const TRAINING: u8 = 0x09;
    /// White's clock.
    pub const WHITE_CLOCK: u8 = 0x16;
    /// Black's clock.
    pub const BLACK_CLOCK: u8 = 0x17;
    /// A critical position.
    pub const CRITICAL: u8 = 0x18;
    /// Medals.
    pub const MEDALS: u8 = 0x22;
    /// The time control.
    pub const TIME_CONTROL: u8 = 0x24;
    /// A text before the move.
    pub const TEXT_BEFORE: u8 = 0x82;
}

/// Types for which PGN has no words (docs/formats/cbh.md, Annotations).
const WITHOUT_WORDS: [(u8, &str); 9] = [
    (0x10, "sound"),
    (0x11, "picture"),
    (0x13, "game quotation"),
    (0x14, "pawn structure"),
    (0x15, "piece path"),
    (0x19, "correspondence move"),
    (0x20, "video"),
    (0x23, "colour of a variation"),
    (0x61, "correspondence header"),
];

/// The name of a type that PGN has no words for; `None` where the type is not known.
pub fn name(kind: u8) -> Option<&'static str> {
    WITHOUT_WORDS.iter().find(|(known, _)| *known == kind).map(|(_, name)| *name)
}

/// An annotation as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// The move in the order in which moves are stored, from 0; [`WHOLE_GAME`] is the game.
    pub position: u32,
    /// Its type.
    pub kind: u8,
    /// What it says.
    pub data: &'a [u8],
    /// Its offset in bytes from the start of the game's annotations.
    pub at: u64,
}

impl Item<'_> {
    /// The node of a tree that it belongs to.
    pub fn node(&self) -> u32 {
        if self.position == WHOLE_GAME { 0 } else { self.position + 1 }
    }
}

/// The annotations of a game, one after the other.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    data: &'a [u8],
    at: u64,
}

impl<'a> Items<'a> {
    /// Those in the bytes that `.cba` holds for a game.
    pub fn new(data: &'a [u8]) -> Self {
        Self { data, at: NOTES_HEAD_LEN }
    }

    /// The game that they say they are for.
    pub fn game(&self) -> u32 {
        bytes::u32_be(self.data, 0).unwrap_or_default() >> 8
    }
}

impl<'a> Iterator for Items<'a> {
    /// An annotation, or the offset of one that cannot be read, which is the last then.
    type Item = Result<Item<'a>, u64>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at;
        if at >= self.data.len() as u64 {
            return None;
        }
        let read = || {
            let head = bytes::u32_be(self.data, at)?;
            let len = u64::from(bytes::u16_be(self.data, at + 4)?);
            let data = bytes::slice(self.data, at + NOTE_HEAD_LEN, len.checked_sub(NOTE_HEAD_LEN)?)?;
            Some((Item { position: head >> 8, kind: head as u8, data, at }, len))
        };
        let read = read();
        self.at = read.map_or(u64::MAX, |(_, len)| at + len);
        Some(read.map(|(item, _)| item).ok_or(at))
    }
}

/// What the annotations of a game say of it as a whole, and what of them could not be said.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// White's clock at the end.
    pub white_clock: Option<String>,
    /// Black's clock at the end.
    pub black_clock: Option<String>,
    /// The time control, as the PGN tag has it.
    pub time_control: Option<String>,
    /// How many there were of each type that was not written.
    pub left_out: BTreeMap<u8, u64>,
    /// Where the first damage is, in bytes from the start of the annotations, and what it is.
    pub damage: Option<(u64, &'static str)>,
}

impl Facts {
    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn damaged(&mut self, at: u64, what: &'static str) {
        self.damage.get_or_insert((at, what));
    }
}

/// Says what the annotations say, of a game of so many moves.
pub fn read(items: Items<'_>, moves: u32, notes: &mut Notes, facts: &mut Facts) {
    // Commands come before texts, whatever the order of the items.
    for texts in [false, true] {
        for item in items.clone() {
            let item = match item {
                Ok(item) => item,
                Err(at) => {
                    facts.damaged(at, "an annotation is cut off, and those after it are lost");
                    break;
                }
            };
            let is_text = matches!(item.kind, kind::TEXT_AFTER | kind::TEXT_BEFORE);
            if is_text != texts {
                continue;
            }
            if item.node() > moves {
                facts.damaged(item.at, "an annotation is for a move that the game does not have");
            } else if let Err(what) = take(&item, notes, facts) {
                facts.damaged(item.at, what);
            }
        }
    }
}

/// Appends a word after a space.
fn add(text: &mut String, word: &str) {
    if !text.is_empty() && !word.is_empty() {
        text.push(' ');
    }
    text.push_str(word);
}

fn take(item: &Item<'_>, notes: &mut Notes, facts: &mut Facts) -> Result<(), &'static str> {
    let data = item.data;
    let mut command = |word: &str| add(&mut notes.entry(item.node()).after, word);
    match item.kind {
        kind::TEXT_AFTER | kind::TEXT_BEFORE => {
            // Before the text: one byte that means nothing known, and the language.
            let text = comment(data.get(2..).ok_or("a text is cut off")?);
            let remark = notes.entry(item.node());
            let place = if item.kind == kind::TEXT_BEFORE { &mut remark.before } else { &mut remark.after };
            add(place, text.trim());
        }
        kind::SYMBOLS => {
            let glyphs = data.iter().take(3).copied().filter(|&glyph| glyph != 0);
            notes.entry(item.node()).glyphs.extend(glyphs);
        }
        kind::SQUARES => command(&drawn::<2>("csl", data)?),
        kind::ARROWS => command(&drawn::<3>("cal", data)?),
        kind::TIME_SPENT => {
            let &[hours, minutes, seconds, ..] = data else { return Err("a time is cut off") };
            command(&format!("[%emt {hours}:{minutes:02}:{seconds:02}]"));
        }
        kind::WHITE_CLOCK | kind::BLACK_CLOCK => {
            let left = clock(bytes::u32_be(data, 0).ok_or("a clock is cut off")?);
            match (item.node(), item.kind) {
                (0, kind::WHITE_CLOCK) => facts.white_clock = Some(left),
                (0, _) => facts.black_clock = Some(left),
                _ => command(&format!("[%clk {left}]")),
            }
        }
        kind::CRITICAL => command(match data.first() {
            Some(1) => "[%crit opening]",
            Some(2) => "[%crit middlegame]",
            Some(3) => "[%crit endgame]",
            _ => return Err("a critical position is of no kind"),
        }),
        kind::MEDALS => {
            let medals = bytes::u32_be(data, 0).ok_or("the medals are cut off")?;
            command(&format!("[%mdl {medals}]"));
        }
        kind::TRAINING => {
            // What a question consists of is not known: its bytes are kept.
            let mut word = String::from("[%train ");
            for byte in data {
                // Writing into a string cannot fail.
                let _ = write!(word, "{byte:02x}");
            }
            word.push(']');
            command(&word);
        }
        kind::TIME_CONTROL => facts.time_control = time_control(data),
        other => *facts.left_out.entry(other).or_default() += 1,
    }
    Ok(())
}

/// A command that draws: each item is a colour and one square or two, numbered from 1.
fn drawn<const LEN: usize>(name: &str, data: &[u8]) -> Result<String, &'static str> {
    let mut word = format!("[%{name} ");
    for (at, item) in data.chunks(LEN).enumerate() {
        let (color, squares) = item.split_first().ok_or("nothing is drawn")?;
        let color = match color {
            2 => 'G',
            3 => 'Y',
            4 => 'R',
            7 => 'B',
            _ => return Err("a drawing has a colour that is not known"),
        };
        if at > 0 {
            word.push(',');
        }
        word.push(color);
        if squares.len() != LEN - 1 {
            return Err("a drawing is cut off");
        }
        for &number in squares {
            let number = number.checked_sub(1).filter(|&number| number < 64);
            let _ = write!(word, "{}", square(number.ok_or("a drawing is off the board")?));
        }
    }
    word.push(']');
    Ok(word)
}

/// Hundredths of a second as `0:04:59`.
fn clock(hundredths: u32) -> String {
    let seconds = hundredths / 100;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// The moves that mean the rest of the game (docs/formats/cbh.md, Annotations).
const REST: u16 = 1000;

/// The stages of a time control as the PGN tag has them: `40/5400+30:1800+30`.
fn time_control(data: &[u8]) -> Option<String> {
    let mut text = String::new();
    for stage in data.chunks_exact(11) {
        let (start, increment) = (bytes::u32_be(stage, 0)? / 100, bytes::u32_be(stage, 4)? / 100);
        let moves = bytes::u16_be(stage, 8)?;
        if (start, increment) == (0, 0) {
            continue;
        }
        if !text.is_empty() {
            text.push(':');
        }
        if (1..REST).contains(&moves) {
            let _ = write!(text, "{moves}/");
        }
        let _ = write!(text, "{start}");
        if increment > 0 {
            let _ = write!(text, "+{increment}");
        }
    }
    (!text.is_empty()).then_some(text)
}
