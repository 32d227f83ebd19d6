"""Results of benchmarks: one JSON file for each machine, with date, commit and version of each row."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
RESULTS = REPOSITORY / "bench/results"

Document = dict[str, Any]


def processor() -> str:
    """Name the processor, as far as it is known."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def machine_name() -> str:
    """Make a file name of the processor and its cores."""
    words = re.sub(r"\(.*?\)|processor|cpu|@.*", " ", processor().lower())
    slug = re.sub(r"[^a-z0-9]+", "-", words).strip("-") or "machine"
    return f"{slug}-{os.cpu_count()}"


def is_name(name: str) -> bool:
    """Tell whether a name can be that of a file here."""
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", name) is not None


def path_of(name: str) -> Path:
    """Where the results of this name are."""
    return RESULTS / f"{name}.json"


def stored(name: str) -> Document:
    """Read results that exist."""
    document: Document = json.loads(path_of(name).read_text())
    return document


def begin(name: str) -> Document:
    """Read the results so far, if there are any; the machine is this one."""
    document = stored(name) if path_of(name).exists() else {"rows": {}}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    document["machine"] = {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory / 2**30),
        "system": platform.system(),
    }
    return document


def save(name: str, document: Document) -> Path:
    """Write results; a reader sees the old file or the new one."""
    path = path_of(name)
    path.parent.mkdir(exist_ok=True)
    parts = {key: document[key] for key in ("machine", "limits", "rows") if key in document}
    new = path.with_suffix(".new")
    new.write_text(json.dumps(parts, indent=1) + "\n")
    new.replace(path)
    return path


def git(*words: str) -> str:
    """Ask git; nothing where there is no repository."""
    command = ["git", "-C", str(REPOSITORY), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def stamp(entries: list[Document]) -> Document:
    """Say when and with what a row was measured."""
    changed = "+" if git("status", "--porcelain", "--untracked-files=no") else ""
    with (REPOSITORY / "Cargo.toml").open("rb") as file:
        version = tomllib.load(file)["workspace"]["package"]["version"]
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "version": version,
        "commit": git("rev-parse", "--short", "HEAD") + changed,
        "load": round(os.getloadavg()[0], 1),
        "entries": entries,
    }
