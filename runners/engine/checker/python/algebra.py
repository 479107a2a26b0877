"""Task "polynomial": greatest common divisors, quotients and resultants, by SymPy's exact polynomials over the rationals."""
import sympy

import sampling
import symbolic
from findings import proved, refuted, undecided
from tree import Refused, is_call

MAX_DEGREE = 60
MAX_TERMS = 400


def check(task, seed):
    converter = symbolic.Converter(sampling.Assumptions([]))
    try:
        args = [converter.convert(arg) for arg in task["args"]]
        answer = task["answer"]
        parts = [converter.convert(part) for part in leaves(answer)]
        variable = converter.convert(task["variable"]) if task.get("variable") is not None else None
    except (symbolic.NotSupported, ValueError, TypeError) as problem:
        raise Refused(str(problem)) from problem
    names = sorted(set().union(*(e.free_symbols for e in args + parts)), key=str)
    if any(not polynomial(e, names) for e in args):
        return undecided("not polynomials")
    if len(args) < 2 and task["what"] != "Discriminant":
        return undecided("two polynomials are wanted")
    try:
        return PROCEDURES[task["what"]](args, answer, parts, variable, names)
    except sympy.PolynomialError as problem:
        return undecided(str(problem)[:80])


def leaves(node):
    if is_call(node, "List"):
        for part in node[1:]:
            yield from leaves(part)
    else:
        yield node


def polynomial(e, names):
    if e.count_ops() > 2000:
        raise Refused("size")
    # A high power is seen before it is multiplied out.
    for power in e.atoms(sympy.Pow):
        if power.exp.is_Integer and abs(power.exp) > MAX_DEGREE:
            raise Refused("degree")
    if not names:
        return e.is_rational or False
    if not e.is_polynomial(*names):
        return False
    p = sympy.Poly(e, *names)
    return len(p.terms()) <= MAX_TERMS and all(c.is_rational for c in p.coeffs())


def proportion(a, b):
    """a / b as a number, None where it is none."""
    if b == 0:
        return sympy.Integer(1) if sympy.expand(a) == 0 else None
    ratio = sympy.cancel(sympy.together(a / b))
    return ratio if ratio.is_number else None


def associate(wanted, given, names):
    """A gcd is unique up to units: over the integers up to sign, over the rationals up to a factor."""
    ratio = proportion(given, wanted)
    if ratio is None or ratio == 0:
        return refuted(str(sympy.factor(wanted)), exact=True)
    if ratio == 1:
        return proved(True, "1")
    if ratio == -1:
        return undecided("the sign is a convention", "-1")
    integral = all(c.is_integer for c in sympy.Poly(wanted, *names).coeffs()) if names else wanted.is_integer
    return refuted(str(ratio), exact=True) if integral else undecided("a rational factor is a convention", str(ratio))


def gcd(args, answer, parts, variable, names):
    wanted = args[0]
    for other in args[1:]:
        wanted = sympy.gcd(wanted, other)
    return associate(wanted, parts[0], names)


def lcm(args, answer, parts, variable, names):
    wanted = args[0]
    for other in args[1:]:
        wanted = sympy.lcm(wanted, other)
    return associate(wanted, parts[0], names)


def same(pairs):
    for wanted, given in pairs:
        if sympy.expand(sympy.numer(sympy.together(wanted - given))) != 0:
            return refuted(str(sympy.expand(wanted)), exact=True)
    return proved(True)


def divided(args, variable):
    q, r = sympy.div(sympy.Poly(args[0], variable, field=True), sympy.Poly(args[1], variable, field=True))
    return q.as_expr(), r.as_expr()


def quotient(args, answer, parts, variable, names):
    return same([(divided(args, variable)[0], parts[0])])


def remainder(args, answer, parts, variable, names):
    return same([(divided(args, variable)[1], parts[0])])


def quotient_remainder(args, answer, parts, variable, names):
    if len(parts) != 2:
        return undecided("shape")
    return same(list(zip(divided(args, variable), parts)))


def extended_gcd(args, answer, parts, variable, names):
    """{d, {a, b}}: d is the gcd, and a p + b q = d."""
    if len(parts) != 3:
        return undecided("shape")
    d, a, b = parts
    if sympy.expand(sympy.numer(sympy.together(a * args[0] + b * args[1] - d))) != 0:
        return refuted(str(sympy.expand(a * args[0] + b * args[1])), exact=True)
    common = sympy.gcd(sympy.Poly(args[0], variable, field=True), sympy.Poly(args[1], variable, field=True)).as_expr()
    ratio = sympy.cancel(d / common)
    if variable in ratio.free_symbols:
        return refuted(str(common), exact=True)
    return proved(True)


def resultant(args, answer, parts, variable, names):
    return same([(sympy.resultant(args[0], args[1], variable), parts[0])])


def discriminant(args, answer, parts, variable, names):
    return same([(sympy.discriminant(args[0], variable), parts[0])])


PROCEDURES = {
    "PolynomialGCD": gcd, "PolynomialLCM": lcm, "PolynomialQuotient": quotient, "PolynomialRemainder": remainder,
    "PolynomialQuotientRemainder": quotient_remainder, "PolynomialExtendedGCD": extended_gcd, "Resultant": resultant, "Discriminant": discriminant,
}
