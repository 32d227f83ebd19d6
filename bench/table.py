"""The table of bench/README.md, made of the JSON of `bench/run`."""

from __future__ import annotations

import re
from typing import Any

import results

README = results.REPOSITORY / "bench/README.md"
BLOCK = re.compile(r"(<!-- bench/run --table (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)

TIMES = ("us", "ms", "s", "min")
"""Units of which less is better."""

HEADER = """\
| row | work | measured | limit | of the limit | peer | times as fast |
|---|---|---|---|---|---|---|
"""


def shown(value: float) -> str:
    """Write a number with three digits or as a whole number."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def share(entry: dict[str, Any]) -> float | None:
    """How near the measured value is to its limit; 1 would be the limit."""
    limit = entry.get("limit")
    if limit is None:
        return None
    return limit / entry["value"] if entry["unit"] in TIMES else entry["value"] / limit


def line(name: str, entry: dict[str, Any]) -> str:
    """One row of the table."""
    part = share(entry)
    limit = f"{shown(entry['limit'])}: {entry['limited_by']}" if part is not None else ""
    ratio = entry.get("peer_ratio")
    cells = [
        f"`{name}`",
        entry["work"],
        f"{shown(entry['value'])} {entry['unit']}",
        limit,
        f"{part:.0%}" if part is not None else "",
        entry["peer"] if ratio is not None else "",
        shown(ratio) if ratio is not None else "",
    ]
    return "| " + " | ".join(cells) + " |\n"


def markdown(document: dict[str, Any]) -> str:
    """The table of a document, and what it was measured on."""
    table = HEADER
    for name, row in document["rows"].items():
        table += "".join(line(name, entry) for entry in row["entries"])
    machine, limits = document["machine"], document["limits"]
    dates = sorted({row["date"] for row in document["rows"].values()})
    commits = sorted({row["commit"] for row in document["rows"].values()})
    versions = sorted({row["version"] for row in document["rows"].values()})
    return table + (
        f"\n{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}; "
        f"measured {' to '.join(dict.fromkeys((dates[0], dates[-1])))}, version {', '.join(versions)}, "
        f"commit {', '.join(commits)}. One core manages "
        f"{limits['f64_flops'] / 1e9:.0f} GFLOP/s in double and {limits['f32_flops'] / 1e9:.0f} in single precision (fused "
        f"multiply-adds in registers), {limits['draws'] / 1e9:.2g} billion random numbers, {limits['increments'] / 1e9:.2g} billion "
        f"increments of counters and {limits['bytes_read'] / 1e9:.0f} GB read from memory per second.\n"
    )


def write_readme(name: str) -> None:
    """Put the table of these results into the README."""
    if not results.is_name(name) or not results.path_of(name).exists():
        known = sorted(path.stem for path in results.RESULTS.glob("*.json"))
        raise ValueError(f"there are no results {name}; there are {', '.join(known) or 'none'}")
    text = README.read_text()
    if not BLOCK.search(text):
        raise ValueError("bench/README.md has no place for the table")
    block = f"<!-- bench/run --table {name} -->\n{markdown(results.stored(name))}<!-- end -->"
    README.write_text(BLOCK.sub(lambda _: block, text))


def is_current() -> bool:
    """Tell whether the README shows the table of the results that it names, or none if nothing was measured."""
    found = BLOCK.search(README.read_text())
    if found is None:
        return False
    measured = results.path_of(found[2]).exists()
    return found[3] == (markdown(results.stored(found[2])) if measured else "")
