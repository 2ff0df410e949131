//! Many findings of one kind told in few lines.

use std::collections::BTreeMap;

/// Findings by kind: of each kind some are told one by one, the others together at the end.
#[derive(Debug)]
pub struct Groups<K> {
    told: u64,
    kinds: BTreeMap<K, Group>,
}

/// The findings of a kind, and the first of those that are told together.
#[derive(Debug, Default)]
struct Group {
    count: u64,
    offset: u64,
    what: String,
}

impl<K: Ord> Groups<K> {
    /// So many of each kind are told one by one.
    pub fn new(told: u64) -> Self {
        Self { told, kinds: BTreeMap::new() }
    }

    /// Takes a finding in; gives it back where it is to be told by itself.
    pub fn add(&mut self, kind: K, offset: u64, what: String) -> Option<String> {
        let group = self.kinds.entry(kind).or_default();
        group.count += 1;
        if group.count <= self.told {
            return Some(what);
        }
        if group.count == self.told + 1 {
            (group.offset, group.what) = (offset, what);
        }
        None
    }

    /// For each kind with more findings than were told: the first of the others, with their number.
    pub fn others(self) -> impl Iterator<Item = (K, u64, String)> {
        let told = self.told;
        self.kinds.into_iter().filter_map(move |(kind, Group { count, offset, what })| {
            let what = match count.checked_sub(told).filter(|others| *others > 0)? {
                1 => what,
                others => format!("{what}, and {} more like it", others - 1),
            };
            Some((kind, offset, what))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ones_are_told_and_the_others_counted() {
        let mut groups = Groups::new(2);
        let told: Vec<_> = (0..5).filter_map(|at| groups.add('b', at, format!("b{at}"))).collect();
        assert_eq!(told, ["b0", "b1"]);
        assert_eq!(groups.add('a', 7, "a".to_owned()).as_deref(), Some("a"));
        (0..2).for_each(|at| drop(groups.add('a', at, "more".to_owned())));
        let others: Vec<_> = groups.others().collect();
        assert_eq!(others, [('a', 1, "more".to_owned()), ('b', 2, "b2, and 2 more like it".to_owned())]);
    }
}
