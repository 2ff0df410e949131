//! Players as users name them.

use std::collections::BTreeSet;

/// A player's name or a part of it, or the names of several players, in any letter case.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PlayerName(KnownPosition);

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
enum KnownPosition {
    Part(String),
    Whole(BTreeSet<String>),
}

impl PlayerName {
    /// Every player whose name contains this.
    ///
    /// ```
    /// use tabiya_games::PlayerName;
    /// assert!(PlayerName::part("carlsen").is("Carlsen, Magnus"));
    /// assert!(!PlayerName::whole("carlsen").is("Carlsen, Magnus"));
    /// ```
    pub fn part(name: &str) -> Self {
        Self(KnownPosition::Part(name.to_lowercase()))
    }

    /// The player with exactly this name.
    pub fn whole(name: &str) -> Self {
        Self::one_of([name])
    }

    /// The players with exactly these names.
    pub fn one_of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self(KnownPosition::Whole(names.into_iter().map(|name| name.trim().to_lowercase()).collect()))
    }

    /// The player given by two options, a part of a name and a whole name, which takes precedence.
    pub fn given(part: Option<&str>, whole: Option<&str>) -> Option<Self> {
        whole.map(Self::whole).or_else(|| part.map(Self::part))
    }

    /// Whether a player of this name matches.
    pub fn is(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        match &self.0 {
            KnownPosition::Part(part) => name.contains(part),
            KnownPosition::Whole(names) => names.contains(name.trim()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_name_does_not_match_a_longer_one() {
        for (given, name, part, whole) in [
            ("me_user", "me_user2", true, false),
            ("me_user", "ME_User", true, true),
            ("me_user", " me_user ", true, true),
            ("MÜLLER", "Müller", true, true),
            ("other", "me_user", false, false),
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
