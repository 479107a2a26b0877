"""The program of a further engine: FriCAS, an executable that a worker becomes.

A worker executes FRICASsys and has it read worker.lisp (WORKER, which Go appends to this file), which closes the last walls and serves the
connection. FriCAS holds open files whose position processes that are forked would share, so that each question has one that is started, in
half a second of processor time.
"""
import fcntl
import glob
import os
import subprocess
import sysconfig
import tempfile

PACKAGES = sysconfig.get_path("platlib")


def only(pattern):
    found = glob.glob(os.path.join(PACKAGES, pattern))
    if len(found) != 1:
        raise FileNotFoundError("%s is there %d times in %s" % (pattern, len(found), PACKAGES))
    return found[0]


FRICAS = only("sage_wheels/lib/fricas/target/*")
ECL = only("sage_wheels/lib/ecl-*")
SYSTEM = os.path.join(FRICAS, "bin", "FRICASsys")
ENVIRONMENT = {"FRICAS": FRICAS, "ECLDIR": ECL + "/", "HOME": FRICAS, "GC_MARKERS": "1"}
# What FriCAS is told on its standard input: its output goes nowhere, and it never comes to the end of the second line.
START = b")set messages autoload off\n)lisp (load (ext:make-stream-from-fd 4 :input :element-type (quote character)))\n"


def info():
    printed = subprocess.run([SYSTEM], input=b")quit\n", env=ENVIRONMENT, cwd=FRICAS, capture_output=True, check=True).stdout.decode()
    return {"name": "fricas", "revision": printed.partition("Version: FriCAS ")[2].split()[0]}


def filled_pipe(content):
    """The end to read of a pipe that holds content (at most 64 KiB) and no more."""
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    return reading


def become(connection, system_call_filter, ruleset):
    """Replaces the process of a worker by FriCAS. Descriptors: 3 is the connection, 4 the program that it reads, 5 the Landlock ruleset, if any.
    FriCAS copies a file into TMPDIR while it starts; worker.lisp removes both before it reads a request."""
    source = WORKER + '\n(serve "%s" %s)\n' % (system_call_filter, "nil" if ruleset is None else "t")
    given = {0: filled_pipe(START), 3: connection, 4: filled_pipe(source.encode())}
    if ruleset is not None:
        given[5] = ruleset
    above = {number: fcntl.fcntl(descriptor, fcntl.F_DUPFD, 16) for number, descriptor in given.items()}
    for number, descriptor in above.items():
        os.dup2(descriptor, number)
    os.closerange(max(given) + 1, 64)
    os.chdir(FRICAS)
    os.execve(SYSTEM, ["FRICASsys"], {**ENVIRONMENT, "TMPDIR": tempfile.mkdtemp(prefix="reckon-fricas-") + "/"})
