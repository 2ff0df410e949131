//! New moves where play leaves the book: the engine's best move at the most probable candidates.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use shakmaty::{Color, Position as _};

use super::evaluate::{Evaluated, Knowledge, Work, evaluate};
use super::graph::Graph;
use super::vetted::Extended;
use crate::base::error::Result;
use crate::base::progress::Progress;
use crate::book::traverse::Keys;
use crate::book::{Format, Keeps, Moves};
use crate::chess::value::result;
use crate::chess::{Packed, Position};

/// How probable it is that play goes on with the engine's best move: others may choose another one, so lines do not grow one
/// at a time.
const GOES_ON: f64 = 0.5;

/// A position without a move to play, and how probable it is. Of equally probable ones the earlier comes first.
struct Candidate {
    chance: f64,
    order: u64,
    at: Position,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.chance.total_cmp(&other.chance).then(other.order.cmp(&self.order))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// Adds moves to `book` until there are `count` more, at the candidates where `vetted`, the same book as judged, has none to play,
/// the most probable first. Lines go on after a new move: with a `side` given after the engine's best reply to it, which
/// a Polyglot book need not have.
///
/// # Errors
/// As [`evaluate()`].
#[expect(clippy::too_many_arguments, reason = "each of them is another thing")]
pub fn extend(
    book: &mut Extended<'_>,
    (vetted, graph): (&dyn Moves, &Graph),
    side: Option<Color>,
    count: usize,
    format: Format,
    knowledge: &mut Knowledge,
    work: Option<&Work<'_>>,
    progress: &Progress,
) -> Result<Evaluated> {
    let (reach, ends) = graph.reach_under(vetted);
    let (mut candidates, mut order) = (BinaryHeap::new(), 0);
    for ((number, chance), end) in (0_u32..).zip(reach).zip(ends) {
        if let Some(at) = graph.position(number).filter(|_| end && chance > 0.0) {
            candidates.push(Candidate { chance, order, at });
            order += 1;
        }
    }
    let mut all = Evaluated::default();
    let (mut seen, mut added) = (Keys::default(), 0);
    progress.things(count as u64, "new moves");
    while added < count {
        let several = work.map_or(1, |work| work.jobs).min(count - added).max(1);
        let mut now: Vec<_> = std::iter::from_fn(|| candidates.pop()).take(several).collect();
        if now.is_empty() {
            break;
        }
        now.retain(|place| result(&place.at).is_none() && seen.insert(place.at.key()));
        if let Some(work) = work {
            let limit = work.limit;
            let is_open = |place: &&Candidate| {
                let packed = Packed::strict(&place.at);
                packed.is_some_and(|packed| {
                    !knowledge.is_searched(&packed, limit) || best(knowledge, &place.at).is_none()
                })
            };
            let open: Vec<_> = now.iter().filter(is_open).map(|place| place.at.clone()).collect();
            let found = evaluate(&mut open.into_iter(), knowledge, work, &Progress::none())?;
            all.add(found);
            if work.until.is_some_and(|until| std::time::Instant::now() >= until) {
                all.cut = true;
                break;
            }
        }
        for Candidate { chance, at, .. } in now {
            let Some(mv) = best(knowledge, &at) else { continue };
            let is_ours = side.is_none_or(|side| side == at.chess().turn());
            if (is_ours || format.keeps() != Keeps::Weights) && book.add(&at, mv) {
                added += usize::from(is_ours);
                progress.at(added as u64);
            }
            let next = at.after(mv);
            if graph.number(next.key()).is_none() {
                candidates.push(Candidate { chance: chance * GOES_ON, order, at: next });
                order += 1;
            }
        }
    }
    Ok(all)
}

/// The best move that is known of a position.
fn best(knowledge: &Knowledge, at: &Position) -> Option<shakmaty::Move> {
    let code = knowledge.find(&Packed::strict(at)?)?.best;
    code.resolve(at.chess()).filter(|mv| at.chess().is_legal(*mv))
}
