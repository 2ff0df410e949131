"""The readers of docs/formats, which are written from its pages: second opinions on what books and databases hold."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "formats"))

import cbh_moves  # noqa: E402, F401
import normal_form  # noqa: E402, F401
import read_abk  # noqa: E402, F401
import read_cbh  # noqa: E402, F401
import read_cbv  # noqa: E402, F401
import read_ctg  # noqa: E402, F401
import read_exp  # noqa: E402, F401
import read_kvetka  # noqa: E402, F401
import read_obk  # noqa: E402, F401
import read_polyglot  # noqa: E402, F401
import read_scid  # noqa: E402, F401
