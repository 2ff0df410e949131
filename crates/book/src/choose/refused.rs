//! Why moves of a book are not played, for each move and summed up.

use std::fmt;

use shakmaty::Position as _;

use tabiya_chess::Game;

use super::{Judge, Policy, Refusal, Worth};
use crate::{BookSet, MoveFacts};

/// The moves of a position and why each is not played; in words: `3 below Threshold (0.5 %), 1 with a line of 3 of 4 plies`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Why each of the moves is not played, in their order; `None` for one that may be.
    pub each: Vec<Option<Refusal>>,
    policy: Policy,
}

impl Refused {
    /// Looks at the moves of a position with their chances and losses, as [`chances_in`](super::chances_in) has found them with
    /// the same other arguments.
    pub fn new(
        moves: &[(MoveFacts, f64)],
        losses: &Worth,
        (book_set, from): (&mut BookSet, usize),
        game: &Game,
        policy: &Policy,
    ) -> Self {
        let mut facts: Vec<MoveFacts> = moves.iter().map(|(known, _)| *known).collect();
        policy.take_off_course(game, &mut facts);
        let judge = Judge::new(&facts, policy);
        let any = moves.iter().any(|(_, chance)| *chance > 0.0);
        let mut why = |known: &MoveFacts| {
            let index = facts.iter().position(|counted| counted.mv == known.mv);
            let Some(index) = index else { return Refusal::Opening };
            if let Some(refusal) = judge.refuses(index) {
                return refusal;
            }
            if !policy.covers(game.fullmove()) {
                return Refusal::Depth;
            }
            if losses.loss_of(known.mv).is_some_and(|loss| policy.refuses(loss)) {
                return Refusal::Loss;
            }
            if let Some(objection) = policy.objection(game, known.mv) {
                return objection;
            }
            if policy.variety == 0 && any {
                return Refusal::NotBest;
            }
            let position = game.position();
            let reading = policy.reading(position.chess().turn(), from);
            Refusal::Reserve { plies: book_set.line_of(reading, position, known.mv, 0, &mut Vec::new()) }
        };
        let each = moves.iter().map(|(known, chance)| (*chance <= 0.0).then(|| why(known))).collect();
        Self { each, policy: policy.clone() }
    }

    /// Whether all moves may be played.
    pub fn is_empty(&self) -> bool {
        self.each.iter().all(Option::is_none)
    }

    /// What is said of so many moves.
    fn words(&self, refusal: Refusal, count: usize) -> String {
        match refusal {
            Refusal::Reserve { .. } if count > 1 => {
                let plies = self.each.iter().flatten().filter_map(|other| match other {
                    Refusal::Reserve { plies } => Some(*plies),
                    _ => None,
                });
                let (least, most) = (plies.clone().min().unwrap_or(0), plies.max().unwrap_or(0));
                let plies = if least == most { most.to_string() } else { format!("{least} to {most}") };
                format!("{count} with lines of {plies} of {} plies", self.policy.reserve)
            }
            one => format!("{count} {}", one.words(&self.policy)),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said: Vec<Refusal> = Vec::new();
        for refusal in self.each.iter().flatten() {
            let same = |other: &&Refusal| std::mem::discriminant(*other) == std::mem::discriminant(refusal);
            if said.iter().any(|other| same(&other)) {
                continue;
            }
            let count = self.each.iter().flatten().filter(same).count();
            let comma = if said.is_empty() { "" } else { ", " };
            write!(f, "{comma}{}", self.words(*refusal, count))?;
            said.push(*refusal);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_that_are_not_played_are_counted_by_why() {
        let policy = Policy { reserve: 4, depth: 9, max_loss: 50, games: 3, ..Policy::default() };
        let said =
            |each: &[Option<Refusal>]| Refused { each: each.to_vec(), policy: policy.clone() }.to_string();
        let (below, short) = (Some(Refusal::Threshold), |plies| Some(Refusal::Reserve { plies }));
        assert_eq!(
            said(&[below, short(3), None, below, below]),
            "3 below Threshold (0.5 %), 1 with a line of 3 of 4 plies"
        );
        assert_eq!(said(&[short(1), short(3)]), "2 with lines of 1 to 3 of 4 plies");
        assert_eq!(
            said(&[Refusal::Depth, Refusal::Loss, Refusal::Games].map(Some)),
            "1 after Depth (move 9), 1 above Max Loss (50 centipawns), 1 played in fewer than 3 games"
        );
        assert!(Refused { each: vec![None], policy }.is_empty());
    }
}
