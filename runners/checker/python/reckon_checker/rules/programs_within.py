"""Programs within a question or an answer of mathematics, such as First[{x^2, x}] or With[{a = 2}, a x], worked out by the evaluator of programs:
a rule sees what they come to. What is not worked out stays, and is refused as a function that is not known (vocabulary.py)."""

from __future__ import annotations

from typing import Any

from .. import vocabulary
from ..programs.data import to_tree
from ..programs.evaluator import BUILTINS, HOLDING, SCOPES
from ..tree import Refused, Text, Tree, arguments, free_symbols, is_call, walk
from .programs import value_of

# What a task holds of its answer. Questions are worked out where they are the left side of a claim: other functions may hold them until a
# number stands for the variable, as Sum does.
OF_ANSWER = frozenset(("answer", "value", "point", "solutions", "pairs", "claims", "right"))
# Functions that keep their arguments until a variable has a value.
KEEPING = frozenset("Sum Product NSum NProduct NIntegrate Table Array Function RuleDelayed Condition Hold HoldForm".split())
# Functions of lists that rules know for lists and numbers only.
OF_LISTS = frozenset("First Last Length Total Dot Mean Median FromDigits Norm".split())
# Functions that compare or order what stands there, which another value of a symbol changes.
COMPARING = frozenset(
    "Sort ReverseSort SortBy ReverseSortBy Ordering OrderedQ Order Union Intersection Complement SymmetricDifference DeleteDuplicates DuplicateFreeQ Tally "
    "Counts Gather Split Commonest TakeLargest TakeSmallest MaximalBy MinimalBy KeySort SameQ UnsameQ MemberQ FreeQ MatchQ Count Cases DeleteCases FirstCase "
    "Position Switch SubsetQ ContainsAll ContainsAny ContainsNone ContainsOnly PositionIndex IntegerQ EvenQ OddQ PrimeQ NumberQ NumericQ "
    "AtomQ VectorQ ListQ".split()
)
CONSTANT = "constant$"
# Assignments, which count beyond the place at which they stand.
ASSIGNING = frozenset(
    "Set SetDelayed CompoundExpression Increment Decrement PreIncrement PreDecrement AddTo SubtractFrom TimesBy DivideBy AppendTo PrependTo".split()
)


def worked_out(task: dict[str, Any]) -> dict[str, Any]:
    return {key: _part(value) if key in OF_ANSWER else value for key, value in task.items()}


def _part(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _part(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_part(part) for part in value]
    return _tree(value) if isinstance(value, tuple) else value


def _tree(node: Tree) -> Tree:
    if not isinstance(node, tuple) or is_call(node, *KEEPING):
        return node
    if _is_program(node[0]) and not _assigns(node) and not (free_symbols(node) and any(is_call(part, *COMPARING) for part in walk(node))):
        try:
            found = constants(to_tree(value_of(symbols(node))))
        except Refused:
            return node
        return node if is_call(found, *KEEPING) else found
    return tuple(_tree(part) for part in node)


def symbols(node: Tree) -> Tree:
    """A program with generated constants C[k] as symbols. Refused where a function may look at their form."""
    if not isinstance(node, tuple):
        return node
    if is_call(node, "C") and len(node) == 2 and isinstance(node[1], int):
        return f"{CONSTANT}{node[1]}"
    if is_call(node, "Length", "First", "Last", "Part", "Extract") and is_call(node[1], "C"):
        raise Refused("C")
    return tuple(symbols(part) for part in node)


def constants(node: Tree) -> Tree:
    """The value with the generated constants as such."""
    if isinstance(node, str) and not isinstance(node, Text) and node.startswith(CONSTANT):
        return ("C", int(node.removeprefix(CONSTANT)))
    return tuple(constants(part) for part in node) if isinstance(node, tuple) else node


def _is_program(head: Tree) -> bool:
    if not isinstance(head, str) or not (head in BUILTINS or head in HOLDING):
        return False
    return head in OF_LISTS or not (vocabulary.known(head) or head in vocabulary.READ_BY_RULES)


def _assigns(node: Tree) -> bool:
    """Whether a program may change what stands outside it: only With, Module and Block give values to their own variables."""
    if not isinstance(node, tuple):
        return False
    if is_call(node, *SCOPES) and len(node) == 3:
        own = [part for one in arguments(node[1]) for part in (arguments(one)[1:] if is_call(one, "Set") else ())]
        return any(map(_assigns, (*own, node[2])))
    return is_call(node, *ASSIGNING) or any(map(_assigns, node))
