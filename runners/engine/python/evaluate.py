"""The evaluation program: the engine (woxi 0.3.0) behind handle().

Requests: {"op":"evaluate","code":s,"silent":bool,"full_form":bool,"line":s}, {"op":"full_form","code":s} and {"op":"value","line":n,"text":s},
which makes a text the value of a line of the session. The code of an
evaluation ends with a word, not with a comment; silent: with a semicolon. With "line", the text as its author wrote it, it is the
next line of a session.
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

# Results the engine leaves wrapped in the form that was asked for; ToString carries the form out.
SHOWN_AS_TEXT = re.compile(
    r"(?:FullForm|TeXForm|CForm|FortranForm|NumberForm|ScientificForm|EngineeringForm|PaddedForm|AccountingForm|PercentForm|DecimalForm)\["
)
# Values that are pictures or sounds: the engine shows -Graphics- in their place.
PICTURE = re.compile(r"-Graphics|(?:Graphics\w*|Image(?:3D)?|(?:Boundary)?MeshRegion|Audio|Video|Sound|Music\w+|DisplayForm)\[")
# Values that have a text and are drawn.
DRAWN = re.compile(
    r"(?:MatrixForm|TableForm|TreeForm|Graph|Grid|TextGrid|Column|Row|Dataset|Tabular|DateObject|Framed|Highlighted|ClickPane|LocatorPane"
    r"|RGBColor|GrayLevel|Hue|CMYKColor|LABColor|LUVColor|LCHColor|XYZColor)\["
)
INFORMATION = re.compile(r"InformationData\[<\|(?:Name -> ([^,]*), |ObjectType -> Symbol, )Usage -> (.*?), (?:Attributes|Documentation) -> .*\|>\]", re.DOTALL)
DEFINITIONS = re.compile(r"InformationValueForm\[\w+, [^,]*, \{(.*?)\}\](?=, \w+ -> )", re.DOTALL)
ATTRIBUTES = re.compile(r"Attributes -> \{([^}]*)\}")
NAMES = re.compile(r"InformationDataGrid\[\{(.*)\}, \w+\]", re.DOTALL)
UNKNOWN = re.compile(r'Missing\["UnknownSymbol", "(.*)"\]')
SEQUENCE = re.compile(r"ToString\[(.*), InputForm\]", re.DOTALL)  # Sequence[…] becomes the arguments of what writes it
NO_LINE = 'Missing["NotAvailable"]'  # the value of a line before the first
# The engine's own % before an evaluation: outside sessions, and set so before each line of a session. It is left so by a definition;
# a code that matches may name it.
BEFORE = {"Out[0]": re.compile(r"%|Out"), 'Missing["NoLine"]': re.compile(r"%|Out\[\s*0")}
# What Out holds of these is what they show, so that Det[%] works after MatrixForm[m].
OUTPUT_FORM = re.compile(
    r"(?:InputForm|OutputForm|StandardForm|TraditionalForm|FullForm|TeXForm|CForm|FortranForm|MathMLForm|MatrixForm|TableForm|TreeForm|BaseForm"
    r"|NumberForm|ScientificForm|EngineeringForm|PaddedForm|AccountingForm|PercentForm|DecimalForm|Short|Shallow)\["
)
VALUE = "Reckon`value"  # of a line, before its number
SHOWN = "Reckon`shown"  # the value that is shown
DRAWING = re.compile(r"\b(?:Graphics(?:3D)?|Image)\b")
# Functions that the engine ends after 10,000 steps without a word, unless it is told how many are wanted: their forms without a number of
# steps, and with one that no budget has time for. So do FixedPointList and NestWhileList.
ITERATIONS = re.compile(r"FixedPoint|NestWhile")
STEPS = "10^12"
ENDLESS_FORMS = {
    "FixedPoint": (("f_,x_", "f,x,%s"), ("f_,x_,o_Rule", "f,x,%s,o"), ("f_,x_,n_", "f,x,%s"), ("f_,x_,n_,o_Rule", "f,x,%s,o")),
    "NestWhile": (("f_,x_,t_", "f,x,t,1,%s"), ("f_,x_,t_,k_", "f,x,t,k,%s"), ("f_,x_,t_,k_,n_", "f,x,t,k,%s"), ("f_,x_,t_,k_,n_,r_", "f,x,t,k,%s,r")),
}
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
    for code in ("1+1", "Integrate[x^2 Sin[x],x]", f"Print[ToString[{SHOWN}=%,InputForm]];", "Solve[x^2==1,x]", "Plot[x,{x,0,1}]", "N[Pi,20]"):
        woxi.evaluate(code)


def info():
    return {"name": "woxi", "revision": woxi.__version__}


def reseed():
    woxi.seed_rng(int.from_bytes(os.urandom(7), "big"))


def size(text):
    """Bytes of UTF-8, without encoding what is too long anyway."""
    return len(text) if len(text) > TEXT_BYTES + SVG_BYTES else len(text.encode())


def handle(request):
    if request["op"] == "full_form":
        try:
            return full_form(request["code"])
        except woxi.WolframError as problem:
            return {"error": str(problem)[:MESSAGE_CHARACTERS]}
    if request["op"] == "value":
        if request["line"] in kept:
            woxi.evaluate(f"{VALUE}{request['line']}={request['text']};")
        return {}
    in_session = "line" in request
    try:
        if in_session and lines == 0:
            begin_session()
        if ITERATIONS.search(request["code"]):
            iterate_to_the_end()
        reply, value = evaluate(request["code"], request.get("silent", False), request.get("full_form", False))
    except woxi.WolframError as problem:
        reply, value = {"error": str(problem)[:MESSAGE_CHARACTERS]}, "$Failed"
    if in_session and not reply.get("error", "").startswith("Parse error:"):
        keep(request["line"], request["code"], reply, value)
    return reply


def iterate_to_the_end():
    """Defines what the engine would end without a word, where nobody has defined it: the engine asks definitions first."""
    for base, forms in ENDLESS_FORMS.items():
        for name in (base, base + "List"):
            if woxi.evaluate(f"Length[DownValues[{name}]]").result != "0":
                continue
            woxi.evaluate(f"Unprotect[{name}];")
            for left, right in forms:
                condition = "/;n===Infinity" if "n_" in left else ""
                woxi.evaluate(f"{name}[{left}]:={name}[{right % STEPS}]{condition}")
            woxi.evaluate(f"Protect[{name}];")
    woxi.evaluate('Missing["NoLine"]')


kept = {}  # number of a line -> bytes of its value and of its text
lines = 0
PAST = ("Out", "In", "InString")


def begin_session():
    for name in PAST:
        woxi.evaluate(f"Unprotect[{name}];{name}[]:={name}[-1];{name}[n_Integer?Negative]:=If[$Line+n>0,{name}[$Line+n],{NO_LINE}];Protect[{name}];")
    woxi.evaluate('Missing["NoLine"]')


def keep(line, code, reply, value):
    """Out[n], In[n], InString[n] and $Line, where the engine looks them up. value may be %, the engine's own.

    Each value has a symbol of its own: the engine copies all values of Out whenever it looks for one.
    """
    global lines
    lines += 1
    reply["line"], reply["from"] = lines, min(kept, default=1)
    if OUTPUT_FORM.match(reply.get("input_form", "")):
        value = f"First[{value}]"
    count = woxi.evaluate(f"ByteCount[{VALUE}{lines}={value}]").result  # alone: each statement of a line has its own %
    if value == "%" and reply.get("result") == "Null" and woxi.evaluate(f"Head[{VALUE}{lines}]").result == "Missing":
        woxi.evaluate(f"{VALUE}{lines}=Null")
    if were_cleared():
        woxi.evaluate("Unprotect[Out,In,InString];")
        for number in list(kept):
            forget(number)
        begin_session()
    if "Out" in code:  # Out[1] = 99, as a pasted notebook has it, changes no line
        woxi.evaluate("Unprotect[Out];" + "".join(f"Out[{number}]=.;Out[{number}]:={VALUE}{number};" for number in kept))
    kept[lines] = (int(count) if count.isdigit() else 0) + 2 * len(line)
    woxi.evaluate(
        f"Unprotect[Out,In,InString];Out[{lines}]:={VALUE}{lines};In[{lines}]:=ToExpression[{quoted(code)}];InString[{lines}]={quoted(line)};"
        f"$Line={lines + 1};"
    )
    while len(kept) > KEPT_LINES or len(kept) > 1 and sum(kept.values()) - kept[lines] > KEPT_BYTES:
        forget(min(kept))
    woxi.evaluate(f"{SHOWN}=.;Protect[Out,In,InString];")
    woxi.evaluate('Missing["NoLine"]')


def were_cleared():
    """Whether the session's code took definitions of Out, In or InString away (Clear[Out]): each has two, and one for each line kept."""
    counts = (woxi.evaluate(f"Length[DownValues[{name}]]").result for name in PAST)
    return any(not count.isdigit() or int(count) < 2 + len(kept) for count in counts)


def forget(number):
    """Takes a line's value and text away. Out, In and InString are not protected."""
    del kept[number]
    woxi.evaluate(f"{VALUE}{number}=.;Out[{number}]=.;In[{number}]=.;InString[{number}]=.;")


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def too_large(what, text):
    """The reply that says so, or None. The worker goes on: in a session % and all definitions stay."""
    return {"too_large": what, "bytes": size(text), "limit": TEXT_BYTES} if size(text) > TEXT_BYTES else None


def full_form(code):
    answer = woxi.evaluate("ToString[FullForm[Hold[" + code + "]]]")
    return too_large("result", answer.result) or {"full_form": answer.result}


def evaluate(code, silent, want_full_form):
    """The reply, and what the engine has its value as. The code is evaluated behind a ; and its value written before it is shown:
    the engine draws dates, tables and colours where it shows them, and forgets their text."""
    answer = woxi.evaluate(code if silent else code + ";")
    if answer.result != "Null":
        return without_value(answer)
    if silent:
        return shown("Null", answer), "%"
    written = write(code)
    if written is None or written in BEFORE and not BEFORE[written].search(code):
        return without_value(answer)
    sequence = SEQUENCE.fullmatch(written)
    if sequence and "ToString" not in code:
        written = f"Sequence[{sequence[1]}]"
    return with_value(answer, written, want_full_form), SHOWN


def without_value(answer):
    """A definition, or an evaluation that was ended by Return, Throw or Abort: what the engine shows is all there is. Its text is the value where
    it can only be one: numbers, names, lists and what is computed of them."""
    reply = shown(answer.result, answer)
    return reply, answer.result if answer.result == "$Aborted" or ALGEBRA.fullmatch(answer.result) else "$Failed"


def write(code):
    """The text of the engine's %, which is SHOWN from now on: the engine evaluates a % and a symbol anew wherever they stand, which takes as
    long as the value is large. None where nothing could be written."""
    text = f"ToString[{SHOWN}=%,InputForm]"
    if DRAWING.search(code):  # thousands of shapes need no text
        text = f'If[MemberQ[{{Graphics,Graphics3D,Image}},Head[{SHOWN}=%]],"-Graphics-",ToString[{SHOWN},InputForm]]'
    return printed(text)


def with_value(answer, written, want_full_form):
    if PICTURE.match(written) or DRAWN.match(written):
        drawn = woxi.evaluate(SHOWN)
        picture = drawn.result if PICTURE.match(written) else written
        reply = shown(picture, answer, drawn.graphics)
        if SHOWN_AS_DATE.match(written):
            reply["shown"] = printed(f"DateString[{SHOWN}]")
        if not reply.get("too_large"):
            reply["input_form"] = picture
        return reply
    reply = shown(written, answer)
    if "too_large" in reply:
        return reply
    told = information(written)
    if told:
        reply["shown"], written = told, quoted(told)
        reply.pop("svg", None)
    elif SHOWN_AS_TEXT.match(written):
        reply["shown"] = printed(f"ToString[{SHOWN}]")
    elif written.startswith("InputForm["):
        reply["shown"] = written[len("InputForm[") : -1]
    reply["input_form"] = in_order(written)
    if want_full_form:
        reply["full_form"] = printed(f"ToString[FullForm[{SHOWN}]]")
    for name in ("input_form", "shown", "full_form"):
        if size(reply.get(name) or "") > 2 * TEXT_BYTES:
            return {"too_large": "result", "bytes": size(reply[name]), "limit": 2 * TEXT_BYTES}
    return reply


def information(written):
    """What ?name, ??name, ?pattern and Information[name] say, as text; None for any other value."""
    unknown, names, about = UNKNOWN.fullmatch(written), NAMES.fullmatch(written), INFORMATION.fullmatch(written)
    if unknown:
        return f"{unknown[1]}: no function of this name is known here."
    if names:
        found = re.findall(r"\{([^{}]*)\}", names[1])
        return ", ".join(name for name in found if name) or "No name here is like this."
    if not about:
        return None
    attributes = ATTRIBUTES.search(written)
    if about[1]:
        lines = [f"{about[1]}: {about[2]}."]
    else:
        lines = [about[2].removeprefix("Global`") + ": a symbol of yours.", *DEFINITIONS.findall(written)]
    if attributes and attributes[1]:
        lines.append("Attributes: " + attributes[1])
    return "\n".join(lines)


def shown(result, answer, drawing=None):
    graphics = drawing or answer.graphics
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
    ordered = printed("ToString[" + text + ",InputForm]")
    return ordered if ordered and sorted(ordered) == sorted(text) else text


def printed(text):
    """What the expression for a text prints; None where it prints nothing."""
    try:
        answer = woxi.evaluate("Print[" + text + "];")
    except woxi.WolframError:
        return None
    return answer.stdout[:-1] if answer.stdout.endswith("\n") else None

