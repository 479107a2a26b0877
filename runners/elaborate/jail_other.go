//go:build !linux

package elaborate

import (
	"errors"
	"os/exec"
)

// isolate does nothing: namespaces are Linux's.
func isolate(*exec.Cmd, bool) {}

// enter fails: a process can be restricted on Linux only.
func enter(policy) error {
	return errors.New("elaboration needs Linux: it runs foreign code and this system has none of the walls")
}
