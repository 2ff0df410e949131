//! Players as users name them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use tabiya_base::likeness;

/// The most names that are kept: a message needs few, and a database has hundreds of thousands.
const MAX_OTHERS: usize = 1 << 14;

/// A player's name or a part of it, or the names of several players, in any letter case. "First Last" and "Last, First" are the
/// same name.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PlayerName(NameMatch);

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
enum NameMatch {
    Part(String),
    /// As [`straight`] has them.
    Whole(BTreeSet<String>),
}

impl PlayerName {
    /// Every player whose name contains this.
    ///
    /// ```
    /// use tabiya_games::PlayerName;
    /// assert!(PlayerName::part("carlsen").is("Carlsen, Magnus"));
    /// assert!(PlayerName::part("magnus carlsen").is("Carlsen, Magnus"));
    /// assert!(!PlayerName::whole("carlsen").is("Carlsen, Magnus"));
    /// ```
    pub fn part(name: &str) -> Self {
        Self(NameMatch::Part(name.to_lowercase()))
    }

    /// The player with exactly this name.
    pub fn whole(name: &str) -> Self {
        Self::one_of([name])
    }

    /// The players with exactly these names.
    pub fn one_of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let whole = |name: &str| straight(&name.to_lowercase()).into_owned();
        Self(NameMatch::Whole(names.into_iter().map(whole).collect()))
    }

    /// The player given by two options, a part of a name and a whole name, which takes precedence.
    pub fn given(part: Option<&str>, whole: Option<&str>) -> Option<Self> {
        whole.map(Self::whole).or_else(|| part.map(Self::part))
    }

    /// Whether a player of this name matches.
    pub fn is(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        match &self.0 {
            NameMatch::Part(part) => name.contains(part) || straight(&name).contains(&*straight(part)),
            NameMatch::Whole(names) => names.contains(&*straight(&name)),
        }
    }

    fn texts(&self) -> Vec<&str> {
        match &self.0 {
            NameMatch::Part(part) => vec![part],
            NameMatch::Whole(names) => names.iter().map(String::as_str).collect(),
        }
    }
}

/// "First Last" for "Last, First"; other names as they are.
fn straight(name: &str) -> Cow<'_, str> {
    let name = name.trim();
    let both = name.split_once(',').map(|(last, first)| (last.trim(), first.trim()));
    match both.filter(|(last, first)| !last.is_empty() && !first.is_empty()) {
        Some((last, first)) => Cow::Owned(format!("{first} {last}")),
        None => Cow::Borrowed(name),
    }
}

/// The players of games that a name has not matched, with their games, to tell whom it may mean.
#[derive(Clone, Debug, Default)]
pub struct OtherPlayers(BTreeMap<String, u64>);

impl OtherPlayers {
    /// Counts both players of a game.
    pub fn add(&mut self, white: &str, black: &str) {
        for name in [white, black].into_iter().filter(|name| !name.trim().is_empty()) {
            let is_full = self.0.len() >= MAX_OTHERS;
            match self.0.get_mut(name) {
                Some(games) => *games += 1,
                None if is_full => {}
                None => _ = self.0.insert(name.to_owned(), 1),
            }
        }
    }

    /// Takes in the players of other games.
    pub fn merge(&mut self, other: Self) {
        for (name, games) in other.0 {
            if self.0.len() < MAX_OTHERS || self.0.contains_key(&name) {
                *self.0.entry(name).or_default() += games;
            }
        }
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Those whose names come near `name`, at most three, the nearest first.
    pub fn near(&self, name: &PlayerName) -> Vec<&str> {
        likeness::nearest(&name.texts(), self.0.keys().map(String::as_str))
    }

    /// The three with the most games.
    pub fn most(&self) -> Vec<&str> {
        likeness::first(self.0.iter().map(|(name, games)| (*games as f64, &**name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whom_a_name_may_mean_is_told() {
        let mut others = OtherPlayers::default();
        let mut of = |white: &str, black: &str| {
            let mut more = OtherPlayers::default();
            more.add(white, black);
            others.merge(more);
        };
        for (white, black) in [("Carlsen, Magnus", "Caruana, F"), ("Nakamura, Hi", "So, W"), ("So, W", "")] {
            of(white, black);
        }
        for (name, near) in [
            (PlayerName::part("Magnus Carlsen"), vec!["Carlsen, Magnus"]),
            (PlayerName::part("karlsen"), vec!["Carlsen, Magnus"]),
            (PlayerName::one_of(["Nakamura Hikaru", "X"]), vec!["Nakamura, Hi"]),
            (PlayerName::whole("tabiya"), vec![]),
        ] {
            assert_eq!(others.near(&name), near, "{name:?}");
        }
        assert_eq!((others.most(), others.count()), (vec!["So, W", "Carlsen, Magnus", "Caruana, F"], 4));
        assert!(OtherPlayers::default().near(&PlayerName::part("x")).is_empty());
    }

    #[test]
    fn a_whole_name_does_not_match_a_longer_one() {
        for (given, name, part, whole) in [
            ("me_user", "me_user2", true, false),
            ("me_user", "ME_User", true, true),
            ("me_user", " me_user ", true, true),
            ("MÜLLER", "Müller", true, true),
            ("other", "me_user", false, false),
            ("Magnus Carlsen", "Carlsen, Magnus", true, true),
            ("carlsen,magnus", "Magnus Carlsen", true, true),
            ("carlsen, m", "Carlsen, Magnus", true, false),
            ("us carl", "Carlsen, Magnus", true, false),
            ("Carlsen,", "Carlsen, Magnus", true, false),
            ("Magnus, Carlsen", "Carlsen, Magnus", false, false),
        ] {
            assert_eq!(PlayerName::part(given).is(name), part, "{given} in {name}");
            assert_eq!(PlayerName::whole(given).is(name), whole, "{given} as {name}");
        }
        let several = PlayerName::one_of(["Bot One", " bot two "]);
        assert!(several.is("BOT TWO") && several.is("bot one ") && !several.is("bot") && !several.is(""));
        assert_eq!(PlayerName::given(Some("a"), Some("b")), Some(PlayerName::whole("b")));
        assert_eq!(PlayerName::given(Some("a"), None), Some(PlayerName::part("a")));
        assert_eq!(PlayerName::given(None, None), None);
    }
}
