"""The guide as HTML, as packaging/guide makes it: read from files, without a network, in both themes and by phone."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import links  # noqa: E402

MAKE = ROOT / "packaging/guide/make.py"
AXE = os.environ.get("TABIYA_AXE")


def make(folder, *address):
    return subprocess.run([sys.executable, MAKE, folder, *address], check=False, capture_output=True, text=True)


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    # A folder with names that need quotes in addresses.
    folder = tmp_path_factory.mktemp("guide") / "my guide" / "50 % & more"
    done = make(folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def read(browser, guide):
    """Opens a page of the guide; what it asks of a network, and what its scripts complain about, fails the test."""
    contexts, complaints = [], []

    def open_page(name, width=1280, height=800, theme="light"):
        contexts.append(browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme))
        page = contexts[-1].new_page()
        page.on("request", lambda request: complaints.append(request.url) if not request.url.startswith(("file:", "data:")) else None)
        # What the next page cuts short has not failed.
        page.on("requestfailed", lambda request: complaints.append(f"{request.url}: {request.failure}") if "ABORTED" not in request.failure else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((guide / name).as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def test_each_link_and_picture_leads_somewhere(guide):
    found = links.of_folder(guide)
    assert len(found) > 1000, len(found)
    assert not links.broken(guide, found)
    assert not [link for link in found if link.is_shown and "://" in link.target]
    # Each page of the project's guide is one of it, and leads to each other.
    pages = {path.stem for path in (ROOT / "docs/guide").glob("*.md")} - {"README"}
    assert pages <= {path.stem for path in guide.glob("*.html")}
    from_first = {link.target for link in found if link.page == guide / "index.html"}
    assert {f"{page}.html" for page in pages} <= from_first


def test_a_link_that_leads_nowhere_is_found(guide, tmp_path):
    (tmp_path / "other.html").write_text('<h1 id="here">Other</h1>')
    page = tmp_path / "page.html"
    page.write_text('<a href="other.html#here">1</a><a href="other.html#there">2</a><a href="none.html">3</a><a href="../up">4</a><img src="a.png" alt="a">')
    assert links.broken(tmp_path, links.of_folder(tmp_path)) == [f"page.html: {name}" for name in ("other.html#there", "none.html", "../up", "a.png")]
    page.write_text('<img src="other.html">')
    with pytest.raises(AssertionError, match="no alternative text"):
        links.of_folder(tmp_path)


def test_what_is_no_page_is_linked_where_the_project_is(tmp_path):
    address = "https://example.org/blob/v1"
    assert make(tmp_path / "guide", address).returncode == 0
    elsewhere = [link.target for link in links.of_folder(tmp_path / "guide") if link.target.startswith(address)]
    assert f"{address}/CONTRIBUTING.md" in elsewhere
    for target in elsewhere:
        assert (ROOT / target.removeprefix(address + "/").partition("#")[0]).exists(), target


def test_a_folder_with_other_files_is_not_emptied(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    done = make(tmp_path)
    assert done.returncode != 0 and "has other files" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_same_bytes_each_time(guide, tmp_path):
    for _ in range(2):
        assert make(tmp_path / "again").returncode == 0
    files = {path.relative_to(guide): path.read_bytes() for path in guide.rglob("*") if path.is_file()}
    assert files == {path.relative_to(tmp_path / "again"): path.read_bytes() for path in (tmp_path / "again").rglob("*") if path.is_file()}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width, height", [(1280, 900), (390, 844)])
def test_no_page_is_wider_than_its_window(read, guide, shots, width, height, theme):
    page = read("index.html", width, height, theme)
    for path in sorted(guide.rglob("*.html")):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
    for name in ("index.html", "options.html"):
        page.goto((guide / name).as_uri())
        page.screenshot(path=shots / f"guide-{Path(name).stem}-{theme}-{width}.png")
        if AXE:
            page.evaluate(Path(AXE).read_text())
            # Without its own look at the style sheets: Chromium lets no script read a file.
            found = page.evaluate("axe.run(document, {resultTypes: ['violations'], preload: false})")
            bad = [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found["violations"] if one["impact"] in ("serious", "critical")]
            assert bad == []


def test_a_search_leads_to_the_section(read):
    page = read("formats/ctg.html")
    page.keyboard.press("/")
    page.keyboard.type("book threshold")
    found = page.locator("#found")
    first = found.locator("li a").first
    expect(first).to_be_visible()
    expect(page.locator("article")).to_be_hidden()
    # From a page in a folder as from any other.
    target = first.get_attribute("href")
    # The row that explains it comes before sections that only name it.
    assert target == "../options.html#uci-options"
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(re.escape(target.removeprefix("../")) + "$"))
    expect(page.locator("article")).to_contain_text("Threshold")


def test_a_search_for_nothing_and_for_what_is_not_there(read):
    page = read("index.html")
    field, found = page.locator("input[type=search]"), page.locator("#found")
    field.fill("xyzzy (")
    expect(found).to_have_text("Nothing found")
    field.fill("  ")
    expect(page.locator("article")).to_be_visible()
    field.fill("<b>")
    page.keyboard.press("Escape")
    expect(field).to_have_value("")
    expect(found).to_be_hidden()


def test_a_section_of_the_same_page_is_shown_after_a_search(read):
    page = read("options.html")
    page.locator("input[type=search]").fill("the log")
    page.locator('#found a[href$="options.html#the-log"]').click()
    expect(page.locator("article")).to_be_visible()
    expect(page.locator("#the-log")).to_be_in_viewport()


def test_the_theme_is_kept(read):
    page = read("index.html")
    button = page.locator("#theme")
    expect(button).to_have_text("Dark")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    button.click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.reload()
    expect(button).to_have_text("Light")
    button.click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == before


def test_the_pages_are_folded_on_a_phone(read):
    page = read("index.html", 390, 844)
    link = page.locator(".pages a", has_text="Options").first
    expect(link).to_be_hidden()
    page.locator(".pages summary").click()
    link.click()
    expect(page.locator("h1").first).to_have_text("Options")
