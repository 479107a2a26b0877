package node

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/gossip"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"google.golang.org/grpc"

	"reckon/eventstore/node/protos/operations"
	"reckon/test/wait"
)

// TestPlainRequests: by HTTP/1.1 and HTTP/2, with and without TLS, beside gRPC on the same port.
func TestPlainRequests(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	insecure, err := Open(Config{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, insecure) })
	for name, of := range map[string]struct {
		url       string
		node      *Node
		protocols []string // of ALPN
		clear     bool     // HTTP/2 without TLS
	}{
		"HTTP/1.1":                       {"http://" + insecure.listener.Addr().String(), insecure, nil, false},
		"HTTP/2":                         {"http://" + insecure.listener.Addr().String(), insecure, nil, true},
		"HTTP/1.1 over TLS":              {"https://" + s.door.listener.Addr().String(), s.Node, []string{"http/1.1"}, false},
		"HTTP/1.1 over TLS, not by ALPN": {"https://" + s.door.listener.Addr().String(), s.Node, nil, false},
		"HTTP/2 over TLS":                {"https://" + s.door.listener.Addr().String(), s.Node, []string{"h2", "http/1.1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var protocols http.Protocols
			protocols.SetHTTP1(!of.clear && len(of.protocols) < 2)
			protocols.SetHTTP2(len(of.protocols) == 2)
			protocols.SetUnencryptedHTTP2(of.clear)
			transport := &http.Transport{Protocols: &protocols, TLSClientConfig: &tls.Config{RootCAs: s.authority(t), NextProtos: of.protocols}}
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport}
			ask := func(method, path string, want int) string {
				t.Helper()
				request, err := http.NewRequestWithContext(testCtx(t), method, of.url+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				answer, err := client.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = answer.Body.Close() }()
				body, err := io.ReadAll(answer.Body)
				if err != nil || answer.StatusCode != want {
					t.Errorf("%s %s: %s, %v", method, path, answer.Status, err)
				}
				if want := map[bool]int{false: 1, true: 2}[strings.HasPrefix(name, "HTTP/2")]; answer.ProtoMajor != want {
					t.Errorf("answered by %s", answer.Proto)
				}
				return string(body)
			}
			ask("GET", "/health/live", 204)
			ask("GET", "/health/live?full=1", 204)
			ask("HEAD", "/gossip", 200)
			ask("GET", "/", 404)
			ask("GET", "/stats", 404)
			ask("GET", "/event_store.client.streams.Streams/Read", 404)
			if strings.HasPrefix(name, "HTTP/1.1") { // by HTTP/2, what is no GET or HEAD is gRPC's
				ask("POST", "/ping", 404)
			}
			if said := ask("GET", "/ping", 200); !strings.Contains(said, "Ping request successfully handled") {
				t.Error(said)
			}
			of.node.priority.Store(7)
			var told struct {
				Members []map[string]any `json:"members"`
			}
			if err := json.Unmarshal([]byte(ask("GET", "/gossip", 200)), &told); err != nil || len(told.Members) != 1 {
				t.Fatal(told, err)
			}
			me := told.Members[0]
			if me["state"] != "Leader" || me["isAlive"] != true || me["instanceId"] != of.node.LogID().String() || me["nodePriority"] != 7.0 ||
				me["httpEndPointIp"] != "127.0.0.1" || me["lastCommitPosition"] != float64(of.node.Health().Records) {
				t.Errorf("%v", me)
			}
		})
	}
	for _, conn := range []*grpc.ClientConn{s.conn, (&running{Node: insecure}).raw(t)} {
		if _, err := gossip.NewGossipClient(conn).Read(testCtx(t), &shared.Empty{}); err != nil {
			t.Errorf("gRPC beside it: %v", err)
		}
	}
}

// TestPriorityIsShown: what a client sets is in the gossip.
func TestPriorityIsShown(t *testing.T) {
	t.Parallel()
	n, err := Open(Config{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, n)
	if _, err := operations.NewOperationsClient((&running{Node: n}).raw(t)).SetNodePriority(testCtx(t), &operations.SetNodePriorityReq{Priority: -5}); err != nil {
		t.Fatal(err)
	}
	if _, body := n.plain.answer("GET", "/gossip"); !strings.Contains(string(body), `"nodePriority":-5`) {
		t.Errorf("%s", body)
	}
}

// TestPlainRequestsAreBounded: in their head, in number for a connection, and in time.
func TestPlainRequestsAreBounded(t *testing.T) {
	t.Parallel()
	n, err := Open(Config{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, n)
	ask := func(text string) (answers []string) {
		t.Helper()
		conn, err := net.Dial("tcp", n.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(conn)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "HTTP/") {
				answers = append(answers, lines.Text())
			}
		}
		return answers
	}
	if a := ask("GET /ping HTTP/1.1\r\nHost: x\r\n\r\nGET /ping HTTP/1.1\r\nHost: x\r\n\r\n"); len(a) != 1 || !strings.Contains(a[0], "200") {
		t.Errorf("two requests: %q", a)
	}
	if a := ask("GET /ping HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", 80<<10) + "\r\n\r\n"); len(a) != 1 || !strings.Contains(a[0], "431") {
		t.Errorf("a large head: %q", a)
	}
	if a := ask("nonsense\r\n\r\n"); len(a) != 1 || !strings.Contains(a[0], "400") {
		t.Errorf("nonsense: %q", a)
	}
	if a := ask("GET /ping HTTP/1.1\r\nHost: x\r\nA: "); len(a) > 1 || len(a) == 1 && !strings.Contains(a[0], "408") { // nothing more comes, and the connection ends
		t.Errorf("a head that stops: %q", a)
	}
	wait.Until(t, "all gave their place back", func() bool { return n.listener.(*places).open() == 0 })
}

// TestDeadlinesOfPlainConnections: gRPC resets its own deadline when it has handed a connection over, which must not end that of the server.
func TestDeadlinesOfPlainConnections(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	defer func() { _ = there.Close() }()
	c := (&places{limit: 1, trusted: true}).place(here).(*placedConn)
	c.plain.Store(true)
	if err := c.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "timeout") {
		t.Error(err)
	}
	_ = c.Close()
}

// TestPlainHealthOfAClosingNode: one that is being closed is not well.
func TestPlainHealthOfAClosingNode(t *testing.T) {
	t.Parallel()
	n, err := Open(Config{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	p := n.plain
	if status, _ := p.answer("GET", "/health/live"); status != http.StatusNoContent {
		t.Error(status)
	}
	stop(t, n)
	if status, _ := p.answer("GET", "/health/live"); status != http.StatusServiceUnavailable {
		t.Error(status)
	}
}

// TestGRPCWithoutALPN: who negotiates nothing is taken for a client of HTTP/1.1, and told so.
func TestGRPCWithoutALPN(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	conn, err := tls.Dial("tcp", s.door.listener.Addr().String(), &tls.Config{RootCAs: s.authority(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	said, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.HasPrefix(said, "HTTP/1.1 ") || strings.Contains(said, " 200 ") {
		t.Errorf("%q, %v", said, err)
	}
}
