"""The pages of docs/formats: what the sources cite exists, and so does what the pages link to."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "formats"


def headings(page):
    """The headings of a page, but for those inside of code blocks."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^#+ (.+?)\s*$", text, re.MULTILINE)


def anchor(heading):
    """The name under which a heading is linked to, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def wrong_citations(text):
    """The citations in a source text that lead nowhere: `docs/formats/ctg.md`, or with a section after a comma."""
    # A citation may be broken over two lines of a comment.
    text = re.sub(r"\n\s*//[/!]? ?", " ", text)
    for found in re.finditer(r"docs/formats/([\w.-]+\.md)(`?)(,? [A-Z][^\n]*)?", text):
        name, quoted, rest = found.groups()
        page = PAGES / name
        if not page.is_file():
            yield found.group()
        elif rest and not quoted and rest.startswith(", "):
            rest = rest[2:]
            cited = (rest.startswith(title) and not rest[len(title) :][:1].isalnum() for title in headings(page))
            if not any(cited):
                yield found.group()


def test_what_the_sources_cite_exists():
    sources = sorted((ROOT / "src").rglob("*.rs"))
    texts = {path: path.read_text(encoding="utf-8") for path in sources}
    assert sum(text.count("docs/formats/") for text in texts.values()) > 20
    wrong = {str(path.relative_to(ROOT)): list(wrong_citations(text)) for path, text in texts.items()}
    assert {path: found for path, found in wrong.items() if found} == {}


def test_a_wrong_citation_is_found():
    assert list(wrong_citations("/// See docs/formats/none.md.")) == ["docs/formats/none.md"]
    assert list(wrong_citations("/// A thing (docs/formats/ctg.md, No such section).")) != []
    for sound in [
        "/// A thing (docs/formats/ctg.md, Move table).",
        "//! described in `docs/formats/ctg.md`, which is long.",
        "/// A thing (docs/formats/ctg.md,\n    /// Move table).",
        "/// Described in docs/formats/ctg.md. Another sentence.",
    ]:
        assert list(wrong_citations(sound)) == [], sound


def test_what_the_pages_link_to_exists():
    for page in PAGES.glob("*.md"):
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            if "://" in target:
                continue
            name, _, section = target.partition("#")
            linked = (page.parent / name) if name else page
            assert linked.is_file(), f"{page.name}: {target}"
            assert not section or section in map(anchor, headings(linked)), f"{page.name}: {target}"


def test_every_page_is_in_the_table_of_the_first():
    table = (PAGES / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| \[[\w.-]+\]\(([\w.-]+)\)", table, re.MULTILINE))
    assert listed == {page.name for page in PAGES.glob("*.md")} - {"README.md"}
