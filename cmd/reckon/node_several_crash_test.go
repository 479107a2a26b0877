package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/protos/streamsv2"
	"reckon/test/sweep"
)

// severalAppend is one append to several streams.
type severalAppend struct {
	session  bool // by AppendSession, else by AppendRecords
	records  []*streamsv2.AppendRecord
	own      string // the stream that its writer alone writes
	expected int64  // state of that
	position uint64 // of its last event; 0: not acknowledged
}

// severalWriter makes appends one after the other, until the node is gone.
type severalWriter struct {
	random *rand.Rand
	own    string
	last   int64            // revision of own, -1 for none
	made   []*severalAppend // the last one may be in doubt
}

// TestSeveralStreamsAreKilledTogether kills `reckon node` while appends to several streams run, again and again. An append is in all of its
// streams or in none, its events at consecutive positions; one that was acknowledged is where it was said to be; and one that is repeated
// because nobody knows is there once.
func TestSeveralStreamsAreKilledTogether(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "events")
	var writers []*severalWriter
	for n := range 4 {
		writers = append(writers, &severalWriter{random: rand.New(rand.NewPCG(43, uint64(n))), own: fmt.Sprint("own-", n), last: -1})
	}
	kills, inDoubt := sweep.Size(t, "RECKON_SEVERAL_KILLS", 3, 100), 0
	for kill := range kills {
		killUnderSeveral(t, folder, writers, 40+rand.New(rand.NewPCG(44, uint64(kill))).Int64N(80))
		for _, w := range writers {
			if w.made[len(w.made)-1].position == 0 {
				inDoubt++
			}
		}
		if status, _, said := reckon(t, "", nil, "node", "verify", "--data", folder); status != 0 {
			t.Fatalf("verify: %d, %s", status, said)
		}
		checkSeveral(t, folder, writers)
	}
	if inDoubt == 0 {
		t.Error("no append was in doubt")
	}
}

// killUnderSeveral runs a node, and kills it when it has acknowledged so many appends.
func killUnderSeveral(t *testing.T, folder string, writers []*severalWriter, enough int64) {
	t.Helper()
	process, address, _ := startedNode(t, nil, "--data", folder)
	var done atomic.Int64
	var working sync.WaitGroup
	reached := make(chan struct{})
	for _, w := range writers {
		conn, err := grpc.NewClient("unix://"+strings.TrimPrefix(address, "unix:"), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }() // the node is gone
		client := streamsv2.NewStreamsServiceClient(conn)
		working.Go(func() {
			for w.step(t.Context(), client) == nil {
				if done.Add(1) == enough {
					close(reached)
				}
			}
		})
	}
	<-reached
	_ = process.Process.Kill()
	_ = process.Wait()
	working.Wait()
}

// step repeats the append that is in doubt, or makes another one.
func (w *severalWriter) step(ctx context.Context, client streamsv2.StreamsServiceClient) error {
	if len(w.made) == 0 || w.made[len(w.made)-1].position > 0 {
		w.made = append(w.made, w.plan())
	}
	a := w.made[len(w.made)-1]
	position, err := a.send(ctx, client)
	if err != nil {
		return err
	}
	a.position = position
	for _, r := range a.records {
		if r.GetStream() == w.own {
			w.last++
		}
	}
	return nil
}

// plan draws an append: some events of the writer's own stream, and of others that all write.
func (w *severalWriter) plan() *severalAppend {
	a := &severalAppend{session: w.random.IntN(2) == 0, own: w.own, expected: w.last}
	targets := []string{w.own}
	for range w.random.IntN(6) {
		targets = append(targets, fmt.Sprint("shared-", w.random.IntN(8)))
	}
	for _, stream := range targets {
		for range 1 + w.random.IntN(3) {
			id, _ := uuid.NewRandomFromReader(randomBytes{w.random}) // it never fails
			text := id.String()
			a.records = append(a.records, &streamsv2.AppendRecord{
				RecordId: &text, Stream: &stream, Data: fmt.Appendf(nil, `{"pad":"%s"}`, strings.Repeat("x", w.random.IntN(1<<uint(w.random.IntN(15))))),
				Schema: &streamsv2.SchemaInfo{Format: streamsv2.SchemaFormat_SCHEMA_FORMAT_JSON, Name: "happened"},
			})
		}
	}
	if a.session { // which has one request for each stream
		slices.SortStableFunc(a.records, func(x, y *streamsv2.AppendRecord) int { return strings.Compare(x.GetStream(), y.GetStream()) })
	}
	return a
}

// randomBytes reads a seeded source.
type randomBytes struct{ *rand.Rand }

func (r randomBytes) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r.IntN(256))
	}
	return len(b), nil
}

// send makes the append, and returns the position of its last event.
func (a *severalAppend) send(ctx context.Context, client streamsv2.StreamsServiceClient) (uint64, error) {
	if !a.session {
		check := &streamsv2.ConsistencyCheck{Type: &streamsv2.ConsistencyCheck_StreamState{StreamState: &streamsv2.ConsistencyCheck_StreamStateCheck{Stream: a.own, ExpectedState: a.expected}}}
		answer, err := client.AppendRecords(ctx, &streamsv2.AppendRecordsRequest{Records: a.records, Checks: []*streamsv2.ConsistencyCheck{check}})
		return uint64(answer.GetPosition()), err
	}
	call, err := client.AppendSession(ctx)
	if err != nil {
		return 0, err
	}
	for first := 0; first < len(a.records); {
		request := &streamsv2.AppendRequest{Stream: a.records[first].GetStream()}
		if request.Stream == a.own {
			request.ExpectedRevision = &a.expected
		}
		for ; first < len(a.records) && a.records[first].GetStream() == request.Stream; first++ {
			request.Records = append(request.Records, a.records[first])
		}
		if err := call.Send(request); err != nil {
			return 0, err
		}
	}
	answer, err := call.CloseAndRecv()
	return uint64(answer.GetPosition()), err
}

// checkSeveral compares the folder of a node that was killed with all appends.
func checkSeveral(t *testing.T, folder string, writers []*severalWriter) {
	t.Helper()
	type place struct {
		stream   string
		position uint64
	}
	found, next := map[string][]place{}, map[string]uint64{}
	_, err := eventlog.ReadFolder(t.Context(), folder, nil, func(r *eventlog.Record) error {
		if stream := strings.Clone(r.Stream); r.Revision != next[stream] {
			t.Errorf("revision %d of %s follows %d", r.Revision, stream, next[stream])
		}
		next[strings.Clone(r.Stream)]++
		found[r.ID.String()] = append(found[r.ID.String()], place{strings.Clone(r.Stream), r.Position})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range writers {
		for n, a := range w.made {
			there := 0
			for i, r := range a.records {
				places := found[r.GetRecordId()]
				there += len(places)
				switch first := found[a.records[0].GetRecordId()]; {
				case len(places) > 1:
					t.Fatalf("append %d to %s is there %d times", n, w.own, len(places))
				case len(places) == 1 && (len(first) == 0 || places[0] != place{r.GetStream(), first[0].position + uint64(i)}):
					t.Errorf("event %d of append %d to %s is at %+v, the first at %+v", i, n, w.own, places, first)
				case a.position > 0 && (len(places) == 0 || places[0].position != a.position-uint64(len(a.records)-1-i)):
					t.Errorf("event %d of append %d to %s is at %+v, acknowledged up to %d", i, n, w.own, places, a.position)
				}
			}
			if there != 0 && there != len(a.records) {
				t.Errorf("%d of %d events of append %d to %s are there", there, len(a.records), n, w.own)
			}
		}
	}
}
