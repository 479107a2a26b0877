"""Task "matrix": answers about matrices that are not one equation: eigenvalues, eigenvectors, null spaces, ranks."""
import mpmath
from mpmath import mpf

import numeric
import sampling
import tree
from findings import agrees, proved, refuted, undecided
from numeric import dot, number, times
from sampling import DIGITS, show

MAX_SIZE = 12


def check(task, seed):
    free = tree.free_symbols(task["matrix"]) | tree.free_symbols(task["answer"])
    points = sampling.Points(free, sampling.Assumptions(task.get("assumptions", [])), seed)
    loose = bool(tree.reals(task["matrix"]) or tree.reals(task["answer"]) or task.get("approximate"))
    results = []
    for index in range(12 if free else 1):
        env = points.draw(("positive", "real")[index % 2])
        if env is None:
            return undecided("assumptions cannot be met")
        results.append(at_point(task, env, loose))
        if results[-1][0] == "different" and index >= 3:
            break
    states = [state for state, _ in results]
    if all(state == "different" for state in states):
        return refuted(results[0][1])
    if all(state == "same" for state in states):
        return agrees("0.") if loose else proved(all(r[1] == "exact" for r in results) and not free)
    return undecided("holds at some points only")


def at_point(task, env, loose):
    """same or different at both precisions, or open."""
    first = attempt(task, env, loose, DIGITS)
    if first[0] == "different" and first[1] != "exact":
        second = attempt(task, env, loose, 2 * DIGITS)
        return first if second[0] == "different" else ("open", "")
    return first


def attempt(task, env, loose, digits):
    with mpmath.workdps(digits):
        try:
            matrix = numeric.evaluate(task["matrix"], env)
            answer = numeric.evaluate(task["answer"], env)
        except numeric.problems() as problem:
            return "open", str(problem)
        if not is_matrix(matrix) or len(matrix) > MAX_SIZE:
            return "open", "shape"
        tiny = mpf(10) ** -7 if loose else mpf(10) ** (-digits * 3 // 5)
        return PROCEDURES[task["what"]](matrix, answer, tiny)


def is_matrix(value):
    return isinstance(value, list) and value and all(isinstance(row, list) and len(row) == len(value[0]) for row in value)


def size(matrix):
    return max([mpf(1)] + [abs(number(entry)) for row in matrix for entry in row])


def spectrum(matrix):
    values = mpmath.mp.eig(numeric.as_matrix(matrix), left=False, right=False)
    return list(values)


def eigenvalues(matrix, answer, tiny):
    if not isinstance(answer, list) or len(answer) != len(matrix) or any(isinstance(v, list) for v in answer):
        return ("different", "%d values are wanted" % len(matrix)) if isinstance(answer, list) else ("open", "shape")
    # Multiple eigenvalues come out with a fraction of the digits; compare the characteristic polynomials instead.
    wanted = elementary(spectrum(matrix))
    given = elementary([number(v) for v in answer])
    scale = size(matrix)
    for k, (a, b) in enumerate(zip(wanted, given), 1):
        if abs(a - b) > tiny * 1000 * scale**k * len(matrix) ** 2:
            return "different", show(a - b)
    return "same", ""


def some_eigenvalues(matrix, answer, tiny):
    """Eigenvalues[m, k]: each value makes the characteristic polynomial vanish."""
    if not isinstance(answer, list) or len(answer) > len(matrix) or any(isinstance(v, list) for v in answer):
        return "open", "shape"
    scale = size(matrix)
    for value in answer:
        shifted = [[numeric.plus(entry, times(-1, value)) if i == j else entry for j, entry in enumerate(row)] for i, row in enumerate(matrix)]
        worst = abs(number(numeric.determinant(shifted)))
        if worst > tiny * 10**4 * (scale * len(matrix)) ** len(matrix):
            return "different", show(worst)
    return "same", ""


def elementary(values):
    """The elementary symmetric functions: the coefficients of the polynomial with these roots."""
    p = [mpf(1)]
    for v in values:
        p = [a - v * b for a, b in zip(p + [mpf(0)], [mpf(0)] + p)]
    return p[1:]


def eigenvectors(matrix, answer, tiny):
    if not is_matrix(answer) or len(answer) != len(matrix) or len(answer[0]) != len(matrix):
        return "open", "shape"
    nonzero = 0
    for vector in answer:
        length = max(abs(number(x)) for x in vector)
        if length < tiny:
            continue  # a defective matrix is padded with zeros
        nonzero += 1
        image = dot(matrix, vector)
        pivot = max(range(len(vector)), key=lambda i: abs(number(vector[i])))
        value = number(image[pivot]) / number(vector[pivot])
        worst = max(abs(number(y) - value * number(x)) for x, y in zip(vector, image))
        if worst > tiny * 1000 * size(matrix) * length:
            return "different", show(worst)
    if nonzero == 0:
        return "different", "no eigenvector"
    if nonzero == len(matrix) and abs(number(numeric.determinant(answer))) < tiny:
        return "different", "dependent vectors"
    return "same", ""


def eigensystem(matrix, answer, tiny):
    if not isinstance(answer, list) or len(answer) != 2 or not isinstance(answer[0], list):
        return "open", "shape"
    values, vectors = answer
    state = eigenvalues(matrix, values, tiny)
    if state[0] != "same":
        return state
    if not is_matrix(vectors) or len(vectors) != len(values):
        return "open", "shape"
    for value, vector in zip(values, vectors):
        length = max(abs(number(x)) for x in vector)
        worst = max(abs(number(y) - number(value) * number(x)) for x, y in zip(vector, dot(matrix, vector)))
        if length >= tiny and worst > tiny * 1000 * size(matrix) * length:
            return "different", show(worst)
    return eigenvectors(matrix, vectors, tiny)


def null_space(matrix, answer, tiny):
    if not isinstance(answer, list):
        return "open", "shape"
    dimension = len(matrix[0]) - numeric.rank(matrix)
    if len(answer) != dimension:
        return "different", "dimension %d" % dimension
    if not answer:
        return "same", "exact"
    if not is_matrix(answer) or len(answer[0]) != len(matrix[0]):
        return "open", "shape"
    for vector in answer:
        worst = max(abs(number(x)) for x in dot(matrix, vector))
        if worst > tiny * 1000 * size(matrix) * max(abs(number(x)) for x in vector):
            return "different", show(worst)
    return ("same", "exact") if numeric.rank(answer) == dimension else ("different", "dependent vectors")


def rank(matrix, answer, tiny):
    wanted = numeric.rank(matrix)
    return ("same", "exact") if numeric.whole(answer) == wanted else ("different", str(wanted))


def least_squares(matrix, answer, tiny):
    """answer is {x, b}: the normal equations hold."""
    x, b = answer
    residual = [numeric.plus(u, times(-1, v)) for u, v in zip(dot(matrix, x), b)]
    normal = dot(numeric.conjugate(numeric.transpose(matrix)), residual)
    worst = max(abs(number(v)) for v in normal)
    return ("same", "") if worst <= tiny * 1000 * size(matrix) ** 2 else ("different", show(worst))


def pseudo_inverse(matrix, answer, tiny):
    """The four equations of Penrose (1955)."""
    if not is_matrix(answer) or len(answer) != len(matrix[0]) or len(answer[0]) != len(matrix):
        return "open", "shape"
    ax, xa = dot(matrix, answer), dot(answer, matrix)
    star = lambda m: numeric.conjugate(numeric.transpose(m))
    scale = size(matrix) * size(answer)
    for left, right in ((dot(ax, matrix), matrix), (dot(xa, answer), answer), (star(ax), ax), (star(xa), xa)):
        worst = max(abs(number(p) - number(q)) for r, s in zip(left, right) for p, q in zip(r, s))
        if worst > tiny * 1000 * scale**2:
            return "different", show(worst)
    return "same", ""


PROCEDURES = {
    "eigenvalues": eigenvalues, "some_eigenvalues": some_eigenvalues, "eigenvectors": eigenvectors, "eigensystem": eigensystem, "null_space": null_space, "rank": rank,
    "least_squares": least_squares, "pseudo_inverse": pseudo_inverse,
}
