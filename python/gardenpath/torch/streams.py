"""Sentences of a grammar as datasets and streams, and the Bayes floor."""

import operator
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor, distributed
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from .._core import _MASK, _NOISE, BayesFloor, Corpus, Grammar, _masks, _noise, set_threads
from .._results import Floor
from ._shape import check_at_least

__all__ = ["SentenceDataset", "SentenceStream", "bayes_floor", "collate"]

Pair = tuple[Tensor, Tensor]

# Ignored by cross_entropy.
_IGNORED = -100

# Number of sentences for the floor of an endless stream.
_FLOOR_SENTENCES = 10_000

# A call costs about as much as sampling this many sentences: across smaller gaps, it is cheaper to sample the gap too.
_NEAR = 1024


class SentenceDataset(Dataset[Pair]):
    """Sentences `start` to `start + count` of a grammar and a seed: pairs of tokens and root, sampled on access.

    A `DataLoader` can shuffle them and use any number of workers; `collate` forms batches. Sentences are
    independent, so shuffling matters only for more than one epoch; for a single epoch, `SentenceStream` is faster.

    >>> from torch.utils.data import DataLoader
    >>> from gardenpath import Grammar
    >>> from gardenpath.torch import SentenceDataset, collate
    >>> grammar = Grammar.sample(vocab=8, depth=2, fraction=0.25, seed=7)
    >>> dataset = SentenceDataset(grammar, count=1000, seed=1)
    >>> tokens, root = dataset[42]
    >>> tokens.tolist() == grammar.corpus(1000, seed=1)[42].tolist()
    True
    >>> tokens, roots = next(iter(DataLoader(dataset, batch_size=32, shuffle=True, collate_fn=collate)))
    >>> tokens.shape[0], roots.shape
    (32, torch.Size([32]))
    """

    def __init__(self, grammar: Grammar, count: int, seed: int = 0, *, start: int = 0) -> None:
        check_at_least("count", count, 0)
        check_at_least("start", start, 0)
        self.grammar = grammar
        self.count = count
        self.seed = seed
        self.start = start

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Pair:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[Pair]:
        """Many sentences at once, as requested by `DataLoader`."""
        if len(indices) == 0:
            return []
        _share_cores()
        positions = np.array([self._position(index) for index in indices], dtype=np.int64)
        order = np.argsort(positions, kind="stable")
        found: dict[int, Pair] = {}
        for places in np.split(order, np.flatnonzero(np.diff(positions[order]) > _NEAR) + 1):
            first, last = int(positions[places[0]]), int(positions[places[-1]])
            corpus = self.grammar.corpus(last - first + 1, self.seed, start=self.start + first)
            found.update(zip(places.tolist(), _pairs(corpus[positions[places] - first]), strict=True))
        return [found[place] for place in range(len(positions))]

    def _position(self, index: int) -> int:
        position = operator.index(index)
        if not -self.count <= position < self.count:
            raise IndexError(f"index is {position}, expected {-self.count} to {self.count - 1}")
        return position % self.count


class SentenceStream(IterableDataset[Pair]):
    """Batches of fresh sentences, endless unless `count` is given.

    Batch `k` contains sentences `k * batch` to `(k + 1) * batch` of the seed. A batch is a pair of

    * tokens `[batch, longest]`, padded with `fill` to the longest sentence of the batch or, with `fixed_length`, to
      the longest sentence of the grammar, `grammar.lengths[1]`; with `one_hot` they are float vectors
      `[batch, longest, vocab]`, zero after the end;
    * roots `[batch]`.

    Pass it to a `DataLoader` with `batch_size=None`, since it yields whole batches. Any number of workers yields the
    same batches in the same order. Distributed processes share the batches: of `world` processes, process `rank` takes batches
    `first_batch + rank`, `first_batch + rank + world`, and so on; with a `count`, some may have one batch more than others.
    They default to those of `torch.distributed`, if it is initialized when the stream is created. To resume, start with the
    first unused batch: after `steps` steps of each process, `first_batch=steps * world`.

    Other tasks than predicting the root have batches of inputs and targets, `[batch, longest]`, for a language model:

    * `task="next"`: inputs are `bos` and the tokens, targets the tokens and `eos`. The outputs of a network are the `vocab`
      tokens followed by `eos`, as in the rows of `Grammar.next_token`;
    * `task="masked"`: each token is replaced by `mask_id` with probability `mask`; targets are the original tokens;
    * `task="noisy"`: each token is replaced by a random one with probability `noise`; targets are the original tokens.

    Inputs are numbers below `num_embeddings`: tokens, then `eos`, `bos`, `mask_id` and `pad`, which pads short sentences.
    Targets without a prediction are -100, which `cross_entropy` ignores. `floor` is the lowest possible loss.

    >>> import torch
    >>> from gardenpath import Grammar
    >>> from gardenpath.torch import SentenceStream
    >>> grammar = Grammar.sample(vocab=8, depth=2, fraction=0.25, seed=7)
    >>> stream = SentenceStream(grammar, seed=1, batch=4, task="next")
    >>> inputs, targets = next(iter(stream))
    >>> embedding = torch.nn.Embedding(stream.num_embeddings, 16, padding_idx=stream.pad)
    >>> embedding(inputs).shape == (*targets.shape, 16)
    True
    >>> bool((targets[inputs == stream.bos] < grammar.vocab).all()), stream.floor.loss < 2
    (True, True)

    >>> from torch.utils.data import DataLoader
    >>> from gardenpath import Grammar
    >>> from gardenpath.torch import SentenceStream
    >>> grammar = Grammar.sample(vocab=8, depth=2, fraction=0.25, seed=7)
    >>> stream = SentenceStream(grammar, seed=1, batch=4, count=10, fixed_length=True)
    >>> for tokens, roots in DataLoader(stream, batch_size=None):
    ...     print(tokens.shape, roots.tolist())
    torch.Size([4, 9]) [7, 1, 5, 0]
    torch.Size([4, 9]) [4, 1, 4, 7]
    torch.Size([2, 9]) [0, 7]
    """

    def __init__(
        self,
        grammar: Grammar,
        seed: int = 0,
        *,
        batch: int,
        count: int | None = None,
        first_batch: int = 0,
        one_hot: bool = False,
        fixed_length: bool = False,
        fill: int | None = None,
        rank: int | None = None,
        world: int | None = None,
        task: Literal["root", "next", "masked", "noisy"] = "root",
        mask: float | None = None,
        noise: float | None = None,
    ) -> None:
        check_at_least("batch", batch, 1)
        check_at_least("first_batch", first_batch, 0)
        if count is not None:
            check_at_least("count", count, 0)
        if task not in ("root", "next", "masked", "noisy"):
            raise ValueError(f"task is {task!r}, expected 'root', 'next', 'masked' or 'noisy'")
        for name, given, tasks in (
            ("one_hot", one_hot, ("root",)),
            ("fill", fill is not None, ("root",)),
            ("mask", mask is not None, ("masked",)),
            ("noise", noise is not None, ("noisy",)),
        ):
            if given and task not in tasks:
                raise ValueError(f"{name} has no effect here: it needs task={tasks[0]!r}")
        self.fill = -1 if fill is None else fill
        _check_fill(self.fill, grammar)
        self.mask = _MASK if mask is None else mask
        self.noise = _NOISE if noise is None else noise
        if not 0 < self.mask <= 1:
            raise ValueError(f"mask is {mask}, expected more than 0 and at most 1")
        if not 0 <= self.noise <= 1:
            raise ValueError(f"noise is {noise}, expected a probability")
        self.task = task
        self.grammar = grammar
        self.seed = seed
        self.batch = batch
        self.count = count
        self.first_batch = first_batch
        self.one_hot = one_hot
        self.fixed_length = fixed_length
        self.eos, self.bos, self.mask_id, self.pad = range(grammar.vocab, grammar.vocab + 4)
        self.num_embeddings = grammar.vocab + 4
        # Read now and not later: workers are processes too, and may not know about the others.
        self.rank, self.world = _rank_and_world(rank, world)
        self._width = grammar.lengths[1] if fixed_length else 0

    def __iter__(self) -> Iterator[Pair]:
        _share_cores()
        worker = get_worker_info()
        number, workers = (0, 1) if worker is None else (worker.id, worker.num_workers)
        # A loader polls its workers in turn: if each has every `workers`-th batch, they arrive in order.
        k = self.first_batch + self.rank + self.world * number
        while self.count is None or k * self.batch < self.count:
            yield self._make(k)
            k += self.world * workers

    def __len__(self) -> int:
        """The number of batches of this process."""
        if self.count is None:
            raise TypeError("the stream is endless, expected a count of sentences")
        batches = -(-self.count // self.batch)
        return len(range(self.first_batch + self.rank, batches, self.world))

    @property
    def floor(self) -> Floor:
        """The lowest loss that any network can reach on the sentences of the stream, or on the first 10,000 of an endless one:
        in nats per token, per masked token, or per sentence for the root.
        """
        count = _FLOOR_SENTENCES if self.count is None else self.count
        mask = self.mask if self.task == "masked" else None
        noise = self.noise if self.task == "noisy" else None
        corpus = self.grammar.corpus(count, self.seed)
        return self.grammar.floor(corpus, self.task, mask=mask, noise=noise, seed=self.seed)

    def _make(self, k: int) -> Pair:
        start = k * self.batch
        end = start + self.batch if self.count is None else min(start + self.batch, self.count)
        corpus = self.grammar.corpus(end - start, self.seed, start=start)
        return self._roots(corpus) if self.task == "root" else self._tokens(corpus, start)

    def _tokens(self, corpus: Corpus, start: int) -> Pair:
        """Inputs and targets of a language model."""
        inputs = torch.from_numpy(corpus.padded(_IGNORED))
        targets = inputs.clone()
        if self.task == "next":
            inputs, targets = pad(inputs, (1, 0), value=self.bos), pad(targets, (0, 1), value=_IGNORED)
            targets[torch.arange(len(corpus)), torch.from_numpy(np.diff(corpus.offsets))] = self.eos
        elif self.task == "masked":
            # The tokens of a padded array are those of the corpus, in the same order.
            masked = torch.zeros_like(inputs, dtype=torch.bool)
            masked[inputs != _IGNORED] = torch.from_numpy(_masks(corpus, self.mask, self.seed, start))
            inputs, targets = inputs.masked_fill(masked, self.mask_id), targets.masked_fill(~masked, _IGNORED)
        else:
            observed = _noise(corpus, self.grammar.vocab, self.noise, self.seed, start)
            inputs[inputs != _IGNORED] = torch.from_numpy(observed.astype(np.int64))
        inputs = inputs.masked_fill(inputs == _IGNORED, self.pad)
        missing = max(0, self._width + (self.task == "next") - inputs.shape[1]) if self.fixed_length else 0
        return pad(inputs, (0, missing), value=self.pad), pad(targets, (0, missing), value=_IGNORED)

    def _roots(self, corpus: Corpus) -> Pair:
        roots = torch.from_numpy(corpus.roots.astype(np.int64))
        if self.one_hot:
            vectors = torch.from_numpy(corpus.one_hot())
            return pad(vectors, (0, 0, 0, max(0, self._width - vectors.shape[1]))), roots
        tokens = torch.from_numpy(corpus.padded(self.fill))
        return pad(tokens, (0, max(0, self._width - tokens.shape[1])), value=self.fill), roots


def collate(items: Sequence[Pair], fill: int = -1) -> Pair:
    """A batch of items of a `SentenceDataset`: tokens padded with `fill` to the longest, and roots.

    >>> import torch
    >>> from gardenpath.torch import collate
    >>> collate([(torch.tensor([3, 1, 2, 0]), torch.tensor(5)), (torch.tensor([2, 2, 1, 0, 3]), torch.tensor(4))])
    (tensor([[ 3,  1,  2,  0, -1],
            [ 2,  2,  1,  0,  3]]), tensor([5, 4]))
    """
    tokens, roots = zip(*items, strict=True)
    return pad_sequence(list(tokens), batch_first=True, padding_value=fill), torch.stack(roots)


def bayes_floor(grammar: Grammar, data: Corpus | Pair, *, fill: int = -1) -> BayesFloor:
    """The Bayes loss and accuracy on a test set: averaged over test sets, no network has a lower loss.

    The test set is a corpus, or a pair of tokens (padded with `fill`, or one-hot vectors) and roots.

    >>> from gardenpath import Grammar
    >>> from gardenpath.torch import SentenceStream, bayes_floor
    >>> grammar = Grammar.sample(vocab=8, depth=2, fraction=0.5, seed=7)
    >>> test = next(iter(SentenceStream(grammar, seed=99, batch=2000)))
    >>> bayes_floor(grammar, test).loss == grammar.bayes_floor(grammar.corpus(2000, seed=99)).loss
    True
    """
    if isinstance(data, Corpus):
        return grammar.bayes_floor(data)
    _check_fill(fill, grammar)
    tokens, roots = (tensor.detach().cpu() for tensor in data)
    if tokens.ndim == 3:
        tokens = tokens_of_vectors(tokens, grammar.vocab)
    elif fill >= 0:
        tokens = tokens.masked_fill(tokens == fill, -1)
    return grammar.bayes_floor(Corpus(tokens.numpy(), roots.numpy(), vocab=grammar.vocab))


def _pairs(corpus: Corpus) -> Iterator[Pair]:
    tokens = torch.from_numpy(corpus.tokens.astype(np.int64)).tensor_split(corpus.offsets[1:-1].tolist())
    roots = torch.from_numpy(corpus.roots.astype(np.int64)).unbind()
    return zip(tokens, roots, strict=True)


def tokens_of_vectors(vectors: Tensor, vocab: int) -> Tensor:
    """The tokens of one-hot vectors, -1 after the end of a sentence."""
    tokens = vectors.argmax(dim=2).masked_fill((vectors == 0).all(dim=2), -1)
    if not torch.equal(vectors != 0, tokens.unsqueeze(2) == torch.arange(vocab)):
        raise ValueError(f"tokens are an array of shape {tuple(vectors.shape)}, expected one-hot vectors of {vocab} values")
    return tokens


def _share_cores() -> None:
    """One thread per worker of a loader, since workers already run in parallel."""
    if get_worker_info() is not None:
        set_threads(1)


def _rank_and_world(rank: int | None, world: int | None) -> tuple[int, int]:
    if rank is None and world is None:
        if distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
        return 0, 1
    if rank is None or world is None:
        raise ValueError(f"rank is {rank} and world is {world}, expected both or neither")
    check_at_least("world", world, 1)
    if not 0 <= rank < world:
        raise ValueError(f"rank is {rank}, expected 0 to {world - 1}")
    return rank, world


def _check_fill(fill: int, grammar: Grammar) -> None:
    if 0 <= fill < grammar.vocab:
        raise ValueError(f"fill is {fill}, expected a value that is not one of the {grammar.vocab} tokens")
