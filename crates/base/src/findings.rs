//! What a check finds wrong with a file: the first findings of each kind one by one, the others in one line.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::path::Path;

/// Findings of one kind that are reported one by one.
pub const LISTED: u64 = 20;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Something is lost or cannot be used: the file is damaged.
    Error,
    /// Something is unusual, but nothing is lost: the file is sound.
    Warning,
}

impl Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// A kind of finding, as a row of a table that `kinds!` makes.
#[derive(Clone, Copy, Debug)]
pub struct FindingKind {
    /// Its place in the table.
    pub number: usize,
    /// How bad its findings are.
    pub severity: Severity,
    /// What several findings are, as a noun phrase that follows their number.
    pub many: &'static str,
    /// What they mean for who uses the file, as a clause; empty where `many` says it.
    pub means: &'static str,
}

/// An enum of kinds of findings from a table: name, severity, what several findings of the kind are, and what they mean.
#[macro_export]
macro_rules! kinds {
    ($(#[$doc:meta])* $vis:vis enum $name:ident { $($kind:ident: $severity:ident $many:literal $(=> $means:literal)?,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name { $(#[doc = $many] $kind,)* }

        impl From<$name> for $crate::findings::FindingKind {
            fn from(kind: $name) -> Self {
                use $crate::findings::Severity;
                let (severity, many, means) =
                    match kind { $($name::$kind => (Severity::$severity, $many, concat!("" $(, $means)?)),)* };
                Self { number: kind as usize, severity, many, means }
            }
        }
    };
}
pub use crate::kinds;

/// Where a finding is; the default is for findings about a whole file.
#[derive(Clone, Copy, Debug, Default)]
pub struct FindingPlace<'a> {
    /// In bytes from the start of the file.
    pub offset: Option<u64>,
    /// The file, if it is not the one that holds the entries.
    pub path: Option<&'a Path>,
}

impl From<u64> for FindingPlace<'_> {
    fn from(offset: u64) -> Self {
        Self { offset: Some(offset), path: None }
    }
}

impl<'a, P: AsRef<Path> + ?Sized> From<(&'a P, u64)> for FindingPlace<'a> {
    fn from((path, offset): (&'a P, u64)) -> Self {
        Self { offset: Some(offset), path: Some(path.as_ref()) }
    }
}

/// One finding, or several of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong: a clause; for several findings, their number and what they are.
    pub what: String,
    /// How many findings these are.
    pub count: u64,
    /// Where it is, or the first one, in bytes from the start of the file; `None` where it is about the whole file.
    pub offset: Option<u64>,
    /// The name of that file, if it is not the one that holds the entries.
    pub file: Option<String>,
    /// What it means for who uses the file, as a clause; empty where `what` says it.
    pub means: &'static str,
}

impl Finding {
    /// Whether the file is damaged.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        let Some(offset) = self.offset else { return Ok(()) };
        let first = if self.count > 1 { "first at " } else { "" };
        write!(f, " ({first}byte {offset}")?;
        if let Some(file) = &self.file {
            write!(f, " of {file}")?;
        }
        f.write_str(")")
    }
}

/// Collects findings: see [`listed`] and [`summed`].
pub struct Findings<'a> {
    listed: u64,
    report: &'a mut dyn FnMut(Finding),
    groups: BTreeMap<usize, FindingGroup>,
}

/// The findings of a kind.
struct FindingGroup {
    kind: FindingKind,
    listed: u64,
    /// The first of those that are not listed, with their number.
    others: Option<Finding>,
}

/// Does `work`. Reports the first findings of each kind as they are added, and the others of each kind together at the
/// end.
pub fn listed<T>(report: &mut dyn FnMut(Finding), work: impl FnOnce(&mut Findings<'_>) -> T) -> T {
    collect(LISTED, report, work)
}

/// Does `work`, and returns the findings of each kind together.
pub fn summed<T>(work: impl FnOnce(&mut Findings<'_>) -> T) -> (T, Vec<Finding>) {
    let mut sums = Vec::new();
    let done = collect(0, &mut |finding| sums.push(finding), work);
    (done, sums)
}

fn collect<T>(listed: u64, report: &mut dyn FnMut(Finding), work: impl FnOnce(&mut Findings<'_>) -> T) -> T {
    let mut findings = Findings { listed, report, groups: BTreeMap::new() };
    let done = work(&mut findings);
    for FindingGroup { kind, listed, others } in findings.groups.into_values() {
        let Some(mut others) = others else { continue };
        if others.count > 1 {
            let more = if listed > 0 { " more" } else { "" };
            others.what = format!("{}{more} {}", others.count, kind.many);
        }
        (findings.report)(others);
    }
    done
}

impl Findings<'_> {
    /// Adds a finding; `what` is a clause. All warnings of a kind are one finding.
    pub fn add<'p>(
        &mut self,
        kind: impl Into<FindingKind>,
        place: impl Into<FindingPlace<'p>>,
        what: impl Display,
    ) {
        let kind = kind.into();
        let listed = if kind.severity == Severity::Warning { 0 } else { self.listed };
        self.put(listed, kind, place.into(), &what);
    }

    /// Adds a finding of a kind whose findings are too many, or too harmless, to be listed one by one.
    pub fn count<'p>(
        &mut self,
        kind: impl Into<FindingKind>,
        place: impl Into<FindingPlace<'p>>,
        what: impl Display,
    ) {
        self.put(0, kind.into(), place.into(), &what);
    }

    /// Adds `count` findings of a kind at once, without their words. More of this kind must have been added than are listed.
    pub fn more(&mut self, kind: impl Into<FindingKind>, count: u64) {
        let group = self.groups.get_mut(&kind.into().number);
        if let Some(others) = group.and_then(|group| group.others.as_mut()) {
            others.count += count;
        }
    }

    fn put(&mut self, most: u64, kind: FindingKind, place: FindingPlace<'_>, what: &dyn Display) {
        let group =
            self.groups.entry(kind.number).or_insert_with(|| FindingGroup { kind, listed: 0, others: None });
        if let Some(others) = &mut group.others {
            others.count += 1;
            return;
        }
        let name = place.path.and_then(Path::file_name);
        let finding = Finding {
            severity: kind.severity,
            what: what.to_string(),
            count: 1,
            offset: place.offset,
            file: name.map(|name| name.to_string_lossy().into_owned()),
            means: kind.means,
        };
        if group.listed < most {
            group.listed += 1;
            (self.report)(finding);
        } else {
            group.others = Some(finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    kinds! {
        enum Fruit {
            Pear: Error "bad pears",
            Plum: Error "odd plums",
            Basket: Warning "small baskets" => "they hold little",
        }
    }

    fn fill(findings: &mut Findings<'_>) {
        for offset in 0..LISTED + 3 {
            findings.add(Fruit::Plum, offset, format_args!("the plum {offset} is odd"));
        }
        findings.add(Fruit::Pear, (Path::new("a/pears"), 7), "the pear is bad");
        findings.count(Fruit::Pear, 8, "the next pear is bad too");
        findings.more(Fruit::Plum, 4);
        for offset in 40..61 {
            findings.add(Fruit::Basket, offset, "the basket is too small");
        }
    }

    #[test]
    fn the_first_findings_of_a_kind_are_listed_and_the_others_counted() {
        let mut lines = Vec::new();
        listed(&mut |finding| lines.push(format!("{}: {finding}", finding.severity)), fill);
        assert_eq!(lines.len() as u64, LISTED + 4);
        assert_eq!(lines[0], "error: the plum 0 is odd (byte 0)");
        assert_eq!(
            lines[LISTED as usize..],
            [
                "error: the pear is bad (byte 7 of pears)",
                "error: the next pear is bad too (byte 8)",
                "error: 7 more odd plums (first at byte 20)",
                "warning: 21 small baskets (first at byte 40)",
            ]
        );
    }

    #[test]
    fn a_sum_is_one_line_for_each_kind_in_the_order_of_the_table() {
        let (done, sums) = summed(|findings| {
            fill(findings);
            5
        });
        let lines: Vec<_> = sums.iter().map(Finding::to_string).collect();
        let expected = [
            "2 bad pears (first at byte 7 of pears)",
            "27 odd plums (first at byte 0)",
            "21 small baskets (first at byte 40)",
        ];
        assert_eq!(lines, expected);
        assert_eq!((done, sums[1].is_error(), sums[2].is_error(), sums[1].count), (5, true, false, 27));
        assert_eq!(
            sums.iter().map(|finding| finding.means).collect::<Vec<_>>(),
            ["", "", "they hold little"]
        );
    }
}
