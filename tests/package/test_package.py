"""What a release offers for download, as its users take it: unpacked or installed, set up, and played with.

scripts/package makes these files; TABIYA_DIST is their folder. The archive for Windows is tried in the Windows that
scripts/windows makes under Wine, with TABIYA_WINDOWS_ENGINE as its engine.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import chess
import chess.engine
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from polyglot_writer import Book  # noqa: E402

DIST = Path(os.environ["TABIYA_DIST"]).resolve()
HANG = float(os.environ.get("TABIYA_E2E_HANG", "600"))


def only(pattern):
    (path,) = DIST.glob(pattern)
    return path


def run(command, **more):
    done = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=HANG,
        check=False,
        **more,
    )
    assert "panicked" not in done.stderr, done.stderr
    return done


def succeeds(command, **more):
    done = run(command, **more)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def play(command, folder, line):
    """A game by a client that is not ours, whose first moves are those of the line."""
    engine = chess.engine.SimpleEngine.popen_uci(command, cwd=folder, timeout=HANG)
    board = chess.Board()
    for ply in range(20):
        result = engine.play(board, chess.engine.Limit(nodes=200), game=1)
        if ply < len(line):
            assert result.move.uci() == line[ply]
        board.push(result.move)
    engine.quit()


LINE = ["d2d4", "g8f6", "c2c4", "e7e6"]


def test_the_sums_are_those_of_all_files():
    listed = dict(reversed(line.split()) for line in (DIST / "SHA256SUMS").read_text().splitlines())
    files = {path.name for path in DIST.glob("tabiya*")}
    assert set(listed) == files and len(files) >= 4
    for name, sum_ in listed.items():
        assert hashlib.sha256((DIST / name).read_bytes()).hexdigest() == sum_, name


def test_the_bill_of_materials_names_the_libraries_and_no_folder_of_this_machine():
    text = only("*.cdx.json").read_text()
    bill = json.loads(text)
    assert bill["bomFormat"] == "CycloneDX" and "serialNumber" not in bill
    names = {component["name"] for component in bill["components"]}
    assert {"shakmaty", "vampirc-uci", "rand", "memmap2", "log", "simplelog"} <= names
    assert str(Path.home()) not in text and str(Path(__file__).parents[2]) not in text


def test_no_executable_names_a_folder_of_this_machine(tmp_path):
    root = str(Path(__file__).parents[2]).encode()
    with tarfile.open(only("*-linux-x86_64.tar.gz")) as archive, zipfile.ZipFile(only("*-windows-x86_64.zip")) as other:
        linux = next(member for member in archive if member.name.endswith("/tabiya"))
        windows = next(name for name in other.namelist() if name.endswith("/tabiya.exe"))
        for program in (archive.extractfile(linux).read(), other.read(windows)):
            assert root + b"/" not in program and b"/.cargo/registry" not in program


def test_the_archive_for_linux(tmp_path, gnu_engine):
    with tarfile.open(only("*-linux-x86_64.tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    names = {path.name for path in folder.iterdir()}
    assert names >= {"tabiya", "LICENSE", "THIRD-PARTY-LICENSES.txt", "README.md", "guide", "man", "completions"}
    version = folder.name.removeprefix("tabiya-")
    assert version in succeeds([folder / "tabiya", "--version"])
    # It needs no library: the system's own loader has nothing to do.
    assert "INTERP" not in succeeds(["readelf", "--program-headers", folder / "tabiya"])
    Book().line(" ".join(LINE)).write(folder / "a.bin")
    out = succeeds([folder / "tabiya", "init", "--engine", gnu_engine, "--book", "a.bin"], cwd=folder)
    assert "All is well." in out
    play([str(folder / "tabiya")], folder, LINE)


@pytest.fixture
def gnu_engine():
    found = shutil.which("stockfish", path=os.environ["PATH"] + ":/usr/games")
    if not found:
        pytest.skip("there is no Stockfish")
    return found


@pytest.fixture
def wine():
    if not (os.environ.get("TABIYA_WINDOWS_ENGINE") and os.environ.get("WINEPREFIX") and shutil.which("wine")):
        pytest.skip("TABIYA_WINDOWS_ENGINE and WINEPREFIX name no engine and no Windows under Wine")
    return shutil.which("wine")


def test_the_archive_for_windows_in_a_folder_with_a_space(tmp_path, wine):
    place = tmp_path / "My Chess"
    with zipfile.ZipFile(only("*-windows-x86_64.zip")) as archive:
        archive.extractall(place)
    (folder,) = place.iterdir()
    names = {path.name for path in folder.iterdir()}
    assert names == {"tabiya.exe", "tabiya.toml", "README.txt", "LICENSE.txt", "THIRD-PARTY-LICENSES.txt", "guide"}
    assert b"\r\n" in (folder / "README.txt").read_bytes()
    version = folder.name.removeprefix("tabiya-")
    program = (folder / "tabiya.exe").read_bytes()
    assert "ProductVersion".encode("utf-16-le") in program and version.encode("utf-16-le") in program
    shutil.copy(os.environ["TABIYA_WINDOWS_ENGINE"], folder / "stockfish.exe")
    Book().line(" ".join(LINE)).write(folder / "my book.bin")
    command = [wine, str(folder / "tabiya.exe")]
    # Nothing is set in the tabiya.toml of the archive, so init may replace it.
    out = succeeds([*command, "init", "--yes"], cwd=folder)
    assert "All is well." in out and "my book.bin" in out, out
    assert "All is well." in succeeds([*command, "doctor"], cwd=folder)
    play(command, folder, LINE)
    done = run([*command, "init", "--yes"], cwd=folder)
    assert done.returncode == 3 and "--force" in done.stderr, done.stderr


def test_the_package_is_installed_used_and_removed_in_a_bare_debian(tmp_path):
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        pytest.skip("a bare Debian needs root and debootstrap")
    root = tmp_path / "debian"
    mirror = os.environ.get("TABIYA_DEBIAN_MIRROR", "")
    succeeds(["debootstrap", "--variant=minbase", "bookworm", root, *([mirror] if mirror else [])])
    package = only("tabiya_*_amd64.deb")
    shutil.copy(package, root / "tmp")
    inside = ["chroot", root]
    before = set(succeeds([*inside, "find", "/usr", "-type", "f"]).splitlines())
    succeeds([*inside, "dpkg", "-i", f"/tmp/{package.name}"])
    assert package.name.split("_")[1] in succeeds([*inside, "tabiya", "--version"])
    Book().line(" ".join(LINE)).write(root / "tmp" / "a.bin")
    assert "d2d4" in succeeds([*inside, "tabiya", "show", "/tmp/a.bin", "--json"])
    added = set(succeeds([*inside, "find", "/usr", "-type", "f"]).splitlines()) - before
    assert {"/usr/bin/tabiya", "/usr/share/bash-completion/completions/tabiya"} <= added
    succeeds([*inside, "dpkg", "-r", "tabiya"])
    left = set(succeeds([*inside, "find", "/usr", "-type", "f"]).splitlines()) - before
    assert not left
