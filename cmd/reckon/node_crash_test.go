package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"reckon/eventstore/node"
	"reckon/eventstore/node/eventlog"
	"reckon/test/wait"
)

// crashRunFor is how long TestNodeKilledUnderLoad goes on, such as 15m; without it four rounds.
const crashRunFor = "RECKON_TEST_CRASH_FOR"

// crashStream is what one writer knows of the stream that it alone writes.
type crashStream struct {
	name     string
	maxCount uint64 // 0 for none
	limited  bool   // maxCount is acknowledged
	last     int64  // revision of the newest acknowledged event, -1 for none
	tried    int64  // highest revision that an append was sent for
	hidden   uint64 // revisions below are hidden: a truncation or deletion was acknowledged
	mayHide  uint64 // revisions below may be hidden: one was sent
	events   map[uint64]crashEvent
}

type crashEvent struct {
	id       uuid.UUID
	position uint64
}

// crashModel is what the clients of a node were promised.
type crashModel struct {
	streams []*crashStream // each used by one writer at a time
	acked   map[uint64]bool
	ackedMu sync.Mutex

	appends, truncations, deletions, scavenges, acks atomic.Int64
}

// TestNodeKilledUnderLoad kills `reckon node` under writers that also truncate and
// delete, a consumer that acknowledges out of order, and scavenges, again and again. After each kill
// the folder verifies with the anchor made after the kill before, and holds what was acknowledged;
// after each start streams show what no truncation hides, index streams are what the records say,
// and the group's checkpoint is not beyond an event that nobody acknowledged.
func TestNodeKilledUnderLoad(t *testing.T) {
	t.Parallel()
	rounds, until := 4, time.Time{}
	if text := os.Getenv(crashRunFor); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		rounds, until = 1<<30, time.Now().Add(d)
	}
	folder, anchor := filepath.Join(t.TempDir(), "events"), filepath.Join(t.TempDir(), "anchor.json")
	random := rand.New(rand.NewPCG(1, uint64(len(folder))))
	m := &crashModel{acked: map[uint64]bool{}}
	// made before, so that a scavenge by schedule is due at each start until one has ended; not an hour before, which would be a jump of the clock
	before := time.Now().Add(-59 * time.Minute)
	made, err := node.Open(node.Config{Dir: folder, Clock: func() time.Time { return before }})
	if err == nil {
		err = made.Close(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		s := &crashStream{name: fmt.Sprintf("w-%d", i), last: -1, tried: -1, events: map[uint64]crashEvent{}}
		if i == 0 {
			s.name, s.maxCount = "bulk-0", 3
		}
		m.streams = append(m.streams, s)
	}
	feed := &crashStream{name: "feed-0", last: -1, tried: -1, events: map[uint64]crashEvent{}}
	m.streams = append(m.streams, feed)
	round := 0
	for ; round < rounds && (until.IsZero() || time.Now().Before(until)); round++ {
		m.round(t, folder, round, random.Int64())
		records := m.checkFolder(t, folder, anchor, round > 0)
		m.checkNode(t, folder, records)
		if t.Failed() {
			break
		}
	}
	removed := m.drain(t, folder)
	t.Logf("%d kills, %d appends, %d truncations, %d deletions, %d scavenges ended, %d acknowledgements; at the end %d payloads were scavenged",
		round, m.appends.Load(), m.truncations.Load(), m.deletions.Load(), m.scavenges.Load(), m.acks.Load(), removed)
	if removed == 0 || m.acks.Load() == 0 || m.truncations.Load() == 0 || m.deletions.Load() == 0 {
		t.Error("some of it was never done")
	}
}

// crashClient connects to the node that is ready at an address, until the test's end. Where the node is killed under several callers each needs one of
// its own: the official client blocks every further call for ever once it has found no node for one.
func crashClient(t *testing.T, address string) *esdb.Client {
	t.Helper()
	config, err := esdb.ParseConnectionString("esdb://localhost?tls=false")
	if err != nil {
		t.Fatal(err)
	}
	config.Address = "unix://" + strings.TrimPrefix(address, "unix:")
	config.Logger = esdb.NoopLogging()
	config.MaxDiscoverAttempts = 1
	client, err := esdb.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// round runs a node under load and kills it.
func (m *crashModel) round(t *testing.T, folder string, round int, seed int64) {
	t.Helper()
	arguments := []string{"--data", folder}
	// scavenges are asked for in the first of four rounds, and by schedule in the last two: of the segment that is sealed between
	asked := round%4 == 0
	if round%4 >= 2 {
		arguments = append(arguments, "--scavenge-every", "1m")
	}
	process, address, _ := startedNode(t, nil, arguments...)
	client := crashClient(t, address)
	if round == 0 {
		rules := esdb.SubscriptionSettingsDefault()
		rules.CheckpointLowerBound, rules.CheckpointUpperBound, rules.CheckpointAfter = 1, 5, 50
		if err := client.CreatePersistentSubscription(t.Context(), "feed-0", "g", esdb.PersistentStreamSubscriptionOptions{StartFrom: esdb.Start{}, Settings: &rules}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var work, bulk sync.WaitGroup
	for i, s := range m.streams {
		random := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
		client := crashClient(t, address)
		if s.maxCount > 0 {
			bulk.Go(func() { m.write(ctx, client, s, random, 36) }) // together more than a segment in two rounds
			continue
		}
		work.Go(func() { m.write(ctx, client, s, random, 1<<30) })
	}
	work.Go(func() { m.consume(ctx, client, rand.New(rand.NewPCG(uint64(seed), 99))) })
	work.Go(func() {
		for asked && ctx.Err() == nil {
			command := reckonCommand(t, nil, "node", "scavenge", "--data", folder)
			if command.Run() != nil {
				return
			}
			m.scavenges.Add(1)
		}
	})
	bulk.Wait()
	wait.Pace(time.Duration(seed&0x3ff) * time.Millisecond) // where the kill hits, not what is waited for
	_ = process.Process.Kill()
	_ = process.Wait()
	cancel()
	work.Wait()
}

// write changes a stream until the node is gone, or for a number of calls.
func (m *crashModel) write(ctx context.Context, client *esdb.Client, s *crashStream, random *rand.Rand, calls int) {
	for call := 0; call < calls && ctx.Err() == nil; call++ {
		var err error
		kind := random.IntN(100)
		switch {
		case s.maxCount > 0 && !s.limited:
			err = m.truncate(ctx, client, s, 0)
			s.limited = err == nil
		case s.name == "feed-0" || s.maxCount > 0 || kind < 88 || s.last < 0:
			err = m.add(ctx, client, s, random)
		case kind < 96:
			// not beyond the next revision: a deletion and a revival would show what is between
			err = m.truncate(ctx, client, s, s.hidden+uint64(random.Int64N(s.last+2-int64(s.hidden))))
		default:
			s.mayHide = max(s.mayHide, uint64(s.tried+1))
			_, err = client.DeleteStream(ctx, s.name, esdb.DeleteStreamOptions{ExpectedRevision: esdb.Any{}})
			if err == nil {
				s.hidden = uint64(s.last + 1)
				m.deletions.Add(1)
			}
		}
		if err != nil {
			return
		}
	}
}

func (m *crashModel) add(ctx context.Context, client *esdb.Client, s *crashStream, random *rand.Rand) error {
	size, count := random.IntN(2000), 1+random.IntN(3)
	if s.maxCount > 0 {
		size, count = 1000_000, 1
	}
	events := make([]esdb.EventData, count)
	for i := range events {
		events[i] = esdb.EventData{EventID: uuid.New(), EventType: "noted" + strconv.Itoa(random.IntN(3)), ContentType: esdb.ContentTypeBinary, Data: make([]byte, size)}
	}
	s.tried = max(s.tried, s.last+int64(count))
	if s.maxCount > 0 && uint64(s.tried+1) > s.maxCount {
		s.mayHide = max(s.mayHide, uint64(s.tried+1)-s.maxCount)
	}
	result, err := client.AppendToStream(ctx, s.name, esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, events...)
	if err != nil {
		return err
	}
	m.appends.Add(1)
	for i := range events {
		behind := uint64(count - 1 - i)
		s.events[result.NextExpectedVersion-behind] = crashEvent{events[i].EventID, result.CommitPosition - behind}
	}
	s.last = int64(result.NextExpectedVersion)
	s.tried = max(s.tried, s.last)
	return nil
}

func (m *crashModel) truncate(ctx context.Context, client *esdb.Client, s *crashStream, before uint64) error {
	s.mayHide = max(s.mayHide, before)
	metadata := esdb.StreamMetadata{}
	metadata.SetTruncateBefore(before)
	if s.maxCount > 0 {
		metadata.SetMaxCount(s.maxCount)
	}
	_, err := client.SetStreamMetadata(ctx, s.name, esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, metadata)
	if err == nil {
		s.hidden = max(s.hidden, before)
		m.truncations.Add(1)
	}
	return err
}

// consume acknowledges what the group is given, out of order, until the node is gone.
func (m *crashModel) consume(ctx context.Context, client *esdb.Client, random *rand.Rand) {
	sub, err := client.SubscribeToPersistentSubscription(ctx, "feed-0", "g", esdb.SubscribeToPersistentSubscriptionOptions{BufferSize: 20})
	if err != nil {
		return
	}
	defer func() { _ = sub.Close() }()
	var held []*esdb.ResolvedEvent
	for {
		e := sub.Recv()
		if e.SubscriptionDropped != nil {
			return
		}
		if e.EventAppeared == nil {
			continue
		}
		held = append(held, e.EventAppeared.Event)
		for len(held) > 8 {
			i := random.IntN(len(held))
			m.note(held[i].Event.EventNumber)
			if sub.Ack(held[i]) != nil {
				return
			}
			held = append(held[:i], held[i+1:]...)
		}
	}
}

// note notes an acknowledgement before it is sent.
func (m *crashModel) note(revision uint64) {
	m.ackedMu.Lock()
	defer m.ackedMu.Unlock()
	m.acked[revision] = true
	m.acks.Add(1)
}

// crashRecord is a record of the folder, in the order of the log.
type crashRecord struct {
	stream, eventType string
	revision          uint64
	removed           bool
}

// checkFolder verifies the folder of a node that was killed, with the command, and compares it with the model.
func (m *crashModel) checkFolder(t *testing.T, folder, anchor string, anchored bool) []crashRecord {
	t.Helper()
	arguments := []string{"node", "verify", "--data", folder}
	if anchored {
		arguments = append(arguments, "--anchor", anchor)
	}
	status, report, said := reckon(t, "", nil, arguments...)
	if status != 0 {
		t.Fatalf("verify: %d, %s", status, said)
	}
	if err := os.WriteFile(anchor, []byte(report), 0o600); err != nil {
		t.Fatal(err)
	}
	var records []crashRecord
	ids := map[string]map[uint64]crashEvent{}
	_, err := eventlog.ReadFolder(t.Context(), folder, nil, func(r *eventlog.Record) error {
		records = append(records, crashRecord{strings.Clone(r.Stream), strings.Clone(r.Type), r.Revision, r.Redacted})
		if ids[r.Stream] == nil {
			ids[strings.Clone(r.Stream)] = map[uint64]crashEvent{}
		}
		ids[r.Stream][r.Revision] = crashEvent{r.ID, r.Position}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range m.streams {
		for revision, want := range s.events {
			if got := ids[s.name][revision]; got != want {
				t.Errorf("acknowledged in %s at revision %d: %+v, the log has %+v", s.name, revision, want, got)
			}
		}
		// what was not acknowledged may be there, and is kept from then on
		for revision, got := range ids[s.name] {
			if revision != eventlog.TombstoneRevision {
				s.events[revision] = got
				s.last = max(s.last, int64(revision))
			}
		}
		if len(s.events) != int(s.last+1) {
			t.Errorf("%s has %d events up to revision %d", s.name, len(s.events), s.last)
		}
		s.tried = s.last
	}
	for i, r := range records {
		for _, s := range m.streams {
			if r.removed && r.stream == s.name && r.revision >= s.mayHide {
				t.Errorf("position %d: revision %d of %s was scavenged, and no truncation hides it", i+1, r.revision, s.name)
			}
		}
	}
	return records
}

// checkNode starts a node on the folder and compares what its clients read with the model and the records.
func (m *crashModel) checkNode(t *testing.T, folder string, records []crashRecord) {
	t.Helper()
	_, address, stop := startedNode(t, nil, "--data", folder)
	client := crashClient(t, address)
	defer stop()
	for _, s := range m.streams {
		got := map[uint64]bool{}
		for _, e := range readStream(t, client, s.name, false) {
			got[e.EventNumber] = true
			if e.EventID != s.events[e.EventNumber].id || e.EventNumber < s.hidden {
				t.Errorf("%s shows revision %d, truncated before %d", s.name, e.EventNumber, s.hidden)
			}
		}
		for revision := s.mayHide; revision < uint64(s.last+1); revision++ {
			if !got[revision] {
				t.Errorf("%s does not show revision %d, truncated before %d", s.name, revision, s.mayHide)
			}
		}
	}
	m.checkIndexStreams(t, client, records)
	checkpoints := readStream(t, client, "$persistentsubscription-feed-0::g-checkpoint", true)
	if len(checkpoints) == 0 {
		return
	}
	var text string
	if err := json.Unmarshal(checkpoints[0].Data, &text); err != nil {
		t.Fatal(err)
	}
	checkpoint, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	for revision := range checkpoint + 1 {
		if !m.acked[revision] {
			t.Errorf("the checkpoint is %d, and nobody acknowledged %d", checkpoint, revision)
		}
	}
}

// checkIndexStreams derives the index streams from the records.
func (m *crashModel) checkIndexStreams(t *testing.T, client *esdb.Client, records []crashRecord) {
	t.Helper()
	want := map[string][]string{"$ce-w": nil, "$ce-feed": nil, "$ce-bulk": nil, "$et-noted0": nil, "$et-noted1": nil, "$et-noted2": nil, "$category-w": nil, "$streams": nil}
	seen := map[string]bool{}
	for _, r := range records {
		link := fmt.Sprintf("%d@%s", r.revision, r.stream)
		list := func(index string) {
			if _, listed := want[index]; listed {
				want[index] = append(want[index], link)
			}
		}
		list("$et-" + r.eventType)
		if strings.HasPrefix(r.stream, "$") {
			continue
		}
		category, _, _ := strings.Cut(r.stream, "-")
		list("$ce-" + category)
		if !seen[r.stream] {
			seen[r.stream] = true
			list("$category-" + category)
			list("$streams")
		}
	}
	for index := range maps.Keys(want) {
		got := readStream(t, client, index, false)
		if len(got) != len(want[index]) {
			t.Errorf("%s has %d links, the records %d", index, len(got), len(want[index]))
			continue
		}
		for i, e := range got {
			if string(e.Data) != want[index][i] || e.EventNumber != uint64(i) {
				t.Errorf("%s: link %d is %d %s, want %s", index, i, e.EventNumber, e.Data, want[index][i])
				break
			}
		}
	}
}

// readStream reads a stream, or its newest event; links are not resolved. A stream that shows nothing is empty.
func readStream(t *testing.T, client *esdb.Client, name string, newest bool) (events []*esdb.RecordedEvent) {
	t.Helper()
	options, count := esdb.ReadStreamOptions{From: esdb.Start{}}, uint64(1<<40)
	if newest {
		options, count = esdb.ReadStreamOptions{From: esdb.End{}, Direction: esdb.Backwards}, 1
	}
	read, err := client.ReadStream(t.Context(), name, options, count)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	for {
		e, err := read.Recv()
		if err != nil {
			if known, _ := esdb.FromError(err); known == nil || known.Code() != esdb.ErrorCodeResourceNotFound && err.Error() != "EOF" {
				t.Fatalf("%s: %v", name, err)
			}
			return events
		}
		events = append(events, e.OriginalEvent())
	}
}

// awaitScheduled waits until a scavenge by schedule has ended, in a round or after it.
func (m *crashModel) awaitScheduled(t *testing.T, client *esdb.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait.Longest)
	defer cancel()
	following, err := client.SubscribeToStream(ctx, node.ScavengeStream, esdb.SubscribeToStreamOptions{From: esdb.Start{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = following.Close() }()
	for {
		e := following.Recv()
		if e.SubscriptionDropped != nil {
			t.Fatal("no scavenge by schedule ended: ", e.SubscriptionDropped.Error)
		}
		if e.EventAppeared == nil || e.EventAppeared.OriginalEvent().EventType != node.ScavengeEndedType {
			continue
		}
		var result node.ScavengeResult
		if err := json.Unmarshal(e.EventAppeared.OriginalEvent().Data, &result); err != nil {
			t.Fatal(err)
		}
		if result.Request == uuid.Nil {
			t.Logf("a scavenge by schedule: %+v", result)
			return
		}
	}
}

// drain lets the group have all that is left of its stream, scavenges, and returns how many payloads are gone.
func (m *crashModel) drain(t *testing.T, folder string) (removed int) {
	t.Helper()
	_, address, stop := startedNode(t, nil, "--data", folder, "--scavenge-every", "1m")
	client := crashClient(t, address)
	m.awaitScheduled(t, client)
	sub, err := client.SubscribeToPersistentSubscription(t.Context(), "feed-0", "g", esdb.SubscribeToPersistentSubscriptionOptions{BufferSize: 20})
	if err != nil {
		t.Fatal(err)
	}
	feed := m.streams[len(m.streams)-1]
	for int64(len(m.acked)) < feed.last+1 {
		e := sub.Recv()
		if e.SubscriptionDropped != nil {
			t.Fatal(e.SubscriptionDropped.Error)
		}
		m.note(e.EventAppeared.Event.Event.EventNumber)
		if err := sub.Ack(e.EventAppeared.Event); err != nil {
			t.Fatal(err)
		}
	}
	_ = sub.Close()
	if status, _, said := reckon(t, "", nil, "node", "scavenge", "--data", folder); status != 0 {
		t.Error(said)
	}
	stop()
	for _, r := range m.checkFolder(t, folder, filepath.Join(t.TempDir(), "anchor.json"), false) {
		if r.removed {
			removed++
		}
	}
	return removed
}
