//go:build bench

package bench

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"reckon/test/binary"
	"reckon/test/wait"
)

// What a process of this test binary floods instead of measuring: the kind of flood, the node and the user.
const (
	floodKind = "RECKON_BENCH_FLOOD"
	floodNode = "RECKON_BENCH_FLOOD_NODE"
)

const (
	floodConnections = 16
	floodPassword    = "flood-password-43"
	fairTurns        = 3
	fairAppends      = 40 // of one turn
)

// BenchmarkNodeFair: the median of one user's append of one event, and of a read of ten, while other users flood the node, beside the same
// without, in turns. Goal: at most 5. The floods are processes of their own.
func BenchmarkNodeFair(b *testing.B) {
	for _, flood := range []struct {
		name  string
		kinds []string // one for each user who floods
	}{
		{"appends-of-1", []string{"append-1"}},
		{"appends-of-100", []string{"append-100"}},
		{"reads", []string{"read"}},
		{"handshakes", []string{"handshake"}},
		{"six", []string{"append-1", "append-100", "append-100", "read", "read", "handshake"}},
	} {
		b.Run(flood.name, func(b *testing.B) {
			for b.Loop() {
				s := startFairNode(b, len(flood.kinds))
				victim := connect(b, s.as("victim"))
				var quiet, flooded fairTimes
				measureFair(b, victim, &fairTimes{}) // the first calls verify a password and open streams
				for range fairTurns {
					measureFair(b, victim, &quiet)
					stop := s.flood(b, flood.kinds)
					measureFair(b, victim, &flooded)
					stop()
				}
				quiet.report(b, "quiet")
				flooded.report(b, "flooded")
				b.ReportMetric(float64(median(flooded.appends))/float64(median(quiet.appends)), "append-ratio")
				b.ReportMetric(float64(median(flooded.reads))/float64(median(quiet.reads)), "read-ratio")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// fairTimes are how long one user's calls took.
type fairTimes struct{ appends, reads []time.Duration }

func (f *fairTimes) report(b *testing.B, when string) {
	slices.Sort(f.appends)
	slices.Sort(f.reads)
	b.ReportMetric(ms(median(f.appends)), "append-p50-"+when+"-ms")
	b.ReportMetric(ms(f.appends[len(f.appends)*99/100]), "append-p99-"+when+"-ms")
	b.ReportMetric(ms(median(f.reads)), "read-p50-"+when+"-ms")
}

// measureFair appends and reads in turn.
func measureFair(b *testing.B, victim *esdb.Client, to *fairTimes) {
	for range fairAppends {
		begun := time.Now()
		if _, err := victim.AppendToStream(b.Context(), "victim", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, benchEvent()); err != nil {
			b.Fatal(err)
		}
		to.appends = append(to.appends, time.Since(begun))
		begun = time.Now()
		if err := readToEnd(b.Context(), victim, "victim", 10); err != nil {
			b.Fatal(err)
		}
		to.reads = append(to.reads, time.Since(begun))
	}
}

func readToEnd(ctx context.Context, client *esdb.Client, stream string, count uint64) error {
	r, err := client.ReadStream(ctx, stream, esdb.ReadStreamOptions{From: esdb.Start{}}, count)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		if _, err := r.Recv(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// fairNode is the real binary with users.
type fairNode struct{ address string }

func startFairNode(b *testing.B, flooders int) *fairNode {
	b.Helper()
	dir, program := filepath.Join(b.TempDir(), "log"), binary.Reckon(b)
	command := exec.Command(program, "node", "--init", "--data", dir, "--secure", "--listen", "127.0.0.1:0")
	command.Env = append(os.Environ(), "RECKON_NODE_ADMIN_PASSWORD="+floodPassword)
	out, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = command.Process.Kill(), command.Wait() }) // what it holds goes with the test's folder
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ready := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if err != nil || !ready {
		b.Fatalf("the node says %q, %v", line, err)
	}
	names := []string{"victim"}
	for i := range flooders {
		names = append(names, fmt.Sprint("flooder", i))
	}
	for _, name := range names {
		create := exec.Command(program, "node", "users", "create", name, "--data", dir, "--password-stdin")
		create.Stdin = strings.NewReader(floodPassword + "\n")
		if said, err := create.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, said)
		}
	}
	s := &fairNode{address}
	filler := connect(b, s.as("victim"))
	fillNode(b, filler)
	return s
}

// as is the address with a user.
func (s *fairNode) as(name string) string {
	return strings.Replace(s.address, "esdb://", "esdb://"+name+":"+floodPassword+"@", 1)
}

// flood begins the floods and returns what ends them.
func (s *fairNode) flood(b *testing.B, kinds []string) (stop func()) {
	var running []*exec.Cmd
	for i, kind := range kinds {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), floodKind+"="+kind, floodNode+"="+s.as(fmt.Sprint("flooder", i)))
		command.Stderr = os.Stderr
		out, err := command.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := command.StdinPipe(); err != nil { // which ends with this process
			b.Fatal(err)
		}
		if err := command.Start(); err != nil {
			b.Fatal(err)
		}
		running = append(running, command)
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			b.Fatalf("the flood says %q, %v", line, err)
		}
	}
	wait.Pace(500 * time.Millisecond)
	return func() {
		for _, command := range running {
			_, _ = command.Process.Kill(), command.Wait() // it is killed
		}
	}
}

// runFlood floods until it is killed, or who began it is gone.
func runFlood(kind, address string) {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	config, err := esdb.ParseConnectionString(address)
	if err != nil {
		panic(err)
	}
	config.Logger = esdb.NoopLogging()
	ctx := context.Background()
	var flooding sync.WaitGroup
	for i := range floodConnections {
		if kind == "handshake" {
			flooding.Go(func() { handshakes(config) })
			continue
		}
		client, err := esdb.NewClient(config)
		if err != nil {
			panic(err)
		}
		of, each, isAppend := 1, 4, strings.HasPrefix(kind, "append-")
		if isAppend {
			of, _ = strconv.Atoi(strings.TrimPrefix(kind, "append-"))
		}
		if of == 1 {
			each = 16
		}
		one := clientAppends(client, of)
		for j := range each {
			flooding.Go(func() {
				stream := fmt.Sprintf("flood-%d-%d-%d", os.Getpid(), i, j)
				for last := int64(-1); ; {
					var err error
					if isAppend {
						last, err = one(stream, last)
					} else {
						err = readToEnd(ctx, client, "bench-read", nodeReadEvents)
					}
					if err != nil {
						fmt.Fprintln(os.Stderr, kind, err)
						wait.Pace(time.Second)
					}
				}
			})
		}
	}
	fmt.Println("floods")
	flooding.Wait()
}

func handshakes(config *esdb.Configuration) {
	pool := x509.NewCertPool()
	if config.RootCAs != nil {
		pool = config.RootCAs
	}
	for {
		conn, err := tls.Dial("tcp", config.Address, &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}})
		if err == nil {
			_ = conn.Close()
		} else if _, isNet := errors.AsType[net.Error](err); !isNet {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}
