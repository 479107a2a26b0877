//go:build !linux

package elaborate

import (
	"errors"
	"os/exec"
)

// isolate has nothing to isolate with on this system.
func isolate(*exec.Cmd, bool) {}

// enter refuses: the walls are Linux's.
func enter(policy) error {
	return errors.New("elaboration needs Linux: it runs foreign code and this system has none of the walls")
}
