//! The cost of tabiya, compared in one run with the bare engine and Debian's PolyGlot in UCI mode.
//!
//! `scripts/bench adapter` builds what this needs and pins it to one processor. It measures only for `cargo bench`
//! or when it gets the path of tabiya; `cargo test` may run it too, and then it does nothing.
//!
//! The column `copying` is a proxy that only copies bytes, one thread each way: no proxy of two threads can do better.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

#[path = "../tests/support/flood.rs"]
mod flood;
#[path = "adapter/games.rs"]
mod games;
#[path = "adapter/lab.rs"]
mod lab;
#[path = "adapter/latency.rs"]
mod latency;
#[path = "adapter/load.rs"]
mod load;
#[path = "adapter/machine.rs"]
mod machine;
#[path = "adapter/peer.rs"]
mod peer;
#[path = "adapter/relay.rs"]
mod relay;
#[path = "adapter/report.rs"]
mod report;

use std::process::ExitCode;

use clap::Parser;

use games::Polyglot;
use lab::{Args, Lab};
use peer::Result;

/// Size of the huge book.
const HUGE: u64 = 4 << 30;

/// Percent of the processor that other processes may use before a warning.
const BUSY: u64 = 5;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    if arguments.next_if(|first| first == relay::RELAY).is_some() {
        return end(relay::run(arguments));
    }
    let asked = |arg: std::ffi::OsString| {
        let arg = arg.to_string_lossy();
        ["--bench", "--tabiya", "--help"].iter().any(|name| arg.split('=').next() == Some(name))
    };
    if !arguments.any(asked) {
        println!("bench: nothing to do; scripts/bench adapter runs it");
        return ExitCode::SUCCESS;
    }
    end(run(Args::parse()))
}

fn end(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args) -> Result<()> {
    let lab = Lab::new(args)?;
    peer::watch();
    if machine::processors().is_some_and(|count| count > 1) {
        println!("Not pinned to one processor: the scheduler drowns the latencies.\n");
    }
    let started = machine::Ticks::now();
    let huge = lab.folder().join("huge.bin");
    let mut rows = Vec::new();
    if ["isready", "book", "forward"].iter().any(|step| lab.wants(step)) {
        latency::round_trips(&lab, &mut rows)?;
    }
    if lab.wants("flood") {
        load::flood(&lab, &mut rows)?;
    }
    if lab.wants("memory") {
        load::back_pressure(&lab, &mut rows)?;
    }
    if ["start", "quit", "resident"].iter().any(|step| lab.wants(step)) {
        Polyglot::read(&lab.book()?)?.write_sparse(&huge, HUGE)?;
    }
    if lab.wants("start") || lab.wants("quit") {
        latency::start_and_quit(&lab, &huge, &mut rows)?;
    }
    if lab.wants("resident") {
        load::resident(&lab, &huge, &mut rows)?;
    }
    if lab.wants("nps") {
        load::nodes_per_second(&lab, &mut rows)?;
    }
    report::print(&rows);
    if let Some(share) = started.and_then(|started| started.others_share()).filter(|share| *share >= BUSY) {
        println!(
            "\nOther processes took {share} % of the processor meanwhile: times are longer than they would be."
        );
    }
    Ok(())
}
