"""Uses the generated Python client for one real flow: an answer with its receipt, a refusal, foreign keys, an upload, a notebook's cells.

    story.py URL TOKEN EXPORT FOREIGN-KEYS, with the client on PYTHONPATH
"""

import sys
from io import BytesIO

from IPython.core.interactiveshell import InteractiveShell
from reckon.api.proofs import upload_proof, validate_proof
from reckon.checked import Reckon, Refusal
from reckon.models import UploadOutputBody, ValidateUpload
from reckon.types import File
from reckon.verify import Refused

url, token, export, foreign = sys.argv[1:]
service = Reckon(url, token)
answer = service.evaluate("Integrate[x^2 Sin[x], x]")
assert answer.verification.verdict == "verified" and answer.receipt["run_id"] == answer.evaluation.run_id, answer
assert service.evaluate("Plot[Sin[x], {x, 0, 6}]").evaluation.plot_url

try:
    raise AssertionError(service.evaluate(" "))
except Refusal as refusal:
    assert refusal.code == "expression_required", refusal
with open(foreign, "rb") as keys:
    other = Reckon(url, token, keys=keys.read())
try:
    raise AssertionError(other.evaluate("1 + 1"))
except Refused as refused:
    assert "kid" in str(refused), refused

with open(export, "rb") as content:
    uploaded = upload_proof.sync(client=service.client, body=File(BytesIO(content.read())))
assert isinstance(uploaded, UploadOutputBody), uploaded
report = validate_proof.sync(client=service.client, body=ValidateUpload(declarations=["and_swap"], upload_id=uploaded.upload_id, export=None))
assert report.would_be == "checked", report

shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "reckon.reckon_magic")
shell.run_line_magic("reckon", f"{url} {token}")
shown = shell.run_cell_magic("reckon", "--to wrong", "Simplify[Sqrt[E^x]]")
assert shown == "E^(x/2)" and "refuted" in shown._repr_html_() and "is expected" in shown._repr_html_(), shown._repr_html_()
assert shell.user_ns["wrong"].verification.verdict == "refuted"
print("the story is told")
