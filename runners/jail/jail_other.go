//go:build !linux

package jail

import (
	"errors"
	"os/exec"
)

// isolate does nothing: namespaces are Linux's.
func isolate(*exec.Cmd, bool) {}

// enter fails: a process can be restricted on Linux only.
func enter(policy) error {
	return errors.New("foreign programs need Linux: this system has none of the walls")
}
