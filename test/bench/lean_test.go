//go:build bench

package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"reckon/domain/lean/export"
	"reckon/domain/lean/kernel"
	"reckon/domain/lean/plain"
	"reckon/test/need"
)

// The kernel is measured on init-prelude (3.7 MB) and on generated exports (domain/lean/internal/mathlike) against
// encoding/json parsing the same lines, and against another kernel checking the same file where RECKON_BENCH_LEAN_PEER
// names a command that does so on one thread: it is called with the path of the export, and fails if it refuses it.
// RECKON_BENCH_LEAN_SIZES are the sizes generated (1MB,10MB,100MB). Ratios are of processor time, which other work on the
// machine disturbs least, but for two workers to one, which is of wall time. All take turns, and the best of each counts.

const leanRounds = 5

// leanGCPercent is that of reckon lean check.
const leanGCPercent = 400

func sharedExport(b *testing.B, name string) string {
	b.Helper()
	return need.Shared(b, "lean-exports", "accept", name)
}

// duration is time by the clock and of the processor.
type duration struct{ wall, cpu time.Duration }

func (d *duration) keepBest(other duration) {
	if d.cpu == 0 || other.cpu < d.cpu {
		d.cpu = other.cpu
	}
	if d.wall == 0 || other.wall < d.wall {
		d.wall = other.wall
	}
}

func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// measured runs f with the memory of earlier runs given back.
func measured(b *testing.B, f func()) duration {
	debug.FreeOSMemory()
	start, cpu := time.Now(), processorTime(b)
	f()
	return duration{time.Since(start), processorTime(b) - cpu}
}

// figures are the times of one file.
type figures struct {
	bytes                     float64
	declarations              int
	json, read, one, two, own duration // own, both and peer are commands, one thread each: the first kernel, both, another program
	plain                     duration // the second kernel alone, reading included; zero where it was not measured
	both, peer                duration
	memory                    float64 // the most bytes that the command with two threads held; about 50 MB of them are the program's own
}

// figuresOf measures a file; command is the built reckon.
func figuresOf(b *testing.B, command, path string, rounds int) figures {
	defer debug.SetGCPercent(debug.SetGCPercent(leanGCPercent))
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	f := figures{bytes: float64(info.Size())}
	peer := os.Getenv("RECKON_BENCH_LEAN_PEER")
	for range rounds {
		f.json.keepBest(measured(b, func() { parseLines(b, path) }))
		f.read.keepBest(measured(b, func() { leanRead(b, path, 1) }))
		f.one.keepBest(measured(b, func() { f.declarations = leanCheck(b, path, 1) }))
		f.two.keepBest(measured(b, func() { leanCheck(b, path, 2) }))
		own, _ := commandTime(b, command, "lean", "check", path, "--declarations=id", "--quiet", "--threads=1", "--one-kernel")
		f.own.keepBest(own)
		if info.Size() < maxPlainBytes {
			f.plain.keepBest(measured(b, func() { leanCheckPlain(b, path) }))
			both, _ := commandTime(b, command, "lean", "check", path, "--declarations=id", "--quiet", "--threads=1")
			f.both.keepBest(both)
		}
		if peer != "" {
			other, _ := commandTime(b, peer, path)
			f.peer.keepBest(other)
		}
	}
	_, f.memory = commandTime(b, command, "lean", "check", path, "--declarations=id", "--quiet", "--threads=2", "--one-kernel")
	return f
}

func (f *figures) report(b *testing.B, name string) {
	ratio := func(a, of time.Duration, what string) { b.ReportMetric(a.Seconds()/of.Seconds(), what+"-"+name) }
	b.ReportMetric(float64(f.json.cpu.Microseconds())/1000, "json-ms-"+name)
	b.ReportMetric(float64(f.one.cpu.Microseconds())/1000, "one-worker-ms-"+name)
	b.ReportMetric(float64(f.declarations)/f.one.cpu.Seconds(), "declarations/s-"+name)
	ratio(f.read.cpu, f.json.cpu, "read/json")
	ratio(f.one.cpu, f.json.cpu, "one-worker/json")
	ratio(f.two.cpu, f.one.cpu, "two-workers/one-processor")
	ratio(f.one.wall, f.two.wall, "two-workers-speedup")
	if f.plain.cpu > 0 {
		ratio(f.plain.cpu, f.one.cpu, "plain/one-worker")
		ratio(f.both.cpu, f.own.cpu, "command-both-kernels/one-kernel")
	}
	if f.peer.cpu > 0 {
		ratio(f.own.cpu, f.peer.cpu, "command/peer")
	}
	b.ReportMetric(f.memory/f.bytes, "memory/byte-"+name)
}

// commandTime runs a command and says how long it took and the most memory it held. (What the system says of a child
// that has ended includes the memory of this process, from before the child was another program.)
func commandTime(b *testing.B, name string, args ...string) (duration, float64) {
	start := time.Now()
	command := exec.Command(name, args...)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	ended, most := make(chan error, 1), 0.0
	go func() { ended <- command.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				b.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output.String())
			}
			state := command.ProcessState
			return duration{time.Since(start), state.UserTime() + state.SystemTime()}, most
		case <-time.After(2 * time.Millisecond):
			most = max(most, peakResidentBytes(command.Process.Pid))
		}
	}
}

// peakResidentBytes is the most memory a process has held, or 0 when it cannot be told.
func peakResidentBytes(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes float64
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		return 0
	}
	return kilobytes * 1024
}

func leanRead(b *testing.B, path string, threads int) *export.File {
	b.Helper()
	in, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	file, err := export.Read(context.Background(), in, export.Limits{Threads: threads})
	if err != nil {
		b.Fatal(err)
	}
	return file
}

// maxPlainBytes is the size up to which the second kernel is measured: the largest export that the service takes.
const maxPlainBytes = 17 << 20

func leanCheckPlain(b *testing.B, path string) {
	b.Helper()
	file := leanRead(b, path, 1)
	if r := plain.Check(context.Background(), file.Store, file.Declarations, plain.Budget{}); !r.Accepted() {
		b.Fatalf("not accepted: %v %v", r.Refusal, r.OutOfBudget)
	}
}

func leanCheck(b *testing.B, path string, workers int) (declarations int) {
	b.Helper()
	file := leanRead(b, path, workers)
	r := kernel.Check(context.Background(), file.Store, file.Declarations, kernel.Options{Workers: workers})
	if !r.Accepted() {
		b.Fatalf("not accepted: %v %v", r.Refusal, r.Exhausted)
	}
	return len(file.Declarations)
}

// parseLines is the yardstick: every line through encoding/json, into nothing in particular.
func parseLines(b *testing.B, path string) {
	in, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var v any
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			b.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		b.Fatal(err)
	}
}

// goBuild builds a command of the repository.
func goBuild(b *testing.B, folder string) string {
	b.Helper()
	out := filepath.Join(b.TempDir(), filepath.Base(folder))
	command := exec.Command("go", "build", "-o", out, "./"+folder)
	command.Dir = filepath.Join("..", "..")
	if output, err := command.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, output)
	}
	return out
}

func BenchmarkLeanInitPrelude(b *testing.B) {
	path := sharedExport(b, "init-prelude.ndjson")
	command := goBuild(b, "cmd/reckon")
	for range b.N {
		f := figuresOf(b, command, path, leanRounds)
		f.report(b, "prelude")
	}
}

func BenchmarkLeanShiftCascade(b *testing.B) {
	path := sharedExport(b, "shift-cascade.ndjson")
	for range b.N {
		var best duration
		for range leanRounds {
			best.keepBest(measured(b, func() { leanCheck(b, path, 1) }))
		}
		b.ReportMetric(float64(best.cpu.Microseconds())/1000, "ms")
	}
}

// BenchmarkLeanMathlike checks exports shaped like Mathlib's. time/byte compares each size with the one before.
func BenchmarkLeanMathlike(b *testing.B) {
	sizes := "1MB,10MB,100MB"
	if s := os.Getenv("RECKON_BENCH_LEAN_SIZES"); s != "" {
		sizes = s
	}
	command, generator := goBuild(b, "cmd/reckon"), goBuild(b, "domain/lean/internal/mathlike")
	for range b.N {
		var before float64
		for _, size := range strings.Split(sizes, ",") {
			path := filepath.Join(b.TempDir(), "mathlike.ndjson")
			generate(b, generator, size, path)
			rounds := 3
			if info, err := os.Stat(path); err == nil && info.Size() > 50<<20 {
				rounds = 2
			}
			f := figuresOf(b, command, path, rounds)
			f.report(b, size)
			perByte := f.one.cpu.Seconds() / f.bytes
			if before > 0 {
				b.ReportMetric(perByte/before, "time/byte-"+size)
			}
			before = perByte
			if err := os.Remove(path); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func generate(b *testing.B, generator, size, path string) {
	b.Helper()
	out, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	command := exec.Command(generator, "-size", size)
	command.Stdout, command.Stderr = out, os.Stderr
	if err := command.Run(); err != nil {
		b.Fatal(fmt.Errorf("the generator: %w", err))
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkLeanCosts checks small exports that were out of all proportion once: each is measured against encoding/json
// parsing 1 MB in the same run.
func BenchmarkLeanCosts(b *testing.B) {
	yardstick := filepath.Join(b.TempDir(), "yardstick.ndjson")
	if err := os.WriteFile(yardstick, bytes.Repeat([]byte(`{"ie":1,"app":{"fn":123,"arg":456}}`+"\n"), 1<<20/36), 0o600); err != nil {
		b.Fatal(err)
	}
	for range b.N {
		var parse duration
		for range leanRounds {
			parse.keepBest(measured(b, func() { parseLines(b, yardstick) }))
		}
		for _, name := range []string{"large-numbers", "remainder", "levels-22", "levels-200"} {
			path := filepath.Join("..", "..", "domain", "lean", "kernel", "testdata", "cost", name+".ndjson")
			var took duration
			for range leanRounds {
				took.keepBest(measured(b, func() { leanCheck(b, path, 1) }))
			}
			b.ReportMetric(took.cpu.Seconds()/parse.cpu.Seconds(), name+"/json-MB")
		}
	}
}
