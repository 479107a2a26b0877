//go:build bench

package bench

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/stdlib"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"reckon/eventstore/node"
	"reckon/projections/pgtest"
)

// The node is compared with the least a durable log behind gRPC can be: the same
// protocol, the same client, a file that gets the payloads with one fdatasync per group
// of waiting appends, and nothing else: no index, no hashes, no revisions. Both run in
// this process, in turns, on the same disk; the best round of each counts.

const (
	nodeRounds       = 5
	nodeRoundTime    = 600 * time.Millisecond
	nodePayloadBytes = 256
	nodeReadEvents   = 20_000
)

// BenchmarkNodeAppend: goals are 0.9 of the bare log at 1 and 64 writers, and more than PostgreSQL.
func BenchmarkNodeAppend(b *testing.B) {
	for _, events := range []int{1, 100} {
		for _, writers := range []int{1, 64, 256} {
			b.Run(fmt.Sprintf("events=%d/writers=%d", events, writers), func(b *testing.B) {
				for b.Loop() {
					var node, bare, table turns
					peers := []peer{{&bare, clientAppends(connect(b, startBareLog(b)), events)}, {&node, clientAppends(connect(b, startNode(b)), events)}}
					if rows := eventTable(b, writers); rows != nil {
						peers = append(peers, peer{&table, tableAppends(rows, events)})
					}
					for round := range nodeRounds {
						for i := range peers { // another first in each round
							p := peers[(round+i)%len(peers)]
							p.turns.take(b, p.append, writers)
						}
					}
					b.ReportMetric(node.best(), "node-appends/s")
					b.ReportMetric(bare.best(), "bare-appends/s")
					b.ReportMetric(node.best()/bare.best(), "ratio")
					b.ReportMetric(node.cpu(), "node-cpu-µs/append")
					b.ReportMetric(bare.cpu(), "bare-cpu-µs/append")
					if len(peers) == 3 {
						b.ReportMetric(table.best(), "postgres-appends/s")
						b.ReportMetric(node.best()/table.best(), "ratio-to-postgres")
					}
					b.ReportMetric(0, "ns/op")
				}
			})
		}
	}
}

// peer is one of those that take turns.
type peer struct {
	turns  *turns
	append appends
}

// turns is what a peer did in its turns. CPU time is that of this process, client and server
// together: it depends less on the machine's other work than time does.
type turns struct {
	rates []float64 // appends/s
	costs []float64 // µs of CPU time for an append
}

func (t *turns) take(b *testing.B, one appends, writers int) {
	before := processTime(b)
	rate, done := appendsDuring(b, one, writers, nodeRoundTime)
	t.rates = append(t.rates, rate)
	t.costs = append(t.costs, float64((processTime(b)-before).Nanoseconds())/1e3/float64(done))
}

func (t *turns) best() float64 { return slices.Max(t.rates) }
func (t *turns) cpu() float64  { return slices.Min(t.costs) }

// processTime is the CPU time that this process has used.
func processTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkNodeRead: the goal is more than PostgreSQL, whose rows come through a pgx connection one by one, in the order of the log.
func BenchmarkNodeRead(b *testing.B) {
	for b.Loop() {
		embedded := connect(b, startNode(b))
		fillNode(b, embedded)
		bare := connect(b, startBareLog(b))
		table := eventTable(b, 1)
		if table != nil {
			fillTable(b, table)
		}
		var bestBare, bestAll, bestStream, bestRows float64
		for range nodeRounds {
			bestBare = max(bestBare, readAllPerSecond(b, bare))
			bestAll = max(bestAll, readAllPerSecond(b, embedded))
			bestStream = max(bestStream, readStreamPerSecond(b, embedded))
			if table != nil {
				bestRows = max(bestRows, rowsPerSecond(b, table))
			}
		}
		b.ReportMetric(bestBare, "bare-events/s")
		b.ReportMetric(bestAll, "all-events/s")
		b.ReportMetric(bestStream, "stream-events/s")
		b.ReportMetric(bestAll/bestBare, "all-ratio")
		b.ReportMetric(bestStream/bestBare, "stream-ratio")
		if table != nil {
			b.ReportMetric(bestRows, "postgres-events/s")
			b.ReportMetric(bestAll/bestRows, "all-ratio-to-postgres")
			b.ReportMetric(bestStream/bestRows, "stream-ratio-to-postgres")
		}
		b.ReportMetric(0, "ns/op")
	}
}

// fillTable inserts what fillNode appends.
func fillTable(b *testing.B, table *sql.DB) {
	one, last := tableAppends(table, 500), int64(-1)
	for range nodeReadEvents / 500 {
		var err error
		if last, err = one("bench-read", last); err != nil {
			b.Fatal(err)
		}
	}
}

// rowsPerSecond reads the table without what database/sql adds to pgx.
func rowsPerSecond(b *testing.B, table *sql.DB) float64 {
	ctx := context.Background()
	conn, err := table.Conn(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // it goes back to the pool
	n, start := 0, time.Now()
	err = conn.Raw(func(driver any) error {
		rows, err := driver.(*stdlib.Conn).Conn().Query(ctx, "SELECT position, stream, revision, id, type, created, data, metadata FROM events ORDER BY position")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var (
				position, revision int64
				stream, kind       string
				id                 [16]byte
				created            time.Time
				data, metadata     []byte
			)
			if err := rows.Scan(&position, &stream, &revision, &id, &kind, &created, &data, &metadata); err != nil {
				return err
			}
			n++
		}
		return rows.Err()
	})
	if err != nil || n != nodeReadEvents {
		b.Fatalf("%d rows, %v", n, err)
	}
	return float64(n) / time.Since(start).Seconds()
}

// BenchmarkNodeTransport compares the socket by which a server reaches its own log with a loopback port. Both change little
// beside what a busy machine does, so they take short turns, first the one and then the other, and the median of the turns counts.
func BenchmarkNodeTransport(b *testing.B) {
	const turns, turnTime = 40, 100 * time.Millisecond
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			for b.Loop() {
				clients := []*esdb.Client{connect(b, startNodeAt(b, "")), connect(b, startNode(b))}
				var ratios, socket []float64
				for turn := range turns {
					var rate [2]float64
					for _, which := range []int{turn % 2, 1 - turn%2} {
						rate[which] = appendsPerSecond(b, clientAppends(clients[which], 1), writers, turnTime)
					}
					ratios, socket = append(ratios, rate[0]/rate[1]), append(socket, rate[0])
				}
				slices.Sort(ratios)
				slices.Sort(socket)
				b.ReportMetric(socket[turns/2], "socket-appends/s")
				b.ReportMetric(ratios[turns/2], "ratio")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// startNode listens on a port, as its peer does.
func startNode(b *testing.B) string { return startNodeAt(b, "127.0.0.1:0") }

func startNodeAt(b *testing.B, listen string) string {
	n, err := node.Open(node.Config{Dir: b.TempDir(), Listen: listen})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := n.Close(ctx); err != nil {
			b.Error(err)
		}
	})
	return n.ConnectionString()
}

func connect(b *testing.B, connectionString string) *esdb.Client {
	path, socket := strings.CutPrefix(connectionString, "unix:")
	if socket {
		connectionString = "esdb://localhost?tls=false"
	}
	config, err := esdb.ParseConnectionString(connectionString)
	if err != nil {
		b.Fatal(err)
	}
	if socket {
		config.Address = "unix://" + path
	}
	config.Logger = esdb.NoopLogging()
	client, err := esdb.NewClient(config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close() })
	return client
}

var streamNumber atomic.Int64

// appends is one append to a stream that has events up to a revision, -1 for none; it
// returns once that is durable.
type appends func(stream string, last int64) (newLast int64, err error)

func clientAppends(client *esdb.Client, n int) appends {
	return func(stream string, last int64) (int64, error) {
		events := make([]esdb.EventData, n)
		for i := range events {
			events[i] = benchEvent()
		}
		expected := esdb.ExpectedRevision(esdb.NoStream{})
		if last >= 0 {
			expected = esdb.Revision(uint64(last))
		}
		_, err := client.AppendToStream(context.Background(), stream, esdb.AppendToStreamOptions{ExpectedRevision: expected}, events...)
		return last + int64(n), err
	}
}

// eventTable makes the least table of events that has streams, revisions and positions; nil
// when the PostgreSQL of the tests does not sync what it acknowledges, as by default.
func eventTable(b *testing.B, connections int) *sql.DB {
	db, err := sql.Open("pgx", pgtest.Database(b))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(min(connections, 64)) // PostgreSQL takes 100 by default
	db.SetMaxIdleConns(64)
	var durable string
	if err := db.QueryRow("SELECT current_setting('fsync') || current_setting('synchronous_commit')").Scan(&durable); err != nil || durable != "onon" {
		b.Logf("PostgreSQL is left out, it does not sync what it acknowledges (%s, %v): set RECKON_TEST_POSTGRES_FSYNC=on", durable, err)
		return nil
	}
	if _, err := db.Exec("CREATE TABLE events (position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, stream text NOT NULL, revision bigint NOT NULL, id uuid NOT NULL, type text NOT NULL, created timestamptz NOT NULL DEFAULT now(), data bytea, metadata bytea, UNIQUE (stream, revision))"); err != nil {
		b.Fatal(err)
	}
	return db
}

// tableAppends inserts the events of an append in one statement, whose transaction is synced;
// the unique index stands for the expected revision.
func tableAppends(db *sql.DB, n int) appends {
	row := benchEvent()
	return func(stream string, last int64) (int64, error) {
		ids := make([]string, n)
		for i := range ids {
			ids[i] = uuid.NewString()
		}
		rows, err := db.Query("INSERT INTO events (stream, revision, id, type, data, metadata) SELECT $1, $2 + n, id, $3, $4, $5 FROM unnest($6::uuid[]) WITH ORDINALITY AS of(id, n) RETURNING position",
			stream, last, row.EventType, row.Data, row.Metadata, ids)
		if err != nil {
			return last, err
		}
		defer func() { _ = rows.Close() }() // Err says what went wrong
		for rows.Next() {
			var position int64
			if err := rows.Scan(&position); err != nil {
				return last, err
			}
		}
		return last + int64(n), rows.Err()
	}
}

// appendsPerSecond lets every writer append to a stream of its own, one append at a time.
func appendsPerSecond(b *testing.B, one appends, writers int, during time.Duration) float64 {
	rate, _ := appendsDuring(b, one, writers, during)
	return rate
}

// appendsDuring also returns the number of appends.
func appendsDuring(b *testing.B, one appends, writers int, during time.Duration) (rate float64, number int64) {
	var done atomic.Int64
	var wait sync.WaitGroup
	start := time.Now()
	for range writers {
		wait.Go(func() {
			stream := fmt.Sprintf("bench-%d", streamNumber.Add(1))
			for last := int64(-1); time.Since(start) < during; done.Add(1) {
				var err error
				if last, err = one(stream, last); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	return float64(done.Load()) / time.Since(start).Seconds(), done.Load()
}

func benchEvent() esdb.EventData {
	return esdb.EventData{ContentType: esdb.ContentTypeJson, EventType: "bench.happened", Data: make([]byte, nodePayloadBytes), Metadata: make([]byte, nodePayloadBytes/4)}
}

func fillNode(b *testing.B, client *esdb.Client) {
	for range nodeReadEvents / 500 {
		events := make([]esdb.EventData, 500)
		for i := range events {
			events[i] = benchEvent()
		}
		if _, err := client.AppendToStream(context.Background(), "bench-read", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, events...); err != nil {
			b.Fatal(err)
		}
	}
}

func readAllPerSecond(b *testing.B, client *esdb.Client) float64 {
	start := time.Now()
	r, err := client.ReadAll(context.Background(), esdb.ReadAllOptions{From: esdb.Start{}}, nodeReadEvents)
	if err != nil {
		b.Fatal(err)
	}
	return drainPerSecond(b, r, start)
}

func readStreamPerSecond(b *testing.B, client *esdb.Client) float64 {
	start := time.Now()
	r, err := client.ReadStream(context.Background(), "bench-read", esdb.ReadStreamOptions{From: esdb.Start{}}, nodeReadEvents)
	if err != nil {
		b.Fatal(err)
	}
	return drainPerSecond(b, r, start)
}

func drainPerSecond(b *testing.B, r *esdb.ReadStream, start time.Time) float64 {
	defer r.Close()
	n := 0
	for {
		_, err := r.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	if n != nodeReadEvents {
		b.Fatalf("read %d events", n)
	}
	return float64(n) / time.Since(start).Seconds()
}

// bareLog is the peer: it accepts any append and answers any read with the same event.
type bareLog struct {
	streams.UnimplementedStreamsServer
	queue chan *bareWrite
	file  *os.File

	mu          sync.Mutex
	subscribers []chan int // of events appended, by append
}

type bareWrite struct {
	bytes  []byte
	events int
	done   chan uint64
}

func startBareLog(b *testing.B) string {
	file, err := os.Create(filepath.Join(b.TempDir(), "bare"))
	if err != nil {
		b.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	bare := &bareLog{queue: make(chan *bareWrite, 1024), file: file}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		bare.write(b)
	}()
	server := grpc.NewServer(grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}))
	streams.RegisterStreamsServer(server, bare)
	go func() { _ = server.Serve(listener) }()
	b.Cleanup(func() {
		server.Stop()
		close(bare.queue)
		<-stopped
		_ = file.Close()
	})
	return "esdb://" + listener.Addr().String() + "?tls=false"
}

// write makes groups of waiting payloads durable.
func (l *bareLog) write(b *testing.B) {
	var position uint64
	for first := range l.queue {
		group := []*bareWrite{first}
		bytes := append([]byte(nil), first.bytes...)
	more:
		for {
			select {
			case next, ok := <-l.queue:
				if !ok {
					break more
				}
				group = append(group, next)
				bytes = append(bytes, next.bytes...)
			default:
				break more
			}
		}
		if _, err := l.file.Write(bytes); err != nil {
			b.Error(err)
		}
		if err := syscall.Fdatasync(int(l.file.Fd())); err != nil {
			b.Error(err)
		}
		l.mu.Lock()
		subscribers := l.subscribers
		l.mu.Unlock()
		for _, w := range group {
			position++
			for _, s := range subscribers {
				s <- w.events
			}
			w.done <- position
		}
	}
}

func (l *bareLog) Append(call streams.Streams_AppendServer) error {
	w := &bareWrite{done: make(chan uint64, 1)}
	events := uint64(0)
	for {
		message, err := call.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if p := message.GetProposedMessage(); p != nil {
			events++
			w.bytes = binary.BigEndian.AppendUint32(w.bytes, uint32(len(p.Data)+len(p.CustomMetadata)))
			w.bytes = append(append(w.bytes, p.Data...), p.CustomMetadata...)
		}
	}
	w.events = int(events)
	l.queue <- w
	position := <-w.done
	return call.SendAndClose(&streams.AppendResp{Result: &streams.AppendResp_Success_{Success: &streams.AppendResp_Success{
		CurrentRevisionOption: &streams.AppendResp_Success_CurrentRevision{CurrentRevision: events},
		PositionOption:        &streams.AppendResp_Success_Position{Position: &streams.AppendResp_Position{CommitPosition: position, PreparePosition: position}},
	}}})
}

// Read answers with the same event again and again: as many as a read asks for, nodeReadEvents
// to a subscription from the start, and to one from the end as many as are appended.
func (l *bareLog) Read(req *streams.ReadReq, call streams.Streams_ReadServer) error {
	if req.GetOptions().GetSubscription() == nil {
		return sendBare(call, req.GetOptions().GetCount())
	}
	appended := make(chan int, 1<<16) // the writer does not wait for subscribers
	if req.GetOptions().GetAll().GetEnd() != nil {
		l.mu.Lock()
		l.subscribers = append(l.subscribers[:len(l.subscribers):len(l.subscribers)], appended)
		l.mu.Unlock()
	} else {
		appended <- nodeReadEvents
	}
	if err := call.Send(&streams.ReadResp{Content: &streams.ReadResp_Confirmation{Confirmation: &streams.ReadResp_SubscriptionConfirmation{SubscriptionId: "bare"}}}); err != nil {
		return err
	}
	for {
		select {
		case n := <-appended:
			if err := sendBare(call, uint64(n)); err != nil {
				return err
			}
		case <-call.Context().Done():
			return call.Context().Err()
		}
	}
}

func sendBare(call streams.Streams_ReadServer, count uint64) error {
	e := benchEvent()
	for i := range count {
		err := call.Send(&streams.ReadResp{Content: &streams.ReadResp_Event{Event: &streams.ReadResp_ReadEvent{
			Event: &streams.ReadResp_ReadEvent_RecordedEvent{
				Id:               &shared.UUID{Value: &shared.UUID_Structured_{Structured: &shared.UUID_Structured{MostSignificantBits: int64(i), LeastSignificantBits: 1}}},
				StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte("bench-read")},
				StreamRevision:   i, PreparePosition: i + 1, CommitPosition: i + 1,
				Metadata:       map[string]string{"type": e.EventType, "content-type": "application/json", "created": "17000000000000000"},
				CustomMetadata: e.Metadata, Data: e.Data,
			},
			Position: &streams.ReadResp_ReadEvent_CommitPosition{CommitPosition: i + 1},
		}}})
		if err != nil {
			return err
		}
	}
	return nil
}
