//! How moves are chosen.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng as _, SeedableRng};

use crate::board::game_of;
use crate::entry::Entry;
use crate::errors::{raise, raise_opening};
use crate::library::{self, BookSet, ChosenOpenings, Found, MAX_LOSS_LIMIT, MoveCode, OpenBook};
use crate::reader::Reader;
use crate::tasks::{is_path, not_pickled, path_of, share, weights_of};

/// How moves are chosen: by the rules and options of tabiya's adapter.
///
/// *books* are readers or paths, in order of priority; those of *white* and *black*, one or several, are asked first, for their side. Without any
/// book the starter book answers. The options are the adapter's, with its defaults: *variety* (0 the best move, 50 by weight, 100
/// all alike), *depth* (the last full move, 0 without a limit), *threshold* (the share of the position's weight that a move needs,
/// in percent), *games* (that a move needs, where they are counted), *weights*
/// (``"games"``: how often moves were played, where that is counted), *opening* (only moves that lead to or stay in openings of this name or
/// code; several with ``;``), *reserve* (plies that the line of a move needs),
/// *max_loss* (centipawns, by the store of evaluations beside the book; 0 without a limit), *tournament* (colors, marks and limits
/// count), *factor* (with *tournament*: factors of CTG books multiply the weights), *threefold* (a move may repeat a position for the third time), *learn* (learned results count) and *seed* (0 for
/// a random one).
#[pyclass(frozen, module = "tabiya", name = "Policy")]
pub struct Policy {
    policy: library::Policy,
    /// The books, and the random numbers of choices without a seed of their own.
    state: Mutex<State>,
    open: Vec<OpenBook>,
}

struct State {
    set: BookSet,
    rng: Xoshiro256PlusPlus,
}

/// A number within its limits.
fn within(name: &str, number: i128, most: u32) -> PyResult<u32> {
    let found = u32::try_from(number).ok().filter(|number| *number <= most);
    found.ok_or_else(|| PyValueError::new_err(format!("{name} must be from 0 to {most}, not {number}")))
}

fn seed_of(seed: i128) -> PyResult<u64> {
    let wrong = |_| PyValueError::new_err(format!("seed must be from 0 to {}, not {seed}", u64::MAX));
    u64::try_from(seed).map_err(wrong)
}

/// A book that is open, or the path of one.
fn book_of(given: &Bound<'_, PyAny>) -> PyResult<OpenBook> {
    if let Ok(reader) = given.cast::<Reader>() {
        return reader.get().book();
    }
    let path = path_of(given)?;
    given.py().detach(|| OpenBook::open(&path)).map_err(|error| raise_opening(&error, Some(&path)))
}

/// One book, or several.
fn books_of(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<OpenBook>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    if given.is_instance_of::<Reader>() || is_path(given)? {
        return Ok(vec![book_of(given)?]);
    }
    given.try_iter()?.map(|book| book_of(&book?)).collect()
}

/// The openings that a text names; `None` for an empty one.
fn openings_of(text: &str) -> PyResult<Option<Arc<ChosenOpenings>>> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    ChosenOpenings::named(text).map(Some).map_err(|unknown| PyValueError::new_err(unknown.to_string()))
}

/// The generator of a seed; 0 takes one from the system, as *Book Seed* does.
fn rng(seed: u64) -> Xoshiro256PlusPlus {
    if seed == 0 { rand::make_rng() } else { Xoshiro256PlusPlus::seed_from_u64(seed) }
}

/// Entries with their chances, and the number of the one that is drawn.
type Asked = (Vec<(Entry, f64)>, Option<usize>);

impl Policy {
    /// The entries of the book that answers, with their chances and the one that is drawn.
    fn ask(&self, board: &Bound<'_, PyAny>, seed: Option<u64>, draws: bool) -> PyResult<Option<Asked>> {
        let Some((game, mode)) = game_of(board)? else { return Ok(None) };
        // Whoever holds it holds the lock of Python too, so nobody waits here.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { set, rng: own } = &mut *state;
        let advice = library::advice(set, &game, &self.policy);
        self.open.iter().try_for_each(OpenBook::check_pages).map_err(|error| raise(&error))?;
        let Some((_, moves, chances)) = advice else { return Ok(None) };
        let drawn = match (draws, seed) {
            (false, _) => None,
            (true, Some(seed)) => library::draw(&chances, rng(seed).next_u64()),
            (true, None) => library::draw(&chances, own.next_u64()),
        };
        let at = Arc::new(game.position().clone());
        let entries = moves.into_iter().zip(chances).map(|(facts, chance)| {
            let learn = facts.learned.map_or(0, |learned| learned.games << 16 | learned.halfpoints);
            let found = Found { facts, raw: MoveCode::from_move(facts.mv), learn };
            (Entry::found(&found, &at, mode), chance)
        });
        Ok(Some((entries.collect(), drawn)))
    }
}

#[pymethods]
impl Policy {
    #[new]
    #[pyo3(signature = (*books, white = None, black = None, variety = 50, depth = 0, threshold = 0.5, games = 0,
        weights = "points", opening = "", reserve = 0, max_loss = 0, tournament = true, factor = true, threefold = false, learn = false, seed = 0))]
    #[allow(clippy::too_many_arguments, reason = "each is an option of the adapter")]
    fn new(
        books: &Bound<'_, PyTuple>,
        white: Option<&Bound<'_, PyAny>>,
        black: Option<&Bound<'_, PyAny>>,
        variety: i128,
        depth: i128,
        threshold: f64,
        games: i128,
        weights: &str,
        opening: &str,
        reserve: i128,
        max_loss: i128,
        tournament: bool,
        factor: bool,
        threefold: bool,
        learn: bool,
        seed: i128,
    ) -> PyResult<Self> {
        let seed = seed_of(seed)?;
        let mut policy = library::Policy::default();
        policy.variety = within("variety", variety, 100)?;
        policy.depth = within("depth", depth, u32::MAX)?;
        policy.threshold = share("threshold", threshold)?.into();
        policy.games = within("games", games, u32::MAX)?;
        policy.weights = weights_of(weights)?;
        policy.openings = openings_of(opening)?;
        policy.reserve = within("reserve", reserve, u32::MAX)?;
        policy.max_loss = within("max_loss", max_loss, MAX_LOSS_LIMIT)?;
        policy.tournament = tournament;
        policy.factor = factor;
        policy.threefold = threefold;
        policy.learn = learn;

        let named = [books_of(white)?, books_of(black)?, books_of(Some(books.as_any()))?];
        let [white, black, mut both] =
            named.each_ref().map(|open| open.iter().map(|open| Arc::clone(&open.book)).collect::<Vec<_>>());
        let open = named.concat();
        if open.is_empty() {
            both.push(library::starter().map_err(|error| raise(&error))?);
        }
        let set = library::book_set(&white, &black, &both, policy.max_loss > 0);
        let set = set.map_err(|error| raise(&error))?;
        Ok(Self { policy, state: Mutex::new(State { set, rng: rng(seed) }), open })
    }

    /// The entry of the move that the adapter would play, or ``None`` if no book has a playable one.
    ///
    /// With a *seed* the choice depends on that alone; otherwise it is the next one of the policy's seed. The moves of a board
    /// decide what would repeat a position.
    #[pyo3(signature = (board, *, seed = None))]
    fn choose(&self, board: &Bound<'_, PyAny>, seed: Option<i128>) -> PyResult<Option<Entry>> {
        let seed = seed.map(seed_of).transpose()?;
        let Some((entries, drawn)) = self.ask(board, seed, true)? else { return Ok(None) };
        let drawn = drawn.ok_or_else(|| PyRuntimeError::new_err("no move was drawn"))?;
        Ok(entries.into_iter().nth(drawn).map(|(entry, _)| entry))
    }

    /// The moves of the book that answers with the chance of each, the most likely first; 0 for moves that may not be played. Empty
    /// if no book has a playable move.
    fn chances(&self, board: &Bound<'_, PyAny>) -> PyResult<Vec<(Entry, f64)>> {
        let Some((mut entries, _)) = self.ask(board, None, false)? else { return Ok(Vec::new()) };
        entries.sort_by(|(a, chance_a), (b, chance_b)| {
            chance_b.total_cmp(chance_a).then(b.weight().cmp(&a.weight()))
        });
        Ok(entries)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled("a Policy", "pass the paths of its books and its options, and make it there"))
    }

    fn __repr__(&self) -> String {
        let library::Policy {
            variety,
            depth,
            threshold,
            games,
            reserve,
            max_loss,
            tournament,
            factor,
            threefold,
            learn,
            ..
        } = self.policy;
        let python = |is: bool| if is { "True" } else { "False" };
        format!(
            "Policy(variety={variety}, depth={depth}, threshold={}, games={games}, reserve={reserve}, \
             max_loss={max_loss}, tournament={}, factor={}, threefold={}, learn={})",
            f64::from(threshold) / 10.0,
            python(tournament),
            python(factor),
            python(threefold),
            python(learn)
        )
    }
}
