"""Errors are one line."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def value_error(text: str) -> Iterator[None]:
    """Expects a ValueError of one line that contains this text."""
    with pytest.raises(ValueError) as caught:
        yield
    message = str(caught.value)
    assert text in message and "\n" not in message, message
