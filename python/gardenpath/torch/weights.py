"""Weights as safetensors files: byte-identical to the program's, with their checksums.

The format is simple enough that a reader of 40 lines needs no other package: eight bytes for the size of a JSON header, the
header with type, shape and offsets of each tensor, then the data.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["read_weights", "write_weights"]

_TYPES = {"F32": "<f4", "F64": "<f8", "I64": "<i8"}
_LARGEST_HEADER = 100_000_000


def read_weights(path: str | os.PathLike[str]) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The tensors of a safetensors file by name, and its metadata. A checksum, if present, must be correct.

    >>> import tempfile, numpy
    >>> from gardenpath.torch import read_weights, write_weights
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = f"{directory}/weights.safetensors"
    ...     write_weights(path, {"readout": numpy.ones((2, 3), dtype="float32")}, {"note": "six ones"})
    ...     tensors, metadata = read_weights(path)
    >>> tensors["readout"].shape, metadata["note"]
    ((2, 3), 'six ones')
    """
    content = Path(path).read_bytes()
    try:
        size = int.from_bytes(content[:8], "little")
        if len(content) < 8 or size > min(len(content) - 8, _LARGEST_HEADER):
            raise ValueError("the header is incomplete")
        header = json.loads(content[8 : 8 + size])
        metadata = header.pop("__metadata__", {})
        tensors = {name: _tensor(name, place, memoryview(content)[8 + size :]) for name, place in sorted(header.items())}
        known = metadata.get("checksum")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path}: not a readable safetensors file: {error}") from error
    if known is not None and known != _checksum(tensors, metadata):
        raise ValueError(f"{path}: the checksum is wrong, the file is damaged")
    return tensors, metadata


def write_weights(
    path: str | os.PathLike[str], tensors: Mapping[str, NDArray[np.float32]], metadata: Mapping[str, str] | None = None
) -> None:
    """Writes a float32 safetensors file with a checksum, like the program: the same contents give the same bytes.

    The file is replaced atomically. See `read_weights` for an example.
    """
    values = {name: np.asarray(tensor, dtype="<f4") for name, tensor in sorted(tensors.items())}
    texts = dict(sorted({"format": "pt", **(metadata or {})}.items()))
    texts["checksum"] = _checksum(values, texts)
    header: dict[str, Any] = {"__metadata__": texts}
    end = 0
    for name, tensor in values.items():
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [end, end + tensor.nbytes]}
        end += tensor.nbytes
    text = json.dumps(header, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    target = Path(path)
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            file.writelines(tensor.tobytes() for tensor in values.values())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _tensor(name: str, place: dict[str, Any], data: memoryview) -> NDArray[Any]:
    if place["dtype"] not in _TYPES:
        raise ValueError(f"tensor '{name}' has type {place['dtype']}")
    dtype = np.dtype(_TYPES[place["dtype"]])
    shape, (start, end) = place["shape"], place["data_offsets"]
    if not 0 <= start <= end <= len(data) or end - start != dtype.itemsize * math.prod(shape):
        raise ValueError(f"tensor '{name}' has invalid offsets")
    return np.frombuffer(data[start:end], dtype).reshape(shape)


def _checksum(tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> str:
    """A hash of all metadata except the checksum itself, and of the tensors in alphabetical order."""
    digest = hashlib.sha256()

    def parts() -> Iterator[bytes]:
        for key, text in sorted(metadata.items()):
            if key != "checksum":
                yield key.encode()
                yield text.encode()
        for name, tensor in sorted(tensors.items()):
            yield name.encode()
            yield np.array(tensor.shape, dtype="<u8").tobytes()
            yield tensor.tobytes()

    for part in parts():
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
