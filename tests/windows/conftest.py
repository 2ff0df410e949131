"""Hooks only: see skips.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401
