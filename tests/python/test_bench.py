"""The plumbing of bench/run, without long measurements, and the table that bench/README.md shows."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
LIMITS = {"f64_flops": 5e10, "f32_flops": 1e11, "draws": 9e8, "increments": 1e9, "bytes_read": 2e10}


@pytest.fixture(scope="module")
def run() -> Iterator[ModuleType]:
    """The script as a module; it finds its own modules."""
    loader = importlib.machinery.SourceFileLoader("bench_run", str(BENCH / "run"))
    spec = importlib.util.spec_from_loader("bench_run", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    path = list(sys.path)
    loader.exec_module(module)
    yield module
    sys.path[:] = path


def test_the_readme_shows_the_stored_results(run: ModuleType) -> None:
    assert run.table.is_current(), "run bench/run --table NAME"


def test_rows_are_stored_and_shown(
    run: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, results = run.rows, run.results
    entries = [rows.Entry("slow", 20.0, "ms", 5.0, "thinking"), rows.Entry("fast", 3e8, "tokens/s", 4e8, "x", "NumPy", 12.3)]
    known = {"first": rows.Row("one", lambda bench: iter(entries)), "second": rows.Row("two", lambda bench: iter(entries[:1]), True)}
    monkeypatch.setattr(rows, "ROWS", known)
    monkeypatch.setattr(rows.Bench, "limits", LIMITS)
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    monkeypatch.setattr(results, "REPOSITORY", tmp_path)
    monkeypatch.setattr(results, "stamp", lambda entries: {"date": "2026-01-02", "version": "1", "commit": "c", "entries": entries})
    for arguments in (["second"], []):
        monkeypatch.setattr(sys, "argv", ["run", "--name", "here", *arguments])
        run.main()
    document = json.loads((tmp_path / "here.json").read_text())
    assert list(document["rows"]) == ["first", "second"], "in the order of the table, the expensive one kept"
    assert document["machine"]["cores"] >= 1
    shown = capsys.readouterr().out.splitlines()
    assert "| `first` | slow | 20 ms | 5: thinking | 25% |  |  |" in shown
    assert "| `first` | fast | 300,000,000 tokens/s | 400,000,000: x | 75% | NumPy | 12.3 |" in shown


def test_speeds_of_the_core_are_read(run: ModuleType) -> None:
    text = (
        "one thread, v = 16                                 measured       at least\n"
        "sampling, L = 3, f = 1/4 (tokens/s)                208.10 M        150.0 M\n"
        "one sentence, L = 6, f = 1, 244 tokens              0.042 s        0.2 s max\n"
        "next-token rows, cfg3f, 251 tokens                  0.05 ms       1.0 ms max\n"
    )
    speeds = run.rows.speeds(text)
    assert run.rows.of(speeds, "sampling") == pytest.approx(208.1e6)
    assert list(speeds.values())[1:] == pytest.approx([0.042, 5e-5])
    with pytest.raises(run.rows.Failure, match="does not print 'counting'"):
        run.rows.of(speeds, "counting")


def test_commands_that_fail_are_one_line(run: ModuleType) -> None:
    with run.rows.Bench(1, None) as bench, pytest.raises(run.rows.Failure) as failure:
        bench.run(sys.executable, "-c", "raise SystemExit('first\\nlast')")
    assert str(failure.value).endswith("last") and "\n" not in str(failure.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "there is no row nothing; there are inside, deep, "),
        (["--rounds", "0"], "--rounds: expected at least 1"),
        (["--name", "../x"], "--name: expected letters, digits, dots and dashes, not '../x'"),
        (["--table", "nobody"], "there are no results nobody; there are "),
        (["--table", "x", "inside"], "--table only writes the table: do not ask for rows"),
        (["--all", "inside"], "--all measures every row: do not name some"),
    ],
)
def test_bad_arguments_are_one_line(arguments: list[str], message: str) -> None:
    done = subprocess.run([sys.executable, str(BENCH / "run"), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(f"bench/run: {message}") and done.stderr.count("\n") == 1
