"""The program's random numbers in NumPy: named seeds, and one xoshiro256++ stream per item of work.

The generator is xoshiro256++ seeded by SplitMix64, as in the program (crates/gardenpath/src/seed.rs): the same seed
gives the same initial weights, batches and sentences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["Seed", "gaussians", "shuffled"]

Words = NDArray[np.uint64]

_MASK = (1 << 64) - 1
_GOLDEN_GAMMA = 0x9E37_79B9_7F4A_7C15
_FACTORS = (0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB)


@dataclass(frozen=True)
class Seed:
    """A 64-bit key from which independent random streams are derived."""

    key: int

    @staticmethod
    def new(number: int) -> Seed:
        """The seed for a user's number."""
        if not 0 <= number <= _MASK:
            raise ValueError(f"seed is {number}, expected 0 to {_MASK}")
        return Seed(_mix(number + _GOLDEN_GAMMA & _MASK))

    @property
    def number(self) -> int:
        """The user's number for this seed: the mapping is one to one."""
        return _unmix(self.key) - _GOLDEN_GAMMA & _MASK

    def child(self, name: str) -> Seed:
        """The seed of a named part of the work."""
        key = self.key
        for byte in name.encode():
            key = _mix(key ^ byte) + _GOLDEN_GAMMA & _MASK
        return Seed(_mix(key))

    def nth(self, index: int) -> Seed:
        """The seed of the `index`-th of many similar parts."""
        return Seed(_mix(_mix(self.key ^ 0x6E74_6800) + index & _MASK))

    def states(self, first: int, count: int) -> Words:
        """The generators of items `first` to `first + count`: four words each, `[4, count]`."""
        words = np.arange(first, first + count, dtype=np.uint64) + np.uint64(self.key)
        steps = np.arange(1, 5, dtype=np.uint64) * np.uint64(_GOLDEN_GAMMA)
        words = words + steps[:, None]
        words = (words ^ words >> np.uint64(30)) * np.uint64(_FACTORS[0])
        words = (words ^ words >> np.uint64(27)) * np.uint64(_FACTORS[1])
        return words ^ words >> np.uint64(31)


def gaussians(seed: Seed, rows: int, columns: int) -> NDArray[np.float64]:
    """Standard Gaussians by the Box-Muller method, with one random stream per row."""
    words = _words(seed.states(0, rows), columns + columns % 2)
    units = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    radius = np.sqrt(-2.0 * np.log(1.0 - units[0::2]))
    angle = 2.0 * np.pi * units[1::2]
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return np.ascontiguousarray(pairs.reshape(-1, rows)[:columns].T)


def shuffled(seed: Seed, epoch: int, count: int) -> NDArray[np.int64]:
    """The numbers below `count` in the order of an epoch."""
    bounds = np.arange(count, 1, -1, dtype=np.uint64)
    words = _sequence(seed.states(epoch, 1), len(bounds))
    # The upper half of the product of 64 bits and a bound below 32 bits.
    low, half = np.uint64(0xFFFF_FFFF), np.uint64(32)
    places = ((words >> half) * bounds + ((words & low) * bounds >> half)) >> half
    numbers = list(range(count))
    for i, j in zip(range(count - 1, 0, -1), places.tolist(), strict=True):
        numbers[i], numbers[j] = numbers[j], numbers[i]
    return np.array(numbers, dtype=np.int64)


def _mix(word: int) -> int:
    word = (word ^ word >> 30) * _FACTORS[0] & _MASK
    word = (word ^ word >> 27) * _FACTORS[1] & _MASK
    return word ^ word >> 31


def _unmix(word: int) -> int:
    inverses = [pow(factor, -1, 1 << 64) for factor in _FACTORS]
    word = (word ^ word >> 31 ^ word >> 62) * inverses[1] & _MASK
    word = (word ^ word >> 27 ^ word >> 54) * inverses[0] & _MASK
    return word ^ word >> 30 ^ word >> 60


def _words(states: Words, count: int) -> Words:
    """The next words of many generators, `[count, generators]`; advances the generators."""
    found = np.empty((count, states.shape[1]), dtype=np.uint64)
    for k in range(count):
        found[k] = _rotated(states[0] + states[3], 23) + states[0]
        _step(states)
    return found


def _step(states: Words) -> None:
    shifted = states[1] << np.uint64(17)
    states[2] ^= states[0]
    states[3] ^= states[1]
    states[1] ^= states[2]
    states[0] ^= states[3]
    states[2] ^= shifted
    states[3] = _rotated(states[3], 45)


def _rotated(words: Words, bits: int) -> Words:
    rotated: Words = words << np.uint64(bits) | words >> np.uint64(64 - bits)
    return rotated


# A step is linear in the 256 bits of the state, so a long sequence can be split into pieces that are computed in parallel.


def _sequence(state: Words, count: int) -> Words:
    """The next words of one generator."""
    doublings = max(0, (count.bit_length() - 8) // 2)
    piece = -(-count // 2**doublings)
    starts = state
    for k in range(doublings):
        starts = np.concatenate([starts, _jumped(starts, _jump(piece << k))], axis=1)
    return _words(starts, piece).T.ravel()[:count]


def _jumped(states: Words, matrix: NDArray[np.float32]) -> Words:
    return _packed(matrix @ _bits(states) % 2)


@cache
def _jump(steps: int) -> NDArray[np.float32]:
    """The matrix of this many steps, with entries 0 and 1."""
    if steps == 1:
        ones = np.eye(256, dtype=np.float32)
        states = _packed(ones)
        _step(states)
        return _bits(states)
    half = _jump(steps // 2)
    matrix: NDArray[np.float32] = half @ half % 2
    return matrix @ _jump(1) % 2 if steps % 2 else matrix


def _bits(states: Words) -> NDArray[np.float32]:
    """The bits of states as columns, `[256, states]`."""
    places = np.arange(64, dtype=np.uint64)[:, None]
    return (states[:, None] >> places & np.uint64(1)).reshape(256, -1).astype(np.float32)


def _packed(bits: NDArray[np.float32]) -> Words:
    """The states with these bits."""
    places = np.arange(64, dtype=np.uint64)[:, None]
    words: Words = (bits.astype(np.uint64).reshape(4, 64, -1) << places).sum(axis=1, dtype=np.uint64)
    return words
