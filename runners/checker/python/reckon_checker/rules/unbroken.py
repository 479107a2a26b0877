"""Whether an answer to a differential equation is one function across the places where its formula jumps: x^2 + UnitStep[x - 3] has
the derivative 2 x off 3, and is no solution. It may jump where the equations are singular: there one solution ends and another begins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..calculus import differentiate
from ..critical import JUMPING
from ..normal import proves_zero
from ..sought import Absent, Sought, Unseen
from ..tree import Refused, Tree, arguments, free_symbols, is_call, replace, walk
from .bounds_of_integrals import inverted
from .breaks import single_valued
from .continuity import Asked, Leap, jumps

Bodies = dict[str, tuple[Tree, int]]  # the function of x, and how many of its derivatives are determined


@dataclass(frozen=True)
class Answer:
    """nodes: the equations as expressions of name$order that are to be zero; tops: the symbols of the highest derivatives."""

    bodies: Bodies
    nodes: list[Tree]
    tops: list[str]
    x: str
    seed: int

    def jumps(self) -> Sought[Leap]:
        """A jump of a function, or of one of the derivatives that have to be continuous, where the equations are regular."""
        jumping = any(is_call(part, *JUMPING) for node in self.nodes for part in walk(node))
        exact = True
        for body, order in self.bodies.values():
            if single_valued(body, self.x):
                continue
            if any(is_call(part, *JUMPING) for part in walk(body)) and not jumping:
                return Unseen("steps in a solution of equations without any")
            for n in range(order):
                found = self._of_derivative(body, n)
                if not isinstance(found, Absent):
                    return found
                exact = exact and found.exact
        return Absent(exact)

    def _of_derivative(self, body: Tree, n: int) -> Sought[Leap]:
        try:
            node = differentiate(body, self.x, n) if n else body
            rate = differentiate(node, self.x)
        except Refused:
            return Unseen("a derivative")
        return jumps(rate, node, self.x, [], seed=self.seed, asked=Asked(ends=self._singular))

    def _singular(self, place: Tree) -> bool:
        """Whether the equation is proved to be singular at a place: the factor of the highest derivative, a function of x alone, is 0 there, or
        another one has a pole."""
        if len(self.nodes) != 1 or len(self.tops) != 1:
            return False
        slope = differentiate(self.nodes[0], self.tops[0])
        if free_symbols(slope) == {self.x} and proves_zero(replace(slope, self.x, place)):
            return True
        return any(proves_zero(replace(inverted(part), self.x, place)) for part in self._of_x(self.nodes[0]))

    def _of_x(self, node: Tree) -> Iterator[Tree]:
        """The largest parts that depend on x alone."""
        names = free_symbols(node)
        if names == {self.x}:
            yield node
        elif self.x in names:
            for part in arguments(node):
                yield from self._of_x(part)
