"""Evaluate with Reckon, and believe no answer whose receipt does not verify.

    from reckon.checked import Reckon

    answer = Reckon("https://reckon.example", token="rk_pat_…").evaluate("Integrate[x^2, x]")
    print(answer.result, answer.verification.verdict if answer.verification else "not checked")

The rest of the interface is in reckon.api, one module for each route: pass them the client of a Reckon.
"""

from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from .api.evaluation import evaluate, get_receipt
from .api.service import service_keys
from .client import AuthenticatedClient
from .models import EvaluateInputBody, Evaluation, Problem
from .types import UNSET
from .verify import Refused, read_json, read_keys, verify_receipt


class Refusal(Exception):
    """The service refused a request; code is one of docs/errors.md."""

    def __init__(self, problem: Problem):
        super().__init__(f"{problem.detail} ({problem.code})")
        self.problem, self.code = problem, problem.code


class Unreachable(Exception):
    """Nothing that answers is at the address."""


@contextmanager
def reaching(url: str):
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unreachable(f"no answer from {url}: {error}") from None


@dataclass(frozen=True)
class Answer:
    """An evaluation and the record that the service signed of it."""

    evaluation: Evaluation
    receipt: dict

    @property
    def result(self) -> str:
        return self.evaluation.result

    @property
    def verification(self):
        return self.evaluation.verification


class Reckon:
    """A service, and the keys that its receipts verify by: the content of a service-keys.json that was kept, or those that it has now."""

    def __init__(self, url: str, token: str, keys: bytes | None = None, timeout: float = 120):
        if not token:
            raise ValueError("a token is needed: the account page of the service makes one, or its operator")
        self.url, self.client = url, AuthenticatedClient(base_url=url, token=token, timeout=timeout)
        with reaching(url):
            self.keys = read_keys(keys if keys is not None else service_keys.sync_detailed(client=self.client).content)

    def evaluate(self, expression: str, session_id: str | None = None) -> Answer:
        """Raises Refusal, Unreachable, or verify.Refused where the receipt does not verify or is of another answer."""
        body = EvaluateInputBody(expression=expression, session_id=UNSET if session_id is None else session_id)
        with reaching(self.url):
            evaluation = evaluate.sync(client=self.client, body=body)
        if isinstance(evaluation, Problem):
            raise Refusal(evaluation)
        receipt = self.receipt(evaluation.run_id)
        found = evaluation.verification
        said = (expression, evaluation.result, found.verdict if found else None)
        signed = (receipt["expression"], receipt["answer"], receipt["verification"]["verdict"] if receipt["verification"] else None)
        if said != signed:
            raise Refused("the receipt is of another expression, answer or verdict")
        return Answer(evaluation, receipt)

    def receipt(self, run_id: int) -> dict:
        """The record of a run's receipt, verified."""
        with reaching(self.url):
            read = get_receipt.sync_detailed(run_id, client=self.client)
        if isinstance(read.parsed, Problem):
            raise Refusal(read.parsed)
        document = read_json(read.content, "the receipt")
        verify_receipt(document, self.keys)
        return document["record"]
