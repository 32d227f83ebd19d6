"""Corpora: indexing, views, padding, trees, files, and invalid input."""

from __future__ import annotations

import copy
import gc
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mistakes import value_error

from gardenpath import Corpus, Grammar

SENTENCES = [[0, 3, 1, 2], [2, 2, 1, 0, 3], [1, 1], [3, 0, 0, 0, 1, 2]]
ROOTS = [1, 0, 2, 1]


@pytest.fixture
def corpus(deep: Grammar) -> Corpus:
    """Twenty sampled sentences that do not start with index 0."""
    return deep.corpus(20, seed=5, start=3)


def lists(corpus: Corpus) -> list[list[int]]:
    return [sentence.tolist() for sentence in corpus]


# Sampling


def test_sentence_i_is_a_function_of_grammar_seed_and_i(deep: Grammar) -> None:
    whole = deep.corpus(100, seed=1)
    assert deep.corpus(30, seed=1) == whole[:30]
    assert deep.corpus(30, seed=1, start=70) == whole[70:]
    assert lists(deep.corpus(100, seed=2)) != lists(whole)
    assert lists(Grammar.sample(4, 3, fraction=0.5, seed=8).corpus(100, seed=1)) != lists(whole)


def test_roots_follow_the_prior(garden_path: Grammar) -> None:
    count = 20_000
    statements = int((garden_path.corpus(count, seed=1).roots == 0).sum())
    assert abs(statements / count - 0.75) < 4 * np.sqrt(0.75 * 0.25 / count)


# Indexing


def test_arrays_lengths_sentences_and_iteration_agree(corpus: Corpus) -> None:
    cuts = corpus.offsets[1:-1]
    expected = [part.tolist() for part in np.split(corpus.tokens, cuts)]
    assert (corpus.offsets[0], corpus.offsets[-1]) == (0, len(corpus.tokens))
    assert lists(corpus) == expected == [corpus[i].tolist() for i in range(len(corpus))]
    assert corpus.lengths.tolist() == list(map(len, expected)) == np.diff(corpus.offsets).tolist()
    assert len(corpus) == len(corpus.roots) == 20


@pytest.mark.parametrize("i", [-20, -7, -1, 0, 19, np.int64(5), np.uint8(7), np.int16(-2)])
def test_numbers_count_from_the_end_if_they_are_negative(corpus: Corpus, i: int) -> None:
    assert corpus[i].tolist() == lists(corpus)[int(i)]


SLICES = [
    slice(None),
    slice(3, 11),
    slice(None, None, 3),
    slice(None, None, -1),
    slice(-5, None),
    slice(17, 2, -4),
    slice(5, 5),
    slice(100, 200),
    slice(-100, 4),
    slice(2, 100, 7),
    slice(None, -100, -1),
    slice(0, 0, -1),
]


@pytest.mark.parametrize("index", SLICES, ids=str)
def test_slices_are_those_of_lists_with_the_trees_of_these_sentences(corpus: Corpus, index: slice) -> None:
    part = corpus[index]
    assert lists(part) == lists(corpus)[index]
    assert part.roots.tolist() == corpus.roots.tolist()[index]
    assert part.trees() == corpus.trees()[index]
    assert [tree.sentence.tolist() for tree in part.trees()] == lists(part)
    assert [tree.root for tree in part.trees()] == part.roots.tolist()


def test_slices_of_slices_know_their_trees(corpus: Corpus) -> None:
    part = corpus[2:18][::-2][1:6][::-1]
    assert lists(part) == lists(corpus)[2:18][::-2][1:6][::-1]
    assert part.trees() == corpus.trees()[2:18][::-2][1:6][::-1]


def test_masks_and_numbers_choose_sentences(corpus: Corpus) -> None:
    everything = lists(corpus)
    mask = corpus.lengths > corpus.lengths.mean()
    assert 0 < mask.sum() < 20
    chosen = np.flatnonzero(mask)
    for index in (mask, mask.tolist(), chosen, chosen.tolist(), chosen.astype(np.uint8), chosen - 20):
        part = corpus[index]
        assert lists(part) == [everything[i] for i in chosen]
        assert part.roots.tolist() == corpus.roots[mask].tolist()
    repeated = corpus[[3, 3, -1, 0]]
    assert lists(repeated) == [everything[3], everything[3], everything[-1], everything[0]]


def test_parts_keep_the_numbers_of_tokens_and_roots() -> None:
    corpus = Corpus(SENTENCES, ROOTS, vocab=9)
    for part in (corpus[2:3], corpus[[2]], corpus[::-1], corpus[[]]):
        assert (part.vocab, part.classes) == (corpus.vocab, corpus.classes) == (9, 9)


@pytest.mark.parametrize("index", [20, -21, 1.5, "a", None, [20], [-21], [0.5], [True] * 19, [[0, 1], [2, 3]], 2**70])
def test_invalid_indices_are_index_errors(corpus: Corpus, index: Any) -> None:
    with pytest.raises(IndexError):
        corpus[index]


def test_an_iterator_ends_and_two_do_not_disturb_each_other(corpus: Corpus) -> None:
    one, other = iter(corpus), iter(corpus)
    assert next(one).tolist() == next(other).tolist() == corpus[0].tolist()
    assert len(list(one)) == 19
    assert next(other).tolist() == corpus[1].tolist()
    with pytest.raises(StopIteration):
        next(one)


# Views


VIEWS: dict[str, Callable[[Corpus], np.ndarray]] = {
    "tokens": lambda corpus: corpus.tokens,
    "offsets": lambda corpus: corpus.offsets,
    "roots": lambda corpus: corpus.roots,
    "sentence": lambda corpus: corpus[7],
    "iterated": lambda corpus: next(iter(corpus)),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
def test_views_are_memory_of_the_corpus_and_read_only(corpus: Corpus, view: Callable[[Corpus], np.ndarray]) -> None:
    array = view(corpus)
    assert array.base is not None
    assert not array.flags.owndata
    assert not array.flags.writeable
    assert np.shares_memory(array, view(corpus))
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
        array.flags.writeable = True


def test_sentences_are_parts_of_tokens(corpus: Corpus) -> None:
    assert np.shares_memory(corpus[4], corpus.tokens)
    assert not np.shares_memory(corpus[4], corpus[5])
    assert not np.shares_memory(corpus[2:9].tokens, corpus.tokens)


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
def test_views_outlive_the_corpus(deep: Grammar, view: Callable[[Corpus], np.ndarray]) -> None:
    corpus = deep.corpus(100_000, seed=5)
    array = view(corpus)
    expected = array.copy()
    del corpus
    gc.collect()
    # Would reuse freed memory.
    others = [deep.corpus(100_000, seed=seed) for seed in range(6, 9)]
    np.testing.assert_array_equal(array, expected)
    assert len(others) == 3


# Arrays


@pytest.mark.parametrize(("dtype", "fill"), [("int64", -1), ("int32", -1), ("int16", 300), ("uint8", 255)])
def test_padded_is_what_a_loop_writes(corpus: Corpus, dtype: Any, fill: int) -> None:
    expected = np.full((20, corpus.lengths.max()), fill, dtype=dtype)
    for row, sentence in zip(expected, corpus, strict=True):
        row[: len(sentence)] = sentence
    padded = corpus.padded(fill, dtype)
    assert padded.dtype == dtype
    assert padded.flags.c_contiguous
    assert padded.flags.writeable
    np.testing.assert_array_equal(padded, expected)


def test_one_hot_is_what_a_loop_writes(corpus: Corpus) -> None:
    expected = np.zeros((20, corpus.lengths.max(), corpus.vocab), dtype=np.float32)
    for i, sentence in enumerate(corpus):
        expected[i, np.arange(len(sentence)), sentence] = 1
    one_hot = corpus.one_hot()
    assert one_hot.dtype == np.float32
    np.testing.assert_array_equal(one_hot, expected)


def test_padded_arrays_are_read_as_the_sentences_they_were(corpus: Corpus) -> None:
    assert lists(Corpus(corpus.padded())) == lists(corpus)
    assert lists(Corpus(corpus.padded(-5, dtype="int16"))) == lists(corpus)
    assert lists(Corpus(corpus.padded(255, dtype="uint8"))) == lists(corpus)


# Other forms of sentences


class Tensor:
    """Something with `__array__`, like tensors and data frames."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.array


def objects(sentences: list[list[int]]) -> np.ndarray:
    array = np.empty(len(sentences), dtype=object)
    array[:] = [np.array(sentence) for sentence in sentences]
    return array


def padded(sentences: list[list[int]], dtype: str, fill: int) -> np.ndarray:
    width = max(map(len, sentences))
    return np.array([sentence + [fill] * (width - len(sentence)) for sentence in sentences]).astype(dtype)


FORMS: dict[str, Any] = {
    "lists": SENTENCES,
    "tuples": tuple(map(tuple, SENTENCES)),
    "arrays": [np.array(sentence) for sentence in SENTENCES],
    "bytes": [np.array(sentence, dtype=np.uint8) for sentence in SENTENCES],
    "every second": [np.repeat(np.array(sentence, dtype=np.uint8), 2)[::2] for sentence in SENTENCES],
    "a generator": (sentence for sentence in SENTENCES),
    "numbers of NumPy": [list(np.array(sentence)) for sentence in SENTENCES],
    "objects": objects(SENTENCES),
    "int64": padded(SENTENCES, "int64", -1),
    "other padding": padded(SENTENCES, "int64", -100),
    "int8": padded(SENTENCES, "int8", -1),
    "int16": padded(SENTENCES, "int16", -1),
    "int32": padded(SENTENCES, "int32", -1),
    "long long": padded(SENTENCES, "longlong", -1),
    "uint8": padded(SENTENCES, "uint8", 255),
    "big-endian": padded(SENTENCES, ">i4", -1),
    "by columns": np.asfortranarray(padded(SENTENCES, "int32", -1)),
    "bytes by columns": np.asfortranarray(padded(SENTENCES, "uint8", 255)),
    "a part": np.pad(padded(SENTENCES, "int64", -1), 2)[2:-2, 2:-2],
    "a tensor": Tensor(padded(SENTENCES, "int64", -1)),
    "a corpus": Corpus(SENTENCES),
}


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64", ">u8"])
def test_wide_unsigned_integers_have_no_padding(dtype: str) -> None:
    assert lists(Corpus(np.array([[0, 1], [254, 2]], dtype=dtype))) == [[0, 1], [254, 2]]
    with pytest.raises(ValueError, match="sentence 1: token 255 at position 1 is not one of the 255 tokens"):
        Corpus(np.array([[0, 1], [2, 255]], dtype=dtype))


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
def test_many_rows_are_read_in_order_and_the_first_mistake_is_reported(dtype: str) -> None:
    random = np.random.default_rng(1)
    lengths = random.integers(1, 8, size=20_000)
    rows = random.integers(0, 9, size=(20_000, 7)).astype(dtype)
    rows[np.arange(7) >= lengths[:, None]] = 255 if dtype == "uint8" else -1
    corpus = Corpus(rows)
    assert corpus.lengths.tolist() == lengths.tolist()
    assert corpus.tokens.tolist() == rows[np.arange(7) < lengths[:, None]].tolist()
    rows[[19_000, 9_000, 4_500], 0] = 100
    for _ in range(5):
        with pytest.raises(ValueError, match="sentence 4500: token 100 at position 0"):
            Corpus(rows, vocab=9)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_all_forms_of_sentences_give_the_same_corpus(form: Any) -> None:
    corpus = Corpus(form, roots=ROOTS)
    assert lists(corpus) == SENTENCES
    assert corpus.roots.tolist() == ROOTS
    assert (corpus.vocab, corpus.classes) == (4, 3)


@pytest.mark.parametrize(
    "roots", [ROOTS, tuple(ROOTS), np.array(ROOTS), np.array(ROOTS, dtype=np.uint8), Tensor(np.array(ROOTS))]
)
def test_all_forms_of_roots_are_read(roots: Any) -> None:
    assert Corpus(SENTENCES, roots).roots.tolist() == ROOTS


def test_roots_are_unknown_unless_they_are_given() -> None:
    assert Corpus(SENTENCES).roots.tolist() == [255] * 4
    assert Corpus(Corpus(SENTENCES, ROOTS)).roots.tolist() == ROOTS


def test_from_arrays_takes_what_a_corpus_gives(corpus: Corpus) -> None:
    again = Corpus.from_arrays(corpus.tokens, corpus.offsets, corpus.roots, vocab=corpus.vocab)
    assert again == corpus
    assert not np.shares_memory(again.tokens, corpus.tokens)
    wide = Corpus.from_arrays(corpus.tokens.astype(int), corpus.offsets.astype(np.int32), corpus.roots.tolist())
    assert wide == corpus


def test_a_corpus_does_not_change_with_the_array_it_was_made_of() -> None:
    array = np.array([[1, 2, 3]], dtype=np.uint8)
    flat, roots = array.ravel(), np.array([0], dtype=np.uint8)
    made = [Corpus(array), Corpus([flat]), Corpus.from_arrays(flat, [0, 3], roots), Corpus([[1, 2, 3]], roots)]
    array[:] = 0
    roots[:] = 9
    assert all(lists(corpus) == [[1, 2, 3]] for corpus in made)
    assert [corpus.roots[0] for corpus in made[2:]] == [0, 0]


def test_no_sentences_are_a_corpus_too() -> None:
    for empty in (
        Corpus([]),
        Corpus(np.zeros((0, 5), dtype=int)),
        Corpus(SENTENCES)[:0],
        Corpus.from_arrays([], [0], []),
    ):
        assert (len(empty), lists(empty), empty.offsets.tolist()) == (0, [], [0])
        assert empty.padded().shape == (0, 0)
        assert empty.one_hot().shape == (0, 0, empty.vocab)


# Equality, copies, files


def test_corpora_are_equal_if_sentences_and_roots_are() -> None:
    corpus = Corpus(SENTENCES, ROOTS)
    assert corpus == Corpus(SENTENCES, ROOTS, vocab=7)
    assert corpus != Corpus(SENTENCES)
    assert corpus != Corpus(SENTENCES[::-1], ROOTS)
    # The same tokens, split elsewhere.
    assert Corpus([[1, 2], [3]]) != Corpus([[1], [2, 3]])
    assert corpus != SENTENCES
    with pytest.raises(TypeError, match="unhashable"):
        hash(corpus)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_keep_everything(corpus: Corpus, protocol: int) -> None:
    foreign = Corpus(SENTENCES, ROOTS, vocab=9)
    for one in (corpus, corpus[15:2:-3], corpus[:0], foreign):
        again = pickle.loads(pickle.dumps(one, protocol))
        assert again == one
        assert (again.vocab, again.classes) == (one.vocab, one.classes)
    assert pickle.loads(pickle.dumps(corpus[15:2:-3], protocol)).trees() == corpus.trees()[15:2:-3]


def test_copies_are_equal(corpus: Corpus) -> None:
    assert copy.copy(corpus) == corpus
    assert copy.deepcopy(corpus) == corpus
    assert copy.deepcopy(corpus).trees() == corpus.trees()


@pytest.mark.parametrize("name", ["corpus.parquet", "corpus.jsonl"])
def test_files_keep_sentences_and_roots(corpus: Corpus, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    for one in (corpus, corpus[::-3], corpus[[5, 5, 2]], Corpus(SENTENCES, ROOTS)):
        one.write(path)
        assert Corpus.read(path) == one
        assert Corpus.read(str(path), vocab=one.vocab).vocab == one.vocab


@pytest.mark.parametrize("name", ["corpus.parquet", "corpus.jsonl"])
def test_files_keep_unknown_roots(name: str, tmp_path: Path) -> None:
    corpus = Corpus(SENTENCES)
    corpus.write(tmp_path / name)
    assert Corpus.read(tmp_path / name) == corpus


def test_json_lines_are_readable(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    Corpus(SENTENCES, ROOTS).write(path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines == [{"tokens": tokens, "root": root} for tokens, root in zip(SENTENCES, ROOTS, strict=True)]


def test_parquet_is_read_by_pyarrow(corpus: Corpus, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    corpus.write(tmp_path / "corpus.parquet")
    table = parquet.read_table(tmp_path / "corpus.parquet")
    assert table.column("tokens").to_pylist() == lists(corpus)
    assert table.column("root").to_pylist() == corpus.roots.tolist()


def test_only_sampled_sentences_have_known_trees(corpus: Corpus) -> None:
    for foreign in (Corpus(SENTENCES), Corpus(corpus), corpus[[0, 1]], Corpus.from_arrays([1, 2], [0, 2], [0])):
        with pytest.raises(ValueError, match="trees of this corpus are unknown"):
            foreign.trees()


def test_the_repr_counts_sentences_and_tokens() -> None:
    assert repr(Corpus(SENTENCES)) == f"<Corpus of 4 sentences, {sum(map(len, SENTENCES))} tokens, vocab 4>"


# Mistakes


# Without types: a type checker refuses most of these.
make: Any = Corpus

MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "a negative token": (lambda: make([[0, 1], [2, -1]]), "sentence 1: token -1 at position 1 is not one of the 255"),
    "a large token": (lambda: make([[0, 300]]), "sentence 0: token 300 at position 1"),
    "the byte that means unknown": (lambda: make([np.array([0, 255], dtype=np.uint8)]), "token 255 at position 1"),
    "a token beyond vocab": (lambda: make(SENTENCES, vocab=3), "sentence 0: token 3 at position 1 is not one of the 3"),
    "beyond vocab in a matrix": (
        lambda: make(np.array([[0, 1], [2, 3]]), vocab=3),
        "sentence 1: token 3 at position 1",
    ),
    "beyond vocab in a corpus": (lambda: make(Corpus(SENTENCES), vocab=3), "sentence 0: token 3 at position 1"),
    "a large token in a matrix": (lambda: make(np.array([[0, 2**40]])), "token 1099511627776 at position 1"),
    "a token beyond all integers": (
        lambda: make(np.array([[0, 2**64 - 1]], dtype=np.uint64)),
        "sentence 0: token 18446744073709551615 at position 1",
    ),
    "floats": (lambda: make([[0.0, 1.0]]), "sentence 0 is not a list of integers"),
    "a matrix of floats": (
        lambda: make(np.zeros((2, 3))),
        "2-dimensional array of float64, expected two dimensions of int",
    ),
    "an array of floats": (lambda: make([np.zeros(3)]), "sentence 0 is not a list of integers"),
    "truth values": (
        lambda: make(np.ones((2, 3), dtype=bool)),
        "2-dimensional array of bool, expected two dimensions of int",
    ),
    "three dimensions": (lambda: make(np.zeros((1, 2, 3), dtype=int)), "3-dimensional array of int64, expected two"),
    "nested too deep": (lambda: make([[[0, 1], [2]]]), "sentence 0 is not a list of integers"),
    "one sentence": (lambda: make([0, 1, 2]), "single list of tokens, expected a batch; use [sentence]"),
    "one array": (lambda: make(np.array([0, 1, 2])), "single list of tokens, expected a batch; use [sentence]"),
    "text": (lambda: make("0 1 2"), "single list of tokens, expected a batch"),
    "an empty sentence": (lambda: make([[0, 1], []]), "sentence 1 is empty, expected tokens"),
    "only padding": (lambda: make(np.array([[0, 1], [-1, -1]])), "sentence 1 is empty, expected tokens"),
    "a hole": (lambda: make(np.array([[0, -1, 1]])), "sentence 0: a token at position 2 follows padding at 1"),
    "too few roots": (lambda: make(SENTENCES, ROOTS[:3]), "3 roots for 4 sentences"),
    "roots in a column": (lambda: make(SENTENCES, np.array([ROOTS]).T), "roots have several dimensions, expected one"),
    "roots that are floats": (lambda: make(SENTENCES, np.array(ROOTS) / 2), "roots are float64, expected integers"),
    "negative roots": (lambda: make([[0, 1]], [-1]), "roots have the value -1, expected 0 to 255"),
    "large roots": (lambda: make([[0, 1]], [256]), "roots have the value 256, expected 0 to 255"),
    "no vocabulary": (lambda: make([[0, 1]], vocab=0), "vocab is 0, expected 1 to 255"),
    "a large vocabulary": (lambda: make([[0, 1]], vocab=256), "vocab is 256, expected 1 to 255"),
    "offsets that end early": (lambda: make.from_arrays([0, 1, 2], [0, 2], [0]), "expected increasing from 0 to 3"),
    "offsets that begin late": (lambda: make.from_arrays([0, 1, 2], [1, 3], [0]), "expected increasing from 0 to 3"),
    "offsets that fall": (
        lambda: make.from_arrays([0, 1, 2], [0, 2, 1, 3], [0] * 3),
        "expected increasing from 0 to 3",
    ),
    "offsets that lead outside": (
        lambda: make.from_arrays([0, 1, 2], [0, 5, 3], [0] * 2),
        "expected increasing from 0 to 3",
    ),
    "negative offsets": (lambda: make.from_arrays([0, 1, 2], [0, -1, 3], [0] * 2), "offsets are negative, expected"),
    "no offsets": (lambda: make.from_arrays([], [], []), "number of offsets is 0, expected 1"),
    "one root too many": (lambda: make.from_arrays([0, 1, 2], [0, 3], [0, 0]), "2 roots for 1 sentences"),
    "offsets that are floats": (
        lambda: make.from_arrays([0, 1, 2], np.array([0, 1.5, 3]), [0] * 2),
        "offsets are float64, expected",
    ),
    "offsets in a matrix": (lambda: make.from_arrays([0, 1, 2], np.array([[0, 3]]), [0]), "offsets have several dimensions"),
    "a flat sentence that is empty": (lambda: make.from_arrays([0, 1], [0, 0, 2], [0] * 2), "sentence 0 is empty"),
    "flat floats": (lambda: make.from_arrays(np.zeros(3), [0, 3], [0]), "tokens are float64, expected integers"),
    "flat tokens beyond vocab": (lambda: make.from_arrays([0, 9], [0, 2], [0], vocab=5), "token 9 at position 1"),
    "a fill that does not fit": (
        lambda: make(SENTENCES).padded(dtype="uint8"),
        "fill is -1, expected a value of the dtype",
    ),
    "an unknown dtype": (lambda: make(SENTENCES).padded(dtype="float32"), "dtype is float32, expected int64, int32, "),
    "an unknown kind of file": (
        lambda: Corpus.read("corpus.txt"),
        "corpus.txt: expected a corpus with a name ending in .parquet",
    ),
    "an unknown kind of file to write": (lambda: make(SENTENCES).write("corpus.txt"), "ending in .parquet, .jsonl or .tsv"),
}


@pytest.mark.parametrize(("mistake", "text"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_value_errors_of_one_line(mistake: Callable[[], object], text: str) -> None:
    with value_error(text):
        mistake()


@pytest.mark.parametrize("name", ["corpus.parquet", "corpus.jsonl"])
def test_a_damaged_file_is_a_value_error(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    Corpus(SENTENCES, ROOTS).write(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=name) as caught:
        Corpus.read(path)
    assert str(caught.value).count("\n") == 0


def test_a_file_with_unknown_tokens_is_a_value_error(tmp_path: Path) -> None:
    for name in ("corpus.parquet", "corpus.jsonl"):
        Corpus(SENTENCES, ROOTS).write(tmp_path / name)
        with pytest.raises(ValueError, match="token 3 at position"):
            Corpus.read(tmp_path / name, vocab=3)
