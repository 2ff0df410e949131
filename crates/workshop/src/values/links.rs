//! The moves of a graph of positions as numbers, and its components: sets of positions that all lead to each other.
#![allow(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "numbers of positions and moves are below 2^32, and are checked when a graph is made"
)]

use std::ops::Range;

/// No position, and in [`Components::new`] one that was not visited.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Which position each move leads to: 4 bytes for each move, and 4 for each position.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// The number of the first move of each position, and the number of all moves.
    first: Vec<u32>,
    /// Where each move leads to.
    to: Vec<u32>,
}

impl Links {
    /// From the number of each position's first move, with the number of all moves at the end, and where each move leads
    /// to. `None` if they do not fit, or there are more than 2^32.
    pub fn new(first: Vec<u32>, to: Vec<u32>) -> Option<Self> {
        let positions = u32::try_from(first.len().checked_sub(1)?).ok().filter(|count| *count < NOWHERE)?;
        let fits = first.is_sorted()
            && first.first() == Some(&0)
            && first.last().copied() == u32::try_from(to.len()).ok()
            && to.iter().all(|at| *at < positions);
        fits.then_some(Self { first, to })
    }

    /// How many positions there are.
    pub fn positions(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    /// How many moves there are.
    pub fn moves(&self) -> usize {
        self.to.len()
    }

    /// The numbers of a position's moves.
    pub fn range(&self, at: u32) -> Range<usize> {
        self.first[at as usize] as usize..self.first[at as usize + 1] as usize
    }

    /// Where a position's moves lead to.
    pub fn from(&self, at: u32) -> &[u32] {
        &self.to[self.range(at)]
    }

    /// The moves backwards: from each position those that lead to it.
    pub fn reversed(&self) -> Self {
        let mut first = vec![0_u32; self.positions() + 1];
        self.to.iter().for_each(|to| first[*to as usize + 1] += 1);
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        let mut next = first.clone();
        let mut to = vec![0; self.to.len()];
        for at in 0..self.positions() as u32 {
            for target in self.from(at) {
                let place = &mut next[*target as usize];
                to[*place as usize] = at;
                *place += 1;
            }
        }
        Self { first, to }
    }
}

/// The components of a graph. A component comes after all that its moves lead to.
#[derive(Clone, Debug)]
pub struct Components {
    /// The positions, those of one component together.
    members: Vec<u32>,
    /// Where each component begins in `members`, and the end of the last.
    first: Vec<u32>,
    /// The component of each position.
    of: Vec<u32>,
}

impl Components {
    /// Finds them with Tarjan's algorithm, without recursion.
    pub fn new(links: &Links) -> Self {
        let positions = links.positions();
        // When each position was visited first, and the earliest one on the path that it leads back to.
        let mut visited = vec![NOWHERE; positions];
        let mut back = vec![0_u32; positions];
        let mut of = vec![NOWHERE; positions];
        let (mut members, mut first) = (Vec::with_capacity(positions), vec![0]);
        let (mut open, mut path): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
        let mut time = 0;
        for start in 0..positions as u32 {
            if visited[start as usize] != NOWHERE {
                continue;
            }
            path.push((start, 0));
            while let Some((at, done)) = path.last_mut() {
                let here = *at as usize;
                if visited[here] == NOWHERE {
                    (visited[here], back[here]) = (time, time);
                    time += 1;
                    open.push(*at);
                }
                if let Some(next) = links.from(*at).get(*done as usize) {
                    *done += 1;
                    let there = *next as usize;
                    if visited[there] == NOWHERE {
                        path.push((*next, 0));
                    } else if of[there] == NOWHERE {
                        back[here] = back[here].min(visited[there]);
                    }
                    continue;
                }
                let at = *at;
                path.pop();
                if let Some((before, _)) = path.last() {
                    back[*before as usize] = back[*before as usize].min(back[here]);
                }
                if back[here] == visited[here] {
                    let number = first.len() as u32 - 1;
                    while let Some(member) = open.pop() {
                        of[member as usize] = number;
                        members.push(member);
                        if member == at {
                            break;
                        }
                    }
                    first.push(members.len() as u32);
                }
            }
        }
        Self { members, first, of }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The component of a position.
    pub fn get(&self, at: u32) -> u32 {
        self.of[at as usize]
    }

    /// The positions of a component.
    pub fn members(&self, number: usize) -> &[u32] {
        &self.members[self.first[number] as usize..self.first[number + 1] as usize]
    }

    /// Whether moves of a component lead back into it.
    pub(crate) fn is_cycle(&self, number: usize, links: &Links) -> bool {
        match self.members(number) {
            [only] => links.from(*only).contains(only),
            _ => true,
        }
    }
}

#[cfg(test)]
#[allow(clippy::needless_range_loop, reason = "the numbers are those of positions")]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A graph of this many positions with these moves.
    pub(crate) fn graph(positions: u32, moves: &[(u32, u32)]) -> Links {
        let mut moves: Vec<_> = moves.to_vec();
        moves.sort_unstable();
        let first = (0..=positions).map(|at| moves.partition_point(|(from, _)| *from < at) as u32).collect();
        Links::new(first, moves.into_iter().map(|(_, to)| to).collect()).unwrap()
    }

    pub(crate) fn any_graph(most: u32) -> impl Strategy<Value = Links> {
        (1..most).prop_flat_map(|positions| {
            prop::collection::vec((0..positions, 0..positions), 0..positions as usize * 3)
                .prop_map(move |moves| graph(positions, &moves))
        })
    }

    /// Whether each position leads to each other one.
    pub(crate) fn leads(links: &Links) -> Vec<Vec<bool>> {
        let all = 0..links.positions() as u32;
        let from = |start: u32| {
            let (mut seen, mut left) = (vec![false; links.positions()], vec![start]);
            while let Some(at) = left.pop() {
                for to in links.from(at) {
                    if !std::mem::replace(&mut seen[*to as usize], true) {
                        left.push(*to);
                    }
                }
            }
            seen
        };
        all.map(from).collect()
    }

    proptest! {
        #[test]
        fn components_are_what_leads_to_each_other(links in any_graph(24)) {
            let (components, leads) = (Components::new(&links), leads(&links));
            let mut seen = 0;
            for number in 0..components.len() {
                seen += components.members(number).len();
                for at in components.members(number) {
                    prop_assert_eq!(components.get(*at), number as u32);
                }
            }
            prop_assert_eq!(seen, links.positions());
            for a in 0..links.positions() {
                for b in 0..links.positions() {
                    let together = a == b || leads[a][b] && leads[b][a];
                    prop_assert_eq!(components.get(a as u32) == components.get(b as u32), together);
                    if leads[a][b] {
                        prop_assert!(components.get(b as u32) <= components.get(a as u32));
                    }
                }
            }
        }

        #[test]
        fn backwards_twice_is_the_same(links in any_graph(24)) {
            let again = links.reversed().reversed();
            for at in 0..links.positions() as u32 {
                let mut to = links.from(at).to_vec();
                to.sort_unstable();
                prop_assert_eq!(again.from(at), &to[..]);
            }
        }
    }

    #[test]
    fn a_line_of_a_million_positions_takes_no_stack() {
        let many = 1_000_000;
        let moves: Vec<_> = (1..many).map(|at| (at - 1, at)).chain([(many - 1, 0)]).collect();
        let components = Components::new(&graph(many, &moves));
        assert_eq!((components.len(), components.members(0).len()), (1, many as usize));
    }

    #[test]
    fn moves_that_do_not_fit_are_no_graph() {
        for (first, to) in
            [(vec![], vec![]), (vec![0, 1], vec![1]), (vec![0, 2], vec![0]), (vec![1, 1], vec![0])]
        {
            assert!(Links::new(first, to).is_none());
        }
        assert!(Links::new(vec![0, 1], vec![0]).is_some());
    }
}
