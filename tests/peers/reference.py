"""What the peers compute for a grammar and its sentences.

NLTK reads the grammar and enumerates every parse tree; genlm-grammar computes sentence
probabilities with Earley's algorithm. Nothing here knows the program under test.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from genlm.grammar import CFG, Earley, Float
from nltk import PCFG, Nonterminal, Tree
from nltk.parse.pchart import InsideChartParser
from nltk.parse.viterbi import ViterbiParser

Tokens = Sequence[int]


@dataclass(frozen=True)
class Parse:
    """One parse tree of a sentence and its probability given its root."""

    tree: Tree
    probability: float


class Reference:
    """A grammar as the peers see it.

    The start symbol has one unary rule per class; tokens are numbers by their order.
    """

    def __init__(self, text: str) -> None:
        """Read a grammar with NLTK."""
        self.pcfg = PCFG.fromstring(text)
        start = self.pcfg.productions(lhs=self.pcfg.start())
        if any(len(rule.rhs()) != 1 for rule in start):
            raise ValueError("the start symbol has a rule that is not unary")
        self.classes: list[str] = [rule.rhs()[0].symbol() for rule in start]
        self.prior: list[float] = [rule.prob() for rule in start]
        self.rules = {
            (rule.lhs(), rule.rhs()): rule.prob() for rule in self.pcfg.productions()
        }

    @cached_property
    def words(self) -> list[str]:
        """The tokens, in the order of their numbers."""
        found = {word for _, rhs in self.rules for word in rhs if isinstance(word, str)}
        return sorted(found, key=int)

    @cached_property
    def layers(self) -> list[list[Nonterminal]]:
        """The nonterminals of each level, from the classes down."""
        layers = [[Nonterminal(name) for name in self.classes]]
        while True:
            below = {
                child
                for parent in layers[-1]
                for rule in self.pcfg.productions(lhs=parent)
                for child in rule.rhs()
                if isinstance(child, Nonterminal)
            }
            if not below:
                return layers
            layers.append(sorted(below, key=lambda symbol: symbol.symbol()))

    @cached_property
    def cfg(self) -> CFG:
        """The same grammar for genlm-grammar, with floats for weights."""
        cfg = CFG(R=Float, S=self.pcfg.start().symbol(), V=set(self.words))
        for (lhs, rhs), probability in self.rules.items():
            cfg.add(probability, lhs.symbol(), *map(str, rhs))
        return cfg

    @cached_property
    def _earley(self) -> Earley:
        return Earley(self.cfg)

    @cached_property
    def _earley_of_class(self) -> list[Earley]:
        return [Earley(self.cfg[name]) for name in self.classes]

    def earley_total(self, tokens: Tokens) -> float:
        """Compute P(sentence), by genlm-grammar."""
        return run_earley(self._earley, self.spell(tokens))

    def earley_inside(self, tokens: Tokens) -> list[float]:
        """Compute P(sentence | root) of each class, by genlm-grammar."""
        words = self.spell(tokens)
        return [run_earley(earley, words) for earley in self._earley_of_class]

    def language(self) -> dict[tuple[str, ...], float]:
        """Find P(sentence) of every sentence: genlm-grammar lists all derivations."""
        return dict(self.cfg.language(len(self.layers) + 1))

    def trees(self, tokens: Tokens) -> list[list[Parse]]:
        """Find all parse trees of a sentence by root, by NLTK."""
        trees: dict[str, list[Parse]] = {name: [] for name in self.classes}
        for tree in InsideChartParser(self.pcfg).parse(self.spell(tokens)):
            below = tree[0]
            trees[below.label()].append(Parse(below, below.prob()))
        return list(trees.values())

    def viterbi(self, tokens: Tokens) -> float:
        """Find the largest P(root) P(tree | root) of all roots and trees, by NLTK."""
        parser = ViterbiParser(self.pcfg, max_time=None)
        return max(
            (tree.prob() for tree in parser.parse(self.spell(tokens))), default=0
        )

    def probability(self, tree: Tree) -> float:
        """Multiply the probabilities of the tree's rules.

        A rule that the grammar does not have is a KeyError.
        """
        return math.prod(
            self.rules[rule.lhs(), rule.rhs()] for rule in tree.productions()
        )

    def spell(self, tokens: Tokens) -> list[str]:
        """Write a sentence given as numbers in words."""
        return [self.words[token] for token in tokens]


def run_earley(earley: Earley, words: list[str]) -> float:
    """Compute P(words) with a parser of genlm-grammar.

    It calls itself for the words before the last one and keeps the result: going from
    left to right, it never calls itself deeper than once.
    """
    for end in range(len(words)):
        earley.chart(words[:end])
    probability = earley(words)
    earley.clear_cache()
    return probability


def posterior(prior: Iterable[float], inside: Iterable[float]) -> list[float]:
    """Compute P(root | sentence) by Bayes' rule."""
    joint = [p * q for p, q in zip(prior, inside, strict=True)]
    total = sum(joint)
    return [p / total for p in joint]


def entropy(distribution: Iterable[float]) -> float:
    """Compute the entropy in nats."""
    return -sum(p * math.log(p) for p in distribution if p > 0)


def rule_counts(trees: Iterable[Tree]) -> Counter[tuple[Nonterminal, tuple]]:
    """Count how often each rule stands in the trees."""
    return Counter(
        (rule.lhs(), rule.rhs()) for tree in trees for rule in tree.productions()
    )
