"""Writes pairs, one JSON object a line: python test/verification/generator --seed 1 --first 0 --count 1000.

The cases of a seed are numbered; case i depends on the seed and i alone, so that any range can be made again.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable, Iterator
from random import Random

import calculus
import decompositions
import differential
import equations
import identities
import integers
import matrices
import optima
import regions
import sums
import traps
from pair import Case, Pair

MODULES = [calculus, identities, equations, regions, matrices, decompositions, integers, sums, differential, optima, traps]


def families() -> list[Callable[[Random], Case]]:
    return [family for module in MODULES for family in module.FAMILIES]


def pairs(seed: int, first: int, count: int, only: str = "") -> Iterator[Pair]:
    """So many pairs from case `first` on. A case that cannot be made whole is an error of the generator, never skipped."""
    every = [f for f in families() if not only or f.__name__ in only.split(",")]
    index, made = first, 0
    while made < count:
        case = every[index % len(every)](Random(f"{seed}/{index}"))
        seen = set()
        for pair in case.pairs:
            if made < count and pair.answer not in seen:
                seen.add(pair.answer)
                yield pair
                made += 1
        index += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--count", type=int, default=1000, help="pairs to write")
    parser.add_argument("--only", default="", help="these families only, by the names of their functions: a,b")
    options = parser.parse_args()
    sys.set_int_max_str_digits(100_000)
    for pair in pairs(options.seed, options.first, options.count, options.only):
        print(json.dumps(dataclasses.asdict(pair), ensure_ascii=False))


if __name__ == "__main__":
    main()
