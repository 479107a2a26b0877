package engine

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"

	"github.com/elastic/go-seccomp-bpf"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// What a worker may ask of the kernel: its own memory, signals to handle, time, randomness and the descriptors it already
// has. Everything else answers EPERM. Found by taking names away until the sample and the failures no longer came out
// the same; kept beyond that are the clocks (a machine without a vDSO asks the kernel), the locks and giving memory back.
var (
	allowed = []string{
		"read", "write", "close", "recvfrom", "sendto",
		"munmap", "mremap", "madvise", "brk",
		"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "futex", "sched_yield", "restart_syscall",
		"clock_gettime", "clock_getres", "clock_nanosleep", "gettimeofday", "setitimer",
		"getrandom", "getpid", "gettid", "exit", "exit_group",
	}
	// What reading files adds; which files is for Landlock to say.
	allowedToReaders = []string{"lseek", "fstat", "statx", "readlinkat", "getdents64", "fcntl", "pread64", "faccessat", "faccessat2"}
	readersOnlyOn    = map[string][]string{"amd64": {"newfstatat", "stat", "lstat", "readlink", "access"}, "arm64": {"fstatat"}}
)

// ownProcess stands in the filter for the worker's own process number, which the worker fills in: it may abort itself,
// so that running out of memory ends as SIGABRT and can be told from a fault.
const ownProcess = 0x7ec0ffee

// seccompProgram assembles the filter as the kernel reads it (struct sock_filter, native byte order).
func seccompProgram(readsFiles bool) ([]byte, error) {
	instructions, err := seccompPolicy(readsFiles)
	if err != nil {
		return nil, err
	}
	raw, err := bpf.Assemble(instructions)
	if err != nil {
		return nil, fmt.Errorf("assemble the system call filter: %w", err)
	}
	program := make([]byte, 0, 8*len(raw))
	for _, in := range raw {
		program = binary.NativeEndian.AppendUint16(program, in.Op)
		program = append(program, in.Jt, in.Jf)
		program = binary.NativeEndian.AppendUint32(program, in.K)
	}
	return program, nil
}

func seccompPolicy(readsFiles bool) ([]bpf.Instruction, error) {
	const protection, mapping, ioctlRequest, newLimit, openFlags, killedProcess, killSignal = 2, 3, 1, 2, 2, 0, 2
	readOnlyMask := uint64(unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC | unix.O_APPEND | unix.O_TMPFILE&^unix.O_DIRECTORY)
	noCode := seccomp.ArgumentConditions{{Argument: protection, Operation: seccomp.BitsNotSet, Value: unix.PROT_EXEC}}
	group := seccomp.SyscallGroup{
		Action: seccomp.ActionAllow,
		Names:  slices.Clone(allowed),
		NamesWithCondtions: []seccomp.NameWithConditions{
			{Name: "mmap", Conditions: noCode},
			{Name: "mprotect", Conditions: noCode},
			{Name: "prlimit64", Conditions: seccomp.ArgumentConditions{{Argument: newLimit, Operation: seccomp.Equal, Value: 0}}},
			{Name: "tgkill", Conditions: seccomp.ArgumentConditions{
				{Argument: killedProcess, Operation: seccomp.Equal, Value: ownProcess},
				{Argument: killSignal, Operation: seccomp.Equal, Value: uint64(unix.SIGABRT)},
			}},
		},
	}
	if readsFiles {
		group.Names = slices.Concat(allowed, allowedToReaders, readersOnlyOn[runtime.GOARCH])
		group.NamesWithCondtions = append(group.NamesWithCondtions, seccomp.NameWithConditions{
			Name: "mmap", Conditions: seccomp.ArgumentConditions{ // native modules: code from files it may only read
				{Argument: protection, Operation: seccomp.BitsNotSet, Value: unix.PROT_WRITE},
				{Argument: mapping, Operation: seccomp.BitsNotSet, Value: unix.MAP_ANONYMOUS},
			},
		}, seccomp.NameWithConditions{
			Name: "openat", Conditions: seccomp.ArgumentConditions{{Argument: openFlags, Operation: seccomp.BitsNotSet, Value: readOnlyMask}},
		}, seccomp.NameWithConditions{
			Name: "ioctl", Conditions: seccomp.ArgumentConditions{{Argument: ioctlRequest, Operation: seccomp.Equal, Value: unix.TCGETS}},
		})
	}
	policy := seccomp.Policy{DefaultAction: seccomp.ActionErrno, Syscalls: []seccomp.SyscallGroup{group}}
	return policy.Assemble()
}
