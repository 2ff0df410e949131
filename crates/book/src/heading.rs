//! What books say of themselves as wholes, which only a book of the same format can hold.

use super::Format;

/// What a book says of itself, as its format has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The format.
    pub format: Format,
    /// What people wrote, in the order of the format's fields.
    pub texts: Vec<String>,
    /// The settings, likewise.
    pub settings: Vec<i32>,
    /// Whether another format loses something that people wrote or chose, beside what acts through the weights.
    pub says_anything: bool,
}

/// What the books that are read say of themselves, for the writer of a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// What the first book of the new book's format says.
    pub heading: Heading,
    /// Whether all books that are read are of that format.
    pub alone: bool,
}
