//go:build !linux

package engine

import (
	"errors"
	"os/exec"
	"syscall"
)

const (
	sandboxSupported = false
	ownProcess       = 0
)

var errNoSandbox = errors.New("the engine's sandbox needs Linux: run the service in a Linux container, or accept the risk with --engine-sandbox=off")

func addressSpace(int, int64) int64 { return 0 }

func namespaces(*exec.Cmd) {}

func seccompHex(bool, bool) (string, error) { return "", errNoSandbox }

func signalProcess(_, pid int, _ bool, number syscall.Signal) {
	if pid > 1 {
		_ = syscall.Kill(-pid, number)
	}
}
