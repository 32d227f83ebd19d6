"""Sentences for PyTorch: the same for any number of workers, and a floor that no network beats."""

import multiprocessing
import pickle
import subprocess
import sys
from functools import partial
from itertools import islice

import gardenpath
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from gardenpath.torch import SentenceDataset, SentenceStream, bayes_floor, collate
from torch.nn.functional import cross_entropy, nll_loss, one_hot
from torch.utils.data import DataLoader

# A worker that hangs fails its test instead of blocking it.
PATIENCE = 120

can_fork = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")

# PyTorch and recent Pythons warn about what is tested here: many workers, and forks of a process with threads.
pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


@pytest.fixture(scope="module")
def grammar():
    return gardenpath.Grammar.sample(vocab=8, depth=2, fraction=0.25, seed=7)


def with_workers(data, count, method, **options):
    return DataLoader(data, num_workers=count, multiprocessing_context=method, timeout=PATIENCE, **options)


def assert_same_batches(found, expected):
    assert len(found) == len(expected) > 0
    for (tokens, roots), (expected_tokens, expected_roots) in zip(found, expected, strict=True):
        assert torch.equal(tokens, expected_tokens)
        assert torch.equal(roots, expected_roots)


def threads_of_worker(batch):
    return gardenpath.threads()


def test_items_are_the_sentences_of_the_corpus(grammar):
    corpus = grammar.corpus(60, seed=3)
    dataset = SentenceDataset(grammar, 50, seed=3, start=10)
    assert len(dataset) == len(list(dataset)) == 50
    for i, (tokens, root) in enumerate(dataset):
        assert tokens.dtype == root.dtype == torch.int64
        assert tokens.tolist() == corpus[10 + i].tolist()
        assert root.item() == corpus.roots[10 + i]
    assert torch.equal(dataset[-1][0], dataset[49][0])


# In order, backwards, with gaps, repeated, and so far apart that they are sampled in several pieces.
@pytest.mark.parametrize("indices", [range(100, 164), range(90, 0, -3), [5, 5, 7, 5], [40_000, 2, 9_000, 9_001, 2]])
def test_many_items_at_once_are_the_single_ones(grammar, indices):
    dataset = SentenceDataset(grammar, 50_000, seed=3)
    corpus = grammar.corpus(50_000, seed=3)
    pairs = dataset.__getitems__(list(indices))
    assert [tokens.tolist() for tokens, _ in pairs] == [corpus[i].tolist() for i in indices]
    assert [root.item() for _, root in pairs] == [corpus.roots[i] for i in indices]


def test_no_items_are_an_empty_list(grammar):
    assert SentenceDataset(grammar, 0).__getitems__([]) == []


def test_items_beyond_the_end_do_not_exist(grammar):
    dataset = SentenceDataset(grammar, 50)
    for index in (50, -51):
        with pytest.raises(IndexError, match=f"index is {index}, expected -50 to 49"):
            dataset[index]


def test_shuffling_gives_every_sentence_once(grammar):
    dataset = SentenceDataset(grammar, 500, seed=3)
    loader = with_workers(dataset, 2, None, batch_size=64, shuffle=True, collate_fn=collate)
    found = [(row[row >= 0].tolist(), root) for tokens, roots in loader for row, root in zip(tokens, roots.tolist())]
    corpus = grammar.corpus(500, seed=3)
    expected = [(sentence.tolist(), root) for sentence, root in zip(corpus, corpus.roots.tolist())]
    assert found != expected
    assert sorted(found) == sorted(expected)


def test_collated_items_are_the_padded_corpus(grammar):
    dataset = SentenceDataset(grammar, 40, seed=3)
    corpus = grammar.corpus(40, seed=3)
    loader = DataLoader(dataset, batch_size=40, collate_fn=partial(collate, fill=9))
    (tokens, roots), = loader
    assert np.array_equal(tokens, corpus.padded(9))
    assert np.array_equal(roots, corpus.roots)


def test_the_stream_is_the_corpus_in_batches(grammar):
    corpus = grammar.corpus(100, seed=3)
    batches = list(SentenceStream(grammar, seed=3, batch=32, count=100))
    assert [len(roots) for _, roots in batches] == [32, 32, 32, 4]
    for k, (tokens, roots) in enumerate(batches):
        part = corpus[32 * k : 32 * (k + 1)]
        assert tokens.dtype == roots.dtype == torch.int64
        assert np.array_equal(tokens, part.padded())
        assert np.array_equal(roots, part.roots)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("method", [pytest.param("fork", marks=can_fork), "spawn"])
def test_workers_yield_the_batches_of_a_single_process_in_order(grammar, count, method):
    stream = SentenceStream(grammar, seed=3, batch=16, count=170)
    expected = list(stream)
    assert_same_batches(list(DataLoader(stream, batch_size=None)), expected)
    loader = with_workers(stream, count, method, batch_size=None)
    assert len(loader) == len(expected)
    assert_same_batches(list(loader), expected)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_workers_yield_the_first_batches_of_an_endless_stream(grammar, count):
    stream = SentenceStream(grammar, seed=3, batch=16, first_batch=5)
    loader = with_workers(stream, count, None, batch_size=None)
    assert_same_batches(list(islice(loader, 7)), list(islice(stream, 7)))


@can_fork
def test_workers_forked_from_a_busy_parent_do_not_hang_and_take_one_thread_each(grammar):
    threads = gardenpath.threads()
    gardenpath.set_threads(4)
    try:
        grammar.inside(grammar.corpus(20_000, seed=1))
        torch.ones(500, 500) @ torch.ones(500, 500)
        stream = SentenceStream(grammar, seed=3, batch=16, count=64)
        dataset = SentenceDataset(grammar, 64, seed=3)
        fork = partial(with_workers, count=2, method="fork", collate_fn=threads_of_worker)
        assert list(fork(stream, batch_size=None)) == [1] * 4
        assert list(fork(dataset, batch_size=16)) == [1] * 4
        assert gardenpath.threads() == 4
    finally:
        gardenpath.set_threads(threads)


def test_ranks_share_the_batches(grammar):
    make = partial(SentenceStream, grammar, seed=3, batch=16, count=170, first_batch=2)
    parts = [make(rank=rank, world=3) for rank in range(3)]
    assert [len(part) for part in parts] == [len(list(part)) for part in parts] == [3, 3, 3]
    # The n-th batches of all ranks are consecutive.
    together = [batch for step in zip(*parts, strict=True) for batch in step]
    assert_same_batches(together, list(make()))


def distributed_rank(rank, address, grammar, results):
    torch.distributed.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    stream = SentenceStream(grammar, seed=3, batch=16, count=96)
    results.put((rank, [roots.tolist() for _, roots in stream]))
    torch.distributed.destroy_process_group()


@can_fork
@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch is not built for several processes")
def test_initialised_processes_share_the_batches_without_being_told(grammar, tmp_path):
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    address = (tmp_path / "rendezvous").as_uri()
    processes = []
    for rank in range(2):
        processes.append(context.Process(target=distributed_rank, args=(rank, address, grammar, results), daemon=True))
    for process in processes:
        process.start()
    found = dict(results.get(timeout=PATIENCE) for _ in processes)
    for process in processes:
        process.join(PATIENCE)
    expected = [roots.tolist() for _, roots in SentenceStream(grammar, seed=3, batch=16, count=96)]
    assert found == {0: expected[0::2], 1: expected[1::2]}


@pytest.mark.parametrize("workers", [0, 2])
def test_a_resumed_stream_goes_on_where_it_was(grammar, workers):
    make = partial(SentenceStream, grammar, seed=3, batch=16, count=170)
    resumed = make(first_batch=4)
    assert len(resumed) == 7
    assert_same_batches(list(DataLoader(resumed, batch_size=None, num_workers=workers)), list(make())[4:])


def test_a_stream_that_goes_beyond_its_end_is_empty(grammar):
    stream = SentenceStream(grammar, batch=16, count=32, first_batch=2)
    assert len(stream) == len(list(stream)) == 0


def test_an_endless_stream_has_no_length(grammar):
    with pytest.raises(TypeError, match="the stream is endless"):
        len(SentenceStream(grammar, batch=16))


def test_a_pickled_stream_yields_the_same(grammar):
    stream = SentenceStream(grammar, seed=3, batch=16, count=48, one_hot=True, fixed_length=True)
    assert_same_batches(list(pickle.loads(pickle.dumps(stream))), list(stream))


@pytest.mark.parametrize("p_binary", [0.0, 0.5, 1.0])
def test_the_fixed_length_is_reached_and_not_exceeded(p_binary):
    grammar = gardenpath.Grammar.sample(vocab=4, depth=2, fraction=0.5, seed=7, p_binary=p_binary)
    assert grammar.lengths[1] == grammar.corpus(2000, seed=3).lengths.max()


def test_fixed_length_only_adds_fill(grammar):
    make = partial(SentenceStream, grammar, seed=3, batch=2, count=40, fill=11)
    for (tokens, _), (short, _) in zip(make(fixed_length=True), make(), strict=True):
        assert tokens.shape == (2, 9)
        assert torch.equal(tokens[:, : short.shape[1]], short)
        assert (tokens[:, short.shape[1] :] == 11).all()


def test_one_hot_vectors_are_those_of_the_corpus(grammar):
    corpus = grammar.corpus(64, seed=3)
    (vectors, roots), = SentenceStream(grammar, seed=3, batch=64, count=64, one_hot=True)
    assert vectors.dtype == torch.float32
    assert np.array_equal(vectors, corpus.one_hot())
    assert np.array_equal(roots, corpus.roots)


def test_one_hot_vectors_of_fixed_length_are_the_vectors_of_the_tokens(grammar):
    make = partial(SentenceStream, grammar, seed=3, batch=2, count=40, fixed_length=True)
    for (vectors, _), (tokens, _) in zip(make(one_hot=True), make(fill=grammar.vocab), strict=True):
        assert torch.equal(vectors, one_hot(tokens, grammar.vocab + 1)[:, :, :-1].float())


@pytest.mark.parametrize(
    "options",
    [{}, {"fill": 8}, {"fill": -7, "fixed_length": True}, {"one_hot": True}, {"one_hot": True, "fixed_length": True}],
)
def test_the_floor_is_the_cross_entropy_of_exact_posteriors(options):
    grammar = gardenpath.Grammar.sample(vocab=8, depth=2, fraction=0.5, seed=7)
    corpus = grammar.corpus(1000, seed=3)
    posterior = torch.from_numpy(grammar.inside(corpus)[1])
    roots = torch.from_numpy(corpus.roots.astype(np.int64))
    test = next(iter(SentenceStream(grammar, seed=3, batch=1000, **options)))
    for floor in (bayes_floor(grammar, corpus), bayes_floor(grammar, test, fill=options.get("fill", -1))):
        assert floor.loss == pytest.approx(nll_loss(posterior.log(), roots).item(), rel=1e-12)
        assert floor.accuracy == pytest.approx((posterior.argmax(dim=1) == roots).double().mean().item(), rel=1e-12)
        assert 0 < floor.loss < floor.guessing


def test_a_small_network_learns_and_stays_above_the_floor():
    grammar = gardenpath.Grammar.sample(vocab=3, depth=2, fraction=2 / 3, seed=1)
    make = partial(SentenceStream, grammar, one_hot=True, fixed_length=True)
    corpus = grammar.corpus(5000, seed=2)
    vectors, roots = next(iter(make(seed=2, batch=len(corpus))))
    torch.manual_seed(0)
    layers = torch.nn.Linear(grammar.lengths[1] * 3, 128), torch.nn.ReLU(), torch.nn.Linear(128, 3)
    network = torch.nn.Sequential(torch.nn.Flatten(), *layers)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    for batch, labels in make(seed=1, batch=128, count=128 * 600):
        optimizer.zero_grad()
        cross_entropy(network(batch), labels).backward()
        optimizer.step()
    torch.set_num_threads(threads)
    losses = cross_entropy(network(vectors), roots, reduction="none").detach().double()
    posterior = torch.from_numpy(grammar.inside(corpus)[1])
    excess = losses - nll_loss(posterior.log(), roots, reduction="none")
    floor = bayes_floor(grammar, (vectors, roots))
    assert losses.mean() < floor.guessing / 2
    assert losses.mean() - floor.loss > -3 * excess.std() / len(excess) ** 0.5


@pytest.mark.parametrize(
    "options, message",
    [
        ({"batch": 0}, "batch is 0, expected at least 1"),
        ({"batch": 4, "count": -1}, "count is -1, expected at least 0"),
        ({"batch": 4, "first_batch": -1}, "first_batch is -1, expected at least 0"),
        ({"batch": 4, "fill": 7}, "fill is 7, expected a value that is not one of the 8 tokens"),
        ({"batch": 4, "rank": 1}, "rank is 1 and world is None, expected both or neither"),
        ({"batch": 4, "rank": 2, "world": 2}, "rank is 2, expected 0 to 1"),
        ({"batch": 4, "task": "words"}, "task is 'words', expected 'root', 'next', 'masked' or 'noisy'"),
        ({"batch": 4, "task": "next", "one_hot": True}, "one_hot has no effect here: it needs task='root'"),
        ({"batch": 4, "task": "masked", "fill": 9}, "fill has no effect here: it needs task='root'"),
        ({"batch": 4, "mask": 0.5}, "mask has no effect here: it needs task='masked'"),
        ({"batch": 4, "task": "next", "noise": 0.5}, "noise has no effect here: it needs task='noisy'"),
        ({"batch": 4, "task": "masked", "mask": 0}, "mask is 0, expected more than 0 and at most 1"),
        ({"batch": 4, "task": "noisy", "noise": 2}, "noise is 2, expected a probability"),
    ],
)
def test_impossible_streams_are_refused(grammar, options, message):
    with pytest.raises(ValueError, match=message):
        SentenceStream(grammar, **options)


@pytest.mark.parametrize("fixed_length", [False, True])
def test_next_token_batches_hold_every_prediction(grammar, fixed_length):
    stream = SentenceStream(grammar, seed=3, batch=16, count=40, task="next", fixed_length=fixed_length)
    corpus = grammar.corpus(40, seed=3)
    sentences = iter(corpus)
    for inputs, targets in stream:
        assert inputs.shape == targets.shape and inputs.dtype == targets.dtype == torch.int64
        assert not fixed_length or inputs.shape[1] == grammar.lengths[1] + 1
        assert 0 <= inputs.min() and inputs.max() < stream.num_embeddings
        for row, target in zip(inputs.tolist(), targets.tolist(), strict=True):
            sentence = next(sentences).tolist()
            rest = len(row) - len(sentence) - 1
            assert row == [stream.bos, *sentence, *[stream.pad] * rest]
            assert target == [*sentence, stream.eos, *[-100] * rest]
    assert stream.floor.loss == grammar.floor(corpus).loss
    # The exact rows are logits for the targets, and their mean loss is near the floor.
    inputs, targets = next(iter(SentenceStream(grammar, seed=3, batch=2000, task="next")))
    exact = torch.from_numpy(grammar.next_token(grammar.corpus(2000, seed=3)).rows).log()
    loss = torch.nn.functional.nll_loss(exact, targets[targets != -100], reduction="sum") / (inputs < grammar.vocab).sum()
    floor = grammar.floor(grammar.corpus(2000, seed=3))
    assert abs(loss.item() - floor.loss) < 5 * floor.stderr + 0.02


@pytest.mark.parametrize("task", ["masked", "noisy"])
def test_hidden_tokens_are_what_the_floor_is_about(grammar, task):
    options = {"mask": 0.5} if task == "masked" else {"noise": 0.3}
    stream = SentenceStream(grammar, seed=3, batch=7, count=30, task=task, **options)
    corpus = grammar.corpus(30, seed=3)
    sentences = iter(corpus)
    losses = []
    for inputs, targets in stream:
        for row, target in zip(inputs, targets, strict=True):
            sentence = torch.from_numpy(next(sentences).astype(np.int64))
            seen, asked = row[: len(sentence)], target[: len(sentence)]
            assert (row[len(sentence) :] == stream.pad).all() and (target[len(sentence) :] == -100).all()
            evidence = np.eye(grammar.vocab)[np.where(seen < grammar.vocab, seen, 0)]
            if task == "masked":
                hidden = seen == stream.mask_id
                assert torch.equal(seen[~hidden], sentence[~hidden]) and torch.equal(asked[hidden], sentence[hidden])
                assert (asked[~hidden] == -100).all()
                evidence[hidden.numpy()] = 1
            else:
                hidden = torch.ones_like(seen, dtype=torch.bool)
                assert torch.equal(asked, sentence)
                evidence = 0.7 * evidence + 0.3 / grammar.vocab
            exact = grammar.posterior(evidence).tokens[hidden.numpy()]
            losses.extend(-(exact * np.log(np.where(exact > 0, exact, 1))).sum(axis=1))
    assert stream.floor.loss == pytest.approx(np.mean(losses), abs=1e-12)


def test_vectors_that_are_not_one_hot_have_no_floor(grammar):
    vectors, roots = next(iter(SentenceStream(grammar, batch=4, one_hot=True)))
    for wrong in (vectors + 0.1, vectors[:, :, 1:]):
        with pytest.raises(ValueError, match="expected one-hot vectors of 8 values"):
            bayes_floor(grammar, (wrong, roots))


def test_without_pytorch_the_module_says_what_it_needs():
    program = "import sys; sys.modules['torch'] = None; import gardenpath; import gardenpath.torch"
    result = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert result.stderr.splitlines()[-1] == "ImportError: gardenpath.torch needs PyTorch: pip install torch"
