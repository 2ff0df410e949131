//! Openings that a user chooses by name or code, and the positions that lead to them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use shakmaty::{Move, Position as _};

use super::{Opening, is_eco, lines};
use crate::{Game, Position, notation};

/// Separates several names.
const SEPARATOR: char = ';';

/// Bytes of a text of names, at most: all codes at once have fewer.
const MAX_TEXT: usize = 4096;

/// Choices that are kept: settings are set again before each game, and a rule's with each move.
const MAX_KEPT: usize = 16;

/// Openings chosen by name or code, several with `;` between them.
///
/// A name stands for its variations too, in any letter case: `Sicilian Defense`, `Sicilian`, `Smith-Morra Gambit`; `*` is any text,
/// also in codes: `C4*`.
///
/// ```
/// use tabiya_chess::openings::ChosenOpenings;
/// let morra = ChosenOpenings::named("smith-morra gambit; C4*")?;
/// assert_eq!(morra.to_string(), "smith-morra gambit; C4*");
/// assert_eq!(ChosenOpenings::named("Sicilean").unwrap_err().name, "Sicilean");
/// # Ok::<_, tabiya_chess::openings::UnknownOpening>(())
/// ```
pub struct ChosenOpenings {
    text: String,
    parts: Vec<Part>,
}

/// The openings that one of the names stands for.
struct Part {
    /// Where the lines of their names begin, ascending.
    names: Vec<u32>,
    /// The keys of all positions of their lines, ascending.
    lines: Vec<u64>,
    /// The keys of positions of the list from which moves through such positions lead to one of theirs, ascending, and how many
    /// plies that takes.
    ways: Vec<(u64, u32)>,
}

/// What a move does for openings that were chosen, the best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Course {
    /// It leads elsewhere.
    Off,
    /// It leads to a position of one of their lines.
    Line,
    /// It is one of the fewest moves that lead to them.
    Soonest,
    /// Both.
    SoonestLine,
    /// It gets there, or stays there.
    Inside,
}

/// A name that no opening has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownOpening {
    /// The name.
    pub name: String,
}

impl fmt::Display for UnknownOpening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no opening is called '{}'", self.name)
    }
}

impl std::error::Error for UnknownOpening {}

impl ChosenOpenings {
    /// The openings that a text names.
    ///
    /// # Errors
    /// When one of the names is that of no opening, or there is none.
    pub fn named(text: &str) -> Result<Arc<Self>, UnknownOpening> {
        static KEPT: Mutex<Vec<Arc<ChosenOpenings>>> = Mutex::new(Vec::new());
        let text = text.trim();
        let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept().iter().find(|known| known.text == text) {
            return Ok(Arc::clone(known));
        }
        let chosen = Arc::new(Self::find(text)?);
        let mut kept = kept();
        if kept.len() == MAX_KEPT {
            kept.remove(0);
        }
        kept.push(Arc::clone(&chosen));
        Ok(chosen)
    }

    fn find(text: &str) -> Result<Self, UnknownOpening> {
        let unknown = |name: &str| UnknownOpening { name: name.chars().take(80).collect() };
        if text.len() > MAX_TEXT {
            return Err(unknown(text));
        }
        let names: BTreeSet<_> =
            text.split(SEPARATOR).map(str::trim).filter(|name| !name.is_empty()).collect();
        let parts = names.into_iter().map(|name| Part::find(name).ok_or_else(|| unknown(name)));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        if parts.is_empty() { Err(unknown(text)) } else { Ok(Self { text: text.to_owned(), parts }) }
    }

    /// Whether an opening is one of them.
    pub fn has(&self, opening: Opening) -> bool {
        self.parts.iter().any(|part| part.names.binary_search(&opening.offset).is_ok())
    }

    /// Which of the moves in a position count. In these openings it is those that lead to no other one. Before them, for each name, it
    /// is those that lead there by as few moves as any, on its lines if such are among these, or else others on its lines. All count
    /// in other variants. `is_in`: whether the game's opening is one of these.
    #[doc(hidden)]
    pub fn on_course(
        &self,
        at: &Position,
        moves: impl IntoIterator<Item = Move>,
        is_in: impl FnOnce() -> bool,
    ) -> Vec<bool> {
        if at.standard().is_none() {
            return moves.into_iter().map(|_| true).collect();
        }
        let (is_in, now) = (is_in(), at.strict_key());
        let keys: Vec<u64> = moves.into_iter().map(|mv| at.after(mv).strict_key()).collect();
        let mut counts = vec![false; keys.len()];
        for part in &self.parts {
            let courses: Vec<Course> = keys.iter().map(|key| part.course(now, *key, is_in)).collect();
            let best = courses.iter().copied().max().filter(|best| *best > Course::Off);
            for (counts, course) in counts.iter_mut().zip(courses) {
                *counts |= Some(course) == best;
            }
        }
        counts
    }
}

impl Part {
    /// `None` if no opening has this name or code.
    fn find(name: &str) -> Option<Self> {
        let names = with_name(name);
        let graph = Graph::of_list();
        let lines = || graph.lines.iter().filter(|line| names.binary_search(&line.opening.offset).is_ok());
        let of_lines: BTreeSet<u32> = lines().flat_map(|line| line.places.iter().copied()).collect();
        let ways = graph.leading_to(lines().filter_map(|line| line.places.last().copied()).collect());
        let key = |place: u32| graph.keys.get(place as usize).copied();
        let lines = of_lines.into_iter().filter_map(key).collect();
        let ways = ways.into_iter().filter_map(|(place, plies)| Some((key(place)?, plies))).collect();
        (!names.is_empty()).then_some(Self { names, lines, ways })
    }

    /// What a move does that leads from the position with this strict key to that with the other one, in a game whose opening is one
    /// that was chosen, or is not.
    fn course(&self, now: u64, after: u64, is_in: bool) -> Course {
        let plies = self.plies_from(after);
        if plies == Some(0) || is_in && Opening::with_key(after).is_none() {
            return Course::Inside;
        } else if is_in {
            return Course::Off;
        }
        let is_soonest = plies.is_some_and(|plies| self.plies_from(now).is_none_or(|now| plies < now));
        match (is_soonest, self.lines.binary_search(&after).is_ok()) {
            (true, true) => Course::SoonestLine,
            (true, false) => Course::Soonest,
            (false, true) => Course::Line,
            (false, false) => Course::Off,
        }
    }

    /// The plies that it takes to get to one of these openings from the position with this strict key; 0 for one that has their name,
    /// `None` if no moves through the positions of the list lead there.
    fn plies_from(&self, key: u64) -> Option<u32> {
        let place = self.ways.binary_search_by_key(&key, |(key, _)| *key).ok()?;
        self.ways.get(place).map(|(_, plies)| *plies)
    }
}

/// Two are the same if they are written alike.
impl PartialEq for ChosenOpenings {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for ChosenOpenings {}

impl fmt::Display for ChosenOpenings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl fmt::Debug for ChosenOpenings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

/// A line of the list.
struct Line {
    opening: Opening,
    /// Its positions, as their places among all keys; the last one has the name.
    places: Vec<u32>,
}

/// The positions of all lines, and the moves between them.
struct Graph {
    /// The keys of the positions, ascending.
    keys: Vec<u64>,
    lines: Vec<Line>,
    /// For each position that a move leads to, and each from which one does, their places, ascending.
    moves: Vec<(u32, u32)>,
}

impl Graph {
    /// That of the list, which is made when it is needed first.
    fn of_list() -> &'static Self {
        static GRAPH: OnceLock<Graph> = OnceLock::new();
        GRAPH.get_or_init(Self::new)
    }

    fn new() -> Self {
        let (mut positions, mut named) = (BTreeMap::new(), Vec::new());
        for (_, _, moves) in lines() {
            let mut game = Game::start();
            // The tests play each line to its end.
            let _ = notation::play(moves, &mut game);
            let mut at = Position::start();
            let mut keys = vec![at.strict_key()];
            for &mv in game.moves() {
                positions.entry(at.strict_key()).or_insert_with(|| at.clone());
                at.play(mv);
                keys.push(at.strict_key());
            }
            named.extend(Opening::at(&at).map(|opening| (opening, keys)));
            positions.entry(at.strict_key()).or_insert(at);
        }
        let keys: Vec<u64> = positions.keys().copied().collect();
        let place = |key: u64| keys.binary_search(&key).ok().and_then(|place| u32::try_from(place).ok());
        let lines = named
            .into_iter()
            .map(|(opening, keys)| Line { opening, places: keys.into_iter().filter_map(place).collect() });
        let lines = lines.collect();
        let mut moves = Vec::new();
        for (from, at) in (0..).zip(positions.values()) {
            let to = at.chess().legal_moves().into_iter().filter_map(|mv| place(at.after(mv).strict_key()));
            moves.extend(to.map(|to| (to, from)));
        }
        moves.sort_unstable();
        Self { keys, lines, moves }
    }

    /// These positions, and those from which moves lead to them, with how many plies that takes.
    fn leading_to(&self, ends: BTreeSet<u32>) -> BTreeMap<u32, u32> {
        let mut found: BTreeMap<u32, u32> = ends.iter().map(|end| (*end, 0)).collect();
        let mut next = VecDeque::from_iter(ends.into_iter().map(|end| (end, 0)));
        while let Some((to, plies)) = next.pop_front() {
            let first = self.moves.partition_point(|(other, _)| *other < to);
            for &(_, from) in self.moves.iter().skip(first).take_while(|(other, _)| *other == to) {
                found.entry(from).or_insert_with(|| {
                    next.push_back((from, plies + 1));
                    plies + 1
                });
            }
        }
        found
    }
}

/// Where the lines of the openings begin that a name or code stands for.
fn with_name(pattern: &str) -> Vec<u32> {
    let pattern = plain(pattern);
    let (code, name) = match pattern.split_once(' ') {
        Some((code, name)) if is_eco(&code.to_uppercase()) => (code, name),
        _ if is_code(&pattern) => (&*pattern, ""),
        _ => ("*", &*pattern),
    };
    let known: Vec<(u32, String)> = super::all()
        .filter(|opening| is_like(code, &opening.eco().to_lowercase()))
        .map(|opening| (opening.offset, plain(opening.name())))
        .collect();
    let found = |is_named: fn(&str, &str) -> bool| -> Vec<u32> {
        known.iter().filter(|(_, known)| is_named(name, known)).map(|(offset, _)| *offset).collect()
    };
    let mut named = found(begins);
    if named.is_empty() {
        // A variation may be called by its own name.
        named = found(|name, known| {
            known
                .match_indices([':', ','])
                .any(|(at, _)| known.get(at + 1..).is_some_and(|part| begins(name, part.trim_start())))
        });
    }
    named
}

/// Whether a pattern is one of codes: `C4*`, `B90`.
fn is_code(pattern: &str) -> bool {
    let mut letters = pattern.chars();
    let is_volume = letters.next().is_some_and(|letter| ('a'..='e').contains(&letter));
    let rest = letters.as_str();
    is_volume
        && (1..=2).contains(&rest.len())
        && rest.chars().all(|letter| letter.is_ascii_digit() || letter == '*')
}

/// Whether the first words of a text are like a pattern.
fn begins(pattern: &str, text: &str) -> bool {
    let ends =
        text.match_indices(|letter: char| !letter.is_alphanumeric()).map(|(at, _)| at).chain([text.len()]);
    let mut first = ends.filter_map(|end| text.get(..end));
    pattern.is_empty() || first.any(|first| is_like(pattern, first))
}

/// Whether a text is like a pattern, in which `*` is any text.
fn is_like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// A name in lower case with plain letters and single blanks.
fn plain(name: &str) -> String {
    let letter = |letter: char| match letter {
        'á' | 'ä' => 'a',
        'é' => 'e',
        'ó' | 'ö' | 'ø' => 'o',
        'ü' => 'u',
        'ć' => 'c',
        '\u{2019}' => '\'',
        other => other,
    };
    let name: String = name.to_lowercase().chars().map(letter).collect();
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn named(text: &str) -> Vec<&'static str> {
        let chosen = ChosenOpenings::named(text).unwrap_or_else(|wrong| panic!("{wrong}"));
        super::super::all().filter(|opening| chosen.has(*opening)).map(Opening::as_str).collect()
    }

    #[test]
    fn names_and_codes_stand_for_openings_and_their_variations() {
        let sicilian = named("Sicilian Defense");
        assert!(sicilian.len() > 300 && sicilian.iter().all(|name| name.contains(" Sicilian Defense")));
        for same in [
            "sicilian",
            " SICILIAN  DEFENSE ",
            "Sicilian*",
            "sicil*fense",
            "Sicilian Defense;Sicilian Defense",
        ] {
            assert_eq!(named(same), sicilian, "{same}");
        }
        let morra = named("Smith-Morra Gambit");
        assert!(morra.len() > 10 && morra.contains(&"B21 Sicilian Defense: Smith-Morra Gambit Accepted"));
        assert!(morra.iter().all(|name| name.contains("Sicilian Defense: Smith-Morra Gambit")), "{morra:?}");
        assert!(named("C4*").iter().all(|name| name.starts_with("C4")) && named("C4*").len() > 100);
        assert_eq!(named("b90; B91").len(), named("B90").len() + named("B91").len());
        assert_eq!(named("Grunfeld Defense"), named("Grünfeld Defense"));
        let adams = ["B90 Sicilian Defense: Najdorf Variation, Adams Attack"];
        for same in
            ["Adams Attack", "Sicilian Defense: Najdorf Variation, Adams Attack", "B90 Sicilian*Adams*"]
        {
            assert_eq!(named(same), adams, "{same}");
        }
        for wrong in
            ["", ";", "Sicilean", "Defense", "F00", "B9 0", "Sicil", &"A00;".repeat(2000), "B90;no such"]
        {
            assert!(ChosenOpenings::named(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(ChosenOpenings::named("B90; Kings Pawn").unwrap_err().name, "Kings Pawn");
    }

    /// The moves in a position of a game that are on course.
    fn on_course(chosen: &ChosenOpenings, game: &Game) -> Vec<Move> {
        let is_in = || Opening::from_game(game).is_some_and(|opening| chosen.has(opening));
        let moves = game.position().chess().legal_moves();
        let mut on = chosen.on_course(game.position(), moves.iter().copied(), is_in).into_iter();
        moves.into_iter().filter(|_| on.next() == Some(true)).collect()
    }

    fn after(moves: &str) -> Game {
        let mut game = Game::start();
        notation::play(moves, &mut game).unwrap();
        game
    }

    #[test]
    fn moves_lead_to_an_opening_stay_in_it_and_transpose() {
        let on = |name: &str, moves: &str| {
            let on = on_course(&ChosenOpenings::named(name).unwrap(), &after(moves));
            let mut on: Vec<_> = on.iter().map(ToString::to_string).collect();
            on.sort();
            on
        };
        let morra = "Smith-Morra Gambit";
        assert_eq!(on(morra, ""), ["e2-e4"]);
        assert!(on(morra, "e4 c5").contains(&"d2-d4".to_owned()));
        assert!(on(morra, "e4 e5").is_empty());
        // By another order, the soonest.
        assert_eq!(on(morra, "d4 c5"), ["e2-e4"]);
        assert_eq!(on("Sicilian Defense", "Nf3"), ["c7-c5"]);
        assert_eq!(on("Sicilian Defense", "e4"), ["c7-c5"]);
        assert!(on("D30", "Nf3 e6 d4 d5").contains(&"c2-c4".to_owned()));
        // In the opening every move that leads to no other is on course.
        assert!(on(morra, "e4 c5 d4 cxd4 c3 dxc3 Nxc3 a6 Nf3 h6").len() > 20);
        // Each of several has its own ways.
        assert_eq!(on("Ruy Lopez; Queen's Gambit Accepted", ""), ["d2-d4", "e2-e4"]);
    }

    /// From the start, an opening of the list is reached in every game whose replies allow it, and no move leads elsewhere: against
    /// a reckoning by whole positions that knows neither keys nor this graph.
    #[test]
    fn an_opening_is_reached_in_every_game_whose_replies_allow_it() {
        let whole = |at: &Position| at.fen().rsplitn(3, ' ').nth(2).unwrap().to_owned();
        let (mut nodes, mut paths) = (BTreeMap::new(), Vec::new());
        for (eco, name, moves) in lines() {
            let (game, mut at) = (after(moves), Position::start());
            let mut path = vec![whole(&at)];
            for mv in game.moves() {
                nodes.insert(whole(&at), at.clone());
                at.play(*mv);
                path.push(whole(&at));
            }
            nodes.insert(whole(&at), at);
            paths.push((format!("{eco} {name}"), path));
        }
        let mut before: HashMap<String, Vec<String>> = HashMap::new();
        for (from, at) in &nodes {
            for mv in at.chess().legal_moves() {
                let to = whole(&at.after(mv));
                if nodes.contains_key(&to) {
                    before.entry(to).or_default().push(from.clone());
                }
            }
        }
        let mut random = 64_u64;
        let mut draw = |among: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % among
        };
        let (mut reached, mut left) = (0, 0);
        for _ in 0..200 {
            let (name, _) = &paths[draw(paths.len())];
            let chosen = ChosenOpenings::named(name).unwrap();
            let ends: Vec<&Vec<String>> = paths
                .iter()
                .filter(|(other, _)| {
                    other.strip_prefix(&**name).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
                })
                .map(|(_, path)| path)
                .collect();
            let mut ways: BTreeSet<String> = ends.iter().filter_map(|path| path.last().cloned()).collect();
            let targets = ways.clone();
            let mut next: Vec<String> = ways.iter().cloned().collect();
            while let Some(to) = next.pop() {
                for from in before.get(&to).into_iter().flatten() {
                    if ways.insert(from.clone()) {
                        next.push(from.clone());
                    }
                }
            }
            for ours in [shakmaty::Color::White, shakmaty::Color::Black] {
                let mut game = Game::start();
                while ways.contains(&whole(game.position())) && !targets.contains(&whole(game.position())) {
                    let moves = on_course(&chosen, &game);
                    let all: Vec<Move> = game.position().chess().legal_moves().into_iter().collect();
                    let leads = |mv: &&Move| ways.contains(&whole(&game.position().after(**mv)));
                    let leading: Vec<Move> = all.iter().filter(leads).copied().collect();
                    // Something leads there, and no move elsewhere.
                    assert!(!moves.is_empty(), "{name}: {}", game.position().fen());
                    for mv in &moves {
                        assert!(leading.contains(mv), "{name}: {mv:?} in {}", game.position().fen());
                    }
                    let from = match (game.position().chess().turn() == ours, draw(8)) {
                        (true, _) => moves,
                        (false, 0) => all,
                        (false, _) => leading,
                    };
                    let mv = from[draw(from.len())];
                    game.push(mv);
                }
                let is_reached = targets.contains(&whole(game.position()));
                // Only a reply leaves the way.
                assert!(is_reached || game.position().chess().turn() == ours, "{name}");
                reached += usize::from(is_reached);
                left += usize::from(!is_reached);
            }
        }
        assert!(reached > 150 && left > 50, "{reached} {left}");
    }
}
