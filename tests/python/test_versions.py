"""One wheel for Python 3.10 and later: incompatibilities are found without running other versions."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gardenpath

OLDEST = "3.10"


def run(checker: str, *arguments: object) -> str:
    """Runs a checker, which must report nothing."""
    program = shutil.which(checker, path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip(f"{checker} is not installed")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_compiled_module_uses_the_stable_interface_alone() -> None:
    module = gardenpath._core.__file__
    assert ".abi3." in module
    said = run("abi3audit", "--strict", "--verbose", "--assume-minimum-abi3", OLDEST, module)
    assert "1 extensions scanned" in said


def test_the_sources_need_no_later_version() -> None:
    sources = Path(gardenpath.__file__).parent
    assert f"Minimum required versions: {OLDEST}" in run("vermin", f"--target={OLDEST}-", "--violations", sources)
