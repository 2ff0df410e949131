//! The annotations of a game (`.cba`): each item belongs to one move, and becomes what PGN can express.
#![allow(clippy::cast_possible_truncation, reason = "the low byte is wanted")]

use std::collections::BTreeMap;

use tabiya_base::bytes;

use super::layout::{NOTES_HEAD_LEN, note, stage};
use super::start::square;
use super::text::comment;
use crate::export::Notes;

/// The name of a type that PGN cannot express; `None` if the type is unknown.
pub fn name(kind: u8) -> Option<&'static str> {
    note::WITHOUT_PGN.iter().find(|(known, _)| *known == kind).map(|(_, name)| *name)
}

/// An annotation as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CbhAnnotation<'a> {
    /// The move, counted from 0 in the order in which moves are stored; [`note::WHOLE_GAME`] is the game as a whole.
    pub position: u32,
    /// Its type.
    pub kind: u8,
    /// Its content.
    pub data: &'a [u8],
    /// Its offset in bytes from the start of the game's annotations.
    pub at: u64,
}

impl CbhAnnotation<'_> {
    /// The node of a tree that it belongs to.
    pub(crate) fn node(&self) -> u32 {
        if self.position == note::WHOLE_GAME { 0 } else { self.position + 1 }
    }
}

/// The annotations of a game, one after the other.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    data: &'a [u8],
    at: u64,
}

impl<'a> Items<'a> {
    /// The annotations in the bytes that `.cba` holds for a game.
    pub fn new(data: &'a [u8]) -> Self {
        Self { data, at: NOTES_HEAD_LEN }
    }

    /// The number of the game that they belong to.
    pub fn game(&self) -> u32 {
        bytes::u32_be(self.data, 0).unwrap_or_default() >> 8
    }
}

impl<'a> Iterator for Items<'a> {
    /// An annotation, or the offset of one that cannot be read, which ends the sequence.
    type Item = Result<CbhAnnotation<'a>, u64>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at;
        if at >= self.data.len() as u64 {
            return None;
        }
        let read = || {
            let head = bytes::u32_be(self.data, at + note::POSITION_AND_TYPE)?;
            let len = u64::from(bytes::u16_be(self.data, at + note::SIZE)?);
            let data = bytes::slice(self.data, at + note::HEAD_LEN, len.checked_sub(note::HEAD_LEN)?)?;
            Some((CbhAnnotation { position: head >> 8, kind: head as u8, data, at }, len))
        };
        let read = read();
        self.at = read.map_or(u64::MAX, |(_, len)| at + len);
        Some(read.map(|(item, _)| item).ok_or(at))
    }
}

/// What the annotations of a game say about the game as a whole, and what became of the others.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// White's clock at the end; empty if unknown.
    pub white_clock: String,
    /// Black's clock at the end; empty if unknown.
    pub black_clock: String,
    /// The time control as the PGN tag has it; empty if unknown.
    pub time_control: String,
    /// How many annotations were left out, by type.
    pub left_out: BTreeMap<u8, u64>,
    /// Where the first error is, in bytes from the start of the annotations, and what it is.
    pub error: Option<(u64, &'static str)>,
}

impl Facts {
    /// Removes everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn fail(&mut self, at: u64, what: &'static str) {
        self.error.get_or_insert((at, what));
    }
}

/// Adds the annotations of a game of so many moves to `notes` and `facts`.
pub fn read(items: Items<'_>, moves: u32, notes: &mut Notes, facts: &mut Facts) {
    // Commands come before texts, whatever the order of the items.
    for texts in [false, true] {
        for item in items.clone() {
            let item = match item {
                Ok(item) => item,
                Err(at) => {
                    facts.fail(at, "an annotation is cut off, and those after it are lost");
                    break;
                }
            };
            let is_text = matches!(item.kind, note::TEXT_AFTER | note::TEXT_BEFORE);
            if is_text != texts {
                continue;
            }
            if item.node() > moves {
                facts.fail(item.at, "an annotation is for a move that the game does not have");
            } else if let Err(what) = take(&item, notes, facts) {
                facts.fail(item.at, what);
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

fn take(item: &CbhAnnotation<'_>, notes: &mut Notes, facts: &mut Facts) -> Result<(), &'static str> {
    let data = item.data;
    let mut command = |word: &str| add(&mut notes.entry(item.node()).or_default().after, word);
    match item.kind {
        note::TEXT_AFTER | note::TEXT_BEFORE => {
            let text = comment(data.get(note::TEXT..).ok_or("a text is cut off")?);
            let remark = notes.entry(item.node()).or_default();
            let place = if item.kind == note::TEXT_BEFORE { &mut remark.before } else { &mut remark.after };
            add(place, text.trim());
        }
        note::SYMBOLS => {
            let glyphs = data.iter().take(3).copied().filter(|&glyph| glyph != 0);
            notes.entry(item.node()).or_default().glyphs.extend(glyphs);
        }
        note::SQUARES => command(&drawn::<2>("csl", data)?),
        note::ARROWS => command(&drawn::<3>("cal", data)?),
        note::TIME_SPENT => {
            let &[hours, minutes, seconds, ..] = data else { return Err("a time is cut off") };
            command(&format!("[%emt {hours}:{minutes:02}:{seconds:02}]"));
        }
        note::WHITE_CLOCK | note::BLACK_CLOCK => {
            let left = clock(bytes::u32_be(data, 0).ok_or("a clock is cut off")?);
            match (item.node(), item.kind) {
                (0, note::WHITE_CLOCK) => facts.white_clock = left,
                (0, _) => facts.black_clock = left,
                _ => command(&format!("[%clk {left}]")),
            }
        }
        note::CRITICAL => command(match data.first() {
            Some(1) => "[%crit opening]",
            Some(2) => "[%crit middlegame]",
            Some(3) => "[%crit endgame]",
            _ => return Err("a critical position has an unknown kind"),
        }),
        note::MEDALS => {
            let medals = bytes::u32_be(data, 0).ok_or("the medals are cut off")?;
            command(&format!("[%mdl {medals}]"));
        }
        note::TRAINING => {
            // The structure of a question is unknown, so its bytes are kept.
            command(&format!("[%train {}]", bytes::hex(data)));
        }
        note::TIME_CONTROL => facts.time_control = time_control(data),
        other => *facts.left_out.entry(other).or_default() += 1,
    }
    Ok(())
}

/// A command that draws: each item is a colour and one or two squares, numbered from 1.
fn drawn<const LEN: usize>(name: &str, data: &[u8]) -> Result<String, &'static str> {
    let mut word = format!("[%{name} ");
    for (at, item) in data.chunks(LEN).enumerate() {
        let (color, squares) = item.split_first().ok_or("nothing is drawn")?;
        let color = match color {
            2 => 'G',
            3 => 'Y',
            4 => 'R',
            7 => 'B',
            _ => return Err("a drawing has an unknown color"),
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
            word += &square(number.ok_or("a drawing is off the board")?).to_string();
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

/// The stages of a time control as the PGN tag has them: `40/5400+30:1800+30`.
fn time_control(data: &[u8]) -> String {
    let mut stages = Vec::new();
    for data in data.chunks_exact(stage::LEN) {
        let seconds = |at| bytes::u32_be(data, at).unwrap_or_default() / 100;
        let (time, increment) = (seconds(stage::TIME), seconds(stage::INCREMENT));
        let moves = bytes::u16_be(data, stage::MOVES).unwrap_or_default();
        if (time, increment) == (0, 0) {
            continue;
        }
        let moves = if (1..stage::REST).contains(&moves) { format!("{moves}/") } else { String::new() };
        let increment = if increment > 0 { format!("+{increment}") } else { String::new() };
        stages.push(format!("{moves}{time}{increment}"));
    }
    stages.join(":")
}
