"""The program `gardenpath`: also `python -m gardenpath`."""

import os
import sys

from . import _core


def main() -> None:
    """Runs the program with the arguments of this process, and ends the process with its exit code."""
    script = os.path.abspath(sys.argv[0])
    sys.stdout.flush()
    sys.exit(_core._main(script, sys.argv[1:]))


if __name__ == "__main__":
    main()
