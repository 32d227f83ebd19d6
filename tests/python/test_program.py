"""The command installed by pip is the program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import gardenpath

COMMAND = Path(sysconfig.get_path("scripts")) / "gardenpath"


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120)


def test_the_command_is_the_program(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout == f"gardenpath {gardenpath.__version__}\n"
    sample = ("grammar", "sample", "--vocab", "4", "--depth", "2", "--seed", "7")
    assert run(*sample, "-o", "g.pcfg", cwd=tmp_path).returncode == 0
    written, sampled = gardenpath.Grammar.read(tmp_path / "g.pcfg"), gardenpath.Grammar.sample(4, 2, seed=7)
    assert written.fingerprint == sampled.fingerprint
    module = [sys.executable, "-m", "gardenpath", *sample, "--json"]
    output = subprocess.run(module, capture_output=True, text=True, check=True).stdout
    assert json.loads(output)["text"] == (tmp_path / "g.pcfg").read_text()


def test_exit_codes(tmp_path: Path) -> None:
    wrong = run("grammar", "info", "missing.pcfg", cwd=tmp_path)
    assert wrong.returncode == 2 and wrong.stderr.startswith("error: missing.pcfg") and wrong.stderr.count("\n") == 1
    gardenpath.Store(tmp_path / "store")
    missing = run("sweep", "collect", "vectors", "--store", "store", "-o", "r.csv", cwd=tmp_path)
    assert missing.returncode == 1, missing.stderr


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    arguments = "entropy --vocab 16 --depth 5 --fraction 0.5 --grammars 1000".split()
    child = subprocess.Popen([COMMAND, *arguments], cwd=tmp_path, stderr=subprocess.PIPE)
    time.sleep(3)
    os.kill(child.pid, signal.SIGINT)
    assert child.wait(timeout=30) == 130
    assert child.stderr is not None and b"Traceback" not in child.stderr.read()
