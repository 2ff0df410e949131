//! Players as users name them.

/// A player's name or a part of it, in any letter case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerName {
    name: String,
    whole: bool,
}

impl PlayerName {
    /// Every player whose name contains this.
    ///
    /// ```
    /// use tabiya::games::PlayerName;
    /// assert!(PlayerName::part("carlsen").is("Carlsen, Magnus"));
    /// assert!(!PlayerName::whole("carlsen").is("Carlsen, Magnus"));
    /// ```
    pub fn part(name: &str) -> Self {
        Self { name: name.to_lowercase(), whole: false }
    }

    /// The player with exactly this name.
    pub fn whole(name: &str) -> Self {
        Self { name: name.trim().to_lowercase(), whole: true }
    }

    /// The player given by two options, a part of a name and a whole name, which takes precedence.
    pub fn given(part: Option<&str>, whole: Option<&str>) -> Option<Self> {
        whole.map(Self::whole).or_else(|| part.map(Self::part))
    }

    /// Whether a player of this name matches.
    pub fn is(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        if self.whole { name.trim() == self.name } else { name.contains(&self.name) }
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
        assert_eq!(PlayerName::given(Some("a"), Some("b")), Some(PlayerName::whole("b")));
        assert_eq!(PlayerName::given(Some("a"), None), Some(PlayerName::part("a")));
        assert_eq!(PlayerName::given(None, None), None);
    }
}
