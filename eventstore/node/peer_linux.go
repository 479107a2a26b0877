package node

import (
	"net"
	"os"
	"syscall"
)

// isOwnProcess tells whether the other end of a connection is in this process (SO_PEERCRED,
// unix(7)). Where the system cannot tell, as over TCP, it answers false.
func isOwnProcess(c net.Conn) bool {
	local, ok := c.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := local.SyscallConn()
	if err != nil {
		return false
	}
	var peer *syscall.Ucred
	controlled := raw.Control(func(fd uintptr) {
		peer, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	return controlled == nil && err == nil && int(peer.Pid) == os.Getpid()
}
