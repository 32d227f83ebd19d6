"""Progress: a line on stderr in terminals, a bar in notebooks, nothing elsewhere."""

from __future__ import annotations

import html
import shutil
import sys
import time
from types import TracebackType
from typing import Any

__all__ = ["Bar"]

# Seconds between updates.
_PAUSE = 0.1


def _notebook() -> Any:
    """The display function of the notebook that runs this code, or None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return sys.modules.get("IPython.display")


class Bar:
    """Shows the progress of some work, if anybody can see it; removed when the work is done."""

    def __init__(self, name: str, *, shown: bool = True) -> None:
        self._name = name
        self._display = _notebook() if shown else None
        self._terminal = shown and self._display is None and sys.stderr is not None and sys.stderr.isatty()
        self._handle: Any = None
        self._began = time.monotonic()
        self._first: int | None = None
        self._changed = 0.0

    def show(self, done: int, total: int, text: str = "") -> None:
        """Shows that `done` of `total` is finished; updates at most ten times a second, except at the end."""
        if self._display is None and not self._terminal:
            return
        now = time.monotonic()
        if self._first is None:
            self._first = done
        if now - self._changed < _PAUSE and done < total:
            return
        self._changed = now
        left = _time((now - self._began) / max(done - self._first, 1) * max(total - done, 0))
        pace = f"{left} left" if done > self._first else ""
        words = " · ".join(part for part in (self._name, f"{done:,} of {total:,}", text, pace) if part)
        if self._display is None:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{words[:width]}")
            sys.stderr.flush()
            return
        # Screen readers and printed notebooks show only the text.
        bar = f'<progress value="{done}" max="{max(total, 1)}" style="width: 20em"></progress> {html.escape(words)}'
        data = {"text/html": bar, "text/plain": words}
        if self._handle is None:
            self._handle = self._display.display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._terminal and self._first is not None:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


def _time(seconds: float) -> str:
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
