package eventstore_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/ory/dockertest/v3"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/eventstore/node"
	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/storetest"
	"reckon/test/need"
	"reckon/test/wait"
)

var quiet = slog.New(slog.DiscardHandler)

func TestContractOnNode(t *testing.T) {
	t.Parallel()
	n := startNode(t, t.TempDir(), "")
	storetest.Run(t, func(t *testing.T) storetest.Opened { return both(t, n.ConnectionString()) })
}

// TestContractOnSecureNode reaches the node as a server elsewhere is reached: over TLS, as a user.
func TestContractOnSecureNode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, err := node.Open(node.Config{Dir: dir, Logger: quiet, Secure: &node.Secure{Listen: "127.0.0.1:0", AdminPassword: "a password of admin", OpsPassword: "a password of ops"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopNode(t, n) })
	address := strings.Replace(n.SecureConnectionString(), "esdb://", "esdb://admin:a%20password%20of%20admin@", 1)
	storetest.Run(t, func(t *testing.T) storetest.Opened { return both(t, address) })
	storetest.RunGroups(t, address)
	storetest.RunLostConnections(t, address)
}

func TestLostConnectionsOnNode(t *testing.T) {
	t.Parallel()
	storetest.RunLostConnections(t, startNode(t, t.TempDir(), "127.0.0.1:0").ConnectionString())
}

// TestLostConnectionsOnServer runs where TestContractOnServer does.
func TestLostConnectionsOnServer(t *testing.T) {
	t.Parallel()
	storetest.RunLostConnections(t, serverAddress(t))
}

// TestContractOnServer runs on the EventStoreDB or KurrentDB that
// RECKON_TEST_EVENTSTORE names (esdb://…), else on one in Docker.
func TestContractOnServer(t *testing.T) {
	t.Parallel()
	address := serverAddress(t)
	storetest.Run(t, func(t *testing.T) storetest.Opened { return both(t, address) })
}

func TestGroupsContractOnNode(t *testing.T) {
	t.Parallel()
	storetest.RunGroups(t, startNode(t, t.TempDir(), "127.0.0.1:0").ConnectionString())
}

// TestGroupsContractOnServer runs where TestContractOnServer does.
func TestGroupsContractOnServer(t *testing.T) {
	t.Parallel()
	storetest.RunGroups(t, serverAddress(t))
}

func TestIndexesContractOnNode(t *testing.T) {
	t.Parallel()
	storetest.RunIndexes(t, startNode(t, t.TempDir(), "127.0.0.1:0").ConnectionString())
}

// TestIndexesContractOnServer runs where TestContractOnServer does; the server's system projections must run.
func TestIndexesContractOnServer(t *testing.T) {
	t.Parallel()
	storetest.RunIndexes(t, serverAddress(t))
}

func serverAddress(t *testing.T) string {
	if address := os.Getenv("RECKON_TEST_EVENTSTORE"); address != "" {
		return address
	}
	return inDocker(t)
}

func inDocker(t *testing.T) string {
	pool, err := dockertest.NewPool("")
	if err == nil {
		err = pool.Client.Ping()
	}
	if err != nil {
		need.Skip(t, fmt.Sprintf("a real server or Docker (%v)", err), "RECKON_TEST_EVENTSTORE=esdb://… make test")
	}
	container, err := pool.Run("eventstore/eventstore", "24.10", []string{"EVENTSTORE_INSECURE=true", "EVENTSTORE_MEM_DB=true", "EVENTSTORE_RUN_PROJECTIONS=System", "EVENTSTORE_START_STANDARD_PROJECTIONS=true"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Purge(container); err != nil {
			t.Error(err)
		}
	})
	return "esdb://" + container.GetHostPort("2113/tcp") + "?tls=false"
}

func startNode(t *testing.T, dir, listen string) *node.Node {
	t.Helper()
	n, err := node.Open(node.Config{Dir: dir, Listen: listen, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopNode(t, n) })
	return n
}

func stopNode(t *testing.T, n *node.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wait.Longest)
	defer cancel()
	if err := n.Close(ctx); err != nil {
		t.Error(err)
	}
}

func both(t *testing.T, address string) storetest.Opened {
	return storetest.Opened{
		Store: connect(t, address, storetest.Catalogue()),
		Newer: connect(t, address, storetest.WiderCatalogue()),
	}
}

func connect(t *testing.T, address string, catalogue event.Catalogue) *eventstore.Store {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait.Longest)
	defer cancel()
	store, err := eventstore.Connect(ctx, eventstore.Config{Connection: address, Insecure: true, Catalogue: catalogue, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

func note(text string) []event.Proposed {
	return []event.Proposed{{ID: uuid.NewString(), Event: storetest.Noted{Text: text}}}
}

func TestConnectWaitsForTheServer(t *testing.T) {
	t.Parallel()
	address := need.Address(t)
	connection := "esdb://" + address + "?tls=false"
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := eventstore.Connect(short, eventstore.Config{Connection: connection, Insecure: true, Catalogue: storetest.Catalogue(), Logger: quiet})
	if !errors.Is(err, commands.ErrUnavailable) {
		t.Fatalf("no server: %v", err)
	}
	dir := t.TempDir()
	connected := make(chan *eventstore.Store)
	go func() { connected <- connect(t, connection, storetest.Catalogue()) }()
	startNode(t, dir, address)
	store := <-connected
	if _, err := store.Append(t.Context(), "s", event.NoStream, note("a")); err != nil {
		t.Error(err)
	}
	if _, err := eventstore.Connect(t.Context(), eventstore.Config{Connection: "http://nonsense", Logger: quiet}); err == nil {
		t.Error("nonsense was taken for an address")
	}
}

// TestServerRestart: writers, readers and a subscription live through a server
// that stops and starts again; every acknowledged event is there once, in order.
func TestServerRestart(t *testing.T) {
	t.Parallel()
	const writers, each, restarts = 4, 60, 3
	dir, address := t.TempDir(), need.Address(t)
	n := startNode(t, dir, address)
	store := connect(t, n.ConnectionString(), storetest.Catalogue())
	ctx, cancel := context.WithTimeout(t.Context(), wait.Longest)
	defer cancel()

	seen := make(chan event.Recorded, writers*each)
	var subscriber sync.WaitGroup
	subscriber.Go(func() {
		for r, err := range store.SubscribeAll(ctx, event.Position{}) {
			if err != nil {
				t.Error(err)
				return
			}
			if r.Event != nil {
				if seen <- r; len(seen) == writers*each {
					return
				}
			}
		}
	})
	progress := make(chan struct{}, writers*each)
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			stream := fmt.Sprint("s", w)
			for i := range each {
				got, err := store.Append(ctx, stream, event.Revision(i)-1, note(fmt.Sprint(i)))
				if err != nil {
					t.Errorf("%s %d: %v", stream, i, err)
					return
				}
				if got.Revision != event.Revision(i) {
					t.Errorf("%s %d stands at %d", stream, i, got.Revision)
				}
				progress <- struct{}{}
			}
		})
	}
	for range restarts {
		for range writers * each / (restarts + 1) {
			<-progress
		}
		stopNode(t, n)
		n = startNode(t, dir, address)
	}
	group.Wait()
	subscriber.Wait()
	close(seen)
	next := map[string]event.Revision{}
	for r := range seen {
		if r.Revision != next[r.Stream] {
			t.Fatalf("%s: revision %d after %d", r.Stream, r.Revision, next[r.Stream]-1)
		}
		next[r.Stream]++
	}
	if len(next) != writers {
		t.Errorf("events of %d streams", len(next))
	}
}

// TestNoServer: a call ends with its context, and says that nobody knows.
func TestNoServer(t *testing.T) {
	t.Parallel()
	dir, address := t.TempDir(), need.Address(t)
	n := startNode(t, dir, address)
	store := connect(t, n.ConnectionString(), storetest.Catalogue())
	stopNode(t, n)
	for range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := store.Append(ctx, "s", event.NoStream, note("a")); !errors.Is(err, commands.ErrUnavailable) {
			t.Errorf("append: %v", err)
		}
		if _, err := store.Head(ctx); !errors.Is(err, commands.ErrUnavailable) {
			t.Errorf("head: %v", err)
		}
		cancel()
	}
	startNode(t, dir, address)
	ctx, cancel := context.WithTimeout(t.Context(), wait.Longest)
	defer cancel()
	if _, err := store.Append(ctx, "s", event.NoStream, note("a")); err != nil && !errors.Is(err, commands.ErrConflict) {
		t.Error(err)
	}
	store.Close()
	if _, err := store.Head(ctx); !errors.Is(err, commands.ErrUnavailable) {
		t.Errorf("a closed store: %v", err)
	}
}

// TestDamagedLog: whoever meets a damaged record is told at once that the log is away, with the reason.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := connect(t, startNode(t, dir, "127.0.0.1:0").ConnectionString(), storetest.Catalogue())
	for _, text := range []string{"sound", "damaged"} {
		if _, err := store.Append(t.Context(), text, event.NoStream, note(strings.Repeat(text, 9))); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "segments", strings.Repeat("0", 20)+".seg")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte("D"), int64(strings.LastIndex(string(b), "damaged")))
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	isTold := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, commands.ErrUnavailable) || !strings.Contains(err.Error(), "is damaged at position") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = store.Read(t.Context(), "damaged")
	isTold("read", err)
	_, err = store.Append(t.Context(), "sound", 0, note("b"))
	isTold("append", err)
	for _, following := range []iter.Seq2[event.Recorded, error]{store.ReadAll(t.Context(), event.Position{}), store.SubscribeAll(t.Context(), event.Position{})} {
		for r, failed := range following {
			if failed != nil && r.Position == (event.Position{}) {
				err = failed
			}
		}
		isTold("following", err)
	}
	if history, err := store.Read(t.Context(), "sound"); err != nil || len(history.Events) != 1 {
		t.Errorf("another stream: %v, %v", history, err)
	}
}

// TestSubscriptionByName: of what is there already the server sends what was
// asked for, over a restart too, and then where the log ends; of what comes
// later every position.
func TestSubscriptionByName(t *testing.T) {
	t.Parallel()
	const appends, others = 300, 9
	dir, address := t.TempDir(), need.Address(t)
	n := startNode(t, dir, address)
	store := connect(t, n.ConnectionString(), storetest.WiderCatalogue())
	ctx, cancel := context.WithTimeout(t.Context(), wait.Longest)
	defer cancel()
	var head event.Position
	for i := range appends {
		events := note(strings.Repeat("wanted ", 1000)) // more than is on its way at once
		for range others {
			events = append(events, event.Proposed{ID: uuid.NewString(), Event: storetest.Dropped{}})
		}
		appended, err := store.Append(ctx, fmt.Sprint("s", i), event.NoStream, events)
		if err != nil {
			t.Fatal(err)
		}
		head = appended.Position
	}
	var live commands.Appended
	var at event.Position
	wanted, passed, third := 0, 0, make(chan struct{})
	follow := func() error {
		for r, err := range store.SubscribeAll(ctx, event.Position{}, storetest.Noted{}.EventName()) {
			switch {
			case err != nil:
				return err
			case !at.Less(r.Position):
				return fmt.Errorf("position %v after %v", r.Position, at)
			case r.Event == nil:
				passed++
			case r.Stream != fmt.Sprint("s", wanted):
				return fmt.Errorf("event %d is of %s", wanted, r.Stream)
			default:
				if wanted++; wanted == appends/3 {
					close(third)
				}
			}
			if at = r.Position; at == head {
				if wanted != appends || passed > appends {
					return fmt.Errorf("%d events of %d, and %d positions of %d others", wanted, appends, passed, appends*others)
				}
				other := []event.Proposed{{ID: uuid.NewString(), Event: storetest.Dropped{}}}
				if live, err = store.Append(ctx, "live", event.NoStream, other); err != nil {
					return err
				}
			}
			if head.Less(at) {
				break
			}
		}
		return nil
	}
	followed := make(chan error, 1)
	go func() { followed <- follow() }()
	select {
	case <-third:
		stopNode(t, n)
		startNode(t, dir, address)
	case err := <-followed:
		t.Fatal(err)
	}
	if err := <-followed; err != nil {
		t.Fatal(err)
	}
	if at != live.Position {
		t.Errorf("the next position is %v, want that of the event no one asked for, %v", at, live.Position)
	}
}

// TestCloseWhileSubscriptionsOpen: a subscription whose context ends while it is being opened goes on with the client in the
// background; the client must stay open for it (closing one in use panics).
func TestCloseWhileSubscriptionsOpen(t *testing.T) {
	t.Parallel()
	n := startNode(t, t.TempDir(), "")
	for range 50 {
		store, err := eventstore.Connect(t.Context(), eventstore.Config{Connection: n.ConnectionString(), Insecure: true, Catalogue: storetest.Catalogue(), Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var opening sync.WaitGroup
		for range 8 {
			opening.Go(func() {
				for _, err := range store.SubscribeAll(ctx, event.Position{}, "storetest.noted") {
					if err != nil && ctx.Err() == nil {
						t.Error(err)
					}
				}
			})
		}
		cancel()
		opening.Wait()
		store.Close()
	}
}

// TestTheHashChainAtAnEvent: every client of a node is told the same chain at an event, which is that of the node's files.
func TestTheHashChainAtAnEvent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := startNode(t, dir, "127.0.0.1:0")
	first, second := connect(t, n.ConnectionString(), storetest.Catalogue()), connect(t, n.ConnectionString(), storetest.Catalogue())
	appended, err := first.Append(t.Context(), "s", event.NoStream, append(note("a"), note("b")...))
	if err != nil {
		t.Fatal(err)
	}
	chain, err := first.Chain(t.Context(), "s", 1)
	if err != nil || chain == nil || chain.Position != appended.Position.Commit {
		t.Fatalf("%+v at %v, %v", chain, appended.Position, err)
	}
	if _, err := first.Append(t.Context(), "s", 1, note("c")); err != nil {
		t.Fatal(err)
	}
	if again, err := second.Chain(t.Context(), "s", 1); err != nil || *again != *chain {
		t.Errorf("%+v and %+v, %v", again, chain, err)
	}
	if none, err := first.Chain(t.Context(), "s", 9); err == nil {
		t.Errorf("of no event: %+v", none)
	}
	log, err := uuid.Parse(chain.Log)
	if err != nil {
		t.Fatal(err)
	}
	anchor := []eventlog.Anchor{{LogID: log, Position: chain.Position, Link: chain.Link}}
	if report, err := eventlog.ReadFolder(t.Context(), dir, anchor, func(*eventlog.Record) error { return nil }); err != nil || report.Records <= chain.Position {
		t.Errorf("the files: %+v, %v", report, err)
	}
}
