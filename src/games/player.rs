//! Whom a user means by a player's name.

/// A player by name, in any letter case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerName {
    name: String,
    whole: bool,
}

impl PlayerName {
    /// Everybody who has this in the name.
    ///
    /// ```
    /// use tabiya::games::PlayerName;
    /// assert!(PlayerName::part("carlsen").is("Carlsen, Magnus"));
    /// assert!(!PlayerName::whole("carlsen").is("Carlsen, Magnus"));
    /// ```
    pub fn part(name: &str) -> Self {
        Self { name: name.to_lowercase(), whole: false }
    }

    /// The one who has this name and no more.
    pub fn whole(name: &str) -> Self {
        Self { name: name.trim().to_lowercase(), whole: true }
    }

    /// The player of two options: a part of a name, or a whole one, which goes before.
    pub fn given(part: Option<&str>, whole: Option<&str>) -> Option<Self> {
        whole.map(Self::whole).or_else(|| part.map(Self::part))
    }

    /// Whether a player of this name is meant.
    pub fn is(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        if self.whole { name.trim() == self.name } else { name.contains(&self.name) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_name_is_not_found_in_a_longer_one() {
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
        assert_eq!(PlayerName::given(Some("a"), Some("b")), Some(PlayerName::whole("b")));
        assert_eq!(PlayerName::given(Some("a"), None), Some(PlayerName::part("a")));
        assert_eq!(PlayerName::given(None, None), None);
    }
}
