//! New moves where play leaves the book: the engine's best move at the most probable candidates.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use shakmaty::{Color, Position as _};

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::traverse::Keys;
use tabiya_book::{Format, Keeps, Moves};
use tabiya_chess::value::result;
use tabiya_chess::{Packed, Position};

use super::evaluate::{Evaluated, Knowledge, Work, evaluate};
use super::graph::Graph;
use super::vetted::Extended;

/// How probable it is that play goes on with the engine's best move: others may choose another one, so lines do not grow one
/// at a time.
const GOES_ON: f64 = 0.5;

/// Positions without a move to play. The last is the most probable one, of equally probable ones the earliest: the bits of
/// chances, which are not negative, have the order of the chances.
type Candidates = BTreeMap<(u64, Reverse<u64>), Position>;

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
    let (mut candidates, mut order) = (Candidates::new(), 0);
    for ((number, chance), end) in (0_u32..).zip(reach).zip(ends) {
        if let Some(at) = graph.position(number).filter(|_| end && chance > 0.0) {
            candidates.insert((chance.to_bits(), Reverse(order)), at);
            order += 1;
        }
    }
    let mut all = Evaluated::default();
    let (mut seen, mut added) = (Keys::default(), 0);
    progress.things(count as u64, "new moves");
    while added < count {
        let several = work.map_or(1, |work| work.jobs).min(count - added).max(1);
        let mut now: Vec<_> = std::iter::from_fn(|| candidates.pop_last()).take(several).collect();
        if now.is_empty() {
            break;
        }
        now.retain(|(_, at)| result(at).is_none() && seen.insert(at.key()));
        if let Some(work) = work {
            let limit = work.limit;
            let is_open = |at: &&Position| {
                let packed = Packed::strict(at);
                packed.is_some_and(|packed| {
                    !knowledge.is_searched(&packed, limit) || best(knowledge, at).is_none()
                })
            };
            let open: Vec<_> = now.iter().map(|(_, at)| at).filter(is_open).cloned().collect();
            let found = evaluate(&mut open.into_iter(), knowledge, work, &Progress::none())?;
            all.add(found);
            if work.until.is_some_and(|until| std::time::Instant::now() >= until) {
                all.cut = true;
                break;
            }
        }
        for ((chance, _), at) in now {
            let Some(mv) = best(knowledge, &at) else { continue };
            let is_ours = side.is_none_or(|side| side == at.chess().turn());
            if (is_ours || format.keeps() != Keeps::Weights) && book.add(&at, mv) {
                added += usize::from(is_ours);
                progress.at(added as u64);
            }
            let next = at.after(mv);
            if graph.number(next.key()).is_none() {
                let chance = f64::from_bits(chance) * GOES_ON;
                candidates.insert((chance.to_bits(), Reverse(order)), next);
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
