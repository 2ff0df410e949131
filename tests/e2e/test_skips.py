"""Where TABIYA_CI is set, a skip that tests/allowed-skips.txt does not name fails the run."""

import os
import re
import subprocess
import sys

import pytest

import skips

ALLOWED = skips.read(skips.LIST.read_text(encoding="utf-8"))

TESTS = """
import pytest

def test_that_is_{name}():
    pytest.skip("{reason}")
"""


def outcome(folder, text, ci=True, workers=()):
    """The exit code of pytest and what it prints, with the hooks, for one file of tests beside a list of our own."""
    (folder / "tests" / "e2e").mkdir(parents=True)
    for path in (skips.TESTS / "skips.py", skips.TESTS / "windows" / "conftest.py"):
        (folder / "tests" / ("e2e" if path.stem == "conftest" else ".") / path.name).write_bytes(path.read_bytes())
    (folder / "tests" / skips.LIST.name).write_text("[no tool]  # why\ne2e/test_it.py::test_that_is_allowed\n")
    (folder / "tests" / "e2e" / "test_it.py").write_text(text)
    environment = {key: value for key, value in os.environ.items() if key not in ("TABIYA_CI", "PYTEST_ADDOPTS")}
    line = [sys.executable, "-m", "pytest", "-ra", "-p", "no:cacheprovider", *workers, "tests/e2e"]
    done = subprocess.run(line, cwd=folder, env=environment | ({"TABIYA_CI": "1"} if ci else {}), capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (TESTS.format(name="allowed", reason="no tool: x"), 0),
        (TESTS.format(name="allowed", reason="another reason"), 1),
        (TESTS.format(name="new", reason="no tool: x"), 1),
        ("import pytest\n@pytest.mark.skip(reason='no tool')\ndef test_that_is_new(): pass\n", 1),
        ("import pytest\npytest.skip('no tool', allow_module_level=True)\n", None),
        ("import pytest\n@pytest.mark.xfail\ndef test_that_fails(): assert 0\n", 0),
    ],
)
def test_only_a_skip_that_is_listed_passes(tmp_path, text, code, workers):
    found, said = outcome(tmp_path, text, workers=workers)
    # A file that cannot be collected has an exit code of its own.
    assert found == code if code is not None else found not in (0, 5), said
    assert found == 0 or "is skipped, which allowed-skips.txt does not allow: " in said


def test_elsewhere_any_skip_passes(tmp_path):
    assert outcome(tmp_path, TESTS.format(name="new", reason="whatever"), ci=False)[0] == 0


def test_the_list_names_tests_that_there_are():
    assert len(ALLOWED) > 20
    for name in ALLOWED:
        file, _, function = name.partition("::")
        place = skips.TESTS.parent if file.startswith("python/") else skips.TESTS
        assert re.search(rf"^def {function}\(", (place / file).read_text(encoding="utf-8"), re.MULTILINE), name


@pytest.mark.parametrize("folder", ["e2e", "windows", "page", "spark", "../python/tests"])
def test_every_folder_has_the_hooks(folder):
    text = (skips.TESTS / folder / "conftest.py").read_text(encoding="utf-8")
    assert "from skips import pytest_make_collect_report, pytest_runtest_makereport" in text
