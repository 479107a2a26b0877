//go:build bench

package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"reckon/eventstore/node/eventlog"
	"reckon/test/binary"
	"reckon/test/wait"
)

// What a node costs by the number of its events: it runs as users run it, in a process of its own.

const (
	growthBatch   = 500 // events of an append, and of a stream
	growthTypes   = 5
	growthStarts  = 5
	growthUnclean = 100_000 // events that a node has taken when it is killed: the index of most is not on the disk

	// tenMillion is a setting: the goal is of 1 and 10 million events, which take minutes and 6 GB of disk. Without it 0.1 and 1 million are compared.
	tenMillion = "RECKON_BENCH_TEN_MILLION"
)

// BenchmarkNodeGrowth: a log of few events and one of ten times as many. Goal: both start in the same time.
func BenchmarkNodeGrowth(b *testing.B) {
	few := 100_000
	if os.Getenv(tenMillion) != "" {
		few *= 10
	}
	for b.Loop() {
		small, large := growTo(b, few), growTo(b, 10*few)
		b.ReportMetric(large.clean.Seconds()*1e3, "start-ms")
		b.ReportMetric(large.clean.Seconds()/small.clean.Seconds(), "start-×10/×1")
		b.ReportMetric(large.killed.Seconds()*1e3, "killed-start-ms")
		b.ReportMetric(large.killed.Seconds()/small.killed.Seconds(), "killed-start-×10/×1")
		b.ReportMetric(large.records, "records-B/event")
		b.ReportMetric(large.index, "index-B/event")
		b.ReportMetric(large.started, "started-MB")
		b.ReportMetric(large.worked, "worked-MB")
		million := float64(9*few) / 1e6
		b.ReportMetric((large.started-small.started)/million, "started-MB/million")
		b.ReportMetric((large.worked-small.worked)/million, "worked-MB/million")
		b.ReportMetric(0, "ns/op")
	}
}

// growth is what a log of some size costs.
type growth struct {
	clean, killed   time.Duration // median from the start of the process to ready, after an orderly end, and after kill -9
	records, index  float64       // bytes on disk for an event
	started, worked float64       // MB resident when ready, and after reads at both ends and appends
}

func growTo(b *testing.B, events int) (g growth) {
	dir := filepath.Join(b.TempDir(), "log")
	defer func() { _ = os.RemoveAll(dir) }() // the next one needs the room
	begun := time.Now()
	buildLog(b, dir, events)
	b.Logf("%d events appended in %s", events, time.Since(begun).Round(time.Millisecond))
	g.records = folderBytes(b, filepath.Join(dir, "segments")) / float64(events)
	g.index = folderBytes(b, filepath.Join(dir, "index")) / float64(events)

	var clean, killed []time.Duration
	for range growthStarts {
		n := startProcess(b, dir)
		clean, g.started = append(clean, n.took), float64(residentBytes(b, n.pid()))/1e6
		n.stop(b)
	}
	for range growthStarts {
		n := startProcess(b, dir)
		n.work(b)
		g.worked = float64(residentBytes(b, n.pid())) / 1e6
		n.kill()
		n = startProcess(b, dir)
		killed = append(killed, n.took)
		n.stop(b)
	}
	slices.Sort(clean)
	slices.Sort(killed)
	b.Logf("%d events: starts %v, after kill -9 %v", events, clean, killed)
	g.clean, g.killed = clean[growthStarts/2], killed[growthStarts/2]
	return g
}

// buildLog appends events to a log in this process.
func buildLog(b *testing.B, dir string, events int) {
	log, err := eventlog.Open(eventlog.Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	proposed := make([]eventlog.Proposed, growthBatch)
	of := benchEvent()
	for at := 0; at < events; at += growthBatch {
		for i := range proposed {
			proposed[i] = eventlog.Proposed{ID: uuid.New(), Type: fmt.Sprint("bench.happened", i%growthTypes), JSON: true, Data: of.Data, Metadata: of.Metadata}
		}
		if _, err := log.Append(context.Background(), fmt.Sprint("bench-", at), eventlog.NoStream(), proposed); err != nil {
			b.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
}

func folderBytes(b *testing.B, dir string) (sum float64) {
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sum += float64(info.Size())
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return sum
}

// nodeProcess is a node in a process of its own.
type nodeProcess struct {
	command *exec.Cmd
	address string
	took    time.Duration // until it was ready
}

func startProcess(b *testing.B, dir string) *nodeProcess {
	command := exec.Command(binary.Reckon(b), "node", "--init", "--data", dir, "--insecure-listen", "127.0.0.1:0")
	var said strings.Builder
	command.Stderr = &said
	stdout, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	n := &nodeProcess{command: command}
	b.Cleanup(n.kill)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	n.took = time.Since(begun)
	address, ready := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if !ready {
		b.Fatalf("the node says %q, %v\n%s", line, err, said.String())
	}
	n.address = address
	go func() { _, _ = io.Copy(io.Discard, stdout) }() // it ends with the process
	return n
}

func (n *nodeProcess) pid() int { return n.command.Process.Pid }

func (n *nodeProcess) stop(b *testing.B) {
	_ = n.command.Process.Signal(syscall.SIGTERM)
	if err := n.command.Wait(); err != nil {
		b.Fatalf("the node ends with %v", err)
	}
}

// kill ends the process as kill -9 does; it may have ended.
func (n *nodeProcess) kill() {
	_ = n.command.Process.Kill()
	_ = n.command.Wait()
}

// work appends, and reads at both ends of the log.
func (n *nodeProcess) work(b *testing.B) {
	client := connect(b, n.address)
	events := make([]esdb.EventData, growthBatch)
	for range growthUnclean / growthBatch {
		for i := range events {
			events[i] = benchEvent()
		}
		if _, err := client.AppendToStream(context.Background(), "bench-"+uuid.NewString(), esdb.AppendToStreamOptions{ExpectedRevision: esdb.NoStream{}}, events...); err != nil {
			b.Fatal(err)
		}
	}
	for _, options := range []esdb.ReadAllOptions{{From: esdb.Start{}}, {From: esdb.End{}, Direction: esdb.Backwards}} {
		r, err := client.ReadAll(context.Background(), options, growthUnclean/2)
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = r.Recv()
		}
		r.Close()
		if !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
}

// BenchmarkNodeSlowSubscriptions: a thousand subscriptions to $all on as many connections, whose clients read nothing, of a
// node that was started on the log, and of one that has just appended it. Goal: the node takes less than 256 MB.
func BenchmarkNodeSlowSubscriptions(b *testing.B) {
	for _, restarted := range []bool{true, false} {
		b.Run(fmt.Sprintf("restarted=%t", restarted), func(b *testing.B) {
			for b.Loop() {
				slowSubscriptions(b, restarted)
			}
		})
	}
}

func slowSubscriptions(b *testing.B, restarted bool) {
	const clients, megabytes, events, eventBytes = 1000, 256, 20_000, 1000
	const watched, look = 15 * time.Second, 200 * time.Millisecond
	dir := filepath.Join(b.TempDir(), "log")
	n := startProcess(b, dir)
	client := connect(b, n.address)
	for range events / growthBatch {
		batch := make([]esdb.EventData, growthBatch)
		for i := range batch {
			batch[i] = benchEvent()
			batch[i].Data = make([]byte, eventBytes)
		}
		if _, err := client.AppendToStream(context.Background(), "bench-slow", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, batch...); err != nil {
			b.Fatal(err)
		}
	}
	if restarted {
		n.stop(b)
		n = startProcess(b, dir)
	}
	before := residentBytes(b, n.pid())
	host := strings.TrimSuffix(strings.TrimPrefix(n.address, "esdb://"), "?tls=false")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for range clients {
		subscribeWithoutReading(ctx, b, host)
	}
	most := int64(0)
	for begun := time.Now(); time.Since(begun) < watched; wait.Pace(look) {
		most = max(most, residentBytes(b, n.pid()))
	}
	if sockets := openFiles(b, n.pid()); sockets < clients {
		b.Errorf("the node has %d open files: nothing was measured", sockets)
	}
	cancel()
	n.stop(b)
	b.ReportMetric(float64(before)/1e6, "before-MB")
	b.ReportMetric(float64(most)/1e6, "MB")
	b.ReportMetric(float64(most)/1e6/megabytes, "memory/256MB")
	b.ReportMetric(0, "ns/op")
}

// subscribeWithoutReading subscribes to $all from its start, on a connection of its own. The
// first answer shows that the node serves it.
func subscribeWithoutReading(ctx context.Context, b *testing.B, host string) {
	conn, err := grpc.NewClient(host, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	call, err := streams.NewStreamsClient(conn).Read(ctx, &streams.ReadReq{Options: &streams.ReadReq_Options{
		StreamOption: &streams.ReadReq_Options_All{All: &streams.ReadReq_Options_AllOptions{AllOption: &streams.ReadReq_Options_AllOptions_Start{Start: &shared.Empty{}}}},
		CountOption:  &streams.ReadReq_Options_Subscription{Subscription: &streams.ReadReq_Options_SubscriptionOptions{}},
		FilterOption: &streams.ReadReq_Options_NoFilter{NoFilter: &shared.Empty{}},
		UuidOption:   &streams.ReadReq_Options_UUIDOption{Content: &streams.ReadReq_Options_UUIDOption_String_{String_: &shared.Empty{}}},
	}})
	if err == nil {
		_, err = call.Recv()
	}
	if err != nil {
		b.Fatal(err)
	}
}
