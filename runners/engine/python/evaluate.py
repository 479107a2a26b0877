"""The evaluation program: the engine (woxi 0.3.0) behind handle().

Requests: {"op":"evaluate","code":s,"full_form":bool}, {"op":"lay_out","code":s} and {"op":"full_form","code":s}. The first two
may have "line":s, the text as its author wrote it: they are then the next line of a session.
Replies hand on what the engine said as it said it; the adapter in Go makes it presentable.
"""
import os
import re
import threading

import woxi

TEXT_BYTES = 1 << 20  # of a result, and of what was printed
SVG_BYTES = 2 << 20
MESSAGES = 100  # different ones
MESSAGE_CHARACTERS = 4096

# A lone literal does not reach the engine's %; in parentheses it does (and escapes in strings are then processed).
LITERAL = re.compile(r'\s*(?:"(?:[^"\\]|\\.)*"|-?[0-9][0-9.]*|[^\W\d_][^\W_]*)\s*', re.DOTALL)
# Results the engine leaves wrapped in the form that was asked for; ToString carries the form out.
SHOWN_AS_TEXT = re.compile(
    r"(?:FullForm|TeXForm|CForm|FortranForm|NumberForm|ScientificForm|EngineeringForm|PaddedForm|AccountingForm|PercentForm|DecimalForm)\["
)
# What Out holds of these is what they show, so that Det[%] works after MatrixForm[m].
OUTPUT_FORM = re.compile(
    r"(?:InputForm|OutputForm|StandardForm|TraditionalForm|FullForm|TeXForm|CForm|FortranForm|MathMLForm|MatrixForm|TableForm|TreeForm|BaseForm"
    r"|NumberForm|ScientificForm|EngineeringForm|PaddedForm|AccountingForm|PercentForm|DecimalForm|Short|Shallow)\["
)
VALUE = "Reckon`value"  # of a line, before its number
TABLE = "Reckon`table"  # the last one laid out
KEPT_LINES = 100  # of a session, whose values and texts are kept
KEPT_BYTES = 32 << 20  # of the values of all lines but the last, by the engine's ByteCount, and of the texts
# Dates of a day or an instant; DateString would invent a day for a year.
SHOWN_AS_DATE = re.compile(r'DateObject\[\{[^{}]*\}, "?(?:Day|Instant)')
# Text the engine would only put in order (no call, no string): safe and cheap to read again.
ALGEBRA = re.compile(r"[\w\s+\-*/^(){},.]{1,4096}")


def warm():
    # The engine's state, % and the random generator among it, belongs to a thread: this one's stays untouched.
    thread = threading.Thread(target=evaluate_some)
    thread.start()
    thread.join()
    woxi.set_repl_mode(True)


def evaluate_some():
    woxi.set_repl_mode(True)
    for code in ("1+1", "Integrate[x^2 Sin[x],x]", "First[{%,Print[ToString[%,InputForm]]}]", "Solve[x^2==1,x]", "Plot[x,{x,0,1}]", "N[Pi,20]"):
        woxi.evaluate(code)


def info():
    return {"name": "woxi", "revision": woxi.__version__}


def reseed():
    woxi.seed_rng(int.from_bytes(os.urandom(7), "big"))


def size(text):
    """Bytes of UTF-8, without encoding what is too long anyway."""
    return len(text) if len(text) > TEXT_BYTES + SVG_BYTES else len(text.encode())


def handle(request):
    try:
        if request["op"] == "full_form":
            return full_form(request["code"])
        if request["op"] == "lay_out":
            reply = lay_out(request["code"])
        else:
            reply = evaluate(request["code"], request.get("full_form", False))
    except woxi.WolframError as problem:
        reply = {"error": str(problem)[:MESSAGE_CHARACTERS]}
    if "line" in request and not reply.get("error", "").startswith("Parse error:"):
        keep(request["line"], request["code"], request["op"] == "lay_out", reply)
    return reply


kept = {}  # number of a line -> bytes of its value and of its text
lines = 0


def keep(line, code, laid_out, reply):
    """Out[n], In[n], InString[n] and $Line, where the engine looks them up. The value of the line is its %.

    Each value has a symbol of its own: the engine copies all values of Out whenever it looks for one.
    Afterwards the engine's own % is Missing["NotAvailable"]: it stands for whatever line is not kept.
    """
    global lines
    lines += 1
    reply["line"], reply["from"] = lines, min(kept, default=1)
    value = "$Failed" if "error" in reply else TABLE if laid_out else "%"
    if OUTPUT_FORM.match(reply.get("input_form") or reply.get("result", "")):
        value = f"First[{value}]"
    count = woxi.evaluate(f"ByteCount[{VALUE}{lines}={value}]").result  # alone: each statement of a line has its own %
    kept[lines] = (int(count) if count.isdigit() else 0) + 2 * len(line)
    woxi.evaluate(f"Unprotect[Out,In,InString];Out[{lines}]:={VALUE}{lines};In[{lines}]:=ToExpression[{quoted(code)}];InString[{lines}]={quoted(line)};$Line={lines + 1};")
    while len(kept) > KEPT_LINES or len(kept) > 1 and sum(kept.values()) - kept[lines] > KEPT_BYTES:
        oldest = min(kept)
        del kept[oldest]
        woxi.evaluate(f"{VALUE}{oldest}=.;Out[{oldest}]=.;In[{oldest}]=.;InString[{oldest}]=.;")
    if lines == 1:
        for name in ("Out", "In", "InString"):
            woxi.evaluate(f'{name}[]:={name}[-1];{name}[n_Integer?Negative]:=If[$Line+n>0,{name}[$Line+n],Missing["NotAvailable"]];')
    woxi.evaluate("Protect[Out,In,InString];")
    woxi.evaluate('Missing["NotAvailable"]')


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def too_large(what, text):
    """The reply that says so, or None. The worker goes on: in a session % and all definitions stay."""
    return {"too_large": what, "bytes": size(text), "limit": TEXT_BYTES} if size(text) > TEXT_BYTES else None


def full_form(code):
    answer = woxi.evaluate("ToString[FullForm[Hold[" + code + "]]]")
    return too_large("result", answer.result) or {"full_form": answer.result}


def evaluate(code, want_full_form):
    answer = woxi.evaluate("(" + code + ")" if LITERAL.fullmatch(code) else code)
    reply = shown(answer.result, answer, answer.graphics)
    if "too_large" in reply or answer.result == "Null" and code.rstrip().endswith(";"):
        return reply
    input_form = last_printed(answer.result, "ToString[%,InputForm]")
    if input_form is None:
        return reply
    reply["input_form"] = in_order(input_form)
    if SHOWN_AS_TEXT.match(input_form):
        reply["shown"] = last_printed(answer.result, "ToString[%]")
    elif SHOWN_AS_DATE.match(input_form):
        reply["shown"] = last_printed(answer.result, "DateString[%]")
    elif input_form.startswith("InputForm["):
        reply["shown"] = answer.result
    if want_full_form:
        reply["full_form"] = last_printed(answer.result, "ToString[FullForm[%]]")
    for name in ("input_form", "shown", "full_form"):
        if size(reply.get(name) or "") > 2 * TEXT_BYTES:
            return {"too_large": "result", "bytes": size(reply[name]), "limit": 2 * TEXT_BYTES}
    return reply


def lay_out(code):
    """Tables: the engine draws what it shows and forgets the text, so the value is kept back by ; and written first."""
    answer = woxi.evaluate(code + ";")
    written = woxi.evaluate("{%,Print[ToString[%,InputForm]]};").stdout[:-1]
    date = last_printed(None, "DateString[First[%]]") if SHOWN_AS_DATE.match(written) else None
    drawn = woxi.evaluate(TABLE + "=First[%]")
    reply = shown(written, answer, drawn.graphics)
    if date and "too_large" not in reply:
        reply["shown"] = date
    return reply


def shown(result, answer, graphics):
    stdout = answer.stdout or ""
    excess = too_large("result", result) or too_large("output", stdout)
    if excess:
        return excess
    times = {}
    for message in answer.warnings:
        times[message[:MESSAGE_CHARACTERS]] = times.get(message[:MESSAGE_CHARACTERS], 0) + 1
    messages = list(times)[:MESSAGES]
    reply = {"result": result, "stdout": stdout, "messages": messages, "times": [times[message] for message in messages]}
    if graphics and size(graphics) > SVG_BYTES:
        reply["plot_omitted"] = True
    elif graphics:
        reply["svg"] = graphics
    return reply


def in_order(text):
    """The same terms and factors in canonical order: the engine sorts what it reads, but not all that it computes."""
    if not ALGEBRA.fullmatch(text) or "*" not in text:
        return text
    ordered = last_printed(None, "ToString[" + text + ",InputForm]")
    return ordered if ordered and sorted(ordered) == sorted(text) else text


def last_printed(result, form):
    """What form (text in terms of %) prints, leaving % as it was; None where % does not show as result."""
    try:
        answer = woxi.evaluate("First[{%,Print[" + form + "]}]")
    except woxi.WolframError:
        return None
    if result not in (None, answer.result) or not answer.stdout.endswith("\n"):
        return None
    return answer.stdout[:-1]
