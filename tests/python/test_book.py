"""README.md and the book in docs/: examples do what pages show, links lead somewhere, and generated pages are current."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import book
import pytest
import python_reference

PAGES = [page for page in book.pages() if not book.name(page).startswith(book.ELSEWHERE)]
EXECUTED = [page for page in PAGES if any(block.runs for block in book.blocks(page))]

# Documents whose links are checked beside those of the book.
DOCUMENTS = [book.REPOSITORY / name for name in ["DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md"]]


@pytest.mark.parametrize("page", EXECUTED, ids=book.name)
def test_a_page_does_what_it_shows(page: Path) -> None:
    if missing := book.needs(page):
        pytest.skip(f"{missing} is not installed: pip install {missing}")
    runner = book.run(page)
    wrong = [f"$ {command.text}\n{said}" for command, said in runner.mismatches()]
    assert not wrong, "python tests/python/book.py --write records these outputs:\n" + "\n".join(wrong)
    assert runner.old_pictures() == [], "python tests/python/book.py --write writes these pictures"


def test_a_page_that_lies_is_caught(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ printf '1.5\\n2\\n'\n1.…\none\n$ echo 0.5 s\n… s\n```\n")
    runner = book.run(page)
    assert [said for _, said in runner.mismatches()] == ["1.5\n2\n"]
    book.record(runner)
    assert page.read_text() == "```console\n$ printf '1.5\\n2\\n'\n1.…\n2\n$ echo 0.5 s\n… s\n```\n"
    page.write_text("```console\n$ false\n```\n")
    with pytest.raises(AssertionError, match="false"):
        book.run(page)
    page.write_text("```python\n>>> 1 + 1\n3\n```\n")
    with pytest.raises(AssertionError, match="Got"):
        book.run(page)


def test_outputs_match_with_gaps() -> None:
    assert book.matches("a … c\n…\nend", "a b c\nx\ny\nend\n\n")
    assert not book.matches("a", "a\nb\n") and not book.matches("a …", "b c\n")


def test_every_block_has_a_language_and_is_run_or_says_why_not() -> None:
    for page in PAGES:
        for block in book.blocks(page):
            where = f"{book.name(page)}:{block.number}"
            assert block.language in {"console", "python", "rust"} | book.SHOWN, where
            if block.language == "rust":
                assert book.name(page) in rust_pages(), f"{where}: crates/gardenpath/src/lib.rs does not include the page"


def rust_pages() -> set[str]:
    """The pages whose Rust examples are tests of the core's documentation."""
    library = (book.REPOSITORY / "crates/gardenpath/src/lib.rs").read_text()
    return set(re.findall(r'include_str!\("\.\./\.\./\.\./(.*?)"\)', library))


def prose(page: Path) -> str:
    """A page without its blocks and code."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "`code`", text)


def links(page: Path) -> Iterator[str]:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if not re.match(r"[a-z]+:", target):
            yield target


def anchors(page: Path) -> set[str]:
    """The anchors of headings, as GitHub and mdBook name them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", plain.strip().lower()))
        number = next(k for k in range(1000) if (anchor if k == 0 else f"{anchor}-{k}") not in found)
        found.add(anchor if number == 0 else f"{anchor}-{number}")
    return found


@pytest.mark.parametrize("page", [*book.pages(), *DOCUMENTS], ids=book.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{book.name(page)} links to {target}"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{book.name(page)} links to {target}; there are {sorted(anchors(file))}"
        # mdBook copies the files of docs/ and no others.
        if book.BOOK in page.parents:
            assert book.BOOK in file.parents, f"{book.name(page)} links to {target}, which is not part of the book"


def test_the_summary_lists_every_page_once() -> None:
    summary = book.BOOK / "SUMMARY.md"
    listed = [(book.BOOK / target).resolve() for target in links(summary)]
    assert len(listed) == len(set(listed))
    assert set(listed) == set(book.pages()) - {summary, book.REPOSITORY / "README.md"}


def test_the_readme_is_short() -> None:
    assert len((book.REPOSITORY / "README.md").read_text().splitlines()) <= 150


@pytest.mark.parametrize("page", python_reference.PAGES, ids=lambda page: page.file)
def test_the_python_reference_is_current(page: python_reference.Page) -> None:
    for module, library in {"gardenpath.torch": "torch", "gardenpath.learner": "sklearn"}.items():
        if module in page.contents:
            pytest.importorskip(library)
    assert page.path.read_text() == page.text(), "python tests/python/book.py --write generates it"


def test_the_python_reference_is_complete() -> None:
    assert python_reference.missing() == set()


def test_mdbook_builds_it(tmp_path: Path) -> None:
    mdbook = shutil.which("mdbook")
    if mdbook is None:
        pytest.skip("mdbook is not installed: cargo install mdbook --no-default-features")
    done = subprocess.run([mdbook, "build", book.BOOK, "--dest-dir", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0 and "WARN" not in done.stdout + done.stderr, done.stderr
    assert (tmp_path / "index.html").exists()
