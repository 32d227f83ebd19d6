# Types of the compiled module. Docstrings come from crates/gardenpath-py (tests/python/stub_docs.py copies them).

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, SupportsIndex, TypeAlias, TypeVar, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import theory as theory
from ._records import Records
from ._results import (
    Clusters,
    Entropy,
    EntropyFraction,
    Fit,
    Floor,
    Inside,
    Judgement,
    Marginals,
    NextToken,
    Purity,
    SymbolPosterior,
)
from ._sweep import Executor

__all__ = [
    "BayesFloor",
    "Cell",
    "Chart",
    "Corpus",
    "CorpusIterator",
    "ExpectedMoments",
    "Experiment",
    "Figure",
    "Grammar",
    "Learned",
    "LearnedLevel",
    "LevelScore",
    "Moments",
    "Probe",
    "Reader",
    "Results",
    "Run",
    "SignalStudy",
    "Store",
    "Tree",
    "UNKNOWN_ROOT",
    "__version__",
    "_MASK",
    "_NOISE",
    "_Task",
    "_masks",
    "_noise",
    "_arities",
    "_collapse",
    "_exponent",
    "_inside_layers",
    "_lengths",
    "_register",
    "_restore_corpus",
    "_restore_expected",
    "_restore_learned",
    "_restore_moments",
    "_restore_probe",
    "_restore_results",
    "_restore_run",
    "_restore_study",
    "_threshold",
    "_train",
    "class_entropy",
    "divergence",
    "fraction_for_entropy",
    "kmeans",
    "learn",
    "rule_purity",
    "score_rules",
    "set_threads",
    "snr",
    "theory",
    "threads",
]

UNKNOWN_ROOT: int
_MASK: float
_NOISE: float
__version__: str

class _IntegerArray(Protocol):
    # NumPy arrays, PyTorch tensors on the CPU, pandas columns. An array of objects has one sentence per element.
    def __array__(self) -> NDArray[np.integer[Any] | np.object_]: ...

_Integer = TypeVar("_Integer", np.int16, np.int32, np.int64)
_Path: TypeAlias = str | os.PathLike[str]
_Integers: TypeAlias = Sequence[SupportsIndex] | _IntegerArray
_Numbers: TypeAlias = Sequence[float] | NDArray[np.floating[Any]]
_Sentence: TypeAlias = str | _Integers
_Sentences: TypeAlias = Corpus | _IntegerArray | Sequence[_Integers]

_Mode: TypeAlias = Literal["exact", "paper", "em"]
_Alignment: TypeAlias = Literal["inner-product", "cosine"]
_Average: TypeAlias = Literal["ratio_of_means", "mean_of_ratios"]
_State: TypeAlias = Literal["done", "running", "failed", "missing"]
_Event: TypeAlias = Literal["found", "measured", "failed"]
_Ending: TypeAlias = Literal["rise", "plateau", "steps", "diverged"]
# Value, interval, seeds, and the reason for missing parts.
_Estimate: TypeAlias = tuple[float | None, tuple[float, float] | None, int, str | None]

@final
class Grammar:
    """A layered probabilistic context-free grammar of uniform depth, with rules of one to eight children.

    Level 0 contains the root symbols (the classes), level `depth` the tokens; `rules(level)` rewrite the symbols of a
    level into those of the next.
    """
    @staticmethod
    def sample(
        vocab: int | None = None,
        depth: int | None = None,
        fraction: float | Mapping[int, float] | None = None,
        seed: int = 0,
        *,
        arities: Mapping[int, float] | None = None,
        rules: Mapping[int, int] | None = None,
        sizes: Sequence[int] | None = None,
        classes: int | None = None,
        binary_rules: int | None = None,
        ternary_rules: int | None = None,
        p_binary: float | None = None,
        zipf: float = 0.0,
        non_overlapping: bool = False,
        cover: bool = False,
    ) -> Grammar:
        """Samples a random grammar of the paper's ensemble, or a generalization of it.

        Every level has `vocab` symbols, and all symbols have the same number of rules: a `fraction` of all tuples is
        grammatical (default 1/4), or the number of `rules` per symbol is given. Both can be dicts by number of
        children. A node has two or three children, two with probability `p_binary`, or `arities` gives the probability
        of each number from 1 to 8. The k-th rule of a symbol has weight `k^-zipf`; `non_overlapping` excludes rules
        that begin or end with a shorter one; with `cover`, every symbol occurs in some rule.

        Instead of `vocab`, `sizes` can list the number of symbols of each level, from classes to tokens; `classes`
        changes only the number of classes. `binary_rules` and `ternary_rules` are short for `rules={2: binary_rules, 3:
        ternary_rules}`.
        """
    @staticmethod
    def from_rules(
        layers: Sequence[NDArray[np.void]], *, prior: _Numbers | None = None, vocab: int | None = None
    ) -> Grammar:
        """Builds a grammar from one array of rules per level, with the fields of `rules`, and a prior over the roots.
        """
    @staticmethod
    def read(path: _Path, *, normalize: bool = False) -> Grammar:
        """Reads a grammar: `.pcfg` text, or a published JSON grammar.

        With `normalize`, rounded probabilities are divided by their sum, which must be within 1% of 1.
        """
    @staticmethod
    def from_text(text: str, *, normalize: bool = False) -> Grammar:
        """Parses `.pcfg` text. Rules with a single symbol on the right give the prior over the roots, `S -> A [0.5] | B
        [0.5]`; without them, the symbol of the first rule is the only root, as in NLTK.

        With `normalize`, rounded probabilities are divided by their sum, which must be within 1% of 1.
        """
    def write(self, path: _Path) -> None:
        """Writes the grammar as `.pcfg` text, which NLTK's `PCFG.fromstring` can also read."""
    def to_text(self) -> str:
        """The grammar as `.pcfg` text."""
    @property
    def depth(self) -> int:
        """The number of layers of rules."""
    @property
    def vocab(self) -> int:
        """The number of tokens."""
    @property
    def classes(self) -> int:
        """The number of root symbols."""
    @property
    def sizes(self) -> list[int]:
        """The number of symbols of each level, from the root to the tokens."""
    @property
    def lengths(self) -> tuple[int, int]:
        """The shortest and longest sentence length that trees of this shape can have."""
    @property
    def prior(self) -> NDArray[np.float64]:
        """The probability of each root symbol."""
    @property
    def mean_length(self) -> float:
        """The mean sentence length."""
    @property
    def fingerprint(self) -> str:
        """A hash of sizes, prior and rules, which is stored in corpora."""
    def name(self, level: int, symbol: int) -> str:
        """The name of a symbol of a level."""
    def rules(self, level: int) -> NDArray[np.void]:
        """The rules from a level to the next: records of `parent`, `arity`, `children` and `probability`, sorted by
        parent, then arity, then children. `children` has as many entries as the longest rule of the layer, at least
        three; the first `arity` are valid.
        """
    def corpus(self, count: int, seed: int = 0, *, start: int = 0) -> Corpus:
        """Samples sentences `start` to `start + count`. Sentence `i` depends only on (grammar, seed, `i`): corpora nest,
        and any slice can be sampled separately, on any number of threads.
        """
    def expected_moments(self, level: int | None = None) -> ExpectedMoments:
        """The expected counts of adjacent symbols of a level (by default the tokens) jointly with the root: the moments of
        infinitely many sentences.
        """
    def inside(self, sentences: _Sentences) -> Inside:
        """The inside algorithm on a batch of sentences: a corpus, a padded array (negative values are padding) or a list
        of lists.

        Returns two arrays `[sentence, root]`: the log probability of the sentence given the root (minus infinity if the
        root cannot derive it), and the probability of the root given the sentence (all 0 for impossible sentences).
        """
    def entropy(self, sentences: _Sentences) -> NDArray[np.float64]:
        """The class entropy of each sentence of a batch: the entropy of its root, in nats; 0 for impossible sentences.
        """
    def reader(self) -> Reader:
        """A reader at the start of a sentence, for exact predictions token by token."""
    def next_token(
        self, sentences: _Sentences, length: Literal["unknown", "known"] = "unknown", levels: int | None = None
    ) -> NextToken:
        """The exact next-token probabilities at every position of a batch of sentences, as `rows` and `offsets`: sentence
        i has `rows[offsets[i]:offsets[i + 1]]`. With an unknown length there is a row after 0, 1, …, all tokens, whose
        last entry is the probability that the sentence ends; with a known length there is one row per token. Rows are 0
        after an impossible prefix.

        `levels` is the number of lowest layers of rules that the predictor knows; None for all.
        """
    def posterior(self, evidence: Sequence[int | None] | NDArray[np.float64]) -> SymbolPosterior | None:
        """The posterior given evidence about a whole sentence: that of each token, `[position, token]`, and for each level
        from the root down that of the symbol above each token, `[position, symbol]`; or None if the evidence is
        impossible.

        Evidence is a list of tokens, where None or -1 is a masked token, or an array `[position, token]` of
        likelihoods.
        """
    def floor(
        self,
        corpus: _Sentences,
        task: Literal["next", "next-known", "masked", "masked-one", "noisy", "root"] = "next",
        *,
        mask: float | None = None,
        noise: float | None = None,
        levels: int | None = None,
        seed: int = 0,
    ) -> Floor:
        """The lowest loss that any predictor can reach on the sentences of a corpus, in nats: per token for the tasks
        "next" (each token given those before it, and the end), "next-known" (with known length) and "noisy", per masked
        token for "masked" and "masked-one" (one random token), per sentence for "root". `mask` and `noise` are
        probabilities; `levels` is the number of lowest layers that the predictor knows ("next" only).
        """
    def bayes_floor(self, corpus: Corpus) -> BayesFloor:
        """The best possible result on a corpus with known roots: loss and accuracy of Bayes-optimal predictions, by exact
        parsing.
        """
    def chart(self, sentence: _Sentence) -> Chart:
        """The exact parse chart of one sentence: a list of tokens, or a string of their names."""
    def best_tree(self, sentence: _Sentence) -> Tree | None:
        """The most probable tree of a sentence, or None if it has none. See `tree.log_probability()` for its probability.
        """
    def best_trees(self, sentence: _Sentence, count: int) -> list[Tree]:
        """The `count` most probable trees of a sentence, best first; fewer if it has fewer."""
    def sample_tree(self, sentence: _Sentence, seed: int = 0) -> Tree | None:
        """A tree of the sentence sampled from the posterior, or None if it has none."""
    def trees(self, sentence: _Sentence, limit: int = 1000) -> list[Tree]:
        """All trees of a sentence, up to a limit."""
    def tree_count(self, sentence: _Sentence) -> int:
        """The exact number of trees of a sentence."""
    def tree_entropy(self, sentence: _Sentence) -> float:
        """The entropy of the trees of a sentence, in nats; NaN if it has none."""
    def marginals(self, sentence: _Sentence) -> Marginals:
        """The posterior marginals given a sentence: for each level, records of `start`, `span`, `symbol` and the
        `probability` that the derivation contains this node; and for each layer, the expected number of uses of each
        rule of `rules(level)`.
        """
    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Callable[[str], Grammar], tuple[str]]: ...

@final
class Corpus:
    """Sentences with their roots.

    `tokens` contains all sentences one after another: sentence `i` is `tokens[offsets[i]:offsets[i + 1]]`, with root
    `roots[i]`. The arrays are read-only views of the corpus, without copies. Unknown roots are 255.

    `Corpus(sentences, roots)` accepts a padded array, a list of lists or another corpus.
    """
    def __new__(cls, sentences: _Sentences, roots: _Integers | None = None, *, vocab: int | None = None) -> Corpus: ...
    @staticmethod
    def from_arrays(tokens: _Integers, offsets: _Integers, roots: _Integers, *, vocab: int | None = None) -> Corpus:
        """A corpus from flat tokens, offsets and roots."""
    @classmethod
    def from_arrow(cls, table: Any, *, vocab: int | None = None) -> Corpus:
        """A corpus from an Apache Arrow table with columns `tokens` and optionally `root`."""
    @staticmethod
    def read(path: _Path, *, vocab: int | None = None, grammar: Grammar | None = None) -> Corpus:
        """Reads a corpus (.parquet, .jsonl or .tsv).

        Words become numbers: those of the names of `grammar`, or else in sorted order; see `token_names` and
        `root_names`.
        """
    def write(self, path: _Path) -> None:
        """Writes the corpus (.parquet, .jsonl or .tsv), like the program: words if it has them, else numbers."""
    @property
    def tokens(self) -> NDArray[np.uint8]:
        """All tokens, one sentence after another (a view)."""
    @property
    def offsets(self) -> NDArray[np.int64]:
        """The start of each sentence, and the end of the last (a view)."""
    @property
    def roots(self) -> NDArray[np.uint8]:
        """The root of each sentence (a view); 255 if unknown."""
    @property
    def lengths(self) -> NDArray[np.int64]:
        """The length of each sentence."""
    @property
    def vocab(self) -> int:
        """The number of distinct tokens."""
    @property
    def classes(self) -> int:
        """The number of distinct roots."""
    @property
    def token_names(self) -> list[str] | None:
        """The names of the tokens, if the corpus was read from a file of words."""
    @property
    def root_names(self) -> list[str] | None:
        """The names of the roots, if the corpus was read from a file of words."""
    @overload
    def padded(self, fill: int = -1, dtype: Literal["int64"] = "int64") -> NDArray[np.int64]:
        """The sentences as rows of one array, padded to the longest with `fill`.

        `dtype` is int64 (for a PyTorch embedding), int32, int16 or uint8, by name or as `np.int64`; for uint8 use
        `fill=255`. `fill` must not be a token.
        """
    @overload
    def padded(self, fill: int, dtype: Literal["int32"]) -> NDArray[np.int32]: ...
    @overload
    def padded(self, fill: int = -1, *, dtype: Literal["int32"]) -> NDArray[np.int32]: ...
    @overload
    def padded(self, fill: int, dtype: Literal["int16"]) -> NDArray[np.int16]: ...
    @overload
    def padded(self, fill: int = -1, *, dtype: Literal["int16"]) -> NDArray[np.int16]: ...
    # Bytes have no -1: `fill` must be given.
    @overload
    def padded(self, fill: int, dtype: Literal["uint8"] | type[np.uint8]) -> NDArray[np.uint8]: ...
    @overload
    def padded(self, fill: int, dtype: type[_Integer] | np.dtype[_Integer]) -> NDArray[_Integer]: ...
    @overload
    def padded(self, fill: int = -1, *, dtype: type[_Integer] | np.dtype[_Integer]) -> NDArray[_Integer]: ...
    def one_hot(self) -> NDArray[np.float32]:
        """The sentences one-hot encoded: `[sentence, position, token]` is 1 where the token occurs, and 0 elsewhere."""
    def trees(self) -> list[Tree]:
        """The trees of the sampled sentences."""
    def to_arrow(self) -> Any:
        """An Apache Arrow table with columns `tokens` and `root`; the tokens are not copied."""
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int | np.integer[Any], /) -> NDArray[np.uint8]: ...
    @overload
    def __getitem__(
        self, index: slice | Sequence[SupportsIndex] | NDArray[np.integer[Any] | np.bool_], /
    ) -> Corpus: ...
    def __iter__(self) -> CorpusIterator: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __reduce__(self) -> tuple[Callable[..., Corpus], tuple[Any, ...]]: ...

@final
class CorpusIterator(Iterator[NDArray[np.uint8]]):
    """Iterates over the sentences of a corpus."""
    def __iter__(self) -> CorpusIterator: ...
    def __next__(self) -> NDArray[np.uint8]: ...

def _arities(grammar: Grammar) -> list[list[int]]: ...
def _lengths(arities: Sequence[Sequence[int]]) -> list[int]: ...
def _inside_layers(
    arities: Sequence[Sequence[int]], length: int, over_splits: bool
) -> list[tuple[int, NDArray[np.int64], NDArray[np.float64]]]: ...

def _restore_corpus(
    parts: tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8]],
    vocab: int,
    classes: int,
    origin: tuple[str, int, int, int] | None,
    names: tuple[list[str] | None, list[str] | None] | None = None,
) -> Corpus: ...

def _restore_learned(
    grammar: Grammar,
    verdict: tuple[bool, str] | None,
    levels: Sequence[LearnedLevel],
    counts: tuple[int | None, int | None, float | None],
) -> Learned: ...

@final
class Tree:
    """A derivation tree of uniform depth. `str(tree)` is bracketed text, which NLTK's `Tree.fromstring` can read."""
    @staticmethod
    def from_text(text: str, grammar: Grammar) -> Tree:
        """Parses bracketed text with the names of a grammar."""
    @property
    def root(self) -> int:
        """The root symbol."""
    @property
    def depth(self) -> int:
        """The number of layers of rules."""
    @property
    def sentence(self) -> NDArray[np.uint8]:
        """The tokens."""
    def level(self, level: int) -> NDArray[np.uint8]:
        """The symbols of a level from left to right; level 0 is the root, level `depth` the tokens."""
    def nodes(self, level: int) -> NDArray[np.void]:
        """The nodes of a level: records of `start`, `span` (number of tokens) and `symbol`."""
    def rules(self, level: int) -> NDArray[np.void]:
        """The rules applied at the nodes of a level, with the fields of `Grammar.rules`; a nonexistent rule has
        probability 0.
        """
    def log_probability(self) -> float:
        """The log probability of the tree given its root; minus infinity if it uses a nonexistent rule."""
    def to_svg(self, caption: str = "") -> str:
        """The tree as SVG, with a caption."""
    def _repr_svg_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Callable[[str, Grammar], Tree], tuple[str, Grammar]]: ...

@final
class Chart:
    """All candidates of all spans of one sentence, with their probabilities."""
    @property
    def sentence(self) -> NDArray[np.uint8]:
        """The tokens."""
    @property
    def depth(self) -> int:
        """The number of layers of rules."""
    @property
    def tree_count(self) -> int:
        """The exact number of trees of the sentence."""
    def candidates(self, level: int) -> NDArray[np.void]:
        """The candidates of a level: records of `start`, `span`, `symbol`, `log_inside` (the log probability that the
        symbol derives the span) and `probability` (that the derivation of the sentence contains it; 0 for spurious
        candidates).
        """
    def trees(self, limit: int = 1000) -> list[Tree]:
        """All trees of the sentence, up to a limit."""
    def to_svg(self) -> str:
        """The chart as SVG: candidates that occur in some tree of the sentence in blue, darker if more probable; the
        others in gray.
        """
    def _repr_svg_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __reduce__(self) -> tuple[Callable[..., Chart], tuple[Any, ...]]: ...

def _masks(corpus: Corpus, rate: float, seed: int, start: int) -> NDArray[np.bool_]:
    """Whether each token of a corpus is masked, if its first sentence has index `start`: the masks of `Grammar.floor`.
    """

def _noise(corpus: Corpus, vocab: int, noise: float, seed: int, start: int) -> NDArray[np.uint8]:
    """The tokens of a corpus after a noisy channel, if its first sentence has index `start`: the noise of `Grammar.floor`.
    """

def divergence(exact: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    """The mean Kullback-Leibler divergence of predictions from the exact ones, in nats, for arrays `[row, outcome]` of
    probabilities. Infinite if a possible outcome was given probability 0.
    """

@final
class Reader:
    """A sentence being read: predicts the next token, and the symbols above the last one."""
    def push(self, token: int) -> None:
        """Reads one token."""
    def next(self) -> NDArray[np.float64]:
        """The probabilities of the next token, followed by that of the end; all 0 after an impossible prefix."""
    def hidden(self, level: int = 0) -> NDArray[np.float64]:
        """The posterior over the symbol of a level above the last token; all 0 before the first token."""
    @property
    def log_probability(self) -> float:
        """The log probability that a sentence begins with the tokens read so far."""
    def restart(self) -> None:
        """Starts a new sentence."""
    def __len__(self) -> int: ...

@final
class BayesFloor:
    """The best possible result on a test set, by exact parsing with the true grammar."""
    def __new__(cls, loss: float, accuracy: float, parse_rate: float, guessing: float) -> BayesFloor: ...
    def __getnewargs__(self) -> tuple[float, float, float, float]: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def loss(self) -> float:
        """The mean of `-ln p(root | sentence)`, in nats: no network has a lower cross-entropy loss on average."""
    @property
    def accuracy(self) -> float:
        """The fraction of sentences whose most probable root is the true one."""
    @property
    def parse_rate(self) -> float:
        """The fraction of sentences that the grammar derives; 1 for its own."""
    @property
    def guessing(self) -> float:
        """The loss of guessing, `ln(classes)`, by which losses are often divided."""

@final
class Moments:
    """Counts of adjacent pairs and triples of tokens by the root of their sentence. Moments of parts of the data can be
    added.
    """
    def __new__(cls, corpus: Corpus) -> Moments: ...
    @property
    def pairs(self) -> NDArray[np.uint64]:
        """Counts of pairs `[root, a, b]` (a view)."""
    @property
    def triples(self) -> NDArray[np.uint64]:
        """Counts of triples `[root, a, b, c]` (a view)."""
    def pair_covariance(self) -> NDArray[np.float64]:
        """Covariances of pairs with the root `[a, b, root]` (the paper's `C_2`)."""
    def triple_covariance(self, *, corrected: bool = False) -> NDArray[np.float64]:
        """Covariances of triples with the root `[a, b, c, root]` (the paper's `C_3`), optionally corrected for pairs.
        """
    def __add__(self, other: Moments, /) -> Moments: ...
    def __radd__(self, other: Moments, /) -> Moments: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __reduce__(self) -> tuple[Callable[..., Moments], tuple[Any, ...]]: ...

@final
class ExpectedMoments:
    """The limit of `Moments` for infinitely many sentences, per sentence: see `Grammar.expected_moments`."""
    @property
    def pairs(self) -> NDArray[np.float64]:
        """The expected number of each pair per sentence, times the probability of the root: `[root, a, b]` (a view)."""
    @property
    def triples(self) -> NDArray[np.float64]:
        """The expected number of each triple per sentence, times the probability of the root: `[root, a, b, c]` (a view).
        """
    def pair_covariance(self) -> NDArray[np.float64]:
        """Covariances of pairs with the root `[a, b, root]` (the paper's `C_2`)."""
    def triple_covariance(self, *, corrected: bool = False) -> NDArray[np.float64]:
        """Covariances of triples with the root `[a, b, c, root]` (the paper's `C_3`), optionally corrected for pairs.
        """
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __reduce__(self) -> tuple[Callable[..., ExpectedMoments], tuple[Any, ...]]: ...

def _restore_moments(pairs: NDArray[np.uint64], triples: NDArray[np.uint64]) -> Moments: ...
def _restore_expected(pairs: NDArray[np.float64], triples: NDArray[np.float64]) -> ExpectedMoments: ...

@final
class SignalStudy:
    """The signal-to-noise ratio of triples against the number of sentences, for many grammars of an ensemble: see `snr`.
    """
    @property
    def samples(self) -> NDArray[np.uint64]:
        """The numbers of sentences."""
    @property
    def signal(self) -> NDArray[np.float64]:
        """The mean signal of each grammar."""
    @property
    def noise(self) -> NDArray[np.float64]:
        """The mean noise `[grammar, number of sentences]`."""
    @property
    def ratio(self) -> NDArray[np.float64]:
        """The mean ratio of signal to noise `[grammar, number of sentences]`."""
    def inverse(self, average: _Average = "ratio_of_means") -> NDArray[np.float64]:
        """The inverse ratio at each number of sentences over all grammars; `average` is ratio_of_means or mean_of_ratios.
        """
    def sample_complexity(self, threshold: float = 0.5, average: _Average = "ratio_of_means") -> float | None:
        """The number of sentences at which the inverse ratio falls to `threshold`, or None if it does not within the
        range.
        """
    def interval(
        self, threshold: float = 0.5, average: _Average = "ratio_of_means", *, confidence: float = 0.9
    ) -> tuple[float, float] | None:
        """A bootstrap interval of the sample complexity over grammars, or None if no bootstrap sample crosses the
        threshold. An unbounded end is 0 or infinity.
        """
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __reduce__(self) -> tuple[Callable[..., SignalStudy], tuple[Any, ...]]: ...

def _restore_study(
    seed: int, curves: Sequence[tuple[Sequence[int], float, Sequence[float], Sequence[float]]]
) -> SignalStudy: ...
def snr(
    vocab: int,
    depth: int,
    fraction: float | None = None,
    *,
    grammars: int = 10,
    samples: Sequence[SupportsIndex] | NDArray[np.integer[Any]] | None = None,
    seed: int = 0,
) -> SignalStudy:
    """Measures the signal of the root in triples at the center of sentences, and the noise of estimating it from a number
    of sentences (App. empirical_SNR). `fraction` is 1 / vocab by default, and `samples` are chosen around the expected
    crossing.
    """
def class_entropy(
    vocab: int, depth: int, fraction: float, *, grammars: int = 10, sentences: int = 1000, seed: int = 0
) -> Entropy:
    """The expected class entropy of an ensemble of grammars, in nats: mean and standard error over `grammars` grammars
    with `sentences` sentences each.
    """
def fraction_for_entropy(
    vocab: int, depth: int, entropy: float, *, grammars: int = 10, sentences: int = 1000, seed: int = 0
) -> EntropyFraction:
    """The fraction of grammatical tuples at which an ensemble has the given class entropy, and the entropy measured there.
    """

@final
class Learned:
    """A learned grammar: see `learn`."""
    @property
    def grammar(self) -> Grammar:
        """The learned grammar. Tokens and roots keep their numbers; the symbols between them are numbered arbitrarily.
        """
    @property
    def verdict(self) -> str:
        """The self-check: "converged", or the reason why the grammar cannot be trusted. Only mode exact has one."""
    @property
    def converged(self) -> bool:
        """Whether the self-check passed."""
    @property
    def skipped(self) -> int | None:
        """The number of sentences skipped because no tree has their length. Only for mode exact."""
    @property
    def underivable(self) -> int | None:
        """The number of sentences that the grammar does not derive from their label. Only for mode exact."""
    @property
    def log_likelihood(self) -> float | None:
        """The mean log-likelihood of a sentence given its label. Only for mode em, which maximizes it."""
    @property
    def levels(self) -> list[LearnedLevel]:
        """The learned rules of each level, from the root down."""
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __reduce__(self) -> tuple[Callable[..., Learned], tuple[Any, ...]]: ...

@final
class LearnedLevel:
    """The learned rules of one level."""
    def __new__(
        cls, level: int, rules: dict[int, int], probabilities: dict[int, float], empty_symbols: int
    ) -> LearnedLevel: ...
    def __getnewargs__(self) -> tuple[int, dict[int, int], dict[int, float], int]: ...
    @property
    def level(self) -> int:
        """The level of the parents."""
    @property
    def rules(self) -> dict[int, int]:
        """The number of rules by number of children."""
    @property
    def probabilities(self) -> dict[int, float]:
        """The probability of each number of children, averaged over symbols with rules."""
    @property
    def binary_rules(self) -> int:
        """The number of binary rules."""
    @property
    def ternary_rules(self) -> int:
        """The number of ternary rules."""
    @property
    def p_binary(self) -> float:
        """The probability of two children."""
    @property
    def empty_symbols(self) -> int:
        """The number of symbols without rules."""
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class LevelScore:
    """How well the rules of one level were learned: see `score_rules`."""
    def __new__(
        cls,
        level: int,
        precision: dict[int, float],
        recall: dict[int, float],
        purity: dict[int, float],
        exact: bool,
    ) -> LevelScore: ...
    def __getnewargs__(self) -> tuple[int, dict[int, float], dict[int, float], dict[int, float], bool]: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def level(self) -> int:
        """The level of the parents."""
    @property
    def precision(self) -> dict[int, float]:
        """The fraction of learned rules that are true, by number of children."""
    @property
    def recall(self) -> dict[int, float]:
        """The fraction of true rules that were learned, by number of children."""
    @property
    def purity(self) -> dict[int, float]:
        """The mean cluster purity of the true rules, by number of children."""
    @property
    def binary_precision(self) -> float:
        """The fraction of learned binary rules that are true."""
    @property
    def binary_recall(self) -> float:
        """The fraction of true binary rules that were learned."""
    @property
    def ternary_precision(self) -> float:
        """The fraction of learned ternary rules that are true."""
    @property
    def ternary_recall(self) -> float:
        """The fraction of true ternary rules that were learned."""
    @property
    def binary_purity(self) -> float:
        """The mean cluster purity of the true binary rules."""
    @property
    def ternary_purity(self) -> float:
        """The mean cluster purity of the true ternary rules."""
    @property
    def exact(self) -> bool:
        """Whether exactly the true rules were learned."""

def learn(
    corpus: Corpus,
    depth: int,
    *,
    vocab: int | Sequence[int] | None = None,
    arities: Sequence[int] | Mapping[int, float] | None = None,
    mode: _Mode = "exact",
    p_binary: float | None = None,
    noise: float = 0.02,
    strict: bool = False,
    unlabelled: bool = False,
    seed: int = 0,
    gamma_binary: float = 0.85,
    gamma_ternary: float = 1.5,
    alignment: _Alignment = "inner-product",
    starts: int = 3,
    rounds: int = 50,
    progress: Callable[[str], object] | None = None,
) -> Learned:
    """Learns a grammar from sentences and their roots.

    Mode "exact" recovers every rule, or says why not; "paper" is the paper's algorithm; "em" is inside-outside from
    random starts. `vocab` is the number of symbols of each level between root and tokens: one for all, or one per level
    from the root down; by default that of the tokens. `arities` are the numbers of children that nodes may have, from 2
    to 4, or a mapping from them to their probabilities; by default 2 and 3. Tokens and classes are those of the corpus,
    and the prior is the frequency of the classes; if no sentence has a root, there is one class. With `unlabelled`,
    mode exact ignores the roots: it recovers every rule below the root from sentences alone, and the root is one start
    symbol. `noise` is the fraction of wrong labels and tokens that mode exact tolerates. Sentences whose length no tree
    has are skipped, or an error if `strict`. `progress` is called with a line of text at every step.
    """
def score_rules(learned: Grammar, truth: Grammar) -> list[LevelScore]:
    """Compares the rules of a learned grammar with the true ones, level by level from the root. Symbols of inner levels
    are matched so that most rules agree.
    """
def rule_purity(
    grammar: Grammar, corpus: Corpus, *, restarts: int = 10, seed: int = 0
) -> Purity:
    """The paper's empirical test of clustering: the true tuples above the tokens are given, and k-means clusters their
    covariances with the root. Returns the mean cluster purity of pairs, of triples corrected for pairs, and of
    uncorrected triples.
    """
def kmeans(
    rows: ArrayLike, clusters: int, *, restarts: int = 10, seed: int = 0
) -> Clusters:
    """Seeded k-means: the best of several starts, improved by moving single centroids as long as that helps. Returns
    labels, centroids and the sum of squared distances.
    """

@final
class Figure:
    """A figure, which notebooks display; `figure.write("figure.pdf")` saves it."""
    def __new__(cls, svg: str) -> Figure: ...
    def svg(self) -> str:
        """The figure as SVG."""
    def png(self, scale: float = 2.0) -> bytes:
        """The figure as PNG, at `scale` times 96 dots per inch."""
    def pdf(self) -> bytes:
        """The figure as PDF, in print size."""
    def write(self, path: _Path) -> None:
        """Writes the figure (.svg, .png or .pdf)."""
    def _repr_svg_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[str]: ...

@final
class Run:
    """A trained network with the weights of its best test loss: see `train`."""
    @staticmethod
    def read(path: _Path) -> Run:
        """Reads a finished run from the directory written by `train` or the program."""
    @property
    def model(self) -> str:
        """The architecture: cnn, inn or transformer."""
    @property
    def task(self) -> str:
        """What it predicts: root, next or masked."""
    @property
    def grammar(self) -> Grammar | None:
        """The grammar, or None for a run on a corpus whose grammar is unknown."""
    @property
    def options(self) -> dict[str, Any]:
        """All options, by name."""
    @property
    def test_loss(self) -> float:
        """The cross-entropy on the test set in nats: per sentence, per token ("next") or per masked token."""
    @property
    def normalized_loss(self) -> float:
        """The test loss relative to guessing: divided by `ln classes`, or `ln vocab` if the task predicts tokens."""
    @property
    def test_accuracy(self) -> float:
        """The accuracy on the roots or tokens of the test set."""
    @property
    def train_loss(self) -> float:
        """The mean training loss before the best measurement."""
    @property
    def best_step(self) -> int:
        """The step of the best measurement."""
    @property
    def steps(self) -> int:
        """The number of steps."""
    @property
    def epochs(self) -> float:
        """The number of epochs until the last measurement."""
    @property
    def ending(self) -> _Ending:
        """Why training ended: the test loss rose ("rise") or stopped falling ("plateau"), the maximum number of steps was
        reached ("steps"), or the loss was NaN ("diverged").
        """
    @property
    def floor(self) -> BayesFloor | None:
        """The loss and accuracy of exact prediction on the same test set and masks, or None if the grammar is unknown.
        """
    @property
    def expected_floor(self) -> float | None:
        """The lowest expected loss on the same test set, or None if the task is root or the grammar is unknown.
        `floor.loss` fluctuates around it. The program calls it `floor`.
        """
    @property
    def level_floors(self) -> NDArray[np.float64] | None:
        """The same for next-token predictors that know the lowest 0, 1, … layers of rules, the last one all of them; None
        for other tasks.
        """
    @property
    def curve(self) -> NDArray[np.void]:
        """All measurements (a view): records of `step`, `epoch`, `train_loss`, `test_loss` and `test_accuracy`."""
    @property
    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The best weights by name (views), with the names and shapes of the program's safetensors files. The
        `load_state_dict` of the same network in `gardenpath.torch` (task root) accepts them as tensors.
        """
    def logits(self, sentences: _Sentences) -> NDArray[np.float32]:
        """The logits of the best network for a corpus, a padded array or a list of lists: `[sentence, root]`.

        For next-token networks there is one row before each token and one at the end of each sentence, `[tokens and
        ends, token]`, where the number `vocab` stands for the end. For masked networks `vocab` marks masked tokens in
        sentences, and there is one row per mask.
        """
    def predict_proba(self, sentences: _Sentences) -> NDArray[np.float64]:
        """The probabilities that the best network assigns to roots or tokens, with the rows of `logits`."""
    def predict(self, sentences: _Sentences) -> NDArray[np.uint8]:
        """The most probable root of each sentence, or token of each row of `logits`, according to the best network."""
    def probe(
        self, *, samples: int = 4000, test: int = 2000, exchanged: int = 1000, seed: int = 0, initial: bool = False
    ) -> Probe:
        """Probes which hidden layer encodes which level of the tree, like `gardenpath probe` with the same options.

        Linear probes are fitted to `samples` fresh sentences and tested on `test` others; synonyms are exchanged in
        `exchanged` sentences. With `initial`, the network at initialization is probed.
        """
    def figure(self) -> Figure:
        """The learning curve as a figure."""
    def _repr_svg_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __reduce__(self) -> tuple[Callable[..., Run], tuple[Any, ...]]: ...

def _restore_run(
    text: str, grammar: Grammar | None, weights: Sequence[tuple[str, Sequence[int], NDArray[np.float32]]]
) -> Run: ...

@final
class Probe:
    """The probes of a network's hidden layers: see `Run.probe`."""
    @property
    def layers(self) -> list[str]:
        """The hidden layers, from the tokens up."""
    @property
    def levels(self) -> list[int]:
        """The levels of the tree, from the root (0) down to the one above the tokens."""
    @property
    def chance(self) -> NDArray[np.float64]:
        """The accuracy of always predicting the most common symbol, by level."""
    @property
    def accuracy(self) -> NDArray[np.float64]:
        """`[layer, level]`: the accuracy of a linear probe of the layer."""
    @property
    def sensitivity(self) -> NDArray[np.float64]:
        """`[layer, level]`: how far the layer moves when the synonyms of the level are exchanged, relative to an unrelated
        sentence: 1 is as far, 0 not at all. NaN if the layer never moves.
        """
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __reduce__(self) -> tuple[Callable[[str], Probe], tuple[str]]: ...

def _restore_probe(text: str) -> Probe: ...
def _train(
    grammar: Grammar,
    model: str,
    samples: int,
    test: int,
    width: int,
    seed: int,
    batch: int,
    max_steps: int,
    min_steps: int,
    patience: float,
    optimizer: str | None,
    learning_rate: float | None,
    normalization: str | None,
    layers: int | None,
    heads: int | None,
    mlp: int | None,
    task: str,
    mask: float | None,
    output: _Path | None,
    report: Callable[[int, int, tuple[int, float, float, float, float] | None], object] | None,
) -> Run: ...
def _threshold(
    curves: Sequence[tuple[Sequence[float], Sequence[float]]], level: float, falls: bool
) -> tuple[_Estimate, list[float]]: ...
def _exponent(groups: Sequence[tuple[float, Sequence[float]]]) -> tuple[_Estimate, float | None, float | None]: ...
def _collapse(
    groups: Sequence[tuple[float, Sequence[tuple[Sequence[float], Sequence[float]]]]], predicted: float
) -> tuple[_Estimate, float | None, float | None]: ...

@final
class Experiment:
    """An experiment: a measure on a grid of parameters, in the format of the TOML files in `experiments/`."""
    @staticmethod
    def load(path: _Path) -> Experiment:
        """Loads an experiment: a TOML file, or a built-in one by name, such as "cnn"."""
    @staticmethod
    def read(path: _Path) -> Experiment:
        """Reads an experiment from a TOML file."""
    @staticmethod
    def parse(text: str) -> Experiment:
        """Parses an experiment from TOML text."""
    @property
    def measures(self) -> list[str]:
        """The names of its measures, including those of the experiments it uses."""
    @property
    def scales(self) -> list[str]:
        """The names of its scales; empty if it has a single grid."""
    @property
    def expects(self) -> str:
        """What the result should show."""
    def cells(self, scale: str | None = None) -> list[Cell]:
        """The cells of a scale; by default quick, or the only one. An experiment with a single grid accepts any scale.
        """
    def run(
        self,
        store: _Path,
        executor: Executor | None = None,
        *,
        scale: str | None = None,
        batch: int = 1,
        progress: bool | Callable[[int, int], object] | None = None,
    ) -> Results:
        """Measures the cells missing in a store, like `sweep`, and returns all results."""
    def results(self, store: _Path, *, scale: str | None = None) -> Results:
        """The results in a store; `missing` counts the others."""
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __reduce__(self) -> tuple[Callable[[str], Experiment], tuple[str]]: ...

@final
class Results:
    """The results of an experiment: records, fits, verdicts and a figure. See `Experiment.run`."""
    @property
    def missing(self) -> int:
        """The number of cells without a result."""
    def __len__(self) -> int: ...
    def records(self) -> Records:
        """All results as columns: parameters, values derived from them such as `learner`, and measurements. `to_pandas`,
        `to_polars` and `to_arrow` convert them to tables.
        """
    def fit(self) -> list[Fit]:
        """The estimates of all fits, one per group. `fit` and `group` identify it; the rest is as in
        `gardenpath.fit.Estimate`.
        """
    def judge(self) -> list[Judgement]:
        """The verdicts on all claims, one per group: agrees, differs, corrected or inconclusive, with the reason."""
    def figure(self) -> Figure:
        """The figure with all panels, which notebooks display."""
    def _repr_svg_(self) -> str | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __reduce__(self) -> tuple[Callable[..., Results], tuple[Any, ...]]: ...

def _restore_results(experiment: Experiment, found: Sequence[tuple[Cell, str]], missing: int) -> Results: ...
def _register(
    name: str, version: int, meaning: str, parameters: Sequence[tuple[str, str, str | None]]
) -> None: ...

@final
class _Task:
    @property
    def grammar(self) -> Grammar: ...
    @property
    def train(self) -> Corpus: ...
    @property
    def test(self) -> Corpus: ...

@final
class Cell:
    """One cell of a sweep: a measure with all its parameters."""
    @staticmethod
    def from_json(text: str) -> Cell:
        """A cell from its parameters as JSON."""
    @property
    def identity(self) -> str:
        """The identity of the cell: a hash of its parameters and of the version of its measure."""
    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters, including `measure`."""
    @property
    def _needs_python(self) -> bool: ...
    def _task(self) -> _Task: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __reduce__(self) -> tuple[Callable[[str], Cell], tuple[str]]: ...

@final
class Store:
    """A directory of results, shared with `gardenpath sweep` and any number of other processes. It is created if it does
    not exist.
    """
    def __new__(cls, directory: _Path) -> Store: ...
    def __getnewargs__(self) -> tuple[str]: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def state(self, cell: Cell) -> _State:
        """The state of a cell: done, running, failed or missing."""
    def read(self, cell: Cell) -> dict[str, Any] | None:
        """The parameters and result of a cell, or None if it has none yet. A damaged file is a ValueError."""
    def failure(self, cell: Cell) -> str | None:
        """Why a cell failed, or None if it did not."""
    def _claim(self, cell: Cell) -> bool: ...
    def _renew(self, cell: Cell) -> None: ...
    def _release(self, cell: Cell) -> None: ...
    def _keep(self, task: _Task, result: str, seconds: float) -> None: ...
    def _fail(self, cell: Cell, error: str) -> None: ...
    def measure(
        self, cells: Sequence[Cell], *, threads: int = 1, report: Callable[[Cell, _Event], object] | None = None
    ) -> None:
        """Measures missing cells on this many threads and stores their results; failures are recorded. `report` is called
        with each cell and "found", "measured" or "failed". A damaged file causes a warning, and its cell is measured
        again.

        At Ctrl-C, or if `report` raises an exception, running cells are abandoned and stay missing; finished ones are
        stored. A second Ctrl-C does not wait for them.
        """

def threads() -> int:
    """The number of threads that calls use."""
def set_threads(count: int) -> None:
    """Sets the number of threads that calls of this process use. Results do not depend on it."""
