"""The evaluation program: the engine (woxi 0.3.0) behind handle().

Requests: {"op":"evaluate","code":s,"full_form":bool}, {"op":"lay_out","code":s} and {"op":"full_form","code":s}.
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
            return lay_out(request["code"])
        return evaluate(request["code"], request.get("full_form", False))
    except woxi.WolframError as problem:
        return {"error": str(problem)[:MESSAGE_CHARACTERS]}


def too_large(what, text):
    """The reply that says so, or None. The worker goes on: in a session % and all definitions stay."""
    return {"too_large": what, "bytes": size(text), "limit": TEXT_BYTES} if size(text) > TEXT_BYTES else None


def full_form(code):
    answer = woxi.evaluate("ToString[FullForm[Hold[" + code + "]]]")
    return too_large("result", answer.result) or {"full_form": answer.result}


def evaluate(code, want_full_form):
    answer = woxi.evaluate("(" + code + ")" if LITERAL.fullmatch(code) else code)
    reply = shown(answer.result, answer, answer.graphics)
    input_form = last_printed(answer.result, "ToString[%,InputForm]") if "too_large" not in reply else None
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
    drawn = woxi.evaluate("First[%]")
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
