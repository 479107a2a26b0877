package clients

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"reckon/eventstore/node"
)

// clientSuite runs the official Go client's own tests, which it fetches as a module, against any server.
const clientSuite = "../../../shared/tools/esdb/run_client_suite.sh"

var suiteTotal = regexp.MustCompile(`(?m)^(\d+) passed, (\d+) failed`)

// startSecureEventStore runs the embedded node as `reckon node --secure` does. The passwords are those that the official suites have.
func startSecureEventStore(t *testing.T, folder string) *node.Node {
	t.Helper()
	n, err := node.Open(node.Config{Dir: folder, Secure: &node.Secure{Listen: "127.0.0.1:0", AdminPassword: "changeit", OpsPassword: "changeit"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
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

// TestOfficialSuiteOverTLS: the official Go client's own tests pass against a node with TLS and users.
func TestOfficialSuiteOverTLS(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	suite, err := filepath.Abs(clientSuite)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(suite); err != nil {
		t.Skip("the suite's runner is not here")
	}
	data, others, certs := t.TempDir(), t.TempDir(), t.TempDir()
	n := startSecureEventStore(t, data)
	startSecureEventStore(t, others) // for a CA that did not sign
	for to, from := range map[string]string{
		"ca/ca.crt": filepath.Join(data, "tls", "ca.crt"), "node/node.crt": filepath.Join(data, "tls", "node.crt"), "untrusted-ca/ca.crt": filepath.Join(others, "tls", "ca.crt"),
	} {
		pem, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(certs, filepath.Dir(to)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(certs, to), pem, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address, err := url.Parse(n.SecureConnectionString())
	if err != nil {
		t.Fatal(err)
	}
	address.User, address.RawQuery = url.UserPassword("admin", "changeit"), "tls=true&tlsverifycert=false"
	scratch := []string{"CERTS=" + certs, "TMPDIR=" + t.TempDir()}
	run(t, t.TempDir(), true, append(scratch, "BUILD_ONLY=1"), "bash", suite, address.String())
	out := run(t, t.TempDir(), false, scratch, "bash", suite, address.String())
	total := suiteTotal.FindStringSubmatch(out)
	if total == nil {
		t.Fatalf("the suite has no result:\n%s", out)
	}
	if passed, err := strconv.Atoi(total[1]); err != nil || passed < 68 || total[2] != "0" {
		t.Errorf("%s:\n%s", total[0], out)
	}
}
