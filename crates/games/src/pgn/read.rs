//! Turning the words of a text into the events of a [`Visitor`].

use tabiya_base::bytes::Parts as _;

use std::borrow::Cow;

use shakmaty::Position as _;

use tabiya_chess::{
    MoveCode, Position, ReadMoveError, is_blank, is_san, may_be_move, plain_move, read_move, variant_facts,
};

use super::PgnBatch;
use super::lex::heads::bracket_lines;
use super::lex::{Before, Lexer, NO_NUMBER, Token, tags};

use super::numbers::{Misnumbered, Numbering};
use super::split::lines;
use super::variations::Variations;
use crate::export::is_unlisted;
use crate::{GameEnd, GameError, GameHeader, GameResult, KeyedPly, LineOrGame, Reason, Visitor, decode_text};

/// The progress of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PgnState {
    /// No game has begun.
    #[default]
    None,
    /// A game may have begun: there is no head, and no move yet. The visitor does not know of it.
    Waiting,
    Moves,
    /// No more moves are taken, but the result may still come.
    Over,
    /// Nothing more of the game is wanted.
    Unwanted,
}

/// What is known of the current game.
#[derive(Default)]
pub(super) struct PgnGame {
    /// Whether a text without a head began with a word that is not a move.
    is_prose: bool,
    /// The result after the moves.
    result: Option<GameResult>,
    /// Whether any result came after the moves, `*` and `0-0` included.
    ended: bool,
    /// Whether the head says that both players lost.
    pub both_lost: bool,
    /// The tags that the head has, a bit for each that every game has once.
    pub seen: u16,
    /// Why the head does not say where the game starts.
    pub doubt: Option<&'static str>,
    /// Whether the head says that the game starts from a set-up position.
    pub is_set_up: bool,
    /// Whether it has a move, as far as was looked: in bytes of the piece.
    has_moves: bool,
    looked_to: usize,
    pub numbering: Numbering,
    /// What is wrong with the last number that is not that of its position.
    pub misnumbered: Misnumbered,
    /// Whether it has neither tags nor anything else before its first move.
    pub is_headless: bool,
    error: Option<GameError>,
}

/// Reads games one after another for a visitor.
pub(super) struct GameReader<'a> {
    pub batch: &'a PgnBatch,
    pub visitor: &'a mut dyn Visitor,
    /// The games that were shown to the visitor.
    pub games: u64,
    pub header: GameHeader,
    pub fen: Option<Vec<u8>>,
    pub variant: String,
    /// The tags that the visitor wants.
    pub wanted: Vec<String>,
    /// Whether it wants all of them.
    pub wants_all_tags: bool,
    pub state: PgnState,
    pub game: PgnGame,
    pub position: Position,
    /// The ordinary start of the variant that is read.
    pub ordinary: Position,
    pub lines: Variations,
    wants_variations: bool,
    /// Whether glyphs and comments are wanted.
    wants_remarks: bool,
    /// How many plies are wanted, if their keys are enough.
    keyed_plies: Option<usize>,
    plies: Vec<KeyedPly>,
    /// The places of those that a book's lines have, and the book does not.
    unlisted: Vec<usize>,
    pub lexer: Lexer<'a>,
    /// Where the game begins, in bytes of the piece.
    pub game_start: usize,
    /// Where zero bytes take the place of text, or else the end of the piece.
    limit: usize,
    /// A byte of the piece and its line.
    line_at: (usize, u64),
    /// A byte of the piece, where the next line after it begins like a tag, and the end of the part in which that was looked for.
    next_tag: (usize, usize, usize),
}

impl<'a> GameReader<'a> {
    /// A reader of the games of a batch.
    pub fn new(batch: &'a PgnBatch, visitor: &'a mut dyn Visitor) -> Self {
        let mut header = GameHeader::default();
        header.place.file = batch.file.clone();
        let (wants_variations, wants_remarks) = (visitor.wants_variations(), visitor.wants_remarks());
        let ordinary = Position::start_of(batch.variant);
        Self {
            batch,
            games: 0,
            header,
            fen: None,
            variant: String::new(),
            wanted: visitor.wanted_tags().to_vec(),
            wants_all_tags: visitor.wants_all_tags(),
            state: PgnState::None,
            game: PgnGame::default(),
            position: ordinary.clone(),
            ordinary,
            lines: Variations::default(),
            wants_variations,
            wants_remarks,
            keyed_plies: visitor.keyed_plies().filter(|_| !wants_variations && !wants_remarks),
            plies: Vec::new(),
            unlisted: Vec::new(),
            lexer: Lexer::new(&[], 0),
            game_start: 0,
            limit: 0,
            line_at: (0, batch.piece.line),
            next_tag: (0, 0, usize::MAX),
            visitor,
        }
    }

    /// Reads a part of the text, which holds one game, or several if their first tags are missing, and returns where it ends.
    /// A game without an end cannot damage the next part. The part is longer, at most up to `limit`, if its end is within
    /// a comment.
    pub fn read(&mut self, start: usize, end: usize, limit: usize) -> usize {
        self.lexer = Lexer::within(self.batch.piece.text.part(..limit), start, end);
        self.limit = limit;
        while self.lexer.find_game() {
            if !self.continues() {
                let before = (self.game.seen, self.game.ended);
                self.finish();
                self.head(before);
                // The head of another game follows.
                if self.lexer.rest().starts_with(b"[") {
                    continue;
                }
            }
            self.moves();
        }
        self.finish();
        self.lexer.end()
    }

    /// Reports zero bytes in place of text, and whether more text follows.
    pub fn lost(&mut self, at: usize, len: usize, goes_on: bool) {
        let used = if goes_on { "what comes before and after is" } else { "what comes before is" };
        let why = format!("{len} zero bytes are in place of text, as after a loss of power: {used} used");
        let (reason, place) = (Reason::Unreadable, self.batch.place(at));
        self.visitor.unreadable(GameError { reason, place, why });
    }

    /// Reports zero bytes within text.
    pub fn has_zeros(&mut self, at: usize, len: usize) {
        let bytes = if len == 1 { "1 zero byte is".to_owned() } else { format!("{len} zero bytes are") };
        let why = format!(
            "{bytes} within the text: all games are read, those with zero bytes among moves up to them"
        );
        let (reason, place) = (Reason::Zeros, self.batch.place(at));
        self.visitor.unreadable(GameError { reason, place, why });
    }

    /// Whether the text of the game is cut off where the part that can be read ends.
    pub(super) fn is_cut_off(&self) -> bool {
        let len = self.batch.piece.text.len();
        self.lexer.at() >= self.lexer.end() && self.lexer.end() == self.limit && self.limit < len
    }

    /// Whether the piece ends within the game.
    fn is_too_large(&self) -> bool {
        let len = self.batch.piece.text.len();
        self.batch.piece.cut && self.lexer.end() == len && self.lexer.at() >= len
    }

    /// Whether more text continues the last game, as that has no end yet: some programs leave empty lines between moves.
    fn continues(&mut self) -> bool {
        let text = self.lexer.rest();
        let begins_head = || text.starts_with(b"[") && self.lexer.begins_head(text);
        matches!(self.state, PgnState::Moves | PgnState::Over | PgnState::Unwanted)
            && !self.game.ended
            && !begins_head()
            && (!begins_moves(&self.lexer) || !self.has_moves() || self.ends_variation())
            && self.trailing_result().is_none()
    }

    /// Whether the game is in a variation that ends before the next empty line.
    fn ends_variation(&self) -> bool {
        let mut lexer = self.lexer.clone();
        let mut depth = usize::from(self.lines.is_inside());
        while depth > 0 {
            match lexer.next_word().1 {
                Token::Open => depth += 1,
                Token::Close => depth -= 1,
                Token::End | Token::Unterminated | Token::Zero => return false,
                _ => {}
            }
        }
        self.lines.is_inside()
    }

    /// Whether a move, or a result, was read since the head.
    fn has_moves(&mut self) -> bool {
        let end = self.lexer.at();
        if !self.game.has_moves && self.game.looked_to < end {
            let text = self.batch.piece.text.part(self.game.looked_to..end);
            (self.game.has_moves, self.game.looked_to) = (tags::has_moves(text), end);
        }
        self.game.has_moves
    }

    /// The result at the end of the game's text, in a form that the lexer does not know.
    fn trailing_result(&self) -> Option<Option<GameResult>> {
        let text = self.batch.piece.text.part(self.game_start..self.lexer.at()).trim_ascii_end();
        let start = text.iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1);
        let word = text.part(start..);
        let result = GameResult::from_pgn(word);
        (result.is_some() || word == b"0:0").then_some(result)
    }

    /// Reads the head of a game, if it has one. `before`: the tags of the game before, and whether that has a result.
    fn head(&mut self, before: (u16, bool)) {
        self.header.clear();
        self.fen = None;
        self.variant.clear();
        (self.game, self.lines) = Default::default();
        (self.lexer.ended, self.lexer.number) = (false, NO_NUMBER);
        self.game_start = self.lexer.at();
        self.state = PgnState::Waiting;
        let (mut has_tags, mut is_broken) = (false, false);
        loop {
            let before = self.lexer.clone();
            let passed = if has_tags { self.lexer.pass_to_tag() } else { Before::Nothing };
            let is_whole = || self.has_seen(b"Event") && self.lexer.is_apart();
            if passed == Before::EndOfText && !is_whole() && self.lexer.extend_head() {
                continue;
            }
            if matches!(passed, Before::Moves | Before::EndOfText) {
                break;
            }
            if passed != Before::Nothing && self.begins_another_head() {
                self.lexer = before;
                break;
            }
            let usual = self.lexer.usual_tag().map(|(name, value)| (name, value.into()));
            let Some(tag) = usual.map(Ok).or_else(|| self.lexer.tag()) else { break };
            let Ok((name, value)) = tag else {
                self.lexer.skip_all();
                (has_tags, is_broken) = (true, true);
                break;
            };
            if passed == Before::Text {
                self.game.doubt = Some("a line among the tags is neither a tag nor a comment");
            }
            has_tags = true;
            self.take_tag(name, &value);
        }
        if let (seen @ 1.., false) = before
            && self.game.seen & seen == 0
            && self.game.seen > 0
        {
            self.game.doubt = Some("the tags before and after the moves may be of one game");
        }
        if has_tags && self.is_cut_in_head(&self.lexer) {
            if self.is_cut_off() {
                self.refuse(Reason::Damaged, "the tags of this game go on in zero bytes");
            } else {
                let why = "the file ends inside the tags of this game: the games before it are used";
                self.refuse(Reason::Unreadable, why);
            }
        } else if is_broken {
            let why = "a line of tags is longer than 8192 bytes or has no end";
            self.stop(self.game_start, Reason::TooLong, why);
        } else if has_tags {
            self.begin();
        }
        self.game.looked_to = self.lexer.at();
    }

    /// Whether the tags that follow, up to an empty line, repeat one that this head has.
    fn begins_another_head(&mut self) -> bool {
        let start = self.lexer.clone();
        let mut is_other = false;
        while let Some(Ok((name, _))) = self.lexer.tag() {
            is_other = self.has_seen(name);
            let is_over = self.lexer.rest().is_empty() && !self.lexer.extend_head();
            if is_other || is_over || self.lexer.is_apart() {
                break;
            }
        }
        self.lexer = start;
        is_other
    }

    /// Begins a game, if the visitor wants it.
    fn begin(&mut self) {
        self.header.place.offset = self.batch.piece.offset + self.game_start as u64;
        self.header.place.length = (self.text_end() - self.game_start) as u64;
        let (from, line) = self.line_at;
        let between = self.batch.piece.text.part(from..self.game_start);
        self.line_at = (self.game_start, line + lines(between));
        self.header.place.spot = LineOrGame::Line(self.line_at.1);
        match self.start() {
            Ok(start) => {
                self.position = start.clone().unwrap_or_else(|| self.ordinary.clone());
                self.header.start = start;
            }
            Err((reason, why)) => return self.refuse(reason, why),
        }
        self.plies.clear();
        self.unlisted.clear();
        self.games += 1;
        self.state = if !self.visitor.begin(&self.header) {
            PgnState::Unwanted
        } else if self.keyed_plies == Some(0) {
            PgnState::Over
        } else {
            PgnState::Moves
        };
    }

    /// Where the text of the game that begins ends: at the next head, or where the text ends that may belong to it.
    fn text_end(&mut self) -> usize {
        let (after_head, end) = (self.lexer.at(), self.lexer.end());
        // Games without heads have the same next one.
        let (from, next, known) = self.next_tag;
        if known != end || !(from..=next).contains(&after_head) {
            let rest = self.batch.piece.text.part(after_head..end);
            // Lines of comments may begin with a bracket, but mostly of a command such as [%clk.
            let mut heads =
                bracket_lines(rest).filter(|at| rest.get(at + 1).is_some_and(u8::is_ascii_alphabetic));
            self.next_tag = (after_head, heads.next().map_or(end, |at| after_head + at), end);
        }
        self.next_tag.1
    }

    /// Begins a game without a head, if its first word is a move; prose begins with another word.
    fn begin_with(&mut self, at: usize, len: usize, word: &[u8]) {
        let is_played = || read_move(&self.whole(at, len), &self.ordinary).is_ok();
        if !self.game.is_prose && (is_san(word) || is_played()) {
            self.game.is_headless = true;
            self.begin();
        } else {
            self.refuse(Reason::Damaged, "this text is not a game");
        }
    }

    /// Reads moves up to where they end, or no more of them is wanted.
    fn moves(&mut self) {
        loop {
            if self.takes_moves()
                && !self.game.ended
                && let Some((at, word)) = self.lexer.usual_word()
            {
                self.word(at, word);
                continue;
            }
            match self.state {
                PgnState::Unwanted => break,
                PgnState::Over if self.header.result.is_some() => break,
                _ => {}
            }
            let (at, token) = self.lexer.next_word();
            self.game.is_prose |= matches!(token, Token::Open | Token::Close);
            match token {
                Token::Word(word) if self.game.ended && !self.lines.is_inside() => {
                    if self.ends_before(at, word) {
                        return;
                    }
                }
                Token::Word(word) => self.word(at, word),
                Token::Comment(text) if self.takes_moves() => self.comment(text),
                Token::Glyph(number) if self.wants_remarks && self.takes_moves() => {
                    self.visitor.glyph(number)
                }
                Token::Comment(_) | Token::Glyph(_) => {}
                Token::Open => {
                    let wanted = self.wants_variations && self.state == PgnState::Moves;
                    if self.lines.open(wanted, &mut self.position, self.game.numbering) {
                        self.visitor.begin_variation();
                    }
                }
                Token::Close => {
                    if self.lines.close(&mut self.position, &mut self.game.numbering) {
                        self.visitor.end_variation();
                    }
                }
                Token::Result(_) if self.lines.is_inside() => {}
                Token::Result(result) => {
                    if self.state == PgnState::Waiting {
                        self.begin_with(at, 0, b"");
                    }
                    (self.game.ended, self.game.result) = (true, result);
                    (self.lexer.ended, self.lexer.number) = (true, NO_NUMBER);
                }
                Token::Zero if self.game.ended => {}
                Token::Zero if self.state == PgnState::Waiting => self.game.is_prose = true,
                Token::Zero => {
                    self.stop(at, Reason::Damaged, "zero bytes are in place of moves");
                    break;
                }
                Token::End => return,
                Token::Unterminated if self.is_too_large() => return,
                Token::Unterminated => {
                    self.stop(at, Reason::Unterminated, "a comment has no end");
                    break;
                }
            }
        }
        self.lexer.skip_moves();
    }

    fn comment(&mut self, text: &[u8]) {
        if is_unlisted(text) {
            match (self.keyed_plies, self.plies.len().checked_sub(1)) {
                (None, _) => self.visitor.unlisted(),
                (Some(_), Some(last)) => self.unlisted.push(last),
                (Some(_), None) => {}
            }
        }
        if self.wants_remarks {
            self.visitor.comment(text);
        }
    }

    /// Whether the next move belongs to a line that is read.
    fn takes_moves(&self) -> bool {
        self.state == PgnState::Moves && self.lines.takes_moves()
    }

    /// Takes a word after the result, and returns whether the moves of another game begin with it.
    #[cold]
    fn ends_before(&mut self, at: usize, word: &[u8]) -> bool {
        if !may_be_move(word) {
            return false;
        }
        let number = self.lexer.number;
        if number != NO_NUMBER {
            let mut lexer = self.lexer.clone();
            lexer.go_back_to(number);
            if begins_moves(&lexer) {
                self.lexer = lexer;
                return true;
            }
        }
        if self.takes_moves() {
            self.end_out_of_order(at, &decode_text(word), "a move follows the result");
        }
        false
    }

    /// Takes a word: a move, or decoration.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "it is run for each ply, and costs a tenth more as a call")]
    fn word(&mut self, at: usize, word: &[u8]) {
        if self.takes_moves()
            && let Some(mv) = self.position.standard().and_then(|chess| plain_move(word, chess))
        {
            if self.number_fits() {
                self.play(mv);
            } else {
                self.misnumbered(at, &decode_text(word));
            }
        } else {
            self.odd_word(at, word);
        }
    }

    /// Takes a word that is no plain move.
    #[inline(never)]
    fn odd_word(&mut self, at: usize, word: &[u8]) {
        let len = word.len();
        let is_first = self.state == PgnState::Waiting && !self.lines.is_inside();
        let plain = without_blanks(word);
        let word: &[u8] = plain.as_deref().unwrap_or(word);
        if !may_be_move(word) {
            self.game.is_prose = true;
            // A novelty is marked after its move: after a number, this is a piece apart from its square.
            if let [b'A'..=b'Z'] = word
                && self.lexer.number != NO_NUMBER
                && self.takes_moves()
            {
                self.unplayable(at, &decode_text(word), ReadMoveError::NoMove);
            }
            return;
        }
        if is_first {
            self.begin_with(at, len, word);
        }
        let is_numbered = self.lexer.number != NO_NUMBER || !self.game.numbering.has_numbers();
        if !self.takes_moves()
            || ((self.game.both_lost || !is_numbered && self.position.chess().turn().is_white())
                && self.is_result(word))
        {
            self.lexer.number = NO_NUMBER;
            return;
        }
        let text = self.whole(at, len);
        if !self.number_fits() {
            return self.misnumbered(at, &text);
        }
        match read_move(&text, &self.position) {
            Ok(mv) => self.play(mv),
            Err(_) if self.is_result(word) => {}
            Err(ReadMoveError::Null) if self.passes() => {}
            Err(error) => self.unplayable(at, &text, error),
        }
    }

    /// Takes a move whose number is not that of the position: where a variation begins, it may go on from the last move of the
    /// line around it instead of replacing that.
    #[cold]
    fn misnumbered(&mut self, at: usize, word: &str) {
        let Misnumbered::GoesOn = self.game.misnumbered else {
            let why = self.game.misnumbered.why();
            return self.end_out_of_order(at, word, why);
        };
        let Some(last) = self.lines.last_of_line_around() else { return };
        self.show(last);
        if self.takes_moves() {
            match read_move(word, &self.position) {
                Ok(mv) => self.show(mv),
                Err(error) => self.unplayable(at, word, error),
            }
        }
    }

    /// The whole of a word of which the lexer sees `len` bytes: with a promotion in brackets, or the rest of "e.p.", and without
    /// blanks.
    fn whole(&self, at: usize, len: usize) -> Cow<'a, str> {
        let text = self.batch.piece.text.part(at..self.lexer.end());
        let (word, rest) = text.split_at_checked(len).unwrap_or_default();
        let more = match rest {
            [b'(', b'Q' | b'R' | b'B' | b'N' | b'q' | b'r' | b'b' | b'n', b')', ..] => 3,
            [b'(', b'K' | b'k', b')', ..] if variant_facts(self.batch.variant).has_common_kings => 3,
            [b'.', b'p', b'.', ..] if word.ends_with(b"e") => 3,
            _ => 0,
        };
        let text = decode_text(text.part(..len + more));
        if text.contains(is_blank) { text.replace(is_blank, "").into() } else { text }
    }

    /// Whether the word that was read last is `0-0` and ends the game: both players lost.
    fn is_result(&mut self, word: &[u8]) -> bool {
        let found = word == b"0-0" && self.lexer.clone().next_word().1 == Token::End;
        self.game.ended |= found;
        found
    }

    #[inline]
    fn play(&mut self, mv: shakmaty::Move) {
        let Some(most) = self.keyed_plies else { return self.show(mv) };
        let (key, side) = (self.position.key(), self.position.chess().turn());
        self.plies.push(KeyedPly { key, side, mv: MoveCode::from_move(mv) });
        self.position.play(mv);
        if self.plies.len() >= most {
            self.state = PgnState::Over;
        }
    }

    /// Shows a move to the visitor, and plays it.
    #[inline(never)]
    fn show(&mut self, mv: shakmaty::Move) {
        let flow = self.visitor.ply(&self.position, mv);
        if self.wants_variations {
            self.lines.before = Some((self.position.clone(), Some(mv)));
        }
        self.position.play(mv);
        if flow.is_break() {
            if self.lines.is_inside() { self.lines.ended = true } else { self.state = PgnState::Over }
        }
    }

    /// Lets the side to move pass, if it is not in check and the visitor goes on from there.
    fn passes(&mut self) -> bool {
        let passed = self.position.standard().and_then(|chess| chess.clone().swap_turn().ok());
        let Some(after) = passed else { return false };
        if !self.visitor.pass() {
            return false;
        }
        if self.wants_variations {
            self.lines.before = Some((self.position.clone(), None));
        }
        self.position = Position::from_chess(after);
        self.game.numbering.restart();
        true
    }

    /// Ends the present line at a word that is not a move in its position.
    fn unplayable(&mut self, at: usize, word: &str, error: ReadMoveError) {
        let reason = match error {
            ReadMoveError::NoMove => Reason::UnreadableMove,
            ReadMoveError::Null => Reason::NullMove,
            ReadMoveError::Illegal | ReadMoveError::Ambiguous => Reason::IllegalMove,
        };
        self.end_line(at, reason, word, &error.to_string());
    }

    /// Ends the present line at a word, for this reason.
    pub(super) fn end_line(&mut self, at: usize, reason: Reason, word: &str, why: &str) {
        let at_move = self.position.chess();
        let dots = at_move.turn().fold_wb(".", "...");
        let why = format!("{}{dots} {}: {why}", at_move.fullmoves(), shortened(word));
        if self.lines.is_inside() {
            let place = self.batch.place(at);
            self.lines.cut.get_or_insert(GameError { reason, place, why });
            self.lines.ended = true;
        } else {
            self.stop(at, reason, why);
        }
    }

    /// Ends the game, if one has begun.
    fn finish(&mut self) {
        if self.state == PgnState::None {
            return;
        }
        if self.is_too_large() {
            let len = (self.batch.piece.text.len() - self.game_start) >> 20;
            let why = format!(
                "only its first {len} MiB fit in the memory that is allowed: allow more, or split the game"
            );
            self.stop(self.game_start, Reason::TooLarge, why);
        }
        if self.lines.is_inside() && self.state == PgnState::Moves {
            self.stop_in_variation();
        }
        if !self.game.ended && self.header.result.is_none() {
            let result = self.trailing_result();
            self.game.ended = result.is_some();
            self.game.result = result.flatten();
        }
        if !self.game.ended && self.is_cut_off() {
            self.stop(self.game_start, Reason::Damaged, "the game goes on in zero bytes");
        }
        let PgnGame { result, error, .. } = std::mem::take(&mut self.game);
        match std::mem::take(&mut self.state) {
            PgnState::Moves | PgnState::Over => {
                self.lines.close_all().for_each(|()| self.visitor.end_variation());
                if self.keyed_plies.is_some() {
                    self.visitor.keyed_last(self.position.key());
                    self.unlisted.drain(..).for_each(|place| self.visitor.keyed_unlisted(place));
                    self.visitor.keyed_line(&self.plies);
                }
                let result = self.header.result.or(result);
                self.visitor.end(GameEnd { result, error, cut: self.lines.cut.take() });
            }
            PgnState::Waiting | PgnState::Unwanted | PgnState::None => {
                if let Some(error) = error {
                    self.games += error.games();
                    self.visitor.unreadable(error);
                }
            }
        }
    }

    /// Takes no more moves, because they may be part of a variation without end.
    fn stop_in_variation(&mut self) {
        self.stop(self.game_start, Reason::Unterminated, "a variation has no end");
    }

    /// Takes no more moves, for this reason; `at` is its place, in bytes of the piece.
    fn stop(&mut self, at: usize, reason: Reason, why: impl Into<String>) {
        if self.game.error.is_none() && matches!(self.state, PgnState::Waiting | PgnState::Moves) {
            self.game.error = Some(GameError { reason, place: self.batch.place(at), why: why.into() });
        }
        if self.state == PgnState::Moves {
            self.state = PgnState::Over;
        }
    }

    /// Wants nothing of this game, for this reason.
    fn refuse(&mut self, reason: Reason, why: impl Into<String>) {
        let place = self.batch.place(self.game_start);
        self.game.error = Some(GameError { reason, place, why: why.into() });
        self.state = PgnState::Unwanted;
    }
}

/// Whether a new game's moves begin here: with the number 1 of White's move, and not with a result.
fn begins_moves(lexer: &Lexer<'_>) -> bool {
    let text = lexer.rest();
    let Some(rest) = text.strip_prefix(b"1") else { return false };
    let before_move = rest.iter().take_while(|byte| matches!(byte, b'.' | b' '));
    let is_black =
        before_move.filter(|byte| **byte == b'.').count() > 1 || rest.starts_with("\u{2026}".as_bytes());
    !is_black
        && !rest.first().is_some_and(u8::is_ascii_digit)
        && matches!(lexer.clone().next_word().1, Token::Word(_) | Token::Comment(_) | Token::Open)
}

/// A word without the blanks in it; `None` if it has none.
fn without_blanks(word: &[u8]) -> Option<Vec<u8>> {
    if word.is_ascii() && !word.contains(&b' ') && !word.contains(&b'\t') {
        return None;
    }
    let text = decode_text(word);
    text.contains(is_blank).then(|| text.replace(is_blank, "").into_bytes())
}

/// A word for a message, shortened if it is long.
pub(super) fn shortened(word: &str) -> String {
    let mut short: String = word.chars().take(20).filter(|c| !c.is_control()).collect();
    if word.chars().nth(20).is_some() {
        short.push_str("...");
    }
    format!("{short:?}")
}
