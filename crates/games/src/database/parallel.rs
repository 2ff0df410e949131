//! Work on the games of a database by several threads, with results in the order of the games.

use tabiya_base::error::Result;
use tabiya_base::parallel;

/// Games that a thread takes at once: some hundred kilobytes of PGN.
const RUN: u32 = 512;

/// Results of one thread that may wait, so that memory does not grow with the database.
const WAITING: usize = 2;

/// Lets threads work on the games from `first` to `last`, run by run, as [`parallel::in_order`] does.
///
/// # Errors
/// When `take` fails: the work stops then.
pub(crate) fn in_order<W, T: Default + Send>(
    (first, last): (u32, u32),
    threads: usize,
    make: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, (u32, u32), &mut T) + Sync,
    mut take: impl FnMut(u32, &mut T) -> Result<()>,
) -> Result<()> {
    let runs = u64::from((last.saturating_add(1)).saturating_sub(first)).div_ceil(u64::from(RUN));
    let run = |number: u64| {
        let from = first.saturating_add(u32::try_from(number).unwrap_or(u32::MAX).saturating_mul(RUN));
        (from, from.saturating_add(RUN - 1).min(last))
    };
    let mut numbers = 0..runs;
    let next = || Ok(numbers.next().map(run));
    parallel::in_order(threads, WAITING, next, make, work, |number, found| take(run(number).1, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_game_comes_once_and_in_order() {
        for last in [0, 1, 511, 512, 513, 5000] {
            let mut seen = Vec::new();
            let work = |_: &mut (), (from, to): (u32, u32), found: &mut Vec<u32>| {
                found.clear();
                found.extend(from..=to);
            };
            let take = |end, found: &mut Vec<u32>| {
                assert_eq!(found.last(), Some(&end));
                seen.append(found);
                Ok(())
            };
            in_order((1, last), 3, || (), work, take).unwrap();
            assert_eq!(seen, (1..=last).collect::<Vec<_>>());
        }
    }
}
