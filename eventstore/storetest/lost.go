package storetest

import (
	"bytes"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/test/proxy"
	"reckon/test/wait"
)

// RunLostConnections checks what a store does when its connection falls silent for good and neither side is told, while new connections
// pass: every call is answered, and nothing is appended twice. address is that of a server, esdb://…, which may hold anything already.
func RunLostConnections(t *testing.T, address string) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *lostStore)
	}{
		{"an append that did not arrive", lostAppend},
		{"an append whose answer is lost, with another behind it", lostAnswer},
		{"a reservation", lostReservation},
		{"a read of a stream", lostRead},
		{"a read of all", lostReadAll},
		{"a subscription", lostSubscription},
		{"one after the other", lostAgain},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, connectThrough(t, address))
		})
	}
}

// lostStore is a store behind a way that loses connections, and one that is not behind it.
type lostStore struct {
	*eventstore.Store
	way    *proxy.Proxy
	direct *eventstore.Store
	logged *recorder
	plain  bool // without TLS: the way sees what is sent
}

func connectThrough(t *testing.T, address string) *lostStore {
	t.Helper()
	parsed, err := url.Parse(address)
	check(t, err)
	s := &lostStore{way: proxy.Start(t, "tcp", parsed.Host), logged: &recorder{}, plain: parsed.Query().Get("tls") == "false"}
	behind := *parsed
	behind.Host = s.way.Address()
	open := func(address *url.URL, to *recorder) *eventstore.Store {
		store, err := eventstore.Connect(ctx(t), eventstore.Config{Connection: address.String(), Insecure: true, Catalogue: Catalogue(), Logger: slog.New(slog.NewTextHandler(to, nil))})
		check(t, err)
		t.Cleanup(store.Close)
		return store
	}
	s.Store, s.direct = open(&behind, s.logged), open(parsed, &recorder{})
	check(t, s.CheckUsable(ctx(t)))
	return s
}

// noticed fails the test unless the store has found so many lost connections itself: the client's own look at them takes 20 s.
func (s *lostStore) noticed(t *testing.T, connections int) {
	t.Helper()
	if got := strings.Count(s.logged.text(), "was lost, and neither side was told"); got < connections {
		t.Errorf("%d lost connections were noticed, want %d:\n%s", got, connections, s.logged.text())
	}
}

// holds fails the test unless a stream has these texts.
func (s *lostStore) holds(t *testing.T, stream, want string) {
	t.Helper()
	history, err := s.direct.Read(ctx(t), stream)
	check(t, err)
	equal(t, "texts", texts(history.Events), want)
}

func lostAppend(t *testing.T, s *lostStore) {
	name := stream()
	s.way.Lose()
	appended, err := s.Append(ctx(t), name, event.NoStream, notes("a"))
	check(t, err)
	equal(t, "revision", appended.Revision, event.Revision(0))
	s.holds(t, name, "a")
	s.noticed(t, 1)
}

func lostAnswer(t *testing.T, s *lostStore) {
	if !s.plain {
		return // the way cannot know when the append passes
	}
	name := stream()
	s.way.LoseOn(name)
	type answer struct {
		appended commands.Appended
		err      error
	}
	answers := make(chan answer, 1)
	go func() {
		appended, err := s.Append(ctx(t), name, event.NoStream, notes("a", "b"))
		answers <- answer{appended, err}
	}()
	wait.Until(t, "the append has arrived", func() bool {
		history, err := s.direct.Read(t.Context(), name)
		return err == nil && len(history.Events) == 2
	})
	_, err := s.direct.Append(ctx(t), name, 1, notes("c"))
	check(t, err)
	got := <-answers
	check(t, got.err)
	equal(t, "revision", got.appended.Revision, event.Revision(1))
	s.holds(t, name, "a b c")
	s.noticed(t, 1)
}

func lostReservation(t *testing.T, s *lostStore) {
	name := stream()
	s.way.Lose()
	first, err := s.Reserve(ctx(t), name, notes("a")[0])
	check(t, err)
	second, err := s.Reserve(ctx(t), name, notes("b")[0])
	check(t, err)
	if first >= second {
		t.Errorf("%d was given after %d", second, first)
	}
	s.noticed(t, 1)
}

func lostRead(t *testing.T, s *lostStore) {
	name := stream()
	_, err := s.Append(ctx(t), name, event.NoStream, notes("a", "b"))
	check(t, err)
	s.way.Lose()
	history, err := s.Read(ctx(t), name)
	check(t, err)
	equal(t, "texts", texts(history.Events), "a b")
	s.noticed(t, 1)
}

// lostReadAll: the connection is lost while events are on their way.
func lostReadAll(t *testing.T, s *lostStore) {
	const appends = 20
	from, err := s.Head(ctx(t))
	check(t, err)
	name, long := stream(), strings.Repeat("x", 100<<10)
	for i := range appends {
		_, err := s.direct.Append(ctx(t), name, event.Revision(i)-1, notes(long))
		check(t, err)
	}
	s.way.Delay(50 * time.Millisecond) // each 32 KiB: most is not there yet when the first event is
	var next event.Revision
	for r, err := range s.ReadAll(ctx(t), from) {
		check(t, err)
		if r.Stream != name {
			continue
		}
		equal(t, "revision", r.Revision, next)
		if next++; next == 1 {
			s.way.Lose()
			s.way.Mend()
		}
	}
	equal(t, "events", next, event.Revision(appends))
	s.noticed(t, 1)
}

// lostSubscription: what is called finds the loss, and the subscription goes on.
func lostSubscription(t *testing.T, s *lostStore) {
	from, err := s.Head(ctx(t))
	check(t, err)
	name := stream()
	_, err = s.direct.Append(ctx(t), name, event.NoStream, notes("a"))
	check(t, err)
	var seen []event.Recorded
	var calling sync.WaitGroup
	for r, err := range s.SubscribeAll(ctx(t), from) {
		check(t, err)
		if r.Stream != name {
			continue
		}
		if seen = append(seen, r); len(seen) == 3 {
			break
		}
		if len(seen) == 1 {
			s.way.Lose()
			calling.Go(func() {
				if _, err := s.Append(ctx(t), name, 0, notes("b", "c")); err != nil {
					t.Error(err)
				}
			})
		}
	}
	calling.Wait()
	equal(t, "texts", texts(seen), "a b c")
	s.noticed(t, 1)
}

func lostAgain(t *testing.T, s *lostStore) {
	name := stream()
	const times = 3
	for i := range times {
		s.way.Lose()
		_, err := s.Append(ctx(t), name, event.Revision(i)-1, notes("a"))
		check(t, err)
	}
	s.holds(t, name, "a a a")
	s.noticed(t, times)
}

// recorder keeps what is written to it.
type recorder struct {
	mu      sync.Mutex
	content bytes.Buffer
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.content.Write(b)
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.content.String()
}
