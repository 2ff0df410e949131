//! The games of a database for visitors.

use std::num::NonZeroU16;
use std::ops::ControlFlow;
use std::sync::Arc;

use shakmaty::Move;

use tabiya_chess::Position;

use super::board::Board;
use super::database::Scid;
use super::decode::Kept;
use super::names::text;
use super::reader::{ScidGame, ScidReader};
use super::record::ScidRecord;
use super::tags;
use crate::database::{KeyedLine, MainLine, NumberedBoard as _, Sink};
use crate::export::is_unlisted;
use crate::{Batch, Date, GameEnd, GameHeader, KeyedPly, Reason, Visitor};

/// Games by their numbers.
pub struct ScidGames {
    pub db: Arc<Scid>,
    pub games: (u32, u32),
}

impl Batch for ScidGames {
    fn play(self: Box<Self>, visitor: &mut dyn Visitor) -> u64 {
        let (first, last) = self.games;
        let mut reader = ScidReader::new(&self.db);
        let mut player =
            ScidPlayer { db: &self.db, header: GameHeader::default(), kept: Vec::new(), plies: Vec::new() };
        let mut games = 0;
        for number in first..=last {
            let record = match reader.record(number) {
                Ok(record) if record.is_deleted() => continue,
                Ok(record) => record,
                Err(error) => {
                    visitor.unreadable(self.db.games_file.error(
                        number,
                        0,
                        Reason::Unreadable,
                        error.with_source(),
                    ));
                    continue;
                }
            };
            match reader.find(number, &record) {
                Ok(game) => {
                    games += 1;
                    player.one(&game, &record, visitor);
                }
                Err(error) => {
                    games += error.games();
                    visitor.unreadable(error);
                }
            }
        }
        games
    }
}

struct ScidPlayer<'a> {
    db: &'a Scid,
    header: GameHeader,
    kept: Kept,
    plies: Vec<KeyedPly>,
}

impl ScidPlayer<'_> {
    fn one(&mut self, game: &ScidGame<'_>, record: &ScidRecord, visitor: &mut dyn Visitor) {
        self.fill_header(game, record, visitor);
        if !visitor.begin(&self.header) {
            return;
        }
        let kept = &mut self.kept;
        let (variations, remarks) = (visitor.wants_variations(), visitor.wants_remarks());
        let keyed = visitor.keyed_plies().filter(|_| !variations && !remarks);
        // Comments may say that a move is not in the book that the game is of.
        let is_plain = !variations && !remarks && game.stored.comments.is_empty();
        let (ended, passed) = if let Some(most) = keyed.filter(|_| is_plain) {
            self.plies.clear();
            let key = self.header.start.as_ref().map_or_else(|| Position::start().key(), Position::key);
            let mut line = KeyedLine { key, plies: &mut self.plies, most, passed: false };
            let ended = game.decode(kept, &mut line);
            let passed = line.passed;
            visitor.keyed_last(line.key);
            visitor.keyed_line(&self.plies);
            (ended, passed)
        } else if let Some(most) = keyed {
            self.plies.clear();
            let key = self.header.start.as_ref().map_or_else(|| Position::start().key(), Position::key);
            let line = KeyedLine { key, plies: &mut self.plies, most, passed: false };
            let mut listed = Listed { line, unlisted: Vec::new() };
            let ended = game.decode(kept, &mut listed);
            let Listed { line: KeyedLine { key, passed, .. }, unlisted } = listed;
            unlisted.into_iter().for_each(|place| visitor.keyed_unlisted(place));
            visitor.keyed_last(key);
            visitor.keyed_line(&self.plies);
            (ended, passed)
        } else if is_plain {
            let mut line = MainLine { visitor, passed: false };
            let ended = game.decode(kept, &mut line);
            (ended, line.passed)
        } else {
            let mut told = Told { visitor, variations, remarks, depth: 0, passed: false };
            let ended = game.decode(kept, &mut told);
            (ended, told.passed)
        };
        let error = match ended.error {
            Some(error) => Some(game.error(self.db, error)),
            None if passed => {
                Some(self.db.games_file.error(game.number, game.offset, Reason::NullMove, "a side passes"))
            }
            None => None,
        };
        let cut = ended.cut.map(|cut| game.error(self.db, cut));
        visitor.end(GameEnd { result: self.header.result, error, cut });
    }

    /// Copies the header of a game from its record.
    fn fill_header(&mut self, game: &ScidGame<'_>, record: &ScidRecord, visitor: &dyn Visitor) {
        let Self { db, header, .. } = self;
        header.clear();
        let texts =
            [&mut header.white, &mut header.black, &mut header.event, &mut header.site, &mut header.round];
        for (place, text) in texts.into_iter().enumerate() {
            let name = tags::name(db, record, place);
            let name = name.trim();
            text.push_str(if name == "?" { "" } else { name });
        }
        header.date = known_date(record.date);
        let elo = |black| {
            record.rating(black).filter(|(kind, _)| *kind == "Elo").and_then(|(_, elo)| NonZeroU16::new(elo))
        };
        (header.white_elo, header.black_elo) = (elo(false), elo(true));
        header.result = record.result();
        header.start.clone_from(&game.start);
        header.place = db.games_file.place(game.number, game.offset, game.len);
        let wanted = visitor.wanted_tags();
        if visitor.wants_all_tags() {
            let seven = tags::seven(db, record);
            header.tags.extend(seven.into_iter().map(|(name, value)| (name.to_owned(), value.into_owned())));
            let others = tags::others(record, Some(&game.stored)).into_iter();
            header.tags.extend(others.map(|(name, value)| (name.into_owned(), value.into_owned())));
        } else if !wanted.is_empty() {
            for (name, value) in tags::others(record, Some(&game.stored)) {
                let name = wanted.iter().find(|wanted| wanted.eq_ignore_ascii_case(&name));
                header.tags.extend(name.map(|name| (name.clone(), value.into_owned())));
            }
        }
    }
}

/// A date as far as its parts name it.
fn known_date(date: Date) -> Date {
    match (date.year, date.month) {
        (0, _) => Date::default(),
        (_, 0 | 13..) => Date { month: 0, day: 0, ..date },
        _ => date,
    }
}

/// Keeps the main line, and which of its moves are not in the book that it is of.
struct Listed<'a> {
    line: KeyedLine<'a>,
    unlisted: Vec<usize>,
}

impl Sink<Board> for Listed<'_> {
    fn play(&mut self, board: &mut Board, mv: Move) -> ControlFlow<()> {
        // The comment of the last wanted move follows it.
        if self.line.plies.len() >= self.line.most {
            return ControlFlow::Break(());
        }
        let _ = self.line.play(board, mv);
        ControlFlow::Continue(())
    }

    fn pass(&mut self) -> ControlFlow<()> {
        Sink::<Board>::pass(&mut self.line)
    }

    fn comment(&mut self, text: &[u8]) {
        if let Some(place) = self.line.plies.len().checked_sub(1).filter(|_| is_unlisted(text)) {
            self.unlisted.push(place);
        }
    }
}

/// Hands moves over with what is said of them.
struct Told<'a> {
    visitor: &'a mut dyn Visitor,
    variations: bool,
    remarks: bool,
    /// Variations that the line is in.
    depth: usize,
    /// Whether a side passed in the main line, which ended it.
    passed: bool,
}

impl Sink<Board> for Told<'_> {
    fn wants_variations(&self) -> bool {
        self.variations
    }

    fn play(&mut self, board: &mut Board, mv: Move) -> ControlFlow<()> {
        self.visitor.ply(board.position(), mv)?;
        board.play(mv);
        ControlFlow::Continue(())
    }

    fn pass(&mut self) -> ControlFlow<()> {
        self.passed |= self.depth == 0;
        ControlFlow::Break(())
    }

    fn open(&mut self) {
        self.depth += 1;
        self.visitor.begin_variation();
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.visitor.end_variation();
    }

    fn glyph(&mut self, number: u8) {
        if self.remarks {
            self.visitor.glyph(number);
        }
    }

    fn comment(&mut self, comment: &[u8]) {
        if is_unlisted(comment) {
            self.visitor.unlisted();
        }
        if self.remarks {
            self.visitor.comment(text(comment).as_bytes());
        }
    }
}
