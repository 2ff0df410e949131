"""What the operating system knows of processes and pipes. Linux only: it reads /proc."""

import array
from pathlib import Path


def _stat(pid):
    """State and parent of a process, or None when it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name in parentheses may itself hold blanks and parentheses.
    state, parent = text.rpartition(")")[2].split()[:2]
    return state, int(parent)


def alive(pid):
    """Whether the process runs; one that is dead and only not yet reaped does not."""
    stat = _stat(pid)
    return stat is not None and stat[0] not in "ZX"


def children(pid):
    """The processes that `pid` started and that still run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            stat = _stat(int(entry.name))
            if stat is not None and stat[1] == pid and stat[0] not in "ZX":
                found.append(int(entry.name))
    return found


def own_memory(pid):
    """Resident memory in bytes without the pages of files, of which the system keeps as many as it likes."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="latin-1").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def waiting(pipe):
    """Bytes that a pipe holds."""
    import fcntl
    import termios

    count = array.array("i", [0])
    fcntl.ioctl(pipe.fileno(), termios.FIONREAD, count)
    return count[0]
