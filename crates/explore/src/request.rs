//! What a request says: the parameters of its address, or its body.

use std::num::NonZeroU16;
use std::str::FromStr;

use serde::Deserialize;
use shakmaty::Color;

use tabiya_adapter::settings::{Given, table};
use tabiya_book::Among;
use tabiya_book::choose::Policy;
use tabiya_chess::{RatingBand, Speed, Variant, known_variants, rules_of};
use tabiya_games::Date;

use super::fault::Fault;

/// The parameters of an address; the first of a name counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads what follows the `?` of an address.
    pub(super) fn parse(text: &str) -> Self {
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// The text of a parameter; `None` if it is missing or empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(key, _)| key == name)?;
        Some(value.trim()).filter(|value| !value.is_empty())
    }

    /// The words of a list: with commas between them, or one in each of several parameters, of which some clients write the
    /// name with `[]` after it.
    pub(super) fn list<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = move |key: &str| key.strip_suffix("[]").unwrap_or(key) == name;
        let values = self.0.iter().filter(move |(key, _)| named(key)).flat_map(|(_, value)| value.split(','));
        values.map(str::trim).filter(|word| !word.is_empty())
    }

    /// A number from 0 to `most`; `None` if it is missing.
    ///
    /// # Errors
    /// When it is something else.
    pub(super) fn number<T: FromStr + PartialOrd + std::fmt::Display>(
        &self,
        name: &str,
        most: T,
    ) -> Result<Option<T>, Fault> {
        let Some(text) = self.get(name) else { return Ok(None) };
        match text.parse().ok().filter(|number| *number <= most) {
            Some(number) => Ok(Some(number)),
            None => Err(Fault::bad(format!("{name}: write a number from 0 to {most}"))),
        }
    }

    /// The variant that is named, in any spelling; `None` if none is.
    ///
    /// # Errors
    /// When no variant has the name.
    pub(super) fn variant(&self) -> Result<Option<Variant>, Fault> {
        self.get("variant").map(variant_of).transpose()
    }

    /// The games that are meant: those of these `speeds`, and of the bands with these `ratings`.
    ///
    /// # Errors
    /// When a word is not the name of a speed, or not a number.
    pub(super) fn among(&self) -> Result<Among, Fault> {
        let speed = |word: &str| {
            let names = || Speed::NAMES.map(|(name, _)| name).join(", ");
            Speed::named(&word.to_ascii_lowercase())
                .ok_or_else(|| Fault::bad(format!("speeds: write {}", names())))
        };
        let rating = |word: &str| {
            let rating = word.parse().ok().and_then(|rating: u16| NonZeroU16::new(rating.max(1)));
            let band = RatingBand::from_ratings(rating, rating);
            band.ok_or_else(|| Fault::bad("ratings: write numbers with commas between them"))
        };
        let mut among = Among {
            speeds: self.list("speeds").map(speed).collect::<Result<_, _>>()?,
            ratings: self.list("ratings").map(rating).collect::<Result<_, _>>()?,
        };
        // Whoever names all of them means all games, also those of which they are not known.
        if Speed::NAMES.iter().all(|(_, speed)| among.speeds.contains(speed)) {
            among.speeds.clear();
        }
        let bands = RatingBand::BOUNDS.iter().filter_map(|lowest| RatingBand::from_lowest(*lowest));
        if bands.into_iter().all(|band| among.ratings.contains(&band)) {
            among.ratings.clear();
        }
        Ok(among)
    }

    /// A color; `None` if it is missing.
    ///
    /// # Errors
    /// When it is something else.
    pub(super) fn color(&self, name: &str) -> Result<Option<Color>, Fault> {
        match self.get(name) {
            None => Ok(None),
            Some("white") => Ok(Some(Color::White)),
            Some("black") => Ok(Some(Color::Black)),
            Some(_) => Err(Fault::bad(format!("{name}: write white or black"))),
        }
    }

    /// A year, or a month of one.
    ///
    /// # Errors
    /// When it is something else.
    pub(super) fn date(&self, name: &str) -> Result<Option<Date>, Fault> {
        let date = |text: &str| {
            text.parse().map_err(|_| Fault::bad(format!("{name}: write a year, or a month such as 2021-03")))
        };
        self.get(name).map(date).transpose()
    }

    /// The policy: what the address says, and `default` for the rest.
    ///
    /// # Errors
    /// When a number is not one, or too great.
    pub(super) fn policy(&self, default: &Policy) -> Result<Policy, Fault> {
        let mut given = Given::default();
        for row in table::shown() {
            let text = self.get(row.key);
            let Some(text) = text else { continue };
            if !row.kind.takes(text) {
                return Err(Fault::bad(format!("{}: write {}", row.key, row.kind.needs())));
            }
            given.put(row.key, vec![text.to_owned()]);
        }
        Ok(given.over(default))
    }

    /// The numbers of the books that are asked for, each once; `None` if none is named.
    ///
    /// # Errors
    /// When a number is not that of a book.
    pub(super) fn books(&self, name: &str, count: usize) -> Result<Option<Vec<usize>>, Fault> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let mut books = Vec::new();
        for word in text.split(',').take(count) {
            let number = word.trim().parse().ok().filter(|number| *number < count);
            let number =
                number.ok_or_else(|| Fault::not_found(format!("{name}: there is no book {word:?}")))?;
            if !books.contains(&number) {
                books.push(number);
            }
        }
        Ok(Some(books))
    }
}

/// The variant that a request names.
///
/// # Errors
/// When no variant has the name.
pub(super) fn variant_of(name: &str) -> Result<Variant, Fault> {
    rules_of(name).ok_or_else(|| {
        let name: String = name.chars().take(20).collect();
        Fault::bad(format!("variant: {name:?} is not known: write chess, or one of {}", known_variants()))
    })
}

/// What a body of JSON says.
///
/// # Errors
/// When it says something else.
pub(super) fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Fault> {
    serde_json::from_slice(body).map_err(|error| Fault::bad(format!("the body is not as expected: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parameters_are_decoded() {
        let query = Query::parse("fen=a+b%20c&play=e2e4%2Ce7e5&empty=&fen=second&x");
        assert_eq!((query.get("fen"), query.get("play")), (Some("a b c"), Some("e2e4,e7e5")));
        assert_eq!((query.get("empty"), query.get("x"), query.get("none")), (None, None, None));
    }

    #[test]
    fn lists_are_written_in_several_ways() {
        for text in ["s=a,b&x=c", "s[]=a&s[]=b", "s%5B%5D=a&s%5B%5D=b&s%5B%5D=", "s=%20a&s=b,", "s=a&s[]=b"] {
            assert_eq!(Query::parse(text).list("s").collect::<Vec<_>>(), ["a", "b"], "{text}");
        }
        assert_eq!(Query::parse("s&t=a").list("s").count(), 0);
    }

    #[test]
    fn numbers_have_bounds() {
        let query = Query::parse("variety=101&threshold=7&reserve=-1");
        assert!(query.number("variety", 100_u32).is_err() && query.number("reserve", 100_u32).is_err());
        assert_eq!(query.number("threshold", 1000_u32).unwrap(), Some(7));
        assert!(query.policy(&Policy::default()).is_err());
        let policy = Query::parse("variety=0&learn=true&max-loss=9").policy(&Policy::default()).unwrap();
        assert_eq!((policy.variety, policy.learn, policy.threshold, policy.max_loss), (0, true, 5, 9));
    }

    #[test]
    fn variants_have_the_names_of_lichess_and_others() {
        for (name, variant) in [
            ("kingOfTheHill", Variant::KingOfTheHill),
            ("threeCheck", Variant::ThreeCheck),
            ("Racing+Kings", Variant::RacingKings),
            ("fromPosition", Variant::Chess),
            ("chess960", Variant::Chess),
        ] {
            assert_eq!(Query::parse(&format!("variant={name}")).variant().unwrap(), Some(variant), "{name}");
        }
        assert_eq!(Query::parse("variant=").variant().unwrap(), None);
        assert!(
            Query::parse("variant=shogi")
                .variant()
                .unwrap_err()
                .what()
                .contains("write chess, or one of atomic")
        );
    }

    #[test]
    fn books_are_numbers_of_books() {
        let books = |text| Query::parse(text).books("books", 3).ok();
        assert_eq!(books(""), Some(None));
        assert_eq!(books("books=2,0,2"), Some(Some(vec![2, 0])));
        assert_eq!((books("books=3"), books("books=../x")), (None, None));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC{0,300}") {
            let query = Query::parse(&text);
            let _ = (query.policy(&Policy::default()), query.books("books", 4), query.variant(), super::super::place::ShownPlace::from_query(&query, Variant::Chess));
        }

        #[test]
        fn any_line_is_read(
            moves in "[a-h1-8nbrqkNBRQP@,]{0,80}",
            start in "[rnbqkpRNBQKP1-8/~\\[\\] wKQkq+-]{0,80}",
            variant in prop::sample::select(&Variant::ALL[..]),
        ) {
            let mut text = form_urlencoded::Serializer::new(String::new());
            let text = text.append_pair("play", &moves).append_pair("start", &start).finish();
            let _ = super::super::place::ShownPlace::from_query(&Query::parse(&text), variant);
        }
    }
}
