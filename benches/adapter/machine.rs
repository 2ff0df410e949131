//! Facts of Linux about processes and the processor; on other systems they are unknown.

use std::fs;
use std::time::Duration;

/// Processor time that all threads of a process have used, in nanoseconds; `None` if Linux does not report it.
pub fn processor_time(pid: u32) -> Option<Duration> {
    let mut nanoseconds = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        // Its first number is the time on the processor (Documentation/scheduler/sched-stats.rst).
        let stat = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += stat.split_whitespace().next()?.parse::<u64>().ok()?;
    }
    (nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds))
}

/// Resident memory of a process in KiB: now, and at its peak; `None` if Linux does not report it.
pub fn memory(pid: u32) -> Option<(u64, u64)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    Some((field("VmRSS:")?, field("VmHWM:")?))
}

/// The number of processors that this process may run on; `None` if Linux does not report it.
pub fn processors() -> Option<u32> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed:"))?;
    Some(mask.chars().filter_map(|digit| digit.to_digit(16)).map(u32::count_ones).sum())
}

/// The processor's time so far, in the system's ticks.
pub struct Ticks {
    all: u64,
    busy: u64,
    ours: u64,
}

impl Ticks {
    /// The time so far on the one processor that we may use; `None` if there are several.
    pub fn now() -> Option<Self> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        let name = format!("cpu{} ", list.trim().parse::<u32>().ok()?);
        let stat = fs::read_to_string("/proc/stat").ok()?;
        let line = stat.lines().find_map(|line| line.strip_prefix(&name))?;
        // user nice system idle iowait irq softirq steal; what follows is counted in user already (proc_stat(5)).
        let spent: Vec<u64> =
            line.split_whitespace().take(8).filter_map(|field| field.parse().ok()).collect();
        let all = spent.iter().sum();
        let idle: u64 = spent.iter().skip(3).take(2).sum();
        let own = fs::read_to_string("/proc/self/stat").ok()?;
        // Fields 14 to 17: our own time and that of the processes that have ended (proc_pid_stat(5)).
        let (_, fields) = own.rsplit_once(')')?;
        let ours =
            fields.split_whitespace().skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
        Some(Self { all, busy: all - idle, ours })
    }

    /// The share of the processor, in percent, that other processes have taken since.
    pub fn others_share(&self) -> Option<u64> {
        let now = Self::now()?;
        let others = (now.busy - self.busy).saturating_sub(now.ours - self.ours);
        (others * 100).checked_div(now.all - self.all)
    }
}
