"""The paper's networks in PyTorch: the numbers of the reference dumps and of the program, and errors."""

import copy
import io
import json
import pickle
from pathlib import Path

import gardenpath
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from gardenpath.torch import CNN, INN, SentenceStream, Transformer, paper_optimizer, read_weights, write_weights
from torch.nn.functional import cross_entropy
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

REFERENCE = Path(__file__).resolve().parents[2] / "crates" / "gardenpath-nn" / "tests" / "reference"
# PyTorch has the networks that predict roots; only the program has those that predict tokens.
DUMPS = [path for path in sorted(REFERENCE.glob("*.safetensors")) if not path.name.startswith(("causal", "masked"))]
KINDS = {"cnn": CNN, "inn": INN, "transformer": Transformer}


def options(model, **sizes):
    return sizes if model == "transformer" else {}


def made_as(metadata):
    sizes = {name: int(metadata[name]) for name in ("vocab", "classes", "depth", "width")}
    if metadata["model"] == "transformer":
        sizes |= {name: int(metadata[name]) for name in ("layers", "heads", "mlp")}
    else:
        sizes["normalization"] = metadata["normalization"]
    return KINDS[metadata["model"]](**sizes).double()


def those(tensors, prefix):
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def padded(tokens, lengths, fill=-1, width=None):
    rows = torch.full((len(lengths), width or max(lengths)), fill)
    for row, part in zip(rows, torch.tensor(tokens).split(lengths)):
        row[: len(part)] = part
    return rows


def gap(found, expected):
    return np.abs(found.detach().numpy() - expected).max() / max(1.0, np.abs(expected).max())


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Networks are so small here that threads would mostly wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=KINDS)
def network(request):
    return KINDS[request.param](8, 5, 2, 16, seed=3, **options(request.param, heads=4))


@pytest.fixture(scope="module")
def grammar():
    return gardenpath.Grammar.sample(vocab=8, depth=2, fraction=0.25, seed=7)


def test_weights_are_counted_before_they_are_made(network):
    assert network._values() == sum(weight.numel() for weight in network.parameters())


def test_there_are_dumps_of_all_networks():
    assert {path.name.partition("-")[0] for path in DUMPS} == set(KINDS) and len(DUMPS) >= 9


@pytest.mark.parametrize("path", DUMPS, ids=[path.stem for path in DUMPS])
def test_logits_gradients_and_steps_are_those_of_the_reference(path):
    tensors, metadata = read_weights(path)
    network = made_as(metadata)
    assert list(those(tensors, "weight.")) == sorted(network.state_dict())
    network.load_weights(those(tensors, "weight."))
    tokens, labels = padded(tensors["tokens"], tensors["lengths"].tolist()), torch.tensor(tensors["labels"])
    if metadata["model"] == "transformer":
        optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    else:
        optimizer = paper_optimizer(network)
    losses = []
    for step in range(len(tensors["losses"])):
        optimizer.zero_grad()
        logits = network(tokens)
        loss = cross_entropy(logits, labels)
        loss.backward()
        if step == 0:
            assert gap(logits, tensors["logits"]) < 1e-10
            for name, gradient in those(tensors, "gradient.").items():
                assert gap(network.weight(name).grad, gradient) < 1e-10, name
        optimizer.step()
        losses.append(loss.item())
    assert np.abs(losses - tensors["losses"]).max() < 1e-9
    for name, weight in those(tensors, "final.").items():
        assert gap(network.weight(name), weight) < 1e-7, name


# The batch of a dump in another layout.
@pytest.mark.parametrize("path", DUMPS, ids=[path.stem for path in DUMPS])
def test_neither_padding_nor_neighbours_change_logits(path):
    tensors, metadata = read_weights(path)
    network = made_as(metadata)
    network.load_weights(those(tensors, "weight."))
    lengths = tensors["lengths"].tolist()
    tokens = padded(tensors["tokens"], lengths)
    expected = network(tokens)
    assert gap(network(padded(tensors["tokens"], lengths, width=100)), expected.detach().numpy()) < 1e-12
    filled = padded(tensors["tokens"], lengths, fill=0, width=100)
    assert gap(network(filled, torch.tensor(lengths)), expected.detach().numpy()) < 1e-12
    assert gap(network(tokens.short()), expected.detach().numpy()) < 1e-12
    vectors = torch.nn.functional.one_hot(tokens.clamp(min=0), network.vocab).float() * (tokens >= 0)[:, :, None]
    assert gap(network(vectors), expected.detach().numpy()) < 1e-12
    alone = torch.cat([network(tokens[i : i + 1]) for i in range(len(tokens))])
    assert gap(alone, expected.detach().numpy()) < 1e-12
    assert gap(network(tokens.flip(0)).flip(0), expected.detach().numpy()) < 1e-12


def test_batches_of_a_stream_are_read(network, grammar):
    for form in ({}, {"one_hot": True}, {"fixed_length": True}):
        tokens, roots = next(iter(SentenceStream(grammar, seed=1, batch=20, **form)))
        assert network(tokens).shape == (20, 5)
    assert network(torch.zeros(0, 9, dtype=torch.int64)).shape == (0, 5)


def test_gradients_are_the_slopes(grammar):
    tokens, roots = next(iter(SentenceStream(grammar, seed=1, batch=6)))
    others = (INN(8, 8, 2, 3, arities=[{1, 2, 3, 8}, {1, 2, 3}]), INN(8, 8, 2, 3, arities=[{2, 3, 4}, {2, 3}]))
    for network in (CNN(8, 8, 2, 3), INN(8, 8, 2, 3), Transformer(8, 8, 2, 4, heads=2), *others):
        network.double()
        cross_entropy(network(tokens), roots).backward()
        for name, weight in network.named_parameters():
            direction = torch.randn_like(weight)
            sides = []
            for sign in (1, -1):
                moved = {**dict(network.named_parameters()), name: weight + sign * 1e-6 * direction}
                sides.append(cross_entropy(torch.func.functional_call(network, moved, (tokens,)), roots).item())
            assert abs((sides[0] - sides[1]) / 2e-6 - (weight.grad * direction).sum().item()) < 1e-6, name


class OneDevice(TorchDispatchMode):
    """Refuses operations on tensors of different devices, as a GPU does."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        assert len({tensor.device.type for tensor in tensors if tensor.ndim > 0}) <= 1, function
        return function(*args, **(kwargs or {}))


# Tensors on the device "meta" have shapes but no values.
def test_all_work_is_done_where_the_weights_are(network, grammar):
    tokens, roots = next(iter(SentenceStream(grammar, seed=1, batch=20)))
    network.to("meta")
    with OneDevice():
        logits = network(tokens)
        logits.sum().backward()
    assert logits.device.type == "meta" and logits.shape == (20, 5)
    assert all(weight.grad.device.type == "meta" for weight in network.parameters())


def test_mixed_precision_is_near(network, grammar):
    tokens, roots = next(iter(SentenceStream(grammar, seed=1, batch=20)))
    expected = network(tokens)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = network(tokens)
        logits.float().square().sum().backward()
    assert (logits.float() - expected).abs().max() < 0.1 * expected.abs().max()
    assert all(weight.grad.isfinite().all() for weight in network.parameters())


# Names describe layers that are not binary and ternary; in many, not all lengths exist.
SHAPES = {
    "binary": [(2,), (2,)],
    "ternary": [(3,), (3,)],
    "mixed above ternary": [(2, 3), (3,)],
    "mixed above mixed above ternary": [(2, 3), (2, 3), (3,)],
    "depth 1": [(2, 3)],
    "unary": [(1,), (1,)],
    "one to three": [(1, 2, 3), (1, 2, 3)],
    "two and four": [(2, 4), (2, 4)],
    "two to four above one and two": [(2, 3, 4), (1, 2)],
    "five and eight above one and two": [(5, 8), (1, 2)],
}


def grammar_of(arities, vocab=3):
    """A grammar whose symbols have a rule of each arity."""
    lines = [f"# sizes: {' '.join([str(vocab)] * (len(arities) + 1))}"]
    lines += [f"S -> A0_{root} [{1 / vocab}]" for root in range(vocab)]
    for level, numbers in enumerate(arities):
        for parent in range(vocab):
            for arity in numbers:
                children = [(parent + k * (arity - 1)) % vocab for k in range(arity)]
                names = [f"'{child}'" if level + 1 == len(arities) else f"A{level + 1}_{child}" for child in children]
                lines.append(f"A{level}_{parent} -> {' '.join(names)} [{1 / len(numbers)}]")
    return gardenpath.Grammar.from_text("\n".join(lines))


@pytest.mark.parametrize("model", KINDS)
@pytest.mark.parametrize("arities", SHAPES.values(), ids=list(SHAPES))
def test_a_network_for_any_grammar_is_that_of_the_program(model, arities, program, tmp_path):
    grammar = grammar_of(arities)
    grammar.write(tmp_path / "g.pcfg")
    words = ["--width", 8, "--samples", 50, "--test-samples", 60, "--seed", 5, "--max-steps", 0]
    words += ["--heads", 4] if model == "transformer" else []
    program("train", "--model", model, "--grammar", tmp_path / "g.pcfg", *words, "-o", tmp_path / "run")
    network = KINDS[model].for_grammar(grammar, 8, seed=5, **options(model, heads=4))
    assert network.shape.arities == tuple(arities)
    assert sorted(network.state_dict()) == sorted(read_weights(tmp_path / "run" / "best.safetensors")[0])
    run = gardenpath.torch.train(network, grammar, samples=50, test=60, seed=5, max_steps=0)
    log = (tmp_path / "run" / "log.jsonl").read_text().splitlines()
    assert abs(json.loads(log[0])["test_loss"] - run.test_loss) < 1e-6


@pytest.mark.parametrize("model", KINDS)
def test_initial_weights_are_those_of_the_program(model, program, tmp_path):
    words = ["--vocab", 8, "--depth", 2, "--width", 32, "--samples", 10, "--test-samples", 10, "--max-steps", 0]
    program("train", "--model", model, *words, "--seed", 123456789, "-o", tmp_path / "run")
    network = KINDS[model](8, 8, 2, 32, seed=123456789)
    found, _ = read_weights(tmp_path / "run" / "best.safetensors")
    assert sorted(found) == sorted(network.state_dict())
    others = values = 0
    for name, expected in found.items():
        weight = network.weight(name).detach().numpy()
        assert weight.shape == expected.shape
        assert np.abs(weight - expected).max() < 1e-6, name
        others += np.count_nonzero(weight != expected)
        values += weight.size
    assert others <= 1e-4 * values


def test_files_of_the_program_are_written_again_byte_for_byte(program, tmp_path):
    words = ["--vocab", 4, "--depth", 2, "--width", 16, "--samples", 10, "--test-samples", 10, "--max-steps", 3]
    program("train", "--model", "transformer", *words, "-o", tmp_path / "run")
    for name in ("best", "checkpoint"):
        path = tmp_path / "run" / f"{name}.safetensors"
        tensors, metadata = read_weights(path)
        write_weights(tmp_path / "copy", tensors, metadata)
        assert (tmp_path / "copy").read_bytes() == path.read_bytes()
        # Adam's state is not a weight.
        Transformer(4, 4, 2, 16).load_weights(path)
    assert any(name.startswith("adam.") for name in tensors)
    assert not list(tmp_path.glob("*.partial"))


def test_the_program_reads_the_weights_that_are_written_here(program, tmp_path):
    words = ["--vocab", 4, "--depth", 2, "--width", 8, "--samples", 10, "--test-samples", 10, "--max-steps", 0]
    program("train", "--model", "cnn", *words, "-o", tmp_path / "run")
    path = tmp_path / "run" / "best.safetensors"
    probe = ["probe", tmp_path / "run", "--samples", 50, "--test-samples", 50, "--exchanged", 20, "--json"]
    before = program(*probe)
    tensors, metadata = read_weights(path)
    write_weights(path, {name: 0 * tensor for name, tensor in tensors.items()}, metadata)
    assert program(*probe) != before
    write_weights(path, tensors, metadata)
    assert program(*probe) == before


def test_weights_survive_files_state_dicts_copies_and_pickles(network, tmp_path):
    def other():
        sizes = {"heads": 4} if isinstance(network, Transformer) else {}
        return type(network)(8, 5, 2, 16, seed=4, **sizes)

    tokens = torch.tensor([[0, 1, 2, 3, -1], [4, 5, 6, 7, 0]])
    expected = network(tokens)
    network.save_weights(tmp_path / "w.safetensors")
    file = io.BytesIO()
    torch.save(network.state_dict(), file)
    file.seek(0)
    from_file, from_tensors, from_state, from_bytes = other(), other(), other(), other()
    assert not torch.equal(other()(tokens), expected)
    from_file.load_weights(tmp_path / "w.safetensors")
    from_tensors.load_weights(network.state_dict())
    from_state.load_state_dict(network.state_dict())
    from_bytes.load_state_dict(torch.load(file))
    copies = [copy.deepcopy(network), pickle.loads(pickle.dumps(network))]
    for same in (from_file, from_tensors, from_state, from_bytes, *copies):
        assert torch.equal(same(tokens), expected)


def test_weights_that_do_not_fit_change_nothing(network, tmp_path):
    before = copy.deepcopy(network.state_dict())
    without = {name: tensor for name, tensor in before.items() if name != "readout"}
    spoiled = [
        (without, r"no tensor 'readout', expected one of shape \(16, 5\)"),
        ({**before, "readout": torch.zeros(16, 6)}, r"tensor 'readout' has shape \(16, 6\), expected \(16, 5\)"),
        ({**before, "surplus": torch.zeros(1)}, "tensor 'surplus' does not belong to this network"),
    ]
    for weights, message in spoiled:
        with pytest.raises(ValueError, match=message):
            network.load_weights(weights)
    network.save_weights(tmp_path / "w")
    content = (tmp_path / "w").read_bytes()
    for damaged, message in [
        (content[:-1], "invalid offsets"),
        (content[:20], "header"),
        (b"", "header"),
        (content[:-1] + bytes([content[-1] ^ 1]), "checksum"),
        (content.replace(b"F32", b"F16"), "F16"),
        (b"\2\0\0\0\0\0\0\0[]", "not a readable safetensors file"),
        (b"\7\0\0\0\0\0\0\0" + b'{"a":1}', "not a readable safetensors file"),
    ]:
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(ValueError, match=message):
            network.load_weights(tmp_path / "damaged")
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, before[name])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CNN(1, 4, 2, 8), "vocab is 1, expected at least 2"),
        (lambda: CNN(4, 1, 2, 8), "classes is 1, expected at least 2"),
        (lambda: INN(4, 4, 0, 8), "depth is 0, expected 1 to 10"),
        (lambda: INN(4, 4, 11, 8), "depth is 11, expected 1 to 10"),
        (lambda: INN(4, 4, 2, 0), "width is 0, expected at least 1"),
        (lambda: CNN(4, 4, 2, 8, "heads"), "normalization is 'heads', expected 'fan-in' or 'width'"),
        (lambda: CNN(4, 4, 2, 8, "splits"), "normalization is 'splits', expected 'fan-in' or 'width'"),
        (lambda: CNN(4, 4, 2, 8, seed=-1), "seed is -1, expected 0 to"),
        (lambda: CNN(4, 4, 2, 8, arities=[(2, 3)]), "arities has 1 levels, expected 2"),
        (lambda: CNN(4, 4, 1, 8, arities=[(9, 2)]), r"arities of a level are \(2, 9\), expected numbers from 1 to 8"),
        (lambda: INN(4, 4, 1, 8, arities=[()]), r"arities of a level are \(\), expected"),
        (lambda: CNN(4, 4, 6, 8, arities=[{8}] * 6), "up to 262144 tokens, expected at most 59049"),
        (lambda: Transformer(4, 4, 2, 24), "width is 24, expected a multiple of the 16 heads"),
        (lambda: Transformer(4, 4, 2, 8, heads=0), "heads is 0"),
        (lambda: Transformer(4, 4, 2, 8, layers=0, heads=2), "layers is 0"),
        (lambda: Transformer(4, 4, 2, 8, mlp=0, heads=2), "mlp is 0"),
        (lambda: CNN(4, 4, 2, 10**9), "GB of weights"),
        (lambda: Transformer(4, 4, 2, 8, layers=10**12, heads=2), "GB of weights"),
        (lambda: paper_optimizer(CNN(4, 4, 2, 8), 0.0), "learning_rate is 0.0"),
    ],
)
def test_wrong_sizes_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("tokens", "lengths", "message"),
    [
        ([[0, 1, 2, 8]], None, "sentence 0: token 8 at position 3, expected one of the 8 tokens"),
        ([[0, 1, 2, 3], [0, 1, -1, 3]], None, "sentence 1: token -1 at position 2"),
        ([[0, 1, 2, -1]], None, "sentence 0: 3 tokens, expected a length of the network's trees, 4 to 9"),
        ([[0] * 10], None, "sentence 0: 10 tokens"),
        ([[0] * 4], [5], "sentence 0: 5 tokens"),
        ([[0] * 4], [-1], "sentence 0: -1 tokens"),
        ([[0] * 4], [4, 4], r"lengths have shape \(2,\), expected \(1,\)"),
        ([0, 1, 2, 3], None, r"tokens are torch.int64 of shape \(4,\), expected integers of shape"),
        ([[0.5, 1, 2, 3]], None, "tokens are torch.float32"),
    ],
)
def test_sentences_that_cannot_be_read_are_refused(network, tokens, lengths, message):
    with pytest.raises(ValueError, match=message):
        network(torch.tensor(tokens), None if lengths is None else torch.tensor(lengths))
