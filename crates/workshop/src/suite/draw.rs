//! Drawing a suite evenly over openings and plies.

use std::collections::{BTreeMap, HashMap, VecDeque};

use rand::seq::SliceRandom;
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};

use tabiya_base::error::Result;

use super::candidates::Candidate;

/// Positions that are offered at once, at least, where there are as many.
const AT_ONCE: usize = 64;

/// What makes an opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpeningGroup {
    /// Its name.
    #[default]
    Name,
    /// Its code.
    Eco,
}

impl OpeningGroup {
    /// The group of a position; those without an opening are one.
    pub fn name_of(self, candidate: &Candidate) -> &'static str {
        let text = |opening: tabiya_chess::openings::Opening| match self {
            Self::Name => opening.name(),
            Self::Eco => opening.eco(),
        };
        candidate.opening.map_or("", text)
    }
}

/// How a suite is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Draw {
    /// What makes an opening.
    pub by: OpeningGroup,
    /// Positions of each opening at most.
    pub per_opening: Option<usize>,
    /// Positions in all at most.
    pub count: Option<usize>,
    /// The same seed draws the same suite.
    pub seed: u64,
}

/// The positions of one opening after the same number of plies that are still to be drawn, the next one last.
struct Stratum {
    opening: &'static str,
    left: Vec<usize>,
}

/// Draws positions in rounds: in each, one of every opening and number of plies that has some left, in an order that the seed
/// decides. `accept` says which of some positions may be drawn; a position that it refuses is replaced by the next one of its
/// opening and plies. Returns the numbers of the drawn ones in their order, which depends on what is accepted alone.
///
/// # Errors
/// What fails in `accept`.
pub fn draw(
    candidates: &[Candidate],
    draw: Draw,
    mut accept: impl FnMut(&[usize]) -> Result<Vec<bool>>,
) -> Result<Vec<usize>> {
    let mut strata: BTreeMap<(&str, u32), Vec<usize>> = BTreeMap::new();
    for (number, candidate) in candidates.iter().enumerate() {
        strata.entry((draw.by.name_of(candidate), candidate.plies)).or_default().push(number);
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(draw.seed);
    let mut strata: Vec<Stratum> = strata
        .into_iter()
        .map(|((opening, _), mut left)| {
            left.shuffle(&mut random);
            Stratum { opening, left }
        })
        .collect();
    strata.shuffle(&mut random);
    let mut strata = VecDeque::from(strata);
    let mut drawn = Vec::new();
    let mut of_opening: HashMap<&str, usize> = HashMap::new();
    let (count, per_opening) = (draw.count.unwrap_or(usize::MAX), draw.per_opening.unwrap_or(usize::MAX));
    loop {
        strata.retain(|stratum| {
            let drawn_of = of_opening.get(stratum.opening).copied().unwrap_or_default();
            !stratum.left.is_empty() && drawn_of < per_opening
        });
        let missing = count - drawn.len();
        if missing == 0 || strata.is_empty() {
            return Ok(drawn);
        }
        // Several at once, so that several engines have work; not many more than are missing.
        let mut round: Vec<Stratum> = strata.drain(..strata.len().min(missing.max(AT_ONCE))).collect();
        let each = missing.div_ceil(round.len()).min(per_opening);
        let offered: Vec<Vec<usize>> = round
            .iter_mut()
            .map(|Stratum { left, .. }| {
                left.split_off(left.len().saturating_sub(each)).into_iter().rev().collect()
            })
            .collect();
        let all = offered.concat();
        let mut accepted = all.iter().zip(accept(&all)?).filter(|(_, accepted)| *accepted).peekable();
        let taken: Vec<Vec<usize>> = offered
            .into_iter()
            .map(|mut of_stratum| {
                of_stratum.retain(|number| accepted.next_if(|(next, _)| *next == number).is_some());
                of_stratum
            })
            .collect();
        for place in 0..taken.iter().map(Vec::len).max().unwrap_or_default() {
            for (stratum, taken) in round.iter().zip(&taken) {
                let Some(number) = taken.get(place) else { continue };
                let drawn_of = of_opening.entry(stratum.opening).or_default();
                if drawn.len() < count && *drawn_of < per_opening {
                    *drawn_of += 1;
                    drawn.push(*number);
                }
            }
        }
        strata.extend(round);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use tabiya_base::progress::Progress;
    use tabiya_book as book;

    use super::*;
    use crate::suite::{Candidates, Search, SuiteSource};

    fn candidates() -> Vec<Candidate> {
        let search = Search {
            variant: tabiya_book::Variant::Chess,
            plies: 2..=8,
            min_games: 0,
            unique_colours: false,
        };
        let mut found =
            Candidates::find(&[SuiteSource::Book(book::starter_book().unwrap())], &search, &Progress::none())
                .unwrap();
        found.take_found()
    }

    fn all(numbers: &[usize]) -> Result<Vec<bool>> {
        Ok(vec![true; numbers.len()])
    }

    #[test]
    fn everything_is_drawn_once_in_the_order_of_the_seed() {
        let candidates = candidates();
        let with = |seed| draw(&candidates, Draw { seed, ..Draw::default() }, all).unwrap();
        let (one, other) = (with(1), with(2));
        assert!(one == with(1) && one != other && one.len() == candidates.len());
        assert_eq!(one.iter().collect::<HashSet<_>>().len(), one.len());
    }

    #[test]
    fn openings_and_plies_have_equal_shares() {
        let candidates = candidates();
        let plan = Draw { by: OpeningGroup::Eco, per_opening: Some(2), ..Draw::default() };
        let drawn = draw(&candidates, plan, all).unwrap();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for number in &drawn {
            *counts.entry(plan.by.name_of(&candidates[*number])).or_default() += 1;
        }
        assert!(
            counts.len() > 10
                && counts.values().all(|count| *count <= 2)
                && counts.values().any(|count| *count == 2)
        );
        let strata: HashSet<_> =
            candidates.iter().map(|candidate| (candidate.opening, candidate.plies)).collect();
        let few = draw(&candidates, Draw { count: Some(strata.len()), ..Draw::default() }, all).unwrap();
        let of: HashSet<_> = few
            .iter()
            .map(|number| {
                (candidates[*number].opening.map(|opening| opening.name()), candidates[*number].plies)
            })
            .collect();
        let names: HashSet<_> = candidates
            .iter()
            .map(|candidate| (OpeningGroup::Name.name_of(candidate), candidate.plies))
            .collect();
        assert_eq!(of.len(), names.len().min(few.len()));
    }

    #[test]
    fn what_is_refused_is_replaced() {
        let candidates = candidates();
        let even = |numbers: &[usize]| Ok(numbers.iter().map(|number| number % 2 == 0).collect());
        let drawn = draw(&candidates, Draw::default(), even).unwrap();
        assert_eq!(drawn.len(), candidates.len().div_ceil(2));
        let plan = Draw { count: Some(30), ..Draw::default() };
        let mut asked = 0;
        let drawn = draw(&candidates, plan, |numbers| {
            asked += numbers.len();
            even(numbers)
        })
        .unwrap();
        assert!(drawn.len() == 30 && drawn.iter().all(|number| number % 2 == 0) && asked < candidates.len());
    }
}
