"""Docstrings of the compiled module in its stubs, where editors look for them.

python tests/python/stub_docs.py        # writes them anew
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from pathlib import Path

import gardenpath
from gardenpath import _core, theory

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "gardenpath"
STUBS = {PACKAGE / "_core.pyi": _core, PACKAGE / "theory.pyi": theory}
WIDTH = 120


def words(value: object) -> str:
    """The docstring of an object without its examples."""
    text = inspect.getdoc(value) or ""
    paragraphs = [part for part in text.split("\n\n") if ">>>" not in part]
    return "\n\n".join(paragraphs).strip()


def docstring(text: str, indent: str) -> list[str]:
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        wrapped = textwrap.wrap(" ".join(paragraph.split()), WIDTH - len(indent), break_on_hyphens=False, break_long_words=False)
        lines += ["", *wrapped] if lines else wrapped
    if len(lines) == 1 and len(indent) + len(lines[0]) + 6 <= WIDTH:
        return [f'{indent}"""{lines[0]}"""']
    first, *rest = lines
    return [f'{indent}"""{first}', *(indent + line if line else "" for line in rest), f'{indent}"""']


def written(path: Path) -> str:
    """The stub with the docstrings of its module."""
    text = path.read_text()
    lines = text.splitlines()
    module = STUBS[path]
    seen: set[str] = set()
    edits: list[tuple[int, int, list[str]]] = []

    def visit(node: ast.AST, owner: object, place: str) -> None:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.ClassDef | ast.FunctionDef) or child.name.startswith("_"):
                continue
            name = f"{place}.{child.name}"
            value = inspect.getattr_static(owner, child.name, None)
            value = value.__func__ if isinstance(value, staticmethod | classmethod) else value
            body = child.body
            old = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str)
            # Of several overloads, the first one has the docstring.
            new = words(value) if name not in seen else ""
            seen.add(name)
            indent = " " * (child.col_offset + 4)
            made = docstring(new, indent) if new else []
            if isinstance(child, ast.ClassDef):
                last = body[0].end_lineno if old else body[0].lineno - 1 - len(getattr(body[0], "decorator_list", []))
                assert last is not None
                first = body[0].lineno if old else last + 1
                edits.append((first - 1, last, made))
                visit(child, value, name)
            else:
                end = child.end_lineno
                assert end is not None
                if old:
                    edits.append((body[0].lineno - 1, end, made or [indent + "..."]))
                elif made:
                    # `def name(…) -> type: ...`
                    edits.append((end - 1, end, [lines[end - 1].removesuffix(" ..."), *made]))

    visit(ast.parse(text), module, module.__name__)
    for first, last, new in sorted(edits, reverse=True):
        lines[first:last] = new
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    assert gardenpath.__file__
    for path in STUBS:
        path.write_text(written(path))
