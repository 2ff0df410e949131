//! The header of a game.
#![allow(clippy::cast_possible_truncation, reason = "a day and a month are limited before")]

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use tabiya_chess::Position;

use super::GameResult;

/// What is known of a game before its moves. Unknown texts are empty.
#[derive(Clone, Debug, Default)]
pub struct GameHeader {
    /// The tournament.
    pub event: String,
    /// Where it was played.
    pub site: String,
    /// When it was played.
    pub date: Date,
    /// Its round.
    pub round: String,
    /// White's name.
    pub white: String,
    /// Black's name.
    pub black: String,
    /// White's rating, if it is known.
    pub white_elo: Option<NonZeroU16>,
    /// Black's rating, if it is known.
    pub black_elo: Option<NonZeroU16>,
    /// The result, if the header has one.
    pub result: Option<GameResult>,
    /// The position that the game starts from, if it is not the ordinary one.
    #[doc(hidden)]
    pub start: Option<Position>,
    /// The tags that the visitor [wants](super::Visitor::wanted_tags), by their names there, with the texts of the source; or
    /// [all of them](super::Visitor::wants_all_tags), by their names in the source.
    pub tags: Vec<(String, String)>,
    /// Where the game is.
    pub place: GameLocation,
}

impl GameHeader {
    /// Removes everything but the place, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        let Self {
            event,
            site,
            date,
            round,
            white,
            black,
            white_elo,
            black_elo,
            result,
            start,
            tags,
            place: _,
        } = self;
        tags.clear();
        for text in [event, site, round, white, black] {
            text.clear();
        }
        *date = Date::default();
        (*white_elo, *black_elo) = (None, None);
        *result = None;
        *start = None;
    }

    /// The text of a tag, its name in any letter case: as the source has it if it was wanted, or else from what the header
    /// always holds. `None` if there is no such tag, or if its text is empty.
    pub fn tag(&self, name: &str) -> Option<Cow<'_, str>> {
        if let Some((_, text)) = self.tags.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            return Some(text.into()).filter(|_| !text.is_empty());
        }
        let elo = |elo: Option<NonZeroU16>| elo.map_or_else(String::new, |elo| elo.to_string());
        let text: Cow<'_, str> = match &*name.to_ascii_lowercase() {
            "event" => (&*self.event).into(),
            "site" => (&*self.site).into(),
            "round" => (&*self.round).into(),
            "white" => (&*self.white).into(),
            "black" => (&*self.black).into(),
            "date" if !self.date.is_unknown() => self.date.to_string().into(),
            "whiteelo" => elo(self.white_elo).into(),
            "blackelo" => elo(self.black_elo).into(),
            "result" => self.result.map_or("", GameResult::as_pgn).into(),
            _ => return None,
        };
        Some(text).filter(|text| !text.is_empty())
    }
}

/// Whether the text of a header's round names one: `?` and `-` do not.
pub fn is_known_round(round: &str) -> bool {
    !matches!(round, "" | "?" | "-")
}

/// A date, possibly without day or month. Unknown parts are 0, so that dates sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Date {
    /// The year, at most 9999.
    pub year: u16,
    /// The month, from 1.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
}

impl Date {
    /// Reads `2021.03.14`, `2021.??.??`, `2021-03-14` or `2021`, and `14.03.2021`. A part that is not a number is unknown, and so
    /// are those after it; a year has four digits.
    ///
    /// ```
    /// use tabiya_games::Date;
    /// assert_eq!(Date::from_pgn("2021.03.??"), Date { year: 2021, month: 3, day: 0 });
    /// assert_eq!(Date::from_pgn("????.??.??"), Date::default());
    /// ```
    pub fn from_pgn(text: &str) -> Self {
        let text = text.trim();
        // The day comes first.
        if let [day, month, year] = text.split('.').collect::<Vec<_>>()[..]
            && day.len() <= 2
            && month.len() <= 2
            && is_year(year)
        {
            return Self::from_pgn(&format!("{year}.{month}.{day}"));
        }
        let mut parts = text.split(['.', '-', '/']);
        let year = parts.next().filter(|year| is_year(year)).and_then(|year| year.parse().ok()).unwrap_or(0);
        let mut parts = parts.map_while(|part| part.trim().parse::<u16>().ok());
        let mut part = |most| parts.next().filter(|&part| part <= most).unwrap_or(0) as u8;
        let (month, day) = (part(12), part(31));
        match (year, month) {
            (0, _) => Self::default(),
            (_, 0) => Self { year, month: 0, day: 0 },
            _ => Self { year, month, day },
        }
    }

    /// The date as PGN writes it.
    ///
    /// ```
    /// use tabiya_games::Date;
    /// assert_eq!(&Date { year: 2021, month: 3, day: 0 }.to_pgn(), b"2021.03.??");
    /// ```
    pub fn to_pgn(self) -> [u8; 10] {
        let digit = |number: u16, place: u16| match number {
            0 => b'?',
            _ => b'0' + (number / place % 10) as u8,
        };
        let (year, month, day) = (self.year, self.month.into(), self.day.into());
        let [y1, y2, y3, y4] = [1000, 100, 10, 1].map(|place| digit(year, place));
        let [[m1, m2], [d1, d2]] = [month, day].map(|part| [10, 1].map(|place| digit(part, place)));
        [y1, y2, y3, y4, b'.', m1, m2, b'.', d1, d2]
    }

    /// The number of days in the month; 31 if it is unknown.
    fn days_in_month(self) -> u8 {
        let is_leap =
            self.year.is_multiple_of(4) && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400));
        match self.month {
            2 if is_leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    /// The last day that the date may mean: the end of the year or month if the day is unknown.
    #[must_use]
    pub fn last_day(self) -> Self {
        let month = if self.month == 0 { 12 } else { self.month };
        let last = Self { month, ..self }.days_in_month();
        Self { month, day: if self.day == 0 { last } else { self.day }, ..self }
    }

    /// Whether it may lie between these two, both included. Without either any date does, and an unknown one does only then.
    #[doc(hidden)]
    pub fn is_within(self, from: Option<Self>, to: Option<Self>) -> bool {
        from.is_none_or(|from| !self.is_unknown() && self.last_day() >= from)
            && to.is_none_or(|to| !self.is_unknown() && self <= to.last_day())
    }

    /// Years since the year 0, with a part of one for month and day; those that are unknown count as the first.
    #[doc(hidden)]
    pub fn years(self) -> f64 {
        let days = u32::from(self.month.max(1) - 1) * 31 + u32::from(self.day.max(1) - 1);
        f64::from(self.year) + f64::from(days) / f64::from(12 * 31)
    }

    /// Whether nothing of it is known.
    pub fn is_unknown(self) -> bool {
        self == Self::default()
    }
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl FromStr for Date {
    type Err = &'static str;

    /// Reads a date that a user gives: `2021`, `2021.03` or `2021-03-14`. Unlike [`Date::from_pgn`], which is lenient,
    /// it accepts only days that exist.
    ///
    /// ```
    /// use tabiya_games::Date;
    /// assert_eq!("2021-3".parse(), Ok(Date { year: 2021, month: 3, day: 0 }));
    /// assert!("2021-13".parse::<Date>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "not a date: write 2021, 2021.03 or 2021.03.14";
        const YEAR: &str = "not a date: a year has four digits, as in 2021, 2021.03 or 2021.03.14";
        let text = text.trim();
        let mut parts = text.split(['.', '-', '/']).map(str::parse::<u16>);
        let mut part = || parts.next().transpose().map_err(|_| FORM);
        let (year, month, day) = (part()?.ok_or(FORM)?, part()?, part()?);
        if part()?.is_some() {
            return Err(FORM);
        }
        if year == 0 || !text.split(['.', '-', '/']).next().is_some_and(is_year) {
            return Err(YEAR);
        }
        let month = match month {
            None => 0,
            Some(month @ 1..=12) => month as u8,
            Some(_) => return Err("no such month: months are 1 to 12"),
        };
        let date = Self { year, month, day: 0 };
        match day {
            None => Ok(date),
            Some(day) if day >= 1 && day <= date.days_in_month().into() => {
                Ok(Self { day: day as u8, ..date })
            }
            Some(_) => Err("no such day in this month"),
        }
    }
}

impl fmt::Display for Date {
    /// As PGN writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.to_pgn()).unwrap_or_default())
    }
}

/// Where in a file a game is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GameLocation {
    /// The file.
    #[serde(serialize_with = "text", deserialize_with = "path")]
    pub file: Arc<Path>,
    /// How a user finds it there.
    pub spot: LineOrGame,
    /// The offset of its first byte, in bytes from the start of the file, after decompression.
    pub offset: u64,
    /// Its length in bytes; 0 if unknown.
    pub length: u64,
}

/// How a user finds a game in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LineOrGame {
    /// The line of a text, from 1.
    Line(u64),
    /// The number of a game in a database, from 1.
    Game(u64),
}

fn text<S: Serializer>(path: &Arc<Path>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

fn path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Path>, D::Error> {
    Ok(PathBuf::deserialize(deserializer)?.into())
}

impl Default for GameLocation {
    fn default() -> Self {
        Self { file: Arc::from(Path::new("")), spot: LineOrGame::Line(1), offset: 0, length: 0 }
    }
}

impl fmt::Display for GameLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.spot)
    }
}

impl fmt::Display for LineOrGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Game(game) => write!(f, "game {game}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_far_as_they_are_known() {
        for (text, date) in [
            ("2021.03.14", (2021, 3, 14)),
            ("0987.01.01", (987, 1, 1)),
            ("2021-03-14", (2021, 3, 14)),
            ("2021.03.??", (2021, 3, 0)),
            ("2021.??.14", (2021, 0, 0)),
            ("2021", (2021, 0, 0)),
            ("2021.13.40", (2021, 0, 0)),
            ("????.??.??", (0, 0, 0)),
            ("99999.1.1", (0, 0, 0)),
            // No year is meant by two digits.
            ("21", (0, 0, 0)),
            ("21.03.14", (0, 0, 0)),
            ("98.??.??", (0, 0, 0)),
            ("14.03.2021", (2021, 3, 14)),
            ("1.2.2021", (2021, 2, 1)),
            ("??.03.2021", (2021, 3, 0)),
            ("03/14/2021", (0, 0, 0)),
            ("", (0, 0, 0)),
        ] {
            let read = Date::from_pgn(text);
            assert_eq!((read.year, read.month, read.day), date, "{text}");
            assert_eq!(Date::from_pgn(&read.to_string()), read);
        }
    }

    #[test]
    fn dates_are_written_as_pgn_has_them() {
        for date in ["2016.07.26", "2016.07.??", "2016.??.??", "????.??.??", "0987.01.01"] {
            assert_eq!(Date::from_pgn(date).to_string(), date);
        }
    }

    #[test]
    fn only_existing_dates_are_accepted_from_users() {
        for (text, expected) in [
            ("2021", Date { year: 2021, month: 0, day: 0 }),
            ("2021-12", Date { year: 2021, month: 12, day: 0 }),
            (" 2021/3/14", Date { year: 2021, month: 3, day: 14 }),
            ("2024.02.29", Date { year: 2024, month: 2, day: 29 }),
            ("2000.02.29", Date { year: 2000, month: 2, day: 29 }),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
        for text in [
            "",
            "x",
            "0",
            "20211",
            "2021-13",
            "2021-0",
            "2021.02.29",
            "1900.02.29",
            "2021.04.31",
            "2021.01.00",
            "2021.01.32",
            "2021.??.??",
            "2021.01.01.01",
            "2021.",
            "-2021",
            "21",
            "21.03",
            "021",
            "987",
            "02021",
            "14.03.2021",
        ] {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_date_without_a_day_ends_with_its_month_or_year() {
        for (text, last) in [("2021", "2021.12.31"), ("2024.02", "2024.02.29"), ("2021.04", "2021.04.30")] {
            assert_eq!(Date::from_pgn(text).last_day(), Date::from_pgn(last));
        }
    }

    #[test]
    fn dates_sort_by_time() {
        assert!(Date::from_pgn("1999") < Date::from_pgn("1999.01"));
        assert!(Date::from_pgn("1999.12.31") < Date::from_pgn("2000"));
    }
}
