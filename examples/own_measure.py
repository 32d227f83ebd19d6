"""Two of your own networks compared with the paper's: an MLP, an LSTM and a CNN.

python examples/own_measure.py [directory]      # a second run reuses the results of the first
"""

import sys
from pathlib import Path

import gardenpath
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot, pad


# Networks this small do not benefit from more.
torch.set_num_threads(1)


class MLP(nn.Module):
    """An MLP that sees all positions at once; tokens are -1 after the end of a sentence."""

    def __init__(self, vocab: int, classes: int, longest: int = 9, hidden: int = 64) -> None:
        super().__init__()
        self.vocab, self.longest = vocab, longest
        self.layers = nn.Sequential(nn.Linear(longest * (vocab + 1), hidden), nn.ReLU(), nn.Linear(hidden, classes))

    def forward(self, tokens: Tensor) -> Tensor:
        vectors = one_hot(pad(tokens, (0, self.longest - tokens.shape[1]), value=-1) + 1, self.vocab + 1)
        logits: Tensor = self.layers(vectors.float().flatten(1))
        return logits


class LSTM(nn.Module):
    """A recurrent network that predicts after the last token."""

    def __init__(self, vocab: int, classes: int, hidden: int = 32) -> None:
        super().__init__()
        self.embedding, self.lstm = nn.Embedding(vocab + 1, hidden), nn.LSTM(hidden, hidden, batch_first=True)
        self.readout = nn.Linear(hidden, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        states, _ = self.lstm(self.embedding(tokens + 1))
        last = (tokens >= 0).sum(dim=1) - 1
        logits: Tensor = self.readout(states[torch.arange(len(tokens)), last])
        return logits


# Ten lines in addition to the networks.
def learn(network: nn.Module, train: gardenpath.Corpus, test: gardenpath.Corpus, steps: int) -> dict[str, float]:
    (tokens, roots), (new, answers) = ((torch.tensor(c.padded()), torch.tensor(c.roots).long()) for c in (train, test))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    for batch in (torch.randint(len(roots), (128,)) for _ in range(steps)):
        optimizer.zero_grad()
        cross_entropy(network(tokens[batch]), roots[batch]).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return {"test_loss": cross_entropy(network(new), answers).item()}


@gardenpath.measure(version=1)
def mlp(train: gardenpath.Corpus, test: gardenpath.Corpus, seed: int, *, steps: int = 100) -> dict[str, float]:
    torch.manual_seed(seed)
    return learn(MLP(train.vocab, train.classes), train, test, steps)


@gardenpath.measure(version=1)
def lstm(train: gardenpath.Corpus, test: gardenpath.Corpus, seed: int, *, steps: int = 100) -> dict[str, float]:
    torch.manual_seed(seed)
    return learn(LSTM(train.vocab, train.classes), train, test, steps)


# The same sentences for all of them, and one file that compares them.
GRID = """
measure = "{measure}"

[[grid]]
vocab = 8
depth = 2
fraction = 0.125
samples = [256, 1024, 4096]
test = 1000
seed = "1..5"
{options}
"""

MEASURES = {
    "mlp": "steps = 100",
    "lstm": "steps = 100",
    "train": 'model = "cnn"\nwidth = 32\nmax_steps = 300',
}

COMPARED = """
uses = ["mlp.toml", "lstm.toml", "train.toml"]

[[fit]]
name = "loss"
kind = "mean"
of = "normalized_loss"
groups = ["learner", "samples"]

[[panel]]
x = "samples"
x_scale = "log"
y = "normalized_loss"
color = "learner"
lines = [{ y = "bayes_normalized_loss", label = "Bayes" }]
"""


def main(directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    for measure, options in MEASURES.items():
        (directory / f"{measure}.toml").write_text(GRID.format(measure=measure, options=options))
    (directory / "compared.toml").write_text(COMPARED)
    results = gardenpath.Experiment.load(directory / "compared.toml").run(directory / "results")
    for fit in results.fit():
        assert fit.value is not None and fit.interval is not None
        low, high = fit.interval
        learner, samples = fit.group["learner"], fit.group["samples"]
        print(f"{learner:5} {samples:5} sentences: loss / guessing {fit.value:.3f} [{low:.3f}, {high:.3f}]")
    results.figure().write(directory / "compared.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "own_measure"))
