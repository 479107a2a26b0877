package jail

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// jailedUser is the process's user inside its namespace: one without capabilities.
const jailedUser = 65534

// isolate starts the process in namespaces of its own: it sees no process, no
// network and no shared memory but its own, and all of it ends with it.
func isolate(command *exec.Cmd, off bool) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if off {
		return
	}
	command.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS
	command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: jailedUser, HostID: os.Getuid(), Size: 1}}
	command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: jailedUser, HostID: os.Getgid(), Size: 1}}
}

// enter restricts the process and executes the program in its place.
func enter(p policy) error {
	runtime.LockOSThread() // only the thread that is restricted may execute the program
	for _, limit := range []struct {
		what int
		most int64
	}{{unix.RLIMIT_AS, p.MemoryBytes}, {unix.RLIMIT_CPU, p.CPUSeconds}, {unix.RLIMIT_FSIZE, p.FileBytes}, {unix.RLIMIT_NOFILE, p.OpenFiles}, {unix.RLIMIT_CORE, 0}} {
		most := uint64(limit.most)
		if err := unix.Setrlimit(limit.what, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("limit %d: %w", limit.what, err)
		}
	}
	if !p.WallsOff {
		if err := restrict(p); err != nil {
			return err
		}
	}
	return unix.Exec(p.Program, append([]string{p.Program}, p.Arguments...), os.Environ())
}

// restrict leaves the process the files of the policy, and denies the system calls that
// reach anything else: sockets, other processes, namespaces, the kernel itself.
func restrict(p policy) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if err := restrictFiles(p); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	filter := seccomp.Filter{
		Policy: seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{{Action: seccomp.ActionErrno, Names: forbidden}}},
	}
	if err := seccomp.LoadFilter(filter); err != nil {
		return fmt.Errorf("system call filter: %w", err)
	}
	return nil
}

const (
	readAccess  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	fileAccess  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	writeAccess = readAccess | fileAccess | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_REFER
	// everyAccess is what Landlock's third version (Linux 6.2) knows; an older kernel refuses it.
	everyAccess = writeAccess | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
)

// restrictFiles leaves this thread, and what it executes, the files of the
// policy (landlock(7)). The library for this would restrict all threads of the
// process, which a process about to become another one has no use for.
func restrictFiles(p policy) error {
	attributes := unix.LandlockRulesetAttr{Handled_access_fs: everyAccess}
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes.Handled_access_fs), 0)
	if errno != 0 {
		return errno
	}
	for _, path := range p.ReadOnly {
		if err := allow(ruleset, path, readAccess); err != nil {
			return err
		}
	}
	if err := allow(ruleset, os.DevNull, fileAccess); err != nil {
		return err
	}
	if err := allow(ruleset, p.ReadWrite, writeAccess); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); errno != 0 {
		return errno
	}
	return unix.Close(int(ruleset))
}

// allow adds a rule about a file, or about all below a folder.
func allow(ruleset uintptr, path string, access uint64) error {
	parent, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = unix.Close(parent) }()
	var info unix.Stat_t
	if err := unix.Fstat(parent, &info); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fileAccess
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(parent)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, ruleset, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("%s: %w", path, errno)
	}
	return nil
}

// forbidden are the system calls that answer EPERM: those that reach something other than files, which Landlock does not restrict.
var forbidden = []string{
	"socket", "socketpair", "connect", "bind", "listen", "io_uring_setup", "io_uring_enter", "io_uring_register",
	"ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp",
	"mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "move_mount", "open_tree", "fsopen", "fsmount", "mount_setattr",
	"bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "init_module", "finit_module", "kexec_load", "quotactl",
	"open_by_handle_at", "name_to_handle_at", "memfd_secret", "fanotify_init", "acct", "swapon", "swapoff", "reboot", "syslog",
}
