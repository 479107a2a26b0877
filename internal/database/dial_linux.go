package database

import (
	"errors"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// boundUnacknowledged is net.Dialer.Control: keepalives are not sent while something that was sent has not been received, which Linux
// repeats for 15 minutes (tcp(7), TCP_USER_TIMEOUT).
func boundUnacknowledged(network, _ string, socket syscall.RawConn) (err error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	called := socket.Control(func(descriptor uintptr) {
		err = unix.SetsockoptInt(int(descriptor), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(unacknowledged.Milliseconds()))
	})
	return errors.Join(called, err)
}
