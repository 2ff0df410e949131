//! Where the time of `tabiya build` goes, on one thread and in memory, beside reading the words of the same text alone.
//!
//! Arguments: a file of games, and how many times each stage is measured (the median counts); or `--random GAMES FILE`,
//! which writes random games, of which nearly every position is new; or `--openings GAMES FILE`, which writes games that go on so
//! after an opening of few moves; or `--drawn COUNTS SEED GAMES FILE...`, which draws games for each file as a count file of others
//! has them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::HashMap;
use std::error::Error;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use shakmaty::san::{San, SanPlus};
use shakmaty::{Chess, Move, Position as _};
use tabiya_base::progress::Progress;
use tabiya_book::{self as book, By, MoveFacts, Scope, WriteOptions};
use tabiya_chess::{MoveCode, Position};
use tabiya_games::pgn::Pgn;
use tabiya_games::pgn::lex::{Lexer, Token};
use tabiya_games::{self as games, GameEnd, GameError, GameHeader, Visitor};
use tabiya_workshop::bookmaker::count::count;
use tabiya_workshop::bookmaker::row::CountRow;
use tabiya_workshop::bookmaker::{Filter, Input, Names, OpenCounts, Plan, Repeated, Resources, Weigh};

/// Seed of the random games.
const SEED: u64 = 1;

/// The plies of an opening, and the moves that each of its positions has at most.
const OPENING_PLIES: usize = 20;
const OPENING_MOVES: usize = 4;

/// The plies of a game that is drawn: more than those that are counted of it.
const DRAWN_PLIES: usize = 30;

/// The most plies of a random game.
const RANDOM_PLIES: usize = 120;

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo bench` adds an argument of its own.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--random", games, file] => random_games(games.parse()?, 0, Path::new(file)),
        ["--openings", games, file] => random_games(games.parse()?, OPENING_PLIES, Path::new(file)),
        ["--drawn", counts, seed, games, ref files @ ..] => {
            drawn_games(Path::new(counts), seed.parse()?, games.parse()?, files)
        }
        [games, times] => stages(Path::new(games), times.parse()?),
        _ => {
            eprintln!("no games are named: scripts/bench build measures on those of Debian's gnuchess-book");
            Ok(())
        }
    }
}

/// Seconds that something takes: the median.
fn seconds<T>(times: usize, mut run: impl FnMut() -> T) -> f64 {
    let mut all: Vec<f64> = (0..times.max(1))
        .map(|_| {
            let begun = Instant::now();
            black_box(run());
            begun.elapsed().as_secs_f64()
        })
        .collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or_default()
}

fn stages(path: &Path, times: usize) -> Result<(), Box<dyn Error>> {
    let text = fs::read(path)?;
    let (plain, lines) = lines(&text);
    let plies = plain.iter().map(Vec::len).sum::<usize>().max(1);
    let scanning = seconds(times, || {
        each_word(&text, |token| {
            black_box(token);
        });
    });
    let playing = seconds(times, || lines.iter().map(|line| play(line)).fold(0, |all, key| all ^ key));
    let finding = seconds(times, || plain.iter().map(|line| find(line)).fold(0, |all, key| all ^ key));
    let reading = seconds(times, || {
        let mut pgn = Pgn::new(Arc::from(path), &text[..]);
        while let Some(batch) = pgn.next_batch() {
            batch.play(&mut Nothing);
        }
    });
    let folder = std::env::temp_dir();
    let resources = Resources { threads: 1, memory: 4 << 30, temp: folder };
    let paths = [path.to_owned()];
    let filter = Filter::default();
    let counting = seconds(times, || {
        let mut source = games::open_files(&paths).ok()?;
        count::<CountRow>(
            &mut source,
            &filter,
            By::default(),
            &Repeated::default(),
            &resources,
            None,
            &Progress::none(),
        )
        .ok()
    });
    let whole = seconds(times, || build(&paths, &filter, &resources).is_ok());

    println!("{} games, {plies} plies, {} bytes; one thread", lines.len(), text.len());
    println!("{:<44}{:>9}{:>15}{:>12}{:>15}", "", "seconds", "ns a ply", "games/s", "x scanning");
    for (what, time) in [
        ("scanning: the words alone", scanning),
        ("SAN: from the notation to a legal move", finding - playing),
        ("playing and hashing", playing),
        ("reading: cutting, heads, and all of the above", reading),
        ("counting: rows, and sorting runs of them", counting - reading),
        ("sorting: runs together, weights, writing", whole - counting),
        ("all", whole),
    ] {
        println!(
            "{what:<46}{time:>7.3}{:>15.1}{:>12.0}{:>15.2}",
            time / plies as f64 * 1e9,
            lines.len() as f64 / time,
            time / scanning
        );
    }
    Ok(())
}

/// Tells every word of the moves in a text, ends of games included.
fn each_word(text: &[u8], mut tell: impl FnMut(Token<'_>)) {
    let mut lexer = Lexer::new(text, 0);
    while lexer.find_game() {
        while let Some(Ok(tag)) = lexer.tag() {
            black_box(tag);
        }
        loop {
            let token = lexer.next_word().1;
            tell(token);
            if matches!(token, Token::End | Token::Unterminated) {
                break;
            }
        }
    }
}

/// The main lines of the games, as the text has them and as moves.
fn lines(text: &[u8]) -> (Vec<Vec<San>>, Vec<Vec<Move>>) {
    let (mut lines, mut line, mut depth) = (Vec::new(), Vec::new(), 0_usize);
    each_word(text, |token| match token {
        Token::Open => depth += 1,
        Token::Close => depth = depth.saturating_sub(1),
        Token::Word(word) if depth == 0 => line.extend(SanPlus::from_ascii(word).map(|plus| plus.san)),
        Token::End => {
            lines.push(std::mem::take(&mut line));
            depth = 0;
        }
        _ => {}
    });
    let moves = |line: &Vec<San>| {
        let mut position = Chess::default();
        let mut moves = Vec::with_capacity(line.len());
        for san in line {
            let Ok(mv) = san.to_move(&position) else { break };
            position.play_unchecked(mv);
            moves.push(mv);
        }
        moves
    };
    let moves = lines.iter().map(moves).collect();
    (lines, moves)
}

fn play(line: &[Move]) -> u64 {
    let mut position = Position::start();
    line.iter().for_each(|&mv| position.play(mv));
    position.key()
}

fn find(line: &[San]) -> u64 {
    let mut position = Position::start();
    for &san in line {
        let Ok(mv) = san.to_move(position.chess()) else { break };
        position.play(mv);
    }
    position.key()
}

fn build(games: &[PathBuf], filter: &Filter, resources: &Resources) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let writer = book::create_book(folder.path().join("a.bin"), &WriteOptions::default())?;
    let mut source = games::open_files(games)?;
    let (names, progress) = (Names::default(), Progress::none());
    let plan = Plan { filter, weigh: &Weigh::default(), names: &names, resources, progress: &progress };
    let (repeated, counts) = (Repeated::default(), OpenCounts::default());
    let input = Input { games: &mut source, repeated: &repeated, counts: &counts, work: None };
    tabiya_workshop::bookmaker::build(input, &plan, writer)?;
    Ok(())
}

fn random_games(games: u64, opening: usize, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut file = BufWriter::new(File::create(path)?);
    for game in 0..games {
        writeln!(file, "[Event \"{game}\"]\n[Result \"1/2-1/2\"]\n")?;
        let mut position = Chess::default();
        for ply in 0..rng.random_range(RANDOM_PLIES / 2..RANDOM_PLIES) {
            let legal = position.legal_moves();
            let most = if ply < opening { OPENING_MOVES } else { legal.len() };
            let Some(&mv) = legal[..most.min(legal.len())].choose(&mut rng) else { break };
            write!(file, "{}{}", San::from_move(&position, mv), if ply % 12 == 11 { '\n' } else { ' ' })?;
            position.play_unchecked(mv);
        }
        writeln!(file, "1/2-1/2\n")?;
    }
    file.flush()?;
    Ok(())
}

/// The moves of a position with their games, and how many of these were the only one with their move.
struct Played {
    moves: Vec<(MoveCode, u64)>,
    once: u64,
}

/// Writes games as others were played. A move that nobody has played comes as often as one that one game alone has, which is what
/// Good and Turing estimate; from there on moves are random, and nearly every position is new, as it is in long games.
fn drawn_games(counts: &Path, seed: u64, games: u64, files: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut known = HashMap::new();
    book::open_book(counts)?.each(Scope::All, &Progress::none(), &mut |record| {
        let games = |facts: &MoveFacts<MoveCode>| facts.counts.map_or(0, |counts| counts.games);
        let moves: Vec<_> = record.moves.iter().map(|facts| (facts.mv, games(facts))).collect();
        let once = moves.iter().filter(|(_, games)| *games == 1).count() as u64;
        // Where all moves were played once, the next is another.
        if moves.len() as u64 > once {
            known.insert(record.key, Played { moves, once });
        }
        Ok(())
    })?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    for path in files {
        let mut file = BufWriter::new(File::create(path)?);
        for game in 0..games {
            drawn_game(game, &known, &mut rng, &mut file)?;
        }
        file.flush()?;
    }
    Ok(())
}

fn drawn_game(
    game: u64,
    known: &HashMap<u64, Played>,
    rng: &mut Xoshiro256PlusPlus,
    file: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let result = ["1-0", "0-1", "1/2-1/2"][rng.random_range(0..3)];
    writeln!(file, "[Event \"{game}\"]\n[Result \"{result}\"]\n")?;
    let (mut position, mut is_known) = (Position::start(), true);
    for ply in 0..DRAWN_PLIES {
        let played = if is_known { known.get(&position.key()) } else { None };
        let drawn = played.and_then(|played| draw(played, rng)?.resolve(position.chess()));
        is_known = drawn.is_some();
        let Some(mv) = drawn.or_else(|| position.chess().legal_moves().choose(rng).copied()) else { break };
        let end = if ply % 12 == 11 { '\n' } else { ' ' };
        write!(file, "{}{end}", San::from_move(position.chess(), mv))?;
        position.play(mv);
    }
    writeln!(file, "{result}\n")?;
    Ok(())
}

/// One of the moves, or none of them.
fn draw(played: &Played, rng: &mut Xoshiro256PlusPlus) -> Option<MoveCode> {
    let all: u64 = played.moves.iter().map(|(_, games)| games).sum();
    let mut at = rng.random_range(0..all.max(1)).checked_sub(played.once)?;
    // What is taken off for other moves is taken off all of these alike.
    at = at * all / (all - played.once).max(1);
    played
        .moves
        .iter()
        .find(|(_, games)| at.checked_sub(*games).map(|left| at = left).is_none())
        .map(|(mv, _)| *mv)
}

/// Hears everything and keeps nothing.
struct Nothing;

impl Visitor for Nothing {
    fn begin(&mut self, game: &GameHeader) -> bool {
        black_box(game);
        true
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        black_box((at.key(), mv));
        ControlFlow::Continue(())
    }

    fn end(&mut self, end: GameEnd) {
        black_box(end);
    }

    fn unreadable(&mut self, error: GameError) {
        black_box(error);
    }
}
