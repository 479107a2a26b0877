"""What a check may find. Only Go turns a finding into a verdict.

proved    shown to hold: exactly, or at every one of at least 12 points (or at two precisions, where nothing varies)
agrees    an approximate comparison found no difference
refuted   shown not to hold, at two precisions
open      neither
"""


def finding(status, residual="", exact=False, why=""):
    return {"status": status, "residual": residual, "exact": exact, "why": why}


def proved(exact, residual="0"):
    return finding("proved", residual, exact)


def proved_by_numbers(pairs, assumptions, residual="0"):
    """Held by numbers; an exact proof that left == right for all pairs may be asked for next (checker.prove)."""
    return {**finding("proved", residual), "proof": (pairs, assumptions)}


def agrees(residual=""):
    return finding("agrees", residual)


def refuted(residual, exact=False):
    return finding("refuted", residual, exact)


def undecided(why="", residual=""):
    return finding("open", residual, why=why)
