"""Everything a small grammar derives, by enumeration. Uses only the rules and the prior of the library."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

import gardenpath

Sentence = tuple[int, ...]


@dataclass(frozen=True)
class Rule:
    """A rule of one level."""

    number: int
    parent: int
    children: tuple[int, ...]
    probability: float


def rules_of(grammar: gardenpath.Grammar, level: int) -> dict[int, list[Rule]]:
    """The rules of a level by their parents."""
    by_parent: dict[int, list[Rule]] = defaultdict(list)
    for number, (parent, arity, children, probability) in enumerate(grammar.rules(level).tolist()):
        by_parent[parent].append(Rule(number, parent, tuple(children[:arity].tolist()), probability))
    return by_parent


@dataclass(frozen=True)
class Derivation:
    """A tree, as the symbols of each level and the rules that lead from each level to the next."""

    probability: float
    levels: tuple[tuple[int, ...], ...]
    rules: tuple[tuple[Rule, ...], ...]

    @property
    def root(self) -> int:
        return self.levels[0][0]

    @property
    def sentence(self) -> Sentence:
        return self.levels[-1]

    def nodes(self, level: int) -> list[tuple[int, int, int]]:
        """Start, span and symbol of the nodes of a level."""
        spans = [1] * len(self.sentence)
        for rules in reversed(self.rules[level:]):
            below = iter(spans)
            spans = [sum(itertools.islice(below, len(rule.children))) for rule in rules]
        starts = itertools.accumulate(spans, initial=0)
        return list(zip(starts, spans, self.levels[level], strict=False))


class Language:
    """All derivations of a grammar, by sentence. The probability of a derivation is that given its root."""

    def __init__(self, grammar: gardenpath.Grammar) -> None:
        self.grammar = grammar
        self.layers = [rules_of(grammar, level) for level in range(grammar.depth)]
        self.derivations: dict[Sentence, list[Derivation]] = defaultdict(list)
        for root in range(grammar.classes):
            for derivation in self._grow(Derivation(1.0, ((root,),), ())):
                self.derivations[derivation.sentence].append(derivation)

    def _grow(self, top: Derivation) -> Iterator[Derivation]:
        if len(top.rules) == self.grammar.depth:
            yield top
            return
        layer = self.layers[len(top.rules)]
        for rules in itertools.product(*(layer[symbol] for symbol in top.levels[-1])):
            probability = top.probability * math.prod(rule.probability for rule in rules)
            symbols = tuple(itertools.chain.from_iterable(rule.children for rule in rules))
            yield from self._grow(Derivation(probability, (*top.levels, symbols), (*top.rules, rules)))

    @cached_property
    def sentences(self) -> list[Sentence]:
        """All sentences, in a fixed order."""
        return sorted(self.derivations)

    def likelihoods(self, sentence: Sentence) -> NDArray[np.float64]:
        """The probability of a sentence given each root."""
        likelihoods = np.zeros(self.grammar.classes)
        for derivation in self.derivations.get(sentence, []):
            likelihoods[derivation.root] += derivation.probability
        return likelihoods

    def shares(self, sentence: Sentence) -> list[tuple[Derivation, float]]:
        """The derivations of a sentence with their posterior probabilities."""
        prior = self.grammar.prior
        joint = [
            (derivation, derivation.probability * prior[derivation.root]) for derivation in self.derivations[sentence]
        ]
        total = sum(weight for _, weight in joint)
        return [(derivation, weight / total) for derivation, weight in joint]

    def most_ambiguous(self) -> Sentence:
        """The sentence with the most derivations."""
        return max(self.sentences, key=lambda sentence: len(self.derivations[sentence]))


def inside(grammar: gardenpath.Grammar, sentence: Sequence[int]) -> NDArray[np.float64]:
    """The probability of a sentence given each root, by recursion over spans: for grammars too large to enumerate."""
    layers = [rules_of(grammar, level) for level in range(grammar.depth)]

    @cache
    def derives(level: int, symbol: int, start: int, end: int) -> float:
        height = grammar.depth - level
        if not 2**height <= end - start <= 3**height:
            return 0.0
        if height == 0:
            return float(sentence[start] == symbol)
        return sum(rule.probability * splits(level + 1, rule.children, start, end) for rule in layers[level][symbol])

    @cache
    def splits(level: int, symbols: tuple[int, ...], start: int, end: int) -> float:
        if len(symbols) == 1:
            return derives(level, symbols[0], start, end)
        cuts = range(start + 1, end)
        return sum(derives(level, symbols[0], start, cut) * splits(level, symbols[1:], cut, end) for cut in cuts)

    return np.array([derives(0, root, 0, len(sentence)) for root in range(grammar.classes)])


def tree_shapes(depth: int) -> dict[int, int]:
    """The number of shapes of trees of each length."""
    shapes = {1: 1}
    for _ in range(depth):
        pairs = _convolve(shapes, shapes)
        triples = _convolve(pairs, shapes)
        shapes = {length: pairs[length] + triples[length] for length in sorted(pairs.keys() | triples.keys())}
    return shapes


def _convolve(one: Mapping[int, int], other: Mapping[int, int]) -> dict[int, int]:
    product: dict[int, int] = defaultdict(int)
    for (length, count), (more, times) in itertools.product(one.items(), other.items()):
        product[length + more] += count * times
    return product
