"""Training in PyTorch agrees with the program: the same sentences, batches, measurements and ending."""

import json
import math
import pickle

import gardenpath
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from gardenpath.torch import CNN, INN, Transformer, train
from gardenpath.torch._seed import Seed, gaussians, shuffled
from gardenpath.torch.training import Record, _Order, _Rule

KINDS = {"cnn": CNN, "inn": INN, "transformer": Transformer}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Networks are so small here that threads would mostly wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def grammar():
    return gardenpath.Grammar.sample(vocab=8, depth=2, fraction=0.125, seed=1)


def run_of_program(program, directory, model, **options):
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    result = json.loads(
        program("train", "--model", model, "--vocab", 8, "--depth", 2, "--fraction", 0.125, *words, "-o", directory, "--json")
    )
    log = [json.loads(line) for line in (directory / "log.jsonl").read_text().splitlines()]
    return result, log


# These words are frozen in the program too: crates/gardenpath/src/seed.rs and crates/gardenpath-nn/src/tensors.rs.
def test_random_numbers_are_those_of_the_program():
    from gardenpath.torch import _seed

    words = _seed._words(Seed.new(7).child("corpus").states(3, 1), 2)
    assert words.ravel().tolist() == [12665190638661804467, 15619959456827143740]
    values = gaussians(Seed.new(3).nth(0), 2, 3)
    frozen = np.array([4604859319169262057, 13831944921702379302], dtype=np.uint64).view(np.float64)
    assert np.allclose([values[0, 0], values[1, 2]], frozen, rtol=1e-15, atol=0)


def test_a_seed_has_a_number():
    for number in (0, 1, 7, 2**63, 2**64 - 1):
        assert Seed.new(number).number == number
    child = Seed.new(5).child("test")
    assert Seed.new(child.number) == child
    with pytest.raises(ValueError, match="seed is 18446744073709551616"):
        Seed.new(2**64)


@pytest.mark.parametrize("count", [1, 2, 3, 255, 256, 257, 1000, 5000])
def test_an_epoch_is_shuffled_as_one_number_after_the_other_would_be(count):
    from gardenpath.torch import _seed

    seed = Seed.new(9)
    words = _seed._words(seed.states(4, 1), count).ravel().tolist()
    numbers = list(range(count))
    for i, word in zip(range(count - 1, 0, -1), words):
        j = word * (i + 1) >> 64
        numbers[i], numbers[j] = numbers[j], numbers[i]
    assert shuffled(seed, 4, count).tolist() == numbers


def test_batches_are_cut_from_epochs():
    seed = Seed.new(2)
    sequence = np.concatenate([shuffled(seed, epoch, 10) for epoch in range(9)])
    order = _Order(seed, 10)
    for number in (0, 1, 2, 3, 12, 5):
        assert order.batch(number, 6).tolist() == sequence[6 * number : 6 * number + 6].tolist()
    assert sorted(_Order(seed, 10).batch(3, 10).tolist()) == list(range(10))


@pytest.mark.parametrize(
    ("model", "options"),
    [("cnn", {}), ("inn", {}), ("inn", {"normalization": "splits"}), ("transformer", {"heads": 4})],
)
def test_the_first_steps_are_those_of_the_program(model, options, grammar, program, tmp_path):
    result, log = run_of_program(
        program, tmp_path / "run", model, samples=500, test_samples=1000, width=32, seed=1, max_steps=70, **options
    )
    network = KINDS[model](8, 8, 2, 32, seed=1, **options)
    seen = []
    run = train(network, grammar, samples=500, test=1000, seed=1, max_steps=70, progress=seen.append)
    assert run.curve == seen and [record.step for record in seen] == [0, 32, 64, 70]
    for found, expected in zip(run.curve, log, strict=True):
        assert found.step == expected["step"] and found.epoch == expected["epoch"]
        assert abs(found.train_loss - expected["train_loss"]) < 1e-4
        assert abs(found.test_loss - expected["test_loss"]) < 1e-4
        assert abs(found.test_accuracy - expected["test_accuracy"]) < 0.005
    assert abs(run.bayes_loss - result["bayes_loss"]) < 1e-12 and run.bayes_accuracy == result["bayes_accuracy"]


# Until they end on their own; a short patience makes for short runs. Longer ones drift apart: sooner or later, rounding decides
# the sign of a ReLU's input.
@pytest.mark.parametrize(
    ("model", "options", "ending"),
    [
        ("cnn", {"samples": 300, "width": 16, "min_steps": 100}, "rise"),
        ("cnn", {"samples": 2000, "width": 16, "max_steps": 250}, "steps"),
        ("inn", {"samples": 500, "width": 16, "min_steps": 100, "patience": 1.2}, "plateau"),
    ],
)
def test_a_run_ends_as_that_of_the_program(model, options, ending, grammar, program, tmp_path):
    result, log = run_of_program(program, tmp_path / "run", model, **options, test_samples=1000, seed=1)
    options = dict(options)
    network = KINDS[model](8, 8, 2, options.pop("width"), seed=1)
    run = train(network, grammar, **options, test=1000, seed=1)
    assert run.ending == result["ending"] == ending
    for key in ("best_step", "steps", "epochs"):
        assert getattr(run, key) == result[key], key
    for key in ("test_loss", "normalized_loss", "train_loss", "bayes_loss"):
        assert abs(getattr(run, key) - result[key]) < 1e-3, key
    network.load_weights(tmp_path / "run" / "best.safetensors")
    for name, weight in run.weights.items():
        assert (network.weight(name) - weight).abs().max() < 0.01, name


def test_the_best_weights_have_the_best_loss(grammar):
    network = CNN(8, 8, 2, 16, seed=1)
    run = train(network, grammar, samples=100, test=500, seed=1, max_steps=400)
    assert run.best_step < run.steps
    network.load_weights(run.weights)
    again = train(network, grammar, samples=100, test=500, seed=1, max_steps=0)
    assert abs(again.test_loss - run.test_loss) < 1e-6 and again.test_accuracy == run.test_accuracy
    assert run.test_loss == min(record.test_loss for record in run.curve)
    assert run.normalized_loss == run.test_loss / math.log(8)


def test_a_run_that_diverges_ends_at_the_step_of_the_program(grammar, program, tmp_path):
    result, log = run_of_program(
        program, tmp_path / "run", "cnn", samples=300, test_samples=200, width=16, seed=1, learning_rate=1e30
    )
    network = CNN(8, 8, 2, 16, seed=1)
    optimizer = gardenpath.torch.paper_optimizer(network, 1e30)
    run = train(network, grammar, samples=300, test=200, seed=1, optimizer=optimizer)
    assert (run.ending, run.best_step, len(run.curve)) == ("diverged", 0, 1)
    assert result["ending"] == "diverged" and run.steps == result["steps"]
    assert all(tensor.isfinite().all() for tensor in run.weights.values())


def test_a_network_of_the_users_own_is_trained(grammar):
    class Bag(torch.nn.Module):
        """Counts of tokens."""

        def __init__(self):
            super().__init__()
            self.table = torch.nn.Embedding(9, 8, padding_idx=8)

        def forward(self, tokens):
            assert self.training == torch.is_grad_enabled()
            return self.table(tokens.where(tokens >= 0, 8)).sum(dim=1)

    network = Bag()
    with pytest.raises(ValueError, match="the model is a Bag, expected an optimizer"):
        train(network, grammar, samples=10, test=10)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.05)
    run = train(network, grammar, samples=2000, test=500, max_steps=200, optimizer=optimizer)
    assert run.bayes_loss < run.test_loss < 0.95 * run.curve[0].test_loss
    assert set(run.weights) == {"table.weight"}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize("model", KINDS)
def test_a_graphics_processor_finds_the_same(model, grammar):
    sizes = {"heads": 4} if model == "transformer" else {}
    runs = [
        train(KINDS[model](8, 8, 2, 32, **sizes), grammar, samples=500, test=1000, max_steps=64, device=device)
        for device in ("cpu", "cuda")
    ]
    assert abs(runs[0].test_loss - runs[1].test_loss) < 1e-3
    assert all(tensor.device.type == "cpu" for tensor in runs[1].weights.values())


def test_a_plateau_before_the_first_steps_is_none():
    rule = _Rule(guessing=math.log(8), min_steps=100, patience=2.0)

    def record(step, loss):
        rule.records.append(Record(step, 0.0, loss, loss, 0.5))
        return rule.ending()

    assert [record(0, 2.0), record(32, 2.0), record(64, 1.0), record(96, 1.0), record(128, 0.999)] == [None] * 4 + ["plateau"]
    rule.records.clear()
    assert [record(step, loss) for step, loss in ((0, 1.0), (32, 1.2), (64, 1.2), (96, 1.2), (97, 1.2))][3:] == [None, "rise"]


def test_a_plateau_at_guessing_does_not_end_training():
    rule = _Rule(guessing=1.0, min_steps=100, patience=2.0)
    rule.records = [Record(step, 0.0, 0.999, 0.999, 0.1) for step in (0, 32, 64, 128, 2000)]
    assert rule.ending() is None
    rule.records.append(Record(3000, 0.0, 0.98, 0.98, 0.1))
    assert rule.ending() is None
    rule.records.append(Record(6000, 0.0, 0.98, 0.98, 0.1))
    assert rule.ending() == "plateau"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 0}, "samples is 0, expected at least 1"),
        ({"test": 0}, "test is 0, expected at least 1"),
        ({"batch": 0}, "batch is 0, expected at least 1"),
        ({"max_steps": -1}, "max_steps is -1, expected at least 0"),
        ({"min_steps": -1}, "min_steps is -1, expected at least 0"),
        ({"patience": 1.0}, "patience is 1.0, expected more than 1"),
        ({"patience": math.nan}, "patience is nan"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_wrong_options_are_refused(options, message, grammar):
    with pytest.raises(ValueError, match=message):
        train(CNN(8, 8, 2, 8), grammar, **{"samples": 10, "test": 10, **options})


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((9, 8, 2), "vocab of the network is 9, expected 8"),
        ((8, 9, 2), "classes of the network is 9, expected 8"),
        ((8, 8, 3), "depth of the network is 3, expected 2"),
    ],
)
def test_a_network_for_another_grammar_is_refused(sizes, message, grammar):
    with pytest.raises(ValueError, match=message):
        train(CNN(*sizes, 8), grammar, samples=10, test=10)


def test_runs_pickle_compare_and_have_a_repr(grammar):
    def run(steps):
        return train(CNN.for_grammar(grammar, width=8, seed=1), grammar, samples=50, test=50, max_steps=steps)

    one, other = run(32), run(40)
    assert one == run(32) == pickle.loads(pickle.dumps(one)) and one != other and one != "a run"
    assert repr(one).startswith("Run(test_loss=") and "tensor" not in repr(one)
