"""A program for tests: does in a worker what a hostile native library could, and reports what the kernel answered.

Request {"attempt": name, "pid": n}; reply {"answer": "allowed" | errno name | text}.
"""
import ctypes
import errno
import mmap
import os
import random
import signal
import socket
import time

INTEL = os.uname().machine == "x86_64"
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p


def warm():
    random.random()


def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def descriptors():
    found = []
    for descriptor in range(256):
        try:
            os.read(descriptor, 0)
            found.append(descriptor)
        except OSError as problem:
            if problem.errno != errno.EBADF:
                found.append(descriptor)
    return found


def executable_memory():
    if libc.mmap(None, ctypes.c_size_t(4096), 7, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, ctypes.c_long(0)) == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")


def raise_limit():
    class Limit(ctypes.Structure):
        _fields_ = [("soft", ctypes.c_ulong), ("hard", ctypes.c_ulong)]

    call("prlimit", 0, 9, ctypes.byref(Limit(2**40, 2**40)), None)


def thread():
    import _thread

    try:
        _thread.start_new_thread(time.time, ())
    except RuntimeError:
        raise PermissionError(errno.EPERM, "thread")


ATTEMPTS = {
    "open /etc/passwd": lambda r: os.open("/etc/passwd", os.O_RDONLY),
    "open own file": lambda r: os.open(__file__, os.O_RDONLY),
    "open /proc/self/environ": lambda r: os.open("/proc/self/environ", os.O_RDONLY),
    "open /proc/pid/mem": lambda r: os.open("/proc/%d/mem" % r["pid"], os.O_RDONLY),
    "open /dev/mem": lambda r: os.open("/dev/mem", os.O_RDONLY),
    "legacy open": lambda r: call("syscall", 2, b"/etc/passwd", 0) if INTEL else os.open("/etc/passwd", 0),
    "openat2": lambda r: call("syscall", 437, -100, b"/etc/passwd", b"\0" * 24, 24),
    "write a file": lambda r: os.open("/tmp/reckon-escape", os.O_WRONLY | os.O_CREAT, 0o600),
    "delete a file": lambda r: os.unlink("/tmp/reckon-escape"),
    "make a folder": lambda r: os.mkdir("/tmp/reckon-escape"),
    "list a folder": lambda r: os.listdir("/"),
    "read a link": lambda r: os.readlink("/proc/self/exe"),
    "change folder": lambda r: os.chdir("/"),
    "chroot": lambda r: os.chroot("/"),
    "mount": lambda r: call("mount", b"none", b"/tmp", b"tmpfs", 0, None),
    "tcp socket": lambda r: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
    "udp socket": lambda r: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM),
    "unix socket": lambda r: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
    "netlink socket": lambda r: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "socket pair": lambda r: socket.socketpair(),
    "pipe": lambda r: os.pipe(),
    "fork": lambda r: os.fork(),
    "vfork": lambda r: call("syscall", 58) if INTEL else os.fork(),
    "thread": lambda r: thread(),
    "execve": lambda r: os.execv("/bin/true", ["true"]),
    "kill itself": lambda r: os.kill(os.getpid(), signal.SIGTERM),
    "kill server": lambda r: os.kill(r["pid"], signal.SIGKILL),
    "kill zygote": lambda r: os.kill(os.getppid(), signal.SIGKILL),
    "kill all": lambda r: os.kill(-1, signal.SIGKILL),
    "kill group": lambda r: os.killpg(0, signal.SIGTERM),
    "tgkill another": lambda r: call("syscall", 234 if INTEL else 131, r["pid"], r["pid"], 6),
    "queue a signal": lambda r: call("sigqueue", r["pid"], 10, None),
    "pidfd": lambda r: os.pidfd_open(r["pid"]),
    "ptrace": lambda r: call("ptrace", 16, r["pid"], None, None),
    "read memory": lambda r: call("process_vm_readv", r["pid"], None, 0, None, 0, 0),
    "write memory": lambda r: call("process_vm_writev", r["pid"], None, 0, None, 0, 0),
    "process_madvise": lambda r: call("syscall", 440, 3, None, 0, 0, 0),
    "executable memory": lambda r: executable_memory(),
    "raise a limit": lambda r: raise_limit(),
    "priority": lambda r: os.setpriority(os.PRIO_PROCESS, 0, 1),
    "set uid": lambda r: os.setuid(0),
    "unshare": lambda r: call("unshare", 0x10000000),
    "bpf": lambda r: call("syscall", 321 if INTEL else 280, 0, None, 0),
    "io_uring": lambda r: call("syscall", 425, 1, None),
    "userfaultfd": lambda r: call("syscall", 323 if INTEL else 282, 0),
    "keyring": lambda r: call("syscall", 250 if INTEL else 219, 0, -3, 0),
    "perf": lambda r: call("syscall", 298 if INTEL else 241, None, 0, -1, -1, 0),
    "memfd": lambda r: os.memfd_create("x"),
    "shared memory": lambda r: call("shmget", 1, 4096, 0o1600),
    "message queue": lambda r: call("msgget", 1, 0o1600),
    "host name": lambda r: os.uname(),
    "prctl": lambda r: call("prctl", 4, 1, 0, 0, 0),
    "ioctl": lambda r: call("ioctl", 1, 0x5401, b"\0" * 64),
    "reboot": lambda r: call("syscall", 169 if INTEL else 142, 0, 0, 0, None),
}


def handle(request):
    name = request["attempt"]
    if name == "names":
        return {"answer": " ".join(sorted(ATTEMPTS)), "names": sorted(ATTEMPTS)}
    if name == "environment":
        return {"answer": repr(sorted(os.environ))}
    if name == "descriptors":
        return {"answer": repr(descriptors())}
    if name == "random":
        return {"answer": repr(random.random())}
    if name == "pid":
        return {"answer": "%d" % os.getpid()}
    if name == "spin":
        while True:
            pass
    if name == "flood":
        return {"answer": "x" * request["pid"]}
    if name == "endless line":
        chunk = b"x" * 65536
        while True:
            os.write(descriptors()[-1], chunk)
    if name == "garbage":
        os.write(descriptors()[-1], b"not json\n")
        return {}
    if name == "exit":
        os._exit(request["pid"])
    if name == "raise":
        raise ValueError("a fault of the program")
    if name == "memory":
        return {"answer": str(len(bytearray(request["pid"])))}
    if name == "import":
        import fractions  # not imported before: needs its file

        return {"answer": str(fractions.Fraction(1, 2))}
    try:
        ATTEMPTS[name](request)
    except OSError as problem:
        return {"answer": errno.errorcode.get(problem.errno, str(problem.errno))}
    return {"answer": "allowed"}
