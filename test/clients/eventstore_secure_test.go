package clients

import (
	"context"
	"net/url"
	"testing"

	"reckon/eventstore/node"
	"reckon/test/wait"
)

// startSecureEventStore runs the embedded node as `reckon node --secure` does. The passwords are those that the official suites have.
func startSecureEventStore(t *testing.T, folder string) *node.Node {
	t.Helper()
	n, err := node.Open(node.Config{Dir: folder, Secure: &node.Secure{Listen: "127.0.0.1:0", AdminPassword: "changeit", OpsPassword: "changeit"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wait.Longest)
		defer cancel()
		if err := n.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return n
}

// asAdmin is the address of a node for its administrator, who trusts the node's own authority.
func asAdmin(t *testing.T, n *node.Node) string {
	t.Helper()
	address, err := url.Parse(n.SecureConnectionString())
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword("admin", "changeit")
	return address.String()
}
