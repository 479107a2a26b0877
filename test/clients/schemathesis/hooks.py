"""What schemathesis does not know of the interface: how a proof export is sent, and what an idempotency key does."""

import gzip
import itertools
from typing import Any

import schemathesis


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


@schemathesis.serializer("application/x-ndjson")
def ndjson(ctx: Any, value: Any) -> bytes:
    return _bytes(value)


@schemathesis.serializer("application/gzip")
def gzipped(ctx: Any, value: Any) -> bytes:
    return gzip.compress(_bytes(value), mtime=0)


_submissions = itertools.count()


@schemathesis.hook
def before_call(ctx: Any, case: Any, kwargs: Any) -> None:
    """Gives every submission a key of its own: a job that has the key is answered whatever else the body says."""
    if case.operation.path != "/api/jobs" or not isinstance(case.body, dict):
        return
    key = case.body.get("idempotency_key")
    if isinstance(key, str) and 1 <= len(key) <= 100:
        case.body["idempotency_key"] = f"{key}-{next(_submissions)}"
        (case.headers or {}).pop("Idempotency-Key", None)
    elif case.headers and case.headers.get("Idempotency-Key"):
        case.headers["Idempotency-Key"] += f"-{next(_submissions)}"
