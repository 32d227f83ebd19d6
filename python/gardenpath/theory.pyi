# Types of `gardenpath.theory`. Functions that return a number also accept arrays.

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeAlias, final, overload

import numpy as np
from numpy.typing import NDArray

from ._results import SampleComplexity, Splits, Topology

__all__ = [
    "ByLength",
    "class_entropy",
    "critical_fraction",
    "grammatical_fraction",
    "length_distribution",
    "mean_branching",
    "mean_candidates",
    "mean_internal_nodes",
    "median_splits",
    "paper_class_entropy",
    "paper_grammatical_fraction",
    "sample_complexity",
    "splits",
    "tree_count",
    "two_level_topologies",
    "typical_length",
]

_Array: TypeAlias = NDArray[Any] | list[float] | list[int] | tuple[float, ...]
_Numbers: TypeAlias = float | _Array
# Values by number of children, such as {2: 0.5, 3: 0.5}.
_ByArity: TypeAlias = Mapping[int, float] | None

@final
class ByLength:
    """One value per possible sentence length."""
    def __new__(cls, min_len: int, values: list[float], logs: list[float]) -> ByLength: ...
    def __getnewargs__(self) -> tuple[int, list[float], list[float]]: ...
    @property
    def lengths(self) -> NDArray[np.int64]:
        """The lengths, from the shortest to the longest."""
    @property
    def values(self) -> NDArray[np.float64]:
        """The values; those out of range are 0 or infinity."""
    @property
    def logs(self) -> NDArray[np.float64]:
        """The natural logarithms of the values, also of those out of range."""
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

def length_distribution(depth: int, *, p_binary: float = 0.5, arities: _ByArity = None) -> ByLength:
    """The distribution of sentence lengths (App. p_of_d)."""
@overload
def mean_branching(*, p_binary: float = 0.5, arities: _ByArity = None) -> float:
    """The mean number of children of a node, `<s>`, which is `3 - p_binary` for two and three children."""
@overload
def mean_branching(*, p_binary: _Array, arities: None = None) -> NDArray[np.float64]: ...
@overload
def typical_length(depth: int, *, p_binary: float = 0.5, arities: _ByArity = None) -> int:
    """The typical sentence length, the integer part of `<s>^depth`; if no tree has it, the next shorter length that some
    tree has.
    """
@overload
def typical_length(depth: _Array, *, p_binary: _Numbers = 0.5, arities: _ByArity = None) -> NDArray[np.int64]: ...
@overload
def typical_length(depth: int, *, p_binary: _Array, arities: None = None) -> NDArray[np.int64]: ...
@overload
def mean_internal_nodes(depth: int, *, p_binary: float = 0.5, arities: _ByArity = None) -> float:
    """The mean number of internal nodes."""
@overload
def mean_internal_nodes(
    depth: _Array, *, p_binary: _Numbers = 0.5, arities: _ByArity = None
) -> NDArray[np.float64]: ...
@overload
def mean_internal_nodes(depth: int, *, p_binary: _Array, arities: None = None) -> NDArray[np.float64]: ...
def tree_count(depth: int, *, arities: Iterable[int] | None = None) -> dict[int, int]:
    """The exact number of tree topologies of each length, `N_t` (App. Nt_app), for nodes with two or three children, or
    any of `arities`.
    """
def grammatical_fraction(
    depth: int,
    fraction: float | None = None,
    *,
    ternary_fraction: float | None = None,
    p_binary: float = 0.5,
    arities: _ByArity = None,
    fractions: _ByArity = None,
) -> ByLength:
    """The fraction of strings of each length that a typical tree can generate (eq. frac_data, with the missing weights).

    `fraction` applies to pairs, and to all other tuples without their own: `ternary_fraction`, or an entry of
    `fractions`.
    """
def paper_grammatical_fraction(
    depth: int,
    fraction: float | None = None,
    *,
    ternary_fraction: float | None = None,
    p_binary: float = 0.5,
    arities: _ByArity = None,
    fractions: _ByArity = None,
) -> ByLength:
    """The same fraction by eq. frac_data as printed."""
@overload
def class_entropy(
    fraction: float | None = None,
    *,
    ternary_fraction: float | None = None,
    p_binary: float = 0.5,
    arities: _ByArity = None,
    fractions: _ByArity = None,
) -> float:
    """The expected class entropy at depth 2 for large vocabularies, in nats. It is known if at most 20 trees have the same
    length.
    """
@overload
def class_entropy(
    fraction: _Array,
    *,
    ternary_fraction: _Numbers | None = None,
    p_binary: _Numbers = 0.5,
    arities: _ByArity = None,
    fractions: _ByArity = None,
) -> NDArray[np.float64]: ...
@overload
def class_entropy(
    fraction: float | None = None,
    *,
    ternary_fraction: _Array,
    p_binary: _Numbers = 0.5,
    arities: _ByArity = None,
    fractions: _ByArity = None,
) -> NDArray[np.float64]: ...
@overload
def class_entropy(
    fraction: float | None = None,
    *,
    ternary_fraction: float | None = None,
    p_binary: _Array,
    arities: None = None,
    fractions: _ByArity = None,
) -> NDArray[np.float64]: ...
@overload
def paper_class_entropy(fraction: float) -> float:
    """The class entropy at depth 2 as printed in the paper, for two and three children at even odds."""
@overload
def paper_class_entropy(fraction: _Array) -> NDArray[np.float64]: ...
def mean_candidates(
    depth: int,
    fraction: float | None = None,
    *,
    ternary_fraction: float | None = None,
    arities: Iterable[int] | None = None,
    fractions: _ByArity = None,
) -> ByLength:
    """The mean number of symbols that a parser proposes for a random string of each length (eq. bottom_up), for nodes with
    two or three children, or any of `arities`. See `grammatical_fraction` for fractions.
    """
@overload
def critical_fraction(depth: int, *, p_binary: float = 0.5, arities: _ByArity = None) -> float:
    """The fraction at which the mean number of candidates at the typical length neither shrinks nor grows with the depth.
    """
@overload
def critical_fraction(depth: _Array, *, p_binary: _Numbers = 0.5, arities: _ByArity = None) -> NDArray[np.float64]: ...
@overload
def critical_fraction(depth: int, *, p_binary: _Array, arities: None = None) -> NDArray[np.float64]: ...
@overload
def splits(len: _Numbers, height: _Numbers, *, arities: None = None) -> Splits:
    """The numbers of binary and ternary splits of a span of `len` tokens whose node is `height` levels above them; with
    `arities`, the numbers of splits by number of children.
    """
@overload
def splits(len: int, height: int, *, arities: Iterable[int]) -> dict[int, int]: ...
@overload
def splits(len: _Numbers, height: _Numbers, *, arities: Iterable[int]) -> dict[int, Any]: ...
@overload
def median_splits(height: _Numbers, *, arities: None = None) -> Splits:
    """The median numbers of binary and ternary splits over all spans of a height; with `arities`, by number of children.
    """
@overload
def median_splits(height: int, *, arities: Iterable[int]) -> dict[int, float]: ...
@overload
def median_splits(height: _Array, *, arities: Iterable[int]) -> dict[int, NDArray[np.float64]]: ...
def sample_complexity(
    depth: _Numbers,
    vocab: _Numbers,
    binary_rules: _Numbers | None = None,
    ternary_rules: _Numbers | None = None,
    *,
    p_binary: _Numbers = 0.5,
    arities: _ByArity = None,
    rules: Mapping[int, int] | None = None,
) -> SampleComplexity:
    """The number of sentences that learning needs, up to a constant (eq. samp_comp): with the paper's factor per level,
    and with that of a uniformly chosen token. Numbers of rules are per symbol; for other numbers of children than two
    and three, use `rules`.
    """
def two_level_topologies(*, p_binary: float = 0.5, arities: _ByArity = None) -> list[Topology]:
    """The tree topologies of depth 2, twelve for two and three children: the arities of the root's children, with their
    probabilities.
    """
