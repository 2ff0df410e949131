//! Speeds and ratings, by which count files can count games separately, as arguments.

use clap::builder::{PossibleValuesParser, TypedValueParser};

use tabiya_book::{Among, By, RATING, SPEED};
use tabiya_chess::{RatingBand, Speed};
use tabiya_workshop::bookmaker::Filter;

/// Which games count, by what count files can tell apart.
#[derive(clap::Args, Debug)]
pub(crate) struct SliceArgs {
    /// Only games at these speeds, separated by commas: by the TimeControl tag, with Lichess's limits. Works on
    /// count files written with --by speed
    #[arg(long, value_name = "SPEED", value_delimiter = ',', value_parser = speed())]
    speed: Vec<Speed>,
    /// Only games whose average rating is in these bands, separated by commas: 1800 (1800 to 1999), 1800-2200 (below 2200)
    /// or 2200+. Bands begin at 0, 1000, 1200, 1400, 1600, 1800, 2000, 2200 and 2500. Works on count files written with --by
    /// rating
    #[arg(long, value_name = "BAND", value_delimiter = ',', value_parser = bands)]
    rating: Vec<Bands>,
}

impl SliceArgs {
    /// A filter of nothing else.
    pub fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        filter.among = self.among();
        filter
    }

    /// The games that count.
    pub fn among(&self) -> Among {
        let ratings = self.rating.iter().flat_map(|Bands(bands)| bands.iter().copied()).collect();
        Among { speeds: self.speed.clone(), ratings }
    }

    /// The first of these options that is given.
    pub fn given(&self) -> Option<&'static str> {
        let options = [("--speed", !self.speed.is_empty()), ("--rating", !self.rating.is_empty())];
        options.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }
}

/// What the rows of a count file count separately.
#[derive(clap::Args, Debug)]
pub(crate) struct ByArgs {
    /// In a count file, count games separately by speed, by rating band (rating), or by both (speed,rating)
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = PossibleValuesParser::new([SPEED, RATING]))]
    by: Vec<String>,
}

impl ByArgs {
    /// What is counted separately.
    pub fn by(&self) -> By {
        let has = |name| self.by.iter().any(|given| given == name);
        By { speed: has(SPEED), rating: has(RATING) }
    }
}

/// Some bands, as one argument names them.
#[derive(Clone, Debug, PartialEq)]
struct Bands(Vec<RatingBand>);

fn speed() -> impl TypedValueParser<Value = Speed> {
    PossibleValuesParser::new(Speed::NAMES.map(|(name, _)| name))
        .map(|given| Speed::named(&given).unwrap_or(Speed::Classical))
}

/// Reads `1800`, `1800-2200` or `2200+`.
fn bands(text: &str) -> std::result::Result<Bands, String> {
    let bound = |text: &str| {
        let band = text.trim().parse().ok().and_then(RatingBand::from_lowest);
        band.ok_or_else(|| {
            let bounds = RatingBand::BOUNDS.map(|lowest| lowest.to_string()).join(", ");
            format!("no band begins at {text:?}; they begin at {bounds}")
        })
    };
    let (from, to) = match (text.strip_suffix('+'), text.split_once('-')) {
        (Some(from), _) => (bound(from)?, None),
        (None, Some((from, to))) => (bound(from)?, Some(bound(to)?)),
        (None, None) => return Ok(Bands(vec![bound(text)?])),
    };
    let bands: Vec<_> =
        RatingBand::all().filter(|band| *band >= from && to.is_none_or(|to| *band < to)).collect();
    if bands.is_empty() { Err("its end must be above its beginning".to_owned()) } else { Ok(Bands(bands)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_read_as_people_write_them() {
        for (text, lowest) in [
            ("1800", &[1800][..]),
            ("0", &[0]),
            ("1800-2200", &[1800, 2000]),
            ("0-1000", &[0]),
            ("2200+", &[2200, 2500]),
            ("2500+", &[2500]),
        ] {
            let bands = bands(text).unwrap().0;
            assert_eq!(bands.into_iter().map(RatingBand::lowest).collect::<Vec<_>>(), lowest, "{text}");
        }
        for text in
            ["", "1850", "1800-", "-1800", "1800-1850", "2000-1800", "1800-1800", "+", "high", "70000"]
        {
            assert!(bands(text).is_err(), "{text}");
        }
    }
}
