"""Compiles modules: JSON {name: source} on standard input, byte code on standard output.

The byte code is Python's magic number for its format, then a marshalled {name: code}. Its sets are in the order of the hash seed 0, which
zygotes have too.
"""
import importlib.util
import json
import marshal
import sys

sources = json.load(sys.stdin)
code = {name: compile(source, name, "exec", dont_inherit=True) for name, source in sources.items()}
sys.stdout.buffer.write(importlib.util.MAGIC_NUMBER + marshal.dumps(code))
