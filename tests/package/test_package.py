"""What a release offers for download, as its users take it: unpacked or installed, set up, and played with.

scripts/package makes these files, TABIYA_DIST is their folder; scripts/try-package installs what these tests need. Each machine
makes what is for it; none of that is skipped.
"""

import gzip
import hashlib
import json
import os
import platform
import re
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

sys.path.insert(0, str(Path(__file__).parents[1]))

import links  # noqa: E402

ROOT = Path(__file__).parents[2]
HANG = float(os.environ.get("TABIYA_E2E_HANG", "600"))
HERE = {"Darwin": "macos"}.get(platform.system(), platform.system().lower()) + "-" + platform.machine().replace("arm64", "aarch64")
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine())

on_linux = pytest.mark.skipif(not HERE.startswith("linux-"), reason="Debian's package is made on Linux")
on_debian = pytest.mark.skipif(HERE != "linux-x86_64", reason="made on Linux on x86_64 only")


def only(pattern):
    (path,) = Path(os.environ["TABIYA_DIST"]).resolve().glob(pattern)
    return path


def named(variable):
    """What scripts/try-package names in this variable."""
    assert os.environ.get(variable), f"{variable} is not set: run scripts/try-package"
    return os.environ[variable]


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


@pytest.fixture(params=[pytest.param("archive"), pytest.param("zip", marks=on_debian), pytest.param("deb", marks=on_linux)])
def unpacked(request, tmp_path):
    """The folder with the pages of each download, and the one in which the download is unpacked."""
    if request.param == "archive":
        with tarfile.open(only(f"*-{HERE}.tar.gz")) as archive:
            archive.extractall(tmp_path, filter="data")
    elif request.param == "zip":
        with zipfile.ZipFile(only("*-windows-x86_64.zip")) as archive:
            archive.extractall(tmp_path)
    else:
        succeeds(["dpkg-deb", "-x", only(f"tabiya_*_{DEBIAN}.deb"), tmp_path])
        return tmp_path / "usr/share/doc/tabiya"
    (folder,) = tmp_path.iterdir()
    return folder


def test_each_link_and_picture_leads_somewhere(unpacked):
    pages = [path.relative_to(unpacked).as_posix() for path in (*unpacked.rglob("*.md"), *unpacked.rglob("*.html"))]
    assert {"README.md", "guide/index.html", "guide/options.html", "guide/formats/ctg.html"} <= set(pages)
    found = links.of_folder(unpacked)
    assert len(found) > 400, len(found)
    assert not links.broken(unpacked, found)
    # What is shown is there, too: a page needs nothing from elsewhere.
    assert not [link for link in found if link.is_shown and "://" in link.target]


def test_each_command_that_a_man_page_names_has_one(tmp_path):
    with tarfile.open(only(f"*-{HERE}.tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    pages = {page.stem: page.read_text(encoding="utf-8").replace("\\", "") for page in (folder / "man").iterdir()}
    assert "tabiya-show" in pages
    named = {name for text in pages.values() for name in re.findall(r"(tabiya[a-z-]*)\(1\)", text)}
    assert named and named <= set(pages), named - set(pages)


def test_the_licences_are_those_of_what_the_program_contains(unpacked):
    (file,) = unpacked.glob("THIRD-PARTY-LICENSES*")
    text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    text = text.decode("utf-8")
    # Zstandard's library in C, which is there: the message is one of its own.
    programs = [*unpacked.glob("tabiya"), *unpacked.glob("tabiya.exe"), *unpacked.parents[2].glob("bin/tabiya")]
    assert programs and all(b"Unsupported frame parameter" in program.read_bytes() for program in programs)
    assert re.search(r"^zstd-sys \d", text, re.M) and "Meta Platforms" in text
    assert "Zstandard's library in C" in text
    assert re.search(r"^shakmaty \d", text, re.M)


@on_debian
def test_the_sums_are_those_of_all_files():
    folder = only("SHA256SUMS").parent
    listed = dict(reversed(line.split()) for line in (folder / "SHA256SUMS").read_text().splitlines())
    files = {path.name for path in folder.glob("tabiya*")}
    assert set(listed) == files and len(files) >= 4
    for name, sum_ in listed.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == sum_, name


@on_debian
def test_the_bill_of_materials_names_the_libraries_and_no_folder_of_this_machine():
    text = only("*.cdx.json").read_text()
    bill = json.loads(text)
    assert bill["bomFormat"] == "CycloneDX" and "serialNumber" not in bill
    names = {component["name"] for component in bill["components"]}
    assert {"shakmaty", "vampirc-uci", "rand", "memmap2", "log", "simplelog", "zstd-sys"} <= names
    # The library in C has a version of its own, which the crate's names too.
    (library,) = [component for component in bill["components"] if component["bom-ref"].startswith("pkg:github/facebook/zstd@")]
    (crate,) = [component for component in bill["components"] if component["name"] == "zstd-sys"]
    assert crate["version"].endswith(f"+zstd.{library['version']}")
    (needs,) = [one["dependsOn"] for one in bill["dependencies"] if one["ref"] == crate["bom-ref"]]
    assert library["bom-ref"] in needs
    assert str(Path.home()) not in text and str(ROOT) not in text


@on_debian
def test_no_executable_names_a_folder_of_this_machine(tmp_path):
    root = str(Path(__file__).parents[2]).encode()
    with tarfile.open(only("*-linux-x86_64.tar.gz")) as archive, zipfile.ZipFile(only("*-windows-x86_64.zip")) as other:
        linux = next(member for member in archive if member.name.endswith("/tabiya"))
        windows = next(name for name in other.namelist() if name.endswith("/tabiya.exe"))
        for program in (archive.extractfile(linux).read(), other.read(windows)):
            assert root + b"/" not in program and b"/.cargo/registry" not in program


def test_the_archive_for_this_system(tmp_path):
    with tarfile.open(only(f"*-{HERE}.tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    names = {path.name for path in folder.iterdir()}
    assert names >= {"tabiya", "LICENSE", "THIRD-PARTY-LICENSES.txt", "README.md", "guide", "man", "completions"}
    # Options have their values, in the synopsis too.
    page = (folder / "man/tabiya-show.1").read_text().replace("\\", "")
    assert "[--fen <FEN>]" in page
    version = folder.name.removeprefix("tabiya-")
    assert version in succeeds([folder / "tabiya", "--version"])
    if HERE.startswith("linux-"):
        # It needs no library: the system's own loader has nothing to do.
        assert "INTERP" not in succeeds(["readelf", "--program-headers", folder / "tabiya"])
    Book().line(" ".join(LINE)).write(folder / "a.bin")
    out = succeeds([folder / "tabiya", "init", "--engine", named("STOCKFISH"), "--book", "a.bin"], cwd=folder)
    assert "All is well." in out
    play([str(folder / "tabiya")], folder, LINE)


@on_debian
def test_the_archive_for_windows_in_a_folder_with_a_space(tmp_path):
    engine, _ = named("TABIYA_WINDOWS_ENGINE"), named("WINEPREFIX")
    place = tmp_path / "My Chess"
    with zipfile.ZipFile(only("*-windows-x86_64.zip")) as archive:
        archive.extractall(place)
    (folder,) = place.iterdir()
    names = {path.name for path in folder.iterdir()}
    assert names == {
        *("tabiya.exe", "tabiya.toml", "README.txt", "LICENSE.txt", "THIRD-PARTY-LICENSES.txt"),
        *("README.md", "CHANGELOG.md", "SECURITY.md", "guide", "completions"),
    }
    assert "Register-ArgumentCompleter" in (folder / "completions/_tabiya.ps1").read_text()
    assert b"\r\n" in (folder / "README.txt").read_bytes()
    version = folder.name.removeprefix("tabiya-")
    program = (folder / "tabiya.exe").read_bytes()
    assert "ProductVersion".encode("utf-16-le") in program and version.encode("utf-16-le") in program
    shutil.copy(engine, folder / "stockfish.exe")
    Book().line(" ".join(LINE)).write(folder / "my book.bin")
    command = ["wine", str(folder / "tabiya.exe")]
    # Nothing is set in the tabiya.toml of the archive, so init may replace it.
    out = succeeds([*command, "init", "--yes"], cwd=folder)
    assert "All is well." in out and "my book.bin" in out, out
    assert "All is well." in succeeds([*command, "doctor"], cwd=folder)
    play(command, folder, LINE)
    done = run([*command, "init", "--yes"], cwd=folder)
    assert done.returncode == 3 and "--force" in done.stderr, done.stderr


@on_linux
def test_lintian_finds_no_error_in_the_package():
    package = only(f"tabiya_*_{DEBIAN}.deb")
    found = run(["lintian", "--fail-on", "error,warning", package])
    assert found.returncode == 0, found.stdout + found.stderr
    fields = succeeds(["dpkg-deb", "--field", package])
    assert re.search(r"^Maintainer: .+ <[^<>@ ]+@[^<>@ ]+>$", fields, re.M), fields
    assert re.search(r"^Depends: \S", fields, re.M), fields


@on_linux
def test_the_package_is_installed_used_and_removed_in_a_bare_debian(tmp_path):
    assert os.geteuid() == 0 and shutil.which("debootstrap"), "a bare Debian needs root and debootstrap: run scripts/try-package"
    root = tmp_path / "debian"
    mirror = os.environ.get("TABIYA_DEBIAN_MIRROR", "")
    succeeds(["debootstrap", "--variant=minbase", "bookworm", root, *([mirror] if mirror else [])])
    package = only(f"tabiya_*_{DEBIAN}.deb")
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
