"""The zygote: imports a program once, then forks one child per worker.

Started by runners/engine (Go) with one argument: the path of a JSON configuration. Descriptor 3 is the control
socket, JSON lines both ways:
  server: {"op":"spawn","address_space":bytes} with one descriptor attached, the worker's own socket
  zygote: {"op":"ready", ...} once, {"op":"spawned","pid":n,"handle":bool} (handle: a pidfd is attached),
          {"op":"exit","pid":n,"code":n,"signal":n}
A worker reads one JSON line at a time from its socket, hands it to the program's handle() and writes one line back. A request with
"processor_ms" ends the worker by SIGPROF after so many milliseconds of processor time.
A program with become(descriptor, filter, ruleset) replaces each worker's process by another executable, which sets RLIMIT_FSIZE and RLIMIT_NPROC,
installs the Landlock ruleset and the filter of system calls before it reads a request, and answers requests.
It locks itself in before it reads the first byte. When the control socket closes, everything ends.
"""
import ctypes
import errno
import gc
import importlib.abc
import importlib.util
import json
import marshal
import os
import resource
import select
import signal
import socket
import struct
import sys
import time

CONTROL = 3
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
SECCOMP_MODE_FILTER = 2
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446  # the same on every architecture
LANDLOCK_READ = 1 << 2 | 1 << 3  # READ_FILE, READ_DIR
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def check(result, what):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, what + ": " + os.strerror(code))
    return result


def prctl(option, *args):
    values = [ctypes.c_ulong(a) for a in args] + [ctypes.c_ulong(0)] * (4 - len(args))
    check(libc.prctl(ctypes.c_int(option), *values), "prctl %d" % option)


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_void_p)]


class Capabilities(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


def drop_capabilities():
    """Gives every capability up; with no_new_privs and no exec there is no way to get one back."""
    header, nothing = Capabilities(0x20080522, 0), (ctypes.c_uint32 * 6)()
    check(libc.capset(ctypes.byref(header), nothing), "capset")


def landlock_abi():
    return libc.syscall(ctypes.c_long(LANDLOCK_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint32(1))


def files_ruleset(read_only):
    """A Landlock ruleset: nothing but reading below read_only; no TCP; no signals out of the domain. None where the kernel has no Landlock."""
    abi = landlock_abi()
    if abi < 1:
        return None
    files = (1 << (13 if abi < 2 else 14 if abi < 3 else 15 if abi < 5 else 16)) - 1
    network = 3 if abi >= 4 else 0  # BIND_TCP, CONNECT_TCP
    scoped = 3 if abi >= 6 else 0  # abstract Unix sockets, signals
    attributes = struct.pack("=QQQ", files, network, scoped)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    ruleset = check(
        libc.syscall(ctypes.c_long(LANDLOCK_CREATE_RULESET), attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0)),
        "landlock_create_ruleset",
    )
    for path in read_only:
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", LANDLOCK_READ, folder)
        check(libc.syscall(ctypes.c_long(LANDLOCK_ADD_RULE), ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint32(0)), "landlock_add_rule")
        os.close(folder)
    return ruleset


def restrict_files(ruleset):
    check(libc.syscall(ctypes.c_long(LANDLOCK_RESTRICT_SELF), ctypes.c_int(ruleset), ctypes.c_uint32(0)), "landlock_restrict_self")
    os.close(ruleset)


NAME = ctypes.create_string_buffer(b"reckon-engine")


def hide_command_line():
    """Gives programs of this process one argument, a name: the real ones name folders of the machine. ps shows those still.

    A process begins with argc on its stack, followed by the pointers to its arguments (System V ABI); the fields of
    proc_pid_stat(5) say where the stack (28) and the first argument (48) are.
    """
    with open("/proc/self/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    stack, first = int(fields[25]), int(fields[45])
    arguments = ctypes.cast(stack + ctypes.sizeof(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p))
    if stack and arguments[0] == first:
        arguments[0], arguments[1] = ctypes.addressof(NAME), None


def leave_files():
    """Makes the working folder, empty and read-only, the whole file system. Answers whether the kernel let it."""
    private, read_only, quiet = 1 << 18 | 1 << 14, 1, 1 << 1 | 1 << 2 | 1 << 3  # no set-uid, no devices, no programs
    here = os.getcwd().encode()
    try:
        check(libc.mount(b"none", b"/", None, ctypes.c_ulong(private), None), "mount")
        check(libc.mount(b"none", here, b"tmpfs", ctypes.c_ulong(read_only | quiet), b"size=4096"), "mount")
        os.chdir(here)
        check(libc.syscall(ctypes.c_long(155 if os.uname().machine == "x86_64" else 41), b".", b"."), "pivot_root")
        check(libc.umount2(b".", ctypes.c_int(2)), "umount")
        os.chdir("/")
        return True
    except OSError:
        return False


class Worker:
    """What runs in a forked child."""

    def __init__(self, zygote, descriptor, address_space):
        self.zygote, self.descriptor, self.address_space = zygote, descriptor, address_space

    def run(self):
        connection = socket.socket(fileno=self.descriptor)
        try:
            system_call_filter = self.lock_in()
            if become := getattr(self.zygote.program, "become", None):
                become(self.descriptor, system_call_filter, files_ruleset(self.zygote.config["read_only"]) if system_call_filter else None)
            self.restrict_calls(system_call_filter)
            getattr(self.zygote.program, "reseed", lambda: None)()
            self.serve(connection)
        except MemoryError:
            self.fail(connection, "memory", "the evaluation ran over its memory limit")
        except BaseException as problem:
            self.fail(connection, "crashed", repr(problem)[:1000])
        os._exit(0)

    @staticmethod
    def fail(connection, reason, detail):
        """The last line of a worker that cannot go on."""
        try:
            connection.sendall(json.dumps({"failed": reason, "detail": detail}).encode() + b"\n")
        finally:
            os._exit(70)

    def lock_in(self):
        """Closes the walls around one worker but the filter of system calls, which it returns in hexadecimal digits. The order matters: what a later
        step needs is forbidden by the next."""
        zygote, config = self.zygote, self.zygote.config
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.setpgid(0, 0)
        keep = self.descriptor
        os.closerange(3, keep)
        os.closerange(keep + 1, zygote.highest_descriptor)
        if zygote.linux:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != zygote.pid:
                os._exit(70)
        limits = config["limits"]
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if self.address_space:
            resource.setrlimit(resource.RLIMIT_AS, (self.address_space,) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (limits["cpu_seconds"],) * 2)
        if config["sandbox"]:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limits["open_files"],) * 2)
            if not hasattr(zygote.program, "become"):  # which sets these two where it installs the filter
                resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
                if not config["threads"]:  # which count as processes
                    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
            prctl(PR_SET_NO_NEW_PRIVS, 1)
            drop_capabilities()
        return bytes.fromhex(config["seccomp"]).replace(struct.pack("=I", config["own_process"]), struct.pack("=I", os.getpid())).hex()

    def restrict_calls(self, system_call_filter):
        if program := bytes.fromhex(system_call_filter):
            buffer = ctypes.create_string_buffer(program, len(program))
            fprog = Filter(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
            check(libc.prctl(ctypes.c_int(PR_SET_SECCOMP), ctypes.c_ulong(SECCOMP_MODE_FILTER), ctypes.byref(fprog)), "seccomp")

    def serve(self, connection):
        limits = self.zygote.config["limits"]
        pending = bytearray()
        while True:
            end = pending.find(b"\n")
            if end < 0:
                if len(pending) > limits["request_bytes"]:
                    os._exit(71)
                chunk = connection.recv(65536)
                if not chunk:
                    return
                pending += chunk
                continue
            request = json.loads(bytes(pending[:end]))
            del pending[: end + 1]
            signal.setitimer(signal.ITIMER_PROF, request.get("processor_ms", 0) / 1000)
            started = time.perf_counter_ns()
            reply = self.probe() if request.get("op") == "probe" else self.zygote.program.handle(request)
            if "failed" not in reply:
                reply["elapsed_ns"] = time.perf_counter_ns() - started
            line = json.dumps(reply, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
            if len(line) > limits["reply_bytes"]:
                line = json.dumps({"failed": "output_too_large"}).encode() + b"\n"
            connection.sendall(line)

    def probe(self):
        """Tries what must not work and reports what the kernel answered: boundaries are observed, not assumed."""

        def attempt(action):
            try:
                action()
                return "allowed"
            except OSError as problem:
                return errno.errorcode.get(problem.errno, str(problem.errno))

        def fork():
            if os.fork() == 0:
                os._exit(0)

        return {
            "probe": {
                "open": attempt(lambda: os.open("/etc/passwd", os.O_RDONLY)),
                "create": attempt(lambda: os.open("/tmp/reckon-probe", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)),
                "stat": attempt(lambda: os.stat("/")),
                "list": attempt(lambda: os.listdir("/proc")),
                "socket": attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM)),
                "unix_socket": attempt(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)),
                "fork": attempt(fork),
                "exec": attempt(lambda: os.execv("/bin/true", ["/bin/true"])),
                "signal_parent": attempt(lambda: os.kill(self.zygote.pid, 0)),
                "signal_all": attempt(lambda: os.kill(-1, 0)),
                "ptrace": attempt(lambda: check(libc.ptrace(16, self.zygote.pid, None, None), "ptrace")),
                "read_memory": attempt(lambda: check(libc.process_vm_readv(self.zygote.pid, None, 0, None, 0, 0), "process_vm_readv")),
            }
        }


class Modules(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports the program's modules from memory. Byte code of another Python, or none, is made of their sources."""

    def __init__(self, sources, code):
        magic = importlib.util.MAGIC_NUMBER
        self.sources, self.code = sources, marshal.loads(code[len(magic) :]) if code.startswith(magic) else {}

    def find_spec(self, name, path, target=None):
        return importlib.util.spec_from_loader(name, self) if self.key(name) in self.sources else None

    def key(self, name):
        return name if name in self.sources else name + ".__init__"

    def is_package(self, name):
        return name not in self.sources

    def get_source(self, name):
        return self.sources[self.key(name)]

    def get_code(self, name):
        code = self.code.get(self.key(name))
        return marshal.loads(marshal.dumps(self.source_to_code(self.get_source(name), self.key(name)))) if code is None else code  # kept code was marshalled


class Zygote:
    def __init__(self, config):
        self.config = config
        self.linux = sys.platform.startswith("linux")
        self.pid = os.getpid()
        self.control = socket.socket(fileno=CONTROL)
        self.program = None
        self.highest_descriptor = 0

    def prepare(self):
        """Loads and warms the program, then builds the outer walls around this process and all it will fork."""
        folder = os.path.dirname(self.config["program"])
        if os.path.exists(sources := os.path.join(folder, "modules.json")):
            with open(sources) as file, open(os.path.join(folder, "modules.code"), "rb") as code:
                sys.meta_path.insert(0, Modules(json.load(file), code.read()))
        spec = importlib.util.spec_from_file_location("program", self.config["program"])
        self.program = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.program)
        getattr(self.program, "warm", lambda: None)()
        gc.collect()
        gc.freeze()  # a collection in a worker writes to no page it shares with the zygote
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        os.close(nothing)
        os.environ.clear()
        self.highest_descriptor = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 4096)
        abi, no_files = 0, False
        if self.config["sandbox"]:
            no_files = self.config["namespaced"] and not self.config["read_only"] and leave_files()
            prctl(PR_SET_NO_NEW_PRIVS, 1)
            prctl(PR_SET_DUMPABLE, 0)
            abi = max(landlock_abi(), 0)
            if not hasattr(self.program, "become") and (ruleset := files_ruleset(self.config["read_only"])) is not None:
                restrict_files(ruleset)
            drop_capabilities()
        self.send({"op": "ready", "pid": self.pid, "landlock_abi": abi, "no_files": no_files, "info": getattr(self.program, "info", dict)()})

    def send(self, message, descriptors=()):
        line = json.dumps(message).encode() + b"\n"
        if descriptors:
            socket.send_fds(self.control, [line], descriptors)
        else:
            self.control.sendall(line)

    def loop(self):
        wake, woken = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(woken, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is the server's to answer
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        poll.register(wake, select.POLLIN)
        pending, descriptors = bytearray(), []
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == wake:
                    os.read(wake, 4096)
                    self.reap()
                    continue
                data, received, _, _ = socket.recv_fds(self.control, 4096, 16)
                descriptors += received
                if not data:
                    return
                pending += data
                while (end := pending.find(b"\n")) >= 0:
                    request = json.loads(bytes(pending[:end]))  # spawn is the one request there is
                    del pending[: end + 1]
                    self.spawn(descriptors.pop(0), request["address_space"])

    def spawn(self, descriptor, address_space):
        try:
            pid = os.fork()
        except OSError as problem:
            os.close(descriptor)
            self.send({"op": "spawned", "pid": 0, "error": str(problem)})
            return
        if pid == 0:
            Worker(self, descriptor, address_space).run()
        os.close(descriptor)
        try:
            handle = os.pidfd_open(pid)
        except (AttributeError, OSError):
            self.send({"op": "spawned", "pid": pid, "handle": False})
            return
        self.send({"op": "spawned", "pid": pid, "handle": True}, [handle])
        os.close(handle)

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            ended = os.waitstatus_to_exitcode(status)
            self.send({"op": "exit", "pid": pid, "code": max(ended, 0), "signal": max(-ended, 0)})


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        zygote = Zygote(json.load(file))
    if zygote.linux:
        hide_command_line()
    zygote.prepare()
    zygote.loop()
