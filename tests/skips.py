"""Where TABIYA_CI is set, as `.ci/run` sets it, a test is skipped only if `allowed-skips.txt` names it with its reason.

Every conftest.py imports the two hooks: a skip that is not allowed fails the test, or the collection of its file.
"""

import os
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
LIST = TESTS / "allowed-skips.txt"


def read(text):
    """The tests that may be skipped, each with the beginning of the reason that it then gives."""
    allowed, reason = {}, None
    for line in filter(None, (line.partition("#")[0].strip() for line in text.splitlines())):
        if line.startswith("["):
            reason = line.strip("[]")
        else:
            allowed.setdefault(line, []).append(reason)
    return allowed


def judge(report, path):
    """Turns the report of a skip that is not allowed into that of a failure."""
    if not os.environ.get("TABIYA_CI") or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = reason.removeprefix("Skipped: ")
    function = report.nodeid.rpartition("::")[2].partition("[")[0] if "::" in report.nodeid else ""
    # Those of the Python package have their folder beside this one.
    place = TESTS if path.is_relative_to(TESTS) else TESTS.parent
    name = f"{path.relative_to(place).as_posix()}::{function}" if path.is_relative_to(place) else report.nodeid
    if not any(reason.startswith(known) for known in read(LIST.read_text(encoding="utf-8")).get(name, [])):
        report.outcome = "failed"
        report.longrepr = f"{name} is skipped, which {LIST.name} does not allow: {reason}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    judge((yield).get_result(), item.path)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    judge((yield).get_result(), collector.path)
