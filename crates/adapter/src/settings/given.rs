//! What one source says of some settings: the command line, the configuration file, a `[[book]]` table, an address.

use std::collections::BTreeMap;

/// Values of settings, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given(BTreeMap<&'static str, Vec<String>>);

impl Given {
    /// These settings with another one.
    #[must_use]
    pub fn with(mut self, key: &'static str, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.put(key, values.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the values of a key; without one it keeps those that it has.
    pub fn put(&mut self, key: &'static str, values: Vec<String>) {
        if !values.is_empty() {
            self.0.insert(key, values);
        }
    }

    pub(super) fn forget(&mut self, key: &str) {
        self.0.remove(key);
    }

    /// Takes what the other one gives in place of its own.
    pub(super) fn take(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The values of a key; none if it is not given.
    pub fn texts(&self, key: &str) -> &[String] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    /// The value of a key.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.texts(key).last().map(String::as_str)
    }

    /// The values of each key that is given.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        self.0.iter().map(|(key, values)| (*key, values.as_slice()))
    }

    /// The number of a key.
    pub(crate) fn number(&self, key: &str) -> Option<u32> {
        self.text(key)?.parse().ok()
    }

    /// Whether a key is given as true.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.text(key) == Some("true")
    }
}
