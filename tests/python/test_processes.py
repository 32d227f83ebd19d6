"""Processes and threads: Ctrl-C, forks, the GIL, and results that do not depend on any of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import gardenpath
from gardenpath import Corpus, Grammar, Moments

# Seconds from Ctrl-C to the end of the process.
PATIENCE = 3

# Each would take minutes.
LONG_CALLS = {
    "inside": """
        grammar = gardenpath.Grammar.sample(vocab=16, depth=4, fraction=1.0, seed=1)
        corpus = grammar.corpus(200_000, seed=1)
        started()
        grammar.inside(corpus)
    """,
    "entropy": """
        grammar = gardenpath.Grammar.sample(vocab=16, depth=4, fraction=1.0, seed=1)
        corpus = grammar.corpus(200_000, seed=1)
        started()
        grammar.entropy(corpus)
    """,
    "bayes_floor": """
        grammar = gardenpath.Grammar.sample(vocab=16, depth=4, fraction=1.0, seed=1)
        corpus = grammar.corpus(200_000, seed=1)
        started()
        grammar.bayes_floor(corpus)
    """,
    "corpus": """
        grammar = gardenpath.Grammar.sample(vocab=16, depth=3, seed=1)
        started()
        grammar.corpus(10**9)
    """,
    "trees": """
        corpus = gardenpath.Grammar.sample(vocab=16, depth=6, seed=1).corpus(200_000)
        started()
        while True:
            corpus.trees()
    """,
    "em": """
        corpus = gardenpath.Grammar.sample(vocab=8, depth=2, seed=1).corpus(5_000)
        started()
        gardenpath.learn(corpus, 2, mode="em", starts=10**6, rounds=10**6)
    """,
    "em on many sentences": """
        corpus = gardenpath.Grammar.sample(vocab=8, depth=2, seed=1).corpus(1_000_000)
        started()
        gardenpath.learn(corpus, 2, mode="em")
    """,
    "kmeans": """
        import numpy
        rows = numpy.random.default_rng(1).normal(size=(40_000, 64))
        started()
        gardenpath.kmeans(rows, clusters=128)
    """,
    "class_entropy": """
        started()
        gardenpath.class_entropy(vocab=16, depth=3, fraction=1.0, grammars=10**6, sentences=1000)
    """,
    "snr": """
        started()
        gardenpath.snr(vocab=16, depth=3, grammars=10**5)
    """,
    "measure": """
        import json, tempfile
        cell = {"measure": "entropy", "vocab": 16, "depth": 4, "fraction": 1.0, "sentences": 10**6, "seed": 1}
        store = gardenpath.Store(tempfile.mkdtemp())
        started()
        store.measure([gardenpath.Cell.from_json(json.dumps(cell))])
    """,
    "a sweep of networks": """
        import tempfile
        experiment = gardenpath.Experiment.parse('''
            measure = "train"
            expects = ""
            [[grid]]
            model = ["cnn", "inn", "transformer"]
            vocab = 8
            depth = 2
            fraction = 0.25
            # So many that no network overfits: the rising loss would end its run.
            samples = 1_000_000
            test = 1000
            width = 64
            max_steps = 1_000_000_000
            min_steps = 1_000_000_000
            seed = 1
        ''')
        directory = tempfile.mkdtemp()
        started()
        try:
            gardenpath.sweep(experiment, directory)
        finally:
            # Nobody works on in the background.
            store = gardenpath.Store(directory)
            assert [store.state(cell) for cell in experiment.cells()] == ["missing"] * 3
    """,
}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for other processes")
@pytest.mark.parametrize("call", LONG_CALLS.values(), ids=LONG_CALLS.keys())
def test_ctrl_c_stops_long_calls(call: str) -> None:
    script = (
        f"import gardenpath\ndef started(): print('started', flush=True)\n{textwrap.dedent(call)}\nprint('finished')"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            time.sleep(0.5)
            assert process.poll() is None, "the call is not long"
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            pytest.fail(f"still at work {PATIENCE} s after Ctrl-C", pytrace=False)
        finally:
            process.kill()
    assert "finished" not in output
    assert errors.rstrip().endswith("KeyboardInterrupt"), errors
    assert "panicked" not in errors


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
def test_signals_remain_those_of_python_after_files_were_written(tmp_path: Path) -> None:
    run(f"""
        import gardenpath, os, signal, time
        heard = []
        signals = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
        for number in signals:
            signal.signal(number, lambda number, _: heard.append(number))
        os.chdir({str(tmp_path)!r})
        grammar = gardenpath.Grammar.sample(vocab=4, depth=2, seed=1)
        grammar.write("a.pcfg")
        grammar.corpus(10).write("a.parquet")
        cell = gardenpath.Cell.from_json(
            '{{"measure": "entropy", "vocab": 4, "depth": 2, "fraction": 0.5, "sentences": 10, "seed": 1}}'
        )
        gardenpath.Store("store").measure([cell])
        for number in signals:
            os.kill(os.getpid(), number)
            time.sleep(0.1)
        assert heard == signals, heard
    """)


def run(script: str) -> str:
    """Runs a script in its own process, which must succeed in time: a deadlock is a failure."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@needs_fork
def test_a_forked_child_computes_after_its_parent_did() -> None:
    run("""
        import os, gardenpath
        grammar = gardenpath.Grammar.sample(vocab=8, depth=3, seed=1)
        corpus = grammar.corpus(20_000, seed=1)
        posterior = grammar.inside(corpus)[1].tobytes()
        child = os.fork()
        if child == 0:
            same = grammar.corpus(20_000, seed=1) == corpus and grammar.inside(corpus)[1].tobytes() == posterior
            os._exit(0 if same else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert grammar.inside(corpus)[1].tobytes() == posterior
    """)


@needs_fork
def test_a_child_can_be_forked_while_a_call_is_at_work() -> None:
    run("""
        import os, threading, gardenpath
        grammar = gardenpath.Grammar.sample(vocab=8, depth=3, fraction=0.5, seed=1)
        corpus = grammar.corpus(5_000, seed=1)
        posterior = grammar.inside(corpus[:1000])[1].tobytes()
        enough = threading.Event()

        def work():
            while not enough.is_set():
                grammar.inside(corpus)

        worker = threading.Thread(target=work)
        worker.start()
        children = []
        for _ in range(5):
            child = os.fork()
            if child == 0:
                os._exit(0 if grammar.inside(corpus[:1000])[1].tobytes() == posterior else 1)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 5
        enough.set()
        worker.join()
    """)


@needs_fork
def test_a_pool_of_forked_workers_computes() -> None:
    run("""
        import multiprocessing, gardenpath
        grammar = gardenpath.Grammar.sample(vocab=8, depth=3, seed=1)
        whole = grammar.corpus(4000, seed=1)
        entropy = grammar.entropy(whole)

        def part(start):
            corpus = grammar.corpus(1000, seed=1, start=start)
            return corpus, grammar.entropy(corpus)

        with multiprocessing.get_context("fork").Pool(2) as pool:
            parts = pool.map(part, range(0, 4000, 1000))
        assert [sentence.tolist() for corpus, _ in parts for sentence in corpus] == [s.tolist() for s in whole]
        assert [value for _, values in parts for value in values] == entropy.tolist()
    """)


def test_spawned_workers_take_grammars_and_corpora() -> None:
    # A spawned process imports what it calls, so this is a method of the object that was sent.
    run("""
        import multiprocessing, gardenpath
        if __name__ == "__main__":
            grammar = gardenpath.Grammar.sample(vocab=8, depth=2, seed=1)
            corpus = grammar.corpus(100, seed=1)
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                assert pool.apply(grammar.entropy, (corpus,)).tolist() == grammar.entropy(corpus).tolist()
                assert pool.apply(corpus.trees) == corpus.trees()
    """)


def test_other_threads_work_during_a_call() -> None:
    gardenpath.set_threads(1)
    grammar = Grammar.sample(vocab=16, depth=3, fraction=1.0, seed=1)
    corpus = grammar.corpus(2000, seed=1)
    times: list[float] = []
    finished = threading.Event()

    def tick() -> None:
        while not finished.wait(0.001):
            times.append(time.monotonic())

    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        start = time.monotonic()
        while time.monotonic() - start < 0.3:
            begin = time.monotonic()
            grammar.inside(corpus)
            end = time.monotonic()
    finally:
        finished.set()
        ticker.join()
    # During a single call: between calls the GIL is free anyway.
    during = [moment for moment in times if begin < moment < end]
    assert len(during) >= 5, f"{len(during)} ticks in {end - begin} s"


def everything() -> list[bytes]:
    """Results that could depend on the number of threads, but must not."""
    grammar = Grammar.sample(vocab=8, depth=2, fraction=0.25, seed=3)
    corpus = grammar.corpus(10_000, seed=4)
    learned = gardenpath.learn(corpus, 2)
    study = gardenpath.snr(vocab=4, depth=2, grammars=3, samples=[100, 1000], seed=1)
    labels, centroids, inertia = gardenpath.kmeans(corpus[:500].one_hot().reshape(500, -1), clusters=5, seed=1)
    arrays: list[np.ndarray] = [
        corpus.tokens,
        corpus.offsets,
        corpus.roots,
        corpus.padded(),
        corpus.one_hot(),
        *grammar.inside(corpus),
        grammar.entropy(corpus),
        Moments(corpus).triples,
        study.noise,
        study.ratio,
        labels,
        centroids,
    ]
    floor = grammar.bayes_floor(corpus)
    others = [
        learned.grammar.to_text(),
        learned.verdict,
        inertia,
        floor.loss,
        floor.accuracy,
        list(map(str, corpus[:200].trees())),
        gardenpath.class_entropy(8, 2, 0.5, grammars=3, sentences=200),
        gardenpath.rule_purity(grammar, corpus, restarts=2),
        gardenpath.learn(corpus[:500], 2, mode="em", starts=2, rounds=3).grammar.to_text(),
    ]
    return [array.tobytes() for array in arrays] + [repr(other).encode() for other in others]


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    results = []
    for threads in (1, 3):
        gardenpath.set_threads(threads)
        assert gardenpath.threads() == threads
        results.append(everything())
    assert [one == three for one, three in zip(*results, strict=True)] == [True] * len(results[0])


def test_threads_that_call_at_once_get_their_own_results() -> None:
    def work(seed: int) -> tuple[Corpus, np.ndarray, Moments]:
        grammar = Grammar.sample(vocab=6, depth=2, fraction=0.5, seed=seed)
        corpus = grammar.corpus(2000, seed=seed)
        return corpus, grammar.inside(corpus)[1], Moments(corpus)

    expected = [work(seed) for seed in range(16)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(16)))
    for (corpus, posterior, moments), (same_corpus, same_posterior, same_moments) in zip(expected, found, strict=True):
        assert corpus == same_corpus
        assert moments == same_moments
        np.testing.assert_array_equal(posterior, same_posterior)


def test_threads_share_one_corpus_while_the_number_of_threads_changes() -> None:
    grammar = Grammar.sample(vocab=6, depth=2, fraction=0.5, seed=1)
    corpus = grammar.corpus(5000, seed=1)
    expected = grammar.entropy(corpus).tobytes()

    def work(threads: int) -> bytes:
        gardenpath.set_threads(threads)
        return grammar.entropy(corpus).tobytes()

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(work, [1, 2, 3, 4] * 5)) == {expected}


@pytest.mark.parametrize("count", [0, 100_000, -1])
def test_the_number_of_threads_is_positive_and_sensible(count: int) -> None:
    before = gardenpath.threads()
    with pytest.raises(ValueError, match="number"):
        gardenpath.set_threads(count)
    assert gardenpath.threads() == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGALRM")
def test_a_handler_of_signals_runs_during_a_call_and_may_raise() -> None:
    run("""
        import signal, time, gardenpath

        class Late(Exception):
            pass

        def ring(*_):
            raise Late

        grammar = gardenpath.Grammar.sample(vocab=16, depth=3, seed=1)
        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        start = time.monotonic()
        try:
            grammar.corpus(10**9)
        except Late:
            assert time.monotonic() - start < 3
        else:
            raise AssertionError("the handler was not called")
        # Nothing is left behind that would stop the next call.
        corpus = grammar.corpus(100)
        assert len(corpus) == len(grammar.entropy(corpus)) == 100
    """)


def test_a_call_that_failed_does_not_disturb_the_next(deep: Grammar) -> None:
    calls: list[Callable[[], object]] = [
        lambda: deep.inside([[0, 99]]),
        lambda: gardenpath.learn(Corpus([[0, 1]]), 2),
        lambda: gardenpath.class_entropy(4, 2, -1.0),
    ]
    expected = deep.entropy(deep.corpus(100)).tobytes()
    for call in calls:
        with pytest.raises(ValueError):
            call()
        assert deep.entropy(deep.corpus(100)).tobytes() == expected
