"""Sentences for PyTorch networks, the Bayes floor, and the paper's networks.

Your own network, trained on fresh sentences, compared with the floor:

>>> import torch
>>> from gardenpath import Grammar
>>> from gardenpath.torch import SentenceStream, bayes_floor
>>> grammar = Grammar.sample(vocab=8, depth=2, fraction=0.125, seed=1)
>>> shape = dict(one_hot=True, fixed_length=True)
>>> size = grammar.lengths[1] * grammar.vocab
>>> network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(size, grammar.classes))
>>> optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
>>> for tokens, roots in SentenceStream(grammar, seed=1, batch=128, count=25_600, **shape):
...     optimizer.zero_grad()
...     torch.nn.functional.cross_entropy(network(tokens), roots).backward()
...     _ = optimizer.step()
>>> test = next(iter(SentenceStream(grammar, seed=2, batch=2000, **shape)))
>>> loss = torch.nn.functional.cross_entropy(network(test[0]), test[1]).item()
>>> floor = bayes_floor(grammar, test)
>>> floor.loss < loss < floor.guessing
True

Sentence `i` depends only on (grammar, seed, `i`). Nothing is stored, and neither the number of workers nor the
order of access changes a sentence. Training and test sets differ in their seeds.

`CNN`, `INN` and `Transformer` are the networks of `gardenpath train`, with the same initial weights and the same files, and
`train` is its recipe, on any PyTorch device:

>>> from gardenpath.torch import CNN, train
>>> run = train(CNN.for_grammar(grammar, width=32), grammar, samples=1024, test=1000, max_steps=100)
>>> run.ending, run.steps, run.bayes_loss < run.test_loss
('steps', 100, True)
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("gardenpath.torch needs PyTorch: pip install torch") from error

from .cnn import CNN
from .inn import INN
from .networks import Network
from .streams import SentenceDataset, SentenceStream, bayes_floor, collate
from .training import Record, Run, paper_optimizer, train
from .transformer import Transformer
from .weights import read_weights, write_weights

__all__ = [
    "CNN",
    "INN",
    "Network",
    "Record",
    "Run",
    "SentenceDataset",
    "SentenceStream",
    "Transformer",
    "bayes_floor",
    "collate",
    "paper_optimizer",
    "read_weights",
    "train",
    "write_weights",
]
