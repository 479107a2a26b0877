"""Procedure "equations": functions put into the differential or difference equations they are said to solve.

Put in, then counted: near a point where the equations can be solved for the highest derivatives (shifts) the solutions are
determined by the lower ones there, as many as the orders together; the answer's constants, whatever they are called, must
reach as many dimensions less the conditions that are given. A dimension is proved by a minor of the Jacobian of that data by the
constants whose enclosure is not zero; the lack of one by a count of constants or a minor whose normal form is zero.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from flint import fmpq

from ..calculus import applied, differentiate
from ..evaluation import Environment, evaluate
from ..findings import Open, Refuted, Residual, Statement, Supported, Verified
from ..normal import proves_zero
from ..sought import Absent, Found, Sought, Unseen
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, replace, walk
from ..values import Undecided
from . import amplitudes, boundary, branches, families, finite, general_integrals, recurrences
from .breaks import single_valued
from .continuity import Leap
from .derivatives_named import function_of, written_out
from .families import branchless
from .jacobian import determinant, nonzero, rank_at_points
from .put_in import Functions, PutIn
from .unbroken import Answer

MAX_ORDER = 6


def check(task: dict[str, Any], seed: int) -> Residual:
    problem = Problem(task, seed)
    if not problem.solutions:
        return Open("no solution")
    if any(not problem.free_of_functions(f) for s in problem.solutions for f in s.values()):
        return Open("the answer speaks of the functions it gives")
    bodies = [applied(b["function"], tuple(problem.variables)) for s in task["solutions"] for b in s]
    objection = finite.objection(bodies, problem.variables, problem.equations)
    if isinstance(objection, Refuted):
        return objection
    found = judged(problem)
    return objection if objection is not None and isinstance(found, Verified | Supported) else found


def judged(problem: Problem) -> Residual:
    states = []
    for one in problem.solutions:
        state = problem.put_in(one)
        if isinstance(state, Refuted):
            return state
        states.append(state)
    completeness = problem.completeness()
    if isinstance(completeness, Refuted):
        return completeness
    for state in states:
        if isinstance(state, Open):
            return state
    if problem.recurrence:
        return problem.sequence(states) or Supported()
    if any(isinstance(state, Supported) for state in states):
        return Supported()
    sought = problem.jumps()
    if isinstance(sought, Found):
        return Open("the formula jumps: " + sought.what.sentence())
    if isinstance(completeness, Verified):
        if isinstance(sought, Unseen):
            return Open("whether the formula jumps: " + sought.why)
        exact = sought.exact and all(isinstance(state, Verified) and state.exact for state in states)
        return Verified(exact, completeness.residual)
    return Supported()


class Problem(PutIn):
    """How many solutions there are, and whether the answer has them all."""

    def orders(self) -> dict[str, tuple[int, int]] | None:
        """For each function the lowest and highest derivative (shift); None where an equation is of another kind."""
        found: dict[str, list[int]] = {name: [] if self.recurrence else [0] for name in self.names}
        for equation in self.general:
            for part in walk(equation):
                if not isinstance(part, tuple):
                    continue
                head = part[0]
                if head in self.names:
                    place = self._shift(part)
                    if place is None:
                        return None
                    found[str(head)].append(place)
                elif isinstance(head, tuple) and is_call(head[0], "Derivative") and len(head) == 2 and head[1] in self.names:
                    order = arguments(head[0])
                    if len(order) != 1 or not isinstance(order[0], int) or part[1:] != tuple(self.variables) or self.recurrence:
                        return None
                    found[str(head[1])].append(order[0])
                elif is_call(part, "D", "Integrate", "Sum", "Dt"):
                    return None
        if not all(found.values()):
            return None
        return {name: (min(places), max(places)) for name, places in found.items()}

    def _shift(self, part: tuple[Tree, ...]) -> int | None:
        if not self.recurrence:
            return 0 if part[1:] == tuple(self.variables) else None
        if len(part) != 2:
            return None
        try:
            at = [evaluate(part[1], Environment({self.variables[0]: fmpq(n)})) for n in (5, 6)]
        except (Undecided, Refused):
            return None
        a, b = at
        if not isinstance(a, fmpq) or not isinstance(b, fmpq) or b - a != 1 or a.q != 1:
            return None
        return int(a.p) - 5

    def completeness(self) -> Residual:
        if len(self.variables) == 2:
            return self.transported() or Open("how many functions are needed")
        if len(self.variables) != 1 or len(self.general) != len(self.names) or any(len(arguments(e)) != 2 for e in self.general):
            return Open("how many constants are needed")
        self.general = [written_out(e, self.variables[0]) for e in self.general]
        orders = self.orders()
        if orders is None:
            return Open("how many constants are needed")
        total = sum(high - low for low, high in orders.values())
        if total > MAX_ORDER or not self.determined(orders):
            return Open("whether the equations determine the highest derivatives")
        needed = max(total - len(self.initial), 0)
        best: int | None = 0
        for s in self.solutions:
            names = self.constants(s)
            if len(names) < needed:
                continue
            rank = self.dimension(s, names, orders, needed)
            best = rank if rank is None or best is None else max(best, rank)
            if best is None:
                return Open("the dimension of the solutions")
        if best is not None and best < needed:
            count = best or (most(self, needed) if most(self, needed) < needed else 0)
            return Refuted(
                Statement(f"a general solution has independent constants: {needed} of them; in the answer those that change it independently are {count}")
            )
        between = self.at_two_places(orders)
        if between is not None:
            return between
        branch = self.other_branch(orders)
        if branch is not None:
            return branch
        if self.general_integral(orders):
            return Verified(True)
        if not self.at_one_place(orders) or not self.first_degree(orders):
            return Open("further solutions")
        if self.initial and not self.one_for_initial_values(orders):
            return Open("whether the initial values leave one solution")
        if self.linear() and len(self.solutions) != 1:
            return Open("several solutions of a linear equation")
        if not self.linear() and self.initial and total != len(self.initial):
            return Open("further solutions")
        if any(sum(name.startswith("C[") for name in self.constants(s)) > needed for s in self.solutions):
            return Open("more constants than a general solution has")
        if not self.initial and not self.nothing_cancels(orders):
            return Open("whether the factor of the highest derivative gives further solutions")
        if needed == 0 or self.reaches_all():
            return Verified(True)
        return Verified(True, amplitudes.ALL_REAL_ONES) if self.reaches_all_real() else Open("further solutions")

    def sequence(self, states: Sequence[Residual]) -> Verified | None:
        """The proof that the answer of a recurrence is its solution (recurrences.py)."""
        orders = self.orders() if len(self.variables) == 1 else None
        if orders is None or not all(isinstance(state, Verified) for state in states) or any(len(arguments(e)) != 2 for e in self.general):
            return None
        nodes = [self._symbols(minus(*arguments(e))) for e in self.general]
        total = sum(high - low for low, high in orders.values())
        rank = self.dimension(self.solutions[0], self.constants(self.solutions[0]), orders, total) if total <= MAX_ORDER else None
        exact = all(isinstance(state, Verified) and state.exact for state in states)
        return recurrences.proof(self, orders, nodes, rank, exact)

    def general_integral(self, orders: dict[str, tuple[int, int]]) -> bool:
        """Whether one answer has all solutions but singular ones of a polynomial equation of first order and higher degree."""
        if len(self.names) != 1 or orders[self.names[0]] != (0, 1) or self.recurrence or self.initial or self.first_degree(orders):
            return False
        (name,), x = self.names, self.variables[0]
        equation = self._symbols(minus(*arguments(self.general[0])))
        found = [(applied(s[name], (x,)), self.constants(s)) for s in self.solutions]
        if any(len(names) > 1 for _, names in found):
            return False
        return any(general_integrals.has_all_but_singular(equation, (x, f"{name}$0", f"{name}$1"), body, names[0]) for body, names in found if len(names) == 1)

    def reaches_all_real(self) -> bool:
        """Whether real constants of one answer in amplitude and phase reach every real solution of a linear equation."""
        s = self.solutions[0]
        if len(self.solutions) != 1 or len(self.names) != 1 or self.recurrence or not self.linear() or self.initial:
            return False
        return amplitudes.all_real_ones(applied(s[self.names[0]], (self.variables[0],)), self.constants(s), self.variables[0])

    def jumps(self) -> Sought[Leap]:
        """A jump of the functions where the equations are regular (unbroken.py)."""
        if len(self.variables) > 1:
            bodies = [applied(function, tuple(self.variables)) for s in self.solutions for function in s.values()]
            return Absent() if all(single_valued(body, x) for body in bodies for x in self.variables) else Unseen("functions of several variables")
        exact = True
        for one in self.answers():
            found = one.jumps()
            if not isinstance(found, Absent):
                return found
            exact = exact and found.exact
        return Absent(exact)

    def answers(self) -> list[Answer]:
        """The solutions in one variable, for a look at their jumps."""
        orders = self.orders() if len(self.variables) == 1 else None
        if orders is None:
            return []  # nothing says how many solutions there are
        x = self.variables[0]
        nodes = [self._symbols(minus(*arguments(e))) for e in self.general]
        tops = [f"{name}${orders[name][1]}" for name in self.names]
        return [Answer({name: (applied(s[name], (x,)), orders[name][1]) for name in self.names}, nodes, tops, x, self.seed) for s in self.solutions]

    def nothing_cancels(self, orders: dict[str, tuple[int, int]]) -> bool:
        """Whether no function of the lower derivatives makes the factor of the highest one and the rest zero together, as y does in y y' == y."""
        nodes = [self._symbols(minus(*arguments(e))) for e in self.general]
        tops = [f"{name}${orders[name][1]}" for name in self.names]
        slopes = [differentiate(node, top) for node in nodes for top in tops]
        lower = sorted({part for slope in slopes for part in free_symbols(slope) if part.split("$")[0] in self.names and "$" in part})
        if not lower:
            return True
        if len(nodes) != 1 or len(tops) != 1:
            return False
        return all(branches.no_common_zero(slopes[0], replace(nodes[0], tops[0], 0), name) for name in lower)

    def transported(self) -> Residual | None:
        """Whether the answer is the general solution of one linear partial equation of first order with constant coefficients."""
        if len(self.general) != 1 or self.initial or len(self.names) != 1 or len(self.solutions) != 1 or len(arguments(self.general[0])) != 2:
            return None
        (u,) = self.names
        node = boundary.partial_symbols(minus(*arguments(self.general[0])), u, self.variables)
        if any(isinstance(part, tuple) and (part[0] in (u, "D") or not isinstance(part[0], str)) for part in walk(node)):
            return None
        body = applied(self.solutions[0][u], tuple(self.variables))
        if not boundary.moves(node, u + "$", [f"{u}$0", f"{u}$1"]):
            return None
        if boundary.without_functions(body):
            return Refuted(Statement("the general solution has an arbitrary function, the answer has none"))
        return Verified(True) if boundary.transported(node, u + "$", [f"{u}$0", f"{u}$1"], self.variables, body) else None

    def at_two_places(self, orders: dict[str, tuple[int, int]]) -> Residual | None:
        """A linear equation of second order with conditions at two places: one solution, or infinitely many that the answer must show by a
        constant. None where that is not known."""
        places = [self._condition(e) for e in self.initial]
        known = [place for place in places if place is not None]
        if len(self.names) != 1 or orders[self.names[0]] != (0, 2) or self.recurrence or len(known) != 2 or len(places) != 2 or len(self.solutions) != 1:
            return None
        (name,), x = self.names, self.variables[0]
        node = self._symbols(minus(*arguments(self.general[0])))
        one = boundary.unique(node, [f"{name}${n}" for n in range(3)], x, known)
        if one is None or self.constants(self.solutions[0]):
            return None
        return Verified(True) if one else Refuted(Statement("the conditions leave infinitely many solutions, or none; the answer has one and no constant"))

    def _condition(self, equation: Tree) -> tuple[Tree, int] | None:
        """The place and order of a condition y^(n)[place] == number."""
        sides = arguments(equation)
        found = [part for side in sides for part in walk(side) if isinstance(part, tuple) and function_of(part, self.names)]
        if len(found) != 1 or found[0] not in sides or len(sides) != 2:
            return None
        part = found[0]
        assert isinstance(part, tuple)
        _, order = function_of(part, self.names) or ("", 0)
        return None if free_symbols(part[1]) else (part[1], order)

    def other_branch(self, orders: dict[str, tuple[int, int]]) -> Refuted | None:
        """Another solution of one equation of first order."""
        if len(self.names) != 1 or orders[self.names[0]] != (0, 1) or self.recurrence or self.initial:
            return None
        (name,), x = self.names, self.variables[0]
        answers = []
        for s in self.solutions:
            names = self.constants(s)
            if len(names) != 1:
                return None
            answers.append((applied(s[name], (x,)), names[0]))
        return branches.left_out(self._symbols(minus(*arguments(self.general[0]))), x, f"{name}$0", f"{name}$1", answers)

    def reaches_all(self) -> bool:
        """Whether the constants of one answer reach every solution but some that are constant (families.py)."""
        x, s = self.variables[0], self.solutions[0]
        bodies, names = [applied(s[name], (x,)) for name in self.names], self.constants(s)
        if len(self.solutions) == 1 and families.affine(bodies, names):
            return True
        if len(self.names) != 1 or self.recurrence:
            return False
        found = [(applied(one[self.names[0]], (x,)), self.constants(one)) for one in self.solutions]
        return any(len(constants) == 1 and families.onto(body, constants[0], x, self.seed, self.linear()) for body, constants in found)

    def one_for_initial_values(self, orders: dict[str, tuple[int, int]]) -> bool:
        """Whether the initial values, of all lower derivatives, leave one solution."""
        lower: dict[str, Tree] = {}
        place: Tree = 0
        for equation in self.initial:
            sides = arguments(equation)
            part = next(side for side in sides if isinstance(side, tuple) and function_of(side, self.names))
            assert isinstance(part, tuple)
            name, order = function_of(part, self.names) or ("", 0)
            lower[f"{name}${order}"], place = sides[1] if sides[0] == part else sides[0], part[1]
        nodes = [self._symbols(minus(*arguments(equation))) for equation in self.general]
        rates = {f"{name}${order}" for name in self.names for order in range(orders[name][1])}
        tops = [f"{name}${orders[name][1]}" for name in self.names]
        x = self.variables[0]
        if self.linear():
            lower = {name: lower.get(name, 1) for name in rates}  # bounded for some values, hence for all
        elif set(lower) != rates:
            return False
        return any(families.unique(nodes, tops, lower, (x, place), every) for every in (all(branchless(n, {x, *tops, *rates}) for n in nodes), False))

    def linear(self) -> bool:
        """Whether every equation is linear in the functions and their derivatives."""
        for equation in self.general:
            node = self._symbols(minus(*arguments(equation)))
            places = sorted(name for name in free_symbols(node) if "$" in name and name.split("$")[0] in self.names)
            for a in places:
                slope = differentiate(node, a)
                if not all(proves_zero(differentiate(slope, b)) for b in places):
                    return False
        return True

    def highest(self, name: str, order: int) -> Tree:
        x = self.variables[0]
        if self.recurrence:
            return (name, x if order == 0 else ("Plus", x, order))
        return (name, x) if order == 0 else ((("Derivative", order), name), x)

    def determined(self, orders: dict[str, tuple[int, int]]) -> bool:
        """Whether the equations can be solved for the highest derivatives at some point: their Jacobian is not zero there."""
        rows = []
        for equation in self.general:
            node = self._symbols(minus(*arguments(equation)))
            rows.append([differentiate(node, f"{name}${orders[name][1]}") for name in self.names])
        return nonzero(determinant(rows), self.seed)

    def _symbols(self, node: Tree) -> Tree:
        """The functions' derivatives and shifts as symbols name$order."""
        if not isinstance(node, tuple):
            return node
        head = node[0]
        if head in self.names:
            return f"{head}${self._shift(node)}"
        if isinstance(head, tuple) and is_call(head[0], "Derivative") and head[1] in self.names:
            return f"{head[1]}${arguments(head[0])[0]}"
        return (head, *(self._symbols(part) for part in node[1:]))

    def first_degree(self, orders: dict[str, tuple[int, int]]) -> bool:
        """Whether every equation is of first degree in the highest derivatives."""
        for equation in self.general:
            node = self._symbols(minus(*arguments(equation)))
            for name in self.names:
                top = f"{name}${orders[name][1]}"
                if not proves_zero(differentiate(differentiate(node, top), top)):
                    return False
        return True

    def at_one_place(self, orders: dict[str, tuple[int, int]]) -> bool:
        """Whether the conditions are lower derivatives, all different, at one place where the equations are regular."""
        if not self.initial:
            return True
        places: set[Tree] = set()
        kinds: set[tuple[str, int]] = set()
        for equation in self.initial:
            sides = arguments(equation)
            found = [part for side in sides for part in walk(side) if isinstance(part, tuple) and function_of(part, self.names)]
            if len(found) != 1 or found[0] not in sides:
                return False
            one = found[0]
            assert isinstance(one, tuple)
            name, order = function_of(one, self.names) or ("", 0)
            if self.recurrence:
                return False
            if order >= orders[name][1] or (name, order) in kinds:
                return False
            kinds.add((name, order))
            places.add(one[1])
        if len(places) != 1:
            return False
        (place,) = places
        rows = []
        for equation in self.general:
            node = self._symbols(minus(*arguments(equation)))
            rows.append([replace(differentiate(node, f"{name}${orders[name][1]}"), self.variables[0], place) for name in self.names])
        return nonzero(determinant(rows), self.seed)

    def dimension(self, s: Functions, names: list[str], orders: dict[str, tuple[int, int]], needed: int) -> int | None:
        """The rank of the data at a point as functions of the constants, as far as it is needed; None where it is not known."""
        x = self.variables[0]
        rows: list[Tree] = []
        for name in self.names:
            body = applied(s[name], (x,))
            low, high = orders[name]
            for i in range(high - low):
                rows.append(replace(body, x, ("Plus", x, i)) if self.recurrence else differentiate(body, x, i) if i else body)
        slopes = [[differentiate(row, c) for c in names] for row in rows]
        moving = [j for j in range(len(names)) if not all(proves_zero(row[j]) for row in slopes)]
        if len(moving) < needed:
            return len(moving)
        rank = rank_at_points([[row[j] for j in moving] for row in slopes], x if self.recurrence else None)
        if rank is None or rank >= needed:
            return rank
        if len(moving) == needed == len(rows) and proves_zero(determinant([[row[j] for j in moving] for row in slopes])):
            return needed - 1
        minors = itertools.product(itertools.combinations(range(len(rows)), needed), itertools.combinations(moving, needed))
        chosen = list(itertools.islice(minors, 12))
        if len(chosen) < 12 and all(proves_zero(determinant([[slopes[i][j] for j in columns] for i in lines])) for lines, columns in chosen):
            return needed - 1
        return None


def most(problem: Problem, needed: int) -> int:
    return max((min(len(problem.constants(s)), needed) for s in problem.solutions), default=0)
