"""The program `gardenpath`: also `python -m gardenpath`."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path


def find_program() -> Path:
    """The program installed with this package."""
    name = "gardenpath" + (sysconfig.get_config_var("EXE") or "")
    schemes = (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user"))
    places = [Path(sysconfig.get_path("scripts", scheme)) for scheme in schemes]
    # Created by `pip install --target`.
    places.append(Path(__file__).parents[1] / "bin")
    for place in places:
        if (place / name).is_file():
            return place / name
    raise FileNotFoundError(f"{name} is in none of {', '.join(map(str, places))}; reinstall gardenpath")


def main() -> None:
    """Replaces this process by the program, with the same arguments."""
    command = [os.fsdecode(find_program()), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(command[0], command)
    sys.exit(subprocess.call(command))


if __name__ == "__main__":
    main()
