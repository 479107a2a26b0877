package engine

import (
	"encoding/binary"
	"errors"
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
func seccompProgram(readsFiles, threads bool) ([]byte, error) {
	instructions, err := seccompPolicy(readsFiles, threads)
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

// cancelSignal is what pthread_cancel sends a thread of the same process (glibc: SIGRTMIN).
const cancelSignal = 32

// newThread is how glibc starts a thread of the same process by clone: CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, SETTLS, PARENT_SETTID and
// CHILD_CLEARTID. A process is started with other flags.
const newThread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_SYSVSEM | unix.CLONE_SETTLS |
	unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID

func seccompPolicy(readsFiles, threads bool) ([]bpf.Instruction, error) {
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
	if threads {
		group.NamesWithCondtions = append(group.NamesWithCondtions, seccomp.NameWithConditions{
			Name: "clone", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.Equal, Value: newThread}},
		}, seccomp.NameWithConditions{
			Name: "tgkill", Conditions: seccomp.ArgumentConditions{
				{Argument: killedProcess, Operation: seccomp.Equal, Value: ownProcess},
				{Argument: killSignal, Operation: seccomp.Equal, Value: cancelSignal},
			},
		})
		group.Names = append(slices.Clone(group.Names), "set_robust_list", "rseq")
	}
	policy := seccomp.Policy{DefaultAction: seccomp.ActionErrno, Syscalls: []seccomp.SyscallGroup{group}}
	instructions, err := policy.Assemble()
	if err != nil || !threads {
		return instructions, err
	}
	return withoutClone3(instructions)
}

// withoutClone3 makes clone3 one that does not exist (ENOSYS), so that clone is called: the flags of clone3 are where no filter can look.
// The library assembles one action for all that is not allowed.
func withoutClone3(instructions []bpf.Instruction) ([]bpf.Instruction, error) {
	number := slices.IndexFunc(instructions, func(in bpf.Instruction) bool {
		load, is := in.(bpf.LoadAbsolute)
		return is && load.Off == 0 // the number of the call: first in struct seccomp_data
	})
	if number < 0 {
		return nil, errors.New("the system call filter does not look at the number of a call")
	}
	for i, in := range instructions[:number] { // what leaves the filter for another architecture goes two further
		switch jump := in.(type) {
		case bpf.Jump:
			jump.Skip += 2
			instructions[i] = jump
		case bpf.JumpIf:
			if jump.Cond == bpf.JumpNotEqual {
				jump.SkipTrue += 2
				instructions[i] = jump
			}
		}
	}
	return slices.Insert(instructions, number+1,
		bpf.Instruction(bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_CLONE3, SkipTrue: 1}),
		bpf.Instruction(bpf.RetConstant{Val: uint32(unix.SECCOMP_RET_ERRNO) | uint32(unix.ENOSYS)})), nil
}
