package node

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"reckon/eventstore/node/eventlog"
)

// childFolder makes this test binary a node on that folder instead of a test.
const childFolder = "RECKON_TEST_NODE_FOLDER"

// childSecure gives it a port for users.
const childSecure = "RECKON_TEST_NODE_SECURE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childFolder); dir != "" {
		runChild(dir)
	}
	if path := os.Getenv(childSocket); path != "" {
		runClient(path)
	}
	os.Exit(m.Run())
}

func runChild(dir string) {
	config := Config{Dir: dir, Listen: "127.0.0.1:0"}
	if os.Getenv(childSecure) != "" {
		config = Config{Dir: dir, Secure: &Secure{Listen: "127.0.0.1:0", AdminPassword: passwordOf(admin), OpsPassword: passwordOf(ops)}}
	}
	n, err := Open(config)
	if err != nil {
		fmt.Println("failed", err)
		os.Exit(2)
	}
	connection := n.ConnectionString()
	if config.Secure != nil {
		connection = n.SecureConnectionString()
	}
	fmt.Println("ready", connection)
	_, _ = io.Copy(io.Discard, os.Stdin) // until killed, or until the parent is gone
	os.Exit(0)
}

// child is a node in a process of its own.
type child struct {
	command    *exec.Cmd
	connection string
}

func startChild(t *testing.T, dir string) *child {
	t.Helper()
	c, line := runNode(t, dir, "exec \"$0\"")
	connection, isReady := strings.CutPrefix(line, "ready ")
	if !isReady {
		t.Fatalf("child says %q", line)
	}
	c.connection = connection
	return c
}

// runNode runs a node by a line of shell, in which it is $0, and returns its first line.
func runNode(t *testing.T, dir, shell string, environment ...string) (*child, string) {
	t.Helper()
	command := exec.Command("sh", "-c", shell, os.Args[0])
	command.Env = append(append(os.Environ(), childFolder+"="+dir), environment...)
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{command: command}
	t.Cleanup(func() {
		_ = stdin.Close()
		c.kill()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("child says %q, %v", line, err)
	}
	return c, strings.TrimSpace(line)
}

// kill ends the process as kill -9 does and waits for its end.
func (c *child) kill() {
	_ = c.command.Process.Kill()
	_ = c.command.Wait()
}

// stored is where an acknowledged or delivered event is.
type stored struct {
	stream   string
	revision uint64
	position uint64
}

// witness collects what clients were promised.
type witness struct {
	mu           sync.Mutex
	acknowledged map[uuid.UUID]stored
	delivered    map[uuid.UUID]stored
}

func (w *witness) note(to map[uuid.UUID]stored, id uuid.UUID, s stored) {
	w.mu.Lock()
	defer w.mu.Unlock()
	to[id] = s
}

func TestKillNineUnderLoad(t *testing.T) {
	t.Parallel()
	const rounds, acksPerRound, writers = 5, 150, 8
	dir := t.TempDir()
	w := &witness{acknowledged: map[uuid.UUID]stored{}, delivered: map[uuid.UUID]stored{}}
	for round := range rounds {
		c := startChild(t, dir)
		subscriber := dial(t, c.connection)
		ctx, cancel := context.WithCancel(testCtx(t))
		var acks atomic.Int64
		var wait sync.WaitGroup
		enough := make(chan struct{})
		wait.Go(func() { w.subscribe(ctx, subscriber) })
		for n := range writers {
			client := dial(t, c.connection) // of its own: see dial
			wait.Go(func() {
				for i := 0; ; i++ {
					stream := fmt.Sprintf("s%d-%d", round, (n+i)%writers)
					e := note(fmt.Sprint(i))
					result, err := client.AppendToStream(ctx, stream, esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, e)
					if err != nil {
						return
					}
					w.note(w.acknowledged, e.EventID, stored{stream, result.NextExpectedVersion, result.CommitPosition})
					if acks.Add(1) == acksPerRound {
						close(enough)
					}
				}
			})
		}
		<-enough
		c.kill()
		cancel()
		wait.Wait()
	}
	w.check(t, dir)
}

// subscribe notes every event delivered until the node is gone.
func (w *witness) subscribe(ctx context.Context, client *esdb.Client) {
	s, err := client.SubscribeToAll(ctx, esdb.SubscribeToAllOptions{From: esdb.End{}})
	if err != nil {
		return
	}
	defer func() { _ = s.Close() }()
	for {
		e := s.Recv()
		if e.SubscriptionDropped != nil {
			return
		}
		if e.EventAppeared != nil {
			r := e.EventAppeared.Event
			w.note(w.delivered, r.EventID, stored{r.StreamID, r.EventNumber, r.Position.Commit})
		}
	}
}

// check compares the promises with the log.
func (w *witness) check(t *testing.T, dir string) {
	t.Helper()
	r := startIn(t, dir)
	if _, err := r.Verify(testCtx(t)); err != nil {
		t.Fatal(err)
	}
	all, err := r.client.ReadAll(testCtx(t), esdb.ReadAllOptions{From: esdb.Start{}}, 1<<40)
	found := map[uuid.UUID]stored{}
	for _, e := range drain(t, all, err) {
		found[e.Event.EventID] = stored{e.Event.StreamID, e.Event.EventNumber, e.Event.Position.Commit}
	}
	for what, promises := range map[string]map[uuid.UUID]stored{"acknowledged": w.acknowledged, "delivered": w.delivered} {
		if len(promises) == 0 {
			t.Errorf("nothing was %s", what)
		}
		for id, promised := range promises {
			if found[id] != promised {
				t.Errorf("%s %+v, the log has %+v", what, promised, found[id])
			}
		}
	}
}

func TestFolderInUseByAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := startChild(t, dir)
	var inUse *eventlog.FolderInUseError
	if _, err := Open(Config{Dir: dir, Listen: "127.0.0.1:0"}); !errors.As(err, &inUse) || inUse.PID != c.command.Process.Pid {
		t.Fatalf("got %v, the child is %d", err, c.command.Process.Pid)
	}
	c.kill()
	startIn(t, dir)
}
