//! Which position stands behind which move, and the order of the records.

use super::super::walk::{LONGEST, MOST};
use super::draft::Draft;
use crate::chess::Position;

/// A move that leads to no position of the book.
pub const NOWHERE: u32 = u32::MAX;

/// Which position stands behind which move, and the order of the records.
#[derive(Debug, Default)]
pub struct Tree {
    /// For each move the position whose moves stand behind it, or [`NOWHERE`].
    pub children: Vec<u32>,
    /// For each move the number of its record, from 0.
    pub numbers: Vec<u32>,
    /// For each record its position and the number of its move there: a line to its end before the next.
    pub order: Vec<(u32, u32)>,
    /// Positions for which there was no room.
    pub beyond: u64,
}

impl Tree {
    /// Of all that the start reaches, the shortest way to each position first.
    pub fn new(draft: &Draft) -> Self {
        Self::within(draft, MOST, LONGEST)
    }

    /// Of at most so many records and plies.
    fn within(draft: &Draft, most: usize, longest: usize) -> Self {
        let mut tree = Self { children: vec![NOWHERE; draft.moves()], ..Self::default() };
        let Some(start) = draft.find(Position::start().key()) else { return tree };
        let mut reached = vec![false; draft.len()];
        let mut mark =
            |place: u32| reached.get_mut(place as usize).is_some_and(|seen| !std::mem::replace(seen, true));
        mark(start);
        let mut records = draft.steps(start).1.len();
        if records > most {
            tree.beyond = 1;
            return tree;
        }
        let mut now = vec![start];
        let mut plies = 1;
        while !now.is_empty() {
            let mut next = Vec::new();
            for place in now {
                let (first, steps) = draft.steps(place);
                for (number, step) in (first..).zip(steps) {
                    let Some(place) = draft.find(step.next).filter(|&place| mark(place)) else { continue };
                    let more = draft.steps(place).1.len();
                    if plies >= longest || records + more > most {
                        tree.beyond += 1;
                        continue;
                    }
                    records += more;
                    if let Some(child) = tree.children.get_mut(number as usize) {
                        *child = place;
                    }
                    next.push(place);
                }
            }
            now = next;
            plies += 1;
        }
        tree.number(draft, start, records);
        tree
    }

    /// Gives the records their numbers.
    fn number(&mut self, draft: &Draft, start: u32, records: usize) {
        self.numbers = vec![0; draft.moves()];
        self.order.reserve_exact(records);
        // Positions on the way, each with the number of the move that comes next in it.
        let mut line = vec![(start, 0)];
        while let Some((place, at)) = line.last_mut() {
            let (first, steps) = draft.steps(*place);
            if *at as usize >= steps.len() {
                line.pop();
                continue;
            }
            let number = (first + *at) as usize;
            if let Some(place) = self.numbers.get_mut(number) {
                *place = self.order.len() as u32;
            }
            self.order.push((*place, *at));
            *at += 1;
            if let Some(&child) = self.children.get(number).filter(|child| **child != NOWHERE) {
                line.push((child, 0));
            }
        }
    }
}
