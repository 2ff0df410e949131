//! Times from a question to its answer, from the start to the first answer, and from quit to the end.

use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::games::{Ask, ENGINE_MOVE, Polyglot};
use crate::lab::{Lab, Who};
use crate::peer::{Peer, Result};
use crate::report::{Row, Samples};

/// The target for the adapter's cost, in multiples of the bare engine's isready.
const ISREADY_TARGET: f64 = 2.3;
const ANSWER_TARGET: f64 = 2.5;

/// The target for the time that the adapter adds to the bare engine's start.
const START_TARGET: Duration = Duration::from_micros(1500);

/// The target for the time that the adapter takes to end.
const QUIT_TARGET: Duration = Duration::from_millis(5);

/// Threads that take part in an answer besides the GUI's: the engine's, and two of a proxy.
const OTHERS: usize = 3;

/// The samples of each process, in the order of the processes.
type Everybody = Vec<Samples>;

/// Round trips of processes that keep running. They take turns: a busy moment affects all of them alike.
pub fn round_trips(lab: &Lab, rows: &mut Vec<Row>) -> Result<()> {
    let book = Polyglot::read(&lab.book()?)?;
    let who = lab.everybody();
    let mut peers = Vec::new();
    for &who in &who {
        peers.push(Peer::ready(&mut lab.command(who, &[], &lab.book()?)?)?);
    }
    let none = || who.iter().map(|_| Samples::default()).collect::<Everybody>();

    let mut isready = none();
    for _ in 0..lab.samples(25, 1) {
        for (peer, samples) in peers.iter_mut().zip(&mut isready) {
            for _ in 0..lab.samples(400, 20) {
                rest();
                samples.push(peer.ask(b"isready\n", b"readyok")?.0);
            }
        }
    }
    let bare = isready[0].median();
    if lab.wants("isready") {
        rows.push(row("isready to readyok, us", &who, &isready, bare, ISREADY_TARGET));
    }

    if lab.wants("book") {
        let games = book.games(lab.samples(12, 2));
        let asks: usize = games.iter().map(Vec::len).sum();
        if asks == 0 {
            return Err("the book has no lines from the starting position".into());
        }
        let mut answers = none();
        for _ in 0..lab.samples(6000, 1).div_ceil(asks) {
            play(&who, &mut peers, &games, &mut answers)?;
        }
        rows.push(row("book answer, go to bestmove, us", &who, &answers, bare, ANSWER_TARGET));
    }

    if lab.wants("forward") {
        let games: Vec<_> = (1..=lab.samples(8, 2) as u64).map(|seed| book.outside(seed)).collect();
        let asks: usize = games.iter().map(Vec::len).sum();
        let mut answers = none();
        for _ in 0..lab.samples(6000, 1).div_ceil(asks.max(1)) {
            play(&who, &mut peers, &games, &mut answers)?;
        }
        rows.push(row("forwarded go to bestmove, us", &who, &answers, bare, ANSWER_TARGET));
    }
    for peer in peers {
        peer.quit()?;
    }
    Ok(())
}

/// Lets the other threads finish their work after an answer: a GUI asks processes at rest, and the rest of one answer
/// must not count for the next.
fn rest() {
    for _ in 0..OTHERS + 1 {
        thread::yield_now();
    }
}

/// Plays each game with each process in turn, and checks every answer.
fn play(who: &[Who], peers: &mut [Peer], games: &[Vec<Ask>], answers: &mut [Samples]) -> Result<()> {
    for game in games {
        for ((&who, peer), samples) in who.iter().zip(&mut *peers).zip(&mut *answers) {
            peer.ask(b"ucinewgame\nisready\n", b"readyok")?;
            for ask in game {
                rest();
                let (time, line) = peer.ask(&ask.text, b"bestmove ")?;
                samples.push(time);
                check(who, ask, &String::from_utf8_lossy(line))?;
            }
        }
    }
    Ok(())
}

/// A book position is answered from the book, any other by the engine.
fn check(who: Who, ask: &Ask, line: &str) -> Result<()> {
    let answer = line.split_whitespace().nth(1).unwrap_or_default();
    let right = if [Who::Bare, Who::Relay].contains(&who) || ask.moves.is_empty() {
        answer == ENGINE_MOVE
    } else {
        ask.moves.iter().any(|mv| mv == answer)
    };
    if right {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&ask.text);
    Err(format!("`{line}` is no answer to `{}`; the book has {:?}", text.replace('\n', " / "), ask.moves)
        .into())
}

fn row(figure: &str, who: &[Who], samples: &[Samples], bare: Duration, target: f64) -> Row {
    let mut row = Row::new(figure);
    for (&who, samples) in who.iter().zip(samples) {
        row.cell(who, samples.micros());
        if who == Who::Tabiya {
            let ratio = samples.median().as_secs_f64() / bare.as_secs_f64();
            row.verdict(format!("{ratio:.2}"), format!("<= {target} x bare isready"), ratio <= target);
        }
    }
    row
}

/// From the start of the process to readyok, and from quit to its end, with the book and with a huge one.
pub fn start_and_quit(lab: &Lab, huge: &Path, rows: &mut Vec<Row>) -> Result<()> {
    let book = lab.book()?;
    let mut cases: Vec<(Who, &Path)> = lab.everybody().into_iter().map(|who| (who, book.as_path())).collect();
    if lab.everybody().contains(&Who::Tabiya) {
        cases.push((Who::Tabiya, huge));
    }
    let mut starts: Everybody = cases.iter().map(|_| Samples::default()).collect();
    let mut ends: Everybody = cases.iter().map(|_| Samples::default()).collect();
    for run in 0..lab.samples(200, 3) {
        for (case, &(who, book)) in cases.iter().enumerate() {
            // It takes a third of a second to end.
            if who == Who::PolyGlot && run % 10 != 0 {
                continue;
            }
            let mut command = lab.command(who, &[], book)?;
            let started = std::time::Instant::now();
            let peer = Peer::ready(&mut command)?;
            starts[case].push(started.elapsed());
            ends[case].push(peer.quit()?);
        }
    }
    let bare = starts[0].median();
    let mut figures = [Row::new("start to readyok, ms"), Row::new("the same with a book of 4 GiB")];
    let mut quits = [Row::new("quit to the end, ms"), Row::new("the same with a book of 4 GiB")];
    for (case, &(who, book)) in cases.iter().enumerate() {
        let large = usize::from(book == huge);
        figures[large].cell(who, starts[case].millis());
        quits[large].cell(who, ends[case].millis());
        if who == Who::Tabiya {
            let more = starts[case].median().saturating_sub(bare);
            let text = format!("+{:.2} ms", more.as_secs_f64() * 1e3);
            figures[large].verdict(text, "<= 1.5 ms above bare", more <= START_TARGET);
            quits[large].verdict("-", "<= 5 ms", ends[case].median() <= QUIT_TARGET);
        }
    }
    if lab.wants("start") {
        rows.extend(figures);
    }
    if lab.wants("quit") {
        rows.extend(quits);
    }
    Ok(())
}
