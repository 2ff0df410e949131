//! A book whose moves obey other rules than those that it was opened for.

use std::fmt;

use tabiya_chess::Variant;

/// The rules that the moves of a book obey, where they are not those of a variant. As text it says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherRules {
    /// The variant whose rules they do not obey.
    pub not: Variant,
    /// The variant that the book is for most likely.
    pub likely: Variant,
    /// The variants whose rules they obey, the likeliest first.
    pub rules: Vec<Variant>,
}

impl OtherRules {
    /// What is said of a book that obeys `rules`; `None` where `not` is one of them, or there are none.
    pub(crate) fn new(rules: Vec<Variant>, not: Variant) -> Option<Self> {
        let likely = *rules.first()?;
        (!rules.contains(&not)).then_some(Self { not, likely, rules })
    }
}

impl fmt::Display for OtherRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "its moves obey the rules of {}, not of {}", self.likely, self.not)
    }
}
