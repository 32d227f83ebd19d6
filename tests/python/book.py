"""Runs what README.md and the book in docs/ show, and generates the pages of the Python reference.

python tests/python/book.py                 # run all pages
python tests/python/book.py tutorials/train # run the pages whose path contains this
python tests/python/book.py --write         # record the outputs of commands and generate the Python reference

Each page runs from top to bottom in an empty directory of its own:

- `console`: lines after `$ ` are run by bash. If the page shows output, it must match; `…` stands for any text, and a line of
  its own for any lines.
- `python`: run with the names of the blocks above it. Lines after `>>> ` must print what the page shows.
- any language, first line `# name.ext`: written to that file, not run.
- a picture of docs/images that the page shows and its commands write must be the picture that they write.

A block that cannot be run has a comment before it: `<!-- not run: reason -->`.
"""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
BOOK = REPOSITORY / "docs"

# Languages of blocks that are shown and not run; rs is a part of a Rust file.
SHOWN = {"text", "json", "toml", "bibtex", "rs"}

# Pages whose blocks another test runs: crates/gardenpath-cli/tests/json.rs and tests/python/test_doctests.py.
ELSEWHERE = ("docs/reference/json.md", "docs/reference/python/")

# Stands in for sbatch: runs all tasks of an array at once, and numbers every job 1.
SBATCH = r"""#!/bin/sh
[ "$1" = --version ] && exit
for word; do
    case "$word" in --array=1-*) tasks=${word#--array=1-} ;; esac
    script=$word
done
for task in $(seq "$tasks"); do
    SLURM_ARRAY_TASK_ID=$task SLURMD_NODENAME=n1 sh "$script" > /dev/null 2>&1
done
echo 1
"""


@dataclass
class Block:
    """A fenced block: its language, its lines, the number of the first one, and the comment before it."""

    language: str
    lines: list[str]
    number: int
    comment: str

    @property
    def file(self) -> str | None:
        """The file that the block is the text of."""
        found = re.fullmatch(r"# ([\w.-]+\.\w+)", self.lines[0]) if self.lines else None
        return found[1] if found else None

    @property
    def runs(self) -> bool:
        return self.file is not None or (self.language not in SHOWN | {"rust"} and not self.comment.startswith("not run: "))


@dataclass
class Command:
    """A command of a console block, and the output that the page shows."""

    text: str
    number: int
    shown: list[str] = field(default_factory=list)


def pages() -> list[Path]:
    """All pages: README.md and the book."""
    book = [page for page in BOOK.rglob("*.md") if BOOK / "report" not in page.parents]
    return [REPOSITORY / "README.md", *sorted(book)]


def name(page: Path) -> str:
    return page.relative_to(REPOSITORY).as_posix() if page.is_relative_to(REPOSITORY) else page.name


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    comment, inside = "", False
    for number, line in enumerate(page.read_text().splitlines()):
        if line.startswith("```"):
            inside = not inside
            if inside:
                found.append(Block(line[3:], [], number + 1, comment))
        elif inside:
            found[-1].lines.append(line)
        if line.strip() and not inside:
            remark = re.fullmatch(r"<!-- (.*) -->", line)
            comment = remark[1] if remark else ""
    assert not inside, f"{name(page)}: a block is not closed"
    return found


def commands(block: Block) -> list[Command]:
    found: list[Command] = []
    for number, line in enumerate(block.lines):
        if line.startswith("$ "):
            found.append(Command(line[2:], block.number + number))
        elif found and (found[-1].text.endswith("\\") and not found[-1].shown):
            found[-1].text += "\n" + line
            found[-1].number += 1
        else:
            assert found, f"line {block.number + number + 1}: output without a command"
            found[-1].shown.append(line)
    return found


def matches(shown: str, said: str) -> bool:
    """Whether an output is the one that a page shows; `…` is any text, and a line of its own any lines."""
    lines = ["(?:.*\n)*" if line == "…" else re.escape(line).replace("…", ".*") + "\n" for line in shown.splitlines()]
    return re.fullmatch("".join(lines), tidy(said)) is not None


def tidy(said: str) -> str:
    """An output as pages show it: without spaces at the ends of lines, and without empty lines at its end."""
    return "".join(line.rstrip() + "\n" for line in said.rstrip().splitlines())


class Checker(doctest.OutputChecker):
    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return matches(want, got)


@dataclass
class Runner:
    """Runs the blocks of a page in a directory."""

    page: Path
    directory: Path
    # The output of each command, by the number of its line.
    outputs: dict[int, str] = field(default_factory=dict)
    # The pictures that the page shows and its commands wrote.
    pictures: dict[Path, bytes] = field(default_factory=dict)
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__page__"})

    def run(self) -> None:
        with contextlib.chdir(self.directory):
            for block in blocks(self.page):
                where = f"{name(self.page)}:{block.number}"
                if not block.runs:
                    continue
                if block.file is not None:
                    Path(block.file).write_text("\n".join(block.lines[1:]).lstrip("\n") + "\n")
                elif block.language == "console":
                    for command in commands(block):
                        self.console(command)
                elif block.language == "python":
                    self.python(block, where)
                else:
                    raise AssertionError(f"{where}: nobody runs {block.language or 'a block without a language'}")
            for picture in re.findall(r"images/([\w.-]+)\)", self.page.read_text()):
                for made in Path().rglob(picture):
                    self.pictures[BOOK / "images" / picture] = made.read_bytes()

    def console(self, command: Command) -> None:
        where = f"{name(self.page)}:{command.number + 1}: {command.text}"
        # The program and the Python that the package is installed in, and commands that stand in for Slurm's.
        path = [str(self.stand_ins()), str(Path(sys.executable).parent), os.environ["PATH"]]
        environment = os.environ | {"PATH": os.pathsep.join(path), "SOURCE_DATE_EPOCH": "1700000000"}
        shell = ["bash", "-c", f"set -o pipefail\n{command.text}"]
        done = subprocess.run(shell, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0 or "error: " in "\n".join(command.shown), f"{where}\n{done.stdout}"
        self.outputs[command.number] = done.stdout

    def stand_ins(self) -> Path:
        directory = self.directory.with_name(self.directory.name + "-bin")
        if not directory.exists():
            directory.mkdir()
            for name, text in [("sbatch", SBATCH), ("squeue", "#!/bin/sh\n")]:
                (directory / name).write_text(text)
                (directory / name).chmod(0o755)
        return directory

    def python(self, block: Block, where: str) -> None:
        text = "\n".join(block.lines) + "\n"
        if not text.startswith(">>> "):
            exec(compile(text, where, "exec"), self.names)
            return
        test = doctest.DocTestParser().get_doctest(text, {}, where, str(self.page), block.number)
        test.globs = self.names
        said: list[str] = []
        result = doctest.DocTestRunner(Checker(), verbose=False).run(test, out=said.append, clear_globs=False)
        assert result.failed == 0, "".join(said)

    def old_pictures(self) -> list[str]:
        """The pictures of the book that are not those that the page makes."""
        return [path.name for path, data in self.pictures.items() if not path.exists() or path.read_bytes() != data]

    def mismatches(self) -> Iterator[tuple[Command, str]]:
        """The commands that printed something else than the page shows."""
        for block in blocks(self.page):
            if block.language == "console":
                for command in commands(block):
                    said = self.outputs.get(command.number)
                    if said is not None and command.shown and not matches("\n".join(command.shown), said):
                        yield command, said


def needs(page: Path) -> str | None:
    """A library that the examples of a page need and that is not installed."""
    code = "\n".join(line for block in blocks(page) if block.runs for line in block.lines)
    signs = {"torch": "import torch", "sklearn": "import GrammarLearner"}
    return next((library for library, sign in signs.items() if sign in code and find_spec(library) is None), None)


def run(page: Path) -> Runner:
    """Runs a page in an empty directory."""
    with tempfile.TemporaryDirectory() as directory:
        inner = Path(directory) / "page"
        inner.mkdir()
        runner = Runner(page, inner)
        runner.run()
    return runner


def record(runner: Runner) -> None:
    """Writes the outputs that commands printed into their page, where they differ from what it shows; times become `…`."""
    lines = runner.page.read_text().splitlines()
    for command, said in reversed(list(runner.mismatches())):
        start, new = command.number + 1, re.sub(r"\b[\d.]+ s\b", "… s", tidy(said)).splitlines()
        if len(new) == len(command.shown):
            # Lines that match keep their gaps.
            new = [old if matches(old, line) else line for old, line in zip(command.shown, new, strict=True)]
        lines[start : start + len(command.shown)] = new
    runner.page.write_text("\n".join(lines) + "\n")
    for path, data in runner.pictures.items():
        path.write_bytes(data)


def main(arguments: list[str]) -> None:
    flags = {argument for argument in arguments if argument.startswith("--")}
    wanted = [argument for argument in arguments if argument not in flags]
    if "--write" in flags:
        import python_reference

        python_reference.write()
    for page in pages():
        if name(page).startswith(ELSEWHERE) or (wanted and not any(part in name(page) for part in wanted)):
            continue
        if not any(block.runs for block in blocks(page)):
            continue
        print(name(page), flush=True)
        runner = run(page)
        for command, said in runner.mismatches():
            print(f"  {command.number + 1}: $ {command.text}\n{said}")
        for picture in runner.old_pictures():
            print(f"  {picture} is another picture")
        if "--write" in flags:
            record(runner)


if __name__ == "__main__":
    main(sys.argv[1:])
