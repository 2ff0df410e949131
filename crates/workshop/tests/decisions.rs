//! The law of books that are written from others: what was decided is what the new book plays, in every format. For every pair of
//! formats, by converting, trimming, merging, vetting and growing:
//!
//! - a move that was dropped or rejected is never played;
//! - chances are those that were decided, to what the format can hold;
//! - each chance that is another is counted, with the largest change.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rand::{Rng, RngExt as _, SeedableRng as _, rngs::Xoshiro256PlusPlus};
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Color, Position as _};
use tabiya_base::progress::Progress;
use tabiya_book::choose::{Policy, Weights, chances};
use tabiya_book::traits::Book;
use tabiya_book::{
    self as book, Annotation, BookWriter, By, Counts, MoveFacts, Moves, PositionRecord, Recommendation,
    Slice, WriteOptions, counts, exp, obk,
};
use tabiya_chess::{MoveCode, Packed, Position};
use tabiya_testing::{Recorder, times};
use tabiya_uci::Score;
use tabiya_workshop::bookmaker::trim::{Trim, Trimmed};
use tabiya_workshop::bookmaker::{self, Resources};
use tabiya_workshop::expected;
use tabiya_workshop::grow::{Answer, Grown, Growth, Rounds, Step};
use tabiya_workshop::values::{Graph, KnownValues};
use tabiya_workshop::vet::{JudgedBook, VetLimits, Vetted};

/// The formats that a book can be written in. Count files hold games alone, and so nothing that was decided.
const FORMATS: [&str; 4] = ["bin", "ctg", "abk", "kob"];

/// The formats that are read only.
const SOURCES: [&str; 3] = ["obk", "exp", "parquet"];

/// Chances that differ by more than this are reported.
const REPORTED: f64 = 0.001;

/// A number that looks random.
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 31).wrapping_mul(0x7fb5_d329_728e_a185);
    (number ^ number >> 27).wrapping_mul(0x81da_def4_bc2d_d44d)
}

/// What a book may say of a move, as far as its format can hold it.
fn random_facts(end: &str, mv: shakmaty::Move, rng: &mut impl Rng) -> MoveFacts {
    let mut facts = MoveFacts::new(mv, 0);
    let mut count = || if rng.random_bool(0.3) { 0 } else { rng.random_range(0..9_u64) };
    let (wins, draws, losses) = (count(), count(), count());
    let counts = Counts { games: wins + draws + losses, wins, draws, losses };
    facts.weight = match rng.random_range(0..6) {
        0 => 0,
        1 => rng.random_range(1..4),
        2 => rng.random_range(30_000..65_536),
        _ => rng.random_range(1..1000),
    };
    if ["bin", "obk", "exp"].contains(&end) {
        return facts;
    }
    if end != "kob" || rng.random_bool(0.9) {
        facts.counts = Some(counts);
        if end != "abk" || rng.random_bool(0.5) {
            facts.weight = counts.points();
        }
    }
    if end == "ctg" {
        let colors = [None, None, Some(Recommendation::Red), Some(Recommendation::Green)];
        facts.recommended = colors[rng.random_range(0..4)];
        let marks = [Annotation::Good, Annotation::Bad, Annotation::Only, Annotation::Dubious];
        facts.annotation = rng.random_bool(0.2).then(|| marks[rng.random_range(0..4)]);
    }
    facts
}

/// Writes a book of random lines, with about as many positions, many of them on several paths.
fn random_book(path: &Path, positions: usize, rng: &mut impl Rng) -> Arc<dyn Book> {
    let end = path.extension().unwrap().to_str().unwrap();
    let mut known = Known::new();
    while known.len() < positions {
        let mut at = Position::start();
        for _ in 0..times(4, 10) {
            let mut legal: Vec<_> = at.chess().legal_moves().into_iter().collect();
            legal.sort_by_key(|mv| mixed(MoveCode::from_move(*mv).0.into()));
            let mv = legal[rng.random_range(0..legal.len().min(4))];
            let (_, moves) = known.entry(at.key()).or_insert_with(|| (at.clone(), BTreeMap::new()));
            moves.entry(MoveCode::from_move(mv).0).or_insert_with(|| random_facts(end, mv, rng));
            at.play(mv);
            if at.chess().legal_moves().is_empty() {
                break;
            }
        }
    }
    match end {
        "obk" => std::fs::write(path, obk_of(&known)).unwrap(),
        "exp" => std::fs::write(path, exp_of(&known)).unwrap(),
        "parquet" => write_counts(path, &known),
        _ => write_book(path, &known),
    }
    match end {
        "abk" => set_sliders(path, rng),
        "ctg" => set_factors(path, rng),
        _ => {}
    }
    book::open_book(path).unwrap()
}

/// Positions with what is known of their moves, by their keys.
type Known = BTreeMap<u64, (Position, BTreeMap<u16, MoveFacts>)>;

fn write_book(path: &Path, known: &Known) {
    let mut writer = book::create_book(path, &WriteOptions::default()).unwrap();
    for (at, moves) in known.values() {
        writer.add(&PositionRecord::from_moves(at, &moves.values().copied().collect::<Vec<_>>())).unwrap();
    }
    writer.finish().unwrap();
}

/// The squares of a move, where castling is the king's.
fn squares(mv: shakmaty::Move) -> [u8; 2] {
    match mv.to_uci(CastlingMode::Standard) {
        UciMove::Normal { from, to, .. } => [from.into(), to.into()],
        other => panic!("{other}"),
    }
}

/// A book of Chessmaster: a tree, in which a position that was met before is not followed again.
fn obk_of(known: &Known) -> Vec<u8> {
    fn put(at: &Position, known: &Known, met: &mut BTreeSet<u64>, out: &mut Vec<u8>) {
        let moves = &known[&at.key()].1;
        for (facts, left) in moves.values().zip((0..moves.len()).rev()) {
            let next = at.after(facts.mv);
            let leads_on = known.contains_key(&next.key()) && met.insert(next.key());
            let [from, to] = squares(facts.mv);
            let (weight, is_last, is_leaf) = ((facts.weight % 4) as u8, left == 0, !leads_on);
            out.extend(obk::ObkRecord { from, to, weight, is_last, is_leaf }.to_bytes());
            if leads_on {
                put(&next, known, met, out);
            }
        }
    }
    let (start, mut moves) = (Position::start(), Vec::new());
    put(&start, known, &mut BTreeSet::from([start.key()]), &mut moves);
    let count = (moves.len() / obk::layout::RECORD_LEN) as u32;
    [&obk::layout::START_V1[..], &count.to_le_bytes(), &moves].concat()
}

/// An experience file of the second version of SugaR.
fn exp_of(known: &Known) -> Vec<u8> {
    let mut out = exp::layout::SUGAR_V2.to_vec();
    for (at, facts) in known.values().flat_map(|(at, moves)| moves.values().map(move |facts| (at, facts))) {
        let key = exp::keys::keys(at.standard().unwrap(), exp::keys::KeySet::Old).next().unwrap();
        let [from, to] = squares(facts.mv).map(i32::from);
        let kind = if facts.mv.is_castle() { 3 } else { 2 * i32::from(facts.mv.is_en_passant()) };
        let promotion = facts.mv.promotion().map_or(0, |role| 1 << 14 | (role as i32 - 2) << 12);
        let value = facts.weight as i32 % 100 - 50;
        out.extend(key.to_le_bytes());
        let fields = [from << 6 | to | promotion | kind << 14, value, 10, facts.weight as i32 % 5];
        out.extend(fields.into_iter().flat_map(i32::to_le_bytes));
    }
    out
}

/// A count file of games that ended.
fn write_counts(path: &Path, known: &Known) {
    let shape = counts::Shape { positions: true, by: By::default() };
    let mut writer = counts::CountWriter::create(path, shape, false).unwrap();
    for (at, facts) in known.values().flat_map(|(at, moves)| moves.iter().map(move |facts| (at, facts))) {
        let Counts { games, wins, draws, losses } = facts.1.counts.unwrap();
        let mv = MoveCode(*facts.0);
        if games > 0 {
            let (key, packed, slice) = (at.key(), Packed::new(at), Slice::default());
            writer.add(&counts::CountsRow { key, mv, wins, draws, losses, packed, slice }).unwrap();
        }
    }
    writer.finish().unwrap();
}

/// Gives an Arena book random sliders, limits and priorities.
fn set_sliders(path: &Path, rng: &mut impl Rng) {
    let mut bytes = std::fs::read(path).unwrap();
    let alike = rng.random_bool(0.3);
    for slider in [0xee, 0xf2, 0xf6] {
        bytes[slider] = if alike { 15 } else { rng.random_range(0..=15) };
    }
    bytes[0xde] = rng.random_range(0..3);
    bytes[25_200..].chunks_mut(28).for_each(|record| record[3] = rng.random_range(0..=9));
    std::fs::write(path, bytes).unwrap();
}

/// Gives some positions of a CTG book factors (docs/formats/ctg.md, Entry).
fn set_factors(path: &Path, rng: &mut impl Rng) {
    let mut bytes = std::fs::read(path).unwrap();
    for page in bytes.chunks_mut(4096).skip(1) {
        let (count, mut at) = (u16::from_be_bytes([page[0], page[1]]), 4);
        for _ in 0..count {
            at += usize::from(page[at] & 0x1f);
            at += usize::from(page[at]) + 33;
            if rng.random_bool(0.3) {
                page[at - 2] =
                    [-125_i8, 125, rng.random_range(-124..125)][rng.random_range(0..3)].cast_unsigned();
            }
        }
    }
    std::fs::write(path, bytes).unwrap();
}

fn resources(folder: &Path) -> Resources {
    Resources { threads: 1, memory: 1 << 25, temp: folder.to_owned() }
}

type Chances = BTreeMap<u16, f64>;

/// What was decided of the moves in a position; `None` where nothing was.
type Expected<'a> = dyn Fn(&Position, &[MoveFacts]) -> Option<Chances> + 'a;

/// The chances of a position's moves, with those that are never played.
fn chances_of(moves: &[MoveFacts]) -> Chances {
    let mut policy = Policy::default();
    policy.threshold = 0;
    let mut out = Vec::new();
    chances(moves, &policy, |_| true, &mut out);
    moves.iter().zip(out).map(|(facts, chance)| (MoveCode::from_move(facts.mv).0, chance)).collect()
}

/// What is to be true of a position of the new book.
struct Decided {
    record: PositionRecord,
    chances: Chances,
}

impl Decided {
    /// The moves that are never to be played. A move that only lost is known by its results alone, and these belong to the
    /// position that it leads to in some formats.
    fn never(&self) -> BTreeSet<u16> {
        let only_lost = |mv: u16| {
            let facts = self.record.moves.iter().find(|facts| facts.mv.0 == mv);
            facts.is_some_and(|facts| {
                let lost = facts.counts.is_some_and(|counts| counts.losses > 0 && counts.points() == 0);
                lost && facts.weight == 0 && facts.recommended.is_none() && facts.decision.is_none()
            })
        };
        // Nobody says of a move beside green ones that it is bad: another book may recommend the position after it.
        let is_plain = |mv: u16| {
            let facts = self.record.moves.iter().find(|facts| facts.mv.0 == mv);
            facts.is_some_and(|facts| {
                let bad = [Annotation::Bad, Annotation::Blunder, Annotation::Dubious].map(Some);
                let silent = facts.recommended.is_none() && facts.decision.is_none();
                silent && !bad.contains(&facts.annotation) && facts.weight > 0 && !facts.is_never_by_factor()
            })
        };
        let is_never = |mv: u16| !only_lost(mv) && !is_plain(mv);
        let never = self.chances.iter().filter(|(mv, chance)| **chance == 0.0 && is_never(**mv));
        never.map(|(mv, _)| *mv).collect()
    }
}

/// What was found of the books of a test.
#[derive(Default)]
struct Tally {
    positions: u64,
    moves: u64,
    changed: u64,
    /// Of these, changes that are just as great as those that are not reported, but for the rounding of floating-point numbers.
    uncertain: u64,
    largest: f64,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.positions += other.positions;
        self.moves += other.moves;
        self.changed += other.changed;
        self.largest = self.largest.max(other.largest);
    }
}

/// The greatest difference of a chance that rounding can make in a format that holds weights, stated by what the format has for
/// them; `None` where weights follow from results.
fn tolerance(end: &str, decided: &Decided, has_results: bool) -> Option<f64> {
    let played: Vec<_> = decided.chances.iter().filter(|(_, chance)| **chance > 0.0).collect();
    match end {
        // 16 bits: half a step for each move, or a whole one for a move that would weigh nothing.
        "bin" => Some((played.len() + 1) as f64 / 65_535.0),
        // A priority is one of nine steps: half a step for each move, or a whole one for one that would have none.
        "abk" => {
            let base = |mv: u16| {
                let facts = decided.record.moves.iter().find(|facts| facts.mv.0 == mv).unwrap();
                let Counts { games, wins, losses, .. } = facts.counts.unwrap_or_default();
                let (games, ended) = (games.max(wins + losses), wins + losses);
                let points = wins as f64 + (games - ended) as f64 / 2.0;
                let score = if has_results { (points + 0.5) / (games as f64 + 1.0) } else { 1.0 };
                games.max(1) as f64 * score
            };
            let points = |mv: u16| {
                let facts = decided.record.moves.iter().find(|facts| facts.mv.0 == mv).unwrap();
                facts.counts.map_or(0, Counts::points) as f64
            };
            let all_points: f64 = played.iter().map(|(mv, _)| points(**mv)).sum();
            // Where nothing was decided results explain the weights, but for the drawn game that is added to each score.
            let is_decided = decided.record.moves.iter().any(|facts| facts.decision.is_some());
            if !is_decided
                && played.iter().all(|(mv, chance)| (points(**mv) / all_points - **chance).abs() < 1e-6)
            {
                return Some(1.0);
            }
            let parts: Vec<_> =
                played.iter().map(|(mv, chance)| (**chance / base(**mv), base(**mv))).collect();
            let most = parts.iter().map(|(part, _)| *part).fold(0.0, f64::max);
            let half = 1.0 / 18.0;
            let bounds: Vec<_> = parts
                .iter()
                .map(|(part, base)| {
                    let part = part / most;
                    [(part - half).max(half) * base, (part + half).clamp(2.0 * half, 1.0) * base]
                })
                .collect();
            let [least, greatest] = [0, 1].map(|which| bounds.iter().map(|bound| bound[which]).sum::<f64>());
            let differences = bounds.iter().zip(&played).map(|([low, high], (_, chance))| {
                let (rarest, oftenest) = (low / (low + greatest - high), high / (high + least - low));
                (**chance - rarest).max(oftenest - **chance)
            });
            // Readers round weights to hundredths.
            Some(differences.fold(0.0, f64::max) + 0.01)
        }
        _ => None,
    }
}

/// Writes a book and checks the law. `expected` says what was decided in a position; `None` where that is what the records say.
fn check(books: &[&dyn Moves], path: &Path, expected: &Expected<'_>) -> Tally {
    let end = path.extension().unwrap().to_str().unwrap();
    let folder = path.parent().unwrap();
    let kept = Arc::<Mutex<Vec<PositionRecord>>>::default();
    let write = |writer: Box<dyn BookWriter>| {
        let books: Vec<_> = books.iter().map(|book| (*book, bookmaker::widest(*book, &*writer))).collect();
        bookmaker::merge(&books, Weights::Points, &resources(folder), writer, &Progress::none()).unwrap().1
    };
    write(Box::new(Recorder { records: Arc::clone(&kept), as_decided: true }));
    let written = write(book::create_book(path, &WriteOptions::default()).unwrap());
    let new = book::open_book(path).unwrap();
    let records = std::mem::take(&mut *kept.lock().unwrap());
    let has_results = records
        .iter()
        .flat_map(|record| &record.moves)
        .any(|facts| facts.counts.is_some_and(|counts| counts.wins + counts.losses > 0));
    let (mut tally, mut lost) = (Tally::default(), 0);
    let mut worst = String::new();
    for record in records {
        let Some(at) = record.position.clone() else { continue };
        let facts: Vec<_> = record.moves.iter().filter_map(|facts| facts.at(&at)).collect();
        let chances = expected(&at, &facts).unwrap_or_else(|| chances_of(&facts));
        let decided = Decided { record, chances };
        let held = chances_of(&new.moves_in(&at));
        for mv in decided.never() {
            let chance = held.get(&mv).copied().unwrap_or_default();
            let place = || {
                format!(
                    "{} in {}: {:?} {:?}",
                    path.display(),
                    at.fen(),
                    decided.record.moves,
                    new.moves_in(&at)
                )
            };
            assert!(chance == 0.0, "{} is played: {chance} {}", MoveCode(mv), place());
        }
        if held.is_empty() {
            lost += decided.chances.values().filter(|chance| **chance > 0.0).count();
            continue;
        }
        tally.positions += 1;
        let all: BTreeSet<_> = decided.chances.keys().chain(held.keys()).collect();
        let tolerance = tolerance(end, &decided, has_results);
        for mv in all {
            let [was, is] = [&decided.chances, &held].map(|of| of.get(mv).copied().unwrap_or_default());
            tally.moves += 1;
            let difference = (was - is).abs();
            let is_certain = (difference - REPORTED).abs() > 1e-12 || (was == 0.0) != (is == 0.0);
            tally.uncertain += u64::from(!is_certain);
            if difference > REPORTED || (was == 0.0) != (is == 0.0) {
                tally.changed += 1;
                if difference > tally.largest {
                    tally.largest = difference;
                    worst.clear();
                    write!(worst, "{} {}", at.fen(), MoveCode(*mv)).unwrap();
                }
            }
            assert!(
                tolerance.is_none_or(|most| difference <= most),
                "{}: {} from {was} to {is}, within {tolerance:?}, in {}",
                path.display(),
                MoveCode(*mv),
                at.fen()
            );
        }
    }
    let said = written.changed.iter().find(|(what, _)| what.starts_with("moves whose chance changes"));
    let count = said.map_or(0, |(_, count)| *count);
    let is_right = count.abs_diff(tally.changed) <= tally.uncertain;
    assert!(is_right, "{}: {} changed, {said:?} {worst}", path.display(), tally.changed);
    if let Some((what, _)) = said {
        let [from, to] = percents(what)[..] else { panic!("{what}") };
        assert!(
            ((from - to).abs() / 100.0 - tally.largest).abs() < 0.002,
            "{}: {what}: {worst}",
            path.display()
        );
    }
    assert!(lost == 0 || !written.left_out.is_empty(), "{} {:?}", path.display(), written.left_out);
    tally
}

/// The numbers before per cent signs, but for the limit.
fn percents(text: &str) -> Vec<f64> {
    let words: Vec<_> = text.split(' ').collect();
    let pairs = words.windows(2).filter(|pair| pair[1].starts_with('%'));
    pairs.skip(1).map(|pair| pair[0].parse().unwrap()).collect()
}

fn known(graph: &Graph, seed: u64) -> KnownValues {
    graph.known(|packed| {
        let random = packed.0.iter().fold(seed, |sum, byte| mixed(sum ^ u64::from(*byte)));
        (random % 8 > 0).then_some(Score::Centipawns((random >> 8) as i64 % 120 - 60))
    })
}

/// Judges a random book by invented evaluations, and shows it with what was decided.
fn vet(source: &dyn Book, seed: u64, see: &mut dyn FnMut(&dyn Moves, &Expected<'_>)) {
    let graph = Graph::from_book(source, &Progress::none()).unwrap();
    let backed = graph.back_up(&known(&graph, seed));
    let side = [None, Some(Color::White), Some(Color::Black)][(seed % 3) as usize];
    let temperature = [Some(30.0), None][(seed / 3 % 2) as usize];
    let limits = VetLimits { max_loss: 30, exit_loss: 60, temperature, side };
    let judged = JudgedBook { book: source, graph: &graph, backed: &backed, limits };
    let vetted = Vetted { judged };
    // What is not dropped, by its new weight.
    let expected = |at: &Position, _: &[MoveFacts]| {
        let moves = source.moves_in(at);
        let (_, fates) = judged.fates(at, &moves)?;
        let left = moves.iter().zip(&fates).filter(|(_, fate)| !fate.dropped);
        let left: Vec<_> = left.map(|(facts, fate)| MoveFacts { weight: fate.weight, ..*facts }).collect();
        let mut all: Chances = moves.iter().map(|facts| (MoveCode::from_move(facts.mv).0, 0.0)).collect();
        all.extend(chances_of(&left));
        Some(all)
    };
    see(&vetted, &expected);
}

/// Lets a book grow from a random one by invented searches, and shows it with what was chosen.
fn grow(source: &dyn Book, (seed, most): (u64, u64), see: &mut dyn FnMut(&dyn Moves, &Expected<'_>)) {
    let sides: &[Color] =
        [&[Color::White, Color::Black][..], &[Color::White], &[Color::Black]][(seed % 3) as usize];
    let opponent = expected::Expected::new([source as &dyn Moves]);
    let mut rounds = Rounds::new(Growth::new(source.variant(), Some(source), opponent, sides), most);
    while let Step::Search(number, task) = rounds.next(&|_| None) {
        let mut legal: Vec<_> = task.at.chess().legal_moves().into_iter().collect();
        legal.retain(|mv| !task.without.contains(&MoveCode::from_move(*mv)));
        let best = legal.into_iter().min_by_key(|mv| mixed(task.at.after(*mv).key() ^ seed));
        let value = (mixed(task.at.key() ^ seed) % 21) as i16 - 10 - 3 * task.without.len() as i16;
        let best = best.map_or(MoveCode::NULL, MoveCode::from_move);
        rounds.found(number, Some(Answer { value, best }));
    }
    let tabiya_workshop::grow::Finished { growth, .. } = rounds.finish(&|_| None);
    let shape = growth.shape().unwrap();
    let grown = Grown::new(&growth, &shape, 10);
    let mut chosen: BTreeMap<u64, Chances> = BTreeMap::new();
    let mut moves = Vec::new();
    for play in grown.plays() {
        for number in play.searched() {
            let mut at = Position::start();
            play.line(number).into_iter().for_each(|mv| at.play(mv.resolve(at.chess()).unwrap()));
            if at.chess().turn() == play.side() {
                play.moves(number, &mut moves);
                let all: Chances = moves.iter().map(|(mv, _, chance)| (mv.0, *chance)).collect();
                if all.values().any(|chance| *chance > 0.0) {
                    chosen.insert(at.key(), all);
                }
            }
        }
    }
    let expected = |at: &Position, facts: &[MoveFacts]| {
        let mut all = chosen.get(&at.key())?.clone();
        for facts in facts {
            all.entry(MoveCode::from_move(facts.mv).0).or_insert(0.0);
        }
        Some(all)
    };
    see(&grown, &expected);
}

#[test]
fn what_was_decided_is_what_every_format_plays() {
    let positions = times(40, 10_000);
    let mut all: BTreeMap<String, Tally> = BTreeMap::new();
    for (seed, from) in
        (0..times(2, 5_u64)).flat_map(|seed| FORMATS.into_iter().chain(SOURCES).map(move |from| (seed, from)))
    {
        let folder = tempfile::tempdir().unwrap();
        let rng = &mut Xoshiro256PlusPlus::seed_from_u64(mixed(seed));
        let source = &*random_book(&folder.path().join("source").with_extension(from), positions, rng);
        let other = &*random_book(&folder.path().join("other").with_extension(from), positions / 2, rng);
        let mut write = |step: &str, books: &[&dyn Moves], expected: &Expected<'_>| {
            // How the priorities of Arena books add up is defined by these.
            for end in FORMATS.into_iter().filter(|end| (step, from, *end) != ("merge", "abk", "abk")) {
                let found =
                    check(books, &folder.path().join(format!("{step}-{from}-{seed}.{end}")), expected);
                all.entry(format!("{step}: {from} to {end}")).or_default().add(&found);
            }
        };
        write("convert", &[source], &|_, _| None);
        write("merge", &[source, other], &|_, _| None);
        let trim = Trim { top: Some(2), ..Trim::default() };
        write("trim", &[&Trimmed::new(source, &trim, &Progress::none()).unwrap()], &|_, _| None);
        vet(source, seed, &mut |book, expected| write("vet", &[book], expected));
        grow(source, (seed, times(40, 2000)), &mut |book, expected| write("grow", &[book], expected));
    }
    for (what, Tally { positions, moves, changed, largest, .. }) in all {
        let largest = largest * 100.0;
        println!(
            "{what}: {positions} positions, {moves} moves, {changed} chances changed, by at most {largest:.1} %"
        );
    }
}
