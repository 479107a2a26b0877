"""The program of the second engine: Giac's shared library behind handle().

A request {"before": [s...], "text": s} evaluates the statements of before, then text, and is answered by {"text": s}, what Giac
prints of it: at most TEXT_BYTES. Every request has a process of its own, whose processor time the zygote bounds. The texts are written by runners/engine/giac (Go) from its table; nothing that a user wrote comes here.
"""
import ctypes
import glob
import os
import sysconfig

TEXT_BYTES = 1 << 16
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"  # a child that is forked has the one thread that forked it


def library():
    """Giac's shared library, as the wheel lays it out on Linux and on macOS."""
    packages = sysconfig.get_path("platlib")
    for pattern in ("passagemath_giac.libs/libgiac*", "passagemath_giac/.dylibs/libgiac*", "*/.dylibs/libgiac*"):
        for path in glob.glob(os.path.join(packages, pattern)):
            return ctypes.CDLL(path)
    raise FileNotFoundError("libgiac is not in " + packages)


caseval = library().caseval
caseval.restype, caseval.argtypes = ctypes.c_char_p, [ctypes.c_char_p]


def evaluated(text):
    return caseval(text.encode("ascii")).decode("utf-8", "replace")


WARM = ("integrate(sqrt(1-vv0^2),vv0)", "sum(vv0^2,vv0,1,vv1)", "limit(sin(vv0)/vv0,vv0,0)", "solve(vv0^2-2=0,vv0)", "evalf(gamma(1/3))")


def warm():
    for text in WARM:
        evaluated(text)


def info():
    return {"name": "giac", "revision": evaluated("version()").strip('"').split()[1].split("+")[0]}


def handle(request):
    for statement in request["before"]:
        evaluated(statement)
    answer = evaluated(request["text"])
    if len(answer) > TEXT_BYTES:
        return {"failed": "output_too_large", "detail": f"the answer has {len(answer)} characters"}
    return {"text": answer}
