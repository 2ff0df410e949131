//! The cost of forwarding many lines, in processor time, memory and the engine's speed.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::games::Polyglot;
use crate::lab::{Lab, Who};
use crate::machine::{memory, processor_time};
use crate::peer::{Peer, Result};
use crate::report::Row;

/// Processor time of the adapter for a line of a flood that comes in blocks, and of one that comes line by line.
const BLOCK_TARGET: Duration = Duration::from_nanos(500);
const LINE_TARGET: Duration = Duration::from_micros(1);

/// The target for lines in a second, in multiples of PolyGlot's.
const SPEED_TARGET: f64 = 3.0;

/// The most that an adapter's memory may grow in a flood, in KiB: less than any real queue.
const GROWTH_TARGET: u64 = 256;

/// Resident memory with a book of 4 GiB, in KiB.
const RESIDENT_TARGET: u64 = 6 * 1024;

/// How long the GUI does not read.
const PAUSE: Duration = Duration::from_secs(1);

/// Lines that flow before the GUI stops reading.
const BEFORE_PAUSE: u64 = 10_000;

/// Pairs of Stockfish's runs, and the time of each in milliseconds.
const PAIRS: usize = 5;
const MOVETIME: usize = 2000;

/// A flood of info lines: processor time for each, lines in a second; every byte is compared.
pub fn flood(lab: &Lab, rows: &mut Vec<Row>) -> Result<()> {
    let lines = lab.samples(2_000_000, 20_000) as u64;
    let count = lines.to_string();
    let ways = [
        ("in blocks", vec!["--flood", &count, "--flood-block", "65536"], BLOCK_TARGET),
        ("line by line", vec!["--flood", &count, "--flood-line"], LINE_TARGET),
    ];
    for (way, arguments, target) in ways {
        let mut costs = [None; 4];
        let mut speeds = [0.0_f64; 4];
        let everybody = lab.everybody();
        // The best of three rounds: other processes can only make a flood slower.
        for _ in 0..lab.samples(3, 1) {
            for &who in &everybody {
                let (used, time) = flow(lab, who, &arguments, lines)?;
                let (cost, speed) = (&mut costs[who as usize], &mut speeds[who as usize]);
                *cost = [*cost, used].into_iter().flatten().min();
                *speed = (lines as f64 / time.as_secs_f64()).max(*speed);
            }
        }
        let mut cost = Row::new(format!("info lines {way}: processor time, us each"));
        let mut speed = Row::new(format!("info lines {way}: lines/s"));
        for who in everybody {
            speed.cell(who, format!("{:.0}", speeds[who as usize]));
            let Some(used) = costs[who as usize] else { continue };
            let each = used.as_secs_f64() / lines as f64;
            cost.cell(who, format!("{:.3}", each * 1e6));
            if who == Who::Tabiya {
                let text = format!("<= {} us", target.as_secs_f64() * 1e6);
                cost.verdict("-", text, each <= target.as_secs_f64());
            }
        }
        let [_, _, tabiya, polyglot] = speeds;
        if tabiya > 0.0 && polyglot > 0.0 {
            let ratio = tabiya / polyglot;
            speed.verdict(format!("{ratio:.2}"), ">= 3 x PolyGlot", ratio >= SPEED_TARGET);
        }
        rows.extend([cost, speed]);
    }
    Ok(())
}

/// One flood: the processor time of the process, and the elapsed time.
fn flow(lab: &Lab, who: Who, arguments: &[&str], lines: u64) -> Result<(Option<Duration>, Duration)> {
    let mut peer = Peer::ready(&mut lab.command(who, arguments, &lab.book()?)?)?;
    let before = processor_time(peer.id());
    let started = Instant::now();
    peer.ask(OUTSIDE, b"info depth 1 ")?;
    peer.read_flood(lines, |_| Ok(()))?;
    peer.read_until(b"bestmove ")?;
    let time = started.elapsed();
    let used = processor_time(peer.id()).zip(before).map(|(after, before)| after - before);
    peer.quit()?;
    Ok((used, time))
}

/// A position that no book has, and a go.
const OUTSIDE: &[u8] = b"position startpos moves a2a3 a7a6 a3a4 a6a5 h2h3 h7h6\ngo movetime 1000\n";

/// The memory of an adapter whose GUI does not read for a second, and whether the engine waits meanwhile.
pub fn back_pressure(lab: &Lab, rows: &mut Vec<Row>) -> Result<()> {
    let lines = lab.samples(2_000_000, 50_000) as u64;
    let count = lines.to_string();
    let mut row = Row::new("GUI does not read for 1 s: KiB at its highest (growth)");
    let mut still_row = Row::new("the engine stands still meanwhile");
    for who in lab.everybody() {
        let pid_file = lab.folder().join("engine.pid");
        let pid_text = pid_file.display().to_string();
        let arguments = ["--flood", &count, "--pid-file", &pid_text];
        let mut peer = Peer::ready(&mut lab.command(who, &arguments, &lab.book()?)?)?;
        let engine: u32 = fs::read_to_string(&pid_file)?.trim().parse()?;
        let adapter = peer.id();
        peer.ask(OUTSIDE, b"info depth 1 ")?;
        let mut before = None;
        let mut still = None;
        let mut paused = false;
        peer.read_flood(lines, |done| {
            if done >= BEFORE_PAUSE && !paused {
                paused = true;
                before = memory(adapter);
                thread::sleep(PAUSE / 2);
                let halfway = processor_time(engine);
                thread::sleep(PAUSE / 2);
                still = halfway.map(|time| processor_time(engine) == Some(time));
            }
            Ok(())
        })?;
        peer.read_until(b"bestmove ")?;
        if let Some(((_, before), (_, after))) = before.zip(memory(adapter)) {
            row.cell(who, format!("{after} (+{})", after - before));
            if who == Who::Tabiya {
                row.verdict("-", format!("<= +{GROWTH_TARGET} KiB"), after - before <= GROWTH_TARGET);
            }
        }
        if let Some(still) = still {
            still_row.cell(who, if still { "yes" } else { "no" });
            if who == Who::Tabiya {
                still_row.verdict("-", "yes", still);
            }
        }
        peer.quit()?;
    }
    rows.extend([row, still_row]);
    Ok(())
}

/// Resident memory with a huge book, before and after it has answered.
pub fn resident(lab: &Lab, huge: &Path, rows: &mut Vec<Row>) -> Result<()> {
    let mut row = Row::new("resident with a book of 4 GiB: KiB at start, after answers");
    let games = Polyglot::read(&lab.book()?)?.games(lab.samples(40, 4));
    for who in lab.everybody().into_iter().filter(|&who| who == Who::Tabiya) {
        let mut peer = Peer::ready(&mut lab.command(who, &[], huge)?)?;
        let before = memory(peer.id());
        for ask in games.iter().flatten() {
            let (_, line) = peer.ask(&ask.text, b"bestmove ")?;
            let answer = String::from_utf8_lossy(line);
            let answer = answer.split_whitespace().nth(1).unwrap_or_default();
            if !ask.moves.iter().any(|mv| mv == answer) {
                let asked = String::from_utf8_lossy(&ask.text);
                let asked = asked.lines().next().unwrap_or_default();
                return Err(format!("{answer} is not from the book of 4 GiB: {asked}").into());
            }
        }
        if let Some(((before, _), (after, _))) = before.zip(memory(peer.id())) {
            row.cell(who, format!("{before}, {after}"));
            row.verdict("-", format!("<= {RESIDENT_TARGET} KiB"), after <= RESIDENT_TARGET);
        }
        peer.quit()?;
    }
    rows.push(row);
    Ok(())
}

/// Stockfish's nodes in a second, bare and through the adapter, in pairs.
pub fn nodes_per_second(lab: &Lab, rows: &mut Vec<Row>) -> Result<()> {
    let Some(stockfish) = lab.stockfish() else {
        rows.push(Row::new("Stockfish's nodes/s: there is no Stockfish"));
        return Ok(());
    };
    let go = format!("position startpos\ngo movetime {}\n", lab.samples(MOVETIME, 100));
    let mut all = [Vec::new(), Vec::new(), Vec::new()];
    let who: Vec<_> =
        lab.everybody().into_iter().filter(|who| [Who::Bare, Who::Tabiya].contains(who)).collect();
    for pair in 0..lab.samples(PAIRS, 1) {
        // The one that always came second would find the processor warmer.
        let order: Vec<_> = if pair % 2 == 0 { who.clone() } else { who.iter().rev().copied().collect() };
        for who in order {
            let mut peer = Peer::ready(&mut lab.command_for(who, &stockfish, &[], &lab.book()?)?)?;
            if who == Who::Tabiya {
                peer.send(b"setoption name OwnBook value false\n")?;
            }
            peer.send(go.as_bytes())?;
            let mut last = None;
            loop {
                let line = String::from_utf8_lossy(peer.read_line()?).into_owned();
                let mut words = line.split_whitespace();
                if words.any(|word| word == "nps") {
                    last = words.next().and_then(|nps| nps.parse::<f64>().ok()).or(last);
                }
                if line.starts_with("bestmove") {
                    break;
                }
            }
            all[who as usize].push(last.ok_or("Stockfish names no nodes per second")?);
            peer.quit()?;
        }
    }
    let mut row = Row::new("Stockfish's nodes/s, median of pairs");
    for &who in &who {
        let mut sorted = all[who as usize].clone();
        sorted.sort_by(f64::total_cmp);
        row.cell(who, format!("{:.0}", sorted[sorted.len() / 2]));
    }
    let mut ratios: Vec<f64> = all[Who::Tabiya as usize]
        .iter()
        .zip(&all[Who::Bare as usize])
        .map(|(tabiya, bare)| tabiya / bare)
        .collect();
    ratios.sort_by(f64::total_cmp);
    if let (Some(low), Some(high)) = (ratios.first(), ratios.last()) {
        let middle = ratios[ratios.len() / 2];
        // Within the noise: the pairs do not agree which is faster, or they differ by less than a percent.
        let equal = (*low..=*high).contains(&1.0) || (middle - 1.0).abs() < 0.01;
        row.verdict(format!("{middle:.3} ({low:.3}-{high:.3})"), "equal within the noise", equal);
    }
    rows.push(row);
    Ok(())
}
