"""How scripts/bench runs and times programs: by the clock, by processor time and by the most memory."""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

MEBI = 1 << 20


@dataclass
class Cost:
    """What a run of a program took: seconds, seconds of processor time, bytes at the peak."""

    wall: float
    cpu: float
    peak: int

    def least(self, other):
        """Of two runs: whatever disturbs one only adds time."""
        return Cost(min(self.wall, other.wall), min(self.cpu, other.cpu), max(self.peak, other.peak))

    def then(self, other):
        """Of two runs, one after the other."""
        return Cost(self.wall + other.wall, self.cpu + other.cpu, max(self.peak, other.peak))


def say(text):
    print(f"== {text}", flush=True)


def run(argv, processors=None, codes=(0,), family=False):
    """Runs a program, on these processors only if any are given, and ends everything if its exit code is none of these.

    With `family` what it starts counts as well, whoever waits for that: as Linux shows it, ten times a second.
    """
    allowed = os.sched_getaffinity(0) if processors else None
    with tempfile.TemporaryFile() as errors:
        if processors:
            os.sched_setaffinity(0, processors)
        try:
            # A child's peak counts from this process's own: nothing large is held here.
            begun = time.perf_counter()
            process = subprocess.Popen(
                [str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
            )
            cpu, peak = 0, 0
            while family and not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                cpu, peak = (max(pair) for pair in zip((cpu, peak), family_of(process.pid), strict=True))
                time.sleep(0.1)
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - begun
        finally:
            if processors:
                os.sched_setaffinity(0, allowed)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in codes:
            errors.seek(0)
            sys.stderr.write(errors.read().decode(errors="replace"))
            sys.exit(f"exit code {process.returncode}: {' '.join(map(str, argv))}")
    # Linux counts the peak in KiB, macOS in bytes.
    own = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Cost(wall, max(cpu, usage.ru_utime + usage.ru_stime), max(peak, own))


def family_of(pid):
    """Seconds of processor time and resident bytes of a process and of all that it has started."""
    stats, family, cpu, pages = {}, {str(pid)}, 0, 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            stats[path.parent.name] = path.read_text().rpartition(")")[2].split()
        except OSError:
            # It has ended.
            continue
    while children := {one for one, fields in stats.items() if fields[1] in family} - family:
        family |= children
    for fields in (stats[one] for one in family if one in stats):
        # Its own and its children's, of those that have ended.
        cpu += sum(map(int, fields[11:15]))
        pages += int(fields[21])
    return cpu / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE")


def in_turn(rounds, commands, processors=None):
    """The least cost of each command in so many rounds. They take turns, so that a busy moment meets all of them."""
    costs = {}
    for _ in range(rounds):
        for name, argv in commands.items():
            cost = run(argv, processors)
            costs[name] = costs[name].least(cost) if name in costs else cost
    return costs


def line(name, cost, games=None):
    speed = f"{games / cost.wall:>14,.0f} games/s" if games else ""
    print(f"{name:<32}{cost.wall:>9.3f} s{cost.cpu:>9.2f} s cpu{cost.peak / MEBI:>8.0f} MiB{speed}", flush=True)


def goal(name, value, wanted, most=True):
    """Prints a measured value beside the one wanted: at most that, or at least."""
    reached = value <= wanted if most else value >= wanted
    print(f"  {name}: {value:,.2f} (wanted: {wanted:,} at {'most' if most else 'least'}, {'reached' if reached else 'MISSED'})", flush=True)
