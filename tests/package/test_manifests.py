"""The manifests of winget, Scoop and Homebrew, the notes of a release, and the workflows: all without building anything."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML
from schemas import SCOOP, WINGET

ROOT = Path(__file__).parents[2]
VERSION = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.M).group(1)
ADDRESS = "https://git.example.org/chess/tabiya"
ARCHIVES = ["linux-x86_64.tar.gz", "linux-aarch64.tar.gz", "macos-aarch64.tar.gz", "macos-x86_64.tar.gz", "windows-x86_64.zip"]


def package(project, *words):
    return subprocess.run(
        [project / "scripts/package", *map(str, words)],
        env={"PATH": "/usr/bin:/bin", "TABIYA_REPOSITORY": ADDRESS},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture
def project(tmp_path):
    """What scripts/package needs of the project, to be changed."""
    project = tmp_path / "project"
    for name in ("scripts", "packaging"):
        shutil.copytree(ROOT / name, project / name)
    for name in ("Cargo.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, project)
    return project


@pytest.fixture
def dist(tmp_path):
    """A folder with all archives of a release, as far as their names go."""
    dist = tmp_path / "dist"
    dist.mkdir()
    for end in ARCHIVES:
        (dist / f"tabiya-{VERSION}-{end}").write_text(end)
    return dist


def downloads(pairs, dist):
    """Each address is that of an archive, and its sum the archive's."""
    for url, sum_ in pairs:
        start = f"{ADDRESS}/releases/download/v{VERSION}/"
        assert url.startswith(start), url
        assert sum_ == hashlib.sha256((dist / url.removeprefix(start)).read_bytes()).hexdigest(), url


def test_the_manifests_are_those_that_winget_and_scoop_accept(project, dist):
    done = package(project, "--finish", dist)
    assert done.returncode == 0, done.stderr
    files = sorted((dist / "manifests/winget").iterdir())
    assert len(files) == len(WINGET)
    for file in files:
        end = next(end for end in WINGET if file.name.endswith(end))
        manifest = YAML(typ="safe", pure=True).load(file)
        jsonschema.validate(manifest, WINGET[end])
        # winget's own collection asks for these names.
        assert file.name == manifest["PackageIdentifier"] + end
        installers = manifest.get("Installers", [])
        downloads([(one["InstallerUrl"], one["InstallerSha256"]) for one in installers], dist)
    scoop = json.loads((dist / "manifests/scoop/tabiya.json").read_text())
    jsonschema.validate(scoop, SCOOP)
    downloads([(one["url"], one["hash"]) for one in scoop["architecture"].values()], dist)


def test_the_formula_has_a_download_for_each_system_of_homebrew(project, dist):
    assert shutil.which("ruby"), "there is no ruby: scripts/try-package installs it"
    assert package(project, "--finish", dist).returncode == 0
    formula = dist / "manifests/homebrew/tabiya.rb"
    done = subprocess.run(
        ["ruby", Path(__file__).with_name("formula.rb"), formula], capture_output=True, text=True, timeout=600, check=True
    )
    read = json.loads(done.stdout)
    fields = read["fields"]
    assert fields["class"] == "Tabiya" and fields["version"] == VERSION and fields["install"] and fields["test"]
    assert fields["license"] == "GPL-3.0-or-later" and fields["homepage"] == ADDRESS
    # Homebrew's own rules for a description.
    assert len(fields["desc"]) < 80 and not fields["desc"].endswith(".") and not fields["desc"].startswith(("A ", "The "))
    assert set(read["downloads"]) == {"macos-arm", "macos-intel", "linux-arm", "linux-intel"}
    for system, one in read["downloads"].items():
        processor = {"arm": "aarch64", "intel": "x86_64"}[system.partition("-")[2]]
        assert one["url"].endswith(f"-{system.partition('-')[0]}-{processor}.tar.gz"), one
    downloads([(one["url"], one["sha256"]) for one in read["downloads"].values()], dist)


def test_an_archive_that_is_missing_is_an_error(project, dist):
    (dist / f"tabiya-{VERSION}-macos-x86_64.tar.gz").unlink()
    done = package(project, "--finish", dist)
    assert done.returncode == 1 and "macos-x86_64.tar.gz is not in" in done.stdout, done
    assert not (dist / "manifests/homebrew/tabiya.rb").exists()


@pytest.mark.parametrize("heading", [f"## {VERSION}", f"## {VERSION} - 2026-01-02", f"## [{VERSION}] - 2026-01-02"])
def test_the_notes_are_the_section_of_the_version(project, heading):
    (project / "CHANGELOG.md").write_text(f"# Changelog\n\n## Unreleased\n\n- no\n\n{heading}\n\n### Added\n\n- yes\n\n## {VERSION}0\n\n- no\n")
    done = package(project, "--notes")
    advice = (project / "packaging/download.md").read_text()
    assert (done.returncode, done.stdout) == (0, f"### Added\n\n- yes\n{advice}"), done
    # What Windows and macOS ask for when they do not know a program.
    assert "SmartScreen" in advice and "quarantine" in advice


@pytest.mark.parametrize("text", ["## Unreleased\n\n- no\n", f"## {VERSION}\n\n## 0.0.1\n\n- no\n"])
def test_notes_without_anything_in_them_are_an_error(project, text):
    (project / "CHANGELOG.md").write_text(text)
    done = package(project, "--notes")
    assert done.returncode == 1 and VERSION in done.stderr and done.stdout == "", done


def test_the_workflows_are_valid_and_pin_each_action():
    workflows = sorted((ROOT / ".github/workflows").glob("*.yml"))
    checks = [("vendor.github-workflows", workflows), ("vendor.dependabot", [ROOT / ".github/dependabot.yml"])]
    for schema, files in checks:
        done = subprocess.run(
            [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *files],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout
    for workflow in workflows:
        for name in re.findall(r"\buses: +(.*)", workflow.read_text()):
            assert name.startswith("./") or re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", name), name
