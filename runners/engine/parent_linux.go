package engine

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel kill the process when the thread that starts it ends, however it ends.
func dieWithParent(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
