package node

import (
	"context"
	"log/slog"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/peer"
)

var silent = slog.New(slog.DiscardHandler)

func dialInsecure(t testing.TB, address string) *grpc.ClientConn {
	t.Helper()
	c, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// peerContext is the context of a call that came through a connection.
func peerContext(ctx context.Context, c *placedConn) context.Context {
	return peer.NewContext(ctx, &peer.Peer{Addr: c.RemoteAddr()})
}

// count is how many places are taken.
func (q *quota) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.taken
}
