//! The tags of a game.

use std::str::from_utf8;

use shakmaty::EnPassantMode;
use shakmaty::fen::Fen;

use super::entities::Entity;
use super::layout::{source, team, tournament};
use super::notes::Facts;
use super::reader::{CbhGame, CbhReader};
use super::record::{CbhOutcome, CbhRecord};
use crate::export::PgnWriter;
use crate::{Date, GameResult};

/// Writes the tags of games.
#[derive(Debug, Default)]
pub struct Tags {
    /// A value under construction.
    value: String,
    /// The tournament of `event` and `more`, which usually has many games in sequence.
    tournament: Option<u32>,
    /// Its name and place.
    event: PgnWriter,
    /// What else is known of it.
    more: PgnWriter,
}

impl Tags {
    /// Writes the seven tags that every game has, then the others in alphabetical order.
    pub fn write(
        &mut self,
        out: &mut PgnWriter,
        reader: &mut CbhReader<'_>,
        record: &CbhRecord,
        game: Option<&CbhGame>,
        facts: &Facts,
    ) {
        let db = reader.db();
        if self.tournament != Some(record.tournament()) {
            self.set_tournament(reader, record.tournament());
        }
        out.tags(&self.event);
        out.tag("Date", from_utf8(&record.date().to_pgn()).unwrap_or_default());
        self.value.clear();
        record.push_round(&mut self.value);
        out.tag("Round", or_unknown(&self.value));
        for (tag, number) in [("White", record.white()), ("Black", record.black())] {
            self.value.clear();
            if let Some(player) = db.players.live(number) {
                player.push_player(&mut self.value);
            }
            out.tag(tag, or_unknown(&self.value));
        }
        out.tag("Result", record.outcome().result().map_or("*", GameResult::as_pgn));

        let (white_elo, black_elo) = record.elos();
        let [white_team, black_team] = reader.teams(record).map(|team| db.teams.live(team?));
        let annotator = db.annotators.live(record.annotator()).map(Entity::name);
        out.known_tag("Annotator", &annotator.unwrap_or_default());
        out.known_tag("BlackClock", &facts.black_clock);
        number_tag(out, "BlackElo", black_elo);
        team_tags(out, ["BlackTeam", "BlackTeamCountry"], black_team);
        out.known_tag("ECO", record.eco().as_ref().and_then(|eco| from_utf8(eco).ok()).unwrap_or_default());
        out.tags(&self.more);
        let start = game.and_then(|game| game.start.as_ref());
        if let Some(start) = start {
            out.tag("FEN", &Fen::from_position(&start.chess, EnPassantMode::Legal).to_string());
        }
        let title = reader.title(record).and_then(|title| db.titles.live(title)).map(Entity::title);
        out.known_tag("GameTitle", &title.unwrap_or_default());
        if start.is_some() {
            out.tag("SetUp", "1");
        }
        // The source that means none has neither name nor publisher.
        if let Some(found) = db.sources.live(record.source()) {
            let (title, publisher) = (found.text(source::TITLE), found.text(source::PUBLISHER));
            if !title.is_empty() || !publisher.is_empty() {
                out.known_tag("Source", &publisher);
                date_tag(out, "SourceDate", found.date(source::PUBLICATION));
                number_tag(out, "SourceQuality", found.byte(source::QUALITY));
                out.known_tag("SourceTitle", &title);
                number_tag(out, "SourceVersion", found.byte(source::VERSION));
                date_tag(out, "SourceVersionDate", found.date(source::DATE));
            }
        }
        match record.outcome() {
            CbhOutcome::Ended(_, true) => out.tag("Termination", "forfeit"),
            CbhOutcome::BothLost => out.tag("Termination", "both lost"),
            CbhOutcome::Ended(_, false) | CbhOutcome::Line => {}
        }
        out.known_tag("TimeControl", &facts.time_control);
        if game.is_some_and(|game| game.mode.chess960) {
            out.tag("Variant", "Chess960");
        }
        out.known_tag("WhiteClock", &facts.white_clock);
        number_tag(out, "WhiteElo", white_elo);
        team_tags(out, ["WhiteTeam", "WhiteTeamCountry"], white_team);
    }

    /// Prepares the tags of a tournament.
    fn set_tournament(&mut self, reader: &CbhReader<'_>, number: u32) {
        let Self { value, event, more, .. } = self;
        self.tournament = Some(number);
        event.clear();
        more.clear();
        let found = reader.db().tournaments.live(number);
        let text = |field| found.map(|found| found.text(field)).unwrap_or_default();
        event.tag("Event", or_unknown(&text(tournament::TITLE)));
        event.tag("Site", or_unknown(&text(tournament::PLACE)));
        let Some(found) = found else { return };
        number_tag(more, "EventCategory", found.byte(tournament::CATEGORY));
        more.known_tag("EventCountry", found.nation(tournament::NATION));
        date_tag(more, "EventDate", found.date(tournament::DATE));
        number_tag(more, "EventRounds", found.byte(tournament::ROUNDS));
        value.clear();
        found.push_type(value);
        more.known_tag("EventType", value);
    }
}

fn or_unknown(value: &str) -> &str {
    if value.is_empty() { "?" } else { value }
}

/// Writes a number that is not 0.
fn number_tag(out: &mut PgnWriter, tag: &str, number: impl Into<u16>) {
    let number = number.into();
    if number != 0 {
        out.tag(tag, itoa::Buffer::new().format(number));
    }
}

/// Writes a date of which something is known.
fn date_tag(out: &mut PgnWriter, tag: &str, date: Date) {
    if !date.is_unknown() {
        out.tag(tag, from_utf8(&date.to_pgn()).unwrap_or_default());
    }
}

/// Writes the name and the country of a team.
fn team_tags(out: &mut PgnWriter, [name, country]: [&str; 2], team: Option<Entity<'_>>) {
    let Some(team) = team else { return };
    let known = team.team();
    if !known.is_empty() {
        out.tag(name, &known);
        out.known_tag(country, team.nation(team::NATION));
    }
}
