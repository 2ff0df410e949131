//! Turning the events of the PGN reader into those of a [`Visitor`].

mod events;

use std::borrow::Cow;

use shakmaty::CastlingMode;

use super::PgnBatch;
use super::piece::lines;
use super::variations::Variations;
use super::words::{Strange, Walk, begins_with_move, first_strange};
use crate::chess::{Position, names_files};
use crate::games::{Date, End, GameError, GameResult, Header, KeyedPly, Reason, Spot, Visitor, decode_text};

/// Values of the tag `Variant` in games of ordinary chess from any position.
const ORDINARY: [&str; 4] = ["standard", "chess", "normal", "from position"];
/// Values of the tag `Variant` in games of Chess960.
const CHESS960: [&str; 7] = [
    "chess960",
    "chess 960",
    "fischerandom",
    "fischerandomchess",
    "fischerrandom",
    "fischer random",
    "freestyle",
];

/// The progress of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// No game has begun.
    None,
    /// A game may have begun: there is no header, and no move yet. The visitor does not know of it.
    Waiting,
    /// Moves are taken.
    Moves,
    /// No more moves are taken, but the result may still come.
    Over,
    /// Nothing more of the game is wanted.
    Unwanted,
}

/// What is known of the current game.
#[derive(Default)]
pub(super) struct Game {
    tags: u32,
    /// Variations that are open.
    open: u32,
    /// Moves that the PGN reader has read: of the main line, and of variations where they are wanted.
    pub given: u32,
    /// Parentheses that it has read, where variations are wanted.
    pub brackets: u32,
    /// The next word that it ignores and that may be a move. Its turn comes after `looked_until` moves; without such a
    /// word, it is time to look for the next one then.
    pub strange: Option<Strange>,
    pub looked_until: u32,
    /// The result after the moves.
    result: Option<GameResult>,
    /// Whether any result came after the moves, `*` and `0-0` included.
    pub ended: bool,
    /// Whether the head says that both players lost.
    pub both_lost: bool,
}

/// Reads games one after another for a visitor.
pub(crate) struct GameReader<'a> {
    pub(super) batch: &'a PgnBatch,
    pub(super) visitor: &'a mut dyn Visitor,
    pub(super) header: Header,
    pub(super) fen: Option<Vec<u8>>,
    variant: String,
    /// The tags that the visitor wants.
    wanted: Vec<String>,
    /// Whether the PGN reader is in the head of a game, before its moves.
    in_head: bool,
    pub(super) state: State,
    pub(super) game: Game,
    pub(super) position: Position,
    pub(super) error: Option<GameError>,
    /// Variations, where they are wanted.
    pub(super) variations: Option<Variations>,
    /// Whether glyphs and comments are wanted.
    pub(super) wants_remarks: bool,
    /// How many plies of a plain game are wanted, if their keys are enough.
    pub(super) keyed_plies: Option<usize>,
    /// The plies of a plain game.
    pub(super) plies: Vec<KeyedPly>,
    /// Whether the visitor knows of the game already.
    known: bool,
    /// How far the words were searched for strange ones, and for those of moves.
    pub(super) ahead: Walk<'a>,
    pub(super) found: Walk<'a>,
    /// Where the game begins, where the slice of the text with the game ends, and where the PGN reader is, in bytes of
    /// the piece.
    pub(super) game_start: usize,
    pub(super) slice_end: usize,
    pub(super) at: usize,
    /// A byte of the piece and its line.
    line_at: (usize, u64),
    cut: bool,
    /// Whether the text that follows is a new game.
    fresh: bool,
}

impl<'a> GameReader<'a> {
    /// A reader of the games of a batch.
    pub fn new(batch: &'a PgnBatch, visitor: &'a mut dyn Visitor) -> Self {
        let mut header = Header::default();
        header.place.file = batch.file.clone();
        let wanted = visitor.wanted_tags().to_vec();
        let variations = visitor.wants_variations().then(Variations::default);
        let wants_remarks = visitor.wants_remarks();
        let keyed_plies = visitor.keyed_plies();
        Self {
            batch,
            visitor,
            header,
            fen: None,
            variant: String::new(),
            wanted,
            in_head: false,
            state: State::None,
            game: Game::default(),
            position: Position::start(),
            error: None,
            variations,
            wants_remarks,
            keyed_plies,
            plies: Vec::new(),
            known: false,
            ahead: Walk::new(&[]),
            found: Walk::new(&[]),
            game_start: 0,
            slice_end: 0,
            at: 0,
            line_at: (0, batch.piece.line),
            cut: false,
            fresh: true,
        }
    }

    /// Enters a slice of the text, which holds one game, or several if their first tags are missing. `cut` means that
    /// its end is missing.
    pub(crate) fn enter(&mut self, start: usize, end: usize, cut: bool) {
        (self.at, self.slice_end, self.cut) = (start, end, cut);
    }

    /// More text follows. It continues the last game if that has no end yet: some programs leave empty lines between
    /// moves.
    pub fn before(&mut self, text: &[u8]) {
        let continues = matches!(self.state, State::Moves | State::Over | State::Unwanted)
            && !self.game.ended
            && !text.starts_with(b"[")
            && !begins_with_move_one(text)
            && self.trailing_result().is_none();
        self.fresh = !continues;
        if self.fresh {
            self.finish();
        } else if self.game.open > 0 && self.variations.is_none() {
            self.stop_in_variation();
        }
    }

    /// The PGN reader gives up on this game.
    pub fn broken(&mut self) {
        if !self.in_head {
            let at = memchr::memrchr(b'{', self.slice()).unwrap_or(0);
            self.stop(at, Reason::Unterminated, "a comment has no end");
        } else if self.is_cut_in_head() {
            self.refuse_cut();
        } else {
            let why = "a line of the head is longer than 8192 bytes or has no end";
            self.stop(0, Reason::TooLong, why);
        }
    }

    /// Ends the game, if one has begun.
    pub fn finish(&mut self) {
        if self.cut && self.at >= self.slice_end && self.state != State::None {
            self.stop(0, Reason::TooLong, "the game has no end within 16 MiB");
        }
        if self.game.open > 0 && matches!(self.state, State::Moves) {
            self.stop_in_variation();
        }
        if self.state == State::Waiting && self.error.is_none() && first_strange(self.text()).is_some() {
            // A game without a head whose moves the PGN reader does not understand, or other text.
            self.begin();
        }
        self.take_rest();
        if !self.game.ended {
            self.game.result = self.trailing_result().flatten();
        }
        match std::mem::replace(&mut self.state, State::None) {
            State::Moves | State::Over => {
                self.close_variations();
                let result = self.header.result.or(self.game.result);
                let cut = self.variations.as_mut().and_then(|variations| variations.cut.take());
                self.visitor.end(End { result, error: self.error.take(), cut });
            }
            State::Waiting | State::Unwanted | State::None => {
                if let Some(error) = self.error.take() {
                    self.visitor.unreadable(error);
                }
            }
        }
    }

    /// Takes no more moves, because they may be part of a variation without end.
    fn stop_in_variation(&mut self) {
        self.stop(0, Reason::Unterminated, "a variation has no end");
    }

    /// The text of the game, as far as the PGN reader has read.
    pub(super) fn text(&self) -> &'a [u8] {
        self.batch.piece.text.get(self.game_start..self.at).unwrap_or_default()
    }

    /// The text of the game and the rest of its slice.
    pub(super) fn slice(&self) -> &'a [u8] {
        self.batch.piece.text.get(self.game_start..self.slice_end).unwrap_or_default()
    }

    /// Takes no more moves, for this reason; `at` is its place, in bytes from the start of the game.
    pub(super) fn stop(&mut self, at: usize, reason: Reason, why: impl Into<String>) {
        if self.error.is_none() && !matches!(self.state, State::Over | State::Unwanted) {
            let place = self.batch.place(self.game_start + at);
            self.error = Some(GameError { reason, place, why: why.into() });
        }
        if self.state == State::Moves {
            self.state = State::Over;
        }
    }

    /// Wants nothing of this game, for this reason.
    pub(super) fn refuse(&mut self, reason: Reason, why: impl Into<String>) {
        let place = self.batch.place(self.game_start);
        self.error = Some(GameError { reason, place, why: why.into() });
        self.state = State::Unwanted;
    }

    /// Prepares for a game that begins where the PGN reader is.
    pub(super) fn prepare(&mut self) {
        self.header.clear();
        self.fen = None;
        self.variant.clear();
        self.game = Game::default();
        self.error = None;
        self.game_start = self.at;
        self.state = State::Waiting;
    }

    /// Sets the place of the game in the header.
    fn find_place(&mut self) {
        self.header.place.offset = self.batch.piece.offset + self.game_start as u64;
        self.header.place.length = (self.slice_end - self.game_start) as u64;
        let (from, line) = self.line_at;
        let between = self.batch.piece.text.get(from..self.game_start).unwrap_or_default();
        self.line_at = (self.game_start, line + lines(between));
        self.header.place.spot = Spot::Line(self.line_at.1);
    }

    /// Begins a game that starts from the ordinary position, and returns whether the visitor wants it. If it does and the
    /// game turns out to be no plain one, it begins once more, and the visitor does not hear of that.
    pub(super) fn begin_plain(&mut self) -> bool {
        self.find_place();
        self.known = self.visitor.begin(&self.header);
        self.known
    }

    /// Leaves a game to the PGN reader; the visitor may know of it. Always `false`: it was not taken.
    pub(super) fn give_back(&mut self) -> bool {
        self.state = State::None;
        false
    }

    /// Whether the end of the slice is missing.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Ends a game that the visitor did not want, or has received whole.
    pub(super) fn end_plain(&mut self) {
        self.known = false;
        self.state = State::None;
    }

    /// Begins a game, if the visitor wants it.
    fn begin(&mut self) {
        self.find_place();
        if self.game.tags == 0 && !begins_with_move(self.slice()) {
            return self.refuse(Reason::Damaged, "this text is not a game");
        }
        match self.start() {
            Ok(start) => {
                self.position = start.clone().unwrap_or_else(Position::start);
                self.header.start = start;
            }
            Err((reason, why)) => return self.refuse(reason, why),
        }
        if !std::mem::take(&mut self.known) && !self.visitor.begin(&self.header) {
            self.state = State::Unwanted;
            return;
        }
        self.state = State::Moves;
        self.ahead = match &mut self.variations {
            Some(variations) => {
                *variations = Variations::default();
                Walk::deep(self.slice())
            }
            None => Walk::new(self.slice()),
        };
        self.found = self.ahead.clone();
        self.look_ahead();
    }

    /// Takes a tag: its text as it is written, and without escapes.
    pub(super) fn take_tag<'t>(&mut self, name: &[u8], raw: &[u8], decoded: &dyn Fn() -> Cow<'t, [u8]>) {
        self.game.tags += 1;
        let header = &mut self.header;
        if let Some(wanted) = self.wanted.iter().find(|wanted| wanted.as_bytes().eq_ignore_ascii_case(name)) {
            let text = decode_text(decoded().trim_ascii()).into_owned();
            header.tags.push((wanted.clone(), text));
        }
        let set = |text: &mut String| {
            text.clear();
            let value = decoded();
            let value = decode_text(value.trim_ascii());
            if value != "?" {
                text.push_str(&value);
            }
        };
        let elo = || std::str::from_utf8(raw).ok()?.trim().parse::<u16>().ok();
        match name {
            b"Event" => set(&mut header.event),
            b"Site" => set(&mut header.site),
            b"Round" => set(&mut header.round),
            b"White" => set(&mut header.white),
            b"Black" => set(&mut header.black),
            b"Variant" => set(&mut self.variant),
            b"Date" => header.date = Date::from_pgn(&decode_text(raw)),
            b"UTCDate" if header.date.is_unknown() => {
                header.date = Date::from_pgn(&decode_text(raw));
            }
            b"Result" => {
                header.result = GameResult::from_pgn(raw);
                self.game.both_lost = matches!(raw.trim_ascii(), b"0-0" | b"0:0");
            }
            b"WhiteElo" => header.white_elo = elo().unwrap_or(0),
            b"BlackElo" => header.black_elo = elo().unwrap_or(0),
            b"FEN" => self.fen = Some(decoded().trim_ascii().to_vec()),
            _ => {}
        }
    }

    /// Whether the game is one of ordinary chess from its starting position.
    pub(super) fn is_ordinary(&self) -> bool {
        self.fen.is_none()
            && (self.variant.is_empty() || ORDINARY.contains(&&*self.variant.to_ascii_lowercase()))
    }

    /// The position that the game starts from, if it is not the ordinary one.
    fn start(&self) -> Result<Option<Position>, (Reason, String)> {
        let variant = self.variant.trim().to_ascii_lowercase();
        let chess960 = CHESS960.contains(&variant.as_str());
        if !chess960 && !variant.is_empty() && !ORDINARY.contains(&variant.as_str()) {
            return Err((Reason::OtherVariant, format!("the game is {}", shortened(self.variant.trim()))));
        }
        let Some(fen) = &self.fen else { return Ok(None) };
        // Some programs do not mark games of Chess960, but name the files of the rooks.
        let mode = CastlingMode::from_chess960(chess960 || names_files(fen));
        let position = Position::from_fen(fen, mode).map_err(|error| {
            (Reason::BadPosition, format!("the position {:?} is illegal: {error}", decode_text(fen)))
        })?;
        Ok(Some(position))
    }
}

/// A word for a message, shortened if it is long.
pub(super) fn shortened(word: &str) -> String {
    let mut short: String = word.chars().take(20).filter(|c| !c.is_control()).collect();
    if word.chars().nth(20).is_some() {
        short.push_str("...");
    }
    format!("{short:?}")
}

/// Whether moves begin with the number 1, as in a new game.
fn begins_with_move_one(text: &[u8]) -> bool {
    matches!(text.trim_ascii_start(), [b'1', b'.' | b' ', ..])
}
