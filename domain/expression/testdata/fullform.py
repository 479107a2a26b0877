"""Reads one JSON string per line, answers the engine's FullForm of it as one JSON string per line.

Asking the engine to parse a text runs code in it, so every text gets a process of its own.
"""
import json
import os
import sys

import woxi

woxi.set_repl_mode(True)
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def full_form(text):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            answer = woxi.evaluate("ToString[FullForm[Hold[%s]]]" % text).result
        except BaseException:
            answer = "refused"
        with os.fdopen(write, "wb") as out:
            out.write(answer.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answers:
        answer = answers.read().decode()
    os.waitpid(pid, 0)
    return answer


for line in sys.stdin:
    print(json.dumps(full_form(json.loads(line)), ensure_ascii=False), flush=True)
