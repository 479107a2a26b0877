"""%%reckon in a notebook: an example of the Python client.

    %load_ext reckon.reckon_magic
    %reckon https://reckon.example rk_pat_…          where to evaluate; without arguments RECKON_URL and RECKON_TOKEN

    %%reckon --session notebook-1
    Integrate[x^2 Sin[x], x]

shows the answer with its verdict, after its receipt was verified here. It is in Out[n] as text, and in the variable that --to names as an Answer.
"""

import html
import os
import shlex
from argparse import ArgumentParser

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, cell_magic, magics_class
from IPython.display import SVG, display

from .api.evaluation import get_plot
from .checked import Reckon, Refusal, Unreachable
from .verify import Refused

COLOURS = {"verified": "#1a7f37", "refuted": "#cf222e", None: "#57606a"}


class Shown(str):
    """An answer as a notebook shows it."""

    def __new__(cls, answer):
        shown = super().__new__(cls, answer.result)
        shown.answer = answer
        return shown

    def verdict(self):
        return self.answer.verification.verdict if self.answer.verification else None

    def __repr__(self):
        return f"{self}\n[{self.verdict() or 'not checked'}; receipt verified: run {self.answer.evaluation.run_id}]"

    def _repr_html_(self):
        found, verdict = self.answer.verification, self.verdict()
        why = f" ({html.escape(found.method)}): {html.escape(found.residual)}" if verdict == "refuted" else ""
        return (
            f"<pre>{html.escape(self)}</pre><small><b style='color:{COLOURS[verdict]}'>{verdict or 'not checked'}</b>{why}; "
            f"receipt verified: run {self.answer.evaluation.run_id}</small>"
        )


class Usage(ArgumentParser):
    def error(self, message):
        raise UsageError(f"%%reckon: {message}")


@magics_class
class ReckonMagic(Magics):
    service = None

    @line_magic
    def reckon(self, line):
        """%reckon [URL TOKEN]: evaluate there from now on."""
        url, token = shlex.split(line) or (os.environ.get("RECKON_URL", "http://localhost:8080"), os.environ.get("RECKON_TOKEN", ""))
        try:
            self.service = Reckon(url, token)
        except (Unreachable, Refused, ValueError) as why:
            raise UsageError(f"{why}. Say where to evaluate: %reckon URL TOKEN") from None

    @cell_magic("reckon")
    def evaluate(self, line, cell):
        """%%reckon [--session ID] [--to NAME]: evaluate the cell."""
        usage = Usage(prog="%%reckon", add_help=False)
        usage.add_argument("--session")
        usage.add_argument("--to")
        options = usage.parse_args(shlex.split(line))
        if self.service is None:
            self.reckon("")
        try:
            answer = self.service.evaluate(cell.strip(), options.session)
        except (Refusal, Unreachable) as why:
            raise UsageError(str(why)) from None
        except Refused as refused:
            raise UsageError(f"the receipt does not verify: {refused}") from None
        for warning in answer.evaluation.warnings:
            print(warning)
        if answer.evaluation.stdout:
            print(answer.evaluation.stdout, end="")
        if answer.evaluation.plot_url:
            display(SVG(data=get_plot.sync_detailed(answer.evaluation.run_id, client=self.service.client).content.decode()))
        if options.to:
            self.shell.user_ns[options.to] = answer
        return Shown(answer)


def load_ipython_extension(ipython):
    """Is what %load_ext calls."""
    ipython.register_magics(ReckonMagic)
