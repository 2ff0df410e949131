//! One game of a text, from the events of the PGN reader to those of a [`Visitor`].

use std::ops::ControlFlow;

use pgn_reader::{Outcome, RawTag, SanPlus, Skip};
use shakmaty::{CastlingMode, Color, KnownOutcome};

use super::PgnBatch;
use super::words::{Strange, Walk, begins_with_move, first_strange};
use crate::chess::Position;
use crate::games::{Date, End, GameResult, Header, Problem, Reason, Spot, Visitor, decode_text};

/// Values of the tag `Variant` under which a game is ordinary chess from some position.
const ORDINARY: [&str; 4] = ["standard", "chess", "normal", "from position"];
/// Values of the tag `Variant` under which a game is Chess960.
const CHESS960: [&str; 7] = [
    "chess960",
    "chess 960",
    "fischerandom",
    "fischerandomchess",
    "fischerrandom",
    "fischer random",
    "freestyle",
];

/// How far a game has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// No game has begun.
    None,
    /// The moves begin without a header: this may be no game, and the visitor does not know of it yet.
    Waiting,
    /// Moves are taken.
    Moves,
    /// Moves are over, the result may still come.
    Over,
    /// Nothing more of the game is wanted.
    Unwanted,
}

/// Reads games one after another for a visitor.
pub struct GameReader<'a> {
    pub(super) batch: &'a PgnBatch,
    pub(super) visitor: &'a mut dyn Visitor,
    pub(super) header: Header,
    fen: Option<Vec<u8>>,
    variant: String,
    tags: u32,
    /// Whether the PGN reader is in the head of a game, before its moves.
    in_head: bool,
    pub(super) state: State,
    pub(super) position: Position,
    pub(super) plies: u32,
    /// Moves of the main line that the PGN reader has given.
    pub(super) given: u32,
    /// The next word that it passes over, and may be a move; how many moves it gives before that is to be taken, or
    /// before the next one is to be looked for.
    pub(super) strange: Option<Strange>,
    pub(super) looked_until: u32,
    /// How far words were looked at for what is strange, and for the words of moves.
    pub(super) ahead: Walk<'a>,
    pub(super) behind: Walk<'a>,
    open: u32,
    result: Option<GameResult>,
    /// Whether the head says that both players lost.
    pub(super) both_lost: bool,
    /// Whether a result came after the moves, `*` and `0-0` too.
    pub(super) ended: bool,
    pub(super) problem: Option<Problem>,
    /// Where the slice and the game in it begin and where the slice ends, in bytes of the piece.
    pub(super) game_start: usize,
    pub(super) slice_end: usize,
    pub(super) at: usize,
    /// A byte of the piece and its line.
    lines: (usize, u64),
    cut: bool,
    /// Whether the text that follows is a new game.
    fresh: bool,
}

impl<'a> GameReader<'a> {
    /// A reader of the batch's games.
    pub fn new(batch: &'a PgnBatch, visitor: &'a mut dyn Visitor) -> Self {
        let mut header = Header::default();
        header.place.file = batch.file().clone();
        Self {
            batch,
            visitor,
            header,
            fen: None,
            variant: String::new(),
            tags: 0,
            in_head: false,
            state: State::None,
            position: Position::start(),
            plies: 0,
            given: 0,
            strange: None,
            looked_until: u32::MAX,
            ahead: Walk::new(&[]),
            behind: Walk::new(&[]),
            open: 0,
            result: None,
            both_lost: false,
            ended: false,
            problem: None,
            game_start: 0,
            slice_end: 0,
            at: 0,
            lines: (0, batch.line()),
            cut: false,
            fresh: true,
        }
    }

    /// A slice of the text begins, which holds one game or, where their first tags are missing, several. `cut`: its
    /// end is missing.
    pub fn enter(&mut self, start: usize, end: usize, cut: bool) {
        (self.at, self.slice_end, self.cut) = (start, end, cut);
    }

    /// The reader is at this byte of the piece.
    pub fn at(&mut self, at: usize) {
        self.at = at;
    }

    /// More text follows. It goes on with the last game where that has neither a result nor an end of its own: some
    /// programs leave empty lines between moves.
    pub fn before(&mut self, text: &[u8]) {
        let goes_on = matches!(self.state, State::Moves | State::Over | State::Unwanted)
            && !self.ended
            && !text.starts_with(b"[")
            && !begins_with_move_one(text)
            && self.trailing_result().is_none();
        self.fresh = !goes_on;
        if self.fresh {
            self.finish();
        } else if self.open > 0 {
            self.stop_in_variation();
        }
    }

    /// The PGN reader gave up on this game.
    pub fn broken(&mut self) {
        let text = self.slice();
        if self.in_head && self.is_cut_in_head() {
            return self.refuse_cut();
        }
        let (reason, why) = if self.in_head {
            (Reason::TooLong, "a line of the head is longer than 8192 bytes or has no end")
        } else {
            (Reason::Unterminated, "a comment has no end")
        };
        let at = if self.in_head { None } else { memchr::memrchr(b'{', text) };
        let problem = self.problem_at(self.game_start + at.unwrap_or(0), reason, why.to_owned());
        self.stop(problem);
    }

    /// The game is over, where one has begun.
    pub fn finish(&mut self) {
        if self.cut && self.at >= self.slice_end && self.state != State::None {
            let why = "the game has no end within 16 MiB".to_owned();
            let problem = self.problem_at(self.game_start, Reason::TooLong, why);
            self.stop(problem);
        }
        if self.open > 0 && matches!(self.state, State::Moves) {
            self.stop_in_variation();
        }
        if self.state == State::Waiting && self.problem.is_none() && first_strange(self.text()).is_some() {
            // A game without a head whose moves the PGN reader does not understand, or no game.
            self.begin();
        }
        self.take_rest();
        if !self.ended {
            self.result = self.trailing_result().flatten();
        }
        match std::mem::replace(&mut self.state, State::None) {
            State::Moves | State::Over => {
                let result = self.header.result.or(self.result);
                self.visitor.end(End { result, problem: self.problem.take() });
            }
            State::Waiting | State::Unwanted | State::None => {
                if let Some(problem) = self.problem.take() {
                    self.visitor.unreadable(problem);
                }
            }
        }
        (self.result, self.ended) = (None, false);
    }

    /// Moves are over because a variation does not end: what follows may be a part of it.
    fn stop_in_variation(&mut self) {
        let why = "a variation has no end".to_owned();
        let problem = self.problem_at(self.game_start, Reason::Unterminated, why);
        self.stop(problem);
    }

    /// The text of the game, as far as the PGN reader has read.
    pub(super) fn text(&self) -> &'a [u8] {
        self.batch.text().get(self.game_start..self.at).unwrap_or_default()
    }

    /// The text of the game and what follows in its slice.
    pub(super) fn slice(&self) -> &'a [u8] {
        self.batch.text().get(self.game_start..self.slice_end).unwrap_or_default()
    }

    pub(super) fn problem_at(&self, at: usize, reason: Reason, why: String) -> Problem {
        Problem { reason, place: self.batch.place(at), why }
    }

    /// No more moves are taken, for this reason.
    pub(super) fn stop(&mut self, problem: Problem) {
        if self.problem.is_none() && !matches!(self.state, State::Over | State::Unwanted) {
            self.problem = Some(problem);
        }
        if self.state == State::Moves {
            self.state = State::Over;
        }
    }

    /// The game, where its head is wanted, begins.
    fn begin(&mut self) {
        self.header.place.offset = self.batch.offset() + self.game_start as u64;
        self.header.place.length = (self.slice_end - self.game_start) as u64;
        let between = self.batch.text().get(self.lines.0..self.game_start).unwrap_or_default();
        self.lines = (self.game_start, self.lines.1 + memchr::memchr_iter(b'\n', between).count() as u64);
        self.header.place.spot = Spot::Line(self.lines.1);
        if self.tags == 0 && !begins_with_move(self.slice()) {
            let why = "this text is no game".to_owned();
            self.problem = Some(self.problem_at(self.game_start, Reason::Damaged, why));
            self.state = State::Unwanted;
            return;
        }
        match self.start() {
            Ok(start) => {
                self.position = start.clone().unwrap_or_else(Position::start);
                self.header.start = start;
            }
            Err((reason, why)) => {
                self.problem = Some(self.problem_at(self.game_start, reason, why));
                self.state = State::Unwanted;
                return;
            }
        }
        if !self.visitor.begin(&self.header) {
            self.state = State::Unwanted;
            return;
        }
        self.state = State::Moves;
        self.ahead = Walk::new(self.slice());
        self.behind = self.ahead.clone();
        self.look_ahead();
    }

    /// The position that the game starts from, where it is not the ordinary one.
    fn start(&self) -> Result<Option<Position>, (Reason, String)> {
        let variant = self.variant.trim().to_ascii_lowercase();
        let chess960 = CHESS960.contains(&variant.as_str());
        if !chess960 && !variant.is_empty() && !ORDINARY.contains(&variant.as_str()) {
            return Err((Reason::OtherVariant, format!("the game is {}", shortened(self.variant.trim()))));
        }
        let Some(fen) = &self.fen else { return Ok(None) };
        // Some programs forget to say that a game is Chess960, but name the rooks' files.
        let rights = fen.split(|&byte| byte == b' ').nth(2).unwrap_or_default();
        let files = rights.iter().any(|right| matches!(right.to_ascii_lowercase(), b'a'..=b'h'));
        let mode = CastlingMode::from_chess960(chess960 || files);
        let position = Position::from_fen(fen, mode).map_err(|error| {
            (Reason::BadPosition, format!("the position {:?} is none: {error}", decode_text(fen)))
        })?;
        Ok(Some(position))
    }
}

/// A word as it may be shown in a message.
pub(super) fn shortened(word: &str) -> String {
    let mut short: String = word.chars().take(20).filter(|c| !c.is_control()).collect();
    if word.chars().nth(20).is_some() {
        short.push_str("...");
    }
    format!("{short:?}")
}

/// Whether moves begin with the number 1: those of a new game.
fn begins_with_move_one(text: &[u8]) -> bool {
    matches!(text.trim_ascii_start(), [b'1', b'.' | b' ', ..])
}

impl pgn_reader::Visitor for GameReader<'_> {
    type Tags = ();
    type Movetext = ();
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<(), ()> {
        self.in_head = true;
        if self.fresh {
            self.header.clear();
            self.fen = None;
            self.variant.clear();
            self.tags = 0;
            (self.result, self.ended) = (None, false);
            self.problem = None;
            (self.plies, self.given) = (0, 0);
            (self.strange, self.looked_until) = (None, u32::MAX);
            self.both_lost = false;
            self.open = 0;
            self.game_start = self.at;
            self.state = State::Waiting;
        }
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        self.tags += 1;
        let header = &mut self.header;
        let set = |text: &mut String| {
            text.clear();
            let value = value.decode();
            let value = decode_text(value.trim_ascii());
            if value != "?" {
                text.push_str(&value);
            }
        };
        let elo = || std::str::from_utf8(value.as_bytes()).ok()?.trim().parse::<u16>().ok();
        match name {
            b"Event" => set(&mut header.event),
            b"Site" => set(&mut header.site),
            b"Round" => set(&mut header.round),
            b"White" => set(&mut header.white),
            b"Black" => set(&mut header.black),
            b"Variant" => set(&mut self.variant),
            b"Date" => header.date = Date::from_pgn(&decode_text(value.as_bytes())),
            b"UTCDate" if header.date.is_unknown() => {
                header.date = Date::from_pgn(&decode_text(value.as_bytes()));
            }
            b"Result" => {
                header.result = GameResult::from_pgn(value.as_bytes());
                self.both_lost = matches!(value.as_bytes().trim_ascii(), b"0-0" | b"0:0");
            }
            b"WhiteElo" => header.white_elo = elo().unwrap_or(0),
            b"BlackElo" => header.black_elo = elo().unwrap_or(0),
            b"FEN" => self.fen = Some(value.decode().trim_ascii().to_vec()),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<(), ()> {
        self.in_head = false;
        if self.fresh && self.tags > 0 {
            if self.is_cut_in_head() { self.refuse_cut() } else { self.begin() }
        }
        match self.state {
            State::Unwanted => ControlFlow::Break(()),
            State::Over if self.header.result.is_some() => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn san(&mut self, (): &mut (), san: SanPlus) -> ControlFlow<()> {
        if self.state == State::Waiting {
            self.begin();
        }
        match self.state {
            State::Moves => self.take(san.san),
            State::Unwanted => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn begin_variation(&mut self, (): &mut ()) -> ControlFlow<(), Skip> {
        self.open += 1;
        ControlFlow::Continue(Skip(true))
    }

    fn end_variation(&mut self, (): &mut ()) -> ControlFlow<()> {
        self.open = self.open.saturating_sub(1);
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, (): &mut (), outcome: Outcome) -> ControlFlow<()> {
        if self.state == State::Waiting {
            self.begin();
        }
        self.ended = true;
        self.result = match outcome {
            Outcome::Known(KnownOutcome::Decisive { winner: Color::White }) => Some(GameResult::White),
            Outcome::Known(KnownOutcome::Decisive { winner: Color::Black }) => Some(GameResult::Black),
            Outcome::Known(KnownOutcome::Draw) => Some(GameResult::Draw),
            Outcome::Unknown => None,
        };
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, (): ()) {}
}
