//! A database as PGN.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use shakmaty::fen::Fen;
use shakmaty::{EnPassantMode, Move, Position as _};

use super::board::Board;
use super::database::Cbh;
use super::decode::Sink;
use super::notes::{self, Facts};
use super::parallel::in_order;
use super::reader::{Game, Reader};
use super::record::{Kind, Outcome, Record};
use super::san;
use crate::base::error::Result;
use crate::games::export::{Notes, San, Tree, Writer};
use crate::games::{Date, GameResult, Problem, Reason};

/// What of a database is written.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The first and the last game.
    pub games: (u32, u32),
    /// Whether variations are left out.
    pub main_line: bool,
    /// Whether annotations are left out.
    pub bare: bool,
    /// Whether deleted games are written too.
    pub deleted: bool,
    /// How many threads work.
    pub threads: usize,
}

/// What became of the games.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Games that were written.
    pub games: u64,
    /// Texts, which PGN has no place for.
    pub texts: u64,
    /// Deleted games that were left out.
    pub deleted: u64,
    /// Records that are neither games nor texts.
    pub unknown: u64,
    /// Games of which moves were lost, by the kind of reason.
    pub damaged: BTreeMap<Reason, u64>,
    /// Games of which annotations were lost.
    pub notes_damaged: u64,
    /// Annotations that PGN has no words for, by their type.
    pub left_out: BTreeMap<u8, u64>,
}

impl Totals {
    fn add(&mut self, other: &Self) {
        self.games += other.games;
        self.texts += other.texts;
        self.deleted += other.deleted;
        self.unknown += other.unknown;
        self.notes_damaged += other.notes_damaged;
        other.damaged.iter().for_each(|(reason, count)| *self.damaged.entry(*reason).or_default() += count);
        other.left_out.iter().for_each(|(kind, count)| *self.left_out.entry(*kind).or_default() += count);
    }
}

/// What one thread found in one run of games.
#[derive(Default)]
struct Written {
    text: Vec<u8>,
    totals: Totals,
    problems: Vec<Problem>,
}

/// Who is given what is written.
pub trait Output {
    /// Some more text.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write(&mut self, text: &[u8]) -> Result<()>;

    /// Damage to a game: the moves before it were written.
    fn problem(&mut self, problem: &Problem);

    /// All games up to this one are through.
    ///
    /// # Errors
    /// When the work is to stop.
    fn at(&mut self, game: u32) -> Result<()>;
}

/// Writes a database.
///
/// # Errors
/// When the output fails.
pub fn export(db: &Cbh, options: &Options, output: &mut dyn Output) -> Result<Totals> {
    let mut totals = Totals::default();
    let (first, last) = options.games;
    in_order(
        (first.max(1), last.min(db.count())),
        options.threads,
        || Exporter::new(db, options),
        |exporter, games, written: &mut Written| exporter.run(games, written),
        |last, written| {
            output.write(&written.text)?;
            written.problems.iter().for_each(|problem| output.problem(problem));
            totals.add(&written.totals);
            output.at(last)
        },
    )?;
    Ok(totals)
}

/// One thread's way of writing games.
struct Exporter<'a> {
    reader: Reader<'a>,
    options: &'a Options,
    writer: Writer,
    tree: Tree,
    notes: Notes,
    facts: Facts,
    /// A value that is being put together.
    value: String,
    event: Event,
}

/// The tags of a tournament, which mostly has many games in sequence.
#[derive(Default)]
struct Event {
    number: Option<u32>,
    /// Its name and place.
    head: Vec<u8>,
    /// What else is known of it.
    more: Vec<u8>,
}

impl<'a> Exporter<'a> {
    fn new(db: &'a Cbh, options: &'a Options) -> Self {
        Self {
            reader: Reader::new(db),
            options,
            writer: Writer::default(),
            tree: Tree::default(),
            notes: Notes::default(),
            facts: Facts::default(),
            value: String::new(),
            event: Event::default(),
        }
    }

    fn run(&mut self, (from, to): (u32, u32), written: &mut Written) {
        written.totals = Totals::default();
        written.problems.clear();
        self.writer.swap(&mut written.text);
        self.writer.clear();
        for number in from..=to {
            match self.reader.record(number) {
                Ok(record) => self.one(number, Record(&record), written),
                Err(error) => {
                    let place = self.reader.place(number, 0, 0);
                    self.lost(Problem { reason: Reason::Damaged, place, why: error.to_string() }, written);
                }
            }
        }
        self.writer.swap(&mut written.text);
    }

    fn lost(&mut self, problem: Problem, written: &mut Written) {
        *written.totals.damaged.entry(problem.reason).or_default() += 1;
        written.problems.push(problem);
    }

    fn one(&mut self, number: u32, record: Record<'_>, written: &mut Written) {
        match record.kind() {
            Kind::Game if record.is_deleted() && !self.options.deleted => {
                written.totals.deleted += 1;
                return;
            }
            Kind::Game => {}
            Kind::Text => {
                written.totals.texts += 1;
                return;
            }
            Kind::Unknown => {
                written.totals.unknown += 1;
                return;
            }
        }
        self.tree.clear();
        self.notes.clear();
        self.facts.clear();
        let game = match self.reader.find(number, record) {
            Ok(game) => {
                self.decode(&game, written);
                Some(game)
            }
            Err(unreadable) => {
                let place = self.reader.place(number, unreadable.offset, 0);
                self.lost(Problem { reason: unreadable.reason, place, why: unreadable.why }, written);
                None
            }
        };
        if !self.options.bare {
            self.annotate(number, record, written);
        }
        self.tags(number, record, game.as_ref());
        let result = record.outcome().result().map_or("*", GameResult::as_pgn);
        self.writer.moves(&self.tree, &self.notes, result);
        written.totals.games += 1;
    }

    fn decode(&mut self, game: &Game, written: &mut Written) {
        if let Some(start) = &game.start {
            self.tree.first = start.chess.turn();
        }
        self.tree.number = game.number_of_first();
        let ended = if self.options.main_line {
            self.reader.decode(game, &mut Text::<false>(&mut self.tree))
        } else {
            self.reader.decode(game, &mut Text::<true>(&mut self.tree))
        };
        match ended {
            Err(damage) => {
                let problem = self.reader.problem(game, &damage);
                self.lost(problem, written);
            }
            Ok(()) if game.cut => {
                let place = self.reader.place(game.number, game.offset, game.len);
                let why = "its moves are cut off by the end of the file".to_owned();
                self.lost(Problem { reason: Reason::Damaged, place, why }, written);
            }
            Ok(()) => {}
        }
    }

    fn annotate(&mut self, number: u32, record: Record<'_>, written: &mut Written) {
        match self.reader.notes(number, record) {
            Ok(None) => {}
            Ok(Some((_, items))) => {
                // Without variations the moves from the first one of them on are not there, and nothing is said of them.
                notes::read(items, self.tree.len(), &mut self.notes, &mut self.facts);
                let lost = self.facts.damage.is_some() && !self.options.main_line;
                written.totals.notes_damaged += u64::from(lost);
                for (kind, count) in &self.facts.left_out {
                    *written.totals.left_out.entry(*kind).or_default() += count;
                }
            }
            Err(_) => written.totals.notes_damaged += 1,
        }
        let evaluation = record.line_evaluation();
        if evaluation != 0 {
            // The evaluation of a line follows its last move, for it has no result.
            let mut last = 0;
            while let Some(next) = self.tree.node(last).map(|node| node.next).filter(|&next| next != 0) {
                last = next;
            }
            self.notes.entry(last).glyphs.push(evaluation);
        }
    }

    /// The seven tags that every game has, then the others in the order of their letters.
    fn tags(&mut self, number: u32, record: Record<'_>, game: Option<&Game>) {
        let db = self.reader.db();
        self.event(record.tournament());
        let source = Cbh::live(&db.sources, record.source()).map(|entity| entity.source());
        let known = |text: &'_ str| !text.is_empty();
        self.writer.again(&self.event.head);
        self.fill(|value| push_date(value, record.date()));
        self.writer.tag("Date", &self.value);
        self.fill(|value| record.push_round(value));
        self.value_or("Round", "?");
        for (tag, player) in [("White", record.white()), ("Black", record.black())] {
            self.fill(|value| {
                if let Some(player) = Cbh::live(&db.players, player) {
                    player.push_player(value);
                }
            });
            self.value_or(tag, "?");
        }
        self.writer.tag("Result", record.outcome().result().map_or("*", GameResult::as_pgn));

        let (white_elo, black_elo) = record.elos();
        let teams = self.reader.teams(number).map(|team| team.and_then(|team| Cbh::live(&db.teams, team)));
        let [white_team, black_team] = teams.map(|team| {
            team.map(|team| {
                let mut name = String::new();
                team.push_team(&mut name);
                (name, team.team().0)
            })
        });
        if let Some(annotator) = Cbh::live(&db.annotators, record.annotator()) {
            self.some("Annotator", &annotator.name());
        }
        if let Some(clock) = &self.facts.black_clock {
            self.writer.tag("BlackClock", clock);
        }
        self.number("BlackElo", black_elo.into());
        if let Some((name, country)) = black_team.filter(|(name, _)| known(name)) {
            self.writer.tag("BlackTeam", &name);
            self.some("BlackTeamCountry", country.unwrap_or_default());
        }
        if let Some(eco) = record.eco() {
            self.writer.tag("ECO", std::str::from_utf8(&eco).unwrap_or_default());
        }
        self.writer.again(&self.event.more);
        let start = game.and_then(|game| game.start.as_ref());
        if let Some(start) = start {
            let fen = Fen::from_position(&start.chess, EnPassantMode::Legal).to_string();
            self.writer.tag("FEN", &fen);
        }
        if let Some(title) = self.reader.title(number).and_then(|title| Cbh::live(&db.titles, title)) {
            self.some("GameTitle", &title.title());
        }
        if start.is_some() {
            self.writer.tag("SetUp", "1");
        }
        // The source that means none has neither name nor publisher.
        if let Some(source) = source.filter(|source| known(&source.title) || known(&source.publisher)) {
            self.some("Source", &source.publisher);
            self.date("SourceDate", source.publication);
            self.number("SourceQuality", source.quality.into());
            self.some("SourceTitle", &source.title);
            self.number("SourceVersion", source.version.into());
            self.date("SourceVersionDate", source.date);
        }
        match record.outcome() {
            Outcome::Ended(_, Some(_)) => self.writer.tag("Termination", "forfeit"),
            Outcome::BothLost => self.writer.tag("Termination", "both lost"),
            Outcome::Ended(_, None) | Outcome::Line => {}
        }
        if let Some(control) = &self.facts.time_control {
            self.writer.tag("TimeControl", control);
        }
        if game.is_some_and(|game| game.mode.chess960) {
            self.writer.tag("Variant", "Chess960");
        }
        if let Some(clock) = &self.facts.white_clock {
            self.writer.tag("WhiteClock", clock);
        }
        self.number("WhiteElo", white_elo.into());
        if let Some((name, country)) = white_team.filter(|(name, _)| known(name)) {
            self.writer.tag("WhiteTeam", &name);
            self.some("WhiteTeamCountry", country.unwrap_or_default());
        }
    }

    /// Puts the tags of a tournament together.
    fn event(&mut self, number: u32) {
        if self.event.number == Some(number) {
            return;
        }
        let db = self.reader.db();
        let tournament = Cbh::live(&db.tournaments, number).map(|entity| entity.tournament());
        let mut games = Vec::new();
        self.writer.swap(&mut games);
        self.tag_or("Event", tournament.as_ref().map_or("", |tournament| &tournament.title), "?");
        self.tag_or("Site", tournament.as_ref().map_or("", |tournament| &tournament.place), "?");
        let mut head = std::mem::take(&mut self.event.head);
        head.clear();
        self.writer.swap(&mut head);
        if let Some(tournament) = tournament {
            self.number("EventCategory", tournament.category.into());
            self.some("EventCountry", tournament.nation.unwrap_or_default());
            self.date("EventDate", tournament.date);
            self.number("EventRounds", tournament.rounds.into());
            self.fill(|value| tournament.push_type(value));
            if !self.value.is_empty() {
                self.writer.tag("EventType", &self.value);
            }
        }
        self.writer.swap(&mut games);
        self.event = Event { number: Some(number), head, more: games };
    }

    fn fill(&mut self, fill: impl FnOnce(&mut String)) {
        self.value.clear();
        fill(&mut self.value);
    }

    fn value_or(&mut self, tag: &str, unknown: &str) {
        let value = if self.value.is_empty() { unknown } else { &self.value };
        self.writer.tag(tag, value);
    }

    fn tag_or(&mut self, tag: &str, value: &str, unknown: &str) {
        self.writer.tag(tag, if value.is_empty() { unknown } else { value });
    }

    fn some(&mut self, tag: &str, value: &str) {
        if !value.is_empty() {
            self.writer.tag(tag, value);
        }
    }

    fn number(&mut self, tag: &str, number: u32) {
        if number != 0 {
            self.fill(|value| push_number(value, number, 1));
            self.writer.tag(tag, &self.value);
        }
    }

    fn date(&mut self, tag: &str, date: Date) {
        if !date.is_unknown() {
            self.fill(|value| push_date(value, date));
            self.writer.tag(tag, &self.value);
        }
    }
}

/// Appends a number with at least so many digits.
fn push_number(value: &mut String, number: u32, digits: u32) {
    let mut place = 10_u32.pow(digits.saturating_sub(1).min(9));
    while number / place >= 10 && place <= 100_000_000 {
        place *= 10;
    }
    while place > 0 {
        value.push(char::from(b'0' + (number / place % 10) as u8));
        place /= 10;
    }
}

/// Appends a date as PGN has it.
fn push_date(value: &mut String, date: Date) {
    match date.year {
        0 => value.push_str("????"),
        year => push_number(value, year.into(), 4),
    }
    for part in [date.month, date.day] {
        value.push('.');
        match part {
            0 => value.push_str("??"),
            part => push_number(value, part.into(), 2),
        }
    }
}

/// Turns moves into text.
struct Text<'a, const VARIATIONS: bool>(&'a mut Tree);

impl<const VARIATIONS: bool> Sink for Text<'_, VARIATIONS> {
    const VARIATIONS: bool = VARIATIONS;
    type Before = San;

    #[inline]
    fn before(&mut self, board: &Board, mv: Move) -> San {
        san::before(board, mv)
    }

    #[inline]
    fn after(&mut self, board: &Board, _: Move, mut san: San) -> ControlFlow<()> {
        san::after(&mut san, board);
        self.0.add(san);
        ControlFlow::Continue(())
    }

    fn pass(&mut self) -> ControlFlow<()> {
        self.0.add(San::new(b"--"));
        ControlFlow::Continue(())
    }

    fn push(&mut self) {
        self.0.push();
    }

    fn pop(&mut self) {
        self.0.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_dates_are_written_as_pgn_has_them() {
        let written = |date: &str| {
            let mut value = String::new();
            push_date(&mut value, Date::from_pgn(date));
            value
        };
        for date in ["2016.07.26", "2016.07.??", "2016.??.??", "????.??.??", "0987.01.01"] {
            assert_eq!(written(date), date);
            assert_eq!(written(date), Date::from_pgn(date).to_string());
        }
        for number in [0, 7, 10, 99, 2800, u32::MAX] {
            let mut value = String::new();
            push_number(&mut value, number, 1);
            assert_eq!(value, number.to_string());
        }
    }
}
