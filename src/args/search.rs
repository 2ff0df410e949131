//! How positions are searched by child engines, as arguments.

use std::time::{Duration, Instant};

use tabiya_chess::Variant;
use tabiya_search::Work;
use tabiya_search::evals::Limit;
use tabiya_uci::engine::Setup;

use super::time;
use crate::output::warn;

/// Nodes of each search if no other limit is named.
const NODES: u64 = 1_000_000;

/// How long each position is searched, by how many engines, and until when.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Evaluating")]
pub(crate) struct SearchArgs {
    /// Nodes to search in each position [default: 1000000]
    #[arg(long, value_name = "N", group = "limit", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Search to this depth instead, in plies
    #[arg(long, value_name = "D", group = "limit", value_parser = clap::value_parser!(u64).range(1..=1000))]
    depth: Option<u64>,
    /// Search for this many milliseconds instead
    #[arg(long, value_name = "MS", group = "limit", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    movetime: Option<u64>,
    /// Run this many engines at the same time [default: 1]
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Stop evaluating after this time, such as 30m or 8h, and use what is known by then
    #[arg(long, value_name = "LIMIT", value_parser = time::duration)]
    time: Option<Duration>,
}

impl SearchArgs {
    /// How long each search lasts.
    pub fn limit(&self) -> Limit {
        let other = self.depth.map(Limit::Depth).or(self.movetime.map(Limit::Movetime));
        other.unwrap_or(Limit::Nodes(self.nodes.unwrap_or(NODES)))
    }

    /// The work of engines that are started like this and search positions of a variant; its time begins now.
    pub fn work<'a>(&self, setup: &'a Setup, variant: Variant) -> Work<'a> {
        let until = self.time.and_then(|time| Instant::now().checked_add(time));
        Work {
            setup,
            variant,
            limit: self.limit(),
            jobs: self.jobs.unwrap_or(1).into(),
            until,
            tell: warn,
            needs_wdl: false,
        }
    }

    /// Whether any of the arguments is given.
    pub fn is_given(&self) -> bool {
        let Self { nodes, depth, movetime, jobs, time } = self;
        nodes.or(*depth).or(*movetime).is_some() || jobs.is_some() || time.is_some()
    }
}
