"""The steps of a check that goes on where an earlier run ended: what runs again, and what the table says."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from client import HANG

LIB = Path(__file__).parents[2] / "scripts" / "lib.sh"

CHECK = """
set -euo pipefail
. "$(dirname -- "$0")/lib.sh"
trap_steps
keep_going
go_on
step "first" 100 sh -c 'echo first >>"$RAN"'
step "second" 100 sh -c 'echo second >>"$RAN"; [ -e "$MENDED" ]'
step "third" 100 sh -c 'echo third >>"$RAN"'
"""


@pytest.fixture
def check(tmp_path):
    """Runs the check in a repository of its own; returns its exit code, the steps that ran, and the table."""
    project = tmp_path / "project"
    (project / "scripts").mkdir(parents=True)
    shutil.copy(LIB, project / "scripts")
    (project / "scripts" / "check").write_text(CHECK)
    (project / ".gitignore").write_text("target/\n")
    ran = tmp_path / "ran"
    more = {"RAN": str(ran), "MENDED": str(tmp_path / "mended"), "CARGO_TARGET_DIR": str(project / "target")}

    def git(*words):
        line = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words]
        subprocess.run(line, cwd=project, check=True, capture_output=True)

    def run(**settings):
        ran.write_text("")
        done = subprocess.run(["bash", "scripts/check"], cwd=project, env=os.environ | more | settings, capture_output=True, text=True, timeout=HANG)
        table = re.findall(r"^ *\d+ s  (\w+)( \(before\))?$", done.stdout, re.MULTILINE)
        return done, ran.read_text().split(), [name + before for name, before in table]

    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message", "first")
    run.commit = lambda: git("commit", "--quiet", "--allow-empty", "--message", "next")
    run.project, run.mended = project, tmp_path / "mended"
    return run


def test_a_step_that_passed_at_this_commit_is_not_run_again(check):
    done, ran, table = check()
    assert (done.returncode, ran, table) == (1, ["first", "second", "third"], ["first", "second", "third"]), done.stderr
    assert "#### failed: second (exit code 1)" in done.stderr
    check.mended.touch()
    done, ran, table = check()
    assert (done.returncode, ran, table) == (0, ["second"], ["first (before)", "second", "third (before)"]), done.stderr
    done, ran, table = check()
    assert (done.returncode, ran) == (0, []) and table == ["first (before)", "second (before)", "third (before)"]
    # A run that skips something says nothing of one that does not.
    done, ran, _ = check(TABIYA_SKIP_PAGE="1")
    assert (done.returncode, ran) == (0, ["first", "second", "third"])
    check.commit()
    done, ran, _ = check()
    assert (done.returncode, ran) == (0, ["first", "second", "third"])


def test_nothing_is_noted_for_what_is_not_committed(check):
    (check.project / "new").touch()
    done, ran, _ = check()
    assert done.returncode != 0 and ran == [] and "not committed" in done.stderr


AT_ONCE = """
set -euo pipefail
. "$(dirname -- "$0")/lib.sh"
trap_steps
one() { step "one" 100 sh -c 'test -z "$ONE"'; }
two() { keep_going; step "two" 100 sh -c 'test -z "$TWO"'; step "three" 100 true; }
step "both" 100 at_once one two
step "last" 100 true
"""


@pytest.mark.parametrize(("one", "two"), [("", ""), ("fails", ""), ("", "fails"), ("fails", "fails")])
def test_of_two_things_at_once_each_is_named_that_fails(tmp_path, one, two):
    (tmp_path / "scripts").mkdir()
    shutil.copy(LIB, tmp_path / "scripts")
    (tmp_path / "scripts" / "check").write_text(AT_ONCE)
    line = ["bash", "scripts/check"]
    done = subprocess.run(line, cwd=tmp_path, env=os.environ | {"ONE": one, "TWO": two}, capture_output=True, text=True, timeout=HANG)
    failed = set(re.findall(r"^#### failed: (\w+)", done.stdout + done.stderr, re.MULTILINE))
    assert failed == {name for name, fails in (("one", one), ("two", two), ("both", one or two)) if fails}
    assert done.returncode == (1 if one or two else 0)
    # The first's table, the second's, and that of all.
    tables = [re.findall(r"^ *\d+ s  (\w+)$", part, re.MULTILINE) for part in done.stdout.split("#### seconds by step")[1:]]
    assert tables == [["one"], ["two", "three"], ["both"] if one or two else ["both", "last"]]
