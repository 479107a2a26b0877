"""Every function of given values, at many arguments, against the engine: what they disagree about is the engine's error and listed, or ours."""

from __future__ import annotations

import importlib
import itertools
import re
from typing import Any

import pytest
from flint import arb

from reckon_checker import service
from reckon_checker.evaluation import Environment, evaluate
from reckon_checker.tree import Real, Refused, Tree
from reckon_checker.values import Kind, NonValue, Relation, Undecided, Value, compare, complex_ball, is_number, precision
from reckon_checker.wording import show

FUNCTIONS = (
    "Binomial Factorial Factorial2 FactorialPower Pochhammer CatalanNumber Fibonacci LucasL BernoulliB EulerE BellB PartitionsP StirlingS1 "
    "StirlingS2 HarmonicNumber EvenQ OddQ IntegerQ PrimeQ Floor Ceiling Round IntegerPart FractionalPart Max Min Clip UnitStep Abs Sign Re Im Arg "
    "ReIm AbsArg Conjugate Total Sqrt CubeRoot Surd Exp Log Log2 Log10 Sin Cos Tan Cot Sec Csc ArcSin ArcCos ArcTan ArcCot ArcSec ArcCsc Sinh "
    "Cosh Tanh Coth Sech Csch ArcSinh ArcCosh ArcTanh ArcCoth ArcSech ArcCsch Sinc Gamma LogGamma Beta PolyGamma Zeta HurwitzZeta PolyLog ProductLog "
    "Erf Erfc Erfi InverseErf BesselI BesselJ BesselK BesselY AiryAi AiryBi EllipticE EllipticK ChebyshevT ChebyshevU LegendreP HermiteH LaguerreL "
    "GegenbauerC JacobiP Hypergeometric0F1 Hypergeometric1F1 Hypergeometric2F1 Multinomial IntegerLength IntegerExponent FromDigits DigitSum "
    "ChineseRemainder MultiplicativeOrder JacobiSymbol CarmichaelLambda BitAnd BitOr BitXor Length Mean Range Accumulate Differences Reverse "
    "Subsets Permutations ContinuedFraction IntegerDigits Sort Union GCD LCM PowerMod EulerPhi MoebiusMu DivisorSigma Mod Quotient KroneckerDelta "
    "DiscreteDelta Det Tr Norm Transpose First Last MatrixRank Boole Ramp UnitBox UnitTriangle"
).split()
OF_THREE = frozenset(
    "GegenbauerC LaguerreL Hypergeometric1F1 PowerMod Mod BitAnd BitOr BitXor Max Clip Range IntegerDigits Beta Gamma Multinomial LCM GCD".split()
)

# What the engine gets wrong: calls by a pattern, and why.
ENGINE_ERRORS = (
    (r"(BesselK|PolyLog|LegendreP|HermiteH|Pochhammer)\[.*\d\.", "its decimals lose all or most digits: K_0(5/2) = 0.0623, DLMF 10.32.9"),
    (r"LaguerreL\[\d+,-\d+,", "not 0: L_1^(a)(x) = a + 1 - x, DLMF 18.5.17"),
    (r"Log\[.*,0\]", "-Infinity/Log[b] is not simplified"),
)

HALF: Tree = ("Rational", 1, 2)
I_UNIT: Tree = ("Complex", 0, 1)


def lists(*values: Tree) -> Tree:
    return ("List", *values)


NUMBERS: list[tuple[str, Tree]] = [
    *((str(n), n) for n in (-3, -1, 0, 1, 2, 5, 12)),
    ("(1/2)", HALF),
    ("(-7/2)", ("Rational", -7, 2)),
    ("2.5", Real("2.5")),
    ("2.", Real("2.")),
    ("I", I_UNIT),
    ("x", "x"),
]
LISTS: list[tuple[str, Tree]] = [
    ("{}", lists()),
    ("{3,1,1}", lists(3, 1, 1)),
    ("{2,2}", lists(2, 2)),
    ("{1,-2}", lists(1, -2)),
    ("{5,3,7}", lists(5, 3, 7)),
    ("{1/2,2}", lists(HALF, 2)),
    ("{2.5,1.}", lists(Real("2.5"), Real("1."))),
    ("{{2,1},{1,2}}", lists(lists(2, 1), lists(1, 2))),
    ("{Sqrt[2],1,2}", lists(("Power", 2, HALF), 1, 2)),
    ("{x,1,x}", lists("x", 1, "x")),
    ("{1+I,2}", lists(("Complex", 1, 1), 2)),
]
TOKEN = re.compile(r"\s*(-?\d+\.?\d*(?:`[\d.]*)?(?:\*\^-?\d+)?|[A-Za-z$][\w$]*|\S)")


def parsed(text: str) -> Tree:
    """A tree from the engine's full form."""
    tokens, position = TOKEN.findall(text), 0

    def one() -> Tree:
        nonlocal position
        token = tokens[position]
        position += 1
        if re.match(r"-?\d", token):
            return int(token) if re.fullmatch(r"-?\d+", token) else Real(token)
        if not re.match(r"[A-Za-z$]", token):
            raise Refused(token)
        found: Tree = token
        while position < len(tokens) and tokens[position] == "[":
            position += 1
            parts: list[Tree] = []
            while tokens[position] != "]":
                parts.append(one())
                position += tokens[position] == ","
            position += 1
            found = (found, *parts)
        return found

    return one()


def value(node: Tree, printed: bool) -> Value | None:
    for bits in (128, 1024):
        with precision(bits):
            try:
                return evaluate(node, Environment(printed=printed))
            except Undecided:
                continue
            except Refused:
                return None
    return None


def unknown(found: Value) -> bool:
    return isinstance(found, NonValue) and found.kind in (Kind.UNDEFINED, Kind.INDETERMINATE)


def different(a: Value, b: Value) -> bool:
    """Whether two values differ, by more than the engine's decimals are wrong by."""
    if unknown(a) or unknown(b):
        return False
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) != len(b) or any(different(x, y) for x, y in zip(a, b, strict=True))
    if is_number(a) and is_number(b):
        x, y = complex_ball(a), complex_ball(b)
        return bool(abs(x - y) > arb("1e-7") * (1 + abs(x)))
    return isinstance(a, tuple) or isinstance(b, tuple) or compare(a, b).relation is not Relation.EQUAL


def calls(head: str) -> list[list[tuple[str, Tree]]]:
    found = [[one] for one in NUMBERS + LISTS]
    found += [list(pair) for pair in itertools.product(NUMBERS[:10], repeat=2)]
    found += [[a, b] for a in LISTS for b in NUMBERS[2:5] + LISTS]
    found += [[NUMBERS[4], one] for one in LISTS]
    if head in OF_THREE:
        found += [list(three) for three in itertools.product(NUMBERS[:9], repeat=3)]
    if head in ("JacobiP", "Hypergeometric2F1"):
        found += [list(four) for four in itertools.product([NUMBERS[i] for i in (0, 2, 4, 7)], repeat=4)]
    return found


@pytest.fixture(scope="module")
def engine() -> Any:
    service.check({"kind": "identities", "claims": []})
    found = importlib.import_module("woxi")
    found.set_repl_mode(True)
    return found


def test_functions_are_the_engines(engine: Any) -> None:
    compared, wrong = 0, []
    for head in FUNCTIONS:
        for args in calls(head):
            code = f"{head}[{','.join(text for text, _ in args)}]"
            ours = value((head, *(node for _, node in args)), printed=False)
            if ours is None or unknown(ours) or any(re.match(pattern, code) for pattern, _ in ENGINE_ERRORS):
                continue
            try:
                node = parsed(engine.evaluate(f"ToString[FullForm[{code}]]").result)
            except (engine.WolframError, Refused, IndexError):
                continue
            theirs = value(node, printed=True) if not (isinstance(node, tuple) and node[0] == head) else None
            if theirs is not None:
                compared += 1
                if different(ours, theirs):
                    wrong.append(f"{code}: {show(ours)}, the engine {show(theirs)}")
    assert not wrong, "\n".join(wrong)
    assert compared > 10_000
