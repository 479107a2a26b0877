package database

import (
	"context"
	"net"
)

// dial connects to PostgreSQL so that a server that is gone is noticed by what waits for it without a limit.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: firstKeepalive, Interval: keepalivePause, Count: keepalives},
		Control:         boundUnacknowledged,
	}
	return dialer.DialContext(ctx, network, address)
}
