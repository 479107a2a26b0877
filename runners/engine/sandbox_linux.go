package engine

import (
	"encoding/hex"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const sandboxSupported = true

// namespaces puts the process to be started, and all it forks, into namespaces of its own: it sees no process, no
// network and no shared memory but its own, and the kernel ends all of it when its first process ends.
func namespaces(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS |
			syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

// addressSpace is what a process maps now and what its children may add.
func addressSpace(pid int, moreBytes int64) int64 {
	content, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return defaultMappedBytes + moreBytes
	}
	first, _, _ := strings.Cut(string(content), " ")
	pages, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return defaultMappedBytes + moreBytes
	}
	return pages*int64(os.Getpagesize()) + moreBytes
}

// defaultMappedBytes stands in where /proc cannot be read.
const defaultMappedBytes = 512 << 20

func seccompHex(readsFiles, threads bool) (string, error) {
	program, err := seccompProgram(readsFiles, threads)
	return hex.EncodeToString(program), err
}

// signalProcess sends one process a signal by its descriptor: no other process can be hit, whatever became of the number.
func signalProcess(descriptor, pid int, ownNumbers bool, number unix.Signal) {
	if descriptor >= 0 {
		_ = unix.PidfdSendSignal(descriptor, number, nil, 0)
	}
	if ownNumbers && pid > 1 { // without a sandbox a worker may have children: they share its process group
		_ = unix.Kill(-pid, number)
	}
}
