#![doc = include_str!("../README.md")]
//!
//! Inside: games from files are a stream of batches, each of which any thread can play through.
//!
//! One thread reads [`Sources`] and only cuts the files into [`Batch`]es. Any thread decodes a batch and hands its games,
//! move by move, to a [`Visitor`]. A game that cannot be read is never fatal: the visitor receives the place and the
//! reason, and the next game follows.
#![warn(missing_docs, missing_debug_implementations)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "tests know their numbers"))]

#[doc(hidden)]
pub mod cbh;
#[doc(hidden)]
pub mod cbv;
#[cfg(feature = "archives")]
#[doc(hidden)]
pub mod compress;
#[doc(hidden)]
pub mod database;
#[doc(hidden)]
pub mod databases;
mod decompress;
mod error;
#[doc(hidden)]
pub mod export;
mod games;
mod header;
mod open;
#[doc(hidden)]
pub mod pgn;
mod pipe;
#[doc(hidden)]
pub mod play;
mod player;
#[doc(hidden)]
pub mod scid;
mod stamp;
#[doc(hidden)]
pub mod text;
mod zip;

use std::ops::ControlFlow;

use shakmaty::{Color, Move};

pub use error::{GameError, Reason};
pub use games::{Game, Games, open, open_all};
pub use header::{Date, GameHeader, GameLocation, LineOrGame};
pub use tabiya_chess::{Position, Variant};

// What the other crates of tabiya need: no promise.
#[doc(hidden)]
pub use header::is_known_round;
#[doc(hidden)]
pub use open::{Sources, is_named, open as open_files, open_text, open_text_of};
#[doc(hidden)]
pub use player::{OtherPlayers, PlayerName};
#[doc(hidden)]
pub use stamp::Stamp;
#[doc(hidden)]
pub use tabiya_base::encoding::decode_text;
#[doc(hidden)]
pub use zip::is_zip;

tabiya_base::public_error!();

use tabiya_chess::{MoveCode, is_blank};

/// Some games of one file, not yet decoded.
#[doc(hidden)]
pub trait Batch: Send {
    /// Plays through the games in their order, and returns how many they are.
    fn play(self: Box<Self>, visitor: &mut dyn Visitor) -> u64;
}

/// Receives games: for each game [`begin`](Visitor::begin), then each [`ply`](Visitor::ply), then
/// [`end`](Visitor::end); or only [`unreadable`](Visitor::unreadable) if its head cannot be read.
#[doc(hidden)]
pub trait Visitor {
    /// Tags that the header is to hold as the source has them, besides those that it always holds. They do not change.
    fn wanted_tags(&self) -> &[String] {
        &[]
    }

    /// Whether the header is to hold every tag, as the source has it and in its order, if the source is a text.
    fn wants_all_tags(&self) -> bool {
        false
    }

    /// A game begins. If this returns `false`, its moves are not wanted, and nothing more of it follows.
    fn begin(&mut self, game: &GameHeader) -> bool;

    /// A legal move of the main line, or of the last variation that [began](Visitor::begin_variation) and did not end;
    /// and the position before it.
    ///
    /// Breaking off means that no more moves of this game are wanted: [`end`](Visitor::end) follows. So does a visitor that
    /// does not define this.
    fn ply(&mut self, _at: &Position, _mv: Move) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    /// The moves of the game are over.
    fn end(&mut self, end: GameEnd);

    /// A game that could not be read at all.
    fn unreadable(&mut self, error: GameError);

    /// A side passes. Returns whether its line goes on after that, with the other side to move; otherwise the line ends before,
    /// as at an illegal move. Only sources that are texts ask.
    fn pass(&mut self) -> bool {
        false
    }

    /// Whether variations are wanted, if the source has any.
    fn wants_variations(&self) -> bool {
        false
    }

    /// A variation begins: its first move replaces the last one.
    fn begin_variation(&mut self) {}

    /// The variation ends: the line around it continues.
    fn end_variation(&mut self) {}

    /// Whether glyphs and comments are wanted, if the source has any.
    fn wants_remarks(&self) -> bool {
        false
    }

    /// The last move has this glyph, by its number in the PGN standard (a *NAG*).
    fn glyph(&mut self, _number: u8) {}

    /// A comment after the last move, or before the first.
    fn comment(&mut self, _text: &[u8]) {}

    /// The comment after the last move says that it only leads on, and is not in the book that the game is of, as the lines of a
    /// book do that tabiya writes. It comes before [`comment`](Visitor::comment), whether or not comments are wanted.
    #[doc(hidden)]
    fn unlisted(&mut self) {}

    /// How many plies of each main line are wanted, if the keys of the positions are enough. Unless the visitor wants
    /// variations or remarks too, [`keyed_line`](Visitor::keyed_line) is then called once for each game, and
    /// [`ply`](Visitor::ply) never.
    #[doc(hidden)]
    fn keyed_plies(&self) -> Option<usize> {
        None
    }

    /// The place of a move of [`keyed_line`](Visitor::keyed_line), which follows, that is [unlisted](Visitor::unlisted).
    #[doc(hidden)]
    fn keyed_unlisted(&mut self, _place: usize) {}

    /// The main line, as far as it is wanted and can be read; [`end`](Visitor::end) follows.
    #[doc(hidden)]
    fn keyed_line(&mut self, _plies: &[KeyedPly]) {}

    /// The key of the position after the moves that [`keyed_line`](Visitor::keyed_line) is then called with.
    #[doc(hidden)]
    fn keyed_last(&mut self, _key: u64) {}

    /// Whether the visitor can take no more games.
    #[doc(hidden)]
    fn has_failed(&self) -> bool {
        false
    }
}

/// A move with the key of the position before it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyedPly {
    /// The Polyglot key.
    pub key: u64,
    /// The side to move.
    pub side: Color,
    /// The legal move, in the code of Polyglot books.
    pub mv: MoveCode,
}

/// How the moves of a game ended.
#[doc(hidden)]
#[derive(Debug)]
pub struct GameEnd {
    /// The result of the header or after the moves, if either has one.
    pub result: Option<GameResult>,
    /// What cut the game short. The visitor received the moves before it; those after it are lost.
    pub error: Option<GameError>,
    /// What cut a variation short, of the first such variation. Only moves of variations are lost.
    pub cut: Option<GameError>,
}

/// The result of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// White won.
    White,
    /// Black won.
    Black,
    /// Neither side won.
    Draw,
}

impl GameResult {
    /// The result in a PGN tag or after the moves, with or without space; `None` for `*`, for `0-0` (both lost), and for
    /// anything else.
    ///
    /// ```
    /// use tabiya_games::GameResult;
    /// assert_eq!(GameResult::from_pgn(b"1/2-1/2"), Some(GameResult::Draw));
    /// assert_eq!(GameResult::from_pgn("½-½".as_bytes()), Some(GameResult::Draw));
    /// assert_eq!(GameResult::from_pgn(b"1:0"), Some(GameResult::White));
    /// assert_eq!(GameResult::from_pgn(b"0.5 - 0.5"), Some(GameResult::Draw));
    /// assert_eq!(GameResult::from_pgn(b"*"), None);
    /// ```
    pub fn from_pgn(text: &[u8]) -> Option<Self> {
        match text {
            b"1-0" => Some(Self::White),
            b"0-1" => Some(Self::Black),
            b"1/2-1/2" => Some(Self::Draw),
            b"*" | b"" => None,
            _ => Self::from_plain(&plain_result(text)),
        }
    }

    fn from_plain(text: &str) -> Option<Self> {
        match text {
            "1-0" => Some(Self::White),
            "0-1" => Some(Self::Black),
            "1/2-1/2" | "1/2" => Some(Self::Draw),
            _ => None,
        }
    }

    /// The result in a tag, where it may also be that of a game that was not played, or have a text after it.
    pub(crate) fn from_tag(text: &[u8]) -> Option<Self> {
        if let known @ Some(_) = Self::from_pgn(text) {
            return known;
        }
        let plain = plain_result(text);
        match &*plain {
            "+--" | "+/-" | "+-" => return Some(Self::White),
            "--+" | "-/+" | "-+" => return Some(Self::Black),
            "=-=" | "=/=" | "=" => return Some(Self::Draw),
            _ => {}
        }
        let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphabetic() || "(,;".contains(c));
        ["1-0", "0-1", "1/2-1/2"].into_iter().find_map(|form| {
            plain.strip_prefix(form).filter(|rest| goes_on(rest))?;
            Self::from_plain(form)
        })
    }

    /// As PGN writes it.
    pub fn as_pgn(self) -> &'static str {
        match self {
            Self::White => "1-0",
            Self::Black => "0-1",
            Self::Draw => "1/2-1/2",
        }
    }
}

/// A result without space and what encloses or ends it, with `-` between its parts, and with `1/2` for half a point.
fn plain_result(text: &[u8]) -> String {
    let text = decode_text(text).replace(is_blank, "");
    let text =
        text.trim_start_matches(['(', '[', '"', '\'']).trim_end_matches([')', ']', '"', '\'', '.', '#']);
    let text = text.replace([':', '‐', '‑', '‒', '–', '—', '−'], "-");
    let text = text.replace('½', "1/2").replace("0.5", "1/2").replace("0,5", "1/2");
    text.replace("1.0", "1").replace("1,0", "1").replace("0.0", "0").replace("0,0", "0")
}
