"""All solutions of algebraic equations in some unknowns, under conditions and in a domain, each as exact numbers or enclosures."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from flint import acb, arb, ctx, fmpq, fmpq_mat, fmpq_poly

from .. import budget
from ..evaluation import Environment, evaluate, truth
from ..normal import proves_equal
from ..roots import isolated
from ..tree import Refused, Tree, arguments, free_symbols, is_call, replace
from ..truth import member
from ..values import (
    Gaussian,
    NonValue,
    Number,
    Undecided,
    complex_ball,
    is_exact,
    precision,
    settled,
)
from .algebraic import NotAlgebraic, Reader
from .systems import Family, Infinite, families, roots_of

ORDERS = ("Less", "LessEqual", "Greater", "GreaterEqual")
COMPARED = (*ORDERS, "Equal", "Unequal")
OF_RATIONALS = ("Rationals", "Integers", "Primes")  # ends of the names of domains without irrational numbers


@dataclass(frozen=True)
class Candidate:
    """A solution of the equations. admissible: whether it meets conditions and domain; None where that is not known."""

    values: dict[str, Number]
    admissible: bool | None
    real: bool | None


class Algebraic:
    """The solutions of equations with finitely many; raises NotAlgebraic, Infinite, TooHard when it is made."""

    def __init__(self, equations: Iterable[Tree], others: list[Tree], unknowns: list[str], domain: str) -> None:
        self.equations, self.others, self.unknowns, self.domain = list(equations), others, unknowns, domain
        reader = Reader(unknowns)
        for equation in self.equations:
            for left, right in zip(arguments(equation), arguments(equation)[1:], strict=False):
                reader.equation(left, right)
        self.system = reader.system
        if self.system.real and domain == "Complexes" and not bounded(others, unknowns):
            self.only_real = True
        else:
            self.only_real = False
        self.families = families(self.system)
        self.minimal = [[minimal_polynomial(family, i) for i in range(len(unknowns))] for family in self.families]
        self.cache: dict[int, list[Candidate]] = {}

    def at(self, bits: int) -> list[Candidate]:
        """Every solution of the equations, at a precision. Raises Undecided where roots are not told apart."""
        if bits not in self.cache:
            budget.step()
            with precision(bits):
                solutions: list[dict[str, Number]] = []
                for family, minimal in zip(self.families, self.minimal, strict=True):
                    exact = family.exact()
                    roots = [acb(0)] if exact is not None else roots_of(family, bits)
                    for t in roots:
                        coordinates = [acb(arb(v)) for v in exact] if exact is not None else family.at(t)
                        values = self._values(family, coordinates, minimal)
                        if values is not None:
                            solutions.append(values)
                self.cache[bits] = [self._candidate(values, solutions) for values in solutions]
        return self.cache[bits]

    def _candidate(self, values: dict[str, Number], solutions: list[dict[str, Number]]) -> Candidate:
        real = all(is_real(value) for value in values.values())
        return Candidate(values, self._admissible(values, real, solutions), real)

    def _values(self, family: Family, coordinates: list[acb], minimal: list[fmpq_poly]) -> dict[str, Number] | None:
        """None where an auxiliary unknown is not the root it stands for."""
        values: dict[str, Number] = {}
        for name, rough, polynomial in zip(self.unknowns, coordinates, minimal, strict=False):
            if polynomial.degree() == 1:
                values[name] = -polynomial[0] / polynomial[1]
                continue
            near = [root for root, _ in isolated(tuple(polynomial.coeffs()), ctx.prec) if root.overlaps(rough)]
            if len(near) != 1:
                raise Undecided("roots not told apart")
            values[name] = settled(near[0])
        real = all(is_real(value) for value in values.values())
        if self.system.imaginary is not None and not self._is_imaginary_unit(coordinates[self.system.imaginary]):
            return None
        for root in self.system.roots:
            if root.degree and not self._principal(family, root.index, root.degree, coordinates):
                return None
            if root.degree == 0 and not (real and self._not_negative(family, root.index, coordinates)):
                return None
        return values

    @staticmethod
    def _is_imaginary_unit(value: acb) -> bool:
        if value.imag > 0:
            return True
        if value.imag < 0:
            return False
        raise Undecided("I or -I")

    def _not_negative(self, family: Family, index: int, coordinates: list[acb]) -> bool:
        if family.vanishes(index):
            return True
        if coordinates[index].real > 0:
            return True
        if coordinates[index].real < 0:
            return False
        raise Undecided("the sign of an absolute value")

    def _principal(self, family: Family, index: int, degree: int, coordinates: list[acb]) -> bool:
        """Whether a coordinate is the principal root: -Pi < degree Arg <= Pi."""
        if family.vanishes(index):
            return True
        value = coordinates[index]
        minimal = minimal_polynomial(family, index)
        if minimal.degree() == 1:
            exact = -minimal[0] / minimal[1]
            return bool(exact > 0)  # a negative number has argument Pi, more than Pi/degree
        near = [root for root, _ in isolated(tuple(minimal.coeffs()), ctx.prec) if root.overlaps(value)]
        if len(near) != 1:
            raise Undecided("roots not told apart")
        value = near[0]
        if value.imag.is_zero():
            if value.real.contains(0):
                raise Undecided("sign")
            return bool(value.real > 0)
        angle = degree * value.arg()
        pi = arb.pi()
        if abs(angle) < pi:
            return True
        if abs(angle) > pi:
            return False
        # On the cut: the radicand is a negative number where value^degree is real, and then the angle is Pi or -Pi.
        power = polynomial_of_power(minimal, degree)
        whole = value**degree
        on_cut = [root for root, _ in isolated(tuple(power.coeffs()), ctx.prec) if root.overlaps(whole)]
        if len(on_cut) == 1 and on_cut[0].imag.is_zero() and on_cut[0].real < 0:
            return bool(angle > 0)
        raise Undecided("on a cut")

    def _admissible(self, values: dict[str, Number], real: bool, solutions: list[dict[str, Number]]) -> bool | None:
        inside = self._inside(values, real)
        if inside is False:
            return False
        answers = [inside]
        for condition in self.others:
            holds = holds_at(condition, values, self.equations, solutions)
            if holds is False:
                return False
            answers.append(holds)
        if any(answer is None for answer in answers):
            return None
        return True

    def _inside(self, values: dict[str, Number], real: bool) -> bool | None:
        if self.domain == "Complexes":
            return True
        if not real:
            return False
        answers: list[bool | None] = []
        for value in values.values():
            if not is_exact(value) and self.domain.endswith(OF_RATIONALS):
                return False  # a root of an irreducible polynomial of higher degree
            try:
                found = member(value if is_exact(value) else complex_ball(value).real, self.domain)
                answers.append(found if isinstance(found, bool) else None)
            except Undecided:
                answers.append(None)
        return False if False in answers else None if None in answers else True


def is_real(value: Number) -> bool:
    return isinstance(value, fmpq | arb) or (isinstance(value, acb) and value.imag.is_zero())


def bounded(others: list[Tree], unknowns: list[str]) -> bool:
    """Whether every unknown stands in a comparison by order: it is real then."""
    named = {side for other in others if is_call(other, "Less", "LessEqual", "Greater", "GreaterEqual", "Inequality") for side in arguments(other)}
    return all(name in named for name in unknowns)


def minimal_polynomial(family: Family, index: int) -> fmpq_poly:
    """The irreducible polynomial over the rationals of one coordinate of the solutions of a family."""
    n = family.modulus.degree()
    if n == 1:
        values = family.exact()
        assert values is not None
        return fmpq_poly([-values[index], 1])
    _, inverse, _ = (family.denominator % family.modulus).xgcd(family.modulus)
    element = family.numerators[index] * inverse % family.modulus
    if element == fmpq_poly([0, 1]):
        return family.modulus
    return minimal_of(element, family.modulus)


def minimal_of(element: fmpq_poly, modulus: fmpq_poly) -> fmpq_poly:
    n = modulus.degree()
    columns = []
    x, image = fmpq_poly([0, 1]), element
    for _ in range(n):
        columns.append([image[k] for k in range(n)])
        image = image * x % modulus
    full = fmpq_mat(n, n, [columns[j][k] for k in range(n) for j in range(n)]).charpoly()
    return full // full.gcd(full.derivative())


def polynomial_of_power(minimal: fmpq_poly, degree: int) -> fmpq_poly:
    return minimal_of(fmpq_poly([0, 1]) ** degree % minimal, minimal)


def holds_at(condition: Tree, values: dict[str, Number], equations: list[Tree], solutions: list[dict[str, Number]]) -> bool | None:
    """Whether a condition holds at one of the solutions of the equations; None where it is not decided."""
    if is_call(condition, "And", "List"):
        answers = [holds_at(part, values, equations, solutions) for part in arguments(condition)]
        return False if False in answers else None if None in answers else True
    if is_call(condition, "Or"):
        answers = [holds_at(part, values, equations, solutions) for part in arguments(condition)]
        return True if True in answers else None if None in answers else False
    if is_call(condition, "Not"):
        inner = holds_at(arguments(condition)[0], values, equations, solutions)
        return None if inner is None else not inner
    if is_call(condition, "Inequality"):
        parts = arguments(condition)
        return holds_at(("And", *((parts[i + 1], parts[i], parts[i + 2]) for i in range(0, len(parts) - 2, 2))), values, equations, solutions)
    if is_call(condition, *COMPARED) and len(arguments(condition)) > 2 and not is_call(condition, "Unequal"):
        parts, head = arguments(condition), condition[0]  # type: ignore[index]
        return holds_at(("And", *((head, a, b) for a, b in itertools.pairwise(parts))), values, equations, solutions)
    try:
        found = truth(condition, Environment.of(values))
        if isinstance(found, bool):
            return found
        complex_ones = any(isinstance(v, Gaussian) or (isinstance(v, acb) and not v.imag.contains(0)) for v in values.values())
        return False if complex_ones and is_call(condition, *ORDERS) else None  # an order holds of real numbers only
    except Undecided:
        return at_the_end(condition, values, equations, solutions)
    except Refused:
        return None


def at_the_end(condition: Tree, values: dict[str, Number], equations: list[Tree], solutions: list[dict[str, Number]]) -> bool | None:
    """x op b where b is itself proved to solve the equations: the enclosure that holds it is its own."""
    if len(values) != 1 or not is_call(condition, *COMPARED) or len(arguments(condition)) != 2:
        return None
    name = next(iter(values))
    left, right = arguments(condition)
    end = right if left == name else left if right == name else None
    if end is None or name in free_symbols(end):
        return None
    for equation in equations:
        sides = [replace(side, name, end) for side in arguments(equation)]
        if not all(proves_equal(a, b) for a, b in itertools.pairwise(sides)):
            return None
    try:
        value = evaluate(end)
    except (Undecided, Refused):
        return None
    if isinstance(value, bool | tuple | NonValue):
        return None
    here = [other for other in solutions if complex_ball(value).overlaps(complex_ball(other[name]))]
    if len(here) != 1 or here[0] is not values:
        return None
    return is_call(condition, "LessEqual", "GreaterEqual", "Equal")


__all__ = ["Algebraic", "Candidate", "Infinite", "NotAlgebraic", "holds_at"]
