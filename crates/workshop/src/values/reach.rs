//! How probable it is that play reaches each position, if both sides choose as the book does.
#![allow(clippy::indexing_slicing, reason = "numbers of positions come from the graph itself")]

use super::links::{Components, Links};

/// The most moves that are followed within cycles. The probability that is left after as many is negligible.
const MAX_STEPS: usize = 1 << 26;

/// How often a cycle is gone round, at least and at most.
const ROUNDS: (usize, usize) = (4, 64);

/// The probability of each position, from that of its moves; play begins at position 0. A position that play comes to again
/// counts at most as certain.
pub(crate) fn reach(links: &Links, components: &Components, chances: &[f32]) -> Vec<f64> {
    let mut reach = vec![0.0; links.positions()];
    if let Some(start) = reach.first_mut() {
        *start = 1.0;
    }
    // What comes to each position of a cycle in one step, and in the next.
    let (mut now, mut next) = (Vec::new(), Vec::new());
    // Components come before those that lead to them.
    for number in (0..components.len()).rev() {
        let members = components.members(number);
        let inside = |at: u32| components.get(at) as usize == number;
        if components.is_cycle(number, links) {
            now.resize(links.positions(), 0.0);
            next.resize(links.positions(), 0.0);
            members.iter().for_each(|at| now[*at as usize] = reach[*at as usize]);
            let moves: usize = members.iter().map(|at| links.from(*at).len()).sum();
            let rounds = (MAX_STEPS / moves.max(1)).clamp(ROUNDS.0, ROUNDS.1);
            for _ in 0..rounds {
                for &at in members {
                    for (to, chance) in links.from(at).iter().zip(&chances[links.range(at)]) {
                        if inside(*to) {
                            next[*to as usize] += now[at as usize] * f64::from(*chance);
                        }
                    }
                }
                for &at in members {
                    let at = at as usize;
                    (now[at], next[at]) = (next[at], 0.0);
                    reach[at] += now[at];
                }
            }
        }
        for &at in members {
            for (to, chance) in links.from(at).iter().zip(&chances[links.range(at)]) {
                if !inside(*to) {
                    reach[*to as usize] += reach[at as usize] * f64::from(*chance);
                }
            }
        }
    }
    reach.iter_mut().for_each(|chance| *chance = chance.min(1.0));
    reach
}

#[cfg(test)]
mod tests {
    use super::super::links::tests::graph;
    use super::*;

    fn chances_to_reach(links: &Links, chances: &[f32]) -> Vec<f64> {
        reach(links, &Components::new(links), chances)
    }

    #[test]
    fn paths_to_one_position_add_up() {
        let links = graph(5, &[(0, 1), (0, 2), (1, 3), (2, 3), (2, 4)]);
        assert_eq!(chances_to_reach(&links, &[0.75, 0.25, 1.0, 0.5, 0.5]), [1.0, 0.75, 0.25, 0.875, 0.125]);
    }

    #[test]
    fn a_cycle_lets_out_what_comes_in() {
        // From 1 half goes on to 3, and half to 2 and back.
        let links = graph(4, &[(0, 1), (1, 2), (1, 3), (2, 1)]);
        let reach = chances_to_reach(&links, &[0.5, 0.5, 0.5, 1.0]);
        assert!((reach[3] - 0.5).abs() < 1e-6 && (reach[2] - 0.5).abs() < 1e-6, "{reach:?}");
        assert!(reach[1] <= 1.0 && reach[1] > 0.99, "{reach:?}");
        // Where no way leads out, nothing becomes more than certain.
        let links = graph(2, &[(0, 1), (1, 0)]);
        assert_eq!(chances_to_reach(&links, &[1.0, 1.0]), [1.0, 1.0]);
    }
}
