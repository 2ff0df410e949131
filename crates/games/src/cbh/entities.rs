//! Players, tournaments, annotators, sources, teams, titles: files of records with numbers from 0.
//!
//! The records are also the nodes of a search tree. Its links are not followed, because every record is found by its
//! number.

use std::borrow::Cow;

use tabiya_base::bytes;
use tabiya_base::map::Map;

use super::layout::{
    ENTITY_COUNT, ENTITY_DELETED, ENTITY_HEADER, ENTITY_LINKS, ENTITY_LIVE, ENTITY_MARK, ENTITY_MARK_AT,
    ENTITY_MORE, ENTITY_SIZE, annotator, player, team, title, tournament,
};
use super::record::date;
use super::text::field;
use crate::Date;

/// A file of entities.
#[derive(Debug)]
pub(crate) struct Entities {
    data: Map,
    header: u64,
    /// Bytes of a record, its links included.
    record: u64,
    count: u64,
}

impl Entities {
    /// A file without records.
    pub fn none() -> Self {
        Self { data: Map::from(&[][..]), header: ENTITY_HEADER, record: ENTITY_LINKS, count: 0 }
    }

    /// Reads the bytes of a file whose records hold at least so many; also returns what is wrong with it.
    pub fn new(data: Map, least: u64) -> (Self, Option<String>) {
        let number = |at| bytes::u32_le(&data, at).map(u64::from);
        let Some((mark, size)) = number(ENTITY_MARK_AT).zip(number(ENTITY_SIZE)) else {
            return (Self::none(), Some("it is too short for a header".to_owned()));
        };
        if mark != u64::from(ENTITY_MARK) {
            return (Self::none(), Some("its header is not that of a part of a database".to_owned()));
        }
        if size < least {
            let what = format!("its records have {size} bytes, but need at least {least}: none is read");
            return (Self::none(), Some(what));
        }
        let header = ENTITY_HEADER + number(ENTITY_MORE).unwrap_or_default();
        let record = size + ENTITY_LINKS;
        let claimed = number(ENTITY_COUNT).unwrap_or_default();
        let held = (data.len() as u64).saturating_sub(header) / record;
        let finding =
            (claimed > held).then(|| format!("its header counts {claimed} records, but it holds {held}"));
        let count = claimed.min(held);
        (Self { data, header, record, count }, finding)
    }

    /// How many records it has, deleted ones included.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many of them are not deleted, by the count in the header.
    pub(crate) fn live_count(&self) -> u64 {
        let live = bytes::u32_le(&self.data, ENTITY_LIVE).map_or(0, u64::from);
        live.min(self.count)
    }

    /// A record that is not deleted; `None` where no record has this number.
    pub fn live(&self, number: u32) -> Option<Entity<'_>> {
        self.get(number).filter(|_| !self.is_deleted(number))
    }

    /// A record; `None` where no record has this number.
    pub fn get(&self, number: u32) -> Option<Entity<'_>> {
        let at = self.at(number)?;
        Some(Entity(bytes::slice(&self.data, at + ENTITY_LINKS, self.record - ENTITY_LINKS)?))
    }

    /// Whether a record is marked as deleted.
    pub(crate) fn is_deleted(&self, number: u32) -> bool {
        self.at(number).and_then(|at| bytes::u32_le(&self.data, at)) == Some(ENTITY_DELETED)
    }

    fn at(&self, number: u32) -> Option<u64> {
        let number = u64::from(number);
        if number >= self.count { None } else { self.header.checked_add(number.checked_mul(self.record)?) }
    }
}

/// The bytes of a record after its links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entity<'a>(&'a [u8]);

impl<'a> Entity<'a> {
    /// A text, by its offset and length.
    pub fn text(self, (at, len): (u64, u64)) -> Cow<'a, str> {
        field(bytes::slice(self.0, at, len).unwrap_or_default())
    }

    /// A byte; 0 if it is missing.
    pub fn byte(self, at: u64) -> u8 {
        bytes::array(self.0, at).map_or(0, u8::from_le_bytes)
    }

    pub fn date(self, at: u64) -> Date {
        date(bytes::u32_le(self.0, at).unwrap_or_default())
    }

    /// The letters of a country; empty if it is unknown.
    pub(crate) fn nation(self, at: u64) -> &'static str {
        let index = usize::from(self.byte(at)).checked_sub(1);
        index.and_then(|index| NATIONS.get(index)).copied().unwrap_or_default()
    }

    /// Appends a player's name as PGN has it: `Last, First`.
    pub(crate) fn push_player(self, out: &mut String) {
        let (last, first) = (self.text(player::LAST_NAME), self.text(player::FIRST_NAME));
        out.push_str(last.trim());
        if !first.trim().is_empty() {
            if !last.trim().is_empty() {
                out.push_str(", ");
            }
            let first = first.trim();
            out.push_str(first);
            // The PGN standard has a period after initials.
            if first.len() <= 2
                && first.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
            {
                out.push('.');
            }
        }
    }

    /// The name of an annotator or a team.
    pub fn name(self) -> Cow<'a, str> {
        self.text(annotator::NAME)
    }

    /// A title in the first language that has one.
    pub(crate) fn title(self) -> Cow<'a, str> {
        (0..title::LANGUAGES)
            .map(|language| self.text((language * title::LEN, title::LEN)))
            .find(|text| !text.is_empty())
            .unwrap_or_default()
    }

    /// A team's name as ChessBase writes it: the number follows that of a second or third team.
    pub(crate) fn team(self) -> String {
        const NUMBERS: [&str; 11] = ["", "", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"];
        let mut name = self.name().into_owned();
        let number = bytes::u16_le(self.0, team::NUMBER).unwrap_or_default();
        let digits = if number > 10 { number.to_string() } else { String::new() };
        let roman = NUMBERS.get(usize::from(number)).copied().unwrap_or(&digits);
        if !name.is_empty() && !roman.is_empty() {
            name.push(' ');
            name.push_str(roman);
        }
        name
    }

    /// Appends the type of a tournament as ChessBase names it; nothing if it is unknown.
    pub(crate) fn push_type(self, out: &mut String) {
        let flags = self.byte(tournament::KIND);
        let number = usize::from(flags & tournament::KIND_MASK);
        let kind = tournament::KINDS.get(number).copied().unwrap_or_default();
        let team = self.byte(tournament::TEAM) & tournament::TEAM_BIT != 0;
        if team && kind != "team" {
            out.push_str(if kind.is_empty() { "team" } else { "team-" });
        }
        out.push_str(kind);
        let speeds = [
            (tournament::BLITZ, "blitz"),
            (tournament::RAPID, "rapid"),
            (tournament::CORRESPONDENCE, "corr"),
        ];
        if let Some((_, speed)) = speeds.iter().find(|(bit, _)| flags & bit != 0) {
            *out += &if out.is_empty() { (*speed).to_owned() } else { format!(" ({speed})") };
        }
    }
}

/// Their letters from number 1 on, as chess federations and the Olympic committee write them (docs/formats/cbh.md,
/// Names).
#[rustfmt::skip]
pub(crate) const NATIONS: [&str; 253] = [
    "AFG", "ALB", "ALG", "AND", "ANG", "ANT", "ARG", "ARM", "AUS", "AUT", "AZE", "BAH", "BRN",
    "BAN", "BAR", "BLR", "BEL", "BIZ", "BER", "BOL", "BIH", "BOT", "BRA", "IVB", "BRU", "BUL",
    "BUR", "CAN", "CHI", "CHN", "COL", "CRC", "CRO", "CUB", "CYP", "CZE", "DEN", "DJI", "DOM",
    "ECU", "EGY", "ENG", "ESP", "EST", "ETH", "FRO", "FIJ", "FIN", "FRA", "MKD", "GAM", "GEO",
    "GER", "GHA", "GRE", "GUA", "GCI", "GUY", "HAI", "HON", "HKG", "HUN", "ISL", "IND", "INA",
    "IRI", "IRQ", "ISR", "IRL", "ITA", "CIV", "JAM", "JPN", "JCI", "JOR", "KAZ", "KEN", "KOR",
    "KGZ", "KUW", "LAT", "LIB", "LBA", "LIE", "LTU", "LUX", "MAC", "MAD", "MAS", "MLI", "MLT",
    "MTN", "MRI", "MEX", "MDA", "MON", "MGL", "MAR", "MOZ", "MYA", "NAM", "NEP", "NED", "AHO",
    "NZL", "NCA", "NGR", "NOR", "PAK", "PLE", "PAN", "PNG", "PAR", "PER", "PHI", "POL", "POR",
    "PUR", "QAT", "ROU", "RUS", "ESA", "SMR", "SCO", "SEN", "SEY", "SIN", "SVK", "SLO", "RSA",
    "SRI", "SUD", "SUR", "SWE", "SUI", "SYR", "TJK", "TAN", "THA", "TTO", "TUN", "TUR", "TKM",
    "UGA", "UKR", "UAE", "USA", "URU", "URS", "UZB", "VEN", "VIE", "ISV", "WLS", "YEM", "YUG",
    "ZAM", "ZIM", "ZAI", "DDR", "TCH", "CMR", "CHA", "CPV", "KIR", "COM", "CGO", "PRK", "LAO",
    "LES", "MAW", "MDV", "MHL", "OMA", "NRU", "MIC", "NIG", "KSA", "TOG", "TGA", "VAN", "VAT",
    "TUV", "SWZ", "SLE", "LCA", "PAP", "SVI", "SKI", "SAM", "SOL", "GE2", "ZAR", "RWA", "LBR",
    "NET", "TPE", "ASA", "AGG", "ARU", "BEN", "BHU", "BDI", "CAM", "CAY", "CAF", "CHD", "CIA",
    "COA", "COK", "GEQ", "ERI", "FGB", "FRG", "FRP", "GAB", "GGB", "GRN", "GRL", "FGA", "GUM",
    "GUI", "GBS", "IOM", "JMY", "MFR", "MYF", "MSG", "NCF", "NNN", "NNA", "NMI", "OTM", "PLW",
    "PIG", "RUF", "STP", "SOM", "SVN", "HGB", "PGB", "TKI", "TCI", "WFR", "NIR", "ISS", "GBR",
    "SAA", "MNE", "SRB", "CAT", "BAS", "KOS",
];

#[cfg(test)]
mod tests {
    use super::super::tests::fixtures;
    use super::*;

    #[test]
    fn records_are_found_by_their_numbers() {
        let file = fixtures::entities(58, &[b"Carlsen", b"Caruana"]);
        let (players, finding) = Entities::new(file.into(), player::MIN);
        assert_eq!((players.count(), players.live_count(), finding), (2, 2, None));
        let mut name = String::new();
        players.get(1).unwrap().push_player(&mut name);
        assert_eq!(name, "Caruana");
        assert!(players.get(2).is_none() && players.get(u32::MAX).is_none());
        assert!(!players.is_deleted(0));
    }

    #[test]
    fn links_in_circles_and_deleted_records_do_no_harm() {
        let mut file = fixtures::entities(58, &[b"A", b"B", b"C"]);
        for record in 0..3 {
            let at = 32 + record * 67;
            file[at..at + 4].copy_from_slice(&(record as u32).to_le_bytes());
        }
        file[32 + 67..32 + 71].copy_from_slice(&(-999_i32).to_le_bytes());
        let (players, _) = Entities::new(file.into(), player::MIN);
        assert!(players.is_deleted(1) && !players.is_deleted(2));
        assert_eq!(players.get(2).unwrap().name(), "C");
    }

    #[test]
    fn broken_headers_are_reported() {
        let good = fixtures::entities(58, &[b"A", b"B"]);
        let open = |file: Vec<u8>, least| Entities::new(file.into(), least);
        assert!(open(vec![0; 10], 58).1.unwrap().contains("too short"));
        assert!(open(good.clone(), 59).1.unwrap().contains("have 58 bytes"));
        let mut bad = good.clone();
        bad[8] = 0;
        assert!(open(bad, 58).1.unwrap().contains("not that of a part"));
        let mut bad = good.clone();
        bad[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        let (players, finding) = open(bad, 58);
        assert!(finding.unwrap().contains("holds 2"));
        assert_eq!(players.count(), 2);
        let mut bad = good;
        bad[24..28].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(open(bad, 58).0.count(), 0);
    }

    #[test]
    fn types_of_tournaments_are_named() {
        for (flags, team, text) in [
            (4, 0, "swiss"),
            (4, 1, "team-swiss"),
            (5, 1, "team"),
            (3 | 0x20, 0, "tourn (blitz)"),
            (0x40, 0, "rapid"),
            (0, 0, ""),
            (0x1f, 1, "team"),
        ] {
            let mut record = [0; 90];
            (record[74], record[75]) = (flags, team);
            let mut name = String::new();
            Entity(&record).push_type(&mut name);
            assert_eq!(name, text);
        }
        // Seen in tournaments whose places name their countries.
        let nations =
            [1, 10, 43, 53, 70, 103, 121, 135, 250, 0, 254].map(|number| Entity(&[number]).nation(0));
        assert_eq!(nations, ["AFG", "AUT", "ESP", "GER", "ITA", "NED", "RUS", "SUI", "SRB", "", ""]);
    }
}
