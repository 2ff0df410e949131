//! The books: whether they are open, which of them answers, and the answer.
#![allow(clippy::cast_possible_truncation, reason = "a shown line has few moves")]

use std::hash::Hash;
use std::path::Path;
use std::sync::Arc;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng as _, SeedableRng};
use shakmaty::{CastlingMode, Color, Move, Position as _};

use tabiya_book::choose::{Chances, Policy, Refused, chances, chances_in, draw, likeliest_first};
use tabiya_book::traits::Book;
use tabiya_book::{BookSet, Format, Learnable};
use tabiya_chess::{Game, Position, Variant};
use tabiya_uci::{Go, bestmove, book_info};

use super::advice::Advice;
use super::event::{About, SilentBook};
use super::gui::Gui;
use super::lines::{PlayedLines, Scope, scope};
use super::opening_names::OpeningNames;
use super::output::Output;
use super::request::{BookAnswer, BookMove, Drawn, GoRequest};
use super::rules::{Objection, Rules};
use super::score::centipawns;
use crate::settings::advice::other_format;
use crate::settings::books::BookFiles;
use crate::settings::opponent::Opponent;
use crate::settings::options::{BookScore, Options};

/// Capacity for the lines of a book's answer, in bytes.
const ANSWER_CAPACITY: usize = 512;

/// Moves of the book's line that are sent as its `pv`.
const SHOWN_LINE: usize = 8;

/// The start of the message that no book can learn.
const NOT_LEARNED: &str = "Book Learn is on, but ";

/// Why none of these books can learn, and what to do; `None` if one can, or if there are none.
fn why_none_learns(books: &[Arc<dyn Book>]) -> Option<String> {
    if let Some(book) = books.iter().find(|book| book.as_learnable().is_some()) {
        let all = books.iter().all(|book| book.as_learnable().is_none_or(Learnable::is_read_only));
        let what = "is read-only: results are kept until it can be written";
        return all.then(|| format!("{} {what}", book.path().display()));
    }
    let learning = Format::learning()?;
    if let Some(book) = books.iter().find(|book| !book.format().learns()) {
        return Some(other_format(book.path(), learning));
    }
    let (book, noun, end) = (books.first()?.path().display(), learning.noun(), learning.extension());
    Some(format!("the {book} cannot learn: name {noun} (.{end})"))
}

/// A problem with a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookProblem {
    /// A sentence that names the book.
    pub what: String,
    /// Whether a book that may not be missing could not be opened.
    pub unopened: bool,
}

/// Whether the books that the options name are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenState {
    Done,
    /// They are being opened: lines wait.
    Awaited,
    /// They are still being opened: the engine plays meanwhile.
    Late,
}

/// The books of a variant that is not played now.
struct VariantFiles {
    configured: BookFiles,
    /// Those that the GUI has named.
    named: BookFiles,
}

/// The books that are open, and everything that choosing a move needs.
pub(super) struct Books {
    /// The books that are used if the GUI names none.
    configured: BookFiles,
    /// Those of other variants than the one that is played, and what the GUI has named for them.
    others: Vec<VariantFiles>,
    /// Whether the books of other variants were tried.
    tried: bool,
    /// The variant of the books that were asked for last.
    asked: Variant,
    /// The books that are open.
    pub(super) set: BookSet,
    /// The rules of those books that have one.
    rules: Rules,
    open_state: OpenState,
    /// Whether the starter book is asked, because none is named.
    is_starter: bool,
    /// Whether the stores of evaluations beside them were asked for.
    evaluated: bool,
    /// Books of standard chess that nobody has looked at since they were opened.
    unseen: Vec<Arc<dyn Book>>,
    /// Whether it was reported that no book can learn.
    learning_reported: bool,
    rng: Xoshiro256PlusPlus,
    pub(super) advice: Advice,
    /// Buffers for looking ahead.
    ahead: Advice,
    names: OpeningNames,
    /// The lines that were played, while *Book Fresh* is on.
    pub(super) lines: PlayedLines,
    /// A buffer for the next answer.
    buffer: Vec<u8>,
}

impl Books {
    pub(super) fn new(configured: BookFiles, variants: Vec<BookFiles>, seed: u32) -> Self {
        let others = variants.into_iter().map(|configured| VariantFiles {
            named: BookFiles { variant: configured.variant, ..BookFiles::default() },
            configured,
        });
        Self {
            configured,
            others: others.collect(),
            tried: false,
            asked: Variant::Chess,
            set: BookSet::default(),
            rules: Rules::default(),
            open_state: OpenState::Done,
            is_starter: false,
            evaluated: false,
            unseen: Vec::new(),
            learning_reported: false,
            rng: rng(seed),
            advice: Advice::default(),
            ahead: Advice::default(),
            names: OpeningNames::default(),
            lines: PlayedLines::default(),
            buffer: Vec::new(),
        }
    }

    /// Whether lines wait for books that are being opened.
    pub(super) fn are_awaited(&self) -> bool {
        self.open_state == OpenState::Awaited
    }

    /// The books that are named: by the options, else by the configuration.
    pub(super) fn files(&self, options: &Options) -> BookFiles {
        options.books.or(&self.configured)
    }

    /// Goes over to the books of a variant: keeps what the GUI has named for the one before.
    pub(super) fn play_variant(&mut self, variant: Variant, options: &mut Options) {
        if self.configured.variant == variant {
            return;
        }
        let none = BookFiles { variant, ..BookFiles::default() };
        let place = self.others.iter().position(|files| files.configured.variant == variant);
        let next = match place {
            Some(place) => self.others.swap_remove(place),
            None => VariantFiles { configured: none.clone(), named: none },
        };
        self.others.push(VariantFiles {
            configured: std::mem::replace(&mut self.configured, next.configured),
            named: std::mem::replace(&mut options.books, next.named),
        });
    }

    /// Asks for the books of the variant, if it has any and they were not asked for last.
    pub(super) fn refresh(&mut self, options: &Options, out: &mut Output) {
        if self.asked != self.configured.variant && !self.lack_variant(options) {
            self.open(options, out);
        }
    }

    /// Whether a variant is played that has no book: standard chess has at least the starter book.
    pub(super) fn lack_variant(&self, options: &Options) -> bool {
        self.configured.variant != Variant::Chess && self.files(options).are_unnamed()
    }

    /// Takes a new seed.
    pub(super) fn reseed(&mut self, seed: u32) {
        self.rng = rng(seed);
    }

    pub(super) fn new_game(&mut self) {
        self.rules.new_game();
        self.names.new_game();
        self.lines.new_game();
    }

    /// From now on this is the opponent.
    pub(super) fn meet(&mut self, opponent: Opponent) {
        self.rules.meet(opponent);
    }

    /// Which rules are for the opponent, in words; `None` if all are for every opponent.
    pub(super) fn met(&self) -> Option<String> {
        self.rules.met()
    }

    /// Asks for the books that the options name.
    pub(super) fn open(&mut self, options: &Options, out: &mut Output) {
        self.open_state = OpenState::Awaited;
        self.asked = self.configured.variant;
        if !std::mem::replace(&mut self.tried, true) {
            out.try_books = self.others.iter().map(|files| files.configured.clone()).collect();
        }
        let files = self.files(options);
        // Until the books are open, none is asked.
        self.rules.set(files.both.rules());
        self.evaluated = files.need_evaluations(&options.policy);
        self.is_starter = files.are_unnamed();
        out.open_books = Some(files);
        out.with_evaluations = self.evaluated;
    }

    /// Opens the books again with the stores beside them, if evaluations matter now.
    pub(super) fn need_evaluations(&mut self, options: &Options, out: &mut Output) {
        if !self.evaluated && self.files(options).need_evaluations(&options.policy) {
            self.open(options, out);
        }
    }

    /// Takes the books that [`Output::open_books`] last asked for, and the problems with them. Returns those that were
    /// open before.
    pub(super) fn opened(
        &mut self,
        book_set: BookSet,
        problems: Vec<BookProblem>,
        gui: &mut Gui,
        out: &mut Output,
    ) -> BookSet {
        for color in Color::ALL {
            for file in book_set.books(color).iter().filter_map(|book| Some(book.as_learnable()?.file())) {
                if !out.opened.iter().any(|opened| opened == file) {
                    out.opened.push(file.to_owned());
                }
            }
        }
        for problem in problems {
            gui.notify(problem.what, out);
        }
        if std::mem::replace(&mut self.open_state, OpenState::Done) == OpenState::Late {
            gui.notify("the books are open now".to_owned(), out);
        }
        // Those of variants were looked at before, and the starter book is known.
        let is_seen = self.asked != Variant::Chess || self.is_starter;
        self.unseen = if is_seen { Vec::new() } else { book_set.distinct() };
        std::mem::replace(&mut self.set, book_set)
    }

    /// The engine or a book has answered: there is time to look at the books.
    pub(super) fn look(&mut self, out: &mut Output) {
        out.look_at.append(&mut self.unseen);
    }

    /// The books take long to open: the engine plays until they are; whether lines have waited for them.
    pub(super) fn are_late(&mut self, gui: &mut Gui, out: &mut Output) -> bool {
        let waited = self.are_awaited();
        if waited {
            self.open_state = OpenState::Late;
            let what = "the books are slow to open (is the disk responding?): the engine plays until they \
                        are open";
            gui.notify(what.to_owned(), out);
        }
        waited
    }

    /// Says that results cannot be learned although they should be, once until they can.
    pub(super) fn check_learning(&mut self, learns: bool, gui: &mut Gui, out: &mut Output) {
        if self.open_state != OpenState::Done {
            return;
        }
        let why = if learns { why_none_learns(&self.set.distinct()) } else { None };
        if let Some(why) = why.as_ref().filter(|_| !self.learning_reported) {
            gui.notify_about(About::Learning, format!("{NOT_LEARNED}{why}"), out);
        }
        self.learning_reported = why.is_some();
    }

    /// Takes back the buffer of an answer that was sent.
    pub(super) fn reuse(&mut self, lines: Vec<u8>) {
        self.buffer = lines;
    }

    /// Asks the books by priority until one has a playable move that is not among those `passed_over`; `false` if none
    /// has, or if the books are not open yet. A rule's values come before those of the options.
    pub(super) fn ask(&mut self, request: &GoRequest, options: &Policy, passed_over: &[Move]) -> bool {
        let GoRequest { game, go, .. } = request;
        let Self { set, advice, rules, .. } = self;
        advice.clear();
        if self.open_state != OpenState::Done {
            advice.is_cut = true;
            return false;
        }
        rules.asked(game);
        advise(set, rules, (game, go), options, passed_over, advice)
    }

    /// The books that have moves for this request, none of which may be played.
    pub(super) fn refused(
        &mut self,
        GoRequest { game, go, .. }: &GoRequest,
        options: &Policy,
    ) -> Vec<SilentBook> {
        let color = game.position().chess().turn();
        let mut silent = Vec::new();
        if self.open_state != OpenState::Done {
            return silent;
        }
        for (index, book) in self.set.books(color).to_vec().into_iter().enumerate() {
            let rule = self.set.rule(color, index);
            if rule.is_some_and(|number| self.rules.objection(number, game, go).is_some()) {
                continue;
            }
            let own = rule.and_then(|number| self.rules.get(number)).map(|rule| rule.policy(options));
            let policy = own.as_ref().unwrap_or(options);
            let from = if rule.is_some() { index } else { 0 };
            let Chances { moves, chances, losses } = chances_in(&*book, (&mut self.set, from), game, policy);
            let moves = likeliest_first(moves, chances);
            let refused = Refused::new(&moves, &losses, (&mut self.set, from), game, policy);
            if !refused.is_empty() {
                silent.push(SilentBook { file: book.path().to_owned(), rule, refused });
            }
        }
        silent
    }

    /// The positions after the opponent's replies to a move in which the books have an answer, but for what the clock may forbid.
    fn replies(&mut self, game: &Game, mv: Move, options: &Policy) -> Vec<Position> {
        let (mut after, go) = (game.clone(), Go::default());
        after.push(mv);
        let mut answered = Vec::new();
        for reply in after.position().chess().legal_moves() {
            let mut next = after.clone();
            next.push(reply);
            self.ahead.clear();
            if advise(&mut self.set, &self.rules, (&next, &go), options, &[], &mut self.ahead) {
                answered.push(next.position().clone());
            }
        }
        answered
    }

    /// Chooses one of the moves that [`Books::ask`] found for this game, a fresh one for this scope if there is one; `None` if
    /// there are no moves.
    pub(super) fn draw(&mut self, game: &Game, scope: Option<Scope>) -> Option<Drawn> {
        let Advice { moves, chances, is_cut, .. } = &mut self.advice;
        let choice = scope.map(|scope| self.lines.prefer(scope, game.position(), *is_cut, moves, chances));
        let index = draw(chances, self.rng.next_u64())?;
        moves.get(index).map(|drawn| Drawn { mv: drawn.mv, choice })
    }

    /// Remembers a move that a book has played under these options.
    pub(super) fn played(&mut self, played: &BookMove, options: &Policy) {
        let BookMove { game, mv, rule, opening, choice, .. } = played;
        if let Some(number) = rule {
            self.rules.answered(*number, game, *mv);
        }
        if let Some(opening) = opening {
            self.names.announced(*opening);
        }
        if let Some(choice) = choice {
            let replies = self.replies(game, *mv, options);
            self.lines.answered(choice, game.position(), *mv, &replies);
        }
    }

    /// The scope of this player's lines, by all that decides which moves its books may play.
    pub(super) fn scope(&self, player: impl Hash, color: Color, policy: &Policy) -> Scope {
        // Any other variety than the best move leaves a chance to the same moves, and what was learned too.
        let mut policy = policy.clone();
        (policy.variety, policy.learn) = (policy.variety.min(1), false);
        let books = self.set.books(color);
        let paths: Vec<(&Path, Option<usize>)> = books
            .iter()
            .enumerate()
            .map(|(index, book)| (book.path(), self.set.rule(color, index)))
            .collect();
        scope((player, color.is_white(), paths, format!("{:?} {policy:?}", self.rules.list())))
    }

    /// The lines that answer a `go` with one of the moves that [`Books::ask`] found for this game; `None` if the
    /// move is not among them.
    pub(super) fn answer(
        &mut self,
        game: Arc<Game>,
        chosen: Drawn,
        mode: CastlingMode,
        score: BookScore,
    ) -> Option<BookAnswer> {
        let Self { set, advice, names, .. } = self;
        let position = game.position();
        let index = advice.moves.iter().position(|known| known.mv == chosen.mv)?;
        let (drawn, chance) = (advice.moves.get(index)?, *advice.chances.get(index)?);
        let (mv, centipawns) = (drawn.mv, centipawns(score, drawn));
        let line = &mut advice.line;
        line.clear();
        line.push(mv);
        let reading = advice.policy.reading(position.chess().turn(), advice.from);
        let mut plies = set.line_of(reading, position, mv, SHOWN_LINE - 1, line);
        let lasting = game.plies_of(line);
        if lasting < line.len() {
            line.truncate(lasting);
            plies = lasting as u32;
        }
        let mut lines = std::mem::take(&mut self.buffer);
        lines.clear();
        lines.reserve(ANSWER_CAPACITY);
        let opening = names.changed(&game, mv);
        advice.list(mode, Some((mv, plies)), opening, &mut lines);
        book_info(&mut lines, centipawns, advice.line.iter().map(|mv| mv.to_uci(mode)));
        bestmove(&mut lines, mv.to_uci(mode), advice.line.get(1).map(|mv| mv.to_uci(mode)));
        let (book, rule, choice) = (advice.book.clone()?, advice.rule, chosen.choice);
        let played = BookMove { game, mv, book, rule, chance, opening, choice };
        Some(BookAnswer { lines, mv, played: Some(Box::new(played)) })
    }
}

/// Asks the books by priority until one has a playable move that is not among those `passed_over`, and notes what it has in
/// `advice`, which is empty; `false` if none has.
fn advise(
    set: &mut BookSet,
    rules: &Rules,
    (game, go): (&Game, &Go),
    options: &Policy,
    passed_over: &[Move],
    advice: &mut Advice,
) -> bool {
    advice.is_cut = go.searchmoves.is_some();
    let position = game.position();
    let color = position.chess().turn();
    let asked: Option<Vec<Move>> = go
        .searchmoves
        .as_ref()
        .map(|moves| moves.iter().filter_map(|mv| mv.to_move(position.chess()).ok()).collect());
    for index in 0..set.books(color).len() {
        let number = set.rule(color, index);
        if let Some(number) = number
            && let Some(why) = rules.objection(number, game, go)
        {
            advice.is_cut |= why == Objection::Clock;
            // A rule may have several books.
            if advice.skipped.last() != Some(&(number, why)) {
                advice.skipped.push((number, why));
            }
            continue;
        }
        let own = number.and_then(|number| rules.get(number)).map(|rule| rule.policy(options));
        let policy = own.as_ref().unwrap_or(options);
        let Some(book) = set.books(color).get(index).filter(|_| policy.covers(game.fullmove())).cloned()
        else {
            continue;
        };
        advice.moves.clear();
        book.moves(position, &mut advice.moves);
        policy.take_off_course(game, &mut advice.moves);
        if advice.moves.is_empty() {
            continue;
        }
        // The books before that of a rule may have answered under conditions that no longer hold.
        let from = if number.is_some() { index } else { 0 };
        let Advice { losses, refused, .. } = advice;
        losses.clear();
        if policy.max_loss > 0
            && let Some(known) = set.evaluations(&*book)
        {
            let moves = advice.moves.iter().map(|facts| facts.mv);
            losses.look_up(position, moves, |at| known.value(at));
        }
        let allowed = |mv: Move| {
            if !asked.as_ref().is_none_or(|asked| asked.contains(&mv))
                || passed_over.contains(&mv)
                || !policy.admits(set, from, game, mv)
            {
                return false;
            }
            let loss = losses.loss_of(mv).filter(|loss| policy.refuses(*loss));
            refused.extend(loss.map(|loss| (mv, loss)));
            loss.is_none()
        };
        chances(&advice.moves, policy, allowed, &mut advice.chances);
        if advice.chances.iter().any(|chance| *chance > 0.0) {
            advice.policy.clone_from(policy);
            (advice.book, advice.rule, advice.from) = (Some(book), number, from);
            return true;
        }
    }
    false
}

/// Random numbers: the same sequence for the same seed on every machine; 0 takes a seed from the system.
fn rng(seed: u32) -> Xoshiro256PlusPlus {
    if seed == 0 { rand::make_rng() } else { Xoshiro256PlusPlus::seed_from_u64(seed.into()) }
}
